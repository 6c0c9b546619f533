"""What assignment 8 calls right is what the course's decoder, its model and sacrebleu say."""

from __future__ import annotations

import itertools
import random
from types import SimpleNamespace

import ours
import pytest
import torch

from coursekit.check.probe import randn
from coursekit.decoding import generation as decoding
from coursekit.models.seq2seq import Seq2SeqConfig, Seq2SeqTransformer

RIGHT = {question.name: question.reference for question in ours.load("a08_transformer").questions}
END, START = 0, 1


class Table:
    """A decoder that looks back by one word."""

    def __init__(self, table):
        self.table = table

    def decode(self, tokens, state):
        return self.table[tokens[:, -1]]


def rated(logs, text, alpha):
    total = sum(float(logs[a, b]) for a, b in zip((START, *text), text))
    return total / ((5 + len(text)) / 6) ** alpha


# words, seed, scale, beams, longest, alpha. In the last two it counts that the place of a finished
# text is filled again.
TABLES = [
    (*sizes, *search)
    for sizes in itertools.product((4, 5, 7), range(12), (1.0, 2.0))
    for search in ((1, 5, 0.6), (3, 6, 1.5))
] + [(5, 72, 2.0, 3, 6, 2.0), (6, 48, 1.0, 3, 6, 2.0)]


@pytest.mark.parametrize(("words", "seed", "scale", "beams", "longest", "alpha"), TABLES)
def test_the_search_finds_what_the_courses_own_finds(words, seed, scale, beams, longest, alpha):
    table = scale * randn(words, words, seed=seed)
    theirs = decoding.beam_search(
        Table(table),
        torch.tensor([[START]]),
        SimpleNamespace(reorder=lambda index: None),
        beams=beams,
        longest=longest,
        end=END,
        alpha=alpha,
        stop="never",
    )
    text, worth = RIGHT["beam_search"](table, START, beams, END, longest, alpha)
    # The text itself may differ: two that make the same steps in another order are equally good.
    assert worth == pytest.approx(float(theirs.scores[0, 0]), abs=1e-4)
    assert worth == pytest.approx(rated(table.log_softmax(dim=-1), text, alpha), abs=1e-4)


@pytest.mark.parametrize("stop", ["hopeless", "full"])
def test_a_search_that_stops_sooner_can_miss_a_better_text(stop):
    table = torch.tensor([[0.98, 0.01, 0.01], [0.45, 0.15, 0.40], [0.01, 0.01, 0.98]]).log()
    theirs = decoding.beam_search(
        Table(table),
        torch.tensor([[START]]),
        SimpleNamespace(reorder=lambda index: None),
        beams=1,
        longest=12,
        end=END,
        alpha=2.0,
        stop=stop,
    )
    _, worth = RIGHT["beam_search"](table, START, 1, END, 12, 2.0)
    assert theirs.tokens[0, 0].tolist() == [END] and float(theirs.scores[0, 0]) < worth - 0.1


@pytest.mark.parametrize("seed", range(5))
def test_with_beams_enough_nothing_is_better(seed):
    table = randn(4, 4, seed=seed)
    logs = table.log_softmax(dim=-1)
    texts = (text for n in (1, 2, 3, 4) for text in itertools.product(range(4), repeat=n))
    whole = [text for text in texts if END not in text[:-1] and (text[-1] == END or len(text) == 4)]
    found, score = RIGHT["beam_search"](table, START, 200, END, 4, 0.6)
    assert tuple(found) == max(whole, key=lambda text: rated(logs, text, 0.6))
    assert score == pytest.approx(rated(logs, found, 0.6), abs=1e-5)


def test_bleu_is_sacrebleus():
    sacrebleu = pytest.importorskip("sacrebleu", reason="sacrebleu is not installed")
    draw = random.Random(0)
    above = 0
    for _ in range(150):
        said, wanted = [], []
        for _ in range(draw.randint(1, 5)):
            right = draw.choices("abcd", k=draw.randint(1, 12))
            tried = [word if draw.random() < 0.8 else draw.choice("abcd") for word in right]
            said.append(tried[: draw.randint(1, 14)] + draw.choices("abcd", k=draw.randint(0, 3)))
            wanted.append(right)
        theirs = sacrebleu.corpus_bleu(
            [" ".join(words) for words in said],
            [[" ".join(words) for words in wanted]],
            tokenize="none",
            smooth_method="none",
            force=True,
        )
        score = RIGHT["bleu"](said, wanted)
        assert score == pytest.approx(theirs.score, abs=1e-9)
        above += score > 0
    assert above > 75  # not all of them are 0


def test_the_shared_matrix_is_the_models():
    config = Seq2SeqConfig(vocabulary=11, width=8, depth=1, heads=2, hidden=16)
    model = Seq2SeqTransformer(config).eval()
    tied = RIGHT["TiedEmbedding"](vocabulary=11, width=8)
    tied.load_state_dict({"weight": model.embedding.weight.detach()})
    tokens, hidden = torch.tensor([[3, 1, 10]]), randn(1, 3, 8)
    waves = model.target_positions(torch.zeros(1, 3, 8), 0)
    assert torch.allclose(tied(tokens) + waves, model.embed_target(tokens, 0), atol=1e-6)
    assert torch.allclose(tied.scores(hidden), model.logits(hidden), atol=1e-6)
