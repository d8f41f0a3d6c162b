// Places of true elements (graph.places), block by block: how many there are before a block is known. On CPUs vectors
// of the mask are passed over where nothing is true in them; else every element's place is written behind those that
// are kept, and stays where it is true, so that nothing is predicted. That is a list of the block's own, which goes
// where it belongs in the end. On GPUs a thread takes a block.
#include "kernels/strategy.h"

typedef struct places_t {
  dispatch_t* d;
  ir_op_t* op;
  const ir_type_t* place;  // type
  ir_value_t* list;
  ir_value_t* room;  // of the result
  linear_t shift;    // from the result's place to the list's
} places_t;

bool strategy_places_proposes(const dispatch_t* d, candidate_t* c) {
  bool alone = d->yield->operand_count == 1 && ir_operand(d->yield, 0)->def == d->root;
  if (!alone) return candidate_declines(c, "something follows the places");
  return candidate_evaluates(d, d->root, c);
}

static ir_value_t* place_of(places_t* p, const linear_t* at) {
  return eval_convert(&p->d->k, linear_scalar(&p->d->k, at), p->place);
}

static ir_value_t* as_number(places_t* p, ir_value_t* truth) {
  return kernel_cast(&p->d->k.b, SCALAR_castu, truth, ir_type_index(p->d->k.ctx));
}

// A vector of the mask, or one element; acc: how many are in the list.
static void visit(dispatch_t* d, linear_t at, ir_value_t** acc, void* user) {
  places_t* p = user;
  kernel_build_t* k = &d->k;
  int64_t lanes = k->lanes;
  ir_value_t *mask = eval_lanes(k, ir_operand(p->op, 0), &at), *count = acc[0];
  if (k->mask) mask = kernel_binary(&k->b, SCALAR_and, mask, k->mask);
  kernel_branch_t branch = {0};
  const ir_type_t* type = ir_type_index(k->ctx);
  if (lanes > 1) branch = kernel_if_begin(&k->b, kernel_reduce(&k->b, mask, "or"), &type, 1);
  at.lane = 0;
  for (int64_t i = 0; i < lanes; ++i, ++at.constant) {
    ir_value_t* truth = lanes > 1 ? kernel_extract(&k->b, mask, i) : mask;
    kernel_store(&k->b, place_of(p, &at), p->list, count);
    count = kernel_add(&k->b, count, as_number(p, truth));
  }
  if (lanes > 1) {
    kernel_if_else(&k->b, &branch, &count, 1);
    kernel_if_end(&k->b, &branch, acc, 1);
    count = ir_result(branch.op, 0);
  }
  acc[0] = count;
}

// What whole vectors leave of a block, where there are no masks.
static void visit_rest(dispatch_t* d, share_t part, ir_value_t** acc, void* user) {
  strips_between(d, part, 1, acc, 1, &(strip_call_t){visit, user, NULL});
}

// From the list to the result.
static void move(dispatch_t* d, linear_t at, ir_value_t** acc, void* user) {
  (void)acc;
  places_t* p = user;
  kernel_build_t* k = &d->k;
  linear_t from = linear_add(k, at, p->shift);
  ir_value_t *offset = linear_scalar(k, &from), *value;
  if (k->mask) {
    ir_value_t* none = kernel_integer(&k->b, kernel_vector_type(k->ctx, p->place, k->lanes), 0);
    value = kernel_load_masked(&k->b, p->list, offset, k->mask, none);
  } else {
    value = kernel_load(&k->b, p->list, offset, k->lanes);
  }
  eval_store(k, d->outputs[0], &at, value);
}

// Where the block's places go, within the result.
static ir_value_t* start_of(places_t* p, const linear_t* block) {
  kernel_build_t* k = &p->d->k;
  ir_value_t* start = eval_convert(k, eval_at(k, ir_operand(p->op, 1), block), ir_type_index(k->ctx));
  start = kernel_binary(&k->b, SCALAR_max, start, kernel_index(&k->b, 0));
  return kernel_binary(&k->b, SCALAR_min, start, p->room);
}

static void set_place(places_t* p, ir_value_t* place) {
  int64_t constant;
  if (!kernel_constant_index(place, &constant)) index_set_facts(&p->d->k, place, 0, index_facts(p->room).max, 1);
}

static void list_block(places_t* p, const linear_t* block, share_t part, int64_t lanes) {
  dispatch_t* d = p->d;
  kernel_build_t* k = &d->k;
  ir_value_t* count = kernel_index(&k->b, 0);
  strips_between(d, part, lanes, &count, 1, &(strip_call_t){visit, p, visit_rest});
  share_t to = {.lower = start_of(p, block)};
  set_place(p, to.lower);
  to.upper = kernel_binary(&k->b, SCALAR_min, kernel_add(&k->b, to.lower, count), p->room);
  set_place(p, to.upper);
  p->shift = linear_scale(k, linear_value(to.lower), -1);
  int64_t most = d->device->vector_bytes / ir_type_bytes(p->place);
  strips_between(d, to, most > 1 ? most : 1, NULL, 0, &(strip_call_t){move, p, NULL});
}

// One thread's.
static void store_block(places_t* p, const linear_t* block, share_t part) {
  kernel_build_t* k = &p->d->k;
  ir_value_t* start = start_of(p, block);
  kernel_loop_t loop = kernel_loop_begin(k, part.lower, part.upper, 1, &start, 1);
  linear_t at = linear_value(loop.index);
  ir_value_t* truth = eval_at(k, ir_operand(p->op, 0), &at);
  ir_value_t* fits = kernel_binary(&k->b, SCALAR_lt, loop.iters[0], p->room);
  kernel_branch_t branch = kernel_if_begin(&k->b, kernel_binary(&k->b, SCALAR_and, truth, fits), NULL, 0);
  linear_t to = linear_value(loop.iters[0]);
  eval_store(k, p->d->outputs[0], &to, place_of(p, &at));
  kernel_if_end(&k->b, &branch, NULL, 0);
  ir_value_t* next = kernel_add(&k->b, loop.iters[0], as_number(p, truth));
  kernel_for_end(&k->b, &loop, &next, 1);
}

void strategy_places_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  places_t p = {.d = d, .op = d->root, .place = ir_type_scalar(d->root->results[0].type)};
  const ir_value_t* mask = ir_operand(d->root, 0);
  extent_t size = eval_extent(mask, 0), blocks = eval_extent(ir_operand(d->root, 1), 0);
  extent_t room = eval_extent(d->outputs[0], 0);
  int64_t block = graph_get_block(d->root), lanes = dispatch_extent_lanes(d, &size);
  if (extent_is(&size, 0) || extent_is(&room, 0)) return;
  p.room = extent_value(k, &room);
  bool gpu = d->device->kind == DEVICE_GPU;
  if (!gpu) p.list = kernel_alloc(&k->b, p.place, block + 1, IR_SPACE_PRIVATE);
  iterations_t it = iterations_dynamic(d, &blocks, dispatch_cost(d) * block);
  linear_t first = linear_scale(k, it.index, block), end = first;
  end.constant += block;
  share_t part = {.lower = linear_scalar(k, &first)};
  part.upper = index_binary(k, SCALAR_min, linear_scalar(k, &end), extent_value(k, &size));
  if (gpu) {
    store_block(&p, &it.index, part);
  } else {
    list_block(&p, &it.index, part, lanes);
  }
  iterations_end(d, &it);
}
