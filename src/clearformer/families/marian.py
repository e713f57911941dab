"""Marian (Junczys-Dowmunt et al. 2018, arXiv 1804.00344), and with it the translators of OPUS-MT.

The paper's Transformer with a bias on everything, its sines before its cosines.
"""

from __future__ import annotations

from clearformer.checkpoint.renames import Ignored, Row, Same, Table, Tied
from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.families.heads import vocabulary_rows
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
from clearformer.messages import families as say
from clearformer.spec import EncoderDecoder, Language, Sinusoidal, Spec, Tokens

_ARCHITECTURE = "MarianMTModel"


def translate(config: ConfigReader, architecture: str) -> Spec:
    vocabulary = config.whole("vocab_size")
    written = config.whole("decoder_vocab_size", vocabulary)
    shared = config.flag("share_encoder_decoder_embeddings", True)
    if shared and written != vocabulary:
        config.contradiction("vocab_size", "decoder_vocab_size", say.ONE_TABLE, key="share_encoder_decoder_embeddings")
    if shared:
        # transformers 4 and 5 read such a config differently: as one table beside the head, and as two.
        config.only("tie_word_embeddings", True)
    require_plain(config)
    config.only("normalize_embedding", False)
    config.only("static_position_embeddings", True)
    sines = Sinusoidal(layout="halves")
    return EncoderDecoder(
        encoder=read_stack(config, "encoder", read_tokens(config, vocabulary, sines, None)),
        decoder=read_stack(config, "decoder", read_tokens(config, written, sines, None)),
        head=Language(config.flag("tie_word_embeddings", True), bias=True),
        context=config.whole("max_position_embeddings", 1024),
        shared_vocabulary=shared,
        initial=read_initial(config),
    )


def to_config(spec: Spec) -> dict[str, object] | None:
    if not isinstance(spec, EncoderDecoder) or (stacks := write_stacks(spec)) is None:
        return None
    source, target = spec.encoder.input, spec.decoder.input
    assert isinstance(source, Tokens)
    assert isinstance(target, Tokens)
    return {
        "architectures": [_ARCHITECTURE],
        "model_type": "marian",
        "vocab_size": source.vocabulary,
        "decoder_vocab_size": target.vocabulary,
        "share_encoder_decoder_embeddings": spec.shared_vocabulary,
        "tie_word_embeddings": spec.head.tied,
        **stacks,
    }


def table(spec: Spec) -> Table:
    assert isinstance(spec, EncoderDecoder)
    assert isinstance(spec.decoder.input, Tokens)
    rows: list[Row | Tied | Ignored] = [*bias_rows(spec.decoder.input.vocabulary)]
    rows += [row for stem in stems(spec.head) for row in layer_rows(stem)]
    if spec.shared_vocabulary:
        rows += shared_table_rows(stems(spec.head), head="lm_head.weight")
    else:
        for side in ("encoder", "decoder"):
            names = (f"{stem}{side}.embed_tokens.weight" for stem in stems(spec.head))
            rows += [Same(name, f"{side}.embed.token.weight") for name in names]
        tables = [f"{stem}decoder.embed_tokens.weight" for stem in stems(spec.head)]
        rows += vocabulary_rows(spec.head, "lm_head.weight", tables, "decoder.embed.token.weight")
    rows.append(Ignored("*coder.embed_positions.weight", "sines and cosines, kept as a table by old versions"))
    return tuple(rows)


MARIAN = Family("marian", (_ARCHITECTURE,), translate, to_config, table)
