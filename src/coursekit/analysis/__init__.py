"""What a trained or fresh model does inside: gradients by depth, ranks, distances, heads, what a
ViT has learned, and how a loss falls with what it costs.

`from coursekit.analysis import prune` works for every name below and loads that one file only.
"""

from coursekit._lazy import lazily

HOMES = {  # which module holds a name; the cache keys of the notebooks read this table too
    "distance_to_equal_rows": "depth",
    "distance_to_rank_one": "depth",
    "distances_by_depth": "depth",
    "gradient_norms": "depth",
    "local_exponents": "depth",
    "flops_by_count": "energy",
    "flops_by_clock": "energy",
    "kilowatt_hours": "energy",
    "Training": "energy",
    "head_importance": "heads",
    "prune": "heads",
    "greedy_order": "heads",
    "score_matrices": "heads",
    "captured_energy": "heads",
    "effective_rank": "heads",
    "PowerLaw": "laws",
    "Frontier": "laws",
    "Interval": "laws",
    "power_law": "laws",
    "frontier": "laws",
    "bootstrap": "laws",
    "Activations": "memory",
    "activations": "memory",
    "Memory": "memory",
    "counted": "memory",
    "measured": "memory",
    "kept_bytes": "memory",
    "rows_that_fit": "memory",
    "Size": "parameters",
    "count": "parameters",
    "detr": "parameters",
    "length_dependence": "positions",
    "closest_pair": "positions",
    "growth": "positions",
    "shift_residual": "positions",
    "shift_dependence": "positions",
    "falls_until": "positions",
    "encode_words": "relations",
    "word_weights": "relations",
    "largest_other": "relations",
    "relation_hits": "relations",
    "judged_head": "relations",
    "best_offset": "relations",
    "offset_share": "relations",
    "guess_share": "relations",
    "fresh": "relations",
    "relation_rows": "relations",
    "patch_distances": "vision",
    "attention_distance": "vision",
    "place_similarity": "vision",
    "Components": "vision",
    "principal_filters": "vision",
    "rollout": "vision",
    "Readout": "vision",
    "ridge": "vision",
    "few_shot": "vision",
}

__all__ = list(HOMES)
__getattr__, __dir__ = lazily(__name__, HOMES)
