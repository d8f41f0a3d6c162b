// What a stream is asked to do, and what a graph's node does: one description for both.
#ifndef IREE_C_SOFTGPU_CUDA_WORK_H_
#define IREE_C_SOFTGPU_CUDA_WORK_H_

#include "softgpu/cuda/driver.h"

typedef enum {
  WORK_EMPTY,
  WORK_KERNEL,
  WORK_COPY,
  WORK_FILL,
  WORK_HOST,
  WORK_CALLBACK,
  WORK_RECORD,
  WORK_WAIT,  // for an event; in streams the operation's waits say all
  WORK_MEM_OPS,
  WORK_ALLOCATE,
  WORK_FREE,
  WORK_PROGRAM,  // a graph
} work_kind_t;

// Memory that a graph allocates: as long as a node or a launch knows it.
typedef struct shared_memory_t shared_memory_t;
shared_memory_t* shared_memory_create(uint64_t address);

typedef struct program_t program_t;

typedef struct work_t {
  work_kind_t kind;
  union {
    struct {
      function_t* function;
      uint32_t grid[3], block[3], cluster[3];
      uint32_t shared;
      bool cooperative;
      uint8_t* parameters;  // owned
      uint32_t parameter_size;
    } kernel;
    struct {
      copy_3d_t params;
      void* staged;  // owned: what the source was, all of it, rows side by side
    } copy;
    fill_params_t fill;
    host_params_t host;
    struct {
      stream_callback_t call;
      stream_t* stream;  // as the program knows it
      void* data;
    } callback;
    struct {
      event_t* event;  // a reference
      uint64_t record;
    } event;
    struct {
      uint32_t count;
      mem_op_t* ops;  // owned
    } mem_ops;
    struct {
      uint64_t address;
      size_t size;
      shared_memory_t* shared;  // a reference, or NULL
    } memory;
    program_t* program;  // a reference
  };
} work_t;

// False when memory is short.
bool work_copy(const work_t* work, work_t* out);
// Below no lock. Safe to call twice.
void work_release(work_t* work);
// Does it, in a thread of a stream of the context; an error is said on stderr.
result_t work_run(context_t* context, const work_t* work);

// A side's address at its first byte, and the bytes from there to its last one; 0 where there is nothing to copy.
uint64_t copy_side_begin(const copy_side_t* side);
size_t copy_side_extent(const copy_3d_t* params, const copy_side_t* side);
static inline uint64_t copy_side_base(const copy_side_t* side) {
  return side->type == MEMORY_TYPE_HOST ? (uint64_t)(uintptr_t)side->host : side->device;
}
// Rows of the source, side by side. NULL when memory is short.
void* copy_stage(const copy_3d_t* params);

#endif  // IREE_C_SOFTGPU_CUDA_WORK_H_
