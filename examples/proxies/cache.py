"""What a proxy keeps, in a SQLite database: pages, their summary, and the summaries of its neighbours.

The summary is a counting Bloom filter that follows the table of pages: it changes in the transaction that changes the
table, so that it always tells what is there now. This needs writers=extension. With writers=any, removals take effect only
with the command 'merge', and PUT would count a page again that is there already.
"""

import sqlite3
import threading

from extension import connect

SCHEMA = """
PRAGMA journal_mode = wal;
PRAGMA synchronous = off;  -- it is a cache
CREATE TABLE pages(url TEXT PRIMARY KEY, body BLOB NOT NULL, used INTEGER NOT NULL);
CREATE INDEX by_use ON pages(used);
CREATE VIRTUAL TABLE summary USING bloom(source=pages, column=url, writers=extension, kind=counting, capacity={capacity}, fpr={fpr});
-- What comes over a network is tested before it is kept.
CREATE TABLE neighbours(
  number INTEGER PRIMARY KEY,
  filter BLOB NOT NULL CONSTRAINT a_filter CHECK (bloom_check(filter) = 'ok'));
"""

# The row is new or, where two threads fetched the same page, there already.
PUT = """INSERT INTO pages VALUES (:url, :body, (SELECT coalesce(max(used), 0) + 1 FROM pages))
         ON CONFLICT(url) DO UPDATE SET used = excluded.used"""
# The first page beyond the capacity, from the one used last, and what was not used for longer still.
EVICT = "DELETE FROM pages WHERE used <= (SELECT used FROM pages ORDER BY used DESC LIMIT 1 OFFSET :capacity)"
TOUCH = "UPDATE pages SET used = (SELECT max(used) FROM pages) + 1 WHERE url = ?"

CHANGE = "SELECT bloom_delta(?, now), now FROM (SELECT bloom_standard(filter) AS now FROM summary)"
APPLY = "UPDATE neighbours SET filter = bloom_apply(filter, ?) WHERE number = ?"


class Cache:
    """At most `capacity` pages; the one that was not used for longest goes first."""

    def __init__(self, path, capacity, fpr):
        self.capacity = capacity
        self.lock = threading.Lock()
        self.db = connect(path, check_same_thread=False)
        self.db.executescript(SCHEMA.format(capacity=capacity, fpr=fpr))

    def get(self, url):
        with self.lock:
            self.db.execute(TOUCH, (url,))
            row = self.db.execute("SELECT body FROM pages WHERE url = ?", (url,)).fetchone()
        return row and row[0]

    def has(self, url):
        return bool(self.one("SELECT EXISTS (SELECT 1 FROM pages WHERE url = ?)", url))

    def put(self, url, body):
        with self.lock, self.db:
            self.db.execute("BEGIN")
            self.db.execute(PUT, {"url": url, "body": body})
            self.db.execute(EVICT, {"capacity": self.capacity})

    def size(self):
        return self.one("SELECT count(*) FROM pages")

    def summary(self):
        """The plain bit filter: the counters stay at home."""
        return self.one("SELECT bloom_standard(filter) FROM summary")

    def change_since(self, summary):
        """What makes the summary of now of an older one, and the one of now."""
        with self.lock:
            return self.db.execute(CHANGE, (summary,)).fetchone()

    def keep_summary(self, number, summary):
        with self.lock:
            self.db.execute("INSERT OR REPLACE INTO neighbours VALUES (?, ?)", (number, summary))

    def change_summary(self, number, delta):
        """False if it is for another summary than the one that was kept, or for none."""
        try:
            with self.lock:
                return self.db.execute(APPLY, (delta, number)).rowcount == 1
        except sqlite3.Error:
            return False

    def who_may_have(self, url):
        with self.lock:
            rows = self.db.execute("SELECT number FROM neighbours WHERE bloom_contains(filter, ?)", (url,))
            return sorted(number for (number,) in rows)

    def one(self, sql, *arguments):
        with self.lock:
            return self.db.execute(sql, arguments).fetchone()[0]
