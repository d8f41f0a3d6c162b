// Globals of util, ml_program and tosa as graph.global, and util.initializer as functions that run once. See
// lowering_control.h.
//
//   util.global private @w = #stream.parameter.named<"model"::"w"> : tensor<4xf32>
// becomes
//   graph.global {sym_name = "w", type = tensor<4xf32>, parameter_scope = "model", parameter_key = "w"}
//
// A value may be elements, a number, bytes of one pattern, a parameter, or nothing: then it is zeros.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "dialects/ml_program.h"
#include "dialects/tosa.h"
#include "dialects/util.h"
#include "import/control.h"
#include "import/lowering_control.h"

bool lower_is_global(const ir_op_t* op) {
  return ir_is(op, UTIL_GLOBAL) || ir_is(op, ML_PROGRAM_GLOBAL) || ir_is(op, TOSA_VARIABLE);
}

static ir_op_t* find_global_op(lowering_t* l, const char* name) {
  ir_op_t* found = ir_symbol_find(l->ctx, l->module, name);
  if (found && ir_is(found, GRAPH_GLOBAL)) return found;
  IR_FOR_OPS(op, ir_module_body(l->module)) {
    if (ir_is(op, GRAPH_GLOBAL) && strcmp(ir_op_string(op, "sym_name", ""), name) == 0) return op;
  }
  return NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Types
//===----------------------------------------------------------------------------------------------------------------===

// tosa.variable has its shape and its element type apart.
static const ir_type_t* written_type(ir_context_t* ctx, const ir_op_t* op) {
  const ir_attr_t *element = ir_op_attr(op, "type"), *shape = ir_op_attr(op, "var_shape");
  int64_t dims[GRAPH_MAX_RANK];
  if (!element || element->kind != IR_ATTR_TYPE) return NULL;
  if (!ir_is(op, TOSA_VARIABLE) || !shape) return element->type;
  uint32_t rank = ir_attr_ints(shape, dims, GRAPH_MAX_RANK);
  if (rank > GRAPH_MAX_RANK || ir_type_is_shaped(element->type)) return element->type;
  for (uint32_t i = 0; i < rank; ++i) dims[i] = dims[i] < 0 ? IR_DYNAMIC : dims[i];
  return ir_type_tensor(ctx, element->type, (int32_t)rank, dims);
}

// Numbers that no register of the host program holds are tensors without dims; complex ones are two.
static const ir_type_t* global_type(ir_context_t* ctx, const ir_type_t* written) {
  const ir_type_t *packed = lower_packed_type(ctx, written), *type = packed ? packed : lower_type(ctx, written);
  if (!type || ir_type_is_tensor(type) || type->kind == IR_TYPE_INDEX) return type;
  bool wide = type->width == 32 || type->width == 64;
  return wide ? type : ir_type_tensor(ctx, type, 0, NULL);
}

//===----------------------------------------------------------------------------------------------------------------===
// Values
//===----------------------------------------------------------------------------------------------------------------===

// "text" at *at, which moves behind it; NULL when it is not that.
static const char* quoted(ir_context_t* ctx, const char** at) {
  const char* p = *at + strspn(*at, " ");
  char* out = arena_alloc(ir_context_arena(ctx), strlen(p) + 1);
  size_t size = 0;
  if (*p++ != '"') return NULL;
  for (; *p && *p != '"'; ++p) {
    char c = *p;
    if (c == '\\') {
      c = *++p;
      if (!c) return NULL;
      if (isxdigit((unsigned char)p[0]) && isxdigit((unsigned char)p[1])) {
        c = (char)strtol((const char[]){p[0], p[1], 0}, NULL, 16);
        ++p;
      } else {
        c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
      }
    }
    out[size++] = c;
  }
  if (*p != '"') return NULL;
  out[size] = 0;
  *at = p + 1;
  return out;
}

typedef struct global_t {
  lowering_t* l;
  ir_op_t* op;
  const ir_type_t *written, *type;
  ir_named_attr_t attrs[6];
  uint32_t count;
} global_t;

static void add_attr(global_t* g, const char* name, const ir_attr_t* value) {
  g->attrs[g->count++] = (ir_named_attr_t){ir_intern_cstr(g->l->ctx, name), value};
}

bool lower_parameter_name(ir_context_t* ctx, const ir_attr_t* value, const char** scope, const char** key) {
  const char* at = value->body ? value->body : "";
  *scope = "";
  *key = quoted(ctx, &at);
  at += strspn(at, " ");
  if (*key && strncmp(at, "::", 2) == 0) {
    at += 2;
    *scope = *key;
    *key = quoted(ctx, &at);
  }
  return *key != NULL;
}

static bool add_parameter(global_t* g, const ir_attr_t* value) {
  ir_context_t* ctx = g->l->ctx;
  const char *scope, *key;
  if (!lower_parameter_name(ctx, value, &scope, &key)) {
    return ir_op_error(ctx, g->op, "names no parameter; #%s<\"scope\"::\"key\"> does", value->text);
  }
  if (!ir_type_is_tensor(g->type)) return ir_op_error(ctx, g->op, "is a number; parameters are tensors");
  add_attr(g, "parameter_scope", ir_attr_cstring(ctx, scope));
  add_attr(g, "parameter_key", ir_attr_cstring(ctx, key));
  return true;
}

static bool add_bytes(global_t* g, const ir_attr_t* value) {
  unsigned char element[16];
  char* end = NULL;
  long byte = value->body ? strtol(value->body, &end, 0) : -1;
  if (!end || end == value->body || *end || byte < 0 || byte > 255) {
    return ir_op_error(g->l->ctx, g->op, "needs a byte from 0 to 255 as pattern");
  }
  const ir_type_t* scalar = ir_type_scalar(g->type);
  bool one_bit = scalar->kind == IR_TYPE_INTEGER && scalar->width == 1;
  memset(element, one_bit ? byte & 1 : (int)byte, sizeof(element));
  const ir_type_t* type = ir_type_is_tensor(g->type) ? g->type : ir_type_tensor(g->l->ctx, g->type, 0, NULL);
  const ir_attr_t* filled = ir_attr_elements(g->l->ctx, type, element, ir_type_bytes(scalar));
  if (ir_type_is_tensor(g->type)) return add_attr(g, "value", filled), true;
  bool number = ir_type_is_float(scalar);
  add_attr(g, "value",
           number ? ir_attr_float(g->l->ctx, scalar, ir_attr_element_number(filled, 0))
                  : ir_attr_integer(g->l->ctx, scalar, ir_attr_element_integer(filled, 0)));
  return true;
}

static bool wrong_value(global_t* g, const ir_type_t* found) {
  return ir_op_error(g->l->ctx, g->op, "has a value of type %s where its type is %s",
                     found ? ir_type_str(g->l->ctx, found) : "none", ir_type_str(g->l->ctx, g->written));
}

// Elements of which each is two: one that repeats, as the pair that it is.
static bool add_pairs(global_t* g, const ir_attr_t* value) {
  enum { MAX_REPEATED = 1 << 28 };
  ir_context_t* ctx = g->l->ctx;
  if (lower_packed_type(ctx, value->type) != g->type || !ir_type_is_static(g->type)) return wrong_value(g, value->type);
  size_t bytes = ir_type_bytes(g->type->element), count = (size_t)ir_type_count(g->type) / 2;
  const char* data = ir_attr_data(value);
  bool same = value->splat && memcmp(data, data + bytes, bytes) == 0;
  if (same || !value->splat) {
    const ir_attr_t* pairs = ir_attr_elements_borrow(ctx, g->type, data, same ? bytes : value->size);
    return add_attr(g, "value", pairs), true;
  }
  if (count > MAX_REPEATED / (2 * bytes))
    return ir_op_error(ctx, g->op, "starts as too many times the same complex number");
  char* all = arena_alloc(ir_context_arena(ctx), 2 * bytes * count + 1);
  for (size_t i = 0; i < count; ++i) memcpy(all + 2 * bytes * i, data, 2 * bytes);
  return add_attr(g, "value", ir_attr_elements_borrow(ctx, g->type, all, 2 * bytes * count)), true;
}

static bool add_elements(global_t* g, const ir_attr_t* value) {
  if (ir_type_is_shaped(value->type) && value->type->element->kind == IR_TYPE_COMPLEX && value->size)
    return add_pairs(g, value);
  bool fits = ir_type_is_tensor(g->type) && ir_type_is_shaped(value->type) && ir_type_is_static(g->type) &&
              lower_type(g->l->ctx, value->type) == g->type && (value->size || !ir_type_count(g->type));
  if (!fits) return wrong_value(g, value->type);
  add_attr(g, "value", value->type == g->type ? value : ir_attr_retype(g->l->ctx, value, g->type));
  return true;
}

static bool add_number(global_t* g, const ir_attr_t* value) {
  ir_context_t* ctx = g->l->ctx;
  const ir_type_t *scalar = ir_type_scalar(g->type), *found = value->type ? lower_type(ctx, value->type) : NULL;
  if (ir_type_is_shaped(g->written) || found != scalar) return wrong_value(g, value->type);
  if (!ir_type_is_tensor(g->type)) return add_attr(g, "value", value), true;
  unsigned char element[16] = {0};
  if (value->kind == IR_ATTR_FLOAT) {
    ir_scalar_store_number(scalar, value->number, element);
  } else {
    ir_scalar_store_integer(scalar, value->integer, element);
  }
  add_attr(g, "value", ir_attr_elements(ctx, g->type, element, ir_type_bytes(scalar)));
  return true;
}

static bool add_value(global_t* g, const ir_attr_t* value) {
  static const struct {
    const char* name;
    bool (*add)(global_t* g, const ir_attr_t* value);
  } named[] = {{"stream.parameter.named", add_parameter},
               {"flow.parameter.named", add_parameter},
               {"util.byte_pattern", add_bytes}};
  if (!value) return true;
  if (value->kind == IR_ATTR_ELEMENTS) return add_elements(g, value);
  if (value->kind == IR_ATTR_INTEGER || value->kind == IR_ATTR_FLOAT) return add_number(g, value);
  if (value->kind == IR_ATTR_OPAQUE && strcmp(value->text, "util.uninitialized") == 0) return true;
  for (size_t i = 0; value->kind == IR_ATTR_OPAQUE && i < sizeof(named) / sizeof(named[0]); ++i) {
    if (strcmp(value->text, named[i].name) == 0) return named[i].add(g, value);
  }
  return ir_op_error(g->l->ctx, g->op,
                     "has an initial value of an unknown kind; elements, numbers, #util.uninitialized, "
                     "#util.byte_pattern, #flow.parameter.named and #stream.parameter.named are known");
}

static bool lower_global(lowering_t* l, ir_op_t* op) {
  global_t g = {.l = l, .op = op, .written = written_type(l->ctx, op)};
  if (g.written) g.type = global_type(l->ctx, g.written);
  if (!g.type) {
    return ir_op_error(l->ctx, op, "has type %s; tensors of known rank and numbers are supported",
                       g.written ? ir_type_str(l->ctx, g.written) : "none");
  }
  const ir_attr_t* value = ir_op_attr(op, "value");
  if (!value) value = ir_op_attr(op, "initial_value");
  add_attr(&g, "sym_name", ir_attr_cstring(l->ctx, ir_op_string(op, "sym_name", ir_op_string(op, "name", ""))));
  add_attr(&g, "type", ir_attr_type(l->ctx, g.type));
  if (ir_op_flag(op, "is_mutable") || ir_is(op, TOSA_VARIABLE)) add_attr(&g, "mutable", ir_attr_unit(l->ctx));
  if (!add_value(&g, value)) return false;
  ir_builder_t b = ir_builder_before(l->ctx, op);
  ir_op_state_t state = {.info = ir_context_op(l->ctx, GRAPH_GLOBAL), .loc = op->loc, .attrs = g.attrs};
  state.attr_count = g.count;
  ir_build(&b, &state);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Accesses
//===----------------------------------------------------------------------------------------------------------------===

static bool in_initializer(const ir_op_t* op) {
  while (op && !ir_is(op, UTIL_INITIALIZER)) op = ir_op_parent(op);
  return op != NULL;
}

// `op`: a load or store, or the util.global.address of an indirect one.
static ir_op_t* accessed_global(lower_op_t* n, const ir_op_t* op) {
  const char* name = ir_op_string(op, "global", ir_op_string(op, "name", ir_op_string(op, "sym_name", "")));
  ir_op_t* global = find_global_op(n->l, name);
  if (!global) lower_error(n, "names @%s, which is no global of this module", name);
  return global;
}

static bool is_indirect(const ir_op_t* op) {
  return ir_is(op, UTIL_GLOBAL_LOAD_INDIRECT) || ir_is(op, UTIL_GLOBAL_STORE_INDIRECT);
}

// Where an indirect access gets its address from: its last operand.
static const ir_op_t* address_of(const ir_op_t* op) {
  return op->operand_count ? ir_operand(op, op->operand_count - 1)->def : NULL;
}

static ir_op_t* find_global(lower_op_t* n) {
  if (!is_indirect(n->op)) return accessed_global(n, n->op);
  const ir_op_t* address = address_of(n->op);
  if (ir_is(address, UTIL_GLOBAL_ADDRESS)) return accessed_global(n, address);
  lower_error(n, "has an address that is not from util.global.address");
  return NULL;
}

static ir_op_t* stored_global(lowering_t* l, const ir_op_t* op) {
  bool stores = ir_is(op, UTIL_GLOBAL_STORE) || ir_is(op, ML_PROGRAM_GLOBAL_STORE);
  if (ir_is(op, UTIL_GLOBAL_STORE_INDIRECT)) {
    op = address_of(op);
    stores = ir_is(op, UTIL_GLOBAL_ADDRESS);
  }
  return stores ? find_global_op(l, ir_op_string(op, "global", "")) : NULL;
}

static const ir_type_t* type_of_global(const ir_op_t* global) { return ir_op_attr(global, "type")->type; }

// Of a global that never changes, its value.
bool lower_global_load(lower_op_t* n) {
  const ir_type_t* wanted = lower_out_type(n, 0);
  if (wanted->kind == IR_TYPE_OPAQUE && strcmp(wanted->name, "hal.device") == 0) return lower_device_load(n);
  const ir_op_t* global = find_global(n);
  if (!global) return false;
  const ir_type_t *stored = type_of_global(global), *own = wanted;
  const ir_type_t *packed = lower_packed_type(n->ctx, own), *type = packed ? packed : lower_type(n->ctx, own);
  if (!type) return lower_unsupported(n, "tensors of known rank and numbers are");
  bool fits = lower_fits(stored, type) || (!ir_type_is_tensor(type) && ir_type_scalar(stored) == type);
  if (!fits) return lower_error(n, "loads a global of type %s", ir_type_str(n->ctx, stored));
  const ir_attr_t* value = ir_op_attr(global, "value");
  bool changes = ir_op_flag(global, "mutable") || ir_op_flag(global, "initialized");
  if (value && !changes) {
    lower_value_t constant = {0};
    if (!lower_constant(n, value, &constant)) return false;
    constant.v = lower_coerce(n->l, constant.v, type);
    if (packed && constant.v) n->out[0] = lower_unpack(n->l, constant.v, own);
    return packed ? constant.v != NULL : lower_return(n, constant.v);
  }
  ir_named_attr_t attr = {"global", ir_attr_symbol(n->ctx, ir_op_string(global, "sym_name", ""))};
  ir_value_t* loaded = graph_build(n->b, GRAPH_GLOBAL_LOAD, NULL, 0, stored, &attr, 1);
  loaded = lower_coerce(n->l, loaded, type);
  if (packed && loaded) n->out[0] = lower_unpack(n->l, loaded, own);
  return packed ? loaded != NULL : lower_return(n, loaded);
}

bool lower_global_store(lower_op_t* n) {
  const ir_op_t* global = find_global(n);
  if (!global || !n->in[0]) return global ? lower_unsupported(n, NULL) : false;
  const char* name = ir_op_string(global, "sym_name", "");
  if (!ir_op_flag(global, "mutable") && !in_initializer(n->op)) {
    return lower_error(n, "stores @%s, which is not mutable", name);
  }
  ir_named_attr_t attr = {"global", ir_attr_symbol(n->ctx, name)};
  ir_value_t* v = n->values[0].im ? lower_pack(n->l, n->values[0]) : n->in[0];
  v = lower_coerce(n->l, v, type_of_global(global));
  ir_op_state_t state = {.info = ir_context_op(n->ctx, GRAPH_GLOBAL_STORE),
                         .operands = &v,
                         .operand_count = 1,
                         .attrs = &attr,
                         .attr_count = 1};
  return v && ir_build(n->b, &state);
}

// Only loads and stores look at it.
bool lower_global_address(lower_op_t* n) { return accessed_global(n, n->op) != NULL; }

//===----------------------------------------------------------------------------------------------------------------===
// Initializers
//===----------------------------------------------------------------------------------------------------------------===

// What an initializer stores is no constant.
static void mark_stored(lowering_t* l, ir_op_t* parent) {
  for (uint32_t r = 0; r < parent->region_count; ++r) {
    IR_FOR_BLOCKS(block, &parent->regions[r]) {
      IR_FOR_OPS(op, block) {
        ir_op_t* global = stored_global(l, op);
        if (global) ir_op_set_attr(l->ctx, global, "initialized", ir_attr_unit(l->ctx));
        mark_stored(l, op);
      }
    }
  }
}

static void name_initializer(lowering_t* l, ir_op_t* op, uint32_t number) {
  const char* name = arena_printf(ir_context_arena(l->ctx), "__initializer_%u", number);
  while (ir_symbol_lookup(l->module, name)) name = arena_printf(ir_context_arena(l->ctx), "_%s", name);
  ir_op_set_attr(l->ctx, op, "sym_name", ir_attr_cstring(l->ctx, name));
  ir_op_set_attr(l->ctx, op, "function_type", ir_attr_type(l->ctx, ir_type_function(l->ctx, NULL, 0, NULL, 0)));
  ir_op_set_attr(l->ctx, op, "graph.initializer", ir_attr_unit(l->ctx));
}

bool lower_globals(lowering_t* l) {
  uint32_t initializers = 0;
  bool ok = true;
  IR_FOR_OPS(op, ir_module_body(l->module)) {
    if (lower_is_global(op) && !lower_is_device_global(op)) ok &= lower_global(l, op);
  }
  IR_FOR_OPS(op, ir_module_body(l->module)) {
    if (!ir_is(op, UTIL_INITIALIZER)) continue;
    if (!op->regions[0].first || op->regions[0].first->arg_count) {
      ok = ir_op_error(l->ctx, op, "needs a body without arguments");
      continue;
    }
    mark_stored(l, op);
    name_initializer(l, op, initializers++);
  }
  return ok;
}
