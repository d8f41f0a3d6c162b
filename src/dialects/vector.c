// The vector dialect.
#include "dialects/vector.h"

#include "dialects/table.h"

// [%index, ...][, %value ...]: memory, its indices, and what else there is, at most two.
typedef struct transfer_t {
  ir_ref_t memory, others[2];
  ir_ref_list_t indices;
  uint32_t other_count;
} transfer_t;

static bool parse_transfer(ir_parser_t* p, transfer_t* t, uint32_t most) {
  if (!ir_parse_ref(p, &t->memory) || !ir_parse_expect(p, "[")) return false;
  if (!ir_parse_try(p, "]") && (!ir_parse_refs(p, &t->indices) || !ir_parse_expect(p, "]"))) return false;
  while (t->other_count < most && ir_parse_try(p, ",")) {
    if (!ir_parse_ref(p, &t->others[t->other_count++])) return false;
  }
  return true;
}

static bool add_indices(ir_parser_t* p, ir_draft_t* op, const transfer_t* t) {
  for (uint32_t i = 0; i < t->indices.count; ++i) {
    if (!ir_draft_operand(p, op, &t->indices.items[i], ir_type_index(ir_parse_context(p)))) return false;
  }
  return true;
}

static void add_segments(ir_parser_t* p, ir_draft_t* op, const int32_t* counts, uint32_t count) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_attr(p, op, "operandSegmentSizes", ir_attr_dense_array(ctx, ir_type_int(ctx, 32), counts, count));
}

// A mask's type: one i1 for each element.
static const ir_type_t* mask_type(ir_context_t* ctx, const ir_type_t* vector) {
  return ir_type_vector(ctx, ir_type_int(ctx, 1), vector->rank, vector->dims);
}

//   %memory[%index, ...], %outside[, %mask] {...} : memory type, vector type
static ir_op_t* transfer_read_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  transfer_t t = {.other_count = 0};
  ir_draft_init(p, &op, info, loc);
  if (!parse_transfer(p, &t, 2)) return NULL;
  if (!t.other_count) return ir_parse_fail(p, "expected a value for what is outside: , %%value"), NULL;
  if (!ir_parse_attr_dict(p, &op) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* memory = ir_parse_type(p);
  const ir_type_t* vector = memory && ir_parse_expect(p, ",") ? ir_parse_type(p) : NULL;
  if (!vector) return NULL;
  if (vector->kind != IR_TYPE_VECTOR) return ir_parse_fail(p, "expected a vector's type"), NULL;
  bool ok = ir_draft_operand(p, &op, &t.memory, memory) && add_indices(p, &op, &t) &&
            ir_draft_operand(p, &op, &t.others[0], ir_type_scalar(memory)) &&
            (t.other_count < 2 || ir_draft_operand(p, &op, &t.others[1], mask_type(ctx, vector)));
  add_segments(p, &op, (int32_t[]){1, (int32_t)t.indices.count, 1, t.other_count > 1}, 4);
  ir_draft_result(p, &op, vector);
  return ok ? ir_draft_finish(p, &op) : NULL;
}

//   %vector, %memory[%index, ...][, %mask] {...} : vector type, memory type
static ir_op_t* transfer_write_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  ir_ref_t value;
  transfer_t t = {.other_count = 0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &value) || !ir_parse_expect(p, ",") || !parse_transfer(p, &t, 1)) return NULL;
  if (!ir_parse_attr_dict(p, &op) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* vector = ir_parse_type(p);
  if (vector && vector->kind != IR_TYPE_VECTOR) return ir_parse_fail(p, "expected a vector's type"), NULL;
  const ir_type_t* memory = vector && ir_parse_expect(p, ",") ? ir_parse_type(p) : NULL;
  bool ok = memory && ir_draft_operand(p, &op, &value, vector) && ir_draft_operand(p, &op, &t.memory, memory) &&
            add_indices(p, &op, &t) &&
            (!t.other_count || ir_draft_operand(p, &op, &t.others[0], mask_type(ctx, vector)));
  if (!ok) return NULL;
  add_segments(p, &op, (int32_t[]){1, 1, (int32_t)t.indices.count, (int32_t)t.other_count}, 4);
  if (ir_type_is_tensor(memory)) ir_draft_result(p, &op, memory);
  return ir_draft_finish(p, &op);
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"vector." #name, VECTOR_##ENUM, __VA_ARGS__},
#include "dialects/vector.def"
#undef OP
};
TABLE_DIALECT(vector_dialect, IR_DIALECT_VECTOR, "vector", ops);
