"""Triton's kernels (triton_kernels.py) on the software NVIDIA GPU, through Triton's own launcher, against numpy.

    tests/softgpu/run_triton_nvidia.py --build build [--target sm_80] [--only NAME]

The triton package compiles without a GPU, to machine code by way of PTX. What its launcher loads is that PTX. Everything
runs once without checks and once under all, in a process of its own.
"""

import ctypes
import os
import pathlib
import sys
import tempfile

import numpy as np

import run_triton
import suite

TARGETS = ["sm_80"]


def cases(only):
    """Those that are not of one kind of AMD's GPUs, or those of them that are asked for."""
    everywhere = [case for case in run_triton.cases() if set(case.targets) == set(run_triton.TARGETS)]
    return [case for case in everywhere if not only or case.name in only]


class Driver:
    """Calls of libcuda that may not fail."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        if result := getattr(self.library, name)(*arguments):
            raise RuntimeError(f"{name} returned {result}")

    def upload(self, array):
        address, array = ctypes.c_uint64(), np.ascontiguousarray(array)
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(array.nbytes))
        self.call("cuMemcpyHtoD_v2", address, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))
        return address

    def download(self, address, size):
        out = bytearray(size)
        self.call("cuMemcpyDtoH_v2", (ctypes.c_char * size).from_buffer(out), address, ctypes.c_size_t(size))
        return bytes(out)


def run_case(driver, case, architecture):
    """Why the case failed, or None."""
    compiled = run_triton.compile_kernel(case, "cuda", architecture, 32)
    compiled.kernel = compiled.asm["ptx"].encode() + b"\0"
    arguments, results = [], []
    for value in case.arguments:
        array = value.start if isinstance(value, run_triton.Out) else value
        if isinstance(array, np.ndarray):
            address = driver.upload(array)
            if isinstance(value, run_triton.Out):
                results.append((value, address, array.nbytes))
            array = address.value
        arguments.append(array)
    compiled[case.grid](*arguments, *case.constants.values())
    driver.call("cuCtxSynchronize")
    return next(filter(None, (out.difference(driver.download(at, size)) for out, at, size in results)), None)


def run_inside(only, architecture):
    """In a process that finds the software GPU: a line for each case."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    driver = Driver()
    for case in cases(only):
        print(f"{case.name}: {run_case(driver, case, architecture) or 'ok'}", flush=True)


def main():
    parser = suite.arguments(__doc__)
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--inside", action="store_true", help="what this program starts itself with")
    options = parser.parse_args()
    if options.inside:
        run_inside(options.only, int(options.target[0].removeprefix("sm_")))
        return
    names, count, failures = [case.name for case in cases(options.only)], 0, []
    for target in options.target or TARGETS:
        with tempfile.TemporaryDirectory(prefix="iree-triton-") as folder:
            environment = {**os.environ, "TRITON_CACHE_DIR": folder, "TRITON_DEFAULT_FP_FUSION": "1"}
            for check in ([], ["--check=all"]):
                program = [sys.executable, __file__, "--build", options.build, "--inside", f"--target={target}",
                           *(f"--only={name}" for name in names)]
                result = suite.softgpu(options.build, [f"--target={target}", *check], program, env=environment)
                lines = result.stdout.splitlines()
                count += len(names)
                failures += [f"{target} {' '.join(check)} {line}" for line in lines if not line.endswith(": ok")]
                failures += [f"{target} {' '.join(check)}: a case did not run: {result.stderr[-2000:]}"] * (
                    len(names) - len(lines))
    suite.finish(count, failures)


if __name__ == "__main__":
    main()
