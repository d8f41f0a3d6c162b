"""Operators with random attributes, shapes and types: sweep.py --evaluator onnx-eval | --tools DIR [--count N]

What draws_*.py make is run by ONNX Runtime, or where that refuses or is named as wrong, by ONNX's reference, and must
agree with the reference evaluator of graph (--evaluator: no code generation) or with the compiled program (--tools).
What neither runs is not counted.
Odd numbers of an operator's configurations have sizes that only the call knows. A failure is named by operator and
seed: --only NAME --seed SEED --count 1 runs it again.
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
import draws_places  # noqa: F401
import run


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
        np.save(folder / f"{name}.npy", array)
        command.append(folder / f"{name}.npy")
    result = run.call([str(word) for word in command])
    if result.returncode != 0:
        text = run.message(result)
        raise run.Failure(f"exit {result.returncode}: {text}", refused="error:" in text)
    return [np.load(folder / f"y{i}.npy").view(wanted.dtype) for i, wanted in enumerate(templates)]


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
    parser.add_argument("--strict", action="store_true", help="all peers that run a configuration must agree")
    parser.add_argument("--verbose", action="store_true", help="print failing configurations in full")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args()
    options.flag, options.device, options.launcher = [], "local-sync", ""
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
