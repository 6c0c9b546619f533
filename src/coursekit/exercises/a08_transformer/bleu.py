"""BLEU of a corpus."""

from __future__ import annotations

import math

from coursekit.exercises.question import Question

READY_BLEU = ("sacrebleu", "nltk", "torchmetrics", "evaluate", "torchtext", "coursekit")

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


QUESTION = Question(
    name="bleu",
    title="How good is a translation?",
    points=4,
    difficulty=2,
    minutes=35,
    page="translation.html#sec-translation-bleu",
    hint="For one sentence and one n: count the n-grams as tuples; a Counter does, and & of two "
    "Counters takes the smaller count of each. Add up over all sentences, separately for n = "
    "1 … 4; divide only then. Everything after that is one line.",
    reference=bleu,
    forbidden=READY_BLEU,
)


def _scored(student: object, *pairs: tuple[str, str]) -> float:
    """Score a corpus of translations, each with its reference."""
    said, wanted = zip(*pairs)
    return student.bleu([text.split() for text in said], [text.split() for text in wanted])


@QUESTION.visible(says="word for word")
def word_for_word(student):
    return _scored(student, (LIGHT[1], LIGHT[1]))


@QUESTION.visible(says="one word of eight differs")
def one_word_of_eight_differs(student):
    return _scored(student, VERSE)


@QUESTION.visible(says="the same again and again")
def the_same_again_and_again(student):
    return _scored(student, ("on and on and on and on and", "on and on and on it goes for ever"))


@QUESTION.visible(says="too short")
def too_short(student):
    return _scored(student, LIGHT)


@QUESTION.visible(says="too long")
def too_long(student):
    return _scored(student, WATERS)


@QUESTION.visible(says="four sentences", weight=2)
def four_sentences(student):
    return _scored(student, VERSE, WATERS, NIGHT, LIGHT)


@QUESTION.visible(says="the right words in another order")
def the_right_words_in_another_order(student):
    return _scored(student, ("light the saw god and", "and god saw the light"))


QUESTION.mistake(
    "not clipped",
    old="found += sum(min(grams.count(gram), known.count(gram)) for gram in set(grams))",
    new="found += sum(gram in known for gram in grams)",
    hint="A word that stands once in the reference counts each time that you say it. It may "
    "count as often as the reference has it: the smaller of both counts.",
)

QUESTION.mistake(
    "each n-gram once",
    old=(
        "found += sum(min(grams.count(gram), known.count(gram)) for gram in set(grams))\n"
        "            total += len(grams)"
    ),
    new=("found += len(set(grams) & set(known))\n            total += len(set(grams))"),
    hint="You count each n-gram once, however often it stands there. Numbers of times are "
    "needed on both sides: Counter, not set.",
)

QUESTION.mistake(
    "recall",
    old="total += len(grams)",
    new="total += len(known)",
    hint="You divide by the number of n-grams of the reference, which is recall. Precision asks "
    "how much of what was said is right: divide by those of the translation.",
)

QUESTION.mistake(
    "the last n-gram missing",
    old=(
        "range(len(said) - n + 1)]\n"
        "            known = [tuple(wanted[i : i + n]) for i in range(len(wanted) - n + 1)]"
    ),
    new=(
        "range(len(said) - n)]\n"
        "            known = [tuple(wanted[i : i + n]) for i in range(len(wanted) - n)]"
    ),
    hint="The last n-gram of each sentence is missing. Six words have six 1-grams and three "
    "4-grams: len(words) - n + 1.",
)

QUESTION.mistake(
    "arithmetic mean",
    old=(
        "if not found:\n"
        "            return 0.0\n"
        "        logs += math.log(found / total) / 4\n"
        "    return 100 * min(1.0, math.exp(1 - theirs / ours)) * math.exp(logs)"
    ),
    new=(
        "logs += found / max(total, 1) / 4\n"
        "    return 100 * min(1.0, math.exp(1 - theirs / ours)) * logs"
    ),
    hint="You take the arithmetic mean of the four precisions. BLEU takes the geometric one, "
    "the fourth root of the product: it is 0 as soon as one of them is.",
)

QUESTION.mistake(
    "no fourth root",
    old="/ total) / 4",
    new="/ total)",
    hint="You return the product of the four precisions. Take its fourth root: the mean of the "
    "logs, not their sum.",
)

QUESTION.mistake(
    "no brevity penalty",
    old="min(1.0, math.exp(1 - theirs / ours)) * ",
    new="",
    hint="What is too short is not punished. Precision alone likes a translation that says "
    "only what it is sure of; multiply by exp(1 - r/c) where c is less than r.",
)

QUESTION.mistake(
    "long texts punished",
    old="theirs / ours",
    new="ours / theirs",
    hint="Your penalty is turned round: it strikes what is too long. c is our length and r "
    "the reference's, and it is exp(1 - r/c), at most 1.",
)

QUESTION.mistake(
    "long texts rewarded",
    old="min(1.0, math.exp(1 - theirs / ours))",
    new="math.exp(1 - theirs / ours)",
    hint="You multiply by exp(1 - r/c) always. Where c is larger than r that is more than 1: "
    "there the factor is 1.",
)


@QUESTION.mistake(
    "mean over sentences",
    hint="You score each sentence and take the mean. BLEU is a number of the whole corpus: add "
    "up counts and lengths over all sentences first. (A sentence without a 4-gram in "
    "common would be worth nothing.)",
)
def bleu_by_sentence(candidates, references):
    scores = []
    for said, wanted in zip(candidates, references):
        logs = 0.0
        for n in (1, 2, 3, 4):
            grams = [tuple(said[i : i + n]) for i in range(len(said) - n + 1)]
            known = [tuple(wanted[i : i + n]) for i in range(len(wanted) - n + 1)]
            found = sum(min(grams.count(gram), known.count(gram)) for gram in set(grams))
            logs += math.log(found / len(grams)) / 4 if found else -math.inf
        short = min(1.0, math.exp(1 - len(wanted) / len(said)))
        scores.append(100 * short * math.exp(logs))
    return sum(scores) / len(scores)


@QUESTION.mistake(
    "one bag for all",
    hint="You throw the n-grams of all sentences into one bag, so that a word may find its "
    "match in the reference of another sentence. Compare each sentence with its own, "
    "and add up the counts.",
)
def bleu_one_bag(candidates, references):
    logs, ours, theirs = 0.0, sum(map(len, candidates)), sum(map(len, references))
    for n in (1, 2, 3, 4):
        grams = [tuple(said[i : i + n]) for said in candidates for i in range(len(said) - n + 1)]
        known = [tuple(text[i : i + n]) for text in references for i in range(len(text) - n + 1)]
        found = sum(min(grams.count(gram), known.count(gram)) for gram in set(grams))
        if not found:
            return 0.0
        logs += math.log(found / len(grams)) / 4
    return 100 * min(1.0, math.exp(1 - theirs / ours)) * math.exp(logs)


QUESTION.mistake(
    "not times 100",
    old="100 * ",
    new="",
    hint="Yours lies between 0 and 1. Multiply by 100, as everybody does who prints a BLEU.",
)
