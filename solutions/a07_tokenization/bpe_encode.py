"""Using merges: what was learned first comes first."""

from __future__ import annotations

from coursekit.check.probe import after
from coursetools.questions import hidden, visible

from .merge_pair import merge_pair

BC = ("b", "c")


AB = ("a", "b")


def bpe_encode(word, merges):
    """Return the symbols of `word`, merged in the order of `merges`."""
    rank = {tuple(pair): place for place, pair in reversed([*enumerate(merges)])}
    symbols = list(word)
    while found := [pair for pair in zip(symbols, symbols[1:]) if pair in rank]:
        symbols = merge_pair(symbols, min(found, key=rank.get))
    return symbols


@visible("lowest, by four merges")
def lowest_by_four_merges(student):
    return student.bpe_encode("lowest", [("e", "s"), ("es", "t"), ("l", "o"), ("lo", "w")])


@visible("abc, where b c was learned before a b")
def abc_where_b_c_was_learned(student):
    return student.bpe_encode("abc", [BC, AB])


@visible("abc, where a b was learned before b c")
def abc_where_a_b_was_learned(student):
    return student.bpe_encode("abc", [AB, BC])


@visible("abc, where ab c was learned, but after b c")
def abc_where_ab_c_was_learned(student):
    return student.bpe_encode("abc", [BC, AB, ("ab", "c")])


@visible("abcd, where a bc was learned last")
def abcd_where_a_bc_was_learned(student):
    return student.bpe_encode("abcd", [BC, AB, ("a", "bc")])


@visible("papa and aaa")
def papa_and_aaa(student):
    return [
        student.bpe_encode("papa", [("p", "a")]),
        student.bpe_encode("aaa", [("a", "a")]),
    ]


@hidden("no letters, and no merges")
def encode_nothing(student):
    return student.bpe_encode("", [("a", "t")]), student.bpe_encode("attic", [])


@hidden("letters that training has not seen")
def encode_unseen(student):
    return student.bpe_encode("the 🙂!", [("h", "e"), ("t", "he")])


@hidden("a word of training comes out whole")
def encode_whole(student):
    merges = [("n", "g"), ("i", "ng"), ("t", "h"), ("th", "ing")]
    return student.bpe_encode("thing", merges), student.bpe_encode("things", merges)


@hidden("an early merge spoils a late one", weight=2)
def encode_spoiled(student):
    merges = [("e", "r"), ("h", "e"), ("t", "he"), ("r", "e"), ("er", "e"), ("he", "r")]
    return [student.bpe_encode(word, merges) for word in ("there", "then", "her", "error")]


@hidden("merges of merges, in several places", weight=2)
def encode_several(student):
    merges = [("a", "n"), ("an", "an"), ("n", "a"), ("b", "anan"), ("banan", "a")]
    return [student.bpe_encode(word, merges) for word in ("bananarama", "ananas", "nannan")]


@hidden("a run of one letter")
def encode_run(student):
    merges = [("z", "z"), ("zz", "zz"), ("zz", "z")]
    return [student.bpe_encode("z" * length, merges) for length in range(1, 9)]


@hidden("the merges are left as they were")
def encode_keeps(student):
    return after(student.bpe_encode, "sees", [("s", "e"), ("e", "s")])
