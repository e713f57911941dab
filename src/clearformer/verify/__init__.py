"""Does a model compute what it should? Against transformers, against the NumPy twin, against another checkpoint.

Reading order: `reading` (what both read) → `recording` (tensors by name, and how far apart) → `ours`; the references
`twin`, `hugging_face` with `pairs`, `checkpoint` → `verdict` → `hypotheses` with `weight_changes` and `spec_changes`,
tried by `trying`. `verifying` is all of it, `report` prints it.
"""
