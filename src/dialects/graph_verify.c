// Verifies a graph op by its row: which attributes it has and what they may be, how element types go together, what its
// shape rule says. What is verified needs no more checks below: passes and kernels index by these numbers.
#include <string.h>

#include "dialects/graph_shape.h"

//===----------------------------------------------------------------------------------------------------------------===
// Attributes
//===----------------------------------------------------------------------------------------------------------------===

static bool is_list(const ir_attr_t* attr) {
  if (attr->kind == IR_ATTR_DENSE_ARRAY) return attr->type && ir_type_is_int(attr->type);
  if (attr->kind != IR_ATTR_ARRAY) return false;
  for (uint32_t i = 0; i < attr->count; ++i) {
    if (attr->items[i]->kind != IR_ATTR_INTEGER) return false;
  }
  return true;
}

// Values between `low` and `high`, as many as `count` unless that is below 0.
static bool list_fits(const ir_attr_t* attr, int32_t count, int64_t low, int64_t high) {
  int64_t values[GRAPH_MAX_RANK];
  if (!is_list(attr) || attr->count > GRAPH_MAX_RANK || (count >= 0 && attr->count != (uint32_t)count)) return false;
  ir_attr_ints(attr, values, GRAPH_MAX_RANK);
  for (uint32_t i = 0; i < attr->count; ++i) {
    if (values[i] < low || values[i] > high) return false;
  }
  return true;
}

enum { SORTED = 1 };
// Different dimensions of `type`.
static bool dims_fit(const ir_attr_t* attr, const ir_type_t* type, int32_t count, int flags) {
  int64_t values[GRAPH_MAX_RANK];
  if (!ir_type_is_tensor(type) || !list_fits(attr, count, 0, (int64_t)type->rank - 1)) return false;
  ir_attr_ints(attr, values, GRAPH_MAX_RANK);
  for (uint32_t i = 1; i < attr->count; ++i) {
    if (shape_contains(values, i, values[i]) || (flags & SORTED && values[i] < values[i - 1])) return false;
  }
  return true;
}

static bool is_integer(const ir_attr_t* attr, int64_t low, int64_t high) {
  return attr->kind == IR_ATTR_INTEGER && attr->integer >= low && attr->integer <= high;
}

// `words` are separated by blanks.
static bool is_word(const ir_attr_t* attr, const char* words) {
  if (attr->kind != IR_ATTR_STRING) return false;
  size_t length = strlen(attr->text);
  for (const char* word = words; length && word; word = strchr(word, ' ')) {
    word += *word == ' ';
    if (strncmp(word, attr->text, length) == 0 && (word[length] == ' ' || !word[length])) return true;
  }
  return false;
}

static bool is_layout(const ir_attr_t* attr, const ir_type_t* type, const char* letters) {
  if (attr->kind != IR_ATTR_STRING || !ir_type_is_tensor(type)) return false;
  int32_t rank = type->rank;
  if (rank < 2 || rank - 2 > GRAPH_MAX_SPATIAL || strlen(attr->text) != (size_t)rank) return false;
  for (int32_t i = 0; i < rank; ++i) {
    char name = i < 2 ? letters[i] : (char)('0' + i - 2);
    if (!strchr(attr->text, name)) return false;
  }
  return true;
}

static bool all_of_kind(const ir_attr_t* attr, ir_attr_kind_t kind) {
  if (attr->kind != IR_ATTR_ARRAY || !attr->count) return false;
  for (uint32_t i = 0; i < attr->count; ++i) {
    if (attr->items[i]->kind != kind) return false;
  }
  return true;
}

static bool are_iterators(const ir_attr_t* attr) {
  if (attr->kind != IR_ATTR_ARRAY) return false;
  for (uint32_t i = 0; i < attr->count; ++i) {
    if (!is_word(attr->items[i], "parallel reduction")) return false;
  }
  return true;
}

// Lists that name dimensions of an operand or of the result.
static bool names_dims(graph_rule_t rule, const ir_op_t* op, const ir_attr_t* attr) {
  uint32_t indices = op->result_count;
  const ir_type_t *none = op->results ? op->results[0].type : NULL, *at[4];
  for (uint32_t i = 0; i < 3; ++i) at[i] = i < op->operand_count ? ir_operand(op, i)->type : none;
  at[3] = op->result_count ? op->results[0].type : none;
  bool generic = rule == GRAPH_RULE_DIMS_INDICES || rule == GRAPH_RULE_DIMS_UPDATE_SORTED;
  if (generic && indices + 1 >= op->operand_count) return false;
  switch (rule) {
    case GRAPH_RULE_DIMS:
      return dims_fit(attr, at[0], -1, 0);
    case GRAPH_RULE_DIMS_1:
      return dims_fit(attr, at[1], -1, 0);
    case GRAPH_RULE_DIMS_2_SORTED:
      return dims_fit(attr, at[2], -1, SORTED);
    case GRAPH_RULE_DIMS_INDICES:
      return dims_fit(attr, ir_operand(op, indices)->type, -1, 0);
    case GRAPH_RULE_DIMS_UPDATE_SORTED:
      return dims_fit(attr, ir_operand(op, indices + 1)->type, -1, SORTED);
    case GRAPH_RULE_RESULT_DIMS:
      return dims_fit(attr, at[3], -1, 0);
    case GRAPH_RULE_RESULT_DIMS_SORTED:
      return dims_fit(attr, at[3], -1, SORTED);
    case GRAPH_RULE_PERMUTATION:
      return dims_fit(attr, at[0], at[0]->rank, 0);
    default:
      return false;
  }
}

static bool has_number_each(graph_rule_t rule, const ir_op_t* op, const ir_attr_t* attr) {
  const ir_type_t* type = op->operand_count ? ir_operand(op, 0)->type : NULL;
  if (!type || !ir_type_is_tensor(type)) return false;
  int64_t most = INT64_MAX / 4, least = -most;
  switch (rule) {
    case GRAPH_RULE_NUMBERS:
      return list_fits(attr, type->rank, least, most);
    case GRAPH_RULE_NATURALS:
      return list_fits(attr, type->rank, 0, most);
    case GRAPH_RULE_POSITIVES:
      return list_fits(attr, type->rank, 1, most);
    case GRAPH_RULE_SPATIAL_NUMBERS:
      return list_fits(attr, type->rank - 2, least, most);
    case GRAPH_RULE_SPATIAL_POSITIVES:
      return list_fits(attr, type->rank - 2, 1, most);
    case GRAPH_RULE_TILES: {
      const ir_attr_t* axes = graph_attr(op, GRAPH_ATTR_axes);
      return axes && list_fits(attr, (int32_t)axes->count, 1, most);
    }
    case GRAPH_RULE_SIZES: {  // IR_DYNAMIC: all there is
      int64_t values[GRAPH_MAX_RANK];
      if (!list_fits(attr, type->rank, INT64_MIN, most)) return false;
      ir_attr_ints(attr, values, GRAPH_MAX_RANK);
      for (uint32_t i = 0; i < attr->count; ++i) {
        if (values[i] < 0 && values[i] != IR_DYNAMIC) return false;
      }
      return true;
    }
    default:
      return false;
  }
}

static bool is_dimension(const ir_type_t* type, const ir_attr_t* attr) {
  return type && ir_type_is_tensor(type) && is_integer(attr, 0, (int64_t)type->rank - 1);
}

static bool rule_holds(graph_rule_t rule, const ir_op_t* op, const ir_attr_t* attr) {
  const ir_type_t* first = op->operand_count ? ir_operand(op, 0)->type : NULL;
  const ir_type_t* result = op->result_count ? op->results[0].type : NULL;
  switch (rule) {
    case GRAPH_RULE_ANY:
      return true;
    case GRAPH_RULE_UNIT:
      return attr->kind == IR_ATTR_UNIT || attr->kind == IR_ATTR_INTEGER;
    case GRAPH_RULE_VALUE:
      return attr->kind == IR_ATTR_ELEMENTS || attr->kind == IR_ATTR_INTEGER || attr->kind == IR_ATTR_FLOAT ||
             (ir_is(op, GRAPH_GLOBAL) && attr->kind != IR_ATTR_UNIT);
    case GRAPH_RULE_TYPE:
      return attr->kind == IR_ATTR_TYPE;
    case GRAPH_RULE_NUMBER:
      return attr->kind == IR_ATTR_FLOAT;
    case GRAPH_RULE_COUNT:
      return is_integer(attr, 0, INT64_MAX);
    case GRAPH_RULE_PLACE:
      return op->result_count == 1 && is_integer(attr, 0, (int64_t)op->operand_count - 1) &&
             ir_operand(op, (uint32_t)attr->integer)->type == result;
    case GRAPH_RULE_POSITIVE:
      return is_integer(attr, 1, INT64_MAX);
    case GRAPH_RULE_FLAG:
      return is_integer(attr, 0, 1);
    case GRAPH_RULE_KEYS:
      return is_integer(attr, 1, op->result_count);
    case GRAPH_RULE_RUN:
      return is_integer(attr, 0, INT64_MAX / 4) && !(attr->integer & (attr->integer - 1));
    case GRAPH_RULE_DIM:
      return is_dimension(first, attr);
    case GRAPH_RULE_RESULT_DIM:
      return is_dimension(result, attr);
    case GRAPH_RULE_LAYOUT_X:
      return is_layout(attr, first, "nc");
    case GRAPH_RULE_LAYOUT_W:
      return is_layout(attr, first, "oi");
    case GRAPH_RULE_REDUCTION:
      return is_word(attr, "add mul min max minu maxu and or xor");
    case GRAPH_RULE_UPDATE:
      return is_word(attr, "set add mul min max minu maxu and or xor");
    case GRAPH_RULE_EXTREME:
      return is_word(attr, "min max");
    case GRAPH_RULE_TRANSFORM:
      return is_word(attr, "fft ifft");
    case GRAPH_RULE_PAD_MODE:
      return is_word(attr, "constant reflect edge wrap");
    case GRAPH_RULE_STRING:
    case GRAPH_RULE_NAME:
      return attr->kind == IR_ATTR_STRING;
    case GRAPH_RULE_SYMBOL:
      return attr->kind == IR_ATTR_SYMBOL;
    case GRAPH_RULE_MAPS:
      return all_of_kind(attr, IR_ATTR_AFFINE_MAP);
    case GRAPH_RULE_ITERATORS:
      return are_iterators(attr);
    default:
      return has_number_each(rule, op, attr) || names_dims(rule, op, attr);
  }
}

static const char* rule_text(graph_rule_t rule) {
  static const char* const texts[] = {
#define RULE(name, expects) expects,
#include "dialects/graph_attrs.def"
#undef RULE
  };
  return texts[rule];
}

static const graph_attr_row_t* find_row(const graph_row_t* row, const char* name) {
  for (const graph_attr_row_t* attr = row->attrs; attr->id != GRAPH_ATTR_COUNT; ++attr) {
    if (strcmp(graph_attr_name(attr->id), name) == 0) return attr;
  }
  return NULL;
}

static bool check_attributes(ir_context_t* ctx, const ir_op_t* op) {
  const graph_row_t* row = graph_row(op);
  for (uint32_t i = 0; i < op->attr_count; ++i) {
    const char* name = op->attrs[i].name;
    bool is_note = strchr(name, '.') || strcmp(name, graph_attr_name(GRAPH_ATTR_extents)) == 0;
    if (!is_note && !find_row(row, name)) return ir_op_error(ctx, op, "has no attribute '%s'", name);
  }
  for (const graph_attr_row_t* attr = row->attrs; attr->id != GRAPH_ATTR_COUNT; ++attr) {
    const char* name = graph_attr_name(attr->id);
    const ir_attr_t* value = ir_op_attr(op, name);
    if (!value && attr->required)
      return ir_op_error(ctx, op, "needs the attribute '%s': %s", name, rule_text(attr->rule));
    if (value && !rule_holds(attr->rule, op, value)) {
      return ir_op_error(ctx, op, "has the attribute '%s', which must be %s", name, rule_text(attr->rule));
    }
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Element types
//===----------------------------------------------------------------------------------------------------------------===

typedef bool (*types_fn_t)(ir_context_t* ctx, const ir_op_t* op);

static bool differ(ir_context_t* ctx, const ir_op_t* op, const ir_type_t* x, const ir_type_t* y) {
  return ir_op_error(ctx, op, "has values of element types '%s' and '%s', which must be one", ir_type_str(ctx, x),
                     ir_type_str(ctx, y));
}

static bool types_free(ir_context_t* ctx, const ir_op_t* op) { return true; }

// All tensors, but those of `skipped` operands and results (a mask), have one element type.
static bool one_element(ir_context_t* ctx, const ir_op_t* op, uint32_t operands, uint32_t results) {
  const ir_type_t* one = NULL;
  for (uint32_t i = 0; i < op->operand_count + op->result_count; ++i) {
    bool is_operand = i < op->operand_count;
    uint32_t at = is_operand ? i : i - op->operand_count;
    if (at < 32 && (is_operand ? operands : results) >> at & 1) continue;
    const ir_type_t* type = is_operand ? ir_operand(op, i)->type : op->results[at].type;
    if (!ir_type_is_tensor(type)) continue;
    if (one && one != type->element) return differ(ctx, op, one, type->element);
    one = type->element;
  }
  return true;
}

static bool is_whole(const ir_type_t* scalar) { return ir_type_is_int(scalar) || scalar->kind == IR_TYPE_INDEX; }

static bool takes_type(const scalar_info_t* info, const ir_type_t* scalar) {
  if (ir_type_is_float(scalar)) return info->types & SCALAR_TYPES_F;
  return is_whole(scalar) && info->types & SCALAR_TYPES_I;
}

static bool types_same(ir_context_t* ctx, const ir_op_t* op) { return one_element(ctx, op, 0, 0); }

static bool refuses(ir_context_t* ctx, const ir_op_t* op, const ir_type_t* type) {
  return ir_op_error(ctx, op, "does not take '%s'", ir_type_str(ctx, type));
}

// Operands and results, any of which may be of another type of floats.
static bool types_floats(ir_context_t* ctx, const ir_op_t* op) {
  for (uint32_t i = 0; i < op->operand_count + op->result_count; ++i) {
    const ir_type_t* type = i < op->operand_count ? ir_operand(op, i)->type : op->results[i - op->operand_count].type;
    if (!ir_type_is_tensor(type) || !ir_type_is_float(type->element)) return refuses(ctx, op, type);
  }
  return true;
}

static bool types_one_float(ir_context_t* ctx, const ir_op_t* op) {
  return types_floats(ctx, op) && one_element(ctx, op, 0, 0);
}

// The function that `kind` names takes the elements; "set" is none, and takes all.
static bool kind_takes(ir_context_t* ctx, const ir_op_t* op, const ir_type_t* type) {
  const ir_type_t* scalar = ir_type_scalar(type);
  const char* kind = graph_get_kind(op);
  for (int i = 0; i < SCALAR_COUNT; ++i) {
    if (strcmp(scalar_info[i].name, kind) || takes_type(&scalar_info[i], scalar)) continue;
    return ir_op_error(ctx, op, "of kind '%s' does not take '%s'", kind, ir_type_str(ctx, scalar));
  }
  return true;
}

static bool types_combined(ir_context_t* ctx, const ir_op_t* op) {
  return one_element(ctx, op, 0, 0) && kind_takes(ctx, op, ir_operand(op, 0)->type);
}

// Starts follow the tensor, or the tensor and its part.
static bool types_started(ir_context_t* ctx, const ir_op_t* op) {
  return one_element(ctx, op, ir_is(op, GRAPH_DYNAMIC_SLICE) ? ~1u : ~3u, 0);
}

// The second operand has indices.
static bool types_indexed(ir_context_t* ctx, const ir_op_t* op) {
  const ir_type_t* indices = ir_type_scalar(ir_operand(op, 1)->type);
  if (!is_whole(indices)) return ir_op_error(ctx, op, "has indices of type '%s'", ir_type_str(ctx, indices));
  return one_element(ctx, op, 1u << 1, 0);
}

static bool types_scattered(ir_context_t* ctx, const ir_op_t* op) {
  return types_indexed(ctx, op) && kind_takes(ctx, op, ir_operand(op, 0)->type);
}

// Floats and whole numbers have an order.
static bool is_ordered(ir_context_t* ctx, const ir_op_t* op, uint32_t operand) {
  const ir_type_t* scalar = ir_type_scalar(ir_operand(op, operand)->type);
  return ir_type_is_float(scalar) || is_whole(scalar) || refuses(ctx, op, scalar);
}

// The second result has places, where what is in order is found.
static bool types_placed(ir_context_t* ctx, const ir_op_t* op) {
  const ir_type_t* places = ir_type_scalar(op->results[1].type);
  if (!is_whole(places)) return ir_op_error(ctx, op, "gives places as '%s'", ir_type_str(ctx, places));
  return is_ordered(ctx, op, 0) && one_element(ctx, op, 0, 1u << 1);
}

static bool is_truth(ir_context_t* ctx, const ir_op_t* op, uint32_t operand) {
  const ir_type_t* type = ir_type_scalar(ir_operand(op, operand)->type);
  return (ir_type_is_int(type) && type->width == 1) || refuses(ctx, op, type);
}

static bool types_places(ir_context_t* ctx, const ir_op_t* op) {
  const ir_type_t *starts = ir_type_scalar(ir_operand(op, 1)->type), *places = ir_type_scalar(op->results[0].type);
  if (!is_whole(starts)) return refuses(ctx, op, starts);
  if (!is_whole(places)) return ir_op_error(ctx, op, "gives places as '%s'", ir_type_str(ctx, places));
  return is_truth(ctx, op, 0);
}

// Scores and boxes are of one type of floats.
static bool types_suppress(ir_context_t* ctx, const ir_op_t* op) {
  enum { MASK = 1, MOST = 7 };
  const ir_type_t *scores = ir_type_scalar(ir_operand(op, 0)->type), *most = ir_type_scalar(ir_operand(op, MOST)->type);
  const ir_type_t* numbers = ir_type_scalar(op->results[0].type);
  if (!ir_type_is_float(scores)) return refuses(ctx, op, scores);
  if (!is_whole(most)) return refuses(ctx, op, most);
  if (!is_whole(numbers)) return ir_op_error(ctx, op, "gives numbers as '%s'", ir_type_str(ctx, numbers));
  return is_truth(ctx, op, MASK) && one_element(ctx, op, 1u << MASK | 1u << MOST, 1u);
}

static bool types_numbers(ir_context_t* ctx, const ir_op_t* op) {
  for (uint32_t i = 0; i <= op->operand_count; ++i) {
    const ir_type_t* type = i < op->operand_count ? ir_operand(op, i)->type : op->results[0].type;
    const ir_type_t* scalar = ir_type_scalar(type);
    if (!ir_type_is_tensor(type) || !(ir_type_is_float(scalar) || is_whole(scalar))) {
      return ir_op_error(ctx, op, "takes and gives tensors of numbers, not '%s'", ir_type_str(ctx, type));
    }
  }
  return true;
}

// Each result is of its operand's element type.
static bool types_paired(ir_context_t* ctx, const ir_op_t* op) {
  for (uint32_t i = 0; i < op->result_count && i < op->operand_count; ++i) {
    const ir_type_t *x = ir_type_scalar(ir_operand(op, i)->type), *y = ir_type_scalar(op->results[i].type);
    if (x != y) return differ(ctx, op, x, y);
  }
  return true;
}

// By the first `keys` operands.
static bool types_sorted(ir_context_t* ctx, const ir_op_t* op) {
  for (int64_t i = 0; i < graph_get_keys(op); ++i) {
    if (!is_ordered(ctx, op, (uint32_t)i)) return false;
  }
  return types_paired(ctx, op);
}

// Whether all bits of a value of one type are those of the other.
static bool keeps_bits(const ir_type_t* x, const ir_type_t* y) {
  return x->width == y->width && ir_type_bytes(x) == ir_type_bytes(y);
}

static bool types_scalar(ir_context_t* ctx, const ir_op_t* op) {
  const scalar_info_t* info = &scalar_info[graph_scalar_fn(op)];
  bool selects = graph_scalar_fn(op) == SCALAR_select;
  const ir_type_t *x = ir_type_scalar(ir_operand(op, selects ? 1 : 0)->type), *y = ir_type_scalar(op->results[0].type);
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const ir_type_t* type = ir_type_scalar(ir_operand(op, i)->type);
    if (selects && i == 0) {
      if (ir_type_is_int(type) && type->width == 1) continue;
      return ir_op_error(ctx, op, "chooses by '%s', which must be i1", ir_type_str(ctx, type));
    }
    if (type != x) return differ(ctx, op, x, type);
    if (!takes_type(info, type)) return refuses(ctx, op, type);
  }
  switch (info->result) {
    case SCALAR_RESULT_SAME:
      return x == y || differ(ctx, op, x, y);
    case SCALAR_RESULT_BOOL:
      return (ir_type_is_int(y) && y->width == 1) || ir_op_error(ctx, op, "gives i1, not '%s'", ir_type_str(ctx, y));
    default:
      if (!ir_type_is_float(y) && !is_whole(y)) {
        return ir_op_error(ctx, op, "does not give '%s'", ir_type_str(ctx, y));
      }
      if (graph_scalar_fn(op) != SCALAR_bitcast || keeps_bits(x, y)) return true;
      return ir_op_error(ctx, op, "cannot keep the bits of '%s' in '%s'", ir_type_str(ctx, x), ir_type_str(ctx, y));
  }
}

static const types_fn_t types_rules[] = {
#define SCALAR(name, ...) types_scalar,
#include "base/scalar.def"
#undef SCALAR
#define OP(NAME, text, operands, results, regions, traits, fusion, types, ...) types_##types,
#include "dialects/graph.def"
#undef OP
};

//===----------------------------------------------------------------------------------------------------------------===
// Shapes
//===----------------------------------------------------------------------------------------------------------------===

bool graph_values_fit(ir_context_t* ctx, const ir_op_t* op) {
  for (uint32_t i = 0; i < op->operand_count + op->result_count; ++i) {
    const ir_type_t* type = i < op->operand_count ? ir_operand(op, i)->type : op->results[i - op->operand_count].type;
    if (!ir_type_is_tensor(type)) continue;
    if (type->rank > GRAPH_MAX_RANK)
      return ir_op_error(ctx, op, "has a value of rank %d, above %d", type->rank, GRAPH_MAX_RANK);
    for (int32_t d = 0; d < type->rank; ++d) {
      if (type->dims[d] != IR_DYNAMIC && type->dims[d] < 0) return ir_op_error(ctx, op, "has a value of negative size");
    }
    if (!ir_type_is_static(type)) continue;
    int64_t bytes;
    if (__builtin_mul_overflow(ir_type_count(type), (int64_t)ir_type_bytes(type->element), &bytes)) {
      return ir_op_error(ctx, op, "has a value of type '%s', which is larger than any memory", ir_type_str(ctx, type));
    }
  }
  return true;
}

static bool check_shape(ir_context_t* ctx, ir_op_t* op, uint32_t result) {
  graph_sizer_t s = {.ctx = ctx, .op = op, .result = result};
  graph_shape_t shape;
  if (!graph_shape(&s, &shape)) return s.failed ? false : ir_op_error(ctx, op, "has operands that do not fit");
  if (shape.rank < 0 || result >= op->result_count) return true;
  const ir_type_t* type = op->results[result].type;
  bool fits = ir_type_is_tensor(type) && type->rank == shape.rank;
  for (int32_t i = 0; fits && i < shape.rank; ++i) {
    int64_t have = type->dims[i], want = shape.dims[i].number;
    fits = have == IR_DYNAMIC || want == IR_DYNAMIC || have == want;
  }
  if (fits) return true;
  int64_t dims[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < shape.rank; ++i) dims[i] = shape.dims[i].number;
  const ir_type_t* wanted = ir_type_tensor(ctx, ir_type_scalar(type), shape.rank, dims);
  return ir_op_error(ctx, op, "has result #%u of type '%s', which should be '%s'", result, ir_type_str(ctx, type),
                     ir_type_str(ctx, wanted));
}

bool graph_verify(ir_context_t* ctx, ir_op_t* op) {
  if (!graph_values_fit(ctx, op) || !check_attributes(ctx, op)) return false;
  for (uint32_t i = 0; i == 0 || i < op->result_count; ++i) {
    if (!check_shape(ctx, op, i)) return false;
  }
  return types_rules[op->info->code - IR_CODE(IR_DIALECT_GRAPH, 0)](ctx, op);
}
