"""Reading on with a cache: which form it has, found by trial, and the reading itself, whatever the form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.cache.static import StaticCache
from clearformer.doctor.calling.call import CacheForm
from clearformer.doctor.calling.signature import Signature, innermost
from clearformer.doctor.calling.subject import Subject, evaluating
from clearformer.doctor.calling.trying import items, seeded, with_call
from clearformer.model import DecoderOnly

_MAKERS = (
    "make_cache", "init_cache", "new_cache", "create_cache", "empty_cache", "allocate_cache", "get_empty_cache",
    "init_kv_cache", "make_kv_cache", "initialize_cache", "build_cache", "setup_cache", "setup_caches",
)  # fmt: skip
_RESETS = ("reset_cache", "clear_cache", "reset_kv_cache", "clear_kv_cache", "reset_caches", "reset", "empty_caches")
_RETURNED = ("past_key_values", "cache", "kv_cache", "past", "presents", "present", "caches", "past_kv", "mems")
CAPACITY = 64


@dataclass
class Reading:
    """One sequence that is read piece by piece: each `read` continues what the cache holds."""

    subject: Subject
    rows: int
    capacity: int = CAPACITY
    length: int = 0
    """Positions that were read so far."""
    cache: Any = field(default=None, repr=False)
    before: list[Tensor] = field(default_factory=list, repr=False)
    """What was read, for a module that wants it again."""

    def __post_init__(self) -> None:
        form = self.form
        self.cache = _empty(self.subject.module, form, self.rows, self.capacity, self.subject.dtype)

    @property
    def form(self) -> CacheForm:
        assert self.subject.call.cache is not None
        return self.subject.call.cache

    def read(self, inputs: Tensor, **given: Any) -> Tensor:
        """The answers (B T V) for new inputs that follow what was read. `given` as for `Subject.answer`."""
        form, subject = self.form, self.subject
        more: dict[str, Any] = {}
        if form.argument is not None:
            more[form.argument] = self.cache
        if form.switch is not None:
            more[form.switch] = True
        if form.offset is not None:
            more[form.offset] = self.length
        self.before.append(inputs)
        handed = torch.cat(self.before, 1) if form.whole else inputs
        with torch.no_grad():
            output = subject.output(handed, **given, **more)
            answer = subject.located(output, inputs)
        if form.output is not None:
            self.cache = dict(items(output))[form.output]
        self.length += inputs.shape[1]
        return answer


def with_cache(subject: Subject, signature: Signature) -> Subject:
    """The subject with the first form of cache that takes a prompt and then one token more."""
    if subject.kind not in ("decoder", "encoder-decoder") or not subject.call.batch_first:
        return subject
    for form in _forms(subject, signature):
        for labels in {subject.call.labels, None}:
            found = with_call(subject, cache=form, labels=labels)
            if (output := _reads_on(found)) is not None:
                form = replace(form, output=output if output != IN_PLACE else None)
                whole = with_call(subject, cache=replace(form, whole=True))
                return whole if _cuts_off(whole) else with_call(subject, cache=form)
    return subject


def _cuts_off(subject: Subject) -> bool:
    """Whether a module that is handed the whole sequence again answers for the last token alone, and rightly."""
    inputs = subject.inputs(2, min(6, subject.length(6)), torch.Generator().manual_seed(1))
    try:
        with seeded(), evaluating(subject.module):
            wanted = subject.answer(inputs)
            reading = Reading(subject, 2)
            reading.read(inputs[:, :-1])
            answer = reading.read(inputs[:, -1:])
    except Exception:
        return False
    near = 1e-3 * float(wanted.abs().max()) if wanted.is_floating_point() else 0.0
    return answer.shape[1] == 1 < wanted.shape[1] and float((answer[:, -1] - wanted[:, -1]).abs().max()) < near


IN_PLACE = -1


def _reads_on(subject: Subject) -> str | int | None:
    """Where the cache comes back, IN_PLACE where it changes what it was handed, None where it does not work so."""
    form = subject.call.cache
    assert form is not None
    inputs = subject.inputs(2, min(6, subject.length(6)), torch.Generator().manual_seed(1))
    try:
        with seeded(), evaluating(subject.module):
            reading = Reading(subject, 2)
            more: dict[str, Any] = {name: True for name in (form.switch,) if name is not None}
            if form.argument is not None:
                more[form.argument] = reading.cache
            if form.offset is not None:
                more[form.offset] = 0
            with torch.no_grad():
                output = subject.output(inputs[:, :4], **more)
            place = _returned(output, subject)
            if place is None and not form.inside and form.start == "none":
                return None
            reading = Reading(_placed(subject, place), 2)
            reading.read(inputs[:, :4])
            if place is None and not form.inside and _untouched(reading.cache):
                return None
            answer = reading.read(inputs[:, 4:5])
    except Exception:
        return None
    if answer.shape[0] != 2 or answer.shape[1] != 1:
        return None
    return IN_PLACE if place is None else place


def _untouched(cache: object) -> bool:
    """Whether a list or dictionary that was handed in to be filled came back empty."""
    match cache:
        case list():
            return not cache or all(each is None or each == {} for each in cache)
        case dict():
            return not cache
        case _:
            return False


def _placed(subject: Subject, place: str | int | None) -> Subject:
    assert subject.call.cache is not None
    return with_call(subject, cache=replace(subject.call.cache, output=place))


def _returned(output: object, subject: Subject) -> str | int | None:
    """Where in the output a cache lies: by its name, or the last thing that is neither the answer nor a number."""
    found = [
        (where, value)
        for where, value in items(output)
        if where is not None and where != subject.call.output and value is not None
    ]
    for where, _ in found:
        if isinstance(where, str) and where in _RETURNED:
            return where
    return next(
        (where for where, value in reversed(found) if isinstance(where, int) and not _is_number(value)), None
    )  # fmt: skip


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) or (isinstance(value, Tensor) and value.ndim < 3)


def _forms(subject: Subject, signature: Signature) -> Iterator[CacheForm]:
    """Likeliest first: a cache that is returned, one that is made beforehand, one that the module keeps itself."""
    arguments, switches = signature.named("cache"), signature.named("switch")
    switch = next(iter(switches), None)
    module = innermost(subject.module)
    makers = [name for name in _MAKERS if callable(getattr(module, name, None))]
    resets = [name for name in _RESETS if callable(getattr(module, name, None))]
    offsets = [*signature.named("offset")]
    for offset in offsets if set(offsets) & signature.required else (*offsets, None):
        for argument in arguments:
            form = CacheForm(argument, None, switch, offset)
            if isinstance(module, DecoderOnly):
                yield replace(form, start="ours")
            for start in (*makers, "none", "lists", "dicts", "list", "dict"):
                yield replace(form, start=start)
        if resets and (switches or offsets):
            for reset in resets:
                yield CacheForm(None, None, switch, offset, inside=True, reset=reset)


def _empty(module: nn.Module, form: CacheForm, rows: int, capacity: int, dtype: torch.dtype) -> Any:
    """A cache that holds nothing."""
    inner = innermost(module)
    if form.reset is not None:
        getattr(inner, form.reset)()
        return None
    layers = max((len(each) for each in inner.modules() if isinstance(each, nn.ModuleList)), default=1)
    match form.start:
        case "none":
            return None
        case "list":
            return []
        case "dict":
            return {}
        case "lists":
            return [None] * layers
        case "dicts":
            return [{} for _ in range(layers)]
        case "ours":
            return _ours(inner, rows, capacity, dtype)
        case maker:
            return _made(getattr(inner, maker), rows, capacity)


def _made(maker: Any, rows: int, capacity: int) -> Any:
    """What a module's own method makes, given rows and capacity as far as it takes them."""
    for arguments in ((rows, capacity), (rows,), (capacity,), ()):
        try:
            return maker(*arguments)
        except TypeError:
            continue
    return maker()


def _ours(module: nn.Module, rows: int, capacity: int, dtype: torch.dtype) -> StaticCache:
    assert isinstance(module, DecoderOnly)
    return StaticCache(module.stack.spec, batch=rows, capacity=capacity, dtype=dtype)
