// Entry points by their kernel.func.
#include "target/entry.h"

uint32_t entry_constant_words(const ir_type_t* type) {
  uint32_t bits = type->kind == IR_TYPE_INTEGER ? type->width : 8 * ir_type_bytes(type);
  return bits > 32 ? 2 : 1;
}

uint32_t entry_binding_count(const ir_op_t* func) { return (uint32_t)ir_op_int(func, "bindings", 0); }

bool entry_is_readonly(const ir_op_t* func, uint32_t binding) {
  int64_t list[256];
  uint32_t count = ir_op_ints(func, "readonly", list, 256);
  for (uint32_t i = 0; i < count && i < 256; ++i) {
    if (list[i] == (int64_t)binding) return true;
  }
  return false;
}

bool entry_describe(const ir_op_t* func, target_entry_t* entry, text_t* error) {
  const char* name = ir_op_string(func, "sym_name", "kernel");
  int64_t size[3] = {1, 1, 1};
  ir_op_ints(func, "workgroup_size", size, 3);
  for (int i = 0; i < 3; ++i) {
    if (size[i] < 1 || size[i] > 1024) {
      text_printf(error, "kernel @%s: workgroup size %lld is not in 1 to 1024", name, (long long)size[i]);
      return false;
    }
    entry->workgroup_size[i] = (uint32_t)size[i];
  }
  entry->subgroup_size = (uint32_t)ir_op_int(func, "subgroup_size", 0);
  entry->binding_count = entry_binding_count(func);
  const ir_block_t* block = func->regions[0].first;
  if (!block || entry->binding_count > block->arg_count) {
    text_printf(error, "kernel @%s: has %u bindings but fewer arguments", name, entry->binding_count);
    return false;
  }
  entry->constant_count = 0;
  for (uint32_t i = entry->binding_count; i < block->arg_count; ++i) {
    entry->constant_count += entry_constant_words(block->args[i]->type);
  }
  return true;
}
