"""What Llama's descendants have in common in GGUF: sizes, heads, positions and the names within a block.

Metadata are turned into the config that Hugging Face would have written, so that one translator reads both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from clearformer.checkpoint.renames import Ignored, Row, Same, Table, Tied
from clearformer.checkpoint.tensor_file import TensorFile
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.gguf import rotary as rope
from clearformer.families.gguf.form import GGUFForm, Metadata, Said, refuse
from clearformer.families.gguf.values import decimal, rows_of
from clearformer.families.rope import write_rotary
from clearformer.messages import families as say
from clearformer.spec import Attention, DecoderOnly, Experts, Gated, Language, RMSNorm, Rotary, Spec, Tokens

Pairs = tuple[tuple[str, str], ...]
"""llama.cpp's name and ours, within one block."""

ATTENTION: Pairs = (
    ("attn_q", "attention.query"),
    ("attn_k", "attention.key"),
    ("attn_v", "attention.value"),
    ("attn_output", "attention.output"),
)
GATED: Pairs = (("ffn_gate", "feedforward.gate"), ("ffn_up", "feedforward.up"), ("ffn_down", "feedforward.down"))
NORMS: Pairs = (("attn_norm", "attention_norm"), ("ffn_norm", "feedforward_norm"))
HEAD_NORMS: Pairs = (("attn_q_norm", "attention.query_norm"), ("attn_k_norm", "attention.key_norm"))
# Bookkeeping of the converter.
_HARMLESS = ("split.no", "split.count", "split.tensors.count")


@dataclass(frozen=True)
class Parts:
    """A decoder of this shape, by its first block; whatever differs from it is found when the file is read back."""

    spec: DecoderOnly
    tokens: Tokens
    attention: Attention
    rotary: Rotary
    feedforward: Gated | Experts
    norm: RMSNorm

    @property
    def layers(self) -> int:
        return len(self.spec.decoder.blocks)

    @property
    def gated(self) -> Gated | None:
        """The gated network of the block, or of each of its experts."""
        inner = self.feedforward.expert if isinstance(self.feedforward, Experts) else self.feedforward
        return inner if isinstance(inner, Gated) else None


def parts_of(spec: Spec) -> Parts | None:
    if not isinstance(spec, DecoderOnly) or not spec.decoder.blocks:
        return None
    block, norm, tokens = spec.decoder.blocks[0], spec.decoder.final_norm, spec.decoder.input
    attention, feedforward = block.attention, block.feedforward
    if not isinstance(norm, RMSNorm) or not isinstance(tokens, Tokens) or not isinstance(attention, Attention):
        return None
    if not isinstance(feedforward, Gated | Experts) or not isinstance(attention.position, Rotary):
        return None
    parts = Parts(spec, tokens, attention, attention.position, feedforward, norm)
    return parts if parts.gated else None


def read_sizes(metadata: ConfigReader, tensors: TensorFile, words: rope.Words) -> Metadata:
    """The keys of a config that all of them have."""
    stem = words.stem
    width = metadata.whole(f"{stem}embedding_length")
    heads = metadata.whole(f"{stem}attention.head_count")
    if not metadata.has(f"{stem}attention.key_length") and width % heads:
        metadata.contradiction(f"{stem}embedding_length", f"{stem}attention.head_count", say.HEADS_DO_NOT_DIVIDE_WIDTH)
    kv_heads = metadata.whole(f"{stem}attention.head_count_kv", heads)
    if heads % kv_heads:
        first, second = f"{stem}attention.head_count", f"{stem}attention.head_count_kv"
        metadata.contradiction(first, second, say.KV_HEADS_DO_NOT_DIVIDE)
    key_width = metadata.whole(f"{stem}attention.key_length", max(width // heads, 1))
    metadata.only(f"{stem}attention.value_length", key_width)
    metadata.only(f"{stem}attention.causal", True)
    metadata.harmless(_HARMLESS)
    context = metadata.whole(f"{stem}context_length")
    rotary = rope.read_rotary(metadata, tensors, words, key_width, context)
    return {
        "hidden_size": width,
        "vocab_size": metadata.whole(f"{stem}vocab_size", rows_of(tensors, "token_embd.weight")),
        "intermediate_size": metadata.whole(f"{stem}feed_forward_length"),
        "num_hidden_layers": metadata.whole(f"{stem}block_count", limit=MAX_LAYERS),
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": key_width,
        "max_position_embeddings": context,
        "rms_norm_eps": decimal(metadata.number(f"{stem}attention.layer_norm_rms_epsilon")),
        "rope_parameters": write_rotary(rotary, key_width if words.partial else None),
        "tie_word_embeddings": "output.weight" not in tensors.names(),
    }


def write_sizes(parts: Parts, words: rope.Words) -> Said:
    """The inverse."""
    assert parts.gated is not None
    attention, stem = parts.attention, words.stem
    keys, vectors = rope.write_rotary(parts.rotary, words, attention.key_width)
    metadata: Metadata = {
        f"{stem}vocab_size": parts.tokens.vocabulary,
        f"{stem}context_length": parts.spec.context,
        f"{stem}embedding_length": parts.spec.decoder.width,
        f"{stem}block_count": parts.layers,
        f"{stem}feed_forward_length": parts.gated.width,
        f"{stem}attention.head_count": attention.heads,
        f"{stem}attention.head_count_kv": attention.kv_heads,
        f"{stem}attention.key_length": attention.key_width,
        f"{stem}attention.value_length": attention.value_width,
        f"{stem}attention.layer_norm_rms_epsilon": parts.norm.eps,
        **keys,
    }
    return Said(metadata, vectors)


def require_heads_fill_width(architecture: str, parts: Parts) -> None:
    """llama.cpp builds some architectures' queries as wide as the stack, whatever `key_length` says."""
    width, attention = parts.spec.decoder.width, parts.attention
    if attention.heads * attention.key_width != width:
        refuse(architecture, "key_width", attention.key_width, f"{width} / {attention.heads}")


def require_tied(architecture: str, parts: Parts) -> None:
    """llama.cpp knows no head of its own for some architectures."""
    if isinstance(parts.spec.head, Language) and not parts.spec.head.tied:
        refuse(architecture, "tied", False, True)


def block_rows(layer: Pairs, row: Callable[[str, str], Row] = Same) -> list[Row]:
    """Rows of the tensors with these names in each block, weights and biases; `row` makes them."""
    return [
        row(f"blk.{{i}}.{theirs}.{kind}", f"decoder.blocks.{{i}}.{ours}.{kind}")
        for theirs, ours in layer
        for kind in ("weight", "bias")
    ]


def decoder_table(blocks: Iterable[Row], norm: Callable[[str, str], Row] = Same) -> Table:
    """The table around the rows of the blocks; `norm` makes the final norm's row."""
    rows: list[Row | Tied | Ignored] = [
        Same("token_embd.weight", "decoder.embed.token.weight"),
        norm("output_norm.weight", "decoder.final_norm.weight"),
        Same("output.weight", "head.project.weight"),
        *blocks,
    ]
    return tuple(rows)


def divisors_ignored(divisors: rope.Divisors) -> tuple[Ignored, ...]:
    """The tensors of divisors that an architecture reads."""
    names = {"none": (), "by length": (rope.LONG, rope.SHORT), "one or by length": (rope.FREQS, rope.LONG, rope.SHORT)}
    return tuple(
        Ignored(name, "read with the metadata, as a scaling of the rotary positions") for name in names[divisors]
    )


@dataclass(frozen=True)
class Dialect:
    """What one architecture adds: `read` gives further keys of the config and `write` further metadata; `translate` is
    the family's own, `language` its class with a language head."""

    architecture: str
    language: str
    translate: Callable[[ConfigReader, str], Spec]
    table: Callable[[Spec], Table]
    read: Callable[[ConfigReader, TensorFile, Metadata], Metadata] = lambda metadata, tensors, sizes: {}
    write: Callable[[Parts], Metadata] = lambda parts: {}
    rotary: rope.Words | None = None


def decoder_form(dialect: Dialect) -> GGUFForm:
    words = dialect.rotary or rope.Words(f"{dialect.architecture}.")

    def translate(metadata: ConfigReader, tensors: TensorFile) -> Spec:
        sizes = read_sizes(metadata, tensors, words)
        config = ConfigReader(sizes | dialect.read(metadata, tensors, sizes), tensors.path)
        return dialect.translate(config, dialect.language)

    def describe(spec: Spec) -> Said | None:
        if (parts := parts_of(spec)) is None:
            return None
        said = write_sizes(parts, words)
        return Said({**said.metadata, **dialect.write(parts)}, said.vectors)

    return GGUFForm(dialect.architecture, translate, describe, dialect.table)
