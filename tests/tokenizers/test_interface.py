"""What holds for all tokenizers: the same laws, checked on each."""

from __future__ import annotations

import pickle
import random
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.tokenizers.base import Tokenizer
from coursekit.tokenizers.bpe import BPE
from coursekit.tokenizers.byte_bpe import ByteBPE
from coursekit.tokenizers.characters import Characters
from coursekit.tokenizers.unigram import Unigram
from coursekit.tokenizers.wordpiece import WordPiece
from coursekit.tokenizers.words import Words

KINDS = [Characters, Words, BPE, ByteBPE, WordPiece, Unigram]
SPECIAL = ["<s>", "<s><s>", "end of text", "[UNK]"]
TRAINED: dict[type, Tokenizer] = {}
TEXTS = [
    "the lowest of the low, the newest of the new and the widest of the wide",
    "Ein Löwe, l'été, 日本 and 12 new things; don't go low.\n",
    "<s>the end of text",
    "the  low\n\n  of \n\t the   new\n \n\n\t\tof    the\n",  # spaces that are merged, too
] * 3


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def tokenizer(request):
    return trained(request.param)


def trained(kind):
    if kind not in TRAINED:
        TRAINED[kind] = kind.train(TEXTS, vocabulary_size=330, special=SPECIAL)
    return TRAINED[kind]


def test_the_special_tokens_come_first_and_once(tokenizer):
    assert [tokenizer.id_to_token(i) for i in range(4)] == SPECIAL
    assert tokenizer.special == {name: i for i, name in enumerate(SPECIAL)}
    tokens = [tokenizer.id_to_token(i) for i in range(len(tokenizer))]
    assert [tokenizer.token_to_id(token) for token in tokens] == list(range(len(tokenizer)))
    assert len(tokenizer) <= 330


def test_known_text_comes_back(tokenizer):
    for text in TEXTS[:2]:
        back = tokenizer.decode(tokenizer.encode(text))
        if isinstance(tokenizer, WordPiece):
            text = "".join(text.lower().replace("ö", "o").replace("é", "e").split())
            back = "".join(back.split())
        elif isinstance(tokenizer, Words | BPE):  # these do not keep the spaces
            text, back = "".join(text.split()), "".join(back.split())
        assert back == text


def test_saved_and_loaded_it_is_the_same(tokenizer, tmp_path, nasty):
    tokenizer.save(tmp_path / "tokenizer.json")
    again = type(tokenizer).load(tmp_path / "tokenizer.json")
    for copy in (again, pickle.loads(pickle.dumps(tokenizer))):
        assert len(copy) == len(tokenizer)
        assert copy.special == tokenizer.special
        for text in [*nasty, *TEXTS]:
            ids = tokenizer.encode(text, allowed_special="all")
            assert copy.encode(text, allowed_special="all") == ids
            assert copy.decode(ids) == tokenizer.decode(ids)
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "tokenizer.json").read_bytes()


def test_a_file_of_another_kind(tokenizer, tmp_path):
    other = Words if isinstance(tokenizer, Characters) else Characters
    tokenizer.save(tmp_path / "tokenizer.json")
    name = type(tokenizer).__name__
    with pytest.raises(ValueError, match=f"holds a {name}, expected a {other.__name__}"):
        other.load(tmp_path / "tokenizer.json")


def test_training_twice_gives_the_same(tokenizer):
    again = type(tokenizer).train(iter(TEXTS), vocabulary_size=330, special=SPECIAL)
    assert again._tokens == tokenizer._tokens


def test_offsets_are_spans_of_the_text(tokenizer, nasty):
    for text in [*nasty, *TEXTS]:
        ids, spans = tokenizer.encode_with_offsets(text, allowed_special=["<s>"])
        assert ids == tokenizer.encode(text, allowed_special=["<s>"])
        assert len(ids) == len(spans)
        assert all(0 <= start <= end <= len(text) for start, end in spans)
        assert [start for start, _ in spans] == sorted(start for start, _ in spans)
        assert [end for _, end in spans] == sorted(end for _, end in spans)
        for number, (start, end) in zip(ids, spans, strict=True):
            token = tokenizer.id_to_token(number)
            if token == "[UNK]" or isinstance(tokenizer, WordPiece):
                continue
            if isinstance(tokenizer, ByteBPE) and token != "<s>":
                assert tokenizer.vocabulary[number] in text[start:end].encode()
            else:
                plain = token.removesuffix("</w>").replace("▁", " ")
                assert plain.removeprefix(" ") == text[start:end].removeprefix(" ")


def test_every_character_that_counts_has_a_token(tokenizer, nasty):
    """Nothing but space (for WordPiece: and what it cleans away) lies between the spans."""
    for text in [*nasty, *TEXTS]:
        _, spans = tokenizer.encode_with_offsets(text)
        covered = {place for start, end in spans for place in range(start, end)}
        rest = "".join(character for i, character in enumerate(text) if i not in covered)
        if isinstance(tokenizer, WordPiece):
            assert not any(character.isalnum() for character in rest)
        else:
            assert rest.strip() == "" and (isinstance(tokenizer, Words | BPE) or not rest), (
                tokenizer
            )


PARTS = [
    "the",
    "low",
    " ",
    "  ",
    "\n",
    "\t",
    "<s>",
    "<s><s>",
    "<",
    "end of text",
    "end ",
    "of",
    "é",
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(PARTS), max_size=25).map("".join) | st.text(max_size=40),
    st.lists(st.integers(0, 60)),
    st.sampled_from([(), "all", ("<s>", "end of text")]),
)
def test_a_stream_equals_the_whole(kind, text, cuts, allowed):
    """However the text is cut into chunks, also inside a word, a space or a special token."""
    tokenizer = trained(kind)
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    chunks = [text[a:b] for a, b in pairwise(places)]
    ids = list(tokenizer.encode_iterable(iter(chunks), allowed_special=allowed))
    assert ids == tokenizer.encode(text, allowed_special=allowed)


def test_a_stream_is_read_as_it_is_needed(tokenizer):
    taken = []

    def lines():
        for number in range(1000):
            taken.append(number)
            yield "the newest of the low\n"

    stream = tokenizer.encode_iterable(lines())
    next(stream)
    assert len(taken) <= 2


def test_memory_stays_flat_while_a_stream_is_encoded(tokenizer):
    """Most words of this stream never come back; only `remember` of them are kept."""
    generator = random.Random(0)

    def lines(count):
        for _ in range(count):
            yield f"the {generator.random()} of {generator.getrandbits(64):x} and low\n"

    remembered, tokenizer._words.size = tokenizer._words.size, 200
    tokenizer._words.clear()
    list(tokenizer.encode_iterable(lines(200)))  # the memory is full now
    tracemalloc.start()
    total = sum(1 for _ in tokenizer.encode_iterable(lines(2500)))  # 160 kB of text
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    tokenizer._words.size = remembered
    assert total > 1500
    assert peak < 120_000


def test_a_long_stream_takes_no_more_memory_than_a_chunk(corpus):
    text = "".join(line + "\n" for line in corpus)  # 100 kB
    tokenizer = ByteBPE.train(corpus, vocabulary_size=400)
    once = len(tokenizer.encode(text))
    tracemalloc.start()
    total = sum(1 for _ in tokenizer.encode_iterable(text for _ in range(12)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert total == pytest.approx(12 * once, rel=0.01)
    assert peak < 2_500_000


def test_the_memory_of_words_is_bounded():
    tokenizer = Words.train(["a b"], vocabulary_size=10)
    for number in range(60_000):
        tokenizer.encode(f"w{number}")
    assert len(tokenizer._words) <= 50_000
    tokenizer.encode("x" * 100_000)
    assert "x" * 100_000 not in tokenizer._words


def test_strangers_cannot_write_special_tokens(tokenizer):
    text = "the<s>end of text<s><s><s>low[UNK]"
    hidden = set(tokenizer.special.values()) - {tokenizer.special["[UNK]"]}
    assert not hidden & set(tokenizer.encode(text))
    assert not hidden & set(tokenizer.encode_iterable([text]))
    number = tokenizer.special
    found = [n for n in tokenizer.encode(text, allowed_special="all") if n < len(SPECIAL)]
    want = ["<s>", "end of text", "<s><s>", "<s>", "[UNK]"]  # the longest first, never split
    assert found == [number[name] for name in want]
    some = [n for n in tokenizer.encode(text, allowed_special={"<s>"}) if n in hidden]
    assert some == [number["<s>"]] * 4


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not ByteBPE])
def test_a_special_token_of_one_letter_is_no_letter(kind):
    tokenizer = kind.train(["a cab, a bad cab"] * 3, vocabulary_size=300, special=["a", "[UNK]"])
    assert tokenizer.special["a"] not in tokenizer.encode("a bad cab")


def test_special_tokens_are_written_and_left_out(tokenizer):
    ids = tokenizer.encode("<s>the low<s><s>", allowed_special="all")
    assert tokenizer.decode(ids).startswith("<s>")
    assert "<s>" not in tokenizer.decode(ids, skip_special=True)
    assert tokenizer.decode(ids, skip_special=True).strip() == "the low"


def test_training_does_not_read_special_tokens():
    texts = ["the<|s|>the<|s|>the<|s|>" * 50]
    for kind in KINDS:
        size = 300 if kind is ByteBPE else 60
        tokenizer = kind.train(texts, vocabulary_size=size, special=["<|s|>"])
        ordinary = [tokenizer.id_to_token(i) for i in range(1, len(tokenizer))]
        assert any("th" in token for token in ordinary) or kind is Characters
        assert not any("|" in token for token in ordinary if token != "|"), kind
        assert "|" not in ordinary or kind is ByteBPE  # which has all bytes


def test_bad_input_gets_a_sentence(tokenizer):
    with pytest.raises(ValueError, match=r"lone surrogate, U\+D83D at 4, which is half"):
        tokenizer.encode("the \ud83d low")
    with pytest.raises(ValueError, match="lone surrogate"):
        list(tokenizer.encode_iterable(["the ", "\udc00"]))
    with pytest.raises(ValueError, match="lone surrogate"):
        tokenizer.encode_with_offsets("\ud800")
    with pytest.raises(ValueError, match="lone surrogate"):
        type(tokenizer).train(["\ud800"], vocabulary_size=330)
    with pytest.raises(ValueError, match=r"'<mask>' is not a special token .* it has '<s>', "):
        tokenizer.encode("the", allowed_special={"<mask>"})
    with pytest.raises(TypeError, match="allowed_special must be 'all' or a set"):
        tokenizer.encode("the", allowed_special="<s>")
    with pytest.raises(TypeError, match="a text must be a string, found bytes"):
        tokenizer.encode(b"the")
    with pytest.raises(ValueError, match=f"token id {len(tokenizer)} is not in this vocabulary"):
        tokenizer.decode([len(tokenizer)])
    with pytest.raises(ValueError, match="token id -1 is not in this vocabulary"):
        tokenizer.id_to_token(-1)
    with pytest.raises(ValueError, match="'nothing' is not a token"):
        tokenizer.token_to_id("nothing")
    with pytest.raises(TypeError, match="found one string"):
        type(tokenizer).train("the low", vocabulary_size=330)
    with pytest.raises(ValueError, match=r"vocabulary_size must be at least .*, found 3"):
        type(tokenizer).train(TEXTS, vocabulary_size=3, special=SPECIAL)
    with pytest.raises(ValueError, match="must not be the empty string"):
        type(tokenizer).train(TEXTS, vocabulary_size=330, special=[""])


@pytest.mark.parametrize("kind", [Characters, Words, BPE, WordPiece, Unigram])
def test_without_an_unknown_token_the_unknown_is_an_error(kind):
    tokenizer = kind.train(["low"], vocabulary_size=20, special=[], unknown=None)
    with pytest.raises(ValueError, match=r"'ж' \(U\+0436\) and this tokenizer has no unknown"):
        tokenizer.encode("ж")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_nothing_to_learn_from(kind):
    tokenizer = kind.train([], vocabulary_size=300, special=["<s>"])
    assert tokenizer.encode("") == []
    assert tokenizer.decode([]) == ""
    assert tokenizer.encode("<s>", allowed_special="all") == [0]
