// One op of a function of the VM's dialect after the other. Most are one instruction (dialects/vm.def says which),
// whose signature says what types its operands have.
#include <string.h>

#include "compiler/vm_state.h"
#include "dialects/util.h"
#include "dialects/vm.h"

// How an op is written: a column of vm.def.
typedef struct how_t {
  vm_op_t op;
  bool (*to)(emit_t* e, ir_op_t* op);
  uint32_t first;  // the op's operand that comes first
  bool inverse, rounded;
} how_t;

//===----------------------------------------------------------------------------------------------------------------===
// Types and registers
//===----------------------------------------------------------------------------------------------------------------===

// What vm.global.address gives: the global's index.
static bool is_address(const ir_type_t* type) {
  return type->kind == IR_TYPE_OPAQUE && (strcmp(type->name, "util.ptr") == 0 || strcmp(type->name, "vm.ptr") == 0);
}

char vm_letter_of(ir_context_t* ctx, const ir_type_t* type) {
  if (type->kind == IR_TYPE_OPAQUE && !is_address(type)) return 'r';
  if (is_address(type) || type == ir_type_int(ctx, 32)) return 'i';
  if (type == ir_type_int(ctx, 64)) return 'I';
  if (type->kind != IR_TYPE_FLOAT) return 0;
  return type->float_kind == IR_F32 ? 'f' : type->float_kind == IR_F64 ? 'F' : 0;
}

bool vm_check_type(emit_t* e, const ir_op_t* op, const ir_type_t* type) {
  return vm_letter_of(e->ctx, type) != 0 ||
         ir_op_error(e->ctx, op, "has a value of type %s; the VM has i32, i64, f32, f64 and references",
                     ir_type_str(e->ctx, type));
}

bool vm_is_ref(const ir_value_t* value) { return value->type->kind == IR_TYPE_OPAQUE && !is_address(value->type); }

module_reg_t vm_new_reg(emit_t* e, const ir_type_t* type) {
  return module_function_register(e->f, vm_type_of_letter(vm_letter_of(e->ctx, type)));
}

void vm_move(emit_t* e, module_reg_t to, module_reg_t from) {
  vm_op_t op = to & VM_REGISTER_REF ? VM_OP_mov_ref : VM_OP_mov;
  module_function_emit(e->f, op, (const module_operand_t[]){MODULE_REG(to), MODULE_REG(from)}, 2);
}

module_reg_t vm_emit_one(emit_t* e, vm_op_t op, uint32_t count, const module_reg_t* regs) {
  module_operand_t operands[3];
  for (uint32_t i = 0; i < count; ++i) operands[i] = MODULE_REG(regs[i]);
  return module_function_emit_value(e->f, op, operands, count);
}

module_reg_t vm_inverse(emit_t* e, module_reg_t reg) {
  return vm_emit_one(e, VM_OP_i32_eq, 2, (module_reg_t[]){reg, module_function_i32(e->f, 0)});
}

bool vm_check_kinds(emit_t* e, const ir_op_t* op, const char* operands, char result) {
  uint32_t count = (uint32_t)strlen(operands);
  bool fits = op->operand_count >= count && (!result || op->result_count == 1);
  if (fits && result) fits = vm_letter_of(e->ctx, op->results[0].type) == result;
  for (uint32_t i = 0; fits && i < count; ++i) {
    fits = operands[i] == '.' || vm_letter_of(e->ctx, ir_operand(op, i)->type) == operands[i];
  }
  return fits || ir_op_error(e->ctx, op, "has not the operands or the result that it takes and gives");
}

static bool is_whole(emit_t* e, const ir_value_t* value) {
  char letter = vm_letter_of(e->ctx, value->type);
  return letter == 'i' || letter == 'I';
}

ir_op_t* vm_find(emit_t* e, const ir_op_t* op, const char* attr, uint32_t code, uint32_t other) {
  const ir_attr_t* symbol = ir_op_attr(op, attr);
  const char* name = symbol && symbol->kind == IR_ATTR_SYMBOL ? symbol->text : "";
  ir_op_t* found = ir_symbol_find(e->ctx, e->module, name);
  if (ir_is(found, code) || ir_is(found, other)) return found;
  ir_op_error(e->ctx, op, "names '%s', which the module does not have", name);
  return NULL;
}

uint32_t vm_message_of(emit_t* e, const ir_op_t* op) {
  return module_writer_string(e->writer, view(ir_op_string(op, "message", "")));
}

//===----------------------------------------------------------------------------------------------------------------===
// Values
//===----------------------------------------------------------------------------------------------------------------===

bool vm_to_const(emit_t* e, ir_op_t* op) {
  const ir_attr_t* value = ir_op_attr(op, "value");
  ir_value_t* result = ir_result(op, 0);
  char letter = vm_letter_of(e->ctx, result->type);
  bool integer = letter == 'i' || letter == 'I';
  if (letter == 'r') return ir_op_error(e->ctx, op, "needs a result that is a number");
  if (value && value->kind != (integer ? IR_ATTR_INTEGER : IR_ATTR_FLOAT))
    return ir_op_error(e->ctx, op, "needs a number");
  vm_op_t code = letter == 'i'   ? VM_OP_const_i32
                 : letter == 'I' ? VM_OP_const_i64
                 : letter == 'f' ? VM_OP_const_f32
                                 : VM_OP_const_f64;
  module_operand_t number = integer ? MODULE_IMM(letter == 'i' && value ? (int32_t)value->integer
                                                 : value                ? value->integer
                                                                        : 0)
                                    : MODULE_FLOAT(value ? value->number : 0.0);
  set_reg(result, module_function_emit_value(e->f, code, &number, 1));
  return true;
}

bool vm_to_null(emit_t* e, ir_op_t* op) {
  if (!vm_check_kinds(e, op, "", 'r')) return false;
  set_reg(ir_result(op, 0), module_function_null(e->f));
  return true;
}

bool vm_to_nothing(emit_t* e, ir_op_t* op) { return true; }

bool vm_to_moves(emit_t* e, ir_op_t* op) {
  if (op->operand_count != op->result_count) return ir_op_error(e->ctx, op, "needs a result for each operand");
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (vm_letter_of(e->ctx, ir_operand(op, i)->type) != vm_letter_of(e->ctx, op->results[i].type)) {
      return ir_op_error(e->ctx, op, "needs results of its operands' kinds");
    }
    set_reg(ir_result(op, i), vm_new_reg(e, op->results[i].type));
    vm_move(e, reg_of(ir_result(op, i)), vm_in(op, i));
  }
  return true;
}

static vm_op_t wide(const ir_op_t* op, vm_op_t narrow, vm_op_t of_i64) {
  return ir_operand(op, 0)->type->kind == IR_TYPE_INTEGER && ir_operand(op, 0)->type->width == 64 ? of_i64 : narrow;
}

bool vm_to_fma(emit_t* e, ir_op_t* op) {
  if (!vm_check_kinds(e, op, is_whole(e, ir_operand(op, 0)) ? "..." : "iii", 0)) return false;
  module_reg_t product =
      vm_emit_one(e, wide(op, VM_OP_i32_mul, VM_OP_i64_mul), 2, (module_reg_t[]){vm_in(op, 0), vm_in(op, 1)});
  module_reg_t sum = vm_emit_one(e, wide(op, VM_OP_i32_add, VM_OP_i64_add), 2, (module_reg_t[]){product, vm_in(op, 2)});
  set_reg(ir_result(op, 0), sum);
  return true;
}

// i64's is a number of 32 bits in our VM.
bool vm_to_ctlz(emit_t* e, ir_op_t* op) {
  if (!vm_check_kinds(e, op, is_whole(e, ir_operand(op, 0)) ? "." : "i", 0)) return false;
  module_reg_t count = vm_emit_one(e, wide(op, VM_OP_i32_clz, VM_OP_i64_clz), 1, (module_reg_t[]){vm_in(op, 0)});
  bool widens = op->results[0].type == ir_type_int(e->ctx, 64);
  set_reg(ir_result(op, 0), widens ? vm_emit_one(e, VM_OP_ext_i32_i64_u, 1, &count) : count);
  return true;
}

module_reg_t vm_truth(emit_t* e, const ir_value_t* value) {
  module_reg_t reg = reg_of(value), zero = vm_new_reg(e, value->type);
  if (vm_is_ref(value)) return vm_inverse(e, vm_emit_one(e, VM_OP_is_null, 1, &reg));
  char letter = vm_letter_of(e->ctx, value->type);
  vm_op_t op = letter == 'i'   ? VM_OP_i32_ne
               : letter == 'I' ? VM_OP_i64_ne
               : letter == 'f' ? VM_OP_f32_ne
                               : VM_OP_f64_ne;
  return vm_emit_one(e, op, 2, (module_reg_t[]){reg, zero});
}

bool vm_to_truth(emit_t* e, ir_op_t* op) {
  if (!vm_check_kinds(e, op, ".", 'i')) return false;
  set_reg(ir_result(op, 0), vm_truth(e, ir_operand(op, 0)));
  return true;
}

bool vm_to_nan(emit_t* e, ir_op_t* op) {
  bool narrow = vm_letter_of(e->ctx, ir_operand(op, 0)->type) == 'f';
  if (!vm_check_kinds(e, op, narrow ? "f" : "F", 'i')) return false;
  module_reg_t pair[] = {vm_in(op, 0), vm_in(op, 0)};
  set_reg(ir_result(op, 0), vm_emit_one(e, narrow ? VM_OP_f32_ne : VM_OP_f64_ne, 2, pair));
  return true;
}

bool vm_to_equal_or_nan(emit_t* e, ir_op_t* op) {
  bool narrow = vm_letter_of(e->ctx, ir_operand(op, 0)->type) == 'f';
  if (!vm_check_kinds(e, op, narrow ? "ff" : "FF", 'i')) return false;
  vm_op_t less = narrow ? VM_OP_f32_lt : VM_OP_f64_lt;
  module_reg_t a = vm_emit_one(e, less, 2, (module_reg_t[]){vm_in(op, 0), vm_in(op, 1)});
  module_reg_t b = vm_emit_one(e, less, 2, (module_reg_t[]){vm_in(op, 1), vm_in(op, 0)});
  set_reg(ir_result(op, 0), vm_inverse(e, vm_emit_one(e, VM_OP_i32_or, 2, (module_reg_t[]){a, b})));
  return true;
}

// Numbers below 32 bits are i32: what is left of one, and what becomes of it where it has no sign, are its low bits.
static module_reg_t low_bits(emit_t* e, const ir_op_t* op, bool is_half) {
  module_reg_t reg = vm_in(op, 0), mask = module_function_i32(e->f, is_half ? 0xffff : 0xff);
  if (vm_letter_of(e->ctx, ir_operand(op, 0)->type) == 'I') reg = vm_emit_one(e, VM_OP_trunc_i64_i32, 1, &reg);
  return vm_emit_one(e, VM_OP_i32_and, 2, (module_reg_t[]){reg, mask});
}

// vm.trunc.FROM.TO, and vm.ext.FROM.i32.u
bool vm_to_narrow(emit_t* e, ir_op_t* op) {
  if (!vm_check_kinds(e, op, is_whole(e, ir_operand(op, 0)) ? "." : "i", 'i')) return false;
  bool extends = strncmp(op->name, "vm.ext.", 7) == 0;
  bool is_half = extends ? strncmp(op->name + 7, "i16", 3) == 0 : strcmp(op->name + strlen(op->name) - 3, "i16") == 0;
  set_reg(ir_result(op, 0), low_bits(e, op, is_half));
  return true;
}

// vm.ext.FROM.i64.s and u
bool vm_to_widen(emit_t* e, ir_op_t* op) {
  if (!vm_check_kinds(e, op, "i", 'I')) return false;
  bool is_half = strncmp(op->name + 7, "i16", 3) == 0, is_signed = op->name[strlen(op->name) - 1] == 's';
  module_reg_t reg = vm_in(op, 0);
  if (is_signed) reg = vm_emit_one(e, is_half ? VM_OP_ext_i16_i32 : VM_OP_ext_i8_i32, 1, &reg);
  if (!is_signed) reg = low_bits(e, op, is_half);
  set_reg(ir_result(op, 0), vm_emit_one(e, is_signed ? VM_OP_ext_i32_i64_s : VM_OP_ext_i32_i64_u, 1, &reg));
  return true;
}

bool vm_to_discard(emit_t* e, ir_op_t* op) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (!vm_is_ref(ir_operand(op, i))) return ir_op_error(e->ctx, op, "takes references");
    module_emit(e->f, clear_ref, MODULE_REG(vm_in(op, i)));
  }
  return true;
}

// One after the other from the last case on.
bool vm_to_switch(emit_t* e, ir_op_t* op) {
  char letter = vm_letter_of(e->ctx, op->results[0].type);
  bool fits = op->operand_count >= 2;
  for (uint32_t i = 1; i < op->operand_count; ++i) fits &= vm_letter_of(e->ctx, ir_operand(op, i)->type) == letter;
  if (!vm_check_kinds(e, op, fits ? "i." : "i?", letter)) return false;
  ir_value_t* result = ir_result(op, 0);
  module_reg_t chosen = vm_in(op, 1);
  for (uint32_t i = op->operand_count; i-- > 2;) {
    module_reg_t here =
        vm_emit_one(e, VM_OP_i32_eq, 2, (module_reg_t[]){vm_in(op, 0), module_function_i32(e->f, (int32_t)i - 2)});
    chosen = vm_emit_one(e, vm_is_ref(result) ? VM_OP_select_ref : VM_OP_select, 3,
                         (module_reg_t[]){here, vm_in(op, i), chosen});
  }
  set_reg(result, vm_new_reg(e, result->type));
  vm_move(e, reg_of(result), chosen);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Ops
//===----------------------------------------------------------------------------------------------------------------===

static const how_t hows[] = {
#define DIRECT(name) {.op = VM_OP_##name}
#define SWAPPED(name) {.op = VM_OP_##name, .first = 1}
#define INVERSE(name) {.op = VM_OP_##name, .inverse = true}
#define INVERSE_SWAPPED(name) {.op = VM_OP_##name, .first = 1, .inverse = true}
#define ROUNDED(name) {.op = VM_OP_##name, .rounded = true}
#define TO(function) {.to = vm_to_##function}
#define NOWHERE {.to = NULL, .op = VM_OP_COUNT}
#define OP(ENUM, name, operands, results, regions, traits, verify, assembly, ...) __VA_ARGS__,
#include "dialects/vm.def"
#undef OP
};

// Types as the instruction's signature has them: results, '=', operands.
static bool check_signature(emit_t* e, ir_op_t* op, const how_t* how) {
  const char* at = vm_op_info(how->op)->signature;
  const char* equals = strchr(at, '=');
  if (equals && !op->result_count) return ir_op_error(e->ctx, op, "needs a result");
  for (uint32_t i = 0; equals && at < equals; ++i, ++at) {
    char letter = vm_letter_of(e->ctx, op->results[i].type);
    if (*at != 'v' ? *at != letter : letter == 'r') {
      return ir_op_error(e->ctx, op, "has a result of another type: %s", ir_type_str(e->ctx, op->results[i].type));
    }
  }
  if (equals) at = equals + 1;
  char same = 0;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const ir_type_t* type = ir_operand(op, (i + how->first) % op->operand_count)->type;
    char letter = vm_letter_of(e->ctx, type), wanted = at[i];
    if (wanted == 'v' && letter != 'r') wanted = same ? same : (same = letter);
    if (wanted != letter) {
      return ir_op_error(e->ctx, op, "has an operand of another type: %s", ir_type_str(e->ctx, type));
    }
  }
  return true;
}

static bool emit_direct(emit_t* e, ir_op_t* op, const how_t* how) {
  enum { MOST = 8 };
  module_operand_t operands[MOST];
  uint32_t count = 0;
  if (!check_signature(e, op, how)) return false;
  for (uint32_t i = 0; i < op->result_count; ++i) {
    set_reg(ir_result(op, i), vm_new_reg(e, op->results[i].type));
    operands[count++] = MODULE_REG(reg_of(ir_result(op, i)));
  }
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    operands[count++] = MODULE_REG(vm_in(op, (i + how->first) % op->operand_count));
  }
  if (how->rounded) {
    module_reg_t whole = vm_in(op, 0);
    bool narrow = vm_letter_of(e->ctx, ir_operand(op, 0)->type) == 'f';
    operands[1] = MODULE_REG(vm_emit_one(e, narrow ? VM_OP_f32_round : VM_OP_f64_round, 1, &whole));
  }
  module_function_emit(e->f, how->op, operands, count);
  if (how->inverse) set_reg(ir_result(op, 0), vm_inverse(e, reg_of(ir_result(op, 0))));
  return true;
}

bool vm_emit_op(emit_t* e, ir_op_t* op) {
  const ir_loc_t* loc = ir_loc_find_file(op->loc);
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (!vm_check_type(e, op, op->results[i].type)) return false;
  }
  if (loc && e->locations) module_function_location(e->f, view(loc->name), loc->line, loc->column);
  if (ir_code(op) == UTIL_OPTIMIZATION_BARRIER) return vm_to_moves(e, op);
  const how_t* how = ir_op_dialect(op) == IR_DIALECT_VM ? &hows[ir_code(op) % 1024] : NULL;
  if (!how || (!how->to && how->op == VM_OP_COUNT)) {
    return ir_op_error(e->ctx, op, "is no op of the VM that a function can have");
  }
  return how->to ? how->to(e, op) : emit_direct(e, op, how);
}
