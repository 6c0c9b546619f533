"""Text of a student that is long, and of a shape that no pattern expects, is read in linear time.

With a pattern that looks at each blank line from each other one, none of these would ever end.
"""

from __future__ import annotations

import pytest

from coursekit.submission import cells, notebook, regions
from coursetools.assignments import converted_cells, evasions
from coursetools.assignments.rebuild import rebuild
from coursetools.grading.sandbox import hiding
from coursetools.questions.time_limit import alarm

MANY = 1_000_000
WORK = 20.0  # seconds: linear is far below one, quadratic far above a thousand
RUNS = {
    "blank lines": "\n" * MANY,
    "blank lines before a word": "\n" * MANY + "x?",
    "spaces": " " * MANY + "$",
    "lines of spaces": ("   \n" * (MANY // 4)) + ")",
    "words": "a " * (MANY // 2) + "(",
    "questions": "? " * (MANY // 2) + "(",
    "equals": "= " * (MANY // 2) + "(",
    "fences": "`" * MANY + "\n" + "`" * MANY + "x",
    "definitions": "def " * (MANY // 4),
    "signs": "async\n" * (MANY // 6) + "!",
}
READERS = {
    "the magics of a cell": notebook.SPECIAL.search,
    "the magics of a cell, for check": lambda text: [
        cells.MAGIC.match(line.lstrip()) for line in text.split("\n")
    ],
    "ways round": lambda text: evasions.MAGIC.sub("", text),
    "imports": lambda text: list(hiding.IMPORT.finditer(text)),
    "definitions": regions.defined,
    "a blank answer": lambda text: regions.is_blank("raise NotImplementedError()", text),
    "a fenced cell": converted_cells._unfenced,
}


@pytest.mark.parametrize("text", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_no_text_takes_longer_than_its_length(reader, text):
    with alarm(WORK):
        reader(text)


@pytest.mark.parametrize("text", RUNS.values(), ids=RUNS)
def test_a_notebook_with_it_is_rebuilt(tools, text):
    with alarm(WORK):
        made = rebuild(tools.MASTER, tools.submission(square=text, between=text))
    assert len(made.notebook["cells"]) >= 5


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```python\nx = 1\n```", "x = 1"),
        ("\n~~~\nx = 1\n~~~\n", "x = 1"),
        ("````\nx = 1\n````", "x = 1"),
        ("```\nx = 1", "```\nx = 1"),
        ("x = 1", "x = 1"),
        ("```\n  x\n\n```  ", "  x\n"),
    ],
)
def test_code_between_fences_is_read(text, code):
    assert converted_cells._unfenced(text) == code
