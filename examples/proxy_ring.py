#!/usr/bin/python3
"""Caching proxies that share their pages, as in "Summary Cache" (Fan, Cao, Almeida, Broder): docs/examples/proxies.md.

    examples/proxy_ring.py                                  # a minute or two
    examples/proxy_ring.py --requests 400 --capacity 40     # seconds; --help lists all parameters

Starts an origin and several proxies, each in its own process, and sends the same trace of requests to each setup: proxies
that share nothing, proxies that query all neighbours, and proxies that query the neighbours whose summary answers "maybe".
Summaries are sent at different thresholds, complete or as changes. The program computes the expected content of every cache
and stops at a wrong answer or a wrong cache.

Needs the extension, built by examples/demo.sh or as README.md has it (extension.py looks for it).
"""

import argparse
import collections
import itertools
import json
import multiprocessing
import os
import tempfile
import time

from extension import connect
from proxies import origin, proxy, trace
from proxies.wire import exchange

PROCESSES = multiprocessing.get_context("fork")  # a child has the sockets that listen already


class Ring:
    """The origin and the proxies, as long as the `with` statement runs."""

    def __init__(self, options, way, threshold):
        self.folder = tempfile.TemporaryDirectory()
        proxies = [proxy.make() for _ in range(options.proxies)]
        self.servers = [origin.make(options.delay / 1000), *proxies]
        self.origin, *self.ports = [server.server_port for server in self.servers]
        self.processes = [PROCESSES.Process(target=self.servers[0].serve_forever)]
        for number, server in enumerate(proxies):
            settings = {"number": number, "ports": self.ports, "origin": self.origin, "way": way, "threshold": threshold}
            arguments = (server, self.database(number), options.capacity, options.fpr)
            self.processes.append(PROCESSES.Process(target=proxy.serve, args=arguments, kwargs=settings))

    def __enter__(self):
        for process in self.processes:
            process.start()
        return self

    def __exit__(self, *_):
        for process, server in zip(self.processes, self.servers):
            process.terminate()
            process.join()
            server.server_close()
        self.folder.cleanup()

    def database(self, number):
        return os.path.join(self.folder.name, f"{number}.db")

    def counts(self):
        """Of all proxies."""
        total = collections.Counter()
        for port in self.ports:
            total.update(json.loads(exchange(port, "GET", "/counts").body))
        return total

    def fetches(self):
        return int(exchange(self.origin, "GET", "/fetches").body)


class Directories:
    """What each cache should hold, oldest first, and whether an answer agrees with it."""

    def __init__(self, proxies, capacity):
        self.pages = [collections.OrderedDict() for _ in range(proxies)]
        self.capacity = capacity

    def follow(self, number, url, place):
        """Takes note of an answer. Tells whether a neighbour had what came from the origin."""
        own = self.pages[number]
        holders = [f"neighbour {other}" for other, pages in enumerate(self.pages) if url in pages and pages is not own]
        require((place == "here") == (url in own), f"proxy {number} says that {url} was found {place}")
        require(place in ("here", "origin", *holders), f"proxy {number} has {url} from {place}, which has it not")
        if place.startswith("neighbour"):
            self.pages[int(place.split()[1])].move_to_end(url)
        own[url] = True
        own.move_to_end(url)
        if len(own) > self.capacity:
            own.popitem(last=False)
        return place == "origin" and bool(holders)


def require(fact, otherwise):
    if not fact:
        raise AssertionError(otherwise)


def run(options, way, threshold=0.0):
    """One way of sharing over the whole trace: the places where pages were found, and what it took."""
    directories = Directories(options.proxies, options.capacity)
    places, missed = [], 0
    with Ring(options, way, threshold) as ring:
        began = time.perf_counter()
        for number, url in trace.requests(options.requests, options.proxies, options.pages, options.shared, options.seed):
            reply = exchange(ring.ports[number], "GET", url)
            require(reply.body == origin.page(url), f"proxy {number} gives a wrong page for {url}")
            missed += directories.follow(number, url, reply.headers["Found"])
            places.append(reply.headers["Found"])
        seconds = time.perf_counter() - began
        counts = ring.counts()
        counts.update(missed=missed, requests=len(places), milliseconds=1000 * seconds / len(places))
        counts.update("neighbour" if place.startswith("neighbour") else place for place in places)
        check_counts(options, way, threshold, counts, ring.fetches())
        for number, pages in enumerate(directories.pages):
            check_database(ring.database(number), pages, options)
    return places, counts


def check_counts(options, way, threshold, counts, fetches):
    misses = counts["neighbour"] + counts["origin"]
    everybody = misses * (options.proxies - 1)
    require(counts["here"] + misses == options.requests, "requests are not all answered")
    require(counts["origin"] == fetches, f"{counts['origin']} pages from the origin, which gave {fetches}")
    if way == "everyone":
        require(counts["queries"] == everybody, f"{counts['queries']} queries after {misses} misses")
    by_summary = way in proxy.BY_SUMMARY
    if by_summary and threshold == 0:
        require(counts["updates"] == everybody, f"{counts['updates']} updates after {misses} misses")
    if way == "everyone" or by_summary and threshold == 0:
        require(counts["missed"] == 0, "a page came from the origin although a neighbour had it")


def check_database(path, pages, options):
    db = connect(path)
    held = [url for (url,) in db.execute("SELECT url FROM pages ORDER BY used")]
    require(held == list(pages), f"{path} does not hold what it should")
    # The summary is, bit for bit, what a filter made of the directory alone would be.
    afresh = "SELECT bloom_standard(bloom_build(url, ?, ?, 'counting')) FROM pages"
    compare = f"SELECT bloom_standard(filter) = ({afresh}) FROM summary"
    (same,) = db.execute(compare, (options.capacity, options.fpr)).fetchone()
    require(same, f"the summary in {path} is not that of its directory")
    db.close()


def check_exact_summaries(everyone, summaries):
    """Summaries that are sent after each change find what asking everyone finds, in the same place, each time."""
    for i, (wanted, got) in enumerate(zip(everyone, summaries)):
        require(wanted == got, f"request {i}: everyone was asked, and it was found {wanted}; with summaries {got}")


def report(name, counts):
    share = (counts["here"] + counts["neighbour"]) / counts["requests"]
    print(
        f"{name:<16}{counts['here']:>7,}{counts['neighbour']:>11,}{counts['origin']:>8,}{share:>8.1%}"
        f"{counts['queries']:>9,}{counts['queries_bytes'] / 1024:>7,.0f}{counts['answered_no']:>11,}"
        f"{counts['updates']:>10,}{counts['updates_bytes'] / 1024:>7,.0f}"
        f"{counts['missed']:>8,}{counts['milliseconds']:>7.1f}",
        flush=True,
    )


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--proxies", type=int, default=4)
    parser.add_argument("--requests", type=int, default=3000, help="of all groups together")
    parser.add_argument("--capacity", type=int, default=300, help="pages in each cache")
    parser.add_argument("--fpr", type=float, default=0.01, help="of the summaries")
    parser.add_argument("--thresholds", default="0,1,10", help="percent of new pages at which a summary is sent")
    parser.add_argument("--pages", type=int, default=1500, help="of each site")
    parser.add_argument("--shared", type=float, default=0.7, help="share of requests to the site that all groups read")
    parser.add_argument("--delay", type=float, default=5, help="of the origin, in milliseconds")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


def main():
    options = parse()
    connect(":memory:").close()  # ends here, and not in each proxy, where the extension is missing
    print(
        f"{options.proxies} proxies of {options.capacity} pages, {options.requests} requests\n\n"
        "                           found                             queries            updates\n"
        "                   here  neighbour  origin    hits   number    KiB  answered no  number    KiB  missed     ms"
    )
    report("alone", run(options, "alone")[1])
    everyone, counts = run(options, "everyone")
    report("everyone", counts)
    for way, percent in itertools.product(proxy.BY_SUMMARY, options.thresholds.split(",")):
        places, counts = run(options, way, float(percent) / 100)
        if float(percent) == 0:
            check_exact_summaries(everyone, places)
        report(f"{way}, {percent} %", counts)


if __name__ == "__main__":
    main()
