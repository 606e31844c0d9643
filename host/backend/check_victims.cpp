#include "host/backend/check_victims.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "berth/error.hpp"

namespace berth::core {
namespace {

void require_in(const std::string& name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  throw InvalidArgument(name + " is " + std::to_string(value) + "; it must be " + std::to_string(least) + " to " + std::to_string(most));
}

void require_flat(const kernel::ProblemView& p, const std::string& question, std::int32_t demand) {
  const kernel::DemandRow& row = p.demands[demand];
  const auto refuse = [&](const char* why) {
    throw InvalidArgument(question + ": demand " + std::to_string(demand) + " " + why + "; ask for one flat group of whole GPUs");
  };
  if (row.group_end - row.group_begin != 1) refuse("is a tree of groups");
  const kernel::GroupRow& group = p.groups[row.group_begin];
  if (group.share_ppm != kWholeGpu) refuse("asks for shares of GPUs");
  if (group.segment_size != 0) refuse("has segments");
  if (group.spread_most != 0) refuse("has a spread");
  if (group.members < 1 || group.gpus < 1) refuse("has no members or no GPUs");
  if (group.cpu < 0 || group.memory < 0) refuse("asks for less than no cores or memory");
}

void require_domain(const kernel::ProblemView& p, const std::string& question, std::int32_t topology, std::int32_t domain) {
  if (topology == kernel::kNone) return require_in(question + ": node", domain, 0, std::int64_t{p.n_nodes} - 1);
  require_in(question + ": topology", topology, 0, 4);
  if (domain == kernel::kNone) return;
  const kernel::TopologyView& of = p.topology[topology];
  require_in(question + ": domain of topology " + std::to_string(topology), domain, of.level_begin[1],
             std::int64_t{of.level_begin[of.levels]} - 1);
}

/// GPUs of nodes that candidates of one question hold.
using HeldMasks = std::unordered_map<std::int32_t, std::uint64_t>;

void require_candidate(const kernel::ProblemView& p, const std::string& candidate, std::int32_t job, HeldMasks& masks) {
  for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) {
    const kernel::HeldRow& row = p.held[h];
    if (row.share_ppm != kWholeGpu) throw InvalidArgument(candidate + ": job " + std::to_string(job) + " holds shares of GPUs");
    std::uint64_t& taken = masks[row.node];
    if (row.mask == 0 || (taken & row.mask) != 0) {
      throw InvalidArgument(candidate + ": job " + std::to_string(job) + " holds no GPUs, or GPUs of another candidate, on node " +
                            std::to_string(row.node));
    }
    taken |= row.mask;
  }
}

void require_question(const kernel::ProblemView& p, const kernel::VictimsRequest& r, std::int32_t q) {
  const std::string question = "question " + std::to_string(q);
  require_in(question + ": demand", r.demand[q], 0, std::int64_t{p.n_demands} - 1);
  require_flat(p, question, r.demand[q]);
  require_domain(p, question, r.topology[q], r.domain[q]);
  require_in(question + ": first candidate", r.candidate_begin[q], 0, r.n_candidates);
  require_in(question + ": end of candidates", r.candidate_end[q], r.candidate_begin[q], r.n_candidates);
  const std::int64_t n = std::int64_t{r.candidate_end[q]} - r.candidate_begin[q];
  require_in(question + ": first row of `chosen`", r.chosen_begin[q], 0, r.n_chosen - n);
  std::vector<std::int32_t> jobs;
  std::int64_t rows = 0;
  HeldMasks masks;
  for (std::int32_t c = r.candidate_begin[q]; c < r.candidate_end[q]; ++c) {
    const std::string candidate = question + ", candidate " + std::to_string(c);
    require_in(candidate + ": job", r.candidate_job[c], 0, std::int64_t{p.n_jobs} - 1);
    require_in(candidate + ": cost", r.candidate_cost[c], 0, INT64_MAX);
    require_candidate(p, candidate, r.candidate_job[c], masks);
    jobs.push_back(r.candidate_job[c]);
    rows += p.held_end[jobs.back()] - p.held_begin[jobs.back()];
  }
  require_in(question + ": number of rows that candidates hold", rows, 0, INT32_MAX - 1);
  std::sort(jobs.begin(), jobs.end());
  const auto twice = std::adjacent_find(jobs.begin(), jobs.end());
  if (twice != jobs.end()) throw InvalidArgument(question + " has job " + std::to_string(*twice) + " twice");
}

}  // namespace

void check_victims(const kernel::ProblemView& problem, const kernel::VictimsRequest& request) {
  require_in("number of questions", request.n, 0, INT32_MAX - 1);
  require_in("number of candidates", request.n_candidates, 0, INT32_MAX - 1);
  std::vector<std::pair<std::int64_t, std::int64_t>> chosen;
  for (std::int32_t q = 0; q < request.n; ++q) {
    require_question(problem, request, q);
    const std::int64_t n = std::int64_t{request.candidate_end[q]} - request.candidate_begin[q];
    if (n > 0) chosen.emplace_back(request.chosen_begin[q], request.chosen_begin[q] + n);
  }
  std::sort(chosen.begin(), chosen.end());
  for (std::size_t i = 1; i < chosen.size(); ++i) {
    if (chosen[i].first < chosen[i - 1].second) {
      throw InvalidArgument("two questions write row " + std::to_string(chosen[i].first) + " of `chosen`; give each its own rows");
    }
  }
}

}  // namespace berth::core
