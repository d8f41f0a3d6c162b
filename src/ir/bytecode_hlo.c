// Encodings of the attributes and types of StableHLO, CHLO and VHLO, StableHLO's versioned form. VHLO's come back as
// what StableHLO has in their place. Source: openxla/stablehlo, docs/vhlo.md and the dialects' lists of codes.
#include <string.h>

#include "ir/bytecode_state.h"
#include "ir/parse_state.h"

//===----------------------------------------------------------------------------------------------------------------===
// Words: #stablehlo<comparison_direction EQ>
//===----------------------------------------------------------------------------------------------------------------===

typedef struct words_t {
  const char* name;
  uint64_t first;
  const char* words[8];
} words_t;

static const words_t direction = {"comparison_direction", 0, {"EQ", "NE", "GE", "GT", "LE", "LT"}};
static const words_t comparison = {"comparison_type", 0, {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}};
static const words_t fft_type = {"fft_type", 0, {"FFT", "IFFT", "RFFT", "IRFFT"}};
static const words_t precision = {"precision", 0, {"DEFAULT", "HIGH", "HIGHEST"}};
static const words_t rng_algorithm = {"rng_algorithm", 0, {"DEFAULT", "THREE_FRY", "PHILOX"}};
static const words_t rng_distribution = {"rng_distribution", 1, {"UNIFORM", "NORMAL"}};
static const words_t transpose = {"transpose", 0, {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}};
static const words_t accuracy_mode = {"result_accuracy_mode", 0, {"DEFAULT", "HIGHEST", "TOLERANCE"}};

static const ir_attr_t* read_word(bytecode_t* b, bytecode_bytes_t* c, const char* dialect, const words_t* w) {
  bytecode_bytes_t start = *c;
  uint64_t value;
  if (!bytecode_varint(b, c, &value)) return NULL;
  const char* word = value >= w->first && value - w->first < 8 ? w->words[value - w->first] : NULL;
  if (!word) {
    bytecode_fail(b, &start, "%llu is no %s", (unsigned long long)value, w->name);
    return NULL;
  }
  if (w == &accuracy_mode) return ir_attr_opaque(b->ctx, "stablehlo.result_accuracy_mode", word, NULL, 0);
  return ir_attr_opaque(b->ctx, dialect, arena_printf(&b->scratch, "%s %s", w->name, word), NULL, 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Structs: #stablehlo.dot<lhs_contracting_dimensions = [1], ...>
//===----------------------------------------------------------------------------------------------------------------===

// Fields, each with a mark: L list, left out when empty; l list; I number, left out when 0; i number; t type; b
// boolean. "attribute/field" where VHLO's op has an attribute of another name.
const char vhlo_dot[] =
    "lhs_batching_dimensions:L rhs_batching_dimensions:L lhs_contracting_dimensions:L rhs_contracting_dimensions:L";
const char vhlo_algorithm[] =
    "lhs_precision_type:t rhs_precision_type:t accumulation_type:t lhs_component_count:i rhs_component_count:i "
    "num_primitive_operations:i allow_imprecise_accumulation:b";
const char vhlo_gather[] =
    "offset_dims:L collapsed_slice_dims:L operand_batching_dims:L start_indices_batching_dims:L start_index_map:L "
    "index_vector_dim:I";
const char vhlo_scatter[] =
    "update_window_dims:L inserted_window_dims:L input_batching_dims:L scatter_indices_batching_dims:L "
    "scatter_dims_to_operand_dims:L index_vector_dim:I";
const char vhlo_channel[] = "channel_id/handle:i channel_type/type:i";
static const char alias_fields[] = "output_tuple_indices:l operand_index:i operand_tuple_indices:l";

static bool read_field(bytecode_t* b, bytecode_bytes_t* c, char mark, text_t* out, bool* leave_out) {
  int64_t *values, value = 0;
  uint32_t count;
  if (mark == 'L' || mark == 'l') {
    if (!bytecode_ints(b, c, &values, &count)) return false;
    *leave_out = mark == 'L' && !count;
    text_puts(out, "[");
    for (uint32_t i = 0; i < count; ++i) text_printf(out, i ? ", %lld" : "%lld", (long long)values[i]);
    text_puts(out, "]");
    return true;
  }
  if (mark == 't') {
    const ir_type_t* type = bytecode_type(b, c);
    if (type) ir_print_type(out, type);
    return type != NULL;
  }
  if (mark == 'b') {
    uint8_t flag;
    if (!bytecode_byte(b, c, &flag)) return false;
    text_puts(out, flag ? "true" : "false");
    return true;
  }
  if (!bytecode_svarint(b, c, &value)) return false;
  *leave_out = mark == 'I' && !value;
  text_printf(out, "%lld", (long long)value);
  return true;
}

static const ir_attr_t* read_struct(bytecode_t* b, bytecode_bytes_t* c, const char* name, const char* fields) {
  bytecode_bytes_t start = *c;
  text_t text = {0}, value = {0};
  bool ok = true, any = false;
  text_printf(&text, "#stablehlo.%s<", name);
  for (const char* at = fields; ok && *at;) {
    size_t size = strcspn(at, ":");
    const char *slash = memchr(at, '/', size), *field = slash ? slash + 1 : at;
    bool leave_out = false;
    value.size = 0;
    ok = read_field(b, c, at[size + 1], &value, &leave_out);
    if (ok && !leave_out) {
      text_printf(&text, "%s%.*s = %.*s", any ? ", " : "", (int)(at + size - field), field, (int)value.size,
                  value.data);
    }
    any |= !leave_out;
    at += size + 2;
    at += *at == ' ';
  }
  text_finish(&value);
  text_puts(&text, ">");
  if (ok) return bytecode_text_attr(b, &start, &text);
  text_finish(&text);
  return NULL;
}

// {atol, rtol, ulps, mode}; what is zero is left out.
static const ir_attr_t* read_accuracy(bytecode_t* b, bytecode_bytes_t* c) {
  bytecode_bytes_t start = *c;
  double tolerance[2];
  int64_t ulps;
  if (!bytecode_double(b, c, &tolerance[0]) || !bytecode_double(b, c, &tolerance[1]) ||
      !bytecode_svarint(b, c, &ulps)) {
    return NULL;
  }
  const ir_attr_t* mode = bytecode_attr(b, c);
  if (!mode) return NULL;
  text_t text = {0};
  text_puts(&text, "#stablehlo.result_accuracy<");
  for (int i = 0; i < 2; ++i) {
    if (tolerance[i] == 0) continue;
    text_puts(&text, i ? "rtol = " : "atol = ");
    ir_print_attr(&text, ir_attr_float(b->ctx, ir_type_float(b->ctx, IR_F64), tolerance[i]));
    text.size -= strlen(" : f64");
    text_puts(&text, ", ");
  }
  if (ulps) text_printf(&text, "ulps = %lld, ", (long long)ulps);
  text_puts(&text, "mode = ");
  ir_print_attr(&text, mode);
  text_puts(&text, ">");
  return bytecode_text_attr(b, &start, &text);
}

// #stablehlo.bounds<3, ?>
static const ir_attr_t* read_bounds(bytecode_t* b, bytecode_bytes_t* c) {
  int64_t* values;
  uint32_t count;
  if (!bytecode_ints(b, c, &values, &count)) return NULL;
  text_t text = {0};
  for (uint32_t i = 0; i < count; ++i) {
    if (i) text_puts(&text, ", ");
    if (values[i] == IR_DYNAMIC) text_puts(&text, "?");
    if (values[i] != IR_DYNAMIC) text_printf(&text, "%lld", (long long)values[i]);
  }
  const ir_attr_t* attr = ir_attr_opaque(b->ctx, "stablehlo.bounds", text.data ? text.data : "", NULL, 0);
  text_finish(&text);
  return attr;
}

static const ir_attr_t* read_conv(bytecode_t* b, bytecode_bytes_t* c) {
  int64_t numbers[6], *spatial[3];
  uint32_t counts[3];
  for (int i = 0; i < 3; ++i) {
    if (!bytecode_svarint(b, c, &numbers[2 * i]) || !bytecode_svarint(b, c, &numbers[2 * i + 1]) ||
        !bytecode_ints(b, c, &spatial[i], &counts[i])) {
      return NULL;
    }
  }
  return vhlo_conv(b, c, numbers, spatial, counts);
}

//===----------------------------------------------------------------------------------------------------------------===
// StableHLO and CHLO
//===----------------------------------------------------------------------------------------------------------------===

static const ir_attr_t* unknown_attr(bytecode_t* b, const bytecode_bytes_t* start, const char* dialect, uint64_t code) {
  bytecode_fail(b, start, "attribute %llu of dialect '%s' cannot be read", (unsigned long long)code, dialect);
  return NULL;
}

const ir_attr_t* bytecode_hlo_attr(bytecode_t* b, bytecode_bytes_t* c) {
  static const words_t* const words[] = {[2] = &direction,  [3] = &comparison,    [6] = &fft_type,
                                         [8] = &precision,  [9] = &rng_algorithm, [10] = &rng_distribution,
                                         [12] = &transpose, [16] = &accuracy_mode};
  static const struct {
    const char *name, *fields;
  } structs[] = {[1] = {"channel_handle", vhlo_channel},
                 [5] = {"dot", vhlo_dot},
                 [7] = {"gather", vhlo_gather},
                 [11] = {"scatter", vhlo_scatter},
                 [14] = {"output_operand_alias", alias_fields},
                 [15] = {"dot_algorithm", vhlo_algorithm}};
  bytecode_bytes_t start = *c;
  uint64_t code;
  if (!bytecode_varint(b, c, &code)) return NULL;
  if (code < sizeof(words) / sizeof(words[0]) && words[code]) return read_word(b, c, "stablehlo", words[code]);
  if (code < sizeof(structs) / sizeof(structs[0]) && structs[code].name) {
    return read_struct(b, c, structs[code].name, structs[code].fields);
  }
  if (code == 4) return read_conv(b, c);
  if (code == 13) return read_bounds(b, c);
  if (code == 17) return read_accuracy(b, c);
  return unknown_attr(b, &start, "stablehlo", code);
}

const ir_attr_t* bytecode_chlo_attr(bytecode_t* b, bytecode_bytes_t* c) {
  bytecode_bytes_t start = *c;
  uint64_t code;
  if (!bytecode_varint(b, c, &code)) return NULL;
  if (code < 2) return read_word(b, c, "chlo", code ? &comparison : &direction);
  return unknown_attr(b, &start, "chlo", code);
}

// !stablehlo.future<t, ...>
static const ir_type_t* read_future(bytecode_t* b, bytecode_bytes_t* c) {
  bytecode_bytes_t start = *c;
  const ir_type_t** types;
  uint32_t count;
  if (!bytecode_type_list(b, c, &types, &count)) return NULL;
  text_t text = {0};
  text_puts(&text, "!stablehlo.future<");
  for (uint32_t i = 0; i < count; ++i) {
    if (i) text_puts(&text, ", ");
    ir_print_type(&text, types[i]);
  }
  text_puts(&text, ">");
  return bytecode_text_type(b, &start, &text);
}

const ir_type_t* bytecode_hlo_type(bytecode_t* b, bytecode_bytes_t* c) {
  bytecode_bytes_t start = *c;
  uint64_t code;
  if (!bytecode_varint(b, c, &code)) return NULL;
  if (code == 0) return ir_type_opaque(b->ctx, "stablehlo.token", NULL);
  if (code == 1) return read_future(b, c);
  bytecode_fail(b, &start, "type %llu of dialect 'stablehlo' cannot be read", (unsigned long long)code);
  return NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// VHLO's attributes
//===----------------------------------------------------------------------------------------------------------------===

// Meshes of devices, for collectives: kept as text.
static const ir_attr_t* read_mesh(bytecode_t* b, bytecode_bytes_t* c, uint64_t code) {
  static const char* const names[] = {"sub_axis_info", "axis_ref", "replica_group_mesh_axes", "mesh_axis", "mesh"};
  static const char* const heads[] = {"(", "name = ", "mesh = ", "name = ", "axes="};
  bytecode_bytes_t start = *c;
  const ir_attr_t *first = NULL, *second = NULL;
  int64_t number = 0, size = 0;
  uint64_t there = 0;
  bool ok = code == 21 ? bytecode_svarint(b, c, &number) : (first = bytecode_attr(b, c)) != NULL;
  if (code == 21 || code == 24) ok = ok && bytecode_svarint(b, c, &size);
  if (code == 22)
    ok = ok && bytecode_index(b, c, 2, &there, "mark of a part") && (!there || (second = bytecode_attr(b, c)));
  if (code == 23) ok = ok && (second = bytecode_attr(b, c));
  if (code == 25) ok = ok && bytecode_optional_attr(b, c, &second);
  if (!ok) return NULL;
  text_t text = {0};
  text_printf(&text, "#stablehlo.%s<%s", names[code - 21], heads[code - 21]);
  if (code == 21) text_printf(&text, "%lld)%lld", (long long)number, (long long)size);
  if (code == 23 && first->kind == IR_ATTR_STRING)
    first = ir_attr_symbol(b->ctx, ir_intern(b->ctx, first->text, first->size));
  if (first) ir_print_attr(&text, first);
  if (code == 24) text_printf(&text, ", size = %lld", (long long)size);
  if (second) text_puts(&text, code == 22 ? ", sub_axis_info = " : code == 23 ? ", axes = " : ", device_ids=");
  bool part = second && code == 22 && second->kind == IR_ATTR_OPAQUE && second->body;
  if (second && part) text_puts(&text, second->body);
  if (second && !part) ir_print_attr(&text, second);
  text_puts(&text, ">");
  return bytecode_text_attr(b, &start, &text);
}

static const ir_attr_t* read_boolean(bytecode_t* b, bytecode_bytes_t* c) {
  uint64_t value;
  return bytecode_index(b, c, 2, &value, "boolean") ? ir_attr_bool(b->ctx, value == 1) : NULL;
}

static const ir_attr_t* read_api_version(bytecode_t* b, bytecode_bytes_t* c) {
  uint64_t value;
  if (!bytecode_index(b, c, 5, &value, "version of custom calls")) return NULL;
  return ir_attr_integer(b->ctx, ir_type_int(b->ctx, 32), (int64_t)value);
}

static const ir_attr_t* read_string(bytecode_t* b, bytecode_bytes_t* c) {
  bytecode_string_t string;
  return bytecode_string(b, c, &string) ? ir_attr_string(b->ctx, string.text, string.size) : NULL;
}

const ir_attr_t* bytecode_vhlo_attr(bytecode_t* b, bytecode_bytes_t* c) {
  static const words_t* const words[] = {[3] = &direction,  [4] = &comparison,     [7] = &fft_type,
                                         [11] = &precision, [12] = &rng_algorithm, [13] = &rng_distribution,
                                         [16] = &transpose, [19] = &accuracy_mode};
  bytecode_bytes_t start = *c;
  uint64_t code;
  const ir_type_t* type;
  if (!bytecode_varint(b, c, &code)) return NULL;
  if (code < sizeof(words) / sizeof(words[0]) && words[code]) return read_word(b, c, "stablehlo", words[code]);
  switch (code) {
    case 1:
      return bytecode_array(b, c);
    case 2:
      return read_boolean(b, c);
    case 5:
      return read_api_version(b, c);
    case 6:
      return bytecode_dict(b, c);
    case 8:
      return bytecode_float(b, c, bytecode_type(b, c));
    case 9:
      return bytecode_integer(b, c, bytecode_type(b, c));
    case 10:
      return read_struct(b, c, "output_operand_alias", alias_fields);
    case 14:
      return read_string(b, c);
    case 15:
      return bytecode_elements(b, c, bytecode_type(b, c));
    case 17:
      type = bytecode_type(b, c);
      return type ? ir_attr_type(b->ctx, type) : NULL;
    case 18:
      return read_bounds(b, c);
    case 20:
      return read_accuracy(b, c);
    case 21:
    case 22:
    case 23:
    case 24:
    case 25:
      return read_mesh(b, c, code);
    default:
      return unknown_attr(b, &start, "vhlo", code);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Types
//===----------------------------------------------------------------------------------------------------------------===

// Range of an integer type that quantised numbers are stored as.
static bool is_whole_range(bool is_signed, uint32_t width, int64_t least, int64_t most) {
  int64_t half = (int64_t)1 << (width - 1);
  return is_signed ? least == -half && most == half - 1 : least == 0 && most == 2 * half - 1;
}

typedef struct quant_t {
  uint64_t flags, axis;
  const ir_type_t *storage, *expressed;
  int64_t least, most, *points;
  double* scales;
  uint32_t count;
  bool per_axis;
} quant_t;

static const ir_type_t* make_quant(bytecode_t* b, const bytecode_bytes_t* start, const quant_t* q) {
  bool is_signed = q->flags & 1;
  if (q->storage->kind != IR_TYPE_INTEGER || q->storage->width == 0 || q->storage->width > 32) {
    bytecode_fail(b, start, "quantised numbers are stored as integers of up to 32 bits");
    return NULL;
  }
  text_t text = {0};
  text_printf(&text, "!quant.uniform<%c%u", is_signed ? 'i' : 'u', q->storage->width);
  if (!is_whole_range(is_signed, q->storage->width, q->least, q->most)) {
    text_printf(&text, "<%lld:%lld>", (long long)q->least, (long long)q->most);
  }
  text_puts(&text, ":");
  ir_print_type(&text, q->expressed);
  if (q->per_axis) text_printf(&text, ":%llu", (unsigned long long)q->axis);
  text_puts(&text, q->per_axis ? ", {" : ", ");
  for (uint32_t i = 0; i < q->count; ++i) {
    if (i) text_puts(&text, ", ");
    ir_print_attr(&text, ir_attr_float(b->ctx, ir_type_float(b->ctx, IR_F64), q->scales[i]));
    text.size -= strlen(" : f64");
    if (q->points[i]) text_printf(&text, ":%lld", (long long)q->points[i]);
  }
  text_puts(&text, q->per_axis ? "}>" : ">");
  return bytecode_text_type(b, start, &text);
}

// {flags, storage, expressed, scale, zero point, least, most}
static const ir_type_t* read_quant(bytecode_t* b, bytecode_bytes_t* c) {
  bytecode_bytes_t start = *c;
  double scale;
  int64_t point;
  quant_t q = {.scales = &scale, .points = &point, .count = 1};
  bool ok = bytecode_varint(b, c, &q.flags) && (q.storage = bytecode_type(b, c)) &&
            (q.expressed = bytecode_type(b, c)) && bytecode_double(b, c, &scale) && bytecode_svarint(b, c, &point) &&
            bytecode_svarint(b, c, &q.least) && bytecode_svarint(b, c, &q.most);
  return ok ? make_quant(b, &start, &q) : NULL;
}

// {flags, storage, expressed, axis, least, most, scales, zero points}
static const ir_type_t* read_quant_axis(bytecode_t* b, bytecode_bytes_t* c) {
  bytecode_bytes_t start = *c;
  quant_t q = {.per_axis = true};
  uint64_t count;
  uint32_t points;
  bool ok = bytecode_varint(b, c, &q.flags) && (q.storage = bytecode_type(b, c)) &&
            (q.expressed = bytecode_type(b, c)) && bytecode_varint(b, c, &q.axis) && bytecode_svarint(b, c, &q.least) &&
            bytecode_svarint(b, c, &q.most) && bytecode_count(b, c, &count, "scales");
  if (!ok) return NULL;
  q.scales = ARENA_ARRAY(&b->scratch, double, count + 1);
  for (uint64_t i = 0; i < count; ++i) {
    if (!bytecode_double(b, c, &q.scales[i])) return NULL;
  }
  if (!bytecode_ints(b, c, &q.points, &points)) return NULL;
  q.count = (uint32_t)count;
  if (points == count) return make_quant(b, &start, &q);
  bytecode_fail(b, &start, "there are %llu scales, but %u zero points", (unsigned long long)count, points);
  return NULL;
}

const ir_type_t* bytecode_quant_type(bytecode_t* b, bytecode_bytes_t* c) {
  bytecode_bytes_t start = *c;
  uint64_t code;
  if (!bytecode_varint(b, c, &code)) return NULL;
  if (code == 4) return read_quant(b, c);
  if (code == 5) return read_quant_axis(b, c);
  bytecode_fail(b, &start, "type %llu of dialect 'quant' cannot be read", (unsigned long long)code);
  return NULL;
}

// VHLO's types without parts, by their codes.
static const char* const vhlo_types[] = {[0] = "i1",
                                         [2] = "bf16",
                                         [3] = "f16",
                                         [4] = "f32",
                                         [5] = "f64",
                                         [6] = "f8E4M3FN",
                                         [7] = "f8E5M2",
                                         [9] = "index",
                                         [10] = "i4",
                                         [11] = "i8",
                                         [12] = "i16",
                                         [13] = "i32",
                                         [14] = "i64",
                                         [15] = "ui4",
                                         [16] = "ui8",
                                         [17] = "ui16",
                                         [18] = "ui32",
                                         [19] = "ui64",
                                         [22] = "!stablehlo.token",
                                         [27] = "f8E4M3FNUZ",
                                         [28] = "f8E5M2FNUZ",
                                         [29] = "f8E4M3B11FNUZ",
                                         [31] = "i2",
                                         [32] = "ui2",
                                         [33] = "none",
                                         [34] = "tf32",
                                         [35] = "f8E4M3",
                                         [36] = "f8E3M4",
                                         [37] = "f4E2M1FN",
                                         [38] = "f6E2M3FN",
                                         [39] = "f6E3M2FN",
                                         [40] = "f8E8M0FNU"};

const ir_type_t* bytecode_vhlo_type(bytecode_t* b, bytecode_bytes_t* c) {
  bytecode_bytes_t start = *c;
  uint64_t code;
  const ir_attr_t* encoding;
  if (!bytecode_varint(b, c, &code)) return NULL;
  if (code < sizeof(vhlo_types) / sizeof(vhlo_types[0]) && vhlo_types[code]) {
    text_t text = {0};
    text_puts(&text, vhlo_types[code]);
    return bytecode_text_type(b, &start, &text);
  }
  switch (code) {
    case 1:
      return bytecode_wrapped(b, c, "complex<");
    case 8:
      return bytecode_function(b, c);
    case 20:
      return bytecode_shaped(b, c, "tensor", NULL);
    case 21:
      encoding = bytecode_attr(b, c);
      return encoding ? bytecode_shaped(b, c, "tensor", encoding) : NULL;
    case 23:
      return bytecode_tuple(b, c);
    case 24:
      return read_quant(b, c);
    case 25:
      return bytecode_wrapped(b, c, "tensor<*x");
    case 30:
      return read_quant_axis(b, c);
    case 41:
      return bytecode_shaped(b, c, "memref", NULL);
    case 42:
      return read_future(b, c);
    default:
      bytecode_fail(b, &start, "type %llu of dialect 'vhlo' cannot be read", (unsigned long long)code);
      return NULL;
  }
}
