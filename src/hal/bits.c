// The HAL's bit fields as text. Combined names come before their parts.
#include "iree/hal/allocator.h"
#include "iree/hal/buffer.h"
#include "iree/hal/command_buffer.h"
#include "iree/hal/semaphore.h"

#define BIT(prefix, name) {prefix##name, IREE_SVL(#name)}

static const iree_bitfield_string_mapping_t memory_type_bits[] = {
#define TYPE(name) BIT(IREE_HAL_MEMORY_TYPE_, name)
    TYPE(OPTIMAL_FOR_HOST), TYPE(OPTIMAL_FOR_DEVICE), TYPE(HOST_LOCAL),  TYPE(DEVICE_LOCAL),   TYPE(OPTIMAL),
    TYPE(HOST_VISIBLE),     TYPE(HOST_COHERENT),      TYPE(HOST_CACHED), TYPE(DEVICE_VISIBLE),
#undef TYPE
};

static const iree_bitfield_string_mapping_t memory_access_bits[] = {
#define ACCESS(name) BIT(IREE_HAL_MEMORY_ACCESS_, name)
    ACCESS(ALL),     ACCESS(DISCARD_WRITE), ACCESS(READ),      ACCESS(WRITE),
    ACCESS(DISCARD), ACCESS(MAY_ALIAS),     ACCESS(UNALIGNED), ACCESS(ANY),
#undef ACCESS
};

static const iree_bitfield_string_mapping_t buffer_usage_bits[] = {
#define USAGE(name) BIT(IREE_HAL_BUFFER_USAGE_, name)
    USAGE(TRANSFER),
    USAGE(TRANSFER_SOURCE),
    USAGE(TRANSFER_TARGET),
    USAGE(DISPATCH),
    USAGE(DISPATCH_STORAGE),
    USAGE(DISPATCH_IMAGE),
    USAGE(DISPATCH_INDIRECT_PARAMETERS),
    USAGE(DISPATCH_UNIFORM_READ),
    USAGE(DISPATCH_STORAGE_READ),
    USAGE(DISPATCH_STORAGE_WRITE),
    USAGE(DISPATCH_IMAGE_READ),
    USAGE(DISPATCH_IMAGE_WRITE),
    USAGE(SHARING_EXPORT),
    USAGE(SHARING_REPLICATE),
    USAGE(SHARING_CONCURRENT),
    USAGE(SHARING_IMMUTABLE),
    USAGE(MAPPING),
    USAGE(MAPPING_SCOPED),
    USAGE(MAPPING_PERSISTENT),
    USAGE(MAPPING_OPTIONAL),
    USAGE(MAPPING_ACCESS_RANDOM),
    USAGE(MAPPING_ACCESS_SEQUENTIAL_WRITE),
#undef USAGE
};

static const iree_bitfield_string_mapping_t buffer_compatibility_bits[] = {
#define COMPATIBILITY(name) BIT(IREE_HAL_BUFFER_COMPATIBILITY_, name)
    COMPATIBILITY(ALLOCATABLE),    COMPATIBILITY(IMPORTABLE),     COMPATIBILITY(EXPORTABLE),
    COMPATIBILITY(QUEUE_TRANSFER), COMPATIBILITY(QUEUE_DISPATCH), COMPATIBILITY(LOW_PERFORMANCE),
#undef COMPATIBILITY
};

static const iree_bitfield_string_mapping_t semaphore_compatibility_bits[] = {
#define COMPATIBILITY(name) BIT(IREE_HAL_SEMAPHORE_COMPATIBILITY_, name)
    COMPATIBILITY(ALL),         COMPATIBILITY(HOST_ONLY),   COMPATIBILITY(DEVICE_ONLY),   COMPATIBILITY(HOST_WAIT),
    COMPATIBILITY(DEVICE_WAIT), COMPATIBILITY(HOST_SIGNAL), COMPATIBILITY(DEVICE_SIGNAL),
#undef COMPATIBILITY
};

static const iree_bitfield_string_mapping_t command_buffer_mode_bits[] = {
#define MODE(name) BIT(IREE_HAL_COMMAND_BUFFER_MODE_, name)
    MODE(ONE_SHOT),   MODE(ALLOW_INLINE_EXECUTION),  MODE(UNVALIDATED),
    MODE(UNRETAINED), MODE(RETAIN_PROFILE_METADATA), MODE(RETAIN_DISPATCH_METADATA),
    MODE(REVISABLE),
#undef MODE
};

static const iree_bitfield_string_mapping_t command_category_bits[] = {
#define CATEGORY(name) BIT(IREE_HAL_COMMAND_CATEGORY_, name)
    CATEGORY(ANY),
    CATEGORY(TRANSFER),
    CATEGORY(DISPATCH),
#undef CATEGORY
};

#define DEFINE_FORMAT(name, rows)                                                                                 \
  iree_string_view_t iree_hal_##name##_format(iree_hal_##name##_t value, iree_bitfield_string_temp_t* out_temp) { \
    return iree_bitfield_format_inline(value, IREE_ARRAYSIZE(rows), rows, out_temp);                              \
  }
#define DEFINE_PARSE(name, rows)                                                                    \
  iree_status_t iree_hal_##name##_parse(iree_string_view_t value, iree_hal_##name##_t* out_value) { \
    uint32_t bits = 0;                                                                              \
    *out_value = 0;                                                                                 \
    IREE_RETURN_IF_ERROR(iree_bitfield_parse(value, IREE_ARRAYSIZE(rows), rows, &bits));            \
    *out_value = (iree_hal_##name##_t)bits;                                                         \
    return iree_ok_status();                                                                        \
  }
DEFINE_FORMAT(memory_type, memory_type_bits)
DEFINE_PARSE(memory_type, memory_type_bits)
DEFINE_FORMAT(memory_access, memory_access_bits)
DEFINE_PARSE(memory_access, memory_access_bits)
DEFINE_FORMAT(buffer_usage, buffer_usage_bits)
DEFINE_PARSE(buffer_usage, buffer_usage_bits)
DEFINE_FORMAT(buffer_compatibility, buffer_compatibility_bits)
DEFINE_PARSE(buffer_compatibility, buffer_compatibility_bits)
DEFINE_FORMAT(semaphore_compatibility, semaphore_compatibility_bits)
DEFINE_PARSE(semaphore_compatibility, semaphore_compatibility_bits)
DEFINE_FORMAT(command_buffer_mode, command_buffer_mode_bits)
DEFINE_FORMAT(command_category, command_category_bits)
