"""Checkpoints, tokenizers and the files of training runs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import torch

from doctor.corpus.case import Parts, faulty
from doctor.corpus.files import Template, Words, checkpoint, run, weights


@faulty("shard missing", report="I4")
def a_shard_of_the_index_is_absent(folder: Path) -> Parts:
    checkpoint(folder, max_shard_size="20KB")
    sorted(folder.glob("*.safetensors"))[1].unlink()
    return {"folder": folder}


@faulty("file truncated", report="I4")
def a_file_ends_too_early(folder: Path) -> Parts:
    checkpoint(folder)
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-500])
    return {"folder": folder}


@faulty("keys unmatched", report="I3")
def every_key_has_another_prefix(folder: Path) -> Parts:
    checkpoint(folder)
    weights(folder, lambda name, tensor: (name.replace("model.", "encoder.model.", 1), tensor))
    return {"folder": folder}


@faulty("tied weights separate", report="I5")
def the_file_has_a_head_of_its_own(folder: Path) -> Parts:
    checkpoint(folder, tie_word_embeddings=False)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"tie_word_embeddings": True}))
    return {"folder": folder}


@faulty("config contradicts weights", report="I6")
def more_words_than_rows(folder: Path) -> Parts:
    checkpoint(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"vocab_size": 70}))
    return {"folder": folder}


@faulty("config contradicts weights", report="I7")
def key_heads_in_the_config_only(folder: Path) -> Parts:
    checkpoint(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"num_key_value_heads": 1}))
    return {"folder": folder}


@faulty("weights not finite", report="I4")
def a_tensor_is_full_of_nothing(folder: Path) -> Parts:
    checkpoint(folder)
    weights(folder, lambda name, tensor: (name, tensor * math.nan if "layers.1.mlp.up" in name else tensor))
    return {"folder": folder}


@faulty("turn end not in the stop set", "EOS not in the stop set", report="C5")
def turns_end_with_a_token_that_stops_nothing(folder: Path) -> Parts:
    checkpoint(folder, eos_token_id=2)
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": 2}))
    words = {"<pad>": 0, "<s>": 1, "</s>": 2, "<|im_start|>": 3, "<|im_end|>": 4}
    words |= {f"w{number}": number for number in range(5, 60)}
    added = [{"id": i, "content": word, "special": True} for word, i in words.items() if i < 5]
    for token in added:
        token.update(single_word=False, lstrip=False, rstrip=False, normalized=False)
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None,
        "model": {"type": "WordLevel", "vocab": words, "unk_token": "<pad>"},
    }  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    template = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    told: dict[str, Any] = {"eos_token": "</s>", "bos_token": "<s>", "pad_token": "<pad>", "chat_template": template}
    told["tokenizer_class"] = "PreTrainedTokenizerFast"
    (folder / "tokenizer_config.json").write_text(json.dumps(told))
    return {"folder": folder}


@faulty("two BOS", report="T1")
def template_and_tokenizer_both_begin() -> Parts:
    return {"tokenizer": Template(), "bos_id": 1, "eos_id": 2}


@faulty("tokenizer loses whitespace", report="T2")
def double_spaces_become_one() -> Parts:
    class Joined(Words):
        def decode(self, ids: list[int]) -> str:
            return " ".join(super().decode(ids).split())

    return {"tokenizer": Joined()}


@faulty("tokenizer loses characters", report="T2")
def letters_beyond_ascii_vanish() -> Parts:
    class Plain(Words):
        def encode(self, text: str) -> list[int]:
            return super().encode(text.encode("ascii", "ignore").decode())

    return {"tokenizer": Plain()}


@faulty("ids beyond the vocabulary", "ids beyond the tokenizer", report="C6")
def the_tokenizer_knows_more_than_the_model() -> Parts:
    from doctor.corpus.hand_written import VOCAB, Decoder

    return {"model": Decoder(), "kind": "decoder", "vocab_size": VOCAB, "tokenizer": Words()}


@faulty("loss stuck at ln V", report="N6")
def nothing_is_learnt(folder: Path) -> Parts:
    run(folder, [math.log(60) + 0.01 * math.sin(step) for step in range(200)])
    return {"folder": folder, "vocab_size": 60}


@faulty("learning rate zero", report="D7")
def the_rate_is_zero_all_along(folder: Path) -> Parts:
    run(folder, [4.0 + 0.02 * math.sin(step) for step in range(200)], rate=0.0)
    return {"folder": folder}


@faulty("loss spike", report="D6")
def the_loss_jumps(folder: Path) -> Parts:
    run(folder, [4.0 * 0.98**step if step != 120 else 60.0 for step in range(200)])
    return {"folder": folder}


@faulty("loss not finite", report="F2")
def the_loss_is_no_number(folder: Path) -> Parts:
    run(folder, [4.0 * 0.98**step if step < 90 else math.nan for step in range(200)])
    return {"folder": folder}


@faulty("overfitting", report="L6")
def validation_rises_while_training_falls(folder: Path) -> Parts:
    falling = [4.0 * 0.98**step for step in range(200)]
    run(folder, falling, validation=[4.0 + 0.01 * step for step in range(200)])
    return {"folder": folder}


@faulty("tensors never trained", "head overwritten", report="I6")
def the_head_is_random_again(folder: Path) -> Parts:
    checkpoint(folder, tie_word_embeddings=False, trained=True)
    generator = torch.Generator().manual_seed(1)

    def drawn(name: str, tensor: torch.Tensor) -> tuple[str, torch.Tensor]:
        return name, 0.02 * torch.randn(tensor.shape, generator=generator) if name == "lm_head.weight" else tensor

    weights(folder, drawn)
    return {"folder": folder}


@faulty("quantised without scales", report="I4")
def whole_numbers_without_their_scales(folder: Path) -> Parts:
    checkpoint(folder)

    def rounded(name: str, tensor: torch.Tensor) -> tuple[str, torch.Tensor]:
        return name, (tensor * 100).round().to(torch.int8) if name.endswith("proj.weight") else tensor

    weights(folder, rounded)
    return {"folder": folder}


@faulty("scale left to its default", report="I6")
def config_without_the_scales_of_its_family(folder: Path) -> Parts:
    checkpoint(folder)
    said = json.loads((folder / "config.json").read_text())
    granite = {"model_type": "granite", "architectures": ["GraniteForCausalLM"], "embedding_multiplier": 12.0}
    (folder / "config.json").write_text(json.dumps(said | granite))
    return {"folder": folder}
