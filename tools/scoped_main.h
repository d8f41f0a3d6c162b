// A tool's main in a memory scope: when memory runs out, it says so and fails.
#ifndef IREE_C_TOOLS_SCOPED_MAIN_H_
#define IREE_C_TOOLS_SCOPED_MAIN_H_

#include <stdio.h>

#include "base/memory.h"

typedef struct scoped_main_t {
  int (*run)(int argc, char** argv);
  int argc;
  char** argv;
  int result;
} scoped_main_t;

static inline void scoped_main_run(void* user) {
  scoped_main_t* m = user;
  m->result = m->run(m->argc, m->argv);
}

static inline int scoped_main(const char* name, int (*run)(int argc, char** argv), int argc, char** argv) {
  scoped_main_t m = {run, argc, argv, 1};
  memory_scope_t scope;
  if (!memory_scope_run(&scope, scoped_main_run, &m)) {
    fprintf(stderr, "%s: error: out of memory: %zu bytes more were needed\n", name, scope.wanted);
    return 1;
  }
  memory_scope_drop(&scope);
  return m.result;
}

#endif  // IREE_C_TOOLS_SCOPED_MAIN_H_
