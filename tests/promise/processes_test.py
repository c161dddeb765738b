"""Processes that write to one bloom table and look keys up in it at the same time: no committed key is answered "absent".

    /usr/bin/python3 tests/promise/processes_test.py EXTENSION [SECONDS]    # 3; for each table and journal mode
"""

import mmap
import os
import random
import sqlite3
import struct
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.host import connect, one  # noqa: E402

WRITERS = 2
ASKERS = 1
OPTIONS = {"sized": "capacity=4000000", "growing": "cache=65536"}  # the first: for more than a minute brings
# A timeout that an application would choose.
TIMEOUT = 20
# Fewer keys prove nothing. A busy machine may need longer for them, within a limit.
ENOUGH = 200
PATIENCE = 60


class Committed:
    """The number of keys that each writer has committed, in memory that all processes share."""

    def __init__(self):
        self.memory = mmap.mmap(-1, 8 * WRITERS)

    def __getitem__(self, writer):
        return struct.unpack_from("q", self.memory, 8 * writer)[0]

    def total(self):
        return sum(self[writer] for writer in range(WRITERS))

    def __setitem__(self, writer, count):
        struct.pack_into("q", self.memory, 8 * writer, count)


def key(writer, i):
    return f"https://example.com/{writer}/{i}"


def ask(db, committed, rng):
    for writer in range(WRITERS):
        count = committed[writer]
        for i in rng.sample(range(count), min(count, 20)):
            found = db.execute("SELECT 1 FROM f WHERE key = ?", (key(writer, i),)).fetchone()
            assert found, f"key {i} of writer {writer}, of {count} committed, is answered absent"


def write(db, writer, committed, rng):
    first = committed[writer]
    count = rng.choice((1, 1, 2, 50))
    keys = [key(writer, i) for i in range(first, first + count)]
    if rng.random() < 0.5:
        db.execute("INSERT INTO f(key) VALUES " + ",".join("(?)" for _ in keys), keys)
    else:
        db.execute("BEGIN IMMEDIATE")
        for one_key in keys:
            db.execute("INSERT OR IGNORE INTO f(key) VALUES (?)", (one_key,))
        if rng.random() < 0.2:
            db.execute("ROLLBACK")
            return
        db.execute("COMMIT")
    committed[writer] = first + count


def work(path, number, committed, end):
    rng = random.Random(number)
    db = connect(path, isolation_level=None, timeout=TIMEOUT)
    db.execute("PRAGMA synchronous = OFF")
    busy = 0
    while time.monotonic() < (end if committed.total() >= ENOUGH else end + PATIENCE):
        try:
            if number < WRITERS:
                write(db, number, committed, rng)
            ask(db, committed, rng)
        except sqlite3.OperationalError as error:
            # Another process is writing; try again.
            assert "locked" in str(error), error
            busy += 1
            if db.in_transaction:
                db.execute("ROLLBACK")
    db.close()
    return busy


def run(path, table, journal, seconds):
    db = connect(path, isolation_level=None)
    db.execute(f"PRAGMA journal_mode = {journal}")
    db.execute(f"CREATE VIRTUAL TABLE f USING bloom({OPTIONS[table]})")
    db.close()
    committed = Committed()
    end = time.monotonic() + seconds
    children = []
    for number in range(WRITERS + ASKERS):
        child = os.fork()
        if child == 0:
            try:
                work(path, number, committed, end)
            except BaseException as error:
                print(f"process {number}: {error}", flush=True)
                os._exit(1)
            os._exit(0)
        children.append(child)
    failed = sum(os.waitpid(child, 0)[1] != 0 for child in children)

    db = connect(path)
    lost = [
        key(writer, i)
        for writer in range(WRITERS)
        for i in range(committed[writer])
        if not db.execute("SELECT 1 FROM f WHERE key = ?", (key(writer, i),)).fetchone()
    ]
    false_positives = sum(
        db.execute("SELECT 1 FROM f WHERE key = ?", (f"never {i}",)).fetchone() is not None for i in range(1000)
    )
    assert false_positives < 50, f"{false_positives} of 1000: the filter is too full to tell"
    total = committed.total()
    print(f"{table}, {journal}: {total} keys by {WRITERS} writers, {len(lost)} lost, {failed} processes failed")
    assert total >= ENOUGH, "too few to tell"
    assert one(db, "PRAGMA integrity_check") == "ok"
    db.execute("INSERT INTO f(f) VALUES ('integrity-check')")
    return not lost and not failed


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory() as folder:
        good = [run(os.path.join(folder, table + journal), table, journal, seconds) for table in OPTIONS for journal in ("delete", "wal")]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
