"""ONNX Runtime's own operators (domain com.microsoft)."""

import numpy as np

from draw import operator

OWN = {"domain": "com.microsoft"}


def scale(d, count=None):
    """One scale, or `count` of them."""
    values = d.array("float32", () if count is None else (count,), 0.01, 0.2)
    return d.known(values)


def quantized(d, dtype, shape):
    """Bytes with their scale and zero point."""
    return [d.given(dtype, shape, 0.0), scale(d), d.known(d.array(dtype, (), 0.0))]


def broadcast_pair(d):
    """Two shapes that broadcast."""
    shape = d.shape(0, 4, 7)
    other = [1 if d.chance(0.3) else size for size in shape][d.whole(0, len(shape)):]
    return (shape, other) if d.chance(0.5) else (other, shape)


def elements(name):
    @operator(name)
    def binary(d):
        left, right = broadcast_pair(d)
        dtype = d.pick("uint8", "int8")
        return [*quantized(d, dtype, left), *quantized(d, dtype, right), scale(d), d.known(d.array(dtype, (), 0.0))], \
            {**OWN, "tolerance": 1.01}  # what lies between two numbers


for each in ["QLinearAdd", "QLinearMul"]:
    elements(each)


@operator("QLinearConcat")
def concat(d):
    shape, dtype = d.shape(1, 4, 7), d.pick("uint8", "int8")
    axis, operands = d.axis(len(shape)), [scale(d), d.known(d.array(dtype, (), 0.0))]
    for _ in range(d.whole(1, 4)):
        operands += quantized(d, dtype, [d.size() if i == axis % len(shape) else n for i, n in enumerate(shape)])
    return operands, {**OWN, "axis": axis, "tolerance": 1.01}


@operator("QLinearGlobalAveragePool")
def global_pool(d):
    shape, dtype = d.shape(3, 5, 7), d.pick("uint8", "int8")
    return [*quantized(d, dtype, shape), scale(d), d.known(d.array(dtype, (), 0.0))], \
        {**OWN, "channels_last": d.whole(0, 1), "tolerance": 1.01}


@operator("QGemm")
def qgemm(d):
    m, k, n = d.size(), d.size(), d.size()
    turns, dtype = d.wholes(2, 0, 1), d.pick("uint8", "int8")
    columns, w_type = n if d.chance(0.5) else None, dtype if dtype == "int8" else d.pick("uint8", "int8")
    operands = [*quantized(d, dtype, [k, m] if turns[0] else [m, k]), d.weights(w_type, [n, k] if turns[1] else [k, n], 0.0),
                scale(d, columns), d.known(d.array(w_type, () if columns is None else (columns,), 0.0)),
                d.weights("int32", [n], -999, 999) if d.chance(0.5) else None]
    options = {**OWN, "transA": turns[0], "transB": turns[1], "alpha": d.pick(1.0, 0.5)}
    if d.chance(0.5):
        return operands, {**options, "tolerance": 1e-3}
    return [*operands, scale(d), d.known(d.array(dtype, (), 0.0))], {**options, "tolerance": 1.01}


@operator("MatMulIntegerToFloat")
def integers_to_float(d):
    a_type, b_type, k, n = d.pick("uint8", "int8"), d.pick("uint8", "int8"), d.size(), d.size()
    columns = n if d.chance(0.5) else None
    return [d.given(a_type, [*d.shape(1, 3, 5), k], 0.0), d.weights(b_type, [k, n], 0.0), scale(d), scale(d, columns),
            d.known(d.array(a_type, (), 0.0)) if d.chance(0.7) else None,
            d.known(d.array(b_type, () if columns is None else (columns,), 0.0)) if d.chance(0.7) else None,
            d.weights("float32", [n]) if d.chance(0.5) else None], {**OWN, "tolerance": 1e-3}


@operator("MatMulNBits")
def few_bits(d):
    bits, block, n, k = d.pick(4, 4, 8), d.pick(16, 32, 64), d.size(), d.whole(1, 150)
    blocks = -(-k // block)
    operands = [d.given("float32", [*d.shape(1, 3, 5), k], fixed=[-1]), d.weights("uint8", [n, blocks, block * bits // 8], 0.0),
                d.weights("float32", [n * blocks], 0.01, 0.1)]
    operands.append(d.weights("uint8", [n * -(-blocks * bits // 8)], 0.0) if d.chance(0.5) else None)
    operands += [None, d.weights("float32", [n])] if d.chance(0.5) else []
    return operands, {**OWN, "K": k, "N": n, "bits": bits, "block_size": block, "tolerance": 2e-2}


@operator("FusedMatMul")
def fused_matmul(d):
    batch, m, k, n = d.shape(0, 2, 4), d.size(), d.size(), d.size()
    turns = d.wholes(2, 0, 1)
    first = [*batch, k, m] if turns[0] else [*batch, m, k]
    second = [*batch, n, k] if turns[1] else [*batch, k, n]
    return [d.given("float32", first), d.given("float32", second)], \
        {**OWN, "transA": turns[0], "transB": turns[1], "alpha": d.pick(1.0, -0.5), "tolerance": 1e-4}


@operator("FusedConv")
def fused_conv(d):
    groups, rank = d.pick(1, 1, 2, 3), d.whole(1, 2)
    inputs, outputs = groups * d.whole(1, 3), groups * d.whole(1, 3)
    kernel = d.wholes(rank, 1, 3)
    activation = d.pick("Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid")
    values = {"LeakyRelu": [0.3], "Clip": [-0.5, 0.7], "HardSigmoid": [0.3, 0.4]}.get(activation)
    operands = [d.given("float32", [d.size(3), inputs, *[d.whole(3, 9) for _ in range(rank)]], fixed=[1]),
                d.weights("float32", [outputs, inputs // groups, *kernel])]
    operands += [d.weights("float32", [outputs])] if d.chance(0.5) else []
    return operands, {**OWN, "group": groups, "activation": activation, **({"activation_params": values} if values else {}),
                      "pads": d.wholes(2 * rank, 0, 1), "strides": d.wholes(rank, 1, 2), "tolerance": 1e-4}


@operator("SkipLayerNormalization")
def skip_norm(d):
    shape = d.shape(3, 3, 9)
    simple = d.chance(0.5)
    operands = [d.given("float32", shape), d.given("float32", shape), d.weights("float32", [shape[-1]])]
    operands += [] if simple else [d.weights("float32", [shape[-1]]) if d.chance(0.6) else None]
    operands += [d.weights("float32", [shape[-1]])] if d.chance(0.5) else []
    return operands, {**OWN, "op": "SkipSimplifiedLayerNormalization" if simple else "SkipLayerNormalization",
                      "epsilon": d.pick(1e-5, 1e-2), "tolerance": 1e-3}


@operator("MultiHeadAttention")
def many_heads(d):
    batch, rows, keys, heads, size = d.size(3), d.size(7), d.size(7), d.pick(1, 2, 4), d.pick(4, 8)
    width = heads * size
    operands = [d.given("float32", [batch, rows, width], fixed=[-1]), d.given("float32", [batch, keys, width], fixed=[-1]),
                d.given("float32", [batch, keys, width], fixed=[-1])]
    operands.append(d.weights("float32", [3 * width]) if d.chance(0.4) else None)
    mask = d.array("int32", (batch, keys), 0, 1)
    mask[:, 0] = 1
    operands.append(d.known(mask) if d.chance(0.4) else None)
    operands.append(d.given("float32", [d.pick(1, batch), d.pick(1, heads), rows, keys]) if d.chance(0.4) else None)
    while operands[-1] is None:
        operands.pop()
    return operands, {**OWN, "num_heads": heads, "tolerance": 1e-3, **({"scale": 0.3} if d.chance(0.3) else {}),
                      **({"unidirectional": 1} if rows == keys and d.chance(0.4) else {})}


@operator("GatherBlockQuantized")
def gather_blocks(d):
    bits, block, rows = d.pick(4, 8), 16, d.whole(1, 20)
    parts = d.whole(1, 3)
    columns = parts * block
    operands = [d.weights("uint8", [rows, columns * bits // 8], 0.0), d.given("int64", d.shape(0, 2, 5), -rows, rows - 1),
                d.weights("float32", [rows, parts], 0.01, 0.1)]
    operands += [d.weights("uint8", [rows, -(-parts * bits // 8)], 0.0)] if d.chance(0.5) else []
    return operands, {**OWN, "bits": bits, "block_size": block, "gather_axis": 0, "quantize_axis": 1, "tolerance": 1e-4}
