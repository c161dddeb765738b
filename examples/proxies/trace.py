"""Requests as groups of users make them; the same arguments give the same ones.

Each group has a proxy of its own. A part of what it asks for are pages that all groups read, the rest pages that only this
one reads; in both, the i-th page is asked for in proportion to 1 / i^0.8 (Zipf's law, flattened as it is for the Web).
"""

import itertools
import random

EXPONENT = 0.8


def requests(count, proxies, pages, shared, seed):
    """Pairs of a proxy's number and a URL."""
    rng = random.Random(seed)
    ranks = range(1, pages + 1)
    weights = list(itertools.accumulate(rank**-EXPONENT for rank in ranks))
    for _ in range(count):
        proxy = rng.randrange(proxies)
        site = "all" if rng.random() < shared else f"group{proxy}"
        (page,) = rng.choices(ranks, cum_weights=weights)
        yield proxy, f"http://{site}.example/page/{page}"
