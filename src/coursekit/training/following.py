"""After a training the model is on the GPU and the data are not: tensors that meet there follow it.

`train` moves each batch to the model's device. What a notebook does between and afterwards (a
validation set, a prompt, labels to compare with) begins on the CPU. `Following` moves such a tensor
when an operation joins it with one of the GPU, so that the same cell runs on a laptop and on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode, _get_current_function_mode
from torch.utils._pytree import tree_flatten, tree_map

# What may have two devices: it moves numbers, or a parameter, from one to the other; and packing
# wants its lengths on the CPU.
ACROSS = ("__set__", "copy_", "_has_compatible_shallow_copy_type", "_pack_padded_sequence")


class Following(TorchFunctionMode):
    """Move tensors of the CPU to the device of those that they are combined with.

    What is changed in place stays where it is, and the others come to it. It costs some
    microseconds for each operation, so `train` pauses it during its steps.
    """

    def __init__(self) -> None:
        super().__init__()
        self.paused = False
        self.away = False  # from torch's stack of modes, where it was on top

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[object, ...] = (),
        kwargs: Any = None,
    ) -> Any:
        kwargs = kwargs or {}
        if self.paused:
            return func(*args, **kwargs)
        tensors = [x for x in tree_flatten((args, kwargs))[0] if isinstance(x, Tensor)]
        devices = {tensor.device for tensor in tensors}
        name = getattr(func, "__name__", "")
        if len(devices) == 2 and torch.device("cpu") in devices and name not in ACROSS:
            (device,) = devices - {torch.device("cpu")}
            if name == "__setitem__" or (name.endswith("_") and not name.startswith("_")):
                device = tensors[0].device
            args, kwargs = tree_map(
                lambda x: x.to(device) if isinstance(x, Tensor) else x, (args, kwargs)
            )
        return func(*args, **kwargs)

    @contextmanager
    def pause(self, paused: bool = True) -> Iterator[None]:
        """Switch it off, or on again, inside this block.

        A mode that only hands on makes the step of a small model half as long again. So it leaves
        the stack of modes, unless somebody has put another one on top.
        """
        before = self.paused, self.away
        self.paused = paused
        if paused and _get_current_function_mode() is self:
            self._stand_aside(True)
        elif self.away and not paused:
            self._stand_aside(False)
        try:
            yield
        finally:
            self.paused, away = before
            if away != self.away:
                self._stand_aside(away)

    def _stand_aside(self, away: bool) -> None:
        self.away = away
        if away:
            self.__exit__(None, None, None)
        else:
            self.__enter__()


_entered: list[Following] = []  # one for the whole process, once something trained on a GPU


def follow(device: torch.device) -> Following:
    """Return the process's `Following`, in force from now on unless `device` is the CPU."""
    if not isinstance(device, torch.device):
        raise TypeError(f"follow() needs a torch.device, found {type(device).__name__}")
    if device.type == "cpu":
        return Following()
    if not _entered:
        _entered.append(Following())
        _entered[0].__enter__()
    return _entered[0]
