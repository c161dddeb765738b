"""The table of the example and the filter that follows it, in a cluster; what was acknowledged, and what is lost of it."""

import json
import random
import time

from nodes import Refused, wait_until

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

    def insert(self, key):
        """Through any node. OR IGNORE, since the driver repeats a statement whose leader went away before it could answer."""
        random.choice(self.cluster.running()).exec("INSERT OR IGNORE INTO paths VALUES (?)", key)
        self.acknowledged.append(key)
        return True

    def write(self, keys):
        """One by one, each until a node acknowledges it. Gives the seconds."""
        began = time.monotonic()
        for key in keys:
            wait_until(lambda: self.insert(key), f"no node acknowledges {key}")
        return time.monotonic() - began

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
