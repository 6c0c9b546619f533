"""`check`, `submit_check` and `variant`: what a learner hears in the notebook, at once.

The book explains them in "Solve it: the assignments".

    from coursekit.check import catch, check, submit_check, variant

`catch` is a game: a function of the package with a mistake in it, and which input shows it.

Beside the code is one file an assignment (`compiled/`): the visible cases, and what our answer
and the known mistakes gave there. Our answers are not in it. This file loads nothing.
"""

from coursekit._base.lazy import homes_of, lazily

HANDS_OUT = {  # which names each file hands out
    "catching": "catch",
    "checking": "check",
    "exam": "exam_check",
    "handin": "submit_check",
    "your_numbers": "variant",
}

__getattr__, __dir__ = lazily(__name__, homes_of(HANDS_OUT))
