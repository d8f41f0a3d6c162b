// The table of operators, and the elementwise ones among them.
#include <string.h>

#include "base/near.h"
#include "import/onnx/importer.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"
#include "import/onnx/strings.h"

static const onnx_row_t rows[] = {
#define ROW(name, min, max, handler, holders, strings) \
  {#name, min, max, handler, holders, ONNX_STRINGS_##strings, SCALAR_COUNT, SCALAR_COUNT},
#define OP(name, min, max, handler) ROW(name, min, max, handler, false, REFUSED)
#define STRINGS(name, min, max, handler) ROW(name, min, max, handler, false, SEEN)
#define MOVE(name, min, max, handler) ROW(name, min, max, handler, false, MOVED)
#define HOLDER(name, min, max, handler) ROW(name, min, max, handler, true, SEEN)
#define HOLDER_MOVE(name, min, max, handler) ROW(name, min, max, handler, true, MOVED)
#define FN(name, min, max, handler, strings, fn, unsigned_fn) \
  {#name, min, max, handler, false, ONNX_STRINGS_##strings, SCALAR_##fn, SCALAR_##unsigned_fn},
#define UNARY(name, fn) FN(name, 1, 1, onnx_lower_unary, REFUSED, fn, fn)
#define BINARY(name, fn, unsigned_fn) FN(name, 2, 2, onnx_lower_binary, REFUSED, fn, unsigned_fn)
#define COMPARE(name, fn, unsigned_fn) FN(name, 2, 2, onnx_lower_compare, SEEN, fn, unsigned_fn)
#define NARY(name, fn, unsigned_fn) FN(name, 1, -1, onnx_lower_nary, REFUSED, fn, unsigned_fn)
#include "import/onnx/ops.def"
#undef ROW
#undef FN
};

const onnx_row_t* onnx_find_row(const char* name) {
  for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
    if (strcmp(rows[i].name, name) == 0) return &rows[i];
  }
  return NULL;
}

const char* onnx_nearest_row(const char* name) {
  near_t near = near_begin(name, strlen(name));
  for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) near_offer(&near, rows[i].name);
  return near_result(&near);
}

typedef struct refusal_t {
  const char *name, *reason;
} refusal_t;

static const char* find_reason(const refusal_t* refusals, size_t count, const char* name) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(refusals[i].name, name) == 0) return refusals[i].reason;
  }
  return NULL;
}

const char* onnx_find_refusal(const char* name) {
  static const refusal_t refused[] = {
#define REFUSED(name, reason) {#name, reason},
#define DOMAIN(name, reason)
#include "import/onnx/refused.def"
  };
  return find_reason(refused, sizeof(refused) / sizeof(*refused), name);
}

const char* onnx_refused_domain(const char* domain) {
  static const refusal_t refused[] = {
#define REFUSED(name, reason)
#define DOMAIN(name, reason) {#name, reason},
#include "import/onnx/refused.def"
  };
  return find_reason(refused, sizeof(refused) / sizeof(*refused), domain);
}

static scalar_fn_t row_fn(const onnx_node_t* n) {
  return (scalar_fn_t)(onnx_is_unsigned(n->in[0]) ? n->row->unsigned_fn : n->row->fn);
}

// Whether the scalar function takes such elements.
static bool check_elements(onnx_node_t* n, uint32_t i, scalar_fn_t fn) {
  const ir_type_t* element = n->in[i].element;
  uint8_t wanted = ir_type_is_float(element) ? SCALAR_TYPES_F : ir_type_is_int(element) ? SCALAR_TYPES_I : 0;
  if (scalar_info[fn].types & wanted) return true;
  return onnx_error(n, "is not defined for elements of type %s", ir_type_str(n->ctx, element));
}

bool onnx_lower_unary(onnx_node_t* n) {
  scalar_fn_t fn = row_fn(n);
  onnx_value_t x = n->in[0];
  if (!check_elements(n, 0, fn)) return false;
  const ir_type_t* element = scalar_info[fn].result == SCALAR_RESULT_BOOL ? onnx_bool(n->ctx) : x.element;
  bool natural = onnx_is_unsigned(x);
  if (fn == SCALAR_abs && natural) return onnx_return(n, x.v, element);
  if (fn == SCALAR_sign && natural) return onnx_return(n, onnx_binary_number(n, SCALAR_minu, x.v, 1), element);
  return onnx_return(n, onnx_unary(n, fn, x.v), element);
}

bool onnx_lower_binary(onnx_node_t* n) {
  scalar_fn_t fn = row_fn(n);
  if (!onnx_check_same_element(n, 0, 1) || !check_elements(n, 0, fn)) return false;
  return onnx_return(n, onnx_binary(n, fn, n->in[0].v, n->in[1].v), n->in[0].element);
}

bool onnx_lower_compare(onnx_node_t* n) {
  scalar_fn_t fn = row_fn(n);
  if (!onnx_check_same_element(n, 0, 1)) return false;
  if (fn == SCALAR_eq && onnx_is_string(n->in[0]))
    return onnx_return(n, onnx_string_equal(n, n->in[0].v, n->in[1].v), onnx_bool(n->ctx));
  if (!check_elements(n, 0, fn)) return false;
  return onnx_return(n, onnx_binary(n, fn, n->in[0].v, n->in[1].v), onnx_bool(n->ctx));
}

// All inputs combined by `fn`, or NULL.
static ir_value_t* combine(onnx_node_t* n, scalar_fn_t fn) {
  ir_value_t* result = n->in[0].v;
  for (uint32_t i = 0; i < n->in_count; ++i) {
    if (!n->in[i].v) return onnx_error(n, "input %u is left out", i), NULL;
    if (!onnx_check_same_element(n, 0, i) || !check_elements(n, i, fn)) return NULL;
    if (i) result = onnx_binary(n, fn, result, n->in[i].v);
    if (!result) return NULL;
  }
  return result;
}

bool onnx_lower_nary(onnx_node_t* n) { return onnx_return(n, combine(n, row_fn(n)), n->in[0].element); }

bool onnx_lower_mean(onnx_node_t* n) {
  ir_value_t* sum = onnx_check_float(n, 0) ? combine(n, SCALAR_add) : NULL;
  return sum && onnx_return(n, onnx_binary_number(n, SCALAR_div, sum, n->in_count), n->in[0].element);
}

bool onnx_lower_bit_shift(onnx_node_t* n) {
  const char* direction = onnx_string(n, "direction", "");
  bool left = strcmp(direction, "LEFT") == 0;
  if (!left && strcmp(direction, "RIGHT") != 0) {
    return onnx_error(n, "direction '%s' is neither LEFT nor RIGHT", direction);
  }
  if (!onnx_check_same_element(n, 0, 1) || !onnx_is_int(n->in[0])) return onnx_error(n, "needs integers");
  scalar_fn_t fn = left ? SCALAR_shl : onnx_is_unsigned(n->in[0]) ? SCALAR_shru : SCALAR_shr;
  return onnx_return(n, onnx_binary(n, fn, n->in[0].v, n->in[1].v), n->in[0].element);
}

// Powers of two (f8E8M0FNU): the exponent of an f32 with what round_mode adds, as bits; 255 is the NaN.
static bool cast_to_power(onnx_node_t* n, onnx_value_t x, const ir_type_t* element, onnx_value_t* out) {
  static const struct {
    const char* mode;
    int64_t add;
  } modes[] = {{"up", 0x7FFFFF}, {"nearest", 0x400000}, {"down", 0}};
  const char* mode = onnx_string(n, "round_mode", "up");
  size_t row = 0;
  while (row < 3 && strcmp(modes[row].mode, mode) != 0) ++row;
  if (row == 3) return onnx_error(n, "round_mode '%s' is none of up, down, nearest", mode);
  bool saturate = onnx_int(n, "saturate", 1);
  ir_value_t* wide = onnx_cast(n, x, onnx_f32(n->ctx)).v;
  ir_value_t* bits = graph_bitcast(n->b, wide, ir_type_int(n->ctx, 32));
  ir_value_t* code = onnx_binary_number(n, SCALAR_add, bits, (double)modes[row].add);
  code = onnx_binary_number(n, SCALAR_shru, code, 23);
  ir_value_t* least = graph_splat_like(n->b, code, saturate ? 0 : 255);
  // 2^-127 is not normal in f32: half of the least exponent.
  code = graph_select(n->b, onnx_binary_number(n, SCALAR_le, bits, 0x400000), graph_splat_like(n->b, code, 0), code);
  code = graph_select(n->b, onnx_binary_number(n, SCALAR_lt, bits, 0x400000), least, code);
  if (saturate) code = onnx_binary_number(n, SCALAR_min, code, 254);
  code = graph_select(n->b, onnx_unary(n, SCALAR_is_nan, wide), graph_splat_like(n->b, code, 255), code);
  code = graph_cast(n->b, code, ir_type_int(n->ctx, 8), true);
  return *out = onnx_value(graph_bitcast(n->b, code, element), element), true;
}

// Floats of 8 bits saturate unless the node says otherwise; narrow integers take the lowest bits of the whole number.
static bool cast_numbers(onnx_node_t* n, onnx_value_t x, const ir_type_t* element, onnx_value_t* out) {
  bool narrow = ir_type_is_float(element) && element->width <= 8, same = x.element == element;
  if (!same && narrow && element->float_kind == IR_F8E8M0FNU) return cast_to_power(n, x, element, out);
  if (!same && narrow) {
    if (!onnx_is_float(x)) x = onnx_cast(n, x, onnx_f32(n->ctx));
    return *out = onnx_saturate(n, x, NULL, element), true;
  }
  bool cut = onnx_is_float(x) && ir_type_is_int(element) && element->width > 1 && element->width < 8;
  if (cut) x = onnx_cast(n, x, ir_type_integer(n->ctx, 32, IR_SIGNED));
  return *out = onnx_cast(n, x, element), true;
}

// Casts from or to strings.
static bool cast_strings(onnx_node_t* n, const ir_type_t* element) {
  onnx_value_t x = n->in[0];
  onnx_value_t number;
  if (element == x.element) return n->out[0] = x, true;
  if (onnx_is_str(element)) return onnx_number_to_string(n, x, &n->out[0]);
  const ir_type_t* narrow = ir_type_is_float(element) ? onnx_f32(n->ctx) : onnx_si64(n->ctx);
  bool direct = element->width == 1 || element->width > 8;
  return onnx_string_to_number(n, x, direct ? element : narrow, &number) &&
         cast_numbers(n, number, element, &n->out[0]);
}

bool onnx_lower_cast(onnx_node_t* n) {
  int64_t to = onnx_int(n, "to", 0);
  const ir_type_t* element = onnx_any_element_type(n->ctx, to);
  bool number = element && (ir_type_is_int(element) || ir_type_is_float(element));
  if (element && (onnx_is_str(element) || (onnx_is_string(n->in[0]) && number))) return cast_strings(n, element);
  if (!element || ir_type_is_int(n->in[0].element) + ir_type_is_float(n->in[0].element) == 0) {
    return onnx_unsupported(n, "casting to %s is not supported", onnx_data_type_name(to));
  }
  if (element->kind == IR_TYPE_COMPLEX) return onnx_unsupported(n, "casting to complex numbers is not supported");
  return cast_numbers(n, n->in[0], element, &n->out[0]);
}

bool onnx_lower_bit_cast(onnx_node_t* n) {
  const ir_type_t *from = n->in[0].element, *element = onnx_element_type(n->ctx, onnx_int(n, "to", 0));
  if (element && onnx_is_bool(n->in[0]) && ir_type_is_int(element) && element->width == 8) {
    return n->out[0] = onnx_cast(n, n->in[0], element), true;  // a boolean is a byte
  }
  bool numbers = element && (ir_type_is_int(element) || ir_type_is_float(element)) && from->kind != IR_TYPE_COMPLEX;
  if (!numbers || element->width != from->width) {
    return onnx_error(n, "cannot read the bits of %s as %s", ir_type_str(n->ctx, from),
                      onnx_data_type_name(onnx_int(n, "to", 0)));
  }
  return onnx_return(n, graph_bitcast(n->b, n->in[0].v, onnx_signless(n->ctx, element)), element);
}

bool onnx_lower_cast_like(onnx_node_t* n) {
  if (onnx_is_string(n->in[0]) || onnx_is_string(n->in[1])) return cast_strings(n, n->in[1].element);
  return cast_numbers(n, n->in[0], n->in[1].element, &n->out[0]);
}

bool onnx_lower_clip(onnx_node_t* n) {
  onnx_value_t x = n->in[0];
  ir_value_t* v = x.v;
  bool natural = onnx_is_unsigned(x);
  if (!onnx_check_same_element(n, 0, 1) || !onnx_check_same_element(n, 0, 2)) return false;
  for (uint32_t i = 1; i <= 2; ++i) {
    if (!onnx_has(n, i)) continue;
    if (!onnx_check_single(n, i)) return false;
    scalar_fn_t fn = i == 1 ? (natural ? SCALAR_maxu : SCALAR_max) : (natural ? SCALAR_minu : SCALAR_min);
    v = graph_binary(n->b, fn, v, onnx_scalar_like(n, n->in[i].v, v));
  }
  return onnx_return(n, v, x.element);
}

bool onnx_lower_identity(onnx_node_t* n) {
  if (n->out_count) n->out[0] = n->in[0];
  return true;
}

bool onnx_lower_is_inf(onnx_node_t* n) {
  if (!onnx_check_float(n, 0)) return false;
  bool negative = onnx_int(n, "detect_negative", 1), positive = onnx_int(n, "detect_positive", 1);
  ir_value_t *x = n->in[0].v, *result = onnx_unary(n, SCALAR_is_inf, x);
  if (!negative) result = graph_binary(n->b, SCALAR_and, result, onnx_binary_number(n, SCALAR_gt, x, 0));
  if (!positive) result = graph_binary(n->b, SCALAR_and, result, onnx_binary_number(n, SCALAR_lt, x, 0));
  return onnx_return(n, result, onnx_bool(n->ctx));
}

// The remainder with the divisor's sign, unless fmod asks for C's.
bool onnx_lower_mod(onnx_node_t* n) {
  ir_value_t *x = n->in[0].v, *y = n->in[1].v;
  if (!onnx_check_same_element(n, 0, 1) || !onnx_broadcast(n, &x, &y)) return false;
  const ir_type_t* element = n->in[0].element;
  if (onnx_is_unsigned(n->in[0])) return onnx_return(n, graph_binary(n->b, SCALAR_remu, x, y), element);
  ir_value_t* rest = graph_binary(n->b, SCALAR_rem, x, y);
  if (onnx_int(n, "fmod", 0)) return onnx_return(n, rest, element);
  ir_value_t *below = onnx_binary_number(n, SCALAR_lt, rest, 0),
             *divisor_below = onnx_binary_number(n, SCALAR_lt, y, 0);
  ir_value_t* wrong = graph_binary(n->b, SCALAR_xor, below, divisor_below);
  wrong = graph_binary(n->b, SCALAR_and, wrong, onnx_binary_number(n, SCALAR_ne, rest, 0));
  return onnx_return(n, graph_select(n->b, wrong, graph_binary(n->b, SCALAR_add, rest, y), rest), element);
}

bool onnx_lower_pow(onnx_node_t* n) {
  onnx_value_t x = n->in[0], y = n->in[1];
  const ir_type_t* element = x.element;
  if (onnx_is_int(x) && onnx_is_float(y)) {
    x = onnx_cast(n, x, y.element);
  } else {
    y = onnx_cast(n, y, x.element);
  }
  ir_value_t* power = onnx_binary(n, SCALAR_pow, x.v, y.v);
  if (power) n->out[0] = onnx_cast(n, onnx_value(power, x.element), element);
  return power != NULL;
}

bool onnx_lower_reciprocal(onnx_node_t* n) {
  if (!onnx_check_float(n, 0)) return false;
  ir_value_t* x = n->in[0].v;
  return onnx_return(n, graph_binary(n->b, SCALAR_div, graph_splat_like(n->b, x, 1), x), n->in[0].element);
}

bool onnx_lower_where(onnx_node_t* n) {
  ir_value_t* values[] = {n->in[0].v, n->in[1].v, n->in[2].v};
  if (!onnx_is_bool(n->in[0])) return onnx_error(n, "the condition must be boolean");
  if (!onnx_check_same_element(n, 1, 2) || !onnx_broadcast_all(n, values, 3)) return false;
  return onnx_return(n, graph_select(n->b, values[0], values[1], values[2]), n->in[1].element);
}
