// Traces of instructions; see amd_trace.h.
#include "base/processors/amd_trace.h"

#include <stddef.h>
#include <string.h>

const char* amd_trace_category_name(uint32_t category) {
  static const char* const names[] = {
#define CATEGORY(id, name) name,
#include "base/processors/amd_trace.def"
  };
  return names[category < AMD_TRACE_CATEGORIES ? category : 0];
}

static const struct {
  const char *name, *text;
} causes[] = {
#define CAUSE(id, name, what) {name, what},
#include "base/processors/amd_trace.def"
};

const char* amd_trace_cause_name(uint32_t cause) { return causes[cause < AMD_TRACE_CAUSES ? cause : 0].name; }
const char* amd_trace_cause_text(uint32_t cause) { return causes[cause < AMD_TRACE_CAUSES ? cause : 0].text; }

static bool is_part(uint64_t first, uint64_t count, uint64_t of) { return first <= of && count <= of - first; }

static bool check_instructions(const amd_trace_t* trace) {
  for (uint32_t i = 0; i < trace->head.instruction_count; ++i) {
    amd_trace_instruction_t instruction;
    memcpy(&instruction, trace->instructions + i * sizeof(instruction), sizeof(instruction));
    if (!is_part(instruction.text, instruction.text_length, trace->head.text_size)) return false;
    if (!is_part(instruction.place, instruction.place_length, trace->head.text_size)) return false;
  }
  return true;
}

static bool check_waves(const amd_trace_t* trace) {
  for (uint32_t i = 0; i < trace->head.wave_count; ++i) {
    amd_trace_wave_t wave;
    memcpy(&wave, trace->waves + i * sizeof(wave), sizeof(wave));
    if (!is_part(wave.first_event, wave.event_count, trace->head.event_count)) return false;
  }
  for (uint32_t i = 0; i < trace->head.event_count; ++i) {
    amd_trace_event_t event;
    memcpy(&event, trace->events + i * sizeof(event), sizeof(event));
    if (event.instruction >= trace->head.instruction_count || event.cause >= AMD_TRACE_CAUSES) return false;
  }
  return true;
}

bool amd_trace_read(const void* data, uint64_t size, amd_trace_t* out_trace) {
  amd_trace_head_t* head = &out_trace->head;
  if (size < sizeof(*head)) return false;
  memcpy(head, data, sizeof(*head));
  if (head->magic != AMD_TRACE_MAGIC || head->size > size || !memchr(head->target, 0, sizeof(head->target))) {
    return false;
  }
  // None of these overflows: counts have 32 bits.
  uint64_t instructions = head->instruction_count * (uint64_t)sizeof(amd_trace_instruction_t);
  uint64_t waves = head->wave_count * (uint64_t)sizeof(amd_trace_wave_t);
  uint64_t events = head->event_count * (uint64_t)sizeof(amd_trace_event_t);
  if (head->size != sizeof(*head) + instructions + waves + events + head->text_size) return false;
  out_trace->instructions = (const uint8_t*)data + sizeof(*head);
  out_trace->waves = out_trace->instructions + instructions;
  out_trace->events = out_trace->waves + waves;
  out_trace->text = (const char*)out_trace->events + events;
  return check_instructions(out_trace) && check_waves(out_trace);
}
