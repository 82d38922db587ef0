// The analyses behind the fast recorded form: loops, dominance and ScalarEvolution, written in the expression
// language of contech-trace. src/fast/scev.rs calls this. The only policy here is what an expression may contain.

#include "llvm-c/Core.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/KnownBits.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace {

// Tags of the prefix code, see `Token` in src/fast/scev.rs.
enum : uint64_t {
  TConst,
  TLeaf,
  TIter,
  TGlobal,
  TAdd,
  TMul,
  TZext,
  TSext,
  TUdiv
};

// Recorded addresses and lengths are compared modulo 2^48.
constexpr unsigned AddressBits = 48;
constexpr unsigned MaxDepth = 24;
constexpr size_t MaxTokens = 160;

struct Analysis {
  Function &F;
  const DataLayout &DL;
  DominatorTree DT;
  LoopInfo LI;
  AssumptionCache AC;
  TargetLibraryInfoImpl TLII;
  TargetLibraryInfo TLI;
  std::unique_ptr<ScalarEvolution> SE;
  std::unique_ptr<BranchProbabilityInfo> Probabilities;
  std::unique_ptr<BlockFrequencyInfo> Frequencies;
  SmallVector<Loop *, 8> Loops; // outer loops before inner ones
  DenseMap<const Loop *, unsigned> Index;
  SmallVector<bool, 8> Tracked;

  explicit Analysis(Function &F)
      : F(F), DL(F.getDataLayout()), DT(F), LI(DT), AC(F),
        TLII(F.getParent()->getTargetTriple()), TLI(TLII, &F) {}
};

bool isRecordableGlobal(const GlobalValue *G) {
  return !G->isThreadLocal() && !G->hasExternalWeakLinkage() &&
         !G->hasDLLImportStorageClass() && !isa<GlobalIFunc>(G) &&
         !isa<GlobalAlias>(G) && G->getAddressSpace() == 0 &&
         !(G->hasLocalLinkage() && G->hasComdat()) && !G->hasAppendingLinkage();
}

// Writes an expression for a value at a use.
struct Translator {
  Analysis &A;
  const Instruction *Use;
  SmallVector<uint64_t, 64> Out;

  bool full() const { return Out.size() > MaxTokens; }

  static unsigned width(Type *T, const DataLayout &DL) {
    return T->isPointerTy() ? DL.getPointerTypeSizeInBits(T)
                            : T->getIntegerBitWidth();
  }

  bool dominates(const Value *V) const {
    auto *I = dyn_cast<Instruction>(V);
    return !I || A.DT.dominates(I, Use);
  }

  void leaf(Value *V, unsigned Need) {
    Out.append({TLeaf, reinterpret_cast<uint64_t>(wrap(V)), Need});
  }

  // `Need` is the number of low bits of the result that matter. The written expression is congruent only modulo
  // 2^width of the type.
  bool scev(const SCEV *S, unsigned Need, unsigned Depth) {
    if (Depth > MaxDepth || full())
      return false;
    unsigned W = unsigned(A.SE->getTypeSizeInBits(S->getType()));
    if (W > 64)
      return false;
    Need = std::min(Need, W);
    switch (S->getSCEVType()) {
    case scConstant:
      Out.append(
          {TConst, cast<SCEVConstant>(S)->getAPInt().getZExtValue()});
      return true;
    case scUnknown: {
      Value *V = cast<SCEVUnknown>(S)->getValue();
      if (isa<ConstantPointerNull>(V)) {
        Out.append({TConst, 0});
        return true;
      }
      if (auto *G = dyn_cast<GlobalValue>(V); G && isRecordableGlobal(G)) {
        Out.append({TGlobal, reinterpret_cast<uint64_t>(wrap(V))});
        return true;
      }
      if (isa<UndefValue>(V) || !dominates(V))
        return false;
      leaf(V, Need);
      return true;
    }
    case scAddExpr: {
      auto *Add = cast<SCEVAddExpr>(S);
      Out.append({TAdd, Add->getNumOperands()});
      for (const SCEV *Op : Add->operands())
        if (!scev(Op, Need, Depth + 1))
          return false;
      return true;
    }
    case scMulExpr: {
      auto *Mul = cast<SCEVMulExpr>(S);
      size_t N = Mul->getNumOperands();
      for (size_t I = 0; I + 1 < N; ++I)
        Out.push_back(TMul);
      // The form is a prefix form: a product of N is Mul(Mul(..., x), y).
      for (const SCEV *Op : Mul->operands())
        if (!scev(Op, Need, Depth + unsigned(N)))
          return false;
      return true;
    }
    case scAddRecExpr: {
      auto *Rec = cast<SCEVAddRecExpr>(S);
      const Loop *L = Rec->getLoop();
      auto At = A.Index.find(L);
      if (!Rec->isAffine() || At == A.Index.end() || !A.Tracked[At->second] ||
          !L->contains(Use->getParent()))
        return false;
      Out.append({TAdd, 2});
      if (!scev(Rec->getStart(), Need, Depth + 1))
        return false;
      Out.push_back(TMul);
      if (!scev(Rec->getOperand(1), Need, Depth + 2))
        return false;
      Out.append({TIter, At->second});
      return true;
    }
    case scTruncate:
      return scev(cast<SCEVTruncateExpr>(S)->getOperand(), Need, Depth + 1);
    case scZeroExtend:
    case scSignExtend: {
      const SCEV *Op = cast<SCEVCastExpr>(S)->getOperand();
      unsigned From = unsigned(A.SE->getTypeSizeInBits(Op->getType()));
      Out.append({S->getSCEVType() == scZeroExtend ? TZext : TSext, From});
      return scev(Op, From, Depth + 1);
    }
    case scUDivExpr: {
      auto *Div = cast<SCEVUDivExpr>(S);
      Out.append({TUdiv, W});
      return scev(Div->getLHS(), W, Depth + 1) &&
             scev(Div->getRHS(), W, Depth + 1);
    }
    case scPtrToInt:
      return scev(cast<SCEVCastExpr>(S)->getOperand(), Need, Depth + 1);
    default:
      return false;
    }
  }

  // Follows one instruction where ScalarEvolution gives nothing that can be evaluated.
  bool step(Value *V, unsigned Need, unsigned Depth) {
    auto *Op = dyn_cast<Operator>(V);
    if (!Op)
      return false;
    switch (Op->getOpcode()) {
    case Instruction::GetElementPtr: {
      auto *G = cast<GEPOperator>(V);
      SmallMapVector<Value *, APInt, 4> Variable;
      APInt Constant(64, 0);
      if (!G->collectOffset(A.DL, 64, Variable, Constant))
        return false;
      Out.append({TAdd, 2 + Variable.size()});
      if (!value(G->getPointerOperand(), Need, Depth + 1))
        return false;
      Out.append({TConst, Constant.getZExtValue()});
      for (auto &[Index, Scale] : Variable) {
        unsigned W = Index->getType()->getIntegerBitWidth();
        if (W > 64)
          return false;
        Out.append({TMul, TConst, Scale.getZExtValue()});
        if (W < 64)
          Out.append({TSext, W});
        if (!value(Index, W < 64 ? W : Need, Depth + 3))
          return false;
      }
      return true;
    }
    case Instruction::Add:
      Out.append({TAdd, 2});
      return value(Op->getOperand(0), Need, Depth + 1) && value(Op->getOperand(1), Need, Depth + 1);
    case Instruction::Sub: {
      Out.append({TAdd, 2});
      if (!value(Op->getOperand(0), Need, Depth + 1))
        return false;
      Out.append({TMul, TConst, UINT64_MAX});
      return value(Op->getOperand(1), Need, Depth + 2);
    }
    case Instruction::Mul:
      Out.push_back(TMul);
      return value(Op->getOperand(0), Need, Depth + 1) &&
             value(Op->getOperand(1), Need, Depth + 1);
    case Instruction::Shl: {
      auto *By = dyn_cast<ConstantInt>(Op->getOperand(1));
      if (!By || By->getValue().uge(V->getType()->getIntegerBitWidth()))
        return false;
      Out.append({TMul, TConst, uint64_t(1) << By->getZExtValue()});
      return value(Op->getOperand(0), Need, Depth + 1);
    }
    case Instruction::SExt:
    case Instruction::ZExt: {
      unsigned From = Op->getOperand(0)->getType()->getIntegerBitWidth();
      Out.append({Op->getOpcode() == Instruction::SExt ? TSext : TZext, From});
      return value(Op->getOperand(0), From, Depth + 1);
    }
    case Instruction::Trunc:
      return Op->getOperand(0)->getType()->getIntegerBitWidth() <= 64 &&
             value(Op->getOperand(0), Need, Depth + 1);
    default:
      return false;
    }
  }

  bool value(Value *V, unsigned Need, unsigned Depth) {
    Type *T = V->getType();
    if (Depth > MaxDepth || full() || !(T->isPointerTy() || T->isIntegerTy()) ||
        width(T, A.DL) > 64)
      return false;
    Need = std::min(Need, width(T, A.DL));
    size_t Mark = Out.size();
    if (A.SE->isSCEVable(T) && scev(A.SE->getSCEV(V), Need, Depth + 1) &&
        !full())
      return true;
    Out.truncate(Mark);
    if (step(V, Need, Depth) && !full())
      return true;
    Out.truncate(Mark);
    if (!dominates(V))
      return false;
    leaf(V, Need);
    return true;
  }
};

// Splits S into Base + constant; the constant may be inside the starts of recurrences.
std::pair<const SCEV *, uint64_t> split(ScalarEvolution &SE, const SCEV *S) {
  if (auto *Add = dyn_cast<SCEVAddExpr>(S))
    if (auto *C = dyn_cast<SCEVConstant>(Add->getOperand(0))) {
      SmallVector<const SCEV *, 4> Rest(drop_begin(Add->operands()));
      return {SE.getAddExpr(Rest), C->getAPInt().getSExtValue()};
    }
  if (auto *Rec = dyn_cast<SCEVAddRecExpr>(S)) {
    auto [Base, C] = split(SE, Rec->getStart());
    if (C == 0)
      return {S, 0};
    SmallVector<const SCEV *, 4> Ops(Rec->operands());
    Ops[0] = Base;
    return {SE.getAddRecExpr(Ops, Rec->getLoop(), SCEV::FlagAnyWrap), C};
  }
  if (auto *C = dyn_cast<SCEVConstant>(S))
    return {SE.getZero(C->getType()), C->getAPInt().getSExtValue()};
  return {S, 0};
}

struct Sources {
  SmallPtrSet<const Value *, 8> Values;
  SmallPtrSet<const Loop *, 4> Loops;
  bool follow(const SCEV *S) {
    if (auto *U = dyn_cast<SCEVUnknown>(S))
      Values.insert(U->getValue());
    if (auto *R = dyn_cast<SCEVAddRecExpr>(S))
      Loops.insert(R->getLoop());
    return true;
  }
  bool isDone() const { return false; }
};

Analysis &at(void *H) { return *static_cast<Analysis *>(H); }

} // namespace

extern "C" {

using Push = void (*)(void *, uint64_t);

struct ContechLoop {
  LLVMBasicBlockRef Header;
  LLVMBasicBlockRef Preheader; // null unless there is no boundary call and one entering edge
  int64_t Parent;              // -1: none
};

struct ContechLeaf {
  uint64_t Base; // identity of the value without Offset
  uint64_t Offset;
  uint64_t Bits; // width of the value's type
  uint64_t Active; // bits that may be non-zero
};

// Gives loops without boundary calls a preheader and exits of their own, then analyses. Existing blocks stay, and
// only empty ones are added.
void *contech_fast_open(LLVMValueRef FV, LLVMBasicBlockRef *Calling, size_t N) {
  auto *A = new Analysis(*unwrap<Function>(FV));
  SmallPtrSet<const BasicBlock *, 16> Calls;
  for (size_t I = 0; I != N; ++I)
    Calls.insert(unwrap(Calling[I]));
  for (Loop *L : A->LI.getLoopsInPreorder()) {
    bool Free = none_of(L->blocks(),
                        [&](const BasicBlock *B) { return Calls.contains(B); });
    if (Free && !L->getHeader()->isEHPad()) {
      if (!L->getLoopPreheader())
        InsertPreheaderForLoop(L, &A->DT, &A->LI, nullptr, false);
      formDedicatedExitBlocks(L, &A->DT, &A->LI, nullptr, false);
    }
    A->Index[L] = unsigned(A->Loops.size());
    A->Loops.push_back(L);
    A->Tracked.push_back(Free && L->getLoopPreheader());
  }
  A->SE = std::make_unique<ScalarEvolution>(A->F, A->TLI, A->AC, A->DT, A->LI);
  A->Probabilities =
      std::make_unique<BranchProbabilityInfo>(A->F, A->LI, &A->TLI);
  A->Frequencies = std::make_unique<BlockFrequencyInfo>(
      A->F, *A->Probabilities, A->LI);
  return A;
}

void contech_fast_close(void *H) { delete &at(H); }

void contech_fast_loops(void *H, void (*Visit)(void *, ContechLoop), void *Context) {
  Analysis &A = at(H);
  for (auto [L, Tracked] : zip(A.Loops, A.Tracked)) {
    Loop *Parent = L->getParentLoop();
    Visit(Context, {wrap(L->getHeader()), Tracked ? wrap(L->getLoopPreheader()) : nullptr,
                    Parent ? int64_t(A.Index[Parent]) : -1});
  }
}

int64_t contech_fast_loop_of(void *H, LLVMBasicBlockRef B) {
  Loop *L = at(H).LI.getLoopFor(unwrap(B));
  return L ? int64_t(at(H).Index[L]) : -1;
}

// How often a block is expected to execute in a call of the function.
double contech_fast_frequency(void *H, LLVMBasicBlockRef B) {
  const BlockFrequencyInfo &All = *at(H).Frequencies;
  double Entry = double(All.getEntryFreq().getFrequency());
  double Own = double(All.getBlockFreq(unwrap(B)).getFrequency());
  return Entry > 0 ? Own / Entry : 1;
}

// The expression of an address or length V that the instruction uses; 0 if there is none.
int contech_fast_value(void *H, LLVMValueRef V, LLVMValueRef Use, Push Add,
                       void *Context) {
  Translator T{at(H), unwrap<Instruction>(Use), {}};
  Type *Ty = unwrap(V)->getType();
  if (!Ty->isPointerTy() && !Ty->isIntegerTy())
    return 0;
  unsigned W = Translator::width(Ty, T.A.DL);
  if (W > 64)
    return 0;
  if (W < 64)
    T.Out.append({TZext, W}); // lengths are unsigned
  if (!T.value(unwrap(V), W < 64 ? W : AddressBits, 0))
    return 0;
  for (uint64_t X : T.Out)
    Add(Context, X);
  return 1;
}

// How often the back edge of the loop is taken, as an expression at the end of its preheader.
int contech_fast_count(void *H, size_t I, Push Add, void *Context) {
  Analysis &A = at(H);
  Loop *L = A.Loops[I];
  BasicBlock *Exiting = L->getExitingBlock();
  if (!A.Tracked[I] || !Exiting)
    return 0;
  const SCEV *S = A.SE->getExitCount(L, Exiting);
  if (isa<SCEVCouldNotCompute>(S))
    return 0;
  unsigned W = unsigned(A.SE->getTypeSizeInBits(S->getType()));
  if (W > 64)
    return 0;
  Translator T{A, L->getLoopPreheader()->getTerminator(), {}};
  T.Out.append({TZext, W});
  if (!T.scev(S, W, 1) || T.full())
    return 0;
  for (uint64_t X : T.Out)
    Add(Context, X);
  return 1;
}

// What is known of a value as a leaf. `Visit` gets the instructions (for a loop, the first of its header) after which a
// recorded value is stale.
void contech_fast_leaf(void *H, LLVMValueRef VR, ContechLeaf *Out,
                       void (*Visit)(void *, LLVMValueRef), void *Context) {
  Analysis &A = at(H);
  Value *V = unwrap(VR);
  Type *T = V->getType();
  *Out = {reinterpret_cast<uint64_t>(V), 0, 64, 64};
  if (isa<Instruction>(V))
    Visit(Context, VR);
  if (!T->isPointerTy() && !T->isIntegerTy())
    return;
  Out->Bits = Out->Active = Translator::width(T, A.DL);
  if (T->isIntegerTy() && Out->Bits <= 64)
    Out->Active = computeKnownBits(V, A.DL).countMaxActiveBits();
  if (T->isPointerTy())
    Out->Active = 64; // 6 bytes suffice if 48 bits are needed, otherwise 8
  if (!A.SE->isSCEVable(T) || Out->Bits > 64)
    return;
  auto [Base, Offset] = split(*A.SE, A.SE->getSCEV(V));
  Out->Base = reinterpret_cast<uint64_t>(Base);
  Out->Offset = Offset;
  Sources S;
  visitAll(Base, S);
  for (const Value *U : S.Values)
    if (isa<Instruction>(U))
      Visit(Context, wrap(U));
  for (const Loop *L : S.Loops)
    Visit(Context, wrap(&L->getHeader()->front()));
}

// Puts a block on all edges between two blocks; phis keep one entry for it.
LLVMBasicBlockRef contech_shim_split_edge(LLVMBasicBlockRef FromR,
                                          LLVMBasicBlockRef ToR) {
  BasicBlock *From = unwrap(FromR), *To = unwrap(ToR);
  BasicBlock *Mid = BasicBlock::Create(From->getContext(), "", From->getParent(),
                                       From->getNextNode());
  IRBuilder<> B(Mid);
  BranchInst *Br = B.CreateBr(To);
  Instruction *End = From->getTerminator();
  Br->setDebugLoc(End->getDebugLoc());
  if (isa<InvokeInst>(End)) // then only a branch can be what ends a turn of the loop
    Br->setMetadata(LLVMContext::MD_loop, End->getMetadata(LLVMContext::MD_loop));
  End->replaceSuccessorWith(To, Mid);
  for (PHINode &P : To->phis()) {
    bool First = true;
    for (unsigned I = P.getNumIncomingValues(); I-- > 0;) {
      if (P.getIncomingBlock(I) != From)
        continue;
      if (First)
        P.setIncomingBlock(I, Mid);
      else
        P.removeIncomingValue(I, /*DeletePHIIfEmpty=*/false);
      First = false;
    }
  }
  return wrap(Mid);
}

void contech_shim_promote(LLVMValueRef *Allocas, size_t N) {
  if (N == 0)
    return;
  SmallVector<AllocaInst *, 8> List;
  for (size_t I = 0; I != N; ++I)
    List.push_back(unwrap<AllocaInst>(Allocas[I]));
  DominatorTree DT(*List[0]->getFunction());
  PromoteMemToReg(List, DT);
}

} // extern "C"
