"""Threads that write keys all the time, through whatever nodes run."""

import threading
import time

from nodes import Refused

THREADS = 2


class Writers:
    """They write as long as the `with` statement runs. A key that was refused may be there or not: nobody has promised it."""

    def __init__(self, paths, supply):
        self.paths = paths
        self.supply = supply
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self.write, daemon=True) for _ in range(THREADS)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()

    def __exit__(self, problem, *_):
        self.stopped.set()
        if problem is None:  # else nobody is interested in what they still wait for
            for thread in self.threads:
                thread.join()

    def write(self):
        while not self.stopped.is_set():
            try:
                self.paths.insert(self.supply.next())
            except Refused:
                time.sleep(0.01)
