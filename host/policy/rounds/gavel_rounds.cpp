#include "host/policy/rounds/gavel_rounds.hpp"

#include <algorithm>
#include <map>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::policy {
namespace {

constexpr TimeUs kCountFor = 1'920 * kSecond;   // Gavel's; the shares are counted again after this time
constexpr const char* kReceived = "received/";  // followed by the id of a GPU type
constexpr const char* kOwed = "owed/";
constexpr const char* kShare = "share/";
constexpr const char* kBegun = "round_began_us";
constexpr const char* kSeen = "decided_us";
constexpr const char* kCounted = "counted_us";
constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kGone = INT64_MIN;

// Policy states are read from files: an impossible instant counts as none.
TimeUs instant(const PolicyState& kept, const char* name, TimeUs now, TimeUs otherwise) {
  const auto known = kept.scalars.find(name);
  return known == kept.scalars.end() || known->second < 0 || known->second > now ? otherwise : known->second;
}

using Column = std::map<std::string, std::int64_t>;

// For all jobs, one type of [jobs][types]; unknown values are 0.
void read(const PolicyState& kept, const std::string& name, const std::vector<std::string>& jobs, std::size_t n, std::size_t step,
          std::int64_t least, std::int64_t most, std::int64_t* cells) {
  const auto known = kept.columns.find(name);
  for (std::size_t j = 0; j < n; ++j) {
    cells[j * step] = 0;
    if (known == kept.columns.end()) continue;
    const auto row = known->second.find(jobs[j]);
    if (row != known->second.end()) cells[j * step] = std::clamp(row->second, least, most);
  }
}

// Removes the rows of jobs that left, and keeps the others unchanged.
void write(PolicyState& kept, const std::string& name, const std::vector<std::string>& jobs, std::size_t n, std::size_t step,
           const std::int64_t* cells) {
  Column& column = kept.columns[name];
  for (auto& [job, value] : column) value = kGone;
  for (std::size_t j = 0; j < n; ++j) {
    const auto row = column.find(jobs[j]);
    if (row != column.end()) {
      row->second = cells[j * step];
    } else if (cells[j * step] != 0) {
      column.emplace(jobs[j], cells[j * step]);
    }
  }
  std::erase_if(column, [](const auto& row) { return row.second == kGone; });
  if (column.empty()) kept.columns.erase(name);
}

void add_within(TimeUs& sum, TimeUs more) { sum = std::clamp(sum + more, -kMaxTimeUs, kMaxTimeUs); }

}  // namespace

bool GavelRounds::ShareClaim::operator<(const ShareClaim& b) const {
  const core::Wide here = core::Wide{share_ppm} * b.received, there = core::Wide{b.share_ppm} * received;
  if (here != there) return here > there;
  if (owed != b.owed) return owed > b.owed;
  if (share_ppm != b.share_ppm) return share_ppm > b.share_ppm;
  return job < b.job;
}

void GavelRounds::load(const core::ShapeQuestion& q) {
  const StateView& s = q.state;
  n_types_ = to_index(q.problem.n_types);
  n_jobs_ = s.job_order().size();
  begun_ = instant(q.kept, kBegun, s.now(), kNever);
  seen_ = instant(q.kept, kSeen, s.now(), s.now());
  counted_ = instant(q.kept, kCounted, s.now(), s.now());
  if (job_.size() < n_jobs_) job_.resize(n_jobs_);
  for (std::size_t j = 0; j < n_jobs_; ++j) job_[j] = s.jobs()[to_index(s.job_order()[j])].job->id;
  received_.resize(n_jobs_ * n_types_);
  owed_.resize(n_jobs_ * n_types_);
  share_.resize(n_jobs_ * n_types_);
  received_of_.resize(n_types_);
  owed_of_.resize(n_types_);
  share_of_.resize(n_types_);
  for (std::size_t t = 0; t < n_types_; ++t) {
    received_of_[t].assign(kReceived).append(s.gpu_types()[t].id);
    owed_of_[t].assign(kOwed).append(s.gpu_types()[t].id);
    share_of_[t].assign(kShare).append(s.gpu_types()[t].id);
    read(q.kept, received_of_[t], job_, n_jobs_, n_types_, 0, kMaxTimeUs, received_.data() + t);
    read(q.kept, owed_of_[t], job_, n_jobs_, n_types_, -kMaxTimeUs, kMaxTimeUs, owed_.data() + t);
    read(q.kept, share_of_[t], job_, n_jobs_, n_types_, 0, kMillion, share_.data() + t);
  }
}

// Accounts for the time since the last decision: what each job was owed by its shares then, and what it received.
void GavelRounds::count(const core::ShapeQuestion& q) {
  const StateView& s = q.state;
  const TimeUs passed = s.now() - seen_;
  if (!all_ && s.now() - counted_ >= kCountFor) {
    std::fill(received_.begin(), received_.end(), 0);
    counted_ = s.now();
  }
  for (std::size_t j = 0; j < n_jobs_; ++j) {
    const std::int32_t job = s.job_order()[j];
    for (std::size_t t = 0; t < n_types_; ++t)
      add_within(owed_[j * n_types_ + t], core::mul_div(share_[j * n_types_ + t], passed, kMillion));
    if (s.job().running[to_index(job)] == 0 || s.job().held_type[to_index(job)] < 0) continue;
    const TimeUs assigned = s.jobs()[to_index(job)].job->last_assignment_us;
    const TimeUs ran = assigned == kNever ? passed : std::min(passed, std::max<TimeUs>(0, s.now() - assigned));
    const std::size_t i = j * n_types_ + to_index(s.job().held_type[to_index(job)]);
    add_within(received_[i], ran);
    add_within(owed_[i], -ran);
  }
  seen_ = s.now();
}

void GavelRounds::set_shares(const core::ShapeQuestion& q, const RoundQuestion& round) {
  std::fill(share_.begin(), share_.end(), 0);
  rank_.clear();
  for (std::size_t j = 0; j < to_index(q.problem.n_jobs); ++j) {
    rank_.push_back(q.state.job_rank()[to_index(q.options[to_index(q.problem.option_begin[j])].job)]);
    for (std::size_t t = 0; t < n_types_; ++t) share_[to_index(rank_.back()) * n_types_ + t] = round.share_ppm[j * n_types_ + t];
  }
}

void GavelRounds::choose(const core::ShapeQuestion& q, const RoundQuestion& round, std::span<std::int32_t> chosen) {
  load(q);
  count(q);
  set_shares(q, round);
  const bool due = begun_ == kNever || seen_ - begun_ >= length_;
  if (due) begun_ = seen_;
  std::fill(chosen.begin(), chosen.end(), -1);
  left_.assign(q.problem.capacity, q.problem.capacity + n_types_);
  give(q, round, due, chosen);
}

// Within a round running jobs stay, and other jobs receive what is free.
void GavelRounds::give(const core::ShapeQuestion& q, const RoundQuestion& round, bool due, std::span<std::int32_t> chosen) {
  const auto take = [&](std::int32_t j, std::int32_t k) {
    std::int64_t& left = left_[to_index(q.problem.type[k])];
    if (chosen[to_index(j)] >= 0 || q.problem.gpus[k] > left) return;
    chosen[to_index(j)] = k - q.problem.option_begin[j];
    left -= q.problem.gpus[k];
  };
  for (std::int32_t j = 0; !due && j < q.problem.n_jobs; ++j) {
    for (std::int32_t k = q.problem.option_begin[j]; k < q.problem.option_begin[j + 1]; ++k) {
      if (q.options[to_index(k)].current) take(j, k);
    }
  }
  // First the jobs with a share, on all types; then any job that fits.
  for (const bool has_share : {true, false}) {
    for (const std::int32_t type : round.types) {
      claims_.clear();
      for (std::int32_t j = 0; j < q.problem.n_jobs; ++j) {
        const std::size_t i = to_index(j) * n_types_ + to_index(type), own = to_index(rank_[to_index(j)]) * n_types_ + to_index(type);
        if (round.row[i] < 0 || chosen[to_index(j)] >= 0 || (round.share_ppm[i] > 0) != has_share) continue;
        claims_.push_back({round.share_ppm[i], std::max<TimeUs>(1, received_[own] + (all_ ? 0 : length_ / 2)), owed_[own], j});
      }
      std::sort(claims_.begin(), claims_.end());
      for (const ShareClaim& claim : claims_) take(claim.job, round.row[to_index(claim.job) * n_types_ + to_index(type)]);
    }
  }
}

void GavelRounds::store(PolicyState& kept) const {
  kept.scalars[kBegun] = begun_;
  kept.scalars[kSeen] = seen_;
  kept.scalars[kCounted] = counted_;
  for (std::size_t t = 0; t < n_types_; ++t) {
    write(kept, received_of_[t], job_, n_jobs_, n_types_, received_.data() + t);
    write(kept, owed_of_[t], job_, n_jobs_, n_types_, owed_.data() + t);
    write(kept, share_of_[t], job_, n_jobs_, n_types_, share_.data() + t);
  }
  const auto removed = [](const std::string& column, const char* prefix, const std::vector<std::string>& names) {
    return column.rfind(prefix, 0) == 0 && std::find(names.begin(), names.end(), column) == names.end();
  };
  std::erase_if(kept.columns, [&](const auto& one) {  // of types that are gone
    return removed(one.first, kReceived, received_of_) || removed(one.first, kOwed, owed_of_) || removed(one.first, kShare, share_of_);
  });
}

}  // namespace berth::policy
