"""The virtual table bloom_groups: what it answers, refuses and stores.

    /usr/bin/python3 tests/table/groups_test.py EXTENSION [unittest options]

Answers are compared with an exact set of (member, key) pairs, and one to one with bloom_contains() on the filters of the
members, which bloom_add() makes of the same keys.
"""

import collections
import itertools
import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.case import InFolder  # noqa: E402
from support.host import EXTENSION, connect, one  # noqa: E402
from support.raw import BUSY, DBCONFIG_DEFENSIVE, INTERRUPT, LOCKED, OK, Failure, Raw  # noqa: E402

SMALL = "capacity=40, fpr=0.4"  # k = 1: more than 128 full members can be optimized
ABSENT = range(10**6, 10**6 + 50)


class GroupCase(InFolder):
    """The table who, and the exact set of its pairs."""

    def make(self, options="capacity=100", path=None, **connection):
        db = self.connect(path, **connection)
        db.execute(f"CREATE VIRTUAL TABLE who USING bloom_groups({options})")
        return db

    def add(self, db, pairs, table="who"):
        db.execute("BEGIN")
        db.executemany(f"INSERT INTO {table}(member, key) VALUES (?, ?)", list(pairs))
        db.execute("COMMIT")

    def candidates(self, db, key, table="who"):
        return [row[0] for row in db.execute(f"SELECT member FROM {table} WHERE key = ?", (key,))]

    def members(self, db, table="who"):
        return [row[0] for row in db.execute(f"SELECT member FROM {table}")]

    def check(self, db, pairs, table="who"):
        db.execute(f"INSERT INTO {table}({table}) VALUES ('integrity-check')")
        keys_of = collections.defaultdict(set)
        for member, key in pairs:
            keys_of[member].add(key)
        self.assertEqual(sorted(map(repr, self.members(db, table))), sorted(map(repr, keys_of)))
        template = self.template(db, table)
        filters = {member: self.expected_filter(db, keys, template) for member, keys in keys_of.items()}
        for member, filter_ in db.execute(f"SELECT member, filter FROM {table}").fetchall():
            self.assertEqual(filter_, filters[member], f"the filter of {member!r}")
        keys = sorted({key for _, key in pairs if key is not None}, key=repr)
        for key in itertools.chain(random.Random(1).sample(keys, min(len(keys), 100)), ABSENT):
            found = self.candidates(db, key, table)
            wanted = [m for m, f in filters.items() if one(db, "SELECT bloom_contains(?, ?)", f, key)]
            self.assertEqual(sorted(map(repr, found)), sorted(map(repr, wanted)), f"the candidates of {key!r}")
            self.assertLessEqual({m for m in keys_of if key in keys_of[m]}, set(found))
            for member in itertools.islice(filters, 5):
                alone = db.execute(f"SELECT 1 FROM {table} WHERE member = ? AND key = ?", (member, key)).fetchall()
                self.assertEqual(len(alone), member in found)

    def template(self, db, table):
        """An empty filter in the shape of the table."""
        db.execute("SAVEPOINT template")
        db.execute(f"INSERT INTO {table}(member, key) VALUES ('the template', NULL)")
        template = one(db, f"SELECT filter FROM {table} WHERE member = 'the template'")
        db.execute("ROLLBACK TO template")
        db.execute("RELEASE template")
        return template

    def expected_filter(self, db, keys, template):
        """The filter that the functions make of the keys."""
        added = [key for key in keys if key is not None]
        for start in range(0, len(added), 100):
            part = added[start : start + 100]
            template = one(db, f"SELECT bloom_add(?{', ?' * len(part)})", template, *part)
        return template


def some_pairs(members, keys, seed=1):
    rng = random.Random(seed)
    return [(f"m{m}", rng.randrange(10_000)) for m in range(members) for _ in range(keys)]


class Pairs(GroupCase):
    def test_rows_of_one_statement_and_of_many(self):
        for options in ("capacity=100", "capacity=1000, fpr=1e-6", "capacity=10, fpr=0.5, seed=9", "capacity=1"):
            with self.subTest(options):
                db = self.make(options, path=f"{self.path}{options}")
                pairs = some_pairs(70, 20)
                for member, key in pairs[:10]:
                    db.execute("INSERT INTO who(member, key) VALUES (?, ?)", (member, key))
                self.check(db, pairs[:10])
                self.add(db, pairs[10:300])
                db.execute("CREATE TABLE source(m, k)")
                db.executemany("INSERT INTO source VALUES (?, ?)", pairs[300:])
                db.execute("INSERT INTO who(member, key) SELECT m, k FROM source ORDER BY random()")
                self.check(db, pairs)

    def test_orders_of_members_make_the_same_filters(self):
        pairs = some_pairs(130, 8)
        for order in (pairs, sorted(pairs, key=lambda p: p[1])):
            db = self.make(SMALL, path=f"{self.path}{order is pairs}")
            self.add(db, order)
            self.check(db, pairs)

    def test_overfull_members_lose_nothing(self):
        db = self.make("capacity=5")
        pairs = [(m, k) for m in ("a", "b") for k in range(3000 if m == "a" else 3)]
        self.add(db, pairs)
        self.check(db, pairs)
        self.assertEqual(dict(db.execute("SELECT member, overfull FROM who")), {"a": 1, "b": 0})

    def test_storage_classes_of_members(self):
        db = self.make()
        members = [1, "1", b"1", 1.5, "", b"", "Köln", 2**63 - 1, -(2**63), 1e300, float("inf"), "a\0b", "x" * 5000, "A", "a", "a ", 9007199254740993, 0.1, 0.1 + 2e-17 * 4]
        pairs = [(member, f"key of {i}") for i, member in enumerate(members)] + [(member, "all") for member in members]
        self.add(db, pairs)
        db.execute("INSERT INTO who(member, key) VALUES " + ", ".join("(?, ?)" for _ in pairs), [v for i, p in enumerate(pairs) for v in (p[0], f"again {i}")])
        pairs += [(p[0], f"again {i}") for i, p in enumerate(pairs)]
        self.check(db, pairs)
        self.assertEqual(list(map(repr, self.members(db))), list(map(repr, members)))
        # 1 and 1.0 are equal in SQL. The first spelling stays.
        db.execute("INSERT INTO who(member, key) VALUES (1.0, 'float'), (1, 'integer')")
        self.assertEqual(repr(self.candidates(db, "float")), "[1]")
        self.assertEqual(one(db, "SELECT count(*) FROM who WHERE member = 1.0 AND key = 'integer'"), 1)

    def test_members_and_columns_of_other_types_compare_as_in_a_table(self):
        db = self.make()
        members = [0, 1, "1", "01", "1.0", " 1", "+1", 2, "3", "03", 1.5, "2.5", "2.50", ".5e1", 5, "5x", "north", b"1", b"01"]
        db.execute("CREATE TABLE plain(member, key)")
        for table in ("plain", "who"):
            db.executemany(f"INSERT INTO {table}(member, key) VALUES (?, 'k')", [(member,) for member in members])
        db.execute("CREATE TABLE v(i INTEGER, r REAL, t TEXT, b)")
        db.executemany("INSERT INTO v VALUES (?1, ?1, ?1, ?1)", [(member,) for member in members])
        answers = "SELECT b, typeof(b), m.member, typeof(m.member) FROM v JOIN {} AS m ON m.member = v.{} WHERE m.key = 'k' ORDER BY 1, 2, 3, 4"
        for column in "irtb":
            with self.subTest(column=column):
                self.assertEqual(*(db.execute(answers.format(table, column)).fetchall() for table in ("who", "plain")))
                listed = answers.replace("WHERE m.key = 'k' ", "")
                self.assertEqual(*(db.execute(listed.format(table, column)).fetchall() for table in ("who", "plain")))

    def test_storage_classes_of_keys(self):
        """As in the filters: 1, 1.0, '1' and x'31' are one key."""
        spellings = [(1, 1.0, "1", b"1"), (0.5, "0.5", b"0.5"), (-7, "-7"), ("", b""), ("Köln", "Köln".encode()), (2**62, float(2**62))]
        db = self.make()
        for i, same in enumerate(spellings):
            for j, key in enumerate(same):
                db.execute("INSERT INTO who(member, key) VALUES (?, ?)", (f"{i}.{j}", key))
        for i, same in enumerate(spellings):
            for key in same:
                self.assertEqual(self.candidates(db, key), [f"{i}.{j}" for j in range(len(same))])
                self.assertEqual(db.execute("SELECT DISTINCT typeof(key), key FROM who WHERE key = ?", (key,)).fetchall(), [(one(db, "SELECT typeof(?)", key), key)])

    def test_null(self):
        db = self.make()
        db.execute("INSERT INTO who(member, key) VALUES ('m', NULL)")
        self.assertEqual(self.members(db), ["m"])
        self.assertEqual(self.candidates(db, None), [])
        self.assertEqual(db.execute("SELECT member FROM who WHERE key IS NULL AND member = 'm' AND key = NULL").fetchall(), [])
        self.assertFails(db, "member must not be NULL", "INSERT INTO who(member, key) VALUES (NULL, 'k')")
        self.assertFails(db, "member must not be NULL", "INSERT INTO who(key) VALUES ('k')")
        self.assertFails(db, "member must not be NULL", "INSERT INTO who DEFAULT VALUES")
        self.assertFails(db, "NULL", "UPDATE who SET member = NULL")
        self.assertEqual(db.execute("INSERT OR IGNORE INTO who(member, key) VALUES (NULL, 'k'), ('n', 'k')").rowcount, 1)
        self.check(db, [("m", None), ("n", "k")])
        self.assertEqual(db.execute("SELECT * FROM who WHERE member = NULL").fetchall(), [])

    def test_or_ignore_skips_pairs_that_seem_to_be_there(self):
        db = self.make("capacity=1000, fpr=1e-9")
        self.assertEqual(db.execute("INSERT OR IGNORE INTO who(member, key) VALUES ('a', 1), ('a', 1), ('a', '1'), ('b', 1), ('a', 2)").rowcount, 3)
        self.assertEqual(db.execute("INSERT OR IGNORE INTO who(member, key) VALUES ('a', 1), ('b', 2), ('c', NULL), ('c', NULL)").rowcount, 2)
        self.check(db, [("a", 1), ("b", 1), ("a", 2), ("b", 2), ("c", None)])

    def test_conflict_rules(self):
        for rule in ("", "OR ABORT", "OR FAIL", "OR ROLLBACK", "OR REPLACE"):
            for begin in (False, True):
                with self.subTest(rule=rule, begin=begin):
                    db = self.make(SMALL, path=f"{self.path}{rule}{begin}")
                    db.execute("INSERT INTO who(member, key) VALUES ('old', 0)")
                    if begin:
                        db.execute("BEGIN")
                        db.execute("INSERT INTO who(member, key) VALUES ('older', 0)")
                    self.assertFails(db, "must not be NULL", f"INSERT {rule} INTO who(member, key) VALUES ('a', 1), ('old', 2), ('b', 3), (NULL, 4), ('c', 5)")
                    pairs = [("old", 0)]
                    pairs += [("older", 0)] * (begin and db.in_transaction)
                    if rule == "OR FAIL" and "a" in self.members(db):
                        pairs += [("a", 1), ("old", 2), ("b", 3)]
                    self.check(db, pairs)
                    if db.in_transaction:
                        db.execute("COMMIT")
                    self.check(db, pairs)

    def test_insert_select_from_itself(self):
        db = self.make("capacity=100, fpr=1e-6")
        self.add(db, pairs := [(m, k) for m in range(70) for k in range(m % 5)] + [(m, None) for m in range(70)])
        db.execute("INSERT INTO who(member, filter) SELECT 'copy of ' || member, filter FROM who")
        pairs += [(f"copy of {m}", k) for m, k in pairs]
        self.check(db, pairs)
        db.execute("INSERT INTO who(member, key) SELECT 'third', member FROM who WHERE key = 3")
        self.check(db, pairs + [("third", m) for m, k in pairs if k == 3])


class Lookups(GroupCase):
    def setUp(self):
        super().setUp()
        self.db = self.make("capacity=50, fpr=0.001")
        self.pairs = some_pairs(100, 30)
        self.add(self.db, self.pairs)
        self.db.execute("CREATE TABLE visits(url, shard)")
        self.db.executemany("INSERT INTO visits VALUES (?, ?)", [(k, f"m{k % 130}") for k in range(0, 10_000, 9)] + [(None, "m1"), (1, None)])

    def model(self, db):
        """Candidates of each key, from the blobs."""
        filters = db.execute("SELECT member, filter FROM who").fetchall()
        urls = [row[0] for row in db.execute("SELECT DISTINCT url FROM visits WHERE url IS NOT NULL")]
        return {url: {m for m, f in filters if one(db, "SELECT bloom_contains(?, ?)", f, url)} for url in urls}

    def test_joins_in_both_directions(self):
        db = self.db
        model = self.model(db)
        self.assertGreater(sum(map(len, model.values())), 0)
        wanted = {(m, url) for url in model for m in model[url]}
        queries = (
            "SELECT w.member, v.url FROM visits v JOIN who w ON w.key = v.url",
            "SELECT w.member, v.url FROM who w JOIN visits v ON v.url = w.key",
            "SELECT w.member, w.key FROM visits v CROSS JOIN who w ON w.key = v.url",
            "SELECT w.member, v.url FROM visits v, who(v.url) AS w",
            "SELECT m.member, v.url FROM visits v CROSS JOIN who m CROSS JOIN who w ON w.key = v.url AND w.member = m.member",
            "SELECT w.member, v.url FROM visits v LEFT JOIN who w ON w.key = v.url WHERE w.member IS NOT NULL",
        )
        for analyzed in range(3):
            if analyzed == 1:
                db.execute("ANALYZE")
            if analyzed == 2:
                db.execute("CREATE INDEX by_url ON visits(url)")
                db.execute("ANALYZE")
            for sql in queries:
                with self.subTest(sql, analyzed=analyzed):
                    self.assertEqual(set(db.execute(sql)), wanted)

    def test_left_join_keeps_rows_without_candidates(self):
        rows = self.db.execute("SELECT v.url, count(w.member) FROM visits v LEFT JOIN who w ON w.key = v.url WHERE v.rowid <> 1113 GROUP BY v.rowid").fetchall()
        model = self.model(self.db)
        self.assertEqual(len(rows), 1113 if one(self.db, "SELECT count(*) FROM visits") > 1113 else len(rows))
        for url, count in rows:
            self.assertEqual(count, len(model.get(url, ())))

    def test_texts_that_look_like_numbers(self):
        """SQLite converts the values of IN and of a join to the affinity of the column key, which must convert nothing."""
        db = self.connect(":memory:")
        texts = ("05", "5", "1e3", "1000", "1.0", " 7", "+7", "0.30")
        db.execute("CREATE VIRTUAL TABLE who USING bloom_groups(capacity=10, fpr=1e-9)")
        db.execute("CREATE TABLE t(m, k TEXT)")
        db.executemany("INSERT INTO t VALUES (?1, ?1)", [(text,) for text in texts])
        db.execute("INSERT INTO who(member, key) SELECT m, k FROM t")
        for text in texts:
            for sql in (
                "SELECT member FROM who WHERE key = ?",
                "SELECT member FROM who WHERE key IN (?, 'x')",
                "SELECT member FROM who WHERE key IN (SELECT k FROM t WHERE k = ?)",
                "SELECT member FROM who WHERE (key, 1) IN (SELECT k, 1 FROM t WHERE k = ?)",
                "SELECT member FROM t JOIN who ON key = k WHERE k = ?",
                "SELECT t.k FROM who JOIN t ON t.k = key WHERE key = ?",
                "SELECT t.k FROM who JOIN t ON t.m = key WHERE key = ?",
            ):
                self.assertEqual(db.execute(sql, (text,)).fetchall(), [(text,)], sql)

    def test_changes_by_key_are_refused_whatever_else_the_statement_reads(self):
        db = self.connect(":memory:")
        db.execute("CREATE VIRTUAL TABLE who USING bloom_groups(capacity=10, fpr=1e-9)")
        db.execute("INSERT INTO who(member, key) VALUES (1, 'a'), (1, 'b'), (2, 'b'), (3, 'c')")
        for condition in ("key = 'b'", "key = 'b' AND (SELECT count(*) FROM who) > 0", "key = 'b' AND (SELECT max(member) FROM who AS o WHERE o.member = who.member) > 0"):
            self.assertFails(db, "cannot delete members by key", f"DELETE FROM who WHERE {condition}")
            self.assertFails(db, "cannot rename members by key", f"UPDATE who SET member = member + 10 WHERE {condition}")
        self.assertFails(db, "cannot list the keys", "DELETE FROM who WHERE member = 3 OR key = 'b'")
        has_key = "EXISTS (SELECT 1 FROM who AS o WHERE o.member = who.member AND o.key = 'b')"
        db.execute(f"UPDATE who SET member = member + 10 WHERE {has_key}")
        self.assertEqual(sorted(row[0] for row in db.execute("SELECT member FROM who")), [3, 11, 12])
        db.execute(f"DELETE FROM who WHERE {has_key}")
        self.assertEqual(db.execute("SELECT member FROM who").fetchall(), [(3,)])

    def test_the_collation_of_key(self):
        db = self.connect(":memory:")
        db.execute("CREATE TABLE t(k TEXT COLLATE NOCASE)")
        db.execute("INSERT INTO t VALUES ('A'), ('a'), ('b')")
        db.execute("CREATE VIRTUAL TABLE who USING bloom_groups(capacity=10, fpr=1e-9, collate=nocase)")
        db.execute("CREATE VIRTUAL TABLE exact USING bloom_groups(capacity=10, fpr=1e-9)")
        for table in ("who", "exact"):
            db.execute(f"INSERT INTO {table}(member, key) VALUES (1, 'a')")
        self.assertEqual(db.execute("SELECT member, key = 'A' FROM who WHERE key IN ('a', 'A')").fetchall(), [(1, 1)])
        self.assertEqual(db.execute("SELECT k FROM t JOIN who ON t.k = who.key").fetchall(), [("A",), ("a",)])
        db.execute("CREATE VIRTUAL TABLE trimmed USING bloom_groups(capacity=10, fpr=1e-9, collate=rtrim)")
        db.execute("INSERT INTO trimmed(member, key) VALUES (1, 'a')")
        for table in ("exact", "trimmed"):
            self.assertEqual(db.execute(f"SELECT member FROM {table} WHERE key IN (SELECT k FROM t ORDER BY k COLLATE BINARY)").fetchall(), [(1,)])
        # The left side of a comparison decides.
        self.assertEqual(db.execute("SELECT k FROM t JOIN exact ON exact.key = t.k").fetchall(), [("a",)])
        self.assertFails(db, "cannot compare key under the collation NOCASE", "SELECT k FROM t JOIN exact ON t.k = exact.key")

    def test_distinct_members_of_several_keys(self):
        db = self.connect(":memory:")
        db.execute("CREATE VIRTUAL TABLE who USING bloom_groups(capacity=10, fpr=1e-9)")
        db.execute("INSERT INTO who(member, key) VALUES (1, 'a'), (1, 'b'), (2, 'b'), (3, 'c')")
        both = "FROM who WHERE key IN ('a', 'b')"
        for sql, wanted in {
            f"SELECT member {both}": [1, 1, 2],
            f"SELECT DISTINCT member {both}": [1, 2],
            f"SELECT DISTINCT member {both} ORDER BY 1": [1, 2],
            f"SELECT DISTINCT 1 {both} AND member = 1": [1],
            "SELECT member FROM who WHERE key = 'a' OR key IN ('b', 'c')": [1, 1, 2, 3],
            "SELECT member FROM who WHERE key = 'a' AND member < 5 OR key = 'b'": [1, 1, 2],
            f"SELECT count(DISTINCT member) {both}": [2],
            f"SELECT member {both} GROUP BY member": [1, 2],
            f"SELECT member {both} UNION SELECT 1": [1, 2],
        }.items():
            self.assertEqual(sorted(row[0] for row in db.execute(sql)), wanted, sql)

    def test_keys_that_share_a_hash_but_are_not_equal(self):
        """SQLite drops rows of the same identity when two plans of an OR find them."""
        db = self.connect(":memory:")
        db.execute("CREATE VIRTUAL TABLE who USING bloom_groups(capacity=10, fpr=1e-9)")
        db.execute("CREATE TABLE t(k)")
        db.execute("INSERT INTO t VALUES (5), ('5'), (x'35')")
        db.execute("INSERT INTO who(member, key) SELECT 'm', k FROM t")
        for keys in itertools.permutations(("5", "'5'", "x'35'")):
            condition = " OR ".join(f"(key = {key} AND abs(random()) >= 0)" for key in keys)
            found = db.execute(f"SELECT hex(t.k), typeof(t.k) FROM who JOIN t ON t.k = key WHERE {condition} ORDER BY 2").fetchall()
            self.assertEqual(found, [("35", "blob"), ("35", "integer"), ("35", "text")], condition)
        self.assertEqual(db.execute("SELECT key FROM who WHERE (key = 5 AND random() IS NOT NULL) OR (key = 5.0 AND random() IS NOT NULL)").fetchall(), [(5,)])

    def test_conditions(self):
        db, model = self.db, self.model(self.db)
        key = next(url for url in model if len(model[url]) > 1)
        members = sorted(model[key])
        one_of = members[0]
        for sql, wanted in {
            f"SELECT member FROM who WHERE key = {key}": members,
            f"SELECT member FROM who WHERE {key} = key": members,
            f"SELECT member FROM who WHERE key IN ({key})": members,
            f"SELECT DISTINCT member FROM who WHERE key IN ({key}, -1, NULL, '{key}')": members,
            f"SELECT member FROM who WHERE key IN (SELECT {key})": members,
            f"SELECT member FROM who WHERE key = {key} AND member = '{one_of}'": [one_of],
            f"SELECT member FROM who WHERE member = '{one_of}' AND key = {key}": [one_of],
            f"SELECT member FROM who WHERE key = {key} AND member IN ('{one_of}', 'no such member')": [one_of],
            f"SELECT member FROM who WHERE key = {key} AND member > ''": members,
            f"SELECT member FROM who WHERE key = {key} AND member LIKE 'm%' ORDER BY member DESC": members,
            f"SELECT member FROM who WHERE key = {key} AND member <> '{one_of}'": members[1:],
            f"SELECT member FROM who WHERE key = {key} AND member = '{one_of}' COLLATE NOCASE": [one_of],
            f"SELECT member FROM who WHERE key = {key} AND member = upper('{one_of}') COLLATE NOCASE": [one_of],
            f"SELECT member FROM who WHERE key = {key} AND member COLLATE NOCASE = upper('{one_of}')": [one_of],
            f"SELECT member FROM who WHERE key = {key} OR key = -5": None,
            f"SELECT member FROM who WHERE member = '{one_of}' OR member = 'm2'": sorted({one_of, "m2"}),
            "SELECT member FROM who WHERE member = 'no such member'": [],
            f"SELECT member FROM who WHERE member = 'no such member' AND key = {key}": [],
        }.items():
            with self.subTest(sql):
                if wanted is None:
                    try:
                        self.assertLessEqual(set(members), {row[0] for row in db.execute(sql)})
                    except sqlite3.OperationalError as error:
                        self.assertIn("cannot list the keys", str(error))
                else:
                    self.assertEqual(sorted(row[0] for row in db.execute(sql)), wanted)

    def test_exists(self):
        model = self.model(self.db)
        rows = self.db.execute("SELECT url, EXISTS (SELECT 1 FROM who WHERE key = url), EXISTS (SELECT 1 FROM who WHERE key = url AND member = shard), shard FROM visits")
        for url, any_member, in_shard, shard in rows.fetchall():
            self.assertEqual(any_member, bool(model.get(url)), url)
            self.assertEqual(in_shard, shard in model.get(url, ()), url)

    def test_keys_cannot_be_listed(self):
        self.assertFails(self.db, "cannot list the keys of a Bloom filter", "SELECT key FROM who")
        self.assertFails(self.db, "cannot list the keys", "SELECT member FROM who WHERE key > 'a'")
        self.assertFails(self.db, "cannot list the keys", "SELECT member FROM who WHERE key LIKE 'a'")

    def test_lookups_are_not_mixed_with_lists(self):
        """The two have other rows: SQLite would take a member for two, because of the keys that it was found by."""
        key = self.pairs[0][1]
        for sql in (f"SELECT member FROM who WHERE key = {key} OR member = 'm0'", f"SELECT count(*) FROM who WHERE member = 'm0' OR key IN (1, {key}) AND member <> 'm0'"):
            self.assertFails(self.db, "cannot list the keys .* UNION instead of OR", sql)
        for join in ("RIGHT", "FULL") if sqlite3.sqlite_version_info >= (3, 39) else ():
            self.assertFails(self.db, "cannot list the keys .* NOT IN instead of RIGHT JOIN", f"SELECT member FROM visits {join} JOIN who ON key = url")
            rows = self.db.execute(f"SELECT m FROM (SELECT 'm0' AS x UNION SELECT 'none') {join} JOIN (SELECT member AS m FROM who) ON m = x").fetchall()
            members = [row[0] for row in self.db.execute("SELECT member FROM who")]
            self.assertEqual(collections.Counter(rows), collections.Counter([(m,) for m in members] + [(None,)] * (join == "FULL")))
        self.assertEqual(self.db.execute(f"SELECT member FROM who WHERE key = {key} AND (member = 'no' OR member = 'none')").fetchall(), [])

    def test_a_view_and_a_cte(self):
        self.db.execute("CREATE VIEW v AS SELECT member AS m, key AS k FROM who")
        key = self.pairs[0][1]
        self.assertEqual(sorted(self.db.execute("SELECT m FROM v WHERE k = ?", (key,))), sorted((m,) for m in self.candidates(self.db, key)))
        rows = self.db.execute("WITH c(k) AS (VALUES (?)) SELECT member FROM c JOIN who ON key = k", (key,)).fetchall()
        self.assertEqual(len(rows), len(self.candidates(self.db, key)))

    def test_two_cursors_of_one_statement(self):
        a, b = self.pairs[0][1], self.pairs[40][1]
        rows = self.db.execute("SELECT x.member, y.member, x.key, y.key FROM who x, who y WHERE x.key = ? AND y.key = ?", (a, b)).fetchall()
        self.assertEqual(set(rows), {(m, n, a, b) for m in self.candidates(self.db, a) for n in self.candidates(self.db, b)})


class Collations(GroupCase):
    def test_keys(self):
        for collate, same, other in (("nocase", ("Key", "kEY"), "Kéy"), ("rtrim", ("Key", "Key   "), "key"), ("binary", ("Key",), "key")):
            db = self.make(f"capacity=100, fpr=1e-6, collate={collate}", path=self.path + collate)
            db.execute("INSERT INTO who(member, key) VALUES ('m', ?), ('other', ?)", (same[0], other))
            for key in same:
                self.assertEqual(self.candidates(db, key), ["m"])
            self.assertEqual(self.candidates(db, other), ["other"])
            self.assertEqual(db.execute(f"SELECT member FROM who WHERE key = 'Key' COLLATE {collate}").fetchall(), [("m",)])

    def test_foreign_collations_are_refused(self):
        db = self.make()
        db.create_collation("mine", lambda a, b: (a > b) - (a < b))
        for collation in ("NOCASE", "RTRIM", "mine"):
            self.assertFails(db, f"(?i)cannot compare key under the collation {collation}", f"SELECT member FROM who WHERE key = 'a' COLLATE {collation}")
        nocase = self.make("capacity=10, collate=nocase", path=self.path + "n")
        nocase.execute("INSERT INTO who(member, key) VALUES ('m', 'Key')")
        self.assertFails(nocase, "collation RTRIM", "SELECT member FROM who WHERE key = 'KEY' COLLATE RTRIM")
        self.assertEqual(nocase.execute("SELECT member FROM who WHERE key = 'Key' COLLATE BINARY").fetchall(), [("m",)])


class Filters(GroupCase):
    def test_in_and_out_bit_for_bit(self):
        db = self.make("capacity=300, fpr=0.001")
        pairs = some_pairs(80, 25)
        self.add(db, pairs)
        filters = dict(db.execute("SELECT member, filter FROM who").fetchall())
        for filter_ in filters.values():
            self.assertEqual(one(db, "SELECT bloom_check(?)", filter_), "ok")
        copy = self.make("capacity=300, fpr=0.001", path=self.path + "2")
        copy.executemany("INSERT INTO who(member, filter) VALUES (?, ?)", filters.items())
        self.check(copy, pairs)
        # Twice is once, and a filter adds to what is there.
        copy.executemany("INSERT INTO who(member, filter) VALUES (?, ?)", filters.items())
        self.check(copy, pairs)
        copy.execute("INSERT INTO who(member, filter) VALUES ('m1', ?)", (filters["m2"],))
        self.check(copy, pairs + [("m1", k) for m, k in pairs if m == "m2"])

    def test_sized_filters(self):
        db = self.make("capacity=300, fpr=0.001, seed=5")
        info = self.info_of(db)
        cells, hashes = info["cells"], info["hashes"]
        empty = one(db, f"SELECT bloom_create_sized({cells}, {hashes}, 'standard', 496, 5)")
        db.execute("INSERT INTO who(member, filter) SELECT 'm', bloom_add(?, 'a', 2, x'03')", (empty,))
        for key in ("a", 2, "2", b"\x03"):
            self.assertEqual(self.candidates(db, key), ["m"])
        stored = one(db, "SELECT filter FROM who WHERE member = 'm'")
        wanted = one(db, "SELECT bloom_add(?, 'a', 2, x'03')", empty)
        self.assertEqual(stored[64:], wanted[64:])

    def info_of(self, db):
        db.execute("INSERT INTO who(member, key) VALUES ('first', NULL)")
        return json.loads(one(db, "SELECT info FROM who LIMIT 1"))

    def test_refused_filters_change_nothing(self):
        db = self.make("capacity=300")
        db.execute("CREATE TABLE kept(x)")
        for begin in (False, True):
            for filter_ in ("bloom_create(300)", "x'00'", "'text'", "bloom_create(300, 0.0001, 'counting')", "bloom_create_sized(496, 3, 'standard', 496, 1)"):
                with self.subTest(filter_, begin=begin):
                    if begin:
                        db.execute("BEGIN")
                        db.execute("INSERT INTO kept VALUES (1)")
                        db.execute("INSERT INTO who(member, key) VALUES ('old', 1)")
                    self.assertFails(db, "filter", f"INSERT INTO who(member, filter) VALUES ('new', {filter_})")
                    self.assertEqual(db.in_transaction, begin)
                    self.assertNotIn("new", self.members(db))
                    if begin:
                        self.assertEqual(one(db, "SELECT count(*) FROM kept"), 1)
                        db.execute("ROLLBACK")
        self.assertFails(db, "one row cannot have a key and a filter", "INSERT INTO who(member, key, filter) VALUES ('m', 1, bloom_create(300))")

    def test_an_empty_filter_makes_a_member(self):
        db = self.make("capacity=300")
        db.execute("INSERT INTO who(member, key) VALUES ('a', NULL)")
        db.execute("INSERT INTO who(member, filter) SELECT 'b', filter FROM who")
        self.check(db, [("a", None), ("b", None)])


class Changes(GroupCase):
    def test_delete(self):
        db = self.make(SMALL)
        pairs = some_pairs(150, 10)
        self.add(db, pairs)
        gone = {f"m{i}" for i in range(0, 150, 3)}
        for member in sorted(gone)[:10]:
            self.assertEqual(db.execute("DELETE FROM who WHERE member = ?", (member,)).rowcount, 1)
        db.execute("CREATE TABLE gone(m)")
        db.executemany("INSERT INTO gone VALUES (?)", [(m,) for m in gone])
        db.execute("DELETE FROM who WHERE member IN (SELECT m FROM gone)")
        left = [p for p in pairs if p[0] not in gone]
        self.check(db, left)
        # Their slots are empty for new members.
        new = [(f"new {i}", k) for i in range(60) for k in range(i % 4)] + [(f"new {i}", None) for i in range(60)]
        self.add(db, new)
        self.check(db, left + new)
        self.assertEqual(db.execute("DELETE FROM who").rowcount, len({m for m, _ in left + new}))
        self.check(db, [])
        self.add(db, new)
        self.check(db, new)

    def test_update_renames(self):
        db = self.make(SMALL)
        pairs = some_pairs(70, 5)
        self.add(db, pairs)
        db.execute("UPDATE who SET member = 'west' WHERE member = 'm3'")
        db.execute("UPDATE who SET member = 42 WHERE member = 'm4'")
        db.execute("UPDATE who SET member = member")
        names = {"m3": "west", "m4": 42}
        pairs = [(names.get(m, m), k) for m, k in pairs]
        self.check(db, pairs)
        self.assertFails(db, "exists already", "UPDATE who SET member = 'm5' WHERE member = 'm6'")
        self.assertFails(db, "exists already", "UPDATE who SET member = 'same'")
        for sql in ("UPDATE who SET key = 1 WHERE member = 'm5'", "UPDATE who SET filter = NULL WHERE member = 'm5'", "UPDATE who SET member = 'x', keys = 1 WHERE member = 'm5'"):
            self.assertFails(db, "UPDATE can change only the column member", sql)
        self.check(db, pairs)
        db.execute("UPDATE who SET member = 'renamed ' || member")
        self.check(db, [(f"renamed {m}", k) for m, k in pairs])

    def test_candidates_are_not_deleted_or_renamed(self):
        db = self.make()
        db.execute("INSERT INTO who(member, key) VALUES ('m', 1)")
        self.assertFails(db, "cannot delete members by key", "DELETE FROM who WHERE key = 1")
        self.assertFails(db, "cannot rename members by key", "UPDATE who SET member = 'n' WHERE key = 1")
        self.check(db, [("m", 1)])

    def test_commands(self):
        db = self.make(SMALL)
        self.add(db, pairs := some_pairs(200, 5))
        for command in ("optimize", "OPTIMIZE", "integrity-check"):
            db.execute("INSERT INTO who(who) VALUES (?)", (command,))
            self.check(db, pairs)
        self.assertEqual(json.loads(one(db, "SELECT info FROM who LIMIT 1"))["optimized_segments"], 3)
        for command in ("nonsense", "", 7, b"optimize", "optimize\0x"):
            self.assertFails(db, "unknown command", "INSERT INTO who(who) VALUES (?)", command)
        self.assertFails(db, "one row cannot have a command and a member", "INSERT INTO who(member, who) VALUES ('m', 'clear')")
        db.execute("INSERT INTO who(who) VALUES ('clear')")
        self.check(db, [])
        self.add(db, pairs[:100])
        self.check(db, pairs[:100])

    def test_optimize_and_later_changes(self):
        db = self.make(SMALL)
        pairs = some_pairs(64 * 4 + 10, 6)
        self.add(db, pairs)
        for i in range(3):
            db.execute("INSERT INTO who(who) VALUES ('optimize')")
            self.check(db, pairs)
            new = [(f"m{n}", 20_000 + n % 7 + i) for n in range(0, 400, 3)]  # old and new members
            self.add(db, new)
            pairs += new
            self.check(db, pairs)
            gone = {f"m{n}" for n in range(i, 400, 11)}
            db.execute(f"DELETE FROM who WHERE member IN ({','.join(map(repr, gone))})")
            pairs = [p for p in pairs if p[0] not in gone]
            db.execute("INSERT INTO who(member, filter) SELECT 'merged', filter FROM who WHERE member IN ('m20', 'm21')")
            pairs += [("merged", k) for m, k in pairs if m in ("m20", "m21")]
            self.check(db, pairs)
            db.execute(f"UPDATE who SET member = 'r{i}' WHERE member = 'm30'")
            pairs = [(f"r{i}" if m == "m30" else m, k) for m, k in pairs]
            self.check(db, pairs)
        self.assertGreater(json.loads(one(db, "SELECT info FROM who LIMIT 1"))["optimized_segments"], 3)

    def test_removed_members_do_not_lend_their_bits_to_new_ones(self):
        db = self.make("capacity=50, fpr=0.4")
        self.add(db, [(f"m{i}", k) for i in range(256) for k in range(20)])
        db.execute("INSERT INTO who(who) VALUES ('optimize')")
        db.execute("DELETE FROM who WHERE member = 'm5'")
        db.execute("INSERT INTO who(member, key) VALUES ('new', NULL)")
        db.execute("INSERT INTO who(who) VALUES ('optimize')")
        db.execute("INSERT INTO who(member, key) VALUES ('newer', NULL)")
        for member in ("new", "newer"):
            self.assertEqual(one(db, "SELECT keys FROM who WHERE member = ?", member), 0)

    def test_properties(self):
        db = self.make("capacity=100, fpr=0.001")
        self.add(db, [(m, k) for m in range(70) for k in range(m)] + [(0, None)])
        for keys, capacity, bytes_, overfull, fpr, length, member in db.execute("SELECT keys, capacity, bytes, overfull, fpr, length(filter), member FROM who"):
            self.assertAlmostEqual(keys, member, delta=max(2, member / 10))
            self.assertEqual((capacity, overfull, bytes_), (100, 0, length))
            self.assertLess(fpr, 0.001)
        self.assertEqual(db.execute("SELECT keys, fpr FROM who WHERE member = 0").fetchall(), [(0, 0.0)])
        info = json.loads(one(db, "SELECT info FROM who LIMIT 1"))
        self.assertEqual((info["members"], info["capacity"]), (70, 100))
        for column in ("keys", "fpr", "capacity", "bytes", "overfull", "info"):
            self.assertFails(db, f"the column {column} is read-only", f"INSERT INTO who(member, {column}) VALUES ('m', 1)")
        self.assertEqual([row[1] for row in db.execute("PRAGMA table_info(who)")], ["member"])

    def test_changes_while_members_are_listed(self):
        """A cursor goes on with the members that still exist, and may return members that are new."""
        for change in ("INSERT INTO who(who) VALUES ('optimize')", "INSERT INTO who(who) VALUES ('clear')", "DELETE FROM who WHERE member > 'm3'",
                       "INSERT INTO who(member, key) SELECT 'new ' || value, 1 FROM json_each('[1, 2, 3]')"):  # fmt: skip
            for where in ("", " WHERE key = 1"):
                with self.subTest(change + where):
                    db = self.make(SMALL, path=self.path + change[:35] + where)
                    self.add(db, [(f"m{i}", 1) for i in range(300)])
                    rows = db.execute(f"SELECT member, keys, fpr, overfull, length(filter), info FROM who{where}")
                    first = [next(rows) for _ in range(3)]
                    db.execute(change)
                    rest = rows.fetchall()
                    gone = "clear" in change or "DELETE" in change
                    left = {row[0] for row in db.execute("SELECT member FROM who")} if gone else {f"m{i}" for i in range(300)}
                    seen = [row[0] for row in first]
                    self.assertEqual([row[0] for row in rest[1:]], [f"m{i}" for i in range(300) if f"m{i}" in left and f"m{i}" not in [*seen, rest[0][0]]])
                    self.assertTrue(all(row[0] and row[1] >= 1 and row[4] for row in rest[1:]))

    def test_new_members_take_the_place_of_removed_ones_while_members_are_listed(self):
        for where in ("", " WHERE key = 1"):
            db = self.make(SMALL, path=self.path + where)
            self.add(db, [(f"m{i}", 1) for i in range(300)])
            rows = db.execute(f"SELECT member FROM who{where}")
            self.assertEqual(next(rows), ("m0",))
            db.execute("INSERT INTO who(who) VALUES ('clear')")
            db.execute("INSERT INTO who(member, key) VALUES ('new', 1)")
            self.assertLessEqual(set(rows.fetchall()), {("m1",), ("new",)})  # m1 was fetched before
            db.execute("SAVEPOINT s")
            db.executemany("INSERT INTO who(member, key) VALUES (?, 1)", [(f"m{i}",) for i in range(300)])
            rows = db.execute(f"SELECT member FROM who{where}")
            self.assertEqual(next(rows), ("new",))
            db.execute("ROLLBACK TO s")
            with self.assertRaisesRegex(sqlite3.OperationalError, "rolled back meanwhile"):
                rows.fetchall()

    def test_optimize_packs_members_when_most_slots_are_free(self):
        model = lambda db: {m: one(db, "SELECT filter FROM who WHERE member = ?", m) for (m,) in db.execute("SELECT member FROM who").fetchall()}
        for kept, optimized in itertools.product((lambda i: i % 3 == 0, lambda i: i < 5, lambda i: i > 555, lambda i: i % 64 == 9 or i > 500, lambda i: False), (False, True)):
            with self.subTest(optimized=optimized):
                self.path += "x"
                db = self.make(SMALL)
                self.add(db, [(f"m{i}", key) for i in range(560) for key in (i, "all")])
                if optimized:
                    db.execute("INSERT INTO who(who) VALUES ('optimize')")
                db.execute("CREATE TEMP TABLE gone(m)")
                db.executemany("INSERT INTO gone VALUES (?)", [(f"m{i}",) for i in range(560) if not kept(i)])
                db.execute("DELETE FROM who WHERE member IN (SELECT m FROM gone)")
                left = [f"m{i}" for i in range(560) if kept(i)]
                self.assertEqual([row[0] for row in db.execute("SELECT member FROM who WHERE key = 'all'")], left)
                filters = model(db)
                rows = db.execute("SELECT member FROM who")  # a statement that lists members knows their slots
                first = rows.fetchmany(1)
                db.execute("INSERT INTO who(who) VALUES ('optimize')")
                self.assertEqual([row[0] for row in first + rows.fetchall()], left)
                db.execute("INSERT INTO who(who) VALUES ('optimize')")
                self.assertEqual(model(db), filters)
                self.assertEqual([row[0] for row in db.execute("SELECT member FROM who WHERE key = 'all'")], left)
                if left:
                    self.assertEqual(json.loads(one(db, "SELECT info FROM who LIMIT 1"))["segments"], (len(left) + 63) // 64)
                self.assertLess(one(db, "SELECT count(*) FROM who_members"), len(left) + 64)
                before = db.total_changes
                db.execute("INSERT INTO who(who) VALUES ('optimize')")
                self.assertEqual(db.total_changes, before + 1)  # the command itself
                self.add(db, [("new", "all")])
                self.assertEqual([row[0] for row in db.execute("SELECT member FROM who WHERE key = 'all'")], [*left, "new"])
                db.execute("INSERT INTO who(who) VALUES ('integrity-check')")

    def test_last_insert_rowid_and_changes(self):
        db = self.make(SMALL)
        db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY)")
        db.execute("INSERT INTO t VALUES (77)")
        for sql, count in (
            ("INSERT INTO who(member, key) VALUES ('m', 1)", 1),
            ("INSERT INTO who(member, key) WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300) SELECT 'm' || i, i FROM n", 300),
            ("INSERT INTO who(who) VALUES ('optimize')", 1),
            ("INSERT INTO who(member, filter) SELECT 'c' || member, filter FROM who LIMIT 3", 3),
            ("UPDATE who SET member = 'x' || member WHERE member IN ('m1', 'm2')", 2),
            ("DELETE FROM who WHERE member IN ('m3', 'm4', 'm5')", 3),
            ("INSERT OR IGNORE INTO who(member, key) VALUES ('m9', 9), ('new', 1)", 1),
        ):
            db.execute(sql)
            self.assertEqual(db.execute("SELECT changes(), last_insert_rowid()").fetchone(), (count, 77), sql)
        db.execute("SELECT * FROM who WHERE key = 1").fetchall()
        self.assertEqual(db.execute("SELECT changes(), last_insert_rowid()").fetchone(), (1, 77))


class Schemas(GroupCase):
    def test_names(self):
        for name in ("who", "a b", 'q"q', "Größe", "select", "a.b"):
            quoted = '"' + name.replace('"', '""') + '"'
            with self.subTest(name):
                db = self.connect(self.path + name)
                db.execute(f"CREATE VIRTUAL TABLE {quoted} USING bloom_groups({SMALL})")
                self.add(db, pairs := some_pairs(200, 2), quoted)
                db.execute(f"INSERT INTO {quoted}({quoted}) VALUES ('optimize')")
                self.check(db, pairs, quoted)
                db.execute(f"ALTER TABLE {quoted} RENAME TO \"new '\"\"name\"")
                self.check(db, pairs, "\"new '\"\"name\"")
                db.execute("DROP TABLE \"new '\"\"name\"")
                self.assertEqual(one(db, "SELECT count(*) FROM sqlite_master"), 0)
        for name in ("member", "KEY", "filter", "info", "keys"):
            self.assertFails(self.connect(), "a table cannot be called", f"CREATE VIRTUAL TABLE {name} USING bloom_groups(capacity=1)")

    def test_options(self):
        db = self.connect()
        for options, text in (
            ("", "the members need a size"), ("capacity=0", "capacity must be"), ("capacity=10, fpr=2", "fpr must be"), ("capacity=10, capacity=10", "given twice"),
            ("capacity=1, kind=counting", "unknown option 'kind'"), ("capacity=1e30", "capacity must be"), ("capacity=10, collate=mine", "collate must be"),
            ("capacity=10, seed=-1", "seed must be"), ("10", "name=value"), ("source=log, column=url", "use bloom_search"), ("source=log, column=url, rows=4096", "unknown option .rows."),
        ):  # fmt: skip
            self.assertFails(db, text, f"CREATE VIRTUAL TABLE who USING bloom_groups({options})")
        self.assertEqual(one(db, "SELECT count(*) FROM sqlite_master"), 0)

    def test_attached_and_temporary_tables(self):
        db = self.connect()
        db.execute("ATTACH ? AS other", (self.path + "other",))
        names = ("main.who", "other.who", "temp.who")
        for i, name in enumerate(names):
            db.execute(f"CREATE VIRTUAL TABLE {name} USING bloom_groups({SMALL})")
        for i, name in enumerate(names):
            self.add(db, [(f"{name} {m}", m + i) for m in range(130)], name)
        db.execute("INSERT INTO other.who(who) VALUES ('optimize')")
        for i, name in enumerate(names):
            self.assertEqual(set(self.members(db, name)), {f"{name} {m}" for m in range(130)})
            for m in range(130):
                self.assertIn(f"{name} {m}", self.candidates(db, m + i, name))
        db.execute("DROP TABLE temp.who")
        db.execute("ALTER TABLE other.who RENAME TO whom")
        self.assertIn("other.who 5", self.candidates(db, 6, "whom"))
        db.execute("DETACH other")
        again = self.connect(self.path + "other")
        self.assertIn("other.who 5", self.candidates(again, 6, "whom"))

    def test_drop_and_create_again(self):
        db = self.make(SMALL)
        self.add(db, some_pairs(200, 2))
        db.execute("BEGIN")
        db.execute("INSERT INTO who(member, key) VALUES ('last', 1)")
        db.execute("DROP TABLE who")
        db.execute("CREATE VIRTUAL TABLE who USING bloom_groups(capacity=7)")
        db.execute("INSERT INTO who(member, key) VALUES ('m', 1)")
        self.check(db, [("m", 1)])
        db.execute("ROLLBACK")
        self.check(db, some_pairs(200, 2))
        self.assertFails(db, "already exists|already another table", "CREATE VIRTUAL TABLE who USING bloom_groups(capacity=7)")

    def test_shadow_tables_are_protected_by_defensive_mode(self):
        db = Raw(self.path)
        db.run(f"CREATE VIRTUAL TABLE who USING bloom_groups({SMALL})")
        db.configure(DBCONFIG_DEFENSIVE, 1)
        for sql in ("DELETE FROM who_data", "UPDATE who_config SET v = 1", "DROP TABLE who_members", "INSERT INTO who_wide VALUES (1, 2)"):
            with self.assertRaises(Failure, msg=sql):
                db.run(sql)
        values = ", ".join(f"('m{i}', {i % 9})" for i in range(200))
        db.run(f"INSERT INTO who(member, key) VALUES {values}", "INSERT INTO who(who) VALUES ('optimize')", "DELETE FROM who WHERE member = 'm3'",
               "UPDATE who SET member = 'x' WHERE member = 'm4'", "INSERT INTO who(member, filter) SELECT 'y', filter FROM who WHERE member = 'x'")  # fmt: skip
        found = {row[0] for row in db.run("SELECT member FROM who WHERE key = 4")}
        self.assertLessEqual({"x", "y", "m13"}, found)
        db.run("INSERT INTO who(who) VALUES ('integrity-check')", "ALTER TABLE who RENAME TO whom", "DROP TABLE whom")
        self.assertEqual(db.one("SELECT count(*) FROM sqlite_master"), 0)
        db.close()

    def test_vacuum_and_dump(self):
        db = self.make(SMALL)
        pairs = some_pairs(300, 3)
        self.add(db, pairs)
        db.execute("INSERT INTO who(who) VALUES ('optimize')")
        self.add(db, new := some_pairs(330, 1, seed=2))
        db.execute("DELETE FROM who WHERE member = 'm1'")
        pairs = [p for p in pairs + new if p[0] != "m1"]
        db.execute("VACUUM")
        self.check(db, pairs)
        db.execute("VACUUM INTO ?", (self.path + "vacuumed",))
        self.check(self.connect(self.path + "vacuumed"), pairs)
        target = self.connect(self.path + "backup")
        db.backup(target)
        self.check(target, pairs)
        db.close()
        dump = subprocess.run(["sqlite3", self.path, "-cmd", f".load {EXTENSION}", ".dump"], stdout=subprocess.PIPE, check=False)
        if dump.returncode == 0 and dump.stdout:
            subprocess.run(["sqlite3", self.path + "restored", "-cmd", f".load {EXTENSION}"], input=dump.stdout, check=True)
            self.check(self.connect(self.path + "restored"), pairs)

    def test_pragma_integrity_check(self):
        db = self.make(SMALL)
        self.add(db, some_pairs(200, 2))
        self.assertEqual(one(db, "PRAGMA integrity_check"), "ok")
        if sqlite3.sqlite_version_info >= (3, 44):
            db.execute("DELETE FROM who_data WHERE id = 1")
            self.assertIn("chunk 0 of segment 1 is missing", str(db.execute("PRAGMA integrity_check").fetchall()))


class Connections(GroupCase):
    def test_several_connections(self):
        for journal in ("delete", "wal"):
            path = self.path + journal
            with self.subTest(journal):
                a = self.make(SMALL, path=path)
                a.execute(f"PRAGMA journal_mode = {journal}")
                b = self.connect(path)
                pairs = []
                for i in range(300):
                    db, other = (a, b) if i % 2 else (b, a)
                    db.execute("INSERT INTO who(member, key) VALUES (?, ?), (?, ?)", (f"m{i}", i, f"m{i // 2}", i))
                    pairs += [(f"m{i}", i), (f"m{i // 2}", i)]
                    self.assertLessEqual({f"m{i}", f"m{i // 2}"}, set(self.candidates(other, i)))
                    if i % 100 == 99:
                        db.execute("INSERT INTO who(who) VALUES ('optimize')")
                        db.execute("DELETE FROM who WHERE member = ?", (f"m{i - 50}",))
                        pairs = [p for p in pairs if p[0] != f"m{i - 50}"]
                        self.check(other, pairs)
                self.check(a, pairs)
                self.check(b, pairs)

    def test_snapshots_in_wal_mode(self):
        a = self.make(SMALL)
        a.execute("PRAGMA journal_mode = wal")
        self.add(a, pairs := some_pairs(200, 3))
        b = self.connect()
        b.execute("BEGIN")
        b.execute("SELECT count(*) FROM sqlite_master").fetchall()
        a.execute("INSERT INTO who(who) VALUES ('optimize')")
        a.execute("INSERT INTO who(member, key) VALUES ('new', 'new')")
        self.assertEqual(len(self.members(b)), 200)
        for member, key in pairs[::20]:
            self.assertIn(member, self.candidates(b, key))
        self.assertFails(b, "locked|busy", "INSERT INTO who(member, key) VALUES ('b', 'b')")
        b.execute("COMMIT")
        self.check(b, pairs + [("new", "new")])

    def test_read_only_connection(self):
        db = self.make(SMALL)
        self.add(db, pairs := some_pairs(200, 3))
        db.execute("INSERT INTO who(who) VALUES ('optimize')")
        reader = self.connect(f"file:{self.path}?mode=ro", uri=True)
        for member, key in pairs[::10]:
            self.assertIn(member, self.candidates(reader, key))
        self.assertEqual(len(reader.execute("SELECT member, keys, filter, info FROM who").fetchall()), 200)
        for sql in ("INSERT INTO who(member, key) VALUES ('x', 1), ('y', 2)", "DELETE FROM who WHERE member = 'm1'", "INSERT INTO who(who) VALUES ('optimize')"):
            self.assertFails(reader, "readonly", sql)
        db.execute("PRAGMA query_only = ON")
        self.assertFails(db, "readonly", "INSERT INTO who(member, key) VALUES ('x', 1), ('m1', 2), ('m2', 3)")
        self.assertIn(pairs[0][0], self.candidates(db, pairs[0][1]))
        db.execute("PRAGMA query_only = OFF")
        self.check(db, pairs)

    def test_shared_cache(self):
        uri = f"file:{self.path}?cache=shared"
        a = self.connect(uri, uri=True)
        a.execute(f"CREATE VIRTUAL TABLE who USING bloom_groups({SMALL})")
        b = self.connect(uri, uri=True)
        self.add(a, pairs := some_pairs(200, 2))
        self.check(b, pairs)
        b.execute("PRAGMA read_uncommitted = ON")
        a.execute("BEGIN")
        a.execute("INSERT INTO who(member, key) VALUES ('m1', 'uncommitted'), ('new', 'uncommitted'), ('newer', 'uncommitted')")
        self.assertLessEqual({"m1", "new", "newer"}, set(self.candidates(b, "uncommitted")))
        a.execute("ROLLBACK")
        self.check(b, pairs)
        self.check(a, pairs)

    def test_threads(self):
        self.make(SMALL).execute("PRAGMA journal_mode = wal")
        pairs = [[(f"{t}.{i}", i) for i in range(150)] for t in range(3)]

        def write(own):
            db = connect(self.path, isolation_level=None, timeout=30)
            db.execute("PRAGMA synchronous = OFF")
            for start in range(0, len(own), 10):
                db.execute("INSERT INTO who(member, key) VALUES " + ",".join("(?, ?)" for _ in range(10)), [v for p in own[start : start + 10] for v in p])
            db.close()

        threads = [threading.Thread(target=write, args=(own,)) for own in pairs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.check(self.connect(), sum(pairs, []))


class Transactions(GroupCase):
    def test_savepoints(self):
        db = self.make(SMALL)
        db.execute("BEGIN")
        self.add_now(db, [("a", 1), ("b", 2)])
        db.execute("SAVEPOINT s")
        self.add_now(db, [("a", 10), ("c", 3), ("d", 4)])
        db.execute("SAVEPOINT t")
        self.add_now(db, [("c", 30), ("e", 5)])
        db.execute("ROLLBACK TO s")
        self.check(db, [("a", 1), ("b", 2)])
        self.add_now(db, [("x", 6), ("a", 7)])
        db.execute("RELEASE s")
        self.check(db, pairs := [("a", 1), ("b", 2), ("x", 6), ("a", 7)])
        db.execute("COMMIT")
        self.check(db, pairs)
        db.execute("BEGIN")
        db.execute("DELETE FROM who WHERE member = 'a'")
        self.add_now(db, [("y", 8), ("z", 9)])
        db.execute("ROLLBACK")
        self.check(db, pairs)

    def add_now(self, db, pairs):
        db.execute("INSERT INTO who(member, key) VALUES " + ", ".join("(?, ?)" for _ in pairs), [v for p in pairs for v in p])

    def test_a_rolled_back_member_leaves_nothing(self):
        """Its slot belongs to another member then."""
        for undo in (("SAVEPOINT s", "ROLLBACK TO s"), ("BEGIN", "ROLLBACK")):
            db = self.make(SMALL, path=self.path + undo[0])
            db.execute(undo[0])
            self.add_now(db, [("gone", 1), ("gone", 2), ("gone too", 3)])
            db.execute(undo[1])
            self.add_now(db, [("new", 10), ("gone too", 11), ("gone", 12)])
            self.check(db, [("new", 10), ("gone too", 11), ("gone", 12)])

    def test_a_failing_statement_is_undone(self):
        for begin in (False, True):
            db = self.make(SMALL, path=f"{self.path}{begin}")
            self.add(db, old := some_pairs(100, 2))
            if begin:
                db.execute("BEGIN")
            self.assertFails(db, "must not be NULL", "INSERT INTO who(member, key) SELECT CASE WHEN value < 290 THEN 'n' || value END, value FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 300) SELECT value FROM n)")
            self.check(db, old)
            self.add_now(db, [("n5", 1), ("m5", 2), ("n6", 3)])
            self.check(db, old + [("n5", 1), ("m5", 2), ("n6", 3)])

    def test_triggers(self):
        db = self.make("capacity=40, fpr=1e-6")
        db.execute("CREATE TABLE rows(id INTEGER PRIMARY KEY, m, k)")
        db.execute("CREATE VIRTUAL TABLE other USING bloom_groups(capacity=40, fpr=1e-6)")
        found = []
        db.create_function("note", 2, lambda a, b: found.append((a, b)))
        db.execute("INSERT INTO other(member, key) VALUES ('all', NULL)")
        db.execute(
            "CREATE TRIGGER added AFTER INSERT ON rows BEGIN INSERT INTO who(member, key) VALUES (new.m, new.k); INSERT INTO other(member, key) VALUES ('all', new.k);"
            " SELECT note((SELECT count(*) FROM who WHERE member = new.m AND key = new.k), (SELECT count(*) FROM other WHERE key = new.k)); END"
        )
        db.execute("CREATE TRIGGER removed AFTER DELETE ON rows BEGIN DELETE FROM who WHERE member = old.m; END")
        pairs = [(f"m{i % 9}", i) for i in range(90)]
        for begin in (False, True):
            if begin:
                db.execute("BEGIN")
            db.execute("INSERT INTO rows(m, k) VALUES " + ", ".join("(?, ?)" for _ in pairs), [v for p in pairs for v in p])
            self.assertEqual(set(found), {(1, 1)}, "a lookup does not see a key that the same statement has added")
            self.check(db, pairs)
            self.check(db, [("all", k) for m, k in pairs], "other")
        db.execute("DELETE FROM rows WHERE m = 'm3'")
        self.check(db, [p for p in pairs if p[0] != "m3"])
        self.assertFails(db, "virtual table", "CREATE TRIGGER t AFTER INSERT ON who BEGIN SELECT 1; END")

    def test_a_trigger_that_fails_undoes_its_keys(self):
        db = self.make("capacity=40, fpr=1e-6")
        db.execute("CREATE TABLE rows(m, k UNIQUE)")
        db.execute("CREATE TRIGGER added BEFORE INSERT ON rows BEGIN INSERT INTO who(member, key) VALUES (new.m, new.k); END")
        for begin in (False, True):
            if begin:
                db.execute("BEGIN")
            self.assertFails(db, "UNIQUE", "INSERT INTO rows VALUES ('a', 1), ('b', 2), ('c', 3), ('d', 3)")
            self.check(db, [])
            db.execute("INSERT OR IGNORE INTO rows VALUES ('a', 1), ('b', 1), ('c', 3)")
            self.assertLessEqual({"a", "c"}, set(self.members(db)))
            self.assertIn("a", self.candidates(db, 1))
            db.execute("DELETE FROM rows")
            db.execute("INSERT INTO who(who) VALUES ('clear')")

    def test_interrupted_statements(self):
        db = Raw(self.path)
        db.run(f"CREATE VIRTUAL TABLE who USING bloom_groups({SMALL})", "INSERT INTO who(member, key) VALUES ('old', 1)")
        many = "INSERT INTO who(member, key) WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200) SELECT 'm' || (i % 150), i FROM n"
        for begin in (False, True):
            for steps in (5, 50, 300, 900, 2000):
                if begin:
                    db.run("BEGIN", "INSERT INTO who(member, key) VALUES ('older', 2)")
                left = [steps]

                def stop():
                    left[0] -= 1
                    return left[0] == 0

                db.progress(stop)
                try:
                    db.run(many)
                except Failure as failure:
                    self.assertEqual(failure.code, INTERRUPT)
                db.progress(None)
                db.run("INSERT INTO who(who) VALUES ('integrity-check')")
                self.assertIn(("old",), db.run("SELECT member FROM who WHERE key = 1"))
                if db.in_transaction():
                    db.run("COMMIT")
                done = db.one("SELECT count(*) FROM who WHERE member LIKE 'm%'")
                self.assertIn(done, (0, 150), "half of a statement")
                db.run("DELETE FROM who WHERE member <> 'old'")
        db.close()

    def test_full_disk(self):
        for pages in range(8, 60, 5):
            path = f"{self.path}{pages}"
            db = self.make(SMALL, path=path)
            db.execute(f"PRAGMA max_page_count = {pages}")
            pairs = []
            for i in range(300):
                new = [(f"m{i}", i), (f"m{i // 2}", i)]
                try:
                    self.add_now(db, new)
                    pairs += new
                except sqlite3.OperationalError as error:
                    self.assertIn("full", str(error))
                    break
            try:
                db.execute("INSERT INTO who(who) VALUES ('optimize')")
            except sqlite3.OperationalError as error:
                self.assertIn("full", str(error))
            db.execute("PRAGMA max_page_count = 100000")
            self.check(db, pairs)
            self.assertEqual(one(db, "PRAGMA integrity_check"), "ok")


class SeveralObjects(GroupCase):
    """ALTER TABLE makes SQLite read the schema again. The transaction then has two objects of one table."""

    def fill(self, before_reload="", path=None):
        db = self.connect(path)
        db.execute("CREATE VIRTUAL TABLE w USING bloom_groups(capacity=1000, fpr=1e-6)")
        db.execute("CREATE TABLE t(x)")
        db.execute("BEGIN")
        keys = []

        def insert(tag):
            for i in range(20):
                db.execute("INSERT INTO w(member, key) VALUES ('m', ?)", (f"{tag}{i}",))
                keys.append(f"{tag}{i}")

        insert("a")
        db.execute(before_reload)
        db.execute("ALTER TABLE t ADD COLUMN y")
        insert("b")
        return db, keys

    def assert_found(self, db, keys, path=None):
        for each in (db, self.connect(path)):
            lost = [key for key in keys if not each.execute("SELECT 1 FROM w WHERE key = ?", (key,)).fetchone()]
            self.assertEqual(lost, [])
        self.assertEqual(one(db, "SELECT count(*) FROM w_rowlog"), 0)
        db.execute("BEGIN")
        for i in range(20):  # the log can be used again
            db.execute("INSERT INTO w(member, key) VALUES ('m', ?)", (i,))
        db.execute("COMMIT")

    BEFORE = ("", "SELECT member FROM w WHERE key = 'a1'", "DELETE FROM w WHERE member = 'none'")

    def test_the_commit_of_an_old_object_keeps_the_log_of_the_new_one(self):
        for i, before in enumerate(self.BEFORE):
            path = f"{self.path}{i}"
            db, keys = self.fill(before, path)
            db.execute("PRAGMA query_only = 1")
            db.execute("SELECT member FROM w WHERE key = 'b19'").fetchall()
            db.execute("PRAGMA query_only = 0")
            db.execute("COMMIT")
            self.assert_found(db, keys, path)

    def test_interrupted_lookups_lose_no_key_of_either_object(self):
        """Nor do they roll back the transaction, as SQLite does when a statement that writes is interrupted."""
        for (i, before), position in itertools.product(enumerate(self.BEFORE), range(2, 260, 2)):
            with self.subTest(before, position=position):
                path = f"{self.path}{i}-{position}"
                db, keys = self.fill(before, path)
                left = [position]

                def stop():
                    left[0] -= 1
                    return left[0] == 0

                db.set_progress_handler(stop, 1)
                try:
                    db.execute("SELECT member FROM w WHERE key = 'b19'").fetchall()
                except sqlite3.OperationalError:
                    pass
                db.set_progress_handler(None, 0)
                self.assertTrue(db.in_transaction)
                db.execute("COMMIT")
                self.assert_found(db, keys, path)

    def test_a_rename_by_two_objects_leaves_other_tables_usable(self):
        db = self.connect()
        for name in ("v", "w"):
            db.execute(f"CREATE VIRTUAL TABLE {name} USING bloom_groups(capacity=10)")
        for sql in ("INSERT INTO w(member, key) VALUES (1, 1)", "BEGIN", "INSERT INTO v(member, key) VALUES (2, 2)", "ALTER TABLE v RENAME TO u",
                    "ALTER TABLE u RENAME TO z", "SAVEPOINT s", "ROLLBACK TO s", "DELETE FROM w WHERE member = 5", "INSERT INTO w(w) VALUES ('optimize')"):
            db.execute(sql)
        for table, key in (("w", 1), ("z", 2)):
            self.assertEqual(one(db, f"SELECT member FROM {table} WHERE key = {key}"), key)
        db.execute("COMMIT")

    def test_an_undone_rename_leaves_other_tables_usable(self):
        db = self.connect()
        for name in ("v", "w"):
            db.execute(f"CREATE VIRTUAL TABLE {name} USING bloom_groups(capacity=10)")
            db.execute(f"INSERT INTO {name}(member, key) VALUES (1, 1)")
        for sql in ("BEGIN", "SAVEPOINT s", "ALTER TABLE v RENAME TO other", "INSERT INTO other(member, key) VALUES (2, 2)",
                    "ROLLBACK TO s", "RELEASE s"):
            db.execute(sql)
        self.assertEqual(one(db, "SELECT member FROM w WHERE key = 1"), 1)
        db.execute("COMMIT")
        self.assertEqual(db.execute("SELECT member FROM v WHERE key IN (1, 2)").fetchall(), [(1,)])


class Nested(GroupCase):
    """SQL functions of the host that use the connection while a statement adds keys."""

    def setUp(self):
        super().setUp()
        self.db = self.make("capacity=40, fpr=1e-6")
        self.errors = []

    def each_row(self, *statements, at=20, begin=False, rows=40):
        """INSERT..SELECT of rows that runs the statements at one of them. Returns whether it succeeded."""
        def act(i):
            if i == at:
                for sql in statements:
                    try:
                        self.db.execute(sql).fetchall()
                    except sqlite3.Error as error:
                        self.errors.append(str(error))
            return i

        self.db.create_function("act", 1, act)
        if begin:
            self.db.execute("BEGIN")
        try:
            self.db.execute(f"INSERT INTO who(member, key) WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {rows}) SELECT 'm' || (i % 7), act(i) FROM n")
            return True
        except sqlite3.Error as error:
            self.errors.append(str(error))
            return False

    PAIRS = [(f"m{i % 7}", i) for i in range(1, 41)]
    RELOAD = "PRAGMA writable_schema = RESET"

    def expect(self, pairs):
        for member, key in pairs:
            self.assertIn(member, self.candidates(self.db, key), self.errors)
        if self.db.in_transaction:
            self.db.execute("COMMIT")
        for member, key in pairs:
            self.assertIn(member, self.candidates(self.db, key), self.errors)
        again = self.connect()
        for member, key in pairs:
            self.assertIn(member, self.candidates(again, key), self.errors)
        again.execute("INSERT INTO who(who) VALUES ('integrity-check')")

    def test_nested_statements(self):
        ways = {
            "lookup": ("SELECT member FROM who WHERE key = 5",),
            "insert": ("INSERT INTO who(member, key) VALUES ('n', 'n')",),
            "inserts": ("INSERT INTO who(member, key) VALUES ('n', 'n'), ('o', 'o'), ('m1', 'p')",),
            "failing inserts": ("INSERT INTO who(member, key) VALUES ('n', 'n'), ('o', 'o'), (NULL, 'p')", "INSERT INTO who(member, key) VALUES ('m2', 'q')"),
            "failing twice": ("INSERT INTO who(member, key) VALUES ('n', 'n'), (NULL, 'p')", "INSERT INTO who(member, key) VALUES ('o', 'o')", "INSERT INTO who(member, key) VALUES ('n', 'n'), ('n', 'nn')"),
            "begin": ("BEGIN",),
            "savepoint": ("SAVEPOINT s", "INSERT INTO who(member, key) VALUES ('n', 'n')", "ROLLBACK TO s", "RELEASE s"),
            "reload": (self.RELOAD,),
            "reload, insert": (self.RELOAD, "INSERT INTO who(member, key) VALUES ('n', 'n'), ('m1', 'p')", "SELECT member FROM who WHERE key = 5"),
            "reload, failing": (self.RELOAD, "INSERT INTO who(member, key) VALUES ('n', 'n'), (NULL, 'p')", "INSERT INTO who(member, key) VALUES ('o', 'o')"),
            "reload, optimize": (self.RELOAD, "INSERT INTO who(who) VALUES ('optimize')"),
            "optimize": ("INSERT INTO who(who) VALUES ('optimize')",),
            "other table": ("CREATE TABLE x(a)", "DROP TABLE x"),
            "renamed": ("ALTER TABLE who RENAME TO whom", "ALTER TABLE whom RENAME TO who"),
            "reload, renamed": (self.RELOAD, "ALTER TABLE who RENAME TO whom", "ALTER TABLE whom RENAME TO who"),
            "vacuum": ("VACUUM",),
        }
        for (name, way), begin, at in itertools.product(ways.items(), (False, True), (1, 2, 20, 40)):
            with self.subTest(name, begin=begin, at=at):
                self.path += "x"
                self.setUpAgain()
                if self.each_row(*way, begin=begin, at=at):
                    self.expect(self.PAIRS)
                elif self.db.in_transaction:
                    self.db.execute("ROLLBACK")

    def setUpAgain(self):
        self.db = self.make("capacity=40, fpr=1e-6")
        self.errors = []

    def test_a_member_that_a_nested_statement_removes_loses_only_older_keys(self):
        """No key lands in the slot that has another member by then."""
        for begin, reload, at in itertools.product((False, True), ((), (self.RELOAD,)), (2, 15, 20, 39)):
            for change in ("DELETE FROM who WHERE member = 'm3'", "DELETE FROM who", "INSERT INTO who(who) VALUES ('clear')", "UPDATE who SET member = 'was m3' WHERE member = 'm3'"):
                with self.subTest(change, begin=begin, reload=bool(reload), at=at):
                    self.path += "x"
                    self.setUpAgain()
                    new = "INSERT INTO who(member, key) VALUES ('new', 'a'), ('newer', 'b')"
                    ok = self.each_row(*reload, change, new, begin=begin, at=at)
                    if not ok:
                        self.assertTrue(self.errors)
                        if self.db.in_transaction:
                            self.db.execute("ROLLBACK")
                        continue
                    self.assertEqual(self.errors, [])
                    later = [p for p in self.PAIRS if p[1] >= at]
                    kept = [] if "who(who)" in change or change == "DELETE FROM who" else [p for p in self.PAIRS if p[1] < at and p[0] != "m3"]
                    self.expect(later + kept + [("new", "a"), ("newer", "b")])
                    old = [k for m, k in self.PAIRS if m == "m3" and k < at]
                    for member in ("new", "newer"):
                        wrong = [k for _, k in self.PAIRS if member in self.candidates(self.db, k)]
                        self.assertEqual(wrong, [], f"{member} has keys of another member")
                    if "UPDATE" in change:
                        for k in old:
                            self.assertIn("was m3", self.candidates(self.db, k))

    def test_rollback_in_a_function(self):
        for begin in (False, True):
            for after in ((), ("INSERT INTO who(member, key) VALUES ('n', 'n')",), ("BEGIN", "INSERT INTO who(member, key) VALUES ('n', 'n'), ('o', 'o')")):
                with self.subTest(after, begin=begin):
                    self.path += "x"
                    self.setUpAgain()
                    ok = self.each_row("ROLLBACK", *after, begin=begin)
                    if self.db.in_transaction:
                        self.db.execute("COMMIT")
                    self.db.execute("INSERT INTO who(who) VALUES ('integrity-check')")
                    if begin and ok:
                        self.expect([p for p in self.PAIRS if p[1] > 20])
                    if after and begin:
                        self.assertIn("n", self.candidates(self.db, "n"), self.errors)

    def test_begin_in_a_function_of_a_statement_that_removes(self):
        """The statement is then not undone by SQLite."""
        self.add(self.db, self.PAIRS)
        self.db.create_function("act", 1, lambda m: (self.db.in_transaction or self.db.execute("BEGIN")) and m)
        self.db.execute("DELETE FROM who WHERE act(member) = 'm3'")
        self.db.execute("ROLLBACK")
        self.check(self.db, self.PAIRS)

    def test_keys_survive_a_query_that_cannot_write_them(self):
        """A query of a function must write the keys that wait, and is interrupted. Its error is ignored."""
        refused = 0
        for when in range(1, 30):
            self.path += "x"
            self.setUpAgain()
            db = Raw(self.path)
            calls = [0, when]

            def stop():
                calls[1] -= 1
                return calls[1] == 0

            def query():
                calls[0] += 1
                if calls[0] == 30:
                    db.progress(stop)
                    if db.code("SELECT member FROM who WHERE key = 1") == INTERRUPT:
                        calls.append("refused")
                    db.progress(None)

            db.function("query", query)
            code = db.code("INSERT INTO who(member, key) WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 40) SELECT 'm' || (i % 7), i FROM n WHERE query() IS NULL")
            db.close()
            refused += "refused" in calls
            if code == OK:
                self.expect(self.PAIRS)
        self.assertGreater(refused, 3)

    def test_a_trigger_on_a_shadow_table_cannot_change_the_table(self):
        db = self.db
        db.create_function("act", 0, lambda: nested())
        outcomes = []

        def nested():
            for sql in ("INSERT INTO who(member, key) VALUES ('n', 1), (NULL, 2)", "INSERT INTO who(member, key) VALUES ('n', 3)"):
                try:
                    db.execute(sql)
                    outcomes.append("done")
                except sqlite3.Error as error:
                    outcomes.append(str(error))

        db.execute("CREATE TRIGGER t AFTER INSERT ON who_members WHEN new.member = 'outer' BEGIN SELECT act(); END")
        try:
            db.execute("INSERT INTO who(member, key) VALUES ('first', 0), ('outer', 9), ('last', 10)")
        except sqlite3.Error as error:
            outcomes.append(str(error))
        if "done" in outcomes:
            self.assertIn("n", self.candidates(db, 3))
        db.execute("DROP TRIGGER t")
        db.execute("INSERT INTO who(who) VALUES ('integrity-check')")


class Logged(InFolder):
    """Single rows of a transaction go to the row log."""

    ROWS = 20  # more than a transaction writes at once

    def open(self):
        self.path += "x"
        db = Raw(self.path)
        db.run("CREATE VIRTUAL TABLE who USING bloom_groups(capacity=1000, fpr=1e-6)", "CREATE TABLE other(x)")
        return db

    def rows(self, db, tag):
        for i in range(self.ROWS):
            db.run(f"INSERT INTO who(member, key) VALUES ('m{i % 3}', '{tag}{i}')")
        self.assertGreater(db.one("SELECT count(*) FROM who_rowlog"), 5)

    def lost(self, db, *tags):
        keys = [(f"m{i % 3}", f"{tag}{i}") for tag in tags for i in range(self.ROWS)]
        found = [(member, key) for member, key in keys if db.run(f"SELECT 1 FROM who WHERE member = '{member}' AND key = '{key}'")]
        self.assertEqual(found, [(member, key) for member, key in keys if (member,) in db.run(f"SELECT member FROM who WHERE key = '{key}'")])
        return [pair for pair in keys if pair not in found]

    def expect(self, db, *tags):
        """The keys are there, now and after COMMIT, and a later transaction can log again."""
        self.assertEqual(self.lost(db, *tags), [])
        db.run("COMMIT")
        other = Raw(self.path)
        self.assertEqual(other.run("SELECT (SELECT count(*) FROM who_rowlog), v FROM who_config WHERE k = 'version'"), [(0, 1)])
        other.run("INSERT INTO who(who) VALUES ('integrity-check')", "BEGIN")
        self.rows(other, "later")
        other.run("COMMIT")
        for each in (db, other):
            self.assertEqual(self.lost(each, *tags, "later"), [])
            each.close()

    def interrupted(self, db, sql, steps):
        """Returns whether a query was interrupted after so many steps."""
        left = [steps]

        def stop():
            left[0] -= 1
            return left[0] == 0

        db.progress(stop)
        code = db.code(sql)
        db.progress(None)
        self.assertIn(code, (OK, INTERRUPT))
        return code == INTERRUPT

    def test_a_rollback_brings_back_what_two_objects_have_logged_and_merged(self):
        db = self.open()
        db.run("BEGIN")
        self.rows(db, "a")
        db.run("SAVEPOINT x", "DELETE FROM who WHERE member = 'none'", "ALTER TABLE other ADD COLUMN y")
        self.rows(db, "b")
        db.run("SAVEPOINT y")
        self.rows(db, "c")
        self.assertEqual(self.lost(db, "a", "b", "c"), [])
        db.run("ROLLBACK TO y")
        self.assertEqual((self.lost(db, "a", "b"), len(self.lost(db, "c"))), ([], self.ROWS))
        self.rows(db, "d")
        db.run("ROLLBACK TO x")
        self.assertEqual((self.lost(db, "a"), len(self.lost(db, "b")), len(self.lost(db, "d"))), ([], self.ROWS, self.ROWS))
        self.rows(db, "e")
        self.expect(db, "a", "e")

    def test_a_lookup_writes_nothing(self):
        """SQLite rolls back the whole transaction when a statement that writes is interrupted, also one that a query runs."""
        for sql in ("SELECT member FROM who WHERE key = 'a19'", "SELECT member, keys, fpr, overfull, filter FROM who", "PRAGMA integrity_check"):
            db = self.open()
            db.run("BEGIN", "INSERT INTO other VALUES (1)")
            self.rows(db, "a")
            rows, changes = db.run("SELECT * FROM who_rowlog"), db.one("SELECT total_changes()")
            db.run(sql)
            self.assertEqual((db.run("SELECT * FROM who_rowlog"), db.one("SELECT total_changes()")), (rows, changes))
            stopped = sum(self.interrupted(db, sql, steps) for steps in range(1, 250))
            self.assertGreater(stopped, 20)
            self.assertTrue(db.in_transaction())
            self.assertEqual(db.run("SELECT x FROM other"), [(1,)])
            self.expect(db, "a")

    def test_properties_count_keys_of_the_row_log(self):
        properties = "SELECT member, keys, fpr, overfull, hex(filter) FROM who"
        for many in (0, 300):
            db = self.open()
            db.run("DROP TABLE who", "CREATE VIRTUAL TABLE who USING bloom_groups(capacity=5, fpr=0.4)")
            if many:
                db.run(f"INSERT INTO who(member, key) WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {many}) SELECT i, i FROM n", "INSERT INTO who(who) VALUES ('optimize')")
            db.run("BEGIN")
            self.rows(db, "a")
            found = db.run(properties)
            each = [db.run(f"{properties} WHERE member = 'm{i}'")[0] for i in range(3)]
            db.run("COMMIT")
            self.assertEqual(found, db.run(properties))
            self.assertEqual(each, found[-3:])
            self.assertEqual([row[3] for row in each], [1, 1, 1])

    def test_clear_and_rollback_of_a_full_log(self):
        """More rows than the log takes: it is merged in between."""
        db = connect(isolation_level=None)
        db.execute("CREATE VIRTUAL TABLE who USING bloom_groups(capacity=100000, fpr=1e-9)")
        db.execute("BEGIN")
        db.executemany("INSERT INTO who(member, key) VALUES (?, ?)", ((i % 5, i) for i in range(70_000)))
        self.assertLess(one(db, "SELECT count(*) FROM who_rowlog"), 10_000)
        self.assertEqual(one(db, "SELECT count(*) FROM (SELECT DISTINCT value FROM (WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 7 FROM n LIMIT 10000) SELECT i AS value FROM n) CROSS JOIN who ON key = value AND member = value % 5)"), 10_000)
        db.execute("INSERT INTO who(who) VALUES ('clear')")
        self.assertEqual(one(db, "SELECT count(*) FROM who_rowlog"), 0)
        db.execute("ROLLBACK")

    def test_a_second_object_cannot_change_the_table_from_a_trigger_on_a_shadow_table(self):
        db = self.open()
        failures = []

        def act():
            db.run("PRAGMA writable_schema = RESET")
            try:
                db.run("INSERT INTO who(member, key) VALUES ('n', 3)")
            except Failure as failure:
                failures.append(failure.text)

        db.function("act", act)
        db.run("CREATE TRIGGER tr AFTER INSERT ON who_members WHEN new.member = 'outer' BEGIN SELECT act(); END")
        db.code("INSERT INTO who(member, key) VALUES ('first', 0), ('outer', 9), ('last', 10)")
        self.assertRegex(" ".join(failures), "a trigger on a shadow table cannot change the table")


class Utf16(InFolder):
    """A text in UTF-16 can have halves of characters, which UTF-8 cannot store. SQLite compares their bytes."""

    HALVES = [f"CAST(x'{half:02x}D8' AS TEXT)" for half in range(4)]

    def test_members_that_differ_in_half_a_character(self):
        db = self.connect()
        db.execute("PRAGMA encoding = 'UTF-16le'")
        db.execute("CREATE VIRTUAL TABLE who USING bloom_groups(capacity=10, fpr=1e-6)")
        rows = ", ".join(f"({half}, 'k{i}')" for i, half in enumerate(self.HALVES))
        db.execute(f"INSERT INTO who(member, key) SELECT * FROM (VALUES {rows})")
        self.assertEqual(one(db, "SELECT count(*) FROM who"), len(self.HALVES))
        for i, half in enumerate(self.HALVES):
            self.assertEqual(db.execute(f"SELECT member = {half} FROM who WHERE key = 'k{i}'").fetchall(), [(1,)])

    def test_such_members_of_a_source(self):
        db = self.connect()
        db.execute("PRAGMA encoding = 'UTF-16le'")
        db.execute("CREATE TABLE s(m TEXT, k TEXT)")
        db.execute("CREATE VIRTUAL TABLE who USING bloom_groups(source=s, member=m, column=k, capacity=100)")
        for half in self.HALVES:
            db.execute(f"INSERT INTO s VALUES ({half}, 'x')")
        lookup = "SELECT count(*) FROM s WHERE EXISTS (SELECT 1 FROM who WHERE key = 'x' AND member = m)"
        self.assertEqual(one(db, lookup), len(self.HALVES))
        self.assertEqual(one(db, "SELECT count(*) FROM who WHERE key = 'x'"), len(self.HALVES))
        db.execute("INSERT INTO who(who) VALUES ('merge')")
        self.assertEqual(one(db, lookup), len(self.HALVES))
        db.execute("INSERT INTO who(who) VALUES ('integrity-check')")


class Damage(GroupCase):
    """Damaged shadow tables: errors, and no key that an undamaged row holds is lost silently."""

    STATEMENTS = (
        "SELECT member FROM who WHERE key = 1",
        "SELECT member FROM who WHERE key = 1 AND member = 'm1'",
        "SELECT member, keys, fpr, overfull, info FROM who",
        "SELECT keys FROM who WHERE member = 'm70'",
        "SELECT filter FROM who",
        "INSERT INTO who(member, key) VALUES ('m1', 2), ('new', 3), ('m290', 4)",
        "INSERT OR IGNORE INTO who(member, key) VALUES ('m1', 2), ('new', 3), ('m290', 4)",
        "DELETE FROM who WHERE member = 'm1'",
        "DELETE FROM who WHERE member = 'm290'",
        "UPDATE who SET member = 'x' WHERE member = 'm2'",
        "INSERT INTO who(who) VALUES ('optimize')",
        "INSERT INTO who(who) VALUES ('clear')",
    )
    EVERYWHERE = {
        "no config": "DELETE FROM who_config",
        "no header": "DELETE FROM who_config WHERE k = 'header'",
        "no version": "DELETE FROM who_config WHERE k = 'version'",
        "no segments": "DELETE FROM who_config WHERE k = 'segments'",
        "no wide": "DELETE FROM who_config WHERE k = 'wide'",
        "text for segments": "UPDATE who_config SET v = 'x' WHERE k = 'segments'",
        "NULL for wide": "UPDATE who_config SET v = NULL WHERE k = 'wide'",
        "negative segments": "UPDATE who_config SET v = -1 WHERE k = 'segments'",
        "more wide than segments": "UPDATE who_config SET v = 1000 WHERE k = 'wide'",
        "later version": "UPDATE who_config SET v = 9 WHERE k = 'version'",
        "short header": "UPDATE who_config SET v = x'00' WHERE k = 'header'",
        "header of another filter": "UPDATE who_config SET v = CAST(substr(bloom_create(1000, 0.01, 'counting'), 1, 64) AS BLOB) WHERE k = 'header'",
        "no config table": "DROP TABLE who_config",
    }
    SOMEWHERE = {
        "no data": "DELETE FROM who_data",
        "no data table": "DROP TABLE who_data",
        "short chunks": "UPDATE who_data SET chunk = x'00'",
        "long chunks": "UPDATE who_data SET chunk = zeroblob(100000)",
        "text chunks": "UPDATE who_data SET chunk = CAST(chunk AS TEXT)",
        "NULL chunks": "UPDATE who_data SET chunk = NULL",
        "a missing chunk": "DELETE FROM who_data WHERE id = (SELECT max(id) FROM who_data)",
        "no words": "DELETE FROM who_wide",
        "no table of words": "DROP TABLE who_wide",
        "short words": "UPDATE who_wide SET words = x'00'",
        "NULL words": "UPDATE who_wide SET words = NULL",
        "no members": "DELETE FROM who_members",
        "no table of members": "DROP TABLE who_members",
        "a missing member": "DELETE FROM who_members WHERE slot = 1",
        "negative slot": "UPDATE who_members SET slot = -1 WHERE slot = 1",
        "slot beyond the segments": "UPDATE who_members SET slot = 100000 WHERE slot = 1",
        "largest slot": "UPDATE who_members SET slot = 9223372036854775807 WHERE slot = 1",
        "free slots without a segment": "UPDATE who_members SET slot = -slot - 1, member = NULL, cleared = 1",
        "largest number of segments": "UPDATE who_config SET v = 1 << 24 WHERE k = 'segments'",
        "everything wide": "UPDATE who_config SET v = 1 << 24 WHERE k IN ('segments', 'wide')",
        "fewer segments": "UPDATE who_config SET v = v - 1 WHERE k = 'segments'",
        "only optimized segments": "UPDATE who_config SET v = (SELECT v FROM who_config WHERE k = 'wide') WHERE k = 'segments'",
        "a superfluous chunk": "INSERT INTO who_data SELECT max(id) + 1, zeroblob(3968) FROM who_data",
        "superfluous words": "INSERT INTO who_wide SELECT max(id) + 1, zeroblob(24) FROM who_wide",
        "wide again": "UPDATE who_config SET v = 0 WHERE k = 'wide'",
    }

    def damaged(self, sql):
        self.path += "x"
        db = self.make(SMALL)
        self.add(db, [(f"m{i}", k) for i in range(300) for k in (1, i)])
        db.execute("INSERT INTO who(who) VALUES ('optimize')")
        self.add(db, [(f"later {i}", k) for i in range(70) for k in (1, i)])
        db.close()
        raw = connect(self.path, isolation_level=None)
        raw.execute("PRAGMA synchronous = OFF")
        raw.executescript(sql)
        raw.close()
        return self.connect()

    def test_every_statement_reports_a_damaged_config(self):
        for name, sql in self.EVERYWHERE.items():
            with self.subTest(name):
                db = self.damaged(sql)
                for statement in (*self.STATEMENTS, "INSERT INTO who(who) VALUES ('integrity-check')"):
                    self.assertFails(db, "who: |no such table", statement)
                db.execute("DROP TABLE who")
                self.assertEqual(one(db, "SELECT count(*) FROM sqlite_master"), 0)

    def test_other_damage_is_noticed_by_integrity_check(self):
        for name, sql in self.SOMEWHERE.items():
            with self.subTest(name):
                db = self.damaged(sql)
                self.assertFails(db, "who: ", "INSERT INTO who(who) VALUES ('integrity-check')")
                for statement in self.STATEMENTS:
                    db.execute("BEGIN")
                    try:
                        db.execute(statement).fetchall()
                    except sqlite3.Error as error:
                        self.assertRegex(str(error), "who: ")
                    if db.in_transaction:
                        db.execute("ROLLBACK")
                db.execute("DROP TABLE who")

    def test_lookups_of_damaged_rows_fail(self):
        for name in ("no data", "no data table", "short chunks", "long chunks", "text chunks", "NULL chunks", "no words", "no table of words", "short words", "NULL words",
                     "no members", "no table of members", "a missing member", "negative slot", "everything wide", "wide again", "largest number of segments", "fewer segments", "only optimized segments"):  # fmt: skip
            with self.subTest(name):
                self.assertFails(self.damaged(self.SOMEWHERE[name]), "who: ", "SELECT member FROM who WHERE key = 1")

    def test_lookups_notice_every_number_of_segments_that_is_too_small(self):
        db = self.make("capacity=40, fpr=0.001")
        self.add(db, [(f"m{i}", k) for i in range(300) for k in (1, i)])  # five segments of several chunks
        for segments in range(5):
            db.execute("UPDATE who_config SET v = ? WHERE k = 'segments'", (segments,))
            for key in range(50):
                self.assertFails(db, "exists, but the config has", f"SELECT member FROM who WHERE key = {key}")
        db.execute("UPDATE who_config SET v = 5 WHERE k = 'segments'")
        self.assertEqual(len(self.candidates(db, 1)), 300)

    def test_shadow_tables_that_are_views_of_the_table(self):
        for table, view in (
            ("who_config", "SELECT 'version' AS k, (SELECT member FROM who WHERE key = 1) AS v"),
            ("who_members", "SELECT 0 AS slot, member, 1 AS cleared FROM who"),
            ("who_data", "SELECT 0 AS id, (SELECT member FROM who WHERE key = 1) AS chunk"),
            ("who_wide", "SELECT 0 AS id, (SELECT member FROM who WHERE key = 1) AS words"),
        ):
            with self.subTest(table):
                db = self.damaged(f"DROP TABLE {table}; CREATE VIEW {table} AS {view}")
                self.assertFails(db, "no such table|cannot open view|the table who_\\w+ is missing or has changed", "SELECT member FROM who WHERE key = 1")


if __name__ == "__main__":
    unittest.main()
