"""Driving the tools: import, compile, run and benchmark as a user would, from a folder of tools."""

import os
import pathlib
import re
import resource
import subprocess
import time

CPU_FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]


class ToolError(Exception):
    """A tool failed; the text is the command and the end of what it wrote to stderr."""


class Usage:
    """What a process took: wall seconds, CPU seconds, and peak resident bytes."""

    def __init__(self, wall, cpu, peak):
        self.wall, self.cpu, self.peak = wall, cpu, peak


def call(command, timeout=900):
    """Runs a command; returns its standard output and its Usage, or raises ToolError."""
    start = time.monotonic()
    with subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise ToolError(f"{pathlib.Path(command[0]).name}: no end after {timeout} s") from None
    wall = time.monotonic() - start
    if process.returncode != 0:
        raise ToolError(f"{' '.join(map(str, command))}\nexit {process.returncode}: "
                        f"{err.decode(errors='replace')[-1500:].strip()}")
    return out.decode(errors="replace"), Usage(wall, 0.0, 0)


def measure(command, timeout=900):
    """As call, but in a child of a child, so that CPU time and peak memory are this command's alone."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            message = measure_in_child(command, timeout)
        except ToolError as error:
            message = f"failed {error}"
        os.write(write_end, message.encode()[:4000])
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        message = pipe.read().decode()
    os.waitpid(child, 0)
    if message.startswith("failed "):
        raise ToolError(message[7:])
    return Usage(*(float(field) for field in message.split()))


def measure_in_child(command, timeout):
    usage = call(command, timeout)[1]
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return f"{usage.wall} {spent.ru_utime + spent.ru_stime} {spent.ru_maxrss * 1024}"


class Tools:
    """The tools of one folder, ours or another build with the same command lines."""

    def __init__(self, folder, flags=()):
        self.folder = pathlib.Path(folder)
        self.flags = list(flags)

    def path(self, name):
        return self.folder / name

    def import_onnx(self, source, target):
        return [self.path("iree-import-onnx"), source, "--opset-version", "17", "-o", target]

    def compile(self, source, target, flags=()):
        return [self.path("iree-compile"), *CPU_FLAGS, *self.flags, *flags, source, "-o", target]

    def run(self, module, function, inputs, options):
        """Inputs are what follows `--input=`; options are whole flags."""
        return [self.path("iree-run-module"), f"--module={module}", f"--function={function}",
                *[f"--input={text}" for text in inputs], *options]

    def benchmark(self, module, function, inputs, device, seconds=1.0):
        """Milliseconds of wall time per call, by iree-benchmark-module."""
        command = [self.path("iree-benchmark-module"), f"--module={module}", f"--function={function}",
                   *[f"--input={text}" for text in inputs], *device, f"--benchmark_min_time={seconds}s", "--time_unit=us"]
        return parse_benchmark(call(command)[0])


UNITS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}


def parse_benchmark(text):
    found = re.search(r"^BM_\S+\s+([\d.eE+-]+) (ns|us|ms|s)\s", text, re.MULTILINE)
    if not found:
        raise ToolError(f"no benchmark row in:\n{text[-1000:]}")
    return float(found[1]) * UNITS[found[2]]


def local_task(threads):
    """Device flags for the task system with a number of threads."""
    return ["--device=local-task", f"--task_topology_group_count={threads}"]


LOCAL_SYNC = ["--device=local-sync"]
