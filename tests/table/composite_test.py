"""Tables that follow several columns: lookups by the columns, and by bloom_key().

    /usr/bin/python3 tests/table/composite_test.py EXTENSION [unittest options]

The source is the oracle: what SQLite finds in it by the same condition is never absent from the filter.
"""

import itertools
import random
import sqlite3
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.case import InFolder  # noqa: E402
from support.host import one  # noqa: E402

TYPES = ("", "INTEGER", "REAL", "TEXT", "NUMERIC", "BLOB")
COLLATIONS = ("BINARY", "NOCASE", "RTRIM")
COLUMNS = {"n": "", "i": "INTEGER", "r": "REAL", "t": "TEXT", "m": "NUMERIC"}
VALUES = [
    5, 5.0, "5", "05", "5.0", " 5", "5 ", "5.0e0", b"5", b"05", 1.5, "1.50", 0.1 + 0.2, "0.30000000000000004", 2**53 + 1, float(2**53), 1e300, "1e300",
    -0.0, 0, "-0", "", " ", "a", "A", "a ", "A  ", "é", "É", "a\0b", "A\0b", "a\0B", b"a", "1:a,", "Inf", float("inf"), 10**18, "1e18", None,
]  # fmt: skip
# {c} and {d} are columns of the values that are looked up, {own} the collation of the source's column a.
CONDITIONS = (
    "f.a = q.{c} AND f.b = q.{d}",
    "f.b = q.{d} AND q.{c} = f.a",
    "f.a IS q.{c} AND f.b IS +q.{d}",
    "f.a = q.{c} AND f.b IN (q.{d}, 'other')",
    "f.a IN (q.{c}, 7) AND f.b IN (q.{d}, 7)",
    "f.a = q.{c} AND f.b = q.{d} AND f.a = +q.{c} COLLATE BINARY",
    "f.a = q.{c} COLLATE BINARY AND f.b = q.{d} AND f.a = q.{c}",
    "f.a = CAST(q.{c} AS TEXT) AND f.b = CAST(q.{d} AS INTEGER)",
    "f.a = q.{c} COLLATE {own} AND f.b = q.{d} AND f.b = +q.{d}",
)
FORMS = (
    "SELECT q.id FROM q JOIN {f} AS f ON {on}",
    "SELECT q.id FROM {f} AS f JOIN q ON {on}",
    "SELECT q.id FROM q WHERE EXISTS (SELECT 1 FROM {f} AS f WHERE {on})",
    "SELECT q.id FROM q LEFT JOIN {f} AS f ON {on} WHERE f.a IS NOT NULL",
)


class Composite(InFolder):
    def source(self, columns="tenant TEXT, email TEXT COLLATE NOCASE", *rows, key="(tenant, email)", options=""):
        db = self.connect()
        db.execute(f"CREATE TABLE users(id INTEGER PRIMARY KEY, {columns})")
        for row in rows:
            db.execute(f"INSERT INTO users VALUES (NULL, {', '.join('?' * len(row))})", row)
        db.execute(f"CREATE VIRTUAL TABLE f USING bloom(source=users, column={key}{options})")
        return db

    def found(self, db, where, *values):
        return len(db.execute(f"SELECT 1 FROM f WHERE {where}", values).fetchall())

    def commands(self, db, *commands):
        for command in commands:
            db.execute("INSERT INTO f(f) VALUES (?)", (command,))


class Lookups(Composite):
    def test_a_lookup_by_the_columns_in_any_order(self):
        for writers in ("any", "extension"):
            db = self.source("tenant TEXT, email TEXT COLLATE NOCASE", ("t1", "A@b"), options=f", writers={writers}")
            for step in ("filled", "added", "merge", "rebuild"):
                if step == "added":
                    db.execute("INSERT INTO users(tenant, email) VALUES ('t2', 'C@d')")
                elif step != "filled":
                    self.commands(db, step)
                for tenant, email, found in (("t1", "a@B", 1), ("T1", "a@b", 0), ("a@b", "t1", 0), ("t2", "c@D", int(step != "filled"))):
                    self.assertEqual(self.found(db, "tenant = ? AND email = ?", tenant, email), found, (step, tenant, email))
                    self.assertEqual(self.found(db, "email IS ? AND tenant IS ?", email, tenant), found)
                    self.assertEqual(self.found(db, "key = bloom_key(?, ?)", tenant, email), found)
            self.commands(db, "integrity-check")
            db.execute("DROP TABLE f")
            db.execute("DROP TABLE users")

    def test_the_row_has_the_values_that_were_looked_up(self):
        db = self.source("tenant INTEGER, email TEXT COLLATE RTRIM", (5, "a"))
        row = db.execute("SELECT tenant, email, key FROM f WHERE tenant = '05' AND email = 'a  '").fetchone()
        self.assertEqual(row, (5, "a  ", b"1:5,3:a  ,"))
        self.assertEqual(db.execute("SELECT * FROM f WHERE tenant = 5 AND email = 'a'").fetchall(), [(b"1:5,1:a,",)])

    def test_the_columns_compare_as_those_of_the_source(self):
        """Also in a second condition, and for a column that the join does not look up."""
        db = self.connect()
        db.execute("CREATE TABLE x(tenant, email, e COLLATE NOCASE)")
        db.execute("INSERT INTO x VALUES (7, 'Ann', 'ann'), (8, 'bob', 'BOB')")
        for declared in ("email TEXT COLLATE NOCASE", "email COLLATE NOCASE", "email TEXT", "email"):
            db.execute(f"CREATE TABLE users(tenant INTEGER, {declared})")
            db.execute("INSERT INTO users VALUES (7, 'Ann'), (8, 'bob')")
            db.execute("CREATE VIRTUAL TABLE f USING bloom(source=users, column=(tenant, email))")
            for sql in ("SELECT x.rowid FROM x JOIN {0} ON {0}.tenant = x.tenant AND {0}.email = x.email WHERE {0}.email = 'ANN'",
                        "SELECT x.rowid FROM x JOIN {0} ON {0}.tenant = x.tenant AND {0}.email = x.e",
                        "SELECT email = 'ANN' FROM {0} WHERE tenant = 7 AND email = 'Ann'", "SELECT 1 FROM {0} WHERE tenant = 8 AND email = 'BOB' AND email = 'bob'",
                        "SELECT 1 FROM {0} WHERE tenant IN (7, 9) AND email IN ('ANN', 'Cid')", "SELECT 1 FROM {0} WHERE tenant IN (SELECT tenant FROM x) AND email IN (SELECT email FROM x) AND tenant = 7"):
                self.assertEqual(*(sorted(db.execute(sql.format(table)).fetchall()) for table in ("users", "f")), (declared, sql))
            db.execute("DROP TABLE f")
            db.execute("DROP TABLE users")

    def test_a_join_with_using(self):
        db = self.source("tenant TEXT, email TEXT COLLATE NOCASE", ("t1", "a@b"))
        db.execute("CREATE TABLE x(tenant, email)")
        db.execute("INSERT INTO x VALUES ('t1', 'A@B'), ('t2', 'a@b')")
        self.assertEqual(db.execute("SELECT x.tenant, x.email FROM x JOIN f USING (tenant, email)").fetchall(), [("t1", "A@B")])
        self.assertEqual(db.execute("SELECT tenant FROM f JOIN x USING (tenant, email)").fetchall(), [("t1",)])

    def test_a_database_in_utf_16(self):
        db = self.connect()
        db.execute("PRAGMA encoding = 'UTF-16le'")
        db.execute("CREATE TABLE users(tenant TEXT, email TEXT COLLATE NOCASE)")
        db.execute("INSERT INTO users VALUES ('t', 'Éa')")
        db.execute("CREATE VIRTUAL TABLE f USING bloom(source=users, column=(tenant, email))")
        db.execute("INSERT INTO users VALUES ('u', 'ñQ')")
        for command in ("merge", "rebuild"):
            self.assertEqual(db.execute("SELECT tenant, email FROM f WHERE tenant = 'u' AND email = 'ñq'").fetchall(), [("u", "ñq")])
            self.assertEqual(self.found(db, "tenant = 't' AND email = 'ÉA'"), 1)
            self.assertEqual(self.found(db, "tenant = 'u' AND email = 'ÑQ'"), 0)
            self.commands(db, command)

    def test_a_part_that_is_null_is_no_key(self):
        db = self.source("tenant TEXT, email TEXT", (None, "a"), ("t", None), ("t", "a"))
        for where in ("tenant = NULL AND email = 'a'", "tenant IS NULL AND email = 'a'", "tenant IS NULL AND email IS NULL", "tenant = 't' AND email IS ?"):
            self.assertEqual(self.found(db, where, *[None] * where.count("?")), 0, where)
        lost = "SELECT users.id FROM users LEFT JOIN f ON f.tenant = users.tenant AND f.email = users.email WHERE f.tenant IS NULL"
        self.assertEqual(db.execute(lost).fetchall(), [(1,), (2,)])
        self.assertEqual(db.execute(lost.replace("f.tenant IS", "f.key IS")).fetchall(), [(1,), (2,)])

    def test_a_condition_that_lacks_a_column_names_the_form_to_write(self):
        db = self.source("tenant TEXT, email TEXT COLLATE NOCASE", ("t1", "a@b"))
        db.execute("CREATE TABLE x(tenant, email)")
        db.execute("INSERT INTO x VALUES ('t', 'e')")
        give = r"\(give all of them: tenant = \? AND email = \?\)"
        self.assertFails(db, "f: the key has several columns, and the condition lacks email " + give, "SELECT 1 FROM f WHERE tenant = 't1'")
        self.assertFails(db, "the condition lacks tenant " + give, "SELECT info FROM f WHERE email = 'a@b'")
        self.assertFails(db, "the condition lacks email", "SELECT 1 FROM x JOIN f ON f.tenant = x.tenant")
        self.assertFails(db, "the condition lacks email", "SELECT 1 FROM f WHERE tenant = 't' AND email > 'a'")
        self.assertFails(db, "either the key or its columns, not both", "SELECT 1 FROM f WHERE key = bloom_key('t', 'e') AND tenant = 't'")
        for sql in ("SELECT key FROM f", "SELECT tenant FROM f", "SELECT tenant, fpr FROM f", "SELECT 1 FROM x, f WHERE f.tenant > x.tenant"):
            self.assertFails(db, r"cannot list .*JOIN ... ON f.tenant = t.tenant AND f.email = t.email", sql)
        self.assertFails(db, "a lookup by key cannot read the columns", "SELECT email FROM f WHERE key = bloom_key('t1', 'a@b')")

    def test_values_of_other_types_are_other_rows_for_or(self):
        for columns, row, a, b, keys in (
            ("tenant TEXT, email TEXT", ("5", "x"), 5.0, "5", ["5", "5.0"]),
            ("tenant, email TEXT", (5, "x"), "5", 5, ["5", 5]),
            ("tenant, email TEXT", (b"5", "x"), "5", b"5", ["5", b"5"]),
            ("tenant INTEGER, email TEXT", (5, "x"), "05", 5, [5]),
            ("tenant TEXT, email TEXT", ("5", "x"), 5, "5", ["5"]),
        ):
            with self.subTest(columns=columns, a=a, b=b):
                db = self.source(columns, row)
                db.execute("CREATE TABLE t(a, b, e)")
                db.execute("INSERT INTO t VALUES (?, ?, 'x')", (a, b))
                query = "SELECT f.tenant FROM t CROSS JOIN f WHERE f.tenant = t.a AND f.email = t.e OR f.tenant = t.b AND f.email = t.e"
                found = [value for (value,) in db.execute(query).fetchall()]
                self.assertEqual(sorted(found, key=repr), sorted(keys, key=repr))
                db.executescript("DROP TABLE f; DROP TABLE users; DROP TABLE t")

    def test_a_filter_that_the_functions_cannot_read_is_refused(self):
        db = self.source("tenant INTEGER, email TEXT COLLATE NOCASE, city", (7, "Ann", "Bonn"), options=", growth=off, capacity=100")
        self.assertFails(db, "would not find the keys of this filter", "SELECT filter FROM f")
        db.execute("CREATE VIRTUAL TABLE g USING bloom(source=users, column=(tenant, city), growth=off, capacity=100)")
        self.assertEqual(one(db, "SELECT bloom_contains(filter, bloom_key(7, 'Bonn')) FROM g"), 1)
        db.execute("CREATE VIRTUAL TABLE h USING bloom_groups(source=users, member=city, column=(tenant, email))")
        self.assertFails(db, "would not find the keys of this filter", "SELECT filter FROM h")

    def test_another_collation_is_refused(self):
        db = self.source("tenant TEXT, email TEXT COLLATE NOCASE", ("t1", "a@b"))
        self.assertFails(
            db,
            r"f: the filter cannot compare email under the collation RTRIM \(compare it with COLLATE nocase or BINARY\)",
            "SELECT 1 FROM f WHERE tenant = 't1' AND email = 'a' COLLATE RTRIM",
        )
        self.assertFails(db, r"cannot compare tenant .* NOCASE \(compare it with COLLATE binary\)", "SELECT 1 FROM f WHERE tenant = 'T1' COLLATE NOCASE AND email = 1")
        self.assertFails(db, "option collate is for a key of one column", "CREATE VIRTUAL TABLE g USING bloom(source=users, column=(tenant, email), collate=nocase)")

    def test_a_collation_that_has_changed_is_refused(self):
        db = self.source("tenant TEXT, email TEXT COLLATE NOCASE", ("t1", "A@b"))
        db.execute("UPDATE f_config SET v = 'binary binary' WHERE k = 'parts'")
        for where in ("tenant = 't1' AND email = 'a@b'", "key = bloom_key('t1', 'a@b')"):
            self.assertFails(self.connect(), r"collations binary nocase, and the filter has binary binary .*'rebuild'", f"SELECT 1 FROM f WHERE {where}")
        self.commands(db, "rebuild")
        self.assertEqual(self.found(self.connect(), "tenant = 't1' AND email = 'a@B'"), 1)

    def test_a_source_that_is_gone(self):
        for option, answer in (("", None), (", on_stale=maybe", 1)):
            db = self.source("tenant TEXT, email TEXT COLLATE NOCASE", ("t1", "A@b"), options=option)
            db.execute("DROP TABLE users")
            for connection, where in itertools.product((db, self.connect()), ("tenant = 'x' AND email = 'y'", "key = bloom_key('x', 'y')")):
                if answer is None:
                    self.assertFails(connection, "the triggers of source 'users' are missing", f"SELECT 1 FROM f WHERE {where}")
                else:
                    self.assertEqual(len(connection.execute(f"SELECT 1 FROM f WHERE {where}").fetchall()), answer)
            db.execute("DROP TABLE f")

    def test_a_filter_without_the_collations_may_lack_the_marker(self):
        """As earlier versions made it: BINARY columns only. A number may be equal to a text that has no marker."""
        db = self.source("tenant TEXT, n INTEGER", ("t", 5), key="(tenant, n)")
        db.execute("DELETE FROM f_config WHERE k = 'parts'")
        db.execute("UPDATE f_config SET v = 5 WHERE k = 'version'")
        other = self.connect()
        self.assertEqual(self.found(other, "tenant = 't' AND n = '05'"), 1)
        self.assertEqual(self.found(other, "tenant = 'u' AND n = 5"), 0)
        self.assertEqual(self.found(other, "tenant = 7 AND n = 5"), 1)
        other.execute("INSERT INTO f(f) VALUES ('rebuild')")
        self.assertEqual(self.found(other, "tenant = 7 AND n = 5"), 0)

    def test_older_programs_refuse_the_table(self):
        db = self.source("tenant TEXT, email TEXT", ("t1", "a@b"))
        self.assertEqual(dict(db.execute("SELECT k, v FROM f_config WHERE k IN ('version', 'parts')")), {"version": 7, "parts": "binary binary"})
        for change in ("DELETE FROM f_config WHERE k = 'parts'", "UPDATE f_config SET v = 'german' WHERE k = 'parts'", "UPDATE f_config SET v = 5 WHERE k = 'version'"):
            before = db.execute("SELECT k, v FROM f_config").fetchall()
            db.execute(change)
            self.assertFails(self.connect(), "does not say which collations the columns", "SELECT 1 FROM f WHERE tenant = 1 AND email = 1")
            db.executemany("REPLACE INTO f_config VALUES (?, ?)", before)

    def test_a_column_name_that_the_table_has_already(self):
        """Then the table has no columns of the key, and a lookup gives bloom_key()."""
        for name in ("key", "Filter", "keys", "f", "pending"):
            db = self.connect(":memory:")
            db.execute(f'CREATE TABLE s(tenant TEXT, "{name}" TEXT COLLATE NOCASE)')
            db.execute("INSERT INTO s VALUES ('t', 'A')")
            db.execute(f'CREATE VIRTUAL TABLE f USING bloom(source=s, column=(tenant, "{name}"))')
            self.assertEqual(self.found(db, "key = bloom_key('t', 'a')"), 1)
            self.assertFails(db, "no such column: tenant", "SELECT 1 FROM f WHERE tenant = 't'")
            self.assertFails(db, r"key must be bloom_key\(tenant, ", "SELECT 1 FROM f WHERE key = 't'")

    def test_a_table_with_the_name_of_a_property(self):
        db = self.connect()
        db.execute("CREATE TABLE s(a, b)")
        db.execute("INSERT INTO s VALUES (1, 'x')")
        db.execute("CREATE VIRTUAL TABLE fpr USING bloom(source=s, column=(a, b))")
        self.assertEqual(db.execute("SELECT a, b FROM fpr WHERE b = 'x' AND a = 1").fetchall(), [(1, "x")])
        db.execute("INSERT INTO fpr(fpr) VALUES ('rebuild')")
        self.assertEqual(db.execute("SELECT a, b FROM fpr WHERE b = 'y' AND a = 1").fetchall(), [])

    def test_the_columns_follow_a_renamed_column(self):
        db = self.source("tenant TEXT, email TEXT COLLATE NOCASE", ("t1", "a@b"))
        db.execute("ALTER TABLE users RENAME COLUMN email TO mail")
        self.assertEqual(self.found(self.connect(), "tenant = 't1' AND mail = 'A@b'"), 1)

    def test_changes_of_the_table_are_refused(self):
        db = self.source("tenant TEXT, email TEXT", ("t1", "a@b"))
        for sql in (
            "INSERT INTO f(tenant, email) VALUES ('t', 'e')",
            "UPDATE f SET tenant = 't' WHERE tenant = 't1' AND email = 'a@b'",
            "DELETE FROM f WHERE tenant = 't1' AND email = 'a@b'",
        ):
            self.assertFails(db, "cannot|can change the column key alone", sql)
        self.assertEqual(self.found(db, "tenant = 't1' AND email = 'a@b'"), 1)

    def test_many_columns_with_numbers_as_text(self):
        names = "abcdmnop"
        db = self.source(", ".join(f"{name} INTEGER" for name in names), range(8), key=f"({', '.join(names)})")
        where = " AND ".join(f"{name} = ?" for name in names)
        self.assertEqual(self.found(db, where, *(f"0{i}" for i in range(8))), 1)
        self.assertEqual(self.found(db, where, *(f"0{i}" if i < 4 else i for i in range(8))), 1)
        self.assertEqual(self.found(db, where, *(f"0{i}" if i < 3 else i + 1 for i in range(8))), 0)

    def test_integrity_check_names_the_parts(self):
        for writers in ("any", "extension"):
            db = self.connect(":memory:")
            db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)")
            db.execute("INSERT INTO t VALUES (1, 't1', 'a@b')")
            db.execute(f"CREATE VIRTUAL TABLE f USING bloom(source=t, column=(a, b), kind=counting, writers={writers})")
            db.execute("UPDATE f_data SET chunk = zeroblob(length(chunk))")
            self.assertFails(db, r"f: the source has \('t1', 'a@b'\), which the filter does not have", "INSERT INTO f(f) VALUES ('integrity-check')")
            if writers == "extension":
                self.assertFails(db, r"the filter does not have the key \('t1', 'a@b'\), which leaves", "DELETE FROM t")


class Model(Composite):
    """Random parts of all storage classes, affinities and collations."""

    def probes(self, db, rng):
        db.execute("CREATE TEMP TABLE q(id INTEGER PRIMARY KEY, " + ", ".join(f"{x}1 {t}, {x}2 {t}" for x, t in COLUMNS.items()) + ")")
        both = ", ".join(f"{x}1, {x}2" for x in COLUMNS)
        for _ in range(25):
            db.execute(f"INSERT INTO q({both}) VALUES ({', '.join(['?1, ?2'] * len(COLUMNS))})", (rng.choice(VALUES), rng.choice(VALUES)))

    def assertNothingLost(self, db, rng, own, context):
        for condition, form in itertools.product(CONDITIONS, FORMS):
            # A second condition is compared with the first value as the column would store it, and '0.3' is less than 0.1 + 0.2.
            names = "nt" if condition.count("{c}") > 1 or condition.count("{d}") > 1 else list(COLUMNS)
            c, d = rng.choice(names) + "1", rng.choice(names) + "2"
            on = condition.format(c=c, d=d, own=own)
            ids = [{row[0] for row in db.execute(form.format(f=table, on=on))} for table in ("s", "f")]
            for lost in ids[0] - ids[1]:
                row = db.execute(f"SELECT {c}, {d} FROM q WHERE id = ?", (lost,)).fetchone()
                # A NULL is no key.
                self.assertIn(None, row, (on, form, context, row))
        count = "SELECT count(*) FROM s {} WHERE s.a IS NOT NULL AND s.b IS NOT NULL"
        all_rows = one(db, count.format(""))
        self.assertEqual(one(db, count.format("JOIN f ON f.key = bloom_key(s.a, s.b)")), all_rows, context)
        self.assertEqual(one(db, count.format("JOIN f ON f.a = s.a AND f.b = s.b")), all_rows, context)
        self.assertEqual(one(db, "SELECT count(*) FROM q JOIN f ON f.a = q.t1 || ' absent' AND f.b = q.t2"), 0, context)

    def change(self, db, rng, value):
        column = rng.choice("ab")
        rowid = one(db, "SELECT id FROM s ORDER BY random() LIMIT 1") if one(db, "SELECT count(*) FROM s") else 0
        statement = rng.choice(("insert", "update", "delete", "merge", "rebuild", "begin", "end", "insert", "update"))
        if statement == "insert":
            db.execute("INSERT INTO s(a, b) VALUES (?, ?)", (value(), value()))
        elif statement == "update":
            db.execute(f"UPDATE s SET {column} = ? WHERE id = ?", (value(), rowid))
        elif statement == "delete":
            db.execute("DELETE FROM s WHERE id = ?", (rowid,))
        elif statement == "begin" and not db.in_transaction:
            db.execute("BEGIN")
        elif statement == "end" and db.in_transaction:
            db.execute(rng.choice(("COMMIT", "ROLLBACK")))
        elif statement in ("merge", "rebuild"):
            self.commands(db, statement)
        return statement

    def test_nothing_is_lost(self):
        options = ("", ", kind=counting, capacity=5000", ", writers=extension", ", writers=extension, kind=counting, capacity=5000", ", fpr=1e-9, capacity=2000")
        for seed in range(25):
            rng = random.Random(seed)
            db = self.connect(":memory:")
            types = [f"{rng.choice(TYPES)} COLLATE {rng.choice(COLLATIONS)}" for _ in "ab"]
            db.execute(f"CREATE TABLE s(id INTEGER PRIMARY KEY, a {types[0]}, b {types[1]})")
            self.probes(db, rng)

            def value():
                return rng.choice(VALUES)

            for _ in range(rng.choice((0, 5, 30))):
                db.execute("INSERT INTO s(a, b) VALUES (?, ?)", (value(), value()))
            own = types[0].split()[-1]
            option = rng.choice(options)
            column = rng.choice(("(a, b)", "(b, a)"))
            if column == "(b, a)":  # the key form needs the order of the option
                db.execute(f"CREATE VIRTUAL TABLE h USING bloom(source=s, column={column}{option})")
                self.assertEqual(one(db, "SELECT count(*) FROM s JOIN h ON h.key = bloom_key(s.b, s.a)"), one(db, "SELECT count(a || b) FROM s"))
            db.execute(f"CREATE VIRTUAL TABLE f USING bloom(source=s, column=(a, b){option})")
            history = []
            for _ in range(8):
                self.assertNothingLost(db, rng, own, (seed, types, option, history))
                history.append(self.change(db, rng, value))
            if db.in_transaction:
                db.execute("COMMIT")
            self.commands(db, "integrity-check")
            db.close()

    def test_absent_pairs_are_absent(self):
        """The filter finds no more than the source, if nothing has left it and no text looks like a number."""
        for seed, collations in enumerate(itertools.product(COLLATIONS, repeat=2)):
            rng = random.Random(seed)
            db = self.source(f"tenant TEXT COLLATE {collations[0]}, email TEXT COLLATE {collations[1]}", options=", fpr=1e-9")
            words = ["a", "A", "a ", "b", "B  ", "ab", "", "x\0y", "X\0y"]
            db.executemany("INSERT INTO users(tenant, email) VALUES (?, ?)", [rng.sample(words, 2) for _ in range(15)])
            for tenant, email in itertools.product(words, repeat=2):
                exact = one(db, "SELECT count(*) != 0 FROM users WHERE tenant = ? AND email = ?", tenant, email)
                self.assertEqual(self.found(db, "tenant = ? AND email = ?", tenant, email), exact, (collations, tenant, email))
            db.execute("DROP TABLE f")
            db.execute("DROP TABLE users")


if __name__ == "__main__":
    unittest.main()
