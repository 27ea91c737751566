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

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>

#include "luminal/backends/cpu/jit_plugin.h"

namespace luminal::cpu {
namespace {

constexpr int kMaxErrors = 5;
constexpr std::size_t kStackBytes = 16u << 20;  // clang recurses over expressions
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

/// One compilation, shared by its thread and the one that waits for it.
struct Attempt {
  Attempt(std::vector<std::string> arguments, std::string text)
      : arguments(std::move(arguments)), text(std::move(text)) {}

  const std::vector<std::string> arguments;
  const std::string text;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false, good = false, stuck = false;
  std::string object, failure;

  void finish(bool is_good, bool is_stuck) {
    std::lock_guard lock(mutex);
    good = is_good, stuck = is_stuck, done = true;
    changed.notify_all();
  }
};
using AttemptPtr = std::shared_ptr<Attempt>;
thread_local Attempt* current = nullptr;

// What LLVM calls a fatal error (code that its back end cannot make) would end the program. It ends
// this compilation instead: its thread stops here for good, with all that LLVM holds on its stack
// left in place.
// (After a longjmp out of it, later compilations corrupted memory.)
void stop_compilation(void*, const char* reason, bool) {
  Attempt* attempt = current;
  if (!attempt) return;  // another use of LLVM in this process, which ends as ever
  attempt->failure = reason;
  attempt->finish(/*is_good=*/false, /*is_stuck=*/true);
  for (;;) ::pause();
}

void* attempt_thread(void* argument) {
  const std::unique_ptr<AttemptPtr> attempt(static_cast<AttemptPtr*>(argument));
  current = attempt->get();
  const bool good = compile(current->arguments, current->text, &current->object, &current->failure);
  current->finish(good, /*is_stuck=*/false);
  return nullptr;
}

// Zero, or the errno of a thread that could not be started.
int start_thread(const AttemptPtr& attempt, pthread_t* thread) {
  auto owned = std::make_unique<AttemptPtr>(attempt);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  // The thread may stay for good: signals are for others, but for those that it causes itself.
  sigset_t others, before;
  sigfillset(&others);
  for (int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&others, own);
  pthread_sigmask(SIG_SETMASK, &others, &before);
  const int problem = pthread_create(thread, &attributes, attempt_thread, owned.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (problem == 0) owned.release();  // the thread's now
  return problem;
}

bool compile_apart(const std::vector<std::string>& arguments, const std::string& text,
                   std::string* object, std::string* failure) {
  static std::once_flag once;
  std::call_once(once, [] { llvm::install_fatal_error_handler(stop_compilation); });
  const auto attempt = std::make_shared<Attempt>(arguments, text);
  pthread_t thread;
  if (const int problem = start_thread(attempt, &thread)) {
    *failure = std::string("cannot start a thread: ") + std::strerror(problem);
    return false;
  }
  {
    std::unique_lock lock(attempt->mutex);
    attempt->changed.wait(lock, [&] { return attempt->done; });
  }
  attempt->stuck ? pthread_detach(thread) : pthread_join(thread, nullptr);
  *object = std::move(attempt->object);
  *failure = std::move(attempt->failure);
  return attempt->good;
}

}  // namespace
}  // namespace luminal::cpu

extern "C" __attribute__((visibility("default"))) bool luminal_cpu_compile(
    const std::vector<std::string>& arguments, const std::string& text, std::string* object,
    std::string* failure) {
  return luminal::cpu::compile_apart(arguments, text, object, failure);
}
