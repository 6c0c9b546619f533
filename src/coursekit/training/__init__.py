"""Training: optimisers, the schedules that steer them, and the recipes of fine-tuning.

The book explains them in "Training practice" and "Fine-tuning practice".

`from coursekit.training import AdamW` works for every name below and loads that one file only.
"""

from coursekit._base.lazy import lazily

HOMES = {  # which module holds a name; the cache keys of the notebooks read this table too
    "Batches": "batches",
    "Checkpoint": "checkpoint",
    "Pictures": "detection",
    "detection_items": "detection",
    "collate_objects": "detection",
    "random_mirror": "detection",
    "set_loss": "detection",
    "detect": "detection",
    "Display": "progress_bar",
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
    "crop": "sliding",
    "draw_windows": "sliding",
    "window_loss": "sliding",
    "all_windows": "sliding",
    "scan": "sliding",
    "without_duplicates": "sliding",
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
