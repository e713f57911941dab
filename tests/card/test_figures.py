"""What a card says that a choice costs, against models that are built, configs read otherwise, and counting."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from card.configs import CLIP, DEEPSEEK, GEMMA3, GPT2, LLAMA, MIXTRAL, T5
from clearformer.build import build
from clearformer.card import card
from clearformer.cost import cost
from clearformer.families import family_of
from clearformer.spec import Spec


def spec_of(config: dict[str, Any], **changes: Any) -> Spec:
    config = {**config, **changes}
    return family_of(config).read(config)


def held(config: dict[str, Any], **changes: Any) -> int:
    """Parameters of the model that is really built."""
    return sum(weight.numel() for weight in build(spec_of(config, **changes)).parameters())


def weights(config: dict[str, Any], *words: str, without: str = "-") -> int:
    """Numbers in the built model's weights whose name has one of these words."""
    named = build(spec_of(config)).named_parameters()
    return sum(w.numel() for name, w in named if any(word in name for word in words) and without not in name)


def figures(config: dict[str, Any], key: str) -> list[float]:
    """The numbers of a row's cost."""
    (row,) = [row for row in card(config).rows if row.key == key]
    return [float(each.replace(",", "")) for each in re.findall(r"\d[\d,]*(?:\.\d+)?", row.cost)]


def test_tables_and_heads() -> None:
    table = 101 * 48
    assert figures(LLAMA, "vocab_size")[0] == table
    assert figures(LLAMA, "vocab_size")[2] == 2 * table
    assert figures(LLAMA, "tie_word_embeddings")[0] == held(LLAMA) - held(LLAMA, tie_word_embeddings=True) == table
    tied = {**LLAMA, "tie_word_embeddings": True}
    assert figures(tied, "tie_word_embeddings")[0] == table
    assert figures(GPT2, "n_positions")[0] == weights(GPT2, "position")
    assert figures(CLIP, "projection_dim")[0] == weights(CLIP, "head.project")
    assert figures(CLIP, "logit_scale_init_value") == [1]


def test_fewer_key_and_value_heads() -> None:
    now, all_heads = (
        cost(spec_of(LLAMA), dtype="bfloat16"),
        cost(spec_of(LLAMA, num_key_value_heads=6), dtype="bfloat16"),
    )
    kept, heads, would_keep, more = figures(LLAMA, "num_key_value_heads")
    assert (kept, heads, would_keep) == (now.kv_cache.per_token.value, 6, all_heads.kv_cache.per_token.value)
    assert more == held(LLAMA, num_key_value_heads=6) - held(LLAMA)
    multi = {**LLAMA, "num_key_value_heads": 6}
    kept, would_keep, fewer = figures(multi, "num_key_value_heads")
    one = cost(spec_of(LLAMA, num_key_value_heads=1), dtype="bfloat16")
    assert (kept, would_keep) == (all_heads.kv_cache.per_token.value, one.kv_cache.per_token.value)
    assert fewer == held(multi) - held(LLAMA, num_key_value_heads=1)


def test_biases_held_and_spared() -> None:
    assert figures(LLAMA, "mlp_bias") == [held(LLAMA) - held(LLAMA, mlp_bias=False)]
    assert figures(LLAMA, "attention_bias") == [held(LLAMA, attention_bias=True) - held(LLAMA)]


def test_networks_and_gates() -> None:
    count, _, flops = figures(LLAMA, "intermediate_size")
    assert count == weights(LLAMA, "feedforward.", without="norm")
    assert flops == 2 * weights(LLAMA, "feedforward.", without="bias")
    evaluated, gate, _ = figures(LLAMA, "hidden_act")
    assert (evaluated, gate) == (3 * 80, weights(LLAMA, "feedforward.gate"))


def test_experts() -> None:
    one = 3 * 48 * 80
    total, active = figures(MIXTRAL, "num_local_experts")
    assert (total, active) == (held(MIXTRAL), held(MIXTRAL) - 3 * 2 * one)
    assert figures(MIXTRAL, "num_experts_per_tok") == [one, 3 * 2 * one]
    more, now = (cost(spec_of(MIXTRAL, num_experts_per_tok=count), length=1).flops.forward for count in (3, 2))
    assert more - now == 3 * 2 * one
    assert figures(MIXTRAL, "intermediate_size") == figures(MIXTRAL, "num_experts_per_tok")
    dense, blocks, of = figures(DEEPSEEK, "intermediate_size")
    assert (dense, blocks, of) == (3 * 32 * 48, 1, 3)
    assert figures(DEEPSEEK, "n_shared_experts") == [weights(DEEPSEEK, "feedforward.shared.")]


def test_latents() -> None:
    kept, heads, plain = figures(DEEPSEEK, "kv_lora_rank")
    assert (kept, heads, plain) == (3 * (12 + 4) * 4, 4, 3 * 4 * (8 + 4 + 6) * 4)
    attention, direct = figures(DEEPSEEK, "q_lora_rank")
    # Norms count as norms.
    assert attention == weights(DEEPSEEK, ".attention.", without="norm")
    assert direct == weights({**DEEPSEEK, "q_lora_rank": None}, ".attention.", without="norm")


def test_rotation_and_its_slowest_wave() -> None:
    flops, _, wave = figures(LLAMA, "rope_theta")
    # Four products and two sums a pair, for each head of queries and of keys.
    assert flops == 3 * (6 + 2) * 4 * 6
    assert wave == pytest.approx(2 * math.pi * 5000.0 ** (6 / 8), abs=1)
    waves = [figures(GEMMA3, f"rope_parameters.{kind}_attention.rope_theta")[-1] for kind in ("full", "sliding")]
    assert waves == [pytest.approx(2 * math.pi * base ** (6 / 8), abs=1) for base in (1e6, 1e4)]


def test_windows_are_counted_pair_by_pair() -> None:
    seen = sum(1 for window in (5, 5, 40) for i in range(40) for j in range(40) if i - window < j <= i)
    share = figures(GEMMA3, "sliding_window")[-1]
    assert share == pytest.approx(100 * seen / (3 * 40 * 40), abs=0.05)


def test_relative_positions_and_layers_of_each_side() -> None:
    assert figures(T5, "relative_attention_num_buckets") == [2 * 16 * 3]
    model = build(spec_of(T5))
    for key, side, count in (("num_layers", "encoder", 2), ("num_decoder_layers", "decoder", 3)):
        named = ((name, weight) for name, weight in model.named_parameters() if f"{side}.blocks" in name)
        assert figures(T5, key)[0] == sum(weight.numel() for name, weight in named if "norm" not in name) // count


def test_what_a_second_side_takes() -> None:
    source, across, share = figures(T5, "is_encoder_decoder")
    assert source == weights(T5, "encoder.")
    assert across == weights(T5, ".cross_attention.")
    assert share == pytest.approx(100 * (source + across) / held(T5), abs=0.05)


def test_norms() -> None:
    assert figures(LLAMA, "rms_norm_eps")[0] == weights(LLAMA, "norm")


def test_dropout_costs_what_training_holds_with_it() -> None:
    def bytes_of(share: float) -> int:
        return cost(spec_of(GPT2, resid_pdrop=share)).memory.activations.bytes

    added, length = figures(GPT2, "resid_pdrop")[1:]
    assert (added, length) == (bytes_of(0.1) - bytes_of(0.0), 24)
    dropping = {**GPT2, "resid_pdrop": 0.1}
    assert figures(dropping, "resid_pdrop") == [added, length]


@pytest.mark.parametrize("config", [LLAMA, GPT2, GEMMA3, MIXTRAL, DEEPSEEK, T5, CLIP])
def test_the_summary_counts_the_built_model(config: dict[str, Any]) -> None:
    found = re.search(r"([\d.]+)([kMB]) parameters", card(config).summary)
    assert found is not None
    assert float(found[1]) == pytest.approx(held(config) / {"k": 1e3, "M": 1e6, "B": 1e9}[found[2]], abs=0.05)
