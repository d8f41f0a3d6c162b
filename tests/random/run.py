"""Random programs of the graph level against the reference evaluator.

    tests/random/run.py --runner build/tests/run_graphs [--count 300] [--seed 1] [--keep FOLDER]

Those of found/, which failed once, come first.

Each program is a chain of ops over a few arguments: shapes with sizes of 0 and 1, primes and more than a vector, sizes
known at run time, all element types (program.py says how exact they are). run_graphs says what it compares. Every row of
the compiler's table of ops must turn up among the first programs.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from generate import LEFT_OUT, Program

ROWS_AMONG = 1500


def run_batch(job):
    runner, files = job
    done = subprocess.run([runner, *map(str, files)], capture_output=True, text=True, errors="replace", check=False)
    return done.stdout + done.stderr


def missing_rows(runner, texts):
    """Rows of graph.def that no program has."""
    rows = subprocess.run([runner, "--rows"], capture_output=True, text=True, check=True).stdout.split()
    found = set(re.findall(r'"graph\.(\w+)"', "".join(texts)))
    return [row for row in rows if row not in found and row not in LEFT_OUT]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runner", required=True, help="the program run_graphs")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1, help="of the first program; the others' follow")
    parser.add_argument("--refuse-slow", action="store_true",
                        help="a program that takes over a second of processor time to compile fails")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the programs that fail")
    options = parser.parse_args()
    missing = missing_rows(options.runner, (Program(seed).text() for seed in range(ROWS_AMONG)))
    for row in missing:
        print(f"FAILED row {row}: none of {ROWS_AMONG} programs has it")
    passed, failed = int(not missing), len(missing)
    with tempfile.TemporaryDirectory(prefix="iree-random-") as folder:
        files = sorted(pathlib.Path(__file__).parent.glob("found/*.mlir"))
        for seed in range(options.seed, options.seed + options.count):
            files.append(pathlib.Path(folder, f"{seed}.mlir"))
            files[-1].write_text(Program(seed).text(), encoding="utf-8")
        jobs = [(options.runner, files[at:at + 10]) for at in range(0, len(files), 10)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for output in pool.map(run_batch, jobs):
                counts = re.search(r"^(\d+) passed, (\d+) failed$", output, re.M)
                passed, failed = passed + int(counts[1]), failed + int(counts[2])
                failed += options.refuse_slow * len(re.findall("^slow:", output, re.M))
                for line in output.splitlines():
                    if line.startswith(("FAILED", "slow")):
                        print(line.replace(folder + "/", "seed "), flush=True)
                    if options.keep and (at := re.match(r"(?:FAILED|slow:) (\S+\.mlir)", line)):
                        options.keep.mkdir(exist_ok=True)
                        shutil.copy(at[1], options.keep)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
