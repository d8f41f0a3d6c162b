"""Programs of amd_counts.py: their text, their inputs, NumPy's results, and the same in Triton's language."""

import dataclasses
import math
import typing

import numpy as np

RANDOM = np.random.default_rng(7)


def normal(*shape, kind=np.float32):
    return RANDOM.standard_normal(shape).astype(kind)


def kind_of(array):
    return {np.dtype(np.float16): "f16", np.dtype(np.float32): "f32"}[array.dtype]


def type_of(array):
    return f"tensor<{'x'.join(map(str, array.shape))}x{kind_of(array)}>"


@dataclasses.dataclass
class Program:
    """One program. `peers`: a Triton kernel's name, the grid, constants and options, for each way to cut it."""

    name: str
    text: str
    inputs: list
    expected: np.ndarray
    tolerance: float
    peers: typing.Callable


def written(name, inputs, result, body):
    arguments = ", ".join(f"%x{i}: {type_of(x)}" for i, x in enumerate(inputs))
    filled = f"""  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {result}
""" + (f"  %z = linalg.fill ins(%zero : f32) outs(%e : {result}) -> {result}\n" if "%z" in body else "")
    return f"func.func @{name}({arguments}) -> {result} {{\n{filled}{body}\n  return %r : {result}\n}}\n"


def operands(inputs):
    return ", ".join(f"%x{i}" for i in range(len(inputs))) + " : " + ", ".join(map(type_of, inputs))


def matmul(rows=2048, columns=2048, depth=1024):
    a, b = normal(rows, depth, kind=np.float16), normal(depth, columns, kind=np.float16)
    result = f"tensor<{rows}x{columns}xf32>"
    text = written("matmul", [a, b], result,
                   f"  %r = linalg.matmul ins({operands([a, b])}) outs(%z : {result}) -> {result}")
    ways = [(64, 64, 32, 4), (64, 64, 64, 4), (128, 64, 32, 4), (128, 128, 32, 4), (128, 128, 64, 4), (128, 128, 32, 8)]

    def peers():
        return [("matmul", (rows // m, columns // n), {"M": rows, "N": columns, "K": depth, "BM": m, "BN": n, "BK": k},
                 warps) for m, n, k, warps in ways]

    return Program("matmul", text, [a, b], a.astype(np.float32) @ b.astype(np.float32), 1e-4, peers)


def convolution(side=56, channels=64):
    """3 x 3 over an image whose edges are there, channels last."""
    x, w = normal(1, side + 2, side + 2, channels, kind=np.float16), normal(3, 3, channels, channels, kind=np.float16)
    result = f"tensor<1x{side}x{side}x{channels}xf32>"
    text = written("convolution", [x, w], result,
                   "  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : "
                   f"tensor<2xi64>}} ins({operands([x, w])}) outs(%z : {result}) -> {result}")
    wide = [part.astype(np.float32) for part in (x, w)]
    expected = sum(np.einsum("nhwc,cf->nhwf", wide[0][:, i:i + side, j:j + side], wide[1][i, j], optimize=True)
                   for i in range(3) for j in range(3))
    pixels = side * side
    ways = [(64, 64, 32, 4), (64, 64, 64, 4), (64, 32, 32, 4), (32, 64, 64, 4), (128, 64, 32, 4)]

    def peers():
        return [("convolution", (-(-pixels // m), channels // n),
                 {"SIDE": side, "C": channels, "F": channels, "BM": m, "BN": n, "BK": k}, warps)
                for m, n, k, warps in ways]

    return Program("convolution", text, [x, w], expected, 1e-4, peers)


def softmax_of(x):
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def softmax(rows=1024, width=1024):
    x = normal(rows, width)
    result = type_of(x)
    text = written("softmax", [x], result,
                   f"  %r = linalg.softmax dimension(1) ins({operands([x])}) outs(%e : {result}) -> {result}")

    def peers():
        return [("softmax", (rows,), {"WIDTH": width}, warps) for warps in (1, 2, 4)]

    return Program("softmax", text, [x], softmax_of(x.astype(np.float64)).astype(np.float32), 1e-5, peers)


def attention(heads=8, length=512, width=64):
    q, k, v = (normal(heads, length, width, kind=np.float16) for _ in range(3))
    result, scale = type_of(q), 1 / math.sqrt(width)
    maps = ["(b, m, n, k1, k2) -> (b, m, k1)", "(b, m, n, k1, k2) -> (b, k2, k1)", "(b, m, n, k1, k2) -> (b, k2, n)",
            "(b, m, n, k1, k2) -> ()", "(b, m, n, k1, k2) -> (b, m, n)"]
    inputs = f"%x0, %x1, %x2, %scale : {result}, {result}, {result}, f16"
    listed = ", ".join(f"affine_map<{m}>" for m in maps)
    text = written("attention", [q, k, v], result, f"""  %scale = arith.constant {scale} : f16
  %r = iree_linalg_ext.attention <{{indexing_maps = [{listed}]}}> ins({inputs}) outs(%e : {result}) {{
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  }} -> {result}""")
    scores = q.astype(np.float32) @ k.astype(np.float32).swapaxes(1, 2) * scale
    expected = (softmax_of(scores) @ v.astype(np.float32)).astype(np.float16)

    def peers():
        return [("attention", (length // m, heads), {"SIZE": length, "SCALE": scale * math.log2(math.e), "BLOCK_M": m,
                                                     "BLOCK_N": n, "WIDTH": width}, warps)
                for m, n, warps in [(64, 32, 4), (64, 64, 4), (128, 32, 4), (128, 64, 4), (128, 64, 8)]]

    return Program("attention", text, [q, k, v], expected, 5e-3, peers)


PROGRAMS = {"matmul": matmul, "convolution": convolution, "softmax": softmax, "attention": attention}
