"""What a model has written for the holes of a text, put into them."""

from __future__ import annotations

from coursekit.exercises.probe import after
from coursekit.exercises.question import Question


def put_back(read, written, sentinel=32_099, sentinels=100, end=1):
    """What was read, what was written -> the whole text, a list of ids."""

    def body(ids):
        return ids[: ids.index(end)] if end in ids else ids

    def is_sentinel(token):
        return sentinel - sentinels < token <= sentinel

    spans, key = {None: []}, None
    for token in body(written):
        if is_sentinel(token):
            key, spans[token] = token, []
        else:
            spans[key].append(token)
    text = []
    for token in body(read):
        if is_sentinel(token):
            text += spans.get(token, [])
        else:
            text.append(token)
    return text


QUESTION = Question(
    name="put_back",
    title="The answers, back in their holes",
    points=5,
    difficulty=3,
    minutes=35,
    page="t5.html#sec-t5-text",
    hint="Two walks. On the first, through what was written, collect a dict: for each sentinel the "
    "ids behind it. On the second, through what was read, copy what is text, and at a sentinel put "
    "in what the dict has for it, if it has anything. Cut both lists at their end before you "
    "begin, into lists of your own.",
    reference=put_back,
    forbidden=("coursekit",),
)


@QUESTION.visible(says="two holes, with a final sentinel")
def two_holes(student):
    read = [11, 12, 32_099, 15, 32_098, 20, 1]
    return student.put_back(read, [32_099, 13, 14, 32_098, 19, 32_097, 1])


@QUESTION.visible(says="without a final sentinel, and without an end")
def without_the_last(student):
    read, written = [32_099, 11, 12, 32_098, 13, 32_097], [32_099, 21, 32_098, 22, 23, 32_097, 24]
    return [student.put_back(read + more, written + more) for more in ([], [1])]


@QUESTION.visible(says="sentinels in another order", weight=2)
def another_order(student):
    read = [32_097, 11, 32_098, 12, 13, 32_099, 1]
    written = [32_098, 21, 22, 32_099, 23, 32_097, 24, 25, 26, 32_096, 1]
    return student.put_back(read, written)


@QUESTION.visible(says="holes without an answer, answers without a hole, words in front")
def unmatched(student):
    read = [11, 32_099, 12, 32_098, 13, 32_097, 14, 32_095, 1]
    written = [31, 32, 32_097, 21, 32_096, 22, 23, 32_099, 32_095, 24, 32_090, 1]
    return student.put_back(read, written), student.put_back([11, 32_099, 12, 1], [31, 1])


@QUESTION.visible(says="padding behind the end, and more that was written there")
def behind_the_end(student):
    read = [11, 32_099, 12, 32_098, 13, 1, 0, 0]
    return student.put_back(read, [32_099, 21, 22, 1, 23, 32_098, 24, 1, 0])


@QUESTION.visible(says="the highest and the lowest sentinels, and ids beside them")
def beside(student):
    read = [32_100, 32_099, 0, 31_999, 32_000, 32_105, 31_998, 1]
    return student.put_back(read, [32_000, 32_101, 32_100, 32_099, 31_999, 21, 31_000, 1])


@QUESTION.visible(says="other ids for sentinels and end")
def other_ids(student):
    read = [1, 258, 255, 257, 32_099, 2, 258]
    return student.put_back(read, [257, 1, 254, 258, 32_098, 255, 2, 7], 258, 3, 2)


@QUESTION.visible(says="what was given stays as it was")
def what_was_given_stays(student):
    read = [11, 32_099, 12, 32_098, 1, 0]
    return after(student.put_back, read, [32_098, 21, 32_099, 22, 23, 1, 0])


BODY = "return ids[: ids.index(end)] if end in ids else ids"
RANGE = "sentinel - sentinels < token <= sentinel"
KEY = "key, spans[token] = token, []"
FILL = "text += spans.get(token, [])"


@QUESTION.mistake(
    "sentinel order ignored",
    hint="You put the first answer into the first hole, the second into the second. Which answer "
    "fills which hole is told by the sentinels, and a model may write them in any order.",
)
def in_order(read, written, sentinel=32_099, sentinels=100, end=1):
    read, written = (ids[: ids.index(end)] if end in ids else ids for ids in (read, written))
    answers, text = [], []
    for token in written:
        if sentinel - sentinels < token <= sentinel:
            answers.append([])
        elif answers:
            answers[-1].append(token)
    for token in read:
        if sentinel - sentinels < token <= sentinel:
            text += answers.pop(0) if answers else []
        else:
            text.append(token)
    return text


QUESTION.mistake(
    "answers numbered by the count",
    old=KEY,
    new="key = sentinel if key is None else key - 1\n            spans[key] = []",
    hint="You count the sentinels of what was written: the first is the highest one for you, the "
    "next is lower by 1. Look at the ids themselves: a model may leave one out, or begin with "
    "another.",
)

QUESTION.mistake(
    "the last span lost",
    old="    text = []\n",
    new="    spans.pop(key, None)\n    text = []\n",
    hint="Your last answer is missing where no final sentinel stands behind it. An answer also "
    "ends where the list does.",
)

for name, new, hint in (
    (
        "the end kept",
        "return ids",
        "You keep the end, and what stands behind it. A list is over at its first end.",
    ),
    (
        "the end kept in what was read",
        "return ids if ids is read else (ids[: ids.index(end)] if end in ids else ids)",
        "Your text ends with the end of what was read. Both lists are over at their first end.",
    ),
    (
        "the end kept in what was written",
        "return ids if ids is written else (ids[: ids.index(end)] if end in ids else ids)",
        "The end of what was written has come into your text. Both lists are over at their first "
        "end.",
    ),
    (
        "the end is the last id",
        "return ids[:-1] if ids and ids[-1] == end else ids",
        "You take the end off where it is the last id. Padding may stand behind it, or what a "
        "model went on to write: a list is over at its first end.",
    ),
    (
        "the last id cut, whatever it is",
        "return ids[:-1]",
        "You cut the last id, whatever it is. It need not be an end: look for the first one.",
    ),
    (
        "cut at the last end",
        "return ids[: len(ids) - 1 - ids[::-1].index(end)] if end in ids else ids",
        "You cut at the last end. A list is over at its first one.",
    ),
    (
        "only the end itself taken out",
        "return [token for token in ids if token != end]",
        "You take out the end, and go on reading behind it. What stands there does not count.",
    ),
    (
        "an end must be there",
        "return ids[: ids.index(end)]",
        "You look for an end that need not be there: a model may have been stopped before it wrote "
        "one. Then the whole list counts.",
    ),
    (
        "always 1 for an end",
        "return ids[: ids.index(1)] if 1 in ids else ids",
        "Your end is 1, whatever the argument `end` says.",
    ),
    (
        "cut in place",
        "del ids[ids.index(end) if end in ids else len(ids) :]\n        return ids",
        "The result is right, but you have cut the lists that you were given. A slice makes a new "
        "one.",
    ),
):
    QUESTION.mistake(name, old=BODY, new=new, hint=hint)

for name, new, hint in (
    (
        "sentinels left",
        "text += [token, *spans.get(token, [])]",
        "Your sentinels are still in the text, each in front of its answer. The answer takes the "
        "sentinel's place.",
    ),
    (
        "sentinels left where there is no answer",
        "text += spans.get(token, [token])",
        "Where a hole has no answer you leave its sentinel in the text. Nothing is put there, and "
        "the sentinel goes as well.",
    ),
    (
        "an answer must be there",
        "text += spans[token]",
        "A hole without an answer stops you with a KeyError. A model may have left it out, or left "
        "it empty: then nothing is put there.",
    ),
    (
        "the answers left out",
        "continue",
        "Your text has lost its sentinels and got nothing for them. What was written behind each "
        "takes its place.",
    ),
    (
        "one id for each hole",
        "text += spans.get(token, [])[:1]",
        "You put in the first id of each answer. All of it belongs there, up to the next sentinel.",
    ),
    (
        "the last id of each answer",
        "text += spans.get(token, [])[-1:]",
        "You put in the last id of each answer: a dict keeps what was stored last. Collect a list.",
    ),
    (
        "lists in the list",
        "text.append(spans.get(token, []))",
        "Your text has lists in it. An answer is put in id by id: += or extend.",
    ),
    (
        "words in front put into empty holes",
        "text += spans.get(token, spans.get(None, []))",
        "What was written in front of the first sentinel fills a hole in yours. It belongs to "
        "none.",
    ),
):
    QUESTION.mistake(name, old=FILL, new=new, hint=hint)

QUESTION.mistake(
    "words in front put in front",
    old="text = []\n",
    new="text = spans[None]\n",
    hint="What was written in front of the first sentinel stands in front of your text. It belongs "
    "to no hole and is left out.",
)

QUESTION.mistake(
    "words in front stop it",
    old="{None: []}",
    new="{}",
    hint="What is written in front of the first sentinel stops you with an error. It belongs to no "
    "hole: leave it out.",
)

QUESTION.mistake(
    "words in front have no list yet",
    old="{None: []}, None",
    new="{}, 0\n    del key",
    hint="What is written in front of the first sentinel stops you: no list has been begun yet. It "
    "belongs to no hole: leave it out.",
)

QUESTION.mistake(
    "words in front go into no list",
    old="spans[key].append(token)",
    new="(spans[key] if key else None).append(token)",
    hint="What is written in front of the first sentinel stops you: where your list should be "
    "there is None. It belongs to no hole: leave it out.",
)

QUESTION.mistake(
    "words in front of the first sentinel fill its hole",
    old="key, spans[token] = token, []",
    new="key, spans[token] = token, [] if key else spans[None]",
    hint="You put the words in front of the first sentinel with what stands behind it. They belong "
    "to no hole and are left out.",
)

QUESTION.mistake(
    "answers without a hole put behind",
    old="    return text",
    new="    for key in spans:\n"
    "        text += spans[key] if key is not None and key not in read else []\n"
    "    return text",
    hint="An answer whose hole does not exist stands behind your text. It is left out.",
)

for name, new, hint in (
    (
        "all high ids",
        "sentinel - sentinels < token",
        "You take ids above the first sentinel for sentinels too. There are `sentinels` of them, "
        "counted down from `sentinel`; what lies above is text.",
    ),
    (
        "all low ids",
        "token <= sentinel",
        "You take every id up to the first sentinel for a sentinel. There are only `sentinels` of "
        "them, counted down from `sentinel`; what lies below is text.",
    ),
    (
        "one sentinel too many",
        "sentinel - sentinels <= token <= sentinel",
        "You have one sentinel too many: with 100 of them, counted down from 32,099, the last is "
        "32,000.",
    ),
    (
        "the lowest sentinel forgotten",
        "sentinel - sentinels + 1 < token <= sentinel",
        "You have one sentinel too few: with 100 of them, counted down from 32,099, 32,000 is one "
        "too.",
    ),
    (
        "the first sentinel forgotten",
        "sentinel - sentinels < token < sentinel",
        "The highest sentinel, `sentinel` itself, is text for you. It is the first one.",
    ),
    (
        "counted upwards",
        "sentinel <= token < sentinel + sentinels",
        "Your sentinels count up from `sentinel`. They count down.",
    ),
    (
        "always a hundred",
        "sentinel - 100 < token <= sentinel",
        "You have 100 sentinels, whatever the argument `sentinels` says.",
    ),
    (
        "from 32,000 on",
        "token >= 32_000",
        "You take every id from 32,000 on for a sentinel, whatever the arguments say. There are "
        "`sentinels` of them, counted down from `sentinel`.",
    ),
    (
        "T5's sentinels only",
        "32_000 <= token < 32_100",
        "You look for T5's sentinels, 32,000 to 32,099, whatever the arguments say.",
    ),
):
    QUESTION.mistake(name, old=RANGE, new=new, hint=hint)


@QUESTION.mistake(
    "up to the next lower sentinel",
    hint="You look for an answer between its sentinel and the next lower one, and find nothing "
    "where they stand in another order. It ends at the next sentinel, whichever that is.",
)
def to_the_next_lower(read, written, sentinel=32_099, sentinels=100, end=1):
    read, written = (ids[: ids.index(end)] if end in ids else ids for ids in (read, written))
    text = []
    for token in read:
        if not sentinel - sentinels < token <= sentinel:
            text.append(token)
        elif token in written:
            start = written.index(token) + 1
            stop = written.index(token - 1) if token - 1 in written else len(written)
            text += written[start:stop]
    return text


QUESTION.mistake(
    "closed again",
    old="    return text",
    new="    return [*text, end]",
    hint="Your text ends with an end. The text alone is asked for.",
)

QUESTION.mistake(
    "a tuple of ids",
    old="    return text",
    new="    return tuple(text)",
    hint="The ids are right, but you return a tuple. A list is asked for.",
)

QUESTION.mistake(
    "filled in place",
    old="    return text",
    new="    read[:] = text\n    return text",
    hint="The result is right, but `read` is not what it was: you have filled the caller's own "
    "list. Make a new one.",
)

QUESTION.mistake(
    "what was written used up",
    old="    return text",
    new="    written.clear()\n    return text",
    hint="The result is right, but `written` is empty now: pop takes from the caller's own list.",
)
