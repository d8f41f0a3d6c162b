// One resolver per backend; target.c picks. All return false after a message.
#ifndef IREE_C_TARGET_RESOLVE_H_
#define IREE_C_TARGET_RESOLVE_H_

#include "base/near.h"
#include "target/target.h"

typedef bool (*resolve_fn_t)(const target_options_t* options, target_t* out, text_t* error);
typedef const char* (*resolve_name_fn_t)(uint32_t index);

bool resolve_x86(const target_options_t* options, target_t* out, text_t* error);
bool resolve_x86_runs_here(const target_t* target);
// Whether a triple is of another architecture than x86-64 that there is code for, and its resolver.
bool resolve_cpu_is_other(const char* triple);
bool resolve_cpu_other(const target_options_t* options, target_t* out, text_t* error);
bool resolve_nvptx(const target_options_t* options, target_t* out, text_t* error);
bool resolve_amdgpu(const target_options_t* options, target_t* out, text_t* error);
bool resolve_vmvx(const target_options_t* options, target_t* out, text_t* error);
const char* resolve_x86_name(uint32_t index);
const char* resolve_nvptx_name(uint32_t index);
const char* resolve_amdgpu_name(uint32_t index);
const char* resolve_amdgpu_member(const char* name, uint32_t index);

// Copies a flag's value; false after a message when it is too long.
bool resolve_copy(char* out, size_t capacity, const char* value, const char* what, text_t* error);

// Whether a processor, `user`, has a feature; the name does not end in NUL. Offers all that it has to `near`, if that
// is not NULL.
typedef bool (*resolve_feature_fn_t)(const void* user, const char* name, size_t size, near_t* near);

// Checks "+a,-b" (or NULL); false after a message that names the feature which `processor` lacks or that has no sign.
bool resolve_check_features(const char* given, resolve_feature_fn_t is_known, const void* user, const char* processor,
                            text_t* error);

// What LLVM knows of the host and of its processors (llvm/processors.cpp). Strings are malloc'd.
char* processors_host_name(void);
char* processors_host_features(void);
// "+a,+b,..." of an x86-64 processor, NULL when there is none of that name.
char* processors_x86_features(const char* name);
const char* processors_x86_name(uint32_t index);
// The same of a processor of any triple; NULL when LLVM has none of that name.
char* processors_features(const char* triple, const char* name);
// A resolve_feature_fn_t of any processor of a triple, `user`.
bool processors_has_feature(const void* triple, const char* name, size_t size, near_t* near);

#endif  // IREE_C_TARGET_RESOLVE_H_
