"""A small checkpoint, tokenizers and a training run on disk, sound."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from doctor.corpus.packages import needed


def checkpoint(folder: Path, *, trained: bool = False, max_shard_size: str = "5GB", **changes: Any) -> None:
    """A Llama of two layers, as transformers saves it. `trained` gives its weights other spreads than fresh ones."""
    transformers = needed("transformers")
    settings = {
        "vocab_size": 60, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 64, "bos_token_id": 1, "eos_token_id": 2,
        "pad_token_id": 0, "tie_word_embeddings": True,
    } | changes  # fmt: skip
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**settings))
    if trained:
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
        ids = torch.arange(32).view(2, 16) + 4
        for _ in range(60):
            optimizer.zero_grad()
            model(ids, labels=ids).loss.backward()
            optimizer.step()
    model.save_pretrained(folder, max_shard_size=max_shard_size)


def weights(folder: Path, change: Callable[[str, torch.Tensor], tuple[str, torch.Tensor]]) -> None:
    """Rewrites every tensor of the one file."""
    safetensors = needed("safetensors.torch")
    path = folder / "model.safetensors"
    kept = safetensors.load_file(path)
    changed = dict(change(name, tensor) for name, tensor in kept.items())
    safetensors.save_file(
        {name: tensor.contiguous().clone() for name, tensor in changed.items()}, path, {"format": "pt"}
    )


class Words:
    """Bytes, four special ids in front."""

    bos_token_id, eos_token_id, pad_token_id, vocab_size = 1, 2, 0, 260

    def __len__(self) -> int:
        return self.vocab_size

    def encode(self, text: str) -> list[int]:
        return [4 + byte for byte in text.encode()]

    def decode(self, ids: list[int]) -> str:
        return bytes(i - 4 for i in ids if i >= 4).decode(errors="replace")


class Template(Words):
    """A chat template whose text begins with BOS; encoding adds one more. `special` spells the special tokens."""

    bos_token, eos_token, special = "<s>", "</s>", {"<s>": 1, "</s>": 2}
    begins = True

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        ids = [1] if add_special_tokens and self.begins else []
        while text:
            found = next((word for word in self.special if text.startswith(word)), None)
            ids += [self.special[found]] if found else super().encode(text[0])
            text = text[len(found or "x") :]
        return ids

    def __call__(self, text: str, **options: Any) -> dict[str, list[int]]:
        return {"input_ids": self.encode(text, **options)}

    def apply_chat_template(
        self, messages: list[dict[str, str]], tokenize: bool = True, add_generation_prompt: bool = False, **_: Any
    ) -> str | list[int]:
        text = "<s>" + "".join(f"[{each['role']}] {each['content']}</s>" for each in messages)
        text += "[assistant]" if add_generation_prompt else ""
        return self.encode(text, add_special_tokens=False) if tokenize else text


def run(
    folder: Path,
    losses: list[float],
    rate: float = 1e-3,
    validation: list[float] | None = None,
) -> None:
    """A run folder with the metrics of each step, as our own loop writes them."""
    records: list[dict[str, Any]] = []
    for number, loss in enumerate(losses):
        figures = {"loss": loss if math.isfinite(loss) else None, "lr": rate, "grad_norm": 1.0 / (1 + 0.01 * number)}
        records.append({"step": number + 1, **figures, "units": 64, "skipped": False})
        if validation is not None and number % 20 == 19:
            records.append({"step": number + 1, "evaluation": {"loss": validation[number]}, "best": number == 19})
    (folder / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
