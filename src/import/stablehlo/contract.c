// dot, dot_general, einsum and convolution.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialects/stablehlo.h"
#include "import/stablehlo/ops.h"

//===----------------------------------------------------------------------------------------------------------------===
// dot
//===----------------------------------------------------------------------------------------------------------------===

typedef struct dims_t {
  int64_t lhs_batch[GRAPH_MAX_RANK], rhs_batch[GRAPH_MAX_RANK];
  int64_t lhs_contract[GRAPH_MAX_RANK], rhs_contract[GRAPH_MAX_RANK];
  uint32_t batch_count, contract_count;
  const ir_type_t* accumulator;  // that an algorithm asks for, or NULL
} dims_t;

// What sums are made in: narrow floats in f32, booleans as counts.
static const ir_type_t* accumulator_of(lower_op_t* n, const ir_type_t* element) {
  if (ir_type_is_float(element) && ir_type_bytes(element) < 4) return ir_type_float(n->ctx, IR_F32);
  if (element->kind == IR_TYPE_INTEGER && element->width == 1) return ir_type_int(n->ctx, 32);
  return element;
}

static ir_value_t* contract_parts(lower_op_t* n, ir_value_t* lhs, ir_value_t* rhs, const dims_t* d,
                                  const ir_type_t* element) {
  graph_contract_t c = {.lhs_batch = d->lhs_batch,
                        .rhs_batch = d->rhs_batch,
                        .lhs_contract = d->lhs_contract,
                        .rhs_contract = d->rhs_contract,
                        .batch_count = d->batch_count,
                        .contract_count = d->contract_count,
                        .unsigned_lhs = lower_is_unsigned(lower_in_type(n, 0)),
                        .unsigned_rhs = lower_is_unsigned(lower_in_type(n, 1))};
  const ir_type_t* sum = d->accumulator ? d->accumulator : accumulator_of(n, element);
  return graph_cast(n->b, graph_contract(n->b, lhs, rhs, &c, sum), element, false);
}

static bool check_pairs(lower_op_t* n, const char* what, const int64_t* l, const int64_t* r, uint32_t count,
                        uint32_t* seen) {
  const ir_type_t *lt = n->in[0]->type, *rt = n->in[1]->type;
  for (uint32_t i = 0; i < count; ++i) {
    bool in_range = l[i] >= 0 && l[i] < lt->rank && r[i] >= 0 && r[i] < rt->rank;
    if (!in_range || (seen[0] & (1u << l[i])) || (seen[1] & (1u << r[i]))) {
      return lower_error(n, "has %s dimensions that are out of range or there twice", what);
    }
    seen[0] |= 1u << l[i];
    seen[1] |= 1u << r[i];
    int64_t x = lt->dims[l[i]], y = rt->dims[r[i]];
    if (x != y && x != IR_DYNAMIC && y != IR_DYNAMIC) {
      return lower_error(n, "has %s dimensions of sizes %lld and %lld", what, (long long)x, (long long)y);
    }
  }
  return true;
}

static bool build_dot(lower_op_t* n, dims_t* d) {
  lower_value_t operands[2] = {n->values[0], n->values[1]};
  d->accumulator = NULL;
  if (!stablehlo_check_precision(n) || !stablehlo_apply_algorithm(n, operands, &d->accumulator)) return false;
  lower_value_t x = operands[0], y = operands[1];
  uint32_t seen[2] = {0};
  if (!check_pairs(n, "batch", d->lhs_batch, d->rhs_batch, d->batch_count, seen) ||
      !check_pairs(n, "contracting", d->lhs_contract, d->rhs_contract, d->contract_count, seen)) {
    return false;
  }
  if (x.v->type->rank + y.v->type->rank > 2 * GRAPH_MAX_RANK) return lower_unsupported(n, "the ranks are too high");
  const ir_type_t* element = ir_type_scalar(lower_out_type(n, 0));
  if (element->kind == IR_TYPE_COMPLEX) element = element->element;
  element = lower_element(n->ctx, element);
  if (!x.im && !y.im) return lower_return(n, contract_parts(n, x.v, y.v, d, element));
  if (!x.im || !y.im) return lower_unsupported(n, "operands of one type are");
  ir_value_t* re = contract_parts(n, x.v, y.v, d, element);
  ir_value_t* im = contract_parts(n, x.v, y.im, d, element);
  n->out[0].v = graph_binary(n->b, SCALAR_sub, re, contract_parts(n, x.im, y.im, d, element));
  n->out[0].im = graph_binary(n->b, SCALAR_add, im, contract_parts(n, x.im, y.v, d, element));
  return true;
}

static bool check_operands(lower_op_t* n) {
  for (int i = 0; i < 2; ++i) {
    if (!n->in[i] || !ir_type_is_tensor(n->in[i]->type)) return lower_unsupported(n, "tensors are");
  }
  return true;
}

bool stablehlo_lower_dot(lower_op_t* n) {
  if (!check_operands(n)) return false;
  int32_t l = n->in[0]->type->rank, r = n->in[1]->type->rank;
  if (l < 1 || r < 1 || l > 2 || r > 2) return lower_unsupported(n, "vectors and matrices are; dot_general takes more");
  dims_t d = {.contract_count = 1};
  d.lhs_contract[0] = l - 1;
  return build_dot(n, &d);
}

bool stablehlo_lower_dot_general(lower_op_t* n) {
  const ir_attr_t* attr = ir_op_attr(n->op, "dot_dimension_numbers");
  if (!check_operands(n)) return false;
  if (!attr) return lower_error(n, "needs attribute 'dot_dimension_numbers'");
  dims_t d;
  uint32_t counts[4];
  counts[0] = ir_attr_ints(ir_attr_dict_get(attr, "lhs_batching_dimensions"), d.lhs_batch, GRAPH_MAX_RANK);
  counts[1] = ir_attr_ints(ir_attr_dict_get(attr, "rhs_batching_dimensions"), d.rhs_batch, GRAPH_MAX_RANK);
  counts[2] = ir_attr_ints(ir_attr_dict_get(attr, "lhs_contracting_dimensions"), d.lhs_contract, GRAPH_MAX_RANK);
  counts[3] = ir_attr_ints(ir_attr_dict_get(attr, "rhs_contracting_dimensions"), d.rhs_contract, GRAPH_MAX_RANK);
  if (counts[0] != counts[1] || counts[2] != counts[3] || counts[0] > GRAPH_MAX_RANK || counts[2] > GRAPH_MAX_RANK) {
    return lower_error(n, "needs as many dimensions for the left side as for the right");
  }
  d.batch_count = counts[0];
  d.contract_count = counts[2];
  return build_dot(n, &d);
}

//===----------------------------------------------------------------------------------------------------------------===
// einsum: "ij,jk->ik", "...ij,jk->...ik"
//===----------------------------------------------------------------------------------------------------------------===

typedef struct terms_t {
  char text[3][GRAPH_MAX_RANK + 1];  // labels of left, right and result; DOTS and the next ones are of "..."
  int32_t dots[3];                   // where "..." is, or -1
} terms_t;

enum { DOTS = 1 };  // no letter, nor are the GRAPH_MAX_RANK behind it

static bool read_letters(lower_op_t* n, terms_t* t) {
  const char* at = ir_op_string(n->op, "einsum_config", "");
  *t = (terms_t){.dots = {-1, -1, -1}};
  for (uint32_t term = 0, size = 0; *at; ++at) {
    if (*at == ' ') continue;
    bool next = *at == ',' || (at[0] == '-' && at[1] == '>');
    if (next) {
      at += *at == '-';
      term = *at == '>' ? 2 : term + 1;
      size = 0;
      if (term > 2) return lower_error(n, "has too many terms in 'einsum_config'");
    } else if (strncmp(at, "...", 3) == 0 && t->dots[term] < 0) {
      t->dots[term] = (int32_t)size;
      at += 2;
    } else {
      bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
      if (!letter || size == GRAPH_MAX_RANK)
        return lower_unsupported(n, "letters and one '...' a term in 'einsum_config' are");
      t->text[term][size++] = *at;
    }
  }
  return true;
}

// Labels for the `count` last of `most` dimensions that "..." is, where the term has it.
static bool spread_dots(terms_t* t, uint32_t term, int32_t count, int32_t most) {
  size_t size = strlen(t->text[term]);
  if (t->dots[term] < 0) return true;
  if (count < 0 || size + (size_t)count > GRAPH_MAX_RANK) return false;
  char* at = t->text[term] + t->dots[term];
  memmove(at + count, at, size - (size_t)t->dots[term] + 1);
  for (int32_t i = 0; i < count; ++i) at[i] = (char)(DOTS + most - count + i);
  return true;
}

static bool read_terms(lower_op_t* n, uint32_t operands, terms_t* t) {
  int32_t counts[2] = {0}, most = 0;
  if (!read_letters(n, t)) return false;
  for (uint32_t i = 0; i < operands; ++i) {
    if (t->dots[i] >= 0) counts[i] = n->in[i]->type->rank - (int32_t)strlen(t->text[i]);
    most = counts[i] > most ? counts[i] : most;
  }
  if (most > 0 && t->dots[2] < 0) return lower_error(n, "has a result without the '...' of its operands");
  for (uint32_t i = 0; i < 3; ++i) {
    if ((i == 2 || i < operands) && !spread_dots(t, i, i == 2 ? most : counts[i], most))
      return lower_error(n, "has terms of other ranks");
  }
  for (uint32_t i = 0; i < operands; ++i) {
    if ((int32_t)strlen(t->text[i]) != n->in[i]->type->rank) return lower_error(n, "has terms of other ranks");
    for (const char* c = t->text[i]; *c; ++c) {
      if (strchr(c + 1, *c)) return lower_unsupported(n, "a label twice in one term is not");
    }
  }
  return true;
}

// Sums over labels that neither the other operand nor the result has.
static ir_value_t* sum_unused(lower_op_t* n, ir_value_t* x, char* labels, const char* other, const char* result) {
  int64_t dims[GRAPH_MAX_RANK];
  uint32_t count = 0, kept = 0;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    if (!strchr(other, labels[i]) && !strchr(result, labels[i])) {
      dims[count++] = i;
    } else {
      labels[kept++] = labels[i];
    }
  }
  labels[kept] = 0;
  return graph_reduce(n->b, x, dims, count, "add");
}

static ir_value_t* permute_to(lower_op_t* n, ir_value_t* x, const char* labels, const char* result) {
  int64_t perm[GRAPH_MAX_RANK];
  bool fits = strlen(labels) == strlen(result);
  for (int32_t i = 0; fits && i < x->type->rank; ++i) {
    const char* at = strchr(labels, result[i]);
    fits = at != NULL;
    if (fits) perm[i] = at - labels;
  }
  if (fits) return graph_transpose(n->b, x, perm);
  return lower_error(n, "has result labels that no operand has"), NULL;
}

// Of one part of each operand. NULL after a diagnostic.
static ir_value_t* einsum_parts(lower_op_t* n, terms_t t, ir_value_t* x, ir_value_t* y) {
  dims_t d = {0};
  char labels[3 * GRAPH_MAX_RANK] = {0}, first[GRAPH_MAX_RANK + 1];
  uint32_t size = 0, seen[2] = {0};
  memcpy(first, t.text[0], sizeof(first));
  n->in[0] = sum_unused(n, x, t.text[0], t.text[1], t.text[2]);
  n->in[1] = sum_unused(n, y, t.text[1], first, t.text[2]);
  for (const char* c = t.text[0]; *c; ++c) {
    const char* other = strchr(t.text[1], *c);
    if (!other) continue;
    if (strchr(t.text[2], *c)) {
      d.lhs_batch[d.batch_count] = c - t.text[0];
      d.rhs_batch[d.batch_count++] = other - t.text[1];
      labels[size++] = *c;
    } else {
      d.lhs_contract[d.contract_count] = c - t.text[0];
      d.rhs_contract[d.contract_count++] = other - t.text[1];
    }
  }
  if (!check_pairs(n, "batch", d.lhs_batch, d.rhs_batch, d.batch_count, seen) ||
      !check_pairs(n, "contracting", d.lhs_contract, d.rhs_contract, d.contract_count, seen)) {
    return NULL;
  }
  for (int k = 0; k < 2; ++k) {
    for (const char* c = t.text[k]; *c; ++c) {
      if (!strchr(t.text[1 - k], *c)) labels[size++] = *c;
    }
  }
  if (size > GRAPH_MAX_RANK) return lower_unsupported(n, "the result's rank is too high"), NULL;
  const ir_type_t* element = ir_type_scalar(lower_out_type(n, 0));
  element = lower_element(n->ctx, element->kind == IR_TYPE_COMPLEX ? element->element : element);
  return permute_to(n, contract_parts(n, n->in[0], n->in[1], &d, element), labels, t.text[2]);
}

// Without dimension `at`, of size 1, which is broadcast by leaving it out.
static ir_value_t* without_dim(lower_op_t* n, ir_value_t* x, int32_t at) {
  int64_t dims[GRAPH_MAX_RANK];
  ir_value_t* open[GRAPH_MAX_RANK];
  uint32_t count = 0;
  for (int32_t i = 0, to = 0; i < x->type->rank; ++i) {
    if (i == at) continue;
    dims[to++] = x->type->dims[i];
    if (x->type->dims[i] == IR_DYNAMIC) open[count++] = graph_dim(n->b, x, (uint32_t)i);
  }
  return graph_reshape(n->b, x, x->type->rank - 1, dims, open);
}

// Of "..." a size of 1 meets any other.
static void broadcast_dots(lower_op_t* n, terms_t* t, lower_value_t values[2]) {
  for (int k = 0; k < 2; ++k) {
    for (char* c = t->text[k]; *c;) {
      const char* other = strchr(t->text[1 - k], *c);
      int32_t at = (int32_t)(c - t->text[k]);
      bool one = *c < 'A' && other && values[k].v->type->dims[at] == 1;
      if (!one || values[1 - k].v->type->dims[other - t->text[1 - k]] == 1) {
        ++c;
        continue;
      }
      values[k].v = without_dim(n, values[k].v, at);
      if (values[k].im) values[k].im = without_dim(n, values[k].im, at);
      memmove(c, c + 1, strlen(c));
    }
  }
}

bool stablehlo_lower_einsum(lower_op_t* n) {
  terms_t t;
  if (!check_operands(n) || !read_terms(n, 2, &t)) return false;
  lower_value_t values[] = {n->values[0], n->values[1]};
  broadcast_dots(n, &t, values);
  lower_value_t x = values[0], y = values[1];
  if (!x.im && !y.im) return lower_return(n, einsum_parts(n, t, x.v, y.v));
  if (!x.im || !y.im) return lower_unsupported(n, "operands of one type are");
  ir_value_t *re = einsum_parts(n, t, x.v, y.v), *im = re ? einsum_parts(n, t, x.v, y.im) : NULL;
  if (!im) return false;
  n->out[0].v = graph_binary(n->b, SCALAR_sub, re, einsum_parts(n, t, x.im, y.im));
  n->out[0].im = graph_binary(n->b, SCALAR_add, im, einsum_parts(n, t, x.im, y.v));
  return true;
}

bool stablehlo_lower_unary_einsum(lower_op_t* n) {
  terms_t t;
  if (!lower_check_tensors(n) || !read_terms(n, 1, &t)) return false;
  ir_value_t* x = sum_unused(n, n->in[0], t.text[0], "", t.text[2]);
  return lower_return(n, permute_to(n, x, t.text[0], t.text[2]));
}

//===----------------------------------------------------------------------------------------------------------------===
// convolution
//===----------------------------------------------------------------------------------------------------------------===

// One bracketed list of "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]" as a layout of graph.conv, with the letters' own.
static const char* read_layout(const char* at, const char* from, const char* to, char* out) {
  uint32_t count = 0;
  at = strchr(at, '[');
  for (; at && *at && *at != ']'; ++at) {
    if (*at == '[' || *at == ',' || *at == ' ') continue;
    const char* letter = strchr(from, *at);
    bool digit = *at >= '0' && *at < '0' + GRAPH_MAX_SPATIAL;
    if ((!letter && !digit) || count == GRAPH_MAX_SPATIAL + 2) return NULL;
    out[count++] = digit ? *at : to[letter - from];
  }
  out[count] = 0;
  return at;
}

// `key = 3` or `key = [1, 2]` in the text of an attribute.
static uint32_t read_entry(const char* body, const char* key, int64_t* out, uint32_t capacity) {
  const char* at = strstr(body, key);
  uint32_t count = 0;
  while (at && at != body && (at[-1] == '_' || (at[-1] >= 'a' && at[-1] <= 'z'))) at = strstr(at + 1, key);
  if (!at) return 0;
  at += strlen(key);
  while (*at == ' ' || *at == '=') ++at;
  bool list = *at == '[';
  at += list;
  for (char* end; count < capacity; at = end) {
    while (*at == ' ' || *at == ',') ++at;
    long long value = strtoll(at, &end, 10);
    if (end == at) break;
    out[count++] = value;
    if (!list) break;
  }
  return count;
}

// #stablehlo.conv<raw input_batch_dimension = 0, ...> names each dimension.
static bool read_raw_layout(const char* body, const char* tensor, const char* const* names, const char* letters,
                            int32_t rank, char* out) {
  int64_t places[GRAPH_MAX_SPATIAL];
  char key[64];
  if (rank > GRAPH_MAX_SPATIAL + 2) return false;
  memset(out, 0, (size_t)rank + 1);
  for (int k = 0; k < 3; ++k) {
    snprintf(key, sizeof(key), "%s_%s", tensor, names[k]);
    uint32_t count = read_entry(body, key, places, GRAPH_MAX_SPATIAL);
    if (k < 2 && count != 1) return false;
    for (uint32_t i = 0; i < count; ++i) {
      if (places[i] < 0 || places[i] >= rank || out[places[i]]) return false;
      out[places[i]] = k < 2 ? letters[k] : (char)('0' + i);
    }
  }
  return (int32_t)strlen(out) == rank;
}

static bool is_layout(const char* text, int32_t rank, const char* letters) {
  if ((int32_t)strlen(text) != rank || rank < 2) return false;
  for (int32_t i = 0; i < rank; ++i) {
    char name = i < 2 ? letters[i] : (char)('0' + i - 2);
    const char* at = strchr(text, name);
    if (!at || strchr(at + 1, name)) return false;
  }
  return true;
}

typedef struct conv_t {
  graph_conv_t c;
  char x[GRAPH_MAX_SPATIAL + 3], w[GRAPH_MAX_SPATIAL + 3], y[GRAPH_MAX_SPATIAL + 3];
  bool reversed[GRAPH_MAX_SPATIAL], pads_at_run_time;
  uint32_t spatial;
} conv_t;

static bool read_layouts(lower_op_t* n, conv_t* v) {
  const ir_attr_t* attr = ir_op_attr(n->op, "dimension_numbers");
  const char* at = attr && attr->kind == IR_ATTR_OPAQUE && attr->body ? attr->body : NULL;
  int32_t rank = n->in[0]->type->rank;
  static const char* const data[] = {"batch_dimension", "feature_dimension", "spatial_dimensions"};
  static const char* const filter[] = {"input_feature_dimension", "output_feature_dimension", "spatial_dimensions"};
  bool known;
  if (at && strncmp(at, "raw", 3) == 0) {
    known = read_raw_layout(at, "input", data, "nc", rank, v->x) &&
            read_raw_layout(at, "kernel", filter, "io", rank, v->w) &&
            read_raw_layout(at, "output", data, "nc", rank, v->y);
  } else {
    if (at) at = read_layout(at, "bf", "nc", v->x);
    if (at) at = read_layout(at, "io", "io", v->w);
    known = at && read_layout(at, "bf", "nc", v->y);
  }
  if (!known) return lower_unsupported(n, "dimension_numbers like [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] are");
  if (n->in[1]->type->rank != rank || !is_layout(v->x, rank, "nc") || !is_layout(v->w, rank, "oi") ||
      !is_layout(v->y, rank, "nc")) {
    return lower_error(n, "has dimension_numbers that do not fit its operands");
  }
  v->spatial = (uint32_t)rank - 2;
  return true;
}

// A list that is empty is as good as none.
static bool is_given(const ir_attr_t* list) {
  int64_t number;
  return list && ir_attr_ints(list, &number, 1) != 0;
}

static bool read_spatial(lower_op_t* n, const char* name, uint32_t count, int64_t absent, int64_t* out) {
  for (uint32_t i = 0; i < count; ++i) out[i] = absent;
  if (!is_given(ir_op_attr(n->op, name)) || !count) return true;
  if (!lower_ints(n, name, out, count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (out[i] < 1) return lower_error(n, "needs positive numbers in '%s'", name);
  }
  return true;
}

static bool read_window(lower_op_t* n, conv_t* v, const ir_attr_t* padding) {
  if (!read_spatial(n, "window_strides", v->spatial, 1, v->c.strides) ||
      !read_spatial(n, "lhs_dilation", v->spatial, 1, v->c.x_dilation) ||
      !read_spatial(n, "rhs_dilation", v->spatial, 1, v->c.w_dilation)) {
    return false;
  }
  int64_t values[2 * GRAPH_MAX_SPATIAL] = {0};
  if (is_given(padding) && v->spatial && ir_attr_ints(padding, values, 2 * GRAPH_MAX_SPATIAL) != 2 * v->spatial) {
    return lower_error(n, "needs two numbers for each spatial dimension in 'padding'");
  }
  const ir_attr_t* reversal = ir_op_attr(n->op, "window_reversal");
  int64_t flags[GRAPH_MAX_SPATIAL] = {0};
  if (is_given(reversal) && v->spatial && ir_attr_ints(reversal, flags, GRAPH_MAX_SPATIAL) != v->spatial) {
    return lower_error(n, "needs one flag for each spatial dimension in 'window_reversal'");
  }
  for (uint32_t i = 0; i < v->spatial; ++i) {
    v->c.pad_low[i] = values[2 * i];
    v->c.pad_high[i] = values[2 * i + 1];
    v->reversed[i] = flags[i] != 0;
    if (llabs(values[2 * i]) > INT32_MAX || llabs(values[2 * i + 1]) > INT32_MAX) return lower_error(n, "pads too far");
  }
  v->c.groups = ir_op_int(n->op, "feature_group_count", 1);
  v->c.batch_groups = ir_op_int(n->op, "batch_group_count", 1);
  return true;
}

static int32_t place_of(const char* layout, char name) { return (int32_t)(strchr(layout, name) - layout); }

static int64_t size_of(const ir_type_t* type, const char* layout, char name) {
  return type->dims[place_of(layout, name)];
}

// Where only a run of the program can tell.
static void require_divided(lower_op_t* n, ir_value_t* x, const char* layout, char name, int64_t by, const char* what) {
  if (by == 1 || size_of(x->type, layout, name) != IR_DYNAMIC) return;
  ir_value_t* size = graph_dim(n->b, x, (uint32_t)place_of(layout, name));
  ir_value_t* rest = lower_index_binary(n->b, SCALAR_rem, size, graph_index_constant(n->b, by));
  graph_assert(n->b, lower_as_tensor(n->b, graph_binary(n->b, SCALAR_eq, rest, graph_index_constant(n->b, 0))), what);
}

static bool check_channels(lower_op_t* n, const conv_t* v) {
  int64_t groups = v->c.groups, batch_groups = v->c.batch_groups;
  int64_t in = size_of(n->in[0]->type, v->x, 'c'), per_group = size_of(n->in[1]->type, v->w, 'i');
  int64_t out = size_of(n->in[1]->type, v->w, 'o'), batch = size_of(n->in[0]->type, v->x, 'n');
  bool counted = groups >= 1 && groups <= INT32_MAX && batch_groups >= 1 && (groups == 1 || batch_groups == 1);
  bool told = per_group != IR_DYNAMIC && in != IR_DYNAMIC;
  if (!counted || (told && (per_group > INT32_MAX || per_group * groups != in)) ||
      (out != IR_DYNAMIC && (out % groups || out % batch_groups)) || (batch != IR_DYNAMIC && batch % batch_groups)) {
    return lower_error(n,
                       "has %lld input and %lld output channels, %lld per filter, in %lld groups and %lld of the batch",
                       (long long)in, (long long)out, (long long)per_group, (long long)groups, (long long)batch_groups);
  }
  require_divided(n, n->in[1], v->w, 'o', groups * batch_groups, "the output channels are no multiple of the groups");
  require_divided(n, n->in[0], v->x, 'n', batch_groups, "the batch is no multiple of batch_group_count");
  return true;
}

// Groups of the batch as groups of channels: x of [groups * batch, channels] as [batch, groups * channels].
static ir_value_t* batch_into_channels(lower_op_t* n, conv_t* v, ir_value_t* x) {
  ir_value_t *sizes[GRAPH_MAX_RANK], *apart[GRAPH_MAX_RANK], *by = graph_index_constant(n->b, v->c.batch_groups);
  int64_t perm[GRAPH_MAX_RANK];
  int32_t rank = x->type->rank, batch = place_of(v->x, 'n'), channels = place_of(v->x, 'c');
  for (int32_t d = 0; d < rank; ++d) sizes[d] = graph_dim(n->b, x, (uint32_t)d);
  sizes[batch] = lower_index_binary(n->b, SCALAR_div, sizes[batch], by);
  uint32_t count = 0, next = 0;
  for (int32_t d = 0; d < rank; ++d) {
    if (d == batch) apart[count++] = by;
    if (d == channels) perm[next++] = batch;
    perm[next++] = count;
    apart[count++] = sizes[d];
  }
  sizes[channels] = lower_index_binary(n->b, SCALAR_mul, sizes[channels], by);
  v->c.groups = v->c.batch_groups;
  v->c.batch_groups = 1;
  x = graph_transpose(n->b, lower_reshape(n->b, x, apart, count), perm);
  return lower_reshape(n->b, x, sizes, (uint32_t)rank);
}

// Negative padding crops: done before, together with the dilation of the operand.
static ir_value_t* crop(lower_op_t* n, conv_t* v, ir_value_t* x) {
  bool negative = false;
  int64_t low[GRAPH_MAX_RANK] = {0}, high[GRAPH_MAX_RANK] = {0}, interior[GRAPH_MAX_RANK] = {0};
  for (uint32_t i = 0; i < v->spatial; ++i) {
    int64_t d = place_of(v->x, (char)('0' + i));
    negative |= v->c.pad_low[i] < 0 || v->c.pad_high[i] < 0;
    low[d] = v->c.pad_low[i];
    high[d] = v->c.pad_high[i];
    interior[d] = v->c.x_dilation[i] - 1;
  }
  if (!negative) return x;
  for (uint32_t i = 0; i < v->spatial; ++i) {
    v->c.pad_low[i] = v->c.pad_high[i] = 0;
    v->c.x_dilation[i] = 1;
  }
  for (int32_t d = 0; d < x->type->rank; ++d) {
    int64_t dim = x->type->dims[d];
    bool empty = dim != IR_DYNAMIC && dim + (dim > 1 ? (dim - 1) * interior[d] : 0) + low[d] + high[d] < 0;
    if (empty) return lower_error(n, "crops more than there is"), NULL;
  }
  return graph_pad(n->b, x, NULL, low, high, interior, "constant");
}

// dynamic_conv's paddings that are computed, after the dilation of the operand. NULL after a diagnostic.
static ir_value_t* pad_at_run_time(lower_op_t* n, conv_t* v, ir_value_t* x) {
  int64_t none[GRAPH_MAX_RANK] = {0}, interior[GRAPH_MAX_RANK] = {0};
  ir_value_t* list = n->in[2];
  const int64_t count = 2 * (int64_t)v->spatial;
  if (list->type->rank != 2 || ir_type_count(list->type) != count)
    return lower_error(n, "needs two numbers for each spatial dimension as padding"), NULL;
  list = graph_reshape(n->b, list, 1, &count, NULL);
  for (uint32_t i = 0; i < v->spatial; ++i) {
    interior[place_of(v->x, (char)('0' + i))] = v->c.x_dilation[i] - 1;
    v->c.x_dilation[i] = 1;
  }
  ir_value_t* zero = graph_scalar_constant(n->b, x->type->element, 0);
  x = graph_pad(n->b, x, zero, none, none, interior, "constant");
  for (uint32_t i = 0; i < v->spatial; ++i) {
    stablehlo_amounts_t by = {.dim = (uint32_t)place_of(v->x, (char)('0' + i)),
                              .low = lower_index_element(n->b, list, 2 * i),
                              .high = lower_index_element(n->b, list, 2 * i + 1)};
    x = stablehlo_pad_dim(n, x, zero, by);
  }
  return x;
}

// The first two dimensions, and a third of size 1 or not.
static ir_value_t* with_point(lower_op_t* n, ir_value_t* x, bool has_point) {
  int64_t dims[3] = {x->type->dims[0], x->type->dims[1], 1};
  ir_value_t* sizes[2];
  uint32_t count = 0;
  for (uint32_t i = 0; i < 2; ++i) {
    if (dims[i] == IR_DYNAMIC) sizes[count++] = graph_dim(n->b, x, i);
  }
  return graph_reshape(n->b, x, has_point ? 3 : 2, dims, sizes);
}

// graph.conv has a spatial dimension: a point, where the program has none.
static ir_value_t* convolve(lower_op_t* n, conv_t* v, ir_value_t* x, ir_value_t* w, const ir_type_t* accumulator) {
  if (v->spatial) return graph_conv(n->b, x, w, &v->c, accumulator);
  v->x[2] = v->w[2] = v->y[2] = '0';
  v->c.strides[0] = v->c.x_dilation[0] = v->c.w_dilation[0] = 1;
  x = with_point(n, x, true), w = with_point(n, w, true);
  return with_point(n, graph_conv(n->b, x, w, &v->c, accumulator), false);
}

// Of one part of each operand. NULL after a diagnostic.
static ir_value_t* conv_parts(lower_op_t* n, conv_t v, ir_value_t* x, ir_value_t* w) {
  int64_t dims[GRAPH_MAX_SPATIAL];
  uint32_t count = 0;
  v.c.x_layout = v.x, v.c.w_layout = v.w, v.c.y_layout = v.y;
  for (uint32_t i = 0; i < v.spatial; ++i) {
    if (v.reversed[i]) dims[count++] = place_of(v.w, (char)('0' + i));
  }
  const ir_type_t* element = ir_type_scalar(lower_out_type(n, 0));
  element = lower_element(n->ctx, element->kind == IR_TYPE_COMPLEX ? element->element : element);
  const ir_type_t* accumulator = accumulator_of(n, element);
  x = crop(n, &v, x), w = graph_reverse(n->b, w, dims, count);
  if (x && v.pads_at_run_time) x = pad_at_run_time(n, &v, x);
  if (!x) return NULL;
  if (v.c.batch_groups > 1) x = batch_into_channels(n, &v, x);
  for (uint32_t i = 0; i < 2; ++i) {  // graph.conv reads integers as signed
    ir_value_t** side = i ? &w : &x;
    if (lower_is_unsigned(lower_in_type(n, i))) *side = graph_cast(n->b, *side, accumulator, true);
  }
  return graph_cast(n->b, convolve(n, &v, x, w, accumulator), element, false);
}

static bool conv_complex(lower_op_t* n, const conv_t* v) {
  lower_value_t x = n->values[0], w = n->values[1];
  if (!x.im || !w.im) return lower_unsupported(n, "operands of one type are");
  ir_value_t *re = conv_parts(n, *v, x.v, w.v), *im = re ? conv_parts(n, *v, x.v, w.im) : NULL;
  if (!im) return false;
  n->out[0].v = graph_binary(n->b, SCALAR_sub, re, conv_parts(n, *v, x.im, w.im));
  n->out[0].im = graph_binary(n->b, SCALAR_add, im, conv_parts(n, *v, x.im, w.v));
  return true;
}

static bool build_conv(lower_op_t* n, const ir_attr_t* padding) {
  conv_t v = {.pads_at_run_time = !padding && n->op->operand_count == 3};
  if (!check_operands(n) || !stablehlo_check_precision(n)) return false;
  if (n->in[0]->type->rank < 2 || n->in[0]->type->rank > GRAPH_MAX_SPATIAL + 2) {
    return lower_unsupported(n, "up to %d spatial dimensions are", GRAPH_MAX_SPATIAL);
  }
  if (!read_layouts(n, &v) || !read_window(n, &v, padding) || !check_channels(n, &v)) return false;
  if (n->values[0].im || n->values[1].im) return conv_complex(n, &v);
  ir_value_t* result = conv_parts(n, v, n->in[0], n->in[1]);
  return result && lower_return(n, result);
}

bool stablehlo_lower_convolution(lower_op_t* n) { return build_conv(n, ir_op_attr(n->op, "padding")); }

bool stablehlo_lower_dynamic_conv(lower_op_t* n) {
  ir_value_t* padding = n->op->operand_count == 3 ? n->in[2] : NULL;
  if (!padding || !ir_type_is_tensor(padding->type)) return lower_unsupported(n, "a tensor of padding is");
  const ir_attr_t* value = ir_is(padding->def, GRAPH_CONSTANT) ? ir_op_attr(padding->def, "value") : NULL;
  return build_conv(n, value);
}
