// Puts every atomic operation of a function between two calls of the runtime, which give it its place in the order of
// its address. Policy and meaning are in src/atomics.rs and contech_trace::abi (ATOMIC_*). waits.cpp knows loops.

#include "llvm-c/Core.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include <optional>

using namespace llvm;

namespace {
// The order of a fence between threads. A flush of OpenMP is one, in libomp's code.
std::optional<AtomicOrdering> fence(const Instruction &I) {
  if (auto *Fence = dyn_cast<FenceInst>(&I); Fence && Fence->getSyncScopeID() != SyncScope::SingleThread)
    return Fence->getOrdering();
  if (auto *C = dyn_cast<CallInst>(&I); C && !C->isMustTailCall())
    if (const Function *F = C->getCalledFunction(); F && F->getName() == "__kmpc_flush")
      return AtomicOrdering::SequentiallyConsistent;
  return {};
}

constexpr uint64_t Load = 0, Store = 1 << 3, Rmw = 2 << 3, Fail = 3 << 3, Silent = 1 << 5,
                   Unstated = 1 << 6, Counts = 1 << 7, Spins = 1 << 10, Takes = 1 << 11,
                   Gives = 1 << 12;
constexpr unsigned SizeShift = 8;
constexpr uint64_t Relaxed = 0, SeqCst = 5;

uint64_t order(AtomicOrdering O) {
  return isStrongerThanUnordered(O) ? static_cast<uint64_t>(toCABI(O)) : Relaxed;
}

// An operation: what the runtime must know of it, as far as it is known before it executes.
struct Op {
  Instruction *At = nullptr;
  Value *Address = nullptr;
  uint64_t Kind = Load;
  uint64_t Order = SeqCst; // for a compare-exchange that may turn out to be of the weaker kind: Failure
  uint64_t Failure = SeqCst;
  Value *DynamicOrder = nullptr;
  Value *Found = nullptr;   // the value it found, if that is the instruction's result
  Value *Success = nullptr; // for a compare-exchange that is a call
  bool Around = true; // false: the operation is complete and must only be reported
};

bool plain(Value *Address) { return Address->getType()->getPointerAddressSpace() == 0; }

// Functions of Rust's library in which thread::scope counts its threads (std/src/thread/scoped.rs).
constexpr StringLiteral BeginsThread = "9ScopeData29increment_num_running_threads",
                        EndsThread = "9ScopeData29decrement_num_running_threads";

// Whether the instruction is one of this function, which may be inlined.
bool isOf(const Instruction &I, StringRef Name) {
  for (const DILocation *L = I.getDebugLoc(); L; L = L->getInlinedAt())
    if (const DISubprogram *S = L->getScope()->getSubprogram(); S->getLinkageName().contains(Name))
      return true;
  return I.getFunction()->getName().contains(Name);
}

bool endsThread(const Instruction &I) {
  auto *R = dyn_cast<AtomicRMWInst>(&I);
  return R && R->getOperation() == AtomicRMWInst::Sub && isOf(I, EndsThread);
}

std::optional<Op> instruction(Instruction &I) {
  Op O;
  O.At = &I;
  if (auto *L = dyn_cast<LoadInst>(&I)) {
    if (!isStrongerThanUnordered(L->getOrdering()) || L->getSyncScopeID() == SyncScope::SingleThread)
      return {};
    O.Address = L->getPointerOperand(), O.Order = order(L->getOrdering()), O.Found = L;
  } else if (auto *S = dyn_cast<StoreInst>(&I)) {
    if (!isStrongerThanUnordered(S->getOrdering()) || S->getSyncScopeID() == SyncScope::SingleThread)
      return {};
    O.Address = S->getPointerOperand(), O.Order = order(S->getOrdering()), O.Kind = Store;
  } else if (auto *R = dyn_cast<AtomicRMWInst>(&I)) {
    if (R->getSyncScopeID() == SyncScope::SingleThread)
      return {};
    O.Address = R->getPointerOperand(), O.Order = order(R->getOrdering()), O.Kind = Rmw, O.Found = R;
    bool Begins = R->getOperation() == AtomicRMWInst::Add && isOf(I, BeginsThread);
    if (Begins || endsThread(I))
      O.Kind |= Counts;
  } else if (auto *C = dyn_cast<AtomicCmpXchgInst>(&I)) {
    if (C->getSyncScopeID() == SyncScope::SingleThread)
      return {};
    O.Address = C->getPointerOperand(), O.Kind = Rmw, O.Found = C;
    O.Order = order(C->getSuccessOrdering()), O.Failure = order(C->getFailureOrdering());
  } else {
    return {};
  }
  return O;
}

void setOrder(Op &O, CallBase &C, unsigned Argument) {
  Value *V = C.getArgOperand(Argument);
  if (auto *K = dyn_cast<ConstantInt>(V))
    O.Order = K->getZExtValue() & 7;
  else
    O.DynamicOrder = V;
}

// Calls of libatomic and of the C++ library's guards of static variables.
std::optional<Op> call(CallInst &C) {
  Function *F = C.getCalledFunction();
  if (!F || !F->isDeclaration())
    return {};
  StringRef Name = F->getName();
  Op O;
  O.At = &C;
  unsigned N = C.arg_size();
  if (Name == "__cxa_guard_acquire" && N == 1) {
    // The call may wait, so the operation is reported when it is complete.
    O.Address = C.getArgOperand(0), O.Order = 2, O.Around = false;
    return O;
  }
  if (Name == "__cxa_guard_release" && N == 1) {
    O.Address = C.getArgOperand(0), O.Order = 3, O.Kind = Store;
    return O;
  }
  if (!Name.consume_front("__atomic_"))
    return {};
  bool Sized = Name.consume_back("_1") || Name.consume_back("_2") || Name.consume_back("_4") ||
               Name.consume_back("_8") || Name.consume_back("_16");
  unsigned At = Sized ? 0 : 1; // the size comes first in the generic forms
  bool Fetch = Name.starts_with("fetch_") || Name.ends_with("_fetch");
  unsigned Expected = Name == "load"       ? (Sized ? 2 : 4)
                      : Name == "store"    ? (Sized ? 3 : 4)
                      : Name == "exchange" ? (Sized ? 3 : 5)
                      : Name == "compare_exchange" ? (Sized ? 5 : 6)
                      : Fetch && Sized             ? 3
                                                   : 0;
  if (Expected == 0 || N != Expected)
    return {};
  O.Address = C.getArgOperand(At);
  if (!O.Address->getType()->isPointerTy())
    return {};
  if (Name == "compare_exchange") {
    O.Kind = Rmw, O.Success = &C;
    setOrder(O, C, N - 2);
    if (auto *K = dyn_cast<ConstantInt>(C.getArgOperand(N - 1)))
      O.Failure = K->getZExtValue() & 7;
    return O;
  }
  setOrder(O, C, N - 1);
  O.Kind = Name == "load" ? Load : Name == "store" ? Store : Rmw;
  if (Sized && O.Kind == Load)
    O.Found = &C;
  return O;
}

// The value as 64 bits, if it has at most 64.
Value *bits(IRBuilder<> &B, const DataLayout &DL, Value *V) {
  Type *T = V->getType();
  if (T->isPointerTy())
    return B.CreatePtrToInt(V, B.getInt64Ty());
  TypeSize Size = DL.getTypeSizeInBits(T);
  if (Size.isScalable() || Size.getFixedValue() == 0 || Size.getFixedValue() > 64 ||
      !(T->isIntegerTy() || T->isFloatingPointTy() || T->isVectorTy()) ||
      T->isPtrOrPtrVectorTy())
    return nullptr;
  if (!T->isIntegerTy())
    V = B.CreateBitCast(V, B.getIntNTy(Size.getFixedValue()));
  return B.CreateZExtOrTrunc(V, B.getInt64Ty());
}

// Whether a read-modify-write wrote the value that it found, where that is easy to see.
Value *silent(IRBuilder<> &B, AtomicRMWInst *R) {
  Value *V = R->getValOperand();
  if (!V->getType()->isIntegerTy())
    return nullptr;
  switch (R->getOperation()) {
  case AtomicRMWInst::Xchg:
    return B.CreateICmpEQ(R, V);
  case AtomicRMWInst::Or:
    return B.CreateICmpEQ(B.CreateOr(R, V), R);
  default:
    return nullptr;
  }
}

// Says whether the operation makes something of a word that is 0, as who takes a lock does, or 0 of a word that is
// something, as who gives it back does. Found is what a read-modify-write found if it has written.
Value *takesOrGives(IRBuilder<> &B, const Op &O, Value *Found) {
  Value *Written = nullptr;
  auto whole = [](Value *V) { return V->getType()->isIntegerTy() || V->getType()->isPointerTy(); };
  if (auto *S = dyn_cast<StoreInst>(O.At); S && whole(S->getValueOperand()))
    return B.CreateSelect(B.CreateIsNull(S->getValueOperand()), B.getInt64(Gives), B.getInt64(0));
  if (auto *R = dyn_cast<AtomicRMWInst>(O.At); R && R->getOperation() == AtomicRMWInst::Xchg)
    Written = R->getValOperand();
  else if (auto *C = dyn_cast<AtomicCmpXchgInst>(O.At))
    Found = C->getCompareOperand(), Written = C->getNewValOperand();
  if (!Written || !Found || !whole(Written))
    return B.getInt64(0);
  Value *WasNull = B.CreateIsNull(Found), *IsNull = B.CreateIsNull(Written), *Zero = B.getInt64(0);
  return B.CreateSelect(WasNull, B.CreateSelect(IsNull, Zero, B.getInt64(Takes)),
                        B.CreateSelect(IsNull, B.getInt64(Gives), Zero));
}

// The base-2 logarithm of the bytes of a load that may be repeated: neither volatile nor split by the machine.
std::optional<unsigned> repeatable(const DataLayout &DL, const Op &O) {
  auto *L = dyn_cast<LoadInst>(O.At);
  if (!L || L->isVolatile())
    return {};
  uint64_t Bytes = DL.getTypeStoreSize(L->getType()).getKnownMinValue();
  bool Whole = DL.getTypeSizeInBits(L->getType()) == TypeSize::getFixed(8 * Bytes);
  if (!Whole || !isPowerOf2_64(Bytes) || Bytes > 8 || L->getAlign().value() < Bytes)
    return {};
  return Log2_64(Bytes);
}

// 64 bits as a value of the type: the reverse of bits().
Value *value(IRBuilder<> &B, const DataLayout &DL, Value *Bits, Type *T) {
  if (T->isPointerTy())
    return B.CreateIntToPtr(Bits, T);
  Value *V = B.CreateZExtOrTrunc(Bits, B.getIntNTy(DL.getTypeSizeInBits(T).getFixedValue()));
  return T->isIntegerTy() ? V : B.CreateBitCast(V, T);
}

// What the operation was, once it has executed, and the value that it found.
std::pair<Value *, Value *> told(IRBuilder<> &B, const DataLayout &DL, const Op &O) {
  Value *What = B.getInt64(O.Kind | O.Order);
  if (O.DynamicOrder) {
    Value *Order = B.CreateZExtOrTrunc(O.DynamicOrder, B.getInt64Ty());
    What = B.CreateOr(B.CreateAnd(Order, 7), B.getInt64(O.Kind));
  }
  Value *Found = O.Found;
  Value *Success = O.Success;
  if (auto *C = dyn_cast_or_null<AtomicCmpXchgInst>(O.At)) {
    Found = B.CreateExtractValue(C, 0);
    Success = B.CreateExtractValue(C, 1);
  } else if (auto *R = dyn_cast_or_null<AtomicRMWInst>(O.At)) {
    if (Value *S = silent(B, R))
      What = B.CreateOr(What, B.CreateSelect(S, B.getInt64(Silent), B.getInt64(0)));
  }
  What = B.CreateOr(What, takesOrGives(B, O, Found));
  if (Success) {
    if (!Success->getType()->isIntegerTy(1))
      Success = B.CreateIsNotNull(Success);
    What = B.CreateSelect(Success, What, B.getInt64(Fail | O.Failure | (O.Kind & Spins)));
  }
  Value *Bits = Found ? bits(B, DL, Found) : nullptr;
  if (!Bits && O.Kind != Store)
    What = B.CreateOr(What, Unstated);
  return {What, Bits ? Bits : B.getInt64(0)};
}

// Puts what F calls at the end of a thread of a scope, to wake who waits for it, between calls that enter and leave a
// library: the wait itself is recorded as the end of the scope.
void enterLibrary(Function &F) {
  Module &M = *F.getParent();
  SmallVector<CallInst *, 4> Calls;
  for (Instruction &I : instructions(F))
    if (auto *C = dyn_cast<CallInst>(&I);
        C && C->getCalledFunction() && !C->getCalledFunction()->getName().starts_with("__contech_") &&
        !C->getCalledFunction()->isIntrinsic() && isOf(I, EndsThread))
      Calls.push_back(C);
  for (CallInst *C : Calls) {
    IRBuilder<> B(&*F.getEntryBlock().begin());
    Instruction *Kept = B.CreateAlloca(B.getInt64Ty(), B.getInt64(2));
    B.SetInsertPoint(C);
    FunctionCallee Enter =
        M.getOrInsertFunction("__contech_library_enter", B.getVoidTy(), B.getPtrTy());
    FunctionCallee Leave = M.getOrInsertFunction("__contech_library_leave", B.getVoidTy(),
                                                 B.getPtrTy(), B.getInt64Ty());
    B.CreateCall(Enter, {Kept});
    B.SetInsertPoint(C->getNextNode());
    B.SetCurrentDebugLocation(C->getDebugLoc());
    B.CreateCall(Leave, {Kept, B.getInt64(0)});
    C->setTailCallKind(CallInst::TCK_NoTail);
  }
}
} // namespace

extern "C" {

// Whether the module has a fence between threads.
int contech_shim_has_fence(LLVMModuleRef M) {
  for (Function &F : *unwrap(M))
    for (Instruction &I : instructions(F))
      if (fence(I))
        return 1;
  return 0;
}

// Wraps the atomic operations of F, those of relaxed order only if Relaxed.
void contech_shim_wrap_atomics(LLVMValueRef FV, int TakeRelaxed, LLVMValueRef BeginV,
                               LLVMValueRef EndV, LLVMValueRef LoadedV, LLVMValueRef FenceV) {
  Function &F = *unwrap<Function>(FV);
  FunctionCallee Begin = unwrap<Function>(BeginV), End = unwrap<Function>(EndV),
                 Loaded = unwrap<Function>(LoadedV), Fence = unwrap<Function>(FenceV);
  const DataLayout &DL = F.getParent()->getDataLayout();
  SmallVector<Op, 16> Ops;
  SmallVector<std::pair<Instruction *, AtomicOrdering>, 4> Fences;
  for (Instruction &I : instructions(F)) {
    std::optional<Op> O = instruction(I);
    if (auto *C = dyn_cast<CallInst>(&I); C && !O && !C->isMustTailCall())
      O = call(*C);
    if (O && plain(O->Address) &&
        (O->Order != Relaxed || O->DynamicOrder || TakeRelaxed || O->Kind & Counts))
      Ops.push_back(*O);
    if (std::optional<AtomicOrdering> Order = fence(I))
      Fences.push_back({&I, *Order});
  }
  // A loop is looked at before there are calls of ours in it.
  DominatorTree DT;
  LoopInfo LI;
  if (!Ops.empty())
    DT.recalculate(F), LI.analyze(DT);
  for (Op &O : Ops)
    if (const Loop *L = LI.getLoopFor(O.At->getParent()); L && O.Kind != Store && !repeatable(DL, O) && tries(*L))
      O.Kind |= Spins;
  auto Call = [](IRBuilder<> &B, FunctionCallee Callee, ArrayRef<Value *> Arguments) {
    CallInst *C = B.CreateCall(Callee, Arguments);
    C->setTailCallKind(CallInst::TCK_NoTail);
    return C;
  };
  bool EndsThreads = false;
  for (Op &O : Ops) {
    Instruction *Next = O.At->getNextNode();
    if (std::optional<unsigned> Log = repeatable(DL, O)) {
      IRBuilder<> B(Next);
      B.SetCurrentDebugLocation(O.At->getDebugLoc());
      auto [What, Found] = told(B, DL, O);
      CallInst *C = Call(B, Loaded, {O.Address, B.CreateOr(What, *Log << SizeShift), Found});
      Value *Again = value(B, DL, C, O.At->getType());
      // The calculations before the call and the call itself keep the value that the program found.
      SmallPtrSet<const User *, 8> Before;
      for (Instruction *I = O.At->getNextNode(); I != C->getNextNode(); I = I->getNextNode())
        Before.insert(I);
      O.At->replaceUsesWithIf(Again, [&](Use &U) { return !Before.count(U.getUser()); });
      continue;
    }
    IRBuilder<> B(O.Around ? O.At : Next);
    B.SetCurrentDebugLocation(O.At->getDebugLoc());
    CallInst *Token = Call(B, Begin, {O.Address});
    B.SetInsertPoint(Next);
    B.SetCurrentDebugLocation(O.At->getDebugLoc());
    auto [What, Found] = told(B, DL, O);
    Call(B, End, {O.Address, Token, What, Found});
    EndsThreads |= endsThread(*O.At);
  }
  if (EndsThreads)
    enterLibrary(F);
  for (auto [Found, Order] : Fences) {
    IRBuilder<> B(Found->getNextNode());
    B.SetCurrentDebugLocation(Found->getDebugLoc());
    Call(B, Fence, {B.getInt64(order(Order))});
  }
}

} // extern "C"
