"""StableHLO and CHLO programs. Run as a script to write stablehlo/*.mlir anew."""

import math

import numpy as np

from case import NAMES, Suite, type_of

erf = np.vectorize(math.erf)


def one(op, *arrays, result=None):
    """A body that is one op over all arguments in pretty form."""
    types = ", ".join(type_of(x) for x in arrays)
    names = ", ".join("%" + "abc"[i] for i in range(len(arrays)))
    return f"%0 = \"{op}\"({names}) : ({types}) -> {result}\nreturn %0 : {result}"


def elementwise():
    s = Suite("elementwise", "Elementwise ops on floats, signed and unsigned integers, and booleans.")
    x = s.floats(3, 4)
    positive = s.floats(3, 4, low=0.1, high=3)
    unit = s.floats(3, 4, low=-0.9, high=0.9)
    unary = {"abs": (x, np.abs), "cbrt": (x, np.cbrt), "ceil": (x, np.ceil), "cosine": (x, np.cos),
             "exponential": (x, np.exp), "exponential_minus_one": (x, np.expm1), "floor": (x, np.floor),
             "log": (positive, np.log), "log_plus_one": (positive, np.log1p),
             "logistic": (x, lambda v: 1 / (1 + np.exp(-v))), "negate": (x, np.negative),
             "round_nearest_even": (x * 4, np.rint), "rsqrt": (positive, lambda v: 1 / np.sqrt(v)), "sign": (x, np.sign),
             "sine": (x, np.sin), "sqrt": (positive, np.sqrt), "tan": (unit, np.tan), "tanh": (x, np.tanh)}
    for name, (data, fn) in unary.items():
        s.add(name, one(f"stablehlo.{name}", data, result=type_of(data)), [data], [fn(data).astype(np.float32)])
    half = np.array([0.5, -0.5, 1.5, 2.5, -2.5], np.float32)
    s.add("round_nearest_afz", one("stablehlo.round_nearest_afz", half, result=type_of(half)), [half],
          [np.array([1, -1, 2, 3, -3], np.float32)])
    special = np.array([1, np.inf, -np.inf, np.nan], np.float32)
    s.add("is_finite", one("stablehlo.is_finite", special, result="tensor<4xi1>"), [special],
          [np.array([True, False, False, False])])
    y = s.floats(3, 4)
    for name, fn in {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
                     "maximum": np.maximum, "minimum": np.minimum, "atan2": np.arctan2, "remainder": np.fmod}.items():
        s.add(name, one(f"stablehlo.{name}", x, y, result=type_of(x)), [x, y], [fn(x, y)])
    s.add("power", one("stablehlo.power", positive, y, result=type_of(x)), [positive, y], [np.power(positive, y)])
    i, j = s.ints(8, low=-100, high=100), s.ints(8, low=1, high=7)
    u, v = np.array([1, 2**31, 2**32 - 1, 7], np.uint32), np.array([2, 3, 2**31, 9], np.uint32)
    truncated = np.trunc(i / j).astype(np.int32)
    for name, expected in {"divide": truncated, "remainder": i - truncated * j, "maximum": np.maximum(i, j),
                           "and": i & j, "or": i | j, "xor": i ^ j, "shift_left": i << j,
                           "shift_right_arithmetic": i >> j,
                           "shift_right_logical": (i.view(np.uint32) >> j.astype(np.uint32)).view(np.int32)}.items():
        s.add(f"{name}_si", one(f"stablehlo.{name}", i, j, result=type_of(i)), [i, j], [expected])
    for name, expected in {"divide": u // v, "remainder": u % v, "maximum": np.maximum(u, v), "minimum": np.minimum(u, v),
                           "add": u + v, "multiply": u * v}.items():
        s.add(f"{name}_ui", one(f"stablehlo.{name}", u, v, result=type_of(u)), [u, v], [expected])
    p, q = np.array([True, True, False, False]), np.array([True, False, True, False])
    for name, expected in {"add": p | q, "multiply": p & q, "maximum": p | q, "minimum": p & q, "and": p & q,
                           "or": p | q, "xor": p ^ q}.items():
        s.add(f"{name}_i1", one(f"stablehlo.{name}", p, q, result=type_of(p)), [p, q], [expected])
    s.add("not_i1", one("stablehlo.not", p, result=type_of(p)), [p], [~p])
    bits = np.array([0, 1, 255, 2**31 - 1, -1], np.int32)
    s.add("popcnt", one("stablehlo.popcnt", bits, result=type_of(bits)), [bits],
          [np.array([0, 1, 8, 31, 32], np.int32)])
    s.add("clz", one("stablehlo.count_leading_zeros", bits, result=type_of(bits)), [bits],
          [np.array([32, 31, 24, 1, 0], np.int32)])
    lo, hi = np.float32(-0.5), np.float32(0.75)
    s.add("clamp", one("stablehlo.clamp", lo, x, hi, result=type_of(x)).replace("%a, %b, %c", "%a, %b, %c"),
          [lo, x, hi], [np.clip(x, lo, hi)])
    choice = np.array(True)
    s.add("select_scalar", "%0 = stablehlo.select %a, %b, %c : tensor<i1>, tensor<3x4xf32>\nreturn %0 : tensor<3x4xf32>",
          [choice, x, y], [x])
    s.add("select", "%0 = stablehlo.select %a, %b, %c : tensor<3x4xi1>, tensor<3x4xf32>\nreturn %0 : tensor<3x4xf32>",
          [x > 0, x, y], [np.where(x > 0, x, y)])
    mapped = """%0 = "stablehlo.map"(%a, %b) ({
^bb0(%x: tensor<f32>, %y: tensor<f32>):
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %1 = stablehlo.multiply %x, %c : tensor<f32>
  %2 = stablehlo.add %1, %y : tensor<f32>
  stablehlo.return %2 : tensor<f32>
}) {dimensions = array<i64: 0, 1>} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
return %0 : tensor<3x4xf32>"""
    s.add("map", mapped, [x, y], [2 * x + y])
    rounded = np.array([1.0, 1.0009765625, 3.14159274, 70000.0, 1e-8, -2.71828175], np.float32)
    odd = np.array([np.nan, -np.nan, np.inf, 1.25, -3.0, 1e6], np.float32)
    s.add("reduce_precision_without_mantissa", "%0 = stablehlo.reduce_precision %a, format = e5m0 : tensor<6xf32>\n"
          "return %0 : tensor<6xf32>", [odd], [np.array([np.inf, -np.inf, np.inf, 1, -2, np.inf], np.float32)])
    s.add("reduce_precision", "%0 = stablehlo.reduce_precision %a, format = e5m10 : tensor<6xf32>\n"
          "return %0 : tensor<6xf32>", [rounded], [np.array([1, 1.0009765625, 3.140625, np.inf, 0, -2.71875], np.float32)])
    # Exact but for the last rounding, where the program asks for more than functions of f32 have.
    x = np.concatenate([s.floats(500), s.floats(500, low=1, high=9)])
    for name, accuracy in [("highest", "mode = #stablehlo.result_accuracy_mode<HIGHEST>"),
                           ("tolerance", "ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>")]:
        s.add(f"tanh_{name}", f"""%0 = stablehlo.tanh %a {{result_accuracy = #stablehlo.result_accuracy<{accuracy}>}} : tensor<1000xf32>
%1 = stablehlo.bitcast_convert %0 : (tensor<1000xf32>) -> tensor<1000xi32>
return %1 : tensor<1000xi32>""", [x], [np.tanh(x.astype(np.float64)).astype(np.float32).view(np.int32)])
    s.write("stablehlo")


def compare():
    s = Suite("compare", "Comparisons in every direction and type, and conversions.")
    x, y = np.array([1, 2, 3, np.nan, 0], np.float32), np.array([1, 3, 2, 1, -0.0], np.float32)
    fns = {"EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater,
           "GE": np.greater_equal}
    for name, fn in fns.items():
        s.add(f"{name.lower()}_f32", f"%0 = stablehlo.compare {name}, %a, %b, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> "
              "tensor<5xi1>\nreturn %0 : tensor<5xi1>", [x, y], [fn(x, y)])
    u, v = np.array([1, 2**32 - 1, 5], np.uint32), np.array([2, 1, 5], np.uint32)
    i, j = np.array([1, -1, 5], np.int32), np.array([2, 1, 5], np.int32)
    for name, fn in fns.items():
        s.add(f"{name.lower()}_ui32", f"%0 = stablehlo.compare {name}, %a, %b, UNSIGNED : (tensor<3xui32>, tensor<3xui32>)"
              " -> tensor<3xi1>\nreturn %0 : tensor<3xi1>", [u, v], [fn(u, v)])
        s.add(f"{name.lower()}_i32", f"%0 = stablehlo.compare {name}, %a, %b : (tensor<3xi32>, tensor<3xi32>)"
              " -> tensor<3xi1>\nreturn %0 : tensor<3xi1>", [i, j], [fn(i, j)])
    a = np.array([-0.0, 0.0, np.nan, 1, -np.inf], np.float32)
    b = np.array([0.0, -0.0, 1, np.nan, -1], np.float32)
    s.add("total_order", "%0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>\n"
          "return %0 : tensor<5xi1>", [a, b], [np.array([True, False, False, True, True])])
    data = np.array([0, 1.7, -3.2, 100], np.float32)
    for dtype in [np.int8, np.int32, np.int64, np.float16, np.float64]:
        out = data.astype(dtype)
        s.add(f"convert_{NAMES[out.dtype.name]}", one("stablehlo.convert", data, result=type_of(out)), [data], [out])
    s.add("convert_i1", one("stablehlo.convert", data, result="tensor<4xi1>"), [data], [data != 0])
    wide = np.array([0, 127, 128, 255], np.uint8)
    s.add("convert_ui8_i32", one("stablehlo.convert", wide, result="tensor<4xi32>"), [wide], [wide.astype(np.int32)])
    s.add("convert_ui8_f32", one("stablehlo.convert", wide, result="tensor<4xf32>"), [wide], [wide.astype(np.float32)])
    s.add("convert_si8_ui32", one("stablehlo.convert", wide.view(np.int8), result="tensor<4xui32>"),
          [wide.view(np.int8)], [wide.view(np.int8).astype(np.int32).view(np.uint32)])
    flags = np.array([True, False])
    s.add("convert_i1_f32", one("stablehlo.convert", flags, result="tensor<2xf32>"), [flags],
          [flags.astype(np.float32)])
    words = s.ints(3, low=-2**31, high=2**31 - 1)
    s.add("bitcast_same", one("stablehlo.bitcast_convert", data, result="tensor<4xi32>"), [data], [data.view(np.int32)])
    tiny = s.ints(3, low=-128, high=127, dtype=np.int8)
    s.add("bitcast_bits", one("stablehlo.bitcast_convert", tiny, result="tensor<3x8xi1>"), [tiny],
          [np.unpackbits(tiny.view(np.uint8)[:, None], axis=1, bitorder="little").astype(bool)])
    s.add("bitcast_halves", """%0 = stablehlo.bitcast_convert %a : (tensor<3xi8>) -> tensor<3x2xf4E2M1FN>
%1 = stablehlo.convert %0 : (tensor<3x2xf4E2M1FN>) -> tensor<3x2xf32>
return %1 : tensor<3x2xf32>""", [np.array([0x21, -0x46, 0x7f], np.int8)],
          [np.array([[0.5, 1], [-1, -1.5], [-6, 6]], np.float32)])
    s.add("bitcast_narrow", one("stablehlo.bitcast_convert", words, result="tensor<3x4xi8>"), [words],
          [words.view(np.int8).reshape(3, 4)])
    halves = words.view(np.int16).reshape(3, 2)
    s.add("bitcast_wide", one("stablehlo.bitcast_convert", halves, result="tensor<3xi32>"), [halves], [words])
    s.write("stablehlo")


def shapes():
    s = Suite("shapes", "Index maps, slices, padding, and shapes that are computed.")
    x = s.floats(2, 3, 4)
    s.add("reshape", one("stablehlo.reshape", x, result="tensor<4x6xf32>"), [x], [x.reshape(4, 6)])
    s.add("transpose", "%0 = stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>\n"
          "return %0 : tensor<4x2x3xf32>", [x], [x.transpose(2, 0, 1)])
    s.add("reverse", "%0 = stablehlo.reverse %a, dims = [0, 2] : tensor<2x3x4xf32>\nreturn %0 : tensor<2x3x4xf32>",
          [x], [x[::-1, :, ::-1]])
    row = s.floats(1, 3)
    s.add("broadcast_in_dim", "%0 = stablehlo.broadcast_in_dim %a, dims = [2, 1] : (tensor<1x3xf32>) -> "
          "tensor<2x3x4xf32>\nreturn %0 : tensor<2x3x4xf32>", [row],
          [np.broadcast_to(row.reshape(1, 3, 1), (2, 3, 4))])
    s.add("broadcast", "%0 = stablehlo.broadcast %a, sizes = [2] : (tensor<1x3xf32>) -> tensor<2x1x3xf32>\n"
          "return %0 : tensor<2x1x3xf32>", [row], [np.broadcast_to(row, (2, 1, 3))])
    y = s.floats(2, 1, 4)
    s.add("concatenate", "%0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<2x3x4xf32>, tensor<2x1x4xf32>) -> "
          "tensor<2x4x4xf32>\nreturn %0 : tensor<2x4x4xf32>", [x, y], [np.concatenate([x, y], 1)])
    s.add("slice", "%0 = stablehlo.slice %a [0:2, 1:3, 0:4:3] : (tensor<2x3x4xf32>) -> tensor<2x2x2xf32>\n"
          "return %0 : tensor<2x2x2xf32>", [x], [x[:, 1:3, ::3]])
    m, value = s.floats(2, 3), np.float32(9)
    padded = np.full((5, 5), value)
    padded[1:4:2, 0:5:2] = m
    s.add("pad", "%0 = stablehlo.pad %a, %b, low = [1, 0], high = [1, 0], interior = [1, 1] : "
          "(tensor<2x3xf32>, tensor<f32>) -> tensor<5x5xf32>\nreturn %0 : tensor<5x5xf32>", [m, value], [padded])
    s.add("pad_negative", "%0 = stablehlo.pad %a, %b, low = [-1, 1], high = [0, -2], interior = [0, 0] : "
          "(tensor<2x3xf32>, tensor<f32>) -> tensor<1x2xf32>\nreturn %0 : tensor<1x2xf32>", [m, value],
          [np.array([[9, m[1, 0]]], np.float32)])
    s.add("iota", "%0 = stablehlo.iota dim = 1 : tensor<2x3xi32>\n%1 = stablehlo.iota dim = 0 : tensor<2x3xf32>\n"
          "return %0, %1 : tensor<2x3xi32>, tensor<2x3xf32>", [],
          [np.array([[0, 1, 2]] * 2, np.int32), np.array([[0] * 3, [1] * 3], np.float32)])
    for start in [(0, 1, 1), (1, 5, -3)]:
        at = [max(0, min(v, d - w)) for v, d, w in zip(start, (2, 3, 4), (1, 2, 3))]
        name = "_clamped" if start[1] == 5 else ""
        indices = [np.array(v, np.int32) for v in start]
        sliced = x[at[0]:at[0] + 1, at[1]:at[1] + 2, at[2]:at[2] + 3]
        s.add(f"dynamic_slice{name}", "%0 = stablehlo.dynamic_slice %a, %b, %c, %d, sizes = [1, 2, 3] : "
              "(tensor<2x3x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x3xf32>\n"
              "return %0 : tensor<1x2x3xf32>", [x, *indices], [sliced])
        update, updated = s.floats(1, 2, 3), x.copy()
        updated[at[0]:at[0] + 1, at[1]:at[1] + 2, at[2]:at[2] + 3] = update
        s.add(f"dynamic_update_slice{name}", "%0 = stablehlo.dynamic_update_slice %a, %b, %c, %d, %e : "
              "(tensor<2x3x4xf32>, tensor<1x2x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x4xf32>\n"
              "return %0 : tensor<2x3x4xf32>", [x, update, *indices], [updated])
    s.add("dynamic_reshape", "%0 = stablehlo.dynamic_reshape %a, %b : (tensor<2x3x4xf32>, tensor<2xi32>) -> "
          "tensor<?x?xf32>\nreturn %0 : tensor<?x?xf32>", [x, np.array([8, 3], np.int32)], [x.reshape(8, 3)],
          results=["tensor<?x?xf32>"])
    s.add("dynamic_shapes", """%0 = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
%1 = stablehlo.constant dense<2> : tensor<i32>
%2 = stablehlo.multiply %0, %1 : tensor<i32>
%3 = stablehlo.reshape %2 : (tensor<i32>) -> tensor<1xi32>
%4 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
%5 = stablehlo.constant dense<3> : tensor<1xi32>
%6 = stablehlo.concatenate %4, %5, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
%7 = stablehlo.dynamic_iota %6, dim = 0 : (tensor<2xi32>) -> tensor<?x3xf32>
%8 = stablehlo.add %a, %7 : tensor<?x3xf32>
%9 = stablehlo.concatenate %8, %8, dim = 0 : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
%10 = stablehlo.concatenate %3, %5, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
%11 = stablehlo.constant dense<1.0> : tensor<f32>
%12 = stablehlo.dynamic_broadcast_in_dim %11, %10, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
%13 = stablehlo.add %9, %12 : tensor<?x3xf32>
return %13 : tensor<?x3xf32>""", [m], [np.concatenate([m + np.array([[0], [1]], np.float32)] * 2) + 1],
          types=["tensor<?x3xf32>"], results=["tensor<?x3xf32>"])
    s.add("dynamic_pad", """%0 = stablehlo.dynamic_pad %a, %b, %c, %d, %e : (tensor<2x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
return %0 : tensor<?x?xf32>""".replace("%e", "%z").replace("%0 =", "%z = stablehlo.constant dense<0> : tensor<2xi32>\n%0 ="),
          [m, value, np.array([1, 0], np.int32), np.array([0, 2], np.int32)],
          [np.pad(m, ((1, 0), (0, 2)), constant_values=9)], results=["tensor<?x?xf32>"])
    s.add("real_dynamic_slice", """%z = stablehlo.constant dense<1> : tensor<2xi32>
%0 = stablehlo.real_dynamic_slice %a, %b, %c, %z : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
return %0 : tensor<?x?xf32>""", [m, np.array([0, 1], np.int32), np.array([2, 3], np.int32)], [m[0:2, 1:3]],
          results=["tensor<?x?xf32>"])
    s.write("stablehlo")


def contractions():
    s = Suite("contractions", "dot, dot_general, einsum and convolution.")
    a, b = s.floats(3, 4), s.floats(4, 5)
    s.add("dot", one("stablehlo.dot", a, b, result="tensor<3x5xf32>"), [a, b], [a @ b])
    s.add("dot_vectors", one("stablehlo.dot", a[0], a[1], result="tensor<f32>"), [a[0], a[1]], [a[0] @ a[1]])
    x, y = s.floats(2, 3, 4), s.floats(4, 2, 5)
    s.add("dot_general", "%0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [1], contracting_dims = [2] x [0] : "
          "(tensor<2x3x4xf32>, tensor<4x2x5xf32>) -> tensor<2x3x5xf32>\nreturn %0 : tensor<2x3x5xf32>", [x, y],
          [np.einsum("bij,jbk->bik", x, y)])
    i, j = s.ints(3, 4, low=-128, high=127, dtype=np.int8), s.ints(4, 5, low=-128, high=127, dtype=np.int8)
    s.add("dot_i8", one("stablehlo.dot", i, j, result="tensor<3x5xi32>"), [i, j],
          [i.astype(np.int32) @ j.astype(np.int32)])
    u = s.ints(3, 4, low=0, high=255, dtype=np.uint8)
    s.add("dot_ui8_si8", one("stablehlo.dot", u, j, result="tensor<3x5xi32>"), [u, j],
          [u.astype(np.int32) @ j.astype(np.int32)])
    s.add("einsum", '%0 = stablehlo.einsum %a, %b, config = "bij,jbk->ikb" : (tensor<2x3x4xf32>, tensor<4x2x5xf32>) -> '
          "tensor<3x5x2xf32>\nreturn %0 : tensor<3x5x2xf32>", [x, y], [np.einsum("bij,jbk->ikb", x, y)])
    p, q = s.floats(2, 3, 4, 5), s.floats(3, 5, 2)
    s.add("einsum_dots", '%0 = stablehlo.einsum %a, %b, config = "...mk,...kn->...nm" : (tensor<2x3x4x5xf32>, tensor<3x5x2xf32>)'
          " -> tensor<2x3x2x4xf32>\nreturn %0 : tensor<2x3x2x4xf32>", [p, q], [np.einsum("...mk,...kn->...nm", p, q)], 1e-5)
    q = s.floats(2, 1, 5)
    s.add("einsum_dots_of_one", '%0 = stablehlo.einsum %a, %b, config = "...mk,...k->m..." : (tensor<2x3x4x5xf32>, '
          "tensor<2x1x5xf32>) -> tensor<4x2x3xf32>\nreturn %0 : tensor<4x2x3xf32>", [p, q],
          [np.einsum("...mk,...k->m...", p, q)], 1e-5)
    s.add("einsum_dots_open", '%0 = stablehlo.einsum %a, %b, config = "...k,...k->..." : (tensor<?x3x4x5xf32>, tensor<?x3x4x5xf32>)'
          " -> tensor<?x3x4xf32>\nreturn %0 : tensor<?x3x4xf32>", [p, p], [np.einsum("...k,...k->...", p, p)], 1e-4,
          types=["tensor<?x3x4x5xf32>", "tensor<?x3x4x5xf32>"], results=["tensor<?x3x4xf32>"])
    s.add("unary_einsum_dots", '%0 = stablehlo.unary_einsum %a, config = "i...k->k..." : (tensor<2x3x4x5xf32>) -> tensor<5x3x4xf32>\n'
          "return %0 : tensor<5x3x4xf32>", [p], [np.einsum("i...k->k...", p)], 1e-5)
    s.add("unary_einsum", '%0 = stablehlo.unary_einsum %a, config = "ijk->ki" : (tensor<2x3x4xf32>) -> tensor<4x2xf32>\n'
          "return %0 : tensor<4x2xf32>", [x], [np.einsum("ijk->ki", x)])
    for case in CONVOLUTIONS:
        image, kernel = s.floats(*case["x"]), s.floats(*case["w"])
        out = convolve(image, kernel, case)
        attributes = case["attributes"]
        s.add(case["name"], f"%0 = stablehlo.convolution(%a, %b) dim_numbers = {case['dims']}, window = "
              f"{{{attributes}}} {{batch_group_count = {case.get('batch_groups', 1)} : i64, feature_group_count = "
              f"{case.get('groups', 1)} : i64}} : ({type_of(image)}, {type_of(kernel)}) -> {type_of(out)}\n"
              f"return %0 : {type_of(out)}", [image, kernel], [out], tolerance=1e-5)
    algorithms(s)
    points, weights = s.floats(3, 4), s.floats(5, 4)
    s.add("conv_without_places", "%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f]x[o, i]->[b, f], window = {} "
          "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x4xf32>, tensor<5x4xf32>) -> "
          "tensor<3x5xf32>\nreturn %0 : tensor<3x5xf32>", [points, weights], [points @ weights.T], tolerance=1e-5)
    s.write("stablehlo")


CONVOLUTIONS = [
    {"name": "conv_nhwc", "x": (1, 5, 6, 3), "w": (3, 2, 3, 4), "dims": "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
     "attributes": "stride = [1, 2], pad = [[1, 1], [0, 1]]", "stride": (1, 2), "pad": ((1, 1), (0, 1)),
     "layouts": ("n01c", "01io", "n01c")},
    {"name": "conv_nchw_groups", "x": (2, 4, 5, 5), "w": (6, 2, 3, 3), "dims": "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]",
     "attributes": "rhs_dilate = [2, 1]", "w_dilation": (2, 1), "groups": 2, "layouts": ("nc01", "oi01", "nc01")},
    {"name": "conv_transposed", "x": (1, 3, 4, 2), "w": (3, 3, 2, 3), "dims": "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
     "attributes": "pad = [[2, 1], [1, 2]], lhs_dilate = [2, 2], reverse = [true, true]", "pad": ((2, 1), (1, 2)),
     "x_dilation": (2, 2), "reverse": True, "layouts": ("n01c", "01io", "n01c")},
    {"name": "conv_batch_groups", "x": (4, 5, 3), "w": (2, 3, 6), "dims": "[b, 0, f]x[0, i, o]->[b, 0, f]",
     "attributes": "stride = [1]", "batch_groups": 2, "layouts": ("n0c", "0io", "n0c")},
    {"name": "conv_negative_pad", "x": (1, 6, 2), "w": (2, 2, 3), "dims": "[b, 0, f]x[0, i, o]->[f, 0, b]",
     "attributes": "pad = [[-1, -2]]", "pad": ((-1, -2),), "layouts": ("n0c", "0io", "c0n")},
    {"name": "conv_nhwc_depthwise", "x": (2, 9, 5, 4), "w": (3, 2, 1, 4), "dims": "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
     "attributes": "pad = [[1, 1], [0, 1]]", "pad": ((1, 1), (0, 1)), "groups": 4, "layouts": ("n01c", "01io", "n01c")},
    # Channels that fill no vectors, last and elsewhere.
    {"name": "conv_last_odd", "x": (1, 3, 5, 9), "w": (1, 3, 9, 19), "dims": "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
     "attributes": "pad = [[0, 0], [1, 1]]", "pad": ((0, 0), (1, 1)), "layouts": ("n01c", "01io", "n01c")},
    {"name": "conv_last_groups", "x": (1, 4, 3, 10), "w": (2, 2, 5, 22), "groups": 2,
     "dims": "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "layouts": ("n01c", "01io", "n01c"),
     "attributes": "pad = [[1, 0], [1, 1]]", "pad": ((1, 0), (1, 1))},
    {"name": "conv_last_depthwise", "x": (1, 4, 5, 21), "w": (3, 3, 1, 21), "groups": 21,
     "dims": "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "layouts": ("n01c", "01io", "n01c"),
     "attributes": "pad = [[1, 1], [1, 1]]", "pad": ((1, 1), (1, 1))},
    {"name": "conv_last_line", "x": (2, 7, 3), "w": (4, 3, 18), "dims": "[b, 0, f]x[0, i, o]->[b, 0, f]",
     "attributes": "stride = [2], pad = [[2, 3]], lhs_dilate = [3], rhs_dilate = [2]", "stride": (2,), "pad": ((2, 3),),
     "x_dilation": (3,), "w_dilation": (2,), "layouts": ("n0c", "0io", "n0c")},
    {"name": "conv_points_last", "x": (1, 3, 7, 6), "w": (1, 1, 6, 34), "layouts": ("n01c", "01io", "n01c"),
     "dims": "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "attributes": ""},
    {"name": "conv_gradient", "x": (3, 5, 4, 2), "w": (3, 3, 3, 18), "dims": "[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]",
     "attributes": "pad = [[1, 1], [1, 1]]", "pad": ((1, 1), (1, 1)), "layouts": ("c01n", "i01o", "01nc")},
    {"name": "conv_volume", "x": (1, 2, 3, 4, 3), "w": (2, 1, 2, 3, 17), "layouts": ("n012c", "012io", "n012c"),
     "dims": "[b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f]", "attributes": "lhs_dilate = [1, 2, 1]",
     "x_dilation": (1, 2, 1)},
]


def convolve(x, w, case):
    """By the definition, in layouts n c spatial and o i spatial."""
    from_x = [case["layouts"][0].index(c) for c in "nc012"[:x.ndim]]
    from_w = [case["layouts"][1].index(c) for c in "oi012"[:x.ndim]]
    x, w = x.transpose(from_x).astype(np.float64), w.transpose(from_w).astype(np.float64)
    spatial = x.ndim - 2
    ones = (1,) * spatial
    if case.get("reverse"):
        w = w[(slice(None),) * 2 + (slice(None, None, -1),) * spatial]
    dilation, dilated = case.get("x_dilation", ones), x
    if dilation != ones:
        shape = x.shape[:2] + tuple((d - 1) * k + 1 for d, k in zip(x.shape[2:], dilation))
        dilated = np.zeros(shape)
        dilated[(slice(None),) * 2 + tuple(slice(None, None, k) for k in dilation)] = x
    for axis, (low, high) in enumerate(case.get("pad", ((0, 0),) * spatial)):
        widths = [(0, 0)] * dilated.ndim
        widths[2 + axis] = (max(low, 0), max(high, 0))
        dilated = np.pad(dilated, widths)
        end = dilated.shape[2 + axis] + min(high, 0)
        dilated = np.take(dilated, np.arange(-min(low, 0), end), 2 + axis)
    stride, steps = case.get("stride", ones), case.get("w_dilation", ones)
    groups, batch_groups = case.get("groups", 1), case.get("batch_groups", 1)
    size = [(dilated.shape[2 + i] - (w.shape[2 + i] - 1) * steps[i] - 1) // stride[i] + 1 for i in range(spatial)]
    batch = x.shape[0] // batch_groups
    out = np.zeros((batch, w.shape[0], *size))
    for index in np.ndindex(*out.shape):
        n, o = index[:2]
        n += o // (w.shape[0] // batch_groups) * batch
        first = o // (w.shape[0] // groups) * w.shape[1]
        for k in np.ndindex(*w.shape[2:]):
            at = tuple(index[2 + i] * stride[i] + k[i] * steps[i] for i in range(spatial))
            out[index] += dilated[(n, slice(first, first + w.shape[1]), *at)] @ w[(o, slice(None), *k)]
    return out.transpose([("nc012"[:out.ndim]).index(c) for c in case["layouts"][2]]).astype(np.float32)


def reductions():
    s = Suite("reductions", "reduce, reduce_window, select_and_scatter, sort and batch normalisation.")
    x = s.floats(3, 4, 5)
    zero = "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    lowest = "%z = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
    s.add("sum", zero + "%0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0, 2] : "
          "(tensor<3x4x5xf32>, tensor<f32>) -> tensor<4xf32>\nreturn %0 : tensor<4xf32>", [x], [x.sum((0, 2))])
    s.add("max_with_start", "%0 = stablehlo.reduce(%a init: %b) applies stablehlo.maximum across dimensions = [1] : "
          "(tensor<3x4x5xf32>, tensor<f32>) -> tensor<3x5xf32>\nreturn %0 : tensor<3x5xf32>", [x, np.float32(1)],
          [np.maximum(x.max(1), 1)])
    u = s.ints(6, low=0, high=255, dtype=np.uint8)
    s.add("max_ui8", "%z = stablehlo.constant dense<0> : tensor<ui8>\n%0 = stablehlo.reduce(%a init: %z) applies "
          "stablehlo.maximum across dimensions = [0] : (tensor<6xui8>, tensor<ui8>) -> tensor<ui8>\n"
          "return %0 : tensor<ui8>", [u], [u.max()])
    flags = x > 1
    s.add("any", "%z = stablehlo.constant dense<false> : tensor<i1>\n%0 = stablehlo.reduce(%a init: %z) applies "
          "stablehlo.or across dimensions = [2] : (tensor<3x4x5xi1>, tensor<i1>) -> tensor<3x4xi1>\n"
          "return %0 : tensor<3x4xi1>", [flags], [flags.any(2)])
    s.add("two_at_once", zero + lowest.replace("%z", "%y") + """%0:2 = stablehlo.reduce(%a init: %z), (%b init: %y) across dimensions = [1] : (tensor<3x4x5xf32>, tensor<3x4x5xf32>, tensor<f32>, tensor<f32>) -> (tensor<3x5xf32>, tensor<3x5xf32>)
 reducer(%c: tensor<f32>, %d: tensor<f32>) (%e: tensor<f32>, %f: tensor<f32>) {
  %1 = stablehlo.add %c, %d : tensor<f32>
  %2 = stablehlo.maximum %f, %e : tensor<f32>
  stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
}
return %0#0, %0#1 : tensor<3x5xf32>, tensor<3x5xf32>""", [x, -x], [x.sum(1), (-x).max(1)])
    ties = s.ints(4, 6, low=0, high=3).astype(np.float32)
    for name, (direction, start) in {"argmax": ("GT", "0xFF800000"), "argmin": ("LT", "0x7F800000")}.items():
        fn = np.argmax if name == "argmax" else np.argmin
        s.add(name, f"""%i = stablehlo.iota dim = 1 : tensor<4x6xi32>
%z = stablehlo.constant dense<{start}> : tensor<f32>
%y = stablehlo.constant dense<0> : tensor<i32>
%0:2 = stablehlo.reduce(%a init: %z), (%i init: %y) across dimensions = [1] : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
 reducer(%b: tensor<f32>, %c: tensor<f32>) (%d: tensor<i32>, %e: tensor<i32>) {{
  %1 = stablehlo.compare {direction}, %b, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %2 = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %3 = stablehlo.or %1, %2 : tensor<i1>
  %4 = stablehlo.compare EQ, %b, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %5 = stablehlo.compare LT, %d, %e, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %6 = stablehlo.and %4, %5 : tensor<i1>
  %7 = stablehlo.or %3, %6 : tensor<i1>
  %8 = stablehlo.select %3, %b, %c : tensor<i1>, tensor<f32>
  %9 = stablehlo.select %7, %d, %e : tensor<i1>, tensor<i32>
  stablehlo.return %8, %9 : tensor<f32>, tensor<i32>
}}
return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>""", [ties],
              [ties.max(1) if name == "argmax" else ties.min(1), fn(ties, 1).astype(np.int32)])
    s.add("any_reducer", zero + """%0 = "stablehlo.reduce"(%a, %z) ({
^bb0(%b: tensor<f32>, %c: tensor<f32>):
  %1 = stablehlo.abs %c : tensor<f32>
  %2 = stablehlo.add %b, %1 : tensor<f32>
  stablehlo.return %2 : tensor<f32>
}) {dimensions = dense<[2]> : tensor<1xi64>} : (tensor<3x4x5xf32>, tensor<f32>) -> tensor<3x4xf32>
return %0 : tensor<3x4xf32>""", [x], [np.abs(x).sum(2)])
    image = s.floats(1, 6, 6, 2)
    windows = np.lib.stride_tricks.sliding_window_view(image, (2, 3), (1, 2))[:, ::2, ::1]
    s.add("max_pool", lowest + """%0 = "stablehlo.reduce_window"(%a, %z) ({
^bb0(%b: tensor<f32>, %c: tensor<f32>):
  %1 = stablehlo.maximum %b, %c : tensor<f32>
  stablehlo.return %1 : tensor<f32>
}) {window_dimensions = array<i64: 1, 2, 3, 1>, window_strides = array<i64: 1, 2, 1, 1>} : (tensor<1x6x6x2xf32>, tensor<f32>) -> tensor<1x3x4x2xf32>
return %0 : tensor<1x3x4x2xf32>""", [image], [windows.max((-1, -2))])
    line = s.floats(7)
    s.add("cumulative_sum", zero + """%0 = "stablehlo.reduce_window"(%a, %z) ({
^bb0(%b: tensor<f32>, %c: tensor<f32>):
  %1 = stablehlo.add %b, %c : tensor<f32>
  stablehlo.return %1 : tensor<f32>
}) {window_dimensions = array<i64: 7>, padding = dense<[[6, 0]]> : tensor<1x2xi64>} : (tensor<7xf32>, tensor<f32>) -> tensor<7xf32>
return %0 : tensor<7xf32>""", [line], [np.cumsum(line)])
    ones = "%z = stablehlo.constant dense<1.0> : tensor<f32>\n"
    padded = np.pad(line, (1, 1), constant_values=1)
    s.add("window_sum_with_start", ones + """%0 = "stablehlo.reduce_window"(%a, %z) ({
^bb0(%b: tensor<f32>, %c: tensor<f32>):
  %1 = stablehlo.add %b, %c : tensor<f32>
  stablehlo.return %1 : tensor<f32>
}) {window_dimensions = array<i64: 3>, padding = dense<[[1, 1]]> : tensor<1x2xi64>} : (tensor<7xf32>, tensor<f32>) -> tensor<7xf32>
return %0 : tensor<7xf32>""", [line], [padded[:-2] + padded[1:-1] + padded[2:] + 1])
    board, source = s.floats(4, 4), s.floats(2, 2)
    gradient = np.zeros((4, 4), np.float32)
    for r, c in np.ndindex(2, 2):
        part = board[2 * r:2 * r + 2, 2 * c:2 * c + 2]
        k = np.unravel_index(np.argmax(part), (2, 2))
        gradient[2 * r + k[0], 2 * c + k[1]] += source[r, c]
    s.add("select_and_scatter", zero + """%0 = "stablehlo.select_and_scatter"(%a, %b, %z) ({
^bb0(%c: tensor<f32>, %d: tensor<f32>):
  %1 = stablehlo.compare GE, %c, %d : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %1 : tensor<i1>
}, {
^bb0(%c: tensor<f32>, %d: tensor<f32>):
  %1 = stablehlo.add %c, %d : tensor<f32>
  stablehlo.return %1 : tensor<f32>
}) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
return %0 : tensor<4x4xf32>""", [board, source], [gradient])
    keys, values = s.ints(3, 6, low=0, high=4), np.arange(18, dtype=np.int32).reshape(3, 6)
    order = np.argsort(-keys, 1, kind="stable")
    s.add("sort_descending", """%0:2 = "stablehlo.sort"(%a, %b) ({
^bb0(%c: tensor<i32>, %d: tensor<i32>, %e: tensor<i32>, %f: tensor<i32>):
  %1 = stablehlo.compare GT, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %1 : tensor<i1>
}) {dimension = 1 : i64, is_stable = true} : (tensor<3x6xi32>, tensor<3x6xi32>) -> (tensor<3x6xi32>, tensor<3x6xi32>)
return %0#0, %0#1 : tensor<3x6xi32>, tensor<3x6xi32>""", [keys, values],
          [np.take_along_axis(keys, order, 1), np.take_along_axis(values, order, 1)])
    s.add("sort_by_absolute", """%0 = "stablehlo.sort"(%a) ({
^bb0(%c: tensor<f32>, %d: tensor<f32>):
  %1 = stablehlo.abs %c : tensor<f32>
  %2 = stablehlo.abs %d : tensor<f32>
  %3 = stablehlo.compare LT, %1, %2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %3 : tensor<i1>
}) {dimension = 0 : i64, is_stable = true} : (tensor<7xf32>) -> tensor<7xf32>
return %0 : tensor<7xf32>""", [line], [line[np.argsort(np.abs(line))]])
    unsigned = np.array([3, 2**32 - 1, 0, 2**31], np.uint32)
    odd = np.array([1, np.nan, 0.0, -np.inf, -np.nan, -0.0, np.inf, -2, 0.0], np.float32)
    bits = odd.view(np.int32)
    total = np.argsort(np.where(bits < 0, bits ^ 0x7FFFFFFF, bits), kind="stable")
    for direction, order in [("LT", total), ("GT", np.array([1, 6, 0, 2, 8, 5, 7, 3, 4]))]:
        s.add(f"sort_total_{direction.lower()}", f"""%i = stablehlo.iota dim = 0 : tensor<9xi32>
%0:2 = "stablehlo.sort"(%a, %i) ({{
^bb0(%c: tensor<f32>, %d: tensor<f32>, %e: tensor<i32>, %f: tensor<i32>):
  %1 = stablehlo.compare {direction}, %c, %d, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %1 : tensor<i1>
}}) {{dimension = 0 : i64, is_stable = true}} : (tensor<9xf32>, tensor<9xi32>) -> (tensor<9xf32>, tensor<9xi32>)
%2 = stablehlo.bitcast_convert %0#0 : (tensor<9xf32>) -> tensor<9xi32>
return %2, %0#1 : tensor<9xi32>, tensor<9xi32>""", [odd], [bits[order], order.astype(np.int32)])
    s.add("top_k_total", """%0:2 = chlo.top_k(%a, k = 9) : tensor<9xf32> -> (tensor<9xf32>, tensor<9xi32>)
%1 = stablehlo.bitcast_convert %0#0 : (tensor<9xf32>) -> tensor<9xi32>
return %1, %0#1 : tensor<9xi32>, tensor<9xi32>""", [odd], [bits[order], order.astype(np.int32)])
    s.add("sort_nan_first", """%0 = "stablehlo.sort"(%a) ({
^bb0(%c: tensor<f32>, %d: tensor<f32>):
  %1 = stablehlo.compare LT, %c, %d : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %2 = stablehlo.compare NE, %c, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %3 = stablehlo.compare EQ, %d, %d : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %4 = stablehlo.and %2, %3 : tensor<i1>
  %5 = stablehlo.or %1, %4 : tensor<i1>
  stablehlo.return %5 : tensor<i1>
}) {dimension = 0 : i64, is_stable = true} : (tensor<5xf32>) -> tensor<5xf32>
return %0 : tensor<5xf32>""", [np.array([3, np.nan, 1, np.nan, 2], np.float32)],
          [np.array([np.nan, np.nan, 1, 2, 3], np.float32)])
    s.add("sort_unsigned", """%0 = "stablehlo.sort"(%a) ({
^bb0(%c: tensor<ui32>, %d: tensor<ui32>):
  %1 = stablehlo.compare LT, %c, %d : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
  stablehlo.return %1 : tensor<i1>
}) {dimension = 0 : i64} : (tensor<4xui32>) -> tensor<4xui32>
return %0 : tensor<4xui32>""", [unsigned], [np.sort(unsigned)])
    norms(s)
    s.write("stablehlo")


def norms(s):
    x, scale, offset = s.floats(2, 3, 4), s.floats(3), s.floats(3)
    mean, variance = x.mean((0, 2)), x.var((0, 2))
    spread = lambda v: v.reshape(1, 3, 1)
    normal = (x - spread(mean)) / np.sqrt(spread(variance) + 0.001)
    s.add("batch_norm_inference", """%0 = "stablehlo.batch_norm_inference"(%a, %b, %c, %d, %e) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
return %0 : tensor<2x3x4xf32>""", [x, scale, offset, mean, variance], [normal * spread(scale) + spread(offset)])
    s.add("batch_norm_training", """%0:3 = "stablehlo.batch_norm_training"(%a, %b, %c) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
return %0#0, %0#1, %0#2 : tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>""", [x, scale, offset],
          [normal * spread(scale) + spread(offset), mean, variance])
    gradient = s.floats(2, 3, 4)
    deviation = np.sqrt(variance + 0.001)
    products = (gradient * (x - spread(mean))).sum((0, 2))
    total = gradient.sum((0, 2))
    inner = 8 * gradient - spread(total) - (x - spread(mean)) * spread(products / (variance + 0.001))
    s.add("batch_norm_grad", """%0:3 = "stablehlo.batch_norm_grad"(%a, %b, %c, %d, %e) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
return %0#0, %0#1, %0#2 : tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>""", [x, scale, mean, variance, gradient],
          [spread(scale / deviation / 8) * inner, products / deviation, total])


def indexing():
    s = Suite("indexing", "gather, scatter and relatives.")
    x, rows = s.floats(5, 3), np.array([[4], [0], [9], [2]], np.int32)
    s.add("gather_rows", """%0 = "stablehlo.gather"(%a, %b) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>} : (tensor<5x3xf32>, tensor<4x1xi32>) -> tensor<4x3xf32>
return %0 : tensor<4x3xf32>""", [x, rows], [x[np.clip(rows[:, 0], 0, 4)]])
    points = np.array([[0, 1], [4, 2]], np.int64)
    s.add("gather_windows", """%0 = "stablehlo.gather"(%a, %b) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>} : (tensor<5x3xf32>, tensor<2x2xi64>) -> tensor<2x2x2xf32>
return %0 : tensor<2x2x2xf32>""", [x, points], [np.stack([x[0:2, 1:3], x[3:5, 1:3]])])
    update = s.floats(4, 3)
    for name, op, fn in [("set", None, None), ("add", "add", np.add), ("max", "maximum", np.maximum)]:
        body = "stablehlo.return %d : tensor<f32>" if op is None else \
            f"%1 = stablehlo.{op} %c, %d : tensor<f32>\n  stablehlo.return %1 : tensor<f32>"
        expected = x.copy()
        for i, r in enumerate(rows[:, 0]):
            if r < 5:
                expected[r] = update[i] if fn is None else fn(expected[r], update[i])
        s.add(f"scatter_{name}", f"""%0 = "stablehlo.scatter"(%a, %b, %c) ({{
^bb0(%x: tensor<f32>, %d: tensor<f32>):
  {body.replace("%c,", "%x,")}
}}) {{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}} : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
return %0 : tensor<5x3xf32>""", [x, rows, update], [expected])
    s.add("scatter_any", """%0 = "stablehlo.scatter"(%a, %b, %c) ({
^bb0(%x: tensor<f32>, %y: tensor<f32>):
  %1 = stablehlo.abs %y : tensor<f32>
  %2 = stablehlo.add %x, %1 : tensor<f32>
  stablehlo.return %2 : tensor<f32>
}) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<5x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<5x3xf32>
return %0 : tensor<5x3xf32>""", [x, np.array([[1], [1]], np.int32), update[:2]],
          [x + np.outer([0, 1, 0, 0, 0], np.abs(update[:2]).sum(0)).astype(np.float32)])
    batch, index = s.floats(2, 4, 3), np.array([[3, 0], [1, 1]], np.int32)
    s.add("torch_index_select", """%0 = "stablehlo.torch_index_select"(%a, %b) {dim = 1 : i64, batch_dims = 1 : i64} : (tensor<2x4x3xf32>, tensor<2x2xi32>) -> tensor<2x2x3xf32>
return %0 : tensor<2x2x3xf32>""", [batch, index], [np.stack([batch[i][index[i]] for i in range(2)])])
    s.add("top_k", """%values, %indices = chlo.top_k(%a, k = 2) : tensor<5x3xf32> -> (tensor<5x2xf32>, tensor<5x2xi32>)
return %values, %indices : tensor<5x2xf32>, tensor<5x2xi32>""", [x],
          [-np.sort(-x, 1)[:, :2], np.argsort(-x, 1, kind="stable")[:, :2].astype(np.int32)])
    corners, squares = np.array([[1, 0], [4, 1], [-1, 0], [3, 1], [2, 2]], np.int64), s.floats(5, 2, 2)
    expected = x.copy()
    for i in (0, 3):  # the others do not lie inside
        expected[corners[i, 0]:corners[i, 0] + 2, corners[i, 1]:corners[i, 1] + 2] += squares[i]
    s.add("scatter_windows", """%0 = "stablehlo.scatter"(%a, %b, %c) ({
^bb0(%x: tensor<f32>, %y: tensor<f32>):
  %1 = stablehlo.add %x, %y : tensor<f32>
  stablehlo.return %1 : tensor<f32>
}) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>} : (tensor<5x3xf32>, tensor<5x2xi64>, tensor<5x2x2xf32>) -> tensor<5x3xf32>
return %0 : tensor<5x3xf32>""", [x, corners, squares], [expected])
    many, start = s.ints(256), np.array(200, np.uint8)
    s.add("dynamic_slice_unsigned", """%c = stablehlo.constant dense<130> : tensor<ui8>
%0 = stablehlo.dynamic_slice %a, %b, sizes = [2] : (tensor<256xi32>, tensor<ui8>) -> tensor<2xi32>
%1 = stablehlo.dynamic_slice %a, %c, sizes = [2] : (tensor<256xi32>, tensor<ui8>) -> tensor<2xi32>
%2 = stablehlo.dynamic_update_slice %a, %1, %b : (tensor<256xi32>, tensor<2xi32>, tensor<ui8>) -> tensor<256xi32>
return %0, %1, %2 : tensor<2xi32>, tensor<2xi32>, tensor<256xi32>""", [many, start],
          [many[200:202], many[130:132], np.concatenate([many[:200], many[130:132], many[202:]])])
    line, starts, pairs = s.floats(6), np.array([5, 0, -1, 4], np.int8), s.floats(4, 2)
    expected = line.copy()
    expected[0:2], expected[4:6] = pairs[1], pairs[3]
    s.add("scatter_pairs", """%0 = "stablehlo.scatter"(%a, %b, %c) ({
^bb0(%x: tensor<f32>, %y: tensor<f32>):
  stablehlo.return %y : tensor<f32>
}) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<6xf32>, tensor<4xi8>, tensor<4x2xf32>) -> tensor<6xf32>
return %0 : tensor<6xf32>""", [line, starts, pairs], [expected])
    s.write("stablehlo")


def linear():
    s = Suite("linear", "Linear algebra, transforms, complex numbers.")
    a = s.floats(3, 3)
    spd = (a @ a.T + 3 * np.eye(3)).astype(np.float32)
    s.add("cholesky", "%0 = stablehlo.cholesky %a, lower = true : tensor<3x3xf32>\nreturn %0 : tensor<3x3xf32>", [spd],
          [np.linalg.cholesky(spd)])
    lower, b = (np.tril(a) + 3 * np.eye(3)).astype(np.float32), s.floats(3, 2)
    for name, kind, matrix in [("plain", "NO_TRANSPOSE", lower), ("transposed", "TRANSPOSE", lower.T)]:
        s.add(f"triangular_solve_{name}", f"""%0 = "stablehlo.triangular_solve"(%a, %b) {{left_side = true, lower = true, transpose_a = #stablehlo<transpose {kind}>, unit_diagonal = false}} : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
return %0 : tensor<3x2xf32>""", [lower, b], [np.linalg.solve(matrix, b)])
    re, im = s.floats(2, 6), s.floats(2, 6)
    z = re + 1j * im
    parts = "%re = stablehlo.real %0 : (tensor<{0}xcomplex<f32>>) -> tensor<{0}xf32>\n" \
            "%im = stablehlo.imag %0 : (tensor<{0}xcomplex<f32>>) -> tensor<{0}xf32>\n" \
            "return %re, %im : tensor<{0}xf32>, tensor<{0}xf32>"
    make = "%z = stablehlo.complex %a, %b : tensor<2x6xcomplex<f32>>\n"
    split = lambda v: [v.real.astype(np.float32), v.imag.astype(np.float32)]
    for name, kind, fn in [("fft", "FFT", np.fft.fft), ("ifft", "IFFT", np.fft.ifft)]:
        s.add(name, make + f"%0 = stablehlo.fft %z, type = {kind}, length = [6] : (tensor<2x6xcomplex<f32>>) -> "
              "tensor<2x6xcomplex<f32>>\n" + parts.format("2x6"), [re, im], split(fn(z)))
    s.add("rfft", "%0 = stablehlo.fft %a, type = RFFT, length = [2, 6] : (tensor<2x6xf32>) -> tensor<2x4xcomplex<f32>>\n" +
          parts.format("2x4"), [re], split(np.fft.rfft2(re)))
    spectrum = np.fft.rfft2(s.floats(3, 7))
    s.add("irfft", "%z = stablehlo.complex %a, %b : tensor<3x4xcomplex<f32>>\n%0 = stablehlo.fft %z, type = IRFFT, length "
          "= [3, 7] : (tensor<3x4xcomplex<f32>>) -> tensor<3x7xf32>\nreturn %0 : tensor<3x7xf32>", split(spectrum),
          [np.fft.irfft2(spectrum, (3, 7)).astype(np.float32)])
    w = s.floats(2, 6) + 1j * s.floats(2, 6)
    more = make + "%w = stablehlo.complex %c, %d : tensor<2x6xcomplex<f32>>\n"
    for name, value in {"add": z + w, "subtract": z - w, "multiply": z * w, "divide": z / w, "power": z**w,
                        "atan2": -1j * np.log((w + 1j * z) / np.sqrt(w * w + z * z))}.items():
        s.add(f"complex_{name}", more + f"%0 = stablehlo.{name} %z, %w : tensor<2x6xcomplex<f32>>\n" + parts.format("2x6"),
              [re, im, *split(w)], split(value))
    for name, value in {"exponential": np.exp(z), "log": np.log(z), "sqrt": np.sqrt(z), "sine": np.sin(z),
                        "cosine": np.cos(z), "tanh": np.tanh(z), "negate": -z, "rsqrt": 1 / np.sqrt(z),
                        "logistic": 1 / (1 + np.exp(-z)), "sign": z / np.abs(z), "tan": np.tan(z),
                        "cbrt": np.abs(z)**(1 / 3) * np.exp(1j * np.angle(z) / 3)}.items():
        s.add(f"complex_{name}", make + f"%0 = stablehlo.{name} %z : tensor<2x6xcomplex<f32>>\n" + parts.format("2x6"),
              [re, im], split(value))
    tiny = z.astype(np.complex128) * 1e-4  # differences from 1, which an f32 does not hold
    for name, value in {"exponential_minus_one": np.expm1(tiny), "log_plus_one": np.log1p(tiny)}.items():
        s.add(f"complex_{name}", make + f"%0 = stablehlo.{name} %z : tensor<2x6xcomplex<f32>>\n" + parts.format("2x6"),
              split(tiny), split(value), tolerance=1e-6)
    s.add("complex_abs", make + "%0 = stablehlo.abs %z : (tensor<2x6xcomplex<f32>>) -> tensor<2x6xf32>\n"
          "return %0 : tensor<2x6xf32>", [re, im], [np.abs(z).astype(np.float32)])
    s.add("complex_dot", more + "%t = stablehlo.transpose %w, dims = [1, 0] : (tensor<2x6xcomplex<f32>>) -> "
          "tensor<6x2xcomplex<f32>>\n%0 = stablehlo.dot %z, %t : (tensor<2x6xcomplex<f32>>, tensor<6x2xcomplex<f32>>) -> "
          "tensor<2x2xcomplex<f32>>\n" + parts.format("2x2"), [re, im, *split(w)], split(z @ w.T))
    s.write("stablehlo")


I, NAN = float("inf"), float("nan")
# Function, argument(s), result: where C's Annex G has one, that.
SPECIAL_COMPLEXES = {
    "exponential": [((I, 0), (I, 0)), ((1e20, -0.0), (I, -0.0)), ((NAN, 0), (NAN, 0)), ((100, 1e-20), (I, 2.6881171e23))],
    "exponential_minus_one": [((1e20, 0), (I, 0)), ((I, 0), (I, 0)), ((100, 3e-6), (I, 8.064351e37)), ((65, 0), (1.694889e28, 0))],
    "sine": [((0, I), (0, I)), ((0, NAN), (0, NAN)), ((1e-20, 100), (1.3440586e23, I)), ((1, 0), (0.84147098, 0))],
    "cosine": [((0, I), (I, 0)), ((0, -I), (I, 0)), ((3, 0), (-0.98999250, -0.0)), ((1e-20, 100), (I, -1.3440586e23))],
    "tanh": [((I, I), (1, 0)), ((-I, -I), (-1, -0.0)), ((I, 1), (1, 0)), ((NAN, 0), (NAN, 0))],
    "tan": [((I, I), (0, 1)), ((-I, I), (0, 1)), ((1, -I), (0, -1)), ((0, NAN), (0, NAN))],
    "logistic": [((-100, 1), (0, 0)), ((-1e20, 2), (0, 0)), ((I, 0), (1, 0)), ((100, 0), (1, 0))],
    "rsqrt": [((I, 0), (0, 0)), ((1, I), (0, 0)), ((0, -I), (0, 0)), ((4, 0), (0.5, 0))],
    "divide": [((1, 1, I, I), (0, 0)), ((1, 2, 0, 0), (I, I)), ((I, 1, 1, 1), (I, -I)), ((-3, 0, -0.0, 0), (I, NAN)),
               ((NAN, I, I, 0), (NAN, NAN)), ((1, 1, NAN, 2), (NAN, NAN)), ((1, 1, 3, NAN), (NAN, NAN))],
    "power": [((0, 0, 0, 0), (1, 0)), ((0, 0, 1, 1), (0, 0)), ((0, 0, -1, 0), (NAN, NAN)), ((I, 0, 2.5, 0), (I, 0)), ((I, I, 0, 0), (1, 0)),
              ((0, I, -1, 0), (0, 0))],
}


def special_complexes():
    s = Suite("special_complexes", "Functions of complex numbers that are zero, infinite, large or none.")
    for name, rows in SPECIAL_COMPLEXES.items():
        inputs = np.array([row[0] for row in rows], np.float32).T
        kind, part, operands = f"tensor<{len(rows)}xcomplex<f32>>", f"tensor<{len(rows)}xf32>", ["%z", "%w"][:len(inputs) // 2]
        body = "".join(f"{z} = stablehlo.complex {x}, {y} : {kind}\n" for z, x, y in zip(operands, ["%a", "%c"], ["%b", "%d"]))
        body += f"%0 = stablehlo.{name} {', '.join(operands)} : {kind}\n%re = stablehlo.real %0 : ({kind}) -> {part}\n" \
                f"%im = stablehlo.imag %0 : ({kind}) -> {part}\nreturn %re, %im : {part}, {part}"
        s.add(name, body, list(inputs), list(np.array([row[1] for row in rows], np.float32).T), 1e-6)
    s.write("stablehlo")


def complexes():
    """Each case makes %z of %a and %b (and %w of %c and %d), and gives the parts of %0."""
    s = Suite("complexes", "Complex elements in functions, orders, reductions, scatters.")
    z = s.floats(2, 6) + 1j * s.floats(2, 6)
    w = s.floats(2, 6) + 1j * s.floats(2, 6)
    kind, scalar = "tensor<2x6xcomplex<f32>>", "tensor<complex<f32>>"
    make = f"%z = stablehlo.complex %a, %b : {kind}\n"
    both = make + f"%w = stablehlo.complex %c, %d : {kind}\n"
    split = lambda v: [np.asarray(v.real, np.float32), np.asarray(v.imag, np.float32)]

    def give(shape):
        part = f"tensor<{shape}xf32>"
        return (f"%re = stablehlo.real %0 : (tensor<{shape}xcomplex<f32>>) -> {part}\n"
                f"%im = stablehlo.imag %0 : (tensor<{shape}xcomplex<f32>>) -> {part}\nreturn %re, %im : {part}, {part}\n")

    def region(body, types=(scalar, scalar)):
        args = ", ".join(f"%{'xy'[i]}: {t}" for i, t in enumerate(types))
        return f"({{\n^bb0({args}):\n{body}}})"

    for name, fn in {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
                     "atanh": np.arctanh, "sinh": np.sinh, "cosh": np.cosh, "tan": np.tan, "square": np.square}.items():
        s.add(name, make + f"%0 = chlo.{name} %z : {kind} -> {kind}\n" + give("2x6"), split(z), split(fn(z)), 1e-5)
    s.add("broadcast_multiply", make + "%w = stablehlo.complex %c, %d : tensor<6xcomplex<f32>>\n"
          f"%0 = chlo.broadcast_multiply %z, %w : ({kind}, tensor<6xcomplex<f32>>) -> {kind}\n" + give("2x6"),
          split(z) + split(w[0]), split(z * w[0]))
    tie = np.where(np.arange(6) % 2, z, z.real + 1j * w.imag)
    for name, first in {"maximum": lambda x, y: x > y, "minimum": lambda x, y: x < y}.items():
        better = np.where(z.real == tie.real, first(z.imag, tie.imag), first(z.real, tie.real))
        s.add(name, both + f"%0 = stablehlo.{name} %z, %w : {kind}\n" + give("2x6"), split(z) + split(tie),
              split(np.where(better, z, tie)))
    s.add("iota", "%0 = stablehlo.iota dim = 1 : tensor<2x3xcomplex<f32>>\n" + give("2x3"), [],
          split(np.tile(np.arange(3, dtype=np.complex64), (2, 1))))
    product = region(f"%p = stablehlo.multiply %x, %y : {scalar}\nstablehlo.return %p : {scalar}\n")
    total = region(f"%p = stablehlo.add %x, %y : {scalar}\nstablehlo.return %p : {scalar}\n")
    start = f"%i = stablehlo.constant dense<(1.0, 0.0)> : {scalar}\n"
    s.add("reduce_product", make + start + f'%0 = "stablehlo.reduce"(%z, %i) {product} {{dimensions = array<i64: 1>}} : '
          f"({kind}, {scalar}) -> tensor<2xcomplex<f32>>\n" + give("2"), split(z), split(z.prod(1)), 1e-5)
    padded = np.concatenate([np.full((2, 5), 1 + 0j), z], 1)
    s.add("window_product", make + start + f'%0 = "stablehlo.reduce_window"(%z, %i) {product} {{window_dimensions = '
          f"array<i64: 1, 3>, padding = dense<[[0, 0], [2, 0]]> : tensor<2x2xi64>}} : ({kind}, {scalar}) -> {kind}\n" +
          give("2x6"), split(z), split(np.stack([padded[:, 3 + i:6 + i].prod(1) for i in range(6)], 1)), 1e-5)
    zero = f"%i = stablehlo.constant dense<(0.0, 0.0)> : {scalar}\n"
    s.add("window_running_sum", make + zero + f'%0 = "stablehlo.reduce_window"(%z, %i) {total} {{window_dimensions = '
          f"array<i64: 1, 6>, padding = dense<[[0, 0], [5, 0]]> : tensor<2x2xi64>}} : ({kind}, {scalar}) -> {kind}\n" +
          give("2x6"), split(z), split(z.cumsum(1)), 1e-5)
    by_real = region(f"%p = stablehlo.real %x : ({scalar}) -> tensor<f32>\n%q = stablehlo.real %y : ({scalar}) -> "
                     "tensor<f32>\n%c0 = stablehlo.compare GT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
                     "stablehlo.return %c0 : tensor<i1>\n")
    order = np.argsort(-z.real, 1)
    s.add("sort", make + f'%0 = "stablehlo.sort"(%z) {by_real} {{dimension = 1 : i64}} : ({kind}) -> {kind}\n' +
          give("2x6"), split(z), split(np.take_along_axis(z, order, 1)))
    pairs = f"%x: {scalar}, %y: {scalar}, %p: tensor<i32>, %q: tensor<i32>"
    s.add("sort_with_places", make + "%places = stablehlo.iota dim = 1 : tensor<2x6xi32>\n"
          f'%0:2 = "stablehlo.sort"(%z, %places) ({{\n^bb0({pairs}):\n'
          f"%s = stablehlo.imag %x : ({scalar}) -> tensor<f32>\n%t = stablehlo.imag %y : ({scalar}) -> tensor<f32>\n"
          "%c0 = stablehlo.compare LT, %s, %t : (tensor<f32>, tensor<f32>) -> tensor<i1>\nstablehlo.return %c0 : "
          f"tensor<i1>\n}}) {{dimension = 1 : i64}} : ({kind}, tensor<2x6xi32>) -> ({kind}, tensor<2x6xi32>)\n"
          "return %0#1 : tensor<2x6xi32>", split(z), [np.argsort(z.imag, 1).astype(np.int32)])
    rows, update = np.array([[3], [0], [3]], np.int32), (s.floats(2, 3) + 1j * s.floats(2, 3))
    numbers = ("{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], "
               "scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}")
    updates = "tensor<2x3xcomplex<f32>>"
    rows_text = "%rows = stablehlo.constant dense<[[3], [0], [3]]> : tensor<3x1xi32>\n"
    for name, body, fn in [("add", total, lambda x, i, u: x.__setitem__(i, x[i] + u)),
                           ("multiply", product, lambda x, i, u: x.__setitem__(i, x[i] * u))]:
        want = z.copy()
        for k in range(3):
            fn(want, (slice(None), rows[k, 0]), update[:, k])
        s.add(f"scatter_{name}", make + f"%w = stablehlo.complex %c, %d : {updates}\n{rows_text}"
              f'%0 = "stablehlo.scatter"(%z, %rows, %w) {body} {numbers} : ({kind}, tensor<3x1xi32>, {updates}) -> '
              f"{kind}\n" + give("2x6"), split(z) + split(update), split(want), 1e-5)
    key = lambda v: (v.real, v.imag)
    clamped = [min(max(v, -1 + 0.5j, key=key), 1 - 0.5j, key=key) for v in z.astype(np.complex64).ravel()]
    s.add("clamp", make + f"%l = stablehlo.constant dense<(-1.0, 0.5)> : {scalar}\n%h = stablehlo.constant dense<(1.0, -0.5)> : "
          f"{scalar}\n%0 = stablehlo.clamp %l, %z, %h : ({scalar}, {kind}, {scalar}) -> {kind}\n" + give("2x6"), split(z),
          split(np.reshape(clamped, z.shape)))
    s.add("map", both + f'%0 = "stablehlo.map"(%z, %w) {product} {{dimensions = array<i64: 0, 1>}} : ({kind}, {kind}) -> {kind}\n' +
          give("2x6"), split(z) + split(w), split(z * w))
    s.write("stablehlo")


def special():
    from scipy import special as sp
    s = Suite("special", "CHLO: special functions and implicit broadcasting.")
    x, positive, unit = s.floats(12, low=-3, high=3), s.floats(12, low=0.2, high=9), s.floats(12, low=-0.99, high=0.99)
    for name, data, fn in [("acos", unit, np.arccos), ("acosh", positive + 1, np.arccosh), ("asin", unit, np.arcsin),
                           ("asinh", x, np.arcsinh), ("atan", x, np.arctan), ("atanh", unit, np.arctanh),
                           ("cosh", x, np.cosh), ("sinh", x, np.sinh), ("tan", unit, np.tan), ("erf", x, sp.erf),
                           ("erfc", x, sp.erfc), ("erf_inv", unit, sp.erfinv), ("lgamma", x, sp.gammaln),
                           ("lgamma_positive", positive, sp.gammaln), ("digamma", x, sp.digamma),
                           ("digamma_positive", positive, sp.digamma), ("bessel_i1e", x * 5, sp.i1e), ("square", x, np.square)]:
        op = name.replace("_positive", "")
        s.add(name, f"%0 = chlo.{op} %a : tensor<12xf32> -> tensor<12xf32>\nreturn %0 : tensor<12xf32>", [data],
              [fn(data).astype(np.float32)], tolerance=2e-5)
        if op in ("lgamma", "digamma", "erf_inv", "bessel_i1e"):
            wide = data.astype(np.float64)
            s.add(f"{name}_f64", f"%0 = chlo.{op} %a : tensor<12xf64> -> tensor<12xf64>\nreturn %0 : tensor<12xf64>",
                  [wide], [fn(wide)], tolerance=1e-6)
    order, place = np.array([2, 3.5, 1.5, 5] * 3, np.float32), positive
    s.add("zeta", "%0 = chlo.zeta %a, %b : tensor<12xf32>, tensor<12xf32> -> tensor<12xf32>\nreturn %0 : tensor<12xf32>",
          [order, place], [sp.zeta(order, place).astype(np.float32)])
    degree = np.array([0, 1, 2, 3] * 3, np.float32)
    s.add("polygamma", "%0 = chlo.polygamma %a, %b : tensor<12xf32>, tensor<12xf32> -> tensor<12xf32>\n"
          "return %0 : tensor<12xf32>", [degree, place],
          [np.array([sp.polygamma(int(d), p) for d, p in zip(degree, place)], np.float32)])
    toward = s.floats(12)
    s.add("next_after", "%0 = chlo.next_after %a, %b : tensor<12xf32>, tensor<12xf32> -> tensor<12xf32>\n"
          "return %0 : tensor<12xf32>", [x, toward], [np.nextafter(x, toward)], tolerance=0)
    m, row = s.floats(3, 4), s.floats(4)
    s.add("broadcast_add", "%0 = chlo.broadcast_add %a, %b : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>\n"
          "return %0 : tensor<3x4xf32>", [m, row], [m + row])
    column = s.floats(3)
    s.add("broadcast_dimensions", "%0 = chlo.broadcast_subtract %a, %b {broadcast_dimensions = array<i64: 0>} : "
          "(tensor<3x4xf32>, tensor<3xf32>) -> tensor<3x4xf32>\nreturn %0 : tensor<3x4xf32>", [m, column],
          [m - column[:, None]])
    s.add("broadcast_compare", "%0 = chlo.broadcast_compare %a, %b {comparison_direction = #chlo<comparison_direction LT>} "
          ": (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xi1>\nreturn %0 : tensor<3x4xi1>", [m, row], [m < row])
    s.write("stablehlo")


def control():
    s = Suite("control", "Control flow, calls, tuples, random numbers.")
    x, flag = s.floats(4), np.array(True)
    s.add("if", """%0 = "stablehlo.if"(%b) ({
  %1 = stablehlo.add %a, %a : tensor<4xf32>
  stablehlo.return %1 : tensor<4xf32>
}, {
  stablehlo.return %a : tensor<4xf32>
}) : (tensor<i1>) -> tensor<4xf32>
return %0 : tensor<4xf32>""", [x, flag], [2 * x])
    for i in (0, 1, 2, 7, -1):
        s.add(f"case_{i}".replace("-", "minus_"), """%0 = "stablehlo.case"(%b) ({
  stablehlo.return %a : tensor<4xf32>
}, {
  %1 = stablehlo.negate %a : tensor<4xf32>
  stablehlo.return %1 : tensor<4xf32>
}, {
  %1 = stablehlo.add %a, %a : tensor<4xf32>
  stablehlo.return %1 : tensor<4xf32>
}) : (tensor<i32>) -> tensor<4xf32>
return %0 : tensor<4xf32>""", [x, np.array(i, np.int32)], [[x, -x, 2 * x][min(i, 2) if i >= 0 else 2]])
    s.add("case_constant", """%b = stablehlo.constant dense<2> : tensor<i32>
%0 = "stablehlo.case"(%b) ({
  stablehlo.return %a : tensor<4xf32>
}, {
  %1 = stablehlo.negate %a : tensor<4xf32>
  stablehlo.return %1 : tensor<4xf32>
}, {
  %1 = stablehlo.add %a, %a : tensor<4xf32>
  stablehlo.return %1 : tensor<4xf32>
}) : (tensor<i32>) -> tensor<4xf32>
return %0 : tensor<4xf32>""", [x], [2 * x])
    s.add("while", """%n = stablehlo.constant dense<5> : tensor<i32>
%one = stablehlo.constant dense<1> : tensor<i32>
%zero = stablehlo.constant dense<0> : tensor<i32>
%0:2 = stablehlo.while(%i = %zero, %v = %a) : tensor<i32>, tensor<4xf32>
cond {
  %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %1 : tensor<i1>
} do {
  %1 = stablehlo.add %i, %one : tensor<i32>
  %2 = stablehlo.add %v, %a : tensor<4xf32>
  stablehlo.return %1, %2 : tensor<i32>, tensor<4xf32>
}
return %0#0, %0#1 : tensor<i32>, tensor<4xf32>""", [x], [np.array(5, np.int32), 6 * x])
    s.add("call", "%0 = func.call @twice(%a) : (tensor<4xf32>) -> tensor<4xf32>\n%1 = stablehlo.composite \"x.twice\" %0 "
          "{decomposition = @twice} : (tensor<4xf32>) -> tensor<4xf32>\nreturn %1 : tensor<4xf32>", [x], [4 * x],
          extra="func.func private @twice(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.add %a, %a : "
                "tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n")
    s.add("tuple", "%0 = stablehlo.tuple %a, %b : tuple<tensor<4xf32>, tensor<i1>>\n%1 = stablehlo.get_tuple_element "
          "%0[0] : (tuple<tensor<4xf32>, tensor<i1>>) -> tensor<4xf32>\n%2 = stablehlo.optimization_barrier %1 : "
          "tensor<4xf32>\nreturn %2 : tensor<4xf32>", [x, flag], [x])
    s.add("custom_calls", "%0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = \"{replicated}\"} : "
          "(tensor<4xf32>) -> tensor<4xf32>\n%1 = stablehlo.custom_call @mhlo.erf(%0) : (tensor<4xf32>) -> tensor<4xf32>\n"
          "return %1 : tensor<4xf32>", [x], [erf(x).astype(np.float32)])
    random_bits(s)
    s.write("stablehlo")


M = 0xFFFFFFFF


def threefry(state, i):
    """The two words of counter i."""
    keys = [state[0] & M, state[0] >> 32]
    keys.append(keys[0] ^ keys[1] ^ 0x1BD11BDA)
    count = (state[1] + i) % 2**64
    x = [(count & M) + keys[0] & M, (count >> 32) + keys[1] & M]
    for r in range(20):
        by = [[13, 15, 26, 6], [17, 29, 16, 24]][r // 4 % 2][r % 4]
        x[0] = x[0] + x[1] & M
        x[1] = ((x[1] << by | x[1] >> (32 - by)) & M) ^ x[0]
        if r % 4 == 3:
            k = r // 4 + 1
            x = [x[0] + keys[k % 3] & M, x[1] + keys[(k + 1) % 3] + k & M]
    return x


def philox(state, i):
    """The four words of counter i; its upper half is the state's third word, or the key."""
    count, k = state[1] + (state[-1 if len(state) == 3 else 0] << 64) + i, [state[0] & M, state[0] >> 32]
    x = [count >> 32 * w & M for w in range(4)]
    for _ in range(10):
        a, b = x[0] * 0xD2511F53, x[2] * 0xCD9E8D57
        x = [b >> 32 ^ x[1] ^ k[0], b & M, a >> 32 ^ x[3] ^ k[1], a & M]
        k = [k[0] + 0x9E3779B9 & M, k[1] + 0xBB67AE85 & M]
    return x


def random_words(algorithm, state, shape, dtype):
    """What XLA gives, and how many counters it takes."""
    width, dims = 8 * np.dtype(dtype).itemsize, list(shape) or [1]
    count = math.prod(shape)
    if algorithm == "PHILOX":
        per_block = 2 if width == 64 else 4
        blocks = -(-count // per_block)
        words = np.array([philox(state, i) for i in range(blocks)], np.uint64).ravel()
        if width == 64:
            words = words[0::2] | words[1::2] << np.uint64(32)
        return words[:count].reshape(shape).astype(dtype), blocks
    if width == 64:
        words = np.array([threefry(state, i) for i in range(count)], np.uint64)
        return (words[:, 0] | words[:, 1] << np.uint64(32)).reshape(shape), count
    even = [i for i, d in enumerate(dims) if d % 2 == 0]
    axis = even[0] if even else int(np.argmax(dims))
    half = dims[:axis] + [-(-dims[axis] // 2)] + dims[axis + 1:]
    words = np.array([threefry(state, i) for i in range(math.prod(half))]).reshape([*half, 2])
    words = np.moveaxis(words, -1, axis + 1).reshape(half[:axis] + [2 * half[axis]] + half[axis + 1:])
    return np.take(words, range(dims[axis]), axis).reshape(shape).astype(dtype), math.prod(half)


def algorithms(s):
    """Products whose operands are rounded as `algorithm` says: 1 + 2^-9 is one in bf16, 1 + 2^-12 one in tf32."""
    tf32 = lambda v: ((v.view(np.int32) + 0xFFF + (v.view(np.int32) >> 13 & 1)) & ~0x1FFF).view(np.float32)
    bf16 = lambda v: ((v.view(np.int32) + 0x7FFF + (v.view(np.int32) >> 16 & 1)) & ~0xFFFF).view(np.float32)
    two = lambda v: bf16(v) + bf16(v - bf16(v))
    half = lambda v: v.astype(np.float16).astype(np.float32)
    same = lambda v: v
    x = (1 + np.array([[2**-9, 2**-12, 2**-8, -2**-20], [3, 0.1, 1e-3, 2**-10]])).astype(np.float32)
    y = np.array([[1.0, 0.3], [-1, 1 / 3], [1.5, 7], [-1.5, 1e-2]], np.float32)
    rows = {"bf16": ("bf16", "f32", 1, 1, bf16), "tf32": ("tf32", "f32", 1, 1, tf32), "f16": ("f16", "f32", 1, 1, half),
            "bf16_x3": ("bf16", "f32", 2, 3, two), "bf16_x9": ("bf16", "f32", 3, 9, same),
            "jax_bf16_x3": ("bf16", "f32", 1, 3, two), "jax_bf16_x6": ("bf16", "f32", 1, 6, same),
            "jax_bf16_x9": ("bf16", "f32", 1, 9, same), "jax_tf32_x3": ("tf32", "f32", 1, 3, same),
            "f32": ("f32", "f32", 1, 1, same), "f64": ("f64", "f64", 1, 1, same)}
    for name, (kind, total, parts, operations, rounded) in rows.items():
        s.add(f"dot_algorithm_{name}", f"""%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT], algorithm = <lhs_precision_type = {kind}, rhs_precision_type = {kind}, accumulation_type = {total}, lhs_component_count = {parts}, rhs_component_count = {parts}, num_primitive_operations = {operations}, allow_imprecise_accumulation = false> : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
return %0 : tensor<2x2xf32>""", [x, y], [(rounded(x).astype(np.float64) @ rounded(y).astype(np.float64)).astype(np.float32)],
              tolerance=2e-6)
    eighths = np.array([[1.0, 1.1], [2.3, -0.4]], np.float32)
    s.add("dot_algorithm_f8", """%0 = "stablehlo.dot_general"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f8E5M2, rhs_precision_type = f8E4M3FN, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = true>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
return %0 : tensor<2x2xf32>""", [eighths, eighths],
          [(np.array([[1, 1], [2.5, -0.375]]) @ np.array([[1, 1.125], [2.25, -0.40625]])).astype(np.float32)])

    numbers = np.arange(4, dtype=np.int32).reshape(2, 2) + (1 << 24)
    s.add("algorithm_of_integers", "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = "
          "<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, "
          "rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : "
          "(tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>\nreturn %0 : tensor<2x2xi32>",
          [numbers, np.eye(2, dtype=np.int32)], [numbers])


def random_bits(s):
    # Numbers that XLA 0.10.2 gave, for the model above.
    first = random_words("THREE_FRY", [0x0123456789ABCDEF, 0xFEDCBA9876543210], (2, 3), np.uint32)[0]
    assert first.ravel().tolist() == [0xAED4A37F, 0xC3CC4D02, 0xAEE5264E, 0x1130D111, 0x798E402E, 0xB089DA7A]
    first = random_words("PHILOX", [0x0123456789ABCDEF, 0xFEDCBA9876543210], (2,), np.uint64)[0]
    assert first.tolist() == [0xCFA390B51EC53D42, 0xE71FF917F2235702]
    first = random_words("PHILOX", [5, 2**64 - 1, 7], (6,), np.uint32)[0]
    assert first.tolist() == [408654879, 156914071, 4246078289, 2550873154, 1414544935, 1163734151]
    two, three = [0x0123456789ABCDEF, 0xFEDCBA9876543210], [5, 2**64 - 1, 7]
    rows = [("THREE_FRY", two, (5,), np.uint32), ("THREE_FRY", two, (3, 4), np.uint32), ("THREE_FRY", two, (), np.uint32),
            ("THREE_FRY", two, (3, 5), np.uint8), ("THREE_FRY", [9, 2**64 - 2], (5,), np.uint64),
            ("PHILOX", two, (7,), np.uint32), ("PHILOX", [9, 2**64 - 2], (3, 3), np.uint64),
            ("PHILOX", three, (7,), np.uint32), ("DEFAULT", two, (3,), np.uint16)]
    for number, (algorithm, state, shape, dtype) in enumerate(rows):
        words, blocks = random_words(algorithm.replace("DEFAULT", "PHILOX"), state, shape, dtype)
        after = [state[0], *[(state[1] + (state[2] << 64 if len(state) == 3 else 0) + blocks >> 64 * i) % 2**64
                             for i in range(len(state) - 1)]]
        types = f"tensor<{len(state)}xui64>", type_of(words)
        s.add(f"random_{number}", f"%0, %1 = stablehlo.rng_bit_generator %a, algorithm = {algorithm} : ({types[0]}) -> "
              f"({types[0]}, {types[1]})\nreturn %0, %1 : {types[0]}, {types[1]}", [np.array(state, np.uint64)],
              [np.array(after, np.uint64), words])


def mhlo():
    s = Suite("mhlo", "The older dialect name and the older spelling of attributes.")
    x, y = s.floats(2, 3), s.floats(3, 4)
    s.add("legacy", """%0 = "mhlo.dot"(%a, %b) {precision_config = [#mhlo<precision DEFAULT>, #mhlo<precision DEFAULT>]} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
%1 = mhlo.constant dense<0.000000e+00> : tensor<f32>
%2 = "mhlo.broadcast_in_dim"(%1) {broadcast_dimensions = dense<> : tensor<0xi64>} : (tensor<f32>) -> tensor<2x4xf32>
%3 = mhlo.maximum %0, %2 : tensor<2x4xf32>
%4 = mhlo.reduce(%3 init: %1) across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
 reducer(%c: tensor<f32>, %d: tensor<f32>) {
  %5 = mhlo.add %c, %d : tensor<f32>
  "mhlo.return"(%5) : (tensor<f32>) -> ()
}
return %4 : tensor<2xf32>""", [x, y], [np.maximum(x @ y, 0).sum(1)])
    s.write("stablehlo")


if __name__ == "__main__":
    for suite in [elementwise, compare, shapes, contractions, reductions, indexing, linear, complexes, special_complexes, special, control,
                  mhlo]:
        suite()
