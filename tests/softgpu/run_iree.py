"""Kernels of IREE's compiler on the software GPU, against numpy.

    tests/softgpu/run_iree.py --build build [--target gfx942] [--only NAME] [--keep FOLDER]

iree-compile (the iree-base-compiler package) makes one code object of iree/kernels.mlir for each target. What the host would
do is read from the program as it is after its phase `executable-targets`: memory, and which kernel runs on what with which
sizes. launch.c does it, once without checks and once under all. A kernel's arguments are its bindings' pointers, then its
constants as 32-bit words. On gfx90a, which Debian's libamdhip64 knows, IREE's own runtime runs the module too, on its HIP
driver over hip_newer.c.
"""

import concurrent.futures
import functools
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

import iree_references
import suite

HERE = pathlib.Path(__file__).resolve().parent
TARGETS = ["gfx1100", "gfx942", "gfx90a", "gfx1201", "gfx950"]
TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "i8": np.int8,
         "i32": np.int32, "i64": np.int64}
DYNAMIC = [91, 37]  # what the dimensions written as ? are, by their place from the end of the shape
OPERATORS = {"muli": int.__mul__, "addi": int.__add__, "subi": int.__sub__, "divui": int.__floordiv__,
             "ceildivui": lambda x, y: -(-x // y), "shrui": int.__rshift__, "minui": min, "maxui": max}


class Array:
    """A tensor type as written, `33x100xf32`."""

    def __init__(self, text):
        *shape, kind = text.split("x")
        if kind == "" or kind[0].isdigit():
            raise ValueError(f"what is tensor<{text}>?")
        self.shape = [DYNAMIC[~place] if size == "?" else int(size) for place, size in enumerate(shape, -len(shape))]
        self.type = np.dtype(TYPES[kind])
        self.bytes = math.prod(self.shape) * self.type.itemsize


class Kernel:
    """An entry point: its workgroup's size and how to count workgroups."""

    def __init__(self, size):
        self.size, self.arguments, self.lines = size, [], []


class Program:
    """One function: its lines and its types."""

    def __init__(self, name, declaration):
        inputs, outputs = declaration.split("->")
        self.name, self.lines = name, []
        self.inputs = [Array(text) for text in re.findall(r"tensor<([^>]+)>", inputs)]
        self.outputs = [Array(text) for text in re.findall(r"tensor<([^>]+)>", outputs)]


EXPORT = re.compile(r"hal\.executable\.export public @(\S+) .*count\(([^)]*)\)")
SIZE = re.compile(r"workgroup_size = \[(\d+) : index, (\d+) : index, (\d+) : index\]")
FUNCTION = re.compile(r"  util\.func public @(\w+)\(.*iree\.abi\.declaration = \"sync func @\w+(\(.*\))\"")


def read_module(text):
    """The functions and kernels of the program in text, and its maps."""
    programs, kernels, maps = [], {}, {}
    export, function = None, None
    for line in text.splitlines():
        if found := re.match(r"#(\w+) = affine_map<\(.*?\)(?:\[(.*?)\])? -> \((.*)\)>$", line):
            maps[found[1]] = ([name.strip() for name in (found[2] or "").split(",")], found[3])
        elif found := EXPORT.search(line):
            export = found[1]
            kernels[export] = Kernel(None)
            kernels[export].arguments = re.findall(r"(%\w+): index", found[2])
        elif export and (found := SIZE.search(line)):
            kernels[export].size = [int(size) for size in found.groups()]
            export = None
        elif export:
            kernels[export].lines.append(line.strip())
        elif found := FUNCTION.match(line):
            function = Program(found[1], found[2])
            programs.append(function)
        elif line == "  }":
            function = None
        elif function:
            function.lines.append(line.strip())
    return programs, kernels, maps


def ceildiv(x, y):
    return -(-x // y)


def evaluate(line, values, maps):
    """Carries out a line that computes a number; false where it is another."""
    if found := re.match(r"(%\w+) = arith\.constant (-?\d+) : ", line):
        values[found[1]] = int(found[2])
    elif found := re.match(r"(%\w+) = arith\.(\w+) (%\w+), (%\w+) (?:overflow<\S+> )?: ", line):
        values[found[1]] = OPERATORS[found[2]](values[found[3]], values[found[4]])
    elif found := re.match(r"(%\w+) = arith\.(?:index_castui|index_cast|extui) (%\w+) : ", line):
        values[found[1]] = values[found[2]]
    elif found := re.match(r"(%\w+) = arith\.trunci (%\w+) : i64 to i32", line):
        values[found[1]] = values[found[2]] & 0xFFFFFFFF
    elif found := re.match(r"(%\w+) = affine\.(min|max|apply) #(\w+)\(\)\[(.*)\]", line):
        symbols, expressions = maps[found[3]]
        scope = dict(zip(symbols, (values[name.strip()] for name in found[4].split(","))))
        results = []
        for expression in expressions.split(","):
            # Python has no operator that rounds up: a divisor is always the last word of its term.
            expression = re.sub(r"(\([^()]*\)|\w+) ceildiv (\w+)", r"ceildiv(\1, \2)", expression)
            results.append(eval(expression.replace("floordiv", "//").replace("mod", "%"), {"ceildiv": ceildiv}, scope))
        values[found[1]] = (max if found[2] == "max" else min)(results)
    else:
        return False
    return True


def count_groups(kernel, arguments, maps):
    values = dict(zip(kernel.arguments, arguments))
    for line in kernel.lines:
        if found := re.match(r"hal\.return (%\w+), (%\w+), (%\w+) :", line):
            return [values[found[part]] for part in (1, 2, 3)]
        evaluate(line, values, maps)
    raise ValueError("a kernel without a count of workgroups")


class Host:
    """What a function does, as lines for launch.c."""

    def __init__(self, program, kernels, maps, folder):
        self.program, self.kernels, self.maps, self.folder = program, kernels, maps, folder
        self.values, self.buffers, self.script, self.outputs = {}, {}, [], []
        self.dispatch = None

    def results(self):
        return [np.fromfile(file, array.type, math.prod(array.shape), offset=offset).reshape(array.shape)
                for (file, offset), array in zip(self.outputs, self.program.outputs)]

    def add_buffer(self, value, size, file):
        """Memory for a value of the program; buffers are names of launch.c and offsets."""
        self.buffers[value] = value[1:], 0
        self.script.append(f"buffer {value[1:]} {max(size, 1)} {file}")

    def step(self, line):
        if self.dispatch is not None:
            self.add_binding(line)
        elif evaluate(line, self.values, self.maps):
            pass
        elif found := re.match(r"(%\w+) = hal\.buffer_view\.dim<%arg(\d+) : !hal.buffer_view>\[(\d+)\]", line):
            self.values[found[1]] = self.program.inputs[int(found[2])].shape[int(found[3])]
        elif found := re.match(r"(%\w+) = stream\.tensor\.import .*%arg(\d+) : ", line):
            number = int(found[2])
            self.add_buffer(found[1], self.program.inputs[number].bytes, self.folder / f"in{number}")
        elif found := re.match(r"(%\w+), %\w+ = stream\.resource\.alloca .*\{(%\w+)\} => !stream\.timepoint", line):
            self.add_buffer(found[1], self.values[found[2]], "-")
        elif found := re.match(r"(%\w+) = stream\.resource\.subview (%\w+)\[(%\w+)\] : ", line):
            name, offset = self.buffers[found[2]]
            self.buffers[found[1]] = name, offset + self.values[found[3]]
        elif "stream.cmd.execute" in line:
            for name, inner in re.findall(r"(%\w+) as (%\w+): ", line):
                self.buffers[inner] = self.buffers[name]
        elif line.startswith("stream.cmd.dispatch"):
            self.begin_dispatch(line)
        elif found := re.match(r"(%\w+)(?::\d)? = stream\.timepoint\.await .* => (.*) : ", line):
            names = re.findall(r"%\w+", found[2])
            for place, name in enumerate(names):
                self.buffers[found[1] if len(names) == 1 else f"{found[1]}#{place}"] = self.buffers[name]
        elif found := re.match(r"%\w+ = stream\.tensor\.export .*?\) (%[\w#]+) : ", line):
            name, offset = self.buffers[found[1]]
            self.outputs.append((self.folder / f"{name}.out", offset))
            self.script.append(f"save {name} {self.folder / name}.out")
        elif re.match(r"stream\.cmd\.|%\w+ = stream\.(async|resource\.(constants|pack|alloc\b))", line):
            raise ValueError(f"{self.program.name}: what does '{line[:100]}' do?")

    def begin_dispatch(self, line):
        found = re.match(r"stream\.cmd\.dispatch @\w+::@\w+::@(\w+)(?:\[(.*?)\])?(?:\((.*?) : .*\))? \{$", line)
        workload = [self.values[name] for name in re.findall(r"%\w+", found[2] or "")]
        kernel = self.kernels[found[1]]
        counts = count_groups(kernel, workload, self.maps)
        grid = [count * size for count, size in zip(counts, kernel.size)]
        self.script += [f"run {found[1]} 1 1 0 0", f"size {' '.join(map(str, grid + kernel.size))}"]
        self.dispatch = [f"i32 {self.values[name]}" for name in re.findall(r"%\w+", found[3] or "")]

    def add_binding(self, line):
        if line == "}":
            self.script += [*self.dispatch, "go"]
            self.dispatch = None
            return
        found = re.match(r"\w\w (%\w+)\[(%\w+) for %\w+\]", line)
        name, offset = self.buffers[found[1]]
        self.script.append(f"at {name} {offset + self.values[found[2]]}")


def random_array(array, random):
    if array.type.kind == "i":
        limit = 100 if array.type.itemsize == 4 else 2 ** (8 * array.type.itemsize - 1)
        return random.integers(-limit, limit, array.shape, array.type)
    return random.standard_normal(array.shape).astype(array.type)


def compile_kernels(target, compiler, folder, source=HERE / "iree" / "kernels.mlir", flags=()):
    """The code object and the program after its last phase on the way."""
    command = [compiler, "--iree-hal-target-backends=rocm", f"--iree-rocm-target={target}",
               "--iree-input-demote-f64-to-f32=false", *flags, str(source), "-o", str(folder / "kernels.vmfb"),
               f"--iree-hal-dump-executable-binaries-to={folder}", f"--dump-compilation-phases-to={folder}"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    objects = list(folder.glob("*.hsaco"))
    if result.returncode or len(objects) != 1:
        sys.exit(f"{' '.join(command)}\n{result.stderr[:2000]}")
    return objects[0], next(folder.glob("*.executable-targets.mlir")).read_text()


def difference(program, inputs, results):
    """What is wrong with a function's results, or None."""
    reference, tolerance = iree_references.REFERENCES[program.name]
    expected = reference(*inputs)
    for number, ours in enumerate(results):
        theirs = np.asarray(expected[number] if isinstance(expected, tuple) else expected)
        if theirs.shape != ours.shape:
            return f"result {number}: numpy's is {theirs.shape}, the program's {ours.shape}"
        if ours.dtype.kind == "i":
            wrong = ours != theirs
        else:
            ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
            wrong = ~(np.abs(ours - theirs) <= tolerance * (np.abs(theirs) + iree_references.scale(theirs)))
        if wrong.any():
            at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            return (f"result {number}{[int(i) for i in at]} is {ours[at]!r}, not {theirs[at]!r}; {int(wrong.sum())} of "
                    f"{wrong.size} differ")
    return None


def run_target(options, target, folder):
    """Runs all functions on a target; their number and what failed."""
    folder = folder / target
    folder.mkdir(parents=True, exist_ok=True)
    code_object, text = compile_kernels(target, options.compiler, folder)
    programs, kernels, maps = read_module(text)
    hosts, lines = [], [f"load {code_object}"]
    for program in programs:
        if options.only and program.name not in options.only:
            continue
        place = folder / program.name
        place.mkdir(exist_ok=True)
        host = Host(program, kernels, maps, place)
        random = np.random.default_rng(sum(map(ord, program.name)))
        inputs = [random_array(array, random) for array in program.inputs]
        inputs = iree_references.PREPARE.get(program.name, lambda *values: values)(*inputs)
        for number, value in enumerate(inputs):
            value.tofile(place / f"in{number}")
        for line in program.lines:
            host.step(line)
        lines += [*host.script, "release"]
        hosts.append((host, inputs, sum(line == "go" for line in host.script)))
    (folder / "script").write_text("\n".join(lines) + "\n")
    failures, messages, count = [], [], 2 * len(hosts)
    for check in ([], ["--check=all"]):
        launch(options, [f"--target={target}", *check], lines, hosts, failures, messages)
    if target == "gfx90a":
        count += run_runtime(options, folder, hosts, failures, messages)
    return count, failures, messages


def launch(options, how, script, hosts, failures, messages):
    """Runs the script and adds what was wrong."""
    result = suite.launch(options.build, how, script)
    said = iter(result.stdout.splitlines())
    messages += result.stderr.strip().splitlines()
    for host, inputs, launches in hosts:
        states = [next(said, f"not run (exit {result.returncode})") for _ in range(launches)]
        bad = [state for state in states if not state.startswith("ok")]
        if reason := bad[0] if bad else difference(host.program, inputs, host.results()):
            failures.append(f"{host.program.name} {' '.join(how)}: {reason}")
        for file, _ in host.outputs:
            file.unlink(missing_ok=True)


def run_runtime(options, folder, hosts, failures, messages):
    """Runs the functions with IREE's runtime and adds what was wrong; how many ran."""
    library = folder / "libamdhip64.so"
    subprocess.run(["cc", "-O2", "-fPIC", "-shared", str(HERE / "hip_newer.c"), "-o", str(library),
                    "-l:libamdhip64.so.5"], check=True)
    # Files of numpy's know no bfloat16.
    hosts = [entry for entry in hosts if all(value.dtype.kind in "if" for value in entry[1])]
    for host, inputs, _ in hosts:
        for number, value in enumerate(inputs):
            np.save(host.folder / f"input{number}.npy", value)
    program = [sys.executable, HERE / "iree_runtime.py", library, folder / "kernels.vmfb"]
    program += [f"{host.program.name}:{host.folder}" for host, _, _ in hosts]
    result = suite.softgpu(options.build, ["--target=gfx90a"], program)
    messages += result.stderr.strip().splitlines()
    done = result.stdout.splitlines()
    for host, inputs, _ in hosts:
        reason = f"not run (exit {result.returncode})"
        if f"ok {host.program.name}" in done:
            results = [np.load(file) for file in sorted(host.folder.glob("result*.npy"))]
            reason = difference(host.program, inputs, results)
        if reason:
            failures.append(f"{host.program.name} gfx90a in IREE's runtime: {reason}")
    return len(hosts)


def main():
    parser = suite.arguments(__doc__)
    parser.add_argument("--compiler", default=str(pathlib.Path(sys.executable).parent / "iree-compile"))
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the code objects, inputs and results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="iree-outside-") as name:
        folder = options.keep or pathlib.Path(name)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            run = functools.partial(run_target, options, folder=folder.resolve())
            results = list(pool.map(run, options.target or TARGETS))
    suite.finish_targets(results)


if __name__ == "__main__":
    main()
