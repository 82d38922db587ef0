// Hides inserted code from sanitizers that run after this pass, because it is not the program's.

#include "llvm-c/Core.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {

constexpr const char *Program = "contech.program";

bool isSanitized(const Function &F) {
  return F.hasFnAttribute(Attribute::SanitizeThread) ||
         F.hasFnAttribute(Attribute::SanitizeAddress) ||
         F.hasFnAttribute(Attribute::SanitizeHWAddress) ||
         F.hasFnAttribute(Attribute::SanitizeMemory);
}

template <typename Visit> void eachAccess(Module &M, Visit V) {
  for (Function &F : M)
    if (isSanitized(F))
      for (BasicBlock &BB : F)
        for (Instruction &I : BB)
          if (I.mayReadOrWriteMemory())
            V(I);
}

} // namespace

extern "C" {

// Marks the program's code before anything is inserted.
void contech_shim_mark_program(LLVMModuleRef MR) {
  MDNode *Mark = MDNode::get(unwrap(MR)->getContext(), {});
  eachAccess(*unwrap(MR), [&](Instruction &I) { I.setMetadata(Program, Mark); });
}

// Hides all code without a mark, which is ours, and the globals with our prefix.
void contech_shim_hide_ours(LLVMModuleRef MR) {
  Module &M = *unwrap(MR);
  MDNode *Empty = MDNode::get(M.getContext(), {});
  eachAccess(M, [&](Instruction &I) {
    if (I.hasMetadata(Program))
      I.setMetadata(Program, nullptr);
    else
      I.setMetadata(LLVMContext::MD_nosanitize, Empty);
  });
  for (GlobalVariable &G : M.globals())
    if (G.getName().starts_with("__contech_")) {
      GlobalValue::SanitizerMetadata Not;
      Not.NoAddress = true;
      G.setSanitizerMetadata(Not);
    }
}

} // extern "C"
