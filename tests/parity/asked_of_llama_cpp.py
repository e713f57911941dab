"""A program that another interpreter runs, the one that has llama-cpp-python: one JSON object in, one out.

In: `model`, a path; `prompts`, lists of ids; `new`, how many ids to write after each; `texts` to cut into ids;
`embed`, whether the model gives a vector. Out: `written`, `logits` behind each prompt, `texts`, `template`, `vectors`.
"""

import ctypes
import json
import sys

import llama_cpp as cpp
import numpy as np

# Kept here: the library goes on calling it.
SILENT = cpp.llama_log_callback(lambda level, text, data: None)


def main():
    asked = json.load(sys.stdin)
    cpp.llama_log_set(SILENT, ctypes.c_void_p(0))
    cpp.llama_backend_init()
    settings = cpp.llama_model_default_params()
    settings.n_gpu_layers = 0
    model = cpp.llama_model_load_from_file(asked["model"].encode(), settings)
    if not model:
        sys.exit("llama.cpp does not load " + asked["model"])
    template = cpp.llama_model_chat_template(model, None)
    answer = {
        "texts": [cut(cpp.llama_model_get_vocab(model), text) for text in asked.get("texts", [])],
        "template": template.decode() if template else None,
    }
    answer |= read(model, asked)
    json.dump(answer, sys.stdout)


def cut(vocabulary, text):
    content = text.encode()
    ids = (cpp.llama_token * (len(content) + 16))()
    count = cpp.llama_tokenize(vocabulary, content, len(content), ids, len(ids), True, False)
    return list(ids[:count])


def read(model, asked):
    settings = cpp.llama_context_default_params()
    settings.n_ctx, settings.n_batch, settings.n_ubatch = asked.get("context", 64), 512, 512
    settings.n_threads = settings.n_threads_batch = 1
    settings.embeddings = bool(asked.get("embed"))
    settings.flash_attn_type = cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED
    # Keys and values in float32: the cache is no part of the file.
    settings.type_k = settings.type_v = cpp.GGML_TYPE_F32
    found = {"written": [], "logits": [], "vectors": []}
    for prompt in asked.get("prompts", []):
        context = cpp.llama_init_from_model(model, settings)
        if asked.get("embed"):
            found["vectors"].append(vector(context, model, prompt))
        else:
            written, logits = greedy(context, model, prompt, asked["new"])
            found["written"].append(written)
            found["logits"].append(logits)
        cpp.llama_free(context)
    return found


def decode(context, ids):
    array = (cpp.llama_token * len(ids))(*ids)
    if cpp.llama_decode(context, cpp.llama_batch_get_one(array, len(ids))):
        sys.exit("llama.cpp does not decode")


def greedy(context, model, prompt, count):
    size = cpp.llama_vocab_n_tokens(cpp.llama_model_get_vocab(model))
    written, ids, first = [], prompt, None
    for _ in range(count):
        decode(context, ids)
        logits = np.ctypeslib.as_array(cpp.llama_get_logits_ith(context, -1), (size,)).copy()
        first = logits.tolist() if first is None else first
        ids = [int(logits.argmax())]
        written += ids
    return written, first


def vector(context, model, prompt):
    decode(context, prompt)
    width = cpp.llama_model_n_embd(model)
    return np.ctypeslib.as_array(cpp.llama_get_embeddings_seq(context, 0), (width,)).copy().tolist()


main()
