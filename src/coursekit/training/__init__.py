"""Training: optimisers, the schedules that steer them, and the recipes of fine-tuning.

`from coursekit.training import AdamW` works for every name below and loads that one file only.
"""

from coursekit._lazy import lazily

HOMES = {  # which module holds a name; the cache keys of the notebooks read this table too
    "Batches": "batches",
    "Checkpoint": "checkpoint",
    "Display": "display",
    "layer_rates": "finetuning",
    "fresh_top": "finetuning",
    "expected_best": "finetuning",
    "stop_early": "finetuning",
    "clip_gradients": "gradients",
    "hardware": "hardware",
    "History": "history",
    "DivergedError": "loop",
    "train": "loop",
    "AdamW": "optimisers",
    "RAdam": "optimisers",
    "as_input": "pictures",
    "collate_pictures": "pictures",
    "picture_loss": "pictures",
    "class_scores": "pictures",
    "accuracy": "pictures",
    "launch": "processes",
    "Settings": "records",
    "choose": "records",
    "record": "records",
    "result": "records",
    "sweep_result": "records",
    "trained": "records",
    "constant": "schedules",
    "inverse_sqrt": "schedules",
    "vaswani": "schedules",
    "linear": "schedules",
    "cosine": "schedules",
    "growth": "schedules",
    "switch": "schedules",
    "attach": "schedules",
    "random_windows": "windows",
    "Encoded": "translation",
    "Batch": "translation",
    "encode": "translation",
    "padded": "translation",
    "collate": "translation",
    "pair_length": "translation",
    "translation_loss": "translation",
    "mean_loss": "translation",
    "translate": "translation",
    "bleu": "translation",
}

__all__ = list(HOMES)
__getattr__, __dir__ = lazily(__name__, HOMES)
