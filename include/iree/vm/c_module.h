// Modules as C code: what `iree-compile --output-format=vm-c` writes is compiled and linked into a program and makes
// its module by this. Functions are C where they compute and branch; what waits, allocates, calls and dispatches is
// left to the runtime, instruction by instruction. Not part of IREE's API, whose generated code calls the VM's own
// headers.
//
// Such code is trusted, as machine code is: `--max_steps` and its like count what the runtime runs, not what C runs.
#ifndef IREE_VM_C_MODULE_H_
#define IREE_VM_C_MODULE_H_

#include "iree/base/api.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

// A register or a global variable that is a number.
typedef union iree_vm_c_value_t {
  int32_t i;
  int64_t I;
  float f;
  double F;
  uint64_t bits;
} iree_vm_c_value_t;

// Runs a function from a position of its code on, up to an instruction that is the runtime's, whose position it
// returns.
typedef uint32_t (*iree_vm_c_function_t)(iree_vm_c_value_t* values, iree_vm_c_value_t* globals, uint32_t position);

#define IREE_VM_C_MODULE_VERSION 1u

// Constant, and alive as long as the module.
typedef struct iree_vm_c_module_t {
  uint32_t version;                       // IREE_VM_C_MODULE_VERSION
  iree_const_byte_span_t contents;        // tables, executables and constants; best aligned to 64 bytes
  iree_host_size_t function_count;        // as many as in the tables
  const iree_vm_c_function_t* functions;  // one for each
} iree_vm_c_module_t;

// Errors: INCOMPATIBLE for another version; INVALID_ARGUMENT when functions and tables do not go together; those of
// iree_vm_bytecode_module_create.
IREE_API_EXPORT iree_status_t iree_vm_c_module_create(iree_vm_instance_t* instance, const iree_vm_c_module_t* module,
                                                      iree_allocator_t allocator, iree_vm_module_t** out_module);

// What generated code computes with.
#define IREE_VM_C_SATURATE(a, type, low, high, minimum, maximum) \
  ((a) != (a) ? (type)0 : (a) <= (low) ? (type)(minimum) : (a) >= (high) ? (type)(maximum) : (type)(a))

static inline int32_t iree_vm_c_bits_of_f32(float a) {
  int32_t bits;
  memcpy(&bits, &a, sizeof(bits));
  return bits;
}
static inline float iree_vm_c_f32_of_bits(int32_t bits) {
  float a;
  memcpy(&a, &bits, sizeof(a));
  return a;
}
static inline int64_t iree_vm_c_bits_of_f64(double a) {
  int64_t bits;
  memcpy(&bits, &a, sizeof(bits));
  return bits;
}
static inline double iree_vm_c_f64_of_bits(int64_t bits) {
  double a;
  memcpy(&a, &bits, sizeof(a));
  return a;
}
// As equal as the VM's `near` has it: less than 100 steps (5e10 of f64) from one to the other, where both are negative
// or neither is. NaNs count as negative.
static inline int32_t iree_vm_c_near_f32(float a, float b) {
  if ((a >= 0) != (b >= 0)) return a == b;
  int32_t steps = (int32_t)((uint32_t)iree_vm_c_bits_of_f32(a) - (uint32_t)iree_vm_c_bits_of_f32(b));
  return (steps < 0 ? (int32_t)(0u - (uint32_t)steps) : steps) < 100;
}
static inline int32_t iree_vm_c_near_f64(double a, double b) {
  if ((a >= 0) != (b >= 0)) return a == b;
  int64_t steps = (int64_t)((uint64_t)iree_vm_c_bits_of_f64(a) - (uint64_t)iree_vm_c_bits_of_f64(b));
  return (steps < 0 ? (int64_t)(0u - (uint64_t)steps) : steps) < INT64_C(50000000000);
}

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  // IREE_VM_C_MODULE_H_
