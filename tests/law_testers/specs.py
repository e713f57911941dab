"""Specs for laws that few specs obey: drawn ones with the places taken out, a window put in, a level removed."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from clearformer import spec as s
from drawing.models import any_spec, decoders, encoder_decoders, forecasters, token_encoders


def without_positions(spec: s.SingleStack | s.EncoderDecoder) -> s.SingleStack | s.EncoderDecoder:
    """No position is added to the decoder's, or the encoder's, input."""
    if isinstance(spec, s.EncoderOnly):
        return replace(spec, encoder=_unplaced(spec.encoder))
    return replace(spec, decoder=_unplaced(spec.decoder))


def _unplaced(stack: s.Stack) -> s.Stack:
    return replace(stack, input=replace(stack.input, position=None))


def bare(spec: s.EncoderOnly) -> s.EncoderOnly:
    """An encoder that cannot tell its positions apart, and answers at each."""
    blocks = tuple(
        replace(block, attention=replace(block.attention, position=None, visibility=s.Full()))
        for block in spec.encoder.blocks
    )
    head = spec.head if isinstance(spec.head, s.Language) else s.Hidden()
    return replace(spec, encoder=replace(_unplaced(spec.encoder), blocks=blocks), head=head)


def windowed(spec: s.SingleStack) -> s.SingleStack:
    """Every block local, and an answer at each position."""
    stack = s.main_stack(spec)
    seen = s.Causal(window=3) if isinstance(spec, s.DecoderOnly) else s.Full(radius=2)
    blocks = tuple(replace(block, attention=replace(block.attention, visibility=seen)) for block in stack.blocks)
    head = spec.head if isinstance(spec.head, s.Language) else s.Hidden()
    role = "decoder" if isinstance(spec, s.DecoderOnly) else "encoder"
    return replace(spec, head=head, **{role: replace(stack, blocks=blocks)})


def levelled(spec: s.SingleStack) -> s.SingleStack:
    stack = s.main_stack(spec)
    source = replace(stack.input, normalise=s.ReversibleNorm(affine=True))
    role = "decoder" if isinstance(spec, s.DecoderOnly) else "encoder"
    return replace(spec, **{role: replace(stack, input=source)})


lawful_spec: st.SearchStrategy[s.Spec] = st.one_of(
    any_spec,
    any_spec,
    any_spec,
    st.one_of(decoders(), encoder_decoders()).map(without_positions),
    token_encoders().map(bare),
    st.one_of(decoders(), token_encoders()).map(windowed),
    forecasters().map(levelled),
)
