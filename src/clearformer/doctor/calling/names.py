"""What arguments of forward are called in practice, and what each such name means."""

from __future__ import annotations

import re
from typing import Literal

from clearformer.doctor.calling.call import Marking

Role = Literal[
    "ids", "vectors", "series", "source", "target", "labels", "positions", "documents", "cache", "switch", "offset",
    "padding", "target padding", "source padding", "memory padding",
    "mask", "source mask", "target mask", "memory mask", "count", "other",
]  # fmt: skip

_PATTERNS: tuple[tuple[Role, str], ...] = (
    ("positions", r"position_ids|positions?|pos|pos_ids|pos_index|input_pos"),
    ("documents", r"doc(ument)?s?|doc(ument)?_ids?|segment_ids?|seg_ids?|seq(uence)?_ids?|sample_ids?|pack_ids?"),
    (
        "cache",
        r"past_key_values?|past|pasts|layer_past|past_kvs?|k?v?_?caches?|kv|kvs|cache_params|past_states?"
        r"|incremental_state|mems?|presents?|layer_caches|past_caches?",
    ),
    ("switch", r"use_k?v?_?cache|return_k?v?_?cache|with_cache|return_past|return_kv|output_cache|use_past|cached"),
    ("offset", r"start_pos(ition)?|offset|pos(ition)?_offset|start|past_len(gth)?|cache_len(gth)?|pos_start|step"),
    ("memory padding", r"memory_(key_)?pad(ding)?_mask|cross_attention_mask|encoder_attention_mask"),
    ("source padding", r"(src|source|enc|encoder|input)_(key_)?(pad|padding|attention|valid)_?mask|source_real"),
    ("target padding", r"(tgt|trg|target|dec|decoder|output)_(key_)?(pad|padding|attention|valid)_?mask|target_real"),
    ("padding", r"attention_mask|(key_)?pad(ding)?_?mask|real|valid|valid_mask|pads|is_pad|input_mask|token_mask"),
    ("count", r"lengths?|lens|seq_lens?|input_lengths?|valid_lens?|seq_lengths?"),
    ("memory mask", r"memory_mask|cross_mask|cross_attn_mask|enc_dec_mask"),
    ("source mask", r"(src|source|enc|encoder)_mask"),
    ("target mask", r"(tgt|trg|target|dec|decoder|look_ahead|causal)_mask"),
    ("mask", r"mask|masks|attn_mask|attn_bias|attention_bias|causal"),
    ("vectors", r"inputs_embeds|embeds|embeddings|hidden_states|hidden|features|queries"),
    ("series", r"past_values|series|x_enc|time_series|history|window|past_target"),
    ("labels", r"labels?|lm_labels|targets"),
    (
        "source",
        r"src|source|src_(ids|tokens|seq)|source_(ids|tokens)|enc(oder)?_(x|ids|inputs?|input_ids|tokens|out|output"
        r"|outputs)|memory|encoder_hidden_states|source_sequence",
    ),
    (
        "target",
        r"tgt|trg|target|(tgt|trg|target)_(ids|tokens|seq|in|input)|dec(oder)?_(x|ids|inputs?|input_ids|tokens)"
        r"|prev_output_tokens|y|x_dec|target_sequence",
    ),
    ("ids", r"input_ids|ids|idx|tokens?|token_ids|inputs?|x|seq|sequence|input_seq|input_tokens|text|input_ids_tensor"),
)

FIXED: dict[str, object] = {"use_cache": False, "return_dict": True}
"""Switches whose meaning is the same wherever they appear, and the value that a plain forward pass wants."""

_CONVENTIONS: tuple[tuple[Marking, str], ...] = (
    ("keep", r"(.*_)?attention_mask|real|(.*_)?real|valid(_mask)?|(.*_)?valid_mask|token_mask|input_mask"),
    ("hide", r"(.*_)?key_padding_mask|is_pad|pads|(.*_)?pad(ding)?_mask"),
    ("add", r"attn_bias|attention_bias"),
    ("count", r"lengths?|lens|seq_lens?|input_lengths?|valid_lens?|seq_lengths?"),
)
_BINDING = re.compile(r"(.*_)?attention_mask|(.*_)?key_padding_mask|(.*_)?real")


def role_of(name: str) -> Role:
    """What an argument of this name takes; "other" where the name says nothing."""
    low = name.lower()
    return next((role for role, pattern in _PATTERNS if re.fullmatch(pattern, low)), "other")


def convention(name: str) -> Marking:
    """What a mask of this name usually marks: Hugging Face's attention_mask keeps, PyTorch's key_padding_mask hides."""
    low = name.lower()
    return next((marking for marking, pattern in _CONVENTIONS if re.fullmatch(pattern, low)), "keep")


def binding(name: str) -> bool:
    """Whether the name leaves no doubt, so that a module that acts otherwise is at fault."""
    return _BINDING.fullmatch(name.lower()) is not None
