"""Reading and writing at computed places."""

import numpy as np

from case import bools, case, const, f16, f32, given, i32, i64, weights

for axis in (0, 1, 2):
    case("Gather", f"axis{axis}", f32(4, 5, 6), i64(3, low=0, high=4), axis=axis)
case("Gather", "table", weights(50, 8), i64(2, 7, low=0, high=50))
case("Gather", "scalar", f32(4, 5), const(2, np.int64), axis=1)
case("Gather", "negative", f32(4, 5), const([-1, -4], np.int64))
case("Gather", "negative-runtime", f32(4, 5), given([-1, 0, -4, 3], np.int64))
case("Gather", "i32-indices", f32(4, 5), i32(3, low=0, high=4))
case("Gather", "i64-data", i64(9), i64(4, low=0, high=9))
case("Gather", "bool-data", bools(9), i64(4, low=0, high=9))
case("Gather", "f16-data", f16(9, 3), i64(4, low=0, high=9))
case("GatherElements", "axis0", f32(4, 5), i64(3, 5, low=0, high=4), axis=0)
case("GatherElements", "axis1", f32(4, 5), i64(4, 3, low=-5, high=5), axis=1)
case("GatherND", "", f32(4, 5, 6), i64(3, 2, low=0, high=4))
case("GatherND", "full", f32(4, 5), i64(3, 2, low=0, high=4))
case("GatherND", "batch", f32(2, 4, 5), i64(2, 3, 1, low=0, high=4), batch_dims=1)
case("ScatterElements", "axis0", f32(4, 5), given([[0, 1, 2, 3, 0], [1, 2, 3, 0, 1]], np.int64), f32(2, 5))
case("ScatterElements", "axis1", f32(2, 5), given([[0, 4], [3, 1]], np.int64), f32(2, 2), axis=1)
case("ScatterElements", "add", f32(2, 5), given([[1, 1], [3, 3]], np.int64), f32(2, 2), axis=1, reduction="add")
case("ScatterElements", "mul", f32(2, 5), given([[1, 1], [3, 3]], np.int64), f32(2, 2), axis=1, reduction="mul")
case("ScatterElements", "max-18", f32(2, 5), given([[1, 1], [3, 3]], np.int64), f32(2, 2), axis=1, reduction="max",
     opset=18)
case("ScatterElements", "min-18", f32(2, 5), given([[1, 1], [3, 3]], np.int64), f32(2, 2), axis=1, reduction="min",
     opset=18)
case("ScatterND", "rows", f32(5, 4), given([[1], [3]], np.int64), f32(2, 4))
case("ScatterND", "elements", f32(5, 4), given([[1, 2], [3, 0]], np.int64), f32(2))
case("ScatterND", "add", f32(5, 4), given([[1], [1]], np.int64), f32(2, 4), reduction="add")
case("ScatterND", "mul", f32(5, 4), given([[1], [1]], np.int64), f32(2, 4), reduction="mul")
FAR = np.random.default_rng(5).permutation(1009)  # each once: what is overwritten twice is for nobody to say
case("ScatterElements", "long", f32(1009), given(FAR[:401], np.int64), f32(401))
case("ScatterElements", "long-add", i32(5, 401), i64(5, 301, low=-401, high=400), i32(5, 301), axis=1, reduction="add")
case("ScatterElements", "long-max", f32(401, 3), i64(90, 3, low=0, high=400), f32(90, 3), axis=0, reduction="max", opset=18)
case("ScatterND", "long-rows", f32(1009, 7), given(FAR[:130].reshape(130, 1), np.int64), f32(130, 7))
case("ScatterND", "long-add", i32(31, 37), i64(300, 2, low=-31, high=30), i32(300), reduction="add")
# Many updates of few places, and of one.
case("ScatterElements", "many-add", i32(7), i64(9001, low=0, high=7), i32(9001), axis=0, reduction="add")
case("ScatterElements", "many-min", f32(7), i64(1100, low=2, high=3), f32(1100), axis=0, reduction="min", opset=18)
case("ScatterND", "many-mul", i32(3, 5), i64(700, 1, low=0, high=3), i32(700, 5, low=-1, high=2), reduction="mul")
case("ScatterND", "wide-rows", f32(67, 301), given(FAR[FAR < 67].reshape(67, 1), np.int64), f32(67, 301))
case("Scatter", "9", f32(4, 5), given([[0, 1, 2, 3, 0]], np.int64), f32(1, 5), opset=9)
case("TensorScatter", "", f32(2, 6, 4), f32(2, 2, 4), given([1, 3], np.int64), opset=24, axis=1)
case("NonMaxSuppression", "", given([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 10, 1, 11]]]), given([[[0.9, 0.75, 0.6]]]),
     const([3], np.int64), const([0.5]), const([0.0]), dynamic=True)
case("NonMaxSuppression", "classes", f32(2, 40, 4), f32(2, 3, 40), const([7], np.int64), const([0.3]), dynamic=True)
case("NonMaxSuppression", "scores", f32(1, 60, 4), f32(1, 2, 60), const(100, np.int64), const(0.2), const(0.4),
     dynamic=True)
case("NonMaxSuppression", "center", f32(2, 30, 4, low=0), f32(2, 1, 30), const([30], np.int64), const([0.1]),
     center_point_box=1, dynamic=True)
case("NonMaxSuppression", "none", f32(1, 30, 4), f32(1, 1, 30), dynamic=True)
case("RoiAlign", "", f32(1, 2, 8, 8), given([[0, 0, 4, 4], [1, 1, 6, 7]]), given([0, 0], np.int64), output_height=2,
     output_width=2, sampling_ratio=2)
