// Rows on CPUs that more than one sweep goes over: what the next row reads and stores comes near while a sweep computes
// on this one. By itself the processor would fetch it once the first sweep gets there, which waits for it.
#include "kernels/rows.h"

extent_t rows_find_next(const rows_t* r) {
  enum { SHORT = 1024, PARTS = 4 };
  const device_info_t* device = r->d->device;
  int64_t bytes = ir_type_bytes(r->full->element);
  extent_t none = extent_fixed(0), row = extent_fixed(1), count = eval_count(r->value);
  if (device->kind != DEVICE_CPU || !r->along) return none;
  if (r->reduced[0] != r->full->rank - (int64_t)r->reduced_count) return none;  // others than the last dimensions
  for (uint32_t i = 0; i < r->reduced_count; ++i) row = extent_product(row, r->sizes[r->reduced[i]]);
  if (extent_is_fixed(&row) && (row.factor * bytes < SHORT || row.factor * bytes > device->l1_bytes / PARTS))
    return none;
  return extent_is_fixed(&count) && count.factor * bytes <= device->l2_bytes ? none : row;
}

static void fetch(rows_sweep_t* s, ir_value_t* tensor, const linear_t* coords, bool writes) {
  enum { FIRST_LEVEL = 3 };
  kernel_build_t* k = &s->r->d->k;
  linear_t next = eval_offset(k, tensor, coords);
  next = linear_add(k, next, linear_value(extent_value(k, &s->r->next_row)));
  next.lane = 0;
  ir_value_t* memory = ((const source_t*)tensor->data)->memory;
  kernel_prefetch(&k->b, memory, linear_scalar(k, &next), FIRST_LEVEL, writes);
}

void rows_fetch_next(rows_sweep_t* s, const linear_t* coords) {
  dispatch_t* d = s->r->d;
  for (uint32_t i = 0; i < d->body->arg_count; ++i) {
    ir_value_t* arg = d->body->args[i];
    if (ir_type_is_tensor(arg->type) && rows_is_full(s->r, arg)) fetch(s, arg, coords, false);
  }
  for (uint32_t i = 0; i < d->yield->operand_count; ++i) {
    if (rows_is_full(s->r, d->outputs[i])) fetch(s, d->outputs[i], coords, true);
  }
}
