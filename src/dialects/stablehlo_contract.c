// Assembly of stablehlo.dot_general and stablehlo.convolution.
#include <string.h>

#include "dialects/stablehlo.h"
#include "dialects/stablehlo_hooks.h"

//===----------------------------------------------------------------------------------------------------------------===
// Shared tails
//===----------------------------------------------------------------------------------------------------------------===

static ir_op_t* finish_functional(ir_parser_t* p, ir_draft_t* op, const ir_ref_list_t* refs) {
  ir_type_list_t types = {0};
  bool ok = ir_parse_attr_dict(p, op) && ir_parse_expect(p, ":") && ir_parse_types_in_parens(p, &types) &&
            ir_parse_expect(p, "->") && ir_parse_result_types(p, &op->results) &&
            ir_draft_operands(p, op, refs, &types);
  return ok ? ir_draft_finish(p, op) : NULL;
}

static const ir_attr_t* int_array(ir_context_t* ctx, const int64_t* values, uint32_t count) {
  const ir_attr_t* items[64];
  if (count > 64) count = 64;
  for (uint32_t i = 0; i < count; ++i) items[i] = ir_attr_i64(ctx, values[i]);
  return ir_attr_array(ctx, items, count);
}

// [DEFAULT, HIGHEST] as [#stablehlo<precision DEFAULT>, ...]
static bool parse_precision(ir_parser_t* p, ir_draft_t* op) {
  ir_context_t* ctx = ir_parse_context(p);
  const ir_attr_t* items[8];
  uint32_t count = 0;
  if (!ir_parse_expect(p, "=") || !ir_parse_expect(p, "[")) return false;
  while (!ir_parse_try(p, "]")) {
    if (count && !ir_parse_expect(p, ",")) return false;
    ir_name_t word = ir_parse_keyword(p, "a precision (DEFAULT, HIGH or HIGHEST)");
    if (!word) return false;
    if (count == 8) return ir_parse_fail(p, "list is too long");
    const char* body = arena_printf(ir_context_arena(ctx), "precision %s", word);
    items[count++] = ir_attr_opaque(ctx, "stablehlo", body, NULL, 0);
  }
  ir_draft_attr(p, op, "precision_config", ir_attr_array(ctx, items, count));
  return true;
}

// Letters, digits and underscores, with a letter first.
static size_t word_size(const char* text) {
  bool letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || *text == '_';
  return letter ? strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") : 0;
}

static bool precision_fits(const ir_attr_t* attr) {
  if (!attr) return true;
  if (attr->kind != IR_ATTR_ARRAY || attr->count > 8) return false;
  for (uint32_t i = 0; i < attr->count; ++i) {
    const ir_attr_t* item = attr->items[i];
    if (item->kind != IR_ATTR_OPAQUE || strcmp(item->text, "stablehlo") || !item->body) return false;
    if (strncmp(item->body, "precision ", 10)) return false;
    size_t size = word_size(item->body + 10);
    if (!size || item->body[10 + size]) return false;
  }
  return true;
}

static void print_precision(ir_printer_t* pr, const ir_attr_t* attr) {
  if (!attr) return;
  ir_emit(pr, ", precision = [");
  for (uint32_t i = 0; i < attr->count; ++i) {
    if (i) ir_emit(pr, ", ");
    ir_emit(pr, attr->items[i]->body + 10);
  }
  ir_emit(pr, "]");
}

//===----------------------------------------------------------------------------------------------------------------===
// stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] [, precision = [...]]
//     [, algorithm = <...>] {attrs} : (t, t) -> t
//===----------------------------------------------------------------------------------------------------------------===

typedef struct dot_dims_t {
  int64_t* values[4];  // lhs batch, rhs batch, lhs contract, rhs contract
  uint32_t counts[4];
} dot_dims_t;

static const char* const dot_names[] = {"lhs_batching_dimensions", "rhs_batching_dimensions",
                                        "lhs_contracting_dimensions", "rhs_contracting_dimensions"};

static const ir_attr_t* make_dot(ir_context_t* ctx, const dot_dims_t* dims) {
  ir_named_attr_t entries[4];
  uint32_t count = 0;
  text_t body = {0};
  for (int i = 0; i < 4; ++i) {
    if (!dims->counts[i]) continue;
    entries[count++] = (ir_named_attr_t){dot_names[i], int_array(ctx, dims->values[i], dims->counts[i])};
    text_printf(&body, count > 1 ? ", %s = " : "%s = ", dot_names[i]);
    ir_print_attr(&body, entries[count - 1].value);
  }
  const ir_attr_t* attr = ir_attr_opaque(ctx, "stablehlo.dot", body.data ? body.data : "", entries, count);
  text_finish(&body);
  return attr;
}

static bool parse_pair(ir_parser_t* p, dot_dims_t* dims, int first) {
  return ir_parse_expect(p, "=") && ir_parse_int_list(p, &dims->values[first], &dims->counts[first]) &&
         ir_parse_expect(p, "x") && ir_parse_int_list(p, &dims->values[first + 1], &dims->counts[first + 1]);
}

ir_op_t* stablehlo_dot_general_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  dot_dims_t dims = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_refs(p, &refs)) return NULL;
  while (ir_parse_try(p, ",")) {
    if (ir_parse_try(p, "batching_dims")) {
      if (!parse_pair(p, &dims, 0)) return NULL;
    } else if (ir_parse_try(p, "contracting_dims")) {
      if (!parse_pair(p, &dims, 2)) return NULL;
    } else if (ir_parse_try(p, "precision")) {
      if (!parse_precision(p, &op)) return NULL;
    } else if (ir_parse_try(p, "algorithm")) {
      const ir_attr_t* algorithm = ir_parse_expect(p, "=") ? ir_parse_dialect_attr(p, "stablehlo.dot_algorithm") : NULL;
      if (!algorithm) return NULL;
      ir_draft_attr(p, &op, "algorithm", algorithm);
    } else {
      return ir_parse_fail(p, "expected batching_dims, contracting_dims, precision or algorithm"), NULL;
    }
  }
  for (int i = 0; i < 4; ++i) {
    if (dims.counts[i] > 64) return ir_parse_fail(p, "too many dimensions"), NULL;
  }
  ir_draft_attr(p, &op, "dot_dimension_numbers", make_dot(ctx, &dims));
  return finish_functional(p, &op, &refs);
}

static bool read_dot(const ir_attr_t* attr, dot_dims_t* dims, int64_t buffer[4][64]) {
  if (!attr || attr->kind != IR_ATTR_OPAQUE || strcmp(attr->text, "stablehlo.dot")) return false;
  if (attr->body && attr->body[0] && !attr->count) return false;  // nothing that was understood
  for (int i = 0; i < 4; ++i) {
    dims->values[i] = buffer[i];
    dims->counts[i] = ir_attr_ints(ir_attr_dict_get(attr, dot_names[i]), buffer[i], 64);
    if (dims->counts[i] > 64) return false;
  }
  return true;
}

static void print_dims(ir_printer_t* pr, const dot_dims_t* dims, int first, const char* name) {
  if (!dims->counts[first] && !dims->counts[first + 1]) return;
  ir_emitf(pr, ", %s = ", name);
  for (int side = first; side < first + 2; ++side) {
    ir_emit(pr, side == first ? "[" : " x [");
    for (uint32_t i = 0; i < dims->counts[side]; ++i) {
      ir_emitf(pr, i ? ", %lld" : "%lld", (long long)dims->values[side][i]);
    }
    ir_emit(pr, "]");
  }
}

void stablehlo_dot_general_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"dot_dimension_numbers", "precision_config", "algorithm", NULL};
  const ir_attr_t *attr = ir_op_attr(op, held[0]), *precision = ir_op_attr(op, held[1]);
  const ir_attr_t* algorithm = ir_op_attr(op, held[2]);
  int64_t buffer[4][64];
  dot_dims_t dims = {0};
  bool fits = op->operand_count == 2 && read_dot(attr, &dims, buffer) && precision_fits(precision) &&
              (!algorithm || (algorithm->kind == IR_ATTR_OPAQUE && algorithm->body && !ir_attr_own_type(algorithm) &&
                              strcmp(algorithm->text, "stablehlo.dot_algorithm") == 0));
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_operands(pr, op, 0, 2);
  print_dims(pr, &dims, 0, "batching_dims");
  print_dims(pr, &dims, 2, "contracting_dims");
  print_precision(pr, precision);
  if (algorithm) ir_emitf(pr, ", algorithm = <%s>", algorithm->body);
  ir_emit_attr_dict(pr, op, held);
  ir_emit(pr, " : ");
  ir_emit_function_type(pr, op);
}

//===----------------------------------------------------------------------------------------------------------------===
// stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
//     window = {stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [..], rhs_dilate = [..], reverse = [..]} {attrs}
//     : (t, t) -> t
//===----------------------------------------------------------------------------------------------------------------===

// One of the three lists of b, f, i, o, numbers and ?; as it is printed.
static bool parse_layout(ir_parser_t* p, text_t* out) {
  bool first = true;
  if (!ir_parse_expect(p, "[")) return false;
  text_puts(out, "[");
  for (; !ir_parse_try(p, "]"); first = false) {
    int64_t number;
    if (!first && !ir_parse_expect(p, ",")) return false;
    if (!first) text_puts(out, ", ");
    if (ir_parse_try(p, "?")) {
      text_puts(out, "?");
    } else if (ir_parse_try_integer(p, &number)) {
      text_printf(out, "%lld", (long long)number);
    } else {
      ir_name_t word = ir_parse_keyword(p, "b, f, i, o or a spatial dimension");
      if (!word) return false;
      text_puts(out, word);
    }
    if (out->size > 4096) return ir_parse_fail(p, "too many dimensions");
  }
  text_puts(out, "]");
  return true;
}

static bool parse_dim_numbers(ir_parser_t* p, ir_draft_t* op) {
  text_t body = {0};
  bool ok = parse_layout(p, &body) && ir_parse_expect(p, "x");
  text_puts(&body, "x");
  ok = ok && parse_layout(p, &body) && ir_parse_expect(p, "->");
  text_puts(&body, "->");
  ok = ok && parse_layout(p, &body);
  if (ok) {
    const ir_attr_t* attr = ir_attr_opaque(ir_parse_context(p), "stablehlo.conv", body.data, NULL, 0);
    ir_draft_attr(p, op, "dimension_numbers", attr);
  }
  text_finish(&body);
  return ok;
}

static const struct {
  const char *word, *attr;
  char kind;  // l: array<i64>; p: pairs, dense<...> : tensor<Nx2xi64>; b: array<i1>
} windows[] = {{"stride", "window_strides", 'l'},
               {"pad", "padding", 'p'},
               {"lhs_dilate", "lhs_dilation", 'l'},
               {"rhs_dilate", "rhs_dilation", 'l'},
               {"reverse", "window_reversal", 'b'}};
enum { WINDOW_COUNT = sizeof(windows) / sizeof(windows[0]), MAX_SPATIAL = 64 };

static const ir_attr_t* pair_elements(ir_context_t* ctx, const int64_t* values, int64_t count) {
  int64_t dims[2] = {count, 2};
  const ir_type_t* type = ir_type_tensor(ctx, ir_type_int(ctx, 64), 2, dims);
  bool equal = count > 0;
  for (int64_t i = 1; i < 2 * count; ++i) equal &= values[i] == values[0];
  return ir_attr_elements(ctx, type, values, equal ? sizeof(values[0]) : (size_t)count * 16);
}

static bool parse_window_value(ir_parser_t* p, ir_draft_t* op, int row) {
  ir_context_t* ctx = ir_parse_context(p);
  const ir_attr_t* list = ir_parse_attr(p, NULL);
  if (!list) return false;
  if (list->kind != IR_ATTR_ARRAY || list->count > MAX_SPATIAL) return ir_parse_fail(p, "expected a list");
  int64_t values[2 * MAX_SPATIAL];
  unsigned char flags[MAX_SPATIAL];
  for (uint32_t i = 0; i < list->count; ++i) {
    const ir_attr_t* item = list->items[i];
    bool is_pair = windows[row].kind == 'p';
    if (is_pair ? ir_attr_ints(item, &values[2 * i], 2) != 2 : item->kind != IR_ATTR_INTEGER) {
      return ir_parse_fail(p, is_pair ? "expected pairs [low, high]" : "expected a list of numbers");
    }
    if (!is_pair) values[i] = item->integer;
    flags[i] = item->integer != 0;
  }
  const ir_attr_t* attr = windows[row].kind == 'l' ? ir_attr_i64_array(ctx, values, list->count)
                          : windows[row].kind == 'p'
                              ? pair_elements(ctx, values, list->count)
                              : ir_attr_dense_array(ctx, ir_type_int(ctx, 1), flags, list->count);
  ir_draft_attr(p, op, windows[row].attr, attr);
  return true;
}

static bool parse_window(ir_parser_t* p, ir_draft_t* op) {
  if (!ir_parse_expect(p, "{")) return false;
  for (bool first = true; !ir_parse_try(p, "}"); first = false) {
    int row = 0;
    if (!first && !ir_parse_expect(p, ",")) return false;
    while (row < WINDOW_COUNT && !ir_parse_try(p, windows[row].word)) ++row;
    if (row == WINDOW_COUNT) return ir_parse_fail(p, "expected stride, pad, lhs_dilate, rhs_dilate or reverse");
    if (ir_draft_find_attr(op, windows[row].attr)) return ir_parse_fail(p, "'%s' given twice", windows[row].word);
    if (!ir_parse_expect(p, "=") || !parse_window_value(p, op, row)) return false;
  }
  return true;
}

ir_op_t* stablehlo_convolution_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_expect(p, "(") || !ir_parse_refs(p, &refs) || !ir_parse_expect(p, ")") ||
      !ir_parse_expect(p, "dim_numbers") || !ir_parse_expect(p, "=") || !parse_dim_numbers(p, &op)) {
    return NULL;
  }
  if (ir_parse_try(p, ",") && (!ir_parse_expect(p, "window") || !ir_parse_expect(p, "=") || !parse_window(p, &op))) {
    return NULL;
  }
  return finish_functional(p, &op, &refs);
}

// [b, 0, f] as parse_layout leaves it; moves behind it.
static bool skip_layout(const char** at) {
  if (*(*at)++ != '[') return false;
  for (bool first = true; **at != ']'; first = false) {
    if (!first && strncmp(*at, ", ", 2) != 0) return false;
    if (!first) *at += 2;
    size_t digits = strspn(*at, "0123456789");
    size_t size = **at == '?' ? 1 : digits ? digits : word_size(*at);
    if (!size || size > 18 || (digits > 1 && **at == '0')) return false;
    *at += size;
  }
  ++*at;
  return true;
}

static bool dim_numbers_fit(const ir_attr_t* dims) {
  if (!dims || dims->kind != IR_ATTR_OPAQUE || strcmp(dims->text, "stablehlo.conv") || !dims->body) return false;
  const char* at = dims->body;
  if (!skip_layout(&at) || *at++ != 'x' || !skip_layout(&at)) return false;
  if (strncmp(at, "->", 2) != 0) return false;
  at += 2;
  return skip_layout(&at) && !*at && !ir_attr_own_type(dims);
}

static bool window_fits(ir_context_t* ctx, const ir_attr_t* attr, char kind) {
  if (!attr) return true;
  if (kind == 'p') {
    return attr->kind == IR_ATTR_ELEMENTS && attr->type->kind == IR_TYPE_TENSOR && attr->type->rank == 2 &&
           attr->type->dims[1] == 2 && attr->type->dims[0] <= MAX_SPATIAL &&
           attr->type->element == ir_type_int(ctx, 64) && !attr->type->encoding && !attr->resource;
  }
  return attr->kind == IR_ATTR_DENSE_ARRAY && attr->count <= MAX_SPATIAL &&
         attr->type == ir_type_int(ctx, kind == 'l' ? 64 : 1);
}

static void print_window_value(ir_printer_t* pr, const ir_attr_t* attr, char kind) {
  int64_t count = kind == 'p' ? attr->type->dims[0] : attr->count;
  ir_emit(pr, "[");
  for (int64_t i = 0; i < count; ++i) {
    if (i) ir_emit(pr, ", ");
    if (kind == 'p') {
      ir_emitf(pr, "[%lld, %lld]", (long long)ir_attr_element_integer(attr, 2 * i),
               (long long)ir_attr_element_integer(attr, 2 * i + 1));
    } else if (kind == 'b') {
      ir_emit(pr, ir_attr_element_integer(attr, i) ? "true" : "false");
    } else {
      ir_emitf(pr, "%lld", (long long)ir_attr_element_integer(attr, i));
    }
  }
  ir_emit(pr, "]");
}

void stablehlo_convolution_print(ir_printer_t* pr, ir_op_t* op) {
  const char* held[WINDOW_COUNT + 2] = {"dimension_numbers"};
  const ir_attr_t* dims = ir_op_attr(op, "dimension_numbers");
  bool fits = dim_numbers_fit(dims);
  for (int i = 0; i < WINDOW_COUNT; ++i) {
    held[i + 1] = windows[i].attr;
    fits = fits && window_fits(ir_printer_context(pr), ir_op_attr(op, windows[i].attr), windows[i].kind);
  }
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, "(");
  ir_emit_operands(pr, op, 0, op->operand_count);
  ir_emitf(pr, ") dim_numbers = %s, window = {", dims->body);
  bool any = false;
  for (int i = 0; i < WINDOW_COUNT; ++i) {
    const ir_attr_t* attr = ir_op_attr(op, windows[i].attr);
    if (!attr) continue;
    ir_emitf(pr, any ? ", %s = " : "%s = ", windows[i].word);
    print_window_value(pr, attr, windows[i].kind);
    any = true;
  }
  ir_emit(pr, "}");
  ir_emit_attr_dict(pr, op, held);
  ir_emit(pr, " : ");
  ir_emit_function_type(pr, op);
}
