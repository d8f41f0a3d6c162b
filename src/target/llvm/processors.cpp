// What LLVM knows of x86 processors; its C interface has only the host.
#include <cstdlib>
#include <cstring>
#include <string>

#include "llvm-c/Core.h"
#include "llvm-c/TargetMachine.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/TargetParser/X86TargetParser.h"

extern "C" {
#include "target/resolve.h"
}

extern "C" char* processors_host_name(void) {
  char *name = LLVMGetHostCPUName(), *copy = strdup(name);
  LLVMDisposeMessage(name);
  return copy;
}

extern "C" char* processors_host_features(void) {
  char *features = LLVMGetHostCPUFeatures(), *copy = strdup(features);
  LLVMDisposeMessage(features);
  return copy;
}

extern "C" char* processors_x86_features(const char* name) {
  if (llvm::X86::parseArchX86(name, /*Only64Bit=*/true) == llvm::X86::CK_None) return nullptr;
  llvm::SmallVector<llvm::StringRef, 128> features;
  llvm::X86::getFeaturesForCPU(name, features);
  std::string text;
  for (llvm::StringRef feature : features) text += (text.empty() ? "+" : ",+") + feature.str();
  return strdup(text.c_str());
}

extern "C" const char* processors_x86_name(uint32_t index) {
  static const llvm::SmallVector<llvm::StringRef, 128> names = [] {
    llvm::SmallVector<llvm::StringRef, 128> list;
    llvm::X86::fillValidCPUArchList(list, /*Only64Bit=*/true);
    return list;
  }();
  return index < names.size() ? names[index].data() : nullptr;
}
