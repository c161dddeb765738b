"""The wording and the layout of the text in the repository.

    /usr/bin/python3 tests/style/prose_test.py

Checks every file for words that readers have to look up or read twice, and Markdown for one sentence per line and for
lines of at most 200 characters. Tables and code are exempt from both, and items of a list may have several sentences.
"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Without a repository, in an archive of its files, what the build made is not checked.
OTHERS = ("build", "out", ".git", "tests/fuzz/corpus", "tests/golden", "tests/data")
TEXT = {".md", ".h", ".cc", ".c", ".py", ".sh", ".sql", ".js", ".mjs", ".vue", ".html", ".css", ".go", ".gp", ".txt", ".in", ".ts"}

# What not to write, as a regular expression, and what to write.
WORDS = {
    r"anew": "again, or rebuild",
    r"at hand": "resident, or cached",
    r"(bits|bytes|ns) a key": "... per key",
    r"dear": "expensive",
    r"(?<=, )for one(?=[,;:.])": "for example",
    r"half as \w+ again": "50 % more",
    r"keeps itself": "follows, or is kept up to date",
    r"mend(s|ed|ing)?": "repair, or fix",
    r"next to none": "almost none",
    r"of one shape": "compatible",
    r"(first|second|third) cache": "L1, L2 or L3 cache",
    r"some ten": "about ten",
    r"(?<=counters )stuck|stuck(?= at 15)": "saturated",
    r"unit(e|es|ed|ing)": "merge",
    r"who(m?ever)": "each program that, or name the person",
    r"without a word": "silently",
}
# Files where such words are right.
ALLOWED = {"tests/style/prose_test.py"}

ABBREVIATION = re.compile(r"\b(e\.g|i\.e|vs|etc|cf|No|Fig|approx|al)\.$")
SENTENCE_END = re.compile(r"(?:(?<!\.)\.|[!?])[\"')\]*_]*(?= +[\"'(\[*_`]*[A-Z])")


def files():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True)
    names = listed.stdout.split("\n") if listed.returncode == 0 else \
        [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()]
    return sorted(name for name in names if Path(name).suffix in TEXT and not name.startswith(tuple(f"{other}/" for other in OTHERS))
                  and (ROOT / name).exists())


def lines_of(name):
    return (ROOT / name).read_text(encoding="utf-8").split("\n")


def prose(name):
    """(number, line) of a Markdown file, without code, tables and what is commented out."""
    fenced = front = False
    for number, line in enumerate(lines_of(name), 1):
        if line == "---" and (number == 1 or front):
            front = not front
        elif re.match(r"\s*```", line):
            fenced = not fenced
        elif not (fenced or front or line.startswith(("    ", "|", "<"))):
            yield number, line


def sentences_only(line):
    """Without code, addresses and a title in bold at the start, which hold dots and capitals of their own."""
    line = re.sub(r"`[^`]*`", "`x`", line)
    return re.sub(r"^\*\*[^*]*\*\*|\]\([^)]*\)", "]", line)


def is_list_item(line):
    return re.match(r"\s*([-*]|\d+\.) ", line) or line.startswith("  ")


class Prose(unittest.TestCase):
    def check(self, findings):
        self.assertEqual([], findings, "\n" + "\n".join(findings))

    def test_words(self):
        rules = [(re.compile(rf"\b(?:{word})\b", re.I), use) for word, use in WORDS.items()]
        self.check([f"{name}:{number}: '{found.group(0)}': write {use}"
                    for name in files() if name not in ALLOWED for number, line in enumerate(lines_of(name), 1)
                    for rule, use in rules for found in rule.finditer(line)])

    def test_no_conflict_of_a_merge_is_left(self):
        self.check([f"{name}:{number}: {line[:7]}" for name in files() for number, line in enumerate(lines_of(name), 1)
                    if re.match(r"(<{7}|>{7}|\|{7})( |$)|={7}$", line)])

    def test_lines_of_markdown_are_not_long(self):
        self.check([f"{name}:{number}: {len(line)} characters" for name in files() if name.endswith(".md")
                    for number, line in prose(name) if len(line) > 200])

    def test_markdown_has_one_sentence_per_line(self):
        self.check([f"{name}:{number}: a second sentence after '{text[max(0, end.start() - 30):end.end()]}'"
                    for name in files() if name.endswith(".md") for number, line in prose(name)
                    if not is_list_item(line) for text in [sentences_only(line)] for end in SENTENCE_END.finditer(text)
                    if not ABBREVIATION.search(text[:end.start() + 1])])


if __name__ == "__main__":
    unittest.main()
