"""How compile time and memory grow with a program: compile_scaling.py --tools DIR [--family NAME]... [--most N]

Prints, for each family of programs (programs.py) and each length, the processor time of iree-compile, that time for
each block beyond what the shortest program takes, and the peak of resident memory. Compile time grows in proportion
when the time for a block stays the same down a column. Programs that take longer than --limit seconds end their family.
With --instructions valgrind counts what is executed instead, which is the same however busy the machine is.
"""

import argparse
import pathlib
import re
import subprocess
import tempfile

import programs
import tools

LENGTHS = (10, 100, 1000, 10000, 50000)
SHORT = ("attention", "associative_scan", "results", "wide_concat", "wide_sum", "state")  # up to 10,000


def instructions(command, limit):
    """How many are executed, in millions."""
    counter = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    try:
        done = subprocess.run([*counter, *map(str, command)], capture_output=True, text=True, timeout=limit,
                              check=False)
    except subprocess.TimeoutExpired:
        raise tools.ToolError(f"no end after {limit} s") from None
    count = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if done.returncode or not count:
        raise tools.ToolError(done.stderr)
    return int(count[1].replace(",", "")) / 1e6


def print_instructions(compiler, family, folder, options):
    """One line for each length: all, and for each block beyond the shortest program."""
    least = None
    for n in LENGTHS:
        if n > options.most or (n > 10000 and family in SHORT):
            return
        source = programs.FAMILIES[family](n).write(folder / "program")
        command = compiler.compile(source, folder / "program.vmfb", options.flag)
        try:
            count = instructions(command, options.limit)
        except tools.ToolError as error:
            print(f"{family:16} {n:6}  {error.brief()}")
            return
        least = least or (n, count)
        each = f"{(count - least[1]) / (n - least[0]) * 1e3:8.0f} k" if n > least[0] else ""
        print(f"{family:16} {n:6} {count:11.1f} M {each:>11}", flush=True)


def measure(compiler, family, n, folder, options):
    """Least processor seconds of --repeats compilations, and the peak in bytes."""
    source = programs.FAMILIES[family](n).write(folder / "program")
    command = compiler.compile(source, folder / "program.vmfb", options.flag)
    usages = [tools.measure(command, options.limit) for _ in range(options.repeats)]
    return min(usage.cpu for usage in usages), min(usage.peak for usage in usages)


def print_family(compiler, family, folder, options):
    """One line for each length."""
    least = None
    for n in LENGTHS:
        if n > options.most or (n > 10000 and family in SHORT):
            return
        try:
            seconds, peak = measure(compiler, family, n, folder, options)
        except tools.ToolError as error:
            print(f"{family:16} {n:6}  {error.brief()}")
            return
        least = least or (n, seconds)
        each = f"{(seconds - least[1]) / (n - least[0]) * 1e6:8.0f} us" if n > least[0] else " " * 11
        print(f"{family:16} {n:6} {seconds:9.3f} s {each} {peak / 2**20:7.0f} MiB", flush=True)


def main():
    """Measures all families or those named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=pathlib.Path, default=pathlib.Path("build/tools"))
    parser.add_argument("--family", action="append", choices=list(programs.FAMILIES), default=[])
    parser.add_argument("--most", type=int, default=LENGTHS[-1], help="greatest length")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--instructions", action="store_true", help="count instructions (valgrind)")
    parser.add_argument("--limit", type=float, default=120, help="seconds for one compilation")
    parser.add_argument("--flag", action="append", default=[], help="of iree-compile")
    options = parser.parse_args()
    compiler = tools.Tools(options.tools)
    print(f"{'family':16} {'blocks':>6} {'in all':>13} {'each block':>11}")
    show = print_instructions if options.instructions else print_family
    with tempfile.TemporaryDirectory() as folder:
        for family in options.family or programs.FAMILIES:
            show(compiler, family, pathlib.Path(folder), options)


if __name__ == "__main__":
    main()
