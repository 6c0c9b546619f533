"""Sentences whose grammar is known because we made them: which word belongs to which.

What do heads of attention look at? To ask whether a head follows a relation of grammar, one needs
sentences in which the relation is marked. Ours come from templates. Adjectives, adverbs, phrases of
place and clauses come between the two words at random, so no fixed distance is always right, and
most sentences have a second noun or verb that one could take for the right one. Nouns, verbs,
adjectives and adverbs are divided between two parts: heads are chosen on one and judged on the
other. Few of them are cut into several WordPieces. The book uses them in "BERT".
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from coursekit._base.checks import check_choice, check_int


def listed(words: str) -> list[str]:
    """Return the words of a text."""
    return words.split()


PARTS = ("choose", "judge")  # words at even places of a list are in the first, odd in the second

WORKERS = listed("""
    farmer nurse teacher doctor baker sailor soldier pilot painter singer student driver plumber
    locksmith beekeeper lumberjack hunter captain tailor gardener librarian shepherd lawyer
    dentist
""")
WOMEN = listed("""
    woman queen girl mother aunt princess sister actress daughter waitress widow grandmother niece
    bride duchess lady
""")
MEN = listed("""
    man king boy father uncle prince brother actor son waiter monk grandfather nephew groom duke
    gentleman
""")
THINGS = listed("""
    box chair table lamp basket bottle hat coat knife guitar clock mirror bag ladder bicycle
    blanket drum kettle teapot wheelbarrow umbrella lantern corkscrew harmonica rope carpet spoon
    hammer candle violin suitcase bucket trumpet jacket ring vase
""")
PLACES = listed("""
    river church bridge garden school market station forest castle harbor mill hill tower stable
    boathouse haystack museum kitchen lake village
""")
OF_PEOPLE = listed("""
    young tall tired quiet proud kind angry rich poor friendly hungry clever lonely famous brave
    lazy nervous cheerful polite jealous
""")
OF_THINGS = listed("""
    old small red heavy broken dirty blue green cheap strange little big ugly beautiful wooden
    round yellow expensive rusty shiny huge golden empty tiny
""")
TOOK = listed("""
    sold bought found lost painted carried hid washed cleaned dropped moved admired borrowed
    repaired wanted liked stole kept forgot dragged lifted polished
""")
GAVE = listed("gave showed sent offered lent handed brought tossed")
MET = listed("""
    thanked helped called followed met visited greeted warned praised blamed hugged invited
    trusted avoided recognized teased
""")
SLEPT = listed("""
    slept smiled laughed waited sang danced shouted cried limped sneezed coughed whistled worked
    yawned prayed knelt
""")
FELL = listed("fell vanished burned rolled sank disappeared")
HOW = listed("""
    quickly slowly often never soon finally quietly secretly suddenly carefully rarely always
    happily gently sadly usually
""")

# Words of grammar belong to both parts.
DETERMINERS = ("the", "a", "this", "every", "another")
WHOSE = ("his", "her", "their")
WHERE = ("near", "behind", "from", "beside")
WHEN = ("", "", "yesterday", "last night", "in the evening")
HOW_MANY = (0, 0, 0, 1, 1, 2, 3)  # adjectives: mostly none, as in English

PHRASE = "{determiner} {adjectives} {noun}"


@dataclass(frozen=True)
class Related:
    """A sentence and two of its words: `words[dependent]` belongs to `words[head]`.

    "Head" is grammar's word for the one that governs; it has nothing to do with heads of attention.
    """

    words: tuple[str, ...]
    dependent: int
    head: int
    relation: str

    def __post_init__(self) -> None:
        count = len(self.words)
        if not (0 <= self.dependent < count and 0 <= self.head < count):
            raise ValueError(
                f"dependent and head must be places from 0 to {count - 1}, "
                f"found {self.dependent} and {self.head}"
            )
        if self.dependent == self.head:
            raise ValueError(f"a word is not related to itself, found {self.head} twice")

    @property
    def offset(self) -> int:
        """How many words to the right of the dependent its head is; negative to the left."""
        return self.head - self.dependent

    @property
    def pair(self) -> tuple[str, str]:
        """The two words."""
        return self.words[self.dependent], self.words[self.head]


def related_words(relation: str, part: str, count: int = 200, *, seed: int = 0) -> list[Related]:
    """Return `count` different sentences with one marked pair each, always the same ones."""
    check_choice(TEMPLATES, relation=relation)
    check_choice(PARTS, part=part)
    check_int(count=count)
    check_int(0, seed=seed)
    draw = Draw(part, random.Random(f"{relation} {part} {seed}"))
    pairs: dict[Related, None] = {}  # a set that keeps the order
    while len(pairs) < count:
        pairs[read(TEMPLATES[relation](draw), relation)] = None
    return list(pairs)


def read(marked: str, relation: str) -> Related:
    """Read a sentence in which the dependent is in <> and the head in []; a stop is added."""
    words = marked.split()
    (dependent,) = (n for n, word in enumerate(words) if word[0] == "<")
    (head,) = (n for n, word in enumerate(words) if word[0] == "[")
    words = [*(word.strip("<>[]") for word in words), "."]
    for n, word in enumerate(words):
        if word == "a" and words[n + 1][0] in "aeiou":
            words[n] = "an"
    return Related(tuple(words), dependent, head, relation)


class Draw:
    """Draws words of one part, and phrases made of them; `form` may mark words for `read`."""

    def __init__(self, part: str, rng: random.Random) -> None:
        self.first, self.rng = PARTS.index(part), rng

    def one(self, words: Sequence[str]) -> str:
        """Draw a word of this part."""
        return self.rng.choice(words[self.first :: len(PARTS)])

    def maybe(self, *texts: str) -> str:
        """Return one of the texts, or as often as not none."""
        return self.rng.choice(texts) if self.rng.random() < 0.5 else ""

    def phrase(self, nouns: Sequence[str], adjectives: Sequence[str], form: str) -> str:
        """Draw a determiner, adjectives and a noun: "every tall young farmer"."""
        own = adjectives[self.first :: len(PARTS)]
        return form.format(
            determiner=self.rng.choice(DETERMINERS),
            adjectives=" ".join(self.rng.sample(own, self.rng.choice(HOW_MANY))),
            noun=self.one(nouns),
        )

    def person(self, form: str = PHRASE) -> str:
        """Draw somebody."""
        return self.phrase(self.rng.choice((WORKERS, WOMEN, MEN)), OF_PEOPLE, form)

    def thing(self, form: str = PHRASE) -> str:
        """Draw something."""
        return self.phrase(THINGS, OF_THINGS, form)

    def place(self, form: str = PHRASE) -> str:
        """Draw where it is: "behind the old mill"."""
        return f"{self.rng.choice(WHERE)} {self.phrase(PLACES, OF_THINGS, form)}"

    def more(self) -> str:
        """Draw how a sentence goes on: not at all, with a place, with somebody who does a thing."""
        return self.maybe(self.place(), f"while {self.person()} {self.one(SLEPT)}")


def determiner(draw: Draw) -> str:
    """<the> old [farmer]: in the subject, the object or the place."""
    forms = [PHRASE] * 3
    forms[draw.rng.randrange(3)] = "<{determiner}> {adjectives} [{noun}]"
    who, what, where = draw.person(forms[0]), draw.thing(forms[1]), draw.place(forms[2])
    return f"{who} {draw.one(TOOK)} {what} {where}"


def _direct_object(draw: Draw) -> str:
    """[sold] the red <box>, [gave] the tall nurse the red <box>."""
    gave = f"[{draw.one(GAVE)}] {draw.person()}"
    verb = draw.rng.choice((gave, *[f"[{draw.one(TOOK)}]"] * 2))
    what = draw.thing("{determiner} {adjectives} <{noun}>")
    return f"{draw.person()} {draw.maybe(draw.one(HOW))} {verb} {what} {draw.more()}"


def possessive(draw: Draw) -> str:
    """<her> old [box], the tall <nurse> 's old [box]."""
    owner = draw.person("{determiner} {adjectives} <{noun}> 's")
    owner = draw.rng.choice((owner, f"<{draw.rng.choice(WHOSE)}>"))
    what = draw.thing(owner + " {adjectives} [{noun}]")
    if draw.rng.random() < 0.5:
        return f"{what} {draw.one(FELL)} {draw.more()}"
    return f"{draw.person()} {draw.one(TOOK)} {what} {draw.more()}"


def subject(draw: Draw) -> str:
    """The <farmer> near the bridge who slept quickly [sold] a box."""
    where, slept = draw.place(), f"who {draw.one(SLEPT)}"
    who = draw.person("{determiner} {adjectives} <{noun}>")
    who = f"{who} {draw.maybe(where, slept, f'{where} {slept}')} {draw.maybe(draw.one(HOW))}"
    return f"{who} [{draw.one(TOOK)}] {draw.thing()} {draw.more()}"


def pronoun(draw: Draw) -> str:
    """The [queen] thanked the boy because <she> was tired: only one of the two can be meant."""
    marked = "{determiner} {adjectives} [{noun}]"
    when, how = draw.rng.choice(WHEN), draw.maybe(draw.one(HOW))
    if draw.rng.random() < 1 / 3:
        sentence = f"{draw.person()} {how} {draw.one(TOOK)} {draw.thing(marked)}"
        return f"{sentence} {when} because <it> was {draw.one(OF_THINGS)}"
    word, own, other = draw.rng.choice((("she", WOMEN, MEN), ("he", MEN, WOMEN)))
    both = [draw.phrase(own, OF_PEOPLE, marked), draw.phrase(other, OF_PEOPLE, PHRASE)]
    draw.rng.shuffle(both)
    sentence = f"{both[0]} {how} {draw.one(MET)} {both[1]}"
    return f"{sentence} {when} because <{word}> was {draw.one(OF_PEOPLE)}"


TEMPLATES = {
    "determiner": determiner,
    "object": _direct_object,
    "possessive": possessive,
    "subject": subject,
    "pronoun": pronoun,
}
