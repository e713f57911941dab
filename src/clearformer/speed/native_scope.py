"""Which specs the compiled kernels run; without torch, as a price is asked for without it."""

from __future__ import annotations

from clearformer import spec as specs
from clearformer.messages import Message
from clearformer.messages import native as say


def native_lacks(spec: specs.Spec) -> Message | None:
    """What of a spec the kernels cannot do; None where they can run it."""
    if not isinstance(spec, specs.DecoderOnly) or not isinstance(spec.decoder.input, specs.Tokens):
        return say.NOT_A_DECODER
    if not isinstance(spec.head, specs.Language):
        return say.NO_LOGITS
    for index, block in enumerate(spec.decoder.blocks):
        if isinstance(block.attention, specs.LatentAttention):
            return say.filled(say.LATENT, block=index)
        visibility = block.attention.visibility
        if isinstance(visibility, specs.Causal) and visibility.prefix:
            return say.filled(say.PREFIX, block=index)
    return None
