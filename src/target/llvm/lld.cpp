// lld in process. It has no C interface and works on files, so objects are handed over as anonymous memory files and
// the result is read back from a temporary directory. One link at a time: lld keeps its state in globals.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "lld/Common/Driver.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

extern "C" {
#include "base/memory.h"
#include "target/llvm/codegen.h"
}

LLD_HAS_DRIVER(elf)

static int memory_file(const codegen_bytes_t& bytes) {
  int fd = memfd_create("object", MFD_CLOEXEC);
  size_t done = 0;
  while (fd >= 0 && done < bytes.size) {
    ssize_t n = write(fd, bytes.data + done, bytes.size - done);
    if (n <= 0) {
      close(fd);
      return -1;
    }
    done += (size_t)n;
  }
  return fd;
}

static bool read_file(const std::string& path, codegen_bytes_t* out) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (fd < 0) return false;
  bool ok = fstat(fd, &info) == 0;
  if (ok) {
    out->size = (size_t)info.st_size;
    out->data = (char*)memory_alloc(out->size + 1);
    size_t done = 0;
    for (ssize_t n; done < out->size && (n = read(fd, out->data + done, out->size - done)) > 0;) done += (size_t)n;
    ok = done == out->size;
    out->data[out->size] = 0;
  }
  close(fd);
  return ok;
}

extern "C" bool lld_link(const char* const* args, unsigned arg_count, const codegen_bytes_t* objects,
                         unsigned object_count, codegen_bytes_t* out, text_t* error) {
  static std::mutex one_at_a_time;
  std::lock_guard<std::mutex> lock(one_at_a_time);
  const char* base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : getenv("TMPDIR");
  std::string directory = std::string(base ? base : "/tmp") + "/iree-link-XXXXXX";
  if (!mkdtemp(directory.data())) {
    text_printf(error, "linking: cannot make a directory in %s", base ? base : "/tmp");
    return false;
  }
  std::string output = directory + "/out", messages;
  std::vector<int> files;
  std::vector<std::string> names = {"ld.lld"};
  for (unsigned i = 0; i < arg_count; ++i) names.push_back(args[i]);
  for (unsigned i = 0; i < object_count; ++i) {
    files.push_back(memory_file(objects[i]));
    names.push_back("/proc/self/fd/" + std::to_string(files.back()));
  }
  names.insert(names.end(), {"--threads=1", "-o", output});
  std::vector<const char*> argv;
  for (const std::string& name : names) argv.push_back(name.c_str());
  llvm::raw_string_ostream stream(messages);
  const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  lld::Result result = lld::lldMain(argv, stream, stream, drivers);
  bool ok = result.retCode == 0 && read_file(output, out);
  if (!ok) text_printf(error, "linking failed: %s", messages.empty() ? "no output" : messages.c_str());
  for (int fd : files) {
    if (fd >= 0) close(fd);
  }
  unlink(output.c_str());
  rmdir(directory.c_str());
  return ok;
}
