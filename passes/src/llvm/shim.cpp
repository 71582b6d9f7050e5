// What LLVM's C API lacks: splitting edges, enumerating the ways out of a function, capture analysis, typed GEP
// chains, struct-path TBAA, source chains. Plain functions over plain handles; `shim.rs` declares exactly these.
// Nothing here decides what to instrument.

#include "llvm-c/Core.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/EscapeEnumerator.h"

using namespace llvm;

namespace {

/// Objects that a pointer may point into are looked for at most this far up.
constexpr unsigned MaxLookup = 12;

/// Behind phis and landing pads, and in the entry block behind the leading allocas.
Instruction *firstInsertionPoint(BasicBlock &block) {
  auto it = block.getFirstInsertionPt();
  if (block.isEntryBlock())
    while (it != block.end() && isa<AllocaInst>(*it))
      ++it;
  return it == block.end() ? nullptr : &*it;
}

/// Where a pointer may leave a function other than to the parameter of a function whose body is known.
struct Escape final : CaptureTracker {
  bool escapes = false;
  void (*handed)(void *, LLVMValueRef);
  void *context;

  Escape(void (*handed)(void *, LLVMValueRef), void *context) : handed(handed), context(context) {}

  void tooManyUses() override { escapes = true; }

  Action captured(const Use *use, UseCaptureInfo info) override {
    // An address alone (of a comparison) lets nobody reach the object.
    if ((info.UseCC & CaptureComponents::Provenance) == CaptureComponents::None)
      return Continue;
    const auto *call = dyn_cast<CallBase>(use->getUser());
    if (call && call->isArgOperand(use)) {
      const Function *callee = call->getCalledFunction();
      unsigned index = call->getArgOperandNo(use);
      if (callee && !callee->isDeclaration() && !callee->isInterposable() && index < callee->arg_size()) {
        handed(context, wrap(callee->getArg(index)));
        return ContinueIgnoringReturn;
      }
    }
    escapes = true;
    return Stop;
  }
};

} // namespace

extern "C" {

/// Text that is only valid until the module goes.
struct AtomfixText {
  const char *data;
  size_t size;
};

/// One GEP, seen as a step from its base.
struct AtomfixStep {
  LLVMValueRef base;
  /// The constant bytes of the step.
  int64_t constant;
  /// Whether some index is computed.
  LLVMBool computed;
  /// The type that the GEP walks through, when it is a named record; otherwise null.
  AtomfixText record;
  /// Offsets of the record fields that it walks through, and plain bytes; without any array index: all elements count as
  /// one.
  int64_t fields;
};

struct AtomfixPosition {
  AtomfixText file;
  AtomfixText function;
  unsigned line;
  unsigned column;
};

static AtomfixText text(StringRef s) { return {s.data(), s.size()}; }

LLVMBool atomfix_step(LLVMModuleRef module, LLVMValueRef pointer, AtomfixStep *out) {
  auto *gep = dyn_cast<GEPOperator>(unwrap(pointer));
  if (!gep || gep->getType()->isVectorTy())
    return false;
  const DataLayout &layout = unwrap(module)->getDataLayout();
  *out = AtomfixStep{};
  out->base = wrap(gep->getPointerOperand());
  for (auto it = gep_type_begin(gep), end = gep_type_end(gep); it != end; ++it) {
    int64_t bytes = 0;
    if (StructType *record = it.getStructTypeOrNull()) {
      unsigned field = cast<ConstantInt>(it.getOperand())->getZExtValue();
      bytes = layout.getStructLayout(record)->getElementOffset(field);
      out->fields += bytes;
    } else {
      uint64_t stride = it.getSequentialElementStride(layout).getKnownMinValue();
      auto *index = dyn_cast<ConstantInt>(it.getOperand());
      if (!index) {
        out->computed = true;
        continue;
      }
      if (index->getBitWidth() > 64)
        return false;
      bytes = static_cast<int64_t>(static_cast<uint64_t>(index->getSExtValue()) * stride);
    }
    out->constant += bytes;
    if (gep->getSourceElementType()->isIntegerTy(8))
      out->fields += bytes;
  }
  if (const auto *record = dyn_cast<StructType>(gep->getSourceElementType()); record && record->hasName())
    out->record = text(record->getName());
  return true;
}

/// The base type's name and the offset in it of an access with a struct-path TBAA tag whose base is a record.
LLVMBool atomfix_tbaa(LLVMValueRef access, AtomfixText *name, uint64_t *offset) {
  const MDNode *tag = cast<Instruction>(unwrap(access))->getMetadata(LLVMContext::MD_tbaa);
  if (!tag || tag->getNumOperands() < 3)
    return false;
  const auto *base = dyn_cast_or_null<MDNode>(tag->getOperand(0));
  const auto *type = dyn_cast_or_null<MDNode>(tag->getOperand(1));
  if (!base || !type || base == type || base->getNumOperands() < 3)
    return false;
  const auto *identifier = dyn_cast<MDString>(base->getOperand(0));
  const auto *bytes = mdconst::dyn_extract<ConstantInt>(tag->getOperand(2));
  if (!identifier || identifier->getString().empty() || !bytes)
    return false;
  *name = text(identifier->getString());
  *offset = bytes->getZExtValue();
  return true;
}

/// Whether the access reads or writes an object's pointer to its virtual table, as far as TBAA tells.
LLVMBool atomfix_is_vtable_pointer(LLVMValueRef access) {
  const auto *instruction = dyn_cast<Instruction>(unwrap(access));
  const MDNode *tag = instruction ? instruction->getMetadata(LLVMContext::MD_tbaa) : nullptr;
  return tag && tag->isTBAAVtableAccess();
}

/// The bytes of a constant array of simple elements.
AtomfixText atomfix_raw_data(LLVMValueRef constant) {
  const auto *data = dyn_cast<ConstantDataSequential>(unwrap(constant));
  return data ? text(data->getRawDataValues()) : AtomfixText{};
}

LLVMBool atomfix_captured(LLVMValueRef pointer) { return PointerMayBeCaptured(unwrap(pointer), /*ReturnCaptures=*/true); }

/// Whether other threads may come to know the address of a thread-local variable, as far as its module shows.
LLVMBool atomfix_is_handed_on(LLVMValueRef variable) {
  auto *global = unwrap<GlobalVariable>(variable);
  auto is_kept = [](const User *user) {
    auto *call = dyn_cast<IntrinsicInst>(user);
    return call && call->getIntrinsicID() == Intrinsic::threadlocal_address && !PointerMayBeCaptured(call, /*ReturnCaptures=*/true);
  };
  return !global->hasLocalLinkage() || !all_of(global->users(), is_kept);
}

/// Writes up to `room` underlying objects and returns how many there are.
size_t atomfix_underlying_objects(LLVMValueRef pointer, LLVMValueRef *out, size_t room) {
  SmallVector<const Value *, 8> objects;
  getUnderlyingObjects(unwrap(pointer), objects, nullptr, MaxLookup);
  size_t count = 0;
  for (const Value *object : objects) {
    if (count < room)
      out[count] = wrap(object);
    ++count;
  }
  return count;
}

LLVMBool atomfix_has_byval(LLVMValueRef argument) { return cast<Argument>(unwrap(argument))->hasByValAttr(); }

/// Bytes from where a pointer points to the end of the variable or local that it points into; 0 where that is not known. With a computed index,
/// from its beginning.
uint64_t atomfix_rest_of_object(LLVMModuleRef module, LLVMValueRef pointer) {
  const DataLayout &layout = unwrap(module)->getDataLayout();
  auto size = [&](const Value *object) -> uint64_t {
    if (const auto *global = dyn_cast<GlobalVariable>(object))
      return global->getValueType()->isSized() ? layout.getTypeAllocSize(global->getValueType()).getKnownMinValue() : 0;
    if (const auto *local = dyn_cast<AllocaInst>(object))
      if (std::optional<TypeSize> bytes = local->getAllocationSize(layout))
        return bytes->getKnownMinValue();
    return 0;
  };
  const Value *value = unwrap(pointer);
  APInt offset(layout.getIndexTypeSizeInBits(value->getType()), 0);
  const Value *base = value->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
  uint64_t whole = size(base);
  if (whole > 0)
    return offset.isNegative() || offset.uge(whole) ? 0 : whole - offset.getZExtValue();
  return size(getUnderlyingObject(value, MaxLookup));
}

/// How many bytes an argument of a call points to at least, as the front end says.
uint64_t atomfix_dereferenceable(LLVMValueRef call, unsigned argument) {
  return cast<CallBase>(unwrap(call))->getParamDereferenceableBytes(argument);
}

/// Whether a call only reads what an argument points to, as attributes say.
LLVMBool atomfix_only_reads(LLVMValueRef call, unsigned argument) {
  const auto *site = cast<CallBase>(unwrap(call));
  return site->onlyReadsMemory() || site->onlyReadsMemory(argument);
}

/// Whether an argument is where the call stores its result.
LLVMBool atomfix_is_result(LLVMValueRef call, unsigned argument) {
  return cast<CallBase>(unwrap(call))->paramHasAttr(argument, Attribute::StructRet);
}

/// Whether the compiler knows a function by its name and type as one of the C library's.
LLVMBool atomfix_is_of_c(LLVMValueRef function) {
  const auto *f = unwrap<Function>(function);
  const TargetLibraryInfoImpl library(f->getParent()->getTargetTriple());
  LibFunc known;
  return library.getLibFunc(*f, known);
}

/// Whether a pointer may leave its function other than as an argument to a function whose body is in the module; reports
/// the parameters that it is handed to. A returned pointer leaves.
LLVMBool atomfix_escapes(LLVMValueRef pointer, void (*handed)(void *, LLVMValueRef), void *context) {
  Escape escape(handed, context);
  PointerMayBeCaptured(unwrap(pointer), &escape, /*MaxUsesToExplore=*/2000);
  return escape.escapes;
}

/// Whether a function is only ever called directly, as far as its module shows.
LLVMBool atomfix_is_only_called(LLVMValueRef function) { return !unwrap<Function>(function)->hasAddressTaken(); }

LLVMBool atomfix_returns_twice(LLVMValueRef function) { return unwrap<Function>(function)->callsFunctionThatReturnsTwice(); }

/// Gives each indirect branch targets of its own, so that its edges are places; says whether all could be split.
LLVMBool atomfix_split_indirect_edges(LLVMValueRef function) {
  Function &f = *unwrap<Function>(function);
  SplitIndirectBrCriticalEdges(f, /*IgnoreBlocksWithoutPHI=*/false);
  for (BasicBlock &block : f) {
    if (!isa<IndirectBrInst>(block.getTerminator()) || block.getUniqueSuccessor())
      continue;
    for (BasicBlock *target : successors(&block))
      if (!target->getUniquePredecessor())
        return false;
  }
  return true;
}

/// The instruction before which code stands that is to run when the block is entered, whatever the edge.
LLVMValueRef atomfix_block_start(LLVMBasicBlockRef block) { return wrap(firstInsertionPoint(*unwrap(block))); }

/// The instruction before which code stands that is to run exactly when control goes from one block to the other. Splits
/// the edge where it has to. Null when that is impossible. Instructions other than phis and landing pads stay where they are.
/// A load between a call that acquires a lock (its first argument) and one that releases it: the load alone does where the glance
/// holds, and the calls with a copy of the load come where it does not. `offset` is where the lock tells the one from the other.
void atomfix_read_at_a_glance(LLVMValueRef glanceRef, LLVMValueRef loadRef, LLVMValueRef acquireRef, LLVMValueRef releaseRef,
                              uint64_t offset) {
  auto *load = unwrap<LoadInst>(loadRef);
  auto *acquire = unwrap<CallInst>(acquireRef);
  auto *release = unwrap<CallInst>(releaseRef);
  Value *lock = acquire->getArgOperand(0);

  IRBuilder<> builder(acquire);
  FunctionCallee glance(unwrap<Function>(glanceRef));
  Value *token = builder.CreateCall(glance, {lock});
  builder.SetInsertPoint(load->getNextNode());
  builder.SetCurrentDebugLocation(acquire->getDebugLoc());
  builder.CreateFence(AtomicOrdering::Acquire);
  Value *place = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), lock, offset);
  LoadInst *last = builder.CreateAlignedLoad(builder.getInt64Ty(), place, Align(8));
  last->setAtomic(AtomicOrdering::Monotonic);
  Value *moved = builder.CreateICmpNE(last, builder.CreateNot(token));

  MDNode *unlikely = MDBuilder(load->getContext()).createUnlikelyBranchWeights();
  auto *otherwise = cast<Instruction>(moved)->getNextNode();
  Instruction *end = SplitBlockAndInsertIfThen(moved, otherwise, false, unlikely);
  BasicBlock *tail = otherwise->getParent();
  acquire->moveBefore(end->getIterator());
  Instruction *again = load->clone();
  again->insertBefore(end->getIterator());
  release->moveBefore(end->getIterator());
  if (load->use_empty())
    return;
  PHINode *read = PHINode::Create(load->getType(), 2, "", tail->begin());
  load->replaceAllUsesWith(read);
  read->addIncoming(load, load->getParent());
  read->addIncoming(again, end->getParent());
}

LLVMValueRef atomfix_edge(LLVMBasicBlockRef fromRef, LLVMBasicBlockRef toRef) {
  BasicBlock *from = unwrap(fromRef), *to = unwrap(toRef);
  Instruction *terminator = from->getTerminator();
  if (!is_contained(successors(from), to)) {
    // An earlier split gave the landing pad's other predecessors a pad of their own.
    auto *invoke = dyn_cast<InvokeInst>(terminator);
    if (!invoke)
      return nullptr;
    to = invoke->getUnwindDest();
  }
  if (from->getUniqueSuccessor() && !isa<InvokeInst>(terminator))
    return wrap(terminator);
  if (to->getUniquePredecessor())
    return wrap(firstInsertionPoint(*to));
  if (to->isLandingPad()) {
    SmallVector<BasicBlock *, 2> blocks;
    SplitLandingPadPredecessors(to, {from}, ".atomfix", ".others", blocks);
    return blocks.empty() ? nullptr : wrap(firstInsertionPoint(*blocks.front()));
  }
  if (to->isEHPad() || isa<IndirectBrInst>(terminator) || isa<CallBrInst>(terminator))
    return nullptr;
  auto options = CriticalEdgeSplittingOptions().setMergeIdenticalEdges();
  options.setKeepOneInputPHIs();
  BasicBlock *middle = SplitCriticalEdge(from, to, options);
  return middle ? wrap(middle->getTerminator()) : nullptr;
}

/// Makes every way out of a function by exception end in a `resume` of its own: calls outside a `try` get a landing
/// pad, and pads that only catch certain types are entered for all. Then reports the function's `ret`s and `resume`s.
/// Turns calls into invokes, so handles of calls are dead afterwards.
void atomfix_ways_out(LLVMValueRef function, void (*report)(void *, LLVMValueRef), void *context) {
  Function &f = *unwrap<Function>(function);
  bool unwinds = !f.doesNotThrow();
  if (unwinds) {
    for (BasicBlock &block : f)
      if (LandingPadInst *pad = block.getLandingPadInst())
        pad->setCleanup(true);
    if (!f.hasPersonalityFn()) {
      // The personality that the module's other functions have, so that inlining goes on; C++'s own in C++ modules.
      Constant *personality = nullptr;
      for (Function &other : *f.getParent())
        if (other.hasPersonalityFn()) {
          personality = other.getPersonalityFn();
          break;
        }
      if (!personality && f.getName().starts_with("_Z"))
        personality = cast<Constant>(f.getParent()
                                         ->getOrInsertFunction("__gxx_personality_v0",
                                                               FunctionType::get(Type::getInt32Ty(f.getContext()), /*isVarArg=*/true))
                                         .getCallee());
      if (personality)
        f.setPersonalityFn(personality);
    }
  }
  SmallVector<Instruction *, 8> ends;
  EscapeEnumerator escapes(f, "atomfix.unwind", unwinds);
  while (IRBuilder<> *builder = escapes.Next())
    ends.push_back(&*builder->GetInsertPoint());
  for (Instruction *end : ends)
    report(context, wrap(end));
}

/// One position of an instruction's source chain, and the next one outwards (null at its end).
LLVMMetadataRef atomfix_position(LLVMMetadataRef location, AtomfixPosition *out) {
  const auto *here = cast<DILocation>(unwrap(location));
  const DISubprogram *subprogram = here->getScope()->getSubprogram();
  *out = AtomfixPosition{text(here->getFilename()), text(subprogram ? subprogram->getName() : StringRef()), here->getLine(), here->getColumn()};
  return wrap(here->getInlinedAt());
}

/// The position at which a function's definition begins.
LLVMBool atomfix_function_position(LLVMValueRef function, AtomfixPosition *out) {
  const DISubprogram *subprogram = unwrap<Function>(function)->getSubprogram();
  if (!subprogram)
    return false;
  *out = AtomfixPosition{text(subprogram->getFilename()), text(subprogram->getName()), subprogram->getLine(), 0};
  return true;
}

/// The readable form of a type's mangled name (`_ZTS1S`), to be freed with `LLVMDisposeMessage`'s `free`; or null.
char *atomfix_demangle(const char *name, size_t size) { return itaniumDemangle(StringRef(name, size)); }

} // extern "C"
