"""Names that were left out: each can be checked, none leaks, and no rule of thumb finds them."""

import random
import re
from collections import Counter
from itertools import combinations

import pytest

from coursekit.data.blanks import AROUND, BLANK, OTHERS, WORD, Blank, blanks, span_pieces
from coursekit.data.blanks import _names as names
from coursekit.data.verses import verses
from coursekit.objectives.special_tokens import SpecialTokens
from coursekit.tokenizers.wordpiece import BERT_SPECIAL, WordPiece

SPLITS = ("train", "valid", "test")
SPECIAL = SpecialTokens(pad=0, cls=2, sep=3, mask=4, others=(1,))
SIZES = [2649, 326, 350]


@pytest.fixture(scope="module")
def parts() -> dict[str, list[Blank]]:
    return {split: blanks(split) for split in SPLITS}


@pytest.fixture(scope="module")
def texts() -> dict[str, dict[str, str]]:
    """split -> key -> verse."""
    return {s: {p.key: p.english for p in verses(s, longest=None)} for s in SPLITS}


def test_the_sizes_are_always_the_same(parts):
    assert [len(parts[split]) for split in SPLITS] == SIZES


def test_the_answer_fills_the_blank_and_stands_in_the_passage_once(parts, texts):
    for split, items in parts.items():
        for item in items:
            assert item.context[item.start :][: len(item.answer)] == item.answer
            assert item.question.count(BLANK) == 1
            assert item.question.replace(BLANK, item.answer) == texts[split][item.key]
            assert WORD.findall(item.context).count(item.answer) == 1
            assert item.answer not in WORD.findall(item.question)
            assert item.answer in names() and len(candidates(item)) > OTHERS
            assert len(f"{item.question} {item.context}".split()) <= 200


def test_passages_are_the_nearest_training_verses_of_the_chapter(parts, texts):
    """A slow search for each of some; so no verse of valid or test is in any passage."""
    sample = random.Random(0).sample([i for items in parts.values() for i in items], 60)
    for item in sample:
        chapter, number = re.fullmatch(r"(.+):(\d+)", item.key).groups()
        known = {
            int(key[len(chapter) + 1 :]): text
            for key, text in texts["train"].items()
            if key.startswith(f"{chapter}:")
        }
        before = sorted(n for n in known if n < int(number))[-AROUND:]
        after = sorted(n for n in known if n > int(number))[:AROUND]
        assert item.context == " ".join(known[n] for n in [*before, *after])


def test_no_verse_is_asked_in_two_splits_and_none_answers_itself(parts):
    keys = [{item.key for item in parts[split]} for split in SPLITS]
    assert not keys[0] & keys[1] and not keys[0] & keys[2] and not keys[1] & keys[2]
    # A formula may ask in two splits ("Now the rest of the acts of ___, ..."), for another name.
    asked = [{item.question.lower(): item.answer for item in parts[split]} for split in SPLITS]
    for one, other in combinations(asked, 2):
        both = one.keys() & other.keys()
        assert len(both) <= 2 and all(one[question] != other[question] for question in both)
    for item in parts["valid"] + parts["test"]:
        assert item.question.replace(BLANK, item.answer) not in item.context


def test_names_are_never_written_small():
    found = names()
    assert {"Baruch", "Jerusalem", "Neriah", "Babylon"} <= found
    assert not {"The", "And", "I", "God", "Yahweh", "Israel", "Lord", "Let", "Don"} & found


def test_pieces_by_hand():
    words = ["the", "son", "of", "nun", "##n", "josh", "##ua", "said", ".", "to", "caleb", "'", "s"]
    tokenizer = WordPiece([*BERT_SPECIAL, *words])
    item = Blank("___'s son.", "Nun said to Joshua. Caleb", "Joshua", 12, "Josh 1:1")
    found = span_pieces(item, tokenizer, SPECIAL)
    question = [4, 16, 17, 6, 13]  # [MASK] ' s son .
    passage = [8, 12, 14, 10, 11, 13, 15]  # nun said to josh ##ua . caleb
    assert found.tokens == [2, *question, 3, *passage, 3]
    assert found.segments == [0] * 7 + [1] * 8
    assert (found.start, found.end) == (10, 11)


def test_the_span_is_the_name_in_every_example(parts):
    tokenizer = WordPiece.train(
        (item.context for item in parts["valid"][:300]), vocabulary_size=200
    )
    special = SpecialTokens(
        pad=tokenizer.token_to_id("[PAD]"), cls=tokenizer.token_to_id("[CLS]"),
        sep=tokenizer.token_to_id("[SEP]"), mask=tokenizer.token_to_id("[MASK]"),
    )  # fmt: skip
    for item in parts["valid"] + parts["test"]:
        tokens, segments, start, end = span_pieces(item, tokenizer, special)
        assert len(tokens) == len(segments) and tokens.count(special.sep) == 2
        assert segments[start] == segments[end] == 1
        name = tokenizer.decode(tokens[start : end + 1])
        assert name.replace(" ", "") == item.answer.lower()
        assert tokens[: segments.index(1)].count(special.mask) == 1


def candidates(item: Blank) -> list[str]:
    """Return the names that stand in the passage once, and that the question does not show."""
    shown, words = set(WORD.findall(item.question)), WORD.findall(item.context)
    once = {word for word, count in Counter(words).items() if count == 1}
    return [word for word in words if word in names() and word in once and word not in shown]


def test_no_rule_of_thumb_finds_the_answer(parts):
    """Which share of the answers in test a reader finds who reads no verse."""
    usual = Counter(item.answer for item in parts["train"])
    rules = {
        "the first capital": lambda i: next(w for w in WORD.findall(i.context) if w[0].isupper()),
        "the first name": lambda i: candidates(i)[0],
        "the last name": lambda i: candidates(i)[-1],
        "the middle name": lambda i: candidates(i)[len(candidates(i)) // 2],
        "the commonest answer of training": lambda i: usual.most_common(1)[0][0],
        "of the names the commonest answer": lambda i: max(candidates(i), key=usual.__getitem__),
    }
    for rule, guess in rules.items():
        right = sum(guess(item) == item.answer for item in parts["test"]) / len(parts["test"])
        assert right == pytest.approx(FOUND[rule], abs=0.0005), rule
    assert max(FOUND.values()) < 0.4


FOUND = {
    "the first capital": 0.0457,
    "the first name": 0.2886,
    "the last name": 0.2286,
    "the middle name": 0.1514,
    "the commonest answer of training": 0.0314,
    "of the names the commonest answer": 0.3343,
}


def test_bad_input_gets_a_sentence():
    assert blanks("test", longest=1) == []
