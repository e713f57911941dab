"""Mixtures of experts in configs and in weights, as Mixtral and the Qwen families publish them."""

from __future__ import annotations

from clearformer.checkpoint.renames import Row, Same, Stacked
from clearformer.families.config_reader import ConfigReader
from clearformer.families.gated_decoder import GATED, Parts, layer_stems, parts_of, read_gated, read_layers, write_gated
from clearformer.messages import families as say
from clearformer.spec import Experts, FeedForward, Gated, Router, SoftmaxRouter, Spec

_LOCAL, _COUNT, _ACTIVE, _BALANCE = "num_local_experts", "num_experts", "num_experts_per_tok", "router_aux_loss_coef"
_FEEDFORWARD = "decoder.blocks.{i}.feedforward"
_EXPERT = f"{_FEEDFORWARD}.experts.{{e}}"


def read_experts(
    config: ConfigReader, expert: Gated, router: Router, *, count: int, active: int, shared: Gated | None = None
) -> Experts:
    """`count` experts of which `active` read a token, where the config does not say; a `shared` one is gated."""
    # What the answer does not depend on: whether scores are shown, and noise in training.
    config.harmless(("output_router_logits", "router_jitter_noise"))
    return Experts(
        _count(config, count),
        config.whole(_ACTIVE, active),
        expert,
        router,
        shared=shared,
        shared_gate=shared is not None,
        balance_loss=config.number(_BALANCE, 0.001),
    )


def _count(config: ConfigReader, default: int) -> int:
    """transformers 5 writes the `num_experts` of some families under Mixtral's name."""
    count = config.whole(_LOCAL, config.whole(_COUNT, default))
    if config.whole(_COUNT, count) != count:
        config.contradiction(_LOCAL, _COUNT, say.EXPERTS_COUNTED_TWICE)
    return count


def write_experts(experts: Experts, count: str = _LOCAL) -> dict[str, object]:
    """`count` is the key under which the family counts."""
    return {count: experts.count, _ACTIVE: experts.active, _BALANCE: experts.balance_loss}


def read_qwen_mixture(
    config: ConfigReader, *, count: int, active: int, shared: Gated | None = None
) -> list[FeedForward]:
    """Each block's network: experts in every `decoder_sparse_step`th block, but for those of `mlp_only_layers`."""
    router = SoftmaxRouter(normalise=config.flag("norm_topk_prob", False))
    expert = read_gated(config, "moe_intermediate_size")
    experts = read_experts(config, expert, router, count=count, active=active, shared=shared)
    step, dense = config.whole("decoder_sparse_step", 1), config.wholes("mlp_only_layers")
    sparse = [(layer + 1) % step == 0 and layer not in dense for layer in range(read_layers(config))]
    config.harmless(("intermediate_size",))
    return [experts if each else read_gated(config) for each in sparse]


def write_qwen_mixture(parts: Parts, experts: Experts) -> dict[str, object]:
    # Without dense blocks their width changes nothing; published configs then give the width of the active experts.
    dense = parts.gated or Gated(experts.active * experts.expert.width, experts.expert.activation)
    layers = enumerate(parts.stack.blocks)
    return {
        **write_experts(experts, _COUNT),
        **write_gated(dense),
        "moe_intermediate_size": experts.expert.width,
        "norm_topk_prob": isinstance(experts.router, SoftmaxRouter) and experts.router.normalise,
        "decoder_sparse_step": 1,
        "mlp_only_layers": [layer for layer, block in layers if not isinstance(block.feedforward, Experts)],
    }


MIXTRALS_EXPERT = (("w1", "gate"), ("w3", "up"), ("w2", "down"))
QWENS_EXPERT = tuple((theirs.removeprefix("mlp."), ours.removeprefix("feedforward.")) for theirs, ours in GATED)


def mixture_rows(spec: Spec, within: str, expert: tuple[tuple[str, str], ...]) -> tuple[Row, ...]:
    """The router and each expert's matrices, as they lie on the Hub under `within` and as transformers stacks them.

    `expert` pairs the names within one expert.
    """
    parts = parts_of(spec)
    if parts is None or parts.experts is None:
        return ()
    gate, up, down = (f"{_EXPERT}.{name}.weight" for name in ("gate", "up", "down"))
    rows: list[Row] = []
    for stem in layer_stems(spec):
        routers = dict.fromkeys((f"{stem}.{within}.gate.weight", f"{stem}.mlp.gate.weight"))
        rows += [Same(router, f"{_FEEDFORWARD}.router.weight") for router in routers]
        experts = f"{stem}.{within}.experts.{{e}}"
        rows += [Same(f"{experts}.{theirs}.weight", f"{_EXPERT}.{ours}.weight") for theirs, ours in expert]
        rows += stacked_rows(f"{stem}.mlp.experts", (gate, up, down), parts.experts.count)
    return tuple(rows)


def stacked_rows(theirs: str, ours: tuple[str, str, str], count: int) -> list[Row]:
    """Every expert's gate, up and down as transformers 5 holds them in memory, in two tensors."""
    gate, up, down = ours
    return [Stacked(f"{theirs}.gate_up_proj", (gate, up), count), Stacked(f"{theirs}.down_proj", down, count)]
