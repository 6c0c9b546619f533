"""The likeliest cut of a word."""

from __future__ import annotations

from coursekit.check.probe import after
from coursetools.questions import hidden, visible


def likeliest(word, scores):
    """Return the pieces of `word` with the greatest sum of scores."""
    best = [(0.0, []), *[None] * len(word)]  # up to each end: the best sum, and its pieces
    for end in range(1, len(word) + 1):
        for start in range(end):
            if best[start] and (piece := word[start:end]) in scores:
                way = (best[start][0] + scores[piece], [*best[start][1], piece])
                best[end] = max(best[end] or way, way, key=lambda way: way[0])
    return best[-1][1] if best[-1] else []


@visible("abc, four ways")
def abc_four_ways(student):
    return student.likeliest(
        "abc", {"a": -2.0, "b": -2.0, "c": -2.0, "ab": -3.0, "bc": -2.5, "abc": -6.5}
    )


@visible("abcde, two ways")
def abcde_two_ways(student):
    return student.likeliest("abcde", {"ab": -4.0, "cde": -5.0, "abc": -4.5, "d": -1.5, "e": -2.0})


@visible("abcd, where the longest piece leads nowhere")
def abcd_where_the_longest_piece_leads(student):
    return student.likeliest("abcd", {"abc": -1.0, "ab": -3.0, "cd": -3.0, "a": -2.0, "bcd": -5.5})


@visible("abcd, where a good piece has bad company")
def abcd_where_a_good_piece_has(student):
    return student.likeliest(
        "abcd", {"abc": -7.0, "d": -1.0, "ab": -3.0, "cd": -2.0, "a": -1.5, "b": -9.0}
    )


@visible("a word that cannot be written")
def a_word_that_cannot_be_written(student):
    return student.likeliest("abx", {"a": -1.0, "b": -1.0, "ab": -1.5})


@hidden("no letters")
def likeliest_nothing(student):
    return student.likeliest("", {"a": -1.0})


@hidden("a word in one piece, likely and unlikely")
def likeliest_whole(student):
    letters = {"o": -2.5, "n": -2.75}
    likely = student.likeliest("on", {**letters, "on": -5.0})
    return likely, student.likeliest("on", {**letters, "on": -5.5})


@hidden("many ways, few of them good", weight=2)
def likeliest_many(student):
    word = "tokenization"
    spans = [(start, end) for start in range(12) for end in range(start + 1, 13)]
    scores = {
        word[start:end]: -3.0 - (end - start) ** 2 / 2 - (37 * start + 61 * end) % 89 / 20
        for start, end in spans
    }
    return student.likeliest(word, scores)


@hidden("a long word, for which all ways are too many", weight=2)
def likeliest_long(student):
    scores = {"a": -3.0, "aa": -5.5, "aaa": -8.0, "b": -2.0, "ab": -3.5, "ba": -3.75}
    return student.likeliest("aaab" * 15, scores)


@hidden("places that no way leads to")
def likeliest_gaps(student):
    scores = {"the": -2.0, "there": -6.0, "re": -3.0, "in": -2.0, "ein": -1.0, "r": -9.0}
    return [student.likeliest(word, scores) for word in ("therein", "therin", "thin", "ather")]


@hidden("scores above zero, and impossible pieces")
def likeliest_signs(student):
    scores = {"x": 0.5, "y": -0.25, "xy": 0.75, "yx": 1.5, "xyx": 1.25}
    return student.likeliest("xyxyx", scores), student.likeliest("xz", scores)


@hidden("the scores are left as they were")
def likeliest_keeps(student):
    return after(student.likeliest, "abab", {"ab": -2.0, "a": -0.5, "b": -1.0, "ba": -4.0})
