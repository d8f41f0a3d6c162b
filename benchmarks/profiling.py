"""What profiling costs: MobileNetV2 with queue events and memory events and without, on CPUs and on a software GPU.

    .venv/bin/python benchmarks/profiling.py --build build [--rounds 7] [--only local-task]
    .venv/bin/python benchmarks/profiling.py --build build --instructions

Both take turns; what counts is the least of the wall's times over the rounds. --instructions counts those of a whole
run of iree-run-module with one call instead, on local-sync (callgrind), which no other process disturbs: with the
profile's file and what begins and ends it.
"""

import argparse
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks" / "models")]
import make  # noqa: E402
from compare import machine, table  # noqa: E402
from tools import CPU_FLAGS, call, parse_samples  # noqa: E402

FUNCTION, INPUT = "torch-jit-export", "--input=1x3x224x224xf32=0.5"
MODES = "queue-events,memory-events"


def devices(build):
    """Name, target flags, device flags, launcher."""
    gpu = [build / "tools" / "iree-softgpu", "--target=gfx1100", "--"]
    return [("local-task", [*CPU_FLAGS, "--iree-llvmcpu-target-cpu=host"], ["--device=local-task"], []),
            ("amdgpu", ["--iree-hal-target-device=amdgpu", "--iree-rocm-target=gfx1100"], ["--device=amdgpu"], gpu)]


def profiled(profile):
    """Flags for a profile; none without a file."""
    return [f"--device_profiling_mode={MODES}", f"--device_profiling_output={profile}"] if profile else []


def milliseconds(build, module, device, launcher, profile):
    command = [*launcher, build / "tools" / "iree-benchmark-module", f"--module={module}", f"--function={FUNCTION}",
               INPUT, *device, "--benchmark_min_time=1s", "--time_unit=us", *profiled(profile)]
    return parse_samples(call(command))[0]


def measure(build, source, work, rounds, only):
    rows = []
    for name, target, device, launcher in devices(build):
        if only and name != only:
            continue
        module, times = work / f"profiling-{name}.vmfb", ([], [])
        call([build / "tools" / "iree-compile", source, *target, "-o", module])
        for _ in range(rounds):
            for which, profile in enumerate((None, work / "profiling.ireeprof")):
                times[which].append(milliseconds(build, module, device, launcher, profile))
        off, on = map(min, times)
        texts = [f"{min(values):.3f} ({statistics.median(values):.3f})" for values in times]
        rows.append([name, *texts, f"{100 * (on / off - 1):+.2f} %"])
    return rows


def count(build, source, work):
    """Instructions; Valgrind knows no AVX-512."""
    module, counts = work / "profiling-haswell.vmfb", []
    call([build / "tools" / "iree-compile", source, *CPU_FLAGS, "--iree-llvmcpu-target-cpu=haswell", "-o", module])
    for profile in (None, work / "profiling.ireeprof"):
        result = work / "profiling.callgrind"
        call(["valgrind", "--tool=callgrind", f"--callgrind-out-file={result}", build / "tools" / "iree-run-module",
              "--device=local-sync", f"--module={module}", f"--function={FUNCTION}", INPUT, "--output=",
              *profiled(profile)], timeout=3600)
        counts.append(int(re.search(r"^(?:summary|totals): (\d+)", result.read_text(), re.MULTILINE)[1]))
    off, on = counts
    return [["local-sync", f"{off:,}", f"{on:,}", f"{100 * (on / off - 1):+.3f} %"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", type=pathlib.Path)
    parser.add_argument("--rounds", default=7, type=int)
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--only", choices=("local-task", "amdgpu"))
    options = parser.parse_args()
    build = options.build.resolve()
    work = build / "models"
    source = make.write("mobilenetv2", work)
    if options.instructions:
        rows = count(build, source, work)
    else:
        rows = measure(build, source, work, options.rounds, options.only)
    what = "instructions of a run with one call" if options.instructions else "milliseconds of a call, least (median)"
    print(f"{machine()}\n{table(f'MobileNetV2, {MODES}: {what}', ['device', 'off', 'on', 'more'], rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
