"""Games of `catch`: the right version is the package's, and each mistake shows where it should."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import tensor

from coursekit._base.errors import CourseError
from coursekit.check import catch
from coursekit.check.games import GAMES
from coursekit.check.games.game import TOLERANCE, Game, Mistake, written
from coursekit.check.outcome import differ, observe
from coursetools.questions.leaks import LONG, SHORTEST

ROOT = Path(__file__).resolve().parents[2]
MISTAKES = [(game, one) for game in GAMES.values() for one in game.mistakes]
NAMES = [f"{game.name}: {one.name}" for game, one in MISTAKES]


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_the_right_version_is_the_package_s(game):
    assert game.made() is getattr(game.module, game.called)
    source = (ROOT / "src" / "coursekit" / game.file).read_text("utf-8")
    assert all(line in source for line in game.code().split("\n")[1:])
    for call in game.calls:
        assert game.run(call).error is None, call


@pytest.mark.parametrize(("game", "mistake"), MISTAKES, ids=NAMES)
def test_what_is_shown_is_what_runs(game, mistake):
    """The code without docstring, checks and types does on every call what the whole one does."""
    for one in (None, mistake):
        space = {**vars(game.module), "torch": torch, "tensor": tensor}
        exec("from __future__ import annotations\n" + game.code(one), space)
        for call in game.calls:
            shown = observe(lambda _, call=call, space=space: eval(call, space), None)
            assert differ(shown, game.run(call, one), TOLERANCE) is None, call


@pytest.mark.parametrize(("game", "mistake"), MISTAKES, ids=NAMES)
def test_a_mistake_is_seen_on_the_call_that_is_shown_for_it(game, mistake):
    differing = [call for call in game.calls if game.difference(call, mistake)]
    assert differing and game.telling(mistake) == differing[0]
    if len(game.mistakes) == 1:
        assert len(game.calls) == 4 and len(differing) == 1
    right, wrong = (written(game.run(differing[0], one).value) for one in (None, mistake))
    assert right != wrong  # rounded, as they are on the page


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_a_game_can_be_played(game):
    codes = {game.code(one) for one in (None, *game.mistakes)}
    assert len(codes) == len(game.mistakes) + 1 in (2, 4)
    assert max(code.count("\n") for code in codes) < 12
    assert game.promise.endswith(".")
    for mistake in game.mistakes:
        assert mistake.says.endswith(".") and not set("`$*{") & set(mistake.says)


def test_each_mistake_has_a_name_of_its_own():
    assert len({one.name for _, one in MISTAKES}) == len(MISTAKES) > 50


def test_no_private_line_is_in_a_game_unless_the_package_has_it():
    """Answers, cases, mistakes and their hints stand in `solutions`; the package can be read."""
    shown = "\n".join(
        "\n".join([game.code(one), one.says if one else "", *game.calls])
        for game in GAMES.values()
        for one in (None, *game.mistakes)
    )
    games = ROOT / "src" / "coursekit" / "check" / "games"
    public = "\n".join(
        path.read_text("utf-8")
        for path in (ROOT / "src" / "coursekit").rglob("*.py")
        if games not in path.parents
    )
    files = [p for p in (ROOT / "solutions").rglob("*") if p.suffix in (".py", ".md")]
    lines = {line.strip() for p in files for line in p.read_text("utf-8").split("\n")}
    # One side of a change is as good as a line, if nobody writes it twice by chance.
    parts = {part for line in lines if "  ->  " in line for part in line.split("  ->  ")}
    private = {line for line in lines if len(line) >= SHORTEST}
    private |= {part for part in parts if len(part) >= LONG}
    assert len(private) > 5000
    assert [line for line in private if line in shown and line not in public] == []


# --- In a notebook ---


def test_a_game_is_shown_and_its_mistake_is_caught():
    shown = repr(catch("heads"))
    assert "split_heads of coursekit.heads should do this: x (B, T, H·Dh)" in shown
    assert "x.reshape(x.shape[0], heads, x.shape[1], -1)" in shown and "version" not in shown
    x = torch.arange(8).view(1, 2, 4)
    found = catch("heads", x, 2)
    assert found.caught and "4 of 8 values differ" in repr(found) and "2* 3*   4 5" in repr(found)
    assert repr(found).endswith(GAMES["heads"].mistakes[0].says)
    same = catch("heads", x, heads=1)
    assert not same.caught
    assert repr(same).startswith("Not caught: both give [[[[0, 1, 2, 3], [4, 5, 6, 7]]]].")


def test_each_version_of_a_game_can_be_hunted():
    shown = repr(catch("padding mask", version=3))
    assert "(version 3 of 3)" in shown and "catch('padding mask', …, version=3)" in shown
    tokens = tensor([[5, 0]])
    for version in (1, 2, 3):
        assert catch("padding mask", tokens, 0, version=version).caught
    assert "the shape is (1, 1, 2), expected (1, 1, 1, 2)" in repr(
        catch("padding mask", tokens, 0, version=3)
    )


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("nothing",), "there is no game 'nothing'; the games are 'gaussian kernel', "),
        ((), "the games are 'gaussian kernel', "),
        (("heads", torch.ones(1, 1, 4), 3), "split_heads refuses this input: ValueError: a width"),
        (("heads", "x"), "split_heads refuses this input: TypeError: "),
    ],
)
def test_what_cannot_be_run_is_answered_by_a_sentence(asked, said):
    answer = catch(*asked)
    assert repr(answer).startswith(said) and not answer.caught
    assert "versions 1 to 3, found 4" in repr(catch("RMSNorm", version=4))


@pytest.mark.parametrize("name", ["maskd softmax", "Masked Softmax", "softmax"])
def test_a_game_that_is_almost_called_so_is_named_and_no_other(name):
    said = repr(catch(name))
    assert "did you mean catch('masked softmax')?" in said
    assert not [game for game in GAMES if game != "masked softmax" and repr(game) in said]


# --- How a game is written ---


def test_a_change_stands_in_the_function_once():
    for old in ("no such text", "e"):
        mistake = Mistake("off", old, "x", "So.")
        game = Game("a", "heads.merge_heads", (mistake,), ("1",))
        with pytest.raises(CourseError, match=r"times in heads\.merge_heads, but"):
            game.code(mistake)


def test_a_mistake_that_no_call_shows_is_named():
    mistake = Mistake("off", "return x.transpose(1, 2)", "return x.transpose(2, 1)", "So.")
    game = Game("a", "heads.merge_heads", (mistake,), ("merge_heads(torch.ones(1, 2, 2, 2))",))
    with pytest.raises(CourseError, match="no call of the game 'a' shows 'off'"):
        game.telling(mistake)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (tensor([0.12345, -0.0, 7.0]), "[0.123, 0, 7]"),
        (([1, 2], True), "([1, 2], True)"),
        (tensor([-torch.inf]), "[-inf]"),
    ],
)
def test_values_are_written_shortly(value, text):
    assert written(value) == text
