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

char vm_letter_of(ir_context_t* ctx, const ir_type_t* type) {
  if (type->kind == IR_TYPE_OPAQUE) return 'r';
  if (type == ir_type_int(ctx, 32)) return 'i';
  if (type == ir_type_int(ctx, 64)) return 'I';
  if (type->kind != IR_TYPE_FLOAT) return 0;
  return type->float_kind == IR_F32 ? 'f' : type->float_kind == IR_F64 ? 'F' : 0;
}

bool vm_check_type(emit_t* e, const ir_op_t* op, const ir_type_t* type) {
  return vm_letter_of(e->ctx, type) != 0 ||
         ir_op_error(e->ctx, op, "has a value of type %s; the VM has i32, i64, f32, f64 and references",
                     ir_type_str(e->ctx, type));
}

module_reg_t vm_new_reg(emit_t* e, const ir_type_t* type) {
  return module_function_register(e->f, vm_type_of_letter(vm_letter_of(e->ctx, type)));
}

static module_reg_t in(const ir_op_t* op, uint32_t i) { return reg_of(ir_operand(op, i)); }

static bool is_ref(const ir_value_t* value) { return value->type->kind == IR_TYPE_OPAQUE; }

static void move(emit_t* e, module_reg_t to, module_reg_t from) {
  vm_op_t op = to & VM_REGISTER_REF ? VM_OP_mov_ref : VM_OP_mov;
  module_function_emit(e->f, op, (const module_operand_t[]){MODULE_REG(to), MODULE_REG(from)}, 2);
}

static module_reg_t emit_one(emit_t* e, vm_op_t op, uint32_t count, const module_reg_t* regs) {
  module_operand_t operands[3];
  for (uint32_t i = 0; i < count; ++i) operands[i] = MODULE_REG(regs[i]);
  return module_function_emit_value(e->f, op, operands, count);
}

static module_reg_t inverse(emit_t* e, module_reg_t reg) {
  return emit_one(e, VM_OP_i32_eq, 2, (module_reg_t[]){reg, module_function_i32(e->f, 0)});
}

// Generic forms may have what the assembly does not: operands begin with those (letters of signatures; '.': any), and
// the result, if any is asked for, is of that kind.
static bool check_kinds(emit_t* e, const ir_op_t* op, const char* operands, char result) {
  uint32_t count = (uint32_t)strlen(operands);
  bool fits = op->operand_count >= count && (!result || op->result_count == 1);
  if (fits && result) fits = vm_letter_of(e->ctx, op->results[0].type) == result;
  for (uint32_t i = 0; fits && i < count; ++i) {
    fits = operands[i] == '.' || vm_letter_of(e->ctx, ir_operand(op, i)->type) == operands[i];
  }
  return fits || ir_op_error(e->ctx, op, "has not the operands or the result that it takes and gives");
}

// So many successors, and operands in front of theirs.
static bool check_branch(emit_t* e, const ir_op_t* op, uint32_t least, uint32_t most, uint32_t leading) {
  uint32_t handed = 0;
  for (uint32_t i = 0; i < op->successor_count; ++i) handed += op->successor_operand_counts[i];
  bool fits = op->successor_count >= least && op->successor_count <= most && op->operand_count == handed + leading;
  return (fits || ir_op_error(e->ctx, op, "has not the successors and operands that it takes")) &&
         check_kinds(e, op, leading ? "i" : "", 0);
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

static uint32_t message_of(emit_t* e, const ir_op_t* op) {
  return module_writer_string(e->writer, view(ir_op_string(op, "message", "")));
}

//===----------------------------------------------------------------------------------------------------------------===
// Values
//===----------------------------------------------------------------------------------------------------------------===

static bool to_const(emit_t* e, ir_op_t* op) {
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

static bool to_null(emit_t* e, ir_op_t* op) {
  if (!check_kinds(e, op, "", 'r')) return false;
  set_reg(ir_result(op, 0), module_function_null(e->f));
  return true;
}

static bool to_nothing(emit_t* e, ir_op_t* op) { return true; }

static bool to_moves(emit_t* e, ir_op_t* op) {
  if (op->operand_count != op->result_count) return ir_op_error(e->ctx, op, "needs a result for each operand");
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (vm_letter_of(e->ctx, ir_operand(op, i)->type) != vm_letter_of(e->ctx, op->results[i].type)) {
      return ir_op_error(e->ctx, op, "needs results of its operands' kinds");
    }
    set_reg(ir_result(op, i), vm_new_reg(e, op->results[i].type));
    move(e, reg_of(ir_result(op, i)), in(op, i));
  }
  return true;
}

static vm_op_t wide(const ir_op_t* op, vm_op_t narrow, vm_op_t of_i64) {
  return ir_operand(op, 0)->type->kind == IR_TYPE_INTEGER && ir_operand(op, 0)->type->width == 64 ? of_i64 : narrow;
}

static bool to_fma(emit_t* e, ir_op_t* op) {
  if (!check_kinds(e, op, is_whole(e, ir_operand(op, 0)) ? "..." : "iii", 0)) return false;
  module_reg_t product = emit_one(e, wide(op, VM_OP_i32_mul, VM_OP_i64_mul), 2, (module_reg_t[]){in(op, 0), in(op, 1)});
  module_reg_t sum = emit_one(e, wide(op, VM_OP_i32_add, VM_OP_i64_add), 2, (module_reg_t[]){product, in(op, 2)});
  set_reg(ir_result(op, 0), sum);
  return true;
}

// i64's is a number of 32 bits in our VM.
static bool to_ctlz(emit_t* e, ir_op_t* op) {
  if (!check_kinds(e, op, is_whole(e, ir_operand(op, 0)) ? "." : "i", 0)) return false;
  module_reg_t count = emit_one(e, wide(op, VM_OP_i32_clz, VM_OP_i64_clz), 1, (module_reg_t[]){in(op, 0)});
  bool widens = op->results[0].type == ir_type_int(e->ctx, 64);
  set_reg(ir_result(op, 0), widens ? emit_one(e, VM_OP_ext_i32_i64_u, 1, &count) : count);
  return true;
}

// 1 where a value is not 0, or not null.
static module_reg_t truth(emit_t* e, const ir_value_t* value) {
  module_reg_t reg = reg_of(value), zero = vm_new_reg(e, value->type);
  if (is_ref(value)) return inverse(e, emit_one(e, VM_OP_is_null, 1, &reg));
  char letter = vm_letter_of(e->ctx, value->type);
  vm_op_t op = letter == 'i'   ? VM_OP_i32_ne
               : letter == 'I' ? VM_OP_i64_ne
               : letter == 'f' ? VM_OP_f32_ne
                               : VM_OP_f64_ne;
  return emit_one(e, op, 2, (module_reg_t[]){reg, zero});
}

static bool to_truth(emit_t* e, ir_op_t* op) {
  if (!check_kinds(e, op, ".", 'i')) return false;
  set_reg(ir_result(op, 0), truth(e, ir_operand(op, 0)));
  return true;
}

static bool to_nan(emit_t* e, ir_op_t* op) {
  bool narrow = vm_letter_of(e->ctx, ir_operand(op, 0)->type) == 'f';
  if (!check_kinds(e, op, narrow ? "f" : "F", 'i')) return false;
  module_reg_t pair[] = {in(op, 0), in(op, 0)};
  set_reg(ir_result(op, 0), emit_one(e, narrow ? VM_OP_f32_ne : VM_OP_f64_ne, 2, pair));
  return true;
}

static bool to_equal_or_nan(emit_t* e, ir_op_t* op) {
  bool narrow = vm_letter_of(e->ctx, ir_operand(op, 0)->type) == 'f';
  if (!check_kinds(e, op, narrow ? "ff" : "FF", 'i')) return false;
  vm_op_t less = narrow ? VM_OP_f32_lt : VM_OP_f64_lt;
  module_reg_t a = emit_one(e, less, 2, (module_reg_t[]){in(op, 0), in(op, 1)});
  module_reg_t b = emit_one(e, less, 2, (module_reg_t[]){in(op, 1), in(op, 0)});
  set_reg(ir_result(op, 0), inverse(e, emit_one(e, VM_OP_i32_or, 2, (module_reg_t[]){a, b})));
  return true;
}

// Numbers below 32 bits are i32: what is left of one, and what becomes of it where it has no sign, are its low bits.
static module_reg_t low_bits(emit_t* e, const ir_op_t* op, bool is_half) {
  module_reg_t reg = in(op, 0), mask = module_function_i32(e->f, is_half ? 0xffff : 0xff);
  if (vm_letter_of(e->ctx, ir_operand(op, 0)->type) == 'I') reg = emit_one(e, VM_OP_trunc_i64_i32, 1, &reg);
  return emit_one(e, VM_OP_i32_and, 2, (module_reg_t[]){reg, mask});
}

// vm.trunc.FROM.TO, and vm.ext.FROM.i32.u
static bool to_narrow(emit_t* e, ir_op_t* op) {
  if (!check_kinds(e, op, is_whole(e, ir_operand(op, 0)) ? "." : "i", 'i')) return false;
  bool extends = strncmp(op->name, "vm.ext.", 7) == 0;
  bool is_half = extends ? strncmp(op->name + 7, "i16", 3) == 0 : strcmp(op->name + strlen(op->name) - 3, "i16") == 0;
  set_reg(ir_result(op, 0), low_bits(e, op, is_half));
  return true;
}

// vm.ext.FROM.i64.s and u
static bool to_widen(emit_t* e, ir_op_t* op) {
  if (!check_kinds(e, op, "i", 'I')) return false;
  bool is_half = strncmp(op->name + 7, "i16", 3) == 0, is_signed = op->name[strlen(op->name) - 1] == 's';
  module_reg_t reg = in(op, 0);
  if (is_signed) reg = emit_one(e, is_half ? VM_OP_ext_i16_i32 : VM_OP_ext_i8_i32, 1, &reg);
  if (!is_signed) reg = low_bits(e, op, is_half);
  set_reg(ir_result(op, 0), emit_one(e, is_signed ? VM_OP_ext_i32_i64_s : VM_OP_ext_i32_i64_u, 1, &reg));
  return true;
}

static bool to_discard(emit_t* e, ir_op_t* op) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (!is_ref(ir_operand(op, i))) return ir_op_error(e->ctx, op, "takes references");
    module_emit(e->f, clear_ref, MODULE_REG(in(op, i)));
  }
  return true;
}

// One after the other from the last case on.
static bool to_switch(emit_t* e, ir_op_t* op) {
  char letter = vm_letter_of(e->ctx, op->results[0].type);
  bool fits = op->operand_count >= 2;
  for (uint32_t i = 1; i < op->operand_count; ++i) fits &= vm_letter_of(e->ctx, ir_operand(op, i)->type) == letter;
  if (!check_kinds(e, op, fits ? "i." : "i?", letter)) return false;
  ir_value_t* result = ir_result(op, 0);
  module_reg_t chosen = in(op, 1);
  for (uint32_t i = op->operand_count; i-- > 2;) {
    module_reg_t here =
        emit_one(e, VM_OP_i32_eq, 2, (module_reg_t[]){in(op, 0), module_function_i32(e->f, (int32_t)i - 2)});
    chosen =
        emit_one(e, is_ref(result) ? VM_OP_select_ref : VM_OP_select, 3, (module_reg_t[]){here, in(op, i), chosen});
  }
  set_reg(result, vm_new_reg(e, result->type));
  move(e, reg_of(result), chosen);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Globals and buffers
//===----------------------------------------------------------------------------------------------------------------===

// Whether it is a global of the op's kind, whose index it gives.
static bool find_global(emit_t* e, const ir_op_t* op, const ir_type_t* type, uint32_t* index) {
  const ir_attr_t* symbol = ir_op_attr(op, "global");
  ir_op_t* global = symbol && symbol->kind == IR_ATTR_SYMBOL ? ir_symbol_find(e->ctx, e->module, symbol->text) : NULL;
  const ir_attr_t* own = global && strncmp(global->name, "vm.global.", 10) == 0 ? ir_op_attr(global, "type") : NULL;
  if (!own || !global->data) return ir_op_error(e->ctx, op, "names no global of the module");
  if (vm_letter_of(e->ctx, own->type) != vm_letter_of(e->ctx, type)) {
    return ir_op_error(e->ctx, op, "names a global of type %s", ir_type_str(e->ctx, own->type));
  }
  *index = index_of(global);
  return true;
}

static bool to_global_load(emit_t* e, ir_op_t* op) {
  ir_value_t* result = ir_result(op, 0);
  uint32_t index;
  if (!find_global(e, op, result->type, &index)) return false;
  set_reg(result, vm_new_reg(e, result->type));
  const module_operand_t operands[] = {MODULE_REG(reg_of(result)), MODULE_INDEX(index)};
  module_function_emit(e->f, is_ref(result) ? VM_OP_global_load_ref : VM_OP_global_load, operands, 2);
  return true;
}

static bool to_global_store(emit_t* e, ir_op_t* op) {
  const ir_value_t* value = ir_operand(op, 0);
  uint32_t index;
  if (!find_global(e, op, value->type, &index)) return false;
  const module_operand_t operands[] = {MODULE_INDEX(index), MODULE_REG(reg_of(value))};
  module_function_emit(e->f, is_ref(value) ? VM_OP_global_store_ref : VM_OP_global_store, operands, 2);
  return true;
}

bool vm_add_segment(emit_t* e, const ir_op_t* op, uint32_t* out_index) {
  const ir_attr_t* value = ir_op_attr(op, "value");
  arena_t* arena = ir_context_arena(e->ctx);
  if (!value || (value->kind != IR_ATTR_ELEMENTS && value->kind != IR_ATTR_STRING)) {
    return ir_op_error(e->ctx, op, "needs elements or text");
  }
  bool text = value->kind == IR_ATTR_STRING;
  int64_t count = text ? 1 : ir_type_count(value->type);
  size_t size = text ? value->size : (size_t)count * ir_type_bytes(value->type->element);
  const void* data = text ? (const void*)value->text : ir_attr_data(value);
  if (!text && value->splat) {
    size_t one = ir_type_bytes(value->type->element);
    char* bytes = arena_alloc(arena, size + 1);
    for (int64_t i = 0; i < count; ++i) memcpy(bytes + (size_t)i * one, data, one);
    data = bytes;
  }
  module_segment_t segment = {.entry = view(arena_printf(arena, "constants/rodata_%u.bin", e->constants++)),
                              .data = iree_make_const_byte_span(data, size),
                              .alignment = 64};
  *out_index = module_writer_segment(e->writer, &segment);
  return true;
}

static bool to_rodata(emit_t* e, ir_op_t* op) {
  uint32_t segment;
  bool is_inline = ir_is(op, VM_RODATA_INLINE);
  if (!check_kinds(e, op, "", 'r') || (is_inline && !vm_add_segment(e, op, &segment))) return false;
  const ir_op_t* part = is_inline ? NULL : vm_find(e, op, "rodata", VM_RODATA, VM_RODATA);
  if (!is_inline && !part) return false;
  module_operand_t source = MODULE_INDEX(is_inline ? segment : index_of(part));
  vm_op_t code = is_inline ? VM_OP_buffer_const : VM_OP_global_load_ref;
  set_reg(ir_result(op, 0), module_function_emit_value(e->f, code, &source, 1));
  return true;
}

static bool to_buffer_alloc(emit_t* e, ir_op_t* op) {
  if (!check_kinds(e, op, "I", 'r')) return false;
  set_reg(ir_result(op, 0), emit_one(e, VM_OP_buffer_alloc, 1, (module_reg_t[]){in(op, 0)}));
  return true;
}

static bool to_buffer_clone(emit_t* e, ir_op_t* op) {
  if (!check_kinds(e, op, "rII", 'r')) return false;
  module_reg_t length = in(op, 2), copy = emit_one(e, VM_OP_buffer_alloc, 1, &length);
  module_emit(e->f, buffer_copy, MODULE_REG(in(op, 0)), MODULE_REG(in(op, 1)), MODULE_REG(copy),
              MODULE_REG(module_function_i64(e->f, 0)), MODULE_REG(length));
  set_reg(ir_result(op, 0), copy);
  return true;
}

static bool to_fill(emit_t* e, ir_op_t* op) {
  const char* type = op->name + strlen("vm.buffer.fill.");
  char letter = type[0] == 'f' ? (type[1] == '3' ? 'f' : 'F') : strcmp(type, "i64") ? 'i' : 'I';
  if (!check_kinds(e, op, (const char[]){'r', 'I', 'I', letter, 0}, 0)) return false;
  module_reg_t value = in(op, 3);
  if (letter == 'f') value = emit_one(e, VM_OP_bits_f32_i32, 1, &value);
  if (letter == 'F') value = emit_one(e, VM_OP_bits_f64_i64, 1, &value);
  bool whole = letter == 'I' || letter == 'F';
  uint32_t size = ir_is(op, VM_BUFFER_FILL_I8) ? 1 : ir_is(op, VM_BUFFER_FILL_I16) ? 2 : 4;
  const module_operand_t operands[] = {MODULE_REG(in(op, 0)), MODULE_REG(in(op, 1)), MODULE_REG(in(op, 2)),
                                       MODULE_REG(value), MODULE_IMM(size)};
  module_function_emit(e->f, whole ? VM_OP_buffer_fill_i64 : VM_OP_buffer_fill_i32, operands, whole ? 4 : 5);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Control
//===----------------------------------------------------------------------------------------------------------------===

// All operands are read before the first argument of the block is written.
static void move_arguments(emit_t* e, const ir_op_t* op, uint32_t successor) {
  const ir_block_t* block = op->successors[successor];
  uint32_t first = op->operand_count;
  for (uint32_t i = op->successor_count; i-- > successor;) first -= op->successor_operand_counts[i];
  module_reg_t* kept = ARENA_ARRAY(ir_context_arena(e->ctx), module_reg_t, block->arg_count + 1);
  for (uint32_t i = 0; i < block->arg_count; ++i) {
    kept[i] = block->arg_count > 1 ? vm_new_reg(e, block->args[i]->type) : in(op, first + i);
    if (block->arg_count > 1) move(e, kept[i], in(op, first + i));
  }
  for (uint32_t i = 0; i < block->arg_count; ++i) move(e, reg_of(block->args[i]), kept[i]);
}

static void jump(emit_t* e, const ir_op_t* op, uint32_t successor) {
  move_arguments(e, op, successor);
  module_emit(e->f, br, MODULE_LABEL(label_of(op->successors[successor])));
}

static bool to_branch(emit_t* e, ir_op_t* op) {
  if (!check_branch(e, op, 1, 1, ir_is(op, VM_COND_BREAK))) return false;
  jump(e, op, 0);
  return true;
}

// Edges are pieces of code of their own, where arguments are moved.
static bool to_cond_br(emit_t* e, ir_op_t* op) {
  if (!check_branch(e, op, 2, 2, 1)) return false;
  module_label_t edges[2] = {module_function_label(e->f), module_function_label(e->f)};
  module_emit(e->f, br_if, MODULE_REG(in(op, 0)), MODULE_LABEL(edges[0]), MODULE_LABEL(edges[1]));
  for (uint32_t i = 0; i < 2; ++i) {
    module_function_bind(e->f, edges[i]);
    jump(e, op, i);
  }
  return true;
}

static bool to_br_table(emit_t* e, ir_op_t* op) {
  if (!check_branch(e, op, 1, UINT32_MAX, 1)) return false;
  module_label_t* edges = ARENA_ARRAY(ir_context_arena(e->ctx), module_label_t, op->successor_count);
  for (uint32_t i = 0; i < op->successor_count; ++i) edges[i] = module_function_label(e->f);
  module_emit(e->f, switch, MODULE_REG(in(op, 0)), MODULE_LABEL(edges[0]),
              MODULE_LABELS(op->successor_count - 1, edges + 1));
  for (uint32_t i = 0; i < op->successor_count; ++i) {
    module_function_bind(e->f, edges[i]);
    jump(e, op, i);
  }
  return true;
}

static module_reg_t* list_of(emit_t* e, const ir_op_t* op) {
  module_reg_t* regs = ARENA_ARRAY(ir_context_arena(e->ctx), module_reg_t, op->operand_count + 1);
  for (uint32_t i = 0; i < op->operand_count; ++i) regs[i] = in(op, i);
  return regs;
}

static bool to_return(emit_t* e, ir_op_t* op) {
  bool fits = op->operand_count == e->type->result_count;
  for (uint32_t i = 0; fits && i < op->operand_count; ++i) {
    fits = vm_letter_of(e->ctx, e->type->results[i]) == vm_letter_of(e->ctx, ir_operand(op, i)->type);
  }
  if (!fits) return ir_op_error(e->ctx, op, "has not the results that its function has");
  module_emit(e->f, return, MODULE_LIST(op->operand_count, list_of(e, op)));
  return true;
}

// Fails with the status in a register, if it is none of success; those that are no status are unknown ones.
static void fail_by(emit_t* e, const ir_op_t* op, const module_reg_t* condition, const ir_value_t* status) {
  const ir_attr_t* known = ir_is(status->def, VM_CONST_I32) ? ir_op_attr(status->def, "value") : NULL;
  uint32_t message = message_of(e, op);
  for (int32_t code = 1; code <= IREE_STATUS_UNAUTHENTICATED; ++code) {
    if (known && known->integer != code) continue;
    module_reg_t fails =
        emit_one(e, VM_OP_i32_eq, 2, (module_reg_t[]){reg_of(status), module_function_i32(e->f, code)});
    if (condition) fails = emit_one(e, VM_OP_i32_and, 2, (module_reg_t[]){fails, *condition});
    module_emit(e->f, fail_if, MODULE_REG(fails), MODULE_IMM(code), MODULE_INDEX(message));
  }
}

static bool to_fail(emit_t* e, ir_op_t* op) {
  if (!check_kinds(e, op, "i", 0)) return false;
  fail_by(e, op, NULL, ir_operand(op, 0));
  module_emit(e->f, fail, MODULE_IMM(IREE_STATUS_UNKNOWN), MODULE_INDEX(message_of(e, op)));
  return true;
}

static bool to_cond_fail(emit_t* e, ir_op_t* op) {
  bool conditional = op->operand_count == 2;
  if (!check_kinds(e, op, conditional ? ".i" : "i", 0)) return false;
  module_reg_t condition = conditional ? truth(e, ir_operand(op, 0)) : 0;
  fail_by(e, op, conditional ? &condition : NULL, ir_operand(op, conditional));
  return true;
}

static bool to_check(emit_t* e, ir_op_t* op) {
  char letter = vm_letter_of(e->ctx, ir_operand(op, 0)->type);
  if (!ir_is(op, VM_CHECK_NZ) && !check_kinds(e, op, (const char[]){letter, letter, 0}, 0)) return false;
  vm_op_t equal = letter == 'r'   ? VM_OP_same_ref
                  : letter == 'i' ? VM_OP_i32_eq
                  : letter == 'I' ? VM_OP_i64_eq
                  : letter == 'f' ? VM_OP_f32_eq
                                  : VM_OP_f64_eq;
  module_reg_t holds = ir_is(op, VM_CHECK_NZ) ? truth(e, ir_operand(op, 0))
                                              : emit_one(e, equal, 2, (module_reg_t[]){in(op, 0), in(op, 1)});
  module_reg_t fails = ir_is(op, VM_CHECK_NE) ? holds : inverse(e, holds);
  module_emit(e->f, fail_if, MODULE_REG(fails), MODULE_IMM(IREE_STATUS_FAILED_PRECONDITION),
              MODULE_INDEX(message_of(e, op)));
  return true;
}

const ir_type_t* vm_type_of(const ir_op_t* func) {
  static const ir_type_t none = {.kind = IR_TYPE_FUNCTION};
  if (ir_is(func, VM_INITIALIZER)) return &none;
  const ir_attr_t* type = ir_op_attr(func, "function_type");
  return type && type->kind == IR_ATTR_TYPE && type->type->kind == IR_TYPE_FUNCTION ? type->type : NULL;
}

static bool to_call(emit_t* e, ir_op_t* op) {
  ir_op_t* callee = vm_find(e, op, "callee", VM_FUNC, VM_IMPORT);
  if (!callee) return false;
  const ir_type_t* type = vm_type_of(callee);
  bool fits = type->input_count == op->operand_count && type->result_count == op->result_count;
  for (uint32_t i = 0; fits && i < op->operand_count; ++i) {
    fits = vm_letter_of(e->ctx, type->inputs[i]) == vm_letter_of(e->ctx, ir_operand(op, i)->type);
  }
  for (uint32_t i = 0; fits && i < op->result_count; ++i) {
    fits = vm_letter_of(e->ctx, type->results[i]) == vm_letter_of(e->ctx, op->results[i].type);
  }
  if (!fits) return ir_op_error(e->ctx, op, "has not the arguments and results of what it calls");
  module_reg_t* results = ARENA_ARRAY(ir_context_arena(e->ctx), module_reg_t, op->result_count + 1);
  for (uint32_t i = 0; i < op->result_count; ++i) {
    results[i] = vm_new_reg(e, op->results[i].type);
    set_reg(ir_result(op, i), results[i]);
  }
  bool imported = ir_is(callee, VM_IMPORT);
  uint32_t index = imported ? index_of(callee) : module_function_index(callee->data);
  const module_operand_t operands[] = {MODULE_LIST(op->result_count, results), MODULE_INDEX(index),
                                       MODULE_LIST(op->operand_count, list_of(e, op))};
  module_function_emit(e->f, imported ? VM_OP_call_import : VM_OP_call, operands, 3);
  return true;
}

static bool to_import_resolved(emit_t* e, ir_op_t* op) {
  if (!check_kinds(e, op, "", 'i')) return false;
  ir_op_t* import = vm_find(e, op, "import", VM_IMPORT, VM_IMPORT);
  if (!import) return false;
  module_operand_t index = MODULE_INDEX(index_of(import));
  set_reg(ir_result(op, 0), module_function_emit_value(e->f, VM_OP_import_resolved, &index, 1));
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Ops
//===----------------------------------------------------------------------------------------------------------------===

static const how_t hows[] = {
#define DIRECT(name) {.op = VM_OP_##name}
#define SWAPPED(name) {.op = VM_OP_##name, .first = 1}
#define ROTATED(name) {.op = VM_OP_##name, .first = 1}
#define INVERSE(name) {.op = VM_OP_##name, .inverse = true}
#define INVERSE_SWAPPED(name) {.op = VM_OP_##name, .first = 1, .inverse = true}
#define ROUNDED(name) {.op = VM_OP_##name, .rounded = true}
#define TO(function) {.to = to_##function}
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
    operands[count++] = MODULE_REG(in(op, (i + how->first) % op->operand_count));
  }
  if (how->rounded) {
    module_reg_t whole = in(op, 0);
    bool narrow = vm_letter_of(e->ctx, ir_operand(op, 0)->type) == 'f';
    operands[1] = MODULE_REG(emit_one(e, narrow ? VM_OP_f32_round : VM_OP_f64_round, 1, &whole));
  }
  module_function_emit(e->f, how->op, operands, count);
  if (how->inverse) set_reg(ir_result(op, 0), inverse(e, reg_of(ir_result(op, 0))));
  return true;
}

bool vm_emit_op(emit_t* e, ir_op_t* op) {
  const ir_loc_t* loc = ir_loc_find_file(op->loc);
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (!vm_check_type(e, op, op->results[i].type)) return false;
  }
  if (loc) module_function_location(e->f, view(loc->name), loc->line, loc->column);
  if (ir_code(op) == UTIL_OPTIMIZATION_BARRIER) return to_moves(e, op);
  const how_t* how = ir_op_dialect(op) == IR_DIALECT_VM ? &hows[ir_code(op) % 1024] : NULL;
  if (!how || (!how->to && how->op == VM_OP_COUNT)) {
    return ir_op_error(e->ctx, op, "is no op of the VM that a function can have");
  }
  return how->to ? how->to(e, op) : emit_direct(e, op, how);
}
