"""Convolutions of every rank and form, transposed convolutions, pooling."""

import numpy as np
from onnx import TensorProto

from case import case, const, f16, f32, graph_case, i8, u8, via, weights

# Label, input, weights, attributes.
CONV = [
    ("1x1", (1, 8, 6, 6), (16, 8, 1, 1), {}),
    ("1x1-stride2", (1, 8, 7, 7), (16, 8, 1, 1), {"strides": [2, 2]}),
    ("3x3", (1, 3, 8, 8), (4, 3, 3, 3), {}),
    ("3x3-pad", (1, 3, 8, 8), (4, 3, 3, 3), {"pads": [1, 1, 1, 1]}),
    ("3x3-pad-stride2", (1, 3, 9, 9), (4, 3, 3, 3), {"pads": [1, 1, 1, 1], "strides": [2, 2]}),
    ("3x3-wide", (1, 32, 10, 10), (64, 32, 3, 3), {"pads": [1, 1, 1, 1]}),
    ("7x7-stride2", (1, 3, 20, 20), (8, 3, 7, 7), {"pads": [3, 3, 3, 3], "strides": [2, 2]}),
    ("5x5", (2, 3, 9, 9), (5, 3, 5, 5), {"pads": [2, 2, 2, 2]}),
    ("rectangle", (1, 3, 9, 11), (4, 3, 3, 5), {"pads": [1, 2, 1, 2]}),
    ("asymmetric", (1, 3, 8, 8), (4, 3, 3, 3), {"pads": [0, 1, 2, 1]}),
    ("dilated", (1, 3, 12, 12), (4, 3, 3, 3), {"dilations": [2, 2], "pads": [2, 2, 2, 2]}),
    ("dilated-mixed", (1, 3, 12, 12), (4, 3, 3, 3), {"dilations": [2, 3]}),
    ("strides-mixed", (1, 3, 12, 12), (4, 3, 3, 3), {"strides": [2, 3]}),
    ("groups", (1, 6, 8, 8), (4, 3, 3, 3), {"group": 2, "pads": [1, 1, 1, 1]}),
    ("groups-many", (1, 32, 8, 8), (32, 4, 3, 3), {"group": 8, "pads": [1, 1, 1, 1]}),
    ("depthwise", (1, 16, 9, 9), (16, 1, 3, 3), {"group": 16, "pads": [1, 1, 1, 1]}),
    ("depthwise-stride2", (1, 16, 9, 9), (16, 1, 3, 3), {"group": 16, "pads": [1, 1, 1, 1], "strides": [2, 2]}),
    ("depthwise-5x5", (1, 20, 9, 9), (20, 1, 5, 5), {"group": 20, "pads": [2, 2, 2, 2]}),
    ("depthwise-steps", (2, 6, 27, 23), (6, 1, 3, 3), {"group": 6, "pads": [2, 1, 1, 0], "strides": [2, 1],
                                                       "dilations": [2, 1]}),
    ("depthwise-plane", (1, 3, 90, 41), (3, 1, 5, 5), {"group": 3, "pads": [2, 2, 2, 2]}),
    ("depthwise-twice", (1, 5, 8, 8), (10, 1, 3, 3), {"group": 5, "pads": [1, 1, 1, 1]}),
    ("batch", (4, 3, 6, 6), (8, 3, 3, 3), {"pads": [1, 1, 1, 1]}),
    ("same-upper", (1, 3, 8, 8), (4, 3, 3, 3), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    ("same-lower", (1, 3, 8, 8), (4, 3, 4, 4), {"auto_pad": "SAME_LOWER"}),
    ("valid", (1, 3, 8, 8), (4, 3, 3, 3), {"auto_pad": "VALID"}),
    ("patches", (1, 3, 32, 32), (24, 3, 16, 16), {"strides": [16, 16]}),
    ("odd-channels", (1, 5, 7, 7), (7, 5, 3, 3), {"pads": [1, 1, 1, 1]}),
    ("1d", (2, 4, 20), (6, 4, 3), {"pads": [1, 1]}),
    ("1d-stride-dilated", (1, 4, 21), (6, 4, 3), {"strides": [2], "dilations": [3], "pads": [3, 3]}),
    ("1d-depthwise", (1, 8, 20), (8, 1, 4), {"group": 8, "pads": [3, 0]}),
    ("3d", (1, 2, 6, 6, 6), (4, 2, 3, 3, 3), {"pads": [1] * 6}),
    ("3d-stride", (1, 2, 7, 6, 5), (4, 2, 3, 2, 1), {"strides": [2, 2, 1]}),
]
for label, x, w, attributes in CONV:
    spread = (3 / np.prod(w[1:]))**0.5
    case("Conv", label, f32(*x), weights(*w, spread=spread), **attributes)
    case("Conv", f"{label}-bias", f32(*x), weights(*w, spread=spread), weights(w[0]), **attributes)
case("Conv", "runtime-weights", f32(1, 3, 8, 8), f32(4, 3, 3, 3), f32(4), pads=[1, 1, 1, 1])
case("Conv", "f16", f16(1, 3, 8, 8), weights(4, 3, 3, 3, dtype=np.float16), pads=[1, 1, 1, 1], tolerance=3e-2)
case("Conv", "kernel-shape", f32(1, 3, 8, 8), weights(4, 3, 3, 3), kernel_shape=[3, 3], dilations=[1, 1], group=1)
case("Conv", "f16-tiles", f16(1, 20, 9, 11), weights(19, 20, 3, 3, dtype=np.float16), pads=[1, 1, 1, 1], tolerance=6e-2)
case("Conv", "f32-tiles", f32(2, 17, 9, 7), weights(33, 17, 3, 3), pads=[1, 0, 1, 2], strides=[2, 1])
graph_case("Conv-bf16", via(TensorProto.BFLOAT16, "Conv"), f32(1, 3, 6, 6), f32(4, 3, 3, 3), tolerance=2e-1)
case("ConvInteger", "", u8(1, 2, 6, 6), u8(3, 2, 3, 3), const(100, np.uint8), const(120, np.uint8))
case("ConvInteger", "pad", u8(1, 2, 6, 6), i8(3, 2, 3, 3), const(100, np.uint8), pads=[1, 1, 1, 1])

TRANSPOSED = [
    ("", (1, 3, 5, 5), (3, 4, 3, 3), {}),
    ("stride2", (1, 3, 5, 5), (3, 4, 3, 3), {"strides": [2, 2]}),
    ("pads", (1, 3, 5, 5), (3, 4, 3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("output-padding", (1, 3, 5, 5), (3, 4, 3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}),
    ("output-shape", (1, 3, 5, 5), (3, 4, 3, 3), {"strides": [2, 2], "output_shape": [10, 10]}),
    ("dilated", (1, 3, 5, 5), (3, 4, 2, 2), {"dilations": [2, 2]}),
    ("groups", (1, 4, 5, 5), (4, 3, 3, 3), {"group": 2}),
    ("upsample", (1, 4, 5, 5), (4, 4, 2, 2), {"strides": [2, 2]}),
    ("1d", (1, 3, 7), (3, 2, 4), {"strides": [2], "pads": [1, 1]}),
    ("3d", (1, 2, 3, 3, 3), (2, 3, 2, 2, 2), {"strides": [2, 2, 2]}),
    ("same-upper", (1, 3, 5, 5), (3, 4, 3, 3), {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
]
for label, x, w, attributes in TRANSPOSED:
    case("ConvTranspose", label, f32(*x), weights(*w), **attributes)
case("ConvTranspose", "bias", f32(1, 3, 5, 5), weights(3, 4, 3, 3), weights(4))

POOL = [
    ("2x2", (1, 3, 8, 8), {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("3x3-pad", (1, 3, 8, 8), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("3x3-stride1", (1, 3, 8, 8), {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    ("ceil", (1, 3, 8, 8), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    ("same-upper", (1, 3, 7, 7), {"kernel_shape": [2, 2], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    ("same-lower", (1, 3, 7, 7), {"kernel_shape": [2, 2], "strides": [2, 2], "auto_pad": "SAME_LOWER"}),
    ("rectangle", (2, 3, 9, 7), {"kernel_shape": [3, 2], "strides": [1, 2], "pads": [1, 0, 0, 1]}),
    ("1d", (1, 3, 20), {"kernel_shape": [3], "strides": [2]}),
    ("3d", (1, 2, 6, 6, 6), {"kernel_shape": [2, 2, 2], "strides": [2, 2, 2]}),
    ("wide", (1, 64, 14, 14), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
]
for label, x, attributes in POOL:
    case("MaxPool", label, f32(*x), **attributes)
    case("AveragePool", label, f32(*x), **attributes)
    if "pads" in attributes:
        case("AveragePool", f"{label}-counted", f32(*x), count_include_pad=1, **attributes)
case("AveragePool", "ceil-pad-counted", f32(1, 3, 8, 8), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1],
     ceil_mode=1, count_include_pad=1, opset=19)
case("AveragePool", "dilated", f32(1, 3, 8, 8), kernel_shape=[2, 2], dilations=[2, 2], opset=19)
case("MaxPool", "dilated", f32(1, 3, 8, 8), kernel_shape=[2, 2], dilations=[2, 2])
case("MaxPool", "negative", f32(1, 3, 6, 6, low=-9.0, high=-1.0), kernel_shape=[3, 3], pads=[1, 1, 1, 1])
case("MaxPool", "indices", f32(1, 3, 6, 6), kernel_shape=[2, 2], strides=[2, 2], results=2)
case("MaxPool", "u8", u8(1, 3, 6, 6), kernel_shape=[2, 2], strides=[2, 2])
case("MaxPool", "i8", i8(1, 3, 6, 6), kernel_shape=[2, 2], strides=[2, 2])
case("LpPool", "2", f32(1, 3, 6, 6), kernel_shape=[2, 2], strides=[2, 2], p=2)
case("LpPool", "1", f32(1, 3, 6, 6), kernel_shape=[2, 2], strides=[2, 2], p=1)
for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
    case(op, "", f32(2, 3, 7, 7))
    case(op, "1d", f32(2, 3, 9))
case("GlobalAveragePool", "wide", f32(1, 100, 7, 7))
case("GlobalAveragePool", "3d", f32(1, 3, 4, 4, 4))
