// Ops without regions, as instructions.
#include <string.h>

#include "dialects/kernel.h"
#include "dialects/kernel_verify.h"
#include "dialects/mma.h"
#include "target/vmvx/encode_state.h"

static void store_attr_number(const ir_type_t* scalar, const ir_attr_t* attr, void* out) {
  scalar_store(scalar, (scalar_value_t){.f = attr->number, .i = attr->integer}, out);
}

void encode_constant(encode_t* e, const live_constant_t* constant) {
  const ir_type_t *type = constant->value->type, *scalar = ir_type_scalar(type);
  const ir_attr_t* attr = constant->attr;
  uint32_t bytes = ir_type_bytes(scalar), reg = live_define(e->live, constant->value);
  if (attr->kind == IR_ATTR_ELEMENTS && !attr->splat) {
    encode_op(e, NULL, VMVX_OP_constant);
    encode_word(e, reg);
    encode_word(e, encode_data(e, ir_attr_data(attr), attr->size, bytes));
    return;
  }
  uint64_t element = 0;
  if (attr->kind == IR_ATTR_ELEMENTS) {
    memcpy(&element, ir_attr_data(attr), bytes);
  } else {
    store_attr_number(scalar, attr, &element);
  }
  encode_op(e, NULL, VMVX_OP_constant_splat);
  encode_word(e, reg);
  encode_word(e, encode_data(e, &element, bytes, bytes));
}

static void encode_memory_row(encode_t* e, ir_value_t* value, vmvx_memory_row_t row) {
  vmvx_register_row_t element = live_register_row(value->type);
  row.type = element.type;
  row.width = element.width;
  uint32_t number = 0;
  const char* rows = e->memories.data + e->memory_first * sizeof(row);
  while (number < e->memory_count && memcmp(rows + number * sizeof(row), &row, sizeof(row))) ++number;
  value->data = (void*)(uintptr_t)(number + 1);
  if (number < e->memory_count) return;
  if (number == VMVX_MAX_MEMORIES) encode_fail(e, "has more than %d bindings, allocs and views", VMVX_MAX_MEMORIES);
  ++e->memory_count;
  text_append(&e->memories, (const char*)&row, sizeof(row));
}

uint32_t encode_memory(const ir_value_t* value) { return (uint32_t)(uintptr_t)value->data - 1; }

void encode_binding(encode_t* e, ir_value_t* value) {
  encode_memory_row(e, value, (vmvx_memory_row_t){.kind = VMVX_MEMORY_BINDING, .index = value->index});
}

static void encode_alloc(encode_t* e, ir_op_t* op) {
  ir_value_t* memory = ir_result(op, 0);
  bool shared = memory->type->space == IR_SPACE_WORKGROUP;
  vmvx_memory_kind_t kind = shared ? VMVX_MEMORY_WORKGROUP : VMVX_MEMORY_PRIVATE;
  uint64_t size = (uint64_t)memory->type->dims[0] * ir_type_bytes(memory->type->element);
  uint64_t align = (uint64_t)ir_op_int(op, "align", 16);
  if (align < 16) align = 16;
  uint64_t offset = (e->local_bytes[kind] + align - 1) & ~(align - 1);
  if (offset + size > VMVX_MAX_LOCAL) {
    encode_fail(e, "needs more than %d bytes of local memory", VMVX_MAX_LOCAL);
    size = 0, offset = 0;
  }
  e->local_bytes[kind] = (uint32_t)(offset + size);
  encode_memory_row(e, memory, (vmvx_memory_row_t){.kind = (uint8_t)kind, .index = (uint32_t)offset, .length = size});
}

static void encode_view(encode_t* e, ir_op_t* op) {
  vmvx_memory_row_t row;
  ir_value_t* view = ir_result(op, 0);
  memcpy(&row, e->memories.data + (e->memory_first + encode_memory(ir_operand(op, 0))) * sizeof(row), sizeof(row));
  if (view->type->dims[0] != IR_DYNAMIC) {
    row.length = (uint64_t)view->type->dims[0] * ir_type_bytes(view->type->element);
  }
  encode_memory_row(e, view, row);
}

// An instruction whose operands are results, then operands, as they stand.
static void encode_plain(encode_t* e, ir_op_t* op, uint32_t vmvx_op) {
  uint32_t results[1] = {0};
  for (uint32_t i = 0; i < op->result_count; ++i) results[i] = encode_define(e, ir_result(op, i));
  encode_op(e, op, vmvx_op);
  for (uint32_t i = 0; i < op->result_count; ++i) encode_word(e, results[i]);
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const ir_value_t* value = ir_operand(op, i);
    bool is_memory = value->type->kind == IR_TYPE_MEMREF;
    encode_word(e, is_memory ? encode_memory(value) : encode_use(value));
  }
}

static void encode_shuffle(encode_t* e, ir_op_t* op) {
  uint32_t count = (uint32_t)kernel_lanes(ir_result(op, 0));
  int64_t* mask = ARENA_ARRAY(&e->arena, int64_t, count);
  uint32_t* lanes = ARENA_ARRAY(&e->arena, uint32_t, count);
  ir_op_ints(op, "mask", mask, count);
  for (uint32_t i = 0; i < count; ++i) lanes[i] = (uint32_t)mask[i];
  encode_plain(e, op, VMVX_OP_shuffle);
  encode_word(e, encode_data(e, lanes, 4 * (size_t)count, 4));
}

static void encode_access(encode_t* e, ir_op_t* op, uint32_t plain, uint32_t masked) {
  bool is_store = op->result_count == 0;
  encode_plain(e, op, op->operand_count == (is_store ? 3u : 2u) ? plain : masked);
  encode_word(e, (uint32_t)ir_op_int(op, "align", 1));
}

static uint32_t shuffle_mode(const ir_op_t* op) {
  switch (*ir_op_string(op, "mode", "index")) {
    case 'x':
      return VMVX_SHUFFLE_XOR;
    case 'u':
      return VMVX_SHUFFLE_UP;
    case 'd':
      return VMVX_SHUFFLE_DOWN;
    default:
      return VMVX_SHUFFLE_INDEX;
  }
}

static uint32_t join_fn(const ir_op_t* op) {
  const char* kind = ir_op_string(op, "kind", "");
  return strcmp(kind, "exchange") == 0 ? VMVX_EXCHANGE : (uint32_t)kernel_reduce_fn(kind);
}

static void encode_id(encode_t* e, ir_op_t* op, uint32_t id) {
  encode_plain(e, op, VMVX_OP_id);
  encode_word(e, id + (uint32_t)ir_op_int(op, "axis", 0));
}

static void encode_plain_with(encode_t* e, ir_op_t* op, uint32_t vmvx_op, int64_t literal) {
  encode_plain(e, op, vmvx_op);
  encode_word(e, (uint32_t)literal);
}

void encode_simple(encode_t* e, ir_op_t* op) {
  if (kernel_scalar_fn(op) >= 0) {
    encode_plain(e, op, (uint32_t)kernel_scalar_fn(op));
    return;
  }
  switch (ir_code(op)) {
#define CASE(NAME, ...) \
  case KERNEL_##NAME:   \
    __VA_ARGS__;        \
    break
    CASE(RETURN, encode_plain(e, op, VMVX_OP_return));
    CASE(WORKGROUP_ID, encode_id(e, op, VMVX_ID_WORKGROUP));
    CASE(WORKGROUP_COUNT, encode_id(e, op, VMVX_ID_COUNT));
    CASE(THREAD_ID, encode_id(e, op, VMVX_ID_THREAD));
    CASE(SUBGROUP_LANE, encode_id(e, op, VMVX_ID_LANE));
    CASE(IOTA, encode_plain(e, op, VMVX_OP_iota));
    CASE(SPLAT, encode_plain(e, op, VMVX_OP_splat));
    CASE(EXTRACT, encode_plain_with(e, op, VMVX_OP_extract, ir_op_int(op, "index", 0)));
    CASE(EXTRACT_DYNAMIC, encode_plain(e, op, VMVX_OP_extract_dynamic));
    CASE(INSERT, encode_plain_with(e, op, VMVX_OP_insert, ir_op_int(op, "index", 0)));
    CASE(SHUFFLE, encode_shuffle(e, op));
    CASE(REDUCE, encode_plain_with(e, op, VMVX_OP_reduce, join_fn(op)));
    CASE(LOAD, encode_access(e, op, VMVX_OP_load, VMVX_OP_load_masked));
    CASE(STORE, encode_access(e, op, VMVX_OP_store, VMVX_OP_store_masked));
    CASE(GATHER, encode_access(e, op, VMVX_OP_gather, VMVX_OP_gather_masked));
    CASE(SCATTER, encode_access(e, op, VMVX_OP_scatter, VMVX_OP_scatter_masked));
    CASE(ATOMIC, encode_plain_with(e, op, VMVX_OP_atomic, join_fn(op)));
    CASE(ALLOC, encode_alloc(e, op));
    CASE(VIEW, encode_view(e, op));
    CASE(CALL, encode_fail(e, "calls a function of an object; llvm-cpu links objects in"));
    CASE(BARRIER, encode_plain(e, op, VMVX_OP_barrier));
    CASE(SUBGROUP_SHUFFLE, encode_plain_with(e, op, VMVX_OP_subgroup_shuffle, shuffle_mode(op)));
    CASE(MMA, encode_plain_with(e, op, VMVX_OP_mma, mma_index(mma_find(ir_op_string(op, "instruction", "")))));
    CASE(LOAD_MATRIX, encode_plain_with(e, op, VMVX_OP_load_matrix,
                                        ir_op_int(op, "count", 1) | (ir_op_attr(op, "transpose") ? 1 << 8 : 0)));
    CASE(LOAD_TILE, encode_plain(e, op, VMVX_OP_load_tile));
    CASE(STORE_TILE, encode_plain(e, op, VMVX_OP_store_tile));
    CASE(ASYNC_COPY, encode_plain_with(e, op, op->operand_count > 4 ? VMVX_OP_async_copy_some : VMVX_OP_async_copy,
                                       ir_op_int(op, "bytes", 0)));
    CASE(ASYNC_COMMIT, encode_plain(e, op, VMVX_OP_async_commit));
    CASE(ASYNC_WAIT, encode_plain_with(e, op, VMVX_OP_async_wait, ir_op_int(op, "pending", 0)));
#undef CASE
    default:  // constants are at the start already; prefetch only hints
      break;
  }
}
