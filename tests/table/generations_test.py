"""Tables with generations: keys are forgotten generation by generation, and not before.

    /usr/bin/python3 tests/table/generations_test.py EXTENSION [unittest options]

The models of tests/table and tests/promise rotate at random. Here are rates, what other connections and statements see,
the recipes of docs/time-windows.md, and damage.
"""

import collections
import itertools
import os
import random
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.case import TableCase  # noqa: E402
from support.host import EXTENSION, SANITIZED, one  # noqa: E402

ROTATE = "INSERT INTO f(f) VALUES ('rotate')"


class GenerationsCase(TableCase):
    def make(self, options="capacity=4000, generations=4", path=None):
        db = self.connect(path)
        db.execute(f"CREATE VIRTUAL TABLE f USING bloom({options})")
        return db

    def add_range(self, db, first, last):
        db.execute(
            "WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2) INSERT INTO f(key) SELECT 'key ' || i FROM n", (first, last)
        )

    def found(self, db, first, last):
        return one(
            db,
            "WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2) SELECT count(*) FROM n JOIN f ON f.key = 'key ' || i",
            first,
            last,
        )

    def generations(self, db):
        """The estimated number of keys of each generation, newest first."""
        return [generation["keys"] for generation in reversed(self.info(db)["generations"])]


class Rates(GenerationsCase):
    def test_the_rate_of_all_full_generations_is_that_of_the_table(self):
        n, asked = (10000, 20000) if SANITIZED else (40000, 60000)
        for generations, options in itertools.product((2, 3, 8, 64), ("", "kind=partitioned", "block=512", "cache=8192", "fpr=0.1")):
            with self.subTest(generations=generations, options=options):
                db = self.make(f"capacity={n}, generations={generations}{', ' if options else ''}{options}", ":memory:")
                share = n // generations
                # More rotations than generations: the slots are used again.
                for i in range(generations + 2):
                    db.execute(ROTATE)
                    self.add_range(db, i * share, i * share + share - 1)
                info = self.info(db)
                mean = asked * info["target_fpr"]
                wrong = self.found(db, 10**9, 10**9 + asked - 1)
                self.assertLess(wrong, mean + 4 * mean**0.5)
                # Small filters have more cells than they need, because their number of blocks is rounded up.
                self.assertGreater(wrong, mean / 50)
                self.assertLess(info["fpr"], info["target_fpr"] * 1.1)
                self.assertAlmostEqual(wrong, asked * info["fpr"], delta=5 * mean**0.5)
                self.assertEqual(self.found(db, 2 * share, (generations + 2) * share - 1), generations * share)
                self.assertEqual(len(info["generations"]), generations)
                self.assertAlmostEqual(info["keys"] / n, 1, delta=0.05)
                db.close()

    def test_capacity_is_that_of_all_generations_and_overfull_that_of_the_newest(self):
        db = self.make("capacity=40000, generations=4")
        self.assertEqual(db.execute("SELECT capacity, layers, generations FROM f").fetchone(), (40000, 4, 4))
        self.add_range(db, 1, 10000)
        self.assertEqual(one(db, "SELECT overfull FROM f"), 0)
        self.add_range(db, 10001, 15000)
        self.assertEqual(one(db, "SELECT overfull FROM f"), 1)
        db.execute(ROTATE)
        self.assertEqual(one(db, "SELECT overfull FROM f"), 0)
        self.assertEqual(self.found(db, 1, 15000), 15000)


class Forgetting(GenerationsCase):
    def test_a_key_lives_until_its_generation_is_dropped(self):
        for generations in (2, 5):
            db = self.make(f"capacity=40000, fpr=0.0001, generations={generations}", ":memory:")
            for i in range(3 * generations):
                self.add_range(db, i * 100, i * 100 + 99)
                oldest = max(0, i + 1 - generations)
                self.assertEqual(self.found(db, oldest * 100, i * 100 + 99), (i + 1 - oldest) * 100)
                self.assertLess(self.found(db, 0, oldest * 100 - 1) if oldest else 0, 3)
                db.execute(ROTATE)

    def test_insert_refreshes_a_key_and_insert_or_ignore_does_not(self):
        db = self.make("capacity=4000, fpr=0.000001, generations=3")
        db.execute("INSERT INTO f(key) VALUES ('insert'), ('ignore'), ('twice')")
        db.execute(ROTATE)
        db.execute("INSERT INTO f(key) VALUES ('insert')")
        self.assertEqual(db.execute("INSERT OR IGNORE INTO f(key) VALUES ('ignore'), ('insert'), ('new')").rowcount, 1)
        db.execute(ROTATE)
        self.assertPresent(db, ["insert", "ignore", "twice", "new"])
        db.execute(ROTATE)
        self.assertEqual(self.present(db, "insert", "ignore", "twice", "new"), ["insert", "new"])
        self.assertEqual(db.execute("INSERT OR IGNORE INTO f(key) VALUES ('ignore'), ('insert'), ('ignore')").rowcount, 1)

    def test_changes_counts_what_only_dropped_generations_had(self):
        """Against a multiset of the keys of each generation. The rate is so low that no key is a false positive."""
        rng = random.Random(1)
        db = self.make("capacity=3000, fpr=0.0000000001, generations=3")
        window = collections.deque([set(), set(), set()], 3)
        for _ in range(600):
            if rng.random() < 0.05:
                db.execute(ROTATE)
                window.append(set())
                continue
            keys = [rng.randrange(150) for _ in range(rng.choice((1, 1, 2, 7)))]
            new = set(keys) - set().union(*window)
            if rng.random() < 0.7:
                self.assertEqual(db.execute("INSERT OR IGNORE INTO f(key) VALUES " + ",".join("(?)" for _ in keys), keys).rowcount, len(new))
                window[-1] |= new
            else:
                db.execute("INSERT INTO f(key) VALUES " + ",".join("(?)" for _ in keys), keys)
                window[-1] |= set(keys)
            self.assertEqual(set(self.present(db, *range(150))), set().union(*window))
            self.assertEqual(self.generations(db), [len(keys) for keys in reversed(window)])

    def test_a_filter_is_merged_into_the_newest_generation(self):
        db = self.make("capacity=400, fpr=0.01, generations=4")
        db.execute("INSERT INTO f(key) VALUES ('old')")
        db.execute(ROTATE)
        db.execute("INSERT INTO f(filter) VALUES (bloom_add(bloom_create(100, 0.0025), 'merged'))")
        self.assertEqual(self.generations(db), [1, 1, 0, 0])
        for _ in range(3):
            self.assertPresent(db, ["merged"])
            db.execute(ROTATE)
        self.assertEqual(self.generations(db), [0, 0, 0, 1])
        db.execute(ROTATE)
        self.assertAbsent(db, ["merged", "old"])

    def test_rotating_copies_nothing(self):
        db = self.make("capacity=1000000, generations=4")
        for i in range(4):
            db.execute(ROTATE)
            self.add_range(db, i * 250000, i * 250000 + 9999)
        rows = dict(db.execute("SELECT id, hash FROM (SELECT id, hex(chunk) AS hash FROM f_data)"))
        newest = one(db, "SELECT v FROM f_config WHERE k = 'newest'")
        db.execute(ROTATE)
        self.assertEqual(one(db, "SELECT v FROM f_config WHERE k = 'newest'"), (newest + 1) % 4)
        share = len(rows) // 4
        dropped = range((newest + 1) % 4 * share, ((newest + 1) % 4 + 1) * share)
        self.assertEqual(dict(db.execute("SELECT id, hex(chunk) FROM f_data")), {i: chunk for i, chunk in rows.items() if i not in dropped})


class Statements(GenerationsCase):
    """What SQLite and other connections may do between two calls."""

    def test_rollback(self):
        db = self.make("capacity=4000, fpr=0.000001, generations=2")
        db.execute("INSERT INTO f(key) VALUES ('old')")
        db.execute(ROTATE)
        for undo in (("BEGIN", "ROLLBACK"), ("SAVEPOINT a", "ROLLBACK TO a"), ("BEGIN", "SAVEPOINT a", "ROLLBACK TO a")):
            for statement in undo[:-1]:
                db.execute(statement)
            db.execute("INSERT INTO f(key) VALUES ('undone')")
            db.execute(ROTATE)
            self.assertEqual(self.present(db, "old", "undone"), ["undone"])
            db.execute("INSERT INTO f(key) VALUES ('undone too')")
            db.execute(undo[-1])
            self.assertEqual(self.present(db, "old", "undone", "undone too"), ["old"])
            if db.in_transaction:
                db.execute("COMMIT")
            self.assertEqual(self.present(self.connect(), "old", "undone", "undone too"), ["old"])
        db.execute(ROTATE)
        self.assertAbsent(db, ["old"])

    def test_a_statement_that_fails_rotates_nothing(self):
        db = self.make("capacity=4000, generations=2")
        db.execute("INSERT INTO f(key) VALUES ('old')")
        for begin in (None, "BEGIN", "SAVEPOINT a"):
            if begin:
                db.execute(begin)
            self.assertFails(db, "unknown command", "INSERT INTO f(f) VALUES ('rotate'), ('rotate'), ('nothing')")
            self.assertFails(db, "key must not be NULL", "INSERT INTO f(f, key) VALUES ('rotate', NULL), ('rotate', NULL), (NULL, NULL)")
            self.assertPresent(db, ["old"])
            if begin:
                db.execute("COMMIT")

    def test_a_statement_that_adds_keys_and_rotates(self):
        db = self.make("capacity=4000, generations=2")
        rows = "(NULL, 'k1'), (NULL, 'k2'), (NULL, 'k3'), (NULL, 'k4'), ('rotate', NULL), (NULL, 'k5'), (NULL, 'k6'), (NULL, 'k7')"
        for begin, end in ((None, None), ("BEGIN", "COMMIT")):
            db.execute("INSERT INTO f(f) VALUES ('clear')")
            if begin:
                db.execute(begin)
            db.execute(f"INSERT INTO f(f, key) VALUES {rows}")
            if end:
                db.execute(end)
            self.assertEqual(self.generations(db), [3, 4])
            self.assertPresent(self.connect(), [f"k{i}" for i in range(1, 8)])

    def test_a_rotation_that_fails_halfway_is_undone_without_its_transaction(self):
        """The rows of the oldest generation are gone when the config is written."""
        for begin in (None, "BEGIN", "SAVEPOINT a"):
            db = self.make(path=f"{self.path}{begin}")
            db.execute("INSERT INTO f(key) VALUES ('oldest')")
            db.execute("INSERT INTO f(f) VALUES ('rotate'), ('rotate'), ('rotate')")
            db.execute("CREATE TRIGGER no BEFORE INSERT ON f_config BEGIN SELECT RAISE(ABORT, 'no'); END")
            if begin:
                db.execute(begin)
                db.execute("INSERT INTO f(key) VALUES ('undone')")
            self.assertFails(db, "no", ROTATE)
            self.assertEqual(db.in_transaction, begin is not None)
            self.assertEqual(self.present(db, "oldest", "undone"), ["oldest", "undone"] if begin else ["oldest"])
            if begin:
                db.execute("ROLLBACK")
            db.execute("DROP TRIGGER no")
            self.assertEqual(self.generations(db), [0, 0, 0, 1])
            db.execute(ROTATE)
            self.assertAbsent(db, ["oldest"])

    def test_a_running_select_keeps_its_snapshot_or_sees_the_rotation(self):
        db = self.make("capacity=4000, fpr=0.000001, generations=2")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE asked(k)")
        db.executemany("INSERT INTO asked VALUES (?)", [("a",)] * 6)
        lookups = "SELECT asked.rowid FROM asked LEFT JOIN f ON f.key = asked.k WHERE f.key IS NULL"
        for rotating, found_after in ((self.connect(), True), (db, False)):
            db.execute("INSERT INTO f(f) VALUES ('clear')")
            db.execute("INSERT INTO f(key) VALUES ('a')")
            statement = db.execute("SELECT asked.rowid, f.key IS NOT NULL FROM asked LEFT JOIN f ON f.key = asked.k")
            self.assertEqual(statement.fetchone(), (1, 1))
            rotating.execute(ROTATE)
            self.assertEqual(statement.fetchone(), (2, 1))
            rotating.execute(ROTATE)
            # Python has the next row already.
            self.assertEqual([found for _, found in statement][1:], [int(found_after)] * 3)
            self.assertEqual(len(db.execute(lookups).fetchall()), 6)

    def test_other_connections_and_other_objects_notice_a_rotation(self):
        db = self.make("capacity=4000, fpr=0.000001, generations=2")
        other = self.connect()
        for i in range(12):
            key = f"key {i}"
            (db, other)[i % 2].execute("INSERT INTO f(key) VALUES (?)", (key,))
            self.assertPresent(db, [key])
            self.assertPresent(other, [key])
            if i % 3 == 0:
                other.execute("PRAGMA writable_schema = RESET")
            (other, db)[i // 2 % 2].execute(ROTATE)
            # A key is added into the generation that is the newest now, also by a connection that has just looked keys up.
            (db, other)[i % 2].execute("INSERT INTO f(key) VALUES (?)", (f"{key} later",))
            for side in (db, other):
                self.assertPresent(side, [key, f"{key} later"])
            (other, db)[i // 2 % 2].execute(ROTATE)
            for side in (db, other):
                self.assertEqual(self.present(side, key, f"{key} later"), [f"{key} later"])

    def test_a_new_object_in_a_transaction(self):
        db = self.make("capacity=4000, fpr=0.000001, generations=2")
        db.execute("CREATE TABLE x(y)")
        db.execute("BEGIN")
        db.execute("INSERT INTO f(key) VALUES ('a')")
        db.execute("PRAGMA writable_schema = RESET")
        db.execute(ROTATE)
        db.execute("INSERT INTO f(key) VALUES ('b')")
        db.execute("ALTER TABLE x RENAME TO z")
        self.assertPresent(db, ["a", "b"])
        db.execute(ROTATE)
        self.assertEqual(self.present(db, "a", "b"), ["b"])
        db.execute("COMMIT")
        self.assertEqual(self.generations(self.connect()), [0, 1])

    def test_copies_rotate_as_the_original_does(self):
        db = self.make("capacity=4000, fpr=0.000001, generations=3")
        for key in "abc":
            db.execute("INSERT INTO f(key) VALUES (?)", (key,))
            db.execute(ROTATE)
        db.execute("VACUUM")
        db.execute("ALTER TABLE f RENAME TO g")
        db.execute("ALTER TABLE g RENAME TO f")
        self.assertEqual(self.present(db, *"abc"), ["b", "c"])
        backup = self.connect(self.path + "-copy")
        db.backup(backup)
        shell = ["env", "-u", "LD_LIBRARY_PATH", "sqlite3", "-batch", "-init", os.devnull, "-cmd", f".load {EXTENSION}"]
        dump = subprocess.run([*shell, self.path, ".dump"], check=True, capture_output=True, text=True).stdout
        subprocess.run([*shell, self.path + "-restored"], input=dump, check=True, text=True)
        for side in (db, backup, self.connect(self.path + "-restored")):
            side.execute("INSERT INTO f(key) VALUES ('d')")
            side.execute(ROTATE)
            self.assertEqual(self.present(side, *"abcd"), ["c", "d"])
            side.execute(ROTATE)
            self.assertEqual(self.present(side, *"abcd"), ["d"])

    def test_a_trigger_rotates_once_per_period(self):
        db = self.make("capacity=4000, fpr=0.000001, generations=3")
        db.execute("CREATE TABLE clock(period INTEGER)")
        db.execute("INSERT INTO clock VALUES (99)")
        db.execute("CREATE TRIGGER next_period AFTER UPDATE ON clock BEGIN INSERT INTO f(f) VALUES ('rotate'); END")
        other = self.connect()
        db.execute("INSERT INTO f(key) VALUES ('a')")
        for period, present in ((99, 1), (100, 1), (101, 1), (101, 1), (100, 1), (104, 0)):
            for side in (db, other):
                side.execute("UPDATE clock SET period = ?1 WHERE period < ?1", (period,))
                self.assertEqual(len(self.present(side, "a")), present, period)

    def test_rotating_when_the_newest_generation_is_full_keeps_the_last_keys(self):
        db = self.make("capacity=9000, fpr=0.0001, generations=3")
        for first in range(0, 40000, 500):
            self.add_range(db, first, first + 499)
            db.execute("INSERT INTO f(f) SELECT 'rotate' FROM f WHERE overfull")
            kept = max(0, first + 500 - 6000)
            self.assertEqual(self.found(db, kept, first + 499), first + 500 - kept)
        self.assertLess(self.found(db, 0, 25000), 100)


class Damage(GenerationsCase):
    CASES = (
        ("DELETE FROM f_config WHERE k = 'newest'", "the config does not say which generation is the newest"),
        ("UPDATE f_config SET v = -1 WHERE k = 'newest'", "the config does not say which generation is the newest"),
        ("UPDATE f_config SET v = 4 WHERE k = 'newest'", "the config does not say which generation is the newest"),
        ("UPDATE f_config SET v = '1' WHERE k = 'newest'", "the config does not say which generation is the newest"),
        ("UPDATE f_config SET v = CAST(v || (SELECT v FROM g_config WHERE k = 'header') AS BLOB) WHERE k = 'header'", "the generations in the config have different headers"),
        ("UPDATE f_config SET v = 9 WHERE k = 'version'", "the table is of version 9, which this build does not know"),
        ("UPDATE f_data SET chunk = x''", "must have [0-9]+ bytes, has 0"),
    )

    def test_every_statement_reports_the_damage(self):
        for number, (sql, text) in enumerate(self.CASES):
            with self.subTest(sql):
                path = f"{self.path}.{number}"
                db = self.make("capacity=4000, generations=4", path)
                db.execute("CREATE VIRTUAL TABLE g USING bloom(capacity=10)")
                self.add_range(db, 1, 500)
                db.execute(ROTATE)
                self.add_range(db, 1, 500)
                db.execute(sql)
                db = self.connect(path)
                for statement in ("SELECT 1 FROM f WHERE key = 'key 1'", "INSERT INTO f(key) VALUES ('a')", "SELECT info FROM f", "INSERT INTO f(f) VALUES ('integrity-check')"):
                    self.assertFails(db, text, statement)
                if "config" in sql:
                    self.assertFails(db, text, ROTATE)

    def test_a_schema_that_lets_the_table_grow(self):
        db = self.make("capacity=4000, generations=4")
        db.execute("INSERT INTO f(key) VALUES ('a')")
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_master SET sql = replace(sql, 'generations=4', 'growth=on') WHERE name = 'f'")
        db.close()
        self.assertFails(self.connect(), "the config has generations, but the table grows", "INSERT INTO f(key) VALUES ('b')")

    def test_older_programs_refuse_the_table(self):
        """They know versions 1 and 2, whose rows are not counted."""
        db = self.make()
        self.assertEqual(one(db, "SELECT v FROM f_config WHERE k = 'version'"), 6)
        for options in ("capacity=10", "growth=on", "capacity=10, kind=counting"):
            db.execute(f"CREATE VIRTUAL TABLE g USING bloom({options})")
            self.assertEqual(one(db, "SELECT v FROM g_config WHERE k = 'version'"), 4)
            db.execute("DROP TABLE g")


if __name__ == "__main__":
    unittest.main()
