"""Bloom tables that grow: layers are added as keys are.

    /usr/bin/python3 tests/table/growth_test.py EXTENSION [unittest options]
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.case import InFolder  # noqa: E402
from support.host import SANITIZED, connect, one  # noqa: E402


class GrowingCase(InFolder):
    KEYS = "WITH RECURSIVE n(i) AS (VALUES(?1) UNION ALL SELECT i + 1 FROM n WHERE i < ?2) "

    def add(self, db, first, last):
        db.execute(self.KEYS + "INSERT INTO f(key) SELECT 'key ' || i FROM n", (first, last))

    def lost(self, db, first, last):
        return one(db, self.KEYS + "SELECT count(*) FROM n LEFT JOIN f ON f.key = 'key ' || i WHERE f.key IS NULL", first, last)

    def wrong(self, db, asked):
        return one(db, self.KEYS + "SELECT count(*) FROM n JOIN f ON f.key = 'other ' || i", 1, asked)


@unittest.skipIf(SANITIZED, "takes minutes with sanitizers, and the other tests run the same code")
class Rates(GrowingCase):
    def test_it_keeps_its_rate_and_its_keys(self):
        for options in ("", "fpr=0.0005", "kind=partitioned", "block=0, cache=8192", "block=512", "capacity=50, growth=on", "collate=nocase"):
            with self.subTest(options):
                db = self.connect(":memory:")
                db.execute(f"CREATE VIRTUAL TABLE f USING bloom({options})")
                n, asked = 0, 40000
                for goal in (10, 1000, 3000, 12000, 60000):
                    self.add(db, n + 1, goal)
                    n = goal
                    info = self.info(db)
                    self.assertEqual(self.lost(db, 1, n), 0)
                    mean = asked * info["target_fpr"]
                    self.assertLess(self.wrong(db, asked), mean + 4 * mean**0.5)
                    self.assertLess(info["fpr"], info["target_fpr"])
                    self.assertAlmostEqual(info["keys"] / n, 1, delta=0.05 if n > 1000 else 0.3)
                    self.assertLess(info["keys"], info["capacity"] * 1.05)
                    self.assertFalse(info["overfull"])
                    self.assertEqual(info["bytes"], 64 * len(info["layers"]) + sum((layer["cells"] + 7) // 8 for layer in info["layers"]))
                self.assertGreater(len(info["layers"]), 2)

    def test_a_million_keys(self):
        n = 1000000
        db = self.connect(":memory:")
        db.execute("CREATE VIRTUAL TABLE f USING bloom")
        self.add(db, 1, n)
        info = self.info(db)
        asked = 100000
        self.assertEqual(self.lost(db, 1, n), 0)
        self.assertLess(self.wrong(db, asked) / asked, 0.01)
        self.assertLess(info["bytes"], 2 * one(db, f"SELECT length(bloom_create({n}))"))


class BeyondTheCapacity(GrowingCase):
    """A table that follows a source does not decide how many rows there are."""

    OPTIONS = "source=t, column=k, capacity=10"

    def following(self, options, rows=1000):
        db = self.connect(":memory:")
        db.execute("CREATE TABLE t(k)")
        db.execute(f"CREATE VIRTUAL TABLE f USING bloom({self.OPTIONS}{options})")
        db.execute(self.KEYS + "INSERT INTO t SELECT 'key ' || i FROM n", (1, rows))
        if "extension" not in options:
            db.execute("INSERT INTO f(f) VALUES ('merge')")
        self.assertEqual(self.lost(db, 1, rows), 0)
        return db

    def test_a_table_that_follows_a_source_grows(self):
        for options in ("", ", writers=extension", ", kind=partitioned", ", growth=on", ", block=512"):
            db = self.following(options)
            info = self.info(db)
            self.assertLess(info["fpr"], 0.02, options)
            self.assertLess(abs(info["keys"] - 1000), 100, options)
            self.assertGreater(info["capacity"], 1000)
            self.assertFails(db, "grown to . layers .*'rebuild'", "SELECT filter FROM f")
            db.execute("INSERT INTO f(f) VALUES ('rebuild')")
            self.assertEqual(len(self.info(db)["layers"]), 1)
            db.execute("INSERT INTO f(f, fpr) VALUES ('fold', 0.1)")
            self.assertEqual(one(db, "SELECT bloom_check(filter) FROM f"), "ok")
            self.assertEqual(self.lost(db, 1, 1000), 0)

    def test_the_first_layer_has_the_size_of_the_capacity(self):
        db = self.connect(":memory:")
        db.execute("CREATE TABLE t(k)")
        db.execute("CREATE VIRTUAL TABLE f USING bloom(source=t, column=k, capacity=6000)")
        self.assertEqual(one(db, "SELECT filter = bloom_create(6000) FROM f"), 1)

    def test_tables_that_do_not_grow(self):
        for options in (", growth=off", ", kind=counting", ", block=32"):
            self.assertEqual(one(self.following(options, 100), "SELECT layers FROM f"), 1, options)


class TooFullToEstimate(GrowingCase):
    def test_the_number_of_keys_is_unknown(self):
        db = self.connect(":memory:")
        db.execute("CREATE TABLE t(k)")
        db.execute("CREATE VIRTUAL TABLE f USING bloom(source=t, column=k, capacity=10, growth=off)")
        for rows, known in ((10, True), (1000, False)):
            db.execute(self.KEYS + "INSERT INTO t SELECT 'key ' || i FROM n", (1, rows))
            db.execute("INSERT INTO f(f) VALUES ('merge')")
            keys, overfull = db.execute("SELECT keys, overfull FROM f").fetchone()
            self.assertEqual((keys is not None, overfull), (known, int(not known)))
            self.assertEqual(self.info(db)["keys"], keys)
            self.assertEqual(db.execute("SELECT bloom_count(filter), json_extract(bloom_info(filter), '$.keys') FROM f").fetchone(), (keys, keys))
            self.assertEqual(db.execute("SELECT keys, s.overfull FROM (SELECT filter AS b FROM f), bloom_stats(b) AS s").fetchone(), (keys, overfull))
        self.assertFails(db, "f: the filter is too full to estimate its number of keys", "SELECT count(*) FROM f")
        self.assertEqual(one(db, "SELECT fpr FROM f"), 1)
        size = one(db, "SELECT bytes FROM f")
        db.execute("INSERT INTO f(f, fpr) VALUES ('fold', 0.5)")
        self.assertEqual(one(db, "SELECT bytes FROM f"), size)
        db.execute("INSERT INTO f(f) VALUES ('rebuild')")
        self.assertAlmostEqual(one(db, "SELECT count(*) FROM f"), 1000, delta=30)

    def test_a_table_without_a_source(self):
        db = self.connect(":memory:")
        db.execute("CREATE VIRTUAL TABLE f USING bloom(cells=64, hashes=4)")
        self.add(db, 1, 1000)
        self.assertEqual(db.execute("SELECT keys, overfull FROM f").fetchone(), (None, 1))
        db.execute("CREATE VIRTUAL TABLE g USING bloom(cells=32, hashes=4)")
        self.assertEqual(one(db, "SELECT keys FROM g"), 0)

    def test_a_member_of_groups(self):
        db = self.connect(":memory:")
        db.execute("CREATE VIRTUAL TABLE f USING bloom_groups(capacity=10)")
        db.execute(self.KEYS + "INSERT INTO f(member, key) SELECT 'full', i FROM n", (1, 1000))
        db.execute("INSERT INTO f(member, key) VALUES ('one', 1)")
        self.assertEqual(db.execute("SELECT member, keys, overfull FROM f ORDER BY member").fetchall(), [("full", None, 1), ("one", 1, 0)])


class Layers(GrowingCase):
    def test_repeated_keys_take_no_space(self):
        db = self.connect()
        db.execute("CREATE VIRTUAL TABLE f USING bloom")
        for _ in range(5):
            self.add(db, 1, 900)
        self.assertEqual(len(self.info(db)["layers"]), 1)
        self.add(db, 1, 5000)
        grown = self.info(db)
        self.add(db, 1, 5000)
        self.assertEqual(self.info(db), grown)

    def test_layers_come_and_go_with_transactions(self):
        db = self.connect()
        other = self.connect()
        db.execute("CREATE VIRTUAL TABLE f USING bloom(cache=4096)")
        self.add(db, 1, 500)
        self.assertEqual(self.lost(other, 1, 500), 0)
        db.execute("BEGIN")
        self.add(db, 501, 800)
        db.execute("SAVEPOINT s")
        self.add(db, 801, 3000)
        self.assertEqual(len(self.info(db)["layers"]), 2)
        db.execute("ROLLBACK TO s")
        self.assertEqual(len(self.info(db)["layers"]), 1)
        self.assertEqual(self.lost(db, 1, 800), 0)
        self.assertGreater(self.lost(db, 801, 3000), 2000)
        self.add(db, 801, 20000)
        self.assertEqual(len(self.info(other)["layers"]), 1)
        db.execute("COMMIT")
        for connection in (db, other, self.connect()):
            self.assertEqual(self.lost(connection, 1, 20000), 0)
            self.assertEqual(len(self.info(connection)["layers"]), 4)
        self.add(other, 20001, 20100)
        self.assertEqual(self.lost(db, 1, 20100), 0)

    def test_growth_by_connections_that_add_one_key_each(self):
        db = self.connect()
        db.execute("PRAGMA synchronous = OFF")
        db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=100, growth=on)")
        for i in range(1, 400):
            with connect(self.path) as once:
                once.execute("PRAGMA synchronous = OFF")
                once.execute("INSERT INTO f(key) VALUES ('key ' || ?)", (i,))
            once.close()
        self.assertEqual(self.lost(db, 1, 399), 0)
        self.assertEqual([round(layer["keys"], -1) for layer in self.info(db)["layers"]], [100, 220, 80])

    def test_clear_leaves_one_empty_layer(self):
        db = self.connect()
        db.execute("CREATE VIRTUAL TABLE f USING bloom")
        empty = self.info(db)
        self.add(db, 1, 30000)
        db.execute("INSERT INTO f(f) VALUES ('clear')")
        self.assertEqual(self.info(db), empty)
        self.assertEqual(one(db, "SELECT count(*) FROM f_data"), 0)

    def test_with_one_layer_it_is_a_filter_like_any_other(self):
        db = self.connect()
        db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=5000, growth=on)")
        self.add(db, 1, 1000)
        db.execute("CREATE TABLE blob AS SELECT filter FROM f")
        db.execute("INSERT INTO f(f) VALUES ('HALVE')")
        self.assertEqual(one(db, "SELECT f.filter = bloom_halve(b.filter) FROM f, blob AS b"), 1)
        self.assertFails(db, "cannot merge a filter into a table that grows", "INSERT INTO f(filter) SELECT filter FROM blob")
        self.add(db, 1001, 9000)
        self.assertEqual(self.lost(db, 1, 9000), 0)
        for sql in ("INSERT INTO f(f) VALUES ('halve')", "SELECT filter FROM f"):
            self.assertFails(db, "cannot .* a table that has grown to 3 layers", sql)

    def test_without_growth_a_full_filter_says_so(self):
        for options in ("capacity=1000", "capacity=1000, kind=counting", "capacity=1000, growth=off"):
            db = self.connect(":memory:")
            db.execute(f"CREATE VIRTUAL TABLE f USING bloom({options})")
            self.add(db, 1, 3000)
            info = self.info(db)
            self.assertTrue(info["overfull"])
            self.assertEqual(info["capacity"], 1000)
            self.assertNotIn("layers", info)
            self.assertEqual(self.lost(db, 1, 3000), 0)
            self.assertAlmostEqual(self.wrong(db, 20000) / 20000 / info["fpr"], 1, delta=0.1)

    def test_damaged_layers_are_named(self):
        for number, (damage, text) in enumerate({
            "substr(v, 1, 100)": "a header has 64 bytes, got 36",
            "CAST(v || x'00' AS BLOB)": "a header has 64 bytes, got 1",
            "CAST(v || zeroblob(64) AS BLOB)": "bad magic",
            "CAST(v || (SELECT v FROM counting_config WHERE k = 'header') AS BLOB)": "layers in the config differ in kind, seed or collation",
            "CAST(v || (SELECT v FROM seeded_config WHERE k = 'header') AS BLOB)": "layers in the config differ in kind, seed or collation",
            "CAST(v || (SELECT v FROM nocase_config WHERE k = 'header') AS BLOB)": "layers in the config differ in kind, seed or collation",
            "x''": "a header has 64 bytes, got 0",
            "'text'": "the config has no header",
        }.items()):
            path = f"{self.path}.{number}"
            db = self.connect(path)
            db.execute("CREATE VIRTUAL TABLE f USING bloom")
            db.execute("CREATE VIRTUAL TABLE nocase USING bloom(collate=nocase)")
            db.execute("CREATE VIRTUAL TABLE counting USING bloom(capacity=10, kind=counting)")
            db.execute("CREATE VIRTUAL TABLE seeded USING bloom(seed=1)")
            self.add(db, 1, 3000)
            db.execute(f"UPDATE f_config SET v = {damage} WHERE k = 'header'")
            db = self.connect(path)
            for sql in ("SELECT 1 FROM f WHERE key = 1", "INSERT INTO f(key) VALUES (1)", "INSERT INTO f(f) VALUES ('integrity-check')"):
                self.assertFails(db, text, sql)
            db.execute("DROP TABLE f")


if __name__ == "__main__":
    unittest.main()
