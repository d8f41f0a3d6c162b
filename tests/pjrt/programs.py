"""Small programs of JAX's, by area: PROGRAMS is a list of (area, name, function, arguments)."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn, random
from jax.scipy import linalg as jsl
from jax.scipy import special as jss

PROGRAMS = []


def add(area, name, function, *args):
    PROGRAMS.append((area, name, function, args))


def numbers(*shape, dtype=np.float32, low=-2.0, high=2.0, seed=0):
    values = np.random.default_rng(seed + sum(shape)).uniform(low, high, shape)
    if np.issubdtype(dtype, np.complexfloating):
        return (values + 1j * np.flip(values)).astype(dtype)
    return values.astype(dtype)


def integers(*shape, dtype=np.int32, low=-9, high=10, seed=0):
    return np.random.default_rng(seed + sum(shape)).integers(low, high, shape).astype(dtype)


A, B, SQUARE = numbers(4, 5), numbers(4, 5, seed=1), numbers(4, 4, seed=2)
POSITIVE = numbers(4, 5, low=0.1, high=3.0)
UNIT = numbers(4, 5, low=-0.9, high=0.9)
I, J = integers(4, 5), integers(4, 5, seed=3)
U = integers(4, 5, dtype=np.uint32, low=0, high=1000)
C = numbers(3, 4, dtype=np.complex64)
MASK = A > 0
SYMMETRIC = SQUARE @ SQUARE.T + 4 * np.eye(4, dtype=np.float32)
BATCH = numbers(2, 3, 4)


def elementwise():
    for name in ("abs ceil cos exp exp2 expm1 floor is_finite log1p logistic neg round sign sin sqrt tan tanh "
                 "cbrt square asinh atan sinh cosh erf erfc").split():
        add("lax", name, getattr(lax, name), POSITIVE if name in ("sqrt", "log1p") else A)
    for name in "log rsqrt lgamma digamma reciprocal bessel_i0e bessel_i1e".split():
        add("lax", name, getattr(lax, name), POSITIVE)
    for name in "acos asin atanh erf_inv".split():
        add("lax", name, getattr(lax, name), UNIT)
    add("lax", "acosh", lax.acosh, POSITIVE + 1)
    for name in "add sub mul div max min rem atan2 nextafter".split():
        add("lax", name, getattr(lax, name), A, B)
    add("lax", "pow", lax.pow, POSITIVE, B)
    add("lax", "integer_pow", functools.partial(lax.integer_pow, y=-3), POSITIVE)
    for name in "add sub mul max min bitwise_and bitwise_or bitwise_xor".split():
        add("lax", f"int_{name}", getattr(lax, name), I, J)
    for name in "div rem".split():
        add("lax", f"int_{name}", getattr(lax, name), I, np.abs(J) + 1)
    for name in "shift_left shift_right_logical shift_right_arithmetic".split():
        add("lax", name, getattr(lax, name), I, np.abs(J) % 8)
    for name in "bitwise_not population_count clz abs sign neg".split():
        add("lax", f"int_{name}", getattr(lax, name), I)
    for name in "eq ne lt le gt ge".split():
        add("lax", name, getattr(lax, name), I, J)
    for name in "add mul sub div abs exp log sqrt sin cos tanh conj real imag".split():
        args = (C, C + 1) if name in ("add", "mul", "sub", "div") else (C,)
        add("complex", name, getattr(lax, name), *args)
    add("complex", "make", lax.complex, A, B)
    add("complex", "pow", lambda x: x ** (2 + 1j), C)
    add("complex", "matmul", jnp.matmul, C, C.T)
    add("lax", "clamp", lax.clamp, np.float32(-1), A, np.float32(1))
    add("lax", "select", lax.select, MASK, A, B)
    add("lax", "igamma", lax.igamma, POSITIVE, POSITIVE + 0.5)
    add("lax", "igammac", lax.igammac, POSITIVE, POSITIVE + 0.5)
    add("lax", "betainc", lax.betainc, POSITIVE, POSITIVE + 1, np.abs(UNIT))
    add("lax", "zeta", lax.zeta, POSITIVE + 1.5, POSITIVE)
    add("lax", "polygamma", lax.polygamma, np.full((4, 5), 2, np.float32), POSITIVE)
    add("lax", "reduce_precision", lambda x: lax.reduce_precision(x, 5, 4), A)
    add("lax", "empty", lambda x: (np.zeros((0, 5), np.float32) + x[:0], np.zeros((3, 0), bool), x), A)
    add("lax", "bitcast", lambda x: lax.bitcast_convert_type(x, np.int32), A)
    add("lax", "bitcast_narrow", lambda x: lax.bitcast_convert_type(x, np.uint8), A)
    add("lax", "bitcast_widen", lambda x: lax.bitcast_convert_type(x, np.int32), integers(3, 4, dtype=np.uint8, low=0))


def types():
    for dtype in ("bool int8 int16 int32 uint8 uint16 uint32 float16 bfloat16 float8_e4m3fn float8_e5m2 "
                  "float8_e4m3b11fnuz float8_e4m3fnuz float8_e5m2fnuz int4 uint4 complex64").split():
        kind = jnp.dtype(dtype)
        add("types", f"to_{dtype}", lambda x, k=kind: x.astype(k), np.abs(A))
        add("types", f"from_{dtype}", lambda x: x.astype(jnp.complex64 if x.dtype == jnp.complex64 else np.float32),
            np.abs(A).astype(kind))
        add("types", f"keep_{dtype}", lambda x: (jnp.flip(x, 0), x[1:3]), np.abs(A).astype(kind))
    for dtype in "float16 bfloat16".split():
        add("types", f"matmul_{dtype}", jnp.matmul, A.astype(dtype), B.T.astype(dtype))
        add("types", f"sum_{dtype}", lambda x: x.sum(0), A.astype(dtype))
    add("types", "matmul_int8", lambda a, b: lax.dot(a, b, preferred_element_type=np.int32),
        integers(4, 6, dtype=np.int8), integers(6, 5, dtype=np.int8))
    add("types", "empty", lambda x: (x[:0], jnp.zeros((0, 3)), x.sum()), A)
    add("types", "scalar", lambda x: (x, 1, 2.0, True), np.float32(3))


def shapes():
    add("shape", "reshape", lambda x: x.reshape(2, 10), A)
    add("shape", "transpose", lambda x: x.transpose(2, 0, 1), BATCH)
    add("shape", "broadcast", lambda x: lax.broadcast_in_dim(x, (3, 4, 5), (1, 2)), A)
    add("shape", "concatenate", lambda a, b: jnp.concatenate([a, b, a], 1), A, B)
    add("shape", "pad", lambda x: lax.pad(x, 0.5, ((1, 2, 1), (-1, 0, 0))), A)
    add("shape", "slice", lambda x: x[1:4:2, ::-1], A)
    add("shape", "dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i, i + 1), (2, 3)), A, np.int32(1))
    add("shape", "dynamic_update", lambda x, y, i: lax.dynamic_update_slice(x, y, (i, i)), A, B[:2, :2], np.int32(3))
    add("shape", "rev", lambda x: lax.rev(x, (0, 1)), A)
    add("shape", "iota", lambda: lax.broadcasted_iota(np.int32, (3, 4), 1))
    add("shape", "expand", lambda x: jnp.expand_dims(x, (0, 2)), A)
    for name in "flip fliplr rot90 ravel squeeze atleast_3d tril triu trace diag diagonal".split():
        add("shape", name, getattr(jnp, name), SQUARE)
    add("shape", "stack", lambda a, b: jnp.stack([a, b], -1), A, B)
    add("shape", "split", lambda a: jnp.split(a, 2), A)
    add("shape", "tile", lambda a: jnp.tile(a, (2, 3)), A)
    add("shape", "repeat", lambda a: jnp.repeat(a, 3, 1), A)
    add("shape", "roll", lambda a: jnp.roll(a, 2, 1), A)
    add("shape", "gather", lambda a, i: a[i], A, np.array([3, 0, 2, 2]))
    add("shape", "gather_pairs", lambda a, i, j: a[i, j], A, np.array([3, 0]), np.array([4, 1]))
    add("shape", "take_along", lambda a, i: jnp.take_along_axis(a, i, 1), A, np.abs(I) % 5)
    add("shape", "take_fill", lambda a, i: jnp.take(a, i, 0, mode="fill"), A, np.array([9, 1]))
    add("shape", "scatter_set", lambda a, i: a.at[i].set(7), A, np.array([3, 0]))
    add("shape", "scatter_add", lambda a, i: a.at[i].add(1.5), A, np.array([3, 0, 3]))
    add("shape", "scatter_max", lambda a, i: a.at[:, i].max(0.1), A, np.array([1, 2]))
    add("shape", "scatter_mul", lambda a, i: a.at[i, i].multiply(3), A, np.array([1, 2]))
    add("shape", "where", jnp.where, MASK, A, B)
    add("shape", "one_hot", lambda i: nn.one_hot(i, 7), np.abs(I[0]))
    add("shape", "meshgrid", lambda a: jnp.meshgrid(a, a), A[0])
    add("shape", "linspace", lambda: jnp.linspace(0, 1, 7))
    add("shape", "arange", lambda: jnp.arange(3, 20, 4))
    add("shape", "eye", lambda: jnp.eye(4, 5, 1))


def reductions():
    for name in ("sum prod max min mean var std argmax argmin cumsum cumprod any all median ptp nansum nanmax "
                 "count_nonzero logaddexp.reduce").split():
        function = getattr(jnp, name) if "." not in name else lambda x, axis: jnp.logaddexp.reduce(x, axis=axis)
        for axis in (0, 1):
            add("reduce", f"{name}_{axis}", functools.partial(function, axis=axis), A)
    add("reduce", "sum_all", jnp.sum, BATCH)
    add("reduce", "logsumexp", lambda x: jax.nn.logsumexp(x, 1), A)
    add("reduce", "cummax", lambda x: lax.cummax(x, 1), A)
    add("reduce", "cumlogsumexp", lambda x: lax.cumlogsumexp(x, 1, reverse=True), A)
    add("reduce", "pair", lambda x, i: lax.reduce((x, i), (np.float32(-9), np.int32(0)),
        lambda p, q: (lax.max(p[0], q[0]), lax.add(p[1], q[1])), (1,)), A, I)
    add("reduce", "window_max", lambda x: lax.reduce_window(x, -np.inf, lax.max, (2, 2), (1, 2), "SAME"), A)
    add("reduce", "window_sum", lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 3), (1, 1), "VALID"), A)
    add("reduce", "select_and_scatter", jax.grad(lambda x: lax.reduce_window(
        x, -np.inf, lax.max, (2, 2), (2, 2), "VALID").sum()), numbers(4, 6))
    add("reduce", "percentile", lambda x: jnp.percentile(x, 30, axis=1), A)
    add("reduce", "bincount", lambda i: jnp.bincount(i, length=12), np.abs(I).reshape(-1))
    add("reduce", "histogram", lambda x: jnp.histogram(x, 5, (-2, 2))[0], A)
    add("reduce", "segment_sum", lambda x, i: jax.ops.segment_sum(x, i, 4), A, np.array([1, 3, 1, 0]))
    add("reduce", "associative_scan", lambda x: lax.associative_scan(jnp.multiply, x), A)


def sorting():
    add("sort", "sort", lambda x: jnp.sort(x, 1), A)
    add("sort", "argsort", lambda x: jnp.argsort(x, 0), A)
    add("sort", "descending", lambda x: jnp.sort(x, 1, descending=True), I)
    add("sort", "sort_pairs", lambda x, y: lax.sort((x, y), num_keys=2), I, A)
    add("sort", "top_k", lambda x: lax.top_k(x, 3), A)
    add("sort", "searchsorted", jnp.searchsorted, np.sort(A[0]), B[0])
    add("sort", "unique", lambda x: jnp.unique(x, size=12), I)
    add("sort", "nonzero", lambda x: jnp.nonzero(x, size=20), I)
    add("sort", "lexsort", lambda a, b: jnp.lexsort((a, b)), I[0], J[0])
    add("sort", "approx_max_k", lambda x: lax.approx_max_k(x, 2), A)


def products():
    add("dot", "matmul", jnp.matmul, A, B.T)
    add("dot", "vector", jnp.dot, A[0], B[0])
    add("dot", "outer", jnp.outer, A[0], B[0])
    add("dot", "batch", jnp.matmul, BATCH, BATCH.transpose(0, 2, 1))
    add("dot", "einsum", lambda a, b: jnp.einsum("bij,bkj->ibk", a, b), BATCH, BATCH)
    add("dot", "tensordot", lambda a, b: jnp.tensordot(a, b, 2), BATCH, numbers(3, 4, 2))
    add("dot", "general", lambda a, b: lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,)))), BATCH, numbers(2, 4, 5))
    add("dot", "highest", lambda a, b: jnp.matmul(a, b, precision="highest"), A, B.T)
    add("dot", "kron", jnp.kron, SQUARE[:2, :2], A[:2])
    add("dot", "cross", jnp.cross, A[:, :3], B[:, :3])
    x, k = numbers(2, 3, 8, 8), numbers(4, 3, 3, 3)
    for padding in ("SAME", "VALID"):
        add("conv", padding.lower(), lambda x, k, p=padding: lax.conv(x, k, (1, 2), p), x, k)
    add("conv", "dilated", lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", (2, 2), (1, 2)), x, k)
    add("conv", "groups", lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", feature_group_count=3),
        x, numbers(6, 1, 3, 3))
    add("conv", "nhwc", lambda x, k: lax.conv_general_dilated(
        x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), numbers(2, 8, 8, 3), numbers(3, 3, 3, 4))
    add("conv", "transpose", lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME"), numbers(2, 5, 5, 3),
        numbers(3, 3, 3, 4))
    add("conv", "one", lambda x, k: jnp.convolve(x, k), A[0], B[0])
    add("conv", "gradient", jax.grad(lambda k, x: jnp.sin(lax.conv(x, k, (1, 1), "SAME")).sum()), k, x)
    add("conv", "gradient_input", jax.grad(lambda x, k: jnp.sin(lax.conv(x, k, (2, 2), "VALID")).sum()), x, k)
    x, k = numbers(2, 3, 6, 6, dtype=np.complex64), numbers(4, 3, 3, 3, dtype=np.complex64)
    add("conv", "complex", lambda x, k: lax.conv_general_dilated(x, k, (1, 2), [(1, 0), (-1, 2)], (2, 1)), x, k)
    add("conv", "three", lambda x, k: lax.conv(x, k, (1, 1, 1), "SAME"), numbers(1, 2, 4, 4, 4),
        numbers(3, 2, 2, 2, 2))


def networks():
    for name in ("relu relu6 sigmoid softplus silu swish log_sigmoid leaky_relu hard_sigmoid hard_tanh elu celu selu "
                 "gelu soft_sign mish squareplus sparse_plus").split():
        add("nn", name, getattr(nn, name), A)
        add("nn", f"{name}_gradient", jax.grad(lambda x, f=getattr(nn, name): f(x).sum()), A)
    add("nn", "softmax", nn.softmax, A)
    add("nn", "log_softmax", nn.log_softmax, A)
    add("nn", "standardize", nn.standardize, A)
    add("nn", "glu", lambda x: nn.glu(x, 0), A)
    q = numbers(2, 5, 3, 4)
    add("nn", "attention", lambda q: nn.dot_product_attention(q, q + 1, q - 1), q)
    add("nn", "attention_causal", lambda q: nn.dot_product_attention(q, q + 1, q - 1, is_causal=True), q)
    add("nn", "softmax_gradient", jax.grad(lambda x: (nn.softmax(x) ** 2).sum()), A)
    add("nn", "layer_norm_gradient", jax.grad(lambda x: jnp.sin(nn.standardize(x)).sum()), A)
    for name in "normal uniform truncated_normal glorot_uniform he_normal lecun_normal orthogonal".split():
        make = getattr(nn.initializers, name)
        init = make(0.1) if name == "truncated_normal" else make()
        add("nn", f"init_{name}", lambda init=init: init(random.key(0), (6, 4)))


def randomness():
    for name, args in (("bits", ()), ("uniform", ()), ("normal", ()), ("exponential", ()), ("gumbel", ()),
                       ("cauchy", ()), ("laplace", ()), ("logistic", ()), ("rademacher", ()), ("rayleigh", ()),
                       ("maxwell", ()), ("truncated_normal", (-1.0, 1.0))):
        add("random", name, lambda f=getattr(random, name), a=args: f(random.key(3), *a, shape=(3, 5)))
    add("random", "randint", lambda: random.randint(random.key(1), (4, 5), 0, 100))
    add("random", "permutation", lambda: random.permutation(random.key(1), 17))
    add("random", "permute_rows", lambda x: random.permutation(random.key(1), x), A)
    add("random", "choice", lambda x: random.choice(random.key(2), x, (5,)), A[0])
    add("random", "choice_without", lambda x: random.choice(random.key(2), x, (3,), replace=False), A[0])
    add("random", "categorical", lambda x: random.categorical(random.key(2), x), A)
    add("random", "bernoulli", lambda: random.bernoulli(random.key(2), 0.3, (4, 6)))
    add("random", "gamma", lambda: random.gamma(random.key(2), 2.5, (4,)))
    add("random", "beta", lambda: random.beta(random.key(2), 2.5, 1.5, (4,)))
    add("random", "poisson", lambda: random.poisson(random.key(2), 3.5, (6,)))
    add("random", "dirichlet", lambda: random.dirichlet(random.key(2), jnp.array([1.0, 2.0, 3.0])))
    add("random", "split", lambda: random.key_data(random.split(random.key(5), 3)))
    add("random", "fold_in", lambda i: random.key_data(random.fold_in(random.key(5), i)), np.int32(7))
    add("random", "multivariate", lambda x: random.multivariate_normal(random.key(2), jnp.zeros(4), x), SYMMETRIC)
    add("random", "ball", lambda: random.ball(random.key(2), 3))
    add("random", "rbg", lambda: random.key_data(random.key(5, impl="rbg")))


def control():
    add("control", "cond", lambda p, x: lax.cond(p > 0, jnp.sin, jnp.cos, x), np.float32(1), A)
    add("control", "switch", lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tan], x), np.int32(2), A)
    add("control", "while", lambda x: lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * 1.1), (0, x)), A)
    add("control", "while_value", lambda x: lax.while_loop(lambda c: c.sum() < 100, lambda c: c * 2, x), POSITIVE)
    add("control", "fori", lambda x: lax.fori_loop(0, 5, lambda i, c: c + i, x), A)
    add("control", "fori_dynamic", lambda n, x: lax.fori_loop(0, n, lambda i, c: c.at[i].set(0), x), np.int32(3), A)
    add("control", "scan", lambda x: lax.scan(lambda c, y: (c + y, c * y), jnp.zeros(5), x), A)
    add("control", "scan_reverse", lambda x: lax.scan(lambda c, y: (c + y, c), jnp.zeros(5), x, reverse=True), A)
    add("control", "map", lambda x: lax.map(lambda r: r @ r, x), A)
    add("control", "scan_gradient", jax.grad(lambda x: lax.scan(lambda c, y: (jnp.sin(c + y), c), 0.0, x)[0]), A[0])
    add("control", "nested", lambda x: lax.fori_loop(0, 3, lambda i, c: lax.fori_loop(0, i, lambda j, d: d + j, c), x),
        A)
    add("control", "cond_in_scan", lambda x: lax.scan(
        lambda c, y: (lax.cond(y > 0, lambda c: c + y, lambda c: c - 2 * y, c), c), 0.0, x), A[0])
    add("control", "vmap_cond", jax.vmap(lambda x: lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x)), A)
    add("control", "vmap_while", jax.vmap(lambda x: lax.while_loop(lambda c: c < 10, lambda c: c * 2, x)), POSITIVE[0])
    add("control", "custom_root", lambda x: lax.custom_root(
        lambda y: y ** 3 - x, 1.0, lambda f, g: lax.fori_loop(0, 20, lambda i, y: y - f(y) / (3 * y * y), g),
        lambda g, y: y / g(1.0)), np.float32(5))
    add("control", "checkpoint", jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum())), A)
    add("control", "jacobian", jax.jacobian(lambda x: jnp.sin(x) * x.sum()), A[0])
    add("control", "hessian", jax.hessian(lambda x: (jnp.sin(x) * x ** 2).sum()), A[0])
    add("control", "jvp", lambda x: jax.jvp(jnp.tanh, (x,), (x,)), A)


def linear_algebra():
    add("linalg", "cholesky", jnp.linalg.cholesky, SYMMETRIC)
    add("linalg", "cholesky_batch", jnp.linalg.cholesky, np.stack([SYMMETRIC, 2 * SYMMETRIC]))
    add("linalg", "solve", jnp.linalg.solve, SYMMETRIC, A)
    add("linalg", "inv", jnp.linalg.inv, SYMMETRIC)
    add("linalg", "det", jnp.linalg.det, SQUARE)
    add("linalg", "slogdet", jnp.linalg.slogdet, SQUARE)
    add("linalg", "lu", jsl.lu, SQUARE)
    add("linalg", "lu_factor", jsl.lu_factor, SQUARE)
    add("linalg", "triangular", lambda a, b: jsl.solve_triangular(a, b, lower=True), SYMMETRIC, A)
    add("linalg", "cho_solve", lambda a, b: jsl.cho_solve((jnp.linalg.cholesky(a), True), b), SYMMETRIC, A)
    add("linalg", "norm", jnp.linalg.norm, A)
    add("linalg", "matrix_power", lambda x: jnp.linalg.matrix_power(x, 5), SQUARE)
    add("linalg", "expm", jsl.expm, SQUARE)
    add("linalg", "eigvalsh", jnp.linalg.eigvalsh, SYMMETRIC)
    add("linalg", "eigh", lambda x: (lambda w, v: v * w @ v.T)(*jnp.linalg.eigh(x)), SYMMETRIC)
    add("linalg", "svd_values", lambda x: jnp.linalg.svd(x, compute_uv=False), A)
    add("linalg", "svd", lambda x: (lambda u, s, v: u * s @ v)(*jnp.linalg.svd(x, full_matrices=False)), A)
    add("linalg", "qr", lambda x: (lambda q, r: (q @ r, jnp.abs(r)))(*jnp.linalg.qr(x)), A)
    add("linalg", "qr_pivots", lambda x: (lambda q, r, p: (q @ r, jnp.abs(r), p))(
        *jsl.qr(x, pivoting=True, mode="economic")), numbers(3, 6, 4))
    add("linalg", "pinv", jnp.linalg.pinv, A)
    add("linalg", "lstsq", lambda a, b: jnp.linalg.lstsq(a, b)[0], numbers(6, 3), numbers(6))
    add("linalg", "eigvals", lambda x: jnp.sort(jnp.abs(jnp.linalg.eigvals(x))), SQUARE)
    add("linalg", "rank", jnp.linalg.matrix_rank, SQUARE)
    add("linalg", "solve_gradient", jax.grad(lambda a, b: jnp.linalg.solve(a, b).sum()), SYMMETRIC, A)
    add("linalg", "cholesky_gradient", jax.grad(lambda a: jnp.linalg.cholesky(a).sum()), SYMMETRIC)
    add("linalg", "eigh_gradient", jax.grad(lambda a: jnp.linalg.eigh(a)[0].sum()), SYMMETRIC)
    add("linalg", "sqrtm", lambda x: jsl.sqrtm(x).real, SYMMETRIC)
    add("linalg", "schur", lambda x: (lambda t, z: z @ t @ z.T)(*jsl.schur(x)), SQUARE)
    add("linalg", "tridiagonal_one", lambda x: jax.lax.linalg.tridiagonal(x[:1, :1]), SYMMETRIC)
    add("linalg", "hessenberg", lambda x: (lambda h, q: q @ h @ q.T)(*jsl.hessenberg(x, calc_q=True)), SQUARE)
    add("linalg", "tridiagonal", lambda d, e: jax.lax.linalg.tridiagonal_solve(
        jnp.concatenate([jnp.zeros(1), e]), d + 4, jnp.concatenate([e, jnp.zeros(1)]), d[:, None]),
        A[0], B[0][:4])


def signals():
    for name in "fft ifft rfft fft2 ifft2 rfft2 fftn".split():
        add("fft", name, getattr(jnp.fft, name), numbers(4, 8))
    add("fft", "irfft", jnp.fft.irfft, numbers(3, 5, dtype=np.complex64))
    add("fft", "empty", lambda x: jax.lax.fft(x, "FFT", (0,)), np.zeros((2, 0), np.complex64))
    add("fft", "odd", jnp.fft.fft, numbers(3, 7))
    add("fft", "gradient", jax.grad(lambda x: jnp.abs(jnp.fft.rfft(x)).sum()), numbers(8))
    for name in "gammaln entr expit log_ndtr ndtr i0 i1 xlog1py xlogy logit ndtri".split():
        args = (UNIT / 2 + 0.5,) if name in ("logit", "ndtri") else (POSITIVE,)
        add("special", name, getattr(jss, name), *(args * 2 if name.startswith("xlog") else args))
    for name in "sinc hypot heaviside deg2rad signbit fmod arctan2 copysign float_power ldexp nan_to_num".split():
        function = getattr(jnp, name)
        pairs = ("hypot", "heaviside", "fmod", "arctan2", "copysign", "float_power")
        args = (POSITIVE, B) if name in pairs else (A, I) if name == "ldexp" else (A,)
        add("special", name, function, *args)
    add("special", "interp", lambda x: jnp.interp(x, jnp.arange(5.0), jnp.arange(5.0) ** 2), A)
    add("special", "polyval", lambda x: jnp.polyval(jnp.array([1.0, 2.0, 3.0]), x), A)
    add("special", "gcd", jnp.gcd, np.abs(I), np.abs(J))
    add("special", "divmod", jnp.divmod, I, np.abs(J) + 1)
    add("special", "floor_divide", jnp.floor_divide, A, B)
    add("special", "frexp", jnp.frexp, A)
    add("special", "packbits", jnp.packbits, MASK)
    add("special", "logpdf", jax.scipy.stats.norm.logpdf, A)
    add("special", "image", lambda x: jax.image.resize(x, (8, 7), "bilinear"), A)
    add("special", "map_coordinates", lambda x: jax.scipy.ndimage.map_coordinates(x, [[0.5, 1.5], [1.0, 2.5]], 1), A)


for fill in (elementwise, types, shapes, reductions, sorting, products, networks, randomness, control, linear_algebra,
             signals):
    fill()
