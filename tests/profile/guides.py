"""What --agents_md says of profiles, captures and modules is so: its lines run as they are, one after the other, and
rows of reports have the types that it lists for each command.

    guides.py TOOLS FOLDER [--amdgpu]
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess

from expectations import expect, report

PROGRAM = """
func.func @main(%a: tensor<1x?xf32>) -> tensor<1x?xf32> {
  %c1 = arith.constant 1 : index
  %d = tensor.dim %a, %c1 : tensor<1x?xf32>
  %e = tensor.empty(%d) : tensor<1x?xf32>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<1x?xf32>) outs(%e : tensor<1x?xf32>) -> tensor<1x?xf32>
  return %0 : tensor<1x?xf32>
}
"""
# A profile for each kind of rows.
GPU_MODES = {"times": "queue-events,device-queue-events,dispatch-events,executable-metadata,memory-events",
             "counters": "counters --device_profiling_counter=SQ_WAVES",
             "traces": "executable-traces --device_profiling_filter_function='*'"}


class Guides:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder
        self.environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}

    def run(self, command):
        return subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, timeout=120,
                              cwd=self.folder, env=self.environment)

    def guide(self, tool):
        return self.run(f"{tool} --agents_md").stdout

    def check_lines(self, tool):
        blocks = re.findall(r"^```bash\n(.*?)^```$", self.guide(tool), re.MULTILINE | re.DOTALL)
        lines = [line for block in blocks for line in block.splitlines()]
        expect(f"{tool}: has lines", lines, blocks)
        for line in lines:
            if "iree-profile att" in line:  # there are no traces on CPUs
                continue
            result = self.run(line if shutil.which("jq") else line.split(" | jq ")[0])
            expect(f"{tool}: {line}", result.returncode == 0 and not result.stderr.startswith("jq"), result)
        return lines

    def check_rows(self, profile):
        """Returns the types that were seen."""
        cells = [[cell.strip() for cell in line.strip("|").split("|")]
                 for line in self.guide("iree-profile").splitlines() if line.startswith("| `")]
        seen = set()
        listed = {command.strip("`"): set(re.findall(r"`([a-z_]+)`", types)) for command, types in cells}
        for command, types in listed.items():
            for more in ("", "--dispatch_events", "--counter_samples"):
                result = self.run(f"iree-profile {command} --format=jsonl {more} {profile}")
                rows = {json.loads(line)["type"] for line in result.stdout.splitlines()}
                others = listed["dispatch"] if more == "--dispatch_events" else set()
                expect(f"{profile}: {command} {more}", rows <= types | others, (rows, types))
                seen |= rows
        return seen


def check_gpu(guides):
    result = guides.run("iree-compile model.mlir --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 -o gpu.vmfb")
    expect("amdgpu: compile", result.returncode == 0, result.stderr)
    seen = set()
    for name, modes in GPU_MODES.items():
        result = guides.run("iree-softgpu --target=gfx1100 -- iree-run-module --device=amdgpu --module=gpu.vmfb "
                            f"--function=main --input=1x128xf32=0 --output= --device_profiling_mode={modes} "
                            f"--device_profiling_output={name}.ireeprof")
        expect(f"amdgpu {name}: run", result.returncode == 0, result.stderr)
        seen |= guides.check_rows(f"{name}.ireeprof")
    return seen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--amdgpu", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / "model.mlir").write_text(PROGRAM)
    guides = Guides(options.tools.resolve(), options.folder)
    result = guides.run("iree-compile model.mlir --iree-hal-target-device=local "
                        "--iree-hal-local-target-device-backends=llvm-cpu -o model.vmfb")
    expect("compile", result.returncode == 0, result.stderr)
    for tool in ("iree-run-module", "iree-profile", "iree-run-replay"):
        guides.check_lines(tool)
    for tool, like in (("iree-benchmark-module", "iree-run-module"), ("iree-benchmark-replay", "iree-run-replay"),
                       ("iree-dump-replay", "iree-run-replay")):
        expect(f"{tool} has its guide", guides.guide(like).split("\n## ")[1] in guides.guide(tool), tool)
    seen = guides.check_rows("model.ireeprof")
    if options.amdgpu:
        seen |= check_gpu(guides)
        told = {name for line in guides.guide("iree-profile").splitlines() if line.startswith("| `")
                for name in re.findall(r"`([a-z_]+)`", line.split("|")[2])}
        expect("every type is seen", seen == told, seen ^ told)
    return report()


if __name__ == "__main__":
    raise SystemExit(main())
