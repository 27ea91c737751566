// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/text/sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace luminal::text {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool before(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

// An integer that orders as the floats do: -NaN < -inf < .. < -0 < +0 < .. < +inf < +NaN. Unlike
// those of floats, minima and maxima of integers may be reordered, so the loops below use vectors.
std::int32_t order_key(float value) {
  const auto bits = std::bit_cast<std::int32_t>(value);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}

Status check_logits(std::span<const float> logits) {
  if (logits.empty()) return error("sampling: there are no logits");
  std::int32_t low = order_key(0), high = order_key(0);
  for (const float logit : logits) {
    low = std::min(low, order_key(logit));
    high = std::max(high, order_key(logit));
  }
  if (low >= order_key(-kInfinity) && high < order_key(kInfinity)) return {};
  const auto bad =
      std::find_if(logits.begin(), logits.end(), [](float logit) { return !(logit < kInfinity); });
  return error("sampling: the logit of token ", bad - logits.begin(), " is ",
               std::isnan(*bad) ? "NaN" : "inf", ", of ", logits.size(),
               " logits; the model file or the compiled program is damaged");
}

// The largest logit at its lowest id.
Candidate largest(std::span<const float> logits) {
  std::int32_t high = order_key(-kInfinity);
  for (const float logit : logits) high = std::max(high, order_key(logit));
  const auto at = std::find_if(logits.begin(), logits.end(),
                               [high](float logit) { return order_key(logit) >= high; });
  // -0 and +0 are a tie.
  const auto first = std::find(logits.begin(), at, *at);
  return {static_cast<std::int32_t>(first - logits.begin()), *first, 1.0};
}

// The logits after steps 1 and 2: those given, or a changed copy.
struct Allowed {
  std::vector<float> copy;
  std::span<const float> logits;
  Candidate best;
};

Result<Allowed> allowed_logits(const SamplerOptions& options, std::span<const float> logits,
                               std::span<const std::int32_t> history) {
  LUM_RETURN_IF_ERROR(check_logits(logits));
  Allowed allowed;
  auto inside = [&](std::int32_t id) {
    return id >= 0 && static_cast<std::size_t>(id) < logits.size();
  };
  const auto window = static_cast<std::size_t>(options.repeat_last_n);
  if (options.repeat_last_n >= 0 && window < history.size()) history = history.last(window);
  if (options.repeat_penalty == 1.0f) history = {};
  if (history.empty() && options.suppress.empty()) {
    allowed.logits = logits;
  } else {
    allowed.copy.assign(logits.begin(), logits.end());
    allowed.logits = allowed.copy;
  }
  for (const std::int32_t id : history) {
    if (!inside(id)) continue;
    // From the given logit, so that a token that comes twice is changed once.
    const float logit = logits[static_cast<std::size_t>(id)];
    const float penalised =
        logit > 0 ? logit / options.repeat_penalty : logit * options.repeat_penalty;
    allowed.copy[static_cast<std::size_t>(id)] =
        std::min(penalised, std::numeric_limits<float>::max());
  }
  for (const std::int32_t id : options.suppress) {
    if (inside(id)) allowed.copy[static_cast<std::size_t>(id)] = -kInfinity;
  }
  allowed.best = largest(allowed.logits);
  if (allowed.best.logit == -kInfinity) {
    return error("sampling: all ", logits.size(), " tokens are suppressed or have the logit -inf");
  }
  return allowed;
}

// Every token that can be chosen at all, by rising id.
std::vector<Candidate> all_of(std::span<const float> logits) {
  std::vector<Candidate> all;
  all.reserve(logits.size());
  for (std::size_t id = 0; id < logits.size(); ++id) {
    if (logits[id] > -kInfinity) all.push_back({static_cast<std::int32_t>(id), logits[id], 0.0});
  }
  return all;
}

// Step 3: the `count` first in the order of `before`, in that order, from one pass with a heap
// whose front is the last of them. Ids rise, so a tie with the front loses.
std::vector<Candidate> largest_of(std::span<const float> logits, std::size_t count) {
  std::vector<Candidate> heap;
  for (std::size_t id = 0; id < logits.size(); ++id) {
    const float logit = logits[id];
    if (heap.size() == count) {
      if (count == 0 || !(logit > heap.front().logit)) continue;
      std::pop_heap(heap.begin(), heap.end(), before);
      heap.pop_back();
    }
    if (logit == -kInfinity) continue;
    heap.push_back({static_cast<std::int32_t>(id), logit, 0.0});
    std::push_heap(heap.begin(), heap.end(), before);
  }
  std::sort_heap(heap.begin(), heap.end(), before);
  return heap;
}

// How much more improbable a logit is than the largest one, at a temperature.
double weight(float logit, float largest, double temperature = 1.0) {
  return portable_exp((static_cast<double>(logit) - static_cast<double>(largest)) / temperature);
}

// Sets the probabilities; the sum runs in the order of the candidates.
void set_probabilities(std::vector<Candidate>& some, float largest, double temperature) {
  double total = 0;
  for (Candidate& candidate : some) {
    candidate.probability = weight(candidate.logit, largest, temperature);
    total += candidate.probability;
  }
  for (Candidate& candidate : some) candidate.probability /= total;
}

// Step 4, on probabilities that are set. Takes the largest from a heap only until there is enough.
void keep_top_p(std::vector<Candidate>& some, double top_p) {
  auto after = [](const Candidate& a, const Candidate& b) { return before(b, a); };
  std::make_heap(some.begin(), some.end(), after);
  std::vector<Candidate> kept;
  double together = 0;
  while (!some.empty() && (kept.empty() || together < top_p)) {
    std::pop_heap(some.begin(), some.end(), after);
    kept.push_back(some.back());
    some.pop_back();
    together += kept.back().probability;
  }
  some = std::move(kept);
}

Status check_option(const char* name, float value, float lowest, float highest, const char* range) {
  if (value >= lowest && value <= highest) return {};
  return error("sampling: ", name, " ", value, " is out of range: ", range);
}

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

}  // namespace

Result<Sampler> make_sampler(SamplerOptions options) {
  constexpr float kMost = std::numeric_limits<float>::max();
  LUM_RETURN_IF_ERROR(
      check_option("temperature", options.temperature, -kMost, kMost, "0 for greedy, or above"));
  LUM_RETURN_IF_ERROR(check_option("top-p", options.top_p, 0, 1, "0 to 1"));
  LUM_RETURN_IF_ERROR(check_option("min-p", options.min_p, 0, 1, "0 to 1"));
  LUM_RETURN_IF_ERROR(check_option("repeat penalty", options.repeat_penalty, 1e-6f, 1e6f,
                                   "1 for none, above 1 to repeat less"));
  if (options.repeat_last_n < -1) {
    return error("sampling: repeat last n ", options.repeat_last_n,
                 " is out of range: -1 for the whole history, or 0 and above");
  }
  return Sampler{.options = std::move(options)};
}

Result<std::vector<Candidate>> candidates(const SamplerOptions& options,
                                          std::span<const float> logits,
                                          std::span<const std::int32_t> history) {
  LUM_ASSIGN_OR_RETURN(const Allowed allowed, allowed_logits(options, logits, history));
  const Candidate& best = allowed.best;
  if (options.temperature <= 0) return std::vector<Candidate>{best};
  std::vector<Candidate> some =
      options.top_k > 0 ? largest_of(allowed.logits, static_cast<std::size_t>(options.top_k))
                        : all_of(allowed.logits);
  if (options.top_p < 1) {
    set_probabilities(some, best.logit, 1.0);
    keep_top_p(some, options.top_p);
  }
  if (options.min_p > 0) {
    std::erase_if(some, [&](const Candidate& candidate) {
      return weight(candidate.logit, best.logit) < options.min_p;
    });
  }
  set_probabilities(some, best.logit, options.temperature);
  return some;
}

Result<std::int32_t> sample(Sampler& sampler, std::span<const float> logits,
                            std::span<const std::int32_t> history) {
  LUM_ASSIGN_OR_RETURN(const std::vector<Candidate> some,
                       candidates(sampler.options, logits, history));
  const double at = uniform(sampler.options.seed, sampler.draws++);
  double together = 0;
  for (const Candidate& candidate : some) {
    together += candidate.probability;
    if (at < together) return candidate.id;
  }
  // Rounding left the sum below `at`: the last that can be drawn at all.
  const auto last = std::find_if(some.rbegin(), some.rend(),
                                 [](const Candidate& c) { return c.probability > 0; });
  return last->id;
}

Result<std::vector<Candidate>> largest_logits(std::span<const float> logits, std::size_t count) {
  LUM_ASSIGN_OR_RETURN(const Allowed allowed, allowed_logits(SamplerOptions{}, logits, {}));
  std::vector<Candidate> some = largest_of(logits, count);
  double total = 0;
  for (const float logit : logits) total += weight(logit, allowed.best.logit);
  for (Candidate& candidate : some) {
    candidate.probability = weight(candidate.logit, allowed.best.logit) / total;
  }
  return some;
}

double portable_exp(double x) {
  if (!(x > -745.2)) return 0.0;
  // x = k log 2 + r with |r| <= log 2 / 2; log 2 is split so that k times its upper part is exact.
  constexpr double kLog2e = 1.4426950408889634074;
  constexpr double kLog2High = 0x1.62e42feep-1, kLog2Low = 0x1.a39ef35793c76p-33;
  const double k = std::floor(x * kLog2e + 0.5);
  const double r = (x - k * kLog2High) - k * kLog2Low;
  // The series of exp; the term after the last is below 2^-58.
  double sum = 1.0 / 6227020800.0;
  constexpr double kFactorials[] = {479001600, 39916800, 3628800, 362880, 40320, 5040, 720,
                                    120,       24,       6,       2,      1,     1};
  for (const double factorial : kFactorials) sum = sum * r + 1.0 / factorial;
  return std::ldexp(sum, static_cast<int>(k));
}

double uniform(std::uint64_t seed, std::uint64_t n) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ull;
  return static_cast<double>(mix(mix(seed + kGolden) + (n + 1) * kGolden) >> 11) * 0x1p-53;
}

}  // namespace luminal::text
