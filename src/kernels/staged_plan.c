// How a product is cut into tiles: of all that fit the device, the one that takes the fewest cycles by a rough count.
// See staged.h.
#include <stdio.h>
#include <string.h>

#include "kernels/staged.h"

//===----------------------------------------------------------------------------------------------------------------===
// One tile
//===----------------------------------------------------------------------------------------------------------------===

// All places of a fragment's runs begin at multiples of the run.
static bool runs_fit(const staged_t* s, product_side_t side, int64_t run) {
  for (int32_t i = 0; i < staged_held(s, side); i += (int32_t)run) {
    place_t place = staged_depth_place(s, side, i);
    if (place.base % run || place.low % run || place.high % run) return false;
  }
  return true;
}

enum { ACCESS_BYTES = 16, TURN_BYTES = 128 };  // of workgroup memory: a lane's, those of all banks

// Steps whose fragments a lane loads by one access: the order of the depth is free where both sides have the same.
static int32_t joined_steps(const staged_t* s) {
  if (!s->arranged || !fragment_is_one_run(&s->f, PRODUCT_LEFT) || !fragment_is_one_run(&s->f, PRODUCT_RIGHT)) return 1;
  int64_t steps = 1, each = fragment_run(&s->f, PRODUCT_LEFT) * (int64_t)ir_type_bytes(s->f.element);
  if (s->f.a.count != s->f.b.count) return 1;
  while (2 * steps * each <= ACCESS_BYTES && staged_slice_depth(s) % (2 * steps * s->f.row->k) == 0) steps *= 2;
  return (int32_t)steps;
}

// Loads of a piece that go across the depth: as many as a fragment wants side by side, unless matrices are loaded.
static void plan_across(const staged_t* s, product_side_t which, staged_side_t* side, product_along_t along) {
  enum { STORE_BYTES = 32 };
  int64_t bytes = ir_type_bytes(s->f.element);
  bool lies_so = along == PRODUCT_ALONG_ROWS && bytes == 2 && s->f.product.d->device->has_matrix_load;
  if (lies_so && s->f.row->instruction) side->matrices = fragment_matrices(&s->f, which);
  if (side->matrices) return;
  side->run = staged_run(s, which);
  if (!runs_fit(s, which, side->run)) side->run = 1;
  while (s->arranged && side->run * bytes > ACCESS_BYTES) side->run /= 2;
  bool is_wide = s->arranged && side->run > 1;
  if (!is_wide && side->width * side->run * bytes > STORE_BYTES) side->width = STORE_BYTES / (side->run * bytes);
  if (along != PRODUCT_ALONG_ROWS || side->width < 1) side->width = 1;
}

// Pieces that lie in memory as they do in workgroup memory; their width becomes that of a copy.
static void plan_copies(const staged_t* s, product_side_t which, staged_side_t* side) {
  const product_t* p = &s->f.product;
  int64_t bytes = ir_type_bytes(s->f.element);
  side->copies = p->d->device->has_async_copy && side->run == 1 && !side->turns && side->width * bytes >= 4 &&
                 product_copy_width(p, which, side->width) == side->width;
}

// Loads across the depth, as wide as there are pieces for all threads: of parts of runs where these are too few.
static void share_loads(const staged_t* s, staged_side_t* side, int64_t tile) {
  enum { LEAST = 4 };  // bytes of a part
  int64_t bytes = ir_type_bytes(s->f.element), threads = staged_threads(s);
  for (; side->width > 1; side->width /= 2) {
    for (side->part = side->run; tile * s->depth / side->part % (side->width * threads); side->part /= 2) {
      if (side->part * bytes <= LEAST) break;
    }
    if (tile * s->depth / side->part % (side->width * threads) == 0) return;
  }
  side->part = side->run;
}

static bool plan_side(staged_t* s, product_side_t which, int64_t size) {
  enum { LOAD_BYTES = 16, SHORT_GAP = 16, LONG_GAP = 32 };
  const product_t* p = &s->f.product;
  staged_side_t* side = &s->sides[which];
  product_along_t along = product_along(p, which);
  int64_t bytes = ir_type_bytes(s->f.element), whole = which == PRODUCT_LEFT ? p->rows : p->columns;
  bool deep = along == PRODUCT_ALONG_DEPTH;
  *side = (staged_side_t){.size = size, .width = LOAD_BYTES / bytes, .run = 1, .rows = 1};
  side->turns = deep && which == PRODUCT_RIGHT && !s->f.row->instruction;
  side->along_depth = deep && !side->turns;
  if (!deep) {
    plan_across(s, which, side, along);
  } else if (p->d->device->has_matrix_load && s->f.row->instruction) {
    side->matrices = fragment_matrices(&s->f, which);
  }
  int64_t length = deep ? p->depth : whole, tile = deep ? s->depth : size, threads = staged_threads(s);
  while (side->width > 1 && (length % side->width || tile % side->width)) side->width /= 2;
  side->part = side->run;
  if (!deep && s->arranged) share_loads(s, side, tile);
  int64_t all = size * s->depth / side->part;
  plan_copies(s, which, side);
  int64_t gap = side->along_depth || side->matrices ? SHORT_GAP : LONG_GAP;
  side->stride = side->along_depth ? s->depth + gap / bytes : size * side->run + gap / bytes;
  side->neighbours = 1;
  // Stores of narrower loads of mixed rows would meet in banks.
  if (s->f.mixed && which == fragments_run_side(&s->f) && side->width != s->f.c.count) return false;
  if (s->arranged && !deep && side->run > 1 && side->width > 1) {
    fragment_planes_t planes = fragment_planes(side->size, side->width, side->run, bytes);
    side->plane = planes.plane;
    side->stride = planes.stride;
  }
  if (s->arranged && side->along_depth && s->depth * bytes < TURN_BYTES) {
    while (side->neighbours * side->width * bytes < TURN_BYTES && size % (2 * side->neighbours) == 0) {
      side->neighbours *= 2;
    }
  }
  side->stage = side->along_depth ? size * side->stride : s->depth / side->run * side->stride;
  side->pieces = all / (side->width * threads);
  return s->depth % side->run == 0 && all % (side->width * threads) == 0 && side->pieces <= STAGED_MAX_PIECES &&
         side->pieces * side->part <= STAGED_MAX_LOADS / 2;
}

static int64_t workgroup_bytes(const staged_t* s) {
  return s->stages * (s->sides[0].stage + s->sides[1].stage) * ir_type_bytes(s->f.element) + staged_sum_bytes(s);
}

enum { OTHER_REGISTERS = 80, UNIT_REGISTERS = 65536 };

// Workgroups of a unit that run at a time, by what they need of its registers and memory.
static double resident_workgroups(const staged_t* s) {
  enum { MOST = 4 };
  const device_info_t* device = s->f.product.d->device;
  double held = (double)(staged_fragments(s) * s->f.row->c_lanes + OTHER_REGISTERS);
  double by_registers = UNIT_REGISTERS / (held * (double)staged_threads(s));
  double by_memory = (double)device->workgroup_memory_bytes / (double)workgroup_bytes(s);
  double count = by_registers < by_memory ? by_registers : by_memory;
  return count < 1 ? 1 : count > MOST ? MOST : (double)(int64_t)count;
}

// Workgroups that read a side's tile.
static int64_t readers(const staged_t* s, product_side_t which) {
  const product_t* p = &s->f.product;
  return which == PRODUCT_LEFT ? ceil_div(p->columns, s->sides[PRODUCT_RIGHT].size)
                               : ceil_div(p->rows, s->sides[PRODUCT_LEFT].size);
}

static double workgroups_of_unit(const staged_t* s) {
  const product_t* p = &s->f.product;
  return (double)p->batch * (double)(readers(s, PRODUCT_LEFT) * readers(s, PRODUCT_RIGHT)) /
         p->d->device->compute_units;
}

// Copies of a side go through the unit's own cache where that saves something: rows or columns that are repeated past
// the end are read once then, and all come faster, as measured with elements of up to two bytes and where workgroup
// memory leaves the cache room.
static bool is_cached(const staged_t* s, product_side_t which) {
  const product_t* p = &s->f.product;
  if (!s->async || ir_type_bytes(s->f.element) > 2) return false;
  if ((which == PRODUCT_LEFT ? p->rows : p->columns) % s->sides[which].size) return true;
  double per_unit = workgroups_of_unit(s), resident = resident_workgroups(s);
  if (resident > per_unit) resident = per_unit < 1 ? 1 : per_unit;
  return resident * (double)workgroup_bytes(s) <= (double)p->d->device->workgroup_memory_bytes * 5 / 8;
}

// How much longer work takes where too few waves share a unit to hide what each waits for.
static double slowness(const staged_t* s, double waves) {
  enum { UNIT_WAVES = 8 };
  if (waves >= UNIT_WAVES) return 1;
  if (!s->f.row->instruction) return UNIT_WAVES / waves;
  return waves >= 4 ? 1.25 : waves >= 2 ? 1.6 : 2;
}

// Cycles of a unit for a step's loads, where a thread computes where each is from and takes it to workgroup memory
// itself.
static double load_cycles(const staged_t* s, double waves) {
  enum { INSTRUCTIONS = 10, SCHEDULERS = 4 };
  double accesses = 0;
  if (s->async || !s->f.product.d->device->has_async_copy) return 0;
  for (int i = 0; i < 2; ++i) accesses += (double)(s->sides[i].pieces * s->sides[i].part);
  accesses *= (double)(s->waves_down * s->waves_across * s->slices);
  return accesses * INSTRUCTIONS / (waves < SCHEDULERS ? waves : SCHEDULERS) * slowness(s, waves);
}

// Cycles that a tile of both sides takes from the cache that the units share, which uses short rows' lines badly.
static double memory_cycles(const staged_t* s, double per_unit) {
  enum { UNIT_BYTES = 26, MOST_UNIT_BYTES = 64, MOST_COPIED_BYTES = 30, LINE = 128 };
  const double through_cache = 1.25;
  double row_bytes = (double)s->depth * (double)ir_type_bytes(s->f.element), cycles = 0;
  double rate = per_unit < 1 ? UNIT_BYTES / per_unit : UNIT_BYTES;
  double most = s->f.product.d->device->has_async_copy ? MOST_COPIED_BYTES : MOST_UNIT_BYTES;
  if (rate > most) rate = most;
  for (int i = 0; i < 2; ++i) {
    cycles += (double)s->sides[i].size * row_bytes / (s->sides[i].cached ? rate * through_cache : rate);
  }
  return row_bytes < LINE ? cycles * 1.2 : cycles;
}

// Cycles until the first stages are filled, which takes longer the more there are, and the more of what they hold no
// other workgroup reads, as that comes from memory.
static double filling_cycles(const staged_t* s, double memory) {
  if (!s->async) return 0;
  double rows = (double)s->sides[0].size, columns = (double)s->sides[1].size;
  double alone = rows / (double)readers(s, PRODUCT_LEFT) + columns / (double)readers(s, PRODUCT_RIGHT);
  return memory * (double)(s->stages - 1) * (0.5 + alone / (rows + columns));
}

// Rough count of a unit's cycles. A step takes what its work does, or as long as its operands take from the cache that
// the units share, or as long as its loads wait where neither other workgroups of the unit nor stages under way have
// anything to do meanwhile, which is felt in any case with one stage under way; and a barrier. The numbers are those of
// an NVIDIA H200 on products of 16 to 8192 rows, whose times they order.
static double plan_cost(const staged_t* s) {
  enum { UNIT_PRODUCTS = 2000, LANE_PRODUCTS = 128, UNIT_WORKGROUP_BYTES = 128 };
  enum { OTHERS = 12 };  // of what goes on at the same time, the part that is felt
  enum { WAIT = 1500, COPY_WAIT = 1750, BARRIER = 250 };
  enum { FRAGMENTS = 8, CACHED_FRAGMENTS = 2 };  // which part of their loads is felt
  const product_t* p = &s->f.product;
  const mma_row_t* row = s->f.row;
  double bytes = ir_type_bytes(s->f.element), rows = (double)s->sides[0].size, columns = (double)s->sides[1].size;
  double waves = (double)(s->waves_down * s->waves_across * s->slices), depth = (double)s->depth;
  double per_unit = workgroups_of_unit(s), resident = resident_workgroups(s);
  if (resident > per_unit) resident = per_unit < 1 ? 1 : per_unit;
  double compute = rows * columns * depth / (row->instruction ? UNIT_PRODUCTS / bytes : LANE_PRODUCTS);
  double held = (double)(s->down * row->a_lanes + s->across * row->b_lanes) * bytes * row->subgroup;
  double fragments = waves * (double)staged_slice_depth(s) / row->k * held / UNIT_WORKGROUP_BYTES;
  double memory = memory_cycles(s, per_unit);
  double slow = slowness(s, waves * resident), loads = load_cycles(s, waves * resident);
  double step = (compute > fragments ? compute : fragments) * slow + loads;
  if (step < memory) step = memory;
  double under_way = s->async ? (double)(s->stages - 1) : 1, wait = s->async ? COPY_WAIT : WAIT + step;
  wait /= resident * under_way;
  if (step < wait) step = wait;
  if (p->d->device->has_async_copy) {
    bool cached = s->sides[0].cached || s->sides[1].cached;
    step += ((compute + fragments) * slow + memory + wait) / OTHERS;
    if (row->instruction) step += fragments / (cached ? CACHED_FRAGMENTS : FRAGMENTS);
    if (s->async && under_way == 1) step += wait * resident * 0.6;
  }
  step += BARRIER / resident;
  double steps = (double)staged_steps(s) + 4;
  double stores =
      rows * columns * (double)s->slices / waves / 8 + 2 * (double)staged_sum_bytes(s) / UNIT_WORKGROUP_BYTES;
  return (double)(int64_t)(per_unit + 0.999) * (step * steps + stores + filling_cycles(s, memory));
}

// Of a piece to workgroup memory.
static double stores(const staged_t* s, const staged_side_t* side) {
  if (side->part == 1) return 1;
  double bytes = (double)(side->part * ir_type_bytes(s->f.element));
  return (double)side->width * (bytes < ACCESS_BYTES / 2 ? 0.5 : bytes / ACCESS_BYTES);
}

// Instructions of a wave for a step: what takes the tiles to workgroup memory, loads fragments from there, multiplies.
static double step_instructions(const staged_t* s) {
  enum { LOAD = 3, REST = 20 };  // with its address; counters, barrier
  int64_t fragments[2] = {s->down, s->across}, steps = staged_slice_depth(s) / s->f.row->k;
  double bytes = ir_type_bytes(s->f.element), count = REST + (double)(staged_fragments(s) * steps);
  for (int i = 0; i < 2; ++i) {
    const staged_side_t* side = &s->sides[i];
    product_side_t which = (product_side_t)i;
    double run = side->along_depth ? (double)staged_run(s, which) : (double)side->run;
    double piece = (double)(side->width * side->part) * bytes, access = run * bytes < ACCESS_BYTES ? run * bytes : 16;
    count += (double)(fragments[i] * steps * fragment_held(&s->f, which)->count) * bytes / access;
    count += (double)side->pieces * ((double)side->part * LOAD + stores(s, side));
    if (side->part > 1) count += (double)side->pieces * piece / 4;  // two halves of a word come from two loads
  }
  return count;
}

// Registers of a thread where tiles go through them: sums, fragments, of which half a tile's are loaded early, the
// loads on their way.
static double registers_with(const staged_t* s, int64_t steps, int64_t others) {
  const mma_row_t* row = s->f.row;
  int64_t held = (s->down * row->a_lanes + s->across * row->b_lanes) * steps;
  for (int i = 0; i < 2; ++i) held += s->sides[i].pieces * s->sides[i].part * s->sides[i].width;
  int64_t sums = staged_fragments(s) * row->c_lanes;
  return (double)(sums + others) + (double)(held * ir_type_bytes(s->f.element)) / 4;
}

enum { ARRANGED_OTHERS = 40, ARRANGED_WINDOW = 24 };  // where loads come from
static double arranged_registers(const staged_t* s) {
  int64_t steps = s->depth > s->f.row->k ? s->depth / s->f.row->k / 2 : 1;
  return registers_with(s, steps, s->f.product.taps > 1 ? ARRANGED_OTHERS + ARRANGED_WINDOW : ARRANGED_OTHERS);
}

// Waves of a SIMD that its unit, or pair of units, has room for, also where these are too few to fill it: others may be
// there.
static double arranged_waves(const staged_t* s, double registers) {
  enum { WIDE_REGISTERS = 131072, NARROW_REGISTERS = 196608, WIDE_MOST = 8, NARROW_MOST = 16, SIMDS = 4 };
  bool wide = s->f.row->subgroup == 64;
  double threads = (double)staged_threads(s), waves = threads / s->f.row->subgroup;
  double groups = (wide ? WIDE_REGISTERS : NARROW_REGISTERS) / (registers * threads);
  double memory = (double)s->f.product.d->device->workgroup_memory_bytes * (wide ? 1 : 2);
  if (groups * (double)workgroup_bytes(s) > memory) groups = memory / (double)workgroup_bytes(s);
  double held = (groups < 1 ? 1 : (double)(int64_t)groups) * waves / SIMDS, most = wide ? WIDE_MOST : NARROW_MOST;
  return held > most ? most : held;
}

// What the sum over slices takes: the first has one access for each of the others' accesses, and their additions.
static double arranged_sum_cycles(const staged_t* s, double issue) {
  enum { BARRIER = 50, WORKGROUP_BYTES = 128 };
  if (s->slices == 1) return 0;
  double numbers = (double)((s->slices - 1) * staged_fragments(s) * s->f.row->c_lanes);
  double additions = numbers * 1.5 * issue;  // and an access for every four
  return BARRIER + additions + 2 * (double)staged_sum_bytes(s) / WORKGROUP_BYTES;
}

int64_t staged_waves(const staged_t* s) {
  enum { MOST = 10 };  // those of others are as good as more of one's own registers
  if (!s->arranged) return 0;
  int64_t waves = (int64_t)arranged_waves(s, registers_with(s, 1, ARRANGED_OTHERS));
  return waves < MOST ? waves : MOST;
}

// A unit's cycles where tiles go through registers: those in which its SIMDs issue, or those in which its tiles come
// from the cache that the units share, and a part of the others. By the manuals' rates; no measurement is behind it.
static double arranged_cost(const staged_t* s) {
  enum { PRODUCT_BYTES = 512, OTHERS = 4, STORE = 4, SIMDS = 4 };  // of a SIMD in a cycle
  const double ALONE = 0.5;  // how much longer a SIMD takes for one wave, which waits for itself
  const mma_row_t* row = s->f.row;
  double issue = row->subgroup == 64 ? 4 : 1, halves = row->subgroup == 64 ? 1 : 2;  // units that share workgroups
  double per_unit = workgroups_of_unit(s) * halves;
  double waves = (double)(s->waves_down * s->waves_across * s->slices),
         alone = ALONE / arranged_waves(s, arranged_registers(s));
  double products = (double)(staged_fragments(s) * row->m * row->n * staged_slice_depth(s));
  double multiply = products * (double)ir_type_bytes(s->f.element) / PRODUCT_BYTES;
  double step = multiply + step_instructions(s) * issue, stores = (double)(staged_fragments(s) * row->c_lanes) * STORE;
  stores /= (double)fragments_stored_run(&s->f);
  double rounds = (double)(int64_t)(per_unit + 0.999), turns = waves < SIMDS ? 1 : waves / SIMDS;
  double steps = (double)staged_steps(s), sum = arranged_sum_cycles(s, issue);
  double compute = rounds * (turns * (step * steps + stores * issue) + sum) * (1 + alone);
  double memory = rounds * memory_cycles(s, per_unit / halves) / halves * (steps + 1);
  return compute > memory ? compute + memory / OTHERS : memory + compute / OTHERS;
}

static bool plan_tile(staged_t* s) {
  const dispatch_t* d = s->f.product.d;
  const mma_row_t* row = s->f.row;
  bool has_room = d->device->registers_per_thread >= 255 && row->instruction && !epilogue_is_long(d);
  int64_t held = staged_fragments(s) * row->c_lanes, most = has_room ? 128 : 64, threads = staged_threads(s);
  if (staged_fragments(s) > STAGED_MAX_FRAGMENTS || held > most) return false;
  if (threads > d->device->max_workgroup_size || s->depth % (s->slices * row->k)) return false;
  if (s->slices > 1 && (held + OTHER_REGISTERS) * threads > UNIT_REGISTERS) return false;
  int64_t rows = s->down * s->waves_down * row->m, columns = s->across * s->waves_across * row->n;
  s->joined = joined_steps(s);
  if (!plan_side(s, PRODUCT_LEFT, rows) || !plan_side(s, PRODUCT_RIGHT, columns)) return false;
  for (int i = 0; i < 2; ++i) {
    if (!s->sides[i].along_depth && staged_slice_depth(s) % s->sides[i].run) return false;
  }
  s->async = s->sides[0].copies && s->sides[1].copies;
  if (s->arranged && arranged_registers(s) > d->device->registers_per_thread) return false;
  return ceil_div(s->f.product.rows, rows) <= FRAGMENT_MAX_GRID;
}

//===----------------------------------------------------------------------------------------------------------------===
// All of them
//===----------------------------------------------------------------------------------------------------------------===

// A plan as --iree-codegen-product-plan asks for it: "fragments down x across, waves down x across, depth, stages", and
// slices where there are several.
typedef struct name_t {
  char text[96];
} name_t;
static name_t name_plan(const staged_t* s) {
  name_t name;
  int length = snprintf(name.text, sizeof(name.text), "%dx%d,%dx%d,%d,%d", (int)s->down, (int)s->across,
                        (int)s->waves_down, (int)s->waves_across, (int)s->depth, (int)s->stages);
  if (s->slices > 1) snprintf(name.text + length, sizeof(name.text) - (size_t)length, ",%d", (int)s->slices);
  return name;
}

static bool is_wanted(const staged_t* s) {
  const char* wanted = s->f.product.d->device->product_plan;
  return !wanted || strcmp(name_plan(s).text, wanted) == 0;
}

typedef struct choice_t {
  staged_t best;
  double least;
  bool wanted;
  const char* lists;  // the kernel's name: prints each; or NULL
} choice_t;

// Short rows side by side, as far as no two of an access share a bank, where the memory that this saves makes room for
// more waves.
static void join_rows(staged_t* s) {
  staged_side_t* sides = s->sides;
  int64_t bytes = ir_type_bytes(s->f.element), waves = staged_waves(s), strides[2], stages[2];
  for (int i = 0; i < 2; ++i) {
    strides[i] = sides[i].stride, stages[i] = sides[i].stage;
    if (!sides[i].along_depth) continue;
    int64_t gap = sides[i].stride - s->depth;
    while (sides[i].rows * s->depth * bytes < TURN_BYTES && sides[i].size % (2 * sides[i].rows) == 0) {
      sides[i].rows *= 2;
    }
    sides[i].stride = sides[i].rows * s->depth + gap;
    sides[i].stage = sides[i].size / sides[i].rows * sides[i].stride;
  }
  if (staged_waves(s) > waves) return;
  for (int i = 0; i < 2; ++i) sides[i].rows = 1, sides[i].stride = strides[i], sides[i].stage = stages[i];
}

static void consider(staged_t* s, choice_t* choice) {
  if (workgroup_bytes(s) > s->f.product.d->device->workgroup_memory_bytes) return;
  for (int i = 0; i < 2; ++i) s->sides[i].cached = is_cached(s, (product_side_t)i);
  bool wanted = is_wanted(s);
  double cost = s->arranged ? arranged_cost(s) : plan_cost(s);
  if (choice->lists) {
    fprintf(stderr, "%s: %s %s: %.0f\n", choice->lists, s->f.row->instruction ? s->f.row->instruction : "lanes",
            name_plan(s).text, cost);
  }
  if (choice->least > 0 && (choice->wanted > wanted || (choice->wanted == wanted && cost >= choice->least))) return;
  *choice = (choice_t){*s, cost, wanted, choice->lists};
  if (s->arranged) join_rows(&choice->best);
}

// Slices are for units that would have too few waves otherwise. Where tiles go through registers, each wave finds
// places of its own to load from, so that it takes more instructions: there only where most units would have none.
static int64_t most_slices(const staged_t* s) {
  enum { MOST_SLICES = 8 };
  const product_t* p = &s->f.product;
  if (!p->d->device->has_async_copy && !s->arranged) return 1;
  int64_t rows = s->down * s->waves_down * s->f.row->m, columns = s->across * s->waves_across * s->f.row->n;
  int64_t groups = p->batch * ceil_div(p->rows, rows) * ceil_div(p->columns, columns);
  int64_t units = p->d->device->compute_units;
  return groups <= (s->arranged ? units / 4 : 2 * units) ? MOST_SLICES : 1;
}

static void plan_slices(staged_t* s, choice_t* choice) {
  enum { LONG_ROW = 256 };
  bool is_long = s->depth * ir_type_bytes(s->f.element) > LONG_ROW;
  int64_t last = most_slices(s);
  for (s->slices = is_long ? 4 : 1; s->slices <= last; s->slices *= 2) {
    if (s->slices * s->waves_down * s->waves_across == 1 || !plan_tile(s)) continue;
    int64_t most = s->async ? STAGED_MAX_STAGES : 2;
    for (s->stages = s->arranged ? 1 : 2; s->stages <= most; ++s->stages) consider(s, choice);
  }
}

// Tiles of one instruction and depth.
static void plan_tiles(staged_t* s, choice_t* choice) {
  static const uint8_t waves[][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {1, 4}, {4, 1}, {2, 4}, {4, 2}};
  for (size_t w = 0; w < sizeof(waves) / sizeof(waves[0]); ++w) {
    s->waves_down = waves[w][0], s->waves_across = waves[w][1];
    for (s->down = 1; s->down <= STAGED_MAX_DOWN; s->down *= 2) {
      for (s->across = 1; s->across <= STAGED_MAX_ACROSS; s->across *= 2) plan_slices(s, choice);
    }
  }
}

static void plan_depths(staged_t* s, choice_t* choice) {
  int64_t bytes = ir_type_bytes(s->f.element);
  int64_t padded = ceil_div(s->f.product.depth, s->f.row->k) * s->f.row->k;
  for (int64_t row_bytes = 32; row_bytes <= 512; row_bytes *= 2) {
    s->depth = row_bytes / bytes;
    if (s->depth && s->depth % s->f.row->k == 0 && s->depth <= padded) plan_tiles(s, choice);
  }
}

// With rows or columns in the order in which a lane's results follow each other, and in their own. They may be in any
// where loads go across the depth.
static void plan_orders(staged_t* s, choice_t* choice) {
  bool across = product_along(&s->f.product, fragments_run_side(&s->f)) != PRODUCT_ALONG_DEPTH;
  fragments_t own = s->f;
  for (int mixes = s->arranged && across; mixes >= 0; --mixes) {
    s->f = own;
    if (s->arranged) fragments_arrange(&s->f, mixes);
    if (mixes == s->f.mixed) plan_depths(s, choice);
  }
}

static bool plan(staged_t* s, dispatch_t* d, const char* lists) {
  enum { LEAST_SIZE = 32, LEAST_COPIED_ROWS = 17, LEAST_DEPTH = 64 };
  memset(s, 0, sizeof(*s));
  if (!fragments_read(&s->f, d, true)) return false;
  const product_t* p = &s->f.product;
  if (p->batch > FRAGMENT_MAX_GRID || p->columns < LEAST_SIZE) return false;
  if (fragments_has_open_rows(p) && p->columns > (int64_t)FRAGMENT_MAX_GRID * LEAST_SIZE) return false;
  if (p->rows < (d->device->has_async_copy ? LEAST_COPIED_ROWS : LEAST_SIZE)) return false;
  if (p->taps * p->depth < LEAST_DEPTH) return false;
  choice_t choice = {.lists = lists};
  s->arranged = d->device->has_scalar_unit && !d->device->has_async_copy;
  for (int32_t i = 0; i < d->device->mma_count; ++i) {
    if (fragments_take(&s->f, &d->device->mma[i])) plan_orders(s, &choice);
  }
  s->arranged = false;
  if (choice.least == 0 && !d->device->has_scalar_unit && fragments_take_lanes(&s->f)) plan_depths(s, &choice);
  *s = choice.best;
  return choice.least > 0 && (p->rows >= LEAST_SIZE || (choice.best.async && choice.best.f.row->instruction));
}

bool staged_plan(staged_t* s, dispatch_t* d) { return plan(s, d, NULL); }

void staged_list_plans(dispatch_t* d) {
  staged_t s;
  plan(&s, d, ir_op_string(d->op, "sym_name", "dispatch"));
}

bool staged_copies_tiles(dispatch_t* d) {
  staged_t s;
  return d->device->has_async_copy && staged_plan(&s, d) && s.async;
}
