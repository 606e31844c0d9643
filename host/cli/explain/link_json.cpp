#include "host/cli/explain/link_json.hpp"

#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_names.hpp"
#include "host/io/json/json_writer.hpp"

namespace berth::cli {
namespace {

using report::LinkReport;
using report::ReservedClos;

std::string_view name_of(ReservedClos::Answer answer) {
  switch (answer) {
    case ReservedClos::Answer::kReserves:
      return "reserves";
    case ReservedClos::Answer::kOneLeaf:
      return "one_leaf";
    case ReservedClos::Answer::kNone:
      return "none";
    case ReservedClos::Answer::kNotDecided:
      return "not_decided";
    case ReservedClos::Answer::kSeveralFabrics:
      break;
  }
  return "several_fabrics";
}

class LinkJson {
 public:
  LinkJson(const ClusterState& state, const LinkReport& report) : names_(state), report_(report) {}

  std::string run() {
    w_.object([&] {
      w_.number("known_links", report_.known_links);
      w_.lines(
          "links", report_.links,
          [&](const report::LoadedLink& link) {
            w_.object([&] {
              w_.text("link", link.name);
              w_.number("bytes_per_s", link.bytes_per_s);
              w_.number("load", link.load_ppm, 6);
              ids("gangs", link.gangs);
            });
          },
          true);
      gangs();
      pairs();
      rotations();
      reserved();
      w_.list(
          "unknown", report_.unknown, [&](std::int32_t job) { w_.string(names_.job_id(job)); }, true);
    });
    return w_.finish();
  }

 private:
  std::string_view id(std::int32_t gang) const { return names_.job_id(report_.gangs[to_index(gang)].job); }
  void ids(std::string_view key, const std::vector<std::int32_t>& gangs) {
    w_.list(key, gangs, [&](std::int32_t gang) { w_.string(id(gang)); });
  }
  void gangs() {
    std::size_t at = 0;
    w_.lines(
        "gangs", report_.gangs,
        [&](const report::GangOnLinks& gang) {
          const bool has_loop = report_.shifts.has_loop[to_index(report_.shifts.component[at])] != 0;
          w_.object([&] {
            w_.text("job", names_.job_id(gang.job));
            w_.number("gpus", gang.gpus);
            w_.number("step_s", gang.step_ns, 9);
            w_.number("sends_s", gang.send_ns, 9);
            w_.number("speed", gang.expected_ppm, 6);
            w_.number("speed_max_min", gang.max_min_ppm, 6);
            w_.number("intensity", gang.intensity_milli, 3);
            w_.number("correction", gang.correction_ppm, 6);
            w_.number("priority_level", gang.level);
            w_.number("component", report_.shifts.component[at]);
            if (!has_loop) w_.number("shift_s", report_.shifts.shift_ns[at], 9);
          });
          ++at;
        },
        true);
  }
  void pairs() {
    w_.lines(
        "pairs", report_.pairs,
        [&](const report::SharingPair& pair) {
          w_.object([&] {
            w_.key("jobs");
            w_.array([&] { w_.string(id(pair.first)), w_.string(id(pair.second)); });
            w_.number("shared_links", pair.links);
            w_.number("overlap", pair.overlap_ppm, 6);
            both("speed", pair.first_expected_ppm, pair.second_expected_ppm);
            both("speed_max_min", pair.first_max_min_ppm, pair.second_max_min_ppm);
          });
        },
        true);
    w_.number("pairs_left_out", report_.pairs_left_out);
  }
  void both(std::string_view key, std::int64_t first, std::int64_t second) {
    w_.key(key);
    w_.array([&] { w_.decimal(first, 6), w_.decimal(second, 6); });
  }
  void rotations() {
    w_.lines(
        "rotations", report_.rotations,
        [&](const report::SharedRotation& one) {
          w_.object([&] {
            w_.list("links", one.links, [&](std::int32_t link) { w_.string(report_.links[to_index(link)].name); });
            ids("gangs", one.gangs);
            w_.number("score", one.best.unshifted_ppm, 6);
            w_.number("best_score", one.best.score_ppm, 6);
            w_.flag_unless("exhaustive", one.best.exhaustive, true);
            w_.number("grid_s", one.best.circle.grid_ns, 9);
            w_.number("perimeter_s", one.best.circle.perimeter_ns, 9);
            w_.list("shift_s", one.best.shift_ns, [&](std::int64_t shift) { w_.decimal(shift, 9); });
          });
        },
        true);
  }
  void reserved() {
    w_.lines("virtual_clos", report_.reserved, [&](const ReservedClos& one) {
      w_.object([&] {
        w_.text("job", names_.job_id(one.job));
        w_.flag_unless("waits", !one.is_placed, false);
        w_.text("answer", name_of(one.answer));
        w_.strings("leaves", one.leaves);
        w_.list("spines", one.spines, [&](std::int32_t spine) { w_.integer(spine); });
        w_.number_unless("links_to_each_spine", one.links, 0);
      });
    });
  }

  core::StateNames names_;
  const LinkReport& report_;
  io::JsonWriter w_;
};

}  // namespace

std::string link_json(const ClusterState& state, const LinkReport& links) { return LinkJson(state, links).run(); }

}  // namespace berth::cli
