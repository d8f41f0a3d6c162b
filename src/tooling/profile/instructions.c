// What traces say of each instruction; see instructions.h.
#include "tooling/profile/instructions.h"

static iree_string_view_t part_of(const amd_trace_t* trace, uint32_t first, uint32_t length) {
  return iree_make_string_view(trace->text + first, length);
}

static void add_event(profile_instructions_t* to, const amd_trace_event_t* event) {
  profile_instruction_t* instruction = &to->instructions[event->instruction];
  if (!instruction->hits || event->time < instruction->first_time) instruction->first_time = event->time;
  instruction->last_time = iree_max(instruction->last_time, event->time);
  ++instruction->hits;
  instruction->duration += (uint64_t)event->stall + event->issue;
  instruction->stall += event->stall;
  instruction->stalls[event->cause] += event->stall;
}

static void add_trace(profile_instructions_t* to) {
  const amd_trace_t* trace = &to->trace;
  for (uint32_t i = 0; i < to->count; ++i) {
    amd_trace_instruction_t row;
    memcpy(&row, trace->instructions + i * sizeof(row), sizeof(row));
    to->instructions[i] = (profile_instruction_t){.address = row.address,
                                                  .code_object = row.code_object,
                                                  .text = part_of(trace, row.text, row.text_length),
                                                  .place = part_of(trace, row.place, row.place_length),
                                                  .category = row.category};
  }
  for (uint32_t i = 0; i < trace->head.event_count; ++i) {
    amd_trace_event_t event;
    memcpy(&event, trace->events + i * sizeof(event), sizeof(event));
    add_event(to, &event);
  }
}

typedef struct visit_t {
  const profile_bundle_t* bundle;
  const profile_selection_t* selection;
  profile_instructions_fn_t fn;
  void* user_data;
  uint64_t count;
  iree_status_t status;
} visit_t;

static iree_status_t visit_trace(visit_t* v, profile_instructions_t* instructions) {
  instructions->count = instructions->trace.head.instruction_count;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(v->bundle->allocator, (iree_host_size_t)instructions->count + 1,
                                                   sizeof(*instructions->instructions),
                                                   (void**)&instructions->instructions));
  add_trace(instructions);
  ++v->count;
  iree_status_t status = v->fn(v->user_data, instructions);
  iree_allocator_free(v->bundle->allocator, instructions->instructions);
  return status;
}

static iree_status_t visit_record(visit_t* v, const iree_hal_profile_executable_trace_record_t* record,
                                  iree_const_byte_span_t data) {
  uint64_t magic = 0;
  memcpy(&magic, data.data, iree_min(sizeof(magic), data.data_length));
  if (magic != AMD_TRACE_MAGIC) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "trace %" PRIu64
                            " is of hardware, whose format AMD's decoder alone knows; IREE's own "
                            "`iree-profile att --rocm_library_path=` decodes this file by it",
                            record->trace_id);
  }
  for (iree_host_size_t at = 0; at < data.data_length;) {
    profile_instructions_t instructions = {.record = record, .byte_count = data.data_length};
    if (!amd_trace_read(data.data + at, data.data_length - at, &instructions.trace)) {
      return iree_make_status(IREE_STATUS_DATA_LOSS, "trace %" PRIu64 " is damaged", record->trace_id);
    }
    at += (iree_host_size_t)instructions.trace.head.size;
    IREE_RETURN_IF_ERROR(visit_trace(v, &instructions));
  }
  return iree_ok_status();
}

static bool takes(const visit_t* v, const iree_hal_profile_executable_trace_record_t* record) {
  char buffer[64];
  uint64_t id = (uint64_t)v->selection->id;
  if (record->format != IREE_HAL_PROFILE_EXECUTABLE_TRACE_FORMAT_AMDGPU_ATT) return false;
  if (v->selection->id >= 0 && record->trace_id != id && record->dispatch_event_id != id) return false;
  return iree_string_view_match_pattern(
      profile_bundle_key(v->bundle, record->executable_id, record->function_ordinal, buffer), v->selection->filter);
}

static void visit_item(void* user_data, const profile_item_t* item) {
  visit_t* v = (visit_t*)user_data;
  const iree_hal_profile_executable_trace_record_t* record = item->record;
  iree_const_byte_span_t payload = item->chunk->record.payload;
  if (!iree_status_is_ok(v->status) || !takes(v, record)) return;
  // The data is behind the record, whatever else follows it; the bundle was checked for that.
  v->status = visit_record(
      v, record,
      iree_make_const_byte_span(payload.data + record->record_length, (iree_host_size_t)record->data_length));
}

iree_status_t profile_instructions_each(const profile_bundle_t* bundle, const profile_selection_t* selection,
                                        profile_instructions_fn_t fn, void* user_data, uint64_t* out_count) {
  visit_t v = {.bundle = bundle, .selection = selection, .fn = fn, .user_data = user_data};
  profile_bundle_each(bundle, PROFILE_KIND_TRACES, visit_item, &v);
  *out_count = v.count;
  return v.status;
}

uint32_t profile_instruction_cause(const profile_instruction_t* instruction) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < AMD_TRACE_CAUSES; ++i) {
    if (instruction->stalls[i] > instruction->stalls[best]) best = i;
  }
  return best;
}
