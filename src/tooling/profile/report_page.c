// The report as a page for a browser: report.html with the numbers of one or two profiles as JSON in the place of
// @DATA@. What the page shows it computes itself; names are data, so that none of them is markup.
#include "tooling/profile/instructions.h"
#include "tooling/profile/report_dispatch.h"
#include "tooling/profile/timeline.h"
#include "tooling/profile/work.h"

extern const char profile_page_html[] __attribute__((visibility("hidden")));
extern const char profile_page_html_end[] __attribute__((visibility("hidden")));

// More of either is left out of the charts: browsers get slow, and files large.
enum { MAX_SLICES = 100000, MAX_POINTS = 50000 };

typedef struct page_t {
  const profile_bundle_t* bundle;
  FILE* file;
  bool is_host;                  // timing of kernels
  profile_dispatches_t kernels;  // by function
  profile_groups_t tracks;       // {physical device, queue, track}
  profile_groups_t operations;   // names of queue operations, {type}
  uint64_t slices, left_out, end_ns, traces;
  // Memory, which is told series by series.
  uint32_t physical;
  profile_series_t series;
  uint64_t points, peak;
} page_t;

static const char* comma(uint64_t index) { return index ? "," : ""; }

// Names of a script's data: neither its end nor anything but ASCII is in it.
static void print_string(FILE* file, iree_string_view_t text) {
  fputc('"', file);
  for (iree_host_size_t i = 0; i < text.size; ++i) {
    uint8_t c = (uint8_t)text.data[i];
    bool is_plain = c >= 0x20 && c < 0x7f && !strchr("\"\\<>&", c);
    fprintf(file, is_plain ? "%c" : "\\u%04x", c);
  }
  fputc('"', file);
}

//===----------------------------------------------------------------------------------------------------------------===
// Kernels
//===----------------------------------------------------------------------------------------------------------------===

// A number that may not be known.
static void print_number(FILE* file, const char* name, bool is_known, double value) {
  fprintf(file, "\"%s\":", name);
  if (is_known) {
    fprintf(file, "%.17g", value);
  } else {
    fputs("null", file);
  }
}

static void print_kernel(const page_t* p, const profile_group_t* g) {
  char buffer[64];
  iree_string_view_t name = profile_bundle_key(p->bundle, g->key[1], (uint32_t)g->key[2], buffer);
  profile_scaled_t s = profile_group_scale(p->bundle, g->key[0], g);
  if (p->is_host) s = (profile_scaled_t){true, 1, profile_group_min(g), g->max, (uint64_t)g->sum};
  fputs("{\"name\":", p->file);
  print_string(p->file, name);
  fprintf(p->file,
          ",\"count\":%" PRIu64 ",\"timed\":%" PRIu64 ",\"total\":%" PRIu64 ",\"min\":%" PRIu64 ",\"max\":%" PRIu64
          ",\"workgroups\":[%u,%u,%u]",
          g->count, s.has_ns ? g->valid : 0, s.total, s.min, s.max, g->workgroup_count[0], g->workgroup_count[1],
          g->workgroup_count[2]);
  profile_work_t work = profile_work_of_name(name);
  fputs(",", p->file);
  print_number(p->file, "flops", work.has_flops, work.flops);
  fputs(",", p->file);
  print_number(p->file, "bytes", work.has_bytes, work.bytes);
  fputs("}", p->file);
}

// Times are the device's where it has a clock that is known, else the host's.
static iree_status_t collect_kernels(page_t* p, const char** out_timing) {
  const profile_selection_t all = {IREE_SV("*"), -1};
  uint64_t timed = 0;
  IREE_RETURN_IF_ERROR(
      profile_dispatches_collect(p->bundle, &all, /*is_host=*/false, profile_key_of_function, &p->kernels));
  for (iree_host_size_t i = 0; i < p->kernels.groups.count; ++i) {
    const profile_group_t* g = &p->kernels.groups.groups[i];
    timed += profile_group_scale(p->bundle, g->key[0], g).has_ns;
  }
  *out_timing = timed ? "device" : "none";
  if (timed) return iree_ok_status();
  profile_dispatches_t host;
  iree_status_t status = profile_dispatches_collect(p->bundle, &all, /*is_host=*/true, profile_key_of_function, &host);
  if (host.valid) {
    profile_groups_free(&p->kernels.groups);
    p->kernels = host;
    p->is_host = true;
    *out_timing = "host";
  } else {
    profile_groups_free(&host.groups);
  }
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Timeline
//===----------------------------------------------------------------------------------------------------------------===

// The place of a slice's name: those of kernels come first. UINT64_MAX without memory.
static uint64_t name_of(page_t* p, const profile_slice_t* slice) {
  if (slice->dispatch) {
    const uint64_t key[PROFILE_GROUP_KEYS] = {slice->physical, slice->dispatch->executable, slice->dispatch->function};
    profile_group_t* group = profile_groups_find(&p->kernels.groups, key);
    return group ? (uint64_t)(group - p->kernels.groups.groups) : UINT64_MAX;
  }
  const uint64_t key[PROFILE_GROUP_KEYS] = {slice->type};
  profile_group_t* group = profile_groups_find(&p->operations, key);
  return group ? p->kernels.groups.count + (uint64_t)(group - p->operations.groups) : UINT64_MAX;
}

static void print_slice(void* user_data, const profile_slice_t* slice) {
  page_t* p = (page_t*)user_data;
  p->end_ns = iree_max(p->end_ns, slice->start_ns + slice->duration_ns);
  const uint64_t key[PROFILE_GROUP_KEYS] = {slice->physical, slice->queue, slice->track};
  profile_group_t* track = p->slices < MAX_SLICES ? profile_groups_find(&p->tracks, key) : NULL;
  uint64_t name = track ? name_of(p, slice) : UINT64_MAX;
  if (name == UINT64_MAX) {
    ++p->left_out;
    return;
  }
  fprintf(p->file, "%s[%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", comma(p->slices++),
          (size_t)(track - p->tracks.groups), name, slice->start_ns, slice->duration_ns);
}

static void see_submission(void* user_data, uint64_t ns, const iree_hal_profile_queue_event_t* event) {
  page_t* p = (page_t*)user_data;
  p->end_ns = iree_max(p->end_ns, ns);
}

static void print_names(page_t* p) {
  char buffer[64];
  fputs("],\n\"names\":[", p->file);
  for (iree_host_size_t i = 0; i < p->kernels.groups.count; ++i) {
    const uint64_t* key = p->kernels.groups.groups[i].key;
    fputs(comma(i), p->file);
    print_string(p->file, profile_bundle_key(p->bundle, key[1], (uint32_t)key[2], buffer));
  }
  for (iree_host_size_t i = 0; i < p->operations.count; ++i) {
    uint32_t type = (uint32_t)p->operations.groups[i].key[0];
    fprintf(p->file, "%s\"%s\"", comma(p->kernels.groups.count + i), iree_hal_profile_queue_event_type_name(type));
  }
  fputs("],\n\"tracks\":[", p->file);
  for (iree_host_size_t i = 0; i < p->tracks.count; ++i) {
    const uint64_t* key = p->tracks.groups[i].key;
    fprintf(p->file, "%s{\"device\":%" PRIu64 ",\"queue\":%" PRIu64 ",\"track\":%" PRIu64 ",\"name\":\"%s\"}", comma(i),
            key[0], key[1], key[2], profile_track_name((uint32_t)key[2]));
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory
//===----------------------------------------------------------------------------------------------------------------===

static void print_point(void* user_data, uint32_t physical, profile_series_t series, uint64_t ns, uint64_t bytes) {
  page_t* p = (page_t*)user_data;
  p->end_ns = iree_max(p->end_ns, ns);
  if (physical != p->physical || series != p->series) return;
  p->peak = iree_max(p->peak, bytes);
  if (p->points >= MAX_POINTS) {
    ++p->left_out;
    return;
  }
  if (!p->points) {
    fprintf(p->file, "{\"device\":%u,\"name\":\"%s\",\"points\":[", physical, profile_series_name(series));
  }
  fprintf(p->file, "%s[%" PRIu64 ",%" PRIu64 "]", comma(p->points++), ns, bytes);
}

static void see_device(void* user_data, uint32_t physical, profile_series_t series, uint64_t ns, uint64_t bytes) {
  const uint64_t key[PROFILE_GROUP_KEYS] = {physical, series};
  profile_groups_find((profile_groups_t*)user_data, key);
}

static iree_status_t print_memory(page_t* p) {
  profile_groups_t devices = {.allocator = p->bundle->allocator};
  iree_status_t status = profile_timeline_visit(p->bundle, &(profile_timeline_t){&devices, .memory = see_device});
  for (iree_host_size_t i = 0; i < devices.count && iree_status_is_ok(status); ++i) {
    p->physical = (uint32_t)devices.groups[i].key[0];
    p->series = (profile_series_t)devices.groups[i].key[1];
    p->points = p->peak = 0;
    fputs(comma(i), p->file);
    status = profile_timeline_visit(p->bundle, &(profile_timeline_t){p, .memory = print_point});
    fprintf(p->file, "],\"peak\":%" PRIu64 "}", p->peak);
  }
  status = iree_status_join(status, devices.status);
  profile_groups_free(&devices);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Instructions
//===----------------------------------------------------------------------------------------------------------------===

static void print_instruction(FILE* file, const profile_instruction_t* at) {
  fprintf(file, "[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",\"%s\",", at->address, at->hits, at->duration,
          amd_trace_category_name(at->category));
  print_string(file, at->text);
  fputs(",", file);
  print_string(file, at->place);
  fputs(",[", file);
  for (uint32_t i = 1; i < AMD_TRACE_CAUSES; ++i) fprintf(file, "%s%" PRIu64, comma(i - 1), at->stalls[i]);
  fputs("]]", file);
}

static iree_status_t print_trace(void* user_data, const profile_instructions_t* i) {
  page_t* p = (page_t*)user_data;
  const amd_trace_head_t* head = &i->trace.head;
  char buffer[64];
  fprintf(p->file, "%s{\"name\":", p->traces++ ? ",\n" : "");
  print_string(p->file, profile_bundle_key(p->bundle, i->record->executable_id, i->record->function_ordinal, buffer));
  fputs(",\"target\":", p->file);
  print_string(p->file, iree_make_cstring_view(head->target));
  fprintf(p->file, ",\"waves\":%u,\"cycles\":%" PRIu64 ",\"cut\":%s,\"rows\":[", head->wave_count, head->cycles,
          head->flags & AMD_TRACE_CUT ? "true" : "false");
  for (uint32_t k = 0; k < i->count; ++k) {
    fputs(k ? ",\n" : "\n", p->file);
    print_instruction(p->file, &i->instructions[k]);
  }
  fputs("]}", p->file);
  return iree_ok_status();
}

// What hardware traced is not decoded here, and left out.
static iree_status_t print_traces(page_t* p) {
  const profile_selection_t all = {IREE_SV("*"), -1};
  uint64_t count = 0;
  fputs("],\n\"causes\":[", p->file);
  for (uint32_t i = 1; i < AMD_TRACE_CAUSES; ++i) {
    fprintf(p->file, "%s[\"%s\",\"%s\"]", comma(i - 1), amd_trace_cause_name(i), amd_trace_cause_text(i));
  }
  fputs("],\n\"traces\":[", p->file);
  iree_status_t status = profile_instructions_each(p->bundle, &all, print_trace, p, &count);
  if (!iree_status_is_unimplemented(status)) return status;
  iree_status_free(status);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// The page
//===----------------------------------------------------------------------------------------------------------------===

static void print_head(const page_t* p, iree_string_view_t path, const char* timing) {
  const profile_bundle_t* b = p->bundle;
  uint64_t failed = 0;
  for (iree_host_size_t i = 0; i < b->chunk_count; ++i) {
    failed += b->chunks[i].kind == PROFILE_KIND_SESSION && b->chunks[i].record.header.session_status_code;
  }
  fputs("{\"file\":", p->file);
  print_string(p->file, path);
  fputs(",\"session\":", p->file);
  print_string(p->file, b->chunk_count ? b->chunks[0].record.name : iree_string_view_empty());
  fprintf(p->file, ",\"timing\":\"%s\",\"dropped\":%" PRIu64 ",\"failed\":%" PRIu64 ",\n\"kernels\":[", timing,
          b->dropped, failed);
  for (iree_host_size_t i = 0; i < p->kernels.groups.count; ++i) {
    fputs(i ? ",\n" : "\n", p->file);
    print_kernel(p, &p->kernels.groups.groups[i]);
  }
}

static iree_status_t print_parts(page_t* p, iree_string_view_t path) {
  const char* timing = NULL;
  IREE_RETURN_IF_ERROR(collect_kernels(p, &timing));
  print_head(p, path, timing);
  fputs("],\n\"slices\":[", p->file);
  IREE_RETURN_IF_ERROR(
      profile_timeline_visit(p->bundle, &(profile_timeline_t){p, .slice = print_slice, .submission = see_submission}));
  IREE_RETURN_IF_ERROR(p->kernels.groups.status);
  print_names(p);
  fputs("],\n\"memory\":[", p->file);
  IREE_RETURN_IF_ERROR(print_memory(p));
  IREE_RETURN_IF_ERROR(print_traces(p));
  fprintf(p->file, "],\"end\":%" PRIu64 ",\"left_out\":%" PRIu64 "}", p->end_ns, p->left_out);
  return iree_ok_status();
}

static iree_status_t print_run(const profile_bundle_t* bundle, iree_string_view_t path, FILE* file) {
  page_t page = {.bundle = bundle, .file = file};
  page.tracks.allocator = page.operations.allocator = bundle->allocator;
  iree_status_t status = print_parts(&page, path);
  status = iree_status_join(status, page.tracks.status);
  status = iree_status_join(status, page.operations.status);
  profile_groups_free(&page.kernels.groups);
  profile_groups_free(&page.tracks);
  profile_groups_free(&page.operations);
  return status;
}

iree_status_t profile_report_report(const profile_request_t* request) {
  FILE* file = request->file;
  iree_string_view_t page =
      iree_make_string_view(profile_page_html, (size_t)(profile_page_html_end - profile_page_html));
  iree_host_size_t mark = 0;
  while (!iree_string_view_starts_with(iree_string_view_substr(page, mark, IREE_STRING_VIEW_NPOS), IREE_SV("@DATA@"))) {
    ++mark;
  }
  fwrite(page.data, 1, mark, file);
  fputs("{\"peak\":{", file);
  print_number(file, "gflops", request->peak_gflops > 0, request->peak_gflops);
  fputs(",", file);
  print_number(file, "gbps", request->peak_gbps > 0, request->peak_gbps);
  fputs("},\n\"runs\":[", file);
  IREE_RETURN_IF_ERROR(print_run(request->bundle, request->path, file));
  if (request->other) {
    fputs(",\n", file);
    IREE_RETURN_IF_ERROR(print_run(request->other, request->other_path, file));
  }
  fputs("]}", file);
  page = iree_string_view_substr(page, mark + strlen("@DATA@"), IREE_STRING_VIEW_NPOS);
  fwrite(page.data, 1, page.size, file);
  return iree_ok_status();
}
