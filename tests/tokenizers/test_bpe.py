"""BPE over characters: the reference's merges and segmentation."""

from __future__ import annotations

import doctest
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursekit.tokenizers import bpe
from coursekit.tokenizers.bpe import BPE, whitespace_split
from coursekit.tokenizers.merges import apply_merges, learn_merges, ranked

# The idea on plain numbers, and what `merges.py` makes of it.

NUMBERS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=10), min_size=1, max_size=8)


def test_the_examples_in_the_file():
    assert doctest.testmod(bpe) == doctest.TestResults(failed=0, attempted=4)


@given(NUMBERS, st.integers(0, 12), st.lists(st.integers(0, 3), max_size=12))
def test_the_fast_merges_are_the_plain_ones(words, count, word):
    merges = bpe.learn(words, first=4, count=count)
    letters = Counter("".join(map(chr, word)) for word in words)
    tokens = [(number,) for number in range(4)]  # a token is spelled by the numbers in it
    fast = learn_merges(letters, tokens, 4 + count)
    assert [(ord(left), ord(right)) for left, right in fast] == list(merges)
    assert list(merges.values()) == list(range(4, 4 + len(merges)))

    found = bpe.encode(word, merges)
    table = ranked((*pair, new) for pair, new in merges.items())
    assert "".join(map(chr, found)) == apply_merges("".join(map(chr, word)), table)
    assert bpe.decode(found, merges) == word
    assert [part for token in found for part in (tokens[token])] == word


def test_the_tokenizer_learns_and_writes_as_the_plain_functions_do(corpus):
    lines = corpus[:120]
    ours = BPE.train(lines, vocabulary_size=220)
    first = len(ours) - len(ours.merges)
    words = [
        [ours.token_to_id(symbol) for symbol in bpe.symbols(word, "</w>")]
        for line in lines
        for word in line.split()
    ]
    merges = bpe.learn(words, first=first, count=len(ours.merges))
    shown = [tuple(map(ours.id_to_token, pair)) for pair in merges]
    assert shown == ours.merges
    assert [bpe.encode(word, merges) for word in words] == [
        ours.encode(word) for line in lines for word in line.split()
    ]


# The tokenizer, and the reference.


def train_reference(ours, lines):
    """Train the `tokenizers` package on the same lines; its ids equal ours only if its merges do.

    It numbers the marked characters ("s</w>") in the random order of a hash table, and this order
    breaks its ties. Named as special tokens, they get our order.
    """
    hf = pytest.importorskip("tokenizers")
    first = [ours.id_to_token(i) for i in range(len(ours) - len(ours.merges))]
    trained = hf.Tokenizer(hf.models.BPE(unk_token="[UNK]", end_of_word_suffix="</w>"))
    trained.pre_tokenizer = hf.pre_tokenizers.WhitespaceSplit()
    trainer = hf.trainers.BpeTrainer(
        vocab_size=len(ours),
        special_tokens=first,
        end_of_word_suffix="</w>",
        show_progress=False,
    )
    trained.train_from_iterator(lines, trainer)
    vocabulary = trained.get_vocab()
    # A fresh tokenizer, in which the characters are no special tokens.
    peer = hf.Tokenizer(
        hf.models.BPE(
            vocab=vocabulary, merges=ours.merges, unk_token="[UNK]", end_of_word_suffix="</w>"
        )
    )
    peer.pre_tokenizer = hf.pre_tokenizers.WhitespaceSplit()
    peer.decoder = hf.decoders.BPEDecoder(suffix="</w>")
    return vocabulary, peer


def assert_parity(lines, others, size):
    ours = BPE.train(lines, vocabulary_size=size, special=["<pad>"])
    vocabulary, peer = train_reference(ours, lines)
    assert {ours.id_to_token(i): i for i in range(len(ours))} == vocabulary
    assert len(ours) == size
    for line in [*lines[:300], *others]:
        want = peer.encode(line)
        ids, spans = ours.encode_with_offsets(line)
        assert ids == want.ids, line
        assert spans == [tuple(span) for span in want.offsets], line
        if "[UNK]" not in want.tokens and "</w>" not in line:
            assert ours.decode(ids) == " ".join(line.split()) == peer.decode(want.ids)


@pytest.mark.parametrize("size", [150, 1200])
def test_the_reference_learns_and_encodes_the_same(corpus, nasty, size):
    # \x1c to \x1f are spaces for str.split only
    assert_parity(corpus, [line for line in nasty if "\x1c" not in line], size)


def test_the_reference_on_real_text(real_lines, nasty):
    assert_parity(real_lines, [line for line in nasty if "\x1c" not in line], 3000)


def test_a_text_that_contains_the_mark(corpus):
    assert_parity([*corpus[:50], *["lo</w>w</w> new</w>est </w> lo w"] * 30], [], 220)


def test_without_a_mark_at_the_end():
    ours = BPE.train(["low low lower"], vocabulary_size=8, end_of_word="", unknown=None)
    assert ours.tokens("lower low") == ["low", "er", "low"]
    assert ours.decode(ours.encode("lower")) == "lower"


def test_rare_words_fall_into_pieces():
    ours = BPE.train(["low low low low newest newest widest widest wider"], vocabulary_size=32)
    assert ours.tokens("low lowest") == ["low</w>", "lo", "w", "est</w>"]


@given(st.text(st.sampled_from("ab \t\n\x0b\x1c\x1f\x85\xa0\u2003\u3000\u200b")))
def test_splitting_at_whitespace(text):
    assert whitespace_split(text) == BPE.pattern.findall(text)
