"""The query shapes of docs/pre-checks.md and docs/groups.md, as users extend them: with 0 to 4 conditions on either table, in all
orders of FROM, with other indexes, and with what ANALYZE may know. The filter must come before the lookup that it is to save, and
the rows must be those of the query without a filter.

v is the table that is scanned, f the filter, and p the table that is looked up by its column k.
"""

import itertools
import os
import re
import sqlite3
import sys
import unittest

sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
from support.case import TableCase

NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT {})"
OTHERS = "{0}a INT, {0}b INT, {0}c TEXT, {0}d INT"
VALUES = "i % 3, i % 20, CASE WHEN i % 5 THEN 'c' END, i % 7"
CONDITIONS = "{0}.{0}a = 1", "{0}.{0}b < 15", "{0}.{0}c IS NOT NULL", "{0}.{0}d BETWEEN 2 AND 4"

# Each kind of p: its columns before the others, and the type of the keys.
KINDS = {
    "primary key": ("k TEXT PRIMARY KEY, {}", "TEXT", "WITHOUT ROWID"),
    "rowid": ("k INTEGER PRIMARY KEY, {}", "INTEGER", ""),
    "index": ("k TEXT, {}", "TEXT", ""),
    "nocase": ("k TEXT COLLATE NOCASE PRIMARY KEY, {}", "TEXT COLLATE NOCASE", "WITHOUT ROWID"),
}
INDEXES = {"": "", "conditions": "CREATE INDEX p_a ON p(pa); CREATE INDEX v_a ON v(va);", "scanned key": "CREATE INDEX v_k ON v(k);"}
# Rows of v and p, as ANALYZE would count them. None: no ANALYZE; (): as they are.
STATISTICS = (None, (), (1000, 1000000), (1000000, 1000000), (1000000, 1000), (50, 100000000))

JOINED = "f.key = v.k AND p.k = +f.key"
# The FROM clauses of a shape, up to its conditions, and the order of the tables in the plan. [p] and [v] stand for conditions.
# Each shape names the query without a filter that has the same rows.
JOIN = "SELECT v.id, p.pb FROM v JOIN p ON p.k = v.k WHERE 1[p][v]"
EXISTS = "SELECT v.id FROM v WHERE EXISTS (SELECT 1 FROM p WHERE p.k = v.k[p])[v]"
NOT_EXISTS = "SELECT v.id FROM v WHERE NOT EXISTS (SELECT 1 FROM p WHERE p.k = v.k[p])[v]"
SHAPES = {
    "v f p": [(JOIN, f"SELECT v.id, p.pb FROM {', '.join(tables)} WHERE {JOINED}[p][v]") for tables in itertools.permutations("vfp")]
    + [
        (JOIN, "SELECT v.id, p.pb FROM v JOIN f ON f.key = v.k JOIN p ON p.k = +f.key WHERE 1[p][v]"),
        (JOIN, "SELECT v.id, p.pb FROM v JOIN f ON v.k = f.key JOIN p ON p.k = +f.key WHERE 1[p][v]"),
        (JOIN, "SELECT v.id, p.pb FROM p JOIN f ON p.k = +f.key JOIN v ON v.k = f.key WHERE 1[p][v]"),
        (JOIN, "SELECT v.id, p.pb FROM v JOIN f ON f.key = v.k CROSS JOIN p ON p.k = v.k WHERE 1[p][v]"),
        (JOIN, "SELECT v.id, p.pb FROM f JOIN v ON f.key = v.k CROSS JOIN p ON p.k = f.key WHERE 1[p][v]"),
        (JOIN, "SELECT v.id, p.pb FROM v JOIN checked AS p ON p.key = v.k WHERE 1[p][v]"),
        (JOIN, "SELECT v.id, p.pb FROM checked AS p JOIN v ON p.key = v.k WHERE 1[p][v]"),
        (JOIN, "SELECT v.id, p.pb FROM v, checked AS p WHERE v.k = p.key[p][v]"),
        (EXISTS, "SELECT v.id FROM v WHERE EXISTS (SELECT 1 FROM checked AS p WHERE p.key = v.k[p])[v]"),
        (EXISTS, "SELECT v.id FROM v JOIN f ON f.key = v.k WHERE EXISTS (SELECT 1 FROM p WHERE p.k = f.key[p])[v]"),
        (NOT_EXISTS, "SELECT v.id FROM v WHERE NOT EXISTS (SELECT 1 FROM checked AS p WHERE p.key = v.k[p])[v]"),
        (NOT_EXISTS, "SELECT v.id FROM v LEFT JOIN f ON f.key = v.k LEFT JOIN p ON p.k = f.key[p] WHERE p.k IS NULL[v]"),
        (
            NOT_EXISTS,
            "SELECT v.id FROM v WHERE (NOT EXISTS (SELECT 1 FROM f WHERE key = v.k) OR NOT EXISTS (SELECT 1 FROM p WHERE p.k = v.k[p]))[v]",
        ),
    ],
    "f p": [
        ("SELECT k, p.pb FROM p WHERE k = ?1[p]", "SELECT k, p.pb FROM f CROSS JOIN p ON p.k = f.key WHERE f.key = ?1[p]"),
        ("SELECT k, p.pb FROM p WHERE k IN (?1, ?2)[p]", "SELECT k, p.pb FROM f JOIN p ON p.k = +f.key WHERE f.key IN (?1, ?2)[p]"),
        ("SELECT k, p.pb FROM p WHERE k IN (?1, ?2)[p]", "SELECT k, p.pb FROM checked AS p WHERE key IN (?1, ?2)[p]"),
        ("SELECT k, p.pb FROM p WHERE k IN (SELECT k FROM v)[p]", "SELECT k, p.pb FROM checked AS p WHERE key IN (SELECT k FROM v)[p]"),
    ],
}


def conditions(table, count):
    return "".join(" AND " + condition.format(table) for condition in CONDITIONS[:count])


def with_conditions(sql, on_p, on_v):
    return sql.replace("[p]", conditions("p", on_p)).replace("[v]", conditions("v", on_v))

# Larger queries: without a filter, with one, and which tables follow each other in the plan.
LARGER = (
    (
        "SELECT vb, count(*) FROM v JOIN p USING (k) WHERE pa = 1 GROUP BY vb HAVING count(*) > 1",
        "SELECT vb, count(*) FROM v JOIN checked AS p ON p.key = v.k WHERE pa = 1 GROUP BY vb HAVING count(*) > 1",
        "v f p",
    ),
    (
        "SELECT id, row_number() OVER (PARTITION BY pa ORDER BY id) FROM v JOIN p USING (k)",
        "SELECT id, row_number() OVER (PARTITION BY pa ORDER BY id) FROM v JOIN checked AS p ON p.key = v.k",
        "v f p",
    ),
    (
        "SELECT id, pb FROM v JOIN p USING (k) WHERE pc = 'c' ORDER BY id LIMIT 5",
        "SELECT id, pb FROM v JOIN checked AS p ON p.key = v.k WHERE pc = 'c' ORDER BY id LIMIT 5",
        "v f p",
    ),
    (
        "WITH some(id, k) AS (SELECT id, k FROM v WHERE va = 1) SELECT some.id, pb FROM some JOIN p USING (k) WHERE pa = 1",
        "WITH some(id, k) AS (SELECT id, k FROM v WHERE va = 1) SELECT some.id, pb FROM some JOIN checked AS p ON p.key = some.k WHERE pa = 1",
        "v f p",
    ),
    (
        "SELECT id, p.pb, q.pb FROM v JOIN p ON p.k = v.k JOIN q ON q.k = v.k WHERE p.pa = 1 AND q.pb < 15",
        "SELECT id, p.pb, q.pb FROM v JOIN checked AS p ON p.key = v.k JOIN q_checked AS q ON q.key = v.k WHERE p.pa = 1 AND q.pb < 15",
        "v f p, v g q",
    ),
    (
        "SELECT id, (SELECT pb FROM p WHERE p.k = v.k AND pa = 1) FROM v",
        "SELECT id, (SELECT pb FROM checked AS p WHERE p.key = v.k AND pa = 1) FROM v",
        "v f p",
    ),
    (
        "SELECT id FROM v WHERE va = 1 OR EXISTS (SELECT 1 FROM p WHERE p.k = v.k AND pa = 1)",
        "SELECT id FROM v WHERE va = 1 OR EXISTS (SELECT 1 FROM checked AS p WHERE p.key = v.k AND pa = 1)",
        "v f p",
    ),
    (
        "SELECT v.id, o.id FROM v JOIN p ON p.k = v.k JOIN v AS o ON o.id = p.pb WHERE pa = 1",
        "SELECT v.id, o.id FROM v JOIN checked AS p ON p.key = v.k JOIN v AS o ON o.id = p.pb WHERE pa = 1",
        "v f p",
    ),
    (
        "SELECT id, pb FROM v JOIN p USING (k) UNION ALL SELECT id, q.pb FROM v JOIN q USING (k)",
        "SELECT id, pb FROM v JOIN checked AS p ON p.key = v.k UNION ALL SELECT id, q.pb FROM v JOIN q_checked AS q ON q.key = v.k",
        "v f p, v g q",
    ),
    # Shapes that were written after the forms were chosen.
    ("SELECT DISTINCT pb FROM v JOIN p USING (k) WHERE pa = 1", "SELECT DISTINCT pb FROM v JOIN active AS p ON p.key = v.k", "v f p"),
    ("SELECT id FROM v JOIN p USING (k) WHERE pa = 1 AND k > '3'", "SELECT id FROM v JOIN checked AS p ON p.key = v.k WHERE pa = 1 AND p.k > '3'", "v f p"),
    ("SELECT id FROM v JOIN p USING (k) WHERE pa = 1 AND k > '3'", "SELECT id FROM v JOIN checked AS p ON p.key = v.k WHERE pa = 1 AND p.key > '3'", "v f p"),
    ("SELECT id FROM v JOIN p USING (k) WHERE pa = 1 AND k > '3'", "SELECT id FROM v JOIN f ON f.key = v.k CROSS JOIN p USING (k) WHERE pa = 1 AND k > '3'", "v f p"),
    ("SELECT id FROM v JOIN p USING (k) WHERE pa = 1 ORDER BY k, id LIMIT 5", "SELECT id FROM v JOIN checked AS p ON p.key = v.k WHERE pa = 1 ORDER BY p.k, id LIMIT 5", "v f p"),
    ("SELECT p.k, max(id) FROM v JOIN p USING (k) WHERE pa = 1 GROUP BY p.k", "SELECT p.k, max(id) FROM v JOIN checked AS p ON p.key = v.k WHERE pa = 1 GROUP BY p.k", "v f p"),
    ("SELECT id, pb FROM v JOIN p ON p.k IN (v.k, v.id) WHERE pa = 1", "SELECT id, pb FROM v JOIN checked AS p ON p.key IN (v.k, v.id) WHERE pa = 1", "v f p"),
    ("SELECT id, pb FROM v JOIN p ON p.k = v.k OR p.k = v.id WHERE pa = 1", "SELECT id, pb FROM v JOIN checked AS p ON p.key = v.k OR p.key = v.id WHERE pa = 1", "v f p"),
    ("SELECT id, pb FROM v JOIN p ON p.k = trim(v.k) WHERE pa = 1", "SELECT id, pb FROM v JOIN checked AS p ON p.key = trim(v.k) WHERE pa = 1", "v f p"),
    ("SELECT id, pb FROM v JOIN p ON p.k IS v.k WHERE pa = 1", "SELECT id, pb FROM v JOIN checked AS p ON p.key IS v.k WHERE pa = 1", "v f p"),
    ("SELECT id FROM v WHERE k IN (SELECT k FROM p WHERE pa = 1)", "SELECT id FROM v WHERE k IN (SELECT k FROM checked AS p WHERE key = v.k AND pa = 1)", "v f p"),
    (
        "SELECT v.id, p.pb, r.pb FROM v JOIN p ON p.k = v.k JOIN p AS r ON r.k = v.id WHERE p.pa = 1 AND r.pb < 15",
        "SELECT v.id, p.pb, r.pb FROM v JOIN checked AS p ON p.key = v.k JOIN checked AS r ON r.key = v.id WHERE p.pa = 1 AND r.pb < 15",
        "v f p",
    ),
    (
        "SELECT v.id, o.vb FROM v JOIN p ON p.k = v.k LEFT JOIN v AS o ON o.id = p.pb WHERE pa = 1",
        "SELECT v.id, o.vb FROM v JOIN f ON f.key = v.k CROSS JOIN p ON p.k = v.k LEFT JOIN v AS o ON o.id = p.pb WHERE pa = 1",
        "v f p",
    ),
    (
        "SELECT w.id, s.pb FROM v AS w LEFT JOIN (SELECT id, pb FROM v JOIN p USING (k) WHERE pa = 1) AS s ON s.id = w.id",
        "SELECT w.id, s.pb FROM v AS w LEFT JOIN (SELECT id, pb FROM v JOIN checked AS p ON p.key = v.k WHERE pa = 1) AS s ON s.id = w.id",
        "v f p",
    ),
    (
        "SELECT value, pb FROM json_each((SELECT json_group_array(k) FROM v)) JOIN p ON p.k = value WHERE pa = 1",
        "SELECT value, pb FROM json_each((SELECT json_group_array(k) FROM v)) JOIN checked AS p ON p.key = value WHERE pa = 1",
        "json_each f p",
    ),
)


def values(sql, keys):
    """Those of the parameters ?1 and ?2."""
    return keys[: len(set(re.findall(r"\?\d", sql)))]


def order_of(db, sql):
    """Returns the tables in the order of the plan, and the line of each."""
    lines = {}
    for row in db.execute("EXPLAIN QUERY PLAN " + sql, values(sql, (1, 2))):
        line = re.match(r"(?:SCAN|SEARCH) (?:TABLE )?(?:\w+ AS )?(\w+)", row[3])
        if line:
            lines[line[1]] = row[3]
    return lines


def searches_the_key(plan):
    return re.search(r"\b(k|rowid)=\?", plan["p"]) is not None


def pretend(db, sizes):
    """Lets SQLite believe that tables have these numbers of rows."""
    db.execute("ANALYZE")
    for table, rows in sizes.items():
        for rowid, stat in db.execute("SELECT rowid, stat FROM sqlite_stat1 WHERE tbl = ?", (table,)).fetchall():
            known, *per_value = (int(number) for number in stat.split())
            if known:
                numbers = [rows] + [number * rows // known or 1 if number > 2 else number for number in per_value]
                db.execute("UPDATE sqlite_stat1 SET stat = ? WHERE rowid = ?", (" ".join(map(str, numbers)), rowid))
    db.execute("ANALYZE sqlite_master")


class Shapes(TableCase):
    def tables(self, kind, indexes):
        columns, key_type, rowid = KINDS[kind]
        key = "{}" if key_type == "INTEGER" else "'key ' || {}"
        db = self.connect(":memory:")
        db.executescript(f"""
            CREATE TABLE p({columns.format(OTHERS.format('p'))}) {rowid};
            CREATE TABLE v(id INTEGER PRIMARY KEY, k {key_type}, {OTHERS.format('v')});
            CREATE VIRTUAL TABLE f USING bloom(source=p, column=k, writers=extension);
            {'CREATE INDEX p_k ON p(k);' if kind == 'index' else ''} {INDEXES[indexes]}
            {NUMBERS.format(300)} INSERT INTO p SELECT {key.format('(i * 10)')}, {VALUES} FROM n;
            {NUMBERS.format(150)} INSERT INTO v SELECT i, {key.format('(i * 7)')}, {VALUES} FROM n;
            CREATE VIEW checked AS SELECT f.key, p.* FROM f JOIN p ON p.k = +f.key;
        """)
        return db

    def test_the_filter_comes_before_the_lookup(self):
        for kind, indexes, rows in itertools.product(KINDS, INDEXES, STATISTICS):
            db = self.tables(kind, indexes)
            if rows is not None:
                pretend(db, dict(zip("vp", rows)))
            for order, shapes in SHAPES.items():
                for (plain, shape), on_p, on_v in itertools.product(shapes, range(5), range(5 if "v" in order else 1)):
                    plan = order_of(db, with_conditions(shape, on_p, on_v))
                    self.assertEqual([table for table in plan if table in order], order.split(), (kind, indexes, rows, plan, with_conditions(shape, on_p, on_v)))
                    if searches_the_key(order_of(db, with_conditions(plain, on_p, on_v))):
                        self.assertTrue(searches_the_key(plan), (kind, indexes, rows, plan, with_conditions(shape, on_p, on_v)))

    def test_rows_are_those_without_a_filter(self):
        for kind in KINDS:
            db = self.tables(kind, "")
            keys = [row[0] for row in db.execute("SELECT k FROM v WHERE id IN (70, 71)")]
            for analyze in ("", "ANALYZE"):
                db.execute(analyze)
                for (plain, shape), on_p, on_v in itertools.product(itertools.chain(*SHAPES.values()), (0, 1, 4), (0, 2)):
                    want, got = (sorted(db.execute(sql, values(sql, keys))) for sql in (with_conditions(plain, on_p, on_v), with_conditions(shape, on_p, on_v)))
                    self.assertEqual(got, want, (kind, shape, on_p, on_v))
                    self.assertTrue(want or on_p + on_v)

    def test_larger_queries(self):
        for kind, analyze in itertools.product(KINDS, ("", "ANALYZE")):
            db = self.tables(kind, "")
            db.executescript("CREATE TABLE q AS SELECT * FROM p; CREATE UNIQUE INDEX q_k ON q(k); CREATE VIRTUAL TABLE g USING bloom(source=q, column=k)")
            db.executescript("CREATE VIEW q_checked AS SELECT g.key, q.* FROM g JOIN q ON q.k = +g.key; CREATE VIEW active AS SELECT * FROM checked WHERE pa = 1; " + analyze)
            for plain, shape, order in LARGER:
                with self.subTest(kind=kind, analyze=analyze, shape=shape):
                    self.assertEqual(sorted(db.execute(shape)), sorted(db.execute(plain)))
                    plan = " ".join(order_of(db, shape))
                    for lookup in order.split(", "):
                        self.assertRegex(plan, lookup.replace(" ", ".*"))

    def test_a_lookup_by_a_view_never_scans(self):
        for kind, indexes, rows, count in itertools.product(KINDS, INDEXES, STATISTICS, range(5)):
            db = self.tables(kind, indexes)
            if rows is not None:
                pretend(db, dict(zip("vp", rows)))
            plan = order_of(db, "SELECT * FROM checked AS p WHERE key = ?1" + conditions("p", count))
            self.assertTrue(plan["f"].endswith("key=?") and "SEARCH" in plan["p"], (kind, indexes, rows, plan))

    def test_composite_keys(self):
        plain = "SELECT v.id, p.pb FROM v JOIN p ON p.k = v.k AND p.h = v.h WHERE 1[p][v]"
        for analyze, on_p, on_v, tables in itertools.product(("", "ANALYZE"), range(5), range(5), ("v JOIN f", "f JOIN v")):
            db = self.connect(":memory:")
            db.executescript(f"""
                CREATE TABLE p(h INT, k TEXT, {OTHERS.format('p')}, PRIMARY KEY (h, k));
                CREATE TABLE v(id INTEGER PRIMARY KEY, h INT, k TEXT, {OTHERS.format('v')});
                {NUMBERS.format(300)} INSERT INTO p SELECT i % 2, 'key ' || (i * 10), {VALUES} FROM n;
                {NUMBERS.format(150)} INSERT INTO v SELECT i, 0, 'key ' || (i * 7), {VALUES} FROM n;
                CREATE VIRTUAL TABLE f USING bloom(source=p, column=(h, k)); {analyze}
            """)
            shape = f"SELECT v.id, p.pb FROM {tables} ON f.key = bloom_key(v.h, v.k) CROSS JOIN p ON p.k = v.k AND p.h = v.h WHERE 1[p][v]"
            want, got = (sorted(db.execute(with_conditions(sql, on_p, on_v))) for sql in (plain, shape))
            self.assertEqual(got, want)
            self.assertEqual([table for table in order_of(db, with_conditions(shape, on_p, on_v)) if table in "vfp"], ["v", "f", "p"])

    def test_a_list_beside_another_condition_on_the_key(self):
        """SQLite says since 3.38 that a condition is a list."""
        for kind, rows, indexes in itertools.product(KINDS, STATISTICS, ("", "conditions")):
            db = self.tables(kind, indexes)
            plain = sorted(db.execute("SELECT id FROM v WHERE k IN (SELECT k FROM p)"))
            if rows is not None:
                pretend(db, dict(zip("vp", rows)))
            for tables, on_v in itertools.product(("v JOIN f", "f JOIN v"), range(5)):
                sql = f"SELECT id FROM {tables} ON f.key = v.k WHERE f.key IN (SELECT k FROM p)" + conditions("v", on_v)
                if sqlite3.sqlite_version_info >= (3, 38):
                    self.assertEqual([table for table in order_of(db, sql) if table in "vf"], ["v", "f"], (kind, rows, sql))
            self.assertEqual(sorted(db.execute("SELECT id FROM v JOIN f ON f.key = v.k WHERE f.key IN (SELECT k FROM p)")), plain)
            # Here the list is all that gives the key in this order.
            self.assertEqual(sorted(db.execute("SELECT id FROM f CROSS JOIN v ON f.key = v.k WHERE f.key IN (SELECT k FROM p)")), plain)

    def test_forms_that_would_be_slow_fail(self):
        for kind in KINDS:
            db = self.tables(kind, "")
            for sql in (
                "SELECT 1 FROM v LEFT JOIN checked AS p ON p.key = v.k",
                "SELECT 1 FROM v WHERE k IN (SELECT key FROM checked)",
                "SELECT 1 FROM v JOIN checked AS p ON p.k = v.k",
                "SELECT 1 FROM checked WHERE k = (SELECT k FROM v)",
            ):
                self.assertFails(db, "f: cannot list the keys of a Bloom filter .give the key", sql)


class Groups(TableCase):
    """list is what is looked up, and w the filters of the days of log."""

    TABLES = f"""
        CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT, day INT, {OTHERS.format('log')});
        {NUMBERS.format(3000)} INSERT INTO log SELECT i, 'key ' || (i * 7 % 3001), i / 100, {VALUES} FROM n;
        CREATE TABLE list(name TEXT, {OTHERS.format('list')});
        {NUMBERS.format(40)} INSERT INTO list SELECT 'key ' || (i * 200), {VALUES} FROM n;
        CREATE INDEX log_day ON log(day);
        CREATE VIRTUAL TABLE w USING bloom_groups(capacity=100);
        INSERT INTO w(member, key) SELECT day, k FROM log;
        CREATE VIEW by_day AS SELECT w.key, log.* FROM w JOIN log INDEXED BY log_day ON log.day = +w.member AND log.k = +w.key;
    """
    PLAIN = "SELECT list.name, log.id FROM list JOIN log ON log.k = list.name WHERE 1[log][list]"
    SHAPES = (
        (PLAIN, "SELECT list.name, log.id FROM list JOIN by_day AS log ON log.key = list.name WHERE 1[log][list]", "list w log", "day=?"),
        (PLAIN, "SELECT list.name, log.id FROM by_day AS log JOIN list ON log.key = list.name WHERE 1[log][list]", "list w log", "day=?"),
        (PLAIN, "SELECT list.name, log.id FROM list JOIN w ON w.key = list.name CROSS JOIN log INDEXED BY log_day ON log.day = w.member AND log.k = w.key WHERE 1[log][list]", "list w log", "day=?"),
        ("SELECT id FROM log WHERE k = 'key 600'[log]", "SELECT id FROM by_day AS log WHERE key = 'key 600'[log]", "w log", "day=?"),
        ("SELECT id FROM log WHERE k IN ('key 600', 'key 7')[log]", "SELECT id FROM by_day AS log WHERE key IN ('key 600', 'key 7')[log]", "w log", "day=?"),
    )

    def test_only_the_rows_of_the_members_are_read(self):
        for indexes, rows in itertools.product(("", "CREATE INDEX log_a ON log(loga); CREATE INDEX list_name ON list(name)"), (None, (), (10, 10000000), (10000, 1000000))):
            db = self.connect(":memory:")
            db.executescript(self.TABLES + indexes)
            if rows is not None:
                pretend(db, dict(zip(("list", "log"), rows)))
            for (plain, shape, order, search), on_log, on_list in itertools.product(self.SHAPES, range(5), range(5)):
                plain, shape = (sql.replace("[log]", conditions("log", on_log)).replace("[list]", conditions("list", on_list)) for sql in (plain, shape))
                plan = order_of(db, shape)
                self.assertEqual([table for table in plan if table in order.split()], order.split(), (indexes, rows, shape, plan))
                self.assertIn(search, plan["log"], (indexes, rows, shape, plan))
                if rows is None or rows == ():
                    self.assertEqual(sorted(db.execute(shape)), sorted(db.execute(plain)), shape)


if __name__ == "__main__":
    unittest.main()
