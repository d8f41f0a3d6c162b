"""Counters of dispatches, and over time, and times of dispatches, of NVIDIA GPUs: on a software GPU, by a CUPTI for
tests (cupti.c, cupti_activity.c), whose values say which range they are of.

    cupti.py TOOLS FOLDER LIBRARY
"""

import pathlib
import re
import sys

from expectations import expect, report
from tools_runner import ToolsRunner

# More dispatches than ranges fit between two starts of the profiler.
PRODUCTS = 150
COUNTERS = ["smsp__warps_launched.sum", "sm__cycles_elapsed.max", "dram__bytes_read.sum",
            "sm__warps_active.avg.pct_of_peak_sustained_active", "sm__ratio_of_nothing.ratio"]


def program():
    """A chain of products, a dispatch each."""
    lines = [f"""    %{i + 1} = linalg.matmul ins(%{i}, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>"""
             for i in range(PRODUCTS)]
    return "\n".join(["func.func @main(%0: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {",
                      "    %z = arith.constant dense<0.0> : tensor<8x8xf32>", *lines,
                      f"    return %{PRODUCTS} : tensor<8x8xf32>", "}"])


class Runner(ToolsRunner):
    def __init__(self, tools, folder, library):
        super().__init__(tools, folder, "cupti.ireeprof")
        self.library = library

    def run(self, mode, counters, *flags, library=None, tool="iree-run-module", **environment):
        self.profile.unlink(missing_ok=True)
        return self.call(self.tools / "iree-softgpu", "--target=sm_90", "--", self.tools / tool,
                         "--module=chain.vmfb", "--device=cuda", "--function=main", "--input=8x8xf32=0.125",
                         "--input=8x8xf32=0.125", f"--device_profiling_mode={mode}",
                         f"--device_profiling_output={self.profile}", f"--cuda_cupti_path={library or self.library}",
                         *[f"--device_profiling_counter={name}" for name in counters], *flags, **environment)


def check_dispatches(runner):
    result = runner.run("counters", COUNTERS)
    expect("run", result.returncode == 0 and "8x8xf32=" in result.stdout, result.stderr)
    samples = runner.samples()
    dispatches = [row for row in runner.rows("dispatch", "--dispatch_events") if row["type"] == "dispatch_event"]
    expect("each dispatch has one", len(samples) == len(dispatches) >= PRODUCTS, (len(samples), len(dispatches)))
    wanted = [dict(zip(COUNTERS, (i, 1000 + i, 4096 * i, 50, 0))) for i in range(1, len(dispatches) + 1)]
    expect("values are those of its range", samples == wanted, samples)
    counters = {row["name"]: row for row in runner.rows("counter") if row["type"] == "counter"}
    units = {"smsp__warps_launched.sum": 1, "sm__cycles_elapsed.max": 2, "dram__bytes_read.sum": 3, COUNTERS[3]: 0}
    for name, unit in units.items():
        expect(f"{name}: unit", counters[name]["unit_value"] == unit, counters[name])
    expect("block and description", counters[COUNTERS[0]]["block"] == "smsp" and
           counters[COUNTERS[0]]["description"] == "of tests (warp)", counters[COUNTERS[0]])
    runner.run("counters", COUNTERS[:1], "--device_profiling_filter_command_index=0")
    expect("a filter", runner.samples() == [{COUNTERS[0]: 1}], runner.samples())


def check_ranges(runner):
    result = runner.run("counter-ranges", COUNTERS[:2], "--device_profiling_flush_interval_ms=1000000")
    expect("ranges: run", result.returncode == 0, result.stderr)
    samples = [row for row in runner.rows("counter", "--counter_samples") if row["type"] == "counter_sample"]
    expect("ranges: one at the end", [row["value"] for row in samples] == [1, 1001], samples)
    expect("ranges: times", 0 < samples[0]["start_tick"] < samples[0]["end_tick"], samples)


def check_times(runner):
    """Times of kernels come of the library's records; without it, of events."""
    def run(kernels, *flags, **more):
        result = runner.run("dispatch-events,device-queue-events", [], *flags, CUPTI_KERNELS=str(kernels), **more)
        error = "" if kernels in (0, count) else f"DATA_LOSS; CUPTI recorded no .* {kernels} kernels for {count} dispatches"
        expect("times: run", result.returncode == (error != "") and re.search(error, result.stderr), result.stderr)
        rows = runner.rows("dispatch", "--dispatch_events")
        source = runner.call(runner.tools / "iree-profile", "cat", runner.profile).stdout
        return [row for row in rows if row["type"] == "dispatch_event"], source
    count = None
    dispatches, source = run(0, library=runner.folder)
    expect("times: by events", "name: cuda: events around launches" in source and len(dispatches) >= PRODUCTS, source)
    count = len(dispatches)
    dispatches, source = run(count)
    expect("times: by records", "name: cuda: CUPTI's records of kernels" in source, source)
    expect("times: of each", [row["duration_ticks"] for row in dispatches] == [1000] * count, dispatches[:3])
    ends = [row["end_tick"] for row in dispatches]
    expect("times: in the order of launches", ends == [ends[0] + 1000 * i for i in range(count)], ends)
    # Calls after the first one launch a graph.
    dispatches, _ = run(count, "--benchmark_min_time=3x", tool="iree-benchmark-module")
    graphs = {row["submission_id"]: [] for row in dispatches}
    for row in dispatches:
        graphs[row["submission_id"]].append(row["duration_ticks"])
    expect("times: of graphs", len(graphs) >= 3 and all(graph == [1000] * count for graph in graphs.values()), graphs)
    dispatches, _ = run(count, CUPTI_OTHERS="2500000")
    expect("times: beside others' kernels", [row["duration_ticks"] for row in dispatches] == [1000] * count, dispatches[:3])
    expect("times: other kernels than were launched are none", run(count - 1)[0] == run(count + 1)[0] == [], count)


def check_refusals(runner):
    def refused(what, pattern, result):
        expect(f"refused: {what}", result.returncode == 1 and re.search(pattern, result.stderr, re.DOTALL), result.stderr)
    refused("an unknown counter", "UNIMPLEMENTED; counter 'sm__bogus.sum' is none that CUPTI has for sm_90",
            runner.run("counters", ["sm__bogus.sum"]))
    refused("a name of several", "UNIMPLEMENTED; 'SQ_WAVES' is no counter of CUPTI's; they are named as sm__cycles_elapsed.max",
            runner.run("counters", ["SQ_WAVES"]))
    refused("a counter twice", "counter sm__cycles_elapsed.max is named twice",
            runner.run("counters", ["sm__cycles_elapsed.max"] * 2))
    refused("two passes", "counts these 2 counters in 2 passes, and dispatches run once: ask for fewer",
            runner.run("counters", ["l1tex__t_bytes.sum", "dram__bytes_read.sum"]))
    refused("both kinds", "either `counters` or `counter-ranges`", runner.run("counters,counter-ranges", COUNTERS[:1]))
    refused("no library", "UNAVAILABLE; CUPTI of CUDA 12.6 or later, which counters need, was not found; .*--cuda_cupti_path=",
            runner.run("counters", COUNTERS[:1], library=runner.folder))
    refused("another library", "too old: it has no entry point cuptiGetResultString",
            runner.run("counters", COUNTERS[:1], library=f"file:{runner.tools.parent / 'lib' / 'softgpu-cuda' / 'libcuda.so.1'}"))
    refused("no times of dispatches", "unsupported cuda profiling data families .*counters, which local devices and GPUs that count tell.*--cuda_tracing=1 ",
            runner.run("counters", COUNTERS[:1], "--cuda_tracing=1"))
    refused("no privileges", "PERMISSION_DENIED; .*NVreg_RestrictProfilingToAdminUsers=0",
            runner.run("counters", COUNTERS[:1], CUPTI_DOUBLE="privileges"))
    refused("a virtual GPU", "CUPTI counts nothing on this virtual GPU", runner.run("counters", COUNTERS[:1], CUPTI_DOUBLE="virtual"))


def main():
    tools, folder, library = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "chain.mlir").write_text(program())
    runner = Runner(tools, folder, f"file:{library}")
    result = runner.call(tools / "iree-compile", "chain.mlir", "--iree-hal-target-device=cuda", "-o", "chain.vmfb")
    expect("compile", result.returncode == 0, result.stderr)
    check_dispatches(runner)
    check_ranges(runner)
    check_times(runner)
    check_refusals(runner)
    return report()


if __name__ == "__main__":
    sys.exit(main())
