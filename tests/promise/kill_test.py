"""Kills processes while they write: every key whose transaction was acknowledged must be found afterwards.

    /usr/bin/python3 tests/promise/kill_test.py EXTENSION [KILLS [SEED]]    # 240; shared among tables and journal modes
"""

import itertools
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.host import connect, one  # noqa: E402

TABLES = {
    "sized": ["CREATE VIRTUAL TABLE f USING bloom(capacity=200000, cache=8192)"],
    "growing": ["CREATE VIRTUAL TABLE f USING bloom(capacity=64, growth=on)"],
    "generations": ["CREATE VIRTUAL TABLE f USING bloom(capacity=20000, generations=3, cache=8192)"],
    # k = 1, so that 'optimize' has something to do from 128 members on.
    "groups": ["CREATE VIRTUAL TABLE f USING bloom_groups(capacity=30, fpr=0.4)"],
    **{
        f"{kind}, writers={writers}": [
            "CREATE TABLE s(key TEXT)",
            f"CREATE VIRTUAL TABLE f USING bloom(source=s, column=key, writers={writers}, {options})",
        ]
        for kind, options in (("following", "growth=on"), ("counting", "kind=counting, capacity=20000"))
        for writers in ("any", "extension")
    },
}
JOURNALS = ("delete", "truncate", "persist", "wal")
GENERATIONS = 3
KILLS_OF_ONE_FILE = 10
LONGEST_LIFE = 0.03  # seconds after the first transaction


def keys_of(transaction):
    return [f"{transaction}.{i}" for i in range(1 + transaction % 7)]


def rotates(transaction):
    """Whether the transaction ends with 'rotate', if the table has generations."""
    return transaction % 16 == 15


def write(path, table, first, acknowledge, rng):
    """Commits transactions until the process is killed. Some of them run 'rebuild', 'merge', 'halve' or 'rotate'."""
    db = connect(path, isolation_level=None)
    db.execute("PRAGMA synchronous = OFF")  # the system outlives the process
    follows = "writers" in table
    for transaction in itertools.count(first):
        db.execute("BEGIN IMMEDIATE")
        if table == "groups":
            pairs = [v for key in keys_of(transaction) for v in (f"member {transaction % 300}", key)]
            db.execute(f"INSERT INTO f(member, key) VALUES {', '.join('(?, ?)' for _ in pairs[::2])}", pairs)
            if rng.random() < 0.05:
                db.execute("INSERT INTO f(f) VALUES ('optimize')")
        else:
            db.executemany(f"INSERT INTO {'s' if follows else 'f'}(key) VALUES (?)", ([key] for key in keys_of(transaction)))
        if follows and rng.random() < 0.1:
            db.execute(f"INSERT INTO f(f) VALUES ('{rng.choice(('rebuild', 'merge', 'merge'))}')")
        if table == "sized" and rng.random() < 0.01:
            db.execute("INSERT INTO f(f) SELECT 'halve' FROM f WHERE json_extract(info, '$.cells') > 100000")
        if table == "generations" and rotates(transaction):
            db.execute("INSERT INTO f(f) VALUES ('rotate')")
        db.execute("COMMIT")
        os.write(acknowledge, b".")


def live_and_die(path, table, first, rng):
    """Returns how many transactions were acknowledged."""
    read, acknowledge = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            write(path, table, first, acknowledge, random.Random(first))
        finally:
            os._exit(1)
    os.close(acknowledge)
    done = os.read(read, 1)  # it has begun
    time.sleep(rng.random() * LONGEST_LIFE)
    os.kill(child, signal.SIGKILL)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1]), "it ended by itself"
    while more := os.read(read, 65536):
        done += more
    os.close(read)
    return len(done)


def not_forgotten(acknowledged, end):
    """The transactions whose keys a table with generations has, after all transactions before `end`. Of these, the one that was
    under way at each kill may have rotated or not."""
    rotations, kept = 0, []
    remaining = set(acknowledged)
    for transaction in reversed(range(end)):
        rotations += rotates(transaction)
        if rotations >= GENERATIONS:
            break
        if transaction in remaining:
            kept.append(transaction)
    return kept


def check(path, acknowledged):
    db = connect(path)
    lost = [
        key
        for transaction in acknowledged
        for key in keys_of(transaction)
        if not db.execute("SELECT 1 FROM f WHERE key = ?", (key,)).fetchone()
    ]
    assert not lost, f"{len(lost)} keys lost, the first of them {lost[0]}"
    assert one(db, "PRAGMA integrity_check") == "ok"
    db.execute("INSERT INTO f(f) VALUES ('integrity-check')")
    db.close()


def run(path, table, journal, kills, rng):
    db = connect(path)
    db.execute(f"PRAGMA journal_mode = {journal}")
    for statement in TABLES[table]:
        db.execute(statement)
    db.close()
    acknowledged = []
    first = 0
    for _ in range(kills):
        count = live_and_die(path, table, first, rng)
        acknowledged += range(first, first + count)
        first += count + 1  # the one under way may be there or not
        check(path, not_forgotten(acknowledged, first) if table == "generations" else acknowledged)
    return len(acknowledged)


def main():
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 240
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    choices = itertools.cycle(itertools.product(TABLES, JOURNALS))
    done = transactions = 0
    while done < kills:
        table, journal = next(choices)
        now = min(KILLS_OF_ONE_FILE, kills - done)
        with tempfile.TemporaryDirectory() as folder:
            transactions += run(os.path.join(folder, "db"), table, journal, now, rng)
        done += now
    print(f"{done} kills, {transactions} transactions acknowledged, none lost")


if __name__ == "__main__":
    main()
