// Values that are right and in the wrong places are said to be so.

// RUN: python3 -c "import struct; open('%t.bin', 'wb').write(struct.pack('64f', *range(64)))"
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.rows.vmfb
// RUN: sed 's/dims = \[0\]/dims = [1]/' %s | iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx -o %t.columns.vmfb -
// RUN: not iree-bisect --reference_device=local-sync --reference_module=%t.rows.vmfb --tested_device=local-sync --tested_module=%t.columns.vmfb --input=8x8xf32=+%t.bin | FileCheck %s
// CHECK: element at index 0 (14) does not match the reference's (112); {{[0-9]+}} of 64 elements differ
// CHECK: it has the reference's values in another order: the kernel writes them to the wrong places, or the two sides lay this memory out in ways of their own
// CHECK: [FOUND] dispatch 0 of 1 differs

// Other values are not.
// RUN: sed s/stablehlo.add/stablehlo.multiply/ %s | iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx -o %t.other.vmfb -
// RUN: not iree-bisect --reference_device=local-sync --reference_module=%t.rows.vmfb --tested_device=local-sync --tested_module=%t.other.vmfb --input=8x8xf32=+%t.bin | FileCheck --check-prefix=OTHER %s
// OTHER: elements differ
// OTHER-NOT: another order
// OTHER: [FOUND] dispatch 0 of 1 differs

func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = stablehlo.reverse %a, dims = [0] : tensor<8x8xf32>
  %0 = stablehlo.add %r, %r : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
