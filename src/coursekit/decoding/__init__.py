"""Decoding: how a model's predictions become a text.

`from coursekit.decoding import generate` works for every name below and loads that one file only.
"""

from coursekit._base.lazy import lazily

HOMES = {  # which module holds a name; the cache keys of the notebooks read this table too
    "State": "generation",
    "Decoder": "generation",
    "left_pad": "generation",
    "stream": "generation",
    "generate": "generation",
    "wu_penalty": "generation",
    "power_penalty": "generation",
    "Hypotheses": "generation",
    "beam_search": "generation",
    "greedy": "sampling",
    "sample": "sampling",
    "keep_top_k": "sampling",
    "keep_top_p": "sampling",
    "QuickStack": "fast_step",
}

__all__ = list(HOMES)
__getattr__, __dir__ = lazily(__name__, HOMES)
