"""What every decoder is asked beside its logits: padding on the left, its size, and the text that it writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from clearformer.build import empty
from clearformer.errors import CheckpointError
from clearformer.generate.settings import Options
from clearformer.generate.speak import Generation
from clearformer.load import Loaded

NEW_TOKENS = 10
PROMPTS = (9, 4, 17)


def require_same(found: Any, loaded: Loaded) -> None:
    """As many parameters, and the same logits whichever side the rows are padded on."""
    ours = sum(parameter.numel() for parameter in empty(loaded.spec).parameters())
    assert ours == sum(parameter.numel() for parameter in found.model.parameters())
    assert found.distance(loaded) <= found.tolerance
    assert distance(found, loaded, left=True) <= found.tolerance


def distance(found: Any, loaded: Loaded, left=True) -> float:
    """The largest difference over real positions, both models reading the rows with their padding in front."""
    ids, real = to_the_right(found.batch.ids, found.batch.real), to_the_right(found.batch.real, found.batch.real)
    positions = (real.long().cumsum(1) - 1).clamp(min=0)
    with torch.no_grad():
        output = found.model(input_ids=ids, attention_mask=real.long(), position_ids=positions)
        ours = loaded.model(ids, real=real, length_bound=torch.full((len(ids),), ids.shape[1]))
    theirs = output.logits if "logits" in output else output.last_hidden_state
    return float((ours - theirs)[real].abs().max())


def to_the_right(rows: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """Each row's real values at its end, its padding before them."""
    shifts = (~real).sum(1).tolist()
    return torch.stack([row.roll(shift) for row, shift in zip(rows, shifts, strict=True)])


def require_same_text(found: Any, loaded: Loaded, lengths: Sequence[int] = PROMPTS) -> None:
    """Greedy continuations of prompts of unequal length, ours from a cache and transformers' from its own."""
    generator = torch.Generator().manual_seed(5)
    prompts = [torch.randint(1, found.model.config.vocab_size, (n,), generator=generator).tolist() for n in lengths]
    longest = max(lengths)
    ids = torch.tensor([[0] * (longest - len(prompt)) + prompt for prompt in prompts])
    real = torch.arange(longest) >= longest - torch.tensor(lengths)[:, None]
    settings = {"do_sample": False, "max_new_tokens": NEW_TOKENS, "pad_token_id": 0}
    theirs = found.model.generate(ids, attention_mask=real.long(), **settings)[:, longest:].tolist()
    generation = Generation(loaded, prompts, Options(max_new_tokens=NEW_TOKENS, temperature=0.0))
    for _ in generation.steps():
        pass
    assert [result.token_ids for result in generation.results()] == theirs
    assert len({token for text in theirs for token in text}) > 2


def require_noticed(found: Any, load: Callable[[Path], Loaded], folder: Path) -> None:
    """The folder's wrong config is refused, or its answer is not the original's."""
    try:
        loaded = load(folder)
    except CheckpointError:
        return
    assert found.distance(loaded) > 2 * found.tolerance
