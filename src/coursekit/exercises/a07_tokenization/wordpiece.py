"""The longest piece first."""

from __future__ import annotations

from coursekit.exercises.a07_tokenization.shared import READY
from coursekit.exercises.question import Question


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


QUESTION = Question(
    name="wordpiece",
    title="The longest piece first",
    points=3,
    difficulty=2,
    minutes=20,
    page="tokenization.html#sec-tokenization-wordpiece",
    hint="At each start, try the ends from the end of the word back. What you look up is the piece "
    "with ## before it, except at the start of the word, and that is also what you append. If "
    "no end fits, forget the pieces.",
    reference=wordpiece,
    forbidden=READY,
)


def _cuts() -> list[str]:
    return ["ab", "abc", "a", "##bcd", "##cd", "##d"]


@QUESTION.visible(says="unaffable")
def unaffable(student):
    return student.wordpiece("unaffable", ["un", "u", "##aff", "##a", "##able"])


@QUESTION.visible(says="playing, where ing is a word as well")
def playing_where_ing_is_a_word(student):
    return student.wordpiece("playing", ["play", "ing", "##in", "##ing", "##g"])


@QUESTION.visible(says="abcd, which can be cut in three ways")
def abcd_which_can_be_cut_in(student):
    return student.wordpiece("abcd", _cuts())


@QUESTION.visible(says="abcd, where the longest piece leads to a dead end")
def abcd_where_the_longest_piece_leads(student):
    return student.wordpiece("abcd", ["abc", "ab", "##cd"])


@QUESTION.visible(says="naïve, with a letter that no piece has")
def nave_with_a_letter_that_no(student):
    return student.wordpiece("naïve", ["na", "##ve", "##v", "##e", "ve"])


@QUESTION.visible(says="another name for the unknown")
def another_name_for_the_unknown(student):
    return student.wordpiece("xy", ["x", "y"], unknown="<unk>")


QUESTION.mistake(
    "no marks",
    old='"##" * (start > 0)',
    new='""',
    hint="You look up and return pieces without ##. Only the first piece of a word is written "
    'bare: "ing" in the vocabulary is a word of its own.',
)

QUESTION.mistake(
    "marked after the look-up",
    old="if mark + word[start:end] in",
    new="if word[start:end] in",
    hint='You look up the bare piece and add ## afterwards. "##ing" and "ing" are two entries; '
    "look up the one with the mark.",
)

QUESTION.mistake(
    "the mark lost",
    old="append(mark + word[start:end])",
    new="append(word[start:end])",
    hint="You find the right pieces and return them without their ##. Return what stands in "
    "the vocabulary.",
)

QUESTION.mistake(
    "the rest unknown",
    old="[unknown]",
    new="[*pieces, unknown]",
    hint="You keep the pieces before the dead end. The word is unknown as a whole: [unknown] "
    "and nothing else.",
)

QUESTION.mistake(
    "a letter unknown",
    old="return [unknown]",
    new=("pieces.append(unknown)\n            start += 1\n            continue"),
    hint="You skip one letter at a dead end and go on. The word is unknown as a whole: "
    "[unknown] and nothing else.",
)

QUESTION.mistake(
    "always [UNK]",
    old="[unknown]",
    new='["[UNK]"]',
    hint='You return "[UNK]" whatever the argument `unknown` says.',
)

QUESTION.mistake(
    "shortest first",
    old="range(len(word), start, -1)",
    new="range(start + 1, len(word) + 1)",
    hint="You take the shortest piece that fits. Try the ends from the end of the word back.",
)


@QUESTION.mistake(
    "going back",
    hint="You find a way out of the dead end by taking a shorter piece before it. WordPiece "
    "never goes back: that word is unknown.",
)
def pieces_go_back(word, vocabulary, unknown="[UNK]"):
    ways = {len(word): []}
    for start in range(len(word) - 1, -1, -1):
        mark = "##" * (start > 0)
        for end in range(start + 1, len(word) + 1):
            if end in ways and mark + word[start:end] in vocabulary:
                ways[start] = [mark + word[start:end], *ways[end]]
    return ways.get(0, [unknown])


@QUESTION.mistake(
    "from the end",
    hint="You cut off the longest piece at the end of the word. The longest one at the start "
    "goes first.",
)
def pieces_from_the_end(word, vocabulary, unknown="[UNK]"):
    found, end = [], len(word)
    while end > 0:
        pieces = [("##" * (start > 0) + word[start:end], start) for start in range(end)]
        piece, start = next((p for p in pieces if p[0] in vocabulary), (unknown, -1))
        if start < 0:
            return [unknown]
        found.insert(0, piece)
        end = start
    return found
