// See holder.h.
#include "import/onnx/holder.h"

#include <stdlib.h>
#include <string.h>

#include "import/onnx/numbers.h"
#include "import/onnx/onnx.h"
#include "import/onnx/strings.h"

//===----------------------------------------------------------------------------------------------------------------===
// Values
//===----------------------------------------------------------------------------------------------------------------===

onnx_value_t onnx_holder_value(onnx_node_t* n, const onnx_holder_t* holder) {
  onnx_value_t value = onnx_value(graph_scalar_constant(n->b, onnx_bool(n->ctx), 1), onnx_bool(n->ctx));
  value.holder = arena_copy(ir_context_arena(n->ctx), holder, sizeof(*holder));
  return value;
}

onnx_value_t onnx_sequence_value(onnx_node_t* n, const onnx_value_t* items, uint32_t count, const ir_type_t* element) {
  onnx_holder_t s = {.count = count, .element = element, .rank = count ? onnx_rank(items[0]) : -1};
  s.items = ARENA_ARRAY(ir_context_arena(n->ctx), onnx_value_t, count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    s.items[i] = items[i];
    if (onnx_rank(items[i]) != s.rank) s.rank = -1;
  }
  return onnx_holder_value(n, &s);
}

ir_value_t* onnx_flatten(onnx_node_t* n, onnx_value_t value) {
  ir_value_t* x = value.v;
  onnx_dim_t total = onnx_dim_of(1);
  if (onnx_is_string(value)) return onnx_string_rows(n, x);
  for (int32_t i = 0; i < x->type->rank; ++i) total = onnx_dim_mul(n, total, onnx_dim(n, x, i));
  return onnx_reshape(n, x, 1, &total);
}

ir_value_t* onnx_shape_vector(onnx_node_t* n, onnx_value_t x) {
  int32_t rank = onnx_rank(x);
  ir_value_t* parts[ONNX_MAX_RANK];
  for (int32_t i = 0; i < rank; ++i) parts[i] = onnx_dim_tensor(n, onnx_dim(n, x.v, i), 1);
  return rank ? graph_concat(n->b, parts, (uint32_t)rank, 0) : onnx_index_vector(n, NULL, 0);
}

// Of static sizes; strings are empty.
static ir_value_t* zeros(onnx_node_t* n, const ir_type_t* element, int32_t rank, const int64_t* dims) {
  const ir_type_t* type = onnx_tensor_type(n->ctx, element, rank, dims);
  int64_t sizes[ONNX_MAX_RANK];
  for (int32_t i = 0; i < type->rank; ++i) sizes[i] = type->dims[i] == IR_DYNAMIC ? 0 : type->dims[i];
  return graph_splat_number(n->b, ir_type_tensor(n->ctx, type->element, type->rank, sizes), 0);
}

bool onnx_sequence_flatten(onnx_node_t* n, onnx_holder_t* s) {
  arena_t* arena = ir_context_arena(n->ctx);
  if (s->data) return true;
  if (s->count && s->rank < 0)
    return onnx_unsupported(n, "a sequence of tensors of several ranks has no form at run time");
  ir_value_t **data = ARENA_ARRAY(arena, ir_value_t*, s->count + 1),
             **rows = ARENA_ARRAY(arena, ir_value_t*, s->count + 1);
  for (uint32_t i = 0; i < s->count; ++i) {
    data[i] = onnx_flatten(n, s->items[i]);
    const onnx_dim_t dims[] = {onnx_dim_of(1), onnx_dim_of(s->rank)};
    rows[i] = onnx_reshape(n, onnx_shape_vector(n, s->items[i]), 2, dims);
  }
  if (s->count) {
    if (onnx_is_str(s->element)) onnx_string_align(n, data, s->count);
    s->data = graph_concat(n->b, data, s->count, 0);
    s->shapes = graph_concat(n->b, rows, s->count, 0);
  } else {
    const int64_t none[] = {0, s->rank < 0 ? 0 : s->rank};
    s->data = zeros(n, s->element, 1, none);
    s->shapes = graph_splat_integer(n->b, onnx_tensor_type(n->ctx, onnx_si64(n->ctx), 2, none), 0);
  }
  s->items = NULL;
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Types: !torch.list<vtensor<[?,3],f32>>, !torch.optional<list<vtensor<*,si64>>>
//===----------------------------------------------------------------------------------------------------------------===

enum { DATA_TYPES = 32 };  // more than ONNX numbers

typedef struct form_t {
  bool is_optional, is_sequence;
  const ir_type_t* element;
  int32_t rank;  // -1: unknown
  int64_t dims[ONNX_MAX_RANK];
} form_t;

bool onnx_is_holder_type(const ir_type_t* type) {
  return type->kind == IR_TYPE_OPAQUE &&
         (strcmp(type->name, "torch.list") == 0 || strcmp(type->name, "torch.optional") == 0);
}

static bool eat(const char** at, const char* text) {
  size_t size = strlen(text);
  if (strncmp(*at, text, size) != 0) return false;
  *at += size;
  return true;
}

static bool read_dims(const char** at, form_t* form) {
  form->rank = -1;
  if (eat(at, "*,")) return true;
  if (!eat(at, "[")) return false;
  for (form->rank = 0; !eat(at, "],"); ++form->rank) {
    char* end;
    if (form->rank == ONNX_MAX_RANK || (form->rank && !eat(at, ","))) return false;
    form->dims[form->rank] = IR_DYNAMIC;
    if (eat(at, "?")) continue;
    form->dims[form->rank] = strtoll(*at, &end, 10);
    if (end == *at || form->dims[form->rank] < 0) return false;
    *at = end;
  }
  return true;
}

// The element type that a text ending in '>' names.
static const ir_type_t* read_element(ir_context_t* ctx, const char* at) {
  for (int64_t kind = 1; kind < DATA_TYPES; ++kind) {
    const ir_type_t* type = onnx_any_element_type(ctx, kind);
    const char* rest = at;
    if (type && eat(&rest, ir_type_str(ctx, type)) && *rest == '>') return type;
  }
  return NULL;
}

static bool read_form(ir_context_t* ctx, const ir_type_t* type, form_t* form) {
  const char* at = type->body ? type->body : "";
  *form = (form_t){.is_optional = strcmp(type->name, "torch.optional") == 0};
  form->is_sequence = !form->is_optional || eat(&at, "list<");
  if (!eat(&at, "vtensor<") || !read_dims(&at, form)) return false;
  return (form->element = read_element(ctx, at)) != NULL;
}

const ir_type_t* onnx_holder_type(onnx_node_t* n, onnx_value_t x) {
  const onnx_holder_t* h = x.holder;
  const char* optional = "torch.optional";
  if (h->is_optional && !h->value.v) return ir_type_opaque(n->ctx, optional, "vtensor<*,f32>");
  if (h->is_optional && h->value.holder) {
    const char* body = ir_type_str(n->ctx, onnx_holder_type(n, h->value)) + strlen("!torch.");
    return ir_type_opaque(n->ctx, optional, body);
  }
  int64_t dims[ONNX_MAX_RANK];
  int32_t rank = h->is_optional ? onnx_rank(h->value) : h->rank;
  for (int32_t i = 0; i < rank; ++i) dims[i] = h->is_optional ? onnx_dim_size(h->value, i) : IR_DYNAMIC;
  const ir_type_t* member = ir_type_vtensor(n->ctx, h->is_optional ? h->value.element : h->element, rank, dims);
  const char* body = ir_type_str(n->ctx, member) + strlen("!torch.");
  return ir_type_opaque(n->ctx, h->is_optional ? optional : "torch.list", body);
}

//===----------------------------------------------------------------------------------------------------------------===
// Arguments, results, and what crosses the edge of a region
//===----------------------------------------------------------------------------------------------------------------===

// Gives the next tensor of that type: an argument, or an empty one.
typedef struct source_t {
  onnx_node_t* n;
  ir_block_t* block;  // NULL: empty tensors
} source_t;

static ir_value_t* next_tensor(const source_t* s, const ir_type_t* element, int32_t rank, const int64_t* dims) {
  onnx_node_t* n = s->n;
  if (s->block) return ir_block_add_arg(n->ctx, s->block, onnx_tensor_type(n->ctx, element, rank, dims));
  return zeros(n, element, rank, dims);
}

static onnx_value_t make_content(const source_t* s, const form_t* form) {
  static const int64_t any[] = {IR_DYNAMIC};
  onnx_node_t* n = s->n;
  if (!form->is_sequence) {
    return onnx_value(next_tensor(s, form->element, form->rank, form->dims), form->element);
  }
  const int64_t table[] = {IR_DYNAMIC, form->rank < 0 ? IR_DYNAMIC : form->rank};
  onnx_holder_t seq = {.element = form->element, .rank = form->rank};
  seq.data = next_tensor(s, form->element, 1, any);
  seq.shapes = next_tensor(s, onnx_si64(n->ctx), 2, table);
  return onnx_holder_value(n, &seq);
}

static bool make_value(const source_t* s, const ir_type_t* type, onnx_value_t* out) {
  onnx_node_t* n = s->n;
  form_t form;
  if (!read_form(n->ctx, type, &form) || (!form.is_sequence && form.rank < 0)) return false;
  if (!form.is_optional) return *out = make_content(s, &form), true;
  onnx_holder_t h = {.is_optional = true};
  h.present = next_tensor(s, onnx_bool(n->ctx), 0, NULL);
  h.value = make_content(s, &form);
  *out = onnx_holder_value(n, &h);
  return true;
}

bool onnx_holder_argument(onnx_node_t* n, ir_block_t* block, const ir_type_t* type, onnx_value_t* out) {
  return make_value(&(source_t){n, block}, type, out);
}

bool onnx_optional_of(onnx_node_t* n, const ir_type_t* type, onnx_holder_t* out) {
  source_t empty = {n, NULL};
  *out = (onnx_holder_t){.is_optional = true};
  out->present = graph_scalar_constant(n->b, onnx_bool(n->ctx), 0);
  if (onnx_is_holder_type(type)) return make_value(&empty, type, &out->value);
  if (type->kind != IR_TYPE_VTENSOR || type->rank < 0 || !type->element) return false;
  out->value = onnx_value(next_tensor(&empty, type->element, type->rank, type->dims), type->element);
  return true;
}

bool onnx_holder_form(onnx_node_t* n, onnx_value_t x, const ir_type_t** types, uint32_t* count) {
  const onnx_holder_t* h = x.holder;
  if (!h) return types[(*count)++] = x.v->type, true;
  if (h->is_optional) {
    if (!h->value.v) return onnx_unsupported(n, "an optional that is always empty needs a type");
    types[(*count)++] = h->present->type;
    return onnx_holder_form(n, h->value, types, count);
  }
  const int64_t any = IR_DYNAMIC, table[] = {IR_DYNAMIC, h->rank < 0 ? IR_DYNAMIC : h->rank};
  types[(*count)++] = onnx_tensor_type(n->ctx, h->element, 1, &any);
  types[(*count)++] = onnx_tensor_type(n->ctx, onnx_si64(n->ctx), 2, table);
  return true;
}

bool onnx_same_form(onnx_value_t a, onnx_value_t b) {
  if (!a.holder || !b.holder) return !a.holder && !b.holder;
  if (a.holder->is_optional != b.holder->is_optional) return false;
  return !a.holder->is_optional || onnx_same_form(a.holder->value, b.holder->value);
}

onnx_value_t onnx_holder_adopt(onnx_node_t* n, onnx_value_t x, onnx_value_t other) {
  if (!onnx_is_sequence(x) || !onnx_is_sequence(other)) return x;
  onnx_holder_t s = *x.holder;
  if (s.data || s.count || s.rank >= 0 || other.holder->rank < 0) return x;
  s.rank = other.holder->rank;
  return onnx_holder_value(n, &s);
}

static bool flatten_value(onnx_node_t* n, onnx_value_t x, onnx_values_t* out) {
  if (!x.holder) return out->items[out->count++] = x, true;
  onnx_holder_t h = *x.holder;
  if (h.is_optional) {
    if (!h.value.v) return onnx_unsupported(n, "an optional that is always empty needs a type");
    out->items[out->count++] = onnx_value(h.present, onnx_bool(n->ctx));
    return flatten_value(n, h.value, out);
  }
  if (!onnx_sequence_flatten(n, &h)) return false;
  out->items[out->count++] = onnx_value(h.data, h.element);
  out->items[out->count++] = onnx_value(h.shapes, onnx_si64(n->ctx));
  return true;
}

bool onnx_values_flatten(onnx_node_t* n, onnx_values_t values, onnx_values_t* out) {
  out->items = ARENA_ARRAY(ir_context_arena(n->ctx), onnx_value_t, ONNX_MAX_PARTS * values.count + 1);
  out->count = 0;
  for (uint32_t i = 0; i < values.count; ++i) {
    if (!flatten_value(n, values.items[i], out)) return false;
  }
  return true;
}

static onnx_value_t rebuild_value(onnx_node_t* n, onnx_value_t like, const onnx_value_t** at) {
  if (!like.holder) {
    onnx_value_t tensor = *(*at)++;
    return onnx_value(tensor.v, like.element);
  }
  onnx_holder_t h = *like.holder;
  if (h.is_optional) {
    h.present = (*at)++->v;
    h.value = rebuild_value(n, h.value, at);
  } else {
    h.items = NULL;
    h.data = (*at)++->v;
    h.shapes = (*at)++->v;
    int64_t rank = h.shapes->type->dims[1];
    h.rank = rank == IR_DYNAMIC || rank > ONNX_MAX_RANK ? -1 : (int32_t)rank;
  }
  return onnx_holder_value(n, &h);
}

void onnx_values_rebuild(onnx_node_t* n, onnx_values_t like, const onnx_value_t* tensors, onnx_value_t* out) {
  for (uint32_t i = 0; i < like.count; ++i) out[i] = rebuild_value(n, like.items[i], &tensors);
}
