"""Counters of dispatches, and over time, of AMD GPUs below HIP: on software GPUs, by a rocprofiler-sdk for tests
(rocprofiler/), which counts with the packets that `amdgpu` counts with, and refuses what AMD's library refuses.

    rocprofiler.py TOOLS FOLDER [--all]

Each call makes a HIP of its own, which takes a third of a second: --all has more of them.
"""

import pathlib
import re
import sys

from expectations import expect, report
from tools_runner import ToolsRunner

LENGTHS = [256 * i for i in range(1, 9)]
# More than wait for their values at a time.
PRODUCTS = 280
COUNTERS = ["GRBM_COUNT", "SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_VMEM", "SQ_INSTS_LDS"]


def sums():
    """A dispatch for each length, which says by its waves which one it is."""
    lines = [f"    %{i} = arith.addf %a{i}, %a{i} : tensor<{n}xf32>" for i, n in enumerate(LENGTHS)]
    types = ", ".join(f"tensor<{n}xf32>" for n in LENGTHS)
    arguments = ", ".join(f"%a{i}: tensor<{n}xf32>" for i, n in enumerate(LENGTHS))
    names = ", ".join(f"%{i}" for i in range(len(LENGTHS)))
    return "\n".join([f"func.func @main({arguments}) -> ({types}) {{", *lines, f"    return {names} : {types}", "}"])


def chain():
    lines = [f"    %{i + 1} = linalg.matmul ins(%{i}, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) "
             "-> tensor<8x8xf32>" for i in range(PRODUCTS)]
    return "\n".join(["func.func @main(%0: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {",
                      "    %z = arith.constant dense<0.0> : tensor<8x8xf32>", *lines,
                      f"    return %{PRODUCTS} : tensor<8x8xf32>", "}"])


class Runner(ToolsRunner):
    def compile(self, name, target, driver="hip"):
        flag = "rocm" if driver == "amdgpu" else driver
        result = self.call(self.tools / "iree-compile", f"{name}.mlir", f"--iree-hal-target-device={driver}",
                           f"--iree-{flag}-target={target}", "-o", f"{name}-{driver}.vmfb")
        expect(f"compile {name} for {driver}", result.returncode == 0, result.stderr)

    def run(self, mode, counters, *flags, name="sums", driver="hip", path=None, gpus="gfx90a", **environment):
        self.profile.unlink(missing_ok=True)
        inputs = [f"--input={n}xf32=1" for n in LENGTHS] + ["--output="] * len(LENGTHS)
        if name == "chain":
            inputs = ["--input=8x8xf32=0.125"] * 2 + ["--output="]
        if driver == "hip" and path != "":
            flags = (f"--hip_rocprofiler_path={path or self.folder}", *flags)
        return self.call(self.tools / "iree-softgpu", f"--gpus={gpus}", "--", self.tools / "iree-run-module",
                         f"--module={name}-{driver}.vmfb", f"--device={driver}", "--function=main", *inputs,
                         f"--device_profiling_mode={mode}", f"--device_profiling_output={self.profile}",
                         *[f"--device_profiling_counter={counter}" for counter in counters], *flags, **environment)


def check_dispatches(runner):
    """Of two GPUs' the second one: the library's is the one that HIP runs on."""
    result = runner.run("counters", COUNTERS, "--hip_default_index=1", gpus="gfx90a,gfx90a")
    expect("run", result.returncode == 0, result.stderr)
    samples = runner.samples()
    expect("each dispatch has its own", [sample["SQ_WAVES"] for sample in samples] == [n // 64 for n in LENGTHS], samples)
    counters = {row["name"]: row for row in runner.rows("counter") if row["type"] == "counter"}
    expect("what they are", [(counters[name]["block"], counters[name]["unit_value"]) for name in COUNTERS] ==
           [("GRBM", 2)] + [("SQ", 1)] * 5 and counters["SQ_WAVES"]["description"] == "waves that began", counters)
    runner.run("counters", COUNTERS, driver="amdgpu")
    expect("they are those of amdgpu", samples == runner.samples(), (samples, runner.samples()))


def check_many(runner):
    result = runner.run("counters", ["SQ_WAVES"], name="chain", ROCPROFILER_DOUBLE="late")
    samples = runner.samples()
    expect("values that come late", result.returncode == 0 and len(samples) == PRODUCTS, (len(samples), result.stderr))


def check_filter(runner):
    result = runner.run("counters", ["SQ_WAVES"], "--device_profiling_filter_command_index=2")
    expect("a filter", result.returncode == 0 and runner.samples() == [{"SQ_WAVES": LENGTHS[2] // 64}], result.stderr)


def check_ranges(runner):
    """Without a flag for the library it is where the system looks, and still before HIP."""
    result = runner.run("counter-ranges", COUNTERS[:3], path="", LD_LIBRARY_PATH=str(runner.folder))
    expect("ranges: run", result.returncode == 0, result.stderr)
    samples = [row for row in runner.rows("counter", "--counter_samples") if row["type"] == "counter_sample"]
    expect("ranges: one at the end", len(samples) == 3 and samples[1]["value"] == sum(LENGTHS) // 64, samples)
    expect("ranges: times", 0 < samples[0]["start_tick"] < samples[0]["end_tick"], samples)


LOST = f"DATA_LOSS; rocprofiler-sdk counted nothing of {len(LENGTHS)} dispatches: .*loaded before HIP.*AMD_DIRECT_DISPATCH=1"


def refused(what, pattern, result):
    expect(f"refused: {what}", result.returncode == 1 and re.search(pattern, result.stderr, re.DOTALL), result.stderr)


def check_refusals(runner):
    refused("no library", "UNAVAILABLE; counters of HIP's kernels need rocprofiler-sdk of ROCm 7.0 .*was not found; .*"
            "--hip_rocprofiler_path=.*--device=amdgpu.*librocprofiler64.*is not used",
            runner.run("counters", COUNTERS[:1], path=runner.tools))
    refused("an unknown counter", "UNIMPLEMENTED; counter 'SQ_BOGUS' is none that rocprofiler-sdk has for gfx90a.*"
            "rocprofv3-avail list", runner.run("counters", ["SQ_BOGUS"]))
    refused("launches on another thread", LOST, runner.run("counters", COUNTERS[:1], AMD_DIRECT_DISPATCH="0"))


def check_more_refusals(runner):
    refused("a counter twice", "counter SQ_WAVES is named twice", runner.run("counters", ["SQ_WAVES"] * 2))
    refused("more than the GPU counts", "UNIMPLEMENTED; rocprofiler_create_counter_config of .* failed with 38: .*fewer at a",
            runner.run("counters", ["SQ_WAVES", "SQ_INSTS_MFMA", "SQ_INSTS_BRANCH", "SQ_INSTS_SMEM",
                                    "SQ_LDS_BANK_CONFLICT", *COUNTERS[2:]]))
    refused("both kinds", "either `counters` or `counter-ranges`", runner.run("counters,counter-ranges", COUNTERS[:1]))
    refused("another library", "too old: it has no entry point rocprofiler_get_status_string",
            runner.run("counters", COUNTERS[:1],
                       path=f"file:{runner.tools.parent / 'lib' / 'softgpu' / 'libhsa-amd-aqlprofile64.so.1'}"))
    refused("no times of dispatches", "unsupported hip profiling data families .*--hip_tracing=1 ",
            runner.run("counters", COUNTERS[:1], "--hip_tracing=1"))
    refused("another profiler", "rocprofiler_force_configure of .* failed with 16: .*another profiler was there first",
            runner.run("counters", COUNTERS[:1], ROCPROFILER_DOUBLE="locked"))
    refused("no privileges", "PERMISSION_DENIED; rocprofiler_start_context of .*CAP_PERFMON",
            runner.run("counters", COUNTERS[:1], ROCPROFILER_DOUBLE="denied"))
    refused("HIP before it, in its words", "failed with 41: .*HIP was there before it",
            runner.run("counters", COUNTERS[:1], ROCPROFILER_DOUBLE="register"))
    refused("HSA before it", LOST, runner.run("counters", COUNTERS[:1], LD_PRELOAD=str(
        runner.tools.parent / "lib" / "softgpu" / "libhsa-runtime64.so.1")))
    refused("values that never come", LOST, runner.run("counters", COUNTERS[:1], ROCPROFILER_DOUBLE="lost"))


def main():
    tools, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sums.mlir").write_text(sums())
    (folder / "chain.mlir").write_text(chain())
    runner = Runner(tools, folder, "rocprofiler.ireeprof")
    runner.compile("sums", "gfx90a")
    runner.compile("sums", "gfx90a", "amdgpu")
    runner.compile("chain", "gfx90a")
    check_dispatches(runner)
    check_many(runner)
    check_ranges(runner)
    check_refusals(runner)
    if "--all" in sys.argv[3:]:
        check_filter(runner)
        check_more_refusals(runner)
    return report()


if __name__ == "__main__":
    sys.exit(main())
