// What --dump_devices tells of the GPUs of cuda and hip: every key that scripts look for, and no more empty lines than
// one between parts.
// RUN: iree-softgpu --target=sm_90 -- iree-run-module --dump_devices=cuda > %t.cuda
// RUN: FileCheck %s --input-file=%t.cuda --check-prefix=CUDA
// RUN: iree-softgpu --target=gfx90a -- iree-run-module --dump_devices=hip > %t.hip
// RUN: FileCheck %s --input-file=%t.hip --check-prefix=HIP

// CUDA:      # --device=cuda://GPU-{{([0-9a-f]+-){4}[0-9a-f]+$}}
// CUDA-NEXT: #   NVIDIA H200
// CUDA:      - cuda_dylib_path: {{.*}}libcuda.so.1
// CUDA-NEXT: - gpu-compute-capability: 9.0
// CUDA-NEXT: - gpu-arch-name: sm_90
// CUDA-NEXT: - driver-max-cuda-version: 13.0
// CUDA-EMPTY:
// CUDA-NEXT: - launch-max-block-dims: (1024, 1024, 64)
// CUDA-NEXT: - launch-max-grid-dims: (2147483647, 65535, 65535)
// CUDA-EMPTY:
// CUDA-NEXT: - block-max-thread-count: 1024
// CUDA-NEXT: - block-max-32-bit-register-count: 65536
// CUDA-NEXT: - block-max-shared-memory: 49152 bytes
// CUDA-EMPTY:
// CUDA-NEXT: - multiprocessor-max-thread-count: 2048
// CUDA-NEXT: - multiprocessor-max-block-count: 32
// CUDA-NEXT: - multiprocessor-max-32-bit-register-count: 65536
// CUDA-NEXT: - multiprocessor-max-shared-memory: 233472 bytes
// CUDA-EMPTY:
// CUDA-NEXT: - memory-is-integrated-memory: 0
// CUDA-NEXT: - memory-has-unified-address-space: 1
// CUDA-NEXT: - memory-supports-managed-memory: 1
// CUDA-NEXT: - memory-can-map-host-memory-to-device: 1
// CUDA-NEXT: - memory-supports-pageable-memory-access-from-device: 0
// CUDA-NEXT: - memory-supports-concurrent-managed-access: 1
// CUDA-NEXT: - memory-supports-memory-pools: 1
// CUDA-NEXT: - memory-total-const-memory-size: 64 KB
// CUDA-NEXT: - memory-total-global-memory-size: 144384 MB
// CUDA-NEXT: - memory-l2-cache-size: 41943040 bytes
// CUDA-EMPTY:
// CUDA-NEXT: - sync-supports-64-bit-stream-mem-ops: 1
// CUDA-NEXT: - sync-supports-timeline-semaphore-interop: 0
// CUDA-NEXT: - sync-mem-domain-count: 1
// CUDA-EMPTY:
// CUDA-NEXT: - gpu-multiprocessor-count: 132
// CUDA-NEXT: - gpu-clock-rate: 1500000 kHz
// CUDA-NEXT: - gpu-compute-unit-count: 132
// CUDA-NEXT: - gpu-compute-max-clock-rate: 1500 mHz
// CUDA-NEXT: - gpu-memory-max-clock-rate: 2000 mHz
// CUDA-NEXT: - gpu-warp-size: 32
// CUDA-NEXT: - kernel-has-execution-timeout: 0

// HIP:      - amdhip64_dylib_path: {{.*}}libamdhip64.so
// HIP-NEXT: - gpu-compute-capability: 9.0
// HIP-NEXT: - gpu-arch-name: gfx90a
// HIP:      - launch-max-block-dims: (1024, 1024, 1024)
// HIP:      - block-max-thread-count: 1024
// HIP-NEXT: - block-max-32-bit-register-count: 65536
// HIP-NEXT: - block-max-shared-memory: 64 KB
// HIP-EMPTY:
// HIP:      - memory-is-integrated-memory: 0
// HIP:      - memory-supports-managed-memory: 1
// HIP:      - memory-total-const-memory-size: 2047 MB
// HIP-NEXT: - memory-total-global-memory-size: 16384 MB
// HIP-NEXT: - memory-l2-cache-size: 8388608 bytes
// HIP-EMPTY:
// HIP-NEXT: - gpu-compute-unit-count: 104
// HIP-NEXT: - gpu-compute-max-clock-rate: 1700 mHz
// HIP-NEXT: - gpu-memory-max-clock-rate: 1600 mHz
// HIP-NEXT: - gpu-warp-size: 64
