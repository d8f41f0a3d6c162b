"""What the functions of iree/kernels.mlir compute, in numpy; tolerances are relative to a result and to its largest."""

import math

import ml_dtypes
import numpy as np

erf = np.vectorize(math.erf, otypes=[np.float64])


def scale(values):
    """What a tolerance is also relative to: sums of terms that cancel are no more exact than their terms."""
    finite = np.abs(values[np.isfinite(values)])
    return finite.max() if finite.size else 1.0


def wide(function):
    """The function in double precision."""
    return lambda *values: function(*[value.astype(np.float64) for value in values])


def softmax(x):
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def attention(q, k, v):
    return softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])) @ v


def layer_norm(x, gain, shift):
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred ** 2).mean(axis=1, keepdims=True) + 1e-5) * gain + shift


def conv(x, f):
    height, width = x.shape[1] - f.shape[0] + 1, x.shape[2] - f.shape[1] + 1
    return sum(x[:, i:i + height, j:j + width] @ f[i, j] for i in range(f.shape[0]) for j in range(f.shape[1]))


def depthwise(x, f):
    return sum(x[:, i:i + 17:2, j:j + 17:2] * f[i, j] for i in range(3) for j in range(3))


def max_pool(x):
    return np.max([x[:, i:i + 17:2, j:j + 17:2] for i in range(3) for j in range(3)], axis=0)


def math_f32(x, y):
    z = np.abs(y)
    return (np.exp(x) * np.log1p(z) + np.sin(x) * np.cos(y) + np.tanh(x) * erf(y) + np.sqrt(z) + z ** x)


def integer(x, y):
    with np.errstate(over="ignore"):
        odd = y | 1
        quotient = np.abs(x.astype(object)) // np.abs(odd.astype(object)) * np.sign(x).astype(object) * np.sign(odd)
        rest = x.view(np.uint64) % odd.view(np.uint64)
        return ((quotient.astype(np.int64) ^ rest.view(np.int64)) + (x >> (y & 63))) - x * y


def bf16_to_f32(x, y):
    product = x.astype(np.float32) * y
    return product, product.astype(ml_dtypes.bfloat16)


def perceptron(x, first, second):
    hidden = np.maximum(x.astype(np.float64) @ first.astype(np.float64), 0).astype(np.float16).astype(np.float64)
    return softmax(hidden @ second.astype(np.float64))


# Function: what it computes, and the tolerance of its floating-point results.
REFERENCES = {
    "matmul_f32": (wide(np.matmul), 1e-6),
    "matmul_f16": (wide(np.matmul), 1e-6),
    "matmul_bf16": (wide(np.matmul), 1e-6),
    "matmul_i8": (lambda a, b: a.astype(np.int32) @ b.astype(np.int32), 0),
    "matmul_uneven": (wide(np.matmul), 2e-3),
    "matmul_f64": (wide(np.matmul), 1e-15),
    "batch_matmul": (wide(np.matmul), 1e-6),
    "matvec": (wide(np.matmul), 1e-6),
    "softmax": (wide(softmax), 1e-6),
    "softmax_f16": (wide(softmax), 2e-3),
    "attention": (wide(attention), 2e-3),
    "attention_f32": (wide(attention), 2e-6),
    "layer_norm": (wide(layer_norm), 1e-6),
    "conv": (wide(conv), 1e-6),
    "conv_f16": (wide(conv), 1e-6),
    "conv_depthwise": (wide(depthwise), 1e-6),
    "max_pool": (max_pool, 0),
    "sum_rows": (wide(lambda x: x.sum(axis=1)), 1e-6),
    "max_columns": (lambda x: x.max(axis=0), 0),
    "argmax": (lambda x: x.argmax(axis=1), 0),
    "transpose": (lambda x: x.T, 0),
    "transpose_i8": (lambda x, y: x.T * y, 0),
    "math_f32": (wide(math_f32), 2e-6),
    "math_f64": (lambda x: np.exp(x) / np.sqrt(np.abs(x)) + np.log(np.abs(x)), 1e-15),
    "gelu_f16": (wide(lambda x: 0.5 * x * (1 + erf(x * math.sqrt(0.5)))), 2e-3),
    "bf16_to_f32": (bf16_to_f32, 0),
    "integer": (integer, 0),
    "gather": (lambda x, at: x[at], 0),
    "sort": (lambda x: np.sort(x, axis=1), 0),
    "scan": (wide(lambda x: np.cumsum(x, axis=1)), 1e-6),
    "dynamic": (wide(lambda x, y: np.exp2(x - y)), 1e-6),
    "perceptron": (perceptron, 1e-4),
}

# Functions whose inputs are not just random numbers.
PREPARE = {
    "gather": lambda x, at: (x, np.abs(at) % 100),
    "perceptron": lambda x, first, second: (x, first, (second / 16).astype(np.float16)),
}
