// The checks of the software GPUs, which `--check=` and IREE_SOFTGPU_CHECK name.
#ifndef IREE_C_SOFTGPU_CHECKS_H_
#define IREE_C_SOFTGPU_CHECKS_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

// CHECK(ENUM, name); "all" is every one
#define ENGINE_CHECKS(CHECK)                                                                        \
  CHECK(BOUNDS, "bounds")               /* accesses outside allocations, misaligned */              \
  CHECK(WAITS, "waits")                 /* results used before the wait for what writes them */     \
  CHECK(RACES, "races")                 /* conflicting accesses of two waves without a barrier */   \
  CHECK(UNINITIALIZED, "uninitialized") /* reads of registers and workgroup memory never written */ \
  CHECK(BARRIERS, "barriers")           /* barriers that part of a workgroup's waves do not reach */
enum {
#define CHECK(name, text) ENGINE_CHECK_INDEX_##name,
  ENGINE_CHECKS(CHECK)
#undef CHECK
      ENGINE_CHECK_COUNT,
#define CHECK(name, text) ENGINE_CHECK_##name = 1 << ENGINE_CHECK_INDEX_##name,
  ENGINE_CHECKS(CHECK)
#undef CHECK
};

// Checks as "bounds,waits", "all" or "none". False after `error` named what is unknown.
bool engine_parse_checks(const char* text, uint32_t* out, text_t* error);

#endif  // IREE_C_SOFTGPU_CHECKS_H_
