#!/usr/bin/env python3
"""Packs the seeds of a fuzz target into one text file, and unpacks them for libFuzzer, which wants a file for each seed.

    tests/fuzz/seeds.py pack FOLDER FILE
    tests/fuzz/seeds.py unpack FILE FOLDER

Each line of FILE is a name and the bytes of a seed: printable ASCII as it is, other bytes with backslashes as in Python.
The name tells what the seed once broke; "-" stands for none.
"""

import hashlib
import sys
from pathlib import Path


def escaped(seed):
    text = seed.decode("latin-1").encode("unicode_escape").decode()
    return text[:-1] + "\\x20" if text.endswith(" ") else text  # editors remove spaces at the end of a line


def pack(folder, file):
    lines = sorted((path.name if "-" in path.name else "-", escaped(path.read_bytes())) for path in Path(folder).iterdir())
    Path(file).write_text("".join(f"{name} {seed}\n" for name, seed in lines))


def unpack(file, folder):
    Path(folder).mkdir(parents=True, exist_ok=True)
    for line in Path(file).read_text().splitlines():
        name, text = line.split(" ", 1)
        seed = text.encode().decode("unicode_escape").encode("latin-1")
        (Path(folder) / (hashlib.sha1(seed).hexdigest() if name == "-" else name)).write_bytes(seed)


if __name__ == "__main__":
    {"pack": pack, "unpack": unpack}[sys.argv[1]](*sys.argv[2:])
