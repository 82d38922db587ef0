// Finds loops that do nothing but wait, and puts a call of the runtime at the end of each turn. Their meaning is in
// src/atomics.rs.

#include "llvm-c/Core.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace {
// Whether the address is the same in each turn: it comes from outside of the loop, or from memory. Memory that
// changes makes the turns differ, which is seen when they are recorded.
bool isFixed(const Loop &L, const Value *V, unsigned Depth = 8) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || !L.contains(I))
    return true;
  if (Depth == 0 || !(isa<LoadInst>(I) || isa<GetElementPtrInst>(I) || isa<CastInst>(I)))
    return false;
  return all_of(I->operands(), [&](const Use &U) { return isFixed(L, U, Depth - 1); });
}

// What another thread may change, and has no call of ours beside it.
bool isLook(const Loop &L, const Instruction &I) {
  auto *Load = dyn_cast<LoadInst>(&I);
  return Load && (Load->isVolatile() || Load->isAtomic()) && isFixed(L, Load->getPointerOperand());
}

enum class Call { Other, Rest, Nothing };

Call call(const CallBase &C) {
  if (C.getIntrinsicID() != Intrinsic::not_intrinsic)
    return C.mayWriteToMemory() && !C.isLifetimeStartOrEnd() && !C.getCalledFunction()->getName().ends_with("pause")
               ? Call::Other
               : Call::Nothing;
  if (C.isInlineAsm()) {
    StringRef Text = cast<InlineAsm>(C.getCalledOperand())->getAsmString();
    Text = Text.trim(" \t\n;");
    return Text.empty() || Text == "pause" || Text == "rep; nop" || Text == "rep;nop" ? Call::Nothing : Call::Other;
  }
  const Function *F = C.getCalledFunction();
  if (!F || !F->isDeclaration() || isa<InvokeInst>(C))
    return Call::Other;
  for (StringRef Name : {"sched_yield", "thrd_yield", "usleep", "nanosleep"})
    if (F->getName() == Name)
      return Call::Rest;
  return Call::Other;
}

// Whether the instruction does nothing that is seen outside of the function.
bool isIdle(const Instruction &I) {
  if (auto *C = dyn_cast<CallBase>(&I))
    return call(*C) != Call::Other;
  if (auto *S = dyn_cast<StoreInst>(&I))
    return !S->isVolatile() && isa<AllocaInst>(S->getPointerOperand());
  return !I.mayWriteToMemory();
}

// Whether another thread may change what the instruction finds, or it changes that itself, at once.
bool isTry(const Instruction &I) {
  return isa<AtomicRMWInst>(I) || isa<AtomicCmpXchgInst>(I) ||
         isa<LoadInst>(I) && (I.isVolatile() || I.isAtomic());
}

// Whether the loop does nothing but try: each turn is as the one before, and loops within try, too.
bool tries(const Loop &L) {
  auto Tries = [](const BasicBlock *B) { return any_of(*B, isTry); };
  auto Only = [](const BasicBlock *B) {
    return all_of(*B, [](const Instruction &I) { return isIdle(I) || isTry(I) || isa<FenceInst>(I); });
  };
  return L.getHeader()->phis().empty() && any_of(L.blocks(), Tries) && all_of(L.blocks(), Only) &&
         all_of(L, [](const Loop *Sub) { return tries(*Sub); });
}

// Whether the loop waits, in more ways than one that would be counted without help.
bool waits(const Loop &L) {
  bool Looks = false, Rests = false, Branches = !L.getExitingBlock() || !L.getLoopLatch() || !L.isInnermost();
  for (const BasicBlock *B : L.blocks()) {
    Branches |= count_if(successors(B), [&](const BasicBlock *S) { return L.contains(S); }) > 1;
    for (const Instruction &I : *B) {
      if (!isIdle(I) && !isLook(L, I))
        return false;
      auto *C = dyn_cast<CallBase>(&I);
      Rests |= C && call(*C) == Call::Rest;
      Looks |= isLook(L, I);
    }
  }
  return Looks && (Rests || Branches);
}

// Marks the outermost loops that wait, of the loop and those within.
void mark(Loop &L, Function *Turn) {
  if (!waits(L)) {
    for (Loop *Sub : L)
      mark(*Sub, Turn);
    return;
  }
  SmallVector<BasicBlock *, 4> Latches;
  L.getLoopLatches(Latches);
  for (BasicBlock *B : Latches) {
    Instruction *End = B->getTerminator();
    if (!isa<BranchInst>(End) && !isa<SwitchInst>(End))
      continue;
    IRBuilder<> Builder(End);
    Builder.SetCurrentDebugLocation(End->getDebugLoc());
    CallInst *C = Builder.CreateCall(FunctionCallee(Turn));
    C->setTailCallKind(CallInst::TCK_NoTail);
  }
}
} // namespace

extern "C" {

void contech_shim_mark_waits(LLVMValueRef FV, LLVMValueRef TurnV) {
  Function &F = *unwrap<Function>(FV);
  auto Looks = [](const BasicBlock &B) {
    return any_of(B, [](const Instruction &I) { return isa<LoadInst>(I) && (I.isVolatile() || I.isAtomic()); });
  };
  if (none_of(F, Looks))
    return;
  DominatorTree DT(F);
  LoopInfo LI(DT);
  for (Loop *L : LI)
    mark(*L, unwrap<Function>(TurnV));
}

} // extern "C"
