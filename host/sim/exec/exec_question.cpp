#include "host/sim/exec/exec_question.hpp"

#include <algorithm>
#include <bit>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/decimal.hpp"
#include "host/core/state/state_view.hpp"
#include "host/sim/exec/exec_text.hpp"

namespace berth::sim {
namespace {

constexpr auto kSwitches = static_cast<std::size_t>(TopologyKind::kSwitch);
constexpr std::size_t kBlock = 4096;  // block size of mawk, the awk of Debian

void add_word(std::string& line, std::string_view text) {
  line += ' ';
  append_word(line, text);
}
void add_number(std::string& line, std::int64_t value) { (line += ' ') += std::to_string(value); }
// Millionths: seconds, GPU-seconds, weights, rates.
void add_decimal(std::string& line, std::int64_t millionths, bool known = true) {
  line += known ? " " : " -";
  if (known) core::append_decimal(line, millionths, 6);
}

}  // namespace

const std::string& ExecQuestion::write(const ClusterState& state, const std::vector<std::uint8_t>& rejected) {
  const StateView s = state;
  text_.clear();
  if (!greeted_) text_ += "berth-policy 1\n";
  greeted_ = true;
  nodes(state);
  text_ += "now";
  add_decimal(text_, s.now());
  text_ += '\n';
  ended(state, rejected);
  for (const std::int32_t job : s.job_order()) {
    if (rejected[to_index(job)] == 0) add_job(state, job);
  }
  text_ += "decide\n";
  pad();
  return text_;
}

void ExecQuestion::nodes(const ClusterState& state) {
  const StateView s = state;
  const kernel::ProblemView& p = s.problem();
  const bool first = reported_open_.empty();
  reported_open_.resize(s.nodes().size());
  for (std::size_t n = 0; n < s.nodes().size(); ++n) {
    const std::uint64_t open = p.node_open[n];
    if (!first && open == reported_open_[n]) continue;
    reported_open_[n] = open;
    const Node& node = s.nodes()[n];
    text_ += "node";
    add_word(text_, node.id);
    add_number(text_, std::popcount(open));
    add_word(text_, node.gpu_type);
    add_word(text_, node.domain[kSwitches]);
    for (std::size_t v = 0; v < node.virtual_clusters.size(); ++v) {
      text_ += v == 0 ? ' ' : ',';
      append_word(text_, node.virtual_clusters[v]);
    }
    if (node.virtual_clusters.empty()) text_ += " -";
    if (open != 0) append_place(text_ += ' ', node.id, open);
    text_ += '\n';
  }
}

// Jobs of earlier questions that are not in this one.
void ExecQuestion::ended(const ClusterState& state, const std::vector<std::uint8_t>& rejected) {
  reported_.resize(rejected.size());
  for (std::size_t job_index = 0; job_index < reported_.size(); ++job_index) {
    const Job* const job = state.job(static_cast<std::int32_t>(job_index));
    const bool goes_on = job != nullptr && rejected[job_index] == 0;
    if (!reported_[job_index].empty() && (!goes_on || job->id != reported_[job_index])) {
      text_ += "ended";
      add_word(text_, reported_[job_index]);
      text_ += '\n';
    }
    reported_[job_index] = goes_on ? job->id : std::string();
  }
}

void ExecQuestion::add_job(const ClusterState& state, std::int32_t job_index) {
  const StateView s = state;
  const kernel::ProblemView& p = s.problem();
  const Job& job = *state.job(job_index);
  const auto i = to_index(job_index);
  text_ += "job";
  add_word(text_, job.id);
  text_ += s.job().running[i] != 0 ? " running" : " waiting";
  add_number(text_, s.job().gpus[i]);
  add_decimal(text_, job.submit_us);
  const TimeUs remaining = s.remaining(job_index);
  add_decimal(text_, remaining, remaining != kNever);
  add_decimal(text_, job.estimate.run_us, job.estimate.run_us != kNever);
  add_decimal(text_, s.attained_now(job_index));
  add_number(text_, job.priority);
  add_decimal(text_, job.weight_ppm);
  add_decimal(text_, s.job().deadline[i], job.deadline.at_us != kNever);
  text_ += job.deadline.at_us == kNever ? " -" : job.deadline.hard ? " hard" : " soft";
  add_word(text_, job.user);
  add_word(text_, job.virtual_cluster);
  add_word(text_, job.profile.model);
  const auto list = [&](const auto& append) {
    for (std::int32_t o = p.option_begin[job_index]; o < p.option_end[job_index]; ++o) {
      text_ += o == p.option_begin[job_index] ? ' ' : ',';
      append(p.demands[p.options[o].demand], s.jobs()[i].option_rate[to_index(o - p.option_begin[job_index])]);
    }
  };
  list([&](const kernel::DemandRow& demand, std::int64_t) { text_ += std::to_string(demand.gpus); });
  list([&](const kernel::DemandRow& demand, std::int64_t) { append_word(text_, s.gpu_types()[to_index(demand.gpu_type)].id); });
  list([&](const kernel::DemandRow&, std::int64_t rate) { core::append_decimal(text_, rate, 6); });
  for (std::int32_t h = p.held_begin[job_index]; h < p.held_end[job_index]; ++h) {
    append_place(text_ += ' ', s.nodes()[to_index(p.held[h].node)].id, p.held[h].mask);
  }
  text_ += '\n';
}

// A program that reads in blocks waits for a whole one before it processes any of it. So the padding has at least the
// length of the longest line.
void ExecQuestion::pad() {
  for (std::size_t begin = 0; begin < text_.size();) {
    const std::size_t end = text_.find('\n', begin);
    longest_line_ = std::max(longest_line_, end - begin);
    begin = end + 1;
  }
  padding_ = (longest_line_ / kBlock + 1) * kBlock;
  const std::string line = std::string(63, '#') + '\n';
  for (std::size_t n = 0; n < padding_; n += line.size()) text_ += line;
}

}  // namespace berth::sim
