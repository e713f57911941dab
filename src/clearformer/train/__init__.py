"""Learning: one loop for every task.

Reading order: `recipe` (what is chosen), `task` (what a task gives), `schedule`, `optimizer` (and `muon`), `step` (one
gradient), `loop` (the whole of training), then `session` (what a run has open) and `resume` (how it is taken up again).
"""
