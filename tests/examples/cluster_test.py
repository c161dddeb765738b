"""The extension in a dqlite cluster, and that examples/cluster notices what is lost.

    /usr/bin/python3 tests/examples/cluster_test.py EXTENSION NODE [Class]    # NODE as built by examples/cluster/run.sh build
"""

import os
import socket
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.host import EXTENSION  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "cluster"))
import costs  # noqa: E402
import nodes  # noqa: E402
from nodes import Cluster, Node, Refused  # noqa: E402
from paths import Paths  # noqa: E402
from writers import Writers  # noqa: E402

NODE = os.path.abspath(sys.argv.pop(1))


class Supply:
    def __init__(self):
        self.given = 0

    def take(self, count):
        return [self.next() for _ in range(count)]

    def next(self):
        self.given += 1
        return f"/key/{self.given}"


class InCluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.cluster = Cluster(NODE, EXTENSION, folder.name)
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.cluster.__enter__()
        cls.paths = Paths(cls.cluster)
        cls.supply = Supply()
        cls.paths.create()
        cls.paths.load(cls.supply.take(3000))

    def assertNothingLost(self):
        for node in self.cluster.nodes:
            self.assertEqual(self.paths.lost(node), ([], []))
            self.assertEqual(self.paths.check(node), "ok")

    def assertRefused(self, text, ask, *arguments):
        with self.assertRaisesRegex(Refused, text):
            ask(*arguments)


class Failover(InCluster):
    def test_no_acknowledged_key_is_lost(self):
        with Writers(self.paths, self.supply):
            victim = self.cluster.leader()
            victim.kill()
            self.paths.write(self.supply.take(1))
            alone = len(self.paths.acknowledged)
            self.paths.write(self.supply.take(50))
            self.cluster.restart(victim)
        self.assertGreaterEqual(len(self.paths.acknowledged), alone + 50)
        self.assertNothingLost()


class Losses(InCluster):
    """What the example calls lost is."""

    def test_keys_that_nobody_inserted(self):
        others = [f"/other/{i}" for i in range(100)]
        self.paths.acknowledged += others
        rows, absent = self.paths.lost(self.cluster.nodes[1])
        self.assertEqual(rows, others)
        self.assertGreater(len(absent), 90)  # one in a hundred may pass
        del self.paths.acknowledged[-len(others) :]
        self.assertNothingLost()

    def test_rows_of_a_filter_that_somebody_emptied(self):
        """Somebody else: what a connection writes there itself, it need not notice."""
        node, other = self.cluster.nodes[2], self.cluster.nodes[0]
        node.exec("INSERT INTO paths_seen(paths_seen) VALUES ('merge')")
        other.exec("CREATE TABLE kept AS SELECT * FROM paths_seen_data")
        other.exec("UPDATE paths_seen_data SET chunk = zeroblob(length(chunk))")
        rows, absent = self.paths.lost(node)
        self.assertEqual(rows, [])
        self.assertEqual(len(absent), len(self.paths.acknowledged))
        self.assertNotEqual(self.paths.check(node), "ok")
        other.exec("REPLACE INTO paths_seen_data SELECT * FROM kept")
        self.assertNothingLost()


class Connections(InCluster):
    """Each node has connections of its own to the leader, which remember pages of the filter."""

    def test_a_key_is_seen_through_every_node_at_once(self):
        for turn, leader in enumerate(2 * self.cluster.nodes):
            leader.lead()
            keys = [f"/turn/{turn}/{i}" for i in range(500)]  # the first turn makes the filter grow
            for node in self.cluster.nodes:
                self.assertLess(self.paths.found(node, keys), 50)
            self.paths.load(keys)
            for node in self.cluster.nodes:
                self.assertEqual(self.paths.found(node, keys), 500)

    def test_rolled_back_keys_are_gone_everywhere(self):
        first, second = (f"INSERT INTO paths VALUES ('{key}')" for key in ("/rolled/back", "/too"))
        self.cluster.nodes[0].exec(f"BEGIN; {first}; SAVEPOINT s; {second}; ROLLBACK TO s; ROLLBACK")
        for each in self.cluster.nodes:
            self.assertEqual(each.alone(lambda: self.paths.found(each, ["/rolled/back", "/too"])), 0)


class Without(InCluster):
    """A node that has not the extension."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.bare = cls.cluster.nodes[2]
        cls.bare.kill()
        cls.bare.extension = None
        cls.cluster.restart(cls.bare)

    def test_it_writes_to_the_source_but_cannot_look_up(self):
        bare, leader = self.bare, self.cluster.nodes[0]
        leader.alone(lambda: self.paths.write(self.supply.take(50)))
        ask = "SELECT key FROM paths_seen WHERE key = '/key/1'"
        self.assertEqual(bare.alone(lambda: bare.query("SELECT count(*) > 0 FROM paths_seen_pending")), [[1]])
        bare.alone(lambda: self.assertRefused("no such module: bloom", bare.query, ask))
        bare.alone(lambda: bare.exec("INSERT INTO paths VALUES ('/written/without')"))
        self.paths.acknowledged.append("/written/without")
        bare.kill()
        bare.extension = EXTENSION
        self.cluster.restart(bare)
        self.assertNothingLost()

    def test_sql_cannot_load_it(self):
        self.assertRefused("not authorized", self.bare.exec, f"SELECT load_extension('{EXTENSION}')")


class Costs(InCluster):
    """docs/examples/cluster.md: the share of a filter in what an insert replicates."""

    def test_a_filter_that_follows_costs_a_page(self):
        way = costs.report(self.cluster, self.supply.take(costs.LOADED + costs.INSERTS), 100_000)
        alone, follows, updated, _, replaced = way.values()
        self.assertGreater(alone, 4096)
        self.assertTrue(4096 < follows - alone < 1.1 * 4096, way)
        self.assertGreater(updated, follows)
        self.assertGreater(replaced - alone, 100_000)


class Ports(unittest.TestCase):
    """Another program takes the port of a node between the choice and the start."""

    def test_a_node_starts_all_the_same(self):
        with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as other:
            taken = other.getsockname()[1]
            node = Node(NODE, EXTENSION, os.path.join(folder, "1"))
            with mock.patch.object(nodes, "free_port", side_effect=[taken, nodes.free_port()]):
                node.start()
            self.addCleanup(node.kill)
            self.assertNotEqual(node.address, f"127.0.0.1:{taken}")
            node.exec("CREATE TABLE kept(a)")
            node.kill()

            host, port = node.address.split(":")
            second = socket.create_server((host, int(port)))
            threading.Timer(2, second.close).start()
            node.start()
            self.assertEqual(node.query("SELECT count(*) FROM kept"), [[0]])
            node.kill()


if __name__ == "__main__":
    unittest.main()
