"""Learning merges: the most frequent pair, again and again."""

from __future__ import annotations

from coursekit.check.probe import after
from coursetools.questions import hidden, visible

from .merge_pair import merge_pair


def learn_bpe(words, steps):
    """Return the first `steps` merges, as tuples (left, right)."""
    cut, merges = {word: list(word) for word in words}, []
    for _ in range(steps):
        counts = {}
        for word, symbols in cut.items():
            for pair in zip(symbols, symbols[1:]):
                counts[pair] = counts.get(pair, 0) + words[word]
        if not counts:
            break
        merges.append(min(counts, key=lambda pair: (-counts[pair], pair)))
        cut = {word: merge_pair(symbols, merges[-1]) for word, symbols in cut.items()}
    return merges


@visible("one merge: ab 3 times, bc 5 times")
def one_merge_ab_3_times_bc(student):
    return student.learn_bpe({"ab": 3, "bc": 5}, 1)


@visible("three pairs, twice each: ab is first in the alphabet")
def three_pairs_twice_each_ab_is(student):
    return student.learn_bpe({"cd": 2, "xy": 2, "ab": 2}, 1)


@visible("six merges in low, lower, newest and widest", weight=2)
def six_merges_in_low_lower_newest(student):
    return student.learn_bpe({"low": 5, "lower": 2, "newest": 6, "widest": 3}, 6)


@visible("papa has the pair p a twice")
def papa_has_the_pair_p_a(student):
    return student.learn_bpe({"papa": 2, "ox": 3}, 3)


@visible("aaa has the pair a a twice")
def aaa_has_the_pair_a_a(student):
    return student.learn_bpe({"aaa": 2, "bc": 3}, 1)


@visible("ten merges, where only one can be made")
def ten_merges_where_only_one_can(student):
    return student.learn_bpe({"ab": 1, "c": 4}, 10)


TEXT = "it is not the what of the thing but the how of the thing that is the thing"


def counted(text):
    """Return how often each word stands in `text`."""
    words = text.split()
    return {word: words.count(word) for word in words}


@hidden("no words, and no steps")
def learn_nothing(student):
    return student.learn_bpe({}, 3), student.learn_bpe({"them": 2}, 0)


@hidden("a short text", weight=2)
def learn_text(student):
    return student.learn_bpe(counted(TEXT), 12)


@hidden("until nothing is left", weight=2)
def learn_all(student):
    found = student.learn_bpe(counted("she sells sea shells"), 100)
    assert len(found) == len({left + right for left, right in found})
    return found


@hidden("a word that repeats itself")
def learn_repeats(student):
    return student.learn_bpe({"mamama": 2, "aaaaa": 3, "barbara": 1}, 5)


@hidden("accents, signs and other scripts")
def learn_scripts(student):
    return student.learn_bpe({"été": 4, "bêtes": 3, "c'est": 2, "слово": 2, "слова": 5}, 8)


@hidden("frequent words and rare ones")
def learn_frequent(student):
    return student.learn_bpe({"of": 3000, "off": 3, "fog": 2999, "go": 4}, 4)


@hidden("the words are left as they were")
def learn_keeps(student):
    return after(student.learn_bpe, {"tea": 3, "eat": 2}, 2)
