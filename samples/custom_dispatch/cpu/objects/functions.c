// Functions for dispatches, in an object file that is linked into the program's executable: no C library, no globals.
//   cc -c -O2 -fPIC -ffreestanding -fno-builtin -fno-stack-protector functions.c -o functions_x86_64.o
#include <stddef.h>

// out = the mean of x and y, `count` elements from each offset on.
void average(const float* x, size_t x_offset, const float* y, size_t y_offset, float* out, size_t out_offset,
             size_t count) {
  for (size_t i = 0; i < count; ++i) out[out_offset + i] = 0.5f * (x[x_offset + i] + y[y_offset + i]);
}

// A memref<?xf32> as MLIR passes it: allocated and aligned pointer, offset, size, stride. Multiplies sixteen elements.
void scale(float* allocated, float* aligned, size_t offset, size_t size, size_t stride, size_t chunk, float factor) {
  (void)allocated;
  for (size_t i = 16 * chunk; i < 16 * (chunk + 1) && i < size; ++i) aligned[offset + i * stride] *= factor;
}
