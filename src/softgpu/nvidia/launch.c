// Blocks of a launch: their memory, their warps' beginnings, and the threads that run them.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "softgpu/nvidia/warp.h"
#include "softgpu/workers.h"

// RESIDENT: blocks that a thread has at a time, so that those that wait for others do not keep these from beginning.
enum { LAUNCH_SLICE = 100000, LAUNCH_PASSES = 64, LAUNCH_RESIDENT = 1024, LAUNCH_PADDING = 64 };

typedef struct slot_t {
  block_t block;
  void* memory;
  size_t memory_size;
  uint8_t* stacks;
  size_t stacks_size;
  nv_counters_t counters;
} slot_t;

const inst_t* warp_fault(warp_t* w, const inst_t* inst, nv_fault_kind_t kind, uint32_t lanes, uint64_t address,
                         const char* format, ...) {
  run_launch_t* launch = w->launch;
  w->state = WARP_FAULTED;
  int32_t expected = 0;
  if (!__atomic_compare_exchange_n(&launch->is_faulted, &expected, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return NULL;
  }
  nv_fault_t* fault = launch->fault;
  const nv_module_t* module = inst->function->module;
  char source[300] = "";
  if (inst->source_line && inst->source_file < module->file_count && module->files[inst->source_file]) {
    snprintf(source, sizeof(source), " (%s:%u)", module->files[inst->source_file], inst->source_line);
  }
  char what[600];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof(what), format, args);
  va_end(args);
  fault->kind = kind;
  fault->address = address;
  const uint32_t* id = w->block->id;
  snprintf(fault->message, sizeof(fault->message),
           "%s; %s in function '%s', PTX line %u%s, block [%u, %u, %u], warp %u, lanes 0x%x", what,
           inst->name ? inst->name : "an instruction", inst->function->name, inst->line, source, id[0], id[1], id[2],
           w->index, lanes);
  return NULL;
}

static void fail(run_launch_t* launch, nv_fault_kind_t kind, const char* message) {
  int32_t expected = 0;
  if (!__atomic_compare_exchange_n(&launch->is_faulted, &expected, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return;
  }
  launch->fault->kind = kind;
  snprintf(launch->fault->message, sizeof(launch->fault->message), "%s", message);
}

static void free_frames(warp_t* w) {
  for (frame_t *frame = w->free_frames, *next; frame; frame = next) {
    next = frame->next_free;
    free((void*)frame->registers);
    free(frame->defined);
    free(frame);
  }
  w->free_frames = NULL;
}

// Takes all frames that a warp has back.
static void drop_frames(warp_t* w) {
  if (w->lanes && w->call) frame_leave(w, w->call);
  for (uint32_t i = 0; i < w->part_count; ++i) frame_leave(w, w->parts[i].frame);
  w->part_count = 0, w->lanes = 0, w->call = NULL;
}

static void free_slot(slot_t* slot) {
  if (!slot) return;
  for (uint32_t i = 0; slot->memory && i < slot->block.warp_count; ++i) {
    drop_frames(&slot->block.warps[i]);
    free_frames(&slot->block.warps[i]);
  }
  check_free_block(&slot->block);
  if (slot->memory) munmap(slot->memory, slot->memory_size);
  if (slot->stacks) munmap(slot->stacks, slot->stacks_size);
  free(slot);
}

static void* map(size_t size) {
  void* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static slot_t* make_slot(run_launch_t* launch) {
  slot_t* slot = calloc(1, sizeof(*slot));
  if (!slot) return NULL;
  const uint32_t* size = launch->launch->block;
  block_t* block = &slot->block;
  block->threads = size[0] * size[1] * size[2];
  uint32_t warps = (block->threads + WARP_LANES - 1) / WARP_LANES;
  size_t warp_bytes = (sizeof(warp_t) * warps + 63) & ~(size_t)63;
  slot->memory_size = warp_bytes + launch->shared_size + LAUNCH_PADDING;
  slot->stacks_size = (size_t)launch->stack_size * WARP_LANES * warps + 1;
  slot->memory = map(slot->memory_size);
  slot->stacks = map(slot->stacks_size);
  if (!slot->memory || !slot->stacks) return free_slot(slot), NULL;
  block->warp_count = warps;
  block->warps = slot->memory;
  block->shared = (uint8_t*)slot->memory + warp_bytes;
  block->counters = launch->counts ? &slot->counters : NULL;
  for (uint32_t i = 0; i < warps; ++i) {
    block->warps[i].local = slot->stacks + (size_t)launch->stack_size * WARP_LANES * i;
  }
  return slot;
}

static bool start_warp(block_t* block, uint32_t index) {
  warp_t* w = &block->warps[index];
  run_launch_t* launch = block->launch;
  drop_frames(w);
  frame_t* frames = w->free_frames;
  uint8_t* local = w->local;
  memset(w, 0, sizeof(*w));
  w->free_frames = frames, w->local = local;
  w->block = block, w->launch = launch, w->index = index;
  w->stack_size = launch->stack_size;
  uint32_t first = index * WARP_LANES, count = block->threads - first;
  if (count > WARP_LANES) count = WARP_LANES;
  w->begun = w->alive = w->lanes = w->exec = count == 32 ? UINT32_MAX : (1u << count) - 1;
  const uint32_t* size = launch->launch->block;
  for (uint32_t i = 0; i < WARP_LANES; ++i) {
    uint32_t id = first + i;
    w->tid[0][i] = id % size[0], w->tid[1][i] = id / size[0] % size[1], w->tid[2][i] = id / size[0] / size[1];
  }
  w->call = frame_make(w, launch->function, NULL, NULL);
  if (!w->call) return w->lanes = 0, false;
  w->frame = w->call->registers;
  w->pc = launch->function->insts;
  w->limit = (const inst_t*)UINTPTR_MAX;
  return true;
}

bool block_start(block_t* block, run_launch_t* launch, uint64_t number) {
  const uint32_t* grid = launch->launch->grid;
  block->launch = launch;
  block->id[0] = (uint32_t)(number % grid[0]);
  block->id[1] = (uint32_t)(number / grid[0] % grid[1]);
  block->id[2] = (uint32_t)(number / grid[0] / grid[1]);
  block->alive = block->threads, block->ended = 0, block->opened = 0, block->ordered = 0;
  block->number = (uint32_t)number;
  block->unit = (uint32_t)(number % launch->engine->options.target->units);
  memset(block->barriers, 0, sizeof(block->barriers));
  for (uint32_t i = 0; i < block->warp_count; ++i) {
    if (!start_warp(block, i)) return false;
  }
  return !launch->checks || check_start_block(block);
}

// Looked at before each slice of a warp.
static bool is_faulted(run_launch_t* launch) {
  const int32_t* stops = launch->launch->stops;
  if (stops && __atomic_load_n(stops, __ATOMIC_ACQUIRE)) fail(launch, NV_FAULT_STOPPED, "the launch was stopped");
  return __atomic_load_n(&launch->is_faulted, __ATOMIC_ACQUIRE);
}

// No warp can go on.
static void fail_stuck(block_t* block) {
  for (uint32_t i = 0; i < block->warp_count; ++i) {
    warp_t* w = &block->warps[i];
    for (uint32_t k = 0; k < w->part_count; ++k) {
      const part_t* part = &w->parts[k];
      if (part->state == PART_BARRIER) {
        const barrier_t* barrier = &block->barriers[part->barrier];
        warp_fault(w, part->pc, NV_FAULT_LIMIT, part->lanes, 0,
                   "barrier %u never opens: %u of %u threads wait at it, and all others of the block wait elsewhere or "
                   "have ended",
                   part->barrier, barrier->arrived, barrier->expected ? barrier->expected : block->alive);
      } else {
        warp_fault(w, part->pc, NV_FAULT_LIMIT, part->lanes, 0,
                   "waits for ever for lanes 0x%x, which do not come to this instruction", part->wanted & ~part->lanes);
      }
    }
  }
}

// Runs a block for some turns; true when it has ended.
static bool run_block(block_t* block, run_launch_t* launch) {
  uint64_t limit = launch->engine->options.warp_limit;
  for (int pass = 0; pass < LAUNCH_PASSES; ++pass) {
    bool is_stuck = true;
    uint32_t ended = 0;
    for (uint32_t i = 0; i < block->warp_count; ++i) {
      warp_t* w = &block->warps[i];
      if (w->state == WARP_READY) {
        is_stuck = false;
        if (is_faulted(launch)) return true;
        uint64_t budget = limit && limit - w->executed < LAUNCH_SLICE ? limit - w->executed : LAUNCH_SLICE;
        warp_run(w, budget);
        if (w->state == WARP_FAULTED) return true;
      }
      ended += w->state == WARP_ENDED;
    }
    if (ended == block->warp_count) return true;
    if (is_stuck) return fail_stuck(block), true;
  }
  return false;
}

typedef struct executor_t {
  run_launch_t* launch;
  slot_t* resident[LAUNCH_RESIDENT];
  uint32_t count;
  slot_t* spare[LAUNCH_RESIDENT];
  uint32_t spare_count;
} executor_t;

static bool begin_block(executor_t* e) {
  run_launch_t* launch = e->launch;
  if (e->count == LAUNCH_RESIDENT || is_faulted(launch)) return false;
  uint64_t number = __atomic_fetch_add(&launch->next_block, 1, __ATOMIC_RELAXED);
  if (number >= launch->block_count) return false;
  slot_t* slot = e->spare_count ? e->spare[--e->spare_count] : make_slot(launch);
  if (!slot) return fail(launch, NV_FAULT_MEMORY, "out of memory for a block"), false;
  e->resident[e->count++] = slot;
  if (!block_start(&slot->block, launch, number)) {
    return fail(launch, NV_FAULT_MEMORY, "out of memory for a block's registers"), false;
  }
  if (launch->counts) ++slot->counters.blocks, slot->counters.warps += slot->block.warp_count;
  return true;
}

static void count_longest(const block_t* block) {
  uint64_t* longest = &block->launch->longest;
  for (uint32_t i = 0; i < block->warp_count; ++i) {
    uint64_t most = __atomic_load_n(longest, __ATOMIC_RELAXED), own = block->warps[i].executed;
    while (own > most && !__atomic_compare_exchange_n(longest, &most, own, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
  }
}

static void add_counters(nv_engine_t* engine, const nv_counters_t* counters) {
  pthread_mutex_lock(&engine->lock);
#define COUNTER(name, what) engine->counters.name += counters->name;
  NV_COUNTERS(COUNTER)
#undef COUNTER
  pthread_mutex_unlock(&engine->lock);
}

static void run_blocks(void* data) {
  run_launch_t* launch = data;
  executor_t* e = calloc(1, sizeof(*e));
  if (!e) return fail(launch, NV_FAULT_MEMORY, "out of memory");
  e->launch = launch;
#if defined(__x86_64__)
  uint32_t csr = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(0x1f80);
#endif
  while (!is_faulted(launch) && (e->count || begin_block(e))) {
    bool any_ended = false;
    for (uint32_t i = 0; i < e->count && !is_faulted(launch);) {
      if (!run_block(&e->resident[i]->block, launch)) {
        ++i;
        continue;
      }
      any_ended = true;
      if (launch->counts) count_longest(&e->resident[i]->block);
      e->spare[e->spare_count++] = e->resident[i];
      e->resident[i] = e->resident[--e->count];
    }
    if (!any_ended) begin_block(e);
  }
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(csr);
#endif
  while (e->count) e->spare[e->spare_count++] = e->resident[--e->count];
  for (uint32_t i = 0; i < e->spare_count; ++i) {
    if (launch->counts) add_counters(launch->engine, &e->spare[i]->counters);
    free_slot(e->spare[i]);
  }
  free(e);
}

static bool has_blocks(void* data) {
  run_launch_t* launch = data;
  return __atomic_load_n(&launch->next_block, __ATOMIC_RELAXED) < launch->block_count && !is_faulted(launch);
}

bool nv_launch(const nv_launch_t* launch, nv_fault_t* fault) {
  const function_t* function = &launch->function->function;
  nv_engine_t* engine = function->module->engine;
  run_launch_t run = {.engine = engine, .launch = launch, .function = function, .fault = fault};
  run.checks = engine->options.checks, run.counts = engine->options.counts;
  run.is_instrumented = run.checks || run.counts;
  run.tracks_undefined = run.checks & ENGINE_CHECK_UNINITIALIZED;
  run.dynamic_base = (function->shared_size + 127) & ~127u;
  uint64_t shared =
      (uint64_t)(launch->dynamic_shared ? run.dynamic_base : function->shared_size) + launch->dynamic_shared;
  uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
  run.stack_size = (function->stack_size + 15) & ~15u;
  *fault = (nv_fault_t){0};
  if (!threads || launch->block[0] > 1024 || launch->block[1] > 1024 || launch->block[2] > 1024 || threads > 1024) {
    return fault_set(fault, NV_FAULT_INSTRUCTION, "a block of %u x %u x %u threads; 1 to 1024 fit", launch->block[0],
                     launch->block[1], launch->block[2]),
           false;
  }
  if (shared > UINT32_MAX / 2) {
    return fault_set(fault, NV_FAULT_MEMORY, "a block of %llu bytes of shared memory", (unsigned long long)shared),
           false;
  }
  run.shared_size = (uint32_t)shared;
  run.block_count = (uint64_t)launch->grid[0] * launch->grid[1];
  if (__builtin_mul_overflow(run.block_count, launch->grid[2], &run.block_count) || run.block_count > INT64_MAX) {
    return fault_set(fault, NV_FAULT_INSTRUCTION, "more blocks than can be counted"), false;
  }
  bool races = run.checks & ENGINE_CHECK_RACES && run.block_count > 1;
  if (races) run.check = check_launch_create();
  if (races && !run.check) return fault_set(fault, NV_FAULT_MEMORY, "out of memory for checks"), false;
  run.number = __atomic_add_fetch(&engine->launches, 1, __ATOMIC_RELAXED);
  workers_job_t job = {.run = run_blocks, .has_work = has_blocks, .data = &run};
  if (run.block_count > 1) {
    workers_run(&job);
  } else {
    run_blocks(&run);
  }
  check_launch_destroy(run.check);
  if (run.counts) {
    nv_counters_t counters = {.launches = 1, .longest = run.longest};
    add_counters(engine, &counters);
  }
  return !run.is_faulted;
}
