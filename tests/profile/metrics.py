"""Metrics of devices: of this machine, of an AMD GPU by a folder of files, of an NVIDIA GPU by a library for tests.

    metrics.py TOOLS FOLDER [--amd] [--hip] [--nvml FILE]
"""

import argparse
import json
import pathlib
import sys

from expectations import expect, report
from tools_runner import ToolsRunner

PROGRAM = """
func.func @main(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = arith.addf %a, %a : tensor<64xf32>
  return %0 : tensor<64xf32>
}
"""
# What the files of Linux's amdgpu driver say, and what becomes of it.
FILES = {"gpu_busy_percent": "37\n", "mem_info_vram_used": "1048576\n", "mem_info_vram_total": "17163091968\n",
         "hwmon/hwmon7/freq1_label": "sclk\n", "hwmon/hwmon7/freq1_input": "2500000000\n",
         "hwmon/hwmon7/freq2_label": "mclk\n", "hwmon/hwmon7/freq2_input": "1249000000\n",
         "hwmon/hwmon7/temp1_label": "edge\n", "hwmon/hwmon7/temp1_input": "-1500\n",
         "hwmon/hwmon7/temp2_label": "junction\n", "hwmon/hwmon7/temp2_input": "55000\n",
         "hwmon/hwmon7/power1_average": "120000000\n"}
AMD = {"activity.compute": 37000, "memory.local.used": 1048576, "memory.local.total": 17163091968,
       "clock.compute.current": 2500000000, "clock.memory.current": 1249000000, "temperature.edge": 2 ** 64 - 1500,
       "temperature.hotspot": 55000, "power.socket": 120000000}
NVIDIA = {"clock.compute.current": 1980000000, "clock.memory.current": 2619000000, "temperature.edge": 41000,
          "power.socket": 123456000, "activity.compute": 75000, "activity.memory": 25000, "memory.local.used": 40,
          "memory.local.total": 100}


class Runner(ToolsRunner):
    def __init__(self, tools, folder):
        super().__init__(tools, folder)
        (folder / "add.mlir").write_text(PROGRAM)

    def compile(self, device, *flags):
        result = self.call(self.tools / "iree-compile", "add.mlir", f"--iree-hal-target-device={device}", *flags, "-o",
                           f"{device}.vmfb")
        expect(f"{device}: compile", result.returncode == 0, result.stderr)

    def run(self, device, target, launcher, *flags, **environment):
        return self.call(*launcher, self.tools / "iree-run-module", f"--module={target}.vmfb", f"--device={device}",
                         "--function=main", "--input=64xf32=1", "--device_profiling_mode=device-metrics",
                         f"--device_profiling_output={target}.ireeprof", *flags, **environment)

    def samples(self, what, target, device_class):
        """The values of each sample by name, once source and descriptors are found to fit them."""
        rows = [json.loads(line) for line in self.call(self.tools / "iree-profile", "export", f"{target}.ireeprof").stdout.splitlines()]
        of = {kind: [row for row in rows if row["record_type"] == f"device_metric_{kind}"] for kind in ("source", "descriptor", "sample")}
        [source] = of["source"]
        names = {row["metric_id"]: row["name"] for row in of["descriptor"]}
        expect(f"{what}: source", source["device_class"] == device_class and source["metric_count"] == len(names), source)
        expect(f"{what}: when it begins and ends", len(of["sample"]) == 2, of["sample"])
        expect(f"{what}: times", all(row["host_time_begin_ns"] <= row["host_time_end_ns"] for row in of["sample"]), of["sample"])
        return [{names[value["metric_id"]]: value["value_bits"] for value in row["values"]} for row in of["sample"]]


def check_host(runner):
    runner.compile("local")
    result = runner.run("local-task", "local", [])
    expect("host: run", result.returncode == 0, result.stderr)
    for sample in runner.samples("host", "local", "cpu"):
        expect("host: memory", 0 < sample["memory.local.used"] < sample["memory.local.total"], sample)
        expect("host: activity", 0 <= sample["activity.compute"] <= 100000, sample)
    result = runner.call(runner.tools / "iree-profile", "summary", "local.ireeprof")
    expect("summary", "device_metric_records: sources=1 descriptors=" in result.stdout and " invalid_samples=0" in result.stdout, result.stdout)


def check_amd(runner, device, target):
    """By either driver of AMD GPUs, which say where the GPU is in ways of their own."""
    launcher = [runner.tools / "iree-softgpu", f"--target={target}", "--"]
    runner.compile(device, f"--iree-rocm-target={target}")
    result = runner.run(device, device, launcher, IREE_HAL_AMDGPU_SYSFS_PATH=str(runner.folder / "nothing"))
    expect(f"{device}: no files", result.returncode == 1 and "UNAVAILABLE; device-metrics of AMD GPUs come from files" in result.stderr,
           result.stderr)
    # The place of the GPU is in the message.
    place = result.stderr.split("nothing/bus/pci/devices/")[1].split()[0].rstrip(";")
    for name, text in FILES.items():
        file = runner.folder / f"sys-{device}" / "bus" / "pci" / "devices" / place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    result = runner.run(device, device, launcher, IREE_HAL_AMDGPU_SYSFS_PATH=str(runner.folder / f"sys-{device}"))
    expect(f"{device}: run", result.returncode == 0, result.stderr)
    samples = runner.samples(device, device, "gpu")
    expect(f"{device}: values", samples == [AMD, AMD], samples)


def check_nvidia(runner, nvml):
    launcher = [runner.tools / "iree-softgpu", "--target=sm_90", "--"]
    runner.compile("cuda")
    result = runner.run("cuda", "cuda", launcher, f"--cuda_nvml_path={runner.folder / 'nothing'}")
    expect("cuda: no library", result.returncode == 1 and "UNAVAILABLE; device-metrics need NVIDIA's libnvidia-ml.so.1" in result.stderr,
           result.stderr)
    result = runner.run("cuda", "cuda", launcher, IREE_CUDA_NVML_PATH=f"file:{nvml}")
    expect("cuda: run", result.returncode == 0, result.stderr)
    samples = runner.samples("cuda", "cuda", "gpu")
    expect("cuda: values", samples == [NVIDIA, NVIDIA], samples)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--amd", action="store_true")
    parser.add_argument("--hip", action="store_true")
    parser.add_argument("--nvml", type=pathlib.Path)
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    runner = Runner(options.tools.resolve(), folder)
    check_host(runner)
    if options.amd:
        check_amd(runner, "amdgpu", "gfx1100")
    if options.hip:
        check_amd(runner, "hip", "gfx90a")
    if options.nvml:
        check_nvidia(runner, options.nvml.resolve())
    return report()


if __name__ == "__main__":
    sys.exit(main())
