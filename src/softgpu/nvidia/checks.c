// Instructions under checks, and counted.
#include "softgpu/nvidia/warp.h"

const inst_t* check_run(warp_t* w, const inst_t* inst) {
  nv_counters_t* counters = w->block->counters;
  if (counters) {
    ++counters->instructions;
    counters->lanes += (uint64_t)__builtin_popcount(w->exec);
  }
  return inst->run(w, inst);
}
