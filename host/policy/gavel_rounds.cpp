#include "host/policy/gavel_rounds.hpp"

#include <algorithm>
#include <tuple>

#include "host/core/at.hpp"
#include "host/core/state_impl.hpp"

namespace berth::policy {
namespace {

constexpr TimeUs kSettleAfter = 1'920 * kSecond;  // Gavel's; it counts anew no sooner
constexpr const char* kReceived = "received/";    // then the id of a GPU type
constexpr const char* kOwed = "owed/";
constexpr const char* kBegun = "round_began_us";
constexpr const char* kSeen = "decided_us";
constexpr const char* kSettled = "settled_us";

TimeUs scalar(const PolicyState& kept, const char* name, TimeUs otherwise) {
  const auto known = kept.scalars.find(name);
  return known == kept.scalars.end() ? otherwise : known->second;
}

TimeUs cell(const PolicyState& kept, const std::string& column, const std::string& job) {
  const auto known = kept.columns.find(column);
  if (known == kept.columns.end()) return 0;
  const auto row = known->second.find(job);
  return row == known->second.end() ? 0 : row->second;
}

// Who goes first: the greatest of all but the job.
struct Turn {
  double priority, owed, share;
  std::int32_t job;

  bool operator<(const Turn& b) const { return std::tie(b.priority, b.owed, b.share, job) < std::tie(priority, owed, share, b.job); }
};

}  // namespace

// What runs is taken to have run since the last decision, which started it or left it.
void GavelRounds::load(const core::ShapeQuestion& q) {
  const StateImpl& s = q.state;
  n_types_ = at(q.problem.n_types);
  const auto n_jobs = at(q.problem.n_jobs);
  begun_ = scalar(q.kept, kBegun, kNever);
  seen_ = scalar(q.kept, kSeen, s.now);
  settled_ = scalar(q.kept, kSettled, s.now);
  type_.clear();
  for (std::size_t t = 0; t < n_types_; ++t) type_.push_back(s.gpu_types[t].id);
  job_.clear();
  received_.assign(n_jobs * n_types_, 0);
  owed_.assign(n_jobs * n_types_, 0);
  current_.assign(n_jobs, -1);
  for (std::size_t j = 0; j < n_jobs; ++j) {
    const std::int32_t first = q.problem.option_begin[j], last = q.problem.option_begin[j + 1];
    job_.push_back(s.jobs[at(q.options[at(first)].slot)].job->id);
    for (std::size_t t = 0; t < n_types_; ++t) {
      received_[j * n_types_ + t] = cell(q.kept, kReceived + type_[t], job_[j]);
      owed_[j * n_types_ + t] = cell(q.kept, kOwed + type_[t], job_[j]);
    }
    for (std::int32_t k = first; k < last; ++k) {
      if (!q.options[at(k)].current) continue;
      current_[j] = k;
      received_[j * n_types_ + at(q.problem.type[k])] += std::max<TimeUs>(0, s.now - seen_);
    }
  }
  seen_ = s.now;
}

void GavelRounds::settle(const RoundQuestion& round, TimeUs now) {
  if (now - settled_ < kSettleAfter) return;
  for (std::size_t i = 0; i < received_.size(); ++i) {
    owed_[i] += static_cast<TimeUs>(round.share[i] * static_cast<double>(now - settled_)) - received_[i];
    received_[i] = 0;
  }
  settled_ = now;
}

void GavelRounds::choose(const core::ShapeQuestion& q, const RoundQuestion& round, std::span<std::int32_t> chosen) {
  load(q);
  settle(round, seen_);
  const bool due = begun_ == kNever || begun_ > seen_ || seen_ - begun_ >= length_;
  if (due) begun_ = seen_;
  std::fill(chosen.begin(), chosen.end(), -1);
  left_.assign(q.problem.capacity, q.problem.capacity + n_types_);
  give(q, round, due, chosen);
}

// Within a round who runs stays, and what is free goes to others.
void GavelRounds::give(const core::ShapeQuestion& q, const RoundQuestion& round, bool due, std::span<std::int32_t> chosen) {
  const auto take = [&](std::int32_t j, std::int32_t k) {
    std::int64_t& left = left_[at(q.problem.type[k])];
    if (chosen[at(j)] >= 0 || q.problem.gpus[k] > left) return;
    chosen[at(j)] = k - q.problem.option_begin[j];
    left -= q.problem.gpus[k];
  };
  for (std::int32_t j = 0; !due && j < q.problem.n_jobs; ++j) {
    if (current_[at(j)] >= 0) take(j, current_[at(j)]);
  }
  std::vector<TimeUs> given(n_types_, 0);
  for (std::size_t i = 0; i < received_.size(); ++i) given[i % n_types_] += received_[i];
  std::vector<Turn> turns;
  // First those whose shares say so, on all types; then whoever fits.
  for (const bool has_share : {true, false}) {
    for (const std::int32_t type : round.types) {
      turns.clear();
      for (std::int32_t j = 0; j < q.problem.n_jobs; ++j) {
        const std::size_t i = at(j) * n_types_ + at(type);
        if (round.row[i] < 0 || chosen[at(j)] >= 0 || (round.share[i] > 0) != has_share) continue;
        const double received = given[at(type)] == 0 ? 0 : static_cast<double>(received_[i]) / static_cast<double>(given[at(type)]);
        turns.push_back(
            {received > 0 ? round.share[i] / received : round.share[i] * 1e9, static_cast<double>(owed_[i]), round.share[i], j});
      }
      std::sort(turns.begin(), turns.end());
      for (const Turn& turn : turns) take(turn.job, round.row[at(turn.job) * n_types_ + at(type)]);
    }
  }
}

void GavelRounds::store(PolicyState& kept) const {
  kept.scalars[kBegun] = begun_;
  kept.scalars[kSeen] = seen_;
  kept.scalars[kSettled] = settled_;
  kept.columns.clear();
  for (std::size_t i = 0; i < received_.size(); ++i) {
    const std::string &job = job_[i / n_types_], &type = type_[i % n_types_];
    if (received_[i] != 0) kept.columns[kReceived + type][job] = received_[i];
    if (owed_[i] != 0) kept.columns[kOwed + type][job] = owed_[i];
  }
}

}  // namespace berth::policy
