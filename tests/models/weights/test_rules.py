"""One convention for weights from elsewhere: rules both ways, models that know no table."""

from __future__ import annotations

import ast
import graphlib
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import coursekit
from coursekit import models
from coursekit.activations import ACTIVATIONS
from coursekit.models import weights
from coursekit.models.weights.rules import (
    GELUS,
    Ignored,
    Kept,
    Reshaped,
    Stacked,
    Tied,
    Transposed,
    check_usual,
    export_state,
    import_state,
    read_sizes,
    renamed,
    same,
    stacked,
)

SOURCE = Path(coursekit.__file__).parent
MODELS = sorted((SOURCE / "models").rglob("*.py"))
RULES = [
    Transposed("matrix", "theirs.matrix"),
    Reshaped("flat", "theirs.row", (3,), (1, 3)),
    Stacked("qkv", ("q", "k", "v"), rows=(1, 2, 1)),
    *stacked("both", ("a", "b")),
    *same("norm", "theirs.norm"),
    Tied("copy", "theirs.matrix"),
    Ignored("positions"),
]


def theirs() -> dict[str, Tensor]:
    torch.manual_seed(0)
    state = {
        "theirs.matrix": torch.randn(2, 3), "theirs.row": torch.randn(1, 3),
        "q": torch.randn(1, 4), "k": torch.randn(2, 4), "v": torch.randn(1, 4),
        "a.weight": torch.randn(2, 4), "b.weight": torch.randn(2, 4),
        "a.bias": torch.randn(2), "b.bias": torch.randn(2),
        "theirs.norm.weight": torch.randn(3), "theirs.norm.bias": torch.randn(3),
    }  # fmt: skip
    return state | {"copy": state["theirs.matrix"].clone()}


def test_every_kind_of_rule_goes_there_and_back():
    state = theirs()
    ours = import_state(RULES, state | {"positions": torch.arange(3)})
    assert torch.equal(ours["matrix"], state["theirs.matrix"].T)
    assert torch.equal(ours["flat"], state["theirs.row"][0])
    assert torch.equal(ours["qkv"], torch.cat([state["q"], state["k"], state["v"]]))
    assert torch.equal(ours["both.bias"], torch.cat([state["a.bias"], state["b.bias"]]))
    assert torch.equal(ours["norm.weight"], state["theirs.norm.weight"])
    back = export_state(RULES, ours)
    assert back.keys() == state.keys()
    assert all(torch.equal(back[name], tensor) for name, tensor in state.items())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"more": torch.ones(1)}, "hold 'more', which this model has no place for"),
        ({"q": None}, "lack 'q', which this model needs"),
        ({"copy": torch.zeros(2, 3)}, "copy should be a copy of theirs.matrix"),
    ],
)
def test_what_does_not_fit_is_named(change, said):
    state = {name: t for name, t in (theirs() | change).items() if t is not None}
    with pytest.raises(ValueError, match=said):
        import_state(RULES, state)


def test_names_of_old_files_are_patterns():
    state = {"layers.7.fc1.bias": torch.ones(1), "mlayers.fc1": torch.zeros(1)}
    assert list(renamed(state, {r"(layers\.\d+)\.(fc[12])\.": r"\1.mlp.\2."})) == [
        "layers.7.mlp.fc1.bias", "mlayers.fc1",
    ]  # fmt: skip


def test_configurations_of_others_are_read_by_name():
    config = {"d_model": 8, "kind": "odd", "layers": None}
    assert read_sizes(config, {"width": "d_model"}) == {"width": 8}
    with pytest.raises(ValueError, match="the configuration lacks layers, heads"):
        read_sizes(config, {"width": "d_model", "depth": "layers", "heads": "heads"})
    check_usual(config, {"d_model": 8, "nowhere": 1})
    with pytest.raises(ValueError, match="kind of a T must be 'even', found 'odd'"):
        check_usual(config, {"kind": "even"}, "{name} of a T")


def test_what_they_lack_stays_and_is_not_exported():
    table = [*same("linear", "dense"), Kept("scale")]
    ours = {"linear.weight": torch.ones(2), "linear.bias": torch.zeros(1), "scale": torch.ones(1)}
    theirs = export_state(table, ours)
    assert theirs.keys() == {"dense.weight", "dense.bias"}
    assert import_state(table, theirs).keys() == ours.keys() - {"scale"}


def test_a_model_without_a_table_is_named():
    with pytest.raises(TypeError, match="a Linear has no counterpart in other programs"):
        weights.export(nn.Linear(2, 2))
    with pytest.raises(ValueError, match="layout must be huggingface for this model, found 'orig"):
        weights.export(models.T5(models.T5Config(width=8, depth=1, heads=1)), "original")


# How the house keeps it that way.


def imports(path: Path) -> set[str]:
    """Return the modules of `coursekit.models` that a file imports, those for types too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("coursekit.models"):
            dotted = [f"{node.module}.{alias.name}" for alias in node.names] + [node.module]
            paths = [SOURCE / Path(*name.split(".")[1:]).with_suffix(".py") for name in dotted]
            found |= {module(place) for place in paths if place.is_file()}
    return found


def module(path: Path) -> str:
    return path.relative_to(SOURCE / "models").as_posix().removesuffix(".py")


def test_no_circle_and_no_model_that_knows_a_table():
    graph = {module(path): imports(path) for path in MODELS}
    assert len(list(graphlib.TopologicalSorter(graph).static_order())) == len(MODELS)
    for name, others in graph.items():
        if "/" not in name:
            assert not any(other.startswith("weights") for other in others), name


def test_helpers_and_activations_stand_once():
    counts = Counter(
        node.name
        for path in MODELS
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    )
    for helper in ("same", "stacked", "renamed", "square", "check_usual", "read_sizes"):
        assert counts[helper] == 1, helper
    assert not counts["linear"] + counts["current_names"]
    defined = [
        path.name
        for path in SOURCE.rglob("*.py")
        if "\nACTIVATIONS" in path.read_text(encoding="utf-8")
    ]
    assert defined == ["activations.py"]
    assert set(GELUS.values()) <= ACTIVATIONS.keys()


def test_a_model_file_holds_no_table():
    """Only a backbone without names of its own needs a rule outside of `weights`."""
    kinds = {"Tied", "Ignored", "Stacked", "Reshaped", "Transposed", "import_state"}
    for path in (SOURCE / "models").glob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        assert not kinds & {node.id for node in nodes if isinstance(node, ast.Name)}, path.name


@pytest.mark.parametrize("name", weights.FAMILIES)
def test_every_name_is_that_of_a_model_or_its_config(name):
    kind = getattr(import_module(f"coursekit.models.{models.HOMES[name]}"), name)
    assert kind.__name__ == name
    assert issubclass(kind, nn.Module) != name.endswith("Config")
