"""One merge: a pair is joined wherever it stands."""

from __future__ import annotations

from coursekit.exercises.a07_tokenization.shared import READY
from coursekit.exercises.probe import after
from coursekit.exercises.question import Question


def merge_pair(symbols, pair):
    """Return `symbols` with `pair` joined wherever it stands, from the left."""
    merged, place = [], 0
    while place < len(symbols):
        width = 2 if tuple(symbols[place : place + 2]) == tuple(pair) else 1
        merged.append("".join(symbols[place : place + width]))
        place += width
    return merged


QUESTION = Question(
    name="merge_pair",
    title="Two neighbours become one",
    points=2,
    difficulty=1,
    minutes=15,
    page="tokenization.html#sec-tokenization-bpe",
    hint="Walk from the left with a place of your own (a while loop). Where the two symbols at "
    "that place are the pair, append the joined one and go on two places; else append one symbol "
    "and go on one.",
    reference=merge_pair,
    forbidden=READY,
)


@QUESTION.visible(says="n o o n, the pair at the end")
def n_o_o_n_the_pair(student):
    return student.merge_pair(["n", "o", "o", "n"], ("o", "n"))


@QUESTION.visible(says="o n i o n, twice the pair")
def o_n_i_o_n_twice(student):
    return student.merge_pair(["o", "n", "i", "o", "n"], ("o", "n"))


@QUESTION.visible(says="a a a b, where the pair a a overlaps itself")
def a_a_a_b_where_the(student):
    return student.merge_pair(["a", "a", "a", "b"], ("a", "a"))


@QUESTION.visible(says="th e s es e, where s e stands only in the letters")
def th_e_s_es_e_where(student):
    return student.merge_pair(["th", "e", "s", "es", "e"], ("s", "e"))


@QUESTION.visible(says="the input is left as it was")
def the_input_is_left_as_it(student):
    return after(student.merge_pair, ["lo", "w", "lo"], ("lo", "w"))


@QUESTION.mistake(
    "the first only",
    hint="You stop after the first pair. All of them are merged, in one walk from the left.",
)
def merge_first_only(symbols, pair):
    for place in range(len(symbols) - 1):
        if (symbols[place], symbols[place + 1]) == pair:
            return [*symbols[:place], "".join(pair), *symbols[place + 2 :]]
    return list(symbols)


QUESTION.mistake(
    "the right half stays",
    old="place += width",
    new="place += 1",
    hint="Your joined symbol is there, and so is its right half. After a merge, go on two places.",
)


@QUESTION.mistake(
    "from the right",
    hint="In a a a you merge the last two. Walk from the left, so that it becomes aa a.",
)
def merge_from_the_right(symbols, pair):
    found, place = [], len(symbols)
    while place:
        width = 2 if tuple(symbols[max(place - 2, 0) : place]) == tuple(pair) else 1
        found.insert(0, "".join(symbols[place - width : place]))
        place -= width
    return found


@QUESTION.mistake(
    "replaced in a text",
    hint='You join the symbols with spaces and replace in that text. There "s e" is also found '
    'where "s es" or "es e" stands. Compare whole symbols.',
)
def merge_as_text(symbols, pair):
    return " ".join(symbols).replace(" ".join(pair), "".join(pair)).split()


@QUESTION.mistake(
    "letters, not symbols",
    hint="You look at letters, so that what was joined before is lost. The units are the "
    "symbols of the list, whatever their length.",
)
def merge_letters(symbols, pair):
    text, found = "".join(symbols), []
    while text:
        width = len("".join(pair)) if text.startswith("".join(pair)) else 1
        found.append(text[:width])
        text = text[width:]
    return found


QUESTION.mistake(
    "the last symbol lost",
    old="len(symbols):",
    new="len(symbols) - 1:",
    hint="The last symbol is missing where it is in no pair. It has no right neighbour, but it "
    "stays.",
)

QUESTION.mistake(
    "either order",
    old="tuple(symbols[place : place + 2]) == tuple(pair)",
    new="sorted(symbols[place : place + 2]) == sorted(pair)",
    hint="You merge the two in either order. A pair has a left and a right half: n o is not o n.",
)


@QUESTION.mistake(
    "a whole run",
    hint="You make one symbol of all of a a a. A merge joins two; the third is left over.",
)
def merge_whole_run(symbols, pair):
    found, left = [], ""
    for symbol in symbols:
        if found and (left, symbol) == pair:
            found[-1] += symbol
        else:
            found.append(symbol)
        left = symbol
    return found
