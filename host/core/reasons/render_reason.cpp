#include "host/core/reasons/render_reason.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "host/core/base/civil_time.hpp"
#include "host/core/base/decimal.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/costs.hpp"

namespace berth::core {
namespace {

std::string thousandths(std::int64_t milli) { return decimal_text(milli, 3); }

// "2.3 %", "0.039 %": two digits, whole per cents from 10 on; neither 0 % nor 100 % of what is neither. Empty: less than 0.001 %.
std::string percent_text(std::int64_t part, std::int64_t of) {
  const auto millionths = static_cast<std::int64_t>(std::clamp<Wide>(Wide{part} * 1'000'000 / of, 0, 1'000'000));
  if (millionths < 10) return {};
  std::int64_t unit = 1;  // of the second digit
  while (millionths / unit >= 100) unit *= 10;
  return decimal_text(millionths / unit * unit, 4) + " %";
}

bool shares(const Job* job) { return job != nullptr && !job->shapes.empty() && job->shapes.front().share_ppm < kWholeGpu; }

class ReasonText {
 public:
  ReasonText(const NameSource& names, const Reason& reason, std::int32_t job) : names_(names), r_(reason), job_(names.job(job)) {}

  std::string reason() const {
    std::string text = cause() + out_of_service();
    // What follows "would start if" may speak of the place named last.
    if (counts_gpus() && would_start_if().empty()) {
      if (const std::string lack = unknown_name(); !lack.empty()) text += "; " + lack;
    }
    if (lacks_room(r_.code) && r_.queue >= 0) {
      text += fmt::format("; queue {} is entitled to it, but no jobs that may be displaced make room", names_.queue(r_.queue));
    }
    return text;
  }

  std::string would_start_if() const {
    if (r_.missing <= 0 || r_.certified) return {};
    switch (r_.code) {
      case ReasonCode::kQuota:
        return fmt::format("{} were free within the limit of queue {}",
                           r_.missing == 1 ? "1 more GPU" : fmt::format("{} more GPUs", r_.missing), names_.queue(r_.queue));
      case ReasonCode::kCpu:
        return r_.where < 0 ? std::string() : fmt::format("{} more were free{}", cores_text(r_.missing), there());
      case ReasonCode::kMemory:
        return r_.where < 0 ? std::string() : fmt::format("{} more were free{}", bytes_text(r_.missing), there());
      default:
        return counts_gpus() ? more_free() : std::string();
    }
  }

 private:
  bool counts_gpus() const {
    return r_.code == ReasonCode::kInsufficientGpus || r_.code == ReasonCode::kTopologyRequired || r_.code == ReasonCode::kFragmented ||
           r_.code == ReasonCode::kNodeConstraint || r_.code == ReasonCode::kDelayTimer;
  }

  // The requested name that nothing in the cluster has.
  std::string unknown_name() const {
    if (job_ == nullptr) return {};
    const Constraints& c = job_->constraints;
    if (!job_->virtual_cluster.empty() && !names_.serves(job_->virtual_cluster)) {
      return fmt::format("no node serves virtual cluster {}", job_->virtual_cluster);
    }
    std::vector<std::string_view> nodes;
    for (const std::string& id : c.required_nodes) {
      if (!names_.has_node(id)) nodes.push_back(id);
    }
    if (nodes.size() == 1) return fmt::format("its required node {} is unknown", nodes[0]);
    if (nodes.size() > 1) {
      return fmt::format("its required node {} and {} are unknown", nodes[0], counted(std::ssize(nodes) - 1, "other"));
    }
    for (const auto& [key, values] : c.labels) {
      if (!names_.has_label(key, values)) return fmt::format("no node has the label {}={}", key, fmt::join(values, "|"));
    }
    return {};
  }

  std::string cause() const {
    switch (r_.code) {
      case ReasonCode::kNone:
        return {};
      case ReasonCode::kNoGpuType:
        return r_.gpu_type < 0 ? "no GPU type of the cluster suits it" : fmt::format("needs {} GPUs; the cluster has none", type());
      case ReasonCode::kNodeConstraint:
        return is_apart() ? apart() : constraint();
      case ReasonCode::kInsufficientGpus:
        if (is_apart()) return apart();
        if (r_.level >= 0) return in_one();
        return r_.certified ? fmt::format("needs {}; the cluster has {}", typed(), r_.best) : allowed_free();
      case ReasonCode::kTopologyRequired:
        return in_one() + or_anywhere();
      case ReasonCode::kFragmented:
        return fragmented() + or_anywhere();
      case ReasonCode::kQuota:
        return quota();
      case ReasonCode::kCpu:
        return resource(cores_text(r_.asked), thousandths(r_.best), thousandths(size()));
      case ReasonCode::kMemory:
        return resource(bytes_text(r_.asked) + " of memory", bytes_text(r_.best), bytes_text(size()));
      case ReasonCode::kGpuMemory:
        return fmt::format("needs {} of memory on each GPU; {} {}", bytes_text(r_.asked),
                           r_.gpu_type < 0 ? "the best GPU has" : fmt::format("{} has", type()),
                           bytes_text(r_.best) + (r_.certified ? "" : ", and shares take part of it"));
      case ReasonCode::kBehind:
        return fmt::format("waits behind {}", other());
      case ReasonCode::kReservedFor:
        return fmt::format("would delay {}, which {}", other(),
                           r_.until_us == kNever ? "has a reservation" : "is to start " + at(r_.until_us));
      case ReasonCode::kLostPriority:
        return fmt::format("displaced by {}", other()) + (r_.queue < 0 ? "" : reclaimed()) + notice();
      case ReasonCode::kDeadlineImpossible:
        return too_late();
      case ReasonCode::kNotAdmitted:
        return not_admitted();
      case ReasonCode::kPromised:
        return fmt::format("may not be displaced once it runs, and its GPUs are promised to other jobs; it could start {}",
                           r_.until_us == kNever ? "at no known time" : at(r_.until_us));
      case ReasonCode::kNodeFailed:
        return lost_gpus() + ", and no free GPUs could replace them";
      case ReasonCode::kBudget:
        return "not decided: the search was cut short";
      case ReasonCode::kOutbid:
        return outbid();
      case ReasonCode::kNotChosen:
        return "the plan that the policy chose has no GPUs for it";
      case ReasonCode::kDelayTimer:
        return delayed() + (r_.best >= r_.asked ? jointly() : in_one());
    }
    return {};
  }

  std::string reclaimed() const {
    std::string text = fmt::format(": queue {} ", names_.queue(r_.queue));
    if (r_.asked == 0) {
      text += "has less than it is entitled to";
    } else {
      text += fmt::format("is entitled to {}, and its jobs before that have {}",
                          r_.gpu_type < 0 ? counted(r_.asked, "GPU") : counted(r_.asked, fmt::format("{} GPU", type())), r_.best);
    }
    if (job_ == nullptr) return text;
    if (r_.free > 0) text += fmt::format("; jobs of queue {} borrow {}", job_->queue, r_.free);
    if (const TimeUs lost = displace_cost(job_->costs); lost > 0) text += fmt::format("; the job loses {}", duration_text(lost));
    return text;
  }

  std::string notice() const {
    const TimeUs grace = job_ == nullptr ? 0 : job_->preemption.grace_us;
    return grace > 0 ? fmt::format("; it has {} to stop", duration_text(grace)) : "";
  }

  std::string_view type() const { return names_.gpu_type(r_.gpu_type); }
  std::string at(TimeUs instant) const { return at_instant(names_, instant); }
  std::string too_late() const {
    constexpr std::string_view kText = "would end {} at the earliest; its hard deadline {} {}";
    if (job_ == nullptr) return fmt::format(kText, at(r_.until_us), "is", "before that");
    const TimeUs deadline = job_->deadline.at_us;
    const bool exact = instant_text(names_, r_.until_us) == instant_text(names_, deadline);  // rounded, they look alike
    return fmt::format(kText, at_instant(names_, r_.until_us, exact), deadline < names_.now() ? "was" : "is",
                       instant_text(names_, deadline, exact));
  }
  std::string not_admitted() const {
    const std::string earliest = r_.until_us == kNever ? "none can be promised" : "one " + at(r_.until_us) + " can";
    if (job_ == nullptr) return fmt::format("its deadline cannot be promised; {}", earliest);
    return fmt::format("its deadline {} cannot be promised; {}", instant_text(names_, job_->deadline.at_us), earliest);
  }
  // "job 17", but not "job job17".
  std::string other() const {
    const std::string_view id = names_.job_id(r_.other_job);
    return id.substr(0, 3) == "job" ? std::string(id) : fmt::format("job {}", id);
  }
  std::string_view level() const { return names_.level(static_cast<TopologyKind>(r_.topology), r_.level); }
  std::string_view place() const { return r_.level == 0 ? names_.node(r_.where) : names_.domain(r_.where); }
  std::string amount() const {
    if (!shares(job_)) return counted(r_.asked, "GPU");
    return fmt::format("{} of {} GPU", counted(r_.asked, "share"), decimal_text(job_->shapes.front().share_ppm, 6));
  }
  // The type is named where there are several. A gang is on one type, even where any is allowed.
  std::string typed() const {
    if (r_.gpu_type < 0 || shares(job_) || names_.gpu_types() == 1) return amount();
    if (names_a_choice()) return fmt::format("{} of one type (such as {})", amount(), type());
    return fmt::format("{} {} GPU{}", r_.asked, type(), r_.asked == 1 ? "" : "s");
  }
  bool names_a_choice() const {
    if (job_ == nullptr) return false;
    return std::any_of(job_->shapes.begin(), job_->shapes.end(),
                       [&](const Shape& shape) { return shape.gpu_type.empty() || (shape.gpus == r_.asked && shape.gpu_type != type()); });
  }
  // What is counted is free once the whole plan is applied, what later jobs start on is gone.
  static std::string left(std::int64_t n) { return fmt::format("{} free after this plan", n); }
  std::string left_in_all() const { return r_.free > r_.best ? fmt::format("; {} free in all after this plan", r_.free) : std::string(); }
  /// Of one member, in what `asked` counts. Plans are read from files, too.
  std::int64_t size() const { return r_.members > 0 ? std::max<std::int64_t>(1, r_.asked / r_.members) : 0; }
  const char* still_fit(std::int64_t n) const { return r_.certified ? "" : n == 1 ? " still fits" : " still fit"; }
  const char* to_index() const { return r_.level == 0 ? "on" : "in"; }

  std::string there() const {
    if (r_.where < 0) return on_such();
    const bool named_last = place_is_named() && r_.unavailable_nodes == 0;
    return (named_last ? " there" : fmt::format(" {} {}", to_index(), place())) + (r_.level > 0 ? on_such() : "");
  }
  bool some_nodes() const { return r_.some_nodes || r_.code == ReasonCode::kNodeConstraint; }
  /// The sentence distinguishes GPUs that the job may use from others.
  bool names_such_nodes() const {
    const bool counted = r_.code == ReasonCode::kNodeConstraint || r_.code == ReasonCode::kInsufficientGpus;
    return some_nodes() && (is_apart() || (counted && r_.level < 0));
  }
  const char* on_such() const { return !some_nodes() ? "" : names_such_nodes() ? " on such nodes" : " on nodes that it may use"; }
  /// The sentence ends with the place, so that "there" is clear.
  bool place_is_named() const { return r_.best > 0 && r_.code != ReasonCode::kFragmented && !is_apart(); }
  std::string more_free() const {
    const std::int64_t each = size();
    if (is_apart()) return apart_more_free();
    if (r_.members == 1 && r_.where < 0 && r_.level >= 0) {
      return fmt::format("{} more were free {} one {}{}{}", r_.missing, to_index(), level(), some_nodes() ? " that it may use" : "",
                         with_amounts(1, each));
    }
    if (each < 2 || r_.missing % each != 0) return fmt::format("{} more were free{}{}", r_.missing, there(), with_amounts(r_.missing, 1));
    const std::int64_t members = r_.missing / each;
    return fmt::format("{} had room{}{}", more_members(members, each), there(), with_amounts(members, each));
  }
  // "2 more members of 8 GPUs"
  static std::string more_members(std::int64_t members, std::int64_t size) {
    return fmt::format("{} of {}", counted(members, "more member"), counted(size, "GPU"));
  }
  // "4 members of 8 GPUs"
  std::string in_members() const { return fmt::format("{} of {}", counted(r_.members, "member"), counted(size(), "GPU")); }

  // ", each with 64 cores and 512 GiB of memory": what must become free with N members of `gpus`.
  std::string with_amounts(std::int64_t members, std::int64_t gpus) const {
    if (!r_.with_cpu_and_memory || job_ == nullptr) return {};
    const Constraints& c = job_->constraints;
    std::vector<std::string> amounts;
    if (c.cpu_milli_per_gpu > 0) amounts.push_back(cores_text(saturating_mul(gpus, c.cpu_milli_per_gpu)));
    if (c.memory_bytes_per_gpu > 0) amounts.push_back(bytes_text(saturating_mul(gpus, c.memory_bytes_per_gpu)) + " of memory");
    return amounts.empty() ? std::string() : fmt::format(", {}with {}", members == 1 ? "" : "each ", fmt::join(amounts, " and "));
  }

  bool is_apart() const { return r_.apart > 0 && r_.members > 0; }

  // A gang spread over nodes.
  std::string apart() const {
    const std::int64_t each = size(), fit = r_.best / each;
    if (r_.apart == 1) {
      return fmt::format("needs {}, {} on each of {}; {}{} {} room", typed(), each, counted(r_.members, "node"),
                         fit == 0 ? "no node" : counted(fit, "node"), some_nodes() ? " that it may use" : "", fit <= 1 ? "has" : "have");
    }
    return fmt::format("needs {}{} on one node; {} of {}{}{}", typed(),
                       each > 1 ? fmt::format(" as {}, at most {} of them", in_members(), r_.apart) : fmt::format(", at most {}", r_.apart),
                       fit, r_.members, still_fit(fit), some_nodes() ? " on nodes that it may use" : "");
  }

  std::string apart_more_free() const {
    const std::int64_t each = size(), members = r_.missing / each;
    if (r_.where >= 0) return fmt::format("{} more were free on {}", r_.missing, place());
    const char* such = some_nodes() ? "such " : "";
    if (r_.apart == 1 && members == 1) return fmt::format("1 more {}node had {} free{}", such, each, with_amounts(1, each));
    const std::string amounts = with_amounts(members, each);
    if (r_.apart == 1) return fmt::format("{} more {}nodes had {} free{}", members, such, each, amounts.empty() ? " each" : amounts);
    return fmt::format("{}{}{}, counting at most {} a node",
                       each > 1 ? more_members(members, each) + " had room" : fmt::format("{} more were free", members), on_such(), amounts,
                       r_.apart);
  }

  std::string in_one() const {
    // A named node has one type.
    const bool says_type = r_.best == 0 || r_.level > 0;
    std::string text = fmt::format("needs {} {} one {}", says_type ? typed() : counted(r_.asked, "GPU"), to_index(), level());
    if (r_.members > 0 && r_.level > 0) text += fmt::format(", as {}, each on one node", in_members());
    const char* of_those = r_.certified || some_nodes() ? " that it may use" : "";
    if (r_.best == 0)
      return text +
             fmt::format("; no {}{} {}", level(), of_those,
                         r_.members > 0 && r_.level > 0 ? (r_.certified ? "has room for one" : "has room left for one")
                         : r_.certified                 ? "has any"
                                                        : "has any left") +
             left_in_all();
    const char* which = r_.certified ? (r_.where < 0 ? "the largest" : "largest") : r_.where < 0 ? "the best" : "best";
    if (r_.members > 0 && r_.level > 0) {
      text += fmt::format("; {} {} has room {}for {} of {}", which, level(), r_.certified ? "" : "left ", r_.best / size(), r_.members);
    } else {
      text += fmt::format("; {} {} has {}{}", which, level(), r_.best, r_.certified ? "" : " left");
    }
    return r_.where < 0 ? text : text + fmt::format(": {}", place());
  }

  std::string fragmented() const {
    if (is_apart()) return apart();
    if (r_.best >= r_.asked) return jointly();
    // One piece is said best by the place that is nearest to holding it.
    if (r_.members == 1 && r_.level == 0) return in_one() + (r_.best > 0 ? left_in_all() : std::string());
    if (r_.members > 0) {
      const std::int64_t fit = r_.best / size();
      const std::string parts =
          r_.level > 0 ? fmt::format("{} of {}", counted(r_.members, "segment"), counted(size(), "GPU")) : in_members();
      return fmt::format("needs {} as {}{} {} one {}; {}{} of {}{}", typed(), parts, r_.members == 1 ? "" : ", each", to_index(), level(),
                         r_.certified ? "the cluster holds " : "", fit, r_.members, still_fit(fit)) +
             left_in_all();
    }
    return fmt::format("needs {} spread by {}; {} of them can still be placed so", typed(), level(), r_.best) + left_in_all();
  }

  // Of a gang that waits for a domain.
  std::string or_anywhere() const {
    return r_.until_us == kNever ? std::string() : fmt::format("; may start anywhere {}", at(r_.until_us));
  }

  // "waits for one node until 2026-11-21T23:14:41Z: "; without dates "for 40 s more".
  std::string delayed() const {
    std::string text = fmt::format("waits for one {}", level());
    if (r_.until_us == kNever) return text + ": ";
    const bool dated = !civil_after(names_.origin_iso(), r_.until_us).empty();
    if (dated) return text + fmt::format(" until {}: ", instant_text(names_, r_.until_us));
    return text + fmt::format(" for {} more: ", rough_duration(std::max<TimeUs>(0, r_.until_us - names_.now())));
  }

  std::string jointly() const {
    if (r_.where >= 0) {
      return fmt::format("needs {} {} one {}; {} has {} left, but its groups found no place there together", typed(), to_index(), level(),
                         place(), r_.best);
    }
    return fmt::format("needs {}; {}, {}", typed(), left(r_.best),
                       r_.free > 0 ? "but its groups found no place together" : "but not when the scheduling pass reached it");
  }

  std::string allowed_free() const {
    const std::string members = r_.members == 0   ? ""
                                : r_.members == 1 ? " on one node"
                                                  : fmt::format(" as {}, each on one node", in_members());
    std::string text = fmt::format("needs {}{}; {}", typed(), members, left(r_.best));
    if (!some_nodes()) return text;
    return text + " on nodes that it may use" + (r_.free > r_.best ? fmt::format(", {} in all", r_.free) : std::string());
  }

  std::string constraint() const {
    if (r_.certified && r_.best == 0 && !unknown_name().empty()) return "needs " + amount();
    if (r_.certified) return fmt::format("needs {}; the nodes that its constraints allow have {}", typed(), r_.best);
    if (r_.until_us == kNever) return allowed_free();
    return fmt::format("needs {}; {} on nodes that stay until it ends; the last of the others leaves {}", typed(), left(r_.best),
                       at(r_.until_us));
  }

  std::string quota() const {
    // Quotas are in GPUs, shares as parts of them.
    const std::string asked = r_.gpu_type < 0 || shares(job_) ? counted(r_.asked, "GPU") : typed();
    if (r_.certified) return fmt::format("needs {}; queue {} allows {} at most", asked, names_.queue(r_.queue), r_.best);
    const std::string kept = r_.free > 0 ? fmt::format(", as queues below it keep {}", r_.free) : "";
    const std::string of_type = r_.gpu_type < 0 || names_.gpu_types() == 1 ? "" : fmt::format(" of {} GPUs", type());
    return fmt::format("needs {}; queue {} has {} left of its limit{}{}", asked, names_.queue(r_.queue), r_.best, of_type, kept);
  }

  // `asked` on one node (level 0), or all members together.
  std::string resource(const std::string& asked, const std::string& best, const std::string& of_one) const {
    if (r_.level != 0) {
      const std::int64_t fit = r_.best / std::max<std::int64_t>(1, size());
      return fmt::format("needs {}: {} for each of {}, on the node of its GPUs; {}{} of {}{}", asked, of_one, counted(r_.members, "member"),
                         r_.certified ? "the cluster holds " : "", fit, r_.members, still_fit(fit));
    }
    if (r_.where < 0) return fmt::format("needs {} on one node; the {} node has {}", asked, r_.certified ? "largest" : "best", best);
    return fmt::format("needs {} on one node; {} node has {}{}: {}", asked, r_.certified ? "largest" : "best", best,
                       r_.certified ? "" : " left", place());
  }

  // "8 T0 GPUs add 2.3 % less objective value to this job than to other jobs". `asked` is their price, the objective value that they add
  // elsewhere; `best` is what they add here.
  std::string outbid() const {
    const std::string gpus = fmt::format("{} {} GPU{}", r_.members, type(), r_.members == 1 ? "" : "s");
    if (r_.best <= 0) return gpus + (r_.members == 1 ? " adds" : " add") + " no objective value to this job";
    if (r_.best >= r_.asked) return gpus + (r_.members == 1 ? " adds" : " add") + " as much objective value to other jobs";
    const std::string less = percent_text(r_.asked - r_.best, r_.asked);
    return fmt::format("{} add{} {} objective value to this job than to other jobs", gpus, r_.members == 1 ? "s" : "",
                       less.empty() ? "hardly less" : less + " less");
  }

  // "8 more are on drained nodes n3, n4": what else there would be.
  std::string out_of_service() const {
    const std::int64_t gpus = r_.drained + r_.failed;
    if (gpus <= 0 || r_.unavailable_nodes <= 0 || r_.code == ReasonCode::kNodeFailed) return {};
    const std::string on = nodes_out_of_service();
    const std::string more =
        r_.code == ReasonCode::kOutbid || r_.code == ReasonCode::kNotChosen || r_.code == ReasonCode::kPromised || shares(job_)
            ? counted(gpus, "GPU")
            : fmt::format("{} more", gpus);
    const char* are = gpus == 1 ? "is" : "are";
    if (r_.failed == 0) return fmt::format("; {} {} on drained {}", more, are, on);
    return fmt::format("; {} {} {}, on {}", more, gpus == 1 ? "has" : "have", r_.drained == 0 ? "failed" : "failed or been drained", on);
  }

  // "8 of its 16 GPUs failed, on nodes n3, n4"
  std::string lost_gpus() const {
    if (r_.failed <= 0 || r_.unavailable_nodes <= 0) return "its nodes or GPUs failed";
    std::int64_t all = 0;
    if (job_ != nullptr) {
      for (const AllocationEntry& entry : job_->allocation.entries) all += std::ssize(entry.gpus);
    }
    return fmt::format("{} of its {} failed, on {}", r_.failed, all > 0 ? counted(all, "GPU") : std::string("GPUs"),
                       nodes_out_of_service());
  }

  // "node n3", "nodes n3, n4, n5 and 5 more"
  std::string nodes_out_of_service() const {
    std::string text = r_.unavailable_nodes == 1 ? "node" : "nodes";
    std::int32_t shown = 0;
    for (const std::int32_t node : r_.unavailable_on) {
      if (node >= 0) text += fmt::format("{} {}", shown++ == 0 ? "" : ",", names_.node(node));
    }
    return r_.unavailable_nodes > shown ? text + fmt::format(" and {} more", r_.unavailable_nodes - shown) : text;
  }

  const NameSource& names_;
  const Reason& r_;
  const Job* job_;
};

}  // namespace

std::string render_reason(const NameSource& names, const Reason& reason, std::int32_t job) {
  return ReasonText(names, reason, job).reason();
}

std::string render_where(const NameSource& names, const Reason& reason) {
  if (reason.where < 0 || reason.level < 0) return {};
  return std::string(reason.level == 0 ? names.node(reason.where) : names.domain(reason.where));
}

std::string render_would_start_if(const NameSource& names, const Reason& reason, std::int32_t job) {
  return ReasonText(names, reason, job).would_start_if();
}

std::string duration_text(TimeUs us) {
  if (us == kNever) return "never";
  const std::string sign = us < 0 ? "-" : "";
  std::uint64_t left = us < 0 ? 0 - static_cast<std::uint64_t>(us) : static_cast<std::uint64_t>(us);
  constexpr std::array<std::pair<std::uint64_t, const char*>, 3> kUnits{{{86'400'000'000, "d"}, {3'600'000'000, "h"}, {60'000'000, "min"}}};
  std::string text;
  for (const auto& unit : kUnits) {
    if (left >= unit.first) text += fmt::format("{}{} {}", text.empty() ? "" : " ", left / unit.first, unit.second);
    left %= unit.first;
  }
  if (left == 0 && !text.empty()) return sign + text;
  return sign + text + (text.empty() ? "" : " ") + decimal_text(static_cast<std::int64_t>(left), 6) + " s";
}

std::string instant_text(const NameSource& names, TimeUs at, bool exact) {
  if (at == kNever) return "never";
  std::string date = civil_after(names.origin_iso(), at);
  if (!date.empty()) return date;
  const TimeUs now = names.now();
  if (at == now) return "now";
  const TimeUs away = at > now ? at - now : now - at;
  const std::string text = exact || away < 10 * kSecond ? duration_text(away) : rough_duration(away);
  return at > now ? "in " + text : text + " ago";
}

std::string at_instant(const NameSource& names, TimeUs at, bool exact) {
  const bool dated = at != kNever && !civil_after(names.origin_iso(), at).empty();
  return (dated ? "at " : "") + instant_text(names, at, exact);
}

std::string rough_duration(TimeUs us) {
  if (us == kNever || us < 0) return duration_text(us);
  constexpr TimeUs minute = 60 * kSecond, hour = 60 * minute, day = 24 * hour;
  const TimeUs unit = us >= day ? hour : us >= hour ? minute : us >= 10 * kSecond ? kSecond : kSecond / 10;
  const TimeUs left = us % unit;
  return duration_text(2 * left < unit ? us - left : us - left + unit);
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array kUnits{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  std::int64_t scale = 1;
  while (unit + 1 < kUnits.size() && bytes / scale >= 1024) {
    scale *= 1024;
    ++unit;
  }
  const std::int64_t tenth = bytes % scale * 10 / scale;
  return tenth == 0 ? fmt::format("{} {}", bytes / scale, bytes == 1 ? "byte" : kUnits[unit])
                    : fmt::format("{}.{} {}", bytes / scale, tenth, kUnits[unit]);
}

}  // namespace berth::core
