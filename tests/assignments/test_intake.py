"""Whatever is submitted becomes a notebook or a sentence, and no other exception."""

from __future__ import annotations

import io
import json
import time
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursekit.submission.parsing import Malformed, read
from coursekit.submission.resource_limits import Limits


def notebook(*cells: object, **further: object) -> bytes:
    return json.dumps({"cells": list(cells), "nbformat": 4, "metadata": {}} | further).encode()


CODE = {"cell_type": "code", "id": "one", "metadata": {}, "source": "x = 'é'", "outputs": []}


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.ipynb", notebook(CODE))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "reason", "hint"),
    [
        (b"hello this is not json", "not JSON (line 1)", "Download .ipynb"),
        (b"", "empty", "save"),
        (b"\xef\xbb\xbf \n\x00", "empty", "save"),
        (b"<!DOCTYPE html><html>Sign in", "a web page", "File > Download .ipynb"),
        (b"\n <HTML><body>", "a web page", "File > Download .ipynb"),
        (notebook(CODE)[:60], "ends in the middle", "cut off"),
        (b'{"cells": [{"cell_type": "co', "ends in the middle", "cut off"),
        (zipped(), "a zip archive", "the notebook itself"),
        (b"%PDF-1.7 ...\xff\xfe", "a PDF", "the notebook itself"),
        (b"# my answers\nimport torch\n", "Python code", "the notebook itself"),
        (b"[1, 2]", "not a notebook", "Download"),
        (b'{"a": 1}', "no cells", "Download"),
        (b'{"cells": {"0": 1}}', "no cells", "Download"),
        (notebook("text"), "cell 1 is not a cell", "Download"),
        (notebook({"cell_type": "magic"}), "cell 1 has no known type", "Download"),
        (notebook(CODE, {"cell_type": "code", "source": 5}), "cell 2 holds", "Download"),
        (notebook({"cell_type": "code", "source": ["a", 1]}), "cell 1 holds", "Download"),
        (notebook(CODE, nbformat=5), "newer than the grader", "save it"),
        (notebook(CODE, nbformat=[4]), "which format", "Download"),
        (b"[" * 200_000, "nested too deeply", "Download"),
        (b'{"cells": [], "x": ' + b"9" * 10_000 + b"}", "a number", "Download"),
        (b"[" + b"[]," * 2_100_000 + b"0]", "too complex", "clear the outputs"),
        (json.dumps({"worksheets": 3, "nbformat": 3}).encode(), "no cells", "Download"),
        (b'{"cells": [' + b'{"cell_type":"raw"},' * 6000 + b"0]}", "more than 5000", "submit"),
    ],
)
def test_a_reason_and_what_to_do(data, reason, hint):
    with pytest.raises(Malformed) as caught:
        read(data)
    assert reason in caught.value.reason
    assert hint in caught.value.hint


def test_too_large():
    with pytest.raises(Malformed, match="larger than 1 MB"):
        read(b" " * (2 << 20), Limits(submission_bytes=1 << 20))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1"])
def test_encodings(encoding):
    data = json.dumps({"cells": [CODE], "nbformat": 4}, ensure_ascii=False).encode(encoding)
    assert read(data)["cells"][0]["source"] == "x = 'é'"


def test_what_is_mended():
    cells = read(
        notebook(
            {"cell_type": "code", "id": "a", "source": ["x = 1\r\n", "y = 2\r"]},
            {"cell_type": "code", "id": "a", "outputs": "none", "execution_count": "3"},
            {"cell_type": "markdown", "id": "../../x", "metadata": [], "source": "half \ud800"},
        ).replace(b'"metadata": []', b'"metadata": [NaN, Infinity]')
    )["cells"]
    assert [cell["source"] for cell in cells] == ["x = 1\ny = 2\n", "", "half ?"]
    assert len({cell["id"] for cell in cells}) == 3
    assert cells[2]["id"] == "cell-3"
    assert cells[1]["outputs"] == [] and cells[1]["execution_count"] is None
    assert all(cell["metadata"] == {} for cell in cells)


def test_format_3_is_upgraded():
    old = {
        "nbformat": 3,
        "worksheets": [
            {
                "cells": [
                    {"cell_type": "heading", "level": 2, "source": ["Title"]},
                    {"cell_type": "code", "input": ["def f():\n", "    pass"], "prompt_number": 4},
                    {"cell_type": "markdown", "source": "text"},
                ]
            }
        ],
    }
    cells = read(json.dumps(old).encode())["cells"]
    assert [c["source"] for c in cells] == ["## Title", "def f():\n    pass", "text"]
    assert cells[1]["execution_count"] == 4


def test_many_equal_ids_are_quick():
    start = time.process_time()
    cells = read(notebook(*[CODE] * 5000))["cells"]
    assert len({cell["id"] for cell in cells}) == 5000
    assert time.process_time() - start < 2


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "cells",
                    "nbformat",
                    "cell_type",
                    "source",
                    "id",
                    "metadata",
                    "worksheets",
                    "outputs",
                ]
            )
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_nothing_else_is_ever_raised(data):
    try:
        notebook = read(data)
    except Malformed as malformed:
        assert malformed.reason
    else:
        assert all(isinstance(cell["source"], str) for cell in notebook["cells"])


@given(JSON)
def test_cells_of_any_shape(value):
    try:
        read(json.dumps({"cells": [value, {"cell_type": "code", "source": value}]}).encode())
    except Malformed as malformed:
        assert malformed.reason
