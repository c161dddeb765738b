#!/usr/bin/python3
"""Ordinary jobs with plain SQLite and with a filter: processor time, and bytes of the file.

    examples/jobs.py [ROWS [ROUNDS]]     1,000,000 rows and 3 rounds when not given: some minutes

Plain SQLite is what a good developer writes without the extension. Rounds alternate between both, each in a new file in
WAL mode with SQLite's page cache of 2 MB; the medians are compared. The last jobs are those that plain SQLite wins.

Needs the extension, built by examples/demo.sh or as README.md has it (extension.py looks for it).
"""

import os
import random
import statistics
import sys
import tempfile
import time

from extension import connect

NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "
KEY = "printf('%08x.%d@example.com', i * 2654435761 % 4294967296, i)"
ABSENT = KEY.replace(".com", ".org")  # spread over the index as the keys are


def fill(db, table, count, key=KEY):
    db.execute(NUMBERS.format(count) + f"INSERT INTO {table} SELECT {key} FROM n ORDER BY random()")


def row_by_row(db, rows, work):
    """Calls work for each row, 1,000 rows per transaction, and returns how often it said 1."""
    count = 0
    for at in range(0, len(rows), 1000):
        db.execute("BEGIN IMMEDIATE")
        count += sum(work(row) for row in rows[at:at + 1000])
        db.execute("COMMIT")
    return count


class Duplicates:
    """drop the duplicates of a stream within 24 hours (48 hours, one event in ten is a duplicate)"""

    def prepare(self, db, rows, with_filter):
        choose, self.hour, self.events = random.Random(1), 0, []
        for i in range(rows):
            old = choose.random() < 0.1 and i > 100
            self.events.append((i * 48 // rows, self.events[-choose.randrange(1, 100)][1] if old else choose.randbytes(16).hex()))
        if with_filter:
            db.execute(f"CREATE VIRTUAL TABLE seen USING bloom(capacity={rows * 30 // 48}, fpr=0.001, generations=5)")
        else:
            db.execute("CREATE TABLE seen(id TEXT PRIMARY KEY, hour INTEGER) WITHOUT ROWID")
            db.execute("CREATE INDEX seen_by_hour ON seen(hour)")

    def plain(self, db):
        def one(event):
            if event[0] != self.hour:
                self.hour = event[0]
                db.execute("DELETE FROM seen WHERE hour < ?", (self.hour - 24,))
            return db.execute("INSERT OR IGNORE INTO seen VALUES (?, ?)", event[::-1]).rowcount
        return row_by_row(db, self.events, one)

    def filtered(self, db):
        def one(event):
            if event[0] // 6 != self.hour:
                self.hour = event[0] // 6
                db.execute("INSERT INTO seen(seen) VALUES ('rotate')")
            return db.execute("INSERT OR IGNORE INTO seen(key) VALUES (?)", event[1:]).rowcount
        return row_by_row(db, self.events, one)


class Unsubscribes:
    """whom of a mailing list (half of ROWS) may we write to, if 1 % are in a list of unsubscribed addresses (a fifth of ROWS)"""

    def prepare(self, db, rows, with_filter):
        db.execute("CREATE TABLE unsubscribed(address TEXT PRIMARY KEY COLLATE NOCASE) WITHOUT ROWID")
        fill(db, "unsubscribed", rows // 5)
        db.execute("CREATE TABLE recipients(address TEXT)")
        fill(db, "recipients", rows // 2, f"iif(i % 100 = 0, upper({KEY}), {ABSENT})")
        if with_filter:
            db.execute("CREATE VIRTUAL TABLE f USING bloom(source=unsubscribed, column=address)")
            db.execute("CREATE VIEW checked AS SELECT f.key, u.* FROM f JOIN unsubscribed AS u ON u.address = +f.key")

    def plain(self, db):
        return db.execute("SELECT count(*) FROM recipients AS r WHERE NOT EXISTS"
                          " (SELECT 1 FROM unsubscribed WHERE address = r.address)").fetchone()

    def filtered(self, db):
        return db.execute("SELECT count(*) FROM recipients AS r WHERE NOT EXISTS"
                          " (SELECT 1 FROM checked WHERE key = r.address)").fetchone()


class Import:
    """which rows of a delivery (a tenth of ROWS) are not among ROWS known ones, into another table; 2 % are known"""

    def prepare(self, db, rows, with_filter):
        db.execute("CREATE TABLE known(id TEXT PRIMARY KEY) WITHOUT ROWID")
        fill(db, "known", rows)
        db.execute("CREATE TABLE delivery(id TEXT)")
        fill(db, "delivery", rows // 10, f"iif(i % 50 = 0, {KEY}, {ABSENT})")
        db.execute("CREATE TABLE fresh(id TEXT)")
        if with_filter:
            db.execute("CREATE VIRTUAL TABLE f USING bloom(source=known, column=id)")

    def plain(self, db):
        return db.execute("INSERT INTO fresh SELECT d.id FROM delivery AS d LEFT JOIN known AS k ON k.id = d.id WHERE k.id IS NULL").rowcount

    def filtered(self, db):
        return db.execute("INSERT INTO fresh SELECT d.id FROM delivery AS d LEFT JOIN f ON f.key = d.id"
                          " LEFT JOIN known AS k ON k.id = f.key WHERE k.id IS NULL").rowcount


class Crawler:
    """store the new pages among ROWS links, 60 % seen: with a UNIQUE index, or a filter (fpr=0.001) instead of the index"""

    def prepare(self, db, rows, with_filter):
        choose = random.Random(1)
        self.links = [(f"https://example.org/{choose.randrange(rows * 44 // 100) * 2654435761 % 2**32:08x}/page.html",) for _ in range(rows)]
        if with_filter:
            db.execute("CREATE TABLE pages(url TEXT)")
            db.execute(f"CREATE VIRTUAL TABLE f USING bloom(capacity={rows * 45 // 100}, fpr=0.001)")
        else:
            db.execute("CREATE TABLE pages(url TEXT UNIQUE)")

    def plain(self, db):
        return row_by_row(db, self.links, lambda link: db.execute("INSERT OR IGNORE INTO pages VALUES (?)", link).rowcount)

    def filtered(self, db):
        def one(link):
            new = db.execute("INSERT OR IGNORE INTO f(key) VALUES (?)", link).rowcount
            if new:
                db.execute("INSERT INTO pages VALUES (?)", link)
            return new
        return row_by_row(db, self.links, one)


class Log:
    """the rows of one client in a log of ROWS rows without an index: a scan, or a bloom_search table"""

    def prepare(self, db, rows, with_filter):
        db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, client TEXT)")
        db.execute(NUMBERS.format(rows) + f"INSERT INTO log(client) SELECT {KEY} FROM n")
        if with_filter:
            db.execute("CREATE VIRTUAL TABLE search USING bloom_search(source=log, equal=(client))")
        self.client = db.execute("SELECT client FROM log WHERE id = ?", (rows // 3,)).fetchone()

    def plain(self, db):
        return db.execute("SELECT id FROM log WHERE client = ?", self.client).fetchall()

    def filtered(self, db):
        return db.execute("SELECT id FROM search WHERE client = ?", self.client).fetchall()


class Search:
    """the line with a part of a request's number, in a log of ROWS lines: LIKE, or LIKE in a bloom_search table"""

    def prepare(self, db, rows, with_filter):
        db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, line TEXT)")
        db.execute(NUMBERS.format(rows) + "INSERT INTO log(line) SELECT printf('GET /item/%d: done after %d ms, request %08x%08x',"
                   " i * 31 % 5000, i % 300, i * 2654435761 % 4294967296, i * 2246822519 % 4294967296) FROM n")
        if with_filter:
            db.execute("CREATE VIRTUAL TABLE search USING bloom_search(source=log, like=(line))")
        (self.part,) = db.execute("SELECT substr(line, -13, 12) FROM log WHERE id = ?", (rows // 3,)).fetchone()

    def plain(self, db):
        return db.execute("SELECT id FROM log WHERE line LIKE ?", (f"%{self.part}%",)).fetchall()

    def filtered(self, db):
        return db.execute("SELECT id FROM search WHERE line LIKE ?", (f"%{self.part}%",)).fetchall()


class ImportIntoItself(Import):
    """the same delivery into the table of known rows itself: INSERT OR IGNORE in order, or LEFT JOIN with a filter"""

    def plain(self, db):
        return db.execute("INSERT OR IGNORE INTO known SELECT id FROM delivery ORDER BY id").rowcount

    def filtered(self, db):
        return db.execute("INSERT INTO known SELECT d.id FROM delivery AS d LEFT JOIN f ON f.key = d.id"
                          " LEFT JOIN known AS k ON k.id = f.key WHERE k.id IS NULL").rowcount


class OneLookup(Import):
    """one lookup per new connection, 200 times, of a row that is not there"""

    def run(self, db, sql):
        path = db.execute("PRAGMA database_list").fetchone()[2]
        found = 0
        for i in range(200):
            new = connect(path)
            found += len(new.execute(sql, (f"{i} is not there",)).fetchall())
            new.close()
        return found

    def plain(self, db):
        return self.run(db, "SELECT id FROM known WHERE id = ?")

    def filtered(self, db):
        return self.run(db, "SELECT known.id FROM f CROSS JOIN known ON known.id = f.key WHERE f.key = ?")


class OneLookupInBlob(OneLookup):
    """the same, with the filter in a blob"""

    def prepare(self, db, rows, with_filter):
        super().prepare(db, rows, False)
        db.execute("CREATE TABLE filters AS SELECT bloom_build(id) AS filter FROM known")

    def filtered(self, db):
        return self.run(db, "SELECT 1 WHERE bloom_contains((SELECT filter FROM filters), ?1)"
                            " AND EXISTS (SELECT 1 FROM known WHERE id = ?1)")


def measure(job, rows, with_filter, folder):
    path = os.path.join(folder, "job.db")
    for name in (path, path + "-wal", path + "-shm"):
        if os.path.exists(name):
            os.unlink(name)
    db = connect(path)
    db.execute("PRAGMA journal_mode = WAL")
    job.prepare(db, rows, with_filter)
    start = time.process_time()
    result = (job.filtered if with_filter else job.plain)(db)
    seconds = time.process_time() - start
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return seconds, os.path.getsize(path), result


def compared(plain, filtered):
    ratio = plain / filtered
    if 0.95 < ratio < 1.05:
        return "same speed"
    return f"{ratio:.1f} times faster" if ratio > 1 else f"{100 / ratio - 100:.0f} % slower"


def main():
    given = [int(number) for number in sys.argv[1:]]
    rows, rounds = given + [1_000_000, 3][len(given):]
    with tempfile.TemporaryDirectory() as folder:
        for kind in (Duplicates, Unsubscribes, Import, Crawler, Log, Search, ImportIntoItself, OneLookup, OneLookupInBlob):
            runs = [[measure(kind(), rows, with_filter, folder) for with_filter in (False, True)] for _ in range(rounds)]
            plain, filtered = (statistics.median(run[side][0] for run in runs) for side in (0, 1))
            (_, bytes_plain, result), (_, bytes_filtered, other) = runs[0]
            lost = "" if result == other else f"; {result - other:,} of {result:,} new ones lost"
            assert not lost or kind in (Duplicates, Crawler), (kind, result, other)
            print(f"{kind.__doc__}\n    {compared(plain, filtered)} ({plain:.3f} s, {filtered:.3f} s);"
                  f" file {bytes_plain / 1e6:.1f} MB, {bytes_filtered / 1e6:.1f} MB{lost}", flush=True)


if __name__ == "__main__":
    main()
