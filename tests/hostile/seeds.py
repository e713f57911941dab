"""Whole files of each kind, small, to be damaged: configs of every model type, GGUF of every architecture, weights of
every number type, tokenizers of every algorithm."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import torch
from gguf import GGMLQuantizationType as Kind
from safetensors.torch import save

from checkpoint.gguf_bytes import build, info, text, typed
from clearformer.checkpoint.safetensors_file import DTYPES
from clearformer.families import FAMILIES, GGUF_FORMS, family_of
from clearformer.families.own import OWN
from clearformer.spec.presets import PRESETS

_CONFIGS = Path(__file__).parent.parent / "families"
_WORDS = ["<unk>", "<s>", "</s>", "<pad>", "[UNK]", "[CLS]", "[SEP]"]


def configs() -> list[dict[str, Any]]:
    """The configs of tests/families that are read, and our own of each preset; of each registered type at least one."""
    found = [OWN.write(make()) for make in PRESETS.values()]
    for path in sorted(_CONFIGS.glob("test_*config*.py")) + sorted(_CONFIGS.glob("test_published_*.py")):
        for value in vars(importlib.import_module(f"families.{path.stem}")).values():
            found += [each for each in _dictionaries(value) if _is_read(each)]
    types = {config["model_type"] for config in found}
    assert types == {family.model_type for family in FAMILIES}, {f.model_type for f in FAMILIES} - types
    return found


def _dictionaries(value: object, depth: int = 3) -> list[dict[str, Any]]:
    if isinstance(value, dict) and isinstance(value.get("model_type"), str) and depth:
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [found for each in inner for found in _dictionaries(each, depth - 1)] if depth else []


def _is_read(config: dict[str, Any]) -> bool:
    try:
        json.dumps(config)
        family_of(config).read(config)
    except Exception:
        return False
    return True


def safetensors() -> list[bytes]:
    """One file of every number type and one of a few tensors."""
    each = {f"t{n}": torch.zeros(3, n + 1).to(dtype) for n, dtype in enumerate(DTYPES.values())}
    several = {"a.weight": torch.randn(5, 3), "b": torch.randn(4).half(), "c": torch.arange(6), "d": torch.empty(0, 2)}
    return [save(each, {"format": "pt"}), save(several), save({"x": torch.zeros(())}, {"format": "pt", "é": "\n"})]


def gguf_parts() -> list[tuple[dict[str, Any], list[list[Any]]]]:
    """Metadata, and tensors as [name, sizes, type], of every architecture and vocabulary, in small."""
    found = []
    for form in GGUF_FORMS:
        name = form.architecture
        kind = {"bert": "bert", "gpt2": "gpt2"}.get(name, "llama")
        found.append(({"general.architecture": name, **_sizes(name), **vocabulary(kind)}, _tensors()))
    plain = {"general.architecture": "llama", **_sizes("llama"), "tokenizer.chat_template": "{{ messages }}"}
    return [*found, (plain | vocabulary("gpt2"), _tensors())]


def gguf_bytes(metadata: dict[str, Any], tensors: list[list[Any]]) -> bytes:
    """The file; what has no GGUF type is left out, and sizes that make no data get none."""
    pairs = [text(_utf8(key)) + value for key, each in metadata.items() if (value := typed(each)) is not None]
    infos, data = [], b""
    for name, sizes, kind in tensors:
        infos.append(info(_utf8(str(name)), [size % (1 << 64) for size in sizes], kind % (1 << 32), len(data)))
        data += bytes(_bytes_of(sizes, kind)) + b"\0" * (-_bytes_of(sizes, kind) % 32)
    return build(pairs, infos, data)


def vocabulary(kind: str) -> dict[str, Any]:
    """Tokens, types, scores and merges for one of llama.cpp's tokenizers."""
    words = [*_WORDS, *(chr(code) for code in range(33, 127)), "Ġ", "▁", "th", "the", "Ġt", "<|end|>"]
    prefix = "tokenizer.ggml."
    found: dict[str, Any] = {
        f"{prefix}model": kind,
        f"{prefix}tokens": words,
        f"{prefix}token_type": [2, 3, 3, 3, 3, 3, 3, *[1] * (len(words) - 8), 3],
        f"{prefix}bos_token_id": 5 if kind == "bert" else 1,
        f"{prefix}eos_token_id": 6 if kind == "bert" else 2,
        f"{prefix}unknown_token_id": 4 if kind == "bert" else 0,
        f"{prefix}padding_token_id": 3,
    }
    if kind == "llama":
        found[f"{prefix}scores"] = [-float(n) for n in range(len(words))]
    if kind == "gpt2":
        found |= {f"{prefix}pre": "smollm", f"{prefix}merges": ["t h", "th e", "Ġ t"], f"{prefix}add_bos_token": False}
    return found


def tokenizers_json() -> list[dict[str, Any]]:
    """Byte-level BPE, SentencePiece's BPE, WordPiece and Unigram, each with the steps that published files have."""
    import tokenizers
    from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {word: n for n, word in enumerate([*_WORDS, *letters, "th", "the", "Ġt"])}
    made = [tokenizers.Tokenizer(models.BPE(vocab, [("t", "h"), ("th", "e"), ("Ġ", "t")]))]
    cut = pre_tokenizers.Split(tokenizers.Regex(r"\p{N}{1,3}|\s+|[^\s\p{N}]+"), "isolated")
    made[0].pre_tokenizer = pre_tokenizers.Sequence([cut, pre_tokenizers.ByteLevel(False, use_regex=False)])
    made[0].decoder = decoders.ByteLevel()
    pieces = {word: n for n, word in enumerate([*_WORDS, *(f"<0x{n:02X}>" for n in range(256)), "▁", "t", "h", "th"])}
    made.append(tokenizers.Tokenizer(models.BPE(pieces, [("t", "h")], unk_token="<unk>", byte_fallback=True)))
    made[1].normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    made[1].decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    words = {word: n for n, word in enumerate([*_WORDS, "t", "##h", "##e", "the", "cat"])}
    made.append(tokenizers.Tokenizer(models.WordPiece(words, unk_token="[UNK]")))
    made[2].normalizer = normalizers.BertNormalizer(lowercase=True)
    made[2].pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made[2].decoder = decoders.WordPiece()
    around = [("[CLS]", 5), ("[SEP]", 6)]
    made[2].post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", around)
    scored = [(word, -float(n)) for n, word in enumerate([*_WORDS, "▁", "t", "h", "e", "▁the", "▁cat"])]
    made.append(tokenizers.Tokenizer(models.Unigram(scored, 0, False)))
    made[3].normalizer = normalizers.NFKC()
    made[3].pre_tokenizer, made[3].decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    for each in made:
        each.add_special_tokens(["<s>", "</s>", "<pad>"])
    return [json.loads(each.to_str()) for each in made]


def _sizes(name: str) -> dict[str, Any]:
    return {
        f"{name}.vocab_size": 107,
        f"{name}.embedding_length": 48,
        f"{name}.feed_forward_length": 88,
        f"{name}.block_count": 2,
        f"{name}.attention.head_count": 6,
        **({} if name in ("gpt2", "bert") else {f"{name}.attention.head_count_kv": 2, f"{name}.rope.freq_base": 1e4}),
        f"{name}.context_length": 64,
        f"{name}.attention.layer_norm_{'epsilon' if name in ('gpt2', 'bert') else 'rms_epsilon'}": 1e-5,
    } | ({f"{name}.attention.causal": False} if name == "bert" else {})


def _tensors() -> list[list[Any]]:
    return [
        ["token_embd.weight", [48, 107], Kind.F16],
        ["token_types.weight", [48, 2], Kind.F32],
        ["blk.0.attn_q.weight", [64, 2], Kind.Q4_1],
        ["output_norm.weight", [48], Kind.BF16],
    ]


def _bytes_of(sizes: list[int], kind: int) -> int:
    from gguf.constants import GGML_QUANT_SIZES

    if kind not in Kind._value2member_map_ or Kind(kind) not in GGML_QUANT_SIZES:
        return 0
    block, size = GGML_QUANT_SIZES[Kind(kind)]
    numbers = 1
    for each in sizes:
        numbers *= each
    return numbers // block * size if 0 <= numbers < 1 << 20 else 0


def _utf8(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")
