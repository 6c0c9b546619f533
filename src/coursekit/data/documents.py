"""Documents as lists of sentences, for objectives that ask what follows upon what.

A speech is a document. So is a chapter of the Bible, a verse being a sentence, but for training
only: verses are split one by one, so one of the test is between verses of training, and the
next one of the test does not follow it.
"""

from __future__ import annotations

import re
from itertools import groupby

from coursekit.data.speeches import speeches
from coursekit.data.verses import verses

ENDS = re.compile(r"(?<=[.?!])\s+")  # "Mr. Speaker" is cut too, which harms nobody here


def documents(split: str = "train") -> list[list[str]]:
    """Return the documents of one split: the speeches, and in "train" the chapters after them."""
    texts = [ENDS.split(speech.text.strip()) for speech in speeches(split)]
    if split == "train":
        chapters = groupby(verses(split, longest=None), lambda pair: pair.key.split(":")[0])
        texts += [[pair.english for pair in chapter] for _, chapter in chapters]
    return texts
