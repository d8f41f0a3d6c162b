// Code that has been decoded, and kernels by their descriptors: shared by the files of the engine.
#ifndef IREE_C_SOFTGPU_KERNEL_H_
#define IREE_C_SOFTGPU_KERNEL_H_

#include <pthread.h>

#include "softgpu/wave.h"

// Kernel descriptor as code objects hold it (LLVM's "User Guide for AMDGPU Backend", Kernel Descriptor).
typedef struct kernel_descriptor_t {
  uint32_t group_segment_size, private_segment_size, kernarg_size, reserved0;
  int64_t entry_offset;  // from the descriptor
  uint8_t reserved1[20];
  uint32_t rsrc3, rsrc1, rsrc2;
  uint16_t properties, kernarg_preload;
  uint32_t reserved2;
} kernel_descriptor_t;

// A range of memory that holds instructions.
typedef struct code_t {
  uint64_t base;
  size_t size;  // bytes
  engine_code_t given;
  bool is_known;  // added by a loader, not found in an allocation
  // Decoded instructions by their address / 4 from `base`, for waves of 32 and of 64 lanes; entries are atomic.
  const inst_t** at[2];
  struct code_chunk_t* chunks;
  uint64_t gone;  // forgotten: the launch that had begun last
  struct code_t* next;
} code_t;

typedef struct kernel_t {
  uint64_t address;  // of the descriptor
  kernel_descriptor_t descriptor;
  code_t* code;
  const inst_t* entry;
  uint32_t lanes;
  struct kernel_t* next;
} kernel_t;

// A resource of global wave sync (gws.c).
typedef struct gws_t {
  int32_t counter;
  uint32_t waiting;  // waves at a semaphore
  bool flag;         // turned over each time a barrier opens
} gws_t;
enum { GWS_COUNT = 64 };

struct engine_t {
  const isa_target_t* target;
  engine_options_t options;
  pthread_mutex_t lock;  // decoding and the lists below
  code_t* codes;
  kernel_t* kernels;
  launch_t* running;
  uint64_t launches;              // that ever began
  code_t* gone;                   // forgotten, and perhaps still executed
  void* disassemblers[2];         // for waves of 32 and 64 lanes
  struct constant_t** constants;  // interned constants' lanes
  uint32_t constant_count, constant_capacity;
  pthread_mutex_t counter_lock;
  engine_counters_t counters;
  int32_t counting;  // atomic: engine_count
  pthread_mutex_t trace_lock;
  engine_trace_t trace;  // where it is written to; no buffer: nowhere
  int32_t tracing;       // atomic: whether there is one
  gws_t gws[GWS_COUNT];
};

// rows.c: NULL when no row has the mnemonic. Takes off encoding suffixes.
const inst_row_t* rows_find(const char* mnemonic);

// cycles.c: how long a launch that was counted might take on hardware.
uint64_t cycles_of(const launch_t* launch);
// Cycles in which instructions are issued.
uint64_t cycles_issued(const launch_t* launch, const engine_counters_t* counters);

// disassemble.c: LLVM's text of the instruction at `bytes` and its size; 0 when there is none. Needs engine->lock.
uint32_t disassemble(engine_t* engine, uint32_t lanes, const uint8_t* bytes, size_t size, uint64_t address, char* text,
                     size_t capacity);
bool disassemble_open(engine_t* engine, text_t* error);
void disassemble_close(engine_t* engine);

// decode.c: parses one instruction's text (one half of a dual one); false after `error` said what is unknown.
typedef struct decode_t {
  engine_t* engine;
  uint32_t lanes;
  char* text;  // cut up while parsing
} decode_t;
bool decode_inst(decode_t* decode, inst_t* out, text_t* error);
// Interned: 64 times the low 32 bits, then 64 times the high ones.
const uint32_t* decode_constant_lanes(engine_t* engine, uint64_t value);
void decode_free_constants(engine_t* engine);
void decode_free_extra(inst_t* inst);
// The `illegal` pseudo instruction stops a wave with the message in its `extra`.
const inst_t* control_run_illegal(wave_t* wave, const inst_t* inst);
const inst_t* control_run_jump(wave_t* wave, const inst_t* inst);
// In place of an instruction that is left out (code.c).
const inst_t* control_run_nothing(wave_t* wave, const inst_t* inst);
extern const inst_row_t control_nothing_row;

// modifiers.c: of a word behind the operands. Whether it may be skipped where it is known, and whether it is.
bool modifier_is_skipped(const char* word);
bool modifier_is_known(const inst_row_t* row, const char* word);

// code.c
// The instruction at `address`, decoded with all that its branches lead to. Needs engine->lock. NULL when memory is
// short.
const inst_t* code_decode(engine_t* engine, code_t* code, uint32_t lanes, uint64_t address);
bool code_holds(const code_t* code, uint64_t address);
// Whether memory still holds what was decoded.
bool code_is_current(const code_t* code);
void code_free(code_t* code);

// code_list.c
// The code at an address: what a loader told of, else the allocation. Needs engine->lock. NULL when there is none.
code_t* code_find(engine_t* engine, uint64_t address);
// The instruction at `address`, decoded if need be; NULL when no memory of code is there.
const inst_t* code_find_inst(engine_t* engine, uint32_t lanes, uint64_t address);
// False after `fault` was filled.
bool code_find_kernel(engine_t* engine, uint64_t descriptor, kernel_t* out, engine_fault_t* fault);
// Before a launch looks for its code: what was decoded and is no longer there is forgotten. What is forgotten while a
// launch runs stays until that has ended.
void code_enter(engine_t* engine, launch_t* launch);
void code_leave(engine_t* engine, launch_t* launch);

// describe.c
// "in kernel+0x10: v_add_f32 ..." of an instruction, for messages.
void code_describe(const launch_t* launch, const inst_t* inst, text_t* out);
// Name of the function that holds `address` in the code's ELF, or NULL; offset from its start.
const char* code_symbol(const code_t* code, uint64_t address, uint64_t* offset);

// launch.c
bool launch_prepare(launch_t* launch, engine_fault_t* fault);
void launch_start_group(launch_t* launch, group_t* group, uint64_t number);
// Fills `fault`, and returns false. The format takes both numbers.
bool launch_refuse(engine_fault_t* fault, uint64_t address, const char* format, unsigned long long a,
                   unsigned long long b);
// launch_packet.c and launch_registers.c: fill the launch from an AQL packet and its kernel's descriptor, or from the
// registers of a PM4 dispatch.
bool launch_from_packet(launch_t* launch, engine_fault_t* fault);
bool launch_from_registers(launch_t* launch, engine_fault_t* fault);

// barrier.c: before a workgroup's waves run, and when one of them has ended.
void barrier_start_group(group_t* group);
void barrier_end_wave(wave_t* wave);

// lds_direct.c: runs an instruction that reads SREG_LDS_DIRECT.
const inst_t* lds_direct_run(wave_t* wave, const inst_t* inst);

// occupancy.c: how many waves of the kernel a SIMD would hold at once.
uint32_t occupancy_of(const launch_t* launch);
// Adds the launch's waves to `held` and `held_most`.
void occupancy_count(const launch_t* launch, engine_counters_t* counters);

// execute.c: runs a launch's workgroups on this thread and on others.
void execute_launch(launch_t* launch);

// run.c: runs a wave until it stops or has executed `budget` instructions.
void run_wave(wave_t* wave, uint64_t budget);
// Calls a function; false when it touched memory that it may not, and was left there.
bool run_guarded(void (*function)(void* data), void* data);
// Makes the two halves of a dual instruction read before either writes.
void run_join_dual(inst_t* first, inst_t* second);
// Makes an instruction that reads vccz or execz find them.
void run_refresh_flags(inst_t* inst);

#endif  // IREE_C_SOFTGPU_KERNEL_H_
