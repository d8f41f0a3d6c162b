// Numbers in memory form: integers of 1 to 64 bits, IEEE and machine-learning float formats.
#include <string.h>

#include "base/small_float.h"
#include "ir/ir.h"

int64_t ir_scalar_load_integer(const ir_type_t* t, const void* data) {
  if (t->kind == IR_TYPE_FLOAT) {
    double value = ir_scalar_load_number(t, data);
    return value != value ? 0 : value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : (int64_t)value;
  }
  uint64_t raw = 0;  // of wider integers the low 64 bits
  memcpy(&raw, data, ir_type_bytes(t) < sizeof(raw) ? ir_type_bytes(t) : sizeof(raw));
  uint32_t width = t->kind == IR_TYPE_INDEX ? 64 : t->width;
  if (width >= 64) return (int64_t)raw;
  if (width == 0) return 0;
  if (width == 1 && t->sign != IR_SIGNED) return raw & 1;
  uint32_t shift = 64 - width;
  return t->sign == IR_UNSIGNED ? (int64_t)(raw << shift >> shift) : (int64_t)(raw << shift) >> shift;
}

double ir_scalar_load_number(const ir_type_t* t, const void* data) {
  if (t->kind != IR_TYPE_FLOAT) {
    int64_t value = ir_scalar_load_integer(t, data);
    return t->sign == IR_UNSIGNED ? (double)(uint64_t)value : (double)value;
  }
  if (t->float_kind == IR_F64) {
    double value;
    memcpy(&value, data, 8);
    return value;
  }
  if (t->float_kind == IR_F32 || t->float_kind == IR_TF32) {
    float value;
    memcpy(&value, data, 4);
    return value;
  }
  uint32_t raw = 0;
  memcpy(&raw, data, ir_type_bytes(t));
  return small_float_decode((small_float_t)t->float_kind, raw);
}

void ir_scalar_store_integer(const ir_type_t* t, int64_t value, void* data) {
  if (t->kind == IR_TYPE_FLOAT) {
    ir_scalar_store_number(t, (double)value, data);
    return;
  }
  if (t->kind == IR_TYPE_INTEGER && t->width == 1) value &= 1;
  size_t size = ir_type_bytes(t), known = size < sizeof(value) ? size : sizeof(value);
  memcpy(data, &value, known);
  memset((char*)data + known, value < 0 && t->sign != IR_UNSIGNED ? 0xFF : 0, size - known);
}

void ir_scalar_store_number(const ir_type_t* t, double value, void* data) {
  if (t->kind != IR_TYPE_FLOAT) {
    int64_t integer = value != value ? 0 : value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : (int64_t)value;
    if (t->sign == IR_UNSIGNED && value >= 0x1p63) integer = (int64_t)(value >= 0x1p64 ? UINT64_MAX : (uint64_t)value);
    ir_scalar_store_integer(t, integer, data);
    return;
  }
  if (t->float_kind == IR_F64) {
    memcpy(data, &value, 8);
  } else if (t->float_kind == IR_F32 || t->float_kind == IR_TF32) {
    float narrow = (float)value;
    memcpy(data, &narrow, 4);
  } else {
    uint32_t raw = small_float_encode((small_float_t)t->float_kind, value);
    memcpy(data, &raw, ir_type_bytes(t));
  }
}
