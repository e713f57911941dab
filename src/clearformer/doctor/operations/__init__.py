"""The operations inside a forward pass: recorded, and, for an experiment, mended in place.

In reading order: `operation` (one call of a torch function), `trail` (what is known of a tensor on its way), `origins`
(which token each number belongs to), `following` (how each operation carries that on), `tracker` (the mode under which
a module runs), `recording` (a forward as a list of attentions), `mends` (a forward with something put right).
"""
