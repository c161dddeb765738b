"""Rows of a table by parts of a text, by words and by values: bloom_search against a scan, FTS5 and b-trees.

    /usr/bin/python3 bench/search.py EXTENSION [ROWS [FTS_ROWS]]    # 2000000 300000

The data comes from this machine: `log` has ROWS lines like those of a syslog, with real paths, lines of documents and headers, and a
random id of 16 digits in each row. `ev` has ROWS / 2 events with six searched columns, two of them JSON paths. FTS5 gets the first
FTS_ROWS rows of `log`, and a search table of the same rows beside it. Times are processor times, medians of interleaved rounds; "times
faster" is in comparison with LIKE or = on the table itself, and higher is better. The file is in the cache.
"""

import os
import random
import sqlite3
import statistics
import sys
import tempfile
import time

EXTENSION = os.path.abspath(sys.argv[1])
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 2_000_000
FTS_ROWS = int(sys.argv[3]) if len(sys.argv) > 3 else 300_000
ROUNDS = 3
NEEDLES = 8
PROGRAMS = ("sshd", "systemd", "cron", "kernel", "nginx", "postgres", "dockerd", "postfix")


def texts():
    """Real paths and lines."""
    paths, lines = [], []
    for folder, _, files in os.walk("/usr"):
        paths += [os.path.join(folder, file) for file in files]
        if len(lines) < 400_000 and ("include" in folder or "doc" in folder or "python3" in folder):
            for file in files:
                try:
                    with open(os.path.join(folder, file), encoding="utf-8") as text:
                        lines += [line.strip()[:120] for line in text if len(line) > 20]
                except (OSError, UnicodeDecodeError):
                    pass
        if len(paths) > 300_000:
            break
    return paths, lines or ["a line"]


def seconds(run):
    begin = time.process_time()
    run()
    return time.process_time() - begin


def median(run, rounds=ROUNDS):
    return statistics.median(seconds(run) for _ in range(rounds))


def one(db, sql, *arguments):
    return db.execute(sql, arguments).fetchone()[0]


def used_bytes(db):
    db.execute("PRAGMA wal_checkpoint")
    return (one(db, "PRAGMA page_count") - one(db, "PRAGMA freelist_count")) * one(db, "PRAGMA page_size")


def connect(path):
    db = sqlite3.connect(path, isolation_level=None)
    db.enable_load_extension(True)
    db.load_extension(EXTENSION)
    db.execute("PRAGMA synchronous = OFF")
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA cache_size = -4000000")
    return db


def build(db, sql):
    """Returns the seconds and the bytes."""
    before = used_bytes(db)
    taken = seconds(lambda: db.execute(sql))
    return taken, used_bytes(db) - before


def make_log(db, rows):
    paths, lines = texts()
    pick = random.Random(1)
    db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, time INTEGER, msg TEXT)")
    db.execute("BEGIN")
    db.executemany(
        "INSERT INTO log(time, msg) VALUES (?, ?)",
        (
            (
                1_700_000_000 + i // 10,
                f"{pick.choice(PROGRAMS)}[{pick.randrange(30000)}]: {pick.choice(paths)} {pick.choice(lines)[:60]} req={pick.getrandbits(64):016x}",
            )
            for i in range(rows)
        ),
    )
    db.execute("COMMIT")
    return paths, lines


def make_events(db, rows):
    pick = random.Random(2)
    db.execute("CREATE TABLE ev(id INTEGER PRIMARY KEY, user TEXT, session TEXT, path TEXT, ip TEXT, payload TEXT)")
    db.execute("BEGIN")
    db.executemany(
        "INSERT INTO ev(user, session, path, ip, payload) VALUES (?, ?, ?, ?, ?)",
        (
            (
                f"u{int(pick.paretovariate(0.7)) % 10000}",
                f"s{i // 20 + pick.randrange(50):x}",
                f"/shop/item/{pick.randrange(50000)}",
                f"10.{pick.randrange(256)}.{pick.randrange(256)}.{pick.randrange(256)}",
                f'{{"order": {pick.randrange(10**9)}, "trace": "{pick.getrandbits(128):032x}", "ok": true}}',
            )
            for i in range(rows)
        ),
    )
    db.execute("COMMIT")


def times_faster(db, table, search, condition, needles, check=True):
    """Prints the ratio of scan and search: median (worst)."""
    ratios = []
    for needle in needles:
        fast, slow = [], []
        arguments = needle if isinstance(needle, tuple) else (needle,)
        found = [db.execute(f"SELECT id FROM {name} WHERE {condition} ORDER BY id", arguments).fetchall() for name in (table, search)]
        assert not check or found[0] == found[1], (condition, needle)
        for _ in range(ROUNDS):
            slow.append(seconds(lambda: db.execute(f"SELECT * FROM {table} WHERE {condition}", arguments).fetchall()))
            begin = time.process_time()
            repeats = 0
            while repeats < 3 or time.process_time() - begin < 0.01:
                db.execute(f"SELECT * FROM {search} WHERE {condition}", arguments).fetchall()
                repeats += 1
            fast.append((time.process_time() - begin) / repeats)
        ratios.append(statistics.median(slow) / statistics.median(fast))
    return f"{statistics.median(ratios):8,.1f} ({min(ratios):,.1f})"


def log_needles(db, rows, paths, lines):
    pick = random.Random(3)

    def message():
        return one(db, "SELECT msg FROM log WHERE id = ?", pick.randrange(1, rows + 1))

    words = sorted({word for line in lines[:50000] for word in line.split() if word.isalpha() and len(word) > 5})
    return {
        "absent id": [f"%{pick.getrandbits(64):016x}%" for _ in range(NEEDLES)],
        "id of one row": [f"%{message()[-16:]}%" for _ in range(NEEDLES)],
        "8 digits of an id": [f"%{message()[-13:-5]}%" for _ in range(NEEDLES)],
        "absent word": [f"%{pick.choice(words)[:5]}{''.join(pick.choice('bcdfgkmpvwxz') for _ in range(3))}%" for _ in range(NEEDLES)],
        "absent phrase of two words": [f"%{pick.choice(words)} {pick.choice(words)}%" for _ in range(NEEDLES)],
        "path": [f"%{pick.choice(paths)} %" for _ in range(NEEDLES)],
        "word": [f"%{pick.choice(words)}%" for _ in range(NEEDLES)],
        "3 characters (a scan)": ["%req%", "%xyz%"],
    }


def print_writes(path, rows):
    """Prints the time of statements on a table that has a search table, divided by the time on one that has none."""
    options = {"columns": "like=(msg), words=(msg), equal=(user)", "an expression": "like=(msg), equal=(user, substr(msg, 1, 16) AS request)"}
    lines = [(f"u{i % 999}", f"{i * 7919 % 1000003:016x} GET /item/{i} done after {i % 300} ms, a line of a log of the usual length") for i in range(rows)]
    tables = {}
    for name in ("none", *options):
        db = tables[name] = connect(f"{path}.{name}")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, user TEXT, msg TEXT, n INTEGER)")
        db.execute("CREATE TEMP TABLE lines(user, msg)")
        db.executemany("INSERT INTO lines VALUES (?, ?)", lines)
        db.execute("INSERT INTO log(user, msg, n) SELECT user, msg, 0 FROM lines")
        if name in options:
            db.execute(f"CREATE VIRTUAL TABLE f USING bloom_search(source=log, {options[name]})")

    def in_transaction(db, run):
        db.execute("BEGIN")
        run()
        db.execute("COMMIT")

    insert = "INSERT INTO log(user, msg) VALUES (?, ?)"
    statements = {
        "INSERT and commit, per row": lambda db: [db.execute(insert, line) for line in lines[:1000]],
        "INSERT of many rows, executemany()": lambda db: in_transaction(db, lambda: db.executemany(insert, lines)),
        "INSERT ... SELECT": lambda db: db.execute("INSERT INTO log(user, msg) SELECT user, msg FROM lines"),
        "UPDATE of another column": lambda db: db.execute("UPDATE log SET n = n + 1 WHERE id <= ?", (rows,)),
    }
    for statement, run in statements.items():
        ratios = {name: [] for name in options}
        for _ in range(ROUNDS + 2):
            taken = {name: seconds(lambda: run(db)) for name, db in tables.items()}
            for name in options:
                ratios[name].append(taken[name] / taken["none"])
        print(f"  {statement:36}" + ", ".join(f"{name}: {statistics.median(ratios[name]):.2f} times" for name in options))


def main():
    folder = tempfile.TemporaryDirectory()
    db = connect(os.path.join(folder.name, "log"))
    paths, lines = make_log(db, ROWS)
    table = used_bytes(db)
    print(f"log: {ROWS:,} rows, {table / 1e6:,.0f} MB; {len(paths):,} paths, {len(lines):,} lines; SQLite {sqlite3.sqlite_version}")
    for name, option in (("log_like", "like=(msg)"), ("log_words", "words=(msg)")):
        taken, size = build(db, f"CREATE VIRTUAL TABLE {name} USING bloom_search(source=log, {option})")
        print(f"{option}: {taken:.2f} s, {size / table:.1%} of the table, {one(db, f'SELECT ranges FROM {name} LIMIT 1')} ranges")
    for optimized in (False, True):
        if optimized:
            print(f"'optimize': {seconds(lambda: db.execute(chr(73) + 'NSERT INTO log_like(log_like) VALUES (' + repr('optimize') + ')')):.2f} s")
        for name, needles in log_needles(db, ROWS, paths, lines).items():
            print(f"  LIKE {name:28}{times_faster(db, 'log', 'log_like', 'msg LIKE ?', needles)} times faster")
    scan = median(lambda: db.execute("SELECT count(*) FROM log WHERE msg LIKE '%req=f0%'").fetchall())
    through = median(lambda: db.execute("SELECT count(*) FROM log_like WHERE msg LIKE '%req=f0%'").fetchall())
    print(f"  a needle in 0.4 % of the rows of every range: {through / scan:.2f} times the scan")
    for sql in ("SELECT count(*) FROM {}", "SELECT * FROM {}"):
        scan = median(lambda: [None for _ in db.execute(sql.format("log"))])
        through = median(lambda: [None for _ in db.execute(sql.format("log_like"))])
        print(f"  {sql.format('log_like')}: {through / scan:.2f} times the table")
    rows = ROWS // 100
    taken = seconds(lambda: db.execute("INSERT INTO log(time, msg) SELECT time, msg FROM log LIMIT ?", (rows,)))
    for name in ("log_like", "log_words"):
        print(f"  'summarize' of 1 % new rows, {name}: {seconds(lambda: db.execute(f'INSERT INTO {name}({name}) VALUES (?)', ('summarize',))):.2f} s")

    print("writes to the table, compared with a table without a search table:")
    print_writes(os.path.join(folder.name, "writes"), max(ROWS // 40, 1000))

    small = connect(os.path.join(folder.name, "small"))
    small.execute("ATTACH ? AS big", (os.path.join(folder.name, "log"),))
    small.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, time INTEGER, msg TEXT)")
    small.execute("INSERT INTO log SELECT * FROM big.log LIMIT ?", (FTS_ROWS,))
    small.execute("DETACH big")
    table = used_bytes(small)
    print(f"log: {FTS_ROWS:,} rows, {table / 1e6:,.0f} MB")
    for name, sql in {
        "bloom_search like": "CREATE VIRTUAL TABLE log_like USING bloom_search(source=log, like=(msg))",
        "bloom_search words": "CREATE VIRTUAL TABLE log_words USING bloom_search(source=log, words=(msg))",
        "fts5 trigram none": "CREATE VIRTUAL TABLE tri USING fts5(msg, content=log, content_rowid=id, tokenize=trigram, detail=none)",
        "fts5 words none": "CREATE VIRTUAL TABLE fts USING fts5(msg, content=log, content_rowid=id, detail=none)",
    }.items():
        taken, size = build(small, sql)
        if "fts5" in name:
            index = sql.split()[3]
            before = used_bytes(small)
            taken += seconds(lambda: small.execute(f"INSERT INTO {index}({index}) VALUES ('rebuild')"))
            size += used_bytes(small) - before
        print(f"  {name}: {taken:.2f} s, {size / table:.1%} of the table")

    events = connect(os.path.join(folder.name, "ev"))
    make_events(events, ROWS // 2)
    table = used_bytes(events)
    print(f"ev: {ROWS // 2:,} rows, {table / 1e6:,.0f} MB")
    options = "equal=(user, session, path, ip, payload->>'$.order' AS ord, payload->>'$.trace' AS trace)"
    taken, size = build(events, f"CREATE VIRTUAL TABLE ev_search USING bloom_search(source=ev, {options})")
    print(f"  bloom_search, six columns: {taken:.2f} s, {size / table:.1%} of the table")
    pick = random.Random(4)
    sample = [events.execute("SELECT user, session, path, payload->>'$.trace' FROM ev WHERE id = ?", (pick.randrange(1, ROWS // 2),)).fetchone() for _ in range(NEEDLES)]
    events.execute("CREATE VIEW e AS SELECT *, payload->>'$.trace' AS trace FROM ev")
    for name, condition, needles in (
        ("one trace", "trace = ?", [row[3] for row in sample]),
        ("absent user", "user = ?", ["nobody", "u-1"]),
        ("user and path", "user = ? AND path = ?", [(row[0], row[2]) for row in sample]),
        ("session and path", "session = ? AND path = ?", [(row[1], row[2]) for row in sample]),
        ("session", "session = ?", [row[1] for row in sample]),
    ):
        print(f"  {name:20}{times_faster(events, 'e', 'ev_search', condition, needles)} times faster")
    trees = [f"CREATE INDEX i{i} ON ev({sql})" for i, sql in enumerate(("user", "session", "path", "ip", "payload->>'$.order'", "payload->>'$.trace'"))]
    built = [build(events, sql) for sql in trees]
    print(f"  six b-trees: {sum(t for t, _ in built):.2f} s, {sum(b for _, b in built) / table:.0%} of the table")


main()
