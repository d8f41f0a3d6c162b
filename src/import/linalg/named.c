// linalg's named ops, from the table in named.def.
#include "import/linalg/named.h"

#include <string.h>

#include "dialects/linalg.h"

named_texts_t named_split(const char* text) {
  named_texts_t t;
  memset(&t, 0, sizeof(t));
  for (int part = 0, size = 0; *text; ++text) {
    if (*text == ',') {
      ++part;
      size = 0;
    } else {
      t.part[part][size++] = *text;
    }
  }
  return t;
}

bool named_is_unsigned(lower_op_t* n) {
  const ir_attr_t* cast = ir_op_attr(n->op, "cast");
  const char* word = cast ? cast->kind == IR_ATTR_STRING ? cast->text : cast->body : NULL;
  return ir_is(n->op, LINALG_MATMUL_UNSIGNED) || (word && strstr(word, "unsigned"));
}

static bool read_counts(lower_op_t* n, uint32_t want_ins) {
  uint32_t ins, outs;
  if (!linalg_read_segments(n, &ins, &outs)) return false;
  return (ins == want_ins && outs == 1) || lower_error(n, "needs %u ins and one outs", want_ins);
}

//===----------------------------------------------------------------------------------------------------------------===
// Contractions
//===----------------------------------------------------------------------------------------------------------------===

// Roles from indexing maps, which linalg.contract has and linalg.matmul may have.
static bool roles_from_maps(lower_op_t* n, named_texts_t* t) {
  loops_t l = {0};
  if (!loops_read(n, &l)) return false;
  for (uint32_t k = 0; k < 3; ++k) {
    const loop_map_t* map = &l.maps[k];
    for (uint32_t i = 0; i < map->count; ++i) {
      if (!map->is_projected || map->terms[i].loop[0] < 0) return lower_unsupported(n, "maps to single loops are");
    }
    roles_from_map(map, t->part[k]);
  }
  return true;
}

static bool contract(lower_op_t* n, named_texts_t* t) {
  contract_roles_t roles = {t->part[0], t->part[1], t->part[2], named_is_unsigned(n), named_is_unsigned(n)};
  lower_value_t x = n->values[0], y = n->values[1], init = n->values[2];
  if (!x.im && !y.im && !init.im) return lower_return(n, roles_contract(n, x.v, y.v, init.v, &roles));
  if (!x.im || !y.im || !init.im) return lower_unsupported(n, "operands of one type are");
  ir_value_t *re = roles_contract(n, x.v, y.v, init.v, &roles), *im = roles_contract(n, x.v, y.im, init.im, &roles);
  if (!re || !im) return false;
  n->out[0].v = roles_contract(n, graph_unary(n->b, SCALAR_neg, x.im), y.im, re, &roles);
  n->out[0].im = roles_contract(n, x.im, y.v, im, &roles);
  return true;
}

bool linalg_lower_contract(lower_op_t* n) {
  named_texts_t t;
  return read_counts(n, 2) && roles_from_maps(n, &t) && contract(n, &t);
}

bool linalg_lower_matmul(lower_op_t* n) {
  named_texts_t t = named_split(n->row->text);
  if (!read_counts(n, 2) || (ir_op_attr(n->op, "indexing_maps") && !roles_from_maps(n, &t))) return false;
  return contract(n, &t);
}

// x - zero in the result's type.
static ir_value_t* without_zero_point(lower_op_t* n, ir_value_t* x, ir_value_t* zero, const ir_type_t* element) {
  int64_t value;
  if (lower_splat_integer(zero, &value) && value == 0) return x;
  x = graph_cast(n->b, x, element, false);
  zero = graph_cast(n->b, lower_as_tensor(n->b, zero), element, false);
  return lower_binary(n, SCALAR_sub, x, zero);
}

static bool check_quantized(lower_op_t* n) {
  if (!read_counts(n, 4)) return false;
  for (int i = 0; i < 4; ++i) {
    const ir_type_t* type = n->in[i]->type;
    bool zero = i < 2 || !ir_type_is_tensor(type) || type->rank == 0;
    if (lower_is_float(type) || !zero) return lower_error(n, "needs two integer tensors and two zero points");
  }
  return true;
}

bool linalg_lower_matmul_quantized(lower_op_t* n) {
  named_texts_t t = named_split(n->row->text);
  if (!check_quantized(n)) return false;
  const ir_type_t* element = n->in[4]->type->element;
  contract_roles_t roles = {t.part[0], t.part[1], t.part[2], false, false};
  ir_value_t* x = without_zero_point(n, n->in[0], n->in[2], element);
  ir_value_t* w = without_zero_point(n, n->in[1], n->in[3], element);
  return lower_return(n, roles_contract(n, x, w, n->in[4], &roles));
}

//===----------------------------------------------------------------------------------------------------------------===
// Convolutions and pooling
//===----------------------------------------------------------------------------------------------------------------===

bool named_steps(lower_op_t* n, conv_roles_t* r) {
  uint32_t spatial = 0;
  for (const char* c = r->x; *c; ++c) spatial += *c >= '0' && *c <= '9';
  for (uint32_t i = 0; i < spatial; ++i) r->strides[i] = r->dilations[i] = 1;
  if (ir_op_attr(n->op, "strides") && !lower_ints(n, "strides", r->strides, spatial)) return false;
  if (ir_op_attr(n->op, "dilations") && !lower_ints(n, "dilations", r->dilations, spatial)) return false;
  for (uint32_t i = 0; i < spatial; ++i) {
    if (r->strides[i] < 1 || r->dilations[i] < 1) return lower_error(n, "needs positive strides and dilations");
  }
  return true;
}

bool linalg_lower_conv(lower_op_t* n) {
  named_texts_t t = named_split(n->row->text);
  conv_roles_t r = {t.part[0], t.part[1], t.part[2], {0}, {0}};
  if (!read_counts(n, 2) || !named_steps(n, &r)) return false;
  return lower_return(n, roles_conv(n, n->in[0], n->in[1], n->in[2], &r));
}

bool linalg_lower_conv_quantized(lower_op_t* n) {
  named_texts_t t = named_split(n->row->text);
  conv_roles_t r = {t.part[0], t.part[1], t.part[2], {0}, {0}};
  if (!check_quantized(n) || !named_steps(n, &r)) return false;
  const ir_type_t* element = n->in[4]->type->element;
  ir_value_t* x = without_zero_point(n, n->in[0], n->in[2], element);
  ir_value_t* w = without_zero_point(n, n->in[1], n->in[3], element);
  return lower_return(n, roles_conv(n, x, w, n->in[4], &r));
}

bool linalg_lower_pool(lower_op_t* n) {
  named_texts_t t = named_split(n->row->text);
  conv_roles_t r = {t.part[0], "", t.part[0], {0}, {0}};
  int64_t sizes[GRAPH_MAX_SPATIAL];
  if (!read_counts(n, 2) || !named_steps(n, &r)) return false;
  const ir_type_t* window = n->in[1]->type;
  if (!ir_type_is_tensor(window) || !ir_type_is_static(window) || window->rank > GRAPH_MAX_SPATIAL ||
      window->rank != (int32_t)strlen(t.part[0]) - 2) {
    return lower_error(n, "needs a window of static shape");
  }
  memcpy(sizes, window->dims, sizeof(*sizes) * (size_t)window->rank);
  return lower_return(n, roles_pool(n, n->in[0], n->in[2], &r, sizes, t.part[1]));
}

//===----------------------------------------------------------------------------------------------------------------===
// Elementwise
//===----------------------------------------------------------------------------------------------------------------===

static const struct {
  const char* name;
  scalar_fn_t fn, unsigned_fn;
} functions[] = {{"abs", SCALAR_abs, SCALAR_abs},
                 {"add", SCALAR_add, SCALAR_add},
                 {"ceil", SCALAR_ceil, SCALAR_ceil},
                 {"div", SCALAR_div, SCALAR_div},
                 {"div_unsigned", SCALAR_divu, SCALAR_divu},
                 {"erf", SCALAR_erf, SCALAR_erf},
                 {"exp", SCALAR_exp, SCALAR_exp},
                 {"floor", SCALAR_floor, SCALAR_floor},
                 {"log", SCALAR_log, SCALAR_log},
                 {"max", SCALAR_max, SCALAR_maxu},
                 {"max_signed", SCALAR_max, SCALAR_max},
                 {"max_unsigned", SCALAR_maxu, SCALAR_maxu},
                 {"min", SCALAR_min, SCALAR_minu},
                 {"min_signed", SCALAR_min, SCALAR_min},
                 {"min_unsigned", SCALAR_minu, SCALAR_minu},
                 {"mul", SCALAR_mul, SCALAR_mul},
                 {"negf", SCALAR_neg, SCALAR_neg},
                 {"powf", SCALAR_pow, SCALAR_pow},
                 {"round", SCALAR_round, SCALAR_round},
                 {"rsqrt", SCALAR_rsqrt, SCALAR_rsqrt},
                 {"select", SCALAR_select, SCALAR_select},
                 {"sqrt", SCALAR_sqrt, SCALAR_sqrt},
                 {"sub", SCALAR_sub, SCALAR_sub},
                 {"tanh", SCALAR_tanh, SCALAR_tanh}};

ir_value_t* named_apply(lower_op_t* n, const char* name, ir_value_t** v, uint32_t count) {
  const ir_type_t* element = ir_type_scalar(v[count - 1]->type);
  if (strcmp(name, "copy") == 0 && count == 1) return v[0];
  if (strcmp(name, "square") == 0 && count == 1) return graph_binary(n->b, SCALAR_mul, v[0], v[0]);
  if (strcmp(name, "reciprocal") == 0 && count == 1) {
    return graph_binary(n->b, SCALAR_div, lower_number_like(n, v[0], 1), v[0]);
  }
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i) {
    if (strcmp(functions[i].name, name) != 0) continue;
    scalar_fn_t fn = functions[i].fn;
    if (named_is_unsigned(n) && !ir_type_is_float(element)) fn = functions[i].unsigned_fn;
    bool takes = scalar_info[fn].types & (ir_type_is_float(element) ? SCALAR_TYPES_F : SCALAR_TYPES_I);
    if (!takes || scalar_info[fn].arity != count) return lower_unsupported(n, NULL), NULL;
    if (fn == SCALAR_select) return graph_select(n->b, v[0], v[1], v[2]);
    return count == 1 ? graph_unary(n->b, fn, v[0]) : graph_binary(n->b, fn, v[0], v[1]);
  }
  lower_unsupported(n, "function '%s' is unknown", name);
  return NULL;
}

const char* named_function(lower_op_t* n) {
  if (n->row->text) return n->row->text;
  const ir_attr_t* attr = ir_op_attr(n->op, "kind");
  if (!attr) attr = ir_op_attr(n->op, "fun");
  const char* word = attr ? attr->kind == IR_ATTR_STRING ? attr->text : attr->body : NULL;
  if (word) return word;
  if (ir_is(n->op, LINALG_ELEMWISE_UNARY)) return "exp";  // what the op means without the attribute
  return ir_is(n->op, LINALG_ELEMWISE_BINARY) ? "add" : "";
}

static bool spread_operands(lower_op_t* n, uint32_t ins, ir_value_t** v, loops_t* l) {
  if (!loops_read(n, l) || !loops_find_sizes(n, l)) return false;
  for (uint32_t i = 0; i < ins; ++i) {
    if (!(v[i] = loops_spread(n, l, i))) return false;
  }
  return true;
}

bool linalg_lower_elementwise(lower_op_t* n) {
  uint32_t ins, outs;
  ir_value_t* v[4];
  loops_t l = {0};
  if (!linalg_read_segments(n, &ins, &outs)) return false;
  if (ins < 1 || ins > 3 || outs != 1) return lower_error(n, "needs one to three ins and one outs");
  bool maps = ir_op_attr(n->op, "indexing_maps") != NULL;
  memcpy(v, n->in, sizeof(*v) * ins);
  v[ins] = n->in[ins];
  if (maps ? !spread_operands(n, ins, v, &l) : !lower_unify(n, v, ins + 1)) return false;
  const char* name = named_function(n);
  const ir_type_t* element = n->in[ins]->type->element;
  for (uint32_t i = strcmp(name, "select") == 0; i < ins; ++i) {
    v[i] = graph_cast(n->b, v[i], element, named_is_unsigned(n));
  }
  ir_value_t* y = named_apply(n, name, v, ins);
  return y && lower_return(n, maps ? loops_collect(n, &l, ins, y) : y);
}

bool linalg_lower_fill(lower_op_t* n) {
  if (!read_counts(n, 1)) return false;
  ir_value_t* value = lower_as_tensor(n->b, n->in[0]);
  if (value->type->rank) return lower_unsupported(n, "a number is");
  value = graph_cast(n->b, value, n->in[1]->type->element, named_is_unsigned(n));
  return lower_return(n, lower_splat(n->b, value, n->in[1]));
}

//===----------------------------------------------------------------------------------------------------------------===
// Ops with a list or a region
//===----------------------------------------------------------------------------------------------------------------===

bool linalg_lower_transpose(lower_op_t* n) {
  int64_t perm[GRAPH_MAX_RANK];
  uint32_t count;
  if (n->op->operand_count != 2 || n->op->result_count != 1) return lower_unsupported(n, "tensors are");
  if (!lower_dims(n, "permutation", n->in[0]->type->rank, perm, &count)) return false;
  if (count != (uint32_t)n->in[0]->type->rank) return lower_error(n, "needs a permutation of all dimensions");
  return lower_return(n, graph_transpose(n->b, n->in[0], perm));
}

// `dimensions` are new.
bool linalg_lower_broadcast(lower_op_t* n) {
  int64_t added[GRAPH_MAX_RANK], dims[GRAPH_MAX_RANK];
  uint32_t count, kept = 0;
  if (n->op->operand_count != 2 || n->op->result_count != 1) return lower_unsupported(n, "tensors are");
  ir_value_t *x = lower_as_tensor(n->b, n->in[0]), *init = n->in[1], *dynamic[GRAPH_MAX_RANK];
  if (!lower_dims(n, "dimensions", init->type->rank, added, &count)) return false;
  if (x->type->rank + (int32_t)count != init->type->rank) return lower_error(n, "adds another number of dimensions");
  for (int32_t d = 0; d < init->type->rank; ++d) {
    bool fresh = false;
    for (uint32_t i = 0; i < count; ++i) fresh |= added[i] == d;
    if (fresh) continue;
    int64_t from = x->type->dims[kept], to = init->type->dims[d];
    if (from != to && from != IR_DYNAMIC && to != IR_DYNAMIC) return lower_error(n, "has operands that do not fit");
    dims[kept++] = d;
  }
  lower_dynamic_dims(n->b, init, init->type, dynamic);
  return lower_return(n, graph_broadcast(n->b, x, init->type, dims, dynamic));
}

// ins and outs of one shape; the body's last arguments, for outs, may be missing.
bool linalg_lower_map(lower_op_t* n) {
  loops_t l = {.ins = n->op->operand_count - 1, .outs = 1};
  ir_block_t* block = n->op->regions[0].first;
  int64_t loops[GRAPH_MAX_RANK];
  if (!n->op->operand_count || l.ins + 1 > LOOPS_MAX_OPERANDS || n->op->result_count != 1 || !block || block->next) {
    return lower_unsupported(n, "tensors are");
  }
  const ir_type_t* type = n->in[l.ins]->type;
  l.rank = (uint32_t)type->rank;
  for (uint32_t i = 0; i < l.rank; ++i) loops[i] = i;
  for (uint32_t k = 0; k <= l.ins; ++k) {
    const ir_type_t* operand = n->in[k]->type;
    if (ir_type_is_tensor(operand) && operand->rank != type->rank) return lower_error(n, "needs operands of one shape");
    loops_map_from_list(n->ctx, loops, ir_type_is_tensor(operand) ? l.rank : 0, l.rank, &l.maps[k]);
  }
  if (!loops_find_sizes(n, &l)) return false;
  if (block->arg_count == l.ins) ir_block_add_arg(n->ctx, block, type->element);
  return loops_lower(n, &l, block);
}

bool linalg_lower_reduce(lower_op_t* n) {
  uint32_t count = n->op->result_count, dim_count, kept = 0;
  ir_block_t* block = n->op->regions[0].first;
  int64_t dims[GRAPH_MAX_RANK], loops[GRAPH_MAX_RANK], outer[GRAPH_MAX_RANK];
  if (!count || n->op->operand_count != 2 * count || !block || block->next || 2 * count > LOOPS_MAX_OPERANDS) {
    return lower_unsupported(n, "as many ins as outs that are tensors are");
  }
  loops_t l = {.ins = count, .outs = count, .rank = (uint32_t)n->in[0]->type->rank};
  if (!lower_dims(n, "dimensions", (int32_t)l.rank, dims, &dim_count)) return false;
  for (uint32_t i = 0; i < dim_count; ++i) l.reduction[dims[i]] = true;
  for (uint32_t i = 0; i < l.rank; ++i) {
    loops[i] = i;
    if (!l.reduction[i]) outer[kept++] = i;
  }
  for (uint32_t k = 0; k < 2 * count; ++k) {
    bool in = k < count;
    if (!lower_check_rank(n, k, (int32_t)(in ? l.rank : kept))) return false;
    loops_map_from_list(n->ctx, in ? loops : outer, in ? l.rank : kept, l.rank, &l.maps[k]);
  }
  return loops_find_sizes(n, &l) && loops_lower(n, &l, block);
}

bool linalg_lower_softmax(lower_op_t* n) {
  ir_value_t* x = n->in[0];
  int64_t axis = ir_op_int(n->op, "dimension", -1), dims[GRAPH_MAX_RANK];
  if (!ir_type_is_tensor(x->type) || !lower_is_float(x->type) || axis < 0 || axis >= x->type->rank ||
      n->op->result_count != 1) {
    return lower_unsupported(n, "a tensor of floats with that dimension is");
  }
  uint32_t kept = 0;
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < x->type->rank; ++i) {
    if (i != axis) dims[kept++] = i;
  }
  lower_dynamic_dims(n->b, x, x->type, dynamic);
  ir_value_t* most = graph_broadcast(n->b, graph_reduce(n->b, x, &axis, 1, "max"), x->type, dims, dynamic);
  ir_value_t* e = graph_unary(n->b, SCALAR_exp, graph_binary(n->b, SCALAR_sub, x, most));
  ir_value_t* sum = graph_broadcast(n->b, graph_reduce(n->b, e, &axis, 1, "add"), x->type, dims, dynamic);
  return lower_return(n, graph_binary(n->b, SCALAR_div, e, sum));
}

#define AT(ENUM) [LINALG_##ENUM - IR_CODE(IR_DIALECT_LINALG, 0)]
#define MATMUL(ENUM, lhs, rhs, y) \
  AT(ENUM) = {.fn = linalg_lower_matmul, .flags = LOWER_COMPLEX, .text = lhs "," rhs "," y},
#define MATMUL_Q(ENUM, lhs, rhs, y) AT(ENUM) = {.fn = linalg_lower_matmul_quantized, .text = lhs "," rhs "," y},
#define CONV(ENUM, x, w, y) AT(ENUM) = {.fn = linalg_lower_conv, .text = x "," w "," y},
#define CONV_Q(ENUM, x, w, y) AT(ENUM) = {.fn = linalg_lower_conv_quantized, .text = x "," w "," y},
#define POOL(ENUM, x, kind) AT(ENUM) = {.fn = linalg_lower_pool, .text = x "," kind},
#define ELEMENTWISE(ENUM, name) AT(ENUM) = {.fn = linalg_lower_elementwise, .text = name},
#define OP(ENUM, handler) AT(ENUM) = {.fn = linalg_lower_##handler},
#define PARTS(ENUM, handler) AT(ENUM) = {.fn = linalg_lower_##handler, .flags = LOWER_BY_PARTS},
#define COMPLEX(ENUM, handler) AT(ENUM) = {.fn = linalg_lower_##handler, .flags = LOWER_COMPLEX},
#define REFUSED(ENUM, sentence) AT(ENUM) = {.fn = lower_refused, .flags = LOWER_ANY_VALUE, .text = sentence},
static const lower_row_t rows[] = {
#include "import/linalg/named.def"
};
const lower_table_t lower_linalg_table = {IR_DIALECT_LINALG, rows, sizeof(rows) / sizeof(rows[0])};
