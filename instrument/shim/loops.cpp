// Finds the loops over the iterations of OpenMP's work-sharing constructs, and gives them edges of their own for
// code. Their meaning is in src/online/loops.rs.

#include "llvm-c/Core.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {
// What is reported; the numbers are those of `Event` in src/online/loops.rs.
enum : unsigned { Begins, Preheader, Latch, Exit, Member, Chunks, Added, Bulk, Unseen };
// The flags of Begins, which are `LOOP_*` of workspan::abi.
enum : unsigned { InChunks = 1, Teams = 2 };

// kmp_sch_static_chunked, _balanced_chunked, kmp_distribute_static_chunked and kmp_distribute_static of libomp's
// kmp.h, without the modifiers.
bool isChunked(uint64_t S) { return S == 33 || S == 45 || S == 91; }
bool isDistribute(uint64_t S) { return S == 91 || S == 92; }

StringRef calledName(const Instruction &I) {
  auto *C = dyn_cast<CallBase>(&I);
  Function *F = C ? C->getCalledFunction() : nullptr;
  return F ? F->getName() : StringRef();
}

// The call into which LLVM turns a loop that only copies or sets memory.
bool isBulk(const Instruction &I) {
  StringRef Name = calledName(I);
  return isa<MemIntrinsic>(I) || Name == "memset_pattern16" || Name == "memset" || Name == "memcpy" || Name == "memmove";
}

struct Iterations {
  Loop *L;
  CallBase *Init;
  unsigned Flags;
};

// The blocks between the call and that of __kmpc_for_static_fini, and the calls there that replace loops over memory.
struct Region {
  SmallPtrSet<BasicBlock *, 16> Blocks;
  SmallVector<CallBase *, 4> Bulks;

  explicit Region(CallBase &Init) {
    if (ends(Init.getNextNode()))
      return;
    SmallVector<BasicBlock *, 16> Work(successors(Init.getParent()));
    while (!Work.empty()) {
      BasicBlock *B = Work.pop_back_val();
      if (B == Init.getParent() || !Blocks.insert(B).second)
        continue;
      if (!ends(&B->front()))
        append_range(Work, successors(B));
    }
  }

  // Whether the region ends between the instruction and the end of its block.
  bool ends(Instruction *I) {
    for (; I; I = I->getNextNode()) {
      if (calledName(*I) == "__kmpc_for_static_fini")
        return true;
      if (isBulk(*I))
        Bulks.push_back(cast<CallBase>(I));
    }
    return false;
  }
};

struct Finder {
  Function &F;
  DominatorTree DT;
  LoopInfo LI;
  SmallVector<Iterations, 8> Found;
  SmallVector<std::pair<CallBase *, Iterations>, 4> Bulks;
  SmallVector<Loop *, 4> ChunkLoops;
  SmallVector<CallBase *, 4> None; // calls that share iterations of which no loop is left

  explicit Finder(Function &F) : F(F), DT(F), LI(DT) {}

  void add(Loop *L, CallBase *Init, unsigned Flags) {
    if (none_of(Found, [&](const Iterations &I) { return I.L == L; }))
      Found.push_back({L, Init, Flags});
  }

  void addChunks(Loop *L, CallBase *Init, unsigned Flags) {
    if (is_contained(ChunkLoops, L))
      return;
    ChunkLoops.push_back(L);
    for (Loop *Inner : *L)
      add(Inner, Init, Flags | InChunks);
    for (BasicBlock *B : L->blocks())
      if (LI.getLoopFor(B) == L)
        for (Instruction &I : *B)
          if (isBulk(I))
            Bulks.push_back({cast<CallBase>(&I), {L, Init, Flags | InChunks}});
  }

  size_t found() const { return Found.size() + Bulks.size(); }

  void find(Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    StringRef Name = calledName(I);
    size_t Before = found();
    if (Name.starts_with("__kmpc_dispatch_next_")) {
      if (Loop *L = LI.getLoopFor(I.getParent()))
        addChunks(L, Call, 0);
      if (found() == Before)
        None.push_back(Call);
      return;
    }
    if (!(Name.starts_with("__kmpc_for_static_init_") || Name.starts_with("__kmpc_dist_for_static_init_")) ||
        Call->arg_size() < 9)
      return;
    auto *Schedule = dyn_cast<ConstantInt>(Call->getArgOperand(2));
    uint64_t S = Schedule ? Schedule->getZExtValue() & 0xff : 34;
    unsigned Flags = isDistribute(S) ? unsigned(Teams) : 0;
    Region Within(*Call);
    Loop *Around = LI.getLoopFor(I.getParent());
    for (Loop *L : LI.getLoopsInPreorder())
      if (L->getParentLoop() == Around && Within.Blocks.contains(L->getHeader())) {
        if (isChunked(S))
          addChunks(L, Call, Flags);
        else
          add(L, Call, Flags);
      }
    for (CallBase *Bulk : Within.Bulks)
      if (LI.getLoopFor(Bulk->getParent()) == Around)
        Bulks.push_back({Bulk, {nullptr, Call, Flags}});
    if (found() == Before)
      None.push_back(Call);
  }

  // Whether the loop has a place for code before it, at the end of each iteration, and after it.
  bool prepare(Loop *L) {
    if (!L->getLoopPreheader() && !InsertPreheaderForLoop(L, &DT, &LI, nullptr, false))
      return false;
    SmallVector<BasicBlock *, 4> Latches;
    L->getLoopLatches(Latches);
    for (BasicBlock *From : Latches) {
      Instruction *End = From->getTerminator();
      bool Within = any_of(successors(From), [&](BasicBlock *To) { return To != L->getHeader() && L->contains(To); });
      if (Within || !isa<BranchInst, SwitchInst>(End)) {
        if (isa<IndirectBrInst>(End))
          return false;
        SplitEdge(From, L->getHeader(), &DT, &LI);
      }
    }
    formDedicatedExitBlocks(L, &DT, &LI, nullptr, false);
    SmallVector<BasicBlock *, 4> Exits;
    L->getUniqueExitBlocks(Exits);
    return all_of(Exits, [&](BasicBlock *B) {
      return B->isEHPad() || all_of(predecessors(B), [&](BasicBlock *From) { return L->contains(From); });
    });
  }
};
} // namespace

extern "C" void contech_shim_loops(LLVMValueRef FV, void (*Visit)(void *, unsigned, LLVMValueRef, uint64_t),
                                   void *Context) {
  Function &F = *unwrap<Function>(FV);
  bool Any = any_of(instructions(F), [](Instruction &I) { return calledName(I).starts_with("__kmpc_"); });
  if (!Any)
    return;
  Finder Find(F);
  for (Instruction &I : instructions(F))
    Find.find(I);
  SmallPtrSet<BasicBlock *, 32> Old;
  for (BasicBlock &B : F)
    Old.insert(&B);
  SmallVector<Iterations, 8> Ready;
  for (Iterations &I : Find.Found)
    if (Find.prepare(I.L))
      Ready.push_back(I);
    else
      Find.None.push_back(I.Init);
  SmallVector<BasicBlock *, 4> Chunked;
  for (Loop *L : Find.ChunkLoops) {
    BasicBlock *Before = L->getLoopPreheader();
    if (!Before)
      Before = InsertPreheaderForLoop(L, &Find.DT, &Find.LI, nullptr, false);
    if (Before)
      Chunked.push_back(Before);
  }
  auto Block = [&](unsigned What, BasicBlock *B) { Visit(Context, What, wrap(static_cast<Value *>(B)), 0); };
  for (BasicBlock &B : F)
    if (!Old.contains(&B))
      Block(Added, &B);
  for (BasicBlock *Before : Chunked)
    Block(Chunks, Before);
  for (CallBase *Call : Find.None)
    Visit(Context, Unseen, wrap(static_cast<Value *>(Call)), 0);
  for (auto &[Call, I] : Find.Bulks)
    if (isa<CallInst>(Call)) {
      Visit(Context, Begins, wrap(static_cast<Value *>(I.Init)), I.Flags);
      Visit(Context, Bulk, wrap(static_cast<Value *>(Call)), 0);
    }
  for (Iterations &I : Ready) {
    Visit(Context, Begins, wrap(static_cast<Value *>(I.Init)), I.Flags);
    Block(Preheader, I.L->getLoopPreheader());
    SmallVector<BasicBlock *, 4> Latches, Exits;
    I.L->getLoopLatches(Latches);
    for (BasicBlock *B : Latches)
      Block(Latch, B);
    I.L->getUniqueExitBlocks(Exits);
    for (BasicBlock *B : Exits)
      if (!B->isEHPad())
        Block(Exit, B);
    for (BasicBlock *B : I.L->blocks())
      Block(Member, B);
  }
}
