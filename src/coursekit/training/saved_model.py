"""A trained model that a training keeps: packed into one file, and built again from it.

The file has the weights in half precision, and the model's config in its header. The result of the
training, `results/NAME/PROFILE.json`, has the file's checksum and the config once more: the two
belong together, and what does not fit is refused.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import nn

from coursekit._base.errors import CourseError

LARGEST = 4_000_000  # bytes
LARGER = {"coursekit.models.seq2seq.Seq2SeqTransformer": 8_000_000}  # the translator
ABOUT = ("class", "config_class", "config", "options")  # what header and result both say
MODELS = "coursekit.models."  # only what is there is ever built


def pack(model: nn.Module) -> tuple[bytes, dict[str, Any]]:
    """Return the content of the file, and what the result says of it."""
    config = getattr(model, "config", None)
    places = [f"{type(part).__module__}.{type(part).__qualname__}" for part in (model, config)]
    of_ours = all(place.startswith(MODELS) for place in places)
    if not dataclasses.is_dataclass(config) or isinstance(config, type) or not of_ours:
        raise TypeError(f"a model of coursekit.models is kept, with its config; found {places[0]}")
    state = {name: tensor.detach().cpu() for name, tensor in model.state_dict().items()}
    state = {n: t.half() if t.is_floating_point() else t for n, t in state.items()}
    count = sum(tensor.numel() for tensor in state.values())
    size = sum(tensor.nbytes for tensor in state.values())
    largest = LARGER.get(places[0], LARGEST)
    if size > largest:
        raise ValueError(
            f"the model has {count:,} weights, {size / 1e6:.1f} MB in half precision; "
            f"at most {largest / 1e6:g} MB are kept"
        )
    for name, tensor in state.items():
        if not tensor.isfinite().all():
            raise ValueError(f"{name} has values that half precision does not hold")
    about = {"class": places[0], "config_class": places[1], "config": dataclasses.asdict(config)}
    if options := getattr(model, "options", None):  # what it was made with beside its config
        about["options"] = options
    if _built(about).state_dict().keys() != state.keys():
        raise TypeError(f"{places[0]} has other weights when it is built from its config again")
    text = json.dumps(about, sort_keys=True)
    tensors = {name: tensor.clone().contiguous() for name, tensor in state.items()}
    content = save(tensors, metadata={"about": text})
    return content, {**json.loads(text), "weights": count, "sha256": checksum(content)}


def checksum(content: bytes) -> str:
    """Return the checksum that a result has of its file."""
    return hashlib.sha256(content).hexdigest()


def unpack(file: Path, waiting: Path, about: Mapping[str, Any]) -> nn.Module:
    """Return the model of the result in `file`, whose part `model` is `about`, ready for use.

    Its weights are beside it, or, if a run was killed in the wrong moment, in `waiting`.
    """
    where = _where(file)
    content = content_of(file, waiting, about)
    try:
        weights = load(content)
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        saved = json.loads(header["__metadata__"]["about"])
    except (SafetensorError, KeyError, ValueError) as error:
        raise CourseError(f"{where} is not a file of trained weights: {error}") from error
    other = [name for name in ABOUT if saved.get(name) != about.get(name)]
    if other:
        name = other[-1]
        raise CourseError(
            f"{where} has the {name} {_differing(saved.get(name), about.get(name))}, and "
            f"{file.name} says {_differing(about.get(name), saved.get(name))}; "
            "the two are not of one training"
        )
    try:
        model = _built(about)
        full = {n: w.float() if w.is_floating_point() else w for n, w in weights.items()}
        model.load_state_dict(full)
    except (AttributeError, ImportError, RuntimeError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise CourseError(
            f"{where} does not fit {about['class']} as it is today ({reason}); "
            "the training has to be run again"
        ) from error
    return model.eval()


def content_of(file: Path, waiting: Path, about: Mapping[str, Any]) -> bytes:
    """Return the file of weights: of the two places where it may be, that which fits."""
    where = _where(file)
    wanted = str(about.get("sha256"))
    digest = ""
    for place in (file.with_suffix(".safetensors"), waiting):
        if place.is_file():
            content = place.read_bytes()
            if checksum(content) == wanted:
                return content
            digest = digest or checksum(content)
    if not digest:
        raise CourseError(f"{where} is missing; {file.name} beside it belongs to one")
    raise CourseError(
        f"{where} has the SHA-256 {digest[:16]}…, and {file.name} expects {wanted[:16]}…; "
        "the two are not of one training, or the file is torn"
    )


def _where(file: Path) -> str:
    return f"results/{file.parent.name}/{file.stem}.safetensors"


def _built(about: Mapping[str, Any]) -> nn.Module:
    """Build the model of a config; what is drawn at random for that is nobody's loss."""
    model, config = (_named(str(about[name])) for name in ("class", "config_class"))
    with torch.random.fork_rng(devices=[]):
        values = about["config"].items()
        made = config(**{n: tuple(v) if isinstance(v, list) else v for n, v in values})
        return model(made, **about.get("options", {}))


def _named(dotted: str) -> Any:
    if not dotted.startswith(MODELS):
        raise ValueError(f"{dotted} is not in coursekit.models")
    module, _, name = dotted.rpartition(".")
    return getattr(import_module(module), name)


def _differing(one: Any, other: Any) -> str:
    """Return what of a config differs from another one, or the whole of what is none."""
    if isinstance(one, dict) and isinstance(other, dict):
        return (
            ", ".join(f"{k}={v!r}" for k, v in one.items() if other.get(k, ...) != v) or "of less"
        )
    return str(one)
