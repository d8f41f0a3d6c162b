"""IREE 3.13's own tools read our profiles and captures, and ours theirs: the same text, byte for byte, and the same rows.

    iree_tools.py --build build

Needs the packages of build_tools/requirements-outside.txt.
"""

import argparse
import importlib.util
import json
import pathlib
import subprocess
import sys

from expectations import expect, report

COMMANDS = ("summary", "statistics", "explain", "executable", "dispatch", "command", "queue", "counter", "memory", "cat")
MODES = {"local": "queue-events,host-execution,executable-metadata,memory-events,command-region-events",
         "ours": "queue-events,host-execution,device-queue-events,dispatch-events,executable-metadata,memory-events,command-region-events,device-metrics",
         "counters": "queue-events,counters", "ranges": "queue-events,counter-ranges",
         "traces": "queue-events,executable-traces",
         "gpu": "queue-events,device-queue-events,dispatch-events,executable-metadata,memory-events"}
NARROW = (["--filter=*reduction*", "--id=1"], ["--id=2"], ["--filter=queue*"], ["--format=jsonl", "--id=2", "--dispatch_events"],
          ["--format=jsonl", "--counter_samples"])
PROGRAM = """
func.func @main(%a: tensor<32x64xf32>, %b: tensor<64x16xf32>) -> tensor<32x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x16xf32>
  %fill = linalg.fill ins(%zero: f32) outs(%e: tensor<32x16xf32>) -> tensor<32x16xf32>
  %p = linalg.matmul ins(%a, %b : tensor<32x64xf32>, tensor<64x16xf32>) outs(%fill: tensor<32x16xf32>) -> tensor<32x16xf32>
  %s = linalg.softmax dimension(1) ins(%p : tensor<32x16xf32>) outs(%e : tensor<32x16xf32>) -> tensor<32x16xf32>
  return %s : tensor<32x16xf32>
}
"""


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, timeout=120)
    return result.returncode, result.stdout, result.stderr


def rows(output):
    """Without code objects, which IREE 3.13 writes and whose chunks its export does not know."""
    every = [json.loads(line) for line in output.splitlines()]
    return [row for row in every if not row.get("record_type", "").startswith("executable_code_object") and
            not (row.get("record_type") == "diagnostic" and "executable-code-object" in row["content_type"])]


def hints_apart(text):
    """Hints are for people, in words of one's own."""
    return [row for row in text.decode().splitlines() if not row.startswith("  [")]


def same(what, theirs, ours, compare):
    expect(f"{what}: status", (theirs[0], ours[0]) == (0, 0), (theirs, ours))
    one, two = compare(theirs[1]), compare(ours[1])
    if one == two or isinstance(one, bytes):
        expect(what, one == two, (one, two))
    else:
        differing = [pair for pair in zip(one, two) if pair[0] != pair[1]] or [(len(one), len(two))]
        expect(what, False, differing[0])


def compare_narrow(tools, theirs, profile, command, options):
    """A part of a profile; a command that does not take an option refuses it."""
    what = f"{profile.name} {command} {' '.join(options)}"
    text = [run(folder / "iree-profile", command, *options, profile) for folder in (theirs, tools)]
    if text[0][0] == 0:
        same(what, *text, lambda output: hints_apart(output) if "jsonl" not in options[0] else
             [row for row in rows(output) if row["type"] != "explain_hint"])
    else:
        refusals = [result[2].decode().strip().splitlines()[-1].split("; ", 1)[-1] for result in text]
        expect(what, text[1][0] != 0 and refusals[0] == refusals[1], refusals)


def compare_profile(tools, theirs, profile):
    what = profile.name
    for command in COMMANDS:
        text = [run(folder / "iree-profile", command, profile) for folder in (theirs, tools)]
        same(f"{what} {command}", *text, hints_apart)
        flags = ["--format=jsonl"] + ["--dispatch_events"] * (command == "dispatch") + ["--counter_samples"] * (command == "counter")
        for options in NARROW:
            compare_narrow(tools, theirs, profile, command, options)
        json_rows = [run(folder / "iree-profile", command, *flags, profile) for folder in (theirs, tools)]
        same(f"{what} {command} rows", *json_rows, lambda output: [row for row in rows(output) if row["type"] != "explain_hint"])
    exports = [run(folder / "iree-profile", "export", "--format=ireeperf-jsonl", "--output=-", profile) for folder in (theirs, tools)]
    same(f"{what} export", *exports, rows)


def compare_capture(tools, theirs, capture):
    for form, compare in (("text", bytes), ("jsonl", rows)):
        dumps = [run(folder / "iree-dump-replay", f"--format={form}", capture) for folder in (theirs, tools)]
        same(f"{capture.name} dump {form}", *dumps, compare)


def make(runner, folder, module, name, device, modes, launcher=(), counters=()):
    """A profile and a capture of one call."""
    profile, capture = folder / f"{name}.ireeprof", folder / f"{name}.ireereplay"
    call = [*launcher, runner / "iree-run-module", f"--module={module}", f"--device={device}", "--function=main",
            "--input=32x64xf32=0.5", "--input=64x16xf32=0.25"]
    for flags in ([f"--device_profiling_mode={modes}", f"--device_profiling_output={profile}", *counters], [f"--device_replay_output={capture}"]):
        status = run(*call, *flags)
        expect(f"{name}: run", status[0] == 0, status)
    return profile, capture


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", type=pathlib.Path)
    build = parser.parse_args().build.resolve()
    tools, folder = build / "tools", build / "tests" / "iree-tools"
    theirs = pathlib.Path(importlib.util.find_spec("iree._runtime_libs").submodule_search_locations[0])
    compiler = pathlib.Path(importlib.util.find_spec("iree.compiler").submodule_search_locations[0]) / "_mlir_libs" / "iree-compile"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "program.mlir").write_text(PROGRAM)
    local = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
    for program, flags, name in ((tools / "iree-compile", local, "ours"), (compiler, [*local, "--iree-llvmcpu-target-cpu=host"], "theirs"),
                                 (tools / "iree-compile", ["--iree-hal-target-device=amdgpu", "--iree-rocm-target=gfx1100"], "gpu")):
        status = run(program, folder / "program.mlir", *flags, "-o", folder / f"{name}.vmfb")
        expect(f"{name}: compile", status[0] == 0, status)
    made = [make(tools, folder, folder / "ours.vmfb", f"ours-{device}", device, MODES["ours"]) for device in ("local-sync", "local-task")]
    gpu = [tools / "iree-softgpu", "--target=gfx1100", "--"]
    made.append(make(tools, folder, folder / "gpu.vmfb", "ours-gpu", "amdgpu", MODES["gpu"], gpu))
    for name in ("counters", "ranges"):
        counters = [f"--device_profiling_counter={counter}" for counter in ("SQ_WAVES", "GRBM_COUNT", "SOFTGPU_BYTES_READ")]
        made.append(make(tools, folder, folder / "gpu.vmfb", f"ours-{name}", "amdgpu", MODES[name], gpu, counters))
    made.append(make(tools, folder, folder / "gpu.vmfb", "ours-traces", "amdgpu", MODES["traces"], gpu,
                     ["--device_profiling_filter_function=*"]))
    made.append(make(theirs, folder, folder / "theirs.vmfb", "theirs-local-task", "local-task", MODES["local"]))
    for profile, capture in made:
        compare_profile(tools, theirs, profile)
        compare_capture(tools, theirs, capture)
    # Captures replay with the other's tool.
    for runner, capture in ((theirs, made[0][1]), (theirs, made[1][1]), (tools, made[-1][1])):
        status = run(runner / "iree-run-replay", "--device=local-task", capture)
        expect(f"{capture.name}: replay", status[0] == 0, status)
    return report()


if __name__ == "__main__":
    sys.exit(main())
