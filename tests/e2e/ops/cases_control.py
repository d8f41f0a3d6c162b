"""Control flow: If, Loop, Scan, with captured values."""

import numpy as np
from onnx import TensorProto, helper

from case import chosen, const, f32, given, graph_case

F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def if_else(case_):
    """x1 is captured by both branches."""
    then = helper.make_graph([helper.make_node("Exp", ["x1"], ["a"])], "then", [], [value("a", F, [3, 4])])
    other = helper.make_graph([helper.make_node("Neg", ["x1"], ["b"])], "else", [], [value("b", F, [3, 4])])
    return [helper.make_node("If", ["x0"], ["y0"], then_branch=then, else_branch=other)]


def if_unkinded(case_):
    """The condition is one value by its run-time size, and a branch's result has a type that says nothing."""
    nothing = helper.make_empty_tensor_value_info("b")
    nothing.type.SetInParent()
    then = helper.make_graph([helper.make_node("Exp", ["x1"], ["a"])], "then", [], [value("a", F, [3, 4])])
    other = helper.make_graph([helper.make_node("Neg", ["x1"], ["b"])], "else", [], [nothing])
    return [helper.make_node("Greater", ["x0", "x2"], ["condition"]),
            helper.make_node("If", ["condition"], ["y0"], then_branch=then, else_branch=other)]


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
graph_case("If-dynamic-condition", if_unkinded, f32("n"), f32(3, 4), const(0.0), sizes=[{"n": 1}])
graph_case("Loop-count", loop, const(4, np.int64), f32(3), f32(3), results=2)
graph_case("Loop-count-runtime", loop, given(3, np.int64), f32(3), f32(3), results=2, dynamic=True)
graph_case("Loop-while", loop_while, given([1.0, 2.0, 3.0]), const(100.0), const(True, np.bool_))
graph_case("Scan-sum", scan, f32(4), f32(5, 4), results=2)


def if_sizes(case_):
    """x0 chooses between what is not zero in x1 and a part of x2; both lengths are found inside."""
    then = helper.make_graph([helper.make_node("NonZero", ["x1"], ["places"]),
                              helper.make_node("Transpose", ["places"], ["rows"]),
                              helper.make_node("GatherND", ["x1", "rows"], ["a"])],
                             "then", [], [value("a", F, ["k"])])
    other = helper.make_graph([helper.make_node("Slice", ["x1", "x2", "x3"], ["b"])], "else", [],
                              [value("b", F, ["l"])])
    return [helper.make_node("If", ["x0"], ["chosen"], then_branch=then, else_branch=other),
            helper.make_node("Mul", ["chosen", "chosen"], ["y0"])]


def if_outer_sizes(case_):
    """The branches give values of other lengths."""
    then = helper.make_graph([helper.make_node("Exp", ["x1"], ["a"])], "then", [], [value("a", F, [3])])
    other = helper.make_graph([helper.make_node("Neg", ["x2"], ["b"])], "else", [], [value("b", F, [5])])
    return [helper.make_node("If", ["x0"], ["y0"], then_branch=then, else_branch=other)]


def growing(case_):
    """x0 rounds: x1 grows by x2 at the end and by one element in front; the sum of all is collected."""
    nodes = [helper.make_node("Identity", ["keep_in"], ["keep"]), helper.make_node("Concat", ["v", "x2"], ["more"], axis=0),
             helper.make_node("ReduceSum", ["more"], ["sum"], keepdims=1),
             helper.make_node("Concat", ["sum", "more"], ["next"], axis=0)]
    body = helper.make_graph(nodes, "body", [value("i", I, []), value("keep_in", B, []), value("v", F, ["n"])],
                             [value("keep", B, []), value("next", F, ["m"]), value("sum", F, [1])])
    return [helper.make_node("Loop", ["x0", "", "x1"], ["y0", "y1"], body=body)]


def changing_places(case_):
    """Two values of different lengths change places in every round, and one grows."""
    nodes = [helper.make_node("Identity", ["keep_in"], ["keep"]), helper.make_node("Concat", ["b", "b"], ["grown"], axis=0),
             helper.make_node("Identity", ["a"], ["same"])]
    body = helper.make_graph(nodes, "body", [value("i", I, []), value("keep_in", B, []), value("a", F, ["n"]),
                                             value("b", F, ["m"])],
                             [value("keep", B, []), value("grown", F, ["k"]), value("same", F, ["l"])])
    return [helper.make_node("Loop", ["x0", "", "x1", "x2"], ["y0", "y1"], body=body)]


def collecting(case_):
    """Collects squares until their sum passes x1: how many there are is known at the end only."""
    nodes = [helper.make_node("Mul", ["v", "v"], ["square"]), helper.make_node("Add", ["v", "x2"], ["next"]),
             helper.make_node("ReduceSum", ["square"], ["sum"], keepdims=0), helper.make_node("Less", ["sum", "x1"], ["keep"])]
    body = helper.make_graph(nodes, "body", [value("i", I, []), value("keep_in", B, []), value("v", F, ["n"])],
                             [value("keep", B, []), value("next", F, ["n"]), value("square", F, ["n"])])
    return [helper.make_node("Loop", ["x3", "x4", "x0"], ["y0", "y1"], body=body)]


def shrinking(case_):
    """Rows of x1, one element less each, until x0 rounds are over: Loop over a computed slice."""
    nodes = [helper.make_node("Identity", ["keep_in"], ["keep"]), helper.make_node("Slice", ["v", "x2", "x3"], ["next"])]
    body = helper.make_graph(nodes, "body", [value("i", I, []), value("keep_in", B, []), value("v", F, ["n"])],
                             [value("keep", B, []), value("next", F, ["m"])])
    return [helper.make_node("Loop", ["x0", "", "x1"], ["y0"], body=body)]


def framing(backwards):
    def build(case_):
        """Frames of five columns of x1, of which three are the last frame's; rows of any number, collected in order or not."""
        nodes = [helper.make_node("Concat", ["last", "part"], ["frame"], axis=1),
                 helper.make_node("Slice", ["frame", "x2", "x3", "x4"], ["next"])]
        body = helper.make_graph(nodes, "body", [value("last", F, ["n", 3]), value("part", F, ["n", 2])],
                                 [value("next", F, ["n", 3]), value("frame", F, ["n", 5])])
        return [helper.make_node("Scan", ["x0", "x1"], ["y0", "y1"], body=body, num_scan_inputs=1, scan_input_axes=[1],
                                 scan_output_axes=[1], scan_output_directions=[backwards])]
    return build


def distances(case_):
    """The distance of each row of x0 from each of x1, a row of x1 at a time."""
    nodes = [helper.make_node("Identity", ["all"], ["same"]), helper.make_node("Sub", ["all", "one"], ["apart"]),
             helper.make_node("ReduceSumSquare", ["apart"], ["distance"], axes=[1], keepdims=0)]
    body = helper.make_graph(nodes, "body", [value("all", F, None), value("one", F, None)],
                             [value("same", F, None), value("distance", F, None)])
    return [helper.make_node("Scan", ["x0", "x1"], ["", "y0"], body=body, num_scan_inputs=1)]


BOTH = [{"which": True}, {"which": False}]
for back_ in (0, 1):
    graph_case(f"Scan-frames-{back_}", framing(back_), f32("n", 3), f32("n", "t", 2), const([2], np.int64), const([99], np.int64),
               const([1], np.int64), results=2, sizes=[{"n": 2, "t": 4}, {"n": 1, "t": 1}])
graph_case("Scan-distances", distances, f32("n", "k"), f32("m", "k"), sizes=[
    {"n": 4, "k": 3, "m": 7}, {"n": 1, "k": 5, "m": 1}])
graph_case("If-sizes", if_sizes, chosen("which", np.bool_), given([0, 1, 2, 0, 3, 4]), chosen("from"), chosen("to"),
           sizes=[{"which": w, "from": [a], "to": [b]} for w, a, b in (
               (True, 0, 1), (False, 1, 3), (False, -2, 99), (False, 4, 2), (True, 0, 0))])
graph_case("If-lengths", if_outer_sizes, chosen("which", np.bool_), f32(3), f32(5), sizes=BOTH)
ROUNDS = [{"rounds": count, "n": n} for count, n in ((0, 2), (1, 1), (4, 3), (2, 0))]
graph_case("Loop-growing", growing, chosen("rounds"), f32("n"), f32(2), results=2, sizes=ROUNDS)
graph_case("Loop-growing-from-one", growing, chosen("rounds"), f32(1), f32(2), results=2, sizes=ROUNDS)
graph_case("Loop-changing-places", changing_places, chosen("rounds"), f32("n"), f32(2), results=2, sizes=ROUNDS)
graph_case("Loop-shrinking", shrinking, chosen("rounds"), f32("n"), const([1], np.int64), const([1 << 40], np.int64),
           sizes=[{"rounds": 3, "n": 7}, {"rounds": 3, "n": 2}, {"rounds": 0, "n": 1}])
COLLECTED = [{"n": 2, "least": 50.0, "most": 1 << 62, "go": True}, {"n": 2, "least": 50.0, "most": 3, "go": True},
             {"n": 1, "least": 0.0, "most": 9, "go": True}]
graph_case("Loop-collecting", collecting, f32("n", low=1, high=2), chosen("least", np.float32), const(1.5), chosen("most"),
           chosen("go", np.bool_), results=2, sizes=COLLECTED)
graph_case("Loop-collecting-fixed", collecting, f32(2, low=1, high=2), chosen("least", np.float32), const(1.5),
           chosen("most"), chosen("go", np.bool_), results=2, sizes=COLLECTED)


def scan_sizes(case_):
    """Rows of x1 times a carried sum, backwards into the result, in pieces of x2's length."""
    nodes = [helper.make_node("Add", ["sum_in", "row"], ["sum"]), helper.make_node("Slice", ["sum", "x2", "x3"], ["out"])]
    body = helper.make_graph(nodes, "body", [value("sum_in", F, ["n"]), value("row", F, ["n"])],
                             [value("sum", F, ["n"]), value("out", F, ["k"])])
    return [helper.make_node("Scan", ["x0", "x1"], ["y0", "y1"], body=body, num_scan_inputs=1, scan_output_directions=[1],
                             scan_output_axes=[1])]


def if_ranks(case_):
    """The program declares rank 1; the other branch gives a matrix, which must not be taken."""
    then = helper.make_graph([helper.make_node("ReduceSum", ["x1", "x2"], ["a"], keepdims=0)], "then", [],
                             [value("a", F, [4])])
    other = helper.make_graph([helper.make_node("Neg", ["x1"], ["b"])], "else", [], [value("b", F, [3, 4])])
    return [helper.make_node("If", ["x0"], ["y0"], then_branch=then, else_branch=other)]


def if_one_value(case_):
    """One value, as a scalar or as a vector of one."""
    then = helper.make_graph([helper.make_node("ReduceSum", ["x1"], ["a"], keepdims=0)], "then", [], [value("a", F, [])])
    other = helper.make_graph([helper.make_node("Slice", ["x1", "x2", "x3"], ["b"])], "else", [], [value("b", F, [1])])
    return [helper.make_node("If", ["x0"], ["one"], then_branch=then, else_branch=other),
            helper.make_node("Mul", ["one", "x1"], ["y0"])]


graph_case("Scan-sizes", scan_sizes, f32("n"), f32("m", "n"), chosen("from"), chosen("to"), results=2, sizes=[
    {"n": 4, "m": 5, "from": [1], "to": [3]}, {"n": 2, "m": 1, "from": [0], "to": [9]}, {"n": 3, "m": 2, "from": [1], "to": [2]}])
graph_case("If-ranks", if_ranks, chosen("which", np.bool_), f32(3, 4), const([0], np.int64), sizes=[
    {"which": True}, {"which": False, "stops": "another rank than the program takes"}])
graph_case("If-one-value", if_one_value, chosen("which", np.bool_), f32(4), const([2], np.int64), const([3], np.int64),
           sizes=BOTH)


def if_any_rank(case_):
    """A vector or a matrix, of which only the elements matter; and a result of each branch that nothing uses."""
    then = helper.make_graph([helper.make_node("ReduceMax", ["x1"], ["a"], axes=[0], keepdims=0),
                              helper.make_node("Shape", ["x1"], ["s"])], "then", [], [value("a", F, None), value("s", I, None)])
    other = helper.make_graph([helper.make_node("Neg", ["x1"], ["b"]), helper.make_node("Exp", ["x1"], ["e"])],
                              "else", [], [value("b", F, None), value("e", F, None)])
    return [helper.make_node("If", ["x0"], ["v", "unused"], then_branch=then, else_branch=other),
            helper.make_node("Relu", ["v"], ["w"]), helper.make_node("Reshape", ["w", "x2"], ["y0"], allowzero=1)]


def if_asked_rank(case_):
    """The branches differ in rank, and a transposition says which is meant."""
    then = helper.make_graph([helper.make_node("ReduceMax", ["x1"], ["a"], axes=[0], keepdims=0)], "then", [], [value("a", F, None)])
    other = helper.make_graph([helper.make_node("Neg", ["x1"], ["b"])], "else", [], [value("b", F, None)])
    return [helper.make_node("If", ["x0"], ["v"], then_branch=then, else_branch=other),
            helper.make_node("Transpose", ["v"], ["y0"], perm=[1, 0])]


graph_case("If-any-rank", if_any_rank, chosen("which", np.bool_), f32(3, 4), const([-1, 2], np.int64),
           sizes=BOTH)
graph_case("If-asked-rank", if_asked_rank, chosen("which", np.bool_), f32(3, "n"), sizes=[
    {"which": False, "n": 4}, {"which": True, "n": 4, "stops": "another rank than the program takes"}])


def if_rest(*rest):
    """The branches differ in rank, which only what follows in each of them can tell."""
    def build(case_):
        then = helper.make_graph([helper.make_node("ReduceMax", ["x1"], ["a"], axes=[0], keepdims=0)], "then", [], [value("a", F, None)])
        other = helper.make_graph([helper.make_node("Neg", ["x1"], ["b"])], "else", [], [value("b", F, None)])
        return [helper.make_node("If", ["x0"], ["v"], then_branch=then, else_branch=other), *rest]
    return build


graph_case("If-rest-both", if_rest(helper.make_node("Gather", ["v", "x2"], ["p"], axis=-1),
                                   helper.make_node("ReduceSum", ["p"], ["y0"], keepdims=0)),
           chosen("which", np.bool_), f32(3, "n"), const([2, 0], np.int64),
           sizes=[{"which": False, "n": 4}, {"which": True, "n": 5}])
graph_case("If-rest-one", if_rest(helper.make_node("Sin", ["v"], ["u"]),
                                  helper.make_node("ReduceMax", ["u"], ["y0"], axes=[1], keepdims=0)),
           chosen("which", np.bool_), f32(3, "n"), sizes=[
    {"which": False, "n": 4}, {"which": True, "n": 4, "stops": "another rank than the program takes"}])


def nested_growing(depth):
    """Loops in loops, of which the innermost makes what all of them carry longer."""
    def build(case_):
        nodes = [helper.make_node("Concat", ["v0", "x2"], ["w0"], axis=0)]
        for level in range(depth):
            body = helper.make_graph(
                [*nodes, helper.make_node("Identity", [f"keep_in{level}"], [f"keep{level}"])], f"body{level}",
                [value(f"i{level}", I, []), value(f"keep_in{level}", B, []), value(f"v{level}", F, ["n"])],
                [value(f"keep{level}", B, []), value(f"w{level}", F, ["m"])])
            start, end = (f"v{level + 1}", f"w{level + 1}") if level + 1 < depth else ("x1", "y0")
            nodes = [helper.make_node("Loop", ["x0", "", start], [end], body=body)]
        return nodes

    return build


graph_case("Loop-growing-nested", nested_growing(14), chosen("rounds"), f32("n"), f32(2),
           sizes=[{"rounds": 1, "n": 3}, {"rounds": 0, "n": 2}])


def scan_entries(case_):
    """A running sum of each entry of a batch, as opset 8 has it."""
    nodes = [helper.make_node("Add", ["sum_in", "row"], ["sum"]), helper.make_node("Identity", ["sum"], ["out"])]
    body = helper.make_graph(nodes, "body", [value("sum_in", F, ["k"]), value("row", F, ["k"])],
                             [value("sum", F, ["k"]), value("out", F, ["k"])])
    return [helper.make_node("Scan", ["", "x0", "x1"], ["y0", "y1"], body=body, num_scan_inputs=1, directions=[1])]


graph_case("Scan-batch", scan_entries, f32("b", 4), f32("b", "n", 4), results=2, opset=8,
           sizes=[{"b": 3, "n": 5}, {"b": 1, "n": 1}])


def scan_lengths(case_):
    """The same of sequences of other lengths, of which parts are collected, backwards."""
    nodes = [helper.make_node("Add", ["sum_in", "row"], ["sum"]), helper.make_node("Identity", ["sum"], ["out"]),
             helper.make_node("Slice", ["sum"], ["part"], starts=[1], ends=[3])]
    body = helper.make_graph(nodes, "body", [value("sum_in", F, ["k"]), value("row", F, ["k"])],
                             [value("sum", F, ["k"]), value("out", F, ["k"]), value("part", F, ["l"])])
    return [helper.make_node("Scan", ["x2", "x0", "x1"], ["y0", "y1", "y2"], body=body, num_scan_inputs=1,
                             directions=[len(case_.sizes) - 2])]


LENGTHS = [{"b": 3, "n": 5, "k": 4, "lengths": [5, 2, 3]}, {"b": 1, "n": 4, "k": 2, "lengths": [1]}]
for direction in (0, 1):
    graph_case(f"Scan-batch-lengths-{direction}", scan_lengths, f32("b", "k"), f32("b", "n", "k"),
               chosen("lengths", np.int64, ("b",)), results=3, opset=8,
               sizes=LENGTHS + [{"b": 1, "n": 4, "k": 2, "lengths": [4]}] * direction)
