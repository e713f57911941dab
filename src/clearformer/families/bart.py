"""BART (Lewis et al. 2019, arXiv 1910.13461): an encoder and a decoder trained to restore spoilt text."""

from __future__ import annotations

from clearformer.checkpoint.renames import Ignored, Row, Same, Table, Tied
from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.families.paper_blocks import (
    bias_rows,
    layer_rows,
    read_initial,
    read_stack,
    read_tokens,
    require_plain,
    stems,
    write_stacks,
)
from clearformer.families.shared_table import shared_table_rows
from clearformer.spec import EncoderDecoder, Language, LayerNorm, Learned, Spec, Tokens

_LANGUAGE, _BARE = "BartForConditionalGeneration", "BartModel"
# The first two rows of the positions' table belong to no position.
_RESERVED = 2
_EMBED = (
    ("embed_positions.weight", "position.weight"),
    ("layernorm_embedding.weight", "norm.weight"),
    ("layernorm_embedding.bias", "norm.bias"),
)


def translate(config: ConfigReader, architecture: str) -> Spec:
    """A bare model is the one with a head without bias: the head is its own token table, and so it is published."""
    vocabulary, context = config.whole("vocab_size"), config.whole("max_position_embeddings", 1024)
    require_plain(config)
    # Without it transformers 5 reads two token tables, and earlier versions one.
    config.only("tie_word_embeddings", True)
    config.only("normalize_embedding", True)
    config.only("static_position_embeddings", False)
    config.only("extra_pos_embeddings", _RESERVED)
    tokens = read_tokens(config, vocabulary, Learned(context, offset=_RESERVED), LayerNorm(1e-5))
    return EncoderDecoder(
        encoder=read_stack(config, "encoder", tokens),
        decoder=read_stack(config, "decoder", tokens),
        head=Language(tied=True, bias=architecture == _LANGUAGE),
        context=context,
        shared_vocabulary=True,
        initial=read_initial(config),
    )


def to_config(spec: Spec) -> dict[str, object] | None:
    if not isinstance(spec, EncoderDecoder) or (stacks := write_stacks(spec)) is None:
        return None
    assert isinstance(spec.encoder.input, Tokens)
    return {
        "architectures": [_LANGUAGE if spec.head.bias else _BARE],
        "model_type": "bart",
        "vocab_size": spec.encoder.input.vocabulary,
        "tie_word_embeddings": True,
        **stacks,
    }


def table(spec: Spec) -> Table:
    assert isinstance(spec, EncoderDecoder)
    assert isinstance(spec.decoder.input, Tokens)
    rows: list[Row | Tied | Ignored] = [
        *bias_rows(spec.decoder.input.vocabulary),
        Ignored("*coder.version", "fairseq's count of its file formats"),
    ]
    for stem in stems(spec.head):
        rows += layer_rows(stem)
        rows += [
            Same(f"{stem}{side}.{theirs}", f"{side}.embed.{ours}")
            for side in ("encoder", "decoder")
            for theirs, ours in _EMBED
        ]
    return (*rows, *shared_table_rows(stems(spec.head), head="lm_head.weight"))


BART = Family("bart", (_LANGUAGE, _BARE), translate, to_config, table)
