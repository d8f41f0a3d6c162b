// Flags of drivers: what they change, or how they are refused.
// RUN: iree-run-module --task_topology_group_count=3 --dump_task_topologies | grep -c "worker [012]: anywhere" | grep -x 3
// RUN: iree-run-module --task_topology_cpu_ids=0 --dump_task_topologies | grep "processor 0 (bound)"
// RUN: iree-run-module --task_topology_nodes=all --dump_task_topologies | grep "node 0"
// RUN: not iree-run-module --task_topology_nodes=999 --dump_task_topologies 2>&1 | grep -e "--task_topology_nodes: '999' is not one of"
// RUN: not iree-run-module --task_topology_mode=nope --dump_task_topologies 2>&1 | grep "'nope' is not a value of --task_topology_mode"
// RUN: not iree-run-module --task_topology_performance_level=nope --dump_task_topologies 2>&1 | grep "'nope' is not a value of --task_topology_performance_level"
// RUN: not iree-run-module --task_topology_distribution=nope --dump_task_topologies 2>&1 | grep "'nope' is not a value of --task_topology_distribution"
// RUN: not iree-run-module --task_topology_favor=nope --dump_task_topologies 2>&1 | grep "'nope' is not a value of --task_topology_favor"
// RUN: not iree-run-module --task_topology_max_group_count=-1 --dump_task_topologies 2>&1 | grep "group counts must not be negative"
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmfb
// RUN: not iree-run-module --task_worker_spin_us=-1 --device=local-task --module=%t.vmfb --function=one 2>&1 | grep "must not be negative"
// RUN: not iree-run-module --task_worker_stack_size=-1 --device=local-task --module=%t.vmfb --function=one 2>&1 | grep "must not be negative"
// RUN: not iree-run-module --task_worker_local_memory=-1 --device=local-task --module=%t.vmfb --function=one 2>&1 | grep "must not be negative"
// RUN: not iree-run-module --task_abort_on_failure=perhaps --device=local-task --module=%t.vmfb --function=one 2>&1 | grep "takes true, false, 1 or 0"
// RUN: not iree-run-module --executable_plugin=%t.none.so --device=local-sync --module=%t.vmfb --function=one 2>&1 | grep "loading plugin '%t.none.so' failed"
// RUN: not iree-run-module --cuda_tracing=9 --list_devices=cuda 2>&1 | grep "0, 1 and 2 are"
// RUN: not iree-run-module --hip_tracing=9 --list_devices=hip 2>&1 | grep "0, 1 and 2 are"
// RUN: not iree-run-module --cuda_allow_inline_execution --list_devices=cuda 2>&1 | grep "leave it false"
// RUN: not iree-run-module --hip_allow_inline_execution --list_devices=hip 2>&1 | grep "leave it false"
// RUN: not iree-run-module --cuda_default_index=-1 --list_devices=cuda 2>&1 | grep "is no index of a GPU"
// RUN: not iree-run-module --hip_default_index=-1 --list_devices=hip 2>&1 | grep "is no index of a GPU"
// RUN: not iree-run-module --cuda_collectives=nope --list_devices=cuda 2>&1 | grep "auto, library and host"
// RUN: not iree-run-module --hip_collectives=nope --list_devices=hip 2>&1 | grep "auto, library and host"
// A processor that Debian's HIP 5.2 does not know, which then frees what it has not set: no filling of new memory.
// RUN: ASAN_OPTIONS=$ASAN_OPTIONS:max_malloc_fill_size=0 not iree-softgpu --target=gfx1201 -- iree-run-module --list_devices=hip 2>&1 | grep "finds no GPU that it knows"
// RUN: not iree-run-module --hip_dylib_path=file:%t.none.so --list_devices=hip 2>&1 | grep "%t.none.so"
// RUN: not iree-run-module --cuda_use_streams=perhaps --list_devices=local-sync 2>&1 | grep "takes true"
// RUN: not iree-run-module --cuda_async_allocations=perhaps --list_devices=local-sync 2>&1 | grep "takes true"
// RUN: not iree-run-module --hip_use_streams=perhaps --list_devices=local-sync 2>&1 | grep "takes true"
// RUN: not iree-run-module --hip_async_allocations=perhaps --list_devices=local-sync 2>&1 | grep "takes true"
// RUN: not iree-run-module --hip_async_caching=perhaps --list_devices=local-sync 2>&1 | grep "takes true"
// RUN: not iree-run-module --amdgpu_preallocate_pools=perhaps --list_devices=local-sync 2>&1 | grep "takes true"
// RUN: not iree-run-module --amdgpu_force_wait_barrier_defer=perhaps --list_devices=local-sync 2>&1 | grep "takes true"
// RUN: not iree-run-module --amdgpu_experimental_pm4_command_buffers=perhaps --list_devices=local-sync 2>&1 | grep "takes true"
// RUN: iree-softgpu --target=gfx942 --gpus=2 -- iree-run-module --dump_devices=amdgpu | grep -F "#   ROCR_VISIBLE_DEVICES: 2 Visible GPU Agents (Nodes 1, 2)"
// RUN: iree-softgpu --target=gfx942 --gpus=2 -- iree-run-module --dump_devices=amdgpu | grep "^#   .* (Node 2)$"
// RUN: iree-softgpu --target=gfx942 --gpus=2 -- iree-run-module --dump_devices=amdgpu | grep "gpu-link-to-1: pcie_same_root"
// RUN: iree-softgpu --target=sm_80 --gpus=2 -- iree-run-module --dump_devices=cuda | grep "gpu-link-to-0: nvlink_if"
// RUN: iree-softgpu --target=gfx1100 -- iree-run-module --dump_devices=amdgpu | grep -F "#   ROCR_VISIBLE_DEVICES: 1 Visible GPU Agent (Node 1)"
// RUN: not iree-run-module --device=local-sync://?stream=1 --module=%t.vmfb --function=one 2>&1 | grep "has no device parameter 'stream'; it has none"
// RUN: not iree-softgpu --target=gfx1100 -- iree-run-module --amdgpu_host_block_pool_small_size=3 --list_devices=amdgpu 2>&1 | grep "must be a power of two"
// RUN: not iree-softgpu --target=gfx1100 -- iree-run-module --amdgpu_host_block_pool_command_buffer_size=3 --list_devices=amdgpu 2>&1 | grep "must be a power of two"
// RUN: not iree-softgpu --target=gfx1100 -- iree-run-module --amdgpu_default_pool_range_length=3 --list_devices=amdgpu 2>&1 | grep "must be a power of two"
// RUN: not iree-softgpu --target=gfx1100 -- iree-run-module --amdgpu_default_pool_alignment=3 --list_devices=amdgpu 2>&1 | grep "must be a power of two"
// RUN: not iree-softgpu --target=gfx1100 -- iree-run-module --amdgpu_default_pool_frontier_capacity=3 --list_devices=amdgpu 2>&1 | grep "must be a power of two"
// RUN: not iree-softgpu --target=gfx1100 -- iree-run-module --amdgpu_host_block_pool_large_size=1 --list_devices=amdgpu 2>&1 | grep "only its default"
// RUN: not iree-softgpu --target=gfx1100 -- iree-run-module --amdgpu_device_block_pool_small_size=1 --list_devices=amdgpu 2>&1 | grep "only its default"
// RUN: not iree-softgpu --target=gfx1100 -- iree-run-module --amdgpu_device_block_pool_small_capacity=1 --list_devices=amdgpu 2>&1 | grep "only its default"
// RUN: not iree-softgpu --target=gfx1100 -- iree-run-module --amdgpu_device_block_pool_large_size=1 --list_devices=amdgpu 2>&1 | grep "only its default"
// RUN: not iree-softgpu --target=gfx1100 -- iree-run-module --amdgpu_device_block_pool_large_capacity=1 --list_devices=amdgpu 2>&1 | grep "only its default"
// RUN: not iree-softgpu --target=gfx1100 -- iree-run-module --amdgpu_wait_active_for_ns=1 --list_devices=amdgpu 2>&1 | grep "only its default"
// RUN: not iree-softgpu --target=gfx1100 -- iree-run-module --amdgpu_exclusive_execution=1 --list_devices=amdgpu 2>&1 | grep "only its default"
// RUN: not iree-softgpu --target=gfx1100 -- iree-run-module --amdgpu_queue_placement=nope --list_devices=amdgpu 2>&1 | grep "nope is none of"
// RUN: not iree-softgpu --target=gfx1100 -- iree-run-module --amdgpu_command_buffer_mode=nope --list_devices=amdgpu 2>&1 | grep "nope is none of"
// RUN: not iree-softgpu --target=gfx1100 -- iree-run-module --amdgpu_pm4_command_buffer_publication_mode=nope --list_devices=amdgpu 2>&1 | grep "nope is none of"
// RUN: not env IREE_HAL_AMDGPU_LIBHSA_PATH=%t.none iree-run-module --device=amdgpu --amdgpu_libhsa_search_path=%t.nothing --module=%t.vmfb --function=one 2>&1 | grep "%t.nothing"
// RUN: iree-compile --iree-hal-target-device=cuda --iree-cuda-target=sm_80 %s -o %t.cuda.vmfb
// RUN: rm -rf %t.cubin && iree-softgpu --target=sm_80 -- iree-run-module --device=cuda --cuda_cubin_cache_dir=%t.cubin --module=%t.cuda.vmfb --function=one --output= && ls %t.cubin | grep sm_80.cubin
// RUN: rm -rf %t.cubin && iree-softgpu --target=sm_80 -- iree-run-module --device=cuda --cuda_cubin_cache_dir=%t.cubin --cuda_cubin_cache=false --module=%t.cuda.vmfb --function=one --output= && not ls %t.cubin
// RUN: PMI_RANK=x not iree-run-module --hip_default_index_from_mpi=false --list_devices=hip 2>&1 | grep libamdhip64
// RUN: PMI_RANK=7 iree-softgpu --target=sm_80 -- iree-run-module --device=cuda --cuda_default_index_from_mpi=false --module=%t.cuda.vmfb --function=one --output=
// RUN: not iree-softgpu --target=sm_80 -- iree-run-module --device=cuda --cuda_default_index=2 --module=%t.cuda.vmfb --function=one 2>&1 | grep "there is no GPU 2"
// RUN: not iree-softgpu --target=sm_80 -- iree-run-module --device=cuda://0?stream=1 --module=%t.cuda.vmfb --function=one 2>&1 | grep "has no device parameter 'stream'; there is cuda_external_stream"

func.func @one() -> tensor<4xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<4xf32>
  %1 = stablehlo.add %0, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
