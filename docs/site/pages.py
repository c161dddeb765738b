"""The pages of the site: a landing page, the documents beside README.md, and those of docs/ in the order of navigation.json.

    pages.py FOLDER     writes what VitePress needs to build the site to FOLDER
"""

import json
import os
import re
import shutil
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
HERE = os.path.join(ROOT, "docs", "site")
# VitePress calls the first page index.md. It is landing.md with parts of README.md.
HOME = "README.md"
LANDING = "docs/site/landing.md"
# This group of pages is for people who change the project: the menu omits it.
INTERNALS = "Internals"
# Other documents that pages link to.
BESIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "examples/clients/README.md")
LINK = re.compile(r"(!?\[[^\[\]]*\])\(([^)\s]+)\)")
CODE = re.compile(r"(^```.*?^```)", re.M | re.S)
# Of the ends of file names, those that are not the name of a language that VitePress can highlight.
LANGUAGES = {"cc": "cpp", "h": "cpp", "gp": "txt", "txt": "txt", "": "txt"}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def write(folder, path, text):
    target = os.path.join(folder, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)


def navigation():
    """{group: [page]}; a page is a path from the root of the repository."""
    return json.loads(read("docs/site/navigation.json"))


def documents():
    """Every page in docs/."""
    found = [os.path.relpath(os.path.join(folder, name), ROOT) for folder, _, names in os.walk(os.path.join(ROOT, "docs"))
             for name in names if name.endswith(".md")]
    return sorted(path for path in found if not path.startswith("docs/site/"))


def title(path):
    heading = re.search(r"^# +(.*)$", read(path), re.M).group(1)
    return LINK.sub(lambda link: link.group(1)[1:-1], heading).replace("`", "")


def landing():
    """landing.md, with each line "README: ..." replaced by the example or the section of README.md with this heading."""
    readme = read(HOME)
    example = readme[readme.index("```sql"):readme.index("[Getting started in")]

    def part(line):
        name = line.group(1)
        return example if name == "example" else re.search(rf"^## {re.escape(name)}$.*?(?=^## )", readme, re.M | re.S).group(0)

    return re.sub(r"^README: (.*)$", part, read(LANDING), flags=re.M)


class Site:
    def __init__(self, folder):
        self.folder = folder
        self.pages = [HOME, *BESIDE, *documents()]
        self.sources = set()

    def write(self):
        for page in self.pages:
            source = landing() if page == HOME else read(page)
            text = "".join(part if i % 2 else self.with_links(page, part) for i, part in enumerate(CODE.split(source)))
            write(self.folder, "index.md" if page == HOME else page, text)
        for path in sorted(self.sources):
            self.write_source(path)
        menu = [{"text": group, "items": [{"text": title(page), "link": f"/{page[:-3]}"} for page in pages]}
                for group, pages in navigation().items() if group != INTERNALS]
        write(self.folder, ".vitepress/menu.json", json.dumps(menu))

    def with_links(self, page, text):
        return LINK.sub(lambda link: self.changed_link(page, *link.groups()), text)

    def changed_link(self, page, label, target):
        """The site is without the rest of the repository: a file of it becomes a page, a folder is not linked."""
        if re.match(r"[a-z]+:|#", target):
            return f"{label}({target})"
        path, mark, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(page), path))
        if file == HOME:
            return f"{label}({path[:-len(HOME)]}index.md{mark}{anchor})"
        if file in self.pages:
            return f"{label}({target})"
        if os.path.isdir(os.path.join(ROOT, file)):
            return label[1:-1]
        if re.search(r"\.(svg|png|csv)$", file):
            self.copy(file, "" if label.startswith("!") else "public")
            return f"{label}({target})"
        self.sources.add(file)
        return f"{label}({path}.md)"

    def copy(self, file, place):
        target = os.path.join(self.folder, place, file)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(os.path.join(ROOT, file), target)

    def write_source(self, path):
        end = os.path.splitext(path)[1][1:]
        write(self.folder, f"{path}.md",
              f"---\nsearch: false\n---\n# {path}\n\n`````{LANGUAGES.get(end, end)}\n{read(path)}\n`````\n")


if __name__ == "__main__":
    Site(sys.argv[1]).write()
