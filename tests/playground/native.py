"""The extension itself, for comparison: reads requests as JSON, one a line, and answers each on one.

    native.py EXTENSION

A request has "sql" with "values", or "file" with "values" (capacity, rate, kind) for the filter of its lines. An answer has
"rows", with blobs as {"hex": ...}, or "error".
"""

import json
import sqlite3
import sys

BUILD = "SELECT bloom_build(line, ?, ?, ?) FROM lines"


def value_of(value):
    return bytes.fromhex(value["hex"]) if isinstance(value, dict) else value


def json_of(value):
    return {"hex": value.hex()} if isinstance(value, bytes) else value


def fill_lines(db, path):
    """The rule of the page: what stands between newlines, without a carriage return at the end; no empty ones."""
    with open(path, "rb") as file:
        lines = (line.removesuffix(b"\n").removesuffix(b"\r") for line in file)
        db.execute("CREATE TEMP TABLE IF NOT EXISTS lines(line BLOB)")
        db.execute("DELETE FROM lines")
        db.executemany("INSERT INTO lines VALUES (?)", ((line,) for line in lines if line))


def answer(db, request):
    if "file" in request:
        fill_lines(db, request["file"])
        request["sql"] = BUILD
    try:
        rows = db.execute(request["sql"], [value_of(value) for value in request["values"]]).fetchall()
        return {"rows": [[json_of(value) for value in row] for row in rows]}
    except sqlite3.Error as error:
        return {"error": str(error)}


def main(extension):
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(extension)
    for line in sys.stdin:
        print(json.dumps(answer(db, json.loads(line))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
