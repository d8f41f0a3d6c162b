"""ONNX Runtime's own operators (domain com.microsoft). Quantised results are exact."""

import numpy as np
from onnx import helper

from case import Random, bools, case, chosen, const, f32, given, graph_case, i8, i32, u8, weights

U8, I8, I32 = np.uint8, np.int8, np.int32


def own(op, label, *operands, **options):
    case(op, f"own-{label}" if label else "own", *operands, domain="com.microsoft", **options)


quantized = own  # exact


A, B, Y = (const(0.02), const(120, U8)), (const(0.03), const(130, U8)), (const(0.05), const(110, U8))
SIGNED = (const(0.02), const(-7, I8))
quantized("QLinearAdd", "", u8(2, 3, 4), *A, u8(2, 3, 4), *B, *Y)
quantized("QLinearAdd", "broadcast", i8(2, 3, 4), *SIGNED, i8(4), *SIGNED, const(0.05), const(3, I8))
quantized("QLinearMul", "", u8(2, 3, 4), *A, u8(3, 1), *B, *Y)
# Half of the results lie between two integers.
HALF = (const(0.5), const(3, U8)), (const(0.25), const(7, U8)), (const(1.0), const(5, U8))
quantized("QLinearAdd", "halves", u8(40, 40), *HALF[0], u8(40, 40), *HALF[1], *HALF[2])
quantized("QLinearMul", "halves", u8(40, 40), *HALF[0], u8(40, 40, high=9), *HALF[1], *HALF[2])
quantized("QLinearAveragePool", "halves", u8(1, 8, 20, 20), *HALF[0], *HALF[2], kernel_shape=[2, 2], strides=[2, 2])
quantized("QLinearGlobalAveragePool", "halves", u8(4, 200, 2, 2), *HALF[0], *HALF[2])
quantized("QLinearSigmoid", "", u8(3, 40), *A, const(1 / 256), const(0, U8))
quantized("QLinearLeakyRelu", "", i8(3, 40), *SIGNED, const(0.02), const(0, I8), alpha=0.2)
graph_case("QLinearSoftmax-own", lambda subject: [helper.make_node("QLinearSoftmax", subject.names(), ["y0"], opset=13,
                                                                   axis=-1, domain="com.microsoft")],
           u8(3, 40), *A, const(1 / 256), const(0, U8))
quantized("QLinearGlobalAveragePool", "", u8(2, 3, 5, 6), *A, *Y)
quantized("QLinearGlobalAveragePool", "last", u8(2, 5, 6, 3), *A, *Y, channels_last=1)
quantized("QLinearAveragePool", "", u8(2, 3, 8, 8), *A, *Y, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
quantized("QLinearConcat", "", *Y, u8(2, 3), *A, u8(2, 5), *B, axis=1)
quantized("QLinearWhere", "", bools(3, 4), u8(3, 4), *A, u8(1, 4), *B, *Y)
quantized("QGemm", "", u8(4, 6), *A, weights(6, 5, dtype=U8), *B, None, const(0.3), const(110, U8))
quantized("QGemm", "bias", u8(4, 6), *A, weights(5, 6, dtype=I8), const([0.01, 0.02, 0.03, 0.04, 0.05]),
          const([0, 0, 0, 0, 0], I8), const([100, -100, 50, 0, 7], np.int32), const(0.3), const(110, U8), transB=1)
own("QGemm", "float", u8(4, 6), *A, weights(6, 5, dtype=U8), *B, alpha=0.5)
own("MatMulIntegerToFloat", "", u8(2, 4, 6), weights(6, 5, dtype=I8), const(0.02), const([0.1, 0.2, 0.3, 0.4, 0.5]),
    const(128, U8), None, weights(5))
own("DynamicQuantizeMatMul", "", f32(4, 30), weights(30, 7, dtype=I8), const(0.02), const(3, I8), weights(7),
    tolerance=0.05)
# Inputs 8 to 11: scale and zero point of W, then of R.
PLAIN = (const([0.004]), const([0], I8), const([0.006]), const([0], I8))
ZEROS = (const([0.004, 0.003]), const([128, 121], U8), const([0.006, 0.002]), const([128, 130], U8))
NOTHING = const(np.zeros((1, 64)), I8)
ROWS = (weights(1, 64, spread=0.004), NOTHING, weights(1, 64, spread=0.004), NOTHING)
own("DynamicQuantizeLSTM", "", f32(3, 2, 8), weights(1, 8, 64, dtype=I8), weights(1, 16, 64, dtype=I8), weights(1, 128),
    const([2, 1], np.int32), f32(1, 2, 16), f32(1, 2, 16), None, *PLAIN, hidden_size=16, results=3)
own("DynamicQuantizeLSTM", "both-ways", f32(4, 2, 8), weights(2, 8, 64, dtype=U8), weights(2, 16, 64, dtype=U8), None,
    None, None, None, None, *ZEROS, hidden_size=16, direction="bidirectional", results=3)
own("DynamicQuantizeLSTM", "rows-open", f32("s", "n", 8), weights(1, 8, 64, dtype=I8), weights(1, 16, 64, dtype=I8),
    weights(1, 128), None, None, None, weights(1, 48), *ROWS, hidden_size=16, results=3,
    sizes=[{"s": 5, "n": 1}, {"s": 1, "n": 3}])
own("MatMulNBits", "4", f32(3, 70), weights(9, 5, 8, dtype=U8), weights(9, 5), K=70, N=9, bits=4, block_size=16,
    tolerance=2e-3)
own("MatMulNBits", "zeros", f32(2, 3, 64), weights(9, 2, 16, dtype=U8), weights(9, 2), weights(9, 1, dtype=U8), None,
    weights(9), K=64, N=9, bits=4, block_size=32, tolerance=2e-3)
own("MatMulNBits", "8", f32(3, 64), weights(9, 2, 32, dtype=U8), weights(9, 2), K=64, N=9, bits=8, block_size=32,
    tolerance=2e-2)
own("MatMulBnb4", "fp4", f32(3, 64), weights(288, dtype=U8), weights(18), K=64, N=9, block_size=32, quant_type=0)
own("MatMulBnb4", "nf4", f32(2, 3, 35), weights(123, dtype=U8), weights(16), K=35, N=7, block_size=16, quant_type=1)
own("GatherBlockQuantized", "", weights(20, 32, dtype=U8), const([[3, 0, -1]], np.int64), weights(20, 4),
    block_size=16, bits=4, gather_axis=0, quantize_axis=1)
own("GatherBlockQuantized", "zeros", weights(20, 32, dtype=U8), const([5, 19], np.int64), weights(20, 2),
    weights(20, 2, dtype=U8), block_size=16, bits=8, gather_axis=0, quantize_axis=1)
own("FusedMatMul", "", f32(2, 3, 4), f32(2, 5, 4), alpha=0.5, transB=1)
own("FusedMatMul", "batches", f32(3, 2, 4), f32(5, 2, 4), transBatchA=1, transBatchB=1, transB=1)
own("FusedMatMul", "batches-rows", f32(4, 2, 6, 3), f32(2, 6, 4, 5), transBatchA=1, transA=1)
own("MatMulNBits", "order", f32(3, 64), weights(9, 4, 8, dtype=U8), weights(9, 4), None,
    const(np.random.default_rng(5).integers(0, 4, 64), np.int32), K=64, N=9, bits=4, block_size=16, tolerance=1e-3)
own("Gelu", "", f32(4, 9))
own("BiasGelu", "", f32(4, 9), f32(9))
own("FastGelu", "", f32(4, 9), f32(9))
own("QuickGelu", "", f32(4, 9), alpha=1.5)
own("SkipLayerNormalization", "", f32(2, 4, 9), f32(2, 4, 9), f32(9), f32(9), f32(9))

# Attention: 2 batches, 4 heads of 8.
own("Attention", "", f32(2, 5, 12), weights(12, 96), weights(96), num_heads=4)
own("Attention", "causal-past", f32(2, 5, 12), weights(12, 96), weights(96), None, f32(2, 2, 4, 3, 8), num_heads=4,
    unidirectional=1, results=2)
own("Attention", "lengths", f32(2, 5, 12), weights(12, 96), weights(96), const([3, 5], np.int32), num_heads=4)
LENGTHS = [[3, 5], [5, 1], [4, 5, 1, 0]]
own("Attention", "lengths-open", f32(2, 5, 12), weights(12, 96), weights(96), chosen("mask", np.int32, ("m",)), num_heads=4,
    sizes=[{"m": len(mask), "mask": mask} for mask in LENGTHS])
own("Attention", "flags", f32(2, 5, 12), weights(12, 96), weights(96), const([[1, 1, 0, 1, 1], [1, 0, 0, 0, 1]], np.int32),
    None, f32(1, 4, 5, 5), num_heads=4, scale=0.3)
own("Attention", "sizes", f32(2, 5, 12), weights(12, 80), weights(80), num_heads=4, qkv_hidden_sizes=[32, 32, 16])
own("MultiHeadAttention", "", f32(2, 5, 32), f32(2, 7, 32), f32(2, 7, 32), weights(96), num_heads=4)
own("MultiHeadAttention", "mask", f32(2, 5, 32), f32(2, 7, 32), f32(2, 7, 32), None,
    const([[1, 1, 0, 1, 1, 1, 1], [1, 0, 0, 0, 1, 1, 0]], np.int32), f32(2, 4, 5, 7), num_heads=4)
own("MultiHeadAttention", "past", f32(2, 5, 32), f32(2, 5, 32), f32(2, 5, 32), None, None, None, f32(2, 4, 3, 8),
    f32(2, 4, 3, 8), num_heads=4, unidirectional=1, results=3)
own("MultiHeadAttention", "heads", f32(2, 5, 32), f32(2, 4, 7, 8), f32(2, 4, 7, 8), num_heads=4)
COS, SIN = weights(20, 4), weights(20, 4)
own("RotaryEmbedding", "", f32(2, 5, 32), const([3], np.int64), COS, SIN)
own("RotaryEmbedding", "interleaved", f32(2, 4, 5, 8), const([[0, 1, 2, 3, 4], [3, 4, 5, 6, 7]], np.int64), COS, SIN,
    interleaved=1)
own("GroupQueryAttention", "prompt", f32(2, 5, 32), f32(2, 5, 16), f32(2, 5, 16), None, None, const([4, 4], np.int32),
    const(5, np.int32), num_heads=4, kv_num_heads=2, results=3)
WIDE_COS, WIDE_SIN = weights(20, 8), weights(20, 8)
own("GroupQueryAttention", "step", f32(2, 1, 64), f32(2, 1, 32), f32(2, 1, 32), f32(2, 2, 9, 16), f32(2, 2, 9, 16),
    const([9, 9], np.int32), const(10, np.int32), WIDE_COS, WIDE_SIN, num_heads=4, kv_num_heads=2, do_rotary=1, results=3)
own("GroupQueryAttention", "lengths", f32(2, 1, 64), f32(2, 1, 32), f32(2, 1, 32), f32(2, 2, 12, 16),
    f32(2, 2, 12, 16), const([5, 11], np.int32), const(12, np.int32), WIDE_COS, WIDE_SIN, num_heads=4, kv_num_heads=2,
    do_rotary=1, results=3)
own("GroupQueryAttention", "window", f32(1, 6, 64), f32(1, 6, 32), f32(1, 6, 32), None, None, const([5], np.int32),
    const(6, np.int32), WIDE_COS, WIDE_SIN, num_heads=4, kv_num_heads=2, do_rotary=1, rotary_interleaved=1,
    local_window_size=3, softcap=5.0, results=3)
own("GroupQueryAttention", "packed", f32(1, 6, 64), None, None, None, None, const([5], np.int32), const(6, np.int32),
    num_heads=4, kv_num_heads=2, smooth_softmax=1, results=3)

IDS = [[3, 0, 7, 1], [2, 2, 5, 6]]
own("EmbedLayerNormalization", "", const(IDS, np.int32), const([[0, 1, 1, 0], [1, 1, 0, 0]], np.int32), weights(9, 16),
    weights(6, 16), weights(2, 16), weights(16), weights(16), const([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32), results=2)
own("EmbedLayerNormalization", "words", const(IDS, np.int32), None, weights(9, 16), weights(6, 16), None, weights(16),
    weights(16), epsilon=1e-3, results=2)
case("SimplifiedLayerNormalization", "own", f32(2, 4, 9), f32(9), epsilon=1e-5)
case("SimplifiedLayerNormalization", "own-axis", f32(2, 4, 9), f32(4, 9), axis=1)
own("SkipSimplifiedLayerNormalization", "", f32(2, 4, 9), f32(2, 4, 9), f32(9), f32(9), epsilon=1e-5)
own("FusedConv", "relu", f32(1, 3, 6, 6), weights(4, 3, 3, 3), weights(4), f32(1, 4, 4, 4), activation="Relu")
own("FusedConv", "clip", f32(1, 3, 6, 6), weights(4, 3, 3, 3), activation="Clip", activation_params=[-0.5, 0.7])
own("FusedConv", "leaky", f32(1, 3, 6, 6), weights(4, 3, 3, 3), weights(4), activation="LeakyRelu",
    activation_params=[0.3], pads=[1, 1, 1, 1])
own("FusedGemm", "", f32(4, 6), weights(5, 6), weights(5), activation="Tanh", transB=1, alpha=0.5)

# Bytes with the channels last, as ONNX Runtime's optimiser writes them for CPUs.
CONVOLUTION = [weights(4, 3, 3, 3, dtype=U8), const(0.03), const(120, U8), const(0.9), const(128, U8)]
quantized("QLinearConv", "", u8(1, 3, 6, 6), *A, *CONVOLUTION)
quantized("QLinearConv", "last", u8(2, 6, 7, 3), *A, *CONVOLUTION, weights(4, dtype=I32), channels_last=1)
own("NhwcMaxPool", "", u8(1, 6, 7, 3), kernel_shape=[2, 3], strides=[2, 2])
own("NhwcMaxPool", "signed", i8(1, 9, 5), kernel_shape=[3], pads=[1, 1])
own("QAttention", "", u8(2, 5, 12), weights(12, 24, dtype=U8), weights(24), const(0.02), const(0.01), None, const(120, U8),
    const(130, U8), num_heads=2)
own("QAttention", "columns", u8(2, 5, 12), weights(12, 24, dtype=I8), weights(24), const(0.02),
    const(np.linspace(0.005, 0.02, 24)), const([3, 5], np.int32), const(120, U8), const(np.arange(24) - 9, I8), num_heads=2)
own("MatMulInteger16", "", Random(np.int16, (3, 40), -9999, 9999), Random(np.int16, (40, 5), -9, 9))
own("TransposeMatMul", "", f32(3, 4), f32(5, 4), transB=1, alpha=0.5)
own("ExpandDims", "", f32(3, 4), const(1, np.int32))
own("ExpandDims", "last", f32(3, 4), const(-1, np.int32))
for metric in ("euclidean", "sqeuclidean"):
    own("CDist", metric, f32("n", 7), f32(5, 7), metric=metric, sizes=[{"n": 1}, {"n": 9}])
own("Unique", "", given([3, 1, 3, 2, 1, 7]), results=3, dynamic=True)
own("Unique", "any", chosen("x", np.float32, ["n"]), results=3, sizes=[{"x": [4]}, {"x": [5, -1, 5, 0, 5, -1]}])
own("MurmurHash3", "", i32(3, 40))
own("MurmurHash3", "long", Random(np.int64, (50,), -2**62, 2**62), seed=42, positive=0)
own("MurmurHash3", "float", f32("n"), seed=2**32 - 7, sizes=[{"n": 5}, {"n": 0}])
own("MurmurHash3", "double", given(np.linspace(-3, 7, 31), np.float64))
own("MurmurHash3", "natural", Random(np.uint64, (9,), 0, 2**63 - 1))
