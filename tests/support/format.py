"""The program examples/format.py, which reads and writes stored filters without the extension."""

import functools
import runpy
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "format.py"


@functools.cache
def reader():
    """Returns the functions of the program by name."""
    return runpy.run_path(str(PROGRAM))


def with_cells(filter, cells):
    """Returns a filter with other cells and the right checksums."""
    names = reader()
    return names["header_bytes"](filter, 2, names["checksum"](cells)) + cells


def as_version_1(filter):
    """Returns a filter as version 1.0.0 wrote it, without a checksum of its cells."""
    return reader()["header_bytes"](filter, 1, 0) + filter[64:]
