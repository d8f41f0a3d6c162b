// The checking interpreter: runs a kernel as its workgroups would run, every thread of a workgroup in lockstep with a
// mask of active threads, and reports what hardware leaves undefined:
//
//   * accesses out of bounds, misaligned against `align`, to readonly bindings;
//   * reads of workgroup or private memory that nothing wrote;
//   * races: two threads of a workgroup on the same bytes without a barrier between them, or two workgroups, one of
//     them writing (atomics on both sides are none);
//   * bindings that overlap another one that is written, unless the kernel carries `may_alias`;
//   * barriers that not all threads of the workgroup reach, subgroup ops that not all lanes reach;
//   * asynchronous copies that are read or written over before they were waited for;
//   * lanes and steps out of range, loops that do not end;
//   * on request, elements of written bindings that no workgroup writes.
//
// After a report it goes on: reads give zeros, writes that are not allowed are left out.
#ifndef IREE_C_TARGET_VMVX_INTERPRET_H_
#define IREE_C_TARGET_VMVX_INTERPRET_H_

#include "base/text.h"
#include "ir/ir.h"

// FAULT(NAME, text)
#define KERNEL_FAULTS(FAULT)                                        \
  FAULT(BOUNDS, "out of bounds")                                    \
  FAULT(UNINITIALISED, "reads what nothing wrote")                  \
  FAULT(RACE, "race")                                               \
  FAULT(ALIAS, "overlapping bindings")                              \
  FAULT(MISALIGNED, "misaligned")                                   \
  FAULT(READONLY, "writes a readonly binding")                      \
  FAULT(DIVERGENT_BARRIER, "barrier that not all threads reach")    \
  FAULT(DIVERGENT_SUBGROUP, "subgroup op that not all lanes reach") \
  FAULT(ASYNC, "asynchronous copy is not finished")                 \
  FAULT(LANE, "lane out of range")                                  \
  FAULT(STEP, "loop with a step of zero or less")                   \
  FAULT(ENDLESS, "does not end")                                    \
  FAULT(UNWRITTEN, "elements that no workgroup writes")
typedef enum {
#define FAULT(NAME, text) KERNEL_FAULT_##NAME,
  KERNEL_FAULTS(FAULT)
#undef FAULT
      KERNEL_FAULT_COUNT
} kernel_fault_t;

typedef struct kernel_report_t {
  kernel_fault_t fault;
  const char* kernel;  // name
  const ir_op_t* op;
  const ir_loc_t* loc;
  uint32_t workgroup[3];
  uint32_t thread;  // number within the workgroup: x first
  // RACE: the other one.
  uint32_t other_workgroup[3];
  uint32_t other_thread;
  // Accesses: "binding 2", "workgroup memory", "private memory" and the bytes.
  char memory[32];
  int64_t offset;
  uint32_t size;
  char text[512];  // all of it as a sentence
} kernel_report_t;

typedef struct kernel_binding_t {
  void* data;
  size_t size;  // bytes
  bool writable;
} kernel_binding_t;

typedef struct kernel_launch_t {
  const kernel_binding_t* bindings;
  uint32_t binding_count;
  const uint32_t* constants;  // 32-bit words; i64, index and f64 take two, low half first
  uint32_t constant_count;
  uint32_t workgroup_count[3];
} kernel_launch_t;

typedef struct kernel_check_t {
  void (*report)(void* user, const kernel_report_t* report);
  void* user;
  uint32_t max_reports;     // then the run ends; 0: 20
  uint64_t max_steps;       // instructions of one workgroup; 0: 2^32
  bool allow_equal_writes;  // threads may write the same bytes to the same place
  bool expect_all_written;  // every element of each binding that the kernel writes to is written by the end
  // Out: what was done.
  uint64_t instructions, lane_ops, report_count;
} kernel_check_t;

// A decoded kernel, to be run many times. Not thread safe.
typedef struct kernel_program_t kernel_program_t;

// `func` is a verified kernel.func that outlives the program; its values' and ops' `data` is used. NULL after `error`
// got a message.
kernel_program_t* kernel_program_create(const ir_op_t* func, text_t* error);
void kernel_program_destroy(kernel_program_t* program);

// Runs all workgroups. True when nothing was reported. One report for each op and kind of fault. Bindings and constants
// must be as many as the kernel has; false with nothing run when they are not.
bool kernel_program_run(kernel_program_t* program, const kernel_launch_t* launch, kernel_check_t* check);

// The three in one.
bool kernel_interpret(const ir_op_t* func, const kernel_launch_t* launch, kernel_check_t* check, text_t* error);

#endif  // IREE_C_TARGET_VMVX_INTERPRET_H_
