"""Data: what the models of the course are trained on, one file for each source.

The book shows each of them in "What the models are trained on".

`from coursekit.data import verses` works for every name below and loads that one file only.
"""

from coursekit._base.lazy import lazily

HOMES = {  # which module holds a name; the cache keys of the notebooks read this table too
    "Mixed": "augment",
    "random_flip": "augment",
    "random_shift": "augment",
    "random_erase": "augment",
    "mixup": "augment",
    "cutmix": "augment",
    "Blank": "blanks",
    "blanks": "blanks",
    "span_pieces": "blanks",
    "paint_canvases": "canvases",
    "as_canvas": "canvases",
    "ends": "canvases",
    "Card": "cards",
    "cifar": "cifar",
    "Command": "commands",
    "commands": "commands",
    "phrases": "commands",
    "split_commands": "commands",
    "holds_words": "commands",
    "word_ids": "commands",
    "digits": "digits",
    "documents": "documents",
    "fashion": "fashion",
    "Images": "images",
    "Related": "relations",
    "related_words": "relations",
    "Tagged": "punctuation",
    "punctuation": "punctuation",
    "tagged": "punctuation",
    "punctuated": "punctuation",
    "tag_pieces": "punctuation",
    "Review": "reviews",
    "reviews": "reviews",
    "Scene": "scenes",
    "Placed": "scenes",
    "Scenes": "scenes",
    "scenes": "scenes",
    "Speech": "speeches",
    "speeches": "speeches",
    "split_of": "splits",
    "shingles": "near_duplicates",
    "jaccard": "near_duplicates",
    "near_pairs": "near_duplicates",
    "leaders": "near_duplicates",
    "verses": "verses",
    "verse_pairs": "verses",
}

__all__ = list(HOMES)
__getattr__, __dir__ = lazily(__name__, HOMES)
