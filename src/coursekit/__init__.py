"""The shared package of the course: parts, models and practice.

Every name is imported from the file that explains it: `from coursekit.attention import attention`,
`from coursekit import masks`. This file loads nothing, so the command line answers without torch.
"""

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Say from where a name can be imported, for it cannot be from here (PEP 562)."""
    if name.isidentifier() and not name.startswith("_"):
        import re
        from pathlib import Path

        here, line = Path(__file__).parent, re.compile(rf"^(?:class|def) {name}\b", re.MULTILINE)
        rooms = ["decoding", "boxes", "models", "tokenizers", "objectives", "training", "data"]
        rooms += ["figures", "analysis"]
        files = sorted(file for room in ["", *rooms] for file in (here / room).glob("*.py"))
        homes = [file.relative_to(here) for file in files if line.search(file.read_text("utf-8"))]
        if homes and not any((here / name).with_suffix(kind).exists() for kind in ("", ".py")):
            dotted = (".".join(home.with_suffix("").parts) for home in homes)
            lines = " or ".join(f"from coursekit.{home} import {name}" for home in dotted)
            raise ImportError(f"coursekit itself hands out no {name}, write {lines}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
