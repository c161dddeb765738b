#!/usr/bin/python3
"""Draws share.svg, how much faster a query is by the share of lookups that find a row, from the tables of docs/worth-it.md.

    docs/images/share.py > docs/images/share.svg
"""

import math
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "worth-it.md"
# The table, the row, the name in the chart, and the class of its line.
LINES = (("INTEGER keys", "join", "join, INTEGER keys", "a"), ("TEXT keys", "join", "join, TEXT keys", "b"),
         ("TEXT keys", "anti-join (NOT EXISTS ... OR)", "NOT EXISTS, TEXT keys", "c"),
         ("INTEGER keys", "the same, SQLite's own filter", "SQLite's own filter, INTEGER keys", "d"))
SHARES = ("0.1 %", "1 %", "10 %", "50 %", "90 %", "100 %")
LEFT, RIGHT, TOP, BOTTOM = 62, 470, 40, 330


def ratio(cell):
    """10.0× faster is 10, 20 % slower is 1 / 1.2."""
    if cell == "same speed":
        return 1.0
    number, slower = re.match(r"([\d.]+)(× faster| % slower)", cell).groups()
    return 1 / (1 + float(number) / 100) if "slower" in slower else float(number)


def row(table, name):
    text = PAGE.read_text(encoding="utf-8").split(f"| {table} |")[1].split("\n\n")[0]
    cells = re.search(rf"^\| {re.escape(name)} \| (.*) \|$", text, re.M).group(1).split(" | ")
    return [ratio(cell) for cell in cells]


def x(i):
    return LEFT + 24 + i * (RIGHT - LEFT - 40) / (len(SHARES) - 1)


def y(value):
    return BOTTOM - (math.log2(value) + 1) / (math.log2(12) + 1) * (BOTTOM - TOP)


def svg():
    lines = [f'<rect class="slow" x="{LEFT}" y="{y(1):.1f}" width="{RIGHT - LEFT}" height="{BOTTOM - y(1):.1f}"/>']
    for value, name in ((8, "8×"), (4, "4×"), (2, "2×"), (1, "same"), (0.5, "½")):
        lines.append(f'<path class="{"even" if value == 1 else "grid"}" d="M{LEFT} {y(value):.1f}H{RIGHT}"/>'
                     f'<text x="{LEFT - 8}" y="{y(value) + 5:.1f}" text-anchor="end">{name}</text>')
    lines += [f'<text x="{x(i):.0f}" y="{BOTTOM + 22}" text-anchor="middle">{share}</text>' for i, share in enumerate(SHARES)]
    for number, (table, name, label, style) in enumerate(LINES):
        points = [(x(i), y(value)) for i, value in enumerate(row(table, name))]
        lines.append(f'<path class="line {style}" d="M' + "L".join(f"{a:.1f} {b:.1f}" for a, b in points) + '"/>')
        lines += [f'<circle class="{style}" cx="{a:.1f}" cy="{b:.1f}" r="4"/>' for a, b in points]
        top = BOTTOM + 76 + 22 * number
        lines.append(f'<path class="line {style}" d="M{LEFT} {top - 5}h28"/><circle class="{style}" cx="{LEFT + 14}" cy="{top - 5}" r="4"/>'
                     f'<text x="{LEFT + 38}" y="{top}">{label}</text>')
    body = "\n  ".join(lines)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 490" role="img" font-family="system-ui, sans-serif" font-size="15">
  <title>Speed with a filter, by the share of lookups that find a row</title>
  <style>
    text {{ fill: #1f2933 }} .grid {{ stroke: #cbd2d9 }} .even {{ stroke: #1f2933; stroke-width: 2 }} .slow {{ fill: #fbe3e4 }}
    .line {{ fill: none; stroke-width: 3 }} circle {{ stroke: none }}
    .a {{ stroke: #0b7285; fill: #0b7285 }} .b {{ stroke: #b35900; fill: #b35900 }} .c {{ stroke: #6741d9; fill: #6741d9 }}
    .d {{ stroke: #616e7c; fill: #616e7c; stroke-dasharray: 6 5 }} .line {{ fill: none }}
    @media (prefers-color-scheme: dark) {{
      text {{ fill: #e4e7eb }} .grid {{ stroke: #3e4c59 }} .even {{ stroke: #e4e7eb }} .slow {{ fill: #3d2023 }}
      .a {{ stroke: #3bc9db; fill: #3bc9db }} .b {{ stroke: #ffa94d; fill: #ffa94d }} .c {{ stroke: #b197fc; fill: #b197fc }}
      .d {{ stroke: #9aa5b1; fill: #9aa5b1 }} .line {{ fill: none }}
    }}
  </style>
  <text x="{LEFT}" y="22">times faster than without the filter</text>
  {body}
  <text x="{(LEFT + RIGHT) / 2:.0f}" y="{BOTTOM + 46}" text-anchor="middle">share of the lookups that find a row</text>
</svg>
"""


if __name__ == "__main__":
    print(svg(), end="")
