"""What the user's code may do: so much memory, no network, no core dump; its environment holds no secrets."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from clearformer.machine import memory

_KEPT = (
    *("PATH", "HOME", "USER", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "VIRTUAL_ENV"),
    *("CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "XDG_CACHE_HOME"),
    *("HF_HOME", "HF_HUB_CACHE", "TORCH_HOME", "CLEARFORMER_HOME", "CLEARFORMER_DATA"),
)
_KEPT_STARTS = ("LC_", "OMP_", "MKL_", "CUDA_", "NVIDIA_", "PYTORCH_", "OPENBLAS_")
_SILENCED = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "WANDB_MODE": "disabled",
    "WANDB_DISABLED": "true",
    "TOKENIZERS_PARALLELISM": "false",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
    "MPLBACKEND": "Agg",
}
_ONLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE")
_SHARE = 0.8
_LOCAL = ("127.", "::1", "localhost", "0.0.0.0")


class NetworkRefused(ConnectionError):  # noqa: N818 – a library takes it for a network that is not there
    """The doctor runs the user's code without a network."""


def environment(source: Mapping[str, str], wished: tuple[str, ...], *, network: bool) -> dict[str, str]:
    """What of the environment the user's code sees: names that are known to be harmless, and those he wished for."""
    kept = {
        name: value
        for name, value in source.items()
        if name in _KEPT or name in wished or (name.startswith(_KEPT_STARTS) and not _secret(name))
    }
    silenced = {name: value for name, value in _SILENCED.items() if not (network and name in _ONLINE)}
    return kept | silenced


def refuse_network(told: Callable[[str], None]) -> None:
    """Python's own sockets say at once, and by name, what the kernel would only let time out."""

    def hook(event: str, about: tuple[object, ...]) -> None:
        if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo"):
            address = about[0] if event == "socket.getaddrinfo" else about[1]
            host = address[0] if isinstance(address, tuple) else address
            if isinstance(host, bytes):
                host = host.decode("utf-8", "replace")
            # A path is a socket of this machine.
            if isinstance(host, str) and host and not host.startswith(("/", *_LOCAL)):
                told(host)
                raise NetworkRefused(f"no network for {host} under clearformer doctor")

    sys.addaudithook(hook)


def memory_limit(wished: int | None) -> int | None:
    """Bytes that the process may take: what is asked for, or most of what is free."""
    if wished is not None:
        return wished
    free = memory().available
    return None if free is None else int(_SHARE * free)


def limit_memory(most: int | None) -> None:
    """From here on `most` more bytes than now, and no core dump."""
    try:
        import resource
    except ImportError:  # Windows has no such limits; there the parent's clock remains.
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if most is None or not sys.platform.startswith("linux"):
        return
    with open("/proc/self/statm", "rb") as statm:
        data = int(statm.read().split()[5]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = data + most
    # Data, not address space: a driver of an accelerator reserves more addresses than any machine has memory.
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def _secret(name: str) -> bool:
    return any(word in name.upper() for word in ("TOKEN", "KEY", "SECRET", "PASSWORD", "CREDENTIAL"))
