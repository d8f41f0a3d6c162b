"""Runs ONNX's own backend tests as a user would: iree-compile, then iree-run-module on the data of the test.

    tests/e2e/onnx/run.py --tools build/tools [--target llvm-cpu|vmvx|gfx1100] [--every N] [--only TEXT]...

tests/import/onnx/suite.py says what is expected of each case.
"""

import argparse
import functools
import pathlib
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "import" / "onnx"))
import suite  # noqa: E402

LOCAL = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends="]
# The names of element types that .npy files do not have, and bits of an element.
ELEMENTS = {"bfloat16": ("bf16", 16), "float8_e4m3fn": ("f8E4M3FN", 8), "float8_e4m3fnuz": ("f8E4M3FNUZ", 8),
            "float8_e5m2": ("f8E5M2", 8), "float8_e5m2fnuz": ("f8E5M2FNUZ", 8), "float8_e8m0fnu": ("f8E8M0FNU", 8),
            "float4_e2m1fn": ("f4E2M1FN", 4), "int4": ("i4", 4), "uint4": ("i4", 4), "int2": ("i2", 2),
            "uint2": ("i2", 2)}


def pack(array, width):
    """Elements as bytes, those of less than a byte side by side from the lowest bit on."""
    codes = suite.as_bits(array)
    if width >= 8:
        return codes.tobytes()
    bits = np.unpackbits(codes.reshape(-1, 1), axis=1, count=width, bitorder="little")
    return np.packbits(bits, bitorder="little").tobytes()


def unpack(data, dtype, width, count):
    if width >= 8:
        return np.frombuffer(data, dtype=dtype)
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[:count * width].reshape(count, width)
    codes = np.packbits(bits, axis=1, bitorder="little").reshape(-1)
    if np.dtype(dtype).name.startswith("int"):
        codes = (codes ^ (1 << (width - 1))) - (1 << (width - 1))
    return codes.astype(np.uint8).view(dtype)


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


def input_spec(array, path):
    """A flag for one argument, whose data are written beside it."""
    if suite.is_own_type(array):
        np.save(path.with_suffix(".npy"), array)
        return f"--input=@{path}.npy"
    name, width = ELEMENTS[array.dtype.name]
    path.with_suffix(".bin").write_bytes(pack(array, width))
    return f"--input={''.join(f'{size}x' for size in array.shape)}{name}=@{path}.bin"


def read_result(template, path, shape):
    if suite.is_own_type(template):
        return suite.as_type(np.load(path.with_suffix(".npy")), template)
    data, count, width = path.with_suffix(".bin").read_bytes(), int(np.prod(shape)), ELEMENTS[template.dtype.name][1]
    if len(data) != (count * width + 7) // 8:
        raise suite.Problem(f"a result of {count} elements has {len(data)} bytes")
    return unpack(data, template.dtype, width, count).reshape(shape)


def printed_shapes(command, folder, count):
    """The shapes of results, as they are printed: files of bytes have none."""
    done, _ = call(command, folder)
    lines = iter(done.stdout.splitlines())
    shapes = [next(lines).split("=")[0].split("x")[:-1] for line in lines if re.match(r"result\[\d+\]: hal", line)]
    if len(shapes) != count:
        raise suite.Problem(f"{len(shapes)} results are printed, not {count}")
    return [[int(size) for size in shape] for shape in shapes]


def run_module(options, folder, arguments, templates):
    gpu = options.target.startswith("gfx")
    launcher = [options.tools / "iree-softgpu", f"--target={options.target}", "--"] if gpu else []
    command = [*launcher, options.tools / "iree-run-module", f"--device={'amdgpu' if gpu else 'local-sync'}",
               "--module=model.vmfb", *(input_spec(array, folder / f"in{i}") for i, array in enumerate(arguments))]
    paths = [folder / f"out{number}" for number in range(len(templates))]
    own = [suite.is_own_type(template) for template in templates]
    done, text = call([*command, *(f"--output=@{path}{'.npy' if npy else '.bin'}" for path, npy in zip(paths, own))],
                      folder)
    if done.returncode:
        raise suite.Problem(f"iree-run-module: {text}")
    shapes = [None] * len(templates) if all(own) else printed_shapes(command, folder, len(templates))
    return [read_result(*result) for result in zip(templates, paths, shapes)]


def run_case(case, options, folder):
    compile_case(case, options, folder)
    return functools.partial(run_module, options, folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=pathlib.Path, required=True, help="folder of iree-compile and iree-run-module")
    parser.add_argument("--target", default="llvm-cpu", help="llvm-cpu, vmvx, or a GPU such as gfx1100")
    suite.add_arguments(parser)
    chosen = parser.parse_args()
    chosen.tools = chosen.tools.resolve()
    suite.main(run_case, chosen, chosen.target, chosen.tools.parent / "tests")
