"""Learn the Unigram vocabulary that the book's figure of four tokenizers shows.

    python scripts/make_unigram.py

It weighs every way to cut every word, some ten seconds; so a page and its tests read the file.
"""

from __future__ import annotations

from coursekit.figures.live.vocabularies import UNIGRAM, learn_unigram

if __name__ == "__main__":
    learn_unigram().save(UNIGRAM)
    print(f"{UNIGRAM.name}: {UNIGRAM.stat().st_size:,} bytes")
