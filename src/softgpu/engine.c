// Engines: creation, options, counters.
#include "softgpu/engine.h"

#include <stdlib.h>

#include "softgpu/trace.h"

engine_t* engine_create(const engine_options_t* options, text_t* error) {
  engine_t* engine = calloc(1, sizeof(*engine));
  if (!engine) return text_puts(error, "out of memory"), NULL;
  engine->target = options->target;
  engine->options = *options;
  pthread_mutex_init(&engine->lock, NULL);
  pthread_mutex_init(&engine->counter_lock, NULL);
  pthread_mutex_init(&engine->trace_lock, NULL);
  if (!disassemble_open(engine, error)) return engine_destroy(engine), NULL;
  return engine;
}

static void free_codes(code_t* codes) {
  for (code_t *code = codes, *next; code; code = next) {
    next = code->next;
    code_free(code);
  }
}

void engine_destroy(engine_t* engine) {
  if (!engine) return;
  for (kernel_t *kernel = engine->kernels, *next; kernel; kernel = next) {
    next = kernel->next;
    free(kernel);
  }
  free_codes(engine->codes);
  free_codes(engine->gone);
  decode_free_constants(engine);
  disassemble_close(engine);
  pthread_mutex_destroy(&engine->lock);
  pthread_mutex_destroy(&engine->counter_lock);
  pthread_mutex_destroy(&engine->trace_lock);
  free(engine);
}

static bool run(launch_t* launch) {
  engine_t* engine = launch->engine;
  if (!launch_prepare(launch, launch->fault)) return false;
  if (launch->traces && !trace_start_launch(launch)) {
    return launch_refuse(launch->fault, launch->entry->address, "out of memory for a trace of its instructions", 0, 0);
  }
  if (launch->counts) {
    pthread_mutex_lock(&engine->counter_lock);
    ++engine->counters.dispatches;
    occupancy_count(launch, &engine->counters);
    pthread_mutex_unlock(&engine->counter_lock);
  }
  execute_launch(launch);
  if (launch->counts) {
    pthread_mutex_lock(&engine->counter_lock);
    engine->counters.longest += launch->longest;
    engine->counters.cycles += cycles_of(launch);
    pthread_mutex_unlock(&engine->counter_lock);
  }
  bool done = !__atomic_load_n(&launch->is_faulted, __ATOMIC_ACQUIRE);
  if (launch->trace) trace_end_launch(launch, done);
  return done;
}

bool engine_dispatch(engine_t* engine, const engine_dispatch_t* dispatch, engine_fault_t* fault) {
  launch_t launch = {.engine = engine, .target = engine->target, .dispatch = dispatch, .fault = fault};
  memset(fault, 0, sizeof(*fault));
  code_enter(engine, &launch);
  bool done = run(&launch);
  code_leave(engine, &launch);
  return done;
}

void engine_count(engine_t* engine, bool begins) {
  __atomic_fetch_add(&engine->counting, begins ? 1 : -1, __ATOMIC_ACQ_REL);
}

void engine_trace(engine_t* engine, const engine_trace_t* trace) {
  pthread_mutex_lock(&engine->trace_lock);
  engine->trace = *trace;
  __atomic_store_n(&engine->tracing, 1, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&engine->trace_lock);
}

void engine_trace_end(engine_t* engine, const uint8_t* buffer) {
  pthread_mutex_lock(&engine->trace_lock);
  if (engine->trace.buffer == buffer) {
    engine->trace = (engine_trace_t){0};
    __atomic_store_n(&engine->tracing, 0, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&engine->trace_lock);
}

void engine_counters(engine_t* engine, engine_counters_t* out) {
  pthread_mutex_lock(&engine->counter_lock);
  *out = engine->counters;
  pthread_mutex_unlock(&engine->counter_lock);
}

// Constants, interned: a hash table of the lanes of each.
typedef struct constant_t {
  uint32_t lanes[2 * WAVE_MAX_LANES];
  uint64_t value;
} constant_t;

static uint32_t slot_of(const engine_t* engine, uint64_t value) {
  uint32_t at = (uint32_t)((value * UINT64_C(0x9e3779b97f4a7c15)) >> 33) % engine->constant_capacity;
  while (engine->constants[at] && engine->constants[at]->value != value) at = (at + 1) % engine->constant_capacity;
  return at;
}

static bool grow_constants(engine_t* engine) {
  constant_t** old = engine->constants;
  uint32_t capacity = engine->constant_capacity;
  engine->constant_capacity = capacity ? 2 * capacity : 256;
  engine->constants = calloc(engine->constant_capacity, sizeof(*engine->constants));
  if (!engine->constants) {
    engine->constants = old, engine->constant_capacity = capacity;
    return false;
  }
  for (uint32_t i = 0; i < capacity; ++i) {
    if (old[i]) engine->constants[slot_of(engine, old[i]->value)] = old[i];
  }
  free(old);
  return true;
}

const uint32_t* decode_constant_lanes(engine_t* engine, uint64_t value) {
  if (2 * engine->constant_count >= engine->constant_capacity && !grow_constants(engine)) return NULL;
  constant_t** slot = &engine->constants[slot_of(engine, value)];
  if (!*slot) {
    *slot = aligned_alloc(64, (sizeof(constant_t) + 63) / 64 * 64);
    if (!*slot) return NULL;
    (*slot)->value = value;
    for (int i = 0; i < WAVE_MAX_LANES; ++i) {
      (*slot)->lanes[i] = (uint32_t)value;
      (*slot)->lanes[WAVE_MAX_LANES + i] = (uint32_t)(value >> 32);
    }
    ++engine->constant_count;
  }
  return (*slot)->lanes;
}

void decode_free_constants(engine_t* engine) {
  for (uint32_t i = 0; i < engine->constant_capacity; ++i) free(engine->constants[i]);
  free(engine->constants);
}
