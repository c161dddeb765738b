"""Keys to write: the paths that packages own here, then generated ones."""

import glob
import random
import threading

LISTS = "/var/lib/dpkg/info/*.list"


class Supply:
    """Each key once, in the same order each time; for several threads."""

    def __init__(self):
        self.names = owned()
        self.origin = "paths that packages own here" if self.names else "generated"
        self.given = 0
        self.lock = threading.Lock()

    def take(self, count):
        return [self.next() for _ in range(count)]

    def next(self):
        with self.lock:
            self.given += 1
            return self.names.pop() if self.names else f"/generated/{self.given}"


def owned():
    names = set()
    for path in glob.glob(LISTS):
        with open(path, encoding="utf-8", errors="ignore") as lines:
            names.update(line.rstrip("\n") for line in lines)
    names = sorted(names)
    random.Random(1).shuffle(names)
    return names
