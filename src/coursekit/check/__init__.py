"""`check`, `submit_check` and `variant`: what a learner hears in the notebook, at once.

The book explains them in "Solve it: the assignments".

    from coursekit.check import catch, check, submit_check, variant

`catch` is a game: a function of the package with a mistake in it, and which input shows it.

Beside the code is one file an assignment (`compiled/`): the visible cases, and what our answer
and the known mistakes gave there. Our answers are not in it. This file loads nothing.
"""

from coursekit._base.lazy import lazily

HOMES = {
    "catch": "catching",
    "check": "checking",
    "exam_check": "exam",
    "submit_check": "handin",
    "variant": "your_numbers",
}  # which module holds a name

__getattr__, __dir__ = lazily(__name__, HOMES)
