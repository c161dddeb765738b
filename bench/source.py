"""Overhead of a bloom table that follows another table, on statements that change the other table.

    /usr/bin/python3 bench/source.py EXTENSION [ROWS]    # 300000

Compares the table alone, the table with an index, and the table with a filter. Keys are strings in random order; the file is in
WAL mode. Prints processor time divided by that of the table alone (lower is better): medians of three interleaved rounds.
"""

import os
import sqlite3
import statistics
import sys
import tempfile
import time

EXTENSION = os.path.abspath(sys.argv[1])
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 300_000
ROUNDS = 3
SINGLES = 1000
WAYS = {
    "the table alone": "SELECT 1",
    "with an index": "CREATE INDEX i ON t(k)",
    "with a filter that grows": "CREATE VIRTUAL TABLE f USING bloom(source=t, column=k)",
    "with one of a capacity": f"CREATE VIRTUAL TABLE f USING bloom(source=t, column=k, capacity={ROWS})",
    "with a counting one": f"CREATE VIRTUAL TABLE f USING bloom(source=t, column=k, capacity={ROWS}, kind=counting)",
}
STATEMENTS = {
    "INSERT ... SELECT": [
        f"WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS}) "
        "INSERT INTO t(k) SELECT 'https://example.org/' || (i * 7919 % 1000003) FROM n"
    ],
    "UPDATE of another column": ["UPDATE t SET x = 1"],
    "UPDATE of the key": ["UPDATE t SET k = k || 'x' WHERE id % 10 = 0"],
    "DELETE": ["DELETE FROM t WHERE id % 3 = 0"],
    "single INSERTs": [f"INSERT INTO t(k) VALUES ('single {i}')" for i in range(SINGLES)],
}


def measure(way):
    with tempfile.TemporaryDirectory() as folder:
        db = sqlite3.connect(os.path.join(folder, "db"), isolation_level=None)
        db.enable_load_extension(True)
        db.load_extension(EXTENSION)
        db.executescript("PRAGMA journal_mode = wal; PRAGMA synchronous = normal; CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT, x)")
        db.execute(WAYS[way])
        times = []
        for statements in STATEMENTS.values():
            begin = time.process_time()
            for sql in statements:
                db.execute(sql)
            times.append(time.process_time() - begin)
        db.close()
        return times


def main():
    rounds = [{way: measure(way) for way in WAYS} for _ in range(ROUNDS)]
    medians = {way: [statistics.median(column) for column in zip(*(r[way] for r in rounds))] for way in WAYS}
    print("| | " + " | ".join(STATEMENTS) + " |\n" + "| --- " * (len(STATEMENTS) + 1) + "|")
    for way, times in medians.items():
        print(f"| {way} | " + " | ".join(f"{own / alone:.1f}" for own, alone in zip(times, medians["the table alone"])) + " |")


if __name__ == "__main__":
    main()
