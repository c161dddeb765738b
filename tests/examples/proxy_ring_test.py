"""examples/proxy_ring.py: its proxies, and that it notices what is wrong.

    /usr/bin/python3 tests/examples/proxy_ring_test.py EXTENSION
"""

import concurrent.futures
import os
import sqlite3
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.host import EXTENSION, one  # noqa: E402

os.environ["BLOOM"] = EXTENSION
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
import proxy_ring  # noqa: E402
from extension import connect  # noqa: E402
from proxies import origin  # noqa: E402
from proxies.cache import Cache  # noqa: E402
from proxies.wire import exchange  # noqa: E402

OPTIONS = proxy_ring.parse("--proxies 3 --requests 600 --capacity 50 --pages 150 --delay 0".split())


class Ways(unittest.TestCase):
    """run() checks every answer, every cache and every summary."""

    @classmethod
    def setUpClass(cls):
        cls.everyone, cls.asked_everyone = proxy_ring.run(OPTIONS, "everyone")
        cls.at_once, cls.sent_at_once = proxy_ring.run(OPTIONS, "summaries", 0)

    def test_alone(self):
        _, counts = proxy_ring.run(OPTIONS, "alone")
        self.assertEqual(counts["neighbour"] + counts["queries"] + counts["updates"], 0)
        self.assertGreater(counts["missed"], 50)

    def test_exact_summaries_find_what_everyone_has(self):
        proxy_ring.check_exact_summaries(self.everyone, self.at_once)
        self.assertGreater(self.sent_at_once["neighbour"], 50)

    def test_summaries_save_the_questions_that_find_nothing(self):
        in_vain = self.asked_everyone["answered_no"]
        self.assertGreater(in_vain, 400)
        self.assertLess(self.sent_at_once["answered_no"], 0.05 * in_vain)
        self.assertLess(self.sent_at_once["queries"], 0.5 * self.asked_everyone["queries"])

    def test_deltas_tell_the_same_in_fewer_bytes(self):
        places, counts = proxy_ring.run(OPTIONS, "deltas", 0)
        proxy_ring.check_exact_summaries(self.everyone, places)
        self.assertEqual(counts["updates"], self.sent_at_once["updates"])
        self.assertLess(counts["updates_bytes"], self.sent_at_once["updates_bytes"])

    def test_later_summaries_cost_less_and_miss_something(self):
        _, counts = proxy_ring.run(OPTIONS, "summaries", 0.3)
        self.assertLess(counts["updates"], 0.3 * self.sent_at_once["updates"])
        self.assertGreater(counts["missed"], 0)
        self.assertGreater(counts["neighbour"], 0.5 * self.sent_at_once["neighbour"])


class ManyClients(unittest.TestCase):
    def test_neighbours_have_the_last_summary_whenever_all_is_quiet(self):
        for way in ("summaries", "deltas"):
            with self.subTest(way):
                self.ask_in_bursts(way)

    def ask_in_bursts(self, way):
        with proxy_ring.Ring(OPTIONS, way, 0) as ring, concurrent.futures.ThreadPoolExecutor(8) as pool:
            for burst in range(40):
                urls = [f"http://all.example/page/{8 * burst + i - i % 2}" for i in range(8)]  # two ask for each
                for url, body in zip(urls, pool.map(lambda url: exchange(ring.ports[0], "GET", url).body, urls)):
                    self.assertEqual(body, origin.page(url))
                own, other = connect(ring.database(0)), connect(ring.database(1))
                sent = one(own, "SELECT bloom_standard(filter) FROM summary")
                self.assertEqual(one(other, "SELECT filter FROM neighbours WHERE number = 0"), sent, f"burst {burst}")
                pages = [url for (url,) in own.execute("SELECT url FROM pages ORDER BY used")]
                self.assertEqual(len(pages), min(4 * (burst + 1), OPTIONS.capacity))
                proxy_ring.check_database(ring.database(0), pages, OPTIONS)
                own.close()
                other.close()


class LostSummary(unittest.TestCase):
    def test_who_lost_it_is_sent_the_whole(self):
        with proxy_ring.Ring(OPTIONS, "deltas", 0) as ring:
            exchange(ring.ports[0], "GET", "http://all.example/page/1")
            own, other = connect(ring.database(0)), connect(ring.database(1))
            self.assertEqual(other.execute("DELETE FROM neighbours").rowcount, 1)
            exchange(ring.ports[0], "GET", "http://all.example/page/2")
            sent = one(own, "SELECT bloom_standard(filter) FROM summary")
            self.assertEqual(one(other, "SELECT filter FROM neighbours WHERE number = 0"), sent)
            self.assertEqual(ring.counts()["updates"], 2 * 2 + 1)
            own.close()
            other.close()


class OneCache(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "cache.db")
        self.cache = Cache(self.path, 2, 0.01)
        self.addCleanup(self.cache.db.close)

    def known(self):
        summary = self.cache.summary()
        return [url for url in "abc" if self.cache.one("SELECT bloom_contains(?, ?)", summary, url)]

    def test_the_page_not_used_for_longest_goes_and_its_key_with_it(self):
        for url in "ab":
            self.cache.put(url, b"page " + url.encode())
        self.assertEqual(self.cache.get("a"), b"page a")
        self.assertEqual(self.known(), ["a", "b"])
        self.cache.put("c", b"page c")
        self.assertEqual([self.cache.has(url) for url in "abc"], [True, False, True])
        self.assertEqual(self.known(), ["a", "c"])

    def test_a_page_that_comes_again_is_one_page_used_now(self):
        for url in "abac":
            self.cache.put(url, b"")
        self.assertEqual(self.known(), ["a", "c"])

    def test_a_delta_is_taken_for_the_summary_that_it_was_made_from_alone(self):
        before = self.cache.summary()
        self.cache.put("a", b"")
        delta, now = self.cache.change_since(before)
        self.assertEqual(now, self.cache.summary())
        self.assertFalse(self.cache.change_summary(1, delta), "there is none yet")
        self.cache.keep_summary(1, before)
        self.assertTrue(self.cache.change_summary(1, delta))
        self.assertEqual(self.cache.who_may_have("a"), [1])
        self.assertFalse(self.cache.change_summary(1, delta), "it is the next one now")
        self.assertEqual(self.cache.who_may_have("a"), [1])

    def test_a_damaged_summary_is_not_kept(self):
        with self.assertRaises(sqlite3.IntegrityError):
            self.cache.keep_summary(1, self.cache.summary()[:-1])
        self.assertEqual(self.cache.who_may_have("a"), [])

    def test_a_summary_that_is_not_of_its_directory_is_noticed(self):
        options = proxy_ring.parse(["--capacity", "2"])
        self.cache.put("a", b"")
        proxy_ring.check_database(self.path, ["a"], options)
        with self.assertRaisesRegex(AssertionError, "does not hold"):
            proxy_ring.check_database(self.path, ["a", "b"], options)
        self.cache.db.execute("UPDATE summary_data SET chunk = zeroblob(length(chunk))")
        with self.assertRaisesRegex(AssertionError, "not that of its directory"):
            proxy_ring.check_database(self.path, ["a"], options)


class Wrong(unittest.TestCase):
    """Places that cannot be."""

    def setUp(self):
        self.directories = proxy_ring.Directories(2, 10)
        self.assertFalse(self.directories.follow(0, "a", "origin"))

    def test_places(self):
        for number, place in ((0, "origin"), (0, "neighbour 1"), (1, "here"), (1, "neighbour 2")):
            with self.subTest(number=number, place=place), self.assertRaises(AssertionError):
                self.directories.follow(number, "a", place)

    def test_a_page_that_was_missed(self):
        self.assertTrue(self.directories.follow(1, "a", "origin"))

    def test_another_place(self):
        with self.assertRaisesRegex(AssertionError, "request 1"):
            proxy_ring.check_exact_summaries(["here", "neighbour 1"], ["here", "origin"])

    def test_counts(self):
        good = {"here": 400, "neighbour": 100, "origin": 100, "queries": 400, "missed": 0}
        proxy_ring.check_counts(OPTIONS, "everyone", 0, good, 100)
        for bad in ({"here": 399}, {"queries": 399}, {"missed": 1}):
            with self.subTest(bad), self.assertRaises(AssertionError):
                proxy_ring.check_counts(OPTIONS, "everyone", 0, {**good, **bad}, 100)
        with self.assertRaises(AssertionError):
            proxy_ring.check_counts(OPTIONS, "everyone", 0, good, 99)


if __name__ == "__main__":
    unittest.main()
