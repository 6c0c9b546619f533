"""Several texts at once, and a penalty for short ones."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


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


QUESTION = Question(
    name="beam_search",
    title="Keep the best few",
    points=6,
    difficulty=3,
    minutes=45,
    page="translation.html#sec-translation-decoding",
    hint="Keep two lists of pairs, a text and its sum of logs: what is running, at first the empty "
    "text alone, and what is complete. In each step make all continuations, sort them "
    "together, and fill both lists from the sorted one. Rate the texts when the loop is over.",
    reference=beam_search,
    forbidden=("coursekit",),
)


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


@QUESTION.visible(says="six words, one beam")
def six_words_one_beam(student):
    return student.beam_search(_pairs(), 1, 1, 0, 5, 0.6)


@QUESTION.visible(says="six words, two beams")
def six_words_two_beams(student):
    return student.beam_search(_pairs(), 1, 2, 0, 5, 0.6)


@QUESTION.visible(says="random logits, two beams")
def random_logits_two_beams(student):
    return _found(student, 5, 111, 2.0, 2, 5, 0.6)


@QUESTION.visible(says="the plain sum of logs")
def the_plain_sum_of_logs(student):
    return _found(student, 5, 111, 2.0, 2, 5, 0.0)


@QUESTION.visible(says="long texts preferred")
def long_texts_preferred(student):
    return _found(student, 5, 72, 2.0, 3, 6, 2.0)


@QUESTION.visible(says="no room for the end")
def no_room_for_the_end(student):
    return _found(student, 6, 0, 2.0, 3, 2, 0.6)


QUESTION.mistake(
    "logits added up",
    old=".log_softmax(dim=-1)",
    new="",
    hint="You add up the logits. Those of one row cannot be compared with those of another "
    "before they are made into log-probabilities: log_softmax along the last axis.",
)


@QUESTION.mistake(
    "one beam",
    hint="You take the best word at each step, whatever `beams` says. Keep several beginnings: "
    "the best text may not begin with the best word.",
)
def beam_of_one(table, start, beams, end, longest, alpha=0.6):
    logs, text, score = table.log_softmax(dim=-1), [], 0.0
    while len(text) < longest and end not in text:
        best = logs[text[-1] if text else start].max(dim=-1)
        text, score = [*text, best.indices.item()], score + best.values.item()
    return text, score / ((5 + len(text)) / 6) ** alpha


@QUESTION.mistake(
    "each beam keeps its own",
    hint="Each of your beams goes on by its own best word. All continuations of all beams "
    "compete for the places; a good beam may have two children and a bad one none.",
)
def beam_each_its_own(table, start, beams, end, longest, alpha=0.6):
    logs, running, complete = table.log_softmax(dim=-1).tolist(), [([], 0.0)], []
    for place in range(longest):
        grown = []
        for text, score in running:
            row = logs[text[-1] if text else start]
            best = sorted(range(len(row)), key=lambda w: -row[w])[: 1 if place else beams]
            grown += [([*text, w], score + row[w]) for w in best]
        complete += [pair for pair in grown if pair[0][-1] == end]
        running = [pair for pair in grown if pair[0][-1] != end]
    rated = [(text, score / ((5 + len(text)) / 6) ** alpha) for text, score in complete + running]
    return max(rated, key=lambda pair: pair[1])


QUESTION.mistake(
    "written past the end",
    old=(
        "complete += [pair for pair in grown[:beams] if pair[0][-1] == end]\n"
        "        running = [pair for pair in grown if pair[0][-1] != end][:beams]"
    ),
    new="running = grown[:beams]",
    hint="You write on behind the end. A text that ends is put aside with the score that it "
    "has, and nothing follows it.",
)

QUESTION.mistake(
    "fewer and fewer beams",
    old="in grown if pair[0][-1] != end][:beams]",
    new="in grown[:beams] if pair[0][-1] != end]",
    hint="Each text that ends takes a beam with it in yours. Its place is free again: go on "
    "with the best `beams` of those that do not end.",
)

QUESTION.mistake(
    "every end taken",
    old="in grown[:beams]",
    new="in grown",
    hint="You put aside every text that ends, however poor. It must be among the best `beams` "
    "of all continuations; with one beam, the end must be the best word of all.",
)

QUESTION.mistake(
    "stops at the first end",
    old="running = [pair for pair in grown if pair[0][-1] != end][:beams]",
    new=(
        "running = [pair for pair in grown if pair[0][-1] != end][:beams]\n"
        "        if complete:\n"
        "            running = []\n"
        "            break"
    ),
    hint="You stop as soon as a text is complete. The others are still running and may become "
    "better: go on until there are `longest` symbols.",
)

QUESTION.mistake(
    "unfinished texts lost",
    old="complete + running",
    new="complete or running",
    hint="At the last step the running texts are dropped in yours. They have run out of room "
    "and count as they are, beside those that ended.",
)

QUESTION.mistake(
    "multiplied by the penalty",
    old="score / ((5",
    new="score * ((5",
    hint="You multiply by the penalty. Logs are negative: divided, those of long texts come "
    "nearer to 0, which is what long texts need; multiplied, they are punished twice.",
)

QUESTION.mistake(
    "no penalty",
    old="score / ((5 + len(text)) / 6) ** alpha",
    new="score",
    hint="You return the plain sum of logs, whatever α says. Each word makes it smaller, so "
    "short texts win. Divide by ((5 + length) / 6) to the power of α.",
)

QUESTION.mistake(
    "mean for penalty",
    old="((5 + len(text)) / 6) ** alpha",
    new="len(text) ** alpha",
    hint="You divide by length to the power of α. That is another penalty, Hugging Face's; this "
    "one is gentler with short texts: ((5 + length) / 6) to the power of α.",
)

QUESTION.mistake(
    "end not counted",
    old="len(text)) / 6",
    new="len(text) - text.count(end)) / 6",
    hint="You leave the end out of the length. It has been paid for in the sum of logs, and so "
    "it counts.",
)
