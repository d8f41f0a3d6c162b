"""Every --device_profiling_mode= on every driver gives its records or is refused by name, as docs/profiling.md says.

    modes.py TOOLS FOLDER [--amdgpu] [--hip ROCPROFILER] [--cuda CUPTI]

ROCPROFILER and CUPTI are libraries for tests (rocprofiler/, cupti.c).
"""

import argparse
import json
import pathlib
import re
import subprocess

import perf
from expectations import expect, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
func.func @main(%a: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
"""
# What each mode's rows are.
ROWS = {"queue-events": "queue_event", "host-execution": "host_execution_event", "dispatch-events": "dispatch_event",
        "device-queue-events": "queue_device_event", "executable-metadata": "executable_function",
        "memory-events": "memory_event", "command-region-events": "command_region_event", "counters": "counter_sample",
        "counter-ranges": "counter_sample", "executable-traces": "executable_trace",
        "device-metrics": "device_metric_sample"}
COUNTERS = {"local-sync": "page-faults", "local-task": "page-faults", "amdgpu": "SQ_WAVES", "hip": "SQ_WAVES", "cuda": "smsp__warps_launched.sum"}


def told():
    """By driver, the modes that the documents say it has."""
    lines = (ROOT / "docs" / "profiling.md").read_text().splitlines()
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    first = next(i for i, row in enumerate(table) if "--device_profiling_mode=" in row[0])
    table = table[first:first + 2 + len(ROWS)]
    modes = {driver: set() for column in table[0][2:] for driver in column.split(", ")}
    for mode, _, *cells in table[2:]:
        for column, cell in zip(table[0][2:], cells):
            named = re.findall(r"`(\w+)`", cell)
            for driver in column.split(", "):
                if cell != "no" and (not named or driver in named):
                    modes[driver].add(mode.strip("`"))
    return modes


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120)


class Driver:
    def __init__(self, tools, folder, name, compiled, target=None, flags=()):
        self.tools, self.name, self.flags = tools, name, list(flags)
        self.profile, module = folder / f"{name}.ireeprof", folder / f"{name}.vmfb"
        self.launcher = [tools / "iree-softgpu", f"--target={target}", "--"] if target else []
        result = run(tools / "iree-compile", folder / "program.mlir", *compiled, "-o", module)
        expect(f"{name}: compile", result.returncode == 0, result.stderr)
        self.command = [*self.launcher, tools / "iree-run-module", f"--device={name}", f"--module={module}",
                        "--function=main", "--input=8x64xf32=1", "--output=", *flags]

    def check(self, mode, is_told):
        flags = [f"--device_profiling_mode={mode}", f"--device_profiling_output={self.profile}"]
        if mode.startswith("counter"):
            flags.append(f"--device_profiling_counter={COUNTERS[self.name]}")
        if mode == "executable-traces":
            flags.append("--device_profiling_filter_function=*")
        result = run(*self.command, *flags)
        what = f"{self.name} {mode}"
        if not is_told:
            message = f"UNIMPLEMENTED; unsupported {self.name.split('-')[0]} profiling data families .*{mode}, which "
            expect(f"{what} is refused", result.returncode == 1 and re.search(message, result.stderr), result)
        elif mode == "device-metrics" and self.launcher:  # software GPUs have none
            expect(f"{what} is not there", result.returncode == 1 and f"UNAVAILABLE; {mode}" in result.stderr, result)
        elif mode.startswith("counter") and self.name.startswith("local") and perf.is_denied():
            expect(f"{what} is denied", result.returncode == 1 and "PERMISSION_DENIED" in result.stderr, result)
        else:
            expect(f"{what}: run", result.returncode == 0, result)
            rows = run(self.tools / "iree-profile", "export", self.profile).stdout.splitlines()
            kinds = [json.loads(row)["record_type"] for row in rows]
            expect(f"{what}: rows", ROWS[mode] in kinds and "diagnostic" not in kinds, kinds)

    def check_relationships(self):
        """Where operations are collected, too, each event of the device is told to be of its submission."""
        flags = ["--device_profiling_mode=queue-events,device-queue-events,dispatch-events",
                 f"--device_profiling_output={self.profile}"]
        result = run(*self.command, *flags)
        expect(f"{self.name} relationships: run", result.returncode == 0, result)
        rows = [json.loads(row) for row in run(self.tools / "iree-profile", "export", self.profile).stdout.splitlines()]
        kinds = {"dispatch_event": (1, 1, 3), "queue_device_event": (2, 1, 7)}
        events = {(*kinds[row["record_type"]], row["submission_id"], row["event_id"])
                  for row in rows if row["record_type"] in kinds}
        told = [(row["kind_value"], row["source_type_value"], row["target_type_value"], row["source_id"], row["target_id"])
                for row in rows if row["record_type"] == "event_relationship"]
        expect(f"{self.name} relationships", events and sorted(events) == sorted(told), (events, told))
        submissions = {row["submission_id"] for row in rows if row["record_type"] == "queue_event"}
        expect(f"{self.name} relationships: submissions", {row[3] for row in told} <= submissions, told)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--amdgpu", action="store_true")
    parser.add_argument("--hip", type=pathlib.Path)
    parser.add_argument("--cuda", type=pathlib.Path)
    options = parser.parse_args()
    tools, folder = options.tools.resolve(), options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "program.mlir").write_text(PROGRAM)
    local = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"]
    drivers = [Driver(tools, folder, name, local) for name in ("local-sync", "local-task")]
    if options.amdgpu:
        drivers.append(Driver(tools, folder, "amdgpu", ["--iree-hal-target-device=amdgpu", "--iree-rocm-target=gfx1100"],
                              "gfx1100"))
    if options.hip:
        drivers.append(Driver(tools, folder, "hip", ["--iree-hal-target-device=hip", "--iree-hip-target=gfx90a"], "gfx90a",
                              [f"--hip_rocprofiler_path=file:{options.hip.resolve()}"]))
    if options.cuda:
        drivers.append(Driver(tools, folder, "cuda", ["--iree-hal-target-device=cuda"], "sm_90",
                              [f"--cuda_cupti_path=file:{options.cuda.resolve()}"]))
    modes = told()
    expect("the documents have a column for each driver", {driver.name for driver in drivers} <= set(modes), modes)
    for driver in drivers:
        for mode in ROWS:
            driver.check(mode, mode in modes[driver.name])
        driver.check_relationships()
    return report()


if __name__ == "__main__":
    raise SystemExit(main())
