// What a stream's thread does for each kind of work.
#include "softgpu/cuda/work.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "softgpu/cuda/graph.h"
#include "softgpu/cuda/memory.h"
#include "softgpu/cuda/module.h"
#include "softgpu/cuda/stream.h"

struct shared_memory_t {
  uint32_t references;  // atomic
  uint64_t address;
};

shared_memory_t* shared_memory_create(uint64_t address) {
  shared_memory_t* memory = malloc(sizeof(*memory));
  if (memory) *memory = (shared_memory_t){1, address};
  return memory;
}

//===----------------------------------------------------------------------------------------------------------------===
// Ownership
//===----------------------------------------------------------------------------------------------------------------===

static bool duplicate(void** bytes, size_t size) {
  if (!*bytes) return true;
  void* copy = malloc(size ? size : 1);
  if (copy) memcpy(copy, *bytes, size);
  *bytes = copy;
  return copy != NULL;
}

bool work_copy(const work_t* work, work_t* out) {
  *out = *work;
  switch (work->kind) {
    case WORK_KERNEL:
      return duplicate((void**)&out->kernel.parameters, work->kernel.parameter_size);
    case WORK_COPY:
      return duplicate(&out->copy.staged, work->copy.params.width * work->copy.params.height * work->copy.params.depth);
    case WORK_MEM_OPS:
      return duplicate((void**)&out->mem_ops.ops, work->mem_ops.count * sizeof(mem_op_t));
    case WORK_RECORD:
    case WORK_WAIT:
      driver_lock();
      ++out->event.event->references;
      driver_unlock();
      return true;
    case WORK_ALLOCATE:
    case WORK_FREE:
      if (out->memory.shared) __atomic_add_fetch(&out->memory.shared->references, 1, __ATOMIC_RELAXED);
      return true;
    default:
      return true;
  }
}

void work_release(work_t* work) {
  switch (work->kind) {
    case WORK_KERNEL:
      free(work->kernel.parameters);
      break;
    case WORK_COPY:
      free(work->copy.staged);
      break;
    case WORK_MEM_OPS:
      free(work->mem_ops.ops);
      break;
    case WORK_RECORD:
    case WORK_WAIT:
      driver_lock();
      event_release(work->event.event);
      driver_unlock();
      break;
    case WORK_ALLOCATE:
    case WORK_FREE:
      if (work->memory.shared && !__atomic_sub_fetch(&work->memory.shared->references, 1, __ATOMIC_ACQ_REL)) {
        allocation_free(work->memory.shared->address, MEMORY_POOL);
        free(work->memory.shared);
      }
      break;
    case WORK_PROGRAM:
      program_release(work->program);
      break;
    default:
      break;
  }
  *work = (work_t){.kind = WORK_EMPTY};
}

//===----------------------------------------------------------------------------------------------------------------===
// Copies and fills
//===----------------------------------------------------------------------------------------------------------------===

uint64_t copy_side_begin(const copy_side_t* side) {
  return copy_side_base(side) + (side->z * side->height + side->y) * side->pitch + side->x;
}

size_t copy_side_extent(const copy_3d_t* p, const copy_side_t* side) {
  if (!p->width || !p->height || !p->depth) return 0;
  return ((p->depth - 1) * side->height + p->height - 1) * side->pitch + p->width;
}

static char* row_of(const copy_side_t* side, size_t y, size_t z) {
  return (char*)(uintptr_t)(copy_side_begin(side) + (z * side->height + y) * side->pitch);
}

void* copy_stage(const copy_3d_t* p) {
  char* staged = malloc(p->width * p->height * p->depth);
  char* to = staged;
  for (size_t z = 0; staged && z < p->depth; ++z) {
    for (size_t y = 0; y < p->height; ++y, to += p->width) memcpy(to, row_of(&p->source, y, z), p->width);
  }
  return staged;
}

static result_t report(const context_t* context, result_t result, const char* what, uint64_t address, size_t size) {
  fprintf(stderr, "softgpu: GPU %u: %s 0x%llx, %zu bytes, which are not allocated\n", context->device->ordinal, what,
          (unsigned long long)address, size);
  return result;
}

// What is no host's must be there still.
static result_t check_side(const context_t* context, const copy_3d_t* p, const copy_side_t* side, const char* what) {
  uint64_t begin = copy_side_begin(side);
  size_t size = copy_side_extent(p, side);
  if (side->type != MEMORY_TYPE_DEVICE || allocation_holds(begin, size)) return CUDA_SUCCESS;
  return report(context, CUDA_ERROR_ILLEGAL_ADDRESS, what, begin, size);
}

static result_t run_copy(const context_t* context, const work_t* work) {
  const copy_3d_t* p = &work->copy.params;
  const char* staged = work->copy.staged;
  if (!staged) CHECK(check_side(context, p, &p->source, "a copy reads at"));
  CHECK(check_side(context, p, &p->target, "a copy writes to"));
  for (size_t z = 0; z < p->depth; ++z) {
    for (size_t y = 0; y < p->height; ++y) {
      const char* from = staged ? staged + (z * p->height + y) * p->width : row_of(&p->source, y, z);
      memmove(row_of(&p->target, y, z), from, p->width);
    }
  }
  return CUDA_SUCCESS;
}

static result_t run_fill(const context_t* context, const fill_params_t* p) {
  size_t extent = p->width && p->height ? (p->height - 1) * p->pitch + p->width * p->element : 0;
  if (!allocation_holds(p->target, extent)) {
    return report(context, CUDA_ERROR_ILLEGAL_ADDRESS, "a fill writes to", p->target, extent);
  }
  for (size_t y = 0; extent && y < p->height; ++y) {
    char* row = (char*)(uintptr_t)(p->target + y * p->pitch);
    if (p->element == 1) {
      memset(row, (int)p->value, p->width);
      continue;
    }
    for (size_t x = 0; x < p->width; ++x) memcpy(row + x * p->element, &p->value, p->element);
  }
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------------------------------------------------===
// Kernels
//===----------------------------------------------------------------------------------------------------------------===

static result_t fault_result(nv_fault_kind_t kind) {
  switch (kind) {
    case NV_FAULT_MEMORY:
      return CUDA_ERROR_OUT_OF_MEMORY;
    case NV_FAULT_ADDRESS:
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    case NV_FAULT_MISALIGNED:
      return CUDA_ERROR_MISALIGNED_ADDRESS;
    case NV_FAULT_INSTRUCTION:
      return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case NV_FAULT_ASSERT:
      return CUDA_ERROR_ASSERT;
    case NV_FAULT_LIMIT:
      return CUDA_ERROR_LAUNCH_TIMEOUT;
    default:
      return CUDA_ERROR_LAUNCH_FAILED;
  }
}

static result_t run_kernel(const context_t* context, const work_t* work) {
  // A graph may outlive the modules of its kernels.
  if (!object_is(work->kernel.function, OBJECT_FUNCTION)) {
    fprintf(stderr, "softgpu: GPU %u: a graph launches a kernel of a module that was unloaded\n",
            context->device->ordinal);
    return CUDA_ERROR_INVALID_HANDLE;
  }
  nv_launch_t launch = {.function = work->kernel.function->function,
                        .dynamic_shared = work->kernel.shared,
                        .cooperative = work->kernel.cooperative,
                        .parameters = work->kernel.parameters,
                        .stops = &context->stops};
  memcpy(launch.grid, work->kernel.grid, sizeof(launch.grid));
  memcpy(launch.block, work->kernel.block, sizeof(launch.block));
  memcpy(launch.cluster, work->kernel.cluster, sizeof(launch.cluster));
  nv_fault_t fault = {.kind = NV_FAULT_NONE};
  if (nv_launch(&launch, &fault)) return CUDA_SUCCESS;
  if (fault.kind != NV_FAULT_STOPPED) {
    fprintf(stderr, "softgpu: GPU %u: %s\n", context->device->ordinal, fault.message);
  }
  return fault_result(fault.kind);
}

//===----------------------------------------------------------------------------------------------------------------===
// Words of memory
//===----------------------------------------------------------------------------------------------------------------===

static bool holds(const mem_op_t* op) {
  bool is_wide = op->operation == MEM_OP_WAIT_64;
  uint64_t value = is_wide ? op->value : (uint32_t)op->value;
  uint64_t now = is_wide ? __atomic_load_n((uint64_t*)(uintptr_t)op->address, __ATOMIC_ACQUIRE)
                         : __atomic_load_n((uint32_t*)(uintptr_t)op->address, __ATOMIC_ACQUIRE);
  uint64_t mask = is_wide ? UINT64_MAX : UINT32_MAX;
  switch (op->flags) {
    case WAIT_GEQ:
      return is_wide ? (int64_t)(now - value) >= 0 : (int32_t)(uint32_t)(now - value) >= 0;
    case WAIT_EQ:
      return now == value;
    case WAIT_AND:
      return (now & value) != 0;
    default:
      return (~(now | value) & mask) != 0;
  }
}

// Memory that kernels and the host write: it is looked at again and again, ever more rarely.
static result_t await_value(const context_t* context, const mem_op_t* op) {
  enum { FIRST = 10000, LONGEST = 1000000 };  // nanoseconds
  size_t size = op->operation == MEM_OP_WAIT_64 ? 8 : 4;
  for (long pause = FIRST; !__atomic_load_n(&context->stops, __ATOMIC_ACQUIRE);) {
    if (!allocation_holds(op->address, size)) {
      return report(context, CUDA_ERROR_ILLEGAL_ADDRESS, "a stream waits for", op->address, size);
    }
    if (holds(op)) break;
    struct timespec time = {0, pause};
    nanosleep(&time, NULL);
    if (pause < LONGEST) pause *= 2;
  }
  return CUDA_SUCCESS;
}

static result_t run_mem_op(const context_t* context, const mem_op_t* op) {
  if (op->operation == MEM_OP_WAIT_32 || op->operation == MEM_OP_WAIT_64) return await_value(context, op);
  if (op->operation == MEM_OP_BARRIER) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return CUDA_SUCCESS;
  }
  bool is_wide = op->operation == MEM_OP_WRITE_64;
  size_t size = is_wide ? 8 : 4;
  if (!allocation_holds(op->address, size)) {
    return report(context, CUDA_ERROR_ILLEGAL_ADDRESS, "a stream writes to", op->address, size);
  }
  if (is_wide) {
    __atomic_store_n((uint64_t*)(uintptr_t)op->address, op->value, __ATOMIC_RELEASE);
  } else {
    __atomic_store_n((uint32_t*)(uintptr_t)op->address, (uint32_t)op->value, __ATOMIC_RELEASE);
  }
  return CUDA_SUCCESS;
}

static result_t run_mem_ops(const context_t* context, const work_t* work) {
  for (uint32_t i = 0; i < work->mem_ops.count; ++i) CHECK(run_mem_op(context, &work->mem_ops.ops[i]));
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------------------------------------------------===
// The rest
//===----------------------------------------------------------------------------------------------------------------===

static void run_record(const work_t* work) {
  event_t* event = work->event.event;
  driver_lock();
  if (event->record == work->event.record) event->time = driver_nanoseconds();
  driver_unlock();
}

static void run_free(uint64_t address) {
  allocation_t a;
  if (allocation_find(address, &a) && !a.is_of_graph) allocation_free(address, a.kind);
}

static result_t run_program(context_t* context, const program_t* program) {
  for (uint32_t i = 0; i < program->count; ++i) {
    if (__atomic_load_n(&context->stops, __ATOMIC_ACQUIRE)) break;
    CHECK(work_run(context, &program->works[i]));
  }
  return CUDA_SUCCESS;
}

result_t work_run(context_t* context, const work_t* work) {
  switch (work->kind) {
    case WORK_KERNEL:
      return run_kernel(context, work);
    case WORK_COPY:
      return run_copy(context, work);
    case WORK_FILL:
      return run_fill(context, &work->fill);
    case WORK_HOST:
    case WORK_CALLBACK:
      driver_in_callback = true;
      if (work->kind == WORK_HOST) {
        work->host.call(work->host.data);
      } else {
        work->callback.call(work->callback.stream, context_error(context), work->callback.data);
      }
      driver_in_callback = false;
      return CUDA_SUCCESS;
    case WORK_RECORD:
      run_record(work);
      return CUDA_SUCCESS;
    case WORK_MEM_OPS:
      return run_mem_ops(context, work);
    case WORK_FREE:
      run_free(work->memory.address);
      return CUDA_SUCCESS;
    case WORK_PROGRAM:
      return run_program(context, work->program);
    default:
      return CUDA_SUCCESS;
  }
}
