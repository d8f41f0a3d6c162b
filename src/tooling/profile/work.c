// See work.h.
#include "tooling/profile/work.h"

#include <ctype.h>

enum { MAX_DIMS = 12, MAX_TYPES = 3 };

// Takes what stands behind the last underscore off a name; empty when there is none.
static iree_string_view_t take_last(iree_string_view_t* name) {
  iree_host_size_t at = iree_string_view_find_last_of(*name, IREE_SV("_"), IREE_STRING_VIEW_NPOS);
  if (at == IREE_STRING_VIEW_NPOS) return iree_string_view_empty();
  iree_string_view_t last = iree_string_view_substr(*name, at + 1, IREE_STRING_VIEW_NPOS);
  *name = iree_string_view_substr(*name, 0, at);
  return last;
}

// "64x128x256"; false for anything else, such as sizes that are not known ("Dx64").
static bool parse_dims(iree_string_view_t text, double dims[MAX_DIMS], int* out_count) {
  *out_count = 0;
  while (text.size) {
    iree_string_view_t dim;
    uint32_t value = 0;
    iree_string_view_split(text, 'x', &dim, &text);
    if (*out_count == MAX_DIMS || !iree_string_view_atoi_uint32(dim, &value) || !value) return false;
    dims[(*out_count)++] = value;
  }
  return *out_count != 0;
}

// Bytes of elements: "f32", or "f16xf16xf32" of both operands and the result.
static bool parse_types(iree_string_view_t text, double sizes[MAX_TYPES]) {
  int count = 0;
  while (text.size) {
    iree_string_view_t type;
    iree_string_view_split(text, 'x', &type, &text);
    while (type.size && isalpha((unsigned char)type.data[0])) type = iree_string_view_remove_prefix(type, 1);
    // What follows the bits is of the format: f8E4M3FN.
    iree_host_size_t digits = 0;
    while (digits < type.size && isdigit((unsigned char)type.data[digits])) ++digits;
    uint32_t bits = 0;
    if (count == MAX_TYPES || !iree_string_view_atoi_uint32(iree_string_view_substr(type, 0, digits), &bits) || !bits) {
      return false;
    }
    sizes[count++] = bits / 8.0;
  }
  if (count == 1) sizes[1] = sizes[2] = sizes[0];
  return count == 1 || count == MAX_TYPES;
}

// The op: what follows "_dispatch_" and its number.
static iree_string_view_t op_of(iree_string_view_t name) {
  const iree_string_view_t mark = IREE_SV("_dispatch_");
  for (iree_host_size_t i = name.size; i-- > 0;) {
    iree_string_view_t rest = iree_string_view_substr(name, i, IREE_STRING_VIEW_NPOS), number;
    if (!iree_string_view_consume_prefix(&rest, mark)) continue;
    return iree_string_view_split(rest, '_', &number, &rest) >= 0 ? rest : iree_string_view_empty();
  }
  return iree_string_view_empty();
}

profile_work_t profile_work_of_name(iree_string_view_t name) {
  profile_work_t work = {0};
  double dims[MAX_DIMS], sizes[MAX_TYPES], product = 1;
  int count = 0;
  iree_string_view_t types = take_last(&name);
  if (!parse_types(types, sizes) || !parse_dims(take_last(&name), dims, &count)) return work;
  for (int i = 0; i < count; ++i) product *= dims[i];
  iree_string_view_t op = op_of(name);
  bool is_product = iree_string_view_starts_with(op, IREE_SV("matmul"));
  bool is_batch = iree_string_view_starts_with(op, IREE_SV("batch_matmul"));
  work.has_flops = is_product || is_batch || iree_string_view_starts_with(op, IREE_SV("conv")) ||
                   iree_string_view_starts_with(op, IREE_SV("depthwise_conv"));
  work.flops = work.has_flops ? 2 * product : 0;
  // Rows, columns and depth, which is the last; a batch before them.
  work.has_bytes = is_batch ? count == 4 : is_product && count == 3;
  if (!work.has_bytes) return work;
  double depth = dims[count - 1], columns = dims[count - 2], rows = dims[count - 3], batch = is_batch ? dims[0] : 1;
  work.bytes = batch * (rows * depth * sizes[0] + depth * columns * sizes[1] + rows * columns * sizes[2]);
  return work;
}
