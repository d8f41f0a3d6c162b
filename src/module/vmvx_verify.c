// What makes an instruction right: types and lanes of its registers, memory types, literals, and the nesting of control
// flow. After this an interpreter checks bounds of memory only.
#include "module/vmvx_verify.h"

enum { TYPES_F = 1, TYPES_I = 2, TYPES_FI = 3 };
typedef enum { RESULT_SAME, RESULT_BOOL, RESULT_ANY } result_t;
static const struct {
  uint8_t arity, types, result;
} scalars[VMVX_SCALAR_COUNT] = {
#define SCALAR(name, arity, types, result, ...) {arity, TYPES_##types, RESULT_##result},
#include "base/scalar.def"
#undef SCALAR
};

static const vmvx_register_t* reg(const vmvx_check_t* c, const vmvx_instr_t* instr, uint32_t i) {
  return &c->function->registers[instr->x[i]];
}
static bool same_element(const vmvx_register_t* a, const vmvx_register_t* b) {
  return a->type == b->type && a->width == b->width;
}
static bool same(const vmvx_register_t* a, const vmvx_register_t* b) {
  return same_element(a, b) && a->lanes == b->lanes;
}
static bool is_index(const vmvx_register_t* r) { return r->type == VMVX_I64 && r->width == 64 && r->lanes == 1; }
static bool is_int(const vmvx_register_t* r) { return r->type >= VMVX_I8 && r->type <= VMVX_I64; }

static const char* check_scalar(const vmvx_check_t* c, const vmvx_instr_t* instr) {
  const vmvx_register_t *out = reg(c, instr, 0), *a = reg(c, instr, 1);
  uint32_t fn = instr->op, arity = scalars[fn].arity;
  if (fn == VMVX_OP_select) {
    bool fits = a->type == VMVX_BOOL && (a->lanes == 1 || a->lanes == out->lanes);
    return fits && same(out, reg(c, instr, 2)) && same(out, reg(c, instr, 3)) ? NULL : "types";
  }
  if (scalars[fn].result == RESULT_ANY) {
    bool bits = fn != VMVX_OP_bitcast || (a->bytes == out->bytes && a->width == out->width);
    return a->lanes == out->lanes && bits ? NULL : "types";
  }
  for (uint32_t i = 2; i <= arity; ++i) {
    if (!same(a, reg(c, instr, i))) return "types";
  }
  if (!(scalars[fn].types & (vmvx_type_is_float(a->type) ? TYPES_F : TYPES_I))) return "type of element";
  if (scalars[fn].result == RESULT_SAME) return same(a, out) ? NULL : "type of result";
  return out->type == VMVX_BOOL && out->lanes == a->lanes ? NULL : "type of result";
}

static bool is_join(uint32_t fn, bool is_float) {
  if (fn == VMVX_OP_add || fn == VMVX_OP_mul || fn == VMVX_OP_min || fn == VMVX_OP_max) return true;
  return !is_float &&
         (fn == VMVX_OP_minu || fn == VMVX_OP_maxu || fn == VMVX_OP_and || fn == VMVX_OP_or || fn == VMVX_OP_xor);
}

static const char* check_data(const vmvx_check_t* c, uint32_t offset, size_t size) {
  return offset <= c->data_size && size <= c->data_size - offset ? NULL : "data";
}

static const char* check_shuffle(const vmvx_check_t* c, const vmvx_instr_t* instr) {
  const vmvx_register_t *out = reg(c, instr, 0), *a = reg(c, instr, 1);
  if (!same(a, reg(c, instr, 2)) || !same_element(a, out)) return "types";
  if (check_data(c, instr->x[3], 4 * (size_t)out->lanes)) return "data";
  for (uint32_t i = 0; i < out->lanes; ++i) {
    uint32_t from;
    memcpy(&from, c->function->data + instr->x[3] + 4 * (size_t)i, 4);
    if (from >= 2 * a->lanes) return "lane";
  }
  return NULL;
}

static const char* check_pure(const vmvx_check_t* c, const vmvx_instr_t* instr) {
  const vmvx_register_t* out = reg(c, instr, 0);
  switch (instr->op) {
    case VMVX_OP_param: {
      uint32_t words = out->bytes == 8 ? 2 : 1, constants = c->function->constant_count;
      return out->lanes == 1 && words <= constants && instr->x[1] <= constants - words ? NULL : "constant";
    }
    case VMVX_OP_id:
      return is_index(out) && instr->x[1] < VMVX_ID_END ? NULL : "id";
    case VMVX_OP_constant:
      return check_data(c, instr->x[1], (size_t)out->lanes * out->bytes);
    case VMVX_OP_constant_splat:
      return check_data(c, instr->x[1], out->bytes);
    case VMVX_OP_iota:
      return is_int(out) ? NULL : "types";
    case VMVX_OP_splat:
      return same_element(out, reg(c, instr, 1)) && reg(c, instr, 1)->lanes == 1 ? NULL : "types";
    case VMVX_OP_extract:
      if (!same_element(out, reg(c, instr, 1)) || out->lanes != 1) return "types";
      return instr->x[2] < reg(c, instr, 1)->lanes ? NULL : "lane";
    case VMVX_OP_extract_dynamic:
      return same_element(out, reg(c, instr, 1)) && out->lanes == 1 && is_index(reg(c, instr, 2)) ? NULL : "types";
    case VMVX_OP_insert:
      if (!same(out, reg(c, instr, 2)) || !same_element(out, reg(c, instr, 1)) || reg(c, instr, 1)->lanes != 1) {
        return "types";
      }
      return instr->x[3] < out->lanes ? NULL : "lane";
    case VMVX_OP_shuffle:
      return check_shuffle(c, instr);
    case VMVX_OP_reduce:
      if (!same_element(out, reg(c, instr, 1)) || out->lanes != 1) return "types";
      return is_join(instr->x[2], vmvx_type_is_float(out->type)) ? NULL : "kind";
    default:
      return same(out, reg(c, instr, 1)) ? NULL : "types";  // mov
  }
}

// `value` fits `memory`, `offset` is one index, or with `lanes` an integer for each lane of the value.
static const char* check_access(const vmvx_register_t* value, const vmvx_memory_row_t* memory,
                                const vmvx_register_t* offset, bool lanes) {
  if (value->type != memory->type || value->width != memory->width) return "type of memory";
  if (lanes ? is_int(offset) && offset->lanes == value->lanes : is_index(offset)) return NULL;
  return "type of offset";
}

static const char* check_mask(const vmvx_register_t* mask, const vmvx_register_t* value) {
  return mask->type == VMVX_BOOL && mask->lanes == value->lanes ? NULL : "type of mask";
}

static const char* check_align(uint32_t align) {
  return align && align <= 4096 && !(align & (align - 1)) ? NULL : "alignment";
}

static const char* check_memory(const vmvx_check_t* c, const vmvx_instr_t* instr) {
  const uint32_t* x = instr->x;
  uint32_t form = vmvx_access_form(instr->op);
  const vmvx_register_t* value = reg(c, instr, 0);
  const char* wrong = check_access(value, &c->function->memories[x[1]], reg(c, instr, 2), form & VMVX_FORM_LANES);
  if (wrong) return wrong;
  bool masked = form & VMVX_FORM_MASKED;
  if (masked && (wrong = check_mask(reg(c, instr, 3), value))) return wrong;
  if (masked && !(form & VMVX_FORM_STORE) && !same(value, reg(c, instr, 4))) return "types";
  return check_align(vmvx_access_align(instr));
}

static const char* check_threads(const vmvx_check_t* c, const vmvx_instr_t* instr) {
  bool harmless = instr->op == VMVX_OP_barrier || instr->op == VMVX_OP_async_commit || instr->op == VMVX_OP_async_wait;
  if (!c->threads && !harmless) return "instruction for several threads";
  switch (instr->op) {
    case VMVX_OP_subgroup_shuffle: {
      const vmvx_register_t* lane = reg(c, instr, 2);
      bool fits = same(reg(c, instr, 0), reg(c, instr, 1)) && lane->type == VMVX_I32 && lane->lanes == 1;
      return fits && instr->x[3] < VMVX_SHUFFLE_END ? NULL : "types";
    }
    case VMVX_OP_mma:
      return same(reg(c, instr, 0), reg(c, instr, 3)) ? NULL : "types";
    case VMVX_OP_load_matrix: {
      const vmvx_memory_row_t* memory = &c->function->memories[instr->x[1]];
      const vmvx_register_t* out = reg(c, instr, 0);
      uint32_t count = instr->x[3] & 0xff, transpose = instr->x[3] >> 8, bytes = vmvx_type_bytes(memory->type);
      if ((count != 1 && count != 2 && count != 4) || transpose > 1 || (transpose && bytes != 2)) return "matrices";
      if (memory->kind != VMVX_MEMORY_WORKGROUP || c->function->subgroup_size != 32) return "target";
      return out->lanes * bytes == 4 * count ? check_access(out, memory, reg(c, instr, 2), false) : "types";
    }
    case VMVX_OP_load_tile:
    case VMVX_OP_store_tile: {
      const vmvx_register_t* tile = reg(c, instr, 0);
      if (tile->lanes * tile->bytes != VMVX_TILE_ROWS * VMVX_TILE_ROW_BYTES || !is_index(reg(c, instr, 3)))
        return "types";
      return check_access(tile, &c->function->memories[instr->x[1]], reg(c, instr, 2), false);
    }
    case VMVX_OP_async_copy_some:
    case VMVX_OP_async_copy: {
      bool some = instr->op == VMVX_OP_async_copy_some;
      uint32_t bytes = instr->x[4 + some];
      if (some && (reg(c, instr, 4)->type != VMVX_BOOL || reg(c, instr, 4)->lanes != 1)) return "types";
      if (bytes != 4 && bytes != 8 && bytes != 16) return "size";
      if (c->function->memories[instr->x[2]].kind != VMVX_MEMORY_WORKGROUP) return "target";
      return is_index(reg(c, instr, 1)) && is_index(reg(c, instr, 3)) ? NULL : "type of offset";
    }
    default:
      return NULL;
  }
}

const char* vmvx_check_instr(const vmvx_check_t* c, const vmvx_instr_t* instr) {
  if (instr->op < VMVX_SCALAR_COUNT) return check_scalar(c, instr);
  if (instr->op < VMVX_PURE_COUNT) return check_pure(c, instr);
  if (instr->op < VMVX_OP_atomic) return check_memory(c, instr);
  if (instr->op >= VMVX_OP_barrier) return check_threads(c, instr);
  switch (instr->op) {
    case VMVX_OP_atomic: {
      const vmvx_register_t *old = reg(c, instr, 0), *value = reg(c, instr, 1);
      if (!same(old, value) || value->lanes != 1) return "types";
      const vmvx_memory_row_t* memory = &c->function->memories[instr->x[2]];
      const char* wrong = check_access(value, memory, reg(c, instr, 3), false);
      if (wrong) return wrong;
      return instr->x[4] == VMVX_EXCHANGE || is_join(instr->x[4], vmvx_type_is_float(value->type)) ? NULL : "kind";
    }
    case VMVX_OP_for:
    case VMVX_OP_next:
      for (uint32_t i = 0; i < (instr->op == VMVX_OP_for ? 4 : 3); ++i) {
        if (!is_index(reg(c, instr, i))) return "types";
      }
      return NULL;
    case VMVX_OP_if:
    case VMVX_OP_while_if:
      return reg(c, instr, 0)->type == VMVX_BOOL && reg(c, instr, 0)->lanes == 1 ? NULL : "types";
    default:
      return NULL;
  }
}

static uint32_t target(const vmvx_instr_t* instr) { return instr->x[strlen(vmvx_op_operands(instr->op)) - 1]; }

// The instruction that must be open when `op` comes, VMVX_OP_COUNT for none.
static uint32_t opened_by(uint32_t op) {
  switch (op) {
    case VMVX_OP_next:
      return VMVX_OP_for;
    case VMVX_OP_else:
      return VMVX_OP_if;
    case VMVX_OP_end_if:
      return VMVX_OP_else;
    case VMVX_OP_while_if:
      return VMVX_OP_while;
    case VMVX_OP_while_next:
      return VMVX_OP_while_if;
    default:
      return VMVX_OP_COUNT;
  }
}

// `opener` and the instruction `at` that continues it aim at each other. A while's start is `begin`.
static bool targets_agree(const vmvx_function_t* f, uint32_t opener, uint32_t at, uint32_t begin) {
  const vmvx_instr_t *first = &f->instrs[opener], *instr = &f->instrs[at];
  switch (instr->op) {
    case VMVX_OP_next:
      return target(first) == at + 1 && target(instr) == opener + 1;
    case VMVX_OP_else:
    case VMVX_OP_end_if:
      return target(first) == at;
    case VMVX_OP_while_if:
      return target(first) == target(instr);
    default:  // while_next
      return target(first) == at + 1 && target(instr) == begin + 1;
  }
}

const char* vmvx_check_nesting(const vmvx_function_t* f, uint32_t* out_at) {
  struct {
    uint32_t at, begin;
  } open[VMVX_MAX_DEPTH];
  uint32_t depth = 0, at = 0;
  const char* wrong = NULL;
  for (; at < f->instr_count && !wrong; ++at) {
    uint32_t op = f->instrs[at].op, opener = opened_by(op);
    bool opens = op == VMVX_OP_for || op == VMVX_OP_if || op == VMVX_OP_while;
    if (opens && depth == VMVX_MAX_DEPTH) wrong = "nests too deeply";
    if (opens && !wrong) {
      open[depth].at = open[depth].begin = at;
      ++depth;
    }
    if (opener != VMVX_OP_COUNT) {
      if (!depth || f->instrs[open[depth - 1].at].op != opener) wrong = "closes nothing";
      if (!wrong && !targets_agree(f, open[depth - 1].at, at, open[depth - 1].begin)) wrong = "branch target";
      if (wrong) break;
      bool continues = op == VMVX_OP_else || op == VMVX_OP_while_if;
      if (continues) open[depth - 1].at = at;
      if (!continues) --depth;
    }
    if ((op == VMVX_OP_return) != (at + 1 == f->instr_count)) wrong = "must be the last instruction, and is not";
    if (wrong) break;
  }
  if (!wrong && (depth || !f->instr_count)) wrong = "ends inside a loop or branch";
  *out_at = at;
  return wrong;
}
