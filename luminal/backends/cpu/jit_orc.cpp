// SPDX-License-Identifier: MIT OR Apache-2.0
// The linker plugin: ELF objects to running code by LLVM ORC. Of ORC it takes the session, its
// dylibs and the JITLink object layer, and not LLJIT, which would set up a target machine that
// linking never uses.
#include <llvm-c/Core.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/ExecutionEngine/Orc/TaskDispatch.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include <atomic>
#include <optional>

#include "luminal/backends/cpu/jit_plugin.h"

namespace luminal::cpu {

struct LinkSession {
  std::optional<llvm::orc::ExecutionSession> session;
  std::optional<llvm::orc::ObjectLinkingLayer> objects;
  llvm::orc::JITDylib* allowed = nullptr;
  llvm::StringSet<> allowed_names;
  std::string allowed_list;  ///< for messages
  std::atomic<std::uint64_t> serial{0};

  ~LinkSession() {
    if (session) llvm::consumeError(session->endSession());
  }
};

namespace {

// Work is done on the thread that asks for it, so what the session reports belongs to this thread's
// call.
thread_local std::string reported;

void report(llvm::Error error) {
  if (!reported.empty()) reported += "; ";
  reported += llvm::toString(std::move(error));
}

bool refuse(llvm::Error error, std::string* failure) {
  *failure = llvm::toString(std::move(error));
  if (!reported.empty()) *failure += ": " + reported;
  return false;
}

std::string llvm_version() {
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

LinkSession* create(std::span<const HelperSymbol> allowed, std::string* failure) {
  using namespace llvm;
  auto process = orc::SelfExecutorProcessControl::Create(
      nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
  if (!process) return refuse(process.takeError(), failure), nullptr;
  auto memory = jitlink::InProcessMemoryManager::Create();
  if (!memory) return refuse(memory.takeError(), failure), nullptr;

  auto linked = std::make_unique<LinkSession>();
  linked->session.emplace(std::move(*process));
  linked->session->setErrorReporter(report);
  linked->objects.emplace(*linked->session, std::move(*memory));
  linked->allowed = &linked->session->createBareJITDylib("allowed");
  orc::SymbolMap symbols;
  for (const HelperSymbol& helper : allowed) {
    symbols[linked->session->intern(helper.name)] = {orc::ExecutorAddr::fromPtr(helper.address),
                                                     JITSymbolFlags::Exported};
    linked->allowed_names.insert(helper.name);
    linked->allowed_list += (linked->allowed_list.empty() ? "" : ", ") + helper.name;
  }
  if (Error error = linked->allowed->define(orc::absoluteSymbols(std::move(symbols))))
    return refuse(std::move(error), failure), nullptr;
  return linked.release();
}

void destroy(LinkSession* linked) { delete linked; }

// Everything the object needs is allowed, and everything asked of it is there.
bool check_symbols(const LinkSession& linked, llvm::MemoryBufferRef object,
                   std::span<const std::string> exports, std::string* failure) {
  auto file = llvm::object::ObjectFile::createObjectFile(object);
  if (!file) return refuse(file.takeError(), failure);
  llvm::StringSet<> defined;
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    if (!flags) return refuse(flags.takeError(), failure);
    if (*flags & llvm::object::SymbolRef::SF_FormatSpecific) continue;
    auto name = symbol.getName();
    if (!name) return refuse(name.takeError(), failure);
    if (!(*flags & llvm::object::SymbolRef::SF_Undefined)) {
      if (*flags & llvm::object::SymbolRef::SF_Global) defined.insert(*name);
    } else if (!name->empty() && !linked.allowed_names.contains(*name)) {
      *failure =
          "calls " + name->str() + ", which kernels may not; they may call " + linked.allowed_list;
      return false;
    }
  }
  for (const std::string& name : exports) {
    if (!defined.contains(name)) {
      *failure = "its text defines no function " + name + " that is not static";
      return false;
    }
  }
  return true;
}

bool link(LinkSession* linked, const std::string& object, std::span<const std::string> exports,
          std::vector<void*>* addresses, void** handle, std::string* failure) {
  using namespace llvm;
  reported.clear();
  auto buffer = MemoryBuffer::getMemBufferCopy(object, "kernel");
  if (!check_symbols(*linked, buffer->getMemBufferRef(), exports, failure)) return false;

  orc::ExecutionSession& session = *linked->session;
  // One dylib an object: names need be unique in it only, and it can be removed.
  orc::JITDylib& dylib = session.createBareJITDylib("kernel" + std::to_string(++linked->serial));
  dylib.addToLinkOrder(*linked->allowed, orc::JITDylibLookupFlags::MatchExportedSymbolsOnly);
  const auto give_up = [&](Error error) {
    refuse(std::move(error), failure);
    consumeError(session.removeJITDylib(dylib));
    return false;
  };
  if (Error error = linked->objects->add(dylib, std::move(buffer)))
    return give_up(std::move(error));

  orc::SymbolLookupSet wanted;
  for (const std::string& name : exports) wanted.add(session.intern(name));
  wanted.sortByAddress();
  wanted.removeDuplicates();
  auto found = session.lookup({{&dylib, orc::JITDylibLookupFlags::MatchAllSymbols}}, wanted);
  if (!found) return give_up(found.takeError());
  addresses->clear();
  for (const std::string& name : exports)
    addresses->push_back((*found)[session.intern(name)].getAddress().toPtr<void*>());
  *handle = &dylib;
  return true;
}

void release(LinkSession* linked, void* handle) {
  llvm::consumeError(linked->session->removeJITDylib(*static_cast<llvm::orc::JITDylib*>(handle)));
}

constexpr LinkTable kTable = {llvm_version, create, destroy, link, release};

}  // namespace
}  // namespace luminal::cpu

extern "C" __attribute__((visibility("default"))) const luminal::cpu::LinkTable*
luminal_cpu_linker() {
  return &luminal::cpu::kTable;
}
