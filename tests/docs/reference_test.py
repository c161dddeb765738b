"""The reference pages and the cheat sheet list every function, option and command of the extension.

    /usr/bin/python3 tests/docs/reference_test.py EXTENSION
"""

import re
import sqlite3
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.host import connect  # noqa: E402

DOCS = Path(__file__).resolve().parents[2] / "docs"


def page(name):
    return (DOCS / name).read_text(encoding="utf-8")


def names(db):
    """The functions and modules that the connection has."""
    return {name for pragma in ("function_list", "module_list") for (name,) in db.execute(f"SELECT name FROM pragma_{pragma}")}


def listed(db, sql, noun):
    """The names that an error lists, as in "(the options are a, b and c)"."""
    try:
        db.execute(sql)
    except sqlite3.Error as error:
        names_in_list = re.search(rf"\(the {noun} are (.*)\)", str(error)).group(1)
        return [name.strip(" '") for name in re.split(r",|\band\b", names_in_list)]
    raise AssertionError(f"no error: {sql}")


class Reference(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.db = connect()
        internal = {"bloom_run", "bloom_search_match", "bloom_search_row"}  # only the extension itself can call it
        cls.functions = names(cls.db) - names(sqlite3.connect(":memory:")) - {"bloom", "bloom_groups", "bloom_search"} - internal
        cls.db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=10)")
        cls.options = listed(cls.db, "CREATE VIRTUAL TABLE g USING bloom(nothing=1)", "options")
        cls.commands = listed(cls.db, "INSERT INTO f(f) VALUES ('nothing')", "commands")
        cls.db.execute("CREATE VIRTUAL TABLE who USING bloom_groups(capacity=10)")
        cls.cheat_sheet = page("cheat-sheet.md")

    def test_the_program_of_the_core(self):
        shown = re.search(r"^```cpp\n(.*?)^```", page("embedding.md"), re.M | re.S).group(1)
        example = (DOCS.parent / "examples" / "core_example.cc").read_text(encoding="utf-8")
        self.assertEqual(shown, re.sub(r"  // NOLINT.*", "", example[example.index("#include"):]))

    def test_what_is_listed(self):
        self.assertIn("bloom_plan", self.functions)
        self.assertIn("capacity", self.options)
        self.assertIn("integrity-check", self.commands)

    def test_functions(self):
        headings = re.findall(r"^### (bloom_\w+)\(", page("functions.md"), re.M)
        self.assertEqual(sorted(headings), sorted(self.functions))
        rows = re.findall(r"^\| `(bloom_\w+)\(", self.cheat_sheet, re.M)
        self.assertEqual(set(rows), self.functions)

    def test_functions_without_a_fixed_result(self):
        others = {name for name, flags in self.db.execute("SELECT name, flags FROM pragma_function_list")
                  if name in self.functions and not flags & 0x800}
        sentence = re.search(r"Every scalar function except (.*) is deterministic", page("functions.md")).group(1)
        self.assertEqual(set(re.findall(r"`(\w+)`", sentence)), others)

    def test_options(self):
        for name in self.options:
            for text in (self.cheat_sheet, page("virtual-table.md")):
                self.assertRegex(text, rf"(?m)^\|[^|]*`{name}`[^|]*\|")

    def test_groups(self):
        text = page("virtual-table.md").split("\n## bloom_groups tables\n")[1]
        for name in listed(self.db, "CREATE VIRTUAL TABLE g USING bloom_groups(nothing=1)", "options"):
            for described in (self.cheat_sheet, text):
                self.assertRegex(described, rf"(?m)^\|[^|]*`{name}`[^|]*\|")
        for name in listed(self.db, "INSERT INTO who(who) VALUES ('nothing')", "commands"):
            self.assertRegex(self.cheat_sheet, rf"VALUES \('{name}'[,)]")
            self.assertRegex(text, rf"(?m)^\| `'{name}'` \|")
        for _, name, *_ in self.db.execute("PRAGMA table_xinfo(who)"):
            if name != "who":
                self.assertRegex(text, rf"(?m)^\| `{name}` \|")
        self.db.execute("INSERT INTO who(member) VALUES (1)")
        for (name,) in self.db.execute("SELECT key FROM json_each((SELECT info FROM who))"):
            self.assertRegex(text, rf"(?m)^\|[^|]*`{name}`[^|]*\|")

    def test_shadow_tables(self):
        text = page("virtual-table.md")
        self.db.execute("CREATE TABLE source(k)")
        self.db.execute("CREATE VIRTUAL TABLE follower USING bloom(source=source, column=k)")
        for table, written in (("follower", "`<name>_{}`"), ("who", "`who_{}`")):
            shadows = self.db.execute("SELECT substr(name, ?) FROM sqlite_master WHERE type = 'table' AND name GLOB ?",
                                      (len(table) + 2, table + "_*")).fetchall()
            self.assertGreaterEqual(len(shadows), 4)
            for (name,) in shadows:
                self.assertIn(written.format(name), text)

    def test_columns(self):
        text = page("virtual-table.md")
        for _, name, *_ in self.db.execute("PRAGMA table_xinfo(f)"):
            if name != "f":
                self.assertRegex(text, rf"(?m)^\|[^|]*`{name}`[^|]*\|")

    def test_commands(self):
        for name in self.commands:
            self.assertRegex(self.cheat_sheet, rf"VALUES \('{name}'[,)]")
            self.assertIn(f"'{name}'", page("virtual-table.md"))


if __name__ == "__main__":
    unittest.main()
