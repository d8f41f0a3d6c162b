// See vm_emit_op.c: ops on globals, constants and buffers.
#include <string.h>

#include "compiler/vm_state.h"
#include "dialects/vm.h"

// Whether it is a global of the type, or of any if there is none, whose index it gives.
static bool find_global(emit_t* e, const ir_op_t* op, const ir_type_t* type, uint32_t* index) {
  const ir_attr_t* symbol = ir_op_attr(op, "global");
  ir_op_t* global = symbol && symbol->kind == IR_ATTR_SYMBOL ? ir_symbol_find(e->ctx, e->module, symbol->text) : NULL;
  const ir_attr_t* own = global && strncmp(global->name, "vm.global.", 10) == 0 ? ir_op_attr(global, "type") : NULL;
  if (!own || !global->data) return ir_op_error(e->ctx, op, "names no global of the module");
  if (type && vm_letter_of(e->ctx, own->type) != vm_letter_of(e->ctx, type)) {
    return ir_op_error(e->ctx, op, "names a global of type %s", ir_type_str(e->ctx, own->type));
  }
  *index = index_of(global);
  return true;
}

bool vm_to_global_load(emit_t* e, ir_op_t* op) {
  ir_value_t* result = ir_result(op, 0);
  uint32_t index;
  if (!find_global(e, op, result->type, &index)) return false;
  set_reg(result, vm_new_reg(e, result->type));
  const module_operand_t operands[] = {MODULE_REG(reg_of(result)), MODULE_INDEX(index)};
  module_function_emit(e->f, vm_is_ref(result) ? VM_OP_global_load_ref : VM_OP_global_load, operands, 2);
  return true;
}

bool vm_to_global_store(emit_t* e, ir_op_t* op) {
  const ir_value_t* value = ir_operand(op, 0);
  uint32_t index;
  if (!find_global(e, op, value->type, &index)) return false;
  const module_operand_t operands[] = {MODULE_INDEX(index), MODULE_REG(reg_of(value))};
  module_function_emit(e->f, vm_is_ref(value) ? VM_OP_global_store_ref : VM_OP_global_store, operands, 2);
  return true;
}

bool vm_to_global_address(emit_t* e, ir_op_t* op) {
  uint32_t index;
  if (!vm_check_kinds(e, op, "", 'i') || !find_global(e, op, NULL, &index)) return false;
  set_reg(ir_result(op, 0), module_function_i32(e->f, (int32_t)index));
  return true;
}

// What is there is checked when it is done: an address may be of any global.
bool vm_to_global_load_at(emit_t* e, ir_op_t* op) {
  if (!vm_check_kinds(e, op, "i", 0)) return false;
  ir_value_t* result = ir_result(op, 0);
  set_reg(result, vm_new_reg(e, result->type));
  const module_operand_t operands[] = {MODULE_REG(reg_of(result)), MODULE_REG(vm_in(op, 0))};
  module_function_emit(e->f, vm_is_ref(result) ? VM_OP_global_load_ref_at : VM_OP_global_load_at, operands, 2);
  return true;
}

bool vm_to_global_store_at(emit_t* e, ir_op_t* op) {
  if (!vm_check_kinds(e, op, ".i", 0)) return false;
  const module_operand_t operands[] = {MODULE_REG(vm_in(op, 1)), MODULE_REG(vm_in(op, 0))};
  bool ref = vm_is_ref(ir_operand(op, 0));
  module_function_emit(e->f, ref ? VM_OP_global_store_ref_at : VM_OP_global_store_at, operands, 2);
  return true;
}

// The bytes of elements or text.
static bool bytes_of(emit_t* e, const ir_op_t* op, const ir_attr_t* value, iree_const_byte_span_t* out) {
  if (!value || (value->kind != IR_ATTR_ELEMENTS && value->kind != IR_ATTR_STRING)) {
    return ir_op_error(e->ctx, op, "needs elements or text");
  }
  bool text = value->kind == IR_ATTR_STRING;
  int64_t count = text ? 1 : ir_type_count(value->type);
  size_t size = text ? value->size : (size_t)count * ir_type_bytes(value->type->element);
  const void* data = text ? (const void*)value->text : ir_attr_data(value);
  if (!text && value->splat) {
    size_t one = ir_type_bytes(value->type->element);
    char* bytes = arena_alloc(ir_context_arena(e->ctx), size + 1);
    for (int64_t i = 0; i < count; ++i) memcpy(bytes + (size_t)i * one, data, one);
    data = bytes;
  }
  *out = iree_make_const_byte_span(data, size);
  return true;
}

static uint32_t add_segment(emit_t* e, iree_const_byte_span_t data) {
  const char* entry = arena_printf(ir_context_arena(e->ctx), "constants/rodata_%u.bin", e->constants++);
  module_segment_t segment = {.entry = view(entry), .data = data, .alignment = 64};
  return module_writer_segment(e->writer, &segment);
}

bool vm_add_segment(emit_t* e, const ir_op_t* op, uint32_t* out_index) {
  iree_const_byte_span_t data;
  if (!bytes_of(e, op, ir_op_attr(op, "value"), &data)) return false;
  *out_index = add_segment(e, data);
  return true;
}

// A table's parts while they are put together. Offsets and sizes are numbers of 32 or 64 bits.
typedef struct table_t {
  uint8_t *rows, *data;
  size_t width, size;
} table_t;

static void put_number(table_t* table, uint32_t index, uint64_t value) {
  memcpy(table->rows + index * table->width, &value, table->width);  // little-endian
}

// Parts one after the other, each aligned, and their places.
static bool fill_table(emit_t* e, const ir_op_t* op, const ir_attr_t* parts, uint64_t alignment, table_t* table) {
  size_t at = 0;
  for (uint32_t i = 0; i < parts->count; ++i) {
    iree_const_byte_span_t bytes;
    if (!bytes_of(e, op, parts->items[i], &bytes)) return false;
    at = iree_host_align(at, alignment);
    if (table->data) {
      if (bytes.data_length) memcpy(table->data + at, bytes.data, bytes.data_length);
      put_number(table, 2 * i, at);
      put_number(table, 2 * i + 1, bytes.data_length);
    }
    at += bytes.data_length;
  }
  table->size = iree_host_align(at, alignment);
  return table->width == 8 || table->size <= UINT32_MAX || ir_op_error(e->ctx, op, "is too large for its numbers");
}

bool vm_to_rodata_table(emit_t* e, ir_op_t* op) {
  const ir_attr_t *type = ir_op_attr(op, "table_type"), *parts = ir_op_attr(op, "data_array");
  char letter = type && type->kind == IR_ATTR_TYPE ? vm_letter_of(e->ctx, type->type) : 0;
  int64_t alignment = ir_op_int(op, "data_alignment", 1);
  if ((letter != 'i' && letter != 'I') || !parts || parts->kind != IR_ATTR_ARRAY) {
    return ir_op_error(e->ctx, op, "needs a table of i32 or i64 and an array of constants");
  }
  if (alignment < 1 || alignment > 4096) return ir_op_error(e->ctx, op, "needs a data_alignment from 1 to 4096");
  if (vm_letter_of(e->ctx, op->results[0].type) != 'r' || vm_letter_of(e->ctx, op->results[1].type) != 'r') {
    return ir_op_error(e->ctx, op, "gives two buffers");
  }
  table_t table = {.width = letter == 'i' ? 4 : 8};
  if (!fill_table(e, op, parts, (uint64_t)alignment, &table)) return false;
  arena_t* arena = ir_context_arena(e->ctx);
  size_t rows = 2 * table.width * parts->count;
  table.rows = ARENA_ARRAY(arena, uint8_t, rows + 1);
  table.data = ARENA_ARRAY(arena, uint8_t, table.size + 1);
  fill_table(e, op, parts, (uint64_t)alignment, &table);
  const iree_const_byte_span_t buffers[] = {iree_make_const_byte_span(table.rows, rows),
                                            iree_make_const_byte_span(table.data, table.size)};
  for (uint32_t i = 0; i < 2; ++i) {
    module_operand_t segment = MODULE_INDEX(add_segment(e, buffers[i]));
    set_reg(ir_result(op, i), module_function_emit_value(e->f, VM_OP_buffer_const, &segment, 1));
  }
  return true;
}

bool vm_to_rodata(emit_t* e, ir_op_t* op) {
  uint32_t segment;
  bool is_inline = ir_is(op, VM_RODATA_INLINE);
  if (!vm_check_kinds(e, op, "", 'r') || (is_inline && !vm_add_segment(e, op, &segment))) return false;
  const ir_op_t* part = is_inline ? NULL : vm_find(e, op, "rodata", VM_RODATA, VM_RODATA);
  if (!is_inline && !part) return false;
  module_operand_t source = MODULE_INDEX(is_inline ? segment : index_of(part));
  vm_op_t code = is_inline ? VM_OP_buffer_const : VM_OP_global_load_ref;
  set_reg(ir_result(op, 0), module_function_emit_value(e->f, code, &source, 1));
  return true;
}

bool vm_to_buffer_alloc(emit_t* e, ir_op_t* op) {
  if (!vm_check_kinds(e, op, "I", 'r')) return false;
  set_reg(ir_result(op, 0), vm_emit_one(e, VM_OP_buffer_alloc, 1, (module_reg_t[]){vm_in(op, 0)}));
  return true;
}

bool vm_to_buffer_clone(emit_t* e, ir_op_t* op) {
  if (!vm_check_kinds(e, op, "rII", 'r')) return false;
  module_reg_t length = vm_in(op, 2), copy = vm_emit_one(e, VM_OP_buffer_alloc, 1, &length);
  module_emit(e->f, buffer_copy, MODULE_REG(vm_in(op, 0)), MODULE_REG(vm_in(op, 1)), MODULE_REG(copy),
              MODULE_REG(module_function_i64(e->f, 0)), MODULE_REG(length));
  set_reg(ir_result(op, 0), copy);
  return true;
}

// What vm.buffer.load.*, store.* and fill.* say behind that of their elements.
typedef struct element_t {
  const char* name;
  vm_op_t load, store;
  char letter;
  uint32_t size;
} element_t;

static const element_t* element_of(const ir_op_t* op) {
  static const element_t elements[] = {
      {"i8", .store = VM_OP_buffer_store_i8, .letter = 'i', .size = 1},
      {"i8.s", .load = VM_OP_buffer_load_i8, .letter = 'i', .size = 1},
      {"i8.u", .load = VM_OP_buffer_load_u8, .letter = 'i', .size = 1},
      {"i16", .store = VM_OP_buffer_store_i16, .letter = 'i', .size = 2},
      {"i16.s", .load = VM_OP_buffer_load_i16, .letter = 'i', .size = 2},
      {"i16.u", .load = VM_OP_buffer_load_u16, .letter = 'i', .size = 2},
      {"i32", VM_OP_buffer_load_i32, VM_OP_buffer_store_i32, 'i', 4},
      {"i64", VM_OP_buffer_load_i64, VM_OP_buffer_store_i64, 'I', 8},
      {"f32", VM_OP_buffer_load_f32, VM_OP_buffer_store_f32, 'f', 4},
      {"f64", VM_OP_buffer_load_f64, VM_OP_buffer_store_f64, 'F', 8},
  };
  const char* name = strchr(op->name + strlen("vm.buffer."), '.') + 1;
  uint32_t i = 0;
  while (strcmp(elements[i].name, name) != 0) ++i;  // vm.def has no others
  return &elements[i];
}

static module_reg_t bytes_before(emit_t* e, module_reg_t count, const element_t* element) {
  if (element->size == 1) return count;
  return vm_emit_one(e, VM_OP_i64_mul, 2, (module_reg_t[]){count, module_function_i64(e->f, element->size)});
}

bool vm_to_buffer_load(emit_t* e, ir_op_t* op) {
  const element_t* element = element_of(op);
  if (!vm_check_kinds(e, op, "rI", element->letter)) return false;
  module_reg_t place[] = {vm_in(op, 0), bytes_before(e, vm_in(op, 1), element)};
  set_reg(ir_result(op, 0), vm_emit_one(e, element->load, 2, place));
  return true;
}

bool vm_to_buffer_store(emit_t* e, ir_op_t* op) {
  const element_t* element = element_of(op);
  if (!vm_check_kinds(e, op, (const char[]){element->letter, 'r', 'I', 0}, 0)) return false;
  const module_operand_t operands[] = {MODULE_REG(vm_in(op, 1)), MODULE_REG(bytes_before(e, vm_in(op, 2), element)),
                                       MODULE_REG(vm_in(op, 0))};
  module_function_emit(e->f, element->store, operands, 3);
  return true;
}

bool vm_to_fill(emit_t* e, ir_op_t* op) {
  const element_t* element = element_of(op);
  if (!vm_check_kinds(e, op, (const char[]){'r', 'I', 'I', element->letter, 0}, 0)) return false;
  module_reg_t value = vm_in(op, 3);
  if (element->letter == 'f') value = vm_emit_one(e, VM_OP_bits_f32_i32, 1, &value);
  if (element->letter == 'F') value = vm_emit_one(e, VM_OP_bits_f64_i64, 1, &value);
  bool whole = element->size == 8;
  const module_operand_t operands[] = {MODULE_REG(vm_in(op, 0)), MODULE_REG(bytes_before(e, vm_in(op, 1), element)),
                                       MODULE_REG(bytes_before(e, vm_in(op, 2), element)), MODULE_REG(value),
                                       MODULE_IMM(element->size)};
  module_function_emit(e->f, whole ? VM_OP_buffer_fill_i64 : VM_OP_buffer_fill_i32, operands, whole ? 4 : 5);
  return true;
}
