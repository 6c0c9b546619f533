"""Numbers as a book sets them: a minus that is one, powers of ten, and columns that line up.

Python prints -0.04 and 1e-06; a page says −0.04 and 10⁻⁶, wherever the number comes from. In a
table a column of numbers is set to the right, any other to the left, whoever made the table.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

HYPHEN = re.compile(r"(?<![\w.\-−)\]])-(?=\.?\d)")
NOTHING = re.compile(r"(?<![\w.])−(?=0(?:\.0+)?(?![\d.]))")
POWER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)[eE]([+-]?)0*(\d+)(?!\w)")
RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
SIGNS = r"[\d.,\s·×⁰¹²³⁴⁵⁶⁷⁸⁹⁻±+−–/%()-]*"
UNIT = r"(?:\s?(?:%|k|M|B|GB|MB|KB|s|ms|min|h|×|x|nats|bits))?"
NUMBER = re.compile(rf"[≈~<>≤≥]?{SIGNS}\d{SIGNS}{UNIT}")
EMPTY = {"", "–", "—", "-", "?"}
APART = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)


def set_numbers(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Set the numbers of a page, and the columns of its tables."""
    for text in list(doctree.findall(nodes.Text)):
        if not around(text, APART):
            new = numeral(text.astext())
            if new != text.astext():
                text.parent.replace(text, nodes.Text(new))
    for table in doctree.findall(nodes.tgroup):
        align_columns(table)


def numeral(text: str) -> str:
    """Return a text with the signs of printed numbers: "−0.04" for "-0.04", "10⁻⁶" for "1e-06"."""
    if not any(character.isdigit() for character in text):
        return text
    return NOTHING.sub("", HYPHEN.sub("−", POWER.sub(_power, text)))


def align_columns(group: nodes.tgroup) -> None:
    """Set each column of a table: numbers right, anything else left."""
    rows = [list(row.findall(nodes.entry)) for row in group.findall(nodes.row)]
    if any("morecols" in entry or "morerows" in entry for row in rows for entry in row):
        return
    for column in zip(*rows):
        body = [entry for entry in column if not around(entry, nodes.thead)]
        right = is_numeric([entry.astext() for entry in body])
        for entry in column:
            entry["classes"] = [name for name in entry["classes"] if not name.startswith("text-")]
            entry["classes"].append("text-right" if right else "text-left")


def is_numeric(cells: list[str]) -> bool:
    """Return whether a column holds numbers, and nothing else but signs that there is none."""
    held = [text for cell in cells if (text := cell.strip()) not in EMPTY]
    return bool(held) and all(NUMBER.fullmatch(text) for text in held)


def _power(match: re.Match[str]) -> str:
    factor, sign, exponent = match.groups()
    raised = f"10{('-' if sign == '-' else '')}{exponent}"[2:].translate(RAISED)
    return f"10{raised}" if float(factor) == 1 else f"{factor} · 10{raised}"


def around(node: nodes.Node, kinds: type | tuple[type, ...]) -> nodes.Element | None:
    """Return the closest element of these kinds that a node is in, or is."""
    while node is not None and not isinstance(node, kinds):
        node = node.parent
    return node
