// See ptxas.h. Text, code and messages go through files in memory, so that nothing stays behind however this ends.
#include "target/nvptx/ptxas.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"

extern char** environ;

enum { MAX_ARGUMENTS = 64 };

//===----------------------------------------------------------------------------------------------------------------===
// Finding it
//===----------------------------------------------------------------------------------------------------------------===

static bool is_program(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

static bool try_folder(const char* folder, size_t size, const char* below, char out[PATH_MAX]) {
  int length = size ? snprintf(out, PATH_MAX, "%.*s%s/ptxas", (int)size, folder, below) : PATH_MAX;
  return length < PATH_MAX && is_program(out);
}

static bool find(char out[PATH_MAX]) {
  const char* at = getenv("PATH");
  for (size_t size; at && *at; at += size + (at[size] == ':')) {
    size = strcspn(at, ":");
    if (try_folder(at, size, "", out)) return true;
  }
  const char* const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
  for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); ++i) {
    if (homes[i] && try_folder(homes[i], strlen(homes[i]), "/bin", out)) return true;
  }
  return false;
}

static bool find_tool(const target_ptxas_t* tool, char out[PATH_MAX], text_t* error) {
  static const char* const source =
      "it is part of CUDA's toolkit (https://developer.nvidia.com/cuda-downloads, Debian's "
      "nvidia-cuda-toolkit, PyPI's nvidia-cuda-nvcc)";
  if (!tool->path) {
    if (find(out)) return true;
    text_printf(error,
                "ptxas is neither in PATH nor in the folder bin of CUDA_HOME, CUDA_PATH or /usr/local/cuda; %s; "
                "--iree-cuda-use-ptxas-from= takes its path",
                source);
    return false;
  }
  if (strlen(tool->path) < PATH_MAX && is_program(tool->path)) {
    memcpy(out, tool->path, strlen(tool->path) + 1);
    return true;
  }
  text_printf(error, "--iree-cuda-use-ptxas-from=%s: there is no such program; %s", tool->path, source);
  return false;
}

//===----------------------------------------------------------------------------------------------------------------===
// Running it
//===----------------------------------------------------------------------------------------------------------------===

typedef struct run_t {
  int text, code, said;  // files in memory
  memory_cleanup_t cleanup;
} run_t;

static void close_run(void* user) {
  run_t* run = user;
  const int files[] = {run->text, run->code, run->said};
  for (size_t i = 0; i < 3; ++i) {
    if (files[i] >= 0) close(files[i]);
  }
}

static bool write_all(int fd, const char* data, size_t size) {
  while (size) {
    ssize_t count = write(fd, data, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    data += count;
    size -= (size_t)count;
  }
  return true;
}

// The whole file, NUL-terminated.
static char* read_all(int fd, size_t* out_size) {
  off_t end = lseek(fd, 0, SEEK_END);
  size_t size = end > 0 ? (size_t)end : 0, done = 0;
  char* data = memory_alloc(size + 1);
  while (done < size) {
    ssize_t count = pread(fd, data + done, size - done, (off_t)done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += (size_t)count;
  }
  *out_size = done;
  return data;
}

// The words of `params` behind the fixed arguments; false when there are too many.
static bool add_params(char* params, char* argv[MAX_ARGUMENTS], int count) {
  char* rest = NULL;
  for (char* word = strtok_r(params, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
    if (count == MAX_ARGUMENTS - 1) return false;
    argv[count++] = word;
  }
  argv[count] = NULL;
  return true;
}

// Its exit status; -1 when it could not be run, or did not end by itself.
static int spawn(const char* program, char* const argv[], const run_t* run) {
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return -1;
  pid_t child;
  int status = -1;
  // Both copies lose the mark that closes files in other programs.
  bool ok = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) == 0 &&
            posix_spawn_file_actions_adddup2(&actions, run->said, 1) == 0 &&
            posix_spawn_file_actions_adddup2(&actions, run->said, 2) == 0 &&
            posix_spawn(&child, program, &actions, NULL, argv, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  while (ok && waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return ok && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool assemble(const char* program, const char* params, const char* arch, run_t* run,
                     target_executable_t* executable, text_t* error) {
  // Named through this process, so that no other program inherits the files.
  char target[64], text_path[64], code_path[64];
  int process = (int)getpid();
  snprintf(target, sizeof(target), "-arch=%s", arch);
  snprintf(text_path, sizeof(text_path), "/proc/%d/fd/%d", process, run->text);
  snprintf(code_path, sizeof(code_path), "/proc/%d/fd/%d", process, run->code);
  char* argv[MAX_ARGUMENTS] = {(char*)program, target, text_path, "-o", code_path};
  char* words = memory_strdup(params ? params : "");
  bool ok = add_params(words, argv, 5);
  if (!ok) text_puts(error, "--iree-cuda-use-ptxas-params: too many parameters");
  if (ok && !write_all(run->text, executable->data, executable->size)) {
    text_printf(error, "the text for ptxas: %s", strerror(errno));
    ok = false;
  }
  int status = ok ? spawn(program, argv, run) : 0;
  memory_free(words);
  if (!ok) return false;
  size_t said_size = 0;
  char* said = read_all(run->said, &said_size);
  while (said_size && said[said_size - 1] == '\n') said[--said_size] = 0;
  if (status == 0) executable->cubin = read_all(run->code, &executable->cubin_size);
  if (status == 0 && executable->cubin_size) {
    executable->remarks = said_size ? said : NULL;
    if (!said_size) memory_free(said);
    return true;
  }
  text_printf(error, "%s failed for %s: %s", program, arch, said_size ? said : "it says nothing");
  memory_free(said);
  return false;
}

bool ptxas_assemble(const target_ptxas_t* tool, const char* arch, target_executable_t* executable, text_t* error) {
  char program[PATH_MAX];
  if (!find_tool(tool, program, error)) return false;
  run_t run = {.text = memfd_create("ptx", MFD_CLOEXEC),
               .code = memfd_create("cubin", MFD_CLOEXEC),
               .said = memfd_create("messages", MFD_CLOEXEC)};
  memory_cleanup_add(&run.cleanup, close_run, &run);
  bool ok = run.text >= 0 && run.code >= 0 && run.said >= 0;
  if (!ok) text_printf(error, "files for ptxas: %s", strerror(errno));
  ok = ok && assemble(program, tool->params, arch, &run, executable, error);
  memory_cleanup_remove(&run.cleanup);
  close_run(&run);
  return ok;
}
