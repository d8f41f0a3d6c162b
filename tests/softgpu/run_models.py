"""Whole models on the software GPUs, through the drivers amdgpu and cuda: results against ONNX Runtime, and the CPU time
they take.

    tests/softgpu/run_models.py --build build [--model mobilenetv2] [--target gfx1100] [--check all] [--flag=FLAG]

A target's name, gfx1100 or sm_90, says which driver.

Models are compiled by iree-compile and run by iree-run-module under iree-softgpu, with random inputs. One passes when no
output is further from ONNX Runtime's than 1e-4 of that output's largest element and the checks report nothing. mnist,
which is StableHLO, has its known result.
"""

import pathlib
import sys

import numpy as np
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks" / "models")]
import check  # noqa: E402
import make  # noqa: E402
import suite  # noqa: E402
from tools import ToolError, Tools, call, measure  # noqa: E402

DIGITS = {"digits": "digits.onnx", "digits_batch": "digits_batch.onnx"}
MODELS = ["mnist", *DIGITS, *make.NAMES]
HOUR = 3600
MNIST = ROOT / "tests" / "e2e" / "stablehlo_models" / "mnist_fake_weights.mlir"


class Model:
    """Where a model is, what goes into it and what must come out."""

    def __init__(self, name, work):
        self.name, self.folder, self.source, self.expected = name, work / name, MNIST, None
        self.folder.mkdir(parents=True, exist_ok=True)
        if name == "mnist":
            self.function, self.inputs = "predict", ["1x28x28x1xf32=0.5"]
            return
        self.source = ROOT / "examples" / "digits" / DIGITS[name] if name in DIGITS else make.write(name, work)
        self.function = "classify" if name in DIGITS else check.FUNCTIONS.get(name, "main_graph")
        session = onnxruntime.InferenceSession(str(self.source), providers=["CPUExecutionProvider"])
        arrays = check.random_inputs(session)
        self.expected = session.run(None, arrays)
        for key, array in arrays.items():
            np.save(self.folder / f"{key}.npy", array)
        self.inputs = [f"@{self.folder / key}.npy" for key in arrays]

    def wanted(self):
        """Flags of iree-run-module for the outputs, and the files they come to."""
        if self.expected is None:
            return [f"--expected_output={check.TENTHS}"], []
        files = [self.folder / f"gpu{i}.npy" for i in range(len(self.expected))]
        for file in files:
            file.unlink(missing_ok=True)
        return [f"--output=@{file}" for file in files], files


def driver_of(target):
    """The name of the driver, and the compiler's flag for the target."""
    return ("cuda", "cuda") if target.startswith("sm_") else ("amdgpu", "rocm")


def run(tools, model, target, checks):
    """Seconds of CPU time and the largest error; ToolError when a tool or a check complains."""
    module = model.folder / f"{target}.vmfb"
    kind = ["--iree-input-type=stablehlo"] if model.source == MNIST else []
    driver, flag = driver_of(target)
    call([tools.path("iree-compile"), f"--iree-hal-target-device={driver}", f"--iree-{flag}-target={target}", *tools.flags,
          *kind, model.source, "-o", module])
    flags, files = model.wanted()
    # With checks every allocation is one of its own, so that its bounds are known.
    own = {"amdgpu": "--amdgpu_default_pool_range_length=1", "cuda": "--cuda_async_allocations=false"}[driver]
    device = [f"--device={driver}", *([own] if checks else [])]
    command = [tools.path("iree-softgpu"), f"--target={target}", *([f"--check={checks}"] if checks else []), "--",
               *tools.run(module, model.function, model.inputs, [*device, *flags])]
    if not files:
        call(command)  # for what it says when the output is another
    usage = measure(command, HOUR)
    error = check.largest_error([np.load(file) for file in files], model.expected) if files else 0.0
    return usage.cpu, error


def attempt(tools, model, target, checks):
    """A line of the table, and what is wrong or None."""
    try:
        seconds, error = run(tools, model, target, checks)
    except ToolError as failure:
        return "failed", str(failure)
    text = f"{seconds:.2f} s of CPU time, error {error:.1e}"
    if error > check.TOLERANCE:
        return text, f"an output differs by more than {check.TOLERANCE} of its largest element"
    return text, None


def main():
    parser = suite.arguments(__doc__)
    parser.add_argument("--work", type=pathlib.Path, help="folder for models; BUILD/models when not given")
    parser.add_argument("--model", action="append", choices=MODELS, help="all when not given; repeatable")
    parser.add_argument("--target", action="append", default=[], help="AMD's five when not given; repeatable")
    parser.add_argument("--check", default="", help="checks of iree-softgpu: all, or a list")
    parser.add_argument("--flag", action="append", default=[], help="one more flag for iree-compile; repeatable")
    options = parser.parse_args()
    tools, work = Tools(options.build / "tools", options.flag), options.work or options.build / "models"
    count, failures = 0, []
    for name in options.model or MODELS:
        model = Model(name, work)
        for target in options.target or suite.TARGETS:
            text, wrong = attempt(tools, model, target, options.check)
            print(f"{name:13}{target:9}{text}", flush=True)
            count += 1
            if wrong:
                failures.append(f"{name} on {target}: {wrong}")
    suite.finish(count, failures)


if __name__ == "__main__":
    main()
