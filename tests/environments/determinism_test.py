"""The same calls give the same bytes in every process: whatever its locale, time zone, memory, processor, database, and
order of calls; and the same statements leave the same bytes in the tables below a bloom table.

    /usr/bin/python3 tests/environments/determinism_test.py EXTENSION [unittest options]

A process makes thousands of calls of every function that is marked deterministic, and tells a digest of each result or
error. Each test runs it with one thing changed, and compares. Controls are values that do depend on that thing: a test
in which its control has not changed has changed nothing, and fails.
"""

import ctypes
import json
import locale
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from determinism_calls import ROLES, calls_of, digest_of, shadow_rows  # noqa: E402
from support.host import EXTENSION, SANITIZED, connect  # noqa: E402

ROOT = str(Path(__file__).resolve().parents[2])
DETERMINISTIC = 0x800
SCALAR = {"BLOOM_KERNEL": "scalar"}
# The last bits of the C library's logarithms and powers depend on the processor.
BY_LIBM = ("bloom_rate", "bloom_plan", "bloom_fpr", "bloom_info", "bloom_stats")


def deterministic_functions(db):
    """(name, "s" or "a" for an aggregate, number of arguments); the table-valued ones are in no list."""
    listed = db.execute("SELECT name, type, narg, flags FROM pragma_function_list WHERE name GLOB 'bloom_*' ORDER BY name, type DESC, narg")
    return [tuple(row[:3]) for row in listed if row[3] & DETERMINISTIC] + [("bloom_plan", "t", 2), ("bloom_positions", "t", 2), ("bloom_stats", "t", 1)]


def fresh_memory():
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    return ctypes.string_at(libc.malloc(100_000), 64).hex()


def libm():
    source = random.Random(1)
    return sum(hash(math.pow(source.random(), 7.3)) for _ in range(100_000))


def controls(db, order):
    return {
        "locale": locale.localeconv()["decimal_point"],
        "kernel": db.execute("SELECT bloom_debug()").fetchone()[0].split("block=512: ")[1].split("\n")[0],
        "encoding": db.execute("SELECT hex(CAST('a' AS BLOB))").fetchone()[0],
        "zone": db.execute("SELECT datetime(0, 'unixepoch', 'localtime')").fetchone()[0],
        "layout": ctypes.addressof(ctypes.create_string_buffer(1)),
        "memory": fresh_memory(),
        "libm": libm(),
        "order": order[0],
        "page_size": db.execute("PRAGMA page_size").fetchone()[0],
    }


def child(encoding="UTF-8", page_size=4096, shuffle=None):
    """Prints the results as JSON."""
    locale.setlocale(locale.LC_ALL, "")
    with tempfile.TemporaryDirectory() as folder:
        db = connect(os.path.join(folder, "db"), isolation_level=None)
        db.execute("PRAGMA synchronous = OFF")
        db.execute(f"PRAGMA encoding = '{encoding}'")
        db.execute(f"PRAGMA page_size = {page_size}")
        db.execute("CREATE TABLE made(a, b, c, d)")
        calls = [call for function in deterministic_functions(db) for call in calls_of(db, *function)]
        order = list(range(len(calls)))
        if shuffle is not None:
            random.Random(shuffle).shuffle(order)
        told = controls(db, order)
        results = {number: digest_of(db, *calls[number]) for number in order}
        rows = shadow_rows(db)
        db.close()
    json.dump({"controls": told, "calls": [[calls[i][0], *results[i]] for i in range(len(calls))], "rows": rows}, sys.stdout)


def run_child(environment=(), **settings):
    command = [sys.executable, "-B", os.path.abspath(__file__), EXTENSION, "--child", json.dumps(settings)]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("LC_") and name not in ("LANG", "TZ")}
    output = subprocess.run(command, env={**inherited, **SCALAR, **dict(environment)}, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(output.stdout)


def alike(one, other):
    """Whether two strings are equal except for the last bits of the numbers in them."""
    number = r"(\d+\.\d+(?:e[-+]\d+)?)"
    ones, others = re.split(number, one), re.split(number, other)
    return ones[::2] == others[::2] and all(math.isclose(float(a), float(b), rel_tol=1e-12) for a, b in zip(ones[1::2], others[1::2]))


def differences(one, other, by_libm=False):
    assert len(one["calls"]) == len(other["calls"]) > 0 and one["rows"].keys() == other["rows"].keys()
    different = [
        f"{a[0]}: {a[1]} and {b[1]}"
        for a, b in zip(one["calls"], other["calls"])
        if a != b and not (by_libm and a[0].startswith(BY_LIBM) and alike(a[1], b[1]))
    ]
    return different + [f"{name}: other rows" for name, digest in one["rows"].items() if other["rows"][name] != digest]


class Processes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plain = run_child()

    def changed(self, control, other):
        return self.plain["controls"][control] != other["controls"][control]

    def assertSame(self, control, other, **how):
        self.assertTrue(self.changed(control, other), f"the {control} is the same")
        self.assertEqual(differences(self.plain, other, **how), [])

    def test_every_function_was_called_and_gave_results(self):
        """With each number of arguments; of those that take none one call is enough."""
        good = {}
        for call, value, _ in self.plain["calls"]:
            function = call.split()[0]
            good[function] = good.get(function, 0) + (not value.startswith("error"))
        self.assertEqual({function.split("/")[0] for function in good}, ROLES.keys())
        self.assertEqual([function for function, count in good.items() if count < (1 if "/0" in function else 5)], [])

    def test_address_space(self):
        other = run_child({"PADDING": "x" * 100_000})
        if not self.changed("layout", other):
            self.skipTest("the kernel gives every process the same address space layout")
        self.assertSame("layout", other)

    def test_locale(self):
        environment = {"LOCPATH": os.environ.get("LOCPATH", os.path.join(ROOT, "build", "locale")), "LC_ALL": "de_DE.UTF-8"}
        here = subprocess.run([sys.executable, "-c", "import locale; locale.setlocale(0, '')"], env=environment, capture_output=True)
        if here.returncode != 0:
            self.skipTest("the locale de_DE.UTF-8 is not installed")
        self.assertSame("locale", run_child(environment))

    def test_kernels(self):
        for kernel in ("avx2", "avx512"):
            other = run_child({"BLOOM_KERNEL": kernel})
            with self.subTest(kernel):
                if other["controls"]["kernel"] != kernel:
                    self.skipTest(f"no {kernel} here")
                self.assertSame("kernel", other)

    def test_libm_without_newer_instructions(self):
        other = run_child({"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2"})
        if not self.changed("libm", other):
            self.skipTest("the C library has one way only here")
        self.assertSame("libm", other, by_libm=True)

    def test_encodings(self):
        for encoding in ("UTF-16le", "UTF-16be"):
            self.assertSame("encoding", run_child(encoding=encoding))

    def test_time_zone(self):
        self.assertSame("zone", run_child({"TZ": "XYZ-5:45"}))

    @unittest.skipIf(SANITIZED, "sanitizers have memory of their own")
    def test_what_is_in_fresh_memory(self):
        for byte in ("1", "170"):
            self.assertSame("memory", run_child({"MALLOC_PERTURB_": byte}))

    def test_order_of_calls(self):
        for seed in range(2):
            self.assertSame("order", run_child(shuffle=seed))

    def test_page_sizes(self):
        for size in (512, 65536):
            self.assertSame("page_size", run_child(page_size=size))


class Noticed(unittest.TestCase):
    """differences() finds every difference, except in the last bits of these functions."""

    def of(self, call, value, rows="r"):
        return {"calls": [[call, value, "digest of " + value]], "rows": {"t_data": rows}}

    def test_a_value(self):
        self.assertNotEqual(differences(self.of("bloom_key(0.5)", "3:0.5,"), self.of("bloom_key(0.5)", "3:0,5,")), [])

    def test_rows(self):
        self.assertEqual(differences(self.of("f()", "1"), self.of("f()", "1", "other")), ["t_data: other rows"])

    def test_last_bits(self):
        near, nearer, far = (self.of("bloom_rate(8, 1, 1)", value) for value in ("0.12500000000000001", "0.12500000000000003", "0.1251"))
        self.assertEqual(differences(near, nearer, by_libm=True), [])
        self.assertNotEqual(differences(near, nearer), [])
        self.assertNotEqual(differences(near, far, by_libm=True), [])
        bits = (self.of("bloom_bits(8, 1)", value) for value in ("0.1", "0.10000000000000001"))
        self.assertNotEqual(differences(*bits, by_libm=True), [])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(**json.loads(sys.argv[2]))
    else:
        unittest.main()
