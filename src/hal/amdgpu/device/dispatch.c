// Dispatches whose workgroup counts are in memory: the packet is in the queue, complete but for its grid and its first
// word, and the queue stands before it until that word is there.
#include "device.h"

enum { PACKET_TYPE_BARRIER_AND = 3, NO_OFFSET = 0xFFFF };

typedef struct packet_t {
  uint32_t head;  // type and fences; below the number of dimensions
  uint16_t workgroup_size[3];
  uint16_t reserved;
  uint32_t grid_size[3];
  uint32_t rest[8];
  uint64_t completion_signal;
} packet_t;

// One work-item. A grid of nothing becomes a packet that does nothing, and so does one that is too large, with a word
// in `verdict`. `hidden` are three offsets of arguments of the kernel that are the counts.
KERNEL(1, 1)
patch_grid(GLOBAL packet_t* packet, const GLOBAL uint32_t* counts, GLOBAL uint8_t* kernargs, GLOBAL uint32_t* verdict,
           uint64_t hidden, uint32_t head) {
  uint64_t grid[3];
  int is_empty = 0, is_too_large = 0;
  for (int i = 0; i < 3; ++i) {
    uint32_t count = counts[i];
    grid[i] = (uint64_t)count * packet->workgroup_size[i];
    is_empty |= count == 0;
    is_too_large |= grid[i] >> 32 != 0;
    uint32_t offset = (uint32_t)(hidden >> i * 16) & 0xFFFF;
    if (offset != NO_OFFSET) *(GLOBAL uint32_t*)(kernargs + offset) = count;
  }
  if (is_too_large && !is_empty) *verdict = 1;
  if (is_empty || is_too_large) {
    head = (head & 0xFF00) | PACKET_TYPE_BARRIER_AND;
    GLOBAL uint32_t* words = (GLOBAL uint32_t*)packet;
    for (int i = 1; i < 14; ++i) words[i] = 0;
  } else {
    for (int i = 0; i < 3; ++i) packet->grid_size[i] = (uint32_t)grid[i];
  }
  __atomic_store_n(&packet->head, head, __ATOMIC_RELEASE);  // of the whole system's scope
}
