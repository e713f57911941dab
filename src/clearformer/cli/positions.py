"""`clearformer positions SPEC`: how a model knows where a token stands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clearformer.cli.cost import Priced
from clearformer.cli.drawing import Out, note_missing
from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen
from clearformer.cli.speaking import COMPUTING, Computing, loaded
from clearformer.cli.spec_source import spec_of
from clearformer.store.presets import names_preset

if TYPE_CHECKING:
    from clearformer.inspect.positions import Scheme

Length = Annotated[int, Parameter(help="Positions to draw.")]


def positions(
    spec: Priced,
    /,
    *,
    length: Length = 128,
    out: Out = None,
    flags: Computing = COMPUTING,
    language: Spoken = "en",
) -> None:
    """Print each way in which the model knows positions, with its numbers; --out draws them."""
    from clearformer.inspect.canvas import checked_format
    from clearformer.inspect.positions import needs_weights, schemes
    from clearformer.inspect.positions_picture import draw, sentences

    if out is not None:
        checked_format(out)
    screen = Screen(language, flags)
    chosen, weights = spec_of(spec, screen), None
    if needs_weights(chosen) and not names_preset(spec) and not spec.endswith(".json"):
        weights = loaded(spec, flags, screen).model.state_dict()
    found = schemes(chosen, length, weights)
    files = []
    if out is not None:
        path, missing = draw(out, found, Path(spec).name, language=language)
        files.append(path)
        note_missing(missing, out, screen)
    if screen.as_json:
        screen.json({"schemes": [contents(scheme) for scheme in found], "files": [str(path) for path in files]})
        return
    for scheme in found:
        first, *rest = sentences(scheme, language)
        print("\n".join([first, *(f"  {sentence}" for sentence in rest)]))
    for path in files:
        print(path)


def contents(scheme: Scheme) -> dict[str, Any]:
    """A scheme as JSON has it; what it has not is null."""
    numbers: dict[str, Sequence[object]] = {
        "wavelengths": scheme.wavelengths,
        "slopes": scheme.slopes,
        "distances": scheme.distances,
    }
    return {
        "stack": scheme.stack,
        "kind": scheme.kind,
        "layers": scheme.layers,
        **{name: values or None for name, values in numbers.items()},
        "table": None if scheme.table is None else scheme.table.tolist(),
        "curve": None if scheme.curve is None else scheme.curve.tolist(),
    }
