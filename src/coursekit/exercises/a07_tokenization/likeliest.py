"""The likeliest cut of a word."""

from __future__ import annotations

from coursekit.exercises.a07_tokenization.shared import READY
from coursekit.exercises.question import Question


def likeliest(word, scores):
    """Return the pieces of `word` with the greatest sum of scores."""
    best = [(0.0, []), *[None] * len(word)]  # up to each end: the best sum, and its pieces
    for end in range(1, len(word) + 1):
        for start in range(end):
            if best[start] and (piece := word[start:end]) in scores:
                way = (best[start][0] + scores[piece], [*best[start][1], piece])
                best[end] = max(best[end] or way, way, key=lambda way: way[0])
    return best[-1][1] if best[-1] else []


QUESTION = Question(
    name="likeliest",
    title="The likeliest way to cut a word",
    points=5,
    difficulty=3,
    minutes=40,
    page="tokenization.html#sec-tokenization-unigram",
    hint="For each end, let the best way to write the word up to there be known: its sum, and its "
    "pieces (or where its last piece begins). The empty beginning has a sum of 0 and no "
    "pieces. For each end try all starts before it: the best way to there, plus the score of "
    "the piece between. A place that no way leads to stays None.",
    reference=likeliest,
    forbidden=READY,
)


@QUESTION.visible(says="abc, four ways")
def abc_four_ways(student):
    return student.likeliest(
        "abc", {"a": -2.0, "b": -2.0, "c": -2.0, "ab": -3.0, "bc": -2.5, "abc": -6.5}
    )


@QUESTION.visible(says="abcde, two ways")
def abcde_two_ways(student):
    return student.likeliest("abcde", {"ab": -4.0, "cde": -5.0, "abc": -4.5, "d": -1.5, "e": -2.0})


@QUESTION.visible(says="abcd, where the longest piece leads nowhere")
def abcd_where_the_longest_piece_leads(student):
    return student.likeliest("abcd", {"abc": -1.0, "ab": -3.0, "cd": -3.0, "a": -2.0, "bcd": -5.5})


@QUESTION.visible(says="abcd, where a good piece has bad company")
def abcd_where_a_good_piece_has(student):
    return student.likeliest(
        "abcd", {"abc": -7.0, "d": -1.0, "ab": -3.0, "cd": -2.0, "a": -1.5, "b": -9.0}
    )


@QUESTION.visible(says="a word that cannot be written")
def a_word_that_cannot_be_written(student):
    return student.likeliest("abx", {"a": -1.0, "b": -1.0, "ab": -1.5})


@QUESTION.mistake(
    "longest first",
    hint="You take the longest piece at each place. A long piece may be rare, or lead nowhere; "
    "the scores decide, and of the whole word.",
)
def likeliest_longest_first(word, scores):
    found = []
    while word:
        piece = next((word[:end] for end in range(len(word), 0, -1) if word[:end] in scores), "")
        if not piece:
            return []
        found.append(piece)
        word = word[len(piece) :]
    return found


@QUESTION.mistake(
    "step by step",
    hint="You take the piece with the best score at each place. What it leaves behind may be "
    "bad: compare sums over the whole word.",
)
def likeliest_step_by_step(word, scores):
    found = []
    while word:
        pieces = [word[:end] for end in range(1, len(word) + 1) if word[:end] in scores]
        if not pieces:
            return []
        found.append(max(pieces, key=scores.get))
        word = word[len(found[-1]) :]
    return found


QUESTION.mistake(
    "fewest pieces",
    old="best[start][0] + scores[piece]",
    new="best[start][0] - 1",
    hint="You look for the fewest pieces. Two frequent pieces can be likelier than one rare "
    "one: add the scores.",
)

QUESTION.mistake(
    "probabilities added",
    old="+ scores[piece]",
    new="+ 2.71828 ** scores[piece]",
    hint="You add probabilities, which rewards many pieces. Independent things multiply, and "
    "the scores are logarithms: add them as they are.",
)

QUESTION.mistake(
    "only the last piece",
    old="best[start][0] + scores[piece]",
    new="scores[piece]",
    hint="For each end you compare the last pieces alone. Add what the way to their start has "
    "cost: best[start] + score.",
)

QUESTION.mistake(
    "the least likely",
    old="max(",
    new="min(",
    hint="You take the smallest sum. The scores are logarithms of probabilities, all negative: "
    "the likeliest way has the greatest.",
)

QUESTION.mistake(
    "last piece first",
    old="[*best[start][1], piece]",
    new="[piece, *best[start][1]]",
    hint="Your pieces are right and stand in the wrong order. Whoever walks back from the end "
    "must turn the list around.",
)

QUESTION.mistake(
    "as far as it goes",
    old="best[-1][1] if best[-1] else []",
    new="next(way[1] for way in reversed(best) if way)",
    hint="Where the word cannot be written you return the pieces of its beginning. Return an "
    "empty list: these pieces do not spell the word.",
)
