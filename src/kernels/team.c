// See team.h.
#include "kernels/team.h"

team_t team_begin(dispatch_t* d, int64_t threads) {
  kernel_build_t* k = &d->k;
  if (threads > d->device->max_workgroup_size) threads = d->device->max_workgroup_size;
  team_t t = {.size = threads, .subgroup = d->device->subgroup_size};
  ir_op_set_attr(d->ctx, k->func, "workgroup_size", ir_attr_i64_array(d->ctx, (int64_t[]){threads, 1, 1}, 3));
  t.subgroups = t.size / t.subgroup;
  ir_value_t* thread = kernel_id(&k->b, KERNEL_THREAD_ID, 0);
  index_set_facts(k, thread, 0, t.size - 1, 1);
  t.thread = linear_value(thread);
  linear_divide(k, t.thread, t.subgroup, &t.number, &t.lane);
  return t;
}

ir_value_t* team_shuffle(kernel_build_t* k, ir_value_t* value, const char* mode, int64_t distance) {
  ir_named_attr_t attr = {"mode", ir_attr_cstring(k->ctx, mode)};
  ir_value_t* operands[] = {value, kernel_integer(&k->b, ir_type_int(k->ctx, 32), distance)};
  ir_op_state_t state = {.info = ir_context_op(k->ctx, KERNEL_SUBGROUP_SHUFFLE),
                         .operands = operands,
                         .operand_count = 2,
                         .result_types = &value->type,
                         .result_count = 1,
                         .attrs = &attr,
                         .attr_count = 1};
  return ir_result(ir_build(&k->b, &state), 0);
}

// Lanes that vector instructions do not exchange between are read one by one, once those next to them have all the
// same: that takes fewer cycles than two ways through the hardware of workgroup memory.
ir_value_t* team_fold(kernel_build_t* k, scalar_fn_t fn, ir_value_t* value) {
  enum { MOST_ROWS = 4 };
  int64_t lanes = k->device->subgroup_size, row = k->device->exchanged_lanes;
  if (row == 0 || row > lanes || lanes / row > MOST_ROWS) row = lanes;
  for (int64_t distance = row / 2; distance > 0; distance /= 2) {
    value = kernel_binary(&k->b, fn, value, team_shuffle(k, value, "xor", distance));
  }
  int64_t rows = lanes / row;
  if (rows == 1) return value;
  ir_value_t* parts[MOST_ROWS];
  for (int64_t i = 0; i < rows; ++i) parts[i] = team_shuffle(k, value, "index", i * row);
  for (; rows > 1; rows /= 2) {
    for (int64_t i = 0; i < rows / 2; ++i) parts[i] = kernel_binary(&k->b, fn, parts[2 * i], parts[2 * i + 1]);
  }
  return parts[0];
}

void team_barrier(kernel_build_t* k) { ir_build_op(&k->b, KERNEL_BARRIER, NULL, 0, NULL); }

void team_wait_for_copies(kernel_build_t* k, int64_t pending) {
  ir_op_t* wait = ir_build_op(&k->b, KERNEL_ASYNC_WAIT, NULL, 0, NULL);
  ir_op_set_attr(k->ctx, wait, "pending", ir_attr_i64(k->ctx, pending));
}

iterations_t team_iterations(dispatch_t* d, const extent_t* count) {
  enum { MAX_GROUPS = 65535 };
  kernel_build_t* k = &d->k;
  iterations_t it = {0};
  ir_value_t* group = kernel_id(&k->b, KERNEL_WORKGROUP_ID, 0);
  index_set_facts(k, group, 0, MAX_GROUPS - 1, 1);
  if (extent_is_fixed(count) && count->factor <= MAX_GROUPS) {
    d->workgroups[0] = count->factor;
    index_set_facts(k, group, 0, count->factor - 1, 1);
    it.index = linear_value(group);
    return it;
  }
  if (extent_is_fixed(count)) {
    d->workgroups[0] = MAX_GROUPS;
  } else {
    dispatch_set_rule(d, count, 1, MAX_GROUPS);
  }
  it.has_loop = true;
  it.loop = kernel_loop_begin(k, group, extent_value(k, count), MAX_GROUPS, NULL, 0);
  it.index = linear_value(it.loop.index);
  return it;
}
