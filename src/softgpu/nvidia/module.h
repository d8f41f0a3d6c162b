// A module as it was parsed: variables, functions, and their bodies as instructions that a warp executes.
#ifndef IREE_C_SOFTGPU_NVIDIA_MODULE_H_
#define IREE_C_SOFTGPU_NVIDIA_MODULE_H_

#include "base/arena.h"
#include "isa/nvidia/ptx.h"
#include "softgpu/nvidia/engine.h"

typedef struct warp_t warp_t;
typedef struct inst_t inst_t;
typedef struct decoder_t decoder_t;
// Executes an instruction; the next one, or NULL when the warp has to choose what goes on (schedule.c).
typedef const inst_t* (*run_t)(warp_t* warp, const inst_t* inst);

// Windows of generic addresses. No address of the process is this large.
#define WINDOW_SHARED (UINT64_C(1) << 48)
#define WINDOW_LOCAL (UINT64_C(2) << 48)
#define WINDOW_PARAM (UINT64_C(3) << 48)
#define WINDOW_FUNCTION (UINT64_C(4) << 48)
#define WINDOW_MASK (UINT64_C(0xffff) << 48)

enum { WARP_LANES = 32 };

// Where an operand's 32 elements are: at (frame & select) + offset. Constants have `select` 0.
typedef struct operand_t {
  uint64_t select, offset;
} operand_t;

// A row of isa/nvidia/*.def with what executes it.
typedef struct row_t {
  const char* names;    // words of the name, several forms between spaces
  const char* options;  // modifiers that may stand in the name
  // Fills an instruction from its operands; NULL: registers and constants of the row's types, the first one written.
  bool (*bind)(decoder_t* decoder, inst_t* inst);
  run_t run;
  uint8_t types[5], type_count;
} row_t;
typedef struct row_table_t {
  const row_t* rows;
  uint32_t count;
} row_table_t;

typedef struct function_t function_t;

struct inst_t {
  run_t run;        // what the warp calls
  run_t run_inner;  // inside a predicate's wrapper
  run_t run_row;    // the row's own, inside all wrappers
  operand_t op[5];
  const operand_t* list;  // operands beyond those: vectors, matrices
  uint32_t list_count;
  uint32_t guard;  // offset of the predicate in the frame
  bool is_guarded, is_guard_negated;
  uint8_t bytes;      // of an element in memory
  uint8_t element;    // bytes of a register that a memory instruction moves
  uint8_t count;      // elements of a vector
  uint8_t space;      // ptx_space_t
  uint8_t is_signed;  // of what a load extends
  uint8_t address_is_32;
  uint8_t mode;          // the row's own
  uint8_t written;       // leading operands that are written (checks)
  uint8_t list_written;  // the same of `list`
  uint32_t csr;          // MXCSR that the row needs; 0: the usual one
  uint32_t flags;        // PTX_FTZ...
  uint32_t line, source_line;
  uint16_t source_file, number;  // `number`: picks the entry of caches
  uint64_t imm;                  // offset of an address, or the row's own
  const void* extra;             // the row's own
  const inst_t* target;
  const function_t* function;
  const char* name;  // as the text has it
  const row_t* row;
  ptx_modifiers_t modifiers;
  uint8_t types[5];  // of `op`, PTX_TYPE_NONE where unused
};

typedef struct variable_t {
  const char* name;
  uint8_t space, type;
  uint32_t align;
  bool is_dynamic;  // .extern .shared without a size
  bool is_extern;
  bool is_on_stack;  // a parameter of a function or of a call
  uint32_t line;
  uint64_t size;     // bytes
  uint64_t address;  // global and const: of the process; shared and local: offset; param: offset
  uint8_t* initial;  // NULL: zeros
  struct address_initial_t* addresses;
  struct variable_t* next;  // in its module or function
  uint32_t shared_index;
} variable_t;

// A place in a variable's initialiser that holds an address.
typedef struct address_initial_t {
  uint64_t offset;
  uint32_t bytes;
  const variable_t* variable;  // or
  const function_t* function;
  uint64_t addend;
  bool is_generic;
  struct address_initial_t* next;
} address_initial_t;

typedef struct ptx_register_t {
  const char* name;
  uint8_t type;
  uint8_t bytes;    // of an element in the frame
  uint32_t offset;  // in the frame
} ptx_register_t;

// Formal parameter of a function: a register or a variable.
typedef struct formal_t {
  variable_t* variable;
  uint32_t reg;  // when variable is NULL
} formal_t;

typedef struct line_mark_t {
  uint32_t file, line;
} line_mark_t;

enum { CALL_BODY, CALL_VPRINTF, CALL_ASSERT, CALL_UNKNOWN };

struct function_t {
  const char* name;
  nv_module_t* module;
  bool is_entry, has_body;
  uint32_t line, index;
  formal_t *results, *parameters;
  uint32_t result_count, parameter_count;
  nv_parameter_t* infos;
  uint32_t parameter_size;
  ptx_register_t* registers;
  uint32_t register_count;
  uint32_t frame_size;  // bytes
  uint32_t local_size;  // bytes a lane
  uint32_t stack_size;  // bytes a lane, with what is called
  uint32_t shared_size;
  uint32_t max_threads, required_threads[3];
  inst_t* insts;
  uint32_t inst_count;
  variable_t* variables;  // of the body
  // Shared variables and functions that the body names.
  const variable_t** shared;
  uint32_t shared_count;
  const function_t** calls;
  uint32_t call_count;
  bool calls_unknown;  // by address
  function_t* next;
};

struct nv_function_t {
  function_t function;
};

// A constant that is a variable's address: what its 32 lanes get once the variable has one.
typedef struct address_use_t {
  const variable_t* variable;
  uint64_t addend;
  void* data;
  uint32_t bytes;
  struct address_use_t* next;
} address_use_t;

struct nv_module_t {
  nv_engine_t* engine;
  arena_t arena;
  char* text;
  size_t size;
  uint32_t version, architecture;  // of the text
  function_t *functions, **last_function;
  function_t** by_index;
  uint32_t function_count;
  variable_t *variables, **last_variable;
  uint64_t constant_size;
  address_use_t* uses;
  const char** files;  // by number
  uint32_t file_count;
  void* memory;  // of its variables
};

// parse.c: reads the text into the module. False after filling `fault`.
bool module_parse(nv_module_t* module, nv_fault_t* fault);
// layout.c: gives variables their memory, functions the sizes of their frames' surroundings.
bool module_lay_out(nv_module_t* module, nv_fault_t* fault);
void fault_set(nv_fault_t* fault, nv_fault_kind_t kind, const char* format, ...) __attribute__((format(printf, 3, 4)));

#endif  // IREE_C_SOFTGPU_NVIDIA_MODULE_H_
