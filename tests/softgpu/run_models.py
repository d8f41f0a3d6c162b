"""Whole models on GPUs, through the drivers amdgpu, cuda and hip: results against ONNX Runtime, and the CPU time they
take.

    tests/softgpu/run_models.py --build build [--model mobilenetv2] [--target gfx1100] [--check all] [--flag=FLAG]
    tests/softgpu/run_models.py --build build --target gfx90a --driver hip
    tests/softgpu/run_models.py --build build --target sm_80 --target sm_90 --card --model every --jobs 12

A target's name, gfx1100 or sm_90, says which driver, unless --driver does. --card is for a machine with a GPU: else the
software GPU of the target is there.

Models are compiled by iree-compile and run by iree-run-module, with random inputs. One passes when no output is further
from ONNX Runtime's than a part of that output's largest element (f32: 1e-4; check.py has the rest) and the checks report
nothing. mnist, which is StableHLO, has its known result.
"""

import concurrent.futures
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
OTHERS = list(make.STEMS)  # when they are asked for, by name or as `every`
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
        path = ROOT / "examples" / "digits" / DIGITS[name] if name in DIGITS else make.write(name, work)
        self.source = path.with_suffix(".mlir") if name in make.STABLEHLO else path
        self.function = "classify" if name in DIGITS else check.FUNCTIONS.get(name, "main_graph")
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
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


# By driver: the compiler's flag for the target, and the one with which every allocation is one of its own.
DRIVERS = {
    "amdgpu": ("rocm", "--amdgpu_default_pool_range_length=1"),
    "cuda": ("cuda", "--cuda_async_allocations=false"),
    "hip": ("hip", "--hip_async_allocations=false"),
}


def device_of(target, options):
    """The driver's name, the flags of iree-run-module for it, and what stands before that program."""
    driver = options.driver or ("cuda" if suite.is_nvidia(target) else "amdgpu")
    # With checks every allocation is one of its own, so that its bounds are known.
    flags = [f"--device={driver}", *([DRIVERS[driver][1]] if options.check else [])]
    checks = [f"--check={options.check}"] if options.check else []
    launcher = [] if options.card else [options.build / "tools" / "iree-softgpu", f"--target={target}", *checks, "--"]
    return driver, flags, launcher


def run(tools, model, target, options):
    """Seconds of CPU time and the largest error; ToolError when a tool or a check complains."""
    driver, device, launcher = device_of(target, options)
    module = model.folder / f"{driver}_{target}.vmfb"
    kind = ["--iree-input-type=stablehlo"] if model.source == MNIST else []
    call([tools.path("iree-compile"), f"--iree-hal-target-device={driver}",
          f"--iree-{DRIVERS[driver][0]}-target={target}", *tools.flags, *kind, model.source, "-o", module])
    flags, files = model.wanted()
    command = [*launcher, *tools.run(module, model.function, model.inputs, [*device, *flags])]
    if not files:
        call(command)  # for what it says when the output is another
    usage = measure(command, HOUR)
    error = check.largest_error([np.load(file) for file in files], model.expected) if files else 0.0
    return usage.cpu, error


def attempt(tools, model, target, options):
    """A line of the table, and what is wrong or None."""
    try:
        seconds, error = run(tools, model, target, options)
    except ToolError as failure:
        return "failed", str(failure)
    text, most = f"{seconds:.2f} s of CPU time, error {error:.1e}", check.tolerance(model.folder.name)
    if not error <= most:
        return text, f"an output differs by more than {most} of its largest element"
    return text, None


def check_model(tools, name, work, options):
    """How many targets it was tried on, and what was wrong."""
    model, targets, failures = Model(name, work), options.target or suite.TARGETS, []
    for target in targets:
        text, wrong = attempt(tools, model, target, options)
        print(f"{name:22}{target:9}{text}", flush=True)
        if wrong:
            failures.append(f"{name} on {target}: {wrong}")
    return len(targets), failures


def main():
    parser = suite.arguments(__doc__)
    parser.add_argument("--work", type=pathlib.Path, help="folder for models; BUILD/models when not given")
    parser.add_argument("--model", action="append", choices=[*MODELS, *OTHERS, "every"],
                        help="the ones that make test has when not given; repeatable")
    parser.add_argument("--target", action="append", default=[], help="AMD's five when not given; repeatable")
    parser.add_argument("--driver", choices=DRIVERS, help="the one of the target's vendor, not hip, when not given")
    parser.add_argument("--card", action="store_true", help="on this machine's own GPU")
    parser.add_argument("--check", default="", help="checks of iree-softgpu: all, or a list")
    parser.add_argument("--flag", action="append", default=[], help="one more flag for iree-compile; repeatable")
    parser.add_argument("--jobs", type=int, default=1, help="models at a time")
    options = parser.parse_args()
    if options.card and options.check:
        parser.error("--check is the software GPU's")
    tools, work = Tools(options.build / "tools", options.flag), options.work or options.build / "models"
    names = options.model or MODELS
    if "every" in names:
        names = [*MODELS, *OTHERS]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda name: check_model(tools, name, work, options), names))
    suite.finish(sum(count for count, _ in results), [failure for _, failures in results for failure in failures])


if __name__ == "__main__":
    main()
