// Fills and copies on the device. Built by clang for each instruction set (device.cmake) and embedded in the runtime;
// the host's side is blit.c of the folder above.
//
// Every kernel is a loop over elements of one width that strides by the number of work-items, and a tail of bytes. The
// host chooses the widest element that addresses are aligned to.
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef uint32_t uint32x4_t __attribute__((ext_vector_type(4)));

#define GLOBAL __attribute__((address_space(1)))
#define KERNEL __attribute__((amdgpu_kernel, visibility("protected"), amdgpu_flat_work_group_size(256, 256)))

static uint64_t item_id(void) {
  return (uint64_t)__builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
}

// Byte `i` of a pattern that repeats every 8 bytes.
static uint64_t rotate(uint64_t pattern, uint64_t byte) {
  uint64_t shift = byte % 8 * 8;
  return shift ? pattern >> shift | pattern << (64 - shift) : pattern;
}

#define FILL(name, type, value)                                                                      \
  KERNEL void name(GLOBAL uint8_t* target, uint64_t pattern, uint64_t length, uint64_t item_count) { \
    uint64_t count = length / sizeof(type), id = item_id();                                          \
    for (uint64_t i = id; i < count; i += item_count) ((GLOBAL type*)target)[i] = (value);           \
    uint64_t at = count * sizeof(type) + id;                                                         \
    if (id < length % sizeof(type)) target[at] = (uint8_t)rotate(pattern, at);                       \
  }
FILL(fill_x1, uint8_t, (uint8_t)rotate(pattern, i))
FILL(fill_x4, uint32_t, (uint32_t)rotate(pattern, i * 4))
FILL(fill_x16, uint32x4_t,
     ((uint32x4_t){(uint32_t)pattern, (uint32_t)(pattern >> 32), (uint32_t)pattern, (uint32_t)(pattern >> 32)}))

#define COPY(name, type)                                                                                           \
  KERNEL void name(GLOBAL uint8_t* target, const GLOBAL uint8_t* source, uint64_t length, uint64_t item_count) {   \
    uint64_t count = length / sizeof(type), id = item_id();                                                        \
    for (uint64_t i = id; i < count; i += item_count) ((GLOBAL type*)target)[i] = ((const GLOBAL type*)source)[i]; \
    uint64_t at = count * sizeof(type) + id;                                                                       \
    if (id < length % sizeof(type)) target[at] = source[at];                                                       \
  }
COPY(copy_x1, uint8_t)
COPY(copy_x4, uint32_t)
COPY(copy_x16, uint32x4_t)
