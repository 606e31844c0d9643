#include "host/core/render_reason.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "host/core/violations.hpp"

namespace berth::core {
namespace {

// "7", "7.5": thousandths without trailing zeros.
std::string thousandths(std::int64_t milli) {
  std::string text = fmt::format("{}.{:03}", milli / 1000, milli % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string cores(std::int64_t milli) { return thousandths(milli) + (milli == 1000 ? " core" : " cores"); }

bool shares(const Job* job) { return job != nullptr && !job->shapes.empty() && job->shapes.front().share_ppm < kWholeGpu; }

bool in_pieces(const Job* job) {
  return job != nullptr && std::any_of(job->shapes.begin(), job->shapes.end(), [](const Shape& shape) {
           return std::any_of(shape.groups.begin(), shape.groups.end(),
                              [](const Group& g) { return g.gpus_per_member > 1 && g.share_ppm == kWholeGpu; });
         });
}

class Text {
 public:
  Text(const NameSource& names, const Reason& reason, std::int32_t job) : names_(names), r_(reason), job_(names.job(job)) {}

  std::string reason() const {
    switch (r_.code) {
      case ReasonCode::kNone:
        return {};
      case ReasonCode::kNoGpuType:
        return r_.gpu_type < 0 ? "no GPU type of the cluster suits it" : fmt::format("needs {} GPUs; the cluster has none", type());
      case ReasonCode::kNodeConstraint:
        return constraint();
      case ReasonCode::kInsufficientGpus:
        if (r_.level >= 0) return in_one();
        if (r_.certified) return fmt::format("needs {}; the cluster has {}", typed(), r_.best);
        return fmt::format("needs {}; {} {} free", amount(), r_.best, r_.best == 1 ? "is" : "are");
      case ReasonCode::kTopologyRequired:
        return in_one();
      case ReasonCode::kFragmented:
        return fragmented();
      case ReasonCode::kQuota:
        return quota();
      case ReasonCode::kCpu:
        return resource(cores(r_.asked), cores(r_.best), thousandths(r_.best));
      case ReasonCode::kMemory:
        return resource(bytes_text(r_.asked) + " of memory", bytes_text(r_.best) + " of memory", bytes_text(r_.best));
      case ReasonCode::kGpuMemory:
        return fmt::format("needs {} of memory on each GPU; {} {}", bytes_text(r_.asked),
                           r_.gpu_type < 0 ? "the best GPU has" : fmt::format("{} has", type()),
                           bytes_text(r_.best) + (r_.certified ? "" : ", and shares take part of it"));
      case ReasonCode::kBehind:
        return fmt::format("waits behind job {}", other());
      case ReasonCode::kReservedFor:
        return fmt::format("would delay job {}, which has a reservation", other());
      case ReasonCode::kDelayTimer:
        return fmt::format("waits for a place in one {}{}", level(), r_.until_us == kNever ? "" : " until " + duration_text(r_.until_us));
      case ReasonCode::kLostPriority:
        return fmt::format("displaced by job {}", other());
      case ReasonCode::kDeadlineImpossible:
        return fmt::format("would end at {} at the earliest; its deadline is {}", duration_text(r_.asked), duration_text(r_.best));
      case ReasonCode::kNodeFailed:
        return "its nodes or GPUs failed, and it could not be mended";
      case ReasonCode::kBudget:
        return "not decided: the search was cut short";
    }
    return {};
  }

  std::string would_start_if() const {
    if (r_.missing <= 0 || r_.certified) return {};
    const bool there = r_.where >= 0;
    switch (r_.code) {
      case ReasonCode::kQuota:
        return fmt::format("{} {} within the limit of queue {}", r_.missing, r_.missing == 1 ? "more GPU fits" : "more GPUs fit",
                           names_.queue(r_.queue));
      case ReasonCode::kCpu:
        return there ? cores_more() : std::string();
      case ReasonCode::kMemory:
        return there ? bytes_text(r_.missing) + " more free there" : std::string();
      case ReasonCode::kFragmented:
        if (!there) return {};
        return single_node() ? fmt::format("{} more free there", r_.missing) : fmt::format("{} more free on {}", r_.missing, place());
      case ReasonCode::kInsufficientGpus:
      case ReasonCode::kTopologyRequired:
        return fmt::format("{} more free{}{}", r_.missing, there ? " there" : "", in_pieces(job_) ? ", in whole pieces" : "");
      default:
        return {};
    }
  }

 private:
  std::string_view type() const { return names_.gpu_type(r_.gpu_type); }
  std::string_view other() const { return names_.job_id(r_.other_job); }
  std::string_view level() const { return names_.level(static_cast<Facet>(r_.facet), r_.level); }
  std::string_view place() const { return r_.level == 0 ? names_.node(r_.where) : names_.domain(r_.where); }
  std::string amount() const { return shares(job_) ? counted(r_.asked, "share") + " of a GPU" : counted(r_.asked, "GPU"); }
  std::string typed() const {
    if (r_.gpu_type < 0 || shares(job_)) return amount();
    return fmt::format("{} {} GPU{}", r_.asked, type(), r_.asked == 1 ? "" : "s");
  }
  std::string cores_more() const { return fmt::format("{} more free there", cores(r_.missing)); }
  bool single_node() const { return r_.best + r_.missing == r_.asked; }

  std::string in_one() const {
    const char* on = r_.level == 0 ? "on" : "in";
    if (r_.where < 0) {
      return fmt::format("needs {} {} one {}; {}", counted(r_.asked, "GPU"), on, level(),
                         r_.best == 0 ? fmt::format("no {} has any{}", level(), r_.certified ? " that it may use" : " free")
                                      : fmt::format("the {} {} has {}{}", r_.certified ? "largest" : "best", level(), r_.best,
                                                    r_.certified ? "" : " free"));
    }
    return fmt::format("needs {} {} one {}; {} {} has {}{}: {}", counted(r_.asked, "GPU"), on, level(), r_.certified ? "largest" : "best",
                       level(), r_.best, r_.certified ? "" : " free", place());
  }

  std::string fragmented() const {
    if (r_.asked == 0) return "enough GPUs are free, but not in the pieces that its groups ask for";
    const char* have = r_.certified ? "exist" : r_.best == 1 ? "is free" : "are free";
    if (r_.level == 0 && r_.where >= 0 && single_node()) return in_one();
    if (r_.level == 0 && r_.where >= 0 && r_.missing == 0) return in_one();
    if (r_.level == 0)
      return fmt::format("needs {} in whole pieces on single nodes; {} {} in such pieces", counted(r_.asked, "GPU"), r_.best, have);
    if (r_.level < 0) return fmt::format("needs {}; {} {}, but not in the pieces asked for", counted(r_.asked, "GPU"), r_.best, have);
    if (r_.best >= r_.asked)
      return fmt::format("needs {} in one {}; {} has {} free, but not in the pieces asked for", counted(r_.asked, "GPU"), level(), place(),
                         r_.best);
    return fmt::format("needs {} placed by {}; {} {} in such pieces", counted(r_.asked, "GPU"), level(), r_.best, have);
  }

  std::string constraint() const {
    if (r_.certified) return fmt::format("needs {}; the nodes that its constraints allow have {}", typed(), r_.best);
    return fmt::format("needs {}; {} {} free on nodes that it may use for long enough", counted(r_.asked, "GPU"), r_.best,
                       r_.best == 1 ? "is" : "are");
  }

  std::string quota() const {
    const std::string asked =
        r_.gpu_type < 0 ? counted(r_.asked, "GPU") : fmt::format("{} {} GPU{}", r_.asked, type(), r_.asked == 1 ? "" : "s");
    if (r_.certified) return fmt::format("needs {}; queue {} allows {} at most", asked, names_.queue(r_.queue), r_.best);
    return fmt::format("needs {}; queue {} has {} left of its limit", asked, names_.queue(r_.queue), r_.best);
  }

  // `asked` on one node (level 0), or all members together.
  std::string resource(const std::string& asked, const std::string& best, const std::string& number) const {
    if (r_.level != 0)
      return fmt::format("needs {} beside its GPUs; {} {} in such pieces", asked, best, r_.certified ? "exist" : "are free");
    if (r_.where < 0) return fmt::format("needs {} on one node; the {} node has {}", asked, r_.certified ? "largest" : "best", number);
    return fmt::format("needs {} on one node; {} node has {}{}: {}", asked, r_.certified ? "largest" : "best", number,
                       r_.certified ? "" : " free", place());
  }

  const NameSource& names_;
  const Reason& r_;
  const Job* job_;
};

}  // namespace

std::string render_reason(const NameSource& names, const Reason& reason, std::int32_t job) { return Text(names, reason, job).reason(); }

std::string render_would_start_if(const NameSource& names, const Reason& reason, std::int32_t job) {
  return Text(names, reason, job).would_start_if();
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
  std::string seconds = fmt::format("{}.{:06}", left / 1'000'000, left % 1'000'000);
  seconds.erase(seconds.find_last_not_of('0') + 1);
  if (seconds.back() == '.') seconds.pop_back();
  return sign + text + (text.empty() ? "" : " ") + seconds + " s";
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
