"""Each question sees the names that there were at its check, and what it has made of them."""

from __future__ import annotations

from coursekit.submission.checked import Checked

CELLS = """
def answer():
    global count
    count += step
    return count
"""


def test_each_question_goes_on_with_its_own_names():
    names: dict = {"count": 0, "step": 1}
    exec(CELLS, names)
    checked = Checked(names)
    checked.keep(["answer", "later"])  # `later` has no answer yet
    exec("step = 10\nanswer = 3\nextra = 1\ndef later(): return extra", names)
    assert checked.kinds(["answer", "later", "never"]) == {
        "answer": "function",
        "later": "function",
    }
    for expected in (1, 2):
        checked.turn_to("answer")
        assert names["answer"]() == expected and "extra" not in names
        checked.turn_to("later")
        assert names["later"]() == 1 and names["answer"] == 3


def test_what_is_put_in_is_there_for_all_questions():
    names: dict = {"answer": 1, "helper": 1}
    checked = Checked(names)
    checked.keep(["answer"])
    names["helper"] = 2
    checked.turn_to("answer")
    checked.put({"helper": 7})
    assert names["helper"] == 7
    checked.turn_to("")
    assert names["helper"] == 7
