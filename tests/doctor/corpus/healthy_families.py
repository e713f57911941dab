"""Tiny random models of published families: Hugging Face's, x-transformers', and ours."""

from __future__ import annotations

from functools import partial
from typing import Any

from doctor.corpus.case import Parts, enter
from doctor.corpus.packages import needed

TOKENS = {"vocab_size": 60, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
LLAMA_LIKE = {
    "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 128, **TOKENS,
}  # fmt: skip
WIDE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}

DECODERS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "GPT-2": ("GPT2", {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 128, **TOKENS}, {}),
    "Llama": ("Llama", LLAMA_LIKE, {}),
    "Qwen2": ("Qwen2", LLAMA_LIKE, {}),
    "Qwen3": ("Qwen3", LLAMA_LIKE | {"head_dim": 8}, {}),
    "Mistral": ("Mistral", LLAMA_LIKE | {"sliding_window": 4}, {"window": 4}),
    "Gemma2": (
        "Gemma2",
        LLAMA_LIKE | {"head_dim": 8, "sliding_window": 4, "query_pre_attn_scalar": 16},
        {},
    ),
    "Mixtral": ("Mixtral", LLAMA_LIKE | {"num_local_experts": 4, "num_experts_per_tok": 2}, {}),
    "GPT-NeoX": ("GPTNeoX", WIDE | TOKENS | {"max_position_embeddings": 128}, {}),
    "OPT": ("OPT", {
        "hidden_size": 32, "ffn_dim": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "max_position_embeddings": 128, "word_embed_proj_dim": 32, **TOKENS,
    }, {}),
    "BLOOM": ("Bloom", {"hidden_size": 32, "n_layer": 2, "n_head": 4, **TOKENS}, {}),
    "Falcon": ("Falcon", {
        "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 128, **TOKENS,
    }, {}),
    "Phi3": ("Phi3", LLAMA_LIKE, {}),
    "OLMo2": ("Olmo2", LLAMA_LIKE, {}),
    "MPT": ("Mpt", {"d_model": 32, "n_heads": 4, "n_layers": 2, "max_seq_len": 128, **TOKENS}, {}),
}  # fmt: skip


def of_hugging_face(family: str, settings: dict[str, Any], more: dict[str, Any]) -> Parts:
    transformers = needed("transformers")
    config = getattr(transformers, f"{family}Config")(**settings)
    model = transformers.AutoModelForCausalLM.from_config(config)
    return {"model": model, "kind": "decoder", "vocab_size": 60, **more}


def eager(family: str, settings: dict[str, Any]) -> Parts:
    return of_hugging_face(family, settings | {"attn_implementation": "eager"}, {})


def bert() -> Parts:
    transformers = needed("transformers")
    model = transformers.BertForMaskedLM(transformers.BertConfig(**WIDE, vocab_size=60, max_position_embeddings=64))
    return {"model": model, "kind": "encoder", "vocab_size": 60}


def t5() -> Parts:
    transformers = needed("transformers")
    settings = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "vocab_size": 60}
    model = transformers.T5ForConditionalGeneration(transformers.T5Config(**settings, decoder_start_token_id=0))
    return {"model": model, "kind": "encoder-decoder", "vocab_size": 60}


def marian() -> Parts:
    transformers = needed("transformers")
    halves = {
        f"{half}_{name}": size
        for half in ("encoder", "decoder")
        for name, size in {"layers": 2, "attention_heads": 4, "ffn_dim": 64}.items()
    }
    ids = {"vocab_size": 60, "pad_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 0}
    config = transformers.MarianConfig(d_model=32, max_position_embeddings=64, **ids, **halves)
    return {"model": transformers.MarianMTModel(config), "kind": "encoder-decoder", "vocab_size": 60}


def x_transformers(**choices: Any) -> Parts:
    package = needed("x_transformers")
    layers = package.Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, **choices)
    model = package.TransformerWrapper(num_tokens=60, max_seq_len=64, attn_layers=layers)
    return {"model": model, "kind": "decoder", "vocab_size": 60}


def x_encoder() -> Parts:
    package = needed("x_transformers")
    layers = package.Encoder(dim=32, depth=2, heads=4, attn_dim_head=8)
    model = package.TransformerWrapper(num_tokens=60, max_seq_len=64, attn_layers=layers)
    return {"model": model, "kind": "encoder", "vocab_size": 60}


for _name, (_family, _settings, _more) in DECODERS.items():
    enter(f"Hugging Face {_name}", partial(of_hugging_face, _family, _settings, _more))
enter("Hugging Face Llama, eager", partial(eager, "Llama", LLAMA_LIKE))
enter("Hugging Face GPT-2, eager", partial(eager, "GPT2", DECODERS["GPT-2"][1]))
enter("Hugging Face BERT", bert)
enter("Hugging Face T5", t5)
enter("Hugging Face Marian", marian)
enter("x-transformers decoder", x_transformers)
enter("x-transformers, rotary", partial(x_transformers, rotary_pos_emb=True))
enter("x-transformers, ALiBi", partial(x_transformers, alibi_pos_bias=True))
enter("x-transformers encoder", x_encoder)
