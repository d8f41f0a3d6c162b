"""Traces of instructions on software AMD GPUs: what iree-profile att and the page say of them.

    traces.py TOOLS FOLDER
"""

import json
import pathlib
import re
import sys

from expectations import expect, report
from tools_runner import ToolsRunner

SIZE = 4096
# A sum of which each wave has one vector, and one whose waves meet at barriers and share workgroup memory.
PROGRAM = f"""
func.func @main(%a: tensor<{SIZE}xf32>, %b: tensor<{SIZE}xf32>) -> (tensor<{SIZE}xf32>, tensor<f32>) {{
  %0 = arith.addf %a, %b : tensor<{SIZE}xf32>
  %z = arith.constant dense<0.0> : tensor<f32>
  %1 = linalg.reduce ins(%0 : tensor<{SIZE}xf32>) outs(%z : tensor<f32>) dimensions = [0]
    (%x: f32, %y: f32) {{ %s = arith.addf %x, %y : f32 linalg.yield %s : f32 }}
  return %0, %1 : tensor<{SIZE}xf32>, tensor<f32>
}}
"""
PRODUCT = """
func.func @main(%a: tensor<128x256xf32>, %b: tensor<256x128xf32>) -> tensor<128x128xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<128x256xf32>, tensor<256x128xf32>) -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}
"""


class Runner(ToolsRunner):
    def compile(self, name, target):
        result = self.call(self.tools / "iree-compile", f"{name}.mlir", "--iree-hal-target-device=amdgpu",
                           f"--iree-rocm-target={target}", "-o", f"{name}.{target}.vmfb")
        expect(f"{target}: compile", result.returncode == 0, result.stderr)

    def run(self, name, target, inputs, *flags, device="amdgpu"):
        return self.call(self.tools / "iree-softgpu", f"--target={target}", "--", self.tools / "iree-run-module",
                         f"--module={name}.{target}.vmfb", f"--device={device}", "--function=main",
                         *[f"--input={value}" for value in inputs], "--device_profiling_mode=executable-traces",
                         f"--device_profiling_output={name}.{target}.ireeprof", *flags)

    def att(self, profile, *flags):
        return self.call(self.tools / "iree-profile", "att", *flags, profile)

    def traces(self, profile, *flags):
        """Each trace's row with the rows of its instructions."""
        rows = [json.loads(line) for line in self.att(profile, "--format=jsonl", *flags).stdout.splitlines()]
        traces = [row for row in rows if row["type"] == "att_trace"]
        return [(trace, [row for row in rows if row["type"] == "att_instruction" and row["trace_id"] == trace["trace_id"]])
                for trace in traces]


SUMS = [f"{SIZE}xf32=1", f"{SIZE}xf32=2"]


def check_invariants(what, trace, rows):
    expect(f"{what}: modelled", trace["is_modelled"] and trace["cycles"] > 0, trace)
    expect(f"{what}: events", sum(row["hits"] for row in rows) == trace["instruction_events"], trace)
    expect(f"{what}: instructions", len(rows) == trace["unique_pcs"] and all(row["instruction"] for row in rows), trace)
    expect(f"{what}: stalls have causes", all(sum(row["stalls"].values()) == row["stall"] for row in rows), rows)
    expect(f"{what}: all of a wave's time", trace["waves"] * trace["cycles"] >= sum(row["duration"] for row in rows) and
           (trace["waves"] > 1 or trace["cycles"] == sum(row["duration"] for row in rows)), trace)
    expect(f"{what}: every wave ends", [row["hits"] for row in rows if row["instruction"] == "s_endpgm"] == [trace["waves"]],
           rows)


def check_target(runner, target, generation):
    runner.compile("sums", target)
    result = runner.run("sums", target, SUMS, "--device_profiling_filter_function=*")
    expect(f"{target}: run", result.returncode == 0 and "f32=12288" in result.stdout, result.stdout + result.stderr)
    traces = runner.traces(f"sums.{target}.ireeprof")
    expect(f"{target}: a trace for each dispatch", len(traces) >= 2, traces)
    causes = set()
    for trace, rows in traces:
        check_invariants(target, trace, rows)
        expect(f"{target}: generation", trace["gfxip"] == generation and trace["target"] == target, trace)
        causes |= {cause for row in rows for cause in row["stalls"]}
    expect(f"{target}: waits of each kind", {"load", "scalar", "lds", "barrier"} <= causes, causes)
    # The first dispatch's waves wait for what they load once each, where the text says so.
    trace, rows = traces[0]
    stalled = [row for row in rows if "load" in row["stalls"]]
    expect(f"{target}: loads are waited for", stalled and all("wait" in row["instruction"] for row in stalled), rows)
    expect(f"{target}: at least as long as a load takes", sum(row["stalls"]["load"] for row in stalled) > 300 * trace["waves"],
           stalled)
    # Addresses are those of the file that was loaded.
    expect(f"{target}: addresses", all(row["code_object_id"] and row["pc"] < 1 << 20 for row in rows), rows)


def check_product(runner, target):
    """A wave that has its unit alone: its clock is the sum of all that it did."""
    runner.compile("product", target)
    result = runner.run("product", target, ["128x256xf32=1", "256x128xf32=2"], "--device_profiling_filter_function=*matmul*")
    expect("product: run", result.returncode == 0, result.stderr)
    [(trace, rows)] = runner.traces(f"product.{target}.ireeprof")
    check_invariants("product", trace, rows)
    fma = [row for row in rows if "fmac" in row["instruction"] or "fma_" in row["instruction"]]
    expect("product: a turn of the loop each", fma and len({row["hits"] for row in fma}) <= 2, fma)
    text = runner.att(f"product.{target}.ireeprof").stdout
    expect("text", re.search(r"^pc +category +hits +duration +stall +instruction$", text, re.MULTILINE) and
           re.search(r"^0x[0-9a-f]{12} immed +\d+ +\d+ +\d+ +s_waitcnt .*; stalls: load=\d+", text, re.MULTILINE) and
           "by a model of gfx1100: times are not those of hardware" in text, text)
    page = runner.call(runner.tools / "iree-profile", "report", f"product.{target}.ireeprof").stdout
    data = json.loads(page.split('id="profile">')[1].split("</script>")[0])["runs"][0]
    expect("page", [[row[0] for row in one["rows"]] for one in data["traces"]] == [[row["pc"] for row in rows]], data["traces"])
    expect("page: stalls", sum(sum(row[6]) for row in data["traces"][0]["rows"]) == sum(row["stall"] for row in rows), data)


def check_filters(runner, target):
    profile = f"sums.{target}.ireeprof"
    everything = runner.traces(profile)
    expect("by number", [trace["trace_id"] for trace, _ in runner.traces(profile, "--id=2")] == [2], everything)
    name = everything[0][0]["key"]
    expect("by name", {trace["key"] for trace, _ in runner.traces(profile, f"--filter={name}")} == {name}, everything)
    result = runner.att(profile, "--filter=nothing")
    expect("none", result.returncode == 1 and "NOT_FOUND; no AMDGPU ATT trace records matched" in result.stderr, result.stderr)


def check_refusals(runner, target):
    result = runner.run("sums", target, SUMS)
    expect("refused: no filter", result.returncode == 1 and "a filter says which are wanted" in result.stderr, result.stderr)
    good = (runner.folder / f"product.{target}.ireeprof").read_bytes()
    at = good.index(b"SGTRACE1")
    (runner.folder / "damaged.ireeprof").write_bytes(good[:at + 48] + b"\xff" + good[at + 49:])
    result = runner.att("damaged.ireeprof")
    expect("refused: damaged", result.returncode == 1 and "DATA_LOSS; trace 1 is damaged" in result.stderr, result.stderr)
    (runner.folder / "hardware.ireeprof").write_bytes(good[:at] + b"x" + good[at + 1:])
    result = runner.att("hardware.ireeprof")
    expect("refused: of hardware", result.returncode == 1 and "trace 1 is of hardware" in result.stderr, result.stderr)


def main():
    tools, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sums.mlir").write_text(PROGRAM)
    (folder / "product.mlir").write_text(PRODUCT)
    runner = Runner(tools, folder)
    for target, generation in (("gfx1100", 11), ("gfx90a", 9), ("gfx1201", 12)):
        check_target(runner, target, generation)
    check_product(runner, "gfx1100")
    check_filters(runner, "gfx1100")
    check_refusals(runner, "gfx1100")
    return report()


if __name__ == "__main__":
    sys.exit(main())
