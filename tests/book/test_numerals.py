"""Numbers as a book sets them."""

from __future__ import annotations

import pytest
from docutils import nodes

from coursetools.book.numerals import align_columns, is_numeric, numeral, set_numbers


@pytest.mark.parametrize(
    ("printed", "set_"),
    [
        ("-0.04", "−0.04"),
        ("from -1.33 to -0.5", "from −1.33 to −0.5"),
        ("(-3)", "(−3)"),
        ("-0.000", "0.000"),
        ("-0.001", "−0.001"),
        ("1e-06", "10⁻⁶"),
        ("8e-22", "8 · 10⁻²²"),
        ("3e+06", "3 · 10⁶"),
        ("2.4e-2 and 1E5", "2.4 · 10⁻² and 10⁵"),
        ("GPT-2 in 2026-11-21", "GPT-2 in 2026-11-21"),
        ("1-2 and x-1", "1-2 and x-1"),
        ("pages 5--7", "pages 5--7"),
        ("0x1e5 a1e5", "0x1e5 a1e5"),
        ("no digits - here", "no digits - here"),
    ],
)
def test_a_number_is_set(printed, set_):
    assert numeral(printed) == set_


@pytest.mark.parametrize(
    ("cells", "right"),
    [
        (["13.1", "11.8"], True),
        (["66", "3.58", "–"], True),
        (["56.1, 31.3, 36.2", "4"], True),
        (["97 %", "1,024"], True),
        (["3 · 10⁻⁵", "10⁻⁶"], True),
        (["0.31 ± 0.02"], True),
        (["117", "117 (GPT-2's paper)"], False),
        (["1 × 16", "64 of 300"], False),
        (["–", ""], False),
        ([], False),
    ],
)
def test_a_column_of_numbers(cells, right):
    assert is_numeric(cells) is right


def table(*rows: list[str]) -> nodes.tgroup:
    def row(cells: list[str]) -> nodes.row:
        return nodes.row("", *(nodes.entry("", nodes.paragraph("", cell)) for cell in cells))

    group = nodes.tgroup(cols=len(rows[0]))
    group += [nodes.thead("", row(rows[0])), nodes.tbody("", *map(row, rows[1:]))]
    return group


def test_a_heading_stands_over_its_numbers():
    group = table(["model", "loss"], ["GPT", "3.58"], ["BERT", "-0.1"])
    group[1][0][1]["classes"] = ["text-left"]  # as somebody typed it
    align_columns(group)
    classes = [[entry["classes"] for entry in row.findall(nodes.entry)]
               for row in group.findall(nodes.row)]  # fmt: skip
    assert classes == [[["text-left"], ["text-right"]]] * 3


def test_code_and_formulas_keep_their_signs():
    document = nodes.document(None, None)
    document += nodes.paragraph(
        "", "", nodes.Text("-1 "), nodes.literal("", "-1"), nodes.math("", "-1")
    )
    set_numbers(None, document, "page")
    assert document[0].astext() == "−1 -1-1"
