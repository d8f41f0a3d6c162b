// What an atomic operation makes of what is in memory: update_NAME from a row of isa/amd/memory.def.
#ifndef IREE_C_SOFTGPU_ATOMIC_UPDATE_H_
#define IREE_C_SOFTGPU_ATOMIC_UPDATE_H_

#include <stdint.h>

// By a row's kind, which also says whether there is a second operand.
#define TYPE_32 uint32_t
#define TYPE_64 uint64_t
#define TYPE_CMPSWAP32 uint32_t
#define TYPE_CMPSWAP64 uint64_t
#define TYPE_MASK32 uint32_t
#define TYPE_MASK64 uint64_t

// The row's expression knows what is there as a, the operands as b and c.
#define ATOMIC_UPDATE(name, kind, expression)                                         \
  static uint64_t update_##name(uint64_t old, uint64_t data, uint64_t second) {       \
    TYPE_##kind a = (TYPE_##kind)old, b = (TYPE_##kind)data, c = (TYPE_##kind)second; \
    (void)a, (void)b, (void)c;                                                        \
    return (TYPE_##kind)(expression);                                                 \
  }

#endif  // IREE_C_SOFTGPU_ATOMIC_UPDATE_H_
