// What the files of the host program's emission share: where values are, and the function at work.
#ifndef IREE_C_COMPILER_HOST_STATE_H_
#define IREE_C_COMPILER_HOST_STATE_H_

#include "compiler/host.h"
#include "compiler/plan.h"
#include "dialects/graph.h"
#include "ir/context.h"

typedef enum {
  STORAGE_ARGUMENT,  // an input's buffer
  STORAGE_CONSTANT,  // read-only data of the module
  STORAGE_ARENA,     // part of the function's arena
  STORAGE_OUTPUT,    // a result's buffer
  STORAGE_GLOBAL,    // a global's buffer
  STORAGE_BUFFER,    // a buffer of its own: sizes known at run time only
  STORAGE_VIEW,      // part of another value's memory, as a buffer of its own
  STORAGE_SCALAR,    // a number: a register of the host program
} storage_kind_t;

// A buffer for values of run-time size that do not live at the same time and are equally large. Made where the first of
// them is, given back at the end of its block.
typedef struct host_slot_t {
  const ir_block_t* block;
  uint32_t last;    // moment at which it is free again
  uint32_t buffer;  // in host_t.buffers
  int64_t bytes;    // constant factor of the size
  uint32_t dim_count;
  ir_value_t* const* dims;
  bool acquired;
} host_slot_t;

typedef struct host_constant_t {
  const ir_attr_t* value;
  uint32_t index;  // in the module
} host_constant_t;

// A number that was computed in a block that is still at work: code(a, b), or the constant a.
typedef struct host_number_t {
  const ir_block_t* block;
  vm_op_t code;
  int64_t a, b;
  module_reg_t reg;
} host_number_t;

typedef struct host_global_t {
  ir_op_t* op;
  uint32_t number;  // in the module
  bool is_used;
  uint32_t buffer;   // tensors, of the function at work: in host_t.buffers
  ir_op_t** stores;  // of the function at work
  uint32_t store_count, store_capacity;
} host_global_t;

// Where a value is; at ir_value_t.data. Values that stand for the same memory (loop-carried ones) share one.
typedef struct storage_t {
  storage_kind_t kind;
  uint32_t index;        // constant row, plan entry or slot; ARGUMENT, OUTPUT, GLOBAL, VIEW: in host_t.buffers
  int64_t offset, size;  // bytes; a size of HOST_DYNAMIC is known at run time
  module_reg_t reg;      // SCALAR; of dynamic sizes: the number of bytes
  bool has_reg;
  const struct storage_t* shares;  // OUTPUT: the argument whose memory it may be, or NULL
  bool is_filled;                  // has what is there at first
  module_reg_t* dims;              // run-time sizes, one for each '?' of the type
  module_table_t* table;           // for which `slot` is valid
  uint32_t slot;
} storage_t;

// A loop's carried value that is made anew in every round, and has two places that are exchanged at its end: static
// ones are two parts of the arena, whose views change places.
typedef struct host_pair_t {
  storage_t* home[2];  // ARENA, or NULL
  storage_t *current, *next;
  bool changes;  // in size: `current` has new memory after every round, `next` is NULL
} host_pair_t;

// First and last moment of an op, regions included; at ir_op_t.data.
typedef struct span_t {
  uint32_t first, last;
  struct span_t* part;  // of a dispatch: from the first to the last of those that need not wait for one another
  host_pair_t* pairs;   // of a loop: one for each carried value; `next` is NULL for those that have one place
} span_t;

typedef struct access_t {
  uint32_t place;  // in host_t.buffers
  int64_t first, end;
  bool writes;
} access_t;

enum { HOST_MAX_PARAMS = 128, HOST_MAX_BUFFERS = 1024, HOST_DYNAMIC = -1, HOST_MAX_SIZES = 256 };
// Bytes of one buffer: what addresses have room for.
#define HOST_MAX_BYTES ((int64_t)1 << 47)

typedef struct host_t {
  ir_context_t* ctx;
  ir_op_t* module;
  module_writer_t* writer;
  uint32_t device, executable;
  const uint32_t* objects;
  host_options_t options;
  uint32_t constant_count, table_count, host_buffer_count;
  ir_set_t constants;  // host_constant_t: those of the module, each once
  host_memory_t memory;
  bool failed;
  // The function at work
  ir_op_t* func;
  ir_op_t* own;  // that of the first program
  const char* name;
  const ir_type_t* abi;  // the signature that callers see
  ir_block_t* body;
  module_function_t* f;
  module_reg_t stream;
  bool has_stream;  // functions of numbers alone need none
  plan_value_t* plan;
  uint32_t plan_count, plan_capacity;
  int64_t arena_size;
  module_reg_t* buffers;  // arguments of every hal_execute: arena (if any), inputs, outputs, globals, slots
  uint32_t buffer_count, buffer_capacity, arena_buffer;
  storage_t** outputs;  // of tensors that are results
  bool has_state;       // mutable globals
  host_global_t* globals;
  ir_set_t global_names;  // host_global_t
  uint32_t global_count;
  bool has_parameters;        // some globals come from archives:
  uint32_t parameter_import;  // what gives them
  uint32_t* initializers;     // functions of the module
  uint32_t initializer_count;
  host_slot_t* slots;
  uint32_t slot_count, slot_capacity;
  // The command table being filled, or NULL
  module_table_t* table;
  access_t* accesses;  // since the last barrier
  uint32_t access_count, access_capacity;
  module_reg_t params[HOST_MAX_PARAMS];
  uint32_t param_count, param_room;
  uint32_t table_buffers[HOST_MAX_BUFFERS];  // its arguments, as indices into `buffers`
  uint32_t table_buffer_count;
  const ir_block_t* block;  // at work
  ir_set_t numbers;         // host_number_t
  module_reg_t scratch[3];  // for what is needed at once only
  bool has_scratch;
} host_t;

// Whether it is made wherever one wants to have it.
static inline bool host_has_own_place(const ir_value_t* value) {
  return value->def && ir_is(value->def, GRAPH_DISPATCH) && graph_in_place(value->def) < 0;
}
static inline int64_t host_tensor_bytes(const ir_type_t* type) {
  if (!ir_type_is_static(type)) return HOST_DYNAMIC;
  return ir_type_count(type) * ir_type_bytes(type->element);
}
static inline iree_string_view_t host_view(const char* text) { return iree_make_cstring_view(text); }

// Loops (host_loop.c): storage of carried values, of which `storage_new` etc. make the rest, and instructions.
void host_pair_carried(host_t* h, ir_op_t* op);
void host_place_pairs(host_t* h, ir_op_t* op);
void host_emit_while(host_t* h, ir_op_t* op);
// Dynamic slices and updates that are one piece of memory (passes/windows.c).
void host_emit_window_read(host_t* h, ir_op_t* op);
void host_emit_window_write(host_t* h, ir_op_t* op);

// Arguments as memory for results (host_donation.c): an attribute of argument `number`; the result that it is memory
// for, and the argument whose memory that may be, or -1.
const ir_attr_t* host_argument_attr(const host_t* h, uint32_t number, const char* name);
int64_t host_result_of(const host_t* h, uint32_t number);
int64_t host_donor_of(const host_t* h, uint32_t number);
// Finds the argument in whose memory a result can be (storage_t.shares).
void host_share_argument(const host_t* h, uint32_t result, storage_t* output);
// The result that changes an argument's contents in place.
storage_t* host_changed_argument(const host_t* h, const storage_t* argument);
// Code for such a result's buffer: that in argument `number`, or where there is none a new one.
void host_take_or_allocate(host_t* h, const storage_t* output, uint32_t number);

// Gives every value of the function its storage and plans the arena (host_storage.c).
void host_assign_storage(host_t* h);
// When an op of the function begins and ends, regions included, once that is done.
uint32_t host_op_begins(const ir_op_t* op);
uint32_t host_op_ends(const ir_op_t* op);
void host_clear_data(ir_block_t* block);

uint32_t host_add_buffer(host_t* h);
storage_t* host_storage_new(host_t* h, const ir_value_t* value, storage_kind_t kind);
// From where an op's result is made to its last use.
span_t host_span_alive(const ir_value_t* value);
// Memory for a value from one moment to another: part of the arena, or a slot of `block` for run-time sizes.
storage_t* host_storage_alive(host_t* h, const ir_value_t* value, const ir_block_t* block, const span_t* alive);
// The storage's place in h->buffers.
uint32_t host_buffer_of(const host_t* h, const storage_t* s);
// How many arguments or results of the body make one of the signature: the bytes of a packed tensor come with the sizes
// that its type leaves open (pass_boundary).
uint32_t host_abi_parts(const ir_type_t* type);
// The run-time sizes of a dispatch's, an if's or a while's result, by its attribute `sizes`, which lists them for each
// '?' of the operands (dispatches only) and then of the results, in order; NULL for one that a while does not change.
// False without the attribute.
bool host_result_sizes(const ir_value_t* result, ir_value_t** out);
// Whether sizes of an if's or while's result are results of it, too.
bool host_size_changes(const ir_value_t* result);
// Sizes and number of bytes of a value whose type has '?', from registers with the former.
void host_set_dims(host_t* h, storage_t* s, const ir_type_t* type, const module_reg_t* dims);

// Globals (host_global.c): rows of the module; then, behind all functions, what gives them their first contents and
// calls the initializers noted until then.
void host_emit_globals(host_t* h);
void host_add_initializer(host_t* h, const module_function_t* f);
void host_emit_initializer(host_t* h);
host_global_t* host_find_global(host_t* h, const ir_op_t* access);
// Finds out which globals the function uses and gives tensors their place among its buffers. True when one of them is
// mutable. host_load_globals then fills the places.
bool host_find_globals(host_t* h);
void host_load_globals(host_t* h);

// Arithmetic on 64 bits (host_number.c), done once in a block; and whether it was done before.
module_reg_t host_number_constant(host_t* h, int64_t value);
module_reg_t host_number_binary(host_t* h, vm_op_t code, module_reg_t a, module_reg_t b);
bool host_number_is_known(const host_t* h, vm_op_t code, module_reg_t a, module_reg_t b);

// Numbers (host_scalar.c). The register type of a number, or false.
bool host_scalar_type(const ir_type_t* type, vm_type_t* out);
module_reg_t host_scalar_reg(host_t* h, ir_value_t* value);
void host_scalar_set(ir_value_t* value, module_reg_t reg);
module_reg_t host_scalar_new(host_t* h, const ir_type_t* type);
void host_scalar_move(host_t* h, module_reg_t target, module_reg_t source, const ir_type_t* type);
// The register type in which numbers of a type come and go: arguments, results, globals, other modules' functions.
bool host_outer_type(const host_t* h, const ir_type_t* type, vm_type_t* out);
// From such a register to the program's own; and back, where the program checks that the number fits. One that is known
// not to fit is an error of `op`.
module_reg_t host_scalar_enter(host_t* h, const ir_type_t* type, module_reg_t outer);
module_reg_t host_scalar_leave(host_t* h, const ir_op_t* op, ir_value_t* value);
// Whether `op` may give a number of the type away; else an error.
bool host_scalar_fits(host_t* h, const ir_op_t* op, const ir_type_t* type, int64_t value);
// The scalar function as instructions; false when the VM has none.
bool host_scalar_emit(host_t* h, ir_op_t* op);

// Other modules (host_import.c).
void host_emit_import(host_t* h, ir_op_t* op);
void host_emit_import_resolved(host_t* h, ir_op_t* op);
void host_emit_buffer(host_t* h, ir_op_t* op);
// What a buffer view of the type must be or becomes; messages name it by prefix and number.
uint32_t host_shape(host_t* h, const char* prefix, uint32_t number, const ir_type_t* type);
bool host_has_element_type(const ir_type_t* scalar);
char host_convention_letter(const host_t* h, const ir_type_t* type);

// Emits the ops of a block up to its terminator, and stays in it (host_t.block; host_block.c). Work still in the table
// is submitted by host_flush.
void host_emit_block(host_t* h, ir_block_t* block);
void host_flush(host_t* h);
// Gives back the buffers that the block's values had.
void host_release_slots(host_t* h, const ir_block_t* block);
// A condition: a number, or a tensor of one.
module_reg_t host_condition(host_t* h, ir_value_t* value);
// Registers for results of control flow that are numbers; memory for those of run-time size.
void host_bring_results(host_t* h, ir_op_t* op);
// Memory for a slot, once; of as many bytes as `s` has.
void host_acquire_slot(host_t* h, const storage_t* s);
// Moves the numbers among a region's yielded values to registers.
void host_move_numbers(host_t* h, ir_op_t* yield, const module_reg_t* targets, uint32_t count);
// Copies one value's bytes to another's storage, in the current table.
void host_copy(host_t* h, storage_t* from, storage_t* to);

#endif  // IREE_C_COMPILER_HOST_STATE_H_
