// Checks of workgroup memory: races between waves. What of it is defined is kept here for check_undefined.c.
//
// Each byte remembers who wrote it last and which other wave did before, who read it last, and between which barriers.
// Two waves conflict when both touch a byte between the same two barriers and one writes, unless both do so atomically
// or what is written is there already; or when the writer came to the barrier without a wait for its write.
#include "softgpu/check_group.h"

#include <stdlib.h>

#include "softgpu/check.h"
#include "softgpu/check_undefined.h"

typedef struct write_t {
  uint32_t phase;   // barriers passed, plus one; 0: never
  uint32_t number;  // among its wave's operations of the counter; 0 when it is not counted so
  uint16_t wave;
  uint8_t counter;  // of check_waits.c
  bool is_atomic;   // and the wave wrote it in no other way since the barrier
  bool is_load;     // from memory straight into workgroup memory
} write_t;

typedef struct cell_t {
  write_t write, earlier;  // `earlier`: the last one of another wave than that of `write`
  uint32_t read_phase, read_number;
  uint16_t reader;
  uint8_t read_counter;
  bool has_readers;  // several waves read in read_phase
} cell_t;

struct check_group_t {
  uint32_t size;
  uint64_t ordered;
  uint8_t* defined;  // bits of each byte; behind the cells
  cell_t cells[];
};

bool check_group_start(group_t* group) {
  if (!group->check || group->check->size < group->lds_size) {
    free(group->check);
    group->check = malloc(sizeof(*group->check) + (size_t)group->lds_size * (sizeof(cell_t) + 1));
    if (!group->check) return false;
    group->check->size = group->lds_size;
    group->check->defined = (uint8_t*)(group->check->cells + group->lds_size);
  }
  group->check->ordered = 0;
  memset(group->check->cells, 0, (size_t)group->lds_size * sizeof(cell_t));
  memset(group->check->defined, 0, group->lds_size);
  return true;
}

uint8_t* check_group_defined(group_t* group) { return group->check->defined; }

uint64_t* check_group_ordered(group_t* group) { return &group->check->ordered; }

void check_group_free(group_t* group) {
  free(group->check);
  group->check = NULL;
}

// What is wrong with an access behind a write, or NULL.
static const char* conflict_with(const group_t* group, const write_t* write, uint32_t wave, uint32_t phase,
                                 uint32_t access) {
  if (!write->phase || (write->is_atomic && access & CHECK_ATOMIC)) return NULL;
  bool is_other = write->wave != wave;
  if (is_other && write->phase == phase) return "wrote since the last barrier";
  const wave_t* writer = &group->waves[write->wave];
  if (is_other && write->number > check_waits_at_barrier(writer, write->counter)) {
    return "wrote and did not wait for before the barrier";
  }
  return NULL;
}

// What is wrong with an access of a byte, or NULL; `other` is the wave that it conflicts with.
static const char* conflict(const group_t* group, const cell_t* cell, uint32_t wave, uint32_t phase, uint32_t access,
                            uint32_t* other) {
  const write_t* writes[] = {&cell->write, &cell->earlier};
  for (int i = 0; i < 2; ++i) {
    *other = writes[i]->wave;
    const char* what = conflict_with(group, writes[i], wave, phase, access);
    if (what) return what;
  }
  *other = cell->reader;
  if ((access & CHECK_WRITE) && cell->read_phase == phase && (cell->reader != wave || cell->has_readers) &&
      !(access & CHECK_ATOMIC && cell->write.is_atomic)) {
    return "read since the last barrier";
  }
  const wave_t* reader = &group->waves[cell->reader];
  if (access & CHECK_WRITE && cell->read_phase && cell->reader != wave &&
      cell->read_number > check_waits_at_barrier(reader, cell->read_counter)) {
    return "read and did not wait for before the barrier";
  }
  return NULL;
}

static void note(cell_t* cell, uint32_t access, write_t now) {
  if (access & CHECK_WRITE) {
    const write_t* last = &cell->write;
    if (last->phase && last->wave != now.wave) cell->earlier = *last;
    bool was_plain = last->phase == now.phase && last->wave == now.wave && !last->is_atomic;
    now.is_atomic = access & CHECK_ATOMIC && !was_plain;
    cell->write = now;
  } else {
    cell->has_readers = cell->read_phase == now.phase && (cell->has_readers || cell->reader != now.wave);
    cell->read_phase = now.phase, cell->reader = now.wave;
    cell->read_number = now.number, cell->read_counter = now.counter;
  }
}

bool check_group_access(wave_t* w, const inst_t* inst, uint32_t access, uint32_t lane, uint64_t address,
                        uint32_t bytes) {
  check_group_t* check = w->group->check;
  uint32_t phase = w->group->barrier_phase + 1, other = 0;
  write_t now = {.phase = phase, .wave = (uint16_t)w->index};
  if (w->check) now.number = check_waits_next(w, inst, true, &now.counter);
  now.is_load = inst->row->klass == INST_CLASS_LOAD;
  for (uint32_t k = 0; k < bytes && address + k < check->size; ++k) {
    cell_t* cell = &check->cells[address + k];
    // Loads straight into workgroup memory; everything else of a wave is done there in order.
    if (w->launch->checks & ENGINE_CHECK_WAITS && cell->write.is_load && cell->write.wave == w->index && !now.is_load &&
        !check_waits_is_settled(w, cell->write.counter, cell->write.number)) {
      wave_fault(w, inst, ENGINE_FAULT_CHECK, address + k,
                 "wait: lane %u %s byte %llu of workgroup memory before a wait for the instruction that loads it", lane,
                 access & CHECK_WRITE ? "writes" : "reads", (unsigned long long)(address + k));
      return false;
    }
    bool same = access == CHECK_WRITE && check_stores_same(w, lane, k, w->group->lds + address + k, 1);
    const char* did = w->launch->checks & ENGINE_CHECK_RACES && !same
                          ? conflict(w->group, cell, w->index, phase, access, &other)
                          : NULL;
    if (did) {
      wave_fault(w, inst, ENGINE_FAULT_CHECK, address + k,
                 "race: lane %u %s byte %llu of workgroup memory, which wave %u %s", lane,
                 access & CHECK_WRITE ? "writes" : "reads", (unsigned long long)(address + k), other, did);
      return false;
    }
    note(cell, access, now);
  }
  return true;
}
