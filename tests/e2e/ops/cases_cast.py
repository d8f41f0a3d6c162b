"""Conversions between types."""

import numpy as np
from onnx import TensorProto, helper

from case import Given, case, f32, given, graph_case, i32

TYPES = {"f16": (np.float16, TensorProto.FLOAT16), "f32": (np.float32, TensorProto.FLOAT),
         "i8": (np.int8, TensorProto.INT8), "u8": (np.uint8, TensorProto.UINT8),
         "i16": (np.int16, TensorProto.INT16), "u16": (np.uint16, TensorProto.UINT16),
         "i32": (np.int32, TensorProto.INT32), "u32": (np.uint32, TensorProto.UINT32),
         "i64": (np.int64, TensorProto.INT64), "bool": (np.bool_, TensorProto.BOOL)}
VALUES = {"f": [-3.7, -1.5, -0.2, 0.0, 0.4, 1.5, 2.5, 100.3], "i": [-100, -3, -1, 0, 1, 2, 77, 127],
          "u": [0, 1, 2, 3, 77, 127, 200, 255], "b": [True, False, False, True]}
POSITIVE = [0.0, 0.4, 1.5, 2.5, 100.3]
for source, (source_type, _) in TYPES.items():
    kind = np.dtype(source_type).kind
    for target, (target_type, code) in TYPES.items():
        values = VALUES[kind]
        if kind == "f" and np.dtype(target_type).kind == "u":
            values = POSITIVE
        if source != target:
            case("Cast", f"{source}-{target}", Given(np.array(values, source_type)), to=code)
case("Cast", "same", f32(3, 4), to=TensorProto.FLOAT)
case("CastLike", "", f32(3, 4), i32(2))


def round_trip(code):
    """f32 to a narrow type and back: only the rounding shows."""
    return lambda case_: [helper.make_node("Cast", ["x0"], ["n"], to=code),
                          helper.make_node("Cast", ["n"], ["y0"], to=TensorProto.FLOAT)]


EDGES = [0.0, -0.0, 1.0, -1.0, 1.00390625, 1.01171875, 3.1415927, 65504.0, 65520.0, 1e-8, 6e-8, 1e38, 3.4e38, -2.71828,
         np.inf, -np.inf, np.nan]
graph_case("Cast-f16-round-trip", round_trip(TensorProto.FLOAT16), given(EDGES))
graph_case("Cast-bf16-round-trip", round_trip(TensorProto.BFLOAT16), given(EDGES))
SMALL = [0.0, 1.0, -1.0, 1.06, 1.19, 3.1, 17.0, 100.0, 240.0, -0.3, 0.01, 0.002]
graph_case("Cast-f8e4m3fn-round-trip", round_trip(TensorProto.FLOAT8E4M3FN), given(SMALL), opset=19)
graph_case("Cast-f8e5m2-round-trip", round_trip(TensorProto.FLOAT8E5M2), given(SMALL), opset=19)
graph_case("Cast-f64-round-trip", round_trip(TensorProto.DOUBLE), given(SMALL))


def between(first, second):
    """f32 through two narrow types and back."""
    return lambda case_: [helper.make_node("Cast", ["x0"], ["n"], to=first),
                          helper.make_node("Cast", ["n"], ["m"], to=second),
                          helper.make_node("Cast", ["m"], ["y0"], to=TensorProto.FLOAT)]


# Each lacks the other's largest number.
graph_case("Cast-f8e4m3fn-f8e5m2", between(TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E5M2), given(SMALL), opset=19)
graph_case("Cast-f8e5m2-f8e4m3fn", between(TensorProto.FLOAT8E5M2, TensorProto.FLOAT8E4M3FN),
           given([*SMALL, 448.0, 57344.0, -57344.0, 1e6]), opset=19)
