"""JAX programs whose sizes are known when they run, exported with symbolic shapes, against JAX's own CPU:
symbolic.py --tools DIR [--every N] [--only TEXT]... [--vmvx N] [--flag FLAG]...

Each program of symbolic_programs.py is exported once, compiled for the CPU (one in N for vmvx too), or for what the flags
say, and called.
"""

import concurrent.futures
import os
import pathlib
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"  # the reference

import jax  # noqa: E402
import numpy as np  # noqa: E402
from jax import export  # noqa: E402

from symbolic_programs import PROGRAMS  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import runner  # noqa: E402

LOCAL = "--iree-hal-target-device=local"
BACKENDS = "--iree-hal-local-target-device-backends="
SECONDS = 300  # that a command may take


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
        problem = runner.compile_program(options, ["--iree-input-type=stablehlo", *target], path / "program.mlirbc",
                                           path / "module.vmfb", SECONDS)
        for i, x in enumerate(args):
            np.save(path / f"in{i}.npy", x)
        arguments = [*(f"--input=@{path}/in{i}.npy" for i in range(len(args))),
                     *(f"--output=@{path}/out{i}.npy" for i in range(len(wanted)))]
        problem = problem or runner.run_module(options, path / "module.vmfb", "main", arguments, SECONDS)
        for i, x in enumerate(wanted):
            problem = problem or difference(i, np.load(path / f"out{i}.npy"), x, tolerance)
        return f"{name} ({backend})", problem


def jobs(options):
    """What to run: what JAX gives for the arguments, and the same program for arguments of any size."""
    for number, (area, name, function, shapes, args, tolerance, bounds) in enumerate(PROGRAMS):
        if number % options.every or not runner.is_wanted(f"{area}.{name}", options):
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
    parser = runner.options_of(__doc__)
    parser.add_argument("--every", type=int, default=1, help="only every n-th program")
    parser.add_argument("--vmvx", type=int, default=1, help="one in so many is compiled for vmvx too")
    options = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        return runner.report(pool.map(run_program, jobs(options)))


if __name__ == "__main__":
    sys.exit(main())
