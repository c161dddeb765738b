"""SQL inside sentences and tables of the documents, which document_test.sh does not run.

    /usr/bin/python3 tests/docs/inline_sql_test.py EXTENSION

SQLite can parse it. And no subquery compares `key` with a bare name: if a view or a filter in FROM has a column of
that name, SQLite takes that one, and the query silently returns other rows.
"""

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.host import connect  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
STATEMENT = re.compile(r"(SELECT|INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP|ALTER|WITH)\s")
BARE = re.compile(r"\(\s*SELECT\b[^()]*\bWHERE\s+(?:\w+\.)?key\s*=\s*[A-Za-z_]\w*\s*(?![\w.(])(?!\s*\()", re.I)


def documents():
    return [ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "CHANGELOG.md",
            *sorted(path for path in (ROOT / "docs").rglob("*.md"))]


def inline(text):
    outside = re.sub(r"^```.*?^```", lambda block: "\n" * block.group(0).count("\n"), text, flags=re.M | re.S)
    for found in re.finditer(r"(?<!`)`([^`\n]+)`(?!`)", outside):
        yield outside.count("\n", 0, found.start()) + 1, found.group(1).replace("\\|", "|")


class InlineSql(unittest.TestCase):
    def test_a_view_with_the_name_of_the_outer_column_is_found(self):
        self.assertRegex("EXISTS (SELECT 1 FROM pages_checked WHERE key = url)", BARE)
        self.assertNotRegex("EXISTS (SELECT 1 FROM pages_checked WHERE key = visits.url)", BARE)
        self.assertNotRegex("(SELECT 1 FROM f WHERE key = lower(t.k))", BARE)
        self.assertNotRegex("EXISTS (SELECT 1 FROM f WHERE key = ?)", BARE)

    def test_subqueries_name_the_table_of_the_outer_column(self):
        bad = [f"{path.relative_to(ROOT)}:{number}: {line}" for path in documents()
               for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1) if BARE.search(line)]
        self.assertEqual([], bad, "\n" + "\n".join(bad))

    def test_it_can_be_parsed(self):
        db, bad, parsed = connect(), [], 0
        for path in documents():
            if path.name == "errors.md":  # messages begin with words of SQL
                continue
            for number, sql in inline(path.read_text(encoding="utf-8")):
                if not STATEMENT.match(sql) or "..." in sql or not re.search(r"\s\S+\s", sql):
                    continue
                try:
                    parsed += 1
                    db.execute("EXPLAIN " + sql, {})
                except Exception as error:
                    if re.search("syntax error|unrecognized token|no such function|unknown option", str(error)):
                        bad.append(f"{path.relative_to(ROOT)}:{number}: {sql}: {error}")
        self.assertGreater(parsed, 50)
        self.assertEqual([], bad, "\n" + "\n".join(bad))


if __name__ == "__main__":
    unittest.main()
