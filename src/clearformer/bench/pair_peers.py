"""Other libraries' translation models of one shape, each set up as its users set it up, for the training bench.

All share one table between source, target and logits, norms stand first, and padding is masked as each library has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from clearformer.bench.shapes import PAD, PairShape
from clearformer.layers.positions.sinusoidal import sinusoids

PairLoss = Callable[..., Tensor]


class TorchPairs(nn.Module):
    """`nn.Transformer` with the embeddings, positions and masks that its tutorials put around it."""

    positions: Tensor
    ahead: Tensor

    def __init__(self, shape: PairShape) -> None:
        super().__init__()
        self.token = nn.Embedding(shape.vocabulary, shape.width, padding_idx=PAD)
        self.scale, self.dropout = math.sqrt(shape.width), nn.Dropout(shape.dropout)
        sizes = (shape.width, shape.heads, shape.hidden, shape.dropout)
        order: dict[str, Any] = {"batch_first": True, "norm_first": True}
        # Nested tensors, its default for padding, are for inference and not for norms that stand first.
        encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(*sizes, **order),
            shape.layers,
            nn.LayerNorm(shape.width),
            enable_nested_tensor=False,
        )
        self.stacks = nn.Transformer(
            shape.width,
            shape.heads,
            num_decoder_layers=shape.layers,
            dim_feedforward=shape.hidden,
            dropout=shape.dropout,
            custom_encoder=encoder,
            **order,
        )
        length = shape.longest + 1
        self.register_buffer("positions", sinusoids(torch.arange(length)[None], shape.width)[0].float())
        self.register_buffer("ahead", nn.Transformer.generate_square_subsequent_mask(length, dtype=torch.bool))
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        T = target.shape[1]
        hidden = self.stacks(
            self._embed(source),
            self._embed(target),
            tgt_mask=self.ahead[:T, :T],
            src_key_padding_mask=source == PAD,
            tgt_key_padding_mask=target == PAD,
            memory_key_padding_mask=source == PAD,
            tgt_is_causal=True,
        )
        return functional.linear(hidden, self.token.weight)

    def _embed(self, ids: Tensor) -> Tensor:
        return self.dropout(self.token(ids) * self.scale + self.positions[: ids.shape[1]])


def torch_pairs(shape: PairShape) -> tuple[nn.Module, PairLoss]:
    model = TorchPairs(shape)
    return model, lambda *batch: _smoothed(model(batch[0], batch[2][:, :-1]), batch[2][:, 1:], shape)


def marian(shape: PairShape) -> tuple[nn.Module, PairLoss]:
    """Marian of transformers; its users leave the loss to it, which smooths nothing: here the logits are smoothed."""
    from transformers import MarianConfig, MarianMTModel

    sides = {"layers": shape.layers, "attention_heads": shape.heads, "ffn_dim": shape.hidden}
    sizes: dict[str, Any] = {f"{side}_{name}": n for name, n in sides.items() for side in ("encoder", "decoder")}
    config = MarianConfig(
        vocab_size=shape.vocabulary,
        d_model=shape.width,
        dropout=shape.dropout,
        attention_dropout=shape.dropout,
        activation_function="relu",
        scale_embedding=True,
        max_position_embeddings=shape.longest + 1,
        pad_token_id=PAD,
        eos_token_id=3,
        decoder_start_token_id=2,
        use_cache=False,
        **sizes,
    )
    model = MarianMTModel(config)

    def loss(*batch: Tensor) -> Tensor:
        source, source_real, target, target_real = batch
        logits = model(
            input_ids=source,
            attention_mask=source_real.long(),
            decoder_input_ids=target[:, :-1],
            decoder_attention_mask=target_real[:, :-1].long(),
        ).logits
        return _smoothed(logits, target[:, 1:], shape)

    return model, loss


def joeynmt(shape: PairShape) -> tuple[nn.Module, PairLoss]:
    """JoeyNMT's Transformer with the settings of its small configurations, and its own loss."""
    from joeynmt.model import build_model
    from joeynmt.vocabulary import Vocabulary

    marks = {"unk_token": "<unk>", "pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
    numbers = {"unk_id": 0, "pad_id": PAD, "bos_id": 2, "eos_id": 3}
    words = [str(number) for number in range(len(marks), shape.vocabulary)]
    vocabulary = Vocabulary(words, SimpleNamespace(**marks, **numbers, lang_tags=[], sep_token=None))
    side = {
        "type": "transformer",
        "num_layers": shape.layers,
        "num_heads": shape.heads,
        "hidden_size": shape.width,
        "ff_size": shape.hidden,
        "dropout": shape.dropout,
        "layer_norm": "pre",
        "embeddings": {"embedding_dim": shape.width, "scale": True, "dropout": shape.dropout},
    }
    model = build_model(
        {"encoder": side, "decoder": side, "tied_embeddings": True, "tied_softmax": True}, vocabulary, vocabulary
    )
    model.loss_function = ("crossentropy", shape.smoothing)
    # Its loss is a divergence: short of the cross-entropy by the entropy of the smoothed targets.
    rest = shape.smoothing / (shape.vocabulary - 2)
    entropy = -(1 - shape.smoothing) * math.log(1 - shape.smoothing) - shape.smoothing * math.log(rest)

    def loss(*batch: Tensor) -> Tensor:
        source, source_real, target, target_real = batch
        predicted = target_real[:, 1:]
        total, *_ = model(
            return_type="loss",
            src=source,
            src_mask=source_real[:, None],
            src_length=source_real.sum(1),
            trg_input=target[:, :-1],
            trg=target[:, 1:],
            trg_mask=predicted[:, None],
        )
        return total / predicted.sum() + entropy

    return model, loss


# By name: the library that it needs, and its model with its loss over a batch.
PAIR_PEERS: dict[str, tuple[str | None, Callable[[PairShape], tuple[nn.Module, PairLoss]]]] = {
    "nn": (None, torch_pairs),
    "hf": ("transformers", marian),
    "joeynmt": ("joeynmt", joeynmt),
}


def _smoothed(logits: Tensor, targets: Tensor, shape: PairShape) -> Tensor:
    return functional.cross_entropy(
        logits.flatten(0, 1).float(), targets.flatten(), ignore_index=PAD, label_smoothing=shape.smoothing
    )
