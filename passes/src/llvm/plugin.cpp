// The door for LLVM's own tools: registers our passes with their pass builder. What a pass does is `plugin.rs`.

#include "llvm-c/Core.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"

#include <cstdlib>

using namespace llvm;

extern "C" void atomfix_plugin_run(LLVMModuleRef module, const char *name, size_t length,
                                   void (*fail)(void *, const char *, size_t), void *context);

namespace {

struct NamedPass : PassInfoMixin<NamedPass> {
  std::string wanted;

  explicit NamedPass(StringRef name) : wanted(name.str()) {}

  PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
    auto fail = [](void *context, const char *text, size_t length) {
      static_cast<LLVMContext *>(context)->emitError("atomfix: " + StringRef(text, length));
    };
    atomfix_plugin_run(wrap(&module), wanted.data(), wanted.size(), fail, &module.getContext());
    return PreservedAnalyses::none();
  }

  static bool isRequired() { return true; }
};

/// What runs where no pipeline is named: clang and lld.
void addFromEnvironment(ModulePassManager &passes) {
  const char *list = getenv("ATOMFIX_PASSES");
  SmallVector<StringRef, 2> names;
  StringRef(list ? list : "").split(names, ',', -1, false);
  for (StringRef name : names)
    passes.addPass(NamedPass(name));
}

} // namespace

extern "C" void atomfix_plugin_register(PassBuilder &builder) {
  builder.registerPipelineParsingCallback(
      [](StringRef name, ModulePassManager &passes, ArrayRef<PassBuilder::PipelineElement>) {
        if (!name.starts_with("atomfix-"))
          return false;
        passes.addPass(NamedPass(name));
        return true;
      });
  builder.registerPipelineStartEPCallback([](ModulePassManager &passes, OptimizationLevel) { addFromEnvironment(passes); });
  builder.registerFullLinkTimeOptimizationEarlyEPCallback(
      [](ModulePassManager &passes, OptimizationLevel) { addFromEnvironment(passes); });
}
