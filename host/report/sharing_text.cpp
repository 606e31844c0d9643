#include "host/report/sharing_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "host/core/base/decimal.hpp"
#include "host/core/model/colocation.hpp"

namespace berth::report {
namespace {

using core::KeptFraction;

std::span<const PlanEntry> given_to(const Plan& plan, const Decision& d) {
  return std::span(plan.entries).subspan(static_cast<std::size_t>(d.entry_begin), static_cast<std::size_t>(d.entry_end - d.entry_begin));
}

// Rounded down, as "at least" says: "84 %", "84.5 %".
std::string rounded_part(std::int64_t ppm) { return core::decimal_text(ppm / 1'000 * 1'000, 4) + " %"; }

// Jobs with time slices of GPUs after a plan.
class Sharers {
 public:
  Sharers(const core::NameSource& names, const Plan& plan) : names_(names) {
    for (const Decision& d : plan.decisions) {
      if (!runs_now(d.action)) continue;
      for (const PlanEntry& entry : given_to(plan, d)) {
        for (std::uint64_t left = entry.time_shared ? entry.gpus : 0; left != 0; left &= left - 1) {
          On& on = on_[{entry.node, std::countr_zero(left)}];
          on.used_ppm += entry.share_ppm;
          if (std::find(on.jobs.begin(), on.jobs.end(), d.job) == on.jobs.end()) on.jobs.push_back(d.job);
        }
      }
    }
  }

  /// Where the job shares the GPU on which the least is kept; empty: nowhere, or it is not known.
  std::string why_shared(const Plan& plan, const Decision& d) {
    const std::pair<const Gpu, On>* worst = nullptr;
    KeptFraction least;
    for (const PlanEntry& entry : given_to(plan, d)) {
      const auto found = on_.find({entry.node, std::countr_zero(entry.gpus)});
      if (!entry.time_shared || found == on_.end() || found->second.jobs.size() < 2) continue;
      const KeptFraction here = least_on(found->second.jobs);
      if (!here.known) return {};
      if (worst == nullptr || here.ppm < least.ppm) {
        worst = &*found;
        least = here;
      }
    }
    if (worst == nullptr) return {};
    return fmt::format("{} with {}; each keeps at least {}", gpu_text(worst->first), others(worst->second.jobs, d.job),
                       rounded_part(least.ppm));
  }

  /// Of the GPUs with room for the share, that where the most would be kept.
  std::string why_not(const Job& job, std::int32_t index, std::string_view sharing) {
    const Shape& shape = job.shapes.front();
    const std::pair<const Gpu, On>* best = nullptr;
    KeptFraction most{-1, false};
    for (const auto& one : on_) {
      if (one.second.used_ppm + shape.share_ppm > kWholeGpu) continue;
      std::vector<std::int32_t> jobs = one.second.jobs;
      jobs.push_back(index);
      const KeptFraction here = least_on(jobs);
      if (best != nullptr && std::pair(here.known, here.ppm) <= std::pair(most.known, most.ppm)) continue;
      best = &one;
      most = here;
    }
    if (best == nullptr) return {};
    const std::string with = others(best->second.jobs, index);
    if (!most.known) return fmt::format("no profile says what it and {} cost each other on {}", with, gpu_text(best->first));
    return fmt::format("next to {} on {} one of them would keep {}, and sharing={}", with, gpu_text(best->first), rounded_part(most.ppm),
                       sharing);
  }

 private:
  using Gpu = std::pair<std::int32_t, std::int32_t>;  // rank of the node, index
  struct On {
    std::vector<std::int32_t> jobs;
    std::int64_t used_ppm = 0;
  };

  KeptFraction least_on(const std::vector<std::int32_t>& jobs) {
    KeptFraction least;
    std::vector<std::int32_t> kinds;
    kinds.reserve(jobs.size());
    for (const std::int32_t job : jobs) {
      const Job* const described = names_.job(job);
      if (described == nullptr) return {0, false};
      kinds.push_back(colocation_.kind_of(described->profile));
    }
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      std::vector<std::int32_t> others = kinds;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      least = core::slower(least, core::kept_on_gpu(colocation_, kinds[i], others));
    }
    return least;
  }
  std::string gpu_text(const Gpu& gpu) const { return fmt::format("GPU {} of {}", gpu.second, names_.node(gpu.first)); }
  // "a", "a and c", "a, c and 2 more"
  std::string others(const std::vector<std::int32_t>& jobs, std::int32_t own) const {
    std::vector<std::string_view> ids;
    for (const std::int32_t job : jobs) {
      if (job != own) ids.push_back(names_.job_id(job));
    }
    if (ids.size() == 1) return std::string(ids[0]);
    if (ids.size() == 2) return fmt::format("{} and {}", ids[0], ids[1]);
    return fmt::format("{}, {} and {} more", ids[0], ids[1], ids.size() - 2);
  }

  const core::NameSource& names_;
  core::Colocation colocation_;
  std::map<Gpu, On> on_;
};

bool takes_share(const Job* job) {
  return job != nullptr && job->sharing && !job->shapes.empty() && job->shapes.front().share_ppm < kWholeGpu;
}

// The parameter of the plan; empty: it has none.
std::string_view sharing_param(const Plan& plan) {
  const auto found = std::find_if(plan.params.begin(), plan.params.end(), [](const auto& one) { return one.first == "sharing"; });
  return found == plan.params.end() || found->second == "none" ? std::string_view() : std::string_view(found->second);
}

}  // namespace

std::string sharing_lines(const core::NameSource& names, const Plan& plan, std::size_t most) {
  if (plan.changes_only) return {};
  std::optional<Sharers> sharers;
  std::string text;
  std::size_t shown = 0, left_out = 0;
  for (const Decision& d : plan.decisions) {
    if (d.action != Action::kStart || !takes_share(names.job(d.job))) continue;
    if (!sharers) sharers.emplace(names, plan);
    const std::string why = sharers->why_shared(plan, d);
    if (why.empty()) continue;
    if (most == 0 || shown < most) {
      text += fmt::format("{}: shares {}\n", names.job_id(d.job), why);
      ++shown;
    } else {
      ++left_out;
    }
  }
  return left_out == 0 ? text : text + fmt::format("... and {} more that share GPUs (--rows 0 shows all)\n", left_out);
}

std::string sharing_of(const core::NameSource& names, const Plan& plan, const Decision& decision) {
  const Job* const job = names.job(decision.job);
  if (plan.changes_only || !takes_share(job)) return {};
  if (runs_now(decision.action)) return Sharers(names, plan).why_shared(plan, decision);
  if (decision.action != Action::kWait || sharing_param(plan).empty()) return {};
  return Sharers(names, plan).why_not(*job, decision.job, sharing_param(plan));
}

}  // namespace berth::report
