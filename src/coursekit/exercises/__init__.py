"""Assignments: their questions, `check` for learners, release and audit for instructors.

`from coursekit.exercises import check` is all that a notebook needs. Each assignment is one folder
(`a01_kernels`), each question one file in it (`shares.py`); the hidden cases stay in `solutions/`.
This file loads nothing.
"""

from coursekit._lazy import lazily

HOMES = {  # which module holds a name; no module has the name of what it holds
    "check": "checking.check",
    "submit_check": "submitting.handin",
    "hidden": "private",
    "load": "catalogue",
    "names": "catalogue",
    "Assignment": "question",
    "Case": "question",
    "Misconception": "question",
    "Question": "question",
    "Written": "question",
}

__getattr__, __dir__ = lazily(__name__, HOMES)
