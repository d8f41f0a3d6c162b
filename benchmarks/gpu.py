"""Checks every model on a GPU of this machine, and times models, operators, calls and copies there.

    .venv/bin/python benchmarks/gpu.py --tools build/tools --device cuda --target sm_90 [--only NAME]...

Three tables: models against ONNX Runtime's results on the CPU (a model passes when no output is further off than 1e-4
of that output's largest element; one in 16 bits, 1e-2; one between bytes, a step of its last one); single operators;
and what a call, a graph of 60 empty kernels and copies cost next to the vendor's library alone
(tests/gpu_calls_benchmark). What is installed is timed too, in turn with ours: for models ONNX Runtime with the GPU's
provider, torch.compile with CUDA graphs and XLA (gpu_peers.py), PyTorch for operators. Least and median of
milliseconds, each call awaited, inputs and results on the device. Exits with 1 when a result is wrong, a peer's
included.
"""

import argparse
import importlib.util
import pathlib
import statistics
import subprocess
import sys
import time

import ml_dtypes
import numpy as np
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks" / "models")]
import make  # noqa: E402
from check import FUNCTIONS, largest_error, random_inputs, run_model, tolerance  # noqa: E402
from compare import machine, table  # noqa: E402
from gpu_operators import TYPES, attention_text, attentions, operators, some_rows  # noqa: E402
from gpu_peers import Network, Unknown, jax_call, torch_call  # noqa: E402
from tools import ToolError, Tools, call, parse_samples  # noqa: E402

# By the device's driver: what compiles for it, ONNX Runtime's provider, the kernels of gpu_calls_benchmark.
DRIVERS = {
    "cuda": (["--iree-hal-target-backends=cuda"], "--iree-cuda-target=", "CUDAExecutionProvider", "cts_kernels.ptx"),
    "hip": (["--iree-hal-target-device=hip"], "--iree-hip-target=", "ROCMExecutionProvider", "cts_kernels_{}.hsaco"),
    "amdgpu": (["--iree-hal-target-device=amdgpu"], "--iree-rocm-target=", "ROCMExecutionProvider", None),
}
MODELS = [*make.NAMES, "gpt2", *make.HALVES, "mobilenetv2_qdq", "squeezenet", "lstm_128", "mobile_last"]
TURNS = 2  # of ours and each peer


class Device:
    """A device to compile for and to run on."""

    def __init__(self, tools, device, target, flags):
        self.driver = device.split(":")[0]
        backend, option, self.provider, self.kernels = DRIVERS[self.driver]
        self.tools, self.target = tools, target
        self.compile_flags = [*backend, option + target]
        self.run_flags = [f"--device={device}", *flags]

    def compile(self, source, module):
        """Unless the module is newer than its source."""
        if not module.exists() or module.stat().st_mtime < source.stat().st_mtime:
            call([self.tools.path("iree-compile"), *self.compile_flags, source, "-o", module])

    def samples(self, module, function, inputs, rounds):
        command = [self.tools.path("iree-benchmark-module"), f"--module={module}", f"--function={function}",
                   *[f"--input={text}" for text in inputs], *self.run_flags, "--benchmark_min_time=0.2s",
                   f"--benchmark_repetitions={rounds}", "--time_unit=us"]
        return parse_samples(call(command))


def times(samples):
    return f"{min(samples):.3f} / {statistics.median(samples):.3f}" if samples else ""


def clock(function, rounds):
    """Milliseconds of `rounds` calls, after some to warm up."""
    for _ in range(5):
        function()
    samples = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        samples.append((time.perf_counter() - start) * 1e3)
    return samples


def onnxruntime_call(path, arrays, provider):
    """A function that runs the model by ONNX Runtime on the GPU and awaits it, and one that gives its results as
    arrays; None where its package has not the provider."""
    if provider not in onnxruntime.get_available_providers():
        return None
    options = {"enable_cuda_graph": "1", "use_tf32": "0"} if provider.startswith("CUDA") else {}
    session = onnxruntime.InferenceSession(str(path), providers=[(provider, options)])
    binding = session.io_binding()
    for name, array in arrays.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array, "cuda", 0))
    for output in session.get_outputs():
        binding.bind_output(output.name, "cuda")
    binding.synchronize_inputs()

    def run():
        session.run_with_iobinding(binding)
        binding.synchronize_outputs()

    return run, lambda _: binding.copy_outputs_to_cpu()


def begin_peer(make_call, *arguments):
    """A call, and what it gives; None where there is none, or the peer cannot compile the network."""
    try:
        made = make_call(*arguments)
        return made and (made[0], [np.asarray(x) for x in made[1](made[0]())])
    except RuntimeError as error:
        print(f"{make_call.__name__}: {str(error).splitlines()[0]}", file=sys.stderr)
        return None


def peers_of(path, arrays, provider):
    """ONNX Runtime, PyTorch and XLA, or None where it is not installed or lacks an operator."""
    peers = [begin_peer(onnxruntime_call, path, arrays, provider), None, None]
    try:
        network = Network(path)
        peers[1:] = [begin_peer(make_call, network, list(arrays.values())) for make_call in (torch_call, jax_call)]
    except Unknown:
        pass
    return peers


def check_model(device, name, work, rounds):
    """A row of the table and whether the results are right."""
    path, folder = make.write(name, work), work / name
    folder.mkdir(exist_ok=True)
    source = path.with_suffix(".mlir") if name in make.STABLEHLO else path
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    arrays = random_inputs(session)
    expected = session.run(None, arrays)
    inputs = []
    for key, array in arrays.items():
        np.save(folder / f"{key}.npy", array)
        inputs.append(f"@{folder / key}.npy")
    function, module = FUNCTIONS.get(name, "main_graph"), work / f"{name}_{device.driver}_{device.target}.vmfb"
    device.compile(source, module)
    errors = [largest_error(run_model(device.tools, module, function, inputs, folder, device.run_flags, len(expected)),
                            expected)]
    peers = peers_of(path, arrays, device.provider)
    errors += [largest_error(peer[1], expected) for peer in peers if peer]
    ours, theirs = [], [[] for _ in peers]
    for _ in range(TURNS):
        ours += device.samples(module, function, inputs, rounds)
        for peer, samples in zip(peers, theirs):
            samples += clock(peer[0], 20 * rounds) if peer else []
    row = [name, " ".join(f"{error:.1e}" for error in errors), times(ours), *map(times, theirs)]
    return row, max(errors) <= tolerance(name)


def torch_samples(operands, function, rounds):
    """Of PyTorch on the GPU, where it is installed."""
    if importlib.util.find_spec("torch") is None:
        return []
    import torch
    if not torch.cuda.is_available():
        return []
    torch.backends.cuda.matmul.allow_tf32 = False
    operands = [torch.from_numpy(operand.view(np.int16)).view(torch.bfloat16).cuda()
                if operand.dtype == ml_dtypes.bfloat16 else torch.from_numpy(operand).cuda() for operand in operands]

    def run():
        function(torch, *operands)
        torch.cuda.synchronize()

    return clock(run, 5 * rounds)


def prepare(device, name, text, shapes, kind, work):
    """The module of a program, its operands, and how tools are told of them."""
    stem = name.replace(" ", "_")
    source, module = work / f"{stem}.mlir", work / f"{stem}_{device.driver}_{device.target}.vmfb"
    if not source.exists() or source.read_text(encoding="ascii") != text:
        source.write_text(text, encoding="ascii")
    random = np.random.default_rng(3)
    operands = [random.integers(-128, 128, shape, np.int8) if kind == "i8" else
                random.standard_normal(shape, dtype=np.float32).astype(TYPES[kind]) for shape in shapes]
    inputs = []
    for number, operand in enumerate(operands):
        operand.tofile(work / f"operand_{number}.bin")
        inputs.append(f"{'x'.join(map(str, operand.shape))}x{kind}=@{work}/operand_{number}.bin")
    device.compile(source, module)
    return module, operands, inputs


def result_of(device, module, inputs, kind, work):
    """The elements of the one result."""
    path = work / "result.bin"
    path.unlink(missing_ok=True)
    call(device.tools.run(module, "main", inputs, device.run_flags + [f"--output=@{path}"]))
    return np.fromfile(path, TYPES[kind])


def row_of(name, error, samples, done, unit):
    """Of the table: least and median times, ours and PyTorch's, and what is done in a second at best."""
    rates = [f"{done / (min(one) * 1e-3):.3g}" if one else "" for one in samples]
    return [name, f"{error:.1e}", *map(times, samples), *rates, unit]


def check_operator(device, operator, work, rounds):
    module, operands, inputs = prepare(device, operator.name, operator.text, operator.shapes, operator.kind, work)
    result = result_of(device, module, inputs, operator.result, work)
    # Sums of bytes are exact in f64, and NumPy's products of integers take minutes.
    expected = operator.reference(*[x.astype(np.float64 if operator.kind == "i8" else np.float32) for x in operands])
    error = largest_error([result.astype(np.float64).reshape(expected.shape)], [expected])
    samples = (device.samples(module, "main", inputs, rounds), torch_samples(operands, operator.peer, rounds))
    return row_of(operator.name, error, samples, operator.done, operator.unit), error <= operator.tolerance


def their_attention(torch, causal, *operands):
    """PyTorch's own kernel: matrix units a wave at a time, as ours. For one query cuDNN's, where bandwidth is all."""
    kinds = torch.nn.attention.SDPBackend
    kind = kinds.CUDNN_ATTENTION if operands[0].shape[2] == 1 else kinds.FLASH_ATTENTION
    with torch.nn.attention.sdpa_kernel(kind):
        return torch.nn.functional.scaled_dot_product_attention(*operands, is_causal=causal)


def check_attention(device, subject, work, rounds):
    """A row of the table, and whether some rows of the result are right."""
    name, shape, keys, causal = subject
    shapes = [shape, (*shape[:2], keys, shape[3]), (*shape[:2], keys, shape[3])]
    text = attention_text(shape, keys, causal)
    module, operands, inputs = prepare(device, name, text, shapes, "f16", work)
    result = result_of(device, module, inputs, "f16", work).reshape(shape)
    error = max(largest_error([result[at][rows]], [expected]) for at, rows, expected in some_rows(operands, causal))
    samples = (device.samples(module, "main", inputs, rounds),
               torch_samples(operands, lambda torch, *all: their_attention(torch, causal, *all), rounds))
    if shape[2] == 1:
        done, unit = 1e-9 * sum(operand.nbytes for operand in operands), "GB/s"
    else:
        done, unit = 4e-12 * np.prod(shape) * keys / (2 if causal else 1), "TFLOP/s"
    return row_of(name, error, samples, done, unit), error <= 4e-3


def card(device):
    """The GPU's name and driver, as its vendor's tool says."""
    command = {"cuda": ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]}.get(device.driver)
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (TypeError, OSError, subprocess.CalledProcessError, IndexError):
        return "a GPU"


def calls(device, work):
    """What gpu_calls_benchmark prints, or why there is none."""
    program = device.tools.folder.parent / "tests" / "gpu_calls_benchmark"
    if device.kernels is None or not program.exists():
        return f"no calls are timed next to the library of {device.driver}"
    module = work / f"abs_{device.driver}_{device.target}.vmfb"
    device.compile(ROOT / "samples" / "models" / "simple_abs.mlir", module)
    kernels = program.with_name(device.kernels.format(device.target))
    return call([program, *device.run_flags, f"--module={module}", f"--kernels={kernels}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, help="folder of iree-compile and the others")
    parser.add_argument("--work", default="build/models", help="folder for models and results")
    parser.add_argument("--device", default="cuda", help="as of iree-run-module: cuda, hip://0, amdgpu")
    parser.add_argument("--target", required=True, help="what to compile for: sm_90, gfx942")
    parser.add_argument("--flag", action="append", default=[], help="one more flag for what runs; repeatable")
    parser.add_argument("--only", action="append",
                        help="only this model or operator, or operators that begin so; repeatable")
    parser.add_argument("--rounds", type=int, default=10)
    arguments = parser.parse_args()
    if arguments.device.split(":")[0] not in DRIVERS:
        parser.error(f"--device={arguments.device}: have {', '.join(DRIVERS)}")
    device = Device(Tools(arguments.tools), arguments.device, arguments.target, arguments.flag)
    work = pathlib.Path(arguments.work)
    work.mkdir(parents=True, exist_ok=True)
    failures, rows = [], {"models": [], "operators": []}
    subjects = [("models", check_model, name, name) for name in MODELS]
    subjects += [("operators", check_operator, operator, operator.name) for operator in operators()]
    subjects += [("operators", check_attention, attention, attention[0]) for attention in attentions()]
    for kind, check, subject, name in subjects:
        begins = kind == "operators" and arguments.only and name.startswith(tuple(arguments.only))
        if arguments.only and name not in arguments.only and not begins:
            continue
        try:
            row, passed = check(device, subject, work, arguments.rounds)
        except ToolError as error:
            failures.append(f"{name}: {error.brief()}")
            continue
        print(" | ".join(row), file=sys.stderr, flush=True)
        rows[kind].append(row)
        if not passed:
            failures.append(f"{name}: results are {row[1]} of the largest element off")
    print(f"Machine: {machine()}; {card(device)}; {arguments.device}, {arguments.target}.")
    print("Milliseconds: least / median.")
    print(table("Models", ["model", "errors", "iree-c", "ONNX Runtime", "torch.compile", "XLA"], rows["models"]))
    print(table("Operators", ["operator", "error", "iree-c", "PyTorch", "iree-c", "PyTorch", "unit"],
                rows["operators"]))
    if not arguments.only:
        print(calls(device, work))
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    print(f"{len(rows['models']) + len(rows['operators'])} run, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
