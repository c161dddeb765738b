"""The bloom table through Python's sqlite3: plans, transactions, other connections, and how much is read and written.

    /usr/bin/python3 tests/table/table_test.py EXTENSION [unittest options]

tests/table/table_model_test.py has random statements against an exact multiset.
"""

import json
import os
import re
import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.case import TableCase  # noqa: E402
from support.host import EXTENSION, one  # noqa: E402

CHUNK = 3968


class Properties(TableCase):
    """The columns that say what `info` says."""

    COLUMNS = ("keys", "fpr", "capacity", "bytes", "overfull")
    MAKERS = ("capacity=1000", "capacity=900, generations=3", "capacity=1000, kind=counting", "capacity=500, kind=partitioned", "growth=on, capacity=300", "cells=4096, hashes=3", "source=t, column=k, writers=extension", "source=t, column=k, writers=any")

    def test_columns_equal_info(self):
        db = self.connect()
        db.execute("CREATE TABLE t(k, keys)")
        for i, options in enumerate(self.MAKERS):
            for change in ("SELECT 1", "INSERT INTO {}(key) SELECT value FROM t, json_each('[1, 2, 3]')", "INSERT INTO {}(key) WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT 'n' || i FROM n"):
                name = f"f{i}"
                db.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS {name} USING bloom({options})")
                follows = "source" in options
                db.execute("INSERT INTO t(k) VALUES (random())" if follows else change.format(name))
                if follows:
                    db.execute("DELETE FROM t WHERE rowid % 3 = 0")
                info = self.info(db, name)
                for column in self.COLUMNS:
                    self.assertEqual(one(db, f"SELECT {column} FROM {name}"), info[column], (options, column))
                layers = info.get("layers") or info.get("generations") or [0]
                self.assertEqual(db.execute(f"SELECT layers, generations FROM {name}").fetchone(), (len(layers), 3 if "generations" in options else None), options)
                self.assertEqual(db.execute(f"SELECT stale IS NOT NULL, pending FROM {name}").fetchone(), (follows, info.get("pending")), options)
                if len(layers) == 1 and not info.get("pending"):
                    stats = db.execute(f"SELECT * FROM bloom_stats((SELECT filter FROM {name}))")
                    row = dict(zip([column for column, *_ in stats.description], stats.fetchone()))
                    whole = json.loads(one(db, f"SELECT bloom_info(filter) FROM {name}"))
                    self.assertEqual({key: row[key] for key in whole}, whole, options)
                    self.assertEqual(set(row) - set(whole) - {"saturated"}, {"collation"})

    def test_only_some_columns_read_the_cells(self):
        db = self.connect()
        db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=1000)")
        db.execute("INSERT INTO f(key) VALUES (1)")
        db.execute("UPDATE f_data SET chunk = x''")
        self.assertEqual(db.execute("SELECT capacity, bytes, layers, stale, pending FROM f").fetchone(), (1000, 1264, 1, None, None))
        for column in ("keys", "fpr", "overfull", "info"):
            self.assertFails(db, "chunk 0 must have 1200 bytes", f"SELECT {column} FROM f")

    def test_lookups_are_counted(self):
        db, other = self.connect(), self.connect()
        db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=1000000, cache=4096)")
        db.execute("INSERT INTO f(key) WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) SELECT i FROM n")
        counts = "SELECT lookups, absent FROM f"
        self.assertEqual((db.execute(counts).fetchone(), other.execute(counts).fetchone()), ((0, 0), (0, 0)))
        asked = absent = 0
        for first, last in ((1, 100), (29990, 30010), (100000, 100500)):
            found = one(db, "WITH n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2) SELECT count(*) FROM n JOIN f ON f.key = n.i", first, last)
            asked, absent = asked + last - first + 1, absent + last - first + 1 - found
            self.assertEqual(db.execute(counts).fetchone(), (asked, absent))
        self.assertEqual(self.present(db, None), [])
        db.execute("INSERT OR IGNORE INTO f(key) VALUES (1), ('new')")
        self.assertEqual(db.execute(counts).fetchone(), (asked, absent))
        before = one(db, "SELECT chunks_read FROM f")
        self.present(db, *range(50))
        self.assertGreater(one(db, "SELECT chunks_read FROM f") - before, 40)
        self.assertEqual(other.execute(counts).fetchone(), (0, 0))
        self.assertEqual(self.present(other, 1), [1])
        self.assertEqual(other.execute("SELECT lookups, absent, chunks_read FROM f").fetchone(), (1, 0, 1))

    def test_tables_with_the_name_of_a_column(self):
        db = self.connect()
        db.execute("CREATE TABLE t(keys, bytes)")
        db.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
        for name in ("keys", "fpr", "capacity", "Bytes", "overfull", "layers", "stale", "PENDING", "lookups", "absent", "chunks_read"):
            for options in ("capacity=1000", "source=t, column=keys, writers=extension"):
                db.execute(f"CREATE VIRTUAL TABLE {name} USING bloom({options})")
                if "source" not in options:
                    db.execute(f"INSERT INTO {name}(key) SELECT keys FROM t")
                db.execute(f"INSERT INTO {name}({name}) VALUES ('integrity-check')")
                other = self.connect()
                self.assertEqual(other.execute(f"SELECT keys, stale IS NULL FROM {name}").fetchone(), (2, "source" not in options))
                self.assertEqual(self.present(other, 1, 2, 3, table=name), [1, 2])
                self.assertEqual(other.execute(f"SELECT t.bytes FROM t JOIN {name} AS f ON f.key = t.keys").fetchall(), [("a",), ("b",)])
                self.assertFails(other, "unknown command 'x'", f"INSERT INTO {name}({name}) VALUES ('x')")
                other.execute(f"ALTER TABLE {name} RENAME TO plain")
                other.execute("INSERT INTO plain(plain) VALUES ('halve')")
                other.execute(f"ALTER TABLE plain RENAME TO {name}")
                self.assertFails(other, "read-only", f"INSERT INTO {name}({'bytes' if name != 'Bytes' else 'keys'}) VALUES ('halve')")
                db.execute(f"DROP TABLE {name}")


class Plans(TableCase):
    """Where SQLite's planner puts the filter f: before the lookup that it is to save, and never without the key."""

    TABLES = """
        CREATE VIRTUAL TABLE f USING bloom(capacity=1000);
        CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT, n TEXT COLLATE NOCASE);
        CREATE TABLE big(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
        CREATE TABLE indexed(k TEXT, v);
        CREATE INDEX i ON indexed(k);
        CREATE VIEW checked AS SELECT f.key, b.* FROM f JOIN big AS b ON b.k = +f.key;
        CREATE VIEW checked_indexed AS SELECT f.key, b.* FROM f JOIN indexed AS b ON b.k = +f.key;
    """
    VIEW = {
        "SELECT * FROM checked WHERE key = ?": "f 1:key=?, b",
        "SELECT * FROM checked_indexed WHERE key = ?": "f 1:key=?, b",
        "SELECT v FROM checked WHERE key IN (?, 'b')": "f 1:key=?, b",
        "SELECT v FROM t JOIN checked AS c ON c.key = t.k": "t, f 1:key=?, b",
        "SELECT v FROM checked AS c JOIN t ON t.k = c.key": "t, f 1:key=?, b",
        "SELECT v FROM t JOIN checked_indexed AS c ON c.key = t.k": "t, f 1:key=?, b",
        "SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM checked WHERE key = t.k)": "t, f 1:key=?, b",
    }
    ONE = {
        "SELECT 1 FROM f WHERE key = ?": "f 1:key=?",
        "SELECT 1 FROM f WHERE key IN (1, 2)": "f 1:key=?",
        "SELECT 1 FROM f WHERE key IN (SELECT k FROM t)": "f 1:key=?, t",
        "SELECT 1 FROM f WHERE key = ? AND key = ?": "f 1:key=?",
        "SELECT 1 FROM f WHERE key IS ?": "f 1:key=?",
        "DELETE FROM f WHERE key = 1": "f 1:key=?",
        "SELECT filter, info FROM f": "f 2:full filter",
        "SELECT keys FROM f": "f 2:full filter",
        "SELECT pending FROM f": "f 2:full filter",
        "SELECT f FROM f": "f 3:counts keys, cannot list them",
        "SELECT key, keys FROM f WHERE key = 1": "f 1:key=?",
        "SELECT * FROM f": "f 3:counts keys, cannot list them",
        "SELECT 1 FROM f WHERE key = 'x' COLLATE NOCASE": "f 4:refused: collation NOCASE",
    }
    TWO = {
        "SELECT 1 FROM t JOIN f ON f.key = t.k": "t, f 1:key=?",
        "SELECT 1 FROM f JOIN t ON t.k = f.key": "t, f 1:key=?",
        "SELECT 1 FROM t LEFT JOIN f ON f.key = t.k WHERE f.key IS NULL": "t, f 1:key=?",
        "SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM f WHERE key = t.k)": "t, f 1:key=?",
        "SELECT 1 FROM t WHERE NOT EXISTS (SELECT 1 FROM f WHERE key = t.k) OR NOT EXISTS (SELECT 1 FROM big AS b WHERE b.k = t.k)": "t, f 1:key=?, b",
    }
    THREE = {
        "SELECT 1 FROM t JOIN f ON f.key = t.k JOIN big AS b ON b.k = t.k": "t, f 1:key=?, b",
        "SELECT 1 FROM t JOIN big AS b ON b.k = t.k JOIN f ON f.key = t.k": "t, f 1:key=?, b",
        "SELECT 1 FROM big AS b, f, t WHERE f.key = t.k AND b.k = t.k": "t, f 1:key=?, b",
        "SELECT 1 FROM t JOIN f ON f.key = t.k JOIN big AS b ON b.k = f.key": "t, f 1:key=?, b",
        "SELECT 1 FROM t JOIN indexed AS b ON b.k = t.k JOIN f ON f.key = t.k": "t, f 1:key=?, b",
    }

    def plan(self, db, sql):
        # Since 3.38, lists have plans of their own, with a 1 before the number.
        rows = [row[3] for row in db.execute("EXPLAIN QUERY PLAN " + sql, (1,) * sql.count("?"))]
        tables = [re.match(r"(?:SCAN|SEARCH) (?:TABLE )?(?:\w+ AS )?(\w+)(?: EXISTS)?(?: VIRTUAL TABLE INDEX (?:1(?=1:))?(.*?))?(?: (?:USING|LEFT-JOIN|EXISTS).*)?$", row) for row in rows]
        return ", ".join(" ".join(filter(None, table.groups())) for table in tables if table)

    # The same with a filter that follows `big`: its `key` has the type of the column.
    FOLLOWING = re.sub(r"(?s)(CREATE VIRTUAL TABLE f USING bloom\().*?(;.*?)(?=CREATE VIEW)", r"\2\1source=big, column=k);", TABLES)
    ALL_TABLES = (TABLES, FOLLOWING, FOLLOWING.replace("k TEXT", "k INT"), FOLLOWING.replace("k TEXT", "k"))

    def test_plans(self):
        for tables in self.ALL_TABLES:
            with self.subTest(tables):
                db = self.connect(":memory:")
                db.executescript(tables)
                for sql, plan in (self.ONE | self.TWO | self.THREE | self.VIEW).items():
                    self.assertEqual(self.plan(db, sql), plan, sql)

    def test_a_view_answers_as_the_table_does(self):
        db = self.connect()
        db.executescript(self.TABLES + "CREATE VIEW unordered AS SELECT f.key, b.* FROM f JOIN big AS b ON b.k = f.key")
        db.executemany("INSERT INTO t(k) VALUES (?)", [(f"k{i % 40}",) for i in range(60)] + [(None,)])
        db.executemany("INSERT INTO big VALUES (?, ?)", [(f"k{i}", i) for i in range(0, 60, 3)])
        db.execute("INSERT INTO f(key) SELECT k FROM big")
        for view, table in (
            ("SELECT k, v FROM unordered", "SELECT k, v FROM big"),
            ("SELECT t.id, c.v FROM t JOIN checked AS c ON c.key = t.k", "SELECT t.id, c.v FROM t JOIN big AS c ON c.k = t.k"),
            ("SELECT t.id, c.v FROM t LEFT JOIN unordered AS c ON c.key = t.k", "SELECT t.id, c.v FROM t LEFT JOIN big AS c ON c.k = t.k"),
            ("SELECT id FROM t WHERE k IN (SELECT key FROM unordered)", "SELECT id FROM t WHERE k IN (SELECT k FROM big)"),
            ("SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM checked WHERE key = t.k)", "SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM big WHERE k = t.k)"),
        ):
            self.assertEqual(sorted(db.execute(view)), sorted(db.execute(table)), view)

    def test_the_filter_stays_in_front_when_sizes_are_known(self):
        statistics = "ANALYZE; INSERT INTO sqlite_stat1 VALUES ('t', NULL, ''), ('big', 'big', ''), ('indexed', 'i', '')"
        for tables in self.ALL_TABLES:
            db = self.connect(":memory:")
            db.executescript(tables + statistics)
            for outer, inner in ((1000, 1000000), (1000000, 1000000), (1000000, 1000), (50, 100000000)):
                db.execute("UPDATE sqlite_stat1 SET stat = CASE tbl WHEN 't' THEN ? ELSE ? END", (str(outer), f"{inner} 1"))
                db.execute("ANALYZE sqlite_master")
                for sql, plan in (self.TWO | self.THREE).items():
                    self.assertEqual(self.plan(db, sql), plan, (tables, outer, inner, sql))


class Transactions(TableCase):
    def test_a_table_whose_creation_was_rolled_back_leaves_nothing_to_write(self):
        db = self.connect()
        for again in (False, True):
            db.execute("BEGIN")
            db.execute("SAVEPOINT a")
            db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=100)")
            db.execute("INSERT INTO f(key) VALUES ('gone')")
            db.execute("ROLLBACK TO a")
            if again:
                db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=100)")
                db.execute("INSERT INTO f(key) VALUES ('stays')")
            db.execute("COMMIT")
        self.assertPresent(db, ["stays"])
        self.assertAbsent(db, ["gone"])
        self.assertPresent(self.connect(), ["stays"])

    def test_the_transaction_that_creates_a_table_keeps_its_keys(self):
        db = self.connect()
        for i in range(3):
            db.execute("BEGIN")
            db.execute(f"CREATE VIRTUAL TABLE f USING bloom(capacity=100, seed={i})")
            db.execute("INSERT INTO f(key) VALUES ('x')")
            self.assertPresent(db, ["x"])
            db.execute("SAVEPOINT a")
            db.execute("INSERT INTO f(key) VALUES ('y')")
            db.execute("ROLLBACK TO a")
            self.assertPresent(db, ["x"])
            self.assertAbsent(db, ["y"])
            db.execute("COMMIT")
            self.assertPresent(self.connect(), ["x"])
            db.execute("DROP TABLE f")

    def test_reading_the_schema_again_loses_no_key(self):
        db = self.connect()
        db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=100000)")
        db.execute("CREATE TABLE other(x)")
        db.execute("BEGIN")
        for i in range(20):
            db.execute("INSERT INTO f(key) VALUES (?)", (i,))
            db.execute(f"ALTER TABLE other RENAME COLUMN x{i or ''} TO x{i + 1}")
            self.assertPresent(db, range(i + 1))
            # Unlike ALTER TABLE it opens no savepoint, at which changes would be written.
            db.execute("INSERT INTO f(key) VALUES (?)", (100 + i,))
            db.execute("PRAGMA writable_schema = RESET")
            self.assertPresent(db, [100 + i])
        db.execute("COMMIT")
        self.assertPresent(self.connect(), [*range(20), *range(100, 120)])

    def test_reading_the_schema_again_does_not_mix_up_tables_of_a_transaction(self):
        db = self.connect()
        db.execute("ATTACH ':memory:' AS other")
        tables = {"main.f": "capacity=1000", "main.g": "capacity=1000", "other.f": "capacity=1000", "other.g": ""}
        for table, options in tables.items():
            db.execute(f"CREATE VIRTUAL TABLE {table} USING bloom({options})")
        db.execute("BEGIN")
        for i in range(3):
            for table in tables:
                db.execute(f"INSERT INTO {table}(key) VALUES (?)", (f"{table} {i}",))
            db.execute("PRAGMA writable_schema = RESET")
            for table in reversed(tables):
                self.assertPresent(db, [f"{table} {j}" for j in range(i + 1)], table)
        db.execute("COMMIT")
        for table in tables:
            self.assertPresent(db, [f"{table} {i}" for i in range(3)], table)
            self.assertAbsent(db, [f"{other} {i}" for i in range(3) for other in tables if other != table], table)

    def test_a_failed_drop_changes_nothing(self):
        db = self.connect()
        db.executescript("CREATE VIRTUAL TABLE f USING bloom(capacity=100); CREATE TABLE t(x); INSERT INTO t VALUES (1), (2)")
        self.add(db, ["a"])
        reading = db.execute("SELECT x FROM t")
        reading.fetchone()
        self.assertFails(db, "database table is locked", "DROP TABLE f")
        self.add(db, ["b"])
        reading.close()
        self.assertPresent(self.connect(), ["a", "b"])
        db.execute("DROP TABLE f")
        self.assertEqual(one(db, "SELECT count(*) FROM sqlite_master"), 1)

    # A table made in place of another, by name, until a savepoint from before is rolled back.
    REPLACEMENTS = (
        "DROP TABLE f; CREATE VIRTUAL TABLE f USING bloom(capacity=100)",
        "DROP TABLE f; CREATE VIRTUAL TABLE f USING bloom(capacity=10)",
        "DROP TABLE f; CREATE VIRTUAL TABLE f USING bloom(capacity=10, growth=on)",
        "DROP TABLE f; CREATE VIRTUAL TABLE f USING bloom(capacity=100000, kind=counting)",
        "ALTER TABLE f RENAME TO g; CREATE VIRTUAL TABLE f USING bloom(capacity=100)",
        "CREATE VIRTUAL TABLE g USING bloom(capacity=100); INSERT INTO g(key) VALUES ('g'); DROP TABLE f; ALTER TABLE g RENAME TO f",
    )

    def test_a_table_that_was_replaced_and_rolled_back_is_unchanged(self):
        more = json.dumps([f"more {i}" for i in range(300)])
        after = one(self.connect(), "SELECT bloom_add(bloom_build(value, 100), 'old') FROM json_each(?)", more)
        for number, replacement in enumerate(self.REPLACEMENTS):
            for between in ("SELECT 1", "SELECT info FROM f", "SAVEPOINT b", "INSERT INTO other VALUES (1), (2)", "PRAGMA writable_schema = RESET"):
                db = self.connect(f"{self.path}{number}{len(between)}")
                db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=100)")
                db.execute("CREATE TABLE other(x UNIQUE)")
                db.execute("INSERT INTO f(key) VALUES ('old')")
                before = one(db, "SELECT filter FROM f")
                db.execute("BEGIN")
                db.execute("SAVEPOINT a")
                for statement in replacement.split("; "):
                    db.execute(statement)
                db.execute("INSERT INTO f(key) VALUES ('new')")
                db.execute(between).fetchall()
                db.execute("INSERT INTO f(key) VALUES ('newer')")
                self.assertPresent(db, ["new", "newer"])
                db.execute("ROLLBACK TO a")
                self.assertEqual(one(db, "SELECT filter FROM f"), before)
                # More than it is made for: another table's rule would let it grow.
                db.execute("INSERT INTO f(key) SELECT value FROM json_each(?)", (more,))
                db.execute("COMMIT")
                for reader in (db, self.connect(f"{self.path}{number}{len(between)}")):
                    self.assertEqual(one(reader, "SELECT filter FROM f"), after, (replacement, between))
                    reader.execute("INSERT INTO f(f) VALUES ('integrity-check')")

    def test_uncommitted_chunks_of_another_connection_are_not_cached(self):
        for options in ("capacity=100", "capacity=100000", "capacity=32, growth=on"):
            path = f"file:{self.path}{options}?cache=shared"
            a, b = (self.connect(path, uri=True) for _ in range(2))
            a.execute(f"CREATE VIRTUAL TABLE f USING bloom({options})")
            a.execute("CREATE TABLE t(x)")
            self.add(a, range(60))
            b.execute("PRAGMA read_uncommitted = ON")
            a.execute("BEGIN")
            a.execute("INSERT INTO f(f) VALUES ('clear')")
            a.execute("SAVEPOINT s")
            b.execute("SELECT key FROM f WHERE key IN (1, 2, 3)").fetchall()
            a.execute("ROLLBACK")
            self.assertPresent(b, range(60))

    def test_a_statement_that_cannot_begin_loses_nothing(self):
        # With a shared cache, a reader of the rows keeps them from being written.
        a, b = (self.connect(f"file:{self.path}?cache=shared", uri=True) for _ in range(2))
        a.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=20000, kind=counting)")
        a.execute("CREATE TABLE t(x UNIQUE)")
        self.add(a, range(1000))
        keys = list(range(1000))
        for statement in ("INSERT INTO f(key) VALUES ('x'), ('y')", "INSERT INTO f(key) VALUES ('z')", "DELETE FROM f WHERE key = 7", "INSERT INTO f(f) VALUES ('halve')"):
            for begin in ("SELECT 1", "BEGIN"):
                a.execute(begin)
                b.execute("BEGIN")
                b.execute("SELECT count(*) FROM f_data").fetchall()
                self.assertFails(a, "locked", statement)
                self.assertFails(a, "locked", "INSERT INTO f(key) VALUES (1), (2)")
                self.assertPresent(a, keys[-60:])
                b.execute("COMMIT")
                if a.in_transaction:
                    a.execute("INSERT INTO f(key) VALUES (?)", (statement,))
                    keys.append(statement)
                    a.execute("COMMIT")
                self.assertEqual(one(b, "SELECT filter FROM f"), self.filter_of(b, keys), (statement, begin))

    def filter_of(self, db, keys):
        db.execute("CREATE TEMP TABLE IF NOT EXISTS keys(k)")
        db.execute("DELETE FROM keys")
        db.executemany("INSERT INTO keys VALUES (?)", [(key,) for key in keys])
        return one(db, "SELECT bloom_build(k, 20000, 0.01, 'counting') FROM keys")

    def test_an_update_that_fails_keeps_the_old_key(self):
        db = self.connect()
        db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=20000, kind=counting)")
        self.add(db, range(300))
        db.execute("UPDATE f_data SET chunk = x'' WHERE id = 3")
        db = self.connect()
        failed = 0
        db.execute("BEGIN")
        for key in range(100):
            try:
                db.execute("UPDATE f SET key = ? WHERE key = ?", (f"new {key}", key))
                self.assertPresent(db, [f"new {key}"])
            except sqlite3.Error:
                failed += 1
                try:
                    self.assertPresent(db, [key])
                except sqlite3.Error as error:
                    self.assertIn("chunk 3", str(error))
        db.execute("COMMIT")
        self.assertGreater(failed, 3)

    def test_an_interrupted_commit_loses_no_acknowledged_key(self):
        for point in range(1, 80):
            path = f"{self.path}{point}"
            db = self.connect(path)
            db.execute("CREATE TABLE t(x)")
            db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=20000)")
            db.execute("INSERT INTO f(key) VALUES ('old')")
            db.execute("BEGIN")
            db.execute("INSERT INTO f(key) VALUES ('a'), ('b')")
            db.execute("INSERT INTO t VALUES (1)")
            db.execute("PRAGMA writable_schema = RESET")
            calls = iter(range(1, 1000))
            db.set_progress_handler(lambda: next(calls) == point, 1)
            try:
                db.execute("COMMIT")
            except sqlite3.Error:
                pass
            db.set_progress_handler(None, 1)
            if db.in_transaction:
                db.execute("COMMIT")
            reader = self.connect(path)
            kept = one(reader, "SELECT count(*) FROM t") == 1
            (self.assertPresent if kept else self.assertAbsent)(reader, ["a", "b"])
            self.assertPresent(reader, ["old"])

    def test_reading_the_schema_again_before_a_rollback(self):
        for end in ("ROLLBACK", "ROLLBACK TO a"):
            db = self.connect(self.path + end)
            db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=100, kind=counting)")
            db.execute("INSERT INTO f(key) VALUES ('x')")
            db.execute("BEGIN")
            db.execute("SAVEPOINT a")
            db.execute("DELETE FROM f WHERE key = 'x'")
            db.execute("PRAGMA writable_schema = RESET")
            self.assertAbsent(db, ["x"])
            db.execute(end)
            self.assertPresent(db, ["x"])
            db.execute("INSERT INTO f(key) VALUES ('y')")
            if db.in_transaction:
                db.execute("COMMIT")
            self.assertPresent(db, ["x", "y"])
            self.assertPresent(self.connect(self.path + end), ["x", "y"])

    def test_a_statement_keeps_its_table_while_a_function_changes_the_schema(self):
        for change in ("ALTER TABLE other RENAME COLUMN a TO b", "PRAGMA writable_schema = RESET"):
            db = self.connect(self.path + str(len(change)))
            db.executescript("CREATE VIRTUAL TABLE f USING bloom(capacity=100); CREATE TABLE other(a); CREATE TABLE source(k); INSERT INTO source VALUES ('s1'), ('s2'), ('s3')")

            def disturb(key):
                if key == "s2":
                    db.execute(change)
                    db.execute("INSERT INTO f(key) VALUES ('inner')")
                return key

            db.create_function("disturb", 1, disturb)
            db.execute("BEGIN")
            try:
                db.execute("INSERT INTO f(key) SELECT disturb(k) FROM source")
            except sqlite3.Error:
                db.execute("ROLLBACK")
                continue
            db.execute("COMMIT")
            self.assertPresent(self.connect(self.path + str(len(change))), ["s1", "s2", "s3", "inner"])

    def test_a_trigger_that_fails_takes_its_key_back(self):
        db = self.connect()
        db.executescript("""
            CREATE VIRTUAL TABLE f USING bloom(capacity=1000, kind=counting);
            CREATE TABLE t(k);
            CREATE TRIGGER tr AFTER INSERT ON t BEGIN
              INSERT INTO f(key) VALUES (new.k);
              SELECT RAISE(ABORT, 'no') WHERE new.k = 'bad';
            END;
        """)
        db.execute("BEGIN")
        db.execute("INSERT INTO t VALUES ('good')")
        self.assertFails(db, "no", "INSERT INTO t VALUES ('better'), ('bad')")
        self.assertPresent(db, ["good"])
        self.assertAbsent(db, ["better", "bad"])
        db.execute("COMMIT")
        self.assertEqual(one(self.connect(), "SELECT filter = bloom_add(bloom_create(1000, 0.01, 'counting'), 'good') FROM f"), 1)

    def test_keys_that_were_looked_up_before_they_were_added(self):
        db = self.connect()
        db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=1000000)")
        self.assertAbsent(db, range(1000))
        for begin, end, keys in (("SELECT 1", "SELECT 1", range(20)), ("BEGIN", "COMMIT", range(20, 1000))):
            db.execute(begin)
            for key in keys:
                db.execute("INSERT INTO f(key) VALUES (?)", (key,))
            db.execute(end)
        self.assertPresent(self.connect(), range(1000))

    def test_the_next_statement_sees_commits_of_other_connections(self):
        for mode in ("delete", "wal"):
            a = self.connect(self.path + mode)
            a.execute(f"PRAGMA journal_mode = {mode}")
            a.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=100000, kind=counting)")
            b = self.connect(self.path + mode)
            self.assertAbsent(b, ["x"])
            a.execute("INSERT INTO f(key) VALUES ('x')")
            self.assertPresent(b, ["x"])
            b.execute("INSERT INTO f(key) VALUES ('y')")
            self.assertPresent(a, ["x", "y"])
            a.execute("INSERT INTO f(f) VALUES ('halve')")
            b.execute("INSERT INTO f(key) VALUES ('z')")
            self.assertPresent(a, ["x", "y", "z"])
            self.assertEqual(one(a, "SELECT filter FROM f"), one(b, "SELECT bloom_halve(bloom_add(bloom_create(100000, 0.01, 'counting'), 'x', 'y', 'z'))"))
            b.execute("DELETE FROM f WHERE key = 'x'")
            self.assertAbsent(a, ["x"])
            a.execute("INSERT INTO f(f) VALUES ('clear')")
            self.assertAbsent(b, ["y"])
            a.execute("DROP TABLE f")
            a.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=10)")
            a.execute("INSERT INTO f(key) VALUES ('new')")
            self.assertPresent(b, ["new"])

    def test_a_reader_keeps_its_snapshot_until_its_transaction_ends(self):
        a, b = self.connect(), self.connect()
        a.execute("PRAGMA journal_mode = wal")
        a.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=100000)")
        b.execute("BEGIN")
        self.assertAbsent(b, ["x"])
        a.execute("INSERT INTO f(key) VALUES ('x')")
        self.assertAbsent(b, ["x"])
        self.assertFails(b, "locked", "INSERT INTO f(key) VALUES ('y')")
        b.execute("COMMIT")
        self.assertPresent(b, ["x"])

    def test_a_commit_that_is_busy_can_be_repeated(self):
        a, b = self.connect(), self.connect()
        a.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=100000)")
        a.execute("INSERT INTO f(key) VALUES ('old')")
        b.execute("BEGIN")
        self.assertPresent(b, ["old"])
        a.execute("BEGIN")
        a.execute("INSERT INTO f(key) VALUES ('x')")
        self.assertFails(a, "locked", "COMMIT")
        a.execute("INSERT INTO f(key) VALUES ('y')")
        self.assertFails(a, "locked", "COMMIT")
        self.assertPresent(a, ["x", "y"])
        b.execute("COMMIT")
        a.execute("COMMIT")
        self.assertPresent(b, ["old", "x", "y"])

    def test_statements_stay_open_while_others_write(self):
        db = self.connect()
        db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=100000)")
        db.execute("INSERT INTO f(key) SELECT value FROM json_each('[1,2,3,4,5]')")
        rows = db.execute("SELECT key FROM f WHERE key IN (1,2,3,4,5)")
        self.assertIsNotNone(rows.fetchone())
        db.execute("BEGIN")
        db.execute("INSERT INTO f(key) VALUES ('while asking')")
        self.assertIsNotNone(rows.fetchone())
        db.execute("COMMIT")
        self.assertEqual(len(rows.fetchall()), 3)
        self.assertPresent(self.connect(), [1, 5, "while asking"])

    def test_lookups_in_a_read_only_database(self):
        db = self.connect()
        db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=100)")
        db.execute("INSERT INTO f(key) VALUES ('x')")
        for reader in (self.connect(f"file:{self.path}?mode=ro", uri=True), self.connect(f"file:{self.path}?immutable=1", uri=True)):
            self.assertPresent(reader, ["x"])
            self.assertFails(reader, "readonly", "INSERT INTO f(key) VALUES ('y')")
        db.execute("PRAGMA query_only = ON")
        self.assertPresent(db, ["x"])
        self.assertFails(db, "readonly", "INSERT INTO f(key) VALUES ('y')")


class Changes(TableCase):
    def test_changes_counts_new_keys_until_the_transaction_ends_and_after(self):
        db = self.connect()
        db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=100000)")
        db.execute("CREATE TABLE log(n)")
        keys = "SELECT value FROM json_each('[1, 2, 3, 2, 1]')"
        for begin, end in (("SELECT 1", "SELECT 1"), ("BEGIN", "COMMIT")):
            db.execute("INSERT INTO f(f) VALUES ('clear')")
            db.execute(begin)
            db.execute(f"INSERT OR IGNORE INTO f(key) {keys}")
            self.assertEqual(one(db, "SELECT changes()"), 3)
            # Each of these opens a savepoint, at which the table writes.
            db.execute("INSERT INTO log SELECT changes() UNION ALL SELECT changes() + 100")
            self.assertEqual(db.execute("SELECT n FROM log").fetchall(), [(3,), (103,)])
            db.execute("DELETE FROM log")
            db.execute(f"INSERT OR IGNORE INTO f(key) {keys} UNION SELECT 4")
            self.assertEqual(one(db, "SELECT changes()"), 1)
            db.execute("SAVEPOINT s")
            self.assertEqual(one(db, "SELECT changes()"), 1)
            db.execute("RELEASE s")
            self.assertEqual((one(db, "SELECT length(info) > 0 FROM f"), one(db, "SELECT changes()")), (1, 1))
            db.execute(end)
            self.assertEqual(one(db, "SELECT changes()"), 1)


class Copies(TableCase):
    KEYS = [*range(500), "text", b"blob", 2.5]

    def make(self, db, options="capacity=100000"):
        db.execute(f"CREATE VIRTUAL TABLE f USING bloom({options})")
        self.add(db, self.KEYS)

    def assertSame(self, db, original):
        self.assertEqual(one(db, "SELECT filter FROM f"), one(original, "SELECT filter FROM f"))
        db.execute("INSERT INTO f(key) VALUES ('one more')")
        self.assertPresent(db, self.KEYS + ["one more"])
        self.assertEqual(one(db, "PRAGMA integrity_check"), "ok")

    def test_dump_and_restore(self):
        db = self.connect()
        self.make(db)
        shell = ["env", "-u", "LD_LIBRARY_PATH", "sqlite3", "-batch", "-init", os.devnull, "-cmd", f".load {EXTENSION}"]
        dump = subprocess.run([*shell, self.path, ".dump"], check=True, capture_output=True, text=True).stdout
        subprocess.run([*shell, self.path + "2"], input=dump, check=True, text=True)
        self.assertSame(self.connect(self.path + "2"), db)

    def test_vacuum_backup_and_serialize(self):
        db = self.connect()
        self.make(db)
        before = one(db, "SELECT filter FROM f")
        db.execute("VACUUM")
        self.assertEqual(one(db, "SELECT filter FROM f"), before)
        db.execute("VACUUM INTO ?", (self.path + "2",))
        self.assertSame(self.connect(self.path + "2"), db)
        # Into a connection that has asked another filter of this name.
        copy = self.connect(self.path + "3")
        copy.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=10)")
        self.assertAbsent(copy, ["x"])
        db.backup(copy)
        self.assertSame(copy, db)

    def test_every_page_size_encoding_and_vacuum_mode(self):
        for pragma in (*(f"page_size = {1 << bits}" for bits in range(9, 17)), "encoding = 'UTF-16le'", "encoding = 'UTF-16be'", "auto_vacuum = full"):
            db = self.connect(self.path + pragma.replace(" ", ""))
            db.execute(f"PRAGMA {pragma}")
            self.make(db)
            self.assertEqual(one(db, "SELECT filter FROM f"), one(self.oracle(), "SELECT filter FROM f"))
            self.assertPresent(db, self.KEYS)

    def oracle(self):
        db = self.connect(":memory:")
        self.make(db)
        return db

    def test_attached_twice_and_under_another_name(self):
        self.make(self.connect())
        db = self.connect(":memory:")
        db.execute("ATTACH ? AS a", (self.path,))
        db.execute('ATTACH ? AS "b ""2"""', (self.path,))
        for i in range(10):
            db.execute("INSERT INTO a.f(key) VALUES (?)", (f"a{i}",))
            self.assertPresent(db, self.KEYS[-9:] + [f"a{i}"], '"b ""2""".f')
            db.execute('INSERT INTO "b ""2""".f(key) VALUES (?)', (f"b{i}",))
            self.assertPresent(db, [f"a{i}", f"b{i}"], "a.f")
        db.execute("DETACH a")
        self.assertPresent(self.connect(), self.KEYS + ["a9", "b9"])


    def test_a_schema_name_that_is_reused_for_another_file(self):
        for name in ("a", "b"):
            db = self.connect(self.path + name)
            db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=1000)")
            db.execute("INSERT INTO f(key) VALUES (?)", (f"in {name}",))
            db.close()
        # The statement stays prepared, and holds on to the table that it knew.
        db = self.connect(":memory:", cached_statements=100)
        for name, other in (("a", "b"), ("b", "a")) * 3:
            db.execute("ATTACH ? AS x", (self.path + name,))
            self.assertPresent(db, [f"in {name}"], "x.f")
            self.assertAbsent(db, [f"in {other}"], "x.f")
            db.execute("DETACH x")


class Counted(TableCase):
    """What a statement reads and writes."""

    def make(self, options="capacity=1000000"):
        db = self.connect()
        db.execute("PRAGMA journal_mode = wal")
        db.execute("PRAGMA wal_autocheckpoint = 0")
        db.execute(f"CREATE VIRTUAL TABLE f USING bloom({options})")
        return db

    def chunks_read(self, db, sql, *arguments):
        seen = []
        db.set_trace_callback(seen.append)
        db.execute(sql, arguments).fetchall()
        db.set_trace_callback(None)
        return sum("SELECT chunk" in statement for statement in seen)

    def pages_written(self, db, sql, *arguments):
        before = os.path.getsize(self.path + "-wal")
        db.execute(sql, arguments).fetchall()
        pages, rest = divmod(os.path.getsize(self.path + "-wal") - before, 24 + 4096)
        self.assertEqual(rest, 0)
        return pages

    def wal_bytes(self, db, statements):
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for sql, *arguments in statements:
            db.execute(sql, arguments)
        return os.path.getsize(self.path + "-wal")

    def test_a_lookup_and_an_insert_read_one_chunk_each(self):
        for kind in ("standard", "counting", "partitioned"):
            db = self.make(f"capacity=1000000, kind={kind}, cache=4096")
            for i in range(50):
                for sql in ("SELECT 1 FROM f WHERE key = ?", "INSERT INTO f(key) VALUES (?)", "SELECT 1 FROM f WHERE key = ?", "INSERT OR IGNORE INTO f(key) VALUES (?)"):
                    self.assertLessEqual(self.chunks_read(db, sql, i), 1, (kind, sql))
            db.execute("DROP TABLE f")

    def test_or_ignore_counts_keys_of_a_counting_table(self):
        """Also as the rule of an outer statement, which SQLite passes to the statements of its triggers."""
        db = self.make("capacity=1000, kind=counting")
        db.executescript("""
            CREATE TABLE t(id INTEGER PRIMARY KEY, k);
            CREATE TRIGGER i AFTER INSERT ON t BEGIN INSERT INTO f(key) VALUES (new.k); END;
            CREATE TRIGGER d AFTER DELETE ON t BEGIN DELETE FROM f WHERE key = old.k; END;
        """)
        for begin, end in (("", ""), ("BEGIN", "COMMIT")):
            for rows in (2, 14):  # 15 would saturate the counters
                db.execute(begin)
                for i in range(rows):
                    self.assertEqual(db.execute("INSERT OR IGNORE INTO t VALUES (?, 'x')", (i,)).rowcount, 1)
                db.execute("DELETE FROM t WHERE id > 0")
                db.execute(end)
                self.assertEqual(db.execute("SELECT key FROM f WHERE key = 'x'").fetchall(), [("x",)])
                db.execute("DELETE FROM t")
                self.assertEqual(db.execute("SELECT key FROM f WHERE key = 'x'").fetchall(), [])
        self.assertEqual(db.execute("INSERT OR IGNORE INTO f(key) VALUES ('a'), ('a'), ('b')").rowcount, 2)
        db.execute("DELETE FROM f WHERE key = 'a'")
        self.assertEqual(db.execute("SELECT key FROM f WHERE key IN ('a', 'b') ORDER BY 1").fetchall(), [("a",), ("b",)])

    def test_a_new_key_writes_one_page_and_a_present_key_none(self):
        for kind in ("standard", "counting", "partitioned"):
            db = self.make(f"capacity=100000, kind={kind}")
            self.add(db, [f"for every chunk {i}" for i in range(5000)])
            for i in range(50):
                self.assertEqual(self.pages_written(db, "INSERT INTO f(key) VALUES (?)", i), 1)
                self.assertEqual(self.pages_written(db, "INSERT OR IGNORE INTO f(key) VALUES (?)", i), 1 if kind == "counting" else 0)
                if kind != "counting":
                    self.assertEqual(self.pages_written(db, "INSERT INTO f(key) VALUES (?)", i), 0)
            db.execute("DROP TABLE f")

    def test_cached_chunks_are_not_read_again(self):
        db = self.make()
        db.execute("INSERT INTO f(key) VALUES ('x')")
        for _ in range(3):
            self.assertEqual(self.chunks_read(db, "SELECT 1 FROM f WHERE key = 'x'"), 0)
            self.assertEqual(self.chunks_read(db, "INSERT INTO f(key) VALUES ('x')"), 0)
        db.execute("CREATE TABLE t(k)")
        db.execute("INSERT INTO t SELECT value % 7 FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14]')")
        self.assertLessEqual(self.chunks_read(db, "SELECT 1 FROM t JOIN f ON f.key = t.k"), 7)

    def test_a_present_key_writes_no_page(self):
        db = self.make()
        self.wal_bytes(db, [("INSERT INTO f(key) VALUES ('x')",)])
        self.assertEqual(self.wal_bytes(db, [("INSERT INTO f(key) VALUES ('x')",)] * 100), 0)

    def test_single_inserts_write_less_than_into_a_primary_key(self):
        db = self.make()
        db.execute("CREATE TABLE pk(k TEXT PRIMARY KEY)")
        n = 1000
        ours, theirs = (
            self.wal_bytes(db, [(f"INSERT INTO {into} VALUES (?)", f"https://example.com/{i * 7919 % 1000003}") for i in range(n)]) for into in ("f(key)", "pk")
        )
        self.assertLess(ours, theirs)

    def test_a_bulk_insert_writes_the_filter_once(self):
        db = self.make()
        sql = "INSERT INTO f(key) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT i FROM n"
        self.assertLess(self.wal_bytes(db, [(sql,)]), 1.1 * one(db, "SELECT length(filter) FROM f"))

    def test_an_empty_table_takes_a_few_pages_whatever_its_size(self):
        db = self.make("cells=8589934592, hashes=5, block=32768")
        self.assertLess(one(db, "PRAGMA page_count"), 10)
        self.assertPresent(db, [])
        self.assertAbsent(db, range(20))
        self.assertLess(one(db, "PRAGMA page_count"), 10)


class Large(TableCase):
    """Positions beyond 32 bits: 2^36 cells, 8 GiB of bits or 32 GiB of counters, of which few are there."""

    def test_cells_beyond_2_to_the_33(self):
        for kind in ("standard", "counting", "partitioned"):
            with self.subTest(kind):
                db = self.connect(self.path + kind)
                db.execute(f"CREATE VIRTUAL TABLE f USING bloom(cells={1 << 36}, hashes=8, block=4096, kind={kind})")
                keys = [f"key {i}" for i in range(400)]
                self.add(db, keys)
                cells = CHUNK * (2 if kind == "counting" else 8)
                beyond = [one(db, "SELECT count(*) FROM f_data WHERE id > ?", (1 << bits) // cells) for bits in (32, 33, 35)]
                self.assertGreater(min(beyond), 150)
                db = self.connect(self.path + kind)
                self.assertPresent(db, keys)
                self.assertAbsent(db, [f"no {i}" for i in range(400)])
                self.assertLess(abs(one(db, "SELECT json_extract(info, '$.keys') FROM f") - 400), 5)
                db.execute("INSERT INTO f(f) VALUES ('integrity-check')")
                self.assertFails(db, r"f: the filter must be at most \d+ bytes \(SQLITE_LIMIT_LENGTH\), got \d+; look keys up in the table itself", "SELECT filter FROM f")
                if kind == "counting":
                    db.execute("DELETE FROM f WHERE key = 'key 7'")
                    self.assertAbsent(db, ["key 7"])

    def test_halving(self):
        db = self.connect()
        db.execute(f"CREATE VIRTUAL TABLE f USING bloom(cells={1 << 34}, hashes=3)")
        self.add(db, range(50))
        db.execute("INSERT INTO f(f) VALUES ('halve')")
        self.assertPresent(db, range(50))
        self.assertAbsent(db, range(50, 100))
        self.assertEqual(one(db, "SELECT json_extract(info, '$.cells') FROM f"), 1 << 33)
        self.assertEqual(one(db, "SELECT json_extract(info, '$.fill') * 8589934592 FROM f"), 150)


if __name__ == "__main__":
    unittest.main()
