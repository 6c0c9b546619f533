"""Windows of one long text: what a language model is trained on.

A text of N tokens holds a training example at each of its places: some tokens, and the same tokens
moved on by one. The book explains it in "GPT". Shapes: N tokens of the text, B batch, T length.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from coursekit._base.checks import check_int


def random_windows(
    tokens: Tensor | Any,
    *,
    length: int,
    size: int,
    generator: torch.Generator | None = None,
    device: torch.device | str | None = None,
) -> tuple[Tensor, Tensor]:
    """tokens (N,) -> what is read and what is to be written, both (B, T), drawn at random.

    `targets[b, t]` is the token behind `inputs[b, t]`. Each of the N - T places is as likely as the
    others. `tokens` may be a tensor, a list, or a NumPy array, also one that stays on the disk
    (`np.memmap`): only the windows are read.
    """
    check_int(length=length, size=size)
    shape = tuple(tokens.shape) if hasattr(tokens, "shape") else (len(tokens),)
    if len(shape) != 1:
        raise ValueError(f"tokens must be one text, with one axis, found {shape}")
    if shape[0] <= length:
        raise ValueError(
            f"windows of {length} tokens and the one behind need a text of {length + 1} or more, "
            f"found {shape[0]}"
        )
    home = generator.device if generator is not None else "cpu"
    starts = torch.randint(shape[0] - length, (size, 1), generator=generator, device=home)  # (B, 1)
    places = starts.cpu() + torch.arange(length + 1, device="cpu")  # (B, T + 1)
    if isinstance(tokens, Tensor):
        windows = tokens[places.to(tokens.device)]  # (B, T + 1)
    elif hasattr(tokens, "shape"):
        windows = tokens[places.numpy()]  # (B, T + 1)
        whole = windows.dtype.kind in "iu"  # of any width, also of those that torch has not
        windows = torch.from_numpy(windows.astype("int64") if whole else windows)
    else:
        windows = torch.tensor([[tokens[place] for place in row] for row in places.tolist()])
    if windows.is_floating_point() or windows.is_complex() or windows.dtype == torch.bool:
        raise TypeError(f"tokens must be ids, whole numbers, found {windows.dtype}")
    windows = windows.to(device=device, dtype=torch.int64)
    return windows[:, :-1], windows[:, 1:]
