"""Runs every operator test: run.py --tools DIR [--only TEXT]... [--every N] [--flag FLAG]... [--device D --launcher L]

Each case is one small ONNX model. ONNX Runtime (or, where that lacks the operator, ONNX's reference) says what is
right; iree-compile and iree-run-module on local-sync must agree, or the device and the target that flags name. A case in expected_failures.txt must be refused by
iree-compile with an error message and without an output file; when it works, it must be taken off the list.
"""

import argparse
import multiprocessing
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

import case
import tables  # noqa: F401  (adds the cases)

HERE = pathlib.Path(__file__).resolve().parent
FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
# Absolute and relative tolerance by type; other types must be equal.
TOLERANCES = {"float16": (2e-3, 5e-3), "float32": (1e-5, 1e-4), "float64": (1e-5, 1e-4)}


class Failure(Exception):
    """The case failed; `refused` when the compiler said so properly."""

    def __init__(self, text, refused=False):
        super().__init__(text)
        self.refused = refused


def tables_of(results):
    """Maps as what ZipMap's are here: their values, a row for each map."""
    return [np.array([list(row.values()) for row in result], np.float32) if isinstance(result, list) and result
            and isinstance(result[0], dict) else result for result in results]


def expected_results(model, arrays, reference=False):
    if reference:
        return [np.asarray(result) for result in ReferenceEvaluator(model).run(None, arrays)]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return tables_of(session.run(None, arrays))
    except Exception:  # ONNX Runtime's own exception classes share no public base.
        return expected_results(model, arrays, reference=True)


def call(command):
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        raise Failure(f"{pathlib.Path(command[0]).name}: no end after 120 s") from None


def message(result):
    """The first line of stderr that tells what is wrong."""
    lines = result.stderr.decode(errors="replace").strip().splitlines()
    for line in lines:
        if "error:" in line:
            return line[line.index("error:"):][:300]
        if re.search(r"\b[A-Z_]{6,};", line):  # a status: INVALID_ARGUMENT; what is wrong; ...
            return line[:600]
    return (lines or ["nothing on stderr"])[-1][-300:]


def compile_model(options, path, module):
    result = call([f"{options.tools}/iree-compile", *(options.flag or FLAGS), str(path), "-o", str(module)])
    if result.returncode == 0:
        return
    text = message(result)
    if result.returncode != 1:
        raise Failure(f"iree-compile: exit {result.returncode}: {text}")
    if module.exists():
        raise Failure(f"iree-compile failed but left its output: {text}")
    raise Failure(f"iree-compile: {text}", refused="error:" in text)


def run_module(options, module, arrays, count, folder):
    command = [*options.launcher.split(), f"{options.tools}/iree-run-module", f"--device={options.device}",
               f"--module={module}", "--function=main_graph"]
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array.astype("U") if array.dtype == object else array)
        command.append(f"--input=@{folder / name}.npy")
    paths = [folder / f"y{i}.npy" for i in range(count)]
    result = call(command + [f"--output=@{path}" for path in paths])
    if result.returncode != 0:
        raise Failure(f"iree-run-module: exit {result.returncode}: {message(result)}")
    return [np.load(path) for path in paths]


def compare(index, actual, expected, tolerance):
    expected = np.asarray(expected)
    if expected.dtype.kind in "OU":
        actual, expected = case.strings_of(actual), expected.astype(object)
        if actual.shape != expected.shape or (actual != expected).any():
            raise Failure(f"result {index} is {actual.tolist()}, not {expected.tolist()}")
        return
    if actual.shape != expected.shape:
        raise Failure(f"result {index} has shape {actual.shape}, not {expected.shape}")
    if actual.dtype.itemsize != expected.dtype.itemsize:
        raise Failure(f"result {index} has type {actual.dtype}, not {expected.dtype}")
    if actual.dtype.kind in "iu" and expected.dtype.kind in "iu":
        actual = actual.view(expected.dtype)  # Results carry no sign, as the types of the IR.
    absolute, relative = TOLERANCES.get(expected.dtype.name, (0, 0))
    absolute, relative = (tolerance, tolerance) if tolerance is not None else (absolute, relative)
    ours, theirs = actual.astype(np.float64), expected.astype(np.float64)
    good = np.isclose(ours, theirs, rtol=relative, atol=absolute, equal_nan=True)
    if not good.all():
        where = tuple(int(i) for i in np.argwhere(~good)[0])
        raise Failure(f"result {index}{list(where)} is {actual[where]}, not {expected[where]}; "
                      f"{(~good).sum()} of {good.size} differ")


def run_refused(subject, options, folder, sizes):
    """The program must stop with the message, by itself."""
    try:
        run_module(options, folder / "model.vmfb", case.arrays_of(subject, sizes), subject.results, folder)
    except Failure as failure:
        if "exit 1:" not in str(failure) or sizes["stops"] not in str(failure):
            raise
    else:
        raise Failure(f"does not stop with '{sizes['stops']}'")


def run_sizes(subject, options, folder, sizes):
    if "stops" in sizes:
        return run_refused(subject, options, folder, sizes)
    arrays = case.arrays_of(subject, sizes)
    expected = expected_results(case.model_of(subject, arrays), arrays, subject.reference)
    path, module = folder / "model.onnx", folder / "model.vmfb"
    if not module.exists():
        onnx.save(case.model_of(subject, arrays, [np.asarray(result) for result in expected]), path)
        compile_model(options, path, module)
    actual = run_module(options, module, arrays, len(expected), folder)
    for index, (ours, theirs) in enumerate(zip(actual, expected)):
        compare(index, ours, theirs, subject.tolerance)


def run_case(subject, options, folder):
    (folder / "model.vmfb").unlink(missing_ok=True)
    for sizes in subject.sizes:
        try:
            run_sizes(subject, options, folder, sizes)
        except Failure as failure:
            raise Failure(f"{sizes or ''}{failure}", failure.refused) from None


def work(job):
    """Runs one case in a folder of its own; returns its name, why it failed (or None), and whether it was refused."""
    number, options, keep = job
    subject = case.CASES[number]
    folder = pathlib.Path(keep, subject.name) if keep else pathlib.Path(tempfile.mkdtemp(prefix="iree-op-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        run_case(subject, options, folder)
        return subject.name, None, False
    except Failure as failure:
        return subject.name, str(failure), failure.refused
    except Exception as error:  # A broken case must not end the others.
        return subject.name, f"the case itself: {type(error).__name__}: {error}", False
    finally:
        if not keep:
            shutil.rmtree(folder)


def expected_failures():
    lines = (HERE / "expected_failures.txt").read_text(encoding="utf-8").splitlines()
    return {line.split("#")[0].strip() for line in lines} - {""}


def verdict(name, reason, refused, listed):
    """Why this result counts as a failure, or None."""
    if reason is None:
        return "works now: take it off expected_failures.txt" if name in listed else None
    return None if refused and name in listed else reason


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, help="folder of iree-compile and iree-run-module")
    parser.add_argument("--only", action="append", default=[], help="only cases whose name begins so; repeatable")
    parser.add_argument("--every", type=int, default=1, help="only each Nth case")
    parser.add_argument("--flag", action="append", default=[], help="flag for iree-compile in place of the CPU's")
    parser.add_argument("--device", default="local-sync")
    parser.add_argument("--launcher", default="", help="command in front of iree-run-module")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--keep", help="folder to keep models, inputs and results in")
    parser.add_argument("--list", action="store_true", help="print the cases' names only")
    parser.add_argument("--update", action="store_true", help="rewrite expected_failures.txt with what is refused")
    arguments = parser.parse_args()
    numbers = [i for i, c in enumerate(case.CASES)
               if not arguments.only or any(c.name.startswith(text) for text in arguments.only)][::arguments.every]
    arguments.tools = os.path.abspath(arguments.tools)
    if arguments.list:
        print("\n".join(case.CASES[i].name for i in numbers))
        return
    listed, failures, refusals = expected_failures(), 0, []
    jobs = [(number, arguments, arguments.keep) for number in numbers]
    with multiprocessing.Pool(arguments.jobs) as pool:
        for done, (name, reason, refused) in enumerate(pool.imap(work, jobs, chunksize=2), 1):
            if refused:
                refusals.append(f"{name}  # {reason.split('error:')[-1].strip()[:90]}")
            problem = verdict(name, reason, refused, listed)
            if problem:
                failures += 1
                print(f"FAILED {name}: {problem}", flush=True)
            if sys.stdout.isatty():
                print(f"\r{done}/{len(jobs)}", end="\r", flush=True)
    if arguments.update:
        head = "# Cases that iree-compile refuses today, each with its message. A case here that works is an error.\n"
        (HERE / "expected_failures.txt").write_text(head + "".join(f"{line}\n" for line in refusals), encoding="utf-8")
    known = sum(1 for line in refusals if line.split()[0] in listed)
    print(f"operators: {len({c.name.split('-')[0] for c in case.CASES})}, cases refused as expected: {known}")
    print(f"{len(jobs) - failures} passed, {failures} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
