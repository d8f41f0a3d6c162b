// PM4 packets of type 3 in indirect buffers: what drivers put between dispatches. Source: the opcodes of the Linux
// kernel's amdgpu driver (nvd.h, soc15d.h).
#include <stdio.h>
#include <string.h>

#include "softgpu/hsa/queue.h"

// Words after the header; `count` of them.
typedef bool (*pm4_run_t)(queue_t* queue, const uint32_t* words, uint32_t count, char* message, size_t capacity);

static uint64_t pair(const uint32_t* words) { return words[0] | (uint64_t)words[1] << 32; }

static bool check_range(queue_t* queue, uint64_t address, uint64_t size, char* message, size_t capacity) {
  memory_range_t range;
  if (memory_map_find(runtime.memory, address, &range) && size <= range.base + range.size - address) return true;
  snprintf(message, capacity, "a PM4 packet names address 0x%llx, which is no memory of the GPU",
           (unsigned long long)address);
  return false;
}

static bool run_nothing(queue_t* queue, const uint32_t* words, uint32_t count, char* message, size_t capacity) {
  return true;
}

// WRITE_DATA: control, address, data...; destination 5 is memory, 2 as well.
static bool run_write_data(queue_t* queue, const uint32_t* words, uint32_t count, char* message, size_t capacity) {
  if (count < 4) return snprintf(message, capacity, "PM4 WRITE_DATA without data"), false;
  uint64_t address = pair(words + 1) & ~UINT64_C(3);
  if (!check_range(queue, address, (count - 3) * 4, message, capacity)) return false;
  memcpy((void*)address, words + 3, (count - 3) * 4);
  signal_notify();
  return true;
}

// COPY_DATA: control (source 3:0, destination 11:8, 64 bits 16), source, destination. Source 9 is the GPU's clock, 5
// an immediate value, 1 and 2 memory.
static bool run_copy_data(queue_t* queue, const uint32_t* words, uint32_t count, char* message, size_t capacity) {
  if (count < 5) return snprintf(message, capacity, "PM4 COPY_DATA of %u words", count), false;
  uint32_t source = words[0] & 15, target = words[0] >> 8 & 15, size = words[0] >> 16 & 1 ? 8 : 4;
  uint64_t from = pair(words + 1), to = pair(words + 3), value = 0;
  if (source == 9) {
    value = runtime_ticks();
  } else if (source == 5) {
    value = from;
  } else if (source == 1 || source == 2) {
    if (!check_range(queue, from, size, message, capacity)) return false;
    memcpy(&value, (void*)from, size);
  } else {
    return snprintf(message, capacity, "PM4 COPY_DATA from source %u is not supported", source), false;
  }
  if (target != 1 && target != 2 && target != 5) {
    return snprintf(message, capacity, "PM4 COPY_DATA to destination %u is not supported", target), false;
  }
  if (!check_range(queue, to, size, message, capacity)) return false;
  memcpy((void*)to, &value, size);
  signal_notify();
  return true;
}

static bool compare(uint32_t function, uint64_t value, uint64_t reference) {
  switch (function) {
    case 1:
      return value < reference;
    case 2:
      return value <= reference;
    case 3:
      return value == reference;
    case 4:
      return value != reference;
    case 5:
      return value >= reference;
    case 6:
      return value > reference;
    default:
      return true;
  }
}

static bool wait_memory(queue_t* queue, uint32_t function, uint64_t address, uint64_t mask, uint64_t reference,
                        uint32_t size, char* message, size_t capacity) {
  if (!check_range(queue, address, size, message, capacity)) return false;
  for (uint32_t steps = 0;;) {
    uint64_t value = size == 8 ? __atomic_load_n((uint64_t*)address, __ATOMIC_ACQUIRE)
                               : __atomic_load_n((uint32_t*)address, __ATOMIC_ACQUIRE);
    if (compare(function, value & mask, reference)) return true;
    if (!queue_wait_step(queue, &steps)) return message[0] = 0, false;
  }
}

// WAIT_REG_MEM: control (function 2:0, memory 4), address, reference, mask, poll interval.
static bool run_wait32(queue_t* queue, const uint32_t* words, uint32_t count, char* message, size_t capacity) {
  if (count < 6 || !(words[0] >> 4 & 1)) return snprintf(message, capacity, "PM4 WAIT_REG_MEM on a register"), false;
  return wait_memory(queue, words[0] & 7, pair(words + 1) & ~UINT64_C(3), words[4], words[3], 4, message, capacity);
}

static bool run_wait64(queue_t* queue, const uint32_t* words, uint32_t count, char* message, size_t capacity) {
  if (count < 8 || !(words[0] >> 4 & 1)) return snprintf(message, capacity, "PM4 WAIT_REG_MEM64 on a register"), false;
  return wait_memory(queue, words[0] & 7, pair(words + 1) & ~UINT64_C(7), pair(words + 5), pair(words + 3), 8, message,
                     capacity);
}

// RELEASE_MEM: event, control (data 31:29: 1 32 bits, 2 64 bits, 3 the clock), address, data.
static bool run_release(queue_t* queue, const uint32_t* words, uint32_t count, char* message, size_t capacity) {
  if (count < 6) return snprintf(message, capacity, "PM4 RELEASE_MEM of %u words", count), false;
  uint32_t select = words[1] >> 29;
  uint64_t address = pair(words + 2), value = select == 3 ? runtime_ticks() : pair(words + 4);
  uint32_t size = select == 1 ? 4 : 8;
  if (!select) return true;
  if (select > 3) return snprintf(message, capacity, "PM4 RELEASE_MEM of data %u is not supported", select), false;
  if (!check_range(queue, address, size, message, capacity)) return false;
  memcpy((void*)address, &value, size);
  signal_notify();
  return true;
}

// DMA_DATA: control, source, destination, size. Source select 30:29 (2: the data itself).
static bool run_dma(queue_t* queue, const uint32_t* words, uint32_t count, char* message, size_t capacity) {
  if (count < 6) return snprintf(message, capacity, "PM4 DMA_DATA of %u words", count), false;
  uint64_t from = pair(words + 1), to = pair(words + 3);
  uint32_t size = words[5] & 0x3ffffff;
  if (!check_range(queue, to, size, message, capacity)) return false;
  if ((words[0] >> 29 & 3) == 2) {
    for (uint32_t i = 0; i + 4 <= size; i += 4) memcpy((char*)to + i, &words[1], 4);
    return true;
  }
  if (!check_range(queue, from, size, message, capacity)) return false;
  memmove((void*)to, (void*)from, size);
  return true;
}

// ATOMIC_MEM: operation 6:0, address, data.
static bool run_atomic(queue_t* queue, const uint32_t* words, uint32_t count, char* message, size_t capacity) {
  if (count < 5) return snprintf(message, capacity, "PM4 ATOMIC_MEM of %u words", count), false;
  uint32_t operation = words[0] & 127;
  uint64_t address = pair(words + 1), data = pair(words + 3);
  bool wide = operation & 32;
  if (!check_range(queue, address, wide ? 8 : 4, message, capacity)) return false;
  switch (operation & ~32u) {
    case 15:
      if (wide) __atomic_fetch_add((uint64_t*)address, data, __ATOMIC_ACQ_REL);
      if (!wide) __atomic_fetch_add((uint32_t*)address, (uint32_t)data, __ATOMIC_ACQ_REL);
      break;
    case 16:
      if (wide) __atomic_fetch_sub((uint64_t*)address, data, __ATOMIC_ACQ_REL);
      if (!wide) __atomic_fetch_sub((uint32_t*)address, (uint32_t)data, __ATOMIC_ACQ_REL);
      break;
    default:
      return snprintf(message, capacity, "PM4 ATOMIC_MEM operation %u is not supported", operation), false;
  }
  signal_notify();
  return true;
}

static bool run_indirect(queue_t* queue, const uint32_t* words, uint32_t count, char* message, size_t capacity) {
  if (count < 3) return snprintf(message, capacity, "PM4 INDIRECT_BUFFER of %u words", count), false;
  uint64_t address = (words[0] & ~3u) | (uint64_t)(words[1] & 0xffff) << 32;
  return pm4_run(queue, (const uint32_t*)address, words[2] & 0xfffff, message, capacity);
}

// OPCODE(number, name, function); a function of refuse means that the packet is known and not supported. Registers are
// kept by nobody: they set up dispatches by PM4 and performance counters, which are refused where they would be used.
#define PM4_OPCODES(OPCODE)                   \
  OPCODE(0x10, NOP, run_nothing)              \
  OPCODE(0x12, CLEAR_STATE, run_nothing)      \
  OPCODE(0x15, DISPATCH_DIRECT, refuse)       \
  OPCODE(0x16, DISPATCH_INDIRECT, refuse)     \
  OPCODE(0x1e, ATOMIC_MEM, run_atomic)        \
  OPCODE(0x28, CONTEXT_CONTROL, run_nothing)  \
  OPCODE(0x37, WRITE_DATA, run_write_data)    \
  OPCODE(0x3c, WAIT_REG_MEM, run_wait32)      \
  OPCODE(0x3f, INDIRECT_BUFFER, run_indirect) \
  OPCODE(0x40, COPY_DATA, run_copy_data)      \
  OPCODE(0x42, PFP_SYNC_ME, run_nothing)      \
  OPCODE(0x46, EVENT_WRITE, run_nothing)      \
  OPCODE(0x49, RELEASE_MEM, run_release)      \
  OPCODE(0x50, DMA_DATA, run_dma)             \
  OPCODE(0x58, ACQUIRE_MEM, run_nothing)      \
  OPCODE(0x76, SET_SH_REG, run_nothing)       \
  OPCODE(0x79, SET_UCONFIG_REG, run_nothing)  \
  OPCODE(0x93, WAIT_REG_MEM64, run_wait64)

static bool refuse(queue_t* queue, const uint32_t* words, uint32_t count, char* message, size_t capacity) {
  return false;
}

static const struct {
  uint8_t number;
  const char* name;
  pm4_run_t run;
} opcodes[] = {
#define OPCODE(number, name, run) {number, #name, run},
    PM4_OPCODES(OPCODE)
#undef OPCODE
};
enum { OPCODE_COUNT = sizeof(opcodes) / sizeof(opcodes[0]) };

bool pm4_run(queue_t* queue, const uint32_t* words, uint32_t count, char* message, size_t capacity) {
  static __thread int depth;
  message[0] = 0;
  if (!check_range(queue, (uint64_t)words, count * 4ull, message, capacity)) return false;
  if (depth > 4) return snprintf(message, capacity, "PM4 indirect buffers nest too deep"), false;
  for (uint32_t at = 0; at < count;) {
    uint32_t header = words[at], size = (header >> 16 & 0x3fff) + 1, opcode = header >> 8 & 255;
    if (header >> 30 == 2) {
      ++at;
      continue;
    }
    if (header == 0xffff1000) {  // a NOP of one word
      ++at;
      continue;
    }
    size_t known = 0;
    while (known < OPCODE_COUNT && opcodes[known].number != opcode) ++known;
    if (header >> 30 != 3 || known == OPCODE_COUNT || opcodes[known].run == refuse) {
      snprintf(message, capacity, "PM4 packet 0x%08x (%s, opcode 0x%02x) is not supported", header,
               known < OPCODE_COUNT ? opcodes[known].name : "unknown", opcode);
      return false;
    }
    if (size > count - at - 1) return snprintf(message, capacity, "PM4 packet 0x%08x is cut off", header), false;
    ++depth;
    bool done = opcodes[known].run(queue, words + at + 1, size, message, capacity);
    --depth;
    if (!done) return false;
    at += 1 + size;
  }
  return true;
}
