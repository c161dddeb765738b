"""A value in a large log, in a column without an index: scan, skip index, and exact index.

    /usr/bin/python3 bench/skip_index.py EXTENSION [ROWS]    # 10000000

The log has ROWS rows with a url of 31 bytes, all different and in random order, in a file that is cached. Each way looks up single
urls. Times are processor times, medians of interleaved rounds, divided by those of the scan; lower is better. Building is compared
with SELECT count(url). Also: bytes, and appended rows.
"""

import os
import sys
import tempfile
import time

from support import KEY, Report, connect, interleaved, numbers, ratio

EXTENSION = os.path.abspath(sys.argv[1])
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
ROUNDS = 5
LOOKUPS = 20  # in a round; the scan looks up one url
SEARCH = "SELECT log.id FROM log_url AS r CROSS JOIN log NOT INDEXED ON log.id BETWEEN r.first AND r.last AND log.url = r.key WHERE r.key = ?"


def seconds(run):
    """Returns the processor time of a call."""
    begin = time.process_time()
    run()
    return time.process_time() - begin


def one(db, sql, *arguments):
    return db.execute(sql, arguments).fetchone()[0]


def used_bytes(db):
    return (one(db, "PRAGMA page_count") - one(db, "PRAGMA freelist_count")) * one(db, "PRAGMA page_size")


def url(db, i):
    return one(db, f"SELECT {KEY.format(i)}")


def added(db, sql):
    """Runs a statement. Returns its time, and the bytes that the database has grown by."""
    before = used_bytes(db)
    took = seconds(lambda: db.execute(sql))
    return took, used_bytes(db) - before


def lookups(db, sql, urls):
    def run():
        for text in urls:
            db.execute(sql, (text,)).fetchall()

    return lambda: seconds(run) / len(urls)


def main():
    with tempfile.TemporaryDirectory() as folder:
        db = connect(os.path.join(folder, "db"), EXTENSION)
        for setting in ("journal_mode = off", "synchronous = off", "cache_size = -4000000"):
            db.execute(f"PRAGMA {setting}")
        db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, time INTEGER, url TEXT)")
        db.execute(f"INSERT INTO log(time, url) SELECT i, {KEY.format('i')} FROM {numbers(ROWS)}")
        scan = min(seconds(lambda: one(db, "SELECT count(url) FROM log")) for _ in range(3))
        skip, skip_bytes = added(db, "CREATE VIRTUAL TABLE log_url USING bloom_groups(source=log, column=url)")
        index, index_bytes = added(db, "CREATE INDEX log_by_url ON log(url)")

        report = Report(f"A url in a log of {ROWS:,} rows")
        for present, goal in ((False, 1 / 300), (True, 1 / 100)):
            urls = [url(db, (i * 524287 % ROWS) + (0 if present else ROWS)) for i in range(LOOKUPS)]
            ways = {
                "scan": lookups(db, "SELECT id FROM log NOT INDEXED WHERE url = ?", urls[:1]),
                "skip index": lookups(db, SEARCH.replace("JOIN log ON", "JOIN log NOT INDEXED ON"), urls),
                "index": lookups(db, "SELECT id FROM log WHERE url = ?", urls),
            }
            measured = interleaved(ways, ROUNDS)
            what = "present url" if present else "absent url"
            report.line(f"{what}, skip index", "scan", ratio(measured, "skip index", "scan"), goal, sorted(measured["skip index"])[ROUNDS // 2] * 1e9)
            report.line(f"{what}, index", "scan", ratio(measured, "index", "scan"), None, sorted(measured["index"])[ROUNDS // 2] * 1e9)
        report.line("bytes of the skip index", "index", skip_bytes / index_bytes, 1 / 15)
        report.line("building the skip index", "SELECT count(url)", skip / scan, 1.5, skip / ROWS * 1e9)
        report.line("building the index", "SELECT count(url)", index / scan, None, index / ROWS * 1e9)

        db.execute("DROP INDEX log_by_url")
        db.execute("PRAGMA journal_mode = wal")

        def single_inserts():
            for i in range(5000):
                db.execute("INSERT INTO log(time, url) VALUES (?, ?)", (i, f"https://example.com/new/{i}"))

        appended = ROWS // 10
        ways = {
            "INSERT ... SELECT": (appended, lambda: db.execute(f"INSERT INTO log(time, url) SELECT i, {KEY.format('i')} FROM {numbers(appended)}")),
            "transactions of one INSERT": (5000, single_inserts),
        }
        times = {}
        for skip_index in (True, False):
            if not skip_index:
                db.execute("DROP TABLE log_url")
            for name, (rows, run) in ways.items():
                times[name, skip_index] = seconds(run) / rows * 1e9
        for name in ways:
            report.line(f"{name} that appends, with a skip index", "without", times[name, True] / times[name, False], None, times[name, True])


if __name__ == "__main__":
    main()
