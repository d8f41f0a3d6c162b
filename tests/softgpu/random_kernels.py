"""Random kernels, compiled for this CPU and for each GPU target by clang, must not differ in one bit.

    tests/softgpu/random_kernels.py --build build [--count 2000] [--seed 1] [--target gfx1100|sm_80] [--level 2]

Integers of all widths; f16, f32 and f64 with the correctly rounded operations (add, subtract, multiply, fma, divide, square
root, conversions), contraction off. Each kernel is a straight line of operations with a few branches and a loop. The
files are written into a folder in the form that run_opencl.py reads, and run by it.
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INTEGERS = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"]
FLOATS = ["f16", "f32", "f64"]
# LLVM 22 makes v_dot4_u32_u8 of (x * x ^ x) + x * x, as if ^ were +.
FLAGS = ["-Xclang", "-target-feature", "-Xclang", "-dot7-insts"]
BITS = {name: int(name[1:]) for name in INTEGERS + FLOATS}
ITEMS = 64


class Kernel:
    """Statements over variables whose types are known."""

    def __init__(self, rng, name):
        self.rng, self.name, self.lines, self.variables = rng, name, [], []
        self.inputs = [rng.choice(INTEGERS + FLOATS) for _ in range(2)]
        self.output = rng.choice(INTEGERS + FLOATS)

    def add(self, kind, expression):
        name = f"x{len(self.variables)}"
        self.lines.append(f"  {kind} {name} = {expression};")
        self.variables.append((kind, name))

    def pick(self, kinds=None):
        """A variable of one of the types, converted from any other if there is none."""
        fitting = [(kind, name) for kind, name in self.variables if kinds is None or kind in kinds]
        if fitting and self.rng.random() < 0.9:
            return self.rng.choice(fitting)
        wanted = self.rng.choice(kinds or INTEGERS + FLOATS)
        kind, name = self.rng.choice(self.variables)
        self.add(wanted, convert(kind, wanted, name))
        return self.variables[-1]

    def same(self, kind):
        """A variable of a type, or a constant."""
        if self.rng.random() < 0.2:
            return constant(self.rng, kind)
        return self.pick([kind])[1]

    def step(self):
        kind, a = self.pick()
        b, c = self.same(kind), self.same(kind)
        if kind in FLOATS:
            suffix = {"f16": "f16", "f32": "f", "f64": ""}[kind]
            choices = [f"{a} + {b}", f"{a} - {b}", f"{a} * {b}", f"{a} / {b}", f"-{a}",
                       f"__builtin_sqrt{suffix}(__builtin_fabs{suffix}({a}))",
                       f"{a} < {b} ? {a} : {c}", f"{a} >= {b} ? {b} : -{c}"]
            if kind != "f16":  # which x86-64 would round twice
                choices.append(f"__builtin_fma{suffix}({a}, {b}, {c})")
            self.add(kind, f"({kind})({self.rng.choice(choices)})")
            return
        unsigned, width = "u" + kind[1:], BITS[kind]
        wide = f"({unsigned})({b})"
        shift = f"(({b}) & {width - 1})"
        choices = [f"({unsigned}){a} + {wide}", f"({unsigned}){a} - {wide}", f"(u64)({unsigned}){a} * (u64){wide}",
                   f"{a} & {b}", f"{a} | {b}", f"{a} ^ {b}", f"~{a}", f"({unsigned}){a} << {shift}", f"{a} >> {shift}",
                   f"({unsigned}){a} / (({unsigned})({b}) | 1)", f"({unsigned}){a} % (({unsigned})({b}) | 1)",
                   f"{a} < {b} ? {a} : {c}", f"{a} == {b} ? {b} : {c}", f"({a} ^ {b}) > {c} ? {c} : {a}"]
        self.add(kind, f"({kind})({self.rng.choice(choices)})")

    def branch(self):
        kind, a = self.pick()
        b, c = self.same(kind), self.same(kind)
        name = f"x{len(self.variables)}"
        update = f"{name} + {c}" if kind in FLOATS else f"(u64){name} * 3 + (u64){c}"
        self.lines += [f"  {kind} {name} = {b};", f"  if ({a} < {b}) {name} = {c};",
                       f"  for (u32 k = 0; k < (i & 7); ++k) {name} = ({kind})({update});"]
        self.variables.append((kind, name))

    def gather(self):
        """A last variable of the output's type to which several others contribute."""
        used = self.rng.sample(self.variables, min(4, len(self.variables)))
        terms = [convert(kind, self.output, name) for kind, name in [self.variables[-1], *used]]
        unsigned = self.output if self.output in FLOATS else "u" + self.output[1:]
        self.add(self.output, f"({self.output})({' + '.join(f'({unsigned})({term})' for term in terms)})")

    def text(self):
        for place, kind in enumerate(self.inputs):
            self.add(kind, f"{'ab'[place]}[i]")
        for _ in range(self.rng.randrange(4, 12)):
            self.step() if self.rng.random() < 0.85 else self.branch()
        self.gather()
        name = self.variables[-1][1]
        types = [*self.inputs, self.output]
        return "\n".join([
            f"// RUN {self.name} grid={ITEMS} group={ITEMS} args: in:{types[0]}:{ITEMS} in:{types[1]}:{ITEMS} out:{types[2]}:{ITEMS}",
            f"KERNEL void {self.name}(GLOBAL const {types[0]}* a, GLOBAL const {types[1]}* b, GLOBAL {types[2]}* out) {{",
            "  u32 i = id();", *self.lines, f"  out[i] = {name};", "}", ""])


def convert(kind, wanted, name):
    """A conversion that C defines for every value: floats are brought into the range of integers first."""
    if kind in FLOATS and wanted in INTEGERS:
        limit = min(2.0 ** (BITS[wanted] - 1) - 1, 1000.0 if kind == "f16" or BITS[wanted] < 16 else 1e9)
        limit = 100.0 if BITS[wanted] == 8 else limit
        low = "0" if wanted[0] == "u" else f"-{limit}"
        return f"({wanted})(({name} > ({kind}){low}) ? ({name} < ({kind}){limit} ? {name} : ({kind}){limit}) : ({kind}){low})"
    return f"({wanted}){name}"


def constant(rng, kind):
    if kind in FLOATS:
        return f"({kind}){rng.choice(['0.5', '1.0', '-2.0', '3.25', '0.1', '-7.0', '1e-3', '100.0'])}"
    return f"({kind}){rng.choice([0, 1, 2, 3, 7, 15, 63, 85, 100, 127])}"


def write_files(folder, count, seed, per_file=100):
    rng = random.Random(seed)
    for first in range(0, count, per_file):
        kernels = [Kernel(rng, f"r{number}").text() for number in range(first, min(first + per_file, count))]
        (folder / f"random{first // per_file:03}.cl").write_text('#include "shim.h"\n\n' + "\n".join(kernels))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--level", default="2")
    parser.add_argument("--vector", action="append", default=[], help="level of the host's vectors; several run all")
    parser.add_argument("--keep", type=pathlib.Path, help="write the sources here and keep them")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="iree-random-") as name:
        folder = options.keep or pathlib.Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        write_files(folder, options.count, options.seed)
        command = [sys.executable, str(HERE / "run_opencl.py"), "--build", options.build, "--folder", str(folder),
                   "--level", options.level]
        command += [f"--flag={flag}" for flag in FLAGS]
        command += [f"--target={target}" for target in options.target]
        command += [f"--vector={vector}" for vector in options.vector]
        sys.exit(subprocess.run(command, check=False).returncode)


if __name__ == "__main__":
    main()
