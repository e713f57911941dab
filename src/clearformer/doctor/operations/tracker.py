"""The mode under which a forward pass is followed, operation by operation, and, for an experiment, edited."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from clearformer.doctor.operations.following import Followed, follow
from clearformer.doctor.operations.operation import Operation, name_of
from clearformer.doctor.operations.places import Places


class Editor(Protocol):
    """What is put right in a forward pass: an operation, before it is done."""

    def edited(self, operation: Operation, known: Followed) -> Operation: ...


class Tracker(TorchFunctionMode):
    """Follows every operation and applies the editors of the trackers around it: the innermost does the work.

    PyTorch's fast path is off meanwhile, so a recorded run can differ from a real one: black-box probes run without it.
    """

    active: list[Tracker] = []  # noqa: RUF012 – those entered at present, outermost first

    def __init__(
        self, *editors: Editor, batch_first: bool = True, places: Places | None = None, numbered: bool = True
    ) -> None:
        super().__init__()
        self.editors = editors
        self.editing = True
        """Whether it edits at present: only the module under examination is mended, not what stands beside it."""
        self.edits = 0
        """Operations that an editor of this tracker has changed."""
        self.known = Followed(batch_first, places, numbered=numbered)

    def __enter__(self) -> Tracker:
        super().__enter__()
        Tracker.active.append(self)
        return self

    def __exit__(self, *exception: Any) -> None:
        Tracker.active.remove(self)
        super().__exit__(*exception)

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        operation = Operation(name_of(function), function, tuple(args), kwargs or {})
        if operation.name == "whole attention":
            self.known.whole_attention(operation)
            return self._opened(operation)
        if not any(True for _ in operation.operands()):
            return operation()
        with torch._C.DisableTorchFunction():
            for tracker in (each for each in Tracker.active if each.editing):
                for editor in tracker.editors:
                    asked, operation = operation, editor.edited(operation, self.known)
                    tracker.edits += operation is not asked
            output = operation()
            try:
                follow(self.known, operation, output)
            except (RuntimeError, ValueError, TypeError, IndexError):
                # Unusual shapes: what cannot be followed is lost, and the module's own pass goes on.
                self.known.lose(output)
        return output

    def _opened(self, operation: Operation) -> Any:
        """`multi_head_attention_forward` is one call to a mode; its inside is wanted."""
        whole: Any = functional
        asks = whole.has_torch_function
        whole.has_torch_function = lambda _: False
        try:
            with resumed(self):
                return operation()
        finally:
            whole.has_torch_function = asks


@contextmanager
def resumed(tracker: Tracker) -> Iterator[None]:
    """The mode back in force inside its own handler."""
    TorchFunctionMode.__enter__(tracker)
    try:
        yield
    finally:
        TorchFunctionMode.__exit__(tracker, None, None, None)
