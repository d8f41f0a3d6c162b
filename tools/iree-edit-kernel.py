#!/usr/bin/env python3
"""Edits a kernel of an AMD GPU by hand and says what became of it, in one command.

  iree-edit-kernel model.mlir --target=gfx1100                              lists the kernels
  iree-edit-kernel model.mlir --target=gfx1100 --kernel=main_dispatch_3     opens $EDITOR on its assembly
  iree-edit-kernel model.mlir --target=gfx1100 --kernel=main_dispatch_3 --edited=new.rocmasm
  iree-edit-kernel model.mlir --target=gfx1100 --kernel=main_dispatch_3 --run='sed -i s/vmcnt(0)/vmcnt(1)/'

It dumps the kernel, assembles and links what was edited, puts it back into the module, runs both kernels on the same
random data on a software GPU under all checks, compares their results, and prints registers, occupancy, instructions
and cycles of both. Nothing but the work folder is written; edited.vmfb in it is the whole program with the edited
kernel. The exit code is 0 when the results are the same, and 1 when they are not or a step fails.
"""

import argparse
import os
import pathlib
import random
import re
import shlex
import shutil
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CLASSES = [  # the first that matches a mnemonic
    ("matrix", r"v_(wmma|swmmac|mfma|smfmac)"), ("vector", r"v_"), ("workgroup memory", r"ds_"),
    ("vector memory", r"(global|flat|buffer|scratch|tbuffer|image)_"),
    ("scalar memory", r"s_(load|store|buffer_load|scratch)"),
    ("waits", r"s_wait|s_barrier"), ("branches", r"s_(branch|cbranch|setpc|swappc|call|endpgm)"),
    ("hints", r"s_(nop|delay_alu|clause|sendmsg|code_end|set_inst|icache|dcache|sleep|setprio)"), ("scalar", r"s_"),
]
REGISTERS = ["vgpr_count", "agpr_count", "sgpr_count", "vgpr_spill_count", "sgpr_spill_count",
             "group_segment_fixed_size", "private_segment_fixed_size"]
INPUT = re.compile(r"--input=((?:\d+x)*)([a-z]+)(\d+)\b")
# The function without arguments in a dumped benchmark, whose operands would be made, and counted.
BENCHMARK = re.compile(r"^  func\.func @\S+_benchmark\(\) \{$.*?^  \}\n", re.MULTILINE | re.DOTALL)


class Failure(Exception):
    """What ends the command, in one message."""


def tool(name):
    """A program of this package, beside this one."""
    path = HERE / name
    if not path.exists():
        raise Failure(f"{name} is not beside iree-edit-kernel, in {HERE}")
    return path


def llvm(name, needed=True):
    for candidate in (f"{name}-22", name):
        path = shutil.which(candidate) or shutil.which(candidate, path="/usr/lib/llvm-22/bin")
        if path:
            return path
    if needed:
        raise Failure(f"{name} of LLVM 22 is needed and was not found (Debian: clang-22, lld-22, llvm-22)")
    return None


def run(what, *command, **options):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    if result.returncode:
        raise Failure(f"{what} failed: {shlex.join(map(str, command))}\n{(result.stderr + result.stdout).strip()}")
    return result


def compile_module(options, source, output, *flags):
    run("compiling", tool("iree-compile"), source, "--iree-hal-target-device=amdgpu",
        f"--iree-rocm-target={options.target}", *options.flag, *flags, "-o", output)


#===-- The kernel --------------------------------------------------------------------------------------------------===#


def dump(options, work):
    """Compiles the program; the kernels by name: their assembly."""
    folder = work / "dump"
    shutil.rmtree(folder, ignore_errors=True)
    compile_module(options, options.model, work / "original.vmfb", f"--iree-hal-dump-executable-files-to={folder}")
    kernels = {}
    for path in sorted(folder.glob("*.rocmasm")):
        label = re.search(r"^\s*\.globl\s+(\S+)", path.read_text(), re.MULTILINE)
        kernels[label[1] if label else path.stem] = path
    if not kernels:
        raise Failure(f"{options.model} has no kernels for {options.target}")
    return kernels


def choose(options, kernels):
    """The kernel's name; None where none is asked for."""
    listed = "\n".join(f"  {name}" for name in kernels)
    if not options.kernel:
        print(f"kernels, of which --kernel= takes a name or how it begins up to an underscore:\n{listed}")
        return None
    names = [name for name in kernels if name == options.kernel or name.startswith(f"{options.kernel}_")]
    if len(names) == 1:
        return names[0]
    found = "several kernels" if names else "no kernel"
    raise Failure(f"--kernel={options.kernel} is the beginning of {found}, up to an underscore; there are\n{listed}")


def edit(options, original, edited):
    """The edited assembly, from a file, a command or an editor."""
    shutil.copyfile(options.edited or original, edited)
    if options.edited:
        return
    editor = options.run or os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise Failure("--edited=FILE or --run=COMMAND is needed where $EDITOR is not set")
    if subprocess.run([*shlex.split(editor), str(edited)], check=False).returncode:
        raise Failure(f"'{editor}' failed")
    if edited.read_bytes() == pathlib.Path(original).read_bytes():
        raise Failure("the assembly was not changed")


def assemble(options, source, output):
    run("assembling", llvm("clang"), "-target", "amdgcn-amd-amdhsa", f"-mcpu={options.target}", "-x", "assembler", "-c",
        source, "-o", f"{output}.o")
    run("linking", llvm("ld.lld"), "-shared", f"{output}.o", "-o", output)


#===-- Random data -------------------------------------------------------------------------------------------------===#


def write_inputs(text, seed, work):
    """Flags for the inputs that a kernel's own program names, from files of random values."""
    numbers, flags = random.Random(seed), []
    inputs = INPUT.findall(text.splitlines()[0])
    if not inputs:
        raise Failure("the kernel takes no tensors of known sizes; --input= and --function= give the whole program's")
    for index, (dims, kind, bits) in enumerate(inputs):
        count = 1
        for dim in dims.split("x")[:-1]:
            count *= int(dim)
        path = work / f"input{index}.bin"
        if kind == "f" and bits in ("16", "32", "64"):
            letter = {"16": "e", "32": "f", "64": "d"}[bits]
            data = struct.pack(f"<{count}{letter}", *(numbers.uniform(-1, 1) for _ in range(count)))
        elif kind == "bf":
            data = b"".join(struct.pack("<f", numbers.uniform(-1, 1))[2:] for _ in range(count))
        else:  # whole numbers that are indices as often as not
            size = max(int(bits) // 8, 1)
            data = b"".join(numbers.randrange(2 if bits == "1" else 8).to_bytes(size, "little") for _ in range(count))
        path.write_bytes(data)
        flags.append(f"--input={dims}{kind}{bits}=@{path}")
    return flags


#===-- Running -----------------------------------------------------------------------------------------------------===#


def gpu(options, *flags):
    return [tool("iree-softgpu"), f"--target={options.target}", *flags, "--"]


def verify(options, modules, call):
    """Both modules on a software GPU under all checks; whether results are the same, and what was said."""
    command = [*gpu(options, "--check=all"), tool("iree-bisect"), "--reference_device=amdgpu", "--tested_device=amdgpu",
               f"--reference_module={modules[0]}", f"--tested_module={modules[1]}", f"--absolute={options.absolute}",
               f"--relative={options.relative}", *call]
    if options.type:
        command.append(f"--type={options.type}")
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    return result.returncode == 0, (result.stdout + result.stderr).strip()


def result_count(options, module):
    """Of the function that is called, as the module declares it."""
    name = re.escape(options.function) if options.function else r"[^(\s]+"
    text = run("reading", tool("iree-dump-module"), module).stdout
    declaration = re.search(rf"iree\.abi\.declaration: .*@{name}\(.*", text)
    return declaration[0].count("%output") if declaration else 1


def counters(options, module, call):
    """What the software GPU counts in one call; empty when it does not come to its end, which is said."""
    command = [*gpu(options, "--stats"), tool("iree-run-module"), "--device=amdgpu", f"--module={module}", *call,
               *["--output="] * result_count(options, module)]  # results stay on the GPU: to bring them would count
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if result.returncode:
        print(f"\nnothing is counted of {module}, which fails: {result.stderr.strip()}")
        return {}
    return {match[2]: match[1] for match in re.finditer(r"^ +([\d.]+%?) (.*)$", result.stderr, re.MULTILINE)}


def measure(options, module, call):
    result = run("measuring", tool("iree-benchmark-module"), f"--device={options.measure}", f"--module={module}", *call)
    match = re.search(r"real_time\s+([\d.]+ \w+)", result.stdout)
    return match[1] if match else "?"


#===-- Comparison --------------------------------------------------------------------------------------------------===#


def registers(path, name):
    """What the code object says of the kernel."""
    notes = run("reading", llvm("llvm-readelf"), "--notes", path).stdout
    kernels = [part for part in re.split(r"(?m)^ {2}- ", notes) if re.search(rf"\.name: +{re.escape(name)}\s", part)]
    text = kernels[0] if kernels else ""
    found = {key: re.search(rf"\.{key}: +(\d+)", text) for key in REGISTERS}
    return {key: match[1] for key, match in found.items() if match}


def instructions(path, name):
    """The kernel's instructions as text, and how many there are of each class."""
    text = run("disassembling", llvm("llvm-objdump"), "-d", "--no-show-raw-insn", f"--disassemble-symbols={name}", path)
    code = [line.split("//")[0].strip() for line in text.stdout.splitlines() if line.startswith("\t")]
    code = [line for line in code if line and not line.startswith("s_code_end")]
    counts = {name: 0 for name, _ in CLASSES}
    for line in code:
        counts[next((name for name, pattern in CLASSES if re.match(pattern, line)), "scalar")] += 1
    return code, counts


def modelled_cycles(options, code, work):
    """LLVM's scheduling model over the code as it stands, each instruction once; None where there is no such model."""
    mca = llvm("llvm-mca", needed=False)
    if not mca:
        return None
    path = work / "kernel.mca.s"
    path.write_text("\n".join(code) + "\n")
    command = [mca, "-mtriple=amdgcn", f"-mcpu={options.target}", "-iterations=1", str(path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    match = re.search(r"Total Cycles:\s+(\d+)", result.stdout)
    return match[1] if result.returncode == 0 and match else None


def print_table(title, rows):
    rows = [(what, before, after) for what, before, after in rows if before is not None or after is not None]
    if not rows:
        return
    print(f"\n{title}")
    for what, before, after in rows:
        before, after = ("-" if value is None else str(value) for value in (before, after))
        mark = "" if before == after else "  *"
        print(f"  {what:<62} {before:>12} {after:>12}{mark}")


def compare(options, name, objects, modules, call, work):
    print(f"\n{name}, {options.target}: original and edited; * marks what changed")
    sides = [registers(path, name) for path in objects]
    print_table("declared", [(key.replace("_", " "), sides[0].get(key), sides[1].get(key)) for key in REGISTERS])
    mixes = [instructions(path, name) for path in objects]
    print_table("instructions in the code", [("all", len(mixes[0][0]), len(mixes[1][0])),
                                             *((key, mixes[0][1][key], mixes[1][1][key]) for key, _ in CLASSES)])
    cycles = [modelled_cycles(options, code, work) for code, _ in mixes]
    if cycles[0] and cycles[1]:
        print_table("modelled by llvm-mca, each instruction once, memory at its best", [("cycles", *cycles)])
    else:
        print("\nno modelled cycles: llvm-mca was not found, or has no model of this processor")
    counted = [counters(options, module, call) for module in modules]
    keys = [key for key in counted[0] or counted[1] if any(side.get(key, "0") != "0" for side in counted)]
    rows = [(key, *(side.get(key) for side in counted)) for key in keys]
    print_table("counted by the software GPU in one call", rows)
    if options.measure:
        times = [measure(options, module, call) for module in modules]
        print_table(f"measured on {options.measure}", [("time", *times)])


#===-- All of it ---------------------------------------------------------------------------------------------------===#


def work_on(options):
    work = pathlib.Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    kernels = dump(options, work)
    name = choose(options, kernels)
    if not name:
        return 0
    original, edited = kernels[name], work / "edited.rocmasm"
    edit(options, original, edited)
    objects = [work / "original.hsaco", work / "edited.hsaco"]
    for source, output in zip((original, edited), objects):
        assemble(options, source, output)
    substitute = f"--iree-hal-substitute-executable-object={name}={objects[1]}"
    compile_module(options, options.model, work / "edited.vmfb", substitute)
    if options.input:
        modules = [work / "original.vmfb", work / "edited.vmfb"]
        call = [f"--input={value}" for value in options.input]
        call += [f"--function={options.function}"] if options.function else []
    else:
        program = work / "kernel.mlir"
        text = original.with_name(f"{original.stem}_benchmark.mlir").read_text()
        program.write_text(BENCHMARK.sub("", text))
        modules = [work / "kernel.vmfb", work / "kernel_edited.vmfb"]
        compile_module(options, program, modules[0])
        compile_module(options, program, modules[1], substitute)
        call = write_inputs(text, options.seed, work)
    same, said = verify(options, modules, call)
    compare(options, name, objects, modules, call, work)
    print(f"\n{said}")
    verdict = "the results are the same" if same else "THE RESULTS ARE NOT THE SAME"
    print(f"\n{verdict}; {work / 'edited.vmfb'} is the program with the edited kernel")
    return 0 if same else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="what iree-compile takes")
    parser.add_argument("--target", required=True, help="the GPU's processor: gfx1100, ...")
    parser.add_argument("--kernel", help="the kernel's name, or how it begins: main_dispatch_3")
    parser.add_argument("--edited", help="its edited assembly")
    parser.add_argument("--run", help="a command that edits the file whose name it is given, instead of $EDITOR")
    parser.add_argument("--flag", action="append", default=[], help="another flag for iree-compile; repeated")
    parser.add_argument("--input", action="append", default=[],
                        help="run the whole program on this instead of the kernel on random data")
    parser.add_argument("--function", help="the function of the whole program")
    parser.add_argument("--seed", type=int, default=1, help="of the random data")
    parser.add_argument("--type", help="type of results' elements, or `exact`; else what the kernel's name ends with")
    parser.add_argument("--absolute", type=float, default=1e-4, help="tolerance")
    parser.add_argument("--relative", type=float, default=1e-4, help="tolerance relative to the original's results")
    parser.add_argument("--measure", metavar="DEVICE", help="also measure the time of both on this device: amdgpu, hip")
    parser.add_argument("--work", default="edit-kernel", help="folder for everything that is made")
    try:
        return work_on(parser.parse_args())
    except (Failure, OSError) as failure:
        print(f"iree-edit-kernel: {failure}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
