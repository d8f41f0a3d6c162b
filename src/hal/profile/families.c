// Names of families of records.
#include "hal/profile/families.h"

const hal_profile_family_t hal_profile_families[HAL_PROFILE_FAMILIES] = {
    {"queue-events", IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS},
    {"host-execution", IREE_HAL_DEVICE_PROFILING_DATA_HOST_EXECUTION_EVENTS},
    {"device-queue-events", IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS},
    {"dispatch-events", IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS},
    {"counters", IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES},
    {"executable-metadata", IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_METADATA},
    {"executable-traces", IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_TRACES},
    {"memory-events", IREE_HAL_DEVICE_PROFILING_DATA_MEMORY_EVENTS},
    {"device-metrics", IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_METRICS},
    {"command-region-events", IREE_HAL_DEVICE_PROFILING_DATA_COMMAND_REGION_EVENTS},
    {"counter-ranges", IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES},
};
