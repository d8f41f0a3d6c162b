// Which instruction and tile an attention takes. See attention.c.
//
// Both products of an attention sum over something that the other one has apart, so an instruction may serve either way
// around: queries down and keys across, or turned. Where a lane holds of the scores what it must hold of an operand of
// the second product, perhaps with the keys of a group in another order, probabilities stay in registers: a sum does
// not mind the order of its keys, as long as v's rows are read in the same one.
#include <math.h>
#include <string.h>

#include "kernels/attention.h"

//===----------------------------------------------------------------------------------------------------------------===
// What the op asks for
//===----------------------------------------------------------------------------------------------------------------===

static bool is_multiplied(const ir_type_t* element) {
  return element->kind == IR_TYPE_FLOAT && (element->width == 16 || element->width == 32);
}

static bool has_kernels(const dispatch_t* d) {
  if (!d->body) return true;
  IR_FOR_OPS(op, d->body) {
    if (op != d->yield && op != d->root && !eval_supports(op)) return false;
  }
  return true;
}

static bool read_op(attention_t* a, dispatch_t* d) {
  ir_op_t* op = d->root;
  if (!op || !ir_is(op, GRAPH_ATTENTION) || d->device->kind != DEVICE_GPU || !has_kernels(d)) return false;
  a->f.product.d = d;
  a->op = op;
  a->q = ir_operand(op, 0), a->k = ir_operand(op, 1), a->v = ir_operand(op, 2);
  a->mask = op->operand_count > 3 ? ir_operand(op, 3) : NULL;
  a->rank = a->q->type->rank;
  a->head = a->q->type->dims[a->rank - 1], a->width = a->v->type->dims[a->rank - 1];
  a->element = a->f.element = a->q->type->element;
  a->causal = graph_get_causal(op);
  const ir_attr_t* scale = graph_get_scale(op);
  a->scale = scale ? scale->number : 1 / sqrt((double)a->head);
  a->splits = graph_get_splits(op);
  bool same = a->k->type->element == a->element && a->v->type->element == a->element;
  return same && is_multiplied(a->element) && a->head > 0 && a->head <= ATTENTION_MAX_HEAD && a->width > 0 &&
         a->width <= ATTENTION_MAX_HEAD && ir_type_is_float(op->results[0].type->element) &&
         (op->result_count < 2 || ir_type_is_float(ir_result(op, 1)->type->element)) &&
         (!a->mask || ir_type_is_float(a->mask->type->element));
}

// Sizes, once the dispatch's operands are known; before, a guess of those that only run time knows.
static extent_t size_of(const ir_value_t* x, int32_t dim) {
  if (x->type->dims[dim] != IR_DYNAMIC) return extent_fixed(x->type->dims[dim]);
  if (!x->def && !x->data) return (extent_t){.factor = 1, .count = 1};
  if (x->def && !graph_get_extents(x->def)) return (extent_t){.factor = 1, .count = 1};
  return eval_extent(x, dim);
}

static bool read_sizes(attention_t* a) {
  a->batch = extent_fixed(1);
  for (int32_t i = 0; i < a->rank - 2; ++i) a->batch = extent_product(a->batch, size_of(a->q, i));
  a->queries = size_of(a->q, a->rank - 2);
  a->keys = size_of(a->k, a->rank - 2);
  return !extent_is(&a->batch, 0) && !extent_is(&a->queries, 0) && !extent_is(&a->keys, 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Scores as an operand
//===----------------------------------------------------------------------------------------------------------------===

static int32_t place_value(const place_t* p, int32_t split, int32_t lane) {
  return p->base + p->low * (lane % split) + p->high * (lane / split);
}

// The next score of the same query that no element of the operand is yet, in the order of blocks.
static bool take_score(const attention_t* a, uint32_t* used, const place_t* query, const place_t* depth,
                       attention_score_t* out) {
  for (int8_t block = 0; block < a->group / a->other_size; ++block) {
    for (int8_t i = 0; i < a->f.c.count; ++i) {
      const place_t* key = attention_other_place(a, i);
      bool alike = (key->low == 0) == (depth->low == 0) && (key->high == 0) == (depth->high == 0);
      if (used[block] >> i & 1 || !alike || !place_equal(attention_query_place(a, i), query)) continue;
      used[block] |= 1u << i;
      *out = (attention_score_t){block, i};
      return true;
    }
  }
  return false;
}

// Which key stands at each place of the depth of the group's steps; false when lanes differ in that.
static bool place_keys(const attention_t* a, const held_t* held, const place_t* depths, int16_t* keys) {
  for (int64_t i = 0; i < a->group; ++i) keys[i] = -1;
  for (int32_t lane = 0; lane < a->f.row->subgroup; ++lane) {
    for (int32_t e = 0; e < a->steps * held->count; ++e) {
      const attention_score_t* from = &a->from[e];
      int32_t depth = place_value(&depths[e % held->count], a->f.split, lane);
      int32_t key = place_value(attention_other_place(a, from->element), a->f.split, lane);
      int16_t* slot = &keys[e / held->count * a->f.row->k + depth];
      key += (int32_t)(from->block * a->other_size);
      if (*slot >= 0 && *slot != key) return false;
      *slot = (int16_t)key;
    }
  }
  return true;
}

// Where the lanes find v's rows: linear in the lane again, or not at all.
static bool place_rows(attention_t* a, const held_t* held, const place_t* depths, const int16_t* keys) {
  int32_t split = a->f.split, subgroup = a->f.row->subgroup;
  for (int32_t e = 0; e < a->steps * held->count; ++e) {
    const int16_t* step = keys + e / held->count * a->f.row->k;
    const place_t* depth = &depths[e % held->count];
    place_t* out = &a->key_places[e];
    out->base = step[place_value(depth, split, 0)];
    out->low = step[place_value(depth, split, 1)] - out->base;
    out->high = split < subgroup ? step[place_value(depth, split, split)] - out->base : 0;
    for (int32_t lane = 0; lane < subgroup; ++lane) {
      if (step[place_value(depth, split, lane)] != place_value(out, split, lane)) return false;
    }
  }
  return true;
}

static bool is_direct(attention_t* a) {
  product_side_t side = attention_side(a, true), other = attention_side(a, false);
  const held_t *held = fragment_held(&a->f, side), *rows = fragment_held(&a->f, other);
  const place_t *depths = fragment_depths(&a->f, side), *frees = fragment_frees(&a->f, side);
  int16_t keys[ATTENTION_MAX_STEPS * 32];
  uint32_t used[32] = {0};
  a->group = a->f.row->k > a->other_size ? a->f.row->k : a->other_size;
  a->steps = a->group / a->f.row->k;
  if (a->steps > ATTENTION_MAX_STEPS || a->group > ATTENTION_MAX_STEPS * 32) return false;
  for (int32_t e = 0; e < a->steps * held->count; ++e) {
    int32_t i = e % held->count;
    if (!take_score(a, used, &frees[i], &depths[i], &a->from[e])) return false;
  }
  return place_keys(a, held, depths, keys) && place_rows(a, rows, fragment_depths(&a->f, other), keys);
}

// Whether either half of a subgroup has every other key of the scores, in order, and an operand takes all of them in
// both: a lane's own and those of the other half are an operand, with those of the first half first.
static bool is_exchanged(const attention_t* a) {
  const held_t* held = fragment_held(&a->f, attention_side(a, true));
  const place_t *depths = fragment_depths(&a->f, attention_side(a, true)), *query = attention_query_place(a, 0);
  int32_t count = a->f.c.count;
  if (2 * a->f.split != a->f.row->subgroup || held->count != 2 * count || a->f.row->k != a->other_size) return false;
  if (a->f.row->k != held->count || query->high) return false;
  for (int32_t i = 0; i < held->count; ++i) {
    const place_t* key = attention_other_place(a, i % count);
    if (!place_equal(&depths[i], &(place_t){i, 0, 0}) || !place_equal(key, &(place_t){i % count * 2, 0, 1}))
      return false;
    if (!place_equal(attention_query_place(a, i % count), query)) return false;
  }
  return true;
}

// Elements of a fragment of scores by query.
static void find_states(attention_t* a) {
  int8_t firsts[FRAGMENT_MAX_HELD];
  a->states = 0;
  for (int8_t i = 0; i < a->f.c.count; ++i) {
    int8_t s = 0;
    while (s < a->states && !place_equal(attention_query_place(a, i), attention_query_place(a, firsts[s]))) ++s;
    if (s == a->states) firsts[a->states++] = i;
    a->state[i] = s;
  }
}

// Whether scores become an operand where they are.
static bool take_orientation(attention_t* a, bool turned) {
  const mma_row_t* row = a->f.row;
  a->turned = turned;
  a->query_size = turned ? row->n : row->m;
  a->other_size = turned ? row->m : row->n;
  find_states(a);
  a->exchanged = false;
  a->direct = is_direct(a);
  if (a->direct) return true;
  a->direct = a->exchanged = a->f.product.d->device->has_scalar_unit && is_exchanged(a);
  product_side_t other = attention_side(a, false);
  a->group = row->k;
  a->steps = 1;
  memcpy(a->key_places, fragment_depths(&a->f, other), sizeof(place_t) * (size_t)fragment_held(&a->f, other)->count);
  return a->direct;
}

//===----------------------------------------------------------------------------------------------------------------===
// Tiles
//===----------------------------------------------------------------------------------------------------------------===

static int64_t round_up(int64_t x, int64_t unit) { return ceil_div(x, unit) * unit; }

// Rows of v that lie one behind the other in its fragments, of each multiple of so many; few enough that loads of it
// are still wide, or as many as one access has.
static int64_t key_run(const attention_t* a) {
  enum { ACCESS_BYTES = 16 };
  int64_t most = a->arranged ? ACCESS_BYTES / (int64_t)ir_type_bytes(a->element) : 4;
  product_side_t side = attention_side(a, false);
  const place_t* frees = fragment_frees(&a->f, side);
  int32_t count = fragment_held(&a->f, side)->count, run = count;
  for (int32_t e = 0; e < a->steps * count; ++e) {
    const place_t* p = &a->key_places[e];
    while (e % run == 0 && (p->base % run || p->low % run || p->high % run)) run /= 2;
    while (e % run && (p->base != p[-1].base + 1 || p->low != p[-1].low || p->high != p[-1].high ||
                       !place_equal(&frees[e % count], &frees[e % count - 1])))
      run /= 2;
  }
  return run < most ? run : most;
}

// Steps whose fragments of queries and keys a lane loads by one access: see fragment_joined_place.
static void join_steps(attention_t* a) {
  enum { ACCESS_BYTES = 16 };
  const device_info_t* device = a->f.product.d->device;
  int64_t each = a->f.a.count * (int64_t)ir_type_bytes(a->element), steps = attention_depth_steps(a);
  a->arranged = device->has_scalar_unit && !device->has_async_copy && a->f.row->instruction;
  bool may_join = a->arranged && a->f.a.count == a->f.b.count && fragment_is_one_run(&a->f, PRODUCT_LEFT) &&
                  fragment_is_one_run(&a->f, PRODUCT_RIGHT);
  a->joined = 1;
  while (may_join && 2 * a->joined * each <= ACCESS_BYTES && steps % (2 * a->joined) == 0) a->joined *= 2;
  for (int side = 0; side < 2; ++side) {
    product_side_t which = (product_side_t)side;
    for (int32_t i = 0; i < fragment_held(&a->f, which)->count * a->joined; ++i) {
      a->frees[side][i] = fragment_frees(&a->f, which)[i / a->joined];
      a->depths[side][i] = fragment_joined_place(&a->f, which, a->joined, i);
    }
  }
}

static bool plan_tiles(attention_t* a) {
  const mma_row_t* row = a->f.row;
  int64_t head = round_up(a->head, row->k), width = round_up(a->width, a->other_size), run = key_run(a);
  while (a->tile_keys % run) run /= 2;
  bool lanes = !row->instruction;
  a->q_tile = (attention_tile_t){.tensor = a->q, .rows = a->queries, .columns = a->head, .padded = head, .run = 1};
  a->k_tile = (attention_tile_t){.tensor = a->k, .rows = a->keys, .columns = a->head, .padded = head, .run = 1};
  a->v_tile = (attention_tile_t){.tensor = a->v, .rows = a->keys, .columns = a->width, .padded = width, .run = run};
  a->p_tile = (attention_tile_t){.columns = a->tile_keys, .padded = a->tile_keys, .run = 1};
  a->q_tile.side = a->p_tile.side = attention_side(a, true);
  a->k_tile.side = a->v_tile.side = attention_side(a, false);
  a->v_tile.is_right = true;
  a->q_tile.size = a->p_tile.size = attention_rows(a);
  a->k_tile.size = a->v_tile.size = a->tile_keys;
  a->q_tile.element = a->k_tile.element = a->v_tile.element = a->element;
  a->p_tile.element = a->multiplied;
  a->k_tile.turned = lanes;
  if (!attention_tile_plan(a, &a->q_tile) || !attention_tile_plan(a, &a->k_tile) ||
      !attention_tile_plan(a, &a->v_tile) || !attention_tile_plan(a, &a->p_tile))
    return false;
  a->async = a->k_tile.copies && a->v_tile.copies;
  return true;
}

static int64_t load_registers(const attention_tile_t* t) {
  return t->pieces * t->part * t->width * ir_type_bytes(t->element) / 4;
}

static bool fits(attention_t* a) {
  enum { MOST = 256, OTHERS = 40, LOADED = 40, HELD = 64 };  // loaded: fragments, where the compiler loads them early
  const device_info_t* device = a->f.product.d->device;
  const held_t* queries = fragment_held(&a->f, attention_side(a, true));
  int64_t bytes = ir_type_bytes(a->element), fragments = a->down * attention_depth_steps(a);
  int64_t blocks = attention_result_blocks(a), scores = attention_key_blocks(a);
  int64_t held = fragments * ((queries->count * ir_type_bytes(a->multiplied) + 3) / 4);
  if (a->down * blocks > ATTENTION_MAX_FRAGMENTS || a->down * scores > ATTENTION_MAX_FRAGMENTS) return false;
  if (a->waves * a->f.row->subgroup > device->max_workgroup_size) return false;
  if (a->tile_keys % a->group || a->tile_keys % a->other_size || !plan_tiles(a)) return false;
  int64_t k = a->async ? 0 : load_registers(&a->k_tile), v = a->async ? 0 : load_registers(&a->v_tile);
  int64_t most = device->registers_per_thread < MOST ? device->registers_per_thread : MOST;
  a->registers = a->down * (blocks + scores) * a->f.c.count + (k > v ? k : v) + 3 * a->down * a->states + OTHERS;
  if (!device->has_async_copy) a->registers += LOADED;
  a->queries_held = held <= HELD && fragments <= ATTENTION_MAX_QUERIES && a->registers + held <= most;
  if (a->queries_held) a->registers += held;
  int64_t memory = (a->k_tile.elements + a->v_tile.elements) * bytes;
  if (!a->queries_held) memory += a->q_tile.elements * bytes;
  if (!a->direct) memory += a->p_tile.elements * ir_type_bytes(a->multiplied);
  return a->registers <= most && memory <= device->workgroup_memory_bytes;
}

// Rough count of the cycles that the device takes. A tile's work is what its products, its fragments' way from
// workgroup memory, which is partly at the same time, and its exponentials take, or its rows' way from memory; with
// nothing else to do on a unit, also what its loads and barriers wait.
static double plan_cost(const attention_t* a) {
  enum {
    UNIT_PRODUCTS = 2048,
    LANE_PRODUCTS = 128,
    UNIT_BYTES = 40,
    UNIT_WORKGROUP_BYTES = 128,
    UNIT_EXPONENTIALS = 16
  };
  enum {
    WAIT = 1200,
    UNIT_WAVES = 4,
    EXTRA = 3,
    EXTRA_KEYS = 192,
    BARRIERS = 100,
    UNIT_REGISTERS = 65536,
    MOST_RESIDENT = 2
  };
  const mma_row_t* row = a->f.row;
  double bytes = (double)ir_type_bytes(a->element), rows = (double)attention_rows(a), keys = (double)a->tile_keys;
  double columns = (double)(a->k_tile.padded + a->v_tile.padded), waves = (double)a->waves;
  double items = (double)extent_guess(&a->batch) * (double)ceil_div(extent_guess(&a->queries), (int64_t)rows);
  double per_unit = items * (double)(a->splits ? a->splits : 1) / a->f.product.d->device->compute_units;
  double tiles = (double)ceil_div(extent_guess(&a->keys), a->tile_keys);
  if (a->splits) tiles = (double)ceil_div((int64_t)tiles, a->splits);
  double products = rows * keys * columns / (row->instruction ? UNIT_PRODUCTS / bytes : LANE_PRODUCTS);
  double fragments = waves * keys * columns;
  if (!a->queries_held) fragments += rows * (double)a->q_tile.padded;
  if (!a->direct) fragments += 2 * rows * keys;
  fragments *= bytes / UNIT_WORKGROUP_BYTES;
  double exponentials = rows * keys / UNIT_EXPONENTIALS, memory = keys * columns * bytes / UNIT_BYTES;
  double step = products > fragments ? products + fragments / 2 : fragments + products / 2;
  step += exponentials;
  step += BARRIERS + rows * (double)a->v_tile.padded / LANE_PRODUCTS;  // what was before is brought to a new maximum
  double most = (double)(UNIT_REGISTERS / (a->registers * a->waves * row->subgroup));
  double resident = most > MOST_RESIDENT ? MOST_RESIDENT : most;
  if (resident > per_unit) resident = per_unit;
  if (resident < 1) resident = 1;
  if (waves * resident < UNIT_WAVES) step *= UNIT_WAVES / (waves * resident);
  if (step < memory) step = memory;
  if (step < (WAIT + step) / resident) step = (WAIT + step) / resident;
  double extra = a->async ? EXTRA_KEYS / keys : EXTRA;  // the beginning and the end
  return (double)(int64_t)(per_unit + 0.999) * step * (tiles + extra);
}

// The same where tiles go through registers to matrix instructions: the cycles in which a unit's SIMDs issue what a
// tile's waves do, which one wave alone on a SIMD takes twice as long for, as it waits for itself. By the manuals'
// rates; no measurement is behind it.
static double arranged_cost(const attention_t* a) {
  enum { PRODUCT_BYTES = 512, ACCESS_BYTES = 16, LOAD = 8, SCORE = 6, REST = 60, ALONE = 2, SIMDS = 4, OTHERS = 4 };
  enum { UNIT_REGISTERS = 131072, UNIT_BYTES = 26, MOST_UNIT_BYTES = 64, EXTRA = 1 };
  const device_info_t* device = a->f.product.d->device;
  int64_t subgroup = a->f.row->subgroup, bytes = ir_type_bytes(a->element), halves = subgroup == 32 ? 2 : 1;
  double units = (double)device->compute_units / (double)halves, issue = subgroup == 64 ? 4 : 1;
  double rows = (double)attention_rows(a), keys = (double)a->tile_keys, waves = (double)a->waves;
  double columns = (double)(a->k_tile.padded + a->v_tile.padded), query_rows = rows / waves;
  double per_unit = (double)extent_guess(&a->batch) * (double)ceil_div(extent_guess(&a->queries), (int64_t)rows) *
                    (double)(a->splits ? a->splits : 1) / units;
  double tiles = (double)ceil_div(extent_guess(&a->keys), a->tile_keys);
  if (a->splits) tiles = (double)ceil_div((int64_t)tiles, a->splits);
  double lanes = query_rows / (double)subgroup;  // of a score or result: a wave's instructions are these times columns
  double instructions = REST + lanes * (SCORE * keys + (double)a->v_tile.padded);
  if (!a->direct) instructions += lanes * keys * 2;
  double fragments = keys * columns / (double)subgroup;
  fragments *= a->f.a.count * (double)subgroup / (double)(a->f.row->m * a->f.row->k);  // lanes that hold the same
  instructions += fragments * (double)bytes / ACCESS_BYTES;
  const attention_tile_t* brought[] = {&a->k_tile, &a->v_tile};
  for (int i = 0; i < 2; ++i) {
    const attention_tile_t* t = brought[i];
    instructions += (double)(t->pieces * t->part) * (LOAD + (t->run > 1 ? (double)t->width : 1));
  }
  double multiply = query_rows * keys * columns * (double)bytes / PRODUCT_BYTES, busy = multiply + instructions * issue;
  double memory_bytes = (double)((a->k_tile.elements + a->v_tile.elements) * bytes);
  double by_registers = UNIT_REGISTERS / (double)(a->registers * a->waves * subgroup);
  double resident = (double)(device->workgroup_memory_bytes * halves) / memory_bytes;
  if (resident > by_registers) resident = by_registers;
  double rounds = (double)(int64_t)(per_unit + 0.999);
  resident = resident < 1 ? 1 : resident > rounds ? rounds : (double)(int64_t)resident;
  double turns = rounds * (waves < SIMDS ? 1 : waves / SIMDS), alone = ALONE * rounds / resident;
  double compute = busy * (turns > alone ? turns : alone) * (tiles + EXTRA);
  double rate = per_unit < 1 ? UNIT_BYTES / per_unit : UNIT_BYTES;
  if (rate > MOST_UNIT_BYTES) rate = MOST_UNIT_BYTES;
  double memory = rounds * keys * columns * (double)bytes / rate * (tiles + EXTRA);
  return compute > memory ? compute + memory / OTHERS : memory + compute / OTHERS;
}

static void plan_sizes(attention_t* a, attention_t* best, double* least) {
  static const int64_t waves[] = {1, 2, 4, 8}, downs[] = {1, 2, 4, 8}, keys[] = {16, 32, 64, 128};
  for (size_t w = 0; w < sizeof(waves) / sizeof(waves[0]); ++w) {
    for (size_t d = 0; d < sizeof(downs) / sizeof(downs[0]); ++d) {
      for (size_t n = 0; n < sizeof(keys) / sizeof(keys[0]); ++n) {
        a->waves = waves[w], a->down = downs[d], a->tile_keys = keys[n];
        if (!fits(a)) continue;
        double cost = a->arranged ? arranged_cost(a) : plan_cost(a);
        if (*least > 0 && cost >= *least) continue;
        *least = cost;
        *best = *a;
      }
    }
  }
}

static void plan_row(attention_t* a, const mma_row_t* row, attention_t* best, double* least) {
  if (!row || row->subgroup != a->f.product.d->device->subgroup_size || !fragments_set_row(&a->f, row)) return;
  a->multiplied = row->instruction ? a->element : ir_type_float(a->f.product.d->ctx, IR_F32);
  join_steps(a);
  bool direct[2] = {false};
  for (int turned = 0; row->instruction && turned < 2; ++turned) direct[turned] = take_orientation(a, turned);
  for (int turned = 0; turned < (row->instruction ? 2 : 1); ++turned) {
    if (take_orientation(a, turned) || !(direct[0] || direct[1])) plan_sizes(a, best, least);
  }
}

bool attention_plan(attention_t* a, dispatch_t* d) {
  memset(a, 0, sizeof(*a));
  if (!read_op(a, d) || !read_sizes(a)) return false;
  attention_t* best = ARENA_NEW(ir_context_arena(d->ctx), attention_t);
  double least = 0;
  const char* element = ir_type_str(d->ctx, a->element);
  for (int32_t i = 0; i < d->device->mma_count; ++i) {
    const mma_row_t* row = mma_find(d->device->mma[i].instruction);
    if (row && strcmp(row->a_type, element) == 0 && strcmp(row->c_type, "f32") == 0) plan_row(a, row, best, &least);
  }
  if (least == 0) plan_row(a, fragments_lanes_row(d->device), best, &least);
  *a = *best;
  return least > 0;
}

bool strategy_attention_carries(ir_context_t* ctx, const ir_op_t* op, const device_info_t* device) {
  attention_t a;
  dispatch_t d = {.ctx = ctx, .root = (ir_op_t*)op, .device = device};
  return attention_plan(&a, &d);
}
