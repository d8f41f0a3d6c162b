// Virtual memory: addresses that are reserved, physical memory that is mapped there, and who may use it.
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "softgpu/cuda/calls.h"
#include "softgpu/cuda/memory.h"

enum { GRANULARITY = 2 << 20, PINNED = 1, ACCESS_READ = 1, ACCESS_READ_WRITE = 3 };

// Physical memory is a file without a name, which may be mapped several times.
struct physical_t {
  uint32_t references;  // handles and mappings
  uint32_t handles;
  int file;
  size_t size;
  physical_props_t props;
  device_t* device;
};

typedef struct reservation_t {
  uint64_t base;
  size_t size;
  struct reservation_t* next;
} reservation_t;

typedef struct mapping_t {
  uint64_t base;
  size_t size, offset;
  physical_t* physical;
  uint64_t agents;
  bool is_writable;
  struct mapping_t* next;
} mapping_t;

static struct {
  pthread_mutex_t lock;
  reservation_t* reservations;
  mapping_t* mappings;
} virtual = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_whole(uint64_t value) { return value && value % GRANULARITY == 0; }

//===----------------------------------------------------------------------------------------------------------------===
// Addresses
//===----------------------------------------------------------------------------------------------------------------===

result_t cuMemAddressReserve(uint64_t* out, size_t size, size_t alignment, uint64_t hint, unsigned long long flags) {
  CHECK(driver_enter());
  REQUIRE(out && is_whole(size) && flags == 0 && !(alignment & (alignment - 1)), CUDA_ERROR_INVALID_VALUE);
  if (alignment < GRANULARITY) alignment = GRANULARITY;
  REQUIRE(size <= SIZE_MAX / 4 && alignment <= SIZE_MAX / 4, CUDA_ERROR_OUT_OF_MEMORY);
  reservation_t* row = malloc(sizeof(*row));
  size_t whole = size + alignment + GRANULARITY;
  char* memory = row ? mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : MAP_FAILED;
  if (memory == MAP_FAILED) return free(row), CUDA_ERROR_OUT_OF_MEMORY;
  char* aligned = (char*)(((uintptr_t)memory + alignment - 1) & ~(uintptr_t)(alignment - 1));
  if (aligned != memory) munmap(memory, (size_t)(aligned - memory));
  munmap(aligned + size, whole - size - (size_t)(aligned - memory));
  *row = (reservation_t){(uint64_t)(uintptr_t)aligned, size, NULL};
  pthread_mutex_lock(&virtual.lock);
  row->next = virtual.reservations;
  virtual.reservations = row;
  pthread_mutex_unlock(&virtual.lock);
  *out = row->base;
  return CUDA_SUCCESS;
}

static bool overlaps(uint64_t base, size_t size, uint64_t other, size_t other_size) {
  return base < other + other_size && other < base + size;
}

static mapping_t* find_mapping(uint64_t base, size_t size) {
  mapping_t* at = virtual.mappings;
  while (at && !overlaps(base, size, at->base, at->size)) at = at->next;
  return at;
}

result_t cuMemAddressFree(uint64_t base, size_t size) {
  CHECK(driver_enter());
  pthread_mutex_lock(&virtual.lock);
  reservation_t** at = &virtual.reservations;
  while (*at && ((*at)->base != base || (*at)->size != size)) at = &(*at)->next;
  reservation_t* gone = *at && !find_mapping(base, size) ? *at : NULL;
  if (gone) *at = gone->next;
  pthread_mutex_unlock(&virtual.lock);
  REQUIRE(gone, CUDA_ERROR_INVALID_VALUE);
  munmap((void*)(uintptr_t)base, size);
  free(gone);
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------------------------------------------------===
// Physical memory
//===----------------------------------------------------------------------------------------------------------------===

static result_t check_props(const physical_props_t* props, device_t** out_device) {
  REQUIRE(props && props->type == PINNED, CUDA_ERROR_INVALID_VALUE);
  if (props->handle_types) return driver_refuse("cuMemCreate", "with handles for other processes: there are none");
  *out_device = props->location.type == LOCATION_DEVICE ? driver_device(props->location.id) : &driver.devices[0];
  REQUIRE(*out_device && props->location.type >= LOCATION_DEVICE, CUDA_ERROR_INVALID_DEVICE);
  return CUDA_SUCCESS;
}

result_t cuMemGetAllocationGranularity(size_t* out, const physical_props_t* props, int option) {
  device_t* device;
  CHECK(driver_enter());
  CHECK(check_props(props, &device));
  REQUIRE(out && (option == 0 || option == 1), CUDA_ERROR_INVALID_VALUE);
  *out = GRANULARITY;
  return CUDA_SUCCESS;
}

static bool is_of_device(const physical_t* physical) { return physical->props.location.type == LOCATION_DEVICE; }

static void release(physical_t* physical) {
  if (--physical->references) return;
  if (is_of_device(physical)) __atomic_sub_fetch(&physical->device->allocated, physical->size, __ATOMIC_RELAXED);
  close(physical->file);
  free(physical);
}

result_t cuMemCreate(physical_t** out, size_t size, const physical_props_t* props, unsigned long long flags) {
  device_t* device;
  CHECK(driver_enter());
  CHECK(check_props(props, &device));
  REQUIRE(out && is_whole(size) && flags == 0, CUDA_ERROR_INVALID_VALUE);
  physical_t* physical = malloc(sizeof(*physical));
  REQUIRE(physical, CUDA_ERROR_OUT_OF_MEMORY);
  *physical = (physical_t){1, 1, memfd_create("softgpu", MFD_CLOEXEC), size, *props, device};
  bool counts = is_of_device(physical);
  uint64_t used = counts ? __atomic_add_fetch(&device->allocated, size, __ATOMIC_RELAXED) : 0;
  bool ok = physical->file >= 0 && used <= device->target->memory && ftruncate(physical->file, (off_t)size) == 0 &&
            object_add(physical, OBJECT_PHYSICAL);
  if (!ok) {
    if (counts) __atomic_sub_fetch(&device->allocated, size, __ATOMIC_RELAXED);
    if (physical->file >= 0) close(physical->file);
    free(physical);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *out = physical;
  return CUDA_SUCCESS;
}

static result_t enter(physical_t* physical) {
  CHECK(driver_enter());
  return object_is(physical, OBJECT_PHYSICAL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// The memory stays as long as it is mapped.
result_t cuMemRelease(physical_t* physical) {
  CHECK(enter(physical));
  pthread_mutex_lock(&virtual.lock);
  if (--physical->handles == 0) object_remove(physical);
  release(physical);
  pthread_mutex_unlock(&virtual.lock);
  return CUDA_SUCCESS;
}

result_t cuMemGetAllocationPropertiesFromHandle(physical_props_t* out, physical_t* physical) {
  CHECK(enter(physical));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = physical->props;
  return CUDA_SUCCESS;
}

result_t cuMemRetainAllocationHandle(physical_t** out, void* address) {
  CHECK(driver_enter());
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  pthread_mutex_lock(&virtual.lock);
  mapping_t* mapping = find_mapping((uint64_t)(uintptr_t)address, 1);
  bool ok = mapping && (mapping->physical->handles || object_add(mapping->physical, OBJECT_PHYSICAL));
  if (ok) {
    ++mapping->physical->handles;
    ++mapping->physical->references;
    *out = mapping->physical;
  }
  pthread_mutex_unlock(&virtual.lock);
  return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

//===----------------------------------------------------------------------------------------------------------------===
// Mappings
//===----------------------------------------------------------------------------------------------------------------===

static bool is_reserved(uint64_t base, size_t size) {
  for (const reservation_t* at = virtual.reservations; at; at = at->next) {
    if (base >= at->base && size <= at->size && base - at->base <= at->size - size) return true;
  }
  return false;
}

result_t cuMemMap(uint64_t base, size_t size, size_t offset, physical_t* physical, unsigned long long flags) {
  CHECK(enter(physical));
  REQUIRE(is_whole(size) && base % GRANULARITY == 0 && offset == 0 && flags == 0, CUDA_ERROR_INVALID_VALUE);
  REQUIRE(size <= physical->size, CUDA_ERROR_INVALID_VALUE);
  mapping_t* mapping = malloc(sizeof(*mapping));
  REQUIRE(mapping, CUDA_ERROR_OUT_OF_MEMORY);
  *mapping = (mapping_t){.base = base, .size = size, .offset = offset, .physical = physical};
  pthread_mutex_lock(&virtual.lock);
  bool ok = is_reserved(base, size) && !find_mapping(base, size);
  ok = ok && mmap((void*)(uintptr_t)base, size, PROT_NONE, MAP_SHARED | MAP_FIXED, physical->file, 0) != MAP_FAILED;
  if (ok) {
    ++physical->references;
    mapping->next = virtual.mappings;
    virtual.mappings = mapping;
  }
  pthread_mutex_unlock(&virtual.lock);
  if (ok) return CUDA_SUCCESS;
  free(mapping);
  return CUDA_ERROR_INVALID_VALUE;
}

// Whole mappings, which cover the range.
static bool covers(uint64_t base, size_t size) {
  size_t covered = 0;
  for (const mapping_t* at = virtual.mappings; at; at = at->next) {
    if (!overlaps(base, size, at->base, at->size)) continue;
    if (at->base < base || at->base + at->size > base + size) return false;
    covered += at->size;
  }
  return covered == size;
}

result_t cuMemUnmap(uint64_t base, size_t size) {
  CHECK(driver_enter());
  pthread_mutex_lock(&virtual.lock);
  bool ok = size && covers(base, size);
  for (mapping_t** at = &virtual.mappings; ok && *at;) {
    mapping_t* mapping = *at;
    if (!overlaps(base, size, mapping->base, mapping->size)) {
      at = &mapping->next;
      continue;
    }
    *at = mapping->next;
    allocation_free(mapping->base, MEMORY_MAPPED);
    mmap((void*)(uintptr_t)mapping->base, mapping->size, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    release(mapping->physical);
    free(mapping);
  }
  pthread_mutex_unlock(&virtual.lock);
  return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// The host may touch what any GPU may: its threads are the GPUs.
static result_t show(mapping_t* mapping, uint64_t agents, bool is_writable) {
  int protection = agents ? PROT_READ | PROT_WRITE : PROT_NONE;
  void* address = (void*)(uintptr_t)mapping->base;
  REQUIRE(mprotect(address, mapping->size, protection) == 0, CUDA_ERROR_OUT_OF_MEMORY);
  bool was_shown = mapping->agents != 0;
  mapping->agents = agents;
  mapping->is_writable = is_writable;
  if (was_shown && agents) allocation_set_agents(mapping->base, agents, is_writable);
  if (was_shown && !agents) allocation_free(mapping->base, MEMORY_MAPPED);
  if (was_shown || !agents) return CUDA_SUCCESS;
  allocation_t a = {.base = mapping->base,
                    .size = mapping->size,
                    .kind = MEMORY_MAPPED,
                    .device = mapping->physical->device,
                    .agents = agents};
  CHECK(allocation_add(&a));
  allocation_set_agents(mapping->base, agents, is_writable);
  return CUDA_SUCCESS;
}

result_t cuMemSetAccess(uint64_t base, size_t size, const access_t* accesses, size_t count) {
  uint64_t gives = 0, takes = 0;
  bool is_writable = true;
  CHECK(driver_enter());
  REQUIRE(accesses && count && size, CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < count; ++i) {
    int flags = accesses[i].flags;
    REQUIRE(flags == 0 || flags == ACCESS_READ || flags == ACCESS_READ_WRITE, CUDA_ERROR_INVALID_VALUE);
    bool is_host = accesses[i].location.type >= LOCATION_HOST;
    device_t* device = is_host ? &driver.devices[0] : driver_device(accesses[i].location.id);
    REQUIRE(device && accesses[i].location.type >= LOCATION_DEVICE, CUDA_ERROR_INVALID_DEVICE);
    uint64_t bit = is_host ? 0 : UINT64_C(1) << device->ordinal;
    *(flags ? &gives : &takes) |= bit;
    if (flags == ACCESS_READ && !is_host) is_writable = false;
  }
  result_t result = CUDA_SUCCESS;
  pthread_mutex_lock(&virtual.lock);
  if (!covers(base, size)) result = CUDA_ERROR_INVALID_VALUE;
  for (mapping_t* at = virtual.mappings; at && result == CUDA_SUCCESS; at = at->next) {
    if (overlaps(base, size, at->base, at->size)) result = show(at, (at->agents | gives) & ~takes, is_writable);
  }
  pthread_mutex_unlock(&virtual.lock);
  return result;
}

result_t cuMemGetAccess(unsigned long long* out, const location_t* location, uint64_t address) {
  CHECK(driver_enter());
  REQUIRE(out && location, CUDA_ERROR_INVALID_VALUE);
  device_t* device = driver_device(location->id);
  REQUIRE(location->type == LOCATION_DEVICE && device, CUDA_ERROR_INVALID_DEVICE);
  pthread_mutex_lock(&virtual.lock);
  const mapping_t* mapping = find_mapping(address, 1);
  if (mapping) {
    bool has = mapping->agents >> device->ordinal & 1;
    *out = !has ? 0 : mapping->is_writable ? ACCESS_READ_WRITE : ACCESS_READ;
  }
  pthread_mutex_unlock(&virtual.lock);
  return mapping ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
