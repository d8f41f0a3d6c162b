// An attention's scores: scale q k' + mask of a wave's queries and a tile of keys, -inf where a query does not see a
// key. See attention.c.
#include <math.h>
#include <string.h>

#include "kernels/attention.h"

void attention_hold_queries(attention_t* a) {
  kernel_build_t* k = attention_kernel(a);
  if (!a->queries_held) {
    attention_tile_bring(a, &a->q_tile, a->first_query);
    return;
  }
  int64_t steps = attention_depth_steps(a);
  for (int64_t y = 0; y < a->down; ++y) {
    linear_t row = linear_add(k, a->first_query, attention_wave_row(a, y));
    for (int64_t s = 0; s < steps; s += a->joined) {
      ir_value_t* loaded = attention_query_fragment(a, row, linear_constant(s * a->f.row->k));
      for (int32_t part = 0; part < a->joined; ++part) {
        a->query_fragments[y * steps + s + part] = fragment_part(&a->f, attention_side(a, true), loaded, part);
      }
    }
  }
}

// Of all the wave's queries, at joined steps.
typedef struct queries_t {
  ir_value_t* steps[ATTENTION_MAX_JOINED][ATTENTION_MAX_FRAGMENTS];
} queries_t;
static void query_fragments(attention_t* a, linear_t column, queries_t* out) {
  product_side_t side = attention_side(a, true);
  ir_value_t* loaded[ATTENTION_MAX_FRAGMENTS];
  attention_piece_t piece = attention_joined_piece(a, side, attention_wave_row(a, 0), column);
  if (!a->queries_held) attention_tile_fragments(a, &a->q_tile, &piece, a->down, loaded);
  for (int32_t part = 0; part < a->joined; ++part) {
    for (int64_t y = 0; y < a->down; ++y) {
      int64_t at = y * attention_depth_steps(a) + column.constant / a->f.row->k + part;
      out->steps[part][y] = a->queries_held ? a->query_fragments[at] : fragment_part(&a->f, side, loaded[y], part);
    }
  }
}

static void multiply_depth(attention_t* a, linear_t column, ir_value_t** scores) {
  int64_t blocks = attention_key_blocks(a), batch = attention_tile_batch(a, &a->k_tile);
  product_side_t side = attention_side(a, false);
  queries_t queries;
  ir_value_t* keys[ATTENTION_MAX_BATCH];
  query_fragments(a, column, &queries);
  for (int64_t x = 0; x < blocks; ++x) {
    attention_piece_t piece = attention_joined_piece(a, side, linear_constant(x * a->other_size), column);
    if (a->k_tile.turned) piece.width = fragment_free_run(&a->f, side);
    int64_t left = blocks - x < batch ? blocks - x : batch;
    if (x % batch == 0) attention_tile_fragments(a, &a->k_tile, &piece, left, keys);
    for (int32_t part = 0; part < a->joined; ++part) {
      ir_value_t* key = fragment_part(&a->f, side, keys[x % batch], part);
      for (int64_t y = 0; y < a->down; ++y) {
        ir_value_t** slot = &scores[y * blocks + x];
        *slot = attention_multiply(a, queries.steps[part][y], key, *slot);
      }
    }
  }
}

// q k', in a loop where that is many steps and q is not in registers.
static void multiply_keys(attention_t* a, ir_value_t** scores) {
  enum { UNROLLED = 8 };
  kernel_build_t* k = attention_kernel(a);
  uint32_t count = (uint32_t)(a->down * attention_key_blocks(a));
  int64_t depth = a->f.row->k, steps = attention_depth_steps(a), unrolled = steps;
  const ir_type_t* type = kernel_vector_type(k->ctx, ir_type_float(k->ctx, IR_F32), a->f.c.count);
  for (uint32_t i = 0; i < count; ++i) scores[i] = kernel_number(&k->b, type, 0);
  while (!a->queries_held && unrolled > UNROLLED && unrolled % (2 * a->joined) == 0) unrolled /= 2;
  kernel_loop_t loop = {0};
  linear_t column = linear_constant(0);
  if (unrolled < steps) {
    loop = kernel_loop_constant(k, 0, steps * depth, unrolled * depth, scores, count);
    column = linear_value(loop.index);
    memcpy(scores, loop.iters, sizeof(*scores) * count);
  }
  for (int64_t s = 0; s < unrolled; s += a->joined, column.constant += a->joined * depth) {
    multiply_depth(a, column, scores);
  }
  if (!loop.op) return;
  kernel_for_end(&k->b, &loop, scores, count);
  for (uint32_t i = 0; i < count; ++i) scores[i] = kernel_loop_result(&loop, i);
}

linear_t attention_clamp(kernel_build_t* k, linear_t at, const extent_t* size, int64_t width) {
  if (extent_is_fixed(size)) return fragment_clamp(k, at, size->factor, width);
  ir_value_t* last = index_binary(k, SCALAR_add, extent_value(k, size), index_constant(k, -width));
  ir_value_t* safe = kernel_binary(&k->b, SCALAR_min, linear_scalar(k, &at), last);
  index_set_facts(k, safe, 0, index_facts(last).max, width);
  return linear_value(safe);
}

// Elements of the mask that a fragment has one behind the other, from each multiple on.
static int32_t mask_run(const attention_t* a) {
  int32_t run = a->f.c.count < 4 ? a->f.c.count : 4;
  if (product_inner_dim(a->mask) != a->mask->type->rank - 1 || !extent_is_fixed(&a->keys)) return 1;
  while (run > 1 && a->keys.factor % run) run /= 2;
  for (int32_t i = 0; i < a->f.c.count; ++i) {
    const place_t* key = attention_other_place(a, i);
    while (i % run && (a->state[i] != a->state[i - 1] || key->base != key[-1].base + 1)) run /= 2;
    while (i % run == 0 && run > 1 && (key->base % run || key->low % run || key->high % run)) run /= 2;
  }
  return run;
}

// The mask at a fragment of scores, as f32.
static ir_value_t* mask_fragment(attention_t* a, linear_t row, linear_t key) {
  kernel_build_t* k = attention_kernel(a);
  const ir_type_t* f32 = ir_type_float(k->ctx, IR_F32);
  int32_t rank = a->mask->type->rank, run = mask_run(a), fewer = a->rank - rank;
  ir_value_t* result = kernel_number(&k->b, kernel_vector_type(k->ctx, f32, a->f.c.count), 0);
  for (int32_t i = 0; i < a->f.c.count; i += run) {
    linear_t coords[GRAPH_MAX_RANK];
    for (int32_t j = 0; j < rank - 2; ++j) coords[j] = a->coords[j + fewer];
    coords[rank - 2] = attention_clamp(k, fragment_at(&a->f, row, attention_query_place(a, i)), &a->queries, 1);
    coords[rank - 1] = attention_clamp(k, fragment_at(&a->f, key, attention_other_place(a, i)), &a->keys, run);
    coords[rank - 1].lane = run > 1;
    k->lanes = run;
    ir_value_t* part = eval_convert(k, eval_lanes(k, a->mask, coords), f32);
    k->lanes = 1;
    for (int32_t j = 0; j < run; ++j) {
      result = kernel_insert(&k->b, result, run > 1 ? kernel_extract(&k->b, part, j) : part, i + j);
    }
  }
  return result;
}

static void scale_scores(attention_t* a, linear_t first_key, ir_value_t** scores) {
  kernel_build_t* k = attention_kernel(a);
  int64_t blocks = attention_key_blocks(a);
  for (int64_t y = 0; attention_scales_first(a) && y < a->down; ++y) {
    linear_t row = linear_add(k, a->first_query, attention_wave_row(a, y));
    for (int64_t x = 0; x < blocks; ++x) {
      ir_value_t** slot = &scores[y * blocks + x];
      ir_value_t* scale = attention_number_like(k, *slot, a->scale);
      linear_t key = first_key;
      key.constant += x * a->other_size;
      *slot = a->mask ? eval_multiply_add(k, *slot, scale, mask_fragment(a, row, key))
                      : kernel_binary(&k->b, SCALAR_mul, *slot, scale);
    }
  }
}

ir_value_t* attention_seen_keys(attention_t* a, linear_t query) {
  kernel_build_t* k = attention_kernel(a);
  ir_value_t* keys = extent_value(k, &a->keys);
  if (!a->causal) return keys;
  linear_t seen = linear_add(k, query, linear_value(keys));
  seen = linear_add(k, seen, linear_scale(k, linear_value(extent_value(k, &a->queries)), -1));
  seen.constant += 1;
  return kernel_binary(&k->b, SCALAR_min, linear_scalar(k, &seen), keys);
}

// How many keys of a tile each element's query sees, from the element's place in its fragment on.
static ir_value_t* seen_elements(attention_t* a, linear_t row, linear_t first_key) {
  enum { FAR = 1 << 20 };
  kernel_build_t* k = attention_kernel(a);
  const ir_type_t* i32 = ir_type_int(k->ctx, 32);
  ir_value_t* counts[FRAGMENT_MAX_HELD] = {0};
  ir_value_t* result = kernel_number(&k->b, kernel_vector_type(k->ctx, i32, a->f.c.count), 0);
  for (int32_t i = 0; i < a->f.c.count; ++i) {
    place_t key = *attention_other_place(a, i);
    ir_value_t** count = &counts[a->state[i]];
    if (!*count) {
      linear_t query = fragment_at(&a->f, row, attention_query_place(a, i));
      linear_t lane = fragment_at(&a->f, first_key, &(place_t){0, key.low, key.high});
      ir_value_t* seen = kernel_binary(&k->b, SCALAR_sub, attention_seen_keys(a, query), linear_scalar(k, &lane));
      seen = kernel_binary(&k->b, SCALAR_min, seen, kernel_index(&k->b, FAR));
      seen = kernel_binary(&k->b, SCALAR_max, seen, kernel_index(&k->b, -FAR));
      *count = kernel_cast(&k->b, SCALAR_cast, seen, i32);
    }
    ir_value_t* one = kernel_binary(&k->b, SCALAR_sub, *count, kernel_integer(&k->b, i32, key.base));
    result = kernel_insert(&k->b, result, one, i);
  }
  return result;
}

static void hide(attention_t* a, linear_t first_key, ir_value_t** scores) {
  kernel_build_t* k = attention_kernel(a);
  int64_t blocks = attention_key_blocks(a);
  for (int64_t y = 0; y < a->down; ++y) {
    ir_value_t* seen = seen_elements(a, linear_add(k, a->first_query, attention_wave_row(a, y)), first_key);
    for (int64_t x = 0; x < blocks; ++x) {
      ir_value_t** slot = &scores[y * blocks + x];
      ir_value_t* sees = kernel_binary(&k->b, SCALAR_gt, seen, kernel_integer(&k->b, seen->type, x * a->other_size));
      *slot = kernel_ternary(&k->b, SCALAR_select, sees, *slot, attention_number_like(k, *slot, -INFINITY));
    }
  }
}

// -inf behind the last key that a query sees: only in tiles where there is any.
static void hide_unseen(attention_t* a, linear_t first_key, ir_value_t** scores) {
  kernel_build_t* k = attention_kernel(a);
  uint32_t count = (uint32_t)(a->down * attention_key_blocks(a));
  if (!a->causal && extent_is_fixed(&a->keys) && a->keys.factor % a->tile_keys == 0) return;
  const ir_type_t* types[ATTENTION_MAX_FRAGMENTS];
  ir_value_t* hidden[ATTENTION_MAX_FRAGMENTS];
  for (uint32_t i = 0; i < count; ++i) types[i] = scores[i]->type;
  linear_t end = first_key;
  end.constant += a->tile_keys;
  ir_value_t* edge = kernel_binary(&k->b, SCALAR_gt, linear_scalar(k, &end), attention_seen_keys(a, a->first_query));
  memcpy(hidden, scores, sizeof(*scores) * count);
  kernel_branch_t branch = kernel_if_begin(&k->b, edge, types, count);
  hide(a, first_key, hidden);
  kernel_if_else(&k->b, &branch, hidden, count);
  kernel_if_end(&k->b, &branch, scores, count);
  for (uint32_t i = 0; i < count; ++i) scores[i] = ir_result(branch.op, i);
}

void attention_scores(attention_t* a, linear_t first_key, ir_value_t** scores) {
  multiply_keys(a, scores);
  scale_scores(a, first_key, scores);
  hide_unseen(a, first_key, scores);
}
