"""A small stack after Llama (benchmarks/models/llama.py) against NumPy: run.py --tools DIR [--work DIR] [--all]

Prefill, then one token after the other, with weights of every form on CPUs and the interpreter, and on software GPUs
under all checks. Then that a token leaves the keys and values of the past where they are: `decode` is one list of commands,
which changes them in place, copies nothing and has no kernel that moves them.
"""

import argparse
import pathlib
import re
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks" / "models")]
import llama  # noqa: E402
from tools import ToolError, Tools, call  # noqa: E402

LOCAL = ["--iree-hal-target-device=local"]
CHECKED = ["--amdgpu_default_pool_range_length=1"]  # every allocation is one of its own
# By name: flags to compile and to run, and the software GPU's.
TARGETS = {
    "llvm-cpu": ([*LOCAL, "--iree-hal-local-target-device-backends=llvm-cpu"], ["--device=local-task"], None),
    "vmvx": ([*LOCAL, "--iree-hal-local-target-device-backends=vmvx"], ["--device=local-sync"], None),
    "sm_90": (["--iree-hal-target-device=cuda", "--iree-cuda-target=sm_90"],
              ["--device=cuda", "--cuda_async_allocations=false"], "sm_90"),
    "gfx942": (["--iree-hal-target-device=amdgpu", "--iree-rocm-target=gfx942"], ["--device=amdgpu", *CHECKED],
               "gfx942"),
    "gfx1100": (["--iree-hal-target-device=amdgpu", "--iree-rocm-target=gfx1100"], ["--device=amdgpu", *CHECKED],
                "gfx1100"),
}
CASES = [*((form, "llvm-cpu") for form in llama.FORMS), ("f32", "vmvx"), ("f16", "sm_90"), ("blocks", "sm_90"),
         ("bf16", "gfx942"), ("f32", "gfx1100"), ("nbits", "gfx1100")]
TOLERANCES = {"f16": 5e-3, "bf16": 3e-2}
TOKENS, FIRST = 12, 7


def module_of(tools, work, form, target):
    source, module = work / f"{form}.mlir", work / f"{form}_{target}.vmfb"
    if not source.exists():
        llama.write(llama.PRESETS["tiny"], form, work, form)
    call([tools.path("iree-compile"), *TARGETS[target][0], source, "-o", module])
    return module


def check_results(tools, work, form, target):
    """What is wrong, or None."""
    shape = llama.PRESETS["tiny"]
    module, out = module_of(tools, work, form, target), work / "rows.npy"
    tokens = np.random.default_rng(5).integers(0, shape.vocabulary, TOKENS)
    expected = llama.reference(shape, llama.Weights(shape, form), tokens, FIRST)
    np.save(work / "tokens.npy", tokens)
    out.unlink(missing_ok=True)
    _, device, gpu = TARGETS[target]
    command = tools.run(module, "follow", [f"@{work / 'tokens.npy'}", str(FIRST)], [*device, f"--output=@{out}"])
    launcher = [tools.path("iree-softgpu"), f"--target={gpu}", "--check=all", "--"] if gpu else []
    call([*launcher, *command])
    rows = np.load(out)
    error = float(np.abs(rows - expected).max() / np.abs(expected).max()) if rows.shape == expected.shape else np.inf
    return None if error <= TOLERANCES.get(form, 1e-5) else f"{error:.1e} of the largest element off"


def check_places(tools, work, form, target):
    """The same of what `decode` does with the past."""
    text = call([tools.path("iree-dump-module"), module_of(tools, work, form, target)])
    lists = re.findall(r"^hal\.commands @decode(?:_\d+)?\(.*?\n}\n", text, re.MULTILINE | re.DOTALL)
    if len(lists) != 1 or "\n  copy " in lists[0]:
        return f"{len(lists)} lists of commands, {sum(one.count('  copy ') for one in lists)} copies"
    shape = llama.PRESETS["tiny"]
    size = shape.groups * shape.room * shape.head * np.dtype(llama.TYPES[form]).itemsize
    in_place = 0
    for line in lists[0].splitlines():
        names = re.findall(rf"(arg\d+)\[0 for {size}\]", line)
        in_place += len(set(names)) < len(names)
    if in_place != 2 * shape.layers:
        return f"{in_place} updates in place"
    if re.search(r"_dispatch_\d+_(copy|transpose|slice|reshape|broadcast)_", lists[0]):
        return "a kernel that moves the past"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, help="folder of iree-compile and the others")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "llama")
    parser.add_argument("--all", action="store_true", help="all forms on all targets")
    options = parser.parse_args()
    tools = Tools(options.tools)
    options.work.mkdir(parents=True, exist_ok=True)
    for old in options.work.glob("*.mlir"):
        old.unlink()
    results = [(form, target) for form in llama.FORMS for target in TARGETS] if options.all else CASES
    checks = [(check_results, *case) for case in results]
    checks += [(check_places, "f16", "llvm-cpu"), (check_places, "f16", "sm_90"), (check_places, "f32", "gfx1100")]
    failures = 0
    for check, form, target in checks:
        try:
            wrong = check(tools, options.work, form, target)
        except ToolError as error:
            wrong = str(error)
        if wrong:
            failures += 1
            print(f"FAILED {check.__name__} {form} on {target}: {wrong}")
    print(f"{len(checks) - failures} passed, {failures} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
