// Tensors in functions that become kernels, and what a dispatch loads and stores. See workgroup.h. A tensor is in
// memory that nothing else writes as long as it lives, so that slices of it are places in the same memory.
#include <string.h>

#include "dialects/flow.h"
#include "dialects/tensor.h"
#include "dialects/tensor_ext.h"
#include "import/linalg/workgroup.h"

//===----------------------------------------------------------------------------------------------------------------===
// Elements and pieces
//===----------------------------------------------------------------------------------------------------------------===

static bool lower_empty(lower_op_t* n) {
  buffer_t x;
  return buffer_alloc_type(n, lower_out_type(n, 0), 0, &x) && buffer_give(n, &x);
}

static bool lower_insert(lower_op_t* n) {
  buffer_t x, y;
  ir_value_t* at[GRAPH_MAX_RANK];
  if (!buffer_read(n, 1, &x) || !buffer_read_places(n, &x, 2, at) || !buffer_clone(n, &x, &y)) return false;
  if (n->in[0]->type != y.memory->type->element) return lower_error(n, "needs a number of the tensor's type");
  once_t once = once_begin(n->l);
  buffer_store(n->b, &y, at, n->in[0]);
  once_end(n->l, &once);
  return buffer_give(n, &y);
}

static bool lower_tensor_splat(lower_op_t* n) {
  buffer_t x;
  nest_t nest;
  if (!buffer_alloc_type(n, lower_out_type(n, 0), 1, &x)) return false;
  if (n->in[0]->type != x.memory->type->element) return lower_error(n, "needs a number of its type");
  nest_begin(n->l, x.sizes, x.rank, &nest);
  buffer_store(n->b, &x, nest.at, n->in[0]);
  nest_end(n->l, &nest);
  return buffer_give(n, &x);
}

static bool lower_from_elements(lower_op_t* n) {
  buffer_t x;
  if (!buffer_alloc_type(n, lower_out_type(n, 0), n->op->operand_count, &x)) return false;
  once_t once = once_begin(n->l);
  for (uint32_t i = 0; i < n->op->operand_count; ++i) {
    if (n->in[i]->type != x.memory->type->element) return lower_error(n, "needs numbers of its type");
    kernel_store(n->b, n->in[i], x.memory, graph_index_constant(n->b, i));
  }
  once_end(n->l, &once);
  return buffer_give(n, &x);
}

static bool lower_generate(lower_op_t* n) {
  buffer_t x;
  nest_t nest;
  ir_block_t* block = n->op->region_count ? n->op->regions[0].first : NULL;
  lower_value_t args[GRAPH_MAX_RANK] = {{0}}, *values;
  uint32_t count;
  if (!block || block->next || !block->last) return lower_error(n, "needs a body of one block");
  if (!buffer_alloc_type(n, lower_out_type(n, 0), 0, &x)) return false;
  if (block->arg_count != x.rank) return lower_error(n, "needs an index for each dimension");
  nest_begin(n->l, x.sizes, x.rank, &nest);
  for (uint32_t i = 0; i < x.rank; ++i) args[i].v = nest.at[i];
  if (!workgroup_check_args(n, block, args)) return false;
  if (!lower_block(n->l, block, args, &values, &count)) return false;
  if (count != 1 || !values[0].v || values[0].v->type != x.memory->type->element) {
    return lower_error(n, "needs a body that yields an element");
  }
  buffer_store(n->b, &x, nest.at, values[0].v);
  nest_end(n->l, &nest);
  return buffer_give(n, &x);
}

static bool lower_slice(lower_op_t* n) {
  buffer_t x, y;
  return buffer_read(n, 0, &x) && buffer_slice(n, &x, 1, lower_out_type(n, 0), &y) && buffer_give(n, &y);
}

static bool lower_insert_slice(lower_op_t* n) {
  buffer_t part, whole, own, place;
  if (!buffer_read(n, 0, &part) || !buffer_read(n, 1, &whole) || !buffer_clone(n, &whole, &own)) return false;
  if (!buffer_slice(n, &own, 2, lower_in_type(n, 0), &place)) return false;
  if (part.memory->type->element != own.memory->type->element) return lower_error(n, "needs one element type");
  buffer_copy(n->l, &part, &place);
  return buffer_give(n, &own);
}

// In another shape; where it has gaps, a tensor of its own.
static bool lower_tensor_reshape(lower_op_t* n) {
  buffer_t x, y, own;
  if (!buffer_read(n, 0, &x) || !buffer_clone(n, &x, &own)) return false;
  return buffer_reshape(n, &own, lower_out_type(n, 0), &y) && buffer_give(n, &y);
}

static bool lower_same(lower_op_t* n) {
  n->out[0] = n->values[0];
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Scalar ops on tensors
//===----------------------------------------------------------------------------------------------------------------===

static bool lower_elements(lower_op_t* n) {
  enum { MAX_OPERANDS = 4 };
  buffer_t in[MAX_OPERANDS], out;
  const buffer_t* shape = NULL;
  nest_t nest;
  ir_value_t* numbers[MAX_OPERANDS];
  const ir_type_t* type = lower_type(n->ctx, lower_out_type(n, 0));
  if (n->op->operand_count > MAX_OPERANDS || n->op->result_count != 1 || !type) return lower_unsupported(n, NULL);
  for (uint32_t i = 0; i < n->op->operand_count; ++i) {
    in[i].memory = NULL;
    numbers[i] = n->in[i];
    if (!ir_type_is_shaped(lower_in_type(n, i))) continue;
    if (!buffer_read(n, i, &in[i]) || in[i].rank != (uint32_t)type->rank) return lower_error(n, "needs one shape");
    if (!shape) shape = &in[i];
  }
  if (!shape) return lower_unsupported(n, "tensors are");
  if (!buffer_alloc(n, type->element, shape->sizes, shape->rank, &out)) return false;
  nest_begin(n->l, out.sizes, out.rank, &nest);
  for (uint32_t i = 0; i < n->op->operand_count; ++i) {
    if (in[i].memory) n->in[i] = buffer_load(n->b, &in[i], nest.at);
  }
  if (!n->row->fn(n)) return false;
  if (!n->out[0].v || n->out[0].v->type != type->element) return lower_error(n, "gives another type than its result's");
  buffer_store(n->b, &out, nest.at, n->out[0].v);
  nest_end(n->l, &nest);
  memcpy(n->in, numbers, sizeof(*numbers) * n->op->operand_count);
  return buffer_give(n, &out);
}

//===----------------------------------------------------------------------------------------------------------------===
// Tensors of dispatches
//===----------------------------------------------------------------------------------------------------------------===

static bool lower_tie_shape(lower_op_t* n) {
  buffer_t x;
  uint32_t next = 1;
  const ir_type_t* type = shim_view_type(n->ctx, lower_out_type(n, 0));
  if (!type || !buffer_read(n, 0, &x) || x.rank != (uint32_t)type->rank)
    return lower_error(n, "needs a tensor of a dispatch");
  for (uint32_t i = 0; i < x.rank; ++i) {
    if (type->dims[i] != IR_DYNAMIC) continue;
    if (next >= n->op->operand_count) return lower_error(n, "needs the size of each '?'");
    x.sizes[i] = lower_index(n->b, n->in[next++]);
  }
  buffer_set_dense(n->b, &x);
  return buffer_give(n, &x);
}

// What the dispatch writes too is copied: a tensor does not change.
static bool lower_dispatch_load(lower_op_t* n) {
  buffer_t x, y, own;
  const ir_type_t* type = lower_in_type(n, 0);
  bool only_read = type->kind == IR_TYPE_OPAQUE && type->body && strncmp(type->body, "readonly", 8) == 0;
  if (!buffer_read(n, 0, &x) || !buffer_slice(n, &x, 1, lower_out_type(n, 0), &y)) return false;
  if (only_read) return buffer_give(n, &y);
  return buffer_clone(n, &y, &own) && buffer_give(n, &own);
}

static bool lower_dispatch_store(lower_op_t* n) {
  buffer_t x, y, place;
  if (!buffer_read(n, 0, &x) || !buffer_read(n, 1, &y)) return false;
  if (!buffer_slice(n, &y, 2, lower_in_type(n, 0), &place)) return false;
  if (x.memory->type->element != y.memory->type->element) return lower_error(n, "needs tensors of one element type");
  buffer_copy(n->l, &x, &place);
  return true;
}

bool workgroup_lower_tensor(lower_op_t* n) {
  switch (n->op->info->code) {
    case TENSOR_EMPTY:
      return lower_empty(n);
    case TENSOR_DIM:
      return buffer_lower_dim(n);
    case TENSOR_CAST:
      return lower_same(n);
    case TENSOR_EXTRACT:
      return buffer_lower_load(n);
    case TENSOR_INSERT:
      return lower_insert(n);
    case TENSOR_FROM_ELEMENTS:
      return lower_from_elements(n);
    case TENSOR_SPLAT:
      return lower_tensor_splat(n);
    case TENSOR_GENERATE:
      return lower_generate(n);
    case TENSOR_EXPAND_SHAPE:
    case TENSOR_COLLAPSE_SHAPE:
      return lower_tensor_reshape(n);
    case TENSOR_EXTRACT_SLICE:
      return lower_slice(n);
    case TENSOR_INSERT_SLICE:
      return lower_insert_slice(n);
    case FLOW_DISPATCH_TIE_SHAPE:
      return lower_tie_shape(n);
    case FLOW_DISPATCH_TENSOR_LOAD:
    case TENSOR_EXT_DISPATCH_TENSOR_LOAD:
      return lower_dispatch_load(n);
    case FLOW_DISPATCH_TENSOR_STORE:
    case TENSOR_EXT_DISPATCH_TENSOR_STORE:
      return lower_dispatch_store(n);
    default:
      return ir_op_dialect(n->op) == IR_DIALECT_TENSOR ? lower_unsupported(n, "in a kernel it is not")
                                                       : lower_elements(n);
  }
}
