"""Tables with a source: what SQLite calls equal to a value of the source is found, whatever the types.

    /usr/bin/python3 tests/table/affinity_test.py EXTENSION [unittest options]

SQLite converts values before it compares them: '05' is equal to 5 in a column of integers. The source is the oracle.
"""

import itertools
import random
import sqlite3
import struct
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.case import InFolder, TableCase  # noqa: E402
from support.host import one  # noqa: E402

TYPES = ("", "INTEGER", "REAL", "TEXT", "NUMERIC", "BLOB")
NUMBERS = ("INTEGER", "REAL", "NUMERIC")
COLUMNS = {"n": "", "i": "INTEGER", "r": "REAL", "t": "TEXT", "m": "NUMERIC"}
VALUES = [
    5, 5.0, "5", "05", "5.0", " 5", "5 ", "\t5\n", "+5", "5e0", "5E+0", "5.", ".5e1", "5\0", "5\0x", "five", b"5", b"05", 1.5, "1.5", "1.50", 0.1 + 0.2,
    "0.3", "0.30000000000000004", 2**53 + 1, "9007199254740993", float(2**53), "9223372036854775808", 2.0**63, "-9223372036854775808", 1e300, "1e300",
    -0.0, 0, "-0", "0x10", "", " ", ".", "-", "e5", "5e", "Inf", float("inf"), "9e999", 1e-7, "1e-07", "0.0000001", 10**18, "1e18", -7, "-7", "-07", "5 5",
]  # fmt: skip
# {f} is the filter or the source, {c} a column of the values that are looked up.
COMPARISONS = (
    "SELECT q.id FROM q JOIN {f} ON {f}.key = q.{c}",
    "SELECT q.id FROM q JOIN {f} ON q.{c} = {f}.key",
    "SELECT q.id FROM q JOIN {f} ON {f}.key IS q.{c}",
    "SELECT q.id FROM q JOIN {f} ON {f}.key = +q.{c}",
    "SELECT q.id FROM q JOIN {f} ON {f}.key = CAST(q.{c} AS INTEGER)",
    "SELECT q.id FROM q JOIN {f} ON {f}.key = CAST(q.{c} AS TEXT)",
    "SELECT q.id FROM q JOIN {f} ON {f}.key IN (q.{c}, 'other')",
    "SELECT q.id FROM q JOIN {f} ON {f}.key = q.{c} AND {f}.key = +q.{c}",
    "SELECT q.id FROM q WHERE EXISTS (SELECT 1 FROM {f} WHERE {f}.key = q.{c})",
    "SELECT q.id FROM q WHERE EXISTS (SELECT 1 FROM {f} WHERE {f}.key IN (SELECT r.{c} FROM q AS r WHERE r.id = q.id))",
)


class Affinity(InFolder):
    def source(self, declared, *values, options="", table=""):
        db = self.connect(":memory:")
        db.execute(f"CREATE TABLE s(id INTEGER PRIMARY KEY, key {declared}){table}")
        db.executemany("INSERT INTO s(key) VALUES (?)", [(value,) for value in values])
        db.execute(f"CREATE VIRTUAL TABLE f USING bloom(source=s, column=key, capacity=1000, fpr=1e-9{options})")
        db.execute("CREATE TABLE q(id INTEGER PRIMARY KEY, " + ", ".join(f"{name} {type_}" for name, type_ in COLUMNS.items()) + ")")
        db.executemany("INSERT INTO q(n, i, r, t, m) VALUES (?1, ?1, ?1, ?1, ?1)", [(value,) for value in VALUES])
        return db

    def connect_encoded(self, encoding):
        """The first statement fixes the encoding, also one of the extension that is loaded."""
        path = f"{self.path} {encoding}"
        db = sqlite3.connect(path)
        db.executescript(f"PRAGMA encoding = '{encoding}'; CREATE TABLE first(x)")
        db.close()
        db = self.connect(path)
        self.assertEqual(one(db, "PRAGMA encoding"), encoding)
        return db

    def ids(self, db, sql, table, column):
        return {row[0] for row in db.execute(sql.format(f=table, c=column))}

    def assertNothingLost(self, db, context):
        for sql, column in itertools.product(COMPARISONS, COLUMNS):
            lost = self.ids(db, sql, "s", column) - self.ids(db, sql, "f", column)
            self.assertFalse([VALUES[i - 1] for i in lost], (sql, column, context))

    def test_values_that_are_pending_in_a_long_log(self):
        """A fresh connection then looks keys up by the index of the source."""
        rng = random.Random(4)
        comparisons = list(itertools.product(COMPARISONS, COLUMNS))
        for declared, _ in itertools.product(TYPES, range(20)):
            db = self.connect()
            db.executescript(f"""
                BEGIN;
                CREATE TABLE s(id INTEGER PRIMARY KEY, key {declared});
                CREATE INDEX i ON s(key);
                CREATE VIRTUAL TABLE f USING bloom(source=s, column=key, capacity=10000, fpr=1e-9, growth=off);
                CREATE TABLE q(id INTEGER PRIMARY KEY, {", ".join(f"{name} {type_}" for name, type_ in COLUMNS.items())});
            """)
            db.executemany("INSERT INTO s(key) VALUES (?)", [(f"filler {i}",) for i in range(64 * len(VALUES))])
            db.executemany("INSERT INTO s(key) VALUES (?)", [(value,) for value in rng.sample(VALUES, rng.choice((1, 1, 4)))])
            db.executemany("INSERT INTO q(n, i, r, t, m) VALUES (?1, ?1, ?1, ?1, ?1)", [(value,) for value in VALUES])
            db.execute("COMMIT")
            for sql, column in rng.sample(comparisons, 12):
                fresh = self.connect()
                lost = self.ids(fresh, sql, "s", column) - self.ids(fresh, sql, "f", column)
                self.assertFalse([VALUES[i - 1] for i in lost], (sql, column, declared))
                fresh.close()
            db.executescript("DROP TABLE f; DROP TABLE s; DROP TABLE q")
            db.close()

    def test_numbers_that_were_looked_up_as_text(self):
        """SQLite does not convert the columns of virtual tables: it takes them for values of their declared type."""
        forms = (
            "SELECT {f}.key FROM q JOIN {f} ON {f}.key = q.{c} INTERSECT SELECT key FROM s",
            "SELECT s.key FROM (SELECT DISTINCT {f}.key AS k FROM q JOIN {f} ON {f}.key = q.{c}) AS v JOIN s ON s.key = v.k",
            "SELECT max({f}.key) FROM q JOIN {f} ON {f}.key = q.{c} WHERE q.m BETWEEN -9 AND 9",
            "SELECT typeof({f}.key) || ' ' || {f}.key FROM q JOIN {f} ON {f}.key = q.{c}",
        )
        for declared in NUMBERS:
            db = self.source(declared, *VALUES)
            db.executescript(f"CREATE TABLE t(m, key {declared}); INSERT INTO t SELECT 'm', key FROM s")
            db.execute("CREATE VIRTUAL TABLE g USING bloom_groups(source=t, member=m, column=key, fpr=1e-9)")
            for sql, column in itertools.product(forms, COLUMNS):
                wanted = self.ids(db, sql, "s", column)
                for table in "f", "g":
                    self.assertGreaterEqual(self.ids(db, sql, table, column), wanted, (sql, column, declared, table))
            db.close()

    def test_texts_of_utf16_that_sqlite_changes_on_the_way(self):
        """It removes a byte order mark from a text that is bound, and a conversion to UTF-8 loses halves of characters."""
        for encoding, order in ("UTF-16le", "<"), ("UTF-16be", ">"):
            db = self.connect_encoded(encoding)
            texts = [struct.pack(f"{order}{len(text)}H", *text) for text in ([0xFEFF, 65, 98], [0xFFFE, 65, 98], [65, 98], [0xFEFF], [0xFEFF, 0xFEFF, 65], [97, 0xD800, 98], [0xDC00], [0xFFFD, 98], [0xFEFF, 0xD800])]
            db.execute("CREATE TABLE s(id INTEGER PRIMARY KEY, key TEXT, n TEXT, b TEXT, m TEXT)")
            db.execute("CREATE TABLE q(v TEXT)")
            for text in texts:  # SQLite would read a bound blob as UTF-8
                db.execute(f"INSERT INTO q VALUES (CAST(x'{text.hex()}' AS TEXT))")
            db.execute("INSERT INTO s(key, n, b, m) SELECT v, v, v, v FROM q")
            self.assertEqual([row[0] for row in db.execute("SELECT CAST(key AS BLOB) FROM s ORDER BY id")], texts)
            db.execute("CREATE INDEX i ON s(n)")
            db.execute("CREATE VIRTUAL TABLE f USING bloom(source=s, column=key, capacity=1000, fpr=1e-9)")
            db.execute("CREATE VIRTUAL TABLE c USING bloom(source=s, column=(n, m), capacity=1000, fpr=1e-9)")
            db.execute("CREATE VIRTUAL TABLE g USING bloom_groups(source=s, member=m, column=key, fpr=1e-9)")
            db.execute("CREATE VIRTUAL TABLE z USING bloom_search(source=s, equal=(key, n), like=(b), words=(b))")
            queries = (
                "SELECT count(*) FROM q JOIN f ON f.key = q.v CROSS JOIN s AS t ON t.key = +f.key",
                "SELECT count(*) FROM q, f WHERE f.key = +q.v OR f.key = +q.v",
                "SELECT count(*) FROM q JOIN c ON c.n = q.v AND c.m = q.v CROSS JOIN s AS t ON t.key = +c.n",
                "SELECT count(*) FROM q WHERE EXISTS (SELECT 1 FROM g WHERE g.key = q.v AND g.member = q.v)",
                "SELECT count(*) FROM q JOIN g ON g.key = q.v CROSS JOIN s AS t ON t.key = +g.key AND t.m = +g.member",
                "SELECT count(*) FROM q WHERE v IN (SELECT member FROM g)",
                "SELECT count(*) FROM q JOIN z ON z.key = q.v",
                "SELECT count(*) FROM q CROSS JOIN z ON z.n = q.v",
                "SELECT count(*) FROM z WHERE n IN (SELECT v FROM q)",
                "SELECT count(*) FROM q CROSS JOIN z ON z.b = q.v",
            )
            more = "SELECT count(*) FROM q CROSS JOIN {} AS z ON z.key <> q.v", "SELECT count(*) FROM q CROSS JOIN {} AS z ON z.b LIKE q.v"
            for command in "merge", "summarize", "rebuild":
                for table in ("f", "c", "g") if command == "merge" else ("z",) if command == "summarize" else ("f", "c", "g", "z"):
                    db.execute(f"INSERT INTO {table}({table}) VALUES (?)", (command,))
                for sql in queries:
                    if " FROM q" in sql[:25]:
                        sql = sql.replace("count(*)", "count(DISTINCT q.rowid)")
                    self.assertEqual(one(db, sql), len(texts), (encoding, command, sql))
                for sql in more:
                    self.assertEqual(one(db, sql.format("z")), one(db, sql.format("s")), (encoding, command, sql))
            db.execute("CREATE VIRTUAL TABLE own USING bloom_groups(capacity=100)")
            db.execute("INSERT INTO own(member, key) SELECT v, v FROM q")
            self.assertEqual(one(db, "SELECT count(*) FROM q WHERE v IN (SELECT member FROM own)"), len(texts))

    def test_an_authorizer_that_denies_pragmas(self):
        """The encoding is then unknown."""
        for encoding in "UTF-8", "UTF-16le":
            db = self.connect_encoded(encoding)
            db.executescript(
                "CREATE VIRTUAL TABLE f USING bloom(capacity=100); INSERT INTO f VALUES ('ä'), (5);"
                "CREATE VIRTUAL TABLE g USING bloom_groups(capacity=10); INSERT INTO g(member, key) VALUES ('ö', 'ä')"
            )
            db.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_PRAGMA else sqlite3.SQLITE_OK)
            for _ in range(2):
                self.assertEqual(self.present(db, "ä", "5", 5, "b"), ["ä", "5", 5])
                self.assertEqual(db.execute("SELECT member, key FROM g WHERE key = 'ä' AND member = 'ö'").fetchall(), [("ö", "ä")])
            db.set_authorizer(None)

    def test_a_text_whose_marker_seems_to_be_in_a_counting_filter(self):
        """It seems so because of other keys, which then leave the source."""
        for writers in "any", "extension":
            db = self.source("TEXT", options=f", kind=counting, writers={writers}")
            numbers = "SELECT count(*) FROM json_each('[100001,100002,100003,100004,100005,100006,100007,100008]') JOIN f ON f.key = value"
            db.execute("CREATE TABLE o(n INTEGER)")
            db.execute("INSERT INTO o VALUES (5)")
            while one(db, numbers) < 8:
                db.execute("INSERT INTO s(key) SELECT 'k' || hex(randomblob(8)) FROM json_each('[1,2,3,4,5,6,7,8]') AS a, json_each('[1,2,3,4,5,6,7,8]') AS b, json_each('[1,2,3,4,5,6,7,8]') AS c")
                db.execute("INSERT INTO f(f) VALUES ('merge')")
            db.execute("INSERT INTO s(key) VALUES ('05')")
            db.execute("DELETE FROM s WHERE key LIKE 'k%'")
            db.execute("INSERT INTO f(f) VALUES ('merge')")
            self.assertEqual(one(db, "SELECT count(*) FROM o JOIN f ON f.key = o.n"), 1, writers)
            db.execute("INSERT INTO f(f) VALUES ('integrity-check')")

    def test_integrity_check_finds_that_a_marker_is_missing(self):
        db, other = self.connect(), self.connect()
        db.execute("CREATE TABLE s(m, key)")
        db.execute("INSERT INTO s VALUES ('m', '05')")
        for create, plain, add in (
            ("bloom(source=s, column=key, capacity=100)", "bloom(capacity=100)", "(key) VALUES ('05')"),
            ("bloom_groups(source=s, member=m, column=key, capacity=100)", "bloom_groups(capacity=100)", "(member, key) VALUES ('m', '05')"),
        ):
            db.execute(f"CREATE VIRTUAL TABLE f USING {create}")
            db.execute(f"CREATE VIRTUAL TABLE without USING {plain}")
            db.execute(f"INSERT INTO without{add}")
            db.execute("INSERT INTO f(f) VALUES ('integrity-check')")
            columns = [row[1] for row in db.execute("PRAGMA table_info(f_data)")]
            self.assertEqual(one(db, "SELECT count(*) FROM f_data"), one(db, "SELECT count(*) FROM without_data"))
            other.execute(f"UPDATE f_data SET {columns[-1]} = (SELECT w.{columns[-1]} FROM without_data AS w WHERE w.rowid = f_data.rowid)")
            self.assertFails(db, "the source has .*'05'", "INSERT INTO f(f) VALUES ('integrity-check')")
            db.execute("DROP TABLE f")
            db.execute("DROP TABLE without")

    def test_what_the_source_calls_equal_is_never_absent(self):
        for declared, value in itertools.product(TYPES, VALUES):
            self.assertNothingLost(self.source(declared, value), (declared, value))

    def test_keys_that_are_written_later(self):
        for declared, writers, kind in itertools.product(("", "TEXT", "INTEGER"), ("any", "extension"), ("standard", "counting")):
            db = self.source(declared, "other", options=f", writers={writers}, kind={kind}")
            db.execute("INSERT INTO s(key) VALUES ('05')")
            self.assertNothingLost(db, "inserted")
            db.execute("UPDATE s SET key = '7.0' WHERE key = '05'")
            self.assertNothingLost(db, "updated")
            for command in ("merge", "integrity-check", "rebuild", "integrity-check"):
                db.execute("INSERT INTO f(f) VALUES (?)", (command,))
                self.assertNothingLost(db, command)
            db.execute("BEGIN")
            db.execute("INSERT INTO s(key) VALUES ('08')")
            self.assertNothingLost(db, "in a transaction")
            db.execute("ROLLBACK")
            self.assertNothingLost(db, "rolled back")

    def test_a_growing_table_of_many_forms(self):
        db = self.source("TEXT", options=", growth=on, writers=extension")
        db.executemany("INSERT INTO s(key) VALUES (?)", [(f"{i:05}",) for i in range(5000)])
        self.assertGreater(one(db, "SELECT layers FROM f"), 1)
        db.execute("CREATE TABLE asked(k INTEGER)")
        db.executemany("INSERT INTO asked VALUES (?)", [(i,) for i in range(5000)])
        self.assertEqual(one(db, "SELECT count(*) FROM asked JOIN f ON f.key = asked.k"), 5000)

    def test_random_texts(self):
        rng = random.Random(4)
        texts = {"".join(rng.choices("0055.e+- \tx", k=rng.randrange(1, 7))) for _ in range(1000)}
        for text in texts:
            number = one(sqlite3.connect(":memory:"), "SELECT CAST(? AS NUMERIC)", text)
            db = self.source("TEXT", text)
            db.execute("CREATE TABLE asked(k NUMERIC)")
            db.execute("INSERT INTO asked VALUES (?)", (number,))
            want, got = (one(db, f"SELECT count(*) FROM asked JOIN {f} ON {f}.key = asked.k") for f in ("s", "f"))
            self.assertLessEqual(want, got, (text, number))
            db = self.source("NUMERIC", number)
            self.assertLessEqual(one(db, "SELECT count(*) FROM s WHERE key = ?", text), one(db, "SELECT count(*) FROM f WHERE key = ?", text), (text, number))

    def test_a_filter_before_the_lookup_it_is_for(self):
        """The same rows as without the filter. A number from a numeric column in front of a column of text needs CAST."""
        direct = "SELECT q.id FROM q JOIN s ON s.key = {v}"
        filtered = tuple("SELECT q.id FROM q JOIN f ON f.key = {v} JOIN s ON s.key = " + key for key in ("{v}", "f.key", "+f.key"))
        tried = 0
        for declared, value in itertools.product(TYPES, VALUES):
            db = self.source(declared, value)
            for column, form in itertools.product(COLUMNS, ("q.{}", "+q.{}", "CAST(q.{} AS TEXT)")):
                named = {"v": form.format(column)}
                is_number = form == "q.{}" and COLUMNS[column] in NUMBERS
                for sql in filtered[: 1 if is_number and declared not in NUMBERS else 3]:
                    tried += 1
                    want, got = ({row[0] for row in db.execute(text.format_map(named))} for text in (direct, sql))
                    self.assertLessEqual(want, got, (declared, value, sql, named))
                    # `key` shows a number as text, which a column without a type then finds.
                    if declared != "TEXT" or form != "q.{}" or column != "n":
                        self.assertEqual(want, got, (declared, value, sql, named))
        self.assertGreater(tried, 5000)

    def test_the_filter_still_answers_absent(self):
        for declared, added, absent in (
            ("INTEGER", (5, 1.5, "five"), (6, "06", " 7 ", 2.5, "2.50", "six", b"6")),
            ("TEXT", ("5", "a", "-17", "12345678901234567890x", "2024-01-01", "1.2.3.4"), (6, 6.0, "6", "05", "06", 2.5)),
            ("", (5, 1.5, "a"), (6, 6.0, "05", "06", 2.5, "2.50")),
        ):
            db = self.source(declared, *added)
            self.assertEqual(self.present(db, *absent), [], declared)

    def test_key_shows_what_the_column_would_store(self):
        for declared, asked, shown in (("INTEGER", "05", 5), ("TEXT", 5, "5"), ("TEXT", 5.0, "5.0"), ("", "05", "05"), ("", 5, 5), ("INTEGER", "x", "x")):
            got = one(self.source(declared, asked), "SELECT key FROM f WHERE key = ?", asked)
            self.assertEqual((type(got), got), (type(shown), shown), declared)

    def test_strict_tables(self):
        if sqlite3.sqlite_version_info < (3, 37):
            self.skipTest("no STRICT tables")
        for declared, value in itertools.product(("ANY", "TEXT", "BLOB", "INT", "REAL"), (5, "05", 1.5, b"5")):
            try:
                db = self.source(declared, value, table=" STRICT")
            except sqlite3.IntegrityError:
                continue
            self.assertNothingLost(db, (declared, value))
            self.assertEqual(self.present(db, "06", b"6"), [])

    def test_a_source_whose_type_changes(self):
        """The connection has declared the old type of key to SQLite, which would compare by it what a lookup returns."""
        kinds = ("bloom(source=s, column=key", "bloom(source=s, column=(key, id2)", "bloom_groups(source=s, member=id2, column=key", "bloom_groups(source=s, member=key, column=id2")
        for (old, new), kind, option in itertools.product(itertools.permutations(("INTEGER", "TEXT", "", "REAL"), 2), kinds, ("", ", on_stale=maybe")):
            with self.subTest(old=old, new=new, kind=kind, option=option):
                db = self.connect()
                db.executescript(f"DROP TABLE IF EXISTS f; DROP TABLE IF EXISTS s; CREATE TABLE s(id2, key {old}); INSERT INTO s VALUES (1, 7); CREATE VIRTUAL TABLE f USING {kind}{option})")
                lookup = "SELECT 1 FROM f WHERE f.key = bloom_key('05', 1)" if "(key" in kind else "SELECT 1 FROM f WHERE f.key = '05'"
                db.executescript(f"DROP TABLE s; CREATE TABLE s(id2, key {new})")
                refused = "had another name, type or collation when this connection opened 'f' .open the database again"
                self.assertFails(db, refused if option else "missing", lookup)
                db.executescript("INSERT INTO s VALUES ('05', '05'); INSERT INTO f(f) VALUES ('rebuild')")
                for each in (db, self.connect()):
                    each.execute("INSERT INTO f(f) VALUES ('integrity-check')")
                self.assertFails(db, refused, lookup)
                db.close()
                self.assertEqual(len(self.connect().execute(lookup).fetchall()), 0 if "(key" in kind else 1)

    def test_a_source_without_the_column_that_was_declared(self):
        """A composite key declares the names as well."""
        db = self.connect()
        db.executescript("""
            CREATE TABLE t(a, b); CREATE VIRTUAL TABLE f USING bloom(source=t, column=(a, b)); ALTER TABLE t RENAME a TO z;
            SELECT 1 FROM f WHERE z = 1 AND b = 2;
            DROP TABLE t; CREATE TABLE t(a, b, z); INSERT INTO t VALUES (1, 2, 3); INSERT INTO f(f) VALUES ('rebuild')""")
        self.assertFails(db, "the column 'a' of 't' had another name", "SELECT 1 FROM t JOIN f ON f.z = t.z AND f.b = t.b")
        db = self.connect()
        self.assertFails(db, "no such column: f.z", "SELECT 1 FROM t JOIN f ON f.z = t.z AND f.b = t.b")
        self.assertEqual(db.execute("SELECT 1 FROM t JOIN f ON f.a = t.a AND f.b = t.b").fetchall(), [(1,)])


class KeptAsInteger(TableCase):
    """SQLite can keep a REAL as an integer: when it replaces a column by the constant that it equals, or reads it from a file."""

    def test_every_table_finds_it(self):
        db = self.connect()
        db.executescript("""
            CREATE TABLE offers(id INTEGER PRIMARY KEY, price REAL, shop TEXT);
            INSERT INTO offers(price, shop) SELECT value, 'shop ' || value FROM json_each('[1, 2, 3, 5, 7, 9, 2.5]');
            CREATE TABLE wanted(price REAL, who TEXT);
            INSERT INTO wanted VALUES (5, 'ann'), (2.5, 'bob');
            CREATE VIRTUAL TABLE f USING bloom(source=offers, column=price);
            CREATE VIRTUAL TABLE followed USING bloom_groups(source=offers, member=price, column=shop);
            CREATE VIRTUAL TABLE filled USING bloom_groups(capacity=100);
            INSERT INTO filled(member, key) SELECT price, shop FROM offers;
            CREATE VIRTUAL TABLE s USING bloom_search(source=offers, equal=(price));
        """)
        for price in (5, 2.5):
            wanted = f"FROM wanted AS w JOIN %s WHERE w.price = {price}"
            shop = f"shop {price}"
            self.assertEqual(db.execute("SELECT f.key " + wanted % "f ON f.key = w.price").fetchall(), [(price,)])
            self.assertEqual(db.execute("SELECT s.shop " + wanted % "s ON s.price = w.price").fetchall(), [(shop,)])
            for groups in ("followed", "filled"):
                for condition in ("", f" AND g.key = '{shop}'"):
                    self.assertEqual(db.execute("SELECT g.member " + wanted % f"{groups} AS g ON g.member = w.price" + condition).fetchall(), [(price,)], (groups, condition))


class OddTypes(TableCase):
    def test_types_in_quotes(self):
        for declared in ('""', "[]", "''", '" "', '"2int"', '"1e5"', '"a  b"'):
            db = self.connect(":memory:")
            db.executescript(f"""
                CREATE TABLE t(id INTEGER PRIMARY KEY, c {declared}, m);
                INSERT INTO t(c, m) VALUES ('05', 'a'), (7, 'a'), ('5.0', 'a'), ('7e0', 'a'), ('x', 'a'), ('5 ', 'a');
                CREATE VIRTUAL TABLE f USING bloom(source=t, column=c);
                CREATE VIRTUAL TABLE g USING bloom_groups(source=t, member=m, column=c);
                CREATE VIRTUAL TABLE s USING bloom_search(source=t, equal=(c));
            """)
            for value in ("'05'", "'5.0'", "5", "'7'", "7", "'07'", "'x'", "'5 '", "7.0"):
                wanted = [rowid for (rowid,) in db.execute(f"SELECT id FROM t WHERE c = {value} ORDER BY id")]
                with self.subTest(declared, value=value):
                    self.assertEqual([rowid for (rowid,) in db.execute(f"SELECT id FROM s WHERE c = {value} ORDER BY id")], wanted)
                    if wanted:
                        self.assertEqual(one(db, f"SELECT count(*) FROM f WHERE key = {value}"), 1)
                        self.assertEqual(one(db, f"SELECT count(*) FROM g WHERE key = {value}"), 1)
        db = self.connect(":memory:")
        db.executescript("""
            CREATE TABLE t(id INTEGER PRIMARY KEY, c "" NOT NULL ON CONFLICT REPLACE DEFAULT '05');
            CREATE VIRTUAL TABLE s USING bloom_search(source=t, equal=(c));
        """)
        try:
            db.execute("CREATE VIRTUAL TABLE f USING bloom(source=t, column=c)")
            db.execute("INSERT INTO t(c) VALUES (NULL)")
            self.assertEqual(one(db, "SELECT count(*) FROM f WHERE key = 5"), 1)
        except sqlite3.OperationalError as error:
            self.assertIn("NOT NULL with a default that SQLite computes or converts", str(error))


if __name__ == "__main__":
    unittest.main()
