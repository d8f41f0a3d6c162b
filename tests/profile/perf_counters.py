"""Counters of dispatches, and over time, of processors, by Linux's perf events: pages that are touched are known.

    perf_counters.py TOOLS FOLDER
"""

import pathlib
import re
import resource
import sys

import perf
from expectations import expect, report
from tools_runner import ToolsRunner

LARGE, SMALL = 2 << 20, 64
PROGRAM = f"""
func.func @main(%a: tensor<{LARGE}xf32>, %b: tensor<{SMALL}xf32>) -> (tensor<{LARGE}xf32>, tensor<{SMALL}xf32>) {{
  %0 = arith.addf %a, %a : tensor<{LARGE}xf32>
  %1 = arith.mulf %b, %b : tensor<{SMALL}xf32>
  return %0, %1 : tensor<{LARGE}xf32>, tensor<{SMALL}xf32>
}}
"""
# Where pages are large there are fewer of them.
HUGE = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
LEAST = 4 if HUGE.exists() and "[always]" in HUGE.read_text() else 4 * LARGE // resource.getpagesize()


class Runner(ToolsRunner):
    def run(self, device, mode, counters):
        return self.call(self.tools / "iree-run-module", "--module=pages.vmfb", f"--device={device}", "--function=main",
                         f"--input={LARGE}xf32=1", f"--input={SMALL}xf32=2", "--output=", "--output=",
                         f"--device_profiling_mode={mode}", f"--device_profiling_output={self.profile}",
                         *[f"--device_profiling_counter={name}" for name in counters])

    def samples(self):
        return [row for row in self.rows("counter", "--counter_samples") if row["type"] == "counter_sample"]


def check_pages(runner, device):
    result = runner.run(device, "counters", ["major-faults", "page-faults"])
    expect(f"{device}: run", result.returncode == 0, result.stderr)
    samples = runner.samples()
    faults = [row["value"] for row in samples if row["counter"] == "page-faults"]
    # Code and tables are touched, too, by whoever comes first.
    expect(f"{device}: the pages of the large one, and no more", len(faults) == 2 and LEAST <= max(faults) < LEAST + 64 and
           min(faults) < 64 and "_%d_f32" % LARGE in samples[faults.index(max(faults)) * 2]["key"], samples)
    result = runner.run(device, "counter-ranges", ["page-faults"])
    samples = runner.samples()
    expect(f"{device}: over time", result.returncode == 0 and len(samples) == 1 and samples[0]["value"] >= LEAST and
           0 < samples[0]["start_tick"] < samples[0]["end_tick"], (samples, result.stderr))


def check_hardware(runner):
    """Instructions of the large one are more; or it is said that there are none."""
    result = runner.run("local-task", "counters", ["instructions", "cycles"])
    if perf.refusal(perf.HARDWARE, perf.CPU_CYCLES):
        expect("no such counter", re.search("UNIMPLEMENTED; counter instructions is none of this processor's", result.stderr),
               result.stderr)
    else:
        counted = {(row["key"], row["counter"]): row["value"] for row in runner.samples()}
        expect("instructions, cycles", len(counted) == 4 and all(counted.values()) and
               max(counted.values()) >= LARGE / 64, counted)


def check_refusals(runner):
    def refused(what, pattern, counters, mode="counters"):
        result = runner.run("local-sync", mode, counters)
        expect(f"refused: {what}", result.returncode == 1 and re.search(pattern, result.stderr), result.stderr)
    refused("an unknown counter", "UNIMPLEMENTED; unsupported counter 'SQ_WAVES'; those known are cycles, .*major-faults",
            ["SQ_WAVES"])
    refused("a counter twice", "counter page-faults is named twice", ["page-faults"] * 2)
    refused("too many", "9 counters at a time; at most 8", ["cycles", "instructions", "branches", "branch-misses",
            "cache-misses", "cache-references", "ref-cycles", "page-faults", "major-faults"])
    refused("both kinds", "either `counters` or `counter-ranges`", ["page-faults"], "counters,counter-ranges")


def main():
    tools, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pages.mlir").write_text(PROGRAM)
    runner = Runner(tools, folder, "perf.ireeprof")
    result = runner.call(tools / "iree-compile", "pages.mlir", "--iree-hal-target-device=local", "-o", "pages.vmfb")
    expect("compile", result.returncode == 0, result.stderr)
    check_refusals(runner)
    if perf.is_denied():
        result = runner.run("local-task", "counters", ["page-faults"])
        expect("Linux does not let us", re.search("PERMISSION_DENIED; .*perf_event_paranoid", result.stderr), result.stderr)
    else:
        check_pages(runner, "local-sync")
        check_pages(runner, "local-task")
        check_hardware(runner)
    return report()


if __name__ == "__main__":
    sys.exit(main())
