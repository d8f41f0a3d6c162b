// Which addresses are live objects, and of what kind: a table with open addressing. Each thread remembers what it has
// found, as long as the table does not change.
#include <stdlib.h>

#include "softgpu/cuda/driver.h"

typedef struct slot_t {
  const void* object;  // NULL: free
  object_kind_t kind;
} slot_t;

static struct {
  pthread_mutex_t lock;
  slot_t* slots;
  size_t count, capacity;  // a power of two
  uint64_t version;        // changes under the lock
} objects = {.lock = PTHREAD_MUTEX_INITIALIZER, .version = 1};

enum { REMEMBERED = 16 };
static _Thread_local struct {
  const void* object;
  uint64_t version;  // of the table when it was found
  object_kind_t kind;
} remembered[REMEMBERED];

// The lock is held.
static void change(void) { __atomic_fetch_add(&objects.version, 1, __ATOMIC_ACQ_REL); }

static size_t place(const void* object) {
  return (size_t)(((uintptr_t)object >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (objects.capacity - 1);
}

// Where the object is, or would go.
static size_t find(const void* object) {
  size_t at = place(object);
  while (objects.slots[at].object && objects.slots[at].object != object) at = (at + 1) & (objects.capacity - 1);
  return at;
}

static bool grow(void) {
  enum { FIRST = 256 };
  size_t old_capacity = objects.capacity, capacity = old_capacity ? 2 * old_capacity : FIRST;
  slot_t *old = objects.slots, *slots = calloc(capacity, sizeof(*slots));
  if (!slots) return false;
  objects.slots = slots;
  objects.capacity = capacity;
  for (size_t i = 0; i < old_capacity; ++i) {
    if (old[i].object) slots[find(old[i].object)] = old[i];
  }
  free(old);
  return true;
}

bool object_add(const void* object, object_kind_t kind) {
  pthread_mutex_lock(&objects.lock);
  bool ok = 2 * (objects.count + 1) <= objects.capacity || grow();
  if (ok) {
    objects.slots[find(object)] = (slot_t){object, kind};
    ++objects.count;
    change();
  }
  pthread_mutex_unlock(&objects.lock);
  return ok;
}

// What stands behind in the same run moves up, so that no run is broken.
void object_remove(const void* object) {
  pthread_mutex_lock(&objects.lock);
  size_t hole = objects.capacity ? find(object) : 0, mask = objects.capacity - 1;
  if (objects.capacity && objects.slots[hole].object) {
    for (size_t at = (hole + 1) & mask; objects.slots[at].object; at = (at + 1) & mask) {
      size_t home = place(objects.slots[at].object);
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      objects.slots[hole] = objects.slots[at];
      hole = at;
    }
    objects.slots[hole].object = NULL;
    --objects.count;
    change();
  }
  pthread_mutex_unlock(&objects.lock);
}

static bool look_up(const void* object, object_kind_t kind, uint64_t* out_version) {
  bool ok = false;
  pthread_mutex_lock(&objects.lock);
  if (object && objects.capacity) {
    size_t at = find(object);
    ok = objects.slots[at].object && objects.slots[at].kind == kind;
  }
  *out_version = objects.version;
  pthread_mutex_unlock(&objects.lock);
  return ok;
}

bool object_is(const void* object, object_kind_t kind) {
  size_t at = (uintptr_t)object / 64 % REMEMBERED;
  if (remembered[at].object == object && remembered[at].kind == kind &&
      remembered[at].version == __atomic_load_n(&objects.version, __ATOMIC_ACQUIRE)) {
    return object != NULL;
  }
  uint64_t version = 0;
  if (!look_up(object, kind, &version)) return false;
  remembered[at].object = object;
  remembered[at].kind = kind;
  remembered[at].version = version;
  return true;
}
