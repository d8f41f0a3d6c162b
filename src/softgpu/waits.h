// Waits for memory: the counters that instructions raise until their results are there, and what instructions wait for
// them to come down to, by generation.
#ifndef IREE_C_SOFTGPU_WAITS_H_
#define IREE_C_SOFTGPU_WAITS_H_

#include "isa/amd/isa.h"
#include "softgpu/inst.h"

typedef enum { COUNTER_NONE, COUNTER_LOAD, COUNTER_STORE, COUNTER_LDS, COUNTER_SCALAR, COUNTER_COUNT } counter_t;

// gfx12 counts scalar loads apart; before, they share a counter with LDS.
static inline counter_t waits_scalar_counter(const isa_target_t* target) {
  return target->major >= 12 ? COUNTER_SCALAR : COUNTER_LDS;
}
// Stores count with loads before gfx10.
static inline counter_t waits_store_counter(const isa_target_t* target) {
  return target->major >= 10 ? COUNTER_STORE : COUNTER_LOAD;
}

// How much each counter may be once an instruction is through; WAITS_ANY where it does not wait for that counter.
#define WAITS_ANY UINT32_MAX
typedef struct waits_t {
  uint32_t most[COUNTER_COUNT];
} waits_t;
waits_t waits_of(const isa_target_t* target, const inst_t* inst);

#endif  // IREE_C_SOFTGPU_WAITS_H_
