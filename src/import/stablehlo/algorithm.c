// How exactly a product is wanted: `precision_config` and `algorithm` of dot, dot_general and convolution.
//
// Products of f32 are made in f32 on every device, so every precision is there. An algorithm names the formats that
// operands are rounded to before they are multiplied (lhs_precision_type, ...), the parts each is split into
// (lhs_component_count: what rounding leaves over is rounded again), the products of parts that are added up
// (num_primitive_operations) and the format of the sum. JAX counts one part always and tells by the products: 3 are of
// two parts, 6 and 9 of three. The parts are added up again and multiplied as one number: that has every product that
// the algorithm has, and those it leaves out as small.
#include <stdlib.h>
#include <string.h>

#include "base/small_float.h"
#include "dialects/stablehlo.h"
#include "import/stablehlo/ops.h"

enum { MAX_COMPONENTS = 3 };

bool stablehlo_check_precision(lower_op_t* n) {
  const ir_attr_t* config = ir_op_attr(n->op, "precision_config");
  for (uint32_t i = 0; config && config->kind == IR_ATTR_ARRAY && i < config->count; ++i) {
    const char* word = stablehlo_enum(config->items[i]);
    bool known = word && (!strcmp(word, "DEFAULT") || !strcmp(word, "HIGH") || !strcmp(word, "HIGHEST"));
    if (!known)
      return lower_unsupported(n, "the precisions DEFAULT, HIGH and HIGHEST are, not %s", word ? word : "this");
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// lhs_precision_type = bf16, ..., lhs_component_count = 1, ...
//===----------------------------------------------------------------------------------------------------------------===

// What stands behind `key =`; *size is 0 when the key is not there.
static const char* find_value(const char* text, const char* key, size_t* size) {
  size_t length = strlen(key);
  *size = 0;
  for (const char* at = text; (at = strstr(at, key)); at += length) {
    const char* value = at + length + strspn(at + length, " ");
    if ((at > text && at[-1] != ' ' && at[-1] != ',') || *value != '=') continue;
    value += 1 + strspn(value + 1, " ");
    *size = strcspn(value, " ,>");
    return value;
  }
  return text;
}

static bool read_format(const lower_op_t* n, const char* text, const char* key, ir_float_kind_t* out) {
  size_t size;
  const char* value = find_value(text, key, &size);
  for (int i = 0; size && i < IR_FLOAT_COUNT; ++i) {
    if (strncmp(float_formats[i].text, value, size) || float_formats[i].text[size]) continue;
    *out = (ir_float_kind_t)i;
    return true;
  }
  return lower_error(n, "has an algorithm whose %s is '%.*s'; a format of floats is needed", key, (int)size, value);
}

static bool read_count(const lower_op_t* n, const char* text, const char* key, int64_t most, int64_t* out) {
  size_t size;
  const char* value = find_value(text, key, &size);
  char* end = NULL;
  *out = size ? strtoll(value, &end, 10) : 0;
  if (size && end == value + size && *out >= 1 && *out <= most) return true;
  return lower_error(n, "has an algorithm whose %s is '%.*s'; 1 to %lld can be compiled", key, (int)size, value,
                     (long long)most);
}

//===----------------------------------------------------------------------------------------------------------------===
// Operands
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* round_to(lower_op_t* n, ir_value_t* x, ir_float_kind_t kind) {
  const ir_type_t* f32 = ir_type_float(n->ctx, IR_F32);
  if (kind != IR_TF32) return graph_cast(n->b, x, ir_type_float(n->ctx, kind), false);
  const float_format_t* f = &float_formats[IR_TF32];
  return stablehlo_round(n, graph_cast(n->b, x, f32, false), f->exponent_bits, f->mantissa_bits);
}

// The sum of `count` parts, of which each is what the ones before leave over.
static ir_value_t* sum_of_parts(lower_op_t* n, ir_value_t* x, ir_float_kind_t kind, int64_t count) {
  const ir_type_t* f32 = ir_type_float(n->ctx, IR_F32);
  if (count == 1) return round_to(n, x, kind);
  ir_value_t *whole = graph_cast(n->b, x, f32, false), *rest = whole, *sum = NULL;
  for (int64_t i = 0; i < count; ++i) {
    ir_value_t* part = graph_cast(n->b, round_to(n, rest, kind), f32, false);
    sum = sum ? graph_binary(n->b, SCALAR_add, sum, part) : part;
    rest = graph_binary(n->b, SCALAR_sub, rest, part);
  }
  return graph_select(n->b, graph_unary(n->b, SCALAR_is_finite, sum), sum, round_to(n, whole, IR_F32));
}

// The fewest parts of both operands that have as many products.
static int64_t parts_of_products(int64_t products) {
  int64_t parts = 1;
  while (parts * parts < products) ++parts;
  return parts;
}

bool stablehlo_apply_algorithm(lower_op_t* n, lower_value_t operands[2], const ir_type_t** accumulator) {
  static const char* const formats[] = {"lhs_precision_type", "rhs_precision_type"};
  static const char* const count_keys[] = {"lhs_component_count", "rhs_component_count"};
  const ir_attr_t* attr = ir_op_attr(n->op, "algorithm");
  if (!attr) return true;
  const char* text = attr->kind == IR_ATTR_OPAQUE && attr->body ? attr->body : "";
  ir_float_kind_t kind, sum;
  int64_t counts[2], operations;
  if (!read_format(n, text, "accumulation_type", &sum) ||
      !read_count(n, text, "num_primitive_operations", MAX_COMPONENTS * MAX_COMPONENTS, &operations)) {
    return false;
  }
  for (int i = 0; i < 2; ++i) {
    if (!lower_is_float(operands[i].v->type)) return true;  // integers are exact
    if (!read_count(n, text, count_keys[i], MAX_COMPONENTS, &counts[i])) return false;
  }
  if (counts[0] == 1 && counts[1] == 1) counts[0] = counts[1] = parts_of_products(operations);
  for (int i = 0; i < 2; ++i) {
    lower_value_t* x = &operands[i];
    if (!read_format(n, text, formats[i], &kind)) return false;
    x->v = sum_of_parts(n, x->v, kind, counts[i]);
    if (x->im) x->im = sum_of_parts(n, x->im, kind, counts[i]);
  }
  if (sum == IR_TF32) return lower_unsupported(n, "sums in tf32 are not; f32 is");
  *accumulator = ir_type_float(n->ctx, sum);
  return true;
}
