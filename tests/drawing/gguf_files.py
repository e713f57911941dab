"""Small models as GGUF files, and llama.cpp to ask about them where an interpreter has it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from clearformer.build import build
from clearformer.checkpoint.gguf_blocks import Kind
from clearformer.checkpoint.writing import save_folder
from clearformer.export_gguf import export_gguf
from clearformer.families import GenerationDefaults
from clearformer.families.generation import write_generation
from clearformer.families.own import OWN
from clearformer.spec import Spec
from clearformer.spec.presets import modern_decoder
from clearformer.text.fast import FastTokenizer
from clearformer.text.training import tokenizer_files

INTERPRETER = os.environ.get("CLEARFORMER_LLAMA_CPP")


def small_llama(vocabulary: int, width: int = 32) -> Spec:
    return modern_decoder(width=width, heads=4, kv_heads=2, hidden=64, layers=1, vocabulary=vocabulary, context=64)


def folder_of(
    path: Path,
    spec: Spec,
    tokenizer: FastTokenizer | None = None,
    template: str | None = None,
    generation: GenerationDefaults | None = None,
) -> Path:
    """A model of our own form, with what it needs to read text."""
    files = tokenizer_files(tokenizer) if tokenizer else {}
    files |= {"chat_template.jinja": template.encode()} if template else {}
    settings = write_generation(generation) if generation else None
    save_folder(path, OWN.write(spec), dict(build(spec).named_parameters()), settings, files)
    return path


def gguf_of(path: Path, tokenizer: FastTokenizer, kind: Kind = "f16", spare: int = 3, **more: Any) -> Path:
    """A small Llama with this tokenizer, whose table has a few rows more than it."""
    spec = small_llama(tokenizer.vocabulary_size + spare)
    return export_gguf(folder_of(path.with_suffix(""), spec, tokenizer, **more), path, kind).path


def asked_of_llama_cpp(path: Path, **asked: Any) -> dict[str, Any]:
    """llama.cpp's answer, from a process of its own; skips where there is none to ask."""
    if not INTERPRETER:
        pytest.skip("CLEARFORMER_LLAMA_CPP names no Python that has llama-cpp-python")
    if subprocess.run([INTERPRETER, "-c", "import llama_cpp"], capture_output=True, check=False).returncode:
        pytest.skip(f"{INTERPRETER} cannot import llama_cpp")
    program = Path(__file__).parents[1] / "parity" / "asked_of_llama_cpp.py"
    text = json.dumps({"model": str(path), **asked})
    ended = subprocess.run([INTERPRETER, program], input=text, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer
