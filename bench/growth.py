"""A bloom table that grows, compared with one that was sized in advance: false-positive rate, size, time.

    /usr/bin/python3 bench/growth.py EXTENSION [KEYS [FPR]]    # 10000000 0.01

Each line is a table with a number of keys: its layers; the FPR measured with 1,000,000 absent keys, and the target FPR; then the
bytes, and the time to look up the absent keys by a join (median of three interleaved runs), each divided by that of a table
sized for exactly this number of keys. Lower is better. The last line is the number of lost keys, which must be 0.
"""

import json
import os
import sqlite3
import statistics
import sys
import time

ASKED = 1_000_000
NUMBERS = "WITH RECURSIVE n(i) AS (VALUES(?1) UNION ALL SELECT i + 1 FROM n WHERE i < ?2) "


def one(db, sql, *arguments):
    return db.execute(sql, arguments).fetchone()[0]


def wrong(db, table):
    begin = time.perf_counter()
    found = one(db, NUMBERS + f"SELECT count(*) FROM n JOIN {table} AS t ON t.key = 'other ' || i", 1, ASKED)
    return found, time.perf_counter() - begin


def line(db, keys, fpr):
    info = json.loads(one(db, "SELECT info FROM grown"))
    db.execute(f"CREATE VIRTUAL TABLE sized USING bloom(capacity={keys}, fpr={fpr}, cache=1073741824)")
    db.execute(NUMBERS + "INSERT INTO sized(key) SELECT 'key ' || i FROM n", (1, keys))
    sized = json.loads(one(db, "SELECT info FROM sized"))
    times = [(wrong(db, "grown")[1], wrong(db, "sized")[1]) for _ in range(3)]
    rate = wrong(db, "grown")[0] / ASKED
    db.execute("DROP TABLE sized")
    grown_time, sized_time = (statistics.median(column) for column in zip(*times))
    print(
        f"| {keys:,} | {len(info['layers'])} | {rate:.5f} | {rate / fpr:.2f} | {info['bytes'] / sized['bytes']:.2f} | {grown_time / sized_time:.2f} |",
        flush=True,
    )


def main():
    most = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    fpr = float(sys.argv[3]) if len(sys.argv) > 3 else 0.01
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.enable_load_extension(True)
    db.load_extension(os.path.abspath(sys.argv[1]))
    db.execute(f"CREATE VIRTUAL TABLE grown USING bloom(fpr={fpr}, cache=1073741824)")
    print(f"SQLite {sqlite3.sqlite_version}, fpr {fpr}")
    print("| keys | layers | measured rate | of fpr | bytes | time |\n| --- | --- | --- | --- | --- | --- |")
    keys = 0
    decade = 1000
    while decade <= most:
        for goal in (decade, decade * 11 // 10, decade * 2, decade * 5):
            if goal <= most:
                db.execute(NUMBERS + "INSERT INTO grown(key) SELECT 'key ' || i FROM n", (keys + 1, goal))
                keys = goal
                line(db, keys, fpr)
        decade *= 10
    print("lost:", one(db, NUMBERS + "SELECT count(*) FROM n LEFT JOIN grown AS g ON g.key = 'key ' || i WHERE g.key IS NULL", 1, keys))


if __name__ == "__main__":
    main()
