"""What kernels for AMD GPUs execute, ours beside IREE's and Triton's: amd_counts.py [--build DIR] [--write]

The same matmul, convolution, softmax and attention are compiled by iree-compile, by IREE's compiler at its highest
level and by Triton, all without a GPU, and run on the software GPU, which counts; results are held against NumPy's.
Registers, spills and workgroup memory are what code objects declare of a kernel, the largest of a program. Of
Triton's several ways to cut a program the one that takes the fewest modelled cycles is shown. Counts are the same in
every run. What another system does with less, by more than a hundredth, is marked *. --write puts the table into
docs/kernels.md. IREE's and Triton's packages are installed if need be.
"""

import argparse
import importlib.util
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import amd_programs
import tools

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "kernels.md"
TARGETS = ["gfx942", "gfx1100", "gfx1201"]
sys.path.insert(0, str(ROOT / "tests" / "softgpu"))

# Column, what iree-softgpu's line says (None: what code objects declare), and whether more is better.
COUNTS = {"vector": "vector instructions", "matrix": "matrix instructions", "memory": "vector memory instructions",
          "read": "bytes read from global memory", "LDS": "workgroup memory instructions",
          "conflicts": "cycles lost to workgroup memory bank conflicts", "registers": None, "spills": None,
          "occupancy": "occupancy", "cycles": "cycles of dispatches"}


def install():
    if importlib.util.find_spec("triton") is None or importlib.util.find_spec("iree.compiler") is None:
        print("amd_counts: installing IREE and Triton from PyPI", file=sys.stderr)
        requirements = ROOT / "build_tools" / "requirements-outside.txt"
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "-r", str(requirements)], check=True)


def read_counts(stats):
    counts = {}
    for name, line in COUNTS.items():
        if line:
            found = re.search(rf"^ *([0-9.]+)%? {re.escape(line)}", stats, re.MULTILINE)
            counts[name] = float(found[1]) if name == "occupancy" else int(found[1])
    return counts


def read_notes(code):
    reader = shutil.which("llvm-readelf-22") or shutil.which("llvm-readelf")
    if not reader:
        raise tools.ToolError("llvm-readelf is not there")
    return tools.call([reader, "--notes", code])


def read_groups(code):
    """Workgroup sizes of a code object's kernels."""
    kernels = re.split(r"^  - ", read_notes(code), flags=re.MULTILINE)
    found = [(re.search(r"^ +\.name: +(\w+)", text, re.MULTILINE),
              re.search(r"\.reqd_workgroup_size:\s+- (\d+)\s+- (\d+)\s+- (\d+)", text)) for text in kernels]
    return {name[1]: list(map(int, size.groups())) for name, size in found if name and size}


def read_declared(objects):
    """Registers and spills of the code objects' kernels."""
    text = "".join(map(read_notes, objects))

    def most(*keys):
        found = [int(number) for key in keys for number in re.findall(rf"\.{key}: +(\d+)", text)]
        return max(found, default=0)

    # Where vector and accumulation registers are of one file, the first number has both.
    return {"registers": most("vgpr_count"), "spills": most("vgpr_spill_count", "sgpr_spill_count")}


def check(program, result, who):
    ours, theirs = result.reshape(program.expected.shape).astype(np.float64), program.expected.astype(np.float64)
    worst = np.abs(ours - theirs).max() / np.abs(theirs).max()
    if not worst <= program.tolerance:
        raise tools.ToolError(f"{who}'s {program.name} is {worst:.2g} of the largest from NumPy's")


class Ours:
    """A program as it is after its dispatches have kernels, as lines for launch.c."""

    def __init__(self, text, objects, folder):
        self.groups = {kernel: (code, size) for code in objects for kernel, size in read_groups(code).items()}
        self.script, self.names, self.results, kernel = [], {}, None, None
        for line in map(str.strip, text.splitlines()):
            if found := re.match(r"func\.func @\w+\((.*)\) -> ", line):
                for i, (name, kind) in enumerate(re.findall(r"(%\w+): tensor<(\S+)>", found[1])):
                    self.add_buffer(name, kind, folder / f"in{i}")
            elif found := re.match(r"(%\w+) = \"graph\.dispatch\"\((.*?)\) <\{(.*)\}> \(\{", line):
                kernel = found[1], found[2].split(", "), found[3]
            elif kernel and (found := re.match(r"\}\) : \(.*\) -> tensor<(\S+)>$", line)):
                self.add_buffer(kernel[0], found[1], "-")
                self.add_launch(*kernel)
                kernel = None
            elif found := re.match(r"(%\w+) = \"graph\.reshape\"\((%\w+)\)", line if not kernel else ""):
                self.names[found[1]] = self.names[found[2]]
            elif not kernel and (found := re.match(r"return (%\w+) : ", line)):
                self.results = folder / "out"
                self.script.append(f"save {self.names[found[1]]} {self.results}")

    def add_buffer(self, name, kind, file):
        *shape, element = kind.split("x")
        self.names[name] = name[1:]
        self.script.append(f"buffer {name[1:]} {math.prod(map(int, shape)) * (2 if element == 'f16' else 4)} {file}")

    def add_launch(self, result, taken, attributes):
        kernel = re.search(r"sym_name = \"(\w+)\"", attributes)[1]
        counts = map(int, re.search(r"workgroups = array<i64: (\d+), (\d+), (\d+)>", attributes).groups())
        code, size = self.groups[kernel]
        grid = [count * each for count, each in zip(counts, size)]
        self.script += [f"load {code}", f"run {kernel} 1 1 0 0", f"size {' '.join(map(str, [*grid, *size]))}"]
        self.script += [f"at {self.names[name]} 0" for name in [*taken, result]] + ["go"]


def count_ours(options, target, program, folder):
    source = folder / "program.mlir"
    source.write_text(program.text, encoding="utf-8")
    compiler = [options.build / "tools" / "iree-compile", "--iree-hal-target-device=amdgpu",
                f"--iree-rocm-target={target}"]
    tools.call([*compiler, source, "-o", folder / "program.vmfb", f"--iree-hal-dump-executable-binaries-to={folder}"])
    text = tools.call([*compiler, source, "--compile-to=executable-targets"])
    objects = list(folder.glob("*.hsaco"))
    for i, array in enumerate(program.inputs):
        array.tofile(folder / f"in{i}")
    ours = Ours(text, objects, folder)
    counts = launch(options, target, ours.script)
    check(program, np.fromfile(ours.results, program.expected.dtype), "iree-c")
    return counts | read_declared(objects)


def launch(options, target, script):
    import suite
    done = suite.launch(options.build, [f"--target={target}", "--stats"], script)
    if done.returncode or not re.fullmatch(r"(ok .*\n)+", done.stdout):
        raise tools.ToolError(f"launch: {done.stdout[:200]}{done.stderr[:300]}")
    return read_counts(done.stderr)


def count_iree(options, target, program, folder):
    import run_iree
    source = folder / "program.mlir"
    source.write_text(program.text, encoding="utf-8")
    compiler = pathlib.Path(sys.executable).parent / "iree-compile"
    code, text = run_iree.compile_kernels(target, compiler, folder, source, ["--iree-opt-level=O3"])
    programs, kernels, maps = run_iree.read_module(text)
    for i, array in enumerate(program.inputs):
        array.tofile(folder / f"in{i}")
    host = run_iree.Host(programs[0], kernels, maps, folder)
    for line in programs[0].lines:
        host.step(line)
    counts = launch(options, target, [f"load {code}", *host.script])
    check(program, host.results()[0], "IREE")
    return counts | read_declared([code])


def count_triton(options, target, program, folder):
    import amd_triton
    import run_triton
    best = None
    for number, (kernel, grid, constants, warps) in enumerate(program.peers()):
        out = run_triton.Out(program.expected, program.tolerance)
        case = run_triton.Case(f"way{number}", grid, [*program.inputs, out], constants,
                               kernel=getattr(amd_triton, kernel), num_warps=warps)
        script, results = run_triton.script_of(case, target, folder)
        counts = launch(options, target, script)
        check(program, np.fromfile(results[0][1], program.expected.dtype), "Triton")
        counts |= read_declared([folder / f"{case.name}.hsaco"])
        if best is None or counts["cycles"] < best["cycles"]:
            best = counts
    return best


SYSTEMS = {"iree-c": count_ours, "IREE": count_iree, "Triton": count_triton}


def is_less(name, theirs, ours):
    """By more than a hundredth."""
    return theirs > 1.01 * ours if name == "occupancy" else 1.01 * theirs < ours


def write_row(target, program, who, counts, ours):
    cells = []
    for name, count in counts.items():
        text = f"{count:.0f} %" if name == "occupancy" else f"{count / 1e6:.1f} MB" if name == "read" else f"{count:,}"
        cells.append(text + (" *" if name != "cycles" and is_less(name, count, ours[name]) else ""))
    return f"| {program}, {target} | {who} | {' | '.join(cells)} |"


def count_program(options, target, name, folder):
    """Rows of the table, and a sentence for each system that failed."""
    program, rows, ours = amd_programs.PROGRAMS[name](), [], None
    for who, count in SYSTEMS.items():
        place = folder / target / name / who
        place.mkdir(parents=True)
        try:
            counts = count(options, target, program, place)
        except (tools.ToolError, SystemExit, ValueError) as error:
            print(f"{name}, {target}, {who}: {error}", file=sys.stderr)
            continue
        counts = {key: counts[key] for key in COUNTS}
        ours = ours or counts
        rows.append(write_row(target, name, who, counts, ours))
        print(rows[-1], flush=True)
    return rows


def write_document(lines):
    text = DOCUMENT.read_text(encoding="utf-8")
    begin = text.index(lines[0])
    end = begin + re.match(r"(\|.*\n)*", text[begin:]).end()
    DOCUMENT.write_text(text[:begin] + "".join(f"{line}\n" for line in lines) + text[end:], encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--only", action="append", default=[], help="a program; repeatable")
    parser.add_argument("--system", action="append", default=[], help="iree-c, IREE or Triton; repeatable")
    parser.add_argument("--write", action="store_true", help="the table into docs/kernels.md")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for programs, code objects and results")
    options = parser.parse_args()
    install()
    for who in set(SYSTEMS) - set(options.system or SYSTEMS):
        del SYSTEMS[who]
    lines = [f"| program | of | {' | '.join(COUNTS)} |", f"|---|---|{'--:|' * len(COUNTS)}"]
    print("\n".join(lines))
    with tempfile.TemporaryDirectory(prefix="iree-amd-") as name:
        folder = (options.keep or pathlib.Path(name)).resolve()
        os.environ |= {"TRITON_CACHE_DIR": f"{name}/cache", "TRITON_DEFAULT_FP_FUSION": "1"}
        for program in options.only or amd_programs.PROGRAMS:
            for target in options.target or TARGETS:
                lines += count_program(options, target, program, folder)
    if options.write:
        write_document(lines)


if __name__ == "__main__":
    main()
