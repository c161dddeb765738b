"""Every message that docs/errors.md explains exists: a test provokes it, or the source code has its words.

    /usr/bin/python3 tests/docs/errors_test.py
"""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Messages of SQLite, of the loader and of Python.
SQLITES_OWN = {"no query solution", "no such module: bloom", "no such table: main.f_pending", "no such function: bloom_check",
               "unknown function: bloom_check()", "database is locked", "ambiguous column name: key", "not authorized", "cannot open shared object file",
               "object has no attribute 'enable_load_extension'", "undefined symbol: sqlite3_..._init"}


def provoked():
    scripts = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests" / "sql").glob("*.sql")))
    return re.findall(r"^--> Error: (.*)$", scripts, re.M)


def words_of_the_source():
    """The source, with the pieces of a string on several lines put together."""
    return "\n".join(re.sub(r'"\s*\n\s*"', "", path.read_text(encoding="utf-8")) for folder in ("sql", "ext")
                     for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".cc", ".h"))


def explained():
    """The messages in the first columns of the page."""
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8").split("## Loading")[1]
    for row in re.findall(r"^\| (`.*?) \|", page, re.M):
        yield from re.findall(r"`([^`]+)`", row)


class Errors(unittest.TestCase):
    def test_each_message_exists(self):
        messages, source = provoked(), words_of_the_source()
        missing, seen = [], 0
        for text in explained():
            parts = [part for part in text.removeprefix("bloom: ").split("...") if part.strip()]
            pattern = re.compile(".*".join(re.escape(part) for part in parts))
            longest = max((part.strip(" (:;'") for part in parts), key=len)
            seen += 1
            if text not in SQLITES_OWN and not any(pattern.search(message) for message in messages) and longest not in source:
                missing.append(text)
        self.assertGreater(seen, 60)
        self.assertEqual([], missing, "\n" + "\n".join(missing))


if __name__ == "__main__":
    unittest.main()
