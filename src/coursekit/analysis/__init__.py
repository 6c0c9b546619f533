"""What a trained or fresh model does inside: gradients by depth, ranks, distances, heads, what a
ViT has learned, and how a loss falls with what it costs.

`from coursekit.analysis import prune` works for every name below and loads that one file only.
"""

from coursekit._base.lazy import homes_of, lazily

HANDS_OUT = {  # which names each file hands out; the cache keys of the notebooks read it too
    "depth": ("distance_to_equal_rows distances_by_depth gradient_norms local_exponents"),
    "energy": "flops_by_count flops_by_clock kilowatt_hours Training",
    "frechet": "Gaussian gaussian_of frechet_distance inception_score",
    "heads": (
        "head_importance prune greedy_order score_matrices captured_energy effective_rank "
        "heads_off weight_on"
    ),
    "laws": "PowerLaw Frontier Interval power_law frontier bootstrap",
    "detector_attention": "cell_middles cells_inside object_lifts ring_shares",
    "memory": "Activations activations Memory counted measured kept_bytes rows_that_fit",
    "inpainting": (
        "hidden_pixels fill_hidden painting_error paint_from_neighbours paint_from_nearest "
        "LinearPainter patch_means"
    ),
    "parameters": "Size count detr",
    "positions": (
        "length_dependence closest_pair growth shift_residual shift_dependence falls_until"
    ),
    "receptive": "Convolution Reach receptive_field depends_on",
    "probing": "Probe linear_probe tuned_probe",
    "capture": "Recording capture",
    "relations": (
        "encode_words word_weights largest_other relation_hits judged_head best_offset "
        "offset_share guess_share fresh relation_rows"
    ),
    "retrieval": "embed nearest recall_at_k bm25",
    "vision": (
        "patch_distances attention_distance place_similarity Components principal_filters rollout "
        "Readout ridge few_shot"
    ),
}

HOMES = homes_of(HANDS_OUT)
__all__ = list(HOMES)
__getattr__, __dir__ = lazily(__name__, HOMES)
