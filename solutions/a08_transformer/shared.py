"""What several questions of this assignment use."""

from __future__ import annotations


def score(student, *pairs):
    ours, theirs = ([line.split() for line in side] for side in zip(*pairs))
    return student.bleu(ours, theirs)
