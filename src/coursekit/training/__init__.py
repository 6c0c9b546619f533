"""Training: optimisers, the schedules that steer them, and the recipes of fine-tuning.

The book explains them in "Training practice" and "Fine-tuning practice".

`from coursekit.training import AdamW` works for every name below and loads that one file only.
"""

from coursekit._base.lazy import homes_of, lazily

HANDS_OUT = {  # which names each file hands out; the cache keys of the notebooks read it too
    "batches": "Batches",
    "callbacks": (
        "AverageWeights Callback ClipGradients DivergedError EarlyStopping Evaluate KeepWeights "
        "ProgressBar WatchGradients"
    ),
    "checkpoint": "Checkpoint",
    "detection": "Pictures detection_items collate_objects random_mirror set_loss detect",
    "finetuning": "layer_rates fresh_top expected_best stop_early",
    "gradients": "clip_gradients",
    "computing": "Computing use using whole_batches",
    "hardware": "hardware",
    "history": "History",
    "lora": "LoRA add_lora merge_lora learned_weights",
    "loop": "train",
    "loss_curve": "loss_curve",
    "optimisers": "AdamW RAdam",
    "pictures": "as_input collate_pictures picture_loss class_scores accuracy",
    "records": "Settings choose record result sweep_result trained",
    "schedules": "constant inverse_sqrt vaswani linear cosine growth switch attach",
    "sliding": "crop draw_windows window_loss all_windows scan without_duplicates",
    "windows": "random_windows",
    "translation": (
        "Encoded Batch encode padded collate pair_length translation_loss mean_loss translate bleu"
    ),
}

HOMES = homes_of(HANDS_OUT)
__all__ = list(HOMES)
__getattr__, __dir__ = lazily(__name__, HOMES)
