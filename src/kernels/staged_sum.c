// The results of a workgroup's slices become one: all but the first bring their fragments to workgroup memory, each
// lane what it has of one side by side, as far as an access reaches, and the first adds them up. See staged.h.
#include "kernels/staged.h"
#include "kernels/team.h"

// Elements of the accumulator's type that a slice brings.
static int64_t slice_elements(const staged_t* s) {
  return staged_fragments(s) * s->f.row->c_lanes * staged_slice_threads(s);
}

int64_t staged_sum_bytes(const staged_t* s) {
  return (s->slices - 1) * slice_elements(s) * (int64_t)ir_type_bytes(s->f.product.accumulator);
}

static kernel_branch_t begin_if(kernel_build_t* k, scalar_fn_t compare, linear_t slice) {
  return kernel_if_begin(&k->b, kernel_binary(&k->b, compare, linear_scalar(k, &slice), kernel_index(&k->b, 0)), NULL,
                         0);
}

// Elements of a fragment that lie side by side: those of one access, so that threads' accesses do too.
static int64_t access_width(const staged_t* s) {
  enum { ACCESS_BYTES = 16 };
  int64_t width = ACCESS_BYTES / (int64_t)ir_type_bytes(s->f.product.accumulator), lanes = s->f.row->c_lanes;
  return lanes > width && lanes % width == 0 ? width : lanes;
}

// Where the thread's elements of a fragment are, from number `first` on, of slice number `slice`.
static linear_t fragment_spot(staged_t* s, linear_t slice, int64_t fragment, int64_t first) {
  kernel_build_t* k = &s->f.product.d->k;
  int64_t width = access_width(s), before = fragment * s->f.row->c_lanes + first;
  linear_t at = linear_add(k, linear_scale(k, slice, slice_elements(s)), linear_scale(k, s->slice_thread, width));
  at.constant += before * staged_slice_threads(s) - slice_elements(s);
  return at;
}

static ir_value_t* part_of(kernel_build_t* k, ir_value_t* fragment, int64_t first, int64_t width) {
  int64_t mask[FRAGMENT_MAX_HELD];
  if (width == kernel_lanes(fragment)) return fragment;
  for (int64_t i = 0; i < width; ++i) mask[i] = first + i;
  return kernel_shuffle(&k->b, fragment, fragment, mask, (uint32_t)width);
}

static void bring_fragments(staged_t* s, ir_value_t* memory, ir_value_t* const* acc) {
  kernel_build_t* k = &s->f.product.d->k;
  int64_t width = access_width(s);
  kernel_branch_t branch = begin_if(k, SCALAR_ne, s->slice);
  for (int64_t i = 0; i < staged_fragments(s); ++i) {
    for (int64_t first = 0; first < s->f.row->c_lanes; first += width) {
      linear_t at = fragment_spot(s, s->slice, i, first);
      ir_op_t* store = kernel_store(&k->b, part_of(k, acc[i], first, width), memory, linear_scalar(k, &at));
      eval_set_alignment(k, store, s->f.product.accumulator, &at);
    }
  }
  kernel_if_end(&k->b, &branch, NULL, 0);
}

static ir_value_t* load_fragment(staged_t* s, ir_value_t* memory, int64_t slice, int64_t fragment) {
  kernel_build_t* k = &s->f.product.d->k;
  int64_t width = access_width(s), lanes = s->f.row->c_lanes;
  const ir_type_t* type = s->f.product.accumulator;
  ir_value_t* result = NULL;
  if (width < lanes) result = kernel_number(&k->b, kernel_vector_type(k->ctx, type, lanes), 0);
  for (int64_t first = 0; first < lanes; first += width) {
    linear_t at = fragment_spot(s, linear_constant(slice), fragment, first);
    ir_value_t* part = kernel_load(&k->b, memory, linear_scalar(k, &at), width);
    eval_set_alignment(k, part->def, type, &at);
    if (width == lanes) return part;
    for (int64_t i = 0; i < width; ++i) {
      result = kernel_insert(&k->b, result, kernel_extract(&k->b, part, i), first + i);
    }
  }
  return result;
}

void staged_sum_begin(staged_t* s, ir_value_t** acc) {
  kernel_build_t* k = &s->f.product.d->k;
  if (s->slices == 1) return;
  const ir_type_t* type = s->f.product.accumulator;
  ir_value_t* memory = kernel_alloc(&k->b, type, (s->slices - 1) * slice_elements(s), IR_SPACE_WORKGROUP);
  ir_op_set_attr(k->ctx, memory->def, "align", ir_attr_i64(k->ctx, 16));
  bring_fragments(s, memory, acc);
  team_barrier(k);
  s->sum = begin_if(k, SCALAR_eq, s->slice);
  for (int64_t i = 0; i < staged_fragments(s); ++i) {
    for (int64_t other = 1; other < s->slices; ++other) {
      acc[i] = kernel_add(&k->b, acc[i], load_fragment(s, memory, other, i));
    }
  }
}

void staged_sum_end(staged_t* s) {
  if (s->slices > 1) kernel_if_end(&s->f.product.d->k.b, &s->sum, NULL, 0);
}
