"""The extension, for the examples in Python: where it is, and databases with it loaded.

It is where examples/demo.sh builds it, or README.md has it built; $BLOOM names it elsewhere. Python's sqlite3 module must
be one that can load extensions, as Debian's /usr/bin/python3 has it.
"""

import os
import sqlite3
import sys

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLACES = [os.environ.get("BLOOM"), *(os.path.join(REPOSITORY, "build", *sub, "bloom") for sub in ((), ("demo",), ("release",)))]


def extension():
    for place in filter(None, PLACES):
        if os.path.exists(place) or os.path.exists(place + ".so"):
            return place
    sys.exit(f"{os.path.basename(sys.argv[0])}: the extension is not built yet: run examples/demo.sh")


def connect(path, **options):
    db = sqlite3.connect(path, isolation_level=None, **options)
    db.enable_load_extension(True)
    db.load_extension(extension())
    return db
