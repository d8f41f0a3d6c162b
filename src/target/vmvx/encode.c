// The encoder: sections of the file, functions, control flow.
#include "target/vmvx/encode.h"

#include <stdarg.h>
#include <string.h>

#include "base/memory.h"
#include "dialects/kernel.h"
#include "target/vmvx/encode_state.h"

void encode_fail(encode_t* e, const char* format, ...) {
  if (!e->failed) {
    text_printf(e->error, "kernel '%s' ", ir_op_string(e->func, "sym_name", "?"));
    va_list args;
    va_start(args, format);
    text_vprintf(e->error, format, args);
    va_end(args);
  }
  e->failed = true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Words
//===----------------------------------------------------------------------------------------------------------------===

void encode_word(encode_t* e, uint32_t word) { text_append(&e->code, (const char*)&word, 4); }

void encode_op(encode_t* e, const ir_op_t* op, uint32_t vmvx_op) {
  if (!op) op = e->func;
  text_append(&e->ops, (const char*)&op, sizeof(op));
  encode_word(e, vmvx_op);
}

uint32_t encode_data(encode_t* e, const void* data, size_t size, uint32_t align) {
  static const char zeros[8];
  if (e->data.size % align) text_append(&e->data, zeros, align - e->data.size % align);
  size_t offset = e->data.size;
  if (offset + size > UINT32_MAX) encode_fail(e, "has more than 4 GiB of constants");
  text_append(&e->data, data, size);
  return (uint32_t)offset;
}

// Where the next instruction will be, as a branch target.
static uint32_t here(const encode_t* e) { return (uint32_t)(e->code.size / 4) - e->code_first; }

// A target that is not known yet; returns its place.
static size_t hole(encode_t* e) {
  size_t at = e->code.size;
  encode_word(e, 0);
  return at;
}
static void patch(encode_t* e, size_t at, uint32_t target) { memcpy(e->code.data + at, &target, 4); }

static void encode_mov(encode_t* e, const ir_op_t* op, uint32_t to, uint32_t from) {
  if (to == from) return;
  encode_op(e, op, VMVX_OP_mov);
  encode_word(e, to);
  encode_word(e, from);
}

//===----------------------------------------------------------------------------------------------------------------===
// Control flow
//===----------------------------------------------------------------------------------------------------------------===

static void encode_block(encode_t* e, const ir_block_t* block);

// Values from operand `first` of a yield into `targets` at once: a source that is itself a target is saved first.
static void encode_yield(encode_t* e, const ir_op_t* yield, uint32_t first, ir_value_t* const* targets,
                         uint32_t count) {
  uint32_t* sources = ARENA_ARRAY(&e->arena, uint32_t, count + 1);
  uint32_t* saved = ARENA_ARRAY(&e->arena, uint32_t, count + 1);
  uint32_t saved_count = 0;
  for (uint32_t i = 0; i < count; ++i) {
    sources[i] = encode_use(ir_operand(yield, first + i));
    bool overwritten = false;
    for (uint32_t j = 0; j < i; ++j) overwritten |= encode_use(targets[j]) == sources[i];
    if (!overwritten) continue;
    saved[saved_count] = live_take(e->live, e->live->registers[sources[i]]);
    encode_mov(e, yield, saved[saved_count], sources[i]);
    sources[i] = saved[saved_count++];
  }
  for (uint32_t i = 0; i < count; ++i) encode_mov(e, yield, encode_use(targets[i]), sources[i]);
  for (uint32_t i = 0; i < saved_count; ++i) live_release(e->live, saved[i]);
}

// The yield's own values are not needed any more.
static void finish_block(encode_t* e, const ir_block_t* block) { live_expire(e->live, live_op(block->last)->start); }

static ir_value_t** results_of(encode_t* e, ir_op_t* op) {
  ir_value_t** results = ARENA_ARRAY(&e->arena, ir_value_t*, op->result_count + 1);
  for (uint32_t i = 0; i < op->result_count; ++i) results[i] = ir_result(op, i);
  return results;
}

static void encode_for(encode_t* e, ir_op_t* op) {
  const ir_block_t* body = op->regions[0].first;
  uint32_t upper = encode_use(ir_operand(op, 1)), step = encode_use(ir_operand(op, 2));
  uint32_t index = encode_define(e, body->args[0]);
  for (uint32_t i = 0; i < op->result_count; ++i) {
    encode_mov(e, op, encode_define(e, ir_result(op, i)), encode_use(ir_operand(op, 3 + i)));
  }
  encode_op(e, op, VMVX_OP_for);
  encode_word(e, index);
  encode_word(e, encode_use(ir_operand(op, 0)));
  encode_word(e, upper);
  encode_word(e, step);
  size_t end = hole(e);
  live_expire(e->live, live_op(op)->start);
  uint32_t begin = here(e);
  encode_block(e, body);
  encode_yield(e, body->last, 0, body->args + 1, op->result_count);
  finish_block(e, body);
  encode_op(e, op, VMVX_OP_next);
  encode_word(e, index);
  encode_word(e, upper);
  encode_word(e, step);
  encode_word(e, begin);
  patch(e, end, here(e));
}

static void encode_if(encode_t* e, ir_op_t* op) {
  ir_value_t** results = results_of(e, op);
  for (uint32_t i = 0; i < op->result_count; ++i) encode_define(e, results[i]);
  encode_op(e, op, VMVX_OP_if);
  encode_word(e, encode_use(ir_operand(op, 0)));
  size_t to_else = hole(e);
  live_expire(e->live, live_op(op)->start);
  const ir_block_t *then_block = op->regions[0].first, *else_block = op->regions[1].first;
  encode_block(e, then_block);
  encode_yield(e, then_block->last, 0, results, op->result_count);
  finish_block(e, then_block);
  patch(e, to_else, here(e));
  encode_op(e, op, VMVX_OP_else);
  size_t to_end = hole(e);
  if (else_block) {
    encode_block(e, else_block);
    encode_yield(e, else_block->last, 0, results, op->result_count);
    finish_block(e, else_block);
  }
  patch(e, to_end, here(e));
  encode_op(e, op, VMVX_OP_end_if);
}

static void encode_while(encode_t* e, ir_op_t* op) {
  const ir_block_t *before = op->regions[0].first, *after = op->regions[1].first;
  ir_value_t** results = results_of(e, op);
  for (uint32_t i = 0; i < op->result_count; ++i) encode_define(e, results[i]);
  for (uint32_t i = 0; i < before->arg_count; ++i) {
    encode_mov(e, op, encode_define(e, before->args[i]), encode_use(ir_operand(op, i)));
  }
  encode_op(e, op, VMVX_OP_while);
  size_t to_end = hole(e);
  live_expire(e->live, live_op(op)->start);
  uint32_t begin = here(e);
  encode_block(e, before);
  encode_yield(e, before->last, 1, results, op->result_count);
  encode_op(e, op, VMVX_OP_while_if);
  encode_word(e, encode_use(ir_operand(before->last, 0)));
  size_t leave = hole(e);
  finish_block(e, before);
  encode_block(e, after);
  encode_yield(e, after->last, 0, before->args, op->result_count);
  finish_block(e, after);
  encode_op(e, op, VMVX_OP_while_next);
  encode_word(e, begin);
  patch(e, to_end, here(e));
  patch(e, leave, here(e));
}

// Everything but the yield, which its owner makes into copies.
static void encode_block(encode_t* e, const ir_block_t* block) {
  for (ir_op_t* op = block->first; op && !ir_is(op, KERNEL_YIELD); op = op->next) {
    switch (ir_code(op)) {
      case KERNEL_FOR:
        encode_for(e, op);
        break;
      case KERNEL_IF:
        encode_if(e, op);
        break;
      case KERNEL_WHILE:
        encode_while(e, op);
        break;
      default:
        encode_simple(e, op);
    }
    live_expire(e->live, live_op(op)->end);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions and the file
//===----------------------------------------------------------------------------------------------------------------===

static void encode_param(encode_t* e, const ir_value_t* arg, uint32_t word) {
  uint32_t reg = live_define(e->live, live_of(arg));
  encode_op(e, NULL, VMVX_OP_param);
  encode_word(e, reg);
  encode_word(e, word);
}

static void encode_function(encode_t* e, const ir_op_t* func) {
  const ir_block_t* entry = func->regions[0].first;
  const char* name = ir_op_string(func, "sym_name", "");
  uint32_t bindings = (uint32_t)ir_op_int(func, "bindings", 0), words = 0;
  arena_init(&e->arena);
  e->func = func;
  e->live = live_compute(&e->arena, func);
  e->code_first = (uint32_t)(e->code.size / 4);
  e->memory_first = (uint32_t)(e->memories.size / sizeof(vmvx_memory_row_t));
  e->memory_count = 0;
  memset(e->local_bytes, 0, sizeof(e->local_bytes));
  for (uint32_t i = 0; i < bindings; ++i) encode_binding(e, entry->args[i]);
  for (uint32_t i = bindings; i < entry->arg_count; ++i) {
    encode_param(e, entry->args[i], words);
    words += ir_type_bytes(entry->args[i]->type) == 8 ? 2 : 1;
  }
  for (uint32_t i = 0; i < e->live->constant_count; ++i) encode_constant(e, &e->live->constants[i]);
  encode_block(e, entry);
  int64_t size[3] = {1, 1, 1};
  ir_op_ints(func, "workgroup_size", size, 3);
  vmvx_function_row_t row = {
      .name_first = (uint32_t)e->names.size,
      .name_size = (uint32_t)strlen(name),
      .binding_count = bindings,
      .constant_count = words,
      .register_first = (uint32_t)(e->registers.size / sizeof(vmvx_register_row_t)),
      .register_count = e->live->register_count,
      .memory_first = e->memory_first,
      .memory_count = e->memory_count,
      .code_first = e->code_first,
      .code_count = here(e),
      .workgroup_bytes = e->local_bytes[VMVX_MEMORY_WORKGROUP],
      .private_bytes = e->local_bytes[VMVX_MEMORY_PRIVATE],
      .workgroup_size = {(uint32_t)size[0], (uint32_t)size[1], (uint32_t)size[2]},
      .subgroup_size = (uint32_t)ir_op_int(func, "subgroup_size", 0),
  };
  text_append(&e->names, name, strlen(name));
  if (row.register_count) {
    text_append(&e->registers, (const char*)e->live->registers, sizeof(vmvx_register_row_t) * row.register_count);
  }
  text_append(&e->functions, (const char*)&row, sizeof(row));
  arena_finish(&e->arena);
}

static void append_section(text_t* file, const text_t* section) {
  static const char zeros[8];
  if (file->size % 8) text_append(file, zeros, 8 - file->size % 8);
  if (section->size) text_append(file, section->data, section->size);
}

static void assemble(const encode_t* e, text_t* file) {
  vmvx_header_t header = {
      .magic = VMVX_MAGIC,
      .version = VMVX_VERSION,
      .function_count = (uint32_t)(e->functions.size / sizeof(vmvx_function_row_t)),
      .register_count = (uint32_t)(e->registers.size / sizeof(vmvx_register_row_t)),
      .memory_count = (uint32_t)(e->memories.size / sizeof(vmvx_memory_row_t)),
      .code_count = (uint32_t)(e->code.size / 4),
      .data_size = (uint32_t)e->data.size,
      .name_size = (uint32_t)e->names.size,
  };
  text_append(file, (const char*)&header, sizeof(header));
  const text_t* sections[] = {&e->functions, &e->registers, &e->memories, &e->code, &e->data, &e->names};
  for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); ++i) append_section(file, sections[i]);
}

bool vmvx_encode(const ir_op_t* const* funcs, uint32_t count, vmvx_code_t* out, text_t* error) {
  encode_t e = {.error = error};
  *out = (vmvx_code_t){0};
  out->op_first = memory_array((size_t)count + 1, sizeof(uint32_t));
  for (uint32_t i = 0; i < count; ++i) {
    out->op_first[i] = (uint32_t)(e.ops.size / sizeof(ir_op_t*));
    encode_function(&e, funcs[i]);
  }
  text_t file = {0};
  assemble(&e, &file);
  out->data = file.data;
  out->size = file.size;
  out->ops = (const ir_op_t**)(void*)e.ops.data;
  text_t* sections[] = {&e.functions, &e.registers, &e.memories, &e.code, &e.data, &e.names};
  for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); ++i) text_finish(sections[i]);
  if (e.failed) vmvx_code_finish(out);
  return !e.failed;
}

void vmvx_code_finish(vmvx_code_t* code) {
  memory_free(code->data);
  memory_free(code->ops);
  memory_free(code->op_first);
  *code = (vmvx_code_t){0};
}
