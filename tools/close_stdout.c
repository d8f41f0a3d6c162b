// Every tool's last step: what it printed must have arrived. A tool that would end well with a full disk or a broken
// device behind its standard output ends with a message and 1; whoever failed already has said why.
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void close_stdout(int status, void* unused) {
  bool failed = ferror(stdout) != 0;
  errno = 0;
  failed |= fflush(stdout) != 0 && errno != EBADF;  // closed on purpose: nothing is lost
  if (!failed || status) return;
  fprintf(stderr, "error: cannot write to standard output%s%s\n", errno ? ": " : "", errno ? strerror(errno) : "");
  _exit(EXIT_FAILURE);
}

__attribute__((constructor)) static void watch_stdout(void) { on_exit(close_stdout, NULL); }
