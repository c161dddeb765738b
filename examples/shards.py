#!/usr/bin/python3
"""Keys spread over shards, and a router that queries only the shards whose filter may contain a key: docs/examples/shards.md.

    examples/shards.py                                               # some minutes
    examples/shards.py --shards 2,4 --keys 4000 --questions 400      # seconds; --help lists all parameters

Each shard is a process with its own database that answers queries on a socket. The router queries all shards at once, or
only those whose filter answers "maybe". It keeps the filters in a bloom_groups table and, for comparison, as blobs in rows.
The program compares every answer with the inserted keys and stops at a wrong one. At the end it adds keys without telling
the router, and refreshes the router's filters with deltas.

Needs the extension, built by examples/demo.sh or as README.md has it (extension.py looks for it).
"""

import argparse
import contextlib
import multiprocessing
import os
import random
import socket
import socketserver
import sqlite3
import statistics
import tempfile
import time

from extension import connect

# Shards differ in what they hold: a filter is made for this many times the mean.
ROOM = 1.25


def size(capacity, fpr):
    """Returns the options of a table for filters of this size."""
    return f"capacity={capacity}, fpr={fpr}"


class Shard:
    """A database with its items, and a filter that follows them. Filters with block=496 fit into a bloom_groups table."""

    def __init__(self, path, capacity, fpr):
        self.db = connect(path)
        self.db.execute("PRAGMA synchronous = OFF")
        self.db.execute("CREATE TABLE items(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
        self.db.execute(f"CREATE VIRTUAL TABLE seen USING bloom(source=items, column=key, {size(capacity, fpr)}, block=496)")
        self.sent = None  # the filter that the router has

    def add(self, items):
        self.db.execute("BEGIN")
        self.db.executemany("INSERT INTO items VALUES (?, ?)", items)
        self.db.execute("COMMIT")

    def find(self, key):
        row = self.db.execute("SELECT value FROM items WHERE key = ?", (key,)).fetchone()
        return row[0].encode() if row else b""

    def filter(self, _=None):
        (self.sent,) = self.db.execute("SELECT filter FROM seen").fetchone()
        return self.sent

    def delta(self, _=None):
        """What has changed since the last time."""
        old = self.sent
        return self.db.execute("SELECT bloom_delta(?, ?)", (old, self.filter())).fetchone()[0]

    def put(self, item):
        self.add([item.split("=")])
        return b""


class ShardHandler(socketserver.StreamRequestHandler):
    """A line asks: a command, and a key. The answer is a line with its length, and so many bytes."""

    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            command, _, key = line.decode().rstrip("\n").partition(" ")
            answer = getattr(self.server.shard, command)(key)
            self.wfile.write(b"%d\n%b" % (len(answer), answer))


def serve(server, path, items, capacity, fpr):
    server.shard = Shard(path, capacity, fpr)
    server.shard.add(items)
    server.serve_forever()


@contextlib.contextmanager
def shards(all_items, capacity, fpr):
    """The ports of servers in processes of their own, which must not inherit a database that is open."""
    servers = [socketserver.TCPServer(("127.0.0.1", 0), ShardHandler) for _ in all_items]
    fork = multiprocessing.get_context("fork").Process
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{number}.db") for number in range(len(servers))]
        processes = [fork(target=serve, args=(*given, capacity, fpr)) for given in zip(servers, paths, all_items)]
        for process in processes:
            process.start()
        try:
            yield [server.server_address[1] for server in servers]
        finally:
            for process, server in zip(processes, servers):
                process.terminate()
                process.join()
                server.server_close()


def stream_to(port):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection.makefile("rwb")


class Router:
    """Knows the shards by their filters, each with the time of its last refresh."""

    def __init__(self, ports, capacity, fpr):
        self.db = connect(":memory:")
        self.db.execute("CREATE TABLE router(shard INTEGER PRIMARY KEY, as_of REAL NOT NULL)")
        self.db.execute(f"CREATE VIRTUAL TABLE who USING bloom_groups({size(capacity, fpr)})")
        # The same filters in rows, and their union: what the group replaces.
        self.db.execute("CREATE TABLE blobs(shard INTEGER PRIMARY KEY, filter BLOB NOT NULL)")
        self.db.execute(f"CREATE VIRTUAL TABLE anywhere USING bloom({size(capacity, fpr)}, block=496)")
        self.streams = [stream_to(port) for port in ports]
        self.everyone = range(len(ports))
        self.messages = self.wasted = 0
        for shard in self.everyone:
            self.take_whole(shard)
        self.merge()

    def ask(self, asked, line):
        """All at once; their answers in turn."""
        for shard in asked:
            self.streams[shard].write(line.encode() + b"\n")
            self.streams[shard].flush()
        return [self.streams[shard].read(int(self.streams[shard].readline())) for shard in asked]

    def find(self, key, asked):
        answers = self.ask(asked, f"find {key}")
        found = [answer.decode() for answer in answers if answer]
        self.messages += len(answers)
        self.wasted += len(answers) - len(found)
        return found

    def find_anywhere(self, key):
        return self.find(key, self.everyone)

    def find_by_blobs(self, key):
        if not self.db.execute("SELECT 1 FROM anywhere WHERE key = ?", (key,)).fetchone():
            return []
        rows = self.db.execute("SELECT shard FROM blobs WHERE bloom_contains(filter, ?)", (key,))
        return self.find(key, [shard for (shard,) in rows])

    def find_by_group(self, key):
        return self.find(key, [shard for (shard,) in self.db.execute("SELECT member FROM who WHERE key = ?", (key,))])

    def may_have(self, key, since=0.0):
        """Those whose filter says "maybe", or is older than the answer may be."""
        rows = self.db.execute("SELECT shard FROM router WHERE as_of < ? UNION SELECT member FROM who WHERE key = ?", (since, key))
        return [shard for (shard,) in rows]

    def store(self, shard, filter_, as_of):
        """Replaces the filter of a shard."""
        self.db.execute("BEGIN")
        self.db.execute("DELETE FROM who WHERE member = ?", (shard,))
        self.db.execute("INSERT INTO who(member, filter) VALUES (?, ?)", (shard, filter_))
        self.db.execute("REPLACE INTO router VALUES (?, ?)", (shard, as_of))
        self.db.execute("REPLACE INTO blobs VALUES (?, ?)", (shard, filter_))
        self.db.execute("COMMIT")

    def take_whole(self, shard):
        now = time.time()  # what is added while the filter is under way may be missing in it
        (blob,) = self.ask([shard], "filter")
        self.store(shard, blob, now)
        return len(blob)

    def refresh(self, shard):
        """By a delta; whole if that is not one of the filter that is here. The bytes that came."""
        now = time.time()
        (delta,) = self.ask([shard], "delta")
        try:
            (filter_,) = self.db.execute("SELECT bloom_apply(filter, ?) FROM who WHERE member = ?", (delta, shard)).fetchone()
        except sqlite3.OperationalError:
            return len(delta) + self.take_whole(shard)
        self.store(shard, filter_, now)
        return len(delta)

    def merge(self):
        self.db.execute("INSERT INTO anywhere(filter) SELECT bloom_union(filter) FROM blobs")

    def sizes(self):
        """Bytes of the filters as blobs and in the group, and the rate of their union."""
        (blobs,) = self.db.execute("SELECT sum(length(filter)) FROM blobs").fetchone()
        (group,) = self.db.execute("SELECT json_extract(info, '$.bytes') FROM who LIMIT 1").fetchone()
        (fpr,) = self.db.execute("SELECT fpr FROM anywhere").fetchone()
        return blobs, group, fpr

    def close(self):
        for stream in self.streams:
            stream.close()
        self.db.close()


def make_items(count, rng, prefix="item"):
    return [(f"{prefix}-{rng.getrandbits(64):016x}", f"{rng.getrandbits(32):08x}") for _ in range(count)]


def scatter(items, count, rng):
    """To shards as they come: no rule tells where a key is."""
    parts = [[] for _ in range(count)]
    for item in items:
        rng.choice(parts).append(item)
    return parts


def check(key, answer, expected):
    if answer != expected:
        raise AssertionError(f"{key} is said to have {answer}, and has {expected}")


def measure(router, questions):
    """questions: (key, what is to be found). Ways in turn: name -> messages, wasted ones and seconds of a question."""
    ways = {"everyone": router.find_anywhere, "blobs": router.find_by_blobs, "group": router.find_by_group}
    count = {name: [0, 0] for name in ways}
    times = {name: [] for name in ways}
    for key, expected in questions:
        for name, find in ways.items():
            router.messages = router.wasted = 0
            began = time.perf_counter()
            answer = find(key)
            times[name].append(time.perf_counter() - began)
            check(key, answer, expected)
            count[name][0] += router.messages
            count[name][1] += router.wasted
    return {name: (*(n / len(questions) for n in count[name]), statistics.median(times[name])) for name in ways}


def show(count, made_for, router, absent, present):
    blobs, group, fpr = router.sizes()
    cells = [f"{count}", made_for, f"{blobs / 1024:,.0f}", f"{group / 1024:,.0f}", f"{fpr:.1%}"]
    for measured in (absent, present):
        messages, wasted, _ = measured["group"]
        cells += [f"{messages:.3f}", f"{wasted:.3f}", *(f"{1e6 * seconds:,.0f}" for _, _, seconds in measured.values())]
    print("| " + " | ".join(cells) + " |", flush=True)


def grow(router, added):
    """Adds items that the router has no filters of, then refreshes those. How many are missed before; the bytes of the deltas."""
    for shard, items in enumerate(added):
        for key, value in items:
            router.ask([shard], f"put {key}={value}")
    items = [item for part in added for item in part]
    now = time.time()
    missed = sum(router.find_by_group(key) == [] for key, _ in items)
    for key, value in items:
        check(key, router.find(key, router.may_have(key, since=now)), [value])
    told = sum(router.refresh(shard) for shard in router.everyone)
    router.merge()
    for key, value in items:
        check(key, router.find_by_group(key), [value])
    return missed, told


def run(count, made_for, options):
    rng = random.Random(options.seed)
    items = make_items(options.keys, rng)
    parts = scatter(items, count, rng)
    capacity = round(ROOM * options.keys / (count if made_for == "one" else 1))
    with shards(parts, capacity, options.fpr) as ports, contextlib.closing(Router(ports, capacity, options.fpr)) as router:
        absent = [(key, []) for key, _ in make_items(options.questions, rng)]
        present = [(key, [value]) for key, value in rng.sample(items, options.questions)]
        show(count, made_for, router, measure(router, absent), measure(router, present))
        new = make_items(options.added, rng, "new")
        missed, told = grow(router, scatter(new, count, rng))
    return f"| {count} | {made_for} | {missed:,} of {len(new):,} | {told / 1024:,.1f} |"


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shards", default="2,4,8,16,32,64", help="how many, one after the other")
    parser.add_argument("--keys", type=int, default=200_000, help="in all shards together")
    parser.add_argument("--questions", type=int, default=2000, help="for keys that are there, and as many for others")
    parser.add_argument("--added", type=int, default=200, help="keys that come before the filters are refreshed")
    parser.add_argument("--fpr", type=float, default=0.01, help="of each filter")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


def main():
    options = parse()
    connect(":memory:").close()  # ends here, and not in each shard, where the extension is missing
    print(
        f"{options.keys:,} keys; {options.questions:,} questions of either sort; medians of their times\n\n"
        "| shards | filters for | KiB, blobs | KiB, group | rate of the union | absent: messages | wasted | us, everyone | us, blobs | us, group "
        "| present: messages | wasted | us, everyone | us, blobs | us, group |\n|" + " --- |" * 15
    )
    later = [run(int(count), made_for, options) for count in options.shards.split(",") for made_for in ("one", "all")]
    print("\n| shards | filters for | missed before the refresh | KiB of deltas |\n|" + " --- |" * 4, *later, sep="\n")


if __name__ == "__main__":
    main()
