// Thread traces of a GPU; see thread_trace.h.
#include "softgpu/hsa/thread_trace.h"

#include <string.h>

#include "softgpu/hsa/pm4.h"
#include "softgpu/hsa/runtime.h"

static uint64_t pair(const queue_t* queue, uint32_t reg) {
  const uint32_t* words = &queue->trace[reg - THREAD_TRACE_FIRST];
  return words[0] | (uint64_t)words[1] << 32;
}

static bool start(pm4_t* pm4, queue_t* queue) {
  engine_trace_t trace = {
      .buffer = (uint8_t*)(uintptr_t)pair(queue, THREAD_TRACE_BUFFER),
      .size = pair(queue, THREAD_TRACE_SIZE),
      .unit = queue->trace[THREAD_TRACE_UNIT - THREAD_TRACE_FIRST],
      .simds = queue->trace[THREAD_TRACE_SIMDS - THREAD_TRACE_FIRST],
      .code_object = pair(queue, THREAD_TRACE_CODE),
      .code_base = pair(queue, THREAD_TRACE_CODE + 2),
      .code_size = pair(queue, THREAD_TRACE_CODE + 4),
  };
  if (trace.size < sizeof(engine_trace_head_t) || pair(queue, THREAD_TRACE_BUFFER) % 16) {
    return pm4_refuse(pm4, "a thread trace of %llu bytes, which is too few", (unsigned long long)trace.size);
  }
  if (!pm4_check_memory(pm4, pair(queue, THREAD_TRACE_BUFFER), trace.size, true)) return false;
  engine_trace(queue->agent->engine, &trace);
  return true;
}

bool thread_trace_write(pm4_t* pm4, uint32_t reg, uint32_t value) {
  queue_t* queue = pm4->queue;
  if (reg < THREAD_TRACE_FIRST || reg >= THREAD_TRACE_FIRST + THREAD_TRACE_REGISTERS) return true;
  queue->trace[reg - THREAD_TRACE_FIRST] = value;
  if (reg != THREAD_TRACE_CONTROL) return true;
  // A code object that is told of once it has begun is taken by beginning again.
  bool has_begun = pair(queue, THREAD_TRACE_SIZE) != 0;
  if (value == THREAD_TRACE_START || (value == THREAD_TRACE_MARK && has_begun)) return start(pm4, queue);
  if (value == THREAD_TRACE_STOP) {
    engine_trace_end(queue->agent->engine, (const uint8_t*)(uintptr_t)pair(queue, THREAD_TRACE_BUFFER));
    memset(queue->trace, 0, sizeof(queue->trace));
  }
  return true;
}
