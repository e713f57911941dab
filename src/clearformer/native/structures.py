"""`cpp/abi.h` in ctypes, struct by struct and field by field; `SIZES` is how a library of other sources is told."""

from __future__ import annotations

from ctypes import POINTER, Structure, c_char_p, c_float, c_int32, c_int64, c_void_p
from typing import Any

ABI = 3
FORMATS = ("float32", "bfloat16", "int8", "int4", "int8_fine")
SOURCES = ("F32", "BF16", "F16", "Q4_0", "Q4_1", "Q8_0")
BLOCKS = SOURCES[3:]
"""GGUF's blocks that are packed without passing through floats."""
NO_NORM, RMS, LAYER = 0, 1, 2
ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "quick_gelu", "silu", "tanh", "identity")
PLACEMENTS = ("pre", "post", "branch", "sandwich", "parallel", "parallel_shared")
SOFTMAX_BEFORE, SOFTMAX_AFTER, SIGMOID = 0, 1, 2


class Norm(Structure):
    _fields_ = (("kind", c_int32), ("eps", c_float), ("weight", c_void_p), ("bias", c_void_p))


class Linear(Structure):
    _fields_ = (("matrix", c_void_p), ("bias", c_void_p))


class FeedForward(Structure):
    _fields_ = (
        ("width", c_int32),
        ("gated", c_int32),
        ("activation", c_int32),
        ("unused", c_int32),
        ("up", Linear),
        ("down", Linear),
    )


class Mixture(Structure):
    _fields_ = (
        ("count", c_int32),
        ("active", c_int32),
        ("router_kind", c_int32),
        ("normalise", c_int32),
        ("groups", c_int32),
        ("groups_kept", c_int32),
        ("best_two", c_int32),
        ("scale", c_float),
        ("router", Linear),
        ("selection_bias", c_void_p),
        ("experts", POINTER(FeedForward)),
        ("shared", POINTER(FeedForward)),
        ("shared_gate", Linear),
    )


class Attention(Structure):
    _fields_ = (
        ("heads", c_int32),
        ("kv_heads", c_int32),
        ("key_width", c_int32),
        ("value_width", c_int32),
        ("window", c_int32),
        ("norm_over_projection", c_int32),
        ("rotary", c_int32),
        ("rotary_width", c_int32),
        ("rotary_interleaved", c_int32),
        ("bias", c_int32),
        ("scale", c_float),
        ("score_cap", c_float),
        ("query_norm", Norm),
        ("key_norm", Norm),
        ("joint", Linear),
        ("output", Linear),
    )


class Layer(Structure):
    _fields_ = (
        ("placement", c_int32),
        ("unused", c_int32),
        ("attention_norm", Norm),
        ("attention_output_norm", Norm),
        ("feedforward_norm", Norm),
        ("feedforward_output_norm", Norm),
        ("attention", Attention),
        ("feedforward", Mixture),
    )


class Program(Structure):
    _fields_ = (
        ("width", c_int32),
        ("vocabulary", c_int32),
        ("layer_count", c_int32),
        ("transform_activation", c_int32),
        ("half_cache", c_int32),
        ("rows", c_int32),
        ("embed_scale", c_float),
        ("hidden_scale", c_float),
        ("logit_cap", c_float),
        ("unused", c_int32),
        ("embed", c_void_p),
        ("segment", c_void_p),
        ("embed_norm", Norm),
        ("layers", POINTER(Layer)),
        ("final_norm", Norm),
        ("transform", Linear),
        ("transform_norm", Norm),
        ("head", Linear),
    )


class Tables(Structure):
    _fields_ = (("inputs", c_void_p), ("rotary", POINTER(c_void_p)), ("bias", POINTER(c_void_p)))


STRUCTURES = (Norm, Linear, FeedForward, Mixture, Attention, Layer, Program, Tables)

_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "cf_abi": (c_int32, []),
    "cf_sizes": (c_int32, [POINTER(c_int32), c_int32]),
    "cf_architecture": (c_char_p, []),
    "cf_paths": (c_char_p, []),
    "cf_failure": (c_char_p, []),
    "cf_matrix_new": (c_void_p, [c_int32, c_int64, c_int64]),
    "cf_matrix_free": (None, [c_void_p]),
    "cf_matrix_bytes": (c_int64, [c_void_p]),
    "cf_matrix_fill": (c_int32, [c_void_p, c_int32, c_void_p, c_int64, c_int64, c_int64, c_int64, c_int32]),
    "cf_matrix_row": (c_int32, [c_void_p, c_int64, c_void_p]),
    "cf_engine_new": (c_void_p, [POINTER(Program), c_int32, c_char_p]),
    "cf_engine_free": (None, [c_void_p]),
    "cf_engine_threads": (c_int32, [c_void_p]),
    "cf_sequence_new": (c_void_p, [c_void_p, c_int64, POINTER(Tables)]),
    "cf_sequence_free": (None, [c_void_p]),
    "cf_sequence_length": (c_int64, [c_void_p]),
    "cf_sequence_bytes": (c_int64, [c_void_p]),
    "cf_sequence_cut": (c_int32, [c_void_p, c_int64]),
    "cf_sequence_copy": (c_int32, [c_void_p, c_void_p]),
    "cf_run": (c_int32, [c_void_p, c_int32, c_void_p, c_void_p, c_int32, c_void_p, c_void_p]),
}


def declare(library: Any) -> None:
    """Give every function of a loaded library its types. Raises AttributeError for one that it lacks."""
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
