// Instructions that only read and write registers, for any number of threads at once. Lane l of all threads lies
// together, so that moving lanes is moving blocks, and one thread's register is a plain vector.
#include <string.h>

#include "base/scalar_math.h"
#include "module/vmvx.h"

enum { CHUNK = 256 };  // elements that conversions hold at once

//===----------------------------------------------------------------------------------------------------------------===
// Conversions
//===----------------------------------------------------------------------------------------------------------------===

void vmvx_to_doubles(uint8_t type, const void* in, double* out, size_t n) {
  if (type == VMVX_F64) {
    memcpy(out, in, n * 8);
  } else if (vmvx_type_bytes(type) == 4) {
    for (size_t i = 0; i < n; ++i) out[i] = ((const float*)in)[i];
  } else if (vmvx_type_bytes(type) == 2) {
    for (size_t i = 0; i < n; ++i) out[i] = small_float_decode(vmvx_type_format(type), ((const uint16_t*)in)[i]);
  } else {
    for (size_t i = 0; i < n; ++i) out[i] = small_float_decode(vmvx_type_format(type), ((const uint8_t*)in)[i]);
  }
}

void vmvx_from_doubles(uint8_t type, const double* in, void* out, size_t n) {
  if (type == VMVX_F64) {
    memcpy(out, in, n * 8);
  } else if (vmvx_type_bytes(type) == 4) {
    for (size_t i = 0; i < n; ++i) ((float*)out)[i] = (float)in[i];
  } else if (vmvx_type_bytes(type) == 2) {
    for (size_t i = 0; i < n; ++i) ((uint16_t*)out)[i] = (uint16_t)small_float_encode(vmvx_type_format(type), in[i]);
  } else {
    for (size_t i = 0; i < n; ++i) ((uint8_t*)out)[i] = (uint8_t)small_float_encode(vmvx_type_format(type), in[i]);
  }
}

// INT(TYPE, C type): how integers lie in memory.
#define INTS(INT)    \
  INT(BOOL, uint8_t) \
  INT(I8, int8_t)    \
  INT(I16, int16_t)  \
  INT(I32, int32_t)  \
  INT(I64, int64_t)

void vmvx_to_integers(uint8_t type, const void* in, int64_t* out, size_t n) {
  switch (type) {
#define INT(TYPE, ctype)                                           \
  case VMVX_##TYPE:                                                \
    for (size_t i = 0; i < n; ++i) out[i] = ((const ctype*)in)[i]; \
    break;
    INTS(INT)
#undef INT
  }
}

void vmvx_from_integers(uint8_t type, uint8_t width, const int64_t* in, void* out, size_t n) {
  switch (type) {
#define INT(TYPE, ctype)                                                                       \
  case VMVX_##TYPE:                                                                            \
    for (size_t i = 0; i < n; ++i) ((ctype*)out)[i] = (ctype)scalar_sign_extend(in[i], width); \
    break;
    INTS(INT)
#undef INT
  }
}

void vmvx_normalize(uint8_t type, uint8_t width, void* elements, size_t n) {
  if (type > VMVX_I64 || width == 8 * vmvx_type_bytes(type)) return;
  int64_t wide[CHUNK];
  uint32_t bytes = vmvx_type_bytes(type);
  for (size_t at = 0; at < n; at += CHUNK) {
    size_t count = n - at < CHUNK ? n - at : CHUNK;
    uint8_t* chunk = (uint8_t*)elements + at * bytes;
    vmvx_to_integers(type, chunk, wide, count);
    vmvx_from_integers(type, width, wide, chunk, count);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Scalar functions
//===----------------------------------------------------------------------------------------------------------------===

// Elements of a register, all threads' lanes.
typedef struct span_t {
  uint8_t* data;
  uint8_t type, width, bytes;
} span_t;

static void eval_wide(uint32_t fn, const span_t in[3], uint32_t arity, span_t out, size_t n) {
  double numbers[4][CHUNK];
  int64_t integers[4][CHUNK];
  bool is_float = vmvx_type_is_float(in[0].type), is_bool = out.type == VMVX_BOOL;
  for (size_t at = 0; at < n; at += CHUNK) {
    size_t count = n - at < CHUNK ? n - at : CHUNK;
    for (uint32_t i = 0; i < arity; ++i) {
      const uint8_t* data = in[i].data + at * in[i].bytes;
      if (is_float) vmvx_to_doubles(in[i].type, data, numbers[i], count);
      if (!is_float) vmvx_to_integers(in[i].type, data, integers[i], count);
    }
    uint8_t* result = out.data + at * out.bytes;
    if (is_float) {
      void* to = is_bool ? (void*)result : numbers[3];
      scalar_loops[fn].f64(to, numbers[0], numbers[arity > 1], numbers[arity > 2 ? 2 : 0], count, 64);
      if (!is_bool) vmvx_from_doubles(out.type, numbers[3], result, count);
    } else {
      void* to = is_bool ? (void*)result : integers[3];
      scalar_loops[fn].any(to, integers[0], integers[arity > 1], integers[arity > 2 ? 2 : 0], count, in[0].width);
      if (!is_bool) vmvx_from_integers(out.type, out.width, integers[3], result, count);
    }
  }
}

static void cast_chunk(const span_t* in, const uint8_t* from, const span_t* out, uint8_t* to, size_t n,
                       bool is_unsigned) {
  double numbers[CHUNK];
  int64_t integers[CHUNK];
  bool to_float = vmvx_type_is_float(out->type);
  if (vmvx_type_is_float(in->type)) {
    vmvx_to_doubles(in->type, from, numbers, n);
    if (to_float) {
      vmvx_from_doubles(out->type, numbers, to, n);
      return;
    }
    for (size_t i = 0; i < n; ++i) integers[i] = scalar_float_to_int(numbers[i], out->width, is_unsigned);
  } else {
    vmvx_to_integers(in->type, from, integers, n);
    if (to_float) {
      for (size_t i = 0; i < n; ++i) numbers[i] = scalar_int_to_float(integers[i], in->width, is_unsigned);
      vmvx_from_doubles(out->type, numbers, to, n);
      return;
    }
    for (size_t i = 0; i < n; ++i) integers[i] = scalar_int_to_int(integers[i], in->width, out->width, is_unsigned);
  }
  vmvx_from_integers(out->type, out->width, integers, to, n);
}

static void eval_cast(span_t in, span_t out, size_t n, bool is_unsigned) {
  for (size_t at = 0; at < n; at += CHUNK) {
    size_t count = n - at < CHUNK ? n - at : CHUNK;
    cast_chunk(&in, in.data + at * in.bytes, &out, out.data + at * out.bytes, count, is_unsigned);
  }
}

// out[i] = condition[i] ? a[i] : b[i] for elements of any type.
static void eval_select(const uint8_t* condition, span_t a, span_t b, uint8_t* out, size_t n) {
  switch (a.bytes) {
#define SIZE(bytes, ctype)                                                                     \
  case bytes:                                                                                  \
    for (size_t i = 0; i < n; ++i) {                                                           \
      ((ctype*)out)[i] = condition[i] ? ((const ctype*)a.data)[i] : ((const ctype*)b.data)[i]; \
    }                                                                                          \
    break;
    SIZE(1, uint8_t)
    SIZE(2, uint16_t)
    SIZE(4, uint32_t)
    SIZE(8, uint64_t)
#undef SIZE
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Instructions
//===----------------------------------------------------------------------------------------------------------------===

typedef struct eval_t {
  const vmvx_function_t* function;
  const vmvx_instr_t* instr;
  uint8_t* frame;
  size_t threads;
} eval_t;

static const vmvx_register_t* reg(const eval_t* e, uint32_t i) { return &e->function->registers[e->instr->x[i]]; }
static uint8_t* at(const eval_t* e, uint32_t i) { return e->frame + reg(e, i)->offset * e->threads; }
static span_t span(const eval_t* e, uint32_t i) {
  const vmvx_register_t* r = reg(e, i);
  return (span_t){at(e, i), r->type, r->width, r->bytes};
}
// Bytes of one lane of all threads.
static size_t row(const eval_t* e, uint32_t i) { return reg(e, i)->bytes * e->threads; }

static void eval_scalar(const eval_t* e) {
  const vmvx_instr_t* instr = e->instr;
  size_t n = reg(e, 0)->lanes * e->threads;
  if (instr->loop) {
    instr->loop(at(e, 0), at(e, 1), at(e, 2), at(e, 3), n, reg(e, 1)->width);
    return;
  }
  switch (instr->op) {
    case VMVX_OP_cast:
    case VMVX_OP_castu:
      eval_cast(span(e, 1), span(e, 0), n, instr->op == VMVX_OP_castu);
      break;
    case VMVX_OP_bitcast:
      memcpy(at(e, 0), at(e, 1), n * reg(e, 0)->bytes);
      break;
    case VMVX_OP_select: {
      bool one = reg(e, 1)->lanes != reg(e, 2)->lanes;  // one condition for all lanes
      span_t a = span(e, 2), b = span(e, 3);
      uint8_t* out = at(e, 0);
      size_t step = one ? row(e, 0) : 0;
      for (uint32_t lane = 0; lane < (one ? reg(e, 0)->lanes : 1); ++lane) {
        eval_select(at(e, 1), a, b, out, one ? e->threads : n);
        a.data += step, b.data += step, out += step;
      }
      break;
    }
    default: {
      uint32_t arity = (uint32_t)strlen(vmvx_op_operands(instr->op)) - 1;
      span_t in[3] = {span(e, 1), span(e, 2), span(e, 3)};
      eval_wide(instr->op, in, arity, span(e, 0), n);
    }
  }
}

static void fill(uint8_t* out, const uint8_t* element, uint32_t bytes, size_t n) {
  switch (bytes) {
#define SIZE(bytes, ctype)                                   \
  case bytes: {                                              \
    ctype value;                                             \
    memcpy(&value, element, bytes);                          \
    for (size_t i = 0; i < n; ++i) ((ctype*)out)[i] = value; \
    break;                                                   \
  }
    SIZE(1, uint8_t)
    SIZE(2, uint16_t)
    SIZE(4, uint32_t)
    SIZE(8, uint64_t)
#undef SIZE
  }
}

static void eval_constant(const eval_t* e, bool is_splat) {
  const vmvx_register_t* r = reg(e, 0);
  const uint8_t* data = e->function->data + e->instr->x[1];
  if (is_splat) {
    fill(at(e, 0), data, r->bytes, r->lanes * e->threads);
  } else {
    for (uint32_t i = 0; i < r->lanes; ++i) fill(at(e, 0) + i * row(e, 0), data + i * r->bytes, r->bytes, e->threads);
  }
  vmvx_normalize(r->type, r->width, at(e, 0), r->lanes * e->threads);
}

static void eval_splat(const eval_t* e) {
  const vmvx_register_t* r = reg(e, 0);
  uint8_t *out = at(e, 0), *in = at(e, 1);
  size_t size = row(e, 0);
  if (e->threads == 1) {
    fill(out, in, r->bytes, r->lanes);
  } else {
    for (uint32_t i = 0; i < r->lanes; ++i) memcpy(out + i * size, in, size);
  }
}

static void eval_iota(const eval_t* e) {
  const vmvx_register_t* r = reg(e, 0);
  for (uint32_t i = 0; i < r->lanes; ++i) {
    int64_t value = i;
    uint64_t element = 0;
    vmvx_from_integers(r->type, r->width, &value, &element, 1);
    fill(at(e, 0) + i * row(e, 0), (const uint8_t*)&element, r->bytes, e->threads);
  }
}

static void eval_extract_dynamic(const eval_t* e) {
  const vmvx_register_t* r = reg(e, 1);
  int64_t lane;
  for (size_t t = 0; t < e->threads; ++t) {
    memcpy(&lane, at(e, 2) + t * 8, 8);
    uint64_t from = (uint64_t)lane % r->lanes;
    memcpy(at(e, 0) + t * r->bytes, at(e, 1) + (from * e->threads + t) * r->bytes, r->bytes);
  }
}

static void eval_shuffle(const eval_t* e) {
  uint32_t lanes = reg(e, 1)->lanes, from;
  size_t size = row(e, 0);
  for (uint32_t i = 0; i < reg(e, 0)->lanes; ++i) {
    memcpy(&from, e->function->data + e->instr->x[3] + i * 4, 4);
    memcpy(at(e, 0) + i * size, from < lanes ? at(e, 1) + from * size : at(e, 2) + (from - lanes) * size, size);
  }
}

// In tree order: the upper half joins the lower (the middle one of an odd number waits), until one lane is left. The
// halves lie in the scratch space at the end of the frame.
static void eval_reduce(const eval_t* e) {
  const vmvx_register_t* r = reg(e, 1);
  size_t size = row(e, 1);
  uint8_t* scratch = e->frame + (size_t)e->function->scratch_offset * e->threads;
  memcpy(scratch, at(e, 1), r->lanes * size);
  for (uint32_t lanes = r->lanes, rest; lanes > 1; lanes = rest) {
    rest = (lanes + 1) / 2;
    size_t n = (lanes - rest) * e->threads;
    span_t a = {scratch, r->type, r->width, r->bytes}, b = a;
    b.data += rest * size;
    if (e->instr->loop) {
      e->instr->loop(a.data, a.data, b.data, a.data, n, r->width);
    } else {
      eval_wide(e->instr->x[2], (span_t[]){a, b, a}, 2, a, n);
    }
  }
  memcpy(at(e, 0), scratch, size);
}

void vmvx_eval(const vmvx_function_t* function, const vmvx_instr_t* instr, uint8_t* frame, uint32_t threads) {
  eval_t e = {function, instr, frame, threads};
  if (instr->op < VMVX_SCALAR_COUNT) {
    eval_scalar(&e);
    return;
  }
  switch (instr->op) {
    case VMVX_OP_constant:
    case VMVX_OP_constant_splat:
      eval_constant(&e, instr->op == VMVX_OP_constant_splat);
      break;
    case VMVX_OP_iota:
      eval_iota(&e);
      break;
    case VMVX_OP_splat:
      eval_splat(&e);
      break;
    case VMVX_OP_extract:
      memcpy(at(&e, 0), at(&e, 1) + instr->x[2] * row(&e, 1), row(&e, 1));
      break;
    case VMVX_OP_extract_dynamic:
      eval_extract_dynamic(&e);
      break;
    case VMVX_OP_insert:
      if (instr->x[0] != instr->x[2]) memcpy(at(&e, 0), at(&e, 2), reg(&e, 0)->lanes * row(&e, 0));
      memcpy(at(&e, 0) + instr->x[3] * row(&e, 0), at(&e, 1), row(&e, 0));
      break;
    case VMVX_OP_shuffle:
      eval_shuffle(&e);
      break;
    case VMVX_OP_reduce:
      eval_reduce(&e);
      break;
    case VMVX_OP_mov:
      if (instr->x[0] != instr->x[1]) memcpy(at(&e, 0), at(&e, 1), reg(&e, 0)->lanes * row(&e, 0));
      break;
  }
}

void vmvx_eval_param(const vmvx_function_t* function, const vmvx_instr_t* instr, uint8_t* frame, uint32_t threads,
                     const uint32_t* constants) {
  eval_t e = {function, instr, frame, threads};
  const vmvx_register_t* r = reg(&e, 0);
  fill(at(&e, 0), (const uint8_t*)&constants[instr->x[1]], r->bytes, threads);
  vmvx_normalize(r->type, r->width, at(&e, 0), threads);
}

// On memory forms.
static uint64_t join_elements(uint32_t fn, const vmvx_memory_row_t* type, uint64_t a, uint64_t b) {
  if (fn == VMVX_EXCHANGE) return b;
  uint64_t result = 0;
  span_t x = {(uint8_t*)&a, type->type, type->width, (uint8_t)vmvx_type_bytes(type->type)}, y = x, to = x;
  y.data = (uint8_t*)&b, to.data = (uint8_t*)&result;
  vmvx_normalize(type->type, type->width, &a, 1);
  eval_wide(fn, (span_t[]){x, y, x}, 2, to, 1);
  return result;
}

uint64_t vmvx_eval_atomic(uint32_t fn, const vmvx_memory_row_t* type, void* data, const void* value) {
  uint64_t old = 0, other = 0;
  memcpy(&other, value, vmvx_type_bytes(type->type));
  switch (vmvx_type_bytes(type->type)) {
#define SIZE(size, ctype)                                                                                          \
  case size: {                                                                                                     \
    ctype expected = __atomic_load_n((ctype*)data, __ATOMIC_RELAXED), desired;                                     \
    do {                                                                                                           \
      old = expected;                                                                                              \
      desired = (ctype)join_elements(fn, type, old, other);                                                        \
    } while (                                                                                                      \
        !__atomic_compare_exchange_n((ctype*)data, &expected, desired, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
    break;                                                                                                         \
  }
    SIZE(1, uint8_t)
    SIZE(2, uint16_t)
    SIZE(4, uint32_t)
    SIZE(8, uint64_t)
#undef SIZE
  }
  return old;
}
