// Hazards of gfx9: instructions that must be wait states apart, by the tables of hazards.def.
#include <pthread.h>
#include <stdio.h>

#include "softgpu/check_hazards.h"

typedef enum {
#define WRITER(name) WRITER_##name,
#include "softgpu/hazards.def"
  WRITER_COUNT,
} writer_t;
typedef enum {
#define ROLE(name, what) ROLE_##name,
#include "softgpu/hazards.def"
  ROLE_COUNT,
} role_t;
typedef enum {
#define SCALAR_ROLE(name, what) SCALAR_##name,
#include "softgpu/hazards.def"
  SCALAR_COUNT,
} scalar_role_t;

typedef enum { FAMILY_OTHER, FAMILY_MI100, FAMILY_MI200, FAMILY_MI300, FAMILY_MI350, FAMILY_COUNT } family_t;
enum {
  MI100 = 1 << FAMILY_MI100,
  MI200 = 1 << FAMILY_MI200,
  MI300 = 1 << FAMILY_MI300,
  MI350 = 1 << FAMILY_MI350,
  GFX9 = 1 << FAMILY_OTHER | MI100 | MI200 | MI300 | MI350,
};
typedef enum { UNIT_VALU, UNIT_SALU, UNIT_COUNT } unit_t;
enum { LONGEST = 20, PASSES_COUNT = 5 };  // wait states; 0, 2, 4, 8, 16 passes

static family_t family_of(const isa_target_t* t) {
  if (t->major != 9) return FAMILY_COUNT;
  if (t->minor >= 5) return FAMILY_MI350;
  if (t->minor >= 4) return FAMILY_MI300;
  return t->stepping == 0xa ? FAMILY_MI200 : t->stepping == 8 ? FAMILY_MI100 : FAMILY_OTHER;
}

uint8_t check_hazards_passes(const isa_target_t* target, const char* mnemonic) {
  static const struct {
    int families;
    const char* patterns;
    uint8_t passes;
  } rows[] = {
#define PASSES(families, patterns, passes) {families, patterns, passes},
#include "softgpu/hazards.def"
  };
  family_t family = family_of(target);
  for (size_t i = 0; family < FAMILY_COUNT && i < sizeof(rows) / sizeof(rows[0]); ++i) {
    if (rows[i].families >> family & 1 && hazard_matches(mnemonic, rows[i].patterns)) return rows[i].passes;
  }
  return 0;
}

// The tables by family, made once.
static uint8_t vector_states[FAMILY_COUNT][WRITER_COUNT][PASSES_COUNT][ROLE_COUNT];
static uint8_t scalar_states[FAMILY_COUNT][UNIT_COUNT][SCALAR_COUNT];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void add_vector(int families, writer_t writer, role_t role, int passes, int states) {
  uint32_t index = passes ? (uint32_t)__builtin_ctz((uint32_t)passes) : 0;
  for (int f = 0; f < FAMILY_COUNT; ++f) {
    if (families >> f & 1) vector_states[f][writer][index][role] = states > 0 ? (uint8_t)states : 0;
  }
}

static void add_scalar(int families, unit_t unit, scalar_role_t role, uint8_t states) {
  for (int f = 0; f < FAMILY_COUNT; ++f) {
    if (families >> f & 1) scalar_states[f][unit][role] = states;
  }
}

static void make_tables(void) {
  for (int i = 0; i < PASSES_COUNT; ++i) {
    int p = i ? 1 << i : 0;
#define VECTOR(families, writer, role, states) add_vector(families, WRITER_##writer, ROLE_##role, p, states);
#include "softgpu/hazards.def"
  }
#define SCALAR(families, unit, role, states) add_scalar(families, UNIT_##unit, SCALAR_##role, states);
#include "softgpu/hazards.def"
}

static bool is_recent(uint32_t written, uint32_t now, uint32_t states) { return written && now <= written + states; }

// Whether all of a register's use comes too early behind what wrote it last.
static bool check_vector(wave_t* w, const inst_t* inst, const operand_t* o, role_t role, const check_hazards_t* h) {
  static const char* const names[] = {
#define ROLE(name, what) what,
#include "softgpu/hazards.def"
  };
  family_t family = family_of(w->target);
  for (uint32_t k = 0; o->kind == OPERAND_VGPR && k < o->dwords; ++k) {
    const hazard_write_t* last = &h->states.vectors[o->index + k];
    if (!is_recent(last->time, h->now, LONGEST)) continue;
    role_t exact = role;
    bool is_all = last->first == o->index && last->count == o->dwords;
    bool is_matrix = last->writer >= WRITER_XDL && last->writer <= WRITER_DGEMM;
    if (is_all && is_matrix && role >= ROLE_SRC_C_XDL && role <= ROLE_SRC_C_DGEMM) {
      exact = inst->traits & HAZARD_DGEMM_SMALL ? ROLE_SRC_C_SAME_DGEMM : ROLE_SRC_C_SAME;
    }
    bool same_dot = last->writer == WRITER_DOT && last->row == inst->row;
    if (same_dot && (role == ROLE_WRITE || o == &inst->src[2])) continue;
    uint32_t index = last->passes ? (uint32_t)__builtin_ctz(last->passes) : 0;
    if (is_recent(last->time, h->now, vector_states[family][last->writer][index][exact])) {
      char what[128];
      snprintf(what, sizeof(what), "%s too early behind %s, which writes it", names[exact], last->row->name);
      return hazard_report(w, inst, o, k, what);
    }
  }
  return true;
}

// The roles of source `i`; the second one is ROLE_COUNT where there is none.
static void roles_of(const wave_t* w, const inst_t* inst, uint32_t i, role_t roles[2]) {
  family_t family = family_of(w->target);
  uint64_t traits = inst->traits;
  bool is_old = family == FAMILY_MI100;
  roles[1] = ROLE_COUNT;
  if (traits & HAZARD_MFMA) {
    bool is_c = i == 2 && !(traits & HAZARD_IN_PLACE);
    roles[0] = !is_c                                             ? ROLE_SRC_AB
               : traits & HAZARD_DGEMM                           ? ROLE_SRC_C_DGEMM
               : traits & HAZARD_SGEMM && family >= FAMILY_MI300 ? ROLE_SRC_C_SGEMM
                                                                 : ROLE_SRC_C_XDL;
    return;
  }
  roles[0] = hazard_is_memory(inst)                ? ROLE_READ_BY_MEMORY
             : is_old && traits & HAZARD_ACC_READ  ? ROLE_ACC_READ
             : is_old && traits & HAZARD_ACC_WRITE ? ROLE_ACC_WRITE
             : traits & HAZARD_TRANS               ? ROLE_READ_OF_TRANS
                                                   : ROLE_READ;
  if (inst->extra && inst->extra->dpp) roles[1] = ROLE_DPP;
  if (traits & HAZARD_READ_LANE && i == 0) roles[1] = ROLE_LANE;
  if (traits & HAZARD_PERMLANE) roles[1] = ROLE_PERMLANE;
}

static bool check_sources(wave_t* w, const inst_t* inst, const check_hazards_t* h) {
  for (uint32_t i = 0; i < inst->source_count; ++i) {
    role_t roles[2];
    roles_of(w, inst, i, roles);
    // What transcendental functions read is forwarded to them, all but that of the matrix units.
    bool as_trans = roles[0] == ROLE_READ_OF_TRANS;
    if (!check_vector(w, inst, &inst->src[i], roles[0], h)) return false;
    if (as_trans &&
        h->states.vectors[inst->src[i].kind == OPERAND_VGPR ? inst->src[i].index : 0].writer != WRITER_TRANS &&
        !check_vector(w, inst, &inst->src[i], ROLE_READ, h)) {
      return false;
    }
    if (roles[1] != ROLE_COUNT && !check_vector(w, inst, &inst->src[i], roles[1], h)) return false;
  }
  return true;
}

static bool check_until(wave_t* w, const inst_t* inst, const operand_t* o, const uint32_t* until, uint32_t now) {
  for (uint32_t k = 0; o->kind == OPERAND_VGPR && k < o->dwords; ++k) {
    if (until[o->index + k] >= now) {
      return hazard_report(w, inst, o, k, "overwritten while an instruction before still reads it");
    }
  }
  return true;
}

static bool check_destinations(wave_t* w, const inst_t* inst, const check_hazards_t* h) {
  bool is_old = family_of(w->target) == FAMILY_MI100;
  for (uint32_t i = 0; i < inst->destination_count; ++i) {
    const operand_t* o = &inst->dst[i];
    if (inst->traits & HAZARD_MFMA) {
      // The accumulator of those in place.
      if (inst->traits & HAZARD_IN_PLACE && !check_vector(w, inst, o, ROLE_SRC_C_XDL, h)) return false;
      continue;
    }
    role_t role = is_old && inst->traits & HAZARD_ACC_WRITE ? ROLE_ACC_WRITE : ROLE_WRITE;
    if (!check_vector(w, inst, o, role, h)) return false;
    if (hazard_is_vector(inst) && !check_until(w, inst, o, h->states.read_until, h->now)) return false;
    if (!check_until(w, inst, o, h->states.matrix_until, h->now)) return false;
  }
  return true;
}

static bool check_scalar(wave_t* w, const inst_t* inst, const operand_t* o, scalar_role_t role,
                         const check_hazards_t* h) {
  static const char* const names[] = {
#define SCALAR_ROLE(name, what) what,
#include "softgpu/hazards.def"
  };
  family_t family = family_of(w->target);
  for (uint32_t k = 0; o->kind == OPERAND_SGPR && k < o->dwords; ++k) {
    uint32_t index = o->index + k;
    if (index == SREG_VCCZ) index = SREG_VCC;
    if (index == SREG_EXECZ) index = SREG_EXEC;
    uint32_t by_scalar = index == SREG_M0 ? h->states.m0_written : 0;
    char what[96];
    snprintf(what, sizeof(what), "%s too early behind the instruction that writes it", names[role]);
    if (is_recent(h->states.by_vector[index], h->now, scalar_states[family][UNIT_VALU][role]) ||
        is_recent(by_scalar, h->now, scalar_states[family][UNIT_SALU][role])) {
      return hazard_report(w, inst, o, k, what);
    }
  }
  return true;
}

// Registers that an instruction uses without naming them.
static bool check_implicit(wave_t* w, const inst_t* inst, const check_hazards_t* h) {
  static const operand_t vcc = {.kind = OPERAND_SGPR, .index = SREG_VCC, .dwords = 2},
                         exec = {.kind = OPERAND_SGPR, .index = SREG_EXEC, .dwords = 2},
                         m0 = {.kind = OPERAND_SGPR, .index = SREG_M0, .dwords = 1};
  uint64_t matrix = HAZARD_MFMA | (family_of(w->target) == FAMILY_MI100 ? HAZARD_ACC_WRITE : 0);
  bool reads_m0 = inst->traits & (HAZARD_READS_M0 | HAZARD_MOVE_RELATIVE) || inst->flags & (INST_GDS | INST_LDS);
  const struct {
    bool applies;
    const operand_t* operand;
    scalar_role_t role;
  } uses[] = {
      {inst->traits & HAZARD_DIV_FMAS, &vcc, SCALAR_DIV_FMAS},
      {inst->traits & HAZARD_DIV_FMAS, &vcc, SCALAR_VECTOR},
      {inst->extra && inst->extra->dpp, &exec, SCALAR_DPP_EXEC},
      {inst->traits & matrix, &exec, SCALAR_MATRIX_EXEC},
      {inst->traits & HAZARD_LANE, &exec, SCALAR_LANE_EXEC},
      {reads_m0, &m0, SCALAR_M0},
      {inst->traits & HAZARD_PERMLANE, &exec, SCALAR_PERMLANE_EXEC},
  };
  for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); ++i) {
    if (uses[i].applies && !check_scalar(w, inst, uses[i].operand, uses[i].role, h)) return false;
  }
  return true;
}

static bool check_scalars(wave_t* w, const inst_t* inst, const check_hazards_t* h) {
  bool is_global = hazard_is_memory(inst) && inst->row->klass != INST_CLASS_LDS;
  for (uint32_t i = 0; i < inst->source_count; ++i) {
    const operand_t* o = &inst->src[i];
    if (o->kind != OPERAND_SGPR) continue;
    bool is_flag = o->index == SREG_VCCZ || o->index == SREG_EXECZ;
    if (is_global && !check_scalar(w, inst, o, SCALAR_MEMORY, h)) return false;
    if (inst->traits & HAZARD_LANE_SELECT && i == 1 && !check_scalar(w, inst, o, SCALAR_LANE_SELECT, h)) return false;
    if (hazard_is_vector(inst) && !check_scalar(w, inst, o, is_flag ? SCALAR_IS_ZERO : SCALAR_VECTOR, h)) return false;
  }
  return check_implicit(w, inst, h);
}

// gfx90a: a product of f64 between a vector instruction and the memory instruction that reads its result; and v_fma_f64
// right behind one.
static bool check_dgemm(wave_t* w, const inst_t* inst, const check_hazards_t* h) {
  family_t family = family_of(w->target);
  if (inst->traits & HAZARD_FMA_F64 && is_recent(h->states.dgemm, h->now, 2)) {
    return hazard_report(w, inst, &inst->dst[0], 0, "computed too early behind a matrix instruction of f64");
  }
  for (uint32_t i = 0; family == FAMILY_MI200 && hazard_is_memory(inst) && i < inst->source_count; ++i) {
    const operand_t* o = &inst->src[i];
    for (uint32_t k = 0; o->kind == OPERAND_VGPR && k < o->dwords; ++k) {
      const hazard_write_t* last = &h->states.vectors[o->index + k];
      if (last->writer >= WRITER_PLAIN && h->states.dgemm > last->time && is_recent(last->time, h->now, 2)) {
        return hazard_report(w, inst, o, k,
                             "read by a memory instruction too early: a matrix instruction of f64 is between");
      }
    }
  }
  return true;
}

// gfx908: memory reads what a vector instruction has written, with a move of an accumulation register between.
static bool check_accumulation(wave_t* w, const inst_t* inst, const check_hazards_t* h) {
  if (family_of(w->target) != FAMILY_MI100 || !hazard_is_memory(inst) || h->states.accumulation + 1 != h->now)
    return true;
  for (uint32_t i = 0; i < inst->source_count; ++i) {
    const operand_t* o = &inst->src[i];
    for (uint32_t k = 0; o->kind == OPERAND_VGPR && k < o->dwords; ++k) {
      const hazard_write_t* last = &h->states.vectors[o->index + k];
      if (last->writer >= WRITER_PLAIN && last->writer <= WRITER_DOT && is_recent(last->time, h->now, 2)) {
        return hazard_report(w, inst, o, k, "read by a memory instruction right behind v_accvgpr");
      }
    }
  }
  return true;
}

static bool check_modes(wave_t* w, const inst_t* inst, const check_hazards_t* h) {
  uint32_t number = inst->encoding[0] & 63;
  bool same = h->states.set_reg_number == number;
  bool early = inst->traits & (HAZARD_GET_REG | HAZARD_SET_REG) && same && is_recent(h->states.set_reg, h->now, 2);
  enum { TRAP_STATUS = 3 };
  early |= inst->traits & HAZARD_RETURNS && h->states.set_reg_number == TRAP_STATUS &&
           is_recent(h->states.set_reg, h->now, 1);
  if (!early) return true;
  wave_fault(w, inst, ENGINE_FAULT_CHECK, inst->address, "wait: a hardware register is used too early behind s_setreg");
  return false;
}

bool hazard_states_before(wave_t* w, const inst_t* inst, const check_hazards_t* h) {
  pthread_once(&tables_once, make_tables);
  bool is_vector = hazard_is_vector(inst), is_memory = hazard_is_memory(inst);
  if (is_vector || is_memory) {
    return check_sources(w, inst, h) && check_destinations(w, inst, h) && check_scalars(w, inst, h) &&
           check_dgemm(w, inst, h) && check_accumulation(w, inst, h);
  }
  if (inst->traits & (HAZARD_READS_M0 | HAZARD_MOVE_RELATIVE) && !check_implicit(w, inst, h)) return false;
  return !(inst->traits & (HAZARD_GET_REG | HAZARD_SET_REG | HAZARD_RETURNS)) || check_modes(w, inst, h);
}

// Where an instruction's data for memory are, when they are more than 64 bits that are read late; NULL otherwise.
static const operand_t* late_data(const inst_t* inst) {
  const char* name = inst->row->name;
  if (inst->row->klass != INST_CLASS_STORE && inst->row->klass != INST_CLASS_FLAT) return NULL;
  if (!strstr(name, "_store_") && !strstr(name, "_atomic_")) return NULL;
  bool is_buffer = strncmp(name, "buffer_", 7) == 0 || strncmp(name, "tbuffer_", 8) == 0;
  if (is_buffer && inst->src[3].kind == OPERAND_SGPR) return NULL;
  const operand_t* data = &inst->src[is_buffer ? 0 : 1];
  return data->kind == OPERAND_VGPR && data->dwords > 2 ? data : NULL;
}

static bool writes_part(const inst_t* inst) {
  if (inst->extra && inst->extra->is_sdwa && inst->extra->destination_part != SDWA_DWORD) return true;
  return inst->traits & HAZARD_FP4 || (inst->op_sel > 0 && inst->op_sel >> inst->source_count);
}

static writer_t writer_of(family_t family, const inst_t* inst) {
  uint64_t traits = inst->traits;
  if (!hazard_is_vector(inst)) return WRITER_OTHER;
  if (traits & HAZARD_DGEMM) return traits & HAZARD_DGEMM_SMALL ? WRITER_DGEMM_SMALL : WRITER_DGEMM;
  if (traits & HAZARD_MFMA) return traits & HAZARD_SGEMM && family >= FAMILY_MI300 ? WRITER_SGEMM : WRITER_XDL;
  if (traits & HAZARD_ACC_READ) return WRITER_ACC_READ;
  if (traits & HAZARD_ACC_WRITE) return WRITER_ACC_WRITE;
  if (traits & HAZARD_DOT) return WRITER_DOT;
  if (traits & HAZARD_TRANS) return WRITER_TRANS;
  return writes_part(inst) ? WRITER_PART : WRITER_PLAIN;
}

static void mark(uint32_t* times, const operand_t* o, uint32_t time) {
  for (uint32_t k = 0; k < o->dwords; ++k) times[o->index + k] = time;
}

static void note_written(const inst_t* inst, writer_t writer, hazard_states_t* s, uint32_t now) {
  bool is_vector = hazard_is_vector(inst), is_scalar = inst->row->klass == INST_CLASS_SALU;
  for (uint32_t i = 0; i < inst->destination_count; ++i) {
    const operand_t* o = &inst->dst[i];
    hazard_write_t write = {now, (uint8_t)writer, inst->passes, (uint16_t)o->index, o->dwords, inst->row};
    for (uint32_t k = 0; o->kind == OPERAND_VGPR && k < o->dwords; ++k) s->vectors[o->index + k] = write;
    // Whatever writes it otherwise is not what these hazards are about.
    if (o->kind == OPERAND_SGPR) mark(s->by_vector, o, is_vector ? now : 0);
    if (o->kind == OPERAND_SGPR && o->index == SREG_M0) s->m0_written = is_scalar ? now : 0;
  }
  if (inst->traits & HAZARD_CMPX) s->by_vector[SREG_EXEC] = s->by_vector[SREG_EXEC + 1] = now;
}

void hazard_states_after(const wave_t* w, const inst_t* inst, check_hazards_t* h) {
  hazard_states_t* s = &h->states;
  family_t family = family_of(w->target);
  // LLVM looks at each function by itself.
  if (inst->traits & HAZARD_CALL) {
    memset(s, 0, sizeof(*s));
    return;
  }
  const operand_t* data = late_data(inst);
  if (data) mark(s->read_until, data, h->now + (family >= FAMILY_MI300 ? 2 : 1));
  writer_t writer = writer_of(family, inst);
  bool is_kept = writer == WRITER_XDL && inst->passes > 1 && !(inst->traits & HAZARD_IN_PLACE);
  uint32_t most = family == FAMILY_MI100 ? inst->passes - 3u : inst->passes - 1u;
  if (is_kept && inst->src[2].kind == OPERAND_VGPR && most < 16) mark(s->matrix_until, &inst->src[2], h->now + most);
  note_written(inst, writer, s, h->now);
  if (inst->traits & HAZARD_DGEMM) s->dgemm = h->now;
  if (inst->traits & (HAZARD_ACC_READ | HAZARD_ACC_WRITE)) s->accumulation = h->now;
  if (inst->traits & HAZARD_SET_REG) s->set_reg = h->now, s->set_reg_number = inst->encoding[0] & 63;
}
