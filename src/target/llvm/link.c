// Linking with lld in this process. It reads files: objects are handed over as anonymous memory files. What comes out
// stays in memory, see lld.cpp.
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "target/llvm/codegen.h"
#include "target/llvm/guard.h"

typedef struct link_t {
  arena_t arena;
  memory_cleanup_t cleanup;
  int* files;
  unsigned file_count;
  const char** argv;
  unsigned argc;
  lld_messages_t messages;
  codegen_bytes_t output;  // lld's
  guard_t guard;
  bool is_first, linked;
} link_t;

static void close_link(void* user) {
  link_t* l = user;
  for (unsigned i = 0; i < l->file_count; ++i) close(l->files[i]);
  l->file_count = 0;
  lld_free(l->output.data);
  l->output = (codegen_bytes_t){0};
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
  l->guard.is_fragile = l->is_first;
  l->linked = lld_run(l->argv, l->argc, &l->messages, &l->output);
}

static void reset_lld(void* user) {
  (void)user;
  lld_reset();
}

// One link at a time: lld keeps its state in globals. What is left of it after an error is dropped where that is safe.
static bool run(link_t* l, text_t* error) {
  static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
  static bool has_linked;  // the first link sets up all of LLVM's targets
  guard_t reset;
  pthread_mutex_lock(&one_at_a_time);
  l->is_first = !has_linked;
  guard_result_t result = guard_run(&l->guard, run_lld, l);
  has_linked |= result == GUARD_DONE;
  if (result == GUARD_FAILED && l->guard.left_llvm && guard_run(&reset, reset_lld, NULL) == GUARD_DONE) {
    memory_scope_drop(&reset.scope);
  }
  pthread_mutex_unlock(&one_at_a_time);
  if (result == GUARD_FAILED && l->messages.size) {  // lld has said why it went
    text_printf(error, "linking failed: %s", l->messages.text);
    return false;
  }
  if (!guard_finish(&l->guard, result, error)) return false;
  if (!l->linked) text_printf(error, "linking failed: %s", l->messages.size ? l->messages.text : "no output");
  return l->linked;
}

bool lld_link(const char* const* args, unsigned arg_count, const codegen_bytes_t* objects, unsigned object_count,
              codegen_bytes_t* out, text_t* error) {
  link_t l = {.argc = 0};
  memory_cleanup_add(&l.cleanup, close_link, &l);
  l.files = ARENA_ARRAY(&l.arena, int, object_count);
  l.argv = ARENA_ARRAY(&l.arena, const char*, arg_count + object_count + 4);
  l.argv[l.argc++] = "ld.lld";
  for (unsigned i = 0; i < arg_count; ++i) l.argv[l.argc++] = args[i];
  bool ok = true;
  for (unsigned i = 0; ok && i < object_count; ++i) ok = add_object(&l, &objects[i], error);
  l.argv[l.argc++] = "--threads=1";
  l.argv[l.argc++] = "-o";
  l.argv[l.argc++] = LLD_NO_FILE;
  ok = ok && run(&l, error);
  if (ok) {
    out->data = memory_alloc(l.output.size + 1);
    out->size = l.output.size;
    memcpy(out->data, l.output.data, out->size);
  }
  memory_cleanup_remove(&l.cleanup);
  close_link(&l);
  arena_finish(&l.arena);
  return ok;
}
