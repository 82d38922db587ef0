// Functions that take the cursor from their caller and hand it back in a register (r12, where x86-64 passes
// `swifterror`), and the calls of them. src/carry.rs calls this, and says why it is done.

#include "llvm-c/Core.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {

// Whether code generation may turn the call into a jump: its result, if any, is returned at once.
bool isTail(const CallInst &Call) {
  if (Call.isMustTailCall())
    return true;
  if (!Call.isTailCall())
    return false;
  const Instruction *I = Call.getNextNode();
  for (; I && !I->isTerminator(); I = I->getNextNode())
    if (!isa<DbgInfoIntrinsic>(I) && !I->isLifetimeStartOrEnd() &&
        (I->mayHaveSideEffects() || I->mayReadFromMemory()))
      return false;
  if (auto *Br = dyn_cast_or_null<BranchInst>(I); Br && Br->isUnconditional()) {
    // The return block is copied after the call if that makes the call a tail call.
    const BasicBlock *Next = Br->getSuccessor(0);
    I = &*Next->getFirstNonPHIOrDbgOrLifetime();
  }
  auto *Ret = dyn_cast_or_null<ReturnInst>(I);
  if (!Ret)
    return false;
  const Value *V = Ret->getReturnValue();
  while (auto *Cast = dyn_cast_or_null<CastInst>(V))
    V = Cast->getOperand(0);
  if (auto *Phi = dyn_cast_or_null<PHINode>(V))
    return is_contained(Phi->incoming_values(), &Call) ||
           any_of(Phi->incoming_values(),
                  [](const Use &U) { return isa<UndefValue>(U); });
  return !V || V == &Call || isa<UndefValue>(V);
}

struct Carrier {
  Module &M;
  explicit Carrier(Module &M) : M(M) {}
  DenseMap<Function *, unsigned> Chosen;
  // For each function of the module, the functions to which it may jump; null stands for any function outside.
  DenseMap<Function *, SmallVector<Function *, 2>> Tails;

  static bool isOpen(const Function &F) {
    return !F.hasLocalLinkage() || F.hasAddressTaken();
  }

  void findTails() {
    TargetLibraryInfoImpl Impl(M.getTargetTriple());
    TargetLibraryInfo TLI(Impl);
    for (Function &F : M)
      for (BasicBlock &BB : F)
        for (Instruction &I : BB) {
          auto *Call = dyn_cast<CallInst>(&I);
          if (!Call || isa<IntrinsicInst>(Call) || Call->isInlineAsm() ||
              !isTail(*Call))
            continue;
          Function *To = Call->getCalledFunction();
          LibFunc Unused;
          if (To && To->isDeclaration() && TLI.getLibFunc(*To, Unused))
            continue; // the call returns without jumping to a function of ours
          if (To && (To->isDeclaration() || To->isInterposable()))
            To = nullptr;
          Tails[&F].push_back(To);
        }
  }

  // Whether a chain of tail calls may lead from the function to itself. Without tail calls it would need unbounded
  // stack.
  bool isInTailCycle(Function &F) {
    SmallVector<Function *, 8> Work(Tails.lookup(&F));
    DenseSet<Function *> Seen;
    while (!Work.empty()) {
      Function *At = Work.pop_back_val();
      if (At == &F || (!At && isOpen(F)))
        return true;
      if (!Seen.insert(At).second)
        continue;
      if (At)
        append_range(Work, Tails.lookup(At));
      else
        for (auto &[Open, To] : Tails)
          if (Open && isOpen(*Open))
            append_range(Work, To);
    }
    return false;
  }

  // SafeStack moves everything whose address is passed to a call, including slots, to a stack of its own.
  static bool mayHaveSlot(const Function &F) {
    return !F.hasOptNone() && !F.hasFnAttribute(Attribute::SafeStack);
  }

  static bool mayTake(const Function &F) {
    if ((F.getCallingConv() != CallingConv::C &&
         F.getCallingConv() != CallingConv::Fast) ||
        F.isVarArg() || F.isInterposable() ||
        F.hasFnAttribute("no_caller_saved_registers") ||
        F.hasFnAttribute("no_callee_saved_registers") ||
        F.hasFnAttribute(Attribute::NoReturn) || !mayHaveSlot(F) ||
        F.getName() == "main")
      return false;
    // The loader may replace this definition by that of another file.
    if (!F.hasLocalLinkage() && !F.isDSOLocal() && !F.hasLinkOnceODRLinkage() &&
        !F.hasWeakODRLinkage() &&
        F.getParent()->getPICLevel() != PICLevel::NotPIC &&
        F.getParent()->getPIELevel() == PIELevel::Default)
      return false;
    if (F.hasComdat() &&
        F.getComdat()->getSelectionKind() != Comdat::Any)
      return false;
    for (const Argument &A : F.args())
      if (A.hasAttribute(Attribute::SwiftError) ||
          A.hasAttribute(Attribute::InAlloca) ||
          A.hasAttribute(Attribute::Preallocated))
        return false;
    for (const BasicBlock &BB : F) {
      if (BB.hasAddressTaken())
        return false;
      for (const Instruction &I : BB) {
        if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->isMustTailCall())
          return false;
        if (auto *A = dyn_cast<AllocaInst>(&I); A && A->isSwiftError())
          return false;
      }
    }
    return true;
  }

  bool mayHand(const CallBase &Call, const Function &To) {
    const Function &From = *Call.getFunction();
    if (auto *C = dyn_cast<CallInst>(&Call); C && C->isMustTailCall())
      return false;
    return (isa<CallInst>(Call) || isa<InvokeInst>(Call)) &&
           Call.getFunctionType() == To.getFunctionType() &&
           Call.getCallingConv() == To.getCallingConv() &&
           mayHaveSlot(From) && Chosen.contains(&From);
  }

  static AttributeList withCursor(LLVMContext &C, AttributeList L, unsigned At) {
    return L.addParamAttribute(C, At, Attribute::SwiftError);
  }

  // Moves the body of F into a function with one more argument. `Open` says that F is called by others too, and so
  // stays, without a body.
  Function *move(Function &F, bool Open) {
    LLVMContext &C = M.getContext();
    SmallVector<Type *, 8> Types(F.getFunctionType()->params());
    Types.push_back(PointerType::getUnqual(C));
    auto *T = FunctionType::get(F.getReturnType(), Types, false);
    Function *To = Function::Create(T, F.getLinkage(), F.getAddressSpace(), "", &M);
    To->copyAttributesFrom(&F);
    To->setAttributes(withCursor(C, F.getAttributes(), Types.size() - 1));
    M.getFunctionList().remove(To);
    M.getFunctionList().insert(F.getIterator(), To);
    To->splice(To->begin(), &F);
    for (auto [Old, New] : zip(F.args(), To->args())) {
      Old.replaceAllUsesWith(&New);
      New.takeName(&Old);
    }
    To->copyMetadata(&F, 0);
    if (!Open) {
      To->setComdat(F.getComdat());
      To->takeName(&F);
      return To;
    }
    To->setName(F.getName() + ".carried");
    if (F.hasLinkOnceLinkage() || F.hasWeakLinkage()) {
      To->setLinkage(GlobalValue::LinkOnceODRLinkage);
      To->setVisibility(GlobalValue::HiddenVisibility);
      if (F.hasComdat())
        To->setComdat(M.getOrInsertComdat(To->getName()));
    } else {
      To->setLinkage(GlobalValue::InternalLinkage);
      To->setVisibility(GlobalValue::DefaultVisibility);
    }
    To->setDLLStorageClass(GlobalValue::DefaultStorageClass);
    To->setDSOLocal(true);
    return To;
  }

  // Gives F a body that takes the cursor from `At`, and puts it back there after the call.
  void forward(Function &F, Function &To, Value *At) {
    LLVMContext &C = M.getContext();
    F.clearMetadata();
    if (F.hasPersonalityFn())
      F.setPersonalityFn(nullptr);
    F.addFnAttr("contech-instrumented");
    IRBuilder<> B(BasicBlock::Create(C, "", &F));
    Type *Ptr = B.getPtrTy();
    AllocaInst *Slot = B.CreateAlloca(Ptr);
    Slot->setSwiftError(true);
    B.CreateStore(B.CreateLoad(Ptr, At), Slot);
    SmallVector<Value *, 8> Arguments;
    for (Argument &A : F.args())
      Arguments.push_back(&A);
    Arguments.push_back(Slot);
    CallInst *Call = B.CreateCall(&To, Arguments);
    Call->setCallingConv(To.getCallingConv());
    // The attributes that the ABI needs must also be on the call.
    AttributeList L = To.getAttributes();
    Call->setAttributes(AttributeList::get(C, AttributeSet(), L.getRetAttrs(), [&] {
      SmallVector<AttributeSet, 8> P;
      for (unsigned I = 0; I != Arguments.size(); ++I)
        P.push_back(L.getParamAttrs(I));
      return P;
    }()));
    B.CreateStore(B.CreateLoad(Ptr, Slot), At);
    if (F.getReturnType()->isVoidTy())
      B.CreateRetVoid();
    else
      B.CreateRet(Call);
  }

  static void hand(CallBase &Call, Function &To, Value *Slot) {
    SmallVector<Value *, 8> Arguments(Call.args());
    Arguments.push_back(Slot);
    SmallVector<OperandBundleDef, 1> Bundles;
    Call.getOperandBundlesAsDefs(Bundles);
    CallBase *New;
    if (auto *I = dyn_cast<InvokeInst>(&Call)) {
      New = InvokeInst::Create(To.getFunctionType(), &To, I->getNormalDest(),
                               I->getUnwindDest(), Arguments, Bundles, "",
                               Call.getIterator());
    } else {
      New = CallInst::Create(To.getFunctionType(), &To, Arguments, Bundles, "",
                             Call.getIterator());
      New->copyIRFlags(&Call); // no tail call, because it is given a slot of this frame
    }
    New->setCallingConv(Call.getCallingConv());
    New->setAttributes(withCursor(Call.getContext(), Call.getAttributes(),
                                  unsigned(Arguments.size()) - 1));
    New->copyMetadata(Call);
    New->cloneDebugInfoFrom(&Call);
    Call.replaceAllUsesWith(New);
    New->takeName(&Call);
    Call.eraseFromParent();
  }
};

} // namespace

extern "C" {

struct ContechCarried {
  LLVMValueRef Function; // in: a chosen function; out: the function that now has its body
  LLVMValueRef Slot; // where it puts the cursor for calls that take it, or null
  uint64_t Takes;        // whether it takes the cursor itself
};

// `At`: the thread-local cursor.
void contech_shim_carry(LLVMModuleRef MR, ContechCarried *List, size_t N,
                        LLVMValueRef At) {
  Carrier C(*unwrap(MR));
  for (size_t I = 0; I != N; ++I)
    C.Chosen[unwrap<Function>(List[I].Function)] = unsigned(I);
  C.findTails();
  SmallVector<std::pair<Function *, SmallVector<CallBase *, 4>>, 16> Taking;
  for (size_t I = 0; I != N; ++I) {
    auto *F = unwrap<Function>(List[I].Function);
    if (!Carrier::mayTake(*F) || C.isInTailCycle(*F))
      continue;
    SmallVector<CallBase *, 4> Calls;
    for (Use &U : F->uses())
      if (auto *Call = dyn_cast<CallBase>(U.getUser());
          Call && Call->isCallee(&U) && C.mayHand(*Call, *F))
        Calls.push_back(Call);
    if (!Calls.empty())
      Taking.push_back({F, Calls});
  }
  DenseMap<Function *, Function *> Moved;
  for (auto &[F, Calls] : Taking) {
    bool Open = !F->hasLocalLinkage() || F->getNumUses() != Calls.size();
    Function *To = C.move(*F, Open);
    unsigned I = C.Chosen[F];
    List[I].Function = wrap(To);
    List[I].Takes = 1;
    Moved[F] = To;
    C.Chosen[To] = I;
    if (Open)
      C.forward(*F, *To, unwrap(At));
  }
  for (auto &[F, Calls] : Taking) {
    for (CallBase *Call : Calls) {
      ContechCarried &From = List[C.Chosen[Call->getFunction()]];
      if (!From.Slot) {
        BasicBlock &Entry = Call->getFunction()->getEntryBlock();
        auto *Slot = new AllocaInst(PointerType::getUnqual(C.M.getContext()), 0,
                                    "", Entry.begin());
        Slot->setSwiftError(true);
        From.Slot = wrap(Slot);
      }
      Carrier::hand(*Call, *Moved[F], unwrap(From.Slot));
    }
    if (F->isDeclaration())
      F->eraseFromParent();
  }
}

} // extern "C"
