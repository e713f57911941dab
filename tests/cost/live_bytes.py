"""How many bytes of tensors are alive while code runs, seen at every operation."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only


class LiveBytes(TorchDispatchMode):
    """Counts the storages of all tensors that operations return, until they are freed; `most` is the fullest moment."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.most = 0
        self._known: dict[int, weakref.ref[Any]] = {}

    def note(self, tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        key, size = storage._cdata, storage.nbytes()
        if key not in self._known:

            def gone(_: Any) -> None:
                self.now -= size
                del self._known[key]

            self._known[key] = weakref.ref(storage, gone)
            self.now += size
            self.most = max(self.most, self.now)
        return tensor

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return tree_map_only(torch.Tensor, self.note, func(*args, **(kwargs or {})))
