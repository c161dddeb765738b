"""The table of the example and the filter that follows it, in a cluster; what was acknowledged, and what is lost of it."""

import json
import time

from nodes import Refused

BATCH = 5000  # keys in one statement


class Paths:
    def __init__(self, cluster):
        self.cluster = cluster
        self.acknowledged = []

    def create(self):
        node = self.cluster.nodes[0]
        node.exec("CREATE TABLE paths(path TEXT PRIMARY KEY) WITHOUT ROWID")
        node.exec("CREATE VIRTUAL TABLE paths_seen USING bloom(source=paths, column=path)")

    def load(self, keys):
        began = time.monotonic()
        for batch in batches(keys):
            self.cluster.nodes[0].exec("INSERT INTO paths SELECT value FROM json_each(?)", batch)
        self.acknowledged += keys
        return time.monotonic() - began

    def insert(self, node, key):
        """OR IGNORE, since the driver repeats a statement whose leader went away before it could say that it was done."""
        node.exec("INSERT OR IGNORE INTO paths VALUES (?)", key)
        self.acknowledged.append(key)

    def write(self, keys):
        """One by one, through each node that runs in turn."""
        for number, key in enumerate(keys):
            running = self.cluster.running()
            self.insert(running[number % len(running)], key)

    def time_to_write(self, key):
        """Until a node that runs has acknowledged the key."""
        began = time.monotonic()
        while True:
            try:
                self.insert(self.cluster.running()[0], key)
                return time.monotonic() - began
            except Refused:
                time.sleep(0.01)

    def found(self, node, keys):
        """How many the filter says may be there."""
        return len(keys) - len(self.absent(node, keys))

    def absent(self, node, keys):
        ask = "SELECT value FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM paths_seen WHERE key = value)"
        return [key for batch in batches(keys) for (key,) in node.query(ask, batch)]

    def lost(self, node):
        """The acknowledged keys whose rows this node has not, and those that its filter calls absent."""
        look_up = "SELECT value FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM paths WHERE path = value)"
        keys = list(self.acknowledged)
        return node.alone(lambda: (
            [key for batch in batches(keys) for (key,) in node.query(look_up, batch)],
            self.absent(node, keys),
        ))

    def check(self, node):
        try:
            node.alone(lambda: node.exec("INSERT INTO paths_seen(paths_seen) VALUES ('integrity-check')"))
        except Refused as error:
            return str(error)
        return "ok"


def batches(keys):
    return [json.dumps(keys[i : i + BATCH]) for i in range(0, len(keys), BATCH)]
