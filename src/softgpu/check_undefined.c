// The check of what was never written: where undefined bits matter, and how memory keeps them.
//
// At launch only what hardware sets up is defined. Most instructions read and write defined registers, or define one
// for the first time, which a few masks tell; the rest goes through check_trial.c. Scratch and workgroup memory have a
// byte of defined bits for each byte; memory of the process counts as defined, and storing what is not defined into it
// is wrong, but for the fourth element of vectors of three and for gaps in structures that are copied whole.
#include "softgpu/check_undefined.h"

#include <stdio.h>
#include <stdlib.h>

#include "softgpu/check.h"
#include "softgpu/check_group.h"

static void begin_scalars(wave_t* w) {
  uint32_t* scalar = w->undefined->scalar;
  memset(scalar, 0xff, (SREG_SCC + 1) * sizeof(*scalar));
  memset(scalar + SREG_SCC + 1, 0, (SREG_COUNT - SREG_SCC - 1) * sizeof(*scalar));
  memset(scalar, 0, w->begun_scalars * sizeof(*scalar));
  if (isa_has_architected_ids(w->target)) memset(scalar + SREG_TTMP + 7, 0, 3 * sizeof(*scalar));
  scalar[SREG_EXEC] = scalar[SREG_EXEC + 1] = 0;
  if (!isa_is_gfx9(w->target)) return;
  if (isa_has_architected_scratch(w->target)) scalar[SREG_FLAT_SCRATCH] = scalar[SREG_FLAT_SCRATCH + 1] = 0;
  scalar[SREG_XNACK_MASK] = scalar[SREG_XNACK_MASK + 1] = 0;
}

bool check_undefined_start(wave_t* w) {
  size_t scratch_size = (size_t)w->scratch_size * w->lanes;
  check_undefined_t* c = w->undefined;
  if (!c) {
    c = malloc(sizeof(*c));
    uint8_t* scratch = calloc(scratch_size ? scratch_size : 1, 1);
    if (!c || !scratch) return free(c), free(scratch), false;
    c->scratch = scratch, c->scratch_size = scratch_size, c->scratch_used = 0;
    w->undefined = c;
  }
  memset(c->scratch, 0, c->scratch_used);
  c->scratch_used = 0;
  memset(c->any, 0xff, sizeof(c->any));
  memset(c->any, 0, w->begun_vectors * sizeof(c->any[0]));
  memset(c->partial, 0, sizeof(c->partial));
  memset(c->origin, 0, sizeof(c->origin));
  begin_scalars(w);
  return true;
}

void check_undefined_free(wave_t* w) {
  if (w->undefined) free(w->undefined->scratch);
  free(w->undefined);
  w->undefined = NULL;
}

typedef struct name_t {
  char text[48];
} name_t;

static name_t name_of(uint32_t index) {
  static const struct {
    uint32_t index;
    const char* name;
  } others[] = {{SREG_VCC, "vcc_lo"}, {SREG_VCC + 1, "vcc_hi"}, {SREG_M0, "m0"}, {SREG_SCC, "scc"}};
  name_t name;
  uint32_t scalar = index - WAVE_REGISTERS;
  if (index < WAVE_REGISTERS) {
    snprintf(name.text, sizeof(name.text), "%c%u", index >= WAVE_ACCUMULATION ? 'a' : 'v', index % WAVE_ACCUMULATION);
    return name;
  }
  bool is_trap = scalar >= SREG_TTMP && scalar < SREG_TTMP + 16;
  snprintf(name.text, sizeof(name.text), "%s%u", is_trap ? "ttmp" : "s", is_trap ? scalar - SREG_TTMP : scalar);
  for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); ++i) {
    if (others[i].index == scalar) snprintf(name.text, sizeof(name.text), "%s", others[i].name);
  }
  return name;
}

bool check_undefined_report(wave_t* w, const inst_t* inst, uint32_t index, uint32_t lane, const char* what) {
  uint32_t origin = w->undefined->origin[index];
  char of_lane[16] = "", from[96];
  if (index < WAVE_REGISTERS) snprintf(of_lane, sizeof(of_lane), " of lane %u", lane);
  if (origin & (CHECK_ORIGIN_LDS | CHECK_ORIGIN_SCRATCH)) {
    snprintf(from, sizeof(from), "comes from byte %u of %s, where nothing defined was stored",
             origin & (CHECK_ORIGIN_LDS - 1), origin & CHECK_ORIGIN_LDS ? "workgroup memory" : "scratch");
  } else if (origin && origin - 1 != index) {
    snprintf(from, sizeof(from), "comes from %s, which was never written", name_of(origin - 1).text);
  } else {
    snprintf(from, sizeof(from), "was never written");
  }
  wave_fault(w, inst, ENGINE_FAULT_CHECK, inst->address, "uninitialized: register %s%s %s; it %s", name_of(index).text,
             of_lane, what, from);
  return false;
}

// Of an operand's registers: lanes with undefined bits, undefined bits of scalar ones.
static void gather(const check_undefined_t* c, const operand_t* o, uint64_t* lanes, uint32_t* bits) {
  if (o->kind == OPERAND_VGPR) {
    for (uint32_t k = 0; k < o->dwords; ++k) *lanes |= c->any[o->index + k];
  } else if (o->kind == OPERAND_SGPR) {
    for (uint32_t k = 0; k < o->dwords; ++k) *bits |= c->scalar[o->index + k];
  }
}

// Registers count as written as a whole, even where an instruction writes half of one.
static void define(check_undefined_t* c, const operand_t* o, uint64_t lanes) {
  if (o->kind == OPERAND_VGPR) {
    for (uint32_t k = 0; k < o->dwords; ++k) c->any[o->index + k] &= ~lanes;
  } else if (o->kind == OPERAND_SGPR) {
    for (uint32_t k = 0; k < o->dwords; ++k) c->scalar[o->index + k] = 0;
  }
}

typedef struct state_t {
  uint64_t from_lanes, to_lanes;
  uint32_t from_bits, to_bits;
} state_t;

static void gather_all(const wave_t* w, const inst_t* inst, state_t* s) {
  const check_undefined_t* c = w->undefined;
  for (uint32_t i = 0; i < inst->source_count; ++i) gather(c, &inst->src[i], &s->from_lanes, &s->from_bits);
  for (uint32_t i = 0; i < inst->destination_count; ++i) gather(c, &inst->dst[i], &s->to_lanes, &s->to_bits);
  if (!(inst->flow & (CHECK_FLOW_SCC | CHECK_FLOW_VCC | CHECK_FLOW_M0))) return;
  if (inst->flow & CHECK_FLOW_SCC) s->from_bits |= c->scalar[SREG_SCC];
  if (inst->flow & CHECK_FLOW_M0) s->from_bits |= c->scalar[SREG_M0];
  if (inst->flow & CHECK_FLOW_VCC) {
    s->from_bits |= c->scalar[SREG_VCC] | (w->lanes == 64 ? c->scalar[SREG_VCC + 1] : 0);
  }
}

// The lane that v_readfirstlane, v_readlane and v_writelane are about.
static uint64_t chosen_lane(const wave_t* w, const inst_t* inst) {
  uint64_t exec = wave_exec(w);
  uint32_t lane = exec ? (uint32_t)__builtin_ctzll(exec) : 0;
  if (inst->source_count > 1) {
    const operand_t* o = &inst->src[1];
    lane = o->kind == OPERAND_VGPR ? w->vgpr[o->offset] : wave_scalar(w, o);
  }
  return UINT64_C(1) << (lane & (w->lanes - 1));
}

static void define_results(wave_t* w, const inst_t* inst, uint64_t exec) {
  uint64_t lanes = inst->row->klass == INST_CLASS_MATRIX ? UINT64_MAX : exec;
  for (uint32_t i = 0; i < inst->destination_count; ++i) define(w->undefined, &inst->dst[i], lanes);
}

static bool compute(wave_t* w, const inst_t* inst) {
  state_t s = {0};
  uint64_t exec = wave_exec(w);
  uint32_t flow = inst->flow | (inst->is_dual ? inst[1].flow : 0);
  gather_all(w, inst, &s);
  if (inst->is_dual) gather_all(w, inst + 1, &s);
  if (flow & CHECK_FLOW_RELATIVE && w->undefined->scalar[SREG_M0]) {
    return check_undefined_report(w, inst, WAVE_REGISTERS + SREG_M0, 0, "says which register is meant");
  }
  if (flow & CHECK_FLOW_RELATIVE || w->gpr_index) return check_trial(w, inst);
  uint64_t lanes = flow & CHECK_FLOW_CROSS ? w->all : exec;
  if (flow & CHECK_FLOW_ONE_LANE) lanes = exec = chosen_lane(w, inst);
  if (!(s.from_lanes & lanes) && !s.from_bits) {
    if (!(s.to_lanes & lanes) && !s.to_bits) return true;
    if (!(flow & CHECK_FLOW_READS)) {
      define_results(w, inst, exec);
      if (inst->is_dual) define_results(w, inst + 1, exec);
      return true;
    }
  }
  return check_trial(w, inst);
}

// The operand must be defined, in active lanes.
static bool require(wave_t* w, const inst_t* inst, const operand_t* o, const char* what) {
  const check_undefined_t* c = w->undefined;
  uint64_t exec = wave_exec(w);
  for (uint32_t k = 0; k < o->dwords; ++k) {
    if (o->kind == OPERAND_VGPR && c->any[o->index + k] & exec) {
      return check_undefined_report(w, inst, o->index + k, (uint32_t)__builtin_ctzll(c->any[o->index + k] & exec),
                                    what);
    }
    if (o->kind == OPERAND_SGPR && c->scalar[o->index + k]) {
      return check_undefined_report(w, inst, WAVE_REGISTERS + o->index + k, 0, what);
    }
  }
  return true;
}

static bool require_scalar(wave_t* w, const inst_t* inst, uint32_t index, const char* what) {
  if (!w->undefined->scalar[index]) return true;
  return check_undefined_report(w, inst, WAVE_REGISTERS + index, 0, what);
}

static bool access_scalar(wave_t* w, const inst_t* inst) {
  for (uint32_t i = 0; i < inst->source_count; ++i) {
    if (!require(w, inst, &inst->src[i], "is an operand of a scalar memory instruction")) return false;
  }
  define_results(w, inst, 0);
  return true;
}

static bool access_vector(wave_t* w, const inst_t* inst) {
  uint64_t exec = wave_exec(w);
  if (!exec) return true;
  for (uint32_t i = 0; i < inst->source_count; ++i) {
    bool is_data = inst->flow & CHECK_FLOW_DATA << i;
    if (is_data && !(inst->flow & CHECK_FLOW_ATOMIC)) continue;
    const char* what = is_data ? "is data of an atomic operation" : "is an address";
    if (!require(w, inst, &inst->src[i], what)) return false;
  }
  if (inst->flow & CHECK_FLOW_M0 && !require_scalar(w, inst, SREG_M0, "is an address")) return false;
  define_results(w, inst, exec);
  return true;
}

static bool branch(wave_t* w, const inst_t* inst) {
  const uint32_t* scalar = w->undefined->scalar;
  if (inst->flow & CHECK_FLOW_SCC && !require_scalar(w, inst, SREG_SCC, "decides a branch")) return false;
  uint32_t count = w->lanes == 64 ? 2 : 1, ones = 0;
  for (uint32_t k = 0; k < count; ++k) ones |= w->sgpr[SREG_VCC + k] & ~scalar[SREG_VCC + k];
  // A bit that is 1 decides whatever the others are.
  for (uint32_t k = 0; inst->flow & CHECK_FLOW_VCC && !ones && k < count; ++k) {
    if (!require_scalar(w, inst, SREG_VCC + k, "decides a branch")) return false;
  }
  for (uint32_t i = 0; i < inst->source_count; ++i) {
    if (!require(w, inst, &inst->src[i], "is where the wave goes on")) return false;
  }
  define_results(w, inst, 0);
  return true;
}

bool check_undefined_before(wave_t* w, const inst_t* inst) {
  if (inst->flow & CHECK_FLOW_PURE) return !inst->size || compute(w, inst);  // 0: done with the first half
  switch ((inst_class_t)inst->row->klass) {
    case INST_CLASS_SMEM:
      return access_scalar(w, inst);
    case INST_CLASS_LDS:
    case INST_CLASS_LOAD:
    case INST_CLASS_STORE:
    case INST_CLASS_FLAT:
      return access_vector(w, inst);
    case INST_CLASS_BRANCH:
      return branch(w, inst);
    default:
      return true;
  }
}

// Memory that keeps defined bits: of the workgroup, or of the wave's scratch.
typedef struct memory_t {
  wave_t* wave;
  check_space_t space;
  uint8_t* defined;
  uint64_t size;
} memory_t;

// Where a lane's byte is in it; UINT64_MAX outside.
static uint64_t place_of(const memory_t* m, uint32_t lane, uint64_t address) {
  uint64_t at = m->space == CHECK_LDS       ? address
                : m->space == CHECK_SCRATCH ? (address / 4 * m->wave->lanes + lane) * 4 + address % 4
                                            : address - (uint64_t)m->wave->scratch;
  return at < m->size ? at : UINT64_MAX;
}

static memory_t memory_of(wave_t* w, check_space_t space) {
  if (space == CHECK_LDS) return (memory_t){w, space, check_group_defined(w->group), w->group->lds_size};
  return (memory_t){w, space, w->undefined->scratch, w->undefined->scratch_size};
}

static uint32_t first_register(const wave_t* w) { return (uint32_t)(w->moved->registers->offset / w->lanes); }

static void load_lane(const memory_t* m, uint32_t lane, uint64_t address, uint32_t bytes) {
  check_undefined_t* c = m->wave->undefined;
  const check_moved_t* moved = m->wave->moved;
  uint32_t to = first_register(m->wave), kind = m->space == CHECK_LDS ? CHECK_ORIGIN_LDS : CHECK_ORIGIN_SCRATCH;
  for (uint32_t k = 0; k < bytes; k += 4) {
    uint32_t size = bytes - k < 4 ? bytes - k : 4, bits = 0;
    for (uint32_t b = 0; b < size; ++b) {
      uint64_t at = place_of(m, lane, address + k + b);
      if (at != UINT64_MAX) bits |= (uint32_t)(uint8_t)~m->defined[at] << 8 * b;
    }
    if (!bits) continue;
    if (size < 4 && moved->is_signed && bits >> (8 * size - 1)) bits |= UINT32_MAX << 8 * size;
    if (moved->half) bits = moved->half == 1 ? bits & 0xffff : bits << 16;
    bool is_first = !(c->any[to + k / 4] & wave_exec(m->wave));
    if (is_first) c->origin[to + k / 4] = kind | (uint32_t)((address + k) & (CHECK_ORIGIN_LDS - 1));
    check_undefined_set(c, to + k / 4, lane, bits);
  }
}

static void store_lane(const memory_t* m, uint32_t lane, uint64_t address, uint32_t bytes, bool has_registers) {
  check_undefined_t* c = m->wave->undefined;
  const check_moved_t* moved = m->wave->moved;
  for (uint32_t k = 0; k < bytes; ++k) {
    uint64_t at = place_of(m, lane, address + k);
    if (at == UINT64_MAX) continue;
    uint32_t bits = has_registers ? check_undefined_bits(c, first_register(m->wave) + k / 4, lane) : 0;
    m->defined[at] = (uint8_t)~(bits >> (8 * (k % 4) + (has_registers && moved->half == 2 ? 16 : 0)));
    if (m->defined == c->scratch && at >= c->scratch_used) c->scratch_used = at + 1;
  }
}

// Whether the undefined bytes of what a lane stores are no mistake: the last of a vector of three elements, stored as
// four; or, where they were loaded, a structure's gaps.
static bool is_filling(const wave_t* w, const uint8_t* bits, uint32_t bytes) {
  uint32_t first = 0, until_end = 0;
  while (first < bytes && !bits[first]) ++first;
  while (until_end < bytes && bits[bytes - 1 - until_end] == 0xff) ++until_end;
  bool is_tail = first + until_end == bytes, whole = true;
  if (is_tail && ((bytes >= 4 && bytes != 12 && until_end * 4 == bytes) || (bytes == 16 && until_end == 8)))
    return true;
  for (uint32_t k = 0; k < bytes; ++k) {
    bool was_loaded = w->undefined->origin[first_register(w) + k / 4] & (CHECK_ORIGIN_LDS | CHECK_ORIGIN_SCRATCH);
    whole = whole && (!bits[k] || (bits[k] == 0xff && was_loaded));
  }
  return whole && first;
}

// A lane's store into memory of the process.
static bool publish_lane(wave_t* w, const inst_t* inst, uint32_t lane, uint32_t bytes) {
  uint8_t bits[WAVE_MAX_STORE] = {0};
  uint32_t from = first_register(w), wrong = 0;
  for (uint32_t k = 0; k < bytes && k < WAVE_MAX_STORE; ++k) {
    uint32_t of_register = check_undefined_bits(w->undefined, from + k / 4, lane);
    bits[k] = (uint8_t)(of_register >> (8 * (k % 4) + (w->moved->half == 2 ? 16 : 0)));
    if (bits[k] && !wrong) wrong = 1 + k / 4;
  }
  if (!wrong || is_filling(w, bits, bytes)) return true;
  return check_undefined_report(w, inst, from + wrong - 1, lane, "is stored");
}

// Lanes that an access of the process's memory makes in scratch, by the address that a buffer's descriptor gave.
static uint64_t scratch_lanes(const wave_t* w, const uint64_t* address, uint64_t mask) {
  uint64_t lanes = 0, size = w->undefined->scratch_size, base = (uint64_t)w->scratch;
  for (uint32_t i = 0; size && i < w->lanes; ++i) lanes |= (uint64_t)(address[i] - base < size) << i;
  return lanes & mask;
}

// Registers that the access stores: lanes of them that are not defined.
static uint64_t stored_lanes(const wave_t* w, uint32_t bytes) {
  uint64_t lanes = 0;
  if (!w->moved || w->moved->registers->kind != OPERAND_VGPR) return 0;
  for (uint32_t k = 0; 4 * k < bytes; ++k) lanes |= w->undefined->any[first_register(w) + k];
  return lanes;
}

static bool is_defined(const memory_t* m, uint32_t lane, uint64_t address, uint32_t bytes) {
  uint32_t defined = UINT32_MAX;
  if (m->space == CHECK_LDS && bytes % 4 == 0 && address + bytes <= m->size) {
    for (uint32_t k = 0; k < bytes; k += 4) {
      uint32_t word;
      memcpy(&word, m->defined + address + k, 4);
      defined &= word;
    }
    return defined == UINT32_MAX;
  }
  for (uint32_t k = 0; k < bytes; ++k) {
    uint64_t at = place_of(m, lane, address + k);
    if (at != UINT64_MAX && m->defined[at] != 0xff) return false;
  }
  return true;
}

// Exchanges define memory; what other atomic operations make of undefined bits is undefined.
static bool replaces(const inst_t* inst) {
  const char* name = inst->row->name;
  return (strstr(name, "swap") || strstr(name, "xchg")) && !strstr(name, "cmp");
}

bool check_undefined_move(wave_t* w, const inst_t* inst, check_space_t space, uint32_t access, const uint64_t* address,
                          uint64_t mask, uint32_t bytes) {
  bool is_global = space == CHECK_GLOBAL || space == CHECK_SCALAR, reads = access & CHECK_READ;
  uint64_t kept = is_global ? scratch_lanes(w, address, mask) : mask;
  uint64_t undefined = access == CHECK_WRITE ? stored_lanes(w, bytes) : 0;
  memory_t m = memory_of(w, space);
  for (uint64_t left = mask & ~kept & undefined; left; left &= left - 1) {
    if (!publish_lane(w, inst, (uint32_t)__builtin_ctzll(left), bytes)) return false;
  }
  bool stores = access == CHECK_WRITE || (access & CHECK_ATOMIC && replaces(inst));
  for (uint64_t left = kept; left; left &= left - 1) {
    uint32_t lane = (uint32_t)__builtin_ctzll(left);
    if (reads && w->moved && !is_defined(&m, lane, address[lane], bytes)) load_lane(&m, lane, address[lane], bytes);
    bool has_registers = undefined >> lane & 1;
    if (stores && (has_registers || !is_defined(&m, lane, address[lane], bytes))) {
      store_lane(&m, lane, address[lane], bytes, has_registers);
    }
  }
  return true;
}
