// Execution of kernels: what the HSA side (src/softgpu/hsa) asks of the instruction set side.
//
// An engine is one GPU: a target and its limits. It decodes a kernel once, keyed by the address of its descriptor, and
// runs a dispatch's workgroups on the process's worker threads and on the thread that asks. All functions may be
// called from several threads at once.
#ifndef IREE_C_SOFTGPU_ENGINE_H_
#define IREE_C_SOFTGPU_ENGINE_H_

#include <stddef.h>
#include <stdint.h>

#include "base/processors/amd_trace.h"
#include "base/text.h"
#include "isa/amd/isa.h"
#include "softgpu/checks.h"
#include "softgpu/memory_map.h"

typedef struct engine_t engine_t;

typedef struct engine_options_t {
  const isa_target_t* target;
  uint32_t units;        // compute units to report and to spread scratch over; 0: the target's
  uint32_t checks;       // ENGINE_CHECK_*
  bool counts;           // count instructions, bytes, bank conflicts
  uint64_t wave_limit;   // instructions after which a wave is stopped as endless; 0: none
  memory_map_t* memory;  // allocations of the process; outlives the engine
} engine_options_t;

// NULL after `error` got a message (LLVM's disassembler is missing, ...).
engine_t* engine_create(const engine_options_t* options, text_t* error);
void engine_destroy(engine_t* engine);

// Code that a loader placed in memory. Names and lines are for messages and dumps; `elf` is borrowed until
// engine_remove_code. Kernels outside any code run too, without names.
typedef struct engine_code_t {
  const void* base;  // loaded image
  size_t size;
  const void* elf;  // the code object's file
  size_t elf_size;
  const char* name;  // of the executable; may be NULL
} engine_code_t;
// False when memory is short.
bool engine_add_code(engine_t* engine, const engine_code_t* code);
// Forgets the code and every kernel decoded from it.
void engine_remove_code(engine_t* engine, const void* base);
// Forgets what was decoded in a range of memory that no loader told of: called before the range goes. Such code is also
// compared with what was decoded each time that a dispatch begins, since programs write it as they like.
void engine_forget_memory(engine_t* engine, uint64_t base, uint64_t size);

typedef enum {
  ENGINE_FAULT_NONE,
  ENGINE_FAULT_ILLEGAL_INSTRUCTION,  // unknown or not of the target
  ENGINE_FAULT_MEMORY,               // address not mapped, or (with checks) out of bounds
  ENGINE_FAULT_INVALID_KERNEL,       // descriptor, packet or registers that cannot be launched
  ENGINE_FAULT_TRAP,                 // s_trap 2: abort of the program
  ENGINE_FAULT_LIMIT,                // wave_limit
  ENGINE_FAULT_CHECK,                // what a check found
  ENGINE_FAULT_STOPPED,              // engine_dispatch_t.stops
} engine_fault_kind_t;

typedef struct engine_fault_t {
  engine_fault_kind_t kind;
  uint64_t address;    // of the memory access (MEMORY), else of the instruction
  char message[1024];  // one line: what, where (kernel, instruction, source line), lane, address
} engine_fault_t;

// Registers of a dispatch by PM4, as hardware has them (COMPUTE_*).
enum { ENGINE_USER_DATA = 16 };
typedef struct engine_registers_t {
  uint32_t initiator;             // DISPATCH_INITIATOR
  uint32_t dim[3], start[3];      // in workgroups, or work-items where the initiator says so
  uint32_t threads[3];            // NUM_THREAD: of a workgroup in 15:0, of the last one in 31:16
  uint64_t program;               // PGM_LO and PGM_HI: address / 256
  uint32_t resource1, resource2;  // PGM_RSRC1 and PGM_RSRC2
  uint32_t scratch;               // TMPRING_SIZE
  uint32_t user[ENGINE_USER_DATA];
} engine_registers_t;

// One kernel dispatch: by an AQL packet, which kernels may read (dispatch pointer) and which stays valid until return,
// or by registers. `queue` is the amd_queue_t that kernels may read (queue pointer). Returns false after filling
// `fault`; the workgroups that were running are then abandoned.
typedef struct engine_dispatch_t {
  const void* packet;  // hsa_kernel_dispatch_packet_t; NULL: registers
  const engine_registers_t* registers;
  const void* queue;     // amd_queue_t
  uint64_t id;           // packet index in its queue
  const int32_t* stops;  // atomic: once it is not 0, the dispatch is abandoned soon; may be NULL
} engine_dispatch_t;
bool engine_dispatch(engine_t* engine, const engine_dispatch_t* dispatch, engine_fault_t* fault);

// COUNTER(name, what). Both halves of a dual instruction count.
#define ENGINE_COUNTERS(COUNTER)                                           \
  COUNTER(dispatches, "dispatches")                                        \
  COUNTER(workgroups, "workgroups")                                        \
  COUNTER(waves, "waves")                                                  \
  COUNTER(longest, "instructions of the longest wave of each dispatch")    \
  COUNTER(cycles, "cycles of dispatches, modelled (cycles.c)")             \
  COUNTER(salu, "scalar instructions")                                     \
  COUNTER(smem, "scalar memory instructions")                              \
  COUNTER(valu, "vector instructions")                                     \
  COUNTER(valu_lanes, "vector operations, one for each active lane")       \
  COUNTER(matrix, "matrix instructions")                                   \
  COUNTER(lds, "workgroup memory instructions")                            \
  COUNTER(lds_conflicts, "cycles lost to workgroup memory bank conflicts") \
  COUNTER(vmem, "vector memory instructions")                              \
  COUNTER(bytes_read, "bytes read from global memory")                     \
  COUNTER(bytes_written, "bytes written to global memory")                 \
  COUNTER(lds_read, "bytes read from workgroup memory")                    \
  COUNTER(lds_written, "bytes written to workgroup memory")                \
  COUNTER(scratch_read, "bytes read from scratch")                         \
  COUNTER(scratch_written, "bytes written to scratch")                     \
  COUNTER(branches, "branches")                                            \
  COUNTER(barriers, "barriers")                                            \
  COUNTER(waits, "waits for counters")                                     \
  COUNTER(others, "messages, hints and cache operations")
typedef struct engine_counters_t {
#define COUNTER(name, what) uint64_t name;
  ENGINE_COUNTERS(COUNTER)
#undef COUNTER
  // Summed over the waves: how many of its kind a SIMD holds at once, by registers and workgroup memory, and how many
  // it holds of any. The one divided by the other is the occupancy.
  uint64_t held, held_most;
  // Cycles that waves stand for each cause, and those that they are there, modelled (trace_model.c): of the waves of
  // one compute unit, for as many as there are. Of dispatches that engine_count counts.
  uint64_t stalls[AMD_TRACE_CAUSES], wave_cycles;
} engine_counters_t;
// Begins, or ends, to count the dispatches that begin from now on, whatever options.counts is. Nests.
void engine_count(engine_t* engine, bool begins);
// Sums since the engine was made, of the dispatches that were counted.
void engine_counters(engine_t* engine, engine_counters_t* out);

// A trace of instructions (base/processors/amd_trace.h).
typedef struct engine_trace_t {
  uint8_t* buffer;  // engine_trace_head_t and what there is; the caller's
  uint64_t size;
  uint32_t unit;   // compute unit, of those that have work
  uint32_t simds;  // a bit for each that is told of
  // Where a code object lies that instructions are told by: less `code_base`, of number `code_object`.
  uint64_t code_object, code_base, code_size;
} engine_trace_t;
typedef struct engine_trace_head_t {
  uint64_t used;  // bytes behind this head
  uint64_t lost;  // dispatches for which there was no room
} engine_trace_head_t;
// Begins to trace the dispatches that begin from now on, instead of into another buffer. Ends that, if it is into
// `buffer`: nothing is written there any more.
void engine_trace(engine_t* engine, const engine_trace_t* trace);
void engine_trace_end(engine_t* engine, const uint8_t* buffer);

// FIDELITY(ENUM, name): how far an instruction row is to be trusted
#define ENGINE_FIDELITIES(FIDELITY) \
  FIDELITY(EXACT, "exact")          \
  FIDELITY(APPROXIMATE, "approximate") FIDELITY(HINT, "no effect") FIDELITY(MISSING, "missing")
typedef enum {
#define FIDELITY(name, text) ENGINE_##name,
  ENGINE_FIDELITIES(FIDELITY)
#undef FIDELITY
} engine_fidelity_t;
// What an instruction (mnemonic as LLVM prints it, encoding suffix or not) has here.
engine_fidelity_t engine_fidelity(const char* mnemonic);
// Calls `visit` once for each instruction that LLVM knows for the target, without encoding suffix, in the order of the
// alphabet. False after `error` got a message.
bool engine_each_instruction(const isa_target_t* target, void (*visit)(void* data, const char* mnemonic), void* data,
                             text_t* error);

#endif  // IREE_C_SOFTGPU_ENGINE_H_
