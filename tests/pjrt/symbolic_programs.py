"""JAX programs whose arguments have any size: PROGRAMS is a list of
(area, name, function, shapes, arguments, tolerance, bounds).

Shapes and bounds are as jax.export.symbolic_args_specs takes them: a text for each argument, in which letters are sizes
that are known at run time, and what is known of these.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn, random

PROGRAMS = []


def add(area, name, function, shapes, *args, tolerance=1e-4, bounds=()):
    PROGRAMS.append((area, name, function, shapes if isinstance(shapes, tuple) else (shapes,), args, tolerance, bounds))


def floats(*shape, low=0.0, high=1.0, seed=0):
    return np.random.default_rng(seed + sum(shape)).uniform(low, high, shape).astype(np.float32)


def integers(*shape, low=-9, high=10, dtype=np.int32):
    return np.random.default_rng(sum(shape)).integers(low, high, shape).astype(dtype)


X, Y, IMAGE, ROWS = floats(4, 6), floats(4, 6, low=-2, seed=1), floats(2, 8, 8, 3), np.array([0, 2], np.int32)
LINES = floats(5, 4, low=-1)
NHWC = ("NHWC", "HWIO", "NHWC")
MATRICES = floats(3, 4, 4)
POSITIVE = np.stack([m @ m.T + 4 * np.eye(4, dtype=np.float32) for m in MATRICES])


def elementwise():
    add("nn", "softmax", lambda x: nn.softmax(x, -1), "a, b", X)
    add("nn", "norm", lambda x: (x - x.mean((0, 1, 2))) / jnp.sqrt(x.var((0, 1, 2)) + 1e-5), "a, b, 8, 3", IMAGE)
    add("nn", "layer_norm", lambda x: nn.standardize(x, axis=-1), "a, b", X, tolerance=1e-3)
    add("nn", "one_hot", lambda i: nn.one_hot(i, 5), "a", ROWS)
    add("nn", "attention", lambda q: nn.dot_product_attention(q, q, q, is_causal=True), "2, a, 2, 4", floats(2, 5, 2, 4))
    add("nn", "attention_mask", lambda q, m: nn.dot_product_attention(q, q, q, mask=m), ("b, a, 2, 4", "b, 1, a, a"),
        floats(2, 5, 2, 4), integers(2, 1, 5, 5) > 0)
    add("nn", "gelu_glu", lambda x: nn.glu(nn.gelu(x), axis=0), "2*a, b", Y)
    add("nn", "logsumexp", lambda x: nn.logsumexp(x, axis=(0, 1)), "a, b", Y)
    add("numpy", "where", lambda x: jnp.where(x > 0.5, x, 0), "a, b", X)
    add("numpy", "triangle", jnp.tril, "a, b", X)
    add("numpy", "outer", lambda x: jnp.outer(x[0], x[:, 0]), "a, b", X)
    add("numpy", "mean_var", lambda x: (x.mean(0), x.var(1)), "a, b", X)
    add("numpy", "vander", lambda x: jnp.vander(x[0], 4), "a, b", X)
    add("numpy", "meshgrid", lambda x: jnp.stack(jnp.meshgrid(x[0], x[:, 1])), "a, b", X)
    add("numpy", "clip_round", lambda x: jnp.round(jnp.clip(x * 5, -3, 3)).astype(np.int32), "a, b", Y)


def shapes():
    add("shape", "roll", lambda x: jnp.roll(x, 1, 0), "a, b", X)
    add("shape", "flip", lambda x: x[::-1, ::2], "a, b", X)
    add("shape", "every_third", lambda x: x[1::3, -2:], "a, b", floats(7, 6))
    add("shape", "edge", lambda x: jnp.pad(x, ((1, 2), (0, 1)), mode="edge"), "a, b", X)
    add("shape", "reflect", lambda x: jnp.pad(x, 1, mode="reflect"), "a, b", X,
        bounds=("a >= 2", "b >= 2"))
    add("shape", "wrap", lambda x: jnp.pad(x, ((0, 0), (1, 1)), mode="wrap"), "a, 6", X)
    add("shape", "pad_between", lambda x: lax.pad(x, np.float32(7), ((1, 0, 2), (-1, 2, 1))), "a, b", X)
    add("shape", "pad_by_size", lambda x: lax.pad(x, np.float32(7), ((x.shape[1], 0, 1), (-1, x.shape[0], 0))), "a, b", X)
    add("shape", "concatenate", lambda x: jnp.concatenate([x, x, x[:1]], 0), "a, b", X)
    add("shape", "reshape", lambda x: x.reshape(-1), "a, b", X)
    add("shape", "merge_split", lambda x: x.reshape(x.shape[0] * 2, -1).reshape(2, -1, 3).swapaxes(0, 1), "a, 6", X)
    add("shape", "iota", lambda x: x + jnp.arange(x.shape[1]), "a, b", X)
    add("shape", "iota_2", lambda x: lax.broadcasted_iota(np.int32, (x.shape[1], x.shape[0], 2), 1), "a, b", X)
    add("shape", "broadcast", lambda x: jnp.broadcast_to(x[:, None], (x.shape[0], 3, x.shape[1])) * x[0], "a, b", X)
    add("shape", "tile_repeat", lambda x: (jnp.tile(x, (2, 3)), jnp.repeat(x, 3, 1)), "a, b", X)
    add("shape", "diagonal", jnp.diagonal, "a, a", X[:, :4])
    add("shape", "diff", lambda x: jnp.diff(x, axis=0), "a, b", X)
    add("shape", "halves", lambda x: jnp.split(x, 2), "2*a, b", X)
    add("shape", "chain", lambda x: jnp.pad(jnp.broadcast_to(x.reshape(-1, 1, 2), (x.shape[0] * 3, 4, 2)), ((1, 0),) * 3),
        "a, 6", X)
    add("shape", "resize", lambda x: jax.image.resize(x, (2, x.shape[1] * 2, 16, 3), "bilinear"), "2, a, 8, 3", IMAGE)
    add("shape", "resize_nearest", lambda x: jax.image.resize(x, (x.shape[0], 5, x.shape[2] * 3, 3), "nearest"),
        "a, 8, b, 3", IMAGE)
    add("shape", "bits", lambda x: lax.bitcast_convert_type(x, np.uint8), "a, b", X)


def places():
    add("gather", "rows", lambda x, i: x[i], ("a, b", "n"), X, ROWS)
    add("gather", "pairs", lambda x, i: x[i, i + 1], ("a, b", "n"), X, ROWS)
    add("gather", "computed", lambda x, i: lax.dynamic_slice(x, (i[0], i[1]), (x.shape[0] - 2, x.shape[1] - 1)),
        ("a, b", "2"), X, ROWS, bounds=("a >= 2",))
    add("gather", "windows",
        lambda x, i: jax.vmap(lambda k: lax.dynamic_slice(x, (k, 0), (x.shape[0] - 2, x.shape[1])))(i), ("a, b", "n"), X,
        np.array([0, 1, 5], np.int32), bounds=("a >= 2",))
    add("gather", "batched_windows",
        lambda x, i: jax.vmap(lambda line, k: lax.dynamic_slice(line, (k,), (line.shape[0] - 1,)))(x, i), ("a, b", "a"), X,
        np.array([0, 1, 3, -1], np.int32))
    add("gather", "along", lambda x, i: jnp.take_along_axis(x, i, 1), ("a, b", "a, 2"), X, integers(4, 2, low=0, high=6))
    add("gather", "fill", lambda x, i: jnp.take(x, i, axis=0, mode="fill"), ("a, b", "n"), X, np.array([9, 1], np.int32))
    add("scatter", "add", lambda x, i: x.at[i].add(1.0), ("a, b", "n"), X, ROWS)
    add("scatter", "set_columns", lambda x, i, v: x.at[:, i].set(v), ("a, b", "n", "a, n"), X, ROWS, floats(4, 2))
    add("scatter", "max_of_pairs", lambda x, i: x.at[i, i].max(2.0), ("a, b", "n"), X, ROWS)
    add("scatter", "segments", lambda x, i: jax.ops.segment_sum(x, i, num_segments=5), ("a, b", "a"), X,
        np.array([4, 0, 4, 1], np.int32))
    add("scatter", "update", lambda x, y, i: lax.dynamic_update_slice(x, y, (i[0], i[1])), ("a, b", "2, c", "2"), X,
        floats(2, 3), ROWS, bounds=("a >= 2", "b >= c"))
    add("scatter", "bincount", lambda i: jnp.bincount(i, length=6), "n", np.array([1, 5, 1, 0], np.int32))
    add("slice", "dynamic", lambda x, i: lax.dynamic_slice(x, (i[0], i[1]), (2, 3)), ("a, b", "2"), X, ROWS,
        bounds=("a >= 2", "b >= 3"))
    add("slice", "inner", lambda x: x[1:-1, 2:], "a, b", X)


def order():
    add("sort", "rows", lambda x: jnp.sort(x, 1), "a, b", X)
    add("sort", "argsort", lambda x: jnp.argsort(x, 0), "a, b", X)
    add("sort", "two_keys", lambda x, i: lax.sort((i, x, -x), num_keys=2, dimension=0), ("a, b", "a, b"), X,
        integers(4, 6, low=0, high=2))
    add("sort", "extremes", lambda x: (jnp.argmax(x, 0), jnp.argmin(x, 1)), "a, b", X)
    add("sort", "top_k", lambda x: lax.top_k(x, 2), "a, b", X, bounds=("b >= 2",))
    add("sort", "top_half", lambda x: lax.top_k(x, x.shape[1] // 2), "a, b", X)
    add("sort", "median", lambda x: jnp.median(x, 0), "4, a", X)
    add("sort", "percentile", lambda x: jnp.percentile(x, 30, axis=1), "a, b", X)
    add("sort", "search", lambda x, y: jnp.searchsorted(jnp.sort(x), y), ("6", "b"), X[0], Y[1])
    add("sort", "histogram", lambda x: jnp.histogram(x, bins=4, range=(0.0, 1.0))[0], "a, b", X)
    add("scan", "sums", lambda x: (jnp.cumsum(x, 0), jnp.cumprod(x, 1)), "a, b", X)
    add("scan", "reverse", lambda x: (lax.cumsum(x, 1, reverse=True), lax.cummax(x, 0), lax.cumlogsumexp(x, 1)), "a, b", X)
    add("scan", "sum_gradient", jax.grad(lambda x: (jnp.cumsum(x, 0) ** 2).sum()), "a, b", X)
    add("scan", "associative", lambda x: lax.associative_scan(jnp.add, x), "4, a", X)
    add("scan", "associative_pairs",
        lambda x, y: lax.associative_scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (x, y), axis=1),
        ("a, 5", "a, 5"), X[:, :5], Y[:, :5])


def sweeps():
    def pooled(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    add("window", "max", pooled, "2, a, b, 3", IMAGE)
    add("window", "max_gradient", jax.grad(lambda x: (pooled(x) ** 2).sum()), "2, a, b, 3", IMAGE)
    add("window", "mean_same", lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") / 9,
        "n, a, b, 3", IMAGE)
    add("window", "dilated", lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 3), (1, 2), ((1, 1), (0, 2)), (2, 1), (1, 2)),
        "a, b", X)
    add("window", "whole_lines", lambda x: lax.reduce_window(x, 0.0, lax.add, (1, x.shape[1] - 1), (1, 1), "VALID"),
        "a, b", X, bounds=("b >= 2",))
    add("window", "strided_by_size",
        lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (x.shape[0], 2), (x.shape[0] // 2, 2), ((2, 1), (0, 0))), "a, b", X,
        bounds=("a >= 2",))
    add("window", "dilated_by_size", lambda x: lax.reduce_window(x, 0.0, lax.add, (2, x.shape[0]), (1, x.shape[0] - 1),
                                                                 ((0, 1), (x.shape[1], 2)), (x.shape[0], 2), (1, 2)),
        "a, b", X, bounds=("a >= 2",))
    weights = floats(3, 3, 3, 4, low=-1)
    add("conv", "same", lambda x: lax.conv_general_dilated(x, weights, (1, 1), "SAME", dimension_numbers=NHWC), "a, 8, b, 3",
        IMAGE)
    add("conv", "strides", lambda x: lax.conv_general_dilated(x, weights, (2, 2), "SAME", dimension_numbers=NHWC),
        "2, a, b, 3", IMAGE)
    add("conv", "transpose", lambda x: lax.conv_transpose(x, weights, (2, 2), "SAME", dimension_numbers=NHWC), "2, a, b, 3",
        IMAGE)
    add("conv", "groups", lambda x: lax.conv_general_dilated(x, floats(3, 3, 1, 6), (1, 1), ((1, 0), (2, 1)), (2, 1), (1, 2),
                                                             dimension_numbers=NHWC, feature_group_count=3),
        "n, a, b, 3", IMAGE)
    add("conv", "groups_by_operand",
        lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=NHWC, feature_group_count=2),
        ("n, 8, 8, 4", "h, 3, 2, 2*o"), floats(2, 8, 8, 4), floats(3, 3, 2, 6))
    add("conv", "batch_groups",
        lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=NHWC, batch_group_count=3),
        ("3*n, 8, a, 2", "3, h, 2, 3*o"), floats(6, 8, 4, 2), floats(3, 3, 2, 9))
    add("conv", "weights_gradient",
        lambda x: jax.grad(lambda w: (lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=NHWC) ** 2).sum())(
            weights), "a, 8, 8, 3", IMAGE, tolerance=1e-3)
    add("conv", "weights_gradient_strided",
        lambda x: jax.grad(lambda w: (lax.conv_general_dilated(x, w, (2, 2), ((1, 2), (0, 1)), dimension_numbers=NHWC) ** 2)
                           .sum())(weights), "n, 2*a, 2*b, 3", IMAGE, tolerance=1e-3)
    add("conv", "input_gradient",
        jax.grad(lambda x: (lax.conv_general_dilated(x, weights, (2, 2), ((1, 2), (0, 1)), dimension_numbers=NHWC) ** 2).sum()),
        "n, 2*a, 2*b, 3", IMAGE, tolerance=1e-3)
    add("conv", "depthwise_gradient",
        lambda x: jax.grad(lambda w: (lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=NHWC,
                                                               feature_group_count=3) ** 2).sum())(floats(3, 3, 1, 3)),
        "a, 8, 8, 3", IMAGE, tolerance=1e-3)
    add("conv", "by_operand", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=NHWC),
        ("n, 8, 8, c", "h, 3, c, o"), IMAGE, weights)


def products():
    add("dot", "matmul", lambda x: x @ x.T, "a, b", X)
    add("dot", "einsum", lambda x: jnp.einsum("ij,kj->ik", x, x), "a, b", X)
    add("dot", "batches", lambda x, y: jnp.einsum("abij,abjk->abik", x, y), ("a, b, i, j", "a, b, j, k"),
        floats(2, 3, 4, 5), floats(2, 3, 5, 2))
    add("dot", "batches_inside", lambda x, y: lax.dot_general(x, y, (((1, 3), (2, 0)), ((2,), (1,)))),
        ("i, j, b, k", "k, b, j"), floats(2, 3, 4, 5), floats(5, 4, 3))
    add("dot", "tensordot", lambda x, y: jnp.tensordot(x, y, 2), ("i, j, k", "j, k, l"), floats(2, 3, 4), floats(3, 4, 5))
    add("dot", "bytes", lambda x, y: lax.dot(x, y, preferred_element_type=np.int32), ("a, b", "b, c"),
        integers(4, 6, dtype=np.int8), integers(6, 5, dtype=np.int8))
    add("dot", "ragged", lax.ragged_dot, ("a, 6", "2, 6, 3", "2"), X, floats(2, 6, 3), np.array([1, 3], np.int32))
    add("linalg", "cholesky", jnp.linalg.cholesky, "a, 4, 4", POSITIVE)
    add("linalg", "cholesky_sized", jnp.linalg.cholesky, "a, n, n", POSITIVE)
    add("linalg", "triangular", lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=True),
        ("a, 4, 4", "a, 4, n"), POSITIVE, floats(3, 4, 2), tolerance=1e-3)
    add("linalg", "solve", jnp.linalg.solve, ("a, 4, 4", "a, 4, 2"), POSITIVE, floats(3, 4, 2), tolerance=1e-3)
    add("linalg", "qr", lambda a: jnp.abs(jnp.linalg.qr(a)[1]), "a, 4, 4", POSITIVE, tolerance=1e-3)
    add("linalg", "eigh", lambda a: jnp.linalg.eigh(a)[0], "a, 4, 4", POSITIVE, tolerance=1e-3)
    add("linalg", "svd", lambda a: jnp.linalg.svd(a)[1], "a, 4, 3", POSITIVE[:, :, :3], tolerance=1e-3)
    add("linalg", "det_inverse", lambda a: (jnp.linalg.det(a), jnp.linalg.inv(a)), "a, 4, 4", POSITIVE, tolerance=1e-3)
    add("fft", "real", lambda x: jnp.abs(jnp.fft.rfft(x, axis=1)), "a, 6", X)
    add("fft", "plane", lambda x: jnp.real(jnp.fft.ifft2(jnp.fft.fft2(x) * 2)), "a, 4, 6", floats(3, 4, 6))
    add("complex", "products", lambda x: jnp.abs((x + 1j * x[::-1]) @ (x.T - 2j)), "a, b", X)


def control():
    add("control", "fori", lambda x: lax.fori_loop(0, x.shape[0], lambda i, v: v * 1.1, x), "a, b", X)
    add("control", "while", lambda x: lax.while_loop(lambda c: c[0].sum() < 40, lambda c: (c[0] * 2, c[1] + 1), (x, 0)),
        "a, b", X)
    add("control", "scan", lambda x: lax.scan(lambda c, y: (c + y, c), jnp.zeros(x.shape[1]), x), "a, b", X)
    add("control", "scan_reverse", lambda x: lax.scan(lambda c, y: (c * 0.5 + y, (c, y.sum())), x[0], x, reverse=True),
        "a, b", X)
    add("control", "scan_gradient", jax.grad(lambda x: lax.scan(lambda c, y: (jnp.tanh(c + y), c), x[0], x)[0].sum()),
        "4, b", X)
    add("control", "cond", lambda x: lax.cond(x.sum() > 0, lambda y: y * 2, lambda y: -y, x), "a, b", X)
    add("control", "switch", lambda x, i: lax.switch(i[0], [lambda y: y.T @ y, lambda y: (y * 2).T @ y], x), ("a, b", "2"),
        X, ROWS)
    add("control", "map", lambda x: lax.map(lambda y: jnp.sort(y)[::-1], x), "a, b", X)
    add("random", "normal", lambda k, x: random.normal(k, x.shape), ("2", "a, b"), np.array([0, 1], np.uint32), X)
    add("random", "uniform", lambda k, x: random.uniform(k, (x.shape[1], 3)), ("2", "a, b"), np.array([0, 1], np.uint32), X)
    add("random", "bits", lambda k, x: lax.rng_bit_generator(k, (x.shape[0], x.shape[1] + 1), np.uint32)[1], ("4", "a, b"),
        np.array([0, 1, 2, 3], np.uint32), X)
    add("random", "threefry_bits",
        lambda k, x: [lax.rng_bit_generator(k, shape, kind, algorithm=lax.RandomAlgorithm.RNG_THREE_FRY)[1]
                      for shape in ((x.shape[0], x.shape[1] + 1), (x.shape[0] - 1, x.shape[1]), (x.shape[0] - 1, 1, x.shape[1] - 1))
                      for kind in (np.uint32, np.uint8)], ("4", "a, b"), np.array([0, 1, 2, 3], np.uint32), X,
        bounds=("a >= 2", "b >= 2"))
    add("random", "choice", lambda k, x: random.categorical(k, x, axis=-1), ("2", "a, b"), np.array([0, 1], np.uint32), X)
    add("random", "gamma", lambda k, x: random.gamma(k, x + 1), ("2", "a, b"), np.array([0, 1], np.uint32), X)


def networks():
    """What whole models are made of."""
    w = {name: floats(*shape, low=-0.5, high=0.5, seed=i) for i, (name, shape) in enumerate(
        [("q", (8, 8)), ("k", (8, 8)), ("v", (8, 8)), ("o", (8, 8)), ("up", (8, 16)), ("down", (16, 8))])}

    def block(x, keys, values, at):
        """One layer of a decoder: new keys and values go into a cache at a place, what lies behind it is not seen."""
        def heads(name):
            return (nn.standardize(x) @ w[name]).reshape(x.shape[0], x.shape[1], 2, 4)

        keys = lax.dynamic_update_slice(keys, heads("k"), (0, at[0], 0, 0))
        values = lax.dynamic_update_slice(values, heads("v"), (0, at[0], 0, 0))
        place = jnp.arange(x.shape[1])[:, None] + at[0]
        seen = jnp.arange(keys.shape[1])[None] <= place
        scores = jnp.einsum("bqhd,bkhd->bhqk", heads("q"), keys) / 2
        p = nn.softmax(jnp.where(seen, scores, -1e9), axis=-1)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", p, values).reshape(x.shape) @ w["o"]
        return x + nn.gelu(nn.standardize(x) @ w["up"]) @ w["down"], keys, values

    add("network", "decoder", block, ("b, s, 8", "b, c, 2, 4", "b, c, 2, 4", "1"), floats(2, 3, 8), floats(2, 9, 2, 4),
        floats(2, 9, 2, 4, seed=3), np.array([4], np.int32), tolerance=1e-3, bounds=("c >= s",))

    def convolutional(x):
        x = nn.relu(lax.conv_general_dilated(x, floats(3, 3, 3, 4, low=-1), (2, 2), "SAME", dimension_numbers=NHWC))
        x = (x - x.mean((1, 2), keepdims=True)) * lax.rsqrt(x.var((1, 2), keepdims=True) + 1e-5)
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return nn.log_softmax(x.reshape(x.shape[0], -1) @ floats(16, 10, low=-1))

    add("network", "convolutional", convolutional, "b, 8, 8, 3", IMAGE, tolerance=1e-3)
    add("network", "classifier_gradient",
        lambda x, i: jax.grad(lambda v: -(nn.log_softmax(x @ v) * nn.one_hot(i, 3)).sum(1).mean())(floats(6, 3)),
        ("b, 6", "b"), X, np.array([0, 2, 1, 2], np.int32))

    def recurrent(x, length):
        """A cell along lines of which each has its own end."""
        def step(h, xs):
            t, line = xs
            new = jnp.tanh(line @ floats(6, 5, low=-1) + h @ floats(5, 5, low=-1))
            return jnp.where((t < length)[:, None], new, h), new.sum(1)
        h = jnp.zeros((x.shape[0], 5), x.dtype)
        return lax.scan(step, h, (jnp.arange(x.shape[1]), jnp.swapaxes(x, 0, 1)))

    add("network", "recurrent", recurrent, ("b, t, 6", "b"), floats(3, 5, 6), np.array([5, 2, 3], np.int32))
    add("network", "until", lambda x: lax.while_loop(
        lambda c: (c[1] < 20) & (jnp.abs(c[0] - c[2]).max() > 1e-3),
        lambda c: ((c[0] @ x @ x.T) / jnp.linalg.norm(c[0] @ x @ x.T), c[1] + 1, c[0]), (jnp.ones(x.shape[0]), 0, jnp.zeros(x.shape[0])))[:2],
        "a, b", X, tolerance=1e-3)
    add("network", "sampling", lambda x: (lax.top_k(x, 3), jnp.cumsum(nn.softmax(-jnp.sort(-x, -1)), -1) < 0.9,
                                          jnp.argsort(-x, -1)[:, :1]), "b, v", Y, bounds=("v >= 3",))
    add("network", "spectrum", lambda x: jnp.abs(jnp.fft.irfft(jnp.fft.rfft(x.reshape(x.shape[0], -1, 8) * jnp.hanning(8)), 8)),
        "b, 8*t", floats(2, 24))
    add("network", "messages", lambda x, i, j: (jnp.zeros_like(x).at[j].add(x[i] * 0.5) + x, jax.ops.segment_max(x[i], j, x.shape[0])),
        ("n, f", "e", "e"), X, np.array([0, 2, 3, 3, 1], np.int32), np.array([1, 1, 0, 2, 3], np.int32))
    add("network", "branches", jax.vmap(lambda x, i: lax.cond(i > 0, lambda y: jnp.cumsum(y), lambda y: y[::-1], x)),
        ("b, n", "b"), X, np.array([0, 1, 1, 0], np.int32))
    add("network", "upsampling", lambda x: jax.image.resize(x, (x.shape[0], 2 * x.shape[1], 2 * x.shape[2], 3), "cubic"),
        "b, h, w, 3", IMAGE, tolerance=1e-3)
    add("network", "interpolation", lambda x, p, v: jax.vmap(lambda y: jnp.interp(y, p, v))(x), ("a, b", "5", "5"), X,
        np.linspace(0, 1, 5).astype(np.float32), floats(5))
    add("network", "rotary", lambda x: jnp.concatenate([x[..., :2] * jnp.cos(jnp.arange(x.shape[1])[:, None]), jnp.roll(x[..., 2:], 1, -2)], -1),
        "b, s, 4", floats(2, 5, 4))


def matrices():
    """Factorizations of matrices of any size; what they are unique in."""
    wide, square = floats(2, 3, 5, low=-1), floats(2, 4, 4, low=-1)
    symmetric = square + square.swapaxes(1, 2)

    def rebuilt(a, full):
        u, s, vt = jnp.linalg.svd(a, full_matrices=full)
        few = s.shape[-1]
        return s, (u[..., :few] * s[..., None, :]) @ vt[..., :few, :], u @ u.swapaxes(-1, -2), vt @ vt.swapaxes(-1, -2)

    def with_vectors(a):
        w, v = jnp.linalg.eigh(a)
        return w, (v * w[..., None, :]) @ v.swapaxes(-1, -2)

    def general(a):
        w, v = jnp.linalg.eig(a)
        return w.sum(-1), jnp.prod(w, -1), jnp.abs(a @ v - v * w[..., None, :])

    add("matrix", "lu", lax.linalg.lu, "b, m, n", wide, tolerance=1e-3)
    add("matrix", "lu_high", lax.linalg.lu, "b, m, n", wide.swapaxes(1, 2), tolerance=1e-3)
    add("matrix", "svd", lambda a: rebuilt(a, True)[:2], "b, m, n", wide, tolerance=1e-3)
    add("matrix", "svd_high", lambda a: (*rebuilt(a, False), jnp.linalg.svd(a, compute_uv=False)), "b, m, n", wide.swapaxes(1, 2),
        tolerance=1e-3)
    add("matrix", "svd_row", lambda a: rebuilt(a, False), "b, m, n", wide[:, :1], tolerance=1e-3)
    add("matrix", "qr", lambda a: (jnp.abs(jnp.linalg.qr(a)[1]), jnp.linalg.qr(a)[0] @ jnp.linalg.qr(a)[1]), "b, m+n, n",
        wide.swapaxes(1, 2), tolerance=1e-3)
    for name, size in [("eigh", 4), ("eigh_odd", 3)]:
        add("matrix", name, with_vectors, "b, n, n", symmetric[:, :size, :size], tolerance=1e-3)
    for name, size in [("eig", 4), ("eig_one", 1)]:
        add("matrix", name, general, "b, n, n", square[:, :size, :size], tolerance=1e-3)
    add("matrix", "schur", lambda a: (lambda t, z: (z @ t @ z.T, z @ z.T))(*jax.scipy.linalg.schur(a)), "n, n", square[0], tolerance=1e-3)
    add("matrix", "solve", lambda a, y: (jnp.linalg.solve(a, y), jnp.linalg.inv(a), *jnp.linalg.slogdet(a)), ("b, n, n", "b, n, k"),
        POSITIVE, floats(3, 4, 2), tolerance=1e-3)
    add("matrix", "exponential", jax.scipy.linalg.expm, "n, n", square[0], tolerance=1e-3)
    add("matrix", "tridiagonal", lambda a: tuple(map(jnp.abs, lax.linalg.tridiagonal(a)[1:3])), "n, n", symmetric[0], tolerance=1e-3)
    add("matrix", "tridiagonal_solve", lambda d, y: lax.linalg.tridiagonal_solve(d[0], d[1] + 4, d[2], y), ("3, n", "n, k"),
        floats(3, 5), floats(5, 2), tolerance=1e-3)
    add("matrix", "complex_factor", lambda a: tuple(map(jnp.abs, (jnp.linalg.cholesky(a + 0j), *lax.linalg.lu(a + 1j * a.swapaxes(1, 2))))),
        "b, n, n", POSITIVE, tolerance=1e-3)


for family in (elementwise, shapes, places, order, sweeps, products, control, networks, matrices):
    family()
