"""The dimension key: one letter per dimension, the same in every shape annotation, docstring and error.

`Float[Tensor, "B T D"]` in a signature is checked while the tests run and costs nothing otherwise. A suffix names a
layout where several live side by side: `scores_BHTS`.
"""

DIMENSIONS = {
    "B": "batch",
    "T": "query positions",
    "S": "key positions",
    "D": "model width",
    "H": "query heads",
    "G": "key/value heads",
    "K": "head width of queries and keys",
    "U": "value width",
    "Z": "latent width",
    "R": "rotary width",
    "F": "feed-forward width",
    "V": "vocabulary",
    "E": "experts",
    "L": "layers",
    "C": "channels",
    "P": "patch",
}
