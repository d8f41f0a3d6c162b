// See encode.h.
//
//   %w = graph.global_load @w                        %e = graph.global_load @w_encoded
//   %0 = graph.cast %w : f16 -> f32             =>   %1 = graph.contract %x, %e
//   %1 = graph.contract %x, %0
//                                                    encoder: func @encode_0() { load @w; cast; return }
#include "compiler/encode.h"

#include <string.h>

#include "compiler/known.h"
#include "dialects/func.h"
#include "dialects/graph.h"
#include "import/onnx/names.h"
#include "passes/passes.h"

typedef struct encoder_t {
  ir_context_t* ctx;
  const encode_options_t* options;
  ir_op_t *module, *encoder;
  uint32_t function_count;
  onnx_names_t *symbols, *keys;  // of the module and of the scope
} encoder_t;

static bool is_parameter(const ir_op_t* op) { return ir_is(op, GRAPH_GLOBAL) && graph_get_parameter_key(op); }

static ir_op_t* loaded_global(const encoder_t* e, const ir_op_t* op) {
  return ir_is(op, GRAPH_GLOBAL_LOAD) ? ir_symbol_find(e->ctx, e->module, ir_op_string(op, "global", "")) : NULL;
}

// A load of a parameter that never changes.
static bool loads_parameter(const encoder_t* e, const ir_op_t* op) {
  const ir_op_t* global = loaded_global(e, op);
  return global && is_parameter(global) && !graph_get_mutable(global) && !graph_get_initialized(global);
}

static bool is_leaf(void* user, const ir_op_t* op) { return known_is_constant(NULL, op) || loads_parameter(user, op); }

//===----------------------------------------------------------------------------------------------------------------===
// The encoder
//===----------------------------------------------------------------------------------------------------------------===

static ir_op_t* add_function(encoder_t* e, const ir_type_t* result) {
  const char* name = arena_printf(ir_context_arena(e->ctx), "encode_%u", e->function_count++);
  const ir_type_t* type = ir_type_function(e->ctx, NULL, 0, &result, 1);
  return ir_func_create(e->ctx, ir_module_body(e->encoder), NULL, name, type);
}

// Says that the function's result is the parameter `key`.
static void describe(encoder_t* e, ir_op_t* func, const ir_type_t* result, const char* key) {
  ir_context_t* ctx = e->ctx;
  int64_t length = ir_type_count(result) * ir_type_bytes(result->element);
  const char* text = arena_printf(ir_context_arena(ctx), "%lld", (long long)length);
  ir_named_attr_t entries[] = {{"iree.encode.function", ir_attr_cstring(ctx, "encode")},
                               {"iree.encode.key", ir_attr_cstring(ctx, key)},
                               {"iree.encode.length", ir_attr_cstring(ctx, text)},
                               {"iree.encode.scope", ir_attr_cstring(ctx, e->options->scope)},
                               {"iree.encode.target", ir_attr_cstring(ctx, "default")}};
  ir_op_set_attr(ctx, func, "iree.reflection", ir_attr_dict(ctx, entries, 5));
}

static void add_return(encoder_t* e, ir_block_t* block, ir_value_t* value) {
  ir_builder_t b = ir_builder_at_end(e->ctx, block);
  ir_build(&b, &(ir_op_state_t){.info = ir_context_op(e->ctx, FUNC_RETURN), .operands = &value, .operand_count = 1});
}

// The globals that the block loads, once each.
static void copy_globals(encoder_t* e, const ir_block_t* block) {
  IR_FOR_OPS(op, block) {
    const ir_op_t* global = loaded_global(e, op);
    if (!global || ir_symbol_lookup(e->encoder, ir_op_string(global, "sym_name", ""))) continue;
    ir_op_t* copy = ir_op_clone(e->ctx, global, ir_value_map_create(e->ctx));
    copy->data = NULL;
    ir_op_remove_attr(copy, "mutable");
    ir_block_insert_before(ir_module_body(e->encoder), copy, ir_module_body(e->encoder)->first);
  }
}

static ir_value_t* load(ir_builder_t* b, const char* name, const ir_type_t* type) {
  ir_named_attr_t attr = {"global", ir_attr_symbol(b->ctx, name)};
  return graph_build(b, GRAPH_GLOBAL_LOAD, NULL, 0, type, &attr, 1);
}

static void build_global(encoder_t* e, const char* name, const ir_type_t* type) {
  ir_named_attr_t attrs[] = {{"sym_name", ir_attr_cstring(e->ctx, name)},
                             {"type", ir_attr_type(e->ctx, type)},
                             {"parameter_scope", ir_attr_cstring(e->ctx, e->options->scope)},
                             {"parameter_key", ir_attr_cstring(e->ctx, name)}};
  ir_builder_t b = ir_builder_before(e->ctx, ir_module_body(e->module)->first);
  ir_build(&b, &(ir_op_state_t){.info = ir_context_op(e->ctx, GRAPH_GLOBAL), .attrs = attrs, .attr_count = 4});
}

// A parameter that the block loads, or NULL.
static const ir_op_t* find_loaded(const encoder_t* e, const ir_block_t* block) {
  IR_FOR_OPS(op, block) {
    if (loads_parameter(e, op)) return loaded_global(e, op);
  }
  return NULL;
}

static void encode_result(encoder_t* e, const ir_op_t* root, ir_value_t* value) {
  ir_op_t* func = add_function(e, value->type);
  ir_block_t* block = func->regions[0].first;
  ir_value_map_t* map = ir_value_map_create(e->ctx);
  known_copy(e->ctx, block, map, root);
  add_return(e, block, ir_value_map_get(map, value));
  const ir_op_t* source = find_loaded(e, block);
  if (!source) {  // constants alone, which are const-eval's
    --e->function_count;
    return ir_op_erase(func);
  }
  const char* base = arena_printf(ir_context_arena(e->ctx), "%s_encoded", graph_get_parameter_key(source));
  ir_name_t key = onnx_names_unique(e->symbols, e->ctx, base);
  onnx_names_set(e->keys, key, (void*)1);
  describe(e, func, value->type, key);
  copy_globals(e, block);
  build_global(e, key, value->type);
  ir_builder_t b = ir_builder_before(e->ctx, value->def);
  ir_value_replace(value, load(&b, key, value->type));
}

static void encode_root(encoder_t* e, ir_op_t* root) {
  for (uint32_t i = 0; i < root->result_count; ++i) {
    ir_value_t* value = &root->results[i];
    // Packed elements leave functions in fewer bytes than globals have.
    if (value->uses && !ir_type_is_packed(value->type->element)) encode_result(e, root, value);
  }
}

// A parameter as it is moves to the scope.
static void move_parameter(encoder_t* e, ir_op_t* global) {
  const ir_type_t* type = graph_get_type(global)->type;
  const char* scope = graph_get_parameter_scope(global);
  if (scope && strcmp(scope, e->options->scope) == 0) return;
  ir_name_t key = onnx_names_unique(e->keys, e->ctx, graph_get_parameter_key(global));
  ir_op_t* func = add_function(e, type);
  ir_block_t* block = func->regions[0].first;
  describe(e, func, type, key);
  ir_builder_t b = ir_builder_at_end(e->ctx, block);
  add_return(e, block, load(&b, ir_op_string(global, "sym_name", ""), type));
  copy_globals(e, block);
  ir_op_set_attr(e->ctx, global, "parameter_scope", ir_attr_cstring(e->ctx, e->options->scope));
  ir_op_set_attr(e->ctx, global, "parameter_key", ir_attr_cstring(e->ctx, key));
}

//===----------------------------------------------------------------------------------------------------------------===
// What is left
//===----------------------------------------------------------------------------------------------------------------===

// Counts loads and stores of globals, at ir_op_t.data.
typedef struct accesses_t {
  uint32_t loads, stores;
  ir_op_t* store;
} accesses_t;

static void count_accesses(encoder_t* e, ir_op_t* parent) {
  for (uint32_t r = 0; r < parent->region_count; ++r) {
    IR_FOR_BLOCKS(block, &parent->regions[r]) {
      IR_FOR_OPS(op, block) {
        count_accesses(e, op);
        bool stores = ir_is(op, GRAPH_GLOBAL_STORE);
        if (!stores && !ir_is(op, GRAPH_GLOBAL_LOAD)) continue;
        ir_op_t* global = ir_symbol_find(e->ctx, e->module, ir_op_string(op, "global", ""));
        if (!global) continue;
        accesses_t* accesses = global->data;
        accesses->loads += !stores;
        accesses->stores += stores;
        if (stores) accesses->store = op;
      }
    }
  }
}

// State that an initializer only copies a parameter into is that parameter.
static void forward_store(encoder_t* e, ir_op_t* global) {
  const accesses_t* accesses = global->data;
  ir_op_t* store = accesses->store;
  if (graph_get_mutable(global) || is_parameter(global) || accesses->stores != 1) return;
  const ir_op_t* func = ir_op_parent(store);
  ir_op_t* load = ir_operand(store, 0)->def;
  if (!func || !ir_op_attr(func, "graph.initializer") || !load || !loads_parameter(e, load)) return;
  ir_op_t* parameter = loaded_global(e, load);
  if (graph_get_type(parameter)->type != graph_get_type(global)->type) return;
  ir_op_set_attr(e->ctx, global, "parameter_scope", ir_op_attr(parameter, "parameter_scope"));
  ir_op_set_attr(e->ctx, global, "parameter_key", ir_op_attr(parameter, "parameter_key"));
  ir_op_remove_attr(global, "initialized");
  ir_op_erase(store);
  if (load->results[0].uses) return;
  --((accesses_t*)parameter->data)->loads;
  ir_op_erase(load);
}

// Without what nobody loads any more.
static void simplify(encoder_t* e) {
  pass_dce(e->module, e->ctx);
  ir_block_t* body = ir_module_body(e->module);
  IR_FOR_OPS(op, body) {
    if (ir_is(op, GRAPH_GLOBAL)) op->data = ARENA_NEW(ir_context_arena(e->ctx), accesses_t);
  }
  count_accesses(e, e->module);
  IR_FOR_OPS(op, body) {
    if (ir_is(op, GRAPH_GLOBAL)) forward_store(e, op);
  }
  IR_FOR_OPS_SAFE(op, body) {
    const accesses_t* accesses = ir_is(op, GRAPH_GLOBAL) ? op->data : NULL;
    bool unused = accesses && is_parameter(op) && !accesses->loads && !accesses->stores;
    op->data = NULL;
    if (unused) ir_op_erase(op);
  }
}

ir_op_t* encode_parameters(ir_context_t* ctx, ir_op_t* module, const encode_options_t* options) {
  encoder_t e = {.ctx = ctx, .options = options, .module = module};
  e.symbols = onnx_names_create(ir_context_arena(ctx), NULL);
  e.keys = onnx_names_create(ir_context_arena(ctx), NULL);
  IR_FOR_OPS(op, ir_module_body(module)) {
    onnx_names_set(e.symbols, ir_intern_cstr(ctx, ir_op_string(op, "sym_name", "")), (void*)1);
  }
  e.encoder = ir_module_create(ctx, ir_loc_unknown(ctx));
  ir_op_set_attr(ctx, e.encoder, "sym_name", ir_attr_cstring(ctx, "encoder"));
  known_ops_t roots = known_find_roots(ctx, module, &(known_leaves_t){.are = is_leaf, .user = &e});
  for (uint32_t i = 0; i < roots.count; ++i) encode_root(&e, roots.items[i]);
  known_ops_finish(&roots);
  if (e.function_count) simplify(&e);
  IR_FOR_OPS(op, ir_module_body(module)) {
    if (is_parameter(op) && !options->overlay) move_parameter(&e, op);
  }
  return e.encoder;
}
