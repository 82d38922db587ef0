// Puts the kind of shared work into the location argument of __kmpc_for_static_init_*. clang does this and flang does
// not. If a tool asks, libomp then guesses, and writes a warning into the program's output.

#include "llvm-c/Core.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {
// KMP_IDENT_WORK_* and kmp_distribute_static_chunked, kmp_distribute_static of libomp's kmp.h.
constexpr uint64_t WorkLoop = 0x200, WorkSections = 0x400, WorkDistribute = 0x800;
constexpr uint64_t DistributeChunked = 91, DistributeStatic = 92;

// OpenMPIRBuilder turns sections into a loop of a switch; only the name tells this loop from others.
bool sharesSections(CallBase &Init) {
  SmallPtrSet<BasicBlock *, 16> Seen;
  SmallVector<BasicBlock *, 16> Work{Init.getParent()};
  while (!Work.empty()) {
    BasicBlock *B = Work.pop_back_val();
    if (!Seen.insert(B).second)
      continue;
    if (B->getName().starts_with("omp_section_loop"))
      return true;
    bool Ends = any_of(*B, [](Instruction &I) {
      auto *C = dyn_cast<CallBase>(&I);
      Function *F = C ? C->getCalledFunction() : nullptr;
      return F && F->getName() == "__kmpc_for_static_fini";
    });
    if (!Ends)
      append_range(Work, successors(B));
  }
  return false;
}

uint64_t kind(CallBase &Init) {
  auto *Schedule = dyn_cast<ConstantInt>(Init.getArgOperand(2));
  if (Schedule && (Schedule->getZExtValue() == DistributeChunked ||
                   Schedule->getZExtValue() == DistributeStatic))
    return WorkDistribute;
  return sharesSections(Init) ? WorkSections : WorkLoop;
}

bool mark(CallBase &Init) {
  auto *Ident = dyn_cast<GlobalVariable>(Init.getArgOperand(0)->stripPointerCasts());
  if (!Ident || !Ident->hasDefinitiveInitializer())
    return false;
  auto *Fields = dyn_cast<ConstantStruct>(Ident->getInitializer());
  if (!Fields || Fields->getNumOperands() != 5)
    return false;
  auto *Flags = dyn_cast<ConstantInt>(Fields->getOperand(1));
  if (!Flags || Flags->getZExtValue() & (WorkLoop | WorkSections | WorkDistribute))
    return false;
  SmallVector<Constant *, 5> Copy;
  for (Use &Field : Fields->operands())
    Copy.push_back(cast<Constant>(Field));
  Copy[1] = ConstantInt::get(Flags->getType(), Flags->getZExtValue() | kind(Init));
  // The location is copied, because other calls may use it, too.
  auto *Marked = new GlobalVariable(*Ident->getParent(), Ident->getValueType(), Ident->isConstant(),
                                    GlobalValue::PrivateLinkage,
                                    ConstantStruct::get(Fields->getType(), Copy), Ident->getName());
  Marked->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  Marked->setAlignment(Ident->getAlign());
  Init.setArgOperand(0, Marked);
  return true;
}
} // namespace

extern "C" int contech_shim_mark_workshares(LLVMModuleRef M) {
  bool Changed = false;
  for (StringRef Name : {"__kmpc_for_static_init_4", "__kmpc_for_static_init_4u",
                         "__kmpc_for_static_init_8", "__kmpc_for_static_init_8u"})
    if (Function *F = unwrap(M)->getFunction(Name))
      for (User *U : make_early_inc_range(F->users()))
        if (auto *Init = dyn_cast<CallBase>(U);
            Init && Init->getCalledFunction() == F && Init->arg_size() == 9)
          Changed |= mark(*Init);
  return Changed;
}
