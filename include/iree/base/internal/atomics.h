// Atomics usable from C and C++ with one memory layout, and reference counts made of them.
//
// The operations are the compiler's generic __atomic forms on plain integers; `object` points to one of the types here.
#ifndef IREE_BASE_INTERNAL_ATOMICS_H_
#define IREE_BASE_INTERNAL_ATOMICS_H_

#include <stdint.h>

#include "iree/base/assert.h"
#include "iree/base/attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bytes two objects need between them so that threads writing one do not slow readers of the other.
#define iree_hardware_destructive_interference_size 64

typedef enum iree_memory_order_e {
  iree_memory_order_relaxed = __ATOMIC_RELAXED,
  iree_memory_order_acquire = __ATOMIC_ACQUIRE,
  iree_memory_order_release = __ATOMIC_RELEASE,
  iree_memory_order_acq_rel = __ATOMIC_ACQ_REL,
  iree_memory_order_seq_cst = __ATOMIC_SEQ_CST,
} iree_memory_order_t;

typedef int32_t iree_atomic_int32_t;
typedef int64_t iree_atomic_int64_t;
typedef uint32_t iree_atomic_uint32_t;
typedef uint64_t iree_atomic_uint64_t;
typedef intptr_t iree_atomic_intptr_t;

#define IREE_ATOMIC_VAR_INIT(value) (value)
#define iree_atomic_load(object, order) __atomic_load_n((object), (order))
#define iree_atomic_store(object, desired, order) __atomic_store_n((object), (desired), (order))
#define iree_atomic_fetch_add(object, operand, order) __atomic_fetch_add((object), (operand), (order))
#define iree_atomic_fetch_sub(object, operand, order) __atomic_fetch_sub((object), (operand), (order))
#define iree_atomic_fetch_and(object, operand, order) __atomic_fetch_and((object), (operand), (order))
#define iree_atomic_fetch_or(object, operand, order) __atomic_fetch_or((object), (operand), (order))
#define iree_atomic_fetch_xor(object, operand, order) __atomic_fetch_xor((object), (operand), (order))
#define iree_atomic_exchange(object, desired, order) __atomic_exchange_n((object), (desired), (order))
// On failure *expected becomes the value found.
#define iree_atomic_compare_exchange_strong(object, expected, desired, success, failure) \
  __atomic_compare_exchange_n((object), (expected), (desired), 0, (success), (failure))
#define iree_atomic_compare_exchange_weak(object, expected, desired, success, failure) \
  __atomic_compare_exchange_n((object), (expected), (desired), 1, (success), (failure))

// Reference counts start at 1. `dec` returns the count before: 1 means the object is now unreferenced.
typedef iree_atomic_int32_t iree_atomic_ref_count_t;
#define iree_atomic_ref_count_init(count_ptr) iree_atomic_store((count_ptr), 1, iree_memory_order_relaxed)
#define iree_atomic_ref_count_init_value(count_ptr, value) \
  iree_atomic_store((count_ptr), (value), iree_memory_order_relaxed)
#define iree_atomic_ref_count_inc(count_ptr) ((void)iree_atomic_fetch_add((count_ptr), 1, iree_memory_order_relaxed))
#define iree_atomic_ref_count_dec(count_ptr) iree_atomic_fetch_sub((count_ptr), 1, iree_memory_order_acq_rel)
#define iree_atomic_ref_count_load(count_ptr) iree_atomic_load((count_ptr), iree_memory_order_acquire)
#define iree_atomic_ref_count_abort_if_uses(count_ptr)            \
  do {                                                            \
    if (iree_atomic_ref_count_load(count_ptr) != 1) iree_abort(); \
  } while (0)

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_INTERNAL_ATOMICS_H_
