"""Boxes: how they overlap, and how well they were found.

`from coursekit.boxes import iou` works for every name below and loads that one file only.
"""

from coursekit._base.lazy import homes_of, lazily

HANDS_OUT = {  # which names each file hands out; the cache keys of the notebooks read it too
    "geometry": (
        "Objects to_corners to_centres area intersection iou generalized_iou "
        "non_maximum_suppression"
    ),
    "average_precision": "Evaluation average_precision evaluate",
}

HOMES = homes_of(HANDS_OUT)
__all__ = list(HOMES)
__getattr__, __dir__ = lazily(__name__, HOMES)
