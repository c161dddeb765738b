"""Looks up keys in stored filters and applies deltas, without the extension: what docs/format.md says, as a program."""

import struct

M64 = 2**64 - 1
rotl = lambda x, n: (x << n | x >> (64 - n)) & M64


def mix(k):
    for multiplier in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        k = (k ^ k >> 33) * multiplier & M64
    return k ^ k >> 33


def murmur3(key, seed):
    """h1 and h2 of bytes."""
    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
    h1 = h2 = seed
    for i in range(0, len(key) + 1, 16):
        whole = i + 16 <= len(key)
        k1, k2 = struct.unpack("<QQ", key[i : i + 16].ljust(16, b"\0"))
        h1 ^= rotl(k1 * c1 & M64, 31) * c2 & M64
        if whole:
            h1 = ((rotl(h1, 27) + h2) * 5 + 0x52DCE729) & M64
        h2 ^= rotl(k2 * c2 & M64, 33) * c1 & M64
        if whole:
            h2 = ((rotl(h2, 31) + h1) * 5 + 0x38495AB5) & M64
    h1, h2 = h1 ^ len(key), h2 ^ len(key)
    h1 = (h1 + h2) & M64
    h2 = (h2 + h1) & M64
    h1, h2 = mix(h1), mix(h2)
    h1 = (h1 + h2) & M64
    return h1, (h2 + h1) & M64


def header(filter):
    magic, version, hash, kind, k, m, block, seed, collation = struct.unpack("<4sBBBBQQIB", filter[:29])
    assert magic == b"BLMF" and version in (1, 2) and hash == 1
    assert len(filter) == 64 + (m * (4 if kind == 2 else 1) + 7) // 8
    assert struct.unpack("<Q", filter[56:64])[0] == murmur3(filter[:56], 0)[0]
    return kind, k, m, block, seed, collation


def checksum(cells):
    total, key = 0, 1
    cells += bytes(-len(cells) % 32)
    for a, b in struct.iter_unpack("<QQ", cells):
        key = key * 0xF1357AEA2E62A9C5 & M64
        total += (a + key & M64) * (b + rotl(key, 32) & M64)
    return murmur3((total & 2**128 - 1).to_bytes(16, "little"), 0)[0]


def header_bytes(old, version, cell_checksum):
    start = old[:4] + bytes([version]) + old[5:48] + struct.pack("<Q", cell_checksum)
    return start + struct.pack("<Q", murmur3(start, 0)[0])


def is_intact(filter):
    header(filter)
    return filter[4] == 1 or struct.unpack("<Q", filter[48:56])[0] == checksum(filter[64:])


def positions(filter, key):
    kind, k, m, block, seed, _ = header(filter)
    h1, h2 = murmur3(key, seed)
    cells = block or m
    first = cells * (h1 * (m // block) >> 64) if block else 0
    slice = cells // k if kind == 3 else 0
    x = h2 if block else h1
    for i in range(k):
        yield first + i * slice + (x * (slice or cells) >> 64)
        x = (x * 0xF1357AEA2E62A9C5 if block else x + h2) & M64


def cell(filter, i):
    counting = filter[6] == 2
    return filter[64 + i // 2] >> i % 2 * 4 & 15 if counting else filter[64 + i // 8] >> i % 8 & 1


def contains(filter, key):
    return all(cell(filter, i) for i in positions(filter, key))


def digest(filter):
    slices = (filter[i : i + 65536] for i in range(64, len(filter), 65536))
    return murmur3(header_bytes(filter, 1, 0) + b"".join(struct.pack("<Q", murmur3(s, 0)[0]) for s in slices), 0)[0]


def apply(old, delta):
    magic, version, r, has_header, _, before, after = struct.unpack("<4s4B2Q", delta[:24])
    assert (magic, version) == (b"BLMD", 1) and before == digest(old)
    new = delta[24:88] if has_header else old[:64]
    kind, _, m, *_ = struct.unpack("<6xBBQ", new[:16])
    alike = old[6:29] == new[6:29]
    cells = int.from_bytes(old[64:], "little") if alike else 0
    gaps, at = int.from_bytes(delta[88 if has_header else 24 :], "little"), -1
    while gaps:
        zeros = (gaps & -gaps).bit_length() - 1
        gaps >>= zeros + 1
        at += 1 + (zeros << r | gaps & (1 << r) - 1)
        gaps >>= r
        cells ^= 1 << at
    cells = cells.to_bytes((m * (4 if kind == 2 else 1) + 7) // 8, "little")
    new = header_bytes(new, 2, checksum(cells)) + cells
    assert after == digest(new)
    return new
