// SPDX-License-Identifier: MIT OR Apache-2.0
// The compiler plugin: C text to an ELF object in memory by libclang.
#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/DiagnosticOptions.h>
#include <clang/Basic/SourceManager.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include <csetjmp>
#include <mutex>

#include "luminal/backends/cpu/jit_plugin.h"

namespace luminal::cpu {
namespace {

constexpr int kMaxErrors = 5;
constexpr std::size_t kMaxLineShown = 200;

/// Collects errors as "line 3: use of undeclared identifier 'x'" with the line itself below.
class ErrorList : public clang::DiagnosticConsumer {
 public:
  explicit ErrorList(std::string* out) : out_(out) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic& diagnostic) override {
    DiagnosticConsumer::HandleDiagnostic(level, diagnostic);
    if (level < clang::DiagnosticsEngine::Error || getNumErrors() > kMaxErrors) return;
    llvm::SmallString<128> message;
    diagnostic.FormatDiagnostic(message);
    if (!out_->empty()) *out_ += '\n';
    if (diagnostic.hasSourceManager() && diagnostic.getLocation().isValid()) {
      add_place(diagnostic.getSourceManager(), diagnostic.getLocation(), message.str());
    } else {
      *out_ += message.str();
    }
  }

 private:
  void add_place(const clang::SourceManager& sources, clang::SourceLocation location,
                 llvm::StringRef message) {
    const clang::SourceLocation place = sources.getExpansionLoc(location);
    const unsigned line = sources.getExpansionLineNumber(place);
    *out_ += "line " + std::to_string(line) + ": " + message.str();
    bool invalid = false;
    llvm::StringRef text = sources.getBufferData(sources.getFileID(place), &invalid);
    if (invalid) return;
    for (unsigned skipped = 1; skipped < line; ++skipped) text = text.split('\n').second;
    text = text.split('\n').first.trim();
    *out_ += "\n  " + text.substr(0, kMaxLineShown).str();
  }

  std::string* out_;
};

bool compile(const std::vector<std::string>& arguments, const std::string& text,
             std::string* object, std::string* failure) {
  static const bool target_ready = !llvm::InitializeNativeTarget() &&
                                   !llvm::InitializeNativeTargetAsmPrinter() &&
                                   !llvm::InitializeNativeTargetAsmParser();
  if (!target_ready) {
    *failure = "this LLVM cannot make code for the processor it runs on";
    return false;
  }
  std::string errors;
  ErrorList consumer(&errors);
  llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> diagnostics(
      new clang::DiagnosticsEngine(new clang::DiagnosticIDs, new clang::DiagnosticOptions,
                                   &consumer, /*ShouldOwnClient=*/false));

  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  constexpr char kFile[] = "kernel.c";  // one name for all: an object depends on its text alone
  pointers.push_back(kFile);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  bool good = clang::CompilerInvocation::CreateFromArgs(*invocation, pointers, *diagnostics);

  llvm::SmallString<0> bytes;
  if (good) {
    // The instance frees the buffer when it is done with it.
    invocation->getPreprocessorOpts().addRemappedFile(
        kFile, llvm::MemoryBuffer::getMemBufferCopy(text, kFile).release());
    llvm::LLVMContext context;
    clang::CompilerInstance instance;
    instance.setInvocation(std::move(invocation));
    instance.setDiagnostics(diagnostics.get());
    instance.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(bytes));
    instance.setVerboseOutputStream(std::make_unique<llvm::raw_null_ostream>());
    clang::EmitObjAction action(&context);
    good = instance.ExecuteAction(action) && !diagnostics->hasErrorOccurred();
  }
  if (!good) {
    *failure = errors.empty() ? "clang refused it and gave no reason" : std::move(errors);
    return false;
  }
  object->assign(bytes.begin(), bytes.end());
  return true;
}

// What LLVM calls a fatal error (code that its back end cannot make) would end the program. It ends
// this one compilation instead: the memory that the compilation holds is lost, which is little and
// rare.
thread_local std::jmp_buf* way_out = nullptr;
thread_local std::string fatal_reason;

void leave_compilation(void*, const char* reason, bool) {
  if (!way_out) return;  // someone else's use of LLVM in this process: LLVM ends it as ever
  fatal_reason = reason;
  std::longjmp(*way_out, 1);
}

bool compile_guarded(const std::vector<std::string>& arguments, const std::string& text,
                     std::string* object, std::string* failure) {
  static std::once_flag once;
  std::call_once(once, [] { llvm::install_fatal_error_handler(leave_compilation); });
  std::jmp_buf here;
  way_out = &here;
  if (setjmp(here) != 0) {
    way_out = nullptr;
    *failure = fatal_reason;
    return false;
  }
  const bool good = compile(arguments, text, object, failure);
  way_out = nullptr;
  return good;
}

}  // namespace
}  // namespace luminal::cpu

extern "C" __attribute__((visibility("default"))) bool luminal_cpu_compile(
    const std::vector<std::string>& arguments, const std::string& text, std::string* object,
    std::string* failure) {
  return luminal::cpu::compile_guarded(arguments, text, object, failure);
}
