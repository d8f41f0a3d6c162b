// Memory shared by file descriptors, as dmabufs are between processes and drivers. Memory that is exported moves into a
// file of its own, at the same addresses; kernels must not write to it meanwhile, the first time.
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softgpu/hsa/locked.h"

enum { DMABUF_PAGE = 4096 };

typedef struct shared_t {
  char* address;
  size_t size;  // bytes, whole pages where it is mapped from a file descriptor
  int file;     // of what is exported; -1: imported
  struct shared_t* next;
} shared_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static shared_t* shares;

static shared_t** find(const char* address, bool is_import) {
  shared_t** at = &shares;
  while (*at && ((*at)->address != address || ((*at)->file < 0) != is_import)) at = &(*at)->next;
  return at;
}

static size_t whole_pages(size_t size) { return (size + DMABUF_PAGE - 1) & ~(size_t)(DMABUF_PAGE - 1); }

static bool write_all(int file, const char* data, size_t size) {
  for (size_t at = 0; at < size;) {
    ssize_t written = pwrite(file, data + at, size - at, (off_t)at);
    if (written <= 0) return false;
    at += (size_t)written;
  }
  return true;
}

static void forget_export(void* address, void* data) {
  pthread_mutex_lock(&lock);
  shared_t **at = find(address, false), *share = *at;
  if (share) *at = share->next;
  pthread_mutex_unlock(&lock);
  if (share) close(share->file);
  free(share);
}

// Needs the lock.
static shared_t* move_to_file(char* address, size_t size) {
  shared_t* share = malloc(sizeof(*share));
  int file = share ? memfd_create("softgpu-dmabuf", MFD_CLOEXEC) : -1;
  size_t bytes = whole_pages(size);
  bool is_moved = file >= 0 && ftruncate(file, (off_t)bytes) == 0 && write_all(file, address, size) &&
                  hsa_amd_register_deallocation_callback(address, forget_export, NULL) == HSA_STATUS_SUCCESS;
  if (is_moved && mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == (void*)MAP_FAILED) {
    hsa_amd_deregister_deallocation_callback(address, forget_export);
    is_moved = false;
  }
  if (!is_moved) {
    if (file >= 0) close(file);
    free(share);
    return NULL;
  }
  *share = (shared_t){address, size, file, shares};
  return shares = share;
}

hsa_status_t hsa_amd_portable_export_dmabuf(const void* pointer, size_t size, int* file, uint64_t* offset);
hsa_status_t hsa_amd_portable_export_dmabuf_v2(const void* pointer, size_t size, int* file, uint64_t* offset,
                                               uint64_t flags);
hsa_status_t hsa_amd_portable_close_dmabuf(int file);

hsa_status_t hsa_amd_portable_export_dmabuf(const void* pointer, size_t size, int* file, uint64_t* offset) {
  REQUIRE_OPEN();
  REQUIRE(pointer && size && file && offset, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  hsa_amd_pointer_info_t info = {.size = sizeof(info)};
  hsa_status_t status = hsa_amd_pointer_info(pointer, &info, NULL, NULL, NULL);
  REQUIRE(status == HSA_STATUS_SUCCESS && info.type == HSA_EXT_POINTER_TYPE_HSA, HSA_STATUS_ERROR_INVALID_ALLOCATION);
  char* base = info.agentBaseAddress;
  size_t at = (size_t)((const char*)pointer - base);
  REQUIRE(at < info.sizeInBytes && size <= info.sizeInBytes - at, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  pthread_mutex_lock(&lock);
  shared_t* share = *find(base, false);
  if (!share) share = move_to_file(base, info.sizeInBytes);
  *file = share ? dup(share->file) : -1;
  pthread_mutex_unlock(&lock);
  *offset = at;
  return *file >= 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

// No flag that there is changes anything here.
hsa_status_t hsa_amd_portable_export_dmabuf_v2(const void* pointer, size_t size, int* file, uint64_t* offset,
                                               uint64_t flags) {
  return hsa_amd_portable_export_dmabuf(pointer, size, file, offset);
}

hsa_status_t hsa_amd_portable_close_dmabuf(int file) {
  return close(file) == 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_RESOURCE_FREE;
}

//===----------------------------------------------------------------------------------------------------------------===
// Import
//===----------------------------------------------------------------------------------------------------------------===

// With a gap behind, as allocations have.
static char* map_file(int file, size_t size) {
  char* address = mmap(NULL, size + DMABUF_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) return NULL;
  if (mmap(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED) return address;
  munmap(address, size + DMABUF_PAGE);
  return NULL;
}

hsa_status_t hsa_amd_interop_map_buffer(uint32_t count, hsa_agent_t* agents, int file, uint32_t flags, size_t* size,
                                        void** out, size_t* metadata_size, const void** metadata) {
  REQUIRE_OPEN();
  REQUIRE(count && agents && size && out && !flags, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  uint64_t bits = UINT64_C(1) << 63;
  for (uint32_t i = 0; i < count; ++i) {
    agent_t* agent = runtime_agent(agents[i]);
    REQUIRE(agent, HSA_STATUS_ERROR_INVALID_AGENT);
    bits |= UINT64_C(1) << agent_bit(agent);
  }
  struct stat info;
  bool is_memory =
      fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 && info.st_size % DMABUF_PAGE == 0;
  REQUIRE(is_memory, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  size_t bytes = (size_t)info.st_size;
  shared_t* share = malloc(sizeof(*share));
  char* address = share ? map_file(file, bytes) : NULL;
  memory_range_t range = {(uint64_t)address, bytes, bits, true, "shared memory"};
  if (!address || !memory_map_insert(runtime.memory, &range)) {
    if (address) munmap(address, bytes + DMABUF_PAGE);
    free(share);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  locked_forget((uint64_t)address, bytes + DMABUF_PAGE);
  pthread_mutex_lock(&lock);
  *share = (shared_t){address, bytes, -1, shares};
  shares = share;
  pthread_mutex_unlock(&lock);
  *size = bytes;
  *out = address;
  if (metadata_size) *metadata_size = 0;
  if (metadata) *metadata = NULL;
  return HSA_STATUS_SUCCESS;
}

static void unmap(shared_t* share) {
  memory_map_remove(runtime.memory, (uint64_t)share->address);
  runtime_forget_code((uint64_t)share->address, share->size);
  munmap(share->address, share->size + DMABUF_PAGE);
  free(share);
}

hsa_status_t hsa_amd_interop_unmap_buffer(void* address) {
  REQUIRE_OPEN();
  pthread_mutex_lock(&lock);
  shared_t **at = find(address, true), *share = *at;
  if (share) *at = share->next;
  pthread_mutex_unlock(&lock);
  REQUIRE(share, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  unmap(share);
  return HSA_STATUS_SUCCESS;
}

// What is exported goes with its memory.
void dmabuf_free_all(void) {
  for (shared_t** at = &shares; *at;) {
    shared_t* share = *at;
    if (share->file >= 0) {
      at = &share->next;
      continue;
    }
    *at = share->next;
    unmap(share);
  }
}
