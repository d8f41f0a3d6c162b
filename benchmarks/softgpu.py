"""Speed of the software AMD GPU: instructions a second, and matrix products.

    .venv/bin/python benchmarks/softgpu.py --build build [--target gfx1100] [--threads 1]

Kernels of softgpu.cl, made by clang-22, are launched through libhsa-runtime64 once and several times; the difference is
what a launch costs. Least and median of the rounds are given; rates for each core come from the CPU time of the rounds'
launches, so that other work of the machine does not count. The matrix product is checked against NumPy.
"""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "softgpu"))
import run_opencl  # noqa: E402

TARGETS = ["gfx1100", "gfx942", "gfx90a", "gfx1201", "gfx1030"]
MATRIX = ("gfx1100", "gfx942", "gfx90a", "gfx1201")
LAUNCHES = 40


def launch(options, target, lines, stats=False):
    """Seconds, seconds of CPU time, and what was said."""
    environment = {**os.environ, **({"IREE_SOFTGPU_THREADS": str(options.threads)} if options.threads else {})}
    command = [str(options.build / "tools" / "iree-softgpu"), f"--target={target}", *(["--stats"] if stats else []),
               "--", str(options.build / "tests" / "softgpu_launch")]
    used, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    result = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=False,
                            env=environment)
    seconds, now = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode or "failed" in result.stdout:
        sys.exit(f"{result.stdout}{result.stderr}")
    return seconds, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime, result.stderr


def counter(text, name):
    return next(int(line.split()[0]) for line in text.splitlines() if line.strip().endswith(name))


def measure(options, target, code, case, folder):
    """Least and median seconds of a launch, its median CPU seconds, and how many lane operations one has."""
    script = run_opencl.script_of(case, folder)
    text = launch(options, target, [f"load {code}", *script], stats=True)[2]
    wave = 64 if target.startswith("gfx9") else 32
    operations = counter(text, "vector operations, one for each active lane") + wave * counter(
        text, "vector memory instructions")
    once, often = zip(*[(launch(options, target, [f"load {code}", *script]),
                         launch(options, target, [f"load {code}", *script[:-1], f"go {1 + LAUNCHES}"]))
                        for _ in range(options.rounds)])

    def difference(of, k):
        return (of(many[k] for many in often) - of(one[k] for one in once)) / LAUNCHES

    return difference(min, 0), difference(statistics.median, 0), difference(statistics.median, 1), operations


def check_product(case, folder):
    a, b, _ = [value.astype(np.float32).reshape(512, 512) for value in case.inputs()]
    ours = np.fromfile(folder / "2.out", np.float32).reshape(512, 512)
    theirs = a @ b.T
    error = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
    if error > 1e-5:
        sys.exit(f"matmul_f16 is wrong: relative error {error:.1e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--threads", type=int, default=0, help="threads that execute; all processors when not given")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    source = ROOT / "benchmarks" / "softgpu.cl"
    lines = source.read_text().splitlines()
    print("| kernel | target | least / median ms | ms of CPU | 10⁹ lane instructions a second a core | GFLOP/s "
          "| a core |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="iree-softgpu-") as name:
        folder = pathlib.Path(name)
        for target in options.target or TARGETS:
            code = run_opencl.compile_gpu(source, target, 3, folder)
            wave = 64 if target.startswith("gfx9") else 32
            waves = [line.replace("WAVES:64", str(64 * wave)).replace("WAVES:1", str(wave)) for line in lines]
            for case in (run_opencl.Case(source, match) for match in map(run_opencl.RUN.match, waves) if match):
                if case.kernel == "matmul_f16" and target not in MATRIX:
                    continue
                least, median, used, operations = measure(options, target, code, case, folder)
                rate, flops = f"{operations / used / 1e9:.2f}", ""
                if case.kernel == "matmul_f16":
                    check_product(case, folder)
                    rate, flops = "", f"{2 * 512 ** 3 / least / 1e9:.1f} | {2 * 512 ** 3 / used / 1e9:.1f}"
                times = f"{least * 1e3:.2f} / {median * 1e3:.2f} | {used * 1e3:.2f}"
                print(f"| {case.kernel} | {target} | {times} | {rate} | {flops or '|'} |", flush=True)


if __name__ == "__main__":
    main()
