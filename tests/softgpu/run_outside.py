"""Other people's host programs on the software GPU: Debian's rocminfo, and a HIP program over Debian's libamdhip64.

    tests/softgpu/run_outside.py --build build
"""

import functools
import pathlib
import re
import tempfile

import run_opencl
import suite

HERE = pathlib.Path(__file__).resolve().parent


def run(build, target, program, *options):
    result = suite.softgpu(build, [f"--target={target}", *options], program, timeout=120)
    return result.returncode, result.stdout, result.stderr


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
    return None if code == 0 and "0 of 300 sums wrong" in out else f"exit {code}: {out} {error.strip()[-300:]}"


def main():
    parser = suite.arguments(__doc__)
    options = parser.parse_args()
    programs = {"rocminfo": rocminfo, **{f"hip {target}": functools.partial(hip, target=target)
                                         for target in ("gfx90a", "gfx1030")}}
    results = {name: program(options.build) for name, program in programs.items()}
    suite.finish(len(results), [f"{name}: {reason}" for name, reason in results.items() if reason])


if __name__ == "__main__":
    main()
