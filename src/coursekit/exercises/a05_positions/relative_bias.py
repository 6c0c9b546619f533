"""A number for each distance."""

from __future__ import annotations

import torch

from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


def relative_bias(table, length):
    """table (2K + 1, H) -> bias (H, T, T), T = length."""
    place, limit = torch.arange(length), len(table) // 2
    distance = (place[None, :] - place[:, None]).clamp(-limit, limit)
    return table[distance + limit].movedim(-1, 0)


QUESTION = Question(
    name="relative_bias",
    title="A number for each distance",
    points=3,
    difficulty=2,
    minutes=20,
    page="positions.html#sec-positions-relative",
    hint="Number the places, once as a row and once as a column: their difference has the "
    "distances of all pairs, (T, T). Clamp them to -K … K, add K, and they are row numbers. A "
    "tensor of row numbers as an index of the table gives (T, T, H); the heads still have to "
    "come to the front.",
    reference=relative_bias,
    forbidden=("coursekit",),
)


@QUESTION.visible(says="one head, K = 1, three words")
def one_head_k_1_three_words(student):
    return student.relative_bias(torch.tensor([[-1.0], [5.0], [2.0]]), 3)


@QUESTION.visible(says="two heads, every distance its own row")
def two_heads_every_distance_its_own(student):
    return student.relative_bias(randn(7, 2), 4)


@QUESTION.visible(says="three heads, K = 2, seven words")
def three_heads_k_2_seven_words(student):
    return student.relative_bias(randn(5, 3), 7)


QUESTION.mistake(
    "sign turned round",
    old="place[None, :] - place[:, None]",
    new="place[:, None] - place[None, :]",
    hint="Your sign is turned round: a key that comes after the query gets the number of one "
    "that comes before. The distance is key minus query, j - i, and i counts the rows.",
)

QUESTION.mistake(
    "not centred",
    old="distance + limit",
    new="distance",
    hint="You use the distance itself as row number. Then distance 0 reads row 0, and a "
    "negative one counts from the end of the table. Row K belongs to distance 0: add K.",
)

QUESTION.mistake(
    "before and after alike",
    old=".clamp(-limit, limit)",
    new=".abs().clamp_max(limit)",
    hint="You take the distance without its sign, so that a key before and one after get the "
    "same number. The table has rows for both.",
)

QUESTION.mistake(
    "heads last",
    old=".movedim(-1, 0)",
    new="",
    hint="The right numbers, but the heads are the last axis. Scores are (B, H, T, T), so the "
    "bias must be (H, T, T) to be added: movedim or permute.",
)

QUESTION.mistake(
    "not clipped",
    old=".clamp(-limit, limit)",
    new="",
    hint="Short sentences pass. In longer ones there are distances beyond K, for which the "
    "table has no row: clamp them to -K … K first. (Negative row numbers do not even "
    "raise an error; they count from the end.)",
)

QUESTION.mistake(
    "nothing beyond the limit",
    old=(".clamp(-limit, limit)\n    return table[distance + limit].movedim(-1, 0)"),
    new=(
        "\n"
        "    near = (distance.abs() <= limit)[..., None]\n"
        "    return (table[distance.clamp(-limit, limit) + limit] * near).movedim(-1, 0)"
    ),
    hint="You give distances beyond K a bias of 0. They share the number of the last distance "
    "that the table knows: clamp.",
)
