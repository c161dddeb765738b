"""Sequences of statements and calls that once broke the promise: a key that was added is never answered "absent".

    [WRITERS=extension] /usr/bin/python3 tests/promise/promise_test.py EXTENSION [unittest options]

The tests call SQLite's C interface, because most of them need functions that Python's sqlite3 module hides.
tests/promise/promise_model_test.py runs random sequences.
"""

import ctypes
import itertools
import os
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support import raw  # noqa: E402
from support.host import EXTENSION  # noqa: E402
from support.raw import BUSY, CONSTRAINT, DBCONFIG_ENABLE_QPSG, INTERRUPT, LOCKED, OK, Failure, Raw  # noqa: E402

# The option `writers` of tables with a source.
WRITERS = os.environ.get("WRITERS", "any")
SOURCE = f"writers={WRITERS}, source=s"

# One table for each implementation in the extension. {} stands for the name of the table.
TABLES = {
    "standard": "CREATE VIRTUAL TABLE {} USING bloom(capacity=1000)",
    "several chunks, small cache": "CREATE VIRTUAL TABLE {} USING bloom(capacity=20000, cache=4096)",
    "counting": "CREATE VIRTUAL TABLE {} USING bloom(capacity=1000, kind=counting)",
    "keys across chunks": "CREATE VIRTUAL TABLE {} USING bloom(cells=30000, hashes=3, kind=counting)",
    "growing": "CREATE VIRTUAL TABLE {} USING bloom(capacity=32, growth=on)",
}

# Lookups within a statement that writes elsewhere.
ELSEWHERE = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) INSERT INTO other SELECT i FROM n WHERE NOT EXISTS (SELECT 1 FROM f WHERE key = i || ' is absent')"


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "db")

    def assertPresent(self, db, *keys, table="f"):
        for key in keys:
            self.assertEqual(db.run(f"SELECT CAST(key AS TEXT) FROM {table} WHERE key = '{key}'"), [(key,)], f"lost {key}")

    def assertFollows(self, db, source="s", column="k", table="f"):
        """Checks that all keys of the source are found, one by one and in a join."""
        for (key,) in db.run(f"SELECT CAST({column} AS TEXT) FROM {source} WHERE {column} IS NOT NULL"):
            self.assertPresent(db, key, table=table)
        self.assertEqual(db.one(f"SELECT count(*) FROM {source} LEFT JOIN {table} ON {table}.key = {column} WHERE {column} IS NOT NULL AND {table}.key IS NULL"), 0)

    def assertFails(self, db, text, sql):
        with self.assertRaisesRegex(Failure, text) as caught:
            db.run(sql)
        return caught.exception.code


class Savepoints(Case):
    def test_a_savepoint_that_fails_in_another_table(self):
        path = f"file:{self.path}?cache=shared"
        for create in TABLES.values():
            a, b = Raw(path), Raw(path)
            for name in ("p", "f"):
                a.run(create.format(name), f"INSERT INTO {name}(key) VALUES ('old')")
            a.run("CREATE TABLE x(a UNIQUE)", "BEGIN", "INSERT OR IGNORE INTO p(key) VALUES ('old')")
            a.run("INSERT INTO f(key) VALUES ('f1'), ('f2')", "INSERT INTO p(key) VALUES ('p1')")
            b.run("BEGIN")
            b.code("SELECT 1 FROM p WHERE key = 'old'")
            a.code("INSERT INTO x VALUES (3), (4)")
            b.run("COMMIT")
            a.run("COMMIT")
            self.assertPresent(b, "old", "f1", "f2")
            self.assertPresent(b, "old", "p1", table="p")
            a.run("DROP TABLE p", "DROP TABLE f", "DROP TABLE x")
            self.assertEqual((a.close(), b.close()), (0, 0))

    def test_a_savepoint_that_fails_in_a_table_of_another_module(self):
        """FTS5 writes when a savepoint opens. Here it cannot: another connection has locked its rows."""
        path = f"file:{self.path}?cache=shared"
        a, b = Raw(path), Raw(path)
        try:
            a.run("CREATE VIRTUAL TABLE p USING fts5(a)")
        except Failure:
            self.skipTest("SQLite without FTS5")
        a.run(TABLES["standard"].format("f"), "CREATE TABLE x(a UNIQUE)")
        for savepoint in ("INSERT INTO x VALUES (1), (2)", "SAVEPOINT y"):
            a.run("BEGIN", "INSERT INTO p VALUES ('one')", "INSERT INTO f(key) VALUES ('f1'), ('f2')", "INSERT INTO f(key) VALUES ('f3')")
            b.run("BEGIN", "SELECT * FROM x")
            b.code("SELECT count(*) FROM p_data")
            a.code(savepoint)
            b.run("COMMIT")
            a.run("COMMIT")
            self.assertPresent(a, "f1", "f2", "f3")
            a.run("INSERT INTO f(f) VALUES ('clear')", "DELETE FROM x")
        a.close(), b.close()

    def test_every_order_of_savepoints_and_schema_changes(self):
        """Looks up all added keys after each statement and after the COMMIT."""
        steps = ("SAVEPOINT a", "ROLLBACK TO a", "RELEASE a", "INSERT INTO f(key) VALUES ('{}')", "INSERT INTO f(key) VALUES ('{}'), ('{} too')", "PRAGMA writable_schema = RESET", "ALTER TABLE o RENAME TO o2", ELSEWHERE)
        ways = (*itertools.permutations(range(len(steps) - 1), 4), *itertools.permutations(range(len(steps)), 3))
        for create, way in itertools.product((TABLES["counting"], TABLES["growing"]), ways):
            db = Raw()
            db.run(create.format("f"), "CREATE TABLE o(x)", "CREATE TABLE other(x)", "CREATE TABLE log(k)", "BEGIN")
            for number, step in enumerate(way):
                if db.code(steps[step].format(number, number)) == 0 and "INSERT INTO f" in steps[step]:
                    db.run(f"INSERT INTO log VALUES ('{number}')")
                self.assertFollows(db, "log")
            db.run("COMMIT")
            self.assertFollows(db, "log")
            db.close()


class Elsewhere(Case):
    """Lookups in transactions that write to other tables. SQLite does not report their end to the filter."""

    def test_the_cache_stays(self):
        """Else each statement reads the chunk of its key."""
        for statement in ("SELECT 1 FROM f WHERE key = 'absent {}'", "INSERT INTO other SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM f WHERE key = 'absent {}')"):
            for end in "COMMIT", "ROLLBACK":
                db = Raw(self.path)
                db.run("CREATE VIRTUAL TABLE f USING bloom(capacity=1000)", "INSERT INTO f(key) VALUES ('a')", "CREATE TABLE other(x)", "SELECT 1 FROM f WHERE key = 'a'")
                before = db.one("SELECT chunks_read FROM f")
                for _ in range(3):
                    db.run("BEGIN", *(each for i in range(20) for each in ("INSERT INTO other VALUES (1)", statement.format(i))), end)
                for i in range(20):
                    db.run("INSERT INTO other VALUES (1)", statement.format(i))
                # After a rollback, the next lookup reads it again.
                self.assertLessEqual(db.one("SELECT chunks_read FROM f") - before, 0 if end == "COMMIT" else 3, (statement, end))
                db.run("DROP TABLE f", "DROP TABLE other")
                db.close()

    def test_the_cache_sees_what_others_commit(self):
        """Before, within and after transactions that write elsewhere, in every order of the commits."""
        for journal in ("delete", "wal"):
            db, second = Raw(self.path), Raw(self.path)
            db.run(f"PRAGMA journal_mode = {journal}", "CREATE VIRTUAL TABLE f USING bloom(capacity=1000)", "CREATE TABLE other(x)")
            keys = []
            for i, (own, add) in enumerate(itertools.product(("", "INSERT INTO other VALUES (1)", "BEGIN; INSERT INTO other VALUES (1); COMMIT", "BEGIN; INSERT INTO other VALUES (1); ROLLBACK"), repeat=2)):
                for each in own.split("; ") if own else ():
                    db.run(each)
                self.assertPresent(db, *keys)
                second.run(f"INSERT INTO f(key) VALUES ('{i}')")
                keys.append(str(i))
                for each in add.split("; ") if add else ():
                    db.run(each)
                    self.assertPresent(db, *keys)
                self.assertPresent(db, *keys)
            second.close()
            db.run("DROP TABLE f", "DROP TABLE other")
            db.close()

    def test_a_rollback_takes_no_key_back_that_was_added_before(self):
        for create in TABLES.values():
            for outside, end in itertools.product(("SELECT 1", "SAVEPOINT o", "SAVEPOINT o; SAVEPOINT p"), ("ROLLBACK", "ROLLBACK TO a", "RELEASE a", "COMMIT")):
                db = Raw(self.path)
                db.run(create.format("f"), "CREATE TABLE other(x)", "INSERT INTO f(key) VALUES ('old')", "BEGIN", *outside.split("; "), "INSERT INTO other VALUES (1)", ELSEWHERE, "SAVEPOINT a")
                db.run("INSERT INTO f(key) VALUES ('new')", ELSEWHERE)
                self.assertPresent(db, "old", "new")
                db.run(end)
                self.assertPresent(db, "old", *(("new",) if end in ("RELEASE a", "COMMIT") else ()))
                if db.in_transaction():
                    db.run("INSERT INTO f(key) VALUES ('later')", "COMMIT")
                    self.assertPresent(db, "later")
                second = Raw(self.path)
                self.assertPresent(second, "old", *(("new",) if end in ("RELEASE a", "COMMIT") else ()))
                second.close()
                db.run("DROP TABLE f", "DROP TABLE other")
                db.close()

    def test_the_cache_of_one_transaction_in_the_next(self):
        """It is kept if nothing has changed meanwhile."""
        for create in TABLES.values():
            db, second = Raw(self.path), Raw(self.path)
            db.run("PRAGMA journal_mode = wal", create.format("f"), "CREATE TABLE other(x)", "INSERT INTO f(key) VALUES ('old')")
            for who, statement in ((second, "INSERT INTO f(key) VALUES ('{}')"), (db, "INSERT INTO f(key) VALUES ('{}')"), (second, "INSERT INTO other VALUES ('{}')"), (db, "SELECT '{}'")):
                for end in "COMMIT", "ROLLBACK":
                    key = f"{len(statement)} {end} {id(who)}"
                    db.run("BEGIN", "INSERT INTO other VALUES (1)", ELSEWHERE, end)
                    who.run(statement.format(key))
                    expected = ["old"] + ([key] if "INTO f" in statement else [])
                    self.assertEqual(db.one("SELECT count(*) FROM f WHERE key = 'old'"), 1)
                    for first in ("", "SAVEPOINT a"):
                        db.run("BEGIN", *([first] if first else []))
                        for each in expected:
                            db.run(f"INSERT INTO other SELECT 'found' WHERE EXISTS (SELECT 1 FROM f WHERE key = '{each}')")
                            self.assertEqual(db.one("SELECT changes()"), 1, (each, expected))
                        db.run(ELSEWHERE, "INSERT INTO f(key) VALUES ('taken back')", "ROLLBACK TO a" if first else "SELECT 1", end)
            db.run("DROP TABLE f", "DROP TABLE other")
            second.close(), db.close()

    def test_rows_of_a_source_that_are_written_after_lookups(self):
        for more in ("", ", kind=counting, capacity=1000"):
            for end in "ROLLBACK TO a", "RELEASE a":
                db = Raw()
                db.run("CREATE TABLE s(k)", f"CREATE VIRTUAL TABLE f USING bloom({SOURCE}, column=k{more})", "CREATE TABLE other(x)", "INSERT INTO s VALUES ('old')", "BEGIN")
                db.run("INSERT INTO s VALUES ('first')", ELSEWHERE, "SAVEPOINT a", "INSERT INTO s VALUES ('new')")
                self.assertFollows(db)
                db.run(end, "INSERT INTO s VALUES ('last')")
                self.assertFollows(db)
                db.run("COMMIT")
                self.assertFollows(db)

    def test_a_reader_never_writes(self):
        """If a reader is interrupted, the transaction stays. If it had written, SQLite could roll the transaction back."""
        db = Raw()
        db.run(TABLES["standard"].format("f"), "CREATE TABLE other(x)", "INSERT INTO f(key) VALUES ('a')", "BEGIN", "INSERT INTO other VALUES (1)")
        self.assertReads(db)
        self.assertEqual(db.one("SELECT count(*) FROM other"), 1)

    def test_a_reader_beside_a_writer_that_is_paused(self):
        db = Raw()
        if db.code("INSERT INTO missing VALUES (1) RETURNING 1") and db.one("SELECT sqlite_version() < '3.35'"):
            self.skipTest("RETURNING needs SQLite 3.35")
        db.run(TABLES["standard"].format("f"), "CREATE TABLE other(x)", "INSERT INTO f(key) VALUES ('a')", "BEGIN", "INSERT INTO other VALUES (1)")
        paused = db.prepare("INSERT INTO other VALUES (2), (3) RETURNING x")
        self.assertEqual(paused.step(), (2,))
        self.assertReads(db)
        self.assertEqual(paused.step(), (3,))
        paused.finalize()
        self.assertEqual(db.one("SELECT count(*) FROM other"), 3)

    def assertReads(self, db):
        """Interrupts a SELECT of many lookups at every instruction."""
        read = ELSEWHERE.replace("INSERT INTO other ", "")
        for after in range(1, 2000):
            left = itertools.count(after, -1)
            db.progress(lambda left=left: int(next(left) <= 0))
            code = db.code(read)
            db.progress(None)
            self.assertTrue(db.in_transaction())
            if code == 0:
                break
        self.assertEqual(code, 0)

    def test_an_authorizer_that_denies_it(self):
        db = Raw()
        db.run(TABLES["standard"].format("f"), "CREATE TABLE other(x)", "INSERT INTO f(key) VALUES ('a')")
        db.authorizer(lambda action, first, second: int((action, first) == (18, "f")))  # 18: INSERT
        db.run("BEGIN", "INSERT INTO other VALUES (1)", ELSEWHERE, ELSEWHERE)
        self.assertEqual(db.one("SELECT count(*) FROM other"), 41)
        self.assertPresent(db, "a")


class SeveralObjects(Case):
    """SQLite makes a second object of a table when it reads the schema again, and does not report every event to both objects."""

    CREATE = TABLES["standard"].format("f")

    def test_two_objects_write_in_the_transaction_that_has_made_the_table(self):
        """A function that a statement calls makes the second object, and the statement goes on with the first."""
        number = itertools.count()
        look = ELSEWHERE.replace("INSERT INTO other ", "")
        for table in (*TABLES.values(), "CREATE VIRTUAL TABLE {} USING bloom_groups(capacity=50)"):
            for between, looks in itertools.product((("SELECT 1",), (look, look), ("INSERT INTO {} VALUES ({}'inner')",), ("INSERT INTO {} VALUES ({}'inner')", look), ("INSERT INTO {} VALUES ({}'inner')", "ALTER TABLE other ADD COLUMN y", "INSERT INTO {} VALUES ({}'inner'), ({}'third')")), (True, False)):
                with self.subTest(table, between=between, looks=looks):
                    path = f"{self.path}{next(number)}"
                    db = Raw(path)
                    target, member = ("f(member, key)", "1, ") if "groups" in table else ("f(key)", "")
                    codes = []
                    db.function("change", lambda db=db, codes=codes, between=between, target=target, member=member: codes.append(
                        [db.code(sql.format(target, member, member)) for sql in ("PRAGMA writable_schema = RESET", *between)]) if not codes else None)
                    db.run("CREATE TABLE other(x)", "BEGIN", table.format("f"))
                    db.run(f"INSERT INTO {target} VALUES ({member}'outer' || coalesce(change(), ''))")
                    keys = ["outer"] + (["inner"] if "inner" in between[0] else [])
                    self.assertEqual(codes, [[0] * (1 + len(between))])
                    if looks:
                        self.assertPresent(db, *keys)
                    db.run("COMMIT")
                    self.assertPresent(db, *keys)
                    db.run(f"INSERT INTO {target} VALUES ({member}'later')", "INSERT INTO f(f) VALUES ('integrity-check')")
                    second = Raw(path)
                    self.assertPresent(second, *keys)
                    second.close()
                    db.close()
    FAILING_ATTACH = "ATTACH 'file:/nowhere/at/all?mode=ro' AS nowhere"

    def test_a_table_created_in_the_transaction_and_two_schema_reads(self):
        for options, reload in itertools.product(("", ", kind=counting, capacity=1000", ", growth=on"), (self.FAILING_ATTACH, "PRAGMA writable_schema = RESET")):
            path = self.path + str(abs(hash((options, reload))))
            db = Raw(path)
            db.run("CREATE TABLE s(k)", "INSERT INTO s VALUES ('a')", "BEGIN", f"CREATE VIRTUAL TABLE f USING bloom({SOURCE}, column=k{options})")
            for key in "kmn":
                db.code(reload)
                db.run(f"INSERT INTO s VALUES ('{key}')")
                self.assertFollows(db)
            db.run("COMMIT")
            self.assertFollows(db)
            self.assertFollows(Raw(path))

    def test_a_drop_and_a_create_that_are_rolled_back_to_a_savepoint(self):
        for capacity, after in itertools.product((1000, 100000), ("INSERT INTO x VALUES (1), (2)", "RELEASE a", "SAVEPOINT b")):
            path = f"{self.path}{capacity}{after[:3]}"
            db = Raw(path)
            db.run(f"CREATE VIRTUAL TABLE f USING bloom(capacity={capacity})", "INSERT INTO f(key) VALUES ('a')", "CREATE TABLE x(a UNIQUE)", "BEGIN", "SAVEPOINT a", "DROP TABLE f", self.CREATE)
            db.run("SELECT 1 FROM f WHERE key = 'a'", "ROLLBACK TO a", after)
            self.assertPresent(db, "a")
            keys = [f"k{i}" for i in range(50)]
            db.run("INSERT INTO f(key) VALUES " + ",".join(f"('{key}')" for key in keys), "COMMIT")
            self.assertPresent(db, "a", *keys)
            self.assertPresent(Raw(path), "a", *keys)

    def test_a_scan_that_runs_while_another_object_inserts(self):
        db = Raw()
        db.run("CREATE TABLE o(k)", "INSERT INTO o VALUES ('1')", "BEGIN", self.CREATE)
        scan = db.prepare("SELECT o.k, f.key FROM o LEFT JOIN f ON f.key = o.k")
        scan.step()
        db.run("PRAGMA writable_schema = RESET", "INSERT INTO f(key) VALUES ('n')", "INSERT INTO o VALUES ('n')")
        self.assertIn(scan.step(), (("n", "n"), None))
        scan.finalize()

    def test_a_long_scan_that_sees_what_another_object_inserts(self):
        """After some lookups a statement relies on its cache, and on reports about writes of the other object."""
        for begin in ("SELECT 1", "BEGIN"):
            db = Raw()
            db.run(self.CREATE, "CREATE TABLE o(k)", "INSERT INTO o VALUES ('a'), ('a'), ('a'), ('a'), ('a'), ('n')", "INSERT INTO f(key) VALUES ('a')")
            scan = db.prepare("SELECT o.k, f.key FROM o LEFT JOIN f ON f.key = o.k")
            self.assertEqual([scan.step() for _ in range(4)], [("a", "a")] * 4)
            db.run("PRAGMA writable_schema = RESET", "SELECT key FROM f WHERE key = 'x'")
            self.assertEqual(scan.step(), ("a", "a"))
            db.run(begin, "INSERT INTO f(key) VALUES ('n')")
            self.assertEqual(scan.step(), ("n", "n"))
            scan.finalize()

    def test_a_scan_across_a_savepoint_that_is_reported_to_both_objects(self):
        db = Raw()
        db.run("CREATE TABLE o(k)", "INSERT INTO o VALUES ('1'), ('2'), ('3')", "BEGIN", self.CREATE)
        scan = db.prepare("SELECT o.k, f.key FROM o LEFT JOIN f ON f.key = o.k")
        self.assertEqual(scan.step(), ("1", None))
        db.run("PRAGMA writable_schema = RESET", "SELECT key FROM f WHERE key = 'x'", "SAVEPOINT a")
        self.assertEqual(scan.step(), ("2", None))
        db.run("INSERT INTO f(key) VALUES ('3')")
        self.assertEqual(scan.step(), ("3", "3"))
        scan.finalize()

    def test_a_scan_that_a_function_continues_before_the_statement_counts_a_row(self):
        for begin in ("SELECT 1", "BEGIN"):
            db = Raw()
            db.run(self.CREATE, "CREATE TABLE o(k)", "INSERT INTO o VALUES ('a'), ('k1'), ('k2')", "INSERT INTO f(key) VALUES ('a')")
            scan = db.prepare("SELECT o.k, f.key FROM o LEFT JOIN f ON f.key = o.k")
            rows = [scan.step()]
            db.run("PRAGMA writable_schema = RESET", begin)
            db.function("look", lambda: rows.append(scan.step()))
            # Each key is added before the function is called for the next row.
            db.run("INSERT INTO f(key) SELECT CASE i WHEN 1 THEN 'k1' ELSE coalesce(look(), 'k' || i) END FROM (SELECT 1 AS i UNION ALL SELECT 2 UNION ALL SELECT 3)")
            scan.finalize()
            self.assertEqual(rows, [("a", "a"), ("k1", "k1"), ("k2", "k2")])

    def test_a_scan_that_a_function_continues_while_a_statement_inserts(self):
        db = Raw(self.path)
        db.run("CREATE TABLE s(k)", f"CREATE VIRTUAL TABLE f USING bloom({SOURCE}, column=k)", "INSERT INTO s VALUES ('a')", "CREATE TABLE log(x)")
        scan = db.prepare("SELECT s.k, f.key FROM s LEFT JOIN f ON f.key = s.k")
        rows = [scan.step()]
        db.run("PRAGMA writable_schema = RESET")
        db.function("look", lambda: rows.append(scan.step()))
        db.run("CREATE TRIGGER looking AFTER INSERT ON s BEGIN INSERT INTO log VALUES (look()); END", "INSERT INTO s VALUES ('k1'), ('k2'), ('k3')")
        scan.finalize()
        self.assertEqual([row for row in rows if row and row[0] != row[1]], [])

    def test_names_that_are_swapped_and_rolled_back_during_a_scan(self):
        for undo in ("ROLLBACK", "ROLLBACK TO sp"):
            db = Raw()
            db.run(self.CREATE, TABLES["standard"].format("g"), "INSERT INTO f(key) VALUES ('a'), ('b'), ('c')")
            scan = db.prepare("SELECT v.k, f.key FROM (SELECT 'a' AS k UNION ALL SELECT 'b' UNION ALL SELECT 'c') AS v LEFT JOIN f ON f.key = v.k")
            rows = [scan.step()]
            db.run("BEGIN", "INSERT INTO f(key) VALUES ('d')", "SAVEPOINT sp", "ALTER TABLE f RENAME TO h", "ALTER TABLE g RENAME TO f", "ALTER TABLE h RENAME TO g")
            db.code(undo)
            try:
                rows += [scan.step(), scan.step()]
            except Failure as failure:
                self.assertRegex(failure.text, "was renamed while the statement ran|no such table|abort")
            scan.finalize()
            self.assertEqual([row for row in rows if row[0] != row[1]], [])
            self.assertPresent(db, "a", "b", "c")


class Threads(Case):
    def test_two_threads_commit_with_a_shared_cache(self):
        """One thread may commit between a commit of the other thread and the check of the data version that follows it."""
        path = f"file:{self.path}?cache=shared"
        sides = [Raw(path), Raw(path)]
        sides[0].run(TABLES["standard"].format("f"), "CREATE TABLE o(k)")
        lost = []

        def work(db, name):
            end = time.monotonic() + 3
            while time.monotonic() < end and not lost:
                key = f"{name}{time.monotonic_ns()}"
                try:
                    db.run("BEGIN IMMEDIATE", f"INSERT INTO f(key) VALUES ('{key}')", f"INSERT INTO o VALUES ('{key}')")
                except Failure:
                    pass
                while db.in_transaction() and db.code("COMMIT") != 0:
                    pass
                try:
                    lost.extend(db.run("SELECT o.k FROM o LEFT JOIN f ON f.key = o.k WHERE f.key IS NULL"))
                except Failure:
                    pass

        threads = [threading.Thread(target=work, args=(db, name)) for db, name in zip(sides, "ab")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(lost, [])
        for db in sides:
            db.run("SELECT 1")
            self.assertEqual(db.close(), 0)


class Uncounted(Case):
    """Writes to shadow tables that sqlite3_total_changes() does not count, and that are rolled back."""

    def test_cells_that_were_read_between_the_write_and_the_rollback(self):
        for write in ("blob", "DDL"):
            db = Raw(self.path + write)
            db.run(TABLES["several chunks, small cache"].format("f"), "INSERT INTO f(key) VALUES ('a')")
            lookup = db.prepare("SELECT key FROM f WHERE key = 'a'")
            others = db.prepare("SELECT count(*) FROM (SELECT 'b' AS k UNION ALL SELECT 'c' UNION ALL SELECT 'd' UNION ALL SELECT 'e') JOIN f ON f.key = k")
            for statement in (lookup, others, others, others, others):
                statement.step()
                statement.reset()
            db.run("BEGIN IMMEDIATE")
            if write == "blob":
                for i, size in db.run("SELECT id, length(chunk) FROM f_data"):
                    db.write_blob("f_data", "chunk", i, bytes(size))
            else:
                db.run("CREATE TABLE z AS SELECT id, zeroblob(length(chunk)) AS chunk FROM f_data", "DROP TABLE f_data", "ALTER TABLE z RENAME TO f_data")
            self.assertIsNone(lookup.step())
            lookup.reset()
            db.run("ROLLBACK")
            self.assertEqual(lookup.step(), ("a",), write)
            lookup.finalize()
            others.finalize()
            self.assertPresent(db, "a")


class Nested(Case):
    def test_a_scan_across_a_refused_close_and_a_rollback(self):
        db = Raw()
        db.run(TABLES["standard"].format("f"), "CREATE TABLE o(k)", "INSERT INTO o VALUES ('x'), ('y'), ('z')", "INSERT INTO f(key) SELECT k FROM o")
        scan = db.prepare("SELECT o.k, f.key FROM o LEFT JOIN f ON f.key = o.k")
        scan.step()
        db.run("BEGIN", "INSERT INTO f(f) VALUES ('clear')")
        self.assertEqual(db.close(), BUSY)
        scan.step()
        db.run("ROLLBACK")
        self.assertEqual(scan.step(), ("z", "z"))
        scan.finalize()

    def test_a_second_connection_that_opens_during_a_scan(self):
        path = f"file:{self.path}?cache=shared"
        b = Raw(path)
        b.run(TABLES["standard"].format("f"), "CREATE TABLE o(k)", "INSERT INTO o VALUES ('old')", "INSERT INTO f(key) VALUES ('old')", "PRAGMA read_uncommitted = ON")
        scan = b.prepare("SELECT o.k, f.key FROM o LEFT JOIN f ON f.key = o.k")
        self.assertEqual(scan.step(), ("old", "old"))
        a = Raw(path)
        a.run("BEGIN", "INSERT INTO f(key) VALUES ('new')", "INSERT INTO o VALUES ('new')")
        self.assertEqual(scan.step(), ("new", "new"))
        scan.finalize()

    def test_a_statement_that_a_function_runs_and_that_fails_halfway_while_a_statement_inserts(self):
        for begin, change in itertools.product(("SELECT 1", "BEGIN"), ("UPDATE c SET key = 'new' WHERE key = 'old'", "INSERT INTO c(c) VALUES ('halve')")):
            path = f"{self.path}{begin[0]}{change[0]}"
            db = Raw(path)
            db.run("CREATE VIRTUAL TABLE c USING bloom(capacity=100000, kind=counting)", "INSERT INTO c(key) VALUES ('old')", "CREATE TABLE new(k)", "INSERT INTO new VALUES ('a'), ('b'), ('c'), ('d')")
            insert_into_data = 18

            def fail():
                db.authorizer(lambda action, table, _: int(action == insert_into_data and table == "c_data"))
                db.code(change)
                db.authorizer(None)

            db.function("fail", fail)
            db.run(begin)
            db.code("INSERT INTO c(key) SELECT k FROM new WHERE k < 'c' OR fail() IS NULL")
            if db.in_transaction():
                db.run("COMMIT")
            present = db.run("SELECT key FROM c WHERE key = 'old'") or db.run("SELECT key FROM c WHERE key = 'new'")
            self.assertTrue(present, (begin, change))
            self.assertTrue(Raw(path).run("SELECT key FROM c WHERE key IN ('old', 'new')"))

    def test_a_rebuild_that_fails_and_then_one_that_succeeds(self):
        db = Raw()
        db.run("CREATE TABLE s(k)", f"CREATE VIRTUAL TABLE f USING bloom({SOURCE}, column=k)", "INSERT INTO s VALUES ('a'), ('b')", "DROP TRIGGER f_before_update", "BEGIN", "SAVEPOINT a")
        create_trigger = 7
        db.authorizer(lambda action, *_: int(action == create_trigger))
        self.assertFails(db, "not authorized", "INSERT INTO f(f) VALUES ('rebuild')")
        db.authorizer(None)
        db.run("INSERT INTO f(f) VALUES ('rebuild')")
        self.assertFollows(db.serialize())
        self.assertFollows(db)


class Close(Case):
    def test_a_close_that_is_refused_in_a_transaction(self):
        for create, keep in itertools.product(TABLES.values(), ("statement", "backup")):
            db = Raw()
            db.run("CREATE TABLE s(k)", f"CREATE VIRTUAL TABLE f USING bloom({SOURCE}, column=k)", create.format("t"))
            statement = db.prepare("SELECT 1") if keep == "statement" else None
            finish = db.begin_backup() if keep == "backup" else None
            db.run("BEGIN", "INSERT INTO s VALUES ('lost')", "INSERT INTO t(key) VALUES ('lost')", "INSERT INTO t(key) VALUES ('two'), ('three')")
            self.assertEqual(db.close(), BUSY)
            self.assertPresent(db, "lost", "two", table="t")
            db.run("INSERT INTO t(key) VALUES ('four')")
            self.assertEqual(db.close(), BUSY)
            statement.finalize() if statement else finish()
            db.run("COMMIT")
            self.assertFollows(db)
            self.assertPresent(db, "lost", "two", "three", "four", table="t")
            self.assertEqual(db.close(), 0)

    def test_a_close_that_is_refused_leaves_no_uncommitted_cells(self):
        db = Raw()
        db.run(TABLES["standard"].format("f"), "INSERT INTO f(key) VALUES ('z')")
        statement = db.prepare("SELECT 1")
        db.run("BEGIN", "INSERT INTO f(f) VALUES ('clear')")
        self.assertEqual(db.close(), BUSY)
        self.assertEqual(db.run("SELECT key FROM f WHERE key = 'z'"), [])
        statement.finalize()
        db.run("ROLLBACK")
        self.assertPresent(db, "z")

    def test_a_close_from_within_a_statement(self):
        """SQLite refuses the close, but has reported a rollback, which does not happen."""
        for begin in ("SELECT 1", "BEGIN"):
            db = Raw()
            db.run("CREATE TABLE s(k)", "CREATE TABLE new(k)", f"CREATE VIRTUAL TABLE f USING bloom({SOURCE}, column=k)")
            db.run("INSERT INTO new VALUES ('a'), ('b'), ('c'), ('d')")
            db.function("close_now", lambda: db.close())
            db.run(begin)
            db.code("INSERT INTO s SELECT k FROM new WHERE k < 'c' OR close_now() IS NULL")
            if db.in_transaction():
                db.run("COMMIT")
            self.assertFollows(db)

    def test_row_logs_of_several_objects_in_one_transaction(self):
        """A rollback brings rows back that a merge has removed. An object that has logged others since must not take its own for them."""
        one, many = "INSERT INTO t(key) VALUES ('one')", "INSERT INTO t(key) VALUES ('two'), ('three')"
        for options, before, after, more in itertools.product(("capacity=1000", "capacity=32, growth=on, cache=4096", "kind=counting, capacity=1000"), (one, many), (True, False), (1, 9, 12)):
            with self.subTest(options, before=before, after=after, more=more):
                db = Raw()
                db.run(f"CREATE VIRTUAL TABLE t USING bloom({options})", "SAVEPOINT outside")
                kept = [f"kept {i}" for i in range(9)]
                for key in kept:
                    db.run(f"INSERT INTO t(key) VALUES ('{key}')")
                db.run("SAVEPOINT within")
                statement = db.prepare("SELECT 1")
                self.assertEqual(db.close(), BUSY)
                db.run(before)
                if after:
                    self.assertEqual(db.close(), BUSY)
                for i in range(more):
                    db.run(f"INSERT INTO t(key) VALUES ('other {i}')")
                db.run("ROLLBACK TO within")
                self.assertPresent(db, *kept, table="t")
                statement.finalize()
                db.run("RELEASE outside")
                self.assertPresent(db, *kept, table="t")

    def test_a_prepared_insert_that_runs_again_after_a_refused_close(self):
        db = Raw()
        db.run(TABLES["standard"].format("f"), "CREATE TABLE new(k)", "BEGIN")
        insert = db.prepare("INSERT INTO f(key) VALUES ('a')")
        insert.step()
        self.assertEqual(db.close(), BUSY)
        insert.reset()
        insert.step()
        db.run("INSERT INTO f(key) VALUES ('b'), ('c')")
        insert.finalize()
        db.run("COMMIT")
        self.assertPresent(db, "a", "b", "c")


class Unreported(Case):
    """Changes of shadow tables that SQLite does not report to the virtual table, and their rollback."""

    CHANGES = {
        "rows deleted": ("DELETE FROM f_data",),
        "rows overwritten": ("UPDATE f_data SET chunk = zeroblob(length(chunk))",),
    }

    def test_a_rollback_restores_shadow_rows_that_were_changed_directly(self):
        for create, statements in itertools.product(TABLES.values(), self.CHANGES.values()):
            for first in ((), ("SELECT 1 FROM f WHERE key = 'z'",)):
                db = Raw(self.path)
                db.run(create.format("f"), "INSERT INTO f(key) VALUES ('z')", "CREATE TABLE other(x)")
                again = Raw(self.path)
                again.run(*first, "BEGIN", *statements)
                again.code("SELECT key FROM f WHERE key = 'z'")  # an error if rows are missing
                again.run("ROLLBACK")
                self.assertPresent(again, "z")
                again.run("BEGIN", "SAVEPOINT s", *statements)
                again.code("SELECT key FROM f WHERE key = 'z'")
                again.run("ROLLBACK TO s", "INSERT INTO f(key) VALUES ('y')", "COMMIT")
                self.assertPresent(again, "y", "z")
                again.run("BEGIN", *statements)
                again.code("INSERT INTO f(key) VALUES ('x')")
                again.code("ROLLBACK")
                self.assertPresent(again, "y", "z")
                # Chunks that are read between the change and the rollback must not be written back.
                fresh = Raw(self.path)
                fresh.run("BEGIN", "SAVEPOINT s", *statements)
                fresh.code("SELECT key FROM f WHERE key = 'z'")
                fresh.run("ROLLBACK TO s", "INSERT INTO f(key) VALUES ('w')", "COMMIT")
                self.assertPresent(fresh, "w", "y", "z")
                db.run("DROP TABLE f", "DROP TABLE other")
                db.close(), again.close(), fresh.close()

    def test_a_rollback_restores_a_table_that_was_renamed_or_dropped(self):
        ways = (("ALTER TABLE f RENAME TO gone", "ROLLBACK TO s"), ("DROP TABLE f", "ROLLBACK TO s"))
        no_database = self.path + ".txt"
        Path(no_database).write_text("this is not a database" * 100)
        resets = (f"ATTACH '{no_database}' AS x", "PRAGMA writable_schema = RESET")
        for name, create in TABLES.items():
            remove = "DELETE FROM f WHERE key = 'a'" if "counting" in create else "INSERT INTO f(f) VALUES ('clear')"
            # A transaction that follows at once hides that the first one has ended.
            for (change, back), reset, then in itertools.product(ways, resets, ((), ("BEGIN", "INSERT INTO other VALUES (1)"))):
                db = Raw()
                db.run(create.format("f"), "INSERT INTO f(key) VALUES ('a'), ('b')", "CREATE TABLE other(x)")
                db.run("BEGIN", remove, "SAVEPOINT s", change, back)
                db.code(reset)
                db.run("SELECT 1 FROM f WHERE key = 'a'", "ROLLBACK", *then)
                self.assertPresent(db, "a", "b")
                db.run("INSERT INTO f(key) VALUES ('c')")
                self.assertPresent(db, "a", "b", "c")
                db.close()

    def test_a_rollback_gives_the_name_to_another_table_with_a_row_log(self):
        """Both logs have rows with the same ids. A table that is made again may get the same row of sqlite_schema."""
        for changes, (name, create) in itertools.product((("DROP TABLE f", None), ("ALTER TABLE f RENAME TO old", "ALTER TABLE u RENAME TO f")), TABLES.items()):
            for before, within in ((9, 9), (15, 20), (40, 40)):
                with self.subTest(name, changes=changes, rows=(before, within)):
                    db = Raw()
                    db.run(create.format("f"), *(() if None in changes else (create.format("u"),)), "BEGIN")
                    keys = [f"key {i}" for i in range(before)]
                    for key in keys:
                        db.run(f"INSERT INTO f(key) VALUES ('{key}')")
                    db.run("SAVEPOINT s", *(change or create.format("f") for change in changes))
                    for i in range(within):
                        db.run(f"INSERT INTO f(key) VALUES ({i})")
                    db.run("ROLLBACK TO s")
                    self.assertPresent(db, *keys)
                    for i in range(3):
                        db.run(f"INSERT INTO f(key) VALUES ('later {i}')")
                    db.run("COMMIT")
                    self.assertPresent(db, *keys, "later 0", "later 1", "later 2")
                    db.close()

    def test_a_changeset_on_the_shadow_tables(self):
        """Sessions should record the source. A session that records the shadow tables must not leave uncommitted cells either."""
        if not hasattr(raw._library, "sqlite3session_create"):
            self.skipTest("SQLite without sessions")
        db, other = Raw(), Raw()
        for each in (db, other):
            each.run("CREATE VIRTUAL TABLE f USING bloom(capacity=1000)", "INSERT INTO f(key) VALUES ('z')")
        session = ctypes.c_void_p()
        library = raw._library
        db.require(library.sqlite3session_create(db.raw, b"main", ctypes.byref(session)))
        library.sqlite3session_attach(session, None)
        db.run("INSERT INTO f(f) VALUES ('clear')", "DELETE FROM f_data")
        size, data = ctypes.c_int(), ctypes.c_void_p()
        library.sqlite3session_changeset(session, ctypes.byref(size), ctypes.byref(data))
        library.sqlite3session_delete(session)
        other.run("BEGIN")
        resolve = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(lambda *_: 0)
        library.sqlite3changeset_apply(other.raw, size, data, None, resolve, None)
        other.run("SELECT key FROM f WHERE key = 'z'", "ROLLBACK")
        self.assertPresent(other, "z")

    def test_the_schema_is_renamed(self):
        for create in TABLES.values():
            db = Raw()
            db.run(create.format("f"), "CREATE TABLE o(x)", "INSERT INTO f(key) VALUES ('old')", "BEGIN")
            db.run("INSERT INTO f(key) VALUES ('new')")
            db.name_main("principal")
            if db.code("SELECT 1 FROM main.f_data") != 0:
                self.skipTest("this SQLite no longer knows the schema as 'main', so every statement fails")
            db.run("PRAGMA writable_schema = RESET")
            self.assertPresent(db, "old", "new")
            db.run("INSERT INTO f(key) VALUES ('newer'), ('newest')")
            db.name_main("other")
            db.run("ALTER TABLE o RENAME TO o2", "INSERT INTO f(key) VALUES ('last')")
            self.assertPresent(db, "old", "new", "newer", "newest", "last")
            db.run("COMMIT")
            self.assertPresent(db, "old", "new", "newer", "newest", "last")
            db.close()


class Copies(Case):
    def test_a_copy_made_in_a_transaction_has_the_keys(self):
        for copy in (Raw.serialize, Raw.backup):
            for keys in ("VALUES ('x')", "VALUES ('x'), ('y'), ('z')", "SELECT 'x' UNION ALL SELECT 'y'"):
                db = Raw()
                db.run("CREATE TABLE s(k)", f"CREATE VIRTUAL TABLE f USING bloom({SOURCE}, column=k)", *(create.format(f"f{i}") for i, create in enumerate(TABLES.values())))
                db.run("BEGIN", f"INSERT INTO s {keys}", *(f"INSERT INTO f{i}(key) {keys}" for i in range(len(TABLES))))
                try:
                    other = copy(db)
                except Failure as failure:
                    self.assertIn("locked", failure.text)  # older versions refuse to copy a database that is being written
                    continue
                self.assertFollows(other)
                for i in range(len(TABLES)):
                    self.assertFollows(other, table=f"f{i}")
                db.run("ROLLBACK")

    def test_keys_of_a_statement_that_has_returned_one_row(self):
        db = Raw()
        db.run("CREATE TABLE s(k)", f"CREATE VIRTUAL TABLE f USING bloom({SOURCE}, column=k)")
        try:
            insert = db.prepare("INSERT INTO s VALUES ('a'), ('b'), ('c') RETURNING k")
        except Failure:
            self.skipTest("SQLite without RETURNING")
        for begin in ("SELECT 1", "BEGIN"):
            db.run(begin)
            insert.step()
            self.assertFollows(db)
            self.assertFollows(db.serialize())
            self.assertEqual(db.close(), BUSY)
            self.assertFollows(db)
            insert.reset()
            if db.in_transaction():
                db.run("COMMIT")
            self.assertFollows(db)

    def test_statements_within_an_unfinished_one(self):
        """The implicit transaction of the inner statements ends only with the unfinished statement."""
        db = Raw()
        db.run("CREATE TABLE s(k)", "CREATE TABLE o(x)", f"CREATE VIRTUAL TABLE f USING bloom({SOURCE}, column=k)", TABLES["standard"].format("t"))
        try:
            writing = db.prepare("INSERT INTO o VALUES (1), (2) RETURNING x")
        except Failure:
            self.skipTest("SQLite without RETURNING")
        writing.step()
        db.run("INSERT INTO s VALUES ('a')", "INSERT INTO s VALUES ('b'), ('c')", "INSERT INTO t(key) VALUES ('a')", "INSERT INTO t(key) VALUES ('b'), ('c')")
        self.assertEqual(db.close(), BUSY)
        writing.finalize()
        self.assertFollows(db)
        self.assertFollows(db, table="t")


class Loading(Case):
    def loaded_in_a_transaction(self, before, after):
        db = Raw(self.path)
        db.run("CREATE VIRTUAL TABLE IF NOT EXISTS f USING bloom(capacity=1000)", "BEGIN", "INSERT INTO f(key) VALUES ('before')")
        before(db)
        try:
            db.load()
        except Failure as failure:
            self.assertIn("bloom: ", failure.text)
        after(db)
        db.run("PRAGMA writable_schema = RESET", "INSERT INTO f(key) VALUES ('after')")
        version = db.one("PRAGMA schema_version")
        db.run(f"PRAGMA schema_version = {version + 1}", "COMMIT", "SELECT 1 FROM f WHERE key = 'x'")
        self.assertPresent(db, "before", "after")
        self.assertPresent(Raw(self.path), "before", "after")
        self.assertEqual(db.close(), 0)

    def test_a_second_load_that_is_interrupted(self):
        self.loaded_in_a_transaction(lambda db: db.progress(lambda: True), lambda db: db.progress(None))

    def test_a_second_load_that_is_not_authorized(self):
        deny = lambda action, first, second: int(action == 31 and second == "bloom_version")
        self.loaded_in_a_transaction(lambda db: db.authorizer(deny), lambda db: db.authorizer(None))

    def test_a_second_load_after_another_bloom_version(self):
        self.loaded_in_a_transaction(lambda db: db.function("bloom_version", lambda: None), lambda db: None)

    def test_the_error_says_why_the_loaded_version_cannot_be_read(self):
        db = Raw()
        db.progress(lambda: True)
        with self.assertRaisesRegex(Failure, "cannot tell whether the extension is loaded already: interrupted"):
            db.load()
        db.progress(None)
        db.load()


class Triggers(Case):
    # For each source: the table, the columns of the key, and the options. "rowid" needs writers=extension,
    # because SQLite chooses a rowid after BEFORE triggers have run.
    SOURCES = {
        "counting": ("CREATE TABLE s(id INTEGER PRIMARY KEY, k)", "k", "kind=counting"),
        "rowid": ("CREATE TABLE s(id INTEGER PRIMARY KEY, k)", "id", "capacity=100"),
        "default": ("CREATE TABLE s(id INTEGER PRIMARY KEY, k NOT NULL DEFAULT 'd')", "k", "capacity=100"),
        "composite": ("CREATE TABLE s(id INTEGER PRIMARY KEY, k, l DEFAULT 'l')", "(k, l)", "capacity=100"),
        "plain": ("CREATE TABLE s(id INTEGER PRIMARY KEY, k)", "k", "capacity=100"),
    }
    KEYS = {"k": "k", "id": "id", "(k, l)": "bloom_key(s.k, s.l)"}

    def sources(self):
        return [source for source in self.SOURCES if WRITERS == "extension" or source != "rowid"]

    def following(self, source):
        create, column, options = self.SOURCES[source]
        db = Raw()
        db.run(create, "INSERT INTO s(k) VALUES ('a'), ('b')", f"CREATE VIRTUAL TABLE f USING bloom({SOURCE}, column={column}, {options})")
        return db, self.KEYS[column]

    def lost(self, db, key, table="f"):
        """Returns how many keys of the source are answered "absent". Returns None if the table refuses lookups."""
        try:
            return db.one(f"SELECT count(*) FROM s LEFT JOIN {table} AS f ON f.key = {key} WHERE {key} IS NOT NULL AND f.key IS NULL")
        except Failure as failure:
            self.assertIn("'rebuild'", failure.text)
            return None

    def test_a_newer_trigger_that_prevents_the_triggers_of_the_filter(self):
        raises = ("IGNORE", "FAIL, 'no'")
        ends = ("DROP TRIGGER u", "ALTER TABLE f RENAME TO h")
        writes = ("INSERT INTO s(k) VALUES ('new')", "UPDATE s SET k = k || '!', id = id + 10", "REPLACE INTO s(id, k) VALUES (1, 'new')")
        for source, when, what, end, write in itertools.product(self.sources(), ("", "TEMP"), raises, ends, writes):
            with self.subTest(source, when=when, what=what, end=end, write=write):
                db, key = self.following(source)
                db.run(f"CREATE {when} TRIGGER u AFTER {write.split()[0].replace('REPLACE', 'INSERT')} ON s BEGIN SELECT RAISE({what}); END")
                db.code(write)
                self.assertIn(self.lost(db, key), (None, 0))
                db.run(end)
                table = "h" if "RENAME" in end else "f"
                self.assertIn(self.lost(db, key, table), (None, 0))
                db.code("DROP TRIGGER u")
                db.run(f"INSERT INTO {table}({table}) VALUES ('rebuild')")
                self.assertEqual(self.lost(db, key, table), 0)
                db.run("INSERT INTO s(k) VALUES ('later')")
                self.assertEqual(self.lost(db, key, table), 0)
                db.close()

    def test_a_rollback_undoes_the_note_that_keys_were_missed(self):
        db, key = self.following("counting")
        db.run("BEGIN", "CREATE TRIGGER u AFTER INSERT ON s BEGIN SELECT RAISE(IGNORE); END", "INSERT INTO s(k) VALUES ('x')")
        self.assertEqual(self.lost(db, key), None if WRITERS == "extension" else 0)
        db.run("ROLLBACK")
        self.assertEqual(self.lost(db, key), 0)

    def test_a_newer_trigger_that_never_runs_has_no_effect(self):
        db, key = self.following("counting")
        db.run("CREATE TRIGGER u AFTER INSERT ON s BEGIN SELECT 1; END", "DROP TRIGGER u")
        self.assertEqual(self.lost(db, key), 0)

    def test_a_column_cannot_be_dropped_and_made_again(self):
        for source in ("counting", "default", "composite", "plain"):
            db, key = self.following(source)
            db.run("PRAGMA legacy_alter_table = ON")
            db.code("ALTER TABLE s DROP COLUMN k")
            db.code("ALTER TABLE s ADD COLUMN k TEXT NOT NULL DEFAULT 'new'")
            self.assertIn(self.lost(db, key), (None, 0))

    def test_a_column_cannot_be_written_without_triggers(self):
        for source in ("counting", "plain"):
            db, key = self.following(source)
            try:
                db.write_blob("s", "k", 1, b"z")
            except Failure as failure:
                self.assertIn("indexed column", failure.text)
            self.assertIn(self.lost(db, key), (None, 0))

    def test_a_lost_guard_is_noticed(self):
        db, key = self.following("plain")
        db.run("DROP INDEX f_guard")
        self.assertFails(db, "f: the index 'f_guard' of source 's' is missing .*'rebuild'", "SELECT 1 FROM f WHERE key = 'a'")
        db.run("INSERT INTO f(f) VALUES ('rebuild')")
        self.assertEqual(self.lost(db, key), 0)
        self.assertEqual(db.one("SELECT count(*) FROM sqlite_master WHERE name = 'f_guard'"), 1)

    def test_guards_of_tables_that_are_renamed(self):
        db, key = self.following("plain")
        db.run("ALTER TABLE f RENAME TO g", f"CREATE VIRTUAL TABLE f USING bloom({SOURCE}, column=k)", "ALTER TABLE s RENAME COLUMN k TO kk", "ALTER TABLE s RENAME TO s2")
        self.assertEqual(db.run("SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY 1"), [("f_guard",), ("f_guard2",)])
        db.run("INSERT INTO s2(kk) VALUES ('c')")
        for table in ("f", "g"):
            self.assertPresent(db, "a", "b", "c", table=table)
        db.run("DROP TABLE g", "INSERT INTO s2(kk) VALUES ('d')")
        self.assertPresent(db, "c", "d")
        db.run("DROP TABLE f")
        self.assertEqual(db.run("SELECT name FROM sqlite_master"), [("s2",)])

    def test_a_filter_cannot_be_made_while_its_source_changes(self):
        db = Raw()
        db.run("CREATE TABLE s(id INTEGER PRIMARY KEY, k)", "INSERT INTO s(k) VALUES ('a'), ('b'), ('c')")
        result = []

        def create():
            if not result:
                try:
                    db.run(f"CREATE VIRTUAL TABLE f USING bloom({SOURCE}, column=k)")
                    result.append("created")
                except Failure as failure:
                    result.append(failure.text)

        db.function("create_filter", create)
        db.run("UPDATE s SET k = k || '!' WHERE create_filter() IS NULL")
        self.assertIn("cannot read 's' while a statement of this connection writes to it", result[0])
        # After a failed CREATE VIRTUAL TABLE within a statement, SQLite 3.31 refuses the name f.
        db.run(f"CREATE VIRTUAL TABLE g USING bloom({SOURCE}, column=k)")
        self.assertFollows(db, table="g")

    @unittest.skipIf(WRITERS == "any", "version 1.0 knows only writers=extension")
    def test_a_table_of_version_1_0(self):
        """The table works without the guard index and the triggers that later versions make. 'rebuild' adds them."""
        for source in ("counting", "plain"):
            db, key = self.following(source)
            db.run("DROP INDEX f_guard", "DELETE FROM f_config WHERE k IN ('triggers', 'guard')")
            if source == "counting":
                db.run("DROP TRIGGER f_before_insert", "DROP TRIGGER f_before_update")
            else:
                remove = """BEGIN INSERT INTO "f"("f", key) VALUES ('remove', old."k"); END"""
                db.run(f'CREATE TRIGGER "f_after_update" AFTER UPDATE OF "k" ON "s" WHEN old."k" IS NOT new."k" {remove}',
                       f'CREATE TRIGGER "f_after_delete" AFTER DELETE ON "s" {remove}')
            db.run("INSERT INTO s(k) VALUES ('c')", "ALTER TABLE f RENAME TO g", "INSERT INTO s(k) VALUES ('d')")
            self.assertEqual(self.lost(db, key, "g"), 0)
            self.assertEqual(db.run("SELECT name FROM sqlite_master WHERE type = 'index'"), [])
            db.run("INSERT INTO g(g) VALUES ('rebuild')", "INSERT INTO s(k) VALUES ('e')")
            self.assertEqual(self.lost(db, key, "g"), 0)
            self.assertEqual(db.run("SELECT name FROM sqlite_master WHERE type = 'index'"), [("g_guard",)])
            db.run("DROP TABLE g")
            self.assertEqual(db.run("SELECT name FROM sqlite_master"), [("s",)])


class Reading(Case):
    def test_reading_writes_nothing(self):
        db = Raw(self.path)
        db.run(TABLES["growing"].format("f"), "BEGIN", "INSERT INTO f(key) VALUES ('a'), ('b')", "INSERT INTO f(key) VALUES ('c')", "PRAGMA query_only = ON")
        self.assertEqual(db.one("SELECT json_extract(info, '$.keys') FROM f"), 3)
        db.progress(lambda: True)
        self.assertEqual(db.code("SELECT info FROM f"), INTERRUPT)
        db.progress(None)
        self.assertTrue(db.in_transaction())
        db.run("PRAGMA query_only = OFF", "COMMIT")
        self.assertPresent(db, "a", "b", "c")

    def test_deferred_keys_are_read(self):
        """By a lookup within the statement that adds the keys."""
        db = Raw()
        db.run(TABLES["standard"].format("f"))
        db.run("WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 50) INSERT INTO f(key) SELECT i FROM n")
        filters = set()
        db.function("look", lambda: filters.add((db.one("SELECT json_extract(info, '$.keys') FROM f"), len(db.run("SELECT 1 FROM f WHERE key = 'new 3'")))))
        db.run("INSERT INTO f(key) SELECT CASE WHEN i = 40 THEN coalesce(look(), 'new 40') ELSE 'new ' || i END FROM (WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 60) SELECT i FROM n)")
        self.assertEqual([found for keys, found in filters if 80 < keys < 100], [1])

    def test_one_connection_sees_uncommitted_keys_of_another(self):
        """PRAGMA read_uncommitted in a shared cache works as for ordinary tables."""
        path = f"file:{self.path}?cache=shared"
        a, b = Raw(path), Raw(path)
        a.run("CREATE TABLE s(k)", f"CREATE VIRTUAL TABLE f USING bloom({SOURCE}, column=k)", "INSERT INTO s VALUES ('old')")
        b.run("PRAGMA read_uncommitted = ON")
        self.assertFollows(b)
        scan = b.prepare("SELECT s.k, f.key FROM s LEFT JOIN f ON f.key = s.k")
        self.assertEqual(scan.step(), ("old", "old"))
        a.run("BEGIN", "INSERT INTO s VALUES ('new')", "INSERT INTO s VALUES ('n1'), ('n2')")
        while (row := scan.step()) is not None:
            self.assertEqual(row[0], row[1])
        scan.finalize()
        self.assertFollows(b)
        a.run("ROLLBACK")
        self.assertFollows(b)

    def test_a_query_whose_transaction_is_rolled_back(self):
        """It would go on with what the rolled back filters say. One that was begun before the changes goes on."""
        rows = "WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 3999) SELECT i, CASE WHEN i % 500 THEN 'a' || i ELSE 'old' END, 'b' || i FROM n"
        for begin, undo in (("BEGIN", "ROLLBACK"), ("SAVEPOINT x", "ROLLBACK TO x"), ("BEGIN; SAVEPOINT x", "ROLLBACK TO x"), ("BEGIN; SAVEPOINT x; SAVEPOINT y", "ROLLBACK TO x")):
            for ask, change in (
                ("SELECT id FROM f WHERE a = 'old'", ("UPDATE s SET a = 'new' WHERE a = 'old' AND id > 1000", "INSERT INTO f(f) VALUES ('summarize')")),
                ("SELECT member FROM g WHERE key = 'k'", ("DELETE FROM g WHERE member > 3",)),
                ("SELECT member FROM h WHERE key = 'k'", ("DELETE FROM t WHERE m > 3", "INSERT INTO h(h) VALUES ('merge')")),
            ):
                db = Raw()
                db.run("CREATE TABLE s(id INTEGER PRIMARY KEY, a, b)", f"INSERT INTO s {rows}", "CREATE VIRTUAL TABLE f USING bloom_search(source=s, equal=(a, b))")
                db.run("CREATE TABLE t(m, k)", "INSERT INTO t VALUES (1, 'k'), (2, 'k'), (3, 'k'), (4, 'k'), (5, 'k')", "CREATE VIRTUAL TABLE h USING bloom_groups(source=t, member=m, column=k)", "CREATE VIRTUAL TABLE g USING bloom_groups(capacity=9)", "INSERT INTO g(member, key) SELECT m, k FROM t")
                want = db.run(ask)
                self.assertGreater(len(want), 4)
                db.run(*begin.split("; "))
                earlier = db.prepare(ask)
                got = [earlier.step()]
                db.run(*change)
                within = db.prepare(ask)
                self.assertIsNotNone(within.step())
                db.run("SAVEPOINT z", "ROLLBACK TO z", "RELEASE z")
                if "SELECT member" in ask:
                    self.assertIsNotNone(within.step())
                db.run(undo)
                with self.assertRaisesRegex(Failure, "rolled back meanwhile"):
                    while within.step() is not None:
                        pass
                within.finalize()
                while (row := earlier.step()) is not None:
                    got.append(row)
                earlier.finalize()
                self.assertEqual(got, want)
                if db.in_transaction():
                    db.run("ROLLBACK")
                db.close()

    def test_a_query_goes_on_after_rollbacks_that_undo_nothing_of_it(self):
        """Such as those of the nested transactions of an ORM."""
        db = Raw()
        db.run("CREATE TABLE s(id INTEGER PRIMARY KEY, m, k)", "INSERT INTO s(m, k) VALUES (1, 'k'), (2, 'k'), (3, 'k'), (4, 'k')", "CREATE TABLE o(x UNIQUE)", "INSERT INTO o VALUES (1)")
        db.run("CREATE VIRTUAL TABLE f USING bloom_search(source=s, equal=(k))", "CREATE VIRTUAL TABLE h USING bloom_groups(source=s, member=m, column=k)", "CREATE VIRTUAL TABLE g USING bloom_groups(capacity=9)", "INSERT INTO g(member, key) SELECT m, k FROM s")
        for ask, change in (
            ("SELECT id FROM f WHERE k = 'k'", "INSERT INTO f(f) VALUES ('summarize')"),
            ("SELECT member FROM g WHERE key = 'k'", "INSERT INTO g(member, key) VALUES (4, 'other')"),
            ("SELECT member FROM h", "INSERT INTO h(h) VALUES ('merge')"),
        ):
            for begin, then in (
                (["BEGIN", change, "SAVEPOINT a"], ["RELEASE a", "SAVEPOINT b", "INSERT INTO o VALUES (2)", "ROLLBACK TO b", "RELEASE b"]),
                (["SAVEPOINT o", change, "SAVEPOINT a"], ["RELEASE a", "SAVEPOINT b", change, "ROLLBACK TO b", "RELEASE b"]),
                (["BEGIN", change], ["INSERT INTO o SELECT 100 UNION ALL SELECT 1"]),
                (["BEGIN", change], ["COMMIT", "BEGIN", change, "ROLLBACK", "BEGIN"]),
                (["BEGIN", "SAVEPOINT a", change, "ROLLBACK TO a"], ["SAVEPOINT b", "ROLLBACK TO b", "ROLLBACK TO a"]),
            ):
                db.run(*begin)
                scan = db.prepare(ask)
                got = [scan.step()]
                for sql in then:
                    self.assertIn(db.code(sql), (OK, CONSTRAINT))
                while (row := scan.step()) is not None:
                    got.append(row)
                scan.finalize()
                self.assertEqual(len(got), 4, (ask, begin, then))
                db.run("ROLLBACK")

    def test_an_own_like_for_another_encoding(self):
        """SQLite does not prepare statements again when a function for another encoding is added, and with stable plans not for another pattern."""
        for stable, encoding, pattern in itertools.product((0, 1), (1, 2, 3), ("absent", "5")):
            db = Raw()
            db.configure(DBCONFIG_ENABLE_QPSG, stable)
            db.run("CREATE TABLE s(id INTEGER PRIMARY KEY, a)", "WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 99) INSERT INTO s(a) SELECT 'line ' || i FROM n", "CREATE VIRTUAL TABLE f USING bloom_search(source=s, like=(a))")
            query = f"SELECT count(*) FROM f WHERE a LIKE '%{pattern}%'"
            self.assertLess(db.one(query), 20)
            db.function("like", lambda: True, 2, encoding)
            self.assertEqual(db.one(query), db.one(query.replace(" f ", " s ")), (stable, encoding, pattern))
            db.close()

    def test_a_scan_that_continues_while_another_object_of_the_table_writes(self):
        db = Raw(self.path)
        db.run("CREATE TABLE s(k)", "CREATE TABLE other(x)", f"CREATE VIRTUAL TABLE f USING bloom({SOURCE}, column=k)", "INSERT INTO s VALUES ('a'), ('b')")
        scan = db.prepare("SELECT s.k, f.key FROM s LEFT JOIN f ON f.key = s.k")
        self.assertEqual(scan.step(), ("a", "a"))
        db.run("PRAGMA writable_schema = RESET", "INSERT INTO s VALUES ('c')", "BEGIN", "INSERT INTO s VALUES ('d')", "SAVEPOINT p", "INSERT INTO f(f) VALUES ('rebuild')", "ROLLBACK TO p")
        while (row := scan.step()) is not None:
            self.assertEqual(row[0], row[1])
        scan.finalize()
        db.run("COMMIT")
        self.assertFollows(db)


class Halfway(Case):
    """A command that fails after it has written some rows leaves none of them, and keeps its transaction."""

    COMMANDS = ("INSERT INTO f(f) VALUES ('halve')", "INSERT INTO f(f) VALUES ('clear')", "INSERT INTO f(filter) SELECT filter FROM g")
    INSERT, UPDATE = 18, 23

    def deny_after_the_first(self, db, table):
        """Denies the second INSERT INTO `table`: the first one belongs to the statement that the command runs in."""
        inserts = []
        db.authorizer(lambda action, first, _: int(action == self.INSERT and first == table and (inserts.append(1), len(inserts) > 1)[1]))

    def test_a_command_that_fails_halfway(self):
        for command, savepoint, close in itertools.product(self.COMMANDS, (False, True), (False, True)):
            db = Raw(self.path)
            for name in ("f", "g"):
                db.run(f"CREATE VIRTUAL TABLE {name} USING bloom(capacity=20000, kind=counting)")
            db.run("CREATE TABLE other(x)", "INSERT INTO g(key) VALUES ('g')")
            db.run("WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO f(key) SELECT i FROM n")
            before = db.one("SELECT filter FROM f")
            db.run("BEGIN", "INSERT INTO other VALUES (1)", *(["SAVEPOINT s"] if savepoint else []))
            self.deny_after_the_first(db, "f_config")
            self.assertFails(db, "not authorized", command)
            db.authorizer(None)
            if close:
                statement = db.prepare("SELECT 1")
                self.assertEqual(db.close(), BUSY)
                statement.finalize()
            db.run("COMMIT")
            for reader in (db, Raw(self.path)):
                self.assertEqual(reader.one("SELECT filter FROM f"), before, command)
                self.assertEqual(reader.one("SELECT count(*) FROM other"), 1)
            db.run("DROP TABLE f", "DROP TABLE g", "DROP TABLE other")

    def test_an_authorizer_that_refuses_writes_at_commit(self):
        """The row log then stays, and is merged later. RELEASE and COMMIT of plain tables write nothing that is asked for."""
        recursive = 33
        for table, refused in itertools.product(("bloom(capacity=300000)", "bloom(capacity=300000, kind=counting)", "bloom_groups(capacity=1000)"), ({recursive}, {9, 18, 23}, {9, 18, 20, 21, 23})):
            db = Raw(self.path)
            db.run(f"CREATE VIRTUAL TABLE f USING {table}", "CREATE TABLE other(x)")
            name = "'m', " if "groups" in table else ""
            columns = "member, key" if name else "key"
            added = []
            for many in (30, 3500):
                db.run("BEGIN", "SAVEPOINT s")
                keys = [f"k{len(added) + i}" for i in range(many)]
                for key in keys:
                    db.run(f"INSERT INTO f({columns}) VALUES ({name}'{key}')")
                added += keys
                db.run("INSERT INTO other VALUES (1), (2), (3)", "UPDATE other SET x = x")
                db.authorizer(lambda action, *_: int(action in refused))
                db.run("RELEASE s", "COMMIT")
                db.authorizer(None)
                for reader in (db, Raw(self.path)):
                    for key in added[:: len(added) // 30]:
                        self.assertEqual(reader.one(f"SELECT count(*) FROM f WHERE key = '{key}'"), 1, (table, refused))
                    self.assertEqual(reader.one("SELECT count(*) FROM other"), 3 if many == 30 else 6)
                    reader.run("INSERT INTO f(f) VALUES ('integrity-check')")
            db.run("BEGIN", *(f"INSERT INTO f({columns}) VALUES ({name}'new{i}')" for i in range(30)), "COMMIT")
            self.assertEqual(db.one("SELECT count(*) FROM f_rowlog"), 0)
            if "counting" in table:
                db.run(f"DELETE FROM f WHERE key = '{added[0]}'")
                self.assertEqual(db.one(f"SELECT count(*) FROM f WHERE key = '{added[0]}'"), 0)
            db.run("DROP TABLE f", "DROP TABLE other")

    def test_tokens_and_pragmas_that_an_authorizer_hides(self):
        ignore, pragma, function = 2, 19, 31
        for table in ("bloom(source=s, column=k)", "bloom_groups(source=s, member=m, column=k)"):
            writer, reader = Raw(self.path), Raw(self.path)
            writer.run("CREATE TABLE s(k, m)", f"CREATE VIRTUAL TABLE f USING {table}")
            for name in "ab":
                writer.authorizer(lambda action, *_: ignore if action == function else 0)
                writer.run(*(f"INSERT INTO s VALUES ('{name}{i}', 'm')" for i in range(5)))
                writer.authorizer(None)
                self.assertFails(reader, "has a row without a token", f"SELECT count(*) FROM f WHERE key = '{name}0'")
                writer.run("INSERT INTO f(f) VALUES ('merge')")
                for i in range(5):
                    self.assertEqual(reader.one(f"SELECT count(*) FROM f WHERE key = '{name}{i}'"), 1)
            writer.run("DROP TABLE f", "DROP TABLE s")
        db = Raw()
        db.run("PRAGMA encoding = 'UTF-16le'", "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT)", "CREATE VIRTUAL TABLE f USING bloom_search(source=t, equal=(k))", "INSERT INTO t VALUES (1, 'new')")
        db.authorizer(lambda action, *_: ignore if action == pragma else 0)
        self.assertFails(db, "an authorizer hides", "INSERT INTO f(f) VALUES ('summarize')")
        db.authorizer(None)
        self.assertEqual(db.run("SELECT id FROM f WHERE k = 'new'"), [(1,)])

    def test_an_authorizer_that_refuses_recursion_allows_many_members(self):
        db = Raw()
        db.run("CREATE VIRTUAL TABLE f USING bloom_groups(capacity=20)")
        db.authorizer(lambda action, *_: int(action == 33))
        db.run(*(f"INSERT INTO f(member, key) VALUES ({i}, 'k{i}')" for i in range(100)))
        self.assertEqual(db.run("SELECT member FROM f WHERE key = 'k99' AND member = 99"), [(99,)])

    def test_a_command_that_fails_while_another_statement_writes(self):
        """SQLite would not undo the failing statement, because that statement has no savepoint."""
        db = Raw()
        db.run("CREATE VIRTUAL TABLE f USING bloom(capacity=20000)", "CREATE TABLE other(x)", "INSERT INTO f(key) VALUES ('a'), ('b')")
        try:
            writing = db.prepare("INSERT INTO other VALUES (1), (2) RETURNING x")
        except Failure:
            self.skipTest("SQLite without RETURNING")
        writing.step()
        self.deny_after_the_first(db, "f_config")
        self.assertFails(db, "not authorized", "INSERT INTO f(f) VALUES ('clear')")
        db.authorizer(None)
        writing.finalize()
        self.assertPresent(db, "a", "b")

    def test_a_removal_that_fails_when_rollback_is_not_authorized(self):
        """The table then reports SQLITE_IOERR, for which SQLite itself rolls back."""
        db = Raw()
        db.run("CREATE VIRTUAL TABLE f USING bloom_groups(capacity=20)", "INSERT INTO f(member, key) VALUES ('a', 1), ('b', 2)", "BEGIN")
        db.authorizer(lambda action, first, _: int((action == self.UPDATE and first == "f_members") or action == 22))
        self.assertEqual(db.code("DELETE FROM f WHERE member = 'a'"), 10)
        db.authorizer(None)
        self.assertFalse(db.in_transaction())
        self.assertEqual(db.run("SELECT member FROM f WHERE key = 1"), [("a",)])

    def test_after_a_failure_statements_on_other_tables_work(self):
        db = Raw()
        db.run("CREATE VIRTUAL TABLE f USING bloom(capacity=20000)", "CREATE TABLE x(a UNIQUE)", "INSERT INTO f(key) VALUES ('a')", "UPDATE f_data SET chunk = x'00'")
        db.run("BEGIN")
        self.assertFails(db, "f: chunk", "INSERT INTO f(f) VALUES ('halve')")
        db.run("INSERT INTO x VALUES (1), (2)")
        if db.in_transaction():
            db.run("COMMIT")


class CheckAndWork(Case):
    """A command or lookup checks a requirement, and then something changes it: a merge, a trigger, the schema."""

    def following(self, options="", create="CREATE TABLE s(k)", rows=0):
        db = Raw(self.path)
        db.run(create, f"CREATE VIRTUAL TABLE f USING bloom({SOURCE}, column=k{options})")
        self.add(db, rows)
        return db

    def add(self, db, rows, prefix="k"):
        db.run(f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) INSERT INTO s(k) SELECT '{prefix}' || i FROM n WHERE i <= {rows}")

    def test_fold_merges_before_it_counts_layers(self):
        for options, rows, fpr in (", capacity=120, growth=on, block=512", 300, 0.5), ("", 1060, 0.02), ("", 3000, 0.02), ("", 3400, 0.3), ("", 5000, 0.3):
            with self.subTest(options, rows=rows):
                db = self.following(options, rows=rows)
                db.run("BEGIN", "INSERT INTO s VALUES ('kept')")
                pending = db.one("SELECT pending FROM f")
                self.assertFails(db, "cannot fold a table that has grown", f"INSERT INTO f(f, fpr) VALUES ('fold', {fpr})")
                self.assertEqual(db.one("SELECT pending FROM f"), pending, "a failed command leaves no merge behind")
                db.run("COMMIT")
                self.assertEqual(db.one("SELECT count(*) FROM s"), rows + 1)
                self.assertFollows(db)
                db.run("INSERT INTO f(f) VALUES ('rebuild')", f"INSERT INTO f(f, fpr) VALUES ('fold', {fpr})")
                self.assertFollows(db)
                db.run("DROP TABLE f", "DROP TABLE s")

    @unittest.skipIf(WRITERS == "extension", "no change log")
    def test_rebuild_that_fails_under_or_ignore_leaves_nothing_half_done(self):
        for conflict in "IGNORE", "FAIL":
            with self.subTest(conflict):
                db = self.following()
                db.run("CREATE TRIGGER t AFTER DELETE ON f_pending WHEN old.id = 2 BEGIN SELECT RAISE(FAIL, 'no'); END",
                       "INSERT INTO s VALUES ('a'), ('b')")
                self.assertFails(db, "no", f"INSERT OR {conflict} INTO f(f) VALUES ('rebuild')")
                self.assertFollows(db)
                db.run("DROP TABLE f", "DROP TABLE s")

    def test_other_filters_block_if_a_trigger_on_their_log_fails(self):
        for temp in "", "TEMP ":
            with self.subTest(temp):
                db = Raw(self.path)
                db.run("CREATE TABLE s(k)", "CREATE VIRTUAL TABLE f USING bloom(source=s, column=k, writers=extension, kind=counting)",
                       "CREATE VIRTUAL TABLE g USING bloom(source=s, column=k, kind=counting)", "INSERT INTO s VALUES ('a')")
                self.assertFollows(db)
                db.run(f"CREATE {temp}TRIGGER q AFTER INSERT ON g_pending WHEN new.added = 0 BEGIN SELECT RAISE(FAIL, 'quota'); END")
                self.assertFails(db, "quota", "UPDATE s SET k = 'new'")
                self.assertFails(db, "may keep|could keep", "SELECT 1 FROM f WHERE key = 'new'")
                db.run("DROP TRIGGER q", "DROP TABLE g", "DROP TABLE f", "DROP TABLE s")

    def test_other_filters_block_if_a_trigger_on_an_update_of_their_log_fails(self):
        db = Raw(self.path)
        db.run("CREATE TABLE s(id INTEGER PRIMARY KEY, a, b)", "CREATE VIRTUAL TABLE f USING bloom(source=s, column=a, writers=extension, kind=counting)",
               "CREATE VIRTUAL TABLE g USING bloom(source=s, column=(a, b))", "INSERT INTO s VALUES (1, 'a', 'b')")
        for event in "UPDATE", "DELETE":
            with self.subTest(event):
                db.run(f"CREATE TRIGGER q AFTER {event} ON g_pending BEGIN SELECT RAISE(FAIL, 'quota'); END")
                self.assertFails(db, "may keep", "SELECT 1 FROM f WHERE key = 'new'")
                db.run("DROP TRIGGER q", "UPDATE s SET a = a || 'n'")
                self.assertEqual(db.one("SELECT count(*) FROM s JOIN f ON f.key = s.a"), 1)

    def test_a_trigger_with_a_statement_beside_those_of_a_filter_blocks(self):
        for other in "bloom(source=s, column=k)", "bloom_search(source=s, equal=(k))":
            for more in "INSERT INTO taken VALUES (1)", "INSERT INTO taken SELECT 1 WHERE ';' <> ''", "UPDATE taken SET x = 1", "SELECT raise(IGNORE)", """INSERT INTO taken VALUES ('("g", key) VALUES (')""", """INSERT OR IGNORE INTO "g_changed"(block) SELECT 0 FROM taken""":
                with self.subTest(other=other, more=more):
                    db = Raw()
                    db.run("CREATE TABLE s(id INTEGER PRIMARY KEY, k)", "INSERT INTO s VALUES (9, 'z')", "CREATE TABLE taken(x UNIQUE)", "INSERT INTO taken VALUES (1), (2), ('(\"g\", key) VALUES (')",
                           "CREATE VIRTUAL TABLE f USING bloom(source=s, column=k, writers=extension, kind=counting)", f"CREATE VIRTUAL TABLE g USING {other}")
                    before = db.one("SELECT sql FROM sqlite_master WHERE name = 'g_before_insert'")
                    looks_alike = before.replace("g_before_insert", "g_after_insert").replace("BEFORE", "AFTER").removesuffix("END") + more + "; END"
                    db.run("DROP TRIGGER IF EXISTS g_after_insert", looks_alike)
                    db.code("INSERT OR FAIL INTO s VALUES (1, 'a')")
                    self.assertFails(db, "may keep|could keep", "SELECT 1 FROM f WHERE key = 'a'")

    def test_all_kinds_of_tables_follow_one_source_whatever_its_name(self):
        kinds = "bloom(source=failures, column=ignored, kind=counting)", "bloom(source=failures, column=ignored, kind=counting, writers=extension)", "bloom_search(source=failures, equal=(ignored))", "bloom_groups(source=failures, member=m, column=ignored)"
        for order in itertools.permutations(kinds):
            db = Raw()
            db.run("CREATE TABLE failures(id INTEGER PRIMARY KEY, m, ignored)", *(f"CREATE VIRTUAL TABLE f{i} USING {kind}" for i, kind in enumerate(order)))
            search = f"f{order.index(kinds[2])}"
            db.run("INSERT INTO failures VALUES (1, 1, 'a'), (3, 3, 'c')", f"INSERT INTO {search}({search}) VALUES ('summarize')",
                   "INSERT INTO failures VALUES (2, 2, 'b')", "UPDATE failures SET ignored = 'd' WHERE id = 1")
            for i, kind in enumerate(order):
                same = f"f{i}.ignored = s.ignored" if "search" in kind else f"f{i}.key = s.ignored"
                same += " AND member = s.m" if "groups" in kind else ""
                self.assertEqual(db.one(f"SELECT count(*) FROM failures AS s WHERE EXISTS (SELECT 1 FROM f{i} WHERE {same})"), 3, (order, kind))

    def test_triggers_that_look_like_those_of_a_filter_block(self):
        like = '"audit"("audit", key) VALUES ('
        for temp in "", "TEMP ":
            for body in f"INSERT INTO {like}'new', new.k);", f"/* {like} */":
                with self.subTest(temp + body):
                    db = Raw(self.path)
                    db.run("CREATE TABLE s(k)", "CREATE TABLE audit(audit, key)",
                           "CREATE VIRTUAL TABLE f USING bloom(source=s, column=k, writers=extension, kind=counting)",
                           f"CREATE {temp}TRIGGER audit_after_insert AFTER INSERT ON s BEGIN {body} SELECT RAISE(IGNORE); END",
                           "INSERT INTO s VALUES ('a')")
                    self.assertFails(db, "may keep|could keep", "SELECT 1 FROM f WHERE key = 'a'")
                    db.run("DROP TRIGGER audit_after_insert", "DROP TABLE f", "DROP TABLE s", "DROP TABLE audit")

    def test_triggers_that_write_keys_to_filters_block(self):
        """A key that is NULL, and a RAISE in WHEN, can end the statement before the newer trigger has run."""
        insert = 'INSERT INTO "g"("g", key) VALUES (NULL, NULLIF(new.k, \'b\'))'
        command = 'INSERT INTO "g"("g", key) VALUES (\'add\', new.k)'
        when = "CASE WHEN new.k = 'b' THEN RAISE({}) ELSE 1 END"
        for other, condition, body in (("bloom", "1", insert), ("bloom_groups(capacity=9)", "1", insert), ("bloom", when.format("IGNORE"), command), ("bloom", when.format("FAIL, ''"), command)):
            with self.subTest(other, condition=condition):
                db = Raw()
                db.run("CREATE TABLE s(k)", "CREATE VIRTUAL TABLE f USING bloom(source=s, column=k, writers=extension, kind=counting)", f"CREATE VIRTUAL TABLE g USING {other}")
                db.run(f'CREATE TRIGGER "g_after_insert" AFTER INSERT ON "s" WHEN {condition} BEGIN {body}; END')
                db.code("INSERT OR FAIL INTO s VALUES ('b')")
                self.assertFails(db, "may keep|could keep", "SELECT 1 FROM f WHERE key = 'b'")

    def test_triggers_that_write_to_several_tables_of_a_filter_block(self):
        """Each of its statements can end by a constraint of the table that it writes to."""
        command = 'INSERT INTO "g"("g", key) VALUES (\'add\', new.k)'
        log = 'INSERT INTO "g_pending"(token, added) VALUES (1, 5)'
        note = 'INSERT OR IGNORE INTO "g_changed"(block) SELECT 5 WHERE NOT EXISTS (SELECT 1 FROM "g_changed" WHERE block = 7)'
        for body in (f"{log}; {command}", f"{note}; {command}", f"{note}; {log.replace('5', '1')}"):
            with self.subTest(body):
                db = Raw()
                db.run("CREATE TABLE s(k)", "CREATE VIRTUAL TABLE f USING bloom(source=s, column=k, writers=extension, kind=counting)", "CREATE VIRTUAL TABLE g USING bloom",
                       "CREATE TABLE g_pending(id INTEGER PRIMARY KEY, token, added CHECK (added <> 5))", "CREATE TABLE g_changed(block CHECK (block <> 5))")
                db.run(f'CREATE TRIGGER "g_after_insert" AFTER INSERT ON "s" BEGIN {body}; END')
                db.code("INSERT OR FAIL INTO s VALUES ('b')")
                self.assertFails(db, "may keep|could keep", "SELECT 1 FROM f WHERE key = 'b'")

    def test_triggers_that_give_the_rowid_of_a_log_block(self):
        """A rowid that is there already violates a constraint."""
        for table, statement in (
            ("(id INTEGER PRIMARY KEY, token, added)", 'INSERT INTO "g_pending"(token, added, id) VALUES (1, 1, 1)'),
            ("(id INTEGER PRIMARY KEY, token, added, key1)", 'UPDATE "g_pending" SET added = 1, id = 1 WHERE id = 2'),
            ("(key1 INTEGER PRIMARY KEY, token, added)", 'INSERT INTO "g_pending"(token, added, key1) VALUES (1, 1, 1)'),
            ("(keyx INTEGER PRIMARY KEY, token, added)", 'INSERT INTO "g_pending"(token, added, keyx) VALUES (1, 1, 1)'),
        ):
            with self.subTest(table, statement=statement):
                db = Raw()
                db.run("CREATE TABLE s(k)", "CREATE VIRTUAL TABLE f USING bloom(source=s, column=k, writers=extension, kind=counting)", "CREATE VIRTUAL TABLE g USING bloom")
                db.run(f"CREATE TABLE g_pending{table}", f'CREATE TRIGGER "g_after_insert" AFTER INSERT ON "s" BEGIN {statement}; END')
                for _ in range(2):
                    db.code("INSERT OR FAIL INTO s VALUES ('b')")
                self.assertFails(db, "may keep|could keep", "SELECT 1 FROM f WHERE key = 'b'")

    def test_triggers_that_write_to_tables_by_the_names_of_filters_block(self):
        trigger = 'TRIGGER g_after_insert AFTER INSERT ON main.s BEGIN INSERT INTO "g"("g", key) VALUES (new.b, -1); END'
        rtree = "CREATE VIRTUAL TABLE g USING rtree(g, key, high)"
        for statements in ((rtree, f"CREATE {trigger.replace('main.', '')}"), (rtree.replace("g USING", "g/* USING bloom( */USING"), f"CREATE {trigger.replace('main.', '')}"),
                           ("CREATE VIRTUAL TABLE g USING bloom", "CREATE TEMP TABLE g(g UNIQUE, key)", f"CREATE TEMP {trigger}")):
            with self.subTest(statements):
                db = Raw(self.path)
                if db.code("CREATE VIRTUAL TABLE temp.probe USING rtree(a, b, c)"):
                    self.skipTest("this SQLite has no R-Tree")
                db.run("CREATE TABLE s(a, b)", "CREATE VIRTUAL TABLE f USING bloom(source=s, column=a, writers=extension, kind=counting)", *statements, "INSERT INTO s VALUES ('a', 1)")
                db.code("INSERT OR FAIL INTO s VALUES ('b', 1)")
                self.assertFails(db, "may keep|could keep", "SELECT 1 FROM f WHERE key = 'b'")
                db.run("DROP TABLE main.g", "DROP TABLE f", "DROP TABLE s")
                db.close()

    def test_other_filters_block_if_a_trigger_on_their_log_writes_to_a_virtual_table(self):
        """It may report a violated constraint, which ends by FAIL under OR FAIL."""
        db = Raw()
        db.run("CREATE TABLE s(k)", "CREATE VIRTUAL TABLE f USING bloom(source=s, column=k, writers=extension, kind=counting)",
               "CREATE VIRTUAL TABLE g USING bloom(source=s, column=k, kind=counting)", "CREATE VIRTUAL TABLE box USING bloom")
        self.assertPresent(db)
        db.run("CREATE TRIGGER q AFTER INSERT ON g_pending BEGIN INSERT INTO box(key) VALUES (new.key1); END", "INSERT INTO s VALUES ('a')")
        self.assertFails(db, "may keep|could keep", "SELECT 1 FROM f WHERE key = 'a'")

    def test_a_statement_that_ends_between_its_row_and_the_triggers_after_it(self):
        """RETURNING and the triggers of tables that refer to the source run before the AFTER triggers of the source."""
        late = "CREATE TABLE s(id INTEGER PRIMARY KEY, k UNIQUE, g AS (k || id))"
        if (Raw()).code(late):
            self.skipTest("generated columns need SQLite 3.31")
        for column, more in ("k", ", kind=counting, capacity=100"), ("id", ""), ("g", ""):
            db = Raw()
            db.run("PRAGMA foreign_keys = ON", late, "CREATE TABLE child(k REFERENCES s(k) ON UPDATE CASCADE)", f"CREATE VIRTUAL TABLE f USING bloom(source=s, column={column}, writers=extension{more})")
            db.run("CREATE TRIGGER c AFTER UPDATE ON child WHEN new.k = 'bad' BEGIN SELECT RAISE(FAIL, 'no'); END", "INSERT INTO s(k) VALUES ('a')", "INSERT INTO child VALUES ('a')")
            statements = ["UPDATE s SET k = 'bad', id = 77", "UPDATE OR FAIL s SET k = 'bad', id = 77"]
            if db.one("SELECT sqlite_version() >= '3.35'"):
                statements += [f"{write} RETURNING (SELECT raise({how}))" for write in ("INSERT INTO s(k) VALUES ('new')", "UPDATE s SET k = 'bad'") for how in ("IGNORE", "FAIL, 'no'", "ABORT, 'no'")]
                statements.append("INSERT INTO s(k) VALUES ('returned') RETURNING k")
            for sql in statements:
                with self.subTest(sql, column=column):
                    db.code(sql)
                    self.assertFollows(db, column=column)
            db.run("DROP TRIGGER c", "UPDATE s SET k = 'good', id = 78 WHERE k = (SELECT k FROM child)")
            self.assertEqual(db.one("SELECT k FROM child"), "good")
            self.assertFollows(db, column=column)

    def test_count_changes(self):
        db = Raw()
        for create in (*TABLES.values(), "CREATE VIRTUAL TABLE {} USING bloom_groups(capacity=50)"):
            db.run("PRAGMA count_changes = ON", create.format("f"), "CREATE TABLE other(x)", "BEGIN")
            for i in range(20):
                db.run(f"INSERT INTO f{'(member, key) VALUES (1, ' if 'groups' in create else '(key) VALUES ('}'k{i}')")
                db.run("INSERT INTO other VALUES (1), (2)", "UPDATE other SET x = x + 1")
            db.run("COMMIT", "PRAGMA count_changes = OFF")
            self.assertPresent(db, *(f"k{i}" for i in range(20)))
            db.run("DROP TABLE f", "DROP TABLE other")

    @unittest.skipIf(WRITERS == "extension", "no change log")
    def test_a_trigger_on_the_log_that_writes_to_the_source_by_a_foreign_key(self):
        """The connection that looks keys up may have foreign keys disabled, and the one that writes not."""
        for action in "ON UPDATE CASCADE", "ON DELETE SET NULL", "ON UPDATE NO ACTION", "":
            with self.subTest(action):
                db = Raw(self.path)
                db.run("CREATE TABLE p(code UNIQUE)", f"CREATE TABLE s(k REFERENCES p(code) {action})", "INSERT INTO p VALUES ('a'), ('b')", f"CREATE VIRTUAL TABLE f USING bloom({SOURCE}, column=k)",
                       "CREATE TRIGGER q AFTER INSERT ON f_pending WHEN new.key1 = 'b' BEGIN UPDATE p SET code = 'new' WHERE code = 'a'; END")
                if "CASCADE" in action or "SET" in action:
                    self.assertFails(db, "'q' on the table 'f_pending' may keep changes", "SELECT 1 FROM f WHERE key = 'a'")
                else:
                    db.run("INSERT INTO s VALUES ('a')")
                    self.assertFollows(db)
                db.run("DROP TABLE f", "DROP TABLE s", "DROP TABLE p")
                db.close()

    @unittest.skipIf(WRITERS == "extension", "no change log")
    def test_a_before_trigger_on_the_log_whose_text_mentions_after(self):
        for name in "keep/* AFTER */", "[keep AFTER merge] ", "`keep AFTER merge` ", "keep -- AFTER\n":
            with self.subTest(name):
                db = self.following(", kind=counting, capacity=100")
                db.run("INSERT INTO s VALUES ('a'), ('a')",
                       f"CREATE TRIGGER {name}BEFORE DELETE ON f_pending BEGIN SELECT RAISE(IGNORE); END")
                self.assertFails(db, "may keep changes from being recorded", "INSERT INTO f(f) VALUES ('merge')")
                db.run("DROP TABLE f", "DROP TABLE s")

    def test_rebuild_within_a_trigger_whatever_the_names_are(self):
        for name, source, statement in (
            ("f f", "s", "INSERT INTO s VALUES ('in flight')"),
            ("groß", "s", "INSERT INTO s VALUES ('in flight')"),
            ("url", "urls", "INSERT INTO urls VALUES ('in flight')"),
            ("f", "s", "INSERT INTO s SELECT 'in flight' WHERE NOT EXISTS (SELECT 1 FROM f WHERE key = 'in flight')"),
        ):
            for when in ("BEFORE", "AFTER"):
                with self.subTest(name, statement=statement, when=when):
                    db = Raw()
                    db.run(f"CREATE TABLE {source}(k)", f'CREATE VIRTUAL TABLE "{name}" USING bloom(writers={WRITERS}, source={source}, column=k)')
                    rebuild = f"""INSERT INTO "{name}"("{name}") VALUES ('rebuild')"""
                    db.run(f"CREATE TRIGGER r {when} INSERT ON {source} BEGIN {rebuild}; END")
                    self.assertFails(db, "cannot read .* while a statement", statement)
                    db.run("DROP TRIGGER r", statement, rebuild)
                    self.assertFollows(db, source=source, table=f'"{name}"')

    def test_a_default_that_the_column_rounds(self):
        db = Raw()
        db.run("CREATE TABLE s(k REAL NOT NULL DEFAULT 9007199254740993, n)")
        if WRITERS == "any":
            self.assertFails(db, "with a default that SQLite computes or converts", f"CREATE VIRTUAL TABLE f USING bloom({SOURCE}, column=k)")
            return
        db.run(f"CREATE VIRTUAL TABLE f USING bloom({SOURCE}, column=k)", "INSERT OR REPLACE INTO s VALUES (NULL, 1)")
        self.assertEqual(db.one("SELECT count(*) FROM s JOIN f ON f.key = s.k"), 1)

    def test_a_running_select_notices_lost_triggers(self):
        for on_stale in ("error", "maybe"):
            db = self.following(f", on_stale={on_stale}", rows=3)
            lookups = db.prepare("SELECT p.k FROM (SELECT 'k1' AS k UNION ALL SELECT 'new' UNION ALL SELECT 'k2') AS p JOIN f ON f.key = p.k")
            found = [lookups.step()[0]]
            for (name,) in db.run("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 's'"):
                db.run(f"DROP TRIGGER {name}")
            db.run("INSERT INTO s VALUES ('new')")
            try:
                while row := lookups.step():
                    found.append(row[0])
            except Failure as failure:
                self.assertIn("triggers of source", failure.text)
            else:
                self.assertIn("new", found)
            self.assertEqual(on_stale == "maybe", "new" in found)
            lookups.finalize()
            db.run("DROP TABLE f", "DROP TABLE s")

    def test_an_announced_key_that_is_never_recorded(self):
        """The BEFORE trigger changes a part of the key that the UPDATE does not set. The AFTER trigger keeps it from being recorded."""
        for older, blocked in itertools.product((True, False), (True, False)):
            with self.subTest(older=older, blocked=blocked):
                db = Raw()
                change = "CREATE TRIGGER change BEFORE UPDATE OF a ON s WHEN new.n = 1 BEGIN UPDATE s SET b = 'b1' WHERE id = old.id; END"
                db.run("CREATE TABLE s(id INTEGER PRIMARY KEY, a, b, n)", *([change] if older else []))
                db.run(f"CREATE VIRTUAL TABLE f USING bloom(writers={WRITERS}, source=s, column=(a, b))", "INSERT INTO s VALUES (1, 'a0', 'b0', 0)")
                db.run(*([] if older else [change]))
                if blocked:
                    db.run("CREATE TRIGGER block AFTER UPDATE ON s WHEN new.n = 1 BEGIN SELECT RAISE(IGNORE); END")
                db.run("UPDATE s SET a = 'a1', n = 1", "DROP TRIGGER change", *(["DROP TRIGGER block"] if blocked else []))
                key = "SELECT count(*) FROM f JOIN s ON f.key = bloom_key(s.a, s.b)"
                if blocked and WRITERS == "extension":
                    self.assertFails(db, "could keep their keys from being added", key)
                    db.run("INSERT INTO f(f) VALUES ('rebuild')")
                self.assertEqual(db.one(key), 1)
                if blocked and WRITERS == "any":
                    self.assertFails(db, "was announced", "SELECT filter FROM f")
                db.run("INSERT INTO f(f) VALUES ('merge')")
                self.assertEqual(db.one(key), 1)
                self.assertEqual(db.run("SELECT 1 FROM f WHERE key = bloom_key('never', 'there')"), [])

    @unittest.skipIf(WRITERS == "extension", "there is no log")
    def test_a_merge_while_an_update_is_announced(self):
        db = Raw()
        db.run("CREATE TABLE s(id INTEGER PRIMARY KEY, a, b)", "CREATE VIRTUAL TABLE f USING bloom(source=s, column=(a, b))")
        db.run("CREATE TRIGGER merging AFTER INSERT ON f_pending BEGIN INSERT INTO f(f) VALUES ('merge'); END")
        db.run("INSERT INTO s VALUES (1, 'a', 'b'), (2, 'c', 'd')", "UPDATE s SET a = a || 'x'", "UPDATE s SET b = 'y' WHERE id = 2")
        self.assertEqual(db.one("SELECT count(*) FROM f JOIN s ON f.key = bloom_key(s.a, s.b)"), 2)
        db.run("DROP TRIGGER merging", "INSERT INTO f(f) VALUES ('merge')")
        self.assertEqual(db.one("SELECT pending FROM f"), 0)
        self.assertEqual(db.one("SELECT count(*) FROM f JOIN s ON f.key = bloom_key(s.a, s.b)"), 2)

    def test_triggers_that_are_created_again(self):
        """SQLite's own 12 steps for ALTER TABLE do that, and so do programs around a bulk load."""
        for steps in "12 steps", "on the source", "all triggers", "all triggers and indexes", "pending":
            db = self.following(rows=3)
            saved = db.run("SELECT name, type, sql FROM sqlite_master WHERE type IN ('trigger', 'index') AND sql NOT NULL ORDER BY rowid")
            if steps == "12 steps":
                db.run("BEGIN", "CREATE TABLE new(k INTEGER)", "INSERT INTO new SELECT upper(k) FROM s", "DROP TABLE s", "ALTER TABLE new RENAME TO s", *(sql for _, _, sql in saved if " ON \"s\"" in sql), "COMMIT")
            elif steps == "pending":
                pending = db.run("SELECT sql FROM sqlite_master WHERE name = 'f_pending'")
                db.run("INSERT INTO s VALUES ('unseen')", "DROP TABLE f_pending", *(sql for (sql,) in pending), *(sql for _, _, sql in saved if "ON \"f_pending\"" in sql))
            else:
                some = [each for each in saved if each[1] == "trigger" or "indexes" in steps]
                some = [each for each in some if "all" in steps or " ON \"s\"" in each[2]]
                db.run(*(f"DROP {kind} {name}" for name, kind, _ in some), "INSERT INTO s VALUES ('unseen')", *(sql for _, _, sql in some))
            for reader in (db, Raw(self.path)):
                self.assertFails(reader, "was created again" if steps == "pending" else "triggers of source 's' are missing or have changed", "SELECT 1 FROM f WHERE key = 'K1'")
            db.run("INSERT INTO f(f) VALUES ('rebuild')")
            self.assertFollows(db)
            # What keeps the order of the schema.
            db.run("VACUUM")
            self.assertFollows(db)
            db.run("ALTER TABLE s RENAME TO s2", "ALTER TABLE s2 RENAME COLUMN k TO k2", "ALTER TABLE f RENAME TO f2")
            self.assertFollows(db, source="s2", column="k2", table="f2")
            copy = db.backup()
            self.assertFollows(copy, source="s2", column="k2", table="f2")
            db.run("DROP INDEX f_guard", "CREATE INDEX f_guard ON s2(k2) WHERE 0")
            self.assertTrue(db.code("SELECT 1 FROM f2 WHERE key = 'K1'"))
            db.run("INSERT INTO f2(f2) VALUES ('rebuild')")
            self.assertFollows(db, source="s2", column="k2", table="f2")
            db.run("DROP TABLE f2", "DROP TABLE s2")
            self.assertEqual(db.one("SELECT count(*) FROM sqlite_master"), 0)

    def test_a_trigger_by_the_name_of_the_view_stays(self):
        for kind in f"bloom({SOURCE}, column=k)", "bloom_groups(source=s, member=m, column=k)", "bloom_search(source=s, equal=(k))":
            db = Raw()
            db.run("CREATE TABLE s(id INTEGER PRIMARY KEY, m, k)", "CREATE TRIGGER f_last BEFORE DELETE ON s BEGIN SELECT 1; END", f"CREATE VIRTUAL TABLE f USING {kind}")
            db.run("INSERT INTO s VALUES (1, 1, 'a')", "INSERT INTO f(f) VALUES ('rebuild')", "ALTER TABLE f RENAME TO f2", "DROP TABLE f2")
            self.assertEqual(db.run("SELECT name FROM sqlite_master"), [("s",), ("f_last",)])

    @unittest.skipIf(WRITERS == "extension", "there is no log")
    def test_objects_on_the_log(self):
        for make, drop in (
            ("CREATE TRIGGER no BEFORE INSERT ON f_pending BEGIN SELECT RAISE(IGNORE); END", "DROP TRIGGER no"),
            ("CREATE TEMP TRIGGER no BEFORE INSERT ON f_pending BEGIN SELECT RAISE(IGNORE); END", "DROP TRIGGER no"),
            ("CREATE UNIQUE INDEX no ON f_pending(key1)", "DROP INDEX no"),
        ):
            with self.subTest(make):
                db = self.following(rows=3)
                writer = Raw(self.path)
                writer.run(make)
                try:
                    writer.run("INSERT OR IGNORE INTO s VALUES ('k1'), ('new')")
                except Failure as failure:
                    self.assertIn("the change log of a bloom table has not taken a row", failure.text)
                self.assertFails(writer, "may keep changes from being recorded", "SELECT 1 FROM f WHERE key = 'new'")
                writer.run(drop)
                self.assertFollows(db)
                self.assertFollows(writer)
                writer.close()
                db.run("DROP TABLE f", "DROP TABLE s")

    @unittest.skipIf(WRITERS == "extension", "there is no log")
    def test_rollbacks_read_the_end_of_the_log_only(self):
        db = self.following(rows=20000)
        self.assertPresent(db, "k1")
        ticks = []
        db.run("BEGIN")
        db.progress(lambda: ticks.append(1) or False)
        for i in range(20):
            db.run("SAVEPOINT a", f"INSERT INTO s VALUES ('new{i}')")
            self.assertPresent(db, f"new{i}")
            db.run("ROLLBACK TO a")
            db.run(f"INSERT INTO s VALUES ('other{i}')")
            self.assertPresent(db, f"other{i}", "k20000")
        db.progress(None)
        self.assertLess(len(ticks), 60000)  # reading the log once takes about 100,000
        db.run("COMMIT")
        self.assertFollows(db)
        # Rows that were read in one go, and are rolled back in part.
        db.run("BEGIN", "SAVEPOINT a")
        self.add(db, 9000, "x")
        db.run("SAVEPOINT b")
        self.add(db, 9000, "y")
        self.assertPresent(db, "x9000", "y9000")
        db.run("ROLLBACK TO b", "INSERT INTO s VALUES ('z')")
        self.assertFollows(db)
        db.run("ROLLBACK TO a", "INSERT INTO s VALUES ('z')")
        self.assertFollows(db)

    @unittest.skipIf(WRITERS == "extension", "there is no log")
    def test_rows_of_the_log_that_are_deleted(self):
        """OR REPLACE deletes rows through a UNIQUE index, and changes() is 1 all the same."""
        db = self.following(rows=1)
        db.run("CREATE UNIQUE INDEX no ON f_pending(added)", "INSERT OR REPLACE INTO s VALUES ('z')", "DROP INDEX no")
        for sql in ("SELECT 1 FROM f WHERE key = 'k1'", "INSERT INTO f(f) VALUES ('merge')"):
            self.assertFails(db, "the table 'f_pending' lacks rows", sql)
        db.run("INSERT INTO f(f) VALUES ('rebuild')")
        self.assertFollows(db)

    @unittest.skipIf(WRITERS == "extension", "there is no log")
    def test_a_trigger_on_the_log_that_fails_between_two_records(self):
        for body in ("SELECT RAISE(FAIL, 'no')", "INSERT OR FAIL INTO other VALUES (3)"):
            for event in ("INSERT", "UPDATE"):
                db = Raw()
                db.run("CREATE TABLE other(x UNIQUE)", "INSERT INTO other VALUES (3)", "CREATE TABLE s(id INTEGER PRIMARY KEY, a, b)", "INSERT INTO s VALUES (1, 'a', 'b')")
                db.run("CREATE VIRTUAL TABLE f USING bloom(source=s, column=(a, b))", f"CREATE TRIGGER t AFTER {event} ON f_pending BEGIN {body}; END")
                for statement in ("UPDATE s SET b = 'new'", "UPDATE OR FAIL s SET a = 'new'", "INSERT OR FAIL INTO s VALUES (2, 'c', 'd')"):
                    db.code(statement)
                    self.assertEqual(db.run("SELECT * FROM s WHERE NOT EXISTS (SELECT 1 FROM f WHERE f.a = s.a AND f.b = s.b)"), [], (body, event, statement))

    @unittest.skipIf(WRITERS == "extension", "there is no log")
    def test_a_trigger_on_the_log_that_changes_the_log(self):
        db = Raw()
        db.run("CREATE TABLE s(k, m)", "CREATE TABLE audit(k)")
        for module in (f"bloom({SOURCE}, column=k)", f"bloom({SOURCE}, column=(k, m))", "bloom_groups(source=s, member=m, column=k)"):
            for event, body in (
                ("INSERT", "DELETE FROM f_pending WHERE id = new.id"),
                ("INSERT", "DELETE FROM f_pending"),
                ("INSERT", "UPDATE f_pending SET key1 = 'other' WHERE id = new.id"),
                ("INSERT", "INSERT INTO audit VALUES (new.key1); DELETE FROM f_pending WHERE id IN (SELECT max(id) FROM f_pending)"),
                ("UPDATE OF added", "DELETE FROM f_pending WHERE id < new.id"),
                ("DELETE", "INSERT INTO s VALUES (old.key1 || '!', 1)"),
            ):
                with self.subTest(module, event=event, body=body):
                    db.run(f"CREATE VIRTUAL TABLE f USING {module}", f"CREATE TRIGGER log AFTER {event} ON f_pending BEGIN {body}; END")
                    db.run("INSERT INTO s VALUES ('new', 1)", "UPDATE s SET m = 2")
                    lookup = "SELECT 1 FROM f WHERE key = " + ("bloom_key('new', 1)" if "(k, m)" in module else "'new'")
                    self.assertFails(db, "'log' on the table 'f_pending' may keep changes from being recorded", lookup)
                    db.run("DROP TRIGGER log", "INSERT INTO f(f) VALUES ('rebuild')", "INSERT INTO f(f) VALUES ('integrity-check')")
                    db.run("CREATE TRIGGER log AFTER INSERT ON f_pending BEGIN INSERT INTO audit VALUES (new.key1); END", "INSERT INTO s VALUES ('new', 1)", "UPDATE s SET m = 2")
                    db.run(lookup, "DROP TABLE f", "DELETE FROM s")

    @unittest.skipIf(WRITERS == "extension", "there is no log")
    def test_a_trigger_on_the_log_that_writes_to_the_source(self):
        """Without PRAGMA recursive_triggers, SQLite does not run the filter's trigger within itself."""
        for temp in ("", "TEMP"):
            db = self.following(rows=3)
            self.assertPresent(db, "k1")
            db.run("CREATE TABLE audit(k)", "CREATE TRIGGER audited AFTER INSERT ON audit BEGIN INSERT INTO s VALUES ('unlogged'); END")
            db.run(f"CREATE {temp} TRIGGER log AFTER INSERT ON main.f_pending WHEN new.key1 = 'new' BEGIN INSERT INTO audit VALUES (new.key1); END", "INSERT INTO s VALUES ('new')")
            self.assertFails(db, "'log' on the table 'f_pending' may keep changes from being recorded", "SELECT 1 FROM f WHERE key = 'unlogged'")
            db.run("DROP TRIGGER log", "INSERT INTO f(f) VALUES ('rebuild')")
            db.run("CREATE TRIGGER log AFTER INSERT ON f_pending BEGIN INSERT INTO f(f) VALUES ('merge'); END", "INSERT INTO s VALUES ('merged')")
            self.assertFollows(db)
            db.run("DROP TABLE f", "DROP TABLE s", "DROP TABLE audit")

    def test_a_schema_version_that_is_used_again(self):
        """A SELECT without a cursor on the database goes on after the rollback of a schema change."""
        for first in ("SELECT 1", "SELECT 1 FROM f WHERE key = 'x'"):
            db = self.following(rows=3)
            db.run("CREATE TABLE other(x)")
            select = db.prepare("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4) SELECT i, EXISTS (SELECT 1 FROM f WHERE key = 'new' || i) FROM n")
            select.step()
            db.run("BEGIN", "CREATE TABLE made(x)", "INSERT INTO other VALUES (1)", first)
            select.step()
            db.run("ROLLBACK")
            db.run("DROP TRIGGER f_before_insert", "INSERT INTO s VALUES ('new3')")
            with self.assertRaisesRegex(Failure, "are missing or have changed"):
                select.step()
            select.finalize()
            db.run("DROP TABLE f", "DROP TABLE s", "DROP TABLE other")

    def test_a_schema_that_changes_between_opening_and_the_first_lookup(self):
        """A table reads triggers and guard when it is opened, and only compares the state of the schema later."""
        dropped = ("DROP TRIGGER f_before_insert", "INSERT INTO s VALUES ('new')")
        again = self.following().one("SELECT sql FROM sqlite_master WHERE name = 'f_before_insert'")
        Raw(self.path).run("DROP TABLE f", "DROP TABLE s")
        ignored = "BEFORE INSERT ON f_pending BEGIN SELECT RAISE(IGNORE); END"
        changes = {
            "own": ((), dropped),
            "made again": ((), (*dropped, again)),
            "index": ((), ("DROP INDEX f_guard", "CREATE INDEX f_guard ON s(k) WHERE 0")),
            "version used again": (("BEGIN", "CREATE TABLE made(x)"), ("ROLLBACK", *dropped)),
            "undone": (("BEGIN", "DROP TRIGGER f_before_insert"), ("ROLLBACK", "INSERT INTO s VALUES ('new')")),
            "renamed": ((), ("ALTER TABLE s RENAME TO renamed", "INSERT INTO renamed VALUES ('new')", "ALTER TABLE renamed RENAME TO s")),
        }
        if WRITERS == "any":
            changes["TEMP trigger"] = ((), (f"CREATE TEMP TRIGGER no {ignored}",))
            changes["earlier TEMP trigger"] = ((f"CREATE TEMP TRIGGER no {ignored}",), ())
            changes["trigger"] = ((), (f"CREATE TRIGGER no {ignored}",))
        for (name, (before, after)), other in itertools.product(changes.items(), (False, True)):
            with self.subTest(name, other=other):
                maker = self.following(rows=3)
                db = Raw(self.path)
                db.run(*before, "PRAGMA table_info(f)")
                (maker if other and not before else db).run(*after)
                if name in ("undone", "renamed"):
                    self.assertFollows(db)
                    self.assertPresent(db, "new")
                elif other and "TEMP" in name and not before:
                    self.assertFollows(db)
                else:
                    self.assertFails(db, "changed|created again|may keep changes", "SELECT 1 FROM f WHERE key = 'new'")
                db.close()
                maker.run("DROP TABLE f", "DROP TABLE s")

    def test_an_announcement_that_an_update_of_another_row_ends(self):
        """The UPDATE of row 2 keeps its key BEFORE, and has another AFTER. It must not end the announcement of row 1, whose key was never recorded."""
        db = Raw()
        db.run("CREATE TABLE s(id INTEGER PRIMARY KEY, a, b, n)", f"CREATE VIRTUAL TABLE f USING bloom(writers={WRITERS}, source=s, column=(a, b))")
        db.run("INSERT INTO s VALUES (1, 'a0', 'b0', 0), (2, 'c', 'd', 0)")
        db.run("CREATE TRIGGER change BEFORE UPDATE OF a ON s WHEN new.n > 0 BEGIN UPDATE s SET b = 'b' || new.n WHERE id = old.id; END")
        db.run("CREATE TRIGGER block AFTER UPDATE ON s WHEN new.n = 1 BEGIN SELECT RAISE(IGNORE); END")
        db.run("UPDATE s SET a = 'a1', n = 1 WHERE id = 1", "UPDATE s SET a = 'c', n = 2 WHERE id = 2")
        lost = "SELECT * FROM s WHERE NOT EXISTS (SELECT 1 FROM f WHERE f.a = s.a AND f.b = s.b)"
        if WRITERS == "extension":
            self.assertFails(db, "could keep their keys from being added", lost)
            return
        self.assertEqual(db.run(lost), [])
        db.run("DROP TRIGGER change", "DROP TRIGGER block", "INSERT INTO f(f) VALUES ('merge')")
        self.assertEqual(db.run(lost), [])
        # An UPDATE that changes no key leaves nothing behind.
        db.run("UPDATE s SET a = a, b = b")
        self.assertEqual(db.one("SELECT pending FROM f"), 0)

    def test_a_changed_row_of_a_search_table_that_is_not_noted(self):
        db = Raw(self.path)
        db.run("CREATE TABLE s(id INTEGER PRIMARY KEY, k)", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO s(k) SELECT i FROM n")
        db.run("CREATE VIRTUAL TABLE f USING bloom_search(source=s, equal=(k))", "SELECT 1 FROM f WHERE k = 'new'")
        writer = Raw(self.path, extension=None)
        writer.run("CREATE TEMP TRIGGER no BEFORE INSERT ON main.f_changed BEGIN SELECT RAISE(IGNORE); END")
        self.assertFails(writer, "the changed row of a search table was not noted", "UPDATE s SET k = 'new' WHERE id = 5")
        writer.run("DROP TRIGGER no", "UPDATE s SET k = 'new' WHERE id = 5")
        self.assertEqual(db.run("SELECT id FROM f WHERE k = 'new'"), [(5,)])
        writer.close()

    def test_a_search_for_the_values_of_a_subquery(self):
        """For values one by one, SQLite compares column = value, which has other affinities than column IN (SELECT ...)."""
        if tuple(map(int, Raw().one("SELECT sqlite_version()").split("."))) < (3, 38):
            self.skipTest("SQLite does not pass all values at once")
        values = "('5'), ('05'), (5), (' 5'), ('5.0'), (5.0), ('a'), ('1e1'), (10), ('10'), (NULL)"
        for column, option in itertools.product(("k", "k TEXT", "k INTEGER", "k TEXT COLLATE NOCASE"), ("equal=(k)", "like=(k)", "equal=(k, id || k AS e)")):
            for wanted in ("x", "x INTEGER", "x REAL", "x TEXT"):
                db = Raw()
                db.run(f"CREATE TABLE s(id INTEGER PRIMARY KEY, {column})", f"INSERT INTO s(k) VALUES {values}", f"CREATE TABLE o({wanted})", "INSERT INTO o VALUES (5), ('A'), ('10'), ('05'), (NULL)")
                db.run(f"CREATE VIRTUAL TABLE f USING bloom_search(source=s, {option})")
                for condition in ("k IN (SELECT x FROM o)", "k IN (5, 'a', NULL)", "k IN (NULL)", "k NOT IN (SELECT x FROM o WHERE x IS NOT NULL)"):
                    expected, found = (sorted(db.run(f"SELECT id FROM {table} WHERE {condition}")) for table in "sf")
                    self.assertEqual(found, expected, (column, option, wanted, condition))

    def test_a_rebuild_by_a_function_that_has_changed_the_schema(self):
        """The program of the running statement then says nothing about what it still writes."""
        for make, statement, change in (
            ("", "INSERT INTO s VALUES ('new')", "CREATE TEMP TABLE s(k)"),
            ("CREATE TRIGGER td AFTER INSERT ON t BEGIN INSERT INTO s VALUES ('new'); END", "INSERT INTO t VALUES (2)", "DROP TRIGGER td"),
            ("CREATE TRIGGER td AFTER DELETE ON t BEGIN INSERT INTO s VALUES ('new'); END", "REPLACE INTO t VALUES (1)", "PRAGMA recursive_triggers = OFF"),
        ):
            with self.subTest(change):
                db = Raw()
                codes = []
                db.function("change", lambda: codes.append((db.code(change), db.code("INSERT INTO f(f) VALUES ('rebuild')"))) if not codes else None)
                db.run("PRAGMA recursive_triggers = ON", "CREATE TABLE s(k)", "CREATE TABLE t(id INTEGER PRIMARY KEY)", "INSERT INTO t VALUES (1)", *([make] if make else []))
                db.run("CREATE TRIGGER u BEFORE INSERT ON s BEGIN SELECT change(); END", f"CREATE VIRTUAL TABLE f USING bloom({SOURCE}, column=k)", statement)
                self.assertEqual(codes, [(0, 1)])
                self.assertEqual(db.run("SELECT k FROM main.s WHERE NOT EXISTS (SELECT 1 FROM f WHERE key = k)"), [])

    def test_a_lookup_goes_on_after_a_rename_was_undone(self):
        """Another table has the name then, and an object that takes no part in the transaction is not told."""
        for module, column in (("bloom(capacity=1000)", "key"), ("bloom_groups(capacity=1000)", "member, key")):
            for undo in ("ROLLBACK", "ROLLBACK TO x"):
                with self.subTest(module, undo=undo):
                    db = Raw()
                    done = []
                    db.function("undo", lambda: done.append(db.run(undo)) if not done else None)
                    db.run(f"CREATE VIRTUAL TABLE f USING {module}", f"CREATE VIRTUAL TABLE g USING {module}")
                    for table, key in (("f", 1), ("f", 2), ("g", 77)):
                        db.run(f"INSERT INTO {table}({column}) VALUES ({f'{key}' if column == 'key' else f'1, {key}'})")
                    db.run("BEGIN", "SAVEPOINT x", "ALTER TABLE g RENAME TO h", "ALTER TABLE f RENAME TO g")
                    try:
                        self.assertEqual(len(db.run("SELECT key FROM (VALUES (1), (2)) AS n CROSS JOIN g ON key = column1 + ifnull(undo(), 0)")), 2)
                    except Failure as failure:
                        self.assertNotEqual(failure.code, 11, failure.text)

    def test_a_name_that_comes_to_mean_another_table(self):
        """An SQL function renames three tables while its statement inserts into the first."""
        for module, column, keys in (("bloom(capacity=1000)", "key", "i"), ("bloom_groups(capacity=1000)", "member, key", "'m', i")):
            db = Raw()
            done = []
            db.function("swap", lambda: done.append(db.run("ALTER TABLE g RENAME TO h", "ALTER TABLE h RENAME TO k", "ALTER TABLE f RENAME TO h")) if not done else None)
            db.run("CREATE TABLE n(i)", "INSERT INTO n VALUES (1), (2), (3)", *(f"CREATE VIRTUAL TABLE {name} USING {module}" for name in "fg"))
            code = db.code(f"INSERT INTO g({column}) SELECT {keys} FROM n WHERE i = 1 OR swap() IS NULL")
            # If the statement fails, the renames are undone with it.
            first, other = ("k", "h") if code == 0 else ("g", "f")
            for key in (1, 2, 3):
                self.assertEqual(len(db.run(f"SELECT 1 FROM {first} WHERE key = {key}")), int(code == 0))
                self.assertEqual(db.run(f"SELECT 1 FROM {other} WHERE key = {key}"), [])

    def test_a_check_within_a_trigger_reports_no_damage(self):
        for when in ("BEFORE", "AFTER"):
            db = self.following(", kind=counting, capacity=100")
            db.run(f"CREATE TRIGGER check_it {when} INSERT ON s BEGIN INSERT INTO f(f) VALUES ('integrity-check'); END")
            self.assertEqual(self.assertFails(db, "cannot read 's' while", "INSERT INTO s VALUES ('new')"), 1)
            db.run("DROP TABLE f", "DROP TABLE s")

    def test_a_merge_whose_rows_stay_in_the_log(self):
        """They would be merged twice. What the function does is not visible in the schema."""
        for table, module in (("f", "bloom(source=s, column=k, kind=counting, capacity=100)"), ("g", "bloom_groups(source=s, member=m, column=k)")):
            db = Raw()
            db.run("CREATE TABLE s(k, m DEFAULT 1)", f"CREATE VIRTUAL TABLE {table} USING {module}", "INSERT INTO s(k) VALUES ('a'), ('b')")
            again = []
            db.function("again", lambda: again.append(1) or (len(again) == 1 and db.run(f"INSERT INTO {table}_pending(id, token, added, key1) VALUES (-1, randomblob(8), 0, 'a')")))
            db.run(f"CREATE TRIGGER keep AFTER DELETE ON {table}_pending BEGIN SELECT again(); END")
            for _ in range(2):
                again.clear()
                self.assertFails(db, "stay after they were merged", f"INSERT INTO {table}({table}) VALUES ('merge')")
                self.assertEqual(db.run(f"SELECT k FROM s WHERE NOT EXISTS (SELECT 1 FROM {table} WHERE key = k)"), [])
            db.run("DROP TRIGGER keep", f"INSERT INTO {table}({table}) VALUES ('merge')", f"INSERT INTO {table}({table}) VALUES ('integrity-check')")
            self.assertEqual(db.run(f"SELECT key1 FROM {table}_pending"), [])

    def test_the_last_rowid_after_rows_whose_expression_fails(self):
        last = 2**63 - 1  # the range of the rows that fail ends with the row before it
        db = Raw()
        db.run("CREATE TABLE s(id INTEGER PRIMARY KEY, k, j)", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO s SELECT i, 'k' || i, CASE i WHEN 1 THEN 'no json' ELSE '{}' END FROM n")
        for rows in ((last - 1, last), (last,)):
            db.run("DELETE FROM s WHERE id > 1000", *(f"INSERT INTO s VALUES ({row}, 'row {row}', '{{}}')" for row in rows), "CREATE VIRTUAL TABLE z USING bloom_search(source=s, equal=(k, json_extract(j, '$.a') AS a))")
            for row in rows:
                self.assertEqual(db.run(f"SELECT id FROM z WHERE z.k = 'row {row}'"), [(row,)])
            db.run("INSERT INTO z(z) VALUES ('integrity-check')", "DROP TABLE z")

    def test_functions_that_an_application_has_replaced(self):
        """Each returns NULL. LIKE and GLOB are tested in search_test.py."""
        replaced = ("abs", "changes", "coalesce", "count", "ifnull", "iif", "instr", "length", "lower", "ltrim", "max", "min", "nullif", "quote", "random", "replace",
                    "rtrim", "substr", "sum", "total", "trim", "upper", "zeroblob")  # fmt: skip
        for name in replaced:
            with self.subTest(name):
                db = Raw()
                db.function(name, lambda: None)
                followed = {"f": "bloom(source=s, column=k, kind=counting)", "c": "bloom(source=s, column=(k, n))", "e": "bloom(source=s, column=k, writers=extension)", "x": "bloom_search(source=s, equal=(k, n))", "y": "bloom_groups(source=s, member=n, column=k)"}
                db.run("CREATE TABLE s(id INTEGER PRIMARY KEY, k DEFAULT 'none', n)", "INSERT INTO s(k, n) VALUES ('a', 1)", "CREATE VIRTUAL TABLE g USING bloom_groups(capacity=100)", "CREATE VIRTUAL TABLE p USING bloom(capacity=10)",
                       *(f"CREATE VIRTUAL TABLE {table} USING {module}" for table, module in followed.items()))
                added, rows = 0, {"a": 1}

                def check():
                    for key, n in rows.items():
                        for condition in ("f WHERE key = '{}'", "e WHERE key = '{}'", "x WHERE k = '{}'", "c WHERE k = '{}' AND n = {}", "y WHERE key = '{}' AND member = {}"):
                            self.assertEqual(len(db.run(f"SELECT 1 FROM {condition.format(key, n)}")), 1, f"{key} in {condition}")
                    for i in range(1, added + 1):
                        self.assertEqual(db.run(f"SELECT member FROM g WHERE key = {i} AND member = {i}"), [(i,)])
                        self.assertEqual(len(db.run(f"SELECT 1 FROM p WHERE key = {i}")), 1)

                for i in range(1, 81):  # two segments
                    added = i
                    db.run(f"INSERT INTO g(member, key) VALUES ({i}, {i})", f"INSERT INTO p(key) VALUES ({i})")
                check()
                for step, sql in enumerate(("INSERT INTO s(k, n) VALUES ('b', 2)", "INSERT INTO s(id, k, n) VALUES (-1, 'c', 3)", "INSERT INTO s(n) VALUES (4)", "UPDATE s SET k = 'd', n = 5 WHERE k = 'b'", "INSERT OR REPLACE INTO s(id, k, n) VALUES (1, 'e', 6)", "DELETE FROM s WHERE k = 'c'", "BEGIN")):
                    db.run(sql)
                    rows = dict(db.run("SELECT k, n FROM s"))
                    check()
                    if step % 3 == 2:
                        for table in followed:
                            db.run(f"INSERT INTO {table}({table}) VALUES ('{'summarize' if table == 'x' else 'merge'}')")
                        check()
                        for table in (*followed, "g", "p"):
                            db.run(f"INSERT INTO {table}({table}) VALUES ('integrity-check')")
                db.run("COMMIT", "INSERT INTO g(g) VALUES ('optimize')", "DELETE FROM g WHERE member = 80", "INSERT INTO g(member, key) VALUES (80, 80)", "ALTER TABLE f RENAME TO f2", "ALTER TABLE f2 RENAME TO f")
                for table in followed:
                    db.run(f"INSERT INTO {table}({table}) VALUES ('rebuild')")
                check()
                for table in (*followed, "g", "p"):
                    db.run(f"INSERT INTO {table}({table}) VALUES ('integrity-check')")

    def test_authorizers_and_limits_are_no_damage(self):
        """Hosts act on the code for damage. What an authorizer hides costs no key, also once the authorizer is gone."""
        tables = {
            "f": ("bloom(capacity=100)", "key = 'k5'"), "s1": ("bloom(source=s, column=k)", "key = s.k"), "c": ("bloom(source=s, column=(k, m))", "c.k = s.k AND c.m = s.m"),
            "e": ("bloom(source=s, column=k, writers=extension, kind=counting)", "key = s.k"), "g": ("bloom_groups(capacity=100)", "key = 'k5'"),
            "y": ("bloom_groups(source=s, member=m, column=k)", "key = s.k AND member = s.m"), "x": ("bloom_search(source=s, equal=(k, m))", "x.k = s.k"),
        }  # fmt: skip
        commands = ("integrity-check", "merge", "rebuild", "summarize", "optimize")
        db = Raw(self.path)
        db.run("CREATE TABLE s(id INTEGER PRIMARY KEY, k, m)", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO s SELECT i, 'k' || i, i % 5 FROM n",
               *(f"CREATE VIRTUAL TABLE {table} USING {module}" for table, (module, _) in tables.items()), "INSERT INTO f(key) VALUES ('k5')", "INSERT INTO g(member, key) VALUES (1, 'k5')", "INSERT INTO s VALUES (1000, 'new', 2)", "UPDATE s SET k = 'moved' WHERE id = 202")
        columns = [(name, column) for (name,) in db.run("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage <> 0") for (_, column, *_) in db.run(f"PRAGMA table_info({name})")]
        for table, (_, condition) in tables.items():
            lookup = f"SELECT 1 FROM {table} WHERE {condition.replace('s.k', repr('new')).replace('s.m', '2')}"
            lookups = [lookup, *(f"SELECT * FROM {table} WHERE {condition.replace('s.k', repr(k)).replace('s.m', m)}" for k, m in (("k5", "0"), ("moved", "2")))]
            statements = (*lookups, *(f"INSERT INTO {table}({table}) VALUES ('{command}')" for command in commands))
            for (name, column), sql, answer in itertools.product(columns, statements, (1, 2)):  # deny, ignore
                if name != "s" and not name.startswith(table + "_"):
                    continue
                db.run("BEGIN")
                db.authorizer(lambda action, *read: answer if action == 20 and read == (name, column) else 0)
                self.assertNotEqual(db.code(sql), 11, f"{sql} without {name}.{column}")
                if sql in lookups and name != "s":
                    try:
                        self.assertTrue(db.run(sql), f"{sql} without {name}.{column}")
                    except Failure:
                        pass  # refused
                db.authorizer(None)
                if "s." in condition:
                    try:
                        lost = db.run(f"SELECT s.k FROM s WHERE NOT EXISTS (SELECT 1 FROM {table} WHERE {condition})")
                    except Failure as failure:
                        # SQLite 3.54, after a command that has failed halfway in a transaction, until that ends.
                        self.assertIn("schema has changed", failure.text)
                        lost = []
                    self.assertEqual(lost, [], f"after {sql} without {name}.{column}")
                else:
                    self.assertEqual(len(db.run(lookup)), 1)
                if db.in_transaction():
                    db.run("ROLLBACK")
        # A statement that is kept was prepared while the log was empty and a column was hidden.
        for module, lookup in (("bloom(source=s, column=k)", "key = 'new'"), ("bloom(source=s, column=(k, m))", "k = 'new' AND m = 2"), ("bloom_groups(source=s, member=m, column=k)", "key = 'new' AND member = 2")):
            for column in ("id", "token", "added", "key1", "key2"):
                second = Raw()
                second.run("CREATE TABLE s(id INTEGER PRIMARY KEY, k, m)", f"CREATE VIRTUAL TABLE f USING {module}")
                second.authorizer(lambda action, *read: 2 if action == 20 and read == ("f_pending", column) else 0)
                second.code(f"SELECT 1 FROM f WHERE {lookup}")
                second.authorizer(None)
                second.run("INSERT INTO s VALUES (1, 'new', 2)")
                self.assertEqual(second.run(f"SELECT 1 FROM f WHERE {lookup}"), [(1,)], (module, column))
                second.close()
        db.authorizer(lambda action, *read: 2 if action == 20 and read[0] == "f_config" else 0)
        self.assertEqual(self.assertFails(db, "hides", "SELECT 1 FROM f WHERE key = 1"), 23)


class Halving(Case):
    def test_a_large_table_with_few_rows(self):
        """Halving reads only the chunks that have rows: here 2 of 3 million."""
        db = Raw()
        db.run("CREATE VIRTUAL TABLE f USING bloom(capacity=10000000000)", "INSERT INTO f(key) VALUES ('a')")
        ticks = []
        db.progress(lambda: ticks.append(1) or False)
        db.run("INSERT INTO f(f) VALUES ('halve')")
        db.progress(None)
        self.assertLess(len(ticks), 10000)
        self.assertPresent(db, "a")


if __name__ == "__main__":
    unittest.main()
