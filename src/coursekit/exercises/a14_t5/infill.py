"""Spans of a document, empty ones too, each replaced by one mask: BART's text infilling."""

from __future__ import annotations

from coursekit.exercises.probe import after
from coursekit.exercises.question import Question


def infill(tokens, spans, mask=50_264):
    """tokens, spans [(start, length), ...] -> what is read, and the share that is hidden."""
    read, place = [], 0
    for start, length in sorted(spans):
        if start < place:
            raise ValueError(f"spans must not overlap, found {start} below {place}")
        read += [*tokens[place:start], mask]
        place = start + length
    hidden = sum(length for _, length in spans)
    return [*read, *tokens[place:]], hidden / len(tokens)


QUESTION = Question(
    name="infill",
    title="One mask, and how many tokens?",
    points=4,
    difficulty=2,
    minutes=30,
    page="t5.html#sec-t5-noises",
    hint="Take the spans from left to right and remember up to which place the document is done. "
    "For each span first copy what stands between that place and its start, then write a mask. An "
    "empty span needs no rule of its own. One that starts before the remembered place overlaps "
    "with another. What is left behind the last span is copied too.",
    reference=infill,
    forbidden=("coursekit",),
)


def _document(length: int) -> list[int]:
    """A document in which each id is another."""
    return [10 + place for place in range(length)]


def _tried(student, *given) -> object:
    """What comes out, or the name of the error."""
    try:
        return student.infill(*given)
    except Exception as error:
        return type(error).__name__


@QUESTION.visible(says="eight tokens, spans of 2, 1 and 0 tokens")
def three_spans(student):
    return student.infill(_document(8), [(1, 2), (4, 1), (6, 0)])


@QUESTION.visible(says="empty spans: first, last, and two at one place; another mask", weight=2)
def empty_spans(student):
    return student.infill(_document(5), [(0, 0), (2, 0), (2, 0), (3, 1), (5, 0)], 4)


@QUESTION.visible(says="spans that touch")
def touching(student):
    return student.infill(_document(10), [(0, 2), (2, 1), (4, 0), (4, 3), (7, 0), (9, 1)])


@QUESTION.visible(says="spans in any order")
def any_order(student):
    return student.infill(_document(16), [(9, 3), (1, 1), (14, 2), (4, 3), (14, 0), (7, 0)])


@QUESTION.visible(says="spans that overlap, and an empty one inside another")
def overlapping(student):
    overlaps = ([(1, 3), (3, 2)], [(3, 3), (2, 2)], [(2, 2), (2, 1)], [(1, 6), (3, 1)])
    inside = ([(2, 3), (4, 0)], [(4, 0), (1, 4)])
    return [_tried(student, _document(8), list(spans)) for spans in (*overlaps, *inside)]


@QUESTION.visible(says="no span, and one of all tokens")
def none_and_all(student):
    return student.infill(_document(3), []), student.infill(_document(3), [(0, 3)])


@QUESTION.visible(says="what was given stays as it was")
def what_was_given_stays(student):
    return after(student.infill, _document(7), [(4, 2), (0, 1), (3, 0)])


CHECK = (
    "if start < place:\n"
    '            raise ValueError(f"spans must not overlap, found {start} below {place}")'
)
READ = "read += [*tokens[place:start], mask]"
END = "return [*read, *tokens[place:]], hidden / len(tokens)"

QUESTION.mistake(
    "empty spans skipped",
    old=CHECK,
    new=f"if not length:\n            continue\n        {CHECK}",
    hint="You leave empty spans out. They hide nothing, and still leave a mask, so that the model "
    "must learn that sometimes nothing is missing.",
)

QUESTION.mistake(
    "empty spans hide a token",
    old="place = start + length",
    new="place = start + max(length, 1)",
    hint="Your empty spans take a token away. A span of length 0 hides nothing: its mask is put "
    "between two tokens.",
)

QUESTION.mistake(
    "a mask for each token",
    old=READ,
    new="read += [*tokens[place:start], *[mask] * length]",
    hint="You write as many masks as tokens are hidden, which is BERT's way. A span leaves one "
    "mask, however long it is, and how many are missing is for the model to say.",
)

QUESTION.mistake(
    "a mask for each token, and one for none",
    old=READ,
    new="read += [*tokens[place:start], *[mask] * max(length, 1)]",
    hint="Your long spans leave a mask for each token. Each span leaves one mask, the long ones "
    "too.",
)

QUESTION.mistake(
    "touching spans joined",
    old=READ,
    new="read += tokens[place:start] if read and start == place else [*tokens[place:start], mask]",
    hint="Where two spans touch you write one mask, as T5 has one sentinel. Here each span leaves "
    "its own mask, also beside another.",
)

QUESTION.mistake(
    "overlaps accepted",
    old=f"        {CHECK}\n",
    new="",
    hint="Two spans that overlap make a document in yours. The share would count tokens twice: "
    "raise a ValueError.",
)

QUESTION.mistake(
    "overlaps accepted, both cut out",
    old=f"{CHECK}\n        {READ}\n        place = start + length",
    new=f"{READ}\n        place = max(place, start + length)",
    hint="You take spans that overlap for what they cover together. Raise a ValueError: the share "
    "would count tokens twice.",
)

QUESTION.mistake(
    "an overlapping span left out",
    old=CHECK,
    new="if start < place:\n            continue",
    hint="You leave out a span that overlaps with another. Nobody would know that it is missing: "
    "raise a ValueError.",
)

QUESTION.mistake(
    "an assertion",
    old=CHECK,
    new="assert start >= place",
    hint="You assert that nothing overlaps, which raises an AssertionError. A ValueError is asked "
    "for: assertions are for one's own mistakes, and Python can switch them off.",
)

QUESTION.mistake(
    "an empty span inside another",
    old=f"{CHECK}\n        {READ}\n        place = start + length",
    new=f"{CHECK.replace('if ', 'if length and ')}\n        {READ}\n"
    "        place = max(place, start + length)",
    hint="You accept an empty span that lies inside another. Between two hidden tokens there is no "
    "place for a mask: raise a ValueError there as well.",
)

QUESTION.mistake(
    "touching spans refused",
    old="if start < place:",
    new="if read and start <= place:",
    hint="You refuse spans that touch. They share no token, so they do not overlap.",
)

QUESTION.mistake(
    "empty spans beside others refused",
    old="if start < place:",
    new="if start < place or (start in [s for s, n in spans if n > 0] and length == 0):",
    hint="You refuse an empty span that starts where another one does. It lies in front of that "
    "one, not inside.",
)

for name, new, hint in (
    (
        "spans counted",
        "return [*read, *tokens[place:]], len(spans) / len(tokens)",
        "Your share counts spans. What counts is how many tokens they hide: 30% of the tokens, "
        "says BART, not so many spans.",
    ),
    (
        "masks among what is read",
        "return [*read, *tokens[place:]], len(spans) / len([*read, *tokens[place:]])",
        "Your share is that of the masks in what is read. It is the share of the document's tokens "
        "that are hidden.",
    ),
    (
        "a share of what is read",
        "return [*read, *tokens[place:]], hidden / len([*read, *tokens[place:]])",
        "You divide by the length of what is read. The share is one of the tokens that the "
        "document had.",
    ),
    (
        "by how much it is shorter",
        "return [*read, *tokens[place:]], 1 - len([*read, *tokens[place:]]) / len(tokens)",
        "Your share says by how much the document has become shorter. The masks make it longer "
        "again: count the hidden tokens themselves.",
    ),
    (
        "the share that is left",
        "return [*read, *tokens[place:]], 1 - hidden / len(tokens)",
        "Your share is that of the tokens that are left. The hidden ones are asked for.",
    ),
    (
        "a number for a share",
        "return [*read, *tokens[place:]], hidden",
        "You return the number of hidden tokens. Divide it by the number of all.",
    ),
    (
        "in percent",
        "return [*read, *tokens[place:]], 100 * hidden / len(tokens)",
        "Your share is in percent. It lies between 0 and 1.",
    ),
    (
        "an empty span counts as one",
        "return [*read, *tokens[place:]], sum(max(n, 1) for _, n in spans) / len(tokens)",
        "In your share an empty span counts as one token. It hides none.",
    ),
    (
        "no share",
        "return [*read, *tokens[place:]]",
        "You return what is read, and no share. Both are asked for, in a tuple.",
    ),
    (
        "the share first",
        "return hidden / len(tokens), [*read, *tokens[place:]]",
        "Your two results have changed places: what is read comes first, then the share.",
    ),
    (
        "a list of two",
        "return [[*read, *tokens[place:]], hidden / len(tokens)]",
        "You return a list of two. A tuple is asked for: `return read, share`.",
    ),
    (
        "the rest lost",
        "return read, hidden / len(tokens)",
        "What stands behind the last span is missing in yours.",
    ),
):
    QUESTION.mistake(name, old=END, new=new, hint=hint)

QUESTION.mistake(
    "a stop for a length",
    old="sorted(spans):",
    new="(spans := sorted((start, stop - start) for start, stop in spans)):",
    hint="You read a pair as a start and a stop, as in question 1. Here the second number is a "
    "length.",
)

QUESTION.mistake(
    "in the order that is given",
    old="sorted(spans)",
    new="spans",
    hint="You take the spans as they come, and one that lies further to the left comes too late. "
    "Put them in order first.",
)

QUESTION.mistake(
    "ordered by length",
    old="sorted(spans)",
    new="sorted(spans, key=lambda span: span[1])",
    hint="You order the spans by their lengths. From left to right is by their starts.",
)

QUESTION.mistake(
    "ordered by start alone",
    old="sorted(spans)",
    new="sorted(spans, key=lambda span: span[0])",
    hint="Where an empty span and a longer one start at the same place you take the longer one "
    "first, and then the empty one seems to overlap. It lies in front.",
)


@QUESTION.mistake(
    "overlaps accepted, each token once",
    hint="You mark the hidden tokens one by one and never ask whether one is marked already. If "
    "two spans overlap, raise a ValueError.",
)
def each_token_once(tokens, spans, mask=50_264):
    hidden = {place for start, length in spans for place in range(start, start + length)}
    read = []
    for place in range(len(tokens) + 1):
        read += [mask] * sum(start == place for start, _ in spans)
        read += [tokens[place]] if place < len(tokens) and place not in hidden else []
    return read, len(hidden) / len(tokens)


@QUESTION.mistake(
    "overlaps accepted, from the right",
    hint="You replace the spans from the right, and one that reaches into the next takes its mask "
    "away. If two spans overlap, raise a ValueError.",
)
def from_the_right(tokens, spans, mask=50_264):
    read = list(tokens)
    for start, length in sorted(spans, reverse=True):
        read[start : start + length] = [mask]
    return read, sum(length for _, length in spans) / len(tokens)


@QUESTION.mistake(
    "one after the other, as they come",
    hint="You replace the spans in one list, in the order in which they were drawn. Each moves "
    "what stands to the right of it, so that later places are off; and nobody sees an overlap.",
)
def as_they_come(tokens, spans, mask=50_264):
    read = list(tokens)
    for start, length in spans:
        read[start : start + length] = [mask]
    return read, sum(length for _, length in spans) / len(tokens)


@QUESTION.mistake(
    "places of a shorter document",
    hint="You replace span after span in one list, and from the second on your places are off: the "
    "list has changed its length. The spans are told in places of the document that was given.",
)
def shorter(tokens, spans, mask=50_264):
    read, done = list(tokens), 0
    for start, length in sorted(spans):
        if start < done:
            raise ValueError("spans overlap")
        read[start : start + length] = [mask]
        done = start + length
    return read, sum(length for _, length in spans) / len(tokens)


QUESTION.mistake(
    "behind the token",
    old="sorted(spans):",
    new="sorted((start + (not length), length) for start, length in spans):",
    hint="The mask of an empty span stands behind the token at `start` in yours. It is put in "
    "front of it.",
)

QUESTION.mistake(
    "nothing at the end",
    old=CHECK,
    new=f"if start == len(tokens):\n            continue\n        {CHECK}",
    hint="An empty span behind the last token is lost in yours. `start` may be the number of all "
    "tokens.",
)

QUESTION.mistake(
    "a set of spans",
    old="sorted(spans)",
    new="sorted(set(spans))",
    hint="Of two equal spans you keep one. Two empty ones at one place are two masks.",
)

QUESTION.mistake(
    "one span for each start",
    old="sorted(spans)",
    new="sorted(dict(spans).items())",
    hint="You keep one span for each start, in a dict perhaps. An empty span and another, or two "
    "empty ones, may start at the same place.",
)

QUESTION.mistake(
    "always BART's mask",
    old="read, place = [], 0",
    new="read, place, mask = [], 0, 50_264",
    hint="Your mask is 50,264, whatever the argument `mask` says.",
)

QUESTION.mistake(
    "the spans sorted",
    old="sorted(spans):",
    new="(spans.sort() or spans):",
    hint="The result is right, but `spans` has another order now: sort() works in the caller's own "
    "list. sorted(...) makes a new one.",
)

QUESTION.mistake(
    "the document cut",
    old=END,
    new="share = hidden / len(tokens)\n"
    "    tokens[:] = [*read, *tokens[place:]]\n    return list(tokens), share",
    hint="The result is right, but `tokens` is not what it was: you have replaced the spans in the "
    "caller's own list. Work on a new one.",
)
