"""Quantised types: conversion, and the operators that work on them, exact to the last unit."""

import numpy as np

from case import case, const, f32, given, graph_case, i8, positive, u8, weights
from onnx import helper

U8, I8 = np.uint8, np.int8
case("QuantizeLinear", "u8", f32(4, 9), const(0.02), const(128, U8))
case("QuantizeLinear", "i8", f32(4, 9), const(0.02), const(-3, I8))
case("QuantizeLinear", "no-zero-point", positive(4, 9), const(0.02))
case("QuantizeLinear", "saturates", f32(4, 9, low=-100, high=100), const(0.1), const(0, I8))
case("QuantizeLinear", "axis0", f32(3, 9), const([0.01, 0.02, 0.03]), const([0, 3, -3], I8), axis=0)
case("QuantizeLinear", "axis1", f32(2, 3, 4), const([0.01, 0.02, 0.03]), const([0, 3, 9], U8), axis=1)
case("QuantizeLinear", "halves", given([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]), const(1.0), const(0, I8))
case("DequantizeLinear", "u8", u8(4, 9), const(0.02), const(128, U8))
case("DequantizeLinear", "i8", i8(4, 9), const(0.02), const(-3, I8))
case("DequantizeLinear", "no-zero-point", u8(4, 9), const(0.02))
case("DequantizeLinear", "axis0", i8(3, 9), const([0.01, 0.02, 0.03]), const([0, 3, -3], I8), axis=0)
case("DequantizeLinear", "axis1", i8(2, 3, 4), const([0.01, 0.02, 0.03]), const([0, 3, -3], I8), axis=1)
case("DequantizeLinear", "i32", const([[100, -200], [3, 4]], np.int32), const(0.5))
case("DequantizeLinear", "blocked-21", i8(4, 6), weights(2, 6), axis=0, block_size=2, opset=21)
case("DynamicQuantizeLinear", "", f32(4, 9), results=3)
case("QLinearMatMul", "u8", u8(4, 6), const(0.02), const(120, U8), u8(6, 5), const(0.03), const(130, U8), const(0.05),
     const(110, U8))
case("QLinearMatMul", "i8", i8(4, 6), const(0.02), const(3, I8), weights(6, 5, dtype=I8), const(0.03), const(0, I8),
     const(0.9), const(-5, I8))
case("QLinearConv", "u8", u8(1, 3, 6, 6), const(0.02), const(120, U8), weights(4, 3, 3, 3, dtype=U8), const(0.03),
     const(130, U8), const(0.3), const(110, U8))
case("QLinearConv", "pad", u8(1, 3, 6, 6), const(0.02), const(120, U8), weights(4, 3, 3, 3, dtype=U8), const(0.03),
     const(130, U8), const(0.3), const(110, U8), pads=[1, 1, 1, 1])
case("QLinearConv", "per-channel-bias", u8(1, 3, 6, 6), const(0.02), const(120, U8), weights(4, 3, 3, 3, dtype=I8),
     const([0.01, 0.02, 0.03, 0.04]), const([0, 0, 0, 0], I8), const(0.3), const(110, U8),
     const([100, -100, 50, 0], np.int32))


def residual_block(activations):
    """Two convolutions and what they were given, added, as a quantised ResNet has them; more than 2^18 weights."""

    def build(case):
        def node(op, inputs, output, **attributes):
            return helper.make_node(op, inputs.split(), [output], **attributes)

        own = {"domain": "com.microsoft"}
        return [node("QuantizeLinear", "x0 x1 x2", "a"),
                node("QLinearConv", "a x1 x2 x3 x4 x5 x6 x7 x8", "b", pads=[1] * 4),
                node("QLinearConv", "b x6 x7 x3 x4 x5 x1 x2", "c", pads=[1] * 4),
                node("QLinearAdd", "c x1 x2 a x1 x2 x6 x7", "d", **own),
                node("MaxPool", "d", "e", kernel_shape=[2, 2], strides=[2, 2]),
                node("QLinearConv", "e x6 x7 x3 x4 x5 x6 x7 x8", "f", strides=[2, 2], pads=[1] * 4),
                node("QLinearGlobalAveragePool", "f x6 x7 x1 x2", "g", **own),
                node("DequantizeLinear", "g x1 x2", "y0")]

    zeros = (const(-11, I8), const(-128, I8)) if activations == I8 else (const(117, U8), const(0, U8))
    scales = const(np.linspace(0.001, 0.003, 176))
    graph_case(f"QLinearConv-residual-{np.dtype(activations).name}", build, f32(1, 176, 9, 9, low=-3, high=3),
               const(0.025), zeros[0], weights(176, 176, 3, 3, dtype=I8), scales, const(np.zeros(176), I8), const(0.11),
               zeros[1], const(np.arange(176) * 50 - 4000, np.int32), tolerance=0)


residual_block(U8)
residual_block(I8)


def float_block(case):
    """Convolution and sum between pairs of quantisation and dequantisation."""
    rows = [("QuantizeLinear", "x0 x1 x2", "a"), ("DequantizeLinear", "a x1 x2", "b"),
            ("DequantizeLinear", "x3 x4 x5", "w"), ("Conv", "b w", "c"), ("Relu", "c", "d"),
            ("QuantizeLinear", "d x6 x7", "e"), ("DequantizeLinear", "e x6 x7", "f"), ("Add", "f b", "g"),
            ("QuantizeLinear", "g x6 x7", "h"), ("DequantizeLinear", "h x6 x7", "y0")]
    attributes = {"w": {"axis": 0}, "c": {"pads": [1] * 4}}
    return [helper.make_node(op, inputs.split(), [output], **attributes.get(output, {})) for op, inputs, output in rows]


graph_case("DequantizeLinear-around-conv", float_block, f32(1, 172, 6, 6, low=-3, high=3), const(0.025), const(-9, I8),
           weights(172, 172, 3, 3, dtype=I8), const(np.linspace(0.001, 0.003, 172)), const(np.zeros(172), I8),
           const(0.11), const(-120, I8), tolerance=0.1101)


def float_products(case):
    """Products of several rows, of weights that are scaled by column, and of one row by turned weights."""
    rows = [("QuantizeLinear", "x0 x1 x2", "a"), ("DequantizeLinear", "a x1 x2", "b"),
            ("DequantizeLinear", "x3 x4 x5", "w"), ("MatMul", "b w", "y0"),
            ("ReduceMax", "b", "c"), ("QuantizeLinear", "c x1 x2", "d"), ("DequantizeLinear", "d x1 x2", "e"),
            ("DequantizeLinear", "x6 x1", "v"), ("Gemm", "e v", "y1")]
    attributes = {"w": {"axis": 1}, "c": {"axes": [0], "keepdims": 0}, "y1": {"transB": 1}}
    return [helper.make_node(op, inputs.split(), [output], **attributes.get(output, {})) for op, inputs, output in rows]


graph_case("DequantizeLinear-around-products", float_products, f32(3, 7, 83, low=-3, high=3), const(0.025), const(-9, I8),
           weights(83, 45, dtype=I8), const(np.linspace(0.001, 0.003, 45)), const(np.zeros(45), I8),
           weights(70, 83, dtype=I8), results=2, opset=17)
graph_case("DequantizeLinear-around-conv-open", float_block, f32("b", 44, "h", "w", low=-3, high=3), const(0.025),
           const(-9, I8), weights(44, 44, 3, 3, dtype=I8), const(np.linspace(0.001, 0.003, 44)), const(np.zeros(44), I8),
           const(0.11), const(-120, I8), tolerance=0.1101,
           sizes=[{"b": 1, "h": 6, "w": 6}, {"b": 3, "h": 1, "w": 17}, {"b": 2, "h": 9, "w": 2}])
graph_case("DequantizeLinear-around-conv-all-open", float_block, f32("b", "c", "h", "w", low=-3, high=3), const(0.025),
           const(-9, I8), weights(20, 20, 3, 3, dtype=I8), const(np.linspace(0.001, 0.003, 20)), const(np.zeros(20), I8),
           const(0.11), const(-120, I8), tolerance=0.1101,
           sizes=[{"b": 1, "c": 20, "h": 6, "w": 6}, {"b": 2, "c": 20, "h": 5, "w": 13}])
graph_case("DequantizeLinear-around-products-open", float_products, f32("b", "s", 84, low=-3, high=3), const(0.025),
           const(-9, I8), weights(84, 45, dtype=I8), const(np.linspace(0.001, 0.003, 45)), const(np.zeros(45), I8),
           weights(70, 84, dtype=I8), results=2, opset=17,
           sizes=[{"b": 1, "s": 1}, {"b": 3, "s": 7}, {"b": 2, "s": 33}])
graph_case("DequantizeLinear-around-products-all-open", float_products, f32("b", "s", "d", low=-3, high=3), const(0.025),
           const(-9, I8), weights(64, 48, dtype=I8), const(np.linspace(0.001, 0.003, 48)), const(np.zeros(48), I8),
           weights(32, 64, dtype=I8), results=2, opset=17,
           sizes=[{"b": 1, "s": 1, "d": 64}, {"b": 3, "s": 7, "d": 64}, {"b": 2, "s": 33, "d": 64}])
case("MatMulInteger", "open-batch", u8("b", "s", 32), weights(32, 24, dtype=I8), const(120, U8), const(0, I8),
     sizes=[{"b": 1, "s": 1}, {"b": 2, "s": 7}, {"b": 3, "s": 20}])
case("ConvInteger", "open-batch", u8("b", 12, "h", "w"), weights(16, 12, 3, 3, dtype=I8), const(120, U8),
     sizes=[{"b": 1, "h": 5, "w": 5}, {"b": 3, "h": 4, "w": 19}])
