"""What a bloom_groups table costs the programs that write to its source, and its lookups while changes are pending.

    /usr/bin/python3 bench/groups_source.py EXTENSION [ROWS [ROUNDS]]

Processor time: medians of interleaved rounds. Lookups are those of an absent key in 1,000 members of 100 keys each.
"""

import statistics
import sys
import time

from support import connect

EXTENSION = sys.argv[1]
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 5
MEMBERS = 1000


def source(follows):
    db = connect(":memory:", EXTENSION)
    db.execute("CREATE TABLE visits(day INTEGER, visitor TEXT)")
    db.execute(
        f"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {100 * MEMBERS - 1}) "
        f"INSERT INTO visits SELECT i % {MEMBERS}, 'visitor ' || i FROM n"
    )
    if follows:
        db.execute("CREATE VIRTUAL TABLE who USING bloom_groups(source=visits, member=day, column=visitor)")
    return db


def timed(f, *arguments):
    start = time.process_time()
    f(*arguments)
    return time.process_time() - start


def insert(db, rows):
    db.execute("BEGIN")
    db.executemany("INSERT INTO visits VALUES (?, ?)", rows)
    db.execute("COMMIT")


def writers():
    rows = [(i % MEMBERS, f"new {i}") for i in range(ROWS)]
    times = {False: [], True: []}
    for _ in range(ROUNDS):
        for follows, of in times.items():
            of.append(timed(insert, source(follows), rows))
    plain, followed = (statistics.median(of) / ROWS * 1e6 for of in times.values())
    print(f"one prepared INSERT per row: {plain:.2f} us, with the triggers {followed:.2f} us ({followed / plain:.1f} times)")


def lookups():
    for pending in (0, 1000, 100_000):
        db = source(follows=True)
        if pending:
            insert(db, [(i % MEMBERS, f"new {i}") for i in range(pending)])
        look = lambda n: [db.execute("SELECT member FROM who WHERE key = ?", (f"absent {i}",)).fetchall() for i in range(n)]  # noqa: B023, E731
        first = timed(look, 1)
        later = statistics.median(timed(look, 1000) / 1000 for _ in range(ROUNDS))
        merge = timed(db.execute, "INSERT INTO who(who) VALUES ('merge')")
        print(f"{pending} pending: the first lookup {first * 1e3:.2f} ms, later ones {later * 1e6:.1f} us; 'merge' {merge * 1e3:.0f} ms")


if __name__ == "__main__":
    writers()
    lookups()
