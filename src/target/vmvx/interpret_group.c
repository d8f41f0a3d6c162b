// What threads do together: barriers, lane shuffles, matrix instructions, asynchronous copies.
#include <string.h>

#include "base/memory.h"
#include "dialects/mma.h"
#include "target/vmvx/interpret_state.h"

//===----------------------------------------------------------------------------------------------------------------===
// Matrix instructions
//===----------------------------------------------------------------------------------------------------------------===

static uint16_t* map_fragment(arena_t* arena, const mma_row_t* row, mma_layout_fn_t layout, int32_t lanes,
                              int32_t columns) {
  uint16_t* map = ARENA_ARRAY(arena, uint16_t, row->subgroup* lanes);
  for (int32_t l = 0; l < row->subgroup; ++l) {
    for (int32_t i = 0; i < lanes; ++i) {
      mma_position_t at = layout(l, i);
      map[l * lanes + i] = (uint16_t)(at.row * columns + at.col);
    }
  }
  return map;
}

void group_prepare(kernel_program_t* p) {
  const vmvx_function_t* f = p->function;
  size_t widest = 0;
  arena_t* arena = &p->arena;
  while (mma_at(p->mma_count)) ++p->mma_count;
  p->mma_maps = ARENA_ARRAY(arena, mma_map_t, p->mma_count);
  for (uint32_t i = 0; i < f->instr_count; ++i) {
    if (f->instrs[i].op != VMVX_OP_mma) continue;
    const mma_row_t* row = mma_at(f->instrs[i].x[4]);
    mma_map_t* map = &p->mma_maps[f->instrs[i].x[4]];
    size_t most = (size_t)(row->a_lanes > row->c_lanes ? row->a_lanes : row->c_lanes);
    if (most > widest) widest = most;
    if (map->a) continue;
    map->a = map_fragment(arena, row, row->a, row->a_lanes, row->k);
    map->b = map_fragment(arena, row, row->b, row->b_lanes, row->n);
    map->c = map_fragment(arena, row, row->c, row->c_lanes, row->n);
  }
  if (widest) {
    p->mma_a = ARENA_ARRAY(arena, double, widest * p->threads);
    p->mma_b = ARENA_ARRAY(arena, double, widest * p->threads);
    p->mma_c = ARENA_ARRAY(arena, double, widest * p->threads);
  }
}

// `mask` leaves of integers what they are without a sign, 0 all.
static void to_numbers(const run_t* r, uint32_t operand, double* out, bool tf32, int64_t mask) {
  const vmvx_register_t* reg = run_reg(r, operand);
  size_t n = (size_t)reg->lanes * r->threads;
  if (vmvx_type_is_float(reg->type)) {
    vmvx_to_doubles(reg->type, run_at(r, operand), out, n);
  } else {
    for (size_t i = 0; i < n; ++i) {
      int64_t value;
      vmvx_to_integers(reg->type, run_at(r, operand) + i * reg->bytes, &value, 1);
      out[i] = (double)(mask ? value & mask : value);
    }
  }
  for (size_t i = 0; tf32 && i < n; ++i) {
    float number = (float)out[i];
    uint32_t bits;
    memcpy(&bits, &number, 4);
    bits &= 0xffffe000u;
    memcpy(&number, &bits, 4);
    out[i] = number;
  }
}

// All lanes of each subgroup, or none. False after a report, for a subgroup that is active in part.
static bool check_subgroup(run_t* r, uint32_t first, uint32_t count, uint32_t size) {
  uint32_t active = 0, absent = first;
  for (uint32_t t = first; t < first + count; ++t) {
    active += r->mask[t];
    if (!r->mask[t]) absent = t;
  }
  if (active == 0) return false;
  if (active < size) {
    run_fault(r, KERNEL_FAULT_DIVERGENT_SUBGROUP, (fault_at_t){.thread = absent}, "%u of %u lanes are here", active,
              size);
  }
  return true;
}

static void multiply(const mma_row_t* row, const double* a, const double* b, double* c) {
  for (int32_t i = 0; i < row->m; ++i) {
    for (int32_t k = 0; k < row->k; ++k) {
      double x = a[i * row->k + k];
      for (int32_t j = 0; j < row->n; ++j) c[i * row->n + j] += x * b[k * row->n + j];
    }
  }
}

static void mma_subgroup(run_t* r, const mma_row_t* row, uint32_t first) {
  enum { MOST = 1024 };
  double a[MOST], b[MOST], c[MOST];
  kernel_program_t* p = r->program;
  const mma_map_t* map = &p->mma_maps[r->instr->x[4]];
  for (int32_t l = 0; l < row->subgroup; ++l) {
    for (int32_t i = 0; i < row->a_lanes; ++i) a[map->a[l * row->a_lanes + i]] = p->mma_a[i * r->threads + first + l];
    for (int32_t i = 0; i < row->b_lanes; ++i) b[map->b[l * row->b_lanes + i]] = p->mma_b[i * r->threads + first + l];
    for (int32_t i = 0; i < row->c_lanes; ++i) c[map->c[l * row->c_lanes + i]] = p->mma_c[i * r->threads + first + l];
  }
  multiply(row, a, b, c);
  const vmvx_register_t* out = run_reg(r, 0);
  for (int32_t l = 0; l < row->subgroup; ++l) {
    if (!r->mask[first + (uint32_t)l]) continue;
    for (int32_t i = 0; i < row->c_lanes; ++i) {
      double value = c[map->c[l * row->c_lanes + i]];
      uint8_t* to = run_at(r, 0) + ((size_t)i * r->threads + first + (uint32_t)l) * out->bytes;
      if (vmvx_type_is_float(out->type)) {
        vmvx_from_doubles(out->type, &value, to, 1);
      } else {
        int64_t integer = (int64_t)value;
        vmvx_from_integers(out->type, out->width, &integer, to, 1);
      }
    }
  }
}

void run_mma(run_t* r) {
  const mma_row_t* row = mma_at(r->instr->x[4]);
  uint32_t size = (uint32_t)row->subgroup;
  bool tf32 = strcmp(row->a_type, "tf32") == 0;
  to_numbers(r, 1, r->program->mma_a, tf32, mma_is_unsigned(row, 0) ? UINT8_MAX : 0);
  to_numbers(r, 2, r->program->mma_b, tf32, mma_is_unsigned(row, 1) ? UINT8_MAX : 0);
  to_numbers(r, 3, r->program->mma_c, false, 0);
  for (uint32_t first = 0; first < r->threads; first += size) {
    uint32_t count = r->threads - first < size ? r->threads - first : size;
    if (check_subgroup(r, first, count, size) && count == size) mma_subgroup(r, row, first);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Barriers and shuffles
//===----------------------------------------------------------------------------------------------------------------===

void run_barrier(run_t* r) {
  if (r->active != r->threads) {
    uint32_t absent = 0;
    while (absent + 1 < r->threads && r->mask[absent]) ++absent;
    run_fault(r, KERNEL_FAULT_DIVERGENT_BARRIER, (fault_at_t){.thread = absent}, "%u of %u threads are here", r->active,
              r->threads);
  }
  ++r->epoch;
}

// The lane that `lane` reads from, or -1.
static int64_t source_lane(uint32_t mode, int64_t lane, int32_t by, uint32_t size) {
  switch (mode) {
    case VMVX_SHUFFLE_XOR:
      lane ^= by;
      break;
    case VMVX_SHUFFLE_UP:
      return lane - by < 0 ? lane : lane - by;
    case VMVX_SHUFFLE_DOWN:
      return lane + by >= size ? lane : lane + by;
    default:
      lane = by;
  }
  return lane >= 0 && lane < size ? lane : -1;
}

void run_subgroup_shuffle(run_t* r) {
  uint32_t size = r->function->subgroup_size ? r->function->subgroup_size : 1;
  const vmvx_register_t* reg = run_reg(r, 1);
  for (uint32_t first = 0; first < r->threads; first += size) {
    uint32_t count = r->threads - first < size ? r->threads - first : size;
    if (!check_subgroup(r, first, count, size)) continue;
    for (uint32_t t = first; t < first + count; ++t) {
      if (!r->mask[t]) continue;
      int32_t by;
      memcpy(&by, run_at(r, 2) + (size_t)t * 4, 4);
      int64_t lane = source_lane(r->instr->x[3], t - first, by, size);
      if (lane < 0 || lane >= count) {
        run_fault(r, KERNEL_FAULT_LANE, (fault_at_t){.thread = t}, "operand %d of a subgroup of %u", by, size);
        lane = t - first;
      }
      for (uint32_t i = 0; i < reg->lanes; ++i) {
        size_t row = (size_t)i * r->threads;
        memcpy(run_at(r, 0) + (row + t) * reg->bytes, run_at(r, 1) + (row + first + (size_t)lane) * reg->bytes,
               reg->bytes);
      }
    }
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Matrices of workgroup memory
//===----------------------------------------------------------------------------------------------------------------===

static int64_t index_of(const run_t* r, uint32_t operand, uint32_t thread) {
  int64_t value;
  memcpy(&value, run_at(r, operand) + (size_t)thread * 8, 8);
  return value;
}

enum { MATRIX_ROWS = 8, MATRIX_ROW_BYTES = 16, MATRIX_LANES = 32 };

static void load_matrices(run_t* r, uint32_t first) {
  uint32_t count = r->instr->x[3] & 0xff, bytes = run_reg(r, 0)->bytes, each = 4 / bytes;
  bool transpose = r->instr->x[3] >> 8;
  const uint8_t* rows[4 * MATRIX_ROWS];
  for (uint32_t i = 0; i < count * MATRIX_ROWS; ++i) {
    vmvx_access_t access = {.memory = r->instr->x[1],
                            .thread = first + i,
                            .offset = index_of(r, 2, first + i),
                            .lanes = MATRIX_ROW_BYTES / bytes,
                            .align = MATRIX_ROW_BYTES,
                            .kind = VMVX_READ};
    rows[i] = run_access(r, &access);
  }
  for (uint32_t lane = 0; lane < MATRIX_LANES; ++lane) {
    for (uint32_t i = 0; i < count * each; ++i) {
      uint32_t matrix = i / each * MATRIX_ROWS, along = lane % 4 * each + i % each, across = lane / 4;
      const uint8_t* row = rows[matrix + (transpose ? along : across)];
      uint8_t* to = run_at(r, 0) + ((size_t)i * r->threads + first + lane) * bytes;
      if (row) memcpy(to, row + (transpose ? across : along) * bytes, bytes);
    }
  }
}

void run_load_matrix(run_t* r) {
  const vmvx_register_t* out = run_reg(r, 0);
  for (uint32_t first = 0; first < r->threads; first += MATRIX_LANES) {
    uint32_t count = r->threads - first < MATRIX_LANES ? r->threads - first : MATRIX_LANES;
    if (check_subgroup(r, first, count, MATRIX_LANES) && count == MATRIX_LANES) load_matrices(r, first);
  }
  vmvx_normalize(out->type, out->width, run_at(r, 0), (size_t)out->lanes * r->threads);
}

// Each thread moves a tile of its own, row by row.
void run_tile(run_t* r) {
  bool stores = r->instr->op == VMVX_OP_store_tile;
  const vmvx_register_t* tile = run_reg(r, 0);
  uint32_t bytes = tile->bytes, lanes = VMVX_TILE_ROW_BYTES / bytes;
  for (uint32_t t = 0; t < r->threads; ++t) {
    if (!r->mask[t]) continue;
    uint64_t offset = (uint64_t)index_of(r, 2, t), stride = (uint64_t)index_of(r, 3, t);
    for (uint32_t row = 0; row < VMVX_TILE_ROWS; ++row) {
      vmvx_access_t access = {.memory = r->instr->x[1],
                              .thread = t,
                              .offset = (int64_t)(offset + row * stride),
                              .lanes = lanes,
                              .align = 1,
                              .kind = stores ? VMVX_WRITE : VMVX_READ};
      uint8_t* at = run_access(r, &access);
      for (uint32_t i = 0; at && i < lanes; ++i) {
        uint8_t *element = run_at(r, 0) + (((size_t)row * lanes + i) * r->threads + t) * bytes, *in = at + i * bytes;
        memcpy(stores ? in : element, stores ? element : in, bytes);
      }
    }
  }
  if (!stores) vmvx_normalize(tile->type, tile->width, run_at(r, 0), (size_t)tile->lanes * r->threads);
}

//===----------------------------------------------------------------------------------------------------------------===
// Asynchronous copies
//===----------------------------------------------------------------------------------------------------------------===

static uint8_t* async_side(run_t* r, uint32_t operand, uint32_t thread, vmvx_access_kind_t kind, uint32_t bytes) {
  uint32_t memory = r->instr->x[operand];
  vmvx_access_t access = {.memory = memory,
                          .thread = thread,
                          .offset = index_of(r, operand + 1, thread),
                          .lanes = bytes / vmvx_type_bytes(r->function->memories[memory].type),
                          .align = bytes,
                          .kind = kind};
  return run_access(r, &access);
}

void run_async_copy(run_t* r) {
  bool some = r->instr->op == VMVX_OP_async_copy_some;
  uint32_t bytes = r->instr->x[4 + some];
  for (uint32_t t = 0; t < r->threads; ++t) {
    if (!r->mask[t]) continue;
    const uint8_t* from = some && !run_at(r, 4)[t] ? NULL : async_side(r, 0, t, VMVX_READ, bytes);
    uint8_t* to = async_side(r, 2, t, VMVX_ASYNC, bytes);
    if (!to) continue;
    if (r->queue_count == r->queue_capacity) {
      r->queue_capacity = r->queue_capacity ? r->queue_capacity * 2 : 1024;
      r->queue = memory_resize(r->queue, sizeof(*r->queue) * r->queue_capacity);
    }
    const memory_t* m = &r->program->memories[r->instr->x[2]];
    async_entry_t* entry = &r->queue[r->queue_count++];
    *entry = (async_entry_t){.thread = t,
                             .group = r->committed[t],
                             .memory = r->instr->x[2],
                             .size = bytes,
                             .offset = (uint64_t)(to - m->base)};
    if (from) memcpy(entry->data, from, bytes);
  }
}

void run_async_commit(run_t* r) {
  for (uint32_t t = 0; t < r->threads; ++t) r->committed[t] += r->mask[t];
}

void run_async_wait(run_t* r) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < r->queue_count; ++i) {
    const async_entry_t* entry = &r->queue[i];
    uint32_t committed = r->committed[entry->thread];
    // Groups are numbered from 0; the last `pending` committed ones, and what is not committed, may be under way.
    bool done = r->mask[entry->thread] && (uint64_t)entry->group + r->instr->x[0] < committed;
    if (done) run_deliver(r, entry);
    if (!done) r->queue[kept++] = *entry;
  }
  r->queue_count = kept;
}
