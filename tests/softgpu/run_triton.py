"""Triton's kernels (triton_kernels.py) on the software GPU, against numpy.

    tests/softgpu/run_triton.py --build build [--target gfx942] [--only NAME] [--keep FOLDER]

The triton package compiles without a GPU; launch.c runs the code objects, once without checks and once under all. A kernel's
arguments are those of its function, then two pointers that only profilers use.
"""

import concurrent.futures
import functools
import math
import os
import pathlib
import sys
import tempfile

import ml_dtypes
import numpy as np

import suite

HERE = pathlib.Path(__file__).resolve().parent
TARGETS = {"gfx1100": 32, "gfx942": 64, "gfx90a": 64, "gfx1201": 32}
TYPES = {np.dtype(np.float16): "fp16", np.dtype(np.float32): "fp32", np.dtype(np.float64): "fp64",
         np.dtype(ml_dtypes.bfloat16): "bf16", np.dtype(np.int8): "i8", np.dtype(np.int32): "i32",
         np.dtype(np.int64): "i64", np.dtype(ml_dtypes.float8_e4m3fnuz): "fp8e4b8",
         np.dtype(ml_dtypes.float8_e4m3fn): "fp8e4nv", np.dtype(ml_dtypes.float8_e5m2): "fp8e5"}
RANDOM = np.random.default_rng(4)


class Out:
    """An argument that the kernel writes; what it shall be, and to which part of itself and its largest it shall be so."""

    def __init__(self, expected, tolerance=0.0, start=None):
        self.expected, self.tolerance = np.ascontiguousarray(expected), tolerance
        self.start = np.zeros_like(self.expected) if start is None else start

    def difference(self, bits):
        ours, theirs = np.frombuffer(bits, self.expected.dtype).reshape(self.expected.shape), self.expected
        if theirs.dtype.kind == "i":
            wrong = ours != theirs
        else:
            ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
            wrong = ~(np.abs(ours - theirs) <= self.tolerance * (np.abs(theirs) + np.abs(theirs).max()))
        if not wrong.any():
            return None
        at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        return f"{[int(i) for i in at]} is {ours[at]!r}, not {theirs[at]!r}; {int(wrong.sum())} of {wrong.size} differ"


class Case:
    """A kernel, by name or itself, with its arguments, its constants, how many programs run, and options of the compiler."""

    def __init__(self, name, grid, arguments, constants=None, targets=tuple(TARGETS), kernel=None, **options):
        self.name, self.kernel, self.grid = name, kernel or name, (*grid, 1, 1)[:3]
        self.arguments, self.constants, self.targets = arguments, constants or {}, targets
        self.options = {"num_warps": 4, **options}


def normal(*shape, kind=np.float32):
    return RANDOM.standard_normal(shape).astype(kind)


def whole(low, high, *shape, kind=np.int32):
    return RANDOM.integers(low, high, shape, kind)


def matmul(name, a, b, kind, tolerance, **options):
    (m, k), n = a.shape, b.shape[1]
    wide = np.int64 if kind == np.int32 else np.float64
    tile = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "KIND": {np.int32: "int32"}.get(kind, "float32")}
    tile |= options.pop("tile", {})
    out = Out((a.astype(wide) @ b.astype(wide)).astype(kind), tolerance)
    return Case(name, (-(-m // tile["BLOCK_M"]), -(-n // tile["BLOCK_N"])), [a, b, out, m, n, k], tile, kernel="matmul",
                **options)


def softmax_of(x):
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def softmax(name, rows, width, kind, tolerance):
    x = normal(rows, width, kind=kind)
    out = Out(softmax_of(x.astype(np.float64)).astype(kind), tolerance)
    return Case(name, (rows,), [x, out, width], {"BLOCK": 1 << (width - 1).bit_length()}, kernel="softmax")


def layer_norm():
    x, gain, shift = normal(20, 700), normal(700), normal(700)
    mean = x.astype(np.float64).mean(axis=1, keepdims=True)
    centred = x - mean
    out = centred / np.sqrt((centred ** 2).mean(axis=1, keepdims=True) + 1e-5) * gain + shift
    return Case("layer_norm", (20,), [x, gain, shift, Out(out.astype(np.float32), 2e-6),
                                      Out(mean[:, 0].astype(np.float32), 1e-6), 700, 1e-5], {"BLOCK": 1024})


def attention(name, causal):
    q, k, v = (normal(3, 128, 64, kind=np.float16) for _ in range(3))
    scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(1, 2) / 8
    if causal:
        scores += np.triu(np.full((128, 128), -np.inf), 1)
    out = Out((softmax_of(scores) @ v.astype(np.float64)).astype(np.float16), 2e-3)
    return Case(name, (2, 3), [q, k, v, out, 128, math.log2(math.e) / 8],
                {"BLOCK_M": 64, "BLOCK_N": 32, "WIDTH": 64, "CAUSAL": causal}, kernel="attention")


def matmul_split():
    a, b = normal(64, 128, kind=np.float16), normal(128, 64, kind=np.float16)
    out = Out((a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32), 1e-6)
    return Case("matmul_split", (2, 2, 4), [a, b, out, 64, 64, 128], {"BLOCK": 32, "DEPTH": 32})


def histogram(name):
    x = whole(0, 64, 3000)
    counts = Out(np.bincount(x, minlength=64).astype(np.int32))
    if name == "binned":
        return Case(name, (6,), [np.resize(x, 3072), Out(counts.expected + np.bincount(x[:72], minlength=64).astype("i4")),
                                 3072], {"BLOCK": 512})
    largest = Out(np.array([60, 61, 62, 63], np.int32))
    return Case(name, (6,), [x, counts, largest, Out(np.array([7], np.int32)), 3000], {"BLOCK": 512})


def transcendental():
    x, y = normal(1500), normal(1500)
    a, b = x.astype(np.float64), y.astype(np.float64)
    c = np.abs(y) + np.float32(0.125)
    c = c.astype(np.float64)
    each = np.vectorize(math.erf)(b) + np.vectorize(math.lgamma)(c)
    out = (np.exp(a) * np.log(c) + np.sin(x * np.float32(100.0), dtype=np.float64) * np.cos(b) + np.sqrt(c)
           + 1 / np.sqrt(c) + np.tanh(a) + c ** a + np.arctan2(a, b) + np.exp2(b) + np.log2(c) + np.floor(a) + a * b + c)
    return Case("transcendental", (3,), [x, y, Out((out + each).astype(np.float32), 1e-6), 1500], {"BLOCK": 512})


def doubles():
    x, y = normal(500, kind=np.float64), normal(500, kind=np.float64)
    out = x / (np.abs(y) + 1) + np.sqrt(np.abs(x)) + np.exp(y)
    return Case("doubles", (2,), [x, y, Out(out, 1e-15), 500], {"BLOCK": 256})


def integers():
    x, y = whole(-2 ** 63, 2 ** 63, 900, kind=np.int64), whole(-2 ** 62, 2 ** 62, 900, kind=np.int64)
    x[:300], y[100:400] = x[:300] >> 40, y[100:400] >> 50
    out = []
    for a, b in zip(x.tolist(), y.tolist()):
        odd = b | 1
        quotient = abs(a) // abs(odd) * (1 if (a < 0) == (odd < 0) else -1)
        high = ((a % 2 ** 64) * (b % 2 ** 64)) >> 64
        out.append((quotient ^ (a - quotient * odd) ^ (a << (b & 31)) ^ (a >> (b & 63)) ^ high) % 2 ** 64)
    return Case("integers", (4,), [x, y, Out(np.array(out, np.uint64).view(np.int64)), 900], {"BLOCK": 256})


def collatz():
    def steps(value):
        count = 0
        while value > 1:
            value, count = (value // 2 if value % 2 == 0 else 3 * value + 1), count + 1
        return count
    x = whole(1, 1000, 400)
    return Case("collatz", (2,), [x, Out(np.array([steps(int(value)) for value in x], np.int32)), 400], {"BLOCK": 256})


def philox(key, counter):
    """The first word of Philox 4x32 in ten rounds."""
    words, keys = [counter, 0, 0, 0], [key, 0]
    for _ in range(10):
        first, second = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = [second >> 32 ^ words[1] ^ keys[0], second & 0xFFFFFFFF, first >> 32 ^ words[3] ^ keys[1],
                 first & 0xFFFFFFFF]
        keys = [(keys[0] + 0x9E3779B9) & 0xFFFFFFFF, (keys[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return words[0]


def random():
    out = np.array([philox(1234, at) for at in range(512)], np.uint32).view(np.int32)
    return Case("random", (2,), [Out(out), 1234], {"BLOCK": 256})


def sort():
    x = np.stack([RANDOM.permutation(256) for _ in range(5)]).astype(np.float32)
    return Case("sort", (5,), [x, Out(np.sort(x, axis=1)), Out(x.argmax(axis=1).astype(np.int32))], {"WIDTH": 256})


def scan():
    x = whole(-2, 3, 3, 512) * 2 + 1
    return Case("scan", (3,), [x, Out(np.cumsum(x, axis=1, dtype=np.int32)), Out(np.cumprod(x, axis=1, dtype=np.int32))],
                {"WIDTH": 512})


def transpose():
    x = normal(100, 75, kind=np.float16)
    return Case("transpose", (4, 3), [x, Out(x.T.copy()), 100, 75], {"BLOCK": 32})


def convert():
    x = normal(600) * 20
    return Case("convert", (3,), [x, Out(x.astype(np.float16)), Out(x.astype(ml_dtypes.bfloat16)), Out(x.astype(np.int8)),
                                  600], {"BLOCK": 256})


def cases():
    x, y = normal(1000), normal(1000)
    half, brain = np.float16, ml_dtypes.bfloat16
    return [
        Case("add", (4,), [x, y, Out(x + y), 1000], {"BLOCK": 256}),
        matmul("matmul_f16", normal(128, 96, kind=half), normal(96, 128, kind=half), np.float32, 1e-6),
        matmul("matmul_uneven", normal(100, 77, kind=half), normal(77, 53, kind=half), np.float32, 1e-6),
        matmul("matmul_waves8", normal(128, 64, kind=half), normal(64, 128, kind=half), np.float32, 1e-6,
               tile={"BLOCK_M": 128, "BLOCK_N": 128}, num_warps=8),
        matmul("matmul_one_wave", normal(64, 64, kind=half), normal(64, 64, kind=half), np.float32, 1e-6, num_warps=1),
        matmul("matmul_stages", normal(64, 256, kind=half), normal(256, 64, kind=half), np.float32, 1e-6, num_stages=4),
        matmul("matmul_tile32", normal(64, 64, kind=half), normal(64, 128, kind=half), np.float32, 1e-6,
               targets=("gfx942", "gfx90a"), matrix_instr_nonkdim=32),
        matmul("matmul_bf16", normal(64, 64, kind=brain), normal(64, 128, kind=brain), np.float32, 1e-6),
        matmul("matmul_f32", normal(64, 64), normal(64, 64), np.float32, 1e-6),
        matmul("matmul_i8", whole(-128, 128, 64, 128, kind=np.int8), whole(-128, 128, 128, 64, kind=np.int8), np.int32, 0),
        matmul("matmul_f8", normal(64, 64).astype(ml_dtypes.float8_e4m3fnuz),
               normal(64, 64).astype(ml_dtypes.float8_e4m3fnuz), np.float32, 1e-6, targets=("gfx942",)),
        matmul("matmul_f8", normal(64, 64).astype(ml_dtypes.float8_e4m3fn),
               normal(64, 64).astype(ml_dtypes.float8_e4m3fn), np.float32, 1e-6, targets=("gfx1201",)),
        matmul_split(), softmax("softmax", 20, 1000, np.float32, 1e-6), softmax("softmax_f16", 9, 300, half, 1e-3),
        layer_norm(), attention("attention", False), attention("attention_causal", True),
        Case("sum_atomic", (4,), [x, Out(np.array([x.astype(np.float64).sum()], np.float32), 1e-5), 1000], {"BLOCK": 256}),
        histogram("histogram"), histogram("binned"), transcendental(), doubles(), integers(), collatz(), random(), sort(),
        scan(), transpose(), convert(),
    ]


def compile_kernel(case, *gpu):
    """What triton makes of a case's kernel for a GPU: the kind, the architecture, the lanes."""
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    import triton_kernels
    function = getattr(triton_kernels, case.kernel) if isinstance(case.kernel, str) else case.kernel
    signature, aligned = {}, {}
    values = [value.expected if isinstance(value, Out) else value for value in case.arguments]
    for place, (name, value) in enumerate(zip(function.arg_names, values)):
        if isinstance(value, np.ndarray):
            signature[name] = f"*{TYPES[value.dtype]}"
        else:
            signature[name] = "i32" if isinstance(value, int) else "fp32"
        if isinstance(value, np.ndarray) or value % 16 == 0:
            aligned[(place,)] = [["tt.divisibility", 16]]
    constants = {name: getattr(tl, value) if isinstance(value, str) else value for name, value in case.constants.items()}
    signature |= {name: "constexpr" for name in constants}
    return triton.compile(ASTSource(fn=function, signature=signature, constexprs=constants, attrs=aligned),
                          target=GPUTarget(*gpu), options=case.options)


def compile_case(case, target, folder):
    """The code object's file, the kernel's name and its workgroup memory."""
    compiled = compile_kernel(case, "hip", target, TARGETS[target])
    file = folder / f"{case.name}.hsaco"
    file.write_bytes(compiled.asm["hsaco"])
    return file, compiled.metadata.name, compiled.metadata.shared


def script_of(case, target, folder):
    """Lines for launch.c, and each result's file."""
    file, name, shared = compile_case(case, target, folder)
    group = case.options["num_warps"] * TARGETS[target]
    lines = [f"load {file}", f"run {name} 1 1 {shared} 0",
             f"size {case.grid[0] * group} {case.grid[1]} {case.grid[2]} {group} 1 1"]
    results = []
    for place, value in enumerate(case.arguments):
        array = value.start if isinstance(value, Out) else value
        if not isinstance(array, np.ndarray):
            lines.append(f"i32 {array if isinstance(array, int) else int(np.float32(array).view(np.uint32))}")
            continue
        start, end = folder / f"{case.name}-{place}.in", folder / f"{case.name}-{place}.out"
        start.write_bytes(array.tobytes())
        lines.append(f"inout {start} {end}" if isinstance(value, Out) else f"in {start}")
        if isinstance(value, Out):
            results.append((value, end))
    return [*lines, "i64 0", "i64 0", "go"], results


def run_target(options, target):
    """Runs every case on a target; how many ran, what failed and what was said."""
    folder = options.keep / target
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [case for case in cases() if target in case.targets and (not options.only or case.name in options.only)]
    lines, jobs = [], []
    for case in chosen:
        script, results = script_of(case, target, folder)
        lines += script
        jobs.append((case, results))
    (folder / "script").write_text("\n".join(lines) + "\n")
    failures, messages = [], []
    for check in ([], ["--check=all"]):
        how = [f"--target={target}", *check]
        result = suite.launch(options.build, how, lines)
        messages += result.stderr.strip().splitlines()
        said = iter(result.stdout.splitlines())
        for case, results in jobs:
            state = next(said, f"not run (exit {result.returncode})")
            reasons = [state] if not state.startswith("ok") else [out.difference(file.read_bytes()) for out, file in results]
            if reason := next(filter(None, reasons), None):
                failures.append(f"{case.name} {' '.join(how)}: {reason}")
    return 2 * len(jobs), failures, messages


def main():
    parser = suite.arguments(__doc__)
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the code objects, inputs and results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="iree-triton-") as name:
        options.keep = (options.keep or pathlib.Path(name)).resolve()
        os.environ["TRITON_CACHE_DIR"] = f"{name}/cache"
        os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"
        sys.path.insert(0, str(HERE))
        with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(functools.partial(run_target, options), options.target or list(TARGETS)))
    suite.finish_targets(results)


if __name__ == "__main__":
    main()
