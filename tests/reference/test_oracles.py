"""The twin against the models of transformers: T5, DeepSeek-V3 and CLIP, small, with weights of trained size."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import (
    CLIPConfig,
    CLIPModel,
    CLIPTextConfig,
    CLIPVisionConfig,
    DeepseekV3Config,
    DeepseekV3ForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)

from clearformer.reference.model import compare, run, translate_logits
from clearformer.spec import (
    Attention,
    Biases,
    Block,
    Causal,
    DecoderOnly,
    Dense,
    EncoderDecoder,
    EncoderOnly,
    EndToken,
    Experts,
    Full,
    Gated,
    Language,
    LatentAttention,
    LayerNorm,
    Learned,
    Patches,
    Pooling,
    RelativeBias,
    RMSNorm,
    Rotary,
    RouterGroups,
    SigmoidRouter,
    Stack,
    Tokens,
    TwoTowers,
    Vector,
)


def _fill(model: torch.nn.Module) -> dict[str, np.ndarray]:
    """Draw every parameter and buffer that is learnt at trained size; give them by name in float64."""
    generator = torch.Generator().manual_seed(0)
    model.double().eval()
    with torch.no_grad():
        for name, weight in [*model.named_parameters(), *model.named_buffers()]:
            if weight.ndim >= 2 and weight.is_floating_point():
                weight.copy_(torch.randn(weight.shape, generator=generator, dtype=weight.dtype))
                weight.mul_(1.5 / weight.shape[-1] ** 0.5)
            elif weight.ndim == 1 and "inv_freq" not in name and weight.is_floating_point():
                middle = 1.0 if "norm" in name and name.endswith("weight") else 0.0
                weight.copy_(middle + 0.6 * torch.rand(weight.shape, generator=generator) - 0.3)
    return {name: value.numpy() for name, value in model.state_dict().items()}


def _take(theirs: dict[str, np.ndarray], names: dict[str, str], suffixes: tuple[str, ...]) -> dict[str, np.ndarray]:
    return {
        f"{ours}.{s}": theirs[f"{their}.{s}"]
        for ours, their in names.items()
        for s in suffixes
        if f"{their}.{s}" in theirs
    }


def _close(ours: np.ndarray, theirs: torch.Tensor, tolerance: float) -> None:
    expected = theirs.detach().double().numpy()
    assert np.abs(ours - expected).max() <= tolerance * (expected.max() - expected.min())
    assert expected.std() > 0.1


@pytest.mark.parametrize("gated", [False, True], ids=["relu", "gated-gelu"])
def test_t5(gated: bool, ids) -> None:
    config = T5Config(
        vocab_size=23, d_model=16, d_kv=6, d_ff=24, num_layers=2, num_heads=3,
        relative_attention_num_buckets=8, relative_attention_max_distance=12,
        feed_forward_proj="gated-gelu" if gated else "relu", tie_word_embeddings=True,
    )  # fmt: skip
    model = T5ForConditionalGeneration(config)
    theirs = _fill(model)

    def attention(position: RelativeBias | None, visibility: Full | Causal) -> Attention:
        return Attention(3, 3, 6, 6, visibility=visibility, position=position, scale=1.0)

    def stack(decodes: bool) -> Stack:
        feed = Gated(24, "gelu_tanh") if gated else Dense(24, bias=False)
        own = attention(RelativeBias(8, 12, not decodes), Causal() if decodes else Full())
        cross = {"cross_attention": attention(None, Full()), "cross_norm": RMSNorm()} if decodes else {}
        return Stack(16, Tokens(23), (Block(own, feed, RMSNorm(), RMSNorm(), **cross),) * 2, RMSNorm())

    spec = EncoderDecoder(stack(False), stack(True), Language(hidden_scale=16**-0.5), 64, shared_vocabulary=True)
    names = {"encoder.embed.token": "shared"}
    for side, decodes in (("encoder", False), ("decoder", True)):
        names[f"{side}.final_norm"] = f"{side}.final_layer_norm"
        names[f"{side}.blocks.0.attention.relative"] = f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias"
        for i in range(2):
            layers = [("attention", 0, "SelfAttention"), ("cross_attention", 1, "EncDecAttention")][: 1 + decodes]
            for ours, at, module in layers:
                for part in ("query", "key", "value", "output"):
                    names[f"{side}.blocks.{i}.{ours}.{part}"] = f"{side}.block.{i}.layer.{at}.{module}.{part[0]}"
                names[f"{side}.blocks.{i}.{ours.split('_')[0]}_norm"] = f"{side}.block.{i}.layer.{at}.layer_norm"
            feed = f"{side}.block.{i}.layer.{1 + decodes}"
            names[f"{side}.blocks.{i}.feedforward_norm"] = f"{feed}.layer_norm"
            for ours, module in {"gate": "wi_0", "up": "wi_1" if gated else "wi", "down": "wo"}.items():
                if gated or ours != "gate":
                    names[f"{side}.blocks.{i}.feedforward.{ours}"] = f"{feed}.DenseReluDense.{module}"
    source, target, real = ids(2, 20), ids(2, 17), np.ones((2, 20), dtype=bool)
    real[1, 15:] = False
    weights = _take(theirs, names, ("weight",))
    ours = translate_logits(spec, weights, source, target, real)
    answer = model(
        input_ids=torch.from_numpy(source),
        attention_mask=torch.from_numpy(real).long(),
        decoder_input_ids=torch.from_numpy(target),
    )
    _close(ours, answer.logits, 1e-6)


@pytest.mark.parametrize("rank", [None, 10], ids=["direct", "query-latent"])
def test_deepseek(rank: int | None, ids) -> None:
    config = DeepseekV3Config(
        vocab_size=23, hidden_size=16, intermediate_size=20, moe_intermediate_size=10, num_hidden_layers=2,
        num_attention_heads=3, num_key_value_heads=3, n_routed_experts=8, num_experts_per_tok=3, n_group=4,
        topk_group=2, n_shared_experts=1, first_k_dense_replace=1, kv_lora_rank=7, q_lora_rank=rank, qk_rope_head_dim=4,
        qk_nope_head_dim=6, v_head_dim=5, routed_scaling_factor=2.5, norm_topk_prob=True, attention_bias=True,
        tie_word_embeddings=False, rms_norm_eps=1e-6, attn_implementation="eager", max_position_embeddings=64,
    )  # fmt: skip
    model = DeepseekV3ForCausalLM(config)
    model.set_experts_implementation("eager")  # The grouped kernel has no float64.
    theirs = _fill(model)
    attention = LatentAttention(3, 6, 5, 7, Rotary(width=4, layout="interleaved"), query_rank=rank, bias=True)
    router = SigmoidRouter(scale=2.5, groups=RouterGroups(4, 2, "best_two"))
    feeds = (Gated(20), Experts(8, 3, Gated(10), router, shared=Gated(10)))
    blocks = tuple(Block(attention, feed, RMSNorm(), RMSNorm()) for feed in feeds)
    spec = DecoderOnly(Stack(16, Tokens(23), blocks, RMSNorm()), Language(tied=False), context=64)
    names = {"decoder.embed.token": "model.embed_tokens", "decoder.final_norm": "model.norm", "head.project": "lm_head"}
    parts = {
        "attention.query": "self_attn.q_proj", "attention.query_down": "self_attn.q_a_proj",
        "attention.query_norm": "self_attn.q_a_layernorm", "attention.query_up": "self_attn.q_b_proj",
        "attention.latent_down": "self_attn.kv_a_proj_with_mqa", "attention.latent_norm": "self_attn.kv_a_layernorm",
        "attention.latent_up": "self_attn.kv_b_proj", "attention.output": "self_attn.o_proj",
        "attention_norm": "input_layernorm", "feedforward_norm": "post_attention_layernorm",
        "feedforward.router": "mlp.gate",
        **{f"feedforward.{way}": f"mlp.{way}_proj" for way in ("gate", "up", "down")},
        **{f"feedforward.shared.{way}": f"mlp.shared_experts.{way}_proj" for way in ("gate", "up", "down")},
    }  # fmt: skip
    for i in range(2):
        names |= {f"decoder.blocks.{i}.{ours}": f"model.layers.{i}.{part}" for ours, part in parts.items()}
    weights = _take(theirs, names, ("weight", "bias"))
    at = "decoder.blocks.1.feedforward"
    weights[f"{at}.router.selection_bias"] = theirs["model.layers.1.mlp.gate.e_score_correction_bias"]
    for e in range(8):
        gate_up = theirs["model.layers.1.mlp.experts.gate_up_proj"][e]
        weights[f"{at}.experts.{e}.gate.weight"], weights[f"{at}.experts.{e}.up.weight"] = np.split(gate_up, 2)
        weights[f"{at}.experts.{e}.down.weight"] = theirs["model.layers.1.mlp.experts.down_proj"][e]
    tokens = ids(2, 12)
    _close(run(spec, weights, tokens), model(torch.from_numpy(tokens)).logits, 1e-5)


def test_clip(ids, rng) -> None:
    shared = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
    text = CLIPTextConfig(vocab_size=23, max_position_embeddings=12, eos_token_id=22, bos_token_id=0, **shared)
    vision = CLIPVisionConfig(image_size=8, patch_size=4, **shared)
    model = CLIPModel(CLIPConfig(text_config=text.to_dict(), vision_config=vision.to_dict(), projection_dim=6))
    theirs = _fill(model)

    def block(visibility: Full | Causal) -> Block:
        attention = Attention(2, 2, 8, 8, visibility=visibility, bias=Biases.everywhere())
        return Block(attention, Dense(24, "quick_gelu"), LayerNorm(), LayerNorm())

    picture = Patches(8, 8, 4, position=Learned(5), bias=False, norm=LayerNorm())
    towers = TwoTowers(
        DecoderOnly(
            Stack(16, Tokens(23, Learned(12)), (block(Causal()),) * 2, LayerNorm()),
            Vector(Pooling(EndToken(22)), 6),
            12,
        ),
        # The class token alone passes CLIP's last norm; a norm of every position gives it the same.
        EncoderOnly(Stack(16, picture, (block(Full()),) * 2, LayerNorm()), Vector(Pooling(), 6), 5),
    )
    parts = {"attention.query": "self_attn.q_proj", "attention.key": "self_attn.k_proj",
             "attention.value": "self_attn.v_proj", "attention.output": "self_attn.out_proj",
             "attention_norm": "layer_norm1", "feedforward_norm": "layer_norm2",
             "feedforward.up": "mlp.fc1", "feedforward.down": "mlp.fc2"}  # fmt: skip
    names = {
        "text.decoder.embed.token": "text_model.embeddings.token_embedding",
        "text.decoder.embed.position": "text_model.embeddings.position_embedding",
        "text.decoder.final_norm": "text_model.final_layer_norm",
        "text.head.project": "text_projection",
        "image.encoder.embed.position": "vision_model.embeddings.position_embedding",
        "image.encoder.embed.norm": "vision_model.pre_layrnorm",
        "image.encoder.final_norm": "vision_model.post_layernorm",
        "image.head.project": "visual_projection",
    }
    for side, module in (("text.decoder", "text_model"), ("image.encoder", "vision_model")):
        for i in range(2):
            names |= {
                f"{side}.blocks.{i}.{ours}": f"{module}.encoder.layers.{i}.{part}" for ours, part in parts.items()
            }
    weights = _take(theirs, names, ("weight", "bias"))
    kernel = theirs["vision_model.embeddings.patch_embedding.weight"]
    weights["image.encoder.embed.project.weight"] = kernel.reshape(16, -1)
    weights["image.encoder.embed.class_token"] = theirs["vision_model.embeddings.class_embedding"]
    weights["scale"] = theirs["logit_scale"]
    texts, pictures = ids(3, 9) % 22, rng.standard_normal((2, 3, 8, 8))
    texts[:, 6] = 22
    answer = model(input_ids=torch.from_numpy(texts), pixel_values=torch.from_numpy(pictures))
    _close(compare(towers, weights, texts, pictures), answer.logits_per_text, 1e-6)
