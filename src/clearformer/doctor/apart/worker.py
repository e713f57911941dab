"""The process in which the user's code is loaded and examined: a request in, lines of JSON out on a descriptor.

It is started as a script. Its own network is taken away before anything is imported that could start a thread.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from contextlib import suppress

_SHARE = 0.75
"""Of its time, what the checks may take; the rest is left to telling the causes apart."""
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_PR_SET_PDEATHSIG, _SIGKILL = 1, 9


def die_with_parent() -> None:
    """Nobody would end this process if the one that watches it were killed."""
    if sys.platform.startswith("linux"):
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, _SIGKILL)


def cut_network() -> None:
    """A network of its own with nobody in it, where the kernel gives one."""
    if not sys.platform.startswith("linux"):
        return
    uid, gid = os.getuid(), os.getgid()
    with suppress(OSError, AttributeError):
        if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0:
            for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
                with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                    file.write(text)


class Sender:
    """Writes events. A fork that the user's code makes must not speak for this process: it ends instead."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._owner = descriptor, os.getpid()

    def send(self, line: bytes) -> None:
        if os.getpid() != self._owner:
            os._exit(0)
        left = memoryview(line)
        while left:
            left = left[os.write(self._descriptor, left) :]


def serve(text: str, sender: Sender) -> None:
    """Examine what the request asks for; every result goes out as soon as it is there."""
    from dataclasses import replace

    import torch

    from clearformer.doctor.apart import limits, wire
    from clearformer.doctor.apart.assembling import together
    from clearformer.doctor.apart.request import Request
    from clearformer.doctor.diagnose import examine
    from clearformer.errors import ClearformerError

    began = time.monotonic()
    request = Request.read(text)
    limits.limit_memory(limits.memory_limit(request.memory))
    if not request.network:
        limits.refuse_network(lambda host: sender.send(wire.line("network", {"to": host})))
    torch.manual_seed(0)
    try:
        parts, notes = together(request)
        sender.send(wire.line("loaded", {}))
        found = examine(
            parts,
            quick=request.quick,
            only=request.only,
            first=request.first,
            without=request.left_out(),
            seconds=_SHARE * (request.seconds - time.monotonic() + began),
            tell=lambda told: sender.send(wire.told_line(told)),
        )
        sender.send(wire.diagnosis_line(replace(found, notes=(*notes, *found.notes))))
    except ClearformerError as error:
        sender.send(wire.error_line(error))


def main(arguments: list[str]) -> None:
    """`DESCRIPTOR cut|keep`: where events go, and whether the network is taken away; the request is standard input."""
    descriptor, network = arguments
    die_with_parent()
    if network == "cut":
        cut_network()
    serve(sys.stdin.buffer.read().decode(), Sender(int(descriptor)))
    sys.stdout.flush()
    # What the user's code would do at its end is of no interest any more.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
