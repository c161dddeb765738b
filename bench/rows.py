"""Everyday writes and lookups: one prepared statement per row, as executemany, .import and ORMs run it.

    /usr/bin/python3 bench/rows.py EXTENSION [ROWS [ROUNDS [PART...]]]    # 200000 3 inserts lookups fresh followed

Times are process times. A file in WAL mode with synchronous=NORMAL and the default page cache of 2 MB. Each part compares with an
ordinary table that gets the same rows, in one run. The floor is a virtual table of bench/appended.cc: it has as many columns, and only
appends a row.
"""

import os
import sys
import tempfile
import time

from support import Report, connect, interleaved, noop_beside

EXTENSION = sys.argv[1]
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 200_000
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 3
PARTS = sys.argv[4:] or ["inserts", "lookups", "fresh", "followed"]
SMALL = 20_000  # rows of the slower parts
counter = iter(range(10**9))


def connect_wal(path, *more):
    db = connect(path, EXTENSION, *more)
    for sql in ("journal_mode = wal", "synchronous = normal", "wal_autocheckpoint = 0"):
        db.execute("PRAGMA " + sql).fetchall()
    return db


def keys(count):
    """Returns `count` new keys of 31 bytes in random order."""
    part = next(counter)
    return [(f"https://example.com/{part:04}/{i * 7919 % 16777213:06x}",) for i in range(count)]


def timed(run):
    begin = time.process_time()
    run()
    return time.process_time() - begin


def in_transaction(db, run):
    db.execute("BEGIN")
    run()
    db.execute("COMMIT")


def inserts(folder):
    path = os.path.join(folder, "db")
    db = connect_wal(path, noop_beside(EXTENSION))
    tables = {
        "heap": "CREATE TABLE heap(k TEXT)",
        "heap2": "CREATE TABLE heap2(m INTEGER, k TEXT)",
        "PRIMARY KEY": "CREATE TABLE pk(k TEXT PRIMARY KEY)",
        "small": "CREATE VIRTUAL TABLE small USING bloom(capacity=1000000)",
        "growing": "CREATE VIRTUAL TABLE growing USING bloom",
        "generations": "CREATE VIRTUAL TABLE generations USING bloom(capacity=1000000, generations=4)",
        "large": "CREATE VIRTUAL TABLE large USING bloom(capacity=10000000)",
        "counting": "CREATE VIRTUAL TABLE counting USING bloom(capacity=1000000, kind=counting)",
        "groups": "CREATE VIRTUAL TABLE groups USING bloom_groups(capacity=10000)",
        "floor": "CREATE VIRTUAL TABLE floor USING appended(16)",
        "floor of groups": "CREATE VIRTUAL TABLE floor_of_groups USING appended(11)",
    }
    for sql in tables.values():
        db.execute(sql)
    wal = {}

    def many(sql, name, rows):
        def run():
            data = rows()
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            took = timed(lambda: in_transaction(db, lambda: db.executemany(sql, data)))
            wal[name] = os.path.getsize(path + "-wal")
            return took

        return run

    def members(interleave):
        def rows():
            return [((i % 50 if interleave else i * 50 // SMALL), key) for i, (key,) in enumerate(keys(SMALL))]

        return rows

    def bulk(table):
        def run():
            db.execute("CREATE TEMP TABLE source(k)")
            db.executemany("INSERT INTO source VALUES (?)", keys(ROWS))
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            took = timed(lambda: in_transaction(db, lambda: db.execute(f"INSERT INTO {table} SELECT k FROM source")))
            wal["bulk " + table] = os.path.getsize(path + "-wal")
            db.execute("DROP TABLE source")
            return took

        return run

    def bulk_members(interleave):
        def run():
            db.execute("CREATE TEMP TABLE source(m, k)")
            db.executemany("INSERT INTO source VALUES (?, ?)", members(interleave)())
            took = timed(lambda: in_transaction(db, lambda: db.execute("INSERT INTO groups(member, key) SELECT m, k FROM source")))
            db.execute("DROP TABLE source")
            return took

        return run

    def savepoints(table, statements=0):
        """`statements`: others that the connection has prepared. SQLite's calls do not say whose savepoint it is, so all are looked at."""

        def run():
            other = connect(path, EXTENSION, noop_beside(EXTENSION))
            data = keys(SMALL)
            for i in range(statements):
                other.execute(f"SELECT {i}").fetchall()

            def rows():
                for row in data:
                    other.execute("SAVEPOINT s")
                    other.execute(f"INSERT INTO {table} VALUES (?)", row)
                    other.execute("RELEASE s")

            other.execute(f"INSERT INTO {table} VALUES ('first')")
            took = timed(lambda: in_transaction(other, rows))
            other.close()
            return took

        return run

    def autocommit(table):
        def run():
            data = keys(2000)
            return timed(lambda: db.executemany(f"INSERT INTO {table} VALUES (?)", data))

        return run

    def found(sql, data):
        def run():
            for row in data:
                db.execute(sql, row).fetchone()

        return run

    def in_turn(table):
        def run():
            data = keys(SMALL)

            def rows():
                for row in data:
                    db.execute(f"SELECT 1 FROM {table} WHERE key = ?", row).fetchone()
                    db.execute(f"INSERT INTO {table}(key) VALUES (?)", row)

            return timed(lambda: in_transaction(db, rows))

        return run

    def each(table, sql):
        def run():
            data = keys(SMALL)

            def rows():
                for row in data:
                    db.execute(sql.format(table), row).fetchone()

            return timed(lambda: in_transaction(db, rows))

        return run

    few = lambda: keys(ROWS)
    for table in ("small(key)", "growing(key)", "generations(key)", "large(key)", "counting(key)"):
        bulk(table)()
    ways = {
        "heap": many("INSERT INTO heap VALUES (?)", "heap", few),
        "PRIMARY KEY": many("INSERT INTO pk VALUES (?)", "pk", few),
        "heap by member": many("INSERT INTO heap2 VALUES (?, ?)", "heap2", members(False)),
        "groups by member": many("INSERT INTO groups(member, key) VALUES (?, ?)", "groups", members(False)),
        "groups interleaved": many("INSERT INTO groups(member, key) VALUES (?, ?)", "groups", members(True)),
        "heap, savepoints": savepoints("heap"),
        "small, savepoints": savepoints("small(key)"),
        "floor, savepoints": savepoints("floor(key)"),
        "heap, savepoints, 100 statements": savepoints("heap", 100),
        "small, savepoints, 100 statements": savepoints("small(key)", 100),
        "floor": many("INSERT INTO floor(key) VALUES (?)", "floor", few),
        "floor of groups": many("INSERT INTO floor_of_groups(key) VALUES (?)", "floor of groups", few),
        "insert": each("small", "INSERT INTO {}(key) VALUES (?)"),
        "lookup": each("small", "SELECT 1 FROM {} WHERE key = ?"),
        "in turn": in_turn("small"),
        "autocommit": autocommit("small(key)"),
        "PRIMARY KEY, autocommit": autocommit("pk"),
        "bulk heap": bulk("heap"),
        "bulk groups by member": bulk_members(False),
        "bulk groups interleaved": bulk_members(True),
    }
    for table in ("small", "growing", "generations", "large", "counting"):
        ways["bulk " + table] = bulk(f"{table}(key)")
        ways[table] = many(f"INSERT INTO {table}(key) VALUES (?)", table, few)
    ways["OR IGNORE"] = many("INSERT OR IGNORE INTO small(key) VALUES (?)", "ignore", few)
    measured = interleaved(ways, ROUNDS)
    report = Report("Single rows in one transaction")
    report.compare(measured, ROWS, "PRIMARY KEY", "heap")
    report.compare(measured, ROWS, "floor", "heap")
    for name, goal in (("small", 1.7), ("growing", 1.7), ("generations", 1.7), ("OR IGNORE", 1.7), ("large", 2), ("counting", 2)):
        report.compare(measured, ROWS, name, "heap", goal)
    for name in ("groups by member", "groups interleaved"):
        report.compare(measured, SMALL, name, "heap by member", 2.2)
    # Each row is appended, and its key then written to its chunk, at best as fast as by one statement.
    for name in ("small", "growing", "generations", "large", "counting", "groups by member", "groups interleaved"):
        rows = SMALL if name.startswith("groups") else ROWS
        floor = "floor of groups" if name.startswith("groups") else "floor"
        least = [a * rows / ROWS + b for a, b in zip(measured[floor], measured["bulk " + name])]
        report.compare({**measured, "floor and bulk": least}, rows, name, "floor and bulk", 1.1)
    report.compare(measured, SMALL, "floor, savepoints", "heap, savepoints")
    report.compare(measured, SMALL, "small, savepoints", "heap, savepoints", 1.3)
    report.compare(measured, SMALL, "small, savepoints, 100 statements", "heap, savepoints, 100 statements", 1.3)
    both = [a + b for a, b in zip(measured["insert"], measured["lookup"])]
    report.compare({**measured, "both": both}, SMALL, "in turn", "both", 1.3, "lookups and inserts alone")
    report.compare(measured, 2000, "autocommit", "PRIMARY KEY, autocommit", 1.09)
    report.compare(measured, ROWS, "bulk small", "bulk heap", 0.54)
    report.line("small: bytes in the WAL", "bulk", wal["small"] / wal["bulk small(key)"], 1.3)
    db.close()


def lookups(folder):
    """Lookups beside writes to another table."""
    path = os.path.join(folder, "db")
    db = connect_wal(path)
    count = 5 * ROWS
    data = keys(count)
    db.execute("CREATE TABLE pk(k TEXT PRIMARY KEY) WITHOUT ROWID")
    db.execute("CREATE TABLE source(k TEXT)")
    db.execute(f"CREATE VIRTUAL TABLE f USING bloom(capacity={count})")
    db.execute("CREATE TABLE other(x)")
    for sql in ("INSERT INTO pk VALUES (?)", "INSERT INTO f(key) VALUES (?)", "INSERT INTO source VALUES (?)"):
        in_transaction(db, lambda sql=sql: db.executemany(sql, data))
    db.execute("CREATE VIRTUAL TABLE followed USING bloom(source=source, column=k)")
    absent = lambda n: [(data[i * 7919 % count][0] + "x",) for i in range(n)]  # spread over the index
    looked_up = absent(5000)
    write = "INSERT INTO other VALUES (1)"

    def only(sql):
        def rows():
            for row in looked_up:
                db.execute(sql, row).fetchone()

        return rows

    def beside(sql):
        def rows():
            for row in looked_up:
                db.execute(write)
                db.execute(sql, row).fetchone()

        return rows

    def writes():
        for _ in looked_up:
            db.execute(write)

    tables = {"PRIMARY KEY": "SELECT 1 FROM pk WHERE k = ?", "bloom": "SELECT 1 FROM f WHERE key = ?",
              "following": "SELECT 1 FROM followed WHERE key = ?"}
    ways = {"transaction, write": lambda: timed(lambda: in_transaction(db, writes)), "autocommit, write": lambda: timed(writes)}
    for name, sql in tables.items():
        ways[name + ", transaction"] = lambda sql=sql: timed(lambda: in_transaction(db, beside(sql)))
        ways[name + ", autocommit"] = lambda sql=sql: timed(beside(sql))
        ways[name + ", alone"] = lambda sql=sql: timed(only(sql))
    measured = interleaved(ways, max(ROUNDS, 5))
    report = Report("Lookups beside writes to another table")
    for name in tables:
        for state in ("transaction", "autocommit"):
            measured[f"{name}, added in {state}"] = [
                a - b for a, b in zip(measured[f"{name}, {state}"], measured[f"{state}, write"])]
    for name in ("bloom", "following"):
        report.compare(measured, 5000, f"{name}, added in transaction", "PRIMARY KEY, added in transaction", 2.3)
        report.compare(measured, 5000, f"{name}, added in autocommit", "PRIMARY KEY, added in autocommit", 1.3)
        report.compare(measured, 5000, f"{name}, alone", "PRIMARY KEY, alone")

    db.execute("CREATE TABLE new(k TEXT)")
    db.execute("CREATE TEMP TABLE batch(k TEXT)")
    plain = "NOT EXISTS (SELECT 1 FROM pk WHERE k = {0})"
    filtered = "(NOT EXISTS (SELECT 1 FROM f WHERE key = {0}) OR " + plain + ")"

    def by_row(condition, batch):
        sql = "INSERT INTO new SELECT ?1 WHERE " + condition.format("?1")

        def run():
            took = 0.0
            for i in range(0, len(batch), 1000):
                took += timed(lambda: in_transaction(db, lambda: db.executemany(sql, batch[i : i + 1000])))
            db.execute("DELETE FROM new")
            return took

        return run

    def at_once(condition):
        sql = "INSERT INTO new SELECT k FROM batch WHERE " + condition.format("batch.k")

        def run():
            took = timed(lambda: in_transaction(db, lambda: (db.execute("INSERT INTO other VALUES (2)"), db.execute(sql))))
            db.execute("DELETE FROM new")
            return took

        return run

    # Keys behind all others are the worst case: the index looks all of them up in one page.
    for where, fresh_keys, goals in (("spread", absent(SMALL), (0.5, 0.3)), ("behind all", keys(SMALL), (None, None))):
        batch = [row if i % 50 else data[i % count] for i, row in enumerate(fresh_keys)]
        db.execute("DELETE FROM batch")
        db.executemany("INSERT INTO batch VALUES (?)", batch)
        ways = {"rows, plain": by_row(plain, batch), "rows": by_row(filtered, batch), "one, plain": at_once(plain), "one": at_once(filtered)}
        measured = interleaved(ways, ROUNDS)
        for name, what, goal in zip(("rows", "one"), ("row by row", "as one INSERT ... SELECT in a transaction"), goals):
            report.compare(measured, SMALL, name, f"{name}, plain", goal, f"import {what} without the filter, new keys {where}")
    db.close()


def fresh(folder):
    """The first lookup of a fresh connection."""
    path = os.path.join(folder, "db")
    db = connect_wal(path)
    data = keys(ROWS)
    db.execute("CREATE TABLE pk(k TEXT PRIMARY KEY) WITHOUT ROWID")
    db.execute("CREATE TABLE source(k TEXT)")
    db.execute(f"CREATE VIRTUAL TABLE f USING bloom(capacity={ROWS})")
    for sql in ("INSERT INTO pk VALUES (?)", "INSERT INTO f(key) VALUES (?)", "INSERT INTO source VALUES (?)"):
        in_transaction(db, lambda sql=sql: db.executemany(sql, data))
    db.execute("CREATE VIRTUAL TABLE followed USING bloom(source=source, column=k)")
    for table, column in (("pending", "k TEXT"), ("pending_index", "k TEXT UNIQUE")):
        db.execute(f"CREATE TABLE of_{table}({column})")
        db.execute(f"CREATE VIRTUAL TABLE {table} USING bloom(source=of_{table}, column=k)")
        in_transaction(db, lambda table=table: db.executemany(f"INSERT INTO of_{table} VALUES (?)", keys(50_000)))
    ways = {}

    def first(sql):
        def run():
            took = 0.0
            for row in keys(20):
                other = connect(path, EXTENSION)
                took += timed(lambda: other.execute(sql, row).fetchone())
                other.close()
            return took

        return run

    for name, sql in {"PRIMARY KEY": "SELECT 1 FROM pk WHERE k = ?", "bloom": "SELECT 1 FROM f WHERE key = ?",
                      "following": "SELECT 1 FROM followed WHERE key = ?",
                      "50,000 pending": "SELECT 1 FROM pending WHERE key = ?",
                      "50,000 pending, index": "SELECT 1 FROM pending_index WHERE key = ?"}.items():
        ways[name] = first(sql)
    measured = interleaved(ways, max(ROUNDS, 5))
    report = Report("The first lookup of a fresh connection")
    for name, goal in (("bloom", 2), ("following", 2), ("50,000 pending", 15), ("50,000 pending, index", 15)):
        report.compare(measured, 20, name, "PRIMARY KEY", goal)
    db.close()


def followed(folder):
    """Writes to a source, with and without a table that follows it.

    "logged" is the floor of a log that any program may write: a trigger that copies the key to another table, with a random
    token. Without the token it would be faster: SQLite keeps a statement journal if a trigger calls any function.
    """
    path = os.path.join(folder, "db")
    db = connect_wal(path)
    tables = ("bare", "logged", "source", "counted", "indexed")
    for table in tables:
        db.execute(f"CREATE TABLE {table}(id INTEGER PRIMARY KEY, k TEXT, n INTEGER)")
    db.execute("CREATE INDEX i ON indexed(k)")
    db.execute("CREATE TABLE log(token, k)")
    for event in ("INSERT", "UPDATE OF k"):
        db.execute(f"CREATE TRIGGER \"{event}\" BEFORE {event} ON logged BEGIN INSERT INTO log VALUES (randomblob(8), new.k); END")
    db.execute("CREATE VIRTUAL TABLE f USING bloom(source=source, column=k, capacity=2000000)")
    db.execute("CREATE VIRTUAL TABLE c USING bloom(source=counted, column=k, capacity=2000000, kind=counting)")
    count = SMALL * 5

    def on(table, run):
        def measure():
            took = run(table)
            return took

        return measure

    def executemany(table):
        data = keys(count)
        return timed(lambda: in_transaction(db, lambda: db.executemany(f"INSERT INTO {table}(k, n) VALUES (?, 1)", data)))

    def bulk(table):
        db.execute("CREATE TEMP TABLE batch(k)")
        db.executemany("INSERT INTO batch VALUES (?)", keys(count))
        took = timed(lambda: in_transaction(db, lambda: db.execute(f"INSERT INTO {table}(k, n) SELECT k, 1 FROM batch")))
        db.execute("DROP TABLE batch")
        return took

    def upsert(table):
        last = db.execute(f"SELECT max(id) FROM {table}").fetchone()[0]
        rows = [(last - count // 4 + i, key) for i, (key,) in enumerate(keys(count // 2))]
        sql = f"INSERT INTO {table} VALUES (?, ?, 1) ON CONFLICT(id) DO UPDATE SET n = n + 1"
        return timed(lambda: in_transaction(db, lambda: db.executemany(sql, rows)))

    def delete(table):
        return timed(lambda: in_transaction(db, lambda: db.execute(f"DELETE FROM {table} WHERE id % 10 = 3")))

    def delete_all(table):
        return timed(lambda: in_transaction(db, lambda: db.execute(f"DELETE FROM {table}")))

    report = Report("Writes to a followed table")
    goals = {executemany: 2, bulk: 1.8, upsert: 1.6, delete: 1.05, delete_all: 1.1}
    times = {}
    for _ in range(ROUNDS):
        for run in goals:
            for table in tables:
                times.setdefault((run, table), []).append(run(table))
    for run, goal in goals.items():
        measured = {table: times[run, table] for table in tables}
        for table in tables[1:]:
            name = f"{run.__name__}, {table}"
            report.compare({**measured, name: measured[table]}, count, name, "bare", goal if table == "source" else None)
    db.close()


def main():
    for part in PARTS:
        with tempfile.TemporaryDirectory() as folder:
            {"inserts": inserts, "lookups": lookups, "fresh": fresh, "followed": followed}[part](folder)


if __name__ == "__main__":
    main()
