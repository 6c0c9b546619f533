"""BLEU of a corpus."""

from __future__ import annotations

import math

from coursekit.check.probe import after
from coursetools.questions import hidden, visible

from .shared import score

VERSE = (
    "in the beginning god made heaven and earth",
    "in the beginning god created heaven and earth",
)


WATERS = ("the spirit moved over the face of the waters", "and the spirit moved over the waters")


NIGHT = (
    "and he called the light day and the darkness night",
    "god called the light day and the darkness he called night",
)


LIGHT = ("and god saw the light", "and god saw the light that it was good")


def bleu(candidates, references):
    """Two lists of lists of words -> BLEU of the corpus, 0 to 100."""
    logs, ours, theirs = 0.0, sum(map(len, candidates)), sum(map(len, references))
    for n in (1, 2, 3, 4):
        found = total = 0
        for said, wanted in zip(candidates, references):
            grams = [tuple(said[i : i + n]) for i in range(len(said) - n + 1)]
            known = [tuple(wanted[i : i + n]) for i in range(len(wanted) - n + 1)]
            found += sum(min(grams.count(gram), known.count(gram)) for gram in set(grams))
            total += len(grams)
        if not found:
            return 0.0
        logs += math.log(found / total) / 4
    return 100 * min(1.0, math.exp(1 - theirs / ours)) * math.exp(logs)


def _scored(student: object, *pairs: tuple[str, str]) -> float:
    """Score a corpus of translations, each with its reference."""
    said, wanted = zip(*pairs)
    return student.bleu([text.split() for text in said], [text.split() for text in wanted])


@visible("word for word")
def word_for_word(student):
    return _scored(student, (LIGHT[1], LIGHT[1]))


@visible("one word of eight differs")
def one_word_of_eight_differs(student):
    return _scored(student, VERSE)


@visible("the same again and again")
def the_same_again_and_again(student):
    return _scored(student, ("on and on and on and on and", "on and on and on it goes for ever"))


@visible("too short")
def too_short(student):
    return _scored(student, LIGHT)


@visible("too long")
def too_long(student):
    return _scored(student, WATERS)


@visible("four sentences", weight=2)
def four_sentences(student):
    return _scored(student, VERSE, WATERS, NIGHT, LIGHT)


@visible("the right words in another order")
def the_right_words_in_another_order(student):
    return _scored(student, ("light the saw god and", "and god saw the light"))


FLOOD = (
    "and the waters rose and rose upon the earth and the earth was covered",
    "and the waters rose upon the earth greatly and all the earth was covered",
)


DOVE = ("he sent out a dove from him", "then he sent forth a dove")


CALL = ("who is there", "who is there ?")


YES = ("yes", "yes my lord")


@hidden("a corpus of two sentences", weight=2)
def bleu_two(student):
    return score(student, FLOOD, DOVE)


@hidden("sentences of fewer than four words among others", weight=2)
def bleu_short(student):
    return score(student, FLOOD, CALL, YES)


@hidden("short sentences only, and so no 4-gram at all")
def bleu_no_fourth(student):
    return score(student, CALL, YES)


@hidden("one sentence too long, one too short, just long enough together", weight=2)
def bleu_balanced(student):
    long, short = "a b c d e f g h i j", "a b c d e f"
    return score(student, (long, short), (short, long))


@hidden("an empty translation among others")
def bleu_one_empty(student):
    return score(student, ("", "and it was so"), FLOOD)


@hidden("nothing but empty translations")
def bleu_all_empty(student):
    return score(student, ("", "and it was so"), ("", "yes"))


@hidden("a word said too often, in two sentences")
def bleu_repeated(student):
    return score(
        student,
        ("very very very very good it was very good", "it was very very very very good"),
        ("very good", "it was good"),
    )


@hidden("the order of the sentences does not matter")
def bleu_shuffled(student):
    forwards = score(student, FLOOD, DOVE, CALL)
    backwards = score(student, CALL, DOVE, FLOOD)
    assert abs(forwards - backwards) < 1e-9
    return backwards


@hidden("translations and references stay as they were")
def bleu_keeps(student):
    said, wanted = ([text.split() for text in texts] for texts in zip(DOVE, FLOOD, CALL))
    return after(student.bleu, said, wanted)
