"""Assignments: their questions, `check` for learners, release and audit for instructors.

`from coursekit.exercises import check` is all that a notebook needs. Each assignment is one file
(`a01_kernels.py`); its hidden cases stay in `solutions/`. This file loads nothing.
"""

from importlib import import_module

HOMES = {  # which module holds a name; no module has the name of what it holds
    "check": "checking",
    "submit_check": "handin",
    "hidden": "private",
    "load": "catalogue",
    "names": "catalogue",
    "Assignment": "question",
    "Case": "question",
    "Misconception": "question",
    "Question": "question",
    "Written": "question",
}


def __getattr__(name: str) -> object:
    """Load the module that holds `name` when it is asked for (PEP 562)."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)


def __dir__() -> list[str]:
    """Return what can be imported from here."""
    return sorted([*globals(), *HOMES])
