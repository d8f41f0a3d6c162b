// atom and red. Source: PTX ISA, "atom", "red".
#include "softgpu/nvidia/access.h"
#include "softgpu/nvidia/decode.h"
#include "softgpu/nvidia/small.h"

typedef struct operands_t {
  uint64_t b, c;
} operands_t;

static double as_double(uint64_t bits) {
  double value;
  memcpy(&value, &bits, 8);
  return value;
}
static uint64_t double_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, 8);
  return bits;
}

static float lesser(float a, float b, bool is_max) {
  if (a != a || b != b) return a != a ? b : a;
  return (a < b || (a == b && small_bits(a) >> 31)) != is_max ? a : b;
}

static uint16_t update_half(uint32_t operation, bool is_brain, uint16_t a, uint16_t b) {
  float x = is_brain ? small_from_bf16(a) : small_from_f16(a), y = is_brain ? small_from_bf16(b) : small_from_f16(b);
  float r = operation == PTX_ADD ? x + y : lesser(x, y, operation == PTX_MAX);
  return is_brain ? small_to_bf16(r) : small_to_f16(r);
}

static uint64_t update_float(uint32_t operation, ptx_type_t type, uint64_t a, uint64_t b) {
  bool is_brain = type == PTX_TYPE_bf16 || type == PTX_TYPE_bf16x2;
  switch (type) {
    case PTX_TYPE_f64:
      return double_bits(as_double(a) + as_double(b));
    case PTX_TYPE_f32: {
      float x = small_as_float((uint32_t)a), y = small_as_float((uint32_t)b);
      float r = operation == PTX_ADD ? x + y : lesser(x, y, operation == PTX_MAX);
      return r != r ? 0x7fffffffu : small_bits(r);
    }
    case PTX_TYPE_f16x2:
    case PTX_TYPE_bf16x2:
      return (uint32_t)update_half(operation, is_brain, (uint16_t)(a >> 16), (uint16_t)(b >> 16)) << 16 |
             update_half(operation, is_brain, (uint16_t)a, (uint16_t)b);
    default:
      return update_half(operation, is_brain, (uint16_t)a, (uint16_t)b);
  }
}

static uint64_t update(uint32_t operation, ptx_type_t type, uint64_t a, uint64_t b, uint64_t c) {
  const ptx_type_info_t* info = ptx_type_info(type);
  bool is_float = info->kind == PTX_FLOAT || info->kind == PTX_PACKED;
  if (is_float && (operation == PTX_ADD || operation == PTX_MIN || operation == PTX_MAX)) {
    return update_float(operation, type, a, b);
  }
  bool less = type == PTX_TYPE_s32   ? (int32_t)a < (int32_t)b
              : type == PTX_TYPE_s64 ? (int64_t)a < (int64_t)b
              : info->bytes == 4     ? (uint32_t)a < (uint32_t)b
                                     : a < b;
  switch (operation) {
    case PTX_AND:
      return a & b;
    case PTX_OR:
      return a | b;
    case PTX_XOR:
      return a ^ b;
    case PTX_ADD:
      return a + b;
    case PTX_INC:
      return (uint32_t)a >= (uint32_t)b ? 0 : a + 1;
    case PTX_DEC:
      return (uint32_t)a == 0 || (uint32_t)a > (uint32_t)b ? b : a - 1;
    case PTX_MIN:
      return less ? a : b;
    case PTX_MAX:
      return less ? b : a;
    case PTX_CAS:
      return a == b ? c : a;
    default:
      return b;
  }
}

#define EXCHANGE(T)                                                                                   \
  {                                                                                                   \
    T* at = (T*)host;                                                                                 \
    T old = __atomic_load_n(at, __ATOMIC_RELAXED), next;                                              \
    do {                                                                                              \
      next = (T)update(operation, type, old, (T)b, (T)c);                                             \
    } while (!__atomic_compare_exchange_n(at, &old, next, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)); \
    return old;                                                                                       \
  }

static uint64_t exchange(uint32_t operation, ptx_type_t type, uint32_t bytes, uint64_t host, uint64_t b, uint64_t c) {
  switch (bytes) {
    case 2:
      EXCHANGE(uint16_t)
    case 4:
      EXCHANGE(uint32_t)
    default:
      EXCHANGE(uint64_t)
  }
}

static uint64_t element(const warp_t* w, const operand_t* o, uint32_t bytes, uint32_t lane) {
  uint64_t value = 0;
  memcpy(&value, (const char*)warp_at(w, o) + (size_t)lane * bytes, bytes);
  return value;
}

static const inst_t* run_atomic(warp_t* w, const inst_t* inst) {
  uint32_t bytes = inst->bytes, count = inst->count;
  ptx_type_t type = (ptx_type_t)inst->modifiers.types[0];
  if (!access_resolve_aligned(w, inst, &inst->op[0], bytes * count, bytes * count,
                              ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC)) {
    return NULL;
  }
  for (uint32_t lanes = w->exec; lanes; lanes &= lanes - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(lanes);
    for (uint32_t k = 0; k < count; ++k) {
      // list: results, then b, then c
      uint64_t b = element(w, &inst->list[count + k], bytes, lane);
      uint64_t c = inst->list_count > 2 * count ? element(w, &inst->list[2 * count + k], bytes, lane) : 0;
      uint64_t old = exchange(inst->mode, type, bytes, w->host[lane] + (uint64_t)k * bytes, b, c);
      memcpy((char*)warp_at(w, &inst->list[k]) + (size_t)lane * bytes, &old, bytes);
    }
  }
  return inst + 1;
}

static bool bind_values(decoder_t* d, const arg_t* arg, ptx_type_t type, uint32_t count, bool is_read, operand_t* out) {
  if (!arg) return decode_fail(d, "an operand is missing");
  const arg_t* elements = arg->kind == ARG_LIST ? arg->list : arg;
  if ((arg->kind == ARG_LIST ? arg->count : 1) != count) return decode_fail(d, "a vector of %u expected", count);
  for (uint32_t k = 0; k < count; ++k) {
    if (is_read ? !decode_read(d, &elements[k], type, &out[k]) : !decode_write(d, &elements[k], type, &out[k])) {
      return false;
    }
  }
  return true;
}

// atom d, [a], b{, c}{, policy}; red [a], b{, policy}
static bool bind_atomic(decoder_t* d, inst_t* inst) {
  const ptx_modifiers_t* m = &inst->modifiers;
  bool is_red = d->s->parts[0].size == 3;
  if (m->type_count != 1) return decode_fail(d, "one type expected");
  ptx_type_t type = (ptx_type_t)m->types[0];
  inst->space = (uint8_t)(m->value[PTX_GROUP_SPACE] ? m->value[PTX_GROUP_SPACE] : PTX_GENERIC);
  inst->mode = (uint8_t)m->value[PTX_GROUP_OPERATION];
  inst->bytes = inst->element = ptx_type_info(type)->bytes;
  inst->count = (uint8_t)(m->value[PTX_GROUP_VECTOR] ? m->value[PTX_GROUP_VECTOR] : 1);
  if (!inst->mode || inst->mode == PTX_POPC) return decode_fail(d, "an operation expected");
  if ((inst->bytes != 2 && inst->bytes != 4 && inst->bytes != 8) || type == PTX_TYPE_pred ||
      inst->bytes * inst->count > 16 || inst->space == PTX_CONST || inst->space == PTX_PARAM ||
      inst->space == PTX_LOCAL) {
    return decode_fail(d, "not on this type or space");
  }
  uint32_t has_third = inst->mode == PTX_CAS, at = is_red ? 0 : 1, least = 2 + has_third + at, count = inst->count;
  if (!decode_count(d, least, least + (m->value[PTX_GROUP_POLICY] != 0))) return false;
  operand_t* list = ARENA_ARRAY(d->p->arena, operand_t, (2 + has_third) * count);
  inst->list = list, inst->list_count = (2 + has_third) * count, inst->list_written = (uint8_t)count;
  if (!decode_memory(d, inst, decode_arg(d, at), &inst->op[0])) return false;
  inst->types[0] = inst->address_is_32 ? PTX_TYPE_u32 : PTX_TYPE_u64;
  for (uint32_t k = 0; k < count && is_red; ++k) list[k] = decode_temporary(d, inst->bytes);
  return (is_red || bind_values(d, decode_arg(d, 0), type, count, false, list)) &&
         bind_values(d, decode_arg(d, at + 1), type, count, true, list + count) &&
         (!has_third || bind_values(d, decode_arg(d, at + 2), type, count, true, list + 2 * count));
}

#define ATOMIC_OPTIONS "@space @order @scope @operation @type @vector @policy noftz"
static const row_t rows[] = {{"atom red", ATOMIC_OPTIONS, bind_atomic, run_atomic}};
const row_table_t atomic_table = {rows, sizeof(rows) / sizeof(rows[0])};
