// Linking with lld in this process. It works on files: objects are handed over as anonymous memory files, and what
// comes out is read back from a directory of its own below TMPDIR or /tmp.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "target/llvm/codegen.h"
#include "target/llvm/guard.h"

typedef struct link_t {
  arena_t arena;
  memory_cleanup_t cleanup;
  char directory[PATH_MAX], output[PATH_MAX + 8];  // "" until there is one
  int* files;
  unsigned file_count;
  const char** argv;
  unsigned argc;
  lld_messages_t messages;
  bool linked;
} link_t;

static void close_link(void* user) {
  link_t* l = user;
  for (unsigned i = 0; i < l->file_count; ++i) close(l->files[i]);
  l->file_count = 0;
  if (!l->directory[0]) return;
  unlink(l->output);
  rmdir(l->directory);
}

static bool make_directory(link_t* l, text_t* error) {
  const char* base = getenv("TMPDIR");
  if (!base || !*base) base = "/tmp";
  int length = snprintf(l->directory, sizeof(l->directory), "%s/iree-link-XXXXXX", base);
  if (length >= (int)sizeof(l->directory) || !mkdtemp(l->directory)) {
    const char* reason = length >= (int)sizeof(l->directory) ? "its name is too long" : strerror(errno);
    l->directory[0] = 0;
    text_printf(error, "linking: cannot make a directory in '%s' (TMPDIR chooses another): %s", base, reason);
    return false;
  }
  snprintf(l->output, sizeof(l->output), "%s/out", l->directory);
  return true;
}

static bool write_all(int fd, const codegen_bytes_t* bytes) {
  for (size_t done = 0; done < bytes->size;) {
    ssize_t n = write(fd, bytes->data + done, bytes->size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += (size_t)n;
  }
  return true;
}

static bool add_object(link_t* l, const codegen_bytes_t* bytes, text_t* error) {
  int fd = memfd_create("object", MFD_CLOEXEC);
  if (fd >= 0) l->files[l->file_count++] = fd;
  if (fd < 0 || !write_all(fd, bytes)) {
    text_printf(error, "linking: cannot keep %zu bytes of an object in memory: %s", bytes->size, strerror(errno));
    return false;
  }
  l->argv[l->argc++] = arena_printf(&l->arena, "/proc/self/fd/%d", fd);
  return true;
}

static void run_lld(void* user) {
  link_t* l = user;
  l->linked = lld_run(l->argv, l->argc, &l->messages);
}

static void reset_lld(void* user) {
  (void)user;
  lld_reset();
}

// One link at a time: lld keeps its state in globals. What is left of it after an error is dropped where that is safe.
static bool run(link_t* l, text_t* error) {
  static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
  guard_t guard, reset;
  pthread_mutex_lock(&one_at_a_time);
  guard_result_t result = guard_run(&guard, run_lld, l);
  if (result == GUARD_FAILED && guard.left_llvm && guard_run(&reset, reset_lld, NULL) == GUARD_DONE) {
    memory_scope_drop(&reset.scope);
  }
  pthread_mutex_unlock(&one_at_a_time);
  if (result == GUARD_FAILED && l->messages.size) {  // lld has said why it went
    text_printf(error, "linking failed: %s", l->messages.text);
    return false;
  }
  if (!guard_finish(&guard, result, error)) return false;
  if (!l->linked) text_printf(error, "linking failed: %s", l->messages.size ? l->messages.text : "no output");
  return l->linked;
}

static bool read_output(link_t* l, codegen_bytes_t* out, text_t* error) {
  int fd = open(l->output, O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (fd >= 0) l->files[l->file_count++] = fd;
  bool ok = fd >= 0 && fstat(fd, &info) == 0;
  size_t size = ok ? (size_t)info.st_size : 0, done = 0;
  char* data = memory_alloc(size + 1);
  for (ssize_t n; ok && done < size; done += (size_t)n) {
    n = read(fd, data + done, size - done);
    ok = n > 0;
  }
  if (ok) {
    *out = (codegen_bytes_t){data, size};
    return true;
  }
  memory_free(data);
  text_printf(error, "linking: cannot read the result '%s': %s", l->output, strerror(errno));
  return false;
}

bool lld_link(const char* const* args, unsigned arg_count, const codegen_bytes_t* objects, unsigned object_count,
              codegen_bytes_t* out, text_t* error) {
  link_t l = {.directory = ""};
  memory_cleanup_add(&l.cleanup, close_link, &l);
  l.files = ARENA_ARRAY(&l.arena, int, object_count + 1);
  l.argv = ARENA_ARRAY(&l.arena, const char*, arg_count + object_count + 4);
  l.argv[l.argc++] = "ld.lld";
  for (unsigned i = 0; i < arg_count; ++i) l.argv[l.argc++] = args[i];
  bool ok = make_directory(&l, error);
  for (unsigned i = 0; ok && i < object_count; ++i) ok = add_object(&l, &objects[i], error);
  l.argv[l.argc++] = "--threads=1";
  l.argv[l.argc++] = "-o";
  l.argv[l.argc++] = l.output;
  ok = ok && run(&l, error) && read_output(&l, out, error);
  memory_cleanup_remove(&l.cleanup);
  close_link(&l);
  arena_finish(&l.arena);
  return ok;
}
