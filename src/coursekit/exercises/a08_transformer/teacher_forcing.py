"""What the decoder reads, what it should say, and where that counts."""

from __future__ import annotations

import torch

from coursekit.exercises.question import Question


def teacher_forcing(target, start=1, pad=0):
    """target (B, T) -> read (B, T), labels (B, T), counts (B, T)."""
    first = torch.full_like(target[:, :1], start)  # (B, 1)
    return torch.cat([first, target[:, :-1]], dim=1), target, target != pad


QUESTION = Question(
    name="teacher_forcing",
    title="What the decoder reads, and what it should say",
    points=2,
    difficulty=1,
    minutes=15,
    page="translation.html#sec-translation-teacher-forcing",
    hint="Three tensors of the shape of target. What is read: a column of `start`, then the target "
    "without its last column. What should be said: the target as it is. Where it counts: "
    "where the label is not `pad`.",
    reference=teacher_forcing,
    forbidden=("coursekit",),
)


@QUESTION.visible(says="one sentence of three words and its end")
def one_sentence_of_three_words_and(student):
    return student.teacher_forcing(torch.tensor([[7, 8, 9, 2]]))


@QUESTION.visible(says="three sentences, two of them padded", weight=2)
def three_sentences_two_of_them_padded(student):
    return student.teacher_forcing(
        torch.tensor([[5, 6, 7, 8, 2], [9, 4, 2, 0, 0], [3, 2, 0, 0, 0]])
    )


@QUESTION.visible(says="another start, another padding")
def another_start_another_padding(student):
    return student.teacher_forcing(torch.tensor([[4, 0, 2, 9], [0, 3, 5, 2]]), 8, 9)


@QUESTION.visible(says="start and padding are one symbol, as in T5")
def start_and_padding_are_one_symbol(student):
    return student.teacher_forcing(torch.tensor([[4, 5, 2], [6, 2, 0]]), 0, 0)


QUESTION.mistake(
    "not shifted",
    old="torch.cat([first, target[:, :-1]], dim=1)",
    new="target.clone()",
    hint="Your decoder reads the very words that it should say, each at its own place. It will "
    "learn to copy, with a loss near 0, and write nothing sensible. Shift what it reads by "
    "one to the right.",
)

QUESTION.mistake(
    "shifted to the left",
    old="[first, target[:, :-1]]",
    new="[target[:, 1:], torch.full_like(first, pad)]",
    hint="You shift to the left: at the first place the decoder reads the second word. It reads "
    "what was written before: `start` at the first place, word 1 at the second.",
)

QUESTION.mistake(
    "labels shifted too",
    old="return torch.cat([first, target[:, :-1]], dim=1), target, target != pad",
    new="return target[:, :-1], target[:, 1:], target[:, 1:] != pad",
    hint="You treat the target as if it began with a start symbol, and lose its first word. "
    "This target has none: the labels are the whole target, and `start` is put in front of "
    "what is read.",
)

QUESTION.mistake(
    "nothing dropped",
    old="target[:, :-1]",
    new="target",
    hint="What is read has T + 1 columns in yours. Nothing follows the last symbol of the "
    "target, so the decoder need not read it: leave the last column out.",
)

QUESTION.mistake(
    "rolled round",
    old="torch.cat([first, target[:, :-1]], dim=1)",
    new="target.roll(1, dims=1)",
    hint="roll brings the last column to the front, where `start` belongs.",
)

QUESTION.mistake(
    "first word overwritten",
    old="target[:, :-1]",
    new="target[:, 1:]",
    hint="You write `start` over the first word, and the others stay in their places. They all "
    "move by one to the right.",
)

QUESTION.mistake(
    "padding looked for in what is read",
    old="return torch.cat([first, target[:, :-1]], dim=1), target, target != pad",
    new=("read = torch.cat([first, target[:, :-1]], dim=1)\n    return read, target, read != pad"),
    hint="You look for padding in what is read. Whether a place counts depends on what should "
    "be said there: at the first padding the decoder reads a real symbol, the end, and "
    "there is nothing left to say.",
)

QUESTION.mistake(
    "the wrong way about",
    old="target != pad",
    new="target == pad",
    hint="Your mask is True at padding. It should say where a label counts: True where it is "
    "a real symbol.",
)

QUESTION.mistake(
    "end not scored",
    old="return torch.cat([first, target[:, :-1]], dim=1), target, target != pad",
    new=(
        "follows = torch.cat([target[:, 1:], torch.full_like(first, pad)], dim=1)\n"
        "    counts = (target != pad) & (follows != pad)\n"
        "    return torch.cat([first, target[:, :-1]], dim=1), target, counts"
    ),
    hint="In yours the last real symbol of a sentence does not count. That is its end, and a "
    "decoder that is never told to say it never stops.",
)
