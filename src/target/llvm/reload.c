// Loads by memory, variable part of the offset and constant part, within the basic block at work:
//
//   x0 = load p[i]              x0 = load p[i]
//   ... 28 fma ...        ->    ... 28 fma ...
//   y0 = load p[i]              q = opaque(&p[i])
//   y1 = load p[i + 16]         y0 = load q[0]; y1 = load q[16]
#include "target/llvm/reload.h"

#include "target/llvm/build.h"

enum { FAR = 40 };  // ops between two loads from which on the value is not worth a register

// Splits an offset into what varies and a constant.
static const ir_value_t* split_offset(const ir_value_t* offset, int64_t* constant) {
  *constant = 0;
  while (offset->def && ir_is(offset->def, KERNEL_add)) {
    int64_t value;
    const ir_value_t *a = ir_operand(offset->def, 0), *b = ir_operand(offset->def, 1);
    if (kernel_constant_index(b, &value)) {
      offset = a;
    } else if (kernel_constant_index(a, &value)) {
      offset = b;
    } else {
      break;
    }
    *constant += value;
  }
  return offset;
}

static reload_group_t* find_group(reload_t* r, const ir_value_t* memory, const ir_value_t* root) {
  for (uint32_t i = 0; i < r->count; ++i) {
    if (r->groups[i].memory == memory && r->groups[i].root == root) return &r->groups[i];
  }
  if (r->count == RELOAD_GROUPS) return NULL;
  r->groups[r->count] = (reload_group_t){.memory = memory, .root = root};
  return &r->groups[r->count++];
}

// Notes a load; true when it repeats one from far above.
static bool note_load(reload_group_t* g, int64_t constant, LLVMTypeRef type, uint32_t position) {
  for (uint32_t i = 0; i < g->load_count; ++i) {
    if (g->loads[i].constant != constant || g->loads[i].type != type) continue;
    bool far = position - g->loads[i].position > FAR;
    g->loads[i].position = position;
    return far;
  }
  if (g->load_count == RELOAD_LOADS) g->load_count = 0;
  g->loads[g->load_count++] = (reload_load_t){constant, type, position};
  return false;
}

// The same address, of which LLVM knows nothing.
static LLVMValueRef opaque(emit_t* e, LLVMValueRef address) {
  LLVMTypeRef pointer = LLVMTypeOf(address), type = LLVMFunctionType(pointer, &pointer, 1, 0);
  LLVMValueRef assembly = LLVMGetInlineAsm(type, "", 0, "=r,0", 4, 0, 0, LLVMInlineAsmDialectATT, 0);
  return LLVMBuildCall2(e->builder, type, assembly, &address, 1, "");
}

LLVMValueRef reload_address(emit_t* e, const ir_op_t* load, LLVMTypeRef element, LLVMTypeRef type) {
  LLVMValueRef memory = emit_operand(load, 0), offset = emit_operand(load, 1);
  reload_t* r = &e->reload;
  if (r->block != LLVMGetInsertBlock(e->builder)) {
    r->block = LLVMGetInsertBlock(e->builder);
    r->count = 0;
  }
  int64_t constant;
  const ir_value_t* root = split_offset(ir_operand(load, 1), &constant);
  reload_group_t* g = find_group(r, ir_operand(load, 0), root);
  if (!g) return build_address(e, element, memory, offset);
  if (note_load(g, constant, type, e->op_count)) {
    g->base = opaque(e, build_address(e, element, memory, offset));
    g->base_constant = constant;
    g->load_count = 0;
    note_load(g, constant, type, e->op_count);
  }
  if (!g->base) return build_address(e, element, memory, offset);
  LLVMTypeRef i64 = LLVMInt64TypeInContext(e->context);
  return build_address(e, element, g->base, LLVMConstInt(i64, (uint64_t)(constant - g->base_constant), 1));
}
