"""The SQL functions, compared with functions that do nothing and with count(k).

    /usr/bin/python3 bench/functions.py EXTENSION [KEYS [ROUNDS]]    # 1000000 9

In memory; KEYS strings of 31 bytes. noop(...), hash_key(...) and hash_keys(...) are functions of bench/noop.cc. Ratios are times
divided by that of the baseline; lower is better.
"""

import sys

from support import Report, connect, fill, interleaved, noop_beside

EXTENSION = sys.argv[1]
KEYS = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 9


def scan(db, condition, *arguments):
    """Counts the rows that meet the condition. Each filter size has a statement of its own: Python keeps bound values in its cached
    statements, and freeing 100 MB takes time."""
    sql = f"SELECT count(*) FROM t WHERE {condition} -- {[len(argument) for argument in arguments]}"
    return lambda: db.execute(sql, arguments).fetchall() and None


def aggregate(db, expression):
    """Runs an aggregate. IS NULL, because SQLite would copy the filter itself once more."""
    return lambda: db.execute(f"SELECT {expression} IS NULL FROM t").fetchall() and None


def one(db, sql, *arguments):
    return db.execute(sql, arguments).fetchone()[0]


def lookups(db):
    f = one(db, "SELECT bloom_build(k, ?) FROM t", KEYS)
    other = one(db, "SELECT bloom_build(k || 'x', ?) FROM t", KEYS)
    db.execute(f"CREATE VIRTUAL TABLE block512 USING bloom(capacity={KEYS}, block=512)")
    db.execute("INSERT INTO block512(key) SELECT k FROM t")
    block512 = one(db, "SELECT filter FROM block512")
    small = one(db, "SELECT bloom_build(k, ?) FROM (SELECT k FROM t LIMIT ?)", KEYS // 10, KEYS // 10)
    sizes = {"1 KB": bytes(one(db, "SELECT bloom_create(800)")), "1.25 MB": f, "100 MB": one(db, "SELECT bloom_create(80000000)")}
    db.execute("CREATE TABLE f(size TEXT PRIMARY KEY, b BLOB)")
    db.executemany("INSERT INTO f VALUES (?, ?)", sizes.items())
    ways = {
        "noop(?1, k)": scan(db, "noop(?1, k)", f),
        "hash_key(?1, k)": scan(db, "hash_key(?1, k)", f),
        "bloom_contains(?1, k), 1.25 MB, all present": scan(db, "bloom_contains(?1, k)", f),
        "bloom_contains(?1, k), 1.25 MB, none present": scan(db, "bloom_contains(?1, k)", other),
        "bloom_contains(?1, k), 1.25 MB, block=512, all present": scan(db, "bloom_contains(?1, k)", block512),
        "bloom_contains(?1, k), 0.12 MB, 10 % present": scan(db, "bloom_contains(?1, k)", small),
    }
    for size, blob in sizes.items():
        ways[f"?1, {size}"] = scan(db, "bloom_contains(?1, k)", blob)
        ways[f"bloom_open(), {size}"] = scan(db, f"bloom_contains((SELECT bloom_open(b) FROM f WHERE size = '{size}'), k)")
        ways[f"noop, {size}"] = scan(db, f"noop((SELECT bloom_open(b) FROM f WHERE size = '{size}'), k)")
    measured = interleaved(ways, ROUNDS)
    report = Report("Lookups in a blob")
    report.compare(measured, KEYS, "hash_key(?1, k)", "noop(?1, k)", against="noop(?1, k); reads and hashes only")
    for name in list(ways)[2:6]:
        report.compare(measured, KEYS, name, "noop(?1, k)", 1.5)
    for size in sizes:
        report.compare(measured, KEYS, f"bloom_open(), {size}", f"?1, {size}", 1.15)
    report.compare(measured, KEYS, "noop, 1.25 MB", "noop(?1, k)", against="noop(?1, k); overhead of the subquery in SQLite")
    db.execute("DROP TABLE f")
    db.execute("DROP TABLE block512")


def builds(db):
    ways = {expression: aggregate(db, expression) for expression in ("count(k)", "hash_keys(k)")}
    goals = {1: 1.3, 10: 1.6, 100: 3.3}
    for times in goals:
        ways[f"bloom_build(k, {KEYS * times})"] = aggregate(db, f"bloom_build(k, {KEYS * times})")
    ways["bloom_build(k)"] = aggregate(db, "bloom_build(k)")
    measured = interleaved(ways, ROUNDS)
    report = Report("Building a filter")
    report.compare(measured, KEYS, "hash_keys(k)", "count(k)", against="count(k); reads and hashes only")
    for times, goal in goals.items():
        report.compare(measured, KEYS, f"bloom_build(k, {KEYS * times})", "count(k)", goal)
    report.compare(measured, KEYS, "bloom_build(k)", "count(k)", 3)
    ways = {way: aggregate(db, way) for way in ("bloom_build(k)", "count(DISTINCT k)")}
    report.compare(interleaved(ways, 3), KEYS, "bloom_build(k)", "count(DISTINCT k)", 0.6)


def full_filters(db):
    size = 83_000_000
    f, g = (db.execute("SELECT bloom_add(bloom_create(?), ?)", (size, i)).fetchone()[0] for i in range(2))
    mib = len(f) / 2**20

    def one(expression, *arguments):
        return lambda: db.execute(f"SELECT {expression}", arguments).fetchall() and None

    ways = {
        "copy(?1)": one("length(copy(?1))", f),
        "bloom_union(?1, ?2)": one("length(bloom_union(?1, ?2))", f, g),
        "bloom_halve(?1)": one("length(bloom_halve(?1))", f),
        "bloom_count(?1)": one("bloom_count(?1)", f),
    }
    measured = interleaved(ways, ROUNDS)
    report = Report(f"Full filters of {mib:.0f} MiB")
    for name in list(ways)[1:]:
        report.compare(measured, len(f), name, "copy(?1)", 1.5)


def main():
    db = connect(":memory:", EXTENSION, noop_beside(EXTENSION))
    db.execute("CREATE TABLE t(k TEXT)")
    fill(db, "t", KEYS)
    lookups(db)
    builds(db)
    full_filters(db)


if __name__ == "__main__":
    main()
