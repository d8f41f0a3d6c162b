"""Other people's host programs on the software GPU: Debian's rocminfo, and a HIP program over Debian's libamdhip64.

    tests/softgpu/run_outside.py --build build
"""

import functools
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
    programs = {"tool": tool, "rocminfo": rocminfo, **{f"hip {target}": functools.partial(hip, target=target)
                                         for target in ("gfx90a", "gfx1030")}}
    results = {name: program(options.build) for name, program in programs.items()}
    suite.finish(len(results), [f"{name}: {reason}" for name, reason in results.items() if reason])


if __name__ == "__main__":
    main()
