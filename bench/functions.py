"""The SQL functions against those that do nothing, and against count(k).

    /usr/bin/python3 bench/functions.py EXTENSION [KEYS [ROUNDS]]    # 1000000 9

In memory; KEYS texts of 31 bytes. noop(...) is of bench/noop.cc.
"""

import sys

from support import Report, connect, fill, interleaved, noop_beside

EXTENSION = sys.argv[1]
KEYS = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 9


def scan(db, condition, *arguments):
    return lambda: db.execute(f"SELECT count(*) FROM t WHERE {condition}", arguments).fetchall() and None


def aggregate(db, expression):
    return lambda: db.execute(f"SELECT {expression} FROM t").fetchall() and None


def asking(db):
    f = db.execute("SELECT bloom_build(k, ?) FROM t", (KEYS,)).fetchone()[0]
    other = db.execute("SELECT bloom_build(k || 'x', ?) FROM t", (KEYS,)).fetchone()[0]
    line = db.execute("SELECT bloom_create_sized(9625600, 6, 'standard', 512)").fetchone()[0]
    line = db.execute("SELECT bloom_union(?, bloom_create_sized(9625600, 6, 'standard', 512))", (line,)).fetchone()[0]
    db.execute("CREATE VIRTUAL TABLE l USING bloom(capacity=1000000, block=512)")
    db.execute("INSERT INTO l(key) SELECT k FROM t")
    line = db.execute("SELECT filter FROM l").fetchone()[0]
    db.execute("CREATE TABLE f(id INTEGER PRIMARY KEY, b BLOB)")
    db.execute("INSERT INTO f VALUES (1, bloom_create(800)), (2, ?), (3, zeroblob(0))", (f,))
    db.execute("UPDATE f SET b = bloom_create(80000000) WHERE id = 3")
    ways = {"noop(?1, k)": scan(db, "noop(?1, k)", f)}
    ways["bloom_contains(?1, k), all there"] = scan(db, "bloom_contains(?1, k)", f)
    ways["bloom_contains(?1, k), none there"] = scan(db, "bloom_contains(?1, k)", other)
    ways["block=512, all there"] = scan(db, "bloom_contains(?1, k)", line)
    names = {1: "1 KB", 2: "1.25 MB", 3: "100 MB"}
    for i, size in names.items():
        bound = db.execute("SELECT b FROM f WHERE id = ?", (i,)).fetchone()[0]
        ways[f"?1, {size}"] = scan(db, "bloom_contains(?1, k)", bound)
        ways[f"bloom_open(), {size}"] = scan(db, f"bloom_contains((SELECT bloom_open(b) FROM f WHERE id = {i}), k)")
    measured = interleaved(ways, ROUNDS)
    report = Report("Asking")
    for name in list(ways)[1:4]:
        report.compare(measured, KEYS, name, "noop(?1, k)", 1.5)
    for size in names.values():
        report.compare(measured, KEYS, f"bloom_open(), {size}", f"?1, {size}", 1.15)
    db.execute("DROP TABLE f")


def building(db):
    ways = {"count(k)": aggregate(db, "count(k)"), "count(DISTINCT k)": aggregate(db, "count(DISTINCT k)")}
    goals = {1: 1.3, 10: 1.6, 100: 3.3}
    for times in goals:
        ways[f"bloom_build(k, {KEYS * times})"] = aggregate(db, f"bloom_build(k, {KEYS * times})")
    ways["bloom_build(k)"] = aggregate(db, "bloom_build(k)")
    measured = interleaved(ways, ROUNDS)
    report = Report("Building")
    for times, goal in goals.items():
        report.compare(measured, KEYS, f"bloom_build(k, {KEYS * times})", "count(k)", goal)
    report.compare(measured, KEYS, "bloom_build(k)", "count(k)", 3)
    report.compare(measured, KEYS, "bloom_build(k)", "count(DISTINCT k)", 0.6)


def whole_filters(db):
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
    report = Report(f"Whole filters of {mib:.0f} MiB")
    for name in list(ways)[1:]:
        report.compare(measured, len(f), name, "copy(?1)", 1.5)


def main():
    db = connect(":memory:", EXTENSION, noop_beside(EXTENSION))
    db.execute("CREATE TABLE t(k TEXT)")
    fill(db, "t", KEYS)
    asking(db)
    building(db)
    whole_filters(db)


if __name__ == "__main__":
    main()
