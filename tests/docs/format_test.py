"""The program examples/format.py, which follows docs/format.md alone, reads the same bytes as the extension does.

    /usr/bin/python3 tests/docs/format_test.py EXTENSION
"""

import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.format import as_version_1, reader  # noqa: E402
from support.host import connect, one  # noqa: E402

SHAPES = [
    ("standard", 1, 1, 0, 0),
    ("standard", 960, 7, 0, 0),
    ("standard", 1001, 5, 0, 2**31 - 1),
    ("standard", 5120, 6, 512, 7),
    ("standard", 700_000, 3, 7000, 0),
    ("counting", 1000, 4, 0, 0),
    ("counting", 15872, 6, 7936, 3),
    ("partitioned", 1120, 7, 0, 1),
    ("partitioned", 63488, 8, 31744, 0),
]


class Format(unittest.TestCase):
    def setUp(self):
        self.db = connect()
        self.reader = reader()
        self.random = random.Random(1)

    def keys(self, count):
        return [self.random.randbytes(self.random.randrange(40)) for _ in range(count)]

    def filter(self, shape, keys):
        kind, m, k, block, seed = shape
        filter = one(self.db, "SELECT bloom_create_sized(?, ?, ?, ?, ?)", m, k, kind, block, seed)
        for key in keys:
            filter = one(self.db, "SELECT bloom_add(?, ?)", filter, key)
        return filter

    def test_positions_and_answers(self):
        for shape in SHAPES:
            with self.subTest(shape):
                added, others = self.keys(100), self.keys(100)
                filter = self.filter(shape, added)
                self.assertTrue(self.reader["is_intact"](filter))
                damaged = filter[:-1] + bytes([filter[-1] ^ 1])
                self.assertFalse(self.reader["is_intact"](damaged))
                for key in added + others:
                    rows = self.db.execute("SELECT cell, value FROM bloom_positions(?, ?) ORDER BY i", (filter, key))
                    cells = list(self.reader["positions"](filter, key))
                    self.assertEqual([(cell, self.reader["cell"](filter, cell)) for cell in cells], rows.fetchall())
                    self.assertEqual(self.reader["contains"](filter, key), one(self.db, "SELECT bloom_contains(?, ?)", filter, key))

    def test_deltas(self):
        filters = [self.filter(shape, self.keys(count)) for shape in SHAPES for count in (0, 3, 50)]
        filters.append(one(self.db, "SELECT bloom_create(100)"))
        for old in filters + [as_version_1(filter) for filter in filters]:
            for new in self.random.sample(filters, 8) + [old, one(self.db, "SELECT bloom_add(?, 'key')", old)]:
                delta = one(self.db, "SELECT bloom_delta(?, ?)", old, new)
                self.assertEqual(self.reader["apply"](old, delta), one(self.db, "SELECT bloom_add(?, NULL)", new))
                with self.assertRaises(AssertionError):
                    self.reader["apply"](one(self.db, "SELECT bloom_create(7)"), delta)


if __name__ == "__main__":
    unittest.main()
