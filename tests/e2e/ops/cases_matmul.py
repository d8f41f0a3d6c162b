"""Contractions: MatMul, Gemm, Einsum, integer products."""

import numpy as np
from onnx import TensorProto, helper

from case import Sparse, case, const, f16, f32, graph_case, i32, i8, u8, via, weights

SHAPES = [("square", (8, 8), (8, 8)), ("odd", (5, 7), (7, 3)), ("row", (1, 64), (64, 10)), ("tall", (65, 3), (3, 33)),
          ("vector-matrix", (7,), (7, 5)), ("matrix-vector", (5, 7), (7,)), ("dot", (9,), (9,)),
          ("batch", (3, 4, 5), (3, 5, 6)), ("batch-left", (3, 4, 5), (5, 6)), ("batch-right", (4, 5), (3, 5, 6)),
          ("batch-broadcast", (2, 1, 4, 5), (1, 3, 5, 6)), ("batch-vector", (3, 4, 5), (5,)),
          ("vector-batch", (4,), (3, 4, 5)), ("one", (1, 1), (1, 1)), ("outer", (6, 1), (1, 9)),
          ("blocked", (64, 96), (96, 80)), ("deep", (4, 1000), (1000, 4)), ("wide", (3, 20), (20, 500)),
          ("attention", (1, 4, 16, 8), (1, 4, 8, 16)), ("gemv", (1, 256), (256, 256))]
for label, left, right in SHAPES:
    case("MatMul", label, f32(*left), f32(*right))
    case("MatMul", f"{label}-weights", f32(*left), weights(*right))
case("MatMul", "f16", f16(9, 20), f16(20, 7), tolerance=3e-2)
case("MatMul", "i32", i32(4, 5), i32(5, 6))
case("MatMul", "long", f32(2, 3, 2051), f32(2, 2051, 5))
case("MatMul", "f16-long", f16(1, 3000), f16(3000, 20), tolerance=3e-1)
case("MatMul", "i32-long", i32(4, 4097), i32(4097, 6))
graph_case("MatMul-bf16", via(TensorProto.BFLOAT16, "MatMul"), f32(9, 20), f32(20, 7), tolerance=1e-1)
for label, left, right in [("tiles", (33, 48), (48, 35)), ("odd-tiles", (47, 37), (37, 61)),
                           ("batch-tiles", (3, 40, 32), (3, 32, 29)), ("tall-tiles", (130, 40), (40, 20)),
                           ("staged", (100, 72), (72, 96)), ("odd-staged", (67, 131), (131, 45)),
                           ("batch-staged", (2, 64, 80), (2, 80, 40))]:
    case("MatMul", f"f16-{label}", f16(*left), f16(*right), tolerance=3e-2)
    case("MatMul", f"f16-{label}-weights", f16(*left), weights(*right, dtype=np.float16), tolerance=3e-2)
    graph_case(f"MatMul-bf16-{label}", via(TensorProto.BFLOAT16, "MatMul"), f32(*left), f32(*right), tolerance=2e-1)
    case("MatMul", f"f32-{label}", f32(*left), f32(*right))
    case("MatMulInteger", label, i8(*left), i8(*right))
case("MatMulInteger", "", u8(4, 6), i8(6, 5))
case("MatMulInteger", "zero-points", u8(4, 6), i8(6, 5), const(7, np.uint8), const(-3, np.int8))
case("MatMulInteger", "zero-given", u8(3, 40), weights(40, 37, dtype=np.int8), u8())
case("MatMulInteger", "u8", u8(4, 6), u8(6, 5), const(7, np.uint8), const(100, np.uint8))

for ta in (0, 1):
    for tb in (0, 1):
        a, b = ((7, 5) if ta else (5, 7)), ((6, 7) if tb else (7, 6))
        case("Gemm", f"a{ta}-b{tb}", f32(*a), f32(*b), f32(6), transA=ta, transB=tb)
        case("Gemm", f"a{ta}-b{tb}-weights", f32(*a), weights(*b), weights(6), transA=ta, transB=tb)
case("Gemm", "no-bias", f32(5, 7), f32(7, 6))
case("Gemm", "alpha-beta", f32(5, 7), f32(7, 6), f32(5, 6), alpha=0.5, beta=2.0)
case("Gemm", "column-bias", f32(5, 7), f32(7, 6), f32(5, 1))
case("Gemm", "scalar-bias", f32(5, 7), f32(7, 6), f32())
case("Gemm", "row", f32(1, 784), weights(128, 784, spread=0.1), weights(128), transB=1)
case("Gemm", "f16", f16(5, 7), f16(7, 6), f16(6), tolerance=2e-2)
for ta in (0, 1):
    a, b = ((80, 70) if ta else (70, 80)), ((48, 80) if ta else (80, 48))
    case("Gemm", f"f16-staged-a{ta}-b{ta}", f16(*a), f16(*b), f16(48), transA=ta, transB=ta, tolerance=6e-2)

EINSUM = [("ij,jk->ik", (3, 4), (4, 5)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("ij,kj->ik", (3, 4), (5, 4)),
          ("bhqd,bhkd->bhqk", (1, 2, 4, 8), (1, 2, 5, 8)), ("i,j->ij", (3,), (4,)), ("ij,ij->", (3, 4), (3, 4)),
          ("bqhd,bkhd->bhqk", (1, 4, 2, 8), (1, 5, 2, 8)), ("ij,j->i", (3, 4), (4,)), ("ij,ij->ij", (3, 4), (3, 4)),
          ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)), ("bij,jk", (2, 3, 4), (4, 5))]
for number, (equation, left, right) in enumerate(EINSUM):
    case("Einsum", f"{number}", f32(*left), f32(*right), equation=equation)
case("Einsum", "transpose", f32(3, 4), equation="ij->ji")
case("Einsum", "sum", f32(3, 4), equation="ij->i")
case("Einsum", "trace", f32(4, 4), equation="ii->")
case("Einsum", "diagonal", f32(4, 4), equation="ii->i")
case("Einsum", "diagonal-batch", f32("n", 5, 3, 5), equation="biki->kbi", sizes=[{"n": 2}, {"n": 7}])
case("Einsum", "diagonal-cube", f32(4, 4, 2, 4), equation="iibi->ib")
case("Einsum", "three", f32(3, 4), f32(4, 5), f32(5, 2), equation="ij,jk,kl->il")
case("Det", "", f32(2, 3, 3), tolerance=1e-3)
case("Det", "empty", f32(2, 0, 0))
case("Det", "large", f32(2, 3, 9, 9), tolerance=1e-3)
case("Det", "singular", const(np.ones((7, 7), np.float32)))

# Weights of which the model has what is not zero.
FEW = np.zeros((4, 5), np.float32)
FEW[[0, 2, 3], [1, 4, 0]] = 1.5, -2.0, 0.25
for number, rows in enumerate((True, False)):
    case("MatMul", f"sparse-{number}", f32(3, 4), Sparse(FEW, rows))
graph_case("MatMul-sparse-constant", lambda subject: [
    helper.make_node("Constant", [], ["w"], sparse_value=Sparse(FEW, True).proto("w")),
    helper.make_node("MatMul", ["x0", "w"], ["y0"])], f32(3, 4))
