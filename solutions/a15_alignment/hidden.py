"""The hidden cases of assignment 15: students may read what a case `says`, and nothing else."""

import torch

from coursekit.exercises import hidden
from coursekit.exercises.probe import after, gradients, randn

# --- marginal_loss


def retrieved(questions, documents, seed, dtype=torch.float32):
    """Return relevances, and log probabilities of short answers."""
    relevance = 2 * randn(questions, documents, seed=seed, dtype=dtype)
    return relevance, -0.1 - 3 * randn(questions, documents, seed=seed + 1, dtype=dtype).abs()


@hidden("marginal_loss", says="many questions and many documents", weight=2)
def marginal_many(student):
    return student.marginal_loss(*retrieved(20, 32, seed=201))


@hidden("marginal_loss", says="one document a question, and one question")
def marginal_one(student):
    return student.marginal_loss(*retrieved(5, 1, seed=203)), student.marginal_loss(
        *retrieved(1, 7, seed=205)
    )


@hidden("marginal_loss", says="as many questions as documents: gradients", weight=2)
def marginal_gradients(student):
    return gradients(student.marginal_loss, *retrieved(4, 4, seed=207))


@hidden("marginal_loss", says="double precision", tolerance=1e-12)
def marginal_double(student):
    return student.marginal_loss(*retrieved(3, 5, seed=209, dtype=torch.float64))


@hidden("marginal_loss", says="very long answers: gradients")
def marginal_long(student):
    relevance, logs = retrieved(3, 4, seed=211)
    given = 100 * relevance - 5000, 30 * logs - torch.tensor([[900.0], [400.0], [2000.0]])
    return gradients(student.marginal_loss, *given)


@hidden("marginal_loss", says="gradients where all documents but one make the answer impossible")
def marginal_impossible(student):
    relevance, logs = retrieved(3, 4, seed=213)
    logs[0, 1:], logs[2, :3] = -torch.inf, -torch.inf
    found = gradients(student.marginal_loss, relevance, logs - 300)
    return found, student.marginal_loss(relevance, logs - 2000)


@hidden("marginal_loss", says="equal documents: relevance does not matter")
def marginal_equal(student):
    relevance, _ = retrieved(2, 6, seed=215)
    return gradients(student.marginal_loss, relevance, torch.full((2, 6), -1.5))


@hidden("marginal_loss", says="what was given is left as it was")
def marginal_keeps(student):
    return after(student.marginal_loss, *retrieved(3, 3, seed=217))


# --- pair_reward_loss


def judged(pairs, seed, scale=2.0, dtype=torch.float32):
    return tuple(scale * randn(pairs, seed=seed + n, dtype=dtype) for n in (0, 1))


@hidden("pair_reward_loss", says="many pairs", weight=2)
def pair_many(student):
    return student.pair_reward_loss(*judged(50, seed=221))


@hidden("pair_reward_loss", says="margins, a large one too")
def pair_margins(student):
    return [student.pair_reward_loss(*judged(6, seed=223), margin) for margin in (0.0, 1.0, 30.0)]


@hidden("pair_reward_loss", says="another zero of the rewards, the same loss")
def pair_zero(student):
    chosen, rejected = judged(4, seed=225)
    return [student.pair_reward_loss(chosen + zero, rejected + zero, 0.5) for zero in (0.0, 8.0)]


@hidden("pair_reward_loss", says="equal rewards")
def pair_equal(student):
    return gradients(student.pair_reward_loss, torch.ones(3), torch.ones(3))


@hidden("pair_reward_loss", says="double precision", tolerance=1e-12)
def pair_double(student):
    return student.pair_reward_loss(*judged(5, seed=227, dtype=torch.float64), 0.25)


@hidden("pair_reward_loss", says="gradients of leads in the thousands, with a margin")
def pair_thousands(student):
    return gradients(student.pair_reward_loss, *judged(6, seed=229, scale=2000.0), 3.0)


@hidden("pair_reward_loss", says="what was given is left as it was", weight=0.5)
def pair_keeps(student):
    return after(student.pair_reward_loss, *judged(4, seed=231), 0.5)


# --- prefer and kl_of_sample


def spoken(begins, ends, length, seed, scale=1.0, dtype=torch.float32):
    """Return log probabilities under two models, one row for each begin, and where answers are."""
    ours, theirs = (
        -scale * randn(len(begins), length, seed=seed + n, dtype=dtype).abs() for n in (0, 1)
    )
    place = torch.arange(length)
    answer = (place >= torch.tensor(begins)[:, None]) & (place < torch.tensor(ends)[:, None])
    return ours, theirs, answer


def paired(pairs, length, seed, **more):
    """Return the same for both texts of each pair: (2, B, T)."""
    begins = [1 + (3 * n) % 4 for n in range(2 * pairs)]
    ends = [length - (2 * n) % 5 for n in range(2 * pairs)]
    return [x.reshape(2, pairs, length) for x in spoken(begins, ends, length, seed, **more)]


@hidden("prefer", says="many pairs", weight=2)
def prefer_many(student):
    return student.prefer(*paired(24, 16, seed=241))


@hidden("prefer", says="four values of beta")
def prefer_betas(student):
    return [student.prefer(*paired(4, 12, seed=243), beta) for beta in (0.01, 0.1, 0.7, 5.0)]


@hidden("prefer", says="a policy that is its reference still")
def prefer_start(student):
    policy, _, answer = paired(3, 10, seed=245)
    return gradients(student.prefer, policy, policy.clone(), answer, 0.3)


@hidden("prefer", says="gradients of long answers beside short ones", weight=2)
def prefer_gradients(student):
    given = spoken([1, 8, 3, 2, 5, 9], [10, 9, 4, 10, 10, 10], 10, seed=247)
    return gradients(student.prefer, *(x.reshape(2, 3, 10) for x in given), 0.5)


@hidden("prefer", says="double precision", tolerance=1e-12)
def prefer_double(student):
    return student.prefer(*paired(3, 9, seed=249, dtype=torch.float64), 0.2)


@hidden("prefer", says="gradients with nan and infinities in prompts and padding")
def prefer_outside(student):
    policy, reference, answer = paired(4, 11, seed=251)
    policy[0][~answer[0]], reference[1][~answer[1]] = torch.nan, -torch.inf
    policy[1][~answer[1]], reference[0][~answer[0]] = -torch.inf, torch.inf
    return gradients(student.prefer, policy, reference, answer, 0.3)


@hidden("prefer", says="pairs that are badly wrong, and clearly right")
def prefer_huge(student):
    return gradients(student.prefer, *paired(5, 9, seed=253, scale=2000.0), 0.5)


@hidden("prefer", says="what was given is left as it was")
def prefer_keeps(student):
    return after(student.prefer, *paired(3, 9, seed=255))


@hidden("kl_of_sample", says="many answers", weight=2)
def kl_many(student):
    begins, ends = [1 + n % 6 for n in range(40)], [14 - n % 7 for n in range(40)]
    return student.kl_of_sample(*spoken(begins, ends, 14, seed=261))


@hidden("kl_of_sample", says="one answer")
def kl_one(student):
    return student.kl_of_sample(*spoken([2], [6], 8, seed=263))


@hidden("kl_of_sample", says="a policy that is its reference still")
def kl_start(student):
    policy, _, answer = spoken([1, 2, 3], [5, 6, 4], 7, seed=265)
    return student.kl_of_sample(policy, policy.clone(), answer)


@hidden("kl_of_sample", says="no gradient, and ratios of both signs", weight=2)
def kl_gradients(student):
    policy, reference, answer = spoken([1, 3, 2, 4], [8, 5, 9, 9], 9, seed=267, scale=3.0)
    return gradients(student.kl_of_sample, policy - 0.5, reference, answer)


@hidden("kl_of_sample", says="double precision", tolerance=1e-12)
def kl_double(student):
    given = spoken([1, 3, 2, 4], [8, 5, 9, 9], 9, seed=269, dtype=torch.float64)
    return student.kl_of_sample(*given)


@hidden("kl_of_sample", says="nan in prompts, infinities in padding, and no answer at all in one")
def kl_outside(student):
    ours, theirs, marked = spoken([2, 1, 3, 4], [6, 1, 8, 9], 9, seed=271)
    ours[~marked], theirs[:, 4:][~marked[:, 4:]] = torch.nan, -torch.inf
    return student.kl_of_sample(ours, theirs, marked)


@hidden("kl_of_sample", says="what was given is left as it was", weight=0.5)
def kl_keeps(student):
    return after(student.kl_of_sample, *spoken([1, 3, 2], [4, 5, 7], 7, seed=273))


# --- ratings


def cast(strengths, count, seed, ties=0.25):
    """Return votes on such models; a ring of them makes sure that nobody is unbeaten."""
    dice, models = torch.Generator().manual_seed(7000 + seed), len(strengths)
    votes = [((n + 1) % models, n, 1.0) for n in range(models)]
    while len(votes) < models + count:
        left, right = torch.randperm(models, generator=dice).tolist()[:2]
        luck, draw = (float(torch.rand((), generator=dice)) for _ in range(2))
        chance = torch.tensor(strengths[left] - strengths[right]).sigmoid().item()
        votes.append((left, right, 0.5 if draw < ties else float(luck < chance)))
    return votes


@hidden("ratings", says="eight models, three hundred votes", weight=2, tolerance=1e-4)
def ratings_eight(student):
    return student.ratings(cast([0.3, -0.8, 1.2, 0.0, -0.2, 0.7, -1.5, 0.4], 300, seed=1), 8)


@hidden("ratings", says="the same votes, shuffled and with the models exchanged", tolerance=1e-4)
def ratings_order(student):
    votes = cast([0.5, -0.5, 1.0, -1.0, 0.0], 40, seed=2)
    order = torch.randperm(len(votes), generator=torch.Generator().manual_seed(3)).tolist()
    shuffled = [votes[n] for n in order]
    turned = [
        (b, a, 1 - points) if n % 2 else (a, b, points) for n, (a, b, points) in enumerate(shuffled)
    ]
    return [student.ratings(given, 5) for given in (votes, shuffled, turned)]


@hidden("ratings", says="most votes are draws", tolerance=1e-4)
def ratings_draws(student):
    return student.ratings(cast([1.0, 0.0, -1.0, 0.3], 40, seed=4, ties=0.8), 4)


@hidden("ratings", says="a chain of ten, each beside its neighbours alone", tolerance=1e-4)
def ratings_chain(student):
    votes = [(n + 1, n, float((k + n) % 4 != 0)) for n in range(9) for k in range(4)]
    return student.ratings(votes, 10)


@hidden("ratings", says="one who has met the weak ones only", weight=2, tolerance=1e-4)
def ratings_weak(student):
    pairs = {
        (0, 1): (3, 1),
        (1, 2): (4, 2),
        (0, 2): (5, 2),
        (3, 2): (6, 1),
        (3, 4): (7, 2),
        (4, 2): (1, 2),
    }
    votes = []
    for (a, b), (wins, losses) in pairs.items():
        votes += [(a, b, 1.0)] * wins + [(a, b, 0.0)] * losses
    return student.ratings(votes, 5)


@hidden("ratings", says="strong and weak far apart", tolerance=1e-4)
def ratings_far(student):
    first, second = [(0, 1, 1.0)] * 99 + [(1, 0, 1.0)], [(1, 2, 1.0)] * 40 + [(2, 1, 0.5)]
    return student.ratings(first + second, 3)


@hidden("ratings", says="two models that are equal", tolerance=1e-4)
def ratings_equal(student):
    votes = [(0, 1, 1.0), (0, 1, 0.0), (0, 1, 0.5)]
    return student.ratings(votes, 2), student.ratings([*votes, (1, 0, 1.0)], 2)


@hidden("ratings", says="the votes are left as they were", weight=0.5, tolerance=1e-4)
def ratings_keeps(student):
    return after(student.ratings, cast([0.2, -0.2, 0.6], 9, seed=5), 3)
