"""What one lookup takes: with a filter, with an index, with SQLite's own join filter, and by a full scan.

    /usr/bin/python3 bench/lookups.py EXTENSION [KEYS [ROUNDS]]    # 1000000 5

In memory. KEYS keys in random order are looked up in a table with half as many rows: SQLite builds its own join filter only
if there are more lookups than rows. Prints ns of processor time per lookup, including the time for reading the key from its
table. Medians of ROUNDS interleaved rounds. Index lookups read a column of the row. They must all find the same number of rows.
"""

import statistics
import sys
import time

from support import connect, interleaved, numbers

EXTENSION = sys.argv[1]
KEYS = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 5
ROWS = KEYS // 2
SCANS = 3
TYPES = {"TEXT": "printf('https://example.com/item/%06x', {0} * 7919 % 16777213)", "INTEGER": "({0} * 7919 % 16777213)"}
FOUND = {"1 % found": 0.01, "all found": 1}

WAYS = {
    "read the key, no lookup": "WHERE t.k IS NOT NULL",
    "bloom_contains(?1, k) alone": "WHERE bloom_contains(?1, t.k)",
    "JOIN with a bloom table alone": "JOIN f ON f.key = t.k",
    "index lookup": "CROSS JOIN rows AS r ON r.k = t.k",
    "index lookup behind a bloom table": "JOIN f ON f.key = t.k CROSS JOIN rows AS r ON r.k = t.k",
    "index lookup behind SQLite's own filter": "JOIN rows AS r ON r.k = t.k AND r.w >= 0",
}
OWN = "index lookup behind SQLite's own filter"
EXACT = [name for name in WAYS if name.startswith("index lookup")]


def cpu_seconds(run):
    begin = time.process_time()
    run()
    return time.process_time() - begin


def prepare(db, kind):
    key = TYPES[kind]
    db.execute(f"CREATE TABLE rows(k {kind} PRIMARY KEY, w INTEGER)")
    db.execute(f"INSERT INTO rows SELECT {key.format('i')}, i FROM {numbers(ROWS)}")
    db.execute(f"CREATE TABLE unindexed(k {kind}, w INTEGER)")
    db.execute("INSERT INTO unindexed SELECT k, w FROM rows")
    db.execute(f"CREATE VIRTUAL TABLE f USING bloom(capacity={ROWS})")
    db.execute("INSERT INTO f(key) SELECT k FROM rows")


def prepare_lookups(db, kind, share):
    there = int(KEYS * share)
    key = TYPES[kind].format(f"(CASE WHEN i < {there} THEN i % {ROWS} ELSE i + {KEYS} END)")
    db.execute("DROP TABLE IF EXISTS t")
    db.execute(f"CREATE TABLE t(k {kind})")
    db.execute(f"INSERT INTO t SELECT {key} FROM {numbers(KEYS)} ORDER BY random()")
    db.execute("ANALYZE")


def measure(db, filter_):
    """Way -> ns per lookup."""
    found = {}

    def run(name):
        sql = f"SELECT count({'r.w' if name in EXACT else '*'}) FROM t {WAYS[name]}"
        arguments = (filter_,) if "?1" in sql else ()

        def count():
            found[name] = db.execute(sql, arguments).fetchone()[0]

        return lambda: cpu_seconds(count)

    plan = str(db.execute(f"EXPLAIN QUERY PLAN SELECT count(r.w) FROM t {WAYS[OWN]}").fetchall())
    measured = interleaved({name: run(name) for name in WAYS if name != OWN or "BLOOM FILTER" in plan}, ROUNDS)
    assert len({found[name] for name in EXACT if name in found}) == 1, found
    ns = {name: statistics.median(times) / KEYS * 1e9 for name, times in measured.items()}
    keys = db.execute("SELECT k FROM t LIMIT ?", (SCANS,)).fetchall()
    scans = [cpu_seconds(lambda key=key: db.execute("SELECT count(w) FROM unindexed WHERE k = ?", key).fetchone()) for key in keys]
    return ns | {"full scan": statistics.median(scans) * 1e9}


def main():
    columns = {}
    for kind in TYPES:
        db = connect(":memory:", EXTENSION)
        prepare(db, kind)
        filter_ = db.execute("SELECT filter FROM f").fetchone()[0]
        for name, share in FOUND.items():
            prepare_lookups(db, kind, share)
            columns[f"{kind}, {name}"] = measure(db, filter_)
        db.close()
    print(f"\n### ns per lookup, {KEYS:,} lookups in {ROWS:,} rows\n\n| | " + " | ".join(columns) + " |\n|" + " --- |" * (len(columns) + 1))
    for way in [*WAYS, "full scan"]:
        print(f"| {way} | " + " | ".join(f"{ns[way]:,.0f}" if way in ns else "" for ns in columns.values()) + " |", flush=True)


if __name__ == "__main__":
    main()
