"""The query shapes that users write with a filter: time with the filter divided by time without it.

    /usr/bin/python3 bench/plans.py EXTENSION [ROWS [ROUNDS [NAME]]]

pages has ROWS rows (200,000), visits half as many, of which 1, 10, 50 and 100 % find a page. The keys are strings of 31 bytes
or integers (the rowid), and each shape runs without statistics and after ANALYZE. The figures are ratios of process time, medians
of ROUNDS (3) interleaved rounds; lower is better. Shapes above 1.3 are printed again at the end, with the floor: the same statement
with a virtual table of bench/noop.cc that only hashes the key and answers "maybe".
NAME: only shapes with this in their name. Every result is compared with that of the statement without a filter.
"""

import re
import statistics
import sys
import tempfile
import time

from support import connect, noop_beside, numbers

SHARES = (0.01, 0.1, 0.5, 1)
LIMIT = 1.3
KEYS = {"TEXT": "printf('https://example.org/%011d', {})", "INTEGER": "{}"}
CONDITIONS = ("", " AND p.active < 9", " AND p.active < 9 AND p.size > 1", " AND p.active < 9 AND p.size > 1 AND p.title IS NOT NULL AND p.size < 99")

JOIN = "SELECT count(*), sum(p.size) FROM visits AS v JOIN pages AS p ON p.url = v.url WHERE 1{}"
VIEW = "SELECT count(*), sum(p.size) FROM visits AS v JOIN checked AS p ON p.key = v.url WHERE 1{}"
RECIPE = "SELECT count(*), sum(p.size) FROM visits AS v JOIN seen AS f ON f.key = v.url CROSS JOIN pages AS p ON p.url = v.url WHERE 1{}"
IS_PAGE = "EXISTS (SELECT 1 FROM pages AS p WHERE p.url = v.url)"
IS_CHECKED = "EXISTS (SELECT 1 FROM checked AS p WHERE p.key = v.url)"
NO_PAGE = "NOT EXISTS (SELECT 1 FROM seen WHERE key = v.url) OR NOT " + IS_PAGE
ABSENT = "FROM visits AS v LEFT JOIN seen AS f ON f.key = v.url LEFT JOIN pages AS p ON p.url = f.key WHERE p.url IS NULL"

SHAPES = {
    **{f"recipe, {len(c.split('AND')) - 1} conditions": (JOIN.format(c), RECIPE.format(c)) for c in CONDITIONS},
    **{f"view, {len(c.split('AND')) - 1} conditions": (JOIN.format(c), VIEW.format(c)) for c in CONDITIONS},
    "recipe, conditions on both": (JOIN.format(" AND v.kind < 5 AND p.active < 9"), RECIPE.format(" AND v.kind < 5 AND p.active < 9")),
    "view, conditions on both": (JOIN.format(" AND v.kind < 5 AND p.active < 9"), VIEW.format(" AND v.kind < 5 AND p.active < 9")),
    "view first": (JOIN.format(" AND p.active < 9"), "SELECT count(*), sum(p.size) FROM checked AS p JOIN visits AS v ON p.key = v.url WHERE p.active < 9"),
    "view, comma": (JOIN.format(" AND p.active < 9"), "SELECT count(*), sum(p.size) FROM checked AS p, visits AS v WHERE v.url = p.key AND p.active < 9"),
    "EXISTS of the view": (f"SELECT count(*) FROM visits AS v WHERE {IS_PAGE}", f"SELECT count(*) FROM visits AS v WHERE {IS_CHECKED}"),
    "EXISTS of the view, or a condition": (f"SELECT count(*) FROM visits AS v WHERE v.kind = 1 OR {IS_PAGE}", f"SELECT count(*) FROM visits AS v WHERE v.kind = 1 OR {IS_CHECKED}"),
    "semi-join": (f"SELECT count(*) FROM visits AS v WHERE {IS_PAGE}", "SELECT count(*) FROM visits AS v JOIN seen AS f ON f.key = v.url WHERE EXISTS (SELECT 1 FROM pages AS p WHERE p.url = f.key)"),
    "semi-join, IN": ("SELECT count(*) FROM visits AS v WHERE v.url IN (SELECT url FROM pages)", "SELECT count(*) FROM visits AS v JOIN seen AS f ON f.key = v.url WHERE f.key IN (SELECT url FROM pages)"),
    "anti-join, LEFT JOIN": (f"SELECT count(*) FROM visits AS v WHERE NOT {IS_PAGE}", f"SELECT count(*) {ABSENT}"),
    "anti-join, OR": (f"SELECT count(*) FROM visits AS v WHERE NOT {IS_PAGE}", f"SELECT count(*) FROM visits AS v WHERE {NO_PAGE}"),
    "anti-join, view": (f"SELECT count(*) FROM visits AS v WHERE NOT {IS_PAGE}", f"SELECT count(*) FROM visits AS v WHERE NOT {IS_CHECKED}"),
    "blob": (JOIN.format(" AND p.active < 9"), JOIN.format(" AND p.active < 9 AND bloom_contains((SELECT bloom_open(filter) FROM filters), v.url)")),
    "scalar subquery": (
        "SELECT sum((SELECT size FROM pages AS p WHERE p.url = v.url AND p.active < 9)) FROM visits AS v",
        "SELECT sum((SELECT size FROM checked AS p WHERE p.key = v.url AND p.active < 9)) FROM visits AS v",
    ),
    "GROUP BY": (
        "SELECT count(*), sum(n) FROM (SELECT p.size, count(*) AS n FROM visits AS v JOIN pages AS p ON p.url = v.url WHERE p.active < 9 GROUP BY p.size)",
        "SELECT count(*), sum(n) FROM (SELECT p.size, count(*) AS n FROM visits AS v JOIN checked AS p ON p.key = v.url WHERE p.active < 9 GROUP BY p.size)",
    ),
    "CTE": (
        "WITH some AS (SELECT url FROM visits WHERE kind < 5) SELECT count(*), sum(p.size) FROM some AS v JOIN pages AS p ON p.url = v.url WHERE p.active < 9",
        "WITH some AS (SELECT url FROM visits WHERE kind < 5) SELECT count(*), sum(p.size) FROM some AS v JOIN checked AS p ON p.key = v.url WHERE p.active < 9",
    ),
    "two filters": (
        "SELECT count(*), sum(p.size) FROM visits AS v JOIN pages AS p ON p.url = v.url JOIN blocked AS b ON b.url = v.url WHERE p.active < 9 AND b.reason < 3",
        "SELECT count(*), sum(p.size) FROM visits AS v JOIN checked AS p ON p.key = v.url JOIN blocked_checked AS b ON b.key = v.url WHERE p.active < 9 AND b.reason < 3",
    ),
    "a table behind the lookup": (
        "SELECT count(*), sum(a.size) FROM visits AS v JOIN pages AS p ON p.url = v.url JOIN authors AS a ON a.id = p.size WHERE p.active < 9",
        "SELECT count(*), sum(a.size) FROM visits AS v JOIN checked AS p ON p.key = v.url JOIN authors AS a ON a.id = p.size WHERE p.active < 9",
    ),
    "INSERT of new rows": (
        f"INSERT INTO arrived SELECT url FROM visits AS v WHERE kind < 3 AND NOT {IS_PAGE}",
        f"INSERT INTO arrived SELECT v.url {ABSENT} AND kind < 3",
    ),
}
# Rolled back.
IN_TRANSACTION = {
    "UPDATE within BEGIN": (f"UPDATE visits AS v SET kind = kind WHERE {IS_PAGE}", f"UPDATE visits AS v SET kind = kind WHERE {IS_CHECKED}"),
    "UPDATE FROM within BEGIN": (
        "UPDATE visits AS v SET kind = kind FROM pages AS p WHERE p.url = v.url AND p.active < 9",
        "UPDATE visits AS v SET kind = kind FROM checked AS p WHERE p.key = v.url AND p.active < 9",
    ),
    "DELETE by id, within BEGIN": (
        f"DELETE FROM visits AS v WHERE kind = 7 AND NOT {IS_PAGE}",
        f"DELETE FROM visits WHERE id IN (SELECT v.id {ABSENT} AND kind = 7)",
    ),
    "DELETE with OR, within BEGIN": (f"DELETE FROM visits AS v WHERE kind = 7 AND NOT {IS_PAGE}", f"DELETE FROM visits AS v WHERE kind = 7 AND ({NO_PAGE})"),
}
# A log of ROWS rows that has no index on its key, and a list of keys.
LOG = {
    "search, a key": ("SELECT count(*), sum(id) FROM log WHERE url = {key}", "SELECT count(*), sum(id) FROM log_search WHERE url = {key}"),
    "search, a key and a condition": ("SELECT count(*), sum(id) FROM log WHERE url = {key} AND status < 4", "SELECT count(*), sum(id) FROM log_search WHERE url = {key} AND status < 4"),
    "search, a list": ("SELECT count(*), sum(log.id) FROM list JOIN log ON log.url = list.url", "SELECT count(*), sum(r.id) FROM list JOIN log_search AS r ON r.url = list.url"),
    "search, a list and conditions": (
        "SELECT count(*), sum(log.id) FROM list JOIN log ON log.url = list.url WHERE log.status = 1 AND list.kind = 1",
        "SELECT count(*), sum(r.id) FROM list JOIN log_search AS r ON r.url = list.url WHERE r.status = 1 AND list.kind = 1",
    ),
    "groups, a list": (
        "SELECT count(*), sum(log.id) FROM list JOIN log ON log.url = list.url",
        "SELECT count(*), sum(log.id) FROM list JOIN who AS w ON w.key = list.url CROSS JOIN log INDEXED BY log_day ON log.day = w.member AND log.url = w.key",
    ),
    "groups, a list and conditions": (
        "SELECT count(*), sum(log.id) FROM list JOIN log ON log.url = list.url WHERE log.status = 1 AND list.kind = 1",
        "SELECT count(*), sum(log.id) FROM list JOIN who AS w ON w.key = list.url CROSS JOIN log INDEXED BY log_day ON log.day = w.member AND log.url = w.key WHERE log.status = 1 AND list.kind = 1",
    ),
}


def fill(db, kind, rows):
    key = KEYS[kind].format
    table = f"url {kind} PRIMARY KEY, active INT, size INT, title TEXT"
    rowid = " WITHOUT ROWID" if kind == "TEXT" else ""
    db.execute(f"CREATE TABLE pages({table}){rowid}")
    db.execute(f"INSERT INTO pages SELECT {key('i * 100')}, i % 10, i % 100, 'title of ' || i FROM {numbers(rows)}")
    db.execute(f"CREATE TABLE blocked(url {kind} PRIMARY KEY, reason INT){rowid}")
    db.execute("INSERT INTO blocked SELECT url, size % 4 FROM pages WHERE size < 10")
    db.execute("CREATE TABLE authors(id INTEGER PRIMARY KEY, size INT)")
    db.execute(f"INSERT INTO authors SELECT i, i FROM {numbers(100)}")
    writers = "" if kind == "TEXT" else ", writers=extension"
    for name, source in (("seen", "pages"), ("blocked_seen", "blocked")):
        db.execute(f"CREATE VIRTUAL TABLE {name} USING bloom(source={source}, column=url{writers})")
        for view, table in ((name.replace("seen", "checked"), name), ("hashed_" + name.replace("seen", "checked"), "hashed_key")):
            db.execute(f"CREATE TEMP VIEW {view} AS SELECT f.key, p.* FROM {table} AS f JOIN main.{source} AS p ON p.url = +f.key")
    db.execute("CREATE TABLE filters AS SELECT bloom_build(url) AS filter FROM pages")
    db.execute(f"CREATE TABLE arrived(url {kind})")


def fill_log(db, rows):
    key = KEYS["TEXT"].format
    db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, url TEXT, status INT, day INT)")
    db.execute(f"INSERT INTO log SELECT i, {key(f'i * 7919 % {rows}')}, i % 5, i / 1000 FROM {numbers(rows)}")
    db.execute("CREATE INDEX log_day ON log(day)")
    db.execute("CREATE TABLE list(url TEXT, kind INT)")
    db.execute(f"INSERT INTO list SELECT {key('i * 1009')}, i % 2 FROM {numbers(10)}")
    db.execute("CREATE VIRTUAL TABLE log_search USING bloom_search(source=log, equal=(url))")
    db.execute("CREATE VIRTUAL TABLE who USING bloom_groups(capacity=1000)")
    db.execute("INSERT INTO who(member, key) SELECT day, url FROM log")


def fill_visits(db, kind, rows, share):
    key = KEYS[kind].format(f"i * 7919 % {rows} * 100 + CASE WHEN i % 100 < {100 * share} THEN 0 ELSE 1 + i % 99 END")
    db.execute("DROP TABLE IF EXISTS visits")
    db.execute(f"CREATE TABLE visits(id INTEGER PRIMARY KEY, url {kind}, kind INT)")
    db.execute(f"INSERT INTO visits SELECT i, {key}, i % 11 FROM {numbers(rows // 2)}")


def floor_of(filtered):
    """Returns the statement with tables that only hash in place of the filters."""
    filtered = filtered.replace("bloom_contains((SELECT bloom_open(filter) FROM filters), ", "hash_key(x'00', ")
    filtered = re.sub(r"\b(blocked_)?seen\b", "hashed_key", filtered)
    return re.sub(r"\b(blocked_)?checked\b", r"hashed_\1checked", filtered)


def times(db, statements, transaction):
    """Returns the seconds that each statement takes. Their results must be equal."""
    seconds, results = [], []
    for sql in statements:
        if transaction:
            db.execute("BEGIN")
        begin = time.process_time()
        rows = db.execute(sql).fetchall()
        seconds.append(time.process_time() - begin)
        results.append((rows, db.execute("SELECT changes()").fetchall() if sql[0] in "UDI" else None))
        if transaction:
            db.execute("ROLLBACK")
    assert all(result == results[0] for result in results), (statements, results)
    return seconds


def ratios(db, plain, filtered, rounds, share, transaction=False):
    """Returns the times of the filtered statement and of its floor, in times of the plain one. The floor says "maybe" for all keys, so
    only shapes above the limit have one, where most keys are found. SQLite has no list for IN there."""
    statements = [plain, filtered]
    ratio = statistics.median(filtered / max(plain, 1e-6) for plain, filtered in (times(db, statements, transaction) for _ in range(rounds)))
    if ratio <= LIMIT or share < 0.5 or " IN (SELECT url" in filtered:
        return ratio, None
    statements.append(floor_of(filtered))
    measured = [[each / max(all[0], 1e-6) for each in all[1:]] for all in (times(db, statements, transaction) for _ in range(rounds))]
    return tuple(statistics.median(each) for each in zip(*measured))


def main():
    extension, *rest = sys.argv[1:]
    rows, rounds = (int(rest[i]) if len(rest) > i else default for i, default in ((0, 200_000), (1, 3)))
    wanted = rest[2] if len(rest) > 2 else ""
    lines = {}

    def measure(db, column, shapes, **options):
        for name, (plain, filtered) in shapes.items():
            if wanted in name:
                lines.setdefault(name, {})[column] = ratios(db, plain, filtered, rounds, column[2], **options)

    for analyze in ("", "ANALYZE"):
        for kind in KEYS:
            with tempfile.TemporaryDirectory() as folder:
                db = connect(folder + "/db", extension, noop_beside(extension))
                db.execute("PRAGMA synchronous = OFF")
                fill(db, kind, rows)
                for share in SHARES:
                    fill_visits(db, kind, rows, share)
                    db.execute(analyze)
                    measure(db, (kind, analyze, share), SHAPES)
                    measure(db, (kind, analyze, share), IN_TRANSACTION, transaction=True)
                db.close()
        with tempfile.TemporaryDirectory() as folder:
            db = connect(folder + "/db", extension)
            fill_log(db, rows)
            db.execute(analyze)
            key = KEYS["TEXT"].format(4711)
            measure(db, ("log", analyze, 0), {name: tuple(sql.format(key=key) for sql in pair) for name, pair in LOG.items()})
            db.close()
    report(lines)


def report(lines):
    columns = sorted({column for cells in lines.values() for column in cells}, key=lambda column: (column[0] == "log", column[2], column[0], column[1]))
    few = [value for cells in lines.values() for (_, _, share), (value, _) in cells.items() if share <= 0.1]
    print("| shape | " + " | ".join(f"{kind}{', ANALYZE' if analyze else ''}{f', {100 * share:g} % found' if share else ''}" for kind, analyze, share in columns) + " |")
    print("| --- " * (1 + len(columns)) + "|")
    for name, cells in lines.items():
        print(f"| {name} | " + " | ".join(f"{cells[column][0]:.2f}" if column in cells else "" for column in columns) + " |")
    if few:
        print(f"\nAt most 10 % found: slowest {max(few):.2f}; {100 * sum(value <= 0.5 for value in few) / len(few):.0f} % at most 0.5")
    for name, cells in lines.items():
        for column, (value, floor) in cells.items():
            if value > LIMIT:
                print(f"above {LIMIT}: {name}, {column}: {value:.2f}" + (f", floor {floor:.2f}, {value / floor:.2f} of it" if floor else ""))


if __name__ == "__main__":
    main()
