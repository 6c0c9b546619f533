"""What cases have already been through, so that a common answer is compared once.

A case is a dialogue: it sends a packet, and the answer decides what it sends next, or what comes of
it. Cases are deterministic, so the same answers lead to the same end. Of every dialogue that has
come to an end its packets are kept, and the end, under a name made of the answers so far; the next
process that gives the same bytes is led along without the case itself being run.
"""

from __future__ import annotations

import math
import sys
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from coursekit.check.outcome import Outcome
from coursetools.grading.judging.proxy import Link, Remote, StudentError
from coursetools.grading.student.wire import Packet

BYTES = 64 << 20  # kept of all dialogues together
LONGEST = 1 << 20  # bytes of one that is kept, and of what came of a case
ENTRY = 1000  # bytes of an entry itself, roughly


@dataclass(frozen=True)
class End:
    """What came of a case, and how it differs from what was expected; None where it is right."""

    outcome: Outcome
    difference: str | None
    size: float = 0  # of the outcome


class Memory:
    """The dialogues of all cases of one assignment, those of late are forgotten last."""

    def __init__(self, room: int = BYTES) -> None:
        self._room = room
        self._steps: OrderedDict[bytes, Packet | End] = OrderedDict()
        self._erratic: set[str] = set()

    def next(self, link: Link) -> Packet | End | None:
        """Return what comes after all that was heard in a case: a packet, the end; None if new."""
        step = self._steps.get(link.place)
        if step is not None:
            self._steps.move_to_end(link.place)
        return step

    def keep(self, link: Link, end: End) -> None:
        """Remember a dialogue that has come to its end."""
        size = sum(len(sent.body) + len(reply.body) for sent, reply in link.heard)
        if max(size, end.size) > LONGEST or link.case in self._erratic or not _lasts(end.outcome):
            return
        place = link.case.encode()
        for sent, reply in link.heard:
            self._put(place, sent)
            place = reply.digest(place)
        self._put(place, end)

    def give_up(self, case: str) -> None:
        """Remember no more of a case that does not ask the same every time."""
        self._erratic.add(case)
        self._take_away(case.encode())

    def _put(self, place: bytes, step: Packet | End) -> None:
        if place in self._steps:
            return
        self._steps[place] = step
        self._room -= _size(step)
        while self._room < 0:
            self._take_away(next(iter(self._steps)))

    def _take_away(self, place: bytes) -> None:
        step = self._steps.pop(place, None)
        if step is not None:
            self._room += _size(step)


def weight(value: Any) -> float:
    """Return how many bytes a value takes, roughly; an object elsewhere holds all that was said."""
    if isinstance(value, Remote):
        return math.inf
    if isinstance(value, torch.Tensor):
        return ENTRY + value.numel() * value.element_size()
    if isinstance(value, np.ndarray):
        return ENTRY + value.nbytes
    if isinstance(value, dict):
        return 250 + sum(100 + weight(key) + weight(item) for key, item in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return 100 + sum(8 + weight(item) for item in value)
    return sys.getsizeof(value, ENTRY)


def _lasts(outcome: Outcome) -> bool:
    """Return whether an outcome may be kept: not what is the judge's own want."""
    return not isinstance(outcome.error, MemoryError) or isinstance(outcome.error, StudentError)


def _size(step: Packet | End) -> int:
    return ENTRY + int(step.size if isinstance(step, End) else len(step.body))
