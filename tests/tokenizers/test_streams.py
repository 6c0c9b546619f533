"""A text without white space, in a stream: the ids of the whole, in the memory of a part."""

import random
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.tokenizers import base
from coursekit.tokenizers.bpe import BPE
from coursekit.tokenizers.byte_bpe import ByteBPE
from coursekit.tokenizers.characters import Characters
from coursekit.tokenizers.merges import Beginnings, apply_merges
from coursekit.tokenizers.wordpiece import WordPiece
from coursekit.tokenizers.words import Words

TEXTS = ["abab aabb abba bbbb aaaaaaa", "xyz zyx xx yy zz xyxyxy", "don't can't 'lll' é中文!?..",
         "low lower lowest newest widest", "ababababab abcabcabc cabcab"]  # fmt: skip
KINDS = {BPE: 60, ByteBPE: 300, Characters: 30, WordPiece: 70, Words: 25}


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.__name__)
def tokenizer(request):
    special = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    return request.param.train(TEXTS * 3, vocabulary_size=KINDS[request.param], special=special)


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch):
    monkeypatch.setattr(base, "PATIENCE", 12)


LETTERS = st.text("abcxyz", min_size=20) | st.text("ab", min_size=20)
PIECES = (
    LETTERS | st.text("ab'stl!?.é中文 \x00𝔘") | st.sampled_from(["'", "'s", "[CLS]", "a" * 130])
)


@settings(max_examples=120, deadline=None)
@given(pieces=st.lists(PIECES, max_size=8), size=st.integers(1, 9), special=st.booleans())
def test_the_ids_are_those_of_the_whole_wherever_it_is_cut(tokenizer, pieces, size, special):
    text = "".join(pieces)
    chunks = [text[i : i + size] for i in range(0, len(text), size)]
    allowed = "all" if special else ()
    found = list(tokenizer.encode_iterable(chunks, allowed_special=allowed))
    assert found == tokenizer.encode(text, allowed_special=allowed)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=12),
    st.text("abc", max_size=40),
    st.text("abc", max_size=12),
)
def test_what_is_certain_stays_whatever_follows(pairs, word, more):
    """With any merges that a training could make: each joins two tokens that are there."""
    tokens, spelled, merges = list("abc"), {"abc"[i]: "abc"[i] for i in range(3)}, {}
    for rank, (left, right) in enumerate(pairs):
        pair = tokens[left % len(tokens)] + tokens[right % len(tokens)]
        letters = spelled[pair[0]] + spelled[pair[1]]
        if pair in merges or letters in spelled.values() or apply_merges(letters, merges) != pair:
            continue
        merges[pair] = (rank, chr(1000 + rank))
        spelled[chr(1000 + rank)] = letters
        tokens.append(chr(1000 + rank))
    certain = Beginnings(merges)(word)
    text = "".join(token for token, _ in certain)
    end = certain[-1][1] if certain else 0
    assert apply_merges(word + more, merges) == text + apply_merges((word + more)[end:], merges)


@pytest.mark.parametrize("letters", ["ab", "abcxyz", "中", "é'", "!?", "xyzw中文字"])
def test_memory_stays_flat_without_any_white_space(tokenizer, letters, monkeypatch):
    monkeypatch.setattr(base, "PATIENCE", 512)

    def chunks(count):
        noise = random.Random(0)
        for _ in range(count):
            yield "".join(noise.choices(letters, k=50))

    def peak(count):
        tracemalloc.start()
        for _ in tokenizer.encode_iterable(chunks(count)):
            pass
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(15)  # what is made once: patterns, tables
    assert peak(200) < 1.5 * peak(60) + 10_000
