#include "host/report/queue_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "host/core/base/decimal.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/reasons/render_reason.hpp"
#include "host/core/state/state_view.hpp"
#include "host/report/table.hpp"

namespace berth::report {
namespace {

constexpr std::ptrdiff_t kKeeps = 3;  // its column

std::string gpus(std::int64_t micro) { return core::decimal_text(micro, 6); }
std::string in_percent(std::int64_t millionths) { return core::decimal_text((millionths + 500) / 1'000, 1); }
// The dominant share that a queue has, and its fair one.
std::string shares(const QueueStanding& one) {
  return one.dominant_share < 0 ? "-" : fmt::format("{} of {} %", in_percent(one.dominant_share), in_percent(one.fair_dominant_share));
}

}  // namespace

std::string queue_text(const ClusterState& state, const std::vector<QueueStanding>& standings) {
  const StateView view(state);
  const std::vector<Queue>& queues = view.queues();
  if (queues.empty()) return "no queues\n";
  const bool any_keeps = std::any_of(standings.begin(), standings.end(), [](const QueueStanding& one) { return one.keeps > 0; });
  const bool dominant = std::any_of(standings.begin(), standings.end(), [](const QueueStanding& one) { return one.dominant_share >= 0; });
  std::vector<Row> rows;
  for (const QueueStanding& one : standings) {
    const auto queue = static_cast<std::size_t>(one.queue);
    const std::int64_t over = std::max<std::int64_t>(0, one.has - one.entitled);
    const bool starves = one.starved_since != kNever;
    rows.push_back({queues[queue].id, one.gpu_type < 0 ? "*" : view.gpu_types()[static_cast<std::size_t>(one.gpu_type)].id,
                    gpus(one.guarantee), gpus(one.entitled), one.limit < 0 ? "-" : gpus(one.limit), gpus(one.fair_share), gpus(one.has),
                    gpus(over), gpus(one.waiting),
                    starves ? core::decimal_text(std::max<TimeUs>(0, view.now() - one.starved_since) / 1000, 3) + " s" : "-"});
    if (dominant) rows.back().insert(rows.back().end() - 1, shares(one));
    if (any_keeps) rows.back().insert(rows.back().begin() + kKeeps, one.keeps > 0 ? gpus(one.keeps) : "-");
  }
  Row head{"QUEUE", "TYPE", "GUARANTEE", "ENTITLED", "LIMIT", "FAIR SHARE", "HAS", "BORROWS", "WAITING", "STARVED FOR"};
  if (dominant) head.insert(head.end() - 1, "DOMINANT");
  if (any_keeps) head.insert(head.begin() + kKeeps, "KEEPS");
  return fmt::format("{}\n\n{}", core::counted(static_cast<std::int64_t>(queues.size()), "queue"), table(head, rows, {}, 2));
}

std::string starving_queues_text(const ClusterState& state, const std::vector<QueueStanding>& standings, std::size_t most) {
  const StateView view(state);
  // A queue also starves for GPUs of a type where one below it does.
  std::set<std::pair<std::string_view, std::int32_t>> parents;
  for (const QueueStanding& one : standings) {
    if (one.starved_since != kNever) parents.emplace(view.queues()[static_cast<std::size_t>(one.queue)].parent, one.gpu_type);
  }
  std::string text;
  std::size_t starving = 0;
  for (const QueueStanding& one : standings) {
    const std::string& id = view.queues()[static_cast<std::size_t>(one.queue)].id;
    if (one.starved_since == kNever || one.has >= one.entitled || parents.count({id, one.gpu_type}) != 0 || ++starving > most) continue;
    const std::string type = one.gpu_type < 0 ? "" : " " + view.gpu_types()[static_cast<std::size_t>(one.gpu_type)].id;
    text += fmt::format("queue {}: has {} of {}{} GPUs to which it is entitled, for {}\n", id, gpus(one.has), gpus(one.entitled), type,
                        core::rough_duration(std::max<TimeUs>(0, view.now() - one.starved_since)));
  }
  if (starving > most) text += fmt::format("... and {} more such queues\n", starving - most);
  return text;
}

}  // namespace berth::report
