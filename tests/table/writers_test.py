"""Bloom tables with writers=any: programs without the extension write to the source.

    /usr/bin/python3 tests/table/writers_test.py EXTENSION [unittest options]

The foreign writers are connections of Python and the sqlite3 shell, both without the extension.
tests/table/source_test.py has what both values of the option `writers` share, and
tests/table/writers_model_test.py has random statements.
"""

import ctypes
import itertools
import os
import random
import sqlite3
import subprocess
import sys
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support import raw  # noqa: E402
from support.case import InFolder  # noqa: E402
from support.host import EXTENSION, one  # noqa: E402
from support.raw import BUSY, DBCONFIG_DEFENSIVE, OK, Failure, Raw  # noqa: E402

KINDS = {"standard": "capacity=100", "growing": "growth=on, capacity=32", "counting": "kind=counting, capacity=1000"}
TABLE = "CREATE TABLE t(id INTEGER PRIMARY KEY, k, x)"
MERGE = "INSERT INTO f(f) VALUES ('merge')"
CHECK = "INSERT INTO f(f) VALUES ('integrity-check')"
REBUILD = "INSERT INTO f(f) VALUES ('rebuild')"


class WritersCase(InFolder):
    def following(self, options="", column="k", create=TABLE, rows=()):
        """A connection to a new file."""
        self.files = getattr(self, "files", 0) + 1
        self.path = os.path.join(os.path.dirname(self.path), f"db{self.files}")
        db = self.connect()
        db.executescript(create)
        db.executemany("INSERT INTO t(k) VALUES (?)", [(key,) for key in rows])
        db.execute(f"CREATE VIRTUAL TABLE f USING bloom(source=t, column={column}{', ' + options if options else ''})")
        return db

    def plain(self, path=None, **options):
        """A connection without the extension."""
        db = sqlite3.connect(path or self.path, isolation_level=None, timeout=0, **options)
        self.addCleanup(db.close)
        db.execute("PRAGMA synchronous = OFF")
        return db

    def raw(self, path=None, extension=EXTENSION):
        db = Raw(path or self.path, extension)
        self.addCleanup(db.close)
        return db

    def shell(self, script, path=None, *options):
        """The sqlite3 shell with its own library, whichever this process has."""
        environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
        done = subprocess.run(["sqlite3", *options, path or self.path], input=script, capture_output=True, text=True, env=environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def lost(self, db, key="k", source="t", table="f"):
        """The keys of the source that the filter calls absent, found in a join and by integrity-check."""
        joined = [
            row[0]
            for row in db.execute(
                f"SELECT {key} FROM {source} LEFT JOIN {table} ON {table}.key = {key} WHERE {key} IS NOT NULL AND {table}.key IS NULL"
            )
        ]
        single = [
            row[0]
            for row in db.execute(f"SELECT {key} FROM {source} WHERE {key} IS NOT NULL").fetchall()
            if not db.execute(f"SELECT 1 FROM {table} WHERE key = ?", row).fetchone()
        ]
        self.assertEqual(joined, single)
        return single

    def assertFollows(self, db, key="k", source="t", table="f"):
        self.assertEqual(self.lost(db, key, source, table), [])
        db.execute(f"INSERT INTO {table}({table}) VALUES ('integrity-check')")

    def assertFollowsBeforeAndAfterMerge(self, db, **names):
        self.assertFollows(db, **names)
        table = names.get("table", "f")
        db.execute(f"INSERT INTO {table}({table}) VALUES ('merge')")
        self.assertEqual(self.info(db, table)["pending"], 0)
        self.assertFollows(db, **names)

    def rowids(self, db):
        return [row[0] for row in db.execute("SELECT id FROM f_pending ORDER BY id")]


class Foreign(WritersCase):
    """Programs without the extension."""

    def test_python_and_the_shell_write(self):
        for kind, options in KINDS.items():
            with self.subTest(kind):
                db, plain = self.following(options, rows=("a", "b")), self.plain()
                plain.execute("INSERT INTO t(k) VALUES ('python')")
                self.assertEqual(self.present(db, "python", "shell", "no"), ["python"])
                self.shell("INSERT INTO t(k) VALUES ('shell'); UPDATE t SET k = 'changed' WHERE k = 'a'; DELETE FROM t WHERE k = 'b';")
                self.assertEqual(self.present(db, "python", "shell", "changed", "no"), ["python", "shell", "changed"])
                self.assertFollowsBeforeAndAfterMerge(db)
                self.assertEqual(self.present(db, "a", "b"), [] if kind == "counting" else ["a", "b"])

    def test_the_schema_changes_without_the_extension(self):
        db, plain = self.following(rows=("a",)), self.plain()
        plain.executescript("""
            CREATE TABLE other(x); ALTER TABLE other RENAME TO another; ALTER TABLE another RENAME COLUMN x TO y;
            ALTER TABLE t RENAME TO u; ALTER TABLE u RENAME COLUMN k TO l; ALTER TABLE u ADD COLUMN z DEFAULT 1;
            INSERT INTO u(l) VALUES ('b'); REINDEX; ANALYZE; VACUUM; INSERT INTO u(l) VALUES ('c'); UPDATE u SET l = 'd' WHERE l = 'a';
        """)
        self.assertEqual(plain.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        self.assertFollowsBeforeAndAfterMerge(db, key="l", source="u")
        self.assertEqual(self.info(db)["source"], "u")

    def test_a_dump_without_the_extension_restores_everything(self):
        for kind, options in KINDS.items():
            with self.subTest(kind):
                db = self.following(options, rows=("a", 1, 2.5))
                self.plain().execute("INSERT INTO t(k) VALUES ('pending'), (x'00ff'), (NULL), ('1')")
                copy = f"{self.path}-{kind}"
                self.shell(self.shell(".dump"), copy)
                self.shell("INSERT INTO t(k) VALUES ('after');", copy)
                restored = self.connect(copy)
                self.assertEqual(self.info(restored)["pending"], 4)
                self.assertFollowsBeforeAndAfterMerge(restored)

    def test_vacuum_into_and_backup_copy_what_is_pending(self):
        self.following(rows=("a",))
        plain = self.plain()
        plain.execute("INSERT INTO t(k) VALUES ('pending')")
        plain.execute(f"VACUUM INTO '{self.path}-vacuum'")
        copy = self.plain(self.path + "-backup")
        plain.backup(copy)
        for path in (self.path + "-vacuum", self.path + "-backup"):
            self.plain(path).execute("INSERT INTO t(k) VALUES ('after')")
            self.assertFollowsBeforeAndAfterMerge(self.connect(path))

    def test_attached_sources(self):
        db = self.connect(self.path + "-main")
        db.execute(f"ATTACH '{self.path}' AS a")
        db.execute("CREATE TABLE a.t(k)")
        db.execute("CREATE TABLE t(k)")
        db.execute("CREATE VIRTUAL TABLE a.f USING bloom(source=t, column=k)")
        plain = self.plain()
        plain.execute("INSERT INTO t VALUES ('direct')")
        plain.execute(f"ATTACH '{self.path}-main' AS other")
        plain.execute("INSERT INTO main.t VALUES ('beside')")
        other = self.plain(self.path + "-main")
        other.execute(f"ATTACH '{self.path}' AS b")
        other.execute("INSERT INTO b.t VALUES ('attached')")
        self.assertEqual(self.present(db, "direct", "beside", "attached", "no", table="a.f"), ["direct", "beside", "attached"])
        db.execute("INSERT INTO a.f(f) VALUES ('merge')")
        self.assertEqual(self.present(db, "direct", "beside", "attached", "no", table="a.f"), ["direct", "beside", "attached"])

    def test_temporary_sources(self):
        db = self.connect()
        db.executescript("CREATE TEMP TABLE t(k); CREATE TABLE main.f_pending(x); CREATE VIRTUAL TABLE temp.f USING bloom(source=t, column=k)")
        db.execute("INSERT INTO t VALUES ('a')")
        self.assertFollowsBeforeAndAfterMerge(db)
        db.execute("DROP TABLE temp.f")
        self.assertEqual(db.execute("SELECT name FROM sqlite_temp_master").fetchall(), [("t",)])
        self.assertEqual(db.execute("SELECT count(*) FROM f_pending").fetchone(), (0,))

    def test_functions_that_replace_random_do_no_harm(self):
        db, plain = self.following(), self.plain()
        for connection in (db, plain):
            connection.create_function("random", 0, lambda: 0.5)
        db.execute("BEGIN")
        db.execute("INSERT INTO t(k) VALUES ('a')")
        self.assertEqual(self.present(db, "a"), ["a"])
        db.execute("ROLLBACK")
        plain.execute("INSERT INTO t(k) VALUES ('b')")
        self.assertEqual(self.present(db, "a", "b"), ["b"])

    def test_trusted_schema_and_utf16(self):
        db = self.connect()
        db.execute("PRAGMA encoding = 'UTF-16le'")
        db.executescript(TABLE + "; CREATE VIRTUAL TABLE f USING bloom(source=t, column=k)")
        plain = self.plain()
        plain.execute("PRAGMA trusted_schema = OFF")
        plain.executemany("INSERT INTO t(k) VALUES (?)", [("é",), ("\U0001f600",), ("a\0b",), ("",), (b"",), (-0.0,), (1 << 62,)])
        self.assertFollowsBeforeAndAfterMerge(db)


class Rollbacks(WritersCase):
    def test_rowids_that_other_keys_get_after_a_rollback(self):
        """The reader looked the keys up, and was not told of the rollback: it wrote nothing to the bloom table."""
        for kind, back in itertools.product(KINDS, ("ROLLBACK", "ROLLBACK TO s", "fails")):
            with self.subTest(f"{kind} {back}"):
                db = self.following(KINDS[kind])
                db.execute("BEGIN")
                db.execute("SAVEPOINT s")
                for key in ("a", "b", "c"):
                    db.execute("INSERT INTO t(k) VALUES (?)", (key,))
                self.assertEqual(self.present(db, "a", "b", "c", "d"), ["a", "b", "c"])
                before = self.rowids(db)
                if back == "fails":
                    self.assertFails(db, "UNIQUE", "INSERT OR ROLLBACK INTO t(id, k) VALUES (1, 'no')")
                else:
                    db.execute(back)
                for key in ("d", "e", "f"):
                    db.execute("INSERT INTO t(k) VALUES (?)", (key,))
                self.assertEqual(self.rowids(db), before)
                self.assertEqual(self.present(db, "d", "e", "f"), ["d", "e", "f"])
                if db.in_transaction:
                    db.execute("COMMIT")
                self.assertFollowsBeforeAndAfterMerge(db)
                self.assertEqual(self.present(db, "a", "b", "c"), [])

    def test_rowids_of_a_statement_that_failed_halfway(self):
        db = self.following()
        seen = []
        db.create_function("look", 0, lambda: seen.append(self.present(db, "a", "b", "c")))
        db.execute("CREATE TRIGGER looks AFTER INSERT ON t BEGIN SELECT look(); END")
        self.assertFails(db, "UNIQUE", "INSERT INTO t(id, k) VALUES (1, 'a'), (2, 'b'), (2, 'c')")
        self.assertEqual(seen, [["a"], ["a", "b"]])
        db.execute("DROP TRIGGER looks")
        db.execute("INSERT INTO t(k) VALUES ('b'), ('c'), ('d')")
        self.assertEqual(self.present(db, "a", "b", "c", "d"), ["b", "c", "d"])

    def test_a_merge_that_is_rolled_back(self):
        for kind, back in itertools.product(KINDS, ("ROLLBACK", "ROLLBACK TO s")):
            with self.subTest(f"{kind} {back}"):
                db, other = self.following(KINDS[kind], rows=("old",)), self.connect()
                self.plain().execute("INSERT INTO t(k) VALUES ('a')")
                self.plain().execute("DELETE FROM t WHERE k = 'old'")
                db.execute("BEGIN")
                db.execute("SAVEPOINT s")
                db.execute(MERGE)
                self.assertEqual(self.present(db, "a", "b"), ["a"])
                db.execute("INSERT INTO t(k) VALUES ('b')")
                self.assertEqual(self.present(db, "a", "b"), ["a", "b"])
                db.execute(back)
                self.assertEqual(self.present(db, "a", "b"), ["a"])
                self.assertEqual(self.info(db)["pending"], 2 if kind == "counting" else 1)
                db.execute("INSERT INTO t(k) VALUES ('c')")
                self.assertEqual(self.present(db, "a", "c"), ["a", "c"])
                if db.in_transaction:
                    db.execute("COMMIT")
                for connection in (db, other):
                    self.assertEqual(self.lost(connection), [])
                self.assertFollowsBeforeAndAfterMerge(db)

    def test_a_savepoint_from_before_the_merge(self):
        """SQLite does not report the savepoint to the bloom table, which joins the transaction later."""
        for kind in KINDS:
            db = self.following(KINDS[kind])
            db.execute("INSERT INTO t(k) VALUES ('a'), ('b')")
            db.execute("BEGIN")
            db.execute("INSERT INTO t(k) VALUES ('c')")
            db.execute("SAVEPOINT s")
            self.assertEqual(self.lost(db), [])
            db.execute(MERGE)
            self.assertEqual(self.lost(db), [])
            db.execute("SAVEPOINT inner")
            db.execute("INSERT INTO t(k) VALUES ('d')")
            self.assertEqual(self.lost(db), [])
            db.execute("ROLLBACK TO s")
            self.assertEqual(self.lost(db), [])
            db.execute("COMMIT")
            self.assertFollowsBeforeAndAfterMerge(db)


class Defensive(WritersCase):
    def test_every_combination(self):
        for extension, defensive, kind in itertools.product((EXTENSION, None), (0, 1), KINDS):
            with self.subTest(f"{extension and 'with'} {defensive} {kind}"):
                db = self.following(KINDS[kind])
                writer = self.raw(extension=extension)
                writer.configure(DBCONFIG_DEFENSIVE, defensive)
                writer.run("INSERT INTO t(k) VALUES ('a'), ('b')", "UPDATE t SET k = 'c' WHERE k = 'a'", "DELETE FROM t WHERE k = 'b'")
                self.assertEqual(self.present(db, "c", "no"), ["c"])
                if extension:
                    self.assertEqual(writer.run("SELECT key FROM f WHERE key = 'c'"), [("c",)])
                    writer.run(MERGE, "ALTER TABLE f RENAME TO g", "INSERT INTO t(k) VALUES ('d')")
                    self.assertEqual(self.present(db, "c", "d", "no", table="g"), ["c", "d"])
                    writer.run("INSERT INTO g(g) VALUES ('merge')", "INSERT INTO g(g) VALUES ('rebuild')", "DROP TABLE g")
                    self.assertEqual(writer.run("SELECT name FROM sqlite_master"), [("t",)])

    def test_the_defaults_of_the_shell(self):
        db = self.following()
        for load in ("", f".load {EXTENSION}\n"):
            self.shell(load + "INSERT INTO t(k) VALUES ('a'); UPDATE t SET k = 'b';")
            self.assertEqual(self.present(db, "b"), ["b"])
        self.shell(f".load {EXTENSION}\n{MERGE}; ALTER TABLE f RENAME TO g; INSERT INTO t(k) VALUES ('c'); DROP TABLE g;")
        self.assertEqual(db.execute("SELECT name FROM sqlite_master").fetchall(), [("t",)])


class Connections(WritersCase):
    def test_another_connection_merges_between_two_lookups(self):
        for journal, kind in itertools.product(("wal", "delete"), KINDS):
            with self.subTest(f"{journal} {kind}"):
                db, other, plain = self.following(KINDS[kind]), self.connect(), self.plain()
                db.execute(f"PRAGMA journal_mode = {journal}")
                for round_ in range(5):
                    plain.execute("INSERT INTO t(k) VALUES (?), (?)", (f"a{round_}", f"b{round_}"))
                    self.assertEqual(self.lost(db), [])
                    other.execute(MERGE)
                    self.assertEqual(self.lost(db), [])
                    # The same rowids again, before the next lookup.
                    other.execute(MERGE)
                    plain.execute("INSERT INTO t(k) VALUES (?), (?)", (f"c{round_}", f"d{round_}"))
                    self.assertEqual(self.lost(db), [])
                    other.execute(MERGE)
                    plain.execute("INSERT INTO t(k) VALUES (?), (?), (?)", (f"e{round_}", f"f{round_}", f"g{round_}"))
                self.assertFollowsBeforeAndAfterMerge(db)

    def test_a_reader_in_an_old_snapshot(self):
        for kind in KINDS:
            with self.subTest(kind):
                db, other, plain = self.following(KINDS[kind], rows=("first",)), self.connect(), self.plain()
                db.execute("PRAGMA journal_mode = wal")
                plain.execute("INSERT INTO t(k) VALUES ('old')")
                db.execute("BEGIN")
                self.assertEqual(self.lost(db), [])
                plain.execute("DELETE FROM t WHERE k = 'first'")
                other.execute(MERGE)
                plain.execute("INSERT INTO t(k) VALUES ('new')")
                self.assertEqual(self.lost(db), [])
                self.assertEqual(db.execute("SELECT k FROM t").fetchall(), [("first",), ("old",)])
                self.assertFails(db, "locked", MERGE)
                self.assertEqual(self.lost(db), [])
                db.execute("COMMIT")
                self.assertEqual(self.lost(db), [])
                other.execute(MERGE)
                self.assertFollowsBeforeAndAfterMerge(db)

    def test_a_scan_that_runs_while_another_connection_merges(self):
        db, other, plain = self.following(rows=[f"row {i}" for i in range(50)]), self.connect(), self.plain()
        db.execute("PRAGMA journal_mode = wal")
        plain.executemany("INSERT INTO t(k) VALUES (?)", [(f"pending {i}",) for i in range(50)])
        scan = db.execute("SELECT k, EXISTS (SELECT 1 FROM f WHERE key = k) FROM t")
        rows = [next(scan) for _ in range(60)]
        other.execute(MERGE)
        plain.execute("INSERT INTO t(k) VALUES ('other')")
        rows += [next(scan) for _ in range(20)]
        self.assertEqual(self.present(db, "pending 0", "pending 49"), ["pending 0", "pending 49"])
        rows += scan.fetchall()
        self.assertEqual([row for row in rows if not row[1]], [])
        self.assertEqual(len(rows), 100)

    def test_readers_that_cannot_write(self):
        for kind in KINDS:
            with self.subTest(kind):
                db, plain = self.following(KINDS[kind], rows=("a",)), self.plain()
                reader = self.connect(f"file:{self.path}?mode=ro", uri=True)
                self.assertEqual(self.lost(reader), [])
                plain.execute("INSERT INTO t(k) VALUES ('b')")
                self.assertEqual(self.lost(reader), [])
                self.assertEqual(self.present(reader, "b"), ["b"])
                self.assertFails(reader, "readonly", MERGE)
                self.assertEqual(self.info(reader)["pending"], 1)
                db.execute(MERGE)
                plain.execute("INSERT INTO t(k) VALUES ('c')")
                self.assertEqual(self.lost(reader), [])
                fixed = self.connect(f"file:{self.path}?immutable=1", uri=True)
                self.assertEqual(self.present(fixed, "a", "b", "c", "no"), ["a", "b", "c"])
                only = self.connect()
                only.execute("PRAGMA query_only = ON")
                self.assertEqual(self.present(only, "a", "b", "c", "no"), ["a", "b", "c"])
                self.assertFails(only, "readonly", MERGE)

    def test_two_connections_merge_at_once(self):
        for journal, kind in itertools.product(("wal", "delete"), KINDS):
            with self.subTest(f"{journal} {kind}"):
                db, plain = self.following(KINDS[kind]), self.plain()
                db.execute(f"PRAGMA journal_mode = {journal}")
                errors = []

                def merge():
                    own = None
                    while own is None:
                        try:
                            own = self.connect(check_same_thread=False)
                        except sqlite3.OperationalError as error:  # the other connections may hold the file
                            if "locked" not in str(error):
                                errors.append(error)
                                return
                    for _ in range(30):
                        try:
                            own.execute(MERGE)
                        except sqlite3.OperationalError as error:
                            if "locked" not in str(error):
                                errors.append(error)

                threads = [threading.Thread(target=merge) for _ in range(2)]
                for thread in threads:
                    thread.start()
                for i in range(60):
                    while True:
                        try:
                            plain.execute("INSERT INTO t(k) VALUES (?)", (i,))
                            break
                        except sqlite3.OperationalError:
                            pass
                for thread in threads:
                    thread.join()
                self.assertEqual(errors, [])
                self.assertFollowsBeforeAndAfterMerge(db)
                if kind == "counting":
                    db.execute("DELETE FROM t")
                    db.execute(MERGE)
                    self.assertEqual(self.info(db)["keys"], 0)

    def test_a_merge_waits_for_no_other_writer(self):
        db, plain = self.following(), self.plain()
        plain.execute("BEGIN IMMEDIATE")
        plain.execute("INSERT INTO t(k) VALUES ('a')")
        self.assertFails(db, "locked", MERGE)
        plain.execute("COMMIT")
        self.assertFollowsBeforeAndAfterMerge(db)


    def test_pending_changes_survive_serialize_backup_and_vacuum_into(self):
        db = self.following(rows=["a"])
        db.execute("INSERT INTO t(k) VALUES ('b')")
        db.execute("DELETE FROM t WHERE k = 'a'")
        copy = self.connect(":memory:")
        db.backup(copy)
        file = self.path + " copy"
        db.execute("VACUUM INTO ?", (file,))
        copies = {"backup": copy, "vacuum into": self.connect(file)}
        if hasattr(db, "serialize"):  # Python 3.11
            copies["deserialize"] = self.connect(":memory:")
            copies["deserialize"].deserialize(db.serialize())
        for name, other in copies.items():
            with self.subTest(name):
                self.assertEqual(one(other, "SELECT pending FROM f"), 1)
                other.execute("INSERT INTO t(k) VALUES ('c')")
                self.assertEqual((self.present(other, "b", "c", "d"), self.lost(other)), (["b", "c"], []))
                other.execute(MERGE)
                self.assertEqual((self.present(other, "b", "c", "d"), self.lost(other)), (["b", "c"], []))

    def test_a_database_that_is_deserialized_over_another(self):
        """The connection keeps its objects; every row may have changed."""
        db = self.connect(":memory:")
        if not hasattr(db, "serialize"):
            self.skipTest("Python before 3.11")
        contents = []
        for key in ("old", "new"):
            source = self.following(rows=[key])
            source.execute("INSERT INTO t(k) VALUES (?)", (f"pending {key}",))
            contents.append(source.serialize())
        for content, keys in zip(contents * 2, (["old", "pending old"], ["new", "pending new"]) * 2):
            db.deserialize(content)
            self.assertEqual(self.present(db, "old", "new", "pending old", "pending new"), keys)
            self.assertEqual(self.lost(db), [])


class Merging(WritersCase):
    """The two ways to merge when enough rows wait that docs/keep-up-to-date.md describes."""

    def merging(self, limit, *options, **arguments):
        db = self.following(*options, **arguments)
        self.merge_from(db, limit)
        return db

    def merge_from(self, db, limit):
        db.execute(f"CREATE TEMP TRIGGER merging AFTER INSERT ON f_pending WHEN new.id >= {limit} BEGIN {MERGE}; END")

    def test_a_merge_if_enough_rows_wait(self):
        db = self.following(rows="a")
        db.execute("INSERT INTO t(k) VALUES ('b'), ('c')")
        merge_if = "INSERT INTO f(f) SELECT 'merge' FROM f WHERE pending > ?"
        db.execute(merge_if, (2,))
        self.assertEqual(self.info(db)["pending"], 2)
        db.execute(merge_if, (1,))
        self.assertEqual(self.info(db)["pending"], 0)
        self.assertFollows(db)

    def test_a_connection_merges_with_its_own_writes_only(self):
        for kind, options in KINDS.items():
            with self.subTest(kind):
                db = self.merging(3, options, rows=("a", "b"))
                plain = self.plain()
                plain.execute("INSERT INTO t(k) VALUES ('c'), ('d'), ('e'), ('f')")
                self.assertEqual(self.info(db)["pending"], 4)
                self.assertFollows(db)
                db.execute("INSERT INTO t(k) VALUES ('g')")
                self.assertEqual(self.info(db)["pending"], 0)
                db.execute("UPDATE t SET k = k || 'x' WHERE k < 'c'")
                self.assertEqual(self.info(db)["pending"], 1 if kind == "counting" else 2)
                self.assertFollowsBeforeAndAfterMerge(db)
                self.assertEqual(self.present(db, "a", "b"), [] if kind == "counting" else ["a", "b"])

    def test_a_statement_that_merges_several_times(self):
        for limit in (1, 2, 7):
            for kind, options in KINDS.items():
                with self.subTest(kind, limit=limit):
                    db = self.merging(limit, options, rows=range(20))
                    db.execute("INSERT INTO t(k) SELECT 'x' || id FROM t")
                    self.assertEqual((one(db, "SELECT changes()"), one(db, "SELECT last_insert_rowid()")), (20, 40))
                    db.execute("UPDATE t SET k = k || 'y' WHERE id % 3 = 0")
                    db.execute("REPLACE INTO t(id, k) VALUES (1, 'r'), (2, 's'), (3, 'r')")
                    db.execute("DELETE FROM t WHERE id % 4 = 0")
                    self.assertFollowsBeforeAndAfterMerge(db)

    def test_a_merge_by_a_statement_that_is_undone(self):
        for kind, options in KINDS.items():
            with self.subTest(kind):
                db = self.merging(2, options, create="CREATE TABLE t(id INTEGER PRIMARY KEY, k UNIQUE)", rows=("a", "b"))
                before = one(db, "SELECT filter FROM f") if kind != "growing" else None
                self.assertFails(db, "UNIQUE", "INSERT INTO t(k) VALUES ('c'), ('d'), ('e'), ('a')")
                for end in ("ROLLBACK", "ROLLBACK TO s"):
                    db.execute("SAVEPOINT s" if "TO" in end else "BEGIN")
                    db.execute("INSERT INTO t(k) VALUES ('f'), ('g'), ('h')")
                    self.assertFollows(db)
                    db.execute(end)
                    self.assertEqual(self.info(db)["pending"], 0)
                self.assertFollows(db)
                if before:
                    self.assertEqual(one(db, "SELECT filter FROM f"), before)
                db.execute("RELEASE s")
                db.execute("INSERT INTO t(k) VALUES ('i'), ('j'), ('k')")
                self.assertFollowsBeforeAndAfterMerge(db)

    def test_it_needs_no_trusted_schema_and_stops_a_write_if_it_cannot_merge(self):
        db = self.merging(1)
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("INSERT INTO t(k) VALUES ('a')")
        self.assertEqual(self.info(db)["pending"], 0)
        db.execute("DROP TRIGGER f_before_update")
        self.assertFails(db, "are missing or have changed", "INSERT INTO t(k) VALUES ('b')")
        self.assertEqual(one(db, "SELECT count(*) FROM t"), 1)
        db.execute("DROP TRIGGER merging")
        db.execute("INSERT INTO t(k) VALUES ('b')")
        db.execute(REBUILD)
        self.assertFollows(db)


class Counting(WritersCase):
    def counting(self, rows=()):
        return self.following(KINDS["counting"], rows=rows), self.plain()

    def test_a_key_that_is_removed_and_added_again(self):
        for merges in itertools.product((False, True), repeat=4):
            db, plain = self.counting()
            for sql, merge in zip(("INSERT INTO t(k) VALUES ('a')", "DELETE FROM t", "INSERT INTO t(k) VALUES ('a')", "UPDATE t SET k = 'b'"), merges):
                plain.execute(sql)
                self.assertEqual(self.lost(db), [])
                if merge:
                    db.execute(MERGE)
            self.assertFollowsBeforeAndAfterMerge(db)
            self.assertEqual(self.present(db, "a", "b"), ["b"])

    def test_a_pending_removal_does_not_hide_the_key_of_another_row(self):
        db, plain = self.counting(rows=("a",))
        plain.execute("INSERT INTO t(k) VALUES ('a')")
        plain.execute("DELETE FROM t WHERE id = 1")
        self.assertEqual(self.present(db, "a"), ["a"])
        self.assertFollowsBeforeAndAfterMerge(db)
        plain.execute("DELETE FROM t")
        self.assertEqual(self.present(db, "a"), ["a"])
        db.execute(MERGE)
        self.assertEqual(self.present(db, "a"), [])

    def test_a_merge_makes_what_a_rebuild_makes(self):
        """Where each row is written without REPLACE, UPSERT or IGNORE, no surplus stays."""
        rng = random.Random(1)
        db, plain = self.counting(rows=[rng.randrange(30) for _ in range(50)])
        for _ in range(20):
            for _ in range(20):
                plain.execute(
                    *rng.choice((
                        ("INSERT INTO t(k) VALUES (?)", (rng.randrange(30),)),
                        ("UPDATE t SET k = ? WHERE id = ?", (rng.randrange(30), rng.randrange(80))),
                        ("DELETE FROM t WHERE id = ?", (rng.randrange(80),)),
                        ("UPDATE t SET k = k + 1 WHERE id % 5 = ?", (rng.randrange(5),)),
                    ))
                )
            pending = one(db, "SELECT filter FROM f")
            db.execute(MERGE)
            merged = one(db, "SELECT filter FROM f")
            db.execute(REBUILD)
            self.assertEqual(pending, merged)
            self.assertEqual(merged, one(db, "SELECT filter FROM f"))

    def test_a_removal_too_many_stops_the_merge_and_loses_nothing(self):
        db, plain = self.counting(rows=("a",))
        plain.execute("INSERT INTO t(k) VALUES ('b')")
        plain.execute("INSERT INTO f_pending(token, added, key1) VALUES (randomblob(8), 0, 'never there')")
        plain.execute("INSERT INTO t(k) VALUES ('c')")
        self.assertFails(db, "filter and source are out of sync .*'rebuild' fixes that", MERGE)
        self.assertFollows(db)
        self.assertEqual(self.info(db)["pending"], 3)
        db.execute(REBUILD)
        self.assertFollowsBeforeAndAfterMerge(db)


class Statements(WritersCase):
    """The statements and tables that the documents name."""

    def each(self, options=tuple(KINDS.values()), recursive=("ON", "OFF"), **arguments):
        for option, setting in itertools.product(options, recursive):
            with self.subTest(f"{option}, recursive_triggers {setting}"):
                db, plain = self.following(option, **arguments), self.plain()
                plain.execute(f"PRAGMA recursive_triggers = {setting}")
                plain.execute("PRAGMA foreign_keys = ON")
                yield db, plain
                self.assertFollowsBeforeAndAfterMerge(db)
                db.execute(REBUILD)
                self.assertFollowsBeforeAndAfterMerge(db)

    def test_conflict_clauses_and_upsert(self):
        create = "CREATE TABLE t(id INTEGER PRIMARY KEY, k UNIQUE, x UNIQUE)"
        for db, plain in self.each(create=create, rows=("a", "b", "c")):
            for rule in ("REPLACE", "IGNORE"):
                plain.execute(f"INSERT OR {rule} INTO t VALUES (1, 'b', 5), (NULL, 'd', 5), (NULL, 'c', 6)")
                plain.execute(f"UPDATE OR {rule} t SET k = 'c', x = 7 WHERE id < 3")
                self.assertEqual(self.lost(db), [])
            plain.execute("INSERT INTO t(k, x) VALUES ('c', 9) ON CONFLICT DO NOTHING")
            plain.execute("INSERT INTO t(k, x) VALUES ('c', 9) ON CONFLICT(k) DO UPDATE SET k = excluded.k || 'u'")
            for rule in ("FAIL", "ABORT", "ROLLBACK"):
                with self.assertRaisesRegex(sqlite3.IntegrityError, "UNIQUE"):
                    plain.execute(f"INSERT OR {rule} INTO t(k) VALUES ('{rule}'), ('cu')")
            self.assertEqual(self.present(db, "FAIL", "cu"), ["FAIL", "cu"])

    def test_replace_without_delete_triggers_keeps_the_old_key(self):
        for db, plain in self.each(options=[KINDS["counting"]]):
            plain.execute("INSERT INTO t(id, k) VALUES (1, 'old')")
            plain.execute("REPLACE INTO t(id, k) VALUES (1, 'new')")
            db.execute(MERGE)
            recursive = one(plain, "PRAGMA recursive_triggers")
            self.assertEqual(self.present(db, "old", "new"), ["new"] if recursive else ["old", "new"])

    def test_cascades(self):
        create = """
            CREATE TABLE parent(p PRIMARY KEY); INSERT INTO parent VALUES ('a'), ('b'), ('c'), ('d');
            CREATE TABLE t(id INTEGER PRIMARY KEY, k REFERENCES parent(p) ON UPDATE CASCADE ON DELETE SET NULL, x REFERENCES t(id) ON DELETE CASCADE);
        """
        for db, plain in self.each(create=create, rows=("a", "b", "c", "d")):
            plain.execute("UPDATE t SET x = id - 1 WHERE id > 3")
            plain.execute("UPDATE parent SET p = p || 'x' WHERE p < 'c'")
            self.assertEqual(self.present(db, "ax", "bx"), ["ax", "bx"])
            plain.execute("DELETE FROM parent WHERE p = 'bx'")
            plain.execute("DELETE FROM t WHERE id = 3")
            self.assertEqual(plain.execute("SELECT k FROM t").fetchall(), [("ax",), (None,)])

    def test_without_rowid_and_a_key_that_is_the_primary_key(self):
        for db, plain in self.each(create="CREATE TABLE t(k TEXT PRIMARY KEY, x) WITHOUT ROWID", rows=("a", "b")):
            plain.execute("REPLACE INTO t VALUES ('a', 1), ('c', 2)")
            plain.execute("UPDATE OR REPLACE t SET k = 'a' WHERE k = 'c'")
            plain.execute("UPDATE t SET k = 'z' WHERE k = 'b'")

    def test_collations(self):
        for collation in ("NOCASE", "RTRIM"):
            create = f"CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT COLLATE {collation})"
            for db, plain in self.each(create=create, rows=("Key", "b")):
                plain.execute("UPDATE t SET k = CASE k WHEN 'Key' THEN 'KEY  ' ELSE k END")
                plain.execute("INSERT INTO t(k) VALUES ('New  ')")
                self.assertEqual(self.present(db, "new  " if collation == "NOCASE" else "New"), ["new  " if collation == "NOCASE" else "New"])

    def test_types_and_affinities(self):
        values = ["1", 1, 1.0, "1.5", 1.5, -0.0, b"1", "", b"", "é", None, (1 << 53) + 1, float(1 << 53), 1e300, "nan"]
        for affinity in ("", "TEXT", "INT", "REAL", "NUMERIC", "BLOB"):
            create = f"CREATE TABLE t(id INTEGER PRIMARY KEY, k {affinity})"
            for _, plain in self.each(options=[KINDS["counting"]], recursive=["OFF"], create=create):
                for old, new in itertools.product(values, repeat=2):
                    plain.execute("INSERT INTO t(k) VALUES (?)", (old,))
                    plain.execute("UPDATE t SET k = ? WHERE id = last_insert_rowid()", (new,))
                plain.execute("DELETE FROM t WHERE id % 3 = 0")

    def test_composite_keys(self):
        create = "CREATE TABLE t(id INTEGER PRIMARY KEY, k, x)"
        for options, setting in itertools.product(KINDS.values(), ("ON", "OFF")):
            db, plain = self.following(options, column="(k, x)", create=create, rows=("a",)), self.plain()
            plain.execute(f"PRAGMA recursive_triggers = {setting}")
            plain.execute("UPDATE t SET x = 1")
            plain.execute("INSERT INTO t(k, x) VALUES ('b', 2), ('c', NULL), (NULL, 3)")
            plain.execute("UPDATE t SET x = x + 1")
            plain.execute("REPLACE INTO t VALUES (1, 'd', 4)")
            self.assertFollowsBeforeAndAfterMerge(db, key="bloom_key(t.k, t.x)")

    def test_a_composite_key_that_a_before_trigger_changes(self):
        create = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, k, x);
            CREATE TRIGGER m BEFORE UPDATE OF k ON t BEGIN UPDATE t SET x = 'changed' WHERE id = old.id; END;
        """
        db, plain = self.following(column="(k, x)", create=create), self.plain()
        plain.executescript("INSERT INTO t(k, x) VALUES ('a', 'b'); UPDATE t SET k = 'c'")
        self.assertEqual(plain.execute("SELECT k, x FROM t").fetchall(), [("c", "changed")])
        self.assertFollowsBeforeAndAfterMerge(db, key="bloom_key(t.k, t.x)")

    def test_null_is_no_key_and_leaves_no_addition(self):
        db, plain = self.following(), self.plain()
        plain.execute("INSERT INTO t(k) VALUES (NULL), (NULL)")
        self.assertEqual(self.info(db)["pending"], 0)
        plain.execute("UPDATE t SET k = 'a'")
        plain.execute("UPDATE t SET k = NULL")
        self.assertFollowsBeforeAndAfterMerge(db)

    def test_defaults_that_stand_in_for_null(self):
        for affinity, default in (("", "'d'"), ("TEXT", "'it''s'"), ("INT", "-5"), ("NUMERIC", "5"), ("BLOB", "'d'"), ("REAL", "7")):
            create = f"CREATE TABLE t(id INTEGER PRIMARY KEY, k {affinity} NOT NULL DEFAULT {default}, x)"
            for db, plain in self.each(create=create, rows=(1, 2, 3)):
                plain.execute("INSERT OR REPLACE INTO t(k) VALUES (NULL), (7)")
                plain.execute("UPDATE OR REPLACE t SET k = NULL WHERE id = 1")
                plain.execute("INSERT INTO t DEFAULT VALUES")
                self.assertEqual(self.lost(db), [])
        for default in ("(random())", "CURRENT_TIMESTAMP", "(abs(-1))", "1.5", "x'00'"):
            db = self.connect(":memory:")
            db.execute(f"CREATE TABLE t(k NOT NULL DEFAULT {default})")
            self.assertFails(db, "a default that SQLite computes or converts", "CREATE VIRTUAL TABLE f USING bloom(source=t, column=k)")

    def test_columns_whose_values_before_triggers_do_not_see_are_refused(self):
        if sqlite3.sqlite_version_info < (3, 31):
            self.skipTest("no generated columns")
        creates = {
            "id": "CREATE TABLE t(id INTEGER PRIMARY KEY, k)",
            "g": "CREATE TABLE t(k, g AS (k || 'x'))",
            "s": "CREATE TABLE t(k, s AS (k || 'x') STORED)",
            "(k, g)": "CREATE TABLE t(k, g AS (k || 'x'))",
            "(id, k)": "CREATE TABLE t(k, id INTEGER, PRIMARY KEY(id))",
        }
        for column, create in creates.items():
            db = self.connect(":memory:")
            db.execute(create)
            before = db.execute("SELECT name FROM sqlite_master").fetchall()
            for options in ("", ", writers=any"):
                with self.assertRaises(sqlite3.OperationalError) as caught:
                    db.execute(f"CREATE VIRTUAL TABLE f USING bloom(source=t, column={column}{options})")
                self.assertRegex(str(caught.exception), "cannot follow 't' with writers=any: .* BEFORE triggers do not see the final value \\(give writers=extension")
            self.assertEqual(db.execute("SELECT name FROM sqlite_master").fetchall(), before)
            db.execute(f"CREATE VIRTUAL TABLE f USING bloom(source=t, column={column}, writers=extension)")
        db = self.connect(":memory:")
        for create in (
            "CREATE TABLE t(k INT PRIMARY KEY, x)",
            "CREATE TABLE t(k INTEGER, x, PRIMARY KEY(k, x)) WITHOUT ROWID",
            "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT NOT NULL, x)",
        ):
            db.executescript(create + "; CREATE VIRTUAL TABLE f USING bloom(source=t, column=k)")
            db.executescript("INSERT INTO t(k, x) VALUES (1, 1); UPDATE t SET k = 2")
            self.assertFollowsBeforeAndAfterMerge(db)
            db.executescript("DROP TABLE f; DROP TABLE t")

    def test_a_statement_that_returns_rows_and_is_not_finished(self):
        if sqlite3.sqlite_version_info < (3, 35):
            self.skipTest("no RETURNING")
        for kind in KINDS:
            db = self.following(KINDS[kind])
            running = db.execute("INSERT INTO t(k) VALUES ('a'), ('b'), ('c') RETURNING k, EXISTS (SELECT 1 FROM f WHERE key = k)")
            self.assertEqual(next(running), ("a", 1))
            self.assertEqual(self.lost(db), [])
            self.assertEqual(self.present(db, "a", "b", "c", "d"), ["a", "b", "c"])
            self.assertEqual(running.fetchall(), [("b", 1), ("c", 1)])
            self.assertFollowsBeforeAndAfterMerge(db)

    def test_counts_that_applications_read(self):
        _, plain = self.following(), self.plain()
        plain.execute("INSERT INTO t(k) VALUES ('a'), ('b')")
        self.assertEqual((one(plain, "SELECT changes()"), one(plain, "SELECT last_insert_rowid()")), (2, 2))
        plain.execute("UPDATE t SET k = 'c'")
        self.assertEqual(one(plain, "SELECT changes()"), 2)


class OwnTriggers(WritersCase):
    def test_a_rebuild_within_a_trigger_would_miss_the_row_that_fired_it(self):
        for writers in ("any", "extension"):
            db = self.following(f"writers={writers}", create=TABLE + "; CREATE TABLE again(x)")
            db.execute("CREATE TRIGGER r BEFORE INSERT ON t BEGIN INSERT INTO f(f) VALUES ('rebuild'); END")
            with self.assertRaisesRegex(sqlite3.Error, "cannot read 't' while a statement of this connection writes to it"):
                db.execute("INSERT INTO t(k) VALUES ('a')")
            db.execute("DROP TRIGGER r")
            db.execute("INSERT INTO t(k) VALUES ('b')")
            db.execute("INSERT INTO f(f) VALUES ('rebuild')")
            self.assertEqual(db.execute("SELECT k FROM t WHERE k NOT IN (SELECT t.k FROM t JOIN f ON f.key = t.k)").fetchall(), [])

    """Triggers of the user on the source, made before or after the filter, TEMP or not."""

    STOPPING = ("SELECT RAISE(IGNORE)", "SELECT RAISE(FAIL, 'no')", "INSERT OR FAIL INTO log VALUES (1)", "INSERT INTO log VALUES (1)")

    def test_no_trigger_keeps_a_key_from_the_filter(self):
        # Composite keys are added AFTER too; only an UPDATE that a BEFORE trigger changes needs that.
        columns = {"k": "k", "(k, x)": "bloom_key(t.k, t.x)"}
        for body, event, when, schema, first, (column, key), kind in itertools.product(
            self.STOPPING, ("INSERT", "UPDATE", "DELETE"), ("BEFORE", "AFTER"), ("", "TEMP"), (True, False), columns.items(), KINDS
        ):
            with self.subTest(f"{schema} {when} {event} {body}, {column}, {kind}, first {first}"):
                db = self.connect(":memory:")
                db.executescript(
                    f"{TABLE}; CREATE TABLE log(n UNIQUE); INSERT INTO log VALUES (1); INSERT INTO t VALUES (1, 'old', 0), (2, 'other', 0)"
                )
                statements = [
                    f"CREATE VIRTUAL TABLE f USING bloom(source=t, column={column}, {KINDS[kind]})",
                    f"CREATE {schema} TRIGGER stop {when} {event} ON t BEGIN {body}; END",
                ]
                for sql in statements if first else reversed(statements):
                    db.execute(sql)
                for sql in ("INSERT OR FAIL INTO t VALUES (3, 'new', 0)", "UPDATE OR FAIL t SET k = k || ' changed'", "DELETE FROM t WHERE k = 'other'"):
                    try:
                        db.execute(sql)
                    except sqlite3.IntegrityError:
                        pass
                    self.assertEqual(self.lost(db, key), [])
                self.assertFollowsBeforeAndAfterMerge(db, key=key)
                db.close()

    def test_triggers_that_change_the_row(self):
        bodies = (
            "AFTER INSERT ON t BEGIN UPDATE t SET k = lower(k) WHERE id = new.id; END",
            "BEFORE INSERT ON t BEGIN UPDATE t SET k = k || new.k; END",
            "AFTER INSERT ON t BEGIN DELETE FROM t WHERE id = new.id - 2; END",
            "AFTER INSERT ON t WHEN new.x < 3 BEGIN INSERT INTO t(k, x) VALUES (new.k || 'i', new.x + 1); END",
            "AFTER UPDATE ON t WHEN new.x < 3 BEGIN UPDATE t SET k = k || 'u', x = x + 1 WHERE id = new.id; END",
            "BEFORE UPDATE OF x ON t BEGIN UPDATE t SET k = k || 'b' WHERE id = old.id; END",
            "BEFORE UPDATE ON t BEGIN DELETE FROM t WHERE id = old.id; END",
            "AFTER DELETE ON t WHEN old.x < 3 BEGIN INSERT INTO t(k, x) VALUES (old.k || 'd', old.x + 1); END",
        )
        keys = {"k": "t.k", "(k, x)": "bloom_key(t.k, t.x)"}
        for body, kind, recursive, first, column in itertools.product(bodies, KINDS, ("ON", "OFF"), (True, False), keys):
            if body.startswith("BEFORE UPDATE OF x") and kind == "counting" and column != "k":
                continue  # SQLite does not define which row the triggers of the UPDATE see
            with self.subTest(f"{body} {kind} {recursive} {first} {column}"):
                key = keys[column]
                db = self.connect(":memory:")
                db.executescript(f"PRAGMA recursive_triggers = {recursive}; {TABLE}")
                statements = [f"CREATE VIRTUAL TABLE f USING bloom(source=t, column={column}, {KINDS[kind]})", f"CREATE TRIGGER own {body}"]
                for sql in statements if first else reversed(statements):
                    db.execute(sql)
                db.execute("INSERT INTO t(k, x) VALUES ('A', 0), ('B', 1), ('C', 2)")
                self.assertEqual(self.lost(db, key), [])
                db.execute("UPDATE t SET x = x + 1")
                db.execute("UPDATE t SET k = k || 'k'" if "BEFORE UPDATE OF x" in body else "UPDATE t SET k = k || 'k', x = 1 WHERE id = 2")
                self.assertEqual(self.lost(db, key), [])
                db.execute("DELETE FROM t WHERE id = 1")
                self.assertFollowsBeforeAndAfterMerge(db, key=key)
                if kind == "counting" and body.startswith("AFTER"):
                    merged = one(db, "SELECT filter FROM f")
                    db.execute(REBUILD)
                    self.assertEqual(merged, one(db, "SELECT filter FROM f"))
                db.close()


class Stale(WritersCase):
    """What is detected, and what lookups answer then."""

    LOSSES = (
        *(f"DROP TRIGGER f_{name}" for name in ("before_insert", "before_update", "after_update", "after_delete")),
        "DROP TABLE t",
        "DROP TABLE f_pending",
        "ALTER TABLE f_pending ADD COLUMN more",
        "ALTER TABLE f_pending RENAME TO renamed",
        "DROP INDEX f_guard",
        "DROP TRIGGER f_before_insert; CREATE TRIGGER f_before_insert BEFORE INSERT ON t BEGIN SELECT 1; END",
    )

    def test_lost_objects(self):
        for loss, answer, kind in itertools.product(self.LOSSES, ("error", "maybe"), KINDS):
            if "TRIGGER f_after" in loss and kind != "counting":
                continue  # there is none
            with self.subTest(f"{loss}, {answer}, {kind}"):
                path = f"{self.path}-{self.LOSSES.index(loss)}{answer}{kind}"
                db = self.connect(path)
                db.executescript(f"{TABLE}; INSERT INTO t(k) VALUES ('a')")
                db.execute(f"CREATE VIRTUAL TABLE f USING bloom(source=t, column=k, on_stale={answer}, {KINDS[kind]})")
                self.assertEqual(self.present(db, "a", "no"), ["a"])
                plain = self.plain(path)
                plain.executescript(loss)
                if loss == "DROP TABLE t":
                    plain.execute(TABLE)
                writable = "f_pending" not in loss or "RENAME" in loss or "ADD COLUMN" in loss
                if writable:
                    plain.execute("INSERT INTO t(k) VALUES ('b')")
                fresh = self.connect(path)
                for connection in (db, fresh):
                    if answer == "error":
                        self.assertFails(connection, "f: the (triggers|table|index) .* (is missing|are missing|has changed)", "SELECT 1 FROM f WHERE key = 'a'")
                    else:
                        self.assertEqual(self.present(connection, "a", "b", "no", None), ["a", "b", "no"])
                        self.assertEqual(self.lost(connection), [])
                    self.assertFails(connection, "missing|changed", "SELECT filter FROM f")
                    self.assertFails(connection, "missing|changed", "SELECT filter FROM f WHERE key = 'a'")
                    self.assertFails(connection, "f: the (triggers|table|index) .* (is|are) missing or ha", CHECK)
                    self.assertFails(connection, "f: the (triggers|table|index) .* (is|are) missing or ha", MERGE)
                if "ADD COLUMN" in loss:
                    self.assertFails(db, 'table "f_pending" already exists', REBUILD)
                    db.execute("DROP TABLE f_pending")
                db.execute(REBUILD)
                plain.execute("SELECT 1 FROM t")  # reads the schema, which SQLite does not do before it compiles a trigger
                plain.execute("INSERT INTO t(k) VALUES ('c')")
                for connection in (db, fresh):
                    self.assertEqual(self.present(connection, "c", "no"), ["c"])
                    self.assertEqual(self.lost(connection), [])
                self.assertFollowsBeforeAndAfterMerge(db)

    def test_merge_notices_lost_triggers_although_no_lookup_was_prepared_since(self):
        db = self.following(rows="a")
        db.execute("INSERT INTO t(k) VALUES ('b')")
        self.assertFollows(db)
        db.execute("DROP TRIGGER f_before_insert")
        self.assertFails(db, "are missing or have changed", MERGE)
        db.execute(REBUILD)
        self.assertFollows(db)

    def test_a_loss_that_is_rolled_back(self):
        db = self.following(rows=("a",))
        for loss in self.LOSSES[:-1]:
            if "TRIGGER f_after" in loss:
                continue
            db.execute("BEGIN")
            db.execute(loss)
            self.assertFails(db, "missing|changed", "SELECT 1 FROM f WHERE key = 'a'")
            db.execute("ROLLBACK")
            db.execute("INSERT INTO t(k) VALUES ('b')")
            self.assertFollows(db)

    def test_a_constraint_that_is_added_later(self):
        if sqlite3.sqlite_version_info < (3, 53):
            self.skipTest("no ALTER COLUMN")
        db, plain = self.following(create="CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT DEFAULT 'd')"), self.plain()
        plain.execute("ALTER TABLE t ALTER COLUMN k SET NOT NULL")
        plain.execute("INSERT OR REPLACE INTO t(k) VALUES (NULL)")
        self.assertFails(db, "triggers of source 't' are missing or have changed", "SELECT 1 FROM f WHERE key = 'd'")
        db.execute(REBUILD)
        plain.execute("INSERT OR REPLACE INTO t(k) VALUES (NULL)")
        self.assertFollowsBeforeAndAfterMerge(db)

    def test_the_option_is_only_for_sources(self):
        db = self.connect()
        for option in ("writers=any", "on_stale=maybe"):
            self.assertFails(db, f"option {option.split('=')[0]} is only for a table that follows a source", f"CREATE VIRTUAL TABLE f USING bloom(capacity=10, {option})")
        db.execute("CREATE TABLE t(k)")
        self.assertFails(db, "writers must be any or extension, got 'all'", "CREATE VIRTUAL TABLE f USING bloom(source=t, column=k, writers=all)")
        self.assertFails(db, "on_stale must be error or maybe", "CREATE VIRTUAL TABLE f USING bloom(source=t, column=k, on_stale=no)")


class Objects(WritersCase):
    """The tables, triggers and indexes that belong to the bloom table."""

    def schema(self, db):
        return sorted(row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"))

    def test_drop_leaves_nothing(self):
        for kind, renames in itertools.product(KINDS, (False, True)):
            db = self.following(KINDS[kind])
            db.execute("INSERT INTO t(k) VALUES ('a')")
            if renames:
                self.plain().executescript("ALTER TABLE t RENAME TO u; ALTER TABLE u RENAME COLUMN k TO l")
            db.execute("DROP TABLE f")
            self.assertEqual(self.schema(db), ["u" if renames else "t"])

    def test_a_drop_that_is_rolled_back(self):
        db = self.following(rows=("a",))
        self.plain().execute("INSERT INTO t(k) VALUES ('b')")
        self.assertEqual(self.present(db, "b"), ["b"])
        before = self.schema(db)
        db.execute("BEGIN")
        db.execute("DROP TABLE f")
        db.execute("INSERT INTO t(k) VALUES ('unseen')")
        db.execute("ROLLBACK")
        self.assertEqual(self.schema(db), before)
        db.execute("INSERT INTO t(k) VALUES ('c')")
        self.assertFollowsBeforeAndAfterMerge(db)

    def test_renames(self):
        for legacy, kind in itertools.product(("OFF", "ON"), KINDS):
            with self.subTest(f"legacy_alter_table {legacy}, {kind}"):
                db, other, plain = self.following(KINDS[kind], rows=("a",)), self.connect(), self.plain()
                for connection in (db, plain):
                    connection.execute(f"PRAGMA legacy_alter_table = {legacy}")
                plain.execute("INSERT INTO t(k) VALUES ('b')")
                db.execute("ALTER TABLE f RENAME TO \"the 'filter\"")
                plain.execute("INSERT INTO t(k) VALUES ('c')")
                plain.execute("ALTER TABLE t RENAME TO \"the 'source\"")
                plain.execute("ALTER TABLE \"the 'source\" RENAME COLUMN k TO \"the \"\"key\"")
                plain.execute("INSERT INTO \"the 'source\"(\"the \"\"key\") VALUES ('d')")
                names = {"key": '"the ""key"', "source": "\"the 'source\"", "table": "\"the 'filter\""}
                for connection in (db, other):
                    self.assertFollows(connection, **names)
                self.assertFollowsBeforeAndAfterMerge(db, **names)
                db.execute("ALTER TABLE \"the 'filter\" RENAME TO f")
                plain.execute("UPDATE \"the 'source\" SET \"the \"\"key\" = 'e' WHERE id = 1")
                names["table"] = "f"
                self.assertFollowsBeforeAndAfterMerge(other, **names)
                db.execute("DROP TABLE f")
                self.assertEqual(self.schema(db), ["the 'source"])

    def test_a_rename_that_is_rolled_back(self):
        db, plain = self.following(), self.plain()
        plain.execute("INSERT INTO t(k) VALUES ('a')")
        for back in ("ROLLBACK", "ROLLBACK TO s"):
            db.execute("BEGIN")
            db.execute("SAVEPOINT s")
            db.execute("ALTER TABLE f RENAME TO g")
            db.execute("INSERT INTO t(k) VALUES ('b')")
            self.assertEqual(self.lost(db, table="g"), [])
            db.execute(back)
            db.execute("INSERT INTO t(k) VALUES ('c')")
            self.assertEqual(self.lost(db), [])
            if db.in_transaction:
                db.execute("COMMIT")
            self.assertFollows(db)

    def test_names_that_are_taken(self):
        db = self.connect()
        db.executescript(f"{TABLE}; CREATE TABLE f_pending(mine); INSERT INTO f_pending VALUES (1)")
        self.assertFails(db, 'table "f_pending" already exists', "CREATE VIRTUAL TABLE f USING bloom(source=t, column=k)")
        self.assertEqual(self.schema(db), ["f_pending", "t"])
        db.execute("CREATE VIRTUAL TABLE g USING bloom(source=t, column=k)")
        self.assertFails(db, "already another object named .f_pending", "ALTER TABLE g RENAME TO f")
        db.execute("INSERT INTO t(k) VALUES ('a')")
        self.assertFollowsBeforeAndAfterMerge(db, table="g")
        self.assertFails(db, 'table "f_pending" already exists', "CREATE VIRTUAL TABLE f USING bloom(source=t, column=k, writers=extension)")
        self.assertEqual(db.execute("SELECT * FROM f_pending").fetchall(), [(1,)])

    def test_two_filters_of_one_source(self):
        db = self.following(rows=("a",))
        db.execute("CREATE VIRTUAL TABLE g USING bloom(source=t, column=x)")
        db.execute("CREATE VIRTUAL TABLE h USING bloom(source=t, column=k, writers=extension)")
        db.execute("INSERT INTO t(k, x) VALUES ('b', 'y')")
        db.execute("UPDATE t SET x = k")
        self.assertFollowsBeforeAndAfterMerge(db)
        self.assertFollowsBeforeAndAfterMerge(db, key="x", table="g")
        self.assertEqual(self.lost(db, table="h"), [])

    def test_a_check_in_a_transaction_sees_what_was_added_since_the_last_check(self):
        db = self.following(rows=("a",))
        db.execute("BEGIN")
        for key in ("b", "c", "d"):
            self.assertEqual(self.lost(db), [])
            db.execute("INSERT INTO f(f) VALUES ('integrity-check')")
            db.execute("INSERT INTO t(k) VALUES (?)", (key,))
        db.execute("INSERT INTO f(f) VALUES ('integrity-check')")

    def test_commands_of_the_other_mode_are_refused(self):
        db = self.following()
        for command in ("add", "remove", "expect"):
            self.assertFails(db, "one row cannot have more than one", f"INSERT INTO f(f, key) VALUES ('{command}', 'a')")
        self.assertFails(db, "cannot INSERT into a table that follows", "INSERT INTO f(key) VALUES ('a')")
        db.execute("CREATE VIRTUAL TABLE g USING bloom(capacity=10)")
        self.assertFails(db, "cannot merge changes into a table without a source", "INSERT INTO g(g) VALUES ('merge')")
        db.execute("CREATE VIRTUAL TABLE h USING bloom(source=t, column=k, writers=extension)")
        db.execute("INSERT INTO h(h) VALUES ('merge')")

    @unittest.skipIf(sqlite3.sqlite_version_info < (3, 35), "no RETURNING")
    def test_rows_that_are_returned_are_checked_once_per_statement(self):
        """The check explains the statement, which takes as long as the statement is."""
        db = self.following("kind=counting, writers=extension", rows=("a",))

        def prepared(rows):
            calls = []
            db.set_authorizer(lambda action, *_: calls.append(action) or sqlite3.SQLITE_OK)
            values = ", ".join(f"('{rows} {i}')" for i in range(rows))
            self.assertEqual(len(db.execute(f"INSERT INTO t(k) VALUES {values} RETURNING k").fetchall()), rows)
            db.set_authorizer(None)
            return calls.count(sqlite3.SQLITE_INSERT)

        self.assertEqual(prepared(5), prepared(50))
        self.assertEqual(self.present(db, "5 0", "50 49", "no"), ["5 0", "50 49"])

    def test_a_statement_that_may_stop_early_after_a_change_of_the_schema(self):
        db = self.connect()
        db.executescript("PRAGMA foreign_keys = ON; CREATE TABLE t(id INTEGER PRIMARY KEY, k UNIQUE); CREATE TABLE child(k REFERENCES t(k) ON UPDATE CASCADE)")
        db.execute("CREATE VIRTUAL TABLE f USING bloom(source=t, column=k, kind=counting, writers=extension)")
        db.execute("INSERT INTO t(k) VALUES ('a')")
        db.execute("INSERT INTO child VALUES ('a')")
        update = "UPDATE t SET k = k || 'a'"
        db.execute(update)
        db.execute("CREATE TRIGGER late BEFORE UPDATE ON child BEGIN SELECT RAISE(FAIL, 'no'); END")
        for _ in range(2):
            self.assertFails(db, "may write a row of 't' and then end by FAIL or IGNORE", update)
            db.execute("INSERT INTO t(k) VALUES (NULL)")
        self.assertEqual(self.present(db, "aa", "no"), ["aa"])

    def test_a_table_of_version_1_0_is_changed_over_by_a_rebuild(self):
        for kind in KINDS:
            with self.subTest(kind):
                db = self.following(KINDS[kind] + ", writers=extension", rows=("a",))
                # As 1.0 left it: no option `writers`, no guard index, no version of the triggers.
                db.executescript("""
                    PRAGMA writable_schema = ON;
                    UPDATE sqlite_master SET sql = replace(sql, ', writers=extension', '') WHERE name = 'f';
                    PRAGMA writable_schema = OFF; DROP INDEX f_guard; DELETE FROM f_config WHERE k IN ('triggers', 'guard', 'rows 0');
                    UPDATE f_config SET v = 1 WHERE k = 'version';
                """)
                if kind == "counting":
                    db.executescript("DROP TRIGGER f_before_insert; DROP TRIGGER f_before_update")
                else:
                    remove = """BEGIN INSERT INTO "f"("f", key) VALUES ('remove', old."k"); END"""
                    db.executescript(f'''
                        CREATE TRIGGER "f_after_update" AFTER UPDATE OF "k" ON "t" WHEN old."k" IS NOT new."k" {remove};
                        CREATE TRIGGER "f_after_delete" AFTER DELETE ON "t" {remove};
                    ''')
                db, reader, plain = self.connect(), self.connect(), self.plain()
                self.assertEqual(self.present(db, "a", "no"), ["a"])
                db.execute("INSERT INTO t(k) VALUES ('b')")
                self.assertEqual(self.present(reader, "a", "b", "no"), ["a", "b"])
                with self.assertRaisesRegex(sqlite3.OperationalError, "no such module: bloom"):
                    plain.execute("INSERT INTO t(k) VALUES ('no')")
                db.execute(REBUILD)
                plain.execute("SELECT 1 FROM t")  # reads the schema, which SQLite does not do before it compiles a trigger
                plain.execute("INSERT INTO t(k) VALUES ('c')")
                plain.execute("UPDATE t SET k = 'd' WHERE k = 'a'")
                self.assertEqual(self.present(reader, "b", "c", "d", "no"), ["b", "c", "d"])
                self.assertFollowsBeforeAndAfterMerge(db)
                db.execute("DROP TABLE f")
                self.assertEqual(self.schema(db), ["t"])

    def test_a_rebuild_that_changes_over_is_rolled_back(self):
        db = self.following("writers=extension", rows=("a",))
        db.executescript("""
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(sql, ', writers=extension', '') WHERE name = 'f';
            PRAGMA writable_schema = OFF;
        """)
        db, reader = self.connect(), self.connect()
        db.execute("BEGIN")
        db.execute(REBUILD)
        db.execute("INSERT INTO t(k) VALUES ('b')")
        self.assertEqual(self.present(db, "a", "b", "no"), ["a", "b"])
        db.execute("ROLLBACK")
        db.execute("INSERT INTO t(k) VALUES ('c')")
        for connection in (db, reader):
            self.assertEqual(self.lost(connection), [])
        self.assertEqual(one(db, "SELECT count(*) FROM f_pending"), 0)

    def test_a_column_keeps_its_key(self):
        """Neither sqlite3_blob_write() nor DROP COLUMN changes keys past the triggers."""
        self.following(rows=("aaaa",))
        plain = self.raw(extension=None)
        with self.assertRaisesRegex(Failure, "cannot open indexed column for writing"):
            plain.write_blob("t", "k", 1, b"bbbb")
        plain.run("PRAGMA legacy_alter_table = ON")
        self.assertNotEqual(plain.code("ALTER TABLE t DROP COLUMN k"), OK)


class Changesets(WritersCase):
    """SQLite's session extension records the changes of t in one database and applies them to another, which has a filter."""

    def changeset(self, db, *statements):
        session, size, data = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_void_p()
        raw._library.sqlite3session_create(db.raw, b"main", ctypes.byref(session))
        raw._library.sqlite3session_attach(session, b"t")
        db.run(*statements)
        raw._library.sqlite3session_changeset(session, ctypes.byref(size), ctypes.byref(data))
        raw._library.sqlite3session_delete(session)
        return ctypes.string_at(data, size.value)

    def apply(self, db, changeset):
        """Replaces rows that are in the way."""
        data_differs, row_exists = 1, 3
        callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
        replace = callback(lambda _, conflict, __: 1 if conflict in (data_differs, row_exists) else 0)
        db.require(raw._library.sqlite3changeset_apply(db.raw, len(changeset), changeset, None, replace, None))

    @unittest.skipUnless(hasattr(raw._library, "sqlite3session_create"), "this library has no sessions")
    def test_applied_changes_reach_the_filter(self):
        schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, k)"
        insert = "INSERT INTO t(k) VALUES ('a'), ('b'), ('c'), ('d')"
        for kind, options in KINDS.items():
            for extension in (EXTENSION, None):
                with self.subTest(kind, extension=extension):
                    origin = self.raw(":memory:", None)
                    origin.run(schema, insert)
                    changes = self.changeset(
                        origin, "UPDATE t SET k = 'changed' WHERE id = 1", "DELETE FROM t WHERE id = 2", "INSERT INTO t VALUES (9, 'new'), (10, 'other')",
                        "UPDATE t SET k = 'moved', id = 11 WHERE id = 3",
                    )  # fmt: skip
                    db = self.following(options, create=schema)
                    db.execute(insert)
                    db.execute("INSERT INTO t VALUES (10, 'in the way')")
                    db.execute("UPDATE t SET k = 'differs' WHERE id = 1")
                    other = self.raw(extension=extension)
                    self.apply(other, changes)
                    keys = {row[0] for row in db.execute("SELECT k FROM t")}
                    self.assertEqual(keys, {"changed", "new", "other", "moved", "d"})
                    self.assertFollowsBeforeAndAfterMerge(db)
                    if kind == "counting" and one(db, "PRAGMA recursive_triggers"):
                        self.assertEqual(self.present(db, "a", "b", "c", "in the way", "differs"), [])


class Calls(WritersCase):
    """Through SQLite's C interface: orders of calls that the bloom table is not told of."""

    LOST = "SELECT k FROM t WHERE NOT EXISTS (SELECT 1 FROM f WHERE key = k)"

    def raw_following(self, kind, path=None):
        self.following(KINDS[kind], rows=("a", "b", "c", "d")).close()
        return self.raw(path and path.format(self.path))

    def test_uncommitted_merges_of_a_shared_cache(self):
        for kind in KINDS:
            db = self.raw_following(kind, "file:{}?cache=shared")
            reader = self.raw(f"file:{self.path}?cache=shared")
            reader.run("PRAGMA read_uncommitted = ON")
            db.run("INSERT INTO t(k) VALUES ('e')")
            self.assertEqual(reader.run(self.LOST), [])
            scan = reader.prepare("SELECT k, EXISTS (SELECT 1 FROM f WHERE key = k) FROM t")
            self.assertEqual(scan.step(), ("a", 1))
            for sql in ("BEGIN", MERGE, "INSERT INTO t(k) VALUES ('f')", "SAVEPOINT s", MERGE, "INSERT INTO t(k) VALUES ('g')", "ROLLBACK TO s", "ROLLBACK"):
                db.run(sql)
                self.assertEqual(reader.run(self.LOST), [])
                self.assertIn((scan.step() or (None, 1))[1], (1, None))
            scan.finalize()
            self.assertEqual(db.run(self.LOST), [])

    def test_two_objects_of_one_table(self):
        for kind, end in itertools.product(KINDS, ("COMMIT", "ROLLBACK", "ROLLBACK TO s")):
            db = self.raw_following(kind)
            db.run("INSERT INTO t(k) VALUES ('e')")
            scan = db.prepare("SELECT k, EXISTS (SELECT 1 FROM f WHERE key = k) FROM t")
            self.assertEqual(scan.step(), ("a", 1))
            db.run("PRAGMA writable_schema = RESET", "BEGIN", "SAVEPOINT s", "INSERT INTO t(k) VALUES ('f')", MERGE, "INSERT INTO t(k) VALUES ('g')")
            self.assertEqual(scan.step(), ("b", 1))
            self.assertEqual(db.run(self.LOST), [])
            db.run(end, "INSERT INTO t(k) VALUES ('h')")
            while (row := scan.step()) is not None:
                self.assertEqual(row[1], 1, row)
            scan.finalize()
            self.assertEqual(db.run(self.LOST), [])

    def test_a_close_that_is_refused(self):
        for kind in KINDS:
            db = self.raw_following(kind)
            db.run("BEGIN", "INSERT INTO t(k) VALUES ('e')", MERGE, "INSERT INTO t(k) VALUES ('f')")
            scan = db.prepare("SELECT k, EXISTS (SELECT 1 FROM f WHERE key = k) FROM t")
            self.assertEqual(scan.step(), ("a", 1))
            self.assertEqual(db.close(), BUSY)
            while (row := scan.step()) is not None:
                self.assertEqual(row[1], 1, row)
            scan.finalize()
            self.assertEqual(db.run(self.LOST), [])
            db.run("INSERT INTO t(k) VALUES ('g')", MERGE, "COMMIT")
            self.assertEqual(db.run(self.LOST, CHECK), [])

    def test_functions_that_merge_write_or_roll_back_in_a_lookup(self):
        for kind, sql in itertools.product(KINDS, (MERGE, REBUILD, "INSERT INTO t(k) VALUES ('new')", "ROLLBACK", "DELETE FROM t WHERE k = 'd'")):
            db = self.raw_following(kind)
            db.function("act", lambda: db.code(sql))
            db.run("BEGIN", "INSERT INTO t(k) VALUES ('e')")
            try:
                rows = db.run("SELECT k, act(), EXISTS (SELECT 1 FROM f WHERE key = k) FROM t WHERE id < 6")
                self.assertEqual([row for row in rows if not row[2]], [])
            except Failure as failure:
                self.assertRegex(failure.text, "abort|rolled back")
            self.assertEqual(db.run(self.LOST), [])
            if db.in_transaction():
                db.run("COMMIT")
            self.assertEqual(db.run(self.LOST, CHECK, MERGE, self.LOST), [])

    def test_copies_of_a_transaction(self):
        for kind in KINDS:
            db = self.raw_following(kind)
            db.run("INSERT INTO t(k) VALUES ('e')", "BEGIN", MERGE, "INSERT INTO t(k) VALUES ('f')")
            copy = db.serialize()
            self.addCleanup(copy.close)
            copy.run("INSERT INTO t(k) VALUES ('g')")
            self.assertEqual(copy.run(self.LOST, CHECK, MERGE, CHECK, self.LOST), [])


class ReadLog(WritersCase):
    """The log was read already, so only what changed since makes a lookup read it again."""

    SCAN = "SELECT k, EXISTS (SELECT 1 FROM f WHERE key = k) FROM t"

    def raw_with_read_log(self, kind="standard", options="", create=TABLE):
        self.following(f"{KINDS[kind]}{options}", rows=("a", "b"), create=create).close()
        db = self.raw(None)
        self.assertAbsent(db, "new")
        return db

    def assertAbsent(self, db, key):
        self.assertEqual(db.run(f"SELECT 1 FROM f WHERE key = '{key}'"), [])

    def assertFound(self, db, *keys):
        for key in keys:
            self.assertEqual(db.run(f"SELECT key FROM f WHERE key = '{key}'"), [(key,)])

    def test_rows_that_a_transaction_adds_after_its_merge(self):
        for kind in KINDS:
            db = self.raw_with_read_log(kind)
            db.run("BEGIN", MERGE)
            self.assertAbsent(db, "c")
            db.run("INSERT INTO t(k) VALUES ('c')")
            self.assertFound(db, "c")
            db.run("INSERT INTO t(k) VALUES ('d')", "COMMIT")
            self.assertFound(db, "c", "d")

    def test_a_scan_that_began_after_the_merge_of_its_transaction(self):
        for kind in KINDS:
            db = self.raw_with_read_log(kind)
            db.run("BEGIN", MERGE)
            scan = db.prepare(self.SCAN)
            self.assertEqual(scan.step(), ("a", 1))
            for key in ("c", "d"):
                db.run(f"INSERT INTO t(k) VALUES ('{key}')")
            self.assertEqual([scan.step() for _ in range(4)], [("b", 1), ("c", 1), ("d", 1), None])
            scan.finalize()

    @unittest.skipIf(sqlite3.sqlite_version_info < (3, 35), "no RETURNING")
    def test_rows_of_a_statement_that_has_not_finished(self):
        for kind, start in itertools.product(KINDS, ((), ("BEGIN",), ("BEGIN", "UPDATE t SET x = 1"), ("BEGIN", MERGE))):
            with self.subTest(kind, start=start):
                db = self.raw_with_read_log(kind)
                db.run(*start)
                self.assertAbsent(db, "c")
                scan = db.prepare(self.SCAN)
                self.assertEqual(scan.step(), ("a", 1))
                writer = db.prepare("INSERT INTO t(k) VALUES ('c'), ('d') RETURNING k")
                self.assertEqual(writer.step(), ("c",))
                self.assertFound(db, "c", "d")
                self.assertEqual([scan.step() for _ in range(4)], [("b", 1), ("c", 1), ("d", 1), None])
                scan.finalize()
                writer.finalize()
                self.assertFound(db, "c", "d")

    def test_lookups_of_the_statement_that_adds(self):
        for kind in KINDS:
            db = self.raw_with_read_log(kind)
            db.run("UPDATE t SET k = 'new ' || id, x = EXISTS (SELECT 1 FROM f WHERE key = 'new ' || (t.id - 1))")
            self.assertEqual(db.run("SELECT x FROM t WHERE id > 1"), [(1,)])

    def test_a_transaction_that_only_reads_and_then_writes(self):
        for kind in KINDS:
            db = self.raw_with_read_log(kind)
            db.run("BEGIN")
            self.assertAbsent(db, "c")
            db.run("SAVEPOINT s", "INSERT INTO t(k) VALUES ('c')", "ROLLBACK TO s")
            self.assertAbsent(db, "d")
            db.run("INSERT INTO t(k) VALUES ('d')")
            self.assertFound(db, "d")
            db.run("COMMIT")
            self.assertFound(db, "d")

    def test_the_default_that_replaces_null(self):
        for kind in KINDS:
            db = self.raw_with_read_log(kind, create="CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT NOT NULL DEFAULT 'd', x)")
            self.assertAbsent(db, "d")
            db.run("INSERT OR REPLACE INTO t(k) VALUES (NULL)")
            self.assertEqual(db.one("SELECT count(*) FROM t WHERE k = 'd'"), 1)
            self.assertFound(db, "d")

    def test_a_rebuild_by_a_function_of_a_running_insert(self):
        for writers in ("any", "extension"):
            db = self.raw_with_read_log(options=f", writers={writers}")
            codes = []
            db.function("rebuild", lambda: codes.append(db.code(REBUILD)))
            db.run("CREATE TRIGGER r BEFORE INSERT ON t BEGIN SELECT rebuild(); END")
            db.code("INSERT INTO t(k) VALUES ('c')")
            self.assertEqual(codes, [1])
            db.run("DROP TRIGGER r")
            self.assertFound(db, *(row[0] for row in db.run("SELECT k FROM t")))

    def test_the_version_tells_programs_that_do_not_know_the_log(self):
        for writers, version in (("any", 5), ("extension", 4)):
            db = self.following(f"writers={writers}")
            self.assertEqual(db.execute("SELECT v FROM f_config WHERE k = 'version'").fetchone(), (version,))


class Amounts(WritersCase):
    def test_a_growing_filter_gets_layers_from_a_merge(self):
        db = self.following("growth=on, capacity=32")
        self.plain().executemany("INSERT INTO t(k) VALUES (?)", [(i,) for i in range(2000)])
        self.assertFollowsBeforeAndAfterMerge(db)
        self.assertGreater(len(self.info(db)["layers"]), 2)
        self.assertFollows(self.connect())

    def test_100000_pending_rows(self):
        script = """
            import sys; sys.path.insert(0, sys.argv[2])
            import resource, random, sqlite3, time
            db = sqlite3.connect(sys.argv[3], isolation_level=None)
            db.enable_load_extension(True); db.load_extension(sys.argv[1])
            db.execute("PRAGMA cache_size = -1000")
            db.execute("SELECT 1 FROM t WHERE k = 1").fetchall()
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            lost = db.execute("SELECT count(*) FROM t LEFT JOIN f ON f.key = k WHERE f.key IS NULL").fetchone()[0]
            found = db.execute("SELECT count(*) FROM (SELECT 'no' || k AS n FROM t) JOIN f ON f.key = n").fetchone()[0]
            print(lost, found, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        """
        db = self.following("capacity=100000")
        self.plain().execute(
            "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 100000) "
            "INSERT INTO t(k) SELECT 'a key of some length, which the overlay does not store ' || i FROM n"
        )
        self.assertEqual(self.info(db)["pending"], 100000)
        program = "\n".join(line.strip() for line in script.splitlines())
        out = subprocess.run(
            [sys.executable, "-B", "-c", program, EXTENSION, str(Path(__file__).resolve().parents[1]), self.path], capture_output=True, text=True
        )
        self.assertEqual(out.stderr, "")
        lost, found, kilobytes = map(int, out.stdout.split())
        self.assertEqual(lost, 0)
        self.assertLess(found, 3000)  # 1 % of the filter and 0.1 % of the overlay
        self.assertLess(kilobytes, 8000)  # the keys alone are 6 MB; this is SQLite's cache, sorter and the overlay
        db.execute(MERGE)
        self.assertEqual(self.info(db)["pending"], 0)
        self.assertEqual(one(db, "SELECT count(*) FROM t LEFT JOIN f ON f.key = k WHERE f.key IS NULL"), 0)

    def test_a_join_reads_the_log_once(self):
        """Statements of SQLite's own machine are counted: the check costs nothing for each row of a join."""
        db = self.following(rows=range(1000))
        self.plain().execute("INSERT INTO t(k) VALUES ('a')")
        self.assertEqual(self.lost(db), [])
        steps = [0]
        db.set_progress_handler(lambda: steps.__setitem__(0, steps[0] + 1) or 0, 1)
        db.execute("SELECT count(*) FROM t JOIN f ON f.key = k").fetchall()
        with_pending = steps[0]
        db.set_progress_handler(None, 0)
        db.execute(MERGE)
        db.execute("SELECT count(*) FROM t JOIN f ON f.key = k").fetchall()
        steps[0] = 0
        db.set_progress_handler(lambda: steps.__setitem__(0, steps[0] + 1) or 0, 1)
        db.execute("SELECT count(*) FROM t JOIN f ON f.key = k").fetchall()
        db.set_progress_handler(None, 0)
        self.assertLess(with_pending - steps[0], 500)


if __name__ == "__main__":
    unittest.main()
