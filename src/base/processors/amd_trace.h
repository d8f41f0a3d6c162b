// Traces of instructions on software AMD GPUs: what their libhsa-amd-aqlprofile64 gives as the data of a thread trace,
// where hardware gives tokens of its own. Times are cycles of a model, from the dispatch's beginning on.
//
//   amd_trace_head_t, instructions, waves, events, text
//
// Little endian, packed as C packs them. A trace of several dispatches is one of these after the other.
#ifndef IREE_C_BASE_PROCESSORS_AMD_TRACE_H_
#define IREE_C_BASE_PROCESSORS_AMD_TRACE_H_

#include <stdbool.h>
#include <stdint.h>

enum {
#define CATEGORY(id, name) AMD_TRACE_CATEGORY_##id,
#include "base/processors/amd_trace.def"
  AMD_TRACE_CATEGORIES
};
enum {
#define CAUSE(id, name, what) AMD_TRACE_CAUSE_##id,
#include "base/processors/amd_trace.def"
  AMD_TRACE_CAUSES
};
// Constant texts; those of numbers that are none of theirs are those of 0.
const char* amd_trace_category_name(uint32_t category);
const char* amd_trace_cause_name(uint32_t cause);
const char* amd_trace_cause_text(uint32_t cause);

#define AMD_TRACE_MAGIC UINT64_C(0x3145434152544753)  // "SGTRACE1"
enum { AMD_TRACE_CUT = 1 };                           // waves had more events than there was room for
typedef struct amd_trace_head_t {
  uint64_t magic;
  uint64_t size;    // bytes, with everything
  uint64_t cycles;  // until the last wave had ended
  char target[16];  // "gfx1100"
  uint32_t flags;   // AMD_TRACE_*
  uint32_t lanes;   // of a wave
  uint32_t instruction_count, wave_count, event_count, text_size;
} amd_trace_head_t;

// An instruction; texts are parts of the text at the end.
typedef struct amd_trace_instruction_t {
  uint64_t address;      // in its code object, or in memory where that was not told
  uint64_t code_object;  // its number, or 0
  uint32_t text, text_length;
  uint32_t place, place_length;  // "file:line", or empty
  uint32_t category;             // AMD_TRACE_CATEGORY_*
  uint32_t reserved;
} amd_trace_instruction_t;

typedef struct amd_trace_wave_t {
  uint32_t workgroup[3], index;  // of the wave in it
  uint32_t simd;
  uint32_t first_event, event_count;
  uint32_t reserved;
  uint64_t begin, end;
} amd_trace_wave_t;

// A wave came to an instruction at `time`, stood before it for `stall` and then issued it, which took `issue`.
typedef struct amd_trace_event_t {
  uint32_t instruction;  // in the table
  uint32_t time, stall;
  uint16_t issue;
  uint8_t cause;  // AMD_TRACE_CAUSE_*
  uint8_t reserved;
} amd_trace_event_t;

_Static_assert(sizeof(amd_trace_head_t) == 64 && sizeof(amd_trace_instruction_t) == 40 &&
                   sizeof(amd_trace_wave_t) == 48 && sizeof(amd_trace_event_t) == 16,
               "is part of the format");

// A trace's parts, in the bytes that hold it.
typedef struct amd_trace_t {
  amd_trace_head_t head;
  const uint8_t *instructions, *waves, *events;  // not aligned
  const char* text;
} amd_trace_t;
// Takes the trace that `data` begins with. False when it is none, or damaged: all that its parts refer to is checked.
bool amd_trace_read(const void* data, uint64_t size, amd_trace_t* out_trace);

#endif  // IREE_C_BASE_PROCESSORS_AMD_TRACE_H_
