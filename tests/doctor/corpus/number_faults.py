"""Numbers that are none, in weights and in answers, and a forward pass behind which no gradient runs."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from doctor.corpus.case import Parts, faulty
from doctor.corpus.hand_written import Attention, Decoder, EncoderDecoder
from doctor.corpus.sight_faults import decoder, translator


@faulty("parameters not finite", report="F2")
def one_row_of_the_head_is_nan() -> Parts:
    model = Decoder()
    model.head.weight.data[3] = math.nan
    return decoder(model)


@faulty("parameters not finite", report="F2")
def an_embedding_full_of_infinities() -> Parts:
    model = EncoderDecoder()
    model.tokens.weight.data.fill_(math.inf)
    return translator(model)


@faulty("answers not finite", report="F2")
def norm_divides_by_nothing() -> Parts:
    class Divided(Decoder):
        def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
            logits = super().forward(input_ids, attention_mask)
            return logits / (logits - logits).norm(dim=-1, keepdim=True)

    return decoder(Divided())


@faulty("no gradient", report="N5")
def forward_without_gradients() -> Parts:
    class Silent(Decoder):
        @torch.no_grad()
        def forward(self, *given: Any, **named: Any) -> Tensor:
            return super().forward(*given, **named)

    return decoder(Silent())


@faulty("no gradient", report="N5")
def forward_in_inference_mode() -> Parts:
    class Inferring(EncoderDecoder):
        @torch.inference_mode()
        def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None) -> Tensor:
            return super().forward(src, tgt, src_mask)

    return translator(Inferring(Attention))


@faulty("no gradient", report="N5")
def logits_are_detached() -> Parts:
    class Detached(Decoder):
        def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
            return super().forward(input_ids, attention_mask).detach()

    return decoder(Detached())
