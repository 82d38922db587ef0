// Marks the functions that the user chose as regions of interest. This runs before all optimisations, so that the marks
// stay when such a function is inlined.

#include "llvm/Demangle/Demangle.h"
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

struct RegionPass : PassInfoMixin<RegionPass> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    bool Changed = false;
    for (Function &F : M) {
      if (F.isDeclarationForLinker() || F.isPresplitCoroutine() ||
          F.hasFnAttribute(Attribute::Naked) || F.hasFnAttribute(Marked) || !isChosen(F))
        continue;
      Changed = true;
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
    return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; } // also runs on optnone code
};

} // namespace

void addRegionPass(ModulePassManager &MPM) { MPM.addPass(RegionPass()); }
