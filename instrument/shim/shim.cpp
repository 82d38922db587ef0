// What the LLVM C API lacks, over a C ABI: the registration of the pass, and the few transformations of LLVM that the
// recording needs. There is no policy here; src/ir/ calls it.

#include "llvm-c/Core.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

extern "C" __attribute__((weak)) void LLVMInitializeX86AsmParser(void);

namespace {
// flang's code generator puts constructors into .ctors, which lld does not run.
bool isFlangs(Module &M) {
  NamedMDNode *Idents = M.getNamedMetadata("llvm.ident");
  return Idents && any_of(Idents->operands(), [](MDNode *N) {
           auto *Text = N->getNumOperands() ? dyn_cast<MDString>(N->getOperand(0)) : nullptr;
           return Text && Text->getString().contains("flang");
         });
}

// Makes a pointer to the function in an array of its own, which is kept or dropped with it.
void appendToArray(Function &F, StringRef Section) {
  Module &M = *F.getParent();
  auto *Entry = new GlobalVariable(M, F.getType(), false, GlobalValue::LinkOnceODRLinkage, &F,
                                   F.getName() + "_entry");
  Entry->setVisibility(GlobalValue::HiddenVisibility);
  Entry->setComdat(F.getComdat());
  Entry->setSection(Section);
  appendToCompilerUsed(M, {Entry});
}
} // namespace

extern "C" {
// Defined in src/plugin.rs. Returns non-zero if the module was changed. BeforeLink says that the linker will optimise
// the module again.
int contech_run_on_module(LLVMModuleRef M, int BeforeLink);
}

// Defined in regions.cpp.
void addRegionPass(ModulePassManager &MPM);

namespace {
struct InstrumentPass : PassInfoMixin<InstrumentPass> {
  bool BeforeLink;
  explicit InstrumentPass(bool BeforeLink) : BeforeLink(BeforeLink) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    return contech_run_on_module(wrap(&M), BeforeLink) ? PreservedAnalyses::none()
                                           : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; } // also runs on optnone code
};
} // namespace

extern "C" {

// OptimizerLast sees the code that really runs, also at -O0. With LTO it runs before the link, so that any linker
// will do; functions carry a mark, so a second run after the link adds nothing.
void contech_shim_register(void *PB) {
  static_cast<PassBuilder *>(PB)->registerPipelineStartEPCallback(
      [](ModulePassManager &MPM, OptimizationLevel) { addRegionPass(MPM); });
  static_cast<PassBuilder *>(PB)->registerOptimizerLastEPCallback(
      [](ModulePassManager &MPM, OptimizationLevel, ThinOrFullLTOPhase Phase) {
        MPM.addPass(InstrumentPass(
            Phase == ThinOrFullLTOPhase::ThinLTOPreLink ||
            Phase == ThinOrFullLTOPhase::FullLTOPreLink));
      });
  static_cast<PassBuilder *>(PB)->registerPipelineParsingCallback(
      [](StringRef Name, ModulePassManager &MPM,
         ArrayRef<PassBuilder::PipelineElement>) {
        if (Name != "contech")
          return false;
        addRegionPass(MPM);
        MPM.addPass(InstrumentPass(/*BeforeLink=*/false));
        return true;
      });
}

// Reports a compile error: clang exits non-zero and writes no object.
void contech_shim_error(LLVMModuleRef M, const char *Text, size_t Length) {
  unwrap(M)->getContext().emitError("contech: " + StringRef(Text, Length));
}

// Moves static allocas to the head of the entry block: a capacity check splits that block, and an alloca below the
// split would become a dynamic one.
void contech_shim_hoist_allocas(LLVMValueRef F) {
  BasicBlock &Entry = unwrap<Function>(F)->getEntryBlock();
  Instruction *Head = &*Entry.getFirstNonPHIOrDbgOrAlloca();
  SmallVector<AllocaInst *, 16> Late;
  for (auto I = Head->getIterator(); I != Entry.end(); ++I)
    if (auto *A = dyn_cast<AllocaInst>(&*I); A && A->isStaticAlloca())
      Late.push_back(A);
  for (AllocaInst *A : Late)
    A->moveBefore(Head->getIterator());
}

// Turns `tail call; br ret-block` into `tail call; ret`. CodeGenPrepare would do this later, but an id written in the
// shared return block would prevent it then.
void contech_shim_fold_tail_returns(LLVMValueRef FV) {
  Function &F = *unwrap<Function>(FV);
  if (F.hasOptNone())
    return;
  for (BasicBlock &BB : make_early_inc_range(F)) {
    auto *Ret = dyn_cast<ReturnInst>(BB.getTerminator());
    if (!Ret || &*BB.getFirstNonPHIOrDbg() != Ret)
      continue;
    SmallVector<BasicBlock *, 8> Preds(predecessors(&BB));
    for (BasicBlock *Pred : Preds) {
      auto *Br = dyn_cast<BranchInst>(Pred->getTerminator());
      if (!Br || Br->isConditional())
        continue;
      auto *Call = dyn_cast_or_null<CallInst>(Br->getPrevNode());
      if (!Call || !Call->isTailCall() || isa<IntrinsicInst>(Call))
        continue;
      // The PHI is looked up each time, because folding an edge may dissolve it.
      Value *Returned = Ret->getReturnValue();
      if (auto *Phi = dyn_cast_or_null<PHINode>(Returned);
          Phi && Phi->getParent() == &BB)
        Returned = Phi->getIncomingValueForBlock(Pred);
      if (Returned && Returned != Call)
        continue;
      FoldReturnIntoUncondBranch(Ret, &BB, Pred);
    }
    if (pred_empty(&BB) && &BB != &F.getEntryBlock() && !BB.hasAddressTaken())
      DeleteDeadBlock(&BB);
  }
}

// Splits after the i1 `Cond`; returns the terminator of the new, unlikely block, which runs when it is true.
LLVMValueRef contech_shim_split_unlikely(LLVMValueRef Cond) {
  auto *C = unwrap<Instruction>(Cond);
  MDNode *Weights = MDBuilder(C->getContext()).createUnlikelyBranchWeights();
  return wrap(SplitBlockAndInsertIfThen(
      C, std::next(C->getIterator()), /*Unreachable=*/false, Weights));
}

// Flang does not prepare its LLVM for inline assembly, so this does.
void contech_shim_allow_assembly() {
  if (LLVMInitializeX86AsmParser)
    LLVMInitializeX86AsmParser();
}

// Whether the call may touch memory of the program (not only its own hidden state).
int contech_shim_touches_memory(LLVMValueRef Call) {
  MemoryEffects E = unwrap<CallBase>(Call)->getMemoryEffects();
  return !E.doesNotAccessMemory() && !E.onlyAccessesInaccessibleMem();
}

int contech_shim_never_returns(LLVMValueRef Call) {
  return unwrap<CallBase>(Call)->doesNotReturn();
}

// The bytes copied for an argument that is passed by copy (byval) in memory; 0 for others.
uint64_t contech_shim_byval_size(LLVMModuleRef M, LLVMValueRef Call,
                                 unsigned Argument) {
  auto *C = unwrap<CallBase>(Call);
  Type *T = C->isByValArgument(Argument) ? C->getParamByValType(Argument)
                                         : nullptr;
  return T ? unwrap(M)->getDataLayout().getTypeAllocSize(T).getFixedValue() : 0;
}

// Whether the pointer is a swifterror slot, which only loads, stores and calls may use.
int contech_shim_is_swift_error(LLVMValueRef V) {
  return unwrap(V)->isSwiftError();
}

// Whether a function is the C library's function of its name. The prototype counts too, because a program may have a
// `void log(const char *)` of its own.
int contech_shim_is_library_function(LLVMValueRef FV) {
  const Function &F = *unwrap<Function>(FV);
  TargetLibraryInfoImpl Impl(F.getParent()->getTargetTriple());
  LibFunc Unused;
  return TargetLibraryInfo(Impl).getLibFunc(F, Unused);
}

// The function that a scope is in: its name for the linker or, if it has none, its own.
const char *contech_shim_function_of(LLVMMetadataRef Scope, size_t *Length) {
  const DISubprogram *S = cast<DILocalScope>(unwrap(Scope))->getSubprogram();
  StringRef Name = S->getLinkageName().empty() ? S->getName() : S->getLinkageName();
  *Length = Name.size();
  return Name.data();
}

// The bytes that a load or store of the type accesses; all ones if known only at run time.
uint64_t contech_shim_store_size(LLVMModuleRef M, LLVMTypeRef T) {
  TypeSize S = unwrap(M)->getDataLayout().getTypeStoreSize(unwrap(T));
  return S.isScalable() ? UINT64_MAX : S.getFixedValue();
}

// Functions whose `annotate` attribute carries this text.
void contech_shim_each_annotated(LLVMModuleRef M, const char *Text,
                                 size_t Length,
                                 void (*Visit)(void *, LLVMValueRef),
                                 void *Context) {
  GlobalVariable *GV = unwrap(M)->getNamedGlobal("llvm.global.annotations");
  auto *List = GV && GV->hasInitializer()
                   ? dyn_cast<ConstantArray>(GV->getInitializer())
                   : nullptr;
  if (!List)
    return;
  for (Use &U : List->operands()) {
    auto *Entry = dyn_cast<ConstantStruct>(U.get());
    if (!Entry || Entry->getNumOperands() < 2)
      continue;
    auto *F = dyn_cast<Function>(Entry->getOperand(0)->stripPointerCasts());
    StringRef Got;
    if (F && getConstantStringInfo(Entry->getOperand(1), Got) &&
        Got == StringRef(Text, Length))
      Visit(Context, wrap(F));
  }
}

void contech_shim_append_ctor(LLVMModuleRef M, LLVMValueRef F) {
  if (isFlangs(*unwrap(M)))
    appendToArray(*unwrap<Function>(F), ".init_array.0");
  else
    appendToGlobalCtors(*unwrap(M), unwrap<Function>(F), 0, unwrap<Function>(F));
}
void contech_shim_append_dtor(LLVMModuleRef M, LLVMValueRef F) {
  if (isFlangs(*unwrap(M)))
    appendToArray(*unwrap<Function>(F), ".fini_array.0");
  else
    appendToGlobalDtors(*unwrap(M), unwrap<Function>(F), 0, unwrap<Function>(F));
}
void contech_shim_append_used(LLVMModuleRef M, LLVMValueRef V) {
  appendToUsed(*unwrap(M), {unwrap<GlobalValue>(V)});
}

} // extern "C"
