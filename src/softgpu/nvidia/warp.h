// State of a running warp, its block and its launch.
#ifndef IREE_C_SOFTGPU_NVIDIA_WARP_H_
#define IREE_C_SOFTGPU_NVIDIA_WARP_H_

#include <string.h>

#include "softgpu/nvidia/context.h"

typedef struct block_t block_t;
typedef struct run_launch_t run_launch_t;
typedef struct check_block_t check_block_t;
typedef struct check_launch_t check_launch_t;

// Registers of a call, and where it goes on behind it.
typedef struct frame_t {
  struct frame_t* caller;
  const function_t* function;
  const inst_t* call;  // NULL in an entry
  uint32_t depth;
  uint32_t users;       // parts of the warp that are in it, and frames that it called
  uint64_t registers;   // address
  uint32_t local_base;  // of the function's variables, bytes from a lane's stack's beginning
  uint32_t capacity;    // bytes of registers
  uint32_t* defined;    // lanes that have a value, for each 4 bytes of a lane's registers (checks)
  struct frame_t* next_free;
} frame_t;

// Lanes that are at the same place. Source: PTX ISA, "SIMT", independent thread scheduling.
typedef enum { PART_READY, PART_SYNC, PART_BARRIER } part_state_t;
typedef struct part_t {
  uint32_t lanes;
  part_state_t state;
  const inst_t* pc;
  frame_t* frame;
  uint32_t wanted;   // PART_SYNC: lanes that have to come
  uint32_t barrier;  // PART_BARRIER
  uint64_t turn;     // when it last ran
} part_t;

enum {
  WARP_RANGES = 32,
  BLOCK_BARRIERS = 16,
  WARP_ASYNC = 64,
};

typedef enum { WARP_READY, WARP_WAITING, WARP_ENDED, WARP_FAULTED } warp_state_t;

struct warp_t {
  uint64_t frame;       // address of the registers
  uint32_t exec;        // lanes that the instruction acts on
  uint32_t lanes;       // lanes of the part that runs
  uint32_t alive;       // lanes that have not ended
  uint32_t begun;       // lanes that there are
  const inst_t* limit;  // where the part stops, since another one waits there
  const inst_t* pc;     // where the part goes on when it was put aside
  frame_t* call;
  int32_t on[WARP_LANES];  // -1 for each lane of on_for
  uint32_t on_for;
  uint32_t csr;
  uint32_t carry;  // condition code of each lane
  warp_state_t state;
  part_t parts[WARP_LANES];  // those that do not run
  uint32_t part_count;
  uint64_t turns;
  block_t* block;
  run_launch_t* launch;
  uint32_t index;
  uint32_t tid[3][WARP_LANES];
  uint8_t* local;       // stacks of all lanes
  uint32_t stack_size;  // bytes of a lane
  uint64_t executed;
  memory_range_t ranges[WARP_RANGES];  // last found, by inst_t.number
  frame_t* free_frames;
  uint64_t host[WARP_LANES];  // where the lanes' accesses are (access.c)
  // Asynchronous copies (checks): groups that were begun, and those that are known to have ended.
  uint32_t copy_group, copies_done;
  uint32_t undefined;  // lanes whose loads met bytes that nobody wrote (checks)
  uint64_t moment;     // of the access at hand, in the launch (checks)
};

typedef struct barrier_t {
  uint32_t arrived;   // threads
  uint32_t expected;  // 0: all of the block that are alive
  uint32_t phase;     // times it opened
  uint32_t all, any, count;
} barrier_t;

struct block_t {
  run_launch_t* launch;
  uint32_t id[3];
  uint32_t warp_count, threads, alive, ended;
  uint32_t opened;  // barriers that opened, of any number
  uint8_t* shared;
  uint32_t shared_size;
  warp_t* warps;
  barrier_t barriers[BLOCK_BARRIERS];
  uint32_t unit;     // %smid
  uint32_t number;   // in the launch
  uint64_t ordered;  // moment of what may have ordered it behind other blocks (checks)
  check_block_t* check;
  nv_counters_t* counters;  // of this thread; NULL unless they count
};

struct run_launch_t {
  nv_engine_t* engine;
  const nv_launch_t* launch;
  const function_t* function;
  uint32_t checks;
  bool counts, is_instrumented, tracks_undefined;
  uint32_t dynamic_base, shared_size, stack_size;
  uint64_t number;
  nv_fault_t* fault;
  int32_t is_faulted;  // atomic
  uint64_t block_count;
  uint64_t next_block;  // atomic
  uint64_t longest;     // atomic
  check_launch_t* check;
};

static inline void* warp_at(const warp_t* w, const operand_t* o) { return (void*)((w->frame & o->select) + o->offset); }

// Fills w->on for exec.
static inline void warp_expand(warp_t* w) {
  if (w->on_for == w->exec) return;
  for (uint32_t i = 0; i < WARP_LANES; ++i) w->on[i] = -(int32_t)(w->exec >> i & 1);
  w->on_for = w->exec;
}
// Whether all lanes that there are take part: then what becomes of the others' registers does not matter.
static inline bool warp_is_dense(warp_t* w) {
  if (w->exec == w->alive) return true;
  warp_expand(w);
  return false;
}

// Puts bits of lanes in exec into a predicate.
static inline void warp_set_predicate(warp_t* w, const operand_t* o, uint32_t bits) {
  uint32_t* p = warp_at(w, o);
  *p = (*p & ~w->exec) | (bits & w->exec);
}

// Stops the launch: its first fault is kept. `lanes` are those that are at fault. Returns NULL.
const inst_t* warp_fault(warp_t* w, const inst_t* inst, nv_fault_kind_t kind, uint32_t lanes, uint64_t address,
                         const char* format, ...) __attribute__((format(printf, 6, 7)));

typedef enum { ACCESS_READ = 1, ACCESS_WRITE = 2, ACCESS_ATOMIC = 4, ACCESS_ASYNC = 8 } access_t;

// schedule.c
void warp_run(warp_t* w, uint64_t budget);
// The lanes of exec that are in `taken` go to `target`, the others on behind.
const inst_t* warp_branch(warp_t* w, const inst_t* inst, const inst_t* target, uint32_t taken);
// Puts lanes of the part that runs aside.
void warp_put(warp_t* w, uint32_t lanes, const inst_t* pc, part_state_t state, uint32_t detail);
// For instructions that want all of `wanted`: whether they are here. If not, the part waits, and NULL is to be
// returned.
bool warp_gather(warp_t* w, const inst_t* inst, uint32_t wanted);
frame_t* frame_make(warp_t* w, const function_t* function, frame_t* caller, const inst_t* call);
void frame_leave(warp_t* w, frame_t* frame);

// call.c: hands results of a function to its caller, which is in frame->caller.
void call_return(warp_t* w, const frame_t* frame, uint32_t lanes);

// barrier.c
void barrier_lanes_ended(warp_t* w, uint32_t lanes);
void block_release(block_t* block, uint32_t barrier);

// launch.c
bool block_start(block_t* block, run_launch_t* launch, uint64_t number);

// check.c: an instruction under checks or counted, and its accesses to w->host, before they happen: `base` is the
// operand that has the addresses. False after warp_fault.
const inst_t* check_run(warp_t* w, const inst_t* inst);
bool check_access(warp_t* w, const inst_t* inst, const operand_t* base, uint32_t lanes, uint32_t bytes,
                  uint32_t access);
// check_global.c: what a launch's blocks did to global memory, and its next moment. NULL when memory is short.
check_launch_t* check_launch_create(void);
void check_launch_destroy(check_launch_t* check);
uint64_t check_launch_time(check_launch_t* check);
// check_shared.c: memory of checks, for a block that begins; what was asked to be copied and is waited for.
bool check_start_block(block_t* block);
void check_free_block(block_t* block);
// What the block did before is done before what follows.
void check_order_block(block_t* block);

#endif  // IREE_C_SOFTGPU_NVIDIA_WARP_H_
