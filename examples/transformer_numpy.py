"""The Transformer in NumPy, in one file: the paper's encoder-decoder (arXiv 1706.03762) and today's decoder.

    python transformer_numpy.py

Read it from top to bottom: attention, its sublayers, the two models, then what must hold of them, asserted.
Letters for shapes: B batch · T query positions · S key positions · D model width · H query heads · G key/value
heads · K head width · F feed-forward width · V vocabulary. Weights are a plain dictionary, matrices [out, in].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

Array = np.ndarray
Weights = dict[str, Array]

# ── Attention ──────────────────────────────────────────────────────────────────────────────────────────────────────


def masked_softmax(scores: Array, visible: Array) -> Array:
    """Each row becomes shares of 1 over what it may see, exactly 0 elsewhere; a row that sees nothing is all zeros."""
    scores = np.where(visible, scores, -np.inf)
    highest = scores.max(-1, keepdims=True)
    # exp of a large score overflows; softmax does not change when a row is shifted by its maximum.
    raised = np.exp(scores - np.where(np.isfinite(highest), highest, 0.0))
    total = raised.sum(-1, keepdims=True)
    return raised / np.where(total > 0, total, 1.0)


def scaled_dot_product_attention(query: Array, key: Array, value: Array, visible: Array) -> tuple[Array, Array]:
    """softmax(Q Kᵀ / √K) V (§3.2.1). query B H T K, key and value B G S K → output B H T K, weights B H T S."""
    sharing = query.shape[1] // key.shape[1]  # grouped queries: this many query heads read one key/value head
    key, value = np.repeat(key, sharing, axis=1), np.repeat(value, sharing, axis=1)
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    weights = masked_softmax(scores, visible)
    return weights @ value, weights


def split_heads(x: Array, heads: int) -> Array:
    """B T H·K → B H T K. No arithmetic: the same numbers, seen as H narrower sequences."""
    return x.reshape(*x.shape[:-1], heads, -1).swapaxes(-2, -3)


def merge_heads(x: Array) -> Array:
    """B H T K → B T H·K, the inverse of `split_heads`."""
    x = x.swapaxes(-2, -3)
    return x.reshape(*x.shape[:-2], -1)


def causal(queries: int, keys: int) -> Array:
    """T S, True where a query may look. The queries are the last of the keys, so a cached step sees all of its past."""
    return np.arange(keys) <= np.arange(keys - queries, keys)[:, None]


# ── What stands around it ──────────────────────────────────────────────────────────────────────────────────────────


def each_block(weights: Weights, stack: str) -> Iterator[Weights]:
    """The weights of every layer of a stack, first to last, their common prefix removed."""
    layers = {int(name.split(".")[2]) for name in weights if name.startswith(f"{stack}.blocks.")}
    for prefix in (f"{stack}.blocks.{layer}." for layer in sorted(layers)):
        yield {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}


def linear(weights: Weights, name: str, x: Array) -> Array:
    """x Wᵀ + b, where there is a b."""
    return x @ weights[f"{name}.weight"].T + weights.get(f"{name}.bias", 0.0)


def layer_norm(weights: Weights, name: str, x: Array, eps: float = 1e-5) -> Array:
    """Mean 0 and variance 1 over one token's own numbers, then a learnt scale and shift (arXiv 1607.06450)."""
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + eps)
    return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def rms_norm(weights: Weights, name: str, x: Array, eps: float = 1e-5) -> Array:
    """LayerNorm without the centring and the shift (arXiv 1910.07467)."""
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weights[f"{name}.weight"]


def feed_forward(weights: Weights, x: Array) -> Array:
    """relu(x W + b) W + b, every position alone (§3.3)."""
    return linear(weights, "feedforward.down", np.maximum(linear(weights, "feedforward.up", x), 0.0))


def swiglu(weights: Weights, x: Array) -> Array:
    """(silu(x W_gate) ⊙ x W_up) W_down (arXiv 2002.05202)."""
    gate = linear(weights, "feedforward.gate", x)
    return linear(weights, "feedforward.down", gate / (1.0 + np.exp(-gate)) * linear(weights, "feedforward.up", x))


def sinusoidal(positions: Array, width: int) -> Array:
    """Positions … → … D: sines on even places, cosines on odd, wavelengths from 2π to 10000·2π (§3.5)."""
    angles = positions[..., None] / 10000.0 ** (np.arange(0, width, 2) / width)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(*positions.shape, width)


def rotate(x: Array, positions: Array, base: float = 100000.0) -> Array:
    """The pairs (i, i + K/2) of … T K turned by position · base^(−2i/K): scores follow distance (arXiv 2104.09864)."""
    half = x.shape[-1] // 2
    angles = positions[:, None] / base ** (np.arange(half) / half)
    first, second = x[..., :half], x[..., half:]
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


# ── The paper: a source read both ways, a target written from left to right ────────────────────────────────────────


def multi_head_attention(weights: Weights, name: str, x: Array, memory: Array, visible: Array, heads: int) -> Array:
    """Queries from x (B T D), keys and values from memory (B S D); in self-attention memory is x (§3.2.2)."""
    query = split_heads(linear(weights, f"{name}.query", x), heads)
    key = split_heads(linear(weights, f"{name}.key", memory), heads)
    value = split_heads(linear(weights, f"{name}.value", memory), heads)
    output, _ = scaled_dot_product_attention(query, key, value, visible)
    return linear(weights, f"{name}.output", merge_heads(output))


def encode(weights: Weights, source: Array, real: Array, heads: int) -> Array:
    """Source ids B S, `real` False at padding → the memory, B S D. Every sublayer: x = norm(x + sublayer(x))."""
    x, seen = embed(weights["encoder.embed.token.weight"], source), real[:, None, None, :]
    for block in each_block(weights, "encoder"):
        x = layer_norm(block, "attention_norm", x + multi_head_attention(block, "attention", x, x, seen, heads))
        x = layer_norm(block, "feedforward_norm", x + feed_forward(block, x))
    return x


def decode(weights: Weights, target: Array, memory: Array, real: Array, heads: int) -> Array:
    """Target ids B T and the memory → logits B T V. A position sees its past, and the source but for its padding."""
    table = weights["encoder.embed.token.weight"]  # one table: source, target and output share it (§3.4)
    x, past, seen = embed(table, target), causal(target.shape[1], target.shape[1]), real[:, None, None, :]
    for block in each_block(weights, "decoder"):
        x = layer_norm(block, "attention_norm", x + multi_head_attention(block, "attention", x, x, past, heads))
        looked_up = multi_head_attention(block, "cross_attention", x, memory, seen, heads)
        x = layer_norm(block, "cross_norm", x + looked_up)
        x = layer_norm(block, "feedforward_norm", x + feed_forward(block, x))
    return x @ table.T


def embed(table: Array, ids: Array) -> Array:
    """Rows of the table times √D, plus where each stands: B T → B T D."""
    width = table.shape[1]
    return table[ids] * np.sqrt(width) + sinusoidal(np.arange(ids.shape[1]), width)


# ── Today: one stack, norms first, rotary positions, grouped queries, a cache ──────────────────────────────────────

Cache = list[tuple[Array, Array]]


def decoder_only(weights: Weights, ids: Array, heads: int, kv_heads: int, cache: Cache | None = None) -> Array:
    """Ids B T → logits B T V. With a cache, `ids` continues what the cache has seen, and is appended to it."""
    known = cache[0][0].shape[2] if cache else 0
    positions = np.arange(known, known + ids.shape[1])
    x = weights["decoder.embed.token.weight"][ids]
    for layer, block in enumerate(each_block(weights, "decoder")):
        normed = rms_norm(block, "attention_norm", x)
        query = rotate(split_heads(linear(block, "attention.query", normed), heads), positions)
        key = rotate(split_heads(linear(block, "attention.key", normed), kv_heads), positions)
        value = split_heads(linear(block, "attention.value", normed), kv_heads)
        if cache is not None:
            key, value = append(cache, layer, key, value)
        mixed, _ = scaled_dot_product_attention(query, key, value, causal(query.shape[2], key.shape[2]))
        x = x + linear(block, "attention.output", merge_heads(mixed))
        x = x + swiglu(block, rms_norm(block, "feedforward_norm", x))
    return rms_norm(weights, "decoder.final_norm", x) @ weights["decoder.embed.token.weight"].T


def append(cache: Cache, layer: int, key: Array, value: Array) -> tuple[Array, Array]:
    """All keys and values of the layer so far: no later token changes an earlier one's, so none is computed twice."""
    if layer == len(cache):
        cache.append((key, value))
    else:
        old_key, old_value = cache[layer]
        cache[layer] = np.concatenate([old_key, key], axis=2), np.concatenate([old_value, value], axis=2)
    return cache[layer]


def generate(logits_of: Callable[[Array], Array], prompt: Array, count: int) -> Array:
    """Greedy: feed the prompt, then each new token alone, to a function that remembers what it was fed."""
    ids, fed = prompt, prompt
    for _ in range(count):
        fed = logits_of(fed)[:, -1].argmax(-1)[:, None]
        ids = np.concatenate([ids, fed], axis=1)
    return ids


# ── Weights, and what must hold ────────────────────────────────────────────────────────────────────────────────────


def draw(shapes: dict[str, tuple[int, ...]], seed: int) -> Weights:
    """Matrices of deviation 1/√fan_in, norms at the identity, biases at 0."""
    generator = np.random.default_rng(seed)
    fixed = {name: np.full(shape, float(name.endswith("weight"))) for name, shape in shapes.items() if len(shape) == 1}
    drawn = {name: generator.normal(0, s[-1] ** -0.5, s) for name, s in shapes.items() if name not in fixed}
    return fixed | drawn


def paper_shapes(D: int, F: int, V: int, layers: int) -> dict[str, tuple[int, ...]]:
    """The weights of the encoder-decoder, by name."""
    shapes: dict[str, tuple[int, ...]] = {"encoder.embed.token.weight": (V, D)}
    sublayers = {"encoder": ("attention", "feedforward"), "decoder": ("attention", "cross", "feedforward")}
    for stack, names in sublayers.items():
        for block in (f"{stack}.blocks.{layer}" for layer in range(layers)):
            for kind in ("attention", "cross_attention")[: len(names) - 1]:
                shapes |= {f"{block}.{kind}.{role}.weight": (D, D) for role in ("query", "key", "value", "output")}
            shapes |= {f"{block}.{name}_norm.{part}": (D,) for name in names for part in ("weight", "bias")}
            shapes |= {f"{block}.feedforward.up.weight": (F, D), f"{block}.feedforward.up.bias": (F,)}
            shapes |= {f"{block}.feedforward.down.weight": (D, F), f"{block}.feedforward.down.bias": (D,)}
    return shapes


def decoder_shapes(D: int, H: int, G: int, F: int, V: int, layers: int) -> dict[str, tuple[int, ...]]:
    """The weights of today's decoder, by name; its head is the embedding again."""
    shapes: dict[str, tuple[int, ...]] = {"decoder.embed.token.weight": (V, D), "decoder.final_norm.weight": (D,)}
    for block in (f"decoder.blocks.{layer}" for layer in range(layers)):
        shapes |= {f"{block}.attention.{role}.weight": (D, D) for role in ("query", "output")}
        shapes |= {f"{block}.attention.{role}.weight": (D // H * G, D) for role in ("key", "value")}
        shapes |= {f"{block}.{norm}_norm.weight": (D,) for norm in ("attention", "feedforward")}
        shapes |= {f"{block}.feedforward.{role}.weight": (F, D) for role in ("gate", "up")}
        shapes |= {f"{block}.feedforward.down.weight": (D, F)}
    return shapes


def show_attention() -> None:
    """Three tokens by hand: the first and the third look alike, so the first reads 40 % of each."""
    query = np.array([[1, 0], [0, 1], [1, 0.1]])[None, None]
    key = np.array([[1, 0], [0, 1], [1, 0]])[None, None]
    value = np.array([[1, 0], [0, 2], [1, 0]])[None, None]
    output, weights = scaled_dot_product_attention(query, key, value, np.ones((3, 3), bool))
    print("Three tokens by hand. Weights:", weights[0, 0].round(4), "Output:", output[0, 0].round(4), sep="\n")
    assert np.allclose(output[0, 0], [[0.8022, 0.3956], [0.4965, 1.0070], [0.7908, 0.4185]], atol=5e-5)
    blind, _ = scaled_dot_product_attention(query, key, value, np.zeros((3, 3), bool))
    assert not blind.any()


def show_paper() -> None:
    """Padding changes nothing for its row, and the future nothing for the past."""
    heads, weights = 4, draw(paper_shapes(D=32, F=64, V=50, layers=2), seed=1)
    generator = np.random.default_rng(2)
    source, target = generator.integers(1, 50, (2, 7)), generator.integers(1, 50, (2, 6))
    real = np.array([[True] * 7, [True] * 4 + [False] * 3])
    logits = decode(weights, target, encode(weights, source, real, heads), real, heads)
    print(f"\nThe paper's model. Source {source.shape}, target {target.shape} → logits {logits.shape}.")

    alone, kept = source[1:, :4], real[1:, :4]
    solo = decode(weights, target[1:], encode(weights, alone, kept, heads), kept, heads)
    print(f"The padded row against the same row alone: largest difference {abs(solo[0] - logits[1]).max():.1e}.")
    assert np.allclose(solo[0], logits[1], atol=1e-9)

    changed = target.copy()
    changed[:, 4:] = 0
    later = decode(weights, changed, encode(weights, source, real, heads), real, heads)
    print(f"Targets 4 and 5 replaced: logits 0 to 3 move by {abs(later - logits)[:, :4].max():.1e}.")
    assert np.allclose(later[:, :4], logits[:, :4], atol=1e-12)
    assert not np.allclose(later[:, 4:], logits[:, 4:])


def show_decoder() -> None:
    """Fed a token at a time, with its keys and values kept, the decoder says what it says of the whole."""
    heads, kv_heads = 4, 2
    weights = draw(decoder_shapes(D=32, H=heads, G=kv_heads, F=64, V=50, layers=3), seed=3)
    prompt = np.random.default_rng(4).integers(0, 50, (2, 5))
    cache: Cache = []
    written = generate(lambda ids: decoder_only(weights, ids, heads, kv_heads, cache), prompt, count=8)
    rewritten = prompt
    for _ in range(8):
        following = decoder_only(weights, rewritten, heads, kv_heads)[:, -1].argmax(-1)
        rewritten = np.concatenate([rewritten, following[:, None]], axis=1)
    print(
        f"\nToday's decoder. {heads} query heads read {kv_heads} key/value heads; the cache holds {cache[0][0].shape}."
    )
    print(f"Eight tokens after the prompt, with the cache and without: {written[0, 5:]} and {rewritten[0, 5:]}.")
    assert np.array_equal(written, rewritten)
    query, key = np.random.default_rng(5).normal(size=(2, 1, 8))
    scores = [(rotate(query, np.array([m])) @ rotate(key, np.array([m - 3])).T).item() for m in (3, 30, 300)]
    print(f"Rotary scores three positions apart, anywhere: {np.round(scores, 6)}.")
    assert np.ptp(scores) < 1e-9


if __name__ == "__main__":
    show_attention()
    show_paper()
    show_decoder()
    print("\nEvery assertion held.")
