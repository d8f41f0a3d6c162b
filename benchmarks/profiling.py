"""What profiling costs: MobileNetV2 with queue events and memory events and without, on CPUs and on a software GPU.

    .venv/bin/python benchmarks/profiling.py --build build [--rounds 7] [--only local-task]
    .venv/bin/python benchmarks/profiling.py --build build --instructions

Both take turns; what counts is the least of the wall's times over the rounds. --instructions counts those of a whole
run of iree-run-module with one call instead (callgrind), which no other process disturbs: with the profile's file and
what begins and ends it, on local-sync and on the software GPU with one thread. It also counts the calls of functions of
src/hal/profile while nothing is profiled, of which there are none.
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


# Of profiles alone; those that look whether there is one are part of their callers.
PROFILE = re.compile(r"^c?fn=\(\d+\) ((?:hal_profile|profile|gpu_profile)_\w+)", re.MULTILINE)


def valgrind(build, result, module, device, profile, environment):
    """Instructions of a run, and the functions of profiles that it called."""
    call(["env", *environment, "valgrind", "--tool=callgrind", f"--callgrind-out-file={result}",
          build / "tools" / "iree-run-module", *device, f"--module={module}", f"--function={FUNCTION}", INPUT,
          "--output=", *profiled(profile)], timeout=3 * 3600)
    text = result.read_text()
    return int(re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)[1]), set(PROFILE.findall(text))


def count(build, source, work, only):
    """Instructions; Valgrind knows no AVX-512."""
    library = build / "lib" / "softgpu"
    kinds = {"local-task": ("local-sync", [*CPU_FLAGS, "--iree-llvmcpu-target-cpu=haswell"], ["--device=local-sync"],
                            []),
             "amdgpu": ("amdgpu", ["--iree-hal-target-device=amdgpu", "--iree-rocm-target=gfx1100"],
                        ["--device=amdgpu", f"--amdgpu_libhsa_search_path={library}"],
                        ["IREE_SOFTGPU_TARGET=gfx1100", "IREE_SOFTGPU_THREADS=1"])}
    rows = []
    for name, (label, target, device, environment) in kinds.items():
        if only and name != only:
            continue
        module = work / f"profiling-instructions-{label}.vmfb"
        call([build / "tools" / "iree-compile", source, *target, "-o", module])
        (off, called), (on, _) = (valgrind(build, work / "profiling.callgrind", module, device, profile, environment)
                                  for profile in (None, work / "profiling.ireeprof"))
        names = " ".join([str(len(called)), *sorted(called)])
        rows.append([label, f"{off:,}", f"{on:,}", f"{100 * (on / off - 1):+.3f} %", names])
    return rows


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
        rows = count(build, source, work, options.only)
    else:
        rows = measure(build, source, work, options.rounds, options.only)
    what = "instructions of a run with one call" if options.instructions else "milliseconds of a call, least (median)"
    columns = ["device", "off", "on", "more", *(["called while off"] if options.instructions else [])]
    print(f"{machine()}\n{table(f'MobileNetV2, {MODES}: {what}', columns, rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
