// Keeps the order of instructions that kernels for CPUs are written in. LLVM's scheduler between instruction selection
// and register allocation looks at all kinds of registers alike: where a register tile fills the vector registers, it
// saves an address by taking a row of loads up, each of which is then spilled (a convolution of 12 columns whose
// borders are tested: 108 spills in 120 multiplications, half the speed). Processors of this kind reorder by
// themselves.
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/OptBisect.h"

extern "C" {
#include "target/llvm/codegen.h"
}

namespace {

class scheduler_gate_t : public llvm::OptPassGate {
 public:
  bool shouldRunPass(llvm::StringRef name, llvm::StringRef) const override { return name != "machine-scheduler"; }
  bool isEnabled() const override { return true; }
};

scheduler_gate_t gate;

}  // namespace

extern "C" void codegen_keep_order(LLVMContextRef context) { llvm::unwrap(context)->setOptPassGate(gate); }
