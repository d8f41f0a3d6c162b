// Checks of shared memory: races between warps, copies that nobody waited for, bytes that nobody wrote. What a lane's
// stack has that nobody wrote is kept here too.
//
// Each byte remembers who wrote and who read it last, and between which barriers. Two warps conflict when both touch a
// byte between the same two barriers and one writes, unless both do so atomically or what is written is there already.
// Fences and mbarriers may order what they stand between: they count as barriers.
#include <stdlib.h>

#include "softgpu/nvidia/check.h"

typedef struct cell_t {
  uint32_t write_phase, read_phase;  // plus one; 0: never
  uint16_t writer, reader;
  bool is_atomic, has_readers;
  uint32_t copy;  // the writer's group of copies; 0: none
} cell_t;

struct check_block_t {
  uint32_t size, stack_size;
  uint32_t phase;
  uint8_t* defined;  // of shared memory; behind the cells
  uint8_t* stacks;   // of all lanes
  cell_t cells[];
};

bool check_start_block(block_t* block) {
  const run_launch_t* launch = block->launch;
  uint32_t stacks = launch->tracks_undefined ? launch->stack_size * WARP_LANES * block->warp_count : 0;
  size_t cells = (size_t)launch->shared_size * sizeof(cell_t);
  if (!block->check) {
    block->check = calloc(1, sizeof(check_block_t) + cells + launch->shared_size + stacks);
    if (!block->check) return false;
  } else {
    memset(block->check, 0, sizeof(check_block_t) + cells + launch->shared_size + stacks);
  }
  block->check->size = launch->shared_size, block->check->stack_size = launch->stack_size;
  block->check->defined = (uint8_t*)block->check->cells + cells;
  block->check->stacks = block->check->defined + launch->shared_size;
  return true;
}

void check_free_block(block_t* block) {
  free(block->check);
  block->check = NULL;
}

void check_order_block(block_t* block) {
  ++block->check->phase;
  if (block->launch->check) block->ordered = check_launch_time(block->launch->check);
}

uint8_t* check_defined(const warp_t* w, check_place_t place, uint32_t lane, uint64_t offset) {
  check_block_t* check = w->block->check;
  if (place == CHECK_SHARED) return check->defined + offset;
  return check->stacks + ((uint64_t)w->index * WARP_LANES + lane) * check->stack_size + offset;
}

// What is wrong with an access of a byte, or NULL; `other` is the warp that it conflicts with.
static const char* conflict(const cell_t* cell, uint32_t warp, uint32_t phase, uint32_t access, uint32_t* other) {
  bool both_atomic = access & ACCESS_ATOMIC && cell->is_atomic;
  *other = cell->writer;
  if (cell->write_phase == phase && cell->writer != warp && !both_atomic) return "wrote since the last barrier";
  *other = cell->reader;
  if (access & ACCESS_WRITE && cell->read_phase == phase && (cell->reader != warp || cell->has_readers) &&
      !both_atomic) {
    return "read since the last barrier";
  }
  return NULL;
}

static void note(cell_t* cell, uint32_t warp, uint32_t phase, uint32_t access, uint32_t copy) {
  if (access & ACCESS_WRITE) {
    bool was_plain = cell->write_phase == phase && cell->writer == warp && !cell->is_atomic;
    cell->is_atomic = access & ACCESS_ATOMIC && !was_plain;
    cell->write_phase = phase, cell->writer = (uint16_t)warp, cell->copy = copy;
  }
  if (access & ACCESS_READ && !(access & ACCESS_ATOMIC)) {
    cell->has_readers = cell->read_phase == phase && (cell->has_readers || cell->reader != warp);
    cell->read_phase = phase, cell->reader = (uint16_t)warp;
  }
}

bool check_shared_byte(warp_t* w, const inst_t* inst, uint32_t lane, uint64_t offset, uint32_t access, int stored) {
  check_block_t* check = w->block->check;
  cell_t* cell = &check->cells[offset];
  uint32_t phase = check->phase + 1, other = 0;
  const char* verb = access & ACCESS_WRITE ? "writes" : "reads";
  bool copies = access & ACCESS_ASYNC;
  if (w->launch->checks & ENGINE_CHECK_WAITS && cell->copy && !copies) {
    const warp_t* writer = &w->block->warps[cell->writer];
    if (cell->copy > writer->copies_done) {
      warp_fault(w, inst, NV_FAULT_CHECK, 1u << lane, offset,
                 "wait: lane %u %s byte %llu of shared memory before a wait for the cp.async of warp %u that fills it",
                 lane, verb, (unsigned long long)offset, cell->writer);
      return false;
    }
    cell->copy = 0;
  }
  bool same = stored >= 0 && w->block->shared[offset] == (uint8_t)stored;
  const char* did =
      w->launch->checks & ENGINE_CHECK_RACES && !same ? conflict(cell, w->index, phase, access, &other) : NULL;
  if (did) {
    warp_fault(w, inst, NV_FAULT_CHECK, 1u << lane, offset,
               "race: lane %u %s byte %llu of shared memory, which warp %u %s", lane, verb, (unsigned long long)offset,
               other, did);
    return false;
  }
  note(cell, w->index, phase, access, copies ? w->copy_group + 1 : 0);
  return true;
}
