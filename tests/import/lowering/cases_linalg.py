"""linalg, tensor, arith, math, scf, cf programs. Run as a script to write linalg/*.mlir anew."""

import numpy as np

from case import Suite, type_of

def fill(result, value="0.0", element="f32"):
    return (f"%cst = arith.constant {value} : {element}\n%empty = tensor.empty() : {result}\n"
            f"%init = linalg.fill ins(%cst : {element}) outs(%empty : {result}) -> {result}\n")


def named(op, result, *arrays, attributes="", value="0.0", element="f32"):
    names = ", ".join("%" + "abcd"[i] for i in range(len(arrays)))
    types = ", ".join(type_of(x) for x in arrays)
    return (fill(result, value, element) + f"%0 = linalg.{op} {attributes} ins({names} : {types}) outs(%init : {result}) "
            f"-> {result}\nreturn %0 : {result}")


def contractions():
    s = Suite("contractions", "linalg's named contractions, and linalg.generic that is one.")
    a, b = s.floats(3, 4), s.floats(4, 5)
    x, y = s.floats(2, 3, 4), s.floats(2, 4, 5)
    for name, l, r, value in [("matmul", a, b, a @ b), ("matmul_transpose_a", a.T.copy(), b, a @ b),
                              ("matmul_transpose_b", a, b.T.copy(), a @ b), ("batch_matmul", x, y, x @ y),
                              ("batch_matmul_transpose_b", x, y.transpose(0, 2, 1).copy(), x @ y),
                              ("batch_reduce_matmul", x, y, (x @ y).sum(0)), ("matvec", a, b[:, 0].copy(), a @ b[:, 0]),
                              ("vecmat", a[0], b, a[0] @ b), ("dot", a[0], a[1], a[0] @ a[1]),
                              ("batch_matvec", x, y[:, :, 0].copy(), np.einsum("bmk,bk->bm", x, y[:, :, 0]))]:
        value = np.asarray(value, np.float32)
        s.add(name, named(name, type_of(value), l, r), [l, r], [value])
    m, n = s.floats(2, 3, 4, 1), s.floats(2, 3, 5, 1)
    value = np.einsum("MKmk,NKnk->MNmn", m, n)
    s.add("mmt4d", named("mmt4d", type_of(value), m, n), [m, n], [value])
    c = s.floats(3, 5)
    s.add("matmul_onto", "%0 = linalg.matmul ins(%a, %b : tensor<3x4xf32>, tensor<4x5xf32>) outs(%c : tensor<3x5xf32>) -> "
          "tensor<3x5xf32>\nreturn %0 : tensor<3x5xf32>", [a, b, c], [a @ b + c])
    i, j = s.ints(3, 4, low=-128, high=127, dtype=np.int8), s.ints(4, 5, low=-128, high=127, dtype=np.int8)
    s.add("matmul_i8", named("matmul", "tensor<3x5xi32>", i, j, value="0", element="i32"), [i, j],
          [i.astype(np.int32) @ j.astype(np.int32)])
    s.add("quantized_matmul", "%za = arith.constant 3 : i32\n%zb = arith.constant -7 : i32\n" +
          fill("tensor<3x5xi32>", "0", "i32") + "%0 = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<3x4xi8>, "
          "tensor<4x5xi8>, i32, i32) outs(%init : tensor<3x5xi32>) -> tensor<3x5xi32>\nreturn %0 : tensor<3x5xi32>", [i, j],
          [(i.astype(np.int32) - 3) @ (j.astype(np.int32) + 7)])
    generic = """%0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<4x3xf32>, tensor<5x4xf32>) outs(%init : tensor<5x3xf32>) {
^bb0(%x: f32, %y: f32, %z: f32):
  %1 = arith.mulf %y, %x : f32
  %2 = arith.addf %z, %1 : f32
  linalg.yield %2 : f32
} -> tensor<5x3xf32>
return %0 : tensor<5x3xf32>"""
    s.add("generic", fill("tensor<5x3xf32>") + generic, [a.T.copy(), b.T.copy()], [(a @ b).T])
    mapped = "indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]"
    s.add("matmul_maps", named("matmul", "tensor<3x5xf32>", a.T.copy(), b, attributes=mapped), [a.T.copy(), b], [a @ b])
    s.add("contract", named("contract", "tensor<3x5xf32>", a.T.copy(), b, attributes=mapped), [a.T.copy(), b], [a @ b])
    dynamic = """%zero = arith.constant 0.0 : f32
%c0 = arith.constant 0 : index
%m = tensor.dim %a, %c0 : tensor<?x4xf32>
%empty = tensor.empty(%m) : tensor<?x5xf32>
%init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x5xf32>) -> tensor<?x5xf32>
%0 = linalg.matmul ins(%a, %b : tensor<?x4xf32>, tensor<4x5xf32>) outs(%init : tensor<?x5xf32>) -> tensor<?x5xf32>
return %0 : tensor<?x5xf32>"""
    s.add("dynamic_matmul", dynamic, [a, b], [a @ b], types=["tensor<?x4xf32>", "tensor<4x5xf32>"],
          results=["tensor<?x5xf32>"])
    s.write("linalg")


def convolve(x, w, strides, dilations, depthwise=False):
    """n, spatial, c and spatial, c, o (depthwise: spatial, c, m)."""
    spatial = x.ndim - 2
    size = [(x.shape[1 + i] - (w.shape[i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in range(spatial)]
    tail = w.shape[spatial:] if depthwise else w.shape[-1:]
    out = np.zeros((x.shape[0], *size, *tail))
    for at in np.ndindex(*size):
        for k in np.ndindex(*w.shape[:spatial]):
            part = x[(slice(None), *(at[i] * strides[i] + k[i] * dilations[i] for i in range(spatial)))]
            if depthwise:
                out[(slice(None), *at)] += np.einsum("nc,cm->ncm", part, w[k])
            else:
                out[(slice(None), *at)] += part @ w[k]
    return out.astype(np.float32)


def convolutions():
    s = Suite("convolutions", "Convolutions and pooling, named and as linalg.generic.")
    x, w = s.floats(2, 6, 5, 3), s.floats(3, 2, 3, 4)
    attributes = "{dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>}"
    y = convolve(x, w, (2, 1), (1, 1))
    s.add("nhwc_hwcf", named("conv_2d_nhwc_hwcf", type_of(y), x, w, attributes=attributes), [x, w], [y])
    nchw, fchw = x.transpose(0, 3, 1, 2).copy(), w.transpose(3, 2, 0, 1).copy()
    s.add("nchw_fchw", named("conv_2d_nchw_fchw", type_of(y.transpose(0, 3, 1, 2)), nchw, fchw, attributes=attributes),
          [nchw, fchw], [y.transpose(0, 3, 1, 2)])
    fhwc = w.transpose(3, 0, 1, 2).copy()
    s.add("nhwc_fhwc", named("conv_2d_nhwc_fhwc", type_of(y), x, fhwc, attributes=attributes), [x, fhwc], [y])
    plain = convolve(x[:1, :, :, :1], w[:, :, :1, :1], (1, 1), (1, 1))[0, :, :, 0]
    p, q = x[0, :, :, 0].copy(), w[:, :, 0, 0].copy()
    s.add("conv_2d", named("conv_2d", type_of(plain), p, q), [p, q], [plain])
    line, taps = s.floats(2, 7, 3), s.floats(3, 3, 2)
    y1 = convolve(line, taps, (1,), (2,))
    s.add("nwc_wcf", named("conv_1d_nwc_wcf", type_of(y1), line, taps,
                           attributes="{dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>}"),
          [line, taps], [y1])
    d = s.floats(3, 2, 3)
    depthwise = convolve(x, d[..., None], (1, 1), (1, 1), True)[..., 0]
    s.add("depthwise", named("depthwise_conv_2d_nhwc_hwc", type_of(depthwise), x, d), [x, d], [depthwise])
    dm = s.floats(3, 2, 3, 2)
    multiplied = convolve(x, dm, (1, 1), (1, 1), True)
    s.add("depthwise_multiplier", named("depthwise_conv_2d_nhwc_hwcm", type_of(multiplied), x, dm), [x, dm], [multiplied])
    dn = d.transpose(2, 0, 1).copy()
    s.add("depthwise_nchw", named("depthwise_conv_2d_nchw_chw", type_of(depthwise.transpose(0, 3, 1, 2)), nchw, dn),
          [nchw, dn], [depthwise.transpose(0, 3, 1, 2)])
    g, gw = s.floats(1, 2, 3, 4, 4), s.floats(2, 5, 3, 2, 2)
    grouped = np.stack([convolve(g[:, i].transpose(0, 2, 3, 1), gw[i].transpose(2, 3, 1, 0), (1, 1), (1, 1)) for i in range(2)], 1)
    grouped = grouped.transpose(0, 1, 4, 2, 3)
    s.add("grouped", named("conv_2d_ngchw_gfchw", type_of(grouped), g, gw), [g, gw], [grouped])
    i, k = s.ints(1, 4, 4, 2, low=-128, high=127, dtype=np.int8), s.ints(2, 2, 2, 3, low=-128, high=127, dtype=np.int8)
    quantized = convolve(i.astype(np.float64) - 3, k.astype(np.float64) + 5, (1, 1), (1, 1)).astype(np.int32)
    s.add("quantized", "%zx = arith.constant 3 : i32\n%zw = arith.constant -5 : i32\n" + fill(type_of(quantized), "0", "i32") +
          f"%0 = linalg.conv_2d_nhwc_hwcf_q ins(%a, %b, %zx, %zw : {type_of(i)}, {type_of(k)}, i32, i32) outs(%init : "
          f"{type_of(quantized)}) -> {type_of(quantized)}\nreturn %0 : {type_of(quantized)}", [i, k], [quantized])
    window = np.zeros((3, 2), np.float32)
    views = np.lib.stride_tricks.sliding_window_view(x, (3, 2), (1, 2))[:, ::2]
    for kind, fn, start in [("max", np.max, "0xFF800000"), ("sum", np.sum, "0.0"), ("min", np.min, "0x7F800000")]:
        value = fn(views, (-1, -2)).astype(np.float32)
        body = fill(type_of(value), start) + f"""%window = tensor.empty() : {type_of(window)}
%0 = linalg.pooling_nhwc_{kind} {attributes} ins(%a, %window : {type_of(x)}, {type_of(window)}) outs(%init : {type_of(value)}) -> {type_of(value)}
return %0 : {type_of(value)}"""
        s.add(f"pool_{kind}", body, [x], [value])
    body = fill(type_of(y)) + f"""%0 = linalg.generic {{indexing_maps = [affine_map<(n, h, w, f, kh, kw, c) -> (n, h * 2 + kh, w + kw, c)>, affine_map<(n, h, w, f, kh, kw, c) -> (kh, kw, c, f)>, affine_map<(n, h, w, f, kh, kw, c) -> (n, h, w, f)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}} ins(%a, %b : {type_of(x)}, {type_of(w)}) outs(%init : {type_of(y)}) {{
^bb0(%i: f32, %j: f32, %o: f32):
  %1 = arith.mulf %i, %j : f32
  %2 = arith.addf %1, %o : f32
  linalg.yield %2 : f32
}} -> {type_of(y)}
return %0 : {type_of(y)}"""
    s.add("generic_conv", body, [x, w], [y])
    value = views.max((-1, -2))
    body = fill(type_of(value), "0xFF800000") + f"""%window = tensor.empty() : {type_of(window)}
%0 = linalg.generic {{indexing_maps = [affine_map<(n, h, w, c, kh, kw) -> (n, h * 2 + kh, w + kw, c)>, affine_map<(n, h, w, c, kh, kw) -> (kh, kw)>, affine_map<(n, h, w, c, kh, kw) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}} ins(%a, %window : {type_of(x)}, {type_of(window)}) outs(%init : {type_of(value)}) {{
^bb0(%i: f32, %j: f32, %o: f32):
  %1 = arith.maximumf %i, %o : f32
  linalg.yield %1 : f32
}} -> {type_of(value)}
return %0 : {type_of(value)}"""
    s.add("generic_pool", body, [x], [value])
    s.write("linalg")


def generics():
    s = Suite("generics", "linalg.generic and relatives: elementwise, reductions, gathers, several results.")
    x, row = s.floats(3, 4), s.floats(4)
    maps = "affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1, d0)>"
    s.add("elementwise_transposed", f"""%empty = tensor.empty() : tensor<4x3xf32>
%two = arith.constant 2.0 : f32
%0 = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}} ins(%a, %b : tensor<3x4xf32>, tensor<4xf32>) outs(%empty : tensor<4x3xf32>) {{
^bb0(%i: f32, %j: f32, %o: f32):
  %1 = arith.mulf %i, %two : f32
  %2 = arith.addf %1, %j : f32
  %3 = math.exp %2 : f32
  linalg.yield %3 : f32
}} -> tensor<4x3xf32>
return %0 : tensor<4x3xf32>""", [x, row], [np.exp(2 * x + row).T])
    s.add("index", """%empty = tensor.empty() : tensor<3x4xi32>
%0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<3x4xi32>) {
^bb0(%o: i32):
  %1 = linalg.index 0 : index
  %2 = linalg.index 1 : index
  %ten = arith.constant 10 : index
  %3 = arith.muli %1, %ten : index
  %4 = arith.addi %3, %2 : index
  %5 = arith.index_cast %4 : index to i32
  linalg.yield %5 : i32
} -> tensor<3x4xi32>
return %0 : tensor<3x4xi32>""", [], [(np.arange(3)[:, None] * 10 + np.arange(4)).astype(np.int32)])
    s.add("sum_of_squares", fill("tensor<3xf32>", "1.0") + """%0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<3x4xf32>) outs(%init : tensor<3xf32>) {
^bb0(%i: f32, %o: f32):
  %1 = arith.mulf %i, %i : f32
  %2 = arith.addf %o, %1 : f32
  linalg.yield %2 : f32
} -> tensor<3xf32>
return %0 : tensor<3xf32>""", [x], [(x * x).sum(1) + 1])
    s.add("two_reductions", fill("tensor<3xf32>") + """%low = arith.constant 0xFF800000 : f32
%lows = linalg.fill ins(%low : f32) outs(%empty : tensor<3xf32>) -> tensor<3xf32>
%0:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<3x4xf32>) outs(%init, %lows : tensor<3xf32>, tensor<3xf32>) {
^bb0(%i: f32, %o: f32, %p: f32):
  %1 = arith.addf %i, %o : f32
  %2 = arith.maximumf %p, %i : f32
  linalg.yield %1, %2 : f32, f32
} -> (tensor<3xf32>, tensor<3xf32>)
return %0#0, %0#1 : tensor<3xf32>, tensor<3xf32>""", [x], [x.sum(1), x.max(1)])
    s.add("argmax", fill("tensor<3xf32>", "0xFF800000") + """%zero = arith.constant 0 : i32
%places = tensor.empty() : tensor<3xi32>
%first = linalg.fill ins(%zero : i32) outs(%places : tensor<3xi32>) -> tensor<3xi32>
%0:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<3x4xf32>) outs(%init, %first : tensor<3xf32>, tensor<3xi32>) {
^bb0(%i: f32, %o: f32, %p: i32):
  %1 = linalg.index 1 : index
  %2 = arith.index_cast %1 : index to i32
  %3 = arith.cmpf ogt, %i, %o : f32
  %4 = arith.select %3, %i, %o : f32
  %5 = arith.select %3, %2, %p : i32
  linalg.yield %4, %5 : f32, i32
} -> (tensor<3xf32>, tensor<3xi32>)
return %0#0, %0#1 : tensor<3xf32>, tensor<3xi32>""", [x], [x.max(1), x.argmax(1).astype(np.int32)])
    table, ids = s.floats(6, 4), np.array([5, 0, 2], np.int64)
    s.add("lookup", """%empty = tensor.empty() : tensor<3x4xf32>
%0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<3xi64>) outs(%empty : tensor<3x4xf32>) {
^bb0(%i: i64, %o: f32):
  %1 = arith.index_cast %i : i64 to index
  %2 = linalg.index 1 : index
  %3 = tensor.extract %a[%1, %2] : tensor<6x4xf32>
  linalg.yield %3 : f32
} -> tensor<3x4xf32>
return %0 : tensor<3x4xf32>""", [table, ids], [table[ids]])
    s.add("diagonal", """%empty = tensor.empty() : tensor<3xf32>
%0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0, d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<3x3xf32>) outs(%empty : tensor<3xf32>) {
^bb0(%i: f32, %o: f32):
  linalg.yield %i : f32
} -> tensor<3xf32>
return %0 : tensor<3xf32>""", [x[:, :3].copy()], [np.diagonal(x).copy()])
    s.add("map", """%empty = tensor.empty() : tensor<3x4xf32>
%0 = linalg.map { arith.addf } ins(%a, %a : tensor<3x4xf32>, tensor<3x4xf32>) outs(%empty : tensor<3x4xf32>)
return %0 : tensor<3x4xf32>""", [x], [2 * x])
    s.add("reduce", fill("tensor<4xf32>") + """%0 = linalg.reduce { arith.addf } ins(%a : tensor<3x4xf32>) outs(%init : tensor<4xf32>) dimensions = [0]
return %0 : tensor<4xf32>""", [x], [x.sum(0)])
    s.add("transpose", """%empty = tensor.empty() : tensor<4x3xf32>
%0 = linalg.transpose ins(%a : tensor<3x4xf32>) outs(%empty : tensor<4x3xf32>) permutation = [1, 0]
return %0 : tensor<4x3xf32>""", [x], [x.T])
    s.add("broadcast", """%empty = tensor.empty() : tensor<4x2xf32>
%0 = linalg.broadcast ins(%a : tensor<4xf32>) outs(%empty : tensor<4x2xf32>) dimensions = [1]
return %0 : tensor<4x2xf32>""", [row], [np.repeat(row[:, None], 2, 1)])
    e = np.exp(x - x.max(1, keepdims=True))
    s.add("softmax", """%empty = tensor.empty() : tensor<3x4xf32>
%0 = linalg.softmax dimension(1) ins(%a : tensor<3x4xf32>) outs(%empty : tensor<3x4xf32>) -> tensor<3x4xf32>
return %0 : tensor<3x4xf32>""", [x], [e / e.sum(1, keepdims=True)])
    for name, fn in {"exp": np.exp, "abs": np.abs, "square": np.square, "tanh": np.tanh, "negf": np.negative,
                     "reciprocal": np.reciprocal, "floor": np.floor}.items():
        s.add(f"named_{name}", f"%empty = tensor.empty() : tensor<3x4xf32>\n%0 = linalg.{name} ins(%a : tensor<3x4xf32>) "
              "outs(%empty : tensor<3x4xf32>) -> tensor<3x4xf32>\nreturn %0 : tensor<3x4xf32>", [x], [fn(x)])
    y = s.floats(3, 4)
    for name, fn in {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "max": np.maximum}.items():
        s.add(f"named_{name}", f"%empty = tensor.empty() : tensor<3x4xf32>\n%0 = linalg.{name} ins(%a, %b : tensor<3x4xf32>, "
              "tensor<3x4xf32>) outs(%empty : tensor<3x4xf32>) -> tensor<3x4xf32>\nreturn %0 : tensor<3x4xf32>", [x, y],
              [fn(x, y)])
    s.add("elementwise_op", """%empty = tensor.empty() : tensor<3x4xf32>
%0 = linalg.elementwise kind=#linalg.elementwise_kind<add> indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>] ins(%a, %b : tensor<3x4xf32>, tensor<4xf32>) outs(%empty : tensor<3x4xf32>) -> tensor<3x4xf32>
return %0 : tensor<3x4xf32>""", [x, row], [x + row])
    packed = np.pad(x, ((0, 1), (0, 2)), constant_values=7).reshape(2, 2, 2, 3).transpose(0, 2, 1, 3)
    s.add("pack", """%v = arith.constant 7.0 : f32
%empty = tensor.empty() : tensor<2x2x2x3xf32>
%0 = linalg.pack %a padding_value(%v : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %empty : tensor<3x4xf32> -> tensor<2x2x2x3xf32>
%back = tensor.empty() : tensor<3x4xf32>
%1 = linalg.unpack %0 inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %back : tensor<2x2x2x3xf32> -> tensor<3x4xf32>
return %0, %1 : tensor<2x2x2x3xf32>, tensor<3x4xf32>""", [x], [packed, x])
    s.write("linalg")


def packs():
    s = Suite("packs", "linalg.pack and linalg.unpack with sizes and tiles known at run time only.")
    x = s.floats(3, 4)
    padded = np.pad(x, ((0, 1), (0, 2)), constant_values=7)
    tiles = padded.reshape(2, 2, 2, 3)
    sizes = """%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%m = tensor.dim %a, %c0 : tensor<?x?xf32>
%n = tensor.dim %a, %c1 : tensor<?x?xf32>
%bm = arith.ceildivui %m, %t : index
%bn = arith.ceildivui %n, %u : index
%v = arith.constant 7.0 : f32
"""
    static = "%t = arith.constant 2 : index\n%u = arith.constant 3 : index\n"
    back = "%back = tensor.empty(%m, %n) : tensor<?x?xf32>\n"
    s.add("sizes", static + sizes + """%empty = tensor.empty(%bm, %bn) : tensor<?x?x2x3xf32>
%0 = linalg.pack %a padding_value(%v : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %empty : tensor<?x?xf32> -> tensor<?x?x2x3xf32>
""" + back + """%1 = linalg.unpack %0 inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %back : tensor<?x?x2x3xf32> -> tensor<?x?xf32>
return %0, %1 : tensor<?x?x2x3xf32>, tensor<?x?xf32>""", [x], [tiles.transpose(0, 2, 1, 3), x], types=["tensor<?x?xf32>"],
          results=["tensor<?x?x2x3xf32>", "tensor<?x?xf32>"])
    s.add("outer_order", static + sizes + """%empty = tensor.empty(%bn, %bm) : tensor<?x?x3x2xf32>
%0 = linalg.pack %a padding_value(%v : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [3, 2] into %empty : tensor<?x?xf32> -> tensor<?x?x3x2xf32>
""" + back + """%1 = linalg.unpack %0 outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [3, 2] into %back : tensor<?x?x3x2xf32> -> tensor<?x?xf32>
return %0, %1 : tensor<?x?x3x2xf32>, tensor<?x?xf32>""", [x], [tiles.transpose(2, 0, 3, 1), x], types=["tensor<?x?xf32>"],
          results=["tensor<?x?x3x2xf32>", "tensor<?x?xf32>"])
    tile = "%t = arith.index_cast %b : i64 to index\n%u = arith.constant 3 : index\n"
    s.add("tiles", tile + sizes + """%empty = tensor.empty(%bm, %n, %t) : tensor<?x?x?xf32>
%0 = linalg.pack %a padding_value(%v : f32) inner_dims_pos = [0] inner_tiles = [%t] into %empty : tensor<?x?xf32> -> tensor<?x?x?xf32>
""" + back + """%1 = linalg.unpack %0 inner_dims_pos = [0] inner_tiles = [%t] into %back : tensor<?x?x?xf32> -> tensor<?x?xf32>
return %0, %1 : tensor<?x?x?xf32>, tensor<?x?xf32>""", [x, np.int64(2)],
          [np.pad(x, ((0, 1), (0, 0)), constant_values=7).reshape(2, 2, 4).transpose(0, 2, 1), x],
          types=["tensor<?x?xf32>", "i64"], results=["tensor<?x?x?xf32>", "tensor<?x?xf32>"])
    s.write("linalg")


def tensors():
    s = Suite("tensors", "The tensor dialect.")
    x = s.floats(3, 4)
    index = lambda v: np.array(v, np.int64)
    s.add("extract_slice", "%0 = tensor.extract_slice %a[1, 0] [2, 2] [1, 2] : tensor<3x4xf32> to tensor<2x2xf32>\n"
          "return %0 : tensor<2x2xf32>", [x], [x[1:3, ::2]])
    s.add("extract_slice_rank_reduced", "%0 = tensor.extract_slice %a[1, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>"
          "\nreturn %0 : tensor<4xf32>", [x], [x[1]])
    s.add("extract_slice_dynamic", "%c = arith.index_cast %b : i64 to index\n%0 = tensor.extract_slice %a[%c, 1] [%c, 2] "
          "[1, 1] : tensor<3x4xf32> to tensor<?x2xf32>\nreturn %0 : tensor<?x2xf32>", [x, index(1)], [x[1:2, 1:3]],
          types=["tensor<3x4xf32>", "i64"], results=["tensor<?x2xf32>"])
    part = s.floats(2, 2)
    inserted = x.copy()
    inserted[1:3, 1:3] = part
    s.add("insert_slice", "%0 = tensor.insert_slice %b into %a[1, 1] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<3x4xf32>\n"
          "return %0 : tensor<3x4xf32>", [x, part], [inserted])
    strided = x.copy()
    strided[0:3:2, 0:4:3] = part
    s.add("insert_slice_strided", "%0 = tensor.insert_slice %b into %a[0, 0] [2, 2] [2, 3] : tensor<2x2xf32> into "
          "tensor<3x4xf32>\nreturn %0 : tensor<3x4xf32>", [x, part], [strided])
    wide, gaps = s.floats(5, 4), s.floats(2, 2)
    spread = wide.copy()
    spread[1:4:2, 0:4:3] = gaps
    s.add("insert_slice_computed", "%c = arith.constant 0 : index\n%one = arith.constant 1 : index\n%d = tensor.dim %b, %c : "
          "tensor<?x2xf32>\n%o = arith.subi %d, %one : index\n%0 = tensor.insert_slice %b into %a[%o, 0] [%d, 2] [2, 3] : "
          "tensor<?x2xf32> into tensor<?x4xf32>\nreturn %0 : tensor<?x4xf32>", [wide, gaps], [spread],
          types=["tensor<?x4xf32>", "tensor<?x2xf32>"], results=["tensor<?x4xf32>"])
    s.add("pad", "%v = arith.constant 5.0 : f32\n%0 = tensor.pad %a low[1, 0] high[0, 2] {\n^bb0(%i: index, %j: index):\n  "
          "tensor.yield %v : f32\n} : tensor<3x4xf32> to tensor<4x6xf32>\nreturn %0 : tensor<4x6xf32>", [x],
          [np.pad(x, ((1, 0), (0, 2)), constant_values=5)])
    y = s.floats(2, 3, 4)
    s.add("collapse_expand", "%0 = tensor.collapse_shape %a [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>\n"
          "%1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [6, 2, 2] : tensor<6x4xf32> into tensor<6x2x2xf32>\n"
          "return %0, %1 : tensor<6x4xf32>, tensor<6x2x2xf32>", [y], [y.reshape(6, 4), y.reshape(6, 2, 2)])
    s.add("collapse_expand_dynamic", "%c = arith.constant 0 : index\n%d = tensor.dim %a, %c : tensor<?x3x4xf32>\n"
          "%0 = tensor.collapse_shape %a [[0, 1], [2]] : tensor<?x3x4xf32> into tensor<?x4xf32>\n"
          "%1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [%d, 3, 4] : tensor<?x4xf32> into tensor<?x3x4xf32>\n"
          "return %0, %1 : tensor<?x4xf32>, tensor<?x3x4xf32>", [y], [y.reshape(6, 4), y], types=["tensor<?x3x4xf32>"],
          results=["tensor<?x4xf32>", "tensor<?x3x4xf32>"])
    s.add("concat", "%0 = tensor.concat dim(1) %a, %a : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>\n"
          "return %0 : tensor<3x8xf32>", [x], [np.concatenate([x, x], 1)])
    s.add("from_elements", "%c = arith.constant 2.5 : f32\n%0 = tensor.from_elements %b, %c : tensor<2xf32>\n"
          "%1 = tensor.splat %b : tensor<2x2xf32>\nreturn %0, %1 : tensor<2xf32>, tensor<2x2xf32>", [x, np.float32(1.5)],
          [np.array([1.5, 2.5], np.float32), np.full((2, 2), 1.5, np.float32)], types=["tensor<3x4xf32>", "f32"])
    s.add("extract_insert", "%i = arith.constant 1 : index\n%j = arith.constant 2 : index\n%0 = tensor.extract %a[%i, %j] : "
          "tensor<3x4xf32>\n%1 = arith.addf %0, %0 : f32\n%2 = tensor.insert %1 into %a[%j, %i] : tensor<3x4xf32>\n"
          "return %0, %2 : f32, tensor<3x4xf32>", [x], [x[1, 2], np.where(np.arange(12).reshape(3, 4) == 9, 2 * x[1, 2], x)],
          results=["f32", "tensor<3x4xf32>"])
    s.add("generate", "%0 = tensor.generate {\n^bb0(%i: index, %j: index):\n  %1 = arith.subi %i, %j : index\n  "
          "%2 = arith.index_cast %1 : index to i64\n  tensor.yield %2 : i64\n} : tensor<2x3xi64>\nreturn %0 : tensor<2x3xi64>",
          [], [np.arange(2)[:, None] - np.arange(3)])
    s.add("reshape", "%s = arith.constant dense<[4, 3]> : tensor<2xi64>\n%0 = tensor.reshape %a(%s) : (tensor<3x4xf32>, "
          "tensor<2xi64>) -> tensor<4x3xf32>\nreturn %0 : tensor<4x3xf32>", [x], [x.reshape(4, 3)])
    at = np.array([[2], [0]], np.int64)
    s.add("gather_scatter", "%0 = tensor.gather %a[%b] gather_dims([0]) : (tensor<3x4xf32>, tensor<2x1xi64>) -> "
          "tensor<2x4xf32>\n%1 = tensor.scatter %0 into %a[%c] scatter_dims([0]) unique : (tensor<2x4xf32>, "
          "tensor<3x4xf32>, tensor<2x1xi64>) -> tensor<3x4xf32>\nreturn %0, %1 : tensor<2x4xf32>, tensor<3x4xf32>",
          [x, at, at[::-1].copy()], [x[[2, 0]], np.stack([x[2], x[1], x[0]])])
    s.add("cast", "%0 = tensor.cast %a : tensor<3x4xf32> to tensor<?x4xf32>\n%1 = arith.addf %0, %0 : tensor<?x4xf32>\n"
          "return %1 : tensor<?x4xf32>", [x], [2 * x], results=["tensor<?x4xf32>"])
    s.write("linalg")


def arithmetic():
    s = Suite("arithmetic", "arith and math on tensors and numbers.")
    i, j = s.ints(8, low=-50, high=50), np.array([3, -3, 7, -7, 1, -1, 5, 2], np.int32)
    for name, value in {"ceildivsi": np.ceil(i / j), "floordivsi": np.floor(i / j), "divsi": np.trunc(i / j),
                        "maxsi": np.maximum(i, j), "xori": i ^ j}.items():
        s.add(name, f"%0 = arith.{name} %a, %b : tensor<8xi32>\nreturn %0 : tensor<8xi32>", [i, j],
              [value.astype(np.int32)])
    s.add("remsi", "%0 = arith.remsi %a, %b : i32\nreturn %0 : i32", [np.array(-17, np.int32), np.array(5, np.int32)],
          [np.array(-2, np.int32)], types=["i32", "i32"], results=["i32"])
    x, y = np.array([1, 2, np.nan, 3], np.float32), np.array([2, 2, 1, np.nan], np.float32)
    nan = np.isnan(x) | np.isnan(y)
    for name, value in {"oeq": x == y, "olt": x < y, "one": (x < y) | (x > y), "ord": ~nan, "ueq": (x == y) | nan,
                        "ugt": (x > y) | nan, "ule": (x <= y) | nan, "une": x != y, "uno": nan, "true": nan | True,
                        "false": nan & False}.items():
        s.add(f"cmpf_{name}", f"%0 = arith.cmpf {name}, %a, %b : tensor<4xf32>\nreturn %0 : tensor<4xi1>", [x, y], [value])
    flags = np.array([True, False])
    s.add("bool_casts", "%0 = arith.extsi %a : tensor<2xi1> to tensor<2xi32>\n%1 = arith.extui %a : tensor<2xi1> to "
          "tensor<2xi32>\n%2 = arith.sitofp %a : tensor<2xi1> to tensor<2xf32>\n%3 = arith.trunci %0 : tensor<2xi32> to "
          "tensor<2xi1>\nreturn %0, %1, %2, %3 : tensor<2xi32>, tensor<2xi32>, tensor<2xf32>, tensor<2xi1>", [flags],
          [-flags.astype(np.int32), flags.astype(np.int32), -flags.astype(np.float32), flags])
    even = np.array([2, 3], np.int32)
    s.add("trunci_bool", "%0 = arith.trunci %a : tensor<2xi32> to tensor<2xi1>\nreturn %0 : tensor<2xi1>", [even],
          [np.array([False, True])])
    big = np.array([2**31 - 1, -2**31, 123456789, -5], np.int32)
    low, high = (big.astype(np.int64) * -7) & 0xFFFFFFFF, (big.astype(np.int64) * -7) >> 32
    s.add("mulsi_extended", "%c = arith.constant dense<-7> : tensor<4xi32>\n%l, %h = arith.mulsi_extended %a, %c : "
          "tensor<4xi32>\nreturn %l, %h : tensor<4xi32>, tensor<4xi32>", [big],
          [low.astype(np.uint32).view(np.int32), high.astype(np.int32)])
    wide = np.array([2**63 - 1, -2**63, 0x123456789ABCDEF, -5], np.int64)
    exact = [int(v) * -0x123456789AB for v in wide]
    wrap = lambda v: (v + 2**63) % 2**64 - 2**63
    s.add("mulsi_extended_i64", f"%c = arith.constant dense<{-0x123456789AB}> : tensor<4xi64>\n%l, %h = "
          "arith.mulsi_extended %a, %c : tensor<4xi64>\nreturn %l, %h : tensor<4xi64>, tensor<4xi64>", [wide],
          [np.array([wrap(v) for v in exact], np.int64), np.array([v >> 64 for v in exact], np.int64)])
    s.add("scalars", "%0 = arith.mulf %a, %b : f32\n%1 = math.sqrt %0 : f32\n%2 = arith.fptosi %1 : f32 to i32\n"
          "%3 = arith.cmpf ogt, %a, %b : f32\n%4 = arith.select %3, %a, %b : f32\nreturn %1, %2, %4 : f32, i32, f32",
          [np.float32(8), np.float32(4.5)], [np.float32(6), np.array(6, np.int32), np.float32(8)], types=["f32", "f32"],
          results=["f32", "i32", "f32"])
    u = np.array([1, 2**31, 2**32 - 1], np.uint32)
    s.add("unsigned", "%0 = arith.uitofp %a : tensor<3xi32> to tensor<3xf32>\n%1 = arith.extui %a : tensor<3xi32> to "
          "tensor<3xi64>\nreturn %0, %1 : tensor<3xf32>, tensor<3xi64>", [u.view(np.int32)],
          [u.astype(np.float32), u.astype(np.int64)])
    f = s.floats(4)
    s.add("math", "%0 = math.fma %a, %a, %a : tensor<4xf32>\n%1 = math.copysign %a, %0 : tensor<4xf32>\n%i = arith.constant "
          "3 : i32\n%p = tensor.splat %i : tensor<4xi32>\n%2 = math.fpowi %a, %p : tensor<4xf32>, tensor<4xi32>\n"
          "return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>", [f],
          [f * f + f, np.copysign(f, f * f + f), f**3])
    s.write("linalg")


def control():
    s = Suite("control", "scf, cf, globals and calls.")
    x = s.floats(4)
    n = np.array(5, np.int32)
    s.add("for", """%lo = arith.constant 0 : index
%hi = arith.constant 10 : index
%st = arith.constant 3 : index
%0 = scf.for %i = %lo to %hi step %st iter_args(%v = %a) -> (tensor<4xf32>) {
  %1 = arith.addf %v, %a : tensor<4xf32>
  scf.yield %1 : tensor<4xf32>
}
return %0 : tensor<4xf32>""", [x], [5 * x])
    s.add("for_number", """%lo = arith.constant 0 : i32
%one = arith.constant 1 : i32
%0 = scf.for %i = %lo to %a step %one iter_args(%v = %lo) -> (i32) : i32 {
  %1 = arith.addi %v, %i : i32
  scf.yield %1 : i32
}
return %0 : i32""", [n], [np.array(10, np.int32)], types=["i32"], results=["i32"])
    for flag in (True, False):
        s.add(f"if_{flag}".lower(), """%0 = scf.if %b -> (tensor<4xf32>) {
  %1 = arith.addf %a, %a : tensor<4xf32>
  scf.yield %1 : tensor<4xf32>
} else {
  scf.yield %a : tensor<4xf32>
}
return %0 : tensor<4xf32>""", [x, np.array(flag)], [2 * x if flag else x], types=["tensor<4xf32>", "i1"])
    s.add("while", """%one = arith.constant 1 : i32
%0:2 = scf.while (%i = %b, %v = %a) : (i32, tensor<4xf32>) -> (i32, tensor<4xf32>) {
  %zero = arith.constant 0 : i32
  %c = arith.cmpi sgt, %i, %zero : i32
  scf.condition(%c) %i, %v : i32, tensor<4xf32>
} do {
^bb0(%i: i32, %v: tensor<4xf32>):
  %1 = arith.subi %i, %one : i32
  %2 = arith.addf %v, %a : tensor<4xf32>
  scf.yield %1, %2 : i32, tensor<4xf32>
}
return %0#0, %0#1 : i32, tensor<4xf32>""", [x, n], [np.array(0, np.int32), 6 * x], types=["tensor<4xf32>", "i32"],
          results=["i32", "tensor<4xf32>"])
    for i, wanted in ((5, -x), (2, x), (0, 2 * x), (-3, 2 * x), (6, 2 * x)):
        s.add("index_switch" + ("" if i == 5 else f"_{i}".replace("-", "minus_")), """%i = arith.index_cast %b : i32 to index
%0 = scf.index_switch %i -> tensor<4xf32>
case 2 {
  scf.yield %a : tensor<4xf32>
}
case 5 {
  %1 = arith.negf %a : tensor<4xf32>
  scf.yield %1 : tensor<4xf32>
}
default {
  %1 = arith.addf %a, %a : tensor<4xf32>
  scf.yield %1 : tensor<4xf32>
}
return %0 : tensor<4xf32>""", [x, np.array(i, np.int32)], [wanted],
              types=["tensor<4xf32>", "i32"])
    m = s.floats(4, 3)
    s.add("forall", """%0 = scf.forall (%i, %j) in (4, 3) shared_outs(%o = %a) -> (tensor<4x3xf32>) {
  %1 = tensor.extract_slice %a[%i, %j] [1, 1] [1, 1] : tensor<4x3xf32> to tensor<1x1xf32>
  %2 = arith.addf %1, %1 : tensor<1x1xf32>
  scf.forall.in_parallel {
    tensor.parallel_insert_slice %2 into %o[%i, %j] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<4x3xf32>
  }
}
return %0 : tensor<4x3xf32>""", [m], [2 * m])
    s.add("branches", """%c0 = arith.constant 0 : i32
%c = arith.cmpi sgt, %b, %c0 : i32
cf.cond_br %c, ^bb1(%a : tensor<4xf32>), ^bb2
^bb1(%v: tensor<4xf32>):
%1 = arith.addf %v, %a : tensor<4xf32>
cf.br ^bb3(%1 : tensor<4xf32>)
^bb2:
%2 = arith.negf %a : tensor<4xf32>
cf.br ^bb3(%2 : tensor<4xf32>)
^bb3(%r: tensor<4xf32>):
%3 = arith.mulf %r, %r : tensor<4xf32>
return %3 : tensor<4xf32>""", [x, n], [4 * x * x], types=["tensor<4xf32>", "i32"])
    s.add("branches_return", """%c0 = arith.constant 9 : i32
%c = arith.cmpi sgt, %b, %c0 : i32
cf.cond_br %c, ^bb1, ^bb2
^bb1:
return %a : tensor<4xf32>
^bb2:
%2 = arith.negf %a : tensor<4xf32>
return %2 : tensor<4xf32>""", [x, n], [-x], types=["tensor<4xf32>", "i32"])
    s.add("branch_loop", """%c0 = arith.constant 0 : i32
%c1 = arith.constant 1 : i32
cf.br ^head(%c0, %a : i32, tensor<4xf32>)
^head(%i: i32, %v: tensor<4xf32>):
%c = arith.cmpi slt, %i, %b : i32
%w = arith.addf %v, %a : tensor<4xf32>
cf.cond_br %c, ^body, ^exit
^body:
%odd = arith.andi %i, %c1 : i32
%o = arith.cmpi eq, %odd, %c1 : i32
cf.cond_br %o, ^next(%w : tensor<4xf32>), ^next(%v : tensor<4xf32>)
^next(%u: tensor<4xf32>):
%j = arith.addi %i, %c1 : i32
cf.br ^head(%j, %u : i32, tensor<4xf32>)
^exit:
return %w, %i : tensor<4xf32>, i32""", [x, n], [4 * x, n], types=["tensor<4xf32>", "i32"], results=["tensor<4xf32>", "i32"])
    s.add("do_while", """%c1 = arith.constant 1 : i32
cf.br ^body(%b, %a : i32, tensor<4xf32>)
^body(%i: i32, %v: tensor<4xf32>):
%w = arith.addf %v, %a : tensor<4xf32>
%j = arith.subi %i, %c1 : i32
%c = arith.cmpi sge, %j, %c1 : i32
cf.cond_br %c, ^body(%j, %w : i32, tensor<4xf32>), ^exit
^exit:
return %w : tensor<4xf32>""", [x, n], [6 * x], types=["tensor<4xf32>", "i32"])
    for i, expected in [(3, -x), (7, 2 * x), (1, x)]:
        s.add(f"switch_{i}", """cf.switch %b : i32, [
  default: ^bb1(%a : tensor<4xf32>),
  3: ^bb2,
  7: ^bb3
]
^bb2:
%1 = arith.negf %a : tensor<4xf32>
cf.br ^bb1(%1 : tensor<4xf32>)
^bb3:
%2 = arith.addf %a, %a : tensor<4xf32>
cf.br ^bb1(%2 : tensor<4xf32>)
^bb1(%r: tensor<4xf32>):
return %r : tensor<4xf32>""", [x, np.array(i, np.int32)], [expected], types=["tensor<4xf32>", "i32"])
    s.add("globals", "%0 = util.global.load @weight : tensor<4xf32>\n%1 = ml_program.global_load_const @bias : tensor<4xf32>\n"
          "%2 = arith.mulf %a, %0 : tensor<4xf32>\n%3 = arith.addf %2, %1 : tensor<4xf32>\nreturn %3 : tensor<4xf32>", [x],
          [x * np.array([1, 2, 3, 4], np.float32) + 1],
          extra="util.global private @weight = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>\n"
                "ml_program.global private @bias(dense<1.0> : tensor<4xf32>) : tensor<4xf32>\n")
    s.write("linalg")


def extended():
    s = Suite("extended", "iree_linalg_ext: scans, sorts, extremes, gathers, scatters, attention.")
    x, a = s.floats(3, 5), s.floats(3)
    body = "{{\n^bb0(%p: {0}, %q: {0}):\n  %r = {1} %p, %q : {0}\n  iree_linalg_ext.yield %r : {2}\n}}"
    running = lambda inclusive: f"""%e = tensor.empty() : tensor<3x5xf32>
%0:2 = iree_linalg_ext.scan dimension(1) inclusive({inclusive}) ins(%a : tensor<3x5xf32>) outs(%e, %b : tensor<3x5xf32>, tensor<3xf32>) {body.format("f32", "arith.addf", "f32")} -> tensor<3x5xf32>, tensor<3xf32>
return %0#0, %0#1 : tensor<3x5xf32>, tensor<3xf32>"""
    sums = x.cumsum(1)
    s.add("scan_inclusive", running("true"), [x, a], [sums, sums[:, -1]])
    moved = np.concatenate([a[:, None], a[:, None] + sums[:, :-1]], 1)
    s.add("scan_exclusive", running("false"), [x, a], [moved, moved[:, -1]], 1e-5)
    v, w = s.ints(6, low=0, high=4), np.arange(6, dtype=np.int32)
    order = np.argsort(-v, kind="stable")
    s.add("sort", """%0:2 = iree_linalg_ext.sort dimension(0) outs(%a, %b : tensor<6xi32>, tensor<6xi32>) {
^bb0(%p: i32, %q: i32, %i: i32, %j: i32):
  %r = arith.cmpi sgt, %p, %q : i32
  iree_linalg_ext.yield %r : i1
} -> tensor<6xi32>, tensor<6xi32>
return %0#0, %0#1 : tensor<6xi32>, tensor<6xi32>""", [v, w], [v[order], w[order]])
    greater = body.format("f32", "arith.cmpf ogt,", "i1")
    low, none = np.full((3, 2), 0.5, np.float32), np.full((3, 2), -7, np.int32)
    merged = np.concatenate([low, x], 1)
    best = np.argsort(-merged, 1, kind="stable")[:, :2]
    places = np.take_along_axis(np.concatenate([none, np.tile(np.arange(5, dtype=np.int32), (3, 1))], 1), best, 1)
    s.add("topk", f"%0:2 = iree_linalg_ext.topk dimension(1) ins(%a : tensor<3x5xf32>) outs(%b, %c : tensor<3x2xf32>, tensor<3x2xi32>) {greater} -> tensor<3x2xf32>, tensor<3x2xi32>\n"
          "return %0#0, %0#1 : tensor<3x2xf32>, tensor<3x2xi32>", [x, low, none],
          [np.take_along_axis(merged, best, 1), places])
    start, at = np.array([9, -9, -9], np.float32), np.array([-1, -1, -1], np.int32)
    wins = x.max(1) > start
    s.add("arg_compare", f"%base = arith.constant 100 : index\n%0:2 = iree_linalg_ext.arg_compare dimension(1) ins(%a : tensor<3x5xf32>) outs(%b, %c : tensor<3xf32>, tensor<3xi32>) index_base(%base : index) {greater} -> tensor<3xf32>, tensor<3xi32>\n"
          "return %0#0, %0#1 : tensor<3xf32>, tensor<3xi32>", [x, start, at],
          [np.where(wins, x.max(1), start), np.where(wins, 100 + x.argmax(1), at).astype(np.int32)])
    rows, mask = np.array([2, 0, 2, 1], np.int32), np.array([1, 1, 0, 1], bool)
    s.add("gather", """%e = tensor.empty() : tensor<4x5xf32>
%0 = iree_linalg_ext.gather dimension_map = [0] ins(%a, %b : tensor<3x5xf32>, tensor<4xi32>) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
return %0 : tensor<4x5xf32>""", [x, rows], [x[rows]])
    old = s.floats(4)
    pairs = np.array([[4, 2], [0, 0], [1, 1], [3, 2]], np.int32)
    s.add("gather_masked", """%0 = iree_linalg_ext.gather dimension_map = [1, 0] ins(%a, %b, %c : tensor<3x5xf32>, tensor<4x2xi32>, tensor<4xi1>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
return %0 : tensor<4xf32>""", [x, pairs, mask, old], [np.where(mask, x[pairs[:, 1], pairs[:, 0]], old)])
    update = s.floats(4, 5)
    for name, op, fn in [("add", "arith.addf", np.add.at), ("divide", "arith.divf", None)]:
        want = x.copy()
        for k in range(4):
            want[rows[k]] = want[rows[k]] + update[k] if fn else update[k] / want[rows[k]]
        s.add(f"scatter_{name}", f"%0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins(%a, %b : tensor<4x5xf32>, tensor<4x1xi32>) outs(%c : tensor<3x5xf32>) {body.format('f32', op, 'f32')} -> tensor<3x5xf32>\n"
              "return %0 : tensor<3x5xf32>", [update, rows[:, None], x], [want], 1e-5)
    want = x.copy()
    want[rows[mask]] = update[mask]
    s.add("scatter_masked", """%0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%a, %b, %c : tensor<4x5xf32>, tensor<4x1xi32>, tensor<4xi1>) outs(%d : tensor<3x5xf32>) {
^bb0(%p: f32, %q: f32):
  iree_linalg_ext.yield %p : f32
} -> tensor<3x5xf32>
return %0 : tensor<3x5xf32>""", [update, rows[:, None], mask, x], [want])
    q, k, v, bias = s.floats(2, 3, 4), s.floats(2, 5, 4), s.floats(2, 6, 5), s.floats(3, 5)
    maps = ["(b, m, k, n, o) -> (b, m, k)", "(b, m, k, n, o) -> (b, n, k)", "(b, m, k, n, o) -> (b, o, n)",
            "(b, m, k, n, o) -> ()", "(b, m, k, n, o) -> (m, n)", "(b, m, k, n, o) -> (b, m, o)"]
    soft = lambda z: np.exp(z - z.max(-1, keepdims=True)) / np.exp(z - z.max(-1, keepdims=True)).sum(-1, keepdims=True)
    types = [type_of(t) for t in (q, k, v)]
    for name, extra, change in [("attention", None, lambda z: z), ("attention_biased", bias, lambda z: np.tanh(z + bias)),
                                ("attention_masked", bias > 0, lambda z: np.tanh(np.where(bias > 0, z, -np.inf)))]:
        used = [f"affine_map<{m}>" for m in (maps if extra is not None else maps[:4] + maps[5:])]
        more = [(", %d", f", {type_of(extra)}")] if extra is not None else [("", "")]
        tanh = "" if extra is None else "  %u = math.tanh %t : f32\n"
        s.add(name, f"""%scale = arith.constant 0.5 : f32
%e = tensor.empty() : tensor<2x3x6xf32>
%0 = iree_linalg_ext.attention {{indexing_maps = [{", ".join(used)}]}} ins(%a, %b, %c, %scale{more[0][0]} : {types[0]}, {types[1]}, {types[2]}, f32{more[0][1]}) outs(%e : tensor<2x3x6xf32>) {{
^bb0(%t: f32):
{tanh}  iree_linalg_ext.yield {"%u" if tanh else "%t"} : f32
}} -> tensor<2x3x6xf32>
return %0 : tensor<2x3x6xf32>""", [q, k, v] + ([extra] if extra is not None else []),
              [np.einsum("bmn,bon->bmo", soft(change(0.5 * np.einsum("bmk,bnk->bmn", q, k))), v).astype(np.float32)], 1e-5)
    online = f"""%scale = arith.constant 0.5 : f32
%zero = arith.constant 0.0 : f32
%least = arith.constant 0xFF800000 : f32
%ea = tensor.empty() : tensor<2x3x6xf32>
%es = tensor.empty() : tensor<3x2xf32>
%a0 = linalg.fill ins(%zero : f32) outs(%ea : tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
%m0 = linalg.fill ins(%least : f32) outs(%es : tensor<3x2xf32>) -> tensor<3x2xf32>
%s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<3x2xf32>) -> tensor<3x2xf32>
"""
    used = ", ".join(f"affine_map<{m}>" for m in (*maps[:4], maps[5], *["(b, m, k, n, o) -> (m, b)"] * 2))
    state = "tensor<2x3x6xf32>, tensor<3x2xf32>, tensor<3x2xf32>"
    for step, keys, values, size in ((0, "%b", "%c", 3), (1, "%d", "%e", 2)):
        online += f"""%r{step}:3 = iree_linalg_ext.online_attention {{indexing_maps = [{used}]}} ins(%a, {keys}, {values}, %scale : {types[0]}, tensor<2x{size}x4xf32>, tensor<2x6x{size}xf32>, f32) outs({"%a0, %m0, %s0" if not step else "%r0#0, %r0#1, %r0#2"} : {state}) {{
^bb0(%t: f32):
  iree_linalg_ext.yield %t : f32
}} -> {state}
"""
    scores = 0.5 * np.einsum("bmk,bnk->bmn", q, k) * np.log2(np.e)
    most = scores.max(-1)
    weights = np.exp2(scores - most[..., None])
    s.add("online_attention", online + f"return %r1#0, %r1#1, %r1#2 : {state}",
          [q, k[:, :3].copy(), v[:, :, :3].copy(), k[:, 3:].copy(), v[:, :, 3:].copy()],
          [np.einsum("bmn,bon->bmo", weights, v).astype(np.float32), most.T.astype(np.float32),
           weights.sum(-1).T.astype(np.float32)], 1e-5)
    s.write("linalg")


def mapped():
    s = Suite("mapped", "iree_linalg_ext: map_load, map_store, im2col; affine.")
    x = s.floats(3, 4)
    load = lambda op, args, body, to, result: f"""%pad = arith.constant -1.0 : f32
%e = tensor.empty() : {result}
%0 = iree_linalg_ext.{op} %a into %e {{
^bb0({", ".join(f"%i{k}: index" for k in range(args))}):
{body}}} : {to} into {result} -> {result}
return %0 : {result}"""
    s.add("map_load_same", load("map_load", 2, "  iree_linalg_ext.yield %i0, %i1, %pad : index, index, f32\n", type_of(x), type_of(x)), [x], [x])
    s.add("map_load_flat", load("map_load", 1, "  %d:2 = affine.delinearize_index %i0 into (3, 4) : index, index\n"
          "  iree_linalg_ext.yield %d#0, %d#1, %pad : index, index, f32\n", type_of(x), "tensor<14xf32>"), [x],
          [np.concatenate([x.ravel(), [-1, -1]]).astype(np.float32)])
    shifted = np.full((4, 6), -1, np.float32)
    shifted[:3, 1:5] = x
    s.add("map_gather_moved", load("map_gather", 2, "  %m = affine.apply affine_map<(d0) -> (d0 - 1)>(%i1)\n"
          "  iree_linalg_ext.yield %i0, %m, %pad : index, index, f32\n", type_of(x), "tensor<4x6xf32>"), [x], [shifted])
    turned = "affine_map<(d0)[s0] -> ((d0 + s0) mod 3)>"
    s.add("map_load_turned", "%c1 = arith.constant 1 : index\n" +
          load("map_load", 2, f"  %m = affine.apply {turned}(%i1)[%c1]\n  %v = arith.mulf %pad, %pad : f32\n"
          "  iree_linalg_ext.yield %m, %i0, %v : index, index, f32\n", type_of(x), "tensor<5x3xf32>"), [x],
          [np.concatenate([np.roll(x, -1, 0).T, np.full((1, 3), 1)]).astype(np.float32)])
    s.add("map_load_clamped", load("map_load", 1, "  %m = affine.min affine_map<(d0) -> (d0 - 2, 2)>(%i0)\n"
          "  %o = affine.max affine_map<(d0) -> (d0, 0)>(%m)\n  iree_linalg_ext.yield %o, %i0, %pad : index, index, f32\n",
          type_of(x), "tensor<4xf32>"), [x], [x[[0, 0, 0, 1], range(4)]])
    loop = """%c2 = arith.constant 2 : index
%n = affine.linearize_index [%c2, %c2] by (%c2, 3) : index
%q:2 = affine.delinearize_index %n into (%c2) : index, index
%r = arith.addi %q#0, %q#1 : index
%t = tensor.from_elements %n, %q#0, %q#1, %r : tensor<4xindex>
%0 = arith.index_cast %t : tensor<4xindex> to tensor<4xi64>
return %0 : tensor<4xi64>"""
    s.add("affine_digits", loop, [], [np.array([8, 4, 0, 4])])
    old = s.floats(12)
    store = lambda op, body, to: f"""%true = arith.constant true
%c2 = arith.constant 2 : index
%0 = iree_linalg_ext.{op} %a into %b {{
^bb0(%i: index, %j: index):
{body}}} : {type_of(x)} into {to} -> {to}
return %0 : {to}"""
    s.add("map_store_flat", store("map_store", "  %k = affine.linearize_index disjoint [%i, %j] by (3, 4) : index\n"
          "  iree_linalg_ext.yield %k, %true : index, i1\n", type_of(old)), [x, old], [x.ravel()])
    square = s.floats(4, 3)
    want = square.copy()
    want[:2, :] = x.T[:2]
    s.add("map_scatter_masked", store("map_scatter", "  %m = arith.cmpi ult, %j, %c2 : index\n"
          "  iree_linalg_ext.yield %j, %i, %m : index, index, i1\n", type_of(square)), [x, square], [want])
    image = s.floats(2, 6, 7, 3)

    def columns(padded, strides, dilations, size, kernel):
        n, c = padded.shape[0], padded.shape[3]
        return np.stack([padded[:, i * dilations[0]:, j * dilations[1]:][:, ::strides[0], ::strides[1]][:, :size[0], :size[1]]
                         for i in range(kernel[0]) for j in range(kernel[1])], 3).reshape(n, size[0], size[1], kernel[0], kernel[1], c)
    whole = columns(image, (1, 1), (1, 1), (4, 6), (3, 2))
    body = lambda settings, result: f"""%pad = arith.constant 0.5 : f32
%e = tensor.empty() : {result}
%0 = iree_linalg_ext.im2col {settings} ins(%a : {type_of(image)}) outs(%e : {result}) -> {result}
return %0 : {result}"""
    s.add("im2col", body("strides = [1, 1] dilations = [1, 1] kernel_size = [3, 2] offsets = [0, 0, 0] output_sizes = [[2], [4, 6], [3, 2, 3]] "
          "batch_pos = [0] m_pos = [1, 2] k_pos = [3] input_k_perm = [0, 1, 2] output_perm = [0, 1, 2]", "tensor<2x24x18xf32>"),
          [image], [whole.reshape(2, 24, 18)])
    s.add("im2col_turned", body("strides = [1, 1] dilations = [1, 1] kernel_size = [3, 2] offsets = [0, 0, 0] output_sizes = [[2], [4, 6], [3, 3, 2]] "
          "batch_pos = [0] m_pos = [1, 2] k_pos = [3] input_k_perm = [2, 0, 1] output_perm = [2, 0, 1]", "tensor<18x2x24xf32>"),
          [image], [whole.transpose(0, 1, 2, 5, 3, 4).reshape(2, 24, 18).transpose(2, 0, 1)])
    wide = np.pad(image, ((0, 0), (1, 2), (0, 1), (0, 0)), constant_values=0.5)
    steps = columns(wide, (2, 1), (1, 2), (4, 4), (3, 3)).reshape(2, 4, 4, 27)
    s.add("im2col_padded", body("strides = [1, 2, 1] dilations = [1, 1, 2] kernel_size = [1, 3, 3] offsets = [0, 0, 0, 0] "
          "output_sizes = [[2], [4], [4], [1, 3, 3, 3]] batch_pos = [] m_pos = [0, 1, 2] k_pos = [3] input_k_perm = [0, 1, 2, 3] "
          "output_perm = [0, 1, 2, 3] input_pad_low = [0, 1, 0, 0] input_pad_high = [0, 2, 1, 0] "
          "output_pad_low = [0, 0, 0, 0] output_pad_high = [0, 0, 1, 5] pad_value(%pad : f32)", "tensor<2x4x5x32xf32>"),
          [image], [np.pad(steps, ((0, 0), (0, 0), (0, 1), (0, 5)), constant_values=0.5)])
    s.write("linalg")


def winograd():
    s = Suite("winograd", "iree_linalg_ext: winograd, exp_reduction.")
    image, kernel = s.floats(2, 10, 15, 3), s.floats(3, 3, 3, 4)
    product = sum(np.einsum("nhwc,cf->nhwf", image[:, i:i + 8, j:j + 13], kernel[i, j]) for i in range(3) for j in range(3))
    program = """%e = tensor.empty() : tensor<8x8x2x2x3x3xf32>
%g = tensor.empty() : tensor<8x8x3x4xf32>
%z = arith.constant dense<0.0> : tensor<8x8x36xf32>
%s = tensor.empty() : {2}
%x = iree_linalg_ext.winograd.input_transform output_tile_size(6) kernel_size(3) image_dimensions([{0}]) ins(%a : {3}) outs(%e : tensor<8x8x2x2x3x3xf32>) -> tensor<8x8x2x2x3x3xf32>
%w = iree_linalg_ext.winograd.filter_transform output_tile_size(6) kernel_size(3) kernel_dimensions([{1}]) ins(%b : {4}) outs(%g : tensor<8x8x3x4xf32>) -> tensor<8x8x3x4xf32>
%xs = tensor.collapse_shape %x [[0, 1], [2, 3, 4], [5]] : tensor<8x8x2x2x3x3xf32> into tensor<64x12x3xf32>
%ws = tensor.collapse_shape %w [[0, 1], [2], [3]] : tensor<8x8x3x4xf32> into tensor<64x3x4xf32>
%i = arith.constant dense<0.0> : tensor<64x12x4xf32>
%p = linalg.batch_matmul ins(%xs, %ws : tensor<64x12x3xf32>, tensor<64x3x4xf32>) outs(%i : tensor<64x12x4xf32>) -> tensor<64x12x4xf32>
%q = tensor.expand_shape %p [[0, 1], [2, 3, 4], [5]] output_shape [8, 8, 2, 2, 3, 4] : tensor<64x12x4xf32> into tensor<8x8x2x2x3x4xf32>
%0 = iree_linalg_ext.winograd.output_transform output_tile_size(6) kernel_size(3) image_dimensions([{0}]) ins(%q : tensor<8x8x2x2x3x4xf32>) outs(%s : {2}) -> {2}
"""
    s.add("nhwc", program.format("1, 2", "0, 1", "tensor<2x12x18x4xf32>", type_of(image), type_of(kernel)) +
          "%r = tensor.extract_slice %0[0, 0, 0, 0] [2, 8, 13, 4] [1, 1, 1, 1] : tensor<2x12x18x4xf32> to tensor<2x8x13x4xf32>\n"
          "return %r : tensor<2x8x13x4xf32>", [image, kernel], [product], 1e-5)
    x, w = image.transpose(0, 3, 1, 2).copy(), kernel.transpose(3, 2, 0, 1).copy()
    s.add("nchw", program.format("2, 3", "2, 3", "tensor<2x4x12x18xf32>", type_of(x), type_of(w)) +
          "%r = tensor.extract_slice %0[0, 0, 0, 0] [2, 4, 8, 13] [1, 1, 1, 1] : tensor<2x4x12x18xf32> to tensor<2x4x8x13xf32>\n"
          "return %r : tensor<2x4x8x13xf32>", [x, w], [product.transpose(0, 3, 1, 2).copy()], 1e-5)
    ones = np.ones((1, 6, 6, 1), np.float32)
    line = np.array([1, -5.5, -1, -1, -1, -1, -1, -1], np.float32)
    s.add("ones", """%e = tensor.empty() : tensor<8x8x1x1x1x1xf32>
%x = iree_linalg_ext.winograd.input_transform output_tile_size(6) kernel_size(3) image_dimensions([1, 2]) ins(%a : tensor<1x6x6x1xf32>) outs(%e : tensor<8x8x1x1x1x1xf32>) -> tensor<8x8x1x1x1x1xf32>
return %x : tensor<8x8x1x1x1x1xf32>""", [ones], [np.outer(line, line).reshape(8, 8, 1, 1, 1, 1)])
    v, most, total = s.floats(4, 7, low=-9, high=9), s.floats(4), s.floats(4, low=0.5, high=3)
    values = s.floats(5, 7)
    acc = s.floats(4, 5)
    top = np.maximum(most, v.max(1))
    e, scale = np.exp2(v - top[:, None]), np.exp2(most - top)
    s.add("exp_reduction", f"""%0:2 = iree_linalg_ext.exp_reduction {{
  indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m)>],
  iterator_types = [#iree_linalg_ext.iterator_type<parallel>, #iree_linalg_ext.iterator_type<reduction>],
  exp_reduced_operands = [1]
}} ins(%a : {type_of(v)}) outs(%b, %c : {type_of(most)}, {type_of(total)}) {{
^bb0(%p: f32, %m: f32, %s: f32):
  %t = arith.addf %p, %s : f32
  iree_linalg_ext.yield %m, %t : f32, f32
}} -> {type_of(most)}, {type_of(total)}
return %0#0, %0#1 : {type_of(most)}, {type_of(total)}""", [v, most, total], [top, total * scale + e.sum(1)], 1e-5)
    s.add("exp_reduction_product", f"""%0:2 = iree_linalg_ext.exp_reduction {{
  indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m)>, affine_map<(m, n, k) -> (m, n)>],
  iterator_types = [#iree_linalg_ext.iterator_type<parallel>, #iree_linalg_ext.iterator_type<parallel>, #iree_linalg_ext.iterator_type<reduction>],
  exp_reduced_operands = [1]
}} ins(%a, %b : {type_of(v)}, {type_of(values)}) outs(%c, %d : {type_of(most)}, {type_of(acc)}) {{
^bb0(%p: f32, %v: f32, %m: f32, %o: f32):
  %u = arith.mulf %p, %v : f32
  %w = arith.addf %u, %o : f32
  iree_linalg_ext.yield %m, %w : f32, f32
}} -> {type_of(most)}, {type_of(acc)}
return %0#0, %0#1 : {type_of(most)}, {type_of(acc)}""", [v, values, most, acc], [top, acc * scale[:, None] + e @ values.T], 1e-5)
    s.write("linalg")


if __name__ == "__main__":
    for suite in [contractions, convolutions, generics, packs, tensors, arithmetic, control, extended, mapped, winograd]:
        suite()
