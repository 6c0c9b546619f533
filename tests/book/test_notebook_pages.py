"""The page of a notebook shows what a reader looks for, and no machinery."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("nbclient", reason="the packages of the book are not installed")
from coursetools.book.notebook_pages import for_its_page, without_glue

GLUED = {
    "output_type": "display_data",
    "data": {"application/papermill.record/text/plain": "1"},
    "metadata": {"scrapbook": {"name": "one"}},
}
PICTURE = {"output_type": "display_data", "data": {"image/png": "iVBO"}, "metadata": {}}
OBJECT = {
    "output_type": "execute_result",
    "data": {"text/plain": ["<torch._C.Generator at 0x7fea8e990590>"]},
    "metadata": {},
}
TENSOR = {"output_type": "execute_result", "data": {"text/plain": "tensor([1])"}, "metadata": {}}


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ('x = 1\nglue("x", x)\nprint(x)', "x = 1\nprint(x)"),
        ('show(figure)\nglue("x",\n     x)', "show(figure)"),
        ('for x in range(3):\n    glue(f"x_{x}", x)', ""),
        ('for x in range(3):\n    print(x)\n    glue("x", x)', None),
        ("%matplotlib inline\nglue('a', 1)", "%matplotlib inline"),
        ("x = ", None),
        ("glued = 1", None),
    ],
)
def test_a_line_that_glues_is_not_shown(source, shown):
    assert without_glue(source) == (source if shown is None else shown)


def page(source: str, *outputs: dict, tags: tuple[str, ...] = ()) -> dict:
    cell = {"cell_type": "code", "source": source, "metadata": {"tags": list(tags)}}
    text = json.dumps({"cells": [{**cell, "outputs": list(outputs)}, {"cell_type": "markdown"}]})
    return json.loads(for_its_page(text))["cells"][0]


def test_the_name_of_an_object_is_not_shown_and_a_value_is():
    assert page("torch.manual_seed(0)", OBJECT)["outputs"] == []
    assert page("x", TENSOR)["outputs"] == [TENSOR]


def test_a_cell_of_which_nothing_is_left_is_not_on_the_page():
    assert page('glue("one", 1)', GLUED)["metadata"]["tags"] == ["remove-cell"]
    assert "remove-cell" in page("x = 1", GLUED, tags=("hide-input",))["metadata"]["tags"]
    kept = page('x = 1\nglue("one", x)', GLUED)
    assert kept["source"] == "x = 1" and kept["metadata"]["tags"] == []
    assert kept["outputs"] == [GLUED]  # other pages take it from here
    shown = page('show(f)\nglue("one", 1)', PICTURE, GLUED, tags=("hide-input",))
    assert shown["metadata"]["tags"] == ["hide-input"]
