// Flags of iree-c-embed-data and iree-dump-module.
// RUN: mkdir -p %t.d/sub && printf abc > %t.d/sub/a.bin && iree-c-embed-data --output_header=%t.h --output_impl=%t.c --identifier=my_data --strip_prefix=%t.d/ %t.d/sub/a.bin
// RUN: grep "my_data_create" %t.h && grep '"sub/a.bin"' %t.c
// RUN: iree-c-embed-data --output_header=%t.h --output_impl=%t.c --identifier=my_data --flatten %t.d/sub/a.bin && grep '"a.bin"' %t.c
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmfb
// RUN: iree-dump-module --output=flatbuffer-json --pretty %t.vmfb | grep -x '  "name": "module",'
// RUN: iree-dump-module --output=disassembly %t.vmfb > %t.plain && iree-dump-module --output=disassembly --bytecode_offsets %t.vmfb > %t.offsets && not cmp -s %t.plain %t.offsets

func.func @same(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
