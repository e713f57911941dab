"""Text to ids and back: tokenizers, incremental decoding, chat templates.

Read `bpe` first (the algorithm), then `tokenizer` (what a model needs of any tokenizer), then `chat`.
"""
