// See host.h. The function around its ops: views come in, buffers go through command tables, views go out.
#include <string.h>

#include "base/memory.h"
#include "compiler/host_state.h"
#include "iree/hal/buffer_view.h"

//===----------------------------------------------------------------------------------------------------------------===
// Types
//===----------------------------------------------------------------------------------------------------------------===

static uint32_t float_element_type(ir_float_kind_t kind) {
  static const uint32_t types[IR_FLOAT_COUNT] = {
#define FORMAT(NAME, text, bits, bytes, exponent, mantissa, bias, specials, element) IREE_HAL_ELEMENT_TYPE_##element,
#include "base/formats.def"
#undef FORMAT
  };
  return types[kind];
}

// NONE: there is no such type.
static uint32_t element_type(const ir_type_t* scalar) {
  if (scalar->kind == IR_TYPE_FLOAT) return float_element_type(scalar->float_kind);
  if (scalar->kind == IR_TYPE_INDEX) return IREE_HAL_ELEMENT_TYPE_INT_64;
  if (scalar->kind == IR_TYPE_COMPLEX) {
    bool known = scalar->element->kind == IR_TYPE_FLOAT && scalar->element->width >= 32;
    return known ? IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_FLOAT_COMPLEX, 2 * scalar->element->width)
                 : IREE_HAL_ELEMENT_TYPE_NONE;
  }
  if (scalar->kind != IR_TYPE_INTEGER) return IREE_HAL_ELEMENT_TYPE_NONE;
  if (scalar->width == 1) return IREE_HAL_ELEMENT_TYPE_BOOL_8;
  uint32_t numerical = scalar->sign == IR_SIGNED     ? IREE_HAL_NUMERICAL_TYPE_INTEGER_SIGNED
                       : scalar->sign == IR_UNSIGNED ? IREE_HAL_NUMERICAL_TYPE_INTEGER_UNSIGNED
                                                     : IREE_HAL_NUMERICAL_TYPE_INTEGER;
  return IREE_HAL_ELEMENT_TYPE_VALUE(numerical, scalar->width < 8 ? scalar->width : ir_type_bytes(scalar) * 8);
}

bool host_has_element_type(const ir_type_t* scalar) { return element_type(scalar) != IREE_HAL_ELEMENT_TYPE_NONE; }

uint32_t host_shape(host_t* h, const char* prefix, uint32_t number, const ir_type_t* type) {
  int64_t dims[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < type->rank; ++i) dims[i] = type->dims[i] == IR_DYNAMIC ? MODULE_DIM_DYNAMIC : type->dims[i];
  const char* name = arena_printf(ir_context_arena(h->ctx), "%s%u", prefix, number);
  return module_writer_shape(h->writer, host_view(name), element_type(type->element),
                             IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, (uint32_t)type->rank, dims);
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

static bool check_type(host_t* h, const ir_op_t* op, const char* what, uint32_t i, const ir_type_t* type) {
  vm_type_t vm;
  if (ir_type_is_tensor(type) || host_scalar_type(type, &vm)) return true;
  return ir_op_error(h->ctx, op, "has %s %u of type %s; tensors, integers, f32 and f64 can be compiled", what, i,
                     ir_type_str(h->ctx, type));
}

// Numbers inside must fit registers, and tensors have sizes that the host can compute.
static bool check_block(host_t* h, ir_block_t* block) {
  IR_FOR_OPS(op, block) {
    ir_value_t* sizes[GRAPH_MAX_RANK];
    for (uint32_t i = 0; i < op->result_count; ++i) {
      const ir_type_t* type = op->results[i].type;
      if (!check_type(h, op, "result", i, type)) return false;
      bool sized = !ir_type_is_tensor(type) || ir_type_is_static(type) || ir_is(op, GRAPH_WHILE) ||
                   graph_is_window(op) || ir_is(op, GRAPH_CALL_IMPORT) || host_result_sizes(ir_result(op, i), sizes);
      if (!sized) {
        return ir_op_error(h->ctx, op, "has a result of type %s, whose run-time sizes are not known",
                           ir_type_str(h->ctx, type));
      }
    }
    for (uint32_t r = 0; !ir_is(op, GRAPH_DISPATCH) && r < op->region_count; ++r) {
      if (!check_block(h, op->regions[r].first)) return false;
    }
  }
  return true;
}

// The function's arguments or results.
typedef struct inside_t {
  ir_value_t* const* args;
  const ir_op_t* end;
  uint32_t count;
} inside_t;

static const ir_type_t* inside_type(const inside_t* x, uint32_t i) {
  return i >= x->count ? NULL : x->args ? x->args[i]->type : ir_operand(x->end, i)->type;
}

// How a number enters and leaves: in the register that is wide enough (pass_numbers).
static bool passed_type(const host_t* h, const ir_type_t* type, vm_type_t* out) {
  bool is_float = type->kind == IR_TYPE_FLOAT && type->float_kind != IR_TF32;
  if (is_float) return *out = type->width == 64 ? VM_TYPE_F64 : VM_TYPE_F32, true;
  if (type->kind != IR_TYPE_INTEGER || type->width > 64) return host_outer_type(h, type, out);
  return *out = type->width > 32 ? VM_TYPE_I64 : VM_TYPE_I32, true;
}

// Bytes that hold packed elements have another shape; complex numbers one dimension less than their parts. What is only
// passed through is a view (pass_through.h).
static bool kept_fits(const host_t* h, const ir_type_t* kept, const ir_type_t* own) {
  vm_type_t x, y;
  if (ir_type_is_tensor(kept) && own->kind == IR_TYPE_OPAQUE) return true;
  if (ir_type_is_tensor(kept) != ir_type_is_tensor(own)) return false;
  if (!ir_type_is_tensor(kept)) return passed_type(h, kept, &x) && host_outer_type(h, own, &y) && x == y;
  bool complex = kept->element->kind == IR_TYPE_COMPLEX;
  return ir_type_is_packed(kept->element) || kept->rank + complex == own->rank;
}

// A signature that was kept for callers tells of what the function has: as many tensors of the same ranks, and numbers.
static bool check_kept(host_t* h, const char* what, const ir_type_t* const* types, uint32_t count, inside_t inside) {
  uint32_t first = 0;
  bool fits = true;
  for (uint32_t i = 0; fits && i < count; ++i) {
    const ir_type_t* own = inside_type(&inside, first);
    vm_type_t number;
    if (!ir_type_is_tensor(types[i]) && !passed_type(h, types[i], &number)) {
      return ir_op_error(h->ctx, h->func, "has %s %u of type %s; integers of up to 64 bits and floats can be passed",
                         what, i, ir_type_str(h->ctx, types[i]));
    }
    fits = own && kept_fits(h, types[i], own);
    first += host_abi_parts(types[i]);
  }
  return (fits && first == inside.count) ||
         ir_op_error(h->ctx, h->func, "has an iree.abi.type whose %ss are not the function's", what);
}

// Tensors that leave and enter need an element type that the HAL can name.
static bool check_signature(host_t* h, const char* what, const ir_type_t* const* types, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (!ir_type_is_shaped(types[i]) || element_type(types[i]->element) != IREE_HAL_ELEMENT_TYPE_NONE) continue;
    return ir_op_error(h->ctx, h->func, "has %s %u of type %s, whose elements have no element type outside", what, i,
                       ir_type_str(h->ctx, types[i]));
  }
  return true;
}

// The argument that is the memory for everything between arguments and results; false where the function has its own.
static bool find_transients(const host_t* h, uint32_t* out_number) {
  for (uint32_t i = 0; i < h->abi->input_count; ++i) {
    *out_number = i;
    if (host_argument_attr(h, i, "iree.abi.transients")) return true;
  }
  return false;
}

static bool check_transients(host_t* h) {
  uint32_t number, first = 0;
  if (!find_transients(h, &number)) return true;
  for (uint32_t i = 0; i < number; ++i) first += host_abi_parts(h->abi->inputs[i]);
  bool fits = host_convention_letter(h, h->abi->inputs[number]) == 'r' && !ir_type_is_tensor(h->abi->inputs[number]);
  for (uint32_t i = number + 1; i < h->abi->input_count; ++i) fits &= !host_argument_attr(h, i, "iree.abi.transients");
  return (fits && !h->body->args[first]->uses) ||
         ir_op_error(
             h->ctx, h->func,
             "has argument %u for transient memory, which must be the only one, a !hal.buffer that nothing reads",
             number);
}

// Whether argument `number` is for what may be in the memory of another, which is as large.
static bool check_donor(const host_t* h, uint32_t number) {
  int64_t donor = host_donor_of(h, number);
  if (!host_argument_attr(h, number, "iree.abi.donor")) return true;
  const ir_type_t* type = donor >= 0 && donor < h->abi->input_count ? h->body->args[donor]->type : NULL;
  return type && host_result_of(h, (uint32_t)donor) < 0 && ir_type_is_tensor(type) && ir_type_is_static(type) &&
         host_tensor_bytes(type) == host_tensor_bytes(h->body->args[number]->type);
}

// Memory for results that callers bring: of known size, read by nobody.
static bool check_result_storage(host_t* h) {
  const ir_op_t* end = h->body->last;
  bool parts = h->abi->input_count != h->body->arg_count || h->abi->result_count != end->operand_count;
  for (uint32_t i = 0; i < h->abi->input_count; ++i) {
    int64_t result = host_result_of(h, i);
    if (result < 0) continue;
    bool fits = !parts && result < h->abi->result_count && ir_type_is_tensor(h->body->args[i]->type) &&
                !h->body->args[i]->uses && ir_type_is_static(ir_operand(end, (uint32_t)result)->type) &&
                check_donor(h, i);
    for (uint32_t k = 0; k < i; ++k) fits &= host_result_of(h, k) != result;
    if (fits) continue;
    return ir_op_error(
        h->ctx, h->func,
        "has argument %u for result %lld, which must be an argument of its own that nothing reads, for a "
        "tensor of static shape",
        i, (long long)result);
  }
  return true;
}

static bool check_function(host_t* h) {
  inside_t arguments = {.args = h->body->args, .count = h->body->arg_count};
  inside_t results = {.end = h->body->last, .count = h->body->last->operand_count};
  if (!check_kept(h, "argument", h->abi->inputs, h->abi->input_count, arguments) ||
      !check_kept(h, "result", h->abi->results, h->abi->result_count, results) ||
      !check_signature(h, "argument", h->abi->inputs, h->abi->input_count) ||
      !check_signature(h, "result", h->abi->results, h->abi->result_count)) {
    return false;
  }
  for (uint32_t i = 0; i < h->body->arg_count; ++i) {
    if (!check_type(h, h->func, "argument", i, h->body->args[i]->type)) return false;
  }
  return check_result_storage(h) && check_transients(h) && check_block(h, h->body);
}

// Fences are part of the signature: one to wait for and one to signal.
static bool has_fences(const ir_op_t* func) {
  return strcmp(ir_op_string(func, "iree.abi.model", ""), "coarse-fences") == 0;
}

static const char* declaration(host_t* h, const char* name, const ir_type_t* type) {
  text_t text = {0};
  text_printf(&text, "%s func @%s(", has_fences(h->func) ? "async" : "sync", name);
  for (uint32_t i = 0; i < type->input_count; ++i) {
    text_printf(&text, "%s%%input%u: %s", i ? ", " : "", i, ir_type_str(h->ctx, type->inputs[i]));
  }
  text_puts(&text, ") -> (");
  for (uint32_t i = 0; i < type->result_count; ++i) {
    text_printf(&text, "%s%%output%u: %s", i ? ", " : "", i, ir_type_str(h->ctx, type->results[i]));
  }
  text_puts(&text, ")");
  char* result = arena_strndup(ir_context_arena(h->ctx), text.data, text.size);
  text_finish(&text);
  return result;
}

// The bytes that packed elements of these sizes take.
static module_reg_t packed_bytes(host_t* h, const ir_type_t* type, const module_reg_t* dims) {
  int64_t bits = type->element->width;
  for (int32_t d = 0; d < type->rank; ++d) bits *= type->dims[d] == IR_DYNAMIC ? 1 : type->dims[d];
  module_reg_t total = module_function_i64(h->f, bits);
  for (uint32_t d = 0; d < ir_type_open_dims(type); ++d) {
    total = module_emit_value(h->f, i64_mul, MODULE_REG(total), MODULE_REG(dims[d]));
  }
  total = module_emit_value(h->f, i64_add, MODULE_REG(total), MODULE_REG(module_function_i64(h->f, 7)));
  return module_emit_value(h->f, i64_div_u, MODULE_REG(total), MODULE_REG(module_function_i64(h->f, 8)));
}

// Argument `number` of the signature, which starts at `first` in the body.
static void unwrap_argument(host_t* h, uint32_t number, uint32_t first) {
  const ir_type_t* type = h->abi->inputs[number];
  if (host_result_of(h, number) >= 0) return;
  ir_value_t** args = &h->body->args[first];
  storage_t* s = args[0]->data;
  uint32_t shape = host_shape(h, "input", number, type), count = ir_type_open_dims(type);
  module_reg_t dims[GRAPH_MAX_RANK];
  for (uint32_t d = 0; d < count; ++d) dims[d] = module_function_register(h->f, VM_TYPE_I64);
  module_emit(h->f, hal_view_unwrap, MODULE_REG(h->buffers[s->index]), MODULE_LIST(count, dims),
              MODULE_REG(module_function_argument(h->f, number)), MODULE_INDEX(shape));
  if (host_abi_parts(type) > 1) {
    for (uint32_t d = 0; d < count; ++d) host_scalar_set(args[1 + d], dims[d]);
    dims[0] = packed_bytes(h, type, dims);
  }
  if (count) host_set_dims(h, s, args[0]->type, dims);
}

// There is an asynchronous function, `f$async` unless `f` itself is it.
static bool is_async(const ir_op_t* func) {
  if (ir_op_attr(func, "iree.abi.async") || has_fences(func)) return true;
  for (uint32_t i = 0; i < func->attr_count; ++i) {
    if (strncmp(func->attrs[i].name, "torch.onnx_meta.", 16) == 0) return true;
  }
  return false;
}

// Whether the block has anything to do with a device.
static bool uses_tensors(const ir_block_t* block) {
  for (uint32_t i = 0; i < block->arg_count; ++i) {
    if (ir_type_is_tensor(block->args[i]->type)) return true;
  }
  IR_FOR_OPS(op, block) {
    if (ir_is(op, GRAPH_CALL_IMPORT) && (graph_get_device(op) || graph_get_fences(op))) return true;
    for (uint32_t i = 0; i < op->operand_count; ++i) {
      if (ir_type_is_tensor(ir_operand(op, i)->type)) return true;
    }
    for (uint32_t i = 0; i < op->result_count; ++i) {
      if (ir_type_is_tensor(op->results[i].type)) return true;
    }
    for (uint32_t r = 0; r < op->region_count; ++r) {
      if (uses_tensors(op->regions[r].first)) return true;
    }
  }
  return false;
}

static bool is_exported(const ir_op_t* func) {
  return strcmp(func->name, "func.func") == 0 && func->regions[0].first &&
         strcmp(ir_op_string(func, "sym_visibility", "public"), "private") != 0;
}

static bool uses_device(ir_op_t* module) {
  IR_FOR_OPS(op, ir_module_body(module)) {
    if (ir_is(op, GRAPH_GLOBAL) && ir_type_is_tensor(graph_get_type(op)->type)) return true;
    if (is_exported(op) && (is_async(op) || uses_tensors(op->regions[0].first))) return true;
  }
  return false;
}

// Memory that the caller brings in argument `number`.
static void take_buffer(host_t* h, uint32_t number, module_reg_t buffer, module_reg_t size) {
  const char* name = arena_printf(ir_context_arena(h->ctx), "input%u", number);
  module_operand_t argument = MODULE_REG(module_function_argument(h->f, number));
  module_emit(h->f, hal_buffer_check, argument, MODULE_REG(size),
              MODULE_INDEX(module_writer_string(h->writer, host_view(name))));
  module_emit(h->f, mov_ref, MODULE_REG(buffer), argument);
}

// The result's own memory, or that of the argument which is for it.
static void bring_output(host_t* h, uint32_t i, const ir_type_t* type) {
  module_reg_t buffer = h->buffers[h->outputs[i]->index], size = module_function_i64(h->f, host_tensor_bytes(type));
  for (uint32_t k = 0; k < h->abi->input_count; ++k) {
    if (host_result_of(h, k) != i) continue;
    if (host_donor_of(h, k) < 0) return take_buffer(h, k, buffer, size);
    if (h->outputs[i]->shares) return host_take_or_allocate(h, h->outputs[i], k);
  }
  module_emit(h->f, hal_alloca, MODULE_REG(buffer), MODULE_REG(h->stream), MODULE_REG(size));
}

static void bring_arena(host_t* h) {
  uint32_t number;
  module_reg_t buffer = h->buffers[h->arena_buffer], size = module_function_i64(h->f, h->arena_size);
  if (find_transients(h, &number)) return take_buffer(h, number, buffer, size);
  module_emit(h->f, hal_transient_acquire, MODULE_REG(buffer), MODULE_REG(h->stream), MODULE_REG(size));
}

static void begin_body(host_t* h, bool async) {
  uint32_t inputs = h->abi->input_count, outputs = h->body->last->operand_count;
  for (uint32_t i = 0, first = 0; i < inputs; ++i) {
    if (ir_type_is_tensor(h->body->args[first]->type)) unwrap_argument(h, i, first);
    first += host_abi_parts(h->abi->inputs[i]);
  }
  h->has_stream = async || uses_tensors(h->body);
  if (!h->has_stream) return host_load_globals(h);
  module_reg_t wait = async ? module_function_argument(h->f, inputs) : module_function_null(h->f);
  h->stream = module_function_ref(h->f);
  module_emit(h->f, hal_stream_begin, MODULE_REG(h->stream), MODULE_INDEX(h->device), MODULE_REG(wait),
              MODULE_IMM(h->has_state));
  host_load_globals(h);
  if (h->arena_size) bring_arena(h);
  for (uint32_t i = 0; i < outputs; ++i) {
    const ir_type_t* type = ir_operand(h->body->last, i)->type;
    if (ir_type_is_tensor(type) && ir_type_is_static(type)) bring_output(h, i, type);
  }
}

// Results that are not a dispatch's own are copied.
static void copy_output(host_t* h, uint32_t i) {
  ir_value_t* value = ir_operand(h->body->last, i);
  storage_t *s = value->data, *output = h->outputs[i];
  if (s == output) return;
  if (!ir_type_is_static(value->type)) {
    host_flush(h);
    host_set_dims(h, output, value->type, s->dims);
    module_emit(h->f, hal_alloca, MODULE_REG(h->buffers[output->index]), MODULE_REG(h->stream),
                MODULE_REG(output->reg));
  }
  host_copy(h, s, output);
}

// Result `number` of the signature, which starts at `first` among those of the body.
static module_reg_t wrap_output(host_t* h, uint32_t number, uint32_t first) {
  const ir_type_t *type = ir_operand(h->body->last, first)->type, *abi = h->abi->results[number];
  const storage_t* s = h->outputs[first];
  uint32_t shape = host_shape(h, "output", number, abi);
  module_reg_t view = module_function_ref(h->f), dims[GRAPH_MAX_RANK];
  uint32_t open = 0, next = 0;  // the signature may leave sizes open that are known here
  bool packed = host_abi_parts(abi) > 1;
  for (int32_t d = 0; d < abi->rank; ++d) {
    bool known = !packed && type->dims[d] != IR_DYNAMIC;
    if (abi->dims[d] == IR_DYNAMIC) {
      dims[open++] = known    ? module_function_i64(h->f, type->dims[d])
                     : packed ? host_scalar_reg(h, ir_operand(h->body->last, first + 1 + next))
                              : s->dims[next];
    }
    next += packed ? abi->dims[d] == IR_DYNAMIC : !known;
  }
  module_emit(h->f, hal_view_create, MODULE_REG(view), MODULE_REG(h->buffers[s->index]), MODULE_INDEX(shape),
              MODULE_LIST(open, dims));
  return view;
}

static void end_body(host_t* h, bool async) {
  uint32_t inputs = h->abi->input_count, outputs = h->abi->result_count;
  for (uint32_t i = 0; i < h->body->last->operand_count; ++i) {
    if (h->outputs[i]) copy_output(h, i);
  }
  host_flush(h);
  host_release_slots(h, h->body);
  uint32_t number;
  if (h->arena_size && !find_transients(h, &number)) {
    module_emit(h->f, hal_transient_release, MODULE_REG(h->stream), MODULE_REG(h->buffers[h->arena_buffer]));
  }
  if (h->has_stream) {
    module_reg_t signal = async ? module_function_argument(h->f, inputs + 1) : module_function_null(h->f);
    module_emit(h->f, hal_stream_end, MODULE_REG(h->stream), MODULE_REG(signal));
  }
  module_reg_t* results = ARENA_ARRAY(ir_context_arena(h->ctx), module_reg_t, outputs + 1);
  for (uint32_t i = 0, first = 0; i < outputs; ++i) {
    ir_value_t* value = ir_operand(h->body->last, first);
    results[i] = h->outputs[first] ? wrap_output(h, i, first) : host_scalar_leave(h, h->func, value);
    first += host_abi_parts(h->abi->results[i]);
  }
  module_emit(h->f, return, MODULE_LIST(outputs, results));
}

char host_convention_letter(const host_t* h, const ir_type_t* type) {
  static const char letters[] = {
#define VM_TYPE(NAME, letter, name, size) letter,
      VM_TYPES(VM_TYPE)
#undef VM_TYPE
  };
  vm_type_t vm = VM_TYPE_REF;
  if (!ir_type_is_tensor(type)) passed_type(h, type, &vm);
  return letters[vm];
}

static const char* calling_convention(host_t* h, bool async) {
  text_t text = {0};
  uint32_t arguments = h->abi->input_count, results = h->abi->result_count;
  text_puts(&text, "0");
  for (uint32_t i = 0; i < arguments; ++i) text_printf(&text, "%c", host_convention_letter(h, h->abi->inputs[i]));
  if (async) text_puts(&text, "rr");
  text_puts(&text, arguments || async ? "_" : "v_");
  for (uint32_t i = 0; i < results; ++i) text_printf(&text, "%c", host_convention_letter(h, h->abi->results[i]));
  if (!results) text_puts(&text, "v");
  char* result = arena_strndup(ir_context_arena(h->ctx), text.data, text.size);
  text_finish(&text);
  return result;
}

static void add_bytes(host_t* h, const ir_type_t* type, int64_t* bytes) {
  if (!ir_type_is_tensor(type)) return;
  if (ir_type_is_static(type)) {
    *bytes += host_tensor_bytes(type);
  } else {
    h->memory.is_least = true;
  }
}

// Keeps the function that takes most memory at a time.
static void note_memory(host_t* h) {
  host_memory_t own = {.function = h->name, .temporaries = h->arena_size};
  const ir_op_t* terminator = h->body->last;
  for (uint32_t i = 0; i < h->body->arg_count; ++i) add_bytes(h, h->body->args[i]->type, &own.arguments);
  for (uint32_t i = 0; i < terminator->operand_count; ++i) {
    add_bytes(h, ir_operand(terminator, i)->type, &own.results);
  }
  h->memory.is_least |= h->slot_count != 0;
  int64_t most = h->memory.temporaries + h->memory.arguments + h->memory.results;
  if (h->memory.function && own.temporaries + own.arguments + own.results <= most) return;
  own.constants = h->memory.constants;
  own.is_least = h->memory.is_least;
  h->memory = own;
}

// The function's body as a function of the module.
static void emit_body(host_t* h, const char* name, bool async) {
  h->table_count = 0;
  h->f = module_writer_function(h->writer, host_view(name), host_view(calling_convention(h, async)));
  h->block = h->body;
  ir_set_finish(&h->numbers);
  h->numbers = (ir_set_t){0};
  h->has_scratch = false;
  host_assign_storage(h);
  note_memory(h);
  uint32_t number;
  if (h->slot_count && find_transients(h, &number) && !h->failed) {
    ir_op_error(h->ctx, h->func,
                "has argument %u for transient memory, but needs memory whose size only the arguments tell", number);
    h->failed = true;
  }
  begin_body(h, async);
  host_emit_block(h, h->body);
  end_body(h, async);
}

// Calls the body for the target that the device uses.
static void emit_choice(host_t* h, const char* name, bool async, module_function_t* const* bodies, uint32_t count) {
  uint32_t arguments = h->abi->input_count + (async ? 2 : 0), results = h->abi->result_count;
  module_function_t* f = module_writer_function(h->writer, host_view(name), host_view(calling_convention(h, async)));
  arena_t* arena = ir_context_arena(h->ctx);
  module_reg_t *in = ARENA_ARRAY(arena, module_reg_t, arguments + 1),
               *out = ARENA_ARRAY(arena, module_reg_t, results + 1);
  module_label_t* labels = ARENA_ARRAY(arena, module_label_t, count);
  for (uint32_t i = 0; i < arguments; ++i) in[i] = module_function_argument(f, i);
  for (uint32_t i = 0; i < results; ++i) {
    const ir_type_t* type = h->abi->results[i];
    vm_type_t vm = VM_TYPE_REF;
    if (!ir_type_is_tensor(type)) passed_type(h, type, &vm);
    out[i] = module_function_register(f, vm);
  }
  for (uint32_t i = 0; i < count; ++i) labels[i] = module_function_label(f);
  module_reg_t target = module_emit_value(f, hal_target, MODULE_INDEX(h->device));
  module_emit(f, switch, MODULE_REG(target), MODULE_LABEL(labels[0]), MODULE_LABELS(count, labels));
  for (uint32_t i = 0; i < count; ++i) {
    module_function_bind(f, labels[i]);
    module_emit(f, call, MODULE_LIST(results, out), MODULE_INDEX(module_function_index(bodies[i])),
                MODULE_LIST(arguments, in));
    module_emit(f, return, MODULE_LIST(results, out));
  }
  h->f = f;
}

// `index`: which of the module's functions; the same in every program.
static void begin_function(host_t* h, const host_program_t* program, uint32_t index) {
  h->executable = program->executable;
  h->objects = program->objects;
  if (program->module == h->module) {
    h->func = h->own;
  } else {
    h->func = ir_module_body(program->module)->first;
    while (index-- > 0) h->func = h->func->next;
  }
  h->body = h->func->regions[0].first;
}

// What the function tells callers: its declaration, its model when it has fences itself, how much transient memory they
// must bring (on the device that takes most), and the strings of the attribute `iree.reflection`.
static const module_pair_t* reflection(host_t* h, int64_t transient_bytes, size_t* out_count) {
  const ir_attr_t* more = ir_op_attr(h->func, "iree.reflection");
  uint32_t more_count = more && more->kind == IR_ATTR_DICT ? more->count : 0;
  module_pair_t* pairs = ARENA_ARRAY(ir_context_arena(h->ctx), module_pair_t, more_count + 3);
  size_t count = 0;
  pairs[count++] = (module_pair_t){host_view("iree.abi.declaration"), host_view(declaration(h, h->name, h->abi))};
  if (has_fences(h->func)) pairs[count++] = (module_pair_t){host_view("iree.abi.model"), host_view("coarse-fences")};
  uint32_t number;
  if (find_transients(h, &number)) {
    const char* size = arena_printf(ir_context_arena(h->ctx), "%lld", (long long)transient_bytes);
    pairs[count++] = (module_pair_t){host_view("iree.abi.transients.size.constant"), host_view(size)};
  }
  for (uint32_t i = 0; i < more_count; ++i) {
    const ir_named_attr_t* entry = &more->entries[i];
    bool taken = false;
    for (size_t k = 0; k < count; ++k) taken |= iree_string_view_equal(pairs[k].key, host_view(entry->name));
    if (entry->value->kind == IR_ATTR_STRING && !taken) {
      pairs[count++] = (module_pair_t){host_view(entry->name), {entry->value->text, entry->value->size}};
    }
  }
  *out_count = count;
  return pairs;
}

static void emit_function(host_t* h, const host_program_t* programs, uint32_t count, uint32_t index) {
  arena_t* arena = ir_context_arena(h->ctx);
  const char* exported = h->name;
  bool async = is_async(h->func);
  const char* inner = async && !has_fences(h->func) ? arena_printf(arena, "%s$async", h->name) : h->name;
  module_function_t** bodies = ARENA_ARRAY(arena, module_function_t*, count);
  int64_t transient_bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    begin_function(h, &programs[i], index);
    const char* name = count > 1 ? arena_printf(arena, "%s$target%u", exported, i) : inner;
    if (count > 1) h->name = name;
    emit_body(h, name, async);
    bodies[i] = h->f;
    if (h->arena_size > transient_bytes) transient_bytes = h->arena_size;
    if (i + 1 < count) host_clear_data(h->body);
  }
  h->name = exported;
  if (count > 1) emit_choice(h, inner, async, bodies, count);
  if (ir_op_attr(h->func, "graph.initializer")) {
    host_add_initializer(h, h->f);
    return host_clear_data(h->body);
  }
  size_t attr_count = 0;
  const module_pair_t* attrs = reflection(h, transient_bytes, &attr_count);
  if (async && !has_fences(h->func)) {
    module_writer_export_pair(h->writer, host_view(h->name), h->f, attr_count, attrs);
  } else {
    module_writer_export(h->writer, host_view(h->name), h->f, attr_count, attrs);
  }
  host_clear_data(h->body);
}

bool host_emit(ir_context_t* ctx, const host_program_t* programs, uint32_t program_count, module_writer_t* writer,
               const host_options_t* options, host_memory_t* out_memory) {
  host_t h = {.ctx = ctx, .module = programs[0].module, .writer = writer, .options = *options};
  bool needs_device = program_count > 1 || uses_device(h.module);
  if (needs_device && programs[0].host_only) {
    return ir_error(ctx, h.module->loc,
                    "the program has tensors, which need a device; --iree-execution-model=host-only "
                    "has none");
  }
  if (needs_device) h.device = module_writer_device(writer, IREE_SV("__device_0"), 0);
  host_emit_globals(&h);
  uint32_t index = 0;
  IR_FOR_OPS(func, ir_module_body(h.module)) {
    uint32_t number = index++;
    if (!is_exported(func)) continue;
    h.func = h.own = func;
    h.name = ir_op_string(func, "sym_name", "main");
    h.body = func->regions[0].first;
    const ir_attr_t* abi = ir_op_attr(func, "iree.abi.type");
    bool kept = abi && abi->kind == IR_ATTR_TYPE && abi->type->kind == IR_TYPE_FUNCTION;
    h.abi = (kept ? abi : ir_op_attr(func, "function_type"))->type;
    if (!check_function(&h)) {
      h.failed = true;
      continue;
    }
    emit_function(&h, programs, program_count, number);
  }
  host_emit_initializer(&h);
  memory_free(h.accesses);
  ir_set_finish(&h.constants);
  ir_set_finish(&h.global_names);
  ir_set_finish(&h.numbers);
  *out_memory = h.memory;
  return !h.failed;
}
