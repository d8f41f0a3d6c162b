// See call_lists.h.
#include "vm/call_lists.h"

static iree_host_size_t align_value(iree_host_size_t offset, char letter) {
  bool small = letter == IREE_VM_CCONV_TYPE_I32 || letter == IREE_VM_CCONV_TYPE_F32;
  return small ? offset : iree_host_align(offset, 8);
}

// Steps over the values of a packed list: `at` is the value, *offset becomes its end.
static uint8_t* next_value(iree_byte_span_t packed, char letter, iree_host_size_t* offset) {
  *offset = align_value(*offset, letter);
  uint8_t* at = packed.data + *offset;
  bool small = letter == IREE_VM_CCONV_TYPE_I32 || letter == IREE_VM_CCONV_TYPE_F32;
  *offset += small ? 4 : letter == IREE_VM_CCONV_TYPE_REF ? sizeof(iree_vm_ref_t) : 8;
  return at;
}

// Letters of values: VALUE_LETTER(letter, NAME, field).
#define VALUE_LETTERS(VALUE_LETTER)              \
  VALUE_LETTER(IREE_VM_CCONV_TYPE_I32, I32, i32) \
  VALUE_LETTER(IREE_VM_CCONV_TYPE_I64, I64, i64) \
  VALUE_LETTER(IREE_VM_CCONV_TYPE_F32, F32, f32) \
  VALUE_LETTER(IREE_VM_CCONV_TYPE_F64, F64, f64)

static iree_status_t pack_input(const iree_vm_list_t* inputs, iree_host_size_t i, char letter, uint8_t* at) {
  switch (letter) {
#define PACK(letter, NAME, field)                                                                  \
  case letter: {                                                                                   \
    iree_vm_value_t value;                                                                         \
    IREE_RETURN_IF_ERROR(iree_vm_list_get_value_as(inputs, i, IREE_VM_VALUE_TYPE_##NAME, &value)); \
    memcpy(at, &value.field, sizeof(value.field));                                                 \
    return iree_ok_status();                                                                       \
  }
    VALUE_LETTERS(PACK)
#undef PACK
    case IREE_VM_CCONV_TYPE_REF:
      return iree_vm_list_get_ref_retain(inputs, i, (iree_vm_ref_t*)at);
    default:
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "calling convention type '%c'", letter);
  }
}

iree_status_t call_lists_pack(call_lists_t* lists, const iree_vm_list_t* inputs) {
  iree_string_view_t letters = lists->argument_letters;
  iree_byte_span_t packed = lists->call.arguments;
  iree_host_size_t count = inputs ? iree_vm_list_size(inputs) : 0, offset = 0;
  if (count != letters.size) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "input list and function mismatch; expected %zu arguments but passed %zu", letters.size,
                            count);
  }
  for (iree_host_size_t i = 0; i < letters.size; ++i) {
    uint8_t* at = next_value(packed, letters.data[i], &offset);
    IREE_RETURN_IF_ERROR(pack_input(inputs, i, letters.data[i], at), "reading input %zu", i);
  }
  return iree_ok_status();
}

static iree_status_t unpack_output(iree_vm_list_t* outputs, char letter, uint8_t* at) {
  switch (letter) {
#define UNPACK(letter, NAME, field)                    \
  case letter: {                                       \
    iree_vm_value_t value = iree_vm_value_make_none(); \
    value.type = IREE_VM_VALUE_TYPE_##NAME;            \
    memcpy(&value.field, at, sizeof(value.field));     \
    return iree_vm_list_push_value(outputs, &value);   \
  }
    VALUE_LETTERS(UNPACK)
#undef UNPACK
    case IREE_VM_CCONV_TYPE_REF:
      return iree_vm_list_push_ref_move(outputs, (iree_vm_ref_t*)at);
    default:
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "calling convention type '%c'", letter);
  }
}

iree_status_t call_lists_unpack(iree_string_view_t letters, iree_byte_span_t packed, iree_vm_list_t* outputs) {
  iree_host_size_t offset = 0;
  for (iree_host_size_t i = 0; i < letters.size; ++i) {
    IREE_RETURN_IF_ERROR(unpack_output(outputs, letters.data[i], next_value(packed, letters.data[i], &offset)));
  }
  return iree_ok_status();
}

void call_lists_release_refs(iree_string_view_t letters, iree_byte_span_t packed) {
  if (!letters.size || !memchr(letters.data, IREE_VM_CCONV_TYPE_REF, letters.size)) return;
  iree_host_size_t offset = 0;
  for (iree_host_size_t i = 0; i < letters.size; ++i) {
    uint8_t* at = next_value(packed, letters.data[i], &offset);
    if (letters.data[i] == IREE_VM_CCONV_TYPE_REF) iree_vm_ref_release((iree_vm_ref_t*)at);
  }
}

iree_status_t call_lists_prepare(iree_vm_function_t function, iree_byte_span_t room, iree_allocator_t allocator,
                                 call_lists_t* out_lists) {
  memset(out_lists, 0, sizeof(*out_lists));
  if (iree_vm_function_is_null(function)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no function to invoke");
  }
  call_lists_t* lists = out_lists;
  iree_vm_function_signature_t signature = iree_vm_function_signature(&function);
  IREE_RETURN_IF_ERROR(
      iree_vm_function_call_get_cconv_fragments(&signature, &lists->argument_letters, &lists->result_letters));
  iree_host_size_t argument_size = 0, result_size = 0;
  IREE_RETURN_IF_ERROR(
      iree_vm_function_call_compute_cconv_fragment_size(lists->argument_letters, NULL, &argument_size));
  IREE_RETURN_IF_ERROR(iree_vm_function_call_compute_cconv_fragment_size(lists->result_letters, NULL, &result_size));
  iree_host_size_t results_offset = iree_host_align(argument_size, 16), size = results_offset + result_size;
  uint8_t* storage = room.data;
  if (size > room.data_length) {
    IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, size, &lists->storage));
    storage = lists->storage;
  } else if (size) {
    memset(storage, 0, size);
  }
  lists->call.function = function;
  lists->call.arguments = iree_make_byte_span(storage, argument_size);
  lists->call.results = iree_make_byte_span(storage ? storage + results_offset : NULL, result_size);
  return iree_ok_status();
}
