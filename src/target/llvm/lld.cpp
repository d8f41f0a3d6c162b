// lld has no C interface. See link.c.
#include <cstring>

#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/ArrayRef.h"
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

}  // namespace

extern "C" bool lld_run(const char* const* argv, unsigned argc, lld_messages_t* messages) {
  message_stream_t stream(messages);
  const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  return lld::lldMain(llvm::ArrayRef<const char*>(argv, argc), stream, stream, drivers).retCode == 0;
}

extern "C" void lld_reset(void) { lld::CommonLinkerContext::destroy(); }
