// SPDX-License-Identifier: MIT OR Apache-2.0
// From the logits of one position to the next token.
//
//   LUM_ASSIGN_OR_RETURN(Sampler sampler, make_sampler({.temperature = 0.7f, .seed = 42}));
//   LUM_ASSIGN_OR_RETURN(std::int32_t id, sample(sampler, logits, history));
//
// The steps and their defaults are llama.cpp's, in its order:
//   1. suppressed tokens leave
//   2. repetition penalty r (1.0: off) on the tokens among the last n (64) of the history, each
//   once:
//      a positive logit is divided by r, any other multiplied
//   3. top-k (40): the k largest logits stay, on a tie the lower id
//   4. top-p (0.95): of those the shortest run of the largest with probability p together
//   5. min-p (0.05): those at least min-p times as probable as the first
//   6. temperature (0.8) divides the logits that are left; 0 takes the largest, lowest id on a tie
//   7. a token is drawn
// Temperature comes last, so top-p and min-p see the model's own probabilities.
//
// The draw is the same on every machine for the same logits, history and seed: exp is computed here
// with + and * of doubles, sums run in a stated order, and the random numbers are a counter put
// through the mixing function of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom
// Number Generators, 2014), so the n-th draw depends on the seed and n alone.
#pragma once

#include "luminal/base/result.h"

#include <cstdint>
#include <span>
#include <vector>

namespace luminal::text {

struct SamplerOptions {
  float temperature = 0.8f;         ///< 0 or less: greedy
  std::int32_t top_k = 40;          ///< 0 or less: off
  float top_p = 0.95f;              ///< 1: off
  float min_p = 0.05f;              ///< 0: off
  float repeat_penalty = 1.0f;      ///< above 0; 1: off
  std::int32_t repeat_last_n = 64;  ///< 0: off; -1: the whole history
  std::uint64_t seed = 0;
  std::vector<std::int32_t> suppress;  ///< ids that are never chosen
};

/// The options and how many draws were made: a copy continues with the same tokens.
struct Sampler {
  SamplerOptions options;
  std::uint64_t draws = 0;
};

/// A token that may be drawn.
struct Candidate {
  std::int32_t id;
  float logit;         ///< after the repetition penalty, before the temperature
  double probability;  ///< after all steps; together they are 1
};

/// Errors: an option that is not finite or out of its range, named with its value.
Result<Sampler> make_sampler(SamplerOptions options);

/// The next token and one more draw. `history` holds the ids of the prompt and the answer so far;
/// ids outside the logits are passed over. Errors: no logits; a logit that is NaN or +inf (named; a
/// logit of -inf is never chosen); nothing left to choose from. An error makes no draw.
Result<std::int32_t> sample(Sampler& sampler, std::span<const float> logits,
                            std::span<const std::int32_t> history);

/// What sample draws from: by falling logit, then rising id, when a filter is on, else by rising
/// id. One candidate when greedy. Errors as sample.
Result<std::vector<Candidate>> candidates(const SamplerOptions& options,
                                          std::span<const float> logits,
                                          std::span<const std::int32_t> history);

/// The `count` largest logits, by falling logit, then rising id, with the probabilities of a plain
/// softmax over all logits. Errors as sample.
Result<std::vector<Candidate>> largest_logits(std::span<const float> logits, std::size_t count);

/// exp(x) for x <= 0 within 2 ulp, the same bits on every machine; 0 from -745.2 down.
double portable_exp(double x);

/// The n-th number of a seed, uniform in [0, 1) in steps of 2^-53.
double uniform(std::uint64_t seed, std::uint64_t n);

}  // namespace luminal::text
