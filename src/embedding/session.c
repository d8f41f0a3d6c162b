// Sessions: flags of iree-compile, checked when they are set.
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compiler/flags.h"
#include "embedding/embedding.h"

bool embedding_flags_add(embedding_flags_t* flags, int count, const char* const* items) {
  char** all = realloc(flags->items, sizeof(*all) * (flags->count + (size_t)count + 1));
  if (!all) return false;
  flags->items = all;
  for (int i = 0; i < count; ++i) {
    if ((all[flags->count + (size_t)i] = strdup(items[i]))) continue;
    while (i-- > 0) free(all[flags->count + (size_t)i]);
    return false;
  }
  flags->count += (size_t)count;
  return true;
}

void embedding_flags_finish(embedding_flags_t* flags) {
  for (size_t i = 0; i < flags->count; ++i) free(flags->items[i]);
  free(flags->items);
  *flags = (embedding_flags_t){0};
}

iree_compiler_session_t* ireeCompilerSessionCreate(void) {
  iree_compiler_session_t* session = calloc(1, sizeof(*session));
  const embedding_flags_t* global = embedding_global_flags();
  if (session && !embedding_flags_add(&session->flags, (int)global->count, (const char* const*)global->items)) {
    ireeCompilerSessionDestroy(session);
    return NULL;
  }
  return session;
}

void ireeCompilerSessionDestroy(iree_compiler_session_t* session) {
  if (!session) return;
  embedding_flags_finish(&session->flags);
  free(session);
}

typedef struct check_t {
  int count;
  const char* const* items;
  iree_compiler_error_t* error;
} check_t;

// In a memory scope: whether the flags are some.
static void check_flags(void* user) {
  check_t* check = user;
  text_t error = {0};
  compiler_flags_t flags;
  char** argv = memory_array((size_t)check->count + 2, sizeof(*argv));
  argv[0] = "iree-compile";
  for (int i = 0; i < check->count; ++i) argv[i + 1] = (char*)check->items[i];
  if (!compiler_flags_parse(&flags, check->count + 1, argv, &error)) {
    check->error = embedding_error("%s", error.data);
  } else if (flags.input || flags.output) {
    check->error = embedding_error("'%s': a session's flags name no files; sources and outputs do",
                                   flags.input ? flags.input : "-o");
  }
}

iree_compiler_error_t* ireeCompilerSessionSetFlags(iree_compiler_session_t* session, int argc,
                                                   const char* const* argv) {
  check_t check = {argc, argv, NULL};
  memory_scope_t scope;
  if (argc < 0) return embedding_error("%d flags cannot be set", argc);
  if (!memory_scope_run(&scope, check_flags, &check)) return embedding_no_memory();
  memory_scope_drop(&scope);
  if (check.error) return check.error;
  return embedding_flags_add(&session->flags, argc, argv) ? NULL : embedding_no_memory();
}

void ireeCompilerSessionGetFlags(iree_compiler_session_t* session, bool nonDefaultOnly,
                                 void (*onFlag)(const char* flag, size_t length, void*), void* userData) {
  (void)nonDefaultOnly;
  for (size_t i = 0; i < session->flags.count; ++i) {
    onFlag(session->flags.items[i], strlen(session->flags.items[i]), userData);
  }
}
