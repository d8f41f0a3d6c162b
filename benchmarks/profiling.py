"""What profiling costs: MobileNetV2 with queue events and memory events and without, on CPUs and on software GPUs.

    .venv/bin/python benchmarks/profiling.py --build build [--rounds 5] [--only local-task] [--times | --instructions]

Two tables. CPU time of the process for a call: both take turns, and what counts is the least over the rounds.
Instructions of a whole run of iree-run-module with one call (callgrind), which no other process disturbs: with the
profile's file and what begins and ends it, on one thread; and the functions of src/hal/profile that are called while
nothing is profiled, of which there are none.
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


class Device:
    """What to compile for, how to run, and the same on one thread without a launcher, for Valgrind, which knows no
    AVX-512."""

    def __init__(self, target, run, launcher=(), counted=None, environment=()):
        self.target, self.run, self.launcher = target, run, list(launcher)
        self.counted, self.environment = counted or (target, run), list(environment)


def devices(build):
    softgpu, libraries = build / "tools" / "iree-softgpu", build / "lib"
    amdgpu = ["--iree-hal-target-device=amdgpu", "--iree-rocm-target=gfx1100"]
    cuda = ["--iree-hal-target-device=cuda", "--iree-cuda-target=sm_80"]
    one = "IREE_SOFTGPU_THREADS=1"
    return {
        "local-task": Device([*CPU_FLAGS, "--iree-llvmcpu-target-cpu=host"], ["--device=local-task"],
                             counted=([*CPU_FLAGS, "--iree-llvmcpu-target-cpu=haswell"],
                                      ["--device=local-task", "--task_topology_group_count=1"])),
        "amdgpu": Device(amdgpu, ["--device=amdgpu"], [softgpu, "--target=gfx1100", "--"],
                         (amdgpu, ["--device=amdgpu", f"--amdgpu_libhsa_search_path={libraries / 'softgpu'}"]),
                         [one, "IREE_SOFTGPU_TARGET=gfx1100"]),
        "cuda": Device(cuda, ["--device=cuda"], [softgpu, "--target=sm_80", "--"],
                       environment=[one, "IREE_SOFTGPU_TARGET=sm_80",
                                    f"LD_LIBRARY_PATH={libraries / 'softgpu-cuda'}"]),
    }


def profiled(profile):
    """Flags for a profile; none without a file."""
    return [f"--device_profiling_mode={MODES}", f"--device_profiling_output={profile}"] if profile else []


def milliseconds(build, module, device, profile):
    command = [*device.launcher, build / "tools" / "iree-benchmark-module", f"--module={module}",
               f"--function={FUNCTION}", INPUT, *device.run, "--benchmark_min_time=1s", "--time_unit=us",
               *profiled(profile)]
    return parse_samples(call(command), cpu=True)[0]


def measure(build, source, work, rounds, chosen):
    rows = []
    for name, device in chosen.items():
        module, times = work / f"profiling-{name}.vmfb", ([], [])
        call([build / "tools" / "iree-compile", source, *device.target, "-o", module])
        for _ in range(rounds):
            for which, profile in enumerate((None, work / "profiling.ireeprof")):
                times[which].append(milliseconds(build, module, device, profile))
        off, on = map(min, times)
        texts = [f"{min(values):.3f} ({statistics.median(values):.3f})" for values in times]
        rows.append([name, *texts, f"{100 * (on / off - 1):+.2f} %"])
    return rows


# Of profiles alone; those that look whether there is one are part of their callers.
PROFILE = re.compile(r"^c?fn=\(\d+\) ((?:hal_profile|profile|gpu_profile)_\w+)", re.MULTILINE)


def valgrind(build, result, module, device, profile):
    """Instructions of a run, and the functions of profiles that it called."""
    call(["env", *device.environment, "valgrind", "--tool=callgrind", f"--callgrind-out-file={result}",
          build / "tools" / "iree-run-module", *device.counted[1], f"--module={module}", f"--function={FUNCTION}",
          INPUT, "--output=", *profiled(profile)], timeout=3 * 3600)
    text = result.read_text()
    return int(re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)[1]), set(PROFILE.findall(text))


def count(build, source, work, chosen):
    rows = []
    for name, device in chosen.items():
        module = work / f"profiling-instructions-{name}.vmfb"
        call([build / "tools" / "iree-compile", source, *device.counted[0], "-o", module])
        (off, called), (on, _) = (valgrind(build, work / "profiling.callgrind", module, device, profile)
                                  for profile in (None, work / "profiling.ireeprof"))
        names = " ".join([str(len(called)), *sorted(called)])
        rows.append([name, f"{off:,}", f"{on:,}", f"{100 * (on / off - 1):+.3f} %", names])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", type=pathlib.Path)
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--times", action="store_true", help="not the instructions")
    parser.add_argument("--instructions", action="store_true", help="not the times")
    parser.add_argument("--only", action="append", choices=("local-task", "amdgpu", "cuda"))
    options = parser.parse_args()
    build = options.build.resolve()
    work = build / "models"
    source = make.write("mobilenetv2", work)
    chosen = {name: device for name, device in devices(build).items() if not options.only or name in options.only}
    print(machine())
    title, columns = f"MobileNetV2, {MODES}", ["device", "off", "on", "more"]
    if not options.instructions:
        rows = measure(build, source, work, options.rounds, chosen)
        print(table(f"{title}: milliseconds of CPU time of a call, least (median)", columns, rows), flush=True)
    if not options.times:
        rows = count(build, source, work, chosen)
        print(table(f"{title}: instructions of a run with one call", [*columns, "called while off"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
