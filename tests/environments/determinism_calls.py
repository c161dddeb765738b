"""Calls of every function with generated arguments, and statements on bloom tables, for tests/environments/determinism_test.py:

    from determinism_calls import ROLES, calls_of, digest_of, shadow_rows

Every process generates the same calls: all random choices come from random.Random(SEED).
"""

import hashlib
import random
import sqlite3
import struct

SEED = 20261122
CALLS = 150  # calls per function and number of arguments

# The roles of the arguments of each function. An argument with "*" may be repeated.
ROLES = {
    "bloom_add": "filter key*",
    "bloom_apply": "filter delta",
    "bloom_bits": "count rate",
    "bloom_build": "key size rate kind",
    "bloom_capacity": "cells hashes rate",
    "bloom_check": "filter",
    "bloom_contains": "filter key",
    "bloom_contains_all": "filter key*",
    "bloom_contains_any": "filter key*",
    "bloom_count": "filter",
    "bloom_create": "count rate kind",
    "bloom_create_sized": "cells hashes kind cells seed",
    "bloom_delta": "filter filter",
    "bloom_fold": "filter rate",
    "bloom_fpr": "filter",
    "bloom_halve": "filter times",
    "bloom_hashes": "cells count",
    "bloom_info": "filter",
    "bloom_intersect": "filter filter*",
    "bloom_key": "key*",
    "bloom_plan": "count rate",
    "bloom_positions": "filter key",
    "bloom_rate": "cells count hashes kind cells",
    "bloom_remove": "filter key*",
    "bloom_standard": "filter",
    "bloom_stats": "filter",
    "bloom_union": "filter filter*",
}

SHAPES = [
    "bloom_create(300)",
    "bloom_create(20000, 0.001)",
    "bloom_create(300, 0.02, 'counting')",
    "bloom_create(300, 0.01, 'partitioned')",
    "bloom_create_sized(1001, 5)",
    "bloom_create_sized(1024, 3, 'counting', 128, 7)",
    "bloom_create_sized(51200, 7, 'standard', 512)",
]
KINDS = ["standard", "counting", "partitioned", "Standard", ""]
RATES = [0.5, 0.1, 0.01, 0.0123456789, 1e-6, 0, 1, -0.5, 1.5]
COUNTS = [1, 10, 300, 1234, 50000, 1e3, 2**40, 0, -1, 2**40 + 1, 1.5, float("inf")]
WRONG = ["x", b"x", "", b"", 0, -1, 1.5, float("inf"), 2**63 - 1, -(2**63), "Straße"]
CELLS = [64, 512, 960, 1001, 1024, 51200, 31744 * 3, 0, -5, 0.5]


def keys(source):
    reals = [source.uniform(-1e6, 1e6) for _ in range(10)] + [struct.unpack("d", source.randbytes(8))[0] for _ in range(10)]
    texts = ["", "a", "Zoë", "東京", "😀", "a\0b", "0.5", "0,5", "42", "x" * 300, "I", "ı", "TITLE"]
    return [
        *(real for real in reals if real - real == 0),
        *(0.5, -0.0, 1e-7, 5e-324, 1.7976931348623157e308, 1e23, 2.0**53, 42.0, float("inf"), -float("inf")),
        *(0, 42, -1, 2**63 - 1, -(2**63)),
        *texts,
        *(text.encode() for text in texts),
        *(source.randbytes(size) for size in (1, 15, 16, 17, 100)),
    ]


def pools(db):
    """Returns the possible values of each role. They are generated, or are results of the functions themselves."""
    source = random.Random(SEED)
    pool = {"key": keys(source), "kind": KINDS, "rate": RATES, "count": COUNTS, "cells": CELLS, "wrong": WRONG}
    pool |= {"hashes": [1, 3, 7, 30, 255, 0, 256], "seed": [0, 7, 2**31 - 1, -1, 2**31], "times": [0, 1, 2, 4, 60, -1]}
    filters = []
    for shape in SHAPES:
        for some in ([], source.sample(pool["key"], 12), pool["key"]):
            filters.append(db.execute(f"SELECT bloom_add({shape}, NULL{', ?' * len(some)})", some).fetchone()[0])
    pool["delta"] = [db.execute("SELECT bloom_delta(?, ?)", (old, new)).fetchone()[0] for old, new in zip(filters, filters[1:])]
    pool["size"] = COUNTS + filters[:3]
    damaged = []
    for _ in range(4):
        blob = bytearray(source.choice(filters))
        blob[source.randrange(64)] ^= 1 << source.randrange(8)
        damaged += [bytes(blob), bytes(blob[:-1])]
    pool["filter"] = filters + damaged + [b"", b"BLMF", bytes(66)]
    return pool


def arguments(source, pool, roles):
    """Returns one value for each role. In half of the calls, all values have the same index in their pools, so they fit.

    Some values are NULL or have another role.
    """
    index = source.randrange(1000) if source.random() < 0.5 else None
    row = []
    for role in roles:
        chance = source.random()
        role = "wrong" if chance > 0.9 else role
        its_index = source.randrange(1000) if index is None else index
        row.append(None if chance < 0.05 else pool[role][its_index % len(pool[role])])
    return row


def calls_of(db, name, kind, count):
    """Returns calls of a function as (description, SQL, arguments, rows for an aggregate).

    `kind`: "s" for a scalar function, "a" for an aggregate, "t" for a table-valued function. `count`: the number of
    arguments; -1: any.
    """
    source, pool = random.Random(f"{SEED} {name} {kind} {count}"), pools(db)
    roles = ROLES[name].replace("*", "").split()
    calls = []
    for number in range(CALLS if roles else 1):
        given = source.randrange(7) if count < 0 else count
        its_roles = roles[:given] if count >= 0 else (roles + roles[-1:] * given)[:given]
        assert len(its_roles) == given, f"{name} takes {given} arguments: ROLES names too few"
        marks = ", ".join("?" * given)
        text = f"{name}/{count}{kind} {number}({', '.join(its_roles)})"
        if kind == "a":
            # 600 rows are more than are hashed in one batch.
            size = source.choice((0, 1, 2, 10, 600) if name == "bloom_build" else (0, 1, 2, 3))
            rows = [arguments(source, pool, its_roles) for _ in range(size)]
            if size > 1 and source.random() < 0.8:
                rows = uniform(rows)
            calls.append((text, f"SELECT {name}({', '.join('abcd'[:given])}) FROM made", [], rows))
        else:
            sql = f"SELECT * FROM {name}({marks})" if kind == "t" else f"SELECT {name}({marks})"
            calls.append((text, sql, arguments(source, pool, its_roles), None))
    return calls


def uniform(rows):
    """Returns rows that an aggregate accepts: only the first column differs. If that is a filter, all rows are equal."""
    if isinstance(rows[0][0], bytes) and rows[0][0][:4] == b"BLMF":
        return [rows[0]] * len(rows)
    return [[row[0], *rows[0][1:]] for row in rows]


def sha(parts):
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def digest_of(db, text, sql, given, rows):
    """Returns the start of the result as text, and a digest of the type and bytes of each value, or of the error."""
    if rows is not None:
        db.execute("BEGIN")
        db.execute("DELETE FROM made")
        db.executemany("INSERT INTO made VALUES (?, ?, ?, ?)", [[*row, *[None] * (4 - len(row))] for row in rows])
        db.execute("COMMIT")
    try:
        got = db.execute(sql, given).fetchall()
    except sqlite3.ProgrammingError:
        raise  # the call itself is wrong
    except sqlite3.Error as error:
        return f"error {error}"[:300], sha([type(error).__name__, str(error)])
    return repr(got)[:300], sha(got)


LOOKED_UP = str(list(range(20000)))
TABLES = {
    "sized": "capacity=20000",
    "cache_lines": "capacity=3000, block=512",
    "unblocked": "cells=100002, hashes=5, seed=9",
    "partitioned_table": "capacity=20000, kind=partitioned",
    "counting_table": "capacity=20000, kind=counting",
    "nocase": "capacity=20000, collate=nocase",
    "paged": "capacity=200000, cache=4096",
    "growing": "",
}


def statements(source):
    some = keys(source)
    many = [source.choice((f"Key {i}", i, i / 8, f"Schlüssel {i}".encode())) for i in range(4000)]
    yield from ((f"CREATE VIRTUAL TABLE {name} USING bloom({options})", ()) for name, options in TABLES.items())
    yield "CREATE TABLE source(k TEXT COLLATE NOCASE, n)", ()
    yield "CREATE VIRTUAL TABLE follows USING bloom(source=source, column=k)", ()
    yield "CREATE VIRTUAL TABLE follows_counting USING bloom(source=source, column=(n), kind=counting)", ()
    yield from (("INSERT INTO source VALUES (?, ?)", (f"Key {i % 1500}", i / 4)) for i in range(2000))
    yield "UPDATE source SET k = lower(k) || '!', n = n + 0.1 WHERE n < 60", ()
    yield "DELETE FROM source WHERE n > 300", ()
    yield "INSERT INTO follows_counting(follows_counting) VALUES ('merge')", ()
    yield "INSERT INTO follows(follows) VALUES ('rebuild')", ()
    for name in TABLES:
        yield "BEGIN", ()
        yield from ((f"INSERT INTO {name}(key) VALUES (?)", (key,)) for key in many)
        yield "SAVEPOINT s", ()
        yield f"INSERT INTO {name}(key) SELECT k || 'gone' FROM source", ()
        yield "ROLLBACK TO s", ()
        yield "COMMIT", ()
        yield from ((f"INSERT OR IGNORE INTO {name}(key) VALUES (?)", (key,)) for key in some)
    yield "DELETE FROM counting_table WHERE key IN (SELECT n FROM source)", ()
    yield "INSERT INTO sized(filter) SELECT bloom_build(k, 20000) FROM source", ()
    yield "INSERT INTO counting_table(filter) SELECT bloom_build(n, 20000, 0.01, 'counting') FROM source", ()
    yield "CREATE VIRTUAL TABLE grouped USING bloom_groups(capacity=30, fpr=0.4)", ()
    yield "INSERT INTO grouped(member, key) SELECT 'member ' || (rowid % 300), n FROM source", ()
    yield from (("INSERT INTO grouped(member, key) VALUES (?, ?)", (i % 70, key)) for i, key in enumerate(some))
    yield "DELETE FROM grouped WHERE member IN (3, 4, 'member 9')", ()
    yield "INSERT INTO grouped(grouped) VALUES ('optimize')", ()
    yield "INSERT INTO grouped(member, key) SELECT k, n FROM source WHERE n > 290", ()
    yield "INSERT INTO unblocked(unblocked) VALUES ('halve')", ()
    yield "INSERT INTO partitioned_table(partitioned_table) VALUES ('halve')", ()
    yield "INSERT INTO cache_lines(cache_lines, fpr) VALUES ('fold', 0.05)", ()
    yield "INSERT INTO counting_table(counting_table, fpr) VALUES ('fold', 0.2)", ()


def shadow_rows(db):
    """Runs the statements. Returns digests of their results, of lookups, and of the rows of each shadow table."""
    results = []
    for sql, given in statements(random.Random(SEED)):
        try:
            results.append((sql, db.execute(sql, given).rowcount))
        except sqlite3.Error as error:
            results.append((sql, str(error)))
    digests = {"statements": sha(results)}
    for name in [*TABLES, "follows", "follows_counting"]:
        digests[f"{name}, info"] = sha(db.execute(f"SELECT info FROM {name}").fetchall())
        answers = db.execute(f"SELECT n, key FROM (SELECT value AS n FROM json_each(?)) LEFT JOIN {name} ON key = n", (LOOKED_UP,)).fetchall()
        digests[f"{name}, answers"] = sha(answers)
        for part, order in (("config", "k"), ("data", "id")):
            rows = db.execute(f"SELECT * FROM {name}_{part} ORDER BY {order}").fetchall()
            assert rows, f"{name}_{part} is empty"
            digests[f"{name}_{part}"] = sha(rows)
    digests["grouped"] = sha(db.execute("SELECT member, filter FROM grouped").fetchall())
    for part in ("config", "members", "data", "wide"):
        digests[f"grouped_{part}"] = sha(db.execute(f"SELECT * FROM grouped_{part} ORDER BY 1").fetchall())
    answers = db.execute("SELECT bloom_contains(filter, value) FROM cache_lines, json_each(?)", (LOOKED_UP,)).fetchall()
    return digests | {"cache_lines, answers of its filter": sha(answers)}
