// Numbers of the host program: function arguments and results that are numbers, sizes, trip counts. What the VM has an
// instruction for is computed in its registers (i1, i8 and i16 sign-extended in an i32 one); every other scalar
// function is a dispatch on tensors of rank 0, which host_scalar_prepare makes of it.
#include <string.h>

#include "compiler/host_state.h"

//===----------------------------------------------------------------------------------------------------------------===
// What the VM can do
//===----------------------------------------------------------------------------------------------------------------===

bool host_scalar_type(const ir_type_t* type, vm_type_t* out) {
  if (type->kind == IR_TYPE_INDEX) return *out = VM_TYPE_I64, true;
  if (type->kind == IR_TYPE_OPAQUE) return *out = VM_TYPE_REF, true;
  if (type->kind == IR_TYPE_INTEGER && type->width <= 64) {
    bool fits = type->width == 1 || type->width == 8 || type->width == 16 || type->width == 32 || type->width == 64;
    *out = type->width == 64 ? VM_TYPE_I64 : VM_TYPE_I32;
    return fits;
  }
  if (type->kind != IR_TYPE_FLOAT || type->width < 32) return false;
  *out = type->width == 64 ? VM_TYPE_F64 : VM_TYPE_F32;
  return type->float_kind == IR_F32 || type->float_kind == IR_F64;
}

typedef struct row_t {
  int fn;
  int i32, i64, f32, f64;  // instructions by type, -1 for none
  bool swapped;            // operands change places
} row_t;

#define ALL(fn, name) {SCALAR_##fn, VM_OP_i32_##name, VM_OP_i64_##name, VM_OP_f32_##name, VM_OP_f64_##name, false}
#define INTS(fn, name) {SCALAR_##fn, VM_OP_i32_##name, VM_OP_i64_##name, -1, -1, false}
#define FLOATS(fn, name) {SCALAR_##fn, -1, -1, VM_OP_f32_##name, VM_OP_f64_##name, false}
#define SIGNED(fn, name) \
  {SCALAR_##fn, VM_OP_i32_##name##_s, VM_OP_i64_##name##_s, VM_OP_f32_##name, VM_OP_f64_##name, false}
#define SWAPPED(fn, name) \
  {SCALAR_##fn, VM_OP_i32_##name##_s, VM_OP_i64_##name##_s, VM_OP_f32_##name, VM_OP_f64_##name, true}
// clang-format off
static const row_t rows[] = {
    ALL(add, add), ALL(sub, sub), ALL(mul, mul), ALL(neg, neg), ALL(abs, abs), ALL(eq, eq), ALL(ne, ne),
    SIGNED(min, min), SIGNED(max, max), SIGNED(lt, lt), SIGNED(le, le), SWAPPED(gt, lt), SWAPPED(ge, le),
    SIGNED(div, div), SIGNED(rem, rem),
    INTS(divu, div_u), INTS(remu, rem_u), INTS(minu, min_u), INTS(maxu, max_u), INTS(ltu, lt_u), INTS(leu, le_u),
    INTS(and, and), INTS(or, or), INTS(xor, xor), INTS(not, not),
    {SCALAR_gtu, VM_OP_i32_lt_u, VM_OP_i64_lt_u, -1, -1, true},
    {SCALAR_geu, VM_OP_i32_le_u, VM_OP_i64_le_u, -1, -1, true},
    FLOATS(sqrt, sqrt), FLOATS(exp, exp), FLOATS(log, log), FLOATS(sin, sin), FLOATS(cos, cos), FLOATS(tanh, tanh),
    FLOATS(erf, erf), FLOATS(floor, floor), FLOATS(ceil, ceil), FLOATS(roundeven, round_even), FLOATS(pow, pow),
    FLOATS(atan2, atan2), FLOATS(fma, fma),
};
// clang-format on

static const row_t* find_row(int fn) {
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    if (rows[i].fn == fn) return &rows[i];
  }
  return NULL;
}

static int instruction(const row_t* row, vm_type_t type) {
  return type == VM_TYPE_I32 ? row->i32 : type == VM_TYPE_I64 ? row->i64 : type == VM_TYPE_F32 ? row->f32 : row->f64;
}

// Conversions by instruction from one register type to another; NOTHING: the same register serves.
enum { NOTHING = -2 };
static int conversion(const ir_type_t* from, const ir_type_t* to, bool is_unsigned) {
  static const int table[4][4][2] = {[VM_TYPE_I32] = {[VM_TYPE_I32] = {NOTHING, NOTHING},
                                                      [VM_TYPE_I64] = {VM_OP_ext_i32_i64_s, VM_OP_ext_i32_i64_u},
                                                      [VM_TYPE_F32] = {VM_OP_cast_s32_f32, VM_OP_cast_u32_f32},
                                                      [VM_TYPE_F64] = {VM_OP_cast_s32_f64, VM_OP_cast_u32_f64}},
                                     [VM_TYPE_I64] = {[VM_TYPE_I32] = {VM_OP_trunc_i64_i32, VM_OP_trunc_i64_i32},
                                                      [VM_TYPE_I64] = {NOTHING, NOTHING},
                                                      [VM_TYPE_F32] = {VM_OP_cast_s64_f32, VM_OP_cast_u64_f32},
                                                      [VM_TYPE_F64] = {VM_OP_cast_s64_f64, VM_OP_cast_u64_f64}},
                                     [VM_TYPE_F32] = {[VM_TYPE_I32] = {VM_OP_cast_f32_s32, VM_OP_cast_f32_u32},
                                                      [VM_TYPE_I64] = {VM_OP_cast_f32_s64, VM_OP_cast_f32_u64},
                                                      [VM_TYPE_F32] = {NOTHING, NOTHING},
                                                      [VM_TYPE_F64] = {VM_OP_ext_f32_f64, VM_OP_ext_f32_f64}},
                                     [VM_TYPE_F64] = {[VM_TYPE_I32] = {VM_OP_cast_f64_s32, VM_OP_cast_f64_u32},
                                                      [VM_TYPE_I64] = {VM_OP_cast_f64_s64, VM_OP_cast_f64_u64},
                                                      [VM_TYPE_F32] = {VM_OP_trunc_f64_f32, VM_OP_trunc_f64_f32},
                                                      [VM_TYPE_F64] = {NOTHING, NOTHING}}};
  vm_type_t x, y;
  if (!host_scalar_type(from, &x) || !host_scalar_type(to, &y)) return -1;
  return table[x][y][is_unsigned];
}

// i8 and i16 wrap around; only whole registers and truth values are computed here.
static bool is_whole(const ir_type_t* type) { return type->kind != IR_TYPE_INTEGER || type->width >= 32; }
static bool is_bool(const ir_type_t* type) { return type->kind == IR_TYPE_INTEGER && type->width == 1; }

static bool has_instruction(const ir_op_t* op) {
  int fn = graph_scalar_fn(op);
  const ir_type_t *from = ir_operand(op, 0)->type, *to = op->results[0].type;
  vm_type_t type;
  if (!host_scalar_type(from, &type) || !host_scalar_type(to, &type)) return false;
  if (fn == SCALAR_select) return true;
  if (from->kind == IR_TYPE_OPAQUE || to->kind == IR_TYPE_OPAQUE) return false;
  if (fn == SCALAR_cast || fn == SCALAR_castu) {
    bool narrow = !is_whole(from) && fn == SCALAR_castu && !is_bool(from);
    return !narrow && (is_whole(to) || (is_bool(to) && !is_whole(from))) && conversion(from, to, false) != -1;
  }
  if (is_bool(from))
    return fn == SCALAR_and || fn == SCALAR_or || fn == SCALAR_xor || fn == SCALAR_eq || fn == SCALAR_ne;
  const row_t* row = find_row(fn);
  host_scalar_type(from, &type);
  return row && is_whole(from) && instruction(row, type) >= 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Registers
//===----------------------------------------------------------------------------------------------------------------===

static module_reg_t constant_reg(host_t* h, const ir_value_t* value) {
  const ir_attr_t* attr = graph_get_value(value->def);
  double number = attr->kind == IR_ATTR_FLOAT ? attr->number : (double)attr->integer;
  vm_type_t type = VM_TYPE_I64;
  host_scalar_type(value->type, &type);
  if (type == VM_TYPE_I64) return module_function_i64(h->f, attr->integer);
  if (type == VM_TYPE_I32) {
    int64_t integer = is_bool(value->type) ? attr->integer & 1 : attr->integer;
    return module_function_i32(h->f, (int32_t)integer);
  }
  if (type == VM_TYPE_F32) return module_emit_value(h->f, const_f32, MODULE_FLOAT(number));
  return module_emit_value(h->f, const_f64, MODULE_FLOAT(number));
}

module_reg_t host_scalar_reg(host_t* h, ir_value_t* value) {
  if (value->def && ir_is(value->def, GRAPH_CONSTANT)) return constant_reg(h, value);
  const storage_t* s = value->data;
  return s->reg;
}

void host_scalar_set(ir_value_t* value, module_reg_t reg) {
  storage_t* s = value->data;
  s->reg = reg;
  s->has_reg = true;
}

module_reg_t host_scalar_new(host_t* h, const ir_type_t* type) {
  vm_type_t vm = VM_TYPE_I64;
  host_scalar_type(type, &vm);
  return module_function_register(h->f, vm);
}

void host_scalar_move(host_t* h, module_reg_t target, module_reg_t source, const ir_type_t* type) {
  module_operand_t operands[] = {MODULE_REG(target), MODULE_REG(source)};
  module_function_emit(h->f, type->kind == IR_TYPE_OPAQUE ? VM_OP_mov_ref : VM_OP_mov, operands, 2);
}

// i1 from an unsigned view of an i32 register that holds 0 or 1, sign-extended i8 and i16 as they are.
static module_reg_t convert(host_t* h, ir_op_t* op) {
  int code = conversion(ir_operand(op, 0)->type, op->results[0].type, graph_scalar_fn(op) == SCALAR_castu);
  module_reg_t from = host_scalar_reg(h, ir_operand(op, 0));
  if (is_bool(ir_operand(op, 0)->type) && graph_scalar_fn(op) == SCALAR_cast &&
      op->results[0].type->kind != IR_TYPE_FLOAT && !is_bool(op->results[0].type)) {
    from = module_emit_value(h->f, i32_neg, MODULE_REG(from));  // signed: -1
  }
  return code == NOTHING ? from
                         : module_function_emit_value(h->f, (vm_op_t)code, (module_operand_t[]){MODULE_REG(from)}, 1);
}

bool host_scalar_emit(host_t* h, ir_op_t* op) {
  int fn = graph_scalar_fn(op);
  if (fn < 0 || !has_instruction(op)) return false;
  if (fn == SCALAR_cast || fn == SCALAR_castu) {
    host_scalar_set(ir_result(op, 0), convert(h, op));
    return true;
  }
  module_operand_t operands[3];
  for (uint32_t i = 0; i < op->operand_count; ++i) operands[i] = MODULE_REG(host_scalar_reg(h, ir_operand(op, i)));
  if (fn == SCALAR_select) {
    module_reg_t result = host_scalar_new(h, op->results[0].type);
    bool refs = op->results[0].type->kind == IR_TYPE_OPAQUE;
    module_operand_t all[] = {MODULE_REG(result), operands[0], operands[1], operands[2]};
    module_function_emit(h->f, refs ? VM_OP_select_ref : VM_OP_select, all, 4);
    host_scalar_set(ir_result(op, 0), result);
    return true;
  }
  const row_t* row = find_row(fn);
  vm_type_t type = VM_TYPE_I32;
  host_scalar_type(ir_operand(op, 0)->type, &type);
  if (row->swapped) {
    module_operand_t first = operands[0];
    operands[0] = operands[1];
    operands[1] = first;
  }
  vm_op_t code = (vm_op_t)instruction(row, type);
  host_scalar_set(ir_result(op, 0), module_function_emit_value(h->f, code, operands, op->operand_count));
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Where numbers come and go
//===----------------------------------------------------------------------------------------------------------------===

static bool is_narrow(const host_t* h, const ir_type_t* type) {
  return type->kind == IR_TYPE_INDEX && h->options.narrow_index;
}

bool host_outer_type(const host_t* h, const ir_type_t* type, vm_type_t* out) {
  return is_narrow(h, type) ? (*out = VM_TYPE_I32, true) : host_scalar_type(type, out);
}

bool host_scalar_fits(host_t* h, const ir_op_t* op, const ir_type_t* type, int64_t value) {
  if (!is_narrow(h, type) || value == (int32_t)value) return true;
  h->failed = true;
  return ir_op_error(h->ctx, op, "has %lld as an index, which --iree-vm-target-index-bits=32 has no room for",
                     (long long)value);
}

module_reg_t host_scalar_enter(host_t* h, const ir_type_t* type, module_reg_t outer) {
  return is_narrow(h, type) ? module_emit_value(h->f, ext_i32_i64_s, MODULE_REG(outer)) : outer;
}

module_reg_t host_scalar_leave(host_t* h, const ir_op_t* op, ir_value_t* value) {
  if (!is_narrow(h, value->type)) return host_scalar_reg(h, value);
  if (value->def && ir_is(value->def, GRAPH_CONSTANT)) {
    int64_t number = graph_get_value(value->def)->integer;
    return module_function_i32(h->f, host_scalar_fits(h, op, value->type, number) ? (int32_t)number : 0);
  }
  module_reg_t number = host_scalar_reg(h, value);
  module_reg_t outer = module_emit_value(h->f, trunc_i64_i32, MODULE_REG(number));
  module_reg_t back = module_emit_value(h->f, ext_i32_i64_s, MODULE_REG(outer));
  module_reg_t wrong = module_emit_value(h->f, i64_ne, MODULE_REG(back), MODULE_REG(number));
  uint32_t text = module_writer_string(h->writer, IREE_SV("an index is {0}, which 32 bits have no room for"));
  module_emit(h->f, fail_numbers, MODULE_REG(wrong), MODULE_IMM(IREE_STATUS_OUT_OF_RANGE), MODULE_INDEX(text),
              MODULE_LIST(1, &number));
  return outer;
}

//===----------------------------------------------------------------------------------------------------------------===
// Before dispatches are formed
//===----------------------------------------------------------------------------------------------------------------===

//   %r = graph.asin %x : f32   =>   %t = graph.to_tensor %x; %u = graph.asin %t : tensor<f32>; %r = graph.to_scalar %u
static void compute_as_tensor(ir_context_t* ctx, ir_op_t* op) {
  ir_builder_t b = ir_builder_before(ctx, op);
  ir_value_t* operands[3];
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const ir_type_t* type = ir_type_tensor(ctx, ir_operand(op, i)->type, 0, NULL);
    operands[i] = graph_build(&b, GRAPH_TO_TENSOR, &op->operands[i].value, 1, type, NULL, 0);
  }
  const ir_type_t* type = ir_type_tensor(ctx, op->results[0].type, 0, NULL);
  ir_value_t* result = ir_build_value(&b, op->info->code, operands, op->operand_count, type);
  result = graph_build(&b, GRAPH_TO_SCALAR, &result, 1, op->results[0].type, NULL, 0);
  ir_value_replace(ir_result(op, 0), result);
  ir_op_erase(op);
}

// Conditions that are numbers of the host need no tensor.
static void use_scalar_condition(ir_op_t* op) {
  bool decides = ir_is(op, GRAPH_IF);
  const ir_op_t* parent = ir_op_parent(op);
  if (ir_is(op, GRAPH_YIELD) && parent && ir_is(parent, GRAPH_WHILE)) decides = op->parent == parent->regions[0].first;
  if (!decides) return;
  ir_value_t* condition = ir_operand(op, 0);
  if (!condition->def || !ir_is(condition->def, GRAPH_TO_TENSOR)) return;
  ir_op_set_operand(op, 0, ir_operand(condition->def, 0));
}

static void prepare_block(ir_context_t* ctx, ir_block_t* block) {
  IR_FOR_OPS_SAFE(op, block) {
    use_scalar_condition(op);
    for (uint32_t r = 0; r < op->region_count; ++r) {
      if (ir_is(op, GRAPH_IF) || ir_is(op, GRAPH_WHILE)) prepare_block(ctx, op->regions[r].first);
    }
    bool is_number = graph_scalar_fn(op) >= 0 && !ir_type_is_tensor(op->results[0].type);
    if (is_number && !has_instruction(op)) compute_as_tensor(ctx, op);
  }
}

void host_scalar_prepare(ir_context_t* ctx, ir_op_t* module) {
  IR_FOR_OPS(func, ir_module_body(module)) {
    if (strcmp(func->name, "func.func") == 0 && func->regions[0].first) prepare_block(ctx, func->regions[0].first);
  }
}
