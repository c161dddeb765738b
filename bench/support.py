"""Shared by the measurements in bench/: connections, rounds and the report.

Every figure is a ratio of times. All ways to do one thing run in turn, round after round, in one process. The ratio is the
median of the ratios of the rounds.
"""

import csv
import os
import sqlite3
import statistics
import time

KEY = "printf('https://example.com/item/%06x', {0} * 7919 % 16777213)"  # 31 bytes, in random order; distinct for each {0}


def connect(path, *extensions):
    db = sqlite3.connect(path, isolation_level=None)
    db.enable_load_extension(True)
    for extension in extensions:
        db.load_extension(os.path.abspath(extension))
    return db


def noop_beside(extension):
    """Returns the path of the extension of bench/noop.cc, which is built beside the measured one."""
    return os.path.join(os.path.dirname(os.path.abspath(extension)), "bench", "noop.so")


def numbers(count):
    """Returns a FROM clause with `count` rows i = 0, 1, 2 ..."""
    return f"(WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT {count}) SELECT i FROM n)"


def fill(db, table, count, first=0, key=KEY):
    db.execute(f"INSERT INTO {table} SELECT {key.format('(i + ' + str(first) + ')')} FROM {numbers(count)}")


def seconds(run):
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def interleaved(ways, rounds):
    """Runs each function of `ways` once per round. A function may return its seconds; else it is timed. Returns name -> seconds of
    each round."""
    measured = {name: [] for name in ways}
    for _ in range(rounds):
        for name, run in ways.items():
            begin = time.perf_counter()
            took = run()
            measured[name].append(took if isinstance(took, float) else time.perf_counter() - begin)
    return measured


def ratio(measured, name, base):
    return statistics.median(a / b for a, b in zip(measured[name], measured[base]))


class Report:
    """Prints the lines of a Markdown table. Appends them to the CSV file that BLOOM_BENCH_CSV names, if it is set."""

    HEAD = ("what", "baseline", "ratio (lower is better)", "goal", "ns per row")

    def __init__(self, title):
        self.title = title
        print(f"\n### {title}\n\n| " + " | ".join(self.HEAD) + " |\n|" + " --- |" * len(self.HEAD))

    def line(self, what, against, value, goal=None, ns=None):
        verdict = "" if goal is None else f"{goal:.3g} {'met' if value <= goal else '**missed**'}"
        cells = (what, against, f"{value:.3g}", verdict, "" if ns is None else f"{ns:.0f}")
        print("| " + " | ".join(cells) + " |", flush=True)
        path = os.environ.get("BLOOM_BENCH_CSV")
        if path:
            with open(path, "a", newline="") as file:
                csv.writer(file).writerow((self.title, what, against, f"{value:.4g}", goal or "", "" if ns is None else f"{ns:.2f}"))

    def compare(self, measured, rows, name, base, goal=None, against=None):
        self.line(name, against or base, ratio(measured, name, base), goal, statistics.median(measured[name]) / rows * 1e9)
