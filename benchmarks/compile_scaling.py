"""How compile time and memory grow with a program: compile_scaling.py --tools DIR [--family NAME]... [--most N]

Prints, for each family of programs (programs.py) and each length, the processor time of iree-compile, that time for
each block beyond what the shortest program takes, and the peak of resident memory. Compile time grows in proportion
when the time for a block stays the same down a column. Programs that take longer than --limit seconds end their family.
"""

import argparse
import pathlib
import tempfile

import programs
import tools

LENGTHS = (10, 100, 1000, 10000, 50000)
SHORT = ("attention", "associative_scan", "results", "wide_concat", "wide_sum", "state")  # up to 10,000


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
    parser.add_argument("--limit", type=float, default=120, help="seconds for one compilation")
    parser.add_argument("--flag", action="append", default=[], help="of iree-compile")
    options = parser.parse_args()
    compiler = tools.Tools(options.tools)
    print(f"{'family':16} {'blocks':>6} {'time':>11} {'each block':>11} {'memory':>11}")
    with tempfile.TemporaryDirectory() as folder:
        for family in options.family or programs.FAMILIES:
            print_family(compiler, family, pathlib.Path(folder), options)


if __name__ == "__main__":
    main()
