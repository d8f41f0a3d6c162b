// Winograd's convolution of images by 3x3 kernels (F(2x2, 3x3), F(4x4, 3x3)): a tile of results out of a tile of the
// image, two positions larger, by one product for each position of that instead of nine for each result. Along each
// axis weights, image and products go through a small matrix, which interpolation at the points 0, p, -p, .. and
// infinity gives:
//
//   weights  u = w0;  (w0 + p w1 + p^2 w2) / n, (w0 - p w1 + p^2 w2) / n, ..;  w2     n = 2 p^2 times (p^2 - q^2), ..
//   image    the coefficients of the polynomials that are zero at all other points
//   results  y[k] = u[0] (k = 0) + the sum of p^k u[p] + (-p)^k u[-p] + u[infinity] (the last k)
//
// Points decide how far roundings grow: at 5/8 and 3/2 the largest error is about twice that of sums one by one, where
// at 1 and 2 it is eight times. Scales are such that the first and last of u are weights as they are.
#ifndef IREE_C_PASSES_WINOGRAD_H_
#define IREE_C_PASSES_WINOGRAD_H_

#include "ir/ir.h"

enum { WINOGRAD_TAPS = 3, WINOGRAD_MOST_PAIRS = 2, WINOGRAD_MOST_SIDE = 6 };

typedef struct winograd_form_t {
  int64_t results, side;  // of a tile along each axis: results, and positions of the image
  int64_t pairs;          // of points
  double points[WINOGRAD_MOST_PAIRS];
} winograd_form_t;

// Form `i`, or NULL past the last; the one of that side, or NULL.
const winograd_form_t* winograd_form_at(size_t i);
const winograd_form_t* winograd_form_of(int64_t side);
// Coefficients, lowest first, of the product of x - q^2 over the points q but that of pair `without` (-1: over all):
// pairs + 1 of them, or one less.
void winograd_polynomial(const winograd_form_t* f, int64_t without, double* out);
// n of a pair.
double winograd_scale(const winograd_form_t* f, int64_t pair);

// Weights [outputs, inputs, 3, 3] as [panels, side^2, inputs, panel], each panel with as many outputs, zeros behind the
// last.
const ir_attr_t* constant_winograd(ir_context_t* ctx, const ir_attr_t* value, const winograd_form_t* f, int64_t panel);

#endif  // IREE_C_PASSES_WINOGRAD_H_
