// Waits of queues, and what they imply.
#include "hal/gpu/waited.h"

typedef struct snapshot_t {
  uint32_t count;
  struct {
    uint32_t bit;
    uint64_t epoch;
  } waits[GPU_WAITED_LOG];
} snapshot_t;

// What part `part` of a queue had waited for, as far as the log still tells. Nothing when it is being written: nobody
// waits for a thread that may be off the processor.
static void read_log(gpu_waited_t* log, uint64_t part, snapshot_t* out) {
  out->count = 0;
  uint64_t version = iree_atomic_load(&log->version, iree_memory_order_seq_cst);
  if (version & 1) return;
  uint64_t count = iree_min(iree_atomic_load(&log->count, iree_memory_order_acquire), (uint64_t)GPU_WAITED_LOG);
  uint32_t found = 0;
  for (uint64_t i = 0; i < count; ++i) {
    gpu_waited_entry_t* entry = &log->log[i];
    if (iree_atomic_load(&entry->since, iree_memory_order_acquire) > part) continue;
    out->waits[found].bit = (uint32_t)iree_atomic_load(&entry->bit, iree_memory_order_acquire);
    out->waits[found++].epoch = iree_atomic_load(&entry->epoch, iree_memory_order_acquire);
  }
  if (iree_atomic_load(&log->version, iree_memory_order_relaxed) == version) out->count = found;
}

bool gpu_waited_implies(gpu_waited_t* log, uint64_t part, uint32_t bit, uint64_t epoch) {
  snapshot_t snapshot;
  read_log(log, part, &snapshot);
  for (uint32_t i = 0; i < snapshot.count; ++i) {
    if (snapshot.waits[i].bit == bit && snapshot.waits[i].epoch >= epoch) return true;
  }
  return false;
}

// `version` is odd.
static void note(gpu_waited_t* waited, uint64_t since, uint32_t bit, uint64_t epoch) {
  if (gpu_waited_covers(waited, bit, epoch)) return;
  waited->epochs[bit] = epoch;
  uint64_t count = iree_atomic_load(&waited->count, iree_memory_order_relaxed);
  gpu_waited_entry_t* entry = &waited->log[count % GPU_WAITED_LOG];
  iree_atomic_store(&entry->since, since, iree_memory_order_release);
  iree_atomic_store(&entry->bit, (uint64_t)bit, iree_memory_order_release);
  iree_atomic_store(&entry->epoch, epoch, iree_memory_order_release);
  iree_atomic_store(&waited->count, count + 1, iree_memory_order_release);
}

void gpu_waited_note(gpu_waited_t* waited, const gpu_waited_wait_t* wait, gpu_waited_t* other) {
  if (gpu_waited_covers(waited, wait->bit, wait->epoch)) return;
  snapshot_t snapshot;
  read_log(other, wait->epoch, &snapshot);
  iree_atomic_fetch_add(&waited->version, 1, iree_memory_order_seq_cst);
  note(waited, wait->since, wait->bit, wait->epoch);
  for (uint32_t i = 0; i < snapshot.count; ++i) {
    if (snapshot.waits[i].bit == wait->own_bit) continue;  // its own order
    note(waited, wait->since, snapshot.waits[i].bit, snapshot.waits[i].epoch);
  }
  iree_atomic_fetch_add(&waited->version, 1, iree_memory_order_seq_cst);
}
