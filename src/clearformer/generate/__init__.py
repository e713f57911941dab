"""Logits to text.

Read `sampling` first (the mathematics), then `decode` (prefill, then one token a step), then `speak` (text in, text
out). Around them: `settings` (what can be asked for), `reader` (the model with a cache or without), `draft` (one text
being written), `conversation` (turns that share a cache), `vectors` (sentence vectors).
"""
