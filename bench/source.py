"""Overhead of a bloom table that follows another table, for both values of the option `writers`.

    /usr/bin/python3 bench/source.py EXTENSION [ROWS [PENDING]]    # 300000 1000000

The first table compares statements on the source alone, with an index, and with a filter: processor time divided by that of the
table alone (lower is better); the next, the bytes in the WAL. The third compares writers=any with writers=extension: lookups while changes are pending. The last
compares 'merge' with bloom_build over the same keys, for both values of PRAGMA secure_delete: SQLite overwrites deleted rows with
zeros if it is on, as in Debian's library. Keys are strings in random order; the file is in WAL mode. All values are
medians of five interleaved rounds; a ratio is the median of the ratios of the rounds.
"""

import os
import sqlite3
import statistics
import sys
import tempfile
import time

EXTENSION = os.path.abspath(sys.argv[1])
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 300_000
PENDING = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000
ROUNDS = 5
SINGLES = 1000
LOOKUPS = min(ROWS, 100_000)
OPTIONS = {
    "a filter that grows": "growth=on",
    "a filter with a capacity": f"capacity={ROWS}",
    "a counting filter": f"capacity={ROWS}, kind=counting",
}
WAYS = {
    "the table alone": "SELECT 1",
    "an index": "CREATE INDEX i ON t(k)",
    **{
        f"{name}, writers={writers}": f"CREATE VIRTUAL TABLE f USING bloom(source=t, column=k, writers={writers}, {options})"
        for writers in ("any", "extension")
        for name, options in OPTIONS.items()
    },
    "a filter that grows, writers=any, merging": (
        "CREATE VIRTUAL TABLE f USING bloom(source=t, column=k, growth=on); "
        "CREATE TEMP TRIGGER merging AFTER INSERT ON main.f_pending WHEN new.id % 10000 = 0 BEGIN INSERT INTO f(f) VALUES ('merge'); END"
    ),
}


def insert(first, count):
    return (
        f"WITH RECURSIVE n(i) AS (VALUES({first}) UNION ALL SELECT i + 1 FROM n WHERE i < {first + count - 1}) "
        "INSERT INTO t(k) SELECT 'https://example.org/' || (i * 7919 % 1000003) || '/' || i FROM n"
    )


STATEMENTS = {
    "INSERT ... SELECT": [insert(1, ROWS)],
    "UPDATE of another column": ["UPDATE t SET x = 1"],
    "UPDATE of the key": ["UPDATE t SET k = k || 'x' WHERE id % 10 = 0"],
    "DELETE": ["DELETE FROM t WHERE id % 3 = 0"],
    "single INSERTs, prepared": [("INSERT INTO t(k) VALUES (?)", (f"single {i}",)) for i in range(SINGLES)],
    "single INSERTs, compiled one by one": [f"INSERT INTO t(k) VALUES ('single {i}')" for i in range(SINGLES)],
    "INSERT of stored rows": ["INSERT INTO t(k) SELECT k FROM stored"],
}


def connect(folder):
    db = sqlite3.connect(os.path.join(folder, "db"), isolation_level=None)
    db.enable_load_extension(True)
    db.load_extension(EXTENSION)
    db.executescript("PRAGMA journal_mode = wal; PRAGMA synchronous = normal; CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, k TEXT, x)")
    return db


def seconds(db, *statements):
    """A statement is SQL, or SQL and its arguments."""
    begin = time.process_time()
    for statement in statements:
        sql, arguments = (statement, ()) if isinstance(statement, str) else statement
        db.execute(sql, arguments).fetchall()
    return time.process_time() - begin


def measure(way):
    with tempfile.TemporaryDirectory() as folder:
        db = connect(folder)
        db.execute("CREATE TABLE stored(k TEXT)")
        db.execute(insert(ROWS + 1, ROWS).replace("INTO t", "INTO stored"))
        db.executescript(WAYS[way])
        times = [seconds(db, *statements) for statements in STATEMENTS.values()]
        db.close()
        return times


def lookup_times(db):
    """ns per lookup in a join, and us per statement that looks one key up."""
    db.execute("SELECT 1 FROM f WHERE key = 'x'").fetchall()
    join = seconds(db, "SELECT count(*) FROM absent JOIN f ON f.key = absent.k")
    begin = time.process_time()
    for i in range(SINGLES * 10):
        db.execute("SELECT 1 FROM f WHERE key = ?", (i,)).fetchall()
    single = time.process_time() - begin
    return join / LOOKUPS * 1e9, single / (SINGLES * 10) * 1e6


def measure_pending(writers):
    """The figures of the second table for a filter with a capacity."""
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        db = connect(folder)
        db.execute("CREATE TEMP TABLE absent(k)")
        db.executemany("INSERT INTO absent VALUES (?)", ((f"absent {i}",) for i in range(LOOKUPS)))
        db.execute(insert(0, ROWS))
        db.execute(f"CREATE VIRTUAL TABLE f USING bloom(source=t, column=k, writers={writers}, capacity={ROWS + PENDING})")
        pending = 0
        for count in (0, 1000, PENDING):
            if count > pending:
                db.execute(insert(ROWS + pending, count - pending))
                pending = count
            figures[f"join, {count:,} pending, ns per lookup"], figures[f"one lookup, {count:,} pending, us"] = lookup_times(db)
        begin = time.process_time()
        other = connect(folder)
        other.execute("SELECT 1 FROM f WHERE key = 'x'").fetchall()
        figures[f"first lookup of a connection, {PENDING:,} pending, ms"] = (time.process_time() - begin) * 1e3
        other.close()
        db.close()
    return figures


def measure_merge(secure_delete):
    """Seconds for bloom_build over new rows, and for their merge."""
    with tempfile.TemporaryDirectory() as folder:
        db = connect(folder)
        db.execute(f"PRAGMA secure_delete = {secure_delete}")
        db.execute(f"CREATE VIRTUAL TABLE f USING bloom(source=t, column=k, capacity={PENDING})")
        db.execute(insert(0, PENDING))
        build = seconds(db, f"SELECT length(bloom_build(k, {PENDING})) FROM t")
        merge = seconds(db, "INSERT INTO f(f) VALUES ('merge')")
        db.close()
        return {"build": build, "merge": merge}


def wal_bytes(way):
    """The bytes that a transaction of prepared INSERTs writes, and 'merge' after it."""
    with tempfile.TemporaryDirectory() as folder:
        db = connect(folder)
        db.executescript(WAYS[way])
        db.execute("PRAGMA wal_autocheckpoint = 0")
        written = []
        statements = ["INSERT INTO f(f) VALUES ('merge')"] if "writers=any" in way else []
        for command in ("BEGIN", *statements):
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            db.execute(command)
            if command == "BEGIN":
                db.executemany("INSERT INTO t(k) VALUES (?)", ((f"https://example.org/{i * 7919 % 1000003}/{i}",) for i in range(SINGLES * 50)))
                db.execute("COMMIT")
            written.append(os.path.getsize(os.path.join(folder, "db-wal")))
        db.close()
        return written


def medians(rounds):
    return {name: statistics.median(r[name] for r in rounds) for name in rounds[0]}


def main():
    rounds = [{way: measure(way) for way in WAYS} for _ in range(ROUNDS)]
    print("| | " + " | ".join(STATEMENTS) + " |\n" + "| --- " * (len(STATEMENTS) + 1) + "|")
    for way in WAYS:
        ratios = [[a / b for a, b in zip(r[way], r["the table alone"])] for r in rounds]
        print(f"| {way} | " + " | ".join(f"{statistics.median(column):.2f}" for column in zip(*ratios)) + " |")
    print(f"\n| bytes in the WAL, of those of the table alone | {SINGLES * 50:,} INSERTs in a transaction | and 'merge' |\n| --- | --- | --- |")
    alone = wal_bytes("the table alone")[0]
    for way in WAYS:
        written = wal_bytes(way)
        print(f"| {way} | {written[0] / alone:.2f} | {sum(written) / alone:.2f} |")
    rounds = [{writers: measure_pending(writers) for writers in ("any", "extension")} for _ in range(ROUNDS)]
    figures = {writers: medians([r[writers] for r in rounds]) for writers in ("any", "extension")}
    print("\n| | writers=any | writers=extension |\n| --- | --- | --- |")
    for name in figures["any"]:
        print(f"| {name} | {figures['any'][name]:.3g} | {figures['extension'][name]:.3g} |")
    rounds = [{secure: measure_merge(secure) for secure in ("OFF", "ON")} for _ in range(ROUNDS)]
    print(f"\n| secure_delete | bloom_build of {PENDING:,}, s | merge, s | times bloom_build |\n| --- | --- | --- | --- |")
    for secure in ("OFF", "ON"):
        times = medians([r[secure] for r in rounds])
        ratio = statistics.median(r[secure]["merge"] / r[secure]["build"] for r in rounds)
        print(f"| {secure} | {times['build']:.3g} | {times['merge']:.3g} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
