"""Statements of one row in a transaction: the row log of a bloom table, at every length, beside an exact set of keys.

    /usr/bin/python3 tests/table/rows_test.py EXTENSION
"""

import itertools
import os
import random
import sqlite3
import sys
import tempfile
import unittest

EXTENSION = os.path.abspath(sys.argv.pop(1))
FORMS = {
    "one layer": "capacity=3000",
    "growing": "capacity=100, growth=on",
    "counting": "kind=counting, capacity=3000",
    "generations": "capacity=3000, generations=3",
    "small cache": "capacity=100000, cache=4096",
    "small cache, counting": "capacity=30000, kind=counting, cache=8192",
    "whole": "cells=70000, hashes=3, block=70000",
    "lines": "capacity=3000, block=512",
    # More than 64 chunks: their rows are inserted when they are needed.
    "many chunks": "capacity=1000000",
    "many chunks, counting": "capacity=250000, kind=counting",
    "many chunks, small cache": "capacity=1000000, cache=8192",
}
PENDING = 16  # added to the version of the table while its log may have rows


def connect(path=":memory:"):
    db = sqlite3.connect(path, isolation_level=None)
    db.enable_load_extension(True)
    db.load_extension(EXTENSION)
    db.execute("PRAGMA synchronous = OFF")
    return db


def logged(db):
    return db.execute("SELECT count(*) FROM f_rowlog").fetchone()[0]


class Rows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "db")
        self.rng = random.Random(1)

    def open(self, options="capacity=3000", path=None):
        db = connect(path or self.path)
        self.addCleanup(db.close)
        db.execute(f"CREATE VIRTUAL TABLE f USING bloom({options})")
        return db

    def add(self, db, keys):
        own = not db.in_transaction
        if own:
            db.execute("BEGIN")
        db.executemany("INSERT INTO f(key) VALUES (?)", [(key,) for key in keys])
        if own:
            db.execute("COMMIT")

    def missing(self, db, keys):
        return [key for key in keys if db.execute("SELECT 1 FROM f WHERE key = ?", (key,)).fetchone() is None]

    def assert_holds(self, db, keys):
        self.assertEqual(self.missing(db, keys), [])

    def test_every_length_in_every_form(self):
        for form, options in FORMS.items():
            with self.subTest(form):
                path = f"{self.path} {form}"
                db = self.open(options, path)
                other = connect(path)
                keys = []
                for length in (1, 7, 8, 9, 10, 30, 500, 6000):
                    new = [f"{form} {length} {i}" for i in range(length)]
                    db.execute("BEGIN")
                    self.add(db, new)
                    keys += new
                    self.assert_holds(db, keys[-700:])
                    db.execute("COMMIT")
                    self.assertEqual(logged(db), 0)
                    self.assertLess(db.execute("SELECT v FROM f_config WHERE k = 'version'").fetchone()[0], PENDING)
                self.assert_holds(db, keys)
                self.assert_holds(other, keys)
                db.execute("INSERT INTO f(f) VALUES ('integrity-check')")
                other.close()

    def test_the_log_is_in_use(self):
        for form, options in FORMS.items():
            if form == "whole":  # a key can be in two chunks there
                continue
            db = self.open(options, f"{self.path} {form}")
            self.add(db, range(2000))
            db.execute("BEGIN")
            self.add(db, range(2000, 2400))
            self.assertGreater(logged(db), 150, form)
            db.execute("ROLLBACK")
            self.assertEqual(logged(db), 0, form)

    def test_a_long_log_is_merged_before_the_commit(self):
        db = self.open("capacity=100000")
        self.add(db, range(1000))
        db.execute("BEGIN")
        longest = 0
        for part in range(30):
            self.add(db, range(part * 1000, part * 1000 + 1000))
            longest = max(longest, logged(db))
        self.assertLess(longest, 5000)
        self.assert_holds(db, range(30000))
        db.execute("ROLLBACK")
        self.assert_holds(db, range(1000))
        self.assertGreater(len(self.missing(db, range(2000, 4000))), 1900)

    def test_the_bytes_are_those_of_a_bulk_insert(self):
        for form in ("one layer", "counting", "generations", "small cache", "small cache, counting", "lines", "many chunks", "many chunks, counting", "many chunks, small cache"):
            rows, bulk = self.open(FORMS[form], ":memory:"), self.open(FORMS[form], ":memory:")
            bulk.execute("WITH RECURSIVE n(i) AS (VALUES (100) UNION ALL SELECT i + 1 FROM n WHERE i < 7999) INSERT INTO f(key) SELECT i FROM n")
            rows.execute("BEGIN")
            self.add(rows, range(100, 8000))
            self.assertGreater(logged(rows), 0, form)
            if "many" in form:  # chunks without a row also follow the last one that has a row
                last = [db.execute("SELECT max(id) FROM f_data").fetchone()[0] for db in (rows, bulk)]
                self.assertLess(last[0], last[1], form)
            columns = "id, chunk FROM f_data WHERE chunk <> zeroblob(length(chunk)) ORDER BY id"
            blob = lambda db: db.execute("SELECT filter FROM f").fetchone() if form != "generations" else None
            self.assertTrue(blob(rows) == blob(bulk), form)
            rows.execute("COMMIT")
            self.assertTrue(rows.execute("SELECT " + columns).fetchall() == bulk.execute("SELECT " + columns).fetchall(), form)

    def test_counting_adds_and_removes_exactly(self):
        for cache in (4096, 10_000_000):
            db = self.open(f"capacity=2000, kind=counting, fpr=1e-6, cache={cache}", f"{self.path}{cache}")
            present = {}
            for _ in range(25):
                db.execute("BEGIN")
                saved = dict(present)
                for _ in range(self.rng.randrange(60)):
                    key = self.rng.randrange(40)
                    if present.get(key) and self.rng.random() < 0.5:
                        db.execute("DELETE FROM f WHERE key = ?", (key,))
                        present[key] -= 1
                    elif present.get(key, 0) < 10:
                        db.execute("INSERT INTO f(key) VALUES (?)", (key,))
                        present[key] = present.get(key, 0) + 1
                    if self.rng.random() < 0.05:
                        db.execute("SELECT filter FROM f").fetchone()
                held = [key for key in range(40) if present.get(key)]
                self.assertEqual([key for key in range(40) if key not in self.missing(db, range(40))], held)
                if self.rng.random() < 0.3:
                    db.execute("ROLLBACK")
                    present = saved
                else:
                    db.execute("COMMIT")
                held = [key for key in range(40) if present.get(key)]
                self.assertEqual([key for key in range(40) if key not in self.missing(db, range(40))], held)
                db.execute("INSERT INTO f(f) VALUES ('integrity-check')")

    def test_a_savepoint_around_each_row(self):
        """The log is merged when a savepoint is released, so that a rollback needs no copies of the pages."""
        for form in ("one layer", "growing", "counting", "many chunks", "many chunks, small cache"):
            db = self.open(FORMS[form], f"{self.path} {form}")
            held, longest, merges, length = [], 0, 0, 0
            limit = 8000 if "many" in form else 3500
            db.execute("BEGIN")
            for i in range(2 * limit):
                db.execute("SAVEPOINT row")
                db.execute("INSERT INTO f(key) VALUES (?)", (i,))
                if i % 7 == 0:
                    db.execute("ROLLBACK TO row")
                else:
                    held.append(i)
                length = logged(db) if i > limit / 2 else length
                longest = max(longest, length)
                db.execute("RELEASE row")
                merges += i > limit / 2 and logged(db) < length
            self.assertLess(longest, limit, form)
            if form != "growing":  # each new layer merges the log
                self.assertGreater(merges, 0, form)
            self.assert_holds(db, held)
            db.execute("COMMIT")
            self.assert_holds(db, held)
            db.execute("INSERT INTO f(f) VALUES ('integrity-check')")

    def test_a_rollback_to_a_savepoint_behind_a_long_log(self):
        """What a rollback has undone is added again, to this table and to others of the transaction."""
        for form, first in itertools.product(("one layer", "growing", "counting", "many chunks"), ("f", "g")):
            db = self.open(FORMS[form], f"{self.path} {form} {first}")
            db.execute("CREATE VIRTUAL TABLE g USING bloom_groups(capacity=100)")
            keys = range(7000 if "many" in form else 3500)
            db.execute("BEGIN")
            for table in (first, "fg".replace(first, "")):
                if table == "f":
                    self.add(db, keys)
                else:
                    db.execute("INSERT INTO g(member, key) VALUES ('old', 1)")
            db.execute("SAVEPOINT a")
            db.execute("INSERT INTO g(member, key) VALUES ('new', 2)")
            self.add(db, range(10_000, 10_020))
            if form == "counting":
                db.execute("DELETE FROM f WHERE key = 1")
            db.execute("ROLLBACK TO a")
            db.execute("INSERT INTO g(member, key) VALUES ('other', 3), ('new', 2)")
            self.add(db, range(10_000, 10_020))
            db.execute("INSERT INTO f(f) VALUES ('integrity-check')")
            db.execute("RELEASE a")
            held = [*keys, *range(10_000, 10_020)]
            for _ in range(2):
                self.assert_holds(db, held)
                for member, key in ("old", 1), ("new", 2), ("other", 3):
                    self.assertEqual(db.execute("SELECT member FROM g WHERE key = ?", (key,)).fetchall(), [(member,)], (form, first))
                if db.in_transaction:
                    db.execute("COMMIT")

    def test_a_savepoint_where_writes_are_refused(self):
        """RELEASE writes nothing, so it does not fail then, and changes() stays."""
        shadow = lambda action, table, *_: sqlite3.SQLITE_DENY if str(table).startswith("f_") and action in (sqlite3.SQLITE_DELETE, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE) else sqlite3.SQLITE_OK
        for form, refused in itertools.product(("one layer", "counting", "many chunks"), ("query_only", "authorizer", "")):
            db = self.open(FORMS[form], f"{self.path} {form} {refused}")
            db.execute("CREATE TABLE o(k)")
            db.execute("INSERT INTO o VALUES (1), (2), (3)")
            keys = range(8000 if "many" in form else 3200)
            db.execute("BEGIN")
            db.execute("SAVEPOINT a")
            self.add(db, keys)
            long = logged(db)
            self.assertGreater(long, 3000, form)
            db.execute("UPDATE o SET k = 0 WHERE rowid > 1")
            if refused == "query_only":
                db.execute("PRAGMA query_only = ON")
            elif refused:
                db.set_authorizer(shadow)
            db.execute("RELEASE a")
            self.assertEqual(db.execute("SELECT changes()").fetchone(), (2,), form)
            db.set_authorizer(None)
            db.execute("PRAGMA query_only = OFF")
            self.assertEqual(logged(db) == long, bool(refused), (form, refused))
            self.assert_holds(db, keys)
            db.execute("COMMIT")
            self.assert_holds(db, keys)
            db.execute("INSERT INTO f(f) VALUES ('integrity-check')")

    def test_interrupts_while_the_log_is_merged(self):
        """SQLite rolls the whole transaction back then, and the statement must not succeed."""
        forms = {"RELEASE a": "", "COMMIT": "", "INSERT INTO f(f) VALUES ('clear')": "DROP TABLE f_rowlog; DELETE FROM f_config WHERE k = 'rowlog'"}
        for number, (statement, prepare) in enumerate(forms.items()):
            db = self.open(FORMS["one layer"], f"{self.path} {number}")
            db.executescript(f"CREATE TABLE o(k); {prepare}")
            outcomes = set()
            for point in itertools.chain(range(1, 60), range(60, 4000, 61)):
                db.execute("BEGIN")
                db.execute("INSERT INTO o VALUES (1)")
                db.execute("SAVEPOINT a")
                self.add(db, range(3200 if not prepare else 20))
                left = itertools.count(1)
                db.set_progress_handler(lambda left=left, point=point: next(left) == point, 1)
                try:
                    db.execute(statement)
                    outcome = "done"
                except sqlite3.OperationalError:
                    outcome = "interrupted"
                db.set_progress_handler(None, 1)
                kept = db.execute("SELECT count(*) FROM o").fetchone() == (1,)
                outcomes.add((outcome, kept))
                if db.in_transaction:
                    db.execute("ROLLBACK")
                db.execute("DELETE FROM o")
                if next(left) <= point:  # the statement has ended before
                    break
            self.assertNotIn(("done", False), outcomes, statement)
            self.assertIn(("done", True), outcomes, statement)
            self.assertIn(("interrupted", False), outcomes, statement)

    def test_savepoints_at_every_length(self):
        for form, options in FORMS.items():
            with self.subTest(form):
                db = self.open(options, f"{self.path} {form}")
                self.add(db, range(1000))
                held, stack, number = list(range(1000)), [], 10_000
                db.execute("BEGIN")
                for _ in range(300):
                    step = self.rng.choice(("add", "add", "add", "add", "save", "back", "release", "look", "bulk", "many"))
                    if step in ("add", "many"):
                        new = list(range(number, number + (self.rng.randrange(1, 40) if step == "add" else 5000)))
                        if step == "many" and self.rng.random() < 0.8:
                            continue
                        number = new[-1] + 1
                        self.add(db, new)
                        held += new
                    elif step == "bulk":
                        db.execute("WITH RECURSIVE n(i) AS (VALUES (?1) UNION ALL SELECT i + 1 FROM n WHERE i < ?1 + 30) INSERT INTO f(key) SELECT i FROM n", (number,))
                        held += range(number, number + 31)
                        number += 31
                    elif step == "save":
                        db.execute("SAVEPOINT s")
                        stack.append(len(held))
                    elif stack and step == "back":
                        db.execute("ROLLBACK TO s")
                        del held[stack[-1]:]
                    elif stack and step == "release":
                        db.execute("RELEASE s")
                        stack.pop()
                    else:
                        self.assert_holds(db, self.rng.sample(held, 20) + held[-20:])
                self.assert_holds(db, held)
                db.execute("COMMIT")
                self.assert_holds(db, held)
                db.execute("INSERT INTO f(f) VALUES ('integrity-check')")

    def test_a_rollback_to_a_savepoint_leaves_the_oldest_rows_of_the_log(self):
        """Exactly: a row of the log that is forgotten loses a key, and one that is kept in memory brings a removed key back."""
        for seed in range(6):
            db = self.open("capacity=60000, kind=counting, fpr=1e-7" + (", cache=40000" if seed % 2 else ""), f"{self.path} {seed}")
            rng, held, stack, number = random.Random(seed), set(), [], 0
            db.execute("BEGIN")
            for _ in range(250):
                step = rng.choice(("add", "add", "many", "remove", "save", "back", "back", "release", "reload", "commit"))
                if step in ("add", "many"):
                    count = rng.randrange(1, 30) if step == "add" else rng.choice((100, 1000, 4200))
                    self.add(db, range(number, number + count) if count < 1000 or rng.random() < 0.2 else ())
                    if db.execute("SELECT 1 FROM f WHERE key = ?", (number,)).fetchone():
                        held |= set(range(number, number + count))
                    number += count
                elif step == "remove" and held:
                    key = rng.choice(sorted(held))
                    db.execute("DELETE FROM f WHERE key = ?", (key,))
                    held.discard(key)
                elif step == "save":
                    db.execute("SAVEPOINT s")
                    stack.append(set(held))
                elif step == "back" and stack:
                    db.execute("ROLLBACK TO s")
                    held = set(stack[-1])
                elif step == "release" and stack:
                    db.execute("RELEASE s")
                    stack.pop()
                elif step == "reload":
                    db.execute("PRAGMA writable_schema = RESET")
                elif step == "commit" and rng.random() < 0.3:
                    db.execute("COMMIT")
                    stack.clear()
                    db.execute("BEGIN")
                some = rng.sample(range(number), min(number, 60)) + list(range(max(0, number - 40), number))
                self.assertEqual(set(self.missing(db, some)), set(some) - held, (seed, step))
            db.execute("COMMIT")
            self.assertEqual(set(self.missing(db, range(number))), set(range(number)) - held)
            db.execute("INSERT INTO f(f) VALUES ('integrity-check')")

    def test_a_rollback_to_a_savepoint_does_not_read_a_long_log_again(self):
        steps = []

        def work(length):
            db = self.open("capacity=100000", f"{self.path} {length}")
            self.add(db, range(1000))
            db.execute("BEGIN")
            self.add(db, range(1000, 1000 + length))
            count = 0

            def count_steps():
                nonlocal count
                count += 1

            db.set_progress_handler(count_steps, 1)
            for i in range(20):
                db.execute("SAVEPOINT s")
                db.execute("INSERT INTO f(key) VALUES (?)", (f"undone {i}",))
                db.execute("ROLLBACK TO s")
                db.execute("RELEASE s")
            db.set_progress_handler(None, 0)
            steps.append((length, logged(db), count))
            self.assert_holds(db, range(1000 + length))
            db.execute("COMMIT")
            return count

        self.assertLess(work(3000), work(30) + 3000, steps)

    def test_two_objects_of_the_table_after_a_rollback_to_a_savepoint(self):
        """A statement that still runs keeps the first object. The second one uses ids of rows that were undone."""
        for form in ("one layer", "counting", "small cache"):
            db = self.open(FORMS[form], f"{self.path} {form}")
            self.add(db, range(1000))
            db.execute("BEGIN")
            self.add(db, range(1000, 1050))
            db.execute("SAVEPOINT s")
            self.add(db, range(2000, 2050))
            running = db.execute("SELECT value, (SELECT 1 FROM f WHERE key = value) FROM json_each('[1, 1000, 2001, 3001, 3002]')")
            self.assertEqual(running.fetchone(), (1, 1))
            db.execute("ROLLBACK TO s")
            db.execute("CREATE TABLE other(x)")
            db.execute("PRAGMA writable_schema = RESET")
            self.add(db, range(3000, 3050))
            db.execute("ROLLBACK TO s")
            self.add(db, range(3000, 3040))
            self.assert_holds(db, [*range(1050), *range(3000, 3040)])
            try:
                self.assertEqual([key for key, found in running if key >= 3000 and not found], [])
            except sqlite3.OperationalError:
                pass  # the schema has changed
            self.add(db, range(3040, 3080))
            db.execute("COMMIT")
            self.assert_holds(db, [*range(1050), *range(3000, 3080)])
            db.execute("INSERT INTO f(f) VALUES ('integrity-check')")

    def test_a_merge_at_a_release_tells_other_tables_of_no_rollback(self):
        """The statement that restores changes() has a savepoint, with the number of the one that is released."""
        db = self.open("capacity=300000")
        db.execute("CREATE VIRTUAL TABLE h USING bloom(capacity=30000)")
        db.execute("BEGIN")
        self.add(db, [0])
        db.execute("INSERT INTO h(key) VALUES (0)")
        db.execute("SAVEPOINT a")
        db.execute("ALTER TABLE h RENAME TO h2")
        db.execute("SAVEPOINT b")
        self.add(db, range(3300))
        db.execute("RELEASE b")
        self.assertLess(logged(db), 3300)
        db.execute("CREATE TABLE other(x)")  # statements that are kept are prepared again
        db.executemany("INSERT INTO h2(key) VALUES (?)", [("a",), ("b",)])
        self.add(db, range(-3300, 0))
        db.execute("RELEASE a")
        self.assertLess(logged(db), 3300)
        self.assertEqual(db.execute("SELECT count(*) FROM h2 WHERE key IN (0, 'a', 'b')").fetchone(), (3,))
        db.execute("COMMIT")
        self.assertEqual(db.execute("SELECT count(*) FROM h2 WHERE key IN (0, 'a', 'b')").fetchone(), (3,))

    def test_a_copy_of_an_open_transaction_has_its_keys(self):
        for form, options in FORMS.items():
            db = self.open(options, ":memory:")
            self.add(db, range(3000))
            db.execute("BEGIN")
            self.add(db, range(3000, 3300))
            copy = connect()
            copy.deserialize(db.serialize())
            self.assert_holds(copy, range(3300))
            self.assertGreater(logged(copy) if form != "whole" else 1, 0, form)
            copy.execute("INSERT INTO f(key) VALUES ('new')")
            self.assertEqual(logged(copy), 0)
            self.assert_holds(copy, [*range(3300), "new"])
            self.assertLess(copy.execute("SELECT v FROM f_config WHERE k = 'version'").fetchone()[0], PENDING)
            copy.close()

    def test_a_commit_under_query_only_keeps_the_log(self):
        for form in ("one layer", "counting", "small cache"):
            db = self.open(FORMS[form], f"{self.path} {form}")
            self.add(db, range(3000))
            db.execute("BEGIN")
            self.add(db, range(3000, 3200))
            db.execute("PRAGMA query_only = ON")
            db.execute("COMMIT")
            self.assertGreater(logged(db), 0)
            other = connect(f"{self.path} {form}")
            for each in (db, other):
                self.assert_holds(each, range(3200))
            db.execute("PRAGMA query_only = OFF")
            db.execute("BEGIN")
            self.add(db, range(3200, 3220))
            db.execute("COMMIT")
            self.assertEqual(logged(db), 0)
            for each in (db, other):
                self.assert_holds(each, range(3220))
            other.close()

    def test_a_commit_after_a_deadline(self):
        """The handler of a deadline that has passed stops every statement that is long enough. COMMIT of a plain table is not."""
        for steps in (100, 1000):
            db = self.open()
            db.execute("CREATE TABLE IF NOT EXISTS other(x)")
            db.execute("DELETE FROM other")
            db.execute("BEGIN")
            self.add(db, range(steps, steps + 30))
            db.execute("INSERT INTO other SELECT 1 FROM (WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i FROM n)")
            db.set_progress_handler(lambda: True, steps)
            db.execute("COMMIT")
            db.set_progress_handler(None, 0)
            for each in (db, connect(self.path)):
                self.assertEqual(each.execute("SELECT count(*) FROM other").fetchone(), (500,))
                self.assert_holds(each, range(steps, steps + 30))
            self.assertGreater(logged(db), 0)
            db.execute("BEGIN")
            self.add(db, range(30))
            db.execute("COMMIT")
            self.assertEqual(logged(db), 0)
            self.assert_holds(db, (*range(30), *range(steps, steps + 30)))
            db.execute("DROP TABLE f")

    def test_changes_after_the_commit_are_those_of_the_last_statement(self):
        db = self.open()
        db.execute("CREATE TABLE other(x)")
        for rows in (0, 1, 2, 50):
            db.execute("BEGIN")
            self.add(db, range(rows * 1000, rows * 1000 + 100))
            db.execute("INSERT INTO other SELECT 1 FROM (WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 50) SELECT i FROM n) LIMIT ?", (rows,))
            db.execute("COMMIT")
            self.assertEqual(db.execute("SELECT changes()").fetchone()[0], rows)

    def test_last_insert_rowid_stays(self):
        db = self.open()
        db.execute("CREATE TABLE other(x)")
        db.execute("INSERT INTO other(rowid, x) VALUES (4711, 1)")
        db.execute("BEGIN")
        self.add(db, range(100))
        self.assertEqual(db.execute("SELECT last_insert_rowid()").fetchone()[0], 4711)
        db.execute("COMMIT")
        self.assertEqual(db.execute("SELECT last_insert_rowid()").fetchone()[0], 4711)

    def test_schema_changes_within_the_transaction(self):
        db = self.open()
        db.execute("BEGIN")
        self.add(db, range(100))
        db.execute("CREATE TABLE other(x)")
        self.add(db, range(100, 200))
        db.execute("PRAGMA writable_schema = RESET")
        self.add(db, range(200, 300))
        db.execute("ALTER TABLE f RENAME TO g")
        db.executemany("INSERT INTO g(key) VALUES (?)", [(i,) for i in range(300, 400)])
        db.execute("ALTER TABLE g RENAME TO f")
        self.add(db, range(400, 500))
        self.assert_holds(db, range(500))
        db.execute("COMMIT")
        self.assert_holds(db, range(500))
        self.assertEqual(logged(db), 0)

    def test_a_commit_after_the_table_was_dropped_or_its_rename_undone(self):
        """The object that has logged rows then cannot read the log. The commit must not fail because of it."""
        undone = ("SAVEPOINT a", "ALTER TABLE f RENAME TO g", "ROLLBACK TO a")
        reopened = ("PRAGMA writable_schema = RESET", "SELECT 1 FROM f WHERE key = 'x'")
        for form, options in FORMS.items():
            other = FORMS["growing" if form == "generations" else "generations"]
            replaced = (*reopened, "DROP TABLE f", f"CREATE VIRTUAL TABLE f USING bloom({other})")
            dropped_and_undone = ("SAVEPOINT a", "DROP TABLE f", f"CREATE VIRTUAL TABLE f USING bloom({other})", "SAVEPOINT b", "ROLLBACK TO a")
            for steps in (undone, (*reopened, "DROP TABLE f"), replaced, dropped_and_undone):
                with self.subTest(form, steps=steps):
                    db = connect()
                    db.execute("CREATE TABLE other(x)")
                    db.execute(f"CREATE VIRTUAL TABLE f USING bloom({options})")
                    self.add(db, range(30))
                    db.execute("BEGIN")
                    db.execute("INSERT INTO other VALUES (1)")
                    self.add(db, range(100, 130))
                    for step in steps:
                        db.execute(step)
                        if step in (steps[-1], "SAVEPOINT b") and "DROP TABLE f" != steps[-1]:
                            self.add(db, range(200, 230))
                    db.execute("COMMIT")
                    self.assertEqual(db.execute("SELECT count(*) FROM other").fetchone(), (1,))
                    if "DROP TABLE f" not in steps or "SAVEPOINT a" in steps:
                        self.assert_holds(db, [*range(30), *range(100, 130)])
                    if steps[-1] != "DROP TABLE f":
                        self.assert_holds(db, range(200, 230))
                        db.execute("INSERT INTO f(f) VALUES ('integrity-check')")
                    db.close()

    def test_a_rename_or_drop_that_is_undone_keeps_the_log(self):
        for form, columns in (("bloom(capacity=3000)", "key"), ("bloom_groups(capacity=300)", "member, key")):
            for change in ("ALTER TABLE f RENAME TO g", "DROP TABLE f"):
                for uses in (False, True):
                    path = f"{self.path} {form} {change} {uses}"
                    db = connect(path)
                    db.execute(f"CREATE VIRTUAL TABLE f USING {form}")
                    row = (lambda i: (i,)) if columns == "key" else (lambda i: (i % 5, i))
                    sql = f"INSERT INTO f({columns}) VALUES ({'?' if columns == 'key' else '?, ?'})"
                    db.execute("BEGIN")
                    db.executemany(sql, map(row, range(1000)))
                    db.execute("SAVEPOINT s")
                    db.execute(change)
                    db.execute("ROLLBACK TO s")
                    if uses:
                        db.executemany(sql, map(row, range(1000, 1100)))
                    db.execute("COMMIT")
                    other = connect(path)
                    for each in (db, other):
                        self.assert_holds(each, range(1100 if uses else 1000))
                        each.execute("INSERT INTO f(f) VALUES ('integrity-check')")
                    other.close()
                    db.close()

    def test_a_drop_commits(self):
        for table in ("bloom(capacity=3000)", "bloom_groups(capacity=300)"):
            db = connect()
            self.addCleanup(db.close)
            db.execute(f"CREATE VIRTUAL TABLE f USING {table}")
            db.execute("BEGIN")
            for i in range(100):
                db.execute("INSERT INTO f(key) VALUES (?)" if "groups" not in table else "INSERT INTO f(member, key) VALUES (1, ?)", (i,))
            db.execute("CREATE TABLE other(x)")
            db.execute("DROP TABLE f")
            db.execute("COMMIT")
            self.assertEqual(db.execute("SELECT name FROM sqlite_master").fetchall(), [("other",)])

    def test_every_command_finds_the_keys_of_the_log(self):
        for command, options in (("halve", "capacity=3000"), ("fold", "capacity=30000"), ("rotate", FORMS["generations"]), ("integrity-check", "capacity=3000"), ("clear", "capacity=3000")):
            db = self.open(options, f"{self.path} {command}")
            self.add(db, range(50))
            db.execute("BEGIN")
            self.add(db, range(50, 300))
            db.execute("INSERT INTO f(f, fpr) VALUES (?, ?)", (command, 0.01 if command == "fold" else None))
            self.add(db, range(300, 400))
            keys = range(300, 400) if command == "clear" else range(400)
            self.assert_holds(db, keys)
            db.execute("COMMIT")
            self.assert_holds(db, keys)
            if command == "clear":
                self.assertGreater(len(self.missing(db, range(300))), 280)

    def test_a_table_of_an_earlier_version_has_no_log(self):
        db = self.open()
        self.add(db, range(50))
        db.execute("DROP TABLE f_rowlog")
        db.execute("DELETE FROM f_config WHERE k = 'rowlog'")
        db.close()
        db = connect(self.path)
        self.addCleanup(db.close)
        db.execute("BEGIN")
        self.add(db, range(50, 300))
        self.assert_holds(db, range(300))
        db.execute("COMMIT")
        self.assert_holds(db, range(300))
        db.execute("ALTER TABLE f RENAME TO g")
        db.execute("ALTER TABLE g RENAME TO f")
        db.execute("INSERT INTO f(f) VALUES ('clear')")
        db.execute("BEGIN")
        self.add(db, range(300))
        self.assertGreater(logged(db), 200)
        db.execute("COMMIT")
        self.assert_holds(db, range(300))
        db.execute("DROP TABLE f")
        self.assertEqual(db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0], 0)

    def test_a_damaged_log_is_an_error(self):
        for damage in ("DELETE FROM f_rowlog WHERE id % 2", "UPDATE f_rowlog SET row = x'00'", "DROP TABLE f_rowlog"):
            db = self.open("capacity=3000", f"{self.path} {damage[:6]}")
            self.add(db, range(3000))
            db.execute("BEGIN")
            self.add(db, range(3000, 3100))
            db.execute("PRAGMA query_only = ON")
            db.execute("COMMIT")
            db.execute("PRAGMA query_only = OFF")
            db.execute(damage)
            db.close()
            with self.assertRaises(sqlite3.DatabaseError):
                other = connect(f"{self.path} {damage[:6]}")
                self.addCleanup(other.close)
                other.execute("SELECT 1 FROM f WHERE key = 5").fetchone()

    def test_a_trigger_that_keeps_rows_out_of_the_log_is_noticed(self):
        db = self.open()
        self.add(db, range(3000))
        db.execute("CREATE TRIGGER t BEFORE INSERT ON f_rowlog BEGIN SELECT raise(IGNORE); END")
        db.execute("BEGIN")
        with self.assertRaises(sqlite3.DatabaseError):
            self.add(db, range(3000, 3100))

    def test_a_statement_that_fails_takes_its_keys_back(self):
        db = self.open("capacity=3000, kind=counting, fpr=1e-6")
        db.execute("CREATE TABLE t(x UNIQUE)")
        db.execute("CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO f(key) VALUES (new.x); END")
        db.execute("BEGIN")
        for i in range(200):
            db.execute("INSERT INTO t VALUES (?)", (i,))
            with self.assertRaises(sqlite3.IntegrityError):
                db.execute("INSERT INTO t VALUES (?), (?)", (1000 + i, i))
        self.assertEqual(self.missing(db, range(1000, 1200)), list(range(1000, 1200)))
        self.assert_holds(db, range(200))
        db.execute("COMMIT")
        self.assertEqual(self.missing(db, range(1000, 1200)), list(range(1000, 1200)))
        self.assert_holds(db, range(200))


class Groups(unittest.TestCase):
    """The same for bloom_groups."""

    def open(self, options="capacity=300, fpr=1e-6", path=":memory:"):
        db = connect(path)
        self.addCleanup(db.close)
        db.execute(f"CREATE VIRTUAL TABLE f USING bloom_groups({options})")
        return db

    def add(self, db, pairs):
        db.executemany("INSERT INTO f(member, key) VALUES (?, ?)", pairs)

    def assert_holds(self, db, pairs):
        self.assertEqual([(m, k) for m, k in pairs if (m,) not in db.execute("SELECT member FROM f WHERE key = ?", (k,)).fetchall()], [])
        self.assertEqual([(m, k) for m, k in pairs if not db.execute("SELECT 1 FROM f WHERE member = ? AND key = ?", (m, k)).fetchall()], [])
        for member in {m for m, _ in pairs}:
            keys = [k for m, k in pairs if m == member]
            self.assertEqual(db.execute("SELECT min(bloom_contains((SELECT filter FROM f WHERE member = ?), value)) FROM json_each(?)", (member, str(keys))).fetchone()[0], 1)

    def pairs(self, first, count, members=20):
        return [(i % members, i) for i in range(first, first + count)]

    def test_a_commit_after_the_table_was_dropped_or_its_rename_undone(self):
        reopened = ("PRAGMA writable_schema = RESET", "SELECT 1 FROM f WHERE key = 'x'")
        for steps in ((*reopened, "DROP TABLE f"), ("SAVEPOINT a", "ALTER TABLE f RENAME TO g", "INSERT INTO g(member, key) VALUES (0, 'g')", "ROLLBACK TO a")):
            db = self.open()
            db.execute("CREATE TABLE other(x)")
            db.execute("BEGIN")
            db.execute("INSERT INTO other VALUES (1)")
            self.add(db, self.pairs(0, 30))
            for step in steps:
                db.execute(step)
            db.execute("COMMIT")
            self.assertEqual(db.execute("SELECT count(*) FROM other").fetchone(), (1,))
            if "SAVEPOINT a" in steps:
                self.assert_holds(db, self.pairs(0, 30))

    def test_every_length(self):
        db = self.open()
        held = []
        for length in (1, 7, 8, 9, 10, 30, 500):
            db.execute("BEGIN")
            new = self.pairs(len(held), length, 150)
            self.add(db, new)
            in_log = logged(db)
            self.assertEqual(in_log > 0, length > 8)
            held += new
            if length != 30:
                self.assert_holds(db, held[-60:])
                self.assertEqual(logged(db), in_log)
            db.execute("COMMIT")
            self.assertEqual(logged(db), 0)
            self.assertEqual(db.execute("SELECT v FROM f_config WHERE k = 'version'").fetchone()[0], 1)
            self.assert_holds(db, held)
        db.execute("INSERT INTO f(f) VALUES ('integrity-check')")

    def test_the_bytes_are_those_of_a_bulk_insert(self):
        rows, bulk = self.open(), self.open()
        pairs = self.pairs(0, 5000, 200)
        rows.execute("BEGIN")
        self.add(rows, pairs)
        rows.execute("COMMIT")
        bulk.execute("CREATE TABLE t(m, k)")
        bulk.executemany("INSERT INTO t VALUES (?, ?)", pairs)
        bulk.execute("INSERT INTO f(member, key) SELECT m, k FROM t")
        for table in ("f_data", "f_members", "f_config"):
            self.assertEqual(rows.execute(f"SELECT * FROM {table}").fetchall(), bulk.execute(f"SELECT * FROM {table}").fetchall())

    def test_savepoints(self):
        rng = random.Random(2)
        db = self.open()
        held, stack, number = [], [], 0
        db.execute("BEGIN")
        for _ in range(400):
            step = rng.choice(("add", "add", "add", "save", "back", "release", "look", "delete"))
            if step == "add":
                new = self.pairs(number, rng.randrange(1, 40))
                number += len(new)
                self.add(db, new)
                held += new
            elif step == "save":
                db.execute("SAVEPOINT s")
                stack.append(list(held))
            elif stack and step == "back":
                db.execute("ROLLBACK TO s")
                held = list(stack[-1])
            elif stack and step == "release":
                db.execute("RELEASE s")
                stack.pop()
            elif step == "delete":
                member = rng.randrange(20)
                db.execute("DELETE FROM f WHERE member = ?", (member,))
                held = [pair for pair in held if pair[0] != member]
            elif held and rng.random() < 0.3:
                self.assert_holds(db, rng.sample(held, min(len(held), 10)) + held[-10:])
        self.assert_holds(db, held[-300:])
        db.execute("COMMIT")
        self.assert_holds(db, held)
        db.execute("INSERT INTO f(f) VALUES ('integrity-check')")

    def test_a_log_that_another_transaction_has_left(self):
        db = self.open()
        held = self.pairs(0, 3000, 100)
        db.execute("BEGIN")
        self.add(db, held)
        db.execute("COMMIT")
        db.execute("BEGIN")
        self.add(db, self.pairs(3000, 200))
        db.execute("PRAGMA query_only = ON")
        self.assert_holds(db, self.pairs(3000, 200))
        db.execute("COMMIT")
        self.assertGreater(logged(db), 0)
        held += self.pairs(3000, 200)
        self.assert_holds(db, held[-300:])
        copy = connect()
        copy.deserialize(db.serialize())
        self.assert_holds(copy, held[-300:])
        copy.execute("DELETE FROM f WHERE member = 5")
        self.assertEqual(logged(copy), 0)
        self.assert_holds(copy, [pair for pair in held[-300:] if pair[0] != 5])
        db.execute("PRAGMA query_only = OFF")
        db.execute("BEGIN")
        self.add(db, self.pairs(4000, 20))
        db.execute("COMMIT")
        self.assertEqual(logged(db), 0)
        self.assert_holds(db, held + self.pairs(4000, 20))
        copy.close()

    def test_lookups_leave_changes_alone(self):
        db = self.open()
        db.execute("BEGIN")
        self.add(db, self.pairs(0, 100))
        db.execute("SELECT member FROM f WHERE key = 5").fetchall()
        self.assertEqual(db.execute("SELECT changes()").fetchone()[0], 1)
        self.add(db, self.pairs(100, 100))
        db.execute("COMMIT")
        self.assertEqual(db.execute("SELECT changes()").fetchone()[0], 1)

    def test_a_table_of_an_earlier_version_has_no_log(self):
        db = self.open()
        db.execute("DROP TABLE f_rowlog")
        db.execute("DELETE FROM f_config WHERE k = 'rowlog'")
        db.execute("BEGIN")
        self.add(db, self.pairs(0, 100))
        db.execute("COMMIT")
        self.assert_holds(db, self.pairs(0, 100))
        db.execute("ALTER TABLE f RENAME TO g")
        db.execute("DROP TABLE g")


if __name__ == "__main__":
    unittest.main()
