"""Runs code for 64-bit ARM and RISC-V in qemu: run_cross.py --tools DIR [--arch NAME]... [FILE]...

The programs are those of tests/import/lowering, which say what they give. Of each file, the functions of known sizes
that are one list of commands go into one program without a C library (cross.c): their kernels as a static library,
their commands as the module's disassembly has them.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e/lowering"))
import run as lowering  # noqa: E402

FILES = ["linalg/contractions", "stablehlo/reductions", "stablehlo/elementwise", "regions/reduced", "tosa/elementwise",
         "quantized/uniform", "stablehlo/linear"]
VARIANTS = {"aarch64": [[], ["--iree-llvmcpu-target-cpu=neoverse-n1"]],
            "riscv64": [[], ["--iree-llvmcpu-target-cpu-features=+v,+zfh"]]}
PROCESSORS = {"aarch64": "max", "riscv64": "rv64,v=true,vext_spec=v1.0,Zfh=true"}
LLVM = "/usr/lib/llvm-22/bin"
RANGE = re.compile(r"(arg|const)(\d+)\[(\d+) for (\d+)\]")
PLAIN = {"hal_view_unwrap", "hal_stream_begin", "hal_transient_acquire", "hal_alloca", "hal_execute", "hal_constant",
         "hal_transient_release", "hal_stream_end", "hal_view_create", "return", "const_i64"}


def check(command, **options):
    done = subprocess.run(command, capture_output=True, timeout=300, check=False, **options)
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["nothing on stderr"]
        raise RuntimeError(f"{pathlib.Path(command[0]).name}: exit {done.returncode}: {lines[0][-300:]}")
    return done.stdout


def tables_of(text):
    """Of each list of commands its lines, and the lengths of its buffers."""
    tables = {}
    for name, body in re.findall(r"^hal\.commands @(\S+)\(\) \{\n(.*?)^\}", text, re.M | re.S):
        lengths = {key: int(size) for key, size in re.findall(r"// ((?:arg|const)\d+): (\d+) bytes", body)}
        tables[name] = [line.strip() for line in body.splitlines() if not line.strip().startswith("//")], lengths
    return tables


def functions_of(text):
    """Of each function that is one list of commands and nothing else: the list's name, and what its arguments are:
    ("in", i), ("out", i) or None."""
    for name, body in re.findall(r"^vm\.func @(\S+)\([^\n]*\{\n(.*?)^\}", text, re.M | re.S):
        lines = [line.strip().split("  //")[0] for line in body.splitlines() if not line.startswith("^")]
        ops = [re.sub(r"^.*? = ", "", line).split()[0] for line in lines]
        executes = [line for line in lines if line.startswith("hal_execute ")]
        if set(ops) - PLAIN or len(executes) != 1:
            continue
        table, registers = re.match(r"hal_execute %r\d+, @(\S+), \[\], \[(.*)\]", executes[0]).groups()
        roles, inputs = {}, 0
        for line in lines:
            unwrap = re.match(r"(%r\d+), \[\] = hal_view_unwrap (%r\d+)", line)
            if unwrap:
                roles[unwrap[1]] = ("in", int(unwrap[2][2:]))
                inputs += 1
        created = dict(re.findall(r"^(%r\d+) = hal_view_create (%r\d+),", "\n".join(lines), re.M))
        returned = re.search(r"^return \[(.*)\]", "\n".join(lines), re.M)[1].split(", ")
        if any(value not in created for value in returned):
            continue
        for number, value in enumerate(returned):
            roles[created[value]] = ("out", number)
        if len({created[value] for value in returned}) != len(returned):
            continue
        yield name, table, [roles.get(register) for register in registers.split(", ")]


class Cases:
    """The header of cross.c."""

    def __init__(self, entries):
        self.entries, self.buffers, self.commands, self.lists, self.outputs = entries, [], [], [], []

    def buffer(self, size, data=None):
        self.buffers.append((size, data))
        return len(self.buffers) - 1

    def command(self, line, places):
        ranges = [(places[kind + number], offset, length) for kind, number, offset, length in RANGE.findall(line)]
        constants = re.search(r"constants\(([^)]*)\)", line)
        constants = [int(x) for x in constants[1].split(", ") if x] if constants else []
        number = len(self.commands)
        self.lists.append(f"static const binding_t bindings{number}[] = {{"
                          + "".join(f"{{{place}, {offset}, {length}}}, " for place, offset, length in ranges) + "};")
        self.lists.append(f"static const uint32_t constants{number}[] = {{{''.join(f'{x}u, ' for x in constants)}0}};")
        if line.startswith("copy "):
            entry, groups = -1, "0, 0, 0"
        else:
            entry = self.entries[re.match(r"dispatch @\S+::@(\S+) ", line)[1]]
            groups = re.search(r"workgroups\(([^)]*)\)", line)[1]
        self.commands.append(f"{{{entry}, {{{groups}}}, {len(constants)}, {len(ranges)}, constants{number}, "
                             f"bindings{number}}},")

    def text(self, query):
        lines = [f"const iree_hal_executable_library_header_t** {query}(iree_hal_executable_library_version_t max,",
                 "    const iree_hal_executable_environment_v0_t* environment);", f"#define LIBRARY_QUERY {query}"]
        for number, (size, data) in enumerate(self.buffers):
            values = f" = {{{','.join(str(byte) for byte in data)}}}" if data else ""
            lines.append(f"static _Alignas(64) uint8_t buffer{number}[{size + 64}]{values};")
        names = ", ".join(f"buffer{i}" for i in range(len(self.buffers)))
        lines += [f"static uint8_t* const buffers[] = {{{names}}};", *self.lists, "static const command_t commands[] = {",
                  *self.commands, "};", "static const binding_t outputs[] = {"]
        lines += [f"{{{place}, 0, {size}}}," for place, size in self.outputs] + ["};"]
        return "\n".join(lines) + "\n"


def add_function(cases, table, roles, test, constants):
    """False when the list has commands that cross.c does not know."""
    commands, lengths = table
    if any(not line.startswith(("dispatch @", "barrier", "copy ")) for line in commands):
        return False
    places, outputs = {}, {}
    for number, role in enumerate(roles):
        array = test[1][role[1]] if role and role[0] == "in" else None
        size = max(lengths.get(f"arg{number}", 0), array.nbytes if array is not None else 0)
        places[f"arg{number}"] = cases.buffer(size, array.tobytes() if array is not None else None)
        if role and role[0] == "out":
            outputs[role[1]] = places[f"arg{number}"], test[2][role[1]].nbytes
    for key, size in lengths.items():
        if key.startswith("const"):
            places[key] = cases.buffer(size, constants[int(key[5:])][:size])
    for line in commands:
        if line != "barrier":
            cases.command(line, places)
    cases.outputs += [outputs[i] for i in range(len(outputs))]
    return len(outputs) == len(test[2])


def constants_of(text, module):
    """The bytes of each constant."""
    constants = []
    for entry, offset, length in re.findall(r"^hal\.constant #\d+ from @(\S+)\[(\d+) for (\d+)\]", text, re.M):
        constants.append(module.read(entry)[int(offset):int(offset) + int(length)])
    return constants


def plan(path, text, tests):
    """The header and the names of the functions in it."""
    with zipfile.ZipFile(path / "module.vmfb") as module:
        constants = constants_of(text, module)
    entries = {name: i for i, name in enumerate(re.findall(r"^    entry @(\S+) ", text, re.M))}
    cases, names, tables = Cases(entries), [], tables_of(text)
    for name, table, roles in functions_of(text):
        if name in tests and table in tables and not any(sum(tests[name][4], [])):
            before = len(cases.commands), len(cases.outputs)
            if add_function(cases, tables[table], roles, tests[name], constants):
                names.append(name)
            else:
                del cases.commands[before[0]:], cases.outputs[before[1]:]
    return cases, names


def run_file(options, arch, flags, file):
    """Yields the name and the problem, or None, of each function."""
    tests = {name: (name, inputs, outputs, tolerance, scalars)
             for name, _, inputs, outputs, tolerance, scalars in lowering.functions(file)}
    with tempfile.TemporaryDirectory(prefix="iree-cross-") as folder:
        path = pathlib.Path(folder)
        check([f"{options.tools}/iree-compile", "--iree-hal-target-device=local", f"--iree-llvmcpu-target-triple={arch}",
               f"--iree-llvmcpu-static-library-output-path={path}/kernels.o", *flags, file, "-o", path / "module.vmfb"])
        text = check([f"{options.tools}/iree-dump-module", "--output=disassembly", path / "module.vmfb"]).decode()
        query = re.search(r"\n(\w+_library_query)\(", (path / "kernels.h").read_text())[1]
        cases, names = plan(path, text, tests)
        (path / "cases.h").write_text(cases.text(query))
        (path / "assert.h").write_text("#define static_assert _Static_assert\n")
        check([f"{LLVM}/clang", f"--target={arch}-linux-gnu", "-O1", "-ffreestanding", "-fno-builtin", "-nostdlib",
               "-static", "-fuse-ld=lld", f"-B{LLVM}", "-Wno-unused-command-line-argument", "-I", path, "-I",
               ROOT / "include", ROOT / "tests/target/cross.c", path / "kernels.o", "-o", path / "program"])
        data = check([f"qemu-{arch}", "-cpu", PROCESSORS[arch], path / "program"])
        at = 0
        for name in names:
            problem = None
            for number, wanted in enumerate(tests[name][2]):
                found = np.frombuffer(data[at:at + wanted.nbytes], wanted.dtype).reshape(wanted.shape)
                problem = problem or lowering.difference(number, found, wanted, tests[name][3])
                at += wanted.nbytes
            yield name, problem


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, help="folder of iree-compile and iree-dump-module")
    parser.add_argument("--arch", action="append", help="aarch64 and riscv64, unless one is named")
    parser.add_argument("files", nargs="*", help="of tests/import/lowering, without .mlir; all: '*'")
    options = parser.parse_args()
    root = ROOT / "tests/import/lowering"
    files = [file for name in options.files or FILES for file in sorted(root.glob("*/*.mlir" if name == "*" else f"{name}.mlir"))]
    passed = failed = 0
    for arch in options.arch or VARIANTS:
        for number, file in enumerate(files):
            flags = VARIANTS[arch][number % 2]
            try:
                results = list(run_file(options, arch, flags, file))
            except RuntimeError as error:
                results = [("all", str(error))]
            for name, problem in results:
                passed, failed = passed + (problem is None), failed + (problem is not None)
                if problem:
                    print(f"FAILED {arch} {' '.join(flags)} {file.parent.name}/{file.stem}/{name}: {problem}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed != 0 or not passed


if __name__ == "__main__":
    sys.exit(main())
