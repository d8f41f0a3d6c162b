// Flags of iree-run-module, older spellings too.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmfb
// RUN: iree-run-module --driver=local-sync --module_file=%t.vmfb --entry_function=same --function_input=2xf32=1,2 | grep "2xf32=1 2"
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --entry_function=same --function_inputs=2xf32=1,2 | grep "2xf32=1 2"
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --input=2xf32=1,2 --device_capture_tool=renderdoc 2>&1 | grep "no other tool is asked to capture"
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --input=2xf32=1,2 --device_capture_file=x 2>&1 | grep "no other tool is asked to capture"
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --input=2xf32=1,2 --device_capture_label=x 2>&1 | grep "no other tool is asked to capture"
// RUN: for f in vulkan_validation_layers metal_resource_hazard_tracking; do not iree-run-module --$f=true --module=%t.vmfb 2>&1 | grep "flag '$f' is IREE's and not here: there is no" || exit 1; done
// RUN: not iree-run-module --task_topology_snapshot=x --module=%t.vmfb 2>&1 | grep "flag 'task_topology_snapshot' is IREE's and not here: topologies are the host's own"
// RUN: not iree-run-module --driver=none --module=%t.vmfb --function=same --input=2xf32 2>&1 | grep "no driver 'none' registered"
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --entry_function=none 2>&1 | grep "no function .none. exported"
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --module_mode=none --function=same 2>&1 | grep "unrecognized --module_mode= value 'none'"
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --module_mode=mmap --function=same --input=2xf32=1,2 | grep "2xf32=1 2"
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=same --input=2xf32=1,2 --trace_execution 2>&1 >/dev/null | grep -i "same"
// RUN: iree-run-module --list_drivers | FileCheck --check-prefix=DRIVERS %s
// RUN: iree-run-module --list_devices=local-sync | grep -x "local-sync://"
// RUN: iree-run-module --dump_devices=local-sync | grep -e "--device=local-sync://"
// RUN: not iree-run-module --device=local-sync --device_allocator=caching:1 --module=%t.vmfb --function=same --input=2xf32 2>&1 | grep "devices keep pools of memory already"
// RUN: not iree-run-module --device=local-sync --device_allocator=none --module=%t.vmfb --function=same --input=2xf32 2>&1 | grep "unrecognized allocator 'none'"
// RUN: not iree-run-module --device=local-sync --device_lead_allocator=1 --module=%t.vmfb --function=same --input=2xf32 2>&1 | grep "the first device's memory"
// RUN: iree-run-module --agents_md | grep -x "# iree-run-module"
// RUN: iree-run-module --version | grep "iree-c runtime version"
// RUN: printf '# flags\n--device=local-sync\n--function=same\n' > %t.flags && iree-run-module --flagfile=%t.flags --module=%t.vmfb --input=2xf32=1,2 | grep "2xf32=1 2"
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=same --input=2xf32=1,2 --output_max_element_count=1 | grep -x "2xf32=1..."
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=same --input=2xf32=1,2 --expected_f32_threshold=0.5 --expected_output=2xf32=1.25,2.25
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=same --input=2xf32=1,2 --expected_rtol=0.5 --expected_output=2xf32=1.25,2.25
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=half --input=2xf16=1,2 --expected_f16_threshold=0.5 --expected_output=2xf16=1.25,2.25
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=brain --input=2xbf16=1,2 --expected_bf16_threshold=0.5 --expected_output=2xbf16=1.25,2.25
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=double --input=2xf64=1,2 --expected_f64_threshold=0.5 --expected_output=2xf64=1.25,2.25
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --function=same --input=2xf32=1,2 --equality_mode=exact --expected_output=2xf32=1.00001,2

// DRIVERS: # Available HAL drivers
// DRIVERS: local-sync:
// DRIVERS: local-task:

func.func @same(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }
func.func @half(%x: tensor<2xf16>) -> tensor<2xf16> { return %x : tensor<2xf16> }
func.func @brain(%x: tensor<2xbf16>) -> tensor<2xbf16> { return %x : tensor<2xbf16> }
func.func @double(%x: tensor<2xf64>) -> tensor<2xf64> { return %x : tensor<2xf64> }
