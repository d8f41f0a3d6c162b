"""Operators with random attributes, shapes and types: sweep.py --evaluator onnx-eval | --tools DIR [--count N]
Or the tables' cases with models that know less: sweep.py --open sizes|constants|both|results ...

What draws_*.py make is run by ONNX Runtime, or where that refuses or is named as wrong, by ONNX's reference, and must
agree with the reference evaluator of graph (--evaluator: no code generation) or with the compiled program (--tools).
What neither runs is not counted.
Odd numbers of an operator's configurations have sizes that only the call knows. A failure is named by operator and
seed: --only NAME --seed SEED --count 1 runs it again.

With --open each case of the tables (cases_*.py) gets a model without the sizes of its operands, or one whose constants
are inputs, or both; or one that knows neither sizes nor the ranks of its results. What must be refused then, with a message that says what would work, is in open_refused.txt.
"""

import argparse
import multiprocessing
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

import case
import draw
import draws_numbers  # noqa: F401  (adds the operators)
import draws_own  # noqa: F401
import draws_places  # noqa: F401
import run
import tables  # noqa: F401  (adds the cases)

REFUSED = pathlib.Path(__file__).resolve().parent / "open_refused.txt"


def by_runtime(model, arrays):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options,
                                        providers=["CPUExecutionProvider"]).run(None, arrays)


def by_reference(model, arrays):
    with np.errstate(all="ignore"):
        return [np.asarray(result) for result in ReferenceEvaluator(model).run(None, arrays)]


PEERS = {"onnxruntime": by_runtime, "reference": by_reference}


def peers_results(subject, model, arrays):
    """What each peer that runs the model gives, by the peer's name."""
    results = {}
    for name, peer in PEERS.items():
        if name in subject.wrong:
            continue
        try:
            results[name] = peer(model, arrays)
        except Exception:  # Peers refuse with whatever their insides raise.
            continue
    return results


def evaluate(options, folder, arrays, templates):
    command = [options.evaluator, folder / "model.onnx", folder / "y"]
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", case.points_of(array) if array.dtype == object else array)
        command.append(folder / f"{name}.npy")
    result = run.call([str(word) for word in command])
    if result.returncode != 0:
        text = run.message(result)
        raise run.Failure(f"exit {result.returncode}: {text}", refused="error:" in text)
    results = [np.load(folder / f"y{i}.npy") for i in range(len(templates))]
    return [result if wanted.dtype.kind in "OU" else result.view(wanted.dtype)
            for result, wanted in zip(results, templates)]


def ours(options, folder, subject, arrays, templates):
    model = case.model_of(subject, arrays, templates)
    onnx.save(model, folder / "model.onnx")
    if options.evaluator:
        return evaluate(options, folder, arrays, templates)
    module = folder / "model.vmfb"
    run.compile_model(options, folder / "model.onnx", module)
    return run.run_module(options, module, arrays, len(templates), folder)


def difference(subject, actual, expected):
    try:
        for index, (mine, theirs) in enumerate(zip(actual, expected)):
            run.compare(index, mine, theirs, subject.tolerance)
    except run.Failure as failure:
        return str(failure)
    return None


def run_one(options, name, seed, folder):
    """Why a configuration fails ("" when it does not), or None when no peer runs it."""
    subject = draw.configuration(name, seed)
    arrays = case.arrays_of(subject)
    results = peers_results(subject, case.model_of(subject, arrays), arrays)
    if not results:
        return None
    templates = [np.asarray(result) for result in next(iter(results.values()))]
    try:
        actual = ours(options, folder, subject, arrays, templates)
    except run.Failure as failure:
        return str(failure)
    differences = [(peer, difference(subject, actual, result)) for peer, result in results.items()]
    differences = differences if options.strict else differences[:1]
    return "; ".join(f"{peer}: {text}" for peer, text in differences if text)


def run_opened(options, number, folder):
    """Why a case of the tables fails when its model knows less, and whether it was refused."""
    subject = case.CASES[number]
    less = case.opened(subject, options.open != "constants", options.open in ("constants", "both"))
    model = module = None
    for sizes in [row for row in subject.sizes if "stops" not in row][:3]:
        arrays, given = case.arrays_of(subject, sizes), case.arrays_of(less, sizes)
        expected = [np.asarray(y) for y in
                    run.expected_results(case.model_of(subject, arrays), arrays, subject.reference)]
        if not model:
            model = case.model_of(less, given, None if options.open == "results" else expected)
            onnx.save(model, folder / "model.onnx")
        if options.evaluator:
            actual = evaluate(options, folder, given, expected)
        else:
            if not module:
                module = folder / "model.vmfb"
                run.compile_model(options, folder / "model.onnx", module)
            actual = run.run_module(options, module, given, len(expected), folder)
        problem = difference(subject, actual, expected)
        if problem:
            raise run.Failure(f"{sizes or ''} {problem}")
    return ""


def work_opened(job):
    number, options = job
    folder = pathlib.Path(tempfile.mkdtemp(prefix="iree-open-"))
    try:
        return case.CASES[number].name, run_opened(options, number, folder), False
    except run.Failure as failure:
        return case.CASES[number].name, str(failure), failure.refused
    except Exception as error:  # A broken case must not end the others.
        return case.CASES[number].name, f"the case itself: {type(error).__name__}: {error}", False
    finally:
        shutil.rmtree(folder)


def listed_refusals(what):
    """By name of the case: the text that its message must have. A line is `case what text`; `any` is each of them."""
    rows = [line.split(None, 2) for line in REFUSED.read_text(encoding="utf-8").splitlines()
            if line.strip() and not line.startswith("#")]
    return {row[0]: row[2] for row in rows if row[1] in (what, "any")}


def main_opened(options):
    numbers = [i for i, subject in enumerate(case.CASES)
               if not options.only or any(subject.name.startswith(text) for text in options.only)]
    numbers = numbers[options.seed % options.every::options.every]
    listed, passed, failed, refused = listed_refusals(options.open), 0, 0, 0
    with multiprocessing.Pool(options.jobs) as pool:
        for name, problem, was_refused in pool.imap(work_opened, [(i, options) for i in numbers], chunksize=4):
            if name in listed:
                problem = "" if was_refused and listed[name] in problem else f"not refused as listed: {problem}"
                refused += not problem
            failed += bool(problem)
            passed += not problem
            if problem:
                print(f"FAILED {name} {options.open}: {problem}", flush=True)
    print(f"cases with less known: {len(numbers)}, refused as listed: {refused}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


def work(job):
    name, seed, options = job
    folder = pathlib.Path(tempfile.mkdtemp(prefix="iree-sweep-"))
    try:
        return name, seed, run_one(options, name, seed, folder)
    except Exception as error:  # A broken configuration must not end the others.
        return name, seed, f"the configuration itself: {type(error).__name__}: {error}"
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evaluator", type=os.path.abspath, help="onnx-eval")
    parser.add_argument("--tools", type=os.path.abspath, help="folder of iree-compile and iree-run-module")
    parser.add_argument("--only", action="append", default=[], help="only operators whose name begins so; repeatable")
    parser.add_argument("--seed", type=int, default=0, help="of the first configuration of each operator")
    parser.add_argument("--count", type=int, default=10, help="configurations of each operator")
    parser.add_argument("--open", choices=["sizes", "constants", "both", "results"], help="the tables' cases, with less known")
    parser.add_argument("--every", type=int, default=1, help="with --open: only each Nth case, beginning by --seed")
    parser.add_argument("--strict", action="store_true", help="all peers that run a configuration must agree")
    parser.add_argument("--verbose", action="store_true", help="print failing configurations in full")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args()
    options.flag, options.device, options.launcher = [], "local-sync", ""
    if options.open:
        return main_opened(options)
    names = [name for name in draw.OPERATORS
             if not options.only or any(name.startswith(text) for text in options.only)]
    jobs = [(name, seed, options) for name in names for seed in range(options.seed, options.seed + options.count)]
    passed = failed = skipped = 0
    with multiprocessing.Pool(options.jobs) as pool:
        for name, seed, problem in pool.imap(work, jobs, chunksize=4):
            skipped += problem is None
            passed += problem == ""
            failed += bool(problem)
            if problem:
                print(f"FAILED {name} {seed}: {problem}", flush=True)
                if options.verbose:
                    print("   ", draw.describe(draw.configuration(name, seed)), flush=True)
    print(f"operators: {len(names)}, configurations that no peer runs: {skipped}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
