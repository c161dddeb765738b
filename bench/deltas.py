"""Size of a delta (bloom_delta), compared with the filter, and with the differing bits compressed by zlib and xz.

    /usr/bin/python3 bench/deltas.py EXTENSION [KEYS]    # 1000000

The old filter is sized for KEYS keys at an FPR of 1 % and contains nine tenths of them. The new filter contains 1, 10, 100 ...
keys more. Prints a Markdown table: sizes in bytes, and the time of bloom_delta and bloom_apply divided by the time of a copy of
the filter (lower is better).
"""

import lzma
import sys
import zlib

from support import connect, interleaved, numbers, ratio

EXTENSION = sys.argv[1]
KEYS = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
ROUNDS = 5
HEADER_BYTES = 64
UNION = "SELECT bloom_union(?, bloom_build(printf('%s %d', ?, i), ?)) FROM "


def one(db, sql, *arguments):
    return db.execute(sql, arguments).fetchone()[0]


def with_keys(db, filter, name, count):
    return one(db, UNION + numbers(count), filter, name, KEYS)


def difference(a, b):
    """Returns the differing bits of the cells. The headers, which hold a checksum, are left out."""
    a, b = a[HEADER_BYTES:], b[HEADER_BYTES:]
    return (int.from_bytes(a, "little") ^ int.from_bytes(b, "little")).to_bytes(len(a), "little")


def measure(db, old, new):
    delta = one(db, "SELECT bloom_delta(?, ?)", old, new)
    assert one(db, "SELECT bloom_apply(?, ?)", old, delta) == new
    ways = {
        "copy": lambda: one(db, "SELECT bloom_add(?, NULL) IS NULL", old),
        "delta": lambda: one(db, "SELECT bloom_delta(?, ?) IS NULL", old, new),
        "apply": lambda: one(db, "SELECT bloom_apply(?, ?) IS NULL", old, delta),
    }
    times = interleaved(ways, ROUNDS)
    flipped = difference(old, new)
    sizes = len(delta), len(zlib.compress(flipped, 9)), len(lzma.compress(flipped)), len(zlib.compress(delta, 9))
    return flipped, sizes, ratio(times, "delta", "copy"), ratio(times, "apply", "copy")


def main():
    db = connect(":memory:", EXTENSION)
    old = with_keys(db, one(db, "SELECT bloom_create(?)", KEYS), "old", KEYS * 9 // 10)
    print(f"A filter of {len(old):,} bytes\n")
    print("| new keys | cells that differ | delta | a key | zlib -9 | xz | zlib -9 of the delta | bloom_delta, of a copy | bloom_apply |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    new_keys = [10**i for i in range(7) if 10**i < KEYS] + [KEYS * 9 // 10]
    for count in new_keys:
        flipped, (delta, zipped, xz, twice), build, apply = measure(db, old, with_keys(db, old, "new", count))
        cells = bin(int.from_bytes(flipped, "little")).count("1")
        print(f"| {count:,} | {cells:,} | {delta:,} | {delta / count:.1f} | {zipped:,} | {xz:,} | {twice:,} | {build:.1f} | {apply:.1f} |", flush=True)


if __name__ == "__main__":
    main()
