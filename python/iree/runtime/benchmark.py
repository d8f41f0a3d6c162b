"""iree-benchmark-module from Python."""

import json
import subprocess
import tempfile
from typing import NamedTuple, Optional

import numpy as np

from .scripts import find_tool

__all__ = ["BenchmarkResult", "BenchmarkTimeoutError", "BenchmarkToolError", "benchmark_exe", "benchmark_module"]


class BenchmarkToolError(Exception):
    """The tool failed; the text is what it said."""


class BenchmarkTimeoutError(Exception):
    """The tool took longer than `timeout` seconds."""


class BenchmarkResult(NamedTuple):
    benchmark_name: str
    time: str
    cpu_time: str
    iterations: str
    user_counters: Optional[str]


def benchmark_exe():
    """Path of iree-benchmark-module."""
    return find_tool("iree-benchmark-module")


def _input_flag(value, folder, number):
    if isinstance(value, str):
        return f"--input={value}"
    path = f"{folder}/{number}.npy"
    np.save(path, np.asarray(value))
    return f"--input=@{path}"


def benchmark_module(module, entry_function=None, inputs=(), timeout=None, **kwargs):
    """Measures functions of a module: a VmModule, a .vmfb file's path or its bytes.

    `inputs` are arrays, or text as --input= takes it. Other arguments are flags (`device="local-task"`). Returns a
    list of BenchmarkResult.
    """
    data = getattr(module, "stashed_flatbuffer_blob", module)
    flags = [f"--{name}={value}" for name, value in kwargs.items()]
    if entry_function:
        flags.append(f"--function={entry_function}")
    with tempfile.TemporaryDirectory() as folder:
        if not isinstance(data, (str, bytes, memoryview, bytearray)):
            data = str(data)
        name, stdin = (data, None) if isinstance(data, str) else ("-", bytes(data))
        flags += [_input_flag(value, folder, number) for number, value in enumerate(inputs)]
        command = [benchmark_exe(), f"--module={name}", "--benchmark_format=json", *flags]
        try:
            done = subprocess.run(command, input=stdin, capture_output=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            raise BenchmarkTimeoutError(f"no end after {timeout} s: {' '.join(command)}") from None
    if done.returncode:
        raise BenchmarkToolError(done.stderr.decode(errors="replace"))
    known = ("real_time", "cpu_time")
    results = []
    for each in json.loads(done.stdout)["benchmarks"]:
        real, cpu = (f"{each[key]:.4g} {each['time_unit']}" for key in known)
        counter = each.get("items_per_second")
        results.append(BenchmarkResult(each["name"], real, cpu, str(each["iterations"]),
                                       None if counter is None else f"items_per_second={counter:.6g}"))
    return results
