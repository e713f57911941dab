"""`scaled_dot_product_attention`: query, key, mask and softmax in one call; its mask says what is visible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from clearformer.doctor.operations import origins
from clearformer.doctor.operations.attending import HIDES, added_to
from clearformer.doctor.operations.operation import Operation
from clearformer.doctor.operations.trail import Hiding, Scrambling, Site, Trail

if TYPE_CHECKING:
    from clearformer.doctor.operations.following import Followed


def fused(known: Followed, operation: Operation, output: Tensor) -> None:
    """`scaled_dot_product_attention`: the mask says by itself what is visible."""
    query, key = operation.argument(0, "query"), operation.argument(1, "key")
    mask, scale = operation.argument(3, "attn_mask"), operation.kwargs.get("scale")
    width, lengths = query.shape[-1], (query.shape[-2], key.shape[-2])
    site = Site("fused", known.place(), width, axis=-1, summing_to_one=True)
    site.explicit_scale = scale is not None
    site.dropout, site.is_causal = float(operation.argument(4, "dropout_p", 0.0)), bool(
        operation.argument(5, "is_causal", False)
    )  # fmt: skip
    site.query_length, site.key_length = lengths
    of_query, of_key = known.of(query), known.of(key)
    own = float(scale) if scale is not None else width**-0.5
    if of_query is not None and of_key is not None:
        site.normed = of_query.normed or of_key.normed
        unknown = of_query.scale is None or of_key.scale is None
        site.scale = None if unknown else own * (of_query.scale or 0.0) * (of_key.scale or 0.0)
        _origins_of(known, site, query, of_query, of_key, operation)
    else:
        site.scale = own
    site.visible = _seen(mask, site.is_causal, (*query.shape[:-2], *lengths), site)
    known.sites.append(site)
    origin = None
    if of_query is not None and of_query.origin is not None:
        origin = origins.widened(of_query.origin.select(-1, 0), output.shape)
    known.put(output, Trail("context", origin, site=site))


def _origins_of(known: Followed, site: Site, query: Tensor, one: Trail, other: Trail, operation: Operation) -> None:
    if one.origin is None or other.origin is None:
        return
    if not (origins.constant(one.origin) and origins.constant(other.origin)):
        known.scramblings.append(Scrambling("split", site.place, tuple(query.shape)))
        return
    keys = other.origin.select(-1, 0)
    if operation.kwargs.get("enable_gqa"):
        keys = keys.repeat_interleave(query.shape[-3] // keys.shape[-2], -2)
    shape = (*query.shape[:-2], site.query_length, site.key_length)
    site.queries = one.origin.select(-1, 0).unsqueeze(-1).expand(shape)
    site.keys = keys.unsqueeze(-2).expand(shape)


def _seen(mask: Any, is_causal: bool, shape: tuple[int, ...], site: Site) -> Tensor:
    seen = torch.ones(shape[-2:], dtype=torch.bool)
    if is_causal:
        seen = seen.tril()
    if isinstance(mask, Tensor):
        if mask.dtype == torch.bool:
            seen = seen & mask.cpu()
            site.hidings.append(Hiding("fused", float("-inf"), finite=False))
        else:
            seen = seen & (mask.detach().cpu() > HIDES)
            added_to(site, mask, 1.0)
    return seen.expand(shape)
