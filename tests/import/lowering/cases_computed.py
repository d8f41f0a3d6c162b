"""StableHLO with numbers that are computed: sizes, paddings, windows; and futures, tokens, bits of complex numbers."""

import numpy as np

from case import Suite


def parts(shape, value="0"):
    kind = f"{shape}xcomplex<f32>"
    return (f"%re = stablehlo.real %{value} : (tensor<{kind}>) -> tensor<{shape}xf32>\n"
            f"%im = stablehlo.imag %{value} : (tensor<{kind}>) -> tensor<{shape}xf32>\n"
            f"return %re, %im : tensor<{shape}xf32>, tensor<{shape}xf32>")


def split(z):
    return [z.real.astype(np.float32), z.imag.astype(np.float32)]


def make(shape, name="z", first="a", second="b"):
    return f"%{name} = stablehlo.complex %{first}, %{second} : tensor<{shape}xcomplex<f32>>\n"


def shifted(x, axis, low, high):
    """x with that many zeros before and behind, or as many elements less."""
    around = [(0, 0)] * x.ndim
    around[axis] = max(low, 0), max(high, 0)
    x = np.pad(x, around)
    return np.take(x, np.arange(max(-low, 0), x.shape[axis] - max(-high, 0)), axis)


def dilated(x, steps):
    out = np.zeros([(size - 1) * step + 1 for size, step in zip(x.shape, steps)], x.dtype)
    out[tuple(slice(None, None, step) for step in steps)] = x
    return out


def window_sums(x, sizes, strides, steps):
    counts = [(size - (k - 1) * step - 1) // stride + 1 for size, k, stride, step in zip(x.shape, sizes, strides, steps)]
    out = np.zeros(counts, x.dtype)
    for at in np.ndindex(*counts):
        out[at] = x[tuple(slice(i * stride, i * stride + (k - 1) * step + 1, step)
                          for i, k, stride, step in zip(at, sizes, strides, steps))].sum()
    return out


def windows(s):
    x, w = s.floats(1, 5, 4, 2), s.floats(3, 2, 2, 3)
    for name, padding in {"more": [[1, 2], [0, 3]], "less": [[-1, 2], [3, -2]]}.items():
        wide = dilated(x, (1, 2, 1, 1))
        for axis, (low, high) in enumerate(padding):
            wide = shifted(wide, 1 + axis, low, high)
        y = np.zeros((1, wide.shape[1] - 2, wide.shape[2] - 1, 3), np.float32)
        for i, j in np.ndindex(*y.shape[1:3]):
            y[0, i, j] = np.tensordot(wide[0, i:i + 3, j:j + 2], w, 3)
        s.add(f"dynamic_conv_{name}", """%0 = "stablehlo.dynamic_conv"(%a, %b, %c) {window_strides = array<i64: 1, 1>, lhs_dilation = array<i64: 2, 1>, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x5x4x2xf32>, tensor<3x2x2x3xf32>, tensor<2x2xi32>) -> tensor<1x?x?x3xf32>
return %0 : tensor<1x?x?x3xf32>""", [x, w, np.array(padding, np.int32)], [y], results=["tensor<1x?x?x3xf32>"])
    x = s.floats(4, 5)
    body = """%d = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
%s = stablehlo.constant dense<[2, 1]> : tensor<2xi64>
%w = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
%0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%a, %z, %d, %s, %s, %w, %p) {called_computations = [@FN]} : (tensor<4x5xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2x2xi64>) -> tensor<?x?xf32>
return %0 : tensor<?x?xf32>"""
    function = """func.func private @FN(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
}
"""
    for name, padding in {"given": [[1, 1], [0, 2]], "less": [[-1, 2], [0, 0]]}.items():
        wide = dilated(x, (2, 1))
        for axis, (low, high) in enumerate(padding):
            wide = shifted(wide, axis, low, high)
        y, zero = window_sums(wide, (2, 3), (2, 1), (1, 2)), "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
        s.add(f"dynamic_window_{name}", zero + body.replace("%p", "%b").replace("FN", f"sum_{name}"),
              [x, np.array(padding, np.int64)], [y], results=["tensor<?x?xf32>"],
              extra=function.replace("FN", f"sum_{name}"))
        known = f"%p = stablehlo.constant dense<{padding}> : tensor<2x2xi64>\n"
        s.add(f"dynamic_window_{name}_known", zero + known + body.replace("FN", f"sum_{name}_known"), [x], [y],
              results=["tensor<?x?xf32>"], extra=function.replace("FN", f"sum_{name}_known"))


def sizes(s):
    x, bounded = s.floats(2, 8), "tensor<2x?xf32, #stablehlo.bounds<?, 8>>"
    start = f"%0 = stablehlo.set_dimension_size %a, %b, dim = 1 : (tensor<2x8xf32>, tensor<i32>) -> {bounded}\n"
    for count in (5, 8, 0):
        s.add(f"set_size_{count}", start + f"%1 = stablehlo.get_dimension_size %0, dim = 1 : ({bounded}) -> tensor<i32>\n"
              f"return %0, %1 : {bounded}, tensor<i32>", [x, np.int32(count)], [x[:, :count], np.int32(count)],
              results=[bounded, "tensor<i32>"])
    s.add("set_size_sum", "%z = stablehlo.constant dense<0.0> : tensor<f32>\n" + start +
          f"%1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : ({bounded}, tensor<f32>) "
          "-> tensor<2xf32>\nreturn %1 : tensor<2xf32>", [x, np.int32(3)], [x[:, :3].sum(1)])
    back = np.zeros_like(x)
    back[:, :5] = x[:, :5]
    s.add("set_size_back", start + "%c = stablehlo.constant dense<8> : tensor<i32>\n"
          f"%1 = stablehlo.set_dimension_size %0, %c, dim = 1 : ({bounded}, tensor<i32>) -> tensor<2x8xf32>\n"
          "return %1 : tensor<2x8xf32>", [x, np.int32(5)], [back])
    for kind, fn in {"FFT": np.fft.fft, "IFFT": np.fft.ifft}.items():
        z = s.floats(3, 6) + 1j * s.floats(3, 6)
        s.add(f"batches_{kind.lower()}", make("?x6") + f"%0 = stablehlo.fft %z, type = {kind}, length = [6] : "
              "(tensor<?x6xcomplex<f32>>) -> tensor<?x6xcomplex<f32>>\n" + parts("?x6"), split(z), split(fn(z)),
              types=["tensor<?x6xf32>"] * 2, results=["tensor<?x6xf32>"] * 2)
    x = s.floats(2, 3, 8)
    s.add("batches_rfft", "%0 = stablehlo.fft %a, type = RFFT, length = [8] : (tensor<?x?x8xf32>) -> "
          "tensor<?x?x5xcomplex<f32>>\n" + parts("?x?x5"), [x], split(np.fft.rfft(x)), types=["tensor<?x?x8xf32>"],
          results=["tensor<?x?x5xf32>"] * 2)
    z = np.fft.rfft2(s.floats(2, 3, 8))
    s.add("batches_irfft", make("?x3x5") + "%0 = stablehlo.fft %z, type = IRFFT, length = [3, 8] : "
          "(tensor<?x3x5xcomplex<f32>>) -> tensor<?x3x8xf32>\nreturn %0 : tensor<?x3x8xf32>", split(z),
          [np.fft.irfft2(z, (3, 8)).astype(np.float32)], types=["tensor<?x3x5xf32>"] * 2,
          results=["tensor<?x3x8xf32>"])


def bits(s):
    z = (s.floats(3, 2) + 1j * s.floats(3, 2)).astype(np.complex64)
    s.add("complex_to_words", make("3x2") + "%0 = stablehlo.bitcast_convert %z : (tensor<3x2xcomplex<f32>>) -> "
          "tensor<3x2xi64>\nreturn %0 : tensor<3x2xi64>", split(z), [z.view(np.int64)])
    s.add("complex_to_halves", make("3x2") + "%0 = stablehlo.bitcast_convert %z : (tensor<3x2xcomplex<f32>>) -> "
          "tensor<3x2x4xi16>\nreturn %0 : tensor<3x2x4xi16>", split(z), [z.view(np.int16).reshape(3, 2, 4)])
    s.add("complex_to_floats", make("3x2") + "%0 = stablehlo.bitcast_convert %z : (tensor<3x2xcomplex<f32>>) -> "
          "tensor<3x2x2xf32>\nreturn %0 : tensor<3x2x2xf32>", split(z), [z.view(np.float32).reshape(3, 2, 2)])
    for name, array in {"words": z.view(np.int64), "halves": z.view(np.int16).reshape(3, 2, 4),
                        "floats": z.view(np.float32).reshape(3, 2, 2)}.items():
        kind = f"tensor<{'x'.join(map(str, array.shape))}x{ {'i': 'i', 'f': 'f'}[array.dtype.kind]}{array.itemsize * 8}>"
        s.add(f"{name}_to_complex", f"%0 = stablehlo.bitcast_convert %a : ({kind}) -> tensor<3x2xcomplex<f32>>\n" +
              parts("3x2"), [array], split(z))
    wide = s.floats(3, dtype=np.float64) + 1j * s.floats(3, dtype=np.float64)
    narrow = wide.view(np.complex64).reshape(3, 2)
    complex_ = "%z = stablehlo.complex %a, %b : tensor<3xcomplex<f64>>\n"
    s.add("complex_narrower", complex_ + "%0 = stablehlo.bitcast_convert %z : (tensor<3xcomplex<f64>>) -> "
          "tensor<3x2xcomplex<f32>>\n" + parts("3x2"), [wide.real, wide.imag], split(narrow))
    s.add("complex_wider", make("3x2") + "%0 = stablehlo.bitcast_convert %z : (tensor<3x2xcomplex<f32>>) -> "
          "tensor<3xcomplex<f64>>\n" + parts("3").replace("f32", "f64"), split(narrow), [wide.real, wide.imag])


def devices(s):
    x = s.floats(3)
    add = "({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n  %s = stablehlo.add %p, %q : tensor<f32>\n  " \
          "stablehlo.return %s : tensor<f32>\n})"
    s.add("future", f"""%0 = "stablehlo.async_start"(%a) ({{ ^bb0(%x: tensor<3xf32>):
  %1 = "stablehlo.all_reduce"(%x) {add} {{replica_groups = dense<0> : tensor<1x1xi64>}} : (tensor<3xf32>) -> tensor<3xf32>
  %2 = stablehlo.add %1, %x : tensor<3xf32>
  stablehlo.return %2 : tensor<3xf32>
}}) : (tensor<3xf32>) -> !stablehlo.future<tensor<3xf32>>
%3 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<3xf32>>) -> tensor<3xf32>
return %3 : tensor<3xf32>""", [x], [x + x])
    permute = '"stablehlo.collective_permute"(%a) {{source_target_pairs = dense<{}> : tensor<{}x2xi64>}} : ' \
              "(tensor<3xf32>) -> tensor<3xf32>\n"
    s.add("permute", "%0 = " + permute.format("[[0, 0]]", 1) + "%1 = " + permute.format("", 0) +
          "return %0, %1 : tensor<3xf32>, tensor<3xf32>", [x], [x, 0 * x])
    z, source = s.floats(4) + 1j * s.floats(4), s.floats(2) + 1j * s.floats(2)
    want = np.zeros(4, complex)
    for i in range(2):
        want[2 * i + (z.real[2 * i] < z.real[2 * i + 1])] += source[i]
    s.add("select_complex", make("4") + make("2", "s", "c", "d") + """%i = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
%0 = "stablehlo.select_and_scatter"(%z, %s, %i) ({ ^bb0(%x: tensor<complex<f32>>, %y: tensor<complex<f32>>):
  %p = stablehlo.real %x : (tensor<complex<f32>>) -> tensor<f32>
  %q = stablehlo.real %y : (tensor<complex<f32>>) -> tensor<f32>
  %t = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %t : tensor<i1>
}, { ^bb0(%x: tensor<complex<f32>>, %y: tensor<complex<f32>>):
  %t = stablehlo.add %x, %y : tensor<complex<f32>>
  stablehlo.return %t : tensor<complex<f32>>
}) {window_dimensions = array<i64: 2>, window_strides = array<i64: 2>} : (tensor<4xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<complex<f32>>) -> tensor<4xcomplex<f32>>
""" + parts("4"), [*split(z), *split(source)], split(want))


def blocks(s):
    kind = "!quant.uniform<i8:f32:{0:2, 1:1}, {{1.0, 2.0}, {3.0:1, 4.0}}>"
    scale = np.repeat(np.array([[1, 2], [3, 4]], np.float32), 2, 0)
    zero = np.repeat(np.array([[0, 0], [1, 0]], np.float32), 2, 0)
    q, x = s.ints(4, 2, dtype=np.int8), s.floats(4, 2, low=-20, high=20)
    s.add("blocks_to_numbers", f"%0 = stablehlo.bitcast_convert %a : (tensor<4x2xi8>) -> tensor<4x2x{kind}>\n"
          f"%1 = stablehlo.uniform_dequantize %0 : (tensor<4x2x{kind}>) -> tensor<4x2xf32>\nreturn %1 : tensor<4x2xf32>",
          [q], [(q - zero) * scale])
    s.add("blocks_of_numbers", f"%0 = stablehlo.uniform_quantize %a : (tensor<4x2xf32>) -> tensor<4x2x{kind}>\n"
          f"%1 = stablehlo.bitcast_convert %0 : (tensor<4x2x{kind}>) -> tensor<4x2xi8>\nreturn %1 : tensor<4x2xi8>",
          [x], [np.round(x / scale + zero).astype(np.int8)])


if __name__ == "__main__":
    suite = Suite("computed", "StableHLO with computed numbers, and what one device makes of several.")
    for add in (windows, sizes, bits, devices, blocks):
        add(suite)
    suite.write("computed")
