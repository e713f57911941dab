"""What transformers' PreTrainedConfig gives every family: keys that change nothing, and keys that change the kind of
model.

The first are named, so that every other unread key can be an error; the second must say what the family is.
"""

from __future__ import annotations

from clearformer.families.config_reader import ConfigReader

# Where the file came from, where the makers' own code for this type lies, and how transformers was to call the model.
_BOOKKEEPING = (
    "_name_or_path",
    "_num_labels",
    "architectures",
    "attn_implementation",
    "auto_map",
    "_attn_implementation",
    "chunk_size_feed_forward",
    "dtype",
    "finetuning_task",
    "gradient_checkpointing",
    "id2label",
    "label2id",
    "model_type",
    "output_attentions",
    "output_hidden_states",
    "output_past",
    "problem_type",
    "return_dict",
    "task_specific_params",
    "tokenizer_class",
    "torch_dtype",
    "torchscript",
    "transformers_version",
    "transformers.js_config",
    "use_bfloat16",
    "use_cache",
    "xla_device",
)

# Read, where they matter, by generation.py and by the tokenizer.
_SPECIAL_TOKENS = (
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
    "sep_token_id",
    "cls_token_id",
    "mask_token_id",
    "unk_token_id",
    "decoder_start_token_id",
)

# Old configs carried the defaults of generate().
_GENERATION = (
    "bad_words_ids",
    "begin_suppress_tokens",
    "cache_implementation",
    "diversity_penalty",
    "do_sample",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "exponential_decay_length_penalty",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "length_penalty",
    "max_length",
    "min_length",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_return_sequences",
    "output_scores",
    "prefix",
    "remove_invalid_values",
    "repetition_penalty",
    "return_dict_in_generate",
    "suppress_tokens",
    "temperature",
    "top_k",
    "top_p",
    "typical_p",
)

HARMLESS = _BOOKKEEPING + _SPECIAL_TOKENS + _GENERATION


def require_decoder(config: ConfigReader) -> None:
    """A stack that writes, whatever it is called: `is_decoder` changes nothing in one that is always causal."""
    config.only("is_decoder", False, True)
    config.only("add_cross_attention", False)
    config.only("is_encoder_decoder", False)
    config.only("pruned_heads", {})


def require_encoder(config: ConfigReader) -> None:
    """A stack that reads, and nothing beside it."""
    for key in ("is_decoder", "add_cross_attention", "is_encoder_decoder"):
        config.only(key, False)
    config.only("pruned_heads", {})
