"""Hub models, against a small server that answers as the Hub does, by huggingface_hub itself in a fresh process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from clearformer.store.hub_listing import HubName, hub_name
from store.hub_server import OLDER, REPOS, SHARDS, TOKEN, Hub

FILES = "(lambda l: [l.kind, l.path, l.name, sorted(p.relative_to(l.path).as_posix() for p in l.path.rglob('*.*'))])"
TEXT = "(lambda l: [l.kind, l.path.read_text()])(store.resolve('{}'))"


@pytest.fixture
def hub():
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        server.asked, server.cut = [], 0
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def run(hub, tmp_path):
    """`run(action, **environment)`: evaluate an expression on `store` in a fresh process; its outcome as JSON."""

    def call(action: str, **environment: str) -> dict[str, object]:
        program = (
            "import json, logging\nfrom clearformer import store\nfrom clearformer.store import Asked\n"
            "from clearformer.errors import ClearformerError\nseen, told = [], []\n"
            "progress = lambda done, total: seen.append((done, total))\n"
            "announce = lambda plan: told.extend([seen[:], plan.size, plan.missing, plan.commit])\n"
            f"try:\n    found = {action}\n"
            "    print(json.dumps({'found': found, 'seen': seen, 'told': told}, default=str))\n"
            "except ClearformerError as error:\n    print(json.dumps({'kind': error.kind, 'error': str(error)}))\n"
        )
        values = {"HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}", "HF_HOME": str(tmp_path / "hf")}
        values |= {"HF_HUB_DISABLE_XET": "1", "HF_HUB_OFFLINE": "0", **environment}
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **values}, timeout=60)
        assert done.returncode == 0, done.stderr
        # No bar and no log, but for what the library says of a connection that broke: progress goes to the caller.
        assert all("resume" in line or "peer closed" in line for line in done.stderr.splitlines()), done.stderr
        return json.loads(done.stdout)

    return call


def test_a_folder_is_fetched_without_code_and_found_again_offline(run, tmp_path):
    answer = run(f"{FILES}(store.resolve('org/folder', progress=progress))")
    kind, path, name, files = answer["found"]
    assert (kind, name) == ("folder", "org/folder")
    assert path.startswith(str(tmp_path / "hf"))
    assert files == ["1_Pooling/config.json", "config.json", "model.safetensors", "tokenizer.json"]
    total = sum(len(REPOS["org/folder"][file]) for file in files)
    assert answer["seen"][-1] == [total, total]
    again = run(f"{FILES}(store.resolve('org/folder'))", HF_HUB_OFFLINE="1")
    assert again["found"] == answer["found"]
    assert run("store.obtain('org/folder').path", HF_HUB_OFFLINE="1")["found"] == path


def test_shards_come_with_their_index_and_without_a_second_copy(run):
    files = run(f"{FILES}(store.resolve('org/sharded'))")["found"][3]
    assert files == sorted(set(REPOS["org/sharded"]) - {"consolidated.safetensors"})


def test_what_will_be_fetched_is_told_before_it_is(run):
    asked = "store.obtain('org/folder', Asked(again={}), progress=progress, announce=announce).path"
    size = sum(len(REPOS["org/folder"][f]) for f in ("config.json", "model.safetensors", "tokenizer.json")) + 2
    first = run(asked.format(False))
    assert first["told"][:3] == [[], size, size]
    second = run(asked.format(False))
    assert (second["told"][:3], second["seen"]) == ([[], size, 0], [])  # nothing is fetched twice
    assert run(asked.format(True))["seen"][-1] == [size, size]  # unless asked for


def test_gguf_repositories(run):
    assert run(TEXT.format("org/one"))["found"] == ["gguf", "GGUF"]
    for name in ("org/two:sub/b-Q8_0.gguf", "org/two:Q8_0", "org/two:q8_0", "org/two:b-Q8_0.gguf"):
        assert run(TEXT.format(name))["found"] == ["gguf", "GGUFb"]
    assert run(TEXT.format("org/two/a-Q4_0.gguf"))["found"] == ["gguf", "GGUFa"]
    for name, content in (("org/one", "GGUF"), ("org/two:Q4_0", "GGUFa")):
        assert run(TEXT.format(name), HF_HUB_OFFLINE="1")["found"] == ["gguf", content]
    several, none = run(TEXT.format("org/two")), run(TEXT.format("org/two:Q2_K"))
    assert (several["kind"], none["kind"]) == ("usage", "store")
    assert "a-Q4_0.gguf, sub/b-Q8_0.gguf" in several["error"]
    assert "org/two:a-Q4_0.gguf" in several["error"]
    assert "no GGUF file Q2_K; it has: a-Q4_0.gguf" in none["error"]


def test_a_revision(run):
    config = "store.resolve('{}').path.joinpath('config.json').read_text()"
    assert run(config.format("org/pickle@v1"))["kind"] == "store"
    assert run(config.format("org/sharded@v1"))["found"] == "[]"
    assert run(config.format("org/sharded"))["found"] == "{}"
    assert run(config.format("org/sharded@v1"), HF_HUB_OFFLINE="1")["found"] == "[]"
    assert run(config.format(f"org/sharded@{OLDER}"), HF_HUB_OFFLINE="1")["found"] == "[]"
    assert "no revision v9" in run(config.format("org/sharded@v9"))["error"]


def test_a_download_that_was_cut_off_goes_on_where_it_was(run, hub, tmp_path):
    hub.cut = 11_000_000
    path = run("store.resolve('org/large', progress=progress).path.joinpath('model.safetensors')")["found"]
    assert Path(path).read_bytes() == REPOS["org/large"]["model.safetensors"]
    ranges = [asked for command, path, asked in hub.asked if command == "GET" and "resolve" in path and asked]
    assert ranges == ["bytes=10485760-"]  # the library writes ten megabytes at a time
    assert not list((tmp_path / "hf").rglob("*.incomplete"))


def test_a_token_opens_what_is_not_public(run):
    refused = run("store.resolve('org/private').path")
    assert "set HF_TOKEN" in refused["error"]
    assert "snapshots" in run("store.resolve('org/private').path", HF_TOKEN=TOKEN)["found"]


@pytest.mark.parametrize(
    ("name", "message", "environment"),
    [
        ("org/absent", "The Hub has no model org/absent", {}),
        ("org/pickle", "clearformer pull org/pickle --allow-pickle", {}),
        ("org/other", "cannot be reached", {"HF_HUB_OFFLINE": "1"}),
        ("org/another", "cannot be reached", {"HF_ENDPOINT": "http://127.0.0.1:9"}),
        ("org/liar", "announced 12 bytes and sends more", {}),
        ("org/bloated", "tokenizer.json has 1099511627776 bytes", {}),
        ("org/escape", "whose name leads elsewhere", {}),
        ("org/unsized", "does not say how large model.safetensors is", {}),
        ("org/huge", "1152921504606846978 bytes are needed", {}),
    ],
)
def test_what_cannot_be_fetched_is_a_store_error(run, tmp_path, name, message, environment):
    answer = run(f"store.resolve({name!r}).name", **environment)
    assert answer["kind"] == "store"
    assert message in answer["error"]
    assert not [path for path in tmp_path.rglob("*") if path.name in ("evil.json", "pytorch_model.bin")]


@pytest.mark.parametrize(("name", "tensors"), [("org/pickle", SHARDS[0]), ("org/pickles", SHARDS[0] | SHARDS[1])])
def test_pickles_are_converted_when_allowed_and_found_again(run, cache, name, tensors):
    obtain = f"(lambda o: [o.kind, o.path, o.converted])(store.obtain('{name}', Asked(allow_pickle={{}})))"
    assert "--allow-pickle" in run(obtain.format(False))["error"]
    kind, path, converted = run(obtain.format(True))["found"]
    assert (kind, converted, Path(path).parent) == ("folder", True, cache / "models")
    found = {}
    for file in Path(path).glob("*.safetensors"):
        found |= load_file(file)
    assert found.keys() == tensors.keys()
    assert all(torch.equal(found[key], tensors[key]) for key in tensors)
    assert not list(Path(path).rglob("*.bin"))
    assert (Path(path) / "config.json").read_bytes() == b"{}"
    # The name leads there from now on, without a network and without being allowed again.
    assert run(f"store.resolve('{name}').path", HF_HUB_OFFLINE="1")["found"] == path
    assert run(obtain.format(False), HF_HUB_OFFLINE="1")["found"] == ["folder", path, False]
    assert name in str(run("store.installed()")["found"])


def test_a_builtin_from_the_hub(run):
    answer = run("[store.pull('smollm2-135m', source='hub'), store.show('smollm2-135m')]")
    assert "hub HuggingFaceTB/SmolLM2-135M-Instruct" in answer["found"][1]
    assert run("store.resolve('smollm2-135m').kind")["found"] == "folder"


def test_hub_names():
    for text, expected in {
        "org/name-1.0_x": HubName("org/name-1.0_x"),
        "org/name/a.Q4_0.gguf": HubName("org/name", "a.Q4_0.gguf"),
        "org/name:sub/a.gguf": HubName("org/name", "sub/a.gguf"),
        "org/name@refs/pr/1:Q4_K_M": HubName("org/name", "Q4_K_M", "refs/pr/1"),
        "org/name@v1.0/a.gguf": HubName("org/name", "a.gguf", "v1.0"),
    }.items():
        assert hub_name(text) == expected
    wrong = ("name", "org/name/x", "org/..", "a--b/c", "org/na me", "org/name\n", "-a/b", "org/name@", "org/name:")
    for name in (*wrong, "org/name@../x", "org/name:../x.gguf", "org/name:/x", "org/name@/x", "org/name@" + "x" * 300):
        assert hub_name(name) is None
