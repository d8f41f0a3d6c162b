// Registers of performance counters, between the packets that libhsa-amd-aqlprofile64.so makes (softgpu/aqlprofile) and
// the GPU that runs them. Where hardware has registers of the two kinds, too, though not for these events.
#ifndef IREE_C_SOFTGPU_HSA_PMC_H_
#define IREE_C_SOFTGPU_HSA_PMC_H_

#include <stdbool.h>
#include <stdint.h>

// Written by SET_UCONFIG_REG, counted from PMC_UCONFIG on: begins or ends counting. Every begin needs an end.
enum { PMC_UCONFIG = 0xc000, PMC_CONTROL = 0xd808, PMC_CONTROL_START = 1, PMC_CONTROL_STOP = 2 };
// Read by COPY_DATA from PMC_SOURCE: the lower half of each row of base/processors/amd_counters.def.
enum { PMC_SOURCE = 4, PMC_FIRST = 0xd000 };

typedef struct engine_t engine_t;
// A write to a register: those of others are kept by nobody.
void pmc_write(engine_t* engine, uint32_t reg, uint32_t value);
// The sum in a register; false when it is none of a counter.
bool pmc_read(engine_t* engine, uint32_t reg, uint64_t* out_value);

#endif  // IREE_C_SOFTGPU_HSA_PMC_H_
