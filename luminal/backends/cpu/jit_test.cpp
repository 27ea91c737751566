// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/backends/cpu/jit.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

namespace luminal::cpu {
namespace {

namespace fs = std::filesystem;

class JitTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / cat("luminal_jit_", getpid(), "_", test->name());
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::unique_ptr<Jit> make(JitOptions options = {}) {
    auto jit = Jit::create(std::move(options));
    EXPECT_TRUE(jit.ok()) << jit.error().message;
    return std::move(jit).value();
  }
  std::unique_ptr<Jit> make_cached() {
    return make({.cache_directory = (folder_ / "objects").string()});
  }

  fs::path folder_;
};

Symbol compile_one(Jit& jit, const std::string& text, const std::string& name) {
  const std::vector<Unit> units = {{name, text, {name}}};
  auto symbols = jit.compile(units);
  EXPECT_TRUE(symbols.ok()) << symbols.error().message;
  return symbols.ok() ? symbols->at(0) : Symbol{};
}

std::string failure_of(Jit& jit, const std::string& text, const std::string& name = "f") {
  const std::vector<Unit> units = {{name, text, {name}}};
  auto symbols = jit.compile(units);
  EXPECT_FALSE(symbols.ok());
  return symbols.ok() ? "" : symbols.error().message;
}

Unit numbered_unit(int i) {
  return {
      cat("unit", i),
      cat("static int value(int x) { return x * ", i + 2, "; }\n", "static const int table[4] = {",
          i, ", 1, 2, 3};\n", "int get(int x) { return value(x) + table[x & 3]; }\n"),
      {"get"}};
}

// Explicit vectors of every width, on every row that this machine can run.
TEST_F(JitTest, VectorCodeRunsOnEveryRowOfThisMachine) {
  const CpuFeatures features = read_cpu_features();
  for (const IsaRow& row : isa_rows()) {
    if (row.arch != host_arch() || (row.needs & features) != row.needs) continue;
    auto jit = make({.isa = &row});
    const int lanes = row.vector_bytes / 4;
    const std::string text = cat("typedef float vec __attribute__((ext_vector_type(", lanes,
                                 ")));\n", "typedef float any __attribute__((vector_size(",
                                 row.vector_bytes, "), aligned(4)));\n", R"(
void scale_floor(float* out, const float* in, float a, long n) {
  long i = 0;
  for (; i + LANES <= n; i += LANES) {
    vec x = *(const any*)(in + i);
    *(any*)(out + i) = __builtin_elementwise_floor(x * (vec)a);
  }
  for (; i < n; ++i) out[i] = __builtin_floorf(in[i] * a);
})");
    const Symbol symbol =
        compile_one(*jit, cat("#define LANES ", lanes, "\n", text), "scale_floor");
    ASSERT_NE(symbol.address, nullptr) << row.name;
    std::vector<float> in(103), out(104, -7.0f);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = 0.37f * static_cast<float>(i) - 19.0f;
    symbol.as<void(float*, const float*, float, long)>()(out.data(), in.data(), 1.5f, 103);
    for (std::size_t i = 0; i < in.size(); ++i)
      EXPECT_EQ(out[i], std::floor(in[i] * 1.5f)) << row.name << " " << i;
    EXPECT_EQ(out[103], -7.0f);
  }
}

TEST_F(JitTest, RefusesARowThatThisMachineCannotRun) {
  const IsaRow other = {"other", host_arch(), 16, 16, 4, "generic", "", 128, 0, ~0u};
  auto jit = Jit::create({.isa = &other});
  ASSERT_FALSE(jit.ok());
  EXPECT_NE(jit.error().message.find("instruction set other"), std::string::npos);
}

TEST_F(JitTest, SymbolsComeInOrderOfUnitsAndExports) {
  auto jit = make();
  const std::vector<Unit> units = {
      {"a", "int one(void) { return 1; } int two(void) { return 2; }", {"two", "one", "two"}},
      {"b", "int one(void) { return 11; }", {"one"}},
      {"c", "int nobody(void) { return 0; }", {}}};
  auto symbols = jit->compile(units);
  ASSERT_TRUE(symbols.ok()) << symbols.error().message;
  ASSERT_EQ(symbols->size(), 4u);
  const int expected[] = {2, 1, 2, 11};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(symbols->at(i).as<int()>()(), expected[i]);
  EXPECT_EQ(symbols->at(0).code, symbols->at(1).code);
  EXPECT_NE(symbols->at(0).code, symbols->at(3).code);
  EXPECT_TRUE(jit->compile({})->empty());
}

TEST_F(JitTest, TwentyUnitsInParallelWithTheSameNames) {
  for (const bool own_threads : {true, false}) {
    JitOptions options{.threads = 4};
    std::atomic<int> bodies = 0;
    if (!own_threads) {
      options.parallel_for = [&](int count, const std::function<void(int)>& body) {
        for (int i = count - 1; i >= 0; --i) ++bodies, body(i);
      };
    }
    auto jit = make(std::move(options));
    std::vector<Unit> units;
    for (int i = 0; i < 20; ++i) units.push_back(numbered_unit(i));
    auto symbols = jit->compile(units);
    ASSERT_TRUE(symbols.ok()) << symbols.error().message;
    for (int i = 0; i < 20; ++i) EXPECT_EQ(symbols->at(i).as<int(int)>()(4), 4 * (i + 2) + i);
    EXPECT_EQ(jit->stats().compiled, 20u);
    EXPECT_EQ(bodies, own_threads ? 0 : 20);
  }
}

TEST_F(JitTest, SeveralThreadsMayCompileAtOnce) {
  auto jit = make_cached();
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 6; ++i) {
        const std::vector<Unit> units = {numbered_unit(i), numbered_unit(100 * t + i)};
        auto symbols = jit->compile(units);
        if (!symbols.ok() || symbols->at(1).as<int(int)>()(1) != 100 * t + i + 3) ++wrong;
        if (symbols.ok()) jit->release(symbols->at(0).code);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(jit->stats().units, 36u);
}

TEST_F(JitTest, ReleasedCodeMakesRoomAndOthersStay) {
  auto jit = make();
  const Symbol kept = compile_one(*jit, "int f(void) { return 5; }", "f");
  for (int i = 0; i < 50; ++i) {
    const Symbol dropped = compile_one(*jit, "int f(void) { return 6; }", "f");
    EXPECT_EQ(dropped.as<int()>()(), 6);
    jit->release(dropped.code);
  }
  EXPECT_EQ(kept.as<int()>()(), 5);
  EXPECT_EQ(jit->stats().compiled, 2u);  // kept in memory by content
}

TEST_F(JitTest, ErrorsNameTheKernelTheLineAndTheText) {
  auto jit = make();
  const std::string message =
      failure_of(*jit, "int f(int x) {\n  int y = x;\n  return y + z;\n}\n");
  EXPECT_NE(message.find("kernel f: "), std::string::npos) << message;
  EXPECT_NE(message.find("line 3: use of undeclared identifier 'z'\n  return y + z;"),
            std::string::npos)
      << message;
  EXPECT_NE(failure_of(*jit, "#include <stdio.h>\nint f;").find("'stdio.h' file not found"),
            std::string::npos);
  EXPECT_NE(failure_of(*jit, "int f(void) { return g(); }").find("line 1: call to undeclared"),
            std::string::npos);
  EXPECT_NE(failure_of(*jit, "").find("defines no function f"), std::string::npos);
  EXPECT_NE(failure_of(*jit, "static int f(void) { return 1; }").find("defines no function f"),
            std::string::npos);
  // Many errors are cut, and the Jit is as good as before.
  std::string many;
  for (int i = 0; i < 100; ++i) many += cat("int a", i, " = b", i, ";\n");
  EXPECT_LT(failure_of(*jit, many).size(), 600u);
  EXPECT_EQ(compile_one(*jit, "int f(void) { return 9; }", "f").as<int()>()(), 9);
}

TEST_F(JitTest, OneBadUnitFailsTheCallAndNamesItself) {
  auto jit = make();
  std::vector<Unit> units = {
      numbered_unit(0), {"broken", "int get(void) { return ?; }", {"get"}}, numbered_unit(1)};
  auto symbols = jit->compile(units);
  ASSERT_FALSE(symbols.ok());
  EXPECT_EQ(symbols.error().message.find("kernel broken: does not compile for "), 0u);
}

TEST_F(JitTest, FlawsThatOnlyTheBackEndOfClangSees) {
  auto jit = make();
  const std::string message =
      failure_of(*jit, "void f(void) {\n  __asm__(\"no_such_instruction\");\n}");
  EXPECT_NE(message.find("invalid instruction mnemonic"), std::string::npos) << message;
#if defined(__x86_64__)
  // LLVM calls this one fatal, which would end the program.
  const std::string fatal = failure_of(*jit, R"(
__attribute__((target("no-x87,no-sse,no-sse2"))) long double f(long double a) { return a + 1; })");
  EXPECT_EQ(fatal.find("kernel f: does not compile for "), 0u) << fatal;
  EXPECT_NE(fatal.find("Cannot select"), std::string::npos) << fatal;
#endif
  EXPECT_EQ(compile_one(*jit, "int f(void) { return 4; }", "f").as<int()>()(), 4);
}

TEST_F(JitTest, KernelsMayCallOnlyWhatIsAllowed) {
  auto jit = make();
  const std::string message =
      failure_of(*jit, "int printf(const char*, ...);\nint f(void) { return printf(\"hello\"); }");
  EXPECT_NE(message.find("calls printf, which kernels may not; they may call memcpy, memmove"),
            std::string::npos)
      << message;
  EXPECT_NE(failure_of(*jit, "extern int errno; int f(void) { return errno; }").find("errno"),
            std::string::npos);
  const Symbol copy = compile_one(*jit, R"(
void* memcpy(void*, const void*, unsigned long);
void copy(char* to, const char* from, long n) { memcpy(to, from, n); })",
                                  "copy");
  char out[16] = {};
  copy.as<void(char*, const char*, long)>()(out, "a whole string", 15);
  EXPECT_STREQ(out, "a whole string");
}

int twice(int x) { return 2 * x; }

TEST_F(JitTest, HelpersOfTheCallerCanBeCalled) {
  auto jit = make({.helpers = {{"luminal_twice", reinterpret_cast<const void*>(&twice)}}});
  const std::string text = "int luminal_twice(int); int f(int x) { return luminal_twice(x) + 1; }";
  EXPECT_EQ(compile_one(*jit, text, "f").as<int(int)>()(20), 41);
  auto bare = make();
  EXPECT_NE(failure_of(*bare, text).find("calls luminal_twice"), std::string::npos);
}

// a*b + c with one rounding and with two differ here: (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24 or 0.
TEST_F(JitTest, NothingIsContracted) {
  auto jit = make();
  const std::vector<Unit> units = {{"contract",
                                    R"(
typedef float vec __attribute__((ext_vector_type(8)));
float apart(float a, float b, float c) { return a * b + c; }
float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
float lanes(float a, float b, float c) { vec r = (vec)a * (vec)b + (vec)c; return r[5]; }
void loop(float* r, const float* a, const float* b, const float* c, long n) {
  for (long i = 0; i < n; ++i) r[i] = a[i] * b[i] + c[i];
})",
                                    {"apart", "fused", "lanes", "loop"}}};
  auto symbols = jit->compile(units);
  ASSERT_TRUE(symbols.ok()) << symbols.error().message;
  const float a = 1.0f + 0x1p-12f, c = -(1.0f + 0x1p-11f);
  const auto run = [&](int i) { return symbols->at(i).as<float(float, float, float)>()(a, a, c); };
  EXPECT_EQ(run(0), 0.0f);
  EXPECT_EQ(run(1), 0x1p-24f);
  EXPECT_EQ(run(2), 0.0f);
  std::vector<float> as(37, a), cs(37, c), rs(37, 1.0f);
  symbols->at(3).as<void(float*, const float*, const float*, const float*, long)>()(
      rs.data(), as.data(), as.data(), cs.data(), 37);
  for (float r : rs) EXPECT_EQ(r, 0.0f);
}

TEST_F(JitTest, FloatsAreStrictIntegersWrapAndTypesMayShareMemory) {
  auto jit = make();
  const std::vector<Unit> units = {{"strict",
                                    R"(
float sum(const float* x, long n) { float s = 0; for (long i = 0; i < n; ++i) s += x[i]; return s; }
int is_nan(float x) { return x != x; }
float plus_zero(float x) { return x + 0.0f; }
int grows(int x) { return x + 1 > x; }
float alias(float* f, int* i) { *f = 1.0f; *i = 0; return *f; }
)",
                                    {"sum", "is_nan", "plus_zero", "grows", "alias"}}};
  auto symbols = jit->compile(units);
  ASSERT_TRUE(symbols.ok()) << symbols.error().message;
  std::vector<float> x = {1e8f, 1.0f, -1e8f, 1.0f, 1e8f, 1.0f, -1e8f, 1.0f, 0.5f};
  EXPECT_EQ(symbols->at(0).as<float(const float*, long)>()(x.data(), 9), 1.5f);
  EXPECT_EQ(symbols->at(1).as<int(float)>()(NAN), 1);
  EXPECT_FALSE(std::signbit(symbols->at(2).as<float(float)>()(-0.0f)));
  EXPECT_EQ(symbols->at(3).as<int(int)>()(0x7fffffff), 0);
  float shared = 3.0f;
  EXPECT_EQ(symbols->at(4).as<float(float*, int*)>()(&shared, reinterpret_cast<int*>(&shared)),
            0.0f);
}

TEST_F(JitTest, FromTheCacheWithoutTheCompiler) {
  std::vector<Unit> units = {numbered_unit(1), numbered_unit(2), numbered_unit(3)};
  {
    auto jit = make_cached();
    ASSERT_TRUE(jit->compile(units).ok());
    EXPECT_EQ(jit->stats().compiled, 3u);
    EXPECT_TRUE(jit->stats().compiler_loaded);
    EXPECT_EQ(jit->stats().cache.misses, 3u);
  }
  auto jit = make_cached();
  auto symbols = jit->compile(units);
  ASSERT_TRUE(symbols.ok()) << symbols.error().message;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(symbols->at(i).as<int(int)>()(8), 8 * (i + 3) + i + 1);
  EXPECT_EQ(jit->stats().compiled, 0u);
  EXPECT_FALSE(jit->stats().compiler_loaded);
  EXPECT_EQ(jit->stats().cache.hits, 3u);

  // One byte of text or another row, and it is another object.
  units[0].text += " ";
  ASSERT_TRUE(jit->compile(units).ok());
  EXPECT_EQ(jit->stats().compiled, 1u);
  const IsaRow& plain = best_isa(host_arch(), 0);
  auto other = make({.isa = &plain, .cache_directory = (folder_ / "objects").string()});
  ASSERT_TRUE(other->compile(units).ok());
  EXPECT_EQ(other->stats().compiled, jit->isa().name == plain.name ? 0u : 3u);
}

TEST_F(JitTest, ADamagedObjectIsCompiledAgain) {
  const std::vector<Unit> units = {numbered_unit(7)};
  ASSERT_TRUE(make_cached()->compile(units).ok());
  for (const auto& entry : fs::directory_iterator(folder_ / "objects")) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(400);
    file << "damage";
  }
  auto jit = make_cached();
  auto symbols = jit->compile(units);
  ASSERT_TRUE(symbols.ok()) << symbols.error().message;
  EXPECT_EQ(symbols->at(0).as<int(int)>()(1), 10);
  EXPECT_EQ(jit->stats().cache.damaged, 1u);
  EXPECT_EQ(jit->stats().compiled, 1u);
  auto again = make_cached();
  ASSERT_TRUE(again->compile(units).ok());
  EXPECT_EQ(again->stats().compiled, 0u);
}

TEST_F(JitTest, ACacheThatCannotBeUsedIsANoteAndNotAnError) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "objects") << "a file where a directory should be";
  auto jit = make_cached();
  EXPECT_NE(jit->stats().cache_note.find("not a directory"), std::string::npos);
  EXPECT_EQ(compile_one(*jit, "int f(void) { return 3; }", "f").as<int()>()(), 3);
}

TEST_F(JitTest, MissingPluginSaysWhereItWasLookedFor) {
  auto jit = Jit::create({.plugin_directory = "/nowhere"});
  ASSERT_FALSE(jit.ok());
  EXPECT_EQ(jit.error().message,
            "luminal_cpu_orc.so: not found in /nowhere; it belongs beside the program");
}

// Three processes start on the same empty cache and compile the same units.
TEST_F(JitTest, ProcessesShareACache) {
  std::vector<pid_t> children;
  for (int process = 0; process < 3; ++process) {
    const pid_t child = ::fork();
    if (child == 0) {
      bool good = true;
      for (int round = 0; round < 2; ++round) {
        auto jit = Jit::create({.cache_directory = (folder_ / "objects").string(), .threads = 2});
        std::vector<Unit> units;
        for (int i = 0; i < 6; ++i) units.push_back(numbered_unit((i + process) % 6));
        auto symbols = (*jit)->compile(units);
        good = good && symbols.ok() && (*jit)->stats().cache.damaged == 0;
        good = good && (round == 0 || (*jit)->stats().compiled == 0);
        for (int i = 0; good && i < 6; ++i)
          good = symbols->at(i).as<int(int)>()(5) == 5 * ((i + process) % 6 + 2) + 1;
      }
      ::_exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "objects"), fs::directory_iterator()),
            6);
}

}  // namespace
}  // namespace luminal::cpu
