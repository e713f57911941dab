"""What this machine can do: cores, memory, number types, and its measured speed.

Counts respect what the process is allowed, not what the box holds. torch is imported by the functions that need it.
"""

from __future__ import annotations

from clearformer.machine.backends import BackendSpeed, remember_backends, remembered_backends
from clearformer.machine.devices import (
    Accelerator,
    accelerators,
    check_memory,
    checked_device,
    checked_dtype,
    supported_dtypes,
    threads_of_torch,
    use_threads,
)
from clearformer.machine.memory import Memory, in_binary_units, memory
from clearformer.machine.processor import cores, cpu_features, cpu_name
from clearformer.machine.speed import Speed, known, matmul_gflops, measure, measured, read_gb_per_s, remembered, save

__all__ = [
    "Accelerator",
    "BackendSpeed",
    "Memory",
    "Speed",
    "accelerators",
    "check_memory",
    "checked_device",
    "checked_dtype",
    "cores",
    "cpu_features",
    "cpu_name",
    "in_binary_units",
    "known",
    "matmul_gflops",
    "measure",
    "measured",
    "memory",
    "read_gb_per_s",
    "remember_backends",
    "remembered",
    "remembered_backends",
    "save",
    "supported_dtypes",
    "threads_of_torch",
    "use_threads",
]
