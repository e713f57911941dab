"""ids → logits in PyTorch, one concept a file.

Reading order: `embed`, `positions/rotary`, `attention` (with `mask` and `kernels`), `feedforward`, `block`, `stack`,
`head`. Mathematics stands in free functions; modules own weights.
"""
