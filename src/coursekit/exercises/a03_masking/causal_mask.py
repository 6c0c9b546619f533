"""Nobody sees what comes later."""

from __future__ import annotations

import torch

from coursekit.exercises.question import Question


def causal_mask(T, S):
    """Return (T, S), True where a query (one of the last T places) may see a key."""
    return torch.ones(T, S, dtype=torch.bool).tril(S - T)


QUESTION = Question(
    name="causal_mask",
    title="Not ahead",
    points=2,
    difficulty=1,
    minutes=10,
    page="masking.html#sec-masking-causal",
    hint="The keys stand at the places 0 to S - 1, the queries at the last T of them: S - T to "
    "S - 1. With the queries as a column (T, 1) and the keys as a row (1, S) the mask is one "
    "comparison.",
    reference=causal_mask,
    forbidden=("coursekit",),
)


@QUESTION.visible(says="four queries, four keys")
def four_queries_four_keys(student):
    return student.causal_mask(4, 4)


@QUESTION.visible(says="two new queries, five keys")
def two_new_queries_five_keys(student):
    return student.causal_mask(2, 5)


@QUESTION.visible(says="the newest query alone, six keys")
def the_newest_query_alone_six_keys(student):
    return student.causal_mask(1, 6)


QUESTION.mistake(
    "transposed",
    old=".tril(S - T)",
    new=".triu(S - T)",
    hint="Your triangle is the other one: the queries see themselves and what comes after them. "
    "Rows are queries, columns are keys, and a key may be seen if it stands at or before "
    "the query.",
)

QUESTION.mistake(
    "blind to itself",
    old=".tril(S - T)",
    new=".tril(S - T - 1)",
    hint="Your triangle is one place too small: a query does not see its own place, and the "
    "first sees nothing at all. The rule is key ≤ query, with equality.",
)

QUESTION.mistake(
    "one place ahead",
    old=".tril(S - T)",
    new=".tril(S - T + 1)",
    hint="Your triangle is one place too large: each query sees the key after its own, and that "
    "is the very token which it has to guess.",
)

QUESTION.mistake(
    "counted from the start",
    old=".tril(S - T)",
    new=".tril()",
    hint="Right where T = S. With fewer queries than keys, yours stand at the first T places; "
    "they are the newest, the last T. The triangle moves to the right by S - T.",
)

QUESTION.mistake(
    "polarity",
    old=".tril(S - T)",
    new=".triu(S - T + 1)",
    hint="You mark what is forbidden. In this course True means may attend (torch itself uses "
    "both conventions, so look twice).",
)

QUESTION.mistake(
    "numbers for truth values",
    old=", dtype=torch.bool",
    new="",
    hint="The pattern is right, but it is made of the numbers 0 and 1. A mask is boolean: "
    "compare, or give dtype=torch.bool.",
)

QUESTION.mistake(
    "zero and minus infinity",
    old="torch.ones(T, S, dtype=torch.bool).tril(S - T)",
    new="torch.full((T, S), -torch.inf).triu(S - T + 1)",
    hint="This is the M of the papers, to be added to the scores. Here the mask is boolean, "
    "True = may attend; minus infinity comes in later.",
)
