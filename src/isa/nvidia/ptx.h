// PTX as the software GPU sees it: types, modifiers of instructions, and the groups that rows of instructions name them
// by. Source: "Parallel Thread Execution ISA" (PTX ISA), NVIDIA.
#ifndef IREE_C_ISA_NVIDIA_PTX_H_
#define IREE_C_ISA_NVIDIA_PTX_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ptx_type_t {
  PTX_TYPE_NONE,
#define TYPE(name, bytes, kind) PTX_TYPE_##name,
#include "isa/nvidia/types.def"
#undef TYPE
  PTX_TYPE_COUNT,
} ptx_type_t;

typedef enum { PTX_BITS, PTX_UNSIGNED, PTX_SIGNED, PTX_FLOAT, PTX_PACKED, PTX_PREDICATE } ptx_kind_t;
typedef struct ptx_type_info_t {
  const char* name;
  uint8_t bytes, kind;
} ptx_type_info_t;
const ptx_type_info_t* ptx_type_info(ptx_type_t type);
// PTX_TYPE_NONE when there is none of this name.
ptx_type_t ptx_type_find(const char* text, size_t size);

typedef enum { PTX_NO_SPACE, PTX_GLOBAL, PTX_SHARED, PTX_LOCAL, PTX_CONST, PTX_PARAM, PTX_GENERIC } ptx_space_t;
enum { PTX_ROUND_NONE, PTX_ROUND_NEAREST, PTX_ROUND_ZERO, PTX_ROUND_DOWN, PTX_ROUND_UP, PTX_ROUND_AWAY };
enum { PTX_NO_ORDER, PTX_WEAK, PTX_RELAXED, PTX_ACQUIRE, PTX_RELEASE, PTX_ACQ_REL, PTX_SC };
enum { PTX_NO_SCOPE, PTX_SCOPE_BLOCK, PTX_SCOPE_GPU, PTX_SCOPE_SYSTEM };
enum {
  PTX_EQ = 1,
  PTX_NE,
  PTX_LT,
  PTX_LE,
  PTX_GT,
  PTX_GE,
  PTX_EQU,
  PTX_NEU,
  PTX_LTU,
  PTX_LEU,
  PTX_GTU,
  PTX_GEU,
  PTX_NUM,
  PTX_ISNAN
};
typedef enum {
  PTX_NO_OPERATION,
  PTX_AND,
  PTX_OR,
  PTX_XOR,
  PTX_ADD,
  PTX_INC,
  PTX_DEC,
  PTX_MIN,
  PTX_MAX,
  PTX_EXCH,
  PTX_CAS,
  PTX_POPC
} ptx_operation_t;
enum {
  PTX_NO_MODE,
  PTX_ALL,
  PTX_ANY,
  PTX_ALL_ALIKE,
  PTX_BALLOT,
  PTX_UP,
  PTX_DOWN,
  PTX_BUTTERFLY,
  PTX_INDEX,
  PTX_F4E,
  PTX_B4E,
  PTX_RC8,
  PTX_ECL,
  PTX_ECR,
  PTX_RC16
};
enum { PTX_NO_LAYOUT, PTX_ROW, PTX_COLUMN };
#define PTX_SHAPE(m, n, k) ((m) << 20 | (n) << 10 | (k))

// Values of the group FLAG.
enum {
  PTX_FTZ = 1 << 0,
  PTX_SAT = 1 << 1,
  PTX_SATFINITE = 1 << 2,
  PTX_RELU = 1 << 3,
  PTX_NAN = 1 << 4,
  PTX_XORSIGN = 1 << 5,
  PTX_ABS = 1 << 6,
  PTX_APPROX = 1 << 7,
  PTX_FULL = 1 << 8,
  PTX_UNI = 1 << 9,
  PTX_SYNC = 1 << 10,
  PTX_ALIGNED = 1 << 11,
  PTX_CTA = 1 << 12,
  PTX_TO = 1 << 13,
  PTX_TRANS = 1 << 14,
  PTX_NC = 1 << 15,
  PTX_VOLATILE = 1 << 16,
  PTX_NO_COMPLETE = 1 << 17,
  PTX_PARITY = 1 << 18,
  PTX_NOINC = 1 << 19,
  PTX_NOFTZ = 1 << 20,
};

// GROUP(name, text): rows write "@text" for any modifier of a group. Types are a group too: "@type".
#define PTX_GROUPS(GROUP)       \
  GROUP(FLAG, "flag")           \
  GROUP(TYPE, "type")           \
  GROUP(ROUND, "round")         \
  GROUP(INTEGER, "integer")     \
  GROUP(NUMBER, "number")       \
  GROUP(VECTOR, "vector")       \
  GROUP(SPACE, "space")         \
  GROUP(ORDER, "order")         \
  GROUP(SCOPE, "scope")         \
  GROUP(HINT, "hint")           \
  GROUP(POLICY, "policy")       \
  GROUP(COMPARE, "compare")     \
  GROUP(OPERATION, "operation") \
  GROUP(MODE, "mode")           \
  GROUP(SHAPE, "shape")         \
  GROUP(LAYOUT, "layout")
typedef enum ptx_group_t {
#define GROUP(name, text) PTX_GROUP_##name,
  PTX_GROUPS(GROUP)
#undef GROUP
      PTX_GROUP_COUNT,
} ptx_group_t;

enum { PTX_MOST_PARTS = 24, PTX_MOST_TYPES = 6 };

// What an instruction's name says, by group. Of a group that comes several times the first value counts, but for types,
// flags, layouts and operations.
typedef struct ptx_modifiers_t {
  uint32_t value[PTX_GROUP_COUNT];
  uint8_t types[PTX_MOST_TYPES], type_count;
  uint8_t layouts[2], layout_count;
} ptx_modifiers_t;

// A word of an instruction's name, between dots.
typedef struct ptx_part_t {
  const char* text;
  uint32_t size;
} ptx_part_t;

// Whether an instruction's name is what a row says: the words of `name` in their order, with words that `options`
// allows (names, and "@group") between and behind them. Fills `out`.
bool ptx_match(const char* name, size_t name_size, const char* options, const ptx_part_t* parts, uint32_t count,
               ptx_modifiers_t* out);

#endif  // IREE_C_ISA_NVIDIA_PTX_H_
