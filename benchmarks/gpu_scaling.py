"""How the work of GPU kernels grows with a program's size: gpu_scaling.py [--build DIR] [--only NAME]

Each program is compiled for an AMD GPU and run on the software one at n and at 4 n elements; what is executed is
counted, so that the numbers are the same in every run. Lane work is vector operations and accesses of memory, one for
each lane; the longest wave's instructions are summed over the dispatches, one after the other: what no number of
compute units makes shorter. A row is marked where work grows faster than n log^2 n, or the longest wave faster than the
square root of the work: an algorithm that is quadratic, or one wave that does everything.
"""

import argparse
import math
import pathlib
import re
import subprocess
import tempfile

import numpy as np
import onnx

import tools

RANDOM = np.random.default_rng(1)
WAVE = 32


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def places(high, *shape):
    return RANDOM.integers(0, high, shape).astype(np.int64)


def node(op, inputs, constants=(), results=1, domain="", **attributes):
    """A model of one op: `inputs` are given when it runs, `constants` (None: absent) follow them."""
    names = [f"x{i}" for i in range(len(inputs))]
    later = [f"c{i}" if c is not None else "" for i, c in enumerate(constants)]
    outputs = [f"y{i}" for i in range(results)]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(op, names + later, outputs, domain=domain, **attributes)], "main",
        [onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
         for name, x in zip(names, inputs)],
        [onnx.helper.make_empty_tensor_value_info(name) for name in outputs],
        [onnx.numpy_helper.from_array(np.asarray(c), name) for name, c in zip(later, constants) if c is not None])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=10)
    return onnx.shape_inference.infer_shapes(model, data_prop=True), list(inputs)


def open_sizes(program, *known):
    """The same with sizes that only the caller knows, all but those of `known`."""
    model, inputs = program
    for value in model.graph.input:
        for i, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.dim_value not in known:
                dim.dim_param = f"{value.name}_{i}"
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    return model, inputs


def text(body, inputs, result):
    """A function of graph ops, written as MLIR."""
    types = [f"tensor<{'x'.join(map(str, x.shape))}x{'f32' if x.dtype == np.float32 else 'i32'}>" for x in inputs]
    arguments = ", ".join(f"%x{i}: {t}" for i, t in enumerate(types))
    return f"func.func @main({arguments}) -> {result} {{\n{body}\n  return %y : {result}\n}}\n", inputs


def triangle(n):
    return np.tril(floats(n, n) / n) + np.eye(n, dtype=np.float32)


def cholesky(n):
    a = triangle(n)
    t = f"tensor<{n}x{n}xf32>"
    return text(f'  %y = "graph.cholesky"(%x0) {{lower}} : ({t}) -> {t}', [a @ a.T], t)


def solve(n, columns):
    t, r = f"tensor<{n}x{n}xf32>", f"tensor<{n}x{columns}xf32>"
    return text(f'  %y = "graph.triangular_solve"(%x0, %x1) {{left, lower}} : ({t}, {r}) -> {r}',
                [triangle(n), floats(n, columns)], r)


def scattered(n, rows, kind):
    """n updates of `rows` places."""
    return node("ScatterElements", [floats(rows), places(rows, n), floats(n)], axis=0, reduction=kind)


def recurrent(n, hidden=32):
    return node("LSTM", [floats(n, 4, 16)], [floats(1, 4 * hidden, 16), floats(1, 4 * hidden, hidden)],
                hidden_size=hidden)


def pool(op, side):
    return node(op, [floats(1, 16, side, side)])


def norm(rows, width):
    return node("LayerNormalization", [floats(rows, width)], [floats(width), floats(width)])


def line(function, n, power=1):
    """A program of n, n, and the power of n that its work is; sizes are such that the larger one runs in a second."""
    return function, n, power


CASES = {
    "sort": line(lambda n: node("TopK", [floats(n)], [np.array([n // 2])], 2), 4096),
    "sort, open": line(lambda n: open_sizes(node("TopK", [floats(n)], [np.array([n // 4])], 2)), 4096),
    "sort, first axis": line(lambda n: node("TopK", [floats(n, 3)], [np.array([n // 2])], 2, axis=0), 2048),
    "top_k of few": line(lambda n: node("TopK", [floats(n)], [np.array([5])], 2), 4096),
    "top_k of few, open": line(lambda n: open_sizes(node("TopK", [floats(n)], [np.array([5])], 2)), 4096),
    "top_k of many lines": line(lambda n: node("TopK", [floats(n, 128)], [np.array([5])], 2), 64),
    "unique": line(lambda n: node("Unique", [places(n, n)], results=4), 1024),
    "nonzero": line(lambda n: node("NonZero", [floats(n)]), 8192),
    "compress": line(lambda n: node("Compress", [floats(n)], [RANDOM.integers(0, 2, n).astype(bool)]), 8192),
    "histogram": line(lambda n: scattered(n, 64, "add"), 4096),
    "histogram of one": line(lambda n: scattered(n, 1, "add"), 4096),
    "histogram, open": line(lambda n: open_sizes(scattered(n, 8, "add")), 4096),
    "scatter max": line(lambda n: scattered(n, 16, "max"), 4096),
    "scatter set": line(lambda n: scattered(n, n, "none"), 4096),
    "scatter rows": line(lambda n: node("ScatterND", [floats(64, 128), places(64, n, 1), floats(n, 128)],
                                        reduction="add"), 128),
    "gather rows": line(lambda n: node("Gather", [floats(512, 64), places(512, n)]), 512),
    "scan": line(lambda n: node("CumSum", [floats(n)], [np.array(0)]), 16384),
    "scan, open": line(lambda n: open_sizes(node("CumSum", [floats(n)], [np.array(0)])), 16384),
    "scan, first axis": line(lambda n: node("CumSum", [floats(n, 4)], [np.array(0)]), 8192),
    "scan, middle axis": line(lambda n: node("CumSum", [floats(2, n, 8)], [np.array(1)]), 4096),
    "sum": line(lambda n: node("ReduceSum", [floats(n)], keepdims=0), 65536),
    "sum, open": line(lambda n: open_sizes(node("ReduceSum", [floats(n)], keepdims=0)), 65536),
    "sum, first axis": line(lambda n: node("ReduceSum", [floats(n, 8)], [np.array([0])]), 16384),
    "sum, first axis, open": line(lambda n: open_sizes(node("ReduceSum", [floats(n, 8)], [np.array([0])]), 8), 16384),
    "sum, middle axis": line(lambda n: node("ReduceSum", [floats(4, n, 8)], [np.array([1])]), 4096),
    "sum, middle axis, open": line(lambda n: open_sizes(node("ReduceSum", [floats(4, n, 8)], [np.array([1])]), 4, 8),
                                   4096),
    "arg_reduce": line(lambda n: node("ArgMax", [floats(n)], axis=0), 16384),
    "arg_reduce, open": line(lambda n: open_sizes(node("ArgMax", [floats(n)], axis=0)), 16384),
    "arg_reduce, first axis": line(lambda n: node("ArgMax", [floats(n, 8)], axis=0), 8192),
    "softmax, long rows": line(lambda n: node("Softmax", [floats(4, n)], axis=-1), 16384),
    "softmax, short rows": line(lambda n: node("Softmax", [floats(n, 10)], axis=-1), 4096),
    "softmax, middle axis": line(lambda n: node("Softmax", [floats(2, n, 8)], axis=1), 4096),
    "softmax, open": line(lambda n: open_sizes(node("Softmax", [floats(4, n)], axis=-1), 4), 16384),
    "norm, long rows": line(lambda n: norm(4, n), 16384),
    "norm, many rows": line(lambda n: norm(n, 64), 512),
    "instance norm": line(lambda n: node("InstanceNormalization", [floats(1, 2, n, n)], [floats(2), floats(2)]), 128,
                          2),
    "gemv": line(lambda n: node("MatMul", [floats(1, n), floats(n, 64)]), 2048),
    "gemv, open": line(lambda n: open_sizes(node("MatMul", [floats(1, n), floats(n, 64)]), 1, 64), 2048),
    "gemv of columns": line(lambda n: node("MatMul", [floats(n, 64), floats(64, 1)]), 2048),
    "dot": line(lambda n: node("MatMul", [floats(n), floats(n)]), 65536),
    "gemm, long sum": line(lambda n: node("MatMul", [floats(8, n), floats(n, 8)]), 8192),
    "gemm, long sum, transposed": line(lambda n: node("Gemm", [floats(n, 8), floats(8, n)], transA=1, transB=1), 8192),
    "gemm": line(lambda n: node("MatMul", [floats(n, n), floats(n, n)]), 64, 3),
    "conv": line(lambda n: node("Conv", [floats(1, 8, n, n), floats(8, 8, 3, 3)]), 32, 2),
    "conv to one channel": line(lambda n: node("Conv", [floats(1, n, 16, 16), floats(1, n, 3, 3)]), 64),
    "conv of whole image": line(lambda n: node("Conv", [floats(1, 8, n, n), floats(4, 8, n, n)]), 32, 2),
    "depthwise": line(lambda n: node("Conv", [floats(1, n, 16, 16), floats(n, 1, 3, 3)], group=n), 64),
    "transposed conv": line(lambda n: node("ConvTranspose", [floats(1, 8, n, n), floats(8, 4, 4, 4)],
                                           strides=[2, 2]), 16, 2),
    "global mean": line(lambda n: pool("GlobalAveragePool", n), 64, 2),
    "global max": line(lambda n: pool("GlobalMaxPool", n), 64, 2),
    "pool of whole image": line(lambda n: node("MaxPool", [floats(1, 4, n, n)], kernel_shape=[n, n]), 64, 2),
    "wide pool": line(lambda n: node("AveragePool", [floats(1, 1, n)], kernel_shape=[n // 2]), 512),
    "resize": line(lambda n: node("Resize", [floats(1, 4, n, n)], [None, np.array([1, 1, 2, 2], np.float32)],
                                  mode="linear"), 32, 2),
    "pad": line(lambda n: node("Pad", [floats(64, n)], [np.array([1, 1, 1, 1])]), 256),
    "transpose": line(lambda n: node("Transpose", [floats(n, 64)], perm=[1, 0]), 512),
    "concat": line(lambda n: node("Concat", [floats(n, 8), floats(n, 8)], axis=1), 2048),
    "lstm": line(recurrent, 8),
    "cholesky": line(cholesky, 32, 3),
    "triangular_solve": line(lambda n: solve(n, 64), 32, 2),
    "triangular_solve, one column": line(lambda n: solve(n, 1), 128, 2),
    "fft": line(lambda n: node("DFT", [floats(1, n, 2)], axis=1), 1024),
    "einsum": line(lambda n: node("Einsum", [floats(n, 16), floats(n, 16)], equation="ij,ij->j"), 4096),
}


def counter(stats, name):
    return int(re.search(rf"(\d+) {name}", stats)[1])


def measure(options, program, folder):
    """Lane work, the longest waves' instructions, dispatches."""
    model, inputs = program
    source = folder / ("program.mlir" if isinstance(model, str) else "program.onnx")
    if isinstance(model, str):
        source.write_text(model, encoding="utf-8")
    else:
        onnx.save(model, source)
    binaries = options.build / "tools"
    module = folder / "program.vmfb"
    flags = ["--iree-hal-target-device=amdgpu", f"--iree-rocm-target={options.target}"]
    tools.measure([binaries / "iree-compile", *flags, source, "-o", module], options.limit)
    for i, array in enumerate(inputs):
        np.save(folder / f"{i}.npy", array)
    done = subprocess.run([binaries / "iree-softgpu", f"--target={options.target}", "--stats", "--",
                           binaries / "iree-run-module", f"--module={module}", "--device=amdgpu", "--function=main",
                           *[f"--input=@{folder / f'{i}.npy'}" for i in range(len(inputs))]],
                          capture_output=True, text=True, check=False, timeout=options.limit)
    if done.returncode:
        raise tools.ToolError(f"iree-run-module: {done.stderr[:300].splitlines()[0]}")
    stats = done.stderr
    accesses = counter(stats, "vector memory instructions") + counter(stats, "workgroup memory instructions")
    return (counter(stats, "vector operations") + WAVE * accesses + WAVE * counter(stats, "matrix instructions"),
            counter(stats, "instructions of the longest"), counter(stats, "dispatches"))


def print_case(options, name, folder):
    """One row; true when it is no cliff."""
    build, n, power = CASES[name]
    factor = {1: 4, 2: 2, 3: 2}[power]
    first = measure(options, build(n), folder)
    second = measure(options, build(factor * n), folder)
    work, longest, growth = second[0] / first[0], second[1] / first[1], factor ** power
    most = growth * (1 + math.log(4) / math.log(n)) ** 2
    cliff = " <- work" if work > most else " <- longest wave" if longest > 1.1 * math.sqrt(growth) else ""
    print(f"{name:30} {n:6} {first[0]:12} {second[0]:12} {work:6.2f} of {growth} {first[1]:9} {second[1]:9} "
          f"{longest:6.2f} {first[2]:4} {second[2]:4}{cliff}", flush=True)
    return not cliff


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--target", default="gfx1100")
    parser.add_argument("--only", action="append", default=[], help="only programs whose name begins so; repeatable")
    parser.add_argument("--limit", type=float, default=120, help="seconds for one program")
    options = parser.parse_args()
    print(f"{'program':30} {'n':>6} {'lane work':>12} {'of more':>12} {'ratio':>11} {'longest':>9} {'of more':>9} "
          f"{'ratio':>6} {'dispatches':>9}")
    with tempfile.TemporaryDirectory(prefix="iree-scaling-") as folder:
        for name in CASES:
            if not options.only or name.startswith(tuple(options.only)):
                try:
                    print_case(options, name, pathlib.Path(folder))
                except (tools.ToolError, subprocess.TimeoutExpired) as error:
                    print(f"{name:30} {error.brief() if isinstance(error, tools.ToolError) else error}", flush=True)


if __name__ == "__main__":
    main()
