"""Data: what the models of the course are trained on, one file for each source.

The book shows each of them in "What the models are trained on".

`from coursekit.data import verses` works for every name below and loads that one file only.
"""

from coursekit._base.lazy import homes_of, lazily

HANDS_OUT = {  # which names each file hands out; the cache keys of the notebooks read it too
    "augment": "Mixed random_flip random_shift random_erase mixup cutmix",
    "blanks": "Blank blanks span_pieces",
    "canvases": "paint_canvases as_canvas ends",
    "cards": "Card",
    "cifar": "cifar",
    "commands": "Command commands phrases split_commands holds_words word_ids",
    "digits": "digits",
    "documents": "documents",
    "fashion": "fashion",
    "images": "Images",
    "king_james": "king_james",
    "relations": "Related related_words",
    "punctuation": "Tagged punctuation tagged punctuated tag_pieces",
    "reviews": "Review reviews",
    "scenes": "Scene Placed Scenes scenes",
    "speeches": "Speech speeches",
    "splits": "split_of",
    "near_duplicates": "shingles jaccard near_pairs leaders",
    "verses": "verses verse_pairs",
}

HOMES = homes_of(HANDS_OUT)
__all__ = list(HOMES)
__getattr__, __dir__ = lazily(__name__, HOMES)
