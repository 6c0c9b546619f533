"""Using merges: what was learned first comes first."""

from __future__ import annotations

from coursekit.exercises.a07_tokenization.merge_pair import merge_pair
from coursekit.exercises.a07_tokenization.shared import READY
from coursekit.exercises.question import Question

BC = ("b", "c")

AB = ("a", "b")


def bpe_encode(word, merges):
    """Return the symbols of `word`, merged in the order of `merges`."""
    rank = {tuple(pair): place for place, pair in reversed([*enumerate(merges)])}
    symbols = list(word)
    while found := [pair for pair in zip(symbols, symbols[1:]) if pair in rank]:
        symbols = merge_pair(symbols, min(found, key=rank.get))
    return symbols


QUESTION = Question(
    name="bpe_encode",
    title="Cut a word that was never seen",
    points=3,
    difficulty=2,
    minutes=25,
    page="tokenization.html#sec-tokenization-bpe",
    hint="Start from the letters. Of the pairs that stand in the word now, find the one that "
    "stands first in `merges`, merge it with your merge_pair, and look again, until no pair of "
    "the word is in the list.",
    reference=bpe_encode,
    forbidden=READY,
    needs=("merge_pair",),
)


@QUESTION.visible(says="lowest, by four merges")
def lowest_by_four_merges(student):
    return student.bpe_encode("lowest", [("e", "s"), ("es", "t"), ("l", "o"), ("lo", "w")])


@QUESTION.visible(says="abc, where b c was learned before a b")
def abc_where_b_c_was_learned(student):
    return student.bpe_encode("abc", [BC, AB])


@QUESTION.visible(says="abc, where a b was learned before b c")
def abc_where_a_b_was_learned(student):
    return student.bpe_encode("abc", [AB, BC])


@QUESTION.visible(says="abc, where ab c was learned, but after b c")
def abc_where_ab_c_was_learned(student):
    return student.bpe_encode("abc", [BC, AB, ("ab", "c")])


@QUESTION.visible(says="abcd, where a bc was learned last")
def abcd_where_a_bc_was_learned(student):
    return student.bpe_encode("abcd", [BC, AB, ("a", "bc")])


@QUESTION.visible(says="papa and aaa")
def papa_and_aaa(student):
    return [
        student.bpe_encode("papa", [("p", "a")]),
        student.bpe_encode("aaa", [("a", "a")]),
    ]


@QUESTION.mistake(
    "longest first",
    hint="You cut off the longest known symbol from the left. That is WordPiece's way. Here "
    "the order in which merges were learned decides.",
)
def encode_longest_first(word, merges):
    known, found = {left + right for left, right in merges}, []
    while word:
        ends = range(len(word), 0, -1)
        end = next(end for end in ends if word[:end] in known or end == 1)
        found.append(word[:end])
        word = word[end:]
    return found


@QUESTION.mistake(
    "from left to right",
    hint="You merge the leftmost pair that is in the list. It is the place in the list that "
    "counts, not the place in the word: the earliest merge goes first.",
)
def encode_left_to_right(word, merges):
    parts, place = list(word), 0
    while place < len(parts) - 1:
        if (parts[place], parts[place + 1]) in merges:
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
            place = 0
        else:
            place += 1
    return parts


QUESTION.mistake(
    "latest first",
    old="min(found",
    new="max(found",
    hint="You begin with what was learned last. The words of training were merged from the "
    "first on, and a new word goes the same way.",
)


@QUESTION.mistake(
    "each merge once", hint="You use each merge for one place. It is made wherever the pair stands."
)
def encode_each_merge_once(word, merges):
    text = "".join(f"<{letter}>" for letter in word)
    for left, right in merges:
        text = text.replace(f"<{left}><{right}>", f"<{left}{right}>", 1)
    return text[1:-1].split("><") if text else []


QUESTION.mistake(
    "one merge only",
    old="while found",
    new="if found",
    hint="You stop after one merge. Go on as long as some pair of the word is in the list.",
)


@QUESTION.mistake(
    "one sweep",
    hint="You go over the letters once, and what was joined is never joined again. After each "
    "merge look at the new neighbours.",
)
def encode_one_sweep(word, merges):
    found, place = [], 0
    while place < len(word):
        width = 2 if tuple(word[place : place + 2]) in merges else 1
        found.append(word[place : place + width])
        place += width
    return found


QUESTION.mistake(
    "the whole word first",
    old="rank = ",
    new=(
        "if any(left + right == word for left, right in merges):\n"
        "        return [word]\n"
        "    rank = "
    ),
    hint="You return the word whole if some merge spells it. The merges that come before may "
    "lead elsewhere, and then that symbol is never reached.",
)


@QUESTION.mistake(
    "from the right", hint="In a a a you merge the last two. Merge from the left, as in merge_pair."
)
def encode_from_the_right(word, merges):
    text = "".join(f"<{letter}>" for letter in word)
    for left, right in merges:
        text = f"<{left}{right}>".join(text.rsplit(f"<{left}><{right}>"))
    return text[1:-1].split("><") if text else []
