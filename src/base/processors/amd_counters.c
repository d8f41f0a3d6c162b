// Counters of AMD GPUs (amd_counters.def).
#include "base/processors/amd_counters.h"

#include <stddef.h>
#include <string.h>

static const amd_counter_t counters[] = {
#define COUNTER(name, block, unit, gfx9, gfx908, gfx90a, gfx940, gfx10, gfx11, counted, description) \
  {#name, #block, description, AMD_COUNTER_##block, AMD_COUNTER_##unit, {gfx9, gfx908, gfx90a, gfx940, gfx10, gfx11}},
#include "base/processors/amd_counters.def"
};
enum { COUNTERS = sizeof(counters) / sizeof(counters[0]) };

enum { SOFTWARE_EVENTS = 0x8000 };

const amd_counter_t* amd_counter_at(uint32_t index) { return index < COUNTERS ? &counters[index] : NULL; }

// Processors by what their names begin with.
static int32_t find_family(const char* processor) {
  static const struct {
    const char* prefix;
    int32_t family;
  } rows[] = {
      {"gfx908", AMD_COUNTER_GFX908}, {"gfx90a", AMD_COUNTER_GFX90A}, {"gfx90", AMD_COUNTER_GFX9},
      {"gfx94", AMD_COUNTER_GFX940},  {"gfx10", AMD_COUNTER_GFX10},   {"gfx11", AMD_COUNTER_GFX11},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    if (strncmp(processor, rows[i].prefix, strlen(rows[i].prefix)) == 0) return rows[i].family;
  }
  return -1;
}

uint32_t amd_counter_event(uint32_t index, const char* processor) {
  int32_t family = find_family(processor);
  int32_t event = family < 0 ? -1 : counters[index].events[family];
  return event < 0 ? SOFTWARE_EVENTS + index : (uint32_t)event;
}
