"""Small random models on disk, as Hugging Face saves them, with a tokenizer that knows Chinese only byte by byte."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import torch
from transformers import BertConfig, BertModel, LlamaConfig, LlamaForCausalLM

from clearformer.text.bpe_train import train

WORDS = ["the cat sat on the mat because it was tired. What is the capital of France? " * 4]
VOCABULARY = 300
TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant: "


def llama_folder(folder: Path, **choices: Any) -> LlamaForCausalLM:
    """A Llama of two layers, four query and two key/value heads, in `folder`; the original is given back."""
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 1024}
    config = LlamaConfig(vocab_size=VOCABULARY, attn_implementation="eager", **{**sizes, **heads, **choices})
    model = LlamaForCausalLM(config).eval()
    _save(model, folder)
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    return model


def bert_folder(folder: Path) -> BertModel:
    """A BERT sentence encoder of two layers in `folder`."""
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    model = BertModel(BertConfig(vocab_size=VOCABULARY, attn_implementation="eager", **sizes)).eval()
    _save(model, folder)
    kinds = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
    modules = [
        {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for n, (kind, path) in enumerate(kinds.items())
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return model


def _save(model: Any, folder: Path) -> None:
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 1.5 / math.sqrt(parameter.shape[-1]), generator=generator)
            else:
                # Norm weights and biases near 1 alike: a missing one shows.
                parameter.uniform_(0.7, 1.3, generator=generator)
    model.save_pretrained(folder)
    train(WORDS, vocabulary_size=VOCABULARY).save(folder / "tokenizer.json")
