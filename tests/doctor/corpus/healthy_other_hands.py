"""Other idioms in which nothing is wrong."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from doctor.corpus.case import Parts, healthy
from doctor.corpus.hand_written import HEADS, LAYERS, VOCAB, WIDTH, Attention, Decoder
from doctor.corpus.other_hands import LastOnly, Lecture, Pooled, SequenceFirst, StartPos
from doctor.corpus.padding_faults import encoder
from doctor.corpus.sight_faults import decoder, translator


@healthy
def heads_in_a_list() -> Parts:
    return decoder(Lecture())


@healthy
def sequence_first_inside() -> Parts:
    return decoder(SequenceFirst())


@healthy
def cache_inside_from_a_start_position() -> Parts:
    return decoder(StartPos())


@healthy
def classifier_of_rows() -> Parts:
    return encoder(Pooled())


@healthy
def logits_of_the_last_position() -> Parts:
    return decoder(LastOnly())


@healthy
def first_token_always_seen() -> Parts:
    class Sink(Attention):
        def hidden(self, queries: int, keys: int) -> Tensor:
            apart = torch.arange(queries)[:, None] - torch.arange(keys)
            return (apart < 0) | ((apart >= 5) & (torch.arange(keys) > 0))

    return decoder(Decoder(Sink))


@healthy
def sequence_first_outside() -> Parts:
    class Outside(SequenceFirst):
        def forward(self, ids: Tensor) -> Tensor:
            x = self.tokens(ids) + self.places(torch.arange(ids.shape[0]))[:, None]
            return self.head(self.stack(x, mask=nn.Transformer.generate_square_subsequent_mask(len(ids))))

    return decoder(Outside())


@healthy
def translator_given_its_masks() -> Parts:
    class Given(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.source, self.target = nn.Embedding(VOCAB, WIDTH), nn.Embedding(VOCAB, WIDTH)
            self.transformer = nn.Transformer(WIDTH, HEADS, LAYERS, LAYERS, 64, 0.1, batch_first=True)
            self.generator = nn.Linear(WIDTH, VOCAB)

        def forward(self, src: Tensor, tgt: Tensor, tgt_mask: Tensor | None = None) -> Tensor:
            return self.generator(self.transformer(self.source(src), self.target(tgt), tgt_mask=tgt_mask))

    return translator(Given())


@healthy
def decoder_with_a_causal_convolution() -> Parts:
    class Convolved(Decoder):
        def __init__(self) -> None:
            super().__init__()
            self.convolution = nn.Conv1d(WIDTH, WIDTH, 3)

        def embed(self, input_ids: Tensor, attention_mask: Tensor | None) -> Tensor:
            x = super().embed(input_ids, attention_mask)
            if attention_mask is not None:
                x = x * attention_mask[..., None]
            return x + self.convolution(nn.functional.pad(x.transpose(1, 2), (2, 0))).transpose(1, 2)

    return decoder(Convolved())


class Blocked(Decoder):
    """Answers whole blocks of eight only, and says so."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        if input_ids.shape[1] % 8:
            raise ValueError("the length must be a multiple of 8")
        return super().forward(input_ids, attention_mask)


@healthy
def lengths_in_blocks_of_eight() -> Parts:
    return decoder(Blocked())


class Ending(Decoder):
    """The row's last position alone."""

    def forward(self, input_ids: Tensor) -> Tensor:
        return super().forward(input_ids)[:, -1]


@healthy
def the_last_position_alone() -> Parts:
    return decoder(Ending())


@healthy
def every_parameter_frozen() -> Parts:
    return decoder(Decoder().requires_grad_(False))
