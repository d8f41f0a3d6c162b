"""A capture of BERT on local-task replays on software GPUs of both kinds, with the same results: the CPU's kernels,
compiled for them, stand for those captured.

    tests/replay/bert.py --build build [--layers 12] [--sequence 128]

Kernels for CPUs have a thread in each workgroup, of whose lanes a GPU's wave uses one. Time grows with layers and tokens
in proportion: 12 layers and 128 tokens take both GPUs together six minutes of a processor's time, 16 tokens less than one.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks" / "models")]
import bert  # noqa: E402
from tools import CPU_FLAGS, ToolError, call  # noqa: E402

# The same kernels on every machine.
CPU = [*CPU_FLAGS, "--iree-llvmcpu-target-cpu=haswell"]
GPUS = {"gfx1100": ("amdgpu", "--iree-rocm-target"), "sm_80": ("cuda", "--iree-cuda-target")}
HOUR = 3600


def replay(tools, work, target):
    """What iree-run-replay says of the capture on a target."""
    device, flag = GPUS[target]
    code = work / f"bert-{target}.bin"
    call([tools / "iree-compile", "--compile-mode=hal-executable", f"--iree-hal-target-device={device}", f"{flag}={target}",
          work / "kernels.mlir", "-o", code], timeout=HOUR)
    return call([tools / "iree-softgpu", f"--target={target}", "--", tools / "iree-run-replay", f"--device={device}",
                 "--replay_verify=f32", f"--replay_executable_substitution=all={code}", work / "bert.ireereplay"],
                timeout=HOUR)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", type=pathlib.Path)
    parser.add_argument("--layers", default=bert.LAYERS, type=int)
    parser.add_argument("--sequence", default=bert.SEQUENCE, type=int, help="tokens")
    options = parser.parse_args()
    tools, work = options.build.resolve() / "tools", options.build.resolve() / "tests" / "replay-bert"
    bert.LAYERS, bert.SEQUENCE = options.layers, options.sequence
    inputs = [f"--input=1x{bert.SEQUENCE}xi64={value}" for value in (7, 1, 0)]
    work.mkdir(parents=True, exist_ok=True)
    bert.build().save(work / "bert.onnx")
    for flags in (["-o", work / "bert.vmfb"], ["--compile-to=executable-sources", "-o", work / "kernels.mlir"]):
        call([tools / "iree-compile", work / "bert.onnx", *CPU, *flags], timeout=HOUR)
    call([tools / "iree-run-module", "--device=local-task", f"--module={work / 'bert.vmfb'}", "--function=main_graph",
          *inputs, *(f"--output=@{work / name}.npy" for name in ("states", "pooled")),
          f"--device_replay_output={work / 'bert.ireereplay'}"], timeout=HOUR)
    passed = failed = 0
    for target in GPUS:
        try:
            said = replay(tools, work, target)
        except ToolError as error:
            said = str(error)
        fine = re.search(r"^\[SUCCESS\] 2 of 2 reads", said, re.MULTILINE)
        passed, failed = passed + bool(fine), failed + (not fine)
        print(f"{'' if fine else 'FAILED '}{target}: BERT with {bert.LAYERS} layers and {bert.SEQUENCE} tokens: "
              f"{said.strip()[-1000:]}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
