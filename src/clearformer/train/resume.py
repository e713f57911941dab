"""A run's whole state as named tensors and facts, and back: what is not in it cannot matter to what follows.

Bit-exactness needs all of it: weights, their averages, the best ones, the optimizer's moments, the generators, the
place in the data, and the recorded choices of how to compute (kernel, number type, threads).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.errors import CheckpointError, RunError
from clearformer.messages import train as say
from clearformer.messages import verbatim
from clearformer.runs.folder import RunFolder
from clearformer.runs.state import State, newest_state
from clearformer.train.average import Averaging
from clearformer.train.events import Noted
from clearformer.train.optimizer import Mover
from clearformer.train.recipe import Recipe
from clearformer.train.recipe_file import differences, parse_recipe

Named = Mapping[str, Tensor]


def find_state(run: RunFolder, recipe: Recipe, *, resume: bool) -> tuple[State | None, list[Noted]]:
    """The newest whole state, and what there is to say of damaged ones.

    Raises RunError if `resume` comes with another recipe than the run's, or a state is there without `resume`.
    """
    notes: list[Noted] = []

    def warn(error: CheckpointError) -> None:
        cause = verbatim(error.cause("en"), error.cause("zh"))
        notes.append(Noted(say.STATE_DAMAGED, {"cause": cause}, warning=True))

    state = newest_state(run, warn)
    if not resume:
        if state is not None:
            raise RunError(say.ALREADY_BEGUN, path=run.path, step=state.step)
        return None, notes
    check_same_recipe(run, recipe)
    if state is None:
        notes.append(Noted(say.FROM_THE_START, {}))
    return state, notes


def check_same_recipe(run: RunFolder, recipe: Recipe) -> None:
    """Raises RunError, naming the first field in which the recipe is not the run's."""
    found = differences(parse_recipe(type(recipe), run.recipe_text()), recipe)
    if found:
        field, kept, asked = found[0]
        raise RunError(say.RECIPE_CHANGED, path=run.path, field=field, kept=kept, asked=asked, count=len(found))


def gather(model: nn.Module, mover: Mover, average: Averaging, best: Named) -> dict[str, Tensor]:
    """Every tensor of a run."""
    groups: dict[str, Named] = {
        "weights": dict(model.named_parameters()),
        "optimizer": mover.tensors(),
        "average": average.tensors(),
        "best": best,
        "generator": dict(_generators()),
    }
    return {f"{group}/{name}": tensor.detach() for group, named in groups.items() for name, tensor in named.items()}


def spread(run: RunFolder, state: State, model: nn.Module, mover: Mover, average: Averaging) -> dict[str, Tensor]:
    """Put a state's tensors where `gather` found them; gives the best weights. Raises RunError if they do not fit."""
    groups: dict[str, dict[str, Tensor]] = {}
    for key, tensor in state.tensors.items():
        group, _, name = key.partition("/")
        groups.setdefault(group, {})[name] = tensor
    expected, found = _shapes(model.named_parameters()), _shapes(groups.get("weights", {}).items())
    if expected != found:
        one, other = next(iter(expected - found), "–"), next(iter(found - expected), "–")
        raise RunError(say.STATE_DOES_NOT_FIT, path=run.path, step=state.step, expected=one, found=other)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(groups["weights"][name])
    mover.restore(groups.get("optimizer", {}))
    average.restore(groups.get("average", {}))
    for name, generator in groups["generator"].items():
        _set_generator(name, generator)
    return {name: tensor.clone() for name, tensor in groups.get("best", {}).items()}


def _shapes(named: Iterable[tuple[str, Tensor]]) -> set[tuple[Any, ...]]:
    return {(name, tuple(tensor.shape), str(tensor.dtype)) for name, tensor in named}


def _generators() -> Iterator[tuple[str, Tensor]]:
    yield "cpu", torch.get_rng_state()
    for index in range(torch.cuda.device_count()):
        yield f"cuda:{index}", torch.cuda.get_rng_state(index)
    if torch.backends.mps.is_available():
        yield "mps", torch.mps.get_rng_state()


def _set_generator(name: str, state: Tensor) -> None:
    if name == "cpu":
        torch.set_rng_state(state.clone())
    elif name == "mps":
        torch.mps.set_rng_state(state.clone())
    else:
        torch.cuda.set_rng_state(state.clone(), name)
