"""Several texts at once, and a penalty for short ones."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def beam_search(table, start, beams, end, longest, alpha=0.6):
    """table (V, V) of logits -> the best text, a list of ints, and its worth, a float."""
    logs, running, complete = table.log_softmax(dim=-1).tolist(), [([], 0.0)], []
    for _ in range(longest):
        rows = [(text, score, logs[text[-1] if text else start]) for text, score in running]
        grown = [([*text, w], score + p) for text, score, row in rows for w, p in enumerate(row)]
        grown.sort(key=lambda pair: -pair[1])
        complete += [pair for pair in grown[:beams] if pair[0][-1] == end]
        running = [pair for pair in grown if pair[0][-1] != end][:beams]
    rated = [(text, score / ((5 + len(text)) / 6) ** alpha) for text, score in complete + running]
    return max(rated, key=lambda pair: pair[1])


def _pairs() -> Tensor:
    return torch.tensor(
        [
            [0.500, 0.060, 0.080, 0.100, 0.120, 0.140],
            [0.005, 0.015, 0.360, 0.560, 0.025, 0.035],
            [0.004, 0.006, 0.008, 0.012, 0.040, 0.930],
            [0.340, 0.010, 0.020, 0.030, 0.360, 0.240],
            [0.500, 0.060, 0.080, 0.100, 0.120, 0.140],
            [0.900, 0.010, 0.015, 0.020, 0.025, 0.030],
        ]
    ).log()


def _found(
    student: object, words: int, seed: int, scale: float, beams: int, longest: int, alpha: float
) -> tuple[list[int], float]:
    """Search a table of random logits: word 0 ends a text, word 1 begins it."""
    table = scale * randn(words, words, seed=seed)
    return student.beam_search(table, 1, beams, 0, longest, alpha)


@visible("six words, one beam")
def six_words_one_beam(student):
    return student.beam_search(_pairs(), 1, 1, 0, 5, 0.6)


@visible("six words, two beams")
def six_words_two_beams(student):
    return student.beam_search(_pairs(), 1, 2, 0, 5, 0.6)


@visible("random logits, two beams")
def random_logits_two_beams(student):
    return _found(student, 5, 48, 2.0, 2, 5, 0.6)


@visible("the plain sum of logs")
def the_plain_sum_of_logs(student):
    return _found(student, 5, 161, 2.0, 2, 5, 0.0)


@visible("long texts preferred")
def long_texts_preferred(student):
    return _found(student, 5, 494, 2.0, 3, 6, 2.0)


@visible("no room for the end")
def no_room_for_the_end(student):
    return _found(student, 6, 221, 2.0, 3, 2, 0.6)


@hidden("many words, five beams", weight=2)
def beam_large(student):
    return student.beam_search(2 * randn(30, 30, seed=16), 1, 5, 0, 12, 0.6)


@hidden("other symbols for start and end", weight=2)
def beam_other_symbols(student):
    table = 2 * randn(5, 5, seed=48)
    order = torch.tensor([3, 4, 2, 0, 1])
    return student.beam_search(table[order][:, order], 4, 2, 3, 5, 0.6)


@hidden("so many beams that nothing is overlooked", weight=2)
def beam_everything(student):
    table = randn(4, 4, seed=19)
    shares = torch.log_softmax(table, -1)
    best = -torch.inf
    for length in (1, 2, 3, 4):
        for text in itertools.product(range(4), repeat=length):
            whole = 0 not in text[:-1] and (text[-1] == 0 or length == 4)
            total = sum(float(shares[a, b]) for a, b in zip((1, *text), text))
            best = max(best, total / ((5 + length) / 6) ** 0.7) if whole else best
    text, score = student.beam_search(table, 1, 150, 0, 4, 0.7)
    assert abs(score - best) < 1e-4
    return text, score


@hidden("a larger table, one symbol at most")
def beam_one_symbol(student):
    return student.beam_search(randn(9, 9, seed=1), 1, 4, 0, 1, 0.6)


@hidden("words that cannot follow")
def beam_impossible(student):
    table = 2 * randn(6, 6, seed=7)
    table[table < -1] = -torch.inf
    table[:, 3] = -torch.inf
    return student.beam_search(table, 1, 4, 0, 6, 0.6)


@hidden("a number added to a whole row of logits changes nothing", weight=2)
def beam_moved(student):
    table = 2 * randn(5, 5, seed=120)
    moved = table + torch.tensor([[3.0], [-4.0], [10.0], [0.0], [-7.0]])
    return student.beam_search(moved, 1, 3, 0, 6, 2.0)


@hidden("places of finished texts are filled again", weight=2)
def beam_refilled(student):
    return student.beam_search(randn(6, 6, seed=240), 1, 3, 0, 6, 2.0)


@hidden("two beams, and an end that is nearly as good as a word")
def beam_early_end(student):
    return student.beam_search(randn(4, 4, seed=86), 1, 2, 0, 5, 0.6)


@hidden("the table is left as it was")
def beam_keeps(student):
    return after(student.beam_search, randn(5, 5, seed=46), 1, 3, 0, 4)
