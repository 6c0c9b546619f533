"""Boxes: how they overlap, and how well they were found.

`from coursekit.boxes import iou` works for every name below and loads that one file only.
"""

from coursekit._base.lazy import lazily

HOMES = {  # which module holds a name; the cache keys of the notebooks read this table too
    "Objects": "geometry",
    "to_corners": "geometry",
    "to_centres": "geometry",
    "area": "geometry",
    "intersection": "geometry",
    "iou": "geometry",
    "generalized_iou": "geometry",
    "non_maximum_suppression": "geometry",
    "Evaluation": "average_precision",
    "average_precision": "average_precision",
    "evaluate": "average_precision",
}

__all__ = list(HOMES)
__getattr__, __dir__ = lazily(__name__, HOMES)
