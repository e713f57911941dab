"""The process in which a legacy pickle of weights is read: one open file in, one open file of safetensors out.

It is started as a script, apart from the package, with an empty environment. `torch.load(weights_only=True)` calls
nothing that a pickle names; should it ever err, the process can open no file and no socket, start no process, and has
little memory and time.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import time
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO, NoReturn

import torch

try:
    import resource
except ImportError:  # Windows has no such limits; there the parent starts no worker.
    resource = None  # type: ignore[assignment]

# Tied weights are written under each name; T5 and Marian have one table under four.
SWELLING = 4
_SMALL = 1 << 20
_LONGEST_NAME = 1000
_LONGEST_DETAIL = 300
_PIECE = 1 << 24
_ADVICE = re.compile(
    r"In PyTorch 2\.6,.*?trusted source\.?|Weights only load failed\.|Please (use|file) .*|Check the documentation .*"
)
_REFUSED_EVENTS = (
    *("open", "os.", "subprocess.", "socket.", "ctypes.", "shutil.", "pty.", "mmap.", "import", "signal."),
    *("exec", "compile", "code.", "marshal.", "pickle.", "urllib.", "ftplib.", "webbrowser.", "tempfile.", "fcntl."),
)
_DTYPES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.float8_e4m3fn: "F8_E4M3",
    torch.float8_e5m2: "F8_E5M2",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


class RefusalError(Exception):
    """What is in the file is not what may be converted: the parent's name for it, and what was found."""

    def __init__(self, kind: str, **values: object) -> None:
        super().__init__(kind)
        self.answer = {"error": kind, **{name: str(value)[:_LONGEST_DETAIL] for name, value in values.items()}}


class ForbiddenError(Exception):
    """Something reached for a file, a process, a socket or an import."""


def convert(source: BinaryIO, size: int, target: int) -> int:
    """Read a pickle of `size` bytes and write its tensors to the descriptor `target`; returns how many."""
    _refuse_other_forms(source, size)
    source.seek(0)
    tensors = _dense(torch.load(source, map_location="cpu", weights_only=True, mmap=False), size)
    _write(tensors, target)
    return len(tensors)


def _refuse_other_forms(source: BinaryIO, size: int) -> None:
    """torch stores the records of its archive as they are: one that unpacks to more is not torch's."""
    start = source.read(4)
    if start[:1] == b"\x80":
        return  # the format before torch 1.6: pickles one behind the other, and no archive
    if start != b"PK\x03\x04":
        # Among them the tar of torch before 0.1.10, which torch would unpack onto the disk.
        raise RefusalError("pickle", detail=f"it begins with {start!r}")
    with zipfile.ZipFile(source) as archive:
        for record in archive.infolist():
            if record.compress_type != zipfile.ZIP_STORED or record.file_size > size:
                raise RefusalError("compressed", found=record.filename)


def _dense(loaded: object, size: int) -> dict[str, torch.Tensor]:
    """The tensors by name, each plain, strided and within memory that the file gave."""
    if not isinstance(loaded, Mapping):
        raise RefusalError("other", name="/", found=type(loaded).__name__)
    tensors: dict[str, torch.Tensor] = {}
    storages: dict[int, int] = {}
    for name, value in loaded.items():
        if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME or name == "__metadata__":
            raise RefusalError("other", name=repr(name), found=type(value).__name__)
        if type(value) not in (torch.Tensor, torch.nn.Parameter):
            raise RefusalError("other", name=name, found=type(value).__name__)
        tensors[name] = tensor = value.detach()
        _refuse_strange(name, tensor)
        storages[tensor.untyped_storage()._cdata] = tensor.untyped_storage().nbytes()
    if not tensors:
        raise RefusalError("other", name="/", found="{}")
    written = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
    for bytes_claimed, limit in ((sum(storages.values()), size), (written, SWELLING * size + _SMALL)):
        if bytes_claimed > limit:
            raise RefusalError("swells", found=bytes_claimed, limit=limit)
    return tensors


def _refuse_strange(name: str, tensor: torch.Tensor) -> None:
    plain = tensor.layout == torch.strided and tensor.device.type == "cpu" and not tensor.is_quantized
    if not plain or tensor.is_conj() or tensor.is_neg() or tensor.is_nested or tensor.dtype not in _DTYPES:
        raise RefusalError("sparse", name=name, found=f"{tensor.layout} {tensor.dtype} {tensor.device}")
    reach = sum((length - 1) * step for length, step in zip(tensor.shape, tensor.stride(), strict=True))
    last = (tensor.storage_offset() + reach + 1) * tensor.element_size()
    if tensor.numel() and last > tensor.untyped_storage().nbytes():
        raise RefusalError("swells", found=last, limit=tensor.untyped_storage().nbytes())


def _write(tensors: Mapping[str, torch.Tensor], target: int) -> None:
    """safetensors (github.com/huggingface/safetensors, README): header length, header, data; large numbers first."""
    names = sorted(tensors, key=lambda name: (-tensors[name].element_size(), name))
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name in names:
        tensor, start = tensors[name], end
        end += tensor.numel() * tensor.element_size()
        header[name] = {"dtype": _DTYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [start, end]}
    text = json.dumps(header, ensure_ascii=True, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    _write_all(target, [len(text).to_bytes(8, "little") + text])
    for name in names:
        flat = tensors[name].contiguous().reshape(-1).view(torch.uint8)
        _write_all(target, (flat[at : at + _PIECE].numpy() for at in range(0, len(flat), _PIECE)))


def _write_all(target: int, pieces: Iterable[Any]) -> None:
    for piece in pieces:
        left = memoryview(piece)
        while left:
            left = left[os.write(target, left) :]


def answer(source: BinaryIO, size: int, target: int) -> dict[str, object]:
    """`{"tensors": count}`, or `{"error": kind, …}`."""
    try:
        return {"tensors": convert(source, size, target)}
    except RefusalError as error:
        return dict(error.answer)
    except MemoryError:
        return {"error": "memory"}
    except OSError as error:
        # The process has no descriptor to give: whoever asks for one is none of ours.
        kind = "forbidden" if error.errno == errno.EMFILE else "disk"
        return {"error": kind, "detail": error.strerror or str(error)}
    except ForbiddenError as error:
        return {"error": "forbidden", "detail": str(error)}
    except Exception as error:  # torch has no tree of its own for what a file can do to it
        if "allocate memory" in str(error) or "not enough memory" in str(error):
            return {"error": "memory"}
        return {"error": "pickle", "detail": _reason(error)}


def _reason(error: Exception) -> str:
    """torch's words without its advice on how to switch the check off, which is not ours to pass on."""
    text = _ADVICE.sub("", " ".join(str(error).split()))
    reason = (text.partition("WeightsUnpickler error: ")[2] or text).strip(" .")
    # A KeyError's text is its key alone.
    return (reason if len(reason.split()) > 2 else f"{type(error).__name__} {reason}".strip())[:_LONGEST_DETAIL]


def limit_process(memory: int, seconds: int, written: int) -> None:
    """From here on: `memory` more bytes than now, `seconds` of processor time, `written` bytes a file; nothing opened.

    Without descriptors to give, the kernel itself refuses every file, pipe and socket, whoever asks.
    """
    with open("/proc/self/statm", "rb") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    seconds += int(time.process_time()) + 1
    for kind, most in (
        (resource.RLIMIT_AS, used + memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, written),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_NOFILE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        # Of time, a little is left above the limit: the signal that says so is not the one that kills.
        above = 2 if kind == resource.RLIMIT_CPU and hard == resource.RLIM_INFINITY else 0
        resource.setrlimit(kind, (most, most + above))

    def refuse(event: str, about: tuple[Any, ...]) -> None:
        if event.startswith(_REFUSED_EVENTS):
            raise ForbiddenError(f"{event} {about[0] if about else ''}"[:_LONGEST_DETAIL])

    sys.addaudithook(refuse)


def warm_up() -> None:
    """Whatever torch imports late is imported now, as imports end with `limit_process`."""
    import io

    torch.set_num_threads(1)
    # What zipfile reads old names with.
    _ = "é".encode("cp437")
    sample = {"a": torch.nn.Parameter(torch.zeros(2, 2)), "b": torch.zeros(3, dtype=torch.bfloat16)[::2]}
    for new in (True, False):
        file = io.BytesIO()
        torch.save(sample, file, _use_new_zipfile_serialization=new)
        size = file.tell()
        file.seek(0)
        _refuse_other_forms(file, size)
        file.seek(0)
        loaded = _dense(torch.load(file, map_location="cpu", weights_only=True, mmap=False), size)
        _ = [tensor.contiguous().reshape(-1).view(torch.uint8).numpy() for tensor in loaded.values()]
    for broken in (b"", b"\x80\x02.", b"PK\x03\x04"):
        answer(io.BytesIO(broken), len(broken), -1)


def main(arguments: list[str]) -> NoReturn:
    """`SOURCE TARGET MEMORY SECONDS WRITTEN`: two descriptors, three limits; the answer goes to descriptor 1."""
    descriptor, target, memory, seconds, written = map(int, arguments)
    with os.fdopen(descriptor, "rb") as source:
        size = os.fstat(descriptor).st_size
        warm_up()
        limit_process(memory, seconds, written)
        result = answer(source, size, target)
    os.write(1, json.dumps(result).encode())
    # No cleaning up: what torch does at its end is not ours to allow.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
