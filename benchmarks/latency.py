"""Latency at one thread next to ONNX Runtime and, where it is installed, OpenVINO, in turn, over small models of many
families; results are compared too.

    .venv/bin/python benchmarks/latency.py --tools build/tools [--only NAME]... [--threads 2] [--limit 1.25]

Prints least and median milliseconds of each and the ratio of our least to the fastest peer's. With --limit it exits
with 1 when a model is above. Times of one thread are of the process's CPU time, which others disturb less than the
wall's; what counts is the least over several rounds, in which all take turns.
"""

import argparse
import pathlib
import statistics
import sys
import time

import numpy as np
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks" / "models")]
import make  # noqa: E402
from check import FUNCTIONS, TOLERANCE, largest_error, random_inputs, run_model  # noqa: E402
from compare import Compiled, begin_peer, machine, module_sampler, onnxruntime_sampler, openvino_sampler  # noqa: E402
from compare import table, take_turns  # noqa: E402
from tools import LOCAL_SYNC, ToolError, Tools, call, local_task  # noqa: E402

# Float sums between bytes: ONNX Runtime's own results with and without its optimizations are this far apart.
BETWEEN_BYTES = 0.05
HOST = "--iree-llvmcpu-target-cpu=host"


class Subject:
    """One model: its file, inputs and module. Raises ToolError when that cannot be made or is wrong."""

    def __init__(self, name, tools, work):
        self.path, self.folder = make.write(name, work), work / name
        self.function = FUNCTIONS.get(name, "main_graph")
        self.folder.mkdir(exist_ok=True)
        session = onnxruntime.InferenceSession(str(self.path), providers=["CPUExecutionProvider"])
        self.arrays = random_inputs(session)
        expected = session.run(None, self.arrays)
        self.inputs = []
        for key, array in self.arrays.items():
            np.save(self.folder / f"{key}.npy", array)
            self.inputs.append(f"@{self.folder / key}.npy")
        self.compiled = Compiled(name, tools)
        self.compiled.module = self.folder / f"{name}.vmfb"
        text = self.path.with_suffix(".mlir")
        call(tools.compile(text if name in make.STABLEHLO else self.path, self.compiled.module, [HOST]))
        results = run_model(tools, self.compiled.module, self.function, self.inputs, self.folder, LOCAL_SYNC,
                            len(expected))
        self.error = largest_error(results, expected)

    def samples(self, rounds, seconds, threads):
        """Milliseconds of each sample, by system: this compiler, ONNX Runtime, OpenVINO. Of one thread CPU time."""
        one = threads == 1
        clock, device = (time.process_time, LOCAL_SYNC) if one else (time.perf_counter, local_task(threads))
        samplers = {"ours": module_sampler(self.compiled, self.function, self.inputs, device, cpu=one),
                    "ONNX Runtime": onnxruntime_sampler(self.path, self.arrays, threads, clock)}
        peer = begin_peer(openvino_sampler, self.path, self.arrays, threads, clock)
        if peer:
            samplers["OpenVINO"] = peer
        samples = take_turns({(key,): sampler for key, sampler in samplers.items()}, rounds, seconds)
        return {key: times for (key,), times in samples.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, help="folder of iree-compile and the others")
    parser.add_argument("--work", default="build/models", help="folder for models and results")
    parser.add_argument("--only", action="append", help="only this model; repeatable")
    parser.add_argument("--flag", action="append", default=[], help="one more flag for iree-compile; repeatable")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3, help="of each system in each round")
    parser.add_argument("--threads", type=int, default=1, help="more than one: times are of the wall")
    parser.add_argument("--limit", type=float, help="largest ratio that passes")
    arguments = parser.parse_args()
    tools, work = Tools(arguments.tools, arguments.flag), pathlib.Path(arguments.work)
    work.mkdir(parents=True, exist_ok=True)
    rows, failures = [], []
    names = arguments.only or [name for name in make.STEMS if name not in make.HALVES]
    for name in names:
        try:
            subject = Subject(name, tools, work)
            samples = subject.samples(arguments.rounds, arguments.seconds, arguments.threads)
        except ToolError as error:
            failures.append(f"{name}: {error.brief()}")
            continue
        theirs = {key: min(times) for key, times in samples.items() if key != "ours" and times}
        fastest = min(theirs, key=theirs.get)
        ratio = min(samples["ours"]) / theirs[fastest]
        cells = [samples.get(key) for key in ("ours", "ONNX Runtime", "OpenVINO")]
        rows.append([name, *[f"{min(times):.3f} / {statistics.median(times):.3f}" if times else "" for times in cells],
                     f"{ratio:.2f}", f"{subject.error:.1e}"])
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
        if not subject.error <= (BETWEEN_BYTES if name.endswith("_qdq") else TOLERANCE):
            failures.append(f"{name}: results differ by {subject.error:.1e} of the largest element")
        elif arguments.limit and ratio > arguments.limit:
            failures.append(f"{name}: {ratio:.2f} times {fastest}")
    kind = "One thread, CPU ms" if arguments.threads == 1 else f"{arguments.threads} threads, ms"
    print(f"Machine: {machine()}. ONNX Runtime {onnxruntime.__version__}. {kind}: least / median.")
    print(table("Latency", ["model", "iree-c", "ONNX Runtime", "OpenVINO", "ratio", "error"], rows))
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    print(f"{len(names) - len(failures)} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
