"""One merge: a pair is joined wherever it stands."""

from __future__ import annotations

from coursekit.check.probe import after
from coursetools.questions import hidden, visible


def merge_pair(symbols, pair):
    """Return `symbols` with `pair` joined wherever it stands, from the left."""
    merged, place = [], 0
    while place < len(symbols):
        width = 2 if tuple(symbols[place : place + 2]) == tuple(pair) else 1
        merged.append("".join(symbols[place : place + width]))
        place += width
    return merged


@visible("n o o n, the pair at the end")
def n_o_o_n_the_pair(student):
    return student.merge_pair(["n", "o", "o", "n"], ("o", "n"))


@visible("o n i o n, twice the pair")
def o_n_i_o_n_twice(student):
    return student.merge_pair(["o", "n", "i", "o", "n"], ("o", "n"))


@visible("a a a b, where the pair a a overlaps itself")
def a_a_a_b_where_the(student):
    return student.merge_pair(["a", "a", "a", "b"], ("a", "a"))


@visible("th e s es e, where s e stands only in the letters")
def th_e_s_es_e_where(student):
    return student.merge_pair(["th", "e", "s", "es", "e"], ("s", "e"))


@visible("the input is left as it was")
def the_input_is_left_as_it(student):
    return after(student.merge_pair, ["lo", "w", "lo"], ("lo", "w"))


@hidden("nothing, and one symbol")
def merge_short(student):
    return student.merge_pair([], ("o", "f")), student.merge_pair(["of"], ("o", "f"))


@hidden("a pair that is not there")
def merge_absent(student):
    return student.merge_pair(list("without"), ("t", "w"))


@hidden("long symbols", weight=2)
def merge_long(student):
    symbols = ["tok", "en", "iz", "ation", "iz", "ation", "iz", "a", "tion"]
    return student.merge_pair(symbols, ("iz", "ation"))


@hidden("runs of one symbol", weight=2)
def merge_runs(student):
    return [student.merge_pair(["ha"] * length, ("ha", "ha")) for length in range(2, 8)]


@hidden("symbols that have a space or a sign in them")
def merge_signs(student):
    spaced = student.merge_pair([" ", "a", " ", "a b", "a", " "], ("a", " "))
    return spaced, student.merge_pair([".", "*", "\\", ".", "*"], (".", "*"))


@hidden("the last two are joined, in a new list", weight=2)
def merge_new(student):
    return after(student.merge_pair, ["z", "x", "y", "z"], ("y", "z"))
