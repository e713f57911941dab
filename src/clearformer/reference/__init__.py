"""The NumPy twin: everything a spec can say, in float64, without torch and without gradients.

Start at `model`. `generate` and `beam` speak with it; `initial` draws weights for it.
"""
