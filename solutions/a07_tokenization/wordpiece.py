"""The longest piece first."""

from __future__ import annotations

from coursekit.check.probe import after
from coursetools.questions import hidden, visible


def wordpiece(word, vocabulary, unknown="[UNK]"):
    """Return the longest pieces from the left, or only `unknown`."""
    pieces, start = [], 0
    while start < len(word):
        mark, ends = "##" * (start > 0), range(len(word), start, -1)
        end = next((end for end in ends if mark + word[start:end] in vocabulary), None)
        if end is None:
            return [unknown]
        pieces.append(mark + word[start:end])
        start = end
    return pieces


def _cuts() -> list[str]:
    return ["ab", "abc", "a", "##bcd", "##cd", "##d"]


@visible("unaffable")
def unaffable(student):
    return student.wordpiece("unaffable", ["un", "u", "##aff", "##a", "##able"])


@visible("playing, where ing is a word as well")
def playing_where_ing_is_a_word(student):
    return student.wordpiece("playing", ["play", "ing", "##in", "##ing", "##g"])


@visible("abcd, which can be cut in three ways")
def abcd_which_can_be_cut_in(student):
    return student.wordpiece("abcd", _cuts())


@visible("abcd, where the longest piece leads to a dead end")
def abcd_where_the_longest_piece_leads(student):
    return student.wordpiece("abcd", ["abc", "ab", "##cd"])


@visible("naïve, with a letter that no piece has")
def nave_with_a_letter_that_no(student):
    return student.wordpiece("naïve", ["na", "##ve", "##v", "##e", "ve"])


@visible("another name for the unknown")
def another_name_for_the_unknown(student):
    return student.wordpiece("xy", ["x", "y"], unknown="<unk>")


@hidden("no letters")
def wordpiece_nothing(student):
    return student.wordpiece("", ["a", "##a"])


@hidden("a word that is a piece")
def wordpiece_whole(student):
    return student.wordpiece("token", ["t", "tok", "##en", "token", "##oken", "tokens"])


@hidden("unknown at the start, in the middle, at the end", weight=2)
def wordpiece_unknown(student):
    vocabulary = ["un", "##do", "do", "##ing", "##n"]
    words = ("redo", "unredo", "undoes", "undoing", "xundo")
    return [student.wordpiece(word, vocabulary) for word in words]


@hidden("one letter after the other")
def wordpiece_letters(student):
    return student.wordpiece("assess", ["a", "##s", "##e"])


@hidden("the greedy way is not the shortest, or ends nowhere", weight=2)
def wordpiece_greedy(student):
    vocabulary = ["inter", "in", "internat", "##ion", "##i", "##o", "##n", "##national", "##al"]
    end = student.wordpiece("interned", ["inter", "intern", "##ned"])
    return student.wordpiece("international", vocabulary), end


@hidden("another unknown, and one that is a piece as well")
def wordpiece_named(student):
    odd = student.wordpiece("?", ["!"], unknown="?")
    return odd, student.wordpiece("été", ["ét", "##e"], unknown="[?]")


@hidden("signs and marks inside a word")
def wordpiece_marks(student):
    vocabulary = ["c", "#", "###", "##++", "##+", "c#"]
    return [student.wordpiece(word, vocabulary) for word in ("c++", "c#", "##", "c#+")]


@hidden("the vocabulary stays as it was")
def wordpiece_keeps(student):
    return after(student.wordpiece, "reread", ["re", "##read", "##re", "##ad"])
