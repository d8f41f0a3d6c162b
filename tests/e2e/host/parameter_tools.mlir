// Archives by the tools: created, converted, listed, taken apart, and used by a program where they are: with less memory
// than one parameter takes.
// RUN: iree-create-parameters --splat=b=8xf32=2.5 --data=a=4xf32=1,2,3,4 --data=z=3xi16=-7 --data=big=67108864xf32 --output=%t.irpa | FileCheck --check-prefix=CREATE %s
// RUN: iree-dump-parameters --parameters=s=%t.irpa --extract=s::a=%t.a --extract=s::b=%t.b --extract=s::z=%t.z | FileCheck --check-prefix=DUMP %s
// RUN: cat %t.a %t.b %t.z | od -An -tx1 -v -w16 | FileCheck --check-prefix=BYTES %s
// RUN: iree-create-parameters --quiet --data=a=4xf32=@%t.a --alignment=4096 --output=%t.again.irpa && iree-dump-parameters --parameter_mode=preload --parameters=%t.again.irpa --extract=a=%t.a2 | FileCheck --check-prefix=AGAIN %s
// RUN: cmp %t.a %t.a2
// RUN: iree-convert-parameters --parameters=%t.irpa --exclude=big --rename=a=c --splat=z=i16=3 --output=%t.converted.irpa | FileCheck --check-prefix=CONVERT %s
// RUN: iree-dump-parameters --parameters=%t.converted.irpa --extract=c=%t.c | FileCheck --check-prefix=CONVERT %s
// RUN: cmp %t.a %t.c
// RUN: cp %t.converted.irpa %t.place.irpa && iree-convert-parameters --quiet --parameters=%t.place.irpa --strip --output=%t.place.irpa && iree-dump-parameters --parameters=%t.place.irpa | FileCheck --check-prefix=STRIP %s
// RUN: printf '\x40\x00\x00\x00\x00\x00\x00\x00{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}          \x00\x00\x80\x3f\x00\x00\x00\x40' > %t.safetensors
// RUN: iree-convert-parameters --quiet --parameters=%t.safetensors --parameters=x=%t.again.irpa --output=%t.both.irpa && iree-dump-parameters --parameters=%t.both.irpa | FileCheck --check-prefix=BOTH %s
// RUN: not iree-create-parameters --data=a=4xf32 2>&1 | FileCheck --check-prefix=OUTPUT %s
// RUN: not iree-create-parameters --data=a=2xi4 --output=%t.none 2>&1 | FileCheck --check-prefix=BITS %s
// RUN: not iree-create-parameters --data=a=2xi8=1,2,3 --output=%t.none 2>&1 | FileCheck --check-prefix=MANY %s
// RUN: not iree-create-parameters --data=a=2xi8=@%t.a --output=%t.none 2>&1 | FileCheck --check-prefix=FILE %s
// RUN: not iree-create-parameters --data=a=2xi8 --splat=a=2xi8=1 --output=%t.none 2>&1 | FileCheck --check-prefix=TWICE %s
// RUN: not ls %t.none
// RUN: not iree-convert-parameters --parameters=%t.irpa --exclude=nope --output=%t.none 2>&1 | FileCheck --check-prefix=NOPE %s
// RUN: not iree-convert-parameters --parameters=%t.irpa --splat=z=f64=1 --output=%t.none 2>&1 | FileCheck --check-prefix=MULTIPLE %s
// RUN: not iree-convert-parameters --parameters=%t.irpa --parameters=x=%t.again.irpa --output=%t.none 2>&1 | FileCheck --check-prefix=CLASH %s
// RUN: not iree-dump-parameters --parameters=%t.irpa --extract=none=%t.none 2>&1 | FileCheck --check-prefix=NONE %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: (ulimit -d 131072; iree-run-module --device=local-sync --module=%t.vmfb --parameters=m=%t.irpa --input=4xf32=10,20,30,40) | FileCheck %s
// RUN: (ulimit -d 131072; iree-run-module --device=local-task --module=%t.vmfb --parameters=m=%t.irpa --input=4xf32=10,20,30,40) | FileCheck %s
// RUN: (ulimit -d 131072; not iree-run-module --device=local-sync --module=%t.vmfb --parameter_mode=preload --parameters=m=%t.irpa --input=4xf32=10,20,30,40 2>&1) | FileCheck --check-prefix=MEMORY %s

// CREATE:      //===---{{-*}}===//
// CREATE-NEXT: // Parameter scope <global> (4 entries, 268435510 total bytes)
// CREATE-NEXT: //===------------+------------------+------------------+---{{-*}}===//
// CREATE-NEXT: //         Start |              End |           Length | Key
// CREATE-NEXT: //---------------+------------------+------------------+---{{-*}}//
// CREATE-NEXT: {{^}}               - |                - |               32 | `b`
// CREATE-NEXT: {{^}}             448 |              464 |               16 | `a`
// CREATE-NEXT: {{^}}             512 |              518 |                6 | `z`
// CREATE-NEXT: {{^}}             576 |        268436032 |        268435456 | `big`
// DUMP: Parameter scope `s` (4 entries, 268435510 total bytes)
// DUMP: Extracting parameter `s::a` (16b) to `
// BYTES: 00 00 80 3f 00 00 00 40 00 00 40 40 00 00 80 40
// BYTES-COUNT-2: 00 00 20 40 00 00 20 40 00 00 20 40 00 00 20 40
// BYTES: f9 ff f9 ff f9 ff
// AGAIN: 4096 | 4112 | 16 | `a`
// CONVERT: (3 entries, 54 total bytes)
// CONVERT: - | - | 32 | `b`
// CONVERT-NEXT: 384 | 400 | 16 | `c`
// CONVERT-NEXT: - | - | 6 | `z`
// STRIP: - | - | 16 | `c`
// BOTH: | 8 | `w`
// BOTH: | 16 | `a`
// OUTPUT: INVALID_ARGUMENT; no output; --output=file.irpa names it
// BITS: INVALID_ARGUMENT; its elements are no whole bytes; use a type that is as long (1xi8 for 2xi4); in --data=a=2xi4
// MANY: OUT_OF_RANGE; {{.*}}in --data=a=2xi8=1,2,3
// FILE: OUT_OF_RANGE; {{.*}} has 16 bytes; 2 are needed
// TWICE: ALREADY_EXISTS; the archive has a parameter 'a' already
// NOPE: NOT_FOUND; --exclude=nope: no archive has a parameter 'nope'
// MULTIPLE: INVALID_ARGUMENT; 6 bytes are no multiple of the value's 8; in --splat=z
// CLASH: ALREADY_EXISTS; the archive has a parameter 'a' already
// NONE: NOT_FOUND; no parameter found in index with key 'none'; extracting parameter with flag `none=
// CHECK: 4xf32=11 22 33 44
// MEMORY: RESOURCE_EXHAUSTED; out of memory

util.global private @big = #stream.parameter.named<"m"::"big"> : tensor<67108864xf32>
util.global private @a = #stream.parameter.named<"m"::"a"> : tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %big = util.global.load @big : tensor<67108864xf32>
  %a = util.global.load @a : tensor<4xf32>
  %end = tensor.extract_slice %big[67108860] [4] [1] : tensor<67108864xf32> to tensor<4xf32>
  %0 = arith.addf %x, %end : tensor<4xf32>
  %1 = arith.addf %0, %a : tensor<4xf32>
  return %1 : tensor<4xf32>
}
