// State of a vendor packet's indirect buffers, between the files that run them.
#ifndef IREE_C_SOFTGPU_HSA_PM4_H_
#define IREE_C_SOFTGPU_HSA_PM4_H_

#include <stdarg.h>

#include "softgpu/hsa/queue.h"

enum { PM4_SH_REGISTERS = 0x400, PM4_COMPUTE = 0x200, PM4_COMPUTE_REGISTERS = 0x80 };

typedef struct pm4_t {
  queue_t* queue;
  uint64_t index;        // of the vendor packet
  const uint32_t* next;  // a buffer to go on in, instead of this one
  uint32_t next_count;
  uint32_t depth;                           // of buffers within buffers
  uint32_t compute[PM4_COMPUTE_REGISTERS];  // shader registers from 0x2e00 on; none is set when a vendor packet begins
  char message[256];
} pm4_t;

// Keeps the message, and returns false.
bool pm4_refuse(pm4_t* pm4, const char* format, ...) __attribute__((format(printf, 2, 3)));
// Whether the range is memory, and may be written if it is to be.
bool pm4_check_memory(pm4_t* pm4, uint64_t address, uint64_t size, bool writes);

// pm4_dispatch.c: packets, by the words after their header.
bool pm4_set_registers(pm4_t* pm4, const uint32_t* words, uint32_t count);
bool pm4_dispatch_direct(pm4_t* pm4, const uint32_t* words, uint32_t count);
bool pm4_dispatch_indirect(pm4_t* pm4, const uint32_t* words, uint32_t count);

#endif  // IREE_C_SOFTGPU_HSA_PM4_H_
