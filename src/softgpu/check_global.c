// Races on global memory: two waves touch the same bytes, one of them writes, and nothing orders them.
//
// Waves of a workgroup are ordered by barriers; workgroups of a dispatch only by atomic operations and fences, which
// are not followed in detail: once a workgroup has done one after an access, the two count as ordered. Atomic,
// volatile and coherent accesses are never accused, nor is a store of what memory holds already. A launch remembers
// the last access of as many dwords as fit into a table; what falls out of it is forgotten.
#include <sched.h>
#include <stdlib.h>

#include "softgpu/check.h"
#include "softgpu/check_group.h"
#include "softgpu/shared.h"

enum { GLOBAL_ENTRIES = 1 << 17, GLOBAL_LOCKS = 1 << 12, SPINS = 100 };

// Last access of one kind to a dword.
typedef struct touch_t {
  uint64_t group;  // number in the launch, plus one; 0: never
  uint64_t time;
  uint32_t phase;   // barriers that the workgroup had passed
  uint32_t number;  // among the wave's operations of the counter
  uint16_t wave;
  uint8_t counter;
  uint8_t bytes;  // a bit for each byte
} touch_t;

typedef struct entry_t {
  uint64_t dword;  // address / 4
  touch_t write, read;
} entry_t;

struct check_launch_t {
  uint64_t clock;  // atomic: counts what orders workgroups
  uint8_t locks[GLOBAL_LOCKS];
  entry_t entries[GLOBAL_ENTRIES];
};

bool check_start_launch(launch_t* launch) {
  if (!(launch->checks & ENGINE_CHECK_RACES)) return true;
  launch->check = calloc(1, sizeof(*launch->check));
  return launch->check != NULL;
}

void check_end_launch(launch_t* launch) {
  free(launch->check);
  launch->check = NULL;
}

void check_global_order(wave_t* w) {
  check_launch_t* c = w->launch->check;
  if (c) *check_group_ordered(w->group) = __atomic_add_fetch(&c->clock, 1, __ATOMIC_RELAXED);
}

static bool is_coherent(const wave_t* w, const inst_t* inst) {
  if (w->target->major >= 12) return inst->row->klass != INST_CLASS_SMEM && (inst->encoding[1] >> 18 & 3);
  return inst->flags & (INST_GLC | INST_SC0 | INST_SC1);
}

static bool is_scratch(const group_t* group, uint64_t address) {
  const launch_t* launch = group->launch;
  return address - (uint64_t)group->scratch < (uint64_t)launch->scratch_size * launch->lanes * group->wave_count;
}

// In WGP mode the workgroup's waves go through different caches: what one did before a barrier is ordered before what
// others do behind it only where it waited. In CU mode, and before gfx10, all go through one, in order.
static bool is_late(const wave_t* w, const touch_t* touch) {
  enum { WGP_MODE = 1 << 29 };
  if (w->target->major < 10 || !(w->launch->rsrc1 & WGP_MODE) || touch->wave == w->index) return false;
  return touch->number > check_waits_at_barrier(&w->group->waves[touch->wave], touch->counter);
}

// Whether nothing orders an earlier access before the wave's one now.
static bool conflicts(wave_t* w, const touch_t* touch, uint64_t group, uint32_t bytes) {
  if (!touch->group || !(touch->bytes & bytes) || *check_group_ordered(w->group) > touch->time) return false;
  if (touch->group != group) return true;
  return touch->wave != w->index && (touch->phase == w->group->barrier_phase || is_late(w, touch));
}

static bool report(wave_t* w, const inst_t* inst, uint32_t lane, uint64_t address, bool writes, const touch_t* other,
                   const char* did, uint64_t group) {
  unsigned long long at = address;
  if (other->group == group) {
    wave_fault(
        w, inst, ENGINE_FAULT_CHECK, address, "race: lane %u %s 0x%llx, which wave %u of the workgroup %s %s", lane,
        writes ? "writes" : "reads", at, other->wave, did,
        other->phase == w->group->barrier_phase ? "since the last barrier" : "and did not wait for before the barrier");
  } else {
    wave_fault(w, inst, ENGINE_FAULT_CHECK, address,
               "race: lane %u %s 0x%llx, which workgroup number %llu %s in the same dispatch", lane,
               writes ? "writes" : "reads", at, (unsigned long long)(other->group - 1), did);
  }
  return false;
}

// Held for a few loads and stores: who waits long waits for a thread that does not run.
static void take_lock(uint8_t* lock) {
  for (uint32_t spins = 0; __atomic_test_and_set(lock, __ATOMIC_ACQUIRE);) {
    if (++spins % SPINS == 0) sched_yield();
  }
}

static bool check_dword(wave_t* w, const inst_t* inst, uint32_t lane, uint64_t dword, uint32_t bytes, bool writes,
                        bool same) {
  check_launch_t* c = w->launch->check;
  const uint32_t *id = w->group->id, *groups = w->launch->groups;
  uint64_t group = id[0] + (uint64_t)groups[0] * (id[1] + (uint64_t)groups[1] * id[2]) + 1;
  uint64_t hash = dword * UINT64_C(0x9e3779b97f4a7c15) >> 47;
  entry_t* e = &c->entries[hash % GLOBAL_ENTRIES];
  uint8_t* lock = &c->locks[hash % GLOBAL_LOCKS];
  touch_t now = {.group = group,
                 .time = __atomic_load_n(&c->clock, __ATOMIC_RELAXED),
                 .phase = w->group->barrier_phase,
                 .wave = (uint16_t)w->index,
                 .bytes = (uint8_t)bytes};
  if (w->check) now.number = check_waits_next(w, inst, false, &now.counter);
  take_lock(lock);
  if (e->dword != dword) memset(e, 0, sizeof(*e)), e->dword = dword;
  touch_t write = e->write, read = e->read;
  *(writes ? &e->write : &e->read) = now;
  __atomic_clear(lock, __ATOMIC_RELEASE);
  if (same) return true;
  if (conflicts(w, &write, group, bytes)) return report(w, inst, lane, dword * 4, writes, &write, "wrote", group);
  if (writes && conflicts(w, &read, group, bytes)) {
    return report(w, inst, lane, dword * 4, writes, &read, "read", group);
  }
  return true;
}

bool check_global_access(wave_t* w, const inst_t* inst, uint32_t access, uint32_t lane, uint64_t address,
                         uint32_t bytes) {
  if (!w->launch->check || access & CHECK_ATOMIC || is_coherent(w, inst) || is_scratch(w->group, address)) return true;
  bool writes = access & CHECK_WRITE;
  for (uint64_t at = address & ~UINT64_C(3); at < address + bytes; at += 4) {
    uint64_t low = at < address ? address - at : 0, high = address + bytes - at < 4 ? address + bytes - at : 4;
    uint32_t mask = (1u << high) - (1u << low);
    bool same = writes && check_stores_same(w, lane, (uint32_t)(at + low - address), (const void*)(at + low),
                                            (uint32_t)(high - low));
    if (!check_dword(w, inst, lane, at / 4, mask, writes, same)) return false;
  }
  return true;
}
