"""`catch("masked softmax")`: a function with a mistake, and which input shows it.

    from coursekit.check import catch

    catch("masked softmax")                            shows the function
    catch("masked softmax", scores, mask)              runs it beside the package's own
    catch("sinusoidal positions", 4, 8, version=2)     with the second of its mistakes

The functions are the package's, which everybody can read. The book's pages play the same games;
`catch()` lists them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coursekit._base.nearest import nearest
from coursekit.check.excerpt import excerpt
from coursekit.check.games.game import TOLERANCE, Game, Mistake, written
from coursekit.check.outcome import differ, observe
from coursekit.check.shown import Shown


@dataclass(frozen=True)
class Caught(Shown):
    """What `catch` says, and whether the input has shown the mistake."""

    text: str
    caught: bool = False

    def __repr__(self) -> str:
        return self.text


def catch(game: str = "", /, *inputs: Any, version: int = 1, **named: Any) -> Caught:
    """Show a function that has a mistake, or run it on your input beside the right one.

    Like `check` it does not raise: what cannot be run is answered by a sentence.
    """
    return _answer(game, inputs, version, named).show()


def _answer(game: Any, inputs: tuple[Any, ...], version: Any, named: dict[str, Any]) -> Caught:
    from coursekit.check.games import GAMES

    if not isinstance(game, str) or game not in GAMES:
        asked = f"there is no game {game!r}" if game != "" else ""
        if asked and (close := nearest(str(game), GAMES)):
            return Caught(f"{asked}; did you mean catch({close!r})? catch() lists them all")
        listed = f"the games are {', '.join(map(repr, GAMES))}"
        return Caught(f"{asked}; {listed}" if asked else listed)
    chosen = GAMES[game]
    versions = len(chosen.mistakes)
    if not isinstance(version, int) or not 1 <= version <= versions:
        return Caught(f"{game!r} has the versions 1 to {versions}, found {version!r}")
    mistake = chosen.mistakes[version - 1]
    if not inputs and not named:
        return Caught(_shown(chosen, mistake, version))
    return _tried(chosen, mistake, inputs, named)


def _shown(game: Game, mistake: Mistake, version: int) -> str:
    several = len(game.mistakes) > 1
    which = f" (version {version} of {len(game.mistakes)})" if several else ""
    example = f"catch({game.name!r}, …{f', version={version}' if version > 1 else ''})"
    return (
        f"{game.called} of {game.module.__name__} should do this: {game.promise}\n\n"
        f"{game.code(mistake)}\n\nThere is a mistake in it{which}. Which input shows it? "
        f"Give it what the function takes: {example}"
    )


def _tried(game: Game, mistake: Mistake, inputs: tuple[Any, ...], named: dict[str, Any]) -> Caught:
    right, wrong = (
        observe(lambda function: function(*inputs, **named), game.made(one))
        for one in (None, mistake)
    )
    if right.error is not None:
        return Caught(f"{game.called} refuses this input: {_error(right.error)}")
    difference = differ(wrong, right, TOLERANCE)
    if difference is None:
        return Caught(f"Not caught: both give {_short(right.value)}. Try another input.")
    if wrong.error is not None:
        return Caught(f"Caught: it raises {_error(wrong.error)}. {mistake.says}", True)
    both = excerpt(difference, TOLERANCE)
    table = both.text().replace("yours", "wrong").replace("expected", "right") if both else ""
    return Caught("\n".join(filter(None, [f"Caught: {difference}.", table, mistake.says])), True)


def _error(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _short(value: Any) -> str:
    text = written(value)
    return text if len(text) <= 200 else f"{text[:197]}..."
