"""What a Transformer costs, from its spec alone: parameters, FLOPs, memory, time. Nothing is built, no torch imported.

Reading order: `formula` (a number that knows how it was reckoned) → `sides` (a spec as its stacks) → `weights` →
`parameters` → `work` (what is asked of it) → `flops` → `activations` → `kv_cache` → `memory` → `time` → `generating` →
`fitting`; `pricing` is all of it, `report` prints it.
"""

from clearformer.cost.formula import Formula
from clearformer.cost.pricing import Cost, cost
from clearformer.cost.work import Work

__all__ = ["Cost", "Formula", "Work", "cost"]
