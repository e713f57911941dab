"""What a forward pass keeps for its backward pass: the inputs of products, norms and activation functions.

Counted as PyTorch keeps them in an eager step on a CPU in float32; a fused norm or activation keeps less. Recomputing
(Chen et al. 2016, arXiv 1604.06174) keeps each block's input alone and holds one block's at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from clearformer.cost.formula import ONE, TWO, ZERO, Formula, largest, letter, number, total
from clearformer.cost.sides import over_blocks
from clearformer.cost.weights import width_of
from clearformer.cost.work import Kernel, Pass, Work, passes, patches
from clearformer.spec import (
    Activation,
    AnyAttention,
    Attention,
    Block,
    Dense,
    Experts,
    FeedForward,
    Gated,
    Language,
    LatentAttention,
    Norm,
    Parallel,
    Patches,
    RMSNorm,
    Series,
    Spec,
    Tokens,
    Transform,
)


@dataclass(frozen=True)
class Activations:
    """In bytes. `blocks` is what they keep. On top of it comes `loss`: what input, final norm, head and loss keep, and
    the loss's gradients; and when these have gone `backward`: what the last block's backward pass works with.
    """

    blocks: Formula
    loss: Formula
    backward: Formula
    scores: Formula

    @property
    def whole(self) -> Formula:
        """At the fullest moment."""
        return self.blocks + largest(self.loss, self.backward)

    @property
    def bytes(self) -> int:
        return self.whole.value


def activations(spec: Spec, work: Work, *, kernel: Kernel, recompute: bool) -> Activations:
    """Of one training pass over the work; `scores` is one block's table of B·H·T·S, the largest."""
    each_bytes, found = number(work.bytes_each), passes(spec, work)
    kept = total(_inputs(each) if recompute else _all_blocks(each, kernel) for each in found)
    loss = largest(*(loss_working(each) for each in found))
    return Activations(
        each_bytes * kept,
        each_bytes * (total(ends(each) for each in found) + loss),
        each_bytes * largest(*(_block_working(each, kernel, recompute) for each in found)),
        each_bytes * largest(*(_tables(each) for each in found)),
    )


def _all_blocks(each: Pass, kernel: Kernel) -> Formula:
    return each.rows * each.queries * over_blocks(each.side.stack, lambda block: kept_by(block, each, kernel))


def _inputs(each: Pass) -> Formula:
    return each.rows * each.queries * over_blocks(each.side.stack, lambda block: width_of(each.side.stack))


def _block_working(each: Pass, kernel: Kernel, recompute: bool) -> Formula:
    """The gradients of the last block's largest tensors; recomputed, the largest block's own numbers as well."""
    moments = [ZERO]
    for block in {id(block): block for block in each.side.stack.blocks}.values():
        F = _hidden(block.feedforward)
        pairs = [each.keys * letter("H", block.attention.heads)] if materialised(block.attention, kernel) else []
        tiles = [_in_blocks(block.attention)] if kernel == "tiled" else []
        largest_two = largest(TWO * F, *(TWO * pair for pair in pairs), *tiles)
        # The block's input is kept already.
        again = kept_by(block, each, kernel) - width_of(each.side.stack) if recompute else ZERO
        moments.append(again + largest_two)
    return each.rows * each.queries * largest(*moments)


def _in_blocks(spec: AnyAttention) -> Formula:
    """What tiles work with in the backward pass, a position: inputs, the output's gradient and its product, in blocks,
    and each input's gradient."""
    H, K, U = letter("H", spec.heads), letter("K", spec.key_width), letter("U", spec.value_width)
    R = letter("R", spec.rotary_width) if isinstance(spec, LatentAttention) else ZERO
    G = letter("G", spec.kv_heads) if isinstance(spec, Attention) else H
    return TWO * (H * (K + R) + G * (K + R + U)) + TWO * H * U


def _hidden(spec: FeedForward) -> Formula:
    match spec:
        case Dense() | Gated():
            return letter("F", spec.width)
        case Experts():
            # One expert's gradients at a time, on its share of the tokens.
            return ZERO if spec.shared is None else letter("F", spec.shared.width)
        case _:
            assert_never(spec)


def _tables(each: Pass) -> Formula:
    heads = [letter("H", block.attention.heads) for block in each.side.stack.blocks]
    return each.rows * each.queries * each.keys * largest(ZERO, *heads)


def kept_by(block: Block, each: Pass, kernel: Kernel) -> Formula:
    """Numbers a position that one block keeps: its sublayers', and around them the stream, norms and dropout masks."""
    D = width_of(each.side.stack)
    sublayers = [
        attended(block.attention, each.keys, kernel),
        computed(block.feedforward, D),
    ]
    norms: list[Norm | None] = [block.attention_norm, block.feedforward_norm]
    if block.cross_attention is not None:
        sublayers.append(attended(block.cross_attention, each.memory, kernel))
        norms.append(block.cross_norm)
    masks = number(len(sublayers)) * D if block.dropout else ZERO
    if isinstance(block.arrangement, Parallel):
        around = D + total(normed(norm, D) for norm in norms)
    else:
        sandwich = block.arrangement.placement == "sandwich"
        around = total(D + (TWO if sandwich else ONE) * normed(norm, D) for norm in norms)
    return total(sublayers) + around + masks


def normed(spec: Norm | None, width: Formula) -> Formula:
    """What a norm adds to what it reads: its output, and for an RMSNorm the vector before its weight."""
    if spec is None:
        return ZERO
    return TWO * width if isinstance(spec, RMSNorm) else width


def materialised(spec: AnyAttention, kernel: Kernel) -> bool:
    """Whether the table of scores is held: no fused kernel bends scores, and none on a CPU drops weights; tiles do
    both."""
    bends = spec.dropout > 0 or (isinstance(spec, Attention) and spec.score_cap is not None)
    return kernel == "plain" or (kernel == "sdpa" and bends)


def attended(spec: AnyAttention, keys: Formula, kernel: Kernel) -> Formula:
    """Numbers a query position: queries, keys, values, the mixed heads, and the tables where they are held."""
    H, U = letter("H", spec.heads), letter("U", spec.value_width)
    match spec:
        case Attention():
            K, G = letter("K", spec.key_width), letter("G", spec.kv_heads)
            read = H * K + G * K + G * U
            if spec.qk_norm is not None:
                read = read + normed(spec.qk_norm.norm, H * K + G * K)
            capped = spec.score_cap is not None
        case LatentAttention():
            K, R, Z = letter("K", spec.key_width), letter("R", spec.rotary_width), letter("Z", spec.kv_rank)
            low = ZERO if spec.query_rank is None else letter("Z", spec.query_rank)
            latents = Z + R + normed(spec.norm, Z) + low + (normed(spec.norm, low) if low.value else ZERO)
            read, capped = TWO * H * (K + R) + H * U + latents, False
        case _:
            assert_never(spec)
    if not materialised(spec, kernel):
        # The log of each softmax's sum is all that a fused kernel keeps of the scores.
        return read + H * U + H
    tables = ONE + (TWO if spec.dropout else ZERO) + (ONE if capped else ZERO)
    return read + H * U + tables * H * keys


def computed(spec: FeedForward, width: Formula) -> Formula:
    """Numbers a position that the feed-forward network keeps."""
    match spec:
        case Dense() | Gated():
            return network(spec)
        case Experts():
            E, chosen = letter("E", spec.count), number(spec.active)
            # Each expert reads a copy of its tokens; its answer is kept, to be weighed.
            routed = chosen * (network(spec.expert) + TWO * width)
            shared = ZERO if spec.shared is None else network(spec.shared)
            gate = width if spec.shared_gate else ZERO
            return routed + shared + gate + TWO * E
        case _:
            assert_never(spec)


def network(spec: Dense | Gated) -> Formula:
    """Before and behind the activation, the gate's product, and dropout's mask."""
    F, dropped = letter("F", spec.width), int(spec.dropout > 0)
    match spec:
        case Dense():
            if keeps_result(spec.activation):
                return number(1 + 2 * dropped) * F
            return number(before(spec.activation) + 1 + dropped) * F
        case Gated():
            inner = 0 if keeps_result(spec.activation) else before(spec.activation)
            return number(inner + 3 + dropped) * F
        case _:
            assert_never(spec)


def keeps_result(name: Activation) -> bool:
    """Whether an activation's derivative is reckoned from its result."""
    return name in ("relu", "tanh")


def before(name: Activation) -> int:
    """How many vectors the others keep: their input, and quick_gelu its sigmoid."""
    return 2 if name == "quick_gelu" else 1


def ends(each: Pass) -> Formula:
    """What input, final norm, head and loss keep."""
    stack, D = each.side.stack, width_of(each.side.stack)
    found = normed(stack.final_norm, D)
    if stack.final_norm is not None or isinstance(each.side.head, Language):
        found = found + D
    if stack.input.dropout:
        found = found + D
    if isinstance(stack.input, Tokens | Patches) and stack.input.norm is not None:
        found = found + normed(stack.input.norm, D)
    match stack.input:
        case Patches(channels=channels, patch=patch):
            P = letter("P", patch)
            entered = each.rows * patches(each) * letter("C", channels) * P * P
        case Series(channels=channels, patch=patch, independent=independent):
            together = ONE if independent else letter("C", channels)
            entered = each.rows * each.queries * letter("P", patch) * together
        case Tokens():
            entered = ZERO
        case _:
            assert_never(stack.input)
    return entered + each.rows * each.queries * (found + _language(each))


def _language(each: Pass) -> Formula:
    """A language head's own, and the logarithms of the probabilities that the loss keeps."""
    head, source = each.side.head, each.side.stack.input
    if not isinstance(head, Language) or not isinstance(source, Tokens):
        return ZERO
    V, D = letter("V", source.vocabulary), width_of(each.side.stack)
    scaled = D if head.hidden_scale != 1.0 else ZERO
    return V + (V if head.cap is not None else ZERO) + scaled + _transformed(head.transform, D)


def _transformed(spec: Transform | None, width: Formula) -> Formula:
    if spec is None:
        return ZERO
    inner = ONE if keeps_result(spec.activation) else number(before(spec.activation) + 1)
    return inner * width + normed(spec.norm, width)


def loss_working(each: Pass) -> Formula:
    """The gradients of log-probabilities and logits, while the logarithms are still held."""
    source = each.side.stack.input
    if not isinstance(each.side.head, Language) or not isinstance(source, Tokens):
        return ZERO
    return TWO * each.rows * each.queries * letter("V", source.vocabulary)
