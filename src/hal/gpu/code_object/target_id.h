// Names of AMD instruction sets: `gfx1100`, `gfx90a:sramecc+:xnack-`, `gfx11-generic`, `amdgcn-amd-amdhsa--gfx1100`,
// and the processor field of a code object's ELF header.
#ifndef IREE_C_HAL_GPU_CODE_OBJECT_TARGET_ID_H_
#define IREE_C_HAL_GPU_CODE_OBJECT_TARGET_ID_H_

#include "iree/base/api.h"

typedef enum { TARGET_FEATURE_ANY, TARGET_FEATURE_OFF, TARGET_FEATURE_ON } target_feature_t;

typedef struct target_id_t {
  char processor[32];  // "gfx1100", "gfx9-4-generic"
  target_feature_t sramecc;
  target_feature_t xnack;
} target_id_t;

// False for what is no such name; and as an error, INVALID_ARGUMENT.
bool target_id_read(iree_string_view_t text, target_id_t* out_target);
iree_status_t target_id_parse(iree_string_view_t text, target_id_t* out_target);
// "gfx90a:sramecc+:xnack-"
iree_status_t target_id_append(const target_id_t* target, iree_string_builder_t* builder);

// How well code for `code` suits a device.
typedef enum { TARGET_MATCH_NONE, TARGET_MATCH_GENERIC, TARGET_MATCH_EXACT } target_match_t;
target_match_t target_id_match(const target_id_t* code, const target_id_t* device);
// The generic instruction set that a processor runs; NULL without.
const char* target_id_generic(const char* processor);

// Whether `data` begins as a code object for AMD GPUs does.
bool target_id_is_code(iree_const_byte_span_t data);
// The target that a code object was made for, from its ELF header. Errors: INVALID_ARGUMENT when `data` is no AMD code
// object or names a processor that is not known.
iree_status_t target_id_from_elf(iree_const_byte_span_t data, target_id_t* out_target);

#endif  // IREE_C_HAL_GPU_CODE_OBJECT_TARGET_ID_H_
