"""Legacy weight files made to hurt, each under a name that says what it attacks."""

from __future__ import annotations

import collections
import io
import os
import pickle
import socket
import subprocess
import sys
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import torch


class Calls:
    """A pickle that calls a function when it is loaded by Python's own unpickler."""

    def __init__(self, function: Callable[..., object], *arguments: object) -> None:
        self.call = function, arguments

    def __reduce__(self) -> object:
        return self.call


class Subclass(torch.Tensor):
    pass


def saved(value: object, **options: bool) -> bytes:
    file = io.BytesIO()
    torch.save(value, file, **options)
    return file.getvalue()


def changed(content: bytes, change: Callable[[str, bytes], bytes], packed: bool = False) -> bytes:
    """An archive of torch with each record's bytes changed."""
    file = io.BytesIO()
    kind = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w", kind) as new:
        for record in old.infolist():
            new.writestr(record.filename, change(record.filename, old.read(record)))
    return file.getvalue()


def nested_zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", changed(saved({"a": torch.zeros(1 << 20)}), lambda _, b: b, packed=True))
        archive.writestr("archive/version", "3\n")
    return file.getvalue()


def tar() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name in ("pickle", "tensors", "storages", "sys_info"):
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    return file.getvalue()


def torchscript() -> bytes:
    file = io.BytesIO()
    torch.jit.save(torch.jit.trace(torch.nn.Linear(2, 2), torch.zeros(1, 2)), file)
    return file.getvalue()


def endless() -> bytes:
    """Tuples of the one before twice: as a dictionary's key, 2^200 of them are hashed."""
    pickled = b"\x80\x02}("  # a dictionary, a mark
    pickled += b"K\1K\2\x86"  # a pair
    pickled += b"".join(b"q" + bytes([n]) + b"h" + bytes([n]) + b"\x86" for n in range(200))
    pickled += b"K\1u."
    return changed(saved({}), lambda name, content: pickled if name.endswith("data.pkl") else content)


def quantised() -> torch.Tensor:
    return torch.quantize_per_tensor(torch.zeros(4), 0.1, 0, torch.qint8)


def sparse() -> torch.Tensor:
    return torch.sparse_coo_tensor(torch.tensor([[0], [0]]), torch.tensor([1.0]), (10**6, 10**6))


def claims_a_terabyte(*, new: bool) -> bytes:
    """Four numbers in the file, 2^38 in the storage's own count of them, and as many in the tensor."""
    content = saved({"a": torch.zeros(4)}, _use_new_zipfile_serialization=new)
    huge = b"\x8a\5\0\0\0\0\x40"  # LONG1 2^38, for BININT1 4
    for count in (b"K\4tq\7Q", b"K\4Ntq\7Q", b"K\4\x85q\x08K\1"):
        replaced = huge + count[2:]
        if new:
            content = changed(content, lambda _, b, old=count, now=replaced: b.replace(old, now))
        else:
            content = content.replace(count, replaced)
    return content


def bombs(folder: Path, port: int) -> dict[str, bytes]:
    """Those that act write into `folder`, where nothing may appear, or call 127.0.0.1 at `port`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch has something to say of each unusual kind of tensor
        return _bombs(folder, port)


def _bombs(folder: Path, port: int) -> dict[str, bytes]:
    flag = folder / "pwned"
    state = {"a": torch.zeros(2)}
    return {
        "os.system": saved({"a": Calls(os.system, f"touch {flag}")}),
        "os.system, old format": saved({"a": Calls(os.system, f"touch {flag}")}, _use_new_zipfile_serialization=False),
        "builtins.exec": saved({"a": Calls(exec, f"open({str(flag)!r}, 'w')")}),
        "builtins.eval": saved({"a": Calls(eval, f"open({str(flag)!r}, 'w')")}),
        "builtins.open": saved({"a": Calls(open, str(flag), "w")}),
        "subprocess": saved({"a": Calls(subprocess.check_output, ["touch", str(flag)])}),
        "a socket": saved({"a": Calls(socket.create_connection, ("127.0.0.1", port))}),
        "torch.load again": saved({"a": Calls(torch.load, str(flag))}),
        "a bare pickle": pickle.dumps(Calls(os.system, f"touch {flag}")),
        "a packed archive": changed(saved({"a": torch.zeros(1 << 22)}), lambda _, b: b, packed=True),
        "a zip in a zip": nested_zip(),
        "10^12 numbers, one of them real": saved({"a": torch.zeros(1).expand(10**6, 10**6)}),
        "one storage under a thousand names": saved(dict.fromkeys(map(str, range(1000)), torch.zeros(1 << 16))),
        "a storage of a terabyte": claims_a_terabyte(new=True),
        "a storage of a terabyte, old format": claims_a_terabyte(new=False),
        "storage cut short": changed(saved({"a": torch.zeros(64)}), lambda n, b: b[:7] if "data/" in n else b),
        "sparse": saved({"a": sparse()}),
        "quantised": saved({"a": quantised()}),
        "meta": saved({"a": torch.empty(10**6, 10**6, device="meta")}),
        "nested": saved({"a": torch.nested.as_nested_tensor([torch.zeros(1), torch.zeros(2)])}),
        "complex": saved({"a": torch.zeros(2, dtype=torch.complex64)}),
        "a subclass": saved({"a": torch.zeros(2).as_subclass(Subclass)}),
        "a module": saved(torch.nn.Linear(2, 2)),
        "a list": saved([torch.zeros(2)]),
        "a number among tensors": saved({**state, "epoch": 3}),
        "a training checkpoint": saved({"state_dict": state, "optimizer": {}}),
        "a counter": saved(collections.Counter(a=3)),
        "nothing": saved({}),
        "a name of a megabyte": saved({"x" * (1 << 20): torch.zeros(1)}),
        "names that are numbers": saved({1: torch.zeros(1)}),
        "a pickle without end": endless(),
        "a tar": tar(),
        "TorchScript": torchscript(),
        "empty": b"",
        "cut short": saved(state)[:-100],
        "noise": bytes(range(256)) * 40,
        "a module of the user's": saved({"a": Calls(sys.exit, 0)}),
    }
