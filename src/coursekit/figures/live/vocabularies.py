"""The four tokenizers of the chapter "Tokenization": vocabularies that a page has without weights.

All have 2,000 tokens, learned from the same 3,000 short English verses. Unigram's are read from a
file, which `scripts/make_unigram.py` makes; the others are learned in a second.
"""

from __future__ import annotations

from functools import cache

from coursekit.data.cards import FILES
from coursekit.data.verses import verses
from coursekit.tokenizers.base import Tokenizer
from coursekit.tokenizers.bpe import BPE
from coursekit.tokenizers.byte_bpe import ByteBPE
from coursekit.tokenizers.unigram import Unigram
from coursekit.tokenizers.wordpiece import WordPiece

SIZE, VERSES, LONGEST, SEEDS = 2000, 3000, 20, 6000
UNIGRAM = FILES / "unigram.json"


@cache
def four() -> dict[str, Tokenizer]:
    """Return the chapter's four tokenizers, each with its name there."""
    texts = learned_from()
    return {
        "BPE": BPE.train(texts, vocabulary_size=SIZE),
        "byte-level BPE": ByteBPE.train(texts, vocabulary_size=SIZE),
        "WordPiece": WordPiece.train(texts, vocabulary_size=SIZE),
        "Unigram": Unigram.load(UNIGRAM),
    }


def learned_from() -> list[str]:
    """Return the verses that the four have learned from."""
    return [pair.english for pair in verses("train", longest=LONGEST)][:VERSES]


def learn_unigram() -> Unigram:
    """Learn what is in the file."""
    return Unigram.train(learned_from(), vocabulary_size=SIZE, seeds=SEEDS)
