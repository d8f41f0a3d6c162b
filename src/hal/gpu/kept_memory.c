// Memory that is kept, in the order in which it was freed.
#include "hal/gpu/kept_memory.h"

// Of a GPU's memory an eighth is kept at most, within these; of one block, half of that.
#define LEAST_TOTAL ((uint64_t)64 << 20)
#define MOST_TOTAL ((uint64_t)2 << 30)

void gpu_kept_memory_initialize(gpu_kept_memory_t* kept, const gpu_allocator_params_t* params) {
  memset(kept, 0, sizeof(*kept));
  kept->vtable = params->vtable;
  kept->source = params->source;
  kept->most = iree_min(iree_max(params->memory_size / 8, LEAST_TOTAL), MOST_TOTAL);
  iree_slim_mutex_initialize(&kept->mutex);
}

void gpu_kept_memory_deinitialize(gpu_kept_memory_t* kept) {
  gpu_kept_memory_trim(kept);
  iree_slim_mutex_deinitialize(&kept->mutex);
}

// Takes one out, the mutex being held.
static gpu_memory_t remove_at(gpu_kept_memory_t* kept, uint32_t index) {
  gpu_memory_t memory = kept->blocks[index];
  kept->total -= memory.size;
  --kept->count;
  memmove(&kept->blocks[index], &kept->blocks[index + 1], (kept->count - index) * sizeof(kept->blocks[0]));
  return memory;
}

// Frees the oldest blocks, without the mutex, until there is room for `size` bytes in a block. Returns how many.
static uint32_t make_room(gpu_kept_memory_t* kept, uint64_t size, uint32_t most_blocks, uint64_t most_bytes) {
  for (uint32_t freed = 0;; ++freed) {
    iree_slim_mutex_lock(&kept->mutex);
    bool has_room = kept->count < most_blocks && kept->total + size <= most_bytes;
    bool is_empty = kept->count == 0;
    gpu_memory_t oldest = has_room || is_empty ? (gpu_memory_t){0} : remove_at(kept, 0);
    iree_slim_mutex_unlock(&kept->mutex);
    if (has_room || is_empty) return freed;
    kept->vtable->free(kept->source, &oldest);
  }
}

bool gpu_kept_memory_trim(gpu_kept_memory_t* kept) { return make_room(kept, 0, 0, 0) > 0; }

bool gpu_kept_memory_take(gpu_kept_memory_t* kept, gpu_memory_t* memory) {
  bool found = false;
  iree_slim_mutex_lock(&kept->mutex);
  for (uint32_t i = kept->count; i-- > 0 && !found;) {
    const gpu_memory_t* block = &kept->blocks[i];
    found = block->type == memory->type && block->physical == memory->physical && block->size == memory->size &&
            iree_device_size_has_alignment(block->address, memory->alignment);
    if (!found) continue;
    gpu_memory_t taken = remove_at(kept, i);
    taken.length = memory->length;
    *memory = taken;
  }
  iree_slim_mutex_unlock(&kept->mutex);
  return found;
}

void gpu_kept_memory_give(gpu_kept_memory_t* kept, const gpu_memory_t* memory) {
  bool keeps = memory->size <= kept->most / 2 && !memory->is_exported;
  if (keeps) {
    make_room(kept, memory->size, GPU_KEPT_BLOCKS, kept->most);
    iree_slim_mutex_lock(&kept->mutex);
    keeps = kept->count < GPU_KEPT_BLOCKS;  // unless others were as fast
    if (keeps) {
      kept->blocks[kept->count++] = *memory;
      kept->total += memory->size;
    }
    iree_slim_mutex_unlock(&kept->mutex);
  }
  if (!keeps) kept->vtable->free(kept->source, memory);
}
