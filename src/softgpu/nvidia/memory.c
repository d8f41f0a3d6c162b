// Operands of loads, stores and address conversions. Source: PTX ISA, "Data Movement and Conversion Instructions".
#include "softgpu/nvidia/memory.h"

// Loads and stores: space, element, vector.
static bool bind_access(decoder_t* d, inst_t* inst, const arg_t* address, const arg_t* data, bool is_load) {
  const ptx_modifiers_t* m = &inst->modifiers;
  if (m->type_count != 1) return decode_fail(d, "one type expected");
  ptx_type_t type = (ptx_type_t)m->types[0];
  const ptx_type_info_t* info = ptx_type_info(type);
  if (type == PTX_TYPE_pred) return decode_fail(d, "a predicate in memory");
  inst->space = (uint8_t)(m->value[PTX_GROUP_SPACE] ? m->value[PTX_GROUP_SPACE] : PTX_GENERIC);
  inst->bytes = info->bytes, inst->is_signed = info->kind == PTX_SIGNED;
  inst->count = (uint8_t)(m->value[PTX_GROUP_VECTOR] ? m->value[PTX_GROUP_VECTOR] : 1);
  if (!decode_memory(d, inst, address, &inst->op[0])) return false;
  inst->types[0] = inst->address_is_32 ? PTX_TYPE_u32 : PTX_TYPE_u64;
  if (inst->space == PTX_PARAM) {
    const arg_t* base = &address->list[0];
    bool is_own = base->kind == ARG_SYMBOL && base->symbol && base->symbol->kind == SYMBOL_VARIABLE &&
                  !base->symbol->variable->is_on_stack;
    if (!is_own && (base->kind == ARG_SYMBOL || !d->f->is_entry)) inst->space = PTX_LOCAL;
    if (inst->space == PTX_PARAM && !is_load) return decode_fail(d, "a kernel's parameters cannot be written");
  }
  if (inst->space == PTX_CONST && !is_load) return decode_fail(d, "constants cannot be written");
  const arg_t* elements = data;
  uint32_t count = 1;
  if (data && data->kind == ARG_LIST) elements = data->list, count = data->count;
  if (count != inst->count) return decode_fail(d, "%u registers for a vector of %u", count, inst->count);
  if ((uint32_t)inst->bytes * count > 32) return decode_fail(d, "a vector of more than 32 bytes");
  operand_t* list = ARENA_ARRAY(d->p->arena, operand_t, count);
  for (uint32_t i = 0; i < count; ++i) {
    uint8_t bytes;
    if (is_load ? !decode_wide_write(d, &elements[i], inst->bytes, &list[i], &bytes)
                : !decode_wide_read(d, &elements[i], type, &list[i], &bytes)) {
      return false;
    }
    if (i && bytes != inst->element) {
      if (elements[i].kind != ARG_SINK) return decode_fail(d, "registers of different sizes in a vector");
      list[i] = decode_temporary(d, inst->element);
      bytes = inst->element;
    }
    inst->element = bytes;
  }
  inst->list = list, inst->list_count = count;
  inst->list_written = (uint8_t)(is_load ? count : 0);
  return true;
}

// What may stand behind the operands: a cache policy, which is a hint.
static bool count_operands(decoder_t* d, const inst_t* inst) {
  return decode_count(d, 2, inst->modifiers.value[PTX_GROUP_POLICY] ? 3 : 2);
}

bool memory_bind_load(decoder_t* d, inst_t* inst) {
  return count_operands(d, inst) && bind_access(d, inst, decode_arg(d, 1), decode_arg(d, 0), true);
}

bool memory_bind_store(decoder_t* d, inst_t* inst) {
  return count_operands(d, inst) && bind_access(d, inst, decode_arg(d, 0), decode_arg(d, 1), false);
}

// cvta.space.size and cvta.to.space.size; isspacep.space
static uint64_t window(const inst_t* inst, const function_t* f) {
  switch (inst->modifiers.value[PTX_GROUP_SPACE]) {
    case PTX_SHARED:
      return WINDOW_SHARED;
    case PTX_LOCAL:
      return WINDOW_LOCAL;
    case PTX_PARAM:
      return f->is_entry ? WINDOW_PARAM : WINDOW_LOCAL;
    default:
      return 0;
  }
}

static bool bind_convert_address(decoder_t* d, inst_t* inst) {
  if (!decode_count(d, 2, 2)) return false;
  if (!inst->modifiers.type_count) return decode_fail(d, "a type expected");
  ptx_type_t type = (ptx_type_t)inst->modifiers.types[0];
  if (type != PTX_TYPE_u64) return decode_fail(d, "only addresses of 64 bits are known");
  inst->imm = window(inst, d->f);
  if (inst->flags & PTX_TO) inst->imm = -inst->imm;
  inst->written = 1;
  inst->types[0] = inst->types[1] = PTX_TYPE_u64;
  return decode_write(d, decode_arg(d, 0), type, &inst->op[0]) && decode_read(d, decode_arg(d, 1), type, &inst->op[1]);
}

static const inst_t* run_convert_address(warp_t* w, const inst_t* inst) {
  uint64_t *to = warp_at(w, &inst->op[0]), add = inst->imm;
  const uint64_t* from = warp_at(w, &inst->op[1]);
  for (uint32_t i = 0; i < WARP_LANES; ++i) to[i] = w->exec >> i & 1 ? from[i] + add : to[i];
  return inst + 1;
}

static bool bind_is_space(decoder_t* d, inst_t* inst) {
  inst->imm = window(inst, d->f);
  inst->written = 1;
  inst->types[0] = PTX_TYPE_pred, inst->types[1] = PTX_TYPE_u64;
  return decode_count(d, 2, 2) && decode_write(d, decode_arg(d, 0), PTX_TYPE_pred, &inst->op[0]) &&
         decode_read(d, decode_arg(d, 1), PTX_TYPE_u64, &inst->op[1]);
}

static const inst_t* run_is_space(warp_t* w, const inst_t* inst) {
  const uint64_t* from = warp_at(w, &inst->op[1]);
  uint32_t bits = 0;
  for (uint32_t i = 0; i < WARP_LANES; ++i) bits |= (uint32_t)((from[i] & WINDOW_MASK) == inst->imm) << i;
  warp_set_predicate(w, &inst->op[0], bits);
  return inst + 1;
}

static const row_t rows[] = {
    {"cvta", "to @space @type", bind_convert_address, run_convert_address},
    {"isspacep", "@space", bind_is_space, run_is_space},
};
const row_table_t memory_table = {rows, sizeof(rows) / sizeof(rows[0])};
