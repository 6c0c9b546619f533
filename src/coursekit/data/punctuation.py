"""Punctuation as a task: words without marks and capitals, and the mark that followed each of them.

Whoever wrote a text has labelled it, so every text is data for tagging. A `BertTagger` reads the
words; the mark comes after its word, so the last piece of the word carries the tag.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from coursekit._base.checks import check_choice, check_int
from coursekit.data.cards import Card
from coursekit.data.speeches import speeches
from coursekit.data.verses import CARD as VERSES
from coursekit.data.verses import verses
from coursekit.objectives.masked_lm import IGNORED
from coursekit.objectives.special_tokens import SpecialTokens
from coursekit.tokenizers.base import Tokenizer

CARD = Card(
    name="Punctuation",
    what="words in lower case without marks, and for each word the mark that followed it",
    licence=VERSES.licence + "; speeches: public domain",
    source="made from `verses` and `speeches` when asked for",
    sha256=VERSES.sha256,
    splits="those of the texts: 80, 10 and 10%",
    wrong="Seven words in eight have no mark, so a tagger that never sets one is right that often: "
    "look at each mark by itself. Editors disagree; the speeches have two centuries of "
    "habits. The last word of a text is not asked, for its end gives the mark away.",
)

MARKS = ("", ",", ".", "?", "!", ":", ";")  # a tag is a place in this list; 0: nothing followed
TEXTS = {
    "verses": lambda split: [pair.english for pair in verses(split, longest=None)],
    "speeches": lambda split: [speech.text for speech in speeches(split)],
}
# Letters and digits, with what joins them inside a word: don't, forty-two, 1,000.50
WORD = re.compile(r"(\d+(?:[.,]\d+)+|[^\W_]+(?:['’-][^\W_]+)*)([\W_]*)")


@dataclass(frozen=True)
class Tagged:
    """Words in lower case, and for each the place in `MARKS` of what followed it."""

    words: tuple[str, ...]
    tags: tuple[int, ...]


def punctuation(split: str = "train", *, texts: str = "verses", longest: int = 40) -> list[Tagged]:
    """Return the texts of one split in pieces of at most `longest` words: `verses` or `speeches`.

    A verse or speech that is longer is cut behind every `longest` words, wherever that is; what is
    left over is kept if it has two words, since the last word of a piece is never asked.
    """
    check_choice(TEXTS, texts=texts)
    check_int(least=2, longest=longest)
    sentences = []
    for text in TEXTS[texts](split):
        whole = tagged(text)
        for start in range(0, len(whole.words) - 1, longest):
            part = slice(start, start + longest)
            sentences.append(Tagged(whole.words[part], whole.tags[part]))
    return sentences


def tagged(text: str) -> Tagged:
    """Cut a text into words; the tag of each is the first of `MARKS` before the next word.

    Marks that are not in the list (quotes, brackets, dashes) vanish, and so do those before the
    first word.
    """
    words, tags = [], []
    for word, gap in WORD.findall(text.lower()):
        words.append(word)
        tags.append(next((MARKS.index(sign) for sign in gap if sign in MARKS), 0))
    return Tagged(tuple(words), tuple(tags))


def punctuated(words: Sequence[str], tags: Sequence[int]) -> str:
    """Write words and their marks as text again; `tagged` reads the same words and tags in it."""
    return " ".join(word + MARKS[tag] for word, tag in zip(words, tags, strict=True))


class TaggedPieces(NamedTuple):
    """[CLS] words [SEP] as ids, and the tag at each place, −100 where none is asked."""

    tokens: list[int]  # (T,)
    labels: list[int]  # (T,)


def tag_pieces(item: Tagged, tokenizer: Tokenizer, special: SpecialTokens) -> TaggedPieces:
    """Cut words into pieces; the last piece of a word has its tag, all else −100.

    The last word is not asked: that the text ends there tells too much about its mark.
    """
    tokens, labels = [special.cls], [IGNORED]
    for place, (word, tag) in enumerate(zip(item.words, item.tags, strict=True), 1):
        pieces = tokenizer.encode(word)
        label = tag if place < len(item.words) else IGNORED
        tokens += pieces
        labels += [*[IGNORED] * (len(pieces) - 1), label]
    return TaggedPieces([*tokens, special.sep], [*labels, IGNORED])
