"""Members that come and go: does a bloom_groups table forget cheaply?

    /usr/bin/python3 bench/retention.py EXTENSION [MEMBERS [DAYS [CSV]]]    # 100000 10000

1. Of MEMBERS optimized members, nine tenths are deleted: lookups and new members, compared with the same table before.
2. A retention job: a table of 3,000 days with 30 keys each. Each day the oldest day is deleted, and a new one is added, for DAYS days,
   with 'optimize' every 100 days. Time per day and lookup, and bytes: the worst twentieth of the run, compared with the first. Writes
   a CSV file with all of them.

Times are processor times, medians of interleaved rounds; the tables are in memory.
"""

import csv
import os
import statistics
import sys
import time

from support import Report, connect, numbers

EXTENSION = os.path.abspath(sys.argv[1])
MEMBERS = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
DAYS = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
CSV = sys.argv[4] if len(sys.argv) > 4 else os.devnull
ROUNDS = 15
LOOKUPS = 200
WINDOW, KEYS, EVERY = 3000, 30, 100


def one(db, sql, *arguments):
    return db.execute(sql, arguments).fetchone()[0]


def seconds(run):
    begin = time.process_time()
    run()
    return time.process_time() - begin


def table_of(members, keep):
    """Returns a database with a table of optimized members, of which only `keep` are left."""
    db = connect(":memory:", EXTENSION)
    db.execute("CREATE VIRTUAL TABLE who USING bloom_groups(capacity=10, fpr=0.00001)")
    db.execute(f"INSERT INTO who(member, key) SELECT i, 'key ' || i FROM {numbers(members)}")
    db.execute("INSERT INTO who(who) VALUES ('optimize')")
    if keep < members:
        db.execute("DELETE FROM who WHERE member >= ?", (keep,))
    return db


def lookups(db):
    for i in range(LOOKUPS):
        db.execute("SELECT member FROM who WHERE key = ?", (f"absent {i}",)).fetchall()


def new_members(db):
    db.execute("BEGIN")
    db.execute(f"INSERT INTO who(member, key) SELECT 'new ' || i, i FROM {numbers(1000)}")
    db.execute("ROLLBACK")


def deletions():
    report = Report(f"{MEMBERS:,} optimized members, nine tenths deleted")
    ways = {"none deleted": table_of(MEMBERS, MEMBERS), "deleted": table_of(MEMBERS, MEMBERS // 10), "deleted, then 'optimize'": table_of(MEMBERS, MEMBERS // 10)}
    ways["deleted, then 'optimize'"].execute("INSERT INTO who(who) VALUES ('optimize')")
    for what, run, rows in (("lookup of an absent key", lookups, LOOKUPS), ("1,000 new members", new_members, 1000)):
        measured = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, db in ways.items():
                measured[name].append(seconds(lambda: run(db)))
        for name in list(ways)[1:]:
            value = statistics.median(a / b for a, b in zip(measured[name], measured["none deleted"]))
            report.line(f"{what}, {name}", "none deleted", value, 1.5, statistics.median(measured[name]) / rows * 1e9)
    db = ways["deleted, then 'optimize'"]
    pages = one(db, "PRAGMA page_count") - one(db, "PRAGMA freelist_count")
    before = db.total_changes
    db.execute("INSERT INTO who(who) VALUES ('optimize')")
    print(f"\n'optimize' of an optimized table changes {db.total_changes - before - 1} rows; the table has {pages} pages, {pages / one(ways['none deleted'], 'PRAGMA page_count'):.2f} of those before")


def retention():
    db = connect(":memory:", EXTENSION)
    db.execute(f"CREATE VIRTUAL TABLE who USING bloom_groups(capacity={KEYS}, fpr=0.0001)")
    db.execute(f"INSERT INTO who(member, key) SELECT d.i, d.i * {KEYS} + k.i FROM {numbers(WINDOW)} AS d CROSS JOIN {numbers(KEYS)} AS k")
    report = Report(f"A retention job: {WINDOW} days of {KEYS} keys, {DAYS:,} times a day deleted and a day added")
    part = max(EVERY, DAYS // 20)
    rows = []
    for first in range(0, DAYS - part + 1, part):
        spent = 0.0
        for day in range(first, first + part):
            spent += seconds(lambda: one_day(db, day))
        looked = statistics.median(seconds(lambda: lookups(db)) / LOOKUPS for _ in range(ROUNDS))
        pages = one(db, "PRAGMA page_count")
        rows.append((first + part, spent / part * 1e6, looked * 1e6, pages * one(db, "PRAGMA page_size")))
    for column, name in enumerate(("a day", "a lookup", "bytes"), 1):
        # Half of the slots may be free.
        report.line(f"{name}, the worst twentieth", "the first", max(row[column] for row in rows) / rows[0][column], 2.1 if name == "bytes" else 2)
    with open(CSV, "w", newline="") as file:
        csv.writer(file).writerows([("days", "day", "lookup", "bytes"), *((d, f"{t:.0f}", f"{q:.2f}", b) for d, t, q, b in rows)])


def one_day(db, day):
    db.execute("DELETE FROM who WHERE member = ?", (day,))
    db.execute(f"INSERT INTO who(member, key) SELECT ?1, ?1 * {KEYS} + i FROM {numbers(KEYS)}", (day + WINDOW,))
    if day % EVERY == EVERY - 1:
        db.execute("INSERT INTO who(who) VALUES ('optimize')")


if __name__ == "__main__":
    deletions()
    retention()
