"""JAX's own tests through the plugin: suite.py CHECKOUT [--every N] [--seed S] [--only FILE] [--processes P]

CHECKOUT is JAX's repository at the version that is installed (github.com/jax-ml/jax, tag jax-v0.10.2). Its tests need
absl-py, and some of them hypothesis. Processes take a few of one file's tests at a time; one that ends or hangs loses the
test it was at and no other. Tests that ask for the platform's name are told `cpu`, so that those run which JAX has for
CPUs alone; --named tells them iree. With --log FILE each test's outcome is kept there as it comes, and what is there
already is not run again: a run that --seconds ended goes on.
"""

import argparse
import concurrent.futures
import importlib.util
import json
import os
import pathlib
import queue
import random
import subprocess
import sys
import threading
import time
import traceback
import unittest
import zlib

# What is asked of a platform whose programs are on one device.
FILES = """lax_test lax_numpy_test lax_numpy_operators_test lax_numpy_reducers_test lax_numpy_indexing_test
    lax_numpy_setops_test lax_numpy_ufuncs_test lax_numpy_vectorize_test lax_numpy_einsum_test lax_control_flow_test
    lax_autodiff_test lax_vmap_test lax_vmap_op_test lax_scipy_test lax_scipy_special_functions_test linalg_test nn_test
    random_lax_test random_test random_impl_test fft_test debugging_primitives_test
    scipy_stats_test scipy_fft_test scipy_ndimage_test scipy_signal_test scipy_optimize_test scipy_interpolate_test
    lax_scipy_sparse_test lax_scipy_spectral_dac_test image_test sparse_test sparse_bcoo_bcsr_test sparsify_test svd_test
    eigh_test lobpcg_test jet_test custom_root_test custom_linear_solve_test dtypes_test x64_context_test key_reuse_test
    stateful_rng_test stax_test optimizers_test polynomial_test python_callback_test debug_nans_test checkify_test
    mutable_array_test batching_test array_test array_interoperability_test api_test pmap_test export_test ann_test
    scaled_dot_test pickle_test compilation_cache_test memories_test pjit_test shape_poly_test""".split()


SECONDS = 120  # that a test has
MOST_AT_A_TIME = 64  # tests of a process
OUTCOMES = ("passed", "failed", "skipped")


def flatten(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flatten(item)
        else:
            yield item


def name_of(test):
    """Its name without its parameters, which may have addresses in them."""
    return f"{type(test).__name__}.{test._testMethodName}"


def is_chosen(name, every, seed):
    return zlib.crc32(f"{seed} {name}".encode()) % every == 0


class Result(unittest.TestResult):
    """Says a line of JSON for the start and for the outcome of each test."""

    def startTest(self, test):
        super().startTest(test)
        self.outcome, self.why = "passed", ""
        print(json.dumps(["begin", name_of(test)]), file=self.stream, flush=True)

    def stopTest(self, test):
        super().stopTest(test)
        print(json.dumps([self.outcome, name_of(test), self.why]), file=self.stream, flush=True)

    def addError(self, test, err):
        lines = "".join(traceback.format_exception_only(*err[:2])).split("\n")
        text = " | ".join(line.strip() for line in lines if line.strip())
        self.outcome, self.why = "failed", text if len(text) < 700 else f"{text[:500]} ... {text[-190:]}"

    addFailure = addError

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.addError(test, err)

    def addSkip(self, test, reason):
        self.outcome, self.why = "skipped", reason


def load(path, named):
    """The file's tests by their names."""
    from jax._src import test_util

    sys.argv[1:] = []  # JAX reads its own flags there
    if not named:
        test_util.device_under_test = lambda: "cpu"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return {name_of(test): test for test in flatten(unittest.defaultTestLoader.loadTestsFromModule(module))}


def run_here(path, named, stream):
    """Runs the tests whose names are in the standard input; without any, says the names of all."""
    wanted = json.load(sys.stdin)
    tests = load(path, named)
    if not wanted:
        print(json.dumps(list(tests)), file=stream, flush=True)
        return
    importlib.import_module("jax").devices()  # what it warns of is no test's
    result = Result()
    result.stream = stream
    for name in wanted:
        tests[name].run(result)


def start(options, name, core, tests=()):
    """A process for tests of the file; without any, for their names."""
    command = [sys.executable, __file__, options.checkout.resolve(), "--only", name, "--here", "--core", core]
    child = subprocess.Popen(list(map(str, command + ["--named"] * options.named)), stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             env={"JAX_PLATFORMS": "iree,cpu", **os.environ})
    child.stdin.write(json.dumps(tests).encode())
    child.stdin.close()
    return child


def lines_of(child, deadline):
    """What the process says, until its end, the deadline, or nothing for SECONDS: it is ended then."""
    lines = queue.Queue()

    def read():
        for line in child.stdout:
            lines.put(json.loads(line))
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    try:
        while (line := lines.get(timeout=max(0, min(SECONDS, deadline - time.monotonic())))) is not None:
            yield line
    except queue.Empty:
        child.kill()
    child.wait()


def run_tests(options, name, tests, core, deadline, say):
    """Runs tests of a file, in another process after one that ended early."""
    while tests and time.monotonic() < deadline:
        begun, left = "", list(tests)
        child = start(options, name, core, tests)
        for outcome, test, *why in lines_of(child, deadline):
            begun = test
            if outcome in OUTCOMES:
                left.remove(test)
                say(outcome, name, test, why[0])
                begun = ""
        if time.monotonic() >= deadline:
            return
        if left and begun:
            say("failed", name, begun, f"the process ended with {child.returncode}")
            left.remove(begun)
        elif left == tests:
            say("failed", name, name, f"exit {child.returncode} before its first test")
            return
        tests = left


class Log:
    """Outcomes by file, also as lines of a file that a later run goes on from."""

    def __init__(self, path):
        self.lock = threading.Lock()
        self.lines = [json.loads(line) for line in path.read_text().splitlines()] if path and path.exists() else []
        self.file = path and path.open("a")

    def say(self, *line):
        with self.lock:
            self.lines.append(line)
            if line[0] == "failed":
                print(f"FAILED {line[1]} {line[2]}: {line[3]}", flush=True)
            if self.file:
                print(json.dumps(line), file=self.file, flush=True)

    def counts(self, name):
        outcomes = [line[0] for line in self.lines if line[1] == name]
        return [outcomes.count(outcome) for outcome in OUTCOMES]


def names_of(options, name):
    said = list(lines_of(start(options, name, -1), time.monotonic() + SECONDS))
    return [test for test in said[0] if is_chosen(test, options.every, options.seed)] if said else []


def run_all(options):
    deadline = time.monotonic() + options.seconds
    log = Log(options.log)
    done = {tuple(line[1:3]) for line in log.lines}
    files = [options.only] if options.only else FILES
    cores = queue.Queue()
    for core in sorted(os.sched_getaffinity(0))[:options.processes] if options.processes > 1 else [-1]:
        cores.put(core)

    def work(name, tests):
        core = cores.get()
        run_tests(options, name, tests, core, deadline, log.say)
        cores.put(core)

    with concurrent.futures.ThreadPoolExecutor(cores.qsize()) as pool:
        chosen = dict(zip(files, pool.map(lambda name: names_of(options, name), files)))
        parts = [(name, left[i:i + MOST_AT_A_TIME]) for name, tests in chosen.items()
                 for left in [[test for test in tests if (name, test) not in done]]
                 for i in range(0, len(left), MOST_AT_A_TIME)]
        random.Random(options.seed).shuffle(parts)
        list(pool.map(work, *zip(*parts)) if parts else [])
    for name in files:
        print("{}: {} passed, {} failed, {} skipped".format(name, *log.counts(name)))
    passed, failed, skipped = (sum(log.counts(name)[i] for name in files) for i in range(3))
    left = sum(map(len, chosen.values())) - passed - failed - skipped
    print(f"{skipped} were skipped by themselves, {max(0, left)} are left")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="one file of the tests")
    parser.add_argument("--named", action="store_true", help="tests are told the platform's own name")
    parser.add_argument("--processes", type=int, default=1, help="each has a core of its own if there are several")
    parser.add_argument("--seconds", type=float, default=1e6, help="tests that are not run by then are left")
    parser.add_argument("--log", type=pathlib.Path, help="file of outcomes that is gone on from")
    parser.add_argument("--here", action="store_true", help="run those that the standard input names, in this process")
    parser.add_argument("--core", type=int, default=-1)
    options = parser.parse_args()
    if not options.here:
        return run_all(options)
    if options.core >= 0:
        os.sched_setaffinity(0, {options.core})
    stream = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # where tests print
    run_here(options.checkout / f"tests/{options.only}.py", options.named, stream)
    return 0


if __name__ == "__main__":
    sys.exit(main())
