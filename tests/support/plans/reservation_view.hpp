#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "berth/plan.hpp"
#include "berth/state.hpp"

namespace berth::test {

/// The reservations that a scheduler holds, by job id. Plans of changes keep them up to date.
class ReservationView {
 public:
  /// @returns false where the plan states differences from another plan than the last one that was read
  bool follow(const Plan& plan, const ClusterState& state) {
    if (plan.reservations_since == 0) {
      rows_.clear();
    } else if (plan.reservations_since != revision_) {
      return false;
    }
    std::erase_if(rows_, [&](const auto& row) { return state.find_job(row.first) < 0; });
    const std::size_t held = rows_.size();
    for (const std::int32_t job : plan.reservations_dropped) unknown_ += rows_.erase(state.job(job)->id) == 0 ? 1 : 0;
    dropped_ += plan.reservations_dropped.size();
    std::size_t others = 0;
    for (const Decision& d : plan.decisions) {
      const std::string& id = state.job(d.job)->id;
      if (d.action != Action::kReserve) {
        others += rows_.erase(id);
        continue;
      }
      ++listed_;
      std::string text = text_of(plan, d, state);
      const auto [row, is_new] = rows_.try_emplace(id);
      repeated_ += !is_new && row->second == text ? 1 : 0;
      row->second = std::move(text);
      others += is_new ? 0 : 1;
    }
    if (plan.reservations_since > 0) stood_ += held - plan.reservations_dropped.size() - others;
    revision_ = plan.revision;
    return true;
  }

  const std::map<std::string, std::string>& rows() const { return rows_; }
  std::size_t listed() const { return listed_; }      // reservations that plans listed
  std::size_t stood() const { return stood_; }        // that plans did not list
  std::size_t dropped() const { return dropped_; }    // that plans dropped
  std::size_t unknown() const { return unknown_; }    // of those, that were not held
  std::size_t repeated() const { return repeated_; }  // that plans listed as they were held

 private:
  static std::string text_of(const Plan& plan, const Decision& d, const ClusterState& state) {
    std::string text = "shape " + std::to_string(d.shape) + " from " + std::to_string(d.start_us) + " to " + std::to_string(d.finish_us) +
                       " rate " + std::to_string(d.rate) + " batch " + std::to_string(d.local_batch) + " " +
                       std::to_string(d.learning_rate_pico) + ":";
    for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
      const PlanEntry& entry = plan.entries[static_cast<std::size_t>(e)];
      text += " " + state.node(entry.node).id + " " + std::to_string(entry.gpus) + " of " + std::to_string(entry.group) + "/" +
              std::to_string(entry.member) + "+" + std::to_string(entry.members) + " x" + std::to_string(entry.share_ppm) +
              (entry.time_shared ? "t" : "");
    }
    return text;
  }

  std::map<std::string, std::string> rows_;
  std::uint64_t revision_ = 0;
  std::size_t listed_ = 0, stood_ = 0, dropped_ = 0, unknown_ = 0, repeated_ = 0;
};

/// The reservations of a plan that lists all of them.
inline std::map<std::string, std::string> reservations_of(const Plan& plan, const ClusterState& state) {
  ReservationView view;
  view.follow(plan, state);
  return view.rows();
}

}  // namespace berth::test
