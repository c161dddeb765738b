"""bloom_groups tables that follow a source: options, columns, commands, and what must not make them miss a row."""

import itertools
import sqlite3
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.host import connect, one  # noqa: E402

VISITS = "CREATE TABLE visits(day TEXT, visitor TEXT)"
WHO = "CREATE VIRTUAL TABLE who USING bloom_groups(source=visits, member=day, column=visitor{})"


def column(db, sql, *arguments):
    return [row[0] for row in db.execute(sql, arguments)]


class GroupsSourceTest(unittest.TestCase):
    def setUp(self):
        self.db = connect(isolation_level=None)
        self.addCleanup(self.db.close)

    def run_all(self, *statements):
        for sql in statements:
            self.db.execute(sql)

    def visits(self, options=""):
        self.run_all(VISITS, "INSERT INTO visits VALUES ('mon', 'ann'), ('mon', 'bob'), ('tue', 'ann'), ('wed', NULL), (NULL, 'eve')", WHO.format(options))

    def members(self, key, table="who"):
        return sorted(column(self.db, f"SELECT member FROM {table} WHERE key = ?", key))

    def refused(self, words, sql, *arguments):
        with self.assertRaisesRegex(sqlite3.OperationalError, words):
            self.db.execute(sql, arguments).fetchall()

    def test_a_source_that_the_connection_recreates_with_another_member(self):
        """SQLite compares members as the column was when it opened the table."""
        declared = ("TEXT", "INTEGER", "TEXT COLLATE NOCASE")
        for before, after in itertools.permutations(declared, 2):
            with self.subTest(before=before, after=after), tempfile.TemporaryDirectory() as folder:
                path = f"{folder}/db"
                db = connect(path, isolation_level=None)
                db.execute(f"CREATE TABLE old(id INTEGER PRIMARY KEY, a TEXT, b {before})")
                db.execute("CREATE VIRTUAL TABLE who USING bloom_groups(source=old, member=b, column=a)")
                db.execute("ALTER TABLE old RENAME TO visits")
                self.assertEqual(db.execute("SELECT member FROM who WHERE key = 'z'").fetchall(), [])
                self.assertEqual(connect(path).execute("SELECT member FROM who WHERE key = 'z'").fetchall(), [])
                db.execute("DROP TABLE visits")
                db.execute(f"CREATE TABLE old(id INTEGER PRIMARY KEY, a TEXT, b {after})")
                db.execute("INSERT INTO old(a, b) VALUES ('z', '07'), ('z', 'x')")
                db.execute("INSERT INTO who(who) VALUES ('rebuild')")
                for member in ("07", 7, "X", "x"):
                    found, expected = "SELECT member FROM who WHERE key = 'z' AND member = ?", "SELECT b FROM old WHERE a = 'z' AND b = ?"
                    with self.assertRaisesRegex(sqlite3.OperationalError, "had another name, type or collation"):
                        db.execute(found, (member,)).fetchall()
                    other = connect(path)
                    self.assertEqual(other.execute(found, (member,)).fetchall(), other.execute(expected, (member,)).fetchall())

    def test_rows_are_found_before_and_after_merge(self):
        self.visits()
        self.assertEqual(self.members("ann"), ["mon", "tue"])
        self.run_all("INSERT INTO visits VALUES ('thu', 'ann'), ('mon', 'eve')", "UPDATE visits SET visitor = 'dan' WHERE day = 'tue'")
        for pending in (4, 0):
            self.assertEqual(column(self.db, "SELECT DISTINCT pending FROM who"), [pending])
            self.assertEqual(self.members("eve"), ["mon"])
            self.assertEqual(self.members("dan"), ["tue"])
            self.assertEqual(self.members("ann"), ["mon", "thu", "tue"])  # 'tue' until it is rebuilt
            self.assertEqual(sorted(column(self.db, "SELECT member FROM who")), ["mon", "thu", "tue"])
            self.assertEqual(column(self.db, "SELECT 1 FROM who WHERE member = 'thu' AND key = 'ann'"), [1])
            self.assertEqual(column(self.db, "SELECT bloom_contains(filter, 'eve') FROM who WHERE member = 'mon'"), [1])
            self.run_all("INSERT INTO who(who) VALUES ('integrity-check')", "INSERT INTO who(who) VALUES ('merge')")

    @unittest.skipIf(sqlite3.sqlite_version_info < (3, 38), "SQLite does not tell lists")
    def test_a_list_of_members_compares_by_both_types(self):
        types = ("", "TEXT", "INTEGER", "NUMERIC", "BLOB")
        values = [("5",), ("05",), ("5.0",), (5,), (5.5,), ("abc",), ("ABC",), ("abc ",), (b"5",)]
        for declared in types:
            self.run_all("DROP TABLE IF EXISTS who", "DROP TABLE IF EXISTS plain", "DROP TABLE IF EXISTS visits")
            self.run_all(VISITS.replace("day TEXT", f"day {declared}"), VISITS.replace("day TEXT", f"member {declared}").replace("visits", "plain").replace("visitor", "key"))
            for table in ("visits", "plain"):
                self.db.executemany(f"INSERT INTO {table} VALUES (?, 'ann')", values)
            self.run_all(WHO.format(""))
            for other in types:
                self.run_all("DROP TABLE IF EXISTS q", f"CREATE TABLE q(n {other})")
                self.db.executemany("INSERT INTO q VALUES (?)", values[1:7:2] + [("ABC",)])
                for selected in ("n", "+n", "n COLLATE NOCASE", "n COLLATE RTRIM"):
                    for condition in ("member IN (SELECT {})", "key = 'ann' AND member IN (SELECT {})", "+key = key AND key IN ('ann', 'bob') AND member IN (SELECT {})"):
                        if condition.startswith("+key") and selected != "n":
                            continue
                        where = condition.format(f"{selected} FROM q")
                        expected, found = (sorted(set(map(repr, column(self.db, f"SELECT member FROM {table} WHERE {where}")))) for table in ("plain", "who"))
                        self.assertEqual(found, expected, (declared, other, where))

    def test_one_member_is_rebuilt(self):
        self.visits()
        self.run_all("DELETE FROM visits WHERE visitor = 'ann'", "INSERT INTO who(who, member) VALUES ('rebuild', 'mon')")
        self.assertEqual(self.members("ann"), [])  # 'tue' has no row, so the merge before has removed it
        self.assertEqual(self.members("bob"), ["mon"])
        self.run_all("INSERT INTO who(who, member) VALUES ('rebuild', 'none')", "INSERT INTO who(who, member) VALUES ('rebuild', NULL)")
        self.refused("one row cannot have a command and a member", "INSERT INTO who(who, member) VALUES ('merge', 'mon')")

    def test_members_without_rows_disappear(self):
        for index in ("", "CREATE INDEX by_day ON visits(day)"):
            self.run_all("DROP TABLE IF EXISTS who", "DROP TABLE IF EXISTS visits")
            self.visits()
            self.run_all(*([index] if index else []), "DELETE FROM visits WHERE day = 'mon'", "UPDATE visits SET visitor = NULL WHERE day = 'tue'")
            self.run_all("INSERT INTO who(who) VALUES ('merge')")
            self.assertEqual(column(self.db, "SELECT member FROM who"), [])
            self.run_all("INSERT INTO visits VALUES ('mon', 'zoe')")
            self.assertEqual((self.members("zoe"), self.members("bob")), (["mon"], []))

    def test_a_member_stays_while_a_row_of_it_is_being_written(self):
        self.visits()
        self.run_all("CREATE TRIGGER merging BEFORE INSERT ON visits BEGIN INSERT INTO who(who) VALUES ('merge'); END")
        self.run_all("DELETE FROM visits", "INSERT INTO visits VALUES ('mon', 'zoe')", "INSERT INTO who(who) VALUES ('integrity-check')")
        self.assertEqual(self.members("zoe"), ["mon"])
        self.run_all("DROP TRIGGER merging", "INSERT INTO who(who) VALUES ('merge')")
        self.assertEqual(column(self.db, "SELECT member FROM who"), ["mon"])

    def test_members_differ_by_case_and_type(self):
        self.run_all(
            "CREATE TABLE t(m COLLATE NOCASE, k)", "CREATE VIRTUAL TABLE f USING bloom_groups(source=t, member=m, column=k)", "INSERT INTO t VALUES ('a', 1), (5, 1), ('5', 1)",
            "UPDATE t SET m = 'A' WHERE m = 'a'", "UPDATE t SET m = 5.0 WHERE typeof(m) = 'integer'",
        )  # fmt: skip
        for _ in range(2):
            found = column(self.db, "SELECT member FROM f WHERE key = 1")
            self.assertLessEqual({"A", "5"}, set(found))
            self.assertIn(5, found)
            self.assertIn("A", column(self.db, "SELECT member FROM f WHERE member = 'A' AND key = 1"))
            self.run_all("INSERT INTO f(f) VALUES ('merge')")
        self.assertEqual(len(column(self.db, "SELECT member FROM f")), 3)  # 'a' has no row any more

    def test_keys_compare_as_the_column_does(self):
        self.run_all(
            "CREATE TABLE t(m INTEGER, i INTEGER, s TEXT COLLATE NOCASE)", "INSERT INTO t VALUES (1, 5, '007'), (2, 6, 'Ann')",
            "CREATE VIRTUAL TABLE fi USING bloom_groups(source=t, member=m, column=i)", "CREATE VIRTUAL TABLE fs USING bloom_groups(source=t, member=m, column=s)",
            "INSERT INTO t VALUES (3, 5, '08')", "CREATE TABLE n(x INTEGER)", "INSERT INTO n VALUES (7), (8)",
        )  # fmt: skip
        for _ in range(2):
            self.assertEqual(self.members("05", "fi"), [1, 3])
            self.assertEqual(column(self.db, "SELECT typeof(key) FROM fi WHERE key IN ('5', '05')"), ["integer", "integer"])
            self.assertEqual(self.members("aNN", "fs"), [2])
            self.assertEqual(set(self.db.execute("SELECT x, member FROM n JOIN fs ON fs.key = n.x")), {(7, 1), (7, 3), (8, 1), (8, 3)})
            self.assertEqual(column(self.db, "SELECT member FROM fi WHERE member = '01' AND key = 5"), [1])
            self.run_all("INSERT INTO fi(fi) VALUES ('merge')", "INSERT INTO fs(fs) VALUES ('merge')")
        self.refused("cannot compare key under the collation RTRIM", "SELECT 1 FROM fs WHERE key = 'x' COLLATE RTRIM")

    def test_text_members_that_equal_numbers(self):
        self.run_all("CREATE TABLE t(m, k)", "INSERT INTO t VALUES ('01', 'a')", "CREATE VIRTUAL TABLE f USING bloom_groups(source=t, member=m, column=k)", "CREATE TABLE n(x INTEGER)", "INSERT INTO n VALUES (1)")
        exact = column(self.db, "SELECT m FROM t JOIN n ON m = x WHERE k = 'a'")
        self.assertEqual(column(self.db, "SELECT member FROM f JOIN n ON member = x WHERE key = 'a'"), exact)
        self.assertEqual(column(self.db, "SELECT member FROM n CROSS JOIN f ON member = x"), exact)

    def test_pending_members_that_equal_other_values(self):
        values = [5, 5.0, "5", "05", " 5", "5.0", "5e0", "+5", -5, "-5", 0.1 + 0.2, 0.3, "0.3", "0.30000000000000004", 9007199254740993, "9007199254740993", 9007199254740992.0,
                  float("inf"), "9e999", "abc", "ABC", "", "2024-11-27", "2024", "\ufb01", b"5", b"abc", b"", ".5", 0.5]  # fmt: skip
        for encoding, affinity in itertools.product(("UTF-8", "UTF-16le"), ("", "TEXT", "INTEGER", "REAL")):
            with self.subTest(encoding=encoding, affinity=affinity):
                db = self.db = connect(isolation_level=None)
                self.addCleanup(db.close)
                self.run_all(f"PRAGMA encoding = '{encoding}'", f"CREATE TABLE t(m {affinity}, k)", "CREATE VIRTUAL TABLE f USING bloom_groups(source=t, member=m, column=k)", f"CREATE TABLE plain(member {affinity})")
                for kind in ("n", "t TEXT", "i INTEGER", "r REAL"):
                    self.run_all(f"CREATE TABLE w{kind[0]}(x{kind[1:]})")
                    db.executemany(f"INSERT INTO w{kind[0]} VALUES (?)", [(value,) for value in values])
                db.executemany("INSERT INTO t VALUES (?, 'k')", [(value,) for value in values])
                for pending in (True, False):
                    self.run_all("DELETE FROM plain", "INSERT INTO plain SELECT member FROM f")
                    self.assertEqual(one(db, "SELECT pending > 0 FROM f LIMIT 1"), pending)
                    for kind, sign in itertools.product("ntir", ("", "+")):  # +x has no affinity
                        joined = f"SELECT w.rowid, quote({{0}}.member) FROM w{kind} AS w CROSS JOIN {{0}} ON {{0}}.member = {sign}w.x ORDER BY 1, 2"
                        self.assertEqual(db.execute(joined.format("f")).fetchall(), db.execute(joined.format("plain")).fetchall(), (pending, kind, sign))
                    if pending:
                        self.run_all("INSERT INTO f(f) VALUES ('merge')")
                for end, rows in (("COMMIT", 1), ("ROLLBACK", 0)):
                    self.run_all("BEGIN", f"INSERT INTO t VALUES ('{end}', 'k')")
                    self.assertEqual(one(db, "SELECT count(*) FROM f WHERE member = ?", end), 1)
                    self.run_all(end)
                    self.assertEqual(one(db, "SELECT count(*) FROM f WHERE member = ?", end), rows)

    def test_composite_keys(self):
        self.run_all(
            "CREATE TABLE t(m, a TEXT COLLATE NOCASE, b)", "INSERT INTO t VALUES ('x', 'A', 1), ('y', 'a', 2)",
            "CREATE VIRTUAL TABLE f USING bloom_groups(source=t, member=m, column=(a, b))", "INSERT INTO t VALUES ('z', 'a', 1), ('w', 'a', NULL)",
        )  # fmt: skip
        for _ in range(2):
            self.assertEqual(sorted(column(self.db, "SELECT member FROM f WHERE key = bloom_key('a', 1)")), ["x", "z"])
            self.assertEqual(sorted(column(self.db, "SELECT t.m FROM t JOIN f ON f.key = bloom_key(t.a, t.b) AND f.member = t.m")), ["x", "y", "z"])
            self.run_all("INSERT INTO f(f) VALUES ('merge')", "INSERT INTO f(f) VALUES ('integrity-check')")
        self.refused("key must be bloom_key\\(a, b\\)", "SELECT 1 FROM f WHERE key = 'a'")

    def test_capacity_comes_from_the_source(self):
        self.run_all(VISITS, "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999) INSERT INTO visits SELECT i % 10 = 0, i % 600 FROM n", WHO.format(""))
        self.assertEqual(column(self.db, "SELECT DISTINCT capacity FROM who"), [1.5 * 540])
        self.run_all("DELETE FROM visits WHERE day = '0'", "INSERT INTO who(who) VALUES ('rebuild')")
        self.assertEqual(column(self.db, "SELECT DISTINCT capacity FROM who"), [1.5 * 60])

    def test_direct_changes_are_refused(self):
        self.visits()
        self.refused("cannot INSERT into a table that follows 'visits'", "INSERT INTO who(member, key) VALUES ('mon', 'x')")
        for sql in ("DELETE FROM who", "DELETE FROM who WHERE member = 'mon'", "UPDATE who SET member = 'x' WHERE member = 'mon'"):
            self.refused("cannot change the members of a table that follows 'visits'", sql)
        self.refused("cannot clear a table that follows 'visits'", "INSERT INTO who(who) VALUES ('clear')")
        self.run_all("CREATE VIRTUAL TABLE plain USING bloom_groups(capacity=10)")
        self.refused("are for a table with a source", "INSERT INTO plain(plain) VALUES ('merge')")

    def test_options(self):
        self.run_all(VISITS, "CREATE TABLE g(id INTEGER PRIMARY KEY, d AS (substr(t, 1, 10)), t)")
        create = "CREATE VIRTUAL TABLE f USING bloom_groups({})"
        for options, words in (
            ("source=visits, column=visitor", "needs the options source, member and column"),
            ("member=day, capacity=5", "needs the options source, member and column"),
            ("source=visits, member=day, column=DAY", "name the same column 'DAY'"),
            ("source=visits, member=dy, column=visitor", "member must be a column of visits"),
            ("source=visits, member=day, column=vis", "column must be one of visits"),
            ("source=none, member=day, column=visitor", "must be an ordinary table"),
            ("source=g, member=id, column=t", "'id' is an INTEGER PRIMARY KEY"),
            ("source=g, member=d, column=t", "'d' is a generated column"),
            ("source=visits, member=day, column=visitor, collate=nocase", "collation of column 'visitor'"),
            ("capacity=5, on_stale=maybe", "on_stale is only for a table with a source"),
        ):
            with self.subTest(options):
                self.refused(words, create.format(options))
        self.assertEqual(column(self.db, "SELECT name FROM sqlite_master WHERE name LIKE 'f%'"), [])

    def test_lost_triggers(self):
        for maybe in (False, True):
            self.run_all("DROP TABLE IF EXISTS who", "DROP TABLE IF EXISTS visits")
            self.visits(", on_stale=maybe" if maybe else "")
            self.run_all("DROP TRIGGER who_before_insert", "INSERT INTO visits VALUES ('new', 'unseen')")
            if maybe:
                self.assertEqual(self.members("unseen"), ["mon", "new", "tue"])
                self.assertIn("new", column(self.db, "SELECT member FROM who"))
            else:
                self.refused("triggers of source 'visits' are missing", "SELECT member FROM who WHERE key = 'unseen'")
                self.refused("triggers of source 'visits' are missing", "SELECT member FROM who")
            self.refused("triggers of source 'visits' are missing", "SELECT filter FROM who WHERE member = 'mon'")
            self.refused("triggers of source 'visits' are missing", "INSERT INTO who(who) VALUES ('merge')")
            self.run_all("INSERT INTO who(who) VALUES ('rebuild')")
            self.assertEqual(self.members("unseen"), ["new"])

    def test_a_source_that_cannot_be_found(self):
        """Its rows may be in a table of another name, and a table of its name may be another one."""
        for more in ("ALTER TABLE visits RENAME TO old", "ALTER TABLE visits RENAME TO old; CREATE TABLE visits(day, visitor)", "DROP TABLE visits"):
            self.run_all("DROP TABLE IF EXISTS who", "DROP TABLE IF EXISTS visits", "DROP TABLE IF EXISTS old")
            self.visits(", on_stale=maybe")
            self.run_all(*column(self.db, "SELECT 'DROP TRIGGER ' || name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'visits'"))
            self.db.executescript("INSERT INTO visits VALUES ('new', 'unseen'); " + more)
            self.refused("triggers of source 'visits' are missing|had another name, type or collation", "SELECT member FROM who WHERE key = 'unseen'")

    def test_a_lookup_within_a_command_is_refused(self):
        self.visits()
        self.run_all("CREATE TABLE seen(n)", "CREATE TRIGGER look AFTER INSERT ON who_members BEGIN INSERT INTO seen SELECT count(*) FROM who WHERE key = 'ann'; END")
        self.refused("no such table: main.who", "INSERT INTO who(who) VALUES ('rebuild')")
        self.assertEqual(self.members("ann"), ["mon", "tue"])

    def test_members_stay_while_a_trigger_merges(self):
        """Removed members wait for a merge beside which nothing writes, and the log stays short."""
        self.visits()
        self.run_all("CREATE TEMP TRIGGER merging AFTER INSERT ON main.who_pending WHEN new.id >= 3 BEGIN INSERT INTO who(who) VALUES ('merge'); END")
        for i in range(50):
            self.run_all(f"INSERT INTO visits VALUES ('day {i % 3}', 'v {i}')", "DELETE FROM visits WHERE day = 'day 1'")
            for member, key in self.db.execute("SELECT day, visitor FROM visits WHERE day LIKE 'day%'").fetchall():
                self.assertIn(member, self.members(key))
        self.assertLess(one(self.db, "SELECT count(*) FROM who_pending"), 10)
        self.run_all("DROP TRIGGER merging", "DELETE FROM visits WHERE day = 'day 2'", "INSERT INTO who(who) VALUES ('merge')")
        self.assertEqual(sorted(column(self.db, "SELECT member FROM who")), ["day 0", "mon", "tue"])

    def test_what_others_put_on_the_log_is_noticed(self):
        self.visits()
        self.run_all("CREATE TRIGGER keep BEFORE INSERT ON who_pending BEGIN SELECT raise(IGNORE); END")
        self.refused("may keep changes from being recorded", "SELECT member FROM who WHERE key = 'ann'")
        self.run_all("DROP TRIGGER keep", "CREATE TRIGGER back AFTER INSERT ON who_pending BEGIN INSERT INTO visits VALUES ('x', 'y'); END")
        self.refused("may keep changes from being recorded", "SELECT member FROM who WHERE key = 'ann'")
        self.run_all("DROP TRIGGER back", "INSERT INTO who(who) VALUES ('rebuild')")
        self.run_all("INSERT INTO visits VALUES ('a', '1'), ('b', '2'), ('c', '3')", "DELETE FROM who_pending WHERE key1 = 'b'")
        self.refused("lacks rows", "SELECT member FROM who WHERE key = '2'")

    def test_a_row_that_a_trigger_on_a_shadow_table_writes_is_not_lost(self):
        self.visits()
        self.run_all("INSERT INTO visits VALUES ('thu', 'x')", "CREATE TRIGGER late AFTER INSERT ON who_members WHEN new.member = 'thu' BEGIN INSERT INTO visits VALUES ('late', 'zoe'); END", "INSERT INTO who(who) VALUES ('merge')")
        try:
            self.assertIn("late", self.members("zoe"))
        except sqlite3.OperationalError as error:
            self.assertIn("lacks rows", str(error))
        self.run_all("DROP TRIGGER late", "INSERT INTO who(who) VALUES ('rebuild')")
        self.assertEqual(self.members("zoe"), ["late"])

    def test_an_update_that_another_trigger_ends(self):
        for ending in ("IGNORE", "FAIL, 'ended'"):
            self.run_all("DROP TABLE IF EXISTS who", "DROP TABLE IF EXISTS visits")
            self.visits()
            self.run_all(
                "CREATE TRIGGER swap BEFORE UPDATE ON visits BEGIN UPDATE visits SET visitor = 'swapped' WHERE rowid = old.rowid; END",
                f"CREATE TRIGGER ending AFTER UPDATE ON visits WHEN new.day = 'new' BEGIN SELECT raise({ending}); END",
            )
            try:
                self.run_all("UPDATE visits SET day = 'new' WHERE day = 'tue'")
            except sqlite3.IntegrityError as error:
                self.assertIn("ended", str(error))
            for member, key in self.db.execute("SELECT day, visitor FROM visits WHERE day IS NOT NULL AND visitor IS NOT NULL").fetchall():
                self.assertIn(member, self.members(key), ending)
            self.run_all("DROP TRIGGER ending", "DROP TRIGGER swap", "INSERT INTO who(who) VALUES ('merge')")
            for member, key in self.db.execute("SELECT day, visitor FROM visits WHERE day IS NOT NULL AND visitor IS NOT NULL").fetchall():
                self.assertIn(member, self.members(key), ending)

    def test_a_merge_that_is_rolled_back(self):
        self.visits()
        self.run_all("INSERT INTO visits VALUES ('thu', 'ann')", "BEGIN", "SAVEPOINT s", "INSERT INTO who(who) VALUES ('merge')")
        self.assertEqual(self.members("ann"), ["mon", "thu", "tue"])
        self.run_all("ROLLBACK TO s", "INSERT INTO visits VALUES ('fri', 'bob')")
        self.assertEqual((self.members("ann"), self.members("bob")), (["mon", "thu", "tue"], ["fri", "mon"]))
        self.run_all("INSERT INTO who(who) VALUES ('merge')", "ROLLBACK")
        self.assertEqual((self.members("ann"), self.members("bob")), (["mon", "thu", "tue"], ["mon"]))

    def test_other_connections(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/db"
            a, b, other = connect(path, isolation_level=None), connect(path, isolation_level=None), sqlite3.connect(path, isolation_level=None)
            for sql in (VISITS, WHO.format("")):
                a.execute(sql)
            for i in range(40):
                other.execute("INSERT INTO visits VALUES (?, ?)", (f"day {i % 7}", i % 5))
                for db in (a, b):
                    self.assertIn(f"day {i % 7}", column(db, "SELECT member FROM who WHERE key = ?", str(i % 5)))
                if i % 9 == 8:
                    (a, b)[i % 2].execute("INSERT INTO who(who) VALUES ('merge')")
            for db in (a, b, other):
                db.close()

    def test_renames(self):
        self.visits()
        self.run_all("ALTER TABLE who RENAME TO w2", "ALTER TABLE visits RENAME TO v2", "ALTER TABLE v2 RENAME COLUMN day TO d", "ALTER TABLE v2 RENAME COLUMN visitor TO v", "INSERT INTO v2 VALUES ('thu', 'ann')")
        self.assertEqual(self.members("ann", "w2"), ["mon", "thu", "tue"])
        self.run_all("INSERT INTO w2(w2) VALUES ('merge')", "INSERT INTO w2(w2) VALUES ('rebuild')", "INSERT INTO w2(w2) VALUES ('integrity-check')")
        self.assertEqual(self.members("ann", "w2"), ["mon", "thu", "tue"])
        self.assertEqual(column(self.db, "SELECT json_extract(info, '$.source', '$.member', '$.columns') FROM w2 LIMIT 1"), ['["v2","d",["v"]]'])
        self.run_all("DROP TABLE w2")
        self.assertEqual(column(self.db, "SELECT name FROM sqlite_master"), ["v2"])

    def test_one_identity_for_all_plans(self):
        self.visits()
        self.run_all("INSERT INTO visits VALUES ('thu', 'ann')")
        for _ in range(2):
            self.assertEqual(sorted(column(self.db, "SELECT member FROM who WHERE key = 'ann' OR key = 'bob'")), ["mon", "mon", "thu", "tue"])
            self.assertEqual(sorted(column(self.db, "SELECT DISTINCT member FROM who WHERE key IN ('ann', 'bob')")), ["mon", "thu", "tue"])
            self.assertEqual(sorted(column(self.db, "SELECT member FROM who WHERE member = 'thu' OR member IN ('mon', 'thu')")), ["mon", "thu"])
            self.run_all("INSERT INTO who(who) VALUES ('merge')")

    def test_a_number_and_a_text_are_other_keys_for_or(self):
        self.run_all(
            "CREATE TABLE t(day TEXT, code TEXT)", "INSERT INTO t VALUES ('mon', '5')", "CREATE TABLE q(a REAL, b TEXT)", "INSERT INTO q VALUES (5.0, '5')",
            "CREATE VIRTUAL TABLE f USING bloom_groups(source=t, member=day, column=code)",
        )  # fmt: skip
        query = "SELECT f.key FROM q CROSS JOIN f WHERE f.key = q.a OR f.key = q.b"
        self.assertEqual(sorted(column(self.db, query)), ["5", "5.0"])

    def test_optimized_members(self):
        self.run_all(
            "CREATE TABLE t(m, k)", "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 299) INSERT INTO t SELECT i, i % 50 FROM n",
            "CREATE VIRTUAL TABLE f USING bloom_groups(source=t, member=m, column=k, fpr=0.4)", "INSERT INTO f(f) VALUES ('optimize')",
        )  # fmt: skip
        self.assertLess(0, one(self.db, "SELECT json_extract(info, '$.optimized_segments') FROM f LIMIT 1"))
        self.run_all("UPDATE t SET k = 'new' WHERE m < 70", "DELETE FROM t WHERE m < 30", "INSERT INTO f(f) VALUES ('merge')", "INSERT INTO f(f, member) VALUES ('rebuild', 50)")
        for member, key in self.db.execute("SELECT m, k FROM t").fetchall():
            self.assertIn(member, self.members(key, "f"))
        self.assertEqual(set(column(self.db, "SELECT member FROM f")), set(column(self.db, "SELECT m FROM t")))
        self.run_all("INSERT INTO f(f) VALUES ('integrity-check')")


if __name__ == "__main__":
    unittest.main()
