"""Movement: reshaping, transposing, slicing, padding, joining, repeating, resizing, shapes as data."""

import numpy as np
from onnx import TensorProto, helper

from case import bools, case, const, f16, f32, given, graph_case, i32, i64, ints, u8, weights

for perm in ([1, 0], [0, 1]):
    case("Transpose", "".join(map(str, perm)), f32(5, 7), perm=perm)
for perm in ([0, 2, 1], [2, 1, 0], [1, 0, 2], [1, 2, 0]):
    case("Transpose", "".join(map(str, perm)), f32(3, 4, 5), perm=perm)
for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 3, 1, 2], [3, 2, 1, 0]):
    case("Transpose", "".join(map(str, perm)), f32(2, 3, 4, 5), perm=perm)
case("Transpose", "default", f32(3, 4, 5))
case("Transpose", "large", f32(70, 130), perm=[1, 0])
case("Transpose", "i64", i64(4, 6), perm=[1, 0])
case("Transpose", "squares", f32(3, 37, 53), perm=[0, 2, 1])
case("Transpose", "channels", f32(2, 5, 18, 33), perm=[0, 3, 1, 2])
case("Transpose", "u8-squares", u8(40, 23), perm=[1, 0])
case("Transpose", "few", i64(7, 5, 21), perm=[2, 1, 0])
case("Transpose", "u8", u8(33, 17), perm=[1, 0])
case("Transpose", "bool", bools(5, 6), perm=[1, 0])
case("Transpose", "f16", f16(5, 6), perm=[1, 0])

for label, shape in (("flat", [60]), ("split", [3, 2, 10]), ("minus-one", [-1, 10]), ("zero", [0, -1]),
                     ("rank6", [1, 3, 2, 2, 1, 5])):
    case("Reshape", label, f32(3, 4, 5), ints(*shape))
case("Reshape", "scalar", f32(1, 1), const([], np.int64))
case("Reshape", "from-scalar", f32(), ints(1, 1))
case("Reshape", "i64", i64(4, 6), ints(3, 8))
for axis in (0, 1, 2, 3, -1):
    case("Flatten", f"axis{axis}", f32(2, 3, 4), axis=axis)
case("Squeeze", "axes", f32(1, 3, 1, 5), ints(0, 2))
case("Squeeze", "negative", f32(1, 3, 1), ints(-1))
case("Squeeze", "all", f32(1, 3, 1, 5))
case("Squeeze", "attribute-11", f32(1, 3, 1, 5), opset=11, axes=[2])
case("Unsqueeze", "axes", f32(3, 5), ints(0, 2))
case("Unsqueeze", "negative", f32(3, 5), ints(-1))
case("Unsqueeze", "attribute-11", f32(3, 5), opset=11, axes=[1])
case("Expand", "row", f32(5), ints(3, 5))
case("Expand", "column", f32(3, 1), ints(3, 5))
case("Expand", "both-ways", f32(3, 1), ints(2, 1, 6))
case("Expand", "scalar", f32(), ints(2, 3))
case("Expand", "i64", i64(1, 4), ints(3, 4))
case("Tile", "", f32(2, 3), ints(2, 3))
case("Tile", "rank3", f32(1, 2, 3), ints(3, 1, 2))
case("Tile", "i32", i32(4), ints(3))
case("Tile", "wide", f32(5, 37), ints(2, 3))
case("Tile", "sizes", f32("n", "m"), ints(2, 3), sizes=[{"n": 3, "m": 41}, {"n": 1, "m": 5}])
case("Identity", "i64", i64(4, 5))
case("Identity", "bool", bools(4, 5))

for axis in (0, 1, -1):
    case("Concat", f"axis{axis}", f32(2, 3, 4), f32(2, 3, 4), axis=axis)
case("Concat", "different", f32(2, 3), f32(2, 5), f32(2, 1), axis=1)
case("Concat", "constant", weights(1, 1, 8), f32(1, 6, 8), axis=1)
case("Concat", "one", f32(2, 3), axis=0)
case("Concat", "wide", f32(3, 17), f32(3, 1), f32(3, 40), f32(3, 7), axis=1)
case("Concat", "i64", i64(3), i64(2), axis=0)
case("Concat", "many", *[f32(2, 3) for _ in range(9)], axis=0)
case("Split", "equal", f32(6, 4), results=3, axis=0)
case("Split", "sizes", f32(4, 9), ints(2, 3, 4), results=3, axis=1)
case("Split", "num-outputs-18", f32(7, 4), opset=18, results=3, axis=0, num_outputs=3)
case("Split", "attribute-11", f32(4, 9), opset=11, results=2, axis=1, split=[4, 5])
case("Split", "negative-axis", f32(2, 12), results=3, axis=-1)

SLICES = [("simple", (8, 9), [1, 2], [5, 7], [0, 1], None), ("step", (8, 9), [0, 1], [8, 9], [0, 1], [2, 3]),
          ("negative", (8, 9), [-5], [-1], [1], None), ("reverse", (8, 9), [-1], [-100], [0], [-1]),
          ("reverse-step", (8, 9), [7, 8], [0, 1], [0, 1], [-2, -3]), ("clamped", (8, 9), [3], [1000], [0], None),
          ("to-the-end", (8, 9), [2], [2**63 - 1], [1], None), ("empty", (8, 9), [4], [4], [0], None),
          ("negative-axis", (3, 8, 9), [1], [4], [-2], None)]
for label, shape, starts, ends, axes, steps in SLICES:
    operands = [f32(*shape), ints(*starts), ints(*ends), ints(*axes)] + ([ints(*steps)] if steps else [])
    case("Slice", label, *operands)
for step in (2, 3, 4, -1, -3):
    case("Slice", f"step{step}-wide", f32(2, 203), ints(-1 if step < 0 else 1), ints(-999 if step < 0 else 999), ints(1),
         ints(step))
case("Slice", "empty-backwards", f32(3, 0, 4), ints(-1, -1), ints(-2**63, -2**63), ints(0, 1), ints(-1, -1))
case("Slice", "no-axes", f32(5, 6), ints(1, 2), ints(4, 5))
case("Slice", "attributes-9", f32(5, 6), opset=9, starts=[1, 2], ends=[4, 6], axes=[0, 1])
case("Slice", "i64", i64(10), ints(2), ints(8), ints(0), ints(2))
case("Slice", "i32-indices", f32(10), const([2], np.int32), const([8], np.int32), const([0], np.int32))

for mode in ("constant", "reflect", "edge"):
    case("Pad", mode, f32(4, 5), ints(1, 2, 2, 1), mode=mode)
    case("Pad", f"{mode}-rank4", f32(1, 2, 4, 4), ints(0, 0, 1, 2, 0, 0, 2, 1), mode=mode)
case("Pad", "wrap", f32(4, 5), ints(1, 2, 2, 1), mode="wrap", opset=19)
for mode in ("constant", "reflect", "edge", "wrap"):
    case("Pad", f"{mode}-wide", f32(3, 67), ints(0, 5, 2, 19), mode=mode, opset=19)
    case("Pad", f"{mode}-wide-sizes", f32("n", "m"), ints(0, 5, 2, 19), mode=mode, opset=19,
         sizes=[{"n": 3, "m": 67}, {"n": 4, "m": 20}])
case("Pad", "cut", f32(3, 70), ints(1, -7, 0, 3), mode="reflect")
case("Pad", "value", f32(4, 5), ints(1, 0, 0, 2), const(3.5))
case("Pad", "negative", f32(6, 7), ints(-1, 2, -2, 0))
case("Pad", "axes-18", f32(4, 5, 6), ints(1, 2), const(0.0), ints(1), opset=18)
case("Pad", "i64", i64(4, 5), ints(1, 1, 1, 1), const(7, np.int64))
case("Pad", "attribute-2", f32(4, 5), opset=2, pads=[1, 2, 0, 1], value=1.5)

for upper in (0, 1):
    case("Trilu", f"upper{upper}", f32(5, 6), upper=upper)
    case("Trilu", f"upper{upper}-k", f32(2, 5, 5), const(1, np.int64), upper=upper)
    case("Trilu", f"upper{upper}-negative-k", f32(5, 5), const(-2, np.int64), upper=upper)
case("Trilu", "i64", i64(4, 4), upper=0)
case("DepthToSpace", "dcr", f32(1, 8, 3, 4), blocksize=2)
case("DepthToSpace", "crd", f32(1, 8, 3, 4), blocksize=2, mode="CRD")
case("SpaceToDepth", "", f32(1, 2, 4, 6), blocksize=2)
case("ReverseSequence", "", f32(5, 4), given([1, 2, 3, 4], np.int64), time_axis=0, batch_axis=1)
case("EyeLike", "", f32(4, 5))
case("EyeLike", "k", f32(4, 5), k=1, dtype=TensorProto.INT64)
case("Compress", "axis", f32(5, 3), const([True, False, True, False, True], np.bool_), axis=0, dynamic=True)
case("Compress", "flat", f32(2, 3), const([True, False, True, False, True], np.bool_), dynamic=True)
case("CenterCropPad", "", f32(6, 9), ints(4, 11), opset=18)
case("Upsample", "nearest-9", f32(1, 2, 3, 3), const([1, 1, 2, 2]), opset=9, mode="nearest")

SCALES = const([1.0, 1.0, 2.0, 2.0])
case("Resize", "nearest", f32(1, 2, 3, 4), None, SCALES, mode="nearest")
case("Resize", "nearest-asymmetric", f32(1, 2, 3, 4), None, SCALES, mode="nearest",
     coordinate_transformation_mode="asymmetric", nearest_mode="floor")
case("Resize", "nearest-ceil", f32(1, 2, 5, 5), None, const([1.0, 1.0, 0.6, 0.6]), mode="nearest", nearest_mode="ceil")
case("Resize", "linear", f32(1, 2, 3, 4), None, SCALES, mode="linear")
case("Resize", "linear-align-corners", f32(1, 2, 3, 4), None, SCALES, mode="linear",
     coordinate_transformation_mode="align_corners")
case("Resize", "linear-asymmetric", f32(1, 2, 3, 4), None, SCALES, mode="linear",
     coordinate_transformation_mode="asymmetric")
case("Resize", "linear-pytorch", f32(1, 2, 3, 4), None, None, ints(1, 2, 7, 1), mode="linear",
     coordinate_transformation_mode="pytorch_half_pixel")
case("Resize", "linear-down", f32(1, 2, 8, 8), None, const([1.0, 1.0, 0.5, 0.5]), mode="linear")
case("Resize", "sizes", f32(1, 2, 3, 4), None, None, ints(1, 2, 7, 5), mode="linear")
case("Resize", "nearest-sizes", f32(1, 2, 3, 4), None, None, ints(1, 2, 7, 5), mode="nearest")
case("Resize", "cubic", f32(1, 1, 5, 5), None, SCALES, mode="cubic")
case("Resize", "cubic-down", f32(1, 1, 8, 8), None, const([1.0, 1.0, 0.7, 0.7]), mode="cubic", cubic_coeff_a=-0.5)
case("Resize", "size-rounded", f32(1, 2, 5), None, const([1.0, 1.0, 1.8]), mode="linear")  # 5 x 1.8f is 9 in f32
case("Resize", "1d", f32(1, 2, 6), None, const([1.0, 1.0, 2.5]), mode="linear")
case("Resize", "axes-18", f32(1, 2, 3, 4), None, None, ints(6, 8), opset=18, mode="nearest", axes=[2, 3])

case("Shape", "", f32(3, 4, 5))
case("Shape", "start-end", f32(3, 4, 5), start=1, end=-1)
case("Size", "", f32(3, 4, 5))
case("Range", "i64", const(2, np.int64), const(11, np.int64), const(3, np.int64))
case("Range", "f32", const(0.0), const(2.0), const(0.25))
case("Range", "down", const(5, np.int32), const(-3, np.int32), const(-2, np.int32))
case("ConstantOfShape", "", ints(2, 3))
case("ConstantOfShape", "value", ints(2, 3),
     value=helper.make_tensor("value", TensorProto.INT64, [1], [7]))
case("Constant", "f32", value=helper.make_tensor("value", TensorProto.FLOAT, [2, 2], [1, 2, 3, 4]))
case("Constant", "ints", value_ints=[1, 2, 3])
case("Constant", "float", value_float=1.5)
case("OneHot", "", i64(6, low=0, high=5), const(5, np.int64), const([0.0, 1.0]))
case("OneHot", "axis0", i64(2, 3, low=-5, high=5), const(5, np.int64), const([2.0, 5.0]), axis=0)
case("NonZero", "", given([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]]), results=1, dynamic=True)
case("NonZero", "none", given(np.zeros((5, 7))), results=1, dynamic=True)
case("NonZero", "all", given(np.ones((3, 1, 5))), results=1, dynamic=True)
case("NonZero", "sizes", i64("n", 3, "m", low=0, high=2), dynamic=True,
     sizes=[{"n": 1, "m": 1}, {"n": 40, "m": 7}, {"n": 0, "m": 2}])
case("Unique", "", given([2.0, 1.0, 1.0, 3.0, 4.0, 3.0]), results=4, dynamic=True)
case("Unique", "first", given([2.0, 1.0, 1.0, 3.0, 4.0, 3.0, -1.0, 2.0]), results=4, dynamic=True, sorted=0)
case("Unique", "flat", i64(9, 20, low=-9, high=9), results=4, dynamic=True)
case("Unique", "long", i64(5000, low=0, high=700), results=4, dynamic=True, sorted=0)
case("Unique", "rows", i64(20, 2, low=0, high=3), results=4, dynamic=True, axis=0)
case("Unique", "columns", i64(2, 30, 2, low=0, high=2), results=4, dynamic=True, axis=1, sorted=0)
case("Unique", "one", f32(2, 1, 3), results=4, dynamic=True, axis=1)
case("Col2Im", "", f32(1, 5, 5), ints(5, 5), ints(1, 5), opset=18)
case("GridSample", "", f32(1, 2, 4, 4), f32(1, 5, 5, 2, low=-1, high=1), mode="bilinear")
case("GridSample", "nearest-border", f32(1, 2, 4, 4), f32(1, 5, 5, 2, low=-1.4, high=1.4), mode="nearest",
     padding_mode="border", align_corners=1)
case("AffineGrid", "", f32(1, 2, 3), ints(1, 1, 4, 5), opset=20)


def flatten_by_shape(case_):
    """How exporters write a view with a batch of unknown size: shape arithmetic that folds away."""
    return [helper.make_node("Shape", ["x0"], ["s"]), helper.make_node("Gather", ["s", "x1"], ["n"], axis=0),
            helper.make_node("Unsqueeze", ["n", "x2"], ["u"]), helper.make_node("Concat", ["u", "x3"], ["c"], axis=0),
            helper.make_node("Reshape", ["x0", "c"], ["y0"])]


def transpose_twice(case_):
    return [helper.make_node("Transpose", ["x0"], ["t"], perm=[0, 2, 3, 1]), helper.make_node("Relu", ["t"], ["r"]),
            helper.make_node("Transpose", ["r"], ["y0"], perm=[0, 3, 1, 2])]


def split_heads(case_):
    return [helper.make_node("Reshape", ["x0", "x1"], ["r"]),
            helper.make_node("Transpose", ["r"], ["t"], perm=[2, 0, 3, 1, 4]),
            helper.make_node("Gather", ["t", "x2"], ["q"], axis=0),
            helper.make_node("Gather", ["t", "x3"], ["k"], axis=0),
            helper.make_node("Add", ["q", "k"], ["y0"])]


def channel_shuffle(case_):
    return [helper.make_node("Reshape", ["x0", "x1"], ["r"]),
            helper.make_node("Transpose", ["r"], ["t"], perm=[0, 2, 1, 3, 4]),
            helper.make_node("Reshape", ["t", "x2"], ["y0"])]


graph_case("graph-flatten-by-shape", flatten_by_shape, f32(2, 3, 4), const(0, np.int64), ints(0), ints(-1))
graph_case("graph-transpose-twice", transpose_twice, f32(1, 3, 4, 5))
graph_case("graph-split-heads", split_heads, f32(1, 5, 24), ints(1, 5, 3, 2, 4), const(0, np.int64), const(1, np.int64))
graph_case("graph-channel-shuffle", channel_shuffle, f32(1, 6, 3, 3), ints(1, 2, 3, 3, 3), ints(1, 6, 3, 3))
