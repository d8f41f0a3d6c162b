"""Counters of dispatches, and over time, on software AMD GPUs: values that are known by hand, and those of --stats.

    counters.py TOOLS FOLDER
"""

import json
import pathlib
import re
import sys

from expectations import expect, report
from tools_runner import ToolsRunner

SIZE = 4096
PROGRAM = f"""
func.func @main(%a: tensor<{SIZE}xf32>, %b: tensor<{SIZE}xf32>) -> tensor<{SIZE}xf32> {{
  %0 = arith.addf %a, %b : tensor<{SIZE}xf32>
  return %0 : tensor<{SIZE}xf32>
}}
"""
COUNTERS = ["SQ_WAVES", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_VALU", "SQ_INSTS_VMEM", "SQ_INSTS_LDS",
            "SQ_INSTS_BRANCH", "SQ_LDS_BANK_CONFLICT", "GRBM_COUNT", "SOFTGPU_BYTES_READ", "SOFTGPU_BYTES_WRITTEN",
            "SOFTGPU_LANES", "SOFTGPU_WAVES_HELD", "SOFTGPU_WAVES_HELD_MOST", "SOFTGPU_INSTS_WAIT", "SOFTGPU_INSTS_BARRIER"]
STALLS = [f"SOFTGPU_STALL_{cause}" for cause in ("LOAD", "STORE", "SCALAR", "LDS", "BARRIER", "MATRIX", "UNIT")]
# Waves that a SIMD holds.
MOST_WAVES = {"gfx1100": 16, "gfx90a": 8, "gfx1201": 16}


class Runner(ToolsRunner):
    def run(self, target, mode, counters, *flags, **environment):
        return self.call(self.tools / "iree-softgpu", f"--target={target}", "--", self.tools / "iree-run-module",
                         f"--module={target}.vmfb", "--device=amdgpu", "--function=main", f"--input={SIZE}xf32=1",
                         f"--input={SIZE}xf32=2", f"--device_profiling_mode={mode}",
                         f"--device_profiling_output={self.profile}",
                         *[f"--device_profiling_counter={name}" for name in counters], *flags, **environment)

    def counter_rows(self):
        return self.rows("counter", "--counter_samples")

    def samples(self):
        """Values of each sample by counter, of dispatches or over time."""
        samples = {}
        for row in self.counter_rows():
            if row["type"] == "counter_sample":
                samples.setdefault(row["sample_id"], {})[row["counter"]] = row["value"]
        return list(samples.values())


def check_target(runner, target, lanes):
    result = runner.call(runner.tools / "iree-compile", "add.mlir", "--iree-hal-target-device=amdgpu",
                         f"--iree-rocm-target={target}", "-o", f"{target}.vmfb")
    expect(f"{target}: compile", result.returncode == 0, result.stderr)
    result = runner.run(target, "counters", COUNTERS)
    expect(f"{target}: run", result.returncode == 0 and "3 3 3" in result.stdout, result.stdout + result.stderr)
    samples = runner.samples()
    expect(f"{target}: one sample", len(samples) == 1, samples)
    counted, waves = samples[0], SIZE // lanes
    # Each wave reads the addresses of three buffers, and all of its lanes load twice and store once.
    wanted = {"SQ_WAVES": waves, "SQ_INSTS_VMEM": 3 * waves, "SQ_INSTS_LDS": 0, "SQ_LDS_BANK_CONFLICT": 0,
              "SOFTGPU_BYTES_READ": 2 * 4 * SIZE + 3 * 8 * waves, "SOFTGPU_BYTES_WRITTEN": 4 * SIZE,
              "SOFTGPU_LANES": lanes * counted["SQ_INSTS_VALU"], "SOFTGPU_INSTS_BARRIER": 0,
              "SOFTGPU_WAVES_HELD_MOST": MOST_WAVES[target] * waves}
    for name, value in wanted.items():
        expect(f"{target}: {name}", counted[name] == value, (counted[name], value))
    for name in ("SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "GRBM_COUNT"):
        expect(f"{target}: {name} is counted", counted[name] > 0, counted)
    # So small a kernel leaves room; each wave waits for its addresses and its loads.
    expect(f"{target}: occupancy", counted["SOFTGPU_WAVES_HELD"] % waves == 0 and
           0 < counted["SOFTGPU_WAVES_HELD"] <= counted["SOFTGPU_WAVES_HELD_MOST"], counted)
    expect(f"{target}: waits", counted["SOFTGPU_INSTS_WAIT"] >= 2 * waves, counted)


def check_stalls(runner, target, waves):
    """What waves wait for is what a trace of the same dispatch says, of as many waves as there are."""
    runner.run(target, "counters", [*STALLS, "SOFTGPU_WAVE_CYCLES"])
    samples = runner.samples()
    runner.run(target, "executable-traces", [], "--device_profiling_filter_function=*")
    result = runner.call(runner.tools / "iree-profile", "att", "--format=jsonl", runner.profile)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    traces = [row for row in rows if row["type"] == "att_trace"]
    expect(f"{target}: stalls: one of each", (len(samples), len(traces)) == (1, 1), (samples, traces))
    counted = samples[0]
    scaled = sum(row["stall"] for row in rows if row["type"] == "att_instruction") * waves // traces[0]["waves"]
    expect(f"{target}: stalls of the trace", 0 <= scaled - sum(counted[name] for name in STALLS) <= len(STALLS),
           (scaled, counted))
    expect(f"{target}: causes", counted["SOFTGPU_STALL_LOAD"] > 0 and counted["SOFTGPU_STALL_SCALAR"] > 0 and
           counted["SOFTGPU_STALL_BARRIER"] == counted["SOFTGPU_STALL_LDS"] == counted["SOFTGPU_STALL_MATRIX"] == 0, counted)
    expect(f"{target}: cycles", sum(counted[name] for name in STALLS) < counted["SOFTGPU_WAVE_CYCLES"], counted)


def check_ranges(runner, target):
    names = ["SOFTGPU_BYTES_WRITTEN", "SQ_WAVES"]
    result = runner.run(target, "counter-ranges,queue-events", names)
    expect("ranges: run", result.returncode == 0, result.stderr)
    samples = [row for row in runner.counter_rows() if row["type"] == "counter_sample"]
    expect("ranges: one at the end", len(samples) == 2 and {row["scope"] for row in samples} == {"device_time_range"}, samples)
    expect("ranges: values", [row["value"] for row in samples] == [4 * SIZE, SIZE // 32], samples)
    expect("ranges: times", 0 < samples[0]["start_tick"] < samples[0]["end_tick"], samples)


def check_lost(runner, target):
    """A GPU that hangs does not keep its counters' readers waiting."""
    for mode in ("counters", "counter-ranges"):
        result = runner.run(target, mode, ["SQ_WAVES"], IREE_SOFTGPU_EVENT="hang:0:0")
        expect(f"{mode} of a GPU that hangs", result.returncode == 1 and "ABORTED" in result.stderr, result.stderr)


def check_report(runner, target):
    runner.run(target, "counters", ["SQ_WAVES", "GRBM_COUNT"])
    text = runner.call(runner.tools / "iree-profile", "counter", runner.profile).stdout
    expect("report", " / SQ.SQ_WAVES\n" in text and " / GRBM.GRBM_COUNT\n" in text, text)
    clock = [row for row in runner.counter_rows() if row["type"] == "counter" and row["name"] == "GRBM_COUNT"]
    expect("cycles are said to be modelled", clock and "modelled" in clock[0]["description"], clock)
    # A filter leaves out what it does not take.
    runner.run(target, "counters", ["SQ_WAVES"], "--device_profiling_filter_function=other")
    expect("filter", runner.samples() == [], runner.counter_rows())


def check_refusals(runner, target):
    runner.profile = runner.folder / "refused.ireeprof"

    def refused(what, pattern, result):
        expect(f"refused: {what}", result.returncode == 1 and re.search(pattern, result.stderr, re.DOTALL), result.stderr)
    refused("an unknown counter", "UNIMPLEMENTED; unsupported AMDGPU counter 'SQ_BOGUS'; those known are SQ_WAVES, SQ_",
            runner.run(target, "counters", ["SQ_BOGUS"]))
    refused("both kinds", "either `counters` or `counter-ranges` can be profiled at a time",
            runner.run(target, "counters,counter-ranges", ["SQ_WAVES"]))
    refused("a counter twice", "counter SQ_WAVES is named twice", runner.run(target, "counters", ["SQ_WAVES"] * 2))
    # Without the library, and with one that is none: libhsa alone in a folder.
    alone = runner.folder / "alone"
    alone.mkdir(exist_ok=True)
    link = alone / "libhsa-runtime64.so.1"
    link.unlink(missing_ok=True)
    link.symlink_to(runner.tools.parent / "lib" / "softgpu" / "libhsa-runtime64.so.1")
    result = runner.call(runner.tools / "iree-run-module", f"--module={target}.vmfb", "--device=amdgpu", "--function=main",
                         f"--input={SIZE}xf32=1", f"--input={SIZE}xf32=2", "--device_profiling_mode=counters",
                         f"--device_profiling_output={runner.profile}", "--device_profiling_counter=SQ_WAVES",
                         f"--amdgpu_libhsa_search_path={alone}", IREE_SOFTGPU_TARGET=target,
                         IREE_HAL_AMDGPU_LIBAQLPROFILE_PATH=str(link))
    refused("no library", "UNAVAILABLE; counters need libhsa-amd-aqlprofile64, which was not found; .*"
            "has no entry point aqlprofile_register_agent_info", result)


def main():
    tools, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "add.mlir").write_text(PROGRAM)
    runner = Runner(tools, folder, "counters.ireeprof")
    for target, lanes in (("gfx1100", 32), ("gfx90a", 64), ("gfx1201", 32)):
        check_target(runner, target, lanes)
        check_stalls(runner, target, SIZE // lanes)
    check_ranges(runner, "gfx1100")
    check_lost(runner, "gfx1100")
    check_report(runner, "gfx1100")
    check_refusals(runner, "gfx1100")
    return report()


if __name__ == "__main__":
    sys.exit(main())
