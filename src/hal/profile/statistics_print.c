// Statistics of profiles, for people.
#include "iree/hal/utils/profile_records.h"
#include "iree/hal/utils/statistics_sink.h"

typedef struct printer_t {
  const iree_hal_profile_statistics_sink_t* sink;
  FILE* file;
  uint64_t totals[IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_MEMORY_LIFECYCLE + 1];  // ns, by type of row
  uint64_t unscaled;
} printer_t;

static void print_ns(FILE* file, uint64_t ns) {
  if (ns >= 1000000) {
    fprintf(file, "%" PRIu64 ".%03" PRIu64 " ms", ns / 1000000, ns % 1000000 / 1000);
  } else if (ns >= 1000) {
    fprintf(file, "%" PRIu64 ".%03" PRIu64 " us", ns / 1000, ns % 1000);
  } else {
    fprintf(file, "%" PRIu64 " ns", ns);
  }
}

static void print_duration(const printer_t* printer, const iree_hal_profile_statistics_row_t* row, uint64_t duration) {
  uint64_t ns = 0;
  if (!(row->flags & IREE_HAL_PROFILE_STATISTICS_ROW_FLAG_TIMING)) {
    fputs("-", printer->file);
  } else if (iree_hal_profile_statistics_sink_scale_duration_to_ns(printer->sink, row, duration, &ns)) {
    print_ns(printer->file, ns);
  } else {
    fprintf(printer->file, "%" PRIu64 " ticks", duration);
  }
}

static iree_status_t add_total(void* user_data, const iree_hal_profile_statistics_row_t* row) {
  printer_t* printer = (printer_t*)user_data;
  uint64_t ns = 0;
  if (!(row->flags & IREE_HAL_PROFILE_STATISTICS_ROW_FLAG_TIMING)) return iree_ok_status();
  if (iree_hal_profile_statistics_sink_scale_duration_to_ns(printer->sink, row, row->total_duration, &ns)) {
    printer->totals[row->row_type] += ns;
  } else {
    ++printer->unscaled;
  }
  return iree_ok_status();
}

// "dispatch NAME", "host_queue p=0 q=0 alloca", …
static void print_name(const printer_t* printer, const iree_hal_profile_statistics_row_t* row, const char* kind) {
  iree_string_view_t name;
  fprintf(printer->file, "  %s ", kind);
  if (row->executable_id) {
    if (iree_hal_profile_statistics_sink_find_function_name(printer->sink, row->executable_id, row->function_ordinal,
                                                            &name)) {
      fprintf(printer->file, "%.*s", (int)name.size, name.data);
    } else {
      fprintf(printer->file, "executable=%" PRIu64 " function=%" PRIu32, row->executable_id, row->function_ordinal);
    }
    return;
  }
  bool is_memory = row->row_type == IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_MEMORY_LIFECYCLE;
  fprintf(printer->file, "p=%" PRIu32 " q=%" PRIu32 " %s", row->physical_device_ordinal, row->queue_ordinal,
          is_memory ? iree_hal_profile_memory_event_type_name(row->event_type)
                    : iree_hal_profile_queue_event_type_name(row->event_type));
}

static void print_timing(const printer_t* printer, const iree_hal_profile_statistics_row_t* row) {
  fprintf(printer->file, "  count=%" PRIu64 " total=", row->sample_count);
  print_duration(printer, row, row->total_duration);
  fputs(" avg=", printer->file);
  print_duration(printer, row, row->total_duration / row->sample_count);
  if (row->invalid_sample_count) fprintf(printer->file, " invalid=%" PRIu64, row->invalid_sample_count);
}

static void print_tiles(const printer_t* printer, const iree_hal_profile_statistics_row_t* row) {
  if (!(row->flags & IREE_HAL_PROFILE_STATISTICS_ROW_FLAG_TILE_TOTALS)) return;
  fprintf(printer->file, " tiles=%" PRIu64 " tile_sum=", row->tile_count);
  print_ns(printer->file, row->tile_duration_sum_ns);
}

static iree_status_t print_row(void* user_data, const iree_hal_profile_statistics_row_t* row) {
  static const char* const kinds[] = {
      [IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_DISPATCH_FUNCTION] = "dispatch",
      [IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_QUEUE_DEVICE_OPERATION] = "device_queue",
      [IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_QUEUE_HOST_OPERATION] = "host_queue",
      [IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_HOST_EXECUTION_FUNCTION] = "host_execute",
      [IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_HOST_EXECUTION_QUEUE_OPERATION] = "host_execute_queue",
      [IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_MEMORY_LIFECYCLE] = "memory",
  };
  const printer_t* printer = (const printer_t*)user_data;
  if (!kinds[row->row_type]) return iree_ok_status();  // command buffers and their commands: others add them up
  print_name(printer, row, kinds[row->row_type]);
  if (row->row_type == IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_MEMORY_LIFECYCLE) {
    fprintf(printer->file, " count=%" PRIu64 " bytes=%" PRIu64 "\n", row->sample_count, row->payload_bytes);
    return iree_ok_status();
  }
  print_timing(printer, row);
  bool is_function = row->executable_id != 0;
  if (!is_function && row->operation_count) fprintf(printer->file, " operations=%" PRIu64, row->operation_count);
  print_tiles(printer, row);
  if (!is_function && row->payload_bytes) fprintf(printer->file, " payload=%" PRIu64 "B", row->payload_bytes);
  fputs("\n", printer->file);
  return iree_ok_status();
}

iree_status_t iree_hal_profile_statistics_sink_fprint(FILE* file, const iree_hal_profile_statistics_sink_t* sink) {
  static const struct {
    const char* name;
    iree_hal_profile_statistics_row_type_t type;
  } totals[] = {
      {"dispatch_function", IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_DISPATCH_FUNCTION},
      {"host_execution_function", IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_HOST_EXECUTION_FUNCTION},
      {"host_execution_queue", IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_HOST_EXECUTION_QUEUE_OPERATION},
      {"device_queue", IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_QUEUE_DEVICE_OPERATION},
      {"host_queue_ready", IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_QUEUE_HOST_OPERATION},
  };
  printer_t printer = {.sink = sink, .file = file};
  iree_host_size_t row_count = iree_hal_profile_statistics_sink_row_count(sink);
  uint64_t dropped = iree_hal_profile_statistics_sink_dropped_record_count(sink);
  fprintf(file, "\nIREE HAL device statistics:\n");
  if (!row_count && !dropped) {
    fprintf(file, "  no profiling records captured\n");
    return iree_ok_status();
  }
  fprintf(file, "  aggregate_rows=%" PRIhsz "\n", row_count);
  if (dropped) fprintf(file, "  dropped_records=%" PRIu64 "\n", dropped);
  if (!row_count) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_hal_profile_statistics_sink_for_each_row(
      sink, (iree_hal_profile_statistics_row_callback_t){add_total, &printer}));
  for (size_t i = 0; i < IREE_ARRAYSIZE(totals); ++i) {
    fprintf(file, "  %s_total=", totals[i].name);
    print_ns(file, printer.totals[totals[i].type]);
    fputs("\n", file);
  }
  if (printer.unscaled) fprintf(file, "  unscaled_timing_rows=%" PRIu64 "\n", printer.unscaled);
  return iree_hal_profile_statistics_sink_for_each_row(
      sink, (iree_hal_profile_statistics_row_callback_t){print_row, &printer});
}
