"""Random queries over bloom, bloom_groups and bloom_search against ordinary tables with the same rows.

    /usr/bin/python3 tests/table/join_model_test.py EXTENSION [QUERIES [SEED]]

A query joins two to four tables in any way, with OR, NOT, IN, EXISTS and DISTINCT. It must return the rows that it returns with
ordinary tables, or be refused: a filter cannot list its keys. The filters have so many bits that false positives do not occur.

Keys that differ only in case are not among them: SQLite itself compares t.k = 'x' OR n.k = t.k by the wrong collation.

bloom_groups stands for its pairs if the query names the column key, else for its members.
"""

import random
import sqlite3
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.host import connect  # noqa: E402

REFUSED = "cannot list the keys", "no query solution", "cannot compare key", "cannot look up"
KEYS = "'a'", "'b'", "'c'", "1", "1.0", "2", "x'00ff'", "'d'", "NULL"
MEMBERS = "'north'", "'South'", "'5'", "5", "7", "x'00'"
JOINS = (", ", 3), (" JOIN ", 3), (" CROSS JOIN ", 2), (" LEFT JOIN ", 4), (" RIGHT JOIN ", 2), (" FULL JOIN ", 2)
OLD_JOINS = JOINS[:4]  # before SQLite 3.39

SETUP = """
CREATE VIRTUAL TABLE f USING bloom(capacity=100, fpr=1e-9);
CREATE VIRTUAL TABLE fn USING bloom(capacity=100, fpr=1e-9, collate=nocase);
CREATE VIRTUAL TABLE g USING bloom_groups(capacity=100, fpr=1e-9);
CREATE VIRTUAL TABLE gn USING bloom_groups(capacity=100, fpr=1e-9, collate=nocase);
CREATE TABLE f_rows(key BLOB PRIMARY KEY);
CREATE TABLE fn_rows(key BLOB COLLATE NOCASE PRIMARY KEY);
CREATE TABLE g_rows(member, key BLOB, UNIQUE (member, key));
CREATE TABLE gn_rows(member, key BLOB COLLATE NOCASE, UNIQUE (member, key));
CREATE TABLE g_alone(member UNIQUE);
CREATE TABLE gn_alone(member UNIQUE);
CREATE TABLE q(k, m);
CREATE TABLE r(k, m);
CREATE TABLE n(k COLLATE NOCASE, m);
CREATE INDEX r_k ON r(k);
CREATE TABLE s_rows(id INTEGER PRIMARY KEY, k, m);
CREATE VIRTUAL TABLE s USING bloom_search(source=s_rows, equal=(k, m));
"""
# s has the rows of its source. SQLite 3.31 checks some conditions t.m = 5 as 5 = 5, and an ordinary table has less to check.
ORDINARY = ("q", "r", "n", "s") if sqlite3.sqlite_version_info >= (3, 37) else ("q", "r", "n")
FILTERS = ("f", "fn", "g", "gn")


class Model:
    def __init__(self, rng):
        self.rng = rng
        self.db = connect(":memory:", isolation_level=None)
        self.db.executescript(SETUP)
        self.joins = JOINS if sqlite3.sqlite_version_info >= (3, 39) else OLD_JOINS
        for name in ORDINARY:
            for _ in range(rng.randrange(2, 8)):
                table = "s_rows" if name == "s" else name
                self.db.execute(f"INSERT INTO {table}(k, m) VALUES ({rng.choice(KEYS)}, {rng.choice((*MEMBERS, 'NULL'))})")
        if rng.random() < 0.7:
            self.db.execute("INSERT INTO s(s) VALUES ('summarize')")
        for name in FILTERS[:2]:
            for key in rng.sample(KEYS[:-1], rng.randrange(1, 7)):
                self.db.execute(f"INSERT OR IGNORE INTO {name}_rows VALUES ({key})")
            self.db.execute(f"INSERT INTO {name}(key) SELECT key FROM {name}_rows")
        for name in FILTERS[2:]:
            for _ in range(rng.randrange(3, 15)):
                self.db.execute(f"INSERT OR IGNORE INTO {name}_rows VALUES ({rng.choice(MEMBERS)}, {rng.choice(KEYS[:-1])})")
            self.db.execute(f"INSERT INTO {name}(member, key) SELECT member, key FROM {name}_rows")
            self.db.execute(f"INSERT INTO {name}_alone SELECT DISTINCT member FROM {name}_rows")

    def weighted(self, choices):
        return self.rng.choices([c for c, _ in choices], [w for _, w in choices])[0]

    # Sources are pairs of alias and table. Expressions stand for columns of sources.

    def column(self, sources, kind):
        """Returns a column with keys or members, or None if no source has one."""
        columns = []
        for alias, table in sources:
            if table in ORDINARY:
                columns.append(f"{alias}.{kind[0]}")
            elif kind == "key" or table in ("g", "gn"):
                columns += [f"{alias}.{kind}"] * 2
        return self.rng.choice(columns) if columns else None

    def comparison(self, sources):
        kind = self.rng.choice(("key", "key", "member"))
        values = KEYS if kind == "key" else MEMBERS
        left = self.column(sources, kind)
        if left is None:
            return "1"
        right = self.column(sources, kind)
        if right == left or self.rng.random() < 0.3:
            right = self.rng.choice(values)
        form = self.weighted((("=", 10), ("IS", 1), ("list", 2), ("select", 2), ("exists", 1), ("other", 1), ("collate", 1)))
        if form in ("=", "IS"):
            return f"{left} {form} {right}"
        if form == "list":
            return f"{left} IN ({right}, {self.rng.choice(values)})"
        if form == "select":
            return f"{left} IN (SELECT {kind[0]} FROM {self.rng.choice(ORDINARY)})"
        if form == "exists":
            inner = self.rng.choice(ORDINARY + FILTERS[2:])
            name = kind if inner in FILTERS else kind[0]
            return f"EXISTS (SELECT 1 FROM {inner} AS i WHERE i.{name} = {left})"
        if form == "collate":
            return f"{left} = {right} COLLATE NOCASE"
        return f"{left} {self.rng.choice(('<>', '>', 'IS NOT'))} {right}"

    def condition(self, sources, depth=2):
        if depth == 0 or self.rng.random() < 0.4:
            return self.comparison(sources)
        if self.rng.random() < 0.08:
            return f"NOT ({self.condition(sources, depth - 1)})"
        operator = self.weighted(((" AND ", 3), (" OR ", 2)))
        return "(" + operator.join(self.condition(sources, depth - 1) for _ in range(2)) + ")"

    def select(self):
        """Returns the sources, and the query with {a} in place of the table of the source a."""
        tables = self.rng.choices(ORDINARY, k=self.rng.randrange(3)) + self.rng.choices(FILTERS, k=self.rng.choice((1, 1, 2)))
        if self.rng.random() < 0.4:
            self.rng.shuffle(tables)
        sources = [(f"t{i}", table) for i, table in enumerate(tables)]
        text = ""
        for i, (alias, _) in enumerate(sources):
            join = self.weighted(self.joins) if i else ""
            text += f"{join}{{{alias}}} AS {alias}"
            if i and join not in (", ", " CROSS JOIN "):
                text += f" ON {self.condition(sources[: i + 1], self.rng.choice((0, 1, 2)))}"
        where = f" WHERE {self.condition(sources)}" if self.rng.random() < 0.7 else ""
        columns = [c for c in (self.column([s], self.rng.choice(("key", "member"))) for s in sources if self.rng.random() < 0.8) if c]
        if self.rng.random() < 0.1:
            columns = ["count(*)"]
        distinct = self.rng.choice(("", "", "DISTINCT "))
        return sources, f"SELECT {distinct}{', '.join(columns) or '1'} FROM {text}{where}"

    def query(self):
        """Returns a query, and the same over ordinary tables."""
        sources, text = self.select()
        sql, reference = text.format(**dict(sources)), self.reference(sources, text)
        if self.rng.random() < 0.1:
            operator = self.rng.choice((" UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT "))
            more, other = self.select()
            if text.split(" FROM ")[0].count(",") == other.split(" FROM ")[0].count(","):
                return sql + operator + other.format(**dict(more)), reference + operator + self.reference(more, other)
        return sql, reference

    @staticmethod
    def reference(sources, text):
        names = {}
        for alias, table in sources:
            suffix = "_rows" if table == "s" else "" if table in ORDINARY else "_rows" if table in FILTERS[:2] or f"{alias}.key" in text else "_alone"
            names[alias] = table + suffix
        text = text.replace("FROM s)", "FROM s_rows)").replace("FROM s AS", "FROM s_rows AS")
        for table in FILTERS[2:]:
            inner = f"FROM {table} AS i WHERE i."
            text = text.replace(inner + "key", f"FROM {table}_rows AS i WHERE i.key").replace(inner + "member", f"FROM {table}_alone AS i WHERE i.member")
        return text.format(**names)

    def check(self):
        """Returns what happened to a random query: answered, or refused."""
        sql, reference = self.query()
        wanted = Counter(self.db.execute(reference))
        try:
            found = Counter(self.db.execute(sql))
        except sqlite3.OperationalError as error:
            assert any(reason in str(error) for reason in REFUSED), f"{sql}\n  {error}"
            return "refused"
        assert found == wanted, f"{sql}\n  too many: {found - wanted}\n  missing: {wanted - found}"
        return "answered" if wanted else "empty"


def main():
    queries = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    rng = random.Random(seed)
    results = Counter()
    for i in range(queries):
        if i % 100 == 0:
            model = Model(rng)
        results[model.check()] += 1
    print(f"{queries} queries: {dict(results)}")
    assert results["answered"] > queries / 10, "too few queries were answered"


if __name__ == "__main__":
    main()
