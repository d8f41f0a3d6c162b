"""Checks every benchmark model against ONNX Runtime and every sample against its known result, and prints a table.

A model passes when no output is further from ONNX Runtime's than 1e-4 of that output's largest element, on local-sync
and on local-task.
"""

import argparse
import pathlib
import sys
import time

import numpy as np
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks" / "models")]
import dynamic  # noqa: E402
import make  # noqa: E402
from tools import LOCAL_SYNC, ToolError, Tools, call, local_task, measure  # noqa: E402

TOLERANCE = 1e-4
HALVES_TOLERANCE = 1e-2
BYTES_STEP = 0.05  # of the largest result, for networks between bytes
FUNCTIONS = dict.fromkeys(("mobilenetv2", "mobilenetv2_qdq", "mobilenetv2_qoperator",
                           "mobilenetv2_f16"), "torch-jit-export")
TENTHS = "1x10xf32=" + " ".join(["0.1"] * 10)
# Path, function, inputs, expected outputs.
SAMPLES = [
    ("samples/models/simple_abs.mlir", "abs", ["f32=-2"], ["f32=2"]),
    ("tests/e2e/stablehlo_models/fullyconnected.mlir", "main",
     ["1x5xf32=1 2 -1 0.5 3", "1x5x3x1xf32=1 2 3 -1 0.5 0.25 2 -2 1 0 1 0 -3 1 2"],
     ["5x1x5xf32=3.585352 0.233789 -2.153906 2.972070 -4.637305 2.048730 0.076074 -1.247656 1.712793 -2.589941 "
      "4.043945 -2.846680 -3.087891 4.100586 -2.209961 1.798730 0.591699 -0.952734 1.402246 -2.839941 "
      "2.744531 0.127344 -1.657813 2.291406 -3.505469"]),
    ("tests/e2e/stablehlo_models/mnist_fake_weights.mlir", "predict", ["1x28x28x1xf32"], [TENTHS]),
]


def random_inputs(session):
    """One array for each input: normal floats, token ids, segments, and a mask whose last quarter is padding.
    An open size is what dynamic.py says."""
    random = np.random.default_rng(7)
    arrays = {}
    for value in session.get_inputs():
        shape = [dynamic.SIZES[size] if isinstance(size, str) else size for size in value.shape]
        if value.type == "tensor(float)":
            arrays[value.name] = random.standard_normal(shape, dtype=np.float32)
        elif value.type == "tensor(float16)":
            arrays[value.name] = random.standard_normal(shape, dtype=np.float32).astype(np.float16)
        elif value.name == "attention_mask":
            arrays[value.name] = np.arange(np.prod(shape)).reshape(shape) * 4 < 3 * np.prod(shape)
            arrays[value.name] = arrays[value.name].astype(np.int64)
        else:
            arrays[value.name] = random.integers(0, 2 if value.name == "token_type_ids" else 30522, shape)
    return arrays


def largest_error(actual, expected):
    """The largest difference over the largest element, of the worst output; infinite when shapes differ."""
    errors = [0.0]
    for ours, theirs in zip(actual, expected):
        if ours.shape != theirs.shape or not np.isfinite(ours).all():
            return float("inf")
        errors.append(float(np.abs(ours.astype(np.float64) - theirs).max() / np.abs(theirs).max()))
    return max(errors)


def tolerance(name):
    """How far a model's output may be off on GPUs, as a part of its largest element."""
    return BYTES_STEP if "_q" in name else HALVES_TOLERANCE if name in make.HALVES else TOLERANCE


def run_model(tools, module, function, inputs, folder, device, count):
    outputs = [folder / f"output{i}.npy" for i in range(count)]
    for path in outputs:
        path.unlink(missing_ok=True)
    call(tools.run(module, function, inputs, device + [f"--output=@{path}" for path in outputs]))
    return [np.load(path) for path in outputs]


def check_model(tools, name, work):
    """Returns a table row and whether the model passed."""
    path = make.write(name, work)
    folder = work / name
    folder.mkdir(exist_ok=True)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    arrays = random_inputs(session)
    expected = session.run(None, arrays)
    del session
    inputs = []
    for key, array in arrays.items():
        np.save(folder / f"{key}.npy", array)
        inputs.append(f"@{folder / key}.npy")
    function = FUNCTIONS.get(name, "main_graph")
    text, module = folder / f"{name}.mlir", folder / f"{name}.vmfb"
    import_usage = measure(tools.import_onnx(path, text))
    compile_usage = measure(tools.compile(text, module))
    errors = [largest_error(run_model(tools, module, function, inputs, folder, device, len(expected)), expected)
              for device in (LOCAL_SYNC, ["--device=local-task"])]
    times = [tools.benchmark(module, function, inputs, device) for device in (LOCAL_SYNC, local_task(2))]
    row = [name, f"{import_usage.wall:.2f}", f"{compile_usage.wall:.2f}", *[f"{e:.1e}" for e in errors],
           *[f"{t:.3f}" for t in times]]
    return row, max(errors) <= TOLERANCE


def check_sample(tools, sample, work):
    path, function, inputs, expected = sample
    module = work / pathlib.Path(path).with_suffix(".vmfb").name
    usage = measure(tools.compile(ROOT / path, module))
    for device in (LOCAL_SYNC, ["--device=local-task"]):
        call(tools.run(module, function, inputs, device + [f"--expected_output={text}" for text in expected]))
    times = [tools.benchmark(module, function, inputs, device) for device in (LOCAL_SYNC, local_task(2))]
    return [pathlib.Path(path).name, "", f"{usage.wall:.2f}", "matches", "matches", *[f"{t:.4f}" for t in times]], True


def show(name, done, count, begin):
    """Which model comes, and on a terminal, where one line is drawn over, how far all are and what is left."""
    if not sys.stderr.isatty():
        print(f"models: {name}", file=sys.stderr, flush=True)
        return
    left = f", {(time.monotonic() - begin) / done * (count - done):.0f} s left" if done else ""
    print(f"\r\033[K{100 * done // count:3} %  {name}{left}", end="", file=sys.stderr, flush=True)


def attempt(check, tools, subject, name, work, failures):
    try:
        row, passed = check(tools, subject, work)
    except ToolError as error:
        failures.append(f"{name}: {error}")
        return [name] + ["failed"] * 6
    if not passed:
        failures.append(f"{name}: outputs differ by more than {TOLERANCE} of the largest element")
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, help="folder of iree-compile and the others")
    parser.add_argument("--work", default="build/models", help="folder for models and results")
    parser.add_argument("--flag", action="append", default=[], help="one more flag for iree-compile; repeatable")
    parser.add_argument("--only", action="append", help="check only this model or sample; repeatable")
    arguments = parser.parse_args()
    tools, work = Tools(arguments.tools, arguments.flag), pathlib.Path(arguments.work)
    work.mkdir(parents=True, exist_ok=True)
    failures, rows = [], []
    subjects = [(check_sample, sample, pathlib.Path(sample[0]).stem) for sample in SAMPLES]
    subjects += [(check_model, name, name) for name in make.NAMES]
    subjects = [entry for entry in subjects if not arguments.only or entry[2] in arguments.only]
    begin = time.monotonic()
    for done, (check, subject, name) in enumerate(subjects):
        show(name, done, len(subjects), begin)
        rows.append(attempt(check, tools, subject, name, work, failures))
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    print("| model | import s | compile s | error, local-sync | error, local-task | ms, 1 thread | ms, 2 threads |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    print(f"{len(rows) - len(failures)} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
