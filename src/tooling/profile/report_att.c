// The report on traces of instructions: each instruction with the cycles that waves spent at it, and why they stood.
#include "tooling/profile/instructions.h"
#include "tooling/profile/reports.h"

typedef struct dispatch_t {
  uint64_t event_id;
  uint32_t physical;
  bool is_found;
  iree_hal_profile_dispatch_event_t event;
} dispatch_t;

static void find_dispatch(void* user_data, const profile_item_t* item) {
  dispatch_t* wanted = (dispatch_t*)user_data;
  const iree_hal_profile_dispatch_event_t* event = item->record;
  if (event->event_id != wanted->event_id || item->chunk->record.header.physical_device_ordinal != wanted->physical) {
    return;
  }
  wanted->is_found = true;
  wanted->event = *event;
}

static dispatch_t dispatch_of(const profile_bundle_t* bundle, const profile_instructions_t* i) {
  dispatch_t dispatch = {.event_id = i->record->dispatch_event_id, .physical = i->record->physical_device_ordinal};
  profile_bundle_each(bundle, PROFILE_KIND_DISPATCH_EVENTS, find_dispatch, &dispatch);
  return dispatch;
}

// The generation in a name: of "gfx1100" it is 11; the last two digits are revisions.
static uint64_t generation_of(const char* target) {
  uint64_t generation = 0;
  size_t length = strlen(target);
  for (size_t i = 3; i + 2 < length && target[i] >= '0' && target[i] <= '9'; ++i) {
    generation = generation * 10 + (uint64_t)(target[i] - '0');
  }
  return generation;
}

static iree_string_view_t key_of(const profile_request_t* r, const profile_instructions_t* i, char buffer[64]) {
  return profile_bundle_key(r->bundle, i->record->executable_id, i->record->function_ordinal, buffer);
}

//===----------------------------------------------------------------------------------------------------------------===
// Text
//===----------------------------------------------------------------------------------------------------------------===

static void print_head(const profile_request_t* r, const profile_instructions_t* i) {
  const iree_hal_profile_executable_trace_record_t* record = i->record;
  const amd_trace_head_t* head = &i->trace.head;
  dispatch_t dispatch = dispatch_of(r->bundle, i);
  char buffer[64];
  iree_string_view_t key = key_of(r, i, buffer);
  fprintf(r->file, "ATT trace %" PRIu64 "\n  executable=%" PRIu64 " function=%u name=%.*s\n", record->trace_id,
          record->executable_id, record->function_ordinal, (int)key.size, key.data);
  fprintf(r->file, "  device=%u queue=%u submission=%" PRIu64 " command_buffer=%" PRIu64 " command_index=%u\n",
          record->physical_device_ordinal, record->queue_ordinal, record->submission_id, record->command_buffer_id,
          record->command_index);
  if (dispatch.is_found) {
    const uint32_t *count = dispatch.event.workgroup_count, *size = dispatch.event.workgroup_size;
    fprintf(r->file, "  workgroups=[%u,%u,%u] workgroup_size=[%u,%u,%u] duration_ticks=%" PRIu64 "\n", count[0],
            count[1], count[2], size[0], size[1], size[2], dispatch.event.end_tick - dispatch.event.start_tick);
  }
  fprintf(r->file,
          "  raw_bytes=%" PRIu64 " gfxip=%" PRIu64 " waves=%u occupancy=%" PRIu64
          " instructions=%u unique_pcs=%u info=%d\n",
          i->byte_count, generation_of(head->target), head->wave_count, 2 * (uint64_t)head->wave_count,
          head->event_count, i->count, head->flags & AMD_TRACE_CUT ? 1 : 0);
  fprintf(r->file, "  cycles=%" PRIu64 ", by a model of %s: times are not those of hardware%s\n\n", head->cycles,
          head->target, head->flags & AMD_TRACE_CUT ? "; waves had more instructions than there was room for" : "");
}

static iree_status_t print_text(void* user_data, const profile_instructions_t* i) {
  const profile_request_t* r = (const profile_request_t*)user_data;
  print_head(r, i);
  fprintf(r->file, "%-14s %-10s %-8s %-10s %-10s %s\n", "pc", "category", "hits", "duration", "stall", "instruction");
  for (uint32_t k = 0; k < i->count; ++k) {
    const profile_instruction_t* at = &i->instructions[k];
    fprintf(r->file, "0x%012" PRIx64 " %-10s %-8" PRIu64 " %-10" PRIu64 " %-10" PRIu64 " %.*s", at->address,
            amd_trace_category_name(at->category), at->hits, at->duration, at->stall, (int)at->text.size,
            at->text.data);
    const char* before = "  ; stalls:";
    for (uint32_t cause = 1; cause < AMD_TRACE_CAUSES; ++cause) {
      if (!at->stalls[cause]) continue;
      fprintf(r->file, "%s %s=%" PRIu64, before, amd_trace_cause_name(cause), at->stalls[cause]);
      before = "";
    }
    if (at->place.size) fprintf(r->file, "  ; %.*s", (int)at->place.size, at->place.data);
    fputc('\n', r->file);
  }
  fputc('\n', r->file);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Rows
//===----------------------------------------------------------------------------------------------------------------===

static void print_trace_row(const profile_request_t* r, const profile_instructions_t* i) {
  const iree_hal_profile_executable_trace_record_t* record = i->record;
  const amd_trace_head_t* head = &i->trace.head;
  dispatch_t dispatch = dispatch_of(r->bundle, i);
  char buffer[64];
  PROFILE_ROW(&(profile_out_t){.file = r->file}, "att_trace", CELL_U("trace_id", record->trace_id),
              CELL_U("dispatch_event_id", record->dispatch_event_id), CELL_U("submission_id", record->submission_id),
              CELL_U("command_buffer_id", record->command_buffer_id), CELL_U("command_index", record->command_index),
              CELL_U("executable_id", record->executable_id), CELL_U("function_ordinal", record->function_ordinal),
              CELL_U("physical_device_ordinal", record->physical_device_ordinal),
              CELL_U("queue_ordinal", record->queue_ordinal), CELL_U("stream_id", record->stream_id),
              CELL_S("key", key_of(r, i, buffer)), CELL_U("raw_bytes", i->byte_count),
              CELL_U("gfxip", generation_of(head->target)), CELL_U("waves", head->wave_count),
              CELL_U("occupancy", 2 * (uint64_t)head->wave_count), CELL_U("instruction_events", head->event_count),
              CELL_U("unique_pcs", i->count), CELL_U("info", head->flags & AMD_TRACE_CUT ? 1 : 0),
              CELL_3_IF(dispatch.is_found, "workgroup_count", dispatch.event.workgroup_count),
              CELL_3_IF(dispatch.is_found, "workgroup_size", dispatch.event.workgroup_size),
              CELL_U_IF(dispatch.is_found, "duration_ticks", dispatch.event.end_tick - dispatch.event.start_tick),
              CELL_B("is_modelled", true), CELL_U("cycles", head->cycles), CELL_C("target", head->target));
}

static void print_instruction_row(const profile_request_t* r, uint64_t trace_id, const profile_instruction_t* at) {
  PROFILE_ROW_OPEN(&(profile_out_t){.file = r->file}, "att_instruction", CELL_U("trace_id", trace_id),
                   CELL_U("code_object_id", at->code_object), CELL_U("pc", at->address),
                   CELL_C("category", amd_trace_category_name(at->category)), CELL_U("hits", at->hits),
                   CELL_U("duration", at->duration), CELL_U("stall", at->stall), CELL_U("first_time", at->first_time),
                   CELL_U("last_time", at->last_time), CELL_S("instruction", at->text),
                   CELL_S_IF(at->place.size != 0, "source", at->place));
  fputs(",\"stalls\":{", r->file);
  for (uint32_t cause = 1, printed = 0; cause < AMD_TRACE_CAUSES; ++cause) {
    if (!at->stalls[cause]) continue;
    fprintf(r->file, "%s\"%s\":%" PRIu64, printed++ ? "," : "", amd_trace_cause_name(cause), at->stalls[cause]);
  }
  fputs("}}\n", r->file);
}

static iree_status_t print_rows(void* user_data, const profile_instructions_t* i) {
  const profile_request_t* r = (const profile_request_t*)user_data;
  print_trace_row(r, i);
  for (uint32_t k = 0; k < i->count; ++k) print_instruction_row(r, i->record->trace_id, &i->instructions[k]);
  return iree_ok_status();
}

iree_status_t profile_report_att(const profile_request_t* r) {
  const uint64_t* n = r->bundle->record_counts;
  uint64_t count = 0;
  if (!r->is_json) {
    fprintf(r->file,
            "profile: code_objects=%" PRIu64 " loads=%" PRIu64 " functions=%" PRIu64 " dispatches=%" PRIu64
            " traces=%" PRIu64 "\n\n",
            n[PROFILE_KIND_CODE_OBJECTS], n[PROFILE_KIND_CODE_OBJECT_LOADS], n[PROFILE_KIND_FUNCTIONS],
            n[PROFILE_KIND_DISPATCH_EVENTS], n[PROFILE_KIND_TRACES]);
  }
  IREE_RETURN_IF_ERROR(
      profile_instructions_each(r->bundle, &r->selection, r->is_json ? print_rows : print_text, (void*)r, &count));
  if (count) return iree_ok_status();
  return iree_make_status(IREE_STATUS_NOT_FOUND, "no AMDGPU ATT trace records matched");
}
