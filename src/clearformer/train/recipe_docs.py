"""What each field of a recipe means: the text that stands under it in its dataclass."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
from functools import cache


def field_docs(kind: type) -> dict[str, str]:
    """The text under each field of a dataclass, by field; fields without one are left out."""
    docs: dict[str, str] = {}
    for owner in reversed(kind.__mro__):
        if dataclasses.is_dataclass(owner):
            docs |= _own_docs(owner)
    return docs


@cache
def _own_docs(kind: type) -> dict[str, str]:
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(body, ast.ClassDef)
    docs = {}
    for field, text in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
            docs[field.target.id] = inspect.cleandoc(ast.literal_eval(text.value))
    return docs
