"""Start many runs, stop the worse half at each look, and keep the best at the end."""

from __future__ import annotations

from coursekit.exercises.probe import after, randn
from coursekit.exercises.question import Question


def stop_early(curves, looks):
    """Validation curves [run][part] -> the run that is kept, its last score, the share saved."""
    parts = len(curves[0])
    running, spent = list(range(len(curves))), 0
    for part in range(1, parts + 1):
        spent += len(running)
        running.sort(key=lambda run: (-curves[run][part - 1], run))
        if part in looks:
            running = running[: (len(running) + 1) // 2]
    best = running[0]
    return best, curves[best][-1], 1 - spent / (len(curves) * parts)


QUESTION = Question(
    name="stop_early",
    title="Half of them may go on",
    points=5,
    difficulty=3,
    minutes=35,
    page="finetuning.html#sec-finetuning-early",
    hint="Play it through, part after part, with a list of the numbers of those runs that are "
    "still going on. In each part every one of them costs one. Then, if one looks now, order the "
    "list by the scores of this part and cut it. After the last part the best of the list is "
    "kept. Python sorts equal ones as they stood.",
    reference=stop_early,
    forbidden=("coursekit",),
)


def curves_of(runs: int, parts: int, seed: int) -> list[list[float]]:
    """Return curves that rise, each in its own way, and cross now and then."""
    heights, bends = (randn(runs, 1, seed=seed + n) for n in range(2))
    grown = [1 - 0.5 ** (part / 2) for part in range(1, parts + 1)]
    noise = randn(runs, parts, seed=seed + 2)
    return [
        [round(float(80 + 6 * h * g + 3 * b * (1 - g) + x), 2) for g, x in zip(grown, row)]
        for h, b, row in zip(heights, bends, noise)
    ]


@QUESTION.visible(says="four runs of four parts, one look")
def four_runs(student):
    curves = [
        [60.0, 70.0, 72.0, 79.0],
        [65.0, 66.0, 80.0, 90.0],
        [50.0, 71.0, 85.0, 76.0],
        [90.0, 55.0, 52.0, 51.0],
    ]
    return student.stop_early(curves, [2])


@QUESTION.visible(says="eight runs of six parts, looks after 1, 2 and 4", weight=2)
def eight_runs(student):
    return student.stop_early(curves_of(8, 6, seed=11), [1, 2, 4])


@QUESTION.visible(says="seven runs of five parts: odd numbers")
def seven_runs(student):
    return student.stop_early(curves_of(7, 5, seed=18), [1, 2, 3])


@QUESTION.visible(says="equal scores")
def equal_scores(student):
    first, second = [55.0, 55.0, 55.0, 55.0, 20.0], [60.0, 60.0, 61.0, 59.0, 62.0]
    last = [62.0, 70.0, 70.0, 71.0, 70.0]
    return [student.stop_early([*map(list, zip(first, second, last))], [at]) for at in (1, 2)]


@QUESTION.visible(says="nobody looks")
def nobody_looks(student):
    return student.stop_early(curves_of(3, 4, seed=30), [])


@QUESTION.visible(says="what was given stays as it was")
def what_was_given_stays(student):
    return after(student.stop_early, curves_of(5, 4, seed=20), [1, 2])


KEEP = "running = running[: (len(running) + 1) // 2]"
SORT = "running.sort(key=lambda run: (-curves[run][part - 1], run))"
END = "best = running[0]\n    return best, curves[best][-1], "

QUESTION.mistake(
    "judged by the mean of the curve",
    old="-curves[run][part - 1], run",
    new="-sum(curves[run][:part]) / part, run",
    hint="You judge a run by the mean of its curve so far. Its score at the look counts alone: "
    "what it was before has been left behind.",
)

QUESTION.mistake(
    "judged by the mean, kept by the last score",
    old=SORT,
    new="running.sort(key=lambda run: (-sum(curves[run][:part]) / part if part < parts else "
    "-curves[run][-1], run))",
    hint="At the looks you judge a run by the mean of its curve so far. Its score at the look "
    "counts alone.",
)

QUESTION.mistake(
    "judged by the best so far",
    old="-curves[run][part - 1], run",
    new="-max(curves[run][:part]), run",
    hint="You judge a run by the best that it has scored so far. It may have become worse since: "
    "its score at the look counts alone.",
)

QUESTION.mistake(
    "judged by the best so far, kept by the last score",
    old=SORT,
    new="running.sort(key=lambda run: (-max(curves[run][:part]) if part < parts else "
    "-curves[run][-1], run))",
    hint="At the looks you judge a run by the best that it has scored so far. Its score at the "
    "look counts alone.",
)

QUESTION.mistake(
    "one part too late",
    old="-curves[run][part - 1], run",
    new="-curves[run][min(part, parts - 1)], run",
    hint="You look at the score of the next part, which has not been trained yet: after one part "
    "the score stands at place 0 of the curve.",
)

QUESTION.mistake(
    "looks counted from 0",
    old="if part in looks",
    new="if part - 1 in looks",
    hint="Your looks come one part too late: a look at 1 comes after one part, before the second.",
)

QUESTION.mistake(
    "the best of all runs",
    old="best = running[0]",
    new="best = max(range(len(curves)), key=lambda run: curves[run][-1])",
    hint="You keep the run that ends best of all, or judge by the last scores at the looks too. A "
    "run that was stopped has no last score: nobody has trained it so far.",
)

QUESTION.mistake(
    "kept by the last look",
    old=SORT,
    new=f"if part in looks:\n            {SORT}",
    hint="Those that are left at the end are not compared again in yours, and the best at the last "
    "look is kept. The best by its score after the last part is asked for.",
)

QUESTION.mistake(
    "the score at its best",
    old="curves[best][-1]",
    new="max(curves[best])",
    hint="Your score is the highest of the run's curve. It is the one after its last part.",
)

QUESTION.mistake(
    "the worse half kept",
    old="-curves[run][part - 1], run",
    new="curves[run][part - 1], run",
    hint="You stop the better half. The scores are no losses: higher is better.",
)

QUESTION.mistake(
    "the worse half kept, then the best",
    old=KEEP,
    new="running = running[len(running) // 2 :]",
    hint="At a look you keep the worse half. The scores are no losses: higher is better.",
)

QUESTION.mistake(
    "the middle one dropped",
    old="(len(running) + 1) // 2",
    new="max(len(running) // 2, 1)",
    hint="Of an odd number you stop one too many: the middle one goes on. Of seven four stay.",
)

QUESTION.mistake(
    "ties to the later run",
    old="(-curves[run][part - 1], run)",
    new="(-curves[run][part - 1], -run)",
    hint="Of runs with equal scores you prefer the later one. It is the earlier, the one with the "
    "lower number.",
)


@QUESTION.mistake(
    "all above the middle",
    hint="You stop what lies below the median. With equal scores more than half may go on: order "
    "the runs, the earlier first among equals, and cut the list.",
)
def above_the_middle(curves, looks):
    parts = len(curves[0])
    running, spent = list(range(len(curves))), 0
    for part in range(1, parts + 1):
        spent += len(running)
        if part in looks:
            scores = sorted((curves[run][part - 1] for run in running), reverse=True)
            least = scores[(len(scores) + 1) // 2 - 1]
            running = [run for run in running if curves[run][part - 1] >= least]
    best = max(running, key=lambda run: (curves[run][-1], -run))
    return best, curves[best][-1], 1 - spent / (len(curves) * parts)


QUESTION.mistake(
    "half of all runs each time",
    old=KEEP,
    new="running = running[: (len(curves) + 1) // 2]",
    hint="You stop runs at the first look only: later ones keep half of all that were started, "
    "and so many are left anyway. At each look half of those that are still running go.",
)

QUESTION.mistake(
    "cost ignored",
    old="1 - spent / (len(curves) * parts)",
    new="1 - len(running) / len(curves)",
    hint="Your share is that of the runs that were stopped. They have trained until then, and "
    "that was not saved: count the parts of all runs.",
)

QUESTION.mistake(
    "one part not paid",
    old=f"spent += len(running)\n        {SORT}\n        if part in looks:\n            {KEEP}",
    new=f"{SORT}\n        if part in looks:\n            {KEEP}\n        spent += len(running)",
    hint="What is stopped at a look does not pay for the part before it. It was trained up to the "
    "look, or there would be no score: count first, then stop.",
)

QUESTION.mistake(
    "what was spent",
    old="1 - spent / (len(curves) * parts)",
    new="spent / (len(curves) * parts)",
    hint="Your share is that of the training that was done. The share that was saved is the rest.",
)

QUESTION.mistake(
    "in percent",
    old="1 - spent / (len(curves) * parts)",
    new="100 * (1 - spent / (len(curves) * parts))",
    hint="Your share is in percent. It lies between 0 and 1.",
)

QUESTION.mistake(
    "numbered from 1",
    old="return best, curves",
    new="return best + 1, curves",
    hint="Your runs are numbered from 1. The first has the number 0.",
)

QUESTION.mistake(
    "the place among those that are left",
    old="return best, curves",
    new="return sorted(running).index(best), curves",
    hint="Your number is the place among those that are left. The run's number among all is asked "
    "for.",
)

QUESTION.mistake(
    "curves cut",
    old="best = running[0]",
    new="best = running[0]\n"
    "    for run in set(range(len(curves))) - set(running):\n        del curves[run][1:]",
    hint="The result is right, but `curves` is not what it was. Keep a list of numbers of your "
    "own, and leave the curves alone.",
)

QUESTION.mistake(
    "looks used up",
    old="        if part in looks:\n",
    new="        if looks and part == looks[0]:\n            looks.pop(0)\n",
    hint="The result is right, but `looks` is empty now: pop takes it from the caller's own list.",
)

QUESTION.mistake(
    "the end by the order of the last look",
    old="(-curves[run][part - 1], run)",
    new="-curves[run][part - 1]",
    hint="Of runs that end equal you keep the one that was ahead before. It is the earlier one, "
    "with the lower number.",
)

QUESTION.mistake(
    "rounded to even",
    old="(len(running) + 1) // 2",
    new="max(round(len(running) / 2), 1)",
    hint="Python rounds 2.5 to 2 and 3.5 to 4, each to the even number. Of an odd number the "
    "middle one always goes on: of five three stay.",
)

QUESTION.mistake(
    "one alone after the last look",
    old=KEEP,
    new=f"{KEEP}\n            running = running[:1] if part == max(looks) else running",
    hint="At the last look you keep a single run. Half of them go on there too, and the end "
    "decides.",
)


@QUESTION.mistake(
    "above the mean",
    hint="You stop what lies below the mean. That may be one run or all but one: order the runs by "
    "their scores and keep half of them.",
)
def above_the_mean(curves, looks):
    parts = len(curves[0])
    running, spent = list(range(len(curves))), 0
    for part in range(1, parts + 1):
        spent += len(running)
        if part in looks:
            mean = sum(curves[run][part - 1] for run in running) / len(running)
            running = [run for run in running if curves[run][part - 1] >= mean]
    best = max(running, key=lambda run: curves[run][-1])
    return best, curves[best][-1], 1 - spent / (len(curves) * parts)


QUESTION.mistake(
    "nobody pays for the last stretch",
    old="spent += len(running)",
    new="spent += len(running) * (part <= max(looks, default=0))",
    hint="You count the training up to the last look. Those that go on from there are trained to "
    "the end, and that is not saved.",
)

QUESTION.mistake(
    "the last one runs for nothing",
    old="spent += len(running)",
    new="spent += len(running) * (len(running) > 1 or len(curves) == 1)",
    hint="You count no more once a single run is left. It is trained to its end all the same.",
)

QUESTION.mistake(
    "score first",
    old="return best, curves[best][-1], ",
    new="return curves[best][-1], best, ",
    hint="Your results have changed places: the number of the run comes first, then its score.",
)
