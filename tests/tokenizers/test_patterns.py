"""Patterns that can be chosen: GPT-4's against the regex package; streams, files, gaps in ids."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coursekit.tokenizers.bpe import BPE
from coursekit.tokenizers.byte_bpe import ByteBPE
from coursekit.tokenizers.merges import learn_merges, learn_merges_simple
from coursekit.tokenizers.patterns import PATTERNS, cl100k_pattern, find_pattern, gpt2_pattern
from coursekit.tokenizers.wordpiece import WordPiece

# As `tiktoken` writes them.
THEIRS = {
    "gpt2": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "cl100k": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}
# Letters beyond the basic plane, digits of other scripts, spaces and ends of lines.
TEXTS = st.text(st.sampled_from("ab 'sSlLéß1289٣²!?(\n\r\t\xa0日🙂𝔘𝟙\u0301"), max_size=30)
TRAINED = ["it's IT'S 12345 67 (don't) end!\n\nnew line\n  two", "I'LL 2024: a+b\r\nc_d\t\te 🙂🙂"]


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_cuts_as_its_authors_does(name):
    regex = pytest.importorskip("regex")
    theirs = regex.compile(THEIRS[name])

    @settings(max_examples=200, deadline=None)
    @example("I'LL say 'S, it'S 1234567 times...\n\n\n (quoted) 'word'\t\t\n x")
    @example("(a𝔘 𝟙22 1𝟙23 𝔘1 🙂a 🙂\n\n \u2003\n end  ")
    @given(TEXTS)
    def agree(text):
        words = find_pattern(name).findall(text)
        assert words == theirs.findall(text)
        assert "".join(words) == text  # nothing is dropped

    agree()


def test_the_two_differ_where_the_docstring_says():
    two, four = gpt2_pattern().findall, cl100k_pattern().findall
    assert two("IT'S") == ["IT", "'", "S"] and four("IT'S") == ["IT", "'S"]
    assert two("(a 12345") == ["(", "a", " 12345"] and four("(a 12345") == ["(a", " ", "123", "45"]
    assert two("end!\n\n") == ["end", "!", "\n\n"] and four("end!\n\n") == ["end", "!\n\n"]


def test_training_keeps_to_the_words_of_the_chosen_pattern():
    texts = ["12345 12345 12345!\n"] * 5
    two = ByteBPE.train(texts, vocabulary_size=270)
    four = ByteBPE.train(texts, vocabulary_size=270, pattern="cl100k")
    assert any(len(token) > 4 and token.strip().isdigit() for token in two.vocabulary.values())
    assert max(len(t) for t in four.vocabulary.values() if t.strip().isdigit()) == 3
    assert b"!\n" in four.vocabulary.values() and b"!\n" not in two.vocabulary.values()
    for text in (*texts, "IT'S (new) 1234567"):
        assert four.decode(four.encode(text)) == text


@pytest.mark.parametrize("pattern", [*PATTERNS, r"\S+|\s+", re.compile(r"\w+|\W+")])
def test_a_stream_is_cut_where_the_pattern_allows(pattern):
    tokenizer = ByteBPE.train(TRAINED * 3, vocabulary_size=290, pattern=pattern, special=["<s>"])

    @settings(max_examples=60, deadline=None)
    @example("ab!!!!!!!(abc", 3)
    @example("a!\n\n\n\t\t\n\n1234567", 1)
    @given(TEXTS | st.lists(st.sampled_from(TRAINED)).map("".join), st.integers(1, 9))
    def agree(text, size):
        chunks = [text[i : i + size] for i in range(0, len(text), size)]
        assert list(tokenizer.encode_iterable(chunks)) == tokenizer.encode(text)

    agree()


@pytest.mark.parametrize("pattern", ["cl100k", r"\S+|\s+", re.compile(r"\w+|\W+")])
def test_a_file_remembers_the_pattern(pattern, tmp_path):
    tokenizer = ByteBPE.train(TRAINED, vocabulary_size=280, pattern=pattern)
    tokenizer.save(tmp_path / "t.json")
    again = ByteBPE.load(tmp_path / "t.json")
    assert again.pattern.pattern == tokenizer.pattern.pattern
    assert again.encode(TRAINED[0]) == tokenizer.encode(TRAINED[0])
    assert again.stops == tokenizer.stops


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        ("(a|b)+", r"no groups, \(\?:...\) for \(...\), found '\(a\|b\)\+'"),
        ("[", "must be gpt2, cl100k or a pattern that Python's re reads, found '\\['"),
        (r"\p{L}+", r"re reads, found '\\\\p\{L\}\+'"),
        (3, "found 3"),
    ],
)
def test_a_bad_pattern_gets_a_sentence(pattern, sentence):
    with pytest.raises(ValueError, match=sentence):
        ByteBPE.train(["a"], vocabulary_size=256, pattern=pattern)


BYTES = {i: bytes([i]) for i in range(256)}


def test_special_tokens_may_leave_a_gap(tmp_path):
    """As in cl100k, where <|endoftext|> is 100257 and nothing is 100256."""
    special = {"<|endoftext|>": 260, "<|fim|>": 262}
    tokenizer = ByteBPE(BYTES | {256: b"ab"}, [(b"a", b"b")], special)
    tokenizer.save(tmp_path / "t.json")
    for one in (tokenizer, ByteBPE.load(tmp_path / "t.json")):
        assert one.special == special and len(one) == 263  # so many vectors has an embedding
        ids = one.encode("cab<|endoftext|>", allowed_special="all")
        assert ids == [99, 256, 260]
        assert one.decode(ids) == "cab<|endoftext|>" and one.id_to_token(262) == "<|fim|>"
        for gap in (257, 261, 263, -1):
            with pytest.raises(ValueError, match=f"token id {gap} is not in this vocabulary"):
                one.decode([gap])
    inside = ByteBPE(BYTES | {300: b"<s>"}, [], ["<s>"])  # the vocabulary may say it, too
    assert inside.special == {"<s>": 300}
    front = ByteBPE({n + 2: token for n, token in BYTES.items()}, [], {"<a>": 0, "<b>": 1})
    assert front.encode("a<b>", allowed_special="all") == [99, 1]


@pytest.mark.parametrize(
    ("vocabulary", "special", "sentence"),
    [
        (BYTES, {"<s>": 7}, r"'<s>' cannot have the id 7, which is that of b'\\x07'"),
        (BYTES | {300: b"ab"}, (), "257 tokens must have the ids from 0 to 256 without a gap"),
        (BYTES, {"<s>": -1}, "without a gap"),
    ],
)
def test_bad_ids_get_a_sentence(vocabulary, special, sentence):
    with pytest.raises(ValueError, match=sentence):
        ByteBPE(vocabulary, [], special)


@pytest.mark.parametrize("kind", [BPE, WordPiece, ByteBPE])
def test_the_rule_for_ties_has_a_name(kind):
    """All pairs of these words are equally frequent."""
    texts = ["ab cd ef"]
    size = 260 if kind is ByteBPE else 30
    first, greatest = (
        kind.train(texts, vocabulary_size=size, ties=ties) for ties in ("first", "greatest")
    )
    assert kind.train(texts, vocabulary_size=size)._tokens == first._tokens
    assert first._tokens != greatest._tokens
    with pytest.raises(ValueError, match="ties must be 'first' or 'greatest', found 'last'"):
        kind.train(texts, vocabulary_size=size, ties="last")


@pytest.mark.parametrize("learn", [learn_merges, learn_merges_simple])
def test_ties_are_broken_as_the_rule_says(learn):
    words, tokens = {"\0\1": 1, "\2\3": 1}, ["a", "b", "c", "d"]
    assert learn(words, [*tokens], 5, ties="first") == ["\0\1"]
    assert learn(words, [*tokens], 5, ties="greatest") == ["\2\3"]
