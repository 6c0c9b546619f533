"""Tokenizers: text to ids and back, from single characters to Unigram, behind one interface.

The book explains them in "Tokenization".

`from coursekit.tokenizers import ByteBPE` works for every name below and loads that one file only.
"""

from coursekit._base.lazy import homes_of, lazily

HANDS_OUT = {  # which names each file hands out; the cache keys of the notebooks read it too
    "base": "Tokenizer",
    "bpe": "BPE",
    "patterns": "gpt2_pattern cl100k_pattern",
    "byte_bpe": "printable_bytes ByteBPE",
    "characters": "Characters",
    "merges": "learn_merges_simple learn_merges apply_merges_simple apply_merges",
    "pretrained": "gpt2 bert",
    "unigram": "segmentations best_segmentation expected_counts seed_pieces Unigram",
    "wordpiece": "BasicText basic_text WordPiece",
    "words": "Words word_pattern",
}

HOMES = homes_of(HANDS_OUT)
__all__ = list(HOMES)
__getattr__, __dir__ = lazily(__name__, HOMES)
