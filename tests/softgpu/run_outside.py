"""Other people's host programs on the software GPU: Debian's rocminfo and rocm_agent_enumerator, a program linked against
Debian's libhsa-runtime64, and a HIP program over Debian's libamdhip64.

    tests/softgpu/run_outside.py --build build
"""

import functools
import os
import pathlib
import re
import subprocess
import tempfile

import run_opencl
import suite

HERE = pathlib.Path(__file__).resolve().parent


def run(build, target, program, *options):
    result = suite.softgpu(build, [f"--target={target}", *options], program, timeout=120)
    return result.returncode, result.stdout, result.stderr


# What the tool says of options that it does not take, and how it ends.
REFUSED = {"--target=gfx99": "is no target", "--target=cdna9": "is no target", "--gpus=-1": "is no target",
           "--gpus=gfx90a,gfx9": "is no target", "--limit=many": "is no number", "--check=bound": "known are",
           "--check": "needs a value", "--list": "--help lists them"}



def tool(build):
    command = str(build / "tools" / "iree-softgpu")

    def call(*words):
        return subprocess.run([command, *words], capture_output=True, text=True, check=False, timeout=60)

    for option, message in REFUSED.items():
        result = call(option, "--", "true")
        if result.returncode != 1 or message not in result.stderr or result.stderr.count("\n") != 1:
            return f"{option}: exit {result.returncode}: {result.stderr}"
    ends = {("sh", "-c", "exit 42"): 42, ("sh", "-c", "kill -TERM $$"): -15, ("no-such-program",): 127, (): 1}
    for program, code in ends.items():
        if (got := call("--", *program).returncode) != code:
            return f"{program} ends with {got}, not {code}"
    return None


def rocminfo(build):
    code, out, error = run(build, "gfx90a", ["rocminfo"], "--gpus=2")
    names = re.findall(r"^ {2}Name: +(gfx\w+)", out, re.MULTILINE)
    uuids = set(re.findall(r"^ {2}Uuid: +(GPU-\w+)", out, re.MULTILINE))
    if code or names != ["gfx90a", "gfx90a"] or len(uuids) != 2:
        return f"exit {code}, GPUs {names}, {len(uuids)} UUIDs: {error.strip()[-300:]}"
    return None


# GPUs by the kernel driver's description of the machine, whose first entry is the CPU.
ENUMERATED = {("--target=gfx90a",): ["gfx90a"], ("--target=gfx1100", "--gpus=2"): ["gfx1100", "gfx1100"],
              ("--gpus=gfx942,gfx1030,gfx90c",): ["gfx942", "gfx1030", "gfx90c"], (): ["gfx1100"]}


def agent_enumerator(build):
    for flags, targets in ENUMERATED.items():
        result = suite.softgpu(build, flags, ["rocm_agent_enumerator"], timeout=120)
        if result.returncode or result.stdout.split() != ["gfx000", *targets]:
            return f"{flags}: exit {result.returncode}, {result.stdout.split()}: {result.stderr[-300:]}"
    with tempfile.TemporaryDirectory(prefix="iree-topology-") as name:
        result = suite.softgpu(build, ["--gpus=gfx942,gfx1030"], ["rocm_agent_enumerator"], timeout=120,
                               env={**os.environ, "ROCR_VISIBLE_DEVICES": "1", "TMPDIR": name})
        left = os.listdir(name)
    return None if result.stdout.split() == ["gfx000", "gfx1030"] and not left else f"{result.stdout.split()}, {left}"


AGENTS = r"""
#include <hsa/hsa.h>
#include <stdio.h>
static hsa_status_t say(hsa_agent_t agent, void* data) {
  char name[64] = "";
  hsa_device_type_t type;
  hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
  hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, name);
  if (type == HSA_DEVICE_TYPE_GPU) puts(name);
  return HSA_STATUS_SUCCESS;
}
int main(void) { return hsa_init() || hsa_iterate_agents(say, NULL) || hsa_shut_down(); }
"""


def linked(build):
    """A program linked against Debian's runtime finds this one by LD_LIBRARY_PATH and nothing else."""
    with tempfile.TemporaryDirectory(prefix="iree-hsa-") as name:
        program = pathlib.Path(name) / "agents"
        subprocess.run(["cc", "-xc", "-", "-o", str(program), "-lhsa-runtime64"], input=AGENTS, text=True, check=True)
        for variables, targets in ({}, ["gfx1100"]), ({"IREE_SOFTGPU_TARGET": "gfx942"}, ["gfx942"]):
            environment = {"LD_LIBRARY_PATH": str(build.resolve() / "lib" / "softgpu"), **variables}
            result = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=60,
                                    env=environment)
            if result.returncode or result.stdout.split() != targets:
                return f"{variables}: exit {result.returncode}: {result.stdout} {result.stderr}"
    return None


def hip(build, target):
    with tempfile.TemporaryDirectory(prefix="iree-hip-") as name:
        code_object = pathlib.Path(name) / "integer.hsaco"
        # HIP 5.2 knows version 4 of the code object ABI.
        suite.call([*run_opencl.COMMON, "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-mcode-object-version=4",
                    "-nogpulib", "-O2", HERE / "opencl" / "integer.cl", "-o", code_object])
        code, out, error = run(build, target, [build / "tests" / "softgpu_hip", code_object, "add_u32"])
    return None if code == 0 and "1 devices, 0 wrong" in out else f"exit {code}: {out} {error.strip()[-300:]}"


def main():
    parser = suite.arguments(__doc__)
    options = parser.parse_args()
    programs = {"tool": tool, "rocminfo": rocminfo, "rocm_agent_enumerator": agent_enumerator, "linked": linked,
                **{f"hip {target}": functools.partial(hip, target=target) for target in ("gfx90a", "gfx1030")}}
    results = {name: program(options.build) for name, program in programs.items()}
    suite.finish(len(results), [f"{name}: {reason}" for name, reason in results.items() if reason])


if __name__ == "__main__":
    main()
