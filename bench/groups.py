"""Which of N members may hold a key? Filters in rows, a bloom_groups table, and an exact index: time, pages, bytes, writing.

    /usr/bin/python3 bench/groups.py EXTENSION [LARGEST [KEYS [CSV]]]    # 10000 5000

Each member has KEYS keys of 31 bytes, which no other member has, at fpr = 0.0001. There are 10, 100 ... LARGEST members. The ways:

    blobs      a row per member with a filter of bloom_create(KEYS, 0.0001): WHERE bloom_contains(filter, ?)
    segments   a bloom_groups table: WHERE key = ?
    wide rows  the same after 'optimize', which leaves tables of fewer than 1,728 members as they are
    index      all pairs, exact: PRIMARY KEY (key, member) WITHOUT ROWID

Each way has a file of its own. Lookups are measured in one read transaction: "resident" with a page cache for the whole file, which
has been read before; "2 MB" with PRAGMA cache_size = -2000. Times are processor times, medians of interleaved rounds. Pages are
SQLITE_DBSTATUS_CACHE_MISS per lookup of an absent key with the small page cache, as the shell's .stats shows it. Bytes are those of
the pages in use. Writes CSV for bench/charts.gp.
"""

import csv
import math
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

from support import Report, connect, interleaved, numbers, ratio

EXTENSION = os.path.abspath(sys.argv[1])
LARGEST = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
KEYS = int(sys.argv[3]) if len(sys.argv) > 3 else 5000
CSV = sys.argv[4] if len(sys.argv) > 4 else os.devnull
FPR = 0.0001
WAYS = ("blobs", "segments", "wide rows", "index")
CACHES = {"resident": -16_000_000, "2 MB": -2000}
LOOKUP = {
    "blobs": "SELECT member FROM t WHERE bloom_contains(filter, ?)",
    "segments": "SELECT member FROM t WHERE key = ?",
    "wide rows": "SELECT member FROM t WHERE key = ?",
    "index": "SELECT member FROM t WHERE key = ?",
}
ROUNDS = 5
SECONDS = 0.2  # of a way in a round, roughly


class Keys:
    """Keys 0 ... N * KEYS - 1, in ascending order. Key h is one of member h % N."""

    def __init__(self, members):
        self.members = members
        self.step = 2**32 // (members * KEYS)

    def sql(self, h):
        return f"printf('https://example.com/it/%08x', {h} * {self.step})"

    def key(self, number, present):
        """Returns a key that a member has, or one that none has."""
        h = number * 7919 % (self.members * KEYS)
        return f"https://example.com/it/{h * self.step + (not present):08x}"

    def of_members(self):
        """Returns a query for all (member, key), ordered by member."""
        pair = f"(j.i * {self.members} + m.i)"
        return f"SELECT m.i AS member, {self.sql(pair)} AS key FROM {numbers(self.members)} AS m CROSS JOIN {numbers(KEYS)} AS j"


def one(db, sql, *arguments):
    return db.execute(sql, arguments).fetchone()[0]


def seconds(run):
    """Returns the processor time of a call."""
    begin = time.process_time()
    run()
    return time.process_time() - begin


def writing(path):
    db = connect(path, EXTENSION)
    db.execute("PRAGMA journal_mode = off")
    db.execute("PRAGMA synchronous = off")
    db.execute("PRAGMA cache_size = -1000000")
    return db


def used_bytes(path):
    db = sqlite3.connect(path)
    pages, free, size = (one(db, f"PRAGMA {name}") for name in ("page_count", "freelist_count", "page_size"))
    db.close()
    return (pages - free) * size


def build(folder, members):
    """Returns way -> path, and the time of 'optimize' divided by that of the INSERT before it."""
    keys = Keys(members)
    paths = {way: os.path.join(folder, way.replace(" ", "_")) for way in WAYS}
    db = writing(paths["blobs"])
    db.execute("CREATE TABLE t(member INTEGER PRIMARY KEY, filter BLOB NOT NULL)")
    db.execute(f"INSERT INTO t SELECT member, bloom_build(key, {KEYS}, {FPR}) FROM ({keys.of_members()}) GROUP BY +member")
    db.close()
    db = writing(paths["segments"])
    db.execute(f"CREATE VIRTUAL TABLE t USING bloom_groups(capacity={KEYS}, fpr={FPR})")
    inserting = seconds(lambda: db.execute(f"INSERT INTO t(member, key) {keys.of_members()}"))
    db.close()
    shutil.copy(paths["segments"], paths["wide rows"])
    db = writing(paths["wide rows"])
    optimizing = seconds(lambda: db.execute("INSERT INTO t(t) VALUES ('optimize')"))
    db.close()
    db = writing(paths["index"])
    db.execute("CREATE TABLE t(key TEXT, member INTEGER, PRIMARY KEY (key, member)) WITHOUT ROWID")
    db.execute(f"INSERT INTO t SELECT {keys.sql('i')}, i % {members} FROM {numbers(members * KEYS)}")
    db.close()
    return paths, optimizing / inserting


def reader(path, way, cache):
    db = connect(path, EXTENSION)
    db.execute(f"PRAGMA cache_size = {CACHES[cache]}")
    db.execute("BEGIN")
    if cache == "resident":
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE rootpage > 0 AND type = 'table' AND name NOT LIKE 'sqlite%'")]
        for table in tables:
            db.execute(f"SELECT count(*) FROM {table} NOT INDEXED").fetchone()
        if way == "blobs":
            db.execute("SELECT count(*) FROM t WHERE bloom_contains(filter, '')").fetchone()
    return db


class Lookups:
    """Looks up keys in turn, each in a statement of its own."""

    def __init__(self, db, way, keys, present):
        self.db, self.sql, self.keys, self.present = db, LOOKUP[way], keys, present
        self.number = 0
        self.count = 1
        self.run()
        self.count = max(2, min(20_000, round(SECONDS / max(1e-7, self.run()))))

    def run(self):
        """Returns seconds per lookup."""
        parameters = [(self.keys.key(self.number + i, self.present),) for i in range(self.count)]
        self.number += self.count
        return seconds(lambda: [self.db.execute(self.sql, key).fetchall() for key in parameters]) / self.count


def pages(path, way, keys, lookups=200):
    statements = "".join(LOOKUP[way].replace("?", f"'{keys.key(1_000_000 + i, False)}'") + ";\n" for i in range(lookups))
    script = f".load {os.path.splitext(EXTENSION)[0]}\nPRAGMA cache_size = {CACHES['2 MB']};\nBEGIN;\n{LOOKUP[way].replace('?', 'NULL')};\n"
    # .stats prints and resets the counter after each statement.
    out = subprocess.run(["sqlite3", path], input=f"{script}.stats on\n{statements}", capture_output=True, text=True, check=True).stdout
    return sum(int(line.split()[-1]) for line in out.splitlines() if line.startswith("Page cache misses")) / lookups


def lookups(paths, keys):
    """Returns (cache, present) -> way -> seconds of each round."""
    result = {}
    for cache in CACHES:
        dbs = {way: reader(path, way, cache) for way, path in paths.items()}
        for present in (False, True):
            ways = {way: Lookups(db, way, keys, present).run for way, db in dbs.items()}
            result[cache, present] = interleaved(ways, ROUNDS)
        for db in dbs.values():
            db.close()
    return result


COLUMNS = ["members", *(f"{way}: {what}" for what in ("absent", "present", "2 MB") for way in WAYS), *(f"{way}: pages" for way in WAYS), *(f"{way}: bytes" for way in WAYS)]


def measure(folder, members, table):
    """Prints a line of each table. Returns what the goals need."""
    keys = Keys(members)
    paths, optimizing = build(folder, members)
    measured = lookups(paths, keys)
    read = {way: pages(path, way, keys) for way, path in paths.items()}
    size = {way: used_bytes(path) for way, path in paths.items()}
    cases = [measured["resident", False], measured["resident", True], measured["2 MB", False]]
    times = [statistics.median(case[way]) * 1e6 for case in cases for way in WAYS]
    table.writerow([members, *(f"{t:.4g}" for t in times), *(f"{read[way]:.3g}" for way in WAYS), *(size[way] for way in WAYS)])
    cells = [f"{t:,.3g}" if t < 1000 else f"{t:,.0f}" for t in times]
    cells += [f"{read[way]:,.1f}" for way in WAYS] + [f"{size[way] / 1e6:,.3g}" for way in WAYS]
    print(f"| {members:,} | " + " | ".join(cells) + " |", flush=True)
    for path in paths.values():
        os.remove(path)
    return measured, read, size, optimizing


def hashes():
    """Returns k of the filters."""
    db = connect(":memory:", EXTENSION)
    db.execute(f"CREATE VIRTUAL TABLE t USING bloom_groups(capacity={KEYS}, fpr={FPR})")
    db.execute("INSERT INTO t(member) VALUES (1)")
    return one(db, "SELECT json_extract(info, '$.hashes') FROM t")


def goals(members, measured, read, size, optimizing):
    """Prints the goals that only the largest number of members has to reach."""
    report = Report(f"Lookups and bytes of {members:,} members")
    absent = measured["resident", False]
    for way, goal in (("segments", 1 / 25), ("wide rows", 1 / 300)):
        report.compare(absent, 1, way, "blobs", goal)
    report.line("pages per lookup, segments", "N / 64 + 3", read["segments"] / (members / 64 + 3), 1)
    wide_sets = math.ceil(members / 31_744)  # k rows have at most so many members
    report.line("pages per lookup, wide rows", "2 k + 3 per 31,744 members", read["wide rows"] / (wide_sets * (2 * hashes() + 3)), 1)
    for way in ("segments", "wide rows"):
        report.line(f"bytes, {way}", "blobs", size[way] / size["blobs"], 1.25)
        report.line(f"bytes, {way}", "index", size[way] / size["index"], 1 / 15)
        report.compare(absent, 1, way, "index")
    report.line("'optimize'", "INSERT of the pairs", optimizing)


def fill(folder, members):
    """INSERT ... SELECT into a bloom_groups table, against a bloom table and the exact index."""
    report = Report(f"INSERT ... SELECT of {members * KEYS:,} pairs")
    source = writing(os.path.join(folder, "source"))
    source.execute("CREATE TABLE ordered(member, key)")
    source.execute(f"INSERT INTO ordered {Keys(members).of_members()}")
    source.execute("CREATE TABLE shuffled AS SELECT * FROM ordered ORDER BY key * 0, random()")

    def way(create, insert):
        def run():
            path = os.path.join(folder, "filled")
            db = writing(path)
            db.execute("ATTACH ? AS s", (source_path,))
            db.execute(create)
            took = seconds(lambda: db.execute(insert))
            db.close()
            os.remove(path)
            return took

        return run

    source_path = os.path.join(folder, "source")
    source.close()
    groups = f"CREATE VIRTUAL TABLE t USING bloom_groups(capacity={KEYS}, fpr={FPR})"
    ways = {
        "bloom table": way(f"CREATE VIRTUAL TABLE t USING bloom(capacity={members * KEYS}, fpr={FPR})", "INSERT INTO t(key) SELECT key FROM s.ordered"),
        "bloom_groups, ordered by member": way(groups, "INSERT INTO t(member, key) SELECT member, key FROM s.ordered"),
        "bloom_groups, shuffled": way(groups, "INSERT INTO t(member, key) SELECT member, key FROM s.shuffled"),
        "index (key, member), ordered by member": way("CREATE TABLE t(key, member, PRIMARY KEY (key, member)) WITHOUT ROWID", "INSERT INTO t SELECT key, member FROM s.ordered"),
    }
    measured = interleaved(ways, 3)
    for name in list(ways)[1:]:
        report.compare(measured, members * KEYS, name, "bloom table", 3 if "bloom_groups" in name else None)
    os.remove(source_path)


def single_inserts(folder, members, count=300):
    """WAL pages per inserted key, each in its transaction."""
    report = Report(f"Pages in the WAL file per inserted key, {members:,} members")
    keys = Keys(members)
    for what in ("segments", "wide rows"):
        path = os.path.join(folder, "single")
        db = connect(path, EXTENSION)
        db.execute("PRAGMA journal_mode = wal")
        db.execute(f"CREATE VIRTUAL TABLE t USING bloom_groups(capacity={KEYS}, fpr={FPR})")
        db.execute(f"INSERT INTO t(member, key) SELECT i, i FROM {numbers(members)}")
        if what == "wide rows":
            db.execute("INSERT INTO t(t) VALUES ('optimize')")
        db.execute("PRAGMA wal_checkpoint(truncate)")
        db.execute("PRAGMA wal_autocheckpoint = 0")
        for i in range(count):
            db.execute("INSERT INTO t(member, key) VALUES (?, ?)", (i % members, keys.key(i, True)))
        report.line(what, "one page", (os.path.getsize(path + "-wal") - 32) / (4096 + 24) / count, 1 if what == "segments" else None)
        db.close()
        os.remove(path)


def common_keys(members):
    """A key that all members have, in memory."""
    report = Report(f"A key that all of {members:,} members have")
    db = connect(":memory:", EXTENSION)
    db.execute("CREATE TABLE blobs(member INTEGER PRIMARY KEY, filter BLOB NOT NULL)")
    db.execute(f"INSERT INTO blobs SELECT i, bloom_add(bloom_create({KEYS}, {FPR}), 'common') FROM {numbers(members)}")
    db.execute('CREATE TABLE "index"(key, member, PRIMARY KEY (key, member)) WITHOUT ROWID')
    db.execute(f"INSERT INTO \"index\" SELECT 'common', i FROM {numbers(members)}")
    for name in ("segments", "wide"):
        db.execute(f"CREATE VIRTUAL TABLE {name} USING bloom_groups(capacity={KEYS}, fpr={FPR})")
        db.execute(f"INSERT INTO {name}(member, key) SELECT i, 'common' FROM {numbers(members)}")
    db.execute("INSERT INTO wide(wide) VALUES ('optimize')")
    ways = {
        "blobs": "SELECT count(member) FROM blobs WHERE bloom_contains(filter, 'common')",
        "segments": "SELECT count(member) FROM segments WHERE key = 'common'",
        "wide rows": "SELECT count(member) FROM wide WHERE key = 'common'",
        "index": "SELECT count(member) FROM \"index\" WHERE key = 'common'",
    }
    measured = interleaved({name: lambda sql=sql: seconds(lambda: one(db, sql)) for name, sql in ways.items()}, 5)
    for name in ("segments", "wide rows", "index"):
        report.compare(measured, members, name, "blobs")


def main():
    print(f"SQLite {sqlite3.sqlite_version}, {KEYS:,} keys per member, fpr {FPR}; time per lookup in us, pages per lookup with 2 MB, megabytes")
    print("| " + " | ".join(COLUMNS) + " |\n|" + " --- |" * len(COLUMNS))
    with tempfile.TemporaryDirectory() as folder, open(CSV, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        members = 10
        while members <= LARGEST:
            last = (members, *measure(folder, members, table))
            file.flush()
            members *= 10
        goals(*last)
        fill(folder, min(1000, LARGEST))
        single_inserts(folder, min(2000, LARGEST))
        common_keys(min(2000, LARGEST))


if __name__ == "__main__":
    main()
