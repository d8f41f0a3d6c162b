"""Convolutions of every rank and form, transposed convolutions, pooling."""

import numpy as np
from onnx import TensorProto

from case import case, const, f16, f32, given, graph_case, i8, ints, nodes, u8, via, weights

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
    ("1x1-pad", (1, 3, 4, 5), (20, 3, 1, 1), {"pads": [1, 2, 1, 0]}),
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
case("Conv", "f16-staged", f16(2, 40, 9, 7), weights(48, 40, 3, 3, dtype=np.float16, spread=0.2), pads=[1, 1, 1, 1],
     tolerance=6e-2)
case("Conv", "f32-tiles", f32(2, 17, 9, 7), weights(33, 17, 3, 3), pads=[1, 0, 1, 2], strides=[2, 1])
graph_case("Conv-bf16", via(TensorProto.BFLOAT16, "Conv"), f32(1, 3, 6, 6), f32(4, 3, 3, 3), tolerance=2e-1)

# Channels that fill no vectors, groups of them, other ranks. Bare, and where what is around it is blocked by channels.
ODD = [
    ("1x1", (1, 72, 6, 5), (104, 72, 1, 1), {}),
    ("1x1-1000", (1, 24, 4, 4), (1000, 24, 1, 1), {}),
    ("1x1-pixel", (2, 72, 1, 1), (100, 72, 1, 1), {}),
    ("3x3", (2, 36, 7, 19), (116, 36, 3, 3), {"pads": [1, 1, 1, 1]}),
    ("3x3-blocks", (1, 20, 5, 18), (245, 20, 3, 3), {"pads": [1, 1, 1, 1], "strides": [2, 1]}),
    ("groups-8", (1, 48, 9, 7), (48, 8, 3, 3), {"group": 6, "pads": [1, 1, 1, 1]}),
    ("groups-24", (1, 72, 9, 7), (72, 24, 3, 3), {"group": 3, "pads": [1, 1, 1, 1]}),
    ("groups-40", (1, 80, 6, 21), (80, 40, 3, 3), {"group": 2, "pads": [1, 1, 1, 1], "strides": [2, 2]}),
    ("groups-6", (2, 18, 7, 7), (18, 6, 3, 3), {"group": 3, "pads": [1, 1, 1, 1]}),
    ("groups-uneven", (1, 12, 7, 7), (30, 4, 3, 3), {"group": 3, "dilations": [2, 1]}),
    ("groups-2", (1, 10, 7, 7), (10, 2, 3, 3), {"group": 5, "pads": [1, 1, 1, 1]}),
    ("depthwise", (1, 72, 9, 9), (72, 1, 5, 5), {"group": 72, "pads": [2, 2, 2, 2], "strides": [2, 2]}),
    ("depthwise-5", (2, 5, 9, 9), (5, 1, 3, 3), {"group": 5, "pads": [1, 1, 1, 1]}),
    ("depthwise-thrice", (1, 12, 9, 9), (36, 1, 3, 3), {"group": 12, "pads": [1, 1, 1, 1]}),
    ("one", (1, 40, 5, 37), (1, 40, 3, 3), {"pads": [1, 1, 1, 1]}),
    ("two", (1, 40, 5, 7), (2, 40, 3, 3), {"pads": [1, 1, 1, 1]}),
    ("dilated", (1, 24, 9, 70), (24, 24, 3, 3), {"dilations": [3, 20], "pads": [3, 20, 3, 20]}),
    ("1d", (1, 20, 90), (40, 20, 10), {"strides": [5]}),
    ("1d-groups", (2, 48, 50), (48, 24, 40), {"group": 2, "pads": [20, 20]}),
    ("1d-depthwise", (1, 40, 33), (40, 1, 31), {"group": 40, "pads": [15, 15]}),
    ("3d", (1, 20, 4, 6, 5), (45, 20, 3, 3, 3), {"pads": [1] * 6, "strides": [1, 2, 1]}),
    ("3d-points", (1, 20, 4, 6, 5), (45, 20, 1, 1, 1), {}),
    ("3d-groups", (1, 20, 4, 6, 5), (30, 10, 3, 1, 3), {"group": 2, "pads": [1, 0, 1, 1, 0, 1]}),
    ("3d-depthwise", (1, 20, 4, 6, 5), (20, 1, 3, 3, 3), {"group": 20, "pads": [1] * 6, "dilations": [1, 2, 1]}),
    ("4d", (1, 3, 3, 4, 3, 5), (5, 3, 2, 2, 2, 2), {"pads": [1] * 8}),
    ("squares", (2, 40, 13, 18), (72, 40, 3, 3), {"pads": [1, 1, 1, 1]}),  # Winograd's tiles of 4x4, of 2x2
    ("squares-edges", (1, 33, 12, 9), (17, 33, 3, 3), {"pads": [0, 2, 3, 0]}),
    ("squares-low", (3, 48, 2, 7), (40, 48, 3, 3), {"pads": [1, 1, 1, 1]}),
]
for label, x, w, attributes in ODD:
    spread, channels, rank = (3 / np.prod(w[1:]))**0.5, x[1], len(x) - 2
    case("Conv", f"odd-{label}", f32(*x), weights(*w, spread=spread), weights(w[0]), **attributes)
    case("Conv", f"odd-{label}-given", f32(*x), f32(*w, low=-spread, high=spread), **attributes)
    graph_case(f"Conv-odd-{label}-between",
               nodes(("Conv", "x0 x1 x2", "a", {}), ("Relu", "a", "b", {}), ("Conv", "b x3 x4", "c", attributes),
                     ("HardSwish", "c", "d", {}), ("Conv", "d x5", "e", {}), ("Add", "d e", "f", {}),
                     ("Conv", "f x5", "y0", {})),
               f32(x[0], 4, *x[2:]), weights(channels, 4, *[1] * rank), weights(channels),
               weights(*w, spread=spread), weights(w[0]), weights(w[0], w[0], *[1] * rank, spread=w[0]**-0.5))
# Infinite numbers, and none.
EXTREMES = np.random.default_rng(17).standard_normal((1, 24, 17, 21)).astype(np.float32)
EXTREMES[0, 0, 2, 3], EXTREMES[0, 5, 9, 20], EXTREMES[0, 7, 16, 0] = np.inf, np.nan, -np.inf
graph_case("Conv-extremes", nodes(("Conv", "x0 x1", "a", {}), ("Conv", "a x2", "y0", {"pads": [1, 1, 1, 1]})),
           given(EXTREMES), weights(24, 24, 1, 1, spread=0.2), weights(40, 24, 3, 3, spread=0.1))
# What stands between convolutions: pooling, padding, concatenation, splitting and shuffling of channels.
graph_case("Conv-odd-moves",
           nodes(("Conv", "x0 x1 x2", "a", {}), ("MaxPool", "a", "b", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
                 ("Slice", "b x3 x4 x5", "left", {}), ("Slice", "b x4 x6 x5", "right", {}),
                 ("Conv", "right x7", "c", {"pads": [1, 1, 1, 1]}), ("Concat", "left c", "d", {"axis": 1}),
                 ("Reshape", "d x8", "e", {}), ("Transpose", "e", "f", {"perm": [0, 2, 1, 3, 4]}),
                 ("Reshape", "f x9", "g", {}), ("Pad", "g x10", "h", {"mode": "reflect"}),
                 ("Conv", "h x11", "y0", {})),
           f32(1, 4, 6, 7), weights(42, 4, 1, 1), weights(42), ints(0), ints(21), ints(1), ints(42),
           weights(21, 21, 3, 3, spread=0.1), ints(1, 2, 21, 6, 7), ints(1, 42, 6, 7), ints(0, 0, 2, 1, 0, 0, 1, 3),
           weights(19, 42, 3, 3, spread=0.1))
# Weights and inputs that are computed, behind a reshape, which costs nothing.
graph_case("Conv-computed",
           nodes(("Tanh", "x1", "a", {}), ("Reshape", "a x2", "w", {}), ("Softsign", "x0", "b", {}),
                 ("Reshape", "b x3", "x", {}), ("Conv", "x w", "y0", {"pads": [1, 1, 1, 1], "group": 2})),
           f32(1, 24, 30), f32(40, 108, low=-0.2, high=0.2), ints(40, 12, 3, 3), ints(1, 24, 5, 6))

case("ConvInteger", "", u8(1, 2, 6, 6), u8(3, 2, 3, 3), const(100, np.uint8), const(120, np.uint8))
case("ConvInteger", "pad", u8(1, 2, 6, 6), i8(3, 2, 3, 3), const(100, np.uint8), pads=[1, 1, 1, 1])
# Channels that fill blocks and words of bytes, or not.
case("ConvInteger", "channels", u8(2, 21, 7, 6), i8(35, 21, 3, 3), const(100, np.uint8), pads=[1, 2, 1, 0],
     strides=[2, 1])
case("ConvInteger", "groups", u8(1, 24, 5, 6), i8(18, 12, 2, 3), const(9, np.uint8), group=2, dilations=[2, 1])
case("ConvInteger", "group-words", u8(1, 24, 5), i8(18, 8, 2), None, group=3, pads=[1, 0])
case("ConvInteger", "zero-given", u8(1, 8, 5), i8(18, 8, 3), u8())

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
    ("odd", (1, 20, 5, 6), (20, 24, 3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}),
    ("overlapping", (2, 36, 5, 21), (36, 17, 4, 4), {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("1d-odd", (1, 32, 12), (32, 17, 16), {"strides": [8], "pads": [3, 5]}),
    ("3d-odd", (1, 20, 3, 4, 5), (20, 9, 2, 3, 2), {"strides": [2, 1, 2], "pads": [0, 1, 0, 0, 1, 0]}),
    ("groups-odd", (1, 12, 4, 5), (12, 5, 3, 3), {"group": 2, "strides": [2, 3]}),
    ("depthwise", (1, 40, 5, 5), (40, 1, 4, 4), {"group": 40, "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("gaps", (1, 20, 5, 5), (20, 10, 1, 2), {"strides": [3, 4]}),
    ("stride-dilated", (1, 20, 5, 5), (20, 10, 3, 3), {"strides": [4, 6], "dilations": [2, 4], "pads": [1, 2, 3, 0]}),
    ("dilated-odd", (1, 20, 5, 5), (20, 10, 3, 3), {"strides": [3, 5], "dilations": [2, 3]}),
]
for label, x, w, attributes in TRANSPOSED:
    case("ConvTranspose", label, f32(*x), weights(*w), **attributes)
    case("ConvTranspose", f"{label or 'plain'}-given", f32(*x), f32(*w), weights(w[1] * attributes.get("group", 1)),
         **attributes)
case("ConvTranspose", "bias", f32(1, 3, 5, 5), weights(3, 4, 3, 3), weights(4))

POOL = [
    ("2x2", (1, 3, 8, 8), {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("3x3-pad", (1, 3, 8, 8), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("3x3-stride1", (1, 3, 8, 8), {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    ("ceil-larger", (2, 3, 5, 4), {"kernel_shape": [9, 2000], "strides": [9, 1998], "ceil_mode": 1}),
    ("ceil-larger-padded", (2, 3, 5, 4), {"kernel_shape": [9, 7], "strides": [9, 6], "pads": [1, 0, 1, 1], "ceil_mode": 1}),
    ("ceil", (1, 3, 8, 8), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    ("same-upper", (1, 3, 7, 7), {"kernel_shape": [2, 2], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    ("same-lower", (1, 3, 7, 7), {"kernel_shape": [2, 2], "strides": [2, 2], "auto_pad": "SAME_LOWER"}),
    ("rectangle", (2, 3, 9, 7), {"kernel_shape": [3, 2], "strides": [1, 2], "pads": [1, 0, 0, 1]}),
    ("1d", (1, 3, 20), {"kernel_shape": [3], "strides": [2]}),
    ("3d", (1, 2, 6, 6, 6), {"kernel_shape": [2, 2, 2], "strides": [2, 2, 2]}),
    ("large", (2, 3, 14, 19), {"kernel_shape": [7, 5], "strides": [1, 2], "pads": [3, 2, 3, 2]}),
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
for label, attributes in {"": {"pads": [1, 1, 1, 1]}, "-strided": {"pads": [1, 0, 0, 1], "strides": [2, 2]},
                          "-dilated": {"dilations": [2, 3], "pads": [2, 3, 2, 3]},
                          "-past": {"pads": [2, 2, 2, 2], "strides": [3, 3], "ceil_mode": 1}}.items():
    case("MaxPool", f"broad{label}", f32(1, 2, 23, 71), kernel_shape=[3, 3], **attributes)
case("MaxPool", "wider-than-image", f32(1, 2, 40, 2), kernel_shape=[3, 3], pads=[1, 1, 1, 1])
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
