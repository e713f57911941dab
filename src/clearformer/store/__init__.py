"""The cache of models: what is built in, what was pulled, and where a name leads.

Reading order: `places` (where) → `builtin` (what, with sizes and hashes) → `wheel`, `hub_listing`, `hub` (from where) →
`pull` (all or nothing) → `converted` (pickles become safetensors) → `resolve` (a name becomes a path) → `obtain` (to
fetch on purpose) → `shelf` (list, show, remove).
"""

from clearformer.store.builtin import BUILTIN
from clearformer.store.hub import Plan
from clearformer.store.obtain import Asked, Obtained, obtain
from clearformer.store.places import Progress, home
from clearformer.store.pull import pull
from clearformer.store.resolve import Located, resolve
from clearformer.store.shelf import Installed, installed, remove, show

__all__ = [
    "BUILTIN",
    "Asked",
    "Installed",
    "Located",
    "Obtained",
    "Plan",
    "Progress",
    "home",
    "installed",
    "obtain",
    "pull",
    "remove",
    "resolve",
    "show",
]
