"""The sizes that docs/choosing.md and docs/counting.md promise hold for every number of keys that is tried.

    /usr/bin/python3 tests/docs/figures_test.py EXTENSION
"""

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.host import connect  # noqa: E402

DOCS = Path(__file__).resolve().parents[2] / "docs"


def said(page, pattern):
    """The numbers that the page has in place of the groups of the pattern."""
    found = re.search(pattern, (DOCS / page).read_text(encoding="utf-8"))
    assert found, f"{page} no longer says: {pattern}"
    return [float(number.replace(",", "")) for number in found.groups()]


class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.db = connect()

    def bytes(self, n, kind="standard", p=0.01):
        return self.db.execute("SELECT bytes FROM bloom_plan(?, ?) WHERE kind = ?", (n, p, kind)).fetchone()[0]

    def assert_between(self, low, values, high, step):
        """The least and the greatest value are what the page says, rounded to its digits."""
        self.assertGreaterEqual(min(values), low - step)
        self.assertLessEqual(max(values), high + step)
        self.assertLess(min(values), low + 10 * step)
        self.assertGreater(max(values), high - 10 * step)

    def test_bits_per_key(self):
        low, high, fewest = said("choosing.md", r"([\d.]+) to ([\d.]+) for ([\d,]+) keys or more; more for fewer")
        self.assert_between(low, [8 * self.bytes(n) / n for n in [*range(int(fewest), 200_000, 1531), 10**6, 10**8]], high, 0.05)

    def test_limits(self):
        (blob,) = said("choosing.md", r"1 GB: (\d+) million keys")
        self.assertLessEqual(self.bytes(int(blob) * 10**6), 10**9)
        self.assertGreater(self.bytes(int(blob + 2) * 10**6), 10**9)
        gigabytes, keys = said("choosing.md", r"(\d+) GB: (\d+) billion keys")
        self.db.execute(f"CREATE VIRTUAL TABLE largest USING bloom(capacity={int(keys)}000000000)")
        self.assertEqual(round(self.db.execute("SELECT bytes FROM largest").fetchone()[0] / 1e9), gigabytes)
        with self.assertRaises(Exception):
            self.db.execute(f"CREATE VIRTUAL TABLE larger USING bloom(capacity={int(keys + 1)}000000000)")

    def test_small_filters(self):
        two_blocks, few = (int(number) for number in said("choosing.md", r"few keys: ([\d,]+) need [^\n]*\nFor fewer than (\d+), the header"))
        self.assertGreater(self.bytes(two_blocks), 1.5 * self.bytes(two_blocks - 1))
        self.assertLessEqual(self.bytes(few - 1), 2 * 64)
        self.assertGreater(self.bytes(few), 2 * 64)

    def test_partitioned(self):
        large, many, medium, some = said("choosing.md", r"1× to ([\d.]+)× for ([\d,]+) keys or more, up to ([\d.]+)× for ([\d,]+) or more")
        for fewest, most in ((many, large), (some, medium)):
            ratios = [self.bytes(n, "partitioned", p) / self.bytes(n, "standard", p)
                      for n in range(int(fewest), 2 * int(fewest), int(fewest) // 100) for p in (0.1, 0.03, 0.01, 0.001)]
            self.assert_between(1, ratios, most, 0.01)

    def test_counting(self):
        low, high, fewest = said("counting.md", r"takes ([\d.]+) to ([\d.]+) times the bytes for ([\d,]+) keys")
        ratios = [self.bytes(n, "counting", p) / self.bytes(n, "standard", p)
                  for n in [*range(int(fewest), 400_000, 4013), 10**7] for p in (0.1, 0.01, 0.001)]
        self.assert_between(low, ratios, high, 0.05)


if __name__ == "__main__":
    unittest.main()
