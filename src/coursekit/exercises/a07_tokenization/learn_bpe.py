"""Learning merges: the most frequent pair, again and again."""

from __future__ import annotations

from coursekit.exercises.a07_tokenization.merge_pair import merge_pair
from coursekit.exercises.a07_tokenization.shared import READY
from coursekit.exercises.question import Question


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


QUESTION = Question(
    name="learn_bpe",
    title="Learn what to merge",
    points=5,
    difficulty=3,
    minutes=40,
    page="tokenization.html#sec-tokenization-bpe",
    hint="Keep each word as a list of symbols, at first its letters. In each step: count all "
    "neighbours, each with the count of its word; take the most frequent pair, and of equals "
    "the smallest; merge it in every word; count again.",
    reference=learn_bpe,
    forbidden=READY,
    needs=("merge_pair",),
)


@QUESTION.visible(says="one merge: ab 3 times, bc 5 times")
def one_merge_ab_3_times_bc(student):
    return student.learn_bpe({"ab": 3, "bc": 5}, 1)


@QUESTION.visible(says="three pairs, twice each: ab is first in the alphabet")
def three_pairs_twice_each_ab_is(student):
    return student.learn_bpe({"cd": 2, "xy": 2, "ab": 2}, 1)


@QUESTION.visible(says="six merges in low, lower, newest and widest", weight=2)
def six_merges_in_low_lower_newest(student):
    return student.learn_bpe({"low": 5, "lower": 2, "newest": 6, "widest": 3}, 6)


@QUESTION.visible(says="papa has the pair p a twice")
def papa_has_the_pair_p_a(student):
    return student.learn_bpe({"papa": 2, "ox": 3}, 3)


@QUESTION.visible(says="aaa has the pair a a twice")
def aaa_has_the_pair_a_a(student):
    return student.learn_bpe({"aaa": 2, "bc": 3}, 1)


@QUESTION.visible(says="ten merges, where only one can be made")
def ten_merges_where_only_one_can(student):
    return student.learn_bpe({"ab": 1, "c": 4}, 10)


QUESTION.mistake(
    "each word counted once",
    old="+ words[word]",
    new="+ 1",
    hint="You count in the list of words and not in the text. A word that stands there five "
    "times brings each of its pairs five times.",
)

QUESTION.mistake(
    "ties as they come",
    old="min(counts, key=lambda pair: (-counts[pair], pair))",
    new="max(counts, key=counts.get)",
    hint="Where two pairs are equally frequent you take the one that came first in the text. "
    "The rule here is the alphabet: the smaller tuple.",
)

QUESTION.mistake(
    "ties from the end of the alphabet",
    old="min(counts, key=lambda pair: (-counts[pair], pair))",
    new="max(counts, key=lambda pair: (counts[pair], pair))",
    hint="Where two pairs are equally frequent you take the last in the alphabet: max over "
    "(count, pair) does that. Take the smallest of (-count, pair).",
)

QUESTION.mistake(
    "once in a word",
    old="in zip(symbols, symbols[1:]):",
    new="in set(zip(symbols, symbols[1:])):",
    hint="You count a pair once for each word that has it. papa has p a twice, and both count.",
)

QUESTION.mistake(
    "overlaps not counted",
    old=(
        "for pair in zip(symbols, symbols[1:]):\n"
        "                counts[pair] = counts.get(pair, 0) + words[word]"
    ),
    new=(
        "for pair in set(zip(symbols, symbols[1:])):\n"
        "                apart = len(symbols) - len(merge_pair(symbols, pair))\n"
        "                counts[pair] = counts.get(pair, 0) + apart * words[word]"
    ),
    hint="In aaa you count one a a, as str.count does. Each symbol is counted with its right "
    "neighbour, so there are two.",
)


@QUESTION.mistake(
    "counted only once",
    hint="You take the best pairs of the first count. After a merge the neighbours are others: "
    "merge in all words, then count again.",
)
def learn_counts_once(words, steps):
    counts = {}
    for word, count in words.items():
        for pair in zip(word, word[1:]):
            counts[pair] = counts.get(pair, 0) + count
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[:steps]


QUESTION.mistake(
    "merged once a word",
    old="cut = {word: merge_pair(symbols, merges[-1]) for word, symbols in cut.items()}",
    new=(
        "for symbols in cut.values():\n"
        "            pairs = list(zip(symbols, symbols[1:]))\n"
        "            if merges[-1] in pairs:\n"
        "                place = pairs.index(merges[-1])\n"
        '                symbols[place : place + 2] = ["".join(merges[-1])]'
    ),
    hint="After a step your words still have the pair that was merged: in each word you join "
    "only the first one.",
)

QUESTION.mistake(
    "across words",
    old="cut, merges =",
    new=('words = {"".join(word * count for word, count in words.items()): 1}\n    cut, merges ='),
    hint="Your pairs go from the end of a word to the start of the next. A word is counted by "
    "itself.",
)

QUESTION.mistake(
    "rare pairs left out",
    old="if not counts:",
    new="if max(counts.values(), default=0) < 2:",
    hint="You stop at pairs that stand in the text once. Here merging goes on until the steps "
    "are made or no word has two symbols.",
)

QUESTION.mistake(
    "steps taken for the size",
    old="range(steps)",
    new='range(steps - len(set("".join(words))))',
    hint="You stop when the vocabulary, letters included, has `steps` symbols. `steps` is the "
    "number of merges.",
)

QUESTION.mistake(
    "the new symbols",
    old="return merges",
    new='return ["".join(pair) for pair in merges]',
    hint='You return the joined symbols. "abc" may be a + bc or ab + c, so a merge is '
    "remembered as a pair: a tuple of left and right.",
)
