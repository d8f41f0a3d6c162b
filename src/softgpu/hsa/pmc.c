// Performance counters of a GPU: the engine's sums.
#include "softgpu/hsa/pmc.h"

#include "softgpu/engine.h"

void pmc_write(engine_t* engine, uint32_t reg, uint32_t value) {
  if (reg != PMC_CONTROL) return;
  if (value == PMC_CONTROL_START) engine_count(engine, true);
  if (value == PMC_CONTROL_STOP) engine_count(engine, false);
}

bool pmc_read(engine_t* engine, uint32_t reg, uint64_t* out_value) {
  engine_counters_t counters;
  const engine_counters_t* c = &counters;
  engine_counters(engine, &counters);
  const uint64_t values[] = {
#define COUNTER(name, block, unit, gfx9, gfx908, gfx90a, gfx940, gfx10, gfx11, counted, description) counted,
#include "base/processors/amd_counters.def"
  };
  uint32_t index = (reg - PMC_FIRST) / 2;
  if (reg < PMC_FIRST || reg % 2 || index >= sizeof(values) / sizeof(values[0])) return false;
  *out_value = values[index];
  return true;
}
