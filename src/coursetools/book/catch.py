"""A game: four versions of a function of which one is right, or the input that shows a mistake.

    ```{catch} masked softmax
    :name: catch-masking-softmax
    ```

The games stand in `coursekit.check.games`: an open function of the package, and the mistakes that
people make in it. Both are run when the page is built, so no value is typed. A game is a question
with choices like those of `ask`, takes its answer in the page in the same way, and is complete
without scripts: what is right, and what becomes of each mistake, stands in a fold.
"""

from __future__ import annotations

import difflib
import hashlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx

from coursekit._base.errors import CourseError
from coursekit.check.games import GAMES
from coursekit.check.games.game import Game, Mistake, written
from coursekit.check.outcome import Outcome
from coursetools.book.ask import Ask, Asked
from coursetools.book.dependencies import note_input

MARKUP = re.compile(r"([\\*_<>\[\]$|{}])")


def question(game: Game, name: str) -> Asked:
    """Return a game as a question that takes its answer in the page."""
    which = _which_version if len(game.mistakes) > 1 else _which_input
    return which(game, name)


def versions(game: Game) -> dict[str, Mistake | None]:
    """Return what is under each label, None for the right one, in an order that says nothing."""
    key = lambda one: hashlib.sha256(game.code(one).encode()).digest()  # noqa: E731
    shuffled = sorted([None, *game.mistakes], key=key)
    return {f"Version {letter}": one for letter, one in zip("ABCD", shuffled, strict=True)}


def _which_version(game: Game, name: str) -> Asked:
    asks = [f"{_promised(game)} One of these versions is the package's; each of the others has a "
            "mistake that people make. Which one is right?"]  # fmt: skip
    answer, replies, why = "", {}, []
    for label, mistake in versions(game).items():
        if mistake is None:
            answer = label
            continue
        call = game.telling(mistake)
        gives, should = _given(game.run(call, mistake)), _given(game.run(call))
        replies[label] = f"{mistake.says} Here {call} gives {gives}, and should give {should}."
        why += [f"{label}: {mistake.says} `{call}` gives `{gives}`, and should give `{should}`.",
                *_code(_changed(game, mistake), "diff"), ""]  # fmt: skip
    return Asked(name, answer, asks, replies, why + _further(game))


def _below(game: Game) -> dict[str, Iterator[str]]:
    """Return the code below each label, with the lines marked in which it is wrong."""
    if len(game.mistakes) == 1:
        return {}
    right = game.code().split("\n")
    codes = {label: game.code(one).split("\n") for label, one in versions(game).items()}
    return {
        label: _code(code, "python", _differing(right, code), "  ") for label, code in codes.items()
    }


def _which_input(game: Game, name: str) -> Asked:
    (mistake,) = game.mistakes
    asks = [f"{_promised(game)} This version has a mistake that people make:", "",
            *_code(game.code(mistake).split("\n"), "python"), "",
            "For all but one of these inputs it gives what it should. Which one shows the "
            "mistake?"]  # fmt: skip
    answer, replies, inputs = game.telling(mistake), {}, []
    for call in game.calls:
        gives, should = _given(game.run(call, mistake)), _given(game.run(call))
        if call == answer:
            inputs.append(f"- `{call}` gives `{gives}`, and should give `{should}`.")
        else:
            replies[f"`{call}`"] = f"Here it gives what it should: {should}."
            inputs.append(f"- `{call}` gives `{gives}`, as it should.")
    changed = _code(_changed(game, mistake), "diff")
    why = [mistake.says, "", *changed, "", *inputs, "", *_further(game)]
    return Asked(name, f"`{answer}`", asks, replies, why)


def _promised(game: Game) -> str:
    promise = MARKUP.sub(r"\\\1", game.promise).rstrip(".")
    return f"**Catch the mistake.** What `{game.called}` should do: {promise}."


def _further(game: Game) -> list[str]:
    return [
        f'In a notebook `catch("{game.name}")`, from `coursekit.check`, takes inputs of your own.'
    ]


def _given(outcome: Outcome) -> str:
    if outcome.error is not None:
        return f"{type(outcome.error).__name__}: {outcome.error}"
    return written(outcome.value)


def _differing(right: list[str], code: list[str]) -> list[int]:
    """Return the numbers, from 1, of the lines of `code` that the right version does not have."""
    blocks = difflib.SequenceMatcher(None, right, code, autojunk=False).get_opcodes()
    return [n + 1 for tag, _, _, start, end in blocks if tag != "equal" for n in range(start, end)]


def _changed(game: Game, mistake: Mistake) -> list[str]:
    """Return the lines of the mistake with a minus and the right ones with a plus."""
    wrong, right = (game.code(one).split("\n") for one in (mistake, None))
    changed = [line for line in difflib.ndiff(wrong, right) if line[0] in "-+"]
    code = textwrap.dedent("\n".join(line[2:] for line in changed)).split("\n")
    return [f"{line[0]} {rest}" for line, rest in zip(changed, code)]


def _code(
    lines: list[str], language: str, marked: list[int] | None = None, indent: str = ""
) -> Iterator[str]:
    yield ""
    yield f"{indent}```{{code-block}} {language}"
    if marked:
        yield f"{indent}:emphasize-lines: {','.join(map(str, marked))}"
    yield ""
    yield from (f"{indent}{line}" for line in lines)
    yield f"{indent}```"


class Catch(Ask):
    """A game of `coursekit.check.games`."""

    has_content = False
    option_spec: ClassVar = {"name": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Return the game as a question."""
        game, name = self.arguments[0], self.options.get("name", "")
        if game not in GAMES or not name:
            raise self.error(
                f"catch needs a game and a :name:, but found {game!r} and {name!r}; "
                f"the games are {', '.join(GAMES)}"
            )
        for module in (inspect.getfile(Game), *_files(GAMES[game])):
            note_input(self.env, self.env.docname, Path(module))
        try:
            place = self._placed(question(GAMES[game], name), _below(GAMES[game]))
        except CourseError as error:
            raise self.error(str(error)) from error
        place["classes"].append("catch")
        return [place]


def _files(game: Game) -> Iterator[str]:
    """Yield the file of the function, and those of the games."""
    yield inspect.getfile(game.module)
    yield from (str(file) for file in Path(inspect.getfile(Game)).parent.glob("*.py"))


def setup(app: Sphinx) -> None:
    """Connect what is here; `extension.setup` calls this."""
    app.add_directive("catch", Catch)
