"""Quantised types: conversion, and the operators that work on them. A result may be off by one unit."""

import numpy as np

from case import case, const, f32, given, i8, positive, u8, weights

U8, I8 = np.uint8, np.int8
case("QuantizeLinear", "u8", f32(4, 9), const(0.02), const(128, U8), tolerance=1)
case("QuantizeLinear", "i8", f32(4, 9), const(0.02), const(-3, I8), tolerance=1)
case("QuantizeLinear", "no-zero-point", positive(4, 9), const(0.02), tolerance=1)
case("QuantizeLinear", "saturates", f32(4, 9, low=-100, high=100), const(0.1), const(0, I8), tolerance=1)
case("QuantizeLinear", "axis0", f32(3, 9), const([0.01, 0.02, 0.03]), const([0, 3, -3], I8), axis=0, tolerance=1)
case("QuantizeLinear", "axis1", f32(2, 3, 4), const([0.01, 0.02, 0.03]), const([0, 3, 9], U8), axis=1, tolerance=1)
case("QuantizeLinear", "halves", given([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]), const(1.0), const(0, I8))
case("DequantizeLinear", "u8", u8(4, 9), const(0.02), const(128, U8))
case("DequantizeLinear", "i8", i8(4, 9), const(0.02), const(-3, I8))
case("DequantizeLinear", "no-zero-point", u8(4, 9), const(0.02))
case("DequantizeLinear", "axis0", i8(3, 9), const([0.01, 0.02, 0.03]), const([0, 3, -3], I8), axis=0)
case("DequantizeLinear", "axis1", i8(2, 3, 4), const([0.01, 0.02, 0.03]), const([0, 3, -3], I8), axis=1)
case("DequantizeLinear", "i32", const([[100, -200], [3, 4]], np.int32), const(0.5))
case("DequantizeLinear", "blocked-21", i8(4, 6), weights(2, 6), axis=0, block_size=2, opset=21)
case("DynamicQuantizeLinear", "", f32(4, 9), results=3, tolerance=1)
case("QLinearMatMul", "u8", u8(4, 6), const(0.02), const(120, U8), u8(6, 5), const(0.03), const(130, U8), const(0.05),
     const(110, U8), tolerance=1)
case("QLinearMatMul", "i8", i8(4, 6), const(0.02), const(3, I8), weights(6, 5, dtype=I8), const(0.03), const(0, I8),
     const(0.9), const(-5, I8), tolerance=1)
case("QLinearConv", "u8", u8(1, 3, 6, 6), const(0.02), const(120, U8), weights(4, 3, 3, 3, dtype=U8), const(0.03),
     const(130, U8), const(0.3), const(110, U8), tolerance=1)
case("QLinearConv", "pad", u8(1, 3, 6, 6), const(0.02), const(120, U8), weights(4, 3, 3, 3, dtype=U8), const(0.03),
     const(130, U8), const(0.3), const(110, U8), pads=[1, 1, 1, 1], tolerance=1)
case("QLinearConv", "per-channel-bias", u8(1, 3, 6, 6), const(0.02), const(120, U8), weights(4, 3, 3, 3, dtype=I8),
     const([0.01, 0.02, 0.03, 0.04]), const([0, 0, 0, 0], I8), const(0.3), const(110, U8),
     const([100, -100, 50, 0], np.int32), tolerance=1)
