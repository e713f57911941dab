"""A model's config explained line by line: what each key chooses, what the paper of 2017 had, why, and what it costs.

Reading order: `names` (spellings of one choice) → `explained` (what is said of it) → `entries` (a config as a list) →
`subject` (from a name to a config) → `prices`, `attention_costs`, `network_costs`, `costs` (figures) → `conflicts` →
`summary` → `explaining`, which is all of it; `layout` prints it.
"""

from clearformer.card.explaining import Card, Row, card

__all__ = ["Card", "Row", "card"]
