"""The same kinds of faults in other idioms: lists of heads, buffers, sequence first, start_pos, edited models."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from doctor.corpus.case import Parts, faulty
from doctor.corpus.decoding import nucleus
from doctor.corpus.hand_written import HEADS, LAYERS, VOCAB, WIDTH, Attention, Block, Decoder
from doctor.corpus.healthy_families import LLAMA_LIKE, of_hugging_face
from doctor.corpus.other_hands import HeadsInAList, Lecture, OneHead, Pooled, SequenceFirst, StartPos
from doctor.corpus.padding_faults import Encoder, encoder
from doctor.corpus.sight_faults import decoder, translator


@faulty("scale wrong", report="N1")
def every_head_scaled_by_the_embedding() -> Parts:
    class Wide(OneHead):
        def weights(self, query: Tensor, key: Tensor) -> Tensor:
            scores = query @ key.transpose(1, 2) * WIDTH**-0.5
            length = query.shape[1]
            return F.softmax(scores.masked_fill(self.tril[:length, :length] == 0, float("-inf")), dim=-1)

    return decoder(Lecture(partial(HeadsInAList, Wide)))


@faulty("softmax over the wrong axis", report="M7")
def every_head_normalised_over_its_queries() -> Parts:
    class Queries(OneHead):
        def weights(self, query: Tensor, key: Tensor) -> Tensor:
            scores = query @ key.transpose(1, 2) * query.shape[-1] ** -0.5
            length = query.shape[1]
            return torch.softmax(scores.masked_fill(self.tril[:length, :length] == 0, float("-inf")), 1)

    return decoder(Lecture(partial(HeadsInAList, Queries)))


@faulty("mask inverted", report="M1")
def buffer_of_ones_above_the_diagonal() -> Parts:
    class Upper(OneHead):
        def __init__(self, size: int) -> None:
            super().__init__(size)
            self.tril = torch.triu(torch.ones(64, 64))

    return decoder(Lecture(partial(HeadsInAList, Upper)))


@faulty("batch first missing", report="P1")
def torch_encoder_of_sequences_first_fed_rows_first() -> Parts:
    class RowsFirst(SequenceFirst):
        def forward(self, ids: Tensor) -> Tensor:
            x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
            return self.head(self.stack(x, mask=nn.Transformer.generate_square_subsequent_mask(len(ids))))

    return decoder(RowsFirst())


@faulty("positions restart with the cache", "offset after prefill", report="C4")
def angles_always_from_the_start() -> Parts:
    class Fixed(StartPos):
        def places(self, start_pos: int, length: int) -> Tensor:
            return torch.arange(length)

    return decoder(Fixed())


@faulty("prefill not causal", "no causal mask", report="C2")
def mask_only_while_training() -> Parts:
    class Open(StartPos):
        def hidden(self, start_pos: int, length: int) -> Tensor | None:
            return super().hidden(start_pos, length) if self.training else None

    return decoder(Open())


@faulty("padding pooled in", "padding mask without effect", report="B5")
def mean_over_padding() -> Parts:
    class Plain(Pooled):
        def pooled(self, x: Tensor, attention_mask: Tensor | None) -> Tensor:
            return x.mean(1)

    return encoder(Plain())


@faulty("positions on the batch axis", report="P1")
def positions_of_sequence_first_in_rows_first() -> Parts:
    class Rows(Encoder):
        def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
            x = self.tokens(input_ids) + self.places(torch.arange(input_ids.size(0))).unsqueeze(1)
            for block in self.blocks:
                x = block(x, attention_mask)
            return self.head(self.norm(x))

    return encoder(Rows())


@faulty("residual missing", report="N3")
def second_sublayer_without_a_residual() -> Parts:
    class Half(Block):
        def forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
            x = x + self.attention(self.norm1(x), padding=padding)
            return self.feedforward(self.norm2(x))

    return decoder(Decoder(block=Half))


@faulty("scale missing", "scale wrong", report="N1")
def published_model_without_its_scale() -> Parts:
    parts = of_hugging_face("Llama", LLAMA_LIKE | {"attn_implementation": "eager"}, {})
    for layer in parts["model"].model.layers:
        layer.self_attn.scaling = 1.0
    return parts


@faulty("tied weights separate", report="I5")
def published_model_with_its_head_copied() -> Parts:
    parts = of_hugging_face("Llama", LLAMA_LIKE | {"tie_word_embeddings": True}, {})
    model = parts["model"]
    model.lm_head.weight = nn.Parameter(model.get_input_embeddings().weight.detach().clone())
    return parts


@faulty("no causal mask", report="M3")
def published_model_made_to_read_both_ways() -> Parts:
    parts = of_hugging_face("GPT2", {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 60}, {})

    def open_forward(self: Any, hidden_states: Tensor, *_: Any, **__: Any) -> tuple[Tensor, None]:
        rows, length, width = hidden_states.shape
        split = (each.view(rows, length, 4, -1).transpose(1, 2) for each in self.c_attn(hidden_states).chunk(3, -1))
        read = F.scaled_dot_product_attention(*split)
        return self.c_proj(read.transpose(1, 2).reshape(rows, length, width)), None

    for block in parts["model"].transformer.h:
        block.attn.forward = open_forward.__get__(block.attn)
    return parts


@faulty("heads merged without transpose", "heads split without transpose", report="M8")
def heads_swapped_by_a_view() -> Parts:
    class Swapped(Attention):
        def merge(self, x: Tensor) -> Tensor:
            return x.contiguous().view(len(x), -1, WIDTH)

    return decoder(Decoder(Swapped))


@faulty("mask off by one", report="M1")
def kernel_mask_with_its_diagonal_moved() -> Parts:
    class Kernel(Attention):
        def attend(self, query: Tensor, key: Tensor, value: Tensor, hidden: Tensor | None) -> Tensor:
            seen = torch.tril(torch.ones(query.shape[2], key.shape[2], dtype=torch.bool), diagonal=1)
            return F.scaled_dot_product_attention(query, key, value, attn_mask=seen)

    class Forgetting(Decoder):
        def forward(self, tokens: Tensor) -> Tensor:
            return super().forward(tokens)

    return decoder(Forgetting(Kernel))


@faulty("no causal mask", report="M3")
def translator_masks_its_source_instead() -> Parts:
    class Masked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.source, self.target = nn.Embedding(VOCAB, WIDTH), nn.Embedding(VOCAB, WIDTH)
            self.transformer = nn.Transformer(WIDTH, HEADS, LAYERS, LAYERS, 64, 0.0, batch_first=True)
            self.generator = nn.Linear(WIDTH, VOCAB)

        def forward(self, src: Tensor, trg: Tensor) -> Tensor:
            mask = nn.Transformer.generate_square_subsequent_mask(src.shape[1])
            read = self.transformer(self.source(src), self.target(trg), src_mask=mask)
            return self.generator(read)

    return translator(Masked())


@faulty("kept tokens are not the most probable", "top-k keeps the wrong number", report="G4")
def excluded_tokens_set_to_nought() -> Parts:
    def nought(logits: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Tensor:
        logits = logits / max(temperature, 1e-6)
        if top_k:
            least = logits.topk(top_k, -1).values[..., -1:]
            logits = torch.where(logits < least, 0.0, logits)
        return nucleus(logits, top_p) if top_p < 1 else logits

    return {"sample": nought, "vocab_size": VOCAB}


@faulty("padding counted in the loss", report="L6")
def pads_of_nought_are_targets() -> Parts:
    def collate(rows: list[Any]) -> tuple[Tensor, Tensor]:
        ids = [torch.as_tensor(row["input_ids"] if isinstance(row, dict) else row) for row in rows]
        whole = nn.utils.rnn.pad_sequence(ids, batch_first=True)
        return whole[:, :-1], whole[:, 1:]

    def loss(logits: Tensor, targets: Tensor) -> Tensor:
        return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))

    return {"model": Decoder(), "kind": "decoder", "vocab_size": VOCAB, "loss": loss, "collate": collate, "pad_id": 0}
