"""Factorizations that are custom calls. Run as a script to write matrices/*.mlir anew."""

import numpy as np
from scipy.linalg import lapack

from case import Suite, dense, type_of


def call(name, results, operands="%a", types="", config=""):
    """%0 (or %0:n) = a custom call."""
    count = f":{len(results)}" if len(results) > 1 else ""
    given = ", ".join(results)
    given = f"({given})" if len(results) > 1 else given
    return (f"%0{count} = stablehlo.custom_call @{name}({operands}) {{mhlo.backend_config = {{{config}}}}} : "
            f"({types}) -> {given}\n")


def product(out, x, y, types, left=1, right=0):
    """out = x times y, by the dims of either that are summed over."""
    return (f"{out} = stablehlo.dot_general {x}, {y}, contracting_dims = [{left}] x [{right}] : "
            f"({types[0]}, {types[1]}) -> {types[2]}\n")


def scaled(out, x, values, kind, size):
    """out = x with its columns times values."""
    return (f"{out}w = stablehlo.broadcast_in_dim {values}, dims = [1] : (tensor<{size}x{kind}>) -> {type_of(x[1])}\n"
            f"{out} = stablehlo.multiply {x[0]}, {out}w : {type_of(x[1])}\n")


def positive(s, n, dtype=np.float32):
    a = s.floats(n, n, dtype=dtype)
    return (a @ a.T + n * np.eye(n)).astype(dtype)


def eliminate(a):
    """LU with partial pivoting: the factors, the rows swapped with, and the first place without pivot."""
    a, info = a.astype(np.float64), 0
    pivots = np.zeros(min(a.shape), np.int32)
    for k in range(min(a.shape)):
        p = k + int(np.argmax(np.abs(a[k:, k])))
        pivots[k] = p
        a[[k, p]] = a[[p, k]]
        if a[k, k] == 0:
            info = info or k + 1
            continue
        a[k + 1:, k] /= a[k, k]
        a[k + 1:, k + 1:] -= np.outer(a[k + 1:, k], a[k, k + 1:])
    return a.astype(np.float32), pivots, np.int32(info)


def factors():
    s = Suite("factors", "Cholesky, LU and QR factorizations, and what is solved with them.")
    a = positive(s, 4)
    whole, status = type_of(a), "tensor<i32>"
    for name, config, want in [("lower", "uplo = 76 : ui8", np.tril(np.linalg.cholesky(a)) + np.triu(a, 1)),
                               ("upper", "uplo = 85 : ui8", np.triu(np.linalg.cholesky(a).T) + np.tril(a, -1))]:
        s.add(f"potrf_{name}", call("lapack_spotrf_ffi", [whole, status], types=whole, config=config) +
              f"return %0#0, %0#1 : {whole}, {status}", [a], [want.astype(np.float32), np.int32(0)])
    bad = np.diag([1, 4, -1, 2]).astype(np.float32)
    s.add("potrf_fails", call("lapack_spotrf_ffi", [whole, status], types=whole, config="uplo = 76 : ui8") +
          f"return %0#1 : {status}", [bad], [np.int32(3)])
    batch = s.floats(2, 4, 3)
    batch[1, :, 1] = 2 * batch[1, :, 0]  # no second pivot but for rounding
    batch[1, :, :2] = np.array([[1, 2], [2, 4], [0.5, 1], [1, 2]])
    parts = [eliminate(m) for m in batch]
    lu, pivots, info = (np.stack([part[i] for part in parts]) for i in range(3))
    types = [type_of(batch), type_of(pivots), type_of(info)]
    s.add("getrf", call("lapack_sgetrf_ffi", types, types=types[0]) + f"return %0#0, %0#1, %0#2 : {', '.join(types)}",
          [batch], [lu, pivots + 1, info])
    order = np.tile(np.arange(4, dtype=np.int32), (2, 1))
    for i in range(2):
        for k in range(3):
            order[i, [k, pivots[i, k]]] = order[i, [pivots[i, k], k]]
    types[2] = type_of(order)
    s.add("lu_decomposition", call("LuDecomposition", types, types=types[0]) +
          f"return %0#0, %0#1, %0#2 : {', '.join(types)}", [batch], [lu, pivots, order])
    s.add("pivots", call("cu_lu_pivots_to_permutation", [types[2]], types=types[1]) + f"return %0 : {types[2]}", [pivots],
          [order])
    for name, shape in [("tall", (5, 3)), ("wide", (3, 5))]:
        a = s.floats(*shape)
        h, tau = np.linalg.qr(a, mode="raw")
        types = [type_of(a), type_of(tau)]
        s.add(f"geqrf_{name}", call("lapack_sgeqrf_ffi", types, types=types[0]) +
              f"return %0#0, %0#1 : {', '.join(types)}", [a], [h.T, tau])
    a = s.floats(5, 3)
    h, tau = np.linalg.qr(a, mode="raw")
    q = np.linalg.qr(a)[0]
    types = [type_of(a), type_of(tau)]
    s.add("orgqr", call("lapack_sorgqr_ffi", [types[0]], "%a, %b", ", ".join(types)) + f"return %0 : {types[0]}",
          [h.T, tau], [q])
    tri, b = (np.tril(s.floats(3, 3)) + 3 * np.eye(3)).astype(np.float32), s.floats(2, 3)
    types = [type_of(tri), type_of(b)]
    config = "diag = 78 : ui8, side = 82 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8"
    s.add("trsm_right", call("lapack_strsm_ffi", [types[1]], "%a, %b", ", ".join(types), config) +
          f"return %0 : {types[1]}", [tri, b], [np.linalg.solve(tri, b.T).T.astype(np.float32)])
    a = s.floats(4, 4)
    types = [type_of(a), "tensor<3xf32>", "tensor<i32>"]
    text = call("lapack_sgehrd_ffi", types, types=types[0], config="high = 4 : i32, low = 1 : i32")
    # What stays of A under turns, and the zeros: traces of powers of the form.
    form = """%r = stablehlo.iota dim = 0 : tensor<4x4xi32>
%c = stablehlo.iota dim = 1 : tensor<4x4xi32>
%one = stablehlo.constant dense<1> : tensor<4x4xi32>
%next = stablehlo.add %c, %one : tensor<4x4xi32>
%upper = stablehlo.compare LE, %r, %next : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
%zero = stablehlo.constant dense<0.0> : tensor<4x4xf32>
%h = stablehlo.select %upper, %0#0, %zero : tensor<4x4xi1>, tensor<4x4xf32>
%eye = stablehlo.compare EQ, %r, %c : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
%z = stablehlo.constant dense<0.0> : tensor<f32>
"""
    for power, (x, y) in {2: ("%h", "%h"), 3: ("%p2", "%h"), 4: ("%p2", "%p2")}.items():
        form += product(f"%p{power}", x, y, [types[0]] * 3)
    for power in range(1, 5):
        matrix = "%h" if power == 1 else f"%p{power}"
        form += f"%d{power} = stablehlo.select %eye, {matrix}, %zero : tensor<4x4xi1>, tensor<4x4xf32>\n"
        form += f"%t{power} = stablehlo.reduce(%d{power} init: %z) applies stablehlo.add across dimensions = [0, 1] : " \
                "(tensor<4x4xf32>, tensor<f32>) -> tensor<f32>\n"
    traces = [np.trace(np.linalg.matrix_power(a.astype(np.float64), k)).astype(np.float32) for k in range(1, 5)]
    s.add("gehrd", text + form + "return %t1, %t2, %t3, %t4 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>", [a],
          traces, 1e-4)
    a = s.floats(1, 1)
    types = ["tensor<1x1xf32>", "tensor<0xf32>", "tensor<i32>"]
    s.add("gehrd_one", call("lapack_sgehrd_ffi", types, types=types[0], config="high = 1 : i32, low = 1 : i32") +
          f"return %0#0, %0#1, %0#2 : {', '.join(types)}", [a], [a, np.zeros(0, np.float32), np.int32(0)])
    a = s.floats(5, 5)
    a[1:, 0] = a[4, :4] = 0  # Rows and columns 2 to 4 are left to do.
    h, tau, _ = lapack.sgehrd(a, lo=1, hi=3)
    types = [type_of(a), type_of(tau), "tensor<i32>"]
    s.add("gehrd_part", call("lapack_sgehrd_ffi", types, types=types[0], config="high = 4 : i32, low = 2 : i32") +
          f"return %0#0, %0#1, %0#2 : {', '.join(types)}", [a], [h, tau, np.int32(0)], 1e-5)
    low, middle, high, b = s.floats(2, 4), s.floats(2, 4), s.floats(2, 4), s.floats(2, 4, 2)
    low[:, 0] = high[:, 3] = 0
    middle[0, 0] = 0  # rows must change places
    dense = [np.diag(middle[i]) + np.diag(low[i, 1:], -1) + np.diag(high[i, :3], 1) for i in range(2)]
    types = [type_of(low)] * 3 + [type_of(b)]
    s.add("gtsv", call("lapack_sgtsv_ffi", [*types, "tensor<2xi32>"], "%a, %b, %c, %d", ", ".join(types)) +
          f"return %0#3 : {types[3]}", [low, middle, high, b],
          [np.stack([np.linalg.solve(dense[i], b[i]) for i in range(2)]).astype(np.float32)], 1e-4)
    # The second matrix has two equal rows: what solves one beside it, which rounding cannot tell from it.
    low, middle, high = (np.array(d, np.float32) for d in ([[0, 1, 2], [0, 1, 0]], [[4, 5, 6], [1, 1, 2]],
                                                            [[1, 1, 0], [1, 0, 0]]))
    b = np.array([[[1], [2], [3]], [[1], [1], [2]]], np.float32)
    x = np.linalg.solve(np.diag(middle[0]) + np.diag(low[0, 1:], -1) + np.diag(high[0, :2], 1), b[0])
    types = [type_of(low)] * 3 + [type_of(b)]
    s.add("tridiagonal_singular", call("tridiagonal_solve_perturbed_ffi", [types[3]], "%a, %b, %c, %d", ", ".join(types)) +
          f"return %0 : {types[3]}", [low, middle, high, b], [np.stack([x, [[1], [0], [1]]]).astype(np.float32)])
    a = s.floats(4, 3)
    a[:, 1] *= 4
    for name, wanted, order in [("", [0, 0, 0], None), ("_wanted", [0, 0, 1], [2, 1, 0])]:
        if order is None:  # the longest column, then the one with most beside it
            beside = [np.linalg.norm(a[:, i] - a[:, 1] * (a[:, i] @ a[:, 1]) / (a[:, 1] @ a[:, 1])) for i in range(3)]
            order = [1, 0, 2] if beside[0] > beside[2] else [1, 2, 0]
        h, tau = np.linalg.qr(a[:, order], mode="raw")
        types = [type_of(a), "tensor<3xi32>", type_of(tau)]
        s.add(f"geqp3{name}", call("lapack_sgeqp3_ffi", types, "%a, %b", ", ".join(types[:2])) +
              f"return %0#0, %0#1, %0#2 : {', '.join(types)}", [a, np.array(wanted, np.int32)],
              [h.T, np.array(order, np.int32) + 1, tau])
    s.write("matrices")


def complex_factors():
    s = Suite("complex", "The same of complex matrices.")
    re, im = s.floats(4, 4), s.floats(4, 4)
    z = (re + 1j * im).astype(np.complex64)
    spd = (z @ z.conj().T + 4 * np.eye(4)).astype(np.complex64)
    split = lambda v: [v.real.astype(np.float32), v.imag.astype(np.float32)]
    make = "%z = stablehlo.complex %a, %b : tensor<4x4xcomplex<f32>>\n"
    both = "%re = stablehlo.real {0} : (tensor<{1}xcomplex<f32>>) -> tensor<{1}xf32>\n" \
           "%im = stablehlo.imag {0} : (tensor<{1}xcomplex<f32>>) -> tensor<{1}xf32>\n" \
           "return %re, %im : tensor<{1}xf32>, tensor<{1}xf32>"
    kind = "tensor<4x4xcomplex<f32>>"
    s.add("cholesky", make + f"%0 = stablehlo.cholesky %z, lower = true : {kind}\n" + both.format("%0", "4x4"),
          split(spd), split(np.linalg.cholesky(spd)))
    tri = np.tril(z) + 4 * np.eye(4)
    for name, left, transposed, matrix in [("plain", "true", "NO_TRANSPOSE", tri), ("adjoint", "false", "ADJOINT", tri.conj()),
                                           ("transposed", "true", "TRANSPOSE", tri.T)]:
        want = np.linalg.solve(matrix, z) if left == "true" else np.linalg.solve(matrix, z.T).T
        s.add(f"solve_{name}", make + "%y = stablehlo.complex %c, %d : " + kind + f"""
%0 = "stablehlo.triangular_solve"(%z, %y) {{left_side = {left}, lower = true, transpose_a = #stablehlo<transpose {transposed}>, unit_diagonal = false}} : ({kind}, {kind}) -> {kind}
""" + both.format("%0", "4x4"), [*split(tri), *split(z)], split(want), 1e-4)
    h, tau = np.linalg.qr(z, mode="raw")
    s.add("geqrf", make + call("lapack_cgeqrf_ffi", [kind, "tensor<4xcomplex<f32>>"], "%z", kind) +
          both.format("%0#0", "4x4"), split(z), split(h.T))
    lu = call("lapack_cgetrf_ffi", [kind, "tensor<4xi32>", "tensor<i32>"], "%z", kind)
    a = z.copy()
    for k in range(4):
        p = k + int(np.argmax(np.abs(a[k:, k].real) + np.abs(a[k:, k].imag)))
        a[[k, p]] = a[[p, k]]
        a[k + 1:, k] /= a[k, k]
        a[k + 1:, k + 1:] -= np.outer(a[k + 1:, k], a[k, k + 1:])
    s.add("getrf", make + lu + both.format("%0#0", "4x4"), split(z), split(a), 1e-4)
    w = np.linalg.eigvalsh(spd)
    s.add("heevd", make + call("lapack_cheevd_ffi", [kind, "tensor<4xf32>", "tensor<i32>"], "%z", kind,
                               "mode = 86 : ui8, uplo = 76 : ui8") + "return %0#1 : tensor<4xf32>", split(spd),
          [w.astype(np.float32)])
    svd = call("lapack_cgesdd_ffi", [kind, "tensor<4xf32>", kind, kind, "tensor<i32>"], "%z", kind, "mode = 65 : ui8")
    back = "%s = stablehlo.broadcast_in_dim %0#1, dims = [1] : (tensor<4xf32>) -> tensor<4x4xf32>\n" \
           "%n = stablehlo.constant dense<0.0> : tensor<4x4xf32>\n" \
           f"%t = stablehlo.complex %s, %n : {kind}\n%us = stablehlo.multiply %0#2, %t : {kind}\n" + \
           product("%p", "%us", "%0#3", [kind] * 3)
    s.add("gesdd", make + svd + back + both.format("%p", "4x4"), split(z), split(z))
    s.add("gesdd_values", make + svd + "return %0#1 : tensor<4xf32>", split(z),
          [np.linalg.svd(z, compute_uv=False).astype(np.float32)])
    s.write("matrices")


def eigenvalues(s, name, a, tolerance=None):
    """Values, V^T V and V diag(w) V^T."""
    n, dtype = a.shape[0], a.dtype
    kind = "f64" if dtype == np.float64 else "f32"
    whole, values = type_of(a), f"tensor<{n}x{kind}>"
    letter = "d" if kind == "f64" else "s"
    body = call(f"lapack_{letter}syevd_ffi", [whole, values, "tensor<i32>"], types=whole,
                config="mode = 86 : ui8, uplo = 76 : ui8")
    body += product("%1", "%0#0", "%0#0", [whole] * 3, 0, 0) + scaled("%vs", ("%0#0", a), "%0#1", kind, n)
    body += product("%3", "%vs", "%0#0", [whole] * 3, 1, 1) + f"return %0#1, %1, %3 : {values}, {whole}, {whole}"
    s.add(name, body, [a], [np.linalg.eigvalsh(a.astype(np.float64)).astype(dtype), np.eye(n, dtype=dtype), a], tolerance)


def singular(s, name, a, full, tolerance=None):
    """Values, U^T U, V^T V and U diag(s) V^T."""
    m, n = a.shape
    k = min(m, n)
    dtype = a.dtype
    kind = "f64" if dtype == np.float64 else "f32"
    u, v = np.zeros((m, m if full else k), dtype), np.zeros((n if full else k, n), dtype)
    types = [type_of(a), f"tensor<{k}x{kind}>", type_of(u), type_of(v), "tensor<i32>"]
    body = call(f"lapack_{'d' if kind == 'f64' else 's'}gesdd_ffi", types, types=types[0],
                config=f"mode = {65 if full else 83} : ui8")
    uu, vv = np.eye(u.shape[1], dtype=dtype), np.eye(v.shape[0], dtype=dtype)
    body += product("%1", "%0#2", "%0#2", [types[2], types[2], type_of(uu)], 0, 0)
    body += product("%2", "%0#3", "%0#3", [types[3], types[3], type_of(vv)], 1, 1)
    thin_u, thin_v = np.zeros((m, k), dtype), np.zeros((k, n), dtype)
    body += f"%u = stablehlo.slice %0#2 [0:{m}, 0:{k}] : ({types[2]}) -> {type_of(thin_u)}\n"
    body += f"%v = stablehlo.slice %0#3 [0:{k}, 0:{n}] : ({types[3]}) -> {type_of(thin_v)}\n"
    body += scaled("%us", ("%u", thin_u), "%0#1", kind, k)
    body += product("%3", "%us", "%v", [type_of(thin_u), type_of(thin_v), types[0]])
    body += f"return %0#1, %1, %2, %3 : {types[1]}, {type_of(uu)}, {type_of(vv)}, {types[0]}"
    s.add(name, body, [a], [np.linalg.svd(a.astype(np.float64), compute_uv=False).astype(dtype), uu, vv, a], tolerance)


def values():
    s = Suite("values", "Eigenvalues of symmetric matrices and singular values: Jacobi's method.")
    a = s.floats(5, 5)
    eigenvalues(s, "syevd", (a + a.T).astype(np.float32))
    eigenvalues(s, "syevd_even", positive(s, 4, np.float64), 1e-9)
    q = np.linalg.qr(s.floats(4, 4))[0]
    repeated = (q * [2, 2, -2, 0]) @ q.T
    eigenvalues(s, "syevd_repeated", ((repeated + repeated.T) / 2).astype(np.float32))
    eigenvalues(s, "syevd_zero", np.zeros((3, 3), np.float32))
    eigenvalues(s, "syevd_one", np.array([[-3]], np.float32))
    stored = np.tril(s.floats(3, 3)) + np.triu(np.full((3, 3), 9, np.float32), 1)
    want = np.linalg.eigvalsh(np.tril(stored) + np.tril(stored, -1).T)
    s.add("eigh_lower", "%0:2 = stablehlo.custom_call @Eigh(%a) {backend_config = \"1,1,100,1e-6\"} : (tensor<3x3xf32>) -> "
          "(tensor<3x3xf32>, tensor<3xf32>)\nreturn %0#1 : tensor<3xf32>", [stored], [want.astype(np.float32)])
    singular(s, "gesdd_tall", s.floats(5, 3), False)
    singular(s, "gesdd_full", s.floats(5, 3), True)
    singular(s, "gesdd_wide", s.floats(2, 5, dtype=np.float64), False, 1e-9)
    singular(s, "gesdd_wide_full", s.floats(2, 4), True)
    singular(s, "gesdd_rank", np.outer(s.floats(4), s.floats(3)).astype(np.float32), False)
    singular(s, "gesdd_zero", np.zeros((3, 2), np.float32), True)
    singular(s, "gesdd_small", (s.floats(3, 3) * 1e-30).astype(np.float32), False)
    batch = s.floats(2, 3, 2)
    s.add("gesdd_batch", call("lapack_sgesdd_ffi", ["tensor<2x3x2xf32>", "tensor<2x2xf32>", "tensor<2x3x3xf32>",
                                                    "tensor<2x2x2xf32>", "tensor<2xi32>"], types="tensor<2x3x2xf32>",
                              config="mode = 78 : ui8") + "return %0#1 : tensor<2x2xf32>", [batch],
          [np.linalg.svd(batch, compute_uv=False)])
    s.write("matrices")


def tridiagonal(a):
    """Diagonal and subdiagonal of Householder's form, of a Hermitian matrix."""
    a = a.astype(np.complex128 if np.iscomplexobj(a) else np.float64)
    n = len(a)
    for k in range(n - 1):
        x = a[k + 1:, k].copy()
        alpha = x[0]
        beta = -np.copysign(np.linalg.norm(x), alpha.real)
        if np.linalg.norm(x[1:]) == 0 and alpha.imag == 0:
            continue
        v = x / (alpha - beta)
        v[0] = 1
        tau = (beta - alpha) / beta
        h = np.eye(n, dtype=a.dtype)
        h[k + 1:, k + 1:] -= tau * np.outer(v, v.conj())
        a = h.conj().T @ a @ h
    return np.diag(a).real, np.diag(a, -1).real


class Complex:
    """Text that computes with complex n x n matrices of f32, or with a batch of them."""

    def __init__(self, n, batch=()):
        self.n, self.batch = n, batch
        dims = "".join(f"{d}x" for d in (*batch, n, n))
        self.kind, self.real = f"tensor<{dims}complex<f32>>", f"tensor<{dims}f32>"
        self.row = "tensor<" + "".join(f"{d}x" for d in (*batch, n)) + "{}>"
        self.rank = len(batch) + 2

    def dot(self, out, x, y, adjoint=False):
        """out = x y, or x^H y."""
        batch = list(range(self.rank - 2))
        left = f"%{out}c = chlo.conj {x} : {self.kind} -> {self.kind}\n" if adjoint else ""
        x = f"%{out}c" if adjoint else x
        inner = self.rank - 2 if adjoint else self.rank - 1
        given = f"batching_dims = {batch} x {batch}, " if batch else ""
        return left + (f"%{out} = stablehlo.dot_general {x}, {y}, {given}contracting_dims = [{inner}] x [{self.rank - 2}] : "
                       f"({self.kind}, {self.kind}) -> {self.kind}\n")

    def times(self, out, x, values, axis):
        """out = x with its columns (or rows) times a row of complex values."""
        dims = [*range(self.rank - 2), axis % self.rank]
        return (f"%{out}w = stablehlo.broadcast_in_dim {values}, dims = {dims} : ({self.row.format('complex<f32>')}) -> "
                f"{self.kind}\n%{out} = stablehlo.multiply {x}, %{out}w : {self.kind}\n")

    def parts(self, value):
        return (f"%re = stablehlo.real {value} : ({self.kind}) -> {self.real}\n%im = stablehlo.imag {value} : "
                f"({self.kind}) -> {self.real}\nreturn %re, %im : {self.real}, {self.real}")


def general(s, name, a):
    """geev: K + (A V - V W), and K + (U^H A - W U^H), which are K, a matrix without zeros."""
    split = lambda v: [np.ascontiguousarray(v.real).astype(np.float32), np.ascontiguousarray(v.imag).astype(np.float32)]
    m, is_complex = Complex(a.shape[-1], a.shape[:-2]), np.iscomplexobj(a)
    status = "tensor<" + "".join(f"{d}x" for d in a.shape[:-2]) + "i32>"
    config = "compute_left = 86 : ui8, compute_right = 86 : ui8"
    values = [m.row.format("complex<f32>")] if is_complex else [m.row.format("f32")] * 2
    zero = f"%n = stablehlo.constant dense<0.0> : {m.real}\n"
    whole = f"%z = stablehlo.complex %a, {'%b' if is_complex else '%n'} : {m.kind}\n"
    text = zero + whole + call(f"lapack_{'c' if is_complex else 's'}geev_ffi", [*values, m.kind, m.kind, status],
                               "%z" if is_complex else "%a", m.kind if is_complex else m.real, config)
    if not is_complex:
        text += f"%w = stablehlo.complex %0#0, %0#1 : {m.row.format('complex<f32>')}\n"
    w, left, right = ("%0#0", "%0#1", "%0#2") if is_complex else ("%w", "%0#2", "%0#3")
    difference = f"%d = stablehlo.subtract %p, %q : {m.kind}\n%r = stablehlo.add %k, %d : {m.kind}\n" + m.parts("%r")
    inputs = split(a) if is_complex else [a]
    zero += f"%k = stablehlo.complex %a, {'%b' if is_complex else '%a'} : {m.kind}\n"
    text = zero + text[text.index("%z = "):]
    wanted = split(a) if is_complex else [a, a]
    s.add(f"{name}_right", text + m.dot("p", "%z", right) + m.times("q", right, w, -1) + difference, inputs,
          wanted, 3e-5)
    identity = np.broadcast_to(np.eye(m.n, dtype=np.float32), a.shape)
    adjoint = f"%i = stablehlo.constant {dense(identity)}\n%e = stablehlo.complex %i, %n : {m.kind}\n"
    s.add(f"{name}_left", text + adjoint + m.dot("p", left, "%z", True) + m.dot("h", left, "%e", True) +
          m.times("q", "%h", w, -2) + difference, inputs, wanted, 3e-5)
    lengths = f"%s0 = stablehlo.abs {right} : ({m.kind}) -> {m.real}\n%s1 = stablehlo.multiply %s0, %s0 : {m.real}\n" \
              "%o = stablehlo.constant dense<0.0> : tensor<f32>\n" \
              f"%s = stablehlo.reduce(%s1 init: %o) applies stablehlo.add across dimensions = [{m.rank - 2}] : " \
              f"({m.real}, tensor<f32>) -> {m.row.format('f32')}\nreturn %s : {m.row.format('f32')}"
    s.add(f"{name}_lengths", text + lengths, inputs, [np.ones(a.shape[:-1], np.float32)])


def schur(s, name, a):
    """gees: Z T Z^H, which is A, and how many elements are not 0 below what may be."""
    split = lambda v: [v.real.astype(np.float32), v.imag.astype(np.float32)]
    m, is_complex = Complex(a.shape[-1]), np.iscomplexobj(a)
    row = m.row.format("complex<f32>" if is_complex else "f32")
    kind = m.kind if is_complex else m.real
    results = [kind, kind, *([row] if is_complex else [row, row]), "tensor<i32>", "tensor<i32>"]
    make = f"%z = stablehlo.complex %a, %b : {m.kind}\n" if is_complex else ""
    text = make + call(f"lapack_{'c' if is_complex else 's'}gees_ffi", results, "%z" if is_complex else "%a", kind,
                       "mode = 86 : ui8, sort = 78 : ui8")
    inputs = split(a) if is_complex else [a]
    if is_complex:
        back = m.dot("p", "%0#1", "%0#0") + f"%t = stablehlo.transpose %0#1, dims = [1, 0] : ({kind}) -> {kind}\n" \
               f"%h = chlo.conj %t : {kind} -> {kind}\n" + m.dot("r", "%p", "%h") + m.parts("%r")
    else:
        back = product("%p", "%0#1", "%0#0", [kind] * 3) + product("%r", "%p", "%0#1", [kind] * 3, right=1) + \
               f"return %r : {kind}"
    s.add(f"{name}_product", text + back, inputs, split(a) if is_complex else [a], 3e-5)
    below = -1 if is_complex else -2
    where = np.tril(np.ones((m.n, m.n), np.float32), below)
    size = f"%t = stablehlo.abs %0#0 : ({kind}) -> {m.real}\n" if is_complex else f"%t = stablehlo.abs %0#0 : {kind}\n"
    s.add(f"{name}_zeros", text + size + f"%m = stablehlo.constant {dense(where)}\n%u = stablehlo.multiply %t, %m : "
          f"{m.real}\nreturn %u : {m.real}", inputs, [np.zeros((m.n, m.n), np.float32)])


def schurs():
    s = Suite("schurs", "Eigenvalues and Schur forms of any matrix, tridiagonal forms.")
    two = s.floats(4, 4) + 1j * s.floats(4, 4)
    general(s, "geev", np.array([[0, 2, 0, 1], [-3, 1, 1, 0], [0.5, 0, -1, 2], [1, 0, -2, 0.5]], np.float32))
    general(s, "geev_one", np.array([[-3]], np.float32))
    general(s, "geev_batch", s.floats(2, 3, 3))
    general(s, "geev_complex", two.astype(np.complex64))
    turn = np.array([[1, -2], [2, 1]], np.float32)
    types = ["tensor<2xf32>", "tensor<2xf32>", "tensor<2x2xcomplex<f32>>", "tensor<2x2xcomplex<f32>>", "tensor<i32>"]
    values = call("lapack_sgeev_ffi", types, types="tensor<2x2xf32>", config="compute_left = 78 : ui8, compute_right = 78 : ui8")
    s.add("geev_pair", values + "return %0#0, %0#1, %0#4 : tensor<2xf32>, tensor<2xf32>, tensor<i32>", [turn],
          [np.array([1, 1], np.float32), np.array([2, -2], np.float32), np.int32(0)])
    s.add("geev_nan", values + "return %0#4 : tensor<i32>", [np.array([[1, np.nan], [2, 1]], np.float32)], [np.int32(-4)])
    several = call("lapack_sgeev_ffi", [t.replace("tensor<", "tensor<3x") for t in types], types="tensor<3x2x2xf32>",
                   config="compute_left = 78 : ui8, compute_right = 78 : ui8")
    s.add("geev_infinite_in_batch", several + "%w = stablehlo.slice %0#1 [1:2, 0:2] : (tensor<3x2xf32>) -> tensor<1x2xf32>\n"
          "return %w, %0#4 : tensor<1x2xf32>, tensor<3xi32>", [np.stack([turn * np.inf, turn, turn * np.nan])],
          [np.array([[2, -2]], np.float32), np.array([-4, 0, -4], np.int32)])
    schur(s, "gees", s.floats(5, 5))
    schur(s, "gees_cycle", np.roll(np.eye(4, dtype=np.float32), 1, 0))
    schur(s, "gees_complex", two.astype(np.complex64))
    a = s.floats(4, 4)
    for name, uplo, whole in [("lower", 76, np.tril(a) + np.tril(a, -1).T), ("upper", 85, np.triu(a) + np.triu(a, 1).T)]:
        types = [type_of(a), "tensor<4xf32>", "tensor<3xf32>", "tensor<3xf32>", "tensor<i32>"]
        d, e = tridiagonal(whole if name == "lower" else whole[::-1, ::-1])
        step = 1 if name == "lower" else -1
        s.add(f"sytrd_{name}", call("lapack_ssytrd_ffi", types, types=types[0], config=f"uplo = {uplo} : ui8") +
              "return %0#1, %0#2 : tensor<4xf32>, tensor<3xf32>", [a],
              [d[::step].astype(np.float32), e[::step].astype(np.float32)], 1e-5)
    s.write("matrices")


if __name__ == "__main__":
    for suite in [factors, complex_factors, values, schurs]:
        suite()
