"""Compares this compiler and runtime with IREE, ONNX Runtime and OpenVINO from PyPI, in one run, taking turns.

    .venv/bin/python benchmarks/compare.py --tools build/tools

Three tables: compiling (wall and CPU time, peak memory), latency at one and two threads, and the cost of a call.
Every round measures every system once, in turn, so that a slow minute of the machine hits all of them. Both least and
median are given. The peers are installed into .venv when they are missing.
"""

import argparse
import importlib.metadata
import importlib.util
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks" / "models")]
import make  # noqa: E402
from check import FUNCTIONS, random_inputs  # noqa: E402
from tools import LOCAL_SYNC, ToolError, Tools, call, local_task, measure, parse_samples  # noqa: E402

HOST = "--iree-llvmcpu-target-cpu=host"
TILED = ["--iree-opt-data-tiling", "--iree-llvmcpu-enable-ukernels=all"]
# For each way to use IREE, the flags to try in turn: some models fail with the best ones.
IREE_VARIANTS = {
    "IREE O3": [[HOST, "--iree-opt-level=O3"], [HOST, "--iree-opt-level=O2"], [HOST]],
    "IREE O3, data tiling": [[HOST, "--iree-opt-level=O3", *TILED], [HOST, *TILED], [HOST]],
}
OURS, ORT, OPENVINO = "iree-c", "ONNX Runtime", "OpenVINO"


class Compiled:
    """One model compiled by one system: what it cost, and where the module is."""

    def __init__(self, name, tools):
        self.name, self.tools = name, tools
        self.flags, self.module, self.note = [], None, ""
        self.imports, self.compiles = [], []


def peers_folder():
    """Folder of IREE's tools, installed if need be."""
    folder = pathlib.Path(sys.executable).parent
    missing = [name for name in ("iree", "openvino") if importlib.util.find_spec(name) is None]
    if missing or not (folder / "iree-compile").exists():
        print("compare: installing IREE and OpenVINO from PyPI", file=sys.stderr)
        requirements = ROOT / "build_tools" / "requirements-benchmark.txt"
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "-r", str(requirements)], check=True)
    return folder


def say(text):
    print(f"compare: {text}", file=sys.stderr, flush=True)


def machine():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        fields = dict(line.split(":", 1) for line in file if ":" in line)
    names = {key.strip(): value.strip() for key, value in fields.items()}
    wide = "AMX" if "amx_bf16" in names["flags"] else "AVX-512" if "avx512f" in names["flags"] else "AVX2"
    with open("/proc/meminfo", encoding="ascii") as file:
        gigabytes = int(file.readline().split()[1]) / 2**20
    return (f"{names['model name']} (family {names['cpu family']}, model {names['model']}, {wide}), "
            f"{int(names['processor']) + 1} CPUs, {gigabytes:.0f} GiB")


def try_compile(compiled, choices, source, module):
    """Finds the first flags that work and leaves the module there."""
    for flags in choices:
        try:
            call(compiled.tools.compile(source, module, flags))
        except ToolError as error:
            say(f"{compiled.name} fails with {' '.join(flags) or 'no flags'}: {error.brief()}")
            continue
        if flags is not choices[0]:
            compiled.note = f" (only with {' '.join(flags)})"
        compiled.flags, compiled.module = flags, module
        return


def compile_all(systems, model, path, work, rounds):
    """Compiles a model with every system, in turn, `rounds` times; returns the Compiled that work."""
    results = []
    for number, (name, tools, choices) in enumerate(systems):
        compiled = Compiled(name, tools)
        compiled.source, module = work / f"{model}_{number}.mlir", work / f"{model}_{number}.vmfb"
        try:
            if path.suffix == ".mlir":
                compiled.source = path
            else:
                call(tools.import_onnx(path, compiled.source))
            try_compile(compiled, choices, compiled.source, module)
        except ToolError as error:
            say(f"{name} cannot import {model}: {error.brief()}")
        if compiled.module:
            results.append(compiled)
    for _ in range(max(1, rounds)):
        for compiled in results:
            if path.suffix != ".mlir":
                compiled.imports.append(measure(compiled.tools.import_onnx(path, compiled.source)))
            compiled.compiles.append(measure(
                compiled.tools.compile(compiled.source, compiled.module, compiled.flags)))
    return results


def compile_rows(model, results):
    rows = []
    for compiled in results:
        walls = [usage.wall for usage in compiled.compiles]
        first = compiled.imports[0] if compiled.imports else None
        rows.append([model, compiled.name + compiled.note,
                     f"{first.wall:.2f} / {first.peak / 1e6:.0f}" if first else "",
                     f"{min(walls):.3f} / {statistics.median(walls):.3f}",
                     f"{min(usage.cpu for usage in compiled.compiles):.3f}",
                     f"{max(usage.peak for usage in compiled.compiles) / 1e6:.0f}",
                     f"{compiled.module.stat().st_size / 1e6:.2f}"])
    return rows


def onnxruntime_sampler(path, arrays, threads, clock=time.perf_counter):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, array in arrays.items():
        binding.bind_cpu_input(name, array)
    for output in session.get_outputs():
        binding.bind_output(output.name)

    def sample(batch, count):
        times = []
        for _ in range(count + 1):
            start = clock()
            for _ in range(batch):
                session.run_with_iobinding(binding)
            times.append((clock() - start) * 1e3 / batch)
        return times[1:]

    return sample


def openvino_sampler(path, arrays, threads, clock=time.perf_counter):
    """Floats as the model has them: OpenVINO would take narrower ones where the processor has units for them."""
    import openvino
    compiled = openvino.Core().compile_model(str(path), "CPU", {
        "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    for name, array in arrays.items():
        request.set_tensor(name, openvino.Tensor(np.ascontiguousarray(array)))

    def sample(batch, count):
        times = []
        for _ in range(count + 1):
            start = clock()
            for _ in range(batch):
                request.infer()
            times.append((clock() - start) * 1e3 / batch)
        return times[1:]

    return sample


def begin_peer(make_sampler, *arguments):
    """A sampler, or None where the peer is not installed or cannot take the model."""
    try:
        return make_sampler(*arguments)
    except (ImportError, RuntimeError) as error:
        say(f"{make_sampler.__name__}: {str(error).strip().splitlines()[0]}")
        return None


def module_sampler(compiled, function, inputs, device, cpu=False):
    command = [compiled.tools.path("iree-benchmark-module"), f"--module={compiled.module}", f"--function={function}",
               *[f"--input={text}" for text in inputs], *device, "--time_unit=ns"]

    def sample(batch, count):
        options = [f"--benchmark_min_time={batch}x", f"--benchmark_repetitions={count + 1}"]
        return parse_samples(call(command + options), cpu)[1:]

    return sample


def take_turns(samplers, rounds, seconds):
    """Samples each system for about `seconds` in each round, in turn; returns all samples in milliseconds by system.

    A sample is the mean of a batch of calls, long enough to time (a millisecond). The first of a round is dropped."""
    plans, samples = {}, {key: [] for key in samplers}
    for key, sampler in list(samplers.items()):
        try:
            once = min(sampler(1, 3))
        except ToolError as error:
            say(f"{key[0]} fails: {error.brief()}")
            del samplers[key]
            continue
        batch = max(1, round(1.0 / once))
        plans[key] = (batch, max(3, min(200, round(seconds * 1e3 / (once * batch)))))
    for _ in range(rounds):
        for key, sampler in samplers.items():
            samples[key] += sampler(*plans[key])
    return samples


def latency_rows(model, path, results, arrays, inputs, arguments):
    function = "abs" if model == "simple_abs" else FUNCTIONS.get(model, "main_graph")
    samplers = {}
    for threads in (1, 2):
        device = LOCAL_SYNC if threads == 1 else local_task(2)
        for compiled in results:
            samplers[compiled.name, threads] = module_sampler(compiled, function, inputs, device)
        samplers[ORT, threads] = onnxruntime_sampler(path, arrays, threads)
        peer = begin_peer(openvino_sampler, path, arrays, threads)
        if peer:
            samplers[OPENVINO, threads] = peer
    samples = take_turns(samplers, arguments.rounds, arguments.seconds)
    rows = []
    for name in dict.fromkeys(key[0] for key in samples):
        cells = [f"{min(times):.4f} / {statistics.median(times):.4f}" if (times := samples.get((name, n))) else "fails"
                 for n in (1, 2)]
        rows.append([model, name, *cells])
    return rows


def abs_model(path):
    graph = helper.make_graph([helper.make_node("Abs", ["x"], ["y"])], "abs",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return {"x": np.array(-2, np.float32)}


def table(title, heads, rows):
    lines = [f"\n## {title}\n", "| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def compare_model(systems, model, arguments, work):
    """Rows of the compile table and of the latency table for one model."""
    say(model)
    if model == "simple_abs":
        path, source = work / "abs.onnx", ROOT / "samples/models/simple_abs.mlir"
        arrays = abs_model(path)
        inputs = ["f32=-2"]
    else:
        path = source = make.write(model, work)
        arrays = random_inputs(onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]))
        inputs = []
        for key, array in arrays.items():
            np.save(work / f"{model}_{key}.npy", array)
            inputs.append(f"@{work / f'{model}_{key}.npy'}")
    results = compile_all(systems, model, source, work, arguments.compile_rounds)
    return compile_rows(model, results), latency_rows(model, path, results, arrays, inputs, arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", default="build/tools", help="folder of our tools")
    parser.add_argument("--work", default="build/compare", help="folder for models and modules")
    parser.add_argument("--rounds", type=int, default=5, help="turns of the latency measurement")
    parser.add_argument("--compile-rounds", type=int, default=3, help="turns of the compile measurement, at least 1")
    parser.add_argument("--seconds", type=float, default=1.0, help="time for one system in one turn")
    parser.add_argument("--models", default="simple_abs,mlp,mobilenetv2,resnet50,bert,vit", help="comma-separated")
    arguments = parser.parse_args()
    work = pathlib.Path(arguments.work)
    work.mkdir(parents=True, exist_ok=True)
    peers = Tools(peers_folder())
    systems = [(OURS, Tools(arguments.tools), [[]])]
    systems += [(name, peers, choices) for name, choices in IREE_VARIANTS.items()]
    compiling, latency = [], []
    for model in arguments.models.split(","):
        rows = compare_model(systems, model, arguments, work)
        compiling += rows[0]
        latency += rows[1]
    version = importlib.metadata.version("iree-base-compiler")
    print(f"Machine: {machine()}. IREE {version}, ONNX Runtime {onnxruntime.__version__}, OpenVINO "
          f"{importlib.metadata.version('openvino')}. {time.strftime('%d %B %Y')}.")
    print(table("Compiling", ["model", "compiler", "import s / MB", "compile wall s, least / median",
                              "CPU s", "peak MB", "module MB"], compiling))
    print(table("Milliseconds a call, least / median", ["model", "runtime", "1 thread", "2 threads"], latency))
    print("\nOne thread is `local-sync`, two threads are `local-task` with two workers; the others have "
          "threads of their own. The rows of `simple_abs` are the cost of a call.")


if __name__ == "__main__":
    main()
