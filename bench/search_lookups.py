"""Lookups in an indexed column, most of which find nothing: a bloom_search table against its source, in the shapes that users write.

    /usr/bin/python3 bench/search_lookups.py EXTENSION [ROWS [ROUNDS [CACHE_KIB]]]    # 1000000 3

customers has ROWS rows in random order of their keys, strings of 31 bytes or integers (the rowid), and batch a fifth as many.
The figures are ratios of process time, medians of ROUNDS interleaved rounds; lower is better. In memory, or with CACHE_KIB in a
file with a page cache of that size. Every result is compared with that of the source. The floor is a virtual table of
bench/pass_through.cc that passes the rows of the same statement through.
"""

import statistics
import sys
import tempfile
import time

from support import KEY, connect, noop_beside, numbers

GOALS = {0: 0.30, 0.01: 0.30, 0.1: 0.65, 1: 2.0}
SHAPES = {
    "join": "SELECT count(*), sum(c.size) FROM batch AS b JOIN {} AS c ON c.k = b.k",
    "join, comma, table first": "SELECT count(*), sum(c.size) FROM {} AS c, batch AS b WHERE b.k = c.k",
    "join and conditions": "SELECT count(*), sum(c.size) FROM batch AS b JOIN {} AS c ON c.k = b.k WHERE c.active < 9 AND c.size > 1 AND b.kind < 5",
    "LEFT JOIN": "SELECT count(*), sum(c.size) FROM batch AS b LEFT JOIN {} AS c ON c.k = b.k",
    "anti-join": "SELECT count(*) FROM batch AS b LEFT JOIN {} AS c ON c.k = b.k WHERE c.k IS NULL",
    "EXISTS": "SELECT count(*) FROM batch AS b WHERE EXISTS (SELECT 1 FROM {} AS c WHERE c.k = b.k)",
    "NOT EXISTS": "SELECT count(*) FROM batch AS b WHERE NOT EXISTS (SELECT 1 FROM {} AS c WHERE c.k = b.k)",
    "scalar subquery": "SELECT sum((SELECT size FROM {} AS c WHERE c.k = b.k AND c.active < 9)) FROM batch AS b",
    "GROUP BY": "SELECT count(*), sum(n) FROM (SELECT c.size, count(*) AS n FROM batch AS b JOIN {} AS c ON c.k = b.k WHERE c.active < 9 GROUP BY c.size)",
    "CTE": "WITH some AS (SELECT k FROM batch WHERE kind < 5) SELECT count(*), sum(c.size) FROM some AS b JOIN {} AS c ON c.k = b.k WHERE c.active < 9",
    "IN of a list": "SELECT count(*), sum(size) FROM {} WHERE k IN (SELECT k FROM batch)",
}
KINDS = {"TEXT": KEY, "INTEGER": "(({0}) * 2654435761 % 4294967296)"}


def fill(db, kind, rows):
    key = KINDS[kind]
    db.execute("CREATE TABLE customers(" + ("id INTEGER PRIMARY KEY, k TEXT UNIQUE" if kind == "TEXT" else "k INTEGER PRIMARY KEY") + ", active INT, size INT)")
    db.execute(f"INSERT INTO customers(k, active, size) SELECT {key.format('i')}, i % 10, i % 100 FROM {numbers(rows)}")
    db.execute("CREATE VIRTUAL TABLE customers_search USING bloom_search(source=customers, equal=(k))")
    db.execute("CREATE VIRTUAL TABLE customers_passed USING passed(customers)")


def look_up(db, kind, rows, share):
    key = KINDS[kind]
    lookups = rows // 5
    step = max(1, round(1 / share)) if share else 0
    present = f"i % {step} = 0" if step else "0"
    db.execute("DROP TABLE IF EXISTS batch")
    db.execute(f"CREATE TABLE batch(k {kind}, kind INT)")
    db.execute(f"INSERT INTO batch SELECT iif({present}, {key.format('(i * 5)')}, {key.format(f'(i + {rows})')}), i % 10 FROM {numbers(lookups)}")


def measure(db, rounds):
    """Returns the times of the search table and of the floor for each shape, in times of the source."""
    ratios = {}
    for name, sql in SHAPES.items():
        each = []
        for _ in range(rounds):
            took, results = {}, {}
            for table in ("customers", "customers_search", "customers_passed"):
                begin = time.process_time()
                results[table] = db.execute(sql.format(table)).fetchall()
                took[table] = time.process_time() - begin
            if not results["customers"] == results["customers_search"] == results["customers_passed"]:
                sys.exit(f"{name}: {results}")
            each.append((took["customers_search"] / took["customers"], took["customers_passed"] / took["customers"]))
        ratios[name] = tuple(statistics.median(ratio) for ratio in zip(*each))
    return ratios


def main():
    extension = sys.argv[1]
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    cache = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            db = connect(f"{folder}/{kind}" if cache else ":memory:", extension, noop_beside(extension))
            if cache:
                db.execute(f"PRAGMA cache_size = -{cache}")
            fill(db, kind, rows)
            for analyzed in (False, True):
                if analyzed:
                    db.execute("ANALYZE")
                measured = {}
                for share in GOALS:
                    look_up(db, kind, rows, share)
                    measured[share] = measure(db, rounds)
                print(f"\n{kind}{', ANALYZE' if analyzed else ''}: time with the search table, of that with its source")
                print(f"{'found':28}" + "".join(f"{share:10.0%}" for share in GOALS) + "  floor, 100%")
                for name in SHAPES:
                    cells = (f"{measured[s][name][0]:9.2f}{'!' if measured[s][name][0] > goal else ' '}" for s, goal in GOALS.items())
                    print(f"{name:28}{''.join(cells)}{measured[1][name][1]:13.2f}")
            db.close()


main()
