"""TOSA programs. Run as a script to write tosa/*.mlir anew."""

import math

import numpy as np

from case import Suite, dense, type_of


def constant(name, array):
    """%name as a constant; lists of sizes are of type index."""
    array = np.asarray(array)
    if array.dtype == np.int64 and name.startswith("s"):
        values = ", ".join(str(v) for v in array)
        return (f"%{name} = tosa.const_shape {{values = dense<[{values}]> : tensor<{len(array)}xindex>}} : () -> "
                f"!tosa.shape<{len(array)}>\n")
    return f'%{name} = "tosa.const"() <{{values = {dense(array)}}}> : () -> {type_of(array)}\n'


def call(op, names, types, result, attributes=""):
    return f"%0 = tosa.{op} {', '.join(names)} {attributes} : ({', '.join(types)}) -> {result}\nreturn %0 : {result}"


def plain(op, result, *arrays, attributes=""):
    return call(op, ["%" + "abc"[i] for i in range(len(arrays))], [type_of(x) for x in arrays], result, attributes)


def elementwise():
    s = Suite("elementwise", "Elementwise ops with sizes of 1 that repeat, casts, reductions.")
    x, row = s.floats(3, 4), s.floats(1, 4)
    positive = s.floats(3, 4, low=0.1)
    for name, data, fn in [("abs", x, np.abs), ("ceil", x, np.ceil), ("exp", x, np.exp), ("floor", x, np.floor),
                           ("log", positive, np.log), ("rsqrt", positive, lambda v: 1 / np.sqrt(v)),
                           ("reciprocal", positive, lambda v: 1 / v), ("sigmoid", x, lambda v: 1 / (1 + np.exp(-v))),
                           ("tanh", x, np.tanh), ("erf", x, np.vectorize(math.erf)), ("sin", x, np.sin),
                           ("cos", x, np.cos)]:
        s.add(name, plain(name, type_of(data), data), [data], [fn(data).astype(np.float32)])
    for name, fn in [("add", np.add), ("sub", np.subtract), ("maximum", np.maximum), ("minimum", np.minimum)]:
        s.add(name, plain(name, type_of(x), x, row), [x, row], [fn(x, row)])
    s.add("pow", plain("pow", type_of(x), positive, row), [positive, row], [positive**row])
    s.add("greater", plain("greater", "tensor<3x4xi1>", x, row), [x, row], [x > row])
    s.add("select", plain("select", type_of(x), x > 0, x, row), [x > 0, x, row], [np.where(x > 0, x, row)])
    i, j = s.ints(6, low=-100, high=100), np.array([3, -3, 7, -7, 1, 2], np.int32)
    s.add("intdiv", plain("intdiv", type_of(i), i, j), [i, j], [np.trunc(i / j).astype(np.int32)])
    zero = np.zeros(1, np.int8)
    s.add("mul_f32", constant("z", zero) + call("mul", ["%a", "%b", "%z"], [type_of(x), type_of(row), "tensor<1xi8>"],
                                                type_of(x)), [x, row], [x * row])
    big = s.ints(6, low=-2**30, high=2**30)
    shift = np.array([20], np.int8)
    product = (big.astype(object) * j.astype(object) * 1000 + 2**19) // 2**20
    s.add("mul_shift", constant("z", shift) + call("mul", ["%a", "%b", "%z"], [type_of(i)] * 2 + ["tensor<1xi8>"],
                                                   type_of(i)), [big, j * 1000], [product.astype(np.int32)])
    s.add("arithmetic_right_shift", plain("arithmetic_right_shift", type_of(i), i, np.abs(j), attributes="{round = true}"),
          [i, np.abs(j)], [((i + (1 << (np.abs(j) - 1))) >> np.abs(j)).astype(np.int32)])
    half = np.array([0.5, 1.5, -2.5, 300.2], np.float32)
    s.add("cast_i8", plain("cast", "tensor<4xi8>", half), [half], [np.array([0, 2, -2, 127], np.int8)])
    s.add("clamp", plain("clamp", type_of(x), x, attributes="{min_val = -5.0e-1 : f32, max_val = 1.0 : f32}"), [x],
          [np.clip(x, -0.5, 1)])
    s.add("clamp_old", plain("clamp", type_of(x), x, attributes="{min_fp = 0.0 : f32, max_fp = 1.0 : f32, min_int = 0 : "
                             "i64, max_int = 1 : i64}"), [x], [np.clip(x, 0, 1)])
    bytes_ = s.ints(6, low=-128, high=127, dtype=np.int8)
    zps = constant("p", np.array([5], np.int8)) + constant("q", np.array([-7], np.int8))
    s.add("negate", zps + call("negate", ["%a", "%p", "%q"], ["tensor<6xi8>", "tensor<1xi8>", "tensor<1xi8>"],
                               "tensor<6xi8>"), [bytes_],
          [np.clip(-(bytes_.astype(int) - 5) - 7, -128, 127).astype(np.int8)])
    for name, fn in [("sum", np.sum), ("max", np.max), ("min", np.min), ("product", np.prod)]:
        s.add(f"reduce_{name}", plain(f"reduce_{name}", "tensor<3x1xf32>", x, attributes="{axis = 1 : i32}"), [x],
              [fn(x, 1, keepdims=True)])
    s.add("reduce_any", plain("reduce_any", "tensor<1x4xi1>", x > 1, attributes="{axis = 0 : i32}"), [x > 1],
          [(x > 1).any(0, keepdims=True)])
    s.add("argmax", plain("argmax", "tensor<3xi32>", x, attributes="{axis = 1 : i32}"), [x],
          [x.argmax(1).astype(np.int32)])
    s.write("tosa")


def layout():
    s = Suite("layout", "Data layout, gather, scatter, resize.")
    x = s.floats(2, 3, 4)
    sizes = lambda *v: np.array(v, np.int64)
    s.add("reshape", constant("s", sizes(4, 6)) + call("reshape", ["%a", "%s"], [type_of(x), "!tosa.shape<2>"],
                                                       "tensor<4x6xf32>"), [x], [x.reshape(4, 6)])
    s.add("reshape_old", plain("reshape", "tensor<6x4xf32>", x, attributes="{new_shape = array<i64: 6, -1>}"), [x],
          [x.reshape(6, 4)])
    s.add("transpose", plain("transpose", "tensor<4x2x3xf32>", x, attributes="{perms = array<i32: 2, 0, 1>}"), [x],
          [x.transpose(2, 0, 1)])
    s.add("concat", plain("concat", "tensor<2x6x4xf32>", x, x, attributes="{axis = 1 : i32}"), [x, x],
          [np.concatenate([x, x], 1)])
    s.add("reverse", plain("reverse", type_of(x), x, attributes="{axis = 2 : i32}"), [x], [x[..., ::-1]])
    s.add("slice", constant("s", sizes(0, 1, 1)) + constant("s2", sizes(2, 2, 3)) +
          call("slice", ["%a", "%s", "%s2"], [type_of(x), "!tosa.shape<3>", "!tosa.shape<3>"], "tensor<2x2x3xf32>"), [x],
          [x[:, 1:3, 1:4]])
    s.add("tile", constant("s", sizes(2, 1, 3)) + call("tile", ["%a", "%s"], [type_of(x), "!tosa.shape<3>"],
                                                       "tensor<4x3x12xf32>"), [x], [np.tile(x, (2, 1, 3))])
    s.add("pad", constant("s", sizes(0, 0, 1, 0, 0, 2)) + constant("v", np.array([7], np.float32)) +
          call("pad", ["%a", "%s", "%v"], [type_of(x), "!tosa.shape<6>", "tensor<1xf32>"], "tensor<2x4x6xf32>"), [x],
          [np.pad(x, ((0, 0), (1, 0), (0, 2)), constant_values=7)])
    at = np.array([[2, 0], [1, 1]], np.int32)
    taken = np.stack([x[n][at[n]] for n in range(2)])
    s.add("gather", plain("gather", "tensor<2x2x4xf32>", x, at), [x, at], [taken])
    places = np.array([[2, 0], [1, 0]], np.int32)
    scattered = x.copy()
    for n in range(2):
        scattered[n][places[n]] = taken[n]
    s.add("scatter", plain("scatter", type_of(x), x, places, taken), [x, places, taken], [scattered])
    image = s.floats(1, 3, 4, 2)
    for mode in ("NEAREST_NEIGHBOR", "BILINEAR"):
        out = resize(image, (5, 7), (4, 2, 6, 3), (-1, 0), mode)
        s.add(f"resize_{mode.lower()}", constant("s", sizes(4, 2, 6, 3)) + constant("s2", sizes(-1, 0)) +
              constant("s3", sizes(1, 0)) + call("resize", ["%a", "%s", "%s2", "%s3"], [type_of(image), "!tosa.shape<4>",
                                                 "!tosa.shape<2>", "!tosa.shape<2>"], type_of(out), f"{{mode = {mode}}}")
              .replace(f"mode = {mode}", f'mode = "{mode}"'), [image], [out])
    pixels = s.ints(1, 3, 4, 2, low=-128, high=127, dtype=np.int8)
    out = resize(pixels, (5, 7), (4, 2, 6, 3), (-1, 0), "BILINEAR").astype(np.int32)
    s.add("resize_i8", constant("s", sizes(4, 2, 6, 3)) + constant("s2", sizes(-1, 0)) + constant("s3", sizes(1, 0)) +
          call("resize", ["%a", "%s", "%s2", "%s3"], [type_of(pixels), "!tosa.shape<4>", "!tosa.shape<2>", "!tosa.shape<2>"],
               type_of(out), '{mode = "BILINEAR"}'), [pixels], [out])
    s.add("tile_open", constant("s", sizes(2, 1, 3)) + call("tile", ["%a", "%s"], ["tensor<?x?x4xf32>", "!tosa.shape<3>"],
                                                            "tensor<?x?x12xf32>"), [x], [np.tile(x, (2, 1, 3))], None,
          ["tensor<?x?x4xf32>"], ["tensor<?x?x12xf32>"])
    kind = "tensor<?x?x?x?xf32>"
    for mode in ("NEAREST_NEIGHBOR", "BILINEAR"):  # (size - 1) * scale - offset + border, over scale, + 1
        out = resize(image, (5, 7), (4, 2, 6, 3), (-1, 0), mode)
        s.add(f"resize_open_{mode.lower()}", constant("s", sizes(4, 2, 6, 3)) + constant("s2", sizes(-1, 0)) +
              constant("s3", sizes(-1, 0)) + call("resize", ["%a", "%s", "%s2", "%s3"], [kind, "!tosa.shape<4>", "!tosa.shape<2>",
                                                                                         "!tosa.shape<2>"], kind, f'{{mode = "{mode}"}}'),
              [image], [out], None, [kind], [kind])
    s.write("tosa")


def resize(x, size, scale, offset, mode):
    out = np.zeros((x.shape[0], *size, x.shape[3]), np.float64)
    exact = x.dtype.kind == "i"
    for oy, ox in np.ndindex(*size):
        at = []
        for k, o in enumerate((oy, ox)):
            num, den = scale[2 * k], scale[2 * k + 1]
            value = o * den + offset[k]
            base = value // num
            rest = value - base * num
            clamp = [min(max(base + i, 0), x.shape[1 + k] - 1) for i in range(2)]
            at.append((clamp, rest, num))
        (ys, ry, ny), (xs, rx, nx) = at
        if mode == "BILINEAR":
            wy, wx = ((ny - ry, ry), (nx - rx, rx)) if exact else ((1 - ry / ny, ry / ny), (1 - rx / nx, rx / nx))
            out[:, oy, ox] = sum(x[:, ys[i], xs[j]].astype(np.float64) * wy[i] * wx[j] for i in range(2) for j in range(2))
        else:
            out[:, oy, ox] = x[:, ys[2 * ry >= ny], xs[2 * rx >= nx]]
    return out if exact else out.astype(x.dtype)


def convolve(x, w, stride, pad, dilation, groups=1):
    """n h w c and o h w i."""
    x = np.pad(x.astype(np.float64), ((0, 0), (pad[0], pad[1]), (pad[2], pad[3]), (0, 0)))
    size = [(x.shape[1 + i] - (w.shape[1 + i] - 1) * dilation[i] - 1) // stride[i] + 1 for i in range(2)]
    out = np.zeros((x.shape[0], *size, w.shape[0]))
    per, filters = w.shape[3], w.shape[0] // groups
    for oy, ox, o in np.ndindex(*size, w.shape[0]):
        first = o // filters * per
        for ky, kx in np.ndindex(w.shape[1], w.shape[2]):
            part = x[:, oy * stride[0] + ky * dilation[0], ox * stride[1] + kx * dilation[1], first:first + per]
            out[:, oy, ox, o] += part @ w[o, ky, kx]
    return out


def tensors():
    s = Suite("tensors", "Convolutions, pooling, products, transforms.")
    x, w, bias = s.floats(1, 6, 5, 3), s.floats(4, 3, 2, 3), s.floats(4)
    zp = constant("p", np.zeros(1, np.float32))
    y = (convolve(x, w, (2, 1), (1, 0, 0, 1), (1, 1)) + bias).astype(np.float32)
    tail = "{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 0, 0, 1>, stride = array<i64: 2, 1>}"
    s.add("conv2d", zp + call("conv2d", ["%a", "%b", "%c", "%p", "%p"], [type_of(x), type_of(w), type_of(bias)] +
                              ["tensor<1xf32>"] * 2, type_of(y), tail), [x, w, bias], [y])
    i, k = s.ints(1, 5, 5, 2, low=-128, high=127, dtype=np.int8), s.ints(3, 2, 2, 2, low=-128, high=127, dtype=np.int8)
    b32 = s.ints(3, low=-1000, high=1000)
    out = (convolve(i.astype(int) + 3, k.astype(int), (1, 1), (1, 1, 1, 1), (2, 1)) + b32).astype(np.int32)
    zps = constant("p", np.array([-3], np.int8)) + constant("q", np.zeros(1, np.int8))
    s.add("conv2d_i8", zps + call("conv2d", ["%a", "%b", "%c", "%p", "%q"], [type_of(i), type_of(k), type_of(b32)] +
                                  ["tensor<1xi8>"] * 2, type_of(out), "{acc_type = i32, dilation = array<i64: 2, 1>, pad = "
                                  "array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}"), [i, k, b32], [out])
    d, db = s.floats(3, 2, 3, 2), s.floats(6)
    grouped = d.transpose(2, 3, 0, 1).reshape(6, 3, 2, 1)
    y = (convolve(x, grouped, (1, 1), (0, 1, 1, 0), (1, 1), 3) + db).astype(np.float32)
    s.add("depthwise_conv2d", zp + call("depthwise_conv2d", ["%a", "%b", "%c", "%p", "%p"], [type_of(x), type_of(d),
                                        type_of(db)] + ["tensor<1xf32>"] * 2, type_of(y), "{acc_type = f32, dilation = "
                                        "array<i64: 1, 1>, pad = array<i64: 0, 1, 1, 0>, stride = array<i64: 1, 1>}"),
          [x, d, db], [y])
    small = s.floats(1, 3, 2, 3)
    y = np.zeros((1, 3 * 2 + 3 - 2, 2 * 1 + 2 - 1, 4))
    for oy, ox in np.ndindex(3, 2):
        y[:, oy * 2:oy * 2 + 3, ox:ox + 2] += np.einsum("nc,oyxc->nyxo", small[:, oy, ox], w)
    y = (y + bias).astype(np.float32)
    s.add("transpose_conv2d", zp + call("transpose_conv2d", ["%a", "%b", "%c", "%p", "%p"], [type_of(small), type_of(w),
                                        type_of(bias)] + ["tensor<1xf32>"] * 2, type_of(y), "{acc_type = f32, out_pad = "
                                        "array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 1>}"), [small, w, bias], [y])
    padded = np.pad(x, ((0, 0), (1, 0), (0, 1), (0, 0)), constant_values=-np.inf)
    views = np.lib.stride_tricks.sliding_window_view(padded, (3, 2), (1, 2))[:, ::2]
    s.add("max_pool2d", plain("max_pool2d", type_of(views.max((-1, -2))), x, attributes="{kernel = array<i64: 3, 2>, pad = "
                              "array<i64: 1, 0, 0, 1>, stride = array<i64: 2, 1>}"), [x], [views.max((-1, -2))])
    means = np.ma.masked_invalid(views).mean((-1, -2)).data.astype(np.float32)
    s.add("avg_pool2d", zp + call("avg_pool2d", ["%a", "%p", "%p"], [type_of(x)] + ["tensor<1xf32>"] * 2, type_of(means),
                                  "{acc_type = f32, kernel = array<i64: 3, 2>, pad = array<i64: 1, 0, 0, 1>, stride = "
                                  "array<i64: 2, 1>}"), [x], [means])
    sums = np.lib.stride_tricks.sliding_window_view(i.astype(int), (2, 2), (1, 2)).sum((-1, -2))
    average = ((sums - 4 * 5) * ((1 << 30) + 1) + (1 << 31) >> 32) + 2
    zps = constant("p", np.array([5], np.int8)) + constant("q", np.array([2], np.int8))
    out = np.clip(average, -128, 127).astype(np.int8)
    s.add("avg_pool2d_i8", zps + call("avg_pool2d", ["%a", "%p", "%q"], [type_of(i)] + ["tensor<1xi8>"] * 2, type_of(out),
                                      "{acc_type = i32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = "
                                      "array<i64: 1, 1>}"), [i], [out])
    a, b = s.floats(2, 3, 4), s.floats(2, 4, 5)
    s.add("matmul", zp + call("matmul", ["%a", "%b", "%p", "%p"], [type_of(a), type_of(b)] + ["tensor<1xf32>"] * 2,
                              "tensor<2x3x5xf32>"), [a, b], [a @ b])
    re, im = s.floats(2, 4, 6), s.floats(2, 4, 6)
    for inverse in (False, True):
        z = re + 1j * im
        z = np.fft.ifft2(z) * 24 if inverse else np.fft.fft2(z)
        flag = str(inverse).lower()
        s.add(f"fft2d_{flag}", f"%0, %1 = tosa.fft2d %a, %b {{inverse = {flag}}} : (tensor<2x4x6xf32>, tensor<2x4x6xf32>) -> "
              "(tensor<2x4x6xf32>, tensor<2x4x6xf32>)\nreturn %0, %1 : tensor<2x4x6xf32>, tensor<2x4x6xf32>", [re, im],
              [z.real.astype(np.float32), z.imag.astype(np.float32)])
    z = np.fft.rfft2(re)
    s.add("rfft2d", "%0, %1 = tosa.rfft2d %a : (tensor<2x4x6xf32>) -> (tensor<2x4x4xf32>, tensor<2x4x4xf32>)\n"
          "return %0, %1 : tensor<2x4x4xf32>, tensor<2x4x4xf32>", [re], [z.real.astype(np.float32), z.imag.astype(np.float32)])
    s.add("rfft2d_open", "%0, %1 = tosa.rfft2d %a : (tensor<?x4x6xf32>) -> (tensor<?x4x4xf32>, tensor<?x4x4xf32>)\n"
          "return %0, %1 : tensor<?x4x4xf32>, tensor<?x4x4xf32>", [re], [z.real.astype(np.float32), z.imag.astype(np.float32)],
          None, ["tensor<?x4x6xf32>"], ["tensor<?x4x4xf32>"] * 2)
    s.write("tosa")


def quantized():
    s = Suite("quantized", "rescale and table.")
    x = s.ints(3, 4, low=-100000, high=100000)
    multiplier, shift = np.array([1506000000, 1 << 30, 2000000000, 1100000000], np.int32), np.array([40, 38, 35, 33], np.int8)
    lists = constant("m", multiplier) + constant("h", shift) + constant("p", np.zeros(1, np.int32)) + \
        constant("q", np.array([-3], np.int8))
    types = [type_of(x), "tensor<4xi32>", "tensor<4xi8>", "tensor<1xi32>", "tensor<1xi8>"]
    for mode in ("SINGLE_ROUND", "DOUBLE_ROUND"):
        out = np.empty(x.shape, np.int8)
        for r, c in np.ndindex(*x.shape):
            h, value = int(shift[c]), int(x[r, c])
            half = 1 << (h - 1)
            if mode == "DOUBLE_ROUND" and h > 31:
                half += 1 << 30 if value >= 0 else -(1 << 30)
            out[r, c] = min(max((value * int(multiplier[c]) + half >> h) - 3, -128), 127)
        s.add(f"rescale_{mode.lower()}", lists + call("rescale", ["%a", "%m", "%h", "%p", "%q"], types, "tensor<3x4xi8>",
              f'{{input_unsigned = false, output_unsigned = false, per_channel = true, rounding_mode = "{mode}", scale32 = '
              "true}"), [x], [out])
    u = s.ints(6, low=0, high=255, dtype=np.uint8)
    out = np.clip(((u.astype(int) - 128) * (1 << 30) + (1 << 29)) >> 30, -128, 127).astype(np.int8)
    s.add("rescale_from_ui8", plain("rescale", "tensor<6xi8>", u, attributes="{double_round = false, input_zp = 128 : i32, "
          "multiplier = array<i32: 1073741824>, output_zp = 0 : i32, per_channel = false, scale32 = true, shift = "
          "array<i8: 30>}"), [u], [out])
    b, table = s.ints(6, low=-128, high=127, dtype=np.int8), s.ints(256, low=-128, high=127, dtype=np.int8)
    s.add("table_i8", plain("table", "tensor<6xi8>", b, table), [b, table], [table[b.astype(int) + 128]])
    h = np.array([-32768, -1, 0, 12345, 32767], np.int16)
    steps = (np.arange(513) * 120 - 30000).astype(np.int16)
    index, part = (h.astype(int) >> 7) + 256, h.astype(int) & 127
    out = (steps[index].astype(int) * 128 + (steps[index + 1].astype(int) - steps[index]) * part).astype(np.int32)
    s.add("table_i16", plain("table", "tensor<5xi32>", h, steps), [h, steps], [out])
    s.write("tosa")


def control():
    s = Suite("control", "cond_if, while_loop.")
    x = s.floats(4)
    for flag in (True, False):
        s.add(f"cond_if_{flag}".lower(), """%0 = "tosa.cond_if"(%b, %a) ({
^bb0(%x: tensor<4xf32>):
  %1 = tosa.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  tosa.yield %1 : tensor<4xf32>
}, {
^bb0(%x: tensor<4xf32>):
  tosa.yield %x : tensor<4xf32>
}) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
return %0 : tensor<4xf32>""", [x, np.array(flag)], [2 * x if flag else x])
    s.add("while_loop", """%one = "tosa.const"() <{values = dense<1> : tensor<i32>}> : () -> tensor<i32>
%0:2 = "tosa.while_loop"(%b, %a) ({
^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
  %zero = "tosa.const"() <{values = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %1 = tosa.greater %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tosa.yield %1 : tensor<i1>
}, {
^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
  %1 = tosa.sub %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %2 = tosa.add %v, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  tosa.yield %1, %2 : tensor<i32>, tensor<4xf32>
}) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
return %0#0, %0#1 : tensor<i32>, tensor<4xf32>""", [x, np.array(3, np.int32)], [np.array(0, np.int32), 4 * x])
    s.write("tosa")


if __name__ == "__main__":
    for suite in [elementwise, layout, tensors, quantized, control]:
        suite()
