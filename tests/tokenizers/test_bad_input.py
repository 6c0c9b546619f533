"""Bad input to any tokenizer gets a message that names the argument."""

from __future__ import annotations

import pytest

from coursekit import tokenizers as t

from ..refusals import Good, New, missing, public

TEXTS = ["low lower lowest new newer"]
LETTERS = ["l", "o", "w", "e", "r"]
WORDS = {"\0\1\2": 3, "\0\1\2\3\4": 2}  # low and lower in the private alphabet
LEARN = {"words": WORDS, "tokens": New(lambda: list(LETTERS)), "size": 7}
BYTES = {number: bytes([number]) for number in range(256)}
TRAIN = {"texts": TEXTS, "vocabulary_size": 300}
SCORES = {letter: -1.0 for letter in LETTERS}
UNKNOWN = {"special": ("[UNK]",), "unknown": "[UNK]"}

# These files load no torch and so no checks; they refuse what a text or a file can get wrong.
OF_CODE = "remember longest unknown"

TABLE = {
    "BPE": lambda: Good(t.BPE, {"vocabulary": [*LETTERS, "</w>"], "merges": []}, free=OF_CODE),
    "BPE.train": lambda: Good(t.BPE.train, TRAIN),
    "ByteBPE": lambda: Good(t.ByteBPE, {"vocabulary": BYTES, "merges": []}, free=OF_CODE),
    "ByteBPE.train": lambda: Good(t.ByteBPE.train, TRAIN),
    "Characters": lambda: Good(t.Characters, {"vocabulary": LETTERS}, free=OF_CODE),
    "Characters.train": lambda: Good(t.Characters.train, TRAIN),
    "learn_merges_simple": lambda: Good(t.learn_merges_simple, LEARN, free="size"),
    "learn_merges": lambda: Good(t.learn_merges, LEARN, free="size"),
    "best_segmentation": lambda: Good(
        t.best_segmentation, {"word": "low", "scores": SCORES, "longest": 2}, free=OF_CODE
    ),
    "expected_counts": lambda: Good(
        t.expected_counts, {"word": "low", "scores": SCORES, "longest": 2}, free=OF_CODE
    ),
    "seed_pieces": lambda: Good(t.seed_pieces, {"words": WORDS, "size": 9}, free="size"),
    "Unigram": lambda: Good(t.Unigram, {"vocabulary": LETTERS, "scores": [-1.0] * 5}, free=OF_CODE),
    "Unigram.train": lambda: Good(t.Unigram.train, TRAIN, free="seeds"),
    "WordPiece": lambda: Good(
        t.WordPiece, {"vocabulary": ["[UNK]", *LETTERS], **UNKNOWN}, free=OF_CODE
    ),
    "WordPiece.train": lambda: Good(t.WordPiece.train, TRAIN),
    "Words": lambda: Good(t.Words, {"vocabulary": LETTERS}, free=OF_CODE),
    "Words.train": lambda: Good(t.Words.train, TRAIN),
}  # fmt: skip


def test_every_tokenizer_has_an_entry():
    assert missing(TABLE, public(t, t.__all__)) == []


@pytest.mark.parametrize("name", TABLE)
def test_bad_input_is_refused_by_name(name):
    assert TABLE[name]().faults() == []
