"""Parameters and blocks: layers copied, shared or not registered, ties that are none, residuals, gradients cut."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from doctor.corpus.case import Parts, faulty
from doctor.corpus.hand_written import (
    HEADS,
    LAYERS,
    VOCAB,
    WIDTH,
    Attention,
    Block,
    CrossBlock,
    Decoder,
    EncoderDecoder,
    FeedForward,
)
from doctor.corpus.sight_faults import decoder, translator
from doctor.corpus.torch_modules import Embedded, later


class NormedResidual(Block):
    """The stream itself is normalised."""

    def forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
        x = self.norm1(x)
        x = x + self.attention(x, padding=padding)
        x = self.norm2(x)
        return x + self.feedforward(x)


class NoResidual(Block):
    def forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
        return self.feedforward(self.norm2(self.attention(self.norm1(x), padding=padding)))


class NormedCrossResidual(CrossBlock):
    def forward(self, x: Tensor, memory: Tensor, source_padding: Tensor | None = None) -> Tensor:
        x = self.norm1(x)
        x = x + self.attention(x)
        x = self.norm2(x)
        x = x + self.crossing(x, memory, source_padding)
        x = self.norm3(x)
        return x + self.feedforward(x)


@faulty("residual carries norm", report="N3")
def residual_of_the_normed() -> Parts:
    return decoder(Decoder(block=NormedResidual))


@faulty("residual carries norm", report="N3")
def residual_of_the_normed_encoder_decoder() -> Parts:
    return translator(EncoderDecoder(block=NormedCrossResidual))


@faulty("residual missing", report="N3")
def six_layers_without_residuals() -> Parts:
    return decoder(Decoder(block=NoResidual, layers=6))


@faulty("layers cloned", report="N4")
def layers_copied_from_one() -> Parts:
    model = Decoder(layers=3)
    model.blocks = nn.ModuleList(copy.deepcopy(model.blocks[0]) for _ in range(3))
    return decoder(model)


@faulty("layers cloned", report="N4")
def torch_encoder_copies_its_layer() -> Parts:
    class Copied(Embedded):
        def __init__(self) -> None:
            super().__init__()
            layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 64, batch_first=True)
            self.stack = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)

        def forward(self, ids: Tensor) -> Tensor:
            return self.head(self.stack(self.embed(ids), mask=later(ids.shape[1])))

    return decoder(Copied())


@faulty("layers shared", report="N4")
def one_layer_three_times() -> Parts:
    model = Decoder()
    model.blocks = nn.ModuleList([model.blocks[0]] * 3)
    return decoder(model)


@faulty("layers unregistered", report="N5")
def layers_in_a_list() -> Parts:
    class Listed(Decoder):
        def __init__(self) -> None:
            super().__init__()
            del self.blocks
            self.blocks = [Block(Attention()) for _ in range(LAYERS)]

    return decoder(Listed())


@faulty("layers unregistered", report="N5")
def heads_in_a_dictionary() -> Parts:
    class Kept(Decoder):
        def __init__(self) -> None:
            super().__init__()
            self.more = {"extra": FeedForward()}

        def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
            x = self.embed(input_ids, attention_mask)
            for block in self.blocks:
                x = block(x, attention_mask)
            return self.head(self.norm(x + self.more["extra"](x)))

    return decoder(Kept())


@faulty("initial scale", report="N6")
def embedding_and_head_of_unit_spread() -> Parts:
    model = Decoder()
    nn.init.normal_(model.tokens.weight)
    model.head.weight = model.tokens.weight
    return decoder(model)


@faulty("initial scale", report="N6")
def head_drawn_from_a_unit_normal() -> Parts:
    model = EncoderDecoder()
    nn.init.normal_(model.head.weight)
    return translator(model)


@faulty("tied weights separate", report="I5")
def head_is_a_copy_of_the_embedding() -> Parts:
    model = Decoder()
    model.head.weight = nn.Parameter(model.tokens.weight.clone())
    return decoder(model, tied=True)


@faulty("parameter unused", report="N5")
def second_projection_never_called() -> Parts:
    class Idle(FeedForward):
        def __init__(self) -> None:
            super().__init__()
            self.gate = nn.Linear(WIDTH, 4 * WIDTH)

    model = Decoder()
    for block in model.blocks:
        block.feedforward = Idle()
    return decoder(model)


@faulty("parameter unused", report="N5")
def values_made_by_the_key_projection() -> Parts:
    class Twice(Attention):
        def forward(self, x: Tensor, memory: Tensor | None = None, padding: Tensor | None = None) -> Tensor:
            query, key = self.split(self.query(x)), self.split(self.key(x))
            hidden = self.hidden(x.shape[1], x.shape[1])
            if padding is not None:
                hidden = hidden | ~padding.bool()[:, None, None, :]
            return self.out(self.merge(self.attend(query, key, key, hidden)))

    return decoder(Decoder(Twice))


@faulty("gradient cut", report="N5")
def lower_layers_detached() -> Parts:
    class Detached(Decoder):
        def embed(self, input_ids: Tensor, attention_mask: Tensor | None) -> Tensor:
            return super().embed(input_ids, attention_mask).detach()

    return decoder(Detached())


@faulty("gradient cut", report="N5")
def attention_read_without_a_gradient() -> Parts:
    class Silent(Attention):
        @torch.no_grad()
        def forward(self, *given: Any, **named: Any) -> Tensor:
            return super().forward(*given, **named)

    return translator(EncoderDecoder(Silent))


@faulty("probabilities as logits", report="N6")
def softmax_at_the_end_of_the_model() -> Parts:
    class Normalised(Decoder):
        def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
            return super().forward(input_ids, attention_mask).softmax(-1)

    return decoder(Normalised())


@faulty("view of non-contiguous", report="M8")
def view_after_a_transpose() -> Parts:
    class Viewed(Attention):
        def merge(self, x: Tensor) -> Tensor:
            rows, heads, length, size = x.shape
            return x.transpose(1, 2).view(rows, length, heads * size)

    return decoder(Decoder(Viewed))


@faulty("shapes disagree", "mask of a fixed length", report="M7")
def mask_of_the_full_length() -> Parts:
    class Fixed(Attention):
        def hidden(self, queries: int, keys: int) -> Tensor:
            return torch.ones(64, 64, dtype=torch.bool).triu(1)

    return decoder(Decoder(Fixed))


@faulty("dropout in evaluation", report="F4")
def kernel_drops_in_evaluation() -> Parts:
    class Kernel(Attention):
        def attend(self, query: Tensor, key: Tensor, value: Tensor, hidden: Tensor | None) -> Tensor:
            return F.scaled_dot_product_attention(query, key, value, is_causal=True, dropout_p=0.1)

    return decoder(Decoder(Kernel))


@faulty("state between calls", "dropout in evaluation", report="F4")
def a_running_mean_is_added() -> Parts:
    class Running(Decoder):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mean", torch.zeros(VOCAB))

        def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
            logits = super().forward(input_ids, attention_mask)
            self.mean = 0.9 * self.mean + 0.1 * logits.detach().mean((0, 1))
            return logits - self.mean

    return decoder(Running())
