"""The program in docs/format.md, which reads and writes stored filters without the extension."""

import functools
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "format.md"


@functools.cache
def reader():
    """Returns the functions of the program by name."""
    with open(PAGE, encoding="utf-8") as page:
        (code,) = re.findall(r"^```python\n(.*?)^```", page.read(), flags=re.M | re.S)
    names = {}
    exec(compile(code, PAGE, "exec"), names)
    return names


def with_cells(filter, cells):
    """Returns a filter with other cells and the right checksums."""
    names = reader()
    return names["header_bytes"](filter, 2, names["checksum"](cells)) + cells


def as_version_1(filter):
    """Returns a filter as version 1.0.0 wrote it, without a checksum of its cells."""
    return reader()["header_bytes"](filter, 1, 0) + filter[64:]
