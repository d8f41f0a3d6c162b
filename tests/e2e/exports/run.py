"""Compiles and runs what PyTorch exports to ONNX, sizes left open where the exporter can, against ONNX Runtime.

    python tests/e2e/exports/run.py --tools build/tools --suite torchvision transformers operators

Needs torch, torchvision, transformers, onnxscript and onnxruntime, which make setup does not install. Each subject goes
through both of PyTorch's exporters. A model whose sizes are open runs a second time, one of them other. Prints a line
for each one that is not right, a table, and `N passed, N failed`; what PyTorch cannot build or export, and what
ONNX Runtime does not run, is counted aside. --keep FOLDER has the model, inputs and expected outputs of failures.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import select
import shutil
import subprocess
import sys
import threading
import time
import warnings

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "benchmarks"), str(pathlib.Path(__file__).parent)]
from tools import LOCAL_SYNC, ToolError, Tools, call  # noqa: E402

HOST = ["--iree-llvmcpu-target-cpu=host"]
# Of a result's largest element: f32 sums in another order, through tens of layers with random weights.
TOLERANCE = 2e-3
RANDOM = {"Dropout", "Bernoulli", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial"}
ASIDE = ("unbuilt", "unexported", "unreferenced")


class Aside(Exception):
    """Not a matter of this compiler; the first argument is why, one of ASIDE."""


# A worker: one subject after another, each told in a line of its input and answered by a line of JSON.


def export_model(subject, exporter, path):
    """Writes the model, with open sizes or else without."""
    import torch

    names = [f"in{i}" for i in range(len(subject.arguments))]
    shapes = tuple({d: torch.export.Dim.AUTO for d in dims} or None for dims in subject.open_dimensions)
    axes = {name: {d: f"{name}_{d}" for d in dims} for name, dims in zip(names, subject.open_dimensions) if dims}
    why = ""
    for is_open in (True, False):
        try:
            if exporter == "dynamo":
                torch.onnx.export(subject.module, subject.arguments, str(path), dynamo=True, input_names=names,
                                  dynamic_shapes=(shapes,) if is_open else None, verbose=False)
            else:
                torch.onnx.export(subject.module, subject.arguments, str(path), dynamo=False, input_names=names,
                                  dynamic_axes=axes if is_open else None, opset_version=17)
            return
        except Exception as error:  # Any: exporters fail in every way that Python code can.
            why = f"{type(error).__name__}: {str(error.__cause__ or error)[:200]}"
    raise Aside("unexported", why)


def reference(path, arrays):
    """What ONNX Runtime makes of the file, op by op: a model that it refuses is no measure, nor are its optimizations."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        return session.run(None, {value.name: arrays[value.name] for value in session.get_inputs()})
    except Exception as error:  # Any: as above.
        raise Aside("unreferenced", str(error)[:200]) from None


def difference(ours, theirs):
    """The largest difference over the largest element, or why there is none to tell."""
    if ours.shape != theirs.shape:
        return f"shape {ours.shape}, expected {theirs.shape}"
    if ours.dtype.itemsize == theirs.dtype.itemsize and ours.dtype.kind + theirs.dtype.kind in ("iu", "ui"):
        ours = ours.view(theirs.dtype)  # Results of functions have no sign.
    if ours.dtype != theirs.dtype:
        return f"type {ours.dtype}, expected {theirs.dtype}"
    if not theirs.size:
        return 0.0
    kind = np.complex128 if theirs.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        a, b = ours.astype(kind), theirs.astype(kind)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        if same.all():
            return 0.0
        if np.isfinite(a[~same]).all() and np.isfinite(b[~same]).all():
            return float(np.abs(a - b)[~same].max() / max(np.abs(b[np.isfinite(b)]).max(), 1e-30))
    return "not finite where finite is expected, or the reverse"


def compare_run(tools, module, function, names, arrays, expected, folder):
    for name in names:
        np.save(folder / f"{name}.npy", arrays[name])
    outputs = [folder / f"out{i}.npy" for i in range(len(expected))]
    for path in outputs:
        path.unlink(missing_ok=True)
    call(tools.run(module, function, [f"@{folder / name}.npy" for name in names],
                   [*LOCAL_SYNC, *[f"--output=@{path}" for path in outputs]]), timeout=60)
    worst = 0.0
    for i, path in enumerate(outputs):
        np.save(folder / f"expected{i}.npy", expected[i])
        error = difference(np.load(path), expected[i])
        if isinstance(error, str) or error > TOLERANCE:
            raise ValueError(f"output {i}: {error if isinstance(error, str) else f'{error:.1e} of its largest'}")
        worst = max(worst, error)
    return worst


def other_sizes(subject):
    """The arguments with the first open dimension of each one longer: nothing where none is open."""
    import torch

    if not any(subject.open_dimensions) or len({dims[:1] for dims in subject.open_dimensions if dims}) > 1:
        return None
    return [torch.cat([t, t.narrow(dims[0], 0, 1)], dims[0]) if dims else t
            for t, dims in zip(subject.arguments, subject.open_dimensions)]


def examine(tools, suite, name, exporter, folder):
    import onnx
    import torch
    from subjects import SUITES

    torch.manual_seed(0)
    try:
        subject = SUITES[suite][1](name)
    except Exception as error:  # Any: as above.
        raise Aside("unbuilt", f"{type(error).__name__}: {str(error)[:200]}") from None
    path, module = folder / "model.onnx", folder / "model.vmfb"
    with torch.no_grad():
        export_model(subject, exporter, path)
    graph = onnx.load(str(path), load_external_data=False).graph
    if any(node.op_type in RANDOM for node in graph.node):
        raise Aside("unreferenced", "random numbers")
    constants = {tensor.name for tensor in graph.initializer}
    names = [value.name for value in graph.input if value.name not in constants]
    if not names:
        raise Aside("unexported", "no input is left")
    arrays = {f"in{i}": t.detach().numpy() for i, t in enumerate(subject.arguments)}
    expected = reference(path, arrays)
    begin = time.monotonic()
    call(tools.compile(path, module, HOST), timeout=120)
    seconds = time.monotonic() - begin
    worst = compare_run(tools, module, graph.name, names, arrays, expected, folder)
    longer = other_sizes(subject)
    if longer and any(d.dim_param for value in graph.input for d in value.type.tensor_type.shape.dim):
        arrays = {f"in{i}": t.detach().numpy() for i, t in enumerate(longer)}
        try:
            expected = reference(path, arrays)
        except Aside:  # A size that only looks open.
            return {"status": "right", "error": worst, "seconds": seconds}
        worst = max(worst, compare_run(tools, module, graph.name, names, arrays, expected, folder))
    return {"status": "right", "error": worst, "seconds": seconds}


def work(options):
    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What exporters print is no answer.
    tools = Tools(options.tools)
    for line in sys.stdin:
        suite, name, exporter, folder = json.loads(line)
        folder = pathlib.Path(folder)
        try:
            answer = examine(tools, suite, name, exporter, folder)
        except Aside as aside:
            answer = {"status": aside.args[0], "detail": aside.args[1]}
        except ToolError as error:
            compiling = "iree-compile" in str(error).split()[0]
            answer = {"status": "refused" if compiling else "stopped",
                      "detail": error.brief() if compiling else " ".join(str(error).splitlines()[1:])[:500]}
        except (ValueError, FileNotFoundError) as error:
            answer = {"status": "wrong", "detail": str(error)[:300]}
        except Exception as error:  # Any: a worker outlives what a subject does.
            answer = {"status": "unreferenced", "detail": f"{type(error).__name__}: {str(error)[:200]}"}
        print(json.dumps(answer), file=answers, flush=True)


# The runner: a thread for each worker.


class Runner:
    def __init__(self, options, tasks):
        self.options, self.tasks, self.results = options, tasks, []
        self.lock, self.end = threading.Lock(), time.monotonic() + options.seconds

    def start(self):
        command = [sys.executable, __file__, "--worker", "--tools", str(self.options.tools)]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                text=True, bufsize=1, env=dict(os.environ, CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="1"))

    def ask(self, worker, task, folder):
        """The worker's answer, or what became of it; then it is None."""
        try:
            worker.stdin.write(json.dumps([*task, str(folder)]) + "\n")
            limit = min(self.options.timeout, max(self.end - time.monotonic(), 0))
            if select.select([worker.stdout], [], [], limit)[0]:
                line = worker.stdout.readline()
                if line:
                    return worker, json.loads(line)
                why = f"PyTorch's process ended: {worker.wait()}"
            else:
                why = f"no answer after {limit:.0f} s"
        except BrokenPipeError:
            why = "PyTorch's process ended"
        worker.kill()
        worker.wait()
        return None, {"status": "unexported", "detail": why}

    def serve(self, number):
        worker = None
        while time.monotonic() < self.end:
            with self.lock:
                if not self.tasks:
                    break
                task = self.tasks.pop()
            folder = self.options.work / f"{number}-{'-'.join(task).replace('/', '_')}"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            worker, answer = self.ask(worker or self.start(), task, folder)
            self.finish(task, answer, folder)
        if worker:
            worker.kill()

    def finish(self, task, answer, folder):
        failed = answer["status"] in ("refused", "stopped", "wrong")
        if failed and self.options.keep:
            (folder / "model.vmfb").unlink(missing_ok=True)
            if sum(path.stat().st_size for path in folder.iterdir()) <= self.options.keep_size:
                shutil.copytree(folder, self.options.keep / "-".join(task).replace("/", "_"), dirs_exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        with self.lock:
            self.results.append((task, answer))
            if failed or (self.options.verbose and answer["status"] != "right"):
                print(f"{' '.join(task)}: {answer['status']}: {answer.get('detail', '')}", flush=True)

    def run(self):
        threads = [threading.Thread(target=self.serve, args=(i,)) for i in range(self.options.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def report(runner):
    statuses = ["right", "wrong", "refused", "stopped", *ASIDE]
    counts = collections.defaultdict(collections.Counter)
    for (suite, _, exporter), answer in runner.results:
        counts[f"{suite} {exporter}"][answer["status"]] += 1
    print("| exported | " + " | ".join(statuses) + " |\n" + "|---" * (1 + len(statuses)) + "|")
    for row, counter in sorted(counts.items()):
        print(f"| {row} | " + " | ".join(str(counter[status]) for status in statuses) + " |")
    slow = sorted(((answer["seconds"], task) for task, answer in runner.results if "seconds" in answer), reverse=True)
    print("slowest to compile: " + ", ".join(f"{task[1]} {seconds:.1f} s" for seconds, task in slow[:5]))
    if runner.tasks:
        print(f"{len(runner.tasks)} were not reached in {runner.options.seconds} s")
    passed = sum(counter["right"] for counter in counts.values())
    failed = sum(counter[status] for counter in counts.values() for status in ("wrong", "refused", "stopped"))
    print(f"{passed} passed, {failed} failed")
    return failed or not passed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=pathlib.Path, default=pathlib.Path("build/tools"))
    parser.add_argument("--suite", nargs="+", default=["torchvision", "transformers"])
    parser.add_argument("--exporter", nargs="+", default=["dynamo", "script"])
    parser.add_argument("--only", default="", help="subjects whose name has this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=int, default=7200, help="for all")
    parser.add_argument("--timeout", type=int, default=300, help="for one subject")
    parser.add_argument("--seed", type=int, default=0, help="of the order")
    parser.add_argument("--skip", type=int, default=0, help="so many, which an earlier run of this order had")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/exports"))
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--keep-size", type=int, default=1 << 20, help="bytes of what is kept of one failure at most")
    parser.add_argument("--verbose", action="store_true", help="tells what is counted aside, too")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return work(options)
    from subjects import SUITES

    tasks = [(suite, name, exporter) for suite in options.suite for name in SUITES[suite][0]()
             for exporter in options.exporter if options.only in name]
    random.Random(options.seed).shuffle(tasks)
    runner = Runner(options, tasks[:len(tasks) - options.skip])
    runner.run()
    return report(runner)


if __name__ == "__main__":
    sys.exit(main())
