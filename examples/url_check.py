#!/usr/bin/python3
"""A slow lookup in a list of bad URLs, with a filter in front of it: docs/examples/url-check.md.

    examples/url_check.py                                        # half a minute
    examples/url_check.py --urls 5000 --visits 500 --delay 1     # seconds; --help lists all parameters

A server has the list and answers each lookup after a delay, like a server far away. A client downloads the filter of the
list once, checks each visit with the filter, and queries the server only if the filter answers "maybe". For comparison, a
second client queries the server about every visit. The program compares every verdict with the list and stops at a wrong one.

Needs the extension, built by examples/demo.sh or as README.md has it (extension.py looks for it).
"""

import argparse
import contextlib
import http.client
import http.server
import json
import multiprocessing
import os
import random
import tempfile
import time
import urllib.parse

from extension import connect

# URLs of 42 bytes, all different.
URL = "printf('https://%08x.example.com/%07d/login', i * 2654435761 % 4294967296, i)"
BAD = "SELECT EXISTS (SELECT 1 FROM bad WHERE url = ?)"

# As examples/space_and_time.sql has it, with what is measured here in place of a textbook's parameters.
EXPECTED = """
SELECT bad_visits + (visits - bad_visits) * fpr,
       visits * filter + (visits - bad_visits) * fpr * lookup + bad_visits * lookup
  FROM (SELECT ? AS visits, ? AS bad_visits, ? AS lookup, ? AS filter, ? AS fpr)
"""


def make_list(db, urls):
    db.execute("CREATE TABLE bad(url TEXT PRIMARY KEY) WITHOUT ROWID")
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
    db.execute(f"{numbers} INSERT INTO bad SELECT {URL} FROM n ORDER BY 1", (urls,))


def make_visits(db, options):
    """URLs of the list and, made by the same rule, others; in random order, the same for the same options."""
    rng = random.Random(options.seed)
    bad = round(options.visits * options.bad)
    numbers = [rng.randint(1, options.urls) for _ in range(bad)]
    numbers += [rng.randint(options.urls + 1, 10 * options.urls) for _ in range(options.visits - bad)]
    rng.shuffle(numbers)
    return [db.execute(f"SELECT {URL} FROM (SELECT ? AS i)", (number,)).fetchone()[0] for number in numbers]


class ListHandler(http.server.BaseHTTPRequestHandler):
    """GET /filter gives the filter. HEAD /?URL says 200 for a URL on the list, and 404 for another."""

    protocol_version = "HTTP/1.1"  # a client keeps its connection

    def setup(self):
        super().setup()
        self.db = connect(self.server.database)

    def do_GET(self):
        (blob,) = self.db.execute("SELECT bloom_build(url, NULL, ?) FROM bad", (self.server.fpr,)).fetchone()
        self.answer(200, blob)

    def do_HEAD(self):
        time.sleep(self.server.delay)
        (bad,) = self.db.execute(BAD, (urllib.parse.unquote(self.path[2:]),)).fetchone()
        self.answer(200 if bad else 404)

    def answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def list_server(database, options):
    """The port of a server in a process of its own, which must not inherit a database that is open."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), ListHandler)
    server.database, server.fpr, server.delay = database, options.fpr, options.delay / 1000
    process = multiprocessing.get_context("fork").Process(target=server.serve_forever)
    process.start()
    try:
        yield server.server_port
    finally:
        process.terminate()
        process.join()
        server.server_close()


class Client:
    """Queries the server; with a filter, only about URLs that may be in the list."""

    def __init__(self, port):
        self.server = http.client.HTTPConnection("127.0.0.1", port)
        self.lookups = 0

    def ask_server(self, url):
        self.lookups += 1
        self.server.request("HEAD", "/?" + urllib.parse.quote(url, safe=""))
        reply = self.server.getresponse()
        reply.read()
        return reply.status == 200

    is_bad = ask_server

    def close(self):
        self.server.close()


class FilteringClient(Client):
    def __init__(self, port):
        super().__init__(port)
        self.server.request("GET", "/filter")
        blob = self.server.getresponse().read()
        # A table of the same make takes the filter in: then a question reads one page of it, however large it is.
        self.db = connect(":memory:")
        info = json.loads(self.db.execute("SELECT bloom_info(?)", (blob,)).fetchone()[0])
        options = f"capacity={info['capacity']}, fpr={info['target_fpr']}"
        self.db.execute(f"CREATE VIRTUAL TABLE maybe_bad USING bloom({options})")
        self.db.execute("INSERT INTO maybe_bad(filter) VALUES (?)", (blob,))

    def may_be_bad(self, url):
        return self.db.execute("SELECT 1 FROM maybe_bad WHERE key = ?", (url,)).fetchone() is not None

    def is_bad(self, url):
        return self.may_be_bad(url) and self.ask_server(url)


def timed(function, arguments):
    """What it gives for each of them, and seconds."""
    began = time.perf_counter()
    answers = [function(argument) for argument in arguments]
    return answers, time.perf_counter() - began


def check_verdicts(db, visits, verdicts):
    for url, verdict in zip(visits, verdicts):
        (bad,) = db.execute(BAD, (url,)).fetchone()
        if verdict != bool(bad):
            raise AssertionError(f"{url} is called {'bad' if verdict else 'good'}, wrongly")


def report(db, client, visits, bad, times, plain_lookups):
    """`times`: seconds for the download, and for all visits: by the list, with the filter, by the filter alone."""
    download, list_only, with_filter, filter_only = times
    urls, list_bytes = db.execute("SELECT count(*), sum(length(url)) FROM bad").fetchone()
    filter_bytes, fpr = client.db.execute("SELECT length(filter), bloom_fpr(filter) FROM maybe_bad").fetchone()
    lookup, filter_ = list_only / len(visits), filter_only / len(visits)
    lookups, seconds = db.execute(EXPECTED, (len(visits), bad, lookup, filter_, fpr)).fetchone()
    print(
        f"{urls:,} bad URLs; {len(visits):,} visits, {bad:,} of them to bad ones; a false-positive rate of {fpr:.4f}\n"
        f"a lookup takes {1e3 * lookup:.2f} ms, the filter {1e6 * filter_:.1f} us; "
        f"it was made and downloaded in {download:.2f} s\n\n"
        f"                    MB    lookups   expected    seconds   expected\n"
        f"list only     {list_bytes / 1e6:8.3f} {plain_lookups:10,}            {list_only:10.2f}\n"
        f"with filter   {filter_bytes / 1e6:8.3f} {client.lookups:10,} {lookups:10,.0f} {with_filter:10.2f} {seconds:10.2f}\n\n"
        f"all {len(visits):,} verdicts are right, both ways; {plain_lookups - client.lookups:,} lookups were saved"
    )


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--urls", type=int, default=200_000, help="on the list")
    parser.add_argument("--visits", type=int, default=5100)
    parser.add_argument("--bad", type=float, default=1 / 51, help="share of visits to URLs on the list")
    parser.add_argument("--fpr", type=float, default=0.03, help="of the filter")
    parser.add_argument("--delay", type=float, default=5, help="of each lookup, in milliseconds")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


def main():
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, "list.db")
        with list_server(database, options) as port:
            db = connect(database)
            make_list(db, options.urls)
            visits = make_visits(db, options)
            plain = Client(port)
            (filtering,), download = timed(FilteringClient, [port])
            plain_verdicts, list_only = timed(plain.is_bad, visits)
            verdicts, with_filter = timed(filtering.is_bad, visits)
            filter_only = timed(filtering.may_be_bad, visits)[1]
        check_verdicts(db, visits, plain_verdicts)
        check_verdicts(db, visits, verdicts)
        report(db, filtering, visits, sum(verdicts), (download, list_only, with_filter, filter_only), plain.lookups)


if __name__ == "__main__":
    main()
