"""`clearformer env`: what this machine and this installation can do."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any

from cyclopts import Parameter

import clearformer.machine as machine
from clearformer.cli.flags import Progressing, Spoken
from clearformer.cli.screen import Screen
from clearformer.messages import Language

PACKAGES = ("torch", "numpy", "tokenizers", "safetensors", "gguf", "huggingface_hub", "transformers")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Looking(Progressing):
    """How closely to look."""

    measure: bool = False
    """Measure the matrix product's peak, the memory's read rate and each backend's speed, and remember them."""


def env(*, flags: Looking = Looking(), language: Spoken = "en") -> None:
    """Versions, processor, memory, devices, number types, the cache, and the speed where it was measured."""
    from clearformer.store import home

    screen = Screen(language, flags)
    threads = machine.use_threads(None)
    if flags.measure:
        from clearformer.cli.measuring import measure

        measure(home(), threads, screen)
    found = describe(threads, language)
    if screen.as_json:
        screen.json(found)
    else:
        screen.table(list(_rows(found)))


def describe(threads: int, language: Language) -> dict[str, Any]:
    """The object that `--json` prints."""
    from clearformer.store import home

    devices = machine.accelerators()
    speed = machine.measured(home())
    return {
        "clearformer": _version("clearformer"),
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": {name: _version(name) for name in PACKAGES},
        "processor": {
            "name": machine.cpu_name(),
            "cores": machine.cores(),
            "threads": threads,
            "features": machine.cpu_features(),
        },
        "memory": asdict(machine.memory()),
        "accelerators": [asdict(device) for device in devices],
        "dtypes": {name: machine.supported_dtypes(name) for name in ("cpu", *(device.device for device in devices))},
        "native": _native(language),
        "cache": str(home()),
        "speed": asdict(speed) if speed else None,
        "backends": [asdict(backend) for backend in machine.remembered_backends(home())],
    }


def _native(language: Language) -> dict[str, Any]:
    """The compiled kernels: which instruction sets they hold for this processor, or why they are not used."""
    from clearformer.native.building import stale
    from clearformer.native.library import found

    library = found()
    why = None if library.why is None else library.why.text(language)
    return {"paths": library.paths, "why": why, "stale": library.why is None and stale()}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _rows(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The same facts as two columns; names are those of the JSON."""
    for name in ("clearformer", "python", "system"):
        yield name, found[name]
    for name, version in found["packages"].items():
        yield name, version or "–"
    processor, memory = found["processor"], found["memory"]
    yield "processor", f"{processor['name']} × {processor['cores']}"
    yield "features", " ".join(processor["features"]) or "–"
    sizes = [machine.in_binary_units(memory[key]) if memory[key] else "–" for key in ("total", "available")]
    yield "memory", f"{sizes[0]}, {sizes[1]} available"
    for device in found["accelerators"]:
        yield device["device"], device["name"]
    for device, dtypes in found["dtypes"].items():
        yield f"dtypes {device}", " ".join(dtypes)
    native = found["native"]
    yield "native", native["why"] or " ".join(native["paths"]) + (" (make native)" if native["stale"] else "")
    yield "cache", found["cache"]
    if speed := found["speed"]:
        yield "float32", f"{speed['float32_gflops']:.0f} GFLOP/s"
        if speed["bfloat16_gflops"]:
            yield "bfloat16", f"{speed['bfloat16_gflops']:.0f} GFLOP/s"
        yield "memory read", f"{speed['read_gb_per_s']:.1f} GB/s"
    for backend in found["backends"]:
        rates = f"{backend['linear_gflops']:.0f} GFLOP/s, {backend['read_gb_per_s']:.1f} GB/s"
        yield f"{backend['backend']} {backend['dtype']}", f"{rates}, {backend['block_s'] * 1e6:.0f} µs a block"
