"""Cells whose source is hidden: drawing and bookkeeping that a learner need not read.

The book hides the source of a cell that has the tag. JupyterLab and Colab do not know the tag and
ask for a line of metadata each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TAG = "hide-input"
ELSEWHERE = {"jupyter": {"source_hidden": True}, "cellView": "form"}  # JupyterLab's, Colab's


def hidden(cell: Mapping[str, Any]) -> bool:
    """Return whether the book hides the source of a cell."""
    return TAG in cell["metadata"].get("tags", [])


def is_alike_everywhere(cell: Mapping[str, Any]) -> bool:
    """Return whether JupyterLab and Colab hide or show the source as the book does."""
    wanted = ELSEWHERE if hidden(cell) else dict.fromkeys(ELSEWHERE)
    return all(cell["metadata"].get(name) == value for name, value in wanted.items())


def hide_alike(cell: dict[str, Any]) -> None:
    """Hide or show the source in JupyterLab and Colab as in the book."""
    for name, value in ELSEWHERE.items():
        if hidden(cell):
            cell["metadata"][name] = value
        else:
            cell["metadata"].pop(name, None)
