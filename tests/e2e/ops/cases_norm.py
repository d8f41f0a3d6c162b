"""Normalisations, and the graphs that spell them out."""

import numpy as np
from onnx import helper

from case import case, const, f16, f32, graph_case, positive, weights

for axis, size in ((-1, (32,)), (1, (6, 32)), (2, (32,)), (0, (3, 6, 32))):
    case("LayerNormalization", f"axis{axis}", f32(3, 6, 32), weights(*size), weights(*size), axis=axis)
case("LayerNormalization", "no-bias", f32(3, 6, 32), weights(32))
case("LayerNormalization", "epsilon", f32(3, 32), weights(32), weights(32), epsilon=1e-12)
case("LayerNormalization", "long", f32(4, 768), weights(768), weights(768))
case("LayerNormalization", "long-odd", f32(3, 201), weights(201), weights(201))
case("LayerNormalization", "long-mean-out", f32(5, 131), weights(131), weights(131), results=3)
case("LayerNormalization", "mean-out", f32(3, 32), weights(32), weights(32), results=2)
case("LayerNormalization", "f16", f16(4, 64), weights(64, dtype=np.float16), weights(64, dtype=np.float16),
     tolerance=2e-2)
case("LayerNormalization", "large-mean", f32(3, 64, low=1000, high=1002), weights(64), weights(64), tolerance=2e-2)
case("BatchNormalization", "", f32(2, 3, 4, 4), weights(3), weights(3), weights(3), positive(3))
case("BatchNormalization", "constant", f32(2, 3, 4, 4), weights(3), weights(3), weights(3), const([0.5, 1.0, 2.0]),
     epsilon=1e-3)
case("BatchNormalization", "places", f32(2, 3, 4), weights(3, 4), weights(3, 4), weights(3, 4), positive(3, 4), spatial=0,
     opset=8)
case("BatchNormalization", "rank2", f32(4, 3), weights(3), weights(3), weights(3), const([0.5, 1.0, 2.0]))
case("BatchNormalization", "rank3", f32(2, 3, 7), weights(3), weights(3), weights(3), const([0.5, 1.0, 2.0]))
case("InstanceNormalization", "", f32(2, 3, 5, 5), weights(3), weights(3))
case("InstanceNormalization", "1d", f32(2, 3, 9), weights(3), weights(3), epsilon=1e-3)
case("GroupNormalization", "21", f32(2, 6, 4, 4), weights(6), weights(6), opset=21, num_groups=3)
case("GroupNormalization", "21-one", f32(2, 6, 5), weights(6), weights(6), opset=21, num_groups=1)
case("RMSNormalization", "", f32(3, 64), weights(64), opset=23)
case("LpNormalization", "2", f32(4, 9), axis=1, p=2)
case("LpNormalization", "1", f32(4, 9), axis=0, p=1)
case("MeanVarianceNormalization", "", f32(2, 3, 4, 4))
case("MeanVarianceNormalization", "axes", f32(2, 3, 4, 4), axes=[1, 2])
case("LRN", "", f32(1, 7, 4, 4), size=3)
case("LRN", "attributes", f32(1, 7, 4, 4), size=5, alpha=0.002, beta=0.5, bias=2.0)


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs, [output], **attributes)


def layer_norm(case_):
    """As exporters wrote it before the operator existed."""
    return [node("ReduceMean", ["x0"], "mean", axes=[-1]), node("Sub", ["x0", "mean"], "d"),
            node("Pow", ["d", "x1"], "s"), node("ReduceMean", ["s"], "v", axes=[-1]), node("Add", ["v", "x2"], "e"),
            node("Sqrt", ["e"], "r"), node("Div", ["d", "r"], "n"), node("Mul", ["n", "x3"], "m"),
            node("Add", ["m", "x4"], "y0")]


def gelu(case_):
    return [node("Div", ["x0", "x1"], "d"), node("Erf", ["d"], "e"), node("Add", ["e", "x2"], "a"),
            node("Mul", ["x0", "a"], "m"), node("Mul", ["m", "x3"], "y0")]


def attention(case_):
    return [node("Transpose", ["x1"], "k", perm=[0, 1, 3, 2]), node("MatMul", ["x0", "k"], "s"),
            node("Mul", ["s", "x3"], "t"), node("Softmax", ["t"], "p", axis=-1), node("MatMul", ["p", "x2"], "y0")]


def residual(case_):
    return [node("Conv", ["x0", "x1", "x2"], "c", pads=[1, 1, 1, 1]), node("Relu", ["c"], "r"),
            node("Conv", ["r", "x3"], "d"), node("Add", ["d", "x0"], "a"), node("Relu", ["a"], "y0")]


def conv_norm_swish(case_):
    return [node("Conv", ["x0", "x1"], "c", pads=[1, 1, 1, 1], strides=[2, 2]),
            node("BatchNormalization", ["c", "x2", "x3", "x4", "x5"], "b"), node("Sigmoid", ["b"], "s"),
            node("Mul", ["b", "s"], "m"), node("GlobalAveragePool", ["m"], "y0")]


def squeeze_excite(case_):
    return [node("GlobalAveragePool", ["x0"], "g"), node("Conv", ["g", "x1"], "a"), node("Relu", ["a"], "r"),
            node("Conv", ["r", "x2"], "b"), node("HardSigmoid", ["b"], "s"), node("Mul", ["x0", "s"], "y0")]


def shared_weights(case_):
    return [node("MatMul", ["x0", "x1"], "a"), node("MatMul", ["a", "x1"], "b"), node("Add", ["a", "b"], "y0")]


def two_results(case_):
    return [node("Exp", ["x0"], "y0"), node("ReduceSum", ["y0", "x1"], "y1"), node("Div", ["y0", "y1"], "y2")]


graph_case("graph-layer-norm", layer_norm, f32(3, 5, 64), const(2.0), const(1e-5), weights(64), weights(64))
graph_case("graph-gelu", gelu, f32(4, 100), const(2**0.5), const(1.0), const(0.5))
graph_case("graph-attention", attention, f32(1, 2, 9, 8), f32(1, 2, 9, 8), f32(1, 2, 9, 8), const(8**-0.5))
graph_case("graph-residual", residual, f32(1, 8, 7, 7), weights(16, 8, 3, 3, spread=0.3), weights(16),
           weights(8, 16, 1, 1, spread=0.3))
graph_case("graph-conv-norm-swish", conv_norm_swish, f32(1, 3, 8, 8), weights(6, 3, 3, 3), weights(6), weights(6),
           weights(6), const([0.5, 1.0, 2.0, 0.3, 0.4, 0.9]))
graph_case("graph-squeeze-excite", squeeze_excite, f32(1, 16, 6, 6), weights(4, 16, 1, 1), weights(16, 4, 1, 1))
graph_case("graph-shared-weights", shared_weights, f32(4, 6), weights(6, 6))
graph_case("graph-two-results", two_results, f32(4, 6), const([1], np.int64), results=3)
