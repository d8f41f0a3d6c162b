// Instructions on references, globals, lists and host buffers.

#include "base/siphash.h"
#include "vm/bytecode/machine.h"
#include "vm/bytecode/packing.h"

//===----------------------------------------------------------------------------------------------------------------===
// Moves, literals, globals
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t vm_do_import_resolved(vm_machine_t* m) {
  vm_cell_t* result = vm_next_value(m);
  result->i = !iree_vm_function_is_null(m->state->imports[vm_next_word(m)].function);
  return iree_ok_status();
}

iree_status_t vm_do_mov(vm_machine_t* m) {
  vm_cell_t* result = vm_next_value(m);
  *result = *vm_next_value(m);
  return iree_ok_status();
}

iree_status_t vm_do_mov_ref(vm_machine_t* m) {
  iree_vm_ref_t* result = vm_next_ref(m);
  iree_vm_ref_retain(vm_next_ref(m), result);
  return iree_ok_status();
}

iree_status_t vm_do_take_ref(vm_machine_t* m) {
  iree_vm_ref_t* result = vm_next_ref(m);
  iree_vm_ref_move(vm_next_ref(m), result);
  return iree_ok_status();
}

iree_status_t vm_do_clear_ref(vm_machine_t* m) {
  iree_vm_ref_release(vm_next_ref(m));
  return iree_ok_status();
}

iree_status_t vm_do_is_null(vm_machine_t* m) {
  vm_cell_t* result = vm_next_value(m);
  result->i = iree_vm_ref_is_null(vm_next_ref(m));
  return iree_ok_status();
}

iree_status_t vm_do_same_ref(vm_machine_t* m) {
  vm_cell_t* result = vm_next_value(m);
  const iree_vm_ref_t* a = vm_next_ref(m);
  result->i = iree_vm_ref_equal(a, vm_next_ref(m));
  return iree_ok_status();
}

// The operand's bits are the value's.
static iree_status_t load_literal(vm_machine_t* m, uint32_t words) {
  vm_cell_t* result = vm_next_value(m);
  result->bits = 0;
  memcpy(&result->bits, m->pc, words * sizeof(vm_word_t));
  m->pc += words;
  return iree_ok_status();
}
iree_status_t vm_do_const_i32(vm_machine_t* m) { return load_literal(m, 1); }
iree_status_t vm_do_const_i64(vm_machine_t* m) { return load_literal(m, 2); }
iree_status_t vm_do_const_f32(vm_machine_t* m) { return load_literal(m, 1); }
iree_status_t vm_do_const_f64(vm_machine_t* m) { return load_literal(m, 2); }

iree_status_t vm_do_select(vm_machine_t* m) {
  vm_cell_t* result = vm_next_value(m);
  int32_t condition = vm_next_value(m)->i;
  vm_cell_t a = *vm_next_value(m), b = *vm_next_value(m);
  *result = condition ? a : b;
  return iree_ok_status();
}

iree_status_t vm_do_select_ref(vm_machine_t* m) {
  iree_vm_ref_t* result = vm_next_ref(m);
  int32_t condition = vm_next_value(m)->i;
  iree_vm_ref_t* a = vm_next_ref(m);
  iree_vm_ref_t* b = vm_next_ref(m);
  iree_vm_ref_retain(condition ? a : b, result);
  return iree_ok_status();
}

iree_status_t vm_do_global_load(vm_machine_t* m) {
  vm_cell_t* result = vm_next_value(m);
  *result = m->state->global_values[vm_next_word(m)];
  return iree_ok_status();
}

iree_status_t vm_do_global_store(vm_machine_t* m) {
  uint32_t global = vm_next_word(m);
  m->state->global_values[global] = *vm_next_value(m);
  return iree_ok_status();
}

iree_status_t vm_do_global_load_ref(vm_machine_t* m) {
  iree_vm_ref_t* result = vm_next_ref(m);
  iree_vm_ref_retain(&m->state->global_refs[vm_next_word(m)], result);
  return iree_ok_status();
}

iree_status_t vm_do_global_store_ref(vm_machine_t* m) {
  uint32_t global = vm_next_word(m);
  iree_vm_ref_retain(vm_next_ref(m), &m->state->global_refs[global]);
  return iree_ok_status();
}

// The machine's type of the register at the word before m->pc's current one.
static vm_type_t type_of_register(const vm_machine_t* m, vm_word_t reg) {
  const vm_frame_t* frame = iree_vm_stack_frame_storage(iree_vm_stack_top(m->stack));
  return vm_register_type(m->image, frame->row, reg);
}

// The index that a program computed, if it is that of a global of the type.
static iree_status_t check_global(const vm_machine_t* m, int32_t index, vm_type_t type) {
  if ((uint32_t)index < m->image->globals_count && m->image->globals[index].type == type) return iree_ok_status();
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "%d is the address of no global of type %s", index,
                          vm_type_name(type));
}

iree_status_t vm_do_global_load_at(vm_machine_t* m) {
  vm_type_t type = type_of_register(m, *m->pc);
  vm_cell_t* result = vm_next_value(m);
  int32_t global = vm_next_value(m)->i;
  IREE_RETURN_IF_ERROR(check_global(m, global, type));
  *result = m->state->global_values[global];
  return iree_ok_status();
}

iree_status_t vm_do_global_load_ref_at(vm_machine_t* m) {
  iree_vm_ref_t* result = vm_next_ref(m);
  int32_t global = vm_next_value(m)->i;
  IREE_RETURN_IF_ERROR(check_global(m, global, VM_TYPE_REF));
  iree_vm_ref_retain(&m->state->global_refs[global], result);
  return iree_ok_status();
}

iree_status_t vm_do_global_store_at(vm_machine_t* m) {
  int32_t global = vm_next_value(m)->i;
  IREE_RETURN_IF_ERROR(check_global(m, global, type_of_register(m, *m->pc)));
  m->state->global_values[global] = *vm_next_value(m);
  return iree_ok_status();
}

iree_status_t vm_do_global_store_ref_at(vm_machine_t* m) {
  int32_t global = vm_next_value(m)->i;
  IREE_RETURN_IF_ERROR(check_global(m, global, VM_TYPE_REF));
  iree_vm_ref_retain(vm_next_ref(m), &m->state->global_refs[global]);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Lists
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t vm_do_list_create(vm_machine_t* m) {
  iree_vm_ref_t* result = vm_next_ref(m);
  uint32_t capacity = (uint32_t)vm_next_value(m)->i;
  iree_vm_list_t* list = NULL;
  IREE_RETURN_IF_ERROR(
      iree_vm_list_create(iree_vm_make_undefined_type_def(), capacity, iree_vm_stack_allocator(m->stack), &list));
  return iree_vm_ref_wrap_assign(list, iree_vm_list_type(), result);
}

iree_status_t vm_do_list_size(vm_machine_t* m) {
  vm_cell_t* result = vm_next_value(m);
  VM_NEXT_OBJECT(m, iree_vm_list, list);
  result->i = (int32_t)iree_vm_list_size(list);
  return iree_ok_status();
}

iree_status_t vm_do_list_resize(vm_machine_t* m) {
  VM_NEXT_OBJECT(m, iree_vm_list, list);
  return iree_vm_list_resize(list, (uint32_t)vm_next_value(m)->i);
}

static const iree_vm_value_type_t value_types[VM_TYPE_COUNT] = {
    [VM_TYPE_I32] = IREE_VM_VALUE_TYPE_I32,
    [VM_TYPE_I64] = IREE_VM_VALUE_TYPE_I64,
    [VM_TYPE_F32] = IREE_VM_VALUE_TYPE_F32,
    [VM_TYPE_F64] = IREE_VM_VALUE_TYPE_F64,
};

iree_status_t vm_do_list_get(vm_machine_t* m) {
  vm_type_t type = type_of_register(m, *m->pc);
  vm_cell_t* result = vm_next_value(m);
  VM_NEXT_OBJECT(m, iree_vm_list, list);
  iree_vm_value_t value;
  IREE_RETURN_IF_ERROR(iree_vm_list_get_value_as(list, (uint32_t)vm_next_value(m)->i, value_types[type], &value));
  result->bits = 0;
  memcpy(&result->bits, value.value_storage, vm_type_packed_size(type));
  return iree_ok_status();
}

iree_status_t vm_do_list_set(vm_machine_t* m) {
  VM_NEXT_OBJECT(m, iree_vm_list, list);
  uint32_t index = (uint32_t)vm_next_value(m)->i;
  vm_type_t type = type_of_register(m, *m->pc);
  iree_vm_value_t value = {.type = value_types[type]};
  memcpy(value.value_storage, &vm_next_value(m)->bits, sizeof(value.value_storage));
  return iree_vm_list_set_value(list, index, &value);
}

iree_status_t vm_do_list_get_ref(vm_machine_t* m) {
  iree_vm_ref_t* result = vm_next_ref(m);
  VM_NEXT_OBJECT(m, iree_vm_list, list);
  return iree_vm_list_get_ref_retain(list, (uint32_t)vm_next_value(m)->i, result);
}

iree_status_t vm_do_list_set_ref(vm_machine_t* m) {
  VM_NEXT_OBJECT(m, iree_vm_list, list);
  uint32_t index = (uint32_t)vm_next_value(m)->i;
  iree_vm_ref_t* value = vm_next_ref(m);
  if (!iree_vm_list_may_hold(list, *value)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "a list can not hold itself");
  }
  return iree_vm_list_set_ref_retain(list, index, value);
}

//===----------------------------------------------------------------------------------------------------------------===
// Host buffers
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t release_module(void* self, iree_allocator_command_t command, const void* params,
                                    void** inout_ptr) {
  if (command == IREE_ALLOCATOR_COMMAND_FREE) iree_vm_module_release(self);
  return iree_ok_status();
}

// A buffer over memory of the module, which it keeps loaded.
static iree_status_t wrap_memory(vm_machine_t* m, iree_const_byte_span_t data, iree_vm_ref_t* result) {
  iree_vm_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(
      iree_vm_buffer_create(IREE_VM_BUFFER_ACCESS_ORIGIN_MODULE, 0, 0, iree_vm_stack_allocator(m->stack), &buffer));
  buffer->data = iree_cast_const_byte_span(data);
  if (data.data) {  // else nothing would be freed
    buffer->allocator = (iree_allocator_t){&m->state->module->interface, release_module};
    iree_vm_module_retain(&m->state->module->interface);
  }
  return iree_vm_ref_wrap_assign(buffer, iree_vm_buffer_type(), result);
}

iree_status_t vm_do_buffer_const(vm_machine_t* m) {
  iree_vm_ref_t* result = vm_next_ref(m);
  return wrap_memory(m, m->image->segment_data[vm_next_word(m)], result);
}

iree_status_t vm_do_buffer_string(vm_machine_t* m) {
  iree_vm_ref_t* result = vm_next_ref(m);
  iree_string_view_t text = module_image_string(m->image, vm_next_word(m));
  return wrap_memory(m, iree_make_const_byte_span((const uint8_t*)text.data, text.size), result);
}

// A size or offset register: negative ones become too large for any buffer.
static iree_host_size_t next_size(vm_machine_t* m) { return (iree_host_size_t)vm_next_value(m)->I; }

iree_status_t vm_do_buffer_alloc(vm_machine_t* m) {
  iree_vm_ref_t* result = vm_next_ref(m);
  iree_vm_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_vm_buffer_create(IREE_VM_BUFFER_ACCESS_MUTABLE | IREE_VM_BUFFER_ACCESS_ORIGIN_GUEST,
                                             next_size(m), 0, iree_vm_stack_allocator(m->stack), &buffer));
  return iree_vm_ref_wrap_assign(buffer, iree_vm_buffer_type(), result);
}

iree_status_t vm_do_buffer_length(vm_machine_t* m) {
  vm_cell_t* result = vm_next_value(m);
  VM_NEXT_OBJECT(m, iree_vm_buffer, buffer);
  result->I = (int64_t)iree_vm_buffer_length(buffer);
  return iree_ok_status();
}

iree_status_t vm_do_buffer_copy(vm_machine_t* m) {
  VM_NEXT_OBJECT(m, iree_vm_buffer, source);
  iree_host_size_t source_offset = next_size(m);
  VM_NEXT_OBJECT(m, iree_vm_buffer, target);
  iree_host_size_t target_offset = next_size(m);
  return iree_vm_buffer_copy_bytes(source, source_offset, target, target_offset, next_size(m));
}

iree_status_t vm_do_buffer_equal(vm_machine_t* m) {
  vm_cell_t* result = vm_next_value(m);
  VM_NEXT_OBJECT(m, iree_vm_buffer, a);
  VM_NEXT_OBJECT(m, iree_vm_buffer, b);
  bool equal = a->data.data_length == b->data.data_length;
  if (equal) IREE_RETURN_IF_ERROR(iree_vm_buffer_compare_bytes(a, 0, b, 0, a->data.data_length, &equal));
  result->i = equal;
  return iree_ok_status();
}

iree_status_t vm_do_buffer_compare(vm_machine_t* m) {
  vm_cell_t* result = vm_next_value(m);
  VM_NEXT_OBJECT(m, iree_vm_buffer, a);
  iree_host_size_t a_offset = next_size(m);
  VM_NEXT_OBJECT(m, iree_vm_buffer, b);
  iree_host_size_t b_offset = next_size(m);
  bool equal = false;
  IREE_RETURN_IF_ERROR(iree_vm_buffer_compare_bytes(a, a_offset, b, b_offset, next_size(m), &equal));
  result->i = equal;
  return iree_ok_status();
}

// Whole patterns: offset and length are rounded down.
static iree_status_t fill(iree_vm_buffer_t* buffer, iree_host_size_t offset, iree_host_size_t length,
                          const vm_cell_t* pattern, iree_host_size_t size) {
  return iree_vm_buffer_fill_elements(buffer, offset - offset % size, length / size, size, &pattern->bits);
}

iree_status_t vm_do_buffer_fill_i32(vm_machine_t* m) {
  VM_NEXT_OBJECT(m, iree_vm_buffer, buffer);
  iree_host_size_t offset = next_size(m), length = next_size(m);
  const vm_cell_t* pattern = vm_next_value(m);
  vm_word_t size = vm_next_word(m);
  if (size != 1 && size != 2 && size != 4) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "patterns have 1, 2 or 4 bytes");
  }
  return fill(buffer, offset, length, pattern, size);
}

iree_status_t vm_do_buffer_fill_i64(vm_machine_t* m) {
  VM_NEXT_OBJECT(m, iree_vm_buffer, buffer);
  iree_host_size_t offset = next_size(m), length = next_size(m);
  return fill(buffer, offset, length, vm_next_value(m), sizeof(int64_t));
}

iree_status_t vm_do_buffer_hash(vm_machine_t* m) {
  vm_cell_t* result = vm_next_value(m);
  VM_NEXT_OBJECT(m, iree_vm_buffer, buffer);
  iree_host_size_t offset = next_size(m);
  iree_const_byte_span_t span;
  IREE_RETURN_IF_ERROR(iree_vm_buffer_map_ro(buffer, offset, next_size(m), 1, &span));
  result->I = (int64_t)siphash_bytes(span.data, span.data_length);
  return iree_ok_status();
}

#define FLOW(name, signature)
#define OP(name, signature)
#define UNARY(name, ...)
#define BINARY(name, ...)
#define TERNARY(name, ...)
#define DIVIDE(name, ...)
#define HAL_LOAD(name, ...)
#define LOAD(name, R, ctype)                                                                    \
  iree_status_t vm_do_##name(vm_machine_t* m) {                                                 \
    vm_cell_t* result = vm_next_value(m);                                                       \
    VM_NEXT_OBJECT(m, iree_vm_buffer, buffer);                                                  \
    iree_const_byte_span_t span;                                                                \
    IREE_RETURN_IF_ERROR(iree_vm_buffer_map_ro(buffer, next_size(m), sizeof(ctype), 1, &span)); \
    ctype element;                                                                              \
    memcpy(&element, span.data, sizeof(element));                                               \
    result->R = element;                                                                        \
    return iree_ok_status();                                                                    \
  }
#define STORE(name, A, ctype)                                                                   \
  iree_status_t vm_do_##name(vm_machine_t* m) {                                                 \
    VM_NEXT_OBJECT(m, iree_vm_buffer, buffer);                                                  \
    iree_byte_span_t span;                                                                      \
    IREE_RETURN_IF_ERROR(iree_vm_buffer_map_rw(buffer, next_size(m), sizeof(ctype), 1, &span)); \
    ctype element = (ctype)vm_next_value(m)->A;                                                 \
    memcpy(span.data, &element, sizeof(element));                                               \
    return iree_ok_status();                                                                    \
  }
#include "module/ops.def"
#include "module/ops_undef.h"
