"""The two extremes: a token a word, a token a character."""

from __future__ import annotations

import pytest

from coursekit.tokenizers.characters import Characters
from coursekit.tokenizers.words import Words


def test_the_reference_learns_and_encodes_the_same_words(corpus):
    hf = pytest.importorskip("tokenizers")
    ours = Words.train(corpus, vocabulary_size=800, special=["<pad>"])
    peer = hf.Tokenizer(hf.models.WordLevel(unk_token="[UNK]"))
    peer.pre_tokenizer = hf.pre_tokenizers.Whitespace()
    trainer = hf.trainers.WordLevelTrainer(
        vocab_size=800, special_tokens=["<pad>", "[UNK]"], show_progress=False
    )
    peer.train_from_iterator(corpus, trainer)
    assert [ours.id_to_token(i) for i in range(800)] == [peer.id_to_token(i) for i in range(800)]
    for line in corpus:
        want = peer.encode(line)
        ids, spans = ours.encode_with_offsets(line)
        assert ids == want.ids
        assert spans == [tuple(span) for span in want.offsets]


def test_words_keep_their_marks():
    ours = Words.train(["हिन्दी में, é don't snake_case 3.14"], vocabulary_size=30)
    want = ["हिन्दी", "में", ",", "é", "don", "'", "t", "snake_case", "3", ".", "14"]
    assert ours.tokens("हिन्दी में, é don't snake_case 3.14") == want


def test_the_most_frequent_are_kept():
    ours = Words.train(["b a b c", "c c"], vocabulary_size=3)
    assert [ours.id_to_token(i) for i in range(3)] == ["[UNK]", "c", "b"]
    assert ours.encode("a b c d") == [0, 2, 1, 0]
    ours = Characters.train(["banana"], vocabulary_size=3)
    assert [ours.id_to_token(i) for i in range(3)] == ["[UNK]", "a", "n"]
    assert ours.decode(ours.encode("banana")) == "[UNK]anana"


def test_a_word_that_looks_like_a_special_token_is_unknown():
    ours = Words(["pad", "low"], special=["pad"], unknown="[UNK]")
    assert ours.encode("pad low") == [2, 1]
    assert ours.encode("pad low", allowed_special="all") == [0, 1]


def test_a_token_stands_once():
    with pytest.raises(ValueError, match="found 'a' twice"):
        Characters(["a", "b", "a"])
