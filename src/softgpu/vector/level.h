// What the files of this folder share: each is compiled for x86-64, -v3 and -v4, and VECTOR(name) is the name of an
// export of that level; decode.c picks the tables of the level that the host has.
#ifndef IREE_C_SOFTGPU_VECTOR_LEVEL_H_
#define IREE_C_SOFTGPU_VECTOR_LEVEL_H_

#include "softgpu/wave.h"

#define VECTOR_PASTE(name, level) name##_v##level
#define VECTOR_EXPAND(name, level) VECTOR_PASTE(name, level)
#define VECTOR(name) VECTOR_EXPAND(name, VECTOR_LEVEL)

#define VECTOR_TABLE(name, rows) const inst_table_t VECTOR(name) = {rows, sizeof(rows) / sizeof((rows)[0])}

#endif  // IREE_C_SOFTGPU_VECTOR_LEVEL_H_
