"""Runs ONNX's own backend tests through the reference evaluator: run.py --evaluator onnx-eval [--only TEXT]...

No code generation is involved: what is checked is what operators become. suite.py says what is expected.
"""

import argparse
import functools
import pathlib
import subprocess

import numpy as np

import suite


def evaluate(options, folder, arguments, templates):
    names = []
    for number, array in enumerate(arguments):
        names.append(folder / f"in{number}.npy")
        np.save(names[-1], suite.as_bits(array))
    command = [options.evaluator.resolve(), folder / "model.onnx", folder / "out", *names]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        raise suite.Problem("no end after 120 s") from None
    if done.returncode:
        text = (done.stderr.strip() or f"exit {done.returncode}").splitlines()[0]
        raise suite.Problem(text.replace(f"{folder}/", ""), refused="error:" in done.stderr)
    return [suite.as_type(np.load(folder / f"out{number}.npy"), wanted) for number, wanted in enumerate(templates)]


def run_case(case, options, folder):
    (folder / "model.onnx").write_bytes(case.model)
    if suite.is_refused(case.name):
        evaluate(options, folder, [], [])  # the model is read before its arguments are
    return functools.partial(evaluate, options, folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evaluator", type=pathlib.Path, required=True)
    suite.add_arguments(parser)
    chosen = parser.parse_args()
    suite.main(run_case, chosen, "evaluator", chosen.evaluator.resolve().parent)
