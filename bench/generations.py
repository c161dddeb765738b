"""A bloom table with generations, compared with one without: size, false-positive rate, and times.

    /usr/bin/python3 bench/generations.py EXTENSION [KEYS [ROUNDS]]    # 1000000 5

All tables have the same capacity and fpr = 0.01, and are full: each generation has the same number of keys. Lookups are joins with
as many absent or present keys as the table has. Times are divided by those of the table without generations: medians of interleaved
rounds, lower is better. Also: rows of _data read per lookup with the smallest cache, and the time of 'rotate' in ms, in a file in
WAL mode, when the oldest generation is full.
"""

import os
import statistics
import sys
import tempfile

import support
from support import connect, numbers

GENERATIONS = (1, 2, 4, 8)
PRESENT = "'key ' || i"
ABSENT = "'other ' || i"


def one(db, sql):
    return db.execute(sql).fetchone()[0]


def rotate(db, name):
    db.execute(f"INSERT INTO {name}({name}) VALUES ('rotate')")


def make(db, name, generations, keys, more=""):
    """Makes a table in which every generation is full."""
    option = f", generations={generations}" if generations > 1 else ""
    db.execute(f"CREATE VIRTUAL TABLE {name} USING bloom(capacity={keys}, fpr=0.01{option}{more})")
    share = keys // generations
    for generation in range(generations):
        if generation > 0:
            rotate(db, name)
        support.fill(db, f"{name}(key)", share, generation * share, key="'key ' || {0}")


def join(db, name, keys, key):
    return one(db, f"SELECT count(*) FROM (SELECT {key} AS k FROM {numbers(keys)}) AS wanted CROSS JOIN {name} AS t ON t.key = wanted.k")


def rotation(folder, generations, keys, rounds):
    db = connect(os.path.join(folder, f"rotated{generations}"), sys.argv[1])
    db.execute("PRAGMA journal_mode = WAL")
    make(db, "rotated", generations, keys)
    share = keys // generations
    times = []
    for _ in range(rounds):
        times.append(support.seconds(lambda: rotate(db, "rotated")))
        support.fill(db, "rotated(key)", share, key="'key ' || {0}")
    db.close()
    return statistics.median(times) * 1000


def main():
    keys = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    db = connect(":memory:", sys.argv[1])
    names = {generations: f"g{generations}" for generations in GENERATIONS}
    for generations, name in names.items():
        make(db, name, generations, keys)
        make(db, f"{name}_cold", generations, keys, ", cache=4096")
    ways = {}
    for generations, name in names.items():
        ways[f"absent {generations}"] = lambda name=name: join(db, name, keys, ABSENT) and None
        ways[f"present {generations}"] = lambda name=name: join(db, name, keys, PRESENT) and None
        ways[f"insert {generations}"] = lambda name=name: support.fill(db, f"{name}(key)", keys // 8, 0, key="'key ' || {0}")
    measured = support.interleaved(ways, rounds)
    print("| generations | measured rate | bytes | absent keys | present keys | INSERT | rows read | 'rotate', ms |\n" + "| --- " * 8 + "|")
    with tempfile.TemporaryDirectory() as folder:
        for generations, name in names.items():
            cells = [str(generations), f"{join(db, f'{name}_cold', keys, ABSENT) / keys:.4f}", f"{one(db, f'SELECT bytes FROM {name}') / one(db, 'SELECT bytes FROM g1'):.2f}"]
            cells += [f"{support.ratio(measured, f'{what} {generations}', f'{what} 1'):.2f}" for what in ("absent", "present", "insert")]
            before = one(db, f"SELECT chunks_read FROM {name}_cold")
            join(db, f"{name}_cold", 10000, ABSENT)
            cells.append(f"{(one(db, f'SELECT chunks_read FROM {name}_cold') - before) / 10000:.1f}")
            cells.append(f"{rotation(folder, generations, keys, rounds):.1f}" if generations > 1 else "")
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
