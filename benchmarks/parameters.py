"""How a model starts whose weights are in a file of their own, next to one that has them in the module.

    .venv/bin/python benchmarks/parameters.py --tools build/tools [--width 2048] [--layers 8] [--limit 1.3]
    .venv/bin/python benchmarks/parameters.py --tools build/tools --width 8192 --external --most-memory 50

A chain of products of a vector by square weights, run once by iree-run-module: process start, loading, first result.
Prints least processor and elapsed milliseconds over several rounds in which all take turns, the pages that were faulted
in, and the most memory that was resident beside the weights. With --limit it exits with 1 when an archive takes that
many times the processor time of the module, with --most-memory when one needs more MiB beside its weights.
"""

import argparse
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
# The same kernels for both: weights in archives stay as they are, those in modules would be packed.
FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
         "--iree-opt-data-tiling=false"]


def program(width, layers, external):
    """The model as MLIR: weights by name, or elided as resources, which write_inline fills in."""
    weight, vector = f"tensor<{width}x{width}xf32>", f"tensor<1x{width}xf32>"
    lines, value = [], "%x"
    if external:
        lines += [f'util.global private @w{i} = #flow.parameter.named<"m"::"w{i}"> : {weight}' for i in range(layers)]
    lines.append(f"func.func @main(%x: {vector}) -> {vector} {{")
    for i in range(layers):
        source = f"util.global.load @w{i}" if external else f"stablehlo.constant dense_resource<w{i}>"
        lines.append(f"  %w{i} = {source} : {weight}")
        lines.append(f"  %v{i} = stablehlo.dot_general {value}, %w{i}, contracting_dims = [1] x [0] : "
                     f"({vector}, {weight}) -> {vector}")
        value = f"%v{i}"
    return "\n".join([*lines, f"  return {value} : {vector}", "}"])


def weights(width, index):
    """Rows that differ, so that nothing is folded, in numbers that stay small."""
    row = struct.pack(f"<{width}f", *((1 + (k + index) % 7) / (4 * width) for k in range(width)))
    return row * width


def write_inline(path, width, layers):
    """The model with its weights in it."""
    with open(path, "w", encoding="ascii") as file:
        file.write(program(width, layers, False) + "\n{-# dialect_resources: { builtin: {\n")
        for i in range(layers):
            file.write(f'w{i}: "0x10000000{weights(width, i).hex()}"' + (",\n" if i + 1 < layers else "\n"))
        file.write("} } #-}\n")


def write_safetensors(path, width, layers):
    """The weights alone, which other archives are converted from."""
    size = width * width * 4
    header = {f"w{i}": {"dtype": "F32", "shape": [width, width], "data_offsets": [i * size, (i + 1) * size]}
              for i in range(layers)}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64 + 56)  # data begins at a multiple of 64
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for i in range(layers):
            file.write(weights(width, i))


def rewrite(path):
    """Writes a file again: the page cache has larger pages of what was written in larger pieces."""
    copy = path.with_suffix(".copy")
    with open(path, "rb") as source, open(copy, "wb") as target:
        shutil.copyfileobj(source, target, 1 << 24)
    copy.replace(path)


def run_once(command):
    """Processor and elapsed seconds, page faults and most resident bytes of a process that must end well."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"exit {process.returncode}: {' '.join(map(str, command))}")
    return (usage.ru_utime + usage.ru_stime, time.perf_counter() - begin, usage.ru_minflt + usage.ru_majflt,
            usage.ru_maxrss * 1024)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, type=pathlib.Path, help="folder of the tools")
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--external", action="store_true", help="archives only")
    parser.add_argument("--limit", type=float, help="most times the module's processor time")
    parser.add_argument("--most-memory", type=float, help="most MiB beside the weights")
    arguments = parser.parse_args()
    tools, width, layers = arguments.tools, arguments.width, arguments.layers
    size = width * width * 4 * layers
    bad = 0
    with tempfile.TemporaryDirectory(prefix="iree-parameters-") as folder:
        work = pathlib.Path(folder)
        write_safetensors(work / "w.safetensors", width, layers)
        subprocess.run([tools / "iree-convert-parameters", "--quiet", f"--parameters={work}/w.safetensors",
                        f"--output={work}/w.irpa"], check=True)
        (work / "external.mlir").write_text(program(width, layers, True), encoding="ascii")
        run = [tools / "iree-run-module", f"--input=1x{width}xf32=1", "--output=", "--module_mode=mmap"]
        subjects = {}
        if not arguments.external:
            write_inline(work / "inline.mlir", width, layers)
            subjects["in the module"] = [f"--module={work}/inline.vmfb"]
        for kind in ("irpa", "safetensors"):
            subjects[kind] = [f"--module={work}/external.vmfb", f"--parameters=m={work}/w.{kind}"]
        for name in ("external",) if arguments.external else ("external", "inline"):
            subprocess.run([tools / "iree-compile", *FLAGS, work / f"{name}.mlir", "-o", work / f"{name}.vmfb"],
                           check=True)
        for path in [*work.glob("*.vmfb"), *work.glob("w.*")]:
            rewrite(path)
        runs = {(device, name): [] for device in ("local-sync", "local-task") for name in subjects}
        for _ in range(arguments.rounds):
            for (device, name), results in runs.items():
                results.append(run_once([*run, f"--device={device}", *subjects[name]]))
    print(f"{size >> 20} MiB of weights")
    print(f"{'device':<12} {'weights':<14} {'CPU ms':>8} {'ms':>8} {'faults':>8} {'MiB more':>9}")
    for (device, name), results in runs.items():
        cpu, wall, faults, memory = (min(r[k] for r in results) for k in range(4))
        more = (max(r[3] for r in results) - size) / 2**20
        print(f"{device:<12} {name:<14} {1e3 * cpu:8.1f} {1e3 * wall:8.1f} {faults:8} {more:9.1f}")
        base = runs.get((device, "in the module"))
        if arguments.limit and base and cpu > arguments.limit * min(r[0] for r in base) + 0.01:
            bad += 1
            print(f"FAILED {device}, {name}: more than {arguments.limit} times the module's time")
        if arguments.most_memory and more > arguments.most_memory:
            bad += 1
            print(f"FAILED {device}, {name}: more than {arguments.most_memory} MiB beside the weights")
    print(f"{len(runs) - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
