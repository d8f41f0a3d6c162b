"""Conversions between all number formats: run.py --tools DIR [--only KIND]... [--flag FLAG]... [--device D --launcher L]

For each format of src/base/formats.def and each narrow integer a function widens every bit pattern to f32, and others
narrow f32 and f64 numbers (edges of the format, halfway points, specials). What ml_dtypes says is right. Elements below
8 bits go in and come out packed. Everything is one module, so that a target's code generation is paid once.
"""

import argparse
import pathlib
import shlex
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
FLOATS = {"f8E3M4": "float8_e3m4", "f8E4M3": "float8_e4m3", "f8E4M3FN": "float8_e4m3fn",
          "f8E4M3FNUZ": "float8_e4m3fnuz", "f8E4M3B11FNUZ": "float8_e4m3b11fnuz", "f8E5M2": "float8_e5m2",
          "f8E5M2FNUZ": "float8_e5m2fnuz", "f8E8M0FNU": "float8_e8m0fnu", "f6E2M3FN": "float6_e2m3fn",
          "f6E3M2FN": "float6_e3m2fn", "f4E2M1FN": "float4_e2m1fn", "bf16": "bfloat16"}
INTEGERS = ["i2", "i3", "i4", "i5", "i6", "i7"]


def width(kind):
    return 16 if kind == "bf16" else int(kind[1])


def pack(codes, bits):
    """Codes of `bits` each as bytes without gaps, the first lowest."""
    spread = (codes[:, None].astype(np.uint32) >> np.arange(bits)) & 1
    return np.packbits(spread.astype(np.uint8).ravel(), bitorder="little").tobytes()


def decode(codes, kind):
    """What codes stand for, as f64."""
    if kind in FLOATS:
        bits = codes.astype(np.uint16 if width(kind) == 16 else np.uint8)
        with np.errstate(invalid="ignore"):
            return bits.view(getattr(ml_dtypes, FLOATS[kind])).astype(np.float64)
    half = 1 << (width(kind) - 1)
    return ((codes.astype(np.int64) + half) % (2 * half) - half).astype(np.float64)


def samples(kind):
    """The format's numbers, what lies between them and just beside, and specials; all are exact in f32."""
    values = decode(np.arange(1 << min(width(kind), 12)) * (16 if kind == "bf16" else 1), kind)
    values = np.sort(values[np.isfinite(values)])
    middle = (values[:-1] + values[1:]) / 2
    near = [np.nextafter(middle.astype(np.float32), np.float32(side)) for side in (np.inf, -np.inf)]
    special = [0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e38, -1e38, values[-1] * 2, values[0] * 2]
    with np.errstate(over="ignore"):
        numbers = np.concatenate([values, middle, *near, special]).astype(np.float32)
    if kind == "f8E8M0FNU":  # where ml_dtypes does not give the nearest: just below 1.5 * 2^-127
        numbers = numbers[numbers != np.nextafter(np.float32(1.5 * 2**-127), np.float32(0))]
    return numbers[: len(numbers) // 2 * 2 - 1]  # an odd number: the last byte of packed elements is not full


def encode(numbers, kind):
    with np.errstate(all="ignore"):
        codes = numbers.astype(getattr(ml_dtypes, FLOATS[kind]))
    return codes.view(np.uint16 if width(kind) == 16 else np.uint8)


def program(kinds):
    text = ""
    for kind in kinds:
        every, some = 1 << width(kind), len(samples(kind)) if kind in FLOATS else 0
        text += f"""func.func @widen_{kind}(%a: tensor<{every}x{kind}>) -> tensor<{every}xf32> {{
  %0 = stablehlo.convert %a : (tensor<{every}x{kind}>) -> tensor<{every}xf32>
  return %0 : tensor<{every}xf32>
}}
func.func @same_{kind}(%a: tensor<?x{kind}>) -> tensor<?x{kind}> {{
  %0 = stablehlo.reverse %a, dims = [0] : tensor<?x{kind}>
  return %0 : tensor<?x{kind}>
}}
"""
        for wide in ("f32", "f64") if some else ():
            text += f"""func.func @narrow_{kind}_{wide}(%a: tensor<{some}x{wide}>) -> tensor<{some}x{kind}> {{
  %0 = stablehlo.convert %a : (tensor<{some}x{wide}>) -> tensor<{some}x{kind}>
  return %0 : tensor<{some}x{kind}>
}}
"""
    return text


class Runner:
    """One compiled module and how to call it."""

    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)

    def command(self, words):
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.decode(errors="replace").strip()[-400:])

    def compile(self, text):
        (self.folder / "program.mlir").write_text(text, encoding="utf-8")
        self.command([f"{self.options.tools}/iree-compile", *(self.options.flag or FLAGS), self.folder / "program.mlir",
                      "-o", self.folder / "module.vmfb"])

    def call(self, function, kind, count, data):
        (self.folder / "in.bin").write_bytes(data)
        self.command([*shlex.split(self.options.launcher), f"{self.options.tools}/iree-run-module",
                      f"--device={self.options.device}", f"--module={self.folder}/module.vmfb",
                      f"--function={function}", f"--input={count}x{kind}=@{self.folder}/in.bin",
                      f"--output=@{self.folder}/out.bin"])
        return (self.folder / "out.bin").read_bytes()


def raw(codes, kind):
    return codes.astype("<u2").tobytes() if width(kind) == 16 else pack(codes, width(kind))


def equal(found, wanted):
    """Elementwise: equal numbers of one sign, or two NaNs."""
    return (found == wanted) & (np.signbit(found) == np.signbit(wanted)) | np.isnan(found) & np.isnan(wanted)


def check_widen(runner, kind):
    codes = np.arange(1 << width(kind))
    found = np.frombuffer(runner.call(f"widen_{kind}", kind, len(codes), raw(codes, kind)), np.float32)
    wanted = decode(codes, kind).astype(np.float32)  # exact
    bad = np.flatnonzero(~equal(found, wanted))
    return [f"{kind} {codes[i]:#x} is {found[i]}, not {wanted[i]}" for i in bad[:4]]


def check_same(runner, kind):
    codes = np.arange((1 << width(kind)) - 1) % 251
    found = runner.call(f"same_{kind}", kind, len(codes), raw(codes, kind))
    return [] if found == raw(codes[::-1], kind) else [f"{kind}: reversed codes are {found[:16].hex()}..."]


def check_narrow(runner, kind, wide):
    numbers = samples(kind).astype(np.float32 if wide == "f32" else np.float64)
    found, codes = runner.call(f"narrow_{kind}_{wide}", wide, len(numbers), numbers.tobytes()), encode(numbers, kind)
    if width(kind) < 8:
        bits = np.unpackbits(np.frombuffer(found, np.uint8), bitorder="little")[: len(codes) * width(kind)]
        found = np.packbits(bits.reshape(len(codes), width(kind)), axis=1, bitorder="little").ravel()
    else:
        found = np.frombuffer(found, codes.dtype)
    bad = np.flatnonzero(~equal(decode(found, kind), decode(codes, kind)))
    return [f"{numbers[i]!r} as {kind} is {found[i]:#x}, not {codes[i]:#x}" for i in bad[:4]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, help="folder of iree-compile and iree-run-module")
    parser.add_argument("--only", action="append", help="only formats with this text")
    parser.add_argument("--flag", action="append", help="iree-compile's target, instead of the CPU; repeatable")
    parser.add_argument("--device", default="local-sync")
    parser.add_argument("--launcher", default="", help="command to put before iree-run-module")
    options = parser.parse_args()
    kinds = [k for k in [*FLOATS, *INTEGERS] if not options.only or any(text in k for text in options.only)]
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="iree-formats-") as folder:
        runner = Runner(options, folder)
        runner.compile(program(kinds))
        for kind in kinds:
            checks = [(check_widen, kind), (check_same, kind)]
            checks += [(check_narrow, kind, wide) for wide in ("f32", "f64") if kind in FLOATS]
            for function, *arguments in checks:
                try:
                    problems = function(runner, *arguments)
                except RuntimeError as error:
                    problems = [str(error)]
                passed, failed = passed + (not problems), failed + bool(problems)
                for problem in problems:
                    print(f"FAILED {function.__name__} {problem}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
