"""Models of our own specs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from doctor.corpus.case import Parts, enter
from doctor.corpus.packages import needed

SIZES: dict[str, Any] = {"width": 32, "heads": 4, "layers": 2, "vocabulary": 60}


def own(preset: str, kind: str, sizes: dict[str, Any], window: int | None = None) -> Parts:
    presets, build = needed("clearformer.spec.presets"), needed("clearformer.build").build
    spec = getattr(presets, preset)(**sizes)
    if window is not None:
        blocks = tuple(_windowed(block, window) for block in spec.decoder.blocks)
        spec = replace(spec, decoder=replace(spec.decoder, blocks=blocks))
    told = {} if window is None else {"window": window}
    return {"model": build(spec), "kind": kind, **({"vocab_size": 60} if "vocabulary" in sizes else {}), **told}


def _windowed(block: Any, window: int) -> Any:
    causal = needed("clearformer.spec").Causal
    return replace(block, attention=replace(block.attention, visibility=causal(window=window)))


PAPER = SIZES | {"hidden": 64, "context": 64}
MODERN = SIZES | {"kv_heads": 2, "hidden": 64, "context": 128}
for _name, _preset, _kind, _sizes, _window in (
    ("our small GPT", "tiny_gpt", "decoder", SIZES | {"context": 64}, None),
    ("our modern decoder", "modern_decoder", "decoder", MODERN, None),
    ("our modern decoder with a window", "modern_decoder", "decoder", MODERN, 4),
    ("our BERT", "bert_encoder", "encoder", SIZES | {"hidden": 64, "context": 64}, None),
    ("our paper's model", "paper", "encoder-decoder", PAPER, None),
    ("our paper's model, norms before", "paper", "encoder-decoder", PAPER | {"placement": "pre"}, None),
):
    enter(_name, partial(own, _preset, _kind, _sizes, _window))

FORECASTER = {
    "channels": 2, "lookback": 32, "horizon": 8, "patch": 8, "stride": 4, "width": 32, "heads": 4, "hidden": 64,
}  # fmt: skip
enter("our forecaster", partial(own, "patch_forecaster", "forecaster", FORECASTER))
