"""Compiles and runs every program of tests/import/lowering: run.py --tools DIR [--only TEXT]... [--flag FLAG]...

Each function there says what it gives for what (see tests/import/lowering/case.py); the reference evaluator has agreed.
Here the same function is compiled for the CPU and called on local-sync.
"""

import multiprocessing
import pathlib
import re
import sys
import tempfile

import numpy as np

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS))
import runner  # noqa: E402

ROOT = TESTS / "import" / "lowering"
FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i1": np.bool_, "i8": np.int8, "i16": np.int16,
         "i32": np.int32, "i64": np.int64, "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64}
LITERAL = re.compile(r"dense<([^>]*)> : tensor<((?:\d+x)*)(\w+)>")
NUMBER = re.compile(r"[^\s,\[\]]+")


def element(text, dtype):
    if text in ("true", "false"):
        return text == "true"
    if text.startswith("0x"):
        value = int(text, 16)
        return np.array(value, f"u{dtype().itemsize}").view(dtype)[()] if np.issubdtype(dtype, np.floating) else value
    return dtype(text) if np.issubdtype(dtype, np.floating) else int(text)


def literals(line):
    """The arrays of a list of dense literals."""
    arrays = []
    for text, dims, kind in LITERAL.findall(line):
        shape = tuple(int(d) for d in dims.split("x")[:-1])
        values = [element(number, TYPES[kind]) for number in NUMBER.findall(text)]
        array = np.array(values, dtype=TYPES[kind])
        arrays.append(np.full(shape, array[0]) if array.size == 1 else array.reshape(shape))
    return arrays


def functions(path):
    """What each test of a file is, see run_case; functions without a test go with all others."""
    parts = re.split(r"(?m)^(?=func\.func |ml_program|util\.global)", path.read_text(encoding="utf-8"))[1:]
    helpers = "".join(part for part in parts if "test.out" not in part)
    for part in parts:
        name = re.match(r"func\.func @(\w+)", part)
        tests = {key: re.search(rf"test\.{key} = \[(.*?)\],?\s*\n\s*(?:test\.|\}})", part, re.S) for key in ("in", "out")}
        if not name or not tests["out"]:
            continue
        tolerance = re.search(r"test\.tolerance = ([0-9.e-]+)", part)
        arguments, results = re.match(r"func\.func @\w+\((.*?)\) -> (.*?) attributes", part, re.S).groups()
        scalars = [[not kind.startswith("tensor") for kind in re.findall(r"tensor<[^>]*>|\b[fi]\d+\b|index", text)]
                   for text in (arguments, results)]
        yield (name[1], part + helpers, literals(tests["in"][1]) if tests["in"] else [], literals(tests["out"][1]),
               float(tolerance[1]) if tolerance else 1e-5, scalars)


def difference(number, found, wanted, tolerance):
    if found.shape != wanted.shape or found.dtype.itemsize != wanted.dtype.itemsize:
        return f"result {number} is {found.dtype}{found.shape}, not {wanted.dtype}{wanted.shape}"
    if wanted.dtype.kind in "iub":
        return None if (found.view(wanted.dtype) == wanted).all() else f"result {number} is\n{found}, not\n{wanted}"
    exact, scale = wanted.astype(np.float64), 0.0
    if np.isfinite(exact).any():
        scale = np.abs(exact[np.isfinite(exact)]).max()
    # As the reference evaluator's, but that kernels compute f16 and f32 in their own width.
    tolerance = max(tolerance, {2: 2e-3, 4: 5e-5}.get(wanted.dtype.itemsize, 0))
    good = np.isclose(found.astype(np.float64), exact, rtol=0, atol=tolerance * scale, equal_nan=True)
    return None if good.all() else f"result {number} is\n{found}, not\n{wanted}"


def run_module(path, function, job, options):
    """Calls the function; numbers instead of tensors are passed as text, and come back as bytes."""
    _, inputs, outputs, _, (numbers, results) = job
    arguments = []
    for number, array in enumerate(inputs):
        np.save(path / f"in{number}.npy", array)
        plain = array.astype(np.uint8) if array.dtype.kind == "b" else array
        arguments.append(f"--input={plain}" if numbers[number] else f"--input=@{path}/in{number}.npy")
    names = [f"{path}/out{i}.{'bin' if results[i] else 'npy'}" for i in range(len(outputs))]
    arguments += (f"--output=@{name}" for name in names)
    problem = runner.run_module(options, path / "module.vmfb", function, arguments)
    if problem:
        return problem, None
    return None, [np.load(name) if name.endswith("npy") else
                  np.frombuffer(pathlib.Path(name).read_bytes()[:wanted.itemsize], wanted.dtype).reshape(())
                  for name, wanted in zip(names, outputs)]


def run_case(job):
    name, options, *test = job
    text, _, outputs, tolerance, _ = test
    with tempfile.TemporaryDirectory(prefix="iree-lowering-") as folder:
        path = pathlib.Path(folder)
        (path / "program.mlir").write_text(text, encoding="utf-8")
        problem = runner.compile_program(options, options.flag or FLAGS, path / "program.mlir", path / "module.vmfb")
        if problem:
            return name, problem
        problem, found = run_module(path, name.split("/")[-1], test, options)
        if problem:
            return name, problem
        for number, wanted in enumerate(outputs):
            problem = difference(number, found[number], wanted, tolerance)
            if problem:
                return name, problem
    return name, None


def main():
    options = runner.options_of(__doc__).parse_args()
    jobs = []
    for path in sorted(ROOT.glob("*/*.mlir")):
        for name, *rest in functions(path):
            name = f"{path.parent.name}/{path.stem}/{name}"
            if runner.is_wanted(name, options):
                jobs.append((name, options, *rest))
    with multiprocessing.Pool(options.jobs) as pool:
        return runner.report(pool.imap(run_case, jobs, chunksize=4))


if __name__ == "__main__":
    sys.exit(main())
