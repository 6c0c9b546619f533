"""Weights from elsewhere: one table of rules a model, read in both directions.

A rule says which of our parameters stands for which of theirs, by name. `import_state` and
`export_state` walk the table; a name that is missing or left over, on either side, is an error, so
a model can never load half of its weights and stay silent. The tables are in the files beside this
one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

# What transformers calls the forms of GELU, and what `coursekit.activations` does.
GELUS = {"gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh"}


@dataclass(frozen=True)
class Same:
    """One parameter, the same numbers under two names."""

    ours: str
    theirs: str


@dataclass(frozen=True)
class Transposed:
    """One matrix that the other side multiplies from the other side (GPT-2's `Conv1D`)."""

    ours: str
    theirs: str


@dataclass(frozen=True)
class Reshaped:
    """One parameter whose axes of length 1 differ, or whose axes are split: `shape` is ours."""

    ours: str
    theirs: str
    shape: tuple[int, ...]
    their_shape: tuple[int, ...]


@dataclass(frozen=True)
class Stacked:
    """Several of theirs below one another in one of ours: q, k and v in our `qkv`.

    The parts are equally high unless `rows` says how many rows each has.
    """

    ours: str
    theirs: tuple[str, ...]
    rows: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Tied:
    """A copy that they store of their parameter `to`; we have one parameter for both."""

    theirs: str
    to: str


@dataclass(frozen=True)
class Ignored:
    """A constant that some of their files hold and that is no parameter, such as position ids."""

    theirs: str


@dataclass(frozen=True)
class Kept:
    """A parameter of ours that they do not have: it stays as it is, and is not exported."""

    ours: str


Rule = Same | Transposed | Reshaped | Stacked | Tied | Ignored | Kept


def import_state(rules: Iterable[Rule], theirs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return our state dict, made of `theirs`; every name on their side must be in a rule."""
    remaining, ours, ties = dict(theirs), {}, []
    for rule in rules:
        match rule:
            case Same():
                ours[rule.ours] = _take(remaining, rule.theirs)
            case Transposed():
                ours[rule.ours] = _take(remaining, rule.theirs).T.contiguous()
            case Reshaped():
                ours[rule.ours] = _take(remaining, rule.theirs).reshape(rule.shape)
            case Stacked():
                ours[rule.ours] = torch.cat([_take(remaining, name) for name in rule.theirs])
            case Tied():
                ties.append(rule)
            case Ignored():
                remaining.pop(rule.theirs, None)
            case Kept():
                pass
    for tie in ties:
        copy = remaining.pop(tie.theirs, None)
        if copy is not None and not torch.equal(copy, theirs[tie.to]):
            raise ValueError(f"{tie.theirs} should be a copy of {tie.to}, but the two differ")
    if remaining:
        raise ValueError(f"the weights hold {_names(remaining)}, which this model has no place for")
    return ours


def export_state(rules: Iterable[Rule], ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return their state dict, made of `ours`; every name on our side must be in a rule."""
    remaining, theirs, ties = dict(ours), {}, []
    for rule in rules:
        match rule:
            case Same():
                theirs[rule.theirs] = _take(remaining, rule.ours)
            case Transposed():
                theirs[rule.theirs] = _take(remaining, rule.ours).T.contiguous()
            case Reshaped():
                theirs[rule.theirs] = _take(remaining, rule.ours).reshape(rule.their_shape)
            case Stacked():
                stacked = _take(remaining, rule.ours)
                parts = stacked.split(rule.rows) if rule.rows else stacked.chunk(len(rule.theirs))
                theirs |= {name: part.contiguous() for name, part in zip(rule.theirs, parts)}
            case Tied():
                ties.append(rule)
            case Kept():
                _take(remaining, rule.ours)
    for tie in ties:
        theirs[tie.theirs] = theirs[tie.to]
    if remaining:
        raise ValueError(f"no rule says where {_names(remaining)} of this model belongs")
    return theirs


def same(ours: str, theirs: str) -> list[Rule]:
    """Return the rules for the weight and the bias of a linear layer or of a norm."""
    return [Same(f"{ours}.{kind}", f"{theirs}.{kind}") for kind in ("weight", "bias")]


def stacked(ours: str, theirs: Iterable[str]) -> list[Rule]:
    """Return the rules for weights and biases that are below one another in one of ours."""
    theirs = tuple(theirs)
    return [
        Stacked(f"{ours}.{kind}", tuple(f"{name}.{kind}" for name in theirs))
        for kind in ("weight", "bias")
    ]


def renamed(theirs: Mapping[str, Tensor], names: Mapping[str, str]) -> dict[str, Tensor]:
    """Return `theirs` with every pattern (`re`) of `names` in a name replaced by what it maps to.

    Files on the hub keep old names; a model in memory has had newer ones since transformers 5.
    """
    state = {}
    for name, tensor in theirs.items():
        for old, new in names.items():
            name = re.sub(old, new, name)
        state[name] = tensor
    return state


def load_strictly(model: torch.nn.Module, state: Mapping[str, Tensor]) -> None:
    """Copy `state` into `model`, which takes over its dtype.

    A missing name, a left-over name or a wrong shape is an error.
    """
    expected = model.state_dict()
    missing, extra = expected.keys() - state.keys(), state.keys() - expected.keys()
    if missing:
        raise ValueError(f"the weights lack {_names(missing)}, which {type(model).__name__} needs")
    if extra:
        raise ValueError(
            f"the weights hold {_names(extra)}, which {type(model).__name__} has no place for"
        )
    for name, tensor in state.items():
        if tensor.shape != expected[name].shape:
            raise ValueError(
                f"{name} has shape {tuple(tensor.shape)}, "
                f"but this configuration expects {tuple(expected[name].shape)}"
            )
    for tensor in state.values():
        if tensor.is_floating_point():
            model.to(tensor.dtype)  # or float64 weights would be rounded without a word
            break
    model.load_state_dict(dict(state))


def check_usual(theirs: Mapping[str, Any], usual: Mapping[str, Any], said: str = "{name}") -> None:
    """Raise if a `config.json` has another value where our model knows the usual one only.

    `said` is what the sentence calls the entry `name`.
    """
    for name, value in usual.items():
        if theirs.get(name, value) != value:
            found = theirs[name]
            raise ValueError(f"{said.format(name=name)} must be {value!r}, found {found!r}")


def as_mapping(theirs: Any) -> Mapping[str, Any]:
    """Return the entries of a `config.json`, or of the object that transformers makes of one."""
    theirs = theirs.to_dict() if hasattr(theirs, "to_dict") else theirs
    if not isinstance(theirs, Mapping):
        raise TypeError(
            "the configuration must be what a config.json holds, or its object in transformers, "
            f"found {type(theirs).__name__}"
        )
    return theirs


def read_sizes(theirs: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return our name -> value of a `config.json`; `names` is our name -> theirs, all needed."""
    missing = [their for their in names.values() if theirs.get(their) is None]
    if missing:
        raise ValueError(f"the configuration lacks {', '.join(missing)}")
    return {our: theirs[their] for our, their in names.items()}


def read_safetensors(path: str | Path) -> dict[str, Tensor]:
    """Read the weights in a safetensors file."""
    from safetensors.torch import load_file

    return load_file(path)


def write_safetensors(path: str | Path, state: Mapping[str, Tensor]) -> None:
    """Write weights into a safetensors file; what is stored twice is written twice."""
    from safetensors.torch import save_file

    save_file({name: tensor.detach().clone().contiguous() for name, tensor in state.items()}, path)


def only_huggingface(layout: str) -> None:
    """Raise for a layout that only other families have."""
    if layout != "huggingface":
        raise ValueError(f"layout must be huggingface for this model, found {layout!r}")


def rows_of(theirs: Mapping[str, Tensor], name: str) -> int:
    """Return how many rows their tensor `name` has: of the last bias, the number of classes."""
    if name not in theirs:
        raise ValueError(f"the weights lack {name!r}, which this model needs")
    return len(theirs[name])


def _take(state: dict[str, Tensor], name: str) -> Tensor:
    if name not in state:
        raise ValueError(f"the weights lack {name!r}, which this model needs")
    return state.pop(name)


def _names(names: Iterable[Any]) -> str:
    """Name three at most."""
    names = sorted(names)
    rest = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(map(repr, names[:3])) + rest
