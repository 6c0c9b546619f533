"""When it is enough, and which weights are kept."""

from __future__ import annotations

from coursekit.exercises.question import Question


def early_stop(losses, patience):
    """Return which place in losses is kept, and at which place the training stops."""
    kept = 0
    for now, loss in enumerate(losses):
        if loss < losses[kept]:
            kept = now
        elif now - kept >= patience:
            return kept, now
    return kept, len(losses) - 1


QUESTION = Question(
    name="early_stop",
    title="Enough",
    points=3,
    difficulty=2,
    minutes=20,
    page="training.html#sec-training-stopping",
    hint="Walk through the losses and remember where the lowest so far stands. A lower one takes "
    "over; else see how far back the lowest lies, and stop where that is `patience`.",
    reference=early_stop,
    forbidden=("coursekit",),
)


@QUESTION.visible(says="it would have become better")
def it_would_have_become_better(student):
    return student.early_stop([3.0, 2.0, 2.5, 2.2, 1.0], 2)


@QUESTION.visible(says="the end comes before patience runs out")
def the_end_comes_before_patience_runs(student):
    return student.early_stop([3.0, 2.0, 1.0, 1.5, 1.2], 3)


@QUESTION.visible(says="up and down")
def up_and_down(student):
    return student.early_stop([5.0, 4.0, 4.5, 3.0, 3.5, 2.5, 2.75, 2.7, 2.6, 2.0], 3)


@QUESTION.visible(says="the same loss again and again")
def the_same_loss_again_and_again(student):
    return student.early_stop([2.0, 1.0, 1.0, 1.0, 0.5], 2)


@QUESTION.visible(says="a patience of one")
def a_patience_of_one(student):
    return student.early_stop([1.0, 0.5, 0.75, 0.25], 1)


QUESTION.mistake(
    "looks ahead",
    old="return kept, now",
    new="return losses.index(min(losses)), now",
    hint="You keep the best of the whole list. Losses behind the stop were never measured: keep "
    "the best of those before it.",
)

QUESTION.mistake(
    "keeps the last",
    old=("return kept, now\n    return kept, len(losses) - 1"),
    new=("return now, now\n    return len(losses) - 1, len(losses) - 1"),
    hint="You stop at the right place and keep the last weights. They are worse: keep those of "
    "the lowest loss so far.",
)

QUESTION.mistake(
    "goes back by patience",
    old="return kept, len(losses) - 1",
    new="return max(len(losses) - 1 - patience, 0), len(losses) - 1",
    hint="You go back by `patience` from the end, which is right only where patience ran out. "
    "Remember the place of the lowest loss.",
)


@QUESTION.mistake(
    "compared with the one before",
    hint="You compare each loss with the one before. One that creeps down again, and is not "
    "lower than the best, is no progress: compare with the lowest so far.",
)
def stop_next_to_last(losses, patience):
    best = worse = 0
    for now in range(1, len(losses)):
        best = now if losses[now] < losses[best] else best
        worse = 0 if losses[now] < losses[now - 1] else worse + 1
        if worse >= patience:
            return best, now
    return best, len(losses) - 1


@QUESTION.mistake(
    "never forgets",
    hint="You count all bad evaluations of the training. They must be in a row: a new best sets "
    "the count back to 0.",
)
def stop_never_forgets(losses, patience):
    best = worse = 0
    for now in range(1, len(losses)):
        worse += not losses[now] < losses[best]
        best = now if losses[now] < losses[best] else best
        if worse >= patience:
            return best, now
    return best, len(losses) - 1


QUESTION.mistake(
    "equal is better",
    old="loss < losses",
    new="loss <= losses",
    hint="An equal loss counts as progress in yours, so a flat line never stops. It must be lower.",
)

QUESTION.mistake(
    "one too late",
    old=">= patience",
    new="> patience",
    hint="You stop one evaluation too late: with a patience of 2, the second one in a row "
    "without a new best is the last.",
)

QUESTION.mistake(
    "at the first rise",
    old="elif now - kept >= patience:",
    new="elif now:",
    hint="You stop at the first loss that is not lower, however patient you were asked to be.",
)

QUESTION.mistake(
    "the largest is best",
    old="loss < losses",
    new="loss > losses",
    hint="You look for the largest number. These are losses: the lowest is best.",
)

QUESTION.mistake(
    "numbered from one",
    old=("return kept, now\n    return kept, len(losses) - 1"),
    new=("return kept + 1, now + 1\n    return kept + 1, len(losses)"),
    hint="Both numbers are one too large: places in a list count from 0.",
)
