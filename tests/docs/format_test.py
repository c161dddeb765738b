"""The program examples/format.py, which follows docs/format.md alone, reads the same bytes as the extension does.

    /usr/bin/python3 tests/docs/format_test.py EXTENSION
"""

import random
import re
import struct
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

    def test_the_cells_of_a_search_table(self):
        texts = [(f"Request {i}: K\u00f6ln_{i % 7}", value) for i, value in enumerate((1, "05", "ABC", None, 2.5, b"x", "\u65e5\u672c\u8a9e") * 3)]
        self.db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, msg, v)")
        self.db.executemany("INSERT INTO log(msg, v) VALUES (?, ?)", texts)
        self.db.execute("CREATE VIRTUAL TABLE t USING bloom_search(source=log, like=msg, words=msg, equal=v)")
        mix, rotl, m64 = self.reader["mix"], self.reader["rotl"], self.reader["M64"]
        h1 = lambda key, seed: self.reader["murmur3"](key, seed)[0]  # noqa: E731
        values = [h1(v, 6) for v in (b"1", b"05", b"ABC", b"2.5", b"x", "\u65e5\u672c\u8a9e".encode())] + [h1(b"", 8)]
        words = {word for text, _ in texts for word in re.findall(r"\w+", text.lower())}
        grams = set()
        for text, _ in texts:
            codes = [ord(c) for c in text.lower()]
            for a, b, d, e in zip(codes, codes[1:], codes[2:], codes[3:]):
                x = (a + (b << 32)) * 0x9E3779B97F4A7C15 & m64
                grams.add(mix(x ^ rotl(d + (e << 32), 29)))
        for name, first, keys in (("keys", 0, values + [h1(word.encode(), 4) for word in words]), ("grams", 2**60, grams)):
            _, k, m, block, _, _ = self.reader["header"](one(self.db, "SELECT v FROM t_config WHERE k = ?", name) + bytes((m_of(self.db, name) + 7) // 8))
            expected = set()
            for key in keys:
                x = mix(key + 0x9E3779B97F4A7C15 & m64)
                start = block * (key * (m // block) >> 64)
                for _ in range(k):
                    expected.add(start + (x * block >> 64))
                    x = x * 0xF1357AEA2E62A9C5 & m64
            self.assertEqual(one(self.db, "SELECT id FROM t_ranges WHERE id BETWEEN ? AND ?", first, first + 2**59), first)
            chunks = b"".join(one(self.db, "SELECT chunk FROM t_data WHERE id = ?", first + (c << 24)) for c in range(m // block))
            self.assertEqual({i for i in range(m) if chunks[8 * i] & 1}, expected, name)


def m_of(db, name):
    return struct.unpack("<Q", one(db, "SELECT v FROM t_config WHERE k = ?", name)[8:16])[0]


if __name__ == "__main__":
    unittest.main()
