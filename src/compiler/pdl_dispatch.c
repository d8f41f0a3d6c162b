// The native rewrite of pdl patterns that IREE has: a call of a function that objects or plugins of the runtime provide
// comes in the place of values. It is made as text, of an executable with the function's shim and of a function that
// dispatches it:
//
//   stream.executable private @NAME_f32_f32_i32_executable {
//     stream.executable.export public @NAME_entry_point workgroups() -> (index, index, index) { 1, 1, 1 }
//     builtin.module {
//       func.func private @NAME(memref<f32>, index, memref<f32>, index, i32)   inputs, results, others
//       func.func @NAME_entry_point(bindings, numbers, sizes) { ... }
//     }
//   }
//   util.func private @NAME_f32_f32_i32_dispatch(inputs, others, sizes of results) -> (results) { flow.dispatch }
#include <string.h>

#include "compiler/pdl_state.h"
#include "dialects/builtin.h"
#include "dialects/util.h"

typedef enum { ROLE_INPUT, ROLE_RESULT, ROLE_OTHER, ROLE_COUNT } role_t;

// Lists of what the text has of each value.
typedef struct parts_t {
  text_t label, call_types[ROLE_COUNT], call_args[ROLE_COUNT];
  text_t bindings, numbers, sizes, body;         // of the shim
  text_t params, result_sizes, dims;             // of the function that dispatches
  text_t tensors, tensor_types, scalars, types;  // of the dispatch
  text_t size_names, size_types, results, dispatch_results;
} parts_t;

static void finish_parts(parts_t* t) {
  for (text_t* text = (text_t*)t; text < (text_t*)(t + 1); ++text) text_finish(text);
}

static void put(text_t* text, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void put(text_t* text, const char* format, ...) {
  va_list args;
  va_start(args, format);
  if (text->size) text_puts(text, ", ");
  text_vprintf(text, format, args);
  va_end(args);
}

static void put_list(text_t* text, const text_t* list) {
  if (list->size) put(text, "%s", list->data);
}

// A tensor's open sizes are %n0_1, of its dimension 1; `braces` names them.
static void add_sizes(parts_t* t, uint32_t i, const ir_type_t* type, role_t role, text_t* braces) {
  text_t written = {0};
  ir_print_type(&written, type);
  for (int32_t k = 0; k < type->rank; ++k) {
    if (type->dims[k] != IR_DYNAMIC) continue;
    put(&t->sizes, "%%n%u_%d: index", i, k);
    put(&t->size_names, "%%n%u_%d", i, k);
    put(&t->size_types, "index");
    text_printf(braces, "%s%%n%u_%d", braces->size ? ", " : "{", i, k);
    if (role == ROLE_RESULT) {
      put(&t->result_sizes, "%%n%u_%d: index", i, k);
    } else {
      text_printf(&t->dims, "    %%c%u_%d = arith.constant %d : index\n", i, k, k);
      text_printf(&t->dims, "    %%n%u_%d = tensor.dim %%v%u, %%c%u_%d : %s\n", i, k, i, i, k, written.data);
    }
  }
  if (braces->size) text_puts(braces, "}");
  text_finish(&written);
}

// The shim's memory of the tensor, and its base and offset.
static void add_memory(parts_t* t, uint32_t i, const ir_type_t* type, const char* element, const char* braces) {
  text_t memref = {0};
  for (int32_t k = 0; k < type->rank; ++k) {
    if (type->dims[k] == IR_DYNAMIC) text_puts(&memref, "?x");
    if (type->dims[k] != IR_DYNAMIC) text_printf(&memref, "%lldx", (long long)type->dims[k]);
  }
  text_puts(&memref, element);
  text_printf(&t->body, "      %%m%u = stream.binding.subspan %%b%u[%%zero] : !stream.binding -> memref<%s>%s\n", i, i,
              memref.data, braces);
  text_printf(&t->body, "      %%p%u, %%o%u", i, i);
  if (type->rank) text_printf(&t->body, ", %%x%u:%d", i, 2 * type->rank);
  text_printf(&t->body, " = iree_codegen.extract_strided_metadata %%m%u : memref<%s> -> memref<%s>, index", i,
              memref.data, element);
  for (int32_t k = 0; k < 2 * type->rank; ++k) text_puts(&t->body, ", index");
  text_puts(&t->body, "\n");
  text_finish(&memref);
}

static void add_tensor(parts_t* t, uint32_t i, const ir_type_t* type, role_t role) {
  text_t element = {0}, written = {0}, braces = {0};
  ir_print_type(&element, type->element);
  ir_print_type(&written, type);
  add_sizes(t, i, type, role, &braces);
  add_memory(t, i, type, element.data, braces.size ? braces.data : "");
  put(&t->call_types[role], "memref<%s>, index", element.data);
  put(&t->call_args[role], "%%p%u, %%o%u", i, i);
  put(&t->bindings, "%%b%u: !stream.binding", i);
  if (role != ROLE_RESULT) {
    put(&t->params, "%%v%u: %s", i, written.data);
    put(&t->tensors, "%%v%u", i);
    put(&t->tensor_types, "%s%s", written.data, braces.size ? braces.data : "");
  } else {
    put(&t->results, "%s", written.data);
    put(&t->dispatch_results, "%s%s", written.data, braces.size ? braces.data : "");
  }
  text_finish(&element);
  text_finish(&written);
  text_finish(&braces);
}

static void add_number(parts_t* t, uint32_t i, const ir_type_t* type, role_t role) {
  text_t written = {0};
  ir_print_type(&written, type);
  put(&t->call_types[role], "%s", written.data);
  put(&t->call_args[role], "%%s%u", i);
  put(&t->numbers, "%%s%u: %s", i, written.data);
  put(&t->params, "%%s%u: %s", i, written.data);
  put(&t->scalars, "%%s%u", i);
  put(&t->types, "%s", written.data);
  text_finish(&written);
}

static bool is_number(const ir_type_t* type) { return ir_type_is_int(type) || ir_type_is_float(type); }

static bool add_values(parts_t* t, const pdl_thing_t* values, role_t role, uint32_t* number) {
  for (uint32_t i = 0; i < values->count; ++i) {
    const ir_type_t* type = values->values[i]->type;
    bool tensor = ir_type_is_tensor(type) && is_number(type->element);
    if (!tensor && (role == ROLE_RESULT || !is_number(type))) return false;
    if (tensor) add_tensor(t, (*number)++, type, role);
    if (!tensor) add_number(t, (*number)++, type, role);
  }
  return true;
}

// Of types by role, as IREE names its executables.
static void put_label(parts_t* t, const char* name, const pdl_thing_t* lists) {
  text_puts(&t->label, name);
  for (uint32_t role = 0; role < ROLE_COUNT; ++role) {
    for (uint32_t i = 0; i < lists[role].count; ++i) {
      text_puts(&t->label, "_");
      ir_print_type(&t->label, ir_type_scalar(lists[role].values[i]->type));
    }
  }
}

static void put_symbol(text_t* text, ir_context_t* ctx, const char* name, const char* suffix) {
  text_t whole = {0};
  text_printf(&whole, "%s%s", name, suffix);
  ir_print_attr(text, ir_attr_symbol(ctx, ir_intern(ctx, whole.data, whole.size)));
  text_finish(&whole);
}

static void put_executable(text_t* out, ir_context_t* ctx, parts_t* t, const char* name) {
  text_t types = {0}, args = {0}, params = {0};
  for (uint32_t role = 0; role < ROLE_COUNT; ++role) {
    put_list(&types, &t->call_types[role]);
    put_list(&args, &t->call_args[role]);
  }
  put_list(&params, &t->bindings);
  put_list(&params, &t->numbers);
  put_list(&params, &t->sizes);
  text_puts(out, "stream.executable private ");
  put_symbol(out, ctx, t->label.data, "_executable");
  text_puts(out, " {\n  stream.executable.export public ");
  put_symbol(out, ctx, name, "_entry_point");
  text_puts(out,
            " workgroups() -> (index, index, index) {\n    %one = arith.constant 1 : index\n"
            "    stream.return %one, %one, %one : index, index, index\n  }\n"
            "  builtin.module {\n    func.func private ");
  put_symbol(out, ctx, name, "");
  text_printf(out, "(%s) attributes {llvm.bareptr = true}\n    func.func ", types.data ? types.data : "");
  put_symbol(out, ctx, name, "_entry_point");
  text_printf(out, "(%s) {\n      %%zero = arith.constant 0 : index\n%s      func.call ",
              params.data ? params.data : "", t->body.data ? t->body.data : "");
  put_symbol(out, ctx, name, "");
  text_printf(out, "(%s) : (%s) -> ()\n      return\n    }\n  }\n}\n", args.data ? args.data : "",
              types.data ? types.data : "");
  text_finish(&types);
  text_finish(&args);
  text_finish(&params);
}

static void put_function(text_t* out, ir_context_t* ctx, parts_t* t, const char* name, uint32_t results) {
  text_t args = {0}, types = {0};
  put_list(&t->params, &t->result_sizes);
  put_list(&args, &t->tensors);
  put_list(&args, &t->scalars);
  put_list(&args, &t->size_names);
  put_list(&types, &t->tensor_types);
  put_list(&types, &t->types);
  put_list(&types, &t->size_types);
  text_puts(out, "util.func private ");
  put_symbol(out, ctx, t->label.data, "_dispatch");
  text_printf(out, "(%s) -> (%s) {\n%s    %%r:%u = flow.dispatch ", t->params.data ? t->params.data : "",
              t->results.data, t->dims.data ? t->dims.data : "", results);
  put_symbol(out, ctx, t->label.data, "_executable");
  text_puts(out, "::");
  put_symbol(out, ctx, name, "_entry_point");
  text_printf(out, "(%s) : (%s) -> (%s)\n    util.return ", args.data ? args.data : "", types.data ? types.data : "",
              t->dispatch_results.data);
  for (uint32_t i = 0; i < results; ++i) text_printf(out, "%s%%r#%u", i ? ", " : "", i);
  text_printf(out, " : %s\n}\n", t->results.data);
  text_finish(&args);
  text_finish(&types);
}

// The type of the function that dispatches.
static const ir_type_t* function_type(ir_context_t* ctx, spec_values_t ins, spec_values_t outs) {
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(ctx), const ir_type_t*, ins.count + outs.count);
  for (uint32_t i = 0; i < ins.count; ++i) types[i] = ins.items[i]->type;
  for (uint32_t i = 0; i < outs.count; ++i) types[ins.count + i] = outs.items[i]->type;
  return ir_type_function(ctx, types, ins.count, types + ins.count, outs.count);
}

// One that the program has of the same name and type; else the label becomes one that it does not have.
static ir_op_t* find_function(pdl_t* p, parts_t* t, const ir_type_t* type) {
  size_t size = t->label.size;
  for (uint32_t i = 1;; ++i) {
    text_t name = {0};
    text_printf(&name, "%s_dispatch", t->label.data);
    ir_op_t* func = ir_symbol_lookup(p->module, name.data);
    text_finish(&name);
    const ir_attr_t* own = ir_is(func, UTIL_FUNC) ? ir_op_attr(func, "function_type") : NULL;
    if (!func || (own && own->kind == IR_ATTR_TYPE && own->type == type)) return func;
    t->label.size = size;
    text_printf(&t->label, "_%u", i);
  }
}

// The function that dispatches, and its executable, in front of the program's.
static ir_op_t* make_function(pdl_t* p, parts_t* t, const char* name, uint32_t results) {
  text_t* text = ARENA_NEW(ir_context_arena(p->ctx), text_t);  // what is read of it points into it
  put_executable(text, p->ctx, t, name);
  put_function(text, p->ctx, t, name, results);
  char* kept = arena_copy(ir_context_arena(p->ctx), text->data, text->size + 1);
  size_t size = text->size;
  text_finish(text);
  ir_op_t *module = ir_parse_module(p->ctx, "rewriteAsFlowDispatch", kept, size), *op = NULL;
  ir_block_t* body = ir_module_body(p->module);
  while (module && (op = ir_module_body(module)->first)) {
    ir_op_remove(op);
    ir_block_insert_before(body, op, body->first);
    if (ir_is(op, UTIL_FUNC)) return op;
  }
  return NULL;
}

// Sizes of results that are open; the pattern may give all of them.
static bool choose_sizes(pdl_t* p, const pdl_thing_t* results, pdl_thing_t* sizes) {
  uint32_t all = 0, open = 0, at = 0, kept = 0;
  for (uint32_t i = 0; i < results->count; ++i) {
    all += (uint32_t)results->values[i]->type->rank;
    open += ir_type_open_dims(results->values[i]->type);
  }
  if (sizes->count != all && sizes->count != open) return false;
  ir_value_t** values = ARENA_ARRAY(ir_context_arena(p->ctx), ir_value_t*, open + 1);
  for (uint32_t i = 0; i < results->count; ++i) {
    const ir_type_t* type = results->values[i]->type;
    for (int32_t k = 0; k < type->rank; ++k) {
      if (type->dims[k] == IR_DYNAMIC) {
        values[kept] = sizes->values[sizes->count == all ? at : kept];
        ++kept;
      }
      ++at;
    }
  }
  for (uint32_t i = 0; i < open; ++i) {
    if (values[i]->type->kind != IR_TYPE_INDEX) return false;
  }
  *sizes = (pdl_thing_t){.kind = PDL_IS_VALUES, .count = open, .values = values};
  return true;
}

static spec_values_t join(pdl_t* p, const pdl_thing_t* const* lists, uint32_t count) {
  spec_values_t out = {0};
  uint32_t at = 0;
  for (uint32_t i = 0; i < count; ++i) out.count += lists[i]->count;
  out.items = ARENA_ARRAY(ir_context_arena(p->ctx), ir_value_t*, out.count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t k = 0; k < lists[i]->count; ++k) out.items[at++] = lists[i]->values[k];
  }
  return out;
}

pdl_outcome_t pdl_rewrite_as_dispatch(pdl_t* p, ir_builder_t* b, ir_op_t* op) {
  enum { ROOT, NAME, FIRST_LIST, SIZES = FIRST_LIST + 2, OPERANDS = 6 };
  const pdl_thing_t* name = op->operand_count == OPERANDS ? pdl_derive(p, ir_operand(op, NAME)) : NULL;
  pdl_thing_t lists[ROLE_COUNT], sizes;
  parts_t parts = {0};
  uint32_t number = 0;
  bool known = name && name->kind == PDL_IS_ATTR && name->attr->kind == IR_ATTR_STRING && name->attr->size > 0;
  for (uint32_t i = 0; known && i < ROLE_COUNT; ++i) {
    known = pdl_list(p, op, i < ROLE_OTHER ? FIRST_LIST + i : SIZES + 1, 1, PDL_IS_VALUES, &lists[i]);
  }
  known = known && pdl_list(p, op, SIZES, 1, PDL_IS_VALUES, &sizes);
  if (!known) return pdl_refuse(p, op, "needs a root, a function's name, inputs, what they replace, its sizes, others");
  bool fits = lists[ROLE_RESULT].count && add_values(&parts, &lists[ROLE_INPUT], ROLE_INPUT, &number) &&
              add_values(&parts, &lists[ROLE_OTHER], ROLE_OTHER, &number) &&
              add_values(&parts, &lists[ROLE_RESULT], ROLE_RESULT, &number);
  if (!fits || !choose_sizes(p, &lists[ROLE_RESULT], &sizes)) {
    finish_parts(&parts);
    return pdl_refuse(p, op, "takes tensors and numbers, replaces tensors, and needs their sizes, open ones or all");
  }
  const pdl_thing_t* const given[] = {&lists[ROLE_INPUT], &lists[ROLE_OTHER], &sizes};
  const pdl_thing_t* replaced = &lists[ROLE_RESULT];
  spec_values_t ins = join(p, given, 3), outs = join(p, &replaced, 1);
  put_label(&parts, name->attr->text, lists);
  ir_op_t* func = find_function(p, &parts, function_type(p->ctx, ins, outs));
  if (!func) func = make_function(p, &parts, name->attr->text, outs.count);
  finish_parts(&parts);
  if (!func) return PDL_FAILED;
  spec_build_call(b, func, ins, outs);
  return pdl_erase(p, op, ROOT);
}
