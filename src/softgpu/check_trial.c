// What of an instruction's results depends on undefined bits: it is executed with several values of them, and the bits
// that come out different are undefined.
//
// So there is no second table of what instructions mean. Masks, moves, shifts, selections and whatever else keeps
// undefined bits apart is exact; where eight values happen to give one result that others would not, an undefined
// result counts as defined, never the other way round. Destinations count as sources, too: what an instruction leaves
// of them stays what it was.
#include "softgpu/check_undefined.h"

enum { TRIALS = 8, TRIAL_PARTNER = 4 };

// A register that takes part.
typedef struct place_t {
  uint16_t index;   // scalar ones count from WAVE_REGISTERS
  uint8_t operand;  // number of the operand
  uint8_t dword;    // in it
  bool is_destination;
  uint32_t row;              // of the arrays, vector registers only
  const operand_t* partner;  // the operand that it may be compared with, or NULL
} place_t;

typedef struct trial_t {
  wave_t* wave;
  check_undefined_t* check;
  wave_t saved;
  place_t places[CHECK_TRIAL_REGISTERS + 8];
  uint32_t count, rows;
  uint64_t seen[(WAVE_REGISTERS + SREG_COUNT + 63) / 64];
} trial_t;

static void add_place(trial_t* t, place_t place) {
  uint64_t bit = UINT64_C(1) << place.index % 64;
  bool is_vector = place.index < WAVE_REGISTERS;
  if (t->seen[place.index / 64] & bit || t->count == sizeof(t->places) / sizeof(t->places[0])) return;
  if (is_vector && t->rows == CHECK_TRIAL_REGISTERS) return;
  t->seen[place.index / 64] |= bit;
  place.row = is_vector ? t->rows++ : 0;
  t->places[t->count++] = place;
}

// Registers that M0 (v_movrel, s_movrel) or s_set_gpr_idx adds; operand 3 is the destination.
static uint32_t displacement(const wave_t* w, const inst_t* inst, uint32_t operand) {
  const char* name = inst->row->name;
  uint32_t m0 = w->sgpr[SREG_M0];
  if (inst->flow & CHECK_FLOW_RELATIVE) {
    bool is_apart = strstr(name, "_2_") || strstr(name, "swaprel"), to = operand == 3;
    bool moves = is_apart || (to ? strstr(name, "reld") || strstr(name, "relsd") : strstr(name, "rels") != NULL);
    return !moves ? 0 : !is_apart ? m0 : m0 >> (to ? 16 : 0) & 1023;
  }
  return inst->row->klass == INST_CLASS_VALU && w->gpr_index >> (12 + operand) & 1 ? w->gpr_index & 255 : 0;
}

static void add_operand(trial_t* t, const inst_t* inst, const operand_t* o, uint32_t number, bool is_destination) {
  if (o->kind != OPERAND_VGPR && o->kind != OPERAND_SGPR) return;
  bool is_vector = o->kind == OPERAND_VGPR;
  uint32_t moved = displacement(t->wave, inst, is_destination ? 3 : number), index = o->index;
  if (moved && moved < WAVE_ACCUMULATION) {
    uint32_t end = is_vector ? WAVE_ACCUMULATION : SREG_VCC;
    index = index + moved + o->dwords <= end ? index + moved : is_vector ? 0 : index;
  }
  place_t place = {.operand = (uint8_t)number, .is_destination = is_destination};
  if (!is_destination && inst->source_count > 1) place.partner = &inst->src[(number + 1) % inst->source_count];
  for (uint32_t k = 0; k < o->dwords; ++k) {
    place.dword = (uint8_t)k, place.index = (uint16_t)(index + k + (is_vector ? 0 : WAVE_REGISTERS));
    add_place(t, place);
  }
}

static void add_scalar(trial_t* t, uint32_t index) {
  add_place(t, (place_t){.index = (uint16_t)(WAVE_REGISTERS + index), .operand = 5});
}

static void add_inst(trial_t* t, const inst_t* inst) {
  for (uint32_t i = 0; i < inst->source_count; ++i) add_operand(t, inst, &inst->src[i], i, false);
  for (uint32_t i = 0; i < inst->destination_count; ++i) add_operand(t, inst, &inst->dst[i], 3 + i, true);
  if (inst->flow & CHECK_FLOW_SCC) add_scalar(t, SREG_SCC);
  if (inst->flow & CHECK_FLOW_M0) add_scalar(t, SREG_M0);
  if (inst->flow & CHECK_FLOW_VCC) add_scalar(t, SREG_VCC), add_scalar(t, SREG_VCC + 1);
}

// The values of undefined bits in a trial: zeros, ones, both kinds at once, what the other operand has, large numbers
// of either sign as integers and as floats of 16, 32 and 64 bits.
static uint32_t pattern_of(uint32_t trial, const place_t* place) {
  bool odd = place->operand & 1;
  switch (trial) {
    case 0:
      return 0;
    case 1:
      return UINT32_MAX;
    case 2:
      return odd ? UINT32_MAX : 0;
    case 3:
      return odd ? 0 : UINT32_MAX;
    case 5:
      return odd ? 0x7bff7bff : 0xfbfffbff;
    case 6:
      return odd ? 0xfbfffbff : 0x7bff7bff;
    default:
      return (place->operand * 32u + place->dword + 1) * UINT32_C(0x9e3779b9);
  }
}

static uint32_t partner_of(const trial_t* t, const place_t* place, uint32_t lane) {
  const operand_t* o = place->partner;
  uint32_t k = place->dword < o->dwords ? place->dword : 0;
  switch (o->kind) {
    case OPERAND_CONSTANT:
      return (uint32_t)(o->value >> 32 * (place->dword & 1));
    case OPERAND_SGPR:
      return t->saved.sgpr[o->index + k];
    case OPERAND_VGPR:
      return t->wave->vgpr[o->offset + k * t->wave->lanes + lane];
    default:
      return 0;
  }
}

// Everything as it was before the first trial.
static void restore(trial_t* t) {
  wave_t* w = t->wave;
  *w = t->saved;
  w->csr = UINT32_MAX;  // trials may have changed MXCSR
  for (uint32_t i = 0; i < t->count; ++i) {
    const place_t* place = &t->places[i];
    if (place->index >= WAVE_REGISTERS) continue;
    memcpy(w->vgpr + place->index * w->lanes, t->check->saved[place->row], 4 * w->lanes);
  }
}

static void put_pattern(trial_t* t, const place_t* place, uint32_t trial) {
  wave_t* w = t->wave;
  bool by_partner = trial == TRIAL_PARTNER && place->partner;
  uint32_t pattern = pattern_of(trial, place);
  if (place->index >= WAVE_REGISTERS) {
    uint32_t index = place->index - WAVE_REGISTERS, undefined = t->check->scalar[index];
    if (by_partner && undefined) pattern = partner_of(t, place, 0);
    w->sgpr[index] = (w->sgpr[index] & ~undefined) | (pattern & undefined);
    return;
  }
  if (!t->check->any[place->index]) return;
  const uint32_t* undefined = t->check->undefined[place->row];
  uint32_t* lanes = w->vgpr + place->index * w->lanes;
  for (uint32_t i = 0; i < w->lanes; ++i) {
    if (by_partner) pattern = partner_of(t, place, i);
    lanes[i] = (lanes[i] & ~undefined[i]) | (pattern & undefined[i]);
  }
}

static void save_places(trial_t* t) {
  const wave_t* w = t->wave;
  for (uint32_t i = 0; i < t->count; ++i) {
    const place_t* place = &t->places[i];
    if (place->index >= WAVE_REGISTERS) continue;
    memcpy(t->check->saved[place->row], w->vgpr + place->index * w->lanes, 4 * w->lanes);
    memset(t->check->differing[place->row], 0, 4 * w->lanes);
    for (uint32_t lane = 0; lane < w->lanes; ++lane) {
      t->check->undefined[place->row][lane] = check_undefined_bits(t->check, place->index, lane);
    }
  }
}

static void compare_places(trial_t* t, bool is_first) {
  for (uint32_t i = 0; i < t->count; ++i) {
    const place_t* place = &t->places[i];
    if (place->index >= WAVE_REGISTERS) continue;
    const uint32_t* now = t->wave->vgpr + place->index * t->wave->lanes;
    uint32_t *first = t->check->first[place->row], *differing = t->check->differing[place->row];
    if (is_first) memcpy(first, now, 4 * t->wave->lanes);
    for (uint32_t lane = 0; !is_first && lane < t->wave->lanes; ++lane) differing[lane] |= first[lane] ^ now[lane];
  }
}

// The first undefined source's register.
static const place_t* find_cause(const trial_t* t, uint32_t* lane) {
  *lane = 0;
  for (uint32_t i = 0; i < t->count; ++i) {
    const place_t* place = &t->places[i];
    if (place->is_destination) continue;
    if (place->index >= WAVE_REGISTERS && t->check->scalar[place->index - WAVE_REGISTERS]) return place;
    uint64_t any = place->index < WAVE_REGISTERS ? t->check->any[place->index] & t->wave->all : 0;
    if (!any) continue;
    *lane = (uint32_t)__builtin_ctzll(any & wave_exec(t->wave) ? any & wave_exec(t->wave) : any);
    return place;
  }
  return NULL;
}

// What differed becomes the place's undefined bits; whether any of them was defined.
static bool keep_vector(trial_t* t, const place_t* place) {
  uint32_t grown = 0;
  for (uint32_t lane = 0; lane < t->wave->lanes; ++lane) {
    uint32_t bits = t->check->differing[place->row][lane];
    grown |= bits & ~t->check->undefined[place->row][lane];
    check_undefined_set(t->check, place->index, lane, bits);
  }
  return grown;
}

static bool keep_scalar(check_undefined_t* c, uint32_t index, uint32_t bits) {
  bool grown = bits & ~c->scalar[index];
  c->scalar[index] = index > SREG_SCC ? 0 : bits;
  return grown;
}

// Results that differ are undefined, and come from where the first undefined source came from.
static void keep_results(trial_t* t, const uint32_t* scalars, const place_t* cause) {
  check_undefined_t* c = t->check;
  uint32_t origin = !cause ? 0 : c->origin[cause->index] ? c->origin[cause->index] : cause->index + 1u;
  for (uint32_t i = 0; i < t->count; ++i) {
    const place_t* place = &t->places[i];
    uint32_t index = place->index, scalar = index - WAVE_REGISTERS;
    bool grown = index < WAVE_REGISTERS ? keep_vector(t, place) : keep_scalar(c, scalar, scalars[scalar]);
    if (cause && (grown || place->is_destination)) c->origin[index] = origin;
  }
  for (uint32_t i = 0; i <= SREG_M0; ++i) {
    if (scalars[i] && keep_scalar(c, i, scalars[i])) c->origin[WAVE_REGISTERS + i] = origin;
  }
}

bool check_trial(wave_t* w, const inst_t* inst) {
  trial_t t;
  t.wave = w, t.check = w->undefined, t.saved = *w, t.count = t.rows = 0;
  memset(t.seen, 0, sizeof(t.seen));
  add_inst(&t, inst);
  if (inst->is_dual) add_inst(&t, inst + 1);
  save_places(&t);
  uint32_t first[SREG_COUNT], differing[SREG_COUNT] = {0};
  uint32_t mode = 0, gpr_index = 0, differs = 0;
  for (uint32_t trial = 0; trial < TRIALS; ++trial) {
    restore(&t);
    for (uint32_t i = 0; i < t.count; ++i) put_pattern(&t, &t.places[i], trial);
    inst->run(w, inst);
    if (w->state == WAVE_FAULTED) return false;
    compare_places(&t, trial == 0);
    if (trial == 0) memcpy(first, w->sgpr, sizeof(first)), mode = w->mode, gpr_index = w->gpr_index;
    for (uint32_t i = 0; i < SREG_COUNT; ++i) differing[i] |= first[i] ^ w->sgpr[i];
    differs |= (mode ^ w->mode) | (gpr_index ^ w->gpr_index);
  }
  restore(&t);
  uint32_t lane;
  const place_t* cause = find_cause(&t, &lane);
  if (cause && differs) return check_undefined_report(w, inst, cause->index, lane, "decides the wave's mode or index");
  if (cause && (differing[SREG_EXEC] | (w->lanes == 64 ? differing[SREG_EXEC + 1] : 0))) {
    return check_undefined_report(w, inst, cause->index, lane, "decides which lanes are active");
  }
  keep_results(&t, differing, cause);
  return true;
}
