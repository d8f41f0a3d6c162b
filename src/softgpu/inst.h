// A decoded instruction, and the rows that say what each mnemonic does.
//
// LLVM's disassembler gives text; decode.c parses it by the row of its mnemonic. A row is one line of
// src/isa/amd/*.def:
//
//   ROW(mnemonic, class, fidelity, function, destinations, types...)
//
// `mnemonic` has no encoding suffix (_e32, _e64, _dpp, _sdwa, _e64_dpp). Types are those of the operands in the order
// of the text, destinations first; the last type holds for any operand past the list. Operands that the text leaves
// out (offsets that are zero, "off", modifiers) do not count.
#ifndef IREE_C_SOFTGPU_INST_H_
#define IREE_C_SOFTGPU_INST_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct wave_t wave_t;
typedef struct inst_t inst_t;

// Executes one instruction and returns the next one; NULL when the wave must stop here (wave->state says why, wave->pc
// where to go on). What computes lanes returns inst + 1.
typedef const inst_t* (*inst_run_t)(wave_t* wave, const inst_t* inst);

// How a constant in the text becomes bits, and how wide an operand is.
// TYPE(ENUM, bits)
// clang-format off
#define INST_TYPES(TYPE)                                                    \
  TYPE(NONE, 0)                                                             \
  TYPE(B16, 16)                                                             \
  TYPE(I16, 16)                                                             \
  TYPE(F16, 16)                                                             \
  TYPE(BF16, 16)                                                            \
  TYPE(B32, 32)                                                             \
  TYPE(I32, 32)                                                             \
  TYPE(F32, 32)                                                             \
  TYPE(P16, 32)  /* two f16 or bf16: a float constant is in the low half */ \
  TYPE(PI16, 32) /* two integers of 16 bits */                              \
  TYPE(B64, 64)                                                             \
  TYPE(I64, 64)                                                             \
  TYPE(F64, 64)                                                             \
  TYPE(P32, 64) /* two f32: a constant is in both halves */                 \
  TYPE(MASK, 0) /* a bit for each lane: 32 or 64 bits with the wave */      \
  TYPE(B96, 96) TYPE(B128, 128) TYPE(B256, 256) TYPE(B512, 512) TYPE(B1024, 1024)
// clang-format on
typedef enum {
#define TYPE(name, bits) INST_##name,
  INST_TYPES(TYPE)
#undef TYPE
} inst_type_t;

// CLASS(ENUM): which unit executes it; counters and the check of waits go by it
#define INST_CLASSES(CLASS)                                                                  \
  CLASS(SALU)                                                                                \
  CLASS(BRANCH)                                                                              \
  CLASS(SMEM) /* scalar loads and cache operations: lgkmcnt / kmcnt, out of order */         \
  CLASS(VALU)                                                                                \
  CLASS(MATRIX)                                                                              \
  CLASS(LDS)     /* lgkmcnt / dscnt */                                                       \
  CLASS(LOAD)    /* vector memory with a result, atomics that return too: vmcnt / loadcnt */ \
  CLASS(STORE)   /* without one: vmcnt before gfx10, vscnt / storecnt after */               \
  CLASS(FLAT)    /* either of the above and LDS as well */                                   \
  CLASS(NOTHING) /* left out on request: not even a wait state */                            \
  CLASS(WAIT) CLASS(BARRIER) CLASS(MESSAGE) CLASS(HINT)
typedef enum {
#define CLASS(name) INST_CLASS_##name,
  INST_CLASSES(CLASS)
#undef CLASS
} inst_class_t;

enum { INST_MAX_TYPES = 8, INST_MAX_DESTINATIONS = 2, INST_MAX_SOURCES = 5 };

typedef struct inst_row_t {
  const char* name;
  inst_run_t run;
  uint8_t klass;     // inst_class_t
  uint8_t fidelity;  // engine_fidelity_t
  uint8_t destinations;
  uint8_t type_count;
  uint8_t types[INST_MAX_TYPES];  // inst_type_t
} inst_row_t;
// Makes an inst_row_t of a ROW of a table.
#define INST_ROW(mnemonic, class, trust, function, destination_count, ...) \
  {.name = #mnemonic,                                                      \
   .run = function,                                                        \
   .klass = INST_CLASS_##class,                                            \
   .fidelity = ENGINE_##trust,                                             \
   .destinations = destination_count,                                      \
   .type_count = sizeof((uint8_t[]){__VA_ARGS__}),                         \
   .types = {__VA_ARGS__}},

typedef struct inst_table_t {
  const inst_row_t* rows;
  uint32_t count;
} inst_table_t;

// Canonical numbers of scalar registers, the same for every generation.
enum {
  SREG_FLAT_SCRATCH = 102,  // gfx9: where the text says flat_scratch
  SREG_XNACK_MASK = 104,
  SREG_VCC = 106,
  SREG_TTMP = 108,  // ttmp0 .. ttmp15
  SREG_M0 = 125,
  SREG_EXEC = 126,
  SREG_SCC = 128,  // 0 or 1
  SREG_VCCZ,       // refreshed before an instruction that reads one of these two
  SREG_EXECZ,
  SREG_LDS_DIRECT,         // what M0 says is in workgroup memory, refreshed likewise
  SREG_SHARED_BASE = 132,  // 64 bits each: the LDS and scratch apertures of flat addresses
  SREG_SHARED_LIMIT = 134,
  SREG_PRIVATE_BASE = 136,
  SREG_PRIVATE_LIMIT = 138,
  SREG_TRASH = 140,  // where writes to `null` go; 16 registers
  SREG_COUNT = 160,
};

typedef enum { OPERAND_NONE, OPERAND_VGPR, OPERAND_SGPR, OPERAND_CONSTANT, OPERAND_OFF } operand_kind_t;
enum {
  OPERAND_NEG = 1,
  OPERAND_ABS = 2,
  OPERAND_SEXT = 4,  // SDWA: sign extended
  OPERAND_HIGH = 8,  // true16: the upper half of the register (v1.h)
  OPERAND_LOW = 16,  // true16: the lower half (v1.l)
};

typedef struct operand_t {
  uint8_t kind;
  uint8_t type;       // inst_type_t, of the row
  uint8_t modifiers;  // OPERAND_*
  uint8_t dwords;     // registers that the text names; of a constant: what the type has
  // VGPR: register number; accumulation registers follow the vector registers, a0 is 256 (where the file is unified,
  // the wave maps both). SGPR: canonical number.
  uint32_t index;
  union {
    uint64_t value;  // CONSTANT, in the operand's type
    size_t offset;   // VGPR: of the register in wave->vgpr, in 32-bit elements
  };
  const uint32_t* lanes;  // CONSTANT: the low 32 bits for each of 64 lanes, then the high 32 bits likewise
} operand_t;

// DPP: how lanes of source 0 come from other lanes.
typedef enum {
  DPP_NONE,
  DPP_QUAD_PERM,  // argument: four 2-bit lanes
  DPP_ROW_SHL,    // argument: 1..15
  DPP_ROW_SHR,
  DPP_ROW_ROR,
  DPP_WAVE_SHL,  // gfx9, by one
  DPP_WAVE_ROL,
  DPP_WAVE_SHR,
  DPP_WAVE_ROR,
  DPP_ROW_MIRROR,
  DPP_ROW_HALF_MIRROR,
  DPP_ROW_BCAST,  // gfx9, argument: 15 or 31
  DPP_ROW_SHARE,  // gfx10+, and row_newbcast of gfx90a
  DPP_ROW_XMASK,
  DPP_8,  // argument: eight 3-bit lanes
} dpp_kind_t;
// SDWA: which part of a register.
typedef enum { SDWA_DWORD, SDWA_BYTE_0, SDWA_BYTE_1, SDWA_BYTE_2, SDWA_BYTE_3, SDWA_WORD_0, SDWA_WORD_1 } sdwa_part_t;
typedef enum { SDWA_PAD, SDWA_SEXT, SDWA_PRESERVE } sdwa_unused_t;

// What few instructions have.
typedef struct inst_extra_t {
  uint8_t dpp;  // dpp_kind_t
  uint8_t row_mask, bank_mask;
  bool bound_control;  // lanes read from outside give 0 (else the destination keeps its value)
  bool fetch_inactive;
  uint32_t dpp_argument;
  bool is_sdwa;
  uint8_t destination_part, destination_unused, source_part[2];
  bool is_reached;  // atomic; of an instruction that is left out
} inst_extra_t;

// FLAG(ENUM, text): modifiers without a value
// clang-format off
#define INST_FLAGS(FLAG)                                                                                    \
  FLAG(CLAMP, "clamp")                                                                                      \
  FLAG(OFFEN, "offen") FLAG(IDXEN, "idxen") FLAG(ADDR64, "addr64")                                          \
  FLAG(GLC, "glc") FLAG(SLC, "slc") FLAG(DLC, "dlc") FLAG(SC0, "sc0") FLAG(SC1, "sc1") FLAG(NT, "nt")       \
  FLAG(GDS, "gds") FLAG(LDS, "lds") FLAG(TFE, "tfe") FLAG(NV, "nv") FLAG(SCALE_OFFSET, "scale_offset")      \
  FLAG(MUL_X2, "mul:2") FLAG(MUL_X4, "mul:4") FLAG(DIV_X2, "div:2")
// clang-format on
enum {
#define FLAG(name, text) INST_FLAG_INDEX_##name,
  INST_FLAGS(FLAG)
#undef FLAG
#define FLAG(name, text) INST_##name = 1 << INST_FLAG_INDEX_##name,
      INST_FLAGS(FLAG)
#undef FLAG
          INST_RETURNS_OLD = 1 << 28,  // an atomic operation that gives the old value (glc, sc0 or th:TH_ATOMIC_RETURN)
  INST_HAS_EXTRA = 1 << 29,            // inst->extra is not empty
  INST_READS_Z = 1 << 30,              // reads vccz, execz or src_lds_direct
};

// FIELD(type, name, text, default, bits of one element): modifiers with a value; [a,b,..] puts element i at bit i *
// bits
#define INST_FIELDS(FIELD)                                                          \
  FIELD(int32_t, offset, "offset", 0, 0)                                            \
  FIELD(int16_t, offset0, "offset0", 0, 0)                                          \
  FIELD(int16_t, offset1, "offset1", 0, 0)                                          \
  FIELD(int16_t, op_sel, "op_sel", 0, 1) /* not where the operands say .l and .h */ \
  FIELD(int16_t, op_sel_hi, "op_sel_hi", -1, 1)                                     \
  FIELD(int16_t, neg_lo, "neg_lo", 0, 1)                                            \
  FIELD(int16_t, neg_hi, "neg_hi", 0, 1)                                            \
  FIELD(int16_t, neg, "neg", 0, 1) /* MFMA of f64 */                                \
  FIELD(int16_t, cbsz, "cbsz", 0, 0)                                                \
  FIELD(int16_t, abid, "abid", 0, 0)                                                \
  FIELD(int16_t, blgp, "blgp", 0, 0)                                                \
  FIELD(int16_t, index_key, "index_key", 0, 0)                                      \
  FIELD(int16_t, bitop3, "bitop3", 0, 0)                                            \
  FIELD(int16_t, byte_sel, "byte_sel", 0, 0)                                        \
  FIELD(int16_t, format, "format", 0, 0)

// Rows of global_atomic_* and flat_atomic_* list no destination: with INST_RETURNS_OLD, dst[0] is the text's first
// operand all the same. v_cmpx_* has a destination on gfx9 only; its row lists it.
struct inst_t {
  inst_run_t run;
  const inst_row_t* row;
  const inst_t* target;  // branches; NULL where the code ends
  const inst_extra_t* extra;
  uint32_t flags;   // INST_*
  uint64_t traits;  // HAZARD_* of check_hazards.h
  uint8_t passes;   // of four cycles, of a matrix instruction of gfx9
  uint8_t size;     // bytes; 0 for the second half of a dual instruction
  uint8_t destination_count, source_count;
  // The first half of a dual instruction: the second follows; both read before either writes.
  bool is_dual;
  uint32_t encoding[2];  // first words: SOPP and SOPK take their 16-bit immediate from here, DS its offsets
  operand_t dst[INST_MAX_DESTINATIONS], src[INST_MAX_SOURCES];
  uint64_t address;  // of the instruction's first byte in the process
#define FIELD(type, name, text, absent, bits) type name;
  INST_FIELDS(FIELD)
#undef FIELD
  uint16_t flow;  // CHECK_FLOW_* (check_undefined.h)
};

#endif  // IREE_C_SOFTGPU_INST_H_
