"""Ratings of many models from votes about two of them at a time."""

from __future__ import annotations

import torch

from coursekit.exercises.probe import after
from coursekit.exercises.question import Question


def ratings(votes, models):
    """Votes (first, second, points of the first), how many models -> a rating for each of them."""
    points = torch.zeros(models, dtype=torch.float64)
    met = torch.zeros(models, models, dtype=torch.float64)
    for a, b, gained in votes:
        points[a] += gained
        points[b] += 1 - gained
        met[a, b] += 1
        met[b, a] += 1
    s = torch.zeros(models, dtype=torch.float64)
    for _ in range(1000):
        expected = (met * torch.sigmoid(s[:, None] - s)).sum(dim=1)  # (models,)
        step = (points / expected).log()
        s = s + step
        if not step.abs().max() > 1e-12:  # nor goes on with nan
            break
    return (s - s.mean()).tolist()


QUESTION = Question(
    name="ratings",
    title="Who is best",
    points=5,
    difficulty=3,
    minutes=40,
    page="alignment.html#sec-alignment-ratings",
    hint="Go through the votes once, and note two things: how many points each model has, and how "
    "often each two have met. From then on the votes are not needed. Begin with 0 for everybody. "
    "In each round work out all expected points at the present ratings, then move all ratings at "
    "once. When hardly anything moves any more, take the mean off.",
    reference=ratings,
    forbidden=("coursekit",),
)

STRENGTHS = (0.9, -0.6, 0.3, 0.0, -1.1, 1.4, -0.2, 0.5)


def ballots(models: int, count: int, seed: int, ties: float = 0.3) -> list[tuple]:
    """Return votes of people who mostly agree; each model has won and lost once at least."""
    dice = torch.Generator().manual_seed(seed)
    rows = [(n, (n + 1) % models, 1.0) for n in range(models)]  # a ring: nobody is unbeaten
    for _ in range(count):
        a, b = torch.randperm(models, generator=dice)[:2].tolist()
        lead = torch.tensor(STRENGTHS[a] - STRENGTHS[b]).sigmoid().item()
        luck, tie = torch.rand(2, generator=dice).tolist()
        rows.append((a, b, 0.5 if tie < ties else float(luck < lead)))
    order = torch.randperm(len(rows), generator=dice).tolist()
    return [rows[n] for n in order]


@QUESTION.visible(says="two models, four votes", tolerance=1e-4)
def two_models(student):
    return student.ratings([(0, 1, 1.0), (1, 0, 0.0), (0, 1, 0.0), (0, 1, 1.0)], 2)


@QUESTION.visible(says="three models that have not met equally often", tolerance=1e-4)
def three_models(student):
    votes = [(0, 1, 1.0), (0, 1, 1.0), (1, 0, 1.0), (1, 2, 1.0), (1, 2, 1.0), (2, 1, 1.0)]
    return student.ratings([*votes, (1, 2, 1.0), (0, 2, 1.0)], 3)


@QUESTION.visible(says="five models, many votes, some of them draws", weight=2, tolerance=1e-4)
def five_models(student):
    return student.ratings(ballots(5, 60, seed=1), 5)


@QUESTION.visible(says="the same votes in three orders", tolerance=1e-4)
def three_orders(student):
    votes = ballots(4, 25, seed=2)
    turned = [(b, a, 1.0 - points) for a, b, points in votes]
    return [student.ratings(list(given), 4) for given in (votes, votes[::-1], turned)]


@QUESTION.visible(says="draws only, then two of them decided", tolerance=1e-4)
def draws(student):
    votes = [(0, 1, 0.5), (1, 2, 0.5), (0, 2, 0.5), (0, 1, 0.5), (2, 1, 0.5)]
    decided = [(0, 1, 1.0), (1, 2, 1.0), *votes[2:]]
    return student.ratings(votes, 3), student.ratings(decided, 3)


@QUESTION.visible(says="a chain: each has met its neighbours alone", tolerance=1e-4)
def a_chain(student):
    votes = [(n, n + 1, float(k % 3 != n % 3)) for n in range(6) for k in range(3)]
    return student.ratings(votes, 7)


@QUESTION.visible(says="the list of votes stays as it was", tolerance=1e-4)
def list_stays(student):
    return after(student.ratings, ballots(3, 8, seed=4), 3)


START = "points = torch.zeros(models, dtype=torch.float64)"
END = "return (s - s.mean()).tolist()"
EXPECT = "expected = (met * torch.sigmoid(s[:, None] - s)).sum(dim=1)"


def _elo(factor: str, gain: str, loss: str) -> str:
    """Return code that goes through the votes one by one, as the ratings of chess do."""
    return (
        "import math\n"
        "    r = [0.0] * models\n"
        "    for a, b, gained in votes:\n"
        f"        more = {factor} * (gained - 1 / (1 + math.exp(r[b] - r[a])))\n"
        f"        r[a] += {gain}\n"
        f"        r[b] -= {loss}\n"
        "    return [x - sum(r) / models for x in r]\n    " + START
    )


for rate in ("0.1", "0.2", "0.5", "1.0", "32 * math.log(10) / 400"):
    QUESTION.mistake(
        f"one by one, by {rate}",
        old=START,
        new=_elo(rate, "more", "more"),
        hint="You go through the votes one by one and move two ratings at each, as chess does "
        "(Elo). The later votes then count for more, and another order gives other ratings. Count "
        "first, then look for the ratings that fit all votes.",
    )

QUESTION.mistake(
    "one by one, on the scale of chess",
    old=START,
    new="r = [1000.0] * models\n"
    "    for a, b, gained in votes:\n"
    "        more = 32 * (gained - 1 / (1 + 10 ** ((r[b] - r[a]) / 400)))\n"
    "        r[a] += more\n"
    "        r[b] -= more\n"
    "    return [x - sum(r) / models for x in r]\n    " + START,
    hint="You go through the votes one by one with chess's numbers, 32 and 400. Another order of "
    "the votes gives other ratings, and the scale is not that of the sigmoid. Count first, then "
    "look for the ratings that fit all votes.",
)

for start in (1000, 1500):
    QUESTION.mistake(
        f"one by one, from {start} on",
        old=START,
        new=f"r = [{start}.0] * models\n"
        "    for a, b, gained in votes:\n"
        "        more = 32 * (gained - 1 / (1 + 10 ** ((r[b] - r[a]) / 400)))\n"
        "        r[a] += more\n"
        "        r[b] -= more\n"
        "    return r\n    " + START,
        hint=f"You go through the votes one by one with chess's numbers, {start}, 32 and 400. "
        "Another order of the votes gives other ratings, and neither their scale nor their mean is "
        "the one asked for. Count first, then look for the ratings that fit all votes.",
    )

QUESTION.mistake(
    "one by one, the winner's gain not the loser's loss",
    old=START,
    new=_elo("0.1", "max(more, 0.0)", "min(more, 0.0)"),
    hint="You go through the votes one by one, and only whoever did better than expected moves. "
    "What one gains the other loses; and count all votes first, since their order must not matter.",
)

QUESTION.mistake(
    "the first one's points only",
    old="        points[b] += 1 - gained\n",
    new="",
    hint="You note the points of the first model of each vote, and forget the second one's: it "
    "gets 1 less them.",
)

QUESTION.mistake(
    "the second gets what the first lost",
    old="points[b] += 1 - gained",
    new="points[b] -= gained",
    hint="You take the first one's points off the second one. Points are not lost: one point is "
    "shared in each vote, and the second gets what the first one does not.",
)

QUESTION.mistake(
    "both get the same",
    old="points[b] += 1 - gained",
    new="points[b] += gained",
    hint="Both models of a vote get the same points in yours. The second one gets 1 less those of "
    "the first.",
)

QUESTION.mistake(
    "met in one direction",
    old="        met[b, a] += 1\n",
    new="",
    hint="You count a meeting for the first model of a vote and not for the second. Both have met.",
)

QUESTION.mistake(
    "draws ignored",
    old="        points[a] += gained\n",
    new="        if gained == 0.5:\n            continue\n        points[a] += gained\n",
    hint="You leave draws out. A draw says that two models are near each other: half a point for "
    "each, and they have met.",
)

QUESTION.mistake(
    "no points for a draw",
    old="        points[a] += gained\n        points[b] += 1 - gained\n",
    new="        points[a] += gained == 1\n        points[b] += gained == 0\n",
    hint="A draw brings nobody a point in yours. It brings half a point to each.",
)

QUESTION.mistake(
    "a point each for a draw",
    old="        points[a] += gained\n        points[b] += 1 - gained\n",
    new="        points[a] += gained > 0\n        points[b] += gained < 1\n",
    hint="A draw brings a whole point to both in yours. There is one point in each vote: half of "
    "it for each.",
)

QUESTION.mistake(
    "a draw as a win of the first",
    old="    for a, b, gained in votes:\n",
    new="    for a, b, gained in votes:\n        gained = float(gained >= 0.5)\n",
    hint="A draw counts as a win of whoever was named first. It is half a win for each.",
)

QUESTION.mistake(
    "a draw as a win of the second",
    old="    for a, b, gained in votes:\n",
    new="    for a, b, gained in votes:\n        gained = float(gained == 1)\n",
    hint="A draw counts as a win of whoever was named second. It is half a win for each.",
)

QUESTION.mistake(
    "the same vote once",
    old="in votes:",
    new="in dict.fromkeys(votes):",
    hint="You count a vote once, however often it was cast. Each of them is somebody's.",
)

QUESTION.mistake(
    "how often they met ignored",
    old="met * torch",
    new="met.clamp(max=1) * torch",
    hint="Your expected points count every opponent once, however often the two have met. There is "
    "one expected share for each vote.",
)

QUESTION.mistake(
    "everybody has met everybody",
    old="met * torch.sigmoid(s[:, None] - s)",
    new="met.sum() / (models * (models - 1)) * (1 - torch.eye(models)) "
    "* torch.sigmoid(s[:, None] - s)",
    hint="Your expected points assume that all pairs have met equally often. Count how often each "
    "two have.",
)

QUESTION.mistake(
    "met oneself",
    old="met[b, a] += 1\n",
    new="met[b, a] += 1\n    met = met + torch.eye(models)\n",
    hint="Each model meets itself in yours, and expects half a point of it. Leave the diagonal at "
    "0.",
)

QUESTION.mistake(
    "an invented draw between all",
    old="met[b, a] += 1\n",
    new="met[b, a] += 1\n"
    "    met = met + 1 - torch.eye(models)\n    points = points + (models - 1) / 2\n",
    hint="You add a draw between all pairs, which draws the ratings together. That helps where a "
    "model has never lost; here nothing is added to what people said.",
)

QUESTION.mistake(
    "expected by the opponent",
    old="s[:, None] - s)",
    new="s - s[:, None])",
    hint="Your expected points are those of the opponents: the sigmoid has the ratings the wrong "
    "way round, and so the ratings run away from each other.",
)

QUESTION.mistake(
    "one round only",
    old="range(1000)",
    new="range(1)",
    hint="You move the ratings once. They depend on those of the opponents, which move as well: go "
    "on until nothing moves.",
)

for rounds in (2, 3, 5, 10, 20, 30, 50, 100):
    QUESTION.mistake(
        f"{rounds} rounds only",
        old="range(1000)",
        new=f"range({rounds})",
        hint=f"You stop after {rounds} rounds, while the ratings still move. Where models have met "
        "few others it takes hundreds.",
    )

for least in ("0.1", "1e-2", "1e-3"):
    QUESTION.mistake(
        f"stopped when the steps are below {least}",
        old="1e-12",
        new=least,
        hint=f"You stop when no rating moves by more than {least} in a round. Many small steps "
        "still add up: wait until they are far smaller than what you want to be exact to.",
    )

QUESTION.mistake(
    "share of the points",
    old=END,
    new="return (points / met.sum(dim=1)).tolist()",
    hint="You return the share of the points that a model has won. Whoever has met weak opponents "
    "wins more often: ratings know of the opponents.",
)

QUESTION.mistake(
    "share of the points, mean at zero",
    old=END,
    new="s = points / met.sum(dim=1)\n    return (s - s.mean()).tolist()",
    hint="You return the share of the points that a model has won, with the mean taken off. "
    "Whoever has met weak opponents wins more often: ratings know of the opponents.",
)

QUESTION.mistake(
    "log odds of the share",
    old=END,
    new="s = (points / met.sum(dim=1)).logit()\n    return (s - s.mean()).tolist()",
    hint="You take the log odds of the share of points. That would be right if all opponents were "
    "equally strong; whoever has met weak ones is rated too high.",
)

QUESTION.mistake(
    "wins less losses",
    old=END,
    new="s = 2 * points - met.sum(dim=1)\n    return (s - s.mean()).tolist()",
    hint="You count wins less losses. More votes then make a higher rating, and it does not matter "
    "against whom one has won.",
)

QUESTION.mistake(
    "mean not fixed",
    old=END,
    new="return s.tolist()",
    hint="You do not take the mean off. Only differences of ratings mean anything, so one of the "
    "many equally good sets has to be chosen: that with mean 0.",
)

QUESTION.mistake(
    "the first at zero",
    old="s - s.mean()",
    new="s - s[0]",
    hint="Your first model has the rating 0. It is the mean of all that is 0.",
)

QUESTION.mistake(
    "the worst at zero",
    old="s - s.mean()",
    new="s - s.min()",
    hint="Your worst model has the rating 0. It is the mean of all that is 0.",
)

QUESTION.mistake(
    "the median at zero",
    old="s - s.mean()",
    new="s - s.median()",
    hint="Your middle model has the rating 0. It is the mean of all that is 0.",
)

QUESTION.mistake(
    "the mean of the votes at zero",
    old="s - s.mean()",
    new="s - (s * met.sum(dim=1)).sum() / met.sum()",
    hint="Your mean counts a model as often as it has met another. Each model counts once.",
)

QUESTION.mistake(
    "a spread of one",
    old="(s - s.mean())",
    new="((s - s.mean()) / s.std().clamp(min=1e-9))",
    hint="You divide by the spread of the ratings. Their scale is no matter of taste: a difference "
    "is what the sigmoid makes a probability of.",
)

QUESTION.mistake(
    "the scale of chess",
    old="(s - s.mean())",
    new="(400 / torch.tensor(10.0).log() * (s - s.mean()))",
    hint="Your ratings are on the scale of chess, 400 for a factor of ten. Here a difference goes "
    "straight into the sigmoid.",
)

QUESTION.mistake(
    "logarithms to the base of ten",
    old="(s - s.mean())",
    new="((s - s.mean()) / torch.tensor(10.0, dtype=torch.float64).log())",
    hint="Your ratings are logarithms to the base of ten. The sigmoid has e in it: take the "
    "natural logarithm.",
)

QUESTION.mistake(
    "strengths for ratings",
    old=END,
    new="return (s - s.mean()).exp().tolist()",
    hint="You return strengths, the exponentials of the ratings. The ratings are their logarithms, "
    "with mean 0.",
)

QUESTION.mistake(
    "strengths with sum one",
    old=END,
    new="return s.softmax(dim=0).tolist()",
    hint="You return strengths that add up to 1. The ratings are their logarithms, with mean 0.",
)

QUESTION.mistake(
    "logarithms of strengths with sum one",
    old=END,
    new="return s.log_softmax(dim=0).tolist()",
    hint="You return logarithms of strengths that add up to 1. Take their mean off.",
)

QUESTION.mistake(
    "the lowest is the best",
    old="s - s.mean()",
    new="s.mean() - s",
    hint="Your best model has the lowest rating. The signs are the wrong way round: whose points "
    "are those in a vote?",
)

QUESTION.mistake(
    "a tensor",
    old=".tolist()",
    new="",
    hint="You return a tensor. A list of plain numbers is asked for: .tolist() makes one.",
)

QUESTION.mistake(
    "a dict",
    old=END,
    new="return dict(enumerate((s - s.mean()).tolist()))",
    hint="You return a dict. A list is asked for, with the rating of model 0 first.",
)

QUESTION.mistake(
    "sorted",
    old=END,
    new="return sorted((s - s.mean()).tolist(), reverse=True)",
    hint="You sort the ratings, and nobody knows any more whose they are. Model 0 comes first.",
)

QUESTION.mistake(
    "rounded",
    old=END,
    new="return [round(x, 2) for x in (s - s.mean()).tolist()]",
    hint="You round the ratings. They should be exact to 0.0001.",
)

QUESTION.mistake(
    "the votes sorted in place",
    old=START,
    new="votes.sort()\n    " + START,
    hint="The ratings are right, but you have sorted the list that you were given. sorted(...) "
    "makes a new one.",
)
