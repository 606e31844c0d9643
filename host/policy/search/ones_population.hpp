#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/policy/search/ones_question.hpp"

namespace berth::policy {

/// The population of a decision, and that of the decision before.
class OnesPopulation {
 public:
  /// Loads the kept population, restricted to existing jobs and GPUs. @param individuals  of a population
  void load(const PolicyState& kept, const OnesQuestion& question, std::int32_t individuals);
  /// @param generations  Maximum for this decision.
  kernel::OnesRequest request(std::int32_t generations) const;
  /// Makes room for the answer.
  kernel::OnesResult result(std::int32_t generations);
  void store(PolicyState& kept, const OnesQuestion& question) const;

  const std::int32_t* best_first() const { return first_.data(); }
  const std::int32_t* best_count() const { return count_.data(); }
  std::int32_t made() const { return made_; }
  /// The score of the best after each generation.
  std::span<const std::int64_t> least() const { return {least_.data(), static_cast<std::size_t>(made_)}; }

 private:
  std::size_t jobs_ = 0, individuals_ = 0;
  bool known_ = false;
  std::int32_t next_generation_ = 0, made_ = 0;
  std::vector<std::int32_t> kept_first_, kept_count_, first_, count_;  // [individuals][jobs]
  std::vector<std::int64_t> score_, least_;
  std::vector<std::uint8_t> taken_;
  std::vector<std::string> name_;  // of the individuals' columns
  mutable std::vector<std::int64_t> values_;
};

}  // namespace berth::policy
