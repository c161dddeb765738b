"""The bloom table against ordinary tables: time, and bytes written to the write-ahead log.

    /usr/bin/python3 bench/table.py EXTENSION [KEYS]    # 1000000

Rounds are interleaved and medians taken. Times are per row, and as a ratio to the first line of their group.
"""

import os
import sqlite3
import statistics
import sys
import tempfile
import time

EXTENSION = os.path.abspath(sys.argv[1])
KEYS = int(sys.argv[2]) if len(sys.argv) > 2 else 1000000
ROUNDS = 3
SINGLES = 1000


class Bench:
    def __init__(self, path):
        self.path = path
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.enable_load_extension(True)
        self.db.load_extension(EXTENSION)
        self.run("PRAGMA journal_mode = wal")
        self.run("PRAGMA synchronous = normal")
        self.run("PRAGMA wal_autocheckpoint = 0")

    def run(self, sql, *arguments):
        return self.db.execute(sql, arguments).fetchall()

    def timed(self, statements):
        """Seconds, and bytes of log."""
        self.run("PRAGMA wal_checkpoint(TRUNCATE)")
        start = time.perf_counter()
        for sql, *arguments in statements:
            self.run(sql, *arguments)
        return time.perf_counter() - start, os.path.getsize(self.path + "-wal")


def report(title, rows, measured):
    """measured: name -> [(seconds, bytes), ...]"""
    print(f"\n{title}")
    first = None
    for name, rounds in measured.items():
        ns = statistics.median(seconds for seconds, _ in rounds) / rows * 1e9
        first = first or ns
        print(f"  {name:44} {ns:9.0f} ns {ns / first:6.2f} {rounds[-1][1] / rows:9.1f} bytes of log")


def interleaved(bench, ways, rows_of, prepare=None, clean=None):
    measured = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, statements in ways.items():
            if prepare:
                bench.run(prepare[name])
            measured[name].append(bench.timed(statements))
            if clean:
                bench.run(clean)
    return measured


def main():
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.join(folder, "db"))
        print(f"SQLite {sqlite3.sqlite_version}, {KEYS} TEXT keys of 31 bytes in random order")
        bench.run("CREATE TABLE source(k TEXT)")
        bench.run(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
            " INSERT INTO source SELECT printf('https://example.com/item/%06x', i * 7919 % 16777213) FROM n",
            KEYS,
        )
        bloom = f"CREATE VIRTUAL TABLE x USING bloom(capacity={KEYS})"
        prepare = {"heap": "CREATE TABLE x(k TEXT)", "PRIMARY KEY": "CREATE TABLE x(k TEXT PRIMARY KEY)", "bloom": bloom}
        bulk = {name: [(f"INSERT INTO x({'key' if name == 'bloom' else 'k'}) SELECT k FROM source",)] for name in prepare}
        report("INSERT ... SELECT into an empty table", KEYS, interleaved(bench, bulk, KEYS, prepare, "DROP TABLE x"))

        bench.run(bloom)
        bench.run("INSERT INTO x(key) SELECT k FROM source")
        bench.run("CREATE TABLE pk(k TEXT PRIMARY KEY)")
        bench.run("INSERT INTO pk SELECT k FROM source")
        filter_ = bench.run("SELECT filter FROM x")[0][0]
        print(f"  the filter has {len(filter_)} bytes")
        asks = {
            "count(k)": [("SELECT count(k) FROM source",)],
            "bloom_contains(?1, k)": [("SELECT count(*) FROM source WHERE bloom_contains(?1, k)", filter_)],
            "JOIN bloom ON key = k": [("SELECT count(*) FROM source JOIN x ON x.key = source.k",)],
            "EXISTS (SELECT 1 FROM bloom WHERE key = k)": [("SELECT count(*) FROM source WHERE EXISTS (SELECT 1 FROM x WHERE key = k)",)],
            "JOIN pk ON pk.k = k": [("SELECT count(*) FROM source JOIN pk ON pk.k = source.k",)],
        }
        report("asking for every key", KEYS, interleaved(bench, asks, KEYS))

        def singles(into, part):
            return [(f"INSERT INTO {into} VALUES (?)", f"https://example.com/new/{(part * SINGLES + i) * 7919 % 16777213:07x}") for i in range(SINGLES)]

        full = {"PRIMARY KEY": singles("pk", 0), "bloom": singles("x(key)", 0)}
        report(f"{SINGLES} single-insert transactions, into the full tables", SINGLES, {name: [bench.timed(sql)] for name, sql in full.items()})
        bench.run("DROP TABLE x")
        bench.run(bloom)
        bench.run("CREATE TABLE empty(k TEXT PRIMARY KEY)")
        for part in range(3):
            both = {"PRIMARY KEY": singles("empty", part), "bloom": singles("x(key)", part)}
            report(f"into empty ones, transactions {part * SINGLES + 1} to {(part + 1) * SINGLES}", SINGLES, {name: [bench.timed(sql)] for name, sql in both.items()})


if __name__ == "__main__":
    main()
