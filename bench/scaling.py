"""Time per key and bytes per key, by number of keys.

    /usr/bin/python3 bench/scaling.py EXTENSION [LARGEST [CSV]]    # 100000000

Measures 1,000 keys, 10,000 keys and so on up to LARGEST, at an FPR of 1 %. Prints ns per key and bytes per key as a Markdown
table, and writes them to CSV for bench/charts.gp. The ordinary table is a PRIMARY KEY WITHOUT ROWID; it is measured up to 10
million keys.
"""

import csv
import os
import statistics
import sys
import tempfile

from support import connect, fill, seconds

EXTENSION = sys.argv[1]
LARGEST = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000_000
CSV = sys.argv[3] if len(sys.argv) > 3 else os.devnull
SOURCE = 1_000_000  # stored keys; more keys are derived from them while they are read
LARGEST_TABLE = 10_000_000
COLUMNS = ("keys", "reading", "bloom_build to size", "bloom_build", "bloom_contains", "INSERT bloom", "JOIN bloom", "INSERT PRIMARY KEY", "JOIN PRIMARY KEY",
           "bytes of a blob", "bytes of a table", "bytes of a PRIMARY KEY")  # fmt: skip


def source(db, keys):
    """Returns a FROM clause with `keys` distinct keys of 32 bytes, in random order."""
    for table in ("t", "part"):
        db.execute(f"DROP TABLE IF EXISTS {table}")
        db.execute(f"CREATE TABLE {table}(k TEXT)")
    fill(db, "t", min(keys, SOURCE))
    fill(db, "part", max(1, keys // SOURCE), key="printf('%d', {0})")
    return "(SELECT t.k || part.k AS k FROM part CROSS JOIN t)"


def used_bytes(db, schema):
    pages, free, size = (db.execute(f"PRAGMA {schema}.{name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size"))
    return (pages - free) * size


def measure(db, folder, keys, rounds):
    keys_of = source(db, keys)
    ways = {}

    def run(name, sql, *arguments):
        took = seconds(lambda: db.execute(sql, arguments).fetchall())
        ways.setdefault(name, []).append(took / keys * 1e9)

    size = {}
    for _ in range(rounds):
        path = os.path.join(folder, "db")
        if os.path.exists(path):
            os.remove(path)
        db.execute("ATTACH ? AS d", (path,))
        db.execute("PRAGMA d.journal_mode = off")
        db.execute("PRAGMA d.synchronous = off")
        run("reading", f"SELECT count(k) FROM {keys_of}")
        run("bloom_build to size", f"SELECT bloom_build(k, ?) IS NULL FROM {keys_of}", keys)
        if keys <= LARGEST_TABLE:
            run("bloom_build", f"SELECT bloom_build(k) IS NULL FROM {keys_of}")
        filter_ = db.execute(f"SELECT bloom_build(k, ?) FROM {keys_of}", (keys,)).fetchone()[0]
        size["bytes of a blob"] = len(filter_)
        run("bloom_contains", f"SELECT count(*) FROM {keys_of} WHERE bloom_contains(?, k)", filter_)
        del filter_
        before = used_bytes(db, "d")
        db.execute(f"CREATE VIRTUAL TABLE d.f USING bloom(capacity={keys}, cache=1073741824)")
        run("INSERT bloom", f"INSERT INTO f(key) SELECT k FROM {keys_of}")
        size["bytes of a table"] = used_bytes(db, "d") - before
        run("JOIN bloom", f"SELECT count(*) FROM {keys_of} AS s JOIN f ON f.key = s.k")
        if keys <= LARGEST_TABLE:
            before = used_bytes(db, "d")
            db.execute("CREATE TABLE d.pk(k TEXT PRIMARY KEY) WITHOUT ROWID")
            run("INSERT PRIMARY KEY", f"INSERT INTO pk SELECT k FROM {keys_of}")
            size["bytes of a PRIMARY KEY"] = used_bytes(db, "d") - before
            run("JOIN PRIMARY KEY", f"SELECT count(*) FROM {keys_of} AS s CROSS JOIN pk ON pk.k = s.k")
        db.execute("DETACH d")
    return {"keys": keys, **{name: statistics.median(values) for name, values in ways.items()}, **{name: value / keys for name, value in size.items()}}


def main():
    print("| " + " | ".join(COLUMNS) + " |\n|" + " --- |" * len(COLUMNS))
    with open(CSV, "w", newline="") as file, tempfile.TemporaryDirectory() as folder:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        db = connect(":memory:", EXTENSION)
        keys = 1000
        while keys <= LARGEST:
            row = measure(db, folder, keys, rounds=5 if keys <= 1_000_000 else 1)
            cells = [f"{row[name]:.4g}" if name in row else "" for name in COLUMNS[1:]]
            table.writerow([keys, *cells])
            print(f"| {keys:,} | " + " | ".join(cells) + " |", flush=True)
            keys *= 10


if __name__ == "__main__":
    main()
