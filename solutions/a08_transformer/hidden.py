"""The hidden cases of assignment 8: students may read what a case `says`, and nothing else."""

import itertools

import torch

from coursekit.exercises import hidden
from coursekit.exercises.probe import after, gradients, module_gradients, randn

# --- teacher_forcing


@hidden("teacher_forcing", says="sentences of one symbol")
def forcing_one(student):
    return student.teacher_forcing(torch.tensor([[2], [2], [0]]))


@hidden("teacher_forcing", says="a row of nothing but padding")
def forcing_empty(student):
    return student.teacher_forcing(torch.tensor([[0, 0, 0], [4, 2, 0]]))


@hidden("teacher_forcing", says="large numbers for words", weight=2)
def forcing_large(student):
    target = torch.tensor([[31_999, 17, 250_000, 65_536, 36_998], [8, 36_998, 11, 11, 11]])
    return student.teacher_forcing(target, 36_997, 11)


@hidden("teacher_forcing", says="the start symbol is also a word of the sentence")
def forcing_start_again(student):
    return student.teacher_forcing(torch.tensor([[1, 1, 5, 2, 0], [7, 1, 2, 0, 0]]))


@hidden("teacher_forcing", says="the target is left as it was", weight=2)
def forcing_keeps(student):
    return after(student.teacher_forcing, torch.tensor([[6, 5, 2, 0], [9, 8, 7, 2]]), 3, 0)


# --- TiedEmbedding


def tied(student, vocabulary, width, seed=40, scale=1.0):
    embedding = student.TiedEmbedding(width=width, vocabulary=vocabulary)
    embedding.load_state_dict({"weight": randn(vocabulary, width, seed=seed) * scale})
    return embedding


@hidden("TiedEmbedding", says="several axes in front", weight=2)
def tied_axes(student):
    module = tied(student, 9, 5)
    tokens = torch.tensor([[[0, 8], [3, 3], [7, 1]], [[2, 2], [5, 6], [4, 0]]])
    return module(tokens), module.scores(randn(2, 3, 2, 5, seed=1))


@hidden("TiedEmbedding", says="a single word, and a single vector")
def tied_single(student):
    module = tied(student, 4, 9)
    return module(torch.tensor(3)), module.scores(randn(9, seed=2))


@hidden("TiedEmbedding", says="gradients at the matrix, for words that come and words that do not")
def tied_gradients(student):
    return module_gradients(tied(student, 6, 4), torch.tensor([[1, 1, 5], [0, 1, 5]]))


@hidden("TiedEmbedding", says="gradients of the scores")
def tied_score_gradients(student):
    return gradients(tied(student, 6, 4).scores, randn(2, 3, 4, seed=3))


@hidden("TiedEmbedding", says="a wide one starts at the right size", weight=2)
def tied_fresh(student):
    weight = student.TiedEmbedding(vocabulary=300, width=400).state_dict()["weight"]
    return abs(float(weight.std()) * 20 - 1) < 0.03


@hidden("TiedEmbedding", says="the numbers of a fresh one are normal")
def tied_normal(student):
    weight = student.TiedEmbedding(vocabulary=300, width=400).state_dict()["weight"]
    far = (weight.abs() * 20 > 2).float().mean()  # 4.6% of normal numbers lie beyond two sigmas
    return 0.03 < float(far) < 0.06


@hidden("TiedEmbedding", says="width one")
def tied_narrow(student):
    module = tied(student, 5, 1)
    return module(torch.tensor([[4, 0]])), module.scores(torch.tensor([[2.0]]))


# --- smoothed_loss


def some_labels():
    return torch.tensor([[4, 9, 2, 1, 7, 1], [3, 1, 1, 1, 1, 1], [8, 5, 6, 4, 2, 1]])


@hidden("smoothed_loss", says="another padding symbol, longer sentences", weight=2)
def loss_padded(student):
    return student.smoothed_loss(3 * randn(3, 6, 10, seed=5), some_labels(), 1)


@hidden("smoothed_loss", says="what is predicted at padding does not matter", weight=2)
def loss_noise_at_padding(student):
    logits = randn(3, 6, 10, seed=6)
    noise = 20 * randn(3, 6, 10, seed=7) * (some_labels() == 1)[..., None]
    first = student.smoothed_loss(logits, some_labels(), 1)
    second = student.smoothed_loss(logits + noise, some_labels(), 1)
    assert (first - second).abs() < 1e-5
    return second


@hidden("smoothed_loss", says="one row more of padding changes nothing")
def loss_more_padding(student):
    logits = randn(4, 6, 10, seed=8)
    labels = torch.cat([some_labels(), torch.ones_like(some_labels()[:1])])
    return student.smoothed_loss(logits, labels, 1)


@hidden("smoothed_loss", says="logits in the thousands")
def loss_extreme(student):
    return student.smoothed_loss(3000 * randn(2, 6, 10, seed=9), some_labels()[:2], 1)


@hidden("smoothed_loss", says="double precision", tolerance=1e-6)
def loss_double(student):
    logits = 2 * randn(3, 6, 10, seed=10, dtype=torch.float64)
    return student.smoothed_loss(logits, some_labels(), 1, 0.25)


@hidden("smoothed_loss", says="the lowest loss that there is")
def loss_lowest(student):
    logits = torch.tensor([0.9, 0.02, 0.02, 0.02, 0.02, 0.02]).log().expand(1, 2, 6)
    labels = torch.tensor([[0, 0]])
    best = student.smoothed_loss(logits, labels, 5, 0.12)
    surer = student.smoothed_loss(3 * logits, labels, 5, 0.12)
    assert best < surer
    return best, surer


@hidden("smoothed_loss", says="gradients at the logits", weight=2)
def loss_gradients(student):
    return gradients(student.smoothed_loss, randn(3, 6, 10, seed=11), some_labels(), 1)


@hidden("smoothed_loss", says="logits and labels are left as they were")
def loss_keeps(student):
    return after(student.smoothed_loss, randn(3, 6, 10, seed=12), some_labels(), 1)


# --- beam_search


@hidden("beam_search", says="many words, five beams", weight=2)
def beam_large(student):
    return student.beam_search(2 * randn(30, 30, seed=5), 1, 5, 0, 12, 0.6)


@hidden("beam_search", says="other symbols for start and end", weight=2)
def beam_other_symbols(student):
    table = 2 * randn(5, 5, seed=111)
    order = torch.tensor([3, 4, 2, 0, 1])
    return student.beam_search(table[order][:, order], 4, 2, 3, 5, 0.6)


@hidden("beam_search", says="so many beams that nothing is overlooked", weight=2)
def beam_everything(student):
    table = randn(4, 4, seed=24)
    shares = torch.log_softmax(table, -1)
    best = -torch.inf
    for length in (1, 2, 3, 4):
        for text in itertools.product(range(4), repeat=length):
            whole = 0 not in text[:-1] and (text[-1] == 0 or length == 4)
            total = sum(float(shares[a, b]) for a, b in zip((1, *text), text))
            best = max(best, total / ((5 + length) / 6) ** 0.7) if whole else best
    text, score = student.beam_search(table, 1, 150, 0, 4, 0.7)
    assert abs(score - best) < 1e-4
    return text, score


@hidden("beam_search", says="a larger table, one symbol at most")
def beam_one_symbol(student):
    return student.beam_search(randn(9, 9, seed=22), 1, 4, 0, 1, 0.6)


@hidden("beam_search", says="words that cannot follow")
def beam_impossible(student):
    table = 2 * randn(6, 6, seed=23)
    table[table < -1] = -torch.inf
    table[:, 3] = -torch.inf
    return student.beam_search(table, 1, 4, 0, 6, 0.6)


@hidden("beam_search", says="a number added to a whole row of logits changes nothing", weight=2)
def beam_moved(student):
    table = 2 * randn(5, 5, seed=72)
    moved = table + torch.tensor([[3.0], [-4.0], [10.0], [0.0], [-7.0]])
    return student.beam_search(moved, 1, 3, 0, 6, 2.0)


@hidden("beam_search", says="places of finished texts are filled again", weight=2)
def beam_refilled(student):
    return student.beam_search(randn(6, 6, seed=48), 1, 3, 0, 6, 2.0)


@hidden("beam_search", says="two beams, and an end that is nearly as good as a word")
def beam_early_end(student):
    return student.beam_search(randn(4, 4, seed=82), 1, 2, 0, 5, 0.6)


@hidden("beam_search", says="the table is left as it was")
def beam_keeps(student):
    return after(student.beam_search, randn(5, 5, seed=24), 1, 3, 0, 4)


# --- bleu


def score(student, *pairs):
    ours, theirs = ([line.split() for line in side] for side in zip(*pairs))
    return student.bleu(ours, theirs)


FLOOD = (
    "and the waters rose and rose upon the earth and the earth was covered",
    "and the waters rose upon the earth greatly and all the earth was covered",
)
DOVE = ("he sent out a dove from him", "then he sent forth a dove")
CALL = ("who is there", "who is there ?")
YES = ("yes", "yes my lord")


@hidden("bleu", says="a corpus of two sentences", weight=2)
def bleu_two(student):
    return score(student, FLOOD, DOVE)


@hidden("bleu", says="sentences of fewer than four words among others", weight=2)
def bleu_short(student):
    return score(student, FLOOD, CALL, YES)


@hidden("bleu", says="short sentences only, and so no 4-gram at all")
def bleu_no_fourth(student):
    return score(student, CALL, YES)


@hidden("bleu", says="one sentence too long, one too short, just long enough together", weight=2)
def bleu_balanced(student):
    long, short = "a b c d e f g h i j", "a b c d e f"
    return score(student, (long, short), (short, long))


@hidden("bleu", says="an empty translation among others")
def bleu_one_empty(student):
    return score(student, ("", "and it was so"), FLOOD)


@hidden("bleu", says="nothing but empty translations")
def bleu_all_empty(student):
    return score(student, ("", "and it was so"), ("", "yes"))


@hidden("bleu", says="a word said too often, in two sentences")
def bleu_repeated(student):
    return score(
        student,
        ("very very very very good it was very good", "it was very very very very good"),
        ("very good", "it was good"),
    )


@hidden("bleu", says="the order of the sentences does not matter")
def bleu_shuffled(student):
    forwards = score(student, FLOOD, DOVE, CALL)
    backwards = score(student, CALL, DOVE, FLOOD)
    assert abs(forwards - backwards) < 1e-9
    return backwards


# --- average_weights


def saved(count, dtype=torch.float32, scale=1.0):
    return [
        {
            "blocks.0.weight": (scale * randn(2, 5, seed=60 + step)).to(dtype),
            "blocks.0.index": torch.tensor([3, 1, 4]),
            "bias": (scale * randn(5, seed=90 + step)).to(dtype),
        }
        for step in range(count)
    ]


@hidden("average_weights", says="twenty checkpoints", weight=2)
def average_twenty(student):
    return student.average_weights(saved(20))


@hidden("average_weights", says="double precision", tolerance=1e-12)
def average_double(student):
    names = ("blocks.0.weight", "bias")
    states = [{name: state[name] for name in names} for state in saved(3, torch.float64, 1e8)]
    return {name: mean / 1e8 for name, mean in student.average_weights(states).items()}


@hidden("average_weights", says="16-bit weights", weight=2)
def average_sixteen(student):
    return student.average_weights(saved(6, torch.float16, 20_000.0))  # their sum is too large


@hidden("average_weights", says="bfloat16 weights")
def average_bfloat(student):
    return student.average_weights(saved(3, torch.bfloat16))


@hidden("average_weights", says="a table of True and False")
def average_bools(student):
    table = torch.tensor([[True, False], [True, True]])
    states = [{"mask": table.clone(), "w": randn(2, seed=step)} for step in range(3)]
    return student.average_weights(states)


@hidden("average_weights", says="the checkpoints are left as they were")
def average_keeps(student):
    return after(student.average_weights, saved(4))
