// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/text/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

namespace luminal::text {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// All filters off: each test switches on its own.
SamplerOptions plain() {
  return {.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0, .repeat_penalty = 1};
}

std::vector<float> random_logits(std::mt19937& random, std::size_t count) {
  std::vector<float> logits(count);
  // Steps of a quarter: ties are frequent.
  for (float& logit : logits) logit = static_cast<float>(static_cast<int>(random() % 48) - 24) / 4;
  return logits;
}

std::vector<Candidate> some_of(const SamplerOptions& options, const std::vector<float>& logits,
                               const std::vector<std::int32_t>& history = {}) {
  return candidates(options, logits, history).value();
}

std::set<std::int32_t> ids_of(const std::vector<Candidate>& some) {
  std::set<std::int32_t> ids;
  for (const Candidate& candidate : some) ids.insert(candidate.id);
  return ids;
}

// The ids by falling logit, then rising id.
std::vector<std::int32_t> ranked(const std::vector<float>& logits) {
  std::vector<std::int32_t> order(logits.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
  });
  return order;
}

std::vector<long double> softmax(const std::vector<float>& logits, long double temperature = 1) {
  const long double largest = *std::max_element(logits.begin(), logits.end());
  std::vector<long double> p;
  long double total = 0;
  for (const float logit : logits)
    total += p.emplace_back(std::exp((logit - largest) / temperature));
  for (long double& value : p) value /= total;
  return p;
}

std::int32_t draw_once(const SamplerOptions& options, const std::vector<float>& logits,
                       const std::vector<std::int32_t>& history = {}) {
  Sampler sampler = make_sampler(options).value();
  return sample(sampler, logits, history).value();
}

std::string failure(const SamplerOptions& options) {
  auto made = make_sampler(options);
  return made.ok() ? "no error" : made.error().message;
}

TEST(Sampler, greedy_takes_the_largest_and_the_lowest_id_on_a_tie) {
  SamplerOptions greedy = plain();
  greedy.temperature = 0;
  EXPECT_EQ(draw_once(greedy, {1, 3, 2, 3}), 1);
  EXPECT_EQ(draw_once(greedy, {-kInfinity, -5, -4}), 2);
  EXPECT_EQ(draw_once(greedy, {-1, -0.0f, 0.0f}), 1);
  greedy.suppress = {1, 900};
  EXPECT_EQ(draw_once(greedy, {1, 3, 2, 3}), 3);
  // The penalty comes before the choice.
  greedy.suppress = {};
  greedy.repeat_penalty = 2;
  EXPECT_EQ(draw_once(greedy, {1, 3, 2, 1}, {1}), 2);
}

TEST(Sampler, each_filter_is_its_definition) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    const std::vector<float> logits = random_logits(random, 1 + random() % 60);
    const std::vector<std::int32_t> order = ranked(logits);
    const std::vector<long double> p = softmax(logits);
    auto prob = [&](std::int32_t id) { return p[static_cast<std::size_t>(id)]; };

    SamplerOptions options = plain();
    options.top_k = static_cast<std::int32_t>(1 + random() % 70);
    const std::size_t k =
        std::min<std::size_t>(order.size(), static_cast<std::size_t>(options.top_k));
    EXPECT_EQ(
        ids_of(some_of(options, logits)),
        std::set<std::int32_t>(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k)));

    options = plain();
    options.top_p = static_cast<float>(random() % 100) / 100 + 0.003f;
    std::set<std::int32_t> expected;
    long double together = 0;
    for (const std::int32_t id : order) {
      expected.insert(id);
      together += prob(id);
      if (together >= options.top_p) break;
    }
    EXPECT_EQ(ids_of(some_of(options, logits)), expected) << options.top_p;

    options = plain();
    options.min_p = static_cast<float>(random() % 100) / 100 + 0.003f;
    expected.clear();
    for (const std::int32_t id : order) {
      if (prob(id) >= options.min_p * prob(order[0])) expected.insert(id);
    }
    EXPECT_EQ(ids_of(some_of(options, logits)), expected) << options.min_p;
  }
}

TEST(Sampler, steps_come_in_the_stated_order) {
  // top-k leaves two of equal probability, so top-p 0.5 needs the first only; over all four it
  // would need both.
  SamplerOptions options = plain();
  options.top_k = 2;
  options.top_p = 0.5f;
  EXPECT_EQ(ids_of(some_of(options, {1, 1, 1, 1})), (std::set<std::int32_t>{0}));
  // Temperature comes last: at 100 all would pass min-p 0.5, but the filter sees temperature 1.
  options = plain();
  options.min_p = 0.5f;
  options.temperature = 100;
  EXPECT_EQ(ids_of(some_of(options, {2, 1})), (std::set<std::int32_t>{0}));
  // The penalty comes first and changes who is in top-k.
  options = plain();
  options.top_k = 1;
  options.repeat_penalty = 10;
  EXPECT_EQ(ids_of(some_of(options, {5, 4}, {0})), (std::set<std::int32_t>{1}));
}

TEST(Sampler, probabilities_are_the_softmax_at_the_temperature) {
  std::mt19937 random(2);
  for (const float temperature : {0.1f, 0.8f, 1.0f, 5.0f}) {
    const std::vector<float> logits = random_logits(random, 50);
    SamplerOptions options = plain();
    options.temperature = temperature;
    const std::vector<long double> p = softmax(logits, temperature);
    double total = 0;
    for (const Candidate& candidate : some_of(options, logits)) {
      EXPECT_NEAR(candidate.probability, p[static_cast<std::size_t>(candidate.id)], 1e-14);
      total += candidate.probability;
    }
    EXPECT_NEAR(total, 1, 1e-14);
  }
}

TEST(Sampler, repetition_penalty) {
  SamplerOptions options = plain();
  options.repeat_penalty = 2;
  options.repeat_last_n = 3;
  const std::vector<float> logits{4, -4, 0, 4, 4};
  auto penalised = [&](const std::vector<std::int32_t>& history) {
    std::vector<float> out;
    for (const auto& c : some_of(options, logits, history)) out.push_back(c.logit);
    return out;
  };
  EXPECT_EQ(penalised({0, 0, 1}), (std::vector<float>{2, -8, 0, 4, 4}));     // twice counts once
  EXPECT_EQ(penalised({0, 3, 3, 3}), (std::vector<float>{4, -4, 0, 2, 4}));  // the window
  EXPECT_EQ(penalised({-1, 5, 99}), logits);                                 // outside the logits
  options.repeat_last_n = -1;
  EXPECT_EQ(penalised({0, 3, 3, 3}), (std::vector<float>{2, -4, 0, 2, 4}));
  options.repeat_last_n = 0;
  EXPECT_EQ(penalised({0, 3}), logits);
}

// Pearson's statistic of draws against the probabilities of candidates(), which the tests above
// compare with the definitions.
double chi_square(const SamplerOptions& options, const std::vector<float>& logits, int draws) {
  Sampler sampler = make_sampler(options).value();
  std::map<std::int32_t, int> counts;
  for (int i = 0; i < draws; ++i) ++counts[sample(sampler, logits, {}).value()];
  double statistic = 0;
  int seen = 0;
  for (const Candidate& candidate : some_of(options, logits)) {
    const double expected = candidate.probability * draws;
    const double difference = counts[candidate.id] - expected;
    statistic += difference * difference / expected;
    seen += counts[candidate.id];
  }
  EXPECT_EQ(seen, draws);  // nothing but candidates was drawn
  return statistic;
}

TEST(Sampler, draws_follow_the_distribution) {
  const std::vector<float> logits{2, 1, 0.5f, 0, 0, -0.5f, 1.5f, -1, 0.25f, -2};
  // 9 degrees of freedom: 27.9 is exceeded once in 1,000; and a fit that is too good is as odd.
  for (const std::uint64_t seed : {0ull, 1ull, 2ull, 1234567ull, ~0ull}) {
    SamplerOptions options = plain();
    options.seed = seed;
    const double all = chi_square(options, logits, 20000);
    EXPECT_LT(all, 27.9) << seed;
    EXPECT_GT(all, 1.15) << seed;
    options.temperature = 0.5f;
    options.top_k = 5;  // 4 degrees of freedom
    EXPECT_LT(chi_square(options, logits, 20000), 18.5) << seed;
  }
}

TEST(Sampler, uniform_numbers_are_uniform_across_draws_and_seeds) {
  std::vector<int> by_draw(64), by_seed(64), pairs(64);
  constexpr int kDraws = 64000;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    ++by_draw[static_cast<std::size_t>(uniform(7, i) * 64)];
    ++by_seed[static_cast<std::size_t>(uniform(i, 0) * 64)];
    ++pairs[static_cast<std::size_t>(uniform(9, 2 * i) * 8) * 8 +
            static_cast<std::size_t>(uniform(9, 2 * i + 1) * 8)];
  }
  for (const auto& counts : {by_draw, by_seed, pairs}) {
    double statistic = 0;
    for (const int count : counts) statistic += (count - 1000.0) * (count - 1000.0) / 1000.0;
    EXPECT_LT(statistic, 103.5);  // 63 degrees of freedom, once in 1,000
    EXPECT_GT(statistic, 34);
  }
}

// The contract that a seed means the same tokens everywhere; the numbers come from a second
// implementation, in Python.
TEST(Sampler, a_seed_gives_the_same_tokens_on_every_machine) {
  std::vector<float> logits(1000);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    logits[i] = static_cast<float>(i * 7919 % 1000) / 200;
  }
  Sampler sampler = make_sampler({.temperature = 0.9f, .top_k = 200, .seed = 42}).value();
  std::vector<std::int32_t> drawn;
  for (int i = 0; i < 12; ++i) drawn.push_back(sample(sampler, logits, {}).value());
  EXPECT_EQ(drawn,
            (std::vector<std::int32_t>{445, 891, 828, 568, 63, 568, 25, 915, 494, 631, 816, 62}));
  EXPECT_EQ(uniform(42, 0), 0x1.5f87eae99441cp-2);
  // A copy goes on as the original.
  Sampler copy = sampler;
  EXPECT_EQ(sample(copy, logits, {}).value(), sample(sampler, logits, {}).value());
}

TEST(Sampler, exp_is_within_two_units_in_the_last_place) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200000; ++i) {
    const double x = -700.0 * static_cast<double>(random() >> 11) * 0x1p-53;
    const double small = x / 1000;
    for (const double at : {x, small}) {
      const long double exact = std::exp(static_cast<long double>(at));
      ASSERT_LE(std::abs(portable_exp(at) - exact), 2 * exact * 0x1p-53L) << at;
    }
  }
  EXPECT_EQ(portable_exp(0), 1.0);
  EXPECT_EQ(portable_exp(-1e300), 0.0);
  EXPECT_EQ(portable_exp(-static_cast<double>(kInfinity)), 0.0);
  EXPECT_GT(portable_exp(-745), 0.0);
}

TEST(Sampler, damaged_logits_are_an_error_and_make_no_draw) {
  Sampler sampler = make_sampler(plain()).value();
  auto message = [&](std::vector<float> logits) {
    return sample(sampler, logits, {}).error().message;
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(message({0, nan}),
            "sampling: the logit of token 1 is NaN, of 2 logits; the model file or the compiled "
            "program is damaged");
  EXPECT_EQ(message({0, 1, -nan}).substr(0, 37), "sampling: the logit of token 2 is NaN");
  EXPECT_EQ(message({kInfinity, 0, 1}),
            "sampling: the logit of token 0 is inf, of 3 logits; the model file or the compiled "
            "program is damaged");
  EXPECT_EQ(message({}), "sampling: there are no logits");
  EXPECT_EQ(message({-kInfinity, -kInfinity}),
            "sampling: all 2 tokens are suppressed or have the logit -inf");
  EXPECT_EQ(sampler.draws, 0u);
}

TEST(Sampler, options_out_of_range_are_named) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(failure({.temperature = nan}),
            "sampling: temperature nan is out of range: 0 for greedy, or above");
  EXPECT_EQ(failure({.top_p = 1.5f}), "sampling: top-p 1.5 is out of range: 0 to 1");
  EXPECT_EQ(failure({.min_p = -0.1f}), "sampling: min-p -0.1 is out of range: 0 to 1");
  EXPECT_EQ(failure({.repeat_penalty = 0}),
            "sampling: repeat penalty 0 is out of range: 1 for none, above 1 to repeat less");
  EXPECT_EQ(failure({.repeat_last_n = -2}).substr(0, 42),
            "sampling: repeat last n -2 is out of range");
  EXPECT_EQ(failure({.temperature = -1}), "no error");
}

TEST(Sampler, extreme_logits_and_temperatures_stay_finite) {
  const float most = std::numeric_limits<float>::max();
  SamplerOptions options = plain();
  for (const float temperature : {1e-30f, 1e-3f, 1e30f}) {
    options.temperature = temperature;
    EXPECT_EQ(ids_of(some_of(options, {-most, most, 0})).size(), 3u);
    EXPECT_EQ(draw_once(options, {-most, most, 0}), 1);
  }
  options.repeat_penalty = 1e-6f;
  EXPECT_EQ(draw_once(options, {most, 1, -most}, {0, 2}), 0);
}

TEST(Sampler, largest_logits_for_the_reports) {
  const auto top = largest_logits(std::vector<float>{1, 3, 2, 3}, 3).value();
  ASSERT_EQ(top.size(), 3u);
  EXPECT_EQ(top[0].id, 1);
  EXPECT_EQ(top[1].id, 3);
  EXPECT_EQ(top[2].id, 2);
  const auto p = softmax({1, 3, 2, 3});
  EXPECT_NEAR(top[2].probability, p[2], 1e-15);
  EXPECT_EQ(largest_logits(std::vector<float>{1}, 9).value().size(), 1u);
}

}  // namespace
}  // namespace luminal::text
