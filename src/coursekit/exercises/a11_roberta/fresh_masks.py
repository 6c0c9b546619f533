"""Which tokens are hidden in which epoch: RoBERTa's dynamic masking, and the static it replaced."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.exercises.probe import after
from coursekit.exercises.question import Question


def fresh_masks(tokens, special, mask, epoch, seed, copies=None, rate=0.15):
    """tokens (N, T), a whole text -> what is read (N, T) in this epoch, labels (N, T)."""
    version = epoch if copies is None else epoch % copies
    generator = torch.Generator().manual_seed(1000 * seed + version)
    coins = torch.rand(tokens.shape, generator=generator)  # (N, T)
    chosen = ~torch.isin(tokens, torch.tensor(special)) & (coins < rate)
    return tokens.masked_fill(chosen, mask), tokens.masked_fill(~chosen, -100)


QUESTION = Question(
    name="fresh_masks",
    title="New masks in each epoch",
    points=4,
    difficulty=2,
    minutes=25,
    page="roberta.html#sec-roberta-masks",
    hint="Four lines. Which version of the masks is due in this epoch? Make a generator with the "
    "seed that the text says, and draw one coin for every place, special or not, all at once. "
    "Chosen is what is text and has a coin below the rate. Both results are new tensors, made of "
    "`tokens` with masked_fill.",
    reference=fresh_masks,
    forbidden=("coursekit", "torch.manual_seed", "torch.random.manual_seed"),
)


def _text(rows: int, length: int) -> Tensor:
    """Inputs of several lengths with RoBERTa's ids: <s> 0, </s> 2, padding 1, text from 10 on."""
    tokens = torch.arange(rows * length).reshape(rows, length) + 10
    tokens[:, 0] = 0
    for row in range(rows):
        tokens[row, length - 1 - 2 * row :] = 1
        tokens[row, length - 1 - 2 * row] = 2
    tokens[:, length // 3] = 2  # the border of two documents
    return tokens


@QUESTION.visible(says="the first epoch of a small text")
def first_epoch(student):
    return student.fresh_masks(_text(3, 12), [1, 0, 2], 50264, 0, 0, rate=0.4)


@QUESTION.visible(says="four epochs", weight=2)
def four_epochs(student):
    return [student.fresh_masks(_text(2, 10), [1, 0, 2], 3, n, 5, rate=0.5) for n in range(4)]


@QUESTION.visible(says="three copies, seven epochs", weight=2)
def three_copies(student):
    given = [1, 0, 2], 3
    return [student.fresh_masks(_text(2, 8), *given, n, 2, 3, rate=0.5) for n in range(7)]


@QUESTION.visible(says="other seeds, and one copy")
def other_seeds(student):
    runs = [(0, 1), (1, 1), (0, 2), (1, 3)]
    given = _text(2, 9).tolist(), [1, 0, 2]
    return [
        student.fresh_masks(torch.tensor(given[0]), given[1], 3, epoch, seed, copies, 0.5)
        for epoch, seed in runs
        for copies in (None, 1)
    ]


@QUESTION.visible(says="many tokens at the usual rate, other special ids")
def usual_rate(student):
    return student.fresh_masks(_text(8, 40), [2, 1, *range(60, 120), 0], 4, 3, 7)


@QUESTION.visible(says="what was given stays as it was")
def what_was_given_stays(student):
    return after(student.fresh_masks, _text(2, 12), [1, 0, 2], 3, 1, 4, None, 0.6)


QUESTION.mistake(
    "the same seed in each epoch",
    old="1000 * seed + version",
    new="1000 * seed",
    hint="Your masks are the same in every epoch: the number of the epoch does not reach the "
    "generator.",
)

QUESTION.mistake(
    "the seed forgotten",
    old="1000 * seed + version",
    new="version",
    hint="Your masks depend on the epoch alone. Another seed should give other masks.",
)

QUESTION.mistake(
    "seed and epoch added",
    old="1000 * seed",
    new="seed",
    hint="You add seed and epoch, and so seed 1 in epoch 0 has the masks of seed 0 in epoch 1. "
    "The seed counts a thousand times.",
)

QUESTION.mistake(
    "seed and epoch exchanged",
    old="1000 * seed + version",
    new="seed + 1000 * version",
    hint="It is the seed that counts a thousand times, and the epoch once.",
)

QUESTION.mistake(
    "no generator",
    old="torch.rand(tokens.shape, generator=generator)",
    new="torch.rand(tokens.shape)",
    hint="You draw from torch's own chance. What it gives depends on all that was drawn before; "
    "with a generator of your own, seeded in this call, an epoch can be repeated.",
)

QUESTION.mistake(
    "copies forgotten",
    old="epoch if copies is None else epoch % copies",
    new="epoch",
    hint="Your masks are new in each epoch, whatever `copies` says. With three copies epoch 3 has "
    "the masks of epoch 0 again.",
)

QUESTION.mistake(
    "each copy in turn, several times",
    old="epoch % copies",
    new="epoch // copies",
    hint="You divide where the remainder is asked for: with three copies the epochs 0 to 6 use "
    "the versions 0, 1, 2, 0, 1, 2, 0.",
)

QUESTION.mistake(
    "the last copy for ever",
    old="epoch % copies",
    new="min(epoch, copies - 1)",
    hint="When the copies are used up you stay with the last one. They come again from the first.",
)

QUESTION.mistake(
    "one copy unless told otherwise",
    old="copies=None",
    new="copies=1",
    hint="Without `copies` you have one version for all epochs. None means that there is no end "
    "of versions: each epoch has its own.",
)

QUESTION.mistake(
    "the remainder of it all",
    old="epoch if copies is None else epoch % copies\n"
    "    generator = torch.Generator().manual_seed(1000 * seed + version)",
    new="1000 * seed + epoch\n"
    "    version = version if copies is None else version % copies\n"
    "    generator = torch.Generator().manual_seed(version)",
    hint="You take the remainder of seed and epoch together, so that few seeds are left, and two "
    "runs may have the same masks. Only the epoch is taken modulo `copies`.",
)

QUESTION.mistake(
    "drawn once for each epoch before",
    old="manual_seed(1000 * seed + version)\n",
    new="manual_seed(1000 * seed)\n"
    "    for _ in range(version):\n"
    "        torch.rand(tokens.shape, generator=generator)\n",
    hint="You seed with the seed of the run alone, and draw as often as epochs have passed. That "
    "gives new masks as well, but others, and each epoch takes longer than the one before.",
)

QUESTION.mistake(
    "counted from 1",
    old="seed + version",
    new="seed + version + 1",
    hint="You count the versions from 1. Epoch 0 has version 0.",
)

QUESTION.mistake(
    "special tokens too",
    old="~torch.isin(tokens, torch.tensor(special)) & (coins < rate)",
    new="coins < rate",
    hint="You choose [CLS], [SEP] and padding too. None of the ids in `special` may be chosen, "
    "whatever their coins say.",
)

QUESTION.mistake(
    "padding only",
    old="~torch.isin(tokens, torch.tensor(special))",
    new="(tokens != special[0])",
    hint="You leave padding alone, but not the other special ids. `special` is a list: none of "
    "them may be chosen.",
)

QUESTION.mistake(
    "the first three alone",
    old="torch.tensor(special))",
    new="torch.tensor([0, 1, 2]))",
    hint="You leave 0, 1 and 2 alone, RoBERTa's own ids. Which ids are special is told by "
    "`special`, and there may be more of them.",
)

QUESTION.mistake(
    "above the largest special id",
    old="~torch.isin(tokens, torch.tensor(special))",
    new="(tokens > max(special))",
    hint="You take for text what is above the largest special id. Special ids may stand anywhere "
    "in a vocabulary: ask whether a token is one of them.",
)

QUESTION.mistake(
    "coins for text alone",
    old="coins = torch.rand(tokens.shape, generator=generator)  # (N, T)\n"
    "    chosen = ~torch.isin(tokens, torch.tensor(special)) & (coins < rate)",
    new="chosen = ~torch.isin(tokens, torch.tensor(special))\n"
    "    drawn = torch.rand(int(chosen.sum()), generator=generator)\n"
    "    chosen[chosen.clone()] = drawn < rate",
    hint="You draw coins for the text alone, so that all behind a special token get others. Draw "
    "for every place, (N, T); a special token does not look at its coin.",
)

QUESTION.mistake(
    "one draw for all rows",
    old="torch.rand(tokens.shape, generator=generator)",
    new="torch.rand(tokens.shape[1], generator=generator)",
    hint="All your rows are masked at the same places: you draw one row for all, or seed the "
    "generator anew for each. Seed it once, and draw (N, T) from it.",
)

QUESTION.mistake(
    "normal numbers",
    old="torch.rand(",
    new="torch.randn(",
    hint="You draw normal numbers, half of which are below zero. A coin is uniform, from 0 to 1: "
    "torch.rand.",
)

QUESTION.mistake(
    "the lowest coins of each row",
    old="& (coins < rate)",
    new="& (coins.argsort(dim=1).argsort(dim=1) < round(rate * tokens.shape[1]))",
    hint="You choose the same number in each row, those with the lowest coins. Each place is "
    "chosen or not by its own coin: below the rate, wherever the others are.",
)

QUESTION.mistake(
    "the coin the wrong way round",
    old="coins < rate",
    new="coins >= rate",
    hint="You choose the tokens whose coin is the rate or more. It is those below.",
)

QUESTION.mistake(
    "always 15%",
    old="coins < rate",
    new="coins < 0.15",
    hint="You choose 15%, whatever the argument `rate` says.",
)

QUESTION.mistake(
    "labels from what is read",
    old="tokens.masked_fill(chosen, mask), tokens.masked_fill(~chosen, -100)",
    new="tokens.masked_fill(chosen, mask), tokens.masked_fill(~chosen, -100)"
    ".masked_fill(chosen, mask)",
    hint="You take the labels from what the model reads, and so the answer to a mask is a mask. "
    "The answer is the token that was there before.",
)

QUESTION.mistake(
    "labels everywhere",
    old="tokens.masked_fill(~chosen, -100)",
    new="tokens.clone()",
    hint="Every place has a label in yours. Only the chosen ones are asked for; the others get "
    "-100, which the loss leaves out.",
)

QUESTION.mistake(
    "the others asked",
    old="~chosen, -100",
    new="chosen, -100",
    hint="Your -100 is the wrong way round: it stands at the chosen places, and belongs to all "
    "others.",
)

QUESTION.mistake(
    "zero for −100",
    old="-100",
    new="0",
    hint="Where nothing is asked your label is 0. That is a token like any other, and the loss "
    "would ask for it; -100 is the number that it leaves out.",
)

QUESTION.mistake(
    "masks upon masks",
    old="return tokens.masked_fill(chosen, mask), tokens.masked_fill(~chosen, -100)",
    new="labels = tokens.masked_fill(~chosen, -100)\n"
    "    tokens[chosen] = mask\n"
    "    return tokens, labels",
    hint="You write into `tokens`. The masks of this epoch would still be there in the next one, "
    "and at last most of the text would be gone. `read = tokens` is no copy; clone it.",
)

QUESTION.mistake(
    "masks upon masks, then labels",
    old="return tokens.masked_fill(chosen, mask), ",
    new="tokens[chosen] = mask\n    return tokens, ",
    hint="You write into `tokens`, and take the labels from them afterwards: the answers are gone, "
    "and the next epoch begins with these masks. Write into a clone.",
)

QUESTION.mistake(
    "labels first",
    old="tokens.masked_fill(chosen, mask), tokens.masked_fill(~chosen, -100)",
    new="tokens.masked_fill(~chosen, -100), tokens.masked_fill(chosen, mask)",
    hint="Your two results have changed places: what is read comes first, then the labels.",
)

QUESTION.mistake(
    "one in ten stays",
    old="return tokens.masked_fill(chosen, mask)",
    new="fate = torch.rand(tokens.shape, generator=generator)\n"
    "    return tokens.masked_fill(chosen & (fate < 0.8), mask)",
    hint="You leave some of the chosen tokens as they are. Here each of them becomes [MASK]: "
    "BERT's 80/10/10 was the last assignment's.",
)
