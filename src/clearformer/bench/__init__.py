"""Measuring side by side: the same work, the same threads, the same types, run after run in turn.

`contestant` (what is measured) → `ours`, `hugging_face` → `rounds` (alternating runs, medians) → `quiet` (whether the
machine lets one measure) → `jobs` (the whole).
"""
