"""DeepSeek-V3 and R1 (DeepSeek-AI 2024, arXiv 2412.19437), and what is published in their form (Moonlight)."""

from __future__ import annotations

from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.families.heads import decoder_classes, read_decoder_head, write_head
from clearformer.families.latent_decoder import latent_decoder_table, read_latent_decoder, routed, write_latent_decoder
from clearformer.spec import DecoderOnly, LatentAttention, RouterGroups, SigmoidRouter, Spec

_CLASSES = decoder_classes("DeepseekV3")


def translate(config: ConfigReader, architecture: str) -> Spec:
    config.only("scoring_func", "sigmoid")
    config.only("topk_method", "noaux_tc")
    groups = RouterGroups(config.whole("n_group", 8), config.whole("topk_group", 4), "best_two")
    router = SigmoidRouter(
        normalise=config.flag("norm_topk_prob", True),
        scale=config.number("routed_scaling_factor", 2.5),
        # Of one group there is nothing to choose.
        groups=None if groups.count == 1 else groups,
    )
    return read_latent_decoder(
        config,
        read_decoder_head(config, architecture, _CLASSES, tied=False),
        router,
        dense_layers=3,
        layout="interleaved" if config.flag("rope_interleave", True) else "halves",
    )


def to_config(spec: Spec) -> dict[str, object] | None:
    written, experts = write_latent_decoder(spec), routed(spec)
    if written is None or experts is None or not isinstance(spec, DecoderOnly):
        return None
    attention, router = spec.decoder.blocks[0].attention, experts.router
    return {
        "model_type": "deepseek_v3",
        **written,
        "n_group": router.groups.count if router.groups else 1,
        "topk_group": router.groups.kept if router.groups else 1,
        "norm_topk_prob": router.normalise,
        "rope_interleave": isinstance(attention, LatentAttention) and attention.rotary.layout == "interleaved",
        "num_nextn_predict_layers": 0,
        **write_head(spec.head, _CLASSES),
    }


DEEPSEEK_V3 = Family("deepseek_v3", _CLASSES, translate, to_config, latent_decoder_table)
