// What the processor can do, as the data words that executables read, and which processor a thread runs on.
#ifndef IREE_BASE_INTERNAL_CPU_H_
#define IREE_BASE_INTERNAL_CPU_H_

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Words of feature bits. Field 0 is the architecture's (cpu_features.def has the bits); the rest are reserved and 0.
#define IREE_CPU_DATA_FIELD_COUNT 8

// Queries the processor once; later calls do nothing. Thread safe. Every reader below calls it.
IREE_API_EXPORT void iree_cpu_initialize(iree_allocator_t temp_allocator);

// The words; static storage of IREE_CPU_DATA_FIELD_COUNT.
IREE_API_EXPORT const uint64_t* iree_cpu_data_fields(void);
// One word; 0 when `field` is out of range.
IREE_API_EXPORT uint64_t iree_cpu_data_field(iree_host_size_t field);
// Copies min(field_count, IREE_CPU_DATA_FIELD_COUNT) words and zeroes the rest.
IREE_API_EXPORT void iree_cpu_read_data(iree_host_size_t field_count, uint64_t* out_fields);

// 1 or 0 for a feature by LLVM's name ("avx512f"). Errors: NOT_FOUND when the name is unknown on this architecture.
IREE_API_EXPORT iree_status_t iree_cpu_lookup_data_by_key(iree_string_view_t key, int64_t* out_value);

// The i-th feature in the order iree-cpuinfo prints, its name and whether it is there. False past the end.
IREE_API_EXPORT bool iree_cpu_enumerate_feature(iree_host_size_t i, iree_string_view_t* out_name, bool* out_present);

typedef uint32_t iree_cpu_processor_id_t;
// The logical processor that runs the calling thread now; 0 when unknown.
IREE_API_EXPORT iree_cpu_processor_id_t iree_cpu_query_processor_id(void);

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_INTERNAL_CPU_H_
