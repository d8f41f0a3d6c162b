// PM4 packets of type 3 in indirect buffers: dispatches, and what drivers put between them. Source: the opcodes of the
// Linux kernel's amdgpu driver (nvd.h, soc15d.h).
//
// Words are read where they lie when their packet's turn comes: a dispatch may write those of a later packet.
#include "softgpu/hsa/pm4.h"

#include <stdio.h>
#include <string.h>

#include "softgpu/hsa/pmc.h"

enum { PM4_MAX_DEPTH = 5 };

bool pm4_refuse(pm4_t* pm4, const char* format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(pm4->message, sizeof(pm4->message), format, args);
  va_end(args);
  return false;
}

static uint64_t pair(const uint32_t* words) { return words[0] | (uint64_t)words[1] << 32; }

bool pm4_check_memory(pm4_t* pm4, uint64_t address, uint64_t size, bool writes) {
  memory_range_t range;
  if (!memory_map_find(runtime.memory, address, &range) || size > range.base + range.size - address) {
    return pm4_refuse(pm4, "a PM4 packet names address 0x%llx, which is no memory of the GPU",
                      (unsigned long long)address);
  }
  return !writes || range.writable ||
         pm4_refuse(pm4, "a PM4 packet writes to address 0x%llx, which may only be read", (unsigned long long)address);
}

static bool run_nothing(pm4_t* pm4, const uint32_t* words, uint32_t count) { return true; }

// WRITE_DATA: control (destination 11:8, 16 all words to one address), address, data...; destination 5 is memory, 2 as
// well.
static bool run_write_data(pm4_t* pm4, const uint32_t* words, uint32_t count) {
  if (count < 4) return pm4_refuse(pm4, "PM4 WRITE_DATA without data");
  uint32_t target = words[0] >> 8 & 15, data = count - 3;
  if (target != 2 && target != 5) return pm4_refuse(pm4, "PM4 WRITE_DATA to destination %u is not supported", target);
  uint64_t address = pair(words + 1) & ~UINT64_C(3);
  bool is_one = words[0] >> 16 & 1;
  if (!pm4_check_memory(pm4, address, is_one ? 4 : data * 4, true)) return false;
  memcpy((void*)address, words + (is_one ? count - 1 : 3), is_one ? 4 : data * 4);
  signal_notify();
  return true;
}

// SET_UCONFIG_REG: first register 15:0, values.
static bool run_set_uconfig(pm4_t* pm4, const uint32_t* words, uint32_t count) {
  uint32_t first = PMC_UCONFIG + (words[0] & 0xffff);
  for (uint32_t i = 1; i < count; ++i) {
    pmc_write(pm4->queue->agent->engine, first + i - 1, words[i]);
    if (!thread_trace_write(pm4, first + i - 1, words[i])) return false;
  }
  return true;
}

// COPY_DATA: control (source 3:0, destination 11:8, 64 bits 16), source, destination. Source 9 is the GPU's clock, 5
// an immediate value, 1 and 2 memory, 4 a performance counter's register.
static bool run_copy_data(pm4_t* pm4, const uint32_t* words, uint32_t count) {
  if (count < 5) return pm4_refuse(pm4, "PM4 COPY_DATA of %u words", count);
  uint32_t source = words[0] & 15, target = words[0] >> 8 & 15, size = words[0] >> 16 & 1 ? 8 : 4;
  uint64_t from = pair(words + 1), to = pair(words + 3), value = 0;
  if (source == 9) {
    value = runtime_ticks();
  } else if (source == 5) {
    value = from;
  } else if (source == PMC_SOURCE) {
    if (!pmc_read(pm4->queue->agent->engine, (uint32_t)from, &value)) {
      return pm4_refuse(pm4, "PM4 COPY_DATA from register 0x%x: it is no performance counter's", (uint32_t)from);
    }
  } else if (source == 1 || source == 2) {
    if (!pm4_check_memory(pm4, from, size, false)) return false;
    memcpy(&value, (void*)from, size);
  } else {
    return pm4_refuse(pm4, "PM4 COPY_DATA from source %u is not supported", source);
  }
  if (target != 1 && target != 2 && target != 5) {
    return pm4_refuse(pm4, "PM4 COPY_DATA to destination %u is not supported", target);
  }
  if (!pm4_check_memory(pm4, to, size, true)) return false;
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

// `value` and `mask` follow the address, of `size` bytes each.
static bool wait_memory(pm4_t* pm4, const uint32_t* words, uint32_t size) {
  uint32_t function = words[0] & 7;
  uint64_t address = pair(words + 1) & ~(uint64_t)(size - 1);
  uint64_t reference = size == 8 ? pair(words + 3) : words[3], mask = size == 8 ? pair(words + 5) : words[4];
  for (uint32_t steps = 0;;) {
    if (!pm4_check_memory(pm4, address, size, false)) return false;
    uint64_t value = size == 8 ? __atomic_load_n((uint64_t*)address, __ATOMIC_ACQUIRE)
                               : __atomic_load_n((uint32_t*)address, __ATOMIC_ACQUIRE);
    if (compare(function, value & mask, reference)) return true;
    if (!queue_wait_step(pm4->queue, &steps)) return false;
  }
}

// WAIT_REG_MEM: control (function 2:0, memory 4), address, reference, mask, poll interval.
static bool run_wait32(pm4_t* pm4, const uint32_t* words, uint32_t count) {
  if (count < 6 || !(words[0] >> 4 & 1)) return pm4_refuse(pm4, "PM4 WAIT_REG_MEM on a register");
  return wait_memory(pm4, words, 4);
}

static bool run_wait64(pm4_t* pm4, const uint32_t* words, uint32_t count) {
  if (count < 8 || !(words[0] >> 4 & 1)) return pm4_refuse(pm4, "PM4 WAIT_REG_MEM64 on a register");
  return wait_memory(pm4, words, 8);
}

// RELEASE_MEM: event, control (data 31:29: 1 32 bits, 2 64 bits, 3 the clock), address, data.
static bool run_release(pm4_t* pm4, const uint32_t* words, uint32_t count) {
  if (count < 6) return pm4_refuse(pm4, "PM4 RELEASE_MEM of %u words", count);
  uint32_t select = words[1] >> 29;
  uint64_t address = pair(words + 2), value = select == 3 ? runtime_ticks() : pair(words + 4);
  uint32_t size = select == 1 ? 4 : 8;
  if (!select) return true;
  if (select > 3) return pm4_refuse(pm4, "PM4 RELEASE_MEM of data %u is not supported", select);
  if (!pm4_check_memory(pm4, address, size, true)) return false;
  memcpy((void*)address, &value, size);
  signal_notify();
  return true;
}

// DMA_DATA: control, source, destination, size. Source select 30:29 (2: the data itself).
static bool run_dma(pm4_t* pm4, const uint32_t* words, uint32_t count) {
  if (count < 6) return pm4_refuse(pm4, "PM4 DMA_DATA of %u words", count);
  uint64_t from = pair(words + 1), to = pair(words + 3);
  uint32_t size = words[5] & 0x3ffffff;
  if (!pm4_check_memory(pm4, to, size, true)) return false;
  if ((words[0] >> 29 & 3) == 2) {
    for (uint32_t i = 0; i + 4 <= size; i += 4) memcpy((char*)to + i, &words[1], 4);
    return true;
  }
  if (!pm4_check_memory(pm4, from, size, false)) return false;
  memmove((void*)to, (void*)from, size);
  return true;
}

// ATOMIC_MEM: operation 6:0, address, data.
static bool run_atomic(pm4_t* pm4, const uint32_t* words, uint32_t count) {
  if (count < 5) return pm4_refuse(pm4, "PM4 ATOMIC_MEM of %u words", count);
  uint32_t operation = words[0] & 127;
  bool wide = operation & 32;
  uint64_t address = pair(words + 1) & ~(wide ? UINT64_C(7) : UINT64_C(3)), data = pair(words + 3);
  if (!pm4_check_memory(pm4, address, wide ? 8 : 4, true)) return false;
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
      return pm4_refuse(pm4, "PM4 ATOMIC_MEM operation %u is not supported", operation);
  }
  signal_notify();
  return true;
}

static bool run_words(pm4_t* pm4, const uint32_t* words, uint32_t count);

// INDIRECT_BUFFER: address, control (words 19:0, 20 goes on there and never comes back).
static bool run_indirect(pm4_t* pm4, const uint32_t* words, uint32_t count) {
  if (count < 3) return pm4_refuse(pm4, "PM4 INDIRECT_BUFFER of %u words", count);
  const uint32_t* next = (const uint32_t*)((words[0] & ~3u) | (uint64_t)(words[1] & 0xffff) << 32);
  uint32_t size = words[2] & 0xfffff;
  if (words[2] >> 20 & 1) {
    pm4->next = next, pm4->next_count = size;
    return true;
  }
  if (pm4->depth == PM4_MAX_DEPTH) return pm4_refuse(pm4, "PM4 indirect buffers nest too deep");
  ++pm4->depth;
  bool done = run_words(pm4, next, size);
  --pm4->depth;
  return done;
}

// OPCODE(number, name, function)
#define PM4_OPCODES(OPCODE)                              \
  OPCODE(0x10, NOP, run_nothing)                         \
  OPCODE(0x12, CLEAR_STATE, run_nothing)                 \
  OPCODE(0x15, DISPATCH_DIRECT, pm4_dispatch_direct)     \
  OPCODE(0x16, DISPATCH_INDIRECT, pm4_dispatch_indirect) \
  OPCODE(0x1e, ATOMIC_MEM, run_atomic)                   \
  OPCODE(0x28, CONTEXT_CONTROL, run_nothing)             \
  OPCODE(0x37, WRITE_DATA, run_write_data)               \
  OPCODE(0x3c, WAIT_REG_MEM, run_wait32)                 \
  OPCODE(0x3f, INDIRECT_BUFFER, run_indirect)            \
  OPCODE(0x40, COPY_DATA, run_copy_data)                 \
  OPCODE(0x42, PFP_SYNC_ME, run_nothing)                 \
  OPCODE(0x46, EVENT_WRITE, run_nothing)                 \
  OPCODE(0x49, RELEASE_MEM, run_release)                 \
  OPCODE(0x50, DMA_DATA, run_dma)                        \
  OPCODE(0x58, ACQUIRE_MEM, run_nothing)                 \
  OPCODE(0x76, SET_SH_REG, pm4_set_registers)            \
  OPCODE(0x79, SET_UCONFIG_REG, run_set_uconfig)         \
  OPCODE(0x93, WAIT_REG_MEM64, run_wait64)               \
  OPCODE(0x9b, SET_SH_REG_INDEX, pm4_set_registers)

// Words after the header; `count` of them. False after pm4_refuse, or when the queue was told or is to stop.
typedef bool (*pm4_run_t)(pm4_t* pm4, const uint32_t* words, uint32_t count);

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

// Runs the packet at words[0] of `count`; 0 after a failure, else its size.
static uint32_t run_packet(pm4_t* pm4, const uint32_t* words, uint32_t count) {
  uint32_t header = words[0], size = (header >> 16 & 0x3fff) + 1, opcode = header >> 8 & 255;
  if (header >> 30 == 2 || header == 0xffff1000) return 1;  // fillers of one word
  size_t known = 0;
  while (known < OPCODE_COUNT && opcodes[known].number != opcode) ++known;
  if (header >> 30 != 3 || known == OPCODE_COUNT) {
    return pm4_refuse(pm4, "PM4 packet 0x%08x (opcode 0x%02x) is not supported", header, opcode);
  }
  if (size > count - 1) return pm4_refuse(pm4, "PM4 packet 0x%08x (%s) is cut off", header, opcodes[known].name);
  return opcodes[known].run(pm4, words + 1, size) ? 1 + size : 0;
}

// Buffers may lead to each other for ever: destroying the queue ends that.
static bool run_words(pm4_t* pm4, const uint32_t* words, uint32_t count) {
  while (words) {
    if (!pm4_check_memory(pm4, (uint64_t)words, count * 4ull, false)) return false;
    pm4->next = NULL;
    for (uint32_t at = 0, size; at < count && !pm4->next; at += size) {
      if (queue_is_stopping(pm4->queue)) return false;
      size = run_packet(pm4, words + at, count - at);
      if (!size) return false;
    }
    words = pm4->next, count = pm4->next_count;
  }
  return true;
}

bool pm4_run(queue_t* queue, uint64_t index, const uint32_t* words, uint32_t count) {
  pm4_t pm4 = {.queue = queue, .index = index};
  if (run_words(&pm4, words, count)) return true;
  if (pm4.message[0]) queue_fail(queue, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, pm4.message);
  return false;
}
