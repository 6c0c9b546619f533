"""Bad input to any objective gets a message that names the argument."""

from __future__ import annotations

import pytest
import torch

from coursekit import objectives as o
from coursekit.boxes import Objects
from coursekit.models.detr import Detections

from ..refusals import Good, missing, public

ROW = torch.tensor([5, 6, 7, 8, 9, 10])
TOKENS = torch.tensor([[0, 5, 6, 7, 1], [0, 8, 9, 5, 1]])
LABELS = torch.tensor([1, 0, 2])
LOGITS = torch.randn(3, 4)
POLICY, REFERENCE = torch.randn(2, 5, 11), torch.randn(2, 5, 11)
ANSWER = torch.tensor([[False, False, True, True, True]] * 2)
SPECIAL = o.SpecialTokens(pad=2, cls=0, sep=1, mask=3)
DOCUMENTS = [[[5, 6], [7, 8]], [[9, 5], [6, 10]]]
PAIR = o.SentencePair(first=[5], second=[6], is_next=True)
SPANS = o.SpanCorruption(first_sentinel=50, sentinels=20)
CORRUPTED = o.corrupt_spans(TOKENS, SPANS)
BOXES = torch.full((1, 3, 4), 0.5)
OBJECTS = [Objects(labels=torch.tensor([1]), boxes=BOXES[0, :1])]
PREDICTED = Detections(logits=LOGITS[None], boxes=BOXES, states=BOXES)
LOG_P = torch.randn(3)
SCORES = {
    "policy_chosen": LOG_P,
    "policy_rejected": LOG_P,
    "reference_chosen": LOG_P,
    "reference_rejected": LOG_P,
}
NOISE = {"tokens": ROW, "mask": 3}
# Torch itself refuses labels that are not whole, and a loss of logits without axes.
LOSS = "targets:dtype logits:axes"

OF_NOISE = {"bad": {"share": [30]}, "free": "tokens:dtype"}
OF_SPANS = {"bad": {"share": [30], "mean_span": [0]}, "free": "tokens:dtype"}

TABLE = {
    "hinge_discriminator": lambda: Good(
        o.hinge_discriminator, {"real": torch.randn(3), "fake": torch.randn(2)}
    ),
    "hinge_generator": lambda: Good(o.hinge_generator, {"fake": torch.randn(2)}),
    "average_checkpoints": lambda: Good(
        o.average_checkpoints, {"checkpoints": [{"w": LOGITS}, {"w": LOGITS}]}
    ),
    "update_running_mean": lambda: Good(
        o.update_running_mean, {"mean": {"w": LOGITS.clone()}, "state": {"w": LOGITS}}
    ),
    "token_masking": lambda: Good(o.token_masking, NOISE, **OF_NOISE),
    "token_deletion": lambda: Good(o.token_deletion, {"tokens": ROW}, **OF_NOISE),
    "text_infilling": lambda: Good(o.text_infilling, NOISE, **OF_SPANS),
    "sentence_permutation": lambda: Good(
        o.sentence_permutation, {"tokens": ROW, "full_stops": 7}, free="tokens:dtype"
    ),
    "document_rotation": lambda: Good(
        o.document_rotation, {"tokens": ROW}, free="tokens:dtype"
    ),
    "bart_noise": lambda: Good(o.bart_noise, {**NOISE, "full_stops": 7}, **OF_SPANS),
    "split_sentences": lambda: Good(
        o.split_sentences, {"tokens": ROW, "full_stops": 7}, free="tokens:dtype"
    ),
    "denoising_batch": lambda: Good(
        o.denoising_batch, {"documents": [ROW], "special": SPECIAL, "noise": lambda x, **_: x}
    ),
    "DetectionLoss": lambda: Good(o.DetectionLoss, {}),
    "DetectionLoss.__call__": lambda: Good(
        o.DetectionLoss().__call__,
        {"predicted": PREDICTED, "targets": OBJECTS},
    ),
    "hard_distillation": lambda: Good(
        o.hard_distillation, {"student": LOGITS, "teacher": LOGITS}
    ),
    "soft_distillation": lambda: Good(
        o.soft_distillation, {"student": LOGITS, "teacher": LOGITS}
    ),
    "distillation": lambda: Good(
        o.distillation,
        {"label_logits": LOGITS, "teacher_logits": LOGITS, "teacher": LOGITS, "labels": LABELS},
        free="label_logits labels", says={"teacher_logits": "student"},
    ),
    "segment_pairs": lambda: Good(
        o.segment_pairs, {"documents": DOCUMENTS, "special": SPECIAL, "max_length": 9}
    ),
    "sentence_pairs": lambda: Good(
        o.sentence_pairs, {"documents": DOCUMENTS, "special": SPECIAL, "max_length": 9}
    ),
    "full_sentences": lambda: Good(
        o.full_sentences, {"documents": DOCUMENTS, "special": SPECIAL, "max_length": 9},
        bad={"max_length": [2]},
    ),
    "doc_sentences": lambda: Good(
        o.doc_sentences, {"documents": DOCUMENTS, "special": SPECIAL, "max_length": 9},
        bad={"max_length": [2]},
    ),
    "smoothed_targets": lambda: Good(
        o.smoothed_targets, {"targets": LABELS, "vocabulary": 4, "smoothing": 0.1},
        free="targets",
    ),
    "smoothed_cross_entropy": lambda: Good(
        o.smoothed_cross_entropy, {"logits": LOGITS, "targets": LABELS},
        free=f"{LOSS} pad:sign",
    ),
    "fused_cross_entropy": lambda: Good(
        o.fused_cross_entropy, {"logits": LOGITS, "targets": LABELS}, free=f"{LOSS} pad:sign"
    ),
    "lowest_loss": lambda: Good(o.lowest_loss, {"vocabulary": 4, "smoothing": 0.1}),
    "Replacement": lambda: Good(o.Replacement, {}),
    "mlm_mask": lambda: Good(
        o.mlm_mask, {"tokens": TOKENS, "special": SPECIAL, "vocabulary": 11},
        bad={"words": [TOKENS[:, 1:]]},
    ),
    "masked_lm_loss": lambda: Good(
        o.masked_lm_loss, {"logits": POLICY, "labels": TOKENS},
        free="labels:dtype labels:axes",
    ),
    "HungarianMatcher": lambda: Good(o.HungarianMatcher, {}),
    "HungarianMatcher.__call__": lambda: Good(
        o.HungarianMatcher().__call__,
        {"logits": LOGITS[None], "boxes": BOXES, "targets": OBJECTS},
        bad={"boxes": [BOXES[:, 1:]], "logits": [LOGITS[None] * torch.nan], "targets": [[]]},
        says={"logits": "logits|cost", "targets": "target"},
    ),
    "assign": lambda: Good(o.assign, {"cost": torch.rand(2, 3)}),
    "nsp_pairs": lambda: Good(o.nsp_pairs, {"documents": DOCUMENTS}),
    "truncate_pair": lambda: Good(
        o.truncate_pair, {"first": [5, 6], "second": [7], "room": 2}
    ),
    "encode_pair": lambda: Good(
        o.encode_pair, {"pair": PAIR, "special": SPECIAL, "max_length": 9}
    ),
    "pair_room": lambda: Good(o.pair_room, {"max_length": 9}),
    "pad_pairs": lambda: Good(
        o.pad_pairs, {"inputs": [o.encode_pair(PAIR, SPECIAL, max_length=9)], "pad": 2},
        free="pad:sign",
    ),
    "next_sentence_loss": lambda: Good(
        o.next_sentence_loss, {"logits": torch.randn(3, 2), "is_next": LABELS.clamp(max=1)},
        bad={"logits": [LOGITS]}, free="is_next:dtype is_next:axes",
    ),
    "answer_mask": lambda: Good(
        o.answer_mask,
        {"prompt_lengths": torch.tensor([1, 2]), "lengths": torch.tensor([3, 4]), "size": 5},
        free="*:dtype",
    ),
    "sequence_log_probability": lambda: Good(
        o.sequence_log_probability, {"logits": POLICY, "tokens": TOKENS, "answer": ANSWER},
        free="logits:axes tokens:dtype",
    ),
    "dpo_loss": lambda: Good(o.dpo_loss, SCORES),
    "reward_loss": lambda: Good(
        o.reward_loss, {"chosen": torch.randn(3), "rejected": torch.randn(3)},
        free="margin:sign margin:nan",
    ),
    "kl_to_reference": lambda: Good(
        o.kl_to_reference, {"policy": POLICY, "reference": REFERENCE, "answer": ANSWER},
        free="policy:axes",
    ),
    "rlhf_reward": lambda: Good(
        o.rlhf_reward,
        {"reward": torch.randn(3), "policy": torch.randn(3), "reference": torch.randn(3),
         "beta": 0.1},
    ),
    "pad_rows": lambda: Good(
        o.pad_rows, {"rows": [[5, 6], [7]], "pad": 2}, free="pad:sign"
    ),
    "batches_of_tokens": lambda: Good(o.batches_of_tokens, {"lengths": [3, 2], "limit": 6}),
    "SpanCorruption": lambda: Good(o.SpanCorruption, {}),
    "corrupt_spans": lambda: Good(
        o.corrupt_spans, {"tokens": TOKENS, "setting": SPANS}, free="tokens:dtype"
    ),
    "random_spans": lambda: Good(
        o.random_spans, {"rows": 2, "length": 9, "setting": SPANS}
    ),
    "replace_spans": lambda: Good(
        o.replace_spans,
        {"tokens": TOKENS, "hidden": torch.tensor([[False, True, False, False, False]] * 2),
         "setting": SPANS},
        free="tokens:dtype",
    ),
    "restore": lambda: Good(
        o.restore,
        {"inputs": CORRUPTED.inputs[0], "targets": CORRUPTED.targets[0], "setting": SPANS},
        free="*:dtype",
    ),
    "SpecialTokens": lambda: Good(o.SpecialTokens, {"pad": 2, "cls": 0, "sep": 1, "mask": 3}),
}  # fmt: skip


def test_every_objective_has_an_entry():
    assert missing(TABLE, public(o, o.__all__)) == []


@pytest.mark.parametrize("name", TABLE)
def test_bad_input_is_refused_by_name(name):
    assert TABLE[name]().faults() == []
