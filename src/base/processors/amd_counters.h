// Counters of AMD GPUs by name, for the driver and for what counts on software GPUs.
#ifndef IREE_C_BASE_PROCESSORS_AMD_COUNTERS_H_
#define IREE_C_BASE_PROCESSORS_AMD_COUNTERS_H_

#include <stdint.h>

enum {
  AMD_COUNTER_GFX9,
  AMD_COUNTER_GFX908,
  AMD_COUNTER_GFX90A,
  AMD_COUNTER_GFX940,
  AMD_COUNTER_GFX10,
  AMD_COUNTER_GFX11,
  AMD_COUNTER_FAMILIES
};
typedef enum { AMD_COUNTER_COUNT = 1, AMD_COUNTER_CYCLES, AMD_COUNTER_BYTES } amd_counter_unit_t;
// Numbers of blocks of hardware (hsa_ven_amd_aqlprofile.h).
enum { AMD_COUNTER_GRBM = 3, AMD_COUNTER_SQ = 6 };

typedef struct amd_counter_t {
  const char* name;
  const char* block;
  const char* description;
  uint32_t block_number;
  amd_counter_unit_t unit;
  int32_t events[AMD_COUNTER_FAMILIES];
} amd_counter_t;

// The rows of amd_counters.def; NULL behind the last one.
const amd_counter_t* amd_counter_at(uint32_t index);
// The event of a processor ("gfx90a") that counts row `index`. Where no hardware is known to have one, an event that
// software GPUs have, which hardware's library refuses.
uint32_t amd_counter_event(uint32_t index, const char* processor);

#endif  // IREE_C_BASE_PROCESSORS_AMD_COUNTERS_H_
