"""`--call`: how the module is called, in the user's words. What it leaves open is found out as before.

ids=tokens mask=pad:hide cache=past:use_past output=1 layout=sequence always=train:false
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from clearformer.doctor.calling.call import Marking
from clearformer.doctor.calling.names import Role
from clearformer.doctor.calling.signature import Signature
from clearformer.doctor.calling.subject import Subject
from clearformer.doctor.calling.trying import with_call
from clearformer.errors import UsageError
from clearformer.messages import did_you_mean
from clearformer.messages import doctor_calling as say

_ROLES: dict[str, tuple[Role, ...]] = {
    "mask": ("padding", "target padding"),
    "source-mask": ("source padding", "source mask"),
    "memory-mask": ("memory padding", "memory mask"),
    "seeing": ("target mask", "mask"),
    "positions": ("positions",),
    "documents": ("documents",),
    "labels": ("labels",),
    "cache": ("cache",),
    "switch": ("switch",),
    "offset": ("offset",),
}
_INPUTS = ("ids", "vectors", "series")
KEYS = (*_INPUTS, "source", *_ROLES, "output", "layout", "always")
_FIELDS = {"mask": "padding", "source-mask": "source_padding", "memory-mask": "memory_padding", "seeing": "seeing"}
_MARKINGS: tuple[Marking, ...] = ("keep", "hide", "add", "count")
_LAYOUTS = ("batch", "sequence")

Given = Mapping[str, tuple[str, ...]]
"""Per key, what stands behind the equals sign, split at the colons."""


def settled(text: str | None) -> Given:
    """The words of `--call`. Raises UsageError for a key or a form that does not exist."""
    given: dict[str, tuple[str, ...]] = {}
    for word in (text or "").split():
        key, equals, value = word.partition("=")
        if key not in KEYS or not equals or not value:
            raise UsageError(say.UNKNOWN_KEY, found=word, known=", ".join(KEYS), near=did_you_mean(key, KEYS))
        parts = tuple(value.split(":"))
        if key in _FIELDS and len(parts) > 1 and parts[1] not in _MARKINGS:
            raise UsageError(say.UNKNOWN_FORM, key=key, found=parts[1], known=", ".join(_MARKINGS))
        if key == "layout" and value not in _LAYOUTS:
            raise UsageError(say.UNKNOWN_FORM, key=key, found=value, known=", ".join(_LAYOUTS))
        given[key] = parts
    return given


def overridden(signature: Signature, given: Given) -> Signature:
    """The signature as the user reads it."""
    roles = dict(signature.roles)
    main = next((given[key][0] for key in _INPUTS if key in given), signature.main)
    source = given["source"][0] if "source" in given else signature.source
    for key, meant in _ROLES.items():
        if key in given:
            for name in signature.named(*meant):
                roles[name] = "other"
            if given[key][0] != "none":
                roles[given[key][0]] = meant[0]
    if "cache" in given and len(given["cache"]) > 1:
        roles[given["cache"][1]] = "switch"
    fixed = signature.fixed
    if "always" in given:
        name, value = given["always"][0], ":".join(given["always"][1:]) or "True"
        fixed = (*fixed, (name, _value(value)))
        roles.pop(name, None)
    inputs = (main, source if source != "none" else None)
    roles = {name: role for name, role in roles.items() if name not in inputs}
    required = {name for name in (*signature.required, signature.main, signature.source) if name and name in roles}
    return replace(signature, main=main, source=inputs[1], roles=roles, required=frozenset(required), fixed=fixed)


def fits(subject: Subject, given: Given) -> bool:
    """Whether a candidate is one that the user's words allow."""
    takes = next((key for key in _INPUTS if key in given), None)
    if takes is not None:
        form = given[takes]
        if subject.call.takes != takes or (len(form) > 1 and form[1].isdigit() and subject.width != int(form[1])):
            return False
    return "layout" not in given or subject.call.batch_first == (given["layout"][0] == "batch")


def imposed(subject: Subject, given: Given) -> Subject:
    """The subject with the polarities and the place of the output that the user states."""
    for key, field in _FIELDS.items():
        mask = getattr(subject.call, field)
        if key in given and len(given[key]) > 1 and mask is not None:
            subject = with_call(subject, **{field: replace(mask, marking=given[key][1], by_trial=True)})
    if "output" in given:
        where = given["output"][0]
        subject = with_call(subject, output=int(where) if where.lstrip("-").isdigit() else where)
    return subject


def _value(text: str) -> object:
    """true, false, none, a number, else the word itself."""
    try:
        return ast.literal_eval(text.capitalize() if text.lower() in ("true", "false", "none") else text)
    except (ValueError, SyntaxError):
        return text
