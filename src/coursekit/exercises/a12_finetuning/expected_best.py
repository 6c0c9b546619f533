"""What the best of n runs may be expected to score, from the scores of all runs."""

from __future__ import annotations

from coursekit.exercises.probe import after
from coursekit.exercises.question import Question


def expected_best(scores, n):
    """Scores of N runs, n from 1 to N -> the mean of the best of n that are drawn from them."""
    runs = len(scores)
    if n > runs:
        raise ValueError(f"n must be at most {runs}, the number of runs, found {n}")
    best = 0.0
    for place, score in enumerate(sorted(scores), 1):
        best += score * ((place / runs) ** n - ((place - 1) / runs) ** n)
    return best


QUESTION = Question(
    name="expected_best",
    title="The best of n",
    points=4,
    difficulty=2,
    minutes=25,
    page="finetuning.html#sec-finetuning-best",
    hint="Sort first. Then the result is a weighted sum of all scores: the weight of the i-th is "
    "the chance that the best of n is that very one, a difference of two powers. The weights of "
    "all N add up to 1; print them if in doubt.",
    reference=expected_best,
    forbidden=("coursekit",),
)


def refused(student, scores, n):
    """Say whether the answer refuses."""
    try:
        student.expected_best(scores, n)
    except ValueError:
        return "ValueError"
    return "no error"


@QUESTION.visible(says="three runs, the best of two")
def three_runs(student):
    return student.expected_best([1.0, 2.0, 4.0], 2)


@QUESTION.visible(says="five runs in no order, the best of one, two, … five", weight=2)
def five_runs(student):
    return [student.expected_best([70.0, 90.0, 62.0, 85.0, 81.0], n) for n in range(1, 6)]


@QUESTION.visible(says="some runs have the same score, one has failed")
def same_scores(student):
    return [student.expected_best([0.8, 0.5, 0.9, 0.8, 0.8, 0.9, -0.2], n) for n in (2, 3)]


@QUESTION.visible(says="the list of scores stays as it was")
def list_stays(student):
    return after(student.expected_best, [3.0, 1.0, 2.0, 8.0], 3)


@QUESTION.visible(says="more runs are asked for than were made", weight=0.5)
def more_than_made(student):
    return refused(student, [0.5, 0.75, 0.25], 4)


QUESTION.mistake(
    "mean of all",
    old="score * ((place / runs) ** n - ((place - 1) / runs) ** n)",
    new="score / runs",
    hint="You return the mean of all runs. That is what to expect of one; the best of two or more "
    "is better.",
)

QUESTION.mistake(
    "maximum of all",
    old="score * ((place / runs) ** n - ((place - 1) / runs) ** n)",
    new="max(scores) / runs",
    hint="You return the best of all N runs. Whoever makes only n of them finds that one seldom.",
)

QUESTION.mistake(
    "best of the first n",
    old="best = 0.0",
    new="return max(scores[:n])\n    best = 0.0",
    hint="You take the best of the first n. Another order of the same runs would give another "
    "number; the mean over all draws is asked for.",
)

QUESTION.mistake(
    "mean of the n best",
    old="best = 0.0",
    new="return sum(sorted(scores)[-n:]) / n\n    best = 0.0",
    hint="You average the n best of all runs. It is n runs at random of which the best is taken.",
)

QUESTION.mistake(
    "order matters",
    old="sorted(scores)",
    new="scores",
    hint="Your result depends on the order of the runs. The i-th is meant from the worst to the "
    "best: sort.",
)

QUESTION.mistake(
    "the worst of n",
    old="sorted(scores)",
    new="sorted(scores, reverse=True)",
    hint="You sort from the best to the worst, and so find what to expect of the worst of n. The "
    "i-th is counted from the worst.",
)

QUESTION.mistake(
    "no difference",
    old="((place / runs) ** n - ((place - 1) / runs) ** n)",
    new="(place / runs) ** n",
    hint="(i/N)ⁿ is the chance that the best is the i-th or one below it. That it is the i-th "
    "itself is a difference of two such chances.",
)

QUESTION.mistake(
    "no difference, divided by the sum",
    old="return best",
    new="weights = [((place + 1) / runs) ** n for place in range(runs)]\n"
    "    return sum(w * s for w, s in zip(weights, sorted(scores))) / sum(weights)",
    hint="You weigh with (i/N)ⁿ and divide by the sum. (i/N)ⁿ is the chance of the i-th or one "
    "below it; that of the i-th itself is a difference of two such, and these add up to 1 by "
    "themselves.",
)

QUESTION.mistake(
    "the difference to the next",
    old="((place / runs) ** n - ((place - 1) / runs) ** n)",
    new="(((place + 1) / runs) ** n - (place / runs) ** n)",
    hint="Your places are one too high: with ((i + 1)/N)ⁿ the chances add up to more than 1. Does "
    "your i begin at 1?",
)

QUESTION.mistake(
    "places from 0",
    old="enumerate(sorted(scores), 1)",
    new="enumerate(sorted(scores))",
    hint="Your i begins at 0. The worst run is number 1 and the best one number N.",
)

QUESTION.mistake(
    "the power of the difference",
    old="((place / runs) ** n - ((place - 1) / runs) ** n)",
    new="(place / runs - (place - 1) / runs) ** n",
    hint="You take the power of the difference. It is the difference of two powers.",
)

QUESTION.mistake(
    "without replacement",
    old="return best",
    new="from math import comb\n"
    "    ordered = enumerate(sorted(scores))\n"
    "    return sum(s * comb(i, n - 1) for i, s in ordered) / comb(runs, n)",
    hint="You draw n different runs. In the formula of the question each draw is made from all N, "
    "so a run may come twice: it gives less than yours.",
)

QUESTION.mistake(
    "n and N exchanged",
    old="((place / runs) ** n - ((place - 1) / runs) ** n)",
    new="((place / n) ** runs - ((place - 1) / n) ** runs)",
    hint="n and N have changed places: the fractions are divided by N, the number of runs made, "
    "and the power is n.",
)

QUESTION.mistake(
    "the power N",
    old="((place / runs) ** n - ((place - 1) / runs) ** n)",
    new="((place / runs) ** runs - ((place - 1) / runs) ** runs)",
    hint="Your power is N, whatever n is. It is n: so many runs are drawn.",
)

QUESTION.mistake(
    "one draw too many",
    old="((place / runs) ** n - ((place - 1) / runs) ** n)",
    new="((place / runs) ** (n + 1) - ((place - 1) / runs) ** (n + 1))",
    hint="You draw n + 1 runs. With n = 1 the result should be the mean.",
)

QUESTION.mistake(
    "n alone",
    old="((place / runs) ** n - ((place - 1) / runs) ** n)",
    new="(n / runs) * (place / runs) ** (n - 1)",
    hint="You take the slope, n/N (i/N)ⁿ⁻¹, in place of the difference. With few runs that is not "
    "the same.",
)

QUESTION.mistake(
    "mean and spread",
    old="return best",
    new="mean = sum(scores) / runs\n"
    "    spread = (sum((s - mean) ** 2 for s in scores) / max(runs - 1, 1)) ** 0.5\n"
    "    return mean + spread * (n > 1)",
    hint="You go one standard deviation above the mean, whatever n is. The chances of the single "
    "runs are asked for.",
)

QUESTION.mistake(
    "equal scores once",
    old="    best = 0.0",
    new="    scores = list(dict.fromkeys(scores))\n    runs = len(scores)\n    best = 0.0",
    hint="You count runs with equal scores once. Each run was made and may be drawn: two that "
    "score the same are two.",
)

QUESTION.mistake(
    "the place of the first equal score",
    old="enumerate(sorted(scores), 1):",
    new="[(sorted(scores).index(s) + 1, s) for s in sorted(scores)]:",
    hint="Runs with equal scores all get the same place in yours. `index` finds the first of them "
    "each time: count the places with enumerate.",
)

QUESTION.mistake(
    "n above N accepted",
    old="    if n > runs:\n"
    '        raise ValueError(f"n must be at most {runs}, the number of runs, found {n}")\n',
    new="",
    hint="Where n is larger than N you give a number. It would say nothing of runs better than "
    "those that were made: raise a ValueError.",
)

QUESTION.mistake(
    "n above N becomes N",
    old="if n > runs:\n"
    '        raise ValueError(f"n must be at most {runs}, the number of runs, found {n}")',
    new="n = max(min(n, runs - 1), 1)",
    hint="You cut n where it is too large for you, and answer another question than the one that "
    "was asked. n = N is allowed; above it, raise a ValueError.",
)

QUESTION.mistake(
    "N refused too",
    old="n > runs",
    new="n >= runs",
    hint="You refuse n = N. As many as were made may be drawn; only more may not.",
)

QUESTION.mistake(
    "the list sorted",
    old="    best = 0.0",
    new="    scores.sort()\n    best = 0.0",
    hint="The number is right, but the list that you were given is sorted now, and no longer says "
    "which run had which score: sorted(...) makes a new one.",
)

QUESTION.mistake(
    "a tensor",
    old="return best",
    new="import torch\n\n    return torch.tensor(best)",
    hint="You return a tensor. A plain number is asked for: .item() makes one of it.",
)

QUESTION.mistake(
    "the median of the best",
    old="return best",
    new="return next(s for i, s in enumerate(sorted(scores), 1) if (i / runs) ** n >= 0.5)",
    hint="You return one of the scores, such as the median of the best of n. The mean is asked "
    "for: each score, weighted by its chance.",
)

QUESTION.mistake(
    "the highest left out",
    old="enumerate(sorted(scores), 1)",
    new="enumerate(sorted(scores)[:-1], 1)",
    hint="Your sum ends one too early, and the highest score is missing: i runs from 1 to N.",
)

QUESTION.mistake(
    "times n",
    old="((place / runs) ** n - ((place - 1) / runs) ** n)",
    new="(place / runs * n - (place - 1) / runs * n)",
    hint="You multiply by n. It is a power: all n draws have to lie that low.",
)

QUESTION.mistake(
    "groups of n",
    old="    best = 0.0",
    new="    groups = [scores[k : k + n] for k in range(0, runs, n)]\n"
    "    return sum(map(max, groups)) / len(groups)\n    best = 0.0",
    hint="You cut the list into groups of n. Another order of the same runs would give other "
    "groups and another number; the mean over all draws is asked for.",
)

QUESTION.mistake(
    "an assertion",
    old="    if n > runs:\n"
    '        raise ValueError(f"n must be at most {runs}, the number of runs, found {n}")',
    new="    assert n <= runs",
    hint="You assert that n is not too large, which raises an AssertionError. A ValueError is "
    "asked for: assertions are for one's own mistakes, and Python can switch them off.",
)
