// MurmurHash3 (x86, 32 bits) of each element's bytes, which are one or two words: ONNX Runtime's operator.
#include "import/onnx/ops.h"

static ir_value_t* by_number(onnx_node_t* n, scalar_fn_t fn, ir_value_t* x, uint32_t number) {
  return onnx_binary_number(n, fn, x, (double)(int32_t)number);
}

static ir_value_t* rotate_left(onnx_node_t* n, ir_value_t* x, uint32_t count) {
  return graph_binary(n->b, SCALAR_or, by_number(n, SCALAR_shl, x, count), by_number(n, SCALAR_shru, x, 32 - count));
}

static ir_value_t* shift_in(onnx_node_t* n, ir_value_t* x, uint32_t count) {
  return graph_binary(n->b, SCALAR_xor, x, by_number(n, SCALAR_shru, x, count));
}

static ir_value_t* add_word(onnx_node_t* n, ir_value_t* hash, ir_value_t* word) {
  word = rotate_left(n, by_number(n, SCALAR_mul, word, 0xcc9e2d51), 15);
  hash = graph_binary(n->b, SCALAR_xor, hash, by_number(n, SCALAR_mul, word, 0x1b873593));
  return by_number(n, SCALAR_add, by_number(n, SCALAR_mul, rotate_left(n, hash, 13), 5), 0xe6546b64);
}

static ir_value_t* finish_hash(onnx_node_t* n, ir_value_t* hash, uint32_t size) {
  hash = shift_in(n, by_number(n, SCALAR_xor, hash, size), 16);
  hash = shift_in(n, by_number(n, SCALAR_mul, hash, 0x85ebca6b), 13);
  return shift_in(n, by_number(n, SCALAR_mul, hash, 0xc2b2ae35), 16);
}

bool onnx_lower_murmur_hash(onnx_node_t* n) {
  const ir_type_t *element = n->in[0].element, *word = ir_type_int(n->ctx, 32);
  bool number =
      (ir_type_is_int(element) || ir_type_is_float(element)) && (element->width == 32 || element->width == 64);
  if (!number) return onnx_error(n, "takes numbers of 32 or 64 bits, not %s", ir_type_str(n->ctx, element));
  ir_value_t* bits = graph_bitcast(n->b, n->in[0].v, ir_type_int(n->ctx, element->width));
  ir_value_t* low = element->width == 32 ? bits : graph_cast(n->b, bits, word, false);
  ir_value_t* hash = graph_splat_like(n->b, low, (double)(int32_t)onnx_int(n, "seed", 0));
  hash = add_word(n, hash, low);
  if (element->width == 64)
    hash = add_word(n, hash, graph_cast(n->b, onnx_binary_number(n, SCALAR_shru, bits, 32), word, false));
  hash = finish_hash(n, hash, element->width / 8);
  return onnx_return(n, hash, ir_type_integer(n->ctx, 32, onnx_int(n, "positive", 1) ? IR_UNSIGNED : IR_SIGNED));
}
