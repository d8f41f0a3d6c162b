// Vectors in functions that become kernels. See workgroup.h. A vector is its elements, in row-major order: what moves
// them is settled here, what computes with them is as many scalar ops.
#include <string.h>

#include "dialects/vector.h"
#include "import/linalg/workgroup.h"

//===----------------------------------------------------------------------------------------------------------------===
// Elements
//===----------------------------------------------------------------------------------------------------------------===

uint32_t workgroup_lanes(lower_op_t* n, const ir_type_t* type) {
  if (type->kind != IR_TYPE_VECTOR) return 1;
  int64_t count = ir_type_count(type);
  if (type->rank <= GRAPH_MAX_RANK && count >= 1 && count <= WORKGROUP_MAX_LANES) return (uint32_t)count;
  lower_unsupported(n, "vectors of up to %d elements are", WORKGROUP_MAX_LANES);
  return 0;
}

lower_value_t workgroup_vector(lower_value_t* lanes, uint32_t count) {
  return (lower_value_t){.v = lanes[0].v, .items = lanes, .count = count};
}

static lower_value_t* new_lanes(lower_op_t* n, uint32_t count) {
  return ARENA_ARRAY(ir_context_arena(n->ctx), lower_value_t, count + 1);
}

// Element i of an operand; numbers are the same everywhere.
static lower_value_t lane(lower_value_t value, uint32_t i) {
  return value.items ? value.items[i] : (lower_value_t){.v = value.v};
}

// Of a vector, whether it has as many elements as its type says.
static bool is_vector(lower_op_t* n, uint32_t operand) {
  const ir_type_t* type = lower_in_type(n, operand);
  uint32_t lanes = type->kind == IR_TYPE_VECTOR ? workgroup_lanes(n, type) : 0;
  return (lanes && n->values[operand].count == lanes) || lower_error(n, "needs a vector as operand %u", operand);
}

bool workgroup_flatten(lower_op_t* n, const ir_type_t* type, lower_value_t value, lower_list_t* out) {
  uint32_t lanes = workgroup_lanes(n, type);
  const ir_type_t* scalar = lower_type(n->ctx, ir_type_scalar(type));
  if (!lanes) return false;
  if (!value.v || !scalar || (type->kind == IR_TYPE_VECTOR && value.count != lanes)) {
    return lower_unsupported(n, "tensors, vectors and numbers can be carried");
  }
  for (uint32_t i = 0; i < lanes; ++i) {
    ir_value_t* v = lane(value, i).v;
    if (v->type != scalar) return lower_error(n, "has a value of another type than its result's");
    lower_list_add(out, v);
  }
  return true;
}

lower_value_t workgroup_unflatten(lower_op_t* n, const ir_type_t* type, ir_value_t* const** next) {
  if (type->kind != IR_TYPE_VECTOR) return (lower_value_t){.v = *(*next)++};
  uint32_t count = (uint32_t)ir_type_count(type);
  lower_value_t* lanes = new_lanes(n, count);
  for (uint32_t i = 0; i < count; ++i) lanes[i] = (lower_value_t){.v = *(*next)++};
  return workgroup_vector(lanes, count);
}

bool workgroup_lower_lanes(lower_op_t* n) {
  enum { MAX_OPERANDS = 4 };
  ir_value_t* in[MAX_OPERANDS];
  lower_value_t* lanes[2];
  uint32_t operands = n->op->operand_count, results = n->op->result_count;
  uint32_t count = results ? workgroup_lanes(n, lower_out_type(n, 0)) : 0;
  if (!count) return false;
  if (operands > MAX_OPERANDS || results > 2) return lower_unsupported(n, "on vectors it is not");
  for (uint32_t i = 0; i < operands; ++i) {
    in[i] = n->in[i];
    bool fits = lower_in_type(n, i)->kind != IR_TYPE_VECTOR || n->values[i].count == count;
    if (!fits) return lower_error(n, "needs vectors of one shape");
  }
  for (uint32_t k = 0; k < results; ++k) lanes[k] = new_lanes(n, count);
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t k = 0; k < operands; ++k) n->in[k] = lane(n->values[k], i).v;
    if (!n->row->fn(n)) return false;
    for (uint32_t k = 0; k < results; ++k) lanes[k][i] = n->out[k];
  }
  for (uint32_t k = 0; k < results; ++k) n->out[k] = workgroup_vector(lanes[k], count);
  memcpy(n->in, in, sizeof(*in) * operands);
  return true;
}

static ir_value_t* number_of(lower_op_t* n, const ir_type_t* type, const ir_attr_t* elements, uint32_t i) {
  const ir_attr_t* value = ir_type_is_float(type) ? ir_attr_float(n->ctx, type, ir_attr_element_number(elements, i))
                                                  : ir_attr_integer(n->ctx, type, ir_attr_element_integer(elements, i));
  ir_named_attr_t attr = {"value", value};
  return graph_build(n->b, GRAPH_CONSTANT, NULL, 0, type, &attr, 1);
}

bool workgroup_lower_constant(lower_op_t* n) {
  const ir_attr_t* value = ir_op_attr(n->op, "value");
  const ir_type_t* type = lower_out_type(n, 0);
  if (!ir_type_is_shaped(type)) return n->row->fn(n);
  const ir_type_t* scalar = lower_type(n->ctx, ir_type_scalar(type));
  bool has = value && value->kind == IR_ATTR_ELEMENTS && value->size && scalar && ir_type_count(value->type) > 0;
  if (!has) return lower_error(n, "has no value of numbers");
  int64_t count = ir_type_count(type);
  if (count > WORKGROUP_MAX_LANES) return lower_unsupported(n, "up to %d numbers are", WORKGROUP_MAX_LANES);
  if (type->kind == IR_TYPE_VECTOR) {
    lower_value_t* lanes = new_lanes(n, (uint32_t)count);
    for (uint32_t i = 0; i < count; ++i) {
      lanes[i] = i && value->splat ? lanes[0] : (lower_value_t){.v = number_of(n, scalar, value, i)};
    }
    n->out[0] = workgroup_vector(lanes, (uint32_t)count);
    return true;
  }
  buffer_t x;
  nest_t nest;
  if (!buffer_alloc_type(n, type, 0, &x)) return false;
  if (value->splat) {
    ir_value_t* number = number_of(n, scalar, value, 0);
    nest_begin(n->l, x.sizes, x.rank, &nest);
    buffer_store(n->b, &x, nest.at, number);
    nest_end(n->l, &nest);
  }
  once_t once = value->splat ? (once_t){false} : once_begin(n->l);
  for (uint32_t i = 0; i < count && !value->splat; ++i) {
    kernel_store(n->b, number_of(n, scalar, value, i), x.memory, graph_index_constant(n->b, i));
  }
  once_end(n->l, &once);
  return buffer_give(n, &x);
}

//===----------------------------------------------------------------------------------------------------------------===
// Places in shapes
//===----------------------------------------------------------------------------------------------------------------===

static void split(const ir_type_t* type, uint32_t position, int64_t* at) {
  for (int32_t i = type->rank; i-- > 0;) {
    at[i] = position % type->dims[i];
    position /= (uint32_t)type->dims[i];
  }
}

static uint32_t join(const ir_type_t* type, const int64_t* at) {
  int64_t position = 0;
  for (int32_t i = 0; i < type->rank; ++i) position = position * type->dims[i] + at[i];
  return (uint32_t)position;
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory
//===----------------------------------------------------------------------------------------------------------------===

typedef struct transfer_t {
  buffer_t memory;
  const ir_type_t* vector;
  ir_value_t* at[GRAPH_MAX_RANK];  // where it begins
  int64_t dims[GRAPH_MAX_RANK];    // along which dimension of memory the vector's goes; -1: the same everywhere
  bool in_bounds[GRAPH_MAX_RANK];  // by the vector's dimensions
  lower_value_t mask;              // or nothing
} transfer_t;

// Which dimensions of memory the vector's are: as the map says, or the last ones.
static bool read_map(lower_op_t* n, transfer_t* t) {
  const ir_attr_t* attr = ir_op_attr(n->op, "permutation_map");
  const ir_affine_map_t* map = attr && attr->kind == IR_ATTR_AFFINE_MAP ? attr->map : NULL;
  uint32_t rank = (uint32_t)t->vector->rank;
  if (attr && (!map || map->dim_count != t->memory.rank || map->result_count != rank)) {
    return lower_error(n, "needs a permutation_map from its memory's dimensions to its vector's");
  }
  if (!map && rank > t->memory.rank) return lower_error(n, "has a vector of more dimensions than its memory");
  for (uint32_t i = 0; i < rank; ++i) {
    const ir_affine_t* e = map ? map->results[i] : NULL;
    bool constant = e && e->kind == IR_AFFINE_CONST && e->value == 0;
    if (e && !constant && e->kind != IR_AFFINE_DIM) return lower_unsupported(n, "maps to dimensions and 0 are");
    t->dims[i] = constant ? -1 : e ? e->value : (int64_t)(t->memory.rank - rank + i);
  }
  return true;
}

// Memory is operand `memory`, with its indices behind it.
static bool read_transfer(lower_op_t* n, uint32_t memory, const ir_type_t* vector, bool checks, transfer_t* t) {
  const ir_attr_t* bounds = checks ? ir_op_attr(n->op, "in_bounds") : NULL;
  *t = (transfer_t){.vector = vector};
  if (vector->kind != IR_TYPE_VECTOR || !workgroup_lanes(n, vector)) return lower_error(n, "needs a vector");
  if (!buffer_read(n, memory, &t->memory) || !read_map(n, t)) return false;
  if (n->op->operand_count < memory + 1 + t->memory.rank) return lower_error(n, "needs an index for each dimension");
  for (uint32_t i = 0; i < t->memory.rank; ++i) t->at[i] = lower_index(n->b, n->in[memory + 1 + i]);
  for (int32_t i = 0; i < vector->rank; ++i) {
    bool told = bounds && i < (int32_t)bounds->count;
    const ir_attr_t* item = told && bounds->kind == IR_ATTR_ARRAY ? bounds->items[i] : NULL;
    if (item) t->in_bounds[i] = item->kind == IR_ATTR_INTEGER && item->integer;
    if (told && bounds->kind == IR_ATTR_DENSE_ARRAY) t->in_bounds[i] = ir_attr_element_integer(bounds, i) != 0;
    if (!checks || t->dims[i] < 0) t->in_bounds[i] = true;
  }
  return true;
}

// Indices of element i, and whether it is there; NULL: surely.
static ir_value_t* find_place(lower_op_t* n, const transfer_t* t, uint32_t i, ir_value_t** at) {
  int64_t step[GRAPH_MAX_RANK], begin, size;
  ir_value_t* exists = t->mask.v ? lane(t->mask, i).v : NULL;
  split(t->vector, i, step);
  memcpy(at, t->at, sizeof(*at) * t->memory.rank);
  for (int32_t k = 0; k < t->vector->rank; ++k) {
    if (t->dims[k] < 0) continue;
    ir_value_t** x = &at[t->dims[k]];
    if (step[k]) *x = lower_index_binary(n->b, SCALAR_add, *x, graph_index_constant(n->b, step[k]));
    ir_value_t* end = t->memory.sizes[t->dims[k]];
    bool known = lower_constant_index(*x, &begin) && lower_constant_index(end, &size);
    if (t->in_bounds[k] || (known && begin < size)) continue;
    ir_value_t* inside = graph_binary(n->b, SCALAR_lt, *x, end);
    exists = exists ? graph_binary(n->b, SCALAR_and, exists, inside) : inside;
  }
  return exists;
}

static bool read_elements(lower_op_t* n, const transfer_t* t, ir_value_t* outside) {
  uint32_t count = workgroup_lanes(n, t->vector);
  lower_value_t* lanes = new_lanes(n, count);
  const ir_type_t* element = t->memory.memory->type->element;
  if (outside && outside->type != element) return lower_error(n, "reads another type than the memory's");
  for (uint32_t i = 0; i < count; ++i) {
    ir_value_t *at[GRAPH_MAX_RANK], *exists = find_place(n, t, i, at);
    if (!exists) {
      lanes[i] = (lower_value_t){.v = buffer_load(n->b, &t->memory, at)};
      continue;
    }
    kernel_branch_t branch = kernel_if_begin(n->b, exists, &element, 1);
    ir_value_t* value = buffer_load(n->b, &t->memory, at);
    kernel_if_else(n->b, &branch, &value, 1);
    kernel_if_end(n->b, &branch, &outside, 1);
    lanes[i] = (lower_value_t){.v = ir_result(branch.op, 0)};
  }
  n->out[0] = workgroup_vector(lanes, count);
  return true;
}

static bool write_elements(lower_op_t* n, const transfer_t* t, lower_value_t value) {
  uint32_t count = workgroup_lanes(n, t->vector);
  if (value.count != count || value.v->type != t->memory.memory->type->element) {
    return lower_error(n, "writes another type than the memory's");
  }
  once_t once = once_begin(n->l);
  for (uint32_t i = 0; i < count; ++i) {
    ir_value_t *at[GRAPH_MAX_RANK], *exists = find_place(n, t, i, at);
    kernel_branch_t branch = {0};
    if (exists) branch = kernel_if_begin(n->b, exists, NULL, 0);
    buffer_store(n->b, &t->memory, at, lane(value, i).v);
    if (exists) kernel_if_else(n->b, &branch, NULL, 0);
    if (exists) kernel_if_end(n->b, &branch, NULL, 0);
  }
  once_end(n->l, &once);
  return true;
}

static bool lower_read(lower_op_t* n) {
  transfer_t t;
  if (!read_transfer(n, 0, lower_out_type(n, 0), true, &t)) return false;
  uint32_t others = n->op->operand_count - 1 - t.memory.rank;
  if (others < 1 || others > 2) return lower_error(n, "needs a value for what is outside, and a mask at most");
  if (others == 2) t.mask = n->values[n->op->operand_count - 1];
  if (others == 2 && t.mask.count != workgroup_lanes(n, t.vector)) return lower_error(n, "needs a mask of its shape");
  return read_elements(n, &t, n->in[1 + t.memory.rank]);
}

// A tensor is written as a new one.
static bool lower_write(lower_op_t* n) {
  transfer_t t;
  if (!is_vector(n, 0) || !read_transfer(n, 1, lower_in_type(n, 0), true, &t)) return false;
  uint32_t others = n->op->operand_count - 2 - t.memory.rank;
  if (others > 1) return lower_error(n, "has more than a mask behind its indices");
  if (others) t.mask = n->values[n->op->operand_count - 1];
  if (others && t.mask.count != workgroup_lanes(n, t.vector)) return lower_error(n, "needs a mask of its shape");
  if (n->op->result_count) {
    buffer_t own;
    if (!buffer_clone(n, &t.memory, &own)) return false;
    t.memory = own;
    n->out[0] = buffer_value(n->l, &own);
  }
  return write_elements(n, &t, n->values[0]);
}

static bool lower_load(lower_op_t* n) {
  transfer_t t;
  return read_transfer(n, 0, lower_out_type(n, 0), false, &t) && read_elements(n, &t, NULL);
}

static bool lower_store(lower_op_t* n) {
  transfer_t t;
  if (!is_vector(n, 0) || !read_transfer(n, 1, lower_in_type(n, 0), false, &t)) return false;
  return write_elements(n, &t, n->values[0]);
}

//===----------------------------------------------------------------------------------------------------------------===
// Moving elements
//===----------------------------------------------------------------------------------------------------------------===

// Operand 0 in the result's shape: dimensions behind are the same, or repeated where they are 1.
static bool lower_broadcast(lower_op_t* n) {
  const ir_type_t *from = lower_in_type(n, 0), *to = lower_out_type(n, 0);
  uint32_t count = workgroup_lanes(n, to);
  int64_t at[GRAPH_MAX_RANK], source[GRAPH_MAX_RANK];
  if (!count) return false;
  int32_t extra = to->rank - (from->kind == IR_TYPE_VECTOR ? from->rank : 0);
  if (to->kind != IR_TYPE_VECTOR || extra < 0) return lower_error(n, "needs a vector of at least as many dimensions");
  if (from->kind == IR_TYPE_VECTOR && !is_vector(n, 0)) return false;
  for (int32_t i = 0; from->kind == IR_TYPE_VECTOR && i < from->rank; ++i) {
    bool fits = from->dims[i] == 1 || from->dims[i] == to->dims[extra + i];
    if (!fits) return lower_error(n, "has shapes that do not fit");
  }
  lower_value_t* lanes = new_lanes(n, count);
  for (uint32_t i = 0; i < count; ++i) {
    split(to, i, at);
    for (int32_t k = 0; k < to->rank - extra; ++k) source[k] = from->dims[k] == 1 ? 0 : at[extra + k];
    lanes[i] = from->kind == IR_TYPE_VECTOR ? lane(n->values[0], join(from, source)) : (lower_value_t){.v = n->in[0]};
  }
  n->out[0] = workgroup_vector(lanes, count);
  return true;
}

static bool lower_shape_cast(lower_op_t* n) {
  uint32_t count = workgroup_lanes(n, lower_out_type(n, 0));
  if (!count || !is_vector(n, 0)) return false;
  if (n->values[0].count != count) return lower_error(n, "needs as many elements as there are");
  n->out[0] = n->values[0];
  return true;
}

static bool lower_transpose(lower_op_t* n) {
  const ir_type_t *from = lower_in_type(n, 0), *to = lower_out_type(n, 0);
  int64_t perm[GRAPH_MAX_RANK], at[GRAPH_MAX_RANK], source[GRAPH_MAX_RANK];
  uint32_t count = workgroup_lanes(n, to), rank;
  if (!count || !is_vector(n, 0) || !lower_dims(n, "permutation", from->rank, perm, &rank)) return false;
  bool fits = (int32_t)rank == from->rank && to->rank == from->rank;
  for (uint32_t i = 0; fits && i < rank; ++i) fits = to->dims[i] == from->dims[perm[i]];
  if (!fits) return lower_error(n, "needs a permutation of all dimensions");
  lower_value_t* lanes = new_lanes(n, count);
  for (uint32_t i = 0; i < count; ++i) {
    split(to, i, at);
    for (uint32_t k = 0; k < rank; ++k) source[perm[k]] = at[k];
    lanes[i] = lane(n->values[0], join(from, source));
  }
  n->out[0] = workgroup_vector(lanes, count);
  return true;
}

// Where in the vector of `type` a position of fewer dimensions begins, which must be constants.
static bool read_position(lower_op_t* n, const ir_type_t* type, uint32_t operand, uint32_t inner, uint32_t* begin) {
  mixed_t list;
  int64_t at[GRAPH_MAX_RANK] = {0};
  if (!mixed_read(n, "static_position", &operand, &list)) return false;
  if (list.count + inner != (uint32_t)type->rank)
    return lower_error(n, "needs a place for each dimension it leaves out");
  for (uint32_t i = 0; i < list.count; ++i) {
    if (list.values[i] == IR_DYNAMIC) return lower_unsupported(n, "places that are constants are");
    if (list.values[i] < 0 || list.values[i] >= type->dims[i])
      return lower_error(n, "has a place outside of its vector");
    at[i] = list.values[i];
  }
  *begin = join(type, at);
  return true;
}

static bool lower_extract(lower_op_t* n) {
  const ir_type_t* to = lower_out_type(n, 0);
  uint32_t begin, count = workgroup_lanes(n, to);
  bool vector = to->kind == IR_TYPE_VECTOR;
  if (!count || !is_vector(n, 0)) return false;
  if (!read_position(n, lower_in_type(n, 0), 1, vector ? (uint32_t)to->rank : 0, &begin)) return false;
  if (begin + count > n->values[0].count) return lower_error(n, "has a result of another shape");
  lower_value_t* lanes = n->values[0].items + begin;
  n->out[0] = vector ? workgroup_vector(lanes, count) : (lower_value_t){.v = lanes[0].v};
  return true;
}

static bool lower_insert(lower_op_t* n) {
  const ir_type_t* part = lower_in_type(n, 0);
  uint32_t begin, count = workgroup_lanes(n, part);
  bool vector = part->kind == IR_TYPE_VECTOR;
  if (!count || !is_vector(n, 1) || (vector && !is_vector(n, 0))) return false;
  if (!read_position(n, lower_in_type(n, 1), 2, vector ? (uint32_t)part->rank : 0, &begin)) return false;
  if (begin + count > n->values[1].count) return lower_error(n, "brings another shape");
  lower_value_t* lanes = new_lanes(n, n->values[1].count);
  memcpy(lanes, n->values[1].items, sizeof(*lanes) * n->values[1].count);
  for (uint32_t i = 0; i < count; ++i) lanes[begin + i] = lane(n->values[0], i);
  n->out[0] = workgroup_vector(lanes, n->values[1].count);
  return true;
}

// Places of the smaller vector's elements in the larger one, for the leading dimensions of the larger as attributes
// say, else all.
static bool lower_strided(lower_op_t* n, bool inserts) {
  const ir_type_t *small = inserts ? lower_in_type(n, 0) : lower_out_type(n, 0), *large = lower_in_type(n, inserts);
  int64_t offsets[GRAPH_MAX_RANK], steps[GRAPH_MAX_RANK], at[GRAPH_MAX_RANK], to[GRAPH_MAX_RANK] = {0};
  uint32_t count = workgroup_lanes(n, small), given, stepped;
  if (!count || !is_vector(n, inserts) || (inserts && !is_vector(n, 0))) return false;
  if (!lower_list(n, "offsets", offsets, &given) || !lower_list(n, "strides", steps, &stepped)) return false;
  bool fits = small->kind == IR_TYPE_VECTOR && small->rank <= large->rank && (int32_t)given <= large->rank &&
              (int32_t)stepped <= small->rank;
  int32_t extra = fits ? large->rank - small->rank : 0;
  for (int32_t i = 0; fits && i < large->rank; ++i) {
    int64_t offset = i < (int32_t)given ? offsets[i] : 0,
            step = i >= extra && i - extra < (int32_t)stepped ? steps[i - extra] : 1;
    int64_t size = i < extra ? 1 : small->dims[i - extra];
    fits = offset >= 0 && step == 1 && offset <= large->dims[i] && size <= large->dims[i] - offset;
  }
  if (!fits) return lower_unsupported(n, "a part that lies in its vector, with strides of 1, is");
  lower_value_t* lanes = new_lanes(n, inserts ? n->values[1].count : count);
  if (inserts) memcpy(lanes, n->values[1].items, sizeof(*lanes) * n->values[1].count);
  for (uint32_t i = 0; i < count; ++i) {
    split(small, i, at);
    for (int32_t k = 0; k < large->rank; ++k) {
      to[k] = (k < (int32_t)given ? offsets[k] : 0) + (k < extra ? 0 : at[k - extra]);
    }
    if (inserts) lanes[join(large, to)] = lane(n->values[0], i);
    if (!inserts) lanes[i] = lane(n->values[0], join(large, to));
  }
  n->out[0] = workgroup_vector(lanes, inserts ? n->values[1].count : count);
  return true;
}

static bool lower_from_elements(lower_op_t* n) {
  uint32_t count = workgroup_lanes(n, lower_out_type(n, 0));
  if (!count || count != n->op->operand_count) return lower_error(n, "needs a number for each element");
  n->out[0] = workgroup_vector(n->values, count);
  return true;
}

static bool lower_step(lower_op_t* n) {
  uint32_t count = workgroup_lanes(n, lower_out_type(n, 0));
  lower_value_t* lanes = new_lanes(n, count);
  for (uint32_t i = 0; i < count; ++i) lanes[i] = (lower_value_t){.v = graph_index_constant(n->b, i)};
  if (count) n->out[0] = workgroup_vector(lanes, count);
  return count != 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Combining elements
//===----------------------------------------------------------------------------------------------------------------===

bool workgroup_combine(lower_op_t* n, const char* kind, ir_value_t* x, ir_value_t* y, ir_value_t** out) {
  static const struct {
    const char* kind;
    scalar_fn_t fn;
  } known[] = {{"add", SCALAR_add},       {"mul", SCALAR_mul},      {"and", SCALAR_and},
               {"or", SCALAR_or},         {"xor", SCALAR_xor},      {"minsi", SCALAR_min},
               {"maxsi", SCALAR_max},     {"minui", SCALAR_minu},   {"maxui", SCALAR_maxu},
               {"minimumf", SCALAR_min},  {"maximumf", SCALAR_max}, {"minnumf", SCALAR_minnum},
               {"maxnumf", SCALAR_maxnum}};
  if (x->type != y->type) return lower_error(n, "combines numbers of different types");
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i) {
    if (strcmp(known[i].kind, kind) != 0) continue;
    bool takes = scalar_info[known[i].fn].types & (ir_type_is_float(x->type) ? SCALAR_TYPES_F : SCALAR_TYPES_I);
    if (takes) *out = graph_binary(n->b, known[i].fn, x, y);
    return takes || lower_unsupported(n, "kind %s is of other numbers", kind);
  }
  return lower_unsupported(n, "kind %s is not known", kind);
}

static const char* kind_of(const ir_op_t* op) {
  const ir_attr_t* attr = ir_op_attr(op, "kind");
  const char* word = attr && attr->kind == IR_ATTR_OPAQUE ? attr->body : NULL;
  if (word && *word == '<') ++word;
  return word ? word : "add";
}

static bool lower_reduction(lower_op_t* n) {
  if (n->op->operand_count < 1 || n->op->operand_count > 2 || !is_vector(n, 0)) return lower_error(n, "needs a vector");
  uint32_t first = n->op->operand_count == 1;
  ir_value_t* sum = first ? lane(n->values[0], 0).v : n->in[1];
  for (uint32_t i = first; i < n->values[0].count; ++i) {
    if (!workgroup_combine(n, kind_of(n->op), sum, lane(n->values[0], i).v, &sum)) return false;
  }
  return lower_return(n, sum);
}

static bool lower_multi_reduction(lower_op_t* n) {
  const ir_type_t *from = lower_in_type(n, 0), *to = lower_out_type(n, 0);
  int64_t dims[GRAPH_MAX_RANK], at[GRAPH_MAX_RANK], kept[GRAPH_MAX_RANK];
  bool reduced[GRAPH_MAX_RANK] = {false};
  uint32_t count = workgroup_lanes(n, to), given;
  bool vector = to->kind == IR_TYPE_VECTOR;
  if (!count || !is_vector(n, 0) || (vector && !is_vector(n, 1))) return false;
  if (!lower_dims(n, "reduction_dims", from->rank, dims, &given)) return false;
  for (uint32_t i = 0; i < given; ++i) reduced[dims[i]] = true;
  int32_t rank = 0;
  for (int32_t i = 0; i < from->rank; ++i) {
    if (reduced[i]) continue;
    if (!vector || rank >= to->rank || to->dims[rank] != from->dims[i])
      return lower_error(n, "has a result of another shape");
    ++rank;
  }
  if (rank != (vector ? to->rank : 0)) return lower_error(n, "has a result of another shape");
  lower_value_t* lanes = new_lanes(n, count);
  for (uint32_t i = 0; i < count; ++i) lanes[i] = lane(n->values[1], i);
  for (uint32_t i = 0; i < n->values[0].count; ++i) {
    split(from, i, at);
    rank = 0;
    for (int32_t k = 0; k < from->rank; ++k) {
      if (!reduced[k]) kept[rank++] = at[k];
    }
    uint32_t place = vector ? join(to, kept) : 0;
    if (!workgroup_combine(n, kind_of(n->op), lanes[place].v, lane(n->values[0], i).v, &lanes[place].v)) return false;
  }
  n->out[0] = vector ? workgroup_vector(lanes, count) : (lower_value_t){.v = lanes[0].v};
  return true;
}

typedef struct contract_t {
  const ir_affine_map_t* maps[3];
  const ir_type_t* types[3];
  int64_t sizes[GRAPH_MAX_RANK];
  uint32_t rank;
} contract_t;

static bool read_contract(lower_op_t* n, contract_t* c) {
  const ir_attr_t* maps = ir_op_attr(n->op, "indexing_maps");
  if (!maps || maps->kind != IR_ATTR_ARRAY || maps->count != 3) return lower_error(n, "needs three indexing_maps");
  for (uint32_t k = 0; k < 3; ++k) {
    c->types[k] = k < 2 ? lower_in_type(n, k) : lower_out_type(n, 0);
    c->maps[k] = maps->items[k]->kind == IR_ATTR_AFFINE_MAP ? maps->items[k]->map : NULL;
    bool vector = c->types[k]->kind == IR_TYPE_VECTOR;
    if (vector && !is_vector(n, k)) return false;
    bool fits = c->maps[k] && c->maps[k]->dim_count <= GRAPH_MAX_RANK && !c->maps[k]->symbol_count &&
                c->maps[k]->dim_count == c->maps[0]->dim_count &&
                (int32_t)c->maps[k]->result_count == (vector ? c->types[k]->rank : 0);
    if (!fits) return lower_error(n, "has an indexing map %u that does not fit", k);
  }
  c->rank = c->maps[0]->dim_count;
  for (uint32_t i = 0; i < c->rank; ++i) c->sizes[i] = -1;
  for (uint32_t k = 0; k < 3; ++k) {
    for (uint32_t i = 0; i < c->maps[k]->result_count; ++i) {
      const ir_affine_t* e = c->maps[k]->results[i];
      int64_t* size = e->kind == IR_AFFINE_DIM ? &c->sizes[e->value] : NULL;
      if (!size || (*size >= 0 && *size != c->types[k]->dims[i])) return lower_error(n, "has shapes that do not fit");
      *size = c->types[k]->dims[i];
    }
  }
  return true;
}

static uint32_t contract_place(const contract_t* c, uint32_t k, const int64_t* at) {
  int64_t place[GRAPH_MAX_RANK];
  if (c->types[k]->kind != IR_TYPE_VECTOR) return 0;
  for (uint32_t i = 0; i < c->maps[k]->result_count; ++i) place[i] = at[c->maps[k]->results[i]->value];
  return join(c->types[k], place);
}

static bool lower_contract(lower_op_t* n) {
  contract_t c;
  int64_t total = 1, at[GRAPH_MAX_RANK];
  if (!read_contract(n, &c)) return false;
  for (uint32_t i = 0; i < c.rank; ++i) {
    if (c.sizes[i] < 0 || __builtin_mul_overflow(total, c.sizes[i], &total) || total > WORKGROUP_MAX_LANES) {
      return lower_unsupported(n, "up to %d products are", WORKGROUP_MAX_LANES);
    }
  }
  uint32_t count = workgroup_lanes(n, c.types[2]);
  const ir_type_t* element = n->in[2]->type;
  lower_value_t* lanes = new_lanes(n, count);
  for (uint32_t i = 0; i < count; ++i) lanes[i] = lane(n->values[2], i);
  for (int64_t i = 0; i < total; ++i) {
    int64_t rest = i;
    for (uint32_t k = c.rank; k-- > 0;) {
      at[k] = rest % c.sizes[k];
      rest /= c.sizes[k];
    }
    ir_value_t* x = graph_cast(n->b, lane(n->values[0], contract_place(&c, 0, at)).v, element, false);
    ir_value_t* y = graph_cast(n->b, lane(n->values[1], contract_place(&c, 1, at)).v, element, false);
    lower_value_t* sum = &lanes[contract_place(&c, 2, at)];
    if (!workgroup_combine(n, kind_of(n->op), sum->v, graph_binary(n->b, SCALAR_mul, x, y), &sum->v)) return false;
  }
  n->out[0] = c.types[2]->kind == IR_TYPE_VECTOR ? workgroup_vector(lanes, count) : (lower_value_t){.v = lanes[0].v};
  return true;
}

static bool lower_fma(lower_op_t* n) {
  uint32_t count = workgroup_lanes(n, lower_out_type(n, 0));
  if (!count || !is_vector(n, 0) || !is_vector(n, 1) || !is_vector(n, 2)) return false;
  lower_value_t* lanes = new_lanes(n, count);
  for (uint32_t i = 0; i < count; ++i) {
    ir_value_t* in[] = {lane(n->values[0], i).v, lane(n->values[1], i).v, lane(n->values[2], i).v};
    lanes[i] = (lower_value_t){.v = ir_build_value(n->b, graph_scalar_code(SCALAR_fma), in, 3, in[0]->type)};
  }
  n->out[0] = workgroup_vector(lanes, count);
  return true;
}

static bool lower_outside(lower_op_t* n) {
  return lower_error(n, "has a meaning in the functions of executables only");
}

bool workgroup_lower_vector(lower_op_t* n) {
  switch (n->op->info->code) {
    case VECTOR_TRANSFER_READ:
      return lower_read(n);
    case VECTOR_TRANSFER_WRITE:
      return lower_write(n);
    case VECTOR_LOAD:
      return lower_load(n);
    case VECTOR_STORE:
      return lower_store(n);
    case VECTOR_BROADCAST:
    case VECTOR_SPLAT:
      return lower_broadcast(n);
    case VECTOR_FROM_ELEMENTS:
      return lower_from_elements(n);
    case VECTOR_STEP:
      return lower_step(n);
    case VECTOR_FMA:
      return lower_fma(n);
    case VECTOR_REDUCTION:
      return lower_reduction(n);
    case VECTOR_MULTI_REDUCTION:
      return lower_multi_reduction(n);
    case VECTOR_CONTRACT:
      return lower_contract(n);
    case VECTOR_EXTRACT:
      return lower_extract(n);
    case VECTOR_INSERT:
      return lower_insert(n);
    case VECTOR_EXTRACT_STRIDED_SLICE:
      return lower_strided(n, false);
    case VECTOR_INSERT_STRIDED_SLICE:
      return lower_strided(n, true);
    case VECTOR_SHAPE_CAST:
      return lower_shape_cast(n);
    case VECTOR_TRANSPOSE:
      return lower_transpose(n);
    default:
      return lower_unsupported(n, NULL);
  }
}

#define AT(ENUM) [VECTOR_##ENUM - IR_CODE(IR_DIALECT_VECTOR, 0)] = {.fn = lower_outside, .flags = LOWER_ANY_VALUE}
static const lower_row_t rows[] = {
    AT(TRANSFER_READ),
    AT(TRANSFER_WRITE),
    AT(LOAD),
    AT(STORE),
    AT(BROADCAST),
    AT(SPLAT),
    AT(FROM_ELEMENTS),
    AT(STEP),
    AT(FMA),
    AT(REDUCTION),
    AT(MULTI_REDUCTION),
    AT(CONTRACT),
    AT(EXTRACT),
    AT(INSERT),
    AT(EXTRACT_STRIDED_SLICE),
    AT(INSERT_STRIDED_SLICE),
    AT(SHAPE_CAST),
    AT(TRANSPOSE),
};
const lower_table_t lower_vector_table = {IR_DIALECT_VECTOR, rows, sizeof(rows) / sizeof(rows[0])};
