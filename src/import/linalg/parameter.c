// Parameters by names that are in functions, also put together there: flow.parameter.load, util.string.*. Each
// parameter becomes a global that is one; what its name is made of must be known here, so that loops over names are
// unrolled (scf.c).
//
//   %key = util.string.format "blk.{}.w"(%c3) : (index) -> !util.buffer        graph.global @__parameter_0 {
//   %w = flow.parameter.load %key[%c0] : tensor<4xf32>                    =>       parameter_key = "blk.3.w", ...}
//                                                                              %w = graph.global_load @__parameter_0
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dialects/flow.h"
#include "dialects/util.h"
#include "import/linalg/ops.h"
#include "import/lowering_control.h"

//===----------------------------------------------------------------------------------------------------------------===
// Text
//===----------------------------------------------------------------------------------------------------------------===

// What a buffer holds, or NULL.
static const ir_attr_t* known_text(const ir_value_t* value) {
  const ir_op_t* op = value ? value->def : NULL;
  const ir_attr_t* attr = ir_is(op, GRAPH_BUFFER) ? ir_op_attr(op, "value") : NULL;
  return attr && attr->kind == IR_ATTR_STRING ? attr : NULL;
}

static bool put_argument(lower_op_t* n, uint32_t i, text_t* out) {
  const ir_attr_t* text = known_text(n->in[i]);
  int64_t number;
  if (text) return text_append(out, text->text, text->size), true;
  if (!n->in[i] || !lower_constant_index(n->in[i], &number)) {
    return lower_unsupported(n, "numbers and text that are known when the program is compiled are");
  }
  const ir_type_t* type = lower_in_type(n, i);
  uint64_t bits = (uint64_t)number;
  if (type->kind == IR_TYPE_INTEGER && type->width < 64) bits &= ((uint64_t)1 << type->width) - 1;
  text_printf(out, "%llu", (unsigned long long)bits);
  return true;
}

// `{}`, the next argument, or `{3}`, that one; `at` is behind the '{'.
static const char* put_place(lower_op_t* n, const char* at, uint32_t* next, text_t* out) {
  char* end = NULL;
  unsigned long number = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : (*next)++;
  if (end) at = end;
  if (*at != '}' || number >= n->op->operand_count) {
    return lower_error(n, "has a place {...} for which there is no argument"), NULL;
  }
  return put_argument(n, (uint32_t)number, out) ? at + 1 : NULL;
}

static bool return_text(lower_op_t* n, text_t* text, bool ok) {
  ir_named_attr_t attr = {"value", ir_attr_string(n->ctx, text->data ? text->data : "", text->size)};
  text_finish(text);
  return ok && lower_return(n, graph_build(n->b, GRAPH_BUFFER, NULL, 0, lower_out_type(n, 0), &attr, 1));
}

bool string_lower_format(lower_op_t* n) {
  const ir_attr_t* format = ir_op_attr(n->op, "format");
  text_t text = {0};
  uint32_t next = 0;
  if (!format || format->kind != IR_ATTR_STRING) return lower_error(n, "needs a format");
  const char* at = arena_printf(ir_context_arena(n->ctx), "%.*s", (int)format->size, format->text);
  while (at && *at) {
    bool twice = (*at == '{' || *at == '}') && at[1] == *at;
    if (*at == '{' && !twice) {
      at = put_place(n, at + 1, &next, &text);
      continue;
    }
    text_append(&text, at, 1);
    at += twice ? 2 : 1;
  }
  return return_text(n, &text, at != NULL);
}

bool string_lower_itoa(lower_op_t* n) {
  text_t text = {0};
  bool ok = put_argument(n, 0, &text);
  return return_text(n, &text, ok);
}

//===----------------------------------------------------------------------------------------------------------------===
// Parameters
//===----------------------------------------------------------------------------------------------------------------===

static bool has_text(const ir_op_t* op, const char* name, const char* text) {
  const char* own = ir_op_string(op, name, NULL);
  return own && strcmp(own, text) == 0;
}

// The global that is the parameter; one for all loads.
static const char* parameter_global(lower_op_t* n, const char* scope, const char* key, const ir_type_t* type) {
  ir_block_t* body = ir_module_body(n->l->module);
  const ir_attr_t* held = ir_attr_type(n->ctx, type);
  uint32_t number = 0;  // of globals, where a free name is most likely
  IR_FOR_OPS(op, body) {
    number += ir_is(op, GRAPH_GLOBAL);
    bool is_it = ir_is(op, GRAPH_GLOBAL) && !ir_op_flag(op, "mutable") && ir_op_attr(op, "type") == held &&
                 has_text(op, "parameter_scope", scope) && has_text(op, "parameter_key", key);
    if (is_it) return ir_op_string(op, "sym_name", "");
  }
  const char* name;
  do {
    name = arena_printf(ir_context_arena(n->ctx), "__parameter_%u", number++);
  } while (ir_symbol_find(n->ctx, n->l->module, name));
  ir_named_attr_t attrs[] = {{"sym_name", ir_attr_cstring(n->ctx, name)},
                             {"type", held},
                             {"parameter_scope", ir_attr_cstring(n->ctx, scope)},
                             {"parameter_key", ir_attr_cstring(n->ctx, key)}};
  ir_builder_t b = ir_builder_before(n->ctx, body->first);
  ir_build(&b, &(ir_op_state_t){
                   .info = ir_context_op(n->ctx, GRAPH_GLOBAL), .loc = n->op->loc, .attrs = attrs, .attr_count = 4});
  return name;
}

static const char* read_name(lower_op_t* n, uint32_t operand) {
  const ir_attr_t* text = known_text(n->in[operand]);
  if (text && !memchr(text->text, 0, text->size)) {
    return arena_printf(ir_context_arena(n->ctx), "%.*s", (int)text->size, text->text);
  }
  lower_unsupported(n, "util.buffer.constant and util.string.format of numbers known here name a parameter");
  return NULL;
}

static bool return_parameter(lower_op_t* n, const char* scope, const char* key, const ir_type_t* type) {
  ir_named_attr_t attr = {"global", ir_attr_symbol(n->ctx, parameter_global(n, scope, key, type))};
  return lower_return(n, graph_build(n->b, GRAPH_GLOBAL_LOAD, NULL, 0, type, &attr, 1));
}

bool parameter_lower_constant(lower_op_t* n) {
  const ir_attr_t* value = ir_op_attr(n->op, "value");
  const ir_type_t* type = lower_type(n->ctx, lower_out_type(n, 0));
  const char *scope, *key;
  bool named = value && value->kind == IR_ATTR_OPAQUE &&
               (!strcmp(value->text, "flow.parameter.named") || !strcmp(value->text, "stream.parameter.named"));
  if (!named) return lower_unfoldable(n);
  if (!type || !ir_type_is_tensor(type) || !ir_type_is_static(type)) return lower_unsupported(n, "known sizes are");
  if (!lower_parameter_name(n->ctx, value, &scope, &key)) {
    return lower_error(n, "names no parameter; #%s<\"scope\"::\"key\"> does", value->text);
  }
  return return_parameter(n, scope, key, type);
}

bool parameter_lower_load(lower_op_t* n) {
  uint32_t scoped = n->op->operand_count == 3;
  const ir_type_t* type = lower_type(n->ctx, lower_out_type(n, 0));
  int64_t offset;
  if (!type || !ir_type_is_tensor(type) || !ir_type_is_static(type) || n->op->operand_count != 2 + scoped) {
    return lower_unsupported(n, "tensors of known sizes can be loaded");
  }
  if (!lower_constant_index(n->in[1 + scoped], &offset) || offset) {
    return lower_unsupported(n, "parameters are loaded from their first byte on");
  }
  const char *scope = scoped ? read_name(n, 0) : "", *key = read_name(n, scoped);
  return scope && key && return_parameter(n, scope, key, type);
}

bool parameter_is_named_in(const ir_block_t* block) {
  IR_FOR_OPS(op, block) {
    if (ir_is(op, FLOW_PARAMETER_LOAD) || ir_is(op, UTIL_STRING_FORMAT) || ir_is(op, UTIL_STRING_ITOA)) return true;
    for (uint32_t r = 0; r < op->region_count; ++r) {
      IR_FOR_BLOCKS(inner, &op->regions[r]) {
        if (parameter_is_named_in(inner)) return true;
      }
    }
  }
  return false;
}
