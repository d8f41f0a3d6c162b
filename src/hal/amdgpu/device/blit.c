// Fills and copies.
//
// A range is bytes up to the first address of the target that is aligned to 16 (`head` of them), words of 16 bytes, and
// bytes behind the last word. Words are a loop that strides by the number of work-items; of the bytes each of the first
// work-items does one, so that there must be at least 16 of them.
#include "device.h"

// Where the target's words are, and what this work-item does of them.
typedef struct part_t {
  uint64_t word_count;
  uint64_t id;        // of the work-item
  uint64_t tail;      // where the bytes behind the words begin
  uint64_t tail_end;  // the range's end
} part_t;

static part_t part_of(uint64_t length, uint32_t head, uint32_t group_size) {
  uint64_t word_count = (length - head) / 16;
  return (part_t){
      .word_count = word_count,
      .id = (uint64_t)__builtin_amdgcn_workgroup_id_x() * group_size + __builtin_amdgcn_workitem_id_x(),
      .tail = head + word_count * 16,
      .tail_end = length,
  };
}

// `low` and `high` are the 16 bytes that repeat from the first word on.
static uint8_t pattern_byte(uint64_t low, uint64_t high, uint64_t at) {
  return (uint8_t)((at & 8 ? high : low) >> (at & 7) * 8);
}

KERNEL(16, 256)
fill(GLOBAL uint8_t* target, uint64_t length, uint64_t item_count, uint32_t head, uint32_t group_size, uint64_t low,
     uint64_t high) {
  part_t part = part_of(length, head, group_size);
  GLOBAL uint32x4_t* words = (GLOBAL uint32x4_t*)(target + head);
  uint32x4_t word = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32)};
  for (uint64_t i = part.id; i < part.word_count; i += item_count) words[i] = word;
  if (part.id < head) target[part.id] = pattern_byte(low, high, part.id + 16 - head);
  uint64_t at = part.tail + part.id;
  if (at < part.tail_end) target[at] = pattern_byte(low, high, at - head);
}

// The source's words may be anywhere; GPUs load them so.
typedef uint32x4_t unaligned_t __attribute__((aligned(1)));

KERNEL(16, 256)
copy(GLOBAL uint8_t* target, uint64_t length, uint64_t item_count, uint32_t head, uint32_t group_size,
     const GLOBAL uint8_t* source) {
  part_t part = part_of(length, head, group_size);
  GLOBAL uint32x4_t* words = (GLOBAL uint32x4_t*)(target + head);
  const GLOBAL unaligned_t* source_words = (const GLOBAL unaligned_t*)(source + head);
  for (uint64_t i = part.id; i < part.word_count; i += item_count) words[i] = source_words[i];
  if (part.id < head) target[part.id] = source[part.id];
  uint64_t at = part.tail + part.id;
  if (at < part.tail_end) target[at] = source[at];
}
