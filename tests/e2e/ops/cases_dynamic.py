"""Sizes and operands that the model does not know. One module must do for every list of them."""

import numpy as np

from case import Random, bools, case, chosen, const, f16, f32, given, graph_case, i32, i64, ints, nodes, u8, weights

BATCH = [{"n": 1}, {"n": 5}, {"n": 37}]
PLANE = [{"n": 1, "m": 3}, {"n": 6, "m": 1}, {"n": 19, "m": 70}]


def dynamic(op, label, *operands, sizes=BATCH, **options):
    case(op, f"dynamic-{label}" if label else "dynamic", *operands, sizes=sizes, **options)


dynamic("Relu", "line", f32("n"), sizes=[{"n": 0}, {"n": 1}, {"n": 100003}])
dynamic("Add", "", f32("n", 4), f32("n", 4))
dynamic("Add", "bias", f32("n", 10), weights(10))
dynamic("Mul", "column", f32("n", "m"), f32("n", 1), sizes=PLANE)
dynamic("Where", "", const([[True], [False]], bool), f32(2, "n"), f32(2, "n"))
# Two sizes of which either may be 1.
EITHER = [{"n": 1, "m": 5}, {"n": 5, "m": 1}, {"n": 5, "m": 5}, {"n": 1, "m": 1}, {"n": 1, "m": 67}, {"n": 67, "m": 1}]
EITHERS = [{"n": 1, "m": 5, "k": 35, "l": 1}, {"n": 5, "m": 1, "k": 35, "l": 35}, {"n": 1, "m": 5, "k": 1, "l": 35},
           {"n": 5, "m": 5, "k": 1, "l": 1}, {"n": 1, "m": 0, "k": 3, "l": 1}]
dynamic("Add", "either-line", f32("n"), f32("m"), sizes=[*EITHER, {"n": 0, "m": 1}])
dynamic("Mul", "either-rows", i32("n", 7), i32("m", 7), sizes=EITHER)
dynamic("Add", "either-plane", f32("n", "k"), f32("m", "l"), sizes=EITHERS)
dynamic("Sub", "either-ranks", f32("n", "k", 3), f32("l", 3), sizes=EITHERS)
dynamic("Equal", "either-plane", i64("n", "k", low=0, high=2), i64("m", "l", low=0, high=2), sizes=EITHERS)
dynamic("Where", "either-plane", bools("n", "k"), f32("m", "l"), f32("n", "l"), sizes=EITHERS)
dynamic("Max", "either-many", f32("n", "k"), f32("m", "l"), f32("n", 1), f32("l"), sizes=EITHERS)
dynamic("PRelu", "either", f32("n", "k"), f32("m"), sizes=[{"n": 5, "k": 9, "m": 1}, {"n": 5, "k": 9, "m": 9}])
dynamic("Gemm", "either", f32("n", 8), f32(8, "k"), f32("m", "l"),
        sizes=[{"n": 5, "k": 9, "m": 1, "l": 9}, {"n": 5, "k": 9, "m": 5, "l": 1}, {"n": 5, "k": 9, "m": 5, "l": 9}])
dynamic("MatMul", "either", f32("n", "k", 4, 6), f32("m", "l", 6, 5), sizes=EITHERS[:4])
dynamic("MatMul", "either-rank", f32("n", "k", 4, 6), f32("l", 6, 5), sizes=EITHERS[:4])
dynamic("Einsum", "either", f32("n", 4, 6), f32("m", 6, 5), equation="...ij,...jk->...ik", sizes=EITHER[:4])


after_shape = nodes(("Shape", "x1", "s", {}), ("Expand", "x0 s", "y0", {}))
# A mask on scores, and what follows it.
masked = nodes(("MatMul", "x0 x1", "scores", {}), ("Add", "scores x2", "masked", {}),
               ("Softmax", "masked", "p", {"axis": -1}), ("MatMul", "p x3", "o", {}), ("Mul", "masked x2", "again", {}),
               ("ReduceSum", "again", "s", {"keepdims": 0}), ("Add", "o s", "y0", {}))
dynamic("NonMaxSuppression", "open", f32("b", "n", "k"), f32("b", "c", "n"), const([7], np.int64), const([0.3]),
        sizes=[{"b": 2, "n": 40, "k": 4, "c": 3}, {"b": 1, "n": 1, "k": 4, "c": 1}])
case("NonMaxSuppression", "no-boxes", f32(1, 0, 4), f32(1, 2, 0), const([7], np.int64), dynamic=True)
dynamic("Det", "", f32("n", "n"), sizes=[{"n": 6}, {"n": 1}, {"n": 2}, {"n": 19}, {"n": 0}], tolerance=1e-2)
dynamic("Det", "batch", f32("b", 2, "n", "m"), tolerance=1e-2, sizes=[{"b": 3, "n": 7, "m": 7}, {"b": 1, "n": 3, "m": 3}])
graph_case("Expand-dynamic-either", after_shape, f32("n", "k"), f32("m", "l"), sizes=EITHERS)
graph_case("Add-dynamic-either-chain", masked, f32(2, "k", 8), f32(2, 8, "l"), f32("n", 1, "m"), f32(2, "l", 8),
           sizes=[{"k": 3, "l": 35, "n": 1, "m": 35}, {"k": 3, "l": 35, "n": 2, "m": 1}, {"k": 1, "l": 1, "n": 2, "m": 1}])
dynamic("Softmax", "last", f32("n", 37), axis=-1)
dynamic("Softmax", "plane", f32("n", "m"), axis=-1, sizes=PLANE)
dynamic("Softmax", "long", f32(2, "n"), axis=-1, sizes=[{"n": 1501}, {"n": 1}])
dynamic("Softmax", "first", f32("n", "m"), axis=0, sizes=PLANE)
dynamic("ReduceSum", "rows", f32("n", "m"), ints(0), keepdims=0, sizes=PLANE)
dynamic("ReduceMean", "all", f32("n", "m"), sizes=PLANE)
dynamic("ReduceSum", "line", i32(3, "n"), ints(1), sizes=[{"n": 2053}, {"n": 1}, {"n": 0}])
dynamic("ReduceMax", "parts", f32("n", 3), axes=[0], keepdims=0, sizes=[{"n": 5003}, {"n": 1}])
dynamic("ReduceSum", "parts-all", i32("n", "m"), keepdims=0, sizes=[{"n": 71, "m": 67}, {"n": 1, "m": 3}, {"n": 0, "m": 3}])
dynamic("ArgMax", "parts", f32("n", 1501), axis=1, sizes=[{"n": 3}, {"n": 1}])
dynamic("ReduceMean", "image", f32("n", 2, "m", 9), axes=[2, 3], sizes=[{"n": 2, "m": 67}, {"n": 1, "m": 1}])
dynamic("ReduceMax", "middle", f32(3, "n", 5), axes=[1], keepdims=1)
dynamic("LayerNormalization", "", f32("n", "m", 32), weights(32), weights(32), axis=-1, sizes=PLANE)
dynamic("ArgMax", "", f32("n", 9), axis=1, keepdims=0)
dynamic("CumSum", "", f32("n", 5), const(0, "int64"))
dynamic("CumSum", "plane", i32("n", "m"), const(1, "int64"), reverse=1, exclusive=1,
        sizes=[{"n": 2, "m": 1031}, {"n": 3, "m": 129}, {"n": 1, "m": 1}, {"n": 0, "m": 5}, {"n": 4, "m": 0}])
dynamic("CumSum", "steps", i32(2, "n", "m"), const(1, "int64"), exclusive=1,
        sizes=[{"n": 3, "m": 1031}, {"n": 2, "m": 1}, {"n": 1, "m": 9}, {"n": 0, "m": 5}, {"n": 4, "m": 0}])
dynamic("CumSum", "middle", i32(2, "m", 5), const(1, "int64"), sizes=[{"m": 523}, {"m": 130}, {"m": 1}])
LINES = [{"n": 1}, {"n": 33}, {"n": 2051}]
dynamic("CumSum", "line", i32("n"), const(0, "int64"), sizes=[*LINES, {"n": 0}])
dynamic("CumSum", "lines", i32("n", 3), const(0, "int64"), reverse=1, exclusive=1, sizes=LINES)
dynamic("ArgMax", "line", i32("n", low=0, high=4), axis=0, sizes=LINES)
dynamic("ArgMin", "last", i32("n", 3, low=0, high=4), axis=0, select_last_index=1, sizes=LINES)
dynamic("ReduceSum", "columns", i32("n", 8), ints(0), keepdims=0, sizes=[*LINES, {"n": 0}])
dynamic("ReduceMin", "columns", f32(2, "n", 3), axes=[1], sizes=LINES)
dynamic("TopK", "", f32("n", 9), ints(3), axis=1, results=2)
dynamic("TopK", "line", i32(2, "n", low=0, high=99), ints(129), axis=1, results=2, sizes=[{"n": 129}, {"n": 700}])
dynamic("TopK", "lines", f32("n", 700), ints(140), axis=1, results=2, sizes=[{"n": 1}, {"n": 3}])
dynamic("TopK", "first", i32("n", 3, low=0, high=99), ints(5), axis=0, results=2, largest=0,
        sizes=[{"n": 5}, {"n": 64}, {"n": 65}, {"n": 300}])
dynamic("MatMul", "rows", f32("n", 64), weights(64, 33))
dynamic("MatMul", "long", f32(3, "n"), f32("n", 5), sizes=[{"n": 0}, {"n": 1}, {"n": 700}])
dynamic("MatMul", "wide", f32("n", 300), weights(300, 128))
dynamic("MatMul", "sequence", f32("n", "m", 48), weights(48, 20), sizes=PLANE)
dynamic("MatMul", "batch", f32("n", 7, 16), f32("n", 16, 9))
dynamic("MatMul", "all", f32("n", "m", "k"), f32("n", "k", "l"),
        sizes=[{"n": 1, "m": 3, "k": 5, "l": 2}, {"n": 2, "m": 17, "k": 33, "l": 40}])
dynamic("MatMul", "columns", f32(20, 48), f32(48, "n"), sizes=[{"n": 0}, {"n": 7}, {"n": 16}, {"n": 67}])
dynamic("Gemm", "", f32("n", 64), weights(33, 64), weights(33), transB=1)
dynamic("Conv", "batch", f32("n", 3, 8, 8), weights(4, 3, 3, 3), weights(4), pads=[1, 1, 1, 1])
dynamic("Conv", "wide", f32("n", 16, 9, 9), weights(32, 16, 3, 3), weights(32), strides=[2, 2])
dynamic("Conv", "depthwise", f32("n", 16, 9, 9), weights(16, 1, 3, 3), weights(16), group=16, pads=[1, 1, 1, 1])
dynamic("Conv", "image", f32("n", 3, "h", "w"), weights(4, 3, 3, 3), weights(4), pads=[0, 1, 1, 1], strides=[2, 1],
        sizes=[{"n": 1, "h": 5, "w": 5}, {"n": 2, "h": 20, "w": 33}])
IMAGES = [{"h": 1, "w": 1}, {"h": 3, "w": 70}, {"h": 16, "w": 15}, {"h": 9, "w": 33}]
dynamic("Conv", "planes", f32(1, 16, "h", "w"), weights(32, 16, 3, 3), weights(32), pads=[1, 1, 1, 1], sizes=IMAGES)
dynamic("Conv", "strides", f32(2, 16, "h", "w"), weights(16, 16, 5, 3), pads=[2, 1, 2, 2], strides=[2, 2], sizes=IMAGES)
dynamic("Conv", "dilated", f32(1, 16, "h", "w"), weights(16, 16, 3, 3), pads=[4, 3, 4, 3], dilations=[4, 3],
        sizes=IMAGES)
dynamic("Conv", "points", f32("n", 16, "h", "w"), weights(48, 16, 1, 1), weights(48),
        sizes=[{"n": 1, "h": 1, "w": 1}, {"n": 3, "h": 5, "w": 37}])
dynamic("Conv", "groups", f32(1, 32, "h", "w"), weights(64, 16, 3, 3), group=2, pads=[1, 1, 1, 1], sizes=IMAGES)
dynamic("Conv", "plane-depthwise", f32(1, 16, "h", "w"), weights(16, 1, 3, 3), weights(16), group=16, pads=[1, 1, 1, 1],
        sizes=IMAGES)
dynamic("Conv", "width", f32(1, 16, 1, "w"), weights(16, 16, 1, 3), pads=[0, 1, 0, 1], sizes=[{"w": 1}, {"w": 100}])
dynamic("Conv", "height", f32(1, 16, "h", 9), weights(16, 16, 3, 3), pads=[1, 1, 1, 1], sizes=[{"h": 1}, {"h": 100}])
dynamic("Conv", "odd", f32("n", 20, "h", "w"), weights(37, 20, 3, 3), weights(37), pads=[1, 1, 1, 1], strides=[2, 2],
        sizes=[{"n": 1, "h": 1, "w": 1}, {"n": 2, "h": 9, "w": 70}])
dynamic("Conv", "odd-groups", f32(1, 36, "h", "w"), weights(30, 12, 3, 3), group=3, pads=[1, 1, 1, 1], sizes=IMAGES)
dynamic("Conv", "1d", f32("n", 24, "w"), weights(40, 24, 5), weights(40), pads=[2, 2], strides=[2],
        sizes=[{"n": 1, "w": 1}, {"n": 3, "w": 101}])
dynamic("Conv", "1d-long", f32(1, 24, "w"), weights(24, 12, 40), group=2, pads=[20, 20], sizes=[{"w": 1}, {"w": 77}])
dynamic("Conv", "3d", f32(1, 5, "d", "h", "w"), weights(20, 5, 3, 1, 3), pads=[1, 0, 1, 1, 0, 1],
        sizes=[{"d": 1, "h": 2, "w": 3}, {"d": 5, "h": 3, "w": 40}])
dynamic("Conv", "weights", f32(1, 20, "h", "w"), f32(37, 20, 3, 3), pads=[1, 1, 1, 1], sizes=IMAGES)
dynamic("ConvTranspose", "", f32("n", 20, "h", "w"), weights(20, 24, 4, 4), weights(24), strides=[2, 2],
        pads=[1, 1, 1, 1], sizes=[{"n": 1, "h": 1, "w": 1}, {"n": 2, "h": 5, "w": 40}])
dynamic("ConvTranspose", "same", f32(1, 20, "w"), weights(20, 17, 5), strides=[3], auto_pad="SAME_LOWER",
        sizes=[{"w": 2}, {"w": 31}])
# Every rest of the size by the stride: paddings before and behind depend on it.
ANY_REST = [{"h": h, "w": w} for h, w in ((5, 9), (6, 8), (7, 10), (1, 11))]
for same in ("SAME_UPPER", "SAME_LOWER"):
    dynamic("Conv", same, f32(1, 3, "h", "w"), weights(4, 3, 3, 4), strides=[2, 3], auto_pad=same, sizes=ANY_REST)
    dynamic("MaxPool", same, f32(1, 3, "h", "w", low=-9, high=-1), kernel_shape=[3, 4], strides=[2, 3], auto_pad=same,
            sizes=ANY_REST)
    dynamic("AveragePool", same, f32(1, 3, "h", "w"), kernel_shape=[3, 4], strides=[2, 3], auto_pad=same,
            sizes=ANY_REST)
    dynamic("LpPool", same, f32(1, 3, "w"), kernel_shape=[4], strides=[3], auto_pad=same, sizes=ANY_REST[:3])
for op_ in ("MaxPool", "AveragePool"):
    dynamic(op_, "ceil", f32(1, 3, "h", "w"), kernel_shape=[3, 2], strides=[2, 3], ceil_mode=1, sizes=ANY_REST[:3])
    dynamic(op_, "ceil-pads", f32(1, 3, "h", "w"), kernel_shape=[3, 4], strides=[2, 3], pads=[1, 0, 1, 2], ceil_mode=1,
            sizes=ANY_REST[:3])
dynamic("AveragePool", "ceil-counted", f32(1, 3, "h", "w"), kernel_shape=[3, 4], strides=[2, 3], pads=[1, 2, 0, 1],
        ceil_mode=1, count_include_pad=1, opset=19, sizes=ANY_REST[:3])
for same in ("NOTSET", "SAME_UPPER", "SAME_LOWER"):
    dynamic("ConvTranspose", f"output-shape-{same.lower()}", f32(1, 3, "h", "w"), weights(3, 4, 3, 4), weights(4),
            strides=[2, 3], output_shape=[8, 13], auto_pad=same, sizes=[{"h": 4, "w": 4}, {"h": 7, "w": 4}])
    dynamic("MaxPool", f"indices-{same.lower()}", f32(2, 2, "h", "w"), kernel_shape=[3, 2], strides=[2, 3],
            auto_pad=same, results=2, sizes=ANY_REST[:3])
dynamic("MaxPool", "indices-ceil", f32(2, 2, "h", "w"), kernel_shape=[3, 2], strides=[2, 3], pads=[1, 0, 1, 1],
        ceil_mode=1, storage_order=1, results=2, sizes=ANY_REST[:3])
dynamic("Conv", "channels", f32("n", "c", "w"), weights(4, 3, 3), group=2, sizes=[{"n": 2, "c": 6, "w": 9}])
dynamic("Slice", "before-start", f32("n", 3), ints(-5), ints(2**62), ints(0), sizes=[{"n": 3}, {"n": 5}, {"n": 9}])
dynamic("Slice", "before-end", f32("n", 3), ints(0), ints(-5), ints(0), sizes=[{"n": 3}, {"n": 5}, {"n": 9}])
dynamic("Einsum", "diagonal", f32("n", "m", "n"), equation="aba->ab", sizes=[{"n": 3, "m": 2}, {"n": 1, "m": 4}])
dynamic("ReverseSequence", "", f32("n", "m", 3), given([3, 1, 2, 4], np.int64), time_axis=1, batch_axis=0,
        sizes=[{"n": 4, "m": 5}])
dynamic("GatherElements", "shorter", f32("n", "m"), given([[-3], [2]], np.int64), axis=0, sizes=[{"n": 3, "m": 2}])
dynamic("DepthToSpace", "channels", f32("n", "c", 2, "w"), blocksize=2, sizes=[{"n": 1, "c": 8, "w": 3}])
dynamic("ConvTranspose", "1d", f32(1, 20, "w"), weights(20, 17, 16), strides=[5], pads=[3, 8], sizes=[{"w": 2}, {"w": 71}])
dynamic("ConvTranspose", "steps", f32(1, 12, "h", "w"), weights(12, 5, 3, 2), group=2, strides=[4, 6], dilations=[2, 4],
        sizes=[{"h": 1, "w": 1}, {"h": 4, "w": 30}])
dynamic("MaxPool", "", f32("n", 3, "h", "w"), kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 0],
        sizes=[{"n": 1, "h": 5, "w": 5}, {"n": 2, "h": 20, "w": 33}])
dynamic("GlobalAveragePool", "", f32("n", 3, "h", "w"),
        sizes=[{"n": 1, "h": 5, "w": 5}, {"n": 2, "h": 20, "w": 33}])
SMALL = [{"n": 1, "h": 4, "w": 6}, {"n": 2, "h": 1, "w": 9}]


def resized(label, *scales, **options):
    dynamic("Resize", label, f32("n", 3, "h", "w"), None, const([1, 1, *scales]), sizes=SMALL, **options)


resized("nearest", 2, 3, coordinate_transformation_mode="asymmetric", nearest_mode="floor")
resized("nearest-part", 0.6, 1.7)
resized("linear", 2, 2, mode="linear")
resized("linear-part", 0.5, 1.3, mode="linear", coordinate_transformation_mode="pytorch_half_pixel")
resized("cubic", 2, 1.5, mode="cubic", exclude_outside=1)
resized("corners", 3, 2, mode="linear", coordinate_transformation_mode="align_corners")
dynamic("Resize", "sizes", f32("n", 3, "h", 5), None, None, ints(2, 3, 7, 8), mode="linear", sizes=[{"n": 2, "h": 5}])
dynamic("Concat", "", f32("n", 4), f32("m", 4), axis=0, sizes=PLANE)
dynamic("Transpose", "", f32("n", "m"), perm=[1, 0], sizes=PLANE)
dynamic("Pad", "", f32("n", 5), ints(1, 1, 2, 1))
dynamic("Pad", "edge", f32("n", 5), ints(1, 1, 2, 1), mode="edge")
dynamic("Pad", "reflect", f32("n", 5), ints(2, 1, 2, 1), mode="reflect", sizes=[{"n": 3}, {"n": 37}])
dynamic("Slice", "", f32("n", 5), ints(1), ints(-1), ints(0), sizes=[{"n": 3}, {"n": 37}])
dynamic("Split", "halves", f32("n", 4), axis=0, results=2, sizes=[{"n": 2}, {"n": 36}])
dynamic("Split", "thirds", f32("n", 4), axis=0, results=3, num_outputs=3, opset=18, sizes=[{"n": 7}, {"n": 3}])
dynamic("Gather", "", f32("n", 5), i64("m", low=0, high=1), axis=0, sizes=PLANE)
dynamic("Reshape", "", f32("n", 4, 6), ints(-1, 3))
dynamic("Reshape", "heads", f32("n", "m", 24), ints(0, 0, 4, 6), sizes=PLANE)
dynamic("Flatten", "", f32("n", 4, 6), axis=1)
dynamic("ScatterElements", "add", i32("n", 3), i64("m", 3, low=-1, high=1), i32("m", 3), axis=0, reduction="add",
        sizes=[{"n": 19, "m": 70}, {"n": 1, "m": 3}])
dynamic("ScatterElements", "shorter", f32("n", "m"), i64("k", "l", low=0, high=3), f32("k", "l"), axis=0,
        reduction="add", sizes=[{"n": 7, "m": 5, "k": 9, "l": 2}, {"n": 4, "m": 5, "k": 3, "l": 5}])
dynamic("ScatterElements", "many", i32("n"), i64("m", low=0, high=2), i32("m"), axis=0, reduction="add",
        sizes=[{"n": 2, "m": 1}, {"n": 3, "m": 1300}])
dynamic("ScatterND", "add", i32("n", 4), i64("m", 1, low=-1, high=1), i32("m", 4), reduction="add",
        sizes=[{"n": 5, "m": 70}, {"n": 1, "m": 0}, {"n": 9, "m": 1}])
dynamic("ScatterElements", "", f32("n", 3), i64(1, 3, low=0, high=1), f32(1, 3), axis=0)


graph_case("mlp-dynamic", nodes(("Gemm", "x0 x1 x2", "a", {"transB": 1}), ("Relu", "a", "b", {}),
                                ("MatMul", "b x3", "c", {}), ("Add", "c x4", "d", {}),
                                ("Softmax", "d", "y0", {"axis": 1})),
           f32("n", 100), weights(64, 100, spread=0.1), weights(64), weights(64, 10), weights(10), sizes=BATCH)
graph_case("cnn-dynamic", nodes(("Conv", "x0 x1 x2", "a", {"pads": [1, 1, 1, 1]}), ("Relu", "a", "b", {}),
                                ("MaxPool", "b", "c", {"kernel_shape": [2, 2], "strides": [2, 2]}),
                                ("Conv", "c x3", "d", {}), ("Flatten", "d", "e", {"axis": 1}),
                                ("Gemm", "e x4 x5", "y0", {})),
           f32("n", 1, 8, 8), weights(16, 1, 3, 3), weights(16), weights(32, 16, 3, 3), weights(128, 10), weights(10),
           sizes=BATCH)
# Channels are together in memory between convolutions: tiles at the edges read a copy.
graph_case("edges-dynamic", nodes(("Conv", "x0 x1", "a", {}),
                                  ("Conv", "a x2 x3", "b", {"pads": [1, 2, 1, 0], "strides": [1, 2]}),
                                  ("Conv", "b x4", "c", {"pads": [2, 2, 2, 2], "dilations": [1, 2], "group": 2}),
                                  ("ConvTranspose", "c x5", "d", {"pads": [1, 1, 0, 2], "strides": [1, 3]}),
                                  ("Conv", "d x6", "y0", {"pads": [0, 8, 0, 7]})),
           f32("n", 20, "h", "w"), weights(20, 20, 1, 1, spread=0.2), weights(40, 20, 3, 3, spread=0.1), weights(40),
           weights(32, 20, 3, 3, spread=0.1), weights(32, 16, 3, 4, spread=0.1), weights(7, 16, 1, 16, spread=0.1),
           sizes=[{"n": 1, "h": 1, "w": 2}, {"n": 2, "h": 4, "w": 15}, {"n": 1, "h": 3, "w": 70}])
STEPS = [{"t": 1, "n": 2}, {"t": 6, "n": 1}, {"t": 4, "n": 7}]
dynamic("LSTM", "", f32("t", "n", 8), weights(1, 64, 8), weights(1, 64, 16), weights(1, 128), hidden_size=16, results=3,
        sizes=STEPS)
dynamic("GRU", "both", f32("t", "n", 3), weights(2, 15, 3), weights(2, 15, 5), weights(2, 30), i32("n", low=0, high=2),
        direction="bidirectional", hidden_size=5, results=2, sizes=STEPS)
dynamic("RNN", "batch", f32("n", 5, 3), weights(1, 16, 3), weights(1, 16, 16), weights(1, 32), layout=1, hidden_size=16,
        results=2, sizes=[{"n": 1}, {"n": 4}])
graph_case("attention-dynamic", nodes(("Transpose", "x1", "k", {"perm": [0, 2, 1]}), ("MatMul", "x0 k", "s", {}),
                                      ("Softmax", "s", "p", {"axis": -1}), ("MatMul", "p x2", "y0", {})),
           f32("n", "m", 16), f32("n", "l", 16), f32("n", "l", 16),
           sizes=[{"n": 1, "m": 1, "l": 4}, {"n": 2, "m": 5, "l": 19}])
graph_case("columns-dynamic", nodes(("MatMul", "x0 x1", "a", {}), ("Mul", "a a", "b", {}), ("Erf", "b", "c", {}),
                                    ("Mul", "c a", "y0", {})),
           f32("n", 16), f32(16, "m"), sizes=PLANE)
graph_case("blocks-dynamic", nodes(("Conv", "x0 x1 x2", "a", {"pads": [1, 1, 1, 1], "strides": [2, 2]}),
                                   ("Relu", "a", "b", {}),
                                   ("Conv", "b x3 x2", "c", {"pads": [1, 1, 1, 1], "group": 32}),
                                   ("Clip", "c", "d", {}),
                                   ("Conv", "d x4", "e", {}), ("Add", "e b", "f", {}),
                                   ("GlobalAveragePool", "f", "g", {}), ("Flatten", "g", "h", {}),
                                   ("MatMul", "h x5", "y0", {})),
           f32("n", 3, "h", "w"), weights(32, 3, 3, 3), weights(32), weights(32, 1, 3, 3), weights(32, 32, 1, 1),
           weights(32, 10), sizes=[{"n": 1, "h": 32, "w": 32}, {"n": 2, "h": 15, "w": 61}])


def values(name, *rows, stops=()):
    """Values of a chosen operand; `stops`: pairs of what is refused and the message's text."""
    return [{name: row} for row in rows] + [{name: row, "stops": text} for row, text in stops]


def joined(*lists):
    return [{name: entry for one in row for name, entry in one.items()} for row in zip(*lists)]


AXES = chosen("axes")
AXIS = chosen("axis")
PAIRS = values("axes", [1, -3], [0, 2], [2, 1], [-1, -2],
               stops=[([0, 3], "not within a tensor of rank 3"), ([1, -2], "given twice")])
for reduction in ("Sum", "Prod", "Max", "Min", "Mean", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"):
    operand = f32(3, 4, 5, low=0.5, high=1.5)
    dynamic(f"Reduce{reduction}", "axes", operand, AXES, sizes=PAIRS, keepdims=0, opset=18 if reduction != "Sum" else 13)
    dynamic(f"Reduce{reduction}", "axes-kept", operand, AXES, sizes=PAIRS, opset=18 if reduction != "Sum" else 13)
dynamic("ReduceMax", "axes-integers", i32("n", 4), AXES, opset=18,
        sizes=[{"n": 3, "axes": [0]}, {"n": 7, "axes": [1]}, {"n": 1, "axes": [-2]}])
dynamic("ReduceMin", "axes-booleans", bools(3, 4), AXES, sizes=values("axes", [0], [-1]), opset=20)
dynamic("ReduceSum", "axes-empty-line", f32(2, "n"), AXES, sizes=[{"n": 0, "axes": [1]}, {"n": 0, "axes": [0]}])
ANY_AXES = [{"k": 2, "axes": [0, -1]}, {"k": 1, "axes": [1]}, {"k": 3, "axes": [2, 0, 1]}, {"k": 0, "axes": []},
            {"k": 1, "axes": [-4], "stops": "not within the tensor"}]
dynamic("ReduceMean", "axes-any-number", f32(3, 4, 5), chosen("axes", shape=("k",)), sizes=ANY_AXES, opset=18)
dynamic("ReduceSum", "axes-any-number-or-none", f32(3, 4, 5), chosen("axes", shape=("k",)), sizes=ANY_AXES,
        noop_with_empty_axes=1)
LINES = values("axis", 0, 2, -1, -2, stops=[(3, "not within"), (-4, "not within")])
dynamic("CumSum", "axis", f32(3, 4, 5), AXIS, sizes=LINES)
dynamic("CumSum", "axis-back", i32(3, 4, 5), chosen("axis", "int32"), sizes=LINES, reverse=1, exclusive=1)
dynamic("CumSum", "axis-any", f32("n", 4), AXIS, sizes=[{"n": 3, "axis": 0}, {"n": 0, "axis": 0}, {"n": 9, "axis": 1}])
K = chosen("k")
TOPS = values("k", [3], [0], [9], stops=[([10], "k does not fit"), ([-1], "k does not fit")])
dynamic("TopK", "k", f32(2, 9), K, axis=1, results=2, sizes=TOPS)
dynamic("TopK", "k-least", i64(9, 3, low=-5, high=5), K, axis=0, results=2, largest=0, sizes=TOPS)
dynamic("TopK", "k-bytes", u8(9), K, results=2, sizes=TOPS)
dynamic("TopK", "k-any", f32(2, "n"), K, axis=1, results=2,
        sizes=[{"n": 300, "k": [7]}, {"n": 4, "k": [4]}, {"n": 2, "k": [3], "stops": "k does not fit"}])


def bounds(*rows):
    return [{"from": row[0], "to": row[1], "by": row[2]} for row in rows]


def range_case(label, dtype, *rows, stops=()):
    refused = [dict(row, stops="the range is endless") for row in bounds(*stops)]
    dynamic("Range", label, chosen("from", dtype), chosen("to", dtype), chosen("by", dtype),
            sizes=bounds(*rows) + refused)


range_case("int64", "int64", (1, 10, 3), (10, 1, -3), (5, 5, 1), (5, 1, 1), (-7, 8, 5), stops=[(1, 2, 0)])
range_case("int32", "int32", (0, 4, 1), (3, -9, -2), (1, 10, 9), (1, 11, 9), (1, 9, -1))
range_case("int16", "int16", (0, 4, 1), (3, -9, -2))
range_case("f32", "float32", (0, 1, 0.25), (1, 0, -0.3), (1, 2, -1), (2, 2, 1), stops=[(0, 1, 0)])
range_case("f64", "float64", (0, 1, 0.25), (1, 0, -0.3), stops=[(0, 1, 0)])
dynamic("Range", "by-one", const(0, "int64"), chosen("to"), const(1, "int64"), sizes=values("to", 7, 0, -3))

SHAPE = chosen("shape")
dynamic("Reshape", "shape", f32(3, 4, 5), SHAPE,
        sizes=values("shape", [5, 12], [-1, 6], [0, -1], [10, -1],
                     stops=[([7, 8], "keep the number of elements"), ([-1, -1], "more than one size is -1"),
                            ([-2, -30], "a size is negative"), ([7, -1], "keep the number of elements")]))
dynamic("Reshape", "shape-zero", f32(0, 3, 4), SHAPE, allowzero=1, sizes=values("shape", [3, 4, 0], [0, 7, 1]))
dynamic("Reshape", "shape-of-any", f32("n", 6), SHAPE,
        sizes=[{"n": 4, "shape": [0, 3, -1]}, {"n": 2, "shape": [3, -1, 2]}, {"n": 0, "shape": [0, 3, 2]}])
dynamic("Reshape", "shape-any-rank", f32(3, 4), chosen("shape", shape=("k",)),
        sizes=[{"k": 2, "shape": [6, -1]}, {"k": 2, "shape": [1, 12]}, {"k": 3, "shape": [1, 1, 12], "stops": "rank"}])
dynamic("Expand", "shape", f32(3, 1), SHAPE,
        sizes=values("shape", [2, 3, 4], [1, 1, 5], [7, 1, 1], [0, 3, 2],
                     stops=[([2, 2, 2], "does not broadcast")]))
dynamic("Tile", "repeats", f32(2, 3), chosen("repeats"),
        sizes=values("repeats", [1, 2], [3, 1], [2, 2], [0, 4], stops=[([-1, 2], "a repeat is negative")]))
dynamic("ConstantOfShape", "shape", SHAPE,
        sizes=values("shape", [2, 3], [0, 4], [1, 1], stops=[([2, -1], "a size is negative")]))
dynamic("ConstantOfShape", "shape-huge", SHAPE,
        sizes=values("shape", [2, 3], stops=[([1 << 62, 1 << 62], "too large"), ([1 << 31, 1 << 31], "too large")]))
dynamic("Squeeze", "axes", f32(1, 3, 1, 1), AXES,
        sizes=values("axes", [0, 2], [-1, 0], [-2, 3], stops=[([0, 1], "must have size 1"), ([0, 4], "not within")]))
dynamic("Squeeze", "axes-any-number", f32("n", 3, 1), chosen("axes", shape=("k",)),
        sizes=[{"n": 1, "k": 1, "axes": [0]}, {"n": 4, "k": 1, "axes": [-1]}])
dynamic("Squeeze", "ones", f32("n", 3, "m"), sizes=[{"n": 1, "m": 5}, {"n": 4, "m": 1}])
dynamic("Unsqueeze", "axes", f32(3, 4), AXES,
        sizes=values("axes", [0, 1], [-1, 0], [3, 2], [1, -2], stops=[([0, 0], "given twice"), ([4, 0], "not within")]))
dynamic("Unsqueeze", "axes-any", f32("n", 4), AXES, sizes=[{"n": 3, "axes": [1]}, {"n": 0, "axes": [-1]}])
DEPTHS = values("depth", 3, 7, 0, stops=[(-1, "depth is out of range")])
dynamic("OneHot", "depth", i64(2, 3, low=-3, high=3), chosen("depth"), const([0, 1]), sizes=DEPTHS, axis=1)
dynamic("OneHot", "depth-float", i32(5, low=-3, high=3), chosen("depth", "float32"), const([2, 5], "int32"),
        sizes=DEPTHS)


def slices(*rows, stops=()):
    names = ("from", "to", "axes", "by")
    return [dict(zip(names, row)) for row in rows] + [dict(zip(names, row), stops=text) for row, text in stops]


BOUNDS = chosen("from"), chosen("to")
SLICES = slices(([0, 1], [3, 9], [0, 2], [1, 1]), ([1, -3], [-1, 1 << 62], [1, -1], [1, 2]), ([2, 4], [-9, 0], [0, 2], [-1, -2]),
                ([5, -1], [0, -99], [2, 0], [-3, -1]), ([3, 0], [1, 0], [1, 2], [1, 1]), ([9, 1], [99, 3], [0, 1], [1, 1]),
                ([-(1 << 62), 1 << 62], [1 << 62, -(1 << 62)], [0, 1], [2, -1]),
                stops=[(([0, 0], [1, 1], [0, 3], [1, 1]), "not within a tensor of rank 3"),
                       (([0, 0], [1, 1], [0, -3], [1, 1]), "given twice"), (([0, 0], [1, 1], [0, 1], [1, 0]), "step 0")])
dynamic("Slice", "everything", f32(3, 4, 5), *BOUNDS, AXES, chosen("by"), sizes=SLICES)
dynamic("Slice", "bounds", f32(3, 4), *BOUNDS, sizes=[{"from": a, "to": b} for a, b in (
    ([0, 1], [2, 3]), ([-2, -3], [-1, 99]), ([2, 0], [1, 0]), ([3, 3], [9, 9]), ([-99, 0], [1, -99]))])
dynamic("Slice", "steps", f32(7, 8), *BOUNDS, ints(0, 1), ints(2, -3), sizes=[{"from": a, "to": b} for a, b in (
    ([0, 7], [7, 0]), ([-6, -1], [6, -99]), ([6, 1], [7, 5]))])
dynamic("Slice", "bounds-of-any", f32("n", 5), *BOUNDS, ints(0), sizes=[
    {"n": 9, "from": [2], "to": [-1]}, {"n": 1, "from": [0], "to": [5]}, {"n": 0, "from": [-1], "to": [7]}])
dynamic("Slice", "backwards-of-any", f32("n", 5), ints(-2), ints(0), ints(0), ints(-1), sizes=[{"n": 9}, {"n": 2}, {"n": 0}])
dynamic("Slice", "step-of-none", f32(0, 5), *BOUNDS, ints(0), chosen("by"), sizes=[{"from": [0], "to": [5], "by": [2]}])
dynamic("Split", "sizes", f32(9, 2), chosen("parts"), axis=0, results=3, sizes=values(
    "parts", [2, 3, 4], [9, 0, 0], [1, 7, 1], stops=[([2, 3, 5], "do not add up"), ([-1, 5, 5], "a negative size")]))
dynamic("Split", "sizes-of-any", f32(2, "n"), chosen("parts"), axis=-1, results=2, sizes=[
    {"n": 5, "parts": [1, 4]}, {"n": 0, "parts": [0, 0]}, {"n": 3, "parts": [1, 1], "stops": "do not add up"}])
dynamic("Split", "equal-empty-end", f32("n", 2), results=4, num_outputs=4, opset=18, sizes=[{"n": 9}, {"n": 8}])
PADS = chosen("pads")
dynamic("Pad", "pads", f32(3, 4), PADS, const(7.5), sizes=values(
    "pads", [1, 2, 3, 4], [0, 0, 0, 0], [-1, 0, 2, -3], [-3, 0, 0, 0], [0, -4, 0, 1],
    stops=[([-4, 0, 0, 0], "would become negative"), ([1 << 50, 0, 0, 0], "a padding is out of range")]))
dynamic("Pad", "pads-of-any", i32("n", 3), PADS, sizes=[
    {"n": 0, "pads": [1, 0, 2, 1]}, {"n": 5, "pads": [-2, 1, 0, 0]}, {"n": 1, "pads": [0, 0, -1, 0]}])
FEW = ([1, 2, 2, 1], [0, 0, 0, 0], [2, 0, 0, 3], [-1, 1, 1, -1])
dynamic("Pad", "pads-reflect", f32(3, 4), PADS, mode="reflect", sizes=values(
    "pads", *FEW, stops=[([3, 0, 0, 0], "cannot be reflected"), ([-2, 0, 1, 0], "cannot be reflected")]))
dynamic("Pad", "pads-edge", f32(3, 4), PADS, mode="edge", sizes=values(
    "pads", *FEW, [5, 0, 9, 0], stops=[([-3, 0, 1, 0], "no elements to repeat")]))
dynamic("Pad", "pads-wrap", f32(3, 4), PADS, mode="wrap", sizes=values("pads", [1, 2, 2, 1], [0, 4, 3, 0]), opset=19)
dynamic("Pad", "pads-axes", f32(3, 4, 5), PADS, None, AXES, mode="edge", opset=18, sizes=[
    {"pads": [1, 2, 0, 3], "axes": [0, 2]}, {"pads": [1, 2, 0, 3], "axes": [-1, 1]},
    {"pads": [1, 2, 0, 3], "axes": [1, 3], "stops": "not within a tensor of rank 3"}])
dynamic("Pad", "pads-some", f32(3, "n"), PADS, None, ints(1), opset=18, sizes=[
    {"n": 2, "pads": [1, 2]}, {"n": 0, "pads": [0, 2]}, {"n": 5, "pads": [-5, 0]}])
dynamic("CenterCropPad", "sizes", f32(5, 4, 3), chosen("wanted"), opset=18, sizes=values(
    "wanted", [2, 7, 3], [5, 1, 8], [0, 4, 4], stops=[([2, -1, 3], "a size is negative")]))
dynamic("CenterCropPad", "of-any", f32("n", 4), ints(5), axes=[0], opset=18, sizes=[{"n": 9}, {"n": 2}, {"n": 5}])

SCALES = chosen("scales", "float32")


def by_scales(label, *rows, shape=(1, 2, 5, 7), **options):
    rows = [([1, 1, *row[:2]], *row[2:]) for row in rows]
    sizes = [{"scales": row[0], "stops": row[1]} if len(row) > 1 else {"scales": row[0]} for row in rows]
    dynamic("Resize", f"scales-{label}", f32(*shape), None, SCALES, sizes=sizes, opset=18, **options)


UP_AND_DOWN = (2, 3), (0.6, 1.7), (1, 0.5), (0.4, 0.3)
by_scales("nearest", *UP_AND_DOWN, (-1, 1, "a scale is out of range"), (np.nan, 1, "a scale is out of range"))
by_scales("nearest-floor", *UP_AND_DOWN, coordinate_transformation_mode="asymmetric", nearest_mode="floor")
by_scales("linear", *UP_AND_DOWN, mode="linear")
by_scales("linear-pytorch", *UP_AND_DOWN, mode="linear", coordinate_transformation_mode="pytorch_half_pixel")
by_scales("cubic", *UP_AND_DOWN, mode="cubic", exclude_outside=1)
by_scales("linear-antialias", *UP_AND_DOWN, mode="linear", antialias=1, reference=True)
by_scales("cubic-antialias", *UP_AND_DOWN, mode="cubic", antialias=1, reference=True)
dynamic("Resize", "scales-of-any", f32("n", 2, 5, "m"), None, SCALES, mode="linear", sizes=[
    {"n": 1, "m": 3, "scales": [1, 1, 2, 0.5]}, {"n": 3, "m": 8, "scales": [1, 1, 0.5, 3]}])
dynamic("Resize", "sizes-antialias", f32(1, 1, 9, 8), None, None, chosen("to"), mode="linear", antialias=1, opset=18,
        axes=[2, 3], reference=True, sizes=values("to", [4, 3], [3, 11], [20, 2], stops=[([-4, 3], "a size is negative")]))
for policy in ("not_larger", "not_smaller"):
    dynamic("Resize", f"sizes-{policy}", f32(1, 1, 9, 8), None, None, chosen("to"), axes=[2, 3], opset=18,
            keep_aspect_ratio_policy=policy, sizes=values("to", [4, 3], [3, 11], [20, 2]))
dynamic("Resize", "crop", f32(1, 1, 9, 8), chosen("roi", "float32"), None, ints(1, 1, 4, 5), mode="linear",
        coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=3.0, sizes=values(
            "roi", [0, 0, 0.4, 0.6, 1, 1, 0.6, 0.8], [0, 0, -0.2, 0.6, 1, 1, 0.6, 1.3], [0, 0, 0.9, 1, 1, 1, 0.2, 0]))

LENGTH = chosen("length")
for window in ("HannWindow", "HammingWindow", "BlackmanWindow"):
    dynamic(window, "size", LENGTH, sizes=values("length", 10, 1, 0, stops=[(-1, "size is out of range")]))
    dynamic(window, "size-symmetric", LENGTH, sizes=values("length", 10, 2), periodic=0, output_datatype=11)
SIGNAL = chosen("axis")
dynamic("DFT", "axis", f32(2, 6, 5, 1), None, SIGNAL, opset=20, tolerance=1e-4, sizes=values(
    "axis", 1, -2, 0, stops=[(3, "the components cannot be transformed"), (-5, "not within")]))
dynamic("DFT", "length", f32(2, 6, 2), LENGTH, opset=20, tolerance=1e-4, sizes=values(
    "length", 6, 9, 4, 1, stops=[(0, "a length is out of range")]))
dynamic("DFT", "inverse", f32(2, 6, 5, 2), LENGTH, SIGNAL, opset=20, inverse=1, tolerance=1e-4, sizes=[
    {"axis": 1, "length": 6}, {"axis": 2, "length": 7}])
dynamic("DFT", "onesided", f32(2, 6, 5, 1), None, SIGNAL, opset=20, onesided=1, tolerance=1e-4,
        sizes=values("axis", 1, 2))
dynamic("DFT", "batch", f32("n", 96, 1), opset=17, axis=1, tolerance=2e-3, sizes=[{"n": 3}, {"n": 1}])
dynamic("DFT", "batch-inverse", f32("n", 3, 167, "m", 2), opset=17, axis=2, inverse=1, tolerance=1e-3,
        sizes=[{"n": 2, "m": 1}, {"n": 1, "m": 2}])
dynamic("DFT", "components", f32("n", "m", "c"), opset=17, axis=1, tolerance=1e-4,
        sizes=[{"n": 2, "m": 7, "c": 1}, {"n": 1, "m": 8, "c": 2}])
dynamic("DFT", "of-any", f32("n", "m", 2), opset=17, axis=1, tolerance=1e-4, sizes=[{"n": 2, "m": 7}, {"n": 1, "m": 8}])
STEP = chosen("step")
dynamic("STFT", "step", f32(2, 32, 1), STEP, None, chosen("length"), tolerance=1e-4, sizes=[
    {"step": 4, "length": 8}, {"step": 5, "length": 9}, {"step": 0, "length": 8, "stops": "do not fit the signal"},
    {"step": 1, "length": 33, "stops": "do not fit the signal"}])
dynamic("STFT", "batch", f32("n", 64, 1), const(8, "int64"), f32(16), tolerance=1e-4, sizes=[{"n": 2}, {"n": 1}])
dynamic("STFT", "window", f32("n", "m", 1), STEP, f32(8), onesided=0, tolerance=1e-4, sizes=[
    {"n": 1, "m": 16, "step": 4}, {"n": 3, "m": 9, "step": 2}])
dynamic("STFT", "plain", f32("n", "m"), const(4, "int64"), f32(8), tolerance=1e-4, sizes=[
    {"n": 1, "m": 16}, {"n": 3, "m": 9}])
dynamic("MelWeightMatrix", "sizes", chosen("bins"), LENGTH, chosen("rate"), chosen("low", "float32"),
        chosen("high", "float32"), tolerance=1e-4, sizes=[
            {"bins": 8, "length": 16, "rate": 8192, "low": 0, "high": 4096},
            {"bins": 5, "length": 64, "rate": 16000, "low": 20, "high": 7000},
            {"bins": 0, "length": 64, "rate": 16000, "low": 20, "high": 7000, "stops": "the sizes are out of range"}])
GRID = chosen("size")
for align in (0, 1):
    dynamic("AffineGrid", f"size-{align}", f32(2, 2, 3), GRID, opset=20, align_corners=align, sizes=values(
        "size", [2, 3, 4, 5], [2, 1, 2, 6], stops=[([2, 3, 0, 4], "a size is out of range"), ([1, 3, 2, 4], "does not fit")]))
dynamic("Col2Im", "shapes", f32(1, 8, 12), chosen("image"), chosen("block"), opset=18, sizes=[
    {"image": [4, 5], "block": [2, 2]}, {"image": [3, 6], "block": [1, 4], "stops": "the columns do not fit"},
    {"image": [4, 6], "block": [1, 4]}, {"image": [1, 1], "block": [2, 2], "stops": "the block is larger"}])
dynamic("Col2Im", "strides", f32("n", 4, 9), chosen("image"), ints(2, 2), opset=18, strides=[2, 1], dilations=[1, 2],
        pads=[1, 0, 0, 1], sizes=[{"n": 2, "image": [5, 4]}, {"n": 1, "image": [6, 4]}])
UNPOOLED = [[[[5, 7], [13, 15]]]]
dynamic("MaxUnpool", "shape", f32(1, 1, 2, 2), given(UNPOOLED, np.int64), chosen("to"), kernel_shape=[2, 2],
        strides=[2, 2], opset=11, sizes=values("to", [1, 1, 4, 4], [1, 1, 5, 6], stops=[([1, 1, 5, 0], "out of range")]),
        reference=True)
dynamic("MaxUnpool", "of-any", f32("n", 1, 2, 2), Random(np.int64, ("n", 1, 2, 2), 0, 1), kernel_shape=[2, 2],
        strides=[2, 2], sizes=[{"n": 1}], opset=11)
BOXES = f32("n", 4, low=0, high=4)
IMAGE = Random(np.int64, ("n",), 0, 1)
for coordinates in ("half_pixel", "output_half_pixel"):
    dynamic("RoiAlign", f"boxes-{coordinates}", f32(2, 3, 9, 8), BOXES, IMAGE, opset=16, output_height=3, output_width=2,
            sampling_ratio=2, coordinate_transformation_mode=coordinates, sizes=[{"n": 4}, {"n": 0}, {"n": 17}])
    dynamic("RoiAlign", f"samples-{coordinates}", f32(2, 3, 9, 8), chosen("boxes", "float32", ("n", 4)), IMAGE, opset=16,
            output_height=3, output_width=2, coordinate_transformation_mode=coordinates, sizes=[
                {"n": 2, "boxes": [[0, 0, 7, 8], [1, 2, 3, 3]]}, {"n": 1, "boxes": [[2, 2, 2, 2]]},
                {"n": 3, "boxes": [[0, 0, 1, 9], [-3, -3, 2, 2], [5, 6, 30, 30]]}])
dynamic("RoiAlign", "max", f32(1, 2, "h", "w"), BOXES, IMAGE, opset=16, mode="max", output_height=2, output_width=2,
        spatial_scale=0.5, sizes=[{"n": 4, "h": 5, "w": 7}, {"n": 2, "h": 2, "w": 1}])
for padding in ("zeros", "border", "reflection"):
    for align in (0, 1):
        dynamic("GridSample", f"{padding}-{align}", f32("n", 2, "h", "w"), f32("n", 3, 4, 2), opset=20, mode="linear",
                padding_mode=padding, align_corners=align, sizes=[{"n": 1, "h": 5, "w": 3}, {"n": 2, "h": 2, "w": 1}])
# What the model declares of its results is wrong: what it computes counts.
case("Abs", "declared-batch", f32("n", 6), sizes=[{"n": 3}, {"n": 1}], declared=[1, 6])
case("Transpose", "declared-sizes", f32(3, 6), declared=[3, 6])
case("Compress", "declared-count", f32(5), chosen("kept", np.bool_), declared=[2],
     sizes=[{"kept": [True, True, True, False, False]}, {"kept": [False] * 5}])
