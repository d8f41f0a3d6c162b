// lld has no C interface, and writes files only: through one that it asks LLVM to map, in a folder where LLVM also sets
// up handlers of signals, to remove it. The linker sends that call here, and what lld writes stays in memory. See
// link.c.
#include <cstdlib>
#include <cstring>
#include <memory>

#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileOutputBuffer.h"
#include "llvm/Support/raw_ostream.h"

extern "C" {
#include "target/llvm/codegen.h"
}

LLD_HAS_DRIVER(elf)

namespace {

// Keeps what fits: the first messages say most.
class message_stream_t : public llvm::raw_ostream {
 public:
  explicit message_stream_t(lld_messages_t* out) : raw_ostream(/*unbuffered=*/true), out(out) {}

 private:
  void write_impl(const char* text, size_t size) override {
    size_t room = sizeof(out->text) - 1 - out->size;
    if (size > room) size = room;
    memcpy(out->text + out->size, text, size);
    out->text[out->size += size] = 0;
  }
  uint64_t current_pos() const override { return out->size; }
  lld_messages_t* out;
};

thread_local codegen_bytes_t* current;  // what this thread links

class memory_output_t : public llvm::FileOutputBuffer {
 public:
  memory_output_t(llvm::StringRef path, uint8_t* data, size_t size)
      : FileOutputBuffer(path), out(current), data(data), size(size) {}
  ~memory_output_t() override { free(data); }
  uint8_t* getBufferStart() const override { return data; }
  uint8_t* getBufferEnd() const override { return data + size; }
  size_t getBufferSize() const override { return size; }
  llvm::Error commit() override {
    free(out->data);
    *out = {(char*)data, size};
    data = nullptr;
    return llvm::Error::success();
  }

 private:
  codegen_bytes_t* out;
  uint8_t* data;
  size_t size;
};

}  // namespace

using output_t = llvm::Expected<std::unique_ptr<llvm::FileOutputBuffer>>;
output_t create_file(llvm::StringRef path, size_t size,
                     unsigned flags) asm("__real__ZN4llvm16FileOutputBuffer6createENS_9StringRefEmj");
output_t create_output(llvm::StringRef path, size_t size,
                       unsigned flags) asm("__wrap__ZN4llvm16FileOutputBuffer6createENS_9StringRefEmj");

output_t create_output(llvm::StringRef path, size_t size, unsigned flags) {
  if (!current) return create_file(path, size, flags);
  uint8_t* data = (uint8_t*)calloc(1, size ? size : 1);
  if (!data) throw std::bad_alloc();
  return std::make_unique<memory_output_t>(path, data, size);
}

extern "C" void lld_free(void* data) {
  current = nullptr;
  free(data);
}

extern "C" bool lld_run(const char* const* argv, unsigned argc, lld_messages_t* messages, codegen_bytes_t* out) {
  current = out;
  message_stream_t stream(messages);
  const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  return lld::lldMain(llvm::ArrayRef<const char*>(argv, argc), stream, stream, drivers).retCode == 0;
}

extern "C" void lld_reset(void) { lld::CommonLinkerContext::destroy(); }
