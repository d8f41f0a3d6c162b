// State of a running wave, its workgroup and its dispatch.
#ifndef IREE_C_SOFTGPU_WAVE_H_
#define IREE_C_SOFTGPU_WAVE_H_

#include <string.h>

#include "softgpu/engine.h"
#include "softgpu/inst.h"

// Apertures of flat addresses: what SREG_SHARED_BASE and SREG_PRIVATE_BASE hold. No host pointer is this large.
#define WAVE_SHARED_BASE (UINT64_C(1) << 48)
#define WAVE_PRIVATE_BASE (UINT64_C(2) << 48)
#define WAVE_APERTURE_SIZE (UINT64_C(1) << 32)

enum { WAVE_MAX_LANES = 64, WAVE_REGISTERS = 512, WAVE_ACCUMULATION = 256, WAVE_MAX_STORE = 32 };

typedef struct check_wave_t check_wave_t;
typedef struct check_group_t check_group_t;
typedef struct check_launch_t check_launch_t;
typedef struct check_undefined_t check_undefined_t;
typedef struct trace_launch_t trace_launch_t;
typedef struct trace_wave_t trace_wave_t;

enum { LAUNCH_USER_REGISTERS = 32, LAUNCH_NO_REGISTER = 255 };

// One dispatch, whether a packet or registers asked for it.
typedef struct launch_t {
  engine_t* engine;
  const isa_target_t* target;
  const engine_dispatch_t* dispatch;
  const inst_t* entry;    // first instruction
  uint32_t rsrc1, rsrc2;  // COMPUTE_PGM_RSRC1 and 2
  uint32_t registers;     // vector registers that the kernel asks for
  uint32_t lanes;         // of a wave
  uint32_t size[3];       // work-items of a workgroup
  uint64_t grid[3];       // work-items, those before `first` included
  uint32_t first[3];      // workgroup that begins
  uint32_t groups[3];     // workgroups from there on, the last ones perhaps partial
  uint32_t lds_size;      // bytes of a workgroup, dynamic part included
  uint32_t scratch_size;  // bytes of a lane
  // Scalar registers that every wave begins with, and which of them are each wave's own: the descriptor of its scratch
  // and its address, or LAUNCH_NO_REGISTER.
  uint32_t user[LAUNCH_USER_REGISTERS];
  uint8_t user_count, scratch_descriptor, scratch_address;
  uint32_t checks;        // ENGINE_CHECK_*, but for that of what was never written
  bool tracks_undefined;  // that one
  bool counts;
  bool traces;
  bool stalls;            // counts what waves wait for, by the model of traces
  bool instrumented;      // checks, counts or traces
  trace_launch_t* trace;  // NULL: none of its waves is traced
  engine_fault_t* fault;  // first one; set by the thread that turned is_faulted
  int32_t is_faulted;     // atomic
  uint64_t group_count;
  uint64_t next_group;     // atomic: groups below it have been begun
  uint64_t longest;        // atomic: most instructions of a wave, of those counted
  uint64_t issued;         // atomic: cycles_issued
  uint64_t conflicts;      // atomic: cycles lost to bank conflicts
  check_launch_t* check;   // NULL without a check of races
  uint64_t number;         // among the engine's, in the order in which they began
  struct launch_t* other;  // those that run too (the engine's lock)
} launch_t;

// A named barrier of gfx12.
typedef struct group_barrier_t {
  uint8_t members, signals;
} group_barrier_t;
enum { GROUP_BARRIERS = 16 };

typedef struct group_t {
  launch_t* launch;
  uint32_t id[3];
  uint32_t wave_count;
  uint32_t barrier_phase;  // counts openings of barriers
  uint32_t arrived;        // signals that the workgroup's barrier has
  uint32_t ended;          // waves past s_endpgm
  uint32_t lds_size;       // bytes
  uint8_t* lds;            // 64 bytes past the end may be read and written without harm
  uint8_t* scratch;        // of all waves
  wave_t* waves;
  group_barrier_t named[GROUP_BARRIERS + 1];
  check_group_t* check;         // NULL without checks
  engine_counters_t* counters;  // of this thread; NULL unless launch->counts or ->traces
} group_t;

typedef enum { WAVE_RUNNING, WAVE_BARRIER, WAVE_ENDED, WAVE_FAULTED } wave_state_t;

// Registers that a vector memory instruction loads or stores.
typedef struct check_moved_t {
  const operand_t* registers;
  uint8_t half;  // of the register: 0 all, 1 low, 2 high
  bool is_signed;
} check_moved_t;

struct wave_t {
  uint32_t sgpr[SREG_COUNT];
  uint32_t* vgpr;    // [WAVE_REGISTERS][lanes], aligned to 64 bytes
  uint32_t lanes;    // 32 or 64
  uint32_t index;    // in its workgroup
  uint64_t all;      // a bit for each lane of `lanes`
  const inst_t* pc;  // where to go on, when it is not running
  wave_state_t state;
  group_t* group;
  launch_t* launch;
  const isa_target_t* target;
  uint32_t mode;        // hardware register MODE (bits: round 3:0, denormal 7:4, dx10 clamp 8, ieee 9, ...)
  uint32_t csr_single;  // MXCSR for f32 instructions by `mode`; csr_double for f16 and f64
  uint32_t csr_double;
  uint32_t csr;        // MXCSR now
  uint32_t slot;       // hardware wave id, for HW_ID
  uint32_t gpr_index;  // gfx9 s_set_gpr_idx: index in bits 7:0, enabled operands in 15:12; 0 when off
  uint8_t opened;      // kinds of barriers (barrier.c) that opened for the wave, which has not waited since
  uint8_t awaited;     // what it waits for in the state WAVE_BARRIER
  uint8_t gws;         // what it waits for in gws.c; 0: nothing
  uint8_t joined;      // the named barrier that it is a member of; 0: none
  // Scratch of the wave: lane l's byte b of dword d is at scratch + (d * lanes + l) * 4 + b.
  uint8_t* scratch;
  uint32_t scratch_size;  // bytes of a lane
  uint64_t executed;      // instructions
  check_wave_t* check;    // NULL without checks
  trace_wave_t* trace;    // NULL: it is not traced
  uint64_t begun;         // lanes that have a work-item
  uint64_t missed;        // lanes that were not at the last barrier (checks)
  const inst_t* barrier;  // that one
  // Scalar and vector registers that the launch wrote, from s0 and v0 on.
  uint8_t begun_scalars, begun_vectors;
  check_undefined_t* undefined;  // NULL unless launch->tracks_undefined
  // What each lane is about to store, while check_memory looks at a store; NULL otherwise.
  const uint8_t (*stored)[WAVE_MAX_STORE];
  // While check_memory looks at an access; NULL where no registers are.
  const check_moved_t* moved;
};

static inline uint64_t wave_pair(const wave_t* w, uint32_t sreg) {
  return w->sgpr[sreg] | (uint64_t)w->sgpr[sreg + 1] << 32;
}
static inline void wave_set_pair(wave_t* w, uint32_t sreg, uint64_t value) {
  w->sgpr[sreg] = (uint32_t)value;
  w->sgpr[sreg + 1] = (uint32_t)(value >> 32);
}
// A bit for each lane, in one or two scalar registers.
static inline uint64_t wave_mask(const wave_t* w, uint32_t sreg) {
  return w->lanes == 32 ? w->sgpr[sreg] : wave_pair(w, sreg);
}
static inline void wave_set_mask(wave_t* w, uint32_t sreg, uint64_t value) {
  w->sgpr[sreg] = (uint32_t)value;
  if (w->lanes == 64) w->sgpr[sreg + 1] = (uint32_t)(value >> 32);
}
static inline uint64_t wave_exec(const wave_t* w) { return wave_mask(w, SREG_EXEC); }

// Scalar operands (SGPR or CONSTANT), as many bits as asked for.
static inline uint32_t wave_scalar(const wave_t* w, const operand_t* o) {
  return o->kind == OPERAND_CONSTANT ? (uint32_t)o->value : w->sgpr[o->index];
}
static inline uint64_t wave_scalar_pair(const wave_t* w, const operand_t* o) {
  return o->kind == OPERAND_CONSTANT ? o->value : wave_pair(w, o->index);
}
static inline uint64_t wave_scalar_mask(const wave_t* w, const operand_t* o) {
  uint64_t value = o->kind == OPERAND_CONSTANT ? o->value : wave_mask(w, o->index);
  return w->lanes == 32 ? (uint32_t)value : value;
}

// Brings MXCSR to what the float instructions of a width need by MODE (rounding, denormals).
#if defined(__x86_64__)
static inline void wave_use_csr(wave_t* w, uint32_t csr) {
  if (__builtin_expect(w->csr != csr, 0)) {
    w->csr = csr;
    __builtin_ia32_ldmxcsr(csr);
  }
}
#else
static inline void wave_use_csr(wave_t* w, uint32_t csr) {}
#endif
enum { WAVE_MODE_VSKIP = 1 << 28 };  // gfx9: vector instructions are left out
// Recomputes csr_single and csr_double after `mode` changed.
void wave_set_mode(wave_t* wave, uint32_t mode);

// Stops the wave and its dispatch: the first fault of a dispatch is kept. The message gets kernel, instruction and
// source line appended. Returns NULL, so that a row can return it.
const inst_t* wave_fault(wave_t* wave, const inst_t* inst, engine_fault_kind_t kind, uint64_t address,
                         const char* format, ...) __attribute__((format(printf, 5, 6)));

// The instruction at an address of the process (s_setpc, s_swappc, s_call); decodes it on first use. NULL after a
// fault.
const inst_t* wave_jump(wave_t* wave, const inst_t* from, uint64_t address);

// Memory accesses are reported when launch->instrumented, before they happen: `address` holds what each lane of
// `mask` touches (offsets for CHECK_LDS and CHECK_SCRATCH), `bytes` from there on. False after wave_fault.
typedef enum { CHECK_GLOBAL, CHECK_LDS, CHECK_SCRATCH, CHECK_SCALAR } check_space_t;
typedef enum { CHECK_READ = 1, CHECK_WRITE = 2, CHECK_ATOMIC = 4 } check_access_t;
bool check_memory(wave_t* wave, const inst_t* inst, check_space_t space, uint32_t access, const uint64_t* address,
                  uint64_t mask, uint32_t bytes);

// Tables of rows, for decode.c. The vector ones exist once for each level of vector instructions of the host.
#define WAVE_SCALAR_TABLES(TABLE) \
  TABLE(salu_table)               \
  TABLE(control_table)            \
  TABLE(barrier_table) TABLE(gws_table) TABLE(lds_direct_table) TABLE(smem_table) TABLE(smem_write_table)
#define WAVE_VECTOR_TABLES(TABLE) \
  TABLE(valu_integer_table)       \
  TABLE(valu_compare_table)       \
  TABLE(valu_float_table)         \
  TABLE(valu_convert_table)       \
  TABLE(valu_packed_float_table)  \
  TABLE(valu_lane_table)          \
  TABLE(valu_packed_table)        \
  TABLE(matrix_table) TABLE(lds_table) TABLE(memory_table) TABLE(format_table) TABLE(scaled_table)

#endif  // IREE_C_SOFTGPU_WAVE_H_
