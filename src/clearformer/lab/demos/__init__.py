"""Seven demonstrations on the NumPy twin. Each prints its steps, asserts its figures, and catches faults on request.

`DEMOS[1].run(None, "en")` gives an `Outcome`; `run("no-scale", "zh")` plants that fault first.
"""

from __future__ import annotations

from clearformer.lab.demos import by_hand, causality, counting, heads, layers, order, scale
from clearformer.lab.demos.demo import Demo, Outcome
from clearformer.lab.demos.page import Catch
from clearformer.lab.demos.parts import FAULTS, Fault

__all__ = ["DEMOS", "FAULTS", "Catch", "Demo", "Fault", "Outcome"]

DEMOS: dict[int, Demo] = {
    n: Demo(n, chapter.NAME, chapter.demonstrate)
    for n, chapter in enumerate((by_hand, causality, scale, order, heads, layers, counting), start=1)
}
