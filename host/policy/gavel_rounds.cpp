#include "host/policy/gavel_rounds.hpp"

#include <algorithm>
#include <map>
#include <utility>

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

using Column = std::map<std::string, std::int64_t>;

const Column* column(const PolicyState& kept, const std::string& name) {
  const auto known = kept.columns.find(name);
  return known == kept.columns.end() ? nullptr : &known->second;
}

TimeUs cell(const Column* column, const std::string& job) {
  if (column == nullptr) return 0;
  const auto row = column->find(job);
  return row == column->end() ? 0 : row->second;
}

// Rows of jobs that left go; what stays is written where it was.
void write(PolicyState& kept, const std::string& name, const std::vector<const std::string*>& jobs, const TimeUs* cells, std::size_t step) {
  bool any = false;
  for (std::size_t j = 0; !any && j < jobs.size(); ++j) any = cells[j * step] != 0;
  if (!any) {
    kept.columns.erase(name);
    return;
  }
  Column& column = kept.columns[name];
  for (auto& [job, value] : column) value = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (cells[j * step] != 0) column[*jobs[j]] = cells[j * step];
  }
  std::erase_if(column, [](const auto& row) { return row.second == 0; });
}

}  // namespace

// What runs is taken to have run since the last decision, which started it or left it.
void GavelRounds::load(const core::ShapeQuestion& q) {
  const StateImpl& s = q.state;
  n_types_ = at(q.problem.n_types);
  const auto n_jobs = at(q.problem.n_jobs);
  begun_ = scalar(q.kept, kBegun, kNever);
  seen_ = scalar(q.kept, kSeen, s.now);
  settled_ = scalar(q.kept, kSettled, s.now);
  received_of_.resize(n_types_);
  owed_of_.resize(n_types_);
  for (std::size_t t = 0; t < n_types_; ++t) {
    received_of_[t].assign(kReceived).append(s.gpu_types[t].id);
    owed_of_[t].assign(kOwed).append(s.gpu_types[t].id);
  }
  job_.clear();
  received_.assign(n_jobs * n_types_, 0);
  owed_.assign(n_jobs * n_types_, 0);
  current_.assign(n_jobs, -1);
  for (std::size_t j = 0; j < n_jobs; ++j) {
    const std::int32_t first = q.problem.option_begin[j], last = q.problem.option_begin[j + 1];
    job_.push_back(&s.jobs[at(q.options[at(first)].slot)].job->id);
    for (std::int32_t k = first; k < last; ++k) {
      if (!q.options[at(k)].current) continue;
      current_[j] = k;
      received_[j * n_types_ + at(q.problem.type[k])] += std::max<TimeUs>(0, s.now - seen_);
    }
  }
  for (std::size_t t = 0; t < n_types_; ++t) {
    const Column *received = column(q.kept, received_of_[t]), *owed = column(q.kept, owed_of_[t]);
    for (std::size_t j = 0; j < n_jobs; ++j) {
      received_[j * n_types_ + t] += cell(received, *job_[j]);
      owed_[j * n_types_ + t] = cell(owed, *job_[j]);
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
  given_.assign(n_types_, 0);
  for (std::size_t i = 0; i < received_.size(); ++i) given_[i % n_types_] += received_[i];
  // First those whose shares say so, on all types; then whoever fits.
  for (const bool has_share : {true, false}) {
    for (const std::int32_t type : round.types) {
      turns_.clear();
      for (std::int32_t j = 0; j < q.problem.n_jobs; ++j) {
        const std::size_t i = at(j) * n_types_ + at(type);
        if (round.row[i] < 0 || chosen[at(j)] >= 0 || (round.share[i] > 0) != has_share) continue;
        const double received = given_[at(type)] == 0 ? 0 : static_cast<double>(received_[i]) / static_cast<double>(given_[at(type)]);
        turns_.push_back(
            {received > 0 ? round.share[i] / received : round.share[i] * 1e9, static_cast<double>(owed_[i]), round.share[i], j});
      }
      std::sort(turns_.begin(), turns_.end());
      for (const Turn& turn : turns_) take(turn.job, round.row[at(turn.job) * n_types_ + at(type)]);
    }
  }
}

void GavelRounds::store(PolicyState& kept) const {
  kept.scalars[kBegun] = begun_;
  kept.scalars[kSeen] = seen_;
  kept.scalars[kSettled] = settled_;
  for (std::size_t t = 0; t < n_types_; ++t) {
    write(kept, received_of_[t], job_, received_.data() + t, n_types_);
    write(kept, owed_of_[t], job_, owed_.data() + t, n_types_);
  }
  const auto counts = [&](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::erase_if(kept.columns,
                [&](const auto& one) { return !counts(received_of_, one.first) && !counts(owed_of_, one.first); });  // types may have left
}

}  // namespace berth::policy
