// Marks the functions that the user chose as regions of interest, and the loads that the source makes. This runs before
// all optimisations, so that the marks stay when such a function is inlined.

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/EscapeEnumerator.h"

using namespace llvm;

extern "C" {
// Defined in src/plugin.rs. Returns non-zero if the user chose the function of this name.
int contech_is_region(const char *Name, size_t Length);
}

namespace {

constexpr const char *Marked = "contech-region";

bool isChosen(StringRef Name) { return contech_is_region(Name.data(), Name.size()); }

// By the name that the linker sees, without what Fortran appends, or by the C++ name without parameters.
bool isChosen(const Function &F) {
  StringRef Name = F.getName();
  if (isChosen(Name) || (Name.consume_back("_") && isChosen(Name)))
    return true;
  std::string Mangled = F.getName().str(); // outlives D, which points into it
  ItaniumPartialDemangler D;
  if (D.partialDemangle(Mangled.c_str()) || !D.isFunction())
    return false;
  char *Text = D.getFunctionName(nullptr, nullptr);
  bool Is = Text && isChosen(StringRef(Text));
  std::free(Text);
  return Is;
}

// Functions whose loads were marked, and the annotation of the loads.
constexpr const char *LoadsMarked = "contech-loads";

// Gives each load an annotation, and an access group if it has none. The optimiser keeps both where it moves a load. From
// a load that it executes although the source may not it drops the group, which is one of the promises that hold only
// where the source makes the access, and keeps the annotation. No loop names this group, so it promises nothing. A load
// that the optimiser adds has no annotation.
void markLoads(Module &M) {
  MDNode *Group = MDNode::getDistinct(M.getContext(), {});
  for (Function &F : M) {
    // Our own functions are there when a module passes through a second time.
    if (F.isDeclaration() || F.hasFnAttribute(LoadsMarked) || F.getName().starts_with("__contech"))
      continue;
    F.addFnAttr(LoadsMarked);
    for (Instruction &I : instructions(F))
      if (isa<LoadInst>(I)) {
        I.addAnnotationMetadata(LoadsMarked);
        if (!I.hasMetadata(LLVMContext::MD_access_group))
          I.setMetadata(LLVMContext::MD_access_group, Group);
      }
  }
}

struct RegionPass : PassInfoMixin<RegionPass> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    markLoads(M);
    for (Function &F : M) {
      if (F.isDeclarationForLinker() || F.isPresplitCoroutine() ||
          F.hasFnAttribute(Attribute::Naked) || F.hasFnAttribute(Marked) || !isChosen(F))
        continue;
      F.addFnAttr(Marked);
      Type *Void = Type::getVoidTy(M.getContext());
      auto Mark = [&](StringRef Name) {
        FunctionCallee Callee = M.getOrInsertFunction(Name, Void);
        cast<Function>(Callee.getCallee())->setDoesNotThrow();
        return Callee;
      };
      IRBuilder<>(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca())
          .CreateCall(Mark("__contech_region_begin"));
      EscapeEnumerator Exits(F);
      while (IRBuilder<> *Exit = Exits.Next())
        Exit->CreateCall(Mark("__contech_region_end"));
    }
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; } // also runs on optnone code
};

} // namespace

void addRegionPass(ModulePassManager &MPM) { MPM.addPass(RegionPass()); }

namespace {
bool calls(const Instruction *I, StringRef Name) {
  auto *C = dyn_cast_or_null<CallInst>(I);
  return C && C->getCalledFunction() && C->getCalledFunction()->getName() == Name;
}

// Whether this is flang's copy of a threadprivate variable by copyin: the thread that the others copy from stores its
// own value to itself, while they read it. A barrier ends the copies.
bool copiesIn(const StoreInst &S) {
  if (!isa<LoadInst>(S.getValueOperand()) ||
      !calls(dyn_cast<Instruction>(S.getPointerOperand()), "__kmpc_threadprivate_cached"))
    return false;
  const Instruction *I = S.getNextNode();
  while (I && !calls(I, "__kmpc_barrier"))
    I = isa<CallInst>(I) && !calls(I, "__kmpc_threadprivate_cached") &&
                !calls(I, "__kmpc_global_thread_num")
            ? nullptr
            : I->getNextNode();
  return I;
}
} // namespace

extern "C" {
// Whether the compiler made the load or store where the source may not make it.
int contech_shim_is_speculated(LLVMValueRef V) {
  if (auto *S = dyn_cast<StoreInst>(unwrap(V)))
    return copiesIn(*S);
  auto *L = dyn_cast<LoadInst>(unwrap(V));
  return L && L->isSimple() && L->getFunction()->hasFnAttribute(LoadsMarked) &&
         L->hasMetadata(LLVMContext::MD_annotation) && !L->hasMetadata(LLVMContext::MD_access_group);
}
}
