"""The answers of assignment 7 beside the course's own tokenizers, which were written elsewhere."""

from __future__ import annotations

import random
from collections import Counter

import ours
import pytest

from coursekit.tokenizers.bpe import BPE
from coursekit.tokenizers.byte_bpe import ByteBPE
from coursekit.tokenizers.unigram import segmentations
from coursekit.tokenizers.wordpiece import WordPiece
from coursetools.questions.catalogue import references

RIGHT = references(ours.load("a07_tokenization"))


def drawn(seed, words=60, letters="abcd", longest=9):
    """Return words that are always the same, and counts so different that no two pairs tie."""
    chance = random.Random(seed)
    texts = ["".join(chance.choices(letters, k=chance.randint(1, longest))) for _ in range(words)]
    return {text: chance.randint(1, 10**9) for text in texts}


@pytest.mark.parametrize("seed", range(5))
def test_merges_and_pieces_are_those_of_the_courses_bpe(seed):
    words = drawn(seed)
    merges = RIGHT.learn_bpe(words, 25)
    tokens = list(dict.fromkeys([*"abcd", *(left + right for left, right in merges)]))
    ours = BPE(tokens, merges, end_of_word="")
    assert len(merges) == 25
    for word in [*words, *drawn(seed + 100, longest=20)]:
        assert RIGHT.bpe_encode(word, merges) == ours.tokens(word)


@pytest.mark.parametrize("seed", range(5))
def test_each_merge_is_the_first_of_the_most_frequent_pairs(seed):
    """Counted in another way: the words spelled by the merges so far, one pair after the other."""
    words = {word: 1 + count % 3 for word, count in drawn(seed, words=8, letters="ab").items()}
    merges = RIGHT.learn_bpe(words, 50)
    assert all(len(RIGHT.bpe_encode(word, merges)) == 1 for word in words)
    for step, best in enumerate(merges):
        counts = Counter()
        for word, count in words.items():
            pieces = RIGHT.bpe_encode(word, merges[:step])
            for place in range(1, len(pieces)):
                counts[pieces[place - 1], pieces[place]] += count
        most = max(counts.values())
        assert best == sorted(pair for pair in counts if counts[pair] == most)[0]


@pytest.mark.parametrize("seed", range(5))
def test_wordpiece_is_the_courses(seed):
    chance = random.Random(seed)
    pieces = sorted(drawn(seed, letters="abc", longest=3))
    vocabulary = [chance.choice(("", "##")) + piece for piece in pieces]
    ours = WordPiece(["[UNK]", *vocabulary], special=["[UNK]"], lower_case=False)
    words = list(drawn(seed + 100, words=200, letters="abc"))
    cut = [RIGHT.wordpiece(word, vocabulary) for word in words]
    assert cut == [ours.tokens(word) for word in words]
    assert 20 < cut.count(["[UNK]"]) < 180


@pytest.mark.parametrize("seed", range(5))
def test_the_likeliest_way_is_the_best_of_all_ways(seed):
    chance = random.Random(seed)
    scores = {piece: -10 * chance.random() for piece in drawn(seed, words=25, longest=4)}
    scores.pop("d", None)
    lost = 0
    for word in drawn(seed + 100, longest=8):
        ways = list(segmentations(word, scores))
        lost += not ways
        best = max(ways, key=lambda way: sum(map(scores.get, way)), default=[])
        assert RIGHT.likeliest(word, scores) == best
    assert 0 < lost < 60


def test_the_byte_alphabet_is_that_of_the_courses_vocabulary():
    tokenizer = ByteBPE({n: bytes([n]) for n in range(256)}, [])
    alphabet = RIGHT.ByteAlphabet()
    text = "Où? Aquí, здесь 🙂\n"
    assert list(alphabet.write(text)) == tokenizer.tokens(text)
    assert text == alphabet.read(alphabet.write(text))
    assert alphabet.read(alphabet.write("🙂")[:2] + "é") == "\ufffd\ufffd"
    shown = "".join(map(tokenizer.id_to_token, range(256)))
    assert len(set(shown)) == 256 and alphabet.read(shown[:128]) == bytes(range(128)).decode()
