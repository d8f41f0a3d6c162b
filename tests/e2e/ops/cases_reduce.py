"""Reductions over axes, scans, arg-reductions, sorting."""

import numpy as np

from case import bools, case, const, f16, f32, given, i32, i64, ints, positive, u8

REDUCE = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
          "ReduceLogSumExp", "ReduceSumSquare"]
AXES = [("first", [0]), ("middle", [1]), ("last", [-1]), ("two", [0, 2]), ("all", [0, 1, 2])]
for op in REDUCE:
    x = (lambda *shape: f32(*shape, low=0.5, high=1.5)) if op in ("ReduceProd", "ReduceLogSum") else f32
    for label, axes in AXES:
        for keep in (0, 1):
            name = f"{label}{'-keep' if keep else ''}"
            case(op, f"{name}-input", x(3, 4, 5), ints(*axes), opset=18, keepdims=keep)
            if op == "ReduceSum":
                case(op, name, x(3, 4, 5), ints(*axes), keepdims=keep)
            else:
                case(op, name, x(3, 4, 5), axes=axes, keepdims=keep)
    case(op, "default", x(3, 4, 5))
    case(op, "default-18", x(3, 4, 5), opset=18)
    case(op, "noop", x(3, 4), const([], np.int64), opset=18, noop_with_empty_axes=1)
    case(op, "vector", x(700 if op != "ReduceProd" else 40), keepdims=0)
    case(op, "wide", x(5, 301 if op != "ReduceProd" else 40), opset=18, keepdims=0)
    case(op, "rank5", x(2, 3, 2, 3, 4), ints(1, 3), opset=18, keepdims=0)
for op in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceMean"):
    case(op, "i32", i32(3, 4, low=-4, high=5), ints(1), opset=18, keepdims=0)
for op in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd"):
    case(op, "i64", i64(3, 4, low=-4, high=5), ints(0), opset=18, keepdims=1)
case("ReduceSum", "f16", f16(3, 64), ints(1), keepdims=0, tolerance=2e-2)
case("ReduceMean", "f16", f16(3, 64), axes=[1], keepdims=0, tolerance=2e-2)
case("ReduceMax", "f16", f16(3, 64), axes=[1], keepdims=0)
case("ReduceMax", "nan", given([[1.0, np.nan, 2.0], [1.0, 5.0, 2.0]]), axes=[1], reference=True)
case("ReduceMax", "infinite", given([[-np.inf, -np.inf], [np.inf, 0.0]]), axes=[1])
case("ReduceLogSumExp", "large", given([[100.0, 101.0], [-100.0, -101.0]]), axes=[1])
case("ReduceSum", "attribute-11", f32(3, 4, 5), opset=11, axes=[1], keepdims=0)
case("ReduceMax", "bool", bools(3, 8), ints(1), opset=20, keepdims=0)
case("ReduceMean", "spatial", f32(2, 8, 7, 7), axes=[2, 3], keepdims=1)
case("ReduceMean", "plane", f32(2, 3, 41, 53), axes=[2, 3], keepdims=1)
case("ReduceMax", "long-rows", i32(3, 4099), axes=[1], keepdims=0)
case("ReduceSum", "long-many", f32(1100, 67), ints(1), keepdims=0)
case("ReduceSum", "parts", i32(3, 40009), ints(1), keepdims=0)
case("ReduceMax", "parts-f16", f16(2, 40960), axes=[1], keepdims=0)
case("ReduceMin", "parts-columns", i32(1009, 3), axes=[0], keepdims=1)
case("ReduceMean", "parts-apart", f32(2, 7, 257, 53), axes=[0, 2, 3], keepdims=0, tolerance=1e-4)
case("ReduceSum", "apart", i32(5, 3, 1201), ints(0, 2), keepdims=0)

for op in ("ArgMax", "ArgMin"):
    for axis in (0, 1, -1):
        for keep in (0, 1):
            case(op, f"axis{axis}{'-keep' if keep else ''}", f32(4, 5, 6), axis=axis, keepdims=keep)
    case(op, "default", f32(4, 5))
    case(op, "ties", given([[1.0, 3.0, 3.0, 1.0], [2.0, 2.0, 2.0, 2.0]]), axis=1)
    case(op, "ties-last", given([[1.0, 3.0, 3.0, 1.0], [2.0, 2.0, 2.0, 2.0]]), axis=1, select_last_index=1)
    case(op, "i32", i32(4, 9), axis=1, keepdims=0)
    case(op, "long", f32(3, 1001), axis=1, keepdims=0)
    case(op, "parts-ties", i32(2, 70001, low=-9, high=9), axis=1)
    case(op, "parts-ties-last", i32(70001, 2, low=-9, high=9), axis=0, select_last_index=1)
    case(op, "parts-equal-last", given(np.full((2, 521), 3.0, np.float32)), axis=1, select_last_index=1)

for reverse in (0, 1):
    for exclusive in (0, 1):
        for axis in (0, 1):
            case("CumSum", f"axis{axis}-reverse{reverse}-exclusive{exclusive}", f32(4, 7), const(axis, np.int64),
                 reverse=reverse, exclusive=exclusive)
case("CumSum", "i32", i32(20), const(0, np.int32))
case("CumSum", "i64", i64(3, 20), const(-1, np.int64))
case("CumSum", "long", f32(2000), const(0, np.int64), tolerance=1e-3)
case("CumSum", "long-back", i32(2, 1031), const(1, np.int64), reverse=1, exclusive=1)
case("CumSum", "long-middle", i64(2, 601, 3), const(1, np.int64), exclusive=1)
for exclusive in (0, 1):
    case("CumSum", f"parts-exclusive{exclusive}", i32(2, 16411), const(1, np.int64), exclusive=exclusive)
    case("CumSum", f"parts-back-exclusive{exclusive}", i32(16411, 2), const(0, np.int64), exclusive=exclusive, reverse=1)
for exclusive in (0, 1):
    case("CumSum", f"steps-exclusive{exclusive}", i32(2, 5, 1301), const(1, np.int64), exclusive=exclusive,
         reverse=exclusive)
case("CumSum", "short-lines", i32(1030, 37), const(0, np.int64), reverse=1)
case("CumSum", "across", f32(3, 20, 19), const(1, np.int64))
case("CumSum", "across-lanes", f32(20, 32), const(0, np.int64), reverse=1)

LINE = np.where(np.arange(70) % 23 == 20, np.nan, np.arange(70) % 7).astype(np.float32)
for op in ("ArgMax", "ArgMin"):
    for last in (0, 1):
        case(op, f"equals-{last}", i32(3, 131, low=0, high=5), axis=1, select_last_index=last)
    case(op, "line", f32(1501), axis=0)
    case(op, "u8", u8(2, 515), axis=1)
case("ArgMax", "nan", given([LINE, np.roll(LINE, 30), np.zeros(70)]), axis=1, reference=True)
case("TopK", "last", f32(3, 10), ints(4), results=2)
case("TopK", "first-axis", f32(10, 3), ints(2), results=2, axis=0)
case("TopK", "smallest", f32(3, 10), ints(4), results=2, largest=0)
case("TopK", "all", f32(3, 6), ints(6), results=2)
case("TopK", "equals", i32(3, 700, low=0, high=9), ints(120), results=2)
case("TopK", "long", f32(2, 1000, 3), ints(33), results=2, axis=1, largest=0)
case("TopK", "longer-list", f32(2, 600), ints(200), results=2)
case("TopK", "most", i32(2, 2100, low=0, high=300), ints(1030), results=2)
case("TopK", "heap", i32(2, 1000, low=0, high=300), ints(11), results=2, largest=0)
case("TopK", "digits", f32(2, 5003), ints(97), results=2)
case("TopK", "digits-once", i32(2, 1000, low=0, high=300), ints(517), results=2, largest=0)
case("TopK", "digits-again", f32(20011), ints(499), results=2, axis=0, largest=0)
case("TopK", "digits-columns", i64(2, 3001, 3, low=-300, high=300), ints(251), results=2, axis=1)
case("TopK", "digits-bytes", u8(3001), ints(300), results=2, axis=0)
case("TopK", "one", f32(2, 50), ints(1), results=2)
case("TopK", "i64", i64(3, 10, low=-1000, high=1000), ints(3), results=2)
case("TopK", "ties", given([[1.0, 3.0, 3.0, 1.0, 3.0]]), ints(4), results=2)
case("TopK", "middle", f32(2, 7, 3), ints(3), results=2, axis=1)

for axis in (0, 1, -1):
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        case(op, f"axis{axis}", f32(3, 4, 5), axis=axis)
for op in ("Softmax", "LogSoftmax"):
    case(op, "default", f32(3, 10))
    case(op, "long", f32(2, 1003))
    case(op, "large", f32(4, 16, low=-200, high=200))
    case(op, "f16", f16(4, 16))
    case(op, "flattened-11", f32(3, 4, 5), opset=11, axis=1)
    case(op, "masked", given([[0.0, -np.inf, 1.0], [-3.4e38, -3.4e38, 0.0]]))
    case(op, "attention", f32(1, 4, 16, 16))
case("ReduceL2", "constant-axes", positive(6, 6), axes=[0], keepdims=0)
for op in ("ReduceSum", "ReduceMax", "ReduceLogSumExp"):  # rows that the lanes of a GPU share
    case(op, "long-keep", f32(3, 2, 150), ints(0, 2), keepdims=1, opset=18)
case("ReduceMin", "long-i32", i32(6, 150), ints(1), keepdims=0, opset=18)
case("ReduceSum", "long-f16", f16(3, 140), ints(1), keepdims=0, tolerance=3e-2)
