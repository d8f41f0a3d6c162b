"""One scalar function applied to every element: unary, binary, variadic, comparisons, logic, bits."""

import numpy as np
from onnx import TensorProto

from case import bools, case, const, f16, f32, given, graph_case, i32, i64, i8, positive, u8, via, weights

# Operator, and the range that its argument is drawn from.
UNARY = [("Abs", -2, 2), ("Acos", -1, 1), ("Acosh", 1, 5), ("Asin", -1, 1), ("Asinh", -5, 5), ("Atan", -5, 5),
         ("Atanh", -0.9, 0.9), ("Ceil", -5, 5), ("Cos", -20, 20), ("Cosh", -3, 3), ("Elu", -3, 3), ("Erf", -4, 4),
         ("Exp", -10, 10), ("Floor", -5, 5), ("HardSigmoid", -4, 4), ("HardSwish", -4, 4), ("Identity", -2, 2),
         ("LeakyRelu", -2, 2), ("Log", 0.01, 20), ("Neg", -2, 2), ("Reciprocal", 0.2, 3), ("Relu", -2, 2),
         ("Round", -5, 5), ("Selu", -3, 3), ("Sigmoid", -8, 8), ("Sign", -2, 2), ("Sin", -20, 20), ("Sinh", -3, 3),
         ("Softplus", -10, 10), ("Softsign", -5, 5), ("Sqrt", 0, 9), ("Tan", -1.4, 1.4), ("Tanh", -6, 6),
         ("ThresholdedRelu", -3, 3), ("Celu", -3, 3), ("Shrink", -2, 2)]
for op, low, high in UNARY:
    case(op, "", f32(3, 5, low=low, high=high))
    case(op, "long", f32(1003, low=low, high=high))
for op in ("Abs", "Neg", "Exp", "Tanh", "Erf", "Relu", "Sqrt"):
    case(op, "scalar", positive())
    case(op, "rank4", f32(2, 3, 5, 7, low=0.1))
for op in ("Abs", "Exp", "Relu", "Sigmoid", "Tanh", "Sqrt", "Neg"):
    case(op, "f16", f16(4, 33, low=0.1))
    graph_case(f"{op}-bf16", via(TensorProto.BFLOAT16, op), f32(4, 33, low=0.1), tolerance=2e-2)
for op in ("Abs", "Neg", "Sign"):
    case(op, "i32", i32(4, 9))
    case(op, "i64", i64(7))
case("Relu", "i32", i32(4, 9))
case("Abs", "i8", i8(5, 5, low=-127))
case("Mish", "", f32(3, 5), opset=18)
case("Mish", "far", f32(3, 50, low=-90.0, high=90.0), opset=18)
case("Mish", "f16", f16(3, 50), opset=18)
case("Gelu", "", f32(3, 50), opset=20)
case("Gelu", "tanh", f32(3, 50), opset=20, approximate="tanh")
case("Elu", "alpha", f32(4, 4), alpha=0.5)
case("Selu", "attributes", f32(4, 4), alpha=1.5, gamma=1.2)
case("Celu", "alpha", f32(4, 4), alpha=2.0)
case("LeakyRelu", "alpha", f32(4, 4), alpha=0.2)
case("HardSigmoid", "attributes", f32(4, 4), alpha=0.3, beta=0.6)
case("ThresholdedRelu", "alpha", f32(4, 4), alpha=0.5)
case("Shrink", "attributes", f32(4, 4), lambd=0.7, bias=0.2)
case("Round", "halves", given([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5]))
case("IsNaN", "", given([1.0, np.nan, np.inf, -np.inf, 0.0]))
case("IsInf", "", given([1.0, np.nan, np.inf, -np.inf, 0.0]))
case("IsInf", "positive", given([1.0, np.nan, np.inf, -np.inf, 0.0]), detect_negative=0)
case("IsInf", "negative", given([1.0, np.nan, np.inf, -np.inf, 0.0]), detect_positive=0)
case("Exp", "edges", given([-np.inf, -200.0, -87.5, 0.0, 88.5, 200.0, np.inf, np.nan]))
case("Log", "edges", given([0.0, 1e-38, 1.0, 3e38, np.inf, -1.0, np.nan]))
case("Tanh", "edges", given([-np.inf, -20.0, -1e-6, 0.0, 1e-6, 20.0, np.inf, np.nan]))
case("Sigmoid", "edges", given([-np.inf, -100.0, -1e-6, 0.0, 1e-6, 100.0, np.inf, np.nan]))
case("Erf", "edges", given([-np.inf, -5.0, -1e-6, 0.0, 1e-6, 5.0, np.inf, np.nan]))
case("Relu", "edges", given([-np.inf, -1.0, -0.0, 0.0, 1.0, np.inf]))
case("Dropout", "", f32(3, 4))
case("Not", "", bools(3, 7))
case("BitwiseNot", "i32", i32(3, 7), opset=18)
case("BitwiseNot", "u8", u8(3, 7), opset=18)

BINARY = ["Add", "Sub", "Mul", "Div"]
SHAPES = [("same", (3, 5), (3, 5)), ("row", (3, 5), (5,)), ("column", (3, 5), (3, 1)), ("scalar", (3, 5), ()),
          ("outer", (4, 1), (1, 6)), ("left", (5,), (2, 3, 5)), ("rank4", (2, 3, 4, 5), (3, 1, 5)),
          ("long", (1003,), (1003,))]
for op in BINARY:
    for label, left, right in SHAPES:
        case(op, label, f32(*left), f32(*right, low=0.5))
    case(op, "constant", f32(4, 6), weights(6))
    case(op, "i32", i32(3, 5), i32(3, 5, low=1))
    case(op, "i64", i64(3, 5), i64(5, low=1))
    case(op, "f16", f16(3, 5), f16(3, 5, low=0.5))
case("Add", "u8", u8(9, high=100), u8(9, high=100))
case("Mul", "i8", i8(9, low=-10, high=10), i8(9, low=-10, high=10))
case("Div", "i32-negative", given([-7, 7, -7, 7], np.int32), given([2, -2, -2, 2], np.int32))
case("Add", "twice-constant", const([1.0, 2.0]), const([3.0, 4.0]))
case("Pow", "", positive(3, 5), f32(3, 5))
case("Pow", "square", f32(3, 5), const(2.0))
case("Pow", "cube", f32(3, 5), const(3.0))
case("Pow", "root", positive(3, 5), const(0.5))
case("Pow", "int-exponent", f32(3, 5), const([2], np.int64))
case("Pow", "i32", i32(6, low=-4, high=5), const([3], np.int32))
for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32):
    ends = np.iinfo(dtype)
    # Quotients next to whole numbers: products of a divisor, one less and one more, up to the type's ends.
    over = [ends.max, ends.max - 1, ends.max // 3, ends.max // 3 * 3, ends.min, ends.min + 1, ends.max // 2 + 1, 6, 5, 7]
    by = [3, ends.max, 1, 2, ends.max - 1, 5, 7]
    pairs = np.array([(x, y) for x in over for y in by + [-3, -7] * (ends.min < 0)], dtype)
    for op in ("Div", "Mod"):
        case(op, f"ends-{np.dtype(dtype).name}", given(pairs[:, 0], dtype), given(pairs[:, 1], dtype))
case("Mod", "i32", i32(20), given([3, -3] * 10, np.int32))
case("Mod", "i64", i64(20), given([7, -5] * 10, np.int64))
case("Mod", "fmod-f32", f32(20, low=-9, high=9), positive(20), fmod=1)
case("Mod", "fmod-i32", i32(20), given([3, -3] * 10, np.int32), fmod=1)
case("Mod", "u8", u8(20), u8(20, low=1))
case("PRelu", "", f32(3, 5), f32(5))
case("PRelu", "channels", f32(2, 3, 4, 4), weights(3, 1, 1))
case("PRelu", "unsigned", given([1, 2**63 + 5, 2**64 - 1], np.uint64), given([3, 5, 7], np.uint64))
for op in ("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"):
    case(op, "f32", f32(4, 5), f32(4, 5))
    case(op, "i32", i32(40, low=0, high=4), i32(40, low=0, high=4))
    case(op, "broadcast", i64(4, 5, low=0, high=3), i64(5, low=0, high=3))
case("Equal", "bool", bools(20), bools(20))
case("Less", "u8", u8(30), u8(30))
case("Less", "nan", given([np.nan, 1.0, 2.0]), given([1.0, np.nan, 3.0]))
for op in ("And", "Or", "Xor"):
    case(op, "", bools(4, 5), bools(4, 5))
    case(op, "broadcast", bools(4, 5), bools(5))
for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
    case(op, "i32", i32(4, 5), i32(4, 5), opset=18)
    case(op, "u8", u8(4, 5), u8(5), opset=18)
case("BitShift", "left", u8(20), u8(20, high=8), direction="LEFT")
case("BitShift", "right", u8(20), u8(20, high=8), direction="RIGHT")
for op in ("Max", "Min"):
    case(op, "one", f32(3, 4))
    case(op, "two", f32(3, 4), f32(3, 4))
    case(op, "three", f32(3, 4), f32(4), f32())
    case(op, "i32", i32(3, 4), i32(3, 4))
    case(op, "i64", i64(3, 4), i64(4))
    case(op, "nan", given([np.nan, 1.0, 2.0]), given([1.0, np.nan, 3.0]))
for op in ("Sum", "Mean"):
    case(op, "one", f32(3, 4))
    case(op, "three", f32(3, 4), f32(4), f32(3, 1))
case("Clip", "both", f32(4, 5), const(-1.0), const(1.0))
case("Clip", "low", f32(4, 5), const(0.0))
case("Clip", "high", f32(4, 5), None, const(0.5))
case("Clip", "none", f32(4, 5))
case("Clip", "runtime", f32(4, 5), given(-0.5), given(0.5))
case("Clip", "i32", i32(4, 5), const(-10, np.int32), const(10, np.int32))
case("Clip", "attributes", f32(4, 5), opset=6, min=-1.0, max=1.0)
case("Where", "", bools(3, 5), f32(3, 5), f32(3, 5))
case("Where", "broadcast", bools(3, 1), f32(5), f32())
case("Where", "i64", bools(3, 5), i64(3, 5), i64(3, 5))
case("Where", "i32-constant", bools(7), i32(7), const(0, np.int32))
