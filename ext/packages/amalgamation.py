#!/usr/bin/env python3
"""Writes the amalgamation: the whole extension as one source file, bloom.cc, and its header, bloom.h.

    ext/packages/amalgamation.py FOLDER

bloom.cc contains all sources of core/ and sql/, and ext/bloom.cc. Each header of the project
precedes its first use. The output depends only on the sources and on the variable BLOOM_COMMIT, which
names their commit for bloom_debug(), so two runs write the same bytes.
"""
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'#include ([<"])([^>"]+)[>"]')
UNNAMED_NAMESPACE = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.M | re.S)
# The first line of a declaration, up to the name and what follows it.
DECLARATION = re.compile(r"^(?!#|//|using \w+::|template|friend)(?:\[\[\w+\]\] )?\w[^\n=({;]*?[ *&](\w+)(?= *(?:[=({;[]|:[^:])).*", re.M)

TOP = """\
// sqlite-bloom {version}: Bloom filters inside SQLite, in one file.
// Generated from the sources of sqlite-bloom, which have one file for each part.
// Needs a C++20 compiler and SQLite's headers.
//
// An extension to load:
//     g++ -std=c++20 -O2 -fPIC -shared -Wl,-z,nodelete bloom.cc -o bloom.so
// A part of a program that links SQLite (see bloom.h):
//     g++ -std=c++20 -O2 -DSQLITE_CORE -c bloom.cc
//
{licence}

// As in a release build: define BLOOM_DEBUG for the assertions.
#if !defined(NDEBUG) && !defined(BLOOM_DEBUG)
#define NDEBUG
#endif

{system_headers}

#define BLOOM_VERSION "{version}"
{commit}#ifdef __clang__
#define BLOOM_COMPILER __VERSION__
#else
#define BLOOM_COMPILER "GNU " __VERSION__
#endif

// Only the entry points are exported.
#pragma GCC visibility push(hidden)
"""


class Amalgamation:
    def __init__(self):
        self.bodies = {}  # of the files added so far, by path
        self.system_headers = set()
        self.added = set()

    def add(self, path):
        """Appends a file of the project, after the headers of the project that it includes."""
        if path in self.added:
            return
        self.added.add(path)
        body = ""
        conditions = 0
        for line in (ROOT / path).read_text().splitlines(keepends=True):
            include = INCLUDE.match(line)
            if include and include[1] == '"':
                self.add(include[2])
            elif include and conditions == 0:
                self.system_headers.add(include[2])
            elif include:
                # Its functions belong to the system, so they are not hidden.
                body += f"#pragma GCC visibility push(default)\n{line}#pragma GCC visibility pop\n"
            elif line != "#pragma once\n":
                conditions += line.startswith("#if") - line.startswith("#endif")
                body += line
        body = re.sub(r"\n{3,}", "\n\n", body.strip("\n"))
        self.bodies[path] = body

    def text(self):
        """Returns the files in order.

        If a file declares in an unnamed namespace what a header, or the unnamed namespace of an
        earlier file, declares under the same name, the file gets a macro that renames it.
        """
        shared = {name for path, body in self.bodies.items() if path.endswith(".h")
                  for name, lines in declarations(body).items() if not any(map(is_function, lines))}
        earlier = {}
        text = ""
        for path, body in self.bodies.items():
            own = declarations("".join(UNNAMED_NAMESPACE.findall(body)))
            renamed = [name for name, lines in own.items() if name in shared or collide(lines, earlier.get(name, set()))]
            for name, lines in own.items():
                earlier.setdefault(name, set()).update(lines)
            suffix = re.sub(r"\W", "_", Path(path).stem)
            before = "".join(f"#define {name} {name}_{suffix}\n" for name in renamed)
            after = "".join(f"\n#undef {name}" for name in renamed)
            text += f"\n// ==== {path} ====\n\n{before}{body}{after}\n"
        return text


def declarations(text):
    """Returns the first lines of the declarations in a namespace, by name."""
    found = {}
    for line in DECLARATION.finditer(text):
        found.setdefault(line[1], set()).add(line[0])
    return found


def collide(lines, others):
    """Returns whether two files cannot both have these declarations of a name. Functions may differ in parameters."""
    return bool(lines & others) or bool(others) and not all(map(is_function, lines | others))


def is_function(line):
    return re.match(r"[^=({;]*\(", line) is not None


def as_comment(text):
    return "\n".join(f"// {line}".rstrip() for line in text.strip().splitlines())


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    build = (ROOT / "CMakeLists.txt").read_text()
    version = re.search(r"project\(sqlite-bloom VERSION ([\d.]+)", build)[1]

    code = Amalgamation()
    for layer in ("core", "sql"):
        for path in sorted((ROOT / layer).rglob("*.cc")):
            code.add(path.relative_to(ROOT).as_posix())
    code.bodies["ext/bloom.cc, all that is exported"] = "#pragma GCC visibility pop"
    code.add("ext/bloom.cc")
    top = TOP.format(
        version=version,
        commit=f'#define BLOOM_COMMIT "{os.environ["BLOOM_COMMIT"]}"\n' if os.environ.get("BLOOM_COMMIT") else "",
        licence=as_comment((ROOT / "LICENSE").read_text()),
        system_headers="\n".join(f"#include <{name}>" for name in sorted(code.system_headers)),
    )

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bloom.cc").write_text(top + code.text())
    header = (ROOT / "ext/sqlite_bloom.h").read_text()
    (folder / "bloom.h").write_text(f"/* sqlite-bloom {version}. MIT License: see bloom.cc. */\n{header}")


main()
