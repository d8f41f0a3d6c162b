// Tables of vector rows, one for each level of x86-64's vector instructions from 2 to 4. Builds that are there to check
// code, not to be fast, have the lowest alone (IREE_SOFTGPU_ONE_VECTOR_LEVEL).
#ifndef IREE_C_SOFTGPU_VECTOR_LEVELS_H_
#define IREE_C_SOFTGPU_VECTOR_LEVELS_H_

#ifdef SOFTGPU_ONE_VECTOR_LEVEL
#define VECTOR_LEVELS_DECLARE(type, name) extern const type name##_v2;
#define VECTOR_LEVELS(name) {&name##_v2, &name##_v2, &name##_v2}
#else
#define VECTOR_LEVELS_DECLARE(type, name) extern const type name##_v2, name##_v3, name##_v4;
#define VECTOR_LEVELS(name) {&name##_v2, &name##_v3, &name##_v4}
#endif

#endif  // IREE_C_SOFTGPU_VECTOR_LEVELS_H_
