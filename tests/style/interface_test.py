"""No class in core/ and sql/ has more than 30 public functions: a larger one has two jobs.

Constructors, destructors and operators do not count. Nested and base classes count for themselves.
"""

import pathlib
import re
import sys

MOST = 30
# Comments, string and character literals, preprocessor lines.
IGNORED = re.compile(r'//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'|^#(?:\\\n|[^\n])*', re.M)
CLASS = re.compile(r"\b(class|struct)\s+(?:\w+::)*(\w+)[^;(=]*$")
ACCESS = re.compile(r"\b(public|private|protected)\s*:(?!:)")
NO_FUNCTION = re.compile(r"^,|^(using|typedef|friend|static_assert|enum|class|struct)\b|~|\boperator\b")


def without_templates(text):
    """Removes template arguments and parameters: std::function<void(int)> f is not a function."""
    while (shorter := re.sub(r"<[^<>;{}]*>", " ", text)) != text:
        text = shorter
    return re.sub(r"^(\s*template\s+)+", "", text).strip()


def is_function(text, class_name):
    name = re.match(r"[^=(]*?(\w+)\s*\(", text)
    return bool(name and name[1] != class_name and not NO_FUNCTION.search(text))


def count(text):
    """Returns the number of public functions of each class, by its name."""
    functions = {}
    scopes = [None]  # of each open brace: [class name, is public], or None
    begin = 0
    for mark in re.finditer(r"[{};]|" + ACCESS.pattern, text):
        scope, declaration = scopes[-1], text[begin : mark.start()].strip()
        begin = mark.end()
        if mark[1]:
            if scope:
                scope[1] = mark[1] == "public"
            continue
        if scope and scope[1] and mark[0] in "{;" and is_function(without_templates(declaration), scope[0]):
            functions[scope[0]] = functions.get(scope[0], 0) + 1
        if mark[0] == "{":
            found = CLASS.search(without_templates(declaration))
            scopes.append([found[2], found[1] == "struct"] if found else None)
        elif mark[0] == "}" and len(scopes) > 1:
            scopes.pop()
    return functions


large = False
root = pathlib.Path(__file__).parents[2]
for room in ("core", "sql"):
    for path in sorted((root / room).rglob("*.h")):
        for name, functions in count(IGNORED.sub("", path.read_text())).items():
            if functions > MOST:
                large = True
                print(f"{path}: {name} has {functions} public functions, more than {MOST}")
sys.exit(large)
