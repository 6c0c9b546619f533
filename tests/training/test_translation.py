"""What a translator is trained and measured with, against loops over single sentences."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from coursekit.data.verses import Pair
from coursekit.models.rnnsearch import RNNSearch, RNNSearchConfig
from coursekit.models.seq2seq import Seq2SeqConfig, Seq2SeqTransformer
from coursekit.tokenizers.byte_bpe import ByteBPE
from coursekit.training.translation import (
    END,
    LONGER,
    PAD,
    SPECIAL,
    START,
    bleu,
    collate,
    encode,
    mean_loss,
    translate,
    translation_loss,
)

PAIRS = [
    Pair("In the beginning God created.", "Au commencement, Dieu créa.", "Gen 1:1"),
    Pair("And it was so.", "Et cela fut ainsi.", "Gen 1:7"),
    Pair("God saw that it was good, and he rested.", "Dieu vit que cela était bon.", "Gen 1:10"),
]


@pytest.fixture(scope="module")
def tokenizer():
    texts = [text for pair in PAIRS for text in (pair.english, pair.french)]
    return ByteBPE.train(texts, vocabulary_size=300, special=SPECIAL)


@pytest.fixture(scope="module", params=["transformer", "rnnsearch"])
def model(request, tokenizer):
    torch.manual_seed(0)
    size = len(tokenizer)
    if request.param == "transformer":
        config = Seq2SeqConfig(vocabulary=size, width=16, depth=1, heads=2, hidden=32, dropout=0.3)
        return Seq2SeqTransformer(config)
    sizes = dict.fromkeys(("embedding", "hidden", "alignment", "readout"), 12)
    return RNNSearch(
        RNNSearchConfig(source_vocabulary=size, target_vocabulary=size, dropout=0.3, **sizes)
    )


def test_the_decoder_reads_what_it_should_say_one_place_late(tokenizer):
    pairs = encode(PAIRS, tokenizer)
    batch = collate(pairs)
    for row, pair in enumerate(pairs):
        said = [*pair.target, END]
        assert batch.target_out[row, : len(said)].tolist() == said
        assert batch.target_in[row, : len(said)].tolist() == [START, *pair.target]
        assert (batch.target_out[row, len(said) :] == PAD).all()
        assert tokenizer.decode(pair.target) == PAIRS[row].french


def test_the_mean_loss_is_over_tokens(model, tokenizer):
    pairs = encode(PAIRS, tokenizer)
    total = count = 0
    model.eval()
    for pair in pairs:
        batch = collate([pair])
        shares = model(batch.source, batch.target_in).log_softmax(-1)[0]
        total -= sum(shares[t, word].item() for t, word in enumerate([*pair.target, END]))
        count += len(pair.target) + 1
    assert mean_loss(model, pairs) == pytest.approx(total / count, rel=1e-5)


def test_smoothing_is_for_training_and_what_is_measured_is_plain(model, tokenizer):
    batch = collate(encode(PAIRS, tokenizer))
    model.eval()
    assert translation_loss(0.1)(model, batch)[0] == translation_loss(0.0)(model, batch)[0]
    model.train()
    torch.manual_seed(1)
    smooth, number = translation_loss(0.1)(model, batch)
    torch.manual_seed(1)
    plain, same = translation_loss(0.0)(model, batch)
    assert number == same == (batch.target_out != PAD).sum()
    assert not math.isclose(smooth.item(), plain.item(), rel_tol=1e-4)


def test_a_translation_does_not_depend_on_its_neighbours(model, tokenizer):
    pairs = encode(PAIRS, tokenizer)
    together = translate(model, pairs, tokenizer)
    assert together == [translate(model, [pair], tokenizer)[0] for pair in pairs]


def test_beams_are_for_the_transformer(model, tokenizer):
    pairs = encode(PAIRS, tokenizer)
    if isinstance(model, RNNSearch):
        with pytest.raises(ValueError, match="beams=4"):
            translate(model, pairs, tokenizer, beams=4)
        return
    assert len(translate(model, pairs, tokenizer, beams=4)) == len(pairs)


class Babbler(nn.Module):
    """Says one word without end."""

    def __init__(self, tokenizer) -> None:
        super().__init__()
        config = Seq2SeqConfig(vocabulary=len(tokenizer), width=4, depth=1, heads=1, hidden=4)
        self.inner = Seq2SeqTransformer(config)
        nn.init.zeros_(self.inner.embedding.weight)
        self.word = tokenizer.encode("God")[0]

    def start(self, source):
        return self.inner.start(source)

    def decode(self, tokens, state):
        logits = self.inner.decode(tokens, state)
        logits[:, self.word] = 1.0
        return logits


@pytest.mark.parametrize("beams", [1, 2])
def test_who_never_ends_is_stopped(tokenizer, beams):
    pairs = encode(PAIRS, tokenizer)
    babbler = Babbler(tokenizer)
    word = tokenizer.decode([babbler.word])
    for text, pair in zip(translate(babbler, pairs, tokenizer, beams=beams, alpha=2.0), pairs):
        assert text.count(word) <= len(pair.source) + LONGER
        if beams == 1:
            assert text.count(word) == len(pair.source) + LONGER


def test_bleu_is_that_of_the_whole_corpus():
    french = [pair.french for pair in PAIRS]
    assert bleu(french, french) == pytest.approx(100)
    worse = [french[0], "Et cela fut autrement.", french[2]]
    assert 0 < bleu(worse, french) < 100
    # A sentence without any four words in a row has no BLEU of its own; in a corpus it counts.
    assert bleu(["Et cela"], ["Et cela fut ainsi."]) < 20 < bleu(worse, french)


def test_a_tokenizer_without_the_special_tokens_in_front_is_refused(tokenizer):
    other = ByteBPE.train(["abc"], vocabulary_size=260)
    with pytest.raises(ValueError, match="the first tokens must be <pad>, <start>, <end>"):
        encode(PAIRS, other)
