"""The sentences of a document in another order, each of them whole: BART's permutation."""

from __future__ import annotations

from coursekit.exercises.probe import after
from coursekit.exercises.question import Question


def shuffle_sentences(tokens, order, stops):
    """tokens, the order of its sentences, ids that end one -> the document in that order."""
    sentences = []
    for place, token in enumerate(tokens):
        if place == 0 or (tokens[place - 1] in stops and token not in stops):
            sentences.append([])
        sentences[-1].append(token)
    if sorted(order) != list(range(len(sentences))):
        raise ValueError(f"order must name each of {len(sentences)} sentences once, found {order}")
    return [token for number in order for token in sentences[number]]


QUESTION = Question(
    name="shuffle_sentences",
    title="The same sentences, another order",
    points=3,
    difficulty=1,
    minutes=25,
    page="t5.html#sec-t5-shuffle",
    hint="First make a list of sentences, each a list of ids, and print it. When does a token "
    "begin a new one? Look at the token and at the one before it: only one of the four "
    "combinations of stop and no stop does. With the list made, hold `order` against it, and join.",
    reference=shuffle_sentences,
    forbidden=("coursekit",),
)


def _tried(student, *given) -> object:
    """What comes out, or the name of the error."""
    try:
        return student.shuffle_sentences(*given)
    except Exception as error:
        return type(error).__name__


@QUESTION.visible(says="three sentences")
def three_sentences(student):
    return student.shuffle_sentences([11, 12, 4, 13, 4, 14, 15, 16, 4], [1, 2, 0], [4])


@QUESTION.visible(says="several kinds of stops, and some in a row", weight=2)
def stops_in_a_row(student):
    tokens = [11, 5, 6, 12, 13, 4, 4, 4, 14, 7, 15, 6, 5, 16, 5, 4]
    return student.shuffle_sentences(tokens, [3, 1, 4, 0, 2], [4, 5, 6, 7])


@QUESTION.visible(says="no stop behind the last sentence")
def no_stop_at_the_end(student):
    tokens = [11, 4, 12, 13, 4, 14, 15]
    return [student.shuffle_sentences(list(tokens), order, [4]) for order in ([2, 0, 1], [0, 2, 1])]


@QUESTION.visible(says="stops in front of everything, sentences that come twice")
def stops_in_front(student):
    tokens = [4, 5, 11, 12, 4, 11, 12, 4, 5, 12, 5]
    return student.shuffle_sentences(tokens, [2, 3, 1, 0], [5, 4])


@QUESTION.visible(says="an order that leaves a sentence out, or names one twice, or one too many")
def wrong_orders(student):
    orders = [0, 1], [0, 2, 2], [2, 1, 0, 3], [1, 2, 3], [0, 1, -1], [0, 1, 2, 1], [0, 0, 1, 2]
    tokens = [11, 4, 12, 4, 13, 14]
    return [_tried(student, list(tokens), order, [4]) for order in orders]


@QUESTION.visible(says="a single sentence, and nothing at all")
def one_and_none(student):
    return student.shuffle_sentences([11, 12], [0], [4]), student.shuffle_sentences([], [], [4])


@QUESTION.visible(says="what was given stays as it was")
def what_was_given_stays(student):
    tokens = [11, 4, 12, 13, 5, 14]
    return after(student.shuffle_sentences, tokens, [2, 0, 1], [4, 5])


BEGINS = "if place == 0 or (tokens[place - 1] in stops and token not in stops):"
CHECK = (
    "    if sorted(order) != list(range(len(sentences))):\n"
    '        raise ValueError(f"order must name each of {len(sentences)} sentences once, '
    'found {order}")\n'
)
RETURN = "return [token for number in order for token in sentences[number]]"

QUESTION.mistake(
    "tokens shuffled",
    old=RETURN,
    new="return [tokens[number] for number in order]",
    hint="You put single tokens in order. The numbers in `order` are those of sentences, and a "
    "sentence stays whole.",
)

QUESTION.mistake(
    "stops lost",
    old="        sentences[-1].append(token)\n",
    new="        if token not in stops:\n            sentences[-1].append(token)\n",
    hint="Your stops are gone: you split at them and leave them out. A stop belongs to the "
    "sentence that it ends.",
)

QUESTION.mistake(
    "one stop of several",
    old="        sentences[-1].append(token)\n",
    new="        if token not in stops or place == 0 or tokens[place - 1] not in stops:\n"
    "            sentences[-1].append(token)\n",
    hint="Of several stops in a row you keep the first. All of them belong to the sentence.",
)

QUESTION.mistake(
    "stops lost, the first one put behind each",
    old=RETURN,
    new="return [x for n in order for x in "
    "[*[y for y in sentences[n] if y not in stops], stops[0]]]",
    hint="You split at the stops, and put one and the same stop behind each sentence again. Which "
    "stop it was, how many, and whether there was one: all that stays with the sentence.",
)

QUESTION.mistake(
    "the stop in front of the next",
    old=BEGINS,
    new="if place == 0 or token in stops:",
    hint="Your sentences begin with a stop: it goes along with the sentence behind it. A stop "
    "belongs to the sentence that it ends.",
)

QUESTION.mistake(
    "each stop ends a sentence",
    old=BEGINS,
    new="if place == 0 or tokens[place - 1] in stops:",
    hint="Where stops stand in a row, as in “?!”, each ends a sentence in yours. Only the last of "
    "them does.",
)

QUESTION.mistake(
    "each stop ends a sentence, and nothing else does",
    old=BEGINS + "\n            sentences.append([])\n        sentences[-1].append(token)\n",
    new="if place == 0 or tokens[place - 1] in stops:\n            sentences.append([])\n"
    "        sentences[-1].append(token)\n"
    "    if tokens and tokens[-1] not in stops:\n        sentences.pop()\n",
    hint="You close a sentence at each stop and nowhere else. Where stops stand in a row only the "
    "last of them ends one; and what stands behind the last stop is a sentence as well.",
)

QUESTION.mistake(
    "stops in front are no sentence",
    old=BEGINS,
    new="if place == 0 or (tokens[place - 1] in stops and token not in stops and "
    "any(x not in stops for x in tokens[:place])):",
    hint="Stops that open the document are no sentence in yours: they are lost, or go with the "
    "first words. They are a sentence of their own, by the same rule as all others.",
)

QUESTION.mistake(
    "the last sentence lost",
    old=CHECK,
    new="    if tokens and tokens[-1] not in stops:\n        sentences.pop()\n" + CHECK,
    hint="What stands behind the last stop is no sentence in yours. It has no stop, and is one all "
    "the same.",
)

QUESTION.mistake(
    "a stop for the last sentence",
    old=RETURN,
    new="if tokens and tokens[-1] not in stops:\n"
    f"        sentences[-1].append(stops[0])\n    {RETURN}",
    hint="You put a stop behind the last sentence, which had none. Nothing is added: where the "
    "sentence without a stop stands now is for the model to notice.",
)

QUESTION.mistake(
    "the first kind of stop alone",
    old=BEGINS,
    new="if place == 0 or (tokens[place - 1] == stops[0] and token != stops[0]):",
    hint="Only the first id in `stops` ends a sentence in yours. Each of them does.",
)

QUESTION.mistake(
    "full stops at 4",
    old="    sentences = []\n",
    new="    stops, sentences = [4], []\n",
    hint="Your stop is 4. Which ids end a sentence is told by `stops`.",
)

QUESTION.mistake(
    "rotated",
    old=RETURN,
    new=f"order = order and [*range(order[0], len(sentences)), *range(order[0])]\n    {RETURN}",
    hint="You begin with the right sentence and go on from there, round the end. That is another "
    "noise of BART's, rotation. Each place has a sentence of its own in `order`.",
)

QUESTION.mistake(
    "where a sentence goes",
    old=RETURN,
    new=RETURN.replace(
        "in order",
        "in sorted(order, key=order.index) and [order.index(n) for n in range(len(order))]",
    ),
    hint="You put sentence k at the place that `order` has for k. It is the other way round: "
    "`order[k]` is the number of the sentence that comes to place k.",
)

QUESTION.mistake(
    "left as it was",
    old=RETURN,
    new="return list(tokens)",
    hint="Your document has its old order: `order` is checked, or not even that, and not used.",
)

QUESTION.mistake(
    "back to front",
    old=RETURN,
    new=RETURN.replace("in order", "in reversed(order)"),
    hint="Your sentences come back to front: the first number in `order` is the sentence that "
    "comes first.",
)

QUESTION.mistake(
    "sentences turned round",
    old="in sentences[number]]",
    new="in sentences[number][::-1]]",
    hint="The order of the sentences is right, but inside each one the tokens stand back to front.",
)

QUESTION.mistake(
    "no error",
    old=CHECK,
    new="    order = [number for number in order if -len(sentences) <= number < len(sentences)]\n",
    hint="You accept an order that does not name each sentence once. Something would be lost or "
    "doubled, and the model would be asked for what it cannot know: raise a ValueError.",
)

QUESTION.mistake(
    "nothing checked",
    old=CHECK,
    new="",
    hint="You do not look at `order` before you use it. Where it does not name each sentence once, "
    "raise a ValueError.",
)

QUESTION.mistake(
    "only the number checked",
    old="sorted(order) != list(range(len(sentences)))",
    new="len(order) != len(sentences)",
    hint="You count the numbers in `order`. There may be enough of them, and one twice: each "
    "sentence has to be named once.",
)

QUESTION.mistake(
    "a set of numbers",
    old="sorted(order) != list(range(len(sentences)))",
    new="set(order) != set(range(len(sentences)))",
    hint="You compare sets, in which a number that comes twice counts once. Then a sentence would "
    "come twice: raise a ValueError there too.",
)

QUESTION.mistake(
    "twice and too high, but not too few",
    old="sorted(order) != list(range(len(sentences)))",
    new="len(set(order)) < len(order) or any(not 0 <= n < len(sentences) for n in order)",
    hint="You refuse numbers that come twice or are too high, and accept an order that leaves a "
    "sentence out. Nothing may be lost: raise a ValueError there too.",
)

QUESTION.mistake(
    "an assertion",
    old=CHECK,
    new="    assert sorted(order) == list(range(len(sentences)))\n",
    hint="You assert that `order` is right, which raises an AssertionError. A ValueError is asked "
    "for: assertions are for one's own mistakes, and Python can switch them off.",
)

QUESTION.mistake(
    "an empty document refused",
    old="    if sorted(order)",
    new="    if not tokens or sorted(order)",
    hint="You refuse an empty document. It has no sentence, its order is empty, and what comes out "
    "is an empty list.",
)

QUESTION.mistake(
    "a list of sentences",
    old=RETURN,
    new="return [sentences[number] for number in order]",
    hint="You return a list of sentences. A document is one list of ids: join them.",
)

QUESTION.mistake(
    "numbered from 1",
    old=RETURN,
    new=RETURN.replace("[number]", "[number - 1]"),
    hint="Your sentences are numbered from 1. The first one has the number 0.",
)

QUESTION.mistake(
    "the order sorted",
    old=CHECK,
    new=f"    given = list(order)\n    order.sort()\n{CHECK}    order = given\n",
    hint="The result is right, but `order` is sorted now: sort() works in the caller's own list. "
    "sorted(...) makes a new one.",
)

QUESTION.mistake(
    "the order used up",
    old=RETURN,
    new="given = list(order)\n    order.clear()\n"
    + "    "
    + RETURN.replace("in order", "in given"),
    hint="The result is right, but `order` is empty now: pop takes from the caller's own list.",
)

QUESTION.mistake(
    "the document shuffled in place",
    old=RETURN,
    new="tokens[:] = [token for number in order for token in sentences[number]]\n"
    "    return list(tokens)",
    hint="The result is right, but you have shuffled the caller's own document. It is what the "
    "model is asked for: make a new list.",
)
