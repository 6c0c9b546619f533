"""Tokenizers: text to ids and back, from single characters to Unigram, behind one interface.

The book explains them in "Tokenization".

`from coursekit.tokenizers import ByteBPE` works for every name below and loads that one file only.
"""

from coursekit._base.lazy import lazily

HOMES = {  # which module holds a name; the cache keys of the notebooks read this table too
    "Tokenizer": "base",
    "BPE": "bpe",
    "gpt2_pattern": "patterns",
    "cl100k_pattern": "patterns",
    "printable_bytes": "byte_bpe",
    "ByteBPE": "byte_bpe",
    "Characters": "characters",
    "learn_merges_simple": "merges",
    "learn_merges": "merges",
    "apply_merges_simple": "merges",
    "apply_merges": "merges",
    "gpt2": "pretrained",
    "bert": "pretrained",
    "segmentations": "unigram",
    "best_segmentation": "unigram",
    "expected_counts": "unigram",
    "seed_pieces": "unigram",
    "Unigram": "unigram",
    "BasicText": "wordpiece",
    "basic_text": "wordpiece",
    "WordPiece": "wordpiece",
    "Words": "words",
    "word_pattern": "words",
}

__all__ = list(HOMES)
__getattr__, __dir__ = lazily(__name__, HOMES)
