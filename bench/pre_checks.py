"""What a filter in front of a lookup gains and costs: the tables of docs/worth-it.md.

    /usr/bin/python3 bench/pre_checks.py EXTENSION [ROWS [PROBES [ROUNDS [RECIPE [ORDER]]]]]

A file with ROWS rows (1,000,000) whose primary keys are strings of 31 bytes or integers (the rowid).
PROBES (200,000) keys in random order, of which 0.1 to 100 % are in the table.
Each statement runs plain, with a bloom table or blob in front, and once with SQLite's own Bloom filter (after ANALYZE,
with a condition on the inner table, as its planner requires). Prints how much faster or slower than the plain statement
each form is (medians of ROUNDS (5) interleaved runs), and the share of the plain statement's page reads that is left,
with SQLite's default cache of 2 MB. Every result is compared with that of the plain statement.
RECIPE: only those with this in their name. ORDER: url for keys in the order of the index.
"""

import os
import sqlite3
import statistics
import sys
import tempfile
import time

HITS = (0.001, 0.01, 0.1, 0.5, 0.9, 1)
KEYS = {"TEXT": "'https://example.org/' || printf('%011d', {0})", "INTEGER": "{0}"}
SHARDS = 8


def connect(path, extension):
    db = sqlite3.connect(path, isolation_level=None)
    db.enable_load_extension(True)
    db.load_extension(os.path.abspath(extension))
    return db


def fill(db, kind, rows, folder):
    columns = f"(url {kind} PRIMARY KEY, w INTEGER, title TEXT)" + (" WITHOUT ROWID" if kind == "TEXT" else "")
    key = KEYS[kind].format("i * 100")
    numbers = "WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < ?1 - 1) "
    db.execute(f"CREATE TABLE pages{columns}")
    db.execute(f"{numbers} INSERT INTO pages SELECT {key}, i, 'title of ' || i FROM n", (rows,))
    db.execute(f"CREATE TABLE few{columns}")
    db.execute("INSERT INTO few SELECT * FROM pages WHERE w < ?", (rows // 10,))
    db.execute("ANALYZE")
    writers = "" if kind == "TEXT" else ", writers=extension"
    db.execute(f"CREATE VIRTUAL TABLE few_seen USING bloom(source=few, column=url{writers})")
    db.execute(f"CREATE VIRTUAL TABLE seen USING bloom(source=pages, column=url{writers})")
    db.execute("ATTACH ? AS archive", (os.path.join(folder, kind + ".archive"),))
    db.execute(f"CREATE TABLE archive.pages{columns}")
    db.execute("INSERT INTO archive.pages SELECT * FROM main.pages")
    for s in range(SHARDS):
        db.execute("ATTACH ? AS s%d" % s, (os.path.join(folder, f"{kind}.{s}"),))
        db.execute(f"CREATE TABLE s{s}.pages{columns}")
        db.execute(f"INSERT INTO s{s}.pages SELECT * FROM main.pages WHERE w % {SHARDS} = {s}")
    db.execute("CREATE TABLE shards(name TEXT PRIMARY KEY, filter BLOB)")
    for s in range(SHARDS):
        db.execute(f"INSERT INTO shards SELECT 's{s}', bloom_build(url, ?) FROM s{s}.pages", (rows,))


def probes(db, kind, rows, count, hits, order):
    """Random ones, so many of which are there; the others lie between those."""
    db.execute("DROP TABLE IF EXISTS visits")
    db.execute(f"CREATE TABLE visits(url {kind})")
    there = f"abs(random()) % {rows} * 100"
    key = KEYS[kind].format(f"(CASE WHEN i < {hits * count} THEN {there} ELSE {there} + 1 + abs(random()) % 99 END)")
    numbers = "WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < ?1 - 1) "
    db.execute(f"{numbers} INSERT INTO visits SELECT {key} AS url FROM n ORDER BY {order}", (count,))
    db.execute("ANALYZE visits")


def scalar(sql):
    return lambda db: db.execute(sql).fetchone()


def reads():
    """Calls of read() by this process so far: a page each."""
    with open("/proc/self/io") as io:
        return int(next(line for line in io if line.startswith("syscr")).split()[1])


def lookups(sql):
    def run(db):
        found = 0
        cursor = db.cursor()
        for (url,) in db.execute("SELECT url FROM visits LIMIT 50000").fetchall():
            found += cursor.execute(sql, (url,)).fetchone() is not None
        return found

    return run


def staged(sql):
    def run(db):
        db.execute("BEGIN")
        db.execute(sql)
        count = db.execute("SELECT changes()").fetchone()
        db.execute("ROLLBACK")
        return count

    return run


def in_shards(pre_check):
    """A join with each shard."""
    parts = (
        f"SELECT count(*) AS c, sum(length(title)) AS t FROM visits AS v JOIN s{s}.pages AS p ON p.url = v.url WHERE {pre_check.format(s)}"
        for s in range(SHARDS)
    )
    return scalar("SELECT sum(c), sum(t) FROM (" + " UNION ALL ".join(parts) + ")")


JOIN = "SELECT count(*), sum(length(title)) FROM visits AS v {1} JOIN {0} AS p ON p.url = v.url {2}"
FEW = "join, half as many rows as probes"
FRONT = "JOIN seen ON seen.key = v.url CROSS"  # CROSS JOIN: the lookup stays behind the filter
ABSENT = "NOT EXISTS (SELECT 1 FROM main.pages AS p WHERE p.url = v.url {0})"
RECIPES = {
    "one lookup at a time": {
        "plain": lookups("SELECT title FROM pages WHERE url = ?"),
        "bloom table": lookups("SELECT title FROM seen CROSS JOIN pages ON pages.url = seen.key WHERE seen.key = ?"),
    },
    "join": {
        "plain": scalar(JOIN.format("main.pages", "", "")),
        "bloom table": scalar(JOIN.format("main.pages", FRONT, "")),
    },
    "anti-join": {
        "plain": scalar("SELECT count(*) FROM visits AS v WHERE " + ABSENT.format("")),
        "bloom table": scalar("SELECT count(*) FROM visits AS v LEFT JOIN seen ON seen.key = v.url LEFT JOIN main.pages AS p ON p.url = seen.key WHERE p.url IS NULL"),
        "bloom table, NOT EXISTS": scalar("SELECT count(*) FROM visits AS v WHERE NOT EXISTS (SELECT 1 FROM seen WHERE key = v.url) OR " + ABSENT.format("")),
    },
    "attached database": {
        "plain": scalar(JOIN.format("archive.pages", "", "")),
        "bloom table": scalar(JOIN.format("archive.pages", FRONT, "")),
    },
    "eight shards": {
        "plain": in_shards("1"),
        "blobs": in_shards("bloom_contains((SELECT bloom_open(filter) FROM shards WHERE name = 's{0}'), v.url)"),
    },
    "staged rows": {
        "plain": staged("INSERT INTO arrived SELECT url FROM visits AS v WHERE " + ABSENT.format("")),
        "bloom table": staged(
            "INSERT INTO arrived SELECT v.url FROM visits AS v LEFT JOIN seen ON seen.key = v.url LEFT JOIN main.pages AS p ON p.url = seen.key WHERE p.url IS NULL"
        ),
    },
    FEW: {
        "plain": scalar(JOIN.format("few", "", "")),
        "SQLite's own filter": scalar(JOIN.format("few", "", "AND p.w >= 0")),
        "bloom table": scalar(JOIN.format("few", FRONT.replace("seen", "few_seen"), "")),
    },
}


def measure(db, forms, rounds):
    """For each form, seconds and pages read."""
    measured = {name: [] for name in forms}
    for _ in range(rounds):
        answers = set()
        for name, run in forms.items():
            begin, pages = time.perf_counter(), reads()
            answers.add(run(db))
            measured[name].append((time.perf_counter() - begin, reads() - pages))
        assert len(answers) == 1, answers
    return {name: [statistics.median(values) for values in zip(*pairs)] for name, pairs in measured.items()}


def speed(ratio):
    """In words, for the time of a statement divided by that of the plain one."""
    if 0.95 < ratio < 1.05:
        return "same speed"
    return f"{1 / ratio:.1f}× faster" if ratio < 1 else f"{100 * (ratio - 1):.0f} % slower"


def report(title, lines):
    print(f"\n| {title} | " + " | ".join(f"{100 * hits:g} % found" for hits in HITS) + " |")
    print("| --- " * (1 + len(HITS)) + "|")
    for (recipe, _, name), cells in lines.items():
        print(f"| {recipe}, {name} | " + " | ".join(cells) + " |")


def main():
    extension = sys.argv[1]
    rows, count, rounds = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((2, 1_000_000), (3, 200_000), (4, 5)))
    wanted = sys.argv[5] if len(sys.argv) > 5 else ""
    order = sys.argv[6] if len(sys.argv) > 6 else "random()"
    table = {}
    for kind in KEYS:
        with tempfile.TemporaryDirectory() as folder:
            db = connect(os.path.join(folder, "db"), extension)
            db.execute("PRAGMA synchronous = OFF")
            fill(db, kind, rows, folder)
            db.execute(f"CREATE TABLE arrived(url {kind})")
            for hits in HITS:
                probes(db, kind, rows, count, hits, order)
                plan = " ".join(row[3] for row in db.execute("EXPLAIN QUERY PLAN " + JOIN.format("few", "", "AND p.w >= 0")))
                assert plan.startswith("SCAN v BLOOM FILTER ON p"), plan
                for recipe, forms in RECIPES.items():
                    if wanted not in recipe:
                        continue
                    if recipe == FEW:
                        probes(db, kind, rows // 10, count, hits, order)
                    measured = measure(db, forms, rounds)
                    for name in forms:
                        if name != "plain":
                            ratios = [own / plain for own, plain in zip(measured[name], measured["plain"])]
                            table.setdefault((recipe, kind, name), []).append(ratios)
            db.close()
    print(f"SQLite {sqlite3.sqlite_version}, {rows} rows, {count} probes, ORDER BY {order}; compared with the plain statement")
    for kind in KEYS:
        report(f"{kind} keys", {key: [speed(seconds) for seconds, _ in ratios] for key, ratios in table.items() if key[1] == kind})
        report(f"{kind} keys, page reads", {key: [f"{100 * pages:.0f} %" for _, pages in ratios] for key, ratios in table.items() if key[1] == kind})


if __name__ == "__main__":
    main()
