"""Kernels in OpenCL C on the software GPU: clang's code for each target against clang's code for this CPU.

    tests/softgpu/run_opencl.py --build build [--target gfx1100|sm_80] [--level 2] [--only NAME] [--check all]

Every `// RUN` line of opencl/*.cl (shim.h says how they read) is one case: the same source is compiled for x86-64 and run
there by opencl/host.c, and compiled for the GPU and run by launch.c through libhsa-runtime64. Results must be the same bits
unless the line gives a tolerance.
"""

import concurrent.futures
import ctypes
import os
import pathlib
import re
import tempfile

import numpy as np

import suite

HERE = pathlib.Path(__file__).resolve().parent
WAVE64 = ("gfx9",)
TYPES = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32,
         "i64": np.int64, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64}
RUN = re.compile(r"// RUN (\w+) grid=(\d+) group=(\d+)((?: \w+=\S+)*) args: (.*)")


class Case:
    """One kernel, how to launch it, and its arguments as (mode, type, count)."""

    def __init__(self, file, match):
        self.file, self.kernel = file, match[1]
        self.grid, self.group = int(match[2]), int(match[3])
        options = dict(option.split("=") for option in match[4].split())
        self.stack = int(options.get("stack", 0))
        self.lds, self.tolerance = int(options.get("lds", 0)), float(options.get("tolerance", 0))
        self.arguments = [tuple(argument.split(":")) for argument in match[5].split()]

    def inputs(self):
        """Random arrays, with edge values among them, or integers; the same in every run."""
        random = np.random.default_rng(sum(map(ord, self.kernel)))
        values = []
        for mode, *rest in self.arguments:
            if mode == "i32":
                values.append(int(rest[0]))
                continue
            kind, count = TYPES[rest[0]], int(rest[1])
            if mode == "out":
                values.append(np.zeros(count, kind))
            elif np.issubdtype(kind, np.floating):
                values.append((random.standard_normal(count) * 4).astype(kind))
            else:
                bits = random.integers(0, 256, count * np.dtype(kind).itemsize, np.uint8).view(kind)
                small = random.integers(0, 100, count).astype(kind)
                values.append(np.where(random.random(count) < 0.3, small, bits).astype(kind))
        return values


def cases_of(folder, only):
    found = []
    for file in sorted(folder.glob("*.cl")):
        found += [Case(file, match) for match in map(RUN.match, file.read_text().splitlines()) if match]
    return [case for case in found if not only or case.kernel in only]


COMMON = ["clang-22", "-x", "cl", "-cl-std=CL2.0", "-cl-fp32-correctly-rounded-divide-sqrt", "-ffp-contract=off", "-w",
          f"-I{HERE / 'opencl'}"]


def compile_host(file, folder):
    out = folder / f"{file.stem}.so"
    suite.call([*COMMON, "-Xclang", "-cl-ext=+all", "-target", "x86_64-unknown-linux-gnu", "-march=x86-64-v3", "-O2",
                "-fPIC", "-shared", file, "-o", out, f"-L{folder}", "-lhost", f"-Wl,-rpath,{folder}", "-lm"])
    return out


def compile_gpu(file, target, level, folder, flags=()):
    if suite.is_nvidia(target):
        out = folder / f"{file.stem}-{target}-{level}.ptx"
        suite.call([*COMMON, "-Xclang", "-cl-ext=+all", "-target", "nvptx64-nvidia-cuda", f"-march={target}",
                    "-nogpulib", f"-O{level}", "-S", file, "-o", out])
        return out
    out = folder / f"{file.stem}-{target}-{level}.hsaco"
    suite.call([*COMMON, "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib", f"-O{level}", *flags, file,
                "-o", out])
    return out


def expect(case, library, host, lanes):
    """The arrays after the kernel ran on the CPU."""
    values = case.inputs()
    arguments = (ctypes.c_uint64 * 6)(*[value if isinstance(value, int) else value.ctypes.data for value in values])
    kernel = ctypes.cast(getattr(library, case.kernel), ctypes.c_void_p)
    groups = (case.grid + case.group - 1) // case.group
    host.host_run(kernel, arguments, groups, case.group, lanes)
    return values


def script_of(case, folder):
    """Lines for launch.c; each array's file after the launch is folder/<index>.out."""
    lines = [f"run {case.kernel} {case.grid} {case.group} {case.lds} {case.stack}"]
    for index, (argument, value) in enumerate(zip(case.arguments, case.inputs())):
        mode = argument[0]
        file, out = folder / f"{index}.in", folder / f"{index}.out"
        if mode == "i32":
            lines.append(f"i32 {value}")
        elif mode == "out":
            lines.append(f"out {value.nbytes} {out}")
        else:
            value.tofile(file)
            lines.append(f"inout {file} {out}" if mode == "inout" else f"in {file}")
    return [*lines, "go"]


def difference(case, expected, folder):
    """What is wrong with the results in folder, or None."""
    for index, (argument, theirs) in enumerate(zip(case.arguments, expected)):
        if argument[0] not in ("out", "inout"):
            continue
        ours = np.fromfile(folder / f"{index}.out", theirs.dtype)
        if case.tolerance:
            wrong = ~(np.abs(ours - theirs) <= case.tolerance * np.abs(theirs))
        else:
            is_nan = np.isnan(ours) & np.isnan(theirs) if theirs.dtype.kind == "f" else False
            bits = np.dtype(f"u{theirs.dtype.itemsize}")
            wrong = (ours.view(bits) != theirs.view(bits)) & ~is_nan
        if wrong.any():
            at = int(np.argmax(wrong))
            return f"argument {index}[{at}] is {ours[at]!r}, not {theirs[at]!r}; {int(wrong.sum())} of {wrong.size} differ"
    return None


def run_target(options, cases, objects, expected, target, vector, folder):
    """Runs all cases of one target at every level in one process; returns failures as text."""
    lines, jobs = [], []
    for level in options.level:
        for file in sorted({case.file for case in cases}):
            lines.append(f"load {objects[file, target, level]}")
            for case in (case for case in cases if case.file == file):
                place = folder / f"{target}-{level}-{vector}-{case.kernel}"
                place.mkdir()
                lines += script_of(case, place)
                jobs.append((case, level, place))
    environment = {"IREE_SOFTGPU_VECTOR": vector} if vector else {}
    if suite.is_nvidia(target):
        result = suite.launch_ptx(options.build, options.check, lines, environment)
    else:
        flags = [f"--target={target}", *([f"--check={options.check}"] if options.check else [])]
        result = suite.launch(options.build, flags, lines, environment)
    said = result.stdout.splitlines()
    failures = []
    lanes = 64 if target.startswith(WAVE64) or "-mwavefrontsize64" in options.flag else 32
    messages = result.stderr.strip().splitlines()
    for number, (case, level, place) in enumerate(jobs):
        name = f"{case.kernel} -O{level} {target}" + (f" vectors of level {vector}" if vector else "")
        if number >= len(said):
            failures.append(f"{name}: not run (exit {result.returncode}): {messages[-1] if messages else ''}")
        elif not said[number].startswith("ok"):
            failures.append(f"{name}: {said[number]}")
        elif wrong := difference(case, expected[case.kernel, lanes], place):
            failures.append(f"{name}: {wrong}")
    return len(jobs), failures, messages


def main():
    parser = suite.arguments(__doc__)
    parser.add_argument("--folder", type=pathlib.Path, default=HERE / "opencl", help="where the .cl files are")
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--level", action="append", type=int, default=[])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--check", help="checks of iree-softgpu to run under")
    parser.add_argument("--vector", action="append", default=[], help="level of the host's vectors, 2 to 4; several run all")
    parser.add_argument("--flag", action="append", default=[], help="of clang for the GPU, such as -mwavefrontsize64")
    options = parser.parse_args()
    options.target, options.level = options.target or suite.TARGETS, options.level or [0, 1, 2, 3]
    cases = cases_of(options.folder, options.only)
    with tempfile.TemporaryDirectory(prefix="iree-opencl-") as name:
        folder = pathlib.Path(name)
        suite.call(["cc", "-O2", "-fPIC", "-shared", "-o", folder / "libhost.so", HERE / "opencl" / "host.c"])
        host = ctypes.CDLL(str(folder / "libhost.so"), mode=os.RTLD_GLOBAL)
        files = sorted({case.file for case in cases})
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            libraries = {file: ctypes.CDLL(str(path)) for file, path in
                         zip(files, pool.map(lambda file: compile_host(file, folder), files))}
            keys = [(file, target, level) for file in files for target in options.target for level in options.level]
            objects = dict(zip(keys, pool.map(lambda key: compile_gpu(*key, folder, options.flag), keys)))
            expected = {(case.kernel, lanes): expect(case, libraries[case.file], host, lanes)
                        for case in cases for lanes in (32, 64)}
            runs = [(target, vector) for target in options.target for vector in options.vector or [""]]
            results = list(pool.map(lambda one: run_target(options, cases, objects, expected, *one, folder), runs))
    suite.finish_targets(results)


if __name__ == "__main__":
    main()
