"""What a model may leave open: channels and kernels of weights, and how long the vectors are that say axes, bounds and
sizes. One module must do for every list of sizes."""

import numpy as np
from onnx import TensorProto, helper

from case import Random, bools, case, chosen, const, f32, given, graph_case, i64, ints, nodes, weights
from cases_dynamic import dynamic

WEIGHTS = [{"o": 6, "c": 4, "h": 3, "w": 3}, {"o": 1, "c": 1, "h": 1, "w": 2}, {"o": 17, "c": 3, "h": 2, "w": 5}]
dynamic("Conv", "open", f32(2, "c", 7, 9), f32("o", "c", "h", "w"), f32("o"), pads=[1, 0, 2, 1], strides=[2, 1],
        sizes=WEIGHTS)
dynamic("Conv", "open-channels", f32(1, 4, 8, 8), f32("o", "c", 3, 3), f32("o"), kernel_shape=[3, 3], dilations=[2, 1],
        sizes=[{"o": 5, "c": 4}, {"o": 16, "c": 4}])
dynamic("Conv", "open-kernel", f32("n", 2, 9), f32(3, 2, "w"), sizes=[{"n": 1, "w": 3}, {"n": 2, "w": 9}])
dynamic("Conv", "open-groups", f32(1, "c", 7, 8), f32("o", "i", 3, "w"), group=2, pads=[1, 1, 1, 1],
        sizes=[{"c": 6, "o": 4, "i": 3, "w": 3}, {"c": 2, "o": 10, "i": 1, "w": 2},
               {"c": 2, "o": 9, "i": 1, "w": 2, "stops": "2 groups do not divide"},
               {"c": 3, "o": 4, "i": 1, "w": 2, "stops": "must be the weights'"}])
dynamic("Conv", "open-depthwise", f32(1, 16, "h", 8), f32("o", 1, 3, 3), group=16,
        sizes=[{"h": 5, "o": 16}, {"h": 9, "o": 48}])
for same in ("SAME_UPPER", "SAME_LOWER"):
    dynamic("Conv", f"open-{same.lower()}", f32(1, 3, "h", 8), f32(4, 3, "a", "b"), strides=[2, 3], auto_pad=same,
            sizes=[{"h": 9, "a": 3, "b": 4}, {"h": 6, "a": 2, "b": 1}])
    dynamic("ConvTranspose", f"open-{same.lower()}", f32(1, 3, "h", 8), f32(3, 4, "a", "b"), strides=[2, 3],
            auto_pad=same, sizes=[{"h": 5, "a": 3, "b": 4}, {"h": 6, "a": 2, "b": 3}])
dynamic("ConvTranspose", "open", f32(1, "c", 5, 4), f32("c", "o", "h", "w"), f32("o"), strides=[2, 3],
        pads=[1, 0, 0, 1], output_padding=[1, 0], sizes=WEIGHTS[:1] + WEIGHTS[2:])
dynamic("ConvTranspose", "open-groups", f32(1, "c", 5, 4), f32("c", "o", 3, 3), group=2, dilations=[2, 1],
        sizes=[{"c": 4, "o": 3}, {"c": 2, "o": 1}, {"c": 3, "o": 1, "stops": "2 groups do not divide"}])
case("ConvTranspose", "many-holes", f32(1, 2, 3, 2), f32(2, 3, 2, 2), strides=[70, 1], pads=[1, 0, 0, 1])
dynamic("ConvTranspose", "open-output", f32(1, 3, "h", 4), f32(3, 2, "a", 3), strides=[2, 3], output_shape=[9, 11],
        sizes=[{"h": 4, "a": 3}, {"h": 5, "a": 2}])


def byte(*shape):
    return Random(np.uint8, shape, 0, 255)


def scalar(value, dtype=np.float32):
    return const(value, dtype)


dynamic("ConvInteger", "open", byte(1, "c", 6, 6), byte("o", "c", "h", "w"), scalar(3, np.uint8), sizes=WEIGHTS,
        pads=[1, 1, 1, 1])
dynamic("QLinearConv", "open", byte(1, "c", 6, 6), scalar(0.1), scalar(3, np.uint8), byte("o", "c", "h", "w"),
        scalar(0.02), scalar(120, np.uint8), scalar(0.5), scalar(9, np.uint8), sizes=WEIGHTS, pads=[1, 1, 1, 1],
        tolerance=1.01)

SHIFTED = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "opset": 19, "reference": True, "tolerance": 1e-4}
dynamic("DeformConv", "batch", f32("n", 4, 5, 6), weights(3, 4, 3, 3), f32("n", 18, 5, 6), sizes=[{"n": 1}, {"n": 3}],
        **SHIFTED)
dynamic("DeformConv", "open", f32("n", "c", "h", "w"), f32("o", "c", 3, 3), f32("n", 18, "h", "w"), f32("o"),
        f32("n", 9, "h", "w"), sizes=[{"n": 1, "c": 4, "h": 5, "w": 6, "o": 2}, {"n": 2, "c": 1, "h": 3, "w": 4, "o": 5}],
        **SHIFTED)
dynamic("DeformConv", "open-groups", f32(1, "c", 5, "w"), f32(4, "i", 3, 3), f32(1, 36, 5, "w"), group=2, offset_group=2,
        sizes=[{"c": 4, "i": 2, "w": 6}, {"c": 8, "i": 4, "w": 3}], **SHIFTED)

for opset, length in ((18, 2), (21, 4)):
    dynamic("GroupNormalization", f"open-{opset}", f32("n", "c", "h"), f32("s"), f32("s"), num_groups=2, opset=opset,
            reference=True, tolerance=1e-3, sizes=[{"n": 1, "c": 4, "h": 5, "s": length}, {"n": 3, "c": 4, "h": 1, "s": length}])
dynamic("GroupNormalization", "open-channels", f32(2, "c", 5), weights(2), weights(2), num_groups=2, opset=18,
        reference=True, tolerance=1e-3, sizes=[{"c": 6}, {"c": 2}, {"c": 3, "stops": "must divide"}])

INPUTS = [{"t": 3, "n": 2, "k": 4}, {"t": 1, "n": 1, "k": 1}]
dynamic("LSTM", "open", f32("t", "n", "k"), f32("d", "r", "k"), f32("d", "r", 5), f32("d", "b"), hidden_size=5, results=3,
        sizes=[dict(row, d=1, r=20, b=40) for row in INPUTS])
dynamic("GRU", "open", f32("t", "n", "k"), f32("d", "r", "k"), f32("d", "r", "s"), hidden_size=5, results=2,
        direction="bidirectional", linear_before_reset=1, sizes=[dict(row, d=2, r=15, s=5) for row in INPUTS])
dynamic("RNN", "open", f32("t", "n", "k"), f32(1, 5, "k"), f32(1, 5, 5), hidden_size=5, results=2, sizes=INPUTS)


def vector(name, dtype=np.int64):
    """A vector of any length, which the sizes tell as `k`."""
    return chosen(name, dtype, shape=("k",))


def lengths(*rows, stops=()):
    """Values of vectors by name, with their length."""
    rows = list(rows) + [dict(row, stops=text) for row, text in stops]
    return [dict(row, k=len(next(value for name, value in row.items() if name != "stops"))) for row in rows]


BOUNDS = vector("from"), vector("to")
dynamic("Slice", "any-number", f32(4, 5, 6), *BOUNDS, sizes=lengths(
    {"from": [1], "to": [3]}, {"from": [1, -2, 0], "to": [9, -1, 4]}, {"from": [], "to": []},
    stops=[({"from": [0] * 4, "to": [1] * 4}, "more than 3 elements")]))
dynamic("Slice", "any-number-axes", f32(4, 5, "n"), *BOUNDS, vector("axes"), vector("by"), sizes=[dict(row, n=6) for row in lengths(
    {"from": [1], "to": [3], "axes": [-1], "by": [1]}, {"from": [3, 0], "to": [-9, 9], "axes": [2, 0], "by": [-2, 3]},
    stops=[({"from": [0, 0], "to": [1, 1], "axes": [1, -2], "by": [1, 1]}, "given twice")])][:2])
dynamic("Pad", "any-number", f32(3, 4), vector("pads"), sizes=lengths(
    {"pads": [1, 2, 0, 1]}, {"pads": [0, -1, 2, 0]}, stops=[({"pads": [1, 1]}, "must have 4 elements")]))
dynamic("Pad", "any-number-axes", f32(3, 4, 5), chosen("pads", shape=("p",)), None, vector("axes"), opset=18, sizes=[
    {"k": 1, "p": 2, "axes": [-1], "pads": [1, 2]}, {"k": 2, "p": 4, "axes": [2, 0], "pads": [1, 0, 3, 1]},
    {"k": 0, "p": 0, "axes": [], "pads": []}, {"k": 1, "p": 3, "axes": [1], "pads": [1, 2, 3], "stops": "two paddings"}])
dynamic("Resize", "any-number", f32(1, 2, 5, 7), None, vector("scales", np.float32), mode="linear", sizes=lengths(
    {"scales": [1, 1, 2, 0.5]}, stops=[({"scales": [2, 2]}, "must have 4 elements")]))
dynamic("Resize", "any-number-sizes", f32(1, 2, 5, 7), None, None, vector("to"), sizes=lengths(
    {"to": [1, 2, 10, 3]}, stops=[({"to": [2, 2]}, "must have 4 elements")]))
dynamic("TopK", "any-number", f32(2, 9), vector("top"), axis=1, results=2, sizes=lengths(
    {"top": [3]}, {"top": [9]}, stops=[({"top": [1, 2]}, "must be one value")]))
dynamic("Unsqueeze", "any-number", f32(3, 4), vector("axes"), sizes=lengths(
    {"axes": [0, -1]}, {"axes": [1, 2]}, stops=[({"axes": [0]}, "must have rank 4")]))
dynamic("Expand", "any-number", f32(3, 1), vector("shape"), sizes=lengths(
    {"shape": [2, 3, 4]}, {"shape": [1, 1, 5]}, stops=[({"shape": [3, 3]}, "must have rank 3")]))
# The rank of a result is that which an operator needs that takes it.
TWO = lengths({"shape": [2, 6]}, {"shape": [4, 3]}, stops=[({"shape": [2, 3, 2]}, "must have rank 2")])
for label, last, attributes in [("Einsum", f32("c", 5), {"equation": "rc,ck->rk"}), ("Concat", f32("r", "c"), {"axis": 0}),
                                ("GatherElements", given([[1, 0], [0, 1]], np.int64), {"axis": 1})]:
    graph_case(f"{label}-rank-of-others", nodes(("Reshape", "x0 x1", "r", {}), ("Softmax", "r", "s", {"axis": 1}),
                                               (label, "s x2", "t", attributes), ("Reshape", "t x3", "y0", {})),
               f32(3, 4), vector("shape"), last, ints(-1),
               sizes=[dict(row, r=2, c=row["shape"][1]) for row in TWO])
graph_case("ReduceMax-rank-kept", nodes(("Reshape", "x0 x1", "r", {}), ("ReduceMax", "r", "m", {"axes": [0]}),
                                        ("Dropout", "m", "d", {}), ("Concat", "x2 d", "t", {"axis": 0}),
                                        ("Reshape", "t x3", "y0", {})),
           f32(3, 4), vector("shape"), f32("r", "c"), ints(-1), sizes=[dict(row, r=3, c=row["shape"][1]) for row in TWO])
dynamic("Tile", "any-number", f32(2, 3), vector("repeats"), sizes=lengths(
    {"repeats": [1, 2]}, {"repeats": [3, 0]}, stops=[({"repeats": [2]}, "must have 2 elements")]))
dynamic("Split", "any-number", f32(9, 2), vector("parts"), axis=0, results=3, sizes=lengths(
    {"parts": [2, 3, 4]}, stops=[({"parts": [4, 5]}, "must have 3 elements")]))
dynamic("CenterCropPad", "any-number", f32(5, 4), vector("wanted"), opset=18, sizes=lengths({"wanted": [3, 7]}))
dynamic("OneHot", "any-number", given([0, 2, -1], np.int64), vector("depth"), chosen("pair", np.float32, ("two",)),
        sizes=[dict(row, two=2, pair=[0, 5]) for row in lengths({"depth": [4]})])
dynamic("DequantizeLinear", "any-number", byte(2, 3), f32("s", low=0.1, high=1), byte("s"), axis=1,
        sizes=[{"s": 3}, {"s": 1}])

# Masks shorter than the keys: what they do not say is not allowed.
SHORT = [{"t": 6, "m": 4}, {"t": 6, "m": 6}, {"t": 9, "m": 2}, {"t": 4, "m": 6, "stops": "must be 1 or"}]
QKV = f32(1, 2, 3, 4), f32(1, 2, "t", 4), f32(1, 2, "t", 4)
dynamic("Attention", "short-mask", *QKV, f32(3, "m"), opset=24, reference=True, tolerance=1e-4, sizes=SHORT)
dynamic("Attention", "short-flags", *QKV, bools(2, 3, "m"), opset=24, is_causal=1, reference=True, tolerance=1e-4,
        sizes=SHORT[:3])
dynamic("Attention", "short-cache", f32(2, 2, 1, 4), f32(2, 2, "t", 4), f32(2, 2, "t", 4), f32(1, "m"), None, None,
        chosen("valid", np.int64, (2,)), opset=24, is_causal=1, reference=True, tolerance=1e-4,
        sizes=[{"t": 8, "m": 5, "valid": [5, 3]}, {"t": 6, "m": 6, "valid": [6, 1]}])

LETTERS = "abcdefghijklmnopqrst"
dynamic("Einsum", "many", *[f32("n") for _ in LETTERS], equation=",".join("i" * len(LETTERS)) + "->i", sizes=[{"n": 3}])
dynamic("Einsum", "chain", *[f32(2, 2) for _ in LETTERS[1:]], tolerance=1e-2, sizes=[{}],
        equation=",".join(a + b for a, b in zip(LETTERS, LETTERS[1:])) + "->at")


def nested(depth):
    """x1 through Exp, depth branches deep, where x0."""
    def build(case_):
        name, shape = f"v{depth}", [None]
        node = helper.make_node("Exp", ["x1"], [name])
        for level in range(depth - 1, -1, -1):
            out = f"v{level}" if level else "y0"
            inner = helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            then = helper.make_graph([node], "then", [], [inner])
            other = helper.make_graph([helper.make_node("Neg", ["x1"], [f"n{level}"])], "else", [],
                                      [helper.make_tensor_value_info(f"n{level}", TensorProto.FLOAT, shape)])
            node = helper.make_node("If", ["x0"], [out], then_branch=then, else_branch=other)
            name = out
        return [node]

    return build


graph_case("If-nested", nested(30), given(True, np.bool_), f32("n"), sizes=[{"n": 3}, {"n": 1}])

# Operators that only ONNX's own backend tests had.
CLASSES = [{"n": 3, "d": 4}, {"n": 1, "d": 7}]
for reduction in ("none", "mean", "sum"):
    dynamic("NegativeLogLikelihoodLoss", reduction, f32("n", 5, "d"), i64("n", "d", low=0, high=5), weights(5), opset=13,
            reduction=reduction, sizes=CLASSES, tolerance=1e-4)
    dynamic("SoftmaxCrossEntropyLoss", reduction, f32("n", "c"), i64("n", low=0, high=3), opset=13, reduction=reduction,
            results=2, sizes=[{"n": 3, "c": 3}, {"n": 1, "c": 9}], tolerance=1e-4)
dynamic("Swish", "", f32("n", 3), alpha=0.5, opset=24, reference=True, sizes=[{"n": 2}, {"n": 9}])
dynamic("SwiGLU", "", f32("n", 3), f32("n", 3), alpha=0.5, opset=28, reference=True, sizes=[{"n": 2}, {"n": 9}])
dynamic("CumProd", "", f32("n", 3), const(0, np.int64), opset=26, reference=True, sizes=[{"n": 2}, {"n": 9}])
dynamic("BitCast", "", f32("n", 3), opset=26, to=TensorProto.INT32, reference=True, sizes=[{"n": 2}, {"n": 9}])
dynamic("FlexAttention", "", f32("b", 4, "s", "d"), f32("b", 2, "t", "d"), f32("b", 2, "t", "v"), opset=24,
        domain="ai.onnx.preview", reference=True, tolerance=1e-4,
        sizes=[{"b": 1, "s": 3, "t": 5, "d": 8, "v": 8}, {"b": 2, "s": 1, "t": 2, "d": 4, "v": 6}])
