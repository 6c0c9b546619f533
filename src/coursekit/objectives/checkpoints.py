"""The mean of the weights of one run, which is often better than the last of them.

Vaswani et al. (2017): "For the base models, we used a single model obtained by averaging the last 5
checkpoints, which were written at 10-minute intervals. For the big models, we averaged the last 20
checkpoints." Late in training the weights circle around a minimum, and the mean is further in.
`average_checkpoints` takes the mean of saved weights; `update_running_mean` keeps an exponential
moving average (EMA) while training, as ViT did (Polyak and Juditsky, 1992).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import torch
from torch import Tensor

from coursekit._base.checks import check_fraction

State = Mapping[str, Tensor]


def average_checkpoints(checkpoints: Iterable[State | str | Path]) -> dict[str, Tensor]:
    """Return the mean of state dicts, or of files that hold them (.safetensors, or torch's own).

    Each tensor keeps its dtype; 16-bit floats are averaged in 32 bits. Integers and booleans, such
    as a counter, have no meaningful mean and must be the same in all. One checkpoint at a time is
    in memory beside the mean, and none is changed.
    """
    if isinstance(checkpoints, (Mapping, str, Path)):
        raise TypeError("expected several checkpoints in a list, found a single one")
    mean: dict[str, Tensor] = {}
    dtypes: dict[str, torch.dtype] = {}
    for count, checkpoint in enumerate(checkpoints, start=1):
        state = _load(checkpoint) if isinstance(checkpoint, (str, Path)) else checkpoint
        if count == 1:
            dtypes = {name: tensor.dtype for name, tensor in state.items()}
            mean = {name: _widened(tensor) for name, tensor in state.items()}
            continue
        _check_same(state, mean, dtypes, count)
        for name, tensor in state.items():
            if tensor.is_floating_point():
                # mean += (x − mean) / count: the running mean, exact when all x are equal
                mean[name] += (tensor.to(mean[name]) - mean[name]) / count
    if not mean:
        raise ValueError("an average needs at least one checkpoint with tensors, found none")
    return {name: tensor.to(dtypes[name]) for name, tensor in mean.items()}


@torch.no_grad()
def update_running_mean(mean: dict[str, Tensor], state: State, *, decay: float = 0.9999) -> None:
    """Move the running mean towards the current weights, in place: call it after each step.

    mean ← decay · mean + (1 − decay) · weights. Start with a copy of the model's `state_dict()`;
    with the default the mean covers about the last 10,000 steps. Integers, such as a counter, are
    copied.
    """
    check_fraction(decay=decay)
    if odd := sorted(mean.keys() ^ state.keys()):
        raise ValueError(f"mean and weights must have the same names, but {odd[0]} is in one only")
    for name, tensor in state.items():
        if tensor.is_floating_point():
            mean[name].lerp_(tensor.to(mean[name]), 1 - decay)
        else:
            mean[name].copy_(tensor)


def _widened(tensor: Tensor) -> Tensor:
    """Return a copy to add to, in at least 32 bits if it is a float."""
    tensor = tensor.detach()
    if tensor.is_floating_point():
        return tensor.to(torch.promote_types(tensor.dtype, torch.float32), copy=True)
    return tensor.clone()


def _load(path: str | Path) -> dict[str, Tensor]:
    if Path(path).suffix == ".safetensors":
        from safetensors.torch import load_file

        return load_file(path)
    state = torch.load(path, map_location="cpu", weights_only=True)
    if not isinstance(state, Mapping) or not all(isinstance(v, Tensor) for v in state.values()):
        raise TypeError(
            f"{Path(path).name} must hold one state dict, names with tensors; "
            "load it and pass the part that does"
        )
    return dict(state)


def _check_same(state: State, mean: State, dtypes: dict[str, torch.dtype], count: int) -> None:
    """Raise unless checkpoint number `count` has the names, shapes and dtypes of the first."""
    if odd := sorted(mean.keys() ^ state.keys()):
        where = "only in the first" if odd[0] in mean else f"not in the first but in number {count}"
        raise ValueError(
            f"checkpoints must have the same names, but {odd[0]} is {where} ({len(odd)} differ)"
        )
    for name, tensor in state.items():
        if (tensor.dtype, tensor.shape) != (dtypes[name], mean[name].shape):
            raise ValueError(
                f"{name} must have one dtype and shape in all checkpoints, found {dtypes[name]} "
                f"{tuple(mean[name].shape)} and, in number {count}, {tensor.dtype} "
                f"{tuple(tensor.shape)}"
            )
        if not tensor.is_floating_point() and not torch.equal(tensor, mean[name].to(tensor.device)):
            raise ValueError(
                f"{name} holds {str(tensor.dtype).removeprefix('torch.')} values, which have no "
                f"mean, and differs between the first checkpoint and number {count}"
            )
