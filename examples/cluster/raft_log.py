"""How much dqlite has replicated: the entries of a node's raft log, read from the segments in its folder. For cluster.py."""

import os
import re
import struct

# A segment is a version and then batches, each of some entries; what an open one has room for yet is zeros.
VERSION = struct.Struct("<Q")
BATCH = struct.Struct("<IIQ")  # two checksums, the number of entries
ENTRY = struct.Struct("<QB3xI")  # term, type, bytes
SEGMENT = re.compile(r"open-\d+|\d{16}-\d{16}")


def replicated_bytes(folder):
    """The bytes of all entries: what the leader has sent to each follower, and each node has written."""
    return sum(segment_bytes(os.path.join(folder, name)) for name in os.listdir(folder) if SEGMENT.fullmatch(name))


def segment_bytes(path):
    with open(path, "rb") as file:
        segment = file.read()
    total, at = 0, VERSION.size
    while at + BATCH.size <= len(segment):
        entries = BATCH.unpack_from(segment, at)[2]
        if not entries:
            break
        at += BATCH.size
        sizes = [ENTRY.unpack_from(segment, at + i * ENTRY.size)[2] for i in range(entries)]
        at += entries * ENTRY.size + sum(sizes)
        total += sum(sizes)
    return total
