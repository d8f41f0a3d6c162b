// Sizes that become known: a function that is called with larger knowledge than its signature has is in its caller's
// place now, and what it computes is as static as what it computes it from.
//
//   %0 = graph.add %x, %y : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<?x?xf32>
//   %d = graph.dim %0 {0}                               =>   %0 = graph.add %x, %y : .. -> tensor<3x4xf32>
//   %1 = graph.broadcast %b, %d : .. -> tensor<?xf32>        %1 = graph.broadcast %b : .. -> tensor<3xf32>
//
// Numbers of the host that a caller made tensors of, and the callee took out again for its sizes, are what they were.
// Where a type must stay what it is (what loops carry, what branches yield), a reshape gives it back.
#include <string.h>

#include "dialects/builtin.h"
#include "dialects/func.h"
#include "dialects/graph_shape.h"
#include "ir/context.h"
#include "passes/passes.h"

// Counts in constants, those among operands too.
typedef struct refine_t {
  graph_sizer_t sizer;  // first: the shape rules count by it
  ir_op_t* op;
  uint64_t known;  // operands that are sizes of the result at work, and constants
  bool changed;
} refine_t;

static bool constant_of(const ir_value_t* x, int64_t* out) {
  if (!x->def || !ir_is(x->def, GRAPH_CONSTANT) || x->type->kind != IR_TYPE_INDEX) return false;
  *out = graph_get_value(x->def)->integer;
  return true;
}

static graph_size_t unknown_dim(graph_sizer_t* s, const ir_value_t* x, int32_t dim) {
  (void)s, (void)x, (void)dim;
  return graph_size(IR_DYNAMIC);
}

static graph_size_t given_size(graph_sizer_t* s, uint32_t index) {
  int64_t number;
  if (index >= 64 || !constant_of(ir_operand(s->op, index), &number) || number < 0) return graph_size(IR_DYNAMIC);
  ((refine_t*)s)->known |= 1ull << index;
  return graph_size(number);
}

static const graph_symbols_t symbols = {.dim = unknown_dim, .operand = given_size};

//===----------------------------------------------------------------------------------------------------------------===
// Types
//===----------------------------------------------------------------------------------------------------------------===

// The type with the sizes that the op's operands give; itself when they say no more.
static const ir_type_t* refined_type(refine_t* r, ir_op_t* op, uint32_t result) {
  const ir_type_t* type = op->results[result].type;
  graph_shape_t shape;
  r->known = 0;
  r->sizer.op = op;
  r->sizer.result = result;
  r->sizer.failed = false;
  ir_context_mute(r->sizer.ctx, true);  // what does not fit is for the pass that finds all sizes to say
  bool known = graph_shape(&r->sizer, &shape) && shape.rank == type->rank;
  ir_context_mute(r->sizer.ctx, false);
  if (!known) return type;
  int64_t dims[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < type->rank; ++i) {
    dims[i] = type->dims[i] != IR_DYNAMIC || shape.dims[i].number < 0 ? type->dims[i] : shape.dims[i].number;
  }
  return ir_type_tensor(r->sizer.ctx, type->element, type->rank, dims);
}

// Ops that take operands of any size as they come: their own results are refined in turn.
static bool follows(const ir_op_t* op) {
  return ir_op_dialect(op) == IR_DIALECT_GRAPH && !ir_has_trait(op, IR_TRAIT_TERMINATOR) && !ir_is(op, GRAPH_WHILE) &&
         !ir_is(op, GRAPH_IF) && !ir_is(op, GRAPH_CALL) && !ir_is(op, GRAPH_CALL_IMPORT) &&
         !ir_is(op, GRAPH_DISPATCH) && !ir_is(op, GRAPH_GLOBAL_STORE);
}

// Sizes that the type of the result says are no operands any more.
static void drop_operands(ir_context_t* ctx, ir_op_t* op, uint64_t which) {
  ir_value_t** rest = ARENA_ARRAY(ir_context_arena(ctx), ir_value_t*, op->operand_count + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (i >= 64 || !(which >> i & 1)) rest[count++] = ir_operand(op, i);
  }
  ir_op_set_operands(ctx, op, rest, count);
}

// Users that need the old type get it from a reshape; a public function returns what there is.
static void keep_type(ir_context_t* ctx, ir_value_t* value, const ir_type_t* old) {
  ir_value_t *back = NULL, *dims[GRAPH_MAX_RANK];
  for (ir_use_t *use = value->uses, *next; use; use = next) {
    next = use->next;
    ir_op_t* owner = use->owner;
    if (follows(owner) || ir_is(owner, FUNC_RETURN)) continue;
    if (!back) {
      ir_builder_t b = ir_builder_before(ctx, value->def->next);
      b.loc = value->def->loc;
      uint32_t count = 0;
      for (int32_t i = 0; i < old->rank; ++i) {
        if (old->dims[i] == IR_DYNAMIC) dims[count++] = graph_dim(&b, value, (uint32_t)i);
      }
      back = graph_reshape(&b, value, old->rank, old->dims, dims);
    }
    for (uint32_t i = 0; i < owner->operand_count; ++i) {
      if (ir_operand(owner, i) == value) ir_op_set_operand(owner, i, back);
    }
    use = value->uses;  // the list has changed
    next = use;
  }
}

static void refine_results(refine_t* r, ir_op_t* op) {
  for (uint32_t i = 0; i < op->result_count; ++i) {
    ir_value_t* value = ir_result(op, i);
    const ir_type_t* old = value->type;
    if (!ir_type_is_tensor(old) || ir_type_is_static(old)) continue;
    const ir_type_t* type = refined_type(r, op, i);
    if (type == old) continue;
    if (r->known) drop_operands(r->sizer.ctx, op, r->known);
    value->type = type;
    keep_type(r->sizer.ctx, value, old);
    r->changed = true;
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Numbers
//===----------------------------------------------------------------------------------------------------------------===

// Sizes of static dims, arithmetic on constants.
static bool known_number(const ir_op_t* op, int64_t* out) {
  if (op->result_count != 1 || op->results[0].type->kind != IR_TYPE_INDEX) return false;
  if (ir_is(op, GRAPH_DIM)) {
    *out = ir_operand(op, 0)->type->dims[graph_get_index(op)];
    return *out != IR_DYNAMIC;
  }
  int fn = graph_scalar_fn(op);
  int64_t x, y;
  return fn >= 0 && op->operand_count == 2 && constant_of(ir_operand(op, 0), &x) &&
         constant_of(ir_operand(op, 1), &y) && graph_size_fold((scalar_fn_t)fn, x, y, out);
}

// A common size of sizes of which one is a constant now.
static bool refine_common(refine_t* r, ir_op_t* op) {
  ir_value_t *x, *y;
  int64_t number;
  if (op->result_count != 1 || !graph_common_parts(ir_result(op, 0), &x, &y)) return false;
  if (x != y && !constant_of(x, &number) && !constant_of(y, &number)) return false;
  ir_builder_t b = ir_builder_before(r->sizer.ctx, op);
  b.loc = op->loc;
  ir_value_replace(ir_result(op, 0), graph_common_size(&b, x, y));
  ir_op_erase(op);
  return r->changed = true;
}

// A number that was made a tensor of by the caller.
static bool refine_number(refine_t* r, ir_op_t* op) {
  bool reads = op->result_count == 1 && op->results[0].type->kind == IR_TYPE_INDEX &&
               graph_scalar_fn(op) == SCALAR_cast && ir_is(ir_operand(op, 0)->def, GRAPH_TO_SCALAR);
  if (!reads) return false;
  ir_builder_t b = ir_builder_before(r->sizer.ctx, op);
  b.loc = op->loc;
  ir_value_t* number = graph_index_of(&b, ir_operand(ir_operand(op, 0)->def, 0), 0);
  if (!number) return false;
  ir_value_replace(ir_result(op, 0), number);
  ir_op_erase(op);
  return r->changed = true;
}

static void refine_block(refine_t* r, ir_block_t* block) {
  for (ir_op_t *op = block->first, *next; op; op = next) {
    int64_t number;
    next = op->next;
    if (refine_common(r, op) || refine_number(r, op)) continue;
    if (known_number(op, &number)) {
      ir_builder_t b = ir_builder_before(r->sizer.ctx, op);
      b.loc = op->loc;
      ir_value_replace(ir_result(op, 0), graph_index_constant(&b, number));
      ir_op_erase(op);
      r->changed = true;
      continue;
    }
    if (follows(op)) refine_results(r, op);
    for (uint32_t i = 0; i < op->region_count; ++i) {
      IR_FOR_BLOCKS(inner, &op->regions[i]) refine_block(r, inner);
    }
  }
}

// The signature says what is returned now; callers from outside still read the one that was written.
static void refine_signature(ir_context_t* ctx, ir_op_t* func) {
  const ir_attr_t* attr = ir_op_attr(func, "function_type");
  const ir_op_t* ret = func->regions[0].first->last;
  const ir_type_t *type = attr->type,
                  **results = ARENA_ARRAY(ir_context_arena(ctx), const ir_type_t*, 1 + ret->operand_count);
  for (uint32_t i = 0; i < ret->operand_count; ++i) results[i] = ir_operand(ret, i)->type;
  const ir_type_t* now = ir_type_function(ctx, type->inputs, type->input_count, results, ret->operand_count);
  if (now == type) return;
  if (!ir_op_attr(func, "iree.abi.type")) ir_op_set_attr(ctx, func, "iree.abi.type", attr);
  ir_op_set_attr(ctx, func, "function_type", ir_attr_type(ctx, now));
}

pass_result_t pass_refine(ir_op_t* module, ir_context_t* ctx) {
  refine_t r = {.sizer = {.ctx = ctx, .symbols = &symbols}};
  IR_FOR_OPS(func, ir_module_body(module)) {
    if (strcmp(func->name, "func.func") || !func->regions[0].first || func->regions[0].first->next) continue;
    refine_block(&r, func->regions[0].first);
    refine_signature(ctx, func);
  }
  return r.changed ? PASS_CHANGED : PASS_UNCHANGED;
}
