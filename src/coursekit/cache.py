"""What a model keeps while it writes: keys and values of what it has read, computed only once.

One cache belongs to one attention, a `StackCache` to all blocks of a stack. The book explains it in
"Many heads". Shapes: B batch, Hkv heads of keys and values, S positions so far, T new ones,
Dh head width, Dv width of the values.
"""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit._base.checks import check_int


class KeyValueCache:
    """The keys and values of the positions seen so far: decoding computes each only once.

    Room for `capacity` positions is reserved at the first call and doubled when it is full, so that
    a new position is written after the others, which are not copied.
    """

    def __init__(self, capacity: int = 0) -> None:
        check_int(0, capacity=capacity)
        self.capacity, self.length = capacity, 0
        self._keys: Tensor | None = None  # (B, Hkv, capacity, Dh), of which `length` are in use
        self._values: Tensor | None = None  # (B, Hkv, capacity, Dv)

    @property
    def keys(self) -> Tensor | None:
        """(B, Hkv, S, Dh), or None as long as nothing is stored."""
        return None if self._keys is None else self._keys[:, :, : self.length]

    @property
    def values(self) -> Tensor | None:
        """(B, Hkv, S, Dv), or None as long as nothing is stored."""
        return None if self._values is None else self._values[:, :, : self.length]

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add new positions (B, Hkv, T, Dh) at the end and return all of them."""
        if self._keys is not None and keys.shape[:2] != self._keys.shape[:2]:
            raise ValueError(
                f"the cache holds (batch, heads) = {tuple(self._keys.shape[:2])}, "
                f"found new keys for {tuple(keys.shape[:2])}"
            )
        end = self.length + keys.shape[-2]
        if keys.requires_grad or values.requires_grad:  # writing in place would break the gradients
            if self._keys is not None and self._values is not None:
                past = slice(0, self.length)
                keys = torch.cat([self._keys[:, :, past], keys], dim=-2)  # (B, Hkv, S + T, Dh)
                values = torch.cat([self._values[:, :, past], values], dim=-2)
            self._keys, self._values = keys, values
        else:
            if self._keys is None or self._values is None or end > self._keys.shape[-2]:
                self.capacity = max(end, self.capacity if self._keys is None else 2 * end)
                self._keys = self._with_room(self._keys, keys)
                self._values = self._with_room(self._values, values)
            self._keys[:, :, self.length : end] = keys
            self._values[:, :, self.length : end] = values
        self.length = end
        return self._keys[:, :, :end], self._values[:, :, :end]

    def stored(self) -> tuple[Tensor, Tensor]:
        """Return the keys and values so far; raise where there are none."""
        if self._keys is None or self._values is None:
            raise ValueError("nothing is stored yet")
        return self._keys[:, :, : self.length], self._values[:, :, : self.length]

    def reorder(self, index: Tensor) -> None:
        """Keep the batch rows in `index` (B',), as beam search does when beams die or double."""
        if self._keys is None or self._values is None:
            return
        if len(index) != len(self._keys) or self._keys.requires_grad:
            self._keys, self._values = self._keys[index], self._values[index]
            return
        moved = (index != torch.arange(len(index), device=index.device)).nonzero()[:, 0]  # (N,)
        for stored in self.stored():  # rows that stay where they are cost nothing
            stored[moved] = stored[index[moved]]  # (N, Hkv, S, Dh)

    def _with_room(self, old: Tensor | None, like: Tensor) -> Tensor:
        """Return a tensor like `like` for `capacity` positions that begins with those of `old`."""
        with torch.inference_mode(False):  # so that `reorder` may write into it in any mode
            room = like.new_empty(*like.shape[:2], self.capacity, like.shape[-1])
        if old is not None:
            room[:, :, : self.length] = old[:, :, : self.length]
        return room


class StackCache:
    """A cache for each block's self-attention (`own`) and for its cross-attention (`memory`)."""

    def __init__(self, depth: int, capacity: int = 0) -> None:
        check_int(depth=depth)
        self.own = [KeyValueCache(capacity) for _ in range(depth)]
        self.memory = [KeyValueCache() for _ in range(depth)]

    @property
    def length(self) -> int:
        """How many positions are stored."""
        return self.own[0].length

    def reorder(self, index: Tensor) -> None:
        """Keep the batch rows in `index` (B',)."""
        for cache in (*self.own, *self.memory):
            cache.reorder(index)
