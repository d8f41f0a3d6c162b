"""StableHLO ops with regions of any kind, transforms of every kind of length, linear algebra: what has kernels of its
own. Run to write regions/*.mlir."""

import itertools

import numpy as np

from case import Suite, type_of



def reduced():
    s = Suite("reduced", "Reductions, windows and scatters whose bodies are no single function.")
    x, y = s.floats(3, 4, 5), s.ints(3, 4, 5)
    # Sum of squares beside the largest of another operand, which depends on both.
    body = """  ^bb0(%p: tensor<f32>, %q: tensor<i32>, %r: tensor<f32>, %s: tensor<i32>):
    %t = stablehlo.multiply %r, %r : tensor<f32>
    %u = stablehlo.add %p, %t : tensor<f32>
    %v = stablehlo.compare GT, %s, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %w = stablehlo.select %v, %s, %q : tensor<i1>, tensor<i32>
    stablehlo.return %u, %w : tensor<f32>, tensor<i32>
"""
    start = "%z = stablehlo.constant dense<0.0> : tensor<f32>\n%o = stablehlo.constant dense<-100> : tensor<i32>\n"
    for dims, axes in [("1", (1,)), ("0, 2", (0, 2)), ("0, 1, 2", (0, 1, 2))]:
        sums, most = (x.astype(np.float64) ** 2).sum(axes).astype(np.float32), y.max(axes)
        f, i = type_of(np.asarray(sums)), type_of(np.asarray(most))
        s.add(f"two_results_{len(axes)}", start + f"""%0:2 = "stablehlo.reduce"(%a, %b, %z, %o) ({{
{body}}}) {{dimensions = array<i64: {dims}>}} : (tensor<3x4x5xf32>, tensor<3x4x5xi32>, tensor<f32>, tensor<i32>) -> ({f}, {i})
return %0#0, %0#1 : {f}, {i}""", [x, y], [sums, most])
    scale = s.floats(3)
    s.add("captured", """%z = stablehlo.constant dense<0.0> : tensor<f32>
%c = stablehlo.multiply %b, %b : tensor<3xf32>
%d = stablehlo.reduce(%c init: %z) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
%0 = "stablehlo.reduce"(%a, %z) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = stablehlo.multiply %q, %d : tensor<f32>
    %u = stablehlo.add %p, %t : tensor<f32>
    stablehlo.return %u : tensor<f32>
}) {dimensions = array<i64: 0, 1>} : (tensor<3x4x5xf32>, tensor<f32>) -> tensor<5xf32>
return %0 : tensor<5xf32>""", [x, scale], [x.sum((0, 1)) * (scale * scale).sum()])
    line = s.floats(9)
    padded = np.concatenate([[0], line, [0]]).astype(np.float32)
    squares = np.array([(padded[i:i + 3] ** 2).sum() for i in range(0, 9, 2)], np.float32)
    s.add("window_of_squares", """%z = stablehlo.constant dense<0.0> : tensor<f32>
%0 = "stablehlo.reduce_window"(%a, %z) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = stablehlo.multiply %q, %q : tensor<f32>
    %u = stablehlo.add %p, %t : tensor<f32>
    stablehlo.return %u : tensor<f32>
}) {window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[1, 1]]> : tensor<1x2xi64>} : (tensor<9xf32>, tensor<f32>) -> tensor<5xf32>
return %0 : tensor<5xf32>""", [line], [squares])
    old, index, new = s.floats(6), np.array([[4], [1], [4], [9], [0]], np.int32), s.floats(5)
    counts = np.zeros(6, np.int32)
    result = old.copy()
    for (at,), value in zip(index, new):
        if at < 6:
            result[at] = result[at] * np.float32(0.5) + value
            counts[at] += 1
    s.add("scatter_two", """%h = stablehlo.constant dense<0.5> : tensor<f32>
%n = stablehlo.constant dense<0> : tensor<6xi32>
%o = stablehlo.constant dense<1> : tensor<5xi32>
%0:2 = "stablehlo.scatter"(%a, %n, %b, %c, %o) ({
  ^bb0(%p: tensor<f32>, %q: tensor<i32>, %r: tensor<f32>, %s: tensor<i32>):
    %t = stablehlo.multiply %p, %h : tensor<f32>
    %u = stablehlo.add %t, %r : tensor<f32>
    %v = stablehlo.add %q, %s : tensor<i32>
    stablehlo.return %u, %v : tensor<f32>, tensor<i32>
}) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<6xf32>, tensor<6xi32>, tensor<5x1xi32>, tensor<5xf32>, tensor<5xi32>) -> (tensor<6xf32>, tensor<6xi32>)
return %0#0, %0#1 : tensor<6xf32>, tensor<6xi32>""", [old, index, new], [result, counts])
    image, source = s.floats(4, 4), s.floats(2, 2)
    spread = np.full((4, 4), 1.0, np.float32)
    for i, j in itertools.product(range(2), range(2)):
        part = image[2 * i:2 * i + 2, 2 * j:2 * j + 2]
        k, m = np.unravel_index(part.argmax(), (2, 2))
        spread[2 * i + k, 2 * j + m] -= 2 * source[i, j]
    s.add("select_and_scatter_any", """%z = stablehlo.constant dense<1.0> : tensor<f32>
%0 = "stablehlo.select_and_scatter"(%a, %b, %z) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
}, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = stablehlo.add %q, %q : tensor<f32>
    %u = stablehlo.subtract %p, %t : tensor<f32>
    stablehlo.return %u : tensor<f32>
}) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
return %0 : tensor<4x4xf32>""", [image, source], [spread])
    s.write("regions")


def sorted_lines():
    s = Suite("sorted", "Sorts: short lines by counting, long ones by merging, with any comparator.")
    for length in (1, 40, 300, 513):
        x = s.floats(2, length)
        places = np.tile(np.arange(length, dtype=np.int32), (2, 1))
        order = np.argsort(np.abs(x), 1, kind="stable")
        f, i = type_of(x), type_of(places)
        s.add(f"by_absolute_{length}", f"""%i = stablehlo.iota dim = 1 : {i}
%0:2 = "stablehlo.sort"(%a, %i) ({{
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<i32>, %s: tensor<i32>):
    %u = stablehlo.abs %p : tensor<f32>
    %v = stablehlo.abs %q : tensor<f32>
    %c = stablehlo.compare LT, %u, %v : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
}}) {{dimension = 1 : i64, is_stable = true}} : ({f}, {i}) -> ({f}, {i})
return %0#0, %0#1 : {f}, {i}""", [x], [np.take_along_axis(x, order, 1), order.astype(np.int32)])
    x = s.ints(700, 2, low=-20, high=20)
    s.add("descending_700", """%0 = "stablehlo.sort"(%a) ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %c = stablehlo.compare GT, %p, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
}) {dimension = 0 : i64} : (tensor<700x2xi32>) -> tensor<700x2xi32>
return %0 : tensor<700x2xi32>""", [x], [-np.sort(-x, 0)])
    line = s.ints(400, low=-50, high=50).astype(np.float32)
    s.add("top_400", """%0:2 = chlo.top_k(%a, k = 5) : tensor<400xf32> -> (tensor<5xf32>, tensor<5xi32>)
return %0#0, %0#1 : tensor<5xf32>, tensor<5xi32>""", [line],
          [-np.sort(-line)[:5], np.argsort(-line, kind="stable")[:5].astype(np.int32)])
    s.write("regions")


def transforms():
    s = Suite("transforms", "Fourier transforms: by one matrix, by factors, by convolution.")
    for kind, shape, count in [("FFT", (2, 1), 1), ("FFT", (2, 64), 1), ("IFFT", (100,), 1), ("FFT", (3, 127), 1),
                               ("FFT", (167,), 1), ("IFFT", (334,), 1), ("FFT", (2, 3, 70), 2)]:
        re, im = s.floats(*shape), s.floats(*shape)
        value = (np.fft.fftn if kind == "FFT" else np.fft.ifftn)(re + 1j * im, axes=tuple(range(-count, 0)))
        t, c = type_of(re), type_of(re).replace("f32", "complex<f32>")
        name = f"{kind.lower()}_{'x'.join(map(str, shape))}"
        s.add(name, f"""%z = stablehlo.complex %a, %b : {c}
%0 = stablehlo.fft %z, type = {kind}, length = {list(shape[-count:])} : ({c}) -> {c}
%1 = stablehlo.real %0 : ({c}) -> {t}
%2 = stablehlo.imag %0 : ({c}) -> {t}
return %1, %2 : {t}, {t}""", [re, im], [value.real.astype(np.float32), value.imag.astype(np.float32)])
    s.write("regions")


def matrices():
    s = Suite("matrices", "Cholesky factors and triangular systems, with batches and from either side.")
    a = s.floats(2, 5, 5)
    definite = (a @ a.transpose(0, 2, 1) + 5 * np.eye(5)).astype(np.float32)
    lower = np.linalg.cholesky(definite)
    t = "tensor<2x5x5xf32>"
    s.add("cholesky_lower", f"%0 = stablehlo.cholesky %a, lower = true : {t}\nreturn %0 : {t}", [definite], [lower])
    s.add("cholesky_upper", f"%0 = stablehlo.cholesky %a : {t}\nreturn %0 : {t}", [definite],
          [lower.transpose(0, 2, 1)])
    for left, low, turned, unit in itertools.product((True, False), repeat=4):
        full = (a + 4 * np.eye(5)).astype(np.float32)
        matrix = (np.tril if low else np.triu)(full)
        if unit:
            matrix = matrix - matrix * np.eye(5, dtype=np.float32) + np.eye(5, dtype=np.float32)
        b = s.floats(2, 5, 3) if left else s.floats(2, 3, 5)
        used = matrix.transpose(0, 2, 1) if turned else matrix
        x = np.linalg.solve(used, b) if left else np.linalg.solve(used.transpose(0, 2, 1), b.transpose(0, 2, 1))
        x = x if left else x.transpose(0, 2, 1)
        words = [str(flag).lower() for flag in (left, low, unit)]
        name = "_".join(["solve", "left" if left else "right", "lower" if low else "upper"] +
                        ["transposed"] * turned + ["unit"] * unit)
        s.add(name, f"""%0 = "stablehlo.triangular_solve"(%a, %b) {{left_side = {words[0]}, lower = {words[1]}, transpose_a = #stablehlo<transpose {'TRANSPOSE' if turned else 'NO_TRANSPOSE'}>, unit_diagonal = {words[2]}}} : ({t}, {type_of(b)}) -> {type_of(b)}
return %0 : {type_of(b)}""", [full, b], [x.astype(np.float32)], tolerance=1e-4)
    s.write("regions")


if __name__ == "__main__":
    for suite in [reduced, sorted_lines, transforms, matrices]:
        suite()
