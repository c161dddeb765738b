"""Joins and anti-joins of two large tables, with a filter in front and without.

    /usr/bin/python3 bench/semi_joins.py EXTENSION [ROWS [ROUNDS]]    # 1000000 3

In memory. ROWS strings of 31 bytes in random order are looked up in a PRIMARY KEY with as many rows. bench/pre_checks.py measures
the recipes of docs/pre-checks.md on a file.
"""

import sys

from support import KEY, Report, connect, fill, interleaved

EXTENSION = sys.argv[1]
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 3
ABSENT = "NOT EXISTS (SELECT 1 FROM pk WHERE pk.k = t.k)"


def measure(db, share):
    """`share` is the share of the keys that are present."""
    db.execute("DROP TABLE IF EXISTS t")
    db.execute("CREATE TABLE t(k TEXT)")
    there = int(ROWS * share)
    fill(db, "t", there)
    fill(db, "t", ROWS - there, first=ROWS, key=KEY)
    db.execute("CREATE TABLE shuffled AS SELECT k FROM t ORDER BY random()")
    db.execute("DROP TABLE t")
    db.execute("ALTER TABLE shuffled RENAME TO t")
    filter_ = db.execute("SELECT filter FROM f").fetchone()[0]

    def count(rest, *arguments):
        return lambda: db.execute("SELECT count(*) FROM t " + rest, arguments).fetchone() and None

    measured = interleaved(
        {
            "join": count("JOIN pk ON pk.k = t.k"),
            "join, bloom_contains(?1, k)": count("JOIN pk ON pk.k = t.k WHERE bloom_contains(?1, t.k)", filter_),
            "join, JOIN f": count("JOIN f ON f.key = t.k CROSS JOIN pk ON pk.k = t.k"),
            "anti-join": count("WHERE " + ABSENT),
            "anti-join, bloom_contains(?1, k)": count("WHERE NOT bloom_contains(?1, k) OR " + ABSENT, filter_),
            "anti-join, LEFT JOIN f": count("LEFT JOIN f ON f.key = t.k LEFT JOIN pk ON pk.k = f.key WHERE pk.k IS NULL"),
        },
        ROUNDS,
    )
    report = Report(f"Joins of {ROWS} x {ROWS}, {share:.0%} present")
    for name in measured:
        base = name.split(",")[0]
        if name != base:
            report.compare(measured, ROWS, name, base, {0.01: 0.22, 1: 1.1}[share])


def main():
    db = connect(":memory:", EXTENSION)
    db.execute("CREATE TABLE pk(k TEXT PRIMARY KEY)")
    fill(db, "pk", ROWS)
    db.execute(f"CREATE VIRTUAL TABLE f USING bloom(capacity={ROWS})")
    db.execute("INSERT INTO f(key) SELECT k FROM pk")
    for share in (0.01, 1):
        measure(db, share)


if __name__ == "__main__":
    main()
