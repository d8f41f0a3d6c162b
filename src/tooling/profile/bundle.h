// A profile as reports read it: the records of a file, checked once, and what others of them refer to by number.
//
//   bytes -> profile_bundle_open, which checks every record -> profile_bundle_each
#ifndef TOOLING_PROFILE_BUNDLE_H_
#define TOOLING_PROFILE_BUNDLE_H_

#include "iree/hal/utils/profile_file.h"
#include "iree/hal/utils/profile_records.h"

typedef enum {
#define KIND(id, content_type, record, name) PROFILE_KIND_##id,
#include "tooling/profile/kinds.def"
  PROFILE_KIND_COUNT,
  PROFILE_KIND_SESSION = PROFILE_KIND_COUNT,  // begins and ends
  PROFILE_KIND_UNKNOWN,
} profile_kind_t;
const char* profile_kind_name(profile_kind_t kind);

typedef struct profile_chunk_t {
  profile_kind_t kind;
  iree_hal_profile_file_record_t record;
} profile_chunk_t;

typedef struct profile_function_t {
  iree_hal_profile_executable_function_record_t record;
  iree_string_view_t name;
} profile_function_t;

enum { PROFILE_MAX_CLOCKS = 1024 };  // physical devices with clocks

typedef struct profile_bundle_t {
  iree_allocator_t allocator;
  iree_hal_profile_file_header_t header;
  iree_host_size_t chunk_count, chunk_capacity;
  profile_chunk_t* chunks;  // all records of the file
  iree_host_size_t function_count, function_capacity;
  profile_function_t* functions;
  iree_host_size_t place_capacity;  // of a hash table over the functions
  uint32_t* places;
  uint32_t clock_count;
  iree_hal_profile_clock_t* clocks;  // by physical device
  uint64_t chunk_counts[PROFILE_KIND_COUNT + 2];
  uint64_t record_counts[PROFILE_KIND_COUNT + 2];
  uint64_t truncated, dropped;  // chunks, records
} profile_bundle_t;

// `contents` outlive the bundle. Errors: INVALID_ARGUMENT, OUT_OF_RANGE; the bundle is then to be closed, too.
iree_status_t profile_bundle_open(iree_const_byte_span_t contents, iree_allocator_t allocator,
                                  profile_bundle_t* out_bundle);
void profile_bundle_close(profile_bundle_t* bundle);

// A record of a chunk.
typedef struct profile_item_t {
  const void* record;  // as its kind says
  iree_const_byte_span_t trailing;
  const profile_chunk_t* chunk;
  iree_host_size_t index;  // of the chunk in the file
} profile_item_t;
typedef void (*profile_item_fn_t)(void* user_data, const profile_item_t* item);
void profile_bundle_each(const profile_bundle_t* bundle, profile_kind_t kind, profile_item_fn_t fn, void* user_data);
// The records of one chunk.
void profile_chunk_each(const profile_bundle_t* bundle, iree_host_size_t chunk, profile_item_fn_t fn, void* user_data);

// NULL when it is not told.
const profile_function_t* profile_bundle_function(const profile_bundle_t* bundle, uint64_t executable_id,
                                                  uint32_t function_ordinal);
// The name of a function, or "executable1_function2" in `buffer`.
iree_string_view_t profile_bundle_key(const profile_bundle_t* bundle, uint64_t executable_id, uint32_t function_ordinal,
                                      char buffer[64]);
// All zero when there are no samples.
const iree_hal_profile_clock_t* profile_bundle_clock(const profile_bundle_t* bundle, uint32_t physical);

// Parts of what follows a record, of which the caller knows that they are there.
iree_string_view_t profile_trailing_text(iree_const_byte_span_t trailing, iree_host_size_t offset,
                                         iree_host_size_t length);

// Chunks whose content nobody knows, and records that are none of the known types.
void profile_bundle_count_unknown(const profile_bundle_t* bundle, uint64_t* out_chunks, uint64_t* out_records);

#endif  // TOOLING_PROFILE_BUNDLE_H_
