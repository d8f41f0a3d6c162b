// When traced waves would have executed their instructions, by a model of four SIMDs that share memory units.
//
// A SIMD issues an instruction of each kind a turn (every fourth cycle before gfx10, then every cycle); a vector
// instruction keeps its unit as long as its lanes take, a matrix instruction its own. Memory answers some time later,
// in the order in which it was asked, and moves so many bytes a cycle; what waits for it, for other waves at a barrier,
// for the result of a matrix instruction or for a unit stalls. The times are round numbers of what manuals and
// measurements of such GPUs say, the same for all of them: kernels can be compared by them, they are none of
// hardware's.
#include <stdlib.h>

#include "softgpu/trace.h"
#include "softgpu/waits.h"

enum { LOAD_CYCLES = 400, STORE_CYCLES = 200, SCALAR_CYCLES = 100, LDS_CYCLES = 64 };
enum { MEMORY_BYTES = 64, LDS_BYTES = 128 };  // a cycle
enum { MATRIX_CYCLES = 16, PENDING = 64, RESULTS = 8, SIMDS = 4 };

typedef enum { UNIT_NONE, UNIT_SCALAR, UNIT_VECTOR, UNIT_MATRIX, UNIT_MEMORY, UNIT_LDS, UNIT_COUNT } unit_t;

// A counter of a wave: when what raised it is done, and what that was.
typedef struct pending_t {
  uint32_t issued;
  uint64_t done[PENDING];
  uint8_t causes[PENDING];
} pending_t;

// The result of a matrix instruction.
typedef struct result_t {
  uint32_t first, end;  // vector registers
  uint64_t ready;
} result_t;

typedef enum { PHASE_COMES, PHASE_READY, PHASE_PARKED, PHASE_ENDED } phase_t;

typedef struct model_group_t {
  uint32_t alive, arrived;
  uint32_t opened;  // times
  uint64_t open_at;
} model_group_t;

typedef struct model_wave_t {
  trace_wave_t* trace;
  model_group_t* group;
  phase_t phase;
  uint32_t next;    // step
  uint64_t now;     // when it comes, or is ready
  uint64_t came;    // to the instruction
  uint8_t cause;    // why it did not go on
  uint32_t passed;  // openings of the barrier that it has waited for
  pending_t pending[COUNTER_COUNT];
  uint32_t result_count;
  result_t results[RESULTS];
} model_wave_t;

typedef struct model_t {
  const isa_target_t* target;
  uint32_t turn, vector_cycles;
  uint64_t free[SIMDS][UNIT_COUNT];  // of units that SIMDs share, the first has it
  uint32_t wave_count;
  model_wave_t* waves;
  uint64_t end;
} model_t;

static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void delay(model_wave_t* w, uint64_t until, uint8_t cause) {
  if (until <= w->now) return;
  w->now = until;
  w->cause = cause;
}

//===----------------------------------------------------------------------------------------------------------------===
// What an instruction waits for
//===----------------------------------------------------------------------------------------------------------------===

static void wait_for_memory(const model_t* m, model_wave_t* w, const inst_t* inst) {
  waits_t waits = waits_of(m->target, inst);
  for (uint32_t i = COUNTER_NONE + 1; i < COUNTER_COUNT; ++i) {
    const pending_t* p = &w->pending[i];
    if (waits.most[i] >= p->issued) continue;
    uint32_t last = (p->issued - waits.most[i] - 1) % PENDING;
    delay(w, p->done[last], p->causes[last]);
  }
}

static void wait_for_results(model_wave_t* w, const operand_t* operands, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const operand_t* o = &operands[i];
    for (uint32_t k = 0; o->kind == OPERAND_VGPR && k < w->result_count; ++k) {
      const result_t* result = &w->results[k];
      if (o->index < result->end && result->first < o->index + o->dwords) {
        delay(w, result->ready, AMD_TRACE_CAUSE_MATRIX);
      }
    }
  }
}

static void open_barrier(model_t* m, model_group_t* group) {
  if (!group->arrived || group->arrived < group->alive) return;
  group->arrived = 0;
  ++group->opened;
  for (uint32_t i = 0; i < m->wave_count; ++i) {
    model_wave_t* w = &m->waves[i];
    if (w->group != group || w->phase != PHASE_PARKED) continue;
    delay(w, group->open_at, AMD_TRACE_CAUSE_BARRIER);
    w->phase = PHASE_READY;
    ++w->passed;
  }
}

static void arrive(model_t* m, model_wave_t* w) {
  w->group->open_at = most(w->group->open_at, w->now);
  ++w->group->arrived;
  open_barrier(m, w->group);
}

// Barriers of the workgroup, whose number is -1; named ones wait for nobody here.
static void wait_at_barrier(model_t* m, model_wave_t* w, const inst_t* inst) {
  enum { MINUS_ONE = 193 };  // as a source
  bool is_whole = strcmp(inst->row->name, "s_barrier") == 0;
  bool is_signal = strncmp(inst->row->name, "s_barrier_signal", 16) == 0;
  bool is_workgroup =
      is_whole || (is_signal ? (inst->encoding[0] & 255) == MINUS_ONE : (int16_t)inst->encoding[0] == -1);
  if (!is_workgroup) return;
  if (is_signal) {
    arrive(m, w);
  } else if (w->passed < w->group->opened && !is_whole) {
    ++w->passed;
    delay(w, w->group->open_at, AMD_TRACE_CAUSE_BARRIER);
  } else {
    w->phase = PHASE_PARKED;
    if (is_whole) arrive(m, w);
  }
}

static void come(model_t* m, model_wave_t* w, const inst_t* inst) {
  w->phase = PHASE_READY;
  w->came = w->now;
  w->cause = AMD_TRACE_CAUSE_NONE;
  wait_for_results(w, inst->src, inst->source_count);
  wait_for_results(w, inst->dst, inst->destination_count);
  if (inst->row->klass == INST_CLASS_WAIT) wait_for_memory(m, w, inst);
  if (inst->row->klass == INST_CLASS_BARRIER) wait_at_barrier(m, w, inst);
}

//===----------------------------------------------------------------------------------------------------------------===
// Issue
//===----------------------------------------------------------------------------------------------------------------===

static unit_t unit_of(const inst_t* inst) {
  switch (inst->row->klass) {
    case INST_CLASS_SALU:
    case INST_CLASS_SMEM:
    case INST_CLASS_BRANCH:
      return UNIT_SCALAR;
    case INST_CLASS_VALU:
      return UNIT_VECTOR;
    case INST_CLASS_MATRIX:
      return UNIT_MATRIX;
    case INST_CLASS_LDS:
      return UNIT_LDS;
    case INST_CLASS_LOAD:
    case INST_CLASS_STORE:
    case INST_CLASS_FLAT:
      return UNIT_MEMORY;
    default:
      return UNIT_NONE;
  }
}

static uint64_t* free_of(model_t* m, const model_wave_t* w, unit_t unit) {
  return &m->free[unit < UNIT_MEMORY ? w->trace->record.simd : 0][unit];
}

// How long an instruction keeps its unit.
static uint64_t busy_cycles(const model_t* m, const trace_step_t* step, unit_t unit) {
  switch (unit) {
    case UNIT_VECTOR:
      return most(m->turn, m->vector_cycles);
    case UNIT_MATRIX:
      return step->inst->passes ? step->inst->passes * 4u : MATRIX_CYCLES;
    case UNIT_MEMORY:
      return most(m->turn, step->bytes / MEMORY_BYTES);
    case UNIT_LDS:
      return most(m->turn, step->bytes / LDS_BYTES + step->conflicts);
    default:
      return m->turn;
  }
}

static uint64_t issue_cycles(const model_t* m, const inst_t* inst, unit_t unit) {
  if (strcmp(inst->row->name, "s_nop") == 0) return most(m->turn, (inst->encoding[0] & 15) + 1u);
  if (strcmp(inst->row->name, "s_sleep") == 0) return most(m->turn, (inst->encoding[0] & 127) * 64u);
  return unit == UNIT_VECTOR ? most(m->turn, m->vector_cycles) : m->turn;
}

// Answers come in order.
static void expect(model_wave_t* w, counter_t counter, uint64_t done, uint8_t cause) {
  pending_t* p = &w->pending[counter];
  if (p->issued) done = most(done, p->done[(p->issued - 1) % PENDING]);
  p->done[p->issued % PENDING] = done;
  p->causes[p->issued % PENDING] = cause;
  ++p->issued;
}

static void expect_answers(const model_t* m, model_wave_t* w, const inst_t* inst, uint64_t moved) {
  uint8_t klass = inst->row->klass;
  bool loads = klass == INST_CLASS_LOAD || inst->destination_count || inst->flags & INST_RETURNS_OLD;
  if (klass == INST_CLASS_SMEM) {
    expect(w, waits_scalar_counter(m->target), moved + SCALAR_CYCLES, AMD_TRACE_CAUSE_SCALAR);
  } else if (klass == INST_CLASS_LDS) {
    expect(w, COUNTER_LDS, moved + LDS_CYCLES, AMD_TRACE_CAUSE_LDS);
  } else if (loads) {
    expect(w, COUNTER_LOAD, moved + LOAD_CYCLES, AMD_TRACE_CAUSE_LOAD);
  } else {
    expect(w, waits_store_counter(m->target), moved + STORE_CYCLES, AMD_TRACE_CAUSE_STORE);
  }
  if (klass == INST_CLASS_FLAT) expect(w, COUNTER_LDS, moved + LDS_CYCLES, AMD_TRACE_CAUSE_LDS);
}

static void expect_result(model_wave_t* w, const inst_t* inst, uint64_t ready) {
  const operand_t* o = &inst->dst[0];
  if (!inst->destination_count || o->kind != OPERAND_VGPR) return;
  if (w->result_count == RESULTS) memmove(w->results, w->results + 1, --w->result_count * sizeof(w->results[0]));
  w->results[w->result_count++] = (result_t){o->index, o->index + o->dwords, ready};
}

static void issue(model_t* m, model_wave_t* w, const trace_step_t* step, unit_t unit) {
  uint64_t busy = busy_cycles(m, step, unit), cycles = issue_cycles(m, step->inst, unit);
  amd_trace_event_t* event = &w->trace->events[w->next];
  if (unit != UNIT_NONE) *free_of(m, w, unit) = w->now + busy;
  if (unit == UNIT_MATRIX) expect_result(w, step->inst, w->now + busy);
  bool is_memory = unit == UNIT_MEMORY || unit == UNIT_LDS || step->inst->row->klass == INST_CLASS_SMEM;
  if (is_memory) expect_answers(m, w, step->inst, w->now + busy);
  event->time = (uint32_t)w->came;
  event->stall = (uint32_t)(w->now - w->came);
  event->cause = event->stall ? w->cause : AMD_TRACE_CAUSE_NONE;
  event->issue = (uint16_t)cycles;
  w->now += cycles;
  w->phase = PHASE_COMES;
  ++w->next;
}

//===----------------------------------------------------------------------------------------------------------------===
// The model
//===----------------------------------------------------------------------------------------------------------------===

// The wave that is the first to go on; NULL when none can.
static model_wave_t* choose(const model_t* m) {
  model_wave_t* best = NULL;
  for (uint32_t i = 0; i < m->wave_count; ++i) {
    model_wave_t* w = &m->waves[i];
    if (w->phase < PHASE_PARKED && (!best || w->now < best->now)) best = w;
  }
  return best;
}

static void end_wave(model_t* m, model_wave_t* w) {
  w->phase = PHASE_ENDED;
  w->trace->record.end = w->now;
  m->end = most(m->end, w->now);
  --w->group->alive;
  open_barrier(m, w->group);
}

static void run(model_t* m) {
  for (model_wave_t* w; (w = choose(m));) {
    if (w->next == w->trace->count) {
      end_wave(m, w);
      continue;
    }
    const trace_step_t* step = &w->trace->steps[w->next];
    if (w->phase == PHASE_COMES) {
      uint64_t came = w->now;
      come(m, w, step->inst);
      if (w->phase == PHASE_PARKED || w->now > came) continue;
    }
    unit_t unit = unit_of(step->inst);
    uint64_t until = unit == UNIT_NONE ? 0 : *free_of(m, w, unit);
    if (until > w->now) {
      // What it waited for longest is the reason.
      delay(w, until, w->cause ? w->cause : AMD_TRACE_CAUSE_UNIT);
      continue;
    }
    issue(m, w, step, unit);
  }
}

bool trace_model(const launch_t* launch, trace_launch_t* trace, uint64_t* out_cycles) {
  bool is_gcn = launch->target->major <= 9;
  model_t m = {.target = launch->target,
               .turn = is_gcn ? 4 : 1,
               .vector_cycles = launch->lanes / (is_gcn ? 16 : 32),
               .wave_count = trace->wave_count,
               .waves = calloc(trace->wave_count, sizeof(model_wave_t))};
  model_group_t* groups = calloc(trace->group_count, sizeof(*groups));
  bool has_memory = m.waves && groups;
  if (has_memory) {
    for (uint32_t i = 0; i < m.wave_count; ++i) {
      m.waves[i].trace = &trace->waves[i];
      m.waves[i].group = &groups[i / trace->waves_of_group];
      ++m.waves[i].group->alive;
    }
    run(&m);
  }
  free(groups);
  free(m.waves);
  *out_cycles = m.end;
  return has_memory;
}
