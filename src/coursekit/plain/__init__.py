"""One page a model: the whole idea and nothing else, made of the parts of Part I.

Each is equal to the full model in `coursekit.models`, which has what real use needs; tests
hold outputs and gradients equal. `from coursekit.plain import PlainGPT` loads that one file only.
"""

from coursekit._base.lazy import homes_of, lazily

HANDS_OUT = {  # which names each file hands out; the cache keys of the notebooks read it too
    "bert": "PlainBert",
    "detr": "PlainDETR",
    "gpt": "PlainGPT",
    "llama": "LlamaBlock",
    "mae": "PlainMAE",
    "swin": "PlainSwin window_partition",
    "t5": "PlainT5",
    "transformer": "PlainTransformer",
    "vit": "PlainViT",
}

HOMES = homes_of(HANDS_OUT)
__all__ = list(HOMES)
__getattr__, __dir__ = lazily(__name__, HOMES)
