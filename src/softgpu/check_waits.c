// Checks of registers: results that have not arrived for certain, and registers that nobody wrote.
//
// Memory answers at once here, and on a GPU some time later: an instruction owes its result until a counter that it
// raised is waited for. Each owed register remembers which counter and when (its number among those that raised it).
// A wait for `n` settles all but the last n; a full counter stalls the next operation, so what is older than the
// counter holds is settled as well. Scalar loads answer in any order: only a wait for 0 settles them, and whatever else
// shares their counter meanwhile. Flat instructions raise two counters and are settled when both are: in order since
// gfx10, by waits for 0 before.
#include <stdlib.h>

#include "softgpu/check.h"
#include "softgpu/check_group.h"
#include "softgpu/check_hazards.h"
#include "softgpu/waits.h"

// What a register is owed.
typedef struct debt_t {
  uint8_t counter, second;  // counter_t; `second` of flat instructions
  bool any_order;           // settled by a wait for 0 only
  uint32_t number, second_number;
} debt_t;

struct check_wave_t {
  uint32_t at_barrier[COUNTER_COUNT];  // `settled` when the wave came to a barrier
  uint32_t issued[COUNTER_COUNT];      // instructions that raised each counter
  uint32_t settled[COUNTER_COUNT];     // those up to this number are done, in order
  uint32_t emptied[COUNTER_COUNT];     // those up to this number were waited for with 0
  uint32_t last_scalar;                // number of the last operation that answers in any order, of the shared counter
  debt_t vector[WAVE_REGISTERS], scalar[SREG_COUNT];
  check_hazards_t hazards;
};

static counter_t scalar_counter(const wave_t* w) { return waits_scalar_counter(w->target); }
static counter_t store_counter(const wave_t* w) { return waits_store_counter(w->target); }

static uint32_t capacity(const wave_t* w, counter_t counter) {
  if (counter == COUNTER_LDS || counter == COUNTER_SCALAR) return w->target->major == 9 ? 15 : 63;
  return 63;
}

bool check_waits_start(wave_t* w) {
  if (!w->check) w->check = malloc(sizeof(*w->check));
  if (!w->check) return false;
  memset(w->check, 0, sizeof(*w->check));
  check_hazards_start(w, &w->check->hazards);
  return true;
}

void check_waits_free(wave_t* w) {
  free(w->check);
  w->check = NULL;
}

static bool is_settled(const check_wave_t* c, const debt_t* debt) {
  if (!debt->counter) return true;
  uint32_t first = debt->any_order ? c->emptied[debt->counter] : c->settled[debt->counter];
  uint32_t second = debt->any_order ? c->emptied[debt->second] : c->settled[debt->second];
  return debt->number <= first && (!debt->second || debt->second_number <= second);
}

static void settle(wave_t* w, counter_t counter, uint32_t value) {
  check_wave_t* c = w->check;
  if (value == 0) c->emptied[counter] = c->settled[counter] = c->issued[counter];
  // While answers come in any order, a count above zero says nothing.
  if (counter == scalar_counter(w) && c->last_scalar > c->emptied[counter]) return;
  if (c->issued[counter] >= value && c->issued[counter] - value > c->settled[counter]) {
    c->settled[counter] = c->issued[counter] - value;
  }
}

static void settle_wait(wave_t* w, const inst_t* inst) {
  waits_t waits = waits_of(w->target, inst);
  for (uint32_t i = COUNTER_NONE + 1; i < COUNTER_COUNT; ++i) {
    if (waits.most[i] != WAITS_ANY) settle(w, (counter_t)i, waits.most[i]);
  }
}

static debt_t* debt_of(wave_t* w, const operand_t* o, uint32_t k) {
  if (o->kind == OPERAND_VGPR) return &w->check->vector[o->index + k];
  return o->kind == OPERAND_SGPR ? &w->check->scalar[o->index + k] : NULL;
}

static bool report(wave_t* w, const inst_t* inst, const operand_t* o, uint32_t k, bool writes) {
  bool vector = o->kind == OPERAND_VGPR;
  uint32_t index = o->index + k;
  const char* file = !vector ? "s" : index >= WAVE_ACCUMULATION ? "a" : "v";
  wave_fault(w, inst, ENGINE_FAULT_CHECK, inst->address,
             "wait: register %s%u is %s before a wait for the instruction that loads it", file,
             vector ? index % WAVE_ACCUMULATION : index, writes ? "overwritten" : "read");
  return false;
}

// Results of one kind arrive in order, so that a later one may replace an earlier one.
static bool arrives_later(wave_t* w, const inst_t* inst, const debt_t* debt) {
  if (debt->any_order || debt->second) return false;
  switch (inst->row->klass) {
    case INST_CLASS_LOAD:
      return debt->counter == COUNTER_LOAD;
    case INST_CLASS_LDS:
      return debt->counter == COUNTER_LDS;
    default:
      return false;
  }
}

static bool check_operand(wave_t* w, const inst_t* inst, const operand_t* o, bool writes) {
  for (uint32_t k = 0; k < o->dwords; ++k) {
    const debt_t* debt = debt_of(w, o, k);
    if (!debt) return true;
    if (!is_settled(w->check, debt) && !(writes && arrives_later(w, inst, debt))) return report(w, inst, o, k, writes);
  }
  return true;
}

uint32_t check_waits_next(const wave_t* w, const inst_t* inst, bool in_group, uint8_t* counter) {
  uint8_t klass = inst->row->klass;
  bool loads = klass == INST_CLASS_LOAD || inst->flags & INST_RETURNS_OLD || inst->destination_count;
  bool is_vector = klass == INST_CLASS_LOAD || klass == INST_CLASS_STORE || klass == INST_CLASS_FLAT;
  *counter = is_vector ? loads ? COUNTER_LOAD : (uint8_t)store_counter(w) : COUNTER_NONE;
  if (klass == INST_CLASS_LDS || (klass == INST_CLASS_FLAT && in_group)) *counter = COUNTER_LDS;
  return *counter ? w->check->issued[*counter] + 1 : 0;
}
uint32_t check_waits_at_barrier(const wave_t* w, uint8_t counter) {
  return w->check ? w->check->at_barrier[counter] : UINT32_MAX;
}
bool check_waits_is_settled(const wave_t* w, uint8_t counter, uint32_t number) {
  return !w->check || number <= w->check->settled[counter];
}

// Registers that an instruction reads without naming them.
static bool check_implicit(wave_t* w, const inst_t* inst) {
  static const operand_t scc = {.kind = OPERAND_SGPR, .index = SREG_SCC, .dwords = 1},
                         vcc = {.kind = OPERAND_SGPR, .index = SREG_VCC, .dwords = 2},
                         m0 = {.kind = OPERAND_SGPR, .index = SREG_M0, .dwords = 1};
  if (inst->traits & HAZARD_READS_SCC && !check_operand(w, inst, &scc, false)) return false;
  if (inst->traits & (HAZARD_READS_VCC | HAZARD_IMPLICIT_VCC) && !check_operand(w, inst, &vcc, false)) {
    return false;
  }
  bool reads_m0 = inst->traits & (HAZARD_READS_M0 | HAZARD_MOVE_RELATIVE) || inst->flags & INST_LDS;
  return !reads_m0 || check_operand(w, inst, &m0, false);
}

bool check_waits_before(wave_t* w, const inst_t* inst) {
  if (inst->row->klass == INST_CLASS_BARRIER)
    memcpy(w->check->at_barrier, w->check->settled, sizeof(w->check->settled));
  if (inst->row->klass == INST_CLASS_WAIT) return settle_wait(w, inst), true;
  if (!(w->launch->checks & ENGINE_CHECK_WAITS)) return true;
  for (uint32_t i = 0; i < inst->source_count; ++i) {
    if (!check_operand(w, inst, &inst->src[i], false)) return false;
  }
  for (uint32_t i = 0; i < inst->destination_count; ++i) {
    if (!check_operand(w, inst, &inst->dst[i], true)) return false;
  }
  return check_implicit(w, inst) && check_hazards_before(w, inst, &w->check->hazards);
}

static uint32_t issue(wave_t* w, counter_t counter) {
  uint32_t number = ++w->check->issued[counter], most = capacity(w, counter);
  bool in_order = counter != scalar_counter(w) || w->check->last_scalar <= w->check->emptied[counter];
  // A full counter stalls the instruction until the oldest is done.
  if (number > most && in_order && number - most > w->check->settled[counter])
    w->check->settled[counter] = number - most;
  return number;
}

// What the instruction's destinations are owed from now on.
static debt_t new_debt(wave_t* w, const inst_t* inst) {
  debt_t debt = {0};
  switch (inst->row->klass) {
    case INST_CLASS_LOAD:
      debt.counter = COUNTER_LOAD;
      break;
    case INST_CLASS_STORE:
      debt.counter = inst->flags & INST_RETURNS_OLD ? COUNTER_LOAD : store_counter(w);
      break;
    case INST_CLASS_LDS:
      debt.counter = COUNTER_LDS;
      break;
    case INST_CLASS_SMEM:
      debt.counter = (uint8_t)scalar_counter(w);
      debt.any_order = true;
      break;
    case INST_CLASS_FLAT:
      debt.counter = inst->destination_count ? COUNTER_LOAD : (uint8_t)store_counter(w);
      debt.second = COUNTER_LDS;
      break;
    default:
      // Messages count with scalar loads, also those that only set SCC.
      if (!(inst->traits & HAZARD_MESSAGE)) return debt;
      debt.counter = (uint8_t)scalar_counter(w);
      debt.any_order = true;
      break;
  }
  debt.number = issue(w, (counter_t)debt.counter);
  if (debt.second) debt.second_number = issue(w, (counter_t)debt.second), debt.any_order = w->target->major < 10;
  if (debt.any_order && debt.counter == scalar_counter(w)) w->check->last_scalar = debt.number;
  if (debt.any_order && debt.second == scalar_counter(w)) w->check->last_scalar = debt.second_number;
  return debt;
}

void check_waits_after(wave_t* w, const inst_t* inst) {
  check_hazards_after(w, inst, &w->check->hazards);
  debt_t debt = new_debt(w, inst);
  if (inst->traits & HAZARD_SIGNALS_FIRST) w->check->scalar[SREG_SCC] = debt;
  for (uint32_t i = 0; i < inst->destination_count; ++i) {
    for (uint32_t k = 0; k < inst->dst[i].dwords; ++k) {
      debt_t* to = debt_of(w, &inst->dst[i], k);
      if (to && !(inst->dst[i].kind == OPERAND_SGPR && inst->dst[i].index >= SREG_TRASH)) *to = debt;
    }
  }
  // Atomic operations of buffers return into the register that held their data.
  if (inst->flags & INST_RETURNS_OLD && !inst->destination_count && inst->source_count) {
    for (uint32_t k = 0; k < inst->src[0].dwords; ++k) {
      debt_t* to = debt_of(w, &inst->src[0], k);
      if (to) *to = debt;
    }
  }
}
