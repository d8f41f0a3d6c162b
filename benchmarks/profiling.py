"""What profiling costs: MobileNetV2 with queue events and memory events and without, on CPUs and on a software GPU.

    .venv/bin/python benchmarks/profiling.py --build build [--rounds 7] [--instructions] [--only local-task]

Both take turns; what counts is the least of the wall's times over the rounds. --instructions counts the instructions of
a call instead (callgrind, of two runs of different length), which no other process disturbs.
"""

import argparse
import os
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
SHORT, LONG = 1, 4  # calls of the two runs whose difference is counted


def devices(build):
    """Name, target flags, device flags, launcher."""
    gpu = [build / "tools" / "iree-softgpu", "--target=gfx1100", "--"]
    return [("local-task", [*CPU_FLAGS], ["--device=local-task"], []),
            ("amdgpu, software gfx1100", ["--iree-hal-target-device=amdgpu", "--iree-rocm-target=gfx1100"],
             ["--device=amdgpu"], gpu)]


def benchmark(build, module, device, launcher, calls, profile):
    flags = [f"--device_profiling_mode={MODES}", f"--device_profiling_output={profile}"] if profile else []
    return [*launcher, build / "tools" / "iree-benchmark-module", f"--module={module}", f"--function={FUNCTION}", INPUT,
            *device, f"--benchmark_min_time={calls}", "--time_unit=us", *flags]


def instructions(command, work):
    """Instructions of a program and of what it starts."""
    pattern = work / "callgrind-%p.txt"
    for old in work.glob("callgrind-*.txt"):
        old.unlink()
    call(["valgrind", "--tool=callgrind", "--trace-children=yes", f"--callgrind-out-file={pattern}", *command],
         timeout=3600)
    texts = [path.read_text(errors="replace") for path in work.glob("callgrind-*.txt")]
    counts = [re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE) for text in texts]
    return sum(int(match[1]) for match in counts if match)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", type=pathlib.Path)
    parser.add_argument("--rounds", default=7, type=int)
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--only", choices=("local-task", "amdgpu"))
    options = parser.parse_args()
    build = options.build.resolve()
    work = build / "models"
    source, rows = make.write("mobilenetv2", work), []
    for name, target, device, launcher in devices(build):
        if options.only and not name.startswith(options.only):
            continue
        # Valgrind knows no AVX-512.
        cpu = "haswell" if options.instructions else "host"
        flags = [f"--iree-llvmcpu-target-cpu={cpu}"] if "local" in name else []
        module, profile = work / f"profiling-{name.split(',')[0]}.vmfb", work / "profiling.ireeprof"
        call([build / "tools" / "iree-compile", source, *target, *flags, "-o", module])
        def command(calls, profile=None):
            return benchmark(build, module, device, launcher, calls, profile)
        if options.instructions:
            os.environ["IREE_SOFTGPU_VECTOR"] = "3"
            counts = [[instructions(command(f"{calls}x", given), work) for calls in (SHORT, LONG)]
                      for given in (None, profile)]
            off, on = ((long - short) / (LONG - SHORT) for short, long in counts)
            rows.append([name, f"{off:,.0f}", f"{on:,.0f}", f"{100 * (on / off - 1):+.3f} %"])
        else:
            times = ([], [])
            for _ in range(options.rounds):
                for which, given in enumerate((None, profile)):
                    times[which].append(parse_samples(call(command("1s", given)))[0])
            off, on = map(min, times)
            medians = [statistics.median(values) for values in times]
            rows.append([name, f"{off:.3f} ({medians[0]:.3f})", f"{on:.3f} ({medians[1]:.3f})",
                         f"{100 * (on / off - 1):+.2f} %"])
    what = "instructions of a call" if options.instructions else "milliseconds of a call, least (median)"
    print(f"{machine()}\n{table(f'MobileNetV2, {MODES}: {what}', ['device', 'off', 'on', 'more'], rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
