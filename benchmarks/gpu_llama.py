"""One token of a stack after Llama on a GPU of this machine, next to the reading of its weights.

    .venv/bin/python benchmarks/gpu_llama.py --tools build/tools --device cuda --target sm_90 [--preset 3.5GB]

Weights are random and made here, in --work (3.5 GB of f16 in a minute); nothing else is needed. First a small stack is
checked against NumPy, then `decode` is timed with more and more of a past. A token reads each weight but the
embedding's once; what reading takes is the time of a reduction over 1 GiB, or what --bandwidth says. Exits with 1 when
a result is wrong, or with --limit when a token takes more than so many times the reading.
"""

import argparse
import pathlib
import statistics
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks" / "models")]
import llama  # noqa: E402
from compare import machine, table  # noqa: E402
from gpu import DRIVERS, Device, card  # noqa: E402
from tools import ToolError, Tools, call  # noqa: E402

TOLERANCES = {"f32": 1e-5, "f16": 5e-3, "bf16": 3e-2}
ROWS, COLUMNS = 65536, 8192  # of what is reduced: 1 GiB of f16


def check_small(device, work, form):
    """The largest error of the tiny stack's rows."""
    shape, name = llama.PRESETS["tiny"], f"llama_tiny_{form}"
    weights = llama.write(shape, form, work, name, archive=True)
    tokens = np.random.default_rng(5).integers(0, shape.vocabulary, 12)
    np.save(work / "tokens.npy", tokens)
    module, out = work / f"{name}_{device.target}.vmfb", work / "rows.npy"
    out.unlink(missing_ok=True)
    device.compile(work / f"{name}.mlir", module)
    flags = [*device.run_flags, f"--parameters=model={work / name}.safetensors", f"--output=@{out}"]
    call(device.tools.run(module, "follow", [f"@{work / 'tokens.npy'}", "7"], flags))
    expected = llama.reference(shape, weights, tokens, 7)
    return float(np.abs(np.load(out) - expected).max() / np.abs(expected).max())


def reading_rate(device, work, rounds):
    """Gigabytes a second, of a reduction."""
    source = work / "reading.mlir"
    source.write_text(f"""func.func @main(%x: tensor<{ROWS}x{COLUMNS}xf16>) -> tensor<{ROWS}xf16> {{
  %0 = stablehlo.constant dense<0xFC00> : tensor<f16>
  %1 = stablehlo.reduce(%x init: %0) applies stablehlo.maximum across dimensions = [1]
      : (tensor<{ROWS}x{COLUMNS}xf16>, tensor<f16>) -> tensor<{ROWS}xf16>
  return %1 : tensor<{ROWS}xf16>
}}
""", encoding="ascii")
    module = work / f"reading_{device.target}.vmfb"
    device.compile(source, module)
    samples = device.samples(module, "main", [f"{ROWS}x{COLUMNS}xf16=1"], rounds)
    return 2 * ROWS * COLUMNS / min(samples) * 1e-6


def prepare(device, work, preset, form):
    """The module of the large stack and its archive, made unless they are there and as long as they must be."""
    shape, name = llama.PRESETS[preset], f"llama_{preset}_{form}"
    source, archive = work / f"{name}.mlir", work / f"{name}.safetensors"
    text = llama.Program(shape, llama.Weights(shape, form), archive=True).text()
    if not source.exists() or source.read_text(encoding="ascii") != text:
        source.write_text(text, encoding="ascii")
    if not archive.exists():
        partial = archive.with_suffix(".partial")
        llama.write_archive(llama.Weights(shape, form), partial)
        partial.rename(archive)
    module = work / f"{name}_{device.target}.vmfb"
    device.compile(source, module)
    return module, archive


def bytes_read(preset, form):
    """Of the weights, by a token."""
    tensors = llama.Weights(llama.PRESETS[preset], form).tensors()
    return sum(int(np.prod(sizes)) * np.dtype(llama.TYPES[kind]).itemsize
               for name, kind, sizes, _ in tensors if name != "embedding")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, help="folder of iree-compile and the others")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/models"))
    parser.add_argument("--device", default="cuda", help="as of iree-run-module: cuda, hip://0, amdgpu")
    parser.add_argument("--target", required=True, help="what to compile for: sm_90, gfx942")
    parser.add_argument("--flag", action="append", default=[], help="one more flag for what runs; repeatable")
    parser.add_argument("--preset", choices=llama.PRESETS, default="3.5GB")
    parser.add_argument("--weights", choices=TOLERANCES, default="f16")
    parser.add_argument("--bandwidth", type=float, help="GB/s, instead of a reduction's")
    parser.add_argument("--limit", type=float, help="most times the reading of the weights that pass")
    parser.add_argument("--rounds", type=int, default=10)
    arguments = parser.parse_args()
    if arguments.device.split(":")[0] not in DRIVERS:
        parser.error(f"--device={arguments.device}: have {', '.join(DRIVERS)}")
    device = Device(Tools(arguments.tools), arguments.device, arguments.target, arguments.flag)
    work, preset, form = arguments.work, arguments.preset, arguments.weights
    work.mkdir(parents=True, exist_ok=True)
    try:
        error = check_small(device, work, form)
        rate = arguments.bandwidth or reading_rate(device, work, arguments.rounds)
        module, archive = prepare(device, work, preset, form)
        size, room, rows, slow = bytes_read(preset, form), llama.PRESETS[preset].room, [], False
        device.run_flags.append(f"--parameters=model={archive}")
        for position in (0, room // 4, room - 1):
            samples = device.samples(module, "decode_at", ["1xi64=1", str(position)], arguments.rounds)
            median = statistics.median(samples)
            ratio = median / (size / rate * 1e-6)
            slow |= bool(arguments.limit) and ratio > arguments.limit
            rows.append([str(position), f"{min(samples):.3f} / {median:.3f}", f"{size / median * 1e-6:.0f}",
                         f"{ratio:.2f}"])
    except ToolError as failure:
        sys.exit(str(failure))
    print(f"Machine: {machine()}; {card(device)}; {arguments.device}, {arguments.target}.")
    print(f"The tiny stack is {error:.1e} of its largest result off. Reading: {rate:.0f} GB/s; {size * 1e-9:.2f} GB of "
          f"weights a token.")
    print(table(f"One token, {preset}, {form}", ["past", "ms, least / median", "GB/s", "times the reading"], rows))
    sys.exit(1 if slow or error > TOLERANCES[form] else 0)


if __name__ == "__main__":
    main()
