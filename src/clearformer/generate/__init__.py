"""Logits to text.

Read `sampling` first (the mathematics), then `decode` (prefill, then one token a step), then `speak` (text in, text
out). Around them: `settings` (what can be asked for), `reader` (the model with a cache or without), `beam` (the
likeliest whole text) and `beam_decoding`, its place beside `decode`, `draft` (one text being written), `conversation`
(turns that share a cache), `vectors` (sentence vectors).
"""
