"""Sequences and optionals inside of a program: of known length, and of a length that only running tells."""

import numpy as np
from onnx import TensorProto, helper, parser

from case import bools, chosen, const, f32, given, graph_case, i64, ints


def nodes(*rows):
    """(op, inputs, outputs[, attributes]) with names separated by blanks."""
    return lambda case: [helper.make_node(row[0], row[1].split(), row[2].split(), **(row[3] if len(row) > 3 else {}))
                         for row in rows]


def sequence(name, *rows, operands, **options):
    graph_case(f"Sequence-{name}", nodes(*rows), *operands, reference=True, **options)


CONSTRUCT = ("SequenceConstruct", "x0 x1 x2", "s")
THREE = [f32(2, 3), f32(4, 1), f32(1, 1)]
# Parts of a size that is an operand: how many there are is known at run time only.
SPLIT = ("SplitToSequence", "x0 x1", "s", {"axis": 1})
PARTS = [f32(3, 7, 2), given(3, np.int64)]

sequence("at", CONSTRUCT, ("SequenceAt", "s x3", "y0"), operands=[*THREE, const(-2, np.int64)])
sequence("at-any", CONSTRUCT, ("SequenceAt", "s x3", "y0"), operands=[*THREE, given(1, np.int64)], dynamic=True)
sequence("length", CONSTRUCT, ("SequenceLength", "s", "y0"), operands=THREE)
sequence("insert", CONSTRUCT, ("SequenceInsert", "s x2 x3", "t"), ("SequenceAt", "t x4", "y0"),
         operands=[*THREE, const(1, np.int64), const(2, np.int64)])
sequence("erase", CONSTRUCT, ("SequenceErase", "s x3", "t"), ("SequenceAt", "t x3", "y0"), ("SequenceLength", "t", "y1"),
         operands=[*THREE, const(0, np.int64)], results=2)
sequence("erase-last", CONSTRUCT, ("SequenceErase", "s", "t"), ("SequenceAt", "t x3", "y0"),
         operands=[*THREE, const(-1, np.int64)])
sequence("erase-any", CONSTRUCT, ("SequenceErase", "s x3", "t"), ("SequenceAt", "t x4", "y0"),
         operands=[*THREE, given(-3, np.int64), const(1, np.int64)], dynamic=True)
sequence("empty", ("SequenceEmpty", "", "e"), ("SequenceInsert", "e x0", "s"), ("SequenceInsert", "s x1 x2", "t"),
         ("SequenceAt", "t x2", "y0"), operands=[f32(2), f32(3), const(0, np.int64)])
sequence("split-any", SPLIT, ("SequenceAt", "s x2", "y0"), ("SequenceLength", "s", "y1"),
         operands=[*PARTS, given(-1, np.int64)], results=2, dynamic=True)
sequence("split-insert", SPLIT, ("SequenceAt", "s x2", "a"), ("SequenceInsert", "s a x2", "t"),
         ("SequenceAt", "t x3", "y0"), operands=[*PARTS, given(2, np.int64), given(3, np.int64)], dynamic=True)
sequence("split-join", ("SplitToSequence", "x0 x1", "s"), ("ConcatFromSequence", "s", "y0", {"axis": 0}),
         operands=[f32(7, 2), given(3, np.int64)], dynamic=True)
sequence("split-stack", ("SplitToSequence", "x0 x1", "s"), ("ConcatFromSequence", "s", "y0", {"axis": 1, "new_axis": 1}),
         operands=[f32(6, 2), given(2, np.int64)], dynamic=True)
sequence("parts", ("SplitToSequence", "x0 x1", "s", {"axis": -1}), ("ConcatFromSequence", "s", "y0", {"axis": 0}),
         operands=[f32(2, 6), const([2, 2, 2], np.int64)])
sequence("stack", ("SequenceConstruct", "x0 x1", "s"), ("ConcatFromSequence", "s", "y0", {"axis": -1, "new_axis": 1}),
         operands=[f32(2, 3), f32(2, 3)])
sequence("dynamic", ("SequenceConstruct", "x0 x1", "s"), ("ConcatFromSequence", "s", "y0", {"axis": 0}),
         operands=[f32("n", 3), f32("m", 3)], sizes=[{"n": 1, "m": 4}, {"n": 5, "m": 0}])


def twice_and_sum(case):
    body = helper.make_graph([helper.make_node("Add", ["a", "b"], ["c"]), helper.make_node("Shape", ["a"], ["d"])], "body",
                             [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "ab"],
                             [helper.make_tensor_value_info("c", TensorProto.FLOAT, None),
                              helper.make_tensor_value_info("d", TensorProto.INT64, None)])
    return [helper.make_node("SequenceConstruct", ["x0", "x1"], ["s"]),
            helper.make_node("SequenceMap", ["s", "x2"], ["t", "u"], body=body),
            helper.make_node("SequenceAt", ["t", "x3"], ["y0"]), helper.make_node("SequenceAt", ["u", "x3"], ["y1"])]


graph_case("Sequence-map", twice_and_sum, f32(2, 3), f32(4, 3), f32(3), const(1, np.int64), results=2, reference=True)


def branch(name, *inner):
    value = helper.make_tensor_sequence_value_info(f"{name}_s", TensorProto.FLOAT, None)
    return helper.make_graph(list(inner), name, [], [value])


def either_sequence(case):
    construct = [helper.make_node("SequenceConstruct", inputs, [f"{name}_s"])
                 for name, inputs in (("then", ["x1", "x2"]), ("else", ["x2"]))]
    return [helper.make_node("If", ["x0"], ["s"], then_branch=branch("then", construct[0]),
                             else_branch=branch("else", construct[1])),
            helper.make_node("SequenceAt", ["s", "x3"], ["y0"]), helper.make_node("SequenceLength", ["s"], ["y1"])]


for number, taken in enumerate([True, False]):
    graph_case(f"Sequence-if-{number}", either_sequence, given(taken, np.bool_), f32(2, 3), f32(4, 1),
               const(0, np.int64), results=2, dynamic=True, reference=True)

graph_case("Optional-tensor", nodes(("Optional", "x0", "o"), ("OptionalHasElement", "o", "y0"),
                                    ("OptionalGetElement", "o", "y1")), f32(3), results=2, opset=18)
graph_case("Optional-sequence", nodes(("SequenceConstruct", "x0 x1", "s"), ("Optional", "s", "o"),
                                      ("OptionalGetElement", "o", "t"), ("SequenceAt", "t x2", "y0")), i64(3), i64(2),
           const(1, np.int64), opset=18)


#
# Lengths that only a call knows: from a split, or from a loop
#


def program(name, text, *operands, **options):
    """Nodes in ONNX's text form."""
    made = list(parser.parse_graph(f"main () => () {{ {text} }}").node)
    graph_case(f"Sequence-{name}", lambda case: made, *operands, **options)


# A loop of x0 rounds, while `go` says so, in which member i is the first x2 + i rows of x1.
BUILD = """
    zero = Constant <value_ints = [0]> ()
    yes = Constant <value = bool {1}> ()
    none = SequenceEmpty ()
    s = Loop (x0, yes, none) <body = body (int64 i, bool c, seq(float[]) before) => (bool d, seq(float[]) after) {
        %s
        size = Add (i, x2)
        end = Unsqueeze (size, zero)
        rows = Slice (x1, zero, end)
        after = SequenceInsert (before, rows)
    }>
"""
EACH, FEWER = "d = Identity (c)", "three = Constant <value_int = 3> () less = Less (i, three) d = Identity (less)"
ROUNDS = [chosen("rounds", shape=[]), f32(6, 2), const(1, np.int64)]
COUNTS = [{"rounds": 1}, {"rounds": 5}]

program("build-join", BUILD % EACH + "y0 = ConcatFromSequence <axis = 0> (s) y1 = SequenceLength (s)", *ROUNDS, results=2,
        sizes=[*COUNTS, {"rounds": 0, "stops": "the sequence is empty"}])
program("build-while", BUILD % FEWER + "y0 = ConcatFromSequence <axis = 0> (s)", *ROUNDS, sizes=COUNTS)
program("build-fixed", BUILD % FEWER + "y0 = ConcatFromSequence <axis = 0> (s) y1 = SequenceLength (s)",
        const(5, np.int64), *ROUNDS[1:], results=2, dynamic=True)
program("build-many", BUILD % EACH + "y0 = SequenceLength (s) y1 = SequenceAt (s, x2)", const(300, np.int64), f32(6, 2),
        const(1, np.int64), results=2, dynamic=True)
program("build-rows", BUILD % EACH + "y0 = ConcatFromSequence <axis = 1> (s)", *ROUNDS[:2], const(6, np.int64),
        sizes=COUNTS)
program("build-stack", BUILD % EACH + "y0 = ConcatFromSequence <axis = -1, new_axis = 1> (s)", *ROUNDS[:2],
        const(6, np.int64), sizes=COUNTS)
program("build-at", BUILD % EACH + "y0 = SequenceAt (s, x3)", *ROUNDS, chosen("at", shape=[]),
        sizes=[{"rounds": 3, "at": -1}, {"rounds": 4, "at": 2},
               {"rounds": 2, "at": 2, "stops": "the position is not within the sequence"}])
program("build-erase", BUILD % EACH + "t = SequenceErase (s, x3) u = SequenceErase (t) y0 = ConcatFromSequence <axis = 0> (u)",
        *ROUNDS, chosen("at", shape=[]), sizes=[{"rounds": 3, "at": -3}, {"rounds": 5, "at": 2},
                                               {"rounds": 1, "at": 0, "stops": "the sequence is empty"}])
program("build-differs", BUILD % EACH + "y0 = ConcatFromSequence <axis = 0, new_axis = 1> (s)", *ROUNDS,
        sizes=[{"rounds": 1}, {"rounds": 2, "stops": "the members differ in shape"}])
program("map-built", BUILD % EACH + """
    t, u = SequenceMap (s, x3) <body = body (float[r, 2] a, float[2] b) => (float[r, 2] sum, int64[2] shape) {
        sum = Add (a, b)
        shape = Shape (a)
    }>
    y0 = ConcatFromSequence <axis = 0> (t)
    y1 = ConcatFromSequence <axis = 0, new_axis = 1> (u)
""", *ROUNDS, f32(2), results=2, reference=True, sizes=COUNTS)
program("map-two", """
    s = SplitToSequence <axis = 1> (x0, x2)
    t = SplitToSequence <axis = 1> (x1, x3)
    u = SequenceMap (s, t) <body = body (float[] a, float[] b) => (float[] c) {
        product = Mul (a, b)
        c = ReduceSum <keepdims = 0> (product)
    }>
    y0 = ConcatFromSequence <axis = 0, new_axis = 1> (u)
""", f32(2, 7), f32(2, 7), chosen("part", shape=[]), chosen("other", shape=[]), reference=True,
        sizes=[{"part": 3, "other": 3}, {"part": 7, "other": 7},
               {"part": 2, "other": 3, "stops": "the sequences differ in length"}])
# A queue: a member goes to the end when it is not used up, and leaves in front; there may be none.
program("queue", """
    yes = Constant <value = bool {1}> ()
    zero = Constant <value_int = 0> ()
    one = Constant <value_ints = [1]> ()
    end = Constant <value_ints = [100]> ()
    s = SequenceConstruct (x0, x1)
    t, y0 = Loop (x2, yes, s) <body = body (int64 i, bool c, seq(float[]) q) => (bool go, seq(float[]) r, float[] sum) {
        a = SequenceAt (q, zero)
        sum = ReduceSum <keepdims = 0> (a)
        p = SequenceErase (q, zero)
        rest = Slice (a, one, end)
        left = Size (rest)
        some = Greater (left, zero)
        r = If (some) <then_branch = more () => (seq(float[]) m) { m = SequenceInsert (p, rest) },
                       else_branch = none () => (seq(float[]) e) { e = Identity (p) }>
        length = SequenceLength (r)
        go = Greater (length, zero)
    }>
    y1 = SequenceLength (t)
""", f32(3), f32(2), chosen("rounds", shape=[]), results=2,
        sizes=[{"rounds": 2}, {"rounds": 4}, {"rounds": 9}])
program("nested", """
    yes = Constant <value = bool {1}> ()
    none = SequenceEmpty <dtype = 7> ()
    s = Loop (x0, yes, none) <body = outer (int64 i, bool c, seq(int64[]) a) => (bool d, seq(int64[]) b) {
        d = Identity (c)
        b = Loop (i, yes, a) <body = inner (int64 j, bool e, seq(int64[]) f) => (bool g, seq(int64[]) h) {
            g = Identity (e)
            k = Mul (i, j)
            h = SequenceInsert (f, k, j)
        }>
    }>
    y0 = ConcatFromSequence <axis = 0, new_axis = 1> (s)
""", chosen("rounds", shape=[]),
        sizes=[{"rounds": 2}, {"rounds": 5}])
program("either-empty", """
    s = If (x0) <then_branch = t () => (seq(float[]) a) { a = SplitToSequence (x1, x2) },
                 else_branch = e () => (seq(float[]) b) { b = SequenceEmpty () }>
    t = SequenceInsert (s, x3)
    y0 = ConcatFromSequence <axis = 1> (t)
""", bools(), f32(2, 3), const(2, np.int64), f32(2, 1), dynamic=True, reference=True)
program("split-entries", "s = SplitToSequence <axis = 1, keepdims = 0> (x0) y0 = SequenceAt (s, x1) y1 = SequenceLength (s)",
        f32(2, "n", 3), chosen("at", shape=[]), results=2, reference=True, sizes=[{"n": 3, "at": 1}, {"n": 7, "at": -1}])
program("split-scalars", "s = SplitToSequence <keepdims = 0> (x0) y0 = ConcatFromSequence <axis = 0, new_axis = 1> (s)",
        f32("n"), reference=True, sizes=[{"n": 1}, {"n": 5}])
program("split-sizes", """
    s = SplitToSequence <axis = 1> (x0, x1)
    y0 = SequenceAt (s, x2)
    y1 = ConcatFromSequence <axis = 1> (s)
""", f32(2, 7, 3), chosen("parts", shape=["k"]), const(1, np.int64), results=2, reference=True,
        sizes=[{"parts": [3, 4]}, {"parts": [0, 2, 0, 5]}, {"parts": [1, 1, 1, 1, 1, 1, 1]},
               {"parts": [3, 3], "stops": "the parts do not add up"},
               {"parts": [9, -2], "stops": "a part has a negative size"}])
# Values of several kinds go round, and some are collected.
program("carry-several", """
    yes = Constant <value = bool {1}> ()
    e = SequenceEmpty ()
    f = SequenceEmpty <dtype = 9> ()
    s, t, y2, y3 = Loop (x0, yes, e, f, x1) <body = body (int64 i, bool c, seq(float[]) q, seq(bool[]) p, float[4] a)
            => (bool d, seq(float[]) r, seq(bool[]) u, float[4] sum, float[4] minus) {
        d = Identity (c)
        sum = Add (a, x1)
        r = SequenceInsert (q, sum)
        high = Greater (sum, x1)
        u = SequenceInsert (p, high)
        minus = Neg (sum)
    }>
    y0 = ConcatFromSequence <axis = 0, new_axis = 1> (s)
    y1 = ConcatFromSequence <axis = 0> (t)
""", chosen("rounds", shape=[]), f32(4), results=4, sizes=COUNTS)
program("reset", """
    yes = Constant <value = bool {1}> ()
    two = Constant <value_int = 2> ()
    e = SequenceConstruct (x1)
    s = Loop (x0, yes, e) <body = body (int64 i, bool c, seq(float[]) q) => (bool d, seq(float[]) r) {
        d = Identity (c)
        third = Equal (i, two)
        p = If (third) <then_branch = t () => (seq(float[]) u) { u = SequenceEmpty () },
                        else_branch = f () => (seq(float[]) v) { v = Identity (q) }>
        r = SequenceInsert (p, x1)
    }>
    y0 = SequenceLength (s)
""", chosen("rounds", shape=[]), f32(4), sizes=COUNTS)
