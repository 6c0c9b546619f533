"""Every word of a figure can be read on a telephone.

The figures find themselves: for each module of coursekit.figures what its tests keep in DRAWINGS
and, for page-wide diagrams, DIAGRAMS; and every figure that needs no arguments.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

import pytest

from coursekit import figures

HERE = Path(__file__).parent


def drawings():
    """Return (draw, how wide a telephone is): what tests draw, and what needs no arguments."""
    found = {}
    for path in sorted(Path(figures.__file__).parent.glob("[!_]*.py")):
        module = import_module(f"{figures.__name__}.{path.stem}")
        drawn = {}
        for name, draw in inspect.getmembers(module, inspect.isfunction):
            ours = draw.__module__ == module.__name__ and not name.startswith("_")
            if ours and draw.__annotations__.get("return") == "Figure" and needs_nothing(draw):
                drawn[name] = draw, 390
        if (HERE / f"test_{path.stem}.py").exists():
            tests = import_module(f"{__package__}.test_{path.stem}")
            for kept, telephone in (("DIAGRAMS", 390), ("DRAWINGS", 360)):
                for name, draw in getattr(tests, kept, {}).items():
                    drawn[name] = draw, telephone
        found |= {f"{path.stem}.{name}": draw for name, draw in drawn.items()}
    return found


def needs_nothing(draw):
    arguments = inspect.signature(draw).parameters.values()
    return all(argument.default is not argument.empty for argument in arguments)


DRAWINGS = drawings()


@pytest.mark.parametrize("name", DRAWINGS)
def test_every_word_can_be_read_on_a_telephone(name, readable):
    draw, telephone = DRAWINGS[name]
    readable(draw(), telephone)
