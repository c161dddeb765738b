#!/usr/bin/python3
"""Kills nodes of a dqlite cluster that uses the extension, and looks up every acknowledged key on each node. run.sh runs it:

    cluster.py NODE EXTENSION                 one leader killed, and what an insert replicates
    cluster.py NODE EXTENSION soak ROUNDS     kills and restarts while keys are written
    cluster.py NODE EXTENSION costs KEYS      what an insert replicates, with filters made for so many keys

Ends with an error if a row is lost, a key is answered "absent", or a filter does not agree with its source.
"""

import argparse
import random
import signal
import statistics
import sys
import tempfile
import time

import costs
from nodes import Cluster
from paths import Paths
from supply import Supply
from writers import Writers

LOADED = 20_000  # keys, before the first is written alone
WRITTEN = 200  # keys, one by one, on either side of a failure
FILTER = 100_000  # keys that the filters are made for whose costs are measured


def main():
    options = parse()
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda number, _: sys.exit(128 + number))  # by way of every __exit__
    with tempfile.TemporaryDirectory() as folder, Cluster(options.node, options.extension, folder) as cluster:
        supply = Supply()
        if options.form == "soak":
            soak(cluster, supply, options.number)
        elif options.form == "costs":
            costs.report(cluster, supply.take(costs.LOADED + costs.INSERTS), options.number)
        else:
            demo(cluster, supply)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("node")
    parser.add_argument("extension")
    parser.add_argument("form", nargs="?", choices=("demo", "soak", "costs"), default="demo")
    parser.add_argument("number", nargs="?", type=int, default=20)
    return parser.parse_args()


def demo(cluster, supply):
    paths = Paths(cluster)
    loaded = supply.take(LOADED)
    paths.create()
    seconds = paths.load(loaded)
    print(f"{LOADED:,} keys ({supply.origin}), and a filter that follows their table: {seconds:.1f} s")
    paths.write(supply.take(WRITTEN))
    for number, node in enumerate(cluster.nodes, 1):
        print(f"  looked up through node {number}: {paths.found(node, loaded[:1000]):,} of 1,000 keys may be there, "
              f"{paths.found(node, [key + '~' for key in loaded[:1000]])} of 1,000 others")

    costs.report(cluster, supply.take(costs.LOADED + costs.INSERTS), FILTER)

    victim = cluster.leader()
    victim.kill()
    failover = paths.write(supply.take(1))
    paths.write(supply.take(WRITTEN))
    print(f"the leader was killed (SIGKILL); the next write was acknowledged after {failover:.1f} s")
    print(f"{WRITTEN} more keys through the other two; the killed node is back after {cluster.restart(victim):.1f} s")
    conclude(cluster, paths)


def soak(cluster, supply, rounds):
    paths = Paths(cluster)
    paths.create()
    paths.load(supply.take(LOADED))
    failovers, others = [], []
    with Writers(paths, supply):
        for number in range(1, rounds + 1):
            leader = cluster.leader()
            victim = leader if number % 2 else random.choice(cluster.nodes)
            victim.kill()
            seconds = paths.write(supply.take(1))
            (failovers if victim is leader else others).append(seconds)
            time.sleep(1)  # of writing by two
            back = cluster.restart(victim)
            print(f"round {number}: {'leader' if victim is leader else 'other'} killed, next write after {seconds:.2f} s, "
                  f"back after {back:.2f} s, {len(paths.acknowledged):,} keys acknowledged", flush=True)
            time.sleep(1)
    print(f"{rounds} rounds; {len(failovers)} times it was the leader. Seconds to the next write, min/median/max:")
    for name, seconds in (("leader", failovers), ("other", others)):
        if seconds:
            print(f"  {name:8}{min(seconds):.2f} / {statistics.median(seconds):.2f} / {max(seconds):.2f}")
    conclude(cluster, paths)


def conclude(cluster, paths):
    """Asks each node, of its own copy, for every key that was acknowledged."""
    print("\n            acknowledged   rows lost   keys called absent   integrity-check")
    bad = 0
    for number, node in enumerate(cluster.nodes, 1):
        rows, absent = paths.lost(node)
        agrees = paths.check(node)
        bad += len(rows) + len(absent) + (agrees != "ok")
        print(f"  node {number}  {len(paths.acknowledged):14,} {len(rows):11,} {len(absent):20,}   {agrees}")
    if bad:
        sys.exit("\nFAILED: see the table")
    print(f"\nNo answer was lost: each of the {len(paths.acknowledged):,} acknowledged keys may be there, says each node.")


if __name__ == "__main__":
    main()
