// See vm_emit.h: functions, block by block, and the parts of a module.
#include "compiler/vm_emit.h"

#include <string.h>

#include "compiler/vm_state.h"
#include "dialects/builtin.h"
#include "dialects/vm.h"

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

// Blocks that are reached, each behind those that all ways to it lead through.
static uint32_t order_blocks(emit_t* e, ir_region_t* region, ir_block_t*** out) {
  uint32_t count = 0, depth = 0, at;
  IR_FOR_BLOCKS(block, region) {
    block->first->data = NULL;
    ++count;
  }
  arena_t* arena = ir_context_arena(e->ctx);
  ir_block_t **order = ARENA_ARRAY(arena, ir_block_t*, count), **stack = ARENA_ARRAY(arena, ir_block_t*, count);
  uint32_t* next = ARENA_ARRAY(arena, uint32_t, count);
  at = count;
  stack[depth++] = region->first;
  region->first->first->data = region;  // seen
  while (depth) {
    ir_block_t* block = stack[depth - 1];
    if (next[depth - 1] == block->last->successor_count) {
      order[--at] = block;
      --depth;
      continue;
    }
    ir_block_t* successor = block->last->successors[next[depth - 1]++];
    if (successor->first->data) continue;
    successor->first->data = region;
    next[depth] = 0;
    stack[depth++] = successor;
  }
  *out = order + at;
  return count - at;
}

static bool emit_blocks(emit_t* e, ir_op_t* func) {
  ir_block_t **blocks, *entry = func->regions[0].first;
  bool fits = entry->arg_count == e->type->input_count;
  for (uint32_t i = 0; fits && i < entry->arg_count; ++i) fits = entry->args[i]->type == e->type->inputs[i];
  if (!fits) return ir_op_error(e->ctx, func, "has not the arguments that its type has");
  uint32_t count = order_blocks(e, &func->regions[0], &blocks);
  for (uint32_t b = 0; b < count; ++b) {
    ir_block_t* block = blocks[b];
    set_index(block->first, module_function_label(e->f));
    for (uint32_t i = 0; i < block->arg_count; ++i) {
      ir_value_t* arg = block->args[i];
      if (!vm_check_type(e, func, arg->type)) return false;
      set_reg(arg, b ? vm_new_reg(e, arg->type) : module_function_argument(e->f, i));
    }
  }
  for (uint32_t b = 0; b < count; ++b) {
    module_function_bind(e->f, label_of(blocks[b]));
    IR_FOR_OPS(op, blocks[b]) {
      if (!vm_emit_op(e, op)) return false;
    }
  }
  return true;
}

static bool put_letter(emit_t* e, const ir_op_t* op, const ir_type_t* type, text_t* text) {
  if (!vm_check_type(e, op, type)) return false;
  text_printf(text, "%c", vm_letter_of(e->ctx, type));
  return true;
}

// An argument, or a span of any number of values or tuples.
static bool put_argument(emit_t* e, const ir_op_t* op, const ir_type_t* type, bool is_span, text_t* text) {
  bool is_tuple = is_span && type->kind == IR_TYPE_TUPLE, ok = true;
  if (is_tuple && !type->input_count) return ir_op_error(e->ctx, op, "has a span of empty tuples");
  if (is_span) text_puts(text, "C");
  if (!is_tuple) ok = put_letter(e, op, type, text);
  for (uint32_t i = 0; is_tuple && ok && i < type->input_count; ++i) ok = put_letter(e, op, type->inputs[i], text);
  if (is_span) text_puts(text, "D");
  return ok;
}

// "0Ii_r"
static const char* convention_of(emit_t* e, const ir_op_t* op, const ir_type_t* type) {
  text_t text = {0};
  bool ok = true;
  text_puts(&text, "0");
  for (uint32_t i = 0; ok && i < type->input_count; ++i) {
    ok = put_argument(e, op, type->inputs[i], vm_is_span(op, i), &text);
  }
  text_puts(&text, type->input_count ? "_" : "v_");
  for (uint32_t i = 0; ok && i < type->result_count; ++i) ok = put_letter(e, op, type->results[i], &text);
  if (!type->result_count) text_puts(&text, "v");
  const char* result = ok ? arena_strndup(ir_context_arena(e->ctx), text.data, text.size) : NULL;
  text_finish(&text);
  return result;
}

//===----------------------------------------------------------------------------------------------------------------===
// Modules
//===----------------------------------------------------------------------------------------------------------------===

static bool declare_function(emit_t* e, ir_op_t* op) {
  const ir_type_t* type = vm_type_of(op);
  const char* convention = type ? convention_of(e, op, type) : NULL;
  if (!convention) return type || ir_op_error(e->ctx, op, "needs a type");
  if (ir_is(op, VM_IMPORT)) {
    uint32_t index = module_writer_import(e->writer, view(ir_op_string(op, "sym_name", "")), view(convention),
                                          ir_op_attr(op, "is_optional") != NULL);
    set_index(op, index);
    return true;
  }
  if (!op->regions[0].first)
    return ir_op_error(e->ctx, op, "needs a body; vm.import declares functions of other modules");
  op->data = module_writer_function(e->writer, view(ir_op_string(op, "sym_name", "initializer")), view(convention));
  return true;
}

static bool declare_global(emit_t* e, ir_op_t* op) {
  const ir_attr_t *type = ir_op_attr(op, "type"), *value = ir_op_attr(op, "initial_value");
  uint64_t bits = 0;
  if (!type || type->kind != IR_ATTR_TYPE || !vm_check_type(e, op, type->type)) return false;
  bool number = value && (value->kind == IR_ATTR_INTEGER || value->kind == IR_ATTR_FLOAT) && value->type == type->type;
  if (value && !number) return ir_op_error(e->ctx, op, "needs a number of its type to begin with");
  if (value && value->kind == IR_ATTR_INTEGER) ir_scalar_store_integer(type->type, value->integer, &bits);
  if (value && value->kind == IR_ATTR_FLOAT) ir_scalar_store_number(type->type, value->number, &bits);
  vm_type_t kind = vm_type_of_letter(vm_letter_of(e->ctx, type->type));
  uint32_t index = module_writer_global(e->writer, view(ir_op_string(op, "sym_name", "")), kind, bits);
  set_index(op, index);
  return true;
}

static bool declare(emit_t* e, ir_op_t* op) {
  if (ir_is(op, VM_FUNC) || ir_is(op, VM_IMPORT) || ir_is(op, VM_INITIALIZER)) return declare_function(e, op);
  if (ir_is(op, VM_RODATA)) {
    set_index(op, module_writer_global(e->writer, view(ir_op_string(op, "sym_name", "")), VM_TYPE_REF, 0));
    return true;
  }
  if (strncmp(op->name, "vm.global.", 10) == 0 && ir_op_attr(op, "type")) return declare_global(e, op);
  return ir_is(op, VM_EXPORT) || ir_is(op, VM_MODULE_TERMINATOR) ||
         ir_op_error(e->ctx, op, "is no part of a vm.module");
}

// With what the function's iree.reflection says of it.
static bool emit_export(emit_t* e, ir_op_t* op) {
  enum { MOST = 16 };
  module_pair_t pairs[MOST];
  uint32_t count = 0;
  ir_op_t* func = vm_find(e, op, "function_ref", VM_FUNC, VM_FUNC);
  if (!func) return false;
  const ir_attr_t* reflection = ir_op_attr(func, "iree.reflection");
  bool listed = reflection && reflection->kind == IR_ATTR_DICT;
  for (uint32_t i = 0; listed && i < reflection->count && count < MOST; ++i) {
    const ir_named_attr_t* entry = &reflection->entries[i];
    if (entry->value->kind == IR_ATTR_STRING)
      pairs[count++] = (module_pair_t){view(entry->name), view(entry->value->text)};
  }
  module_writer_export(e->writer, view(ir_op_string(op, "export_name", "")), func->data, count, pairs);
  return true;
}

// The module's one initializer. Constants are globals, so that each is the same buffer wherever it is asked for.
static bool emit_initializer(emit_t* e, const ir_block_t* body) {
  uint32_t segment;
  e->f = module_writer_function(e->writer, IREE_SV("__init"), IREE_SV("0v_v"));
  IR_FOR_OPS(op, body) {
    if (!ir_is(op, VM_RODATA)) continue;
    if (!vm_add_segment(e, op, &segment)) return false;
    module_reg_t buffer = module_emit_value(e->f, buffer_const, MODULE_INDEX(segment));
    module_emit(e->f, global_store_ref, MODULE_INDEX(index_of(op)), MODULE_REG(buffer));
  }
  IR_FOR_OPS(op, body) {
    if (!ir_is(op, VM_INITIALIZER)) continue;
    module_emit(e->f, call, MODULE_LIST(0, NULL), MODULE_INDEX(module_function_index(op->data)), MODULE_LIST(0, NULL));
  }
  module_emit(e->f, return, MODULE_LIST(0, NULL));
  module_writer_initializer(e->writer, e->f);
  return true;
}

ir_op_t* vm_find_module(ir_context_t* ctx, ir_op_t* program) {
  ir_op_t* found = ir_is(program, VM_MODULE) ? program : NULL;
  for (ir_op_t* op = found ? NULL : ir_module_body(program)->first; op; op = op->next) {
    if (found || !ir_is(op, VM_MODULE)) {
      ir_op_error(ctx, op, "is beside a vm.module; --compile-mode=vm takes one alone");
      return NULL;
    }
    found = op;
  }
  if (!found) ir_error(ctx, program->loc, "there is no vm.module, which --compile-mode=vm compiles");
  return found;
}

bool vm_emit(ir_context_t* ctx, ir_op_t* module, bool locations, module_writer_t* writer) {
  emit_t e = {.ctx = ctx, .module = module, .writer = writer, .locations = locations};
  ir_block_t* body = module->regions[0].first;
  IR_FOR_OPS(op, body) {
    if (!declare(&e, op)) return false;
  }
  if (!emit_initializer(&e, body)) return false;
  IR_FOR_OPS(op, body) {
    bool code = ir_is(op, VM_FUNC) || ir_is(op, VM_INITIALIZER);
    e.f = code ? op->data : NULL;
    e.type = code ? vm_type_of(op) : NULL;
    if (code && !emit_blocks(&e, op)) return false;
    if (ir_is(op, VM_EXPORT) && !emit_export(&e, op)) return false;
  }
  return true;
}
