"""Sequences and optionals inside of a program: of known length, and of a length that only running tells."""

import numpy as np
from onnx import TensorProto, helper

from case import const, f32, given, graph_case, i64


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
