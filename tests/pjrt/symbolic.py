"""JAX programs whose sizes are known when they run, exported with symbolic shapes, against JAX's own CPU:
symbolic.py --tools DIR [--every N] [--only TEXT]... [--vmvx N] [--flag FLAG]...

Each program of symbolic_programs.py is exported once, compiled for the CPU (one in N for vmvx too), or for what the flags
say, and called.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"  # the reference

import jax  # noqa: E402
import numpy as np  # noqa: E402
from jax import export  # noqa: E402

from symbolic_programs import PROGRAMS  # noqa: E402

LOCAL = "--iree-hal-target-device=local"
BACKENDS = "--iree-hal-local-target-device-backends="


def call(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
    lines = done.stderr.strip().splitlines() or [""]
    errors = [line for line in lines if "error:" in line] or lines[-1:]
    return f"{pathlib.Path(command[0]).name}, exit {done.returncode}: {errors[0][:400]}" if done.returncode else None


def difference(number, found, wanted, tolerance):
    if found.shape != wanted.shape:
        return f"result {number} has shape {found.shape}, not {wanted.shape}"
    found = found.astype(wanted.dtype) if found.dtype == np.uint8 and wanted.dtype == bool else found
    if found.dtype != wanted.dtype:
        return f"result {number} is of {found.dtype}, not {wanted.dtype}"
    if wanted.dtype.kind not in "fc":
        return None if (found == wanted).all() else f"result {number} is\n{found}, not\n{wanted}"
    scale = max(1.0, np.abs(wanted[np.isfinite(wanted)]).max(initial=0))
    good = np.isclose(found, wanted, rtol=0, atol=tolerance * scale, equal_nan=True)
    return None if good.all() else f"result {number} is\n{found}, not\n{wanted}"


def run_program(job):
    name, backend, program, args, wanted, tolerance, options = job
    with tempfile.TemporaryDirectory(prefix="iree-symbolic-") as folder:
        path = pathlib.Path(folder)
        (path / "program.mlirbc").write_bytes(program)
        target = options.flag or [LOCAL, BACKENDS + backend]
        problem = call([f"{options.tools}/iree-compile", "--iree-input-type=stablehlo", *target, path / "program.mlirbc",
                        "-o", path / "module.vmfb"])
        for i, x in enumerate(args):
            np.save(path / f"in{i}.npy", x)
        problem = problem or call(
            [*options.launcher.split(), f"{options.tools}/iree-run-module", f"--device={options.device}",
             f"--module={path}/module.vmfb", "--function=main",
             *(f"--input=@{path}/in{i}.npy" for i in range(len(args))),
             *(f"--output=@{path}/out{i}.npy" for i in range(len(wanted)))])
        for i, x in enumerate(wanted):
            problem = problem or difference(i, np.load(path / f"out{i}.npy"), x, tolerance)
        return f"{name} ({backend})", problem


def jobs(options):
    """What to run: what JAX gives for the arguments, and the same program for arguments of any size."""
    for number, (area, name, function, shapes, args, tolerance, bounds) in enumerate(PROGRAMS):
        if number % options.every or (options.only and not any(text in f"{area}.{name}" for text in options.only)):
            continue
        jitted = jax.jit(function)
        exported = export.export(jitted)(*export.symbolic_args_specs(args, shapes, constraints=bounds))
        kept = [args[i] for i in exported.module_kept_var_idx]
        wanted = [np.asarray(x) for x in jax.tree.leaves(jitted(*args))]
        portable = not options.flag and number // options.every % options.vmvx == 0
        backends = ["llvm-cpu", "vmvx"] if portable else ["llvm-cpu"]
        for backend in backends:
            yield (f"{area}.{name}", backend, exported.mlir_module_serialized, kept, wanted, tolerance, options)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, help="folder of iree-compile and iree-run-module")
    parser.add_argument("--only", action="append", default=[], help="only programs whose name has this text")
    parser.add_argument("--every", type=int, default=1, help="only every n-th program")
    parser.add_argument("--vmvx", type=int, default=1, help="one in so many is compiled for vmvx too")
    parser.add_argument("--flag", action="append", help="iree-compile's target, instead of the CPU; repeatable")
    parser.add_argument("--device", default="local-sync")
    parser.add_argument("--launcher", default="", help="command to put before iree-run-module")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args()
    count = failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, problem in pool.map(run_program, jobs(options)):
            count, failed = count + 1, failed + (problem is not None)
            if problem:
                print(f"FAILED {name}: {problem}", flush=True)
    print(f"{count - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
