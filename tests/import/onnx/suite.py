"""ONNX's own backend tests, as they are, and what is expected of each.

Every graph input stays an input; all data sets count; results are compared by ONNX's own function with the tolerances of
the test. A case is expected to pass unless one of two lists names it:

    refused.txt   what is refused for good, by name: `pattern: reason`. Refused means an error message and nothing else.
    gaps.txt      what does not work yet: `places name: cause`; places are `evaluator` and targets, or `everywhere`.

Both are checked both ways: a listed case that passes is a failure, too.
"""

import fnmatch
import functools
import multiprocessing
import pathlib
import pickle
import sys
import tempfile
import warnings

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.runner import Runner

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "e2e" / "ops"))
from case import points_of, strings_of  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PLACES = ("evaluator", "gfx1100", "llvm-cpu", "vmvx")
SIZE_NAMES = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class Problem(Exception):
    """A case that does not pass; `refused` when the compiler said why and left nothing behind."""

    def __init__(self, text, refused=False):
        super().__init__(text)
        self.refused = refused


def as_value(item):
    """An argument or result as arrays, lists of them, or None."""
    if isinstance(item, onnx.TensorProto):
        return numpy_helper.to_array(item)
    return [as_value(element) for element in item] if isinstance(item, (list, tuple)) else item


class Case:
    def __init__(self, test):
        self.name, self.model = test.name, test.model.SerializeToString()
        self.data_sets = [(as_value(list(inputs)), as_value(list(outputs))) for inputs, outputs in test.data_sets]
        self.rtol, self.atol = test.rtol, test.atol

    def types(self):
        """Of inputs and of outputs."""
        graph = onnx.ModelProto.FromString(self.model).graph
        return [[info.type for info in infos] for infos in (graph.input, graph.output)]


def load_cases(cache):
    """All cases; they are collected once and kept in the folder `cache`, or the system's for temporary files."""
    cache = cache or tempfile.gettempdir()
    path = pathlib.Path(cache, f"onnx-cases-{onnx.__version__}.pickle")
    if path.exists():
        return pickle.loads(path.read_bytes())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [Case(test) for test in collect_testcases(None)]
    with tempfile.NamedTemporaryFile(dir=cache, delete=False) as file:
        pickle.dump(cases, file)
    pathlib.Path(file.name).rename(path)
    return cases


#
# Sequences and optionals, which programs take and give as tensors: docs/onnx.md says how
#


def empty_value(kind):
    """What stands for the content of an optional that holds nothing."""
    if kind.HasField("sequence_type"):
        return []
    shape = [dim.dim_value for dim in kind.tensor_type.shape.dim]
    return np.zeros(shape, helper.tensor_dtype_to_np_dtype(kind.tensor_type.elem_type))


def is_strings(kind):
    return kind.tensor_type.elem_type == onnx.TensorProto.STRING


def tensors_of(value, kind):
    """The tensors that a value of that type is made of."""
    if kind.HasField("optional_type"):
        inner = kind.optional_type.elem_type
        held = empty_value(inner) if value is None else value
        return [np.array(value is not None), *tensors_of(held, inner)]
    if kind.HasField("sequence_type"):
        member = kind.sequence_type.elem_type.tensor_type
        arrays = [np.asarray(array) for array in value]
        ranks = {array.ndim for array in arrays} or {len(member.shape.dim)}
        if len(ranks) > 1:
            raise Problem("members have several ranks")
        data = [array.reshape(-1) for array in arrays] or [np.empty(0, helper.tensor_dtype_to_np_dtype(member.elem_type))]
        shapes = np.array([array.shape for array in arrays], np.int64).reshape(len(arrays), ranks.pop())
        return [np.concatenate(data), shapes]
    if is_strings(kind):
        return [points_of(value)]
    return [np.asarray(value)]


def value_of(tensors, kind):
    """The value of that type which an iterator over tensors begins with."""
    if kind.HasField("optional_type"):
        present, held = bool(next(tensors)), value_of(tensors, kind.optional_type.elem_type)
        return held if present else None
    if kind.HasField("sequence_type"):
        data, shapes = next(tensors), next(tensors)
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
        parts = np.split(data, ends) if len(ends) else [data]
        if parts.pop().size:
            raise Problem("a sequence has more elements than its shapes say")
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
    return strings_of(next(tensors)) if is_strings(kind) else next(tensors)


def run_data_set(case, run_case, inputs, outputs):
    """Calls run_case(arguments, templates), which returns arrays in the types of the templates, and compares."""
    input_types, output_types = case.types()
    arguments = [tensor for value, kind in zip(inputs, input_types, strict=True) for tensor in tensors_of(value, kind)]
    templates = [tensor for value, kind in zip(outputs, output_types, strict=True) for tensor in tensors_of(value, kind)]
    found = iter(run_case(arguments, templates))
    check_case(case, inputs, [value_of(found, kind) for kind in output_types], outputs)


#
# Arrays and bytes
#


def is_own_type(array):
    """Whether NumPy itself has the type: .npy files hold no other."""
    return array.dtype.type.__module__ == "numpy"


def as_bits(array):
    """Elements of a type that .npy cannot hold, as integers of their size."""
    array = np.ascontiguousarray(array).reshape(np.shape(array))
    return array if is_own_type(array) else array.view(SIZE_NAMES[array.dtype.itemsize])


def as_type(found, wanted):
    """What a tool wrote, in the type that is wanted: results carry neither signs nor types that .npy lacks."""
    dtype = np.asarray(wanted).dtype
    same_kind = found.dtype.kind in "iuV" or found.dtype == dtype
    if found.dtype.itemsize != dtype.itemsize or not same_kind:
        raise Problem(f"a result has type {found.dtype}, not {dtype}")
    return found.view(dtype)


def check_results(case, found, wanted):
    """Compares as ONNX's runner does."""
    if len(found) != len(wanted):
        raise Problem(f"{len(found)} results, not {len(wanted)}")
    wanted = [value if isinstance(value, (list, tuple)) else np.asarray(value) for value in wanted]
    try:
        Runner.assert_similar_outputs(wanted, found, case.rtol, case.atol)
    except AssertionError as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        raise Problem("wrong: " + "; ".join(lines)[:200]) from None


def check_zero_or_one(_, found):
    if not np.isin(found[0], (0, 1)).all():
        raise Problem("wrong: numbers beside 0 and 1")


def check_dropout(inputs, found):
    """Each element is dropped or scaled; about the share that the ratio says is dropped."""
    scaled = inputs[0] / (1 - (inputs[1] if len(inputs) > 1 else 0.5))
    kept = found[0] != 0
    share = 1 - kept.mean() - (inputs[1] if len(inputs) > 1 else 0.5)
    if not np.allclose(found[0][kept], scaled[kept], rtol=1e-3) or abs(share) > 0.2:
        raise Problem("wrong: neither dropped nor scaled")
    if len(found) > 1 and not np.array_equal(found[1], kept):
        raise Problem("wrong: the mask tells otherwise")


# Cases whose results are random numbers of NumPy's generator, and what can be said of others.
RANDOM = {"test_bernoulli*": check_zero_or_one, "test_training_dropout_default*": check_dropout,
          "test_training_dropout": check_dropout, "test_training_dropout_mask": check_dropout}


def check_random(check, inputs, found, wanted):
    for ours, theirs in zip(found, wanted, strict=True):
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            raise Problem(f"a result is {ours.dtype}{ours.shape}, not {theirs.dtype}{theirs.shape}")
    check(inputs, found)


def check_case(case, inputs, found, wanted):
    for pattern, check in RANDOM.items():
        if fnmatch.fnmatchcase(case.name, pattern):
            return check_random(check, inputs, found, wanted)
    return check_results(case, found, wanted)


#
# Expectations
#


def read_list(name):
    lines = (HERE / name).read_text().splitlines()
    return [line.split(":", 1) for line in lines if line.strip() and not line.startswith("#")]


@functools.cache
def refused_patterns():
    return [pattern.strip() for pattern, _ in read_list("refused.txt")]


def is_refused(name):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in refused_patterns())


def read_gaps():
    """Name to the places where it does not work, and what is said there."""
    return {name: (set(PLACES if places == "everywhere" else places.split(",")), cause.strip())
            for (places, name), cause in ((key.split(), cause) for key, cause in read_list("gaps.txt"))}


def judge(name, known_gaps, problem):
    """What is wrong with the outcome of a case, or None; and whether the case passed."""
    if is_refused(name):
        if problem is None:
            return "passes, but refused.txt lists it"
        return None if problem.refused else f"is to be refused with a message: {problem}"
    if name in known_gaps:
        return "passes, but gaps.txt lists it (--update takes it off)" if problem is None else None
    return None if problem is None else str(problem)


def write_gaps(place, results):
    """Brings gaps.txt up to date with what a run found."""
    listed = read_gaps()
    for name, problem in results.items():
        places, cause = listed.get(name, (set(), ""))
        if problem is None or is_refused(name):
            places.discard(place)
        else:
            places.add(place)
            cause = cause or str(problem).splitlines()[0][:120]
        listed[name] = places, cause
    head = [line for line in (HERE / "gaps.txt").read_text().splitlines() if line.startswith("#")]
    rows = [f"{'everywhere' if places == set(PLACES) else ','.join(sorted(places))} {name}: {cause}"
            for name, (places, cause) in sorted(listed.items()) if places]
    (HERE / "gaps.txt").write_text("\n".join(head + rows) + "\n")


#
# Running
#

_cases = []


def _work(job):
    index, run_case, options = job
    case = _cases[index]
    with tempfile.TemporaryDirectory(prefix="iree-onnx-") as folder:
        try:
            call = run_case(case, options, pathlib.Path(folder))
            for inputs, outputs in case.data_sets:
                run_data_set(case, call, inputs, outputs)
        except Problem as problem:
            return case.name, problem
        return case.name, None


def add_arguments(parser):
    parser.add_argument("--only", action="append", help="cases whose name has this text; repeatable")
    parser.add_argument("--every", type=int, default=1, help="only every so many-th case")
    parser.add_argument("--show", action="store_true", help="tell what known gaps and refused cases say")
    parser.add_argument("--update", action="store_true", help="write what does not work into gaps.txt")


def run_suite(run_case, options, place, cache):
    """Runs the chosen cases: `run_case(case, options, folder)` prepares one and gives what run_data_set calls. Returns the
    exit code."""
    global _cases
    _cases = load_cases(cache)
    chosen = [index for index, case in enumerate(_cases)
              if not options.only or any(text in case.name for text in options.only)][::options.every]
    known_gaps = {name for name, (places, _) in read_gaps().items() if place in places}
    failed = refused = known = 0
    results = {}
    with multiprocessing.get_context("fork").Pool() as pool:
        for name, problem in pool.imap(_work, [(index, run_case, options) for index in chosen], chunksize=16):
            results[name] = problem
            if options.update:
                known_gaps = known_gaps - {name} if problem is None else known_gaps | {name}
            wrong = judge(name, known_gaps, problem)
            failed += wrong is not None
            refused += wrong is None and is_refused(name)
            known += wrong is None and not is_refused(name) and problem is not None
            if wrong:
                print(f"FAILED {name}: {wrong}", flush=True)
            elif problem and options.show:
                print(f"{name}: {problem}", flush=True)
    if options.update:
        write_gaps(place, results)
    passed = sum(problem is None for problem in results.values())
    print(f"{place}: of {len(chosen)} cases {passed} pass, {refused} are refused by name, {known} are known gaps")
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


def main(run_case, options, place, cache):
    sys.exit(run_suite(run_case, options, place, cache))
