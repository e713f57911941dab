"""Named sets: looked for, fetched once and checked, or asked for by file and place."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from clearformer.data import named
from clearformer.data.documents import documents
from clearformer.data.named import NAMES, SETS, File, find
from clearformer.errors import DataError

CONTENT = b"some text of a publisher\n" * 5000


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A publisher's folder with the set `made` of two files; no data at hand, an empty cache, a network."""
    publisher = tmp_path / "publisher"
    publisher.mkdir()
    files = []
    for name in ("a.txt", "b.txt"):
        (publisher / name).write_bytes(CONTENT)
        sha256 = hashlib.sha256(CONTENT).hexdigest()
        files.append(File(name, (publisher / name).as_uri(), len(CONTENT), sha256))
    monkeypatch.setitem(SETS, "made", tuple(files))
    monkeypatch.setattr(named, "NAMES", (*NAMES, "made"))
    monkeypatch.setenv("CLEARFORMER_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLEARFORMER_DATA", raising=False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    return publisher


def test_a_set_is_fetched_once(made: Path) -> None:
    told: list[tuple[int, int]] = []
    folder = find("made", progress=lambda done, total: told.append((done, total)))
    assert sorted(path.name for path in folder.iterdir()) == ["a.txt", "b.txt"]
    assert (folder / "b.txt").read_bytes() == CONTENT
    assert told[-1] == (len(CONTENT), len(CONTENT))
    for path in made.iterdir():
        path.unlink()
    assert find("made") == folder


@pytest.mark.parametrize("content", [CONTENT[:-1], CONTENT + b"!", b"x" + CONTENT[1:], CONTENT * 100])
def test_other_content_is_refused_and_not_kept(made: Path, content: bytes) -> None:
    (made / "b.txt").write_bytes(content)
    read: list[int] = []
    with pytest.raises(DataError, match=r"gave b\.txt with SHA-256 .*; expected .*put it into") as caught:
        find("made", progress=lambda done, total: read.append(done))
    folder = Path(os.environ["CLEARFORMER_HOME"], "data", "made")
    assert [path.name for path in folder.iterdir()] == ["a.txt"]
    assert str(folder) in str(caught.value)
    assert max(read) < len(CONTENT) + 2 * named._PIECE
    (made / "b.txt").write_bytes(CONTENT)
    assert (find("made") / "b.txt").read_bytes() == CONTENT


def test_without_a_network_it_says_what_to_put_where(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (made / "a.txt").unlink()
    with pytest.raises(DataError, match=r"made needs a\.txt, which could not be fetched from file:.*Put that file"):
        find("made")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(DataError, match=r"\(HF_HUB_OFFLINE\).*or set CLEARFORMER_DATA"):
        find("made")
    folder = Path(os.environ["CLEARFORMER_HOME"], "data", "made")
    for name in ("a.txt", "b.txt"):
        (folder / name).write_bytes(CONTENT)
    assert find("made") == folder


@pytest.fixture
def server(made: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[BaseHTTPRequestHandler]]:
    """The publisher on a network; it announces all of a file and sends `sent` bytes of it."""

    class Publisher(BaseHTTPRequestHandler):
        sent = len(CONTENT)

        def do_GET(self) -> None:
            self.send_response(200 if self.path in ("/a.txt", "/b.txt") else 404)
            self.send_header("Content-Length", str(len(CONTENT)))
            self.end_headers()
            self.wfile.write(CONTENT[: self.sent])

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Publisher) as served:
        at = f"http://127.0.0.1:{served.server_port}/"
        monkeypatch.setitem(SETS, "made", tuple(File(f.name, at + f.name, f.size, f.sha256) for f in SETS["made"]))
        threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True).start()
        yield Publisher
        served.shutdown()


def test_a_broken_connection_is_no_other_content(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server.sent = 70_000
    with pytest.raises(DataError, match=rf"could not be fetched .*{len(CONTENT) - 70_000} more expected"):
        find("made")
    server.sent = len(CONTENT)
    assert (find("made") / "a.txt").read_bytes() == CONTENT
    missing = File("c.txt", f"{SETS['made'][0].url}.old", 1, "")
    monkeypatch.setitem(SETS, "made", (*SETS["made"], missing))
    with pytest.raises(DataError, match=r"c\.txt, which could not be fetched .*HTTP Error 404"):
        find("made")


def test_data_at_hand_comes_first(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARFORMER_DATA", str(tmp_path))
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "a.txt").write_text("mine")
    assert find("made") != tmp_path / "made"
    (tmp_path / "made" / "b.txt").write_text("mine")
    assert find("made") == tmp_path / "made"


@pytest.mark.usefixtures("made")
def test_a_set_without_a_publisher_is_asked_for() -> None:
    with pytest.raises(DataError, match=r"sst2 needs train\.tsv.*columns sentence and label.*sst2/ under"):
        find("sst2")


def test_an_unknown_name_is_told_the_known_ones() -> None:
    with pytest.raises(DataError, match=r"multi30k, .*found multi30\. Did you mean multi30k\?"):
        find("multi30")


def test_python_brings_a_text_of_its_own(made: Path) -> None:
    [text] = documents(find("pydoc"))
    assert len(text) > 400_000
    assert "The assert statement" in text or 'The "assert" statement' in text


@pytest.mark.parametrize("name", sorted(SETS))
def test_the_files_at_hand_are_the_ones_that_would_be_fetched(name: str) -> None:
    folder = Path(os.environ.get("CLEARFORMER_DATA", "nowhere"), name)
    if not folder.is_dir():
        pytest.skip(f"set CLEARFORMER_DATA to a folder with {name}/")
    assert find(name) == folder
    for file in SETS[name]:
        content = (folder / file.name).read_bytes()
        if file.url is not None:
            assert file.url.startswith("https://")
            assert file.url.endswith(f"/{file.name}")
            assert (file.size, file.sha256) == (len(content), hashlib.sha256(content).hexdigest())
