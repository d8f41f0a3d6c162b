// Attention on GPUs in one kernel: softmax(scale q k' + mask) v without ever writing the scores to memory.
//
//   workgroup (batch, tile of queries[, part of the keys]):
//     q = fragments of the tile's queries, in registers where there is room
//     k[] = first tile of keys;  barrier
//     for tile of keys (as far as a causal attention sees):
//       next = this tile of v, on its way meanwhile
//       s = scale q k[]' + mask, -inf behind the last key that a query sees
//       most', p = exp(s - most'), sum and o times exp(most - most')     each wave has whole rows of queries
//       v[] = next;  barrier;  next = the next tile of k, on its way meanwhile
//       o += p v[];  k[] = next;  barrier
//     o / sum
//
// Least work: 2 m n (d + e) operations, half of them where causal, and m n exponentials, which is what bounds it on a
// unit with 16 of those and 1024 products of halves a cycle; q, the result, and k and v once for each tile of queries
// (mostly from the cache) are all that is read and written: 16 m n heads bytes of scores are not.
//
// Through registers, where nothing is copied asynchronously, tiles lie so that no access meets another in a bank: keys
// by rows, of which a lane reads the depth of as many steps as an access holds; values by runs of keys, a load's
// columns in planes (fragments.h). Where either half of a subgroup has every other key of the scores, halves exchange
// them, and v's rows lie in the order that this leaves; results are exchanged back into rows.
//
// There, too, what was before is brought to a new maximum only where one exceeds the last by much (bring_seldom).
//
// Few queries leave units idle. Then the keys are shared out among workgroups (`splits`): each gives its part of the
// result, and the logarithm of its sum, by which the pass that asked for it (passes/attention.c) puts the parts
// together.
#include "kernels/attention.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { MAX_STATES = 32, MAX_CARRIED = ATTENTION_MAX_FRAGMENTS + 3 * MAX_STATES };

// What the loop over keys carries: of the fragments of queries y and the result's columns z, and of y's queries.
typedef struct running_t {
  ir_value_t* results[ATTENTION_MAX_FRAGMENTS];
  ir_value_t *most[MAX_STATES], *sum[MAX_STATES];
  ir_value_t* reference[MAX_STATES];  // of exponents, where that is not always the greatest score: see bring_seldom
} running_t;

bool strategy_attention_proposes(const dispatch_t* d, candidate_t* c) {
  attention_t a;
  return attention_plan(&a, (dispatch_t*)d) || candidate_declines(c, "no tile of its heads fits the registers");
}

static int64_t state_count(const attention_t* a) { return a->down * a->states; }

static ir_value_t* exponential(kernel_build_t* k, ir_value_t* x) {
  ir_value_t* result = kernel_unary(&k->b, SCALAR_exp2, x);
  if (result->def && kernel_scalar_fn(result->def) == SCALAR_exp2) {
    ir_op_set_attr(k->ctx, result->def, "approximate", ir_attr_unit(k->ctx));
  }
  return result;
}

// One number for each element of a fragment of scores, from those of its queries.
static ir_value_t* by_element(attention_t* a, ir_value_t* const* states) {
  kernel_build_t* k = attention_kernel(a);
  int32_t count = a->f.c.count;
  if (a->states == 1) return kernel_splat(&k->b, states[0], count);
  ir_value_t* result = kernel_number(&k->b, kernel_vector_type(k->ctx, states[0]->type, count), 0);
  for (int32_t i = 0; i < count; ++i) result = kernel_insert(&k->b, result, states[a->state[i]], i);
  return result;
}

// Over the elements of one query that this lane has.
static ir_value_t* fold_elements(attention_t* a, scalar_fn_t fn, ir_value_t* fragment, int64_t state) {
  kernel_build_t* k = attention_kernel(a);
  ir_value_t* result = NULL;
  for (int32_t i = 0; i < a->f.c.count; ++i) {
    if (a->state[i] != state) continue;
    ir_value_t* one = a->f.c.count > 1 ? kernel_extract(&k->b, fragment, i) : fragment;
    result = result ? kernel_binary(&k->b, fn, result, one) : one;
  }
  return result;
}

// Over all lanes that have elements of the same query.
static ir_value_t* fold_lanes(attention_t* a, scalar_fn_t fn, ir_value_t* value) {
  kernel_build_t* k = attention_kernel(a);
  const place_t* query = attention_query_place(a, 0);
  for (int64_t distance = 1; distance < a->f.row->subgroup; distance *= 2) {
    bool same = distance < a->f.split ? query->low == 0 : query->high == 0;
    if (same) value = kernel_binary(&k->b, fn, value, team_shuffle(k, value, "xor", distance));
  }
  return value;
}

//===----------------------------------------------------------------------------------------------------------------===
// Softmax
//===----------------------------------------------------------------------------------------------------------------===

// Of scores as they are now, in powers of two.
static double exponent_scale(const attention_t* a) { return M_LOG2E * (attention_scales_first(a) ? 1 : a->scale); }

// Narrow operands' exponents are one step from scores, whose error all of a row's have in common.
static bool is_one_step(const attention_t* a) { return a->element->width != 32 && !attention_scales_first(a); }

// What exponents are relative to, as relative() takes it.
static ir_value_t* reference_of(attention_t* a, ir_value_t* most) {
  kernel_build_t* k = attention_kernel(a);
  if (!is_one_step(a)) return most;
  return kernel_binary(&k->b, SCALAR_mul, most, attention_number_like(k, most, -exponent_scale(a)));
}

// 2 ^ (scale (x - most)).
static ir_value_t* relative(attention_t* a, ir_value_t* x, ir_value_t* reference) {
  kernel_build_t* k = attention_kernel(a);
  ir_value_t* scale = attention_number_like(k, x, exponent_scale(a));
  if (is_one_step(a)) return exponential(k, eval_multiply_add(k, x, scale, reference));
  return exponential(k, kernel_binary(&k->b, SCALAR_mul, kernel_binary(&k->b, SCALAR_sub, x, reference), scale));
}

// Either does: a row with a score that is NaN is NaN. Without an instruction for the one, it takes three; where there
// is one, operands of the other are made quiet first.
static scalar_fn_t maximum(const attention_t* a) {
  return a->f.product.d->device->has_maximum ? SCALAR_max : SCALAR_maxnum;
}

// A query's of a fragment of scores.
static ir_value_t* greatest(attention_t* a, ir_value_t* scores, int64_t state) {
  return fold_lanes(a, maximum(a), fold_elements(a, maximum(a), scores, state));
}

static void scale_results(attention_t* a, int64_t y, ir_value_t* const* factors, running_t* r) {
  kernel_build_t* k = attention_kernel(a);
  int64_t results = attention_result_blocks(a);
  ir_value_t* factor = by_element(a, factors);
  for (int64_t z = 0; z < results; ++z) {
    ir_value_t** slot = &r->results[y * results + z];
    *slot = kernel_binary(&k->b, SCALAR_mul, *slot, factor);
  }
}

// What was before is brought to the new maximum: by `factors`, of each query.
static void bring_always(attention_t* a, int64_t y, ir_value_t* scores, running_t* r, ir_value_t** factors) {
  kernel_build_t* k = attention_kernel(a);
  for (int64_t s = 0; s < a->states; ++s) {
    int64_t at = y * a->states + s;
    ir_value_t *before = r->most[at], *after = kernel_binary(&k->b, SCALAR_maxnum, before, greatest(a, scores, s));
    ir_value_t* none = kernel_binary(&k->b, SCALAR_eq, after, attention_number_like(k, after, -INFINITY));
    ir_value_t* safe = kernel_ternary(&k->b, SCALAR_select, none, attention_number_like(k, after, 0), after);
    r->most[at] = after;
    r->reference[at] = reference_of(a, safe);
    factors[s] = relative(a, before, r->reference[at]);
  }
}

// The same of one query, where `exceeds`; elsewhere, and where no other query of the lane may do so, all stays.
static ir_value_t* raise(attention_t* a, int64_t at, ir_value_t* exceeds, ir_value_t* most, running_t* r) {
  kernel_build_t* k = attention_kernel(a);
  ir_value_t *reference = reference_of(a, most), *factor = relative(a, r->most[at], reference);
  if (a->states > 1) {
    most = kernel_ternary(&k->b, SCALAR_select, exceeds, most, r->most[at]);
    reference = kernel_ternary(&k->b, SCALAR_select, exceeds, reference, r->reference[at]);
    factor = kernel_ternary(&k->b, SCALAR_select, exceeds, factor, attention_number_like(k, factor, 1));
  }
  r->most[at] = most, r->reference[at] = reference;
  r->sum[at] = kernel_binary(&k->b, SCALAR_mul, r->sum[at], factor);
  return factor;
}

static uint32_t pack_queries(const attention_t* a, int64_t y, running_t* r, ir_value_t*** out) {
  uint32_t count = 0;
  int64_t results = attention_result_blocks(a);
  for (int64_t z = 0; z < results; ++z) out[count++] = &r->results[y * results + z];
  for (int64_t at = y * a->states; at < (y + 1) * a->states; ++at) {
    out[count++] = &r->most[at], out[count++] = &r->sum[at], out[count++] = &r->reference[at];
  }
  return count;
}

// Exponents may be relative to less than the greatest score, as the sum at the end is of the same: only when scores
// exceed that by so much that narrow probabilities come near their end is what was before brought to a new maximum,
// which is hardly ever the case behind the first keys. No score but -inf or no number: nothing was before.
static void bring_seldom(attention_t* a, int64_t y, ir_value_t* scores, running_t* r) {
  const double most_exponent = 8;
  kernel_build_t* k = attention_kernel(a);
  ir_value_t *most[FRAGMENT_MAX_HELD], *exceeds[FRAGMENT_MAX_HELD], *factors[FRAGMENT_MAX_HELD], *any = NULL;
  ir_value_t **slots[MAX_CARRIED], *before[MAX_CARRIED], *after[MAX_CARRIED];
  const ir_type_t* types[MAX_CARRIED];
  for (int64_t s = 0; s < a->states; ++s) {
    most[s] = greatest(a, scores, s);
    ir_value_t* room = attention_number_like(k, most[s], most_exponent / exponent_scale(a));
    exceeds[s] = kernel_binary(&k->b, SCALAR_gt, most[s], kernel_add(&k->b, r->most[y * a->states + s], room));
    any = any ? kernel_binary(&k->b, SCALAR_or, any, exceeds[s]) : exceeds[s];
  }
  uint32_t count = pack_queries(a, y, r, slots);
  for (uint32_t i = 0; i < count; ++i) before[i] = *slots[i], types[i] = before[i]->type;
  kernel_branch_t branch = kernel_if_begin(&k->b, any, types, count);
  for (int64_t s = 0; s < a->states; ++s) {
    factors[s] = raise(a, y * a->states + s, exceeds[s], most[s], r);
  }
  scale_results(a, y, factors, r);
  for (uint32_t i = 0; i < count; ++i) after[i] = *slots[i];
  kernel_if_else(&k->b, &branch, after, count);
  kernel_if_end(&k->b, &branch, before, count);
  for (uint32_t i = 0; i < count; ++i) *slots[i] = ir_result(branch.op, i);
}

// Scores become probabilities, less the division.
static void softmax(attention_t* a, int64_t y, ir_value_t** scores, running_t* r) {
  kernel_build_t* k = attention_kernel(a);
  int64_t blocks = attention_key_blocks(a);
  ir_value_t *most = scores[0], *sum = NULL, *factors[FRAGMENT_MAX_HELD];
  for (int64_t x = 1; x < blocks; ++x) most = kernel_binary(&k->b, maximum(a), most, scores[x]);
  if (a->arranged) {
    bring_seldom(a, y, most, r);
  } else {
    bring_always(a, y, most, r, factors);
  }
  ir_value_t* reference = by_element(a, r->reference + y * a->states);
  for (int64_t x = 0; x < blocks; ++x) {
    scores[x] = relative(a, scores[x], reference);
    sum = sum ? kernel_add(&k->b, sum, scores[x]) : scores[x];
  }
  for (int64_t s = 0; s < a->states; ++s) {
    ir_value_t **slot = &r->sum[y * a->states + s], *part = fold_elements(a, SCALAR_add, sum, s);
    *slot = a->arranged ? kernel_add(&k->b, *slot, part) : eval_multiply_add(k, *slot, factors[s], part);
  }
  if (!a->arranged) scale_results(a, y, factors, r);
}

//===----------------------------------------------------------------------------------------------------------------===
// Probabilities times v
//===----------------------------------------------------------------------------------------------------------------===

// To workgroup memory: of this wave's queries, by it alone.
static void keep_probabilities(attention_t* a, ir_value_t* const* scores) {
  kernel_build_t* k = attention_kernel(a);
  const attention_tile_t* t = &a->p_tile;
  int64_t blocks = attention_key_blocks(a);
  for (int64_t y = 0; y < a->down; ++y) {
    for (int64_t x = 0; x < blocks; ++x) {
      for (int32_t i = 0; i < a->f.c.count; ++i) {
        linear_t row = fragment_at(&a->f, attention_wave_row(a, y), attention_query_place(a, i));
        linear_t at = linear_add(k, linear_scale(k, row, t->stride),
                                 fragment_at(&a->f, linear_constant(x * a->other_size), attention_other_place(a, i)));
        ir_value_t* all = scores[y * blocks + x];
        ir_value_t* one = a->f.c.count > 1 ? kernel_extract(&k->b, all, i) : all;
        kernel_store(&k->b, one, t->memory, linear_scalar(k, &at));
      }
    }
  }
}

static ir_value_t* is_second_half(attention_t* a) {
  kernel_build_t* k = attention_kernel(a);
  return kernel_binary(&k->b, SCALAR_ne, linear_scalar(k, &a->f.high), kernel_index(&k->b, 0));
}

ir_value_t* attention_exchange_halves(attention_t* a, ir_value_t* own) {
  kernel_build_t* k = attention_kernel(a);
  int64_t count = kernel_lanes(own), mask[FRAGMENT_MAX_HELD];
  ir_value_t* other = team_shuffle(k, own, "xor", a->f.split);
  ir_value_t* second = kernel_splat(&k->b, is_second_half(a), count);
  ir_value_t* low = kernel_ternary(&k->b, SCALAR_select, second, other, own);
  ir_value_t* high = kernel_ternary(&k->b, SCALAR_select, second, own, other);
  for (int64_t i = 0; i < 2 * count; ++i) mask[i] = i;
  return kernel_shuffle(&k->b, low, high, mask, (uint32_t)(2 * count));
}

// The operand that a step of a group of keys multiplies with v.
static ir_value_t* probability_fragment(attention_t* a, int64_t y, int64_t group, int64_t step,
                                        ir_value_t* const* scores) {
  kernel_build_t* k = attention_kernel(a);
  product_side_t side = attention_side(a, true);
  int32_t held = fragment_held(&a->f, side)->count;
  if (!a->direct) {
    attention_piece_t piece = {attention_wave_row(a, y),
                               linear_constant(group * a->group),
                               fragment_frees(&a->f, side),
                               fragment_depths(&a->f, side),
                               held,
                               fragment_run(&a->f, side)};
    return attention_tile_fragment(a, &a->p_tile, &piece);
  }
  int64_t first = y * attention_key_blocks(a) + group * (a->group / a->other_size);
  if (a->exchanged) return attention_exchange_halves(a, scores[first]);
  ir_value_t* result = kernel_number(&k->b, kernel_vector_type(k->ctx, a->multiplied, held), 0);
  for (int32_t i = 0; i < held; ++i) {
    const attention_score_t* from = &a->from[step * held + i];
    ir_value_t* all = scores[first + from->block];
    result = kernel_insert(&k->b, result, a->f.c.count > 1 ? kernel_extract(&k->b, all, from->element) : all, i);
  }
  return result;
}

static void multiply_values(attention_t* a, ir_value_t* const* scores, running_t* r) {
  product_side_t side = attention_side(a, false);
  int64_t groups = a->tile_keys / a->group, blocks = attention_result_blocks(a);
  int64_t batch = attention_tile_batch(a, &a->v_tile);
  int32_t held = fragment_held(&a->f, side)->count;
  ir_value_t *queries[ATTENTION_MAX_FRAGMENTS], *values[ATTENTION_MAX_BATCH];
  for (int64_t g = 0; g < groups; ++g) {
    for (int64_t s = 0; s < a->steps; ++s) {
      for (int64_t y = 0; y < a->down; ++y) queries[y] = probability_fragment(a, y, g, s, scores);
      for (int64_t z = 0; z < blocks; ++z) {
        attention_piece_t piece = {linear_constant(g * a->group),
                                   linear_constant(z * a->other_size),
                                   a->key_places + s * held,
                                   fragment_frees(&a->f, side),
                                   held,
                                   a->v_tile.run > 1 ? (int32_t)a->v_tile.run : fragment_free_run(&a->f, side)};
        int64_t left = blocks - z < batch ? blocks - z : batch;
        if (z % batch == 0) attention_tile_fragments(a, &a->v_tile, &piece, left, values);
        for (int64_t y = 0; y < a->down; ++y) {
          ir_value_t** slot = &r->results[y * blocks + z];
          *slot = attention_multiply(a, queries[y], values[z % batch], *slot);
        }
      }
    }
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// A workgroup's part of the keys
//===----------------------------------------------------------------------------------------------------------------===

static uint32_t pack_running(const attention_t* a, const running_t* r, ir_value_t** out) {
  uint32_t count = 0, results = (uint32_t)(a->down * attention_result_blocks(a));
  for (uint32_t i = 0; i < results; ++i) out[count++] = r->results[i];
  for (int64_t i = 0; i < state_count(a); ++i) out[count++] = r->most[i];
  for (int64_t i = 0; i < state_count(a); ++i) out[count++] = r->sum[i];
  for (int64_t i = 0; a->arranged && i < state_count(a); ++i) out[count++] = r->reference[i];
  return count;
}

static void unpack_running(const attention_t* a, running_t* r, ir_value_t* const* in) {
  uint32_t count = 0, results = (uint32_t)(a->down * attention_result_blocks(a));
  for (uint32_t i = 0; i < results; ++i) r->results[i] = in[count++];
  for (int64_t i = 0; i < state_count(a); ++i) r->most[i] = in[count++];
  for (int64_t i = 0; i < state_count(a); ++i) r->sum[i] = in[count++];
  for (int64_t i = 0; a->arranged && i < state_count(a); ++i) r->reference[i] = in[count++];
}

static void start_running(attention_t* a, running_t* r) {
  kernel_build_t* k = attention_kernel(a);
  const ir_type_t* f32 = ir_type_float(k->ctx, IR_F32);
  const ir_type_t* fragment = kernel_vector_type(k->ctx, f32, a->f.c.count);
  for (int64_t i = 0; i < a->down * attention_result_blocks(a); ++i) r->results[i] = kernel_number(&k->b, fragment, 0);
  for (int64_t i = 0; i < state_count(a); ++i) {
    r->most[i] = kernel_number(&k->b, f32, -INFINITY);
    r->sum[i] = r->reference[i] = kernel_number(&k->b, f32, 0);
  }
}

// Begins to bring a tile to workgroup memory; and the end of that.
static void begin_tile(attention_t* a, const attention_tile_t* t, linear_t first, ir_value_t** loads) {
  kernel_build_t* k = attention_kernel(a);
  if (!a->async) {
    attention_tile_load(a, t, first, loads);
    return;
  }
  attention_tile_copy(a, t, first);
  ir_build_op(&k->b, KERNEL_ASYNC_COMMIT, NULL, 0, NULL);
}

static void end_tile(attention_t* a, const attention_tile_t* t, ir_value_t* const* loads) {
  kernel_build_t* k = attention_kernel(a);
  if (a->async) {
    team_wait_for_copies(k, 0);
  } else {
    attention_tile_store(a, t, loads);
  }
  team_barrier(k);
}

// The same of the next tile of keys. Where that takes registers, not in vain behind the last: `loads`, which are of the
// tile of values, stay then, as there are registers for them that need not be set.
static void begin_next(attention_t* a, linear_t next, ir_value_t* upper, ir_value_t** loads) {
  kernel_build_t* k = attention_kernel(a);
  const attention_tile_t* t = &a->k_tile;
  const ir_type_t* types[ATTENTION_MAX_LOADS];
  ir_value_t* rest[ATTENTION_MAX_LOADS];
  uint32_t count = (uint32_t)(t->pieces * t->part), old = (uint32_t)(a->v_tile.pieces * a->v_tile.part);
  bool whole = extent_is_fixed(&a->keys) && a->keys.factor % a->tile_keys == 0;
  kernel_branch_t branch = {0};
  if (a->arranged) {
    for (uint32_t i = 0; i < count; ++i) {
      types[i] = kernel_vector_type(k->ctx, t->element, t->width);
      rest[i] = i < old && loads[i]->type == types[i] ? loads[i] : kernel_number(&k->b, types[i], 0);
    }
    branch = kernel_if_begin(&k->b, kernel_binary(&k->b, SCALAR_lt, linear_scalar(k, &next), upper), types, count);
  }
  begin_tile(a, t, whole ? attention_clamp(k, next, &a->keys, a->tile_keys) : next, loads);
  if (!branch.op) return;
  kernel_if_else(&k->b, &branch, loads, count);
  kernel_if_end(&k->b, &branch, rest, count);
  for (uint32_t i = 0; i < count; ++i) loads[i] = ir_result(branch.op, i);
}

static void attend_tile(attention_t* a, linear_t first_key, ir_value_t* upper, running_t* r) {
  kernel_build_t* k = attention_kernel(a);
  ir_value_t *loads[ATTENTION_MAX_LOADS], *scores[ATTENTION_MAX_FRAGMENTS];
  int64_t blocks = attention_key_blocks(a);
  begin_tile(a, &a->v_tile, first_key, loads);
  attention_scores(a, first_key, scores);
  for (int64_t y = 0; y < a->down; ++y) {
    softmax(a, y, scores + y * blocks, r);
    for (int64_t x = 0; x < blocks; ++x)
      scores[y * blocks + x] = eval_convert(k, scores[y * blocks + x], a->multiplied);
  }
  if (!a->direct) keep_probabilities(a, scores);
  end_tile(a, &a->v_tile, loads);
  linear_t next = first_key;
  next.constant += a->tile_keys;
  begin_next(a, next, upper, loads);
  multiply_values(a, scores, r);
  end_tile(a, &a->k_tile, loads);
}

// Facts of the loop's index where the number of keys is known: tiles begin at multiples of their size.
static linear_t tile_index(attention_t* a, const kernel_loop_t* loop) {
  if (extent_is_fixed(&a->keys)) {
    int64_t last = (a->keys.factor - 1) / a->tile_keys * a->tile_keys;
    index_set_facts(attention_kernel(a), loop->index, 0, last, a->tile_keys);
  }
  return linear_value(loop->index);
}

static void attend_keys(attention_t* a, ir_value_t* lower, ir_value_t* upper, running_t* r) {
  kernel_build_t* k = attention_kernel(a);
  ir_value_t *values[MAX_CARRIED], *loads[ATTENTION_MAX_LOADS];
  attention_hold_queries(a);
  begin_tile(a, &a->k_tile, linear_value(lower), loads);
  end_tile(a, &a->k_tile, loads);
  start_running(a, r);
  uint32_t count = pack_running(a, r, values);
  kernel_loop_t loop = kernel_loop_begin(k, lower, upper, a->tile_keys, values, count);
  unpack_running(a, r, loop.iters);
  attend_tile(a, tile_index(a, &loop), upper, r);
  pack_running(a, r, values);
  kernel_for_end(&k->b, &loop, values, count);
  for (uint32_t i = 0; i < count; ++i) values[i] = kernel_loop_result(&loop, i);
  unpack_running(a, r, values);
}

//===----------------------------------------------------------------------------------------------------------------===
// Results
//===----------------------------------------------------------------------------------------------------------------===

// Which column an element of a fragment of the result is; where halves have exchanged, it is of a run for each half.
static place_t result_place(const attention_t* a, int32_t i) {
  return a->exchanged ? (place_t){i, 0, a->f.c.count} : *attention_other_place(a, i);
}

// Of every other column, one half of the subgroup's and the other's, each half gets all in a row.
static ir_value_t* exchange_columns(attention_t* a, ir_value_t* own) {
  kernel_build_t* k = attention_kernel(a);
  int32_t half = a->f.c.count / 2;
  int64_t low[FRAGMENT_MAX_HELD], high[FRAGMENT_MAX_HELD], turns[FRAGMENT_MAX_HELD];
  for (int32_t i = 0; i < half; ++i) low[i] = i, high[i] = half + i, turns[2 * i] = i, turns[2 * i + 1] = half + i;
  ir_value_t* first = kernel_shuffle(&k->b, own, own, low, (uint32_t)half);
  ir_value_t* last = kernel_shuffle(&k->b, own, own, high, (uint32_t)half);
  ir_value_t* second = kernel_splat(&k->b, is_second_half(a), half);
  ir_value_t* kept = kernel_ternary(&k->b, SCALAR_select, second, last, first);
  ir_value_t* given = kernel_ternary(&k->b, SCALAR_select, second, first, last);
  given = team_shuffle(k, given, "xor", a->f.split);
  ir_value_t* even = kernel_ternary(&k->b, SCALAR_select, second, given, kept);
  ir_value_t* odd = kernel_ternary(&k->b, SCALAR_select, second, kept, given);
  return kernel_shuffle(&k->b, even, odd, turns, (uint32_t)(2 * half));
}

// Columns that a lane has one behind the other in a fragment of the result.
static int32_t result_run(const attention_t* a) {
  int32_t run = a->f.c.count < 4 ? a->f.c.count : 4;
  while (run > 1 && a->width % run) run /= 2;
  for (int32_t i = 0; i < a->f.c.count; ++i) {
    place_t column = result_place(a, i), before = result_place(a, i ? i - 1 : 0);
    while (i % run && (a->state[i] != a->state[i - 1] || column.base != before.base + 1)) run /= 2;
    while (i % run == 0 && run > 1 && (column.base % run || column.low % run || column.high % run)) run /= 2;
  }
  return run;
}

static ir_value_t* part_of(kernel_build_t* k, ir_value_t* fragment, int32_t at, int32_t run) {
  if (run == kernel_lanes(fragment)) return fragment;
  if (run == 1) return kernel_extract(&k->b, fragment, at);
  ir_value_t* part = kernel_number(&k->b, kernel_vector_type(k->ctx, ir_type_scalar(fragment->type), run), 0);
  for (int32_t j = 0; j < run; ++j) part = kernel_insert(&k->b, part, kernel_extract(&k->b, fragment, at + j), j);
  return part;
}

// The columns of one query that this lane has in a fragment of the result, `coords` to the query.
static void store_fragment(attention_t* a, ir_value_t* fragment, int64_t z, int64_t state, linear_t* coords) {
  kernel_build_t* k = attention_kernel(a);
  ir_value_t* result = ir_result(a->op, 0);
  int32_t run = result_run(a), last = result->type->rank - 1;
  for (int32_t i = 0; i < a->f.c.count; i += run) {
    if (a->state[i] != state) continue;
    place_t place = result_place(a, i);
    linear_t column = fragment_at(&a->f, linear_constant(z * a->other_size), &place);
    ir_value_t* exists = fragment_below(k, &column, a->width);
    kernel_branch_t branch;
    if (exists) branch = kernel_if_begin(&k->b, exists, NULL, 0);
    extent_t width = extent_fixed(a->width);
    coords[last] = exists ? attention_clamp(k, column, &width, run) : column;
    coords[last].lane = run > 1;
    k->lanes = run;
    eval_set_bound(k, result, eval_convert(k, part_of(k, fragment, i, run), result->type->element));
    epilogue_store(a->f.product.d, result, coords);
    result->data = NULL;
    k->lanes = 1;
    if (exists) kernel_if_end(&k->b, &branch, NULL, 0);
  }
}

// 1 / sum; of a part without keys, or a row that is to be blank then, 0.
static ir_value_t* reciprocal(attention_t* a, ir_value_t* sum) {
  kernel_build_t* k = attention_kernel(a);
  ir_value_t* result = kernel_binary(&k->b, SCALAR_div, attention_number_like(k, sum, 1), sum);
  if (!a->splits && !graph_get_blank(a->op)) return result;
  ir_value_t* none = kernel_binary(&k->b, SCALAR_eq, sum, attention_number_like(k, sum, 0));
  return kernel_ternary(&k->b, SCALAR_select, none, attention_number_like(k, sum, 0), result);
}

// i1: the first of the lanes that have elements of the same query; NULL: there is but one.
static ir_value_t* first_lane(attention_t* a) {
  kernel_build_t* k = attention_kernel(a);
  const place_t* query = attention_query_place(a, 0);
  linear_t others = linear_constant(0);
  if (!query->low) others = linear_add(k, others, a->f.low);
  if (!query->high) others = linear_add(k, others, a->f.high);
  if (!others.count) return NULL;
  return kernel_binary(&k->b, SCALAR_eq, linear_scalar(k, &others), kernel_index(&k->b, 0));
}

// The logarithm of a query's sum of exponentials.
static void store_logarithm(attention_t* a, const linear_t* coords, ir_value_t* most, ir_value_t* sum) {
  kernel_build_t* k = attention_kernel(a);
  if (a->op->result_count < 2) return;
  ir_value_t* result = ir_result(a->op, 1);
  ir_value_t* scaled = attention_scales_first(a)
                           ? most
                           : kernel_binary(&k->b, SCALAR_mul, most, attention_number_like(k, most, a->scale));
  ir_value_t* value = kernel_add(&k->b, kernel_unary(&k->b, SCALAR_log, sum), scaled);
  ir_value_t* first = first_lane(a);
  kernel_branch_t branch;
  if (first) branch = kernel_if_begin(&k->b, first, NULL, 0);
  eval_set_bound(k, result, eval_convert(k, value, result->type->element));
  epilogue_store(a->f.product.d, result, coords);
  result->data = NULL;
  if (first) kernel_if_end(&k->b, &branch, NULL, 0);
}

static void store_query(attention_t* a, int64_t y, int64_t state, linear_t split, running_t* r) {
  kernel_build_t* k = attention_kernel(a);
  int64_t results = attention_result_blocks(a), at = y * a->states + state;
  int32_t element = 0, n = 0;
  while (a->state[element] != state) ++element;
  linear_t coords[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < a->rank - 2; ++i) coords[n++] = a->coords[i];
  if (a->splits) coords[n++] = split;
  linear_t query = linear_add(k, a->first_query, attention_wave_row(a, y));
  query = fragment_at(&a->f, query, attention_query_place(a, element));
  ir_value_t *exists, *sum = fold_lanes(a, SCALAR_add, r->sum[at]), *fragments[ATTENTION_MAX_FRAGMENTS];
  for (int64_t z = 0; z < results; ++z) {
    ir_value_t* all = r->results[y * results + z];
    fragments[z] = a->exchanged ? exchange_columns(a, all) : all;
  }
  if (extent_is_fixed(&a->queries)) {
    exists = fragment_below(k, &query, a->queries.factor);
  } else {
    exists = kernel_binary(&k->b, SCALAR_lt, linear_scalar(k, &query), extent_value(k, &a->queries));
  }
  kernel_branch_t branch;
  if (exists) branch = kernel_if_begin(&k->b, exists, NULL, 0);
  coords[n] = exists ? attention_clamp(k, query, &a->queries, 1) : query;
  store_logarithm(a, coords, r->most[at], sum);
  ir_value_t* factor = kernel_splat(&k->b, reciprocal(a, sum), a->f.c.count);
  for (int64_t z = 0; z < results; ++z) {
    ir_value_t* fragment = kernel_binary(&k->b, SCALAR_mul, fragments[z], factor);
    store_fragment(a, fragment, z, state, coords);
  }
  if (exists) kernel_if_end(&k->b, &branch, NULL, 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// The kernel
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* ceil_divide(kernel_build_t* k, ir_value_t* x, int64_t by) {
  return index_binary(k, SCALAR_divu, index_binary(k, SCALAR_add, x, index_constant(k, by - 1)), index_constant(k, by));
}

// x / by, and what is left of it.
static linear_t divide(kernel_build_t* k, linear_t x, ir_value_t* by, linear_t* rest) {
  int64_t constant;
  linear_t quotient;
  if (kernel_constant_index(by, &constant)) {
    linear_divide(k, x, constant, &quotient, rest);
    return quotient;
  }
  quotient = linear_value(index_binary(k, SCALAR_divu, linear_outside(k, &x), by));
  *rest = linear_value(index_binary(k, SCALAR_remu, linear_outside(k, &x), by));
  return quotient;
}

// Of the keys that the workgroup's queries see, the part that is this split's.
static void key_range(attention_t* a, linear_t split, ir_value_t** lower, ir_value_t** upper) {
  kernel_build_t* k = attention_kernel(a);
  linear_t last = a->first_query;
  last.constant += attention_rows(a) - 1;
  *lower = index_constant(k, 0);
  *upper = attention_seen_keys(a, last);
  index_set_facts(k, *upper, a->causal ? -ATTENTION_MAX_FRAGMENTS * 8 : 0, index_facts(extent_value(k, &a->keys)).max,
                  1);
  if (!a->splits) return;
  ir_value_t* parts = ceil_divide(k, extent_value(k, &a->keys), a->splits * GRAPH_ATTENTION_KEYS);
  linear_t part = linear_scale(k, linear_value(parts), GRAPH_ATTENTION_KEYS);
  ir_value_t* size = linear_scalar(k, &part);
  linear_t first = linear_scale_value(k, split, size);
  *lower = linear_scalar(k, &first);
  linear_t end = linear_add(k, first, linear_value(size));
  *upper = kernel_binary(&k->b, SCALAR_min, *upper, linear_scalar(k, &end));
}

static void attend(attention_t* a, linear_t item) {
  kernel_build_t* k = attention_kernel(a);
  ir_value_t *tiles = ceil_divide(k, extent_value(k, &a->queries), attention_rows(a)), *lower, *upper;
  linear_t split = linear_constant(0), tile;
  if (a->splits) item = divide(k, item, index_constant(k, a->splits), &split);
  linear_t batch = divide(k, item, tiles, &tile);
  if (a->causal) {  // those that see most first
    tile = linear_add(k, linear_value(tiles), linear_scale(k, tile, -1));
    tile.constant -= 1;
  }
  a->first_query = linear_scale(k, tile, attention_rows(a));
  extent_t sizes[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < a->rank - 2; ++i) sizes[i] = eval_extent(a->q, i);
  iterations_split_extents(k, batch, sizes, a->rank - 2, a->coords);
  key_range(a, split, &lower, &upper);
  running_t r;
  attend_keys(a, lower, upper, &r);
  for (int64_t y = 0; y < a->down; ++y) {
    for (int64_t s = 0; s < a->states; ++s) store_query(a, y, s, split, &r);
  }
}

static void alloc_tiles(attention_t* a) {
  if (!a->queries_held) attention_tile_alloc(a, &a->q_tile);
  attention_tile_alloc(a, &a->k_tile);
  attention_tile_alloc(a, &a->v_tile);
  if (!a->direct) attention_tile_alloc(a, &a->p_tile);
}

// Batches, tiles of queries and splits: a workgroup each, or as many workgroups as a launch has.
static void each_item(attention_t* a) {
  dispatch_t* d = a->f.product.d;
  kernel_build_t* k = &d->k;
  int64_t rows = attention_rows(a), splits = a->splits ? a->splits : 1;
  extent_t items = extent_product(a->batch, extent_fixed(splits));
  bool known = extent_is_fixed(&a->queries);
  items = extent_product(items, known ? extent_fixed(ceil_div(a->queries.factor, rows)) : a->queries);
  if (extent_is_fixed(&items) && items.factor <= FRAGMENT_MAX_GRID) {
    d->workgroups[0] = items.factor;
    attend(a, fragment_workgroup(k, 0, items.factor));
    return;
  }
  d->workgroups[0] = FRAGMENT_MAX_GRID;
  if (!extent_is_fixed(&items)) dispatch_set_rule(d, &items, known ? 1 : ceil_div(rows, 2), FRAGMENT_MAX_GRID);
  ir_value_t *first = kernel_id(&k->b, KERNEL_WORKGROUP_ID, 0), *step = kernel_id(&k->b, KERNEL_WORKGROUP_COUNT, 0);
  ir_value_t* tiles = ceil_divide(k, extent_value(k, &a->queries), rows);
  ir_value_t* count = index_binary(k, SCALAR_mul, extent_value(k, &a->batch), index_constant(k, splits));
  count = index_binary(k, SCALAR_mul, count, tiles);
  index_set_facts(k, first, 0, FRAGMENT_MAX_GRID - 1, 1);
  kernel_loop_t loop = kernel_for_begin(&k->b, first, count, step, NULL, 0);
  index_set_facts(k, loop.index, 0, index_facts(count).max, 1);
  attend(a, linear_value(loop.index));
  kernel_for_end(&k->b, &loop, NULL, 0);
}

void strategy_attention_build(dispatch_t* d) {
  attention_t a;
  bool planned = attention_plan(&a, d);
  assert(planned);
  (void)planned;
  a.team = team_begin(d, a.waves * a.f.row->subgroup);
  fragments_set_lane(&a.f, a.team.lane);
  a.wave_query = linear_scale(&d->k, a.team.number, a.down * a.query_size);
  alloc_tiles(&a);
  each_item(&a);
}
