"""Which hint fits an answer that is wrong in a way that nobody has written down.

`check` and the feedback of the grader ask here. A question's first hint explains how to start, so
it is for an answer that fails most cases; what is known about the failure itself comes before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from coursekit.check.raised import slip

NAMED = 2  # cases that a hint names
NO_GRADIENT = "there is no gradient at"  # in the sentence about a case
KINDS = {  # what the sentence about a case has in it -> what to do
    NO_GRADIENT: "The values may be right, but something on the way cuts the output off from this "
    "input: .detach(), .data, .item(), .numpy(), torch.tensor(...) of a tensor, torch.no_grad(). "
    "Compute everything from the input with torch's operations.",
    r"\bnan \(not a number\)": "nan comes from 0 / 0, inf - inf, 0 * inf, or the log or root of a "
    "negative number. Print what goes into each such step of yours on this input.",
    r"\bthe dtype is (\w+), expected (\w+)": "The dtype should be that which this question expects "
    "for this input: make new tensors with dtype=x.dtype (or x.new_zeros, torch.ones_like), and do "
    "not convert to a fixed dtype on the way.",
    r"changes? its input": "Make a new tensor instead of changing the input: x = x - y and not "
    "x -= y, and x.clone() before you write into it.",
}


def fitting(first: str, failed: Sequence[str], total: int, sentence: str = "") -> str:
    """Return the hint for an answer that no known mistake explains.

    `first` is the question's, `failed` says which of `total` cases fail, and `sentence` what is
    wrong with the one that is shown.
    """
    if known := about(sentence):
        return known
    if 2 * len(failed) > total:
        return first
    return (
        f"{total - len(failed)} of {total} cases pass, so most of it is right. Look at what is "
        f"special about {named(failed)}: call your answer on such an input, and print the steps on "
        "the way."
    )


def named(cases: Sequence[str]) -> str:
    """Name the first of some cases, and say how many more there are."""
    first = ", ".join(f"“{says}”" for says in cases[:NAMED])
    more = len(cases) - NAMED
    return f"{first} and {more} more" if more > 0 else first


def about(sentence: str) -> str:
    """Return what to do about one failure, as far as its sentence tells; else ""."""
    kinds = (advice for pattern, advice in KINDS.items() if re.search(pattern, sentence))
    return slip(sentence) or next(kinds, "")
