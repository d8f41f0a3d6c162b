// The checking interpreter at work. interpret.c has the workgroups' loop and control flow, interpret_memory.c accesses
// and their shadow, interpret_group.c what threads do together.
#ifndef IREE_C_TARGET_VMVX_INTERPRET_STATE_H_
#define IREE_C_TARGET_VMVX_INTERPRET_STATE_H_

#include "base/arena.h"
#include "base/memory.h"
#include "module/vmvx_access.h"
#include "target/vmvx/encode.h"
#include "target/vmvx/interpret.h"

// Shadow of a few bytes (one element) of workgroup or written global memory: who wrote and read them last, and in which
// epoch. Epochs count barriers and the starts of workgroups, so that an epoch before the workgroup's first one belongs
// to another workgroup. 0: never.
typedef struct cell_t {
  uint32_t writer_epoch, reader_epoch;
  uint16_t writer, reader;  // thread and flags
} cell_t;
enum {
  CELL_THREAD = 0x3fff,
  CELL_ATOMIC = 0x8000,   // writer: by an atomic
  CELL_PENDING = 0x4000,  // writer: an asynchronous copy that is not finished
  CELL_MANY = 0x8000,     // reader: several threads in the epoch
  CELL_FOREIGN = 0x4000,  // reader: other workgroups before
};

// A row of the function's memories during a run.
typedef struct memory_t {
  uint8_t* base;
  uint64_t size;
  uint64_t count;          // elements
  uint32_t bytes;          // of an element
  uint64_t thread_stride;  // private: bytes from thread to thread
  cell_t* cells;           // NULL: nothing writes here
  uint32_t* marks;         // private: epoch of the last write
  uint64_t cell_offset;    // bytes from the first cell to `base`
  uint32_t cell_shift;
  uint64_t mark_stride;
  uint8_t kind;
  bool writable;
  uint32_t binding;
} memory_t;

typedef struct async_entry_t {
  uint32_t thread, group;
  uint32_t memory, size;
  uint64_t offset;
  uint8_t data[16];
} async_entry_t;

// Fragment positions of a matrix instruction: for each lane's elements, the index in the matrix.
typedef struct mma_map_t {
  uint16_t *a, *b, *c;
} mma_map_t;

struct kernel_program_t {
  arena_t arena;
  memory_cleanup_t cleanup;  // closes the program
  vmvx_code_t code;
  vmvx_program_t program;
  const vmvx_function_t* function;
  const ir_op_t* func;
  uint32_t threads;
  uint32_t first;  // instruction behind parameters and constants
  uint8_t* frame;
  uint8_t* masks;       // VMVX_MAX_DEPTH + 1 of `threads` bytes
  uint8_t* else_masks;  // the same, for the other side of a branch
  int64_t* thread_ids[3];
  uint8_t *workgroup_memory, *private_memory;
  cell_t* workgroup_cells;
  uint32_t* private_marks;
  uint32_t workgroup_shift, private_shift;
  memory_t* memories;
  double *mma_a, *mma_b, *mma_c;  // all threads' fragments as numbers
  mma_map_t* mma_maps;            // by row of mma.def
  uint32_t mma_count;
  uint8_t* seen;  // instruction x fault: reported already
};

typedef struct run_t {
  kernel_program_t* program;
  const vmvx_function_t* function;
  const kernel_launch_t* launch;
  kernel_check_t* check;
  uint32_t threads;
  uint32_t workgroup[3];
  const vmvx_instr_t* instr;
  // Control.
  uint8_t* mask;
  uint32_t active, depth;
  uint32_t actives[VMVX_MAX_DEPTH + 1];
  bool stop;
  // Epochs.
  uint32_t epoch, first_epoch;
  uint32_t* workgroup_epochs;  // first epoch of each workgroup so far
  uint64_t workgroup_index;
  cell_t** regions;  // shadows of global memory
  uint32_t region_count;
  // Asynchronous copies under way.
  async_entry_t* queue;
  uint32_t queue_count, queue_capacity;
  uint32_t* committed;  // groups by thread
} run_t;

static inline const vmvx_register_t* run_reg(const run_t* r, uint32_t i) {
  return &r->function->registers[r->instr->x[i]];
}
static inline uint8_t* run_at(const run_t* r, uint32_t i) {
  return r->program->frame + (size_t)run_reg(r, i)->offset * r->threads;
}

// An access that a report is about; `memory` NULL: none.
typedef struct fault_at_t {
  uint32_t thread;
  const memory_t* memory;
  int64_t offset;
  uint32_t size;
} fault_at_t;
void run_fault(run_t* r, kernel_fault_t fault, fault_at_t at, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

// interpret_memory.c
void run_memory_begin(run_t* r);  // sets up memories
void run_memory_check(run_t* r);  // that everything is written, behind the last workgroup
void run_memory_end(run_t* r);
void run_memory(run_t* r);  // load to scatter_masked
void run_atomic(run_t* r);
// Bounds, alignment, permission and shadow of one access: where it is, or NULL when it must not happen.
uint8_t* run_access(run_t* r, const vmvx_access_t* access);
// An asynchronous write is done: now the thread itself has written.
void run_deliver(run_t* r, const async_entry_t* entry);

// interpret_group.c
void group_prepare(kernel_program_t* program);
void run_barrier(run_t* r);
void run_subgroup_shuffle(run_t* r);
void run_mma(run_t* r);
void run_load_matrix(run_t* r);
void run_tile(run_t* r);
void run_async_copy(run_t* r);
void run_async_commit(run_t* r);
void run_async_wait(run_t* r);

#endif  // IREE_C_TARGET_VMVX_INTERPRET_STATE_H_
