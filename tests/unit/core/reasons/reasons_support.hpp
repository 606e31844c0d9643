#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "host/core/base/name_source.hpp"
#include "host/core/reasons/reasons.hpp"
#include "host/core/reasons/render_reason.hpp"
#include "tests/support/problem_builder.hpp"

namespace berth::test {

/// Everything that exists, in the form of ReasonInput::total, for a built problem.
struct Everything {
  std::vector<std::uint64_t> gpus;
  std::vector<std::int64_t> cpu, memory;

  explicit Everything(const Problem& p) : cpu(p.node_cpu), memory(p.node_memory) {
    for (std::size_t n = 0; n + 1 < p.gpu_begin.size(); ++n) {
      const std::int32_t count = p.gpu_begin[n + 1] - p.gpu_begin[n];
      gpus.push_back(count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1);
    }
    for (const kernel::HeldRow& held : p.held) {
      const auto n = static_cast<std::size_t>(held.node);
      if (cpu[n] != kernel::kNoLimit) cpu[n] += held.cpu;
      if (memory[n] != kernel::kNoLimit) memory[n] += held.memory;
    }
  }
};

/// Node 3 is "n3", domain 5 is "d5", queue 1 is "q1", type 0 is "t0", job 2 is "j2".
class PlainNames : public core::NameSource {
 public:
  PlainNames() {
    for (int i = 0; i < 64; ++i) {
      jobs_.emplace_back().id = fmt::format("j{}", i);
      jobs_.back().shapes.emplace_back();
      nodes_.push_back(fmt::format("n{}", i));
      domains_.push_back(fmt::format("d{}", i));
      queues_.push_back(fmt::format("q{}", i));
      types_.push_back(fmt::format("t{}", i));
    }
  }
  const Job* job(std::int32_t job) const override { return &jobs_.at(static_cast<std::size_t>(job)); }
  Job& change(std::int32_t job) { return jobs_.at(static_cast<std::size_t>(job)); }
  std::string_view node(std::int32_t rank) const override { return nodes_.at(static_cast<std::size_t>(rank)); }
  std::string_view domain(std::int32_t id) const override { return domains_.at(static_cast<std::size_t>(id)); }
  std::string_view level(TopologyKind, std::int32_t level) const override { return level == 0 ? "node" : level == 1 ? "rack" : "pod"; }
  std::string_view queue(std::int32_t index) const override { return queues_.at(static_cast<std::size_t>(index)); }
  std::string_view gpu_type(std::int32_t index) const override { return types_.at(static_cast<std::size_t>(index)); }
  std::int32_t gpu_types() const override { return 1; }
  std::string_view origin_iso() const override { return origin_iso_; }
  TimeUs now() const override { return now_; }
  bool has_node(std::string_view id) const override { return std::find(nodes_.begin(), nodes_.end(), id) != nodes_.end(); }
  bool serves(std::string_view virtual_cluster) const override { return virtual_cluster == "vc"; }
  bool has_label(std::string_view key, const std::vector<std::string>& values) const override {
    return key == "disk" && std::find(values.begin(), values.end(), "fast") != values.end();
  }
  void set_origin(std::string iso) { origin_iso_ = std::move(iso); }
  void set_now(TimeUs now) { now_ = now; }

 private:
  std::vector<Job> jobs_;
  std::vector<std::string> nodes_, domains_, queues_, types_;
  std::string origin_iso_;
  TimeUs now_ = 0;
};

/// Explains one job of a problem that the pass did not change. `lasting`: filters without temporary ones; empty: the
/// problem's.
inline Reason explain(const Problem& p, const core::JobPass& pass, TimeUs run = kNever, const std::vector<std::uint64_t>& lasting = {}) {
  const kernel::ProblemView view = p.view();
  const Everything all(p);
  const std::vector<TimeUs> runs(p.options.size(), run);
  core::ReasonInput in;
  in.problem = &view;
  in.free = {view.node_free, view.node_cpu, view.node_memory, view.gpu_used_ppm, view.gpu_used_memory, nullptr};
  in.queue_used = view.queue_used;
  in.total = {all.gpus.data(), all.cpu.data(), all.memory.data(), nullptr, nullptr, nullptr};
  in.option_run = runs.data();
  in.lasting_filters = lasting.empty() ? view.filter_words : lasting.data();
  core::ReasonBuilder builder;
  builder.begin(in);
  return builder.explain(pass);
}

inline core::JobPass pass_of(std::int32_t job, kernel::Outcome outcome = kernel::Outcome::kWaits, std::int32_t other = kernel::kNone) {
  core::JobPass pass;
  pass.job = job;
  pass.outcome = outcome;
  pass.other = other;
  return pass;
}

/// "reason; would start if ..." as people read it.
inline std::string sentence(const Reason& reason, std::int32_t job = 0) {
  const PlainNames names;
  const std::string change = core::render_would_start_if(names, reason, job);
  return core::render_reason(names, reason, job) + (change.empty() ? "" : "; would start if " + change);
}

}  // namespace berth::test
