"""SCAN: commands such as "jump twice and turn left", and the actions that they ask for.

The grammar of Lake and Baroni (2018) has no more than 20,910 commands, so all of them are made
here. What makes the task worth a chapter is its splits: each hides commands whose parts the
training holds, only never together. The book uses it in "Limits".

A command is one phrase, or two with "and" or "after" between; a phrase is a verb, perhaps with a
direction, perhaps "twice" or "thrice".
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Literal, get_args

from coursekit._base.checks import check_choice, check_int

Split = Literal["random", "length", "jump", "turn left"]

VERBS = ("walk", "look", "run", "jump")
SIDES = ("left", "right")
TIMES = {"twice": 2, "thrice": 3}
LONGEST = 22  # actions of the longest command that the training of the split "length" holds
TRAINED = 0.8  # of the commands, in the split "random"
SHOWN = 0.1  # of what is read in training is the hidden word alone, as in the paper

SPECIAL = ("<pad>", "<start>", "<end>")
PAD, START, END = range(3)
WORDS = (*SPECIAL, *VERBS, "turn", *SIDES, "opposite", "around", *TIMES, "and", "after")
ACTIONS = (*SPECIAL, *(verb.upper() for verb in VERBS), "LTURN", "RTURN")
_WORD_IDS = {word: number for number, word in enumerate(WORDS)}
_ACTION_IDS = {action: number for number, action in enumerate(ACTIONS)}


@dataclass(frozen=True)
class Command:
    """A command in words, and the actions that carry it out."""

    text: str
    actions: tuple[str, ...]


@cache
def commands() -> tuple[Command, ...]:
    """Return all 20,910 commands, the short ones first."""
    single = phrases()
    pairs = list(product(single, single))
    return (
        *single,
        *(Command(f"{a.text} and {b.text}", a.actions + b.actions) for a, b in pairs),
        *(Command(f"{a.text} after {b.text}", b.actions + a.actions) for a, b in pairs),
    )


@cache
def phrases() -> tuple[Command, ...]:
    """Return the 102 commands without "and" and "after"."""
    commands = [Command(verb, (verb.upper(),)) for verb in VERBS]
    for side, verb in product(SIDES, (*VERBS, "turn")):
        turn = (f"{side[0].upper()}TURN",)
        act = () if verb == "turn" else (verb.upper(),)
        commands += [
            Command(f"{verb} {side}", turn + act),
            Command(f"{verb} opposite {side}", turn + turn + act),
            Command(f"{verb} around {side}", (turn + act) * 4),
        ]
    more = [
        Command(f"{phrase.text} {word}", phrase.actions * count)
        for phrase in commands
        for word, count in TIMES.items()
    ]
    return (*commands, *more)


def split_commands(name: Split, *, seed: int = 0) -> tuple[list[Command], list[Command]]:
    """Return what a model learns from and what it is then asked; `seed` draws "random" only.

    "random": four commands in five against the fifth. "length": up to 22 actions against 24 and
    more. "jump" and "turn left": all commands without these words, and the words alone, against
    all that hold them among others. The words alone then make up a tenth of the training.
    """
    check_choice(get_args(Split), split=name)
    check_int(0, seed=seed)
    every = list(commands())
    if name == "random":
        random.Random(seed).shuffle(every)
        border = round(TRAINED * len(every))
        return every[:border], every[border:]
    if name == "length":
        short = [command for command in every if len(command.actions) <= LONGEST]
        return short, [command for command in every if len(command.actions) > LONGEST]
    alone = [command for command in every if command.text == name]
    without = [command for command in every if not holds_words(command, name)]
    hidden = [command for command in every if holds_words(command, name) and command.text != name]
    return without + alone * round(SHOWN / (1 - SHOWN) * len(without)), hidden


def holds_words(command: Command, words: str) -> bool:
    """Return whether these words are in the command, side by side."""
    return f" {words} " in f" {command.text} "


def encode(command: Command) -> tuple[list[int], list[int]]:
    """Return the ids of the words and those of the actions, without start and end."""
    return word_ids(command.text), [_ACTION_IDS[action] for action in command.actions]


def word_ids(text: str) -> list[int]:
    """Return the ids of the words of a text; it need not be a command of the grammar."""
    unknown = [word for word in text.split() if word not in WORDS[len(SPECIAL) :]]
    if unknown or not text.split():
        raise ValueError(
            f"a command is made of {', '.join(WORDS[len(SPECIAL) :])}; found "
            f"{', '.join(unknown) or 'nothing'}"
        )
    return [_WORD_IDS[word] for word in text.split()]


def decode(ids: list[int]) -> tuple[str, ...]:
    """Return the actions of these ids, up to the end symbol."""
    wrong = [number for number in ids if not 0 <= number < len(ACTIONS)]
    if wrong:
        raise ValueError(f"ids of actions lie between 0 and {len(ACTIONS) - 1}, found {wrong[0]}")
    ids = ids[: ids.index(END)] if END in ids else ids
    return tuple(ACTIONS[number] for number in ids)
