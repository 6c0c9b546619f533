"""A text in a stream, with and without white space: the ids are those of the whole."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.tokenizers.bpe import BPE
from coursekit.tokenizers.byte_bpe import ByteBPE
from coursekit.tokenizers.characters import Characters
from coursekit.tokenizers.wordpiece import WordPiece
from coursekit.tokenizers.words import Words

TEXTS = ["abab aabb abba bbbb aaaaaaa", "xyz zyx xx yy zz xyxyxy", "don't can't 'lll' é中文!?..",
         "low lower lowest newest widest", "ababababab abcabcabc cabcab"]  # fmt: skip
KINDS = {BPE: 60, ByteBPE: 300, Characters: 30, WordPiece: 70, Words: 25}


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.__name__)
def tokenizer(request):
    special = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    return request.param.train(TEXTS * 3, vocabulary_size=KINDS[request.param], special=special)


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
