"""Driving the tools: import, compile, run and benchmark as a user would, from a folder of tools."""

import pathlib
import re
import subprocess
import sys

CPU_FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]


class ToolError(Exception):
    """A tool failed; the text is the command and the end of what it wrote to stderr."""

    def brief(self):
        """The line that tells what is wrong."""
        lines = str(self).splitlines()
        return next((line for line in lines if "error:" in line), lines[-1])[:200]


class Usage:
    """What a process took: wall seconds, CPU seconds, and peak resident bytes."""

    def __init__(self, wall, cpu, peak):
        self.wall, self.cpu, self.peak = wall, cpu, peak


def call(command, timeout=900):
    """Runs a command and returns its standard output, or raises ToolError."""
    words = [str(word) for word in command]
    try:
        result = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        raise ToolError(f"{' '.join(words)}\nno end after {timeout} s") from None
    except OSError as error:
        raise ToolError(f"{words[0]}: {error.strerror}") from None
    if result.returncode != 0:
        end = result.stderr.decode(errors="replace")[-1500:].strip()
        raise ToolError(f"{' '.join(words)}\nexit {result.returncode}: {end}")
    return result.stdout.decode(errors="replace")


def measure(command, timeout=900):
    """Runs a command for its Usage only; raises ToolError as call does."""
    helper = [sys.executable, "-S", "-E", pathlib.Path(__file__).with_name("measure.py")]
    return Usage(*(float(field) for field in call(helper + command, timeout).split()))


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
                   *[f"--input={text}" for text in inputs], *device, f"--benchmark_min_time={seconds}s",
                   "--time_unit=us"]
        return parse_samples(call(command))[0]


UNITS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}


def parse_samples(text, cpu=False):
    """Milliseconds of each repetition in the table that a benchmark printed: of wall time, or of the process's."""
    column = r"[\d.eE+-]+ \w+\s+" if cpu else ""
    found = re.findall(rf"^BM_[^\n]+?/real_time\s+{column}([\d.eE+-]+) (ns|us|ms|s)\s", text, re.MULTILINE)
    if not found:
        raise ToolError(f"no benchmark row in:\n{text[-1000:]}")
    return [float(number) * UNITS[unit] for number, unit in found]


def local_task(threads):
    """Device flags for the task system with a number of threads."""
    return ["--device=local-task", f"--task_topology_group_count={threads}"]


LOCAL_SYNC = ["--device=local-sync"]
