"""Operators that carry a state from step to step, random numbers, and steps of optimisers."""

import numpy as np
from onnx import TensorProto, helper

from case import case, const, f16, f32, given, graph_case, positive, weights

STEPS = [{"b": 1, "t": 1}, {"b": 3, "t": 7}]
NEW = {"opset": 27, "reference": True}

case("LinearAttention", "dynamic", f32("b", "t", 12), f32("b", "t", 6), f32("b", "t", 10), None,
     f32("b", "t", 2, low=-1, high=0), positive("b", "t", 2), results=2, q_num_heads=4, kv_num_heads=2, sizes=STEPS, **NEW)
case("LinearAttention", "linear", f32(2, 5, 8), f32(2, 5, 8), f32(2, 5, 4), f32(2, 1, 8, 4), results=2, q_num_heads=1,
     kv_num_heads=1, update_rule="linear", scale=0.5, **NEW)
case("LinearAttention", "gated-half", f16(1, 3, 4), f16(1, 3, 4), f16(1, 3, 6), None, f16(1, 3, 4, low=-1, high=0),
     results=2, q_num_heads=2, kv_num_heads=2, update_rule="gated", tolerance=2e-2, **NEW)
case("CausalConvWithState", "dynamic", f32("b", 3, "t"), weights(3, 1, 4), weights(3), f32("b", 3, 3), results=2,
     activation="silu", sizes=STEPS, **NEW)
case("CausalConvWithState", "one-tap", f32(2, 3, 5), weights(3, 1, 1), **NEW)


def optimiser(op, label, tensors, states, count, **attributes):
    operands = [given(0.1), given(count, np.int64)]
    operands += [f32(2, 3) for _ in range(2 * tensors)] + [positive(2, 3) for _ in range(states * tensors)]
    case(op, label, *operands, results=(1 + states) * tensors, domain="ai.onnx.preview.training", reference=True,
         **attributes)


optimiser("Adagrad", "first", 1, 1, 0, norm_coefficient=0.01, decay_factor=0.1)
optimiser("Adagrad", "two", 2, 1, 5, decay_factor=0.1)
optimiser("Adam", "first", 1, 2, 0, alpha=0.95, beta=0.1, norm_coefficient=0.001)
optimiser("Adam", "later", 2, 2, 4, alpha=0.95, beta=0.85, norm_coefficient_post=0.1)
optimiser("Momentum", "first", 1, 1, 0, alpha=0.9, beta=0.5, norm_coefficient=0.01, mode="standard")
optimiser("Momentum", "nesterov", 2, 1, 3, alpha=0.9, beta=0.5, norm_coefficient=0.01, mode="nesterov")


# Random numbers differ from ONNX Runtime's, but not in what can be said of many of them: whether mean and deviation lie
# within `off` of what they should be.
def moments(op, *operands, drawn, wanted, off, **attributes):
    def build(case):
        nodes = [helper.make_node(op, case.names(), ["drawn"], **attributes),
                 helper.make_node("Cast", ["drawn"], ["wide"], to=TensorProto.FLOAT),
                 helper.make_node("ReduceMean", ["wide"], ["moment0"], keepdims=0),
                 helper.make_node("Sub", ["wide", "moment0"], ["low"]),
                 helper.make_node("ReduceSumSquare", ["low"], ["squares"], keepdims=0),
                 helper.make_node("Constant", [], ["count"], value_float=float(drawn)),
                 helper.make_node("Div", ["squares", "count"], ["variance"]),
                 helper.make_node("Sqrt", ["variance"], ["moment1"]),
                 helper.make_node("Constant", [], ["off"], value_float=off)]
        for i in range(2):
            nodes += [helper.make_node("Constant", [], [f"wanted{i}"], value_float=float(wanted[i])),
                      helper.make_node("Sub", [f"moment{i}", f"wanted{i}"], [f"off{i}"]),
                      helper.make_node("Abs", [f"off{i}"], [f"far{i}"]),
                      helper.make_node("Less", [f"far{i}", "off"], [f"y{i}"])]
        return nodes

    # ONNX Runtime's Bernoulli draws 0 where it should draw 1.
    graph_case(f"{op}-moments", build, *operands, results=2, reference=op == "Bernoulli")


moments("RandomNormal", drawn=20000, wanted=(3, 2), off=0.06, shape=[100, 200], mean=3.0, scale=2.0, seed=5.0)
moments("RandomUniform", drawn=20000, wanted=(1, 6 / 12**0.5), off=0.06, shape=[20000], low=-2.0, high=4.0)
moments("RandomNormalLike", f32(100, 100), drawn=10000, wanted=(0, 1), off=0.05)
moments("RandomUniformLike", f32(100, 100), drawn=10000, wanted=(0.5, 1 / 12**0.5), off=0.02, dtype=TensorProto.FLOAT16)
moments("Bernoulli", const(np.full((100, 100), 0.3)), drawn=10000, wanted=(0.3, 0.21**0.5), off=0.03)
moments("Multinomial", const(np.log([[0.5, 0.25, 0.25]])), drawn=10000, wanted=(0.75, 0.6875**0.5), off=0.04,
        sample_size=10000)
moments("Dropout", const(np.ones((100, 100))), const(0.25), const(True, bool), drawn=10000, wanted=(1, (1 / 3)**0.5),
        off=0.03)


def two_draws(case):
    """Two nodes without a seed give different numbers, two with one seed the same."""
    return [helper.make_node("RandomUniform", [], ["a"], shape=[50]),
            helper.make_node("RandomUniform", [], ["b"], shape=[50]),
            helper.make_node("RandomUniform", [], ["c"], shape=[50], seed=1.0),
            helper.make_node("RandomUniform", [], ["d"], shape=[50], seed=1.0),
            helper.make_node("Equal", ["a", "b"], ["ab"]), helper.make_node("Equal", ["c", "d"], ["cd"]),
            helper.make_node("Cast", ["ab"], ["ab_number"], to=TensorProto.FLOAT),
            helper.make_node("Cast", ["cd"], ["cd_number"], to=TensorProto.FLOAT),
            helper.make_node("ReduceMax", ["ab_number"], ["y0"], keepdims=0),
            helper.make_node("ReduceMin", ["cd_number"], ["y1"], keepdims=0)]


graph_case("RandomUniform-seeds", two_draws, results=2)
