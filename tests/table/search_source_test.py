"""Search tables against everything else that SQLite and other programs may do to the source.

    /usr/bin/python3 tests/table/search_source_test.py EXTENSION [unittest options]

The environment variable INDEX=1 gives the key an index in the source, so that lookups probe a filter over the whole table.
EVERY=1 runs all combinations of triggers, which takes two minutes.

The source is the oracle: every row that a connection sees must be found by its key.
"""

import itertools
import json
import os
import random
import sqlite3
import subprocess
import sys
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from affinity_test import TYPES, VALUES  # noqa: E402
from support.case import InFolder  # noqa: E402
from support.host import EXTENSION, SANITIZED, one  # noqa: E402
from support.raw import DBCONFIG_DEFENSIVE, OK, Failure, Raw  # noqa: E402

SMALLEST, LARGEST = -(2**63), 2**63 - 1
SOURCE = "CREATE TABLE s(id INTEGER PRIMARY KEY, k, u UNIQUE, x)"
WITH_INDEX = "INDEX" in os.environ
SEARCH_TABLE = "CREATE VIRTUAL TABLE f USING bloom_search(source=s, equal=(k))"
SUMMARIZE = "INSERT INTO f(f) VALUES ('summarize')"
REBUILD = "INSERT INTO f(f) VALUES ('rebuild')"
CHECK = "INSERT INTO f(f) VALUES ('integrity-check')"
LOST = "SELECT id, k FROM {s} AS s WHERE k IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {f} AS f WHERE f.k = s.k AND f.id = s.id)"
# Of the combinations of triggers and statements, each EVERY-th runs, and another one for each trigger.
EVERY = int(os.environ.get("EVERY", 29 if SANITIZED else 7))
STALE = "missing or ha(s|ve) changed"
FULL = "FULL" if sqlite3.sqlite_version_info >= (3, 39) else "LEFT"


class SourceCase(InFolder):
    """The source s has the rows 1..rows, with the keys 'key 1' and up."""

    def source(self, schema=SOURCE, rows=22, path=None):
        db = self.connect(path)
        db.executescript(schema)
        db.execute("CREATE TABLE IF NOT EXISTS extra(a, b)")
        if WITH_INDEX:
            db.execute("CREATE INDEX key_of_s ON s(k)")
        db.executemany("INSERT INTO s(id, k, u) VALUES (?1, 'key ' || ?1, ?1)", [(i,) for i in range(1, rows + 1)])
        return db

    def make(self, schema=SOURCE, rows=22, before="", after="", path=None):
        """`before` and `after` the search table is made, these statements run."""
        db = self.source(schema, rows, path)
        db.executescript(before)
        db.execute(SEARCH_TABLE)
        db.executescript(after)
        return db

    def plain(self):
        """A connection without the extension."""
        db = sqlite3.connect(self.path, isolation_level=None, timeout=0)
        self.addCleanup(db.close)
        return db

    def found(self, db, key, table="f"):
        return [rowid for (rowid,) in db.execute(f"SELECT id FROM {table} WHERE k = ?", (key,)).fetchall()]

    def lost(self, db, source="s", table="f"):
        return db.execute(LOST.format(s=source, f=table)).fetchall()

    def assertNothingLost(self, *dbs):
        for db in dbs:
            for rowid, key in db.execute("SELECT id, k FROM s WHERE k IS NOT NULL").fetchall():
                self.assertIn(rowid, self.found(db, key))
            self.assertEqual(self.lost(db), [])
            self.assertEqual(db.execute("SELECT id, k FROM f ORDER BY id").fetchall(), db.execute("SELECT id, k FROM s ORDER BY id").fetchall())

    def assertSoundAfterwards(self, db):
        """Now, and after each command."""
        self.assertNothingLost(db)
        for command in (CHECK, SUMMARIZE, CHECK, "INSERT INTO f(f) VALUES ('optimize')", REBUILD, CHECK):
            db.execute(command)
            self.assertNothingLost(db)


def attempt(db, sql, *arguments):
    """Runs a statement that may be refused. Returns the message of the error, or None."""
    try:
        db.execute(sql, arguments).fetchall()
    except sqlite3.Error as error:
        return str(error)
    return None


class Triggers(SourceCase):
    """Other triggers on the source, made before the search table and after it."""

    ENDS = ("RAISE(IGNORE)", "RAISE(FAIL, 'refused')", "RAISE(ABORT, 'refused')", "RAISE(ROLLBACK, 'refused')", "1")
    WRITES = (
        "INSERT INTO s(id, k) VALUES (-1, 'new')",
        "INSERT INTO s(id, k) VALUES (7, 'new')",
        "INSERT INTO s(k) VALUES ('new')",
        "INSERT OR REPLACE INTO s(id, k) VALUES (7, 'new'), (8, 'newer'), (NULL, 'newest')",
        "INSERT INTO s(id, k) VALUES (7, 'new') ON CONFLICT DO UPDATE SET k = 'upserted'",
        "INSERT INTO s(id, k) VALUES (7, 'new') ON CONFLICT DO UPDATE SET id = 40, k = 'upserted'",
        "UPDATE s SET k = 'new' WHERE id IN (7, 8)",
        "UPDATE s SET id = -1 WHERE id = 22",
        "UPDATE OR REPLACE s SET id = 3 WHERE id = 22",
        "UPDATE s SET id = id - 100",
        "UPDATE s SET id = 40 WHERE id = 2",
        "UPDATE s SET x = 1",
    )

    attacks = 0

    def attack(self, before="", after="", prepare="DELETE FROM s WHERE id IN (9, 10)"):
        Triggers.attacks += 1
        ways = itertools.product(self.WRITES, ("ON", "OFF"), (False, True))
        for write, recursive, temp in itertools.islice(ways, Triggers.attacks % EVERY, None, EVERY):
            with self.subTest(write, before=before, after=after, recursive=recursive, temp=temp):
                db = self.make(before=before, path=":memory:")
                db.execute(prepare)
                db.execute(f"PRAGMA recursive_triggers = {recursive}")
                db.executescript(after.replace("CREATE TRIGGER", "CREATE TEMP TRIGGER") if temp else after)
                attempt(db, write)
                self.assertNothingLost(db)
                attempt(db, write.replace("new", "second"))
                self.assertNothingLost(db)
                attempt(db, SUMMARIZE)
                self.assertNothingLost(db)

    def trigger(self, name, when, event, body, condition=""):
        return f"CREATE TRIGGER {name} {when} {event} ON s {condition} BEGIN {body}; END;"

    def test_triggers_that_end_the_statement(self):
        for when, event, end in itertools.product(("BEFORE", "AFTER"), ("INSERT", "UPDATE"), self.ENDS):
            trigger = self.trigger("x", when, event, f"SELECT {end}")
            self.attack(before=trigger)
            self.attack(after=trigger)

    def test_triggers_that_change_the_same_row(self):
        bodies = (
            "UPDATE s SET k = 'nested' WHERE id = new.id",
            "UPDATE OR REPLACE s SET id = 6, k = 'nested' WHERE id = new.id",
            "DELETE FROM s WHERE id = new.id",
            "INSERT OR REPLACE INTO s(id, k) VALUES (new.id, 'nested')",
        )
        for when, event, body in itertools.product(("BEFORE", "AFTER"), ("INSERT", "UPDATE"), bodies):
            trigger = self.trigger("x", when, event, body, "WHEN new.k IS NOT 'nested'")
            self.attack(before=trigger)
            self.attack(after=trigger)

    def test_triggers_that_delete_the_last_rows(self):
        for when, event in itertools.product(("BEFORE", "AFTER"), ("INSERT", "UPDATE")):
            for body in ("DELETE FROM s WHERE id > 12", "DELETE FROM s", "DELETE FROM s WHERE id > 12; INSERT INTO s(k) VALUES ('of the trigger')"):
                trigger = self.trigger("x", when, event, body, "WHEN new.k IS NOT 'of the trigger'")
                self.attack(before=trigger)
                self.attack(after=trigger)

    def test_triggers_that_delete_the_last_rows_and_end_the_statement(self):
        for end in self.ENDS:
            delete = self.trigger("x", "BEFORE", "INSERT", "DELETE FROM s WHERE id > 12")
            stop = self.trigger("y", "AFTER", "INSERT", f"SELECT {end}")
            self.attack(after=delete + stop)
            self.attack(before=stop, after=delete)
            self.attack(before=delete + stop)

    def test_a_largest_rowid_that_comes_and_goes(self):
        for body in (f"INSERT OR IGNORE INTO s(id, k) VALUES ({LARGEST}, 'largest')", f"DELETE FROM s WHERE id = {LARGEST}"):
            for when in ("BEFORE", "AFTER"):
                trigger = self.trigger("x", when, "INSERT", body, "WHEN new.k IS NOT 'largest'")
                prepare = f"INSERT INTO s(id, k) VALUES ({LARGEST}, 'largest')" if "DELETE" in body else "DELETE FROM s WHERE id = 3"
                self.attack(before=trigger, prepare=prepare)
                self.attack(after=trigger, prepare=prepare)

    def test_random_rowids_and_triggers_that_end_the_statement(self):
        """SQLite chooses them when the largest rowid is in use; BEFORE triggers see -1, and AFTER triggers may not run."""
        for largest, temp, end in itertools.product((LARGEST, LARGEST - 5), ("", "TEMP "), self.ENDS):
            db = self.make(path=":memory:")
            db.execute("INSERT INTO s(id, k) VALUES (?, 'largest')", (largest,))
            db.execute(SUMMARIZE)
            db.execute("INSERT OR IGNORE INTO s(id, k) VALUES (?, 'largest')", (LARGEST,))
            db.executescript(self.trigger("x", "AFTER", "INSERT", f"SELECT {end}").replace("CREATE ", f"CREATE {temp}"))
            for i in range(3):
                attempt(db, "INSERT INTO s(k) VALUES (?)", f"random {i}")
                self.assertNothingLost(db)
            db.execute("DROP TRIGGER x")
            self.assertSoundAfterwards(db)


class Statements(SourceCase):
    """Statements of SQL, through a connection without the extension."""

    def test_rowids_at_both_ends(self):
        db, plain = self.make(), self.plain()
        for rowid in (SMALLEST, SMALLEST + 1, -2, -1, 0, LARGEST - 1, LARGEST):
            plain.execute("INSERT INTO s(id, k) VALUES (?, ?)", (rowid, f"new {rowid}"))
            self.assertNothingLost(db)
        db.execute(SUMMARIZE)
        self.assertNothingLost(db)
        for _ in range(20):
            plain.execute("INSERT INTO s(k) VALUES ('random rowid')")
            self.assertNothingLost(db)
        self.assertGreater(one(db, "SELECT count(*) FROM s WHERE k = 'random rowid' AND id > 10000"), 10)
        self.assertSoundAfterwards(db)

    def test_a_source_of_negative_rowids(self):
        db = self.source(rows=0)
        db.executemany("INSERT INTO s(id, k) VALUES (?, ?)", [(i, f"key {i}") for i in range(-40, -1)])
        db.execute(SEARCH_TABLE)
        plain = self.plain()
        for i in range(6):
            plain.execute("INSERT INTO s(k) VALUES (?)", (f"new {i}",))
            self.assertNothingLost(db)
        plain.execute("DELETE FROM s WHERE id > -20")
        for i in range(30):
            plain.execute("INSERT INTO s(k) VALUES (?)", (f"again {i}",))
            self.assertNothingLost(db)
        self.assertSoundAfterwards(db)

    def test_autoincrement(self):
        db, plain = self.make(SOURCE.replace("PRIMARY KEY,", "PRIMARY KEY AUTOINCREMENT,")), self.plain()
        for prepare in ("DELETE FROM s WHERE id > 12", "UPDATE sqlite_sequence SET seq = 0", "UPDATE sqlite_sequence SET seq = 15", "DELETE FROM sqlite_sequence", "DELETE FROM s"):
            plain.execute(prepare)
            for i in range(3):
                plain.execute("INSERT INTO s(k) VALUES (?)", (f"{prepare} {i}",))
                self.assertNothingLost(db)
        plain.execute("INSERT INTO s(id, k) VALUES (?, 'largest')", (LARGEST,))
        self.assertIn("full", attempt(plain, "INSERT INTO s(k) VALUES ('none')"))
        self.assertSoundAfterwards(db)

    def test_a_trigger_ends_the_insert_of_a_row_with_a_covered_rowid(self):
        """The rowid that SQLite chooses: after sqlite_sequence, or a negative one."""
        audit = "CREATE TRIGGER audit AFTER INSERT ON s WHEN new.k LIKE 'x%' BEGIN SELECT RAISE(IGNORE); END"
        with_sequence = SOURCE.replace("PRIMARY KEY,", "PRIMARY KEY AUTOINCREMENT,")
        for schema, rowids, last, sequence in (
            (with_sequence, range(1, 1000), 499, 700),
            (with_sequence, range(1, 1000), 499, 499),
            (with_sequence, range(1, 1000), 499, 0),
            (with_sequence, range(1, 1000), 499, None),
            (with_sequence, range(-300, 900), -100, None),
            (SOURCE, range(-300, -9), -100, None),
            (SOURCE, range(-300, -1), -200, None),
            (SOURCE, range(-300, 200), -100, None),
            (SOURCE, range(1, 1000), 499, None),
        ):
            db = self.source(schema, rows=0, path=":memory:")
            db.executemany("INSERT INTO s(id, k) VALUES (?1, 'key ' || ?1)", [(i,) for i in rowids])
            db.execute(SEARCH_TABLE)
            db.execute(audit)
            db.execute("DELETE FROM s WHERE id > ?", (last,))
            if schema is with_sequence:
                db.execute("DELETE FROM sqlite_sequence" if sequence is None else f"UPDATE sqlite_sequence SET seq = {sequence}")
            for i in range(3):
                db.execute("INSERT OR FAIL INTO s(k) VALUES (?)", (f"x{i}",))
                self.assertNothingLost(db)
            self.assertEqual(one(db, "SELECT count(*) FROM s WHERE k LIKE 'x%'"), 3)
            db.execute("ALTER TABLE s RENAME TO renamed")
            self.assertEqual(one(db, "SELECT max(json_extract(info, '$.in_sync')) FROM (SELECT info FROM f LIMIT 1)"), 1)
            db.execute("ALTER TABLE renamed RENAME TO s")
            self.assertSoundAfterwards(db)

    def test_deleted_rows_whose_rowids_come_again(self):
        db, plain = self.make(), self.plain()
        for prepare in ("DELETE FROM s WHERE id > 8", "DELETE FROM s", "DELETE FROM s WHERE 1"):
            plain.execute(prepare)
            plain.execute("INSERT INTO s(k) VALUES ('a'), ('b'), ('c')")
            self.assertNothingLost(db)
            db.execute(SUMMARIZE)
            plain.execute("INSERT INTO s(k) SELECT 'd' || id FROM s")
            self.assertNothingLost(db)
        self.assertSoundAfterwards(db)

    def test_replace_and_upsert_through_another_unique_column(self):
        for recursive, statement in itertools.product(
            ("ON", "OFF"),
            (
                "REPLACE INTO s(k, u) VALUES ('new', 22)",
                "REPLACE INTO s(id, k, u) VALUES (3, 'new', 22), (22, 'newer', 3)",
                "UPDATE OR REPLACE s SET u = 22, k = 'new' WHERE id = 4",
                "UPDATE OR REPLACE s SET id = id + 1",
                "INSERT INTO s(k, u) VALUES ('new', 4) ON CONFLICT(u) DO UPDATE SET k = excluded.k",
                "INSERT INTO s(k, u) VALUES ('new', 4) ON CONFLICT(u) DO UPDATE SET id = 9, k = excluded.k WHERE 1",
                "INSERT INTO s(id, k, u) VALUES (4, 'new', 900) ON CONFLICT(id) DO UPDATE SET k = excluded.k, id = -1",
                "INSERT OR IGNORE INTO s(k, u) VALUES ('new', 4), ('newer', 4000)",
                "INSERT OR FAIL INTO s(id, k, u) VALUES (-1, 'new', 100), (2, 'newer', 101)",
                "UPDATE OR FAIL s SET k = 'new', u = 5",
            ),
        ):
            with self.subTest(statement, recursive=recursive):
                db = self.make(path=":memory:")
                db.execute(f"PRAGMA recursive_triggers = {recursive}")
                attempt(db, statement)
                self.assertSoundAfterwards(db)

    def test_rowids_of_other_types(self):
        db, plain = self.make(), self.plain()
        plain.execute("DELETE FROM s WHERE id BETWEEN 6 AND 10")
        for rowid in ("'6'", "7.0", "' 8 '", "'9.0'", "x'31'", "'a'", "1e300", "NULL"):
            attempt(plain, f"INSERT INTO s(id, k) VALUES ({rowid}, 'inserted')")
            self.assertNothingLost(db)
            attempt(plain, f"UPDATE OR REPLACE s SET rowid = {rowid}, k = 'updated' WHERE id = 22")
            self.assertNothingLost(db)
        self.assertSoundAfterwards(db)

    def test_cascades_of_foreign_keys(self):
        db = self.connect()
        db.executescript(
            "CREATE TABLE p(a INTEGER PRIMARY KEY, b UNIQUE);"
            "CREATE TABLE s(id INTEGER PRIMARY KEY REFERENCES p(a) ON UPDATE CASCADE ON DELETE CASCADE,"
            " k DEFAULT 'default' REFERENCES p(b) ON UPDATE CASCADE ON DELETE SET DEFAULT, u, x);"
            "INSERT INTO p VALUES (1000, 'default')"
        )
        for i in range(1, 41):
            db.execute("INSERT INTO p VALUES (?1, 'key ' || ?1)", (i,))
            db.execute("INSERT INTO s(id, k) VALUES (?, ?)", (i, f"key {max(1, i - 2)}"))
        db.execute(SEARCH_TABLE)
        plain = self.plain()
        plain.execute("PRAGMA foreign_keys = ON")
        for recursive in ("ON", "OFF"):
            plain.execute(f"PRAGMA recursive_triggers = {recursive}")
            for statement in (
                "UPDATE p SET b = b || ' new' WHERE a < 5",
                "UPDATE p SET a = -a WHERE a = 7",
                "UPDATE p SET a = a + 100, b = b || '!' WHERE a BETWEEN 10 AND 12",
                "UPDATE p SET a = a - 100 WHERE a BETWEEN 110 AND 112",
                "DELETE FROM p WHERE a = 30",
                "REPLACE INTO p VALUES (20, 'replaced')",
            ):
                plain.execute(statement)
                self.assertNothingLost(db)
        self.assertGreater(one(db, "SELECT count(*) FROM s WHERE k IN ('default', 'key 1 new')"), 1)
        self.assertSoundAfterwards(db)

    def test_savepoints(self):
        db = self.make()
        for end in ("ROLLBACK TO a", "RELEASE a", "ROLLBACK", "COMMIT"):
            for first, second in itertools.product((SUMMARIZE, REBUILD, "UPDATE s SET k = 'first' WHERE id = 3"), repeat=2):
                with self.subTest(end, first=first, second=second):
                    db.execute("BEGIN")
                    db.execute("INSERT INTO s(k) VALUES ('a'), ('b'), ('c')")
                    db.execute(first)
                    self.assertNothingLost(db)
                    db.execute("SAVEPOINT a")
                    db.execute("UPDATE s SET k = k || 'x' WHERE id IN (2, 12)")
                    db.execute("INSERT INTO s(k) VALUES ('d'), ('e'), ('f')")
                    db.execute(second)
                    self.assertNothingLost(db)
                    db.execute(end)
                    self.assertNothingLost(db)
                    if db.in_transaction:
                        db.execute("UPDATE s SET k = k || 'y' WHERE id = 13")
                        db.execute("COMMIT")
                    self.assertNothingLost(db, self.connect())
                    db.execute(CHECK)

    def test_two_search_tables_and_a_filter_on_one_source(self):
        db = self.make(after="CREATE VIRTUAL TABLE g USING bloom_search(source=s, equal=(k, u), like=k); CREATE VIRTUAL TABLE h USING bloom(source=s, column=k)")
        plain = self.plain()
        for statement in ("UPDATE s SET k = k || '!' WHERE id % 4 = 0", "DELETE FROM s WHERE id > 15", "INSERT INTO s(k) VALUES ('a'), ('b')", "UPDATE s SET id = id - 1"):
            plain.execute(statement)
            self.assertNothingLost(db)
            self.assertEqual(self.lost(db, table="g"), [])
            db.execute("INSERT INTO g(g) VALUES ('summarize')")
            self.assertEqual(self.lost(db, table="g"), [])
        db.execute("DROP TABLE g")
        plain.execute("UPDATE s SET k = k || '?'")
        self.assertSoundAfterwards(db)


class Schema(SourceCase):
    """Changes of the schema, most of them by a program without the extension."""

    def assertRefusedUntilRebuild(self, db):
        self.assertNothingLost(db)
        self.assertFails(db, STALE, SUMMARIZE)
        self.assertFails(db, STALE, CHECK)
        self.assertFalse(json.loads(one(db, "SELECT info FROM f LIMIT 1"))["in_sync"])
        db.execute(REBUILD)
        self.assertSoundAfterwards(db)

    def test_alter_table(self):
        db, plain = self.make(), self.plain()
        for legacy in ("OFF", "ON"):
            plain.execute(f"PRAGMA legacy_alter_table = {legacy}")
            for statement in ("ALTER TABLE s ADD COLUMN y DEFAULT 3", "ALTER TABLE s RENAME COLUMN x TO z", "ALTER TABLE s RENAME COLUMN z TO x", "ALTER TABLE s DROP COLUMN y"):
                if "DROP" in statement and sqlite3.sqlite_version_info < (3, 35):
                    continue
                attempt(plain, statement)
                attempt(plain, "UPDATE s SET k = k || '!' WHERE id IN (3, 13)")
                attempt(plain, "INSERT INTO s(k) VALUES ('more')")
                self.assertNothingLost(db)
        self.assertIsNotNone(attempt(plain, "ALTER TABLE s DROP COLUMN k"))
        self.assertSoundAfterwards(db)

    def test_schema_changes_while_a_query_runs(self):
        """The query goes on with the rows of the source, or ends with an error."""
        queries = (
            "SELECT q.k FROM q WHERE EXISTS (SELECT 1 FROM f WHERE f.k = q.k)",
            "SELECT q.k, f.id FROM q CROSS JOIN f ON f.k = q.k",
            "SELECT q.k, f.id FROM q CROSS JOIN f ON f.x LIKE '%' || q.k || '%'",
            "SELECT q.k, f.e FROM q CROSS JOIN f ON f.e = q.k",
            "SELECT q.k, (SELECT e FROM f WHERE f.k = q.k) FROM q",
        )
        lost_triggers = ["DROP VIEW f_last", "DROP TRIGGER f_before_update", "UPDATE s SET k = 'last', x = 'last' WHERE id = 10"]
        changes = (
            (False, "ALTER TABLE s RENAME TO s2"),
            (False, "ALTER TABLE s RENAME TO s2", SOURCE),
            (False, "ALTER TABLE s RENAME TO s2", "ALTER TABLE other RENAME TO s"),
            (False, "ALTER TABLE s RENAME COLUMN k TO y", "ALTER TABLE s RENAME COLUMN x TO k", "ALTER TABLE s RENAME COLUMN y TO x"),
            (False, "ALTER TABLE s RENAME COLUMN u TO y", "ALTER TABLE s ADD COLUMN u"),
            (True, "ALTER TABLE s ADD COLUMN y"),
            (True, "CREATE TABLE another(a)"),
            (True, "CREATE TEMP TABLE another(a)"),
            (True, "CREATE INDEX i ON s(x)"),
            (True, *lost_triggers),
        )
        for query, (goes_on, *change), begin, rows in itertools.product(queries, changes, (None, "BEGIN", "SAVEPOINT x"), (30, 1000)):
            db = self.source(path=":memory:", rows=rows)
            db.execute("PRAGMA automatic_index = OFF")
            db.execute(SOURCE.replace(" s(", " other("))
            db.execute("UPDATE s SET x = k")
            db.execute("CREATE TABLE q(k TEXT)")
            db.execute("INSERT INTO q SELECT k FROM s WHERE id % 10 = 0 UNION ALL SELECT 'last'")
            db.execute(SEARCH_TABLE.replace("(k)", "(k, lower(x) AS e), like=(x)"))
            expected = db.execute(query).fetchall()
            db.execute(begin) if begin else None
            running = db.execute(query)
            got = [running.fetchone()]  # Python has also read the next one
            for statement in change:
                db.execute(statement)
            with self.subTest(query, change=change, begin=begin, rows=rows):
                if goes_on:
                    got += running.fetchall()
                    if change == lost_triggers:
                        expected = [row for row in expected if row[0] != "last"]
                        self.assertEqual(got.pop()[0], "last")
                    self.assertEqual(got, expected)
                else:
                    with self.assertRaisesRegex(sqlite3.OperationalError, "ALTER TABLE has changed 's' while a query of 'f' was running"):
                        running.fetchall()

    def test_a_rename_while_a_query_runs(self):
        """Also if the statement on the source goes on, and if the next lookup needs another statement."""
        for query in ("SELECT id, e FROM f WHERE u > 0", "SELECT id, e, d FROM f WHERE u > 0", "SELECT f.id FROM q CROSS JOIN f ON f.id BETWEEN q.a AND q.b"):
            db = self.source(path=":memory:")
            db.execute("CREATE TABLE q(a, b)")
            db.execute("INSERT INTO q VALUES (1, 1), (2, 2), (3, 4)")
            db.execute(SEARCH_TABLE.replace("(k)", "(k, abs(u) AS e, u + 1 AS d)"))
            running = db.execute(query)
            self.assertEqual(running.fetchone()[0], 1)
            db.execute("ALTER TABLE s RENAME TO s2")
            db.execute(SOURCE)
            with self.assertRaisesRegex(sqlite3.OperationalError, "ALTER TABLE has changed 's' while a query of 'f' was running"):
                running.fetchall()

    def test_a_query_after_another_program_has_changed_the_schema(self):
        db, plain = self.make(), self.plain()
        for i, statement in enumerate(("CREATE TABLE other(x)", "CREATE INDEX i ON s(k)", "ALTER TABLE s ADD COLUMN y", "DROP INDEX i")):
            self.found(db, "key 3")
            plain.execute(statement)
            self.assertEqual(db.execute(f"SELECT id, {i} FROM f WHERE k = 'key 3'").fetchall(), [(3, i)], statement)
        self.assertSoundAfterwards(db)

    def test_names_that_change_before_a_new_connection(self):
        db = self.connect()
        db.execute("CREATE TABLE s(id INTEGER PRIMARY KEY, k, n)")
        db.execute("INSERT INTO s(k, n) VALUES ('one two', 1), ('three', -2)")
        db.execute("CREATE VIRTUAL TABLE f USING bloom_search(source=s, words=k, equal=(k, abs(n) AS m))")
        self.plain().execute("ALTER TABLE s RENAME COLUMN k TO k2")
        db = self.connect()
        for condition, wanted in ("k2 MATCH 'two'", [(1,)]), ("k2 = 'three'", [(2,)]), ("m = 2", [(2,)]):
            self.assertEqual(db.execute(f"SELECT id FROM f WHERE {condition}").fetchall(), wanted, condition)
        # A new column with the name of an expression hides it.
        self.plain().execute("ALTER TABLE s ADD COLUMN m DEFAULT 7")
        db = self.connect()
        for condition, wanted in ("m = 7", [(1,), (2,)]), ("m = 2", []), ("k2 = 'three'", [(2,)]):
            self.assertEqual(db.execute(f"SELECT id FROM f WHERE {condition}").fetchall(), wanted, condition)

    def test_names_that_change(self):
        for legacy in ("OFF", "ON"):
            with self.subTest(legacy_alter_table=legacy):
                db = self.make(path=":memory:")
                db.execute(f"PRAGMA legacy_alter_table = {legacy}")
                db.execute("ALTER TABLE s RENAME COLUMN k TO key2")
                db.execute("ALTER TABLE s RENAME COLUMN id TO first")
                db.execute("UPDATE s SET key2 = 'new' WHERE first = 7")
                db.execute("ALTER TABLE s RENAME COLUMN key2 TO k")
                db.execute("ALTER TABLE s RENAME COLUMN first TO id")
                self.assertNothingLost(db)
                db.execute("ALTER TABLE s RENAME TO s2")
                attempt(db, "UPDATE s2 SET k = 'newer' WHERE id = 8")
                attempt(db, "INSERT INTO s2(id, k) VALUES (-1, 'newest')")
                self.assertEqual(self.lost(db, source="s2"), [])
                db.execute("ALTER TABLE s2 RENAME TO s")
                if legacy == "ON":  # the triggers still have the old name
                    db.execute(REBUILD)
                self.assertNothingLost(db)
                db.execute("ALTER TABLE f RENAME TO g")
                db.execute("UPDATE s SET k = 'renamed' WHERE id = 9")
                self.assertEqual(self.lost(db, table="g"), [])
                db.execute("ALTER TABLE g RENAME TO f")
                self.assertSoundAfterwards(db)

    def test_commands_notice_lost_triggers_although_no_lookup_was_prepared_since(self):
        # Each command has a table of its own: the first one that fails makes the next one check again.
        for i, command in enumerate((CHECK, SUMMARIZE)):
            with self.subTest(command):
                db = self.make(path=f"{self.path}{i}")
                self.assertNothingLost(db)
                db.execute("DROP TRIGGER f_before_update")
                db.execute("UPDATE s SET k = 'new' WHERE id = 1")
                self.assertFails(db, STALE, command)
                db.execute(REBUILD)
                self.assertSoundAfterwards(db)

    def test_a_name_in_another_case(self):
        db = self.source()
        db.execute(SEARCH_TABLE.replace("source=s", "source=S").replace("(k)", "(K)"))
        self.assertTrue(json.loads(one(db, "SELECT info FROM f LIMIT 1"))["in_sync"])
        self.assertSoundAfterwards(db)

    def test_commands_notice_lost_triggers_although_only_another_connection_wrote_since(self):
        for i, command in enumerate((CHECK, SUMMARIZE)):
            with self.subTest(command):
                db = self.make(rows=200, path=f"{self.path}{i}")
                plain = sqlite3.connect(f"{self.path}{i}", isolation_level=None)
                self.addCleanup(plain.close)
                self.assertNothingLost(db)
                db.execute("DROP TRIGGER f_before_update")
                plain.execute("UPDATE s SET k = 'new' WHERE id = 1")
                plain.execute("INSERT INTO s(k) VALUES ('behind the last range')")
                self.assertFails(db, STALE, command)
                self.assertNothingLost(db)
                db.execute(REBUILD)
                self.assertSoundAfterwards(db)

    def test_a_replaced_source_is_not_exchanged_by_renames(self):
        """Log rotation after a tool has replaced the source: the new table of the old name must not be searched."""
        db = self.make(rows=200)
        db.executescript(f"{SOURCE.replace('TABLE s', 'TABLE new')}; INSERT INTO new SELECT * FROM s; DROP TABLE s; ALTER TABLE new RENAME TO s")
        with self.assertRaisesRegex(sqlite3.Error, STALE):
            db.executescript("BEGIN; ALTER TABLE s RENAME TO old; CREATE TABLE s(k); ALTER TABLE f RENAME TO f_old")
        db.execute("ROLLBACK")
        self.assertNothingLost(db)

    def test_a_replaced_source_without_integer_primary_key(self):
        db = self.make(rows=200)
        db.executescript("CREATE TABLE new AS SELECT * FROM s; DROP TABLE s; ALTER TABLE new RENAME TO s")
        for statement in ("SELECT id FROM f WHERE k = 'a'", "SELECT * FROM f", REBUILD):
            self.assertFails(db, "cannot search 's': it has no INTEGER PRIMARY KEY", statement)

    def test_a_rename_restores_no_lost_triggers(self):
        db = self.make(rows=200)
        db.execute("DROP TRIGGER f_before_update")
        db.execute("UPDATE s SET k = 'new' WHERE id = 3")
        self.assertFails(db, STALE, "ALTER TABLE f RENAME TO g")
        self.assertNothingLost(db)
        db.execute(REBUILD)
        self.assertSoundAfterwards(db)

    def test_names_that_change_while_a_lookup_runs(self):
        """A name in double quotes would become a string."""
        for old, option in itertools.product(("k", "id"), ("equal=(k)", "like=(k)", "words=(k)")):
            with self.subTest(old, option=option):
                db = self.source(rows=200, path=":memory:")
                db.execute(f"CREATE VIRTUAL TABLE f USING bloom_search(source=s, {option})")
                found = db.execute("SELECT f.id FROM s CROSS JOIN f WHERE f.k = s.k ORDER BY s.u")
                rows = [found.fetchone()]
                db.execute(f"ALTER TABLE s RENAME COLUMN {old} TO renamed")
                try:
                    rows += found.fetchall()
                except sqlite3.Error as error:
                    self.assertIn("ALTER TABLE has changed 's'", str(error))
                else:
                    self.assertEqual(len(rows), 200)

    def test_names_that_the_triggers_use(self):
        for name in ("r", "c", "first", "member", "new", "old", "f_x", 'a "b"', "select", "max", "v", "k"):
            quoted = '"' + name.replace('"', '""') + '"'
            with self.subTest(name):
                db = self.connect(":memory:")
                db.execute(f"CREATE TABLE {quoted}({quoted} INTEGER PRIMARY KEY, key, {'v, k' if name not in 'vk' else 'first, c'})")
                db.executemany(f"INSERT INTO {quoted}(key) VALUES (?)", [(i,) for i in range(20)])
                db.execute(f"CREATE VIRTUAL TABLE f USING bloom_search(source={quoted}, equal=(key))")
                db.execute(f"UPDATE {quoted} SET key = 'new' WHERE {quoted} = 7")
                db.execute(f"DELETE FROM {quoted} WHERE {quoted} > 12")
                db.execute(f"INSERT INTO {quoted}(key) VALUES ('newer')")
                lost = f"SELECT key FROM {quoted} AS s WHERE NOT EXISTS (SELECT 1 FROM f WHERE f.key = s.key AND s.{quoted} = f.{quoted})"
                self.assertEqual(db.execute(lost).fetchall(), [])

    def test_a_renamed_source_whose_guard_is_lost(self):
        """Another table has the old name, whose rows are not those of the source."""
        db = self.make()
        db.execute("ALTER TABLE s RENAME TO archived")
        db.executescript(SOURCE)
        db.execute("DROP INDEX f_guard")
        self.assertFails(db, "'s' was renamed to 'archived', and something else has its old name", "SELECT count(*) FROM f")
        db.execute("DROP TABLE s")
        for sql in ("SELECT id FROM {} WHERE k = 'key 7'", "SELECT count(*) FROM {}"):
            self.assertEqual(*(db.execute(sql.format(table)).fetchall() for table in ("archived", "f")))

    def test_odd_names_that_a_source_and_its_columns_get(self):
        for name in ("log (2025)", "a) WHERE 0", ') WHERE 0', ' ON (', 'a "b" ON (', "it's (", "[x](", "a,b", "-- (", "/* (", "(", "f ON s("):
            quoted = '"' + name.replace('"', '""') + '"'
            for table, column in ((quoted, "k"), ("s", quoted), (quoted, quoted)):
                with self.subTest(table=table, column=column):
                    db = self.source(path=":memory:")
                    db.execute("CREATE VIRTUAL TABLE f USING bloom_search(source=s, equal=(k, u, lower(k) AS e), words=(k))")
                    if column != "k":
                        db.execute(f"ALTER TABLE s RENAME COLUMN k TO {quoted}")
                    if table != "s":
                        db.execute(f"ALTER TABLE s RENAME TO {quoted}")
                    db.execute(f"UPDATE {table} SET {column} = 'new' WHERE id = 7")
                    db.execute(f"INSERT INTO {table}({column}) VALUES ('newer')")
                    for command in (SUMMARIZE, CHECK, REBUILD):
                        lost = f"SELECT id FROM {table} AS s WHERE NOT EXISTS (SELECT 1 FROM f WHERE f.e = s.{column} AND f.id = s.id)"
                        self.assertEqual(db.execute(lost).fetchall(), [])
                        db.execute(command)

    def test_a_source_that_is_recreated(self):
        """The twelve steps of https://sqlite.org/lang_altertable.html, and the order that it warns of."""
        new = SOURCE.replace("s(", "new_s(").replace(" k,", " k TEXT,")
        steps = {
            "right": (new, "INSERT INTO new_s SELECT id + 3, k, u, x FROM s", "DROP TABLE s", "ALTER TABLE new_s RENAME TO s"),
            "wrong": ("ALTER TABLE s RENAME TO old_s", SOURCE, "INSERT INTO s SELECT id + 3, k, u, x FROM old_s", "DROP TABLE old_s"),
        }
        for order, legacy in itertools.product(steps, ("OFF", "ON")):
            with self.subTest(order, legacy_alter_table=legacy):
                path = f"{self.path} {order} {legacy}"
                db = self.make(path=path)
                plain = sqlite3.connect(path, isolation_level=None)
                plain.execute(f"PRAGMA legacy_alter_table = {legacy}")
                plain.execute("BEGIN")
                for step in steps[order]:
                    plain.execute(step)
                plain.execute("COMMIT")
                plain.close()
                self.assertRefusedUntilRebuild(db)

    def test_a_source_that_the_connection_recreates_with_other_columns(self):
        """SQLite does not open the search table again, whose columns it then compares as they were."""
        columns = {"k": "k", "k TEXT COLLATE NOCASE": "k", "k INTEGER": "k", "k AS (u) STORED": "k", "k, old INTEGER": "k", "k, x REAL": "x"}
        values = ("ABC", "abc", "05", 5)
        number = itertools.count()
        for before, after, pk in ((a, b, pk) for a, b in itertools.permutations(columns, 2) for pk in ("id", "pk") if "AS" not in a or "AS" not in b):
            with self.subTest(before=before, after=after, pk=pk):
                path = f"{self.path}{next(number)}"
                db = self.connect(path)
                x = "" if "x REAL" in before else ", x"
                db.execute(f"CREATE TABLE s(id INTEGER PRIMARY KEY, u, {before}{x})")
                db.execute("CREATE VIRTUAL TABLE f USING bloom_search(source=s, equal=(k))")
                self.assertEqual(self.found(db, "ABC"), [])
                x = "" if "x REAL" in after else ", x"
                db.execute("DROP TABLE s")
                db.execute(f"CREATE TABLE s({pk} INTEGER PRIMARY KEY{', id INTEGER' if pk != 'id' else ''}, u, {after}{x})")
                if WITH_INDEX:
                    db.execute("CREATE INDEX key_of_s ON s(k)")
                db.executemany(f"INSERT INTO s(u, {'x' if 'AS' in after else 'k'}) VALUES (?1, ?1)", [(value,) for value in values])
                other = self.connect(path)
                same = True
                for connection in (db, other):
                    try:
                        connection.execute(REBUILD)
                    except sqlite3.OperationalError as error:
                        self.assertIs(connection, db)
                        self.assertIn("another type or collation", str(error))
                        same = False
                    self.assertFalse(same and pk == "pk")  # another column has the rowids
                    for value, name in itertools.product(values, ("k", "x")):
                        select = f"SELECT {pk} FROM {{}} WHERE {name} = ?"
                        if not same and connection is db:
                            self.assertFails(db, "another type or collation|no such column: pk", select.format("f"), value)
                            continue
                        for _ in range(6):
                            if pk == "id" or connection is other:
                                self.assertEqual(*(sorted(connection.execute(select.format(table), (value,)).fetchall()) for table in "sf"), (value, name))
                other.execute(CHECK)

    def test_a_source_that_was_missing_when_the_table_was_opened(self):
        db = self.make()
        db.execute("DROP TABLE s")
        other = self.connect(self.path)
        self.assertFails(other, "no such table", "SELECT count(*) FROM f")
        other.executescript(SOURCE)
        for sql in ("SELECT count(*) FROM f", REBUILD):
            self.assertFails(other, "the source 's' was missing when this connection opened 'f'", sql)
        again = self.connect(self.path)
        again.execute(REBUILD)
        self.assertEqual(again.execute("SELECT * FROM f").fetchall(), [])

    def test_a_source_that_is_recreated_without_a_column(self):
        """In double quotes, SQLite would read the name of a missing column as a string."""
        for options in ("equal=(k)", "like=(k)", "words=(k)", "equal=(k), like=(k)", "equal=(k || 'x' AS e)"):
            with self.subTest(options):
                db = self.source(path=":memory:")
                db.execute(f"CREATE VIRTUAL TABLE f USING bloom_search(source=s, {options})")
                db.executescript("CREATE TABLE new(id INTEGER PRIMARY KEY, renamed, u UNIQUE, x); INSERT INTO new SELECT * FROM s; DROP TABLE s; ALTER TABLE new RENAME TO s")
                column = "e" if "AS e" in options else "k"
                for sql in (f"SELECT id FROM f WHERE {column} = 'key 1'", f"SELECT {column} FROM f"):
                    self.assertFails(db, "no such column: k", sql)
                self.assertEqual(db.execute("SELECT id FROM f WHERE u = 3").fetchall(), [(3,)])
                self.assertFails(db, "(has no column 'k'|no columns .* the expression 'e') .*DROP this table", REBUILD)
                db.execute("DROP TABLE s")
                self.assertFails(db, "source 's' must be an ordinary table", REBUILD)
                db.execute("DROP TABLE f")
                self.assertEqual(db.execute("SELECT name FROM sqlite_master WHERE name LIKE 'f%'").fetchall(), [])

    def test_a_source_that_gets_a_column_of_the_name_of_the_search_table(self):
        db = self.make()
        db.execute("ALTER TABLE s ADD COLUMN f")
        db.execute("UPDATE s SET f = 'value', k = 'new' WHERE id = 2")
        self.assertEqual(db.execute("SELECT id, f FROM f WHERE k = 'new'").fetchall(), [(2, "value")])
        self.assertEqual(db.execute("SELECT id FROM f WHERE f = 'value'").fetchall(), [(2,)])
        for command in (SUMMARIZE, CHECK, REBUILD):
            db.execute(command)
        self.assertEqual(one(db, "SELECT pending_rows FROM f LIMIT 1"), 0)
        self.assertFails(db, "cannot change the rows of 's'", "UPDATE f SET f = 'summarize'")
        db.execute("SELECT id FROM f WHERE f MATCH 'value'")
        self.assertFails(db, "a table cannot be called 'u'", "ALTER TABLE f RENAME TO u")
        self.assertFails(db, "a table cannot be called 'u'", "CREATE VIRTUAL TABLE u USING bloom_search(source=s, equal=(k))")
        db.execute("ALTER TABLE f RENAME TO g")
        db.execute("INSERT INTO g(g) VALUES ('summarize')")
        db.execute("DROP TABLE g")

    def test_the_collation_of_an_expression_is_not_that_of_its_column(self):
        collations = ("BINARY", "NOCASE", "RTRIM")
        for own in collations:
            db = self.connect(":memory:")
            db.executescript(f"""
                CREATE TABLE s(id INTEGER PRIMARY KEY, k TEXT);
                INSERT INTO s(k) VALUES ('abc'), ('ABC'), ('abc ');
                CREATE VIRTUAL TABLE f USING bloom_search(source=s, equal=(k COLLATE {own} AS n, CASE WHEN id > 0 COLLATE {own} THEN k END AS e));
            """)
            for column, collation, operator in itertools.product("ne", collations, ("=", "IS", "<>", "<=", ">=", "<", ">")):
                condition = f"{operator} 'ABC' COLLATE {collation}"
                self.assertEqual(db.execute(f"SELECT id FROM f WHERE {column} {condition} ORDER BY id").fetchall(),
                                 db.execute(f"SELECT id FROM s WHERE k {condition} ORDER BY id").fetchall(), (own, column, condition))

    def test_a_low_limit_of_parameters(self):
        db = self.make()
        db.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 10)
        conditions = " AND ".join(f"k <> 'x{i}'" for i in range(20)) + " AND id IN (1, 2, 3)"
        self.assertEqual(db.execute(f"SELECT id FROM f WHERE {conditions}").fetchall(), db.execute(f"SELECT id FROM s WHERE {conditions}").fetchall())

    def test_a_lock_of_another_connection_has_its_own_code(self):
        """Programs try again after SQLITE_BUSY only."""
        db = self.make()
        reader = self.connect()
        for sql in ("SELECT id FROM s WHERE k = 'key 3'", "SELECT id FROM f WHERE k = 'key 3'"):
            self.assertEqual(reader.execute(sql).fetchall(), [(3,)])
        db.execute("BEGIN EXCLUSIVE")
        for sql in ("SELECT id FROM s WHERE k = 'key 4'", "SELECT id FROM f WHERE k = 'key 4'", "SELECT id FROM f WHERE u = 4 AND k LIKE '%key%'"):
            with self.assertRaises(sqlite3.OperationalError) as caught:
                reader.execute(sql)
            if hasattr(caught.exception, "sqlite_errorcode"):
                self.assertEqual(caught.exception.sqlite_errorcode & 0xFF, 5, sql)
        db.execute("COMMIT")
        db.execute("ALTER TABLE s RENAME TO t")
        db.execute("CREATE TABLE s(id INTEGER PRIMARY KEY, k, u)")
        db.execute("BEGIN EXCLUSIVE")
        for _ in range(2):
            with self.assertRaises(sqlite3.OperationalError):
                reader.execute("SELECT id FROM f WHERE k = 'key 5'")
        db.execute("COMMIT")
        self.assertFails(reader, "something else has its old name", "SELECT id FROM f WHERE k = 'key 5'")
        db.execute("DROP TABLE s")
        self.assertEqual(reader.execute("SELECT id FROM f WHERE k = 'key 5'").fetchall(), [(5,)])

    def test_match_needs_a_column(self):
        db = self.make()
        db.execute("CREATE TABLE u(x)")
        for sql in ("SELECT id FROM f WHERE f MATCH 'a'", "SELECT id FROM f WHERE f = 'a'", "SELECT id FROM u JOIN f ON f.f MATCH u.x"):
            self.assertFails(db, "'f' is not a column to search", sql)

    def test_strings_in_double_quotes_that_are_hidden_columns(self):
        db = self.connect()
        db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, level, msg)")
        db.executemany("INSERT INTO log(level, msg) VALUES(?, 'm')", [("info",), ("bytes",), ("f",), (None,)])
        db.execute("CREATE VIRTUAL TABLE f USING bloom_search(source=log, equal=(level), like=(msg))")
        db.executescript("CREATE TABLE w(i, l); INSERT INTO w VALUES(1, 'info')")
        queries = (
            'SELECT id FROM f WHERE level = "{}"',
            'SELECT id FROM f WHERE level IN ("{}")',
            "SELECT id FROM f WHERE msg = 'm' AND \"{}\" = level",
            # No value of f is read if the row fails the condition.
            'SELECT w.l, f.id FROM w JOIN f ON w.l = "{}" AND f.id = w.i',
            'SELECT w.l FROM w WHERE w.i IN (SELECT id FROM f WHERE w.l = "{}")',
            'SELECT w.l FROM w, f WHERE f.rowid = w.i AND w.l = "{}"',
        )
        for name in ("info", "bytes", "ranges", "pending_rows", "f"):
            for query in queries:
                self.assertFails(db, f"'{name}' is (a hidden|not a) column", query.format(name))
        self.assertEqual(one(db, "SELECT count(*) FROM f WHERE level = 'info'"), 1)
        self.assertEqual(len(db.execute("SELECT ranges, pending_rows, bytes, json(info) FROM f LIMIT 1").fetchall()), 1)
        self.assertFails(db, "cannot change the rows of 'log'", "UPDATE f SET msg = 'x'")
        # SQLite does not tell which of the columns from the 64th on a query uses.
        db.execute(f"CREATE TABLE wide({', '.join(f'c{i} INT' for i in range(60))}, id INTEGER PRIMARY KEY, level)")
        db.execute("INSERT INTO wide(level) VALUES ('info'), ('ranges')")
        db.execute("CREATE VIRTUAL TABLE g USING bloom_search(source=wide, equal=(level))")
        self.assertEqual(one(db, "SELECT count(*) FROM g WHERE level = \"info\""), 1)
        self.assertFails(db, "'ranges' is a hidden column", "SELECT count(*) FROM g WHERE level = \"ranges\"")
        self.assertEqual(one(db, "SELECT ranges FROM g LIMIT 1"), 1)

    def test_words_end_at_typographic_characters(self):
        db = self.connect(":memory:")
        db.execute("CREATE TABLE s(id INTEGER PRIMARY KEY, k TEXT)")
        texts = ("the \u201ctimeout\u201d of x", "foo\u2014timeout", "a timeout\u2026 now", "a\u00a0timeout", "timeout, yes", "\u00abtimeout\u00bb", "\u3000timeout\u3002")
        others = ("timeout\u00fc", "\u00b5timeout", "timeout\u4e2d", "timeouts", "time out", "x_timeout")
        db.executemany("INSERT INTO s(k) VALUES (?)", [(text,) for text in texts + others])
        db.execute("CREATE VIRTUAL TABLE f USING bloom_search(source=s, words=(k))")
        for pattern in ("timeout", "TIMEOUT\u2026", "\u201ctimeout\u201d"):
            self.assertEqual([k for (k,) in db.execute("SELECT k FROM f WHERE k MATCH ? ORDER BY id", (pattern,))], list(texts))
        self.assertEqual(db.execute("SELECT k FROM f WHERE k MATCH '12\u00b5s'").fetchall(), [])

    def test_a_comment_behind_the_name_of_an_expression(self):
        db = self.connect(":memory:")
        db.execute("CREATE TABLE s(id INTEGER PRIMARY KEY, k TEXT)")
        self.assertFails(db, "equal must be columns, and expressions with a name", "CREATE VIRTUAL TABLE f USING bloom_search(source=s, equal=(upper(k) AS e -- why\n))")
        db.execute("CREATE VIRTUAL TABLE f USING bloom_search(source=s, equal=(k, -- why\n upper(k) AS \"e f\"))")
        self.assertEqual(db.execute('SELECT "e f" FROM f').fetchall(), [])

    def test_a_trigger_dropped_and_rolled_back(self):
        db = self.make()
        for end in ("ROLLBACK", "ROLLBACK TO a"):
            db.execute("BEGIN")
            db.execute("SAVEPOINT a")
            db.execute("DROP TRIGGER f_before_update")
            db.execute("UPDATE s SET k = 'new' WHERE id = 3")
            self.assertNothingLost(db)
            db.execute(end)
            self.assertNothingLost(db)
            db.execute("UPDATE s SET k = 'newer' WHERE id = 3")
            self.assertNothingLost(db)
            attempt(db, "ROLLBACK")
        self.assertSoundAfterwards(db)

    def test_attached_and_temporary_schemas(self):
        db = self.connect()
        db.execute("ATTACH ':memory:' AS a")
        for schema in ("main", "a", "temp"):
            db.execute(f"CREATE TABLE {schema}.s(id INTEGER PRIMARY KEY, k)")
            db.executemany(f"INSERT INTO {schema}.s(k) VALUES (?)", [(f"{schema} {i}",) for i in range(22)])
            db.execute(f"CREATE VIRTUAL TABLE {schema}.f USING bloom_search(source=s, equal=(k))")
        for schema in ("main", "a", "temp"):
            db.execute(f"UPDATE {schema}.s SET k = k || '!' WHERE id IN (3, 13)")
            db.execute(f"DELETE FROM {schema}.s WHERE id > 15")
            db.execute(f"INSERT INTO {schema}.s(k) VALUES ('more')")
        for schema in ("main", "a", "temp"):
            self.assertEqual(self.lost(db, f"{schema}.s", f"{schema}.f"), [])
            db.execute(f"INSERT INTO {schema}.f(f) VALUES ('summarize')")
            self.assertEqual(self.lost(db, f"{schema}.s", f"{schema}.f"), [])
            db.execute(f"INSERT INTO {schema}.f(f) VALUES ('integrity-check')")


class Programs(SourceCase):
    """Other connections, other programs, and copies of the file."""

    def test_two_connections_summarize(self):
        for journal in ("delete", "wal"):
            with self.subTest(journal):
                path = f"{self.path} {journal}"
                db = self.source(path=path)
                db.execute(f"PRAGMA journal_mode = {journal}")
                db.execute(SEARCH_TABLE)
                other, reader = self.connect(path), self.connect(path)
                rng = random.Random(3)
                for _ in range(60):
                    side = rng.choice((db, other))
                    attempt(side, rng.choice(("BEGIN", "COMMIT", "ROLLBACK", SUMMARIZE, SUMMARIZE, "UPDATE s SET k = k || '!' WHERE id % 6 = 0",
                                              "INSERT INTO s(k) SELECT 'more ' || id FROM s LIMIT 7", "DELETE FROM s WHERE id > 30")))  # fmt: skip
                    attempt(reader, rng.choice(("BEGIN", "COMMIT")))
                    for connection in (db, other, reader):
                        try:
                            self.assertNothingLost(connection)
                        except sqlite3.OperationalError as error:
                            self.assertIn("locked", str(error))

    def test_a_reader_in_an_old_snapshot(self):
        db = self.source()
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(SEARCH_TABLE)
        reader = self.connect()
        reader.execute("BEGIN")
        before = self.found(reader, "key 3")
        for statement in ("UPDATE s SET k = 'new' WHERE id = 3", "INSERT INTO s(k) SELECT 'a' || id FROM s", SUMMARIZE, "DELETE FROM s WHERE id > 12", SUMMARIZE, REBUILD, "DROP TRIGGER f_before_insert"):
            db.execute(statement)
            self.assertEqual(self.found(reader, "key 3"), before)
            self.assertNothingLost(reader)
        reader.execute("COMMIT")
        self.assertNothingLost(reader)

    def test_vacuum_dump_and_backup(self):
        db = self.make()
        db.execute("UPDATE s SET k = 'new' WHERE id = 3")
        db.execute("DELETE FROM s WHERE id IN (1, 2, 22)")
        db.execute("VACUUM")
        self.assertNothingLost(db)
        db.execute("VACUUM INTO ?", (self.path + " into",))
        script = "\n".join(db.iterdump()) if sqlite3.sqlite_version_info >= (3, 31) else ""
        copy = self.connect(self.path + " backup")
        db.backup(copy)
        copies = [copy, self.connect(self.path + " into")]
        shell = subprocess.run(["sqlite3", "-cmd", f".load {EXTENSION}", self.path, ".dump"], capture_output=True, text=True, check=False)
        if shell.returncode == 0 and sqlite3.sqlite_version_info >= (3, 40):
            subprocess.run(["sqlite3", self.path + " dump"], input=shell.stdout, text=True, check=True)
            copies.append(self.connect(self.path + " dump"))
        self.assertIn("CREATE TABLE s", script)
        for number, other in enumerate(copies):
            with self.subTest(number):
                self.assertNothingLost(other)
                self.assertEqual(self.found(other, "new"), self.found(db, "new"))
                other.execute("UPDATE s SET k = 'newer' WHERE id = 13")
                self.assertSoundAfterwards(other)

    def test_a_backup_over_an_open_table(self):
        db = self.make()
        other = self.connect(self.path + " other")
        other.executescript("CREATE TABLE s(id INTEGER PRIMARY KEY, k)")
        other.executemany("INSERT INTO s(k) VALUES (?)", [(f"other {i}",) for i in range(40)])
        other.execute(SEARCH_TABLE)
        self.assertNothingLost(db, other)
        db.backup(other)
        self.assertNothingLost(other)
        self.assertEqual(one(other, "SELECT count(*) FROM s"), 22)

    def test_defensive(self):
        self.make().close()
        raw = Raw(self.path, extension=None)
        raw.configure(DBCONFIG_DEFENSIVE, 1)
        raw.run("UPDATE s SET k = 'new' WHERE id IN (3, 13)", "INSERT INTO s(id, k) VALUES (-1, 'newer')", "DELETE FROM s WHERE id > 15", "INSERT INTO s(k) VALUES ('newest')")
        raw.load()
        self.assertEqual(raw.run(LOST.format(s="s", f="f")), [])
        raw.run(SUMMARIZE)
        self.assertEqual(raw.run(LOST.format(s="s", f="f")), [])
        self.assertEqual(raw.close(), OK)

    def test_a_column_keeps_its_values(self):
        """sqlite3_blob_write() changes values past the triggers, but not those of an indexed column."""
        self.make().close()
        raw = Raw(self.path, extension=None)
        with self.assertRaisesRegex(Failure, "cannot open indexed column for writing"):
            raw.write_blob("s", "k", 3, b"other")
        raw.close()

    def test_statements_of_sql_functions(self):
        """A function of the host changes the source, and summarizes, within a statement that reads or writes it."""
        calls = ("UPDATE s SET k = 'nested' WHERE id = 8", SUMMARIZE, REBUILD, "DELETE FROM s WHERE id > 12", "INSERT INTO s(k) VALUES ('nested')", "ROLLBACK TO a", "ROLLBACK", "COMMIT")
        outer = (
            "UPDATE s SET k = 'outer' || f1(id) WHERE id IN (7, 8, 9)",
            "UPDATE s SET k = 'outer' WHERE id IN (7, 8, 9) AND f1(id) IS NULL",
            "INSERT INTO s(k) SELECT 'outer ' || id || ifnull(f1(id), '') FROM s WHERE id < 4",
            "SELECT f1(id) FROM f WHERE k = 'key 3'",
            "SELECT s.id, f1(1) FROM s JOIN f ON f.k = s.k",
        )
        for call, statement, begin in itertools.product(calls, outer, (True, False)):
            with self.subTest(call, statement=statement, begin=begin):
                db = self.make(path=":memory:")
                state = []

                def f1(_):
                    if not state:
                        state.append(attempt(db, call))

                db.create_function("f1", 1, f1)
                if begin:
                    db.execute("BEGIN")
                    db.execute("UPDATE s SET k = 'earlier' WHERE id = 14")
                    db.execute("SAVEPOINT a")
                attempt(db, statement)
                self.assertNothingLost(db)
                attempt(db, "COMMIT")
                self.assertSoundAfterwards(db)


class Keys(SourceCase):
    """Which values SQLite calls equal."""

    def test_values_that_an_update_changes_in_form_only(self):
        for declared, (old, new) in itertools.product(TYPES, itertools.permutations((5, 5.0, "5", "05", "5.0", b"5", " 5", "a", b"a", None), 2)):
            db = self.connect(":memory:")
            db.execute(f"CREATE TABLE s(id INTEGER PRIMARY KEY, k {declared})")
            db.executemany("INSERT INTO s(k) VALUES (?)", [(old,), ("other",)])
            db.execute("CREATE VIRTUAL TABLE f USING bloom_search(source=s, equal=(k))")
            db.execute("UPDATE s SET k = ? WHERE id = 1", (new,))
            for looked_up in (5, 5.0, "5", "05", "5.0", b"5", " 5", "a", b"a"):
                equal = one(db, "SELECT count(*) FROM s WHERE k = ?", looked_up)
                self.assertLessEqual(equal, one(db, "SELECT count(*) FROM f WHERE k = ?", looked_up), (declared, old, new, looked_up))

    def test_an_expression_that_ends_its_bracket(self):
        db = self.source()
        self.assertFails(db, "expressions with a name", "CREATE VIRTUAL TABLE f USING bloom_search(source=s, equal=(k) AND (u AS both))")
        self.assertFails(db, "expressions with a name", "CREATE VIRTUAL TABLE f USING bloom_search(source=s, equal=(k, u) AND (x AS both))")

    def test_updates_of_columns_that_expressions_read(self):
        """Any UPDATE of a column that an expression names is noted, and no other."""
        spellings = ("a || b", '"a" || B', "[a] || [b]", "`a`||`b`", "a /* ' */ || b /* ' */", "printf('%s%s', a, \"b\")", "coalesce(both, 'a')", "'a' || a || 'b' || b", "CAST(a AS other) || b")
        for spelling in spellings:
            with self.subTest(spelling):
                db = self.connect(":memory:")
                db.execute("CREATE TABLE s(id INTEGER PRIMARY KEY, a, b, other, both AS (a || b))")
                db.executemany("INSERT INTO s(id, a, b) VALUES (?1, 'a' || ?1, 'b' || ?1)", [(i,) for i in range(300)])
                db.execute(f"CREATE VIRTUAL TABLE f USING bloom_search(source=s, equal=({spelling} AS k))")
                db.execute("UPDATE s SET other = 1")
                exact = "both" not in spelling
                self.assertEqual(one(db, "SELECT pending_rows FROM f LIMIT 1"), 0 if exact else 300)
                for update in ("a = 'x'", "b = 'x'", "a = 0.0", "a = -0.0", "b = 1, other = 5", "a = x'41'"):
                    db.execute(SUMMARIZE)
                    db.execute(f"UPDATE s SET {update} WHERE id = 77")
                    key = one(db, f"SELECT {spelling} FROM s WHERE id = 77")
                    self.assertEqual(db.execute("SELECT id FROM f WHERE k = ?", (key,)).fetchall(), [(77,)], update)
                db.execute("ALTER TABLE s RENAME COLUMN b TO other_b")
                db.execute("ALTER TABLE s RENAME COLUMN other TO b")
                db.execute("ALTER TABLE s ADD COLUMN added")
                self.assertEqual(one(db, "SELECT json_extract(info, '$.in_sync') FROM f LIMIT 1"), 1)
                db.execute("UPDATE s SET other_b = 'last' WHERE id = 78")
                self.assertEqual(one(db, "SELECT count(*) FROM f AS f JOIN s ON s.id = f.id AND f.k = 'last'"), 0)
                self.assertEqual(len(db.execute("SELECT k FROM f WHERE k LIKE '%last%'").fetchall()), 1)
                db.execute(CHECK)

    def test_conditions_of_an_outer_join(self):
        """SQLite before 3.54 passes those in ON to the left table."""
        db = self.make(rows=200, path=":memory:")
        db.executescript("DROP TABLE f; CREATE VIRTUAL TABLE f USING bloom_search(source=s, like=(k), equal=(k, u)); CREATE TABLE w(a)")
        db.execute("INSERT INTO w VALUES ('key 5'), ('key 6'), ('none')")
        db.execute("CREATE VIEW of_f AS SELECT f.id FROM f AS f LEFT JOIN w ON f.k = w.a AND f.k LIKE 'key 5%'")
        self.assertEqual(one(db, "SELECT count(*) FROM of_f"), 200)
        # The same text has no outer join first, and then one.
        for join, wanted in ("JOIN", 1), ("LEFT JOIN", 200), ("JOIN", 1):
            db.executescript(f"DROP VIEW of_f; CREATE VIEW of_f AS SELECT f.id FROM f AS f {join} w ON f.k = w.a AND f.k LIKE 'key 5%'")
            for _ in range(2):
                self.assertEqual(one(db, "SELECT count(id) FROM of_f"), wanted)
        conditions = ("t.k LIKE 'key 5%'", "t.k GLOB 'key 5*'", "t.u <> 5", "t.u IS NOT 5", "t.id IS NOT 5", "t.x IS NOT NULL", "t.k = 'key 5'", "t.u > 5", "t.x IS NULL")
        joins = ("LEFT", "RIGHT", "FULL") if FULL == "FULL" else ("LEFT",)
        for condition, join in itertools.product(conditions, joins):
            for query in (
                f"FROM @ AS t {join} JOIN w ON t.k = w.a AND {condition}",
                f"FROM @ AS t {join} JOIN w ON {condition}",
                f"FROM w {join} JOIN @ AS t ON t.k = w.a AND {condition}",
                f"FROM (SELECT DISTINCT a FROM w) AS w {join} JOIN @ AS t ON t.k = w.a AND {condition}",
                f"FROM @ AS t {join} JOIN (SELECT DISTINCT a FROM w) AS w ON t.k = w.a AND {condition} AND w.a IN (SELECT a FROM w)",
                f"FROM w {join} JOIN @ AS t ON t.k = w.a WHERE {condition}",
                f"FROM @ AS t JOIN w ON w.rowid = t.id {join} JOIN w AS v ON t.k = v.a AND {condition}",
            ):
                query = "SELECT count(*), count(t.id), count(w.a) " + query
                self.assertEqual(db.execute(query.replace("@", "f")).fetchall(), db.execute(query.replace("@", "s")).fetchall(), query)

    # Before 3.38, SQLite passes the values of a list one by one, and says nothing of their collation.
    LISTS = () if sqlite3.sqlite_version_info < (3, 38) else (
        ("SELECT count(*) FROM {} WHERE a = 'A7' COLLATE NOCASE OR a = 'A8' COLLATE NOCASE", 2),
        ("SELECT count(*) FROM q CROSS JOIN {} AS t WHERE q.x = t.a OR q.x = t.a", 2),
        ("SELECT count(*) FROM q CROSS JOIN {} AS t WHERE q.a = t.a OR q.x = t.a", 3),
    )  # fmt: skip

    def test_collations_that_sqlite_does_not_report(self):
        """Of (a, b) IN (...) it reports that of a for b, too. It makes a list of x = a OR y = a, whatever their collations."""
        db = self.connect(":memory:")
        db.executescript(
            "CREATE TABLE s(id INTEGER PRIMARY KEY, a TEXT, b TEXT COLLATE NOCASE, c TEXT COLLATE RTRIM);"
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO s(a, b, c) SELECT 'a' || i, 'b' || i, 'c' || i FROM n;"
            "CREATE VIRTUAL TABLE f USING bloom_search(source=s, equal=(a, b, c));"
            "CREATE TABLE q(a TEXT, b TEXT COLLATE NOCASE, c TEXT COLLATE RTRIM, x TEXT COLLATE NOCASE); INSERT INTO q VALUES ('a7', 'B7', 'c7  ', 'A7'), ('a8', 'b8', 'c8', 'A9')"
        )
        for index in ("", "CREATE INDEX i ON s(a); CREATE INDEX j ON s(b); CREATE INDEX k ON s(c); CREATE INDEX l ON s(b COLLATE BINARY)"):
            db.executescript(index)
            for query, count in (
                ("SELECT count(*) FROM {} WHERE (a, b) IN (SELECT a, b FROM q)", 2),
                ("SELECT count(*) FROM {} WHERE (c, b) IN (SELECT c, b FROM q)", 2),
                ("SELECT count(*) FROM {} WHERE (b, c) IN (SELECT b, c FROM q)", 2),
                ("SELECT count(*) FROM {} WHERE (id, b) IN (VALUES (9, 'B9'))", 1),
                ("SELECT count(*) FROM {} WHERE b = 'B9' COLLATE BINARY", 0),
                ("SELECT count(*) FROM q JOIN {} AS t ON q.a = t.b COLLATE BINARY", 0),
                *self.LISTS,
            ):
                self.assertEqual(one(db, query.format("f")), count, (index, query))

    @unittest.skipIf(sqlite3.sqlite_version_info < (3, 38), "SQLite does not pass all values at once")
    def test_a_list_in_a_statement_that_would_be_planned_anew(self):
        """SQLite explains the statement as it would plan it now, in which the list may have another role."""
        for rows in (10, 20, 30):
            db = self.connect(":memory:")
            db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, u TEXT, n INTEGER)")
            db.executemany("INSERT INTO t(u, n) VALUES (?, ?)", [(f"User{i}", i) for i in range(20000)])
            db.executescript("CREATE TABLE o(n INTEGER PRIMARY KEY, x TEXT); CREATE TABLE w(n INTEGER, x TEXT); CREATE INDEX i ON w(n)")
            db.executemany("INSERT INTO o VALUES (?, 'q')", [(19990 + i,) for i in range(rows)])
            db.executemany("INSERT INTO w VALUES (?, ?)", [(19990 + i, f"uSER{19990 + i}") for i in range(5)])
            db.executescript("ANALYZE; CREATE VIRTUAL TABLE f USING bloom_search(source=t, equal=(u))")
            query = "SELECT o.n, y.id FROM o, f AS y WHERE o.n = y.n AND y.u IN (SELECT w.x COLLATE NOCASE FROM w WHERE w.n = o.n)"
            self.assertEqual(len(db.execute(query).fetchall()), 5)
            db.execute("DELETE FROM t WHERE id < 19000")
            db.execute(SUMMARIZE)
            db.execute("SELECT id FROM f WHERE u = 'User19991'").fetchall()
            self.assertEqual(len(db.execute(query).fetchall()), 5, rows)

    def test_a_search_locks_no_other_database(self):
        path = f"{self.path}-attached"
        other = sqlite3.connect(path, isolation_level=None, timeout=0)
        other.execute("CREATE TABLE history(q)")
        for mode in ("delete", "wal"):
            other.execute(f"PRAGMA journal_mode = {mode}")
            db = self.connect(":memory:")
            db.execute("ATTACH ? AS h", (path,))
            db.executescript("CREATE TABLE log(id INTEGER PRIMARY KEY, msg); INSERT INTO log(msg) VALUES ('a needle'); CREATE VIRTUAL TABLE s USING bloom_search(source=log, like=(msg))")
            db.execute("SELECT count(*) FROM h.history").fetchall()
            if mode == "delete":
                other.execute("BEGIN EXCLUSIVE")
            db.execute("BEGIN")
            for condition in ("msg LIKE '%needle%'", "msg <> 'x'", "msg IS NOT NULL", "msg GLOB '*needle*'"):
                self.assertEqual(db.execute(f"SELECT id FROM s WHERE {condition}").fetchall(), [(1,)])
            if mode == "delete":
                other.execute("COMMIT")
            other.execute("INSERT INTO history VALUES ('x')")
            db.execute("INSERT INTO h.history VALUES ('needle')")
            db.execute("COMMIT")
            db.close()
        other.close()

    def test_columns_that_an_expression_does_not_read(self):
        """A function, a type or a keyword may have the name of a column, now or later."""
        case = "CASE WHEN a IS NOT NULL THEN a END"
        for expression, name in (*((case, f'"{word}"') for word in ("end", "is", "when")), ("date(a)", "date"), ("CAST(a AS TEXT)", "text"), ("length ( a )", "length"), ("[a] || 'x'", "b"), ("`a` || 'x'", "b"), ("a /* b */", "b")):
            with self.subTest(expression):
                db = self.connect(":memory:")
                db.executescript(f"""
                    CREATE TABLE t(id INTEGER PRIMARY KEY, a, {name}); INSERT INTO t(a) VALUES ('2026-01-01'), ('2026-01-02');
                    CREATE VIRTUAL TABLE f USING bloom_search(source=t, equal=({expression} AS e))""")
                value = one(db, "SELECT e FROM f WHERE id = 2")
                for change in (f"ALTER TABLE t RENAME {name} TO other", *(("ALTER TABLE t DROP other",) if sqlite3.sqlite_version_info >= (3, 35) else ()), f"ALTER TABLE t ADD {name}"):
                    db.execute(change)
                    for command in ("summarize", "integrity-check"):
                        db.execute(f"INSERT INTO f(f) VALUES ('{command}')")
                    self.assertIn((2,), db.execute("SELECT id FROM f WHERE e = ?", (value,)).fetchall(), change)
                    self.assertEqual(one(db, "SELECT json_extract(info, '$.in_sync') FROM f"), 1, change)
                db.execute("UPDATE t SET a = '2027-01-01' WHERE id = 2")
                self.assertEqual(db.execute("SELECT id FROM f WHERE e = (SELECT e FROM f WHERE id = 2) AND id = 2").fetchall(), [(2,)])

    def test_conditions_of_a_left_join_that_is_left_out(self):
        """SQLite leaves a join out of the program if nothing needs the joined table, but has passed its conditions."""
        db = self.make(rows=200, path=":memory:")
        db.executescript("DROP TABLE f; CREATE VIRTUAL TABLE f USING bloom_search(source=s, like=(k), equal=(k, u)); CREATE TABLE w(n INTEGER PRIMARY KEY)")
        join = "SELECT f.id FROM f AS f LEFT /* ' */ JOIN w ON w.n = f.id AND f.k LIKE 'key 5%'"
        db.executescript(
            f"CREATE VIEW plain AS {join}; CREATE VIEW \"quo\"\"ted\" AS {join}; CREATE VIEW \"it's\" AS {join}; CREATE VIEW v2 AS SELECT id\nAS\nb FROM PLAIN; CREATE TEMP VIEW v3 AS SELECT * FROM v2;"
            f"CREATE TABLE n(a); CREATE TABLE counted(a); INSERT INTO counted VALUES (7); CREATE TRIGGER t AFTER INSERT ON n BEGIN INSERT INTO counted SELECT count(*) FROM ({join.replace('f.id', 'DISTINCT f.id', 1)}); END"
        )
        for query in (
            f"/* ' */ {join}",
            f"-- it's\n{join}",
            f"SELECT 'a', `id`, [id] FROM ({join})",
            "SELECT * FROM plain",
            "SELECT * FROM [Plain]",
            'SELECT * FROM "quo""ted"',
            "SELECT * FROM 'it''s'",
            # Old versions of SQLite do not skip U+FEFF.
            join.replace(" LEFT", " \ufeffLEFT" if sqlite3.sqlite_version_info >= (3, 38) else " LEFT"),
            "SELECT f.id FROM counted AS x JOIN f ON x.a=?1LEFT JOIN w ON w.n = f.id AND f.k LIKE 'key 5%'",
            "SELECT * FROM v2",
            "SELECT * FROM v3",
            "SELECT DISTINCT f.id FROM f AS f NATURAL LEFT OUTER JOIN w AS x LEFT JOIN n ON f.k GLOB 'key 5*'",
            "SELECT f.id FROM f AS f LEFT JOIN w ON w.n = f.id AND f.u <> 5",
            "SELECT f.id FROM f AS f LEFT JOIN w ON w.n = f.id AND f.u IS NOT 5",
            # 3.44 makes a LEFT JOIN of it, because no row of the result lacks f.k.
            f"SELECT f.id FROM f AS f {FULL} JOIN w ON w.n = f.id AND f.k LIKE 'key 5%' WHERE f.k IS NOT NULL",
        ):
            self.assertEqual(len(db.execute(query, (7,) if "?1" in query else ()).fetchall()), 200, query)
        db.execute("INSERT INTO n VALUES (1)")
        self.assertEqual(db.execute("SELECT a FROM counted").fetchall(), [(7,), (200,)])

    def test_views_that_a_statement_does_not_use(self):
        """A LEFT JOIN that SQLite may have left out makes a search read all rows, but only where the statement can have it."""
        db = self.make(rows=3000, path=":memory:")
        db.executescript("DROP TABLE f; CREATE VIRTUAL TABLE f USING bloom_search(source=s, like=(k)); CREATE TABLE w(n INTEGER PRIMARY KEY); CREATE TABLE n(a)")

        def steps(sql="SELECT count(*) FROM f WHERE k LIKE '%absent%'"):
            count = [0]
            db.set_progress_handler(lambda: count.__setitem__(0, count[0] + 1), 10)
            self.assertEqual(db.execute(sql).fetchall(), [(0,)])
            db.set_progress_handler(None, 0)
            return count[0]

        few = steps()
        db.executescript(
            "CREATE VIEW a1 AS SELECT w.n FROM w LEFT JOIN n ON n.a = w.n; CREATE VIEW a2 AS SELECT * FROM a1; CREATE TEMP VIEW a3 AS SELECT * FROM a2;"
            "CREATE TRIGGER t AFTER INSERT ON n BEGIN INSERT INTO w SELECT n FROM a2; END; CREATE VIEW of_f AS SELECT f.id FROM f LEFT JOIN w ON w.n = f.id AND f.k LIKE '%absent%'"
        )
        self.assertLess(steps(), few * 2)
        for condition in "x IN ('a', 'b')", "id NOT IN (1, 2)", "u = 1 OR u = 2", "id IN (SELECT n FROM w)", "x IN (SELECT a FROM n)":
            self.assertLess(steps(f"SELECT count(*) FROM f WHERE k LIKE '%absent%' AND ({condition})"), few * 2, condition)
        if sqlite3.sqlite_version_info < (3, 54):
            self.assertGreater(steps("SELECT count(*) FROM f LEFT JOIN w ON w.n = f.id WHERE f.k LIKE '%absent%'"), few * 2)
            self.assertGreater(steps("SELECT count(*) FROM f LEFT JOIN (SELECT DISTINCT n FROM w) AS w ON w.n = f.id WHERE f.k LIKE '%absent%' AND f.id NOT IN (SELECT a FROM n)"), few * 2)
            self.assertGreater(steps("SELECT count(*) FROM f WHERE k LIKE '%absent%' AND NOT EXISTS (SELECT * FROM a3)"), few * 2)
        self.assertEqual(one(db, "SELECT count(*) FROM of_f"), 3000)

    def test_several_lists_of_ids(self):
        """SQLite would execute a plan of two lists for each pair of their values."""
        db = self.make(path=":memory:")
        db.execute("CREATE TABLE a AS SELECT id FROM s WHERE id % 2 = 0")
        db.execute("CREATE TABLE b AS SELECT id FROM s WHERE id % 3 = 0")
        lists = "f.id IN (SELECT id FROM a) AND f.id IN (SELECT id FROM b)"
        for query, plan in (
            (f"SELECT id FROM f WHERE {lists}", "rowid(=)"),
            ("SELECT f.id FROM a LEFT JOIN f ON f.id = a.id AND f.id IN (SELECT id FROM b)", "rowid(=)"),
            (f"SELECT id FROM f WHERE {lists} AND id = 6", "rowid(=)"),
            # Before 3.38 SQLite does not say what is a list.
            (f"SELECT id FROM f WHERE {lists} AND u = 6", "index(u)" if sqlite3.sqlite_version_info >= (3, 38) else "rowid(=) AND index(u)"),
        ):
            plans = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {query}") if "SCAN f" in row[3] or "TABLE f " in row[3]]
            self.assertEqual([text.split("INDEX 0:")[1].split(" [")[0] for text in plans], [plan], query)
            self.assertEqual(sorted(db.execute(query).fetchall(), key=str), sorted(db.execute(query.replace("f ", "s AS f ", 1) if "FROM f" in query else query.replace("JOIN f", "JOIN s AS f")).fetchall(), key=str), query)

    def test_joins_by_a_column_without_an_index(self):
        """SQLite makes an index for the query only if it expects many rows of the search table."""
        db = self.make(rows=12000, path=":memory:")
        db.executescript("DROP TABLE f; CREATE VIRTUAL TABLE f USING bloom_search(source=s, like=(k), words=(k), equal=(u + 1 AS e)); CREATE TABLE w(n)")
        for condition in ("f.k LIKE '%key 1%'", "f.k MATCH 'key'", "f.e = 5", "f.e IN (5, 6)"):
            plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN SELECT count(*) FROM f JOIN w ON w.n = f.x WHERE {condition}")]
            self.assertTrue(any("AUTOMATIC" in text for text in plan), (condition, plan))

    def test_a_pragma_is_not_run_again(self):
        """SQLite runs some of them when it prepares them, and EXPLAIN prepares a statement."""
        for lookup in "SELECT count(*) FROM f WHERE k IN ('key 1', 'key 2')", "SELECT count(*) FROM f WHERE k LIKE '%absent%'":
            pragma = Raw()
            pragma.run(SOURCE, "INSERT INTO s(k) VALUES ('key 1')", "CREATE VIRTUAL TABLE f USING bloom_search(source=s, like=(k), equal=(k))")
            half = pragma.prepare("PRAGMA busy_timeout = 5000")
            half.step()
            pragma.run("PRAGMA busy_timeout = 0", lookup)
            self.assertEqual(pragma.one("PRAGMA busy_timeout"), 0, lookup)
            half.finalize()
            pragma.close()

    def test_expressions_that_depend_on_the_time(self):
        db = self.make(rows=3, path=":memory:")
        for expression in ("date('now')", "strftime('%s')", "k < DATE ( k, \"LocalTime\" )", "julianday(k, 'utc')", "unixepoch()", "datetime()",
                           "date(coalesce(k, k), 'localtime')", "date(replace(k, ')', ''), 'utc')", '"date"(\'now\')', "[strftime](lower('%s'))", "date/* of */('now')", "/* of */ date('now')", "date(max(k, date('now')))",
                           "unixepoch('subsec')", "date \ufeff('now')"):
            self.assertFails(db, "not on the time or time zone", f"CREATE VIRTUAL TABLE g USING bloom_search(source=s, equal=({expression} AS d))")
        db.execute("CREATE VIRTUAL TABLE g USING bloom_search(source=s, equal=(date(k, 'unixepoch') AS d, strftime('%Y', k) AS y, coalesce(k, 'now') AS c))")

    def test_functions_that_search_or_write_while_a_command_reads(self):
        for index in "", "CREATE INDEX i ON s(a)":
            with self.subTest(index):
                self.check_functions_that_search_or_write(index)

    def check_functions_that_search_or_write(self, index):
        db = self.connect(":memory:")
        todo = []

        def h(x):
            while todo and x == "body 230":
                todo.pop()()
            return x

        db.create_function("h", 1, h, deterministic=True)
        db.executescript(
            f"CREATE TABLE s(id INTEGER PRIMARY KEY, a, b); {index};"
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO s(a, b) SELECT 'a' || i, 'body ' || i FROM n;"
            "CREATE VIRTUAL TABLE f USING bloom_search(source=s, equal=(a, h(b) AS e), like=(b));"
            "WITH RECURSIVE n(i) AS (SELECT 201 UNION ALL SELECT i + 1 FROM n WHERE i < 260) INSERT INTO s(a, b) SELECT 'a' || i, 'body ' || i FROM n;"
        )
        lookups = ("a = 'a100'", "a = 'a5'", "+a = 'a5'", "b LIKE '%body 7'", "a IN ('a5', 'a6')", "a = 'a245'", "id > 3")

        def search():
            for where in lookups:
                self.assertEqual(one(db, f"SELECT count(*) FROM f WHERE {where}"), one(db, f"SELECT count(*) FROM s WHERE {where}"), where)
            searched.append(True)

        for command in "summarize", "rebuild", "summarize":
            for write in "UPDATE s SET a = 'new' WHERE id = 210", "UPDATE s SET a = 'new' WHERE id = 10", "DELETE FROM s WHERE id = 20":
                searched = []
                for value in "other", "old":
                    db.execute("UPDATE s SET a = ? WHERE id IN (10, 210, 230)", (value,))
                before = db.execute("SELECT * FROM s").fetchall()
                todo.append(lambda: db.execute(write))
                self.assertFails(db, "a function has written to the database", "INSERT INTO f(f) VALUES (?)", command)
                self.assertFalse(todo)
                self.assertEqual(db.execute("SELECT * FROM s").fetchall(), before)
                todo.append(search)
                db.execute("INSERT INTO f(f) VALUES (?)", (command,))
                self.assertEqual(searched, [True])
                db.execute("INSERT INTO f(f) VALUES ('integrity-check')")
                self.assertEqual(one(db, "SELECT count(*) FROM f WHERE a = 'old'"), 3)

    def test_an_own_like_that_searches(self):
        db = self.connect(":memory:")
        db.executescript("CREATE TABLE s(id INTEGER PRIMARY KEY, a); INSERT INTO s(a) VALUES ('abcdef 1'), ('abcdef 2'), ('x'); CREATE VIRTUAL TABLE f USING bloom_search(source=s, like=(a))")
        calls = []

        def like(pattern, text):
            calls.append(text)
            if len(calls) < 30:
                db.execute(f"SELECT count(*) FROM f WHERE id > {len(calls)}").fetchall()
            return pattern.strip("%").lower() in text.lower()

        db.create_function("like", 2, like, deterministic=True)
        for _ in range(3):
            self.assertEqual(one(db, "SELECT count(*) FROM f WHERE a LIKE '%ABCDEF%'"), 2)

    def test_expressions_with_like(self):
        """PRAGMA case_sensitive_like changes their values."""
        db = self.make(rows=3, path=":memory:")
        for expression in ("k LIKE 'a%'", "not k like 'a'", "like('a', k)", "\"like\"('a', k)", "[Like]('a', k)", "upper(`like`(k, k))"):
            self.assertFails(db, "without LIKE", f"CREATE VIRTUAL TABLE g USING bloom_search(source=s, equal=({expression} AS l))")
        db.execute("CREATE VIRTUAL TABLE g USING bloom_search(source=s, equal=(k || ' like ' AS likes, k GLOB 'a*' AS globbed))")

    def test_an_expression_whose_value_is_too_long(self):
        """As one that fails for a row: the row is found by everything."""
        db = self.connect(":memory:")
        db.executescript("CREATE TABLE s(id INTEGER PRIMARY KEY, k, n); INSERT INTO s(k, n) VALUES ('a', 1), ('b', 2000000000), ('c', 2)")
        db.execute("CREATE VIRTUAL TABLE f USING bloom_search(source=s, equal=(k, hex(zeroblob(n)) AS e))")
        for command in ("summarize", "rebuild", "integrity-check"):
            db.execute("INSERT INTO f(f) VALUES (?)", (command,))
            self.assertEqual(db.execute("SELECT id FROM f WHERE k = 'b'").fetchall(), [(2,)])
        self.assertEqual(db.execute("SELECT id FROM f WHERE id <> 2 AND e = '00'").fetchall(), [(1,)])

    def test_the_internal_function(self):
        db = self.connect(":memory:")
        for arguments in ("", "1", "NULL, 1", "1, 2, 3"):
            self.assertFails(db, "only the extension itself", f"SELECT bloom_search_row({arguments})")

    def test_many_words_in_a_pattern(self):
        """Each word of the text is compared with few others, whatever the pattern has."""
        db = self.connect(":memory:")
        db.execute("CREATE TABLE s(id INTEGER PRIMARY KEY, a)")
        db.execute("INSERT INTO s(a) VALUES (?)", ("a " * 500_000 + "Z",))
        db.execute("CREATE VIRTUAL TABLE f USING bloom_search(source=s, words=(a))")
        self.assertEqual(one(db, "SELECT count(*) FROM f WHERE a MATCH ?", "z " * 10_000), 1)
        self.assertEqual(one(db, "SELECT count(*) FROM f WHERE a MATCH ?", "z A"), 1)
        self.assertEqual(one(db, "SELECT count(*) FROM f WHERE a MATCH ?", "z b"), 0)

    def test_blobs_as_patterns_in_utf16(self):
        """SQLite reads a BLOB that is bound as another text than a BLOB of a column."""
        db = self.connect(":memory:")
        db.execute("PRAGMA encoding = 'UTF-16le'")
        db.execute("CREATE TABLE s(id INTEGER PRIMARY KEY, a TEXT, b BLOB)")
        db.execute("INSERT INTO s VALUES (1, 'abc', x'616263'), (2, 'xyz', 'abc'), (3, 'abc d', x'61006200')")
        db.execute("CREATE VIRTUAL TABLE f USING bloom_search(source=s, words=(a, b))")
        for column, pattern in ("a", "x'610062006300'"), ("a", "CAST('abc' AS BLOB)"), ("b", "x'616263'"), ("b", "x'61006200'"):
            with self.subTest(column=column, pattern=pattern):
                wanted = db.execute(f"SELECT id FROM s WHERE bloom_search_match({pattern}, {column})").fetchall()
                self.assertNotEqual(wanted, [])
                self.assertEqual(db.execute(f"SELECT id FROM f WHERE {column} MATCH {pattern}").fetchall(), wanted)

    def test_a_list_beside_a_condition_that_finds_the_row(self):
        """The list would be copied for each row of the other table."""
        db = self.connect(":memory:")
        numbers = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT {} FROM n"
        db.execute("CREATE TABLE s(id INTEGER PRIMARY KEY, a, b, c)")
        db.execute("INSERT INTO s(a, b, c) " + numbers.format(2000, "i, i % 7, i"))
        db.execute("CREATE INDEX i ON s(b)")
        db.execute("CREATE VIRTUAL TABLE f USING bloom_search(source=s, equal=(a, b, c))")
        db.execute("CREATE TABLE w(id INTEGER PRIMARY KEY, b)")
        db.execute("INSERT INTO w(b) " + numbers.format(50, "i % 5"))
        for on, list_is_read in ("f.id = w.id", False), ("f.b = w.b", False), ("f.c = w.id", True):
            with self.subTest(on):
                query = f"SELECT f.id, w.id FROM w CROSS JOIN f ON {on} WHERE f.a IN (SELECT id FROM w WHERE id % 2) ORDER BY 1, 2"
                wanted = db.execute(query.replace("JOIN f", "JOIN s AS f")).fetchall()
                self.assertNotEqual(wanted, [])
                self.assertEqual(db.execute(query).fetchall(), wanted)
                (plan,) = (row[3] for row in db.execute("EXPLAIN QUERY PLAN " + query) if "VIRTUAL TABLE" in row[3])
                if sqlite3.sqlite_version_info >= (3, 38):  # before, SQLite gives the values of a list one by one
                    self.assertEqual("equal(a)" in plan, list_is_read, plan)

    def test_types_that_are_keywords(self):
        for declared in ('"PRIMARY KEY"', "[NOT NULL]", '"UNIQUE"', '"REFERENCES x"', '"DEFAULT 5"', '"COLLATE NOCASE"', '"AS"', '"CHECK"', '"INT HIDDEN"', "DOUBLE PRECISION"):
            with self.subTest(declared):
                db = self.make(SOURCE.replace(" k,", f" k {declared},"), path=":memory:")
                db.execute("INSERT INTO s(k) VALUES (5), ('5'), ('05'), (5.0), ('abc'), ('ABC'), (x'35')")
                for condition in ("= '5'", ">= '5'", "IS '05'", "= 'abc'", "< 5.5"):
                    wanted = db.execute(f"SELECT id, k FROM s WHERE k {condition} ORDER BY id").fetchall()
                    self.assertEqual(db.execute(f"SELECT id, k FROM f WHERE k {condition} ORDER BY id").fetchall(), wanted, condition)

    def test_collations(self):
        for collation in ("BINARY", "NOCASE", "RTRIM"):
            db = self.make(SOURCE.replace(" k,", f" k TEXT COLLATE {collation},"), path=":memory:")
            for new in ("KEY 3", "key 3  ", "Ärger", "ärger", "key 3\0", ""):
                db.execute("UPDATE s SET k = ? WHERE id = 3", (new,))
                for looked_up in ("KEY 3", "key 3  ", "Ärger", "ärger", "ÄRGER", "key 3\0", "key 3\0x", "", "  "):
                    equal = one(db, "SELECT count(*) FROM s WHERE k = ?", looked_up)
                    found = one(db, "SELECT count(*) FROM f WHERE k = ?", looked_up)
                    self.assertEqual(found, equal, (collation, new, looked_up))
                db.execute(SUMMARIZE)
                self.assertNothingLost(db)

    def test_ids_with_digits_are_compared_in_the_source(self):
        """Else each row of a range crosses the search table, and the expression is computed twice. A number may have several texts."""
        db = self.connect(":memory:")
        calls = []
        db.create_function("seen", 1, lambda value: calls.append(value) or value, deterministic=True)
        db.execute("CREATE TABLE s(id INTEGER PRIMARY KEY, a)")
        values = ["4bf92f35", "77e", "77", "077", " 77", "77.0", "7.7e1", "+77", "-Inf", "Inf", "", " ", "5_0", 77, 77.0, 0, float("-inf"), b"77", "x77", "7-7", "77 ab"]
        db.executemany("INSERT INTO s(a) VALUES (?)", [(value,) for value in values] + [(f"{i:x}",) for i in range(40000, 42000)])
        db.execute("CREATE VIRTUAL TABLE f USING bloom_search(source=s, equal=(seen(a) AS k, a))")
        for value, rows in (("4bf92f35", 1), ("x77", 1), ("9c41", 1), ("77 ab", 1)):
            calls.clear()
            self.assertEqual(len(db.execute("SELECT id FROM f WHERE k = ?", (value,)).fetchall()), rows)
            self.assertLess(len(calls), 2100, value)
        db.execute("CREATE TABLE v(t TEXT, n NUMERIC, x)")
        db.executemany("INSERT INTO v VALUES (?1, ?1, ?1)", [(value,) for value in values])
        for column in "tnx":
            pairs = [db.execute(f"SELECT v.rowid, s.id FROM v JOIN {table} AS s ON s.{key} = v.{column} ORDER BY 1, 2").fetchall() for table, key in (("f", "k"), ("f", "a"), ("s", "a"))]
            self.assertEqual(pairs[:2], [pairs[2]] * 2, column)

    def test_defaults_in_place_of_null(self):
        db = self.make(SOURCE.replace(" k,", " k TEXT NOT NULL DEFAULT 'default',"), path=":memory:")
        db.execute("UPDATE OR REPLACE s SET k = NULL WHERE id = 3")
        db.execute("INSERT OR REPLACE INTO s(id, k) VALUES (8, NULL), (NULL, NULL)")
        self.assertEqual(one(db, "SELECT count(*) FROM s WHERE k = 'default'"), 3)
        self.assertSoundAfterwards(db)


class Limits(InFolder):
    @unittest.skipUnless(hasattr(sqlite3.Connection, "setlimit"), "needs Python 3.11")
    def test_a_low_limit_of_the_depth_of_expressions(self):
        """The depth does not grow with the columns. A trigger that is too deep would make the whole schema unreadable."""
        db = self.connect()
        columns = [f"c{i}" for i in range(12)]
        db.execute(f"CREATE TABLE s(id INTEGER PRIMARY KEY, x, {', '.join(columns)})")
        db.execute("INSERT INTO s(x, c3) SELECT 'text ' || value, value FROM json_each('[1, 2, 3]')")
        db.execute(f"CREATE VIRTUAL TABLE f USING bloom_search(source=s, like=(x), words=(x), equal=({', '.join(columns)}, x || c1 AS e))")
        db.close()
        for depth, sql in (
            (10, "SELECT id FROM f WHERE x LIKE '%text 2%'"),
            (10, "SELECT id FROM f WHERE x MATCH 'text 2' AND c3 = 2"),
            (10, "UPDATE s SET c3 = 4 WHERE id = 2"),
            (10, "INSERT INTO f(f) VALUES ('summarize')"),
            (20, "INSERT INTO s(x) VALUES ('text 5')"),
        ):
            db = self.connect()
            db.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, depth)
            self.assertEqual(db.execute(sql).fetchall(), [(2,)] if sql.startswith("SELECT") else [], sql)
            db.close()


if __name__ == "__main__":
    unittest.main()
