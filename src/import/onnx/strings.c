// See strings.h.
#include "import/onnx/strings.h"

#include <string.h>

#include "import/onnx/numbers.h"

const ir_type_t* onnx_str(ir_context_t* ctx) { return ir_type_opaque(ctx, "torch.str", NULL); }

static bool is_named(const ir_type_t* element, const char* name) {
  return element && element->kind == IR_TYPE_OPAQUE && strcmp(element->name, name) == 0;
}

bool onnx_is_str(const ir_type_t* element) { return is_named(element, "torch.str"); }
bool onnx_is_place(const ir_type_t* element) { return is_named(element, "torch.str.place"); }

//===----------------------------------------------------------------------------------------------------------------===
// Constants
//===----------------------------------------------------------------------------------------------------------------===

int64_t onnx_decode_utf8(const char* text, size_t size, int32_t* out) {
  static const int32_t least[] = {0, 0x80, 0x800, 0x10000};
  const uint8_t* at = (const uint8_t*)text;
  int64_t count = 0;
  for (size_t i = 0; i < size; ++count) {
    uint32_t byte = at[i++], more = byte < 0x80 ? 0 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    if ((byte >= 0x80 && byte < 0xc0) || byte > 0xf7 || more > size - i) return -1;
    int32_t point = (int32_t)(more ? byte & (0x3fu >> more) : byte);
    for (uint32_t k = 0; k < more; ++k, ++i) {
      if ((at[i] & 0xc0) != 0x80) return -1;
      point = point << 6 | (at[i] & 0x3f);
    }
    if (point < least[more] || point >= ONNX_CODE_POINTS || (point >= 0xd800 && point < 0xe000)) return -1;
    out[count] = point;
  }
  return count;
}

bool onnx_is_string_attr(const ir_attr_t* attr, int32_t* rank, int64_t* dims) {
  int32_t inner;
  int64_t first[ONNX_MAX_RANK], next[ONNX_MAX_RANK];
  *rank = 0;
  if (!attr) return false;
  if (attr->kind == IR_ATTR_STRING) return true;
  if (attr->kind != IR_ATTR_ARRAY) return false;
  dims[0] = attr->count, *rank = 1;
  for (uint32_t i = 0; i < attr->count; ++i) {
    if (!onnx_is_string_attr(attr->items[i], &inner, i ? next : first) || inner > ONNX_MAX_RANK - 2) return false;
    if (i && (inner != *rank - 1 || memcmp(first, next, sizeof(*dims) * (size_t)inner) != 0)) return false;
    *rank = 1 + inner;
  }
  memcpy(dims + 1, first, sizeof(*dims) * (size_t)(*rank - 1));
  return true;
}

static size_t longest_of(const ir_attr_t* attr) {
  size_t longest = attr->kind == IR_ATTR_STRING ? attr->size : 1;
  for (uint32_t i = 0; attr->kind == IR_ATTR_ARRAY && i < attr->count; ++i) {
    size_t size = longest_of(attr->items[i]);
    if (size > longest) longest = size;
  }
  return longest;
}

// Appends the strings' code points, `width` each. The characters of the longest one, or -1.
static int64_t put_strings(const ir_attr_t* attr, size_t width, int32_t** out) {
  int64_t longest = 0;
  if (attr->kind == IR_ATTR_STRING) {
    longest = onnx_decode_utf8(attr->text, attr->size, *out);
    *out += width;
    return longest;
  }
  for (uint32_t i = 0; i < attr->count; ++i) {
    int64_t length = put_strings(attr->items[i], width, out);
    if (length < 0) return -1;
    if (length > longest) longest = length;
  }
  return longest;
}

bool onnx_string_constant(onnx_node_t* n, const ir_attr_t* attr, onnx_value_t* out) {
  int64_t dims[ONNX_MAX_RANK];
  int32_t rank;
  size_t count = 1, width, size;
  if (!onnx_is_string_attr(attr, &rank, dims)) return onnx_error(n, "a constant must be a list of strings");
  for (int32_t i = 0; i < rank; ++i) count *= (size_t)dims[i];
  width = longest_of(attr);
  if (__builtin_mul_overflow(count, width, &size) || size > (size_t)1 << 40)
    return onnx_error(n, "a constant of %zu strings of up to %zu bytes is too large", count, width);
  int32_t *data = ARENA_ARRAY(ir_context_arena(n->ctx), int32_t, size + 1), *at = data;
  int64_t longest = put_strings(attr, width, &at);
  if (longest < 0) return onnx_error(n, "a string is not well-formed UTF-8");
  if (!longest) longest = 1;
  for (size_t i = 1; i < count; ++i) memmove(data + i * longest, data + i * width, (size_t)longest * sizeof(*data));
  dims[rank] = longest;
  const ir_type_t* type = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 32), rank + 1, dims);
  const ir_attr_t* value = ir_attr_elements_borrow(n->ctx, type, data, count * (size_t)longest * sizeof(*data));
  *out = onnx_string_value(n, graph_constant(n->b, value));
  return true;
}

ir_value_t* onnx_string_list(onnx_node_t* n, const char* name) {
  const ir_attr_t* list = onnx_attr(n, name);
  onnx_value_t value;
  int64_t dims[ONNX_MAX_RANK];
  int32_t rank;
  if (!onnx_is_string_attr(list, &rank, dims) || rank != 1)
    return onnx_error(n, "attribute '%s' must be a list of strings", name), NULL;
  return onnx_string_constant(n, list, &value) ? value.v : NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Shapes
//===----------------------------------------------------------------------------------------------------------------===

void onnx_string_dims(onnx_node_t* n, ir_value_t* x, onnx_dim_t* dims) {
  for (int32_t i = 0; i + 1 < x->type->rank; ++i) dims[i] = onnx_dim(n, x, i);
}

static onnx_dim_t count_strings(onnx_node_t* n, ir_value_t* x) {
  onnx_dim_t count = onnx_dim_of(1);
  for (int32_t i = 0; i + 1 < x->type->rank; ++i) count = onnx_dim_mul(n, count, onnx_dim(n, x, i));
  return count;
}

ir_value_t* onnx_string_rows(onnx_node_t* n, ir_value_t* x) {
  const onnx_dim_t dims[] = {count_strings(n, x), onnx_string_width(n, x)};
  return x->type->rank == 2 ? x : onnx_reshape(n, x, 2, dims);
}

ir_value_t* onnx_string_widen(onnx_node_t* n, ir_value_t* x, onnx_dim_t width) {
  onnx_dim_t low[ONNX_MAX_RANK], high[ONNX_MAX_RANK], own = onnx_string_width(n, x);
  int32_t last = x->type->rank - 1;
  if (onnx_dim_same(own, width)) return x;
  for (int32_t i = 0; i <= last; ++i) low[i] = high[i] = onnx_dim_of(0);
  high[last] = onnx_dim_sub(n, width, own);
  return onnx_pad(n, x, low, high);
}

void onnx_string_align(onnx_node_t* n, ir_value_t** xs, uint32_t count) {
  onnx_dim_t width = onnx_dim_of(0);
  for (uint32_t i = 0; i < count; ++i) {
    onnx_dim_t own = onnx_string_width(n, xs[i]);
    if (!onnx_dim_same(own, width)) width = onnx_dim_max(n, width, own);
  }
  for (uint32_t i = 0; i < count; ++i) xs[i] = onnx_string_widen(n, xs[i], width);
}

//===----------------------------------------------------------------------------------------------------------------===
// Comparing
//===----------------------------------------------------------------------------------------------------------------===

ir_value_t* onnx_string_lengths(onnx_node_t* n, ir_value_t* x) {
  const int64_t last = x->type->rank - 1;
  ir_value_t* end = onnx_binary_number(n, SCALAR_add, onnx_iota_like(n, x, last), 1);
  ir_value_t* there = onnx_binary_number(n, SCALAR_ne, x, 0);
  end = graph_reduce(n->b, graph_select(n->b, there, end, graph_splat_like(n->b, end, 0)), &last, 1, "max");
  return onnx_binary_number(n, SCALAR_max, end, 0);  // of no characters at all the maximum is none
}

// x, which lacks the width, in the shape of `like`.
static ir_value_t* along_width(onnx_node_t* n, ir_value_t* x, ir_value_t* like) {
  int64_t at[ONNX_MAX_RANK];
  for (int32_t i = 0; i < x->type->rank; ++i) at[i] = i;
  return onnx_broadcast_as(n, x, like, at);
}

ir_value_t* onnx_string_used(onnx_node_t* n, ir_value_t* x) {
  ir_value_t* lengths = along_width(n, onnx_string_lengths(n, x), x);
  return graph_binary(n->b, SCALAR_lt, onnx_iota_like(n, x, x->type->rank - 1), lengths);
}

ir_value_t* onnx_string_equal(onnx_node_t* n, ir_value_t* x, ir_value_t* y) {
  ir_value_t* both[] = {x, y};
  onnx_string_align(n, both, 2);
  ir_value_t* differ = onnx_binary(n, SCALAR_ne, both[0], both[1]);
  if (!differ) return NULL;
  const int64_t last = differ->type->rank - 1;
  return onnx_unary(n, SCALAR_not, graph_reduce(n->b, differ, &last, 1, "or"));
}

ir_value_t* onnx_string_matches(onnx_node_t* n, ir_value_t* x, ir_value_t* keys) {
  ir_value_t* both[] = {x, keys};
  int64_t at[ONNX_MAX_RANK];
  int32_t rank = x->type->rank + 1;
  onnx_dim_t dims[ONNX_MAX_RANK];
  onnx_string_align(n, both, 2);
  onnx_string_dims(n, both[0], dims);
  for (int32_t i = 0; i < rank - 2; ++i) at[i] = i;
  at[rank - 2] = rank - 1;
  dims[rank - 2] = onnx_dim(n, keys, 0), dims[rank - 1] = onnx_string_width(n, both[0]);
  x = onnx_broadcast_to(n, onnx_spread(n, both[0], rank, at), rank, dims);
  ir_value_t* differ = graph_binary(n->b, SCALAR_ne, x, onnx_broadcast_to(n, both[1], rank, dims));
  const int64_t last = rank - 1;
  return onnx_unary(n, SCALAR_not, graph_reduce(n->b, differ, &last, 1, "or"));
}

//===----------------------------------------------------------------------------------------------------------------===
// Moving
//===----------------------------------------------------------------------------------------------------------------===

// All strings of an operator's inputs as rows, behind an empty one, which is what zeros of places mean.
typedef struct table_t {
  onnx_node_t* n;
  ir_value_t** rows;
  uint32_t count;
  onnx_dim_t size;
} table_t;

// Adds the strings to the table and gives their places in it, as i64.
static ir_value_t* add_strings(table_t* t, ir_value_t* x) {
  onnx_node_t* n = t->n;
  onnx_dim_t dims[ONNX_MAX_RANK], count = count_strings(n, x);
  ir_value_t* places = onnx_dim_like(n, t->size, onnx_numbers(n, 1, &count, 0));
  places = graph_binary(n->b, SCALAR_add, onnx_numbers(n, 1, &count, 0), places);
  t->rows[t->count++] = onnx_string_rows(n, x);
  t->size = onnx_dim_add(n, t->size, count);
  onnx_string_dims(n, x, dims);
  return onnx_reshape(n, places, x->type->rank - 1, dims);
}

static uint32_t count_parts(onnx_value_t x) {
  if (!x.holder) return onnx_is_string(x);
  if (x.holder->is_optional) return x.holder->value.v ? count_parts(x.holder->value) : 0;
  return onnx_is_str(x.holder->element) ? x.holder->count + 1 : 0;
}

static onnx_value_t to_places(table_t* t, onnx_value_t x) {
  const ir_type_t* place = ir_type_opaque(t->n->ctx, "torch.str.place", NULL);
  if (!x.holder) return onnx_is_string(x) ? onnx_value(add_strings(t, x.v), place) : x;
  onnx_holder_t h = *x.holder;
  if (h.is_optional) {
    if (h.value.v) h.value = to_places(t, h.value);
    return onnx_holder_value(t->n, &h);
  }
  if (!onnx_is_str(h.element)) return x;
  h.element = place;
  if (h.data) h.data = add_strings(t, h.data);
  if (!h.data) h.items = ARENA_ARRAY(ir_context_arena(t->n->ctx), onnx_value_t, h.count + 1);
  for (uint32_t i = 0; !h.data && i < h.count; ++i) h.items[i] = to_places(t, x.holder->items[i]);
  return onnx_holder_value(t->n, &h);
}

static onnx_value_t to_strings(onnx_node_t* n, ir_value_t* table, onnx_value_t x) {
  if (!x.holder) {
    return onnx_is_place(x.element) ? onnx_string_value(n, graph_take(n->b, table, x.v, 0, false)) : x;
  }
  onnx_holder_t h = *x.holder;
  if (h.is_optional || !onnx_is_place(h.element)) return x;
  h.element = onnx_str(n->ctx);
  if (h.data) h.data = graph_take(n->b, table, h.data, 0, false);
  if (!h.data) h.items = ARENA_ARRAY(ir_context_arena(n->ctx), onnx_value_t, h.count + 1);
  for (uint32_t i = 0; !h.data && i < h.count; ++i) h.items[i] = to_strings(n, table, x.holder->items[i]);
  return onnx_holder_value(n, &h);
}

bool onnx_move_strings(onnx_node_t* n) {
  static const int64_t empty[] = {1, 1};
  arena_t* arena = ir_context_arena(n->ctx);
  onnx_value_t* in = ARENA_ARRAY(arena, onnx_value_t, n->in_count + 1);
  uint32_t parts = 1;
  for (uint32_t i = 0; i < n->in_count; ++i) parts += count_parts(n->in[i]);
  table_t table = {.n = n, .rows = ARENA_ARRAY(arena, ir_value_t*, parts), .count = 1, .size = onnx_dim_of(1)};
  table.rows[0] = graph_splat_integer(n->b, ir_type_tensor(n->ctx, ir_type_int(n->ctx, 32), 2, empty), 0);
  for (uint32_t i = 0; i < n->in_count; ++i) in[i] = to_places(&table, n->in[i]);
  onnx_node_t inner = *n;
  inner.in = in;
  if (!n->row->handler(&inner)) return false;
  onnx_string_align(n, table.rows, table.count);
  ir_value_t* rows = graph_concat(n->b, table.rows, table.count, 0);
  for (uint32_t i = 0; i < n->out_count; ++i) {
    if (n->out[i].v) n->out[i] = to_strings(n, rows, n->out[i]);
  }
  return true;
}
