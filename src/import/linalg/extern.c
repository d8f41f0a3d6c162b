// Dispatches of code that the program brings: flow.dispatch of a hal.executable, hal.executable.source or
// stream.executable with objects, and hal.dispatch.extern. How many workgroups there are is computed where the dispatch
// is; the code stays in its executable until a target takes it (compiler/externs.h).
#include <string.h>

#include "dialects/builtin.h"
#include "dialects/flow.h"
#include "dialects/func.h"
#include "dialects/hal.h"
#include "dialects/kernel.h"
#include "dialects/stream.h"
#include "import/linalg/ops.h"

enum { MAX_WORKLOAD = 16 };

static bool is_export(const ir_op_t* op) {
  return ir_is(op, HAL_EXECUTABLE_EXPORT) || ir_is(op, STREAM_EXECUTABLE_EXPORT) || ir_is(op, FLOW_EXECUTABLE_EXPORT);
}

typedef struct functions_t {
  bool own, declared;  // with a body; without one: others provide them when it runs
} functions_t;

// Those in the modules of an executable, or of its variants.
static void find_functions(const ir_op_t* executable, functions_t* out) {
  const ir_block_t* body = executable->regions[0].first;
  for (const ir_op_t* op = body ? body->first : NULL; op; op = op->next) {
    const ir_block_t* inner = ir_is(op, BUILTIN_MODULE) ? op->regions[0].first : NULL;
    if (ir_is(op, HAL_EXECUTABLE_VARIANT)) find_functions(op, out);
    for (const ir_op_t* func = inner ? inner->first : NULL; func; func = func->next) {
      if (!ir_is(func, FUNC_FUNC)) continue;
      if (func->regions[0].first) out->own = true;
      if (!func->regions[0].first) out->declared = true;
    }
  }
}

static bool has_objects(const ir_op_t* executable) {
  if (hal_objects_of(executable)) return true;
  const ir_block_t* body = executable->regions[0].first;
  for (const ir_op_t* op = body ? body->first : NULL; op; op = op->next) {
    if (ir_is(op, HAL_EXECUTABLE_VARIANT) && ir_op_attr(op, "objects")) return true;
  }
  return false;
}

ir_op_t* extern_find(lower_op_t* n, const ir_attr_t* entry) {
  ir_op_t* op = ir_symbol_find(n->ctx, n->l->module, entry->text);
  if (!op || !lower_is_executable(op) || ir_is(op, FLOW_EXECUTABLE)) return NULL;
  functions_t functions = {0};
  find_functions(op, &functions);
  bool bodies_alone = !has_objects(op) && !functions.declared && (functions.own || ir_is(op, STREAM_EXECUTABLE));
  return bodies_alone ? NULL : op;
}

static ir_op_t* export_in(const ir_op_t* parent, const char* name) {
  for (ir_op_t* op = parent->regions[0].first ? parent->regions[0].first->first : NULL; op; op = op->next) {
    if (is_export(op) && strcmp(ir_op_string(op, "sym_name", ""), name) == 0) return op;
  }
  return NULL;
}

ir_op_t* extern_find_export(const ir_op_t* executable, const ir_attr_t* entry) {
  const char* name = entry->count ? entry->items[entry->count - 1]->text : "";
  const char* variant = entry->count > 1 ? entry->items[0]->text : NULL;
  if (!ir_is(executable, HAL_EXECUTABLE)) return export_in(executable, name);
  for (ir_op_t* op = executable->regions[0].first ? executable->regions[0].first->first : NULL; op; op = op->next) {
    if (!ir_is(op, HAL_EXECUTABLE_VARIANT)) continue;
    if (variant && strcmp(ir_op_string(op, "sym_name", ""), variant) != 0) continue;
    ir_op_t* found = export_in(op, name);
    if (found) return found;
  }
  return NULL;
}

static bool lower_count_region(lower_op_t* n, const ir_op_t* holder, uint32_t region, uint32_t workload,
                               ir_value_t** out) {
  lower_value_t args[1 + MAX_WORKLOAD] = {{0}}, *values = NULL;
  uint32_t count = 0;
  ir_block_t* block = holder->regions[region].first;
  if (!block || block->next || !block->last) return lower_error(n, "needs the number of workgroups: count(...)");
  uint32_t first = block->arg_count && block->args[0]->type->kind == IR_TYPE_OPAQUE;
  if (workload > MAX_WORKLOAD || block->arg_count != first + workload) {
    return lower_error(n, "has %u numbers as workload, where the number of workgroups is computed of %u", workload,
                       block->arg_count - first);
  }
  for (uint32_t i = 0; i < workload; ++i) {
    if (!n->in[i] || ir_type_is_tensor(n->in[i]->type)) return lower_error(n, "needs numbers as workload");
    args[first + i].v = lower_index(n->b, n->in[i]);
  }
  if (!lower_block(n->l, block, args, &values, &count)) return false;
  if (count != 3) return lower_error(n, "needs three numbers of workgroups, not %u", count);
  for (int i = 0; i < 3; ++i) {
    if (!values[i].v || ir_type_is_tensor(values[i].v->type)) return lower_error(n, "needs numbers of workgroups");
    out[i] = lower_index(n->b, values[i].v);
  }
  return true;
}

bool extern_lower_count(lower_op_t* n, const ir_op_t* holder, uint32_t region, uint32_t workload, ir_value_t** out) {
  if (holder->region_count > region) return lower_count_region(n, holder, region, workload, out);
  if (workload != 3) return lower_error(n, "needs the number of workgroups: three numbers as workload");
  for (int i = 0; i < 3; ++i) {
    if (!n->in[i] || ir_type_is_tensor(n->in[i]->type)) return lower_error(n, "needs numbers as workload");
    out[i] = lower_index(n->b, n->in[i]);
  }
  return true;
}

static bool check_layout(lower_op_t* n, const ir_attr_t* attr, const dispatch_t* d) {
  hal_layout_t layout;
  int64_t numbers = 0, tensors = 0;
  if (!hal_read_layout(attr, &layout))
    return lower_error(n, "needs a #hal.pipeline.layout<constants = n, bindings = []>");
  for (uint32_t i = 0; i < d->argument_count; ++i) {
    const ir_type_t* type = n->in[d->first + i]->type;
    tensors += ir_type_is_tensor(type);
    numbers += !ir_type_is_tensor(type);
    bool word = ir_type_is_tensor(type) || (type->kind != IR_TYPE_INDEX && type->width <= 32);
    if (!word) {
      return lower_unsupported(n, "constants of 32 bits are: arith.index_cast, or two words of what has 64");
    }
  }
  for (uint32_t i = 0; i < n->op->result_count; ++i) tensors += d->tied[i] < 0;
  if (numbers == layout.constants && tensors == layout.bindings) return true;
  return lower_error(n, "passes %lld constants and %lld bindings, where the layout has %lld and %lld",
                     (long long)numbers, (long long)tensors, (long long)layout.constants, (long long)layout.bindings);
}

bool extern_build(lower_op_t* n, const extern_call_t* call) {
  lower_list_t operands = LOWER_LIST(n->ctx);
  lower_types_t types = LOWER_LIST(n->ctx);
  for (uint32_t i = 0; i < call->argument_count; ++i) lower_list_add(&operands, call->arguments[i]);
  for (int i = 0; i < 3; ++i) lower_list_add(&operands, call->counts[i]);
  for (uint32_t i = 0; i < call->size_count; ++i) lower_list_add(&operands, lower_index(n->b, call->sizes[i]));
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    lower_types_add(&types, lower_type(n->ctx, lower_out_type(n, i)));
    if (call->tied[i] < 0) continue;
    ir_value_t* argument = call->arguments[call->tied[i]];
    if (!ir_type_is_tensor(argument->type)) return lower_error(n, "has a result in the place of a number");
  }
  ir_named_attr_t attrs[] = {{"callee", call->callee},
                             {"arguments", ir_attr_i64(n->ctx, call->argument_count)},
                             {"tied", ir_attr_i64_array(n->ctx, call->tied, n->op->result_count)}};
  ir_op_t* op = ir_build(n->b, &(ir_op_state_t){.info = ir_context_op(n->ctx, GRAPH_EXTERN),
                                                .operands = operands.items,
                                                .operand_count = operands.count,
                                                .result_types = types.items,
                                                .result_count = types.count,
                                                .attrs = attrs,
                                                .attr_count = 3});
  for (uint32_t i = 0; i < n->op->result_count; ++i) n->out[i].v = ir_result(op, i);
  return true;
}

static bool build(lower_op_t* n, const dispatch_t* d, ir_value_t* const* counts, const ir_attr_t* callee) {
  return extern_build(n, &(extern_call_t){.callee = callee,
                                          .arguments = n->in + d->first,
                                          .argument_count = d->argument_count,
                                          .counts = counts,
                                          .sizes = n->in + d->sizes,
                                          .size_count = n->op->operand_count - d->sizes,
                                          .tied = d->tied});
}

static bool read_arguments(lower_op_t* n, dispatch_t* d) {
  if (!dispatch_read(n, d)) return false;
  for (uint32_t i = 0; i < d->argument_count; ++i) {
    lower_value_t value = n->values[d->first + i];
    if (!value.v || value.im) return lower_unsupported(n, "tensors of real elements and numbers are");
  }
  return true;
}

bool extern_lower_body(lower_op_t* n, const dispatch_t* d, const ir_op_t* holder, uint32_t region, ir_op_t* executable,
                       const ir_attr_t* entry) {
  ir_value_t* counts[3];
  for (uint32_t i = 0; i < d->argument_count; ++i) {
    lower_value_t value = n->values[d->first + i];
    if (!value.v || value.im) return lower_unsupported(n, "tensors of real elements and numbers are");
  }
  if (!extern_lower_count(n, holder, region, d->first, counts) || !build(n, d, counts, entry)) return false;
  executable->data = executable;
  return true;
}

bool extern_lower_dispatch(lower_op_t* n, ir_op_t* executable, const ir_attr_t* entry) {
  dispatch_t d;
  ir_value_t* counts[3];
  ir_op_t* export = extern_find_export(executable, entry);
  if (!export) return lower_error(n, "names no export of @%s", entry->text);
  if (!read_arguments(n, &d)) return false;
  if (ir_is(export, HAL_EXECUTABLE_EXPORT) && !check_layout(n, ir_op_attr(export, "layout"), &d)) return false;
  if (!extern_lower_count(n, export, 0, d.first, counts) || !build(n, &d, counts, entry)) return false;
  executable->data = executable;
  return true;
}

// A hal.executable.source of its own holds the objects.
static ir_op_t* add_executable(lower_op_t* n, const char* name) {
  uint32_t number = 0;
  char* symbol = arena_printf(ir_context_arena(n->ctx), "%s_extern", name);
  while (ir_symbol_find(n->ctx, n->l->module, symbol)) {
    symbol = arena_printf(ir_context_arena(n->ctx), "%s_extern_%u", name, ++number);
  }
  ir_builder_t b = ir_builder_at_end(n->ctx, ir_module_body(n->l->module));
  b.loc = n->op->loc;
  ir_named_attr_t attrs[] = {{"sym_name", ir_attr_cstring(n->ctx, symbol)},
                             {"sym_visibility", ir_attr_cstring(n->ctx, "private")},
                             {"objects", ir_op_attr(n->op, "objects")}};
  ir_op_t* executable = ir_build(
      &b,
      &(ir_op_state_t){
          .info = ir_context_op(n->ctx, HAL_EXECUTABLE_SOURCE), .attrs = attrs, .attr_count = 3, .region_count = 1});
  ir_block_t* body = ir_block_create(n->ctx);
  ir_region_append(&executable->regions[0], body);
  ir_builder_t inner = ir_builder_at_end(n->ctx, body);
  inner.loc = n->op->loc;
  ir_named_attr_t parts[4] = {{"sym_name", ir_attr_cstring(n->ctx, name)}, {"layout", ir_op_attr(n->op, "layout")}};
  uint32_t count = 2;
  const ir_attr_t* size = ir_op_attr(n->op, "workgroup_size");
  if (size) parts[count++] = (ir_named_attr_t){"workgroup_size", size};
  ir_build(&inner,
           &(ir_op_state_t){.info = ir_context_op(n->ctx, HAL_EXECUTABLE_EXPORT), .attrs = parts, .attr_count = count});
  return executable;
}

static bool extern_lower_inline(lower_op_t* n) {
  dispatch_t d;
  ir_value_t* counts[3];
  const char* name = ir_op_string(n->op, "export_name", "");
  if (!*name || !hal_objects_of(n->op)) return lower_error(n, "needs a name and objects({...})");
  if (!read_arguments(n, &d) || !check_layout(n, ir_op_attr(n->op, "layout"), &d)) return false;
  if (!extern_lower_count(n, n->op, 0, d.first, counts)) return false;
  ir_op_t* executable = add_executable(n, name);
  executable->data = executable;
  const ir_attr_t* export = ir_attr_symbol(n->ctx, name);
  return build(n, &d, counts, ir_attr_symbol_nested(n->ctx, ir_op_string(executable, "sym_name", ""), &export, 1));
}

//===----------------------------------------------------------------------------------------------------------------===
// In functions of executables
//===----------------------------------------------------------------------------------------------------------------===

static bool outside(lower_op_t* n) { return lower_error(n, "has a meaning in the functions of a hal.executable only"); }

static bool lower_interface_id(lower_op_t* n) {
  return n->l->kernel || n->l->place ? dispatch_lower_id(n) : outside(n);
}

static bool lower_interface_count(lower_op_t* n) {
  return n->l->kernel || n->l->place ? dispatch_lower_count(n) : outside(n);
}

static bool lower_interface_size(lower_op_t* n) {
  return n->l->kernel || n->l->place ? dispatch_lower_size(n) : outside(n);
}

static bool find_constant(lower_op_t* n, ir_value_t** word) {
  const ir_block_t* entry = n->l->kernel->regions[0].first;
  int64_t ordinal = ir_op_int(n->op, "ordinal", -1), bindings = ir_op_int(n->l->kernel, "bindings", 0);
  if (ordinal < 0 || bindings + ordinal >= entry->arg_count) {
    return lower_error(n, "has an ordinal beyond its layout's");
  }
  *word = entry->args[bindings + ordinal];
  return true;
}

static bool lower_interface_constant(lower_op_t* n) {
  ir_value_t* word;
  if (!n->l->kernel && !n->l->place) return outside(n);
  if (n->l->kernel ? !find_constant(n, &word) : !dispatch_lower_number(n, &word)) return false;
  const ir_type_t* type = lower_out_type(n, 0);
  if (word->type == type) return lower_return(n, word);
  bool same = type->kind == IR_TYPE_INTEGER && type->width == 32;
  if (same) return lower_return(n, word);
  if (type->kind == IR_TYPE_FLOAT && type->width == 32) return lower_return(n, graph_bitcast(n->b, word, type));
  if (type->kind == IR_TYPE_INDEX) return lower_return(n, graph_cast(n->b, word, type, true));
  return lower_unsupported(n, "i32, f32 and index are");
}

static bool lower_interface_subspan(lower_op_t* n) {
  if (n->l->place) return dispatch_lower_binding(n);
  if (!n->l->kernel) return outside(n);
  const ir_block_t* entry = n->l->kernel->regions[0].first;
  int64_t binding = ir_op_int(n->op, "binding", -1);
  if (binding < 0 || binding >= ir_op_int(n->l->kernel, "bindings", 0)) {
    return lower_error(n, "has a binding beyond its layout's");
  }
  return shim_lower_view(n, entry->args[binding], 0, ir_op_flag(n->op, "has_offset"));
}

#define ROW(ENUM, ...) [HAL_##ENUM - IR_CODE(IR_DIALECT_HAL, 0)] = {__VA_ARGS__}
static const lower_row_t rows[] = {
    ROW(DISPATCH_EXTERN, .fn = extern_lower_inline),
    ROW(DEVICES_COUNT, .fn = devices_lower_count),
    ROW(DEVICES_GET, .fn = devices_lower_get, .flags = LOWER_STANDS_FOR),
    ROW(DEVICE_RESOLVE, .fn = devices_lower_resolve, .flags = LOWER_STANDS_FOR),
    ROW(TENSOR_EXPORT, .fn = devices_lower_view, .flags = LOWER_STANDS_FOR),
    ROW(TENSOR_IMPORT, .fn = lower_refused, .text = "arguments of functions are what views may be imported from"),
    ROW(BUFFER_VIEW_DIM, .fn = lower_refused, .text = "views that are imported as tensors have sizes here"),
    ROW(INTERFACE_CONSTANT_LOAD, .fn = lower_interface_constant),
    ROW(INTERFACE_BINDING_SUBSPAN, .fn = lower_interface_subspan, .flags = LOWER_STANDS_FOR),
    ROW(INTERFACE_ID, .fn = lower_interface_id),
    ROW(INTERFACE_COUNT, .fn = lower_interface_count),
    ROW(INTERFACE_SIZE, .fn = lower_interface_size),
};
const lower_table_t lower_hal_table = {IR_DIALECT_HAL, rows, sizeof(rows) / sizeof(rows[0])};
