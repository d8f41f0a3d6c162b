// The intermediate representation: operations over SSA values in blocks and regions, with uniqued types and
// attributes. Every level of the compiler is this one structure with other op tables (src/dialects/*.def); its text
// form is MLIR's. Everything lives in the context's arena and is freed with the context.
//
// A context and all in it belong to one thread at a time. Several contexts may live side by side.
#ifndef IREE_C_IR_IR_H_
#define IREE_C_IR_IR_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"

typedef struct ir_context_t ir_context_t;
typedef struct ir_type_t ir_type_t;
typedef struct ir_attr_t ir_attr_t;
typedef struct ir_loc_t ir_loc_t;
typedef struct ir_value_t ir_value_t;
typedef struct ir_use_t ir_use_t;
typedef struct ir_op_t ir_op_t;
typedef struct ir_block_t ir_block_t;
typedef struct ir_region_t ir_region_t;
typedef struct ir_op_info_t ir_op_info_t;
typedef struct ir_dialect_t ir_dialect_t;

// Interned, NUL-terminated: equal strings are equal pointers (within a context).
typedef const char* ir_name_t;

//===----------------------------------------------------------------------------------------------------------------===
// Locations and diagnostics
//===----------------------------------------------------------------------------------------------------------------===

typedef enum { IR_LOC_UNKNOWN, IR_LOC_FILE, IR_LOC_NAME, IR_LOC_FUSED, IR_LOC_CALLSITE } ir_loc_kind_t;
struct ir_loc_t {
  ir_loc_kind_t kind;
  uint32_t line, column;  // FILE: 1-based
  ir_name_t name;         // FILE: path; NAME: the name
  const ir_loc_t* child;  // NAME: inner; FUSED: first; CALLSITE: callee
  const ir_loc_t* next;   // FUSED: list; CALLSITE: caller
};

typedef enum { IR_ERROR, IR_WARNING, IR_REMARK, IR_NOTE } ir_severity_t;
// `text` is one message without location; `rendered` has "file:line:col: error: text", the source line and a caret.
typedef void (*ir_diagnostic_fn_t)(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text,
                                   const char* rendered);

//===----------------------------------------------------------------------------------------------------------------===
// Types (uniqued: equal types are equal pointers)
//===----------------------------------------------------------------------------------------------------------------===

#define IR_DYNAMIC INT64_MIN  // a dimension, stride or offset known only at run time

typedef enum {
  IR_TYPE_NONE,
  IR_TYPE_INTEGER,
  IR_TYPE_INDEX,
  IR_TYPE_FLOAT,
  IR_TYPE_COMPLEX,          // element
  IR_TYPE_VECTOR,           // element, dims
  IR_TYPE_TENSOR,           // element, dims, encoding
  IR_TYPE_UNRANKED_TENSOR,  // element
  IR_TYPE_VTENSOR,          // !torch.vtensor<[1,4],f32>: element, dims; rank -1: unranked; element NULL: unknown
  IR_TYPE_MEMREF,           // element, dims, encoding (layout), space
  IR_TYPE_FUNCTION,
  IR_TYPE_TUPLE,   // inputs
  IR_TYPE_OPAQUE,  // !name or !name<body>; name includes the dialect ("stablehlo.token")
} ir_type_kind_t;

typedef enum { IR_SIGNLESS, IR_SIGNED, IR_UNSIGNED } ir_sign_t;

typedef enum {
#define FORMAT(NAME, ...) IR_##NAME,
#include "base/formats.def"
#undef FORMAT
  IR_FLOAT_COUNT
} ir_float_kind_t;

// Memory of the kernel level; the value is also the memref's memory space.
typedef enum { IR_SPACE_GLOBAL = 0, IR_SPACE_CONSTANT = 1, IR_SPACE_WORKGROUP = 3, IR_SPACE_PRIVATE = 5 } ir_space_t;

struct ir_type_t {
  ir_type_kind_t kind;
  uint32_t id;     // dense number within the context
  uint32_t width;  // INTEGER: bits
  ir_sign_t sign;  // INTEGER
  ir_float_kind_t float_kind;
  const ir_type_t* element;
  int32_t rank;               // shaped types
  const int64_t* dims;        // rank entries, IR_DYNAMIC for '?'
  const ir_attr_t* encoding;  // tensor encoding or memref layout, or NULL
  ir_space_t space;
  uint32_t input_count, result_count;  // FUNCTION; TUPLE uses inputs
  const ir_type_t* const* inputs;
  const ir_type_t* const* results;
  ir_name_t name;  // OPAQUE
  ir_name_t body;  // OPAQUE: text between < and >, or NULL
};

const ir_type_t* ir_type_none(ir_context_t* ctx);
const ir_type_t* ir_type_integer(ir_context_t* ctx, uint32_t width, ir_sign_t sign);
static inline const ir_type_t* ir_type_int(ir_context_t* ctx, uint32_t width) {
  return ir_type_integer(ctx, width, IR_SIGNLESS);
}
const ir_type_t* ir_type_index(ir_context_t* ctx);
const ir_type_t* ir_type_float(ir_context_t* ctx, ir_float_kind_t kind);
const ir_type_t* ir_type_complex(ir_context_t* ctx, const ir_type_t* element);
const ir_type_t* ir_type_vector(ir_context_t* ctx, const ir_type_t* element, int32_t rank, const int64_t* dims);
const ir_type_t* ir_type_tensor(ir_context_t* ctx, const ir_type_t* element, int32_t rank, const int64_t* dims);
const ir_type_t* ir_type_tensor_encoded(ir_context_t* ctx, const ir_type_t* element, int32_t rank, const int64_t* dims,
                                        const ir_attr_t* encoding);
const ir_type_t* ir_type_unranked_tensor(ir_context_t* ctx, const ir_type_t* element);
const ir_type_t* ir_type_vtensor(ir_context_t* ctx, const ir_type_t* element, int32_t rank, const int64_t* dims);
const ir_type_t* ir_type_memref(ir_context_t* ctx, const ir_type_t* element, int32_t rank, const int64_t* dims,
                                const ir_attr_t* layout, ir_space_t space);
const ir_type_t* ir_type_function(ir_context_t* ctx, const ir_type_t* const* inputs, uint32_t input_count,
                                  const ir_type_t* const* results, uint32_t result_count);
const ir_type_t* ir_type_tuple(ir_context_t* ctx, const ir_type_t* const* elements, uint32_t count);
const ir_type_t* ir_type_opaque(ir_context_t* ctx, const char* name, const char* body);

static inline bool ir_type_is_int(const ir_type_t* t) { return t->kind == IR_TYPE_INTEGER; }
static inline bool ir_type_is_float(const ir_type_t* t) { return t->kind == IR_TYPE_FLOAT; }
static inline bool ir_type_is_tensor(const ir_type_t* t) { return t->kind == IR_TYPE_TENSOR; }
bool ir_type_is_shaped(const ir_type_t* type);
// Scalar type of a shaped type, else the type itself.
const ir_type_t* ir_type_scalar(const ir_type_t* type);
bool ir_type_is_static(const ir_type_t* type);
// Product of the dims (1 for scalars), or IR_DYNAMIC. Saturates at INT64_MAX.
int64_t ir_type_count(const ir_type_t* type);
// How many of its dims are IR_DYNAMIC: none of a type without.
uint32_t ir_type_open_dims(const ir_type_t* type);
// Bytes one element takes in memory: i1 to i8 one byte, index 8, f4 and f8 one, complex twice its element.
uint32_t ir_type_bytes(const ir_type_t* scalar);
// Below 8 bits, but no boolean: takes a byte here, less where the HAL sees it.
bool ir_type_is_packed(const ir_type_t* scalar);
const ir_type_t* ir_type_with_element(ir_context_t* ctx, const ir_type_t* shaped, const ir_type_t* element);

//===----------------------------------------------------------------------------------------------------------------===
// Attributes (uniqued, except element data above a few hundred bytes)
//===----------------------------------------------------------------------------------------------------------------===

typedef enum {
  IR_ATTR_UNIT,
  IR_ATTR_INTEGER,      // type, integer; `true`/`false` are i1
  IR_ATTR_FLOAT,        // type, number
  IR_ATTR_STRING,       // text, size
  IR_ATTR_SYMBOL,       // text: name without '@'; items: nested references
  IR_ATTR_ARRAY,        // items, count
  IR_ATTR_DICT,         // entries, count, in order of name
  IR_ATTR_TYPE,         // type
  IR_ATTR_ELEMENTS,     // type (shaped), data, size, splat: dense<...> or dense_resource<...>
  IR_ATTR_DENSE_ARRAY,  // type (element: i1 i8 i16 i32 i64 f32 f64), data, count: array<i64: 1, 2>
  IR_ATTR_AFFINE_MAP,   // map
  IR_ATTR_LOCATION,     // loc
  IR_ATTR_OPAQUE,       // #name or #name<body>: text = name with dialect, body; entries: parsed `key = value`
} ir_attr_kind_t;

typedef struct ir_named_attr_t {
  ir_name_t name;
  const ir_attr_t* value;
} ir_named_attr_t;

// Affine expressions over dims d0.. and symbols s0..
typedef enum {
  IR_AFFINE_DIM,
  IR_AFFINE_SYMBOL,
  IR_AFFINE_CONST,
  IR_AFFINE_ADD,
  IR_AFFINE_MUL,
  IR_AFFINE_MOD,
  IR_AFFINE_FLOORDIV,
  IR_AFFINE_CEILDIV,
} ir_affine_kind_t;
typedef struct ir_affine_t {
  ir_affine_kind_t kind;
  int64_t value;  // dim or symbol number, or the constant
  const struct ir_affine_t* lhs;
  const struct ir_affine_t* rhs;
} ir_affine_t;
typedef struct ir_affine_map_t {
  uint32_t dim_count, symbol_count, result_count;
  const ir_affine_t* const* results;
} ir_affine_map_t;

// Element data that is made when it is asked for (decoded from text, packed from other data): `read` gives `size` bytes
// from `offset` on, both multiples of `unit` except at the end, in several threads at once. Lives in the context's
// arena.
typedef struct ir_lazy_t {
  void (*read)(const struct ir_lazy_t* lazy, size_t offset, size_t size, unsigned char* out);
  size_t size, unit;
  size_t recipe;      // bytes behind this struct that say what is made, so that equal data is made once; or 0
  ir_context_t* ctx;  // set by ir_attr_lazy
  struct ir_lazy_t* next;
  void* whole;  // all of it, once it was needed; atomic
} ir_lazy_t;

struct ir_attr_t {
  ir_attr_kind_t kind;
  const ir_type_t* type;
  int64_t integer;  // sign-extended from the type's width
  double number;
  const char* text;
  size_t size;       // STRING: characters; ELEMENTS, DENSE_ARRAY: bytes of data
  const char* body;  // OPAQUE
  uint32_t count;
  const ir_attr_t* const* items;
  const ir_named_attr_t* entries;
  bool splat;          // ELEMENTS: the data is one element which stands for all
  ir_lazy_t* lazy;     // ELEMENTS: where the data comes from, or NULL
  const void* stored;  // the data, see ir_attr_data; NULL when it is lazy
  ir_name_t resource;  // ELEMENTS written as dense_resource<name>, else NULL
  const ir_affine_map_t* map;
  const ir_loc_t* loc;
};

const ir_attr_t* ir_attr_unit(ir_context_t* ctx);
const ir_attr_t* ir_attr_integer(ir_context_t* ctx, const ir_type_t* type, int64_t value);
const ir_attr_t* ir_attr_i64(ir_context_t* ctx, int64_t value);
const ir_attr_t* ir_attr_bool(ir_context_t* ctx, bool value);
const ir_attr_t* ir_attr_float(ir_context_t* ctx, const ir_type_t* type, double value);
const ir_attr_t* ir_attr_string(ir_context_t* ctx, const char* text, size_t size);
const ir_attr_t* ir_attr_cstring(ir_context_t* ctx, const char* text);
const ir_attr_t* ir_attr_symbol(ir_context_t* ctx, const char* name);
const ir_attr_t* ir_attr_symbol_nested(ir_context_t* ctx, const char* name, const ir_attr_t* const* items,
                                       uint32_t count);
const ir_attr_t* ir_attr_array(ir_context_t* ctx, const ir_attr_t* const* items, uint32_t count);
const ir_attr_t* ir_attr_dict(ir_context_t* ctx, const ir_named_attr_t* entries, uint32_t count);
const ir_attr_t* ir_attr_type(ir_context_t* ctx, const ir_type_t* type);
// `size` is ir_type_bytes(element) (splat) or that times the count. Copies the data.
const ir_attr_t* ir_attr_elements(ir_context_t* ctx, const ir_type_t* type, const void* data, size_t size);
// The same without copying: `data` must outlive the context (a mapped file, the context's arena).
const ir_attr_t* ir_attr_elements_borrow(ir_context_t* ctx, const ir_type_t* type, const void* data, size_t size);
const ir_attr_t* ir_attr_resource(ir_context_t* ctx, const ir_type_t* type, const char* name, const void* data,
                                  size_t size);
// With data that is made when it is asked for; `resource` may be NULL.
const ir_attr_t* ir_attr_lazy(ir_context_t* ctx, const ir_type_t* type, const char* resource, ir_lazy_t* lazy);
// The same element data with another type of as many elements.
const ir_attr_t* ir_attr_retype(ir_context_t* ctx, const ir_attr_t* attr, const ir_type_t* type);
// Data of ELEMENTS and DENSE_ARRAY: row-major, ir_type_bytes() per element, little-endian, not aligned. Thread safe.
const void* ir_attr_data(const ir_attr_t* attr);
// Part of it, without keeping what is made on the way. Of lazy data: in multiples of its unit. Thread safe.
void ir_attr_read(const ir_attr_t* attr, size_t offset, size_t size, void* out);
// The same in a thread without a memory scope: false when memory ran out.
bool ir_attr_try_read(const ir_attr_t* attr, size_t offset, size_t size, void* out);
const ir_attr_t* ir_attr_i64_array(ir_context_t* ctx, const int64_t* values, uint32_t count);
const ir_attr_t* ir_attr_dense_array(ir_context_t* ctx, const ir_type_t* element, const void* data, uint32_t count);
const ir_attr_t* ir_attr_affine_map(ir_context_t* ctx, const ir_affine_map_t* map);
const ir_attr_t* ir_attr_loc(ir_context_t* ctx, const ir_loc_t* loc);
const ir_attr_t* ir_attr_opaque(ir_context_t* ctx, const char* name, const char* body, const ir_named_attr_t* entries,
                                uint32_t count);
// Element `i` of ELEMENTS or DENSE_ARRAY as a number (handles splats and every element type; complex: real part).
double ir_attr_element_number(const ir_attr_t* attr, int64_t i);
int64_t ir_attr_element_integer(const ir_attr_t* attr, int64_t i);
const ir_attr_t* ir_attr_dict_get(const ir_attr_t* dict, const char* name);

// One scalar in memory form <-> number; `scalar` is an integer, index or float type.
double ir_scalar_load_number(const ir_type_t* scalar, const void* data);
int64_t ir_scalar_load_integer(const ir_type_t* scalar, const void* data);
void ir_scalar_store_number(const ir_type_t* scalar, double value, void* data);    // rounds to nearest even
void ir_scalar_store_integer(const ir_type_t* scalar, int64_t value, void* data);  // truncates

//===----------------------------------------------------------------------------------------------------------------===
// Values, operations, blocks, regions
//===----------------------------------------------------------------------------------------------------------------===

struct ir_use_t {
  ir_value_t* value;
  ir_op_t* owner;
  ir_use_t* next;   // other uses of the value
  ir_use_t** link;  // what points to this use
};

struct ir_value_t {
  const ir_type_t* type;
  ir_op_t* def;       // defining op, or NULL for a block argument
  ir_block_t* block;  // block argument's block, or NULL
  uint32_t index;     // result or argument number
  ir_name_t name;     // hint for printing, or NULL
  ir_use_t* uses;
  void* data;  // scratch for the pass at work
};

struct ir_op_t {
  const ir_op_info_t* info;
  ir_name_t name;  // full name ("arith.addf"); equals info->name for registered ops
  const ir_loc_t* loc;
  ir_block_t* parent;  // NULL when detached
  ir_op_t* prev;
  ir_op_t* next;
  uint32_t operand_count, result_count, region_count, successor_count, attr_count;
  uint32_t operand_capacity;
  ir_use_t* operands;
  ir_value_t* results;
  ir_region_t* regions;
  ir_block_t** successors;
  uint32_t* successor_operand_counts;  // trailing operands are split among the successors, in order
  ir_named_attr_t* attrs;              // in order of setting; printed in order of name
  void* data;                          // scratch for the pass at work
};

struct ir_block_t {
  ir_region_t* parent;
  ir_block_t* prev;
  ir_block_t* next;
  uint32_t arg_count, arg_capacity;
  ir_value_t** args;
  ir_op_t* first;
  ir_op_t* last;
  ir_name_t label;
};

struct ir_region_t {
  ir_op_t* parent;
  ir_block_t* first;
  ir_block_t* last;
};

#define IR_FOR_OPS(op, blk) for (ir_op_t* op = (blk)->first; op; op = op->next)
// Safe when the body erases `op` itself.
#define IR_FOR_OPS_SAFE(op, blk) \
  for (ir_op_t* op = (blk)->first, *op##_next; op && (op##_next = op->next, 1); op = op##_next)
#define IR_FOR_BLOCKS(block, region) for (ir_block_t* block = (region)->first; block; block = block->next)
#define IR_FOR_USES(use, value) for (ir_use_t* use = (value)->uses; use; use = use->next)

static inline ir_value_t* ir_operand(const ir_op_t* op, uint32_t i) { return op->operands[i].value; }
static inline ir_value_t* ir_result(ir_op_t* op, uint32_t i) { return &op->results[i]; }
static inline bool ir_has_one_use(const ir_value_t* v) { return v->uses && !v->uses->next; }

//===----------------------------------------------------------------------------------------------------------------===
// Op tables
//===----------------------------------------------------------------------------------------------------------------===

typedef enum {
  IR_TRAIT_PURE = 1 << 0,  // no side effect: erased when unused
  IR_TRAIT_COMMUTATIVE = 1 << 1,
  IR_TRAIT_TERMINATOR = 1 << 2,
  IR_TRAIT_SAME_TYPE = 1 << 3,   // all operands and results have one type
  IR_TRAIT_SAME_SHAPE = 1 << 4,  // all operands and results have one shape
  IR_TRAIT_ISOLATED = 1 << 5,    // regions use nothing from outside (func, module)
  IR_TRAIT_SYMBOL = 1 << 6,      // has sym_name
  IR_TRAIT_ELEMENTWISE = 1 << 7,
  IR_TRAIT_CONSTANT = 1 << 8,       // attribute `value` is the result
  IR_TRAIT_NO_TERMINATOR = 1 << 9,  // its block needs no terminator (module)
  IR_TRAIT_INDEX_MAP = 1 << 10,     // result elements are operand elements at other places
  IR_TRAIT_SINGLE_BLOCK = 1 << 11,  // each region has exactly one block
  IR_TRAIT_GIVES_ARGS = 1 << 12,    // what its successors' blocks have as arguments is its own to give, not operands
} ir_trait_t;

// Verifiers say what is wrong with ir_error() and return false.
typedef bool (*ir_verify_fn_t)(ir_context_t* ctx, ir_op_t* op);
struct ir_parser_t;
struct ir_printer_t;
typedef ir_op_t* (*ir_parse_fn_t)(struct ir_parser_t* parser, const ir_op_info_t* info, const ir_loc_t* loc);
typedef void (*ir_print_fn_t)(struct ir_printer_t* printer, ir_op_t* op);

#define IR_VARIADIC (-1)
struct ir_op_info_t {
  const char* name;  // "arith.addf"
  uint32_t code;     // unique over all dialects: dialect id * 1024 + row; compare with the dialect's enum
  int8_t operands;   // exact count, or IR_VARIADIC
  int8_t results;
  int8_t regions;
  uint32_t traits;
  ir_verify_fn_t verify;  // or NULL
  ir_parse_fn_t parse;    // custom assembly, or NULL: generic form only
  ir_print_fn_t print;
  const void* extra;  // the dialect's own row data
};

// Dialect ids; opcodes are id * 1024 + row.
// DIALECT(ENUM, text)
// clang-format off
#define IR_DIALECTS(DIALECT)                                                                                          \
  DIALECT(BUILTIN, "builtin")                                                                                         \
  DIALECT(FUNC, "func")                                                                                               \
  DIALECT(ARITH, "arith")                                                                                             \
  DIALECT(MATH, "math")                                                                                               \
  DIALECT(TENSOR, "tensor") DIALECT(LINALG, "linalg") DIALECT(SCF, "scf") DIALECT(CF, "cf")                           \
      DIALECT(STABLEHLO, "stablehlo") DIALECT(CHLO, "chlo") DIALECT(TOSA, "tosa") DIALECT(TORCH, "torch")             \
          DIALECT(UTIL, "util") DIALECT(GRAPH, "graph") DIALECT(KERNEL, "kernel") DIALECT(HOST, "host")               \
              DIALECT(COMPLEX, "complex") DIALECT(ML_PROGRAM, "ml_program") DIALECT(HAL, "hal") DIALECT(FLOW, "flow") \
                  DIALECT(CHECK, "check") DIALECT(LINALG_EXT, "iree_linalg_ext") DIALECT(ENCODING, "iree_encoding") \
                  DIALECT(STREAM, "stream") DIALECT(TENSOR_EXT, "iree_tensor_ext") DIALECT(AFFINE, "affine") \
                  DIALECT(SHAPE, "shape") DIALECT(CODEGEN, "iree_codegen") DIALECT(TRANSFORM, "transform") \
                  DIALECT(PDL, "pdl") DIALECT(VM, "vm") DIALECT(MEMREF, "memref") DIALECT(VECTOR, "vector")
// clang-format on
typedef enum {
#define DIALECT(name, text) IR_DIALECT_##name,
  IR_DIALECTS(DIALECT)
#undef DIALECT
      IR_DIALECT_COUNT
} ir_dialect_id_t;
#define IR_CODE(dialect_id, row) ((uint32_t)(dialect_id) * 1024u + (uint32_t)(row))
#define IR_CODE_UNREGISTERED 0xffffffffu

struct ir_dialect_t {
  ir_dialect_id_t id;
  const char* name;
  const ir_op_info_t* ops;
  uint32_t op_count;
};

static inline uint32_t ir_code(const ir_op_t* op) { return op->info->code; }
static inline bool ir_is(const ir_op_t* op, uint32_t code) { return op && op->info->code == code; }
static inline bool ir_has_trait(const ir_op_t* op, uint32_t trait) { return (op->info->traits & trait) != 0; }
static inline ir_dialect_id_t ir_op_dialect(const ir_op_t* op) { return (ir_dialect_id_t)(op->info->code / 1024u); }

//===----------------------------------------------------------------------------------------------------------------===
// Context
//===----------------------------------------------------------------------------------------------------------------===

ir_context_t* ir_context_create(void);
void ir_context_destroy(ir_context_t* ctx);
arena_t* ir_context_arena(ir_context_t* ctx);
void ir_context_set_diagnostics(ir_context_t* ctx, ir_diagnostic_fn_t fn, void* user);
// Messages are dropped until as many calls with false came: for what is tried and may fail.
void ir_context_mute(ir_context_t* ctx, bool mute);
void ir_context_register(ir_context_t* ctx, const ir_dialect_t* dialect);
// Op row by full name, or NULL.
const ir_op_info_t* ir_context_find_op(ir_context_t* ctx, const char* name);
// Keeps a source text (borrowed) so that diagnostics at `path` can show the line.
void ir_context_add_source(ir_context_t* ctx, const char* path, const char* text, size_t size);
// Says that a source is a file mapped into memory: what was read of it may leave memory and come back when needed.
void ir_context_mapped_source(ir_context_t* ctx, const void* text, size_t size);
// Notes that so many bytes of the mapped source were read. Thread safe.
void ir_context_note_read(ir_context_t* ctx, size_t bytes);

ir_name_t ir_intern(ir_context_t* ctx, const char* text, size_t size);
ir_name_t ir_intern_cstr(ir_context_t* ctx, const char* text);

const ir_loc_t* ir_loc_unknown(ir_context_t* ctx);
const ir_loc_t* ir_loc_file(ir_context_t* ctx, const char* path, uint32_t line, uint32_t column);
const ir_loc_t* ir_loc_name(ir_context_t* ctx, const char* name, const ir_loc_t* child);
const ir_loc_t* ir_loc_fused(ir_context_t* ctx, const ir_loc_t* const* locs, uint32_t count);
const ir_loc_t* ir_loc_callsite(ir_context_t* ctx, const ir_loc_t* callee, const ir_loc_t* caller);
// The file location inside `loc`, or NULL.
const ir_loc_t* ir_loc_find_file(const ir_loc_t* loc);

// Reports and returns false, so that verifiers and lowerings can `return ir_error(...)`.
bool ir_error(ir_context_t* ctx, const ir_loc_t* loc, const char* format, ...) __attribute__((format(printf, 3, 4)));
// The same at an op's location, prefixed "'arith.addf' op ".
bool ir_op_error(ir_context_t* ctx, const ir_op_t* op, const char* format, ...) __attribute__((format(printf, 3, 4)));
void ir_note(ir_context_t* ctx, const ir_loc_t* loc, const char* format, ...) __attribute__((format(printf, 3, 4)));
void ir_warning(ir_context_t* ctx, const ir_loc_t* loc, const char* format, ...) __attribute__((format(printf, 3, 4)));

//===----------------------------------------------------------------------------------------------------------------===
// Building and changing
//===----------------------------------------------------------------------------------------------------------------===

// A detached op. `info` may be NULL: then `name` is unregistered. Arrays are copied; regions start empty.
typedef struct ir_op_state_t {
  const ir_op_info_t* info;
  const char* name;
  const ir_loc_t* loc;
  ir_value_t* const* operands;
  uint32_t operand_count;
  const ir_type_t* const* result_types;
  uint32_t result_count;
  const ir_named_attr_t* attrs;
  uint32_t attr_count;
  uint32_t region_count;
  ir_block_t* const* successors;
  const uint32_t* successor_operand_counts;
  uint32_t successor_count;
} ir_op_state_t;
ir_op_t* ir_op_create(ir_context_t* ctx, const ir_op_state_t* state);
// builtin.module with one empty block, detached.
ir_op_t* ir_module_create(ir_context_t* ctx, const ir_loc_t* loc);
ir_block_t* ir_module_body(ir_op_t* module);
// func.func (sym_name, function_type) with an entry block whose arguments have the input types; appended to `block`.
ir_op_t* ir_func_create(ir_context_t* ctx, ir_block_t* block, const ir_loc_t* loc, const char* name,
                        const ir_type_t* type);

ir_block_t* ir_block_create(ir_context_t* ctx);
void ir_region_append(ir_region_t* region, ir_block_t* block);
void ir_region_insert_before(ir_region_t* region, ir_block_t* block, ir_block_t* before);
ir_value_t* ir_block_add_arg(ir_context_t* ctx, ir_block_t* block, const ir_type_t* type);
void ir_block_append(ir_block_t* block, ir_op_t* op);
void ir_block_insert_before(ir_block_t* block, ir_op_t* op, ir_op_t* before);  // before NULL: append

void ir_op_remove(ir_op_t* op);  // unlinks, keeps it usable
void ir_op_erase(ir_op_t* op);   // unlinks and drops its operands and regions; results must be unused
void ir_op_move_before(ir_op_t* op, ir_op_t* before);
bool ir_op_is_before(const ir_op_t* a, const ir_op_t* b);  // same block: linear walk
void ir_op_set_operand(ir_op_t* op, uint32_t i, ir_value_t* value);
void ir_op_set_operands(ir_context_t* ctx, ir_op_t* op, ir_value_t* const* values, uint32_t count);
void ir_value_replace(ir_value_t* value, ir_value_t* with);
void ir_value_replace_except(ir_value_t* value, ir_value_t* with, const ir_op_t* except);
ir_op_t* ir_op_parent(const ir_op_t* op);  // op whose region holds it
bool ir_op_is_inside(const ir_op_t* op, const ir_op_t* ancestor);
// Deep copy, detached. `map` (may be NULL) maps outside values; it receives the copies of results.
typedef struct ir_value_map_t ir_value_map_t;
ir_value_map_t* ir_value_map_create(ir_context_t* ctx);
void ir_value_map_set(ir_value_map_t* map, const ir_value_t* from, ir_value_t* to);
ir_value_t* ir_value_map_get(const ir_value_map_t* map, const ir_value_t* from);  // NULL when absent
ir_op_t* ir_op_clone(ir_context_t* ctx, const ir_op_t* op, ir_value_map_t* map);

const ir_attr_t* ir_op_attr(const ir_op_t* op, const char* name);  // NULL when absent
void ir_op_set_attr(ir_context_t* ctx, ir_op_t* op, const char* name, const ir_attr_t* value);
void ir_op_remove_attr(ir_op_t* op, const char* name);
// Convenience readers with a default for absent attributes.
int64_t ir_op_int(const ir_op_t* op, const char* name, int64_t absent);
const char* ir_op_string(const ir_op_t* op, const char* name, const char* absent);
bool ir_op_flag(const ir_op_t* op, const char* name);  // unit or true
// Integer list in any spelling: array<i64: ...>, [1, 2], dense<[1, 2]>. Returns the count (0 when absent), copies up to
// `capacity` values.
uint32_t ir_attr_ints(const ir_attr_t* attr, int64_t* values, uint32_t capacity);
uint32_t ir_op_ints(const ir_op_t* op, const char* name, int64_t* values, uint32_t capacity);
ir_op_t* ir_symbol_lookup(ir_op_t* table, const char* name);  // direct child with that sym_name
// The same at once, for those who look up many. The context remembers the table asked last.
ir_op_t* ir_symbol_find(ir_context_t* ctx, ir_op_t* table, const char* name);

// Builder: inserts before `before` (or at the end of `block`) and moves on.
typedef struct ir_builder_t {
  ir_context_t* ctx;
  ir_block_t* block;
  ir_op_t* before;
  const ir_loc_t* loc;
} ir_builder_t;
ir_builder_t ir_builder_at_end(ir_context_t* ctx, ir_block_t* block);
ir_builder_t ir_builder_before(ir_context_t* ctx, ir_op_t* op);
ir_op_t* ir_build(ir_builder_t* b, const ir_op_state_t* state);  // state->loc NULL: the builder's
// By opcode, with fixed operands and one result (type NULL: no result).
ir_op_t* ir_build_op(ir_builder_t* b, uint32_t code, ir_value_t* const* operands, uint32_t operand_count,
                     const ir_type_t* type);
ir_value_t* ir_build_value(ir_builder_t* b, uint32_t code, ir_value_t* const* operands, uint32_t operand_count,
                           const ir_type_t* type);
const ir_op_info_t* ir_context_op(ir_context_t* ctx, uint32_t code);

//===----------------------------------------------------------------------------------------------------------------===
// Text (parse.c, print.c) and verification (verify.c)
//===----------------------------------------------------------------------------------------------------------------===

// Reads a module. Returns NULL after diagnostics. The text need not be NUL-terminated. Binary resource blobs and
// everything kept are copied or point into `text`, which must outlive the context.
ir_op_t* ir_parse_module(ir_context_t* ctx, const char* path, const char* text, size_t size);

typedef enum {
  IR_PRINT_GENERIC = 1,
  IR_PRINT_LOCS = 2,
  IR_PRINT_ELIDE_LARGE = 4,
  IR_PRINT_LOCAL_SCOPE = 8,
  IR_PRINT_NO_RESOURCES = 16,  // without the contents of dense_resource<name>, for callers that write them
  IR_PRINT_LIMITS = 32         // as ir_context_limit_text has it
} ir_print_flags_t;
// Elides element data above `elide_above` elements as dense_resource<__elided__> when IR_PRINT_ELIDE_LARGE is set.
void ir_print_op(ir_context_t* ctx, text_t* out, ir_op_t* op, uint32_t flags, int64_t elide_above);
// What IR_PRINT_LIMITS stands for: element data of more than `hex_above` elements is hexadecimal (-1: none),
// and contents of dense_resource<name> of more than `resource_above` characters are left out (-1: none).
enum { IR_HEX_ABOVE = 100 };  // without the flag
void ir_context_limit_text(ir_context_t* ctx, int64_t hex_above, int64_t resource_above);
void ir_print_type(text_t* out, const ir_type_t* type);
void ir_print_attr(text_t* out, const ir_attr_t* attr);
// A type for messages; the string lives in the context's arena.
const char* ir_type_str(ir_context_t* ctx, const ir_type_t* type);

// Structure (dominance, terminators, counts), traits, then each op's own verifier. False after diagnostics.
bool ir_verify(ir_context_t* ctx, ir_op_t* op);

#endif  // IREE_C_IR_IR_H_
