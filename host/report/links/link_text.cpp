#include <fmt/format.h>

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/decimal.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/state_names.hpp"
#include "host/report/links/link_report.hpp"
#include "host/report/table.hpp"

namespace berth::report {
namespace {

// value / 10^places, with `digits` of these, to the nearest.
std::string rounded(std::int64_t value, int places, int digits) {
  std::int64_t step = 1;
  for (int i = digits; i < places; ++i) step *= 10;
  const std::int64_t up = value < 0 ? -step / 2 : step / 2;
  return core::decimal_text(core::saturating_add(value, up) / step, digits);
}
std::string percent(std::int64_t ppm) { return rounded(ppm, 4, 1) + " %"; }
std::string seconds(std::int64_t ns) { return rounded(ns, 9, 3) + " s"; }

class LinkText {
 public:
  LinkText(const ClusterState& state, const LinkReport& report, std::size_t most_rows) : names_(state), report_(report), most_(most_rows) {}

  std::string run() {
    const auto links = static_cast<std::int64_t>(report_.links.size());
    text_ = fmt::format("{} on {} of {} with a bandwidth\n", core::counted(static_cast<std::int64_t>(report_.gangs.size()), "gang"), links,
                        core::counted(report_.known_links, "link"));
    if (!report_.unknown.empty()) {
      std::string ids;
      for (const std::int32_t job : report_.unknown) ids += fmt::format("{}{}", ids.empty() ? "" : ", ", names_.job_id(job));
      text_ += fmt::format("unknown, as the profile states no gradient_bytes or no step: {}\n", ids);
    }
    links_table();
    gangs_table();
    pairs_table();
    rotations_table();
    reserved_lines();
    return std::move(text_);
  }

 private:
  std::string_view id(std::int32_t gang) const { return names_.job_id(report_.gangs[to_index(gang)].job); }
  std::string ids(const std::vector<std::int32_t>& gangs) const {
    std::string out;
    for (const std::int32_t gang : gangs) out += fmt::format("{}{}", out.empty() ? "" : ", ", id(gang));
    return out;
  }
  std::size_t shown(std::size_t rows) const { return most_ == 0 ? rows : std::min(rows, most_); }
  void add_table(const Row& head, const std::vector<Row>& rows, std::size_t of) {
    if (of == 0) return;
    text_ += '\n' + table(head, rows);
    if (of > rows.size()) text_ += fmt::format("... and {} more (--rows 0 shows all)\n", of - rows.size());
  }

  void links_table() {
    std::vector<Row> rows;
    for (std::size_t l = 0; l < shown(report_.links.size()); ++l) {
      const LoadedLink& link = report_.links[l];
      rows.push_back({link.name, core::decimal_text(link.bytes_per_s, 9), percent(link.load_ppm), ids(link.gangs)});
    }
    add_table({"LINK", "GB/S", "LOAD", "GANGS"}, rows, report_.links.size());
  }
  void gangs_table() {
    std::vector<Row> rows;
    for (std::size_t g = 0; g < shown(report_.gangs.size()); ++g) {
      const GangOnLinks& gang = report_.gangs[g];
      rows.push_back({std::string(id(static_cast<std::int32_t>(g))), std::to_string(gang.gpus), seconds(gang.step_ns),
                      seconds(gang.send_ns), percent(gang.expected_ppm), percent(gang.max_min_ppm), rounded(gang.intensity_milli, 3, 1),
                      rounded(gang.correction_ppm, 6, 3), std::to_string(gang.level)});
    }
    add_table({"GANG", "GPUS", "STEP", "SENDS", "EXPECTED", "MAX-MIN", "INTENSITY", "K", "PRIORITY LEVEL"}, rows, report_.gangs.size());
  }
  void pairs_table() {
    std::vector<Row> rows;
    const std::size_t all = report_.pairs.size() + to_index(report_.pairs_left_out);
    for (std::size_t p = 0; p < shown(report_.pairs.size()); ++p) {
      const SharingPair& pair = report_.pairs[p];
      const auto both = [&](std::int64_t first, std::int64_t second) {
        return fmt::format("{} {}, {} {}", id(pair.first), percent(first), id(pair.second), percent(second));
      };
      rows.push_back({fmt::format("{}, {}", id(pair.first), id(pair.second)), std::to_string(pair.links),
                      both(pair.first_expected_ppm, pair.second_expected_ppm), both(pair.first_max_min_ppm, pair.second_max_min_ppm)});
    }
    add_table({"PAIR", "SHARED LINKS", "EXPECTED", "MAX-MIN"}, rows, all);
  }
  void rotations_table() {
    std::vector<Row> rows;
    for (std::size_t r = 0; r < shown(report_.rotations.size()); ++r) {
      const SharedRotation& one = report_.rotations[r];
      std::string link = report_.links[to_index(one.links.front())].name;
      if (one.links.size() > 1) link += fmt::format(" and {} more", one.links.size() - 1);
      std::string shifts;
      for (std::size_t k = 0; k < one.gangs.size(); ++k)
        shifts += fmt::format("{}{} {}", k == 0 ? "" : ", ", id(one.gangs[k]), seconds(one.best.shift_ns[k]));
      rows.push_back(
          {link, rounded(one.best.unshifted_ppm, 6, 3), rounded(one.best.score_ppm, 6, 3) + (one.best.exhaustive ? "" : " found"), shifts});
    }
    add_table({"SHARED LINK", "SCORE", "BEST", "SHIFT"}, rows, report_.rotations.size());
    if (report_.rotations.empty()) return;
    const auto& loops = report_.shifts.has_loop;
    std::vector<std::string> apart, looped;
    for (std::size_t g = 0; g < report_.gangs.size(); ++g) {
      const auto gang = static_cast<std::int32_t>(g);
      const bool shares = std::any_of(report_.rotations.begin(), report_.rotations.end(), [&](const SharedRotation& one) {
        return std::find(one.gangs.begin(), one.gangs.end(), gang) != one.gangs.end();
      });
      if (!shares) continue;
      if (loops[to_index(report_.shifts.component[g])] != 0) {
        looped.emplace_back(id(gang));
      } else {
        apart.push_back(fmt::format("{} {}", id(gang), seconds(report_.shifts.shift_ns[g])));
      }
    }
    if (!apart.empty()) text_ += fmt::format("one shift of each gang keeps these scores: {}\n", listed(apart));
    if (!looped.empty()) text_ += fmt::format("these gangs and links make a loop, so that no shifts keep all scores: {}\n", listed(looped));
  }
  // At most as many as a table has rows.
  std::string listed(const std::vector<std::string>& all) const {
    const std::size_t n = shown(all.size());
    std::string text = fmt::format("{}", fmt::join(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n), ", "));
    return n < all.size() ? text + fmt::format(" and {} more", all.size() - n) : text;
  }
  void reserved_lines() {
    if (report_.reserved.empty()) return;
    text_ += '\n';
    for (std::size_t r = 0; r < shown(report_.reserved.size()); ++r) {
      const ReservedClos& one = report_.reserved[r];
      text_ += fmt::format("{}: {}\n", names_.job_id(one.job), reserved_text(one));
    }
    if (report_.reserved.size() > shown(report_.reserved.size()))
      text_ += fmt::format("... and {} more (--rows 0 shows all)\n", report_.reserved.size() - shown(report_.reserved.size()));
  }
  static std::string reserved_text(const ReservedClos& one) {
    const std::string would = one.is_placed ? "vClos would reserve" : "waits; vClos would reserve";
    switch (one.answer) {
      case ReservedClos::Answer::kReserves:
        return fmt::format("{} leaves {}, spines {}, {} from each leaf to each spine", would, fmt::join(one.leaves, " "),
                           fmt::join(one.spines, " "), core::counted(one.links, "link"));
      case ReservedClos::Answer::kOneLeaf:
        return fmt::format("{} leaf {}, and no links", would, fmt::join(one.leaves, " "));
      case ReservedClos::Answer::kNone:
        return one.is_placed ? "no virtual Clos: too few links of its leaves are free to any spines"
                             : "waits; no virtual Clos has free leaves and links for it";
      case ReservedClos::Answer::kNotDecided:
        return fmt::format("waits; no virtual Clos found in {} steps", core::kMostClosSteps);
      case ReservedClos::Answer::kSeveralFabrics:
        break;
    }
    return "no virtual Clos: its leaves have no common spines that the cluster states";
  }

  core::StateNames names_;
  const LinkReport& report_;
  std::size_t most_;
  std::string text_;
};

}  // namespace

std::string link_text(const ClusterState& state, const LinkReport& report, std::size_t most_rows) {
  return LinkText(state, report, most_rows).run();
}

}  // namespace berth::report
