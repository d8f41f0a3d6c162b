// Workgroups of a launch on threads. The thread that asks takes part; workers of the process join it.
//
// A thread runs a workgroup's waves in turn, each until it waits at a barrier, ends, or has used its slice. Waves that
// spin on what another wave or workgroup will write get there because slices end, and because a thread whose workgroups
// all spin begins further ones beside them.
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "softgpu/check.h"
#include "softgpu/kernel.h"
#include "softgpu/trace.h"
#include "softgpu/workers.h"

enum {
  EXECUTE_SLICE = 1 << 16,         // instructions of a wave before the next one has its turn
  EXECUTE_PASSES = 32,             // turns of a workgroup's waves before another workgroup has its turn
  EXECUTE_RESIDENT = 256,          // workgroups that one thread has begun
  EXECUTE_WAVE_PADDING = 17 * 64,  // keeps registers of different waves out of the same cache sets
  EXECUTE_LDS_PADDING = 64,
};

// Memory of one resident workgroup.
typedef struct slot_t {
  group_t group;
  void* memory;
  size_t memory_size;
  engine_counters_t counters;
} slot_t;

static size_t align(size_t size) { return (size + 63) & ~(size_t)63; }

static void free_slot(slot_t* slot) {
  if (!slot) return;
  check_free_group(&slot->group);
  if (slot->memory) munmap(slot->memory, slot->memory_size);
  free(slot);
}

// Lays a workgroup's waves, registers, workgroup memory and scratch out in one mapping; pages that a kernel never
// touches cost nothing.
static slot_t* make_slot(const launch_t* launch) {
  slot_t* slot = calloc(1, sizeof(*slot));
  if (!slot) return NULL;
  uint32_t items = launch->size[0] * launch->size[1] * launch->size[2];
  uint32_t waves = (items + launch->lanes - 1) / launch->lanes;
  size_t wave_bytes = align(sizeof(wave_t)) * waves;
  size_t register_bytes = (size_t)WAVE_REGISTERS * launch->lanes * 4 + EXECUTE_WAVE_PADDING;
  size_t lds_bytes = align(launch->lds_size + EXECUTE_LDS_PADDING);
  size_t scratch_bytes = (size_t)launch->scratch_size * launch->lanes * waves;
  slot->memory_size = wave_bytes + register_bytes * waves + lds_bytes + scratch_bytes + 4096;
  slot->memory =
      mmap(NULL, slot->memory_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (slot->memory == MAP_FAILED) return slot->memory = NULL, free_slot(slot), NULL;
  group_t* group = &slot->group;
  uint8_t* at = slot->memory;
  group->waves = (wave_t*)at;
  group->wave_count = waves;
  for (uint32_t i = 0; i < waves; ++i) group->waves[i].vgpr = (uint32_t*)(at + wave_bytes + register_bytes * i);
  group->lds = at + wave_bytes + register_bytes * waves;
  group->scratch = group->lds + lds_bytes;
  group->counters = launch->counts || launch->traces ? &slot->counters : NULL;
  return slot;
}

static void fail_as(launch_t* launch, engine_fault_kind_t kind, const char* message) {
  int32_t expected = 0;
  if (!__atomic_compare_exchange_n(&launch->is_faulted, &expected, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return;
  launch->fault->kind = kind;
  strncpy(launch->fault->message, message, sizeof(launch->fault->message) - 1);
}

static void fail_launch(launch_t* launch, const char* message) {
  fail_as(launch, ENGINE_FAULT_INVALID_KERNEL, message);
}

// Looked at before each slice of a wave.
static bool is_faulted(launch_t* launch) {
  const int32_t* stops = launch->dispatch->stops;
  if (stops && __atomic_load_n(stops, __ATOMIC_ACQUIRE)) {
    fail_as(launch, ENGINE_FAULT_STOPPED, "the dispatch was stopped");
  }
  return __atomic_load_n(&launch->is_faulted, __ATOMIC_ACQUIRE);
}

// No wave can go on: each has ended or waits at a barrier that no other will come to.
static bool fail_stuck(group_t* group) {
  wave_t* w = group->waves;
  while (w->state != WAVE_BARRIER) ++w;
  const inst_t* barrier = w->pc - 1;
  wave_fault(w, barrier, ENGINE_FAULT_CHECK, barrier->address,
             "barrier: %u of %u waves of the workgroup have ended, and the others wait for ever", group->ended,
             group->wave_count);
  return true;
}

// Instructions of the wave's next turn: the limit of a wave that may not run on is met exactly.
static uint64_t budget_of(const wave_t* w) {
  uint64_t limit = w->launch->engine->options.wave_limit;
  return limit && limit - w->executed < EXECUTE_SLICE ? limit - w->executed : EXECUTE_SLICE;
}

// Runs a workgroup for some turns; true when it has ended.
static bool run_group(group_t* group) {
  for (int pass = 0; pass < EXECUTE_PASSES; ++pass) {
    bool is_stuck = true;
    for (uint32_t i = 0; i < group->wave_count; ++i) {
      if (group->waves[i].state != WAVE_RUNNING) continue;
      is_stuck = false;
      if (is_faulted(group->launch)) return true;
      run_wave(&group->waves[i], budget_of(&group->waves[i]));
      if (group->waves[i].state == WAVE_FAULTED) return true;
    }
    if (group->ended == group->wave_count) return true;
    if (is_stuck) return fail_stuck(group);
  }
  return false;
}

typedef struct executor_t {
  launch_t* launch;
  slot_t* resident[EXECUTE_RESIDENT];
  uint32_t count;
  slot_t* spare[EXECUTE_RESIDENT];
  uint32_t spare_count;
} executor_t;

// Begins the next workgroup on this thread; false when there is none left.
static bool begin_group(executor_t* e) {
  launch_t* launch = e->launch;
  if (e->count == EXECUTE_RESIDENT || is_faulted(launch)) return false;
  uint64_t number = __atomic_fetch_add(&launch->next_group, 1, __ATOMIC_RELAXED);
  if (number >= launch->group_count) return false;
  slot_t* slot = e->spare_count ? e->spare[--e->spare_count] : make_slot(launch);
  if (!slot) return fail_launch(launch, "out of memory for a workgroup's registers and scratch"), false;
  launch_start_group(launch, &slot->group, number);
  barrier_start_group(&slot->group);
  if (launch->trace) trace_start_group(&slot->group, number);
  if (launch->counts) {
    ++slot->counters.workgroups;
    slot->counters.waves += slot->group.wave_count;
  }
  e->resident[e->count++] = slot;
  if ((launch->checks || launch->tracks_undefined) && !check_start_group(&slot->group)) {
    return fail_launch(launch, "out of memory for checks"), false;
  }
  return true;
}

static void count_longest(const group_t* group) {
  uint64_t* longest = &group->launch->longest;
  for (uint32_t i = 0; i < group->wave_count; ++i) {
    uint64_t most = __atomic_load_n(longest, __ATOMIC_RELAXED), own = group->waves[i].executed;
    while (own > most && !__atomic_compare_exchange_n(longest, &most, own, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
  }
}

static void add_counters(launch_t* launch, const engine_counters_t* counters) {
  engine_t* engine = launch->engine;
  __atomic_fetch_add(&launch->issued, cycles_issued(launch, counters), __ATOMIC_RELAXED);
  __atomic_fetch_add(&launch->conflicts, counters->lds_conflicts, __ATOMIC_RELAXED);
  pthread_mutex_lock(&engine->counter_lock);
#define COUNTER(name, what) engine->counters.name += counters->name;
  ENGINE_COUNTERS(COUNTER)
#undef COUNTER
  pthread_mutex_unlock(&engine->counter_lock);
}

static void finish_executor(executor_t* e) {
  while (e->count) e->spare[e->spare_count++] = e->resident[--e->count];
  for (uint32_t i = 0; i < e->spare_count; ++i) {
    if (e->launch->counts) add_counters(e->launch, &e->spare[i]->counters);
    free_slot(e->spare[i]);
  }
}

static void run_groups(void* data) {
  launch_t* launch = data;
  executor_t e = {.launch = launch};
#if defined(__x86_64__)
  uint32_t csr = __builtin_ia32_stmxcsr();
#endif
  while (!is_faulted(launch) && (e.count || begin_group(&e))) {
    bool any_ended = false;
    for (uint32_t i = 0; i < e.count && !is_faulted(launch);) {
      if (!run_group(&e.resident[i]->group)) {
        ++i;
        continue;
      }
      any_ended = true;
      if (launch->counts) count_longest(&e.resident[i]->group);
      e.spare[e.spare_count++] = e.resident[i];
      e.resident[i] = e.resident[--e.count];
    }
    if (!any_ended) begin_group(&e);
  }
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(csr);
#endif
  finish_executor(&e);
}

static bool has_groups(void* data) {
  launch_t* launch = data;
  return __atomic_load_n(&launch->next_group, __ATOMIC_RELAXED) < launch->group_count && !is_faulted(launch);
}

// A dispatch of no workgroup is over at once.
void execute_launch(launch_t* launch) {
  launch->group_count = (uint64_t)launch->groups[0] * launch->groups[1] * launch->groups[2];
  if (!check_start_launch(launch)) return fail_launch(launch, "out of memory for checks");
  workers_job_t job = {.run = run_groups, .has_work = has_groups, .data = launch};
  if (launch->group_count > 1) {
    workers_run(&job);
  } else {
    run_groups(launch);
  }
  check_end_launch(launch);
}
