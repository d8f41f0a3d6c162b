"""Quantised elements. Run as a script to write quantized/*.mlir anew."""

import numpy as np

from case import Suite, dense


def quantize(x, scale, zero=0, low=-128, high=127, dtype=np.int8):
    """Integers that stand for x; `scale` and `zero` may be arrays that broadcast."""
    x = np.asarray(x, np.float32) / np.asarray(scale, np.float32) + np.asarray(zero, np.float32)
    return np.rint(np.clip(x, low, high)).astype(dtype)


def numbers(q, scale, zero=0):
    return (q.astype(np.float32) - np.asarray(zero, np.float32)) * np.asarray(scale, np.float32)


def uniform():
    s = Suite("uniform", "Quantised StableHLO: conversions, arithmetic, contractions, and what only moves elements.")
    x = np.concatenate([s.floats(9, low=-40, high=40), np.array([0.25, -0.25, 100, -100, 0.75, np.inf], np.float32)])
    q = "tensor<15x!quant.uniform<i8:f32, 0.5:3>>"
    s.add("quantize", f"%0 = stablehlo.uniform_quantize %a : (tensor<15xf32>) -> {q}\nreturn %0 : {q}", [x],
          [quantize(x, 0.5, 3)], results=[q])
    i = s.ints(15, low=-128, high=127, dtype=np.int8)
    s.add("dequantize", f"%0 = stablehlo.uniform_dequantize %a : ({q}) -> tensor<15xf32>\nreturn %0 : tensor<15xf32>", [i],
          [numbers(i, 0.5, 3)], types=[q])
    u, narrow = "tensor<4x!quant.uniform<u8:f32, 0.25:128>>", "tensor<4x!quant.uniform<i8<-7:7>:f32, 2.0>>"
    i = np.array([0, 255, 128, 140], np.uint8)
    s.add("requantize", f"%0 = stablehlo.uniform_quantize %a : ({u}) -> {narrow}\nreturn %0 : {narrow}", [i],
          [quantize(numbers(i, 0.25, 128), 2, 0, -7, 7)], types=[u], results=[narrow])
    per_axis = "tensor<2x!quant.uniform<i8:f32:0, {0.5:3, 0.25:-1}>>"
    s.add("bitcast", f"%0 = stablehlo.bitcast_convert %a : (tensor<2xi8>) -> {per_axis}\n%1 = stablehlo.uniform_dequantize "
          f"%0 : ({per_axis}) -> tensor<2xf32>\n%2 = stablehlo.bitcast_convert %0 : ({per_axis}) -> tensor<2xi8>\n"
          "return %1, %2 : tensor<2xf32>, tensor<2xi8>", [np.array([5, 7], np.int8)],
          [np.array([1, 2], np.float32), np.array([5, 7], np.int8)])
    kinds = ["!quant.uniform<i8:f32, 0.5:3>", "!quant.uniform<i8:f32, 0.25:-1>", "!quant.uniform<i8:f32, 0.75>"]
    a, b = (s.ints(6, low=-60, high=60, dtype=np.int8) for _ in range(2))
    types = [f"tensor<6x{k}>" for k in kinds]
    for name, fn in {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "subtract": np.subtract}.items():
        s.add(name, f"%0 = stablehlo.{name} %a, %b : ({', '.join(types[:2])}) -> {types[2]}\nreturn %0 : {types[2]}", [a, b],
              [quantize(fn(numbers(a, 0.5, 3), numbers(b, 0.25, -1)), 0.75)], types=types[:2], results=types[2:])
    s.add("tanh", f"%0 = stablehlo.tanh %a : ({types[0]}) -> {types[2]}\nreturn %0 : {types[2]}", [a],
          [quantize(np.tanh(numbers(a, 0.5, 3)), 0.75)], types=types[:1], results=types[2:])
    s.add("compare", f"%0 = stablehlo.compare LT, %a, %b : ({', '.join(types[:2])}) -> tensor<6xi1>\nreturn %0 : "
          "tensor<6xi1>", [a, b], [numbers(a, 0.5, 3) < numbers(b, 0.25, -1)], types=types[:2])
    axis = "!quant.uniform<i8:f32:1, {0.1, 0.2:1, 0.3:-2, 0.4}>"
    scales, zeros = np.array([0.1, 0.2, 0.3, 0.4], np.float32), np.array([0, 1, -2, 0])
    x, w = s.ints(2, 3, low=-20, high=20, dtype=np.int8), s.ints(3, 4, low=-20, high=20, dtype=np.int8)
    types = [f"tensor<2x3x{kinds[0]}>", f"tensor<3x4x{axis}>", "tensor<2x4x!quant.uniform<i32:f32, 0.05>>"]
    exact = numbers(x, 0.5, 3) @ numbers(w, scales, zeros)
    s.add("dot_general", f"%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({types[0]}, {types[1]}) -> "
          f"{types[2]}\nreturn %0 : {types[2]}", [x, w], [quantize(exact, 0.05, 0, -2**31, 2**31 - 1, np.int32)],
          types=types[:2], results=types[2:])
    f = s.floats(2, 3)
    s.add("hybrid", f"%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32>, {types[1]}) -> "
          "tensor<2x4xf32>\nreturn %0 : tensor<2x4xf32>", [f, w], [f @ numbers(w, scales, zeros)],
          types=["tensor<2x3xf32>", types[1]])
    image, kernel = s.ints(1, 3, 3, 1, low=-9, high=9, dtype=np.int8), s.ints(2, 2, 1, 2, low=-9, high=9, dtype=np.int8)
    per_filter = "!quant.uniform<i8<-127:127>:f32:3, {0.5, 0.25}>"
    types = [f"tensor<1x3x3x1x{kinds[0]}>", f"tensor<2x2x1x2x{per_filter}>", f"tensor<1x2x2x2x{kinds[2]}>"]
    xs, ws = numbers(image, 0.5, 3), numbers(kernel, np.array([0.5, 0.25]))
    y = np.stack([[np.einsum("ijc,ijcf->f", xs[0, r:r + 2, c:c + 2], ws) for c in range(2)] for r in range(2)])[None]
    s.add("convolution", f"""%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : ({types[0]}, {types[1]}) -> {types[2]}
return %0 : {types[2]}""", [image, kernel], [quantize(y, 0.75)], types=types[:2], results=types[2:])
    a = s.ints(2, 3, dtype=np.int8)
    t = [f"tensor<2x3x{kinds[0]}>", f"tensor<3x2x{kinds[0]}>", f"tensor<2x{kinds[0]}>"]
    c = s.ints(2, 3, dtype=np.int8)
    moved = np.concatenate([a, c], 0).T[:, 1:3]
    s.add("moved", f"""%c = stablehlo.constant() <{{value = {dense(c)}}}> : () -> {t[0]}
%0 = stablehlo.concatenate %a, %c, dim = 0 : ({t[0]}, {t[0]}) -> tensor<4x3x{kinds[0]}>
%1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x3x{kinds[0]}>) -> tensor<3x4x{kinds[0]}>
%2 = stablehlo.slice %1 [0:3, 1:3] : (tensor<3x4x{kinds[0]}>) -> {t[1]}
return %2 : {t[1]}""", [a], [moved], types=t[:1], results=t[1:2])
    s.add("reduce", f"""%z = stablehlo.constant() <{{value = dense<3> : tensor<i8>}}> : () -> tensor<{kinds[0]}>
%0 = "stablehlo.reduce"(%a, %z) ({{
^bb0(%x: tensor<{kinds[0]}>, %y: tensor<{kinds[0]}>):
  %1 = stablehlo.add %x, %y : tensor<{kinds[0]}>
  stablehlo.return %1 : tensor<{kinds[0]}>
}}) {{dimensions = array<i64: 1>}} : ({t[0]}, tensor<{kinds[0]}>) -> {t[2]}
return %0 : {t[2]}""", [a], [quantize(numbers(a, 0.5, 3).sum(1), 0.5, 3)], types=t[:1], results=t[2:])
    s.write("quantized")


if __name__ == "__main__":
    uniform()
