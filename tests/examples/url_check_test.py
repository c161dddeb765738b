"""examples/url_check.py: no bad URL passes, few good ones are looked up, and the program notices where that is not so.

    /usr/bin/python3 tests/examples/url_check_test.py EXTENSION
"""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.host import EXTENSION  # noqa: E402

EXAMPLES = str(Path(__file__).resolve().parents[2] / "examples")
os.environ["BLOOM"] = EXTENSION
sys.path.insert(0, EXAMPLES)
import url_check  # noqa: E402
from extension import connect  # noqa: E402

SMALL = ["--urls", "20000", "--visits", "1000", "--bad", "0.1", "--delay", "0"]


class UrlCheck(unittest.TestCase):
    def setUp(self):
        rooms = contextlib.ExitStack()
        self.addCleanup(rooms.close)
        database = os.path.join(rooms.enter_context(tempfile.TemporaryDirectory()), "list.db")
        options = url_check.parse(SMALL)
        port = rooms.enter_context(url_check.list_server(database, options))
        self.db = rooms.enter_context(contextlib.closing(connect(database)))
        url_check.make_list(self.db, options.urls)
        self.visits = url_check.make_visits(self.db, options)
        self.client = rooms.enter_context(contextlib.closing(url_check.FilteringClient(port)))

    def test_bad_ones_and_false_positives_are_looked_up(self):
        verdicts = [self.client.is_bad(url) for url in self.visits]
        url_check.check_verdicts(self.db, self.visits, verdicts)
        self.assertEqual(sum(verdicts), 100)
        self.assertEqual(self.client.lookups, sum(map(self.client.may_be_bad, self.visits)))
        self.assertGreaterEqual(self.client.lookups, 100)
        self.assertLess(self.client.lookups, 100 + 900 * 0.06)

    def test_a_filter_without_the_keys_is_noticed(self):
        self.client.db.execute("INSERT INTO maybe_bad(maybe_bad) VALUES ('clear')")
        verdicts = [self.client.is_bad(url) for url in self.visits]
        with self.assertRaisesRegex(AssertionError, "is called good, wrongly"):
            url_check.check_verdicts(self.db, self.visits, verdicts)

    def test_a_false_alarm_is_noticed(self):
        with self.assertRaisesRegex(AssertionError, "is called bad, wrongly"):
            url_check.check_verdicts(self.db, self.visits, [True] * len(self.visits))

    def test_the_command(self):
        command = [sys.executable, "-B", os.path.join(EXAMPLES, "url_check.py"), *SMALL]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        (plain,) = re.findall(r"list only +\S+ +([\d,]+)", output)
        (filtered,) = re.findall(r"with filter +\S+ +([\d,]+)", output)
        self.assertEqual(plain, "1,000")
        self.assertIn(f"all 1,000 verdicts are right, both ways; {1000 - int(filtered)} lookups were saved", output)


if __name__ == "__main__":
    unittest.main()
