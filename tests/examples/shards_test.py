"""examples/shards.py: what the router finds, whom it asks, and that the program notices what is wrong.

    /usr/bin/python3 tests/examples/shards_test.py EXTENSION
"""

import contextlib
import os
import random
import re
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.host import EXTENSION  # noqa: E402

EXAMPLES = str(Path(__file__).resolve().parents[2] / "examples")
os.environ["BLOOM"] = EXTENSION
sys.path.insert(0, EXAMPLES)
import shards  # noqa: E402

KEYS, QUESTIONS = 3000, 200
SMALL = ["--shards", "2,8", "--keys", str(KEYS), "--questions", str(QUESTIONS), "--added", "50"]


class Shards(unittest.TestCase):
    def setUp(self):
        rng = random.Random(2)
        self.items = shards.make_items(KEYS, rng)
        self.absent = shards.make_items(QUESTIONS, rng)
        self.parts = shards.scatter(self.items, 4, rng)
        rooms = contextlib.ExitStack()
        self.addCleanup(rooms.close)
        ports = rooms.enter_context(shards.shards(self.parts, KEYS, 0.01))
        self.router = rooms.enter_context(contextlib.closing(shards.Router(ports, KEYS, 0.01)))

    def put(self, key, value, shard=0):
        self.router.ask([shard], f"put {key}={value}")

    def test_a_key_that_is_there_is_asked_where_it_is(self):
        for number, part in enumerate(self.parts):
            for key, value in part[:100]:
                self.assertIn(number, self.router.may_have(key))
                self.assertEqual(self.router.find_by_group(key), [value])
                self.assertEqual(self.router.find_by_blobs(key), [value])
        self.assertLess(self.router.wasted, 80)

    def test_the_group_answers_as_its_filters_in_rows_do(self):
        for key, _ in self.items[:100] + self.absent:
            rows = self.router.db.execute("SELECT shard FROM blobs WHERE bloom_contains(filter, ?) ORDER BY shard", (key,))
            self.assertEqual(self.router.may_have(key), [shard for (shard,) in rows])

    def test_few_are_asked_for_others(self):
        for key, _ in self.absent:
            self.assertEqual(self.router.find_by_group(key), [])
        self.assertEqual(self.router.messages, self.router.wasted)
        self.assertLess(self.router.messages, 0.05 * QUESTIONS)

    def test_a_new_key_is_missed_until_the_refresh(self):
        new = self.absent[0][0]
        self.put(new, "1")
        self.assertEqual(self.router.find_by_group(new), [])
        self.assertEqual(self.router.find(new, self.router.may_have(new, since=time.time())), ["1"])
        told = sum(self.router.refresh(shard) for shard in self.router.everyone)
        self.router.merge()
        self.assertEqual(self.router.find_by_group(new), ["1"])
        self.assertLess(told, 0.2 * self.router.sizes()[0])

    def test_a_delta_of_another_filter_is_not_taken(self):
        lost, new = self.absent[0][0], self.absent[1][0]
        self.put(lost, "1")
        self.router.ask([0], "delta")  # which nobody took
        self.put(new, "2")
        self.router.refresh(0)
        self.router.merge()
        self.assertEqual([self.router.find_by_group(key) for key in (lost, new)], [["1"], ["2"]])

    def test_filters_without_the_keys_are_noticed(self):
        (key, value), *_ = self.items
        self.router.db.execute("DELETE FROM who")
        with self.assertRaisesRegex(AssertionError, f"{key} is said to have"):
            shards.measure(self.router, [(key, [value])])

    def test_the_command(self):
        command = [sys.executable, "-B", os.path.join(EXAMPLES, "shards.py"), *SMALL]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        rows = re.findall(r"^\| (\d+) \| (one|all) \| .*", output, flags=re.M)
        self.assertEqual(rows, 2 * [("2", "one"), ("2", "all"), ("8", "one"), ("8", "all")])


if __name__ == "__main__":
    unittest.main()
