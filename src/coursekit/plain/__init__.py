"""One page a model: the whole idea and nothing else, made of the parts of Part I.

Each is equal to the full model in `coursekit.models`, which has what real use needs; tests
hold outputs and gradients equal. `from coursekit.plain import PlainGPT` loads that one file only.
"""

from coursekit._base.lazy import lazily

HOMES = {  # which module holds a name; the cache keys of the notebooks read this table too
    "PlainBert": "bert",
    "PlainDETR": "detr",
    "PlainGPT": "gpt",
    "LlamaBlock": "llama",
    "PlainMAE": "mae",
    "PlainSwin": "swin",
    "PlainT5": "t5",
    "PlainTransformer": "transformer",
    "PlainViT": "vit",
}

__all__ = list(HOMES)
__getattr__, __dir__ = lazily(__name__, HOMES)
