"""The extension through Python's sqlite3: what the types of another language become, hostile bytes,
interrupts and memory.

    /usr/bin/python3 tests/functions/functions_test.py EXTENSION [unittest options]

Needs a Python whose sqlite3 module can load extensions; Debian's can.
"""

import ctypes
import ctypes.util
import os
import random
import resource
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.format import as_version_1, with_cells  # noqa: E402
from support.host import EXTENSION, SANITIZED, connect, one  # noqa: E402

HEADER = 64
SHAPES = {
    "standard": "bloom_create(100)",
    "counting": "bloom_create(100, 0.01, 'counting')",
    "partitioned": "bloom_create(100, 0.01, 'partitioned')",
    "unblocked": "bloom_create_sized(1001, 5)",
    "several blocks": "bloom_create_sized(1200, 5, 'counting', 100)",
}


def key_text(value):
    """The key rule of the documentation, as another program would write it."""
    if isinstance(value, float):
        value = int(value) if value == int(value) else value
    return repr(value)


class Keys(unittest.TestCase):
    def test_a_stored_filter_finds_every_form_of_a_key(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "db")
            db = connect(path)
            db.execute("CREATE TABLE s(f)")
            db.execute("INSERT INTO s SELECT bloom_build(column1, 100, 1e-9) FROM (VALUES (42), ('Zoë'), (2.5), (?))", (b"\x00\xff",))
            db.commit()
            db.close()
            db = connect(path)
            stored = one(db, "SELECT f FROM s")
            for forms in ([42, 42.0, "42", b"42"], ["Zoë", "Zoë".encode()], [2.5, "2.5", b"2.5"], [b"\x00\xff"]):
                for key in forms:
                    self.assertEqual(one(db, "SELECT bloom_contains(f, ?) FROM s", key), 1, key)
                    self.assertEqual(one(db, "SELECT bloom_contains(?, ?)", stored, key), 1, key)
            for key in (43, "042", 2.25, "zoë", b"\x00"):
                self.assertEqual(one(db, "SELECT bloom_contains(f, ?) FROM s", key), 0, key)

    def test_reals_are_the_text_that_python_writes(self):
        db = connect()
        source = random.Random(5)
        empty = one(db, "SELECT bloom_create(1, 1e-12)")
        for i in range(20000):
            value = struct.unpack("d", source.randbytes(8))[0] if i % 2 else source.uniform(-1e6, 1e6)
            if value - value == 0:  # finite
                text = key_text(value)
                self.assertEqual(one(db, "SELECT bloom_contains(bloom_add(?, ?), ?)", empty, value, text), 1, text)

    def test_one_filter_serves_several_threads(self):
        filter_ = one(connect(), "SELECT bloom_build(value) FROM json_each(?)", str(list(range(5000))))
        wrong = []

        def ask(first):
            db = connect()
            for key in range(first, 5000, 4):
                if one(db, "SELECT bloom_contains(?1, ?2) AND bloom_contains((SELECT bloom_open(?1)), ?2)", filter_, key) != 1:
                    wrong.append(key)

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


def is_present(answer, _):
    return answer == 1


class HostileBytes(unittest.TestCase):
    """Whatever the bytes: an error or a right answer, and nothing else."""

    # Each with the answer that is right for an intact filter that key 'a' was added to.
    CALLS = {
        "bloom_contains(?1, 'a')": is_present,
        "bloom_contains_all(?1, 'a', 'a')": is_present,
        "bloom_contains_any(?1, 'x', 'a')": is_present,
        "bloom_contains(bloom_add(?1, 'b'), 'a')": is_present,
        "bloom_contains(bloom_remove(bloom_add(?1, 'c'), 'c'), 'a')": is_present,
        "bloom_contains(bloom_union(?1, ?1), 'a')": is_present,
        "bloom_contains(bloom_union(?2, ?1), 'a')": is_present,
        "bloom_contains(bloom_intersect(?1, ?1), 'a')": is_present,
        "(SELECT bloom_contains(bloom_union(column1), 'a') FROM (VALUES (?1), (?2)))": is_present,
        "(SELECT bloom_contains(bloom_intersect(column1), 'a') FROM (VALUES (?1), (?2)))": is_present,
        "bloom_contains(bloom_halve(?1), 'a')": is_present,
        "(SELECT bloom_contains(bloom_build('b', ?1), 'a'))": is_present,
        "bloom_contains(bloom_fold(?1, 0.5), 'a')": is_present,
        "bloom_contains(bloom_standard(?1), 'a')": is_present,
        "bloom_contains((SELECT bloom_open(?1)), 'a')": is_present,
        "bloom_count(?1)": lambda answer, _: answer >= 1,
        "bloom_fpr(?1)": lambda answer, _: 0 < answer <= 1,
        "bloom_info(?1)": lambda answer, _: answer.startswith("{"),
        "(SELECT min(value) FROM bloom_positions(?1, 'a'))": lambda answer, _: answer >= 1,
        "bloom_check(?1)": lambda answer, intact: (answer == "ok") == intact,
    }

    def ask_all(self, db, hostile, good, intact):
        for call, right in self.CALLS.items():
            try:
                answer = one(db, f"SELECT {call}, ?2", hostile, good)
            except sqlite3.Error as error:
                self.assertRegex(str(error), "^bloom_[a-z_]+: ")
            else:
                self.assertTrue(right(answer, intact), (call, answer))

    def test_every_truncation_of_every_kind_in_every_function(self):
        db = connect()
        for create in SHAPES.values():
            good = one(db, f"SELECT bloom_add({create}, 'a')")
            self.ask_all(db, good, good, True)
            for size in range(len(good)):
                self.ask_all(db, good[:size], good, False)
            self.ask_all(db, good + b"\0", good, False)

    def test_every_header_bit_flip_of_every_kind_in_every_function(self):
        db = connect()
        for create in SHAPES.values():
            good = one(db, f"SELECT bloom_add({create}, 'a')")
            for bit in range(8 * HEADER):
                hostile = bytearray(good)
                hostile[bit // 8] ^= 1 << bit % 8
                self.ask_all(db, bytes(hostile), good, False)

    def test_cells_that_another_program_set_are_harmless(self):
        db = connect()
        source = random.Random(6)
        for create in SHAPES.values():
            good = one(db, f"SELECT bloom_add({create}, 'a')")
            for _ in range(50):
                noise = source.randbytes(len(good) - HEADER - 1)
                cells = bytes(old | new for old, new in zip(good[HEADER:], noise))
                self.ask_all(db, with_cells(good, cells + good[-1:]), good, True)

    def test_every_flipped_bit_of_the_cells_is_noticed(self):
        """By every function that reads or copies the whole filter. A lookup reads some cells only, and does not notice."""
        db = connect()
        lookups = ("bloom_contains(?1", "bloom_contains_a", "(SELECT min(value) FROM bloom_positions")
        for create in SHAPES.values():
            good = one(db, f"SELECT bloom_add({create}, 'a')")
            for bit in range(8 * HEADER, 8 * (len(good) - 1), 41):
                hostile = bytearray(good)
                hostile[bit // 8] ^= 1 << bit % 8
                for call in self.CALLS:
                    if call.startswith(lookups):
                        self.assertIn(one(db, f"SELECT {call}, ?2", bytes(hostile), good), range(16), call)
                    elif call == "bloom_check(?1)":
                        self.assertEqual(one(db, f"SELECT {call}", bytes(hostile)), "cell checksum does not match")
                    else:
                        with self.assertRaisesRegex(sqlite3.DatabaseError, "damaged bloom filter .cell checksum does not match; restore", msg=call):
                            db.execute(f"SELECT {call}, ?2", (bytes(hostile), good)).fetchall()

    def test_a_damaged_filter_does_not_end_the_transaction(self):
        """After SQLITE_CORRUPT in a transaction, SQLite refuses all writes and the COMMIT."""
        db = connect(isolation_level=None)
        db.executescript("CREATE TABLE t(a); CREATE VIRTUAL TABLE f USING bloom(capacity=100); CREATE VIRTUAL TABLE g USING bloom_groups(capacity=100)")
        good = one(db, "SELECT bloom_add(bloom_create(100), 'a')")
        damaged = good[:-1] + bytes([good[-1] ^ 1])
        statements = (
            "SELECT bloom_count(?1)",
            "SELECT bloom_contains(substr(?1, 1, 100), 'a')",
            "SELECT bloom_union(column1) FROM (VALUES (?1), (?1))",
            "SELECT bloom_build('b', ?1)",
            "SELECT bloom_apply(?2, bloom_delta(?1, ?2))",
            "SELECT * FROM bloom_stats(?1)",
            "INSERT INTO t SELECT bloom_add(?1, 'b')",
            "INSERT INTO f(filter) VALUES (?1)",
            "INSERT INTO g(member, filter) VALUES ('m', ?1)",
        )
        for sql in statements:
            for before in ("DELETE FROM t", "BEGIN", "INSERT INTO t VALUES (1)"):
                db.execute(before)
            with self.assertRaisesRegex(sqlite3.DatabaseError, "is a damaged", msg=sql):
                db.execute(sql, (damaged, good) if "?2" in sql else (damaged,)).fetchall()
            db.execute("INSERT INTO t VALUES (2)")
            db.execute("COMMIT")
            self.assertEqual(one(db, "SELECT count(*) FROM t"), 2, sql)

    def test_filters_of_version_1_are_read_and_become_version_2(self):
        """As version 1.0.0 stored them: their cells have no checksum, so no flipped bit is noticed."""
        db = connect()
        for create in SHAPES.values():
            good = one(db, f"SELECT bloom_add({create}, 'a')")
            old = as_version_1(good)
            self.assertNotEqual(old, good)
            self.ask_all(db, old, good, True)
            self.ask_all(db, good, old, True)
            self.assertEqual(one(db, "SELECT bloom_check(?)", old), "ok")
            for same in ("bloom_add(?1, NULL)", "bloom_apply(?1, bloom_delta(?1, ?2))", "(SELECT bloom_union(column1) FROM (VALUES (?1)))"):
                self.assertEqual(one(db, f"SELECT {same}, ?2", old, good), good, same)
            for before, after in ((old, good), (good, old), (old, old)):
                self.assertEqual(one(db, "SELECT bloom_delta(?1, ?2)", before, after), one(db, "SELECT bloom_delta(?1, ?1)", good))

    def test_random_bytes_are_rejected(self):
        db = connect()
        source = random.Random(7)
        good = one(db, "SELECT bloom_add(bloom_create(100), 'a')")
        for size in list(range(130)) * 3:
            self.ask_all(db, source.randbytes(size), good, False)
            self.ask_all(db, b"BLMF\x01\x01" + source.randbytes(size), good, False)


class Statements(unittest.TestCase):
    def test_blobs_of_zeros_are_no_filter_for_a_new_connection(self):
        for size in range(66):
            for function in ("bloom_contains", "bloom_contains_all", "bloom_contains_any"):
                with self.assertRaisesRegex(sqlite3.OperationalError, f"{function}: argument 1 is not a bloom filter"):
                    connect().execute(f"SELECT {function}(?, 1)", (bytes(size),))

    def test_a_remembered_filter_is_read_again_after_its_bytes_change(self):
        db = connect()
        good = one(db, "SELECT bloom_add(bloom_create_sized(1001, 5), 'x')")
        for _ in range(3):
            self.assertEqual(one(db, "SELECT bloom_contains(?, 'x')", good), 1)
            for bad in (good[:-1], good + b"\0", good[:-1] + b"\xff", b"x" + good[1:]):
                with self.assertRaisesRegex(sqlite3.DatabaseError, "bloom_contains: argument 1 is"):
                    db.execute("SELECT bloom_contains(?, 'x')", (bad,)).fetchall()
            self.assertEqual(one(db, "SELECT bloom_contains(?, 'x')", good[:64] + bytes(len(good) - 64)), 0)

    @unittest.skipIf(sqlite3.sqlite_version_info < (3, 40), "older SQLite keeps the rows before the one whose function failed, in a transaction")
    def test_a_failed_update_changes_no_row(self):
        db = connect()
        db.execute("CREATE TABLE s(f)")
        for key in "ab":
            db.execute("INSERT INTO s SELECT bloom_add(bloom_create(9, 0.01, 'counting'), ?)", (key,))
        before = db.execute("SELECT f FROM s").fetchall()
        with self.assertRaisesRegex(sqlite3.Error, "bloom_remove: argument 2 must be a key that was added, got 'a'"):
            db.execute("UPDATE s SET f = bloom_remove(f, 'a')")
        self.assertEqual(db.execute("SELECT f FROM s").fetchall(), before)

    def test_building_can_be_interrupted_and_the_connection_goes_on(self):
        for arguments in ("i", "i, 1000000", "i, NULL, 0.01, 'counting'"):
            db = connect()
            calls = 0

            def stop():
                nonlocal calls
                calls += 1
                return calls > 50

            db.set_progress_handler(stop, 10000)
            with self.assertRaisesRegex(sqlite3.OperationalError, "interrupted"):
                db.execute(f"WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT bloom_build({arguments}) FROM n").fetchone()
            db.set_progress_handler(None, 0)
            self.assertEqual(one(db, "SELECT bloom_contains(bloom_build(1), 1)"), 1)

    def test_long_functions_stop_when_they_are_interrupted(self):
        db = connect()
        db.create_function("stop", 0, db.interrupt)
        db.execute("CREATE TEMP TABLE f AS SELECT bloom_create_sized(50331648, 3) AS f, bloom_create_sized(50331648, 3, 'counting') AS c")
        db.execute("CREATE VIRTUAL TABLE t USING bloom(cells=50331648, hashes=3)")
        long = ("bloom_add(f, 1)", "bloom_remove(bloom_add(c, 1), 1)", "bloom_union(f, f)", "bloom_intersect(f, f)", "bloom_halve(f)", "bloom_fold(f, 0.1)", "bloom_build(1, f)",
                "bloom_standard(c)", "bloom_count(f)", "bloom_fpr(c)", "bloom_info(f)", "bloom_contains(bloom_open(f), 1)")
        for call in (*long, "bloom_union(CASE WHEN stop() IS NULL THEN f ELSE f END)", "bloom_intersect(CASE WHEN stop() IS NULL THEN f ELSE f END)"):
            with self.subTest(call), self.assertRaisesRegex(sqlite3.OperationalError, "interrupted"):
                db.execute(f"SELECT stop(), length({call}) FROM f").fetchone()
            self.assertEqual(one(db, "SELECT bloom_count(f) FROM f"), 0)
        with self.assertRaisesRegex(sqlite3.OperationalError, "interrupted"):
            db.execute("INSERT INTO t(filter) SELECT CASE WHEN stop() IS NULL THEN f ELSE f END FROM f")
        with self.assertRaisesRegex(sqlite3.OperationalError, "interrupted"):
            db.execute("SELECT keys FROM (SELECT CASE WHEN stop() IS NULL THEN f ELSE f END AS f FROM f) AS g, bloom_stats(g.f)").fetchone()
        self.assertEqual(one(db, "SELECT json_extract(info, '$.keys') FROM t"), 0)

    def test_long_functions_ask_the_progress_handlers_of_most_programs(self):
        db = connect()
        db.execute("CREATE TEMP TABLE f AS SELECT bloom_create_sized(50331648, 3) AS f")
        for call in ("bloom_add(f, 1)", "bloom_union(f, f)", "bloom_halve(f)", "bloom_count(f)"):
            for steps in (1, 100, 1000):
                with self.subTest(call, steps=steps):
                    db.set_progress_handler(lambda: True, steps)
                    with self.assertRaisesRegex(sqlite3.OperationalError, "bloom_.*interrupted" if steps > 1 else "interrupted"):
                        db.execute(f"SELECT length({call}) FROM f").fetchone()
                    db.set_progress_handler(None, 0)

    def test_loading_and_closing_many_times(self):
        for _ in range(300):
            db = connect()
            self.assertEqual(one(db, "SELECT bloom_contains(bloom_build(7), 7)"), 1)
            db.close()


    @unittest.skipUnless(sys.platform == "linux", "calls the C library of Linux")
    def test_a_filter_may_be_open_when_the_library_ends(self):
        subprocess.run([sys.executable, __file__, EXTENSION, "--end-with-an-open-filter"], check=True)


@unittest.skipIf(SANITIZED, "sanitizers have memory of their own")
class Memory(unittest.TestCase):
    """Peak memory of a process of its own that runs one statement."""

    SLACK = 4 << 20  # allocators, page cache, statement

    def peak(self, select):
        sql = f"SELECT length(({select}))"
        subprocess.run([sys.executable, __file__, EXTENSION, "--run", sql], check=True, stdout=subprocess.DEVNULL)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024

    def test_peak_of_a_self_sizing_build(self):
        rows = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT {} FROM n"
        # RUSAGE_CHILDREN is the highest of all children so far: from the smallest to the largest.
        base = self.peak("SELECT 1")
        same = self.peak(rows.format(1_000_000, "bloom_build('the same key')")) - base
        self.assertLess(same, self.SLACK)
        n = 3_000_000
        distinct = self.peak(rows.format(n, "bloom_build(i)")) - base
        self.assertLess(distinct, 24 * n + n * 9.7 / 8 + self.SLACK)


    def test_handles_release_their_memory(self):
        """In a process of its own, where nothing else takes memory."""
        grown = subprocess.run([sys.executable, __file__, EXTENSION, "--handles"], check=True, capture_output=True, text=True).stdout
        self.assertLess(int(grown), 1 << 20)

    def test_a_large_table_takes_memory_for_its_used_chunks_only(self):
        db = connect()
        db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=50000000)")  # 60 MB
        before = resident()
        for i in range(30):
            db.execute("INSERT INTO f(key) VALUES (?)", (i,))
        self.assertLess(resident() - before, self.SLACK)


def resident():
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[1]) * resource.getpagesize()


def run_statement():
    print(one(connect(), sys.argv[2]))


def hold_handles():
    at_once = " + ".join(f"bloom_contains((SELECT bloom_open(?1) WHERE ?1 IS NOT {i}), 1)" for i in range(500))
    sizes = []
    for round_ in range(240):
        db = connect()
        assert one(db, "SELECT " + at_once, one(db, "SELECT bloom_create(1)")) == 0
        db.close()
        if round_ % 200 == 39:
            sizes.append(resident())
    print(sizes[1] - sizes[0])


def end_with_an_open_filter():
    """Has the C library ask and close it after the destructors of the extension have run: those are registered last."""
    c, sqlite = ctypes.CDLL(None), ctypes.CDLL(ctypes.util.find_library("sqlite3"))
    db, asking = ctypes.c_void_p(), ctypes.c_void_p()
    sql = b"SELECT bloom_contains((SELECT bloom_open(bloom_add(bloom_create(10), 'a'))), column1) FROM (VALUES ('a'), ('a'))"
    sqlite.sqlite3_open(b":memory:", ctypes.byref(db))
    sqlite.sqlite3_enable_load_extension(db, 1)
    sqlite.sqlite3_load_extension(db, EXTENSION.encode(), None, None)
    sqlite.sqlite3_prepare_v2(db, sql, -1, ctypes.byref(asking), None)
    for function in (sqlite.sqlite3_finalize, sqlite.sqlite3_step):
        c.__cxa_atexit(function, asking, None)
    sqlite.sqlite3_step(asking)
    sys.exit(sqlite.sqlite3_column_int(asking, 0) != 1)


if __name__ == "__main__":
    {"--run": run_statement, "--handles": hold_handles, "--end-with-an-open-filter": end_with_an_open_filter}.get("".join(sys.argv[1:2]), unittest.main)()
