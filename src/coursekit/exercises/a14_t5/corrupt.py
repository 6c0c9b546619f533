"""Spans of a text replaced by sentinels, and the spans asked for: T5's span corruption."""

from __future__ import annotations

from coursekit.exercises.probe import after
from coursekit.exercises.question import Question


def corrupt(tokens, spans, sentinel=32_099, end=1):
    """tokens, spans [(start, stop), ...] -> what is read and what is to be written, two lists."""
    hidden = {place for start, stop in spans for place in range(start, stop)}
    read, written = [], []
    for place, token in enumerate(tokens):
        if place not in hidden:
            read.append(token)
            continue
        if place - 1 not in hidden:
            read.append(sentinel)
            written.append(sentinel)
            sentinel -= 1
        written.append(token)
    return [*read, end], [*written, sentinel, end]


QUESTION = Question(
    name="corrupt",
    title="Holes with a number",
    points=5,
    difficulty=2,
    minutes=30,
    page="t5.html#sec-t5-spans",
    hint="Say first which places are hidden, whatever span they belong to: then spans that touch "
    "have become one by themselves. Walk through the text once, and fill both lists as you go. A "
    "hidden token whose neighbour on the left is not hidden begins a span. What stands at the two "
    "ends comes last.",
    reference=corrupt,
    forbidden=("coursekit",),
)


def _text(length: int) -> list[int]:
    """A text in which each id is another."""
    return [10 + place for place in range(length)]


@QUESTION.visible(says="ten tokens, two spans")
def two_spans(student):
    return student.corrupt(_text(10), [(2, 4), (8, 9)])


@QUESTION.visible(says="the first token and the last, other ids")
def first_and_last(student):
    return student.corrupt(_text(9), [(0, 1), (3, 5), (7, 9)], 900, 5)


@QUESTION.visible(says="spans that touch", weight=2)
def touching(student):
    spans = [(1, 2), (2, 4), (5, 6), (7, 8), (8, 9), (9, 10)]
    return student.corrupt(_text(12), spans), student.corrupt(_text(6), [(0, 2), (2, 6)])


@QUESTION.visible(says="nothing hidden, and everything")
def nothing_and_everything(student):
    return student.corrupt(_text(4), []), student.corrupt(_text(4), [(0, 4)])


@QUESTION.visible(says="tokens that come twice, inside a span and outside")
def twice(student):
    return student.corrupt([11, 12, 11, 13, 12, 12, 11, 13], [(2, 4), (5, 6)])


@QUESTION.visible(says="what was given stays as it was")
def what_was_given_stays(student):
    return after(student.corrupt, _text(8), [(1, 3), (3, 4), (6, 7)])


BEGINS = "if place - 1 not in hidden:"
RETURN = "return [*read, end], [*written, sentinel, end]"

QUESTION.mistake(
    "a sentinel for each token",
    old=BEGINS,
    new="if True:",
    hint="Each hidden token has a sentinel of its own in yours, which would tell how many are "
    "missing. A whole span becomes one.",
)

QUESTION.mistake(
    "as many sentinels as tokens",
    old=BEGINS,
    new="if place - 1 in hidden:\n            read.append(sentinel + 1)\n        else:",
    hint="In what is read a span leaves as many sentinels in yours as it has tokens, all the same. "
    "It leaves one, and how many are missing is for the model to say.",
)

QUESTION.mistake(
    "one sentinel for all",
    old="            sentinel -= 1\n",
    new="",
    hint="All your spans have the same sentinel, and nobody can tell which answer belongs to which "
    "hole. Each span has the next id.",
)

QUESTION.mistake(
    "one sentinel for all, another to close",
    old=f"            sentinel -= 1\n        written.append(token)\n    {RETURN}",
    new=f"        written.append(token)\n    {RETURN.replace('sentinel', 'sentinel - 1')}",
    hint="All your spans have one sentinel; only the closing one differs. Each span has the next "
    "id.",
)

QUESTION.mistake(
    "the final sentinel missing",
    old=RETURN,
    new="return [*read, end], [*written, end]",
    hint="What is to be written lacks its final sentinel: one more than there are spans, right "
    "before the end. It says that the last span is over.",
)

QUESTION.mistake(
    "the last sentinel once more",
    old=RETURN,
    new=RETURN.replace("sentinel", "sentinel + bool(spans)"),
    hint="You close with the sentinel of the last span. The final one is the next id, which no "
    "span has.",
)

QUESTION.mistake(
    "a sentinel skipped at the end",
    old=RETURN,
    new=RETURN.replace("sentinel", "sentinel - 1"),
    hint="Your final sentinel is one too low: you count down once more before you write it. It is "
    "the next id after that of the last span.",
)

QUESTION.mistake(
    "touching spans not joined",
    old=BEGINS,
    new="if place in [start for start, _ in spans]:",
    hint="Where two spans touch you write two sentinels. No token stands between them, so to the "
    "reader they are one hole: one sentinel for both.",
)

QUESTION.mistake(
    "joined, but counted apart",
    old=f"{BEGINS}\n            read.append(sentinel)\n            written.append(sentinel)\n"
    "            sentinel -= 1",
    new=f"if place in [start for start, _ in spans]:\n            {BEGINS}\n"
    "                read.append(sentinel)\n                written.append(sentinel)\n"
    "            sentinel -= 1",
    hint="Spans that touch share a sentinel in yours, but you count down for each, so that ids are "
    "left out. Count the joined ones.",
)

QUESTION.mistake(
    "joined in what is read alone",
    old=f"{BEGINS}\n            read.append(sentinel)\n            written.append(sentinel)\n"
    "            sentinel -= 1",
    new=f"if place in [start for start, _ in spans]:\n            {BEGINS}\n"
    "                read.append(sentinel)\n            written.append(sentinel)\n"
    "            sentinel -= 1",
    hint="Spans that touch leave one hole in what is read, and have two sentinels in what is to be "
    "written. They are one span in both.",
)

QUESTION.mistake(
    "only two are joined",
    old=BEGINS,
    new="starts = [start for start, _ in spans]\n"
    "        before = starts.index(place) - 1 if place in starts else -1\n"
    "        if place in starts and (place - 1 not in hidden or spans[before][0] - 1 in hidden):",
    hint="You join two spans that touch, but not a third one that touches the second. However many "
    "stand in a row, they are one.",
)

QUESTION.mistake(
    "counted upwards",
    old="sentinel -= 1",
    new="sentinel += 1",
    hint="Your sentinels count up. The first is the highest, and each further one is lower by 1.",
)

QUESTION.mistake(
    "begun one too low",
    old="    hidden = {",
    new="    sentinel -= 1\n    hidden = {",
    hint="Your first span has `sentinel - 1`: you count down before you write. The first one has "
    "`sentinel` itself.",
)

for name, new, hint in (
    (
        "no end on either side",
        "return read, [*written, sentinel]",
        "Neither of your lists is closed: both end with the id `end`.",
    ),
    (
        "no end behind what is read",
        "return read, [*written, sentinel, end]",
        "What is read is not closed: it ends with the id `end`, as the other list does.",
    ),
    (
        "no end behind what is written",
        "return [*read, end], [*written, sentinel]",
        "What is to be written is not closed: behind the final sentinel stands the id `end`, or "
        "the decoder would never learn to stop.",
    ),
    (
        "the end before the final sentinel",
        "return [*read, end], [*written, end, sentinel]",
        "Your end stands before the final sentinel. It is the very last id.",
    ),
    (
        "the final sentinel for the end",
        "return [*read, sentinel], [*written, sentinel]",
        "You close both lists with a sentinel, and `end` is nowhere. The final sentinel belongs to "
        "what is to be written alone, and `end` stands last in both.",
    ),
    (
        "a final sentinel in what is read",
        "return [*read, sentinel, end], [*written, sentinel, end]",
        "What is read has a final sentinel too, where nothing is missing. It closes the list of "
        "spans, and belongs to what is to be written alone.",
    ),
    (
        "the whole text asked for",
        "return [*read, end], [*tokens, end]",
        "You ask for the whole text, as BART does. T5 asks for what was hidden and no more: each "
        "span behind its sentinel.",
    ),
    (
        "spans without sentinels",
        "return [*read, end], [tokens[place] for place in sorted(hidden)] + [end]",
        "What is to be written has no sentinels. Behind which of them a span stands says which "
        "hole it fills.",
    ),
    (
        "only the final sentinel",
        "return [*read, end], [tokens[place] for place in sorted(hidden)] + [sentinel, end]",
        "What is to be written has its final sentinel and no other. In front of each span stands "
        "the sentinel that took its place.",
    ),
    (
        "changed places",
        "return [*written, sentinel, end], [*read, end]",
        "Your two results have changed places: what is read comes first.",
    ),
    (
        "a list of two",
        "return [[*read, end], [*written, sentinel, end]]",
        "The ids are right, but you return a list of two lists. A tuple is asked for: "
        "`return read, written`.",
    ),
):
    QUESTION.mistake(name, old=RETURN, new=new, hint=hint)

QUESTION.mistake(
    "sentinels behind their spans",
    hint="Your sentinels stand behind the spans that they belong to. A sentinel opens its span: "
    "first ⟨X⟩, then what ⟨X⟩ stands for.",
    old=f"            written.append(sentinel)\n            sentinel -= 1\n"
    f"        written.append(token)\n    {RETURN}",
    new="            sentinel -= 1\n"
    "        written.append(token)\n"
    "        if place + 1 not in hidden:\n"
    "            written.append(sentinel + 1)\n"
    "    return [*read, end], [*written, end]",
)

QUESTION.mistake(
    "a hole without a mark",
    old="            read.append(sentinel)\n",
    new="",
    hint="Where a span is hidden nothing stands in what is read, and the model cannot know where "
    "something is missing. Its sentinel takes its place.",
)

QUESTION.mistake(
    "marked and left in",
    old="        written.append(token)\n",
    new="        written.append(token)\n        read.append(token)\n",
    hint="You put a sentinel in front of each span and leave the span where it is. The model could "
    "copy it: the sentinel takes its place.",
)

QUESTION.mistake(
    "stop included",
    old="range(start, stop)",
    new="range(start, stop + 1)",
    hint="Your spans have one token too many: the token at `stop` is not hidden any more, as in a "
    "slice.",
)

QUESTION.mistake(
    "a length for a stop",
    old="range(start, stop)",
    new="range(start, start + stop)",
    hint="You read a pair as a start and a length. The second number is a place: the first one "
    "behind the span.",
)

QUESTION.mistake(
    "places from 1",
    old="range(start, stop)",
    new="range(start - 1, stop - 1)",
    hint="Your spans lie one place too far to the left. Places count from 0.",
)

QUESTION.mistake(
    "the last token beside the first",
    old=BEGINS,
    new="if (place - 1) % len(tokens) not in hidden:",
    hint="Where the first and the last token are both hidden the first span has no sentinel. At "
    "place 0 you look at place -1, which in Python is the last one.",
)


@QUESTION.mistake(
    "places of a shorter text",
    hint="You replace span after span in one list, and from the second on your places are off: the "
    "list has become shorter. The spans are told in places of the text that was given.",
)
def shorter(tokens, spans, sentinel=32_099, end=1):
    read, written, last = list(tokens), [], None
    for start, stop in spans:
        if start == last:
            written += tokens[start:stop]
            del read[start:stop]
        else:
            written += [sentinel, *tokens[start:stop]]
            read[start:stop] = [sentinel]
            sentinel -= 1
        last = stop
    return [*read, end], [*written, sentinel, end]


QUESTION.mistake(
    "counted down twice",
    old="            written.append(sentinel)\n",
    new="            sentinel -= 1\n            written.append(sentinel)\n",
    hint="A span has one sentinel in what is read and another in what is to be written. It is the "
    "same in both: that is how an answer finds its hole.",
)

QUESTION.mistake(
    "the rest lost",
    old=RETURN,
    new=f"while read and read[-1] != sentinel + 1:\n        read.pop()\n    {RETURN}",
    hint="What stands behind the last span is missing from what is read.",
)


@QUESTION.mistake(
    "hidden wherever it stands",
    hint="You hide a token wherever it stands, because it is hidden once. Ask for its place, not "
    "for its id: the same id may come again.",
)
def wherever(tokens, spans, sentinel=32_099, end=1):
    hidden = {token for start, stop in spans for token in tokens[start:stop]}
    read, written, inside = [], [], False
    for token in tokens:
        if token not in hidden:
            read.append(token)
        elif inside:
            written.append(token)
        else:
            read.append(sentinel)
            written += [sentinel, token]
            sentinel -= 1
        inside = token in hidden
    return [*read, end], [*written, sentinel, end]


QUESTION.mistake(
    "always T5's sentinels",
    old="    hidden = {",
    new="    sentinel = 32_099\n    hidden = {",
    hint="Your first sentinel is 32,099, whatever the argument `sentinel` says.",
)

QUESTION.mistake(
    "always 1 at the end",
    old="    hidden = {",
    new="    end = 1\n    hidden = {",
    hint="Your lists end with 1, whatever the argument `end` says.",
)

QUESTION.mistake(
    "T5's ids only",
    old="    hidden = {",
    new="    sentinel, end = 32_099, 1\n    hidden = {",
    hint="You write T5's ids, 32,099 and 1, whatever the arguments say.",
)

QUESTION.mistake(
    "the text cut",
    old=RETURN,
    new=f"tokens[:] = read\n    {RETURN}",
    hint="The result is right, but `tokens` is not what it was: you have replaced the spans in the "
    "caller's own list. Work on a new one.",
)

QUESTION.mistake(
    "the spans joined in place",
    old=RETURN,
    new="for n in reversed(range(1, len(spans))):\n"
    "        if spans[n - 1][1] == spans[n][0]:\n"
    "            spans[n - 1 : n + 1] = [(spans[n - 1][0], spans[n][1])]\n"
    f"    {RETURN}",
    hint="The result is right, but `spans` is not what it was: you have joined what touches in the "
    "caller's own list. Make a new one.",
)

QUESTION.mistake(
    "the spans used up",
    old=RETURN,
    new=f"spans.clear()\n    {RETURN}",
    hint="The result is right, but `spans` is empty now: pop takes from the caller's own list.",
)
