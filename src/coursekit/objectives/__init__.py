"""Objectives: what a model is asked to predict, and how far off it was.

`from coursekit.objectives import dpo_loss` works for every name below and loads that one file only.
"""

from coursekit._base.lazy import homes_of, lazily

HANDS_OUT = {  # which names each file hands out; the cache keys of the notebooks read it too
    "adversarial": "hinge_discriminator hinge_generator",
    "checkpoints": "average_checkpoints update_running_mean",
    "denoising": (
        "token_masking token_deletion text_infilling sentence_permutation document_rotation "
        "bart_noise split_sentences DenoisingBatch denoising_batch"
    ),
    "detection": "DetectionLoss",
    "distillation": "hard_distillation soft_distillation distillation",
    "input_formats": "segment_pairs sentence_pairs full_sentences doc_sentences",
    "label_smoothing": ("smoothed_targets smoothed_cross_entropy fused_cross_entropy lowest_loss"),
    "masked_lm": "Replacement MaskedTokens mlm_mask masked_lm_loss",
    "matcher": "HungarianMatcher assign",
    "next_sentence": (
        "SentencePair PairInput PairBatch nsp_pairs truncate_pair encode_pair pair_room pad_pairs "
        "next_sentence_loss"
    ),
    "preferences": (
        "answer_mask sequence_log_probability Preference dpo_loss reward_loss kl_to_reference "
        "rlhf_reward"
    ),
    "rows": "pad_rows batches_of_tokens",
    "span_corruption": "SpanCorruption Corrupted corrupt_spans random_spans replace_spans restore",
    "special_tokens": "SpecialTokens",
}

HOMES = homes_of(HANDS_OUT)
__all__ = list(HOMES)
__getattr__, __dir__ = lazily(__name__, HOMES)
