"""Compiles programs that are long, wide or deep, runs some and compares: run.py --tools DIR [--only NAME]...

Every compilation gets little stack, bounded memory and a time limit that only a cliff reaches: exponential or quadratic
growth, recursion over a program's length, or a kernel that nothing bounds fail here. The programs are those of
benchmarks/programs.py, and limits/*.mlir: tensors that are absurdly large, calls without an end.
"""

import argparse
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "benchmarks"))
import programs  # noqa: E402  pylint: disable=wrong-import-position

LIMITS = pathlib.Path(__file__).with_name("limits")
STACK = 512 << 10
MEMORY = 8 << 30
FILE = 1 << 30
SECONDS = 120
FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]

# (family, n, whether the results are computed too)
CASES = [
    ("softmax", 5, True), ("softmax", 10, True), ("layer_norm", 8, True), ("layer_norm", 40, True),
    ("associative_scan", 33, True), ("associative_scan", 200, True), ("squares", 60, True),
    ("attention", 12, True), ("concat", 60, True), ("elementwise", 300, True),
    ("relu", 2000, True), ("repeated_sum", 20000, True), ("deep_text", 50000, False), ("elementwise", 50000, False),
    ("softmax", 3000, False), ("attention", 300, False),
    ("calls", 5000, True), ("calls", 20000, False), ("state", 2000, True), ("state", 10000, False),
    ("wide_concat", 300, True), ("wide_sum", 250, True), ("wide_concat", 3000, False), ("wide_sum", 5000, False),
    ("results", 2000, True), ("dynamic", 100, True), ("dynamic", 12000, False), ("wide_dynamic", 300, True),
    ("many_arguments", 6000, True), ("carried", 600, True), ("carried", 10000, False), ("loops", 60, True),
    ("loops", 6000, False), ("branches", 2000, True), ("nested", 250, True), ("numbers", 33000, True),
    ("sizes", 60, True), ("sizes", 5000, True),
    ("exports", 66000, True), ("many_arguments", 33000, False),
]


class Failure(Exception):
    """What went wrong, in a line."""


def limit():
    """In the child: the stack of the main thread and, with it, of those that are made."""
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, STACK))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))


def start(command, limits):
    """Runs a command to its end; raises Failure when it takes too long."""
    try:
        return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=SECONDS, check=False, preexec_fn=limits)
    except subprocess.TimeoutExpired:
        raise Failure(f"{command[0].name}: no end after {SECONDS} s") from None


def call(command, limits=None):
    """Runs a command; raises Failure unless it succeeds."""
    done = start(command, limits)
    if done.returncode:
        text = done.stderr.decode(errors="replace").strip().splitlines()
        raise Failure(f"{command[0].name}: exit {done.returncode}: {text[0][:300] if text else ''}")


def input_flag(array):
    """An argument's text."""
    shape = "".join(f"{size}x" for size in array.shape)
    return f"--input={shape}f32={','.join(repr(float(x)) for x in array.ravel())}"


def check_results(tools, module, program, folder):
    """Runs the module and compares each result."""
    expected = program.reference()
    files = [folder / f"result{i}.npy" for i in range(len(expected))]
    call([tools / "iree-run-module", f"--module={module}", "--device=local-sync", "--function=main",
          *map(input_flag, program.inputs), *[f"--output=@{file}" for file in files]])
    for i, (file, array) in enumerate(zip(files, expected)):
        found = numpy.load(file)
        if found.shape != array.shape or not numpy.allclose(found, array, rtol=1e-3, atol=1e-4):
            raise Failure(f"result {i} differs: {found.ravel()[:4]} instead of {array.ravel()[:4]}")


def check_text(tools, source, folder):
    """What the compiler prints of a program must be readable, at any length."""
    printed = folder / "printed.mlir"
    call([tools / "iree-compile", *FLAGS, "--compile-to=input", source, "-o", printed], limit)
    call([tools / "iree-opt", "--pass=cse", "--pass=dce", printed, "-o", folder / "again.mlir"], limit)


def check_size(module, limit_bytes):
    """Weights that blocks share are in the module once."""
    if module.stat().st_size > limit_bytes:
        raise Failure(f"the module has {module.stat().st_size} bytes, more than {limit_bytes}")


def run_case(tools, case, folder):
    """One program; raises Failure."""
    family, n, runs = case
    program = programs.FAMILIES[family](n)
    source = program.write(folder / "program")
    module = folder / "program.vmfb"
    call([tools / "iree-compile", *FLAGS, source, "-o", module], limit)
    if family == "attention":
        check_size(module, 200_000 + 2000 * n)
    if runs:
        check_results(tools, module, program, folder)
    if n >= 50000:
        check_text(tools, source, folder)


def check_limit(tools, file, folder):
    """A program at or beyond a limit: it compiles, or is refused with the error that its first line asks for."""
    wanted = re.match(r"// error: (.*)\n", file.read_text())
    module = folder / "program.vmfb"
    done = start([tools / "iree-compile", *FLAGS, file, "-o", module], limit)
    text = done.stderr.decode(errors="replace")
    if not wanted:
        if done.returncode:
            raise Failure(f"exit {done.returncode}: {text[:300]}")
        return check_size(module, 100_000)
    if done.returncode != 1 or module.exists() or len(re.findall(r"\berror:", text)) != 1:
        raise Failure(f"exit {done.returncode}, wanted one error and no module: {text[:300]}")
    if not re.search(wanted.group(1), text):
        raise Failure(f"wanted {wanted.group(1)}: {text[:300]}")
    return None


def few_files():
    """In the child: fewer open files than it reads."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))


def sum_program(count):
    """Adds up vectors that are arguments."""
    vector, names = "tensor<4xf32>", ["%a0"] + [f"%s{i}" for i in range(1, count)]
    lines = [f"  %s{i} = stablehlo.add {names[i - 1]}, %a{i} : {vector}" for i in range(1, count)]
    arguments = ", ".join(f"%a{i}: {vector}" for i in range(count))
    return "\n".join([f"func.func @main({arguments}) -> {vector} {{", *lines, f"  return {names[-1]} : {vector}", "}"])


def check_inputs(tools, count, folder):
    """Arguments from as many files, from one file after each other, and from a list of files."""
    source, module, every = folder / "program.mlir", folder / "program.vmfb", folder / "all.npy"
    source.write_text(sum_program(count))
    call([tools / "iree-compile", *FLAGS, source, "-o", module], limit)
    arrays = numpy.arange(4 * count, dtype=numpy.float32).reshape(count, 4)
    files = [folder / f"input{i}.npy" for i in range(count)]
    with open(every, "wb") as stream:
        for file, array in zip(files, arrays):
            numpy.save(file, array)
            numpy.save(stream, array)
    (folder / "list.txt").write_text("\n".join(f"@{file}" for file in files))
    specs = {"files": [f"@{file}" for file in files], "list": [f"@{folder}/list.txt"],
             "stream": [f"@{every}", *[f"+{every}"] * (count - 1)]}
    for name, inputs in specs.items():
        call([tools / "iree-run-module", f"--module={module}", "--device=local-sync", "--function=main",
              *[f"--input={spec}" for spec in inputs], f"--output=@{folder}/result.npy"], few_files)
        found = numpy.load(folder / "result.npy")
        if not numpy.allclose(found, arrays.sum(axis=0)):
            raise Failure(f"{name}: {found} instead of {arrays.sum(axis=0)}")


def main():
    """Runs all cases, or those whose name contains a word of --only."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--only", action="append", default=[])
    options = parser.parse_args()
    jobs = [(f"{case[0]}-{case[1]}", run_case, case) for case in CASES]
    jobs += [("inputs-250", check_inputs, 250)]
    jobs += [(f"limits/{file.stem}", check_limit, file) for file in sorted(LIMITS.glob("*.mlir"))]
    failed = passed = 0
    for name, check, case in jobs:
        if options.only and not any(word in name for word in options.only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(options.tools, case, pathlib.Path(folder))
                passed += 1
            except Failure as failure:
                failed += 1
                print(f"FAILED {name}: {failure}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
