// The .vmfb file, version 3. Little-endian throughout.
//
// Outside it is a ZIP archive of stored (not compressed) entries, each starting at a multiple of 64 bytes in the file,
// or of 4096 when it holds constants, so that the runtime maps the file and uses every entry where it lies:
//
//   program.vm                   the host program: the tables below
//   executables/NAME.so|.ptx|…   one per executable variant, as its target's tools know it
//   constants/NAME.bin           packed weights and other read-only data
//   debug.loc                    source locations (optional; dropping the entry strips them)
//
// program.vm is a module_header_t, a directory of module_section_t (one for each section kind, in MODULE_SECTIONS
// order), and the sections' rows. Rows refer to each other by index, to ranges of rows by (first, count), and to the
// other entries by segment; module/verify.c accepts a program only if every index, range, register, branch target
// and type in it is right, so that nothing behind it checks again. Strings are a (offset, length) row in STRINGS over
// STRING_BYTES; row 0 is the empty string.
//
// Command tables. A straight-line region of dispatches, copies, fills, updates and barriers is data, not code: the VM
// records it into a command buffer once per device and replays it with the buffers of each call. A table has *slots*
// (where bindings point: an argument of hal_execute, or a constant of the module) and *values*: the table's parameters
// come first (i64 operands of hal_execute), then its literals from LITERALS. Every workgroup count, push constant,
// offset and length is an index into these values; a table without parameters never changes after it was recorded.

#ifndef MODULE_FORMAT_H_
#define MODULE_FORMAT_H_

#include <assert.h>
#include <stdint.h>

#define MODULE_MAGIC 0x43455249u  // "IREC"
#define MODULE_VERSION_MAJOR 5u   // readers accept only their own
#define MODULE_VERSION_MINOR 0u   // readers accept any
#define MODULE_ENTRY_PROGRAM "program.vm"
#define MODULE_ENTRY_DEBUG "debug.loc"
#define MODULE_ENTRY_ALIGNMENT 64u
#define MODULE_CONSTANT_ALIGNMENT 4096u

// A length that means "from the offset to the end of the slot's buffer".
#define MODULE_WHOLE_BUFFER UINT64_MAX
// An open dimension of a shape.
#define MODULE_DIM_DYNAMIC (-1)
// An index that refers to nothing.
#define MODULE_NONE UINT32_MAX

// Where the program's device comes from: the module `hal`; or, for programs that run in their caller's thread without
// devices of the application's, `hal_inline` (executables must be portable) or `hal_loader` (beside `hal_inline`).
typedef enum { MODULE_DEVICES_HAL, MODULE_DEVICES_INLINE, MODULE_DEVICES_LOADER } module_devices_t;

typedef struct module_header_t {
  uint32_t magic;
  uint16_t version_major;
  uint16_t version_minor;
  uint32_t header_size;  // of this struct; sections follow
  uint32_t section_count;
  uint64_t length;   // of program.vm
  uint32_t name;     // string: module name
  uint32_t version;  // of the module, for dependents
  uint32_t attr_first, attr_count;
  uint32_t init_function;  // runs when a context is made; MODULE_NONE: none
  uint32_t reserved[5];
} module_header_t;

typedef struct module_section_t {
  uint32_t kind;
  uint32_t row_size;
  uint64_t offset;  // into program.vm; multiple of 8
  uint64_t count;   // of rows
} module_section_t;

// SECTION(NAME, field, row type)
#define MODULE_SECTIONS(SECTION)                           \
  SECTION(STRINGS, strings, module_string_t)               \
  SECTION(STRING_BYTES, string_bytes, uint8_t)             \
  SECTION(ATTRS, attrs, module_attr_t)                     \
  SECTION(DEPENDENCIES, dependencies, module_dependency_t) \
  SECTION(IMPORTS, imports, module_import_t)               \
  SECTION(EXPORTS, exports, module_export_t)               \
  SECTION(FUNCTIONS, functions, module_function_row_t)     \
  SECTION(REGISTERS, registers, uint8_t)                   \
  SECTION(CODE, code, uint32_t)                            \
  SECTION(GLOBALS, globals, module_global_t)               \
  SECTION(DEVICES, devices, module_device_t)               \
  SECTION(TARGETS, targets, module_target_t)               \
  SECTION(SEGMENTS, segments, module_segment_row_t)        \
  SECTION(CONSTANTS, constants, module_constant_t)         \
  SECTION(EXECUTABLES, executables, module_executable_t)   \
  SECTION(VARIANTS, variants, module_variant_t)            \
  SECTION(POINTS, points, module_point_row_t)              \
  SECTION(SHAPES, shapes, module_shape_row_t)              \
  SECTION(DIMS, dims, int64_t)                             \
  SECTION(TABLES, tables, module_table_row_t)              \
  SECTION(SLOTS, slots, module_slot_t)                     \
  SECTION(LITERALS, literals, uint64_t)                    \
  SECTION(COMMANDS, commands, module_command_t)            \
  SECTION(BINDINGS, bindings, module_binding_row_t)        \
  SECTION(PUSHES, pushes, uint32_t)

typedef struct module_string_t {
  uint32_t offset, length;
} module_string_t;

typedef struct module_attr_t {
  uint32_t key, value;  // strings
} module_attr_t;

typedef struct module_dependency_t {
  uint32_t name;
  uint32_t version;  // at least
  uint32_t flags;    // 1: optional
} module_dependency_t;

typedef struct module_import_t {
  uint32_t name;        // string: "module.function"
  uint32_t convention;  // string: calling convention
  uint32_t flags;       // 1: optional
} module_import_t;

typedef struct module_export_t {
  uint32_t name;
  uint32_t function;
  uint32_t attr_first, attr_count;  // reflection
} module_export_t;

// Calling convention: "0", then one letter per argument, "_" and one letter per result ("v" alone: none), letters as
// in module/ops.h: "0rr_r". Arguments arrive in the first registers of their bank, in order: values in value registers
// 0, 1, …, references in reference registers 0, 1, …
typedef struct module_function_row_t {
  uint32_t name;
  uint32_t convention;
  uint32_t code_first, code_count;  // words
  uint32_t register_first;          // row in REGISTERS: a vm_type_t for each value register
  uint32_t value_count;             // value registers
  uint32_t ref_count;               // reference registers; no more than arguments and words of code
} module_function_row_t;

typedef struct module_global_t {
  uint32_t name;
  uint8_t type;  // vm_type_t
  uint8_t reserved[3];
  uint64_t initial;  // the value's bits, zero-extended; 0 for references (null)
} module_global_t;

typedef struct module_device_t {
  uint32_t name;
  uint32_t ordinal;  // of the context's devices
} module_device_t;

// What the executables were compiled for. A device uses the first target whose format it accepts and whose features it
// has.
typedef struct module_target_t {
  uint32_t backend;      // string: "llvm-cpu", "cuda", …
  uint32_t format;       // string: executable format that devices are asked for, "embedded-elf-x86_64"
  uint32_t description;  // string for messages: "x86_64-unknown-linux-gnu, cpu skylake-avx512"
  uint32_t features;     // string: what the processor must have, "avx2,fma"; empty: nothing beyond the format
} module_target_t;

typedef struct module_segment_row_t {
  uint32_t entry;  // string: name in the archive
  uint32_t alignment;
  uint64_t offset, length;  // in the entry
} module_segment_row_t;

// Part of a segment that becomes a device buffer when a context is made.
typedef struct module_constant_t {
  uint32_t segment;
  uint32_t device;
  uint64_t offset, length;
} module_constant_t;

typedef struct module_executable_t {
  uint32_t name;
  uint32_t point_count;  // entry points; the same in every variant
  uint32_t variant_first, variant_count;
} module_executable_t;

// Of several for its target, a device loads the first whose format it takes and that it can load.
typedef struct module_variant_t {
  uint32_t target;
  uint32_t format;       // string: narrower than the target's, "cuda-cubin-sm_90"; empty: the target's
  uint32_t segment;      // the binary
  uint32_t point_first;  // point_count rows
} module_variant_t;

typedef struct module_point_row_t {
  uint32_t name;
  uint16_t binding_count;
  uint16_t constant_count;  // 32-bit push constants
  uint32_t workgroup_size[3];
  uint32_t local_memory;  // bytes of dynamic workgroup memory
} module_point_row_t;

// What a buffer view must be (hal_view_unwrap) or becomes (hal_view_create).
typedef struct module_shape_row_t {
  uint32_t name;  // string: "input0"
  uint32_t element_type;
  uint32_t encoding_type;
  uint32_t rank;
  uint32_t dim_first;
} module_shape_row_t;

typedef struct module_table_row_t {
  uint32_t name;
  uint32_t param_count;
  uint32_t slot_first, slot_count;
  uint32_t literal_first, literal_count;
  uint32_t command_first, command_count;
} module_table_row_t;

typedef enum {
  MODULE_SLOT_ARGUMENT = 0,  // index: buffer operand of hal_execute
  MODULE_SLOT_CONSTANT = 1,  // index: row of CONSTANTS
  MODULE_SLOT_KIND_COUNT,
} module_slot_kind_t;

typedef struct module_slot_t {
  uint32_t kind;
  uint32_t index;
  uint64_t length;  // least length of the buffer; bindings with literal offset and length lie within it
} module_slot_t;

typedef enum {
  MODULE_COMMAND_BARRIER,   // what comes after sees and waits for everything before
  MODULE_COMMAND_DISPATCH,  // executable, entry point; values: workgroup counts
  MODULE_COMMAND_COPY,      // bindings: source, target (equal lengths)
  MODULE_COMMAND_FILL,      // binding: target; values[0]: pattern; entry: pattern length 1, 2 or 4
  MODULE_COMMAND_UPDATE,    // binding: target; executable: segment; values[0]: offset in it
  MODULE_COMMAND_KIND_COUNT,
} module_command_kind_t;

typedef struct module_command_t {
  uint32_t kind;
  uint32_t executable;
  uint32_t entry;
  uint32_t values[3];
  uint32_t push_first, push_count;
  uint32_t binding_first, binding_count;
} module_command_t;

typedef struct module_binding_row_t {
  uint32_t slot;    // of the table
  uint32_t offset;  // value
  uint32_t length;  // value
} module_binding_row_t;

// A push constant is `value << 1`, or `value << 1 | 1` for the value's high 32 bits.

// Index operands of instructions (ops.def) and the rows they refer to: INDEX_LETTER(letter, SECTION, field).
#define MODULE_INDEX_LETTERS(INDEX_LETTER) \
  INDEX_LETTER('S', STRINGS, strings)      \
  INDEX_LETTER('N', FUNCTIONS, functions)  \
  INDEX_LETTER('M', IMPORTS, imports)      \
  INDEX_LETTER('G', GLOBALS, globals)      \
  INDEX_LETTER('D', DEVICES, devices)      \
  INDEX_LETTER('T', TABLES, tables)        \
  INDEX_LETTER('H', SHAPES, shapes)        \
  INDEX_LETTER('C', CONSTANTS, constants)  \
  INDEX_LETTER('B', SEGMENTS, segments)

// debug.loc: a module_debug_header_t, `location_count` rows sorted by (kind, index, position), `file_bytes` of
// zero-terminated file names.
#define MODULE_DEBUG_MAGIC 0x434f4c49u  // "ILOC"
typedef struct module_debug_header_t {
  uint32_t magic;
  uint32_t location_count;
  uint32_t file_bytes;
  uint32_t reserved;
} module_debug_header_t;

typedef enum { MODULE_LOCATION_FUNCTION = 0, MODULE_LOCATION_TABLE = 1 } module_location_kind_t;

typedef struct module_location_t {
  uint32_t kind;      // function: positions are code words; table: positions are commands
  uint32_t index;     // row of FUNCTIONS or TABLES
  uint32_t position;  // holds until the next row's
  uint32_t file;      // offset into the file names
  uint32_t line, column;
} module_location_t;

typedef enum {
#define SECTION(NAME, field, type) MODULE_SECTION_##NAME,
  MODULE_SECTIONS(SECTION)
#undef SECTION
      MODULE_SECTION_COUNT,
} module_section_kind_t;

static_assert(sizeof(module_header_t) == 64, "part of the file format");
static_assert(sizeof(module_section_t) == 24, "part of the file format");
static_assert(sizeof(module_function_row_t) == 28, "part of the file format");
static_assert(sizeof(module_global_t) == 16, "part of the file format");
static_assert(sizeof(module_command_t) == 40, "part of the file format");
static_assert(sizeof(module_point_row_t) == 24, "part of the file format");

#endif  // MODULE_FORMAT_H_
