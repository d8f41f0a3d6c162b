// Constants that are transposed and packed at compile time, in whole and in pieces.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// cmocka.h needs the headers above.
#include <cmocka.h>

#include "dialects/register.h"
#include "passes/constant_move.h"

// Elements 0, 1, 2, ... of i32, or of i8.
static const ir_attr_t* numbers(ir_context_t* ctx, uint32_t width, int32_t rank, const int64_t* dims) {
  const ir_type_t* type = ir_type_tensor(ctx, ir_type_int(ctx, width), rank, dims);
  int64_t count = ir_type_count(type);
  char* data = arena_alloc(ir_context_arena(ctx), (size_t)count * width / 8);
  for (int64_t i = 0; i < count; ++i) ir_scalar_store_integer(type->element, i, data + (size_t)i * width / 8);
  return ir_attr_elements_borrow(ctx, type, data, (size_t)count * width / 8);
}

// What is read in pieces of a unit is what the whole has.
static void check_pieces(const ir_attr_t* attr) {
  size_t unit = attr->lazy ? attr->lazy->unit : 1;
  unit *= unit < 100 ? 13 : 1;
  unsigned char* piece = malloc(unit);
  unsigned char* copy = malloc(attr->size);
  for (size_t at = 0; at < attr->size; at += unit) {
    size_t size = attr->size - at < unit ? attr->size - at : unit;
    ir_attr_read(attr, at, size, piece);
    memcpy(copy + at, piece, size);
  }
  assert_memory_equal(copy, ir_attr_data(attr), attr->size);
  free(piece);
  free(copy);
}

static void check_transpose(ir_context_t* ctx, uint32_t width, const int64_t* dims, const int64_t* perm) {
  const ir_attr_t *x = numbers(ctx, width, 3, dims), *y = constant_transpose(ctx, x, perm);
  check_pieces(y);
  int64_t strides[3] = {dims[1] * dims[2], dims[2], 1}, at = 0;
  const ir_type_t* type = y->type;
  for (int64_t i = 0; i < type->dims[0]; ++i) {
    for (int64_t j = 0; j < type->dims[1]; ++j) {
      for (int64_t k = 0; k < type->dims[2]; ++k, ++at) {
        int64_t from = i * strides[perm[0]] + j * strides[perm[1]] + k * strides[perm[2]];
        assert_int_equal(ir_attr_element_integer(y, at), ir_attr_element_integer(x, from));
      }
    }
  }
}

static void test_transpose(void** unused) {
  static const int64_t shapes[][3] = {{5, 7, 32}, {40, 3, 64}, {2, 2, 2}, {9, 33, 17}};
  static const int64_t perms[][3] = {{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {1, 2, 0}, {0, 2, 1}, {2, 0, 1}};
  ir_context_t* ctx = ir_context_create();
  for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); ++s) {
    for (size_t p = 0; p < sizeof(perms) / sizeof(perms[0]); ++p) {
      check_transpose(ctx, 32, shapes[s], perms[p]);
      check_transpose(ctx, 8, shapes[s], perms[p]);
    }
  }
  ir_context_destroy(ctx);
}

static void check_pack(ir_context_t* ctx, uint32_t width, const int64_t* dims, int64_t tile) {
  const ir_attr_t *x = numbers(ctx, width, 3, dims), *y = constant_pack(ctx, x, 1, tile);
  check_pieces(y);
  int64_t blocks = (dims[1] + tile - 1) / tile, at = 0;
  assert_int_equal(y->size * 8 / width, dims[0] * blocks * dims[2] * tile);
  for (int64_t i = 0; i < dims[0]; ++i) {
    for (int64_t block = 0; block < blocks; ++block) {
      for (int64_t k = 0; k < dims[2]; ++k) {
        for (int64_t t = 0; t < tile; ++t, ++at) {
          int64_t j = block * tile + t;
          int64_t wanted = j < dims[1] ? ir_attr_element_integer(x, (i * dims[1] + j) * dims[2] + k) : 0;
          assert_int_equal(ir_attr_element_integer(y, at), wanted);
        }
      }
    }
  }
}

static void test_pack(void** unused) {
  static const int64_t shapes[][3] = {{3, 32, 9}, {1, 40, 25}, {2, 7, 1}, {4, 16, 1}, {1, 1, 300}};
  ir_context_t* ctx = ir_context_create();
  for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); ++s) {
    for (int64_t tile = 8; tile <= 32; tile *= 2) {
      check_pack(ctx, 32, shapes[s], tile);
      check_pack(ctx, 8, shapes[s], tile);
    }
  }
  ir_context_destroy(ctx);
}

// Panels of a matrix as strategies want them: a transposed copy of a packed one, and of one that is packed already.
static void test_both(void** unused) {
  static const int64_t swap[] = {1, 0, 2};
  ir_context_t* ctx = ir_context_create();
  for (int64_t columns = 96; columns <= 100; columns += 4) {
    int64_t dims[] = {50, columns}, blocks = (columns + 31) / 32;
    const ir_attr_t* x = numbers(ctx, 32, 2, dims);
    const ir_attr_t* y = constant_transpose(ctx, constant_pack(ctx, x, 1, 32), swap);
    check_pieces(y);
    for (int64_t at = 0; at < blocks * 50 * 32; ++at) {
      int64_t row = at / 32 % 50, column = at / (50 * 32) * 32 + at % 32;
      assert_int_equal(ir_attr_element_integer(y, at), column < columns ? row * columns + column : 0);
    }
  }
  ir_context_destroy(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_transpose),
      cmocka_unit_test(test_pack),
      cmocka_unit_test(test_both),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
