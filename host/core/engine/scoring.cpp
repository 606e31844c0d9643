#include "host/core/engine/scoring.hpp"

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/names.hpp"
#include "host/core/engine/resolve.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

static_assert(kMostCandidates == kernel::kMaxBest);

}  // namespace

void Scoring::read_jobs(const StateImpl& s, const std::vector<std::string>& ids) {
  jobs_.clear();
  for (const std::string& id : ids) jobs_.push_back(job_of(s, id));
  if (!ids.empty()) return;
  for (const std::int32_t job : s.job_order) {
    if (s.job.running[to_index(job)] == 0) jobs_.push_back(job);
  }
}

void Scoring::read_costs(const StateImpl& s, const ScoreRequest& request, std::int32_t level) {
  cost_.clear();
  if (request.domain_cost.empty()) return;
  const auto topology = static_cast<std::int32_t>(request.level.topology);
  const std::int32_t* begin = problem_.topology[topology].level_begin;
  cost_.assign(to_index(level == 0 ? problem_.n_nodes : begin[level + 1] - begin[level]), 0);
  for (const auto& cost : request.domain_cost) {
    if (level == 0) {
      cost_[to_index(node_of(s, cost.first))] = cost.second;
      continue;
    }
    const std::int32_t domain = s.topologies.find(request.level.topology, cost.first);
    if (domain < begin[level] || domain >= begin[level + 1]) {
      throw InvalidArgument("no domain '" + cost.first + "' at level '" + request.level.level + "' of topology " +
                            std::string(name(request.level.topology)));
    }
    cost_[to_index(domain - begin[level])] = cost.second;
  }
}

kernel::ScoreQuery Scoring::compile(const StateImpl& s, const ScoreRequest& request) {
  if (request.k < 1 || request.k > kMostCandidates) {
    throw InvalidArgument("k is " + std::to_string(request.k) + ", not in 1.." + std::to_string(kMostCandidates));
  }
  problem_ = s.problem();
  const std::int32_t level = level_of(s, request.level);
  read_jobs(s, request.jobs);
  read_costs(s, request, level);
  taken_of(s, request.taken, taken_);
  if (!taken_.empty()) {
    free_.assign(problem_.node_free, problem_.node_free + problem_.n_nodes);
    for (const kernel::TakenRow& row : taken_) free_[to_index(row.node)] &= ~row.mask;
    problem_.node_free = free_.data();
  }
  option_run_.assign(to_index(problem_.n_options), kNever);
  for (const std::int32_t job : jobs_) {
    const std::int32_t first = problem_.option_begin[job];
    for (std::int32_t o = first; o < problem_.option_end[job]; ++o) option_run_[to_index(o)] = s.option_run(job, to_index(o - first));
  }

  kernel::ScoreQuery asked{};
  asked.n = static_cast<std::int32_t>(jobs_.size());
  asked.jobs = jobs_.data();
  asked.option_run = option_run_.data();
  asked.topology = static_cast<std::int32_t>(request.level.topology);
  asked.level = level;
  asked.leftover_weight = request.leftover_weight;
  asked.domain_cost = cost_.empty() ? nullptr : cost_.data();
  asked.k = request.k;
  asked.now = s.now;
  best_.resize(jobs_.size() * to_index(request.k));
  return asked;
}

void Scoring::read(const StateImpl& s, const kernel::ScoreQuery& asked, Candidates& out) const {
  out.job = jobs_;
  out.begin.assign(1, 0);
  out.rows.clear();
  const std::int32_t first = asked.level == 0 ? 0 : problem_.topology[asked.topology].level_begin[asked.level];
  const kernel::CandidateRow* row = best_.data();
  for (const std::int32_t job : jobs_) {
    for (std::int32_t i = 0; i < asked.k; ++i, ++row) {
      if (row->option == kernel::kNone) continue;
      const kernel::OptionRow& option = problem_.options[problem_.option_begin[job] + row->option];
      Candidate c;
      c.shape = option.shape;
      c.gpu_type = s.gpu_types[to_index(problem_.demands[option.demand].gpu_type)].id;
      c.where = asked.level == 0 ? std::string_view(s.nodes[to_index(row->where)].id) : std::string_view(s.topologies.path(row->where));
      c.node = asked.level == 0 ? row->where : -1;
      c.score = row->score;
      c.gpu_time_ms = row->gpu_time_ms;
      c.leftover = row->leftover;
      c.domain_cost = cost_.empty() ? 0 : cost_[to_index(row->where - first)];
      out.rows.push_back(c);
    }
    out.begin.push_back(static_cast<std::int32_t>(out.rows.size()));
  }
}

}  // namespace berth::core
