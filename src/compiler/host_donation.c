// Results in the memory of arguments that callers give up (donate.h): where nothing reads the argument any more when
// the result is written, or the dispatch that writes it reads it at the same place. Which memory there is, each call
// tells.
#include "compiler/host_state.h"

const ir_attr_t* host_argument_attr(const host_t* h, uint32_t number, const char* name) {
  const ir_attr_t* all = ir_op_attr(h->func, "arg_attrs");
  bool has = all && all->kind == IR_ATTR_ARRAY && number < all->count && all->items[number]->kind == IR_ATTR_DICT;
  return has ? ir_attr_dict_get(all->items[number], name) : NULL;
}

static int64_t number_of(const host_t* h, uint32_t number, const char* name) {
  const ir_attr_t* attr = host_argument_attr(h, number, name);
  return attr && attr->kind == IR_ATTR_INTEGER ? attr->integer : -1;
}

int64_t host_result_of(const host_t* h, uint32_t number) { return number_of(h, number, "iree.abi.output"); }
int64_t host_donor_of(const host_t* h, uint32_t number) { return number_of(h, number, "iree.abi.donor"); }

// The dispatch reads the operand where it writes the result, if at all.
static bool overwrites(const ir_op_t* dispatch, uint32_t operand, uint32_t result) {
  int64_t pairs[4 * GRAPH_MAX_RANK];
  uint32_t count = ir_op_ints(dispatch, "overwrites", pairs, 4 * GRAPH_MAX_RANK);
  for (uint32_t i = 0; i + 1 < count; i += 2) {
    if (pairs[i] == operand && pairs[i + 1] == result) return true;
  }
  return false;
}

// What writes the result, in the function's own block; NULL: it is copied when all is done.
static const ir_op_t* writer_of(const ir_value_t* value) {
  return host_has_own_place(value) && !value->data ? value->def : NULL;
}

static bool is_free(const host_t* h, const ir_value_t* argument, const ir_value_t* value) {
  const ir_op_t* writer = writer_of(value);
  IR_FOR_USES(use, argument) {
    const ir_op_t* op = use->owner;
    while (op->parent != h->body) op = ir_op_parent(op);
    if (op == h->body->last || ir_is(op, GRAPH_CALL_IMPORT)) return false;
    if (op == use->owner && op == writer && overwrites(op, (uint32_t)(use - op->operands), value->index)) continue;
    if (writer && host_op_ends(op) >= host_op_begins(writer)) return false;
  }
  return true;
}

// Whether a result is the argument, changed in place.
static bool is_changed(const ir_value_t* argument, const ir_value_t* value) {
  if (value == argument) return false;
  while (value->def && ir_is(value->def, GRAPH_DISPATCH) && graph_in_place(value->def) >= 0) {
    value = ir_operand(value->def, (uint32_t)graph_in_place(value->def));
  }
  return value == argument;
}

void host_share_argument(const host_t* h, uint32_t result, storage_t* output) {
  for (uint32_t i = 0; i < h->abi->input_count; ++i) {
    int64_t donor = host_donor_of(h, i);
    if (donor < 0 || host_result_of(h, i) != result) continue;
    const ir_value_t *argument = h->body->args[donor], *value = ir_operand(h->body->last, result);
    if (!is_free(h, argument, value)) return;
    output->shares = argument->data;
    output->is_filled = is_changed(argument, value);
  }
}

storage_t* host_changed_argument(const host_t* h, const storage_t* argument) {
  for (uint32_t i = 0; i < h->body->last->operand_count; ++i) {
    storage_t* output = h->outputs[i];
    if (output && output->shares == argument && output->is_filled) return output;
  }
  return NULL;
}

void host_take_or_allocate(host_t* h, const storage_t* output, uint32_t number) {
  const char* name = arena_printf(ir_context_arena(h->ctx), "input%u", number);
  module_operand_t buffer = MODULE_REG(h->buffers[output->index]), stream = MODULE_REG(h->stream);
  module_operand_t given = MODULE_REG(module_function_argument(h->f, number));
  module_operand_t size = MODULE_REG(module_function_i64(h->f, output->size));
  module_operand_t zero = MODULE_REG(module_function_i64(h->f, 0));
  module_label_t labels[3];  // none, some, after
  for (int i = 0; i < 3; ++i) labels[i] = module_function_label(h->f);
  module_reg_t none = module_emit_value(h->f, is_null, given);
  module_emit(h->f, br_if, MODULE_REG(none), MODULE_LABEL(labels[0]), MODULE_LABEL(labels[1]));
  module_function_bind(h->f, labels[0]);
  module_emit(h->f, hal_alloca, buffer, stream, size);
  if (output->is_filled) {
    module_operand_t argument = MODULE_REG(h->buffers[host_buffer_of(h, output->shares)]);
    module_emit(h->f, hal_copy, stream, argument, zero, buffer, zero, size);
  }
  module_emit(h->f, br, MODULE_LABEL(labels[2]));
  module_function_bind(h->f, labels[1]);
  module_emit(h->f, hal_buffer_check, given, size, MODULE_INDEX(module_writer_string(h->writer, host_view(name))));
  module_emit(h->f, mov_ref, buffer, given);
  module_emit(h->f, br, MODULE_LABEL(labels[2]));
  module_function_bind(h->f, labels[2]);
}
