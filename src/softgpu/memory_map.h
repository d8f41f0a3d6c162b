// Which addresses of the process a GPU may touch: tables of ranges that the HSA side keeps and that accesses are
// checked against. There are two layers: what the runtime allocated, and below it what the process locked of its own
// memory, which counts only where the runtime has nothing. Lookups take no lock and may run beside changes.
#ifndef IREE_C_SOFTGPU_MEMORY_MAP_H_
#define IREE_C_SOFTGPU_MEMORY_MAP_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct memory_map_t memory_map_t;

typedef struct memory_range_t {
  uint64_t base, size;  // bytes
  uint64_t agents;      // bit for each GPU that may access it
  bool writable;
  const char* kind;  // "device memory", "kernel arguments", ...; constant text
} memory_range_t;

memory_map_t* memory_map_create(void);
void memory_map_destroy(memory_map_t* map);
// Ranges may not overlap; false when one would, or memory is short.
bool memory_map_insert(memory_map_t* map, const memory_range_t* range);
// Replaces `agents` and `writable` of the range that begins at `base`.
bool memory_map_update(memory_map_t* map, uint64_t base, uint64_t agents, bool writable);
bool memory_map_remove(memory_map_t* map, uint64_t base);
// Makes `count` ranges, in the order of addresses, all that the layer below has from `begin` to before `end`: to
// lookups in one step. False when memory is short.
bool memory_map_replace_below(memory_map_t* map, uint64_t begin, uint64_t end, const memory_range_t* with,
                              uint32_t count);
// The range that holds `address`; else false, and `out` is the nearest one below (size 0 when there is none).
bool memory_map_find(memory_map_t* map, uint64_t address, memory_range_t* out);

#endif  // IREE_C_SOFTGPU_MEMORY_MAP_H_
