// Instructions that say something to whoever runs the program.
#include <inttypes.h>

#include "base/trace.h"
#include "vm/bytecode/machine.h"
#include "vm/bytecode/packing.h"

// `12`, `0.5`, `!vm.buffer`, `null`
static iree_status_t append_register(const vm_machine_t* m, const module_function_row_t* row, vm_word_t reg,
                                     iree_string_builder_t* builder) {
  const vm_cell_t* value = reg & VM_REGISTER_REF ? NULL : &m->values[reg];
  const iree_vm_ref_t* ref = value ? NULL : &m->refs[reg & (VM_REGISTER_REF - 1)];
  switch (vm_register_type(m->image, row, reg)) {
    case VM_TYPE_I32:
      return iree_string_builder_append_format(builder, "%" PRId32, value->i);
    case VM_TYPE_I64:
      return iree_string_builder_append_format(builder, "%" PRId64, value->I);
    case VM_TYPE_F32:
      return iree_string_builder_append_format(builder, "%.9g", value->f);
    case VM_TYPE_F64:
      return iree_string_builder_append_format(builder, "%.17g", value->F);
    default:
      if (iree_vm_ref_is_null(ref)) return iree_string_builder_append_cstring(builder, "null");
      iree_string_view_t type = iree_vm_ref_type_name(ref->type);
      return iree_string_builder_append_format(builder, "!%.*s", (int)type.size, type.data);
  }
}

// The registers of the list at m->pc, which is stepped over.
static iree_status_t append_registers(vm_machine_t* m, iree_string_builder_t* builder) {
  const vm_frame_t* frame = iree_vm_stack_frame_storage(iree_vm_stack_top(m->stack));
  for (vm_word_t i = 0, count = vm_next_word(m); i < count; ++i) {
    if (i) IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, ", "));
    IREE_RETURN_IF_ERROR(append_register(m, frame->row, vm_next_word(m), builder));
  }
  return iree_ok_status();
}

// A line on stderr: the message, and behind it the values.
iree_status_t vm_do_print(vm_machine_t* m) {
  iree_string_view_t message = module_image_string(m->image, vm_next_word(m));
  iree_string_builder_t builder;
  iree_string_builder_initialize(iree_vm_stack_allocator(m->stack), &builder);
  bool has_values = *m->pc != 0;
  iree_status_t status = append_registers(m, &builder);
  if (iree_status_is_ok(status)) {
    fprintf(stderr, "%.*s%s%.*s\n", (int)message.size, message.data, has_values ? ": " : "",
            (int)iree_string_builder_size(&builder), has_values ? iree_string_builder_buffer(&builder) : "");
  }
  iree_string_builder_deinitialize(&builder);
  return status;
}

// A moment of the trace that is being written, if one is.
iree_status_t vm_do_trace(vm_machine_t* m) {
  iree_string_view_t name = module_image_string(m->image, vm_next_word(m));
  if (!atomic_load_explicit(&trace_is_on, memory_order_relaxed)) {
    m->pc += 1 + *m->pc;
    return iree_ok_status();
  }
  iree_string_builder_t builder;
  iree_string_builder_initialize(iree_vm_stack_allocator(m->stack), &builder);
  // Both texts end with a 0.
  iree_status_t status = iree_string_builder_append_format(&builder, "%.*s%c", (int)name.size, name.data, 0);
  if (iree_status_is_ok(status)) status = append_registers(m, &builder);
  if (iree_status_is_ok(status)) status = iree_string_builder_append_format(&builder, "%c", 0);
  if (iree_status_is_ok(status)) {
    const char* texts = iree_string_builder_buffer(&builder);
    trace_mark(texts, texts + strlen(texts) + 1);
  }
  iree_string_builder_deinitialize(&builder);
  return status;
}
