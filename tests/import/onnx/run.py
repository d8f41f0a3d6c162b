"""Runs ONNX's own node tests through the reference evaluator: run.py --evaluator onnx-eval [--only TEXT]...

No code generation is involved: what is checked is what operators become. A case passes when its results agree; a case
of an operator in UNSUPPORTED must be refused with a message. Inputs that shapes depend on are tried as inputs first and
as initializers next.
"""

import argparse
import functools
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

# Operators without a lowering: strings, sequences, random numbers, training.
UNSUPPORTED = """
    Adagrad Adam ArrayFeatureExtractor Bernoulli Binarizer CausalConvWithState FlexAttention Gradient ImageDecoder
    LabelEncoder LinearAttention Momentum Optional OptionalGetElement OptionalHasElement RandomNormal
    RandomNormalLike RandomUniform RandomUniformLike RegexFullMatch SequenceMap StringConcat StringNormalizer
    StringSplit SwiGLU TfIdfVectorizer TreeEnsemble
""".split()
# Cases that ask for what the operators' lowerings refuse, or where ONNX Runtime and PyTorch differ from the test.
REFUSED = {"test_basic_scan": "the form of opset 8", "test_scan_sum": "the form of opset 8", "test_onehot": "depth",
           "test_training_dropout": "random", "test_bitcast_bool": "bits of a boolean",
           "test_resize_downsample_scales_cubic_align_corners": "result size in the scale",
           "test_resize_downsample_scales_linear_align_corners": "result size in the scale",
           "test_range_bfloat16": "an input that .npy cannot hold", "test_roialign_mode_max": "mode",
           "test_cast": "element types that .npy cannot hold", "test_melweightmatrix": "inputs"}


def is_refused(test):
    return test.model.graph.node[0].op_type in UNSUPPORTED or any(test.name.startswith(name) for name in REFUSED)


def bits(array):
    """Types that .npy cannot hold as integers of their size."""
    array = np.asarray(array)
    if array.dtype.type.__module__ == "numpy":
        return array
    return array.view({1: np.uint8, 2: np.uint16}[array.dtype.itemsize])


def plain(array):
    array = np.asarray(array)
    return array.astype(np.float64) if array.dtype.kind != "c" else array


def close(found, wanted):
    wanted = np.asarray(wanted)
    if found.dtype.itemsize == wanted.dtype.itemsize:
        found = found.view(wanted.dtype)
    tolerance = 2e-2 if wanted.dtype.itemsize <= 2 and wanted.dtype.kind not in "biu" else 1e-3
    return found.shape == wanted.shape and np.allclose(plain(found), plain(wanted), rtol=tolerance, atol=1e-5,
                                                       equal_nan=True)


def with_constants(model, inputs):
    """The model with small integer inputs as initializers, and the inputs that are left."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    kept = []
    infos = list(model.graph.input)
    for position, (info, array) in enumerate(zip(infos, inputs)):
        kind = info.type.tensor_type.elem_type
        shape_like = kind in (onnx.TensorProto.INT32, onnx.TensorProto.INT64, onnx.TensorProto.BOOL)
        named = info.name in ("scales", "roi", "start", "limit", "delta", "ratio")
        shape_like = shape_like and (position or len(inputs) == 1)
        if np.ndim(array) <= 1 and np.size(array) <= 64 and (shape_like or named):
            model.graph.initializer.append(numpy_helper.from_array(np.asarray(array), info.name))
        else:
            kept.append((info, array))
    del model.graph.input[:]
    model.graph.input.extend(info for info, _ in kept)
    return model, [array for _, array in kept]


class Suite:
    def __init__(self, evaluator, folder):
        self.evaluator, self.folder = evaluator, pathlib.Path(folder, str(os.getpid()))
        self.folder.mkdir(exist_ok=True)

    def evaluate(self, model, inputs, count):
        """Returns the results, or the evaluator's message."""
        onnx.save(model, self.folder / "model.onnx")
        names = []
        for number, array in enumerate(inputs):
            names.append(self.folder / f"in{number}.npy")
            np.save(names[-1], np.ascontiguousarray(bits(array)).reshape(np.shape(array)))
        command = [self.evaluator, self.folder / "model.onnx", self.folder / "out", *names]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            return done.stderr.strip() or f"exit {done.returncode}"
        return [np.load(self.folder / f"out{number}.npy") for number in range(count)]

    def problem(self, test):
        inputs, outputs = test.data_sets[0]
        found = self.evaluate(test.model, inputs, len(outputs))
        if isinstance(found, str) and len(test.model.graph.input) == len(inputs):
            found = self.evaluate(*with_constants(test.model, inputs), len(outputs))
        if is_refused(test):
            agree = not isinstance(found, str) and all(map(close, found, outputs))
            refused = isinstance(found, str) and "error:" in found
            return None if refused or agree or test.name in REFUSED else "neither refused nor right"
        if isinstance(found, str):
            return found.splitlines()[0]
        return None if all(map(close, found, outputs)) else "wrong results"


PACKED = ("int4", "uint4", "int2", "uint2", "float4", "float6")


def numbers_only(test):
    inputs, outputs = test.data_sets[0]
    for array in [*inputs, *outputs]:
        if not isinstance(array, np.ndarray) and not np.isscalar(array):
            return False
        kind = np.asarray(array).dtype
        if kind.kind in "OUS" or kind.name.startswith(PACKED):
            return False
    return True


@functools.cache
def all_cases():
    """Processes forked after the first call share what it gave."""
    warnings.simplefilter("ignore")
    return [test for test in collect_testcases(None) if numbers_only(test)]


def run_case(job):
    number, evaluator, folder = job
    test = all_cases()[number]
    return test.name, Suite(evaluator, folder).problem(test)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evaluator", type=pathlib.Path, required=True)
    parser.add_argument("--only", action="append", help="cases whose name has this text")
    arguments = parser.parse_args()
    failed = 0
    wanted = [i for i, test in enumerate(all_cases())
              if not arguments.only or any(text in test.name for text in arguments.only)]
    with tempfile.TemporaryDirectory() as folder, multiprocessing.get_context("fork").Pool() as pool:
        jobs = [(number, arguments.evaluator.resolve(), folder) for number in wanted]
        for name, problem in pool.imap(run_case, jobs, chunksize=16):
            failed += problem is not None
            if problem:
                print(f"FAILED {name}: {problem}", flush=True)
    print(f"{len(wanted) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
