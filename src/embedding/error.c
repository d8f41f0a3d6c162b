// Errors of the embedding API.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "embedding/embedding.h"

static struct iree_compiler_error_t no_memory = {"out of memory"};

iree_compiler_error_t* embedding_no_memory(void) { return &no_memory; }

iree_compiler_error_t* embedding_error(const char* format, ...) {
  iree_compiler_error_t* error = calloc(1, sizeof(*error));
  va_list args;
  va_start(args, format);
  if (error && vasprintf(&error->message, format, args) < 0) {
    free(error);
    error = NULL;
  }
  va_end(args);
  return error ? error : &no_memory;
}

void ireeCompilerErrorDestroy(iree_compiler_error_t* error) {
  if (!error || error == &no_memory) return;
  free(error->message);
  free(error);
}

const char* ireeCompilerErrorGetMessage(iree_compiler_error_t* error) { return error ? error->message : ""; }
