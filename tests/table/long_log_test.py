"""Lookups while many changes are pending: a fresh connection looks keys up in the source instead of reading the whole log.

    /usr/bin/python3 tests/table/long_log_test.py EXTENSION [unittest options]

tests/table/affinity_test.py has values of all types.
"""

import os
import random
import sqlite3
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.case import InFolder  # noqa: E402

LONG = 1000
OPTIONS = "source=t, column=k, capacity=20000, fpr=1e-9, growth=off"


class Reads:
    """Records whether the rows of a table were read: the argument of Connection.set_authorizer()."""

    def __init__(self, table, answer=sqlite3.SQLITE_OK):
        self.table, self.answer, self.count = table, answer, 0

    def __call__(self, action, table, column, *_):
        is_row = action == sqlite3.SQLITE_READ and table == self.table and column == "k"
        self.count += is_row
        return self.answer if is_row else sqlite3.SQLITE_OK


class LongLog(InFolder):
    def following(self, declared="TEXT", indexes=("CREATE INDEX i ON t(k)",), rows=LONG, options=OPTIONS):
        db = self.connect()
        db.execute("PRAGMA journal_mode = wal")
        db.execute("BEGIN")
        db.execute(f"CREATE TABLE t(id INTEGER PRIMARY KEY, k {declared}, x)")
        for sql in indexes:
            db.execute(sql)
        db.execute(f"CREATE VIRTUAL TABLE f USING bloom({options})")
        self.add(db, rows)
        db.execute("COMMIT")
        return db

    def add(self, db, rows, first=0):
        db.executemany("INSERT INTO t(k) VALUES (?)", [(f"key {i}",) for i in range(first, first + rows)])

    def reads(self, **how):
        """Returns whether one lookup of a fresh connection reads the source."""
        self.following(**how)
        fresh = self.connect()
        fresh.execute("SELECT keys FROM f").fetchall()
        reads = Reads("t")
        fresh.set_authorizer(reads)
        self.assertEqual(self.present(fresh, f"key {LONG - 1}", "other"), [f"key {LONG - 1}"] if how.get("rows", LONG) == LONG else [])
        return reads.count != 0

    def test_an_index_on_the_column_answers(self):
        self.assertTrue(self.reads())

    def test_a_short_log_is_read(self):
        self.assertFalse(self.reads(rows=60))

    def test_other_indexes_do_not(self):
        """Each would be a scan, or lack rows, or compare in another way."""
        self.assertFalse(self.reads(indexes=(
            "CREATE INDEX part ON t(k) WHERE x IS NULL", "CREATE INDEX folded ON t(k COLLATE NOCASE)", "CREATE INDEX of_x ON t(x, k)",
            "CREATE INDEX expression ON t(lower(k))",
        )))  # fmt: skip

    def test_a_key_of_several_columns_reads_the_log(self):
        self.following(indexes=("CREATE INDEX i ON t(k, x)",), options=OPTIONS.replace("column=k", "column=(k, x)"))
        self.connect().execute("INSERT INTO t(k, x) VALUES ('two', 2)")
        fresh = self.connect()
        for x, found in ((2, 1), (3, 0)):
            self.assertEqual(len(fresh.execute("SELECT 1 FROM f WHERE k = 'two' AND x = ?", (x,)).fetchall()), found)

    def test_case_is_folded_as_the_column_folds_it(self):
        self.following("TEXT COLLATE NOCASE")
        self.assertEqual(self.present(self.connect(), f"KEY {LONG - 1}", "KEY x"), [f"KEY {LONG - 1}"])

    def test_an_authorizer_that_hides_the_column(self):
        """SQLite reads NULL for it, so the index finds nothing."""
        self.following()
        for lookups in (0, 1):
            fresh = self.connect()
            self.assertEqual(self.present(fresh, *["other"] * lookups), [])
            fresh.execute("SELECT keys FROM f").fetchall()
            fresh.set_authorizer(Reads("t", sqlite3.SQLITE_IGNORE))
            self.assertEqual(self.present(fresh, f"key {LONG - 1}", "other"), [f"key {LONG - 1}"])

    def test_an_authorizer_that_denies_the_column(self):
        self.following()
        fresh = self.connect()
        fresh.set_authorizer(Reads("t", sqlite3.SQLITE_DENY))
        self.assertEqual(self.present(fresh, f"key {LONG - 1}", "other"), [f"key {LONG - 1}"])

    def test_changes_of_the_schema_between_two_rows_of_a_lookup(self):
        changes = {
            "other table": ("ALTER TABLE t RENAME TO old", "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT UNIQUE, x)"),
            "other column": ("ALTER TABLE t RENAME COLUMN k TO old", "ALTER TABLE t ADD COLUMN k TEXT", "CREATE INDEX j ON t(k)"),
            "renamed": ("ALTER TABLE t RENAME TO u",),
        }
        for name, statements in changes.items():
            for begin in (0, 1, 2):
                with self.subTest(name, begin=begin):
                    self.path += "_"
                    db = self.following()
                    fresh = self.connect()
                    keys = [f"key {i}" for i in range(LONG - 5, LONG)]
                    values = ", ".join(f"('{key}')" for key in keys)
                    lookup = fresh.execute(f"SELECT column1 FROM (VALUES {values}) WHERE EXISTS (SELECT 1 FROM f WHERE key = column1)")
                    found = [lookup.fetchone()[0] for _ in range(begin)]
                    for sql in statements:
                        fresh.execute(sql)
                    try:
                        found += [row[0] for row in lookup]
                        self.assertEqual(found, keys)
                    except sqlite3.Error as error:
                        self.assertRegex(str(error), "has changed|of another|is now|another table|another column")
                    db.close()
                    fresh.close()

    def test_a_lookup_after_the_row_has_gone(self):
        """The source is exact: a key that is only in the log, and no longer in the source, is not found. SQLite can plan by the value after ANALYZE."""
        for analyze in ("", "ANALYZE"):
            self.path += analyze
            db = self.following()
            db.execute(f"DELETE FROM t WHERE k = 'key {LONG - 1}'")
            db.execute(analyze)
            self.assertEqual(self.present(self.connect(), f"key {LONG - 1}"), [])

    def test_random_changes(self):
        rng = random.Random(int(os.environ.get("SEED", 7)))
        for _ in range(12):
            self.path += "_"
            self.run_random(rng)

    def run_random(self, rng):
        """One side writes as any program does; the other looks up, with fresh connections and old ones, and merges."""
        db = self.following(rng.choice(("TEXT", "TEXT COLLATE NOCASE UNIQUE", "TEXT UNIQUE")), rows=10)
        sides = [self.connect(), db]
        number = 10
        for _ in range(60):
            action = rng.choice(("add", "add", "add", "delete", "update", "begin", "end", "roll back", "index", "no index", "merge", "fresh"))
            try:
                if action == "add":
                    number += 200
                    self.add(db, 200, number)
                elif action == "delete":
                    db.execute(f"DELETE FROM t WHERE id % 7 = {rng.randrange(7)}")
                elif action == "update":
                    db.execute(f"UPDATE t SET k = k || 'x' WHERE id % 31 = {rng.randrange(31)}")
                elif action == "begin":
                    db.execute(rng.choice(("BEGIN", "SAVEPOINT a")))
                elif action == "end":
                    db.execute("COMMIT")
                elif action == "roll back":
                    db.execute(rng.choice(("ROLLBACK", "ROLLBACK TO a")))
                elif action == "index":
                    db.execute("CREATE INDEX IF NOT EXISTS i ON t(k)")
                elif action == "no index":
                    db.execute("DROP INDEX IF EXISTS i")
                elif action == "merge":
                    rng.choice(sides).execute("INSERT INTO f(f) VALUES ('merge')")
                else:
                    sides[0].close()
                    sides[0] = self.connect()
            except sqlite3.OperationalError as error:
                self.assertRegex(str(error), "no transaction|within a transaction|no such savepoint|locked|in progress")
            for side in sides:
                keys = [key for (key,) in side.execute("SELECT k FROM t ORDER BY random() LIMIT 3").fetchall()]
                self.assertEqual(self.present(side, *keys), keys)


if __name__ == "__main__":
    unittest.main()
