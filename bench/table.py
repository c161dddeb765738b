"""The bloom table, compared with ordinary tables and with a function that does nothing.

    /usr/bin/python3 bench/table.py EXTENSION [KEYS [ROUNDS]]    # 1000000 5

KEYS strings of 31 bytes in random order. The database is a file in WAL mode with synchronous=NORMAL, or in memory where the
heading says so.
"""

import os
import sys
import tempfile
import time

from support import Report, connect, fill, interleaved, noop_beside

EXTENSION = sys.argv[1]
KEYS = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 5
SINGLES = 1000
CREATE = {
    "heap": "CREATE TABLE x(k TEXT)",
    "PRIMARY KEY": "CREATE TABLE x(k TEXT PRIMARY KEY)",
    "bloom": f"CREATE VIRTUAL TABLE x USING bloom(capacity={KEYS})",
    "bloom table that grows": "CREATE VIRTUAL TABLE x USING bloom",
}


def column(name):
    return "key" if name.startswith("bloom") else "k"


def joins():
    db = connect(":memory:", EXTENSION, noop_beside(EXTENSION))
    db.execute("CREATE TABLE t(k TEXT)")
    fill(db, "t", KEYS)
    db.execute(CREATE["bloom"].replace("x", "f", 1))
    db.execute("INSERT INTO f(key) SELECT k FROM t")
    db.execute("CREATE VIRTUAL TABLE g USING bloom")
    db.execute("INSERT INTO g(key) SELECT k FROM t")
    db.execute("CREATE TABLE pk(k TEXT PRIMARY KEY)")
    db.execute("INSERT INTO pk SELECT k FROM t")
    filter_ = db.execute("SELECT filter FROM f").fetchone()[0]

    def count(rest, *arguments):
        return lambda: db.execute(f"SELECT count(*) FROM t {rest}", arguments).fetchall() and None

    measured = interleaved(
        {
            "noop(?1, k)": count("WHERE noop(?1, k)", filter_),
            "JOIN hashed": count("JOIN hashed ON hashed.key = t.k"),
            "JOIN": count("JOIN f ON f.key = t.k"),
            "JOIN table that grows": count("JOIN g ON g.key = t.k"),
            "EXISTS": count("WHERE EXISTS (SELECT 1 FROM f WHERE f.key = t.k)"),
            "JOIN PRIMARY KEY": count("JOIN pk ON pk.k = t.k"),
            "IN": lambda: db.execute("SELECT count(*) FROM f WHERE key IN (SELECT k FROM t)").fetchall() and None,
        },
        ROUNDS,
    )
    report = Report("Lookups in a table, in memory")
    report.compare(measured, KEYS, "JOIN hashed", "noop(?1, k)", against="noop(?1, k); the table only hashes")
    report.compare(measured, KEYS, "JOIN", "noop(?1, k)", 1.8)
    report.compare(measured, KEYS, "JOIN", "JOIN PRIMARY KEY", 0.35)
    report.compare(measured, KEYS, "JOIN table that grows", "noop(?1, k)")
    report.compare(measured, KEYS, "EXISTS", "noop(?1, k)")
    report.compare(measured, KEYS, "IN", "JOIN", against="JOIN; the list of IN is sorted first")


def connect_wal(path):
    db = connect(path, EXTENSION)
    for sql in ("journal_mode = wal", "synchronous = normal", "wal_autocheckpoint = 0"):
        db.execute("PRAGMA " + sql).fetchall()
    return db


class Filled:
    """Times INSERT ... SELECT into an empty table."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "db")
        self.db = connect_wal(self.path)
        self.db.execute("CREATE TABLE source(k TEXT)")
        fill(self.db, "source", KEYS)
        self.log = {}

    def run(self, name):
        self.db.execute("DROP TABLE IF EXISTS x")
        self.db.execute(CREATE[name])
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        begin = time.perf_counter()
        self.db.execute(f"INSERT INTO x({column(name)}) SELECT k FROM source")
        took = time.perf_counter() - begin
        self.log[name] = os.path.getsize(self.path + "-wal")
        return took

    def pages_of(self, create, insert):
        self.db.execute("DROP TABLE IF EXISTS x")
        before = self.used_pages()
        self.db.execute(create)
        self.db.execute(insert)
        return self.used_pages() - before

    def used_pages(self):
        used = self.db.execute("SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count").fetchone()
        return used[0]


def filling(folder):
    filled = Filled(folder)
    measured = interleaved({name: lambda name=name: filled.run(name) for name in CREATE}, ROUNDS)
    report = Report("INSERT ... SELECT into an empty table, file")
    report.compare(measured, KEYS, "bloom", "heap", 0.6)
    report.compare(measured, KEYS, "bloom", "PRIMARY KEY", 0.1, "PRIMARY KEY, random order")
    report.compare(measured, KEYS, "bloom table that grows", "heap")
    report.line("bloom: bytes written to the WAL", "heap", filled.log["bloom"] / filled.log["heap"])
    bloom = filled.pages_of(CREATE["bloom"], "INSERT INTO x(key) SELECT k FROM source")
    without_rowid = "CREATE TABLE x(k TEXT PRIMARY KEY) WITHOUT ROWID"
    for order in ("", " ORDER BY k"):
        other = filled.pages_of(without_rowid, "INSERT INTO x SELECT k FROM source" + order)
        report.line("bloom: pages", f"PRIMARY KEY WITHOUT ROWID, {'in order' if order else 'random order'}", bloom / other, 1 / 30)
    filled.db.close()


def singles(folder):
    """Measures transactions of one INSERT each."""
    path = os.path.join(folder, "db")
    db = connect_wal(path)
    db.execute(CREATE["bloom"].replace("x", "f", 1))
    db.execute("INSERT INTO f(key) SELECT k FROM source")
    db.execute("CREATE TABLE pk(k TEXT PRIMARY KEY)")
    db.execute("INSERT INTO pk SELECT k FROM source")
    log = {}
    part = iter(range(10**6))

    def insert(table):
        def run():
            first = next(part) * SINGLES
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            begin = time.perf_counter()
            for i in range(first, first + SINGLES):
                db.execute(f"INSERT INTO {table} VALUES (?)", (f"https://example.com/new/{i * 7919 % 16777213:07x}",))
            took = time.perf_counter() - begin
            log[table] = os.path.getsize(path + "-wal")
            return took

        return run

    def compare(name, table, other, rounds=ROUNDS):
        measured = interleaved({"PRIMARY KEY": insert(other), name: insert(table)}, rounds)
        report.compare(measured, SINGLES, name, "PRIMARY KEY", 1)
        report.line(name + ": bytes written to the WAL", "PRIMARY KEY", log[table] / log[other], 1)

    report = Report("Transactions of one INSERT, file")
    compare("into full tables", "f(key)", "pk")
    db.execute(CREATE["bloom"].replace("x", "empty", 1))
    db.execute("CREATE TABLE empty_pk(k TEXT PRIMARY KEY)")
    compare("the first 1,000 into empty ones", "empty(key)", "empty_pk", rounds=1)
    db.close()


def long_transaction(folder):
    """Measures single INSERTs in one explicit transaction. Each writes its page, because its statement ends."""
    db = connect_wal(os.path.join(folder, "db"))
    db.execute("CREATE TABLE heap(k TEXT)")
    part = iter(range(10**6))

    def insert(table):
        def run():
            first = next(part) * SINGLES * 10
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            begin = time.perf_counter()
            db.execute("BEGIN")
            for i in range(first, first + SINGLES * 10):
                db.execute(f"INSERT INTO {table} VALUES (?)", (f"https://example.com/long/{i * 7919 % 16777213:07x}",))
            db.execute("COMMIT")
            return time.perf_counter() - begin

        return run

    measured = interleaved({"heap": insert("heap"), "PRIMARY KEY": insert("pk"), "bloom": insert("f(key)")}, ROUNDS)
    report = Report("Single INSERTs in one long transaction, file")
    report.compare(measured, SINGLES * 10, "bloom", "heap")
    report.compare(measured, SINGLES * 10, "bloom", "PRIMARY KEY", 1)
    db.close()


def main():
    with tempfile.TemporaryDirectory() as folder:
        joins()
        filling(folder)
        singles(folder)
        long_transaction(folder)


if __name__ == "__main__":
    main()
