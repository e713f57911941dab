"""Hub models, against a small server that answers as the Hub does, by huggingface_hub itself in a fresh process."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPOS = {
    "org/folder": {
        "config.json": b'{"model_type": "llama"}',
        "model.safetensors": b"\2\0\0\0\0\0\0\0{}",
        "tokenizer.json": b"{}",
        "modeling.py": b"raise SystemExit",
        "pytorch_model.bin": b"pickle",
        "onnx/config.json": b"{}",
    },
    "org/one": {"README.md": b"", "m.gguf": b"GGUF"},
    "org/two": {"a.gguf": b"GGUFa", "b.gguf": b"GGUFb"},
    "org/pickle": {"config.json": b"{}", "pytorch_model.bin": b"pickle"},
    "HuggingFaceTB/SmolLM2-135M-Instruct": {"config.json": b"{}", "model.safetensors": b"\2\0\0\0\0\0\0\0{}"},
}


class Hub(BaseHTTPRequestHandler):
    """Just the routes that a snapshot needs: the model, its tree, its files."""

    def do_HEAD(self):
        self.answer()

    def do_GET(self):
        self.answer()

    def answer(self):
        path = self.path.split("?")[0].removeprefix("/api/models").strip("/")
        repo = next((name for name in REPOS if path.startswith(name)), None)
        rest = path.removeprefix(repo or "").strip("/")
        if repo is None:
            self.reply(404, b"{}", {"X-Error-Code": "RepoNotFound"})
        elif rest.startswith("resolve/"):
            content = REPOS[repo][rest.split("/", 2)[2]]
            self.reply(200, content, {"ETag": f'"{digest(content)}"', "X-Repo-Commit": COMMIT})
        elif rest.startswith("tree/"):
            tree = [{"type": "file", "path": n, "size": len(c), "oid": digest(c)} for n, c in REPOS[repo].items()]
            self.reply(200, json.dumps(tree).encode())
        else:
            siblings = [{"rfilename": name} for name in REPOS[repo]]
            self.reply(200, json.dumps({"id": repo, "modelId": repo, "sha": COMMIT, "siblings": siblings}).encode())

    def reply(self, status, content, headers=None):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *_):
        pass


def digest(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()


@pytest.fixture
def run(tmp_path):
    """`run(action, **environment)`: evaluate an expression on `store` in a fresh process; its outcome as JSON."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def call(action: str, **environment: str) -> dict[str, object]:
            program = (
                "import json\nfrom clearformer import store\n"
                "from clearformer.errors import ClearformerError\nseen = []\n"
                "progress = lambda done, total: seen.append((done, total))\n"
                f"try:\n    found = {action}\n    print(json.dumps({{'found': found, 'seen': seen}}, default=str))\n"
                "except ClearformerError as error:\n    print(json.dumps({'kind': error.kind, 'error': str(error)}))\n"
            )
            hub = {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "HF_HOME": str(tmp_path / "hf")}
            hub |= {"HF_HUB_DISABLE_XET": "1", "HF_HUB_OFFLINE": "0", **environment}
            done = subprocess.run(
                [sys.executable, "-c", program],
                capture_output=True,
                text=True,
                env={**os.environ, **hub},
                timeout=60,
            )
            assert done.returncode == 0, done.stderr
            assert done.stderr == ""  # no bar, no log: progress goes to the caller
            return json.loads(done.stdout)

        yield call
        server.shutdown()


def test_a_folder_is_fetched_without_code_and_found_again_offline(run, tmp_path):
    action = "(lambda l: [l.kind, l.path, l.name, sorted(p.name for p in l.path.iterdir())])"
    answer = run(f"{action}(store.resolve('org/folder', progress=progress))")
    kind, path, name, files = answer["found"]
    assert (kind, name) == ("folder", "org/folder")
    assert path.startswith(str(tmp_path / "hf"))
    assert files == ["config.json", "model.safetensors", "tokenizer.json"]
    total = sum(len(REPOS["org/folder"][file]) for file in files)
    assert answer["seen"][-1] == [total, total]
    again = run(f"{action}(store.resolve('org/folder'))", HF_HUB_OFFLINE="1")
    assert again["found"] == answer["found"]


def test_gguf_repositories(run):
    action = "(lambda l: [l.kind, l.path.read_text()])(store.resolve('{}'))"
    assert run(action.format("org/one"))["found"] == ["gguf", "GGUF"]
    assert run(action.format("org/two/b.gguf"))["found"] == ["gguf", "GGUFb"]
    assert run(action.format("org/one"), HF_HUB_OFFLINE="1")["found"] == ["gguf", "GGUF"]
    several = run(action.format("org/two"))
    assert several["kind"] == "usage"
    assert "a.gguf, b.gguf" in several["error"]


def test_what_cannot_be_fetched_is_a_store_error(run):
    faults = {
        "org/absent": ("The Hub has no model org/absent", {}),
        "org/pickle": ("neither safetensors", {}),
        "org/other": ("cannot be reached", {"HF_HUB_OFFLINE": "1"}),
        "org/another": ("cannot be reached", {"HF_ENDPOINT": "http://127.0.0.1:9"}),
    }
    for name, (message, environment) in faults.items():
        answer = run(f"store.resolve({name!r}).name", **environment)
        assert answer["kind"] == "store"
        assert message in answer["error"]


def test_a_builtin_from_the_hub(run):
    answer = run("[store.pull('smollm2-135m', source='hub'), store.show('smollm2-135m')]")
    assert "hub HuggingFaceTB/SmolLM2-135M-Instruct" in answer["found"][1]
    assert run("store.resolve('smollm2-135m').kind")["found"] == "folder"
