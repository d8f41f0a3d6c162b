// See bundle.h.
#include "tooling/profile/bundle.h"

typedef union any_record_t {
#define KIND(id, content_type, record, name) iree_hal_profile_##record##_t id;
#include "tooling/profile/kinds.def"
} any_record_t;

static const struct {
  const char* name;
  iree_host_size_t length;
} kinds[] = {
#define KIND(id, content_type, record, name) {name, sizeof(iree_hal_profile_##record##_t)},
#include "tooling/profile/kinds.def"
};

const char* profile_kind_name(profile_kind_t kind) { return kinds[kind].name; }

static profile_kind_t kind_of(const iree_hal_profile_file_record_t* record) {
  if (record->header.record_type == IREE_HAL_PROFILE_FILE_RECORD_TYPE_SESSION_BEGIN ||
      record->header.record_type == IREE_HAL_PROFILE_FILE_RECORD_TYPE_SESSION_END) {
    return PROFILE_KIND_SESSION;
  }
  if (record->header.record_type != IREE_HAL_PROFILE_FILE_RECORD_TYPE_CHUNK) return PROFILE_KIND_UNKNOWN;
#define KIND(id, content_type_id, record_t, name)                                                      \
  if (iree_string_view_equal(record->content_type, IREE_HAL_PROFILE_CONTENT_TYPE_##content_type_id)) { \
    return PROFILE_KIND_##id;                                                                          \
  }
#include "tooling/profile/kinds.def"
  return PROFILE_KIND_UNKNOWN;
}

//===----------------------------------------------------------------------------------------------------------------===
// Checking
//===----------------------------------------------------------------------------------------------------------------===

// Bytes that must follow a record.
static uint64_t trailing_length(profile_kind_t kind, const any_record_t* record) {
  switch (kind) {
    case PROFILE_KIND_CODE_OBJECTS:
      return record->CODE_OBJECTS.data_length;
    case PROFILE_KIND_FUNCTIONS:
      return record->FUNCTIONS.name_length;
    case PROFILE_KIND_COUNTER_SETS:
      return record->COUNTER_SETS.name_length;
    case PROFILE_KIND_COUNTERS:
      return (uint64_t)record->COUNTERS.block_name_length + record->COUNTERS.name_length +
             record->COUNTERS.description_length;
    case PROFILE_KIND_COUNTER_SAMPLES:
      return record->COUNTER_SAMPLES.sample_value_count * (uint64_t)sizeof(uint64_t);
    case PROFILE_KIND_METRIC_SOURCES:
      return record->METRIC_SOURCES.name_length;
    case PROFILE_KIND_METRIC_DESCRIPTORS:
      return (uint64_t)record->METRIC_DESCRIPTORS.name_length + record->METRIC_DESCRIPTORS.description_length;
    case PROFILE_KIND_METRIC_SAMPLES:
      return record->METRIC_SAMPLES.value_count * (uint64_t)sizeof(iree_hal_profile_device_metric_value_t);
    default:
      return 0;
  }
}

// The data of traces lies behind all records of a chunk, or there is one record with its data.
static iree_status_t check_trace(iree_const_byte_span_t payload) {
  iree_hal_profile_executable_trace_record_t record;
  iree_const_byte_span_t trailing;
  iree_const_byte_span_t rest = payload;
  IREE_RETURN_IF_ERROR(iree_hal_profile_take_record(&rest, sizeof(record), &record, &trailing));
  if (record.data_length <= trailing.data_length + rest.data_length) return iree_ok_status();
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "a trace of %" PRIu64 " bytes is longer than its chunk",
                          record.data_length);
}

static iree_status_t add_function(profile_bundle_t* bundle, const iree_hal_profile_executable_function_record_t* record,
                                  iree_const_byte_span_t trailing) {
  if (bundle->function_count == bundle->function_capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(bundle->allocator, 64, sizeof(*bundle->functions),
                                                   &bundle->function_capacity, (void**)&bundle->functions));
  }
  bundle->functions[bundle->function_count++] =
      (profile_function_t){*record, profile_trailing_text(trailing, 0, record->name_length)};
  return iree_ok_status();
}

static iree_status_t add_clock(profile_bundle_t* bundle, const iree_hal_profile_clock_correlation_record_t* record) {
  uint32_t physical = record->physical_device_ordinal;
  if (physical >= PROFILE_MAX_CLOCKS) return iree_ok_status();
  if (!bundle->clocks) {
    IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(bundle->allocator, PROFILE_MAX_CLOCKS, sizeof(*bundle->clocks),
                                                     (void**)&bundle->clocks));
  }
  bundle->clock_count = iree_max(bundle->clock_count, physical + 1);
  iree_hal_profile_clock_add(&bundle->clocks[physical], record);
  return iree_ok_status();
}

static iree_status_t check_chunk(profile_bundle_t* bundle, const profile_chunk_t* chunk) {
  iree_const_byte_span_t payload = chunk->record.payload, trailing;
  if (chunk->kind >= PROFILE_KIND_COUNT) return iree_ok_status();
  if (chunk->kind == PROFILE_KIND_TRACES) {
    if (!payload.data_length) return iree_ok_status();
    ++bundle->record_counts[chunk->kind];
    return check_trace(payload);
  }
  while (payload.data_length) {
    any_record_t record;
    IREE_RETURN_IF_ERROR(iree_hal_profile_take_record(&payload, kinds[chunk->kind].length, &record, &trailing));
    if (trailing_length(chunk->kind, &record) > trailing.data_length) {
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "what follows a profile record of kind '%s' is cut off",
                              kinds[chunk->kind].name);
    }
    ++bundle->record_counts[chunk->kind];
    if (chunk->kind == PROFILE_KIND_FUNCTIONS) {
      IREE_RETURN_IF_ERROR(add_function(bundle, &record.FUNCTIONS, trailing));
    } else if (chunk->kind == PROFILE_KIND_CLOCKS) {
      IREE_RETURN_IF_ERROR(add_clock(bundle, &record.CLOCKS));
    }
  }
  return iree_ok_status();
}

static iree_status_t add_chunk(profile_bundle_t* bundle, const iree_hal_profile_file_record_t* record) {
  if (bundle->chunk_count == bundle->chunk_capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(bundle->allocator, 64, sizeof(*bundle->chunks),
                                                   &bundle->chunk_capacity, (void**)&bundle->chunks));
  }
  profile_chunk_t* chunk = &bundle->chunks[bundle->chunk_count];
  *chunk = (profile_chunk_t){kind_of(record), *record};
  ++bundle->chunk_counts[chunk->kind];
  if (record->header.chunk_flags & IREE_HAL_PROFILE_CHUNK_FLAG_TRUNCATED) ++bundle->truncated;
  bundle->dropped += record->header.dropped_record_count;
  IREE_RETURN_IF_ERROR(check_chunk(bundle, chunk), "profile record %" PRIhsz, bundle->chunk_count);
  ++bundle->chunk_count;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

static uint32_t* find_place(const profile_bundle_t* bundle, uint64_t executable_id, uint32_t function_ordinal) {
  uint64_t hash = (executable_id * 0x9E3779B97F4A7C15ull ^ function_ordinal) * 0x9E3779B97F4A7C15ull;
  iree_host_size_t mask = bundle->place_capacity - 1, i = (iree_host_size_t)(hash >> 32) & mask;
  for (; bundle->places[i]; i = (i + 1) & mask) {
    const iree_hal_profile_executable_function_record_t* record = &bundle->functions[bundle->places[i] - 1].record;
    if (record->executable_id == executable_id && record->function_ordinal == function_ordinal) break;
  }
  return &bundle->places[i];
}

static iree_status_t index_functions(profile_bundle_t* bundle) {
  bundle->place_capacity = 16;
  while (bundle->place_capacity < bundle->function_count * 2) bundle->place_capacity *= 2;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(bundle->allocator, bundle->place_capacity, sizeof(*bundle->places),
                                                   (void**)&bundle->places));
  for (iree_host_size_t i = 0; i < bundle->function_count; ++i) {
    const iree_hal_profile_executable_function_record_t* record = &bundle->functions[i].record;
    *find_place(bundle, record->executable_id, record->function_ordinal) = (uint32_t)i + 1;
  }
  return iree_ok_status();
}

const profile_function_t* profile_bundle_function(const profile_bundle_t* bundle, uint64_t executable_id,
                                                  uint32_t function_ordinal) {
  uint32_t place = *find_place(bundle, executable_id, function_ordinal);
  return place ? &bundle->functions[place - 1] : NULL;
}

iree_string_view_t profile_bundle_key(const profile_bundle_t* bundle, uint64_t executable_id, uint32_t function_ordinal,
                                      char buffer[64]) {
  const profile_function_t* function = profile_bundle_function(bundle, executable_id, function_ordinal);
  if (function && function->name.size) return function->name;
  snprintf(buffer, 64, "executable%" PRIu64 "_function%" PRIu32, executable_id, function_ordinal);
  return iree_make_cstring_view(buffer);
}

const iree_hal_profile_clock_t* profile_bundle_clock(const profile_bundle_t* bundle, uint32_t physical) {
  static const iree_hal_profile_clock_t none;
  return physical < bundle->clock_count ? &bundle->clocks[physical] : &none;
}

iree_string_view_t profile_trailing_text(iree_const_byte_span_t trailing, iree_host_size_t offset,
                                         iree_host_size_t length) {
  return iree_make_string_view((const char*)trailing.data + offset, length);
}

//===----------------------------------------------------------------------------------------------------------------===
// The bundle
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t profile_bundle_open(iree_const_byte_span_t contents, iree_allocator_t allocator,
                                  profile_bundle_t* out_bundle) {
  iree_host_size_t offset = 0;
  *out_bundle = (profile_bundle_t){.allocator = allocator};
  IREE_RETURN_IF_ERROR(iree_hal_profile_file_parse_header(contents, &out_bundle->header, &offset));
  if (out_bundle->header.file_length) contents.data_length = (iree_host_size_t)out_bundle->header.file_length;
  while (offset < contents.data_length) {
    iree_hal_profile_file_record_t record;
    IREE_RETURN_IF_ERROR(iree_hal_profile_file_parse_record(contents, offset, &record, &offset));
    IREE_RETURN_IF_ERROR(add_chunk(out_bundle, &record));
  }
  return index_functions(out_bundle);
}

void profile_bundle_close(profile_bundle_t* bundle) {
  iree_allocator_free(bundle->allocator, bundle->chunks);
  iree_allocator_free(bundle->allocator, bundle->functions);
  iree_allocator_free(bundle->allocator, bundle->places);
  iree_allocator_free(bundle->allocator, bundle->clocks);
}

void profile_chunk_each(const profile_bundle_t* bundle, iree_host_size_t index, profile_item_fn_t fn, void* user_data) {
  const profile_chunk_t* chunk = &bundle->chunks[index];
  iree_const_byte_span_t payload = chunk->record.payload;
  while (payload.data_length && chunk->kind < PROFILE_KIND_COUNT) {
    any_record_t record;
    profile_item_t item = {.record = &record, .chunk = chunk, .index = index};
    if (!iree_status_is_ok(
            iree_hal_profile_take_record(&payload, kinds[chunk->kind].length, &record, &item.trailing))) {
      return;  // never: it was read before
    }
    fn(user_data, &item);
    if (chunk->kind == PROFILE_KIND_TRACES) return;
  }
}

void profile_bundle_each(const profile_bundle_t* bundle, profile_kind_t kind, profile_item_fn_t fn, void* user_data) {
  for (iree_host_size_t i = 0; i < bundle->chunk_count; ++i) {
    if (bundle->chunks[i].kind == kind) profile_chunk_each(bundle, i, fn, user_data);
  }
}

void profile_bundle_count_unknown(const profile_bundle_t* bundle, uint64_t* out_chunks, uint64_t* out_records) {
  *out_chunks = *out_records = 0;
  for (iree_host_size_t i = 0; i < bundle->chunk_count; ++i) {
    if (bundle->chunks[i].kind != PROFILE_KIND_UNKNOWN) continue;
    bool is_chunk = bundle->chunks[i].record.header.record_type == IREE_HAL_PROFILE_FILE_RECORD_TYPE_CHUNK;
    ++*(is_chunk ? out_chunks : out_records);
  }
}
