// See winograd.h: its forms, and weights brought into one.
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "passes/winograd.h"

static const winograd_form_t forms[] = {{2, 4, 1, {1}}, {4, 6, 2, {0.625, 1.5}}};

const winograd_form_t* winograd_form_at(size_t i) { return i < sizeof(forms) / sizeof(forms[0]) ? &forms[i] : NULL; }

const winograd_form_t* winograd_form_of(int64_t side) {
  for (size_t i = 0; winograd_form_at(i); ++i) {
    if (forms[i].side == side) return &forms[i];
  }
  return NULL;
}

void winograd_polynomial(const winograd_form_t* f, int64_t without, double* out) {
  int64_t degree = 0;
  out[0] = 1;
  for (int64_t i = 0; i < f->pairs; ++i) {
    if (i == without) continue;
    double root = f->points[i] * f->points[i];
    out[degree + 1] = out[degree];
    for (int64_t k = degree; k > 0; --k) out[k] = out[k - 1] - root * out[k];
    out[0] *= -root;
    ++degree;
  }
}

double winograd_scale(const winograd_form_t* f, int64_t pair) {
  double square = f->points[pair] * f->points[pair], scale = 2 * square;
  for (int64_t i = 0; i < f->pairs; ++i) {
    if (i != pair) scale *= square - f->points[i] * f->points[i];
  }
  return scale;
}

//===----------------------------------------------------------------------------------------------------------------===
// Weights
//===----------------------------------------------------------------------------------------------------------------===

enum { TAPS = WINOGRAD_TAPS, SIDE = WINOGRAD_MOST_SIDE, LANES = 8 };

// A unit is a panel.
typedef struct transformed_t {
  ir_lazy_t lazy;
  const ir_attr_t* from;
  const winograd_form_t* form;
  int64_t outputs, inputs, panel;
} transformed_t;

// Numbers of several outputs.
typedef struct lanes_t {
  float at[LANES];
} lanes_t;

// Along one axis: three numbers, `apart` from each other, to one for each position.
static void transform_axis(const winograd_form_t* f, const lanes_t* w, int64_t apart, lanes_t* out, int64_t out_apart) {
  out[0] = w[0];
  out[(f->side - 1) * out_apart] = w[2 * apart];
  for (int64_t i = 0; i < f->pairs; ++i) {
    float scale = (float)(1 / winograd_scale(f, i)), point = (float)f->points[i], square = point * point;
    lanes_t *above = &out[(1 + 2 * i) * out_apart], *below = above + out_apart;
    for (int l = 0; l < LANES; ++l) {
      float even = w[0].at[l] + square * w[2 * apart].at[l], odd = point * w[apart].at[l];
      above->at[l] = (even + odd) * scale;
      below->at[l] = (even - odd) * scale;
    }
  }
}

static void transform_kernels(const winograd_form_t* f, const lanes_t* w, lanes_t* out) {
  lanes_t half[SIDE * TAPS];
  for (int64_t column = 0; column < TAPS; ++column) transform_axis(f, w + column, TAPS, half + column, TAPS);
  for (int64_t row = 0; row < f->side; ++row) transform_axis(f, half + row * TAPS, 1, out + row * f->side, 1);
}

// Of a panel's first `count` outputs, of which `from` has the kernels.
static void transform_panel(const transformed_t* p, const float* from, int64_t count, unsigned char* out) {
  int64_t positions = p->form->side * p->form->side, line = p->panel * (int64_t)sizeof(float);
  lanes_t w[TAPS * TAPS] = {0}, u[SIDE * SIDE];
  for (int64_t c = 0; c < p->inputs; ++c, out += line) {
    for (int64_t first = 0; first < count; first += LANES) {
      int64_t lanes = count - first < LANES ? count - first : LANES;
      for (int64_t l = 0; l < lanes; ++l) {
        const float* kernel = from + ((first + l) * p->inputs + c) * TAPS * TAPS;
        for (int i = 0; i < TAPS * TAPS; ++i) w[i].at[l] = kernel[i];
      }
      transform_kernels(p->form, w, u);
      for (int64_t i = 0; i < positions; ++i) {
        memcpy(out + i * p->inputs * line + first * (int64_t)sizeof(float), u[i].at, (size_t)lanes * sizeof(float));
      }
    }
  }
}

static void transformed_read(const ir_lazy_t* lazy, size_t offset, size_t size, unsigned char* out) {
  const transformed_t* p = (const transformed_t*)lazy;
  size_t kernels = (size_t)(p->inputs * TAPS * TAPS), unit = lazy->unit;
  float* from = memory_alloc(kernels * (size_t)p->panel * sizeof(float));
  for (int64_t number = (int64_t)(offset / unit); size; ++number, size -= unit, out += unit) {
    int64_t first = number * p->panel, count = p->outputs - first < p->panel ? p->outputs - first : p->panel;
    ir_attr_read(p->from, (size_t)first * kernels * sizeof(float), (size_t)count * kernels * sizeof(float), from);
    if (count < p->panel) memset(out, 0, unit);
    transform_panel(p, from, count, out);
  }
  memory_free(from);
}

const ir_attr_t* constant_winograd(ir_context_t* ctx, const ir_attr_t* value, const winograd_form_t* f, int64_t panel) {
  const ir_type_t* type = value->type;
  assert(type->rank == 4 && type->dims[2] == TAPS && type->dims[3] == TAPS);
  transformed_t p = {.from = value, .form = f, .outputs = type->dims[0], .inputs = type->dims[1], .panel = panel};
  int64_t dims[] = {(p.outputs + panel - 1) / panel, f->side * f->side, p.inputs, panel};
  const ir_type_t* to = ir_type_tensor(ctx, type->element, 4, dims);
  if (value->splat) {
    size_t count = (size_t)ir_type_count(type);
    float* data = arena_alloc(ir_context_arena(ctx), count * sizeof(float));
    for (size_t i = 0; i < count; ++i) memcpy(&data[i], ir_attr_data(value), sizeof(float));
    p.from = ir_attr_elements_borrow(ctx, type, data, count * sizeof(float));
  }
  p.lazy = (ir_lazy_t){.read = transformed_read,
                       .size = (size_t)ir_type_count(to) * sizeof(float),
                       .unit = (size_t)(dims[1] * dims[2] * panel) * sizeof(float),
                       .recipe = sizeof(p) - sizeof(p.lazy)};
  if (p.from->lazy && p.from->lazy->unit > 1) ir_attr_data(p.from);  // it is read in other pieces
  return ir_attr_lazy(ctx, to, NULL, arena_copy(ir_context_arena(ctx), &p, sizeof(p)));
}
