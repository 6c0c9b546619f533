"""Questions of assignments, for those who write and grade them; they are in `solutions/NAME/`.

`question.py` says what a question is and `mistakes.py` what its text says, `catalogue.py` reads
both, `known_answers.py` computes what our answer and the wrong ones give, and `audit.py` proves
that an assignment grades as it should. `compiling.py` writes what `coursekit.check` needs of it.
This file loads nothing.
"""

from coursekit._base.lazy import homes_of, lazily

HANDS_OUT = {  # which names each file hands out; no file has the name of what it holds
    "question": "hidden visible Assignment Case Misconception Question Written",
    "catalogue": "load names",
}

__getattr__, __dir__ = lazily(__name__, homes_of(HANDS_OUT))
