"""Sums up what llvm-cov saw, by file, and lists every line and branch that nothing ran:

    llvm-cov show -show-branches=count -show-instantiations=false ... |
      coverage.py FOLDER LINES BRANCHES

FOLDER is where the sources are; LINES and BRANCHES are the least shares, in percent. The
instantiations of a template count as one: a line or a branch of it is covered if it is in any (but
for what follows a return under `if constexpr`: those lines then look as if they did not run).
Branches that the compiler decides do not count, nor do lines without code, nor constexpr functions
that make tables for the compiler and are in no program. Ends with success if both shares are
reached.
"""

import os
import re
import sys

FILE = re.compile(r"^(/.*):$")
LINE = re.compile(r"^ *(\d+)\| *([\d.]+[kMGTPE]?)\|(.*)$")
BRANCH = re.compile(r"^ *\|  Branch \((\d+):(\d+)\): \[True: ([^,]+), False: ([^\]]+)\]$")

COMPILE_TIME = re.compile(r" *(static )?constexpr .*\) \{$")


class File:
    def __init__(self, name):
        self.name = name
        self.lines = {}     # number: (whether it ran, its text)
        self.branches = {}  # (line, column, outcome): whether it was taken

    def read_line(self, number, count, text):
        if text.strip() and not text.strip().startswith(("//", "#")):
            self.lines[int(number)] = (count != "0", text)

    def drop_what_the_compiler_ran(self):
        end = None  # of the function that line `number` is in
        for number, (ran, text) in sorted(self.lines.items()):
            if end is None and not ran and COMPILE_TIME.match(text):
                end = text[:len(text) - len(text.lstrip())] + "}"
            if end is not None:
                del self.lines[number]
                end = None if text == end else end

    def read_branch(self, line, column, *counts):
        for outcome, count in zip(("true", "false"), counts):
            key = (int(line), int(column), outcome)
            self.branches[key] = self.branches.get(key, False) or count != "0"

    def missed(self):
        """Lines that did not run, and branches not taken of those that did, in order."""
        for number, (ran, text) in sorted(self.lines.items()):
            if not ran:
                yield f"{self.name}:{number}: not run: {text.strip()}"
            for (line, column, outcome), taken in self.branches.items():
                if line == number and ran and not taken:
                    yield f"{self.name}:{line}:{column}: never {outcome}: {text.strip()}"


def read(lines, folder):
    files = []
    for line in lines:
        if found := FILE.match(line):
            files.append(File(os.path.relpath(found[1], folder)))
        elif found := LINE.match(line):
            files[-1].read_line(*found.groups())
        elif found := BRANCH.match(line):
            files[-1].read_branch(*found.groups())
    return sorted(files, key=lambda file: file.name)


def share(done, every):
    return 100 * done / every if every else 100.0


def row(name, files):
    """Prints a row of the table; returns the shares of lines and of branches."""
    ran = [ran for file in files for ran, _ in file.lines.values()]
    taken = [taken for file in files for taken in file.branches.values()]
    shares = share(sum(ran), len(ran)), share(sum(taken), len(taken))
    print(f"{name:32}{len(ran):7}{len(ran) - sum(ran):7}{shares[0]:8.1f} %"
          f"{len(taken):9}{len(taken) - sum(taken):7}{shares[1]:8.1f} %")
    return shares


def main():
    folder, *least = sys.argv[1:]
    files = read(map(str.rstrip, sys.stdin), os.path.abspath(folder))
    for file in files:
        file.drop_what_the_compiler_ran()
        for place in file.missed():
            print(place)
    print(f"\n{'file':32}{'lines':>7}{'missed':>7}{'':10}{'branches':>9}{'missed':>7}")
    for file in files:
        row(file.name, [file])
    shares = row("all", files)
    sys.exit(not files or any(got < float(wanted) for got, wanted in zip(shares, least)))


main()
