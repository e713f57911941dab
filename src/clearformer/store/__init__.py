"""The cache of models: what is built in, what was pulled, and where a name leads.

Reading order: `places` (where) → `builtin` (what, with sizes and hashes) → `wheel`, `hub` (from where) → `pull` (all or
nothing) → `resolve` (a name becomes a path) → `shelf` (list, show, remove).
"""

from clearformer.store.builtin import BUILTIN
from clearformer.store.places import Progress, home
from clearformer.store.pull import pull
from clearformer.store.resolve import Located, resolve
from clearformer.store.shelf import Installed, installed, remove, show

__all__ = ["BUILTIN", "Installed", "Located", "Progress", "home", "installed", "pull", "remove", "resolve", "show"]
