"""Puts the page together: template, style, scripts, the engine and the tour of examples/tour.sql in one file.

    assemble.py engine.js engine.wasm > index.html
"""

import base64
import hashlib
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOUR = os.path.join(HERE, "..", "tour.sql")
# In the order in which they need each other: in the page they are one script.
SCRIPTS = ("dom", "database", "chart", "cells", "sizing", "race", "search", "watch", "merge", "file", "console", "main")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def part(name):
    return read(os.path.join(HERE, name))


def tour():
    """The steps of the tour: a comment, and the statements that follow it."""
    steps = []
    for text in read(TOUR).split("\n\n"):
        lines = [line for line in text.split("\n") if line and not line.startswith("-->")]
        comment = [line for line in lines if line.startswith("-- ")]
        if not lines:
            continue
        title = re.split(r"(?<=[.:?]) ", " ".join(line[3:] for line in comment))[0].rstrip(".:")
        steps.append({"title": title, "sql": "\n".join(line for line in lines)})
    return steps


def policy(script):
    """What the page may do: run its own script and workers. It cannot reach the network."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (f"default-src 'none'; script-src 'sha256-{digest}' 'wasm-unsafe-eval'; worker-src blob:; "
            "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'")


def inert(text):
    """Text that cannot end the <script> element that it stands in."""
    assert not re.search(r"</script|<!--", text, re.I)
    return text


def main(engine_js, engine_wasm):
    with open(engine_wasm, "rb") as file:
        engine = base64.b64encode(file.read()).decode()
    script = inert("\n".join(part(f"{name}.js") for name in SCRIPTS))
    values = {
        "style": part("style.css"),
        "tour": json.dumps(tour()).replace("<", "\\u003c"),
        "engine": engine,
        "worker": inert(read(engine_js) + "\n" + part("worker.js")),
        "script": script,
        "policy": policy(script),
    }
    sys.stdout.write(re.sub(r"\{\{(\w+)\}\}", lambda name: values[name.group(1)], part("page.html")))


if __name__ == "__main__":
    main(*sys.argv[1:])
