"""Damaged shadow tables, and tables that replace others: errors, and never a lost key.

    /usr/bin/python3 tests/table/damage_test.py EXTENSION [unittest options]
"""

import itertools
import sqlite3
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.case import TableCase  # noqa: E402
from support.host import EXTENSION, one  # noqa: E402


class Damage(TableCase):
    """Damaged shadow tables: each statement reports the damage. None answers "absent" for a key that was added."""

    KEYS = list(range(300))
    made = 0

    def damaged(self, sql, options="capacity=20000, kind=counting"):
        self.made += 1
        path = f"{self.path}{self.made}"
        db = self.connect(path)
        db.execute(f"CREATE VIRTUAL TABLE f USING bloom({options})")
        self.add(db, self.KEYS)
        db.close()
        raw = sqlite3.connect(path, isolation_level=None)
        raw.executescript(sql)
        raw.close()
        return self.connect(path)

    STATEMENTS = (
        *(f"SELECT key FROM f WHERE key = {key}" for key in range(0, 300, 30)),
        "INSERT INTO f(key) VALUES (1), (2), (3), ('new'), ('newer'), ('newest')",
        "DELETE FROM f WHERE key = 7",
        "SELECT filter FROM f",
        "SELECT info FROM f",
        "INSERT INTO f(filter) VALUES (bloom_create(20000, 0.01, 'counting'))",
        "INSERT INTO f(f) VALUES ('halve')",
    )

    # Name of the damage, SQL that does it, the error.
    CASES = (
        (
            "no rows in the config",
            "DELETE FROM f_config",
            "the config has no version",
        ),
        (
            "no header",
            "DELETE FROM f_config WHERE k = 'header'",
            "the config has no header",
        ),
        (
            "a string for every value of the config",
            "UPDATE f_config SET v = 'text'",
            "the config has no version",
        ),
        (
            "unknown version of the table",
            "UPDATE f_config SET v = 9 WHERE k = 'version'",
            "the table is of version 9, which this build does not know",
        ),
        (
            "header too short",
            "UPDATE f_config SET v = x'00' WHERE k = 'header'",
            r"the header in the config is damaged \(a header has 64 bytes, got 1\)",
        ),
        (
            "too many layers",
            "UPDATE f_config SET v = (WITH n(i, h) AS (SELECT 1, v UNION ALL SELECT i + 1, CAST(h || v AS BLOB) FROM n WHERE i < 65) SELECT max(h) FROM n) WHERE k = 'header'",
            "the config has more layers than 64",
        ),
        (
            "header of zeros",
            "UPDATE f_config SET v = zeroblob(64) WHERE k = 'header'",
            r"the header in the config is damaged \(bad magic\)",
        ),
        (
            "unknown version of a filter",
            "UPDATE f_config SET v = CAST(substr(v, 1, 4) || x'02' || substr(v, 6) AS BLOB) WHERE k = 'header'",
            r"the header in the config is damaged \(unknown version 2\)",
        ),
        (
            "changed byte in the header",
            "UPDATE f_config SET v = CAST(substr(v, 1, 10) || x'ff' || substr(v, 12) AS BLOB) WHERE k = 'header'",
            "checksum does not match",
        ),
        (
            "no config table",
            "DROP TABLE f_config",
            "no such table: main.f_config",
        ),
        (
            "renamed column of the config",
            "ALTER TABLE f_config RENAME COLUMN v TO w",
            "no such column: v",
        ),
        (
            "no data table",
            "DROP TABLE f_data",
            "the table f_data is missing or has changed",
        ),
        (
            "renamed column of the data",
            "ALTER TABLE f_data RENAME COLUMN chunk TO x",
            "the table f_data is missing or has changed",
        ),
        (
            "NULL for every chunk",
            "UPDATE f_data SET chunk = NULL",
            r"chunk \d+ must be a blob",
        ),
        (
            "an integer for every chunk",
            "UPDATE f_data SET chunk = 1",
            r"chunk \d+ must be a blob",
        ),
        (
            "a string for every chunk",
            "UPDATE f_data SET chunk = CAST(chunk AS TEXT)",
            r"chunk \d+ must be a blob",
        ),
        (
            "empty chunks",
            "UPDATE f_data SET chunk = x''",
            r"chunk \d+ must have 3968 bytes, has 0",
        ),
        (
            "chunks one byte too short",
            "UPDATE f_data SET chunk = substr(chunk, 1, 3967)",
            r"chunk \d+ must have 3968 bytes, has 3967",
        ),
        (
            "chunks one byte too long",
            "UPDATE f_data SET chunk = CAST(chunk || x'00' AS BLOB)",
            r"chunk \d+ must have 3968 bytes, has 3969",
        ),
        (
            "chunks of a megabyte",
            "UPDATE f_data SET chunk = zeroblob(1000000)",
            r"chunk \d+ must have 3968 bytes, has 1000000",
        ),
        (
            "data that is a view of the table itself",
            "DROP TABLE f_data; CREATE VIEW f_data AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 24) SELECT i AS id, (SELECT key FROM f WHERE key = 1) AS chunk FROM n",
            r"no such table: (main\.)?f|the table f_\w+ is missing or has changed",
        ),
        (
            "config that is a view of the table itself",
            "DROP TABLE f_config; CREATE VIEW f_config AS SELECT 'version' AS k, key AS v FROM f WHERE key = 1",
            r"no such table: (main\.)?f|the table f_\w+ is missing or has changed",
        ),
    )

    def test_every_statement_reports_the_damage(self):
        for name, sql, text in self.CASES:
            with self.subTest(name):
                db = self.damaged(sql)
                for statement in (*self.STATEMENTS, "INSERT INTO f(f) VALUES ('integrity-check')"):
                    self.assertFails(db, text, statement)
                for view in ("f_data", "f_config"):
                    if f"VIEW {view}" in sql:
                        db.execute(f"DROP VIEW {view}")
                db.execute("DROP TABLE f")
                self.assertEqual(one(db, "SELECT count(*) FROM sqlite_master"), 0)

    def test_a_config_and_a_row_log_that_do_not_fit_the_options(self):
        removal = "UPDATE f_config SET v = v + 16 WHERE k = 'version'; INSERT INTO f_rowlog VALUES (1, zeroblob(17))"
        db = self.damaged(removal, "capacity=20000")
        for statement in ("SELECT key FROM f WHERE key = 30", "INSERT INTO f(key) VALUES ('new')", "INSERT INTO f(f) VALUES ('integrity-check')", "SELECT info FROM f"):
            self.assertFails(db, "the row log lacks rows, or has rows of another form", statement)
        db = self.damaged("", "capacity=20000")
        db.execute("CREATE VIRTUAL TABLE large USING bloom(capacity=10000000000)")
        db.execute("UPDATE f_config SET v = (SELECT v FROM large_config WHERE k = 'header') || v WHERE k = 'header'")
        db.execute("UPDATE f_config SET v = CAST(v AS BLOB) WHERE k = 'header'")
        db.execute("INSERT INTO f_config VALUES ('rows 1', 0)")
        db = self.connect(f"{self.path}{self.made}")
        for statement in ("SELECT key FROM f WHERE key = 30", "INSERT INTO f(filter) VALUES (bloom_add(bloom_create(20000), 'x'))"):
            self.assertFails(db, "the config has layers, but the table does not grow", statement)

    def test_a_config_of_another_kind_than_the_options(self):
        db = self.connect()
        db.execute("CREATE TABLE s(k)")
        db.execute("CREATE VIRTUAL TABLE f USING bloom(source=s, column=k, kind=counting, capacity=1000, writers=extension)")
        db.execute("CREATE VIRTUAL TABLE g USING bloom(capacity=1000)")
        db.execute("UPDATE f_config SET v = (SELECT v FROM g_config WHERE k = 'header') WHERE k = 'header'")
        db = self.connect()
        db.execute("INSERT INTO s VALUES ('a'), ('b')")
        db.execute("DELETE FROM s WHERE k = 'a'")
        self.assertEqual(db.execute("SELECT key FROM f WHERE key = 'b'").fetchall(), [("b",)])

    def test_filters_whose_shadow_tables_are_views_of_each_other_do_not_overflow_the_stack(self):
        db = self.connect()
        db.execute("CREATE VIRTUAL TABLE f0 USING bloom(capacity=100)")
        for i in range(1, 20):
            db.execute(f"CREATE VIRTUAL TABLE f{i} USING bloom(capacity=100)")
            db.execute(f"ALTER TABLE f{i}_config RENAME TO c{i}")
            db.execute(f"CREATE VIEW f{i}_config AS SELECT k, v FROM c{i} WHERE (SELECT count(*) FROM f{i - 1} WHERE key = 1) >= 0")
        for i in (1, 19):
            self.assertFails(self.connect(), f"no such table: (main\\.)?f{i - 1}", f"SELECT key FROM f{i} WHERE key = 1")

    def test_a_table_with_the_name_of_a_dropped_one_has_its_own_keys(self):
        create = "CREATE VIRTUAL TABLE f USING bloom(capacity=200)"
        other = "CREATE VIRTUAL TABLE g USING bloom(capacity=200)"
        old, kept, of_other = (f"INSERT INTO {table}(key) VALUES ('{key}')" for table, key in (("f", "old"), ("f", "kept"), ("g", "other")))
        reset = "PRAGMA writable_schema = RESET"
        ways = {
            "dropped and made again": (create, "BEGIN", old, reset, old, "DROP TABLE f", create),
            "rolled back and made again": ("BEGIN", "SAVEPOINT a", create, old, reset, old, "ROLLBACK TO a", create),
            "dropped, another renamed": (create, other, "BEGIN", of_other, reset, old, "DROP TABLE f", of_other, "ALTER TABLE g RENAME TO f"),
            "rolled back, another renamed": (other, "BEGIN", of_other, reset, "SAVEPOINT a", create, old, reset, old, "ROLLBACK TO a", of_other, "ALTER TABLE g RENAME TO f"),
        }
        for (name, way), between, end in itertools.product(ways.items(), ((), (reset,), ("SAVEPOINT z",)), ((), ("SAVEPOINT y",), ("COMMIT",))):
            with self.subTest(name, between=between, end=end):
                db = self.connect(":memory:")
                for statement in (*way, *between, "INSERT INTO f(key) VALUES ('first')", reset, kept, reset, *end):
                    db.execute(statement)
                self.assertPresent(db, ["first", "kept"])
                if "renamed" in name:
                    self.assertPresent(db, ["other"])

    def test_loading_the_extension_again_in_a_transaction_loses_nothing(self):
        db = self.connect()
        db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=1000)")
        db.execute("BEGIN")
        db.execute("INSERT INTO f(key) VALUES ('before')")
        db.load_extension(EXTENSION)
        db.execute("SELECT load_extension(?)", (EXTENSION,)).fetchall()
        db.execute("PRAGMA writable_schema = RESET")
        self.assertPresent(db, ["before"])
        db.execute("INSERT INTO f(key) VALUES ('after')")
        db.execute("COMMIT")
        self.assertPresent(self.connect(), ["before", "after"])

    def test_a_trigger_that_rejects_a_chunk_makes_the_insert_fail(self):
        db = self.damaged("CREATE TRIGGER t BEFORE INSERT ON f_data BEGIN SELECT RAISE(ABORT, 'no'); END")
        db.execute("INSERT INTO f(f) VALUES ('clear')")
        for text, trigger in (("f: no", "ABORT, 'no'"), ("f: no", "FAIL, 'no'"), (r"f: chunk \d+ is there already", "IGNORE")):
            db.execute("DROP TRIGGER t")
            db.execute(f"CREATE TRIGGER t BEFORE INSERT ON f_data BEGIN SELECT RAISE({trigger}); END")
            for rule in ("", "OR IGNORE"):
                self.assertFails(db, text, f"INSERT {rule} INTO f(key) VALUES ('x')")
                self.assertAbsent(db, ["x"])

    def test_a_command_that_a_trigger_stops_halfway_loses_no_key(self):
        """Because of the trigger, the statement that the command runs has a savepoint of its own, and only that one is undone."""
        for options, command in (
            ("capacity=20000", "clear"),
            ("capacity=20000", "halve"),
            ("capacity=20000, kind=counting", "halve"),
            ("growth=on", "clear"),
            ("capacity=20000, generations=2", "rotate"),
        ):
            for table, begin in itertools.product(("f_config", "f_data"), ("BEGIN", "SAVEPOINT a")):
                with self.subTest(command, options=options, table=table, begin=begin):
                    event = "INSERT" if table == "f_config" else "DELETE"
                    db = self.damaged(f"CREATE TRIGGER t BEFORE {event} ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END", options)
                    if command == "rotate":
                        db.execute("DROP TRIGGER t")
                        db.execute("INSERT INTO f(f) VALUES ('rotate')")
                        db.execute(f"CREATE TRIGGER t BEFORE {event} ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END")
                    # An earlier rollback does not undo the command.
                    for statement in ("BEGIN", f"INSERT INTO f(key) VALUES ('{self.KEYS[0]}')", "ROLLBACK", begin):
                        db.execute(statement)
                    self.assertFails(db, "f: no", f"INSERT INTO f(f) VALUES ('{command}')")
                    self.assertPresent(db, self.KEYS)
                    if db.in_transaction:
                        db.execute("COMMIT")
                    self.assertPresent(self.connect(f"{self.path}{self.made}"), self.KEYS)

    def test_a_key_can_be_added_again_after_its_chunk_could_not_be_inserted(self):
        db = self.connect()
        db.execute("CREATE VIRTUAL TABLE f USING bloom(cells=40000, hashes=1)")
        db.execute("BEGIN")
        deny = sqlite3.SQLITE_INSERT, "f_data"
        db.set_authorizer(lambda action, table, *_: sqlite3.SQLITE_DENY if (action, table) == deny else sqlite3.SQLITE_OK)
        self.assertFails(db, "not authorized", "INSERT INTO f(key) VALUES ('x')")
        db.set_authorizer(None)
        self.assertAbsent(db, ["x"])
        db.execute("INSERT INTO f(key) VALUES ('x')")
        db.execute("COMMIT")
        self.assertPresent(self.connect(), ["x"])

    def test_chunks_that_changed_in_the_same_transaction_are_checked(self):
        for size in (0, 1000, 5000):
            path = f"{self.path}{size}"
            db = self.connect(path)
            db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=20000)")
            self.add(db, self.KEYS)
            db.execute("BEGIN")
            db.execute("UPDATE f_data SET chunk = zeroblob(?)", (size,))
            self.assertFails(db, rf"f: chunk \d+ must have 3968 bytes, has {size}", "INSERT INTO f(key) VALUES ('new')")
            self.assertFails(db, rf"f: chunk \d+ must have 3968 bytes, has {size}", "SELECT 1 FROM f WHERE key = 'new'")
            db.execute("ROLLBACK")
            self.assertPresent(db, self.KEYS)

    def test_integrity_check_finds_damage_that_lookups_do_not(self):
        damages = {
            "INSERT INTO f_data VALUES (-1, zeroblob(3968))": "must not be there: the filter has 26",
            "INSERT INTO f_data VALUES (26, zeroblob(3968))": "chunk 26 must not be there: the filter has 26",
            "INSERT INTO f_data VALUES (9223372036854775807, zeroblob(3968))": "chunk 9223372036854775807 must not be there",
            "ALTER TABLE f_data RENAME TO d; CREATE TABLE f_data(id, chunk); INSERT INTO f_data SELECT * FROM d UNION ALL SELECT 'text', zeroblob(3968); DROP TABLE d": "must not be there: the filter has 26",
            "UPDATE f_data SET chunk = CAST(x'01' || substr(chunk, 2) AS BLOB) WHERE id = 3 AND hex(chunk) LIKE '00%'": "the counters of block 3 do not add up",
        }
        for sql, text in damages.items():
            with self.subTest(sql):
                db = self.damaged(sql)
                self.assertPresent(db, self.KEYS)
                self.assertFails(db, text, "INSERT INTO f(f) VALUES ('integrity-check')")
                if sqlite3.sqlite_version_info >= (3, 44):
                    self.assertRegex(one(db, "PRAGMA integrity_check"), text)
        db = self.damaged("UPDATE f_data SET chunk = CAST(substr(chunk, 1, length(chunk) - 1) || x'ff' AS BLOB) WHERE id = 1", "cells=40001, hashes=4")
        self.assertPresent(db, self.KEYS)
        self.assertFails(db, "bits after the last cell are set", "INSERT INTO f(f) VALUES ('integrity-check')")

    # All rows of a small layer exist from its first key on.
    SMALL = (
        "capacity=20000, kind=counting",
        "capacity=100",
        "cells=40001, hashes=4",
        "capacity=1000, growth=on, fpr=0.0001",
        "capacity=2000, generations=3",
        "capacity=150000, cache=4096",
    )
    LARGE = "capacity=1000000"

    def with_rows_deleted(self, options, where):
        self.made += 1
        db = self.connect(f"{self.path}{self.made}")
        db.execute(f"CREATE VIRTUAL TABLE f USING bloom({options})")
        if "generations" in options:
            self.add(db, self.KEYS[:150])
            db.execute("INSERT INTO f(f) VALUES ('rotate')")
        self.add(db, self.KEYS[150:] if "generations" in options else self.KEYS)
        if "growth" in options:
            self.add(db, range(300, 6000))
            self.assertGreater(one(db, "SELECT layers FROM f"), 1)
        other = sqlite3.connect(f"{self.path}{self.made}", isolation_level=None)
        self.assertGreater(other.execute(f"DELETE FROM f_data WHERE {where}").rowcount, 0)
        other.close()
        return db

    READERS_OF_ALL = (
        "INSERT INTO f(f) VALUES ('integrity-check')",
        "SELECT info FROM f",
        "INSERT INTO f(f) VALUES ('halve')",
        "INSERT INTO f(f, fpr) VALUES ('fold', 0.5)",
        "SELECT filter FROM f",
        "INSERT INTO f(filter) SELECT bloom_create(20000, 0.01, 'counting')",
    )

    def test_a_deleted_row_is_noticed_by_every_lookup_that_needs_it(self):
        for options in self.SMALL:
            ids = [row[0] for row in self.with_rows_deleted(options, "id = 0").execute("SELECT id FROM f_data")]
            for where in ["1", "id = 0", *(f"id = {i}" for i in ids[:: len(ids) // 4 + 1])]:
                with self.subTest(options, where=where):
                    db = self.with_rows_deleted(options, where)
                    for reader in (db, self.connect(f"{self.path}{self.made}")):
                        noticed = 0
                        for key in self.KEYS:
                            try:
                                self.assertEqual(reader.execute("SELECT key FROM f WHERE key = ?", (key,)).fetchall(), [(key,)])
                            except sqlite3.DatabaseError as error:
                                noticed += 1
                                self.assertRegex(str(error), r"^f: chunk \d+ is missing: another program has deleted rows \(restore a backup")
                        if where == "1" or ("growth" not in options and len(ids) < 30):
                            self.assertGreater(noticed, 0)
                    self.assertFails(db, r"f: the filter lacks \d+ of \d+ chunks: another program has deleted rows", self.READERS_OF_ALL[0])
                    if where == "1" and "growth" not in options:
                        self.assertFails(db, r"f: chunk \d+ is missing", "INSERT INTO f(key) VALUES ('new')")

    def test_missing_rows_are_noticed_by_everything_that_reads_all_rows(self):
        """In a table too large for all rows to be there: a row that was never made is not damage."""
        for options in (self.LARGE, "capacity=20000, kind=counting"):
            for statement in self.READERS_OF_ALL[: 6 if "counting" in options else 5]:
                db = self.with_rows_deleted(options, "id = (SELECT max(id) FROM f_data)")
                self.assertFails(db, r"f: the filter lacks 1 of \d+ chunks: another program has deleted rows", statement)
        db = self.connect(f"{self.path}large")
        db.execute(f"CREATE VIRTUAL TABLE f USING bloom({self.LARGE})")
        for key in range(500):
            for sql in ("SELECT key FROM f WHERE key = ?", "INSERT INTO f(key) VALUES (?)"):
                db.execute(sql, (key,)).fetchall()
            rows, counted = db.execute("SELECT (SELECT count(*) FROM f_data), sum(v) FROM f_config WHERE k GLOB 'rows *'").fetchone()
            self.assertEqual(rows, counted)
        self.assertEqual(rows, -(-one(db, "SELECT bytes - 64 FROM f") // 3968))  # all of them by now
        db.execute("DELETE FROM f_data WHERE id % 2")
        reader = self.connect(f"{self.path}large")
        answers = []
        for key in range(500):
            try:
                answers += reader.execute("SELECT key FROM f WHERE key = ?", (key,)).fetchall()
            except sqlite3.DatabaseError:
                answers.append(None)
        self.assertEqual(len(answers), 500)
        self.assertIn(None, answers)

    def test_a_table_with_missing_rows_can_be_emptied_and_filled_again(self):
        for options in self.SMALL:
            db = self.with_rows_deleted(options, "id % 2 = 0")
            db.execute("INSERT INTO f(f) VALUES ('clear')")
            self.assertAbsent(db, self.KEYS)
            self.add(db, self.KEYS)
            self.assertPresent(db, self.KEYS)
            db.execute("INSERT INTO f(f) VALUES ('integrity-check')")
        db.execute("CREATE TABLE s(k TEXT)")
        db.execute("INSERT INTO s VALUES ('a'), ('b')")
        db.execute("CREATE VIRTUAL TABLE g USING bloom(source=s, column=k)")
        db.execute("DELETE FROM g_data")
        self.assertFails(db, "chunk 0 is missing", "SELECT key FROM g WHERE key = 'a'")
        db.execute("INSERT INTO g(g) VALUES ('rebuild')")
        self.assertPresent(db, ["a", "b"], "g")
        db.execute("INSERT INTO g(g) VALUES ('integrity-check')")

    def test_rows_are_counted_through_commands_and_rollbacks(self):
        for options in (*self.SMALL, self.LARGE):
            db = self.with_rows_deleted(options, "id = 0")
            commands = ["INSERT INTO f(f) VALUES ('clear')", "INSERT INTO f(key) VALUES ('a')", "INSERT INTO f(key) VALUES ('b')"]
            if "growth" not in options and "generations" not in options:
                commands += ["INSERT INTO f(f) VALUES ('halve')"] if "cells" not in options else []
                commands += ["INSERT INTO f(f, fpr) VALUES ('fold', 0.2)", "INSERT INTO f(filter) SELECT filter FROM f"]
            if "generations" in options:
                commands += ["INSERT INTO f(f) VALUES ('rotate')"] * 4 + ["INSERT INTO f(filter) SELECT bloom_create(1)"]
            for undo in ("ROLLBACK TO x", "ROLLBACK", None):
                for command in commands:
                    if undo:
                        db.execute("BEGIN")
                        db.execute("SAVEPOINT x")
                    db.execute(command)
                    self.assertEqual(*db.execute("SELECT (SELECT count(*) FROM f_data), sum(v) FROM f_config WHERE k GLOB 'rows *'").fetchone(), command)
                    if undo:
                        db.execute(undo)
                        if db.in_transaction:
                            db.execute("COMMIT")
                        self.assertFails(db, r"the filter lacks \d+ of \d+ chunks", self.READERS_OF_ALL[0])
                        break  # the others need a table without damage
                    db.execute(self.READERS_OF_ALL[0])

    def test_tables_of_version_1_0_do_not_count_rows_until_they_are_written_again(self):
        for change in ("INSERT INTO f(f) VALUES ('clear')", "INSERT INTO f(f) VALUES ('halve')", "INSERT INTO f(f, fpr) VALUES ('fold', 0.2)"):
            db = self.damaged("UPDATE f_config SET v = 1 WHERE k = 'version'; DELETE FROM f_config WHERE k = 'rows 0'", self.LARGE)
            self.assertPresent(db, self.KEYS)
            self.add(db, ["more"])
            self.assertPresent(db, ["more"])
            db.execute(self.READERS_OF_ALL[0])
            self.assertEqual(db.execute("SELECT k, v FROM f_config WHERE k IN ('version', 'rows 0')").fetchall(), [("version", 1)])
            db.execute(change)
            rows = one(db, "SELECT count(*) FROM f_data")
            self.assertEqual(db.execute("SELECT k, v FROM f_config WHERE k IN ('version', 'rows 0') ORDER BY k").fetchall(), [("rows 0", rows), ("version", 4)])
            self.assertEqual(len(self.present(db, *self.KEYS)) > 100, "clear" not in change)
            db.execute(self.READERS_OF_ALL[0])

    def test_a_count_that_is_missing_is_damage(self):
        db = self.damaged("DELETE FROM f_config WHERE k = 'rows 0'")
        self.assertFails(db, "the config does not say how many chunks each layer has", "SELECT 1 FROM f WHERE key = 1")

    def test_integrity_check_accepts_undamaged_tables(self):
        for options in ("capacity=20000, kind=counting", "capacity=20000", "cells=40001, hashes=4", "cells=30002, hashes=3, block=15001, kind=counting"):
            db = self.damaged("SELECT 1", options)
            db.execute("INSERT INTO f(f) VALUES ('integrity-check')")
            self.assertEqual(one(db, "PRAGMA integrity_check"), "ok")
        # Counters of a merged filter need not be sums of keys.
        db = self.damaged("SELECT 1")
        n = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
        built, other = (one(db, f"{n} SELECT bloom_build(i + ?, 20000, 0.01, 'counting') FROM n", first) for first in (0, 3000))
        db.execute("INSERT INTO f(filter) VALUES (bloom_intersect(?, ?))", (built, other))
        db.execute("INSERT INTO f(f) VALUES ('integrity-check')")
        db.execute("INSERT INTO f(f) VALUES ('halve')")
        db.execute("INSERT INTO f(f) VALUES ('integrity-check')")
        # The counters of an empty filter are sums again.
        db.execute("INSERT INTO f(f) VALUES ('clear')")
        self.assertEqual(one(db, "SELECT count(*) FROM f_config WHERE k = 'merged'"), 0)

    def test_the_error_code_is_sqlite_corrupt_vtab(self):
        if sys.version_info < (3, 11):
            self.skipTest("Python 3.11 and later tell the code")
        db = self.damaged("UPDATE f_data SET chunk = x''")
        with self.assertRaises(sqlite3.DatabaseError) as caught:
            db.execute("SELECT key FROM f WHERE key = 1").fetchall()
        self.assertEqual(caught.exception.sqlite_errorcode, 267)  # SQLITE_CORRUPT_VTAB

    def test_a_failed_command_changes_nothing(self):
        db = self.damaged("UPDATE f_data SET chunk = x'' WHERE id = (SELECT max(id) FROM f_data)")
        rows = "SELECT id, chunk FROM f_data UNION ALL SELECT k, v FROM f_config"
        before = db.execute(rows).fetchall()
        db.execute("BEGIN")
        for sql in ("INSERT INTO f(f) VALUES ('halve')", "INSERT INTO f(filter) VALUES (bloom_add(bloom_create(20000, 0.01, 'counting'), 1, 2, 3, 4, 5, 6, 7))"):
            self.assertFails(db, "must have 3968 bytes", sql)
        db.execute("COMMIT")
        self.assertEqual(db.execute(rows).fetchall(), before)
        db.execute("INSERT INTO f(f) VALUES ('clear')")
        db.execute("INSERT INTO f(f) VALUES ('integrity-check')")
        self.assertAbsent(db, self.KEYS)


if __name__ == "__main__":
    unittest.main()
