// Types, attributes and locations as text.
#include "ir/print_attr.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/small_float.h"
#include "ir/context.h"

//===----------------------------------------------------------------------------------------------------------------===
// Numbers and strings
//===----------------------------------------------------------------------------------------------------------------===

static void put_char(text_t* out, char c) { text_append(out, &c, 1); }

static void put_integer(text_t* out, int64_t value) {
  char buffer[24], *end = buffer + sizeof(buffer), *p = end;
  uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do {
    *--p = (char)('0' + magnitude % 10);
  } while (magnitude /= 10);
  if (value < 0) *--p = '-';
  text_append(out, p, (size_t)(end - p));
}

void ir_put_hex(text_t* out, const void* data, size_t size) {
  static const char digits[] = "0123456789ABCDEF";
  const unsigned char* p = data;
  char buffer[4096];
  while (size) {
    size_t chunk = size < sizeof(buffer) / 2 ? size : sizeof(buffer) / 2;
    for (size_t i = 0; i < chunk; ++i) {
      buffer[2 * i] = digits[p[i] >> 4];
      buffer[2 * i + 1] = digits[p[i] & 15];
    }
    text_append(out, buffer, chunk * 2);
    p += chunk;
    size -= chunk;
  }
}

// The digits of a positive number, `*exponent` the power of ten of the last one: at most `precision` of them, got as
// LLVM gets them (the exact number is cut to about that many digits, then rounded). Returns how many.
static int decimal_digits(double value, int precision, char* digits, int* exponent) {
  int binary, scale = 0;
  uint64_t odd = (uint64_t)ldexp(frexp(value, &binary), 53);
  for (binary -= 53; !(odd & 1); odd >>= 1) ++binary;
  char text[1200];
  snprintf(text, sizeof(text), "%.1100e", value);
  scale = atoi(strchr(text, 'e') + 1);
  text[1] = text[0];  // over the point
  // All digits down to the last that is not zero, or to the point.
  int count = 1100;
  while (count > 1 && text[count] == '0' && count > (binary < 0 ? 1 : scale + 1)) --count;
  double bits = floor(log2((double)odd) + (binary < 0 ? -binary * 2.321928094887362348 : binary)) + 1;
  double required = (precision * 196 + 58) / 59;
  if (bits > required) count -= (int)(bits - required) * 59 / 196;
  bool up = count > precision && text[1 + precision] >= '5';
  if (count > precision) count = precision;
  memcpy(digits, text + 1, (size_t)count);
  for (; up && count > 0 && digits[count - 1] == '9'; --count) {
  }
  if (up && count > 0) ++digits[count - 1];
  if (up && count == 0) {
    digits[count++] = '1';
    ++scale;
  }
  while (count > 1 && digits[count - 1] == '0') --count;
  *exponent = scale - count + 1;
  return count;
}

// 0.699999988 or 9.99999974E-6; false when that would have no point.
static bool put_shortest(text_t* out, const char* digits, int count, int exponent, int precision) {
  int first = exponent + count - 1;
  bool scientific = exponent >= 0 ? exponent > 3 || count + exponent > precision : first < -3;
  if (scientific) {
    text_printf(out, "%c.%.*sE%s%d", digits[0], count > 1 ? count - 1 : 1, count > 1 ? digits + 1 : "0",
                first > 0 ? "+" : "", first);
  } else if (exponent >= 0) {
    return false;
  } else if (first < 0) {
    text_printf(out, "0.%.*s%.*s", -first - 1, "000", count, digits);
  } else {
    text_printf(out, "%.*s.%.*s", first + 1, digits, count - first - 1, digits + first + 1);
  }
  return true;
}

static void put_bits(text_t* out, const ir_type_t* type, const unsigned char* bytes) {
  text_puts(out, "0x");
  for (uint32_t i = ir_type_bytes(type); i-- > 0;) ir_put_hex(out, &bytes[i], 1);
}

// Six digits (and a zero) when they give the same value back, else as many as tell the type's values apart; bits when
// it is no number, or would look like an integer. Whether it was bits.
static bool put_float(text_t* out, const ir_type_t* type, double value) {
  char digits[32], text[64];
  unsigned char bytes[8] = {0}, again[8] = {0};
  int exponent = 0;
  ir_scalar_store_number(type, value, bytes);
  if (!isfinite(value)) return put_bits(out, type, bytes), true;
  if (value == 0) return text_puts(out, signbit(value) ? "-0.000000e+00" : "0.000000e+00"), false;
  const char* sign = value < 0 ? "-" : "";
  int count = decimal_digits(fabs(value), 6, digits, &exponent), first = exponent + count - 1;
  snprintf(text, sizeof(text), "%s%c.%.*s%.*se%c%02d", sign, digits[0], count - 1, digits + 1, 7 - count, "000000",
           first < 0 ? '-' : '+', abs(first));
  ir_scalar_store_number(type, strtod(text, NULL), again);
  if (memcmp(bytes, again, sizeof(bytes)) == 0) return text_puts(out, text), false;
  ir_float_kind_t stored = type->float_kind == IR_TF32 ? IR_F32 : type->float_kind;
  int precision = 2 + (float_formats[stored].mantissa_bits + 1) * 59 / 196;
  count = decimal_digits(fabs(value), precision, digits, &exponent);
  size_t start = out->size;
  text_puts(out, sign);
  if (put_shortest(out, digits, count, exponent, precision)) return false;
  out->size = start;
  put_bits(out, type, bytes);
  return true;
}

void ir_put_string(text_t* out, const char* text, size_t size) {
  put_char(out, '"');
  for (size_t i = 0; i < size; ++i) {
    unsigned char c = (unsigned char)text[i];
    if (c == '\\') {
      text_puts(out, "\\\\");
    } else if (c == '"' || c < 32 || c > 126) {
      put_char(out, '\\');
      ir_put_hex(out, &c, 1);
    } else {
      put_char(out, (char)c);
    }
  }
  put_char(out, '"');
}

static bool is_bare(const char* text, bool dollar) {
  char c = *text;
  if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_')) return false;
  while ((c = *++text)) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    if (!plain && !(dollar && c == '$')) return false;
  }
  return true;
}

void ir_put_symbol(text_t* out, const char* name) {
  put_char(out, '@');
  if (is_bare(name, true)) {
    text_puts(out, name);
  } else {
    ir_put_string(out, name, strlen(name));
  }
}

void ir_put_name(text_t* out, const char* name) {
  if (is_bare(name, true)) {
    text_puts(out, name);
  } else {
    ir_put_string(out, name, strlen(name));
  }
}

// Text kept from the source: the prefix "builtin." marks what the grammar writes without '#' or '!'.
static void put_opaque(text_t* out, char sigil, const char* name, const char* body) {
  if (strncmp(name, "builtin.", 8) == 0) {
    text_puts(out, name + 8);
  } else {
    put_char(out, sigil);
    text_puts(out, name);
  }
  if (!body) return;
  put_char(out, '<');
  text_puts(out, body);
  put_char(out, '>');
}

//===----------------------------------------------------------------------------------------------------------------===
// Types
//===----------------------------------------------------------------------------------------------------------------===

static void put_types(text_t* out, const ir_type_t* const* types, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (i) text_puts(out, ", ");
    ir_print_type(out, types[i]);
  }
}

static void put_function(text_t* out, const ir_type_t* t) {
  put_char(out, '(');
  put_types(out, t->inputs, t->input_count);
  text_puts(out, ") -> ");
  bool parens = t->result_count != 1 || t->results[0]->kind == IR_TYPE_FUNCTION;
  if (parens) put_char(out, '(');
  put_types(out, t->results, t->result_count);
  if (parens) put_char(out, ')');
}

static void put_dims(text_t* out, const ir_type_t* t, char separator, bool trailing) {
  for (int32_t i = 0; i < t->rank; ++i) {
    if (i && !trailing) put_char(out, separator);
    if (t->dims[i] == IR_DYNAMIC) {
      put_char(out, '?');
    } else {
      put_integer(out, t->dims[i]);
    }
    if (trailing) put_char(out, separator);
  }
}

static void put_shaped(text_t* out, const ir_type_t* t, const char* name) {
  text_puts(out, name);
  put_char(out, '<');
  if (t->kind == IR_TYPE_UNRANKED_TENSOR) {
    text_puts(out, "*x");
  } else {
    put_dims(out, t, 'x', true);
  }
  ir_print_type(out, t->element);
  if (t->encoding) {
    text_puts(out, ", ");
    ir_print_attr(out, t->encoding);
  }
  if (t->kind == IR_TYPE_MEMREF && t->space != IR_SPACE_GLOBAL) text_printf(out, ", %d", (int)t->space);
  put_char(out, '>');
}

static void put_vtensor(text_t* out, const ir_type_t* t) {
  text_puts(out, "!torch.vtensor");
  if (t->rank < 0 && !t->element) return;
  text_puts(out, t->rank < 0 ? "<*" : "<[");
  put_dims(out, t, ',', false);
  text_puts(out, t->rank < 0 ? "," : "],");
  if (t->element) {
    ir_print_type(out, t->element);
  } else {
    text_puts(out, "unk");
  }
  put_char(out, '>');
}

void ir_print_type(text_t* out, const ir_type_t* t) {
  static const char* const signs[] = {"i", "si", "ui"};
  switch (t->kind) {
    case IR_TYPE_NONE:
      return text_puts(out, "none");
    case IR_TYPE_INDEX:
      return text_puts(out, "index");
    case IR_TYPE_FLOAT:
      return text_puts(out, float_formats[t->float_kind].text);
    case IR_TYPE_INTEGER:
      text_puts(out, signs[t->sign]);
      return put_integer(out, t->width);
    case IR_TYPE_COMPLEX:
      text_puts(out, "complex<");
      ir_print_type(out, t->element);
      return put_char(out, '>');
    case IR_TYPE_VECTOR:
      return put_shaped(out, t, "vector");
    case IR_TYPE_TENSOR:
    case IR_TYPE_UNRANKED_TENSOR:
      return put_shaped(out, t, "tensor");
    case IR_TYPE_MEMREF:
      return put_shaped(out, t, "memref");
    case IR_TYPE_VTENSOR:
      return put_vtensor(out, t);
    case IR_TYPE_FUNCTION:
      return put_function(out, t);
    case IR_TYPE_TUPLE:
      text_puts(out, "tuple<");
      put_types(out, t->inputs, t->input_count);
      return put_char(out, '>');
    case IR_TYPE_OPAQUE:
      return put_opaque(out, '!', t->name, t->body);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Elements
//===----------------------------------------------------------------------------------------------------------------===

static void put_scalar(text_t* out, const ir_type_t* type, const void* data) {
  if (type->kind == IR_TYPE_COMPLEX) {
    put_char(out, '(');
    put_scalar(out, type->element, data);
    put_char(out, ',');
    put_scalar(out, type->element, (const char*)data + ir_type_bytes(type->element));
    return put_char(out, ')');
  }
  if (type->kind == IR_TYPE_FLOAT) {
    put_float(out, type, ir_scalar_load_number(type, data));
    return;
  }
  int64_t value = ir_scalar_load_integer(type, data);
  if (type->kind == IR_TYPE_INTEGER && type->width == 1 && type->sign == IR_SIGNLESS) {
    return text_puts(out, value ? "true" : "false");
  }
  if (type->sign == IR_UNSIGNED && value < 0) {
    text_printf(out, "%llu", (unsigned long long)value);
  } else {
    put_integer(out, value);
  }
}

static const char* put_level(text_t* out, const ir_type_t* type, int32_t dim, const char* data) {
  const ir_type_t* scalar = ir_type_scalar(type);
  if (dim == type->rank) {
    put_scalar(out, scalar, data);
    return data + ir_type_bytes(scalar);
  }
  put_char(out, '[');
  for (int64_t i = 0; i < type->dims[dim]; ++i) {
    if (i) text_puts(out, ", ");
    data = put_level(out, type, dim + 1, data);
  }
  put_char(out, ']');
  return data;
}

static bool must_be_hex(const ir_type_t* scalar) {
  if (scalar->kind == IR_TYPE_COMPLEX) scalar = scalar->element;
  return scalar->kind == IR_TYPE_INTEGER && scalar->width > 64;
}

void ir_put_elements(text_t* out, const ir_attr_t* attr, int64_t hex_above) {
  const ir_type_t *type = attr->type, *scalar = ir_type_scalar(type);
  int64_t count = ir_type_count(type);
  if (attr->resource) {
    text_puts(out, "dense_resource<");
    ir_put_name(out, attr->resource);
  } else {
    text_puts(out, "dense<");
    if (count == 0) {
    } else if (must_be_hex(scalar) || (!attr->splat && hex_above >= 0 && count > hex_above)) {
      text_puts(out, "\"0x");
      ir_put_hex(out, ir_attr_data(attr), attr->size);
      put_char(out, '"');
    } else if (attr->splat || count == 1) {
      put_scalar(out, scalar, ir_attr_data(attr));
    } else {
      put_level(out, type, 0, ir_attr_data(attr));
    }
  }
  text_puts(out, "> : ");
  ir_print_type(out, type);
}

static void put_dense_array(text_t* out, const ir_attr_t* attr) {
  text_puts(out, "array<");
  ir_print_type(out, attr->type);
  const char* data = ir_attr_data(attr);
  for (uint32_t i = 0; i < attr->count; ++i, data += ir_type_bytes(attr->type)) {
    text_puts(out, i ? ", " : ": ");
    put_scalar(out, attr->type, data);
  }
  put_char(out, '>');
}

//===----------------------------------------------------------------------------------------------------------------===
// Affine maps
//===----------------------------------------------------------------------------------------------------------------===

static void put_affine(text_t* out, const ir_affine_t* e, bool nested);

static void put_sum(text_t* out, const ir_affine_t* e) {
  const ir_affine_t* rhs = e->rhs;
  put_affine(out, e->lhs, false);
  if (rhs->kind == IR_AFFINE_CONST && rhs->value < 0 && rhs->value != INT64_MIN) {
    text_puts(out, " - ");
    return put_integer(out, -rhs->value);
  }
  bool minus = rhs->kind == IR_AFFINE_MUL && rhs->rhs->kind == IR_AFFINE_CONST && rhs->rhs->value == -1;
  text_puts(out, minus ? " - " : " + ");
  put_affine(out, minus ? rhs->lhs : rhs, minus || rhs->kind == IR_AFFINE_ADD);
}

static void put_affine(text_t* out, const ir_affine_t* e, bool nested) {
  static const char* const names[] = {[IR_AFFINE_MUL] = " * ",
                                      [IR_AFFINE_MOD] = " mod ",
                                      [IR_AFFINE_FLOORDIV] = " floordiv ",
                                      [IR_AFFINE_CEILDIV] = " ceildiv "};
  if (e->kind == IR_AFFINE_CONST) return put_integer(out, e->value);
  if (e->kind == IR_AFFINE_DIM || e->kind == IR_AFFINE_SYMBOL) {
    put_char(out, e->kind == IR_AFFINE_DIM ? 'd' : 's');
    return put_integer(out, e->value);
  }
  if (nested) put_char(out, '(');
  if (e->kind == IR_AFFINE_ADD) {
    put_sum(out, e);
  } else {
    put_affine(out, e->lhs, true);
    text_puts(out, names[e->kind]);
    put_affine(out, e->rhs, true);
  }
  if (nested) put_char(out, ')');
}

void ir_put_affine_map(text_t* out, const ir_affine_map_t* map) {
  put_char(out, '(');
  for (uint32_t i = 0; i < map->dim_count; ++i) text_printf(out, i ? ", d%u" : "d%u", i);
  put_char(out, ')');
  for (uint32_t i = 0; i < map->symbol_count; ++i) text_printf(out, i ? ", s%u" : "[s%u", i);
  text_puts(out, map->symbol_count ? "] -> (" : " -> (");
  for (uint32_t i = 0; i < map->result_count; ++i) {
    if (i) text_puts(out, ", ");
    put_affine(out, map->results[i], false);
  }
  put_char(out, ')');
}

//===----------------------------------------------------------------------------------------------------------------===
// Locations
//===----------------------------------------------------------------------------------------------------------------===

static void put_loc(text_t* out, const ir_loc_t* loc) {
  switch (loc->kind) {
    case IR_LOC_UNKNOWN:
      return text_puts(out, "unknown");
    case IR_LOC_FILE:
      ir_put_string(out, loc->name, strlen(loc->name));
      return text_printf(out, ":%u:%u", loc->line, loc->column);
    case IR_LOC_NAME:
      ir_put_string(out, loc->name, strlen(loc->name));
      if (!loc->child || loc->child->kind == IR_LOC_UNKNOWN) return;
      put_char(out, '(');
      put_loc(out, loc->child);
      return put_char(out, ')');
    case IR_LOC_CALLSITE:
      text_puts(out, "callsite(");
      put_loc(out, loc->child);
      text_puts(out, " at ");
      put_loc(out, loc->next);
      return put_char(out, ')');
    case IR_LOC_FUSED:
      text_puts(out, "fused[");
      for (const ir_loc_t* l = loc; l; l = l->next) {
        if (l != loc) text_puts(out, ", ");
        put_loc(out, l->child);
      }
      return put_char(out, ']');
  }
}

void ir_put_loc(text_t* out, const ir_loc_t* loc) {
  text_puts(out, "loc(");
  put_loc(out, loc);
  put_char(out, ')');
}

//===----------------------------------------------------------------------------------------------------------------===
// Attributes
//===----------------------------------------------------------------------------------------------------------------===

static void put_number_type(text_t* out, const ir_attr_t* attr, bool elide) {
  const ir_type_t* type = attr->type;
  if (elide && (type->kind == IR_TYPE_FLOAT ? type->float_kind == IR_F64
                                            : type->kind == IR_TYPE_INTEGER && type->width == 64 && !type->sign)) {
    return;
  }
  text_puts(out, " : ");
  ir_print_type(out, type);
}

void ir_put_entries(text_t* out, const ir_named_attr_t* entries, uint32_t count) {
  put_char(out, '{');
  for (uint32_t i = 0; i < count; ++i) {
    if (i) text_puts(out, ", ");
    ir_put_name(out, entries[i].name);
    if (entries[i].value->kind == IR_ATTR_UNIT) continue;
    text_puts(out, " = ");
    ir_print_attr(out, entries[i].value);
  }
  put_char(out, '}');
}

static void put_symbol_ref(text_t* out, const ir_attr_t* attr) {
  ir_put_symbol(out, attr->text);
  for (uint32_t i = 0; i < attr->count; ++i) {
    text_puts(out, "::");
    ir_put_symbol(out, attr->items[i]->text);
  }
}

static void put_attr(text_t* out, const ir_attr_t* attr, ir_attr_form_t form);

static void put_array(text_t* out, const ir_attr_t* attr) {
  put_char(out, '[');
  for (uint32_t i = 0; i < attr->count; ++i) {
    if (i) text_puts(out, ", ");
    put_attr(out, attr->items[i], IR_ATTR_IN_LIST);
  }
  put_char(out, ']');
}

static void put_dialect_attr(text_t* out, const ir_attr_t* attr) {
  put_opaque(out, '#', attr->text, attr->body);
  const ir_type_t* type = NULL;
  const ir_attr_t* own = ir_attr_dict_get(attr, ":");
  if (own) type = own->type;
  if (!type) return;
  text_puts(out, " : ");
  ir_print_type(out, type);
}

static void put_attr(text_t* out, const ir_attr_t* attr, ir_attr_form_t form) {
  switch (attr->kind) {
    case IR_ATTR_UNIT:
      return text_puts(out, "unit");
    case IR_ATTR_INTEGER:
    case IR_ATTR_FLOAT: {
      unsigned char bytes[16] = {0};
      bool is_bits = false;  // which would be read as an integer without the type
      if (attr->kind == IR_ATTR_FLOAT) {
        is_bits = put_float(out, attr->type, attr->number);
      } else if (attr->type->width == 1 && attr->type->sign == IR_SIGNLESS) {
        return text_puts(out, attr->integer ? "true" : "false");
      } else if (attr->type->width > 64) {
        put_integer(out, attr->integer);
      } else {
        ir_scalar_store_integer(attr->type, attr->integer, bytes);
        put_scalar(out, attr->type, bytes);
      }
      if (form != IR_ATTR_BARE) put_number_type(out, attr, form == IR_ATTR_IN_LIST && !is_bits);
      return;
    }
    case IR_ATTR_STRING:
      return ir_put_string(out, attr->text, attr->size);
    case IR_ATTR_SYMBOL:
      return put_symbol_ref(out, attr);
    case IR_ATTR_ARRAY:
      return put_array(out, attr);
    case IR_ATTR_DICT:
      return ir_put_entries(out, attr->entries, attr->count);
    case IR_ATTR_TYPE:
      return ir_print_type(out, attr->type);
    case IR_ATTR_ELEMENTS:
      return ir_put_elements(out, attr, IR_HEX_ABOVE);
    case IR_ATTR_DENSE_ARRAY:
      return put_dense_array(out, attr);
    case IR_ATTR_AFFINE_MAP:
      text_puts(out, "affine_map<");
      ir_put_affine_map(out, attr->map);
      return put_char(out, '>');
    case IR_ATTR_LOCATION:
      return ir_put_loc(out, attr->loc);
    case IR_ATTR_OPAQUE:
      return put_dialect_attr(out, attr);
  }
}

void ir_put_attr(text_t* out, const ir_attr_t* attr, ir_attr_form_t form) { put_attr(out, attr, form); }
void ir_print_attr(text_t* out, const ir_attr_t* attr) { put_attr(out, attr, IR_ATTR_TYPED); }

static const char* keep(ir_context_t* ctx, text_t* text) {
  const char* result = arena_strndup(&ctx->arena, text->data ? text->data : "", text->size);
  text_finish(text);
  return result;
}
const char* ir_type_str(ir_context_t* ctx, const ir_type_t* type) {
  text_t text = {0};
  ir_print_type(&text, type);
  return keep(ctx, &text);
}
