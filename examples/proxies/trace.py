"""Requests of groups of users. The same arguments give the same requests.

Each group has its own proxy. Some of its requests are for pages that all groups read, the others for pages that only this
group reads. In both, the frequency of page i is proportional to 1 / i^0.8 (Zipf's law with the exponent of web traffic).
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
