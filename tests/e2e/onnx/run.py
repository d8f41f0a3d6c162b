"""Runs ONNX's own backend tests as a user would: iree-compile, then iree-run-module on the data of the test.

    tests/e2e/onnx/run.py --tools build/tools [--target llvm-cpu|vmvx|gfx1100] [--every N] [--only TEXT]...

tests/import/onnx/suite.py says what is expected of each case.
"""

import argparse
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "import" / "onnx"))
import suite  # noqa: E402

LOCAL = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends="]
# The names of element types that .npy files do not have. Elements of less than a byte take one.
ELEMENTS = {"bfloat16": "bf16", "float8_e4m3fn": "f8E4M3FN", "float8_e4m3fnuz": "f8E4M3FNUZ", "float8_e5m2": "f8E5M2",
            "float8_e5m2fnuz": "f8E5M2FNUZ", "float8_e8m0fnu": "f8E8M0FNU", "float4_e2m1fn": "i8", "int4": "i8",
            "uint4": "i8", "int2": "i8", "uint2": "i8"}


def call(command, folder):
    try:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=120, check=False)
    except subprocess.TimeoutExpired:
        raise suite.Problem(f"{pathlib.Path(command[0]).name}: no end after 120 s") from None
    lines = [line for line in done.stderr.splitlines() if "error:" in line] or done.stderr.strip().splitlines()
    return done, (lines or [f"exit {done.returncode}"])[0]


def compile_case(case, options, folder):
    (folder / "model.onnx").write_bytes(case.model)
    flags = ["--iree-hal-target-device=amdgpu", f"--iree-rocm-target={options.target}"]
    if not options.target.startswith("gfx"):
        flags = [LOCAL[0], LOCAL[1] + options.target]
    done, text = call([options.tools / "iree-compile", *flags, "model.onnx", "-o", "model.vmfb"], folder)
    left_over = (folder / "model.vmfb").exists()
    if done.returncode:
        raise suite.Problem(text, refused=done.returncode == 1 and "error:" in text and not left_over)


def input_spec(value, path):
    """A flag for one argument, whose data are written beside it."""
    if not isinstance(value, (np.ndarray, np.generic)) or np.asarray(value).dtype.kind in "OUS":
        raise suite.Problem("an argument is no tensor of numbers")
    array = np.asarray(value)
    if suite.is_own_type(array):
        np.save(path.with_suffix(".npy"), array)
        return f"--input=@{path}.npy"
    suite.as_bits(array).tofile(path.with_suffix(".bin"))
    return f"--input={''.join(f'{size}x' for size in array.shape)}{ELEMENTS[array.dtype.name]}=@{path}.bin"


def read_result(wanted, path):
    array = np.asarray(wanted)
    if suite.is_own_type(array):
        return suite.as_type(np.load(path.with_suffix(".npy")), array)
    data = np.fromfile(path.with_suffix(".bin"), dtype=array.dtype)
    if data.size != array.size:
        raise suite.Problem(f"a result has {data.size} elements, not {array.size}")
    return data.reshape(array.shape)


def run_module(outputs, inputs, options, folder):
    gpu = options.target.startswith("gfx")
    launcher = [options.tools / "iree-softgpu", f"--target={options.target}", "--"] if gpu else []
    command = [*launcher, options.tools / "iree-run-module", f"--device={'amdgpu' if gpu else 'local-sync'}",
               "--module=model.vmfb", *inputs]
    paths = []
    for number, wanted in enumerate(outputs):
        if isinstance(wanted, (list, tuple, str)) or wanted is None or np.asarray(wanted).dtype.kind in "OUS":
            raise suite.Problem("a result is no tensor of numbers")
        suffix = ".npy" if suite.is_own_type(np.asarray(wanted)) else ".bin"
        paths.append(folder / f"out{number}")
        command.append(f"--output=@{paths[-1]}{suffix}")
    done, text = call(command, folder)
    if done.returncode:
        raise suite.Problem(f"iree-run-module: {text}")
    return [read_result(wanted, path) for wanted, path in zip(outputs, paths)]


def run_case(case, inputs, outputs, options, folder):
    if not (folder / "model.vmfb").exists():
        compile_case(case, options, folder)
    specs = [input_spec(value, folder / f"in{number}") for number, value in enumerate(inputs)]
    return run_module(outputs, specs, options, folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=pathlib.Path, required=True, help="folder of iree-compile and iree-run-module")
    parser.add_argument("--target", default="llvm-cpu", help="llvm-cpu, vmvx, or a GPU such as gfx1100")
    suite.add_arguments(parser)
    chosen = parser.parse_args()
    chosen.tools = chosen.tools.resolve()
    suite.main(run_case, chosen, chosen.target, chosen.tools.parent / "tests")
