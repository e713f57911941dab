"""DeepSeek-V2 (DeepSeek-AI 2024, arXiv 2405.04434), Lite and Coder among its sizes."""

from __future__ import annotations

from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.families.heads import decoder_classes, read_decoder_head, write_head
from clearformer.families.latent_decoder import latent_decoder_table, read_latent_decoder, routed, write_latent_decoder
from clearformer.spec import DecoderOnly, Gated, RouterGroups, SoftmaxRouter, Spec

_CLASSES = decoder_classes("DeepseekV2")
_GREEDY, _LIMITED = "greedy", "group_limited_greedy"


def translate(config: ConfigReader, architecture: str) -> Spec:
    config.only("scoring_func", "softmax")
    # The makers' code divides by the sum and then scales no more, transformers ignores the key: no size has it.
    config.only("norm_topk_prob", False)
    return read_latent_decoder(
        config,
        read_decoder_head(config, architecture, _CLASSES, tied=False),
        SoftmaxRouter("before", scale=config.number("routed_scaling_factor", 1.0), groups=_groups(config)),
        dense_layers=0,
        layout="interleaved",
        bias=config.flag("mlp_bias", False),
    )


def _groups(config: ConfigReader) -> RouterGroups | None:
    """Of one group there is nothing to choose; without the limit the groups are not looked at."""
    limited = config.choice("topk_method", {_GREEDY: False, _LIMITED: True}, _GREEDY)
    if not limited:
        config.harmless(("n_group", "topk_group"))
        return None
    groups = RouterGroups(config.whole("n_group"), config.whole("topk_group"))
    return None if groups.count == 1 else groups


def to_config(spec: Spec) -> dict[str, object] | None:
    written, experts = write_latent_decoder(spec), routed(spec)
    if written is None or experts is None or not isinstance(spec, DecoderOnly):
        return None
    groups = experts.router.groups
    limit = {"topk_method": _LIMITED, "n_group": groups.count, "topk_group": groups.kept} if groups else {}
    return {
        "model_type": "deepseek_v2",
        **written,
        "topk_method": _GREEDY,
        **limit,
        "norm_topk_prob": False,
        "mlp_bias": isinstance(experts.shared, Gated) and experts.shared.bias,
        **write_head(spec.head, _CLASSES),
    }


DEEPSEEK_V2 = Family("deepseek_v2", _CLASSES, translate, to_config, latent_decoder_table)
