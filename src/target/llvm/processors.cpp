// What LLVM knows of x86 processors; its C interface has only the host.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "llvm-c/Core.h"
#include "llvm-c/TargetMachine.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/X86TargetParser.h"

extern "C" {
#include "base/memory.h"
#include "target/llvm/codegen.h"
#include "target/resolve.h"
}

extern "C" char* processors_host_name(void) {
  char *name = LLVMGetHostCPUName(), *copy = memory_strdup(name);
  LLVMDisposeMessage(name);
  return copy;
}

extern "C" char* processors_host_features(void) {
  char *features = LLVMGetHostCPUFeatures(), *copy = memory_strdup(features);
  LLVMDisposeMessage(features);
  return copy;
}

extern "C" char* processors_x86_features(const char* name) {
  if (llvm::X86::parseArchX86(name, /*Only64Bit=*/true) == llvm::X86::CK_None) return nullptr;
  llvm::SmallVector<llvm::StringRef, 128> features;
  llvm::X86::getFeaturesForCPU(name, features);
  std::string text;
  for (llvm::StringRef feature : features) text += (text.empty() ? "+" : ",+") + feature.str();
  return memory_strdup(text.c_str());
}

extern "C" bool processors_x86_has_feature(const void*, const char* name, size_t size) {
  codegen_initialize();
  const llvm::Triple triple("x86_64-unknown-unknown-eabi-elf");
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<llvm::MCSubtargetInfo> info(target ? target->createMCSubtargetInfo(triple, "", "") : nullptr);
  const llvm::StringRef wanted(name, size);
  return info && llvm::any_of(info->getAllProcessorFeatures(), [&](const auto& row) { return wanted == row.Key; });
}

extern "C" const char* processors_x86_name(uint32_t index) {
  static const llvm::SmallVector<llvm::StringRef, 128> names = [] {
    llvm::SmallVector<llvm::StringRef, 128> list;
    llvm::X86::fillValidCPUArchList(list, /*Only64Bit=*/true);
    return list;
  }();
  return index < names.size() ? names[index].data() : nullptr;
}
