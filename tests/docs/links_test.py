"""Every link in the documents leads to a file of the repository, and to a heading of it where it names one. Its text is no file name.

    /usr/bin/python3 tests/docs/links_test.py
"""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = str(Path(__file__).resolve().parents[2])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def documents():
    # In a repository the tracked files, in an unpacked archive all files.
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "*.md"], capture_output=True, text=True)
    if listed.returncode == 0:
        return listed.stdout.split()
    return [os.path.join(folder, name)[len(ROOT) + 1 :] for folder, _, names in os.walk(ROOT) for name in names if name.endswith(".md")]


def prose(path):
    """The lines outside code blocks."""
    text = open(os.path.join(ROOT, path), encoding="utf-8").read()
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def anchors(path):
    """The anchors that forges make from headings: lower case, no punctuation, dashes for spaces, and a number for repeated ones."""
    found, seen = set(), Counter()
    for heading in re.findall(r"^#+ +(.*)$", prose(path), flags=re.M):
        text = LINK.sub(lambda link: link.group(0).split("]")[0], heading)
        name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return found


def broken(document, link):
    if re.match(r"[a-z]+:", link):
        return None
    path, _, anchor = link.partition("#")
    target = os.path.normpath(os.path.join(os.path.dirname(document), path)) if path else document
    if not os.path.exists(os.path.join(ROOT, target)):
        return "no such file"
    if anchor and anchor not in anchors(target):
        return "no such heading"
    return None


def main():
    links = [(document, link) for document in documents() for link in LINK.findall(prose(document))]
    assert links, "no links at all"
    bad = [(document, link, problem) for document, link in links if (problem := broken(document, link))]
    for document, link, problem in bad:
        print(f"{document}: {link}: {problem}")
    named = [(document, found) for document in documents() if document.startswith("docs/")
             for found in re.findall(r"\[[\w./-]+\.md\]\([^)]*\)", prose(document))]
    for document, found in named:
        print(f"{document}: {found}: the text of a link says what is there, not the name of a file")
    print(f"{len(links)} links, {len(bad)} broken")
    return 1 if bad or named else 0


if __name__ == "__main__":
    sys.exit(main())
