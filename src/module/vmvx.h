// vmvx: kernels as register bytecode for the runtime's interpreter, and for the checking interpreter of the compiler.
//
// File: vmvx_header_t, then the sections in the header's order, each at a multiple of 8 bytes: functions, registers,
// memories, code (32-bit words), data (bytes), names (bytes). Little-endian. A function's ranges are disjoint parts of
// the sections; its data offsets count from the start of the data section.
//
// Registers hold scalars or vectors in memory form, lane after lane. Booleans are bytes 0 and 1; other integers are
// sign-extended from `width` bits to their element's size; tf32 is an f32. Offsets into memories count elements, as
// 64-bit signed integers.
//
// Memories are bindings, or pieces of the workgroup's or thread's local memory, seen as elements of one type. Several
// rows may show the same bytes (kernel.view). Bounds are checked at each access: an access that leaves its memory makes
// the workgroup fail, and a program that vmvx_program_open accepted can reach nothing else.
#ifndef MODULE_VMVX_H_
#define MODULE_VMVX_H_

#include <stdbool.h>

#include "base/scalar_loops.h"
#include "base/small_float.h"
#include "iree/base/api.h"

#define VMVX_MAGIC 0x58564d56u  // "VMVX"
#define VMVX_VERSION 2u
#define VMVX_FORMAT "vmvx-bytecode-fb"

// Element types: integers, then the floats of formats.def. INTEGER(NAME, bytes)
#define VMVX_INTEGERS(INTEGER) \
  INTEGER(BOOL, 1)             \
  INTEGER(I8, 1)               \
  INTEGER(I16, 2)              \
  INTEGER(I32, 4)              \
  INTEGER(I64, 8)
typedef enum {
#define INTEGER(NAME, bytes) VMVX_##NAME,
  VMVX_INTEGERS(INTEGER)
#undef INTEGER
#define FORMAT(NAME, ...) VMVX_##NAME,
#include "base/formats.def"
#undef FORMAT
      VMVX_TYPE_COUNT,
  VMVX_FIRST_FLOAT = VMVX_I64 + 1,
} vmvx_type_t;

typedef enum {
#define SCALAR(name, ...) VMVX_OP_##name,
#include "base/scalar.def"
#undef SCALAR
#define OP(name, operands) VMVX_OP_##name,
#include "module/vmvx.def"
#undef OP
  VMVX_OP_COUNT,
  VMVX_SCALAR_COUNT = VMVX_OP_param,  // those of scalar_fn_t, by the same numbers
  VMVX_PURE_COUNT = VMVX_OP_load,     // below: registers only
} vmvx_op_t;

// How an instruction from `load` to `scatter_masked` accesses memory. Its operands are value, memory, offset, mask if
// it has one, for what is loaded under a mask the other value, and the alignment.
enum {
  VMVX_FORM_MASKED = 1,
  VMVX_FORM_STORE = 2,
  VMVX_FORM_LANES = 4,  // an offset for each lane
};
static inline uint32_t vmvx_access_form(uint32_t op) { return op - VMVX_OP_load; }

// Operand of `id`: an axis is added to the first three.
typedef enum { VMVX_ID_WORKGROUP = 0, VMVX_ID_COUNT = 3, VMVX_ID_THREAD = 6, VMVX_ID_LANE = 9, VMVX_ID_END } vmvx_id_t;
typedef enum {
  VMVX_SHUFFLE_INDEX,
  VMVX_SHUFFLE_XOR,
  VMVX_SHUFFLE_UP,
  VMVX_SHUFFLE_DOWN,
  VMVX_SHUFFLE_END
} vmvx_shuffle_t;
#define VMVX_EXCHANGE 0xffffu

enum {
  VMVX_MAX_OPERANDS = 6,
  VMVX_MAX_LANES = 4096,
  VMVX_TILE_ROWS = 16,  // of load_tile and store_tile
  VMVX_TILE_ROW_BYTES = 64,
  VMVX_MAX_DEPTH = 64,
  VMVX_MAX_MEMORIES = 256,
  VMVX_MAX_LOCAL = 16 << 20
};

typedef struct vmvx_header_t {
  uint32_t magic, version;
  uint32_t function_count, register_count, memory_count, code_count, data_size, name_size;
} vmvx_header_t;

typedef struct vmvx_function_row_t {
  uint32_t name_first, name_size;
  uint32_t binding_count, constant_count;  // constants in words
  uint32_t register_first, register_count;
  uint32_t memory_first, memory_count;
  uint32_t code_first, code_count;
  uint32_t workgroup_bytes, private_bytes;  // local memory
  uint32_t workgroup_size[3], subgroup_size;
} vmvx_function_row_t;

typedef struct vmvx_register_row_t {
  uint8_t type;   // vmvx_type_t
  uint8_t width;  // bits of an element; integers may have less than their type
  uint16_t lanes;
} vmvx_register_row_t;

typedef enum {
  VMVX_MEMORY_BINDING,
  VMVX_MEMORY_WORKGROUP,
  VMVX_MEMORY_PRIVATE,
  VMVX_MEMORY_KIND_COUNT
} vmvx_memory_kind_t;
typedef struct vmvx_memory_row_t {
  uint8_t kind;  // vmvx_memory_kind_t
  uint8_t type;
  uint8_t width;
  uint8_t reserved;
  uint32_t index;   // binding, or byte offset in the local memory
  uint64_t length;  // bytes; bindings: 0
} vmvx_memory_row_t;

//===----------------------------------------------------------------------------------------------------------------===
// A program, opened: verified and decoded
//===----------------------------------------------------------------------------------------------------------------===

typedef struct vmvx_register_t {
  uint32_t offset;  // in the frame of one thread; multiple of 16
  uint32_t lanes;
  uint8_t type, width, bytes;  // of an element
} vmvx_register_t;

// Operands as in the table; branch targets are numbers of instructions. Scalar functions have three operands to read,
// of which the first stands for those that they do not take.
typedef struct vmvx_instr_t {
  uint32_t op;
  uint32_t x[VMVX_MAX_OPERANDS];
  scalar_loop_fn_t loop;  // scalar functions and reduce on types that have their own loop, else NULL
} vmvx_instr_t;

// Of an instruction from `load` to `scatter_masked`: its last operand.
static inline uint32_t vmvx_access_align(const vmvx_instr_t* instr) {
  uint32_t form = vmvx_access_form(instr->op);
  return instr->x[!(form & VMVX_FORM_MASKED) ? 3 : form & VMVX_FORM_STORE ? 4 : 5];
}

typedef struct vmvx_function_t {
  iree_string_view_t name;
  uint32_t binding_count, constant_count;
  uint32_t workgroup_size[3], subgroup_size;
  uint32_t workgroup_bytes, private_bytes;
  uint32_t frame_bytes;  // of all registers and the scratch space behind them
  uint32_t scratch_offset;
  uint32_t register_count, memory_count, instr_count;
  vmvx_register_t* registers;
  const vmvx_memory_row_t* memories;
  vmvx_instr_t* instrs;
  const uint8_t* data;
} vmvx_function_t;

typedef struct vmvx_program_t {
  uint32_t function_count;
  vmvx_function_t* functions;
  iree_allocator_t allocator;
} vmvx_program_t;

// Reads and verifies; keeps pointers into `contents`, which must be aligned to 8 bytes. INVALID_ARGUMENT with what is
// wrong and where. `threads` accepts the instructions that need several threads.
iree_status_t vmvx_program_open(iree_const_byte_span_t contents, bool threads, iree_allocator_t allocator,
                                vmvx_program_t* out_program);
void vmvx_program_close(vmvx_program_t* program);
// Bytes of the file that starts with `header`.
uint64_t vmvx_file_size(const vmvx_header_t* header);

const char* vmvx_op_name(uint32_t op);
const char* vmvx_op_operands(uint32_t op);
uint32_t vmvx_type_bytes(uint32_t type);
static inline bool vmvx_type_is_float(uint32_t type) { return type >= VMVX_FIRST_FLOAT; }
// Of a float.
static inline small_float_t vmvx_type_format(uint32_t type) { return (small_float_t)(type - VMVX_FIRST_FLOAT); }

// Runs an instruction below VMVX_PURE_COUNT but `param` and `id`, for `threads` threads at once: lane l of thread t is
// element l * threads + t of a register, which starts at offset * threads in `frame`.
void vmvx_eval(const vmvx_function_t* function, const vmvx_instr_t* instr, uint8_t* frame, uint32_t threads);

// `param`, from the dispatch's constants.
void vmvx_eval_param(const vmvx_function_t* function, const vmvx_instr_t* instr, uint8_t* frame, uint32_t threads,
                     const uint32_t* constants);
// Replaces an element in memory, aligned to its size, by `fn` (a scalar function of two operands; VMVX_EXCHANGE:
// `value`) of it and `value`; others may do so at the same time. Returns what was there.
uint64_t vmvx_eval_atomic(uint32_t fn, const vmvx_memory_row_t* type, void* data, const void* value);
// Brings `n` elements that came from outside into the form of registers (booleans 0 or 1, integers sign-extended).
void vmvx_normalize(uint8_t type, uint8_t width, void* elements, size_t n);
// Elements to numbers and back, as scalar functions see them.
void vmvx_to_doubles(uint8_t type, const void* in, double* out, size_t n);
void vmvx_from_doubles(uint8_t type, const double* in, void* out, size_t n);
void vmvx_to_integers(uint8_t type, const void* in, int64_t* out, size_t n);
void vmvx_from_integers(uint8_t type, uint8_t width, const int64_t* in, void* out, size_t n);

// The loop of a scalar function for a type that has its own, or NULL.
scalar_loop_fn_t vmvx_loop_find(uint32_t fn, uint8_t type, uint8_t width);

#endif  // MODULE_VMVX_H_
