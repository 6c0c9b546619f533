"""The shared package of the course: parts, models and practice.

Every name is imported from the file that explains it: `from coursekit.attention import attention`,
`from coursekit import masks`. This file loads nothing, so the command line answers without torch.
"""

import sys

__version__ = "0.1.0"

MOVED = {  # what was a module of ours until 0.1.0 -> where it is; until the next release
    **{name: f"coursetools.{name}" for name in ("book", "cli", "course", "doctor", "grading")},
    **{name: f"coursetools.{name}" for name in ("assignments", "jobs", "notebooks", "questions")},
    **{name: f"coursekit._base.{name}" for name in ("address", "errors", "packages", "progress")},
    "trainings": "coursetools.experiments",
    "choosing": "coursekit.decoding.sampling",
    "quick": "coursekit.decoding.fast_step",
    "box_ops": "coursekit.boxes.geometry",
    "average_precision": "coursekit.boxes.average_precision",
    "analysis.looking": "coursekit.analysis.detector_attention",
    "analysis.painting": "coursekit.analysis.inpainting",
    "data.twins": "coursekit.data.near_duplicates",
}


class _Moved:
    """Says where a module went, to whoever imports it under its old name."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Raise where nobody else has found `name`, and it has moved."""
        package, _, module = name.partition(".")
        if package == __name__ and module in MOVED:
            raise ModuleNotFoundError(f"{name} has moved: it is {MOVED[module]} now", name=name)


if not any(getattr(one, "__qualname__", "") == _Moved.__qualname__ for one in sys.meta_path):
    sys.meta_path.append(_Moved)  # the last to be asked


def __getattr__(name: str) -> object:
    """Say from where a name can be imported, for it cannot be from here (PEP 562)."""
    if name in MOVED:
        raise ImportError(f"{__name__}.{name} has moved: it is {MOVED[name]} now")
    if name.isidentifier() and not name.startswith("_"):
        import re
        from pathlib import Path

        here, line = Path(__file__).parent, re.compile(rf"^(?:class|def) {name}\b", re.MULTILINE)
        rooms = ["decoding", "boxes", "models", "plain", "tokenizers", "objectives", "training"]
        rooms += ["data", "figures", "analysis"]
        files = sorted(file for room in ["", *rooms] for file in (here / room).glob("*.py"))
        homes = [file.relative_to(here) for file in files if line.search(file.read_text("utf-8"))]
        if homes and not any((here / name).with_suffix(kind).exists() for kind in ("", ".py")):
            dotted = (".".join(home.with_suffix("").parts) for home in homes)
            lines = " or ".join(f"from coursekit.{home} import {name}" for home in dotted)
            raise ImportError(f"coursekit itself hands out no {name}, write {lines}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
