// The older dialect name and the older spelling of attributes.
// Written by cases_stablehlo.py.

func.func @legacy(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> (tensor<2xf32>) attributes {
    test.in = [dense<[[1.7722244262695312, 0.045310210436582565, 1.9049748182296753], [-1.676655888557434, 0.42942333221435547, -0.4940536618232727]]> : tensor<2x3xf32>, dense<[[1.2076048851013184, -1.3018887042999268, 1.4865411520004272, 0.17576560378074646], [1.6088603734970093, -0.09138590097427368, -0.2780148983001709, 1.1557868719100952], [1.9366120100021362, -0.5210968255996704, 1.8757314682006836, 1.716105580329895]]> : tensor<3x4xf32>],
    test.out = [dense<[15.730354309082031, 2.4010260105133057]> : tensor<2xf32>]
} {
  %0 = "mhlo.dot"(%a, %b) {precision_config = [#mhlo<precision DEFAULT>, #mhlo<precision DEFAULT>]} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = mhlo.constant dense<0.000000e+00> : tensor<f32>
  %2 = "mhlo.broadcast_in_dim"(%1) {broadcast_dimensions = dense<> : tensor<0xi64>} : (tensor<f32>) -> tensor<2x4xf32>
  %3 = mhlo.maximum %0, %2 : tensor<2x4xf32>
  %4 = mhlo.reduce(%3 init: %1) across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
   reducer(%c: tensor<f32>, %d: tensor<f32>) {
    %5 = mhlo.add %c, %d : tensor<f32>
    "mhlo.return"(%5) : (tensor<f32>) -> ()
  }
  return %4 : tensor<2xf32>
}
