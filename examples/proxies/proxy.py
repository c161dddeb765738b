"""A caching HTTP proxy with neighbours.

    GET http://...                                   the page: from here, from a neighbour, or from the origin
    GET, HEAD with Cache-Control: only-if-cached     from here, or 504: neighbours query each other this way
    PUT /summary/NUMBER                              a neighbour's current filter
    PATCH /summary/NUMBER                            the changes of that filter; 409 if they do not fit the stored one
    GET /counts                                      what went back and forth between neighbours
"""

import collections
import concurrent.futures
import json
import threading

from proxies.cache import Cache
from proxies.wire import Handler, Server, exchange

BY_SUMMARY = ("summaries", "deltas")
ONLY_IF_CACHED = {"Cache-Control": "only-if-cached"}


class Proxy:
    """`way` says whom to ask after a local miss: nobody ("alone"), all neighbours ("everyone"), or those whose summary
    says that they may have the page ("summaries" and "deltas"). Then all neighbours are told whenever a share of
    `threshold` of the pages here is new since the last time: by the whole summary, or by what has changed in it."""

    def __init__(self, number, ports, origin, cache, way, threshold):
        self.number, self.ports, self.origin = number, ports, origin
        self.cache, self.way, self.threshold = cache, way, threshold
        self.neighbours = [other for other in range(len(ports)) if other != number]
        self.new = 0
        self.sent = None  # the summary that the neighbours have
        self.shipping = threading.Lock()
        self.counting = threading.Lock()
        self.counts = collections.Counter()

    def find(self, url):
        """The page, and where it was."""
        body = self.cache.get(url)
        if body is not None:
            return body, "here"
        body, place = self.from_neighbour(url) or (exchange(self.origin, "GET", url).body, "origin")
        self.cache.put(url, body)
        if self.way in BY_SUMMARY:
            self.ship_if_due()
        return body, place

    def from_neighbour(self, url):
        for number in self.ask(self.candidates(url), url):
            reply = exchange(self.ports[number], "GET", url, ONLY_IF_CACHED)
            if reply.status == 200:  # else it went just now
                return reply.body, f"neighbour {number}"
        return None

    def candidates(self, url):
        if self.way in BY_SUMMARY:
            return self.cache.who_may_have(url)
        return self.neighbours if self.way == "everyone" else []

    def ask(self, numbers, url):
        """Those that have it, of some neighbours that are asked at the same time."""
        replies = self.exchange_with(numbers, "queries", "HEAD", url, ONLY_IF_CACHED)
        having = [number for number, reply in zip(numbers, replies) if reply.status == 200]
        self.count("answered_no", len(numbers) - len(having))
        return having

    def ship_if_due(self):
        with self.shipping:  # an older summary must not come after a newer one
            self.new += 1
            if self.new >= self.threshold * self.cache.size():
                self.new = 0
                self.ship()

    def ship(self):
        target = f"/summary/{self.number}"
        behind = self.neighbours
        if self.way == "deltas" and self.sent is not None:
            delta, self.sent = self.cache.change_since(self.sent)
            replies = self.exchange_with(behind, "updates", "PATCH", target, {}, delta)
            behind = [number for number, reply in zip(behind, replies) if reply.status == 409]
        else:
            self.sent = self.cache.summary()
        self.exchange_with(behind, "updates", "PUT", target, {}, self.sent)

    def exchange_with(self, numbers, what, *request):
        """The same request to several neighbours at once, counted."""
        if not numbers:
            return []
        with concurrent.futures.ThreadPoolExecutor(len(numbers)) as pool:
            replies = list(pool.map(lambda number: exchange(self.ports[number], *request), numbers))
        self.count(what, len(replies))
        self.count(f"{what}_bytes", sum(reply.size for reply in replies))
        return replies

    def count(self, what, more):
        with self.counting:
            self.counts[what] += more


class ProxyHandler(Handler):
    def do_GET(self):
        proxy = self.server.proxy
        if self.path == "/counts":
            return self.reply(200, json.dumps(proxy.counts).encode())
        if self.headers["Cache-Control"] == "only-if-cached":
            body = proxy.cache.get(self.path)
            return self.reply(504) if body is None else self.reply(200, body)
        body, place = proxy.find(self.path)
        self.reply(200, body, Found=place)

    def do_HEAD(self):
        self.reply(200 if self.server.proxy.cache.has(self.path) else 504)

    def do_PUT(self):
        self.server.proxy.cache.keep_summary(self.sender(), self.body())
        self.reply(204)

    def do_PATCH(self):
        changed = self.server.proxy.cache.change_summary(self.sender(), self.body())
        self.reply(204 if changed else 409)

    def sender(self):
        return int(self.path.rpartition("/")[2])


def make():
    return Server(ProxyHandler)


def serve(server, database, capacity, fpr, **settings):
    server.proxy = Proxy(cache=Cache(database, capacity, fpr), **settings)
    server.serve_forever()
