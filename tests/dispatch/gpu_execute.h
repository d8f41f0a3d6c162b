// Runs AMD kernels of an executable on the software GPU, with the checks that IREE_SOFTGPU_CHECK names, or all.
#ifndef IREE_C_TESTS_DISPATCH_GPU_EXECUTE_H_
#define IREE_C_TESTS_DISPATCH_GPU_EXECUTE_H_

#include "target/target.h"

typedef struct gpu_execute_t gpu_execute_t;

typedef struct gpu_buffer_t {
  void* data;
  size_t size;  // bytes; 0: never touched
  bool is_written;
} gpu_buffer_t;

typedef struct gpu_launch_t {
  uint32_t entry, workgroups[3];
  const gpu_buffer_t* buffers;
  const uint32_t* constants;  // 32-bit words behind the buffers' addresses, laid out as the kernel has them
  uint32_t buffer_count, constant_count;
} gpu_launch_t;

// `arch` is LLVM's processor. NULL after a message on standard error.
gpu_execute_t* gpu_execute_open(const char* arch, const target_executable_t* executable);
void gpu_execute_close(gpu_execute_t* gpu);
// False after a message on standard error: what a check found, or a fault.
bool gpu_execute_run(gpu_execute_t* gpu, const gpu_launch_t* launch);

#endif  // IREE_C_TESTS_DISPATCH_GPU_EXECUTE_H_
