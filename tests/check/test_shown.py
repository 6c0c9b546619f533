"""All results of a cell are shown, each once: in a notebook, in a script, at Python's prompt."""

from __future__ import annotations

import subprocess
import sys

import pytest

from coursekit.check import catch, check, handin, variant

pytest.importorskip("IPython", reason="a notebook's shell is IPython's")

RIGHT = "def shares(scores):\n    return scores.softmax(dim=-1)\n"
WRONG = "def gaussian_scores(x, y, width):\n    return x - y\n"


@pytest.fixture
def cell():
    """Return a function that runs a cell in IPython and returns what it displayed, in order."""
    from IPython.core.displaypub import CapturingDisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(display_pub_class=CapturingDisplayPublisher)
    shell.run_cell("from coursekit.check import catch, check, variant, submit_check")

    def run(source):
        with capture_output() as captured:
            result = shell.run_cell(source, store_history=True)
        result.raise_error()
        texts = [one.data["text/plain"] for one in captured.outputs]
        html = ["text/html" in one.data for one in captured.outputs]
        assert all(html) or "catch" in source or "variant" in source
        return [text.splitlines()[0] for text in texts]

    yield run
    InteractiveShell.clear_instance()
    for prompt in ("ps1", "ps2", "ps3"):  # by which Python is known to be at its own prompt
        vars(sys).pop(prompt, None)


def test_every_result_of_a_cell_is_shown_once(cell):
    one, two = "shares: all 5 cases pass", "gaussian_scores: 0 of 3 cases pass"
    assert cell(f"{RIGHT}{WRONG}check(shares)\ncheck(gaussian_scores)") == [one, two]
    assert cell("check(gaussian_scores)\nx = 1") == [two]
    assert cell("for name in ('shares', 'shares'):\n    check(name)") == [one, one]
    assert cell("answer = check(shares)") == [one]
    assert cell("answer") == [one]  # later, when it is asked for
    assert cell("catch('no such game')\ncheck('shares')")[1:] == [one]
    assert cell("variant('hinge', 'ada')\n0")[0] == "hinge, the numbers of 'ada': margin = 3.0"


def script(*options, text):
    done = subprocess.run(
        [sys.executable, *options], input=text, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_script_prints_and_the_prompt_shows_once():
    source = f"from coursekit.check import check\n{RIGHT}\ncheck(shares)\nx = check('shares')\n"
    assert script("-", text=source).count("shares: all 5 cases pass") == 2
    prompt = f"from coursekit.check import check\n{RIGHT}\ncheck(shares)\n"
    assert script("-i", "-q", "-", text=prompt).count("shares: all 5 cases pass") == 1


def test_a_terminal_without_the_characters_is_no_reason_to_fail(monkeypatch):
    import io

    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    check("shares", lambda scores: scores.softmax(-1))
    stream.flush()
    assert b"shares: all 5 cases pass" in stream.buffer.getvalue()
    stream.close()
    assert check("shares", lambda scores: scores.softmax(-1)).right


@pytest.mark.parametrize("ask", [catch, check, variant])
def test_no_result_needs_a_notebook(ask, capsys):
    shown = ask("shares")
    assert capsys.readouterr().out == f"{shown!r}\n"
    assert isinstance(shown, handin.Shown)
