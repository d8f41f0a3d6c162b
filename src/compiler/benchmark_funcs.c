// See benchmark_funcs.h.
//
//   graph.global @zeros_64x64xf32$0 : tensor<64x64xf32>
//   func.func @main_ex_dispatch_0_benchmark() {
//     %0 = graph.global_load @zeros_64x64xf32$0
//     %1 = "graph.dispatch"(%0) <{entry = 0, sym_name = "main_dispatch_0"}> ({ ... }) : ...
//     return
//   }
#include "compiler/benchmark_funcs.h"

#include <string.h>

#include "dialects/func.h"
#include "dialects/graph.h"

// The first dispatch below `op` of that name, or NULL for any name: that runs that entry.
static ir_op_t* find_dispatch(ir_op_t* op, const char* name, int64_t entry) {
  if (ir_is(op, GRAPH_DISPATCH)) {
    if (name) return strcmp(ir_op_string(op, "sym_name", ""), name) ? NULL : op;
    const ir_attr_t* attr = graph_attr(op, GRAPH_ATTR_entry);
    bool own = !graph_attr(op, GRAPH_ATTR_object);  // compiled, not brought
    return attr && attr->integer == entry && own ? op : NULL;
  }
  for (uint32_t r = 0; r < op->region_count; ++r) {
    IR_FOR_BLOCKS(block, &op->regions[r]) {
      IR_FOR_OPS(inner, block) {
        ir_op_t* found = find_dispatch(inner, name, entry);
        if (found) return found;
      }
    }
  }
  return NULL;
}

ir_op_t* benchmark_find_dispatch(ir_op_t* op, int64_t entry) { return find_dispatch(op, NULL, entry); }

static bool is_open(const ir_value_t* value) {
  return ir_type_is_tensor(value->type) && !ir_type_is_static(value->type);
}

bool benchmark_is_static(const ir_op_t* dispatch) {
  for (uint32_t i = 0; i < dispatch->operand_count; ++i) {
    if (is_open(ir_operand(dispatch, i))) return false;
  }
  for (uint32_t i = 0; i < dispatch->result_count; ++i) {
    if (is_open(&dispatch->results[i])) return false;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Arguments
//===----------------------------------------------------------------------------------------------------------------===

typedef struct adding_t {
  ir_context_t* ctx;
  ir_block_t* globals;  // declared so far; they go behind the first target's functions, which are found by number
  ir_builder_t b;       // in the function being made
  ir_value_map_t* map;
} adding_t;

// Zeros of a type, the same for all who ask.
static ir_value_t* load_zeros(adding_t* a, const ir_type_t* type) {
  text_t text = {0};
  text_puts(&text, "zeros_");
  for (int32_t d = 0; d < type->rank; ++d) text_printf(&text, "%lldx", (long long)type->dims[d]);
  ir_print_type(&text, ir_type_scalar(type));
  const char* name = arena_strndup(ir_context_arena(a->ctx), text.data, text.size);
  text_finish(&text);
  bool known = false;
  IR_FOR_OPS(op, a->globals) known |= ir_is(op, GRAPH_GLOBAL) && !strcmp(ir_op_string(op, "sym_name", ""), name);
  if (!known) {
    ir_named_attr_t attrs[] = {{"sym_name", ir_attr_cstring(a->ctx, name)}, {"type", ir_attr_type(a->ctx, type)}};
    ir_builder_t at = ir_builder_at_end(a->ctx, a->globals);
    ir_build(&at, &(ir_op_state_t){.info = ir_context_op(a->ctx, GRAPH_GLOBAL), .attrs = attrs, .attr_count = 2});
  }
  ir_op_t* load = ir_build_op(&a->b, GRAPH_GLOBAL_LOAD, NULL, 0, type);
  ir_op_set_attr(a->ctx, load, "global", ir_attr_symbol(a->ctx, name));
  return ir_result(load, 0);
}

static ir_value_t* make_zero(adding_t* a, const ir_type_t* type) {
  bool real = type->kind == IR_TYPE_FLOAT;
  ir_named_attr_t attr = {"value", real ? ir_attr_float(a->ctx, type, 0) : ir_attr_integer(a->ctx, type, 0)};
  ir_op_state_t state = {.info = ir_context_op(a->ctx, GRAPH_CONSTANT),
                         .result_types = &type,
                         .result_count = 1,
                         .attrs = &attr,
                         .attr_count = 1};
  return ir_result(ir_build(&a->b, &state), 0);
}

static void bind_argument(adding_t* a, const ir_value_t* value) {
  if (ir_value_map_get(a->map, value)) return;
  if (value->def && ir_is(value->def, GRAPH_CONSTANT)) {
    ir_block_append(a->b.block, ir_op_clone(a->ctx, value->def, a->map));
    return;
  }
  bool tensor = ir_type_is_tensor(value->type);
  ir_value_map_set(a->map, value, tensor ? load_zeros(a, value->type) : make_zero(a, value->type));
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

static void begin_function(adding_t* a, ir_op_t* module, const char* name, const ir_loc_t* loc) {
  const ir_type_t* type = ir_type_function(a->ctx, NULL, 0, NULL, 0);
  ir_op_t* func = ir_func_create(a->ctx, ir_module_body(module), loc, name, type);
  a->b = ir_builder_at_end(a->ctx, func->regions[0].first);
  a->map = ir_value_map_create(a->ctx);
}

static void end_function(adding_t* a) { ir_build(&a->b, &(ir_op_state_t){.info = ir_context_op(a->ctx, FUNC_RETURN)}); }

static void add_dispatch(adding_t* a, ir_op_t* module, const ir_op_t* dispatch, const char* name) {
  begin_function(a, module, name, dispatch->loc);
  for (uint32_t i = 0; i < dispatch->operand_count; ++i) bind_argument(a, ir_operand(dispatch, i));
  ir_block_append(a->b.block, ir_op_clone(a->ctx, dispatch, a->map));
  end_function(a);
}

static void add_whole(adding_t* a, ir_op_t* module, const ir_op_t* func, const char* name) {
  const ir_block_t* body = func->regions[0].first;
  begin_function(a, module, name, func->loc);
  for (uint32_t i = 0; i < body->arg_count; ++i) bind_argument(a, body->args[i]);
  IR_FOR_OPS(op, body) {
    if (op != body->last) ir_block_append(a->b.block, ir_op_clone(a->ctx, op, a->map));
  }
  end_function(a);
}

static bool is_benchmarked(const ir_op_t* func) {
  if (strcmp(func->name, "func.func") || !func->regions[0].first) return false;
  if (strcmp(ir_op_string(func, "sym_visibility", "public"), "private") == 0) return false;
  const ir_block_t* body = func->regions[0].first;
  for (uint32_t i = 0; i < body->arg_count; ++i) {
    if (is_open(body->args[i])) return false;
  }
  return true;
}

// "main_dispatch_0" -> "main_ex_dispatch_0_benchmark".
static const char* dispatch_function_name(ir_context_t* ctx, const char* dispatch) {
  const char* tail = strstr(dispatch, "_dispatch_");
  for (const char* next = tail; next; next = strstr(next + 1, "_dispatch_")) tail = next;
  if (!tail) return arena_printf(ir_context_arena(ctx), "%s_benchmark", dispatch);
  return arena_printf(ir_context_arena(ctx), "%.*s_ex%s_benchmark", (int)(tail - dispatch), dispatch, tail);
}

// All programs have the dispatches that were formed before layouts differed, under the same names.
static void add_dispatch_everywhere(adding_t* a, ir_op_t* const* modules, uint32_t count, const char* name) {
  ir_op_t** found = ARENA_ARRAY(ir_context_arena(a->ctx), ir_op_t*, count);
  for (uint32_t i = 0; i < count; ++i) {
    found[i] = find_dispatch(modules[i], name, 0);
    if (!found[i] || !benchmark_is_static(found[i])) return;
  }
  for (uint32_t i = 0; i < count; ++i) add_dispatch(a, modules[i], found[i], dispatch_function_name(a->ctx, name));
}

void benchmark_funcs_add(ir_context_t* ctx, ir_op_t* const* modules, uint32_t count) {
  adding_t a = {.ctx = ctx, .globals = ir_block_create(ctx)};
  const ir_op_t* end = ir_module_body(modules[0])->last;
  const ir_op_t* dispatch;
  for (int64_t entry = 0; (dispatch = benchmark_find_dispatch(modules[0], entry)); ++entry) {
    add_dispatch_everywhere(&a, modules, count, ir_op_string(dispatch, "sym_name", ""));
  }
  bool done = !end;
  IR_FOR_OPS(func, ir_module_body(modules[0])) {
    if (done) break;
    done = func == end;
    if (!is_benchmarked(func)) continue;
    const char* name = ir_op_string(func, "sym_name", "main");
    const char* ours = arena_printf(ir_context_arena(ctx), "%s_benchmark", name);
    for (uint32_t i = 0; i < count; ++i) add_whole(&a, modules[i], ir_symbol_lookup(modules[i], name), ours);
  }
  while (a.globals->first) {
    ir_op_t* global = a.globals->first;
    ir_op_remove(global);
    ir_block_append(ir_module_body(modules[0]), global);
  }
}
