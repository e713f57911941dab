"""Today's decoder in PyTorch, in one file: built, trained on a toy in seconds, and generating from a cache.

    python transformer_pytorch.py

Norms first, rotary positions, grouped queries, SwiGLU, one table for input and output: a small Llama.
Letters for shapes: B batch · T query positions · S key positions · D model width · H query heads · G key/value
heads · K head width · F feed-forward width · V vocabulary.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

IGNORED = -100  # a target that the loss leaves out


@dataclass(frozen=True)
class Config:
    """`dropout` falls on the attention weights and on what each sublayer adds; 0 outside of training."""

    vocabulary: int = 16
    width: int = 64
    layers: int = 2
    heads: int = 4
    kv_heads: int = 2
    hidden: int = 160
    rope_base: float = 10000.0
    dropout: float = 0.0

    @property
    def head_width(self) -> int:
        return self.width // self.heads


class Cache:
    """Room for the keys and values of `capacity` tokens, and which of those tokens are real.

    Attention writes at `length`; the model moves `length` on once every layer has written.
    """

    def __init__(self, config: Config, batch: int, capacity: int) -> None:
        room = (config.layers, batch, config.kv_heads, capacity, config.head_width)
        self.keys, self.values = torch.zeros(room), torch.zeros(room)
        self.real = torch.zeros(batch, capacity, dtype=torch.bool)
        self.length = 0

    def append(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """New keys and values B G T K in; those of all tokens so far, B G S K, out."""
        end = self.length + key.shape[2]
        self.keys[layer, :, :, self.length : end] = key
        self.values[layer, :, :, self.length : end] = value
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]


@dataclass(frozen=True)
class Context:
    """What every layer needs to know about the tokens: angles of their positions, and who sees whom."""

    cos: Tensor  # B 1 T K/2
    sin: Tensor
    visible: Tensor  # B 1 T S


class RMSNorm(nn.Module):
    """x / √(mean(x²) + eps) · weight (arXiv 1910.07467)."""

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x: Tensor) -> Tensor:
        return x * (x.square().mean(-1, keepdim=True) + self.eps).rsqrt() * self.weight


def rotate(x: Tensor, context: Context) -> Tensor:
    """The pairs (i, i + K/2) of B · T K turned by their position's angles, so that scores follow distance."""
    first, second = x.chunk(2, dim=-1)
    cos, sin = context.cos, context.sin
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def masked_softmax(scores: Tensor, visible: Tensor) -> Tensor:
    """Shares of 1 over what a row may see, exactly 0 elsewhere; a row that sees nothing is zeros, gradient and all."""
    scores = scores.masked_fill(~visible, -torch.inf)
    highest = scores.amax(-1, keepdim=True).detach()
    raised = (scores - highest.masked_fill(highest == -torch.inf, 0.0)).exp()
    total = raised.sum(-1, keepdim=True)
    return raised / total.masked_fill(total == 0, 1.0)


class Attention(nn.Module):
    """softmax(Q Kᵀ / √K) V, where query head h reads key/value head h // (H / G) (arXiv 1706.03762, 2305.13245)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        together = config.kv_heads * config.head_width
        self.query = nn.Linear(config.width, config.width, bias=False)
        self.key = nn.Linear(config.width, together, bias=False)
        self.value = nn.Linear(config.width, together, bias=False)
        self.output = nn.Linear(config.width, config.width, bias=False)

    def forward(self, x: Tensor, context: Context, cache: Cache | None, layer: int) -> Tensor:
        query, key, value = (self.split(part(x)) for part in (self.query, self.key, self.value))
        query, key = rotate(query, context), rotate(key, context)
        if cache is not None:
            key, value = cache.append(layer, key, value)
        sharing = self.config.heads // self.config.kv_heads
        key, value = key.repeat_interleave(sharing, dim=1), value.repeat_interleave(sharing, dim=1)
        scores = query @ key.mT / math.sqrt(self.config.head_width)
        weights = F.dropout(masked_softmax(scores, context.visible), self.config.dropout, self.training)
        return self.output((weights @ value).transpose(1, 2).flatten(2))

    def split(self, x: Tensor) -> Tensor:
        """B T H·K → B H T K."""
        return x.unflatten(-1, (-1, self.config.head_width)).transpose(1, 2)


class FeedForward(nn.Module):
    """SwiGLU: (silu(x W_gate) ⊙ x W_up) W_down (arXiv 2002.05202)."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    """x + attention(norm(x)), then x + feedforward(norm(x))."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.attention_norm, self.attention = RMSNorm(config.width), Attention(config)
        self.feedforward_norm, self.feedforward = RMSNorm(config.width), FeedForward(config.width, config.hidden)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, context: Context, cache: Cache | None, layer: int) -> Tensor:
        x = x + self.dropout(self.attention(self.attention_norm(x), context, cache, layer))
        return x + self.dropout(self.feedforward(self.feedforward_norm(x)))


class Decoder(nn.Module):
    """Ids B T → logits B T V."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.token = nn.Embedding(config.vocabulary, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.final_norm = RMSNorm(config.width)
        self.apply(self.initialise)

    def forward(self, ids: Tensor, real: Tensor | None = None, cache: Cache | None = None) -> Tensor:
        """`real` B T is False at padding. With a cache, `ids` continues what the cache has seen."""
        context = self.context(torch.ones_like(ids, dtype=torch.bool) if real is None else real, cache)
        x = self.token(ids)
        for layer, block in enumerate(self.blocks):
            x = block(x, context, cache, layer)
        if cache is not None:
            cache.length += ids.shape[1]
        return self.final_norm(x) @ self.token.weight.T

    def context(self, real: Tensor, cache: Cache | None) -> Context:
        """Positions count real tokens and go on where the cache stopped; a key is seen if real and not later."""
        known, new = (0, real.shape[1]) if cache is None else (cache.length, real.shape[1])
        if cache is not None:
            cache.real[:, known : known + new] = real
            real = cache.real[:, : known + new]
        positions = (real.cumsum(-1) - 1).clamp(min=0)[:, known:]
        half = self.config.head_width // 2
        angles = positions[:, None, :, None] / self.config.rope_base ** (torch.arange(half) / half)
        index = torch.arange(known + new)
        causal = index <= index[known:, None]
        return Context(angles.cos(), angles.sin(), visible=(causal & real[:, None, :])[:, None])

    @staticmethod
    def initialise(module: nn.Module) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)


# ── Speaking ───────────────────────────────────────────────────────────────────────────────────────────────────────


@torch.inference_mode()
def generate(model: Decoder, prompt: Tensor, count: int, real: Tensor | None = None, cached: bool = True) -> Tensor:
    """The likeliest `count` tokens after each prompt B T, padded on the left where `real` is False: B count."""
    real = torch.ones_like(prompt, dtype=torch.bool) if real is None else real
    cache = Cache(model.config, len(prompt), prompt.shape[1] + count) if cached else None
    ids, written = prompt, []
    for _ in range(count):
        token = model(ids, real, cache)[:, -1].argmax(-1, keepdim=True)
        written.append(token)
        if cached:
            ids, real = token, torch.ones_like(token, dtype=torch.bool)
        else:
            ids, real = torch.cat([ids, token], 1), F.pad(real, (0, 1), value=True)
    return torch.cat(written, 1)


# ── Learning ───────────────────────────────────────────────────────────────────────────────────────────────────────


def sequences(length: int, vocabulary: int, strides: int) -> Tensor:
    """Every way to count round a circle of `vocabulary` integers: each start, each stride from 1 up. N length."""
    start, stride = torch.cartesian_prod(torch.arange(vocabulary), torch.arange(1, strides + 1)).T
    return (start[:, None] + stride[:, None] * torch.arange(length)) % vocabulary


def inputs_and_targets(ids: Tensor) -> tuple[Tensor, Tensor]:
    """The target of a position is the token after it: one shift to the left, made here and nowhere else.

    One token does not tell the stride, so the first target is not counted.
    """
    targets = ids[:, 1:].clone()
    targets[:, 0] = IGNORED
    return ids[:, :-1], targets


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy, in nats, over the targets that count."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)


@torch.inference_mode()
def accuracy(model: Decoder, ids: Tensor) -> float:
    """The share of next tokens that the likeliest token gets right."""
    inputs, targets = inputs_and_targets(ids)
    counted = targets != IGNORED
    return (model(inputs).argmax(-1) == targets)[counted].float().mean().item()


def train(model: Decoder, ids: Tensor, generator: torch.Generator, steps: int = 200, batch: int = 32) -> list[float]:
    """AdamW with a short warm-up, then a cosine down to a tenth. Returns the loss of each step."""
    peak, warm_up, losses = 3e-3, 20, []
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak, betas=(0.9, 0.95), weight_decay=0.1)
    for step in range(steps):
        share = (step - warm_up) / (steps - warm_up)
        factor = (step + 1) / warm_up if step < warm_up else 0.55 + 0.45 * math.cos(math.pi * share)
        for group in optimizer.param_groups:
            group["lr"] = peak * factor
        inputs, targets = inputs_and_targets(ids[torch.randint(len(ids), (batch,), generator=generator)])
        loss = loss_of(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)  # matrices this small cost more to share out than to multiply
    config = Config(dropout=0.1)
    model = Decoder(config)
    print(f"A decoder of {sum(p.numel() for p in model.parameters()):,} parameters learns to count round a circle.")
    ids = sequences(length=20, vocabulary=config.vocabulary, strides=3)
    ids = ids[torch.randperm(len(ids))]
    held_out, seen = ids[:12], ids[12:]  # no held-out sequence is ever trained on

    began = time.perf_counter()
    losses = train(model.train(), seen, torch.Generator().manual_seed(1))
    model.eval()
    blind, seconds = math.log(config.vocabulary), time.perf_counter() - began
    print(f"Loss {losses[0]:.3f} at first, where a blind guess costs ln {config.vocabulary} = {blind:.3f};")
    print(f"{losses[-1]:.3f} after {len(losses)} steps and {seconds:.1f} s.")
    share = accuracy(model, held_out)
    print(f"Next token right on sequences never seen: {share:.1%}.")
    assert abs(losses[0] - blind) < 0.3
    assert share > 0.95

    prompts = torch.tensor([[3, 5, 7, 9, 11], [0, 0, 0, 14, 15]])  # the second is two tokens, padded on the left
    real = torch.tensor([[True] * 5, [False] * 3 + [True] * 2])
    written = generate(model, prompts, 8, real)
    for row, (prompt, kept) in enumerate(zip(prompts, real, strict=True)):
        print(f"{prompt[kept].tolist()} goes on {written[row].tolist()}")
    assert torch.equal(written, generate(model, prompts, 8, real, cached=False))
    assert torch.equal(written[1:], generate(model, prompts[1:, 3:], 8))
    print("The cache changed no token, and neither did the padding. Every assertion held.")


if __name__ == "__main__":
    main()
