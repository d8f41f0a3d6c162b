// scf 
// RUN: iree-opt --verify-roundtrip %s | diff <(grep -v '^//' %s) -
module {
  func.func @loops(%arg0: index, %arg1: index, %arg2: index, %arg3: i1, %arg4: tensor<8xf32>, %arg5: i32) -> tensor<8xf32> {
    scf.for %arg6 = %arg0 to %arg1 step %arg2 {
      "test.use"(%arg6) : (index) -> ()
    }
    %0 = scf.for %arg6 = %arg0 to %arg1 step %arg2 iter_args(%arg7 = %arg4) -> (tensor<8xf32>) {
      %extracted = tensor.extract %arg7[%arg6] : tensor<8xf32>
      %inserted = tensor.insert %extracted into %arg7[%arg6] : tensor<8xf32>
      scf.yield %inserted : tensor<8xf32>
    } {test.loop}
    scf.for unsigned %arg6 = %arg5 to %arg5 step %arg5 : i32 {
    }
    %1:2 = scf.while (%arg6 = %arg0, %arg7 = %arg4) : (index, tensor<8xf32>) -> (index, tensor<8xf32>) {
      scf.condition(%arg3) %arg6, %arg7 : index, tensor<8xf32>
    } do {
    ^bb0(%arg6: index, %arg7: tensor<8xf32>):
      scf.yield %arg6, %arg7 : index, tensor<8xf32>
    } attributes {test.w}
    scf.if %arg3 {
      "test.then"() : () -> ()
    }
    %2 = scf.if %arg3 -> (tensor<8xf32>) {
      scf.yield %0 : tensor<8xf32>
    } else {
      scf.yield %1#1 : tensor<8xf32>
    }
    scf.if %arg3 {
      "test.then"() : () -> ()
    } else {
      "test.else"() : () -> ()
    }
    %3 = scf.execute_region -> i32 {
      scf.yield %arg5 : i32
    }
    %4 = scf.index_switch %arg0 -> i32
    case 2 {
      scf.yield %arg5 : i32
    }
    case 5 {
      scf.yield %3 : i32
    }
    default {
      scf.yield %arg5 : i32
    }
    %5 = scf.forall (%arg6, %arg7) in (%arg1, 4) shared_outs(%arg8 = %2) -> (tensor<8xf32>) {
      %extracted_slice = tensor.extract_slice %arg4[%arg6] [1] [1] : tensor<8xf32> to tensor<1xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %extracted_slice into %arg8[%arg6] [1] [1] : tensor<1xf32> into tensor<8xf32>
      }
    }
    scf.forall (%arg6) = (0) to (%arg1) step (2) {
      scf.forall.in_parallel {
      }
    } {test.mapping = [1]}
    %cst = arith.constant 0.000000e+00 : f32
    %6 = scf.parallel (%arg6) = (%arg0) to (%arg1) step (%arg2) init (%cst) -> f32 {
      %extracted = tensor.extract %arg4[%arg6] : tensor<8xf32>
      scf.reduce(%extracted : f32) {
      ^bb0(%arg7: f32, %arg8: f32):
        %7 = arith.addf %arg7, %arg8 : f32
        scf.reduce.return %7 : f32
      }
    }
    return %5 : tensor<8xf32>
  }
}
