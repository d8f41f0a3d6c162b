// Pages with gaps.
#include "softgpu/pages.h"

#include <stdint.h>
#include <sys/mman.h>

void* pages_map(size_t size, size_t alignment, size_t* mapped) {
  size_t slack = alignment > PAGES_SIZE ? alignment : 0;
  if (size > SIZE_MAX / 2 || slack > SIZE_MAX / 4) return NULL;
  size_t bytes = ((size + PAGES_SIZE - 1) & ~(size_t)(PAGES_SIZE - 1)) + PAGES_GAP;
  char* memory = mmap(NULL, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  if (slack) {
    char* aligned = (char*)(((uintptr_t)memory + alignment - 1) & ~(uintptr_t)(alignment - 1));
    if (aligned != memory) munmap(memory, (size_t)(aligned - memory));
    if (slack != (size_t)(aligned - memory)) munmap(aligned + bytes, slack - (size_t)(aligned - memory));
    memory = aligned;
  }
  mprotect(memory + bytes - PAGES_GAP, PAGES_GAP, PROT_NONE);
  *mapped = bytes;
  return memory;
}

void pages_unmap(void* address, size_t mapped) { munmap(address, mapped); }
