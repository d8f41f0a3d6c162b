// Rows of isa/amd/valu_lane.def.
#include "softgpu/vector/valu.h"

static void put_scalar(wave_t* w, const inst_t* inst, const operand_t* from, uint32_t lane) {
  bool is_vector = from->kind == OPERAND_VGPR;
  w->sgpr[inst->dst[0].index] = is_vector ? w->vgpr[from->offset + lane] : wave_scalar(w, from);
}

static const inst_t* read_first(wave_t* w, const inst_t* inst) {
  uint64_t exec = wave_exec(w);
  put_scalar(w, inst, &inst->src[0], exec ? (uint32_t)__builtin_ctzll(exec) : 0);
  return inst + 1;
}

static uint32_t lane_of(const wave_t* w, const operand_t* o) {
  uint32_t lane = o->kind == OPERAND_VGPR ? w->vgpr[o->offset] : wave_scalar(w, o);
  return lane & (w->lanes - 1);
}

static const inst_t* read_lane(wave_t* w, const inst_t* inst) {
  put_scalar(w, inst, &inst->src[0], lane_of(w, &inst->src[1]));
  return inst + 1;
}

// EXEC does not matter.
static const inst_t* write_lane(wave_t* w, const inst_t* inst) {
  w->vgpr[inst->dst[0].offset + lane_of(w, &inst->src[1])] = wave_scalar(w, &inst->src[0]);
  return inst + 1;
}

// Lane i takes lane from[i] of source 0. op_sel says whether inactive lanes may be read, and whether reading one that
// may not gives 0 instead of leaving the destination alone.
static const inst_t* gather(wave_t* w, const inst_t* inst, const uint32_t* from) {
  uint32_t source[WAVE_MAX_LANES], result[WAVE_MAX_LANES] = {0};
  uint64_t exec = wave_exec(w), written = exec;
  bool fetches_inactive = inst->op_sel & 1, is_bounded = inst->op_sel & 2;
  VECTOR(valu_read_raw)(w, &inst->src[0], 0, 1, source);
  for (uint32_t i = 0; i < w->lanes; ++i) {
    if (fetches_inactive || (exec >> from[i] & 1)) {
      result[i] = source[from[i]];
    } else if (!is_bounded) {
      written &= ~(UINT64_C(1) << i);
    }
  }
  VECTOR(valu_store)(w, inst, 1, written, result);
  return inst + 1;
}

// Lanes of a row of 16 by four bits each of two scalar registers; `flip` is 16 for the other row of the pair.
static const inst_t* permute(wave_t* w, const inst_t* inst, uint32_t flip) {
  uint64_t select = wave_scalar(w, &inst->src[1]) | (uint64_t)wave_scalar(w, &inst->src[2]) << 32;
  uint32_t from[WAVE_MAX_LANES];
  for (uint32_t i = 0; i < w->lanes; ++i) from[i] = ((i & ~15u) ^ flip) | (uint32_t)(select >> 4 * (i & 15) & 15);
  return gather(w, inst, from);
}
static const inst_t* permute_row(wave_t* w, const inst_t* inst) { return permute(w, inst, 0); }
static const inst_t* permute_other_row(wave_t* w, const inst_t* inst) { return permute(w, inst, 16); }

static const inst_t* permute_by_lane(wave_t* w, const inst_t* inst, uint32_t flip) {
  uint32_t from[WAVE_MAX_LANES];
  VECTOR(valu_read_raw)(w, &inst->src[1], 1, 1, from);
  for (uint32_t i = 0; i < w->lanes; ++i) from[i] = ((i & ~15u) ^ flip) | (from[i] & 15);
  return gather(w, inst, from);
}
static const inst_t* permute_row_by_lane(wave_t* w, const inst_t* inst) { return permute_by_lane(w, inst, 0); }
static const inst_t* permute_other_row_by_lane(wave_t* w, const inst_t* inst) { return permute_by_lane(w, inst, 16); }

// Waves of 64 lanes only; inactive lanes are read.
static const inst_t* swap_halves(wave_t* w, const inst_t* inst) {
  if (w->lanes != 64) return inst + 1;
  uint32_t source[WAVE_MAX_LANES], result[WAVE_MAX_LANES];
  VECTOR(valu_read_raw)(w, &inst->src[0], 0, 1, source);
  for (uint32_t i = 0; i < 64; ++i) result[i] = source[i ^ 32];
  VECTOR(valu_store)(w, inst, 1, wave_exec(w), result);
  return inst + 1;
}

// The destination's odd rows (of `size` lanes) and the source's even ones change places.
static const inst_t* exchange(wave_t* w, const inst_t* inst, uint32_t size) {
  uint64_t exec = wave_exec(w);
  uint32_t *x = w->vgpr + inst->dst[0].offset, *y = w->vgpr + inst->src[0].offset;
  for (uint32_t i = 0; i < w->lanes; ++i) {
    if (i & size || i + size >= w->lanes) continue;
    uint32_t of_x = x[i + size], of_y = y[i];
    if (exec >> (i + size) & 1) x[i + size] = of_y;
    if (exec >> i & 1) y[i] = of_x;
  }
  return inst + 1;
}
static const inst_t* swap_rows(wave_t* w, const inst_t* inst) { return exchange(w, inst, 16); }
static const inst_t* swap_row_pairs(wave_t* w, const inst_t* inst) { return exchange(w, inst, 32); }

static const inst_row_t rows[] = {
#define LANE(name, function, count, ...) INST_ROW(name, VALU, EXACT, function, count, __VA_ARGS__)
#include "isa/amd/valu_lane.def"
};
VECTOR_TABLE(valu_lane_table, rows);
