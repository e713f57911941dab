"""A small server on 127.0.0.1 that answers as the Hub does: the model, its tree, its files, with ranges and tokens."""

from __future__ import annotations

import hashlib
import io
import json
from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote

import torch

COMMIT = "0123456789abcdef0123456789abcdef01234567"
OLDER = "89abcdef0123456789abcdef0123456789abcdef"
TOKEN = "hf_secret"


def pickled(tensors: object) -> bytes:
    file = io.BytesIO()
    torch.save(tensors, file)
    return file.getvalue()


SHARDS = {"a": torch.arange(3.0)}, {"b": torch.ones(2, 2)}
INDEX = {"weight_map": {"a": "pytorch_model-00001-of-00002.bin", "b": "pytorch_model-00002-of-00002.bin"}}
REPOS: dict[str, dict[str, bytes]] = {
    "org/folder": {
        "config.json": b'{"model_type": "llama"}',
        "model.safetensors": b"\2\0\0\0\0\0\0\0{}",
        "tokenizer.json": b"{}",
        "1_Pooling/config.json": b"{}",
        "modeling.py": b"raise SystemExit",
        "pytorch_model.bin": b"pickle",
        "adapter.safetensors": b"\2\0\0\0\0\0\0\0{}",
        "onnx/config.json": b"{}",
    },
    "org/sharded": {
        "config.json": b"{}",
        "model.safetensors.index.json": b'{"weight_map": {}}',
        "model-00001-of-00002.safetensors": b"\2\0\0\0\0\0\0\0{}",
        "model-00002-of-00002.safetensors": b"\2\0\0\0\0\0\0\0{}",
        "consolidated.safetensors": b"\2\0\0\0\0\0\0\0{}",
    },
    "org/one": {"README.md": b"", "m.gguf": b"GGUF"},
    "org/two": {"a-Q4_0.gguf": b"GGUFa", "sub/b-Q8_0.gguf": b"GGUFb"},
    "org/pickle": {"config.json": b"{}", "tokenizer.json": b"{}", "pytorch_model.bin": pickled(SHARDS[0])},
    "org/pickles": {
        "config.json": b"{}",
        "pytorch_model.bin.index.json": json.dumps(INDEX).encode(),
        **{f"pytorch_model-0000{n + 1}-of-00002.bin": pickled(each) for n, each in enumerate(SHARDS)},
    },
    "org/private": {"config.json": b"{}", "model.safetensors": b"\2\0\0\0\0\0\0\0{}"},
    "org/large": {"config.json": b"{}", "model.safetensors": bytes(range(256)) * 46_000},
    "org/liar": {"config.json": b"{}", "model.safetensors": b"\2\0\0\0\0\0\0\0{}" + b" " * 5_000_000},
    "org/escape": {"config.json": b"{}", "model.safetensors": b"", "1/../../../evil.json": b"{}"},
    "org/bloated": {"config.json": b"{}", "model.safetensors": b"", "tokenizer.json": b""},
    "org/unsized": {"config.json": b"{}", "model.safetensors": b""},
    "org/huge": {"config.json": b"{}", "model.safetensors": b""},
    "HuggingFaceTB/SmolLM2-135M-Instruct": {"config.json": b"{}", "model.safetensors": b"\2\0\0\0\0\0\0\0{}"},
}
SAID = {
    ("org/liar", "model.safetensors"): 10,
    ("org/bloated", "tokenizer.json"): 1 << 40,
    ("org/huge", "model.safetensors"): 1 << 60,
    ("org/unsized", "model.safetensors"): None,
}
"""Sizes that the listing gives and the file has not."""


class Hub(BaseHTTPRequestHandler):
    """`cut` is how many bytes of `org/large` are sent before the connection is dropped, once; `asked` is every path."""

    cut = 0
    asked: list[tuple[str, str, str | None]]

    def do_HEAD(self):
        self.answer()

    def do_GET(self):
        self.answer()

    def answer(self):
        path = unquote(self.path.split("?")[0]).removeprefix("/api/models").strip("/")
        self.server.asked.append((self.command, path, self.headers.get("Range")))
        repo = next((name for name in sorted(REPOS, reverse=True) if f"{path}/".startswith(f"{name}/")), None)
        rest = path.removeprefix(repo or "").strip("/")
        if repo is None:
            self.reply(404, b"{}", {"X-Error-Code": "RepoNotFound"})
        elif repo == "org/private" and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self.reply(401, b"{}", {"X-Error-Code": "GatedRepo"})
        elif rest.startswith("resolve/"):
            self.file(repo, *rest.split("/", 2)[1:])
        elif rest.startswith("tree/"):
            sizes = {name: self.size(repo, name) or 0 for name in REPOS[repo]}
            tree = [{"type": "file", "path": n, "size": size, "oid": "0"} for n, size in sizes.items()]
            self.reply(200, json.dumps(tree).encode())
        elif rest.startswith("revision/") and rest.split("/", 1)[1] not in ("main", "v1", COMMIT, OLDER):
            self.reply(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        else:
            siblings = [{"rfilename": name, "size": self.size(repo, name)} for name in REPOS[repo]]
            sha = OLDER if rest == "revision/v1" else COMMIT
            self.reply(200, json.dumps({"id": repo, "modelId": repo, "sha": sha, "siblings": siblings}).encode())

    def size(self, repo, name):
        return SAID.get((repo, name), len(REPOS[repo][name]))

    def file(self, repo, revision, name):
        content = REPOS[repo][name]
        if revision == OLDER:
            content = content.replace(b"{}", b"[]")
        headers = {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": revision}
        start = int((self.headers.get("Range") or "bytes=0-")[6:].split("-")[0])
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        if self.command == "GET" and self.server.cut and repo == "org/large" and name.endswith(".safetensors"):
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: self.server.cut])
            self.server.cut, self.close_connection = 0, True
            return
        self.reply(206 if start else 200, content[start:], headers)

    def reply(self, status, content, headers=None):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *_):
        pass
