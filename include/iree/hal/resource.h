// What all reference-counted HAL objects start with.
//
// An object is born with one reference, which its creator owns; retain adds one, release drops one and destroys the
// object with the last. Counting is thread safe; both accept NULL.
#ifndef IREE_HAL_RESOURCE_H_
#define IREE_HAL_RESOURCE_H_

#include <stdbool.h>
#include <stdint.h>

#include "iree/base/api.h"
#include "iree/base/internal/atomics.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_resource_t {
  iree_atomic_ref_count_t ref_count;
  const void* vtable;  // of the object's type; its first member is as below
} iree_hal_resource_t;

typedef struct iree_hal_resource_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_resource_t* resource);
} iree_hal_resource_vtable_t;

static inline void iree_hal_resource_initialize(const void* vtable, iree_hal_resource_t* out_resource) {
  iree_atomic_ref_count_init(&out_resource->ref_count);
  out_resource->vtable = vtable;
}

static inline void iree_hal_resource_retain(const void* any_resource) {
  iree_hal_resource_t* resource = (iree_hal_resource_t*)any_resource;
  if (resource) iree_atomic_ref_count_inc(&resource->ref_count);
}

static inline void iree_hal_resource_release(const void* any_resource) {
  iree_hal_resource_t* resource = (iree_hal_resource_t*)any_resource;
  if (resource && iree_atomic_ref_count_dec(&resource->ref_count) == 1) {
    ((const iree_hal_resource_vtable_t*)resource->vtable)->destroy(resource);
  }
}

// Whether the object is of the type that `vtable` implements.
static inline bool iree_hal_resource_is(const void* resource, const void* vtable) {
  return resource && ((const iree_hal_resource_t*)resource)->vtable == vtable;
}
#define IREE_HAL_ASSERT_TYPE(resource, vtable) IREE_ASSERT_TRUE(iree_hal_resource_is(resource, vtable))

// `object`'s vtable, as `prefix`_vtable_t.
#define IREE_HAL_VTABLE(object, prefix) ((const prefix##_vtable_t*)((const iree_hal_resource_t*)(object))->vtable)

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_RESOURCE_H_
