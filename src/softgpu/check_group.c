// Checks of workgroup memory: races between waves, and bytes that are read before anyone wrote them.
//
// Each byte remembers who wrote and who read it last, and between which barriers. Two waves conflict when both touch a
// byte between the same two barriers and one writes, unless both do so atomically or what is written is there already;
// or when the writer came to the barrier without a wait for its write.
#include "softgpu/check_group.h"

#include <stdlib.h>

#include "softgpu/check.h"
#include "softgpu/check_undefined.h"

typedef struct cell_t {
  uint32_t write_phase, read_phase;  // barriers passed, plus one; 0: never
  uint32_t number;                   // of the last write among its wave's operations; 0 when it is not counted so
  uint16_t writer, reader;
  uint8_t is_atomic, has_readers;  // last write; several waves read in read_phase
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

// What is wrong with an access of a byte, or NULL; `other` is the wave that it conflicts with.
static const char* conflict(const group_t* group, const cell_t* cell, uint32_t wave, uint32_t phase, uint32_t access,
                            uint32_t* other) {
  bool both_atomic = cell->is_atomic && (access & CHECK_ATOMIC);
  *other = cell->writer;
  if (cell->write_phase == phase && cell->writer != wave && !both_atomic) return "wrote since the last barrier";
  if (cell->write_phase && cell->writer != wave && !both_atomic &&
      cell->number > check_waits_at_barrier(&group->waves[cell->writer])) {
    return "wrote and did not wait for before the barrier";
  }
  *other = cell->reader;
  if ((access & CHECK_WRITE) && cell->read_phase == phase && (cell->reader != wave || cell->has_readers) &&
      !(access & CHECK_ATOMIC && cell->is_atomic)) {
    return "read since the last barrier";
  }
  return NULL;
}

static void note(cell_t* cell, uint32_t wave, uint32_t phase, uint32_t access, uint32_t number) {
  if (access & CHECK_WRITE) {
    cell->number = number;
    cell->write_phase = phase, cell->writer = (uint16_t)wave, cell->is_atomic = (access & CHECK_ATOMIC) != 0;
  } else {
    cell->has_readers = cell->read_phase == phase && (cell->has_readers || cell->reader != wave);
    cell->read_phase = phase, cell->reader = (uint16_t)wave;
  }
}

bool check_group_access(wave_t* w, const inst_t* inst, uint32_t access, uint32_t lane, uint64_t address,
                        uint32_t bytes) {
  check_group_t* check = w->group->check;
  uint32_t phase = w->group->barrier_phase + 1, other = 0;
  uint32_t number = inst->row->klass == INST_CLASS_LDS && w->check ? check_waits_next(w) : 0;
  for (uint32_t k = 0; k < bytes && address + k < check->size; ++k) {
    cell_t* cell = &check->cells[address + k];
    if (w->launch->checks & ENGINE_CHECK_UNINITIALIZED && access == CHECK_READ && !cell->write_phase) {
      wave_fault(w, inst, ENGINE_FAULT_CHECK, address + k,
                 "uninitialized: lane %u reads byte %llu of workgroup memory, which nobody wrote", lane,
                 (unsigned long long)(address + k));
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
    note(cell, w->index, phase, access, number);
  }
  return true;
}
