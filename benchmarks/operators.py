"""Time of single operators at one thread next to ONNX Runtime and, where it is installed, OpenVINO, in turn: what whole
models hide.

    .venv/bin/python benchmarks/operators.py --tools build/tools [--only TEXT]... [--above 1.5]

Prints least milliseconds of CPU time and the ratio of ours to the fastest peer's, the worst first. Results are compared
with ONNX Runtime's.
"""

import argparse
import pathlib
import sys
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks" / "models")]
from check import run_model  # noqa: E402
from compare import Compiled, begin_peer, machine, module_sampler, onnxruntime_sampler, openvino_sampler  # noqa: E402
from compare import table, take_turns  # noqa: E402
from tools import LOCAL_SYNC, ToolError, Tools, call  # noqa: E402

HOST = "--iree-llvmcpu-target-cpu=host"
RANDOM = np.random.default_rng(3)
ROWS = []


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def below(count, *shape):
    return RANDOM.integers(0, count, shape)


def mostly(value, *shape):
    return RANDOM.random(shape) < value


def op(name, kind, inputs, outputs=1, constants=None, dynamic=False, **attributes):
    """One row: `inputs` are given at run time, `constants` (by position, behind the inputs unless given) are not."""
    ROWS.append((name, kind, inputs, outputs, constants or [], dynamic, attributes))


def ints(*values):
    return np.array(values, np.int64)


def moves():
    x = normal(1000, 1000)
    op("transpose 1000x1000", "Transpose", [x], perm=[1, 0])
    op("transpose 1009x997", "Transpose", [normal(1009, 997)], perm=[1, 0])
    op("transpose u8 1024x1024", "Transpose", [below(200, 1024, 1024).astype(np.uint8)], perm=[1, 0])
    op("transpose nchw-nhwc", "Transpose", [normal(1, 64, 112, 112)], perm=[0, 2, 3, 1])
    op("transpose nhwc-nchw", "Transpose", [normal(1, 112, 112, 64)], perm=[0, 3, 1, 2])
    op("transpose nhwc-nchw 3", "Transpose", [normal(1, 224, 224, 3)], perm=[0, 3, 1, 2])
    op("transpose nchw-nhwc 3", "Transpose", [normal(1, 3, 224, 224)], perm=[0, 2, 3, 1])
    op("transpose heads", "Transpose", [normal(8, 128, 12, 64)], perm=[0, 2, 1, 3])
    op("transpose keys", "Transpose", [normal(8, 128, 12, 64)], perm=[0, 2, 3, 1])
    op("transpose 0213 of 7", "Transpose", [normal(4, 101, 103, 7)], perm=[0, 2, 1, 3])
    op("transpose 210", "Transpose", [normal(100, 100, 100)], perm=[2, 1, 0])
    op("transpose ?x?", "Transpose", [normal(1000, 1000)], dynamic=True, perm=[1, 0])
    op("tile inner 3", "Tile", [normal(1000, 333)], constants=[ints(1, 3)])
    op("tile inner of 7", "Tile", [normal(1000, 7)], constants=[ints(1, 101)])
    op("tile outer", "Tile", [normal(100, 1000)], constants=[ints(10, 1)])
    op("tile 4d", "Tile", [normal(4, 16, 16, 16)], constants=[ints(1, 2, 3, 4)])
    op("tile ?", "Tile", [normal(1000, 333)], constants=[ints(1, 3)], dynamic=True)
    for mode in ("constant", "reflect", "edge", "wrap"):
        op(f"pad {mode}", "Pad", [normal(1, 64, 112, 112)], constants=[ints(0, 0, 3, 3, 0, 0, 3, 3)], mode=mode)
    op("pad reflect ?", "Pad", [normal(1, 64, 112, 112)], constants=[ints(0, 0, 3, 3, 0, 0, 3, 3)], dynamic=True,
       mode="reflect")
    op("pad constant ?", "Pad", [normal(1, 64, 112, 112)], constants=[ints(0, 0, 3, 3, 0, 0, 3, 3)], dynamic=True)
    op("pad 1d", "Pad", [normal(1000000)], constants=[ints(100, 100)], mode="reflect")
    op("concat last", "Concat", [normal(1000, 301), normal(1000, 403), normal(1000, 307)], axis=1)
    op("concat first", "Concat", [normal(301, 1000), normal(403, 1000), normal(307, 1000)], axis=0)
    op("concat last ?", "Concat", [normal(1000, 301), normal(1000, 403), normal(1000, 307)], dynamic=True, axis=1)
    op("concat ones", "Concat", [normal(100000, 1), normal(100000, 1), normal(100000, 1)], axis=1)
    op("concat channels", "Concat", [normal(1, 33, 56, 56), normal(1, 67, 56, 56), normal(1, 1, 56, 56)], axis=1)
    op("stack 16", "Concat", [normal(1000, 16) for _ in range(16)], axis=1)
    op("slice step 2", "Slice", [normal(1000, 1000)], constants=[ints(0), ints(1000), ints(1), ints(2)])
    op("slice step -1", "Slice", [normal(1000, 1000)], constants=[ints(-1), ints(-2000), ints(1), ints(-1)])
    op("slice step 3 rows", "Slice", [normal(1000, 1000)], constants=[ints(0), ints(1000), ints(0), ints(3)])
    op("slice inner", "Slice", [normal(1000, 1000)], constants=[ints(3), ints(990), ints(1), ints(1)])
    op("split", "Split", [normal(1000, 999)], outputs=3, axis=1, num_outputs=3)
    op("expand inner", "Expand", [normal(1000, 1)], constants=[ints(1000, 1000)])
    op("expand outer", "Expand", [normal(1, 1000)], constants=[ints(1000, 1000)])
    op("expand middle", "Expand", [normal(100, 1, 101)], constants=[ints(100, 100, 101)])
    op("depth to space", "DepthToSpace", [normal(1, 64, 112, 112)], blocksize=2)
    op("depth to space crd", "DepthToSpace", [normal(1, 48, 128, 128)], blocksize=4, mode="CRD")
    op("space to depth", "SpaceToDepth", [normal(1, 16, 224, 224)], blocksize=2)
    op("where broadcast", "Where", [mostly(0.5, 1000, 1), normal(1000, 1000), normal(1, 1)])
    op("where mask", "Where", [mostly(0.5, 1000, 1000), normal(1000, 1000), normal(1, 1)])
    op("trilu", "Trilu", [normal(1000, 1000)])
    op("one hot", "OneHot", [below(100, 10000)], constants=[ints(100), np.array([0, 1], np.float32)])
    op("eye like", "EyeLike", [normal(1000, 1000)])
    op("reverse sequence", "ReverseSequence", [normal(100, 100, 100), below(99, 100) + 1], batch_axis=1, time_axis=0)
    op("unsqueeze add", "Add", [normal(1000, 1), normal(1, 1000)])
    op("add channels", "Add", [normal(1, 64, 112, 112), normal(64, 1, 1)])
    op("add ?", "Add", [normal(1000, 1000), normal(1000, 1000)], dynamic=True)
    op("add row ?", "Add", [normal(1000, 1000), normal(1000)], dynamic=True)


def gathers():
    op("gather rows", "Gather", [normal(10000, 100), below(10000, 10000)])
    op("gather inner", "Gather", [normal(1000, 1000), below(1000, 500)], axis=1)
    op("gather scalars", "Gather", [normal(100000), below(100000, 100000)])
    op("gather elements 1", "GatherElements", [normal(1000, 1000), below(1000, 1000, 1000)], axis=1)
    op("gather elements 0", "GatherElements", [normal(1000, 1000), below(1000, 1000, 1000)], axis=0)
    op("gather nd", "GatherND", [normal(100, 100, 100), below(100, 10000, 2)])
    op("gather nd full", "GatherND", [normal(100, 100, 100), below(100, 100000, 3)])
    op("scatter nd", "ScatterND", [normal(1000, 1000), below(1000, 300, 1), normal(300, 1000)])
    op("scatter nd scalars", "ScatterND", [normal(1000, 1000), below(1000, 10000, 2), normal(10000)])
    op("scatter elements", "ScatterElements", [normal(1000, 1000), below(1000, 100, 1000), normal(100, 1000)])
    op("scatter elements add", "ScatterElements", [normal(1000, 1000), below(1000, 100, 1000), normal(100, 1000)],
       reduction="add")
    op("scatter elements 1", "ScatterElements", [normal(1000, 1000), below(1000, 1000, 100), normal(1000, 100)], axis=1)
    op("nonzero half", "NonZero", [mostly(0.5, 1000, 1000)])
    op("nonzero few", "NonZero", [normal(1000, 1000) * mostly(0.01, 1000, 1000)])
    op("nonzero 1d", "NonZero", [normal(100000) * mostly(0.3, 100000)])
    op("compress", "Compress", [normal(100000), mostly(0.5, 100000)])
    op("compress rows", "Compress", [normal(1000, 1000), mostly(0.5, 1000)], axis=0)
    op("unique", "Unique", [below(100, 10000).astype(np.float32)])
    op("cumsum last", "CumSum", [normal(1000, 1000)], constants=[np.array(1, np.int64)])
    op("cumsum first", "CumSum", [normal(1000, 1000)], constants=[np.array(0, np.int64)])
    op("cumsum line", "CumSum", [normal(1000000)], constants=[np.array(0, np.int64)])
    for k in (1, 5, 50, 500):
        op(f"top {k} of 100000", "TopK", [normal(100000)], outputs=2, constants=[ints(k)])
    op("top 5 of 1000 rows", "TopK", [normal(1000, 1000)], outputs=2, constants=[ints(5)])
    op("top 300 of 1000 rows", "TopK", [normal(100, 1000)], outputs=2, constants=[ints(300)])
    op("top 5 of columns", "TopK", [normal(1000, 1000)], outputs=2, constants=[ints(5)], axis=0)
    op("top all of 1000", "TopK", [normal(100, 1000)], outputs=2, constants=[ints(1000)])
    boxes = np.sort(RANDOM.random((1, 500, 2, 2)), axis=2).reshape(1, 500, 4).astype(np.float32)
    op("nms", "NonMaxSuppression", [boxes, RANDOM.random((1, 4, 500)).astype(np.float32)],
       constants=[ints(20), np.array([0.5], np.float32), np.array([0.1], np.float32)])
    rois = np.concatenate([RANDOM.random((50, 2)) * 20, 20 + RANDOM.random((50, 2)) * 30], 1).astype(np.float32)
    op("roi align", "RoiAlign", [normal(1, 64, 56, 56), rois, np.zeros(50, np.int64)], output_height=7, output_width=7,
       sampling_ratio=2)
    grid = (RANDOM.random((1, 64, 64, 2)) * 2 - 1).astype(np.float32)
    for mode in ("linear", "nearest", "cubic"):
        op(f"grid sample {mode}", "GridSample", [normal(1, 32, 64, 64), grid], mode=mode)
    op("col2im", "Col2Im", [normal(1, 16 * 9, 64 * 64)], constants=[ints(66, 66), ints(3, 3)])


def resizes():
    empty = np.array([], np.float32)
    for mode in ("nearest", "linear", "cubic"):
        op(f"resize x2 {mode}", "Resize", [normal(1, 32, 56, 56)], mode=mode,
           constants=[empty, np.array([1, 1, 2, 2], np.float32)])
        op(f"resize 56 to 101 {mode}", "Resize", [normal(1, 32, 56, 56)], mode=mode,
           constants=[empty, empty, ints(1, 32, 101, 101)])
        op(f"resize /2 {mode}", "Resize", [normal(1, 32, 112, 112)], mode=mode,
           constants=[empty, np.array([1, 1, 0.5, 0.5], np.float32)])
    op("resize asymmetric nearest", "Resize", [normal(1, 64, 56, 56)], mode="nearest", nearest_mode="floor",
       coordinate_transformation_mode="asymmetric", constants=[empty, np.array([1, 1, 2, 2], np.float32)])
    op("upsample nearest ?", "Resize", [normal(1, 64, 56, 56)], mode="nearest", nearest_mode="floor", dynamic=True,
       coordinate_transformation_mode="asymmetric", constants=[empty, np.array([1, 1, 2, 2], np.float32)])


def reductions():
    for kind in ("Sum", "Max", "Mean", "L2", "LogSumExp", "Prod"):
        x = normal(100, 100, 100)
        for axes in ((2,), (1,), (0,), (0, 2), (0, 1, 2)):
            op(f"reduce {kind} {axes}", f"Reduce{kind}", [x], constants=[ints(*axes)])
    op("reduce Max rows 1000", "ReduceMax", [normal(1000, 1000)], constants=[ints(1)])
    op("reduce Max rows 1000 ?", "ReduceMax", [normal(1000, 1000)], constants=[ints(1)], dynamic=True)
    op("reduce Sum rows of 7", "ReduceSum", [normal(100000, 7)], constants=[ints(1)])
    op("reduce Max rows of 3", "ReduceMax", [normal(100000, 3)], constants=[ints(1)])
    op("reduce Sum columns", "ReduceSum", [normal(1000, 1000)], constants=[ints(0)])
    op("reduce Sum columns of 7", "ReduceSum", [normal(100000, 7)], constants=[ints(0)])
    op("reduce Sum ?", "ReduceSum", [normal(1000, 1000)], constants=[ints(1)], dynamic=True)
    op("reduce Min i64", "ReduceMin", [below(1000, 1000, 1000)], constants=[ints(1)])
    op("global pool", "GlobalAveragePool", [normal(1, 1000, 14, 14)])
    op("global max pool", "GlobalMaxPool", [normal(1, 1000, 7, 7)])
    for axis in (0, 1):
        op(f"argmax {axis}", "ArgMax", [normal(1000, 1000)], axis=axis)
    op("argmax line", "ArgMax", [normal(1000000)], axis=0)
    op("argmax 1 ?", "ArgMax", [normal(1000, 1000)], dynamic=True, axis=1)
    op("argmax of 7", "ArgMax", [normal(100000, 7)], axis=1)
    op("argmin u8", "ArgMin", [below(200, 1000, 1000).astype(np.uint8)], axis=1)
    op("argmax channels", "ArgMax", [normal(1, 21, 200, 200)], axis=1)
    for kind in ("Softmax", "LogSoftmax"):
        op(f"{kind} 1000", kind, [normal(1000, 1000)])
        op(f"{kind} 997", kind, [normal(1000, 997)])
        op(f"{kind} of 7", kind, [normal(100000, 7)])
        op(f"{kind} 128", kind, [normal(1536, 128)])
        op(f"{kind} axis 1", kind, [normal(1, 21, 200, 200)], axis=1)
        op(f"{kind} columns", kind, [normal(1000, 1000)], axis=0)
        op(f"{kind} ?", kind, [normal(1000, 1000)], dynamic=True)
        op(f"{kind} line", kind, [normal(1, 50000)])
    op("layer norm 768", "LayerNormalization", [normal(512, 768), normal(768), normal(768)])
    op("layer norm 1000 ?", "LayerNormalization", [normal(512, 1000), normal(1000), normal(1000)], dynamic=True)
    op("instance norm", "InstanceNormalization", [normal(1, 64, 112, 112), normal(64), normal(64)])
    op("instance norm 7x7", "InstanceNormalization", [normal(8, 512, 7, 7), normal(512), normal(512)])
    op("batch norm", "BatchNormalization", [normal(1, 64, 56, 56), *(np.abs(normal(64)) for _ in range(4))])
    op("lp normalize", "LpNormalization", [normal(1000, 1000)])
    op("matrix by vector", "MatMul", [normal(1000, 1000), normal(1000, 1)])
    op("vector by matrix", "MatMul", [normal(1, 1000), normal(1000, 1000)])
    op("vector by weights", "MatMul", [normal(1, 1000)], constants=[normal(1000, 1000)])
    op("vector by matrix ?", "MatMul", [normal(1, 1000), normal(1000, 1000)], dynamic=True)
    op("einsum bii->bi", "Einsum", [normal(100, 100, 100)], equation="bii->bi")
    op("einsum bij->bji", "Einsum", [normal(100, 100, 100)], equation="bij->bji")
    op("einsum bij->b", "Einsum", [normal(100, 100, 100)], equation="bij->b")
    op("einsum i,j->ij", "Einsum", [normal(1000), normal(1000)], equation="i,j->ij")
    op("einsum bhqd,bhkd->bhqk", "Einsum", [normal(2, 4, 64, 64), normal(2, 4, 64, 64)], equation="bhqd,bhkd->bhqk")
    op("einsum bqhd,bkhd->bhqk", "Einsum", [normal(2, 64, 4, 64), normal(2, 64, 4, 64)], equation="bqhd,bkhd->bhqk")
    op("einsum ii->", "Einsum", [normal(1000, 1000)], equation="ii->")


def pools():
    x = normal(1, 64, 112, 112)
    op("max pool 3x3/2", "MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    op("max pool 3x3/1", "MaxPool", [normal(1, 64, 56, 56)], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    op("max pool 2x2/2", "MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    op("max pool 5x5/1", "MaxPool", [normal(1, 64, 20, 20)], kernel_shape=[5, 5], pads=[2, 2, 2, 2])
    op("max pool same", "MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER")
    op("max pool same ?", "MaxPool", [x], dynamic=True, kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER")
    op("max pool 3x3/2 ?", "MaxPool", [x], dynamic=True, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    op("max pool indices", "MaxPool", [normal(1, 64, 56, 56)], outputs=2, kernel_shape=[2, 2], strides=[2, 2])
    op("average pool 3x3/2", "AveragePool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    op("average pool 2x2/2", "AveragePool", [x], kernel_shape=[2, 2], strides=[2, 2])
    op("average pool 3x3/1", "AveragePool", [normal(1, 64, 56, 56)], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    op("lp pool", "LpPool", [x], kernel_shape=[3, 3], strides=[2, 2])
    op("max pool 1d", "MaxPool", [normal(1, 64, 10000)], kernel_shape=[3], strides=[2])
    op("lrn", "LRN", [normal(1, 64, 56, 56)], size=5)
    for size, stride in ((3, 1), (3, 2), (5, 1), (7, 1)):
        op(f"depthwise {size}x{size}/{stride}", "Conv", [normal(1, 32, 56, 56)], constants=[normal(32, 1, size, size)],
           group=32, kernel_shape=[size] * 2, strides=[stride] * 2, pads=[size // 2] * 4)
    op("depthwise 3x3 of 14", "Conv", [normal(1, 256, 14, 14)], constants=[normal(256, 1, 3, 3)], group=256,
       kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    op("depthwise 3x3 ?", "Conv", [normal(1, 32, 56, 56)], constants=[normal(32, 1, 3, 3)], dynamic=True, group=32,
       kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    op("depthwise 1d", "Conv", [normal(1, 64, 1000)], constants=[normal(64, 1, 15)], group=64, kernel_shape=[15],
       pads=[7, 7])
    op("conv1d 1 channel", "Conv", [normal(1, 1, 16000)], constants=[normal(32, 1, 25)], kernel_shape=[25])
    op("conv1d 1 channel /5", "Conv", [normal(1, 1, 16000)], constants=[normal(64, 1, 10)], kernel_shape=[10],
       strides=[5])
    op("conv1d 64", "Conv", [normal(1, 64, 1000)], constants=[normal(64, 64, 3)], kernel_shape=[3], pads=[1, 1])


def scalars():
    x = normal(1000, 1000)
    for kind in ("Erf", "Gelu", "Tanh", "Sigmoid", "Exp", "Softplus", "Elu", "HardSwish", "Mish", "Sqrt", "Sin",
                 "Round", "Floor", "Selu", "LeakyRelu", "Abs", "Neg", "Sign", "Reciprocal", "Celu", "Softsign", "Atan",
                 "Cosh", "Asinh", "Tan", "IsNaN"):
        op(kind, kind, [x])
    for kind in ("Log", "Sqrt", "Acosh"):
        op(f"{kind} positive", kind, [np.abs(x) + 1])
    op("Pow 2", "Pow", [x], constants=[np.array(2, np.float32)])
    op("Pow", "Pow", [np.abs(x), normal(1000, 1000)])
    op("Mod i64", "Mod", [below(100000, 1000, 1000), below(1000, 1000, 1000) + 1])
    op("Div i64", "Div", [below(100000, 1000, 1000), below(1000, 1000, 1000) + 1])
    op("Div i32", "Div", [below(99999, 1000, 1000).astype(np.int32), below(999, 1000, 1000).astype(np.int32) + 1])
    op("fmod", "Mod", [x, np.abs(normal(1000, 1000)) + 1], fmod=1)
    op("cast f32-i8", "Cast", [x * 50], to=TensorProto.INT8)
    op("cast f32-u8", "Cast", [np.abs(x) * 50], to=TensorProto.UINT8)
    op("cast u8-f32", "Cast", [below(200, 1000, 1000).astype(np.uint8)], to=TensorProto.FLOAT)
    op("cast i64-f32", "Cast", [below(200, 1000, 1000)], to=TensorProto.FLOAT)
    op("cast f32-i64", "Cast", [x * 100], to=TensorProto.INT64)
    op("cast f32-f16", "Cast", [x], to=TensorProto.FLOAT16)
    op("cast f16-f32", "Cast", [x.astype(np.float16)], to=TensorProto.FLOAT)
    op("cast f32-bool", "Cast", [x], to=TensorProto.BOOL)
    op("cast f32-f64", "Cast", [x], to=TensorProto.DOUBLE)
    op("cast i32-i64", "Cast", [below(200, 1000, 1000).astype(np.int32)], to=TensorProto.INT64)
    scale = [np.array(0.05, np.float32), np.array(10, np.uint8)]
    op("quantize", "QuantizeLinear", [x], constants=scale)
    op("dequantize", "DequantizeLinear", [below(200, 1000, 1000).astype(np.uint8)], constants=scale)
    op("dynamic quantize", "DynamicQuantizeLinear", [x], outputs=3)
    op("greater", "Greater", [x, normal(1000, 1000)])
    op("and", "And", [mostly(0.5, 1000, 1000), mostly(0.5, 1000, 1000)])
    op("equal i64", "Equal", [below(3, 1000, 1000), below(3, 1000, 1000)])
    op("not", "Not", [mostly(0.5, 1000, 1000)])
    op("clip", "Clip", [x], constants=[np.array(0, np.float32), np.array(6, np.float32)])
    op("prelu", "PRelu", [normal(1, 64, 112, 112), normal(64, 1, 1)])
    op("max of 3", "Max", [x, normal(1000, 1000), normal(1000)])
    op("bit shift", "BitShift", [below(200, 1000, 1000).astype(np.uint32), below(9, 1000, 1000).astype(np.uint32)],
       direction="LEFT")


def type_of(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def model_of(row):
    """The ONNX model of a row and its arrays by input's name."""
    _, kind, inputs, outputs, constants, dynamic, attributes = row
    arrays = {f"x{i}": np.ascontiguousarray(array) for i, array in enumerate(inputs)}
    names = list(arrays)
    initializers = []
    for i, array in enumerate(constants):
        initializers.append(numpy_helper.from_array(array, f"c{i}"))
        names.append(f"c{i}" if array.size else "")
    node = helper.make_node(kind, names, [f"y{i}" for i in range(outputs)], **attributes)
    shapes = {name: [f"d{i}_{name}" for i in range(array.ndim)] if dynamic else array.shape
              for name, array in arrays.items()}
    values = [helper.make_tensor_value_info(name, type_of(array), shapes[name]) for name, array in arrays.items()]
    results = [helper.make_empty_tensor_value_info(f"y{i}") for i in range(outputs)]
    graph = helper.make_graph([node], "main_graph", values, results, initializers)
    version = 20 if kind in ("Gelu", "GridSample", "ReduceMax") else 18
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=10)
    model = onnx.shape_inference.infer_shapes(model)
    return model, arrays


def differs(ours, theirs):
    """The largest difference over the largest element, or infinity when sizes differ."""
    worst = 0.0
    for x, y in zip(ours, theirs):
        if x.shape != y.shape:
            return float("inf")
        if x.dtype.itemsize == y.dtype.itemsize and x.dtype.kind in "iu":
            x = x.view(y.dtype)  # numbers without a sign are written as if they had one
        if y.size:
            x, y = x.astype(np.float64), y.astype(np.float64)
            same = (x == y) | (np.isnan(x) & np.isnan(y))
            with np.errstate(invalid="ignore"):
                error = np.where(same, 0, np.abs(x - y)).max()
            worst = max(worst, float(error / max(1e-30, np.abs(y[np.isfinite(y)]).max(initial=0))))
    return worst


def measure_row(row, tools, work, arguments):
    """Least milliseconds by system, and how far results differ."""
    model, arrays = model_of(row)
    folder = work / row[0].replace(" ", "_").replace("/", "by").replace(">", "").replace(",", "_")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "model.onnx"
    onnx.save(model, path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    expected = session.run(None, arrays)
    inputs = []
    for key, array in arrays.items():
        np.save(folder / f"{key}.npy", array)
        inputs.append(f"@{folder / key}.npy")
    compiled = Compiled(row[0], tools)
    compiled.module = folder / "model.vmfb"
    call(tools.compile(path, compiled.module, [HOST]), timeout=60)
    results = run_model(tools, compiled.module, "main_graph", inputs, folder, LOCAL_SYNC, len(expected))
    error = differs(results, expected)
    samplers = {("iree-c",): module_sampler(compiled, "main_graph", inputs, LOCAL_SYNC, cpu=True),
                ("ONNX Runtime",): onnxruntime_sampler(path, arrays, 1, time.process_time)}
    peer = begin_peer(openvino_sampler, path, arrays, 1, time.process_time)
    if peer:
        samplers["OpenVINO",] = peer
    samples = take_turns(samplers, arguments.rounds, arguments.seconds)
    return {name: min(times) for (name,), times in samples.items() if times}, error


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, help="folder of iree-compile and the others")
    parser.add_argument("--work", default="build/operators", help="folder for models and results")
    parser.add_argument("--only", action="append", help="rows whose name has this; repeatable")
    parser.add_argument("--flag", action="append", default=[], help="one more flag for iree-compile; repeatable")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.05, help="of each system in each round")
    parser.add_argument("--above", type=float, default=0, help="print rows of at least this ratio only")
    arguments = parser.parse_args()
    for group in (moves, gathers, resizes, reductions, pools, scalars):
        group()
    tools, work = Tools(arguments.tools, arguments.flag), pathlib.Path(arguments.work)
    lines, failures, count = [], [], 0
    for row in ROWS:
        if arguments.only and not any(text in row[0] for text in arguments.only):
            continue
        count += 1
        try:
            least, error = measure_row(row, tools, work, arguments)
        except ToolError as fault:
            failures.append(f"{row[0]}: {fault.brief()}")
            continue
        ratio = least["iree-c"] / min(value for name, value in least.items() if name != "iree-c")
        cells = [f"{least[name]:.4f}" if name in least else "" for name in ("iree-c", "ONNX Runtime", "OpenVINO")]
        lines.append((ratio, [row[0], *cells, f"{ratio:.2f}", f"{error:.1e}"]))
        print(" | ".join(lines[-1][1]), file=sys.stderr, flush=True)
    lines.sort(key=lambda line: -line[0])
    print(f"Machine: {machine()}. ONNX Runtime {onnxruntime.__version__}. One thread, least ms.")
    print(table("Operators", ["operator", "iree-c", "ONNX Runtime", "OpenVINO", "ratio", "error"],
                [cells for ratio, cells in lines if ratio >= arguments.above]))
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    print(f"{count - len(failures)} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
