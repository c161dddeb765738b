"""The hard heap limit of SQLite also limits the memory that the extension allocates outside SQLite.

    /usr/bin/python3 tests/environments/heap_limit_test.py EXTENSION [unittest options]

Each case runs in a process of its own, because the limit holds for the whole process. It measures the peak of resident
memory, expects a refusal, and checks that everything still works afterwards.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.host import EXTENSION, SANITIZED, connect, one  # noqa: E402

NUMBERS = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT {} FROM n"
MB = 1_000_000
SLACK = 8 * MB  # SQLite's own memory beside ours, the interpreter, the allocator


def set_limit(size):
    library = ctypes.CDLL("libsqlite3.so.0")
    library.sqlite3_hard_heap_limit64.argtypes = [ctypes.c_int64]
    library.sqlite3_hard_heap_limit64(size)


def memory_used():
    library = ctypes.CDLL("libsqlite3.so.0")
    library.sqlite3_memory_used.restype = ctypes.c_int64
    return library.sqlite3_memory_used()


def peak():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def check(condition, what):
    if not condition:
        sys.exit(f"not so: {what}")


def check_refused(db, sql, *arguments):
    before = peak()
    try:
        db.execute(sql, arguments).fetchall()
        sys.exit(f"was not refused: {sql}")
    except MemoryError:  # SQLITE_NOMEM
        check(peak() - before < 20 * MB + SLACK, f"{peak() - before} bytes for a refusal are few: {sql}")


def check_alive(db):
    """Small filters are made, and without a limit large ones too."""
    check(one(db, "SELECT bloom_contains(bloom_add(bloom_create(1000), 'a'), 'a')") == 1, "a small filter works")
    set_limit(0)
    check(one(db, "SELECT length(bloom_create(100000000))") > 100 * MB, "a large filter works without a limit")


def a_filter_of_a_given_size():
    db = connect()
    set_limit(20 * MB)
    for sql in ("bloom_build(i, 400000000)", "bloom_create(400000000)", "bloom_add(bloom_create(15000000), 1)"):
        check_refused(db, NUMBERS.format(1, sql))
    check(one(db, "SELECT length(bloom_create(10000000))") > 10 * MB, "a filter below the limit is made")
    for _ in range(100):
        one(db, "SELECT bloom_contains(bloom_build(1, 5000000), 1)")  # nothing stays counted
    check_alive(db)


def a_build_of_unknown_size():
    db = connect()
    set_limit(20 * MB)
    check_refused(db, NUMBERS.format(3 * MB, "bloom_build(i)"))
    check(one(db, NUMBERS.format(200_000, "bloom_count(bloom_build(i))")) > 190_000, "a smaller build succeeds")
    check_alive(db)


def many_filters_of_one_statement():
    db = connect()
    db.execute("CREATE TABLE s AS SELECT bloom_create(100000) AS f")
    set_limit(20 * MB)
    handles = " + ".join(f"bloom_contains((SELECT bloom_open(f) FROM s WHERE {i}), 1)" for i in range(1, 400))
    check_refused(db, f"SELECT {handles}")
    check_alive(db)


def the_cache_of_a_table():
    """The cache is smaller under a limit. It refuses nothing."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "db")
        db = connect(path)
        db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=50000000, cache=4294967296)")  # 60 MB
        db.execute("INSERT INTO f(key) " + NUMBERS.format(60_000, "i"))
        db.commit()
        db.close()
        probe = subprocess.run([sys.executable, __file__, EXTENSION, "--run", "lookups_and_inserts", path])
        check(probe.returncode == 0, "lookups under a limit")


def lookups_and_inserts():
    db = connect(sys.argv[3])
    set_limit(20 * MB)
    before = peak()
    found = one(db, f"SELECT count(*) FROM ({NUMBERS.format(60_000, 'i AS k')}) CROSS JOIN f ON f.key = k")
    check(found == 60_000, f"all keys are found, not {found}")
    db.execute("INSERT INTO f(key) " + NUMBERS.format(20_000, "-i"))
    found = one(db, f"SELECT count(*) FROM ({NUMBERS.format(20_000, '-i AS k')}) CROSS JOIN f ON f.key = k")
    check(found == 20_000, f"all new keys are found, not {found}")
    check(peak() - before < 20 * MB + SLACK, f"{peak() - before} bytes are below the limit")
    db.commit()
    set_limit(0)
    check(one(db, "SELECT count(*) FROM (SELECT 1 UNION ALL SELECT -20000) CROSS JOIN f ON f.key = 1") == 2, "it still works")
    db.execute("INSERT INTO f(f) VALUES ('integrity-check')")


def a_table_that_grows():
    """Its cache stays smaller than the filter, and no key is lost."""
    with tempfile.TemporaryDirectory() as folder:
        db = connect(os.path.join(folder, "db"))
        db.execute("PRAGMA synchronous = OFF")
        db.execute("CREATE VIRTUAL TABLE f USING bloom")
        db.execute("CREATE TABLE t(k)")
        db.execute("INSERT INTO t " + NUMBERS.format(600_000, "i * i"))
        db.commit()
        set_limit(memory_used() + 4 * MB)
        for half in ("k % 2", "NOT k % 2"):
            db.execute(f"INSERT INTO f(key) SELECT k FROM t WHERE {half}")
            db.commit()
        check(one(db, "SELECT layers FROM f") > 3, "the table has grown")
        check(one(db, "SELECT count(*) FROM t CROSS JOIN f ON f.key = k") == 600_000, "all keys are found")
        set_limit(0)
        check(one(db, "SELECT count(*) FROM t CROSS JOIN f ON f.key = k") == 600_000, "all keys are found")
        db.execute("INSERT INTO f(f) VALUES ('integrity-check')")


def the_members_of_groups():
    db = connect()
    db.execute("CREATE VIRTUAL TABLE who USING bloom_groups(capacity=1)")
    db.execute("INSERT INTO who(member, key) " + NUMBERS.format(300_000, "i, i"))
    db.commit()  # SQLITE_NOMEM rolls back
    set_limit(memory_used() + 4 * MB)
    check_refused(db, "SELECT member FROM who")
    check(db.execute("SELECT member FROM who WHERE member = 7 AND key = 7").fetchall() == [(7,)], "one member is found")
    set_limit(0)
    check(one(db, "SELECT count(*) FROM who") == 300_000, "all members are listed")


def the_copy_of_a_long_key():
    db = connect()
    db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=1000, collate=nocase)")
    set_limit(20 * MB)
    check_refused(db, "SELECT key FROM f WHERE key = zeroblob(14000000)")
    db.execute("INSERT INTO f(key) VALUES ('A')")
    check(one(db, "SELECT key FROM f WHERE key = 'a'") == "a", "a short key is found")
    check_alive(db)


CASES = [a_filter_of_a_given_size, a_build_of_unknown_size, many_filters_of_one_statement, the_cache_of_a_table,
         a_table_that_grows, the_members_of_groups, the_copy_of_a_long_key]


@unittest.skipUnless(sys.platform == "linux", "reads /proc")
@unittest.skipIf(SANITIZED, "sanitizers have memory of their own")
class HeapLimit(unittest.TestCase):
    pass


def test_of(case):
    def run(self):
        ran = subprocess.run([sys.executable, __file__, EXTENSION, "--run", case.__name__], capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
    return run


for each in CASES:
    setattr(HeapLimit, f"test_{each.__name__}", test_of(each))

if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        globals()[sys.argv[2]]()
    else:
        unittest.main()
