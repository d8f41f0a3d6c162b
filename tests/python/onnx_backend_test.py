"""ONNX's own backend tests through iree.onnx: onnx_backend_test.py [--all | --count N] [--cache FOLDER]

With PYTHONPATH set, or the packages installed. tests/import/onnx/suite.py says what is expected of each case.
"""

import argparse
import pathlib
import random
import sys

import numpy as np
import onnx

import iree.compiler
import iree.onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "import/onnx"))
import suite  # noqa: E402


def as_wanted(found, wanted):
    """Types whose elements have as many bits and other names: ONNX's own for what NumPy lacks."""
    if isinstance(wanted, (list, tuple)):
        return [as_wanted(*pair) for pair in zip(found, wanted)] if len(found) == len(wanted) else found
    return found


def run(case):
    """None, or what is wrong."""
    model = onnx.ModelProto.FromString(case.model)
    try:
        session = iree.onnx.prepare(model, "local-sync", cache=False)
        for inputs, outputs in case.data_sets:
            suite.check_case(case, inputs, list(session.run(inputs)), outputs)
    except iree.compiler.CompilerToolError as error:
        return suite.Problem(str(error), refused=True)
    except suite.Problem as problem:
        return problem
    except Exception as error:  # a case must not end the others
        return suite.Problem(f"{type(error).__name__}: {error}")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="every case")
    parser.add_argument("--count", type=int, default=60, help="that many, the same in every run")
    parser.add_argument("--cache", help="folder that keeps the cases")
    parser.add_argument("--only", help="cases whose name has this text")
    options = parser.parse_args()
    cases = suite.load_cases(options.cache)
    if options.only:
        cases = [case for case in cases if options.only in case.name]
    elif not options.all:
        cases = random.Random(1).sample(cases, options.count)
    gaps = {name for name, (places, _) in suite.read_gaps().items() if "llvm-cpu" in places}
    failed = 0
    for case in cases:
        wrong = suite.judge(case.name, gaps, run(case))
        failed += wrong is not None
        if wrong:
            print(f"FAILED {case.name}: {wrong}", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
