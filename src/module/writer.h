// Builds a .vmfb: strings, functions instruction by instruction, command tables, executables, constants.
//
// Errors are sticky: after the first one every call does nothing and returns index 0, and the finish functions return
// it; so callers check once. Indices and registers are plain numbers, valid for the writer that made them. All strings
// are copied; data spans (`module_writer_segment`, `module_writer_variant`) are borrowed until the file is written and
// are then written from where they are, so hundreds of megabytes are never copied in memory. Not thread safe.
//
// A static model: one function, its dispatches in one command table over four kinds of slots. (REG, INDEX, IMM, LIST,
// LIT and PARAM are short here for MODULE_REG and so on. Operands follow the instruction's row in module/ops.def,
// results first.)
//
//   module_writer_t* w = NULL;
//   IREE_RETURN_IF_ERROR(module_writer_create(IREE_SV("module"), allocator, &w));
//   uint32_t device = module_writer_device(w, IREE_SV("__device_0"), 0);
//   uint32_t target = module_writer_target(w, &(module_target_desc_t){
//       .backend = IREE_SV("llvm-cpu"), .format = IREE_SV("embedded-elf-x86_64"),
//       .description = IREE_SV("x86_64-unknown-linux-gnu, cpu haswell"), .features = IREE_SV("avx2,fma")});
//   uint32_t exe = module_writer_executable(w, IREE_SV("module_linked_llvm_cpu"), 1);
//   module_writer_variant(w, exe, &(module_variant_desc_t){
//       .target = target, .extension = IREE_SV("so"), .data = elf,
//       .points = &(module_point_t){.name = IREE_SV("main_dispatch_0"), .binding_count = 4,
//                                   .constant_count = 1, .workgroup_size = {1, 1, 1}}});
//   uint32_t weights = module_writer_segment(w, &(module_segment_t){
//       .entry = IREE_SV("constants/weights.bin"), .data = packed, .alignment = MODULE_CONSTANT_ALIGNMENT});
//   uint32_t constant = module_writer_constant(w, device, weights, 0, packed.data_length);
//   uint32_t in = module_writer_shape(w, IREE_SV("input0"), F32, DENSE, 2, (int64_t[]){4, 8});
//   uint32_t out = module_writer_shape(w, IREE_SV("output0"), F32, DENSE, 2, (int64_t[]){4, 16});
//
//   module_table_t* t = module_writer_table(w, IREE_SV("main"), /*param_count=*/0);
//   uint32_t s_weights = module_table_constant_slot(t, constant);
//   uint32_t s_arena = module_table_argument_slot(t, 0, 4096);
//   uint32_t s_in = module_table_argument_slot(t, 1, 4 * 8 * 4), s_out = module_table_argument_slot(t, 2, 4 * 16 * 4);
//   module_table_dispatch(t, &(module_dispatch_t){
//       .executable = exe, .entry = 0, .workgroups = {LIT(4), LIT(1), LIT(1)},
//       .push_count = 1, .pushes = (module_push_t[]){{LIT(42)}},
//       .binding_count = 4,
//       .bindings = (module_binding_t[]){{s_in, LIT(0), LIT(128)}, {s_weights, LIT(0), LIT(512)},
//                                        {s_arena, LIT(0), LIT(4096)}, {s_out, LIT(0), LIT(256)}}});
//
//   module_function_t* f = module_writer_function(w, IREE_SV("main"), IREE_SV("0r_r"));
//   module_reg_t view = module_function_argument(f, 0);
//   module_reg_t input = module_function_ref(f), output = module_function_ref(f), arena = module_function_ref(f);
//   module_reg_t stream = module_function_ref(f), result = module_function_ref(f), null = module_function_null(f);
//   module_emit(f, hal_view_unwrap, REG(input), LIST(0, NULL), REG(view), INDEX(in));
//   module_emit(f, hal_stream_begin, REG(stream), INDEX(device), REG(null), IMM(0));
//   module_emit(f, hal_transient_acquire, REG(arena), REG(stream), REG(module_function_i64(f, 4096)));
//   module_emit(f, hal_alloca, REG(output), REG(stream), REG(module_function_i64(f, 256)));
//   module_emit(f, hal_execute, REG(stream), INDEX(module_table_index(t)), LIST(0, NULL),
//               LIST(3, ((module_reg_t[]){arena, input, output})));
//   module_emit(f, hal_transient_release, REG(stream), REG(arena));
//   module_emit(f, hal_stream_end, REG(stream), REG(null));                             // null fence: the host waits
//   module_emit(f, hal_view_create, REG(result), REG(output), INDEX(out), LIST(0, NULL));
//   module_emit(f, return, LIST(1, &result));
//   module_writer_export(w, IREE_SV("main"), f, 1, (module_pair_t[]){{IREE_SV("iree.abi.declaration"),
//       IREE_SV("sync func @main(%input0: tensor<4x8xf32>) -> (%output0: tensor<4x16xf32>)")}});
//   IREE_RETURN_IF_ERROR(module_writer_finish_file(w, "main.vmfb"));
//   module_writer_destroy(w);
//
// Dynamic shapes: `module_writer_table` with parameters; PARAM(k) wherever LIT(x) stood; hal_view_unwrap's list results
// are the open dimensions (i64 registers), from which the code computes sizes, workgroup counts and offsets; it passes
// them to hal_execute as parameters. The VM records such a table again only when the parameters differ from the last
// call's. A dispatch whose workgroup count has a 0 is skipped.
// Control flow: labels. Several functions: `call`. Mutable state: globals, and streams with flag 1.
// Two targets in one module: a variant of each executable per target; when workgroup counts or the dispatches
// themselves differ between targets, a table per target and `hal_target` + `switch` around hal_execute.
// `f` and `f$async`: write the body once with two more reference arguments (wait fence, signal fence), give them to
// hal_stream_begin and hal_stream_end, and export it with module_writer_export_pair.

#ifndef MODULE_WRITER_H_
#define MODULE_WRITER_H_

#include "iree/base/api.h"
#include "module/archive.h"
#include "module/format.h"
#include "module/ops.h"

typedef struct module_writer_t module_writer_t;
typedef struct module_function_t module_function_t;  // owned by the writer
typedef struct module_table_t module_table_t;        // owned by the writer

typedef struct module_pair_t {
  iree_string_view_t key, value;
} module_pair_t;

//===----------------------------------------------------------------------------------------------------------------===
// Module
//===----------------------------------------------------------------------------------------------------------------===

// Starts an empty module called `name` (exports are `name.function`).
iree_status_t module_writer_create(iree_string_view_t name, iree_allocator_t allocator, module_writer_t** out_writer);

// Frees the writer and everything it made. Accepts NULL.
void module_writer_destroy(module_writer_t* writer);

// Reflection of the module itself; before any export.
void module_writer_attr(module_writer_t* writer, iree_string_view_t key, iree_string_view_t value);

// Before the first device.
void module_writer_devices(module_writer_t* writer, module_devices_t devices);
// The full name of a function of `hal` ("hal.devices.get") as such a program imports it.
iree_string_view_t module_writer_hal_name(const module_writer_t* writer, iree_string_view_t name);

// A module that must (or, `optional`, may) be in the context before this one. That of the device is added by itself.
void module_writer_dependency(module_writer_t* writer, iree_string_view_t name, uint32_t version, bool optional);

// A string for `fail` and the like; equal strings share an index.
uint32_t module_writer_string(module_writer_t* writer, iree_string_view_t text);

// A function of another module: `name` is "module.function", `convention` as in format.h.
uint32_t module_writer_import(module_writer_t* writer, iree_string_view_t name, iree_string_view_t convention,
                              bool optional);

// A variable with its initial bits (0 for references).
uint32_t module_writer_global(module_writer_t* writer, iree_string_view_t name, vm_type_t type, uint64_t initial);

// Writes everything. The file appears under `path` complete or not at all: a temporary file beside it is renamed. A
// device or a pipe is written to.
iree_status_t module_writer_finish_file(module_writer_t* writer, const char* path);

// How many threads make and write data; one when nobody says.
void module_writer_threads(module_writer_t* writer, uint32_t threads);

// Is told the length of every archive entry when it is written, in the thread that wrote it.
void module_writer_observe(module_writer_t* writer, void (*written)(void* user, uint64_t length), void* user);

// Writes everything into memory; free it with `allocator`.
iree_status_t module_writer_finish_memory(module_writer_t* writer, iree_allocator_t allocator,
                                          iree_byte_span_t* out_data);

//===----------------------------------------------------------------------------------------------------------------===
// Devices, executables, data
//===----------------------------------------------------------------------------------------------------------------===

// A device the program uses: the context's `ordinal`-th.
uint32_t module_writer_device(module_writer_t* writer, iree_string_view_t name, uint32_t ordinal);

typedef struct module_target_desc_t {
  iree_string_view_t backend, format, description, features;
} module_target_desc_t;

// A kind of device that executables are compiled for (format.h: module_target_t). In order of preference.
uint32_t module_writer_target(module_writer_t* writer, const module_target_desc_t* desc);

// A program for devices with `point_count` entry points; then one variant for each target.
uint32_t module_writer_executable(module_writer_t* writer, iree_string_view_t name, uint32_t point_count);

typedef struct module_point_t {
  iree_string_view_t name;
  uint16_t binding_count, constant_count;
  uint32_t workgroup_size[3];
  uint32_t local_memory;
} module_point_t;

typedef struct module_variant_desc_t {
  uint32_t target;
  iree_string_view_t format;     // narrower than the target's; empty: the target's
  iree_string_view_t extension;  // of the archive entry: "so", "ptx", "hsaco", "vmvx"
  iree_const_byte_span_t data;   // borrowed until finished
  const module_point_t* points;  // as many as the executable has
} module_variant_desc_t;

void module_writer_variant(module_writer_t* writer, uint32_t executable, const module_variant_desc_t* desc);

typedef struct module_segment_t {
  iree_string_view_t entry;     // name in the archive; unique
  iree_const_byte_span_t data;  // borrowed until finished
  archive_source_t source;      // instead of data where it has a `read`
  uint32_t alignment;           // in the file; power of two from 64 to 4096
} module_segment_t;

// Read-only data as an archive entry of its own.
uint32_t module_writer_segment(module_writer_t* writer, const module_segment_t* segment);

// Makes part of a segment a device buffer when a context is created (mapped in place where the device can).
uint32_t module_writer_constant(module_writer_t* writer, uint32_t device, uint32_t segment, uint64_t offset,
                                uint64_t length);

// What a buffer view must be or becomes; `name` begins messages ("input0"); dimensions may be MODULE_DIM_DYNAMIC.
uint32_t module_writer_shape(module_writer_t* writer, iree_string_view_t name, uint32_t element_type,
                             uint32_t encoding_type, uint32_t rank, const int64_t* dims);

//===----------------------------------------------------------------------------------------------------------------===
// Command tables
//===----------------------------------------------------------------------------------------------------------------===

// A value of a table: a literal, or one of its parameters.
typedef struct module_value_t {
  bool is_param;
  uint64_t bits;  // literal, or number of the parameter
} module_value_t;

#define MODULE_LIT(x) ((module_value_t){false, (uint64_t)(x)})
#define MODULE_PARAM(k) ((module_value_t){true, (uint64_t)(k)})

typedef struct module_push_t {
  module_value_t value;
  bool high;  // the value's upper half instead of its lower
} module_push_t;

typedef struct module_binding_t {
  uint32_t slot;
  module_value_t offset, length;  // bytes; a length of MODULE_LIT(MODULE_WHOLE_BUFFER): the rest of the buffer
} module_binding_t;

typedef struct module_dispatch_t {
  uint32_t executable, entry;
  module_value_t workgroups[3];
  uint32_t push_count;
  const module_push_t* pushes;
  uint32_t binding_count;
  const module_binding_t* bindings;
} module_dispatch_t;

module_table_t* module_writer_table(module_writer_t* writer, iree_string_view_t name, uint32_t param_count);
uint32_t module_table_index(const module_table_t* table);

// A slot bound to the `argument`-th buffer operand of hal_execute, which must be `length` bytes or more. Ask once per
// argument.
uint32_t module_table_argument_slot(module_table_t* table, uint32_t argument, uint64_t length);

// A slot bound to a constant of the module.
uint32_t module_table_constant_slot(module_table_t* table, uint32_t constant);

// Commands between two barriers may run at the same time.
void module_table_dispatch(module_table_t* table, const module_dispatch_t* dispatch);
void module_table_copy(module_table_t* table, module_binding_t source, module_binding_t target);
void module_table_fill(module_table_t* table, module_binding_t target, module_value_t pattern, uint32_t pattern_length);
void module_table_update(module_table_t* table, uint32_t segment, module_value_t offset, module_binding_t target);
void module_table_barrier(module_table_t* table);

// Where the commands that follow come from.
void module_table_location(module_table_t* table, iree_string_view_t file, uint32_t line, uint32_t column);

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

typedef vm_word_t module_reg_t;   // as encoded: index, plus VM_REGISTER_REF
typedef uint32_t module_label_t;  // bound once, used anywhere in its function

// Starts a function; `convention` as in format.h: "0rI_r".
module_function_t* module_writer_function(module_writer_t* writer, iree_string_view_t name,
                                          iree_string_view_t convention);
uint32_t module_function_index(const module_function_t* function);

// The register that holds the `ordinal`-th argument (of all, in calling-convention order).
module_reg_t module_function_argument(module_function_t* function, uint32_t ordinal);

// A new register, zero or null until written.
module_reg_t module_function_register(module_function_t* function, vm_type_t type);
#define module_function_ref(function) module_function_register(function, VM_TYPE_REF)

// A register with a constant, emitted here (not shared: dominance is the caller's business).
module_reg_t module_function_i32(module_function_t* function, int32_t value);
module_reg_t module_function_i64(module_function_t* function, int64_t value);

// A reference register that nothing writes.
module_reg_t module_function_null(module_function_t* function);

module_label_t module_function_label(module_function_t* function);

// The label is here.
void module_function_bind(module_function_t* function, module_label_t label);

// Where the instructions that follow come from.
void module_function_location(module_function_t* function, iree_string_view_t file, uint32_t line, uint32_t column);

typedef enum {
  MODULE_OPERAND_REGISTER,
  MODULE_OPERAND_INTEGER,  // literals 1 2, and indices
  MODULE_OPERAND_FLOAT,    // literals 3 4
  MODULE_OPERAND_LABEL,
  MODULE_OPERAND_REGISTER_LIST,
  MODULE_OPERAND_LABEL_LIST,
  MODULE_OPERAND_INTEGER_LIST,
} module_operand_kind_t;

typedef struct module_operand_t {
  module_operand_kind_t kind;
  uint32_t count;
  union {
    module_reg_t reg;
    module_label_t label;
    int64_t integer;
    double real;
    const module_reg_t* regs;
    const module_label_t* labels;
    const int64_t* integers;
  };
} module_operand_t;

#define MODULE_REG(r) ((module_operand_t){MODULE_OPERAND_REGISTER, 1, {.reg = (r)}})
#define MODULE_IMM(x) ((module_operand_t){MODULE_OPERAND_INTEGER, 1, {.integer = (int64_t)(x)}})
#define MODULE_INDEX(i) MODULE_IMM(i)
#define MODULE_FLOAT(x) ((module_operand_t){MODULE_OPERAND_FLOAT, 1, {.real = (x)}})
#define MODULE_LABEL(l) ((module_operand_t){MODULE_OPERAND_LABEL, 1, {.label = (l)}})
#define MODULE_LIST(n, r) ((module_operand_t){MODULE_OPERAND_REGISTER_LIST, (n), {.regs = (r)}})
#define MODULE_IMMS(n, x) ((module_operand_t){MODULE_OPERAND_INTEGER_LIST, (n), {.integers = (x)}})
#define MODULE_LABELS(n, l) ((module_operand_t){MODULE_OPERAND_LABEL_LIST, (n), {.labels = (l)}})

// Appends one instruction. `op` is a name of module/ops.def; operands are MODULE_REG(…), … in signature order, results
// first. Count, kinds, register types and index ranges are checked against the row (a mismatch is a sticky INTERNAL
// error that names the function and the instruction).
#define module_emit(function, op, ...)                                                  \
  module_function_emit((function), VM_OP_##op, (const module_operand_t[]){__VA_ARGS__}, \
                       sizeof((const module_operand_t[]){__VA_ARGS__}) / sizeof(module_operand_t))
void module_function_emit(module_function_t* function, vm_op_t op, const module_operand_t* operands, size_t count);

// The same for instructions with exactly one result that is not a list: makes the result's register (for `v`: of the
// first `v` operand's type) and returns it. Operands only.
#define module_emit_value(function, op, ...)                                                  \
  module_function_emit_value((function), VM_OP_##op, (const module_operand_t[]){__VA_ARGS__}, \
                             sizeof((const module_operand_t[]){__VA_ARGS__}) / sizeof(module_operand_t))
module_reg_t module_function_emit_value(module_function_t* function, vm_op_t op, const module_operand_t* operands,
                                        size_t count);

// Runs once when a context is made, before any call; convention "0v_v".
void module_writer_initializer(module_writer_t* writer, const module_function_t* function);

// Makes a function callable as `name`, with reflection.
void module_writer_export(module_writer_t* writer, iree_string_view_t name, const module_function_t* function,
                          size_t attr_count, const module_pair_t* attrs);

// For a body whose last two arguments are the wait and the signal fence: exports it as `name$async` with the attribute
// iree.abi.model = coarse-fences, and `name`, which calls it with null fences, as an ordinary synchronous function.
void module_writer_export_pair(module_writer_t* writer, iree_string_view_t name, const module_function_t* body,
                               size_t attr_count, const module_pair_t* attrs);

#endif  // MODULE_WRITER_H_
