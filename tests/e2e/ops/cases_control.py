"""Control flow: If, Loop, Scan, with captured values."""

import numpy as np
from onnx import TensorProto, helper

from case import const, f32, given, graph_case

F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def if_else(case_):
    """x1 is captured by both branches."""
    then = helper.make_graph([helper.make_node("Exp", ["x1"], ["a"])], "then", [], [value("a", F, [3, 4])])
    other = helper.make_graph([helper.make_node("Neg", ["x1"], ["b"])], "else", [], [value("b", F, [3, 4])])
    return [helper.make_node("If", ["x0"], ["y0"], then_branch=then, else_branch=other)]


def loop(case_):
    """x0 iterations; the carried value is doubled and x2 is added; every step's value is collected."""
    nodes = [helper.make_node("Identity", ["keep_in"], ["keep"]), helper.make_node("Add", ["v", "v"], ["twice"]),
             helper.make_node("Add", ["twice", "x2"], ["next"]), helper.make_node("Identity", ["next"], ["step"])]
    body = helper.make_graph(nodes, "body", [value("i", I, []), value("keep_in", B, []), value("v", F, [3])],
                             [value("keep", B, []), value("next", F, [3]), value("step", F, [3])])
    return [helper.make_node("Loop", ["x0", "", "x1"], ["y0", "y1"], body=body)]


def loop_while(case_):
    """Doubles until the sum passes x1."""
    nodes = [helper.make_node("Add", ["v", "v"], ["next"]),
             helper.make_node("ReduceSum", ["next"], ["sum"], keepdims=0),
             helper.make_node("Less", ["sum", "x1"], ["keep"])]
    body = helper.make_graph(nodes, "body", [value("i", I, []), value("keep_in", B, []), value("v", F, [3])],
                             [value("keep", B, []), value("next", F, [3])])
    return [helper.make_node("Loop", ["", "x2", "x0"], ["y0"], body=body)]


def scan(case_):
    """Running sum over the first axis."""
    nodes = [helper.make_node("Add", ["sum_in", "row"], ["sum"]), helper.make_node("Identity", ["sum"], ["out"])]
    body = helper.make_graph(nodes, "body", [value("sum_in", F, [4]), value("row", F, [4])],
                             [value("sum", F, [4]), value("out", F, [4])])
    return [helper.make_node("Scan", ["x0", "x1"], ["y0", "y1"], body=body, num_scan_inputs=1)]


graph_case("If-true", if_else, given(True, np.bool_), f32(3, 4))
graph_case("If-false", if_else, given(False, np.bool_), f32(3, 4))
graph_case("If-constant", if_else, const(True, np.bool_), f32(3, 4))
graph_case("Loop-count", loop, const(4, np.int64), f32(3), f32(3), results=2)
graph_case("Loop-count-runtime", loop, given(3, np.int64), f32(3), f32(3), results=2, dynamic=True)
graph_case("Loop-while", loop_while, given([1.0, 2.0, 3.0]), const(100.0), const(True, np.bool_))
graph_case("Scan-sum", scan, f32(4), f32(5, 4), results=2)
