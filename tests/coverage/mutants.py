"""Lists the mutants of C++ source: each changes one token or removes one statement.

    from mutants import mutants_of

Reads source that clang-format wrote: an operator with two operands has spaces on both sides, and
pointers, references and the brackets of templates do not.
"""

import re
from dataclasses import dataclass

# The replacements of each operator.
BINARY = {
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"),
    "==": ("!=",), "!=": ("==",), "&&": ("||",), "||": ("&&",),
    "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("/",),
    "<<": (">>",), ">>": ("<<",), "&": ("|",), "|": ("&",), "^": ("|",),
    "+=": ("-=",), "-=": ("+=",), "*=": ("/=",), "/=": ("*=",), "%=": ("/=",),
    "<<=": (">>=",), ">>=": ("<<=",), "&=": ("|=",), "|=": ("&=",), "^=": ("|=",),
}
UNARY = {"!": ("",), "~": ("",), "++": ("--",), "--": ("++",)}
WORD = {"true": ("false",), "false": ("true",), "min": ("max",), "max": ("min",)}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="}

TOKEN = re.compile(r"""
    (?P<blank>\s+|//[^\n]*|/\*.*?\*/|^[ ]*\#(?:\\\n|[^\n])*)
  | (?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
  | (?P<number>(?:0x[\da-f]+|\d+(?:'\d+)*(?:\.\d+)?(?:e-?\d+)?)[a-z]*)
  | (?P<word>[a-z_]\w*)
  | (?P<sign><<=|>>=|->|::|\+\+|--|&&|\|\||<<|>>|[-+*/%&|^<>=!]=|\[\[|\]\]|.)
""", re.VERBOSE | re.IGNORECASE | re.DOTALL | re.MULTILINE)
# Statements without code that could be wrong.
NOT_RUN = {"assert", "static_assert", "template", "using", "alignas"}


@dataclass(frozen=True)
class Mutant:
    path: str
    line: int
    column: int
    begin: int  # what is replaced, in the text of the file
    old: str
    new: str

    def applied_to(self, text):
        return text[:self.begin] + self.new + text[self.begin + len(self.old):]

    def __str__(self):
        change = f"without {' '.join(self.old.split())}" if self.new == "" else f"{self.old} -> {self.new}"
        return f"{self.path}:{self.line}:{self.column}: {change}"


@dataclass
class Token:
    kind: str
    text: str
    begin: int


def tokens_of(text):
    found = (Token(match.lastgroup, match[0], match.start()) for match in TOKEN.finditer(text))
    return [token for token in found if token.kind != "blank"]


def numbers_beside(number):
    """The number plus 1 and minus 1."""
    digits, suffix = re.fullmatch(r"(0x[\da-f]+|[\d'.]+(?:e-?\d+)?)([a-z]*)", number, re.IGNORECASE).groups()
    if re.search(r"^[^x]*[.e]", digits):
        return [f"({number} + 1)", f"({number} - 1)"]
    value = int(digits.replace("'", ""), 0)
    show = hex if digits.startswith("0x") else str
    return [show(value + 1) + suffix] + ([show(value - 1) + suffix] if value > 0 else [])


def changes_of(token, text):
    end = token.begin + len(token.text)
    spaced = text[token.begin - 1].isspace() and text[end].isspace()
    if token.kind == "number":
        return numbers_beside(token.text)
    if token.kind == "word":
        return WORD.get(token.text, ())
    if token.kind == "sign":
        return (BINARY if spaced else UNARY).get(token.text, ())
    return ()


def statements(tokens):
    """Yields statements as lists of tokens. A statement ends with ; or a curly bracket outside other brackets."""
    statement, depth = [], 0
    for token in tokens:
        statement.append(token)
        depth += {"(": 1, ")": -1, "[": 1, "]": -1}.get(token.text, 0)
        if depth == 0 and token.text in ";{}" or token.text in "{}":
            yield statement
            statement, depth = [], 0


def can_be_removed(statement):
    """Whether the statement is a call or an assignment and declares nothing."""
    texts = [token.text for token in statement]
    if texts[-1] != ";" or len(texts) == 1:
        return False
    if texts[0] in ("break", "continue", "++", "--"):
        return True
    head = []  # up to what is called or assigned
    for token in statement:
        if token.text == "(" or token.text in ASSIGNMENTS:
            break
        head.append(token)
    else:
        return False
    declares = any(a.kind == "word" and b.kind == "word" or a.text in ("&", "*", ">") and b.kind == "word"
                   for a, b in zip(head, head[1:]))
    return bool(head) and head[0].kind == "word" and not declares and head[0].text not in (
        "return", "throw", "delete", "if", "for", "while", "switch", "case", "else", "do", "operator")


def mutants_of(path, text):
    def mutant(begin, old, new):
        return Mutant(path, text.count("\n", 0, begin) + 1, begin - text.rfind("\n", 0, begin), begin, old, new)

    for statement in statements(tokens_of(text)):
        if statement[0].text in NOT_RUN:
            continue
        in_attribute = False
        for token in statement:
            in_attribute = token.text == "[[" or in_attribute and token.text != "]]"
            if not in_attribute:
                for new in changes_of(token, text):
                    yield mutant(token.begin, token.text, new)
        if can_be_removed(statement):
            begin, last = statement[0].begin, statement[-1]
            yield mutant(begin, text[begin:last.begin + 1], "")
