"""Decoding: how a model's predictions become a text.

`from coursekit.decoding import generate` works for every name below and loads that one file only.
"""

from coursekit._base.lazy import homes_of, lazily

HANDS_OUT = {  # which names each file hands out; the cache keys of the notebooks read it too
    "generation": (
        "State Decoder left_pad stream generate wu_penalty power_penalty Hypotheses beam_search"
    ),
    "sampling": "greedy sample keep_top_k keep_top_p",
    "fast_step": "QuickStack",
    "spans": "SpanLogits Span best_span",
}

HOMES = homes_of(HANDS_OUT)
__all__ = list(HOMES)
__getattr__, __dir__ = lazily(__name__, HOMES)
