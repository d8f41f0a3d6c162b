// What LLVM knows of processors; its C interface has only the host.
#include <algorithm>
#include <atomic>
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
#include "target/llvm/guard.h"
#include "target/resolve.h"
}

// Calls `body` under a guard: what it has of the memory scope's is the caller's. False when LLVM failed.
template <typename body_t>
static bool guarded(body_t body) {
  guard_t guard;
  text_t reason = {};
  guard_result_t result = guard_run(&guard, [](void* user) { (*(body_t*)user)(); }, &body);
  bool ok = guard_finish(&guard, result, &reason);
  text_finish(&reason);
  return ok;
}

// LLVM's string becomes ours.
static char* take(char* text) {
  char* copy = memory_strdup(text ? text : "");
  LLVMDisposeMessage(text);
  return copy;
}

extern "C" char* processors_host_name(void) {
  char* name = nullptr;
  guarded([&] { name = take(LLVMGetHostCPUName()); });
  return name ? name : memory_strdup("generic");
}

extern "C" char* processors_host_features(void) {
  char* features = nullptr;
  guarded([&] { features = take(LLVMGetHostCPUFeatures()); });
  return features ? features : memory_strdup("");
}

static char* x86_features(const char* name) {
  if (llvm::X86::parseArchX86(name, /*Only64Bit=*/true) == llvm::X86::CK_None) return nullptr;
  llvm::SmallVector<llvm::StringRef, 128> features;
  llvm::X86::getFeaturesForCPU(name, features);
  std::string text;
  for (llvm::StringRef feature : features) text += (text.empty() ? "+" : ",+") + feature.str();
  return memory_strdup(text.c_str());
}

extern "C" char* processors_x86_features(const char* name) {
  char* features = nullptr;
  guarded([&] { features = x86_features(name); });
  return features;
}

static char* features_of(const char* of, const char* name) {
  const llvm::Triple triple(of);
  std::string error, text;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<llvm::MCSubtargetInfo> info(target ? target->createMCSubtargetInfo(triple, "", "") : nullptr);
  if (!info || !info->isCPUStringValid(name)) return nullptr;
  info.reset(target->createMCSubtargetInfo(triple, name, ""));
  for (const auto& row : info->getAllProcessorFeatures()) {
    if (info->getFeatureBits().test(row.Value)) text += (text.empty() ? "+" : ",+") + std::string(row.Key);
  }
  return memory_strdup(text.c_str());
}

extern "C" char* processors_features(const char* triple, const char* name) {
  char* features = nullptr;
  text_t error = {};
  if (codegen_initialize(nullptr, &error)) guarded([&] { features = features_of(triple, name); });
  text_finish(&error);
  return features;
}

static bool has_feature(const char* of, llvm::StringRef wanted, near_t* near) {
  const llvm::Triple triple(of);
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<llvm::MCSubtargetInfo> info(target ? target->createMCSubtargetInfo(triple, "", "") : nullptr);
  if (!info) return false;
  for (const auto& row : info->getAllProcessorFeatures()) {
    if (wanted == row.Key) return true;
    if (near) near_offer(near, row.Key);  // LLVM's table of the target: it stays
  }
  return false;
}

extern "C" bool processors_has_feature(const void* triple, const char* name, size_t size, near_t* near) {
  bool has = false;
  text_t error = {};
  bool ok = codegen_initialize(nullptr, &error) &&
            guarded([&] { has = has_feature((const char*)triple, llvm::StringRef(name, size), near); });
  text_finish(&error);
  return ok && has;
}

extern "C" const char* processors_x86_name(uint32_t index) {
  static const char* names[128];
  static std::atomic<uint32_t> count;
  if (!count) {
    guarded([] {
      llvm::SmallVector<llvm::StringRef, 128> list;
      llvm::X86::fillValidCPUArchList(list, /*Only64Bit=*/true);
      uint32_t size = std::min<size_t>(list.size(), std::size(names));
      for (uint32_t i = 0; i < size; ++i) names[i] = list[i].data();
      count = size;
    });
  }
  return index < count ? names[index] : nullptr;
}
