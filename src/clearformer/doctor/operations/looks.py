"""How an attention looks at the sequence it belongs to: into the past, ahead, at everything, into other rows."""

from __future__ import annotations

from typing import Literal

import torch

from clearformer.doctor.operations.recording import Recording, sight
from clearformer.doctor.operations.trail import Site

Look = Literal["causal", "everything", "inverted", "one ahead", "some ahead", "not itself", "across rows", "unknown"]


def look(site: Site) -> Look:
    """Judged over all heads and rows; queries that see every key although others do not have an empty mask."""
    seen, scored, across = sight(site)
    if float(across.sum()) > 0.5 * float(seen.sum()):
        return "across rows"
    length = len(seen)
    if length < 4 or seen.shape[0] != seen.shape[1] or not bool((scored > 0).all()):
        return "unknown"
    sees = seen > 0
    if bool(sees.all()):
        return "everything"
    telling = ~sees.all(-1)
    after = torch.ones(length, length, dtype=torch.bool).triu(1)
    ahead, behind = sees & after, sees & after.T
    own = sees.diagonal()[telling]
    if not bool(ahead[telling].any()):
        return "not itself" if not bool(own.any()) and bool(behind.any()) else "causal"
    if not bool(behind[telling].any()):
        return "inverted"
    distance = torch.arange(length)[None, :] - torch.arange(length)[:, None]
    if int(distance[ahead & telling[:, None]].max()) == 1:
        return "one ahead"
    return "some ahead"


def hides_the_source(recording: Recording, source_length: int) -> list[Site]:
    """Attentions from the input to a source of another length that hide part of it although no mask was given."""
    return [
        site
        for site in recording.sites
        if site.visible is not None and site.query_length == recording.length and site.key_length == source_length
        and source_length != recording.length and not bool(site.visible.all())
    ]  # fmt: skip


def looking_back_at_the_source(recording: Recording, source_length: int) -> list[Site]:
    """Attentions of the source with itself that see nothing ahead."""
    return [
        site
        for site in recording.sites
        if site.visible is not None and site.query_length == site.key_length == source_length
        and source_length != recording.length and look(site) == "causal"
    ]  # fmt: skip
