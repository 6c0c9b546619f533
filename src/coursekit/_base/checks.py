"""Checks of arguments: one sentence with what was found and what was expected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import torch
from torch import Tensor


def check_dtype(x: Tensor, linear: torch.nn.Module, name: str) -> None:
    """Raise unless `x` has the weights' dtype; under autocast torch mixes dtypes on purpose.

    What somebody has put into the place of a linear map (a quantized one) may have no such weight.
    """
    weight = getattr(linear, "weight", None)
    if isinstance(weight, Tensor):
        _check_same_dtype(x, weight, name)


def _check_same_dtype(x: Tensor, weight: Tensor, name: str) -> None:
    if x.dtype == weight.dtype:
        return
    device = x.device.type
    if not (torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device)):
        raise TypeError(f"{name} must have the weights' dtype {weight.dtype}, found {x.dtype}")


def check_mask(mask: Tensor, shape: Sequence[int]) -> None:
    """Raise unless `mask` is boolean and broadcasts to the scores' `shape` (..., T, S)."""
    if not isinstance(mask, Tensor):
        raise TypeError(f"the mask must be a boolean tensor, found {type(mask).__name__}")
    if mask.dtype != torch.bool:
        raise TypeError(
            f"the mask must be boolean (True = may attend), found {mask.dtype}; "
            "write `mask == 0` for a mask of 0 and -inf, `mask != 0` for one of 0 and 1"
        )
    _check_broadcast("mask", mask, shape)


def check_bias(bias: Tensor, shape: Sequence[int]) -> None:
    """Raise unless `bias` is floating point and broadcasts to the scores' `shape` (..., T, S)."""
    check_tensor(bias, "bias")
    if not bias.is_floating_point():
        raise TypeError(
            f"the bias is added to the scores and must be floating point, found {bias.dtype}; "
            "a boolean mask goes into `mask`"
        )
    _check_broadcast("bias", bias, shape)


def _check_broadcast(name: str, tensor: Tensor, shape: Sequence[int]) -> None:
    last = shape[len(shape) - tensor.ndim :]  # as many axes as the tensor has
    if tensor.ndim > len(shape) or any(m != 1 and m != n for m, n in zip(tensor.shape, last)):
        raise ValueError(
            f"the {name} {tuple(tensor.shape)} does not broadcast to the scores {tuple(shape)}: "
            "each of its axes must be 1 or equal, counted from the right (..., queries, keys)"
        )


def _broadcast(one: Sequence[int], other: Sequence[int]) -> bool:
    count = min(len(one), len(other))  # of the axes that both have
    pairs = zip(one[len(one) - count :], other[len(other) - count :])
    return all(a == b or 1 in (a, b) for a, b in pairs)


def check_widths(
    q: Tensor, k: Tensor, query_width: int | None = None, key_width: int | None = None
) -> tuple[int, ...]:
    """Return the scores' shape (..., T, S), or raise where q (..., T, Dq), k (..., S, Dk) misfit.

    The widths must be equal, or those given.
    """
    check_tensor(q, "the queries")
    check_tensor(k, "the keys")
    if q.ndim < 2 or k.ndim < 2:
        raise ValueError(
            f"queries and keys need at least two axes (length, width), {_shapes(q, k)}"
        )
    if query_width is None and q.shape[-1] != k.shape[-1]:
        raise ValueError(f"queries and keys must have the same width (last axis), {_shapes(q, k)}")
    if query_width is not None and (q.shape[-1], k.shape[-1]) != (query_width, key_width):
        raise ValueError(
            f"queries must be {query_width} wide and keys {key_width} wide (last axis), "
            f"{_shapes(q, k)}"
        )
    if q.dtype != k.dtype:
        raise TypeError(f"queries and keys must share one dtype, found {q.dtype} and {k.dtype}")
    if not q.is_floating_point():
        raise TypeError(f"queries and keys must be floating point, found {q.dtype}")
    leading = q.shape[:-2]
    if leading != k.shape[:-2]:
        if not _broadcast(leading, k.shape[:-2]):
            raise ValueError(f"the leading axes (batch, heads) do not broadcast, {_shapes(q, k)}")
        leading = torch.broadcast_shapes(leading, k.shape[:-2])
    return (*leading, q.shape[-2], k.shape[-2])


def _shapes(q: Tensor, k: Tensor) -> str:
    """Name the shapes for an error; a string that is not needed would cost each decoding step."""
    return f"found queries {tuple(q.shape)} and keys {tuple(k.shape)}"


def check_values(k: Tensor, v: Tensor, scores: Sequence[int]) -> None:
    """Raise unless keys (..., S, Dk) and values (..., S, Dv) agree in length S and dtype.

    The values' other axes (batch, heads) must broadcast with those of the scores (..., T, S).
    """
    check_tensor(v, "the values")
    if k.ndim < 2 or v.ndim < 2:
        raise ValueError(
            "keys and values need at least two axes (length, width), "
            f"found {tuple(k.shape)} and {tuple(v.shape)}"
        )
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(
            f"there must be one value for each key, found {k.shape[-2]} keys {tuple(k.shape)} "
            f"and {v.shape[-2]} values {tuple(v.shape)}"
        )
    if k.dtype != v.dtype:
        raise TypeError(f"keys and values must share one dtype, found {k.dtype} and {v.dtype}")
    if v.shape[:-2] != scores[:-2] and not _broadcast(v.shape[:-2], scores[:-2]):
        raise ValueError(
            f"the leading axes (batch, heads) of the values {tuple(v.shape)} do not broadcast "
            f"with those of the scores {tuple(scores)}"
        )


def readable(tensor: Tensor) -> bool:
    """Return whether Python may look at the numbers in `tensor` now.

    On the meta device there are none, within `torch.func.vmap` those of one example are not to be
    had, and while torch records what is computed (`torch.compile`, `torch.export`,
    `torch.jit.trace`) what was decided by the numbers of one example would be decided for all.
    """
    if torch.compiler.is_compiling() or torch.jit.is_tracing():
        return False
    return not (tensor.is_meta or torch._C._functorch.is_functorch_wrapped_tensor(tensor))


def check_tensor(tensor: Tensor, name: str) -> None:
    """Raise unless `tensor` is one: a list has no shape and no device."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} must be a tensor, found {type(tensor).__name__}")


def check_shape(
    tensor: Tensor, name: str, axes: str | Sequence[object], dtype: torch.dtype | None = None
) -> None:
    """Raise unless `tensor` has the `axes`, and is boolean where that is the `dtype`.

    "batch, 4, length" are three axes of which the second has length 4; so are ("batch", 4, "T").
    """
    check_tensor(tensor, name)
    axes = axes if isinstance(axes, str) else ", ".join(map(str, axes))
    sizes = [int(axis) if axis.isdigit() else None for axis in axes.split(", ") if axis]
    fits = len(sizes) == tensor.ndim and all(
        size in (None, found) for size, found in zip(sizes, tensor.shape)
    )
    if not fits or dtype not in (None, tensor.dtype):
        kind = "have" if dtype is None else "be boolean with"
        found = f"{'' if dtype is None else f'{tensor.dtype} '}{tuple(tensor.shape)}"
        axes += "," if len(sizes) == 1 else ""  # as Python writes it
        raise ValueError(f"{name} must {kind} shape ({axes}), found {found}")


def check_numbers(tensor: Tensor, name: str, *, finite: bool = False) -> None:
    """Raise if there is a NaN in `tensor`, or an infinity where all must be `finite`.

    The largest of NaN has an index too, no comparison with it is true, and what is counted
    or chosen by either looks like any other answer.
    """
    check_tensor(tensor, name)
    wrong = ~tensor.isfinite() if finite else tensor.isnan()
    if readable(wrong) and wrong.any():
        raise ValueError(f"{name} must be numbers, found {tensor[wrong][0].item():g}")


def check_tokens(tokens: Tensor, vocabulary: int, name: str = "tokens") -> None:
    """Raise unless `tokens` (B, T) holds integer ids of the vocabulary, at least one."""
    check_tensor(tokens, name)
    if tokens.ndim != 2 or 0 in tokens.shape:
        raise ValueError(
            f"{name} must have shape (batch, length), both at least 1, found {tuple(tokens.shape)}"
        )
    if tokens.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"{name} must hold token ids (int64 or int32), found {tokens.dtype}")
    if not readable(tokens):
        return
    lowest, highest = (extreme.item() for extreme in tokens.aminmax())
    for extreme in (lowest, highest):
        if not 0 <= extreme < vocabulary:
            raise ValueError(
                f"{name} has token id {extreme}, expected ids from 0 to {vocabulary - 1}"
            )


def check_under(model: object, kind: type, name: str = "a head") -> None:
    """Raise unless a head is given a model of this `kind`, and not its config."""
    if not isinstance(model, kind):
        expected, found = kind.__name__, type(model).__name__
        made = f"; make one of it: {expected}(config)" if found == f"{expected}Config" else ""
        raise TypeError(f"{name} needs a {expected}, found {found}{made}")


def check_ids(vocabulary: int, **ids: int) -> None:
    """Raise unless every token id given by name is one of the vocabulary."""
    check_int(least=-torch.inf, **ids)
    for name, number in ids.items():
        if not 0 <= number < vocabulary:
            raise ValueError(
                f"{name} must be an id of the vocabulary, 0 to {vocabulary - 1}, found {number}"
            )


def check_labels(
    labels: Tensor, classes: int, name: str = "targets", ignored: int | None = None
) -> None:
    """Raise unless `labels` (...) are int64 and each is one of the `classes`, or `ignored`."""
    check_tensor(labels, name)
    if labels.dtype != torch.int64:
        raise TypeError(f"{name} must be token ids (int64), found {labels.dtype}")
    if not labels.numel() or not readable(labels):
        return
    real = labels if ignored is None else labels.masked_fill(labels == ignored, 0)
    for extreme in (each.item() for each in real.aminmax()):
        if not 0 <= extreme < classes:
            raise ValueError(f"{name} must be ids from 0 to {classes - 1}, found {extreme}")


def check_keep(keep: Tensor, tokens: Tensor, name: str = "keep") -> None:
    """Raise unless `keep` is boolean (True = a real token) and has the shape (B, T) of `tokens`."""
    check_tensor(keep, name)
    if keep.dtype != torch.bool:
        raise TypeError(f"{name} must be boolean (True = a real token), found {keep.dtype}")
    if keep.shape != tokens.shape:
        raise ValueError(
            f"{name} must have the shape of its tokens {tuple(tokens.shape)}, "
            f"found {tuple(keep.shape)}"
        )


def check_images(
    images: Tensor, channels: int, name: str = "images", *, weight: Tensor | None = None
) -> None:
    """Raise unless `images` (B, C, H, W) is floating point with `channels` and not empty.

    They must have the dtype of the `weight` that they meet first.
    """
    check_tensor(images, name)
    if images.ndim != 4 or images.shape[1] != channels or 0 in images.shape:
        raise ValueError(
            f"{name} must have shape (batch, {channels}, height, width), none of them 0, "
            f"found {tuple(images.shape)}"
        )
    if not images.is_floating_point():
        raise TypeError(f"{name} must be floating point, found {images.dtype}")
    if weight is not None:
        _check_same_dtype(images, weight, name)


def check_positive(**numbers: float) -> None:
    """Raise unless every number given by name is above zero."""
    check_number(**numbers)
    for name, number in numbers.items():
        if not number > 0:
            raise ValueError(f"{name} must be above 0, found {number}")


def check_at_least(least: float = 0, **numbers: float) -> None:
    """Raise unless every number given by name is `least` or more; NaN is not."""
    check_number(**numbers)
    for name, number in numbers.items():
        if not number >= least:
            raise ValueError(f"{name} must be at least {least}, found {number}")


def check_fraction(**numbers: float) -> None:
    """Raise unless every number given by name is a share: from 0 to 1, both included."""
    check_number(**numbers)
    for name, number in numbers.items():
        if not 0 <= number <= 1:
            raise ValueError(f"{name} must be between 0 and 1, found {number}")


def check_int(least: float = 1, **numbers: int) -> None:
    """Raise unless every number given by name is whole, as an int is, and `least` or more.

    12.0 is refused too: what is counted should be counted in ints, and True is not a number.
    """
    for name, number in numbers.items():
        # torch.export traces lengths as `SymInt` and torch.jit.trace as tensors, no Python ints.
        whole = isinstance(number, (Integral, torch.SymInt)) and not isinstance(number, bool)
        whole = whole or (torch.jit.is_tracing() and isinstance(number, Tensor))
        if not whole:
            raise TypeError(f"{name} must be a whole number, found {number!r}")
        if not number >= least:
            wanted = "above 0" if least == 1 else f"at least {least}"
            raise ValueError(f"{name} must be {wanted}, found {number}")


def check_between(low: int, high: int, **numbers: int) -> None:
    """Raise unless every number given by name is whole and from `low` to `high`, both included."""
    check_int(-torch.inf, **numbers)
    for name, number in numbers.items():
        if not low <= number <= high:
            raise ValueError(f"{name} must lie between {low} and {high}, found {number}")


def check_number(**numbers: float) -> None:
    """Raise unless every number given by name is one, of Python's, NumPy's or torch's."""
    kinds = (Real, Tensor, torch.SymInt, torch.SymFloat)  # a learned number is a tensor
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, kinds):
            raise TypeError(f"{name} must be a number, found {number!r}")
        if isinstance(number, Tensor) and number.numel() != 1:
            raise ValueError(f"{name} must be one number, found a tensor {tuple(number.shape)}")


def check_stages(**numbers: Sequence[int]) -> None:
    """Raise unless everything given by name has whole numbers above 0, one for each stage."""
    for name, stages in numbers.items():
        if not isinstance(stages, Sequence):
            raise TypeError(f"{name} must have one number for each stage, found {stages!r}")
        check_int(**{f"{name}[{stage}]": number for stage, number in enumerate(stages)})


def check_choice(choices: Iterable[str], **named: str) -> None:
    """Raise unless everything given by name is one of the `choices`."""
    choices = tuple(choices)
    for name, value in named.items():
        if value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}, found {value!r}")


def check_config(
    config: Any, *, zero: Sequence[str] = (), positive: Sequence[str] = (), ids: Sequence[str] = ()
) -> None:
    """Raise unless every field of a dataclass holds what its type says, or None where that may be.

    An int is whole and above 0, those in `zero` may be 0, those in `ids` are token ids of the
    vocabulary. A float is 0 or more, those in `positive` above, and a dropout at most 1. A tuple
    has one whole number for each stage, a Literal is one of its values.
    """
    for name, kind in get_type_hints(type(config)).items():
        value = getattr(config, name)
        kinds = [part for part in get_args(kind) if part is not NoneType]
        if value is None and len(kinds) < len(get_args(kind)):
            continue
        kind = kinds[0] if isinstance(kind, UnionType) and len(kinds) == 1 else kind
        if name in ids:
            check_ids(config.vocabulary, **{name: value})
        elif kind is int:
            check_int(0 if name in zero else 1, **{name: value})
        elif kind is float and ("dropout" in name or name == "drop_path"):
            check_fraction(**{name: value})
        elif kind is float:
            (check_positive if name in positive else check_at_least)(**{name: value})
        elif get_origin(kind) is Literal:
            check_choice(get_args(kind), **{name: value})
        elif get_origin(kind) is tuple:
            check_stages(**{name: value})


def check_width(x: Tensor, width: int, what: str) -> None:
    """Raise unless `x` (B, T, width) has three axes and the last is `width`."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{what} must be a tensor, found {type(x).__name__}")
    if x.ndim != 3 or x.shape[-1] != width:
        raise ValueError(f"{what} must have shape (batch, length, {width}), found {tuple(x.shape)}")


def check_sequences(width: int, linear: torch.nn.Module, **sequences: Tensor | None) -> None:
    """Raise unless all that are given are (B, T, width), of one batch, in the dtype of `linear`."""
    first = None
    for name, x in sequences.items():
        if x is None:
            continue
        check_width(x, width, name)
        check_dtype(x, linear, name)
        first = x if first is None else first
        if x.shape[0] != first.shape[0]:
            raise ValueError(
                f"query and {name} must have one batch size, "
                f"found {tuple(first.shape)} and {tuple(x.shape)}"
            )


def check_head_axis(mask: Tensor | None) -> None:
    """Raise if a mask for heads has three axes: the first could be either."""
    if isinstance(mask, Tensor) and mask.ndim == 3:
        raise ValueError(
            f"a mask with three axes {tuple(mask.shape)} is ambiguous (batch or heads first?): "
            "write mask[:, None] for (batch, 1, queries, keys)"
        )


def check_head_mask(head_mask: Tensor, batch: int, heads: int) -> None:
    """Raise unless `head_mask` has one number for each head, or for each head of each sequence."""
    check_tensor(head_mask, "head_mask")
    if tuple(head_mask.shape) not in ((heads,), (batch, heads), (1, heads)):
        raise ValueError(
            f"head_mask must have shape ({heads},) or (batch, {heads}), "
            f"found {tuple(head_mask.shape)}"
        )
