// Execution of PTX: what the libcuda side (src/softgpu/cuda) asks of the instruction side.
//
// An engine is one GPU: a target and its limits. A module is the text of a PTX file, parsed once into rows of
// src/isa/nvidia/ptx.def; a launch runs a function's blocks (CTAs) on the process's worker threads and on the thread
// that asks, a warp at a time. Device addresses are addresses of the process. All functions may be called from several
// threads at once, except that a module may not be destroyed while it runs.
#ifndef IREE_C_SOFTGPU_NVIDIA_ENGINE_H_
#define IREE_C_SOFTGPU_NVIDIA_ENGINE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "softgpu/checks.h"
#include "softgpu/memory_map.h"

// What a compute capability allows (CUDA C++ Programming Guide, "Compute Capabilities").
typedef struct nv_target_t {
  const char* name;                // "sm_90"
  const char* product;             // "NVIDIA H200"
  uint32_t architecture;           // 90
  uint32_t units;                  // multiprocessors
  uint32_t threads_per_unit;       // resident at most
  uint32_t blocks_per_unit;        // resident at most
  uint32_t registers_per_unit;     // of 32 bits
  uint32_t shared_per_unit;        // bytes
  uint32_t shared_per_block;       // bytes, without asking
  uint32_t shared_per_block_most;  // bytes, with CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
  uint64_t memory;                 // bytes
} nv_target_t;
// NULL when there is none of this name; rows in the order of architectures, NULL behind the last.
const nv_target_t* nv_target_find(const char* name);
const nv_target_t* nv_target_at(uint32_t index);

typedef struct nv_engine_t nv_engine_t;
typedef struct nv_module_t nv_module_t;
typedef struct nv_function_t nv_function_t;

typedef struct nv_options_t {
  const nv_target_t* target;
  uint32_t ordinal;      // of the GPU: its bit in memory_range_t.agents
  uint32_t checks;       // ENGINE_CHECK_*
  bool counts;           // count instructions, bytes, bank conflicts
  uint64_t warp_limit;   // instructions after which a warp is stopped as endless; 0: none
  memory_map_t* memory;  // allocations of the process; outlives the engine
  // Memory of variables in a module's .global and .const space: zeroed pages that the engine's GPU may touch and that
  // are in `memory`. NULL when memory is short.
  void* (*allocate)(void* data, size_t size, size_t alignment, const char* kind);
  void (*release)(void* data, void* address);
  void* data;
} nv_options_t;

// NULL when memory is short.
nv_engine_t* nv_engine_create(const nv_options_t* options);
void nv_engine_destroy(nv_engine_t* engine);

typedef enum {
  NV_FAULT_NONE,
  NV_FAULT_PTX,          // text that is no PTX, or says what the engine does not know: CUDA_ERROR_INVALID_PTX
  NV_FAULT_VERSION,      // .version or .target above what the GPU takes: CUDA_ERROR_UNSUPPORTED_PTX_VERSION, NO_BINARY
  NV_FAULT_MEMORY,       // out of host memory
  NV_FAULT_ADDRESS,      // access where nothing is, or (with checks) out of bounds: CUDA_ERROR_ILLEGAL_ADDRESS
  NV_FAULT_MISALIGNED,   // CUDA_ERROR_MISALIGNED_ADDRESS
  NV_FAULT_INSTRUCTION,  // reached, and not known here: CUDA_ERROR_ILLEGAL_INSTRUCTION
  NV_FAULT_TRAP,         // trap: CUDA_ERROR_LAUNCH_FAILED
  NV_FAULT_ASSERT,       // __assertfail: CUDA_ERROR_ASSERT
  NV_FAULT_LIMIT,        // warp_limit, or a barrier that never completes: CUDA_ERROR_LAUNCH_TIMEOUT
  NV_FAULT_CHECK,        // what a check found: CUDA_ERROR_LAUNCH_FAILED
  NV_FAULT_STOPPED,      // nv_launch_t.stops
} nv_fault_kind_t;

typedef struct nv_fault_t {
  nv_fault_kind_t kind;
  uint64_t address;    // of the memory access, where it is one
  char message[1024];  // one line: what, where (function, line of the text, source line where .loc tells), block, lanes
} nv_fault_t;

// Parses and checks a module for the engine's GPU; the text, which need not end in a zero, is copied. NULL after
// filling `fault`, with the line of the text.
nv_module_t* nv_module_create(nv_engine_t* engine, const char* text, size_t size, nv_fault_t* fault);
void nv_module_destroy(nv_module_t* module);
// NULL where there is none; owned by the module. Only .entry functions are listed and found.
nv_function_t* nv_module_function(nv_module_t* module, const char* name);
nv_function_t* nv_module_function_at(nv_module_t* module, uint32_t index);
// A variable in .global or .const space. False when there is none.
bool nv_module_global(nv_module_t* module, const char* name, uint64_t* out_address, uint64_t* out_size);

typedef struct nv_parameter_t {
  uint32_t offset, size;  // bytes, in the block of parameters
} nv_parameter_t;
typedef struct nv_function_info_t {
  const char* name;
  const nv_parameter_t* parameters;
  uint32_t parameter_count;
  uint32_t parameter_size;             // bytes of all
  uint32_t shared_size;                // bytes of static shared memory
  uint32_t local_size;                 // bytes a thread
  uint32_t constant_size;              // bytes of the module's .const variables
  uint32_t registers;                  // an estimate, of 32 bits a thread
  uint32_t max_threads;                // of a block: .maxntid, .reqntid or 1024
  uint32_t required_threads[3];        // .reqntid; zeros where none is required
  uint32_t ptx_version, architecture;  // 10 * major + minor; 90
} nv_function_info_t;
void nv_function_info(const nv_function_t* function, nv_function_info_t* out);
// How many blocks of these threads and dynamic shared memory (bytes) a multiprocessor holds at once.
uint32_t nv_function_occupancy(const nv_function_t* function, uint32_t threads, uint32_t dynamic_shared);

typedef struct nv_launch_t {
  const nv_function_t* function;
  uint32_t grid[3], block[3];
  uint32_t cluster[3];      // blocks; zeros: none
  uint32_t dynamic_shared;  // bytes
  bool cooperative;         // all blocks make progress at a time
  const void* parameters;   // the block of parameters: nv_function_info_t.parameter_size bytes
  const int32_t* stops;     // atomic: once it is not 0, the launch is abandoned soon; may be NULL
} nv_launch_t;
// Runs to the end. False after filling `fault`; the blocks that were running are then abandoned. The caller has checked
// sizes against the target.
bool nv_launch(const nv_launch_t* launch, nv_fault_t* fault);

// COUNTER(name, what)
#define NV_COUNTERS(COUNTER)                                               \
  COUNTER(launches, "launches")                                            \
  COUNTER(blocks, "blocks")                                                \
  COUNTER(warps, "warps")                                                  \
  COUNTER(longest, "instructions of the longest warp of each launch")      \
  COUNTER(instructions, "instructions")                                    \
  COUNTER(lanes, "operations, one for each active lane")                   \
  COUNTER(matrix, "matrix instructions")                                   \
  COUNTER(memory, "global memory instructions")                            \
  COUNTER(sectors, "sectors of 32 bytes that they touch")                  \
  COUNTER(bytes_read, "bytes read from global memory")                     \
  COUNTER(bytes_written, "bytes written to global memory")                 \
  COUNTER(shared, "shared memory instructions")                            \
  COUNTER(shared_conflicts, "passes lost to shared memory bank conflicts") \
  COUNTER(shared_read, "bytes read from shared memory")                    \
  COUNTER(shared_written, "bytes written to shared memory")                \
  COUNTER(local, "local memory instructions")                              \
  COUNTER(branches, "branches")                                            \
  COUNTER(divergent, "branches that part a warp")                          \
  COUNTER(barriers, "barriers")
typedef struct nv_counters_t {
#define COUNTER(name, what) uint64_t name;
  NV_COUNTERS(COUNTER)
#undef COUNTER
} nv_counters_t;
// Sums since the engine was made; zero unless options.counts.
void nv_engine_counters(nv_engine_t* engine, nv_counters_t* out);

#endif  // IREE_C_SOFTGPU_NVIDIA_ENGINE_H_
